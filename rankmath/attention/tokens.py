"""Tokens in centred form, X = e^ξ 1x̂ᵀ + e^σ R̂, and sums of arrays that travel with the logarithms of their units.

Float64 keeps magnitudes apart: x̂ and R̂ are of size one. Arithmetics with unbounded exponents run the same lines
with all units 1 (logarithm 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.arithmetic.scales import LogScale
from rankmath.validation import Array

#: An array and the logarithm of its unit, (..., 1, 1) on the host or 0 (always 0 where exponents are unbounded).
Scaled: TypeAlias = tuple[Array, Array]

#: This logarithm stands for zero where e^{log} is multiplied with other factors: −inf would give nan.
LOG_ZERO = -1e300
#: Beyond this the products of an exponential may leave a double's range.
SAFE_LOG = 300.0
#: Larger logits are shrunk to this, all alike: the softmax is saturated either way.
LARGEST_LOG = math.log(1e305)
#: Below this size, in a unit of its own, the smaller term of a sum may have underflowed: recompute.
SUSPICIOUS = 1e-100
#: The logarithm of ten bits: we do not check whether so few are lost.
SMALL_LOSS = 10 * math.log(2.0)
# We divide by this in place of zero.
_TINY = 1e-290


_PARTS = ("mantissa", "exponent", "low")

#: In place of a logarithm where exponents are unbounded.
NO_SCALE = LogScale(0.0, 0.0)


@dataclass(frozen=True)
class Tokens:
    """X = e^ξ 1 center + e^σ residual: center (..., 1, d), residual (..., n, d), mean of the residual zero.

    `log_center` (ξ) and `log_residual` (σ) are (..., 1, 1), unless exponents are unbounded. `lost_bits`: how
    many bits the rounding of what the residual was made of has cost it, the worst so far.
    """

    center: Array
    residual: Array
    log_center: Array = 0
    log_residual: LogScale = NO_SCALE
    lost_bits: Array = 0.0


@dataclass(frozen=True)
class Scale:
    """The units of the tokens as doubles; 0 where exponents are unbounded."""

    sigma: Array  # σ, floored
    xi: Array  # ξ
    falling: Array  # min(2σ, 0)
    rising: Array  # max(2σ, 0)

    @classmethod
    def of(cls, A: System, tokens: Tokens) -> Scale:
        if A.unbounded:
            return cls(0, 0, 0, 0)
        sigma = floored(A, tokens.log_residual.to_float())
        return cls(sigma, tokens.log_center, A.units.minimum(2.0 * sigma, 0.0), A.units.maximum(2.0 * sigma, 0.0))


def centre(A: System, X: Array) -> Tokens:
    """Split tokens (..., n, d) into mean and residual.

    Relative to the first token first: a difference of two tokens is rounded once, and equal tokens give exact
    zeros. A residual of 1e-6 under a mean of 1e8 keeps all the digits X has of it.
    """
    X, log = tamed(A, A.asarray(X))
    first = X[..., :1, :]
    scale = NO_SCALE if A.unbounded else LogScale.of(log + A.units.zeros((*X.shape[:-2], 1, 1)))
    return recentred(A, (first, log), X - first, scale)


def recentred(
    A: System,
    x: Scaled,
    R: Array,
    log_residual: LogScale = NO_SCALE,
    lost_bits: Array = 0.0,
    log_parts: Array = LOG_ZERO,
    stack: Scaled | None = None,
    *,
    fixed: bool = False,
) -> Tokens:
    """Move the mean of R into x, or its first row where that is `fixed`, and bring both to size one.

    R is the sum of parts of size e^log_parts, and of the matrices of the stack. Nothing is measured before all is
    under way: on a GPU the first number asked for waits for all that was begun.
    """
    shift = R[..., :1, :] if fixed else A.mean_row(R)
    if A.unbounded:
        return Tokens(x[0] + shift, R - shift)
    terms = [x, (shift, floored(A, log_residual.to_float()))]
    center, log = sum_in_larger_unit(A, *terms)
    parts, R = [R] if stack is None else [R, stack[0]], R - shift
    of_center, of_residual, of_sum, *of_stack = A.sizes([center, R, *parts])
    if not (of_center > SUSPICIOUS).all():
        center, log = scaled_sum(A, terms)
        of_center = A.largest(center)
    log_parts = A.units.maximum(A.log(of_sum), log_parts)
    if stack is not None:
        log_parts = A.units.maximum(A.units.max(stack[1] + A.log(of_stack[0]), axis=0), log_parts)
    grown, shrunk = A.log(of_center), A.log(of_residual)
    center = A.quotient_of_temporary(center, A.factor(A.nonzero(of_center)))
    R = A.quotient_of_temporary(R, A.factor(A.nonzero(of_residual)))
    lost_bits = A.units.maximum((log_parts - floored(A, shrunk)) / math.log(2.0), lost_bits)
    return Tokens(center, R, floored(A, log + grown), log_residual.plus(shrunk), lost_bits)


def about_mean(A: System, tokens: Tokens) -> Tokens:
    """The same tokens with a residual of mean zero."""
    center = (tokens.center, tokens.log_center)
    return recentred(A, center, tokens.residual, tokens.log_residual, tokens.lost_bits)


def sum_in_larger_unit(A: Float64, first: Scaled, second: Scaled) -> Scaled:
    """The sum of two of unmeasured sizes: where it is small, what was smaller may have been lost."""
    log = A.units.maximum(first[1], second[1])
    if float(A.units.max(log - A.units.minimum(first[1], second[1]))) > SAFE_LOG / 2:
        return scaled_sum(A, [first, second])
    return A.combined(first[0], A.exp(first[1] - log), second[0], A.exp(second[1] - log)), log


def scaled_sum(A: System, terms: list[Scaled]) -> Scaled:
    """The sum of arrays in different units, and its unit: the size of the largest term."""
    if A.unbounded or len(terms) == 1:
        total = terms[0][0]
        for a, _ in terms[1:]:
            total = total + a
        return total, terms[0][1]
    logs = [A.log(size) for size in A.sizes([a for a, _ in terms])]
    sizes = [floored(A, unit + log) for (_, unit), log in zip(terms, logs, strict=True)]
    common = sizes[0]
    for size in sizes[1:]:
        common = A.units.maximum(common, size)
    (first, x), (second, y), *others = [(a, _to_unit(A, log, common)) for a, log in terms]
    total = A.combined(first, x, second, y)
    for a, x in others:
        total = total + a * A.factor(x)
    return total, common


def _to_unit(A: Float64, log: Array, common: Array) -> Array:
    return A.exp(A.units.minimum(log - common, 2 * SAFE_LOG))


def over_heads(A: Float64, term: Scaled) -> Scaled:
    """`scaled_sum` over the leading axis."""
    a, log = term
    if isinstance(log, int | float) or log.ndim < a.ndim:
        return A.xp.sum(a, axis=0), log
    if (log == log[:1]).all():
        return A.xp.sum(a, axis=0), log[0]
    common = A.units.max(floored(A, log + A.log(A.largest(a))), axis=0)
    return A.xp.sum(a * A.factor(_to_unit(A, log, common)), axis=0), common


def normalised(A: Float64, a: Array) -> Scaled:
    """`a` over its largest entry (over both last axes), and the logarithm of that entry (−inf for zero)."""
    largest = A.largest(a)
    return a / A.factor(A.nonzero(largest)), A.log(largest)


def floored(A: Float64, log: Array) -> Array:
    return A.maximum(log, LOG_ZERO)


def grown_by(A: Float64, a: Array, log: Array, log_size: Array) -> Array:
    """`a`, of size e^log_size, times e^log, held down where that would overflow; e^log alone may."""
    half = A.factor(A.exp(A.units.minimum(log, LARGEST_LOG - log_size) / 2))
    return a * half * half


def log_of(A: Float64, size: Array) -> Array:
    """The logarithm of a unit that may be zero, then of something tiny."""
    return A.units.log(A.units.maximum(size, _TINY))


def is_wild(largest: Array) -> Array:
    """Whether a largest entry is so far from one that products of several leave the range of a double."""
    return (largest > 1e60) | ((largest > 0) & (largest < 1e-60))


def tamed(A: System, a: Array, largest: Array | None = None) -> Scaled:
    """Matrices far from size one over a power of two near their largest entry: products of them stay in range."""
    if A.unbounded:
        return a, 0
    xp, largest = A.units, A.largest(a) if largest is None else largest
    wild = is_wild(largest)
    if not wild.any():
        return a, 0
    exponent = xp.where(wild, xp.round(xp.log2(xp.where(wild, largest, 1.0))), 0.0)
    half = xp.floor(exponent / 2)  # 2^exponent itself may overflow
    return a * A.factor(2.0**-half) * A.factor(2.0 ** (half - exponent)), exponent * math.log(2.0)


@dataclass(frozen=True)
class Carried:
    """λX, what a skip adds to the image of other tokens: of LayerNorm(X), or of X itself (`apart` zero)."""

    factor: float
    tokens: Tokens
    apart: Array = 0  # σ of what is mapped minus σ of X

    def terms(self, A: System) -> tuple[Scaled, Scaled]:
        """Center and residual; the latter in units of e^σ of X."""
        lam = A.constant(self.factor)
        return (self.tokens.center * lam, self.tokens.log_center), (self.tokens.residual * lam, 0)

    @property
    def log_parts(self) -> float:
        return math.log(abs(self.factor))


def carried_past(A: System, factor: float, tokens: Tokens, inner: Tokens) -> Carried:
    """What a skip carries past a map that is given `inner` in place of the tokens."""
    if A.unbounded or inner is tokens:
        return Carried(factor, tokens)
    mapped, own = (floored(A, t.log_residual.to_float()) for t in (inner, tokens))
    # Tokens that are all equal stay so: nothing is mapped to anything.
    return Carried(factor, tokens, A.units.where(own > LOG_ZERO, mapped - own, 0.0))


def times(A: System, factor: float, tokens: Tokens) -> Tokens:
    """λX."""
    center, (R, _) = Carried(factor, tokens).terms(A)
    return recentred(A, center, R, tokens.log_residual, tokens.lost_bits)


def sum_of_tokens(A: System, one: Tokens, other: Tokens) -> Tokens:
    """X + Y."""
    center = scaled_sum(A, [(t.center, t.log_center) for t in (one, other)])
    if A.unbounded:
        return recentred(A, center, one.residual + other.residual)
    logs = [floored(A, t.log_residual.to_float()) for t in (one, other)]
    larger = logs[0] >= logs[1]
    scale = LogScale(
        *(A.units.where(larger, getattr(one.log_residual, part), getattr(other.log_residual, part)) for part in _PARTS)
    )
    top = A.units.maximum(*logs)
    terms = [(t.residual, log - top) for t, log in zip((one, other), logs, strict=True)]
    R, log = scaled_sum(A, terms)
    lost_bits = A.units.maximum(one.lost_bits, other.lost_bits)
    # The unit of a sum is the size of its largest part.
    return recentred(A, center, R, scale.plus(log), lost_bits, 0.0)
