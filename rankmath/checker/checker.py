"""The independent checker: accepts a certificate only if its exact data show its claim.

This file needs the standard library alone and may be copied out of the package:
``python checker.py FILE...``. It shares no code with what issues certificates. A
certificate is JSON with exact numbers (no decimal floats), a claim, and hints. Nothing
stored is believed: hypotheses, both sides and the inequality are worked out again from
the data, by the plain definitions, in exact fractions or in intervals whose ends are
dyadic numbers rounded outward. A hint (a center, a dual point, a singular vector) only
ever gives a one-sided bound that is valid whatever the hint says: a bad hint costs the
certificate its acceptance, never the checker its soundness. Precision is raised until
the inequality is decided, up to a cap; what stays undecided is rejected.

In this order: intervals; reading; linear algebra; one small function for each family of
statements; the table of families; check. Each family stands by itself: to judge one, read up
to the linear algebra, then its function and the few that it calls.
"""

from __future__ import annotations

import decimal
import hashlib
import itertools
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, TypeVar

FORMAT = "rankmath-certificate/1"

# Limits, so that no file can cost more than bounded time and memory.
MAX_BYTES = 4_000_000  # of a file
MAX_DEPTH = 12  # nested brackets
MAX_DIGITS = 4_000  # decimal digits of one integer
MAX_EXPONENT = 10_000  # |e| in "m*2^e"
MAX_SIDE = 256  # rows or columns of a matrix
MAX_LAYERS = 12
MAX_HEADS = 16
MAX_PATHS = 4_096
MAX_LINES = 32  # supporting lines for one residual
MAX_SIGNS = 10  # dimension up to which 2^d sign vectors are enumerated
MAX_TEXT = 2_000  # characters of the free text
MAX_EXACT_BITS = 2**16  # numerator or denominator of an exact intermediate result
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)  # bits, tried in this order
SECONDS = 60.0  # time budget of one check
ID_DIGITS = 32  # hex digits of SHA-256 kept in an id (128 bits)


class Rejected(Exception):
    """The certificate does not show its claim; the message says where."""


class Undecided(Exception):
    """The enclosures do not separate at this precision; the message gives them."""


# ---------------------------------------------------------------------------------------------------------
# Intervals with dyadic ends
# ---------------------------------------------------------------------------------------------------------


