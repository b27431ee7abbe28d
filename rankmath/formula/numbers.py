"""Numbers a formula is evaluated in: exact fractions, signed logarithms of doubles over a batch, mpmath, balls.

Sizes that shrink doubly exponentially leave the range of a double, so a float64 number is a sign and a logarithm.
That also keeps small differences: 1 − e^y and e^y − 1 are taken from y by expm1. Beside them travels `top`, the
logarithm of the largest summand that went into the number: what rounding may have cost is FLOAT_MARGIN times e^top,
also where nothing is left of the number but 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flint import arb

Floats: TypeAlias = NDArray[np.float64]

#: Float64 decides only beyond this distance, relative to the largest summand (and to its logarithm, if that is large).
FLOAT_MARGIN = 1e-9
_LOG_MARGIN = math.log(FLOAT_MARGIN)
# Below this argument log tanh(e^y) = y − e^{2y}/3 to the last bit.
_SMALL_LOG = -10.0
_NOTHING = np.asarray(0.0)
#: The least logarithm that is told from that of a number that is smaller still, and how far above it noise reaches.
BEYOND = -(2.0**1023)
_DOUBT = 2.0**1019


@dataclass(frozen=True, eq=False)
class Signed:
    """sign · e^log, entry by entry; zero has sign 0 and log −∞. `top` is `log` itself if nothing was added up."""

    sign: Floats
    log: Floats
    top: Floats

    @classmethod
    def positive(cls, log: object) -> Signed:
        """e^log."""
        exponent = np.asarray(log, dtype=float)
        return cls._kept(np.where(exponent == -np.inf, 0.0, 1.0), exponent, exponent)

    @classmethod
    def _kept(cls, sign: Floats, log: Floats, top: Floats) -> Signed:
        """What is too small for a logarithm stays a number, of which nothing but its sign and a bound is known."""
        small = log <= BEYOND
        if small.any() and (small := small & (sign != 0)).any():
            log, top = np.where(small, BEYOND, log), np.where(small, np.maximum(top, BEYOND + _DOUBT), top)
        return cls(sign, log, top)

    @classmethod
    def of(cls, value: object) -> Signed:
        """Doubles as they are."""
        x = np.asarray(value, dtype=float)
        with np.errstate(divide="ignore"):
            log = np.log(np.abs(x))
        return cls(np.sign(x), log, log)

    @classmethod
    def exact(cls, value: Fraction) -> Signed:
        """A rational number of any size."""
        size = abs(value)
        if size == 0:
            return cls.of(0.0)
        try:
            log = math.log(float(size)) if 1e-300 < size < 1e300 else _long_log(size)
        except OverflowError:
            log = _long_log(size)
        return cls(np.asarray(1.0 if value > 0 else -1.0), np.asarray(log), np.asarray(log))

    def __getitem__(self, place: tuple[int, ...]) -> Signed:
        """One of many, or a batch of them; what is `log` itself stays so."""
        log = np.asarray(self.log[place])
        return Signed(np.asarray(self.sign[place]), log, log if self.top is self.log else np.asarray(self.top[place]))

    def floats(self) -> Floats:
        """The numbers as doubles; ±inf and 0 beyond their range."""
        with np.errstate(over="ignore"):
            return np.asarray(self.sign * np.exp(self.log))

    def __neg__(self) -> Signed:
        return Signed(-self.sign, self.log, self.top)

    def __abs__(self) -> Signed:
        return Signed(np.abs(self.sign), self.log, self.top)

    def __add__(self, other: Signed) -> Signed:
        top = np.maximum(self.top, other.top)
        large = self.log >= other.log
        high, low = np.where(large, self.log, other.log), np.where(large, other.log, self.log)
        sign = np.where(large, self.sign, other.sign)
        same = self.sign * other.sign
        with np.errstate(invalid="ignore", divide="ignore"):
            # A nan stays a nan: only the difference of −∞ and −∞ is meant to be 0.
            gap = np.where((high == low) & (high == -np.inf), 0.0, low - high)
            bent = np.where(same < 0, np.log(-np.expm1(gap)), np.log1p(np.exp(gap)))
            log = high + np.where(same == 0, 0.0, bent)
        return Signed(np.where(log == -np.inf, 0.0, sign), log, top)

    def __sub__(self, other: Signed) -> Signed:
        return self + -other

    def __mul__(self, other: Signed) -> Signed:
        with np.errstate(invalid="ignore", over="ignore"):
            sign = self.sign * other.sign
            # A factor that is zero makes the product zero, whatever the other is.
            nothing = (sign == 0) & ~np.isnan(self.log) & ~np.isnan(other.log)
            top = log = np.asarray(np.where(nothing, -np.inf, self.log + other.log))
            if not (self.top is self.log and other.top is other.log):
                # The last: both may be noise.
                both = _sum(self.top, other.top) + _LOG_MARGIN
                top = np.maximum(
                    np.maximum(log, both), np.maximum(_sum(self.top, other.log), _sum(self.log, other.top))
                )
        return Signed._kept(sign, log, top)

    def __truediv__(self, other: Signed) -> Signed:
        with np.errstate(invalid="ignore", over="ignore"):
            zero = other.sign == 0
            log = np.where(zero, np.nan, np.where(self.sign == 0, -np.inf, self.log - other.log))
            loss = np.maximum(_gap(self), _gap(other))
            return Signed._kept(self.sign * other.sign, log, _above(log, loss, self, self.top - other.log))

    def power(self, exponent: Fraction) -> Signed:
        """self^exponent; a whole exponent may be huge, another one takes a base that is not negative."""
        k = float(exponent) if abs(exponent) < 2**1000 else math.copysign(math.inf, exponent)
        if exponent == 0:
            return Signed.exact(Fraction(1))
        with np.errstate(invalid="ignore", over="ignore"):
            log = np.where(self.sign == 0, -np.inf if k > 0 else np.nan, self.log * k)
            if exponent.denominator != 1:
                log = np.where(self.sign < 0, np.nan, log)
            odd = exponent.denominator == 1 and exponent.numerator % 2 == 1
            sign = self.sign if odd else np.abs(self.sign)
            # A root of noise is noise: no power below 1 makes up for digits that cancelled.
            loss = min(max(abs(k), 1.0), 1e300) * _gap(self)
            return Signed._kept(sign, log, _above(log, loss, self, self.top * k + max(0.0, (k - 1) * _LOG_MARGIN)))

    def sqrt(self) -> Signed:
        return self.power(Fraction(1, 2))

    @property
    def is_told(self) -> NDArray[np.bool_]:
        """Whether it is told from 0, or is 0 and not what rounding made of summands."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.log > self.top + _LOG_MARGIN) | (self.top == -np.inf))

    def exp(self) -> Signed:
        value = self.floats()
        with np.errstate(over="ignore"):
            # An error of e^top·ε in the exponent is a relative error of the result.
            loss = np.maximum(0.0, self.top)
        return Signed._kept(np.ones_like(value), value, value + np.where(np.isfinite(loss), loss, 0.0))

    def logarithm(self) -> Signed:
        """Not a number where this is 0 or negative."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.where(self.sign > 0, self.log, np.nan)
            size = np.log(np.abs(value))
            return Signed(np.sign(value), size, np.maximum(size, np.maximum(_gap(self), 0.0)))

    def tanh(self) -> Signed:
        log = _log_tanh(self.log)
        return Signed(self.sign, log, _above(log, _gap(self), self, self.top))

    def tanhc(self) -> Signed:
        """tanh(x)/x, 1 at 0."""
        with np.errstate(invalid="ignore"):
            log = np.where(self.sign == 0, 0.0, _log_tanh(self.log) - self.log)
            loss = np.where(self.sign == 0, np.maximum(0.0, 2 * self.top + _LOG_MARGIN), _gap(self))
        return Signed(np.ones_like(log), log, log + loss)

    def expc(self) -> Signed:
        """(e^x − 1)/x, 1 at 0, for x ≥ 0: e^x − 1 = e^x(1 − e^−x), so that a large x does not overflow."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            x = np.exp(np.minimum(self.log, 700.0))
            small = x < 1e-8
            safe = np.where(small, 1.0, x)
            log = np.where(small, x / 2, safe + np.log(-np.expm1(-safe)) - np.log(safe))
            log = np.where(self.sign < 0, np.nan, log)
        return Signed(np.ones_like(log), log, log + np.maximum(0.0, self.top))

    def floor(self) -> Signed:
        return Signed.of(np.floor(self.floats()))

    def max(self, other: Signed) -> Signed:
        return _choose(self - other, self, other)

    def min(self, other: Signed) -> Signed:
        return _choose(other - self, self, other)


