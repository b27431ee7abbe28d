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
from rankmath.checker.intervals import Dual, Interval, Number, Undecided, plain
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


def _floor(work: Work, x: Number) -> Fraction:
    low, high = (x, x) if isinstance(x, Fraction) else (x.lower(), x.upper())
    if math.floor(low) != math.floor(high):
        raise Undecided("the whole part is not decided")
    return Fraction(math.floor(low))


def _power(work: Work, base: Number, exponent: Number) -> Number:
    """Whole powers by squaring, halves by roots; all others by the logarithm, a rule."""
    if isinstance(exponent, Interval) or exponent.denominator > 2:
        vanishes = base == 0 and isinstance(exponent, Fraction) and exponent > 0
        return Fraction(0) if vanishes else work.apply("real_power", [base, exponent])
    demand(abs(exponent) <= MAX_POWER, "an exponent that is too large")
    if exponent.denominator == 2:
        return _power(work, _sqrt(work, base), exponent * 2)
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
    "middle": (lambda work, x: x.middle() if isinstance(x, Interval) else x, None),
    "lower": (lambda work, x: x.lower() if isinstance(x, Interval) else x, None),
    "floor": (_floor, None),
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


def softmax(work: Work, logits: list[Any], weights: list[Any]) -> list[Any]:
    """w_j e^(L_j)/sum_m w_m e^(L_m) in every row; where w_j = 0 it is 0.

    As 1/(1 + rest/e_j), in which every logit occurs once: the rest is a sum of the others in units of 2^-bits,
    beside a largest e_j of about 1. There e^x < 2^-k, for x <= -k, needs k bits less.
    """
    if type(logits[0]) is list:
        return [softmax(work, row, w) for row, w in zip(logits, weights, strict=True)]
    seen = [j for j, w in enumerate(weights) if w != 0]
    if all(type(logits[j]) is Fraction and logits[j] == logits[seen[0]] for j in seen):
        total = work.total(weights)
        return [w / total for w in weights]
    top = work.lift(_extreme(work, [logits[j] for j in seen], max))
    e, shares = {}, [Fraction(0)] * len(weights)
    for j in seen:
        work.tick()
        x = work.lift(logits[j]) - top.point(top.hi)
        small = -x.hi >> -x.scale if x.scale < 0 < -x.hi else 0
        e[j] = Interval(x.lo, x.hi, x.scale, max(LEAST_BITS, work.bits - small)).exp() * weights[j]
    ends = {j: x.ends(-work.bits - 8) for j, x in e.items()}
    low, high = (sum(side) for side in zip(*ends.values(), strict=True))
    for j, x in e.items():
        rest = Interval(low - ends[j][0], high - ends[j][1], -work.bits - 8, work.bits)
        shares[j] = 1 / (1 + rest / x) if x.lo > 0 else x / (rest + x)
    return shares


def jacobian(work: Work, name: str, X: Value, *rest: Value) -> list[list[Number]]:
    """The derivative of a defined map by its first argument, over a box; arrays are taken entry by entry."""

    def flat(x: Value) -> list[Any]:
        return [z for y in x for z in flat(y)] if type(x) is list else [x]

    def numbered(x: Value) -> Value:
        return [numbered(y) for y in x] if type(x) is list else Dual(x, {next(places): Fraction(1)})

    demand(name in work.defined, "the derivative of what is no map")
    places, inner = itertools.count(), copy.copy(work)
    inner.cache = dict(work.cache)  # what is made on the way is forgotten
    found = flat(inner.apply(name, [numbered(X), *rest]))
    slopes, size = [y.grad if isinstance(y, Dual) else {} for y in found], next(places)
    return [[grad.get(k, Fraction(0)) for k in range(size)] for grad in slopes]


def hint(work: Work, X: list[Any], kind: str) -> list[Any]:
    """What the certificate suggests for an array such as X[3]: a center or nothing, and lines of weights."""
    places = (key[1] for key, (value, _) in work.cache.items() if key[0] == "X" and value is X)
    found = work.hints.get(next((f"X[{i}] {kind}" for i in places), f" {kind}"), {})
    return [found.get("center", []), [[line["columns"], line["rows"]] for line in found.get("lines", [])]]


def advised(work: Work, kind: str, *values: Value) -> Value:
    """A guess at these numbers, or the middles of these intervals: whole numbers, or intervals around others."""

    def given(x: Value) -> Value:
        return [given(y) for y in x] if type(x) is list else x.middle().lower() if isinstance(x, Interval) else x

    def taken(x: Value) -> Value:
        if type(x) is list:
            return [taken(y) for y in x]
        demand(type(x) in (int, Decimal), "advice that is no number")
        return Fraction(x) if type(x) is int else work.lift(Fraction(x))

    try:
        return taken(advice(kind, work.bits, work.tick, *map(given, values)))
    except (ArithmeticError, ValueError):
        raise Undecided(f"no {kind} is known") from None


PRIMITIVES: dict[str, Callable[..., Value]] = {
    "softmax": softmax,
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
