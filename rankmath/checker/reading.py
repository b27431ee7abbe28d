"""Reading: JSON with exact numbers, every field known, everything bounded. Needs the standard library alone."""

from __future__ import annotations

import json
import re
import time
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Rejected

# Limits, so that no file can cost more than bounded time and memory.
MAX_BYTES = 4_000_000  # of a file
MAX_ITEMS = 100_000  # commas, colons and brackets of a file
MAX_DIGITS = 4_000  # decimal digits of one integer
MAX_EXPONENT = 10_000  # |e| in "m*2^e"
MAX_SIDE = 256  # rows or columns of a matrix

_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]*[1-9][0-9]*)|\*2\^(-?[0-9]+))?")


def demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Rejected(otherwise)


def in_time(deadline: float) -> None:
    demand(time.monotonic() <= deadline, "the time allowed is used up")


def short(value: Any) -> str:
    if type(value) is int and abs(value) < 10**20:
        return str(value)
    text = ascii(value) if isinstance(value, str) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def demand_numbers(text: str) -> None:
    """The numbers of a formula are written as 12 or 0.5, with no other base, exponent or underscore."""
    for number in re.findall(r"(?<![\w.])\.?[0-9][\w.]*", text):
        plain = re.fullmatch(r"[0-9]+(\.[0-9]+)?", number) is not None
        demand(plain and len(number) <= MAX_DIGITS, f"{short(number)} is no number of a formula; 12, 0.5 and 1/3 are")


def parse(text: str) -> Any:
    """JSON with exact numbers: floats, NaN and fields that are repeated are refused; other types, by `read`."""
    demand(len(text) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
    items = sum(text.count(mark) for mark in "[{,:")
    demand(items <= MAX_ITEMS, f"{items} brackets, colons and commas; {MAX_ITEMS} are allowed")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        demand(len(dict(pairs)) == len(pairs), "an object has the same field twice")
        return dict(pairs)

    def refuse(literal: str) -> Any:
        raise Rejected(f"the number {short(literal)} is not exact; integers, 'p/q' and 'm*2^e' are")

    try:
        return json.loads(text, object_pairs_hook=once, parse_int=_integer, parse_float=refuse, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Rejected(f"not JSON, or nested too deep: {short(str(error))}") from None


def _integer(digits: str) -> int:
    demand(len(digits) <= MAX_DIGITS, f"an integer of {len(digits)} digits; {MAX_DIGITS} are allowed")
    return int(digits)


def _number(value: Any, where: str) -> Fraction:
    """An integer, or a string "p", "p/q" with q > 0, or "m*2^e"."""
    if type(value) is int:
        return Fraction(value)
    match = _NUMBER.fullmatch(value) if type(value) is str and len(value) <= 2 * MAX_DIGITS + 1 else None
    if match is None:
        raise Rejected(f"{where}: {short(value)} is no integer, 'p/q' or 'm*2^e' within the limits")
    numerator, denominator, exponent = _integer(match[1]), _integer(match[2] or "1"), _integer(match[3] or "0")
    demand(abs(exponent) <= MAX_EXPONENT, f"{where}: the exponent of {short(value)} is beyond {MAX_EXPONENT}")
    return Fraction(numerator, denominator) * Fraction(2) ** exponent


def read(value: Any, shape: Any, where: str, sizes: dict[str, int], deadline: float = float("inf")) -> Any:
    """`value`, read as its shape demands; what no shape names is refused, so nothing is nested deeper than shapes.

    A shape is a dict from fields to shapes (a field with "?" may be missing, any other field is refused); a list
    [shape, most] of 1 to `most` members; a tuple of allowed words; "number"; or letters that name lengths: "d" a
    vector, "n d" a matrix. A letter stands for one length throughout a certificate; one that first occurs in a
    member of a list, throughout that member.
    """
    in_time(deadline)
    if isinstance(shape, dict):
        demand(type(value) is dict, f"{where}: {short(value)} given, an object is needed")
        shapes = {name.rstrip("?"): part for name, part in shape.items()}
        unknown, missing = set(value) - set(shapes), {n for n in shape if not n.endswith("?")} - set(value)
        demand(not unknown, f"{where} has a field {short(', '.join(sorted(unknown)))} that is not known")
        demand(not missing, f"{where}.{', '.join(sorted(missing))} is missing")
        present = {name: part for name, part in shapes.items() if name in value}
        return {name: read(value[name], part, f"{where}.{name}", sizes, deadline) for name, part in present.items()}
    if isinstance(shape, tuple):
        demand(type(value) is str and value in shape, f"{where}: {short(value)} is none of {', '.join(shape)}")
        return value
    if shape == "number":
        return _number(value, where)
    most = shape[1] if isinstance(shape, list) else MAX_SIDE
    demand(type(value) is list and 1 <= len(value) <= most, f"{where}: a list of 1 to {most} members is needed")
    if isinstance(shape, list):
        return [read(item, shape[0], f"{where}[{i}]", {**sizes}, deadline) for i, item in enumerate(value)]
    letter, _, rest = shape.partition(" ")
    length = sizes.setdefault(letter, len(value))
    demand(len(value) == length, f"{where}: {len(value)} members given, {letter} = {length} are needed")
    return [read(item, rest or "number", f"{where}[{i}]", sizes, deadline) for i, item in enumerate(value)]