def _choose(difference: Signed, a: Signed, b: Signed) -> Signed:
    # Whichever is nan is kept.
    first = ((difference.sign >= 0) | np.isnan(a.log)) & ~np.isnan(b.log)
    sign, log = np.where(first, a.sign, b.sign), np.where(first, a.log, b.log)
    # Where noise may have chosen, the other one counts as well.
    clear = difference.log > difference.top + _LOG_MARGIN
    return Signed(sign, log, np.where(clear, np.where(first, a.top, b.top), np.maximum(a.top, b.top)))


def _gap(x: Signed) -> Floats:
    """log of how much larger a summand of x was than x itself."""
    if x.top is x.log:
        return _NOTHING
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(x.sign == 0, 0.0, x.top - x.log))


def _above(log: Floats, gap: Floats, x: Signed, at_zero: Floats) -> Floats:
    """The top of a number made of x, `gap` above its log; where rounding left 0 of x, `at_zero`."""
    if x.top is x.log and gap.ndim == 0 and gap == 0:
        return log
    return np.asarray(np.where((x.sign == 0) & (x.top > -np.inf), at_zero, log + gap))


def _sum(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.where((a == -np.inf) | (b == -np.inf), -np.inf, a + b))


def _log_tanh(y: Floats) -> Floats:
    """log tanh(e^y)."""
    near = -np.exp(2.0 * np.clip(y, -400.0, _SMALL_LOG)) / 3.0
    far = np.log(np.tanh(np.exp(np.clip(y, _SMALL_LOG, 20.0))))
    return np.asarray(np.where(y < _SMALL_LOG, y + near, far))


def _long_log(value: Fraction) -> float:
    """log of a positive rational of any size."""
    return _log_integer(value.numerator) - _log_integer(value.denominator)


def _log_integer(n: int) -> float:
    shift = max(0, n.bit_length() - 1000)
    return math.log(n >> shift) + shift * math.log(2.0)


def ball_expc(x: arb) -> arb:
    """(e^x − 1)/x, increasing; 1 at 0: from its value below the ball to its value above it."""
    return _between(x, lambda t: t.expm1() / t, increasing=True)


def ball_tanhc(x: arb) -> arb:
    """tanh(x)/x, even, decreasing from 1 at 0."""
    return _between(abs(x).nonnegative_part(), lambda t: t.tanh() / t, increasing=False)


def _between(x: arb, function: object, *, increasing: bool) -> arb:
    from flint import arb

    assert callable(function)
    if not x.is_finite():
        return arb.nan()
    low = x.lower() if increasing or not x.contains(0) else arb(0)
    ends = [arb(1) if point.is_zero() else function(point) for point in (low, x.upper())]
    return ends[0].union(ends[1])
