"""The numbers of the kernel: exact fractions, intervals, and numbers that know their derivatives.

A number that is rational stays a `Fraction` as long as it is short. Everything else is an `Interval` with dyadic
ends; every operation rounds outward, so a result holds every value that members of its arguments can give.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias


class Rejected(Exception):
    """The certificate does not show its claim; the message says where."""


class Undecided(Exception):
    """The enclosures are too wide to tell; more bits may help."""


WIDTH_BITS = 64  # a wide interval is rounded to so many bits of its width


class Interval:
    """The reals from lo·2^scale to hi·2^scale; results are rounded outward to `bits` bits.

    >>> third = Interval.of(Fraction(1, 3), 64)
    >>> third.lower() < Fraction(1, 3) < -(-third).lower()
    True
    >>> compare("<=", third * 3, Fraction(1)), compare("<", third, Fraction(1)), compare("<", Fraction(1), third)
    (None, True, False)
    """

    __slots__ = ("bits", "hi", "lo", "scale")

    def __init__(self, lo: int, hi: int, scale: int, bits: int) -> None:
        excess = max(lo.bit_length() - bits, hi.bit_length() - bits, (hi - lo).bit_length() - WIDTH_BITS)
        if excess > 0:  # rounds down, and up
            lo, hi, scale = lo >> excess, -(-hi >> excess), scale + excess
        self.lo, self.hi, self.scale, self.bits = lo, hi, scale, bits

    @staticmethod
    def of(value: Number | int, bits: int) -> Interval:
        """A narrow interval around an exact number; the point itself if `bits` bits hold it."""
        if isinstance(value, Interval):
            return value
        p, q = value.numerator, value.denominator
        # Exact if q is a power of 2.
        shift = max(0, bits + 2 + q.bit_length() - p.bit_length()) if q & (q - 1) else q.bit_length() - 1
        return Interval((p << shift) // q, -((-p << shift) // q), -shift, bits)

    def __floor__(self) -> int:
        raise Undecided("the whole part of a number with more digits than are kept")

    def ends(self, scale: int) -> tuple[int, int]:
        """The two ends in units of 2^scale, rounded outward."""
        up = self.scale - scale
        return (self.lo << up, self.hi << up) if up >= 0 else (self.lo >> -up, -(-self.hi >> -up))

    def size(self) -> float:
        """|x| < 2^size for all members; zero has no size."""
        return max(self.lo.bit_length(), self.hi.bit_length()) + self.scale if self.lo or self.hi else -math.inf

    def aligned(self, other: Interval) -> tuple[int, int, int, int, int]:
        """Both intervals in one scale: what lies 2·bits below the larger number is rounded outward."""
        scales = [x.scale for x in (self, other) if x.lo or x.hi] or [0]  # zero has every scale
        scale = max(min(scales), max(scales) - 2 * self.bits)
        return *self.ends(scale), *other.ends(scale), scale

    def __add__(self, other: Number | int) -> Interval:
        a, b, c, d, scale = self.aligned(Interval.of(other, self.bits))
        return Interval(a + c, b + d, scale, self.bits)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo, self.scale, self.bits)

    def __mul__(self, other: Number | int) -> Interval:
        other = Interval.of(other, self.bits)
        a, b, c, d = self.lo, self.hi, other.lo, other.hi
        ends = (a * c, b * d) if a >= 0 and c >= 0 else (a * c, a * d, b * c, b * d)  # the first alone is faster
        return Interval(min(ends), max(ends), self.scale + other.scale, self.bits)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rtruediv__(self, other: Number | int) -> Interval:
        if self.lo <= 0 <= self.hi:
            raise Undecided("a division by what may be zero")
        shift = self.bits + 2 + max(self.lo.bit_length(), self.hi.bit_length())
        lo, hi = (1 << shift) // self.hi, -((-1 << shift) // self.lo)
        return Interval(lo, hi, -shift - self.scale, self.bits) * other

    def __abs__(self) -> Interval:
        return Interval(max(0, self.lo, -self.hi), max(-self.lo, self.hi), self.scale, self.bits)

    def sqrt(self) -> Interval:
        if self.lo < 0:
            raise Rejected("the root of a negative number") if self.hi < 0 else Undecided("a root near 0")
        shift = max(0, 2 * self.bits + 2 - self.hi.bit_length())
        shift += (self.scale - shift) % 2  # the scale must be even
        lo = math.isqrt(self.lo << shift)
        hi = math.isqrt((self.hi << shift) - 1) + 1 if self.hi else 0  # rounds up
        return Interval(lo, hi, (self.scale - shift) // 2, self.bits)

    def exp(self) -> Interval:
        """e^x = (e^t)^(2^s), 0 <= t = x/2^s < 2^-small; e^t by its Taylor sum up to t^k/k!, (k + 1) small > work.

        What follows is at least 0 and at most 2 t^(k + 1)/(k + 1)! <= t^(k + 1) < 2^-work, as k > 0.
        """
        if self.hi < 0 and self.hi.bit_length() + self.scale > 20:  # x <= -2^20
            return Interval(0, 1, -(2**20), self.bits)  # 0 < e^x <= e^(-2^20) < 2^(-2^20)
        if self.size() > 20:
            raise Undecided("e^x is taken for |x| below 2^20 only")
        if self.lo < 0 < self.hi:  # each sign by itself, where every term of the sum increases
            below, above = (Interval(a, b, self.scale, self.bits) for a, b in ((self.lo, 0), (0, self.hi)))
            return below.exp().merged(above.exp(), min, max)
        if self.lo < 0:  # beside 1, k bits less will do where x <= -k, and so e^x < 2^-k; but 128 there are
            fewer = max(128, self.bits + self.ends(0)[1])
            return Interval.of(1, self.bits) * (1 / Interval(-self.hi, -self.lo, self.scale, fewer).exp())
        small = 4 + math.isqrt(2 * self.bits)
        squarings = int(max(0, self.size() + small))
        work = self.bits + squarings + 16  # each squaring costs about one bit
        t, power, factorial = Interval(self.lo, self.hi, self.scale - squarings, work), Interval(1, 1, 0, work), 1
        for k in range(work // small + 1, 0, -1):  # the sum times the last factorial
            factorial *= k
            power = power * t + factorial
        power = power * Fraction(1, factorial) + Interval(0, 1, -work, work)
        for _ in range(squarings):
            power = power * power
        return Interval(power.lo, power.hi, power.scale, self.bits)

    def erf(self) -> Interval:
        """The error function, which increases: from its value at the lower end to that at the upper one."""
        low, high = (Interval(end, end, self.scale, self.bits) for end in (self.lo, self.hi))
        below, above = (-(-x)._erf() if x.hi < 0 else x._erf() for x in (low, high))
        return below.merged(above, min, max)

    def _erf(self) -> Interval:
        """At one x >= 0: 2/sqrt(pi) e^(-x^2) sum_k 2^k x^(2k + 1)/(1*3*..*(2k + 1)), and below 1.

        From term K on, where 2 x^2/(2K + 3) <= 1/2, the rest is at most that term.
        """
        work = self.bits + 16
        if self.size() > 10 or self.ends(0)[0] ** 2 > work:  # 1 - erf(x) < e^(-x^2)
            return Interval((1 << work) - 1, 1 << work, -work, self.bits)
        x = Interval(self.lo, self.hi, self.scale, work)
        square, total, term, k = x * x, Interval(0, 0, 0, work), x, 0
        while 4 * (int(square.ends(0)[1]) + 1) > 2 * k + 3 or term.size() > self.size() - work:
            total, k = total + term, k + 1
            term = term * square * Fraction(2, 2 * k + 1)
            if term.hi == 0:
                break
        total = total + term.merged(Fraction(0), min, max)
        found = total * (-square).exp() * 2 * (1 / pi(work).sqrt())
        return Interval(found.lo, found.hi, found.scale, self.bits)

    def merged(self, other: Number, low: Callable[..., int], high: Callable[..., int]) -> Interval:
        """From the lower or higher (min or max) of the lower ends to that of the upper ends; min, max: the hull."""
        a, b, c, d, scale = self.aligned(Interval.of(other, self.bits))
        return Interval(low(a, c), high(b, d), scale, self.bits)

    def lower(self) -> Fraction:
        """The lower end; -(-x).lower() is the upper one, or beyond it by a rounding."""
        if abs(self.scale) > 2**17:
            raise Rejected("a number is too small or too large to be taken exactly")
        return self.lo * Fraction(2) ** self.scale


def pi(bits: int) -> Interval:
    """16 arctan(1/5) - 4 arctan(1/239); each of the fewer than `bits` terms is off by less than 2 units."""
    unit = 1 << (bits + 16)

    def arctan(q: int) -> int:
        total, power, k = 0, unit // q, 1
        while power:
            total, power, k = total + power // k * (1 if k % 4 == 1 else -1), power // (q * q), k + 2
        return total

    middle, error = 16 * arctan(5) - 4 * arctan(239), 40 * (bits + 16)
    return Interval(middle - error, middle + error, -bits - 16, bits)


def compare(relation: str, a: Number, b: Number) -> bool | None:
    """Whether a < b (or <=, >, >=, ==) for all members: True, False, or None where the enclosures cannot tell."""
    c = b + -a
    lo, hi = (c.lo, c.hi) if isinstance(c, Interval) else (c.numerator, c.numerator)
    holds = {"<": lo > 0, "<=": lo >= 0, ">": hi < 0, ">=": hi <= 0, "==": lo == hi == 0}
    fails = {"<": hi <= 0, "<=": hi < 0, ">": lo >= 0, ">=": lo > 0, "==": lo > 0 or hi < 0}
    return True if holds[relation] else False if fails[relation] else None


@dataclass(frozen=True, eq=False, slots=True)
class Dual:
    """A number and its partial derivatives by the numbers of the variables; those not listed are zero."""

    value: Number
    grad: dict[int, Number]


def nested(f: Callable[[Any], Any], x: Any) -> Any:
    """f of a number, or of every number of an array."""
    return [nested(f, y) for y in x] if type(x) is list else f(x)


def flat(x: Any) -> list[Any]:
    """The numbers of an array, in order."""
    return [z for y in x for z in flat(y)] if type(x) is list else [x]


def plain(x: Any) -> Any:
    """The number, or the array of numbers, without its derivatives."""
    return nested(lambda y: y.value if isinstance(y, Dual) else y, x)


Number: TypeAlias = Fraction | Interval