class Interval:
    """The reals from lo·2^scale to hi·2^scale; results are rounded outward to `bits` bits.

    If x lies in A and y in B then x + y lies in A + B, and so on for every operation.
    ``A <= B`` and ``A < B`` are true only when they hold for all members, so both
    ``A <= B`` and ``B < A`` may be false.

    >>> third = Interval.of(Fraction(1, 3), 64)
    >>> third.lower() < Fraction(1, 3) < third.upper()
    True
    >>> third * 3 <= 1, third * 3 < 2
    (False, True)
    """

    __slots__ = ("bits", "hi", "lo", "scale")

    def __init__(self, lo: int, hi: int, scale: int, bits: int) -> None:
        excess = max(lo.bit_length(), hi.bit_length()) - bits
        if excess > 0:
            lo >>= excess  # rounds down
            hi = -(-hi >> excess)  # rounds up
            scale += excess
        self.lo, self.hi, self.scale, self.bits = lo, hi, scale, bits

    @staticmethod
    def of(value: Fraction | int, bits: int) -> Interval:
        """A narrow interval around an exact number; the point itself if `bits` bits hold it."""
        p, q = value.numerator, value.denominator
        shift = max(0, bits + 2 + q.bit_length() - p.bit_length())
        return Interval((p << shift) // q, -((-p << shift) // q), -shift, bits)

    def _with(self, other: Interval | Fraction | int) -> Interval:
        return other if isinstance(other, Interval) else Interval.of(other, self.bits)

    def _common_scale(self, other: Interval) -> int:
        # One scale for both. Bits more than 2·bits below the larger number are not worth shifting for:
        # they are rounded outward in `_ends`. Zero has no size of its own.
        if self.scale == other.scale or not (other.lo or other.hi):
            return self.scale
        if not (self.lo or self.hi):
            return other.scale
        return max(min(self.scale, other.scale), max(self.scale, other.scale) - 2 * self.bits)

    def _ends(self, scale: int) -> tuple[int, int]:
        shift = self.scale - scale
        if not (self.lo or self.hi):
            return 0, 0
        if shift >= 0:
            return self.lo << shift, self.hi << shift
        return self.lo >> -shift, -(-self.hi >> -shift)

    def __add__(self, other: Interval | Fraction | int) -> Interval:
        other = self._with(other)
        scale = self._common_scale(other)
        (a, b), (c, d) = self._ends(scale), other._ends(scale)
        return Interval(a + c, b + d, scale, self.bits)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo, self.scale, self.bits)

    def __sub__(self, other: Interval | Fraction | int) -> Interval:
        return self + (-self._with(other))

    def __mul__(self, other: Interval | Fraction | int) -> Interval:
        other = self._with(other)
        a, b, c, d = self.lo, self.hi, other.lo, other.hi
        if a >= 0 and c >= 0:
            lo, hi = a * c, b * d
        else:
            products = (a * c, a * d, b * c, b * d)
            lo, hi = min(products), max(products)
        return Interval(lo, hi, self.scale + other.scale, self.bits)

    def __truediv__(self, other: Interval | Fraction | int) -> Interval:
        other = self._with(other)
        if other.lo <= 0 <= other.hi:
            raise Undecided(f"division by {other}, which may be zero")
        if other.hi < 0:
            return -self / -other
        shift = max(0, self.bits + 2 + other.hi.bit_length() - max(self.lo.bit_length(), self.hi.bit_length()))
        lo = (self.lo << shift) // (other.hi if self.lo >= 0 else other.lo)
        hi = -((-self.hi << shift) // (other.lo if self.hi >= 0 else other.hi))
        return Interval(lo, hi, self.scale - other.scale - shift, self.bits)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Fraction | int) -> Interval:
        return self._with(other) - self

    def __rtruediv__(self, other: Fraction | int) -> Interval:
        return self._with(other) / self

    def __abs__(self) -> Interval:
        if self.lo >= 0:
            return self
        if self.hi <= 0:
            return -self
        return Interval(0, max(-self.lo, self.hi), self.scale, self.bits)

    def __pow__(self, power: int) -> Interval:
        """x^power for an integer power >= 0; an even power is never negative."""
        result, square = Interval.of(1, self.bits), (abs(self) if power % 2 == 0 else self)
        while power:
            if power & 1:
                result = result * square
            square = square * square
            power >>= 1
        return result

    def sqrt(self) -> Interval:
        if self.lo < 0:
            raise Undecided(f"square root of {self}, which may be negative")
        shift = max(0, 2 * self.bits + 2 - self.hi.bit_length())
        shift += (self.scale - shift) % 2  # the scale must be even
        lo = math.isqrt(self.lo << shift)
        hi = math.isqrt((self.hi << shift) - 1) + 1 if self.hi else 0  # rounds up
        return Interval(lo, hi, (self.scale - shift) // 2, self.bits)

    def exp(self) -> Interval:
        """e^x, increasing: from below at the lower end to above at the upper end."""
        low = _exp_of_point(self.lo, self.scale, self.bits)
        return low if self.lo == self.hi else low.hull(_exp_of_point(self.hi, self.scale, self.bits))

    def tanh(self) -> Interval:
        """2/(1 + e^(-2x)) - 1, in which x occurs once, so nothing is widened twice."""
        return 2 / (1 + (self * -2).exp()) - 1

    def hull(self, other: Interval) -> Interval:
        """The least interval around both."""
        scale = self._common_scale(other)
        (a, b), (c, d) = self._ends(scale), other._ends(scale)
        return Interval(min(a, c), max(b, d), scale, self.bits)

    def max(self, other: Interval) -> Interval:
        scale = self._common_scale(other)
        (a, b), (c, d) = self._ends(scale), other._ends(scale)
        return Interval(max(a, c), max(b, d), scale, self.bits)

    def __le__(self, other: Interval | Fraction | int) -> bool:
        other = self._with(other)
        scale = self._common_scale(other)
        return self._ends(scale)[1] <= other._ends(scale)[0]

    def __lt__(self, other: Interval | Fraction | int) -> bool:
        other = self._with(other)
        scale = self._common_scale(other)
        return self._ends(scale)[1] < other._ends(scale)[0]

    def __bool__(self) -> bool:
        """False for the point 0 alone."""
        return bool(self.lo or self.hi)

    def _rounded(self, bits: int) -> Interval:
        return Interval(self.lo, self.hi, self.scale, bits)

    def lower(self) -> Fraction:
        return _exact(self.lo, self.scale)

    def upper(self) -> Fraction:
        return _exact(self.hi, self.scale)

    def at_upper(self) -> Interval:
        """The upper end, as a point."""
        return Interval(self.hi, self.hi, self.scale, self.bits)

    def middle(self) -> Interval:
        """A point near the middle."""
        m = (self.lo + self.hi) >> 1
        return Interval(m, m, self.scale, self.bits)

    def __repr__(self) -> str:
        return f"[{_decimal(self.lo, self.scale)}, {_decimal(self.hi, self.scale)}]"


def _exp_of_point(m: int, e: int, bits: int) -> Interval:
    """An enclosure of e^x at the single point x = m·2^e.

    e^(-x) = 1/e^x; e^x = (e^t)^(2^s) with t = x/2^s below 1/16; e^t by its Taylor sum,
    once with every term rounded down and once with every term rounded up. Because
    t < 1/2 each term is at most half the one before, so the tail after the last term
    added is at most that term.
    """
    size = m.bit_length() + e  # |x| < 2^size, and |x| >= 2^(size - 1) unless x = 0
    if m and size > 20:
        if m < 0:
            return Interval(0, 1, -(2**20), bits)  # 0 < e^x <= e^(-2^20) < 2^(-2^20)
        raise Undecided("e^x is taken for x below 2^20 only")
    if m < 0:
        return 1 / _exp_of_point(-m, e, bits + 8)._rounded(bits)
    halvings = max(0, size + 4 + math.isqrt(bits) // 2) if m else 0
    work = bits + halvings + 16  # each squaring costs about one bit
    shift = e - halvings + work
    low, high = (m << shift, m << shift) if shift >= 0 else (m >> -shift, -(-m >> -shift))
    term_low = term_high = sum_low = sum_high = 1 << work
    k = 0
    while term_high > 1:
        k += 1
        term_low = (term_low * low >> work) // k
        term_high = -((-term_high * high >> work) // k)
        sum_low += term_low
        sum_high += term_high
    power = Interval(sum_low, sum_high + term_high, -work, work)
    for _ in range(halvings):
        power = power * power
    return power._rounded(bits)


def _exact(m: int, e: int) -> Fraction:
    if abs(e) > MAX_EXACT_BITS:
        raise Rejected(f"a number near {_decimal(m, e)} is too small or too large to be taken exactly")
    return m * Fraction(2) ** e


def _decimal(m: int, e: int) -> str:
    """m·2^e to six digits, for the reader only."""
    wide, narrow = (decimal.Context(p, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN) for p in (40, 6))
    power = wide.power(decimal.Decimal(2), abs(e))
    value = wide.multiply(decimal.Decimal(m), power) if e >= 0 else wide.divide(decimal.Decimal(m), power)
    in_range = value == 0 or 1e-300 < abs(value) < 1e300
    return format(float(value), ".6g") if in_range else format(narrow.plus(value), "g")


# ---------------------------------------------------------------------------------------------------------
# Reading: exact numbers only, every field known, everything bounded
# ---------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|\*2\^(-?[0-9]+))?")


def demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Rejected(otherwise)


def parse(text: str) -> Any:
    """JSON with integers, strings, lists and objects; floats, constants and repeated keys are refused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        demand(len(result) == len(pairs), "an object has the same field twice")
        return result

    def refuse(literal: str) -> Any:
        raise Rejected(f"the number {_short(literal)} is not exact; integers, 'p/q' and 'm*2^e' are")

    _limit_depth(text)
    hooks: Any = {"parse_int": _integer, "parse_float": refuse, "parse_constant": refuse}
    try:
        return json.loads(text, object_pairs_hook=unique, **hooks)
    except (ValueError, RecursionError) as error:
        raise Rejected(f"not JSON: {_short(str(error))}") from None


def _limit_depth(text: str) -> None:
    depth, in_string, escaped = 0, False, -1
    for mark in re.finditer(r'["\\\[\]{}]', text):
        if mark.start() == escaped:
            continue
        if mark[0] == '"':
            in_string = not in_string
        elif in_string:
            escaped = mark.end() if mark[0] == "\\" else -1
        else:
            depth += 1 if mark[0] in "[{" else -1
            demand(depth <= MAX_DEPTH, f"brackets are nested more than {MAX_DEPTH} deep")


def _integer(digits: str) -> int:
    demand(len(digits) <= MAX_DIGITS, f"an integer of {len(digits)} digits; {MAX_DIGITS} are allowed")
    try:
        return int(digits)
    except ValueError:  # the interpreter may have been started with a lower limit of its own
        raise Rejected(f"an integer of {len(digits)} digits is beyond this interpreter's limit") from None


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def read(value: Any, shape: Any, where: str, sizes: dict[str, int]) -> Any:
    """`value`, read as its shape demands.

    A shape is a dict from fields to shapes (a field with "?" may be missing, any other field is refused);
    a list [shape, most] of 1 to `most` members; a tuple of allowed words; "number"; or letters that name
    lengths: "d" a vector, "n d" a matrix. A letter stands for one length throughout a certificate; one that
    first occurs in a member of a list, throughout that member.
    """
    if isinstance(shape, dict):
        demand(type(value) is dict, f"{where}: {_short(value)} given, an object is needed")
        shapes = {name.rstrip("?"): inner for name, inner in shape.items()}
        for name in value:
            demand(name in shapes, f"{where} has a field {_short(name)} that is not known")
        for name in shape:
            demand(name.endswith("?") or name in value, f"{where}.{name} is missing")
        return {name: read(value[name], shapes[name], f"{where}.{name}", sizes) for name in shapes if name in value}
    if isinstance(shape, list):
        inner, most = shape
        return [read(item, inner, f"{where}[{i}]", {**sizes}) for i, item in enumerate(_list(value, where, most))]
    if isinstance(shape, tuple):
        demand(type(value) is str and value in shape, f"{where}: {_short(value)} is none of {', '.join(shape)}")
        return value
    if shape == "number":
        return _number(value, where)
    return _array(value, shape.split(), where, sizes)


def _list(value: Any, where: str, most: int) -> list[Any]:
    demand(type(value) is list and 1 <= len(value) <= most, f"{where}: a list of 1 to {most} members is needed")
    return list(value)


def _array(value: Any, letters: list[str], where: str, sizes: dict[str, int]) -> Any:
    if not letters:
        return _number(value, where)
    items = _list(value, where, MAX_SIDE)
    length = sizes.setdefault(letters[0], len(items))
    demand(len(items) == length, f"{where}: {len(items)} members given, {letters[0]} = {length} are needed")
    return [_array(item, letters[1:], f"{where}[{i}]", sizes) for i, item in enumerate(items)]


def _number(value: Any, where: str) -> Fraction:
    """An integer, or a string "p", "p/q" with q > 0, or "m*2^e"."""
    if type(value) is int:
        return Fraction(value)
    match = _NUMBER.fullmatch(value) if type(value) is str and len(value) <= 2 * MAX_DIGITS + 1 else None
    if match is None:
        raise Rejected(f"{where}: {_short(value)} is no integer, 'p/q' or 'm*2^e' within the limits")
    numerator, denominator, exponent = _integer(match[1]), _integer(match[2] or "1"), _integer(match[3] or "0")
    demand(abs(exponent) <= MAX_EXPONENT, f"{where}: the exponent of {_short(value)} is beyond {MAX_EXPONENT}")
    demand(denominator > 0, f"{where}: {_short(value)} has denominator 0")
    return Fraction(numerator, denominator) * Fraction(2) ** exponent


# ---------------------------------------------------------------------------------------------------------
# Linear algebra, on fractions and on intervals alike
# ---------------------------------------------------------------------------------------------------------

T = TypeVar("T", Fraction, Interval)
Exact: TypeAlias = list[list[Fraction]]
Enclosed: TypeAlias = list[list[Interval]]


class Work:
    """The time left, the words said so far, and sums and products that watch time and size."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.deadline = seconds, time.monotonic() + seconds
        self.words: list[str] = []

    def watch(self, value: T) -> T:
        if time.monotonic() > self.deadline:
            raise Rejected(f"the time budget of {self.seconds:g} s is used up")
        if type(value) is Fraction:
            size = max(value.numerator.bit_length(), value.denominator.bit_length())
            demand(size <= MAX_EXACT_BITS, f"an exact result has {size} bits; {MAX_EXACT_BITS} are allowed")
        return value

    def sum(self, values: Iterable[T]) -> T:
        first, *rest = values
        total = self.watch(first)
        for value in rest:
            total = self.watch(total + value)
        return total

    def dot(self, u: Sequence[T], v: Sequence[T]) -> T:
        return self.sum([a * b for a, b in zip(u, v, strict=True) if a and b] or [u[0] * v[0]])

    def matmul(self, A: Sequence[Sequence[T]], B: Sequence[Sequence[T]]) -> list[list[T]]:
        columns = transpose(B)
        return [[self.dot(row, column) for column in columns] for row in A]

    def add(self, A: Sequence[Sequence[T]], B: Sequence[Sequence[T]]) -> list[list[T]]:
        return [[self.watch(a + b) for a, b in zip(p, q, strict=True)] for p, q in zip(A, B, strict=True)]

    def settle(
        self, attempt: Callable[[int], list[str]], precisions: Sequence[int] = PRECISIONS, what: str = ""
    ) -> int:
        """Raise the precision until `attempt(bits)` is no longer Undecided; keep its words, return the bits."""
        reason = ""
        for bits in precisions:
            try:
                self.words.extend(attempt(bits))
                return bits
            except Undecided as undecided:
                reason = f"{what}undecided at {bits} bits: {undecided}"
        raise Rejected(reason)


def transpose(A: Sequence[Sequence[T]]) -> list[list[T]]:
    return [list(column) for column in zip(*A, strict=True)]


def scaled_identity(size: int, factor: Fraction | int) -> Exact:
    return [[Fraction(factor) if i == j else Fraction(0) for j in range(size)] for i in range(size)]


def lift(v: Sequence[Fraction], bits: int) -> list[Interval]:
    return [Interval.of(x, bits) for x in v]


def lift_rows(A: Exact, bits: int) -> Enclosed:
    return [lift(row, bits) for row in A]


def largest(values: Iterable[Interval]) -> Interval:
    first, *rest = values
    for value in rest:
        first = first.max(value)
    return first


def subtract(A: Enclosed, B: Enclosed) -> Enclosed:
    return [[a - b for a, b in zip(p, q, strict=True)] for p, q in zip(A, B, strict=True)]


def subtract_center(X: Enclosed, center: Sequence[Interval]) -> Enclosed:
    return subtract(X, [list(center)] * len(X))


def one_norm(work: Work, A: Exact) -> Fraction:
    """The largest column sum of absolute values."""
    return max(work.sum(abs(x) for x in column) for column in transpose(A))


def inf_norm(work: Work, A: Exact) -> Fraction:
    """The largest row sum of absolute values."""
    return max(work.sum(abs(x) for x in row) for row in A)


def max_norm(A: Exact) -> Fraction:
    return max(abs(x) for row in A for x in row)


def token_norm(work: Work, v: Sequence[Interval], norm: str) -> Interval:
    if norm == "linf":
        return largest(abs(x) for x in v)
    if norm == "l1":
        return work.sum(abs(x) for x in v)
    return work.sum(x**2 for x in v).sqrt()


def normalise(work: Work, weights: Sequence[Interval]) -> list[Interval]:
    total = work.sum(weights)
    return [weight / total for weight in weights]


def exponentials(work: Work, logits: Sequence[Interval]) -> list[Interval]:
    """e^(logit - s), with one s for all that keeps the numbers small; normalising removes s again."""
    s = largest(logits).at_upper()
    return [work.watch((logit - s).exp()) for logit in logits]


def root_of(d_qk: Fraction, bits: int) -> Interval:
    demand(d_qk > 0, "data.d_qk must be positive")
    return Interval.of(d_qk, bits).sqrt()


def apply_layer(work: Work, layer: Any, d_qk: Fraction, X: Enclosed, bits: int) -> Enclosed:
    """sum_h softmax((X W_QK X^T + 1 (X k)^T)/sqrt(d_qk)) X W_h + 1 b^T with key bias k, literally."""
    root = root_of(d_qk, bits)
    result = [lift(layer["bias"], bits) for _ in X]
    for head in layer["heads"]:
        W_QK, W, k = lift_rows(head["W_QK"], bits), lift_rows(head["W"], bits), lift(head["key_bias"], bits)
        keys = [work.dot(token, k) for token in X]
        scores = work.matmul(work.matmul(X, W_QK), transpose(X))
        logits = [[(s + key) / root for s, key in zip(row, keys, strict=True)] for row in scores]
        P = [normalise(work, exponentials(work, row)) for row in logits]
        result = work.add(result, work.matmul(work.matmul(P, X), W))
    return result


def san(work: Work, data: Any, bits: int) -> Enclosed:
    """SAN(X): the layers one after another."""
    X = lift_rows(data["X"], bits)
    for layer in data["layers"]:
        X = apply_layer(work, layer, data["d_qk"], X, bits)
    return X


def compare(kind: str, left: Interval, right: Interval, what: str) -> str:
    """The words for left <= right (kind holds) or left > right (kind violates), once certain."""
    holds, fails = left <= right, right < left
    if not holds and not fails:
        raise Undecided(f"{what}: left side in {left}, right side in {right}")
    sentence = f"{what}: left side in {left}, right side in {right}, so it {'holds' if holds else 'fails'}"
    demand(holds == (kind == "holds"), f"{sentence}, against the claim {kind!r}")
    return sentence


def demand_below(left: Interval, right: Interval, what: str) -> None:
    """left < right, once certain."""
    if not left < right:
        demand(not right <= left, f"{what}: {left} is not less than {right}")
        raise Undecided(f"{what}: {left} against {right}")


def _show(value: Fraction) -> str:
    small = max(value.numerator.bit_length(), value.denominator.bit_length()) < 64
    return str(value) if small else repr(Interval.of(value, 64))


# ---------------------------------------------------------------------------------------------------------
# Exact families
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """What a certificate says: its kind (holds, violates, exists), its exact data, its hints."""

    kind: str
    data: Any
    hints: Any


def demand_stochastic(work: Work, P: Exact, where: str) -> None:
    for i, row in enumerate(P):
        for j, entry in enumerate(row):
            demand(entry >= 0, f"{where}: entry ({i}, {j}) is negative")
        total = work.sum(row)
        demand(total == 1, f"{where}: row {i} sums to {_show(total)}, not to 1")


def demand_equal(A: Exact, B: Exact, what: str) -> None:
    demand(len(A) == len(B) and len(A[0]) == len(B[0]), f"{what}: the shapes differ")
    for i, (p, q) in enumerate(zip(A, B, strict=True)):
        for j, (a, b) in enumerate(zip(p, q, strict=True)):
            if a != b:
                raise Rejected(f"{what}: entry ({i}, {j}) is {_show(a)} against {_show(b)}")


CLOSURE = {"factors": ["r c", MAX_SIDE], "product?": "r c"}


def closure(claim: Claim, work: Work) -> None:
    """A product of row-stochastic matrices is row-stochastic."""
    factors = claim.data["factors"]
    for k, factor in enumerate(factors):
        demand_stochastic(work, factor, f"data.factors[{k}]")
    product = factors[0]
    for k, factor in enumerate(factors[1:], 1):
        demand(
            len(product[0]) == len(factor), f"data.factors[{k}] has {len(factor)} rows, {len(product[0])} needed"
        )
        product = work.matmul(product, factor)
    demand_stochastic(work, product, "the product")
    work.words.append(f"{len(factors)} factor(s) and their exact product are row-stochastic")
    if "product" in claim.data:
        demand_equal(product, claim.data["product"], "the product against data.product")
        work.words.append("the stored product is the exact product")


PATHS = {
    "X": "n d",
    "layers": [{"heads": [{"P": "n n", "W": "d d"}, MAX_HEADS], "bias": "d"}, MAX_LAYERS],
    "output?": "n d",
}
PATHS_SKIP = {**PATHS, "skip": "number"}


def path_decomposition(claim: Claim, work: Work) -> None:
    """The layer recursion equals the sum over all paths of P_path X W_path, plus 1 b^T.

    P_path multiplies the layers' matrices from the left, W_path from the right. With a skip factor s each
    layer has the further head P = I, W = sI.
    """
    X = claim.data["X"]
    n, d = len(X), len(X[0])
    layers = [[(head["P"], head["W"]) for head in layer["heads"]] for layer in claim.data["layers"]]
    for l, heads in enumerate(layers):
        for h, (P, _) in enumerate(heads):
            demand_stochastic(work, P, f"data.layers[{l}].heads[{h}].P")
    if "skip" in claim.data:
        layers = [[(scaled_identity(n, 1), scaled_identity(d, claim.data["skip"])), *heads] for heads in layers]
    count = math.prod(len(heads) for heads in layers)
    demand(count <= MAX_PATHS, f"{count} paths; {MAX_PATHS} are allowed")

    recursion, b = X, [[Fraction(0)] * d]
    for layer, heads in zip(claim.data["layers"], layers, strict=True):
        tokens, b_next = [layer["bias"] for _ in X], [layer["bias"]]
        for P, W in heads:
            tokens = work.add(tokens, work.matmul(work.matmul(P, recursion), W))
            b_next = work.add(b_next, work.matmul(b, W))  # because P 1 = 1
        recursion, b = tokens, b_next
    total = [b[0] for _ in X]
    for path in itertools.product(*layers):
        tokens, W_path = X, scaled_identity(d, 1)
        for P, W in path:
            tokens, W_path = work.matmul(P, tokens), work.matmul(W_path, W)
        total = work.add(total, work.matmul(tokens, W_path))
    demand_equal(recursion, total, "the layer recursion against the sum over paths")
    work.words.append("every attention matrix is row-stochastic, exactly")
    work.words.append(
        f"{len(layers)} layer(s) applied to X give the sum over all {count} paths plus 1 b^T, exactly"
    )
    if "output" in claim.data:
        demand_equal(recursion, claim.data["output"], "the output against data.output")
        work.words.append("the stored output is the exact output")


TRIANGLE = {"A": "n d", "B": "n d"}


def triangle(claim: Claim, work: Work) -> None:
    """sqrt(|A|_1 |A|_inf) breaks the triangle inequality on A, B."""
    A, B = claim.data["A"], claim.data["B"]
    p, q, r = (one_norm(work, M) * inf_norm(work, M) for M in (A, B, work.add(A, B)))
    squares = f"the composite values squared are {_show(p)}, {_show(q)} and for A + B {_show(r)}"
    # sqrt p + sqrt q < sqrt r if and only if 2 sqrt(pq) < r - p - q.
    broken = r - p - q > 0 and 4 * p * q < (r - p - q) ** 2
    demand(broken, f"{squares}: no violation")
    work.words.append(f"{squares}: that of A + B exceeds the sum of the two, exactly")


def invariant_set(claim: Claim, work: Work) -> None:
    """The unit vectors x <= 0 with x_(d-1) <= -1/w stay so under x -> y/|y|, y = (x + e_d)(I + w S), w > 1.

    S has ones on the superdiagonal: z (I + w S) has the entries z_b + w z_(b-1).
    """
    x, w = claim.data["x"], claim.data["w"]
    demand(len(x) >= 2 and w > 1, "data: two coordinates or more and w > 1 are needed")
    demand(work.dot(x, x) == 1, "data.x: not of norm 1")
    demand(max(x) <= 0 and w * x[-2] <= -1, "data.x: not in the set x <= 0, x_(d-1) <= -1/w")
    z = [*x[:-1], x[-1] + 1]
    y = [b + w * a for a, b in zip([Fraction(0), *z[:-1]], z, strict=True)]
    square, claimed = work.dot(y, y), w**2 * y[-2] ** 2
    stays = max(y) <= 0 and square <= claimed
    image = f"|y|^2 = {_show(square)}, w^2 y_(d-1)^2 = {_show(claimed)}, largest entry of y {_show(max(y))}"
    demand(stays == (claim.kind == "holds"), f"{image}, against the claim {claim.kind!r}")
    work.words.append(f"x is a vector of the set in dimension {len(x)}, w = {_show(w)}, exactly")
    work.words.append(f"{image}: its image is {'in the set again' if stays else 'outside, exactly'}")


def steps_to_all(graph: Exact, center: int) -> int:
    """After how many steps all tokens have heard of the center; in a step i hears what j knows if graph_ij != 0."""
    heard, news, steps = {center}, {center}, 0
    while len(heard) < len(graph):
        news = {i for i, row in enumerate(graph) if i not in heard and any(row[j] for j in news)}
        demand(bool(news), f"data: the graph is not connected, token {center} does not reach all")
        heard, steps = heard | news, steps + 1
    return steps


def strong_radius(graph: Exact) -> int:
    """The radius of a strongly connected graph of two tokens or more that see themselves."""
    demand(len(graph) >= 2 and all(row[i] for i, row in enumerate(graph)), "data: two tokens that see themselves")
    return min(steps_to_all(graph, center) for center in range(len(graph)))


def cosine_step(claim: Claim, work: Work) -> None:
    """1 - phi(r) <= (1 - n eps^(2r)) (1 - phi(0)) for X(s+1) = N(A X(s) W_V), N dividing each token by its norm.

    phi is the least cosine of two tokens, eps the least attention on an edge, r = 1 the radius. X(0) = W_V = I, so
    phi(0) = 0, and A, any stochastic matrix, is the attention of X(0): let W_QK be its logarithm on the edges. Then
    X(1) holds the rows of A over their norms, and the step says <A_i, A_j> >= n eps^2 |A_i| |A_j| for all i, j.
    """
    A = claim.data["A"]
    demand_stochastic(work, A, "data.A")
    demand(strong_radius(A) == 1, "data.A: its graph must have radius 1")
    asked = len(A) * min(x for row in A for x in row if x) ** 2
    G = work.matmul(A, transpose(A))
    pairs = itertools.combinations(range(len(A)), 2)
    least, i, j = min((work.watch(G[i][j] ** 2 / (G[i][i] * G[j][j])), i, j) for i, j in pairs)
    found = f"the least cosine is that of tokens {i} and {j}, its square {_show(least)}"
    holds = least >= asked**2
    demand(holds == (claim.kind == "holds"), f"{found}, n eps^2 = {_show(asked)}, against the claim {claim.kind!r}")
    work.words.append(
        f"{len(A)} tokens, attention over a strongly connected graph of radius 1, n eps^2 = {_show(asked)}"
    )
    work.words.append(f"{found}: {'at least' if holds else 'less than'} (n eps^2)^2, exactly")


def radius_rate(claim: Claim, work: Work) -> None:
    """mu(X(t)) <= C (1 - n eps^(2r))^(t/2r) for X(s+1) = N(A X(s) W_V) from X(0) of full rank, r the radius.

    W_QK = 0 and X(0) = W_V = I: A is uniform over the keys a token sees, eps = 1/(the most keys a token sees). If
    n eps^(2r) >= 1, the bound at t = 2r is at most 0, whatever C > 0. But if A is invertible, X(t) = D A^t with a
    diagonal D > 0 has rank n >= 2, its rows are not all equal, and mu(X(t)) > 0 for every t.
    """
    mask = claim.data["mask"]
    demand(all(x in (0, 1) for row in mask for x in row), "data.mask: every entry must be 0 or 1")
    n, r = len(mask), strong_radius(mask)
    A = [[x / sum(row) for x in row] for row in mask]
    rate = 1 - n * min(x for row in A for x in row if x) ** (2 * r)
    demand(rate <= 0, f"1 - n eps^(2r) = {_show(rate)} is positive: no violation is shown")
    demand(exact_rank(work, A) == n, "data.mask: uniform attention over it is not invertible")
    work.words.append(f"{n} tokens, a strongly connected mask of radius {r}: 1 - n eps^(2r) = {_show(rate)} <= 0")
    work.words.append("uniform attention over the mask is invertible, exactly, so the tokens never meet")


def two_tokens(claim: Claim, work: Work) -> None:
    """Causal, W_QK = 0, W_V = [[1, w], [0, 1]], token 1 at e_2; token 2 moves by x -> y/|y|, y = (e_2 + x) W_V.

    It rests where y = c x, c > 0. As y_1 x_2 - y_2 x_1 = -x_1 (1 + w x_1), that needs x_1 = 0 or x_1 = -1/w: one of
    the three points below, for (0, -1) has y = 0. Along the tangent t = (-x_2, x_1) the derivative is t W_V t^T/c.
    """
    w, s = claim.data["w"], claim.data["s"]
    demand(w > 1 and s > 0 and s * s == 1 - 1 / w**2, "data: w > 1 and s = sqrt(1 - 1/w^2) are needed")
    zero, one, half = Fraction(0), Fraction(1), Fraction(1, 2)
    for x, multiplier in (((zero, one), half), ((-1 / w, s), 1 + s), ((-1 / w, -s), 1 - s)):
        y, t = (x[0], w * x[0] + x[1] + 1), (-x[1], x[0])
        c, stretched = work.dot(x, y), work.dot(t, (t[0], w * t[0] + t[1]))
        where = f"at ({_show(x[0])}, {_show(x[1])}) with multiplier {_show(multiplier)}"
        rests = work.dot(x, x) == 1 and c > 0 and y == (c * x[0], c * x[1])
        demand(rests and stretched == multiplier * c, f"token 2 does not rest {where}")
        work.words.append(f"token 2 rests {where}, exactly")


# ---------------------------------------------------------------------------------------------------------
# Softmax families
# ---------------------------------------------------------------------------------------------------------


def demand_below_threshold(D: Interval, what: str) -> None:
    """D <= x*, the positive root of e^x = 1 + 2x, for a D >= 0, without a decimal of x*.

    e^x - 1 - 2x is convex and zero at 0 and x*, so D <= x* if and only if e^D <= 1 + 2D. It is negative
    at 1, so D <= 1 is enough.
    """
    top = D.at_upper()
    if top <= 1 or top.exp() <= 1 + 2 * top:
        return
    demand(not D.exp() > 1 + 2 * D, f"{what} is in {D}: e^D > 1 + 2D, so the hypothesis D <= x* fails")
    raise Undecided(f"{what} is in {D}, too near x*")


SANDWICH = {"weights?": "m", "logits?": "m", "E": "n m"}


def sandwich(claim: Claim, work: Work, *, hypothesis: bool) -> None:
    """(1 - D_i) q_j <= P_ij <= (1 + 2 D_i) q_j, with or without the hypothesis D_i <= x*.

    q is proportional to the weights, or to e^logits; P_ij to q_j e^(E_ij); D_i = max_j E_ij - min_j E_ij.
    """
    base, E = base_weights(claim, work), claim.data["E"]
    D = [max(row) - min(row) for row in E]

    def attempt(bits: int) -> list[str]:
        weights = base(bits)
        q = normalise(work, weights)
        words, undecided = [], ""
        if hypothesis:
            for i, d in enumerate(D):
                demand_below_threshold(Interval.of(d, bits), f"D of row {i}")
            words = ["e^D <= 1 + 2D in every row, so D <= x*"]
        for i, (row, d) in enumerate(zip(E, D, strict=True)):
            if d == 0:
                continue  # softmax ignores a constant: P_i = q, and both halves are equalities
            factors = exponentials(work, lift(row, bits))
            P = normalise(work, [w * f for w, f in zip(weights, factors, strict=True)])
            for j, (p, s) in enumerate(zip(P, q, strict=True)):
                low, high = (1 - d) * s, (1 + 2 * d) * s
                if low <= p and p <= high:
                    continue
                numbers = f"entry ({i}, {j}), D = {_show(d)}: {low} <= {p} <= {high}"
                if p < low or high < p:
                    demand(claim.kind == "violates", f"{numbers} fails")
                    return [*words, f"{numbers} fails, so the statement is violated"]
                undecided = numbers
        if undecided:
            raise Undecided(undecided)
        demand(claim.kind == "holds", "no entry violates the inequality")
        return [*words, f"both halves hold in all {len(E)} x {len(E[0])} entries; D is at most {_show(max(D))}"]

    work.settle(attempt)


def base_weights(claim: Claim, work: Work) -> Callable[[int], list[Interval]]:
    """Positive numbers in proportion to q: the weights themselves, or e^logits."""
    demand(("weights" in claim.data) != ("logits" in claim.data), "data: either weights or logits are needed")
    base = claim.data.get("weights") or claim.data["logits"]
    demand("logits" in claim.data or min(base) > 0, "data.weights: every weight must be positive")
    if "weights" in claim.data:
        return lambda bits: lift(base, bits)
    return lambda bits: exponentials(work, lift(base, bits))


VARIATION = {"weights?": "m", "logits?": "m", "g": "m"}


def total_variation(claim: Claim, work: Work) -> None:
    """Half the 1-norm of p - q is at most tanh(osc(g)/4), where p_j is proportional to q_j e^(g_j).

    A variant has another constant in place of 4.
    """
    base, g, constant = base_weights(claim, work), claim.data["g"], claim.data.get("constant", Fraction(4))
    demand(constant > 0, "data.constant: a positive number is needed")

    def attempt(bits: int) -> list[str]:
        weights, factors = base(bits), exponentials(work, lift(g, bits))
        p, q = normalise(work, [w * f for w, f in zip(weights, factors, strict=True)]), normalise(work, weights)
        left = work.sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
        right = Interval.of((max(g) - min(g)) / constant, bits).tanh()
        return [compare(claim.kind, left, right, f"the total variation against tanh(osc(g)/{_show(constant)})")]

    work.settle(attempt)


# ---------------------------------------------------------------------------------------------------------
# Network families
# ---------------------------------------------------------------------------------------------------------

NETWORK = {
    "X": "n d",
    "d_qk": "number",
    "layers": [
        {"heads": [{"W_QK": "d d", "W": "d d", "key_bias": "d"}, MAX_HEADS], "bias": "d"},
        MAX_LAYERS,
    ],
}
Bound: TypeAlias = Callable[[int], Interval]  # an enclosure at any number of bits


def network_in_words(data: Any, bits: int) -> str:
    heads = "+".join(str(len(layer["heads"])) for layer in data["layers"])
    size = (
        f"{len(data['X'])} tokens of dimension {len(data['X'][0])}, {len(data['layers'])} layer(s), {heads} head(s)"
    )
    return f"{size}: SAN(X) by the plain definition, in intervals of {bits} bits"


def cubic_bound(c: Interval, start: Interval, L: int) -> Interval:
    """a_(l+1) = c a_l^3, solved: c^((3^L - 1)/2) start^(3^L)."""
    bound: Interval = c ** ((3**L - 1) // 2) * start ** (3**L)
    return bound


def token_diameter(work: Work, X: Enclosed, norm: str) -> Interval:
    """The largest distance of two tokens."""
    distances = [Interval.of(0, X[0][0].bits)]
    for u, v in itertools.combinations(X, 2):
        distances.append(token_norm(work, [a - b for a, b in zip(u, v, strict=True)], norm))
    return largest(distances)


def spectral_norm(work: Work, W: Exact, hint: Any) -> Bound:
    """From below |u W v|/(|u| |v|) at the hinted u, v; from above the less of Frobenius and sqrt(|W|_1 |W|_inf)."""
    u, v = hint["u"], hint["v"]
    size = work.dot(u, u) * work.dot(v, v)
    demand(size > 0, "a singular vector of the hints is zero")
    below = work.matmul(work.matmul([u], W), transpose([v]))[0][0] ** 2 / size
    above = min(work.sum(x * x for row in W for x in row), one_norm(work, W) * inf_norm(work, W))
    return lambda bits: Interval.of(below, bits).sqrt().hull(Interval.of(above, bits).sqrt())


def sign_norm(work: Work, W: Exact) -> Fraction:
    """sup u W v^T over |u|_inf, |v|_inf <= 1: attained at sign vectors; every u is tried, the best v is known."""
    demand(len(W) <= MAX_SIGNS, f"linf tries all sign vectors, up to dimension {MAX_SIGNS}; {len(W)} given")
    signs = itertools.product((Fraction(1), Fraction(-1)), repeat=len(W))
    return max(work.sum(abs(x) for x in work.matmul([u], W)[0]) for u in signs)


def head_norms(work: Work, head: Any, norm: str, hint: Any) -> tuple[Bound, Bound]:
    """The norm of v -> v W, and sup |u W_QK v^T| over unit u, v, for tokens measured in `norm`."""
    if norm == "l2":
        return spectral_norm(work, head["W"], hint["W"]), spectral_norm(work, head["W_QK"], hint["W_QK"])
    if norm == "l1":
        of_map, of_form = inf_norm(work, head["W"]), max_norm(head["W_QK"])
    else:
        of_map, of_form = one_norm(work, head["W"]), sign_norm(work, head["W_QK"])
    return (lambda bits: Interval.of(of_map, bits)), (lambda bits: Interval.of(of_form, bits))


DIAMETER = {"norm": ("l1", "l2", "linf"), "form": ("tanh", "cubic"), **NETWORK}
DIAMETER_VARIANT = {**DIAMETER, "constant": "number", "heads": ("sum", "largest"), "shift": "number"}
_SINGULAR = {"u": "d", "v": "d"}
DIAMETER_HINTS = {"singular?": [[{"W": _SINGULAR, "W_QK": _SINGULAR}, MAX_HEADS], MAX_LAYERS]}


def diameter(claim: Claim, work: Work) -> None:
    """The diameter of SAN(X) against one of two bounds, with N = |W|, M = |W_QK|_* of each head.

    tanh: b_0 = diameter of X, b_(l+1) = b_l sum_h N tanh(M b_l^2/(4 sqrt d_qk)).
    cubic: c^((3^L-1)/2) b_0^(3^L) with c = the largest over layers of sum_h N M/(4 sqrt d_qk).
    A variant has another constant in place of 4, takes the largest head in place of the sum, or adds to 3^L.
    """
    data, norm, form = claim.data, claim.data["norm"], claim.data["form"]
    constant, shift = data.get("constant", Fraction(4)), data.get("shift", Fraction(0))
    demand(constant > 0, "data.constant: a positive number is needed")
    demand(shift.denominator == 1 and 0 <= shift <= 9, "data.shift: a whole number from 0 to 9 is needed")
    demand(not shift or form == "cubic", "data.shift: only the cubic form has an exponent")
    together = largest if data.get("heads") == "largest" else work.sum
    layers = [layer["heads"] for layer in data["layers"]]
    demand(("singular" in claim.hints) == (norm == "l2"), "hints.singular is needed for l2, and only there")
    hints = claim.hints.get("singular") or [[None for _ in heads] for heads in layers]
    demand([len(row) for row in hints] == [len(heads) for heads in layers], "hints.singular: one for each head")
    norms = [
        [head_norms(work, head, norm, hint) for head, hint in zip(heads, row, strict=True)]
        for heads, row in zip(layers, hints, strict=True)
    ]

    def attempt(bits: int) -> list[str]:
        root = root_of(data["d_qk"], bits)
        start = token_diameter(work, lift_rows(data["X"], bits), norm)
        if form == "tanh":
            right = start
            for heads in norms:
                steps = (N(bits) * (M(bits) * right**2 / (constant * root)).tanh() for N, M in heads)
                right = right * together(steps)
        else:
            c = largest(together(N(bits) * M(bits) for N, M in heads) for heads in norms) / (constant * root)
            right = cubic_bound(c, start, len(layers)) * start ** int(shift)
        left = token_diameter(work, san(work, data, bits), norm)
        return [
            network_in_words(data, bits),
            f"the diameter of X in {norm} is in {start}",
            compare(claim.kind, left, right, f"the diameter of SAN(X) in {norm} against the {form} bound"),
        ]

    work.settle(attempt)


def supporting_line(work: Work, p: list[Fraction], q: list[Fraction], X: Enclosed) -> tuple[Fraction, ...]:
    """alpha, beta, v with alpha |X - 1x^T|_1 + beta |X - 1x^T|_inf >= v for every x, from weights p, q >= 0.

    alpha = sum p, beta = sum q; v = sum_k min_t sum_i (p_k + q_i) |X_ik - t|, because a norm that is the
    largest of some sums is at least any mean of them. The least t is one of the X_mk, so all are tried.
    """
    demand(min(*p, *q) >= 0, "hints: a weight is negative")
    bits, v = X[0][0].bits, []
    for p_k, column in zip(p, transpose(X), strict=True):
        weights = lift([p_k + q_i for q_i in q], bits)
        sums = (work.sum(w * abs(x - t) for w, x in zip(weights, column, strict=True)) for t in column)
        v.append(-largest(-total for total in sums))
    return work.sum(p), work.sum(q), work.sum(v).lower()


RESIDUAL_HINTS = {"center": "d", "rows": "n", "output_center": "d", "output_rows?": "n"}


def residual_inf(claim: Claim, work: Work) -> None:
    """|res SAN(X)|_inf against c^((3^L-1)/2) |res X|_inf^(3^L), c = max_l sum_h |W_QK|_max |W|_inf/sqrt(d_qk).

    |res X|_inf is the least |X - 1x^T|_inf. Any x bounds it from above, any weights q on the rows from below.
    A variant has a constant in front of c.
    """
    data, hints = claim.data, claim.hints
    c = data.get("constant", Fraction(1)) * max(
        work.sum(max_norm(head["W_QK"]) * inf_norm(work, head["W"]) for head in layer["heads"])
        for layer in data["layers"]
    )
    demand(c >= 0, "data.constant: a number of at least 0 is needed")

    def attempt(bits: int) -> list[str]:
        X = lift_rows(data["X"], bits)
        start = least_row_sum(work, X, hints["center"], hints["rows"])
        right = cubic_bound(c / root_of(data["d_qk"], bits), start, len(data["layers"]))
        left = least_row_sum(work, san(work, data, bits), hints["output_center"], hints.get("output_rows"))
        return [
            network_in_words(data, bits),
            f"|res X|_inf is in {start}, by the stored weights and center",
            compare(claim.kind, left, right, "|res SAN(X)|_inf against the bound"),
        ]

    work.settle(attempt)


def least_row_sum(work: Work, X: Enclosed, center: list[Fraction], rows: list[Fraction] | None) -> Interval:
    """The least |X - 1x^T|_inf: at most the value at the center, at least what weights on the rows prove (or 0)."""
    bits, v = X[0][0].bits, Fraction(0)
    if rows is not None:
        demand(work.sum(rows) > 0, "hints: the weights on the rows must not all be zero")
        _, beta, v = supporting_line(work, [Fraction(0) for _ in X[0]], rows, X)
        v = v / beta
    return Interval.of(v, bits).hull(row_sum_norm(work, subtract_center(X, lift(center, bits))))


def row_sum_norm(work: Work, A: Enclosed) -> Interval:
    """|A|_inf."""
    return largest(token_norm(work, row, "l1") for row in A)


def composite(work: Work, A: Enclosed) -> Interval:
    """|A|_{1,inf} = sqrt(|A|_1 |A|_inf)."""
    return (row_sum_norm(work, transpose(A)) * row_sum_norm(work, A)).sqrt()


def least_composite(work: Work, hints: Any, X: Enclosed) -> Interval:
    """A lower bound on |X - 1x^T|_{1,inf} for all x at once.

    The two norms are a point (a, b) of the polygon a, b >= 0 and alpha a + beta b >= v for every line.
    There ab is quasi-concave and increasing, so it is least at a vertex.
    """
    lines = [supporting_line(work, hint["columns"], hint["rows"], X) for hint in hints]
    lines += [(Fraction(1), Fraction(0), Fraction(0)), (Fraction(0), Fraction(1), Fraction(0))]
    products = []
    for (p, q, v), (r, s, w) in itertools.combinations(lines, 2):
        determinant = work.watch(p * s - q * r)
        if determinant:
            a, b = (v * s - q * w) / determinant, (p * w - v * r) / determinant
            if all(alpha * a + beta * b >= bound for alpha, beta, bound in lines):
                products.append(a * b)
    return Interval.of(min(products), X[0][0].bits).sqrt()


def attention_spread(
    work: Work, head: Any, R: Enclosed, x: list[Interval], root: Interval
) -> tuple[list[Interval], list[Interval]]:
    """D_i = osc of row i of R W_QK R^T/sqrt(d_qk), and q = softmax of c_j = (R_j W_QK^T x + R_j k)/sqrt(d_qk)."""
    W_QK, k = lift_rows(head["W_QK"], root.bits), lift(head["key_bias"], root.bits)
    E = work.matmul(work.matmul(R, W_QK), transpose(R))
    D = [(largest(row) + largest(-e for e in row)) / root for row in E]
    towards = [a + b for a, b in zip(work.matmul([x], W_QK)[0], k, strict=True)]
    c = [work.dot(row, towards) / root for row in R]
    return D, normalise(work, exponentials(work, c))


COMPOSITE_HINTS = {
    "centers": ["d", MAX_LAYERS + 1],
    "lines": [[{"columns": "d", "rows": "n"}, MAX_LINES], MAX_LAYERS],
}
SLACK = 1 + Fraction(1, 2**20)


def composite_decay(claim: Claim, work: Work, *, most_heads: int = MAX_HEADS) -> None:
    """|res SAN(X)|_{1,inf} against (4 gamma B/sqrt(d_qk))^((3^L-1)/2) |res X|_{1,inf}^(3^L).

    B is the largest over layers of sqrt(sum_h |W_QK|_1 |W|_1) sqrt(sum_h |W_QK|_1 |W|_inf), gamma the largest
    sqrt(sum_i D_i max_j q_j/max_i D_i) over layers and heads, with D and q of `attention_spread` at the
    stored center x of each layer. Hypothesis: D_i <= x* everywhere. The stored center must minimise the
    composite value up to a factor 1 + 2^-20; the stored lines prove that it does.
    """
    data, centers = claim.data, claim.hints["centers"]
    L = len(data["layers"])
    demand(all(len(layer["heads"]) <= most_heads for layer in data["layers"]), "every layer must have one head")
    demand(len(centers) == L + 1, f"hints.centers: {L + 1} are needed, one before each layer and one at the end")
    demand(len(claim.hints["lines"]) == L, f"hints.lines: {L} lists are needed, one before each layer")
    B_squared = max(
        work.sum(one_norm(work, head["W_QK"]) * one_norm(work, head["W"]) for head in layer["heads"])
        * work.sum(one_norm(work, head["W_QK"]) * inf_norm(work, head["W"]) for head in layer["heads"])
        for layer in data["layers"]
    )

    def attempt(bits: int) -> list[str]:
        root, X = root_of(data["d_qk"], bits), lift_rows(data["X"], bits)
        gamma = residual = Interval.of(0, bits)
        for l, layer in enumerate(data["layers"]):
            x = lift(centers[l], bits)
            R = subtract_center(X, x)
            here, least = composite(work, R), least_composite(work, claim.hints["lines"][l], X)
            compare(
                "holds", here, least * SLACK, f"layer {l}: the stored center against (1 + 2^-20) times the least"
            )
            if l == 0:
                residual = least.hull(here)
            for h, head in enumerate(layer["heads"]):
                D, q = attention_spread(work, head, R, x, root)
                for i, D_i in enumerate(D):
                    demand_below_threshold(D_i, f"layer {l}, head {h}: D of row {i}")
                if largest(D).hi > 0:  # a head with E = 0 adds nothing to the residual and has no ratio
                    gamma = gamma.max((work.sum(D) * largest(q) / largest(D)).sqrt())
            X = apply_layer(work, layer, data["d_qk"], X, bits)
        left = composite(work, subtract_center(X, lift(centers[L], bits)))
        B = Interval.of(B_squared, bits).sqrt()
        right = cubic_bound(4 * gamma * B / root, residual, L)
        return [
            network_in_words(data, bits),
            f"every stored center is least up to a factor 1 + 2^-20; |res X|_{{1,inf}} is in {residual}",
            f"D <= x* in every layer, head and row; gamma at these centers is in {gamma}, B in {B}",
            compare("holds", left, right, "|SAN(X) - 1x^T|_{1,inf} at the stored x against the bound"),
        ]

    work.settle(attempt)


# ---------------------------------------------------------------------------------------------------------
# Closed forms that refute
# ---------------------------------------------------------------------------------------------------------

TOKEN_KINDS = {
    "active": "m pair",
    "idle": "number",
    "gain": "number",
    "sink_logit": "number",
    "guard_logit": "number",
}
MEAN_KINDS = {
    **{name: TOKEN_KINDS[name] for name in ("idle", "gain", "sink_logit", "guard_logit")},
    "active": "number",
}
MEAN_KINDS["active_logit"] = "number"
LONE_QUERY = {"idle": "number", "gain": "number"}
FOUR_KEYS = dict.fromkeys(("columns", "entry", "idle", "gain", "key_logit"), "number")


def demand_count(value: Fraction, least: int, where: str) -> int:
    demand(
        value.denominator == 1 and least <= value <= 10**12,
        f"{where}: a whole number of at least {least} is needed",
    )
    return int(value)


def token_kinds(claim: Claim, work: Work) -> None:
    """One layer, one head: |res SA(X)|_{1,inf} > 4 beta/sqrt(d_qk) |res X|_{1,inf}^3, whatever the center.

    Tokens f (sink), e_i (active), g_1, g_2 (guards), unit vectors, and idle zeros. W = I; W_QK/sqrt(d_qk) is w on
    the diagonal but at f, and -w/2 at (g_k, f); the key bias gives logits. At the center 0 |X|_1 = |X|_inf = 1,
    so the right side is at most 4w. Column f of the output holds b in idle + 1 rows, v_i in that of e_i and o in
    the guards'. A center with f-entry x has |.|_1 >= h(x) from that column, and |.|_inf >= |x - o| + k, the mean
    over the guards, whose own entries differ by k. Between those values both factors are affine, beyond them they
    grow.
    """
    data = claim.data
    p, w, c_f, c_g = (
        demand_count(data["idle"], 0, "data.idle"),
        *(data[n] for n in ("gain", "sink_logit", "guard_logit")),
    )
    demand(all(len(pair) == 2 for pair in data["active"]), "data.active: pairs of a count and a logit are needed")
    kinds = [(demand_count(m, 1, "data.active"), c) for m, c in data["active"]]
    demand(w > 0, "data.gain: a positive number is needed")
    demand(all(abs(c) <= 1000 for c in (w, c_f, c_g, *(c for _, c in kinds))), "data: logits up to 1000 are taken")

    def attempt(bits: int) -> list[str]:
        s, g, u, fall = (Interval.of(t, bits).exp() for t in (c_f, c_g, w, -w / 2))
        u, weights = u - 1, [(m, Interval.of(c, bits).exp()) for m, c in kinds]
        S = s + 2 * g + p + work.sum(m * z for m, z in weights)
        G = S + u * g - (1 - fall) * s
        b, o, k = s / S, fall * s / G, u * g / G
        values = [(m, s / (S + u * z)) for m, z in weights] + [(p + 1, b), (2, o)]

        def product(x: Interval) -> Interval:
            return work.sum(m * abs(v - x) for m, v in values) * (abs(x - o) + k)

        least = -largest(-product(x) for _, x in values)
        m = sum(m for m, _ in kinds)
        return [
            f"{m} active tokens of {len(kinds)} kinds, 2 guards, 1 sink, {p} idle ones: n = {m + p + 3}",
            f"for every center |.|_1 |.|_inf of the output is at least {least}, while (4w)^2 = {_show(16 * w * w)}",
            compare("violates", least, Interval.of(16 * w * w, bits), "the two sides, squared"),
        ]

    work.settle(attempt)


def mean_kinds(claim: Claim, work: Work) -> None:
    """One layer, one head: |SA(X) - mean|_{1,inf} > 4 beta/sqrt(d_qk) |X - mean|_{1,inf}^3.

    Tokens +-f, +-e_i, +-g and idle zeros, of mean 0: |X|_1 = 2, |X|_inf = 1. W = I; W_QK/sqrt(d_qk) is w on the
    diagonal but at f, and -w at (g, f). The product of the sums of column f and of the row of g is compared with
    16 w^2 2^3.
    """
    data = claim.data
    m, p = demand_count(data["active"], 1, "data.active"), demand_count(data["idle"], 0, "data.idle")
    w, *logits = (data[name] for name in ("gain", "sink_logit", "active_logit", "guard_logit"))
    demand(
        w > 0 and all(abs(c) <= 1000 for c in (w, *logits)), "data: logits up to 1000 and a positive gain are taken"
    )

    def attempt(bits: int) -> list[str]:
        rise, fall = Interval.of(w, bits).exp(), Interval.of(-w, bits).exp()
        s, a, g = ((Interval.of(c, bits).exp(), Interval.of(-c, bits).exp()) for c in logits)

        def moved(v: tuple[Interval, Interval]) -> Interval:
            return (rise - 1) * v[0] + (fall - 1) * v[1]

        def back(v: tuple[Interval, Interval]) -> Interval:
            return (fall - 1) * v[0] + (rise - 1) * v[1]

        S = s[0] + s[1] + m * (a[0] + a[1]) + g[0] + g[1] + p
        totals = [S, S + moved(a), S + back(a), S + moved(g) + back(s), S + back(g) + moved(s)]
        counts, n = [p + 2, m, m, 1, 1], 2 * m + p + 4
        f, e, o = ([(v[0] - v[1]) / T for T in totals] for v in (s, a, g))
        own = (rise * a[0] - fall * a[1]) / totals[1] - e[1] + (fall * a[0] - rise * a[1]) / totals[2] - e[2]
        f[3], f[4] = (fall * s[0] - rise * s[1]) / totals[3], (rise * s[0] - fall * s[1]) / totals[4]
        o[3], o[4] = (rise * g[0] - fall * g[1]) / totals[3], (fall * g[0] - rise * g[1]) / totals[4]
        f_mean, e_mean, o_mean = (work.sum(c * y for c, y in zip(counts, v, strict=True)) / n for v in (f, e, o))
        e_mean = e_mean + own / n
        column = work.sum(c * abs(y - f_mean) for c, y in zip(counts, f, strict=True))
        row = abs(f[3] - f_mean) + m * abs(e[3] - e_mean) + abs(o[3] - o_mean)
        return [
            f"{n} tokens of mean 0; in intervals of {bits} bits",
            compare("violates", column * row, Interval.of(128 * w * w, bits), "the two sides, squared"),
        ]

    work.settle(attempt)


def lone_query(claim: Claim, work: Work) -> None:
    """One layer, one head, gamma but no hypothesis: |res SA(X)|_{1,inf} > 4 gamma beta |res X|_{1,inf}^3.

    Tokens e_0, e_1 and zeros in R^2, d_qk = 1, W = I, W_QK = w e_0 e_1^T: gamma = n^(-1/2), beta = w, |res X| =
    1. One row of the output differs from n - 1 >= 3 equal ones by D in column 1, so |res SA(X)| >= D.
    """
    n, w = demand_count(claim.data["idle"], 2, "data.idle") + 2, claim.data["gain"]
    demand(0 < w <= 1000, "data.gain: a positive number of at most 1000 is needed")

    def attempt(bits: int) -> list[str]:
        e = Interval.of(w, bits).exp()
        moved = e / (n - 1 + e) - Fraction(1, n)
        return [
            f"{n} tokens of width 2, gamma^2 = 1/{n}, beta = {_show(w)}; in intervals of {bits} bits",
            compare(
                "violates", n * moved * moved, Interval.of(16 * w * w, bits), "the two sides, squared, times n"
            ),
        ]

    work.settle(attempt)


def four_keys(claim: Claim, work: Work) -> None:
    """One layer, two heads, gamma and D <= x*: |res SA(X)|_{1,inf} > 8 gamma beta |res X|_{1,inf}^3.

    Tokens e_0, e_1, e_2, -e_3, -e_4 and zeros in R^(4c), d_qk = 1, W_QK = w e_0 (e_1 + .. + e_4)^T and a key bias
    t on the four keys for both heads; W_1 sends each key to c coordinates of its own with entries x, c x^2 <= 1,
    W_2 all to e_0 with entries 1/2. See proofs/dong2021_2_3.tex, Proposition four-keys.
    """
    data = claim.data
    c, p = demand_count(data["columns"], 2, "data.columns"), demand_count(data["idle"], 0, "data.idle")
    x, w, t = data["entry"], data["gain"], data["key_logit"]
    demand(x > 0 and c * x * x <= 1, "data.entry: a positive number of at most 1/sqrt(columns) is needed")
    demand(0 < 2 * w <= Fraction(5, 4), "data.gain: a positive number of at most 5/8 is needed")
    demand(abs(t) <= 1000, "data.key_logit: at most 1000 is taken")
    n, M, A, row = p + 5, 4 * c, x + 2, 4 * c * x + 2
    product = (
        min(A * (row - (M * A - row) / (n - 2)), row**2 * n / (4 * M)) if n * row >= 2 * M * A else A * row / 2
    )

    def attempt(bits: int) -> list[str]:
        z, rise, fall = (Interval.of(v, bits).exp() for v in (t, w, -w))
        q, Z = z / (4 * z + p + 1), 2 * z * (rise + fall) + p + 1
        change = -largest([q - z * rise / Z, z * fall / Z - q])
        return [
            f"{n} tokens of width {M}, D <= 5/4 < x*, gamma^2 in {q}, beta = {_show(w)}",
            compare("violates", change * change * product, 64 * w * w * q, "the two sides, squared"),
        ]

    work.settle(attempt)


def two_heads(claim: Claim, work: Work) -> None:
    """One layer, two heads, tokens +-e_1 of width r^2: |res SA(X)|_{1,inf} > (8 beta/sqrt(d_qk)) |res X|^3_{1,inf}.

    W_QK/sqrt(d_qk) = t e_1 e_1^T for both heads, W_1 = e_1 e_1^T, W_2 = e_1 (1,..,1)/r, no biases. Then
    |W_1|_1 = |W_1|_inf = 1, |W_2|_1 = 1/r, |W_2|_inf = r, so beta = t. Both heads attend with weights
    (1 +- tanh t)/2, and the rows of the output are +-tanh(t) (1 + 1/r, 1/r, .., 1/r). For two opposite rows the
    center 0 is best in both norms: |res SA(X)|^2 = 2 tanh(t)^2 (1 + 1/r)(1 + r), |res X|^2 = 2. With
    tanh t >= t - t^3/3 the claim follows from (r+1)^2 (1 - t^2/3)^2 > 256 r. D = 2t in both rows and
    q = (1/2, 1/2), so gamma = 1, and D <= 1 < x* where 2t <= 1: with gamma and its hypothesis it is the same.
    """
    r, t = demand_count(claim.data["side"], 1, "data.side"), claim.data["logit"]
    demand(0 < 2 * t <= 1, "data.logit: a positive number of at most 1/2 is needed")
    left, right = (r + 1) ** 2 * (1 - t * t / 3) ** 2, Fraction(256 * r)
    demand(left > right, f"(r+1)^2 (1 - t^2/3)^2 = {_show(left)} is not more than 256 r = {right}")
    work.words.append(
        f"two tokens of width {r * r}, D = {_show(2 * t)} <= 1 < x* in both rows, gamma = 1, beta = {_show(t)}"
    )
    work.words.append(f"(r+1)^2 (1 - t^2/3)^2 = {_show(left)} > 256 r = {right}, exactly")


TWO_HEADS = {"side": "number", "logit": "number"}


# ---------------------------------------------------------------------------------------------------------
# LayerNorm equilibria
# ---------------------------------------------------------------------------------------------------------

NORM_LAYER = {
    "W_V": "d d",
    "W_QK": "d d",
    "d_qk": "number",
    "mask": "n n",
    "norm": ("sphere", "standard"),
}
RESTING = {"tokens": "n d", "radius": "number", "rank": "number"}
EQUILIBRIUM = {
    **NORM_LAYER,
    **RESTING,
    "attracting?": {"R": "N N", "radius": "number", "rate": "number"},
    "unstable?": {"growth": "number"},
}
EQUILIBRIUM_HINTS = {
    "clusters": "n",
    "support": "k d",
    "preconditioner": "m m",
    "pivots": ["p", MAX_SIDE],
    "S?": "N N",
    "form?": "N N",
    "direction?": "N",
}


class NormLayer:
    """F(X) = N(A(X) X W_V) over a box X, and its derivative, by the formulas.

    A_ij is proportional to counts_ij e^(L_ij), L_ij = x_i W x_j^T, W = W_QK/sqrt(d_qk); N divides a token by its
    length; standard LayerNorm first subtracts the mean, and divides by the deviation, length/sqrt(d).
    """

    def __init__(self, work: Work, data: Any, counts: Exact, X: Enclosed) -> None:
        bits, d, standard = X[0][0].bits, len(X[0]), data["norm"] == "standard"
        root, P = root_of(data["d_qk"], bits), scaled_identity(d, 1)
        if standard:
            P = [[entry - Fraction(1, d) for entry in row] for row in P]
        W = [[w / root for w in row] for row in lift_rows(data["W_QK"], bits)]
        self.work, self.W_V = work, lift_rows(work.matmul(data["W_V"], P), bits)
        self.scale = Interval.of(d if standard else 1, bits).sqrt()
        self.queries, self.keys = work.matmul(X, W), work.matmul(X, transpose(W))
        V = work.matmul(X, self.W_V)
        self.A, self.gaps, self.lengths, self.units = [], [], [], []
        for query, row in zip(self.queries, counts, strict=True):
            seen = [j for j, count in enumerate(row) if count]
            # A_ij = counts_ij/sum_m counts_im e^(L_im - L_ij), differences of tokens first: narrower intervals.
            A = {}
            for j in seen:
                gaps = zip(seen, subtract_center([X[m] for m in seen], X[j]), strict=True)
                ratios = [row[m] * work.dot(query, gap).exp() for m, gap in gaps if m != j]
                A[j] = row[j] / work.sum([Interval.of(row[j], bits), *ratios])
            y = [work.sum(A[j] * V[j][b] for j in seen) for b in range(d)]
            self.A.append(A)
            self.gaps.append({j: [v - entry for v, entry in zip(V[j], y, strict=True)] for j in seen})
            self.lengths.append(token_norm(work, y, "l2"))
            self.units.append([entry / self.lengths[-1] for entry in y])

    def value(self) -> list[Interval]:
        """F, token by token."""
        return [self.scale * entry for unit in self.units for entry in unit]

    def derivative(self, i: int, k: int, a: int) -> list[Interval]:
        """The derivative of token i of F along entry a of token k.

        Let v_j = x_j W_V, y_i = sum_j A_ij v_j. Because dA_ij = A_ij (dL_ij - sum_m A_im dL_im),
        dy_i/dx_ka = A_ik ((x_i W)_a (v_k - y_i) + row a of W_V) + [i = k] sum_j A_ij (W x_j^T)_a (v_j - y_i).
        N(y) moves by (dy - u <u, dy>)/|y|, u = y/|y|. The mean is subtracted by a projection after W_V.
        """
        A, gaps, unit = self.A[i], self.gaps[i], self.units[i]
        dy = [Interval.of(0, self.scale.bits) for _ in unit]
        if k != i and k not in A:
            return dy
        if k in A:
            dy = [A[k] * (self.queries[i][a] * gap + w) for gap, w in zip(gaps[k], self.W_V[a], strict=True)]
        if k == i:
            for j, gap in gaps.items():
                pull = A[j] * self.keys[j][a]
                dy = [entry + pull * g for entry, g in zip(dy, gap, strict=True)]
        along = self.work.dot(unit, dy)
        return [(entry - u * along) * self.scale / self.lengths[i] for entry, u in zip(dy, unit, strict=True)]

    def jacobian(self, places: Sequence[int]) -> Enclosed:
        """DF, its rows and columns at these places; place p is entry p % d of token p // d."""
        d = len(self.W_V)
        columns = [[self.derivative(i, *divmod(q, d)) for q in places] for i in range(len(self.units))]
        return [[column[p % d] for column in columns[p // d]] for p in places]


def around(X: Exact, radii: Exact, bits: int) -> Enclosed:
    """All tokens within the radii of X, entry by entry."""
    return [
        [Interval.of(x - r, bits).hull(Interval.of(x + r, bits)) for x, r in zip(row, reach, strict=True)]
        for row, reach in zip(X, radii, strict=True)
    ]


def frobenius(work: Work, A: Enclosed) -> Interval:
    return token_norm(work, [entry for row in A for entry in row], "l2")


def pivots(work: Work, A: Enclosed) -> list[Interval]:
    """What elimination without exchanges divides by; products of the first ones are the leading minors."""
    rows, result = [list(row) for row in A], []
    for k, row in enumerate(rows):
        result.append(row[k])
        for other in rows[k + 1 :]:
            if other[k]:
                factor = other[k] / row[k]
                other[k:] = [work.watch(x - factor * p) for x, p in zip(other[k:], row[k:], strict=True)]
    return result


def demand_definite(work: Work, A: Enclosed, what: str) -> None:
    """Every symmetric matrix in A is positive definite: its leading minors are positive."""
    for k, pivot in enumerate(pivots(work, A)):
        demand_below(Interval.of(0, pivot.bits), pivot, f"{what}: pivot {k} of its elimination")


def exact_rank(work: Work, A: Exact) -> int:
    rank, rows = 0, A
    for a in range(len(A[0])):
        pivot = next((row for row in rows if row[a]), None)
        if pivot is not None:
            rank += 1
            others = [(row, row[a] / pivot[a]) for row in rows if row is not pivot]
            rows = [[work.watch(x - c * p) for x, p in zip(row, pivot, strict=True)] for row, c in others]
    return rank


@dataclass(frozen=True)
class Reduced:
    """One token for each cluster of equal ones, and of its entries those that need not be zero.

    Equal tokens stay equal if they give the same shares of their sight to the clusters: softmax ignores a common
    factor. Entries outside the support stay zero if W_V sends all that a token sees into its support, unless a
    mean is subtracted.
    """

    clusters: list[int]  # of each token
    tokens: Exact
    counts: Exact  # the shares, by cluster
    support: Exact

    @staticmethod
    def of(claim: Claim, work: Work) -> Reduced:
        data, clusters, support = claim.data, claim.hints["clusters"], claim.hints["support"]
        X, mask, k = data["tokens"], data["mask"], len(support)
        for where, A in (("data.mask", mask), ("hints.support", support)):
            demand(all(x in (0, 1) for row in A for x in row), f"{where}: every entry must be 0 or 1")
        demand(all(any(row) for row in mask), "data.mask: every token must see one")
        demand(set(clusters) == set(range(k)), "hints.clusters: the rows of hints.support, by number, are needed")
        leaders = [clusters.index(c) for c in range(k)]
        members = [[Fraction(c == b) for b in range(k)] for c in clusters]
        counts = work.matmul(mask, members)
        shares = [[count / sum(row) for count in row] for row in counts]
        for i, c in enumerate(clusters):
            demand(X[i] == X[leaders[int(c)]], f"data.tokens: token {i} differs from others in its cluster")
            demand(shares[i] == shares[leaders[int(c)]], f"data.mask: token {i} sees other shares than its cluster")
        demand(
            data["norm"] == "sphere" or all(map(all, support)), "hints.support: standard LayerNorm keeps no zeros"
        )
        carries = [[Fraction(w != 0) for w in row] for row in data["W_V"]]
        reached = work.matmul([shares[leader] for leader in leaders], work.matmul(support, carries))
        for c, leader in enumerate(leaders):
            for a, inside in enumerate(support[c]):
                zero = not X[leader][a] and not reached[c][a]
                demand(bool(inside) or zero, f"hints.support: entry ({leader}, {a}) does not stay zero")
        return Reduced([int(c) for c in clusters], [X[i] for i in leaders], [shares[i] for i in leaders], support)

    def box(self, radius: Fraction, bits: int) -> Enclosed:
        return around(self.tokens, [[radius * inside for inside in row] for row in self.support], bits)


def equilibrium(claim: Claim, work: Work) -> None:
    """Near the stored tokens F(X) = N(A(X) X W_V) has a fixed point of the stated rank, attracting or unstable.

    Krawczyk: let G = F - id on the reduced system, x the tokens, B the box |. - x| <= r, and for any matrix Y let
    |Y G(x)| + |I - Y DG(B)| r < r in every entry. Then z -> z - Y G(z) maps B into B and contracts the largest
    entry, so it has one fixed point in B; and Y is invertible, so it is the one zero of G.
    Rank: the minor on the stored pivots does not vanish on B. The rank is at most the number of clusters and of
    coordinates in use; and of W_V, and with mean zero d - 1, because D X = A X W_V with a diagonal D > 0.
    """
    data, hints, reduced = claim.data, claim.hints, Reduced.of(claim, work)
    X, W_V, r, rank = reduced.tokens, data["W_V"], data["radius"], data["rank"]
    k, d = len(X), len(W_V)
    unknowns = [d * c + a for c in range(k) for a in range(d) if reduced.support[c][a]]
    demand(r > 0, "data.radius: a positive number is needed")
    demand(len(hints["preconditioner"]) == len(unknowns), f"hints.preconditioner: {len(unknowns)} rows are needed")
    used = sum(any(column) for column in transpose(reduced.support))
    most = min(k, used, d - (data["norm"] == "standard"), exact_rank(work, W_V))
    demand(rank == most, f"data.rank: {_show(rank)} stated, but only rank at most {most} follows from the data")
    places = hints["pivots"]
    demand(all(len(place) == 2 for place in places) and len(places) == rank, "hints.pivots: rank pairs are needed")
    for chosen, sides in zip(transpose(places), (range(k), range(d)), strict=True):
        demand(len(set(chosen) & set(sides)) == most, "hints.pivots: distinct clusters and coordinates are needed")

    def attempt(bits: int) -> list[str]:
        x, Y, radius = lift_rows(X, bits), lift_rows(hints["preconditioner"], bits), Interval.of(r, bits)
        F = NormLayer(work, data, reduced.counts, x).value()
        G = [F[p] - x[p // d][p % d] for p in unknowns]
        steps = [abs(work.dot(row, G)) for row in Y]
        for p, step in zip(unknowns, steps, strict=True):
            demand_below(step, radius, f"no equilibrium shown: |Y G(x)| in entry {divmod(p, d)} against the radius")
        box = reduced.box(r, bits)
        identity = lift_rows(scaled_identity(len(unknowns), 1), bits)
        DG = subtract(NormLayer(work, data, reduced.counts, box).jacobian(unknowns), identity)
        for p, step, row in zip(unknowns, steps, subtract(identity, work.matmul(Y, DG)), strict=True):
            total = step + radius * work.sum(abs(entry) for entry in row)
            demand_below(total, radius, f"no equilibrium shown: Krawczyk's test in entry {divmod(p, d)}")
        minor = Interval.of(1, bits)
        for pivot in pivots(work, [[box[int(i)][int(j)] for _, j in places] for i, _ in places]):
            minor = minor * abs(pivot)
            demand_below(Interval.of(0, bits), minor, "data.rank: a minor of the tokens")
        alike = "" if len(unknowns) == len(data["tokens"]) * d else " with these clusters and zeros"
        return [
            f"{len(data['tokens'])} tokens of dimension {d}, {data['norm']} LayerNorm; in intervals of {bits} bits",
            f"exactly one equilibrium{alike} within {_show(r)} of the stored tokens, by Krawczyk's test",
            f"its rank is {most}: at most that from the data, and a minor of that order is in {minor}",
        ]

    bits = work.settle(attempt)
    # The equilibrium is resolved at these bits: what fails now, fails for want of room.
    if "attracting" in data:
        work.settle(lambda bits: attraction(claim, work, bits), (bits, 2 * bits), "data.attracting: ")
    if "unstable" in data:
        work.settle(lambda bits: instability(claim, work, reduced, bits), (bits, 2 * bits), "data.unstable: ")


def attraction(claim: Claim, work: Work, bits: int) -> list[str]:
    """Every start in E = {X + R z: |z|_2 <= rho} converges to the equilibrium, X the stored tokens.

    With e >= |I - S R| and |S DF R|_2 <= (1 - e) q over a box around E, R^-1 DF R = (S R)^-1 S DF R has norm at
    most q: F contracts |R^-1 .|_2 on E. With |S (F(X) - X)| < (1 - e)(1 - q) rho it maps E into E, so all orbits
    in E converge to one fixed point. The box of the equilibrium lies inside E if |S| r sqrt(nd) < (1 - e) rho.
    |M| <= |M0| + |M - M0|_F, and |M0|_2 < t if t^2 I - M0^T M0 is positive definite.
    """
    data, mask = claim.data, claim.data["mask"]
    demand("S" in claim.hints, "hints.S is needed for data.attracting")
    rho, q, n, d = data["attracting"]["radius"], data["attracting"]["rate"], len(mask), len(data["W_V"])
    demand(rho > 0 and 0 < q < 1, "data.attracting: a positive radius and a rate between 0 and 1 are needed")
    demand(len(claim.hints["S"]) == n * d, f"data.attracting.R, hints.S: {n * d} rows are needed")
    R, S, X = (lift_rows(A, bits) for A in (data["attracting"]["R"], claim.hints["S"], data["tokens"]))
    identity = lift_rows(scaled_identity(n * d, 1), bits)
    room = 1 - frobenius(work, subtract(identity, work.matmul(S, R))).at_upper()
    reach = [(token_norm(work, row, "l2") * rho).upper() for row in R]
    box = around(data["tokens"], [reach[d * i : d * i + d] for i in range(n)], bits)
    M = work.matmul(work.matmul(S, NormLayer(work, data, mask, box).jacobian(range(n * d))), R)
    M0 = [[entry.middle() for entry in row] for row in M]
    t = room * q - frobenius(work, subtract(M, M0)).at_upper()
    demand_below(Interval.of(0, bits), t, "data.attracting: the set is too large, or hints.S no inverse of R")
    gram, limit = work.matmul(transpose(M0), M0), [[t**2 * entry for entry in row] for row in identity]
    demand_definite(work, subtract(limit, gram), "data.attracting: no contraction at this rate")
    F = NormLayer(work, data, mask, X).value()
    drift = [f - x for f, x in zip(F, itertools.chain(*X), strict=True)]
    drifted = token_norm(work, [work.dot(row, drift) for row in S], "l2")
    demand_below(drifted, room * (1 - q) * rho, "data.attracting: the set is not mapped into itself")
    ball = room * rho / frobenius(work, S)
    width = Interval.of(n * d, bits).sqrt() * data["radius"]
    demand_below(width, ball, "data.attracting: the equilibrium may lie outside")
    return [
        f"all starts X + R z, |z|_2 <= {_show(rho)}, converge to it: F contracts |R^-1 .|_2 by {_show(q)} there",
        f"among them every start within b of X in the Frobenius norm, b in {ball}",
    ]


def instability(claim: Claim, work: Work, reduced: Reduced, bits: int) -> list[str]:
    """DF at the equilibrium has spectral radius above s >= 1.

    J = DF; P is the stored symmetric form, V(h) = h^T P h. If J^T P J - s^2 P is positive definite, V(J h) >=
    (s^2 + c) V(h) with some c > 0 where V(h) > 0; if there is such h, |J^t h| grows faster than s^t.
    """
    data, hints = claim.data, claim.hints
    s, N = data["unstable"]["growth"], len(data["mask"]) * len(data["W_V"])
    demand("form" in hints and "direction" in hints, "hints.form and hints.direction are needed for data.unstable")
    P, h = hints["form"], hints["direction"]
    demand(s >= 1, "data.unstable.growth: at least 1 is needed")
    demand(len(P) == N and transpose(P) == P, f"hints.form: a symmetric matrix of side {N} is needed")
    demand(work.dot(h, [work.dot(row, h) for row in P]) > 0, "hints.form: not positive at hints.direction")
    box = reduced.box(data["radius"], bits)
    J = NormLayer(work, data, data["mask"], [box[c] for c in reduced.clusters]).jacobian(range(N))
    form = lift_rows(P, bits)
    grown = work.matmul(work.matmul(transpose(J), form), J)
    rest = subtract(grown, [[s**2 * entry for entry in row] for row in form])
    demand_definite(work, rest, "data.unstable: J^T P J - s^2 P")
    return [f"it is unstable: the spectral radius of DF there is more than {_show(s)}"]


def demand_attracting_on_sphere(data: Any) -> None:
    demand("attracting" in data, "data.attracting is needed for this statement")
    demand(data["norm"] == "sphere", "data.norm: the statement is about the sphere")


def unmasked_equilibrium(claim: Claim, work: Work, *, full_rank: bool) -> None:
    """Attracting, of full rank or of rank at least two: then the residual of these orbits does not tend to zero."""
    demand_attracting_on_sphere(claim.data)
    rank, full = claim.data["rank"], min(len(claim.data["mask"]), len(claim.data["W_V"]))
    demand(all(map(all, claim.data["mask"])), "data.mask: the statement has no mask, every entry must be 1")
    demand(rank == full or not full_rank, f"data.rank: full rank {full} is needed for this statement")
    demand(rank >= 2 or full_rank, "data.rank: at least 2 is needed for this statement")
    equilibrium(claim, work)


def undirected_equilibrium(claim: Claim, work: Work) -> None:
    """In one piece: under a mask that falls apart tokens need not know of each other."""
    demand_attracting_on_sphere(claim.data)
    mask = claim.data["mask"]
    demand(mask == transpose(mask) and all(row[i] for i, row in enumerate(mask)), "data.mask: undirected is needed")
    steps_to_all(mask, 0)
    demand(claim.data["rank"] >= 2, "data.rank: at least 2 is needed for this statement")
    equilibrium(claim, work)


def demand_causal_means(data: Any) -> None:
    """Every token takes the plain mean of itself and those before it."""
    causal = [[Fraction(j <= i) for j in range(len(data["mask"]))] for i in range(len(data["mask"]))]
    demand(data["mask"] == causal, "data.mask: the causal mask is needed for this statement")
    demand(max_norm(data["W_QK"]) == 0, "data.W_QK: 0 is needed for this statement")
    demand(data["norm"] == "sphere", "data.norm: the statement is about the sphere")


def stable_causal(claim: Claim, work: Work) -> None:
    """Two tokens, W_V = c I + [[a, w], [0, 1]] (a direct sum), 0 < c < a < 1, w > 0, w^2 > a (2 - a)."""
    data, W_V = claim.data, claim.data["W_V"]
    d = len(W_V)
    demand_attracting_on_sphere(data)
    demand_causal_means(data)
    demand(len(data["mask"]) == 2 and data["rank"] == 2 <= d, "data: two tokens of rank 2 are needed")
    c, a, w = W_V[0][0] if d > 2 else W_V[-2][-2] / 2, W_V[-2][-2], W_V[-2][-1]
    demand(
        0 < c < a < 1 and w > 0 and w**2 > a * (2 - a), "data.W_V: 0 < c < a < 1, w > 0, w^2 > a(2 - a) are needed"
    )
    form = scaled_identity(d, c)
    form[-2][-2:], form[-1][-1] = [a, w], Fraction(1)
    demand_equal(W_V, form, "data.W_V against the form of the statement")
    equilibrium(claim, work)


EVERY_RANK = {**NORM_LAYER, "equilibria": [RESTING, MAX_SIDE]}


def every_rank(claim: Claim, work: Work) -> None:
    """W_V = I + w S, S the ones on the superdiagonal, w > n - 1: equilibria of the ranks 1, 2, .., min(n, d)."""
    data, members = claim.data, claim.data["equilibria"]
    n, d = len(data["mask"]), len(data["W_V"])
    demand_causal_means(data)
    form = scaled_identity(d, 1)
    for b in range(1, d):
        form[b - 1][b] = data["W_V"][0][1]
    demand_equal(data["W_V"], form, "data.W_V against I + wS")
    demand(d == 1 or form[0][1] > n - 1, f"data.W_V: w > {n - 1} is needed")
    ranks = [member["rank"] for member in members]
    demand(ranks == list(range(1, min(n, d) + 1)), "data.equilibria: the ranks 1, 2, .., min(n, d) are needed")
    demand(len(claim.hints["equilibria"]) == len(members), "hints.equilibria: one for each equilibrium is needed")
    for member, hints in zip(members, claim.hints["equilibria"], strict=True):
        equilibrium(Claim(claim.kind, {**data, **member}, hints), work)


# ---------------------------------------------------------------------------------------------------------
# The table of families
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """A statement in words, the claims about it that can be checked, the check, and what a certificate holds."""

    sentence: str
    kinds: tuple[str, ...]
    decide: Callable[[Claim, Work], None]
    data: dict[str, Any]
    hints: dict[str, Any] = field(default_factory=dict)


_HOLDS, _VIOLATES, _EXISTS, _BOTH = ("holds",), ("violates",), ("exists",), ("holds", "violates")
_DECAY = "|res SAN(X)|_{1,inf} <= (4 gamma B/sqrt(d_qk))^((3^L-1)/2) |res X|_{1,inf}^(3^L) if D <= x*"
_PRINTED = "|res SAN(X)|_{1,inf} <= (4 gamma beta H/sqrt(d_qk))^((3^L-1)/2) |res X|_{1,inf}^(3^L)"
_SUM = "SAN(X) is the sum over all paths of P_path X W_path, plus 1 b^T"
_RESTING = (EQUILIBRIUM, EQUILIBRIUM_HINTS)

FAMILIES: dict[str, Family] = {
    "seed:closure": Family("a product of row-stochastic matrices is row-stochastic", _HOLDS, closure, CLOSURE),
    "dong2021:2.1": Family(_SUM, _HOLDS, path_decomposition, PATHS),
    "dong2021:2.1-skip": Family(f"with skips, {_SUM}", _HOLDS, path_decomposition, PATHS_SKIP),
    "dong2021:A.3": Family(
        "(1-D) q_j <= P_ij <= (1+2D) q_j if D <= x*", _BOTH, partial(sandwich, hypothesis=True), SANDWICH
    ),
    "dong2021v1:A.3": Family(
        "(1-D) q_j <= P_ij <= (1+2D) q_j for all D", _BOTH, partial(sandwich, hypothesis=False), SANDWICH
    ),
    "dong2021:norm": Family("sqrt(|A|_1 |A|_inf) obeys the triangle inequality", _VIOLATES, triangle, TRIANGLE),
    "dong2021:2.2": Family(
        f"one head: {_DECAY}", _HOLDS, partial(composite_decay, most_heads=1), NETWORK, COMPOSITE_HINTS
    ),
    "dong2021:2.3": Family(_DECAY, _HOLDS, composite_decay, NETWORK, COMPOSITE_HINTS),
    "dong2021v1:2.2": Family(
        f"one head: {_PRINTED} with gamma = 1, no hypothesis", _VIOLATES, token_kinds, TOKEN_KINDS
    ),
    "dong2021v1:2.3": Family(f"{_PRINTED} with gamma = 1, no hypothesis", _VIOLATES, two_heads, TWO_HEADS),
    "dong2021v1:2.2-mean": Family(
        f"one head: {_PRINTED} with gamma = 1, res about the mean", _VIOLATES, mean_kinds, MEAN_KINDS
    ),
    "dong2021:2.2-unhedged": Family(f"one head: {_PRINTED}, no hypothesis", _VIOLATES, lone_query, LONE_QUERY),
    "dong2021:2.3-printed": Family(f"{_PRINTED} if D <= x*", _VIOLATES, four_keys, FOUR_KEYS),
    "dong2021:ln-sphere": Family(
        "without a mask, tokens that every layer divides by their norms collapse",
        _VIOLATES,
        partial(unmasked_equilibrium, full_rank=False),
        *_RESTING,
    ),
    "own:tv": Family(
        "p_j ~ q_j e^(g_j) is within tanh(osc(g)/4) of q in total variation", _HOLDS, total_variation, VARIATION
    ),
    "own:tv-variant": Family(
        "own:tv with another constant in place of 4",
        _VIOLATES,
        total_variation,
        {**VARIATION, "constant": "number"},
    ),
    "own:diameter": Family(
        "the diameter of the tokens obeys the tanh recursion and the cubic bound",
        _BOTH,
        diameter,
        DIAMETER,
        DIAMETER_HINTS,
    ),
    "own:diameter-variant": Family(
        "own:diameter with another constant, the largest head for the sum, or a larger exponent",
        _VIOLATES,
        diameter,
        DIAMETER_VARIANT,
        DIAMETER_HINTS,
    ),
    "own:residual-inf": Family(
        "|res SAN(X)|_inf <= c^((3^L-1)/2) |res X|_inf^(3^L)", _HOLDS, residual_inf, NETWORK, RESIDUAL_HINTS
    ),
    "own:residual-inf-variant": Family(
        "own:residual-inf with a constant in front of c",
        _VIOLATES,
        residual_inf,
        {**NETWORK, "constant": "number"},
        RESIDUAL_HINTS,
    ),
    "own:layernorm-equilibrium": Family(
        "self-attention with LayerNorm has an equilibrium as described", _EXISTS, equilibrium, *_RESTING
    ),
    "own:stable-complete": Family(
        "without a mask, tokens on the sphere have an equilibrium of full rank that attracts",
        _EXISTS,
        partial(unmasked_equilibrium, full_rank=True),
        *_RESTING,
    ),
    "own:stable-causal": Family(
        "two causal tokens on the sphere have an equilibrium of rank two that attracts",
        _EXISTS,
        stable_causal,
        *_RESTING,
    ),
    "wu2024:conjecture": Family(
        "under an undirected mask no equilibrium of tokens on the sphere with rank above one attracts",
        _VIOLATES,
        undirected_equilibrium,
        *_RESTING,
    ),
    "wu2024:3": Family(
        "under the causal mask one W_V = I + wS has equilibria of every rank",
        _EXISTS,
        every_rank,
        EVERY_RANK,
        {"equilibria": [EQUILIBRIUM_HINTS, MAX_SIDE]},
    ),
    "wu2024:4.3.1": Family(
        "beside e_2 the second of two tokens rests at (0, 1), (-1/w, s), (-1/w, -s) and nowhere else",
        _HOLDS,
        two_tokens,
        {"w": "number", "s": "number"},
    ),
    "wu2024:L13": Family(
        "unit vectors x <= 0 with x_(d-1) <= -1/w stay so under x -> (x + e_d)(I + wS)/|.|",
        _BOTH,
        invariant_set,
        {"x": "d", "w": "number"},
    ),
    "wu2024:2-step": Family(
        "1 - phi(t+r) <= (1 - n eps^(2r))(1 - phi(t)) with r the radius", _BOTH, cosine_step, {"A": "n n"}
    ),
    "wu2024:2-radius": Family(
        "mu(X(t)) <= C (1 - n eps^(2r))^(t/2r) with r the radius", _VIOLATES, radius_rate, {"mask": "n n"}
    ),
}


# ---------------------------------------------------------------------------------------------------------
# Checking one certificate
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckResult:
    """Whether a certificate shows its claim, why or why not, what was checked in words, and its id."""

    accepted: bool
    reason: str
    checked: tuple[str, ...]
    id: str | None

    def __bool__(self) -> bool:
        return self.accepted


def content_id(content: dict[str, Any]) -> str:
    """rm- and the first hex digits of the SHA-256 of the canonical JSON of everything but the id."""
    rest = {name: value for name, value in content.items() if name != "id"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "rm-" + hashlib.sha256(text.encode("ascii")).hexdigest()[:ID_DIGITS]


def check(path: str | os.PathLike[str], *, seconds: float = SECONDS) -> CheckResult:
    """Check the certificate in a file; a file that cannot be read is rejected.

    Parameters
    ----------
    path : a regular file of at most 4 MB.
    seconds : time budget; a check that needs longer is a rejection.
    """
    try:
        demand(isinstance(path, (str, os.PathLike)), "a path is needed")
        demand(os.path.isfile(path), "no regular file of that name")
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1)
    except (Rejected, OSError, ValueError) as error:
        return CheckResult(False, f"cannot be read: {error}", (), None)
    return check_text(text, seconds=seconds)


def check_text(text: str | bytes, *, seconds: float = SECONDS) -> CheckResult:
    """Check the certificate in a string.

    >>> result = check_text('''{"format": "rankmath-certificate/1", "kind": "violates",
    ...   "statement": "dong2021:norm", "data": {"A": [[1, 1], [0, 0]], "B": [[1, 0], [1, 0]]}, "hints": {}}''')
    >>> result.accepted
    True
    >>> print(result.checked[-1])
    the composite values squared are 2, 2 and for A + B 9: that of A + B exceeds the sum of the two, exactly
    """
    work, identifier = Work(seconds), None
    try:
        demand(len(text) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
        try:
            content = parse(text.decode("utf-8") if isinstance(text, bytes) else text)
        except UnicodeDecodeError:
            raise Rejected("not UTF-8") from None
        demand(type(content) is dict, "a certificate is a JSON object")
        identifier = content_id(content)
        stored = content.get("id", identifier)
        demand(stored == identifier, f"the stored id is not the hash of the content, which is {identifier}")
        statement = read(content.get("statement"), tuple(FAMILIES), "statement", {})
        family = FAMILIES[statement]
        shape = {"format": (FORMAT,), "kind": family.kinds, "data": family.data, "hints": family.hints}
        about = content.get("about", "")
        demand(
            type(about) is str and len(about) <= MAX_TEXT, f"about: a text up to {MAX_TEXT} characters is needed"
        )
        rest = {name: value for name, value in content.items() if name not in ("id", "statement", "about")}
        fields = read(rest, shape, "certificate", {})
        verb = {"holds": "satisfies", "violates": "violates", "exists": "shows"}[fields["kind"]]
        work.words.append(f"claim: this instance {verb} {statement}, {family.sentence}")
        family.decide(Claim(fields["kind"], fields["data"], fields["hints"]), work)
    except Rejected as rejected:
        return CheckResult(False, str(rejected), tuple(work.words), identifier)
    return CheckResult(True, "all of it was worked out again and found true", tuple(work.words), identifier)


def main(paths: Sequence[str]) -> int:
    """Check each file and say what was checked; 0 if all are accepted, 1 if not, 2 if none is given."""
    if not paths:
        print("usage: python checker.py FILE...")
        return 2
    everything = True
    for path in paths:
        result = check(path)
        everything = everything and result.accepted
        print(f"{path}: {'accepted' if result else 'REJECTED'} {result.id or ''}".rstrip())
        for sentence in result.checked:
            print(f"  {sentence}")
        print(f"  {'so' if result else 'but'}: {result.reason}")
    return 0 if everything else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
