"""What was found, in words. Nothing here decides anything: the kernel has, and this only reports.

Numbers are exact, or rounded outward, so that every printed interval holds the true value.
"""

from __future__ import annotations

import ast
import contextlib
import decimal
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Interval, Rejected, Undecided
from rankmath.checker.kernel import Decision, Evaluator, formula
from rankmath.definitions.entries import ENTRIES

DIGITS = 6


def apart(left: object, right: object) -> tuple[str, str]:
    """Both sides of a relation, with as many digits, from six on, as tell them apart if they are.

    >>> apart(Interval.of(Fraction(10**7, 3), 64), Interval.of(Fraction(10**7 + 1, 3), 64))
    ('[3333333.33, 3333333.34]', '[3333333.66, 3333333.67]')
    """
    shown: tuple[str, str] = "", ""
    for digits in (DIGITS, 9, 15, 30):
        shown = number(left, digits), number(right, digits)
        ends = [re.findall(r"[^[\], ]+", text) for text in shown]
        try:
            (low, high), (least, most) = ((_as_shown(pair[0]), _as_shown(pair[-1])) for pair in ends)
        except decimal.InvalidOperation:  # a power of two, or no number
            break
        if high < least or most < low:
            break
    else:
        return number(left), number(right)
    return shown


def _as_shown(shown: str) -> decimal.Decimal:
    """A number as it is shown, near enough to say whether two that are shown differ."""
    top, _, below = shown.partition("/")
    context = decimal.Context(40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    return context.divide(decimal.Decimal(top), decimal.Decimal(below or 1))


def number(value: object, digits: int = DIGITS) -> str:
    """An exact number, or an interval with ends of six digits, or so many, rounded outward.

    >>> number(Fraction(9, 5)), number(Interval.of(Fraction(1, 3), 64)), number(Interval.of(2, 64))
    ('9/5', '[0.333333, 0.333334]', '2')
    """
    if isinstance(value, Interval):
        if (
            value.lo == value.hi
            and abs(value.scale) <= 256
            and max(map(int.bit_length, value.lower().as_integer_ratio())) < 64
        ):
            return str(value.lower())
        low = _decimal(value.lo, value.scale, decimal.ROUND_FLOOR, digits)
        return f"[{low}, {_decimal(value.hi, value.scale, decimal.ROUND_CEILING, digits)}]"
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) < 64:
            return str(value)
        return number(Interval.of(value, 128), digits)
    return str(value)


