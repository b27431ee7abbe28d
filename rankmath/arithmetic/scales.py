"""Logarithms too large for a double: σ = mantissa · 2^exponent.

log‖R_L‖ shrinks like −3^L and leaves the range of a double near L = 640; its own logarithm never does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from rankmath.kernels.runs import LARGE, STEP
from rankmath.validation import Array, library_of


@dataclass(frozen=True)
class LogScale:
    """A real array σ = (mantissa + low) · 2^exponent, with |σ| up to 2^(2^62).

    `low` is what the rounding of sums has left of σ: a thousand layers add up a thousand logarithms.

    >>> import numpy as np
    >>> s = LogScale.of(np.asarray(-1.0))
    >>> for _ in range(1000):
    ...     s = s.times(3.0).plus(0.5)
    >>> float(s.to_float()), round(float(s.log_minus()), 6)  # σ = -(3^1000·3/4 + 1/4)
    (-inf, 1098.324607)
    """

    mantissa: Array
    exponent: Array
    low: Array | float = 0.0

    @classmethod
    def of(cls, value: Array) -> LogScale:
        return cls(value, library_of(value).zeros_like(value))

    def __getitem__(self, place: slice) -> LogScale:
        low = self.low if isinstance(self.low, float) else self.low[place, ...]
        return LogScale(self.mantissa[place, ...], self.exponent[place, ...], low)

    def times(self, factor: Array | float) -> LogScale:
        """σ · factor, for |factor| up to 2^20."""
        mantissa = self.mantissa * factor
        large = (abs(mantissa) > LARGE) & (abs(mantissa) < math.inf)
        xp = self._xp
        return LogScale(
            xp.where(large, mantissa * 2.0**-STEP, mantissa),
            xp.where(large, self.exponent + STEP, self.exponent),
            xp.where(large, 0.0, self.low * factor),
        )

    def plus(self, term: Array | float) -> LogScale:
        """σ + term, for |term| up to 2^1000."""
        # Beyond 2^-1000 no finite term counts, and −∞ must not meet a zero.
        xp, a, b = self._xp, self.mantissa, term * 2.0 ** -self._xp.minimum(self.exponent, 1000.0) + self.low
        total = a + b
        with np.errstate(invalid="ignore"):
            back = total - a
            low = (a - (total - back)) + (b - back)
        return LogScale(total, self.exponent, xp.where(xp.isfinite(total), low, 0.0))

    def to_float(self, *, least: float = -math.inf) -> Array:
        """σ as a double; beyond 2^1000 it is ∞ or `least`, but for −∞ itself."""
        xp = self._xp
        fits = self.exponent == 0
        infinite = xp.where(self.mantissa > 0, xp.full_like(self.mantissa, xp.inf), least)
        infinite = xp.where(xp.isinf(self.mantissa), self.mantissa, infinite)
        return xp.where(fits, self.mantissa, infinite)

    def log_minus(self) -> Array:
        """log(−σ); nan where σ ≥ 0, +∞ where σ = −∞."""
        xp = self._xp
        negative = self.mantissa < 0
        safe = xp.where(negative, -self.mantissa, xp.ones_like(self.mantissa))
        return xp.where(negative, xp.log(safe) + self.exponent * math.log(2.0), xp.nan)

    def ratio(self, other: LogScale) -> Array:
        """σ/τ as a double, nan for 0/0 and ∞/∞."""
        xp = self._xp
        defined = (other.mantissa != 0) & xp.isfinite(self.mantissa) & xp.isfinite(other.mantissa)
        below = xp.where(defined, other.mantissa, xp.ones_like(self.mantissa))
        quotient = xp.where(defined, self.mantissa, xp.zeros_like(self.mantissa)) / below
        return xp.where(defined, quotient * 2.0 ** (self.exponent - other.exponent), xp.nan)

    @property
    def _xp(self) -> ModuleType:
        return library_of(self.mantissa)
