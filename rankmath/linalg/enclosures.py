"""Logarithms of residual and diameter over object arithmetics (mpmath, balls)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.linalg.residuals import ResidualNorm
from rankmath.validation import Array, Number


def log_residual(A: ObjectArithmetic, R: Array, norm: ResidualNorm) -> Number:
    """log‖res‖ of tokens with mean zero: a number, or an array over the batch (Frobenius)."""
    if norm == "frobenius":
        squares = np.add.reduce((R * R).reshape(*R.shape[:-2], -1), axis=-1)
        return A.log(squares) / 2 if R.ndim > 2 else A.log(np.asarray([squares], dtype=object))[0] / 2
    return _ball_log_residual(A, R, norm)


def log_diameter(A: ObjectArithmetic, R: Array, p: float = 2) -> Number:
    """log Δ_p of the rows, p = 1, 2 or ∞."""
    n = R.shape[-2]
    if n == 1:
        pairs = 0 * R[..., :1, :1]
    else:
        first, second = _pairs(n)
        difference = R[..., first, :] - R[..., second, :]
        if p == 2:
            pairs = A.max(A.sum(difference * difference, axis=-1), axis=-2)
        else:
            gather = A.sum if p == 1 else A.max
            pairs = A.max(gather(A.abs(difference), axis=-1), axis=-2)
    logs = A.log(pairs)[..., 0, 0] / (2 if p == 2 else 1)
    return logs if R.ndim > 2 else np.asarray(logs, dtype=object)[()]


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """i < j."""
    return np.triu_indices(n, 1)


def _ball_log_residual(A: ObjectArithmetic, R: Array, norm: ResidualNorm) -> Number:
    """res(R) from the exact residual of nearby doubles F: norms move by at most ‖R/s − F‖.

    For the composite value √(ab) with a ≥ a₀, b ≥ b₀ over all centers, moving a and b by ε₁ and ε_∞ multiplies the
    minimum of ab by at least (1 − ε₁/a₀)(1 − ε_∞/b₀).
    """
    from flint import arb

    from rankmath.arithmetic.balls import ball
    from rankmath.linalg.exact_residuals import exact_residual_bounds, exact_upper_bound

    if all(x.is_zero() for x in R.flat):
        return arb.neg_inf()
    if not all(x.is_finite() for x in R.flat):
        return arb.nan()
    exponent = A.upper_exponent(A.largest(R))
    scaled = R * arb(2) ** (-exponent)
    F = np.asarray([float(x.mid()) for x in scaled.flat]).reshape(R.shape)
    error = A.abs(scaled - A.asarray(F))
    sums = {"one": A.max(A.sum(error, axis=-2), axis=-1), "inf": A.max(A.sum(error, axis=-1), axis=-2)}
    moved = {kind: largest[0, 0].abs_upper() for kind, largest in sums.items()}
    bounds = exact_residual_bounds(F, norm)
    if norm == "composite":
        least = {kind: ball(exact_residual_bounds(F, kind).lower) for kind in ("one", "inf")}
        lower = ball(bounds.lower)
        for kind in ("one", "inf"):
            lower *= (1 - moved[kind] / least[kind]).nonnegative_part()
        at_center = {kind: ball(exact_upper_bound(F, bounds.center, kind)) + moved[kind] for kind in ("one", "inf")}
        upper = at_center["one"] * at_center["inf"]
    else:
        lower, upper = ball(bounds.lower) - moved[norm], ball(bounds.upper) + moved[norm]
    if not lower > 0:
        return arb.nan()
    return lower.union(upper).log() / bounds.power + exponent * arb.const_log2()
