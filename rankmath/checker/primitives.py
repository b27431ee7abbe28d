"""What the language knows by name: operations on numbers, reductions of lists, and operations on arrays.

Each is valid for all members of the intervals it is given; `work` is the evaluator, with its bits and its deadline.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from rankmath.checker.advice import ADVISORS, advice
from rankmath.checker.intervals import Dual, Interval, Number, Undecided, flat, nested, plain
from rankmath.checker.reading import demand

Work: TypeAlias = Any  # rankmath.checker.kernel.Evaluator
Value: TypeAlias = Any  # a number, a truth value, a word, or a list of these
Truth: TypeAlias = bool | None

LEAST_BITS = 128  # of a share of attention, however small
MAX_POWER = 10**7  # exponents
MAX_EXACT_BITS = 2**13  # a fraction that is longer becomes an interval


def transposed(A: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*A, strict=True)]


def _sqrt(work: Work, x: Number) -> Number:
    if isinstance(x, Fraction) and x >= 0:
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root * root == x:
            return root
    enclosed: Interval = work.lift(x).sqrt()
    return enclosed


def _small_exp(work: Work, x: Number) -> Interval:
    """e^x as it is needed beside 1, to 2^-bits: where x <= -k, and so e^x < 2^-k, k bits less will do."""
    y: Interval = work.lift(x)
    k = -y.hi >> -y.scale if y.hi < 0 and y.scale <= 0 else 0
    return Interval(y.lo, y.hi, y.scale, max(LEAST_BITS, work.bits - k)).exp()


def _power(work: Work, base: Number, exponent: Number) -> Number:
    """Whole powers, by squaring; all others by a rule."""
    if isinstance(exponent, Interval) or exponent.denominator > 1:
        return work.apply("real_power", [base, exponent])  # type: ignore[no-any-return]
    demand(abs(exponent) <= MAX_POWER, "an exponent that is too large")
    if isinstance(base, Fraction):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * bits <= MAX_EXACT_BITS:
            return base ** int(exponent)
    if exponent < 0:
        return 1 / _power(work, base, -exponent)
    if exponent <= 1:
        return base if exponent == 1 else Fraction(1)
    square = _power(work, abs(work.lift(base)) * abs(work.lift(base)), Fraction(exponent // 2))
    return square * base if exponent % 2 else square


# Operations on numbers, entry by entry of arrays: the value z, and dz/da, dz/db where it is differentiated.
OPERATIONS: dict[str, tuple[Callable[..., Number], Callable[..., tuple[Any, ...]] | None]] = {
    "+": (lambda work, a, b: a + b, lambda work, z, a, b: (1, 1)),
    "-": (lambda work, a, b: a - b, lambda work, z, a, b: (1, -1)),
    "*": (lambda work, a, b: a * b, lambda work, z, a, b: (b, a)),
    "/": (lambda work, a, b: a / b, lambda work, z, a, b: (1 / b, -z / b)),
    "**": (_power, lambda work, z, a, b: (b * _power(work, a, b - 1), 0)),
    "sqrt": (_sqrt, lambda work, z, a: (1 / (2 * z),)),
    "exp": (lambda work, x: Fraction(1) if x == 0 else work.lift(x).exp(), lambda work, z, a: (z,)),
    "small_exp": (_small_exp, None),
    "middle": (lambda work, x: x.middle() if isinstance(x, Interval) else x, None),
    "lower": (lambda work, x: x.lower() if isinstance(x, Interval) else x, None),
    "whole_part": (lambda work, x: Fraction(math.floor(x)), None),  # of what is exact
    "abs": (lambda work, x: abs(x), None),
    "around": (lambda work, x, r: work.lift(x - r).hull(x + r), None),
    "between": (lambda work, a, b: a if a == b else work.lift(a).hull(b), None),
}


def _extreme(work: Work, values: Iterable[Any], pick: Callable[..., Any]) -> Number:
    numbers = list(values)
    demand(bool(numbers) and all(isinstance(v, (Fraction, Interval)) for v in numbers), "max or min of no numbers")
    if all(type(v) is Fraction for v in numbers):
        return pick(numbers)  # type: ignore[no-any-return]
    merged: Interval = functools.reduce(lambda a, b: a.merged(b, pick, pick), numbers[1:], work.lift(numbers[0]))
    return merged


REDUCTIONS: dict[str, Callable[[Work, Iterable[Any]], Value]] = {
    "sum": lambda work, values: work.total(list(values)),
    "prod": lambda work, values: functools.reduce(lambda a, b: work.each("*", a, b), values, Fraction(1)),
    "max": lambda work, values: _extreme(work, values, max),
    "min": lambda work, values: _extreme(work, values, min),
    "all": lambda work, truths: work.joined(True, truths),
    "any": lambda work, truths: work.joined(False, truths),
}


def jacobian(work: Work, name: str, X: Value, *rest: Value) -> list[list[Number]]:
    """The derivative of a defined map by its first argument, over a box; arrays are taken entry by entry."""
    demand(name in work.defined, "the derivative of what is no map")
    places, inner = itertools.count(), copy.copy(work)
    inner.cache = dict(work.cache)  # what is made on the way is forgotten
    variables = nested(lambda x: Dual(x, {next(places): Fraction(1)}), X)
    slopes = [y.grad if isinstance(y, Dual) else {} for y in flat(inner.apply(name, [variables, *rest]))]
    size = next(places)
    return [[grad.get(k, Fraction(0)) for k in range(size)] for grad in slopes]


def hint(work: Work, X: list[Any], kind: str) -> list[Any]:
    """What the certificate suggests for an array such as X[3]: a center or nothing, and lines of weights."""
    places = (key[1][1] for key, (value, _) in work.cache.items() if key[0] == "X" and value is X)
    found = work.hints.get(next((f"X[{i}] {kind}" for i in places), f" {kind}"), {})
    return [found.get("center", []), [[line["columns"], line["rows"]] for line in found.get("lines", [])]]


def advised(work: Work, kind: str, *values: Value) -> Value:
    """A guess at these numbers, or the middles of these intervals: whole numbers, or intervals around others."""

    def taken(x: int | Decimal) -> Value:
        demand(isinstance(x, (int, Decimal)), "advice that is no number")
        return Fraction(x) if isinstance(x, int) else work.lift(Fraction(x))

    exact = nested(lambda x: x.middle().lower() if isinstance(x, Interval) else x, list(values))
    try:
        return nested(taken, advice(kind, work.bits, work.tick, *exact))
    except (ArithmeticError, ValueError):
        raise Undecided(f"no {kind} is known") from None


PRIMITIVES: dict[str, Callable[..., Value]] = {
    "jacobian": jacobian,
    "hint": hint,
    "advice": advised,
    "linked": lambda work, value, factors, parts: work.linked(value, factors, parts),
    "plain": lambda work, x: plain(x),
    "shown": lambda work, truth: truth or None,  # of a sufficient condition: where it fails, nothing is known
    "certain": lambda work, truth: truth is True,
    "range": lambda work, *ends: work.range(*ends),
    "len": lambda work, v: Fraction(len(v)),
    "T": lambda work, A: transposed(A),
    "chain": lambda work, matrices: functools.reduce(work.product, matrices),
}
WORDS = {"inf", "one", "composite", "frobenius", "max", "mean", "none", "sphere", "standard", "column", "relu"}
WORDS |= set(ADVISORS)