def _decimal(m: int, e: int, rounding: str, digits: int) -> str:
    """m·2^e to so many digits, rounded down or up; a power of two where the exponent is beyond all decimals."""
    if abs(e) > 10**6:
        size = m.bit_length() + e  # 2^(size - 1) <= |m 2^e| < 2^size
        up = (m > 0) == (rounding == decimal.ROUND_CEILING)
        if abs(e) > 10**18:  # too long to be written
            return f"{'-' * (m < 0)}{('inf' if up else '2^(10^17)') if e > 0 else '2^-(10^17)' if up else '0'}"
        outward = size if up else size - 1
        return f"{'-' * (m < 0)}2^{outward}" if m else "0"
    context = decimal.Context(40, rounding, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    opposite = decimal.ROUND_CEILING if rounding == decimal.ROUND_FLOOR else decimal.ROUND_FLOOR
    away = rounding if (m >= 0) == (e >= 0) else opposite
    power = decimal.Context(40, away, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN).power(2, abs(e))
    # `power` is right to one unit whatever the rounding: move it by two units in the safe direction.
    unit = decimal.Decimal((0, (1,), power.adjusted() - 38))
    power = context.add(power, unit if away == decimal.ROUND_CEILING else -unit) if abs(e) > 120 else power
    value = context.multiply(decimal.Decimal(m), power) if e >= 0 else context.divide(decimal.Decimal(m), power)
    narrow = decimal.Context(digits, rounding, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    return format(narrow.plus(value).normalize(narrow), "g") if value else "0"


class _Watch(Evaluator):
    """An evaluator that remembers the relations of the formula itself, and all that are not decided."""

    def __init__(self, work: Evaluator) -> None:
        super().__init__(work.defined, work.data, work.hints, work.bits, work.deadline)
        self.depth = 0  # of definitions within definitions
        self.pairs: dict[bool | None, tuple[Any, Any]] = {}  # numbers just compared, by truth
        self.seen: dict[tuple[ast.Compare, bool | None], tuple[Any, Any, Mapping[str, Any], int]] = {}

    def apply(self, name: str, values: list[Any]) -> Any:
        self.depth += 1
        found = super().apply(name, values)
        self.depth -= 1
        return found

    def value(self, node: Any, env: Mapping[str, Any]) -> Any:
        found = super().value(node, env)
        if isinstance(node, ast.Compare):
            kept = {truth: pair for truth, pair in self.pairs.items() if truth is None or not self.depth}
            self.seen |= {(node, truth): (*pair, env, self.depth) for truth, pair in kept.items()}
            self.pairs = {}
        return found

    def related(self, relation: str, left: Any, right: Any) -> bool | None:
        truth = super().related(relation, left, right)
        if {type(left), type(right)} <= {Fraction, Interval}:
            self.pairs[truth] = (left, right)
        return truth


#: What hypotheses on the data mean that have no words of their own.
_MEANT = {
    "binary(mask)": "every entry of the mask is 0 or 1",
    "all(sum(row) > 0 for row in mask)": "every token sees a token",
    "all(m == 1 for row in mask for m in row)": "every token sees all tokens",
    "all(mask[i][j] == (1 if j <= i else 0) for i in range(n) for j in range(n))": "the mask is causal",
    "all(mask[i][i] == 1 and (i == 0 or mask[i][i - 1] == 1) for i in range(n))": (
        "every token sees itself and the one before it"
    ),
    "radius > 0": "the bound on the distance of tokens and fixed point is positive",
    "ball > 0": "the bound on the distance of tokens and starts is positive",
    "norm_kind == sphere": "the LayerNorm is the sphere's",
    "stochastic(A)": "the rows of A are non-negative, and each sums to 1",
    "tokens == identity(n)": "the tokens are the unit vectors",
    "mask == T(mask) and connected(mask)": "who sees whom sees back, and all are linked",
}


def plainly(text: str) -> str:
    """A hypothesis as a reader says it: its words where it has some, else its formula without program text.

    >>> plainly("all(w > 0 for w in weights)"), plainly("floor(t) == t and t >= 0"), plainly("self_loops()")
    ('w > 0 for every w in weights', 't is whole and t >= 0', 'every token sees itself')
    """
    tree = formula(text)
    said = _MEANT.get(text) or _plain(tree)
    return text if said == ast.unparse(tree) else said


def _plain(node: ast.expr) -> str:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return " and ".join(
            f"({_plain(part)})" if isinstance(part, ast.BoolOp) else _plain(part) for part in node.values
        )
    compared = isinstance(node, ast.Compare) and len(node.comparators) == 1
    left, right = (node.left, node.comparators[0]) if isinstance(node, ast.Compare) and compared else (node, None)
    called = left.func.id if isinstance(left, ast.Call) and isinstance(left.func, ast.Name) else ""
    if isinstance(right, ast.Name) and ast.unparse(left) == f"floor({right.id})":
        return f"{right.id} is whole"
    if isinstance(left, ast.Name) and right is not None and ast.unparse(right) == f"T({left.id})":
        return f"{left.id} is symmetric"
    if right is not None or not isinstance(left, ast.Call):
        return ast.unparse(node)
    if called in ("all", "any") and isinstance(left.args[0], ast.GeneratorExp):
        loops = left.args[0].generators
        places = ", ".join(f"{ast.unparse(loop.target)} {_among(loop.iter)}" for loop in loops)
        where = "".join(f" with {_plain(test)}" for loop in loops for test in loop.ifs)
        return f"{_plain(left.args[0].elt)} for {'every' if called == 'all' else 'some'} {places}{where}"
    if called in ENTRIES and ENTRIES[called].truth:
        return ENTRIES[called].meaning
    if called == "stochastic":
        return f"the rows of {ast.unparse(left.args[0])} are non-negative, and each sums to 1"
    return ast.unparse(node)


def _among(values: ast.expr) -> str:
    """`< n` of range(n), else `in` the name of what is gone through."""
    shown = ast.unparse(values)
    return f"< {shown[6:-1]}" if shown.startswith("range(") and "," not in shown else f"in {shown}"


def described(outcome: Decision, texts: Sequence[str], formulas: Sequence[ast.expr], given: Sequence[str]) -> list[str]:
    """The hypotheses that hold, and the one that does not, or the claim, with both sides of what decided it.

    That one is evaluated once more; definitions that were decided are remembered.
    """
    last = min(outcome.true, len(texts) - 1)
    held = [text for text in texts[:last] if text in given]
    lines = [f"hypotheses that hold: {'; '.join(map(plainly, held))}"] if held else []
    if outcome.why:
        return lines
    what, text = "hypothesis" if last < len(texts) - 1 else "claim", texts[last].strip()
    truth = True if outcome.true > last else None if outcome.verdict == "undecided" else False
    verb = {True: "holds", False: "fails", None: "is undecided"}[truth]
    watch = _Watch(outcome.work)
    watch.cache = {} if truth is None else outcome.work.cache
    tree = formulas[last]
    if truth is True and isinstance(tree, ast.BoolOp):  # all of it is true: the last part with a relation will do
        parts = [part for part in tree.values if any(isinstance(node, ast.Compare) for node in ast.walk(part))]
        tree = parts[-1] if parts and isinstance(tree.op, ast.And) else tree
    with contextlib.suppress(Rejected, Undecided):  # no time may be left
        watch.truth(tree)
    found = [(node, seen) for (node, known), seen in watch.seen.items() if known is truth]
    if not found:
        return lines if outcome.verdict == "accept" else [*lines, f"{what}: {text}: {verb}"]
    node, (left, right, env, depth) = found[0 if truth is None else -1]
    said = node if depth else formula(text[node.col_offset : node.end_col_offset])  # as the claim words it
    letters = [f"{k} = {number(v)}" for k, v in env.items() if len(k) == 1 and isinstance(v, (Fraction, str))]
    at = f" at {', '.join(letters)}" if letters else ""
    enclosed = what == "claim" and (isinstance(left, Interval) or isinstance(right, Interval))
    bits = f" (in intervals of {outcome.work.bits} bits)" if enclosed else ""
    sides = f"{' against '.join(apart(left, right))}, so it {verb}{bits}"
    return [*lines, f"{what}: {ast.unparse(said)}{at}: {sides}"]


def reason(outcome: Decision, texts: Sequence[str], kind: str, telling: Sequence[str] = ()) -> str:
    """Why it was not accepted; `texts` are conditions (where `telling` ones fail it says nothing) and the claim."""
    if outcome.verdict == "undecided":
        return f"undecided at {outcome.work.bits} bits: {outcome.why or texts[outcome.true]}"
    if outcome.true < len(texts) - 1:
        failed = texts[outcome.true]
        return f"a condition fails: {failed}{', without which it says nothing' if failed in telling else ''}"
    return f"the claim is {'true' if outcome.true == len(texts) else 'false'}, against the kind {kind!r}"


def escaped(name: str) -> str:
    """A file's name on one line: control characters, and what a terminal would obey, are escaped."""
    printable = name.isprintable() and not name.startswith(" ") and name == name.strip()
    return name if printable and name.isascii() else ascii(name)
