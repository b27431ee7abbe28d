"""Reading: JSON with exact numbers, every field known, everything bounded. Needs the standard library alone."""

from __future__ import annotations

import functools
import json
import math
import re
import time
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Rejected

# Limits, so that no file can cost more than bounded time and memory.
MAX_BYTES = 4_000_000  # of a file
MAX_ITEMS = 200_000  # commas, colons and brackets of a file
MAX_DEPTH = 12  # nested brackets
MAX_DIGITS = 4_000  # decimal digits of one integer
MAX_EXPONENT = 10_000  # |e| in "m*2^e"
MAX_SHIFTS = 10**8  # the sum of |e| over a file
MAX_SIDE = 256  # rows or columns of a matrix


def demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Rejected(otherwise)


def in_time(deadline: float) -> None:
    demand(time.monotonic() <= deadline, "the time allowed is used up")


_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|\*2\^(-?[0-9]+))?")


def parse(text: str, deadline: float = math.inf) -> Any:
    """JSON with integers, strings, lists and objects; floats, constants and repeated fields are refused."""
    demand(len(text) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
    items = sum(text.count(mark) for mark in "[{,:")
    demand(items <= MAX_ITEMS, f"{items} brackets, colons and commas; {MAX_ITEMS} are allowed")
    shifts = sum(min(int(e), MAX_SHIFTS) for e in re.findall(r"\*2\^-?([0-9]{1,9})", text))
    demand(shifts <= MAX_SHIFTS, f"exponents that sum to {shifts}; {MAX_SHIFTS} is allowed")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        demand(len(dict(pairs)) == len(pairs), "an object has the same field twice")
        return dict(pairs)

    def refuse(literal: str) -> Any:
        raise Rejected(f"the number {short(literal)} is not exact; integers, 'p/q' and 'm*2^e' are")

    hooks: Any = {"parse_int": _integer, "parse_float": refuse, "parse_constant": refuse}
    try:
        content = json.loads(text, object_pairs_hook=unique, **hooks)
    except ValueError as error:
        raise Rejected(f"not JSON: {short(str(error))}") from None
    except RecursionError:
        raise Rejected(f"brackets are nested more than {MAX_DEPTH} deep") from None
    level, depth = [content], 0
    while level:
        in_time(deadline)
        demand(depth <= MAX_DEPTH, f"brackets are nested more than {MAX_DEPTH} deep")
        inner = (item.values() if type(item) is dict else item for item in level if type(item) in (dict, list))
        level, depth = [member for members in inner for member in members], depth + 1
    return content


def _integer(digits: str) -> int:
    demand(len(digits) <= MAX_DIGITS, f"an integer of {len(digits)} digits; {MAX_DIGITS} are allowed")
    try:
        return int(digits)
    except ValueError:  # the interpreter may have been started with a lower limit of its own
        raise Rejected(f"an integer of {len(digits)} digits is beyond this interpreter's limit") from None


def short(value: Any) -> str:
    text = ascii(value) if isinstance(value, str) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def read(value: Any, shape: Any, where: str, sizes: dict[str, int], deadline: float = math.inf) -> Any:
    """`value`, read as its shape demands.

    A shape is a dict from fields to shapes (a field with "?" may be missing, any other field is refused); a list
    [shape, most] of 1 to `most` members; a tuple of allowed words or a shape beside them; "number"; or letters that
    name lengths: "d" a vector, "n d" a matrix. A letter stands for one length throughout a certificate; one that
    first occurs in a member of a list, throughout that member.
    """
    in_time(deadline)
    inner = functools.partial(read, deadline=deadline)
    if isinstance(shape, dict):
        demand(type(value) is dict, f"{where}: {short(value)} given, an object is needed")
        shapes = {name.rstrip("?"): part for name, part in shape.items()}
        for name in value:
            demand(name in shapes, f"{where} has a field {short(name)} that is not known")
        for name in shape:
            demand(name.endswith("?") or name in value, f"{where}.{name} is missing")
        return {
            name: inner(value[name], shapes[name], f"{where}.{name}", sizes) for name in shapes if name in value
        }
    if isinstance(shape, tuple):
        *words, last = shape
        if " " not in last or type(value) is not list:
            words = words if " " in last else [*words, last]
            demand(type(value) is str and value in words, f"{where}: {short(value)} is none of {', '.join(words)}")
            return value
        shape = last
    if shape == "number":
        return _number(value, where)
    most = shape[1] if isinstance(shape, list) else MAX_SIDE
    demand(type(value) is list and 1 <= len(value) <= most, f"{where}: a list of 1 to {most} members is needed")
    if isinstance(shape, list):
        return [inner(item, shape[0], f"{where}[{i}]", {**sizes}) for i, item in enumerate(value)]
    letter, _, rest = shape.partition(" ")
    length = sizes.setdefault(letter, len(value))
    demand(len(value) == length, f"{where}: {len(value)} members given, {letter} = {length} are needed")
    return [inner(item, rest or "number", f"{where}[{i}]", sizes) for i, item in enumerate(value)]


def _number(value: Any, where: str) -> Fraction:
    """An integer, or a string "p", "p/q" with q > 0, or "m*2^e"."""
    if type(value) is int:
        return Fraction(value)
    match = _NUMBER.fullmatch(value) if type(value) is str and len(value) <= 2 * MAX_DIGITS + 1 else None
    if match is None:
        raise Rejected(f"{where}: {short(value)} is no integer, 'p/q' or 'm*2^e' within the limits")
    numerator, denominator, exponent = _integer(match[1]), _integer(match[2] or "1"), _integer(match[3] or "0")
    demand(abs(exponent) <= MAX_EXPONENT, f"{where}: the exponent of {short(value)} is beyond {MAX_EXPONENT}")
    demand(denominator > 0, f"{where}: {short(value)} has denominator 0")
    return Fraction(numerator, denominator) * Fraction(2) ** exponent
