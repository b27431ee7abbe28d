"""res(X) = X − 1xᵀ with the center x that makes it smallest, and the proof that no center does better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from rankmath.linalg.frontier import (
    DualWeights,
    Floats,
    ResidualPrograms,
    least_composite,
    least_product,
    median_vertex,
    weighted_median_bound,
)
from rankmath.linalg.norms import composite, frobenius, norm_inf, norm_one
from rankmath.printing import Sheet, Shows
from rankmath.validation import ArrayLike, InvalidArgument, as_array, as_choice

ResidualNorm: TypeAlias = Literal["one", "inf", "composite", "frobenius"]
#: A dual point of a residual: weights on rows and columns, or for "frobenius" a matrix with zero column sums.
Dual: TypeAlias = tuple[DualWeights, ...] | Floats

RESIDUAL_NORMS: tuple[ResidualNorm, ...] = ("one", "inf", "composite", "frobenius")
_NORM = {"one": norm_one, "inf": norm_inf, "composite": composite, "frobenius": frobenius}


@dataclass(frozen=True, eq=False, repr=False)
class Residual(Shows):
    """The residual of X in one norm, with both sides of its value.

    Attributes
    ----------
    value : ‖X − 1xᵀ‖ at the center, so an upper bound of the minimum.
    center : the minimising x, rounded to doubles.
    matrix : X − 1xᵀ, formed before the center was rounded: accurate however large a mean the rows share.
    lower_bound : what `dual` proves; `residual_lower_bound` recomputes it.
    dual : the dual point; empty, or the zero matrix for "frobenius", where the residual is zero.
    norm : "one", "inf", "composite" or "frobenius".
    """

    value: float
    center: Floats
    matrix: Floats
    lower_bound: float
    dual: Dual
    norm: ResidualNorm

    def sheet(self) -> Sheet:
        n, d = self.matrix.shape
        facts = (("value", f"{self.value:.15g}; by `dual` at least {self.lower_bound:.15g}"),)
        return Sheet(f"Residual of {n} tokens of dimension {d}, {self.norm} norm", facts)


def residual(X: ArrayLike, norm: ResidualNorm = "frobenius") -> Residual:
    """The smallest ‖X − 1xᵀ‖ over all centers x, with a dual point that bounds it from below.

    "one": column medians. "frobenius": column means. "inf": a linear program. "composite": the exact minimum of
    √(‖·‖₁‖·‖_∞), at a vertex of the Pareto frontier of the two norms (see `rankmath.linalg.frontier`), not a local
    search. All in floating point; `exact_residual_bounds` gives both sides in exact rationals.

    Parameters
    ----------
    X : tokens as rows, a NumPy array or nested list of shape (n, d). "inf" and "composite" solve linear programs:
        about a second where nd is a few thousand.

    Examples
    --------
    >>> r = residual([[0.0, 0.0], [4.0, 2.0], [5.0, 7.0]], norm="one")
    >>> r.value, r.center, r.lower_bound
    (7.0, array([4., 2.]), 7.0)
    >>> r.dual[0].columns
    array([0., 1.])
    """
    X = _tokens(X)
    norm = as_choice("norm", norm, RESIDUAL_NORMS)
    Y, exponent = standardised(X)
    center, dual = minimising_center(Y, norm)
    matrix = np.ldexp(Y - center, exponent)
    value = float(_NORM[norm](matrix))
    # Rounding may lift the bound above the value it bounds; a smaller lower bound is still one.
    bound = min(value, residual_lower_bound(X, dual, norm))
    return Residual(value, X[0] + np.ldexp(center, exponent), matrix, bound, dual, norm)


def value_and_center(X: Floats, norm: ResidualNorm) -> tuple[float, Floats]:
    """`residual` without its proof."""
    Y, exponent = standardised(X)
    center, _ = minimising_center(Y, norm)
    return float(_NORM[norm](np.ldexp(Y - center, exponent))), X[0] + np.ldexp(center, exponent)


def residual_lower_bound(X: ArrayLike, dual: Dual, norm: ResidualNorm) -> float:
    """The lower bound of the residual of X that a dual point proves, recomputed from X and the point alone.

    Weights p on columns and q on rows prove (Σp)‖X − 1xᵀ‖₁ + (Σq)‖X − 1xᵀ‖_∞ >= Σ_k min_t Σ_i (p_k + q_i)|X_ik − t|
    for every x. Weights on columns alone bound "one", on rows alone "inf"; several bound "composite" by the least
    product on the polygon their lines cut out. A matrix Y with column sums 0 proves ‖X − 1xᵀ‖_F >= ⟨Y, X⟩/‖Y‖_F.
    Weights need no repair: any that are not negative prove a true line. Column sums of Y are made zero first.

    >>> X = [[0.0, 0.0], [4.0, 2.0], [5.0, 7.0]]
    >>> residual_lower_bound(X, (DualWeights(np.array([1.0, 0.0]), np.zeros(3)),), "one")
    5.0
    """
    X = _tokens(X)
    norm = as_choice("norm", norm, RESIDUAL_NORMS)
    Y, exponent = standardised(X)
    if norm == "frobenius":
        return math.ldexp(_direction_bound(Y, _direction(dual, X.shape)), exponent)
    lines = [(w.columns.sum(), w.rows.sum(), weighted_median_bound(Y, w)) for w in _weights(dual, X.shape, norm)]
    if norm == "composite":
        exact = [(Fraction(one), Fraction(inf), Fraction(bound)) for one, inf, bound in lines]
        return math.ldexp(math.sqrt(least_product(exact)), exponent)
    bounds = [bound / (one + inf) for one, inf, bound in lines if one + inf > 0]
    return math.ldexp(max(bounds, default=0.0), exponent)


def standardised(X: Floats) -> tuple[Floats, int]:
    """Y and e with X = 1X₀ + 2^e Y (X₀ the first row) and the largest |Y_ij| in [1/2, 1), or Y = 0.

    Residuals do not see the shift and are proportional to the scale, so this loses nothing but keeps the linear
    programs in their range, and each entry of Y is one rounding away from the difference it stands for.
    """
    outer = math.frexp(float(np.abs(X).max()))[1]
    scaled = np.ldexp(X, -outer)
    Y = scaled - scaled[0]
    inner = math.frexp(float(np.abs(Y).max()))[1]
    return np.ldexp(Y, -inner), outer + inner


def minimising_center(Y: Floats, norm: ResidualNorm) -> tuple[Floats, Dual]:
    """The center of standardised tokens in one norm, with its dual point."""
    if norm == "frobenius":
        center = Y.mean(axis=0)
        return center, Y - center
    if not Y.any():
        return Y[0], ()
    if norm == "one":
        vertex = median_vertex(Y)
        return vertex.center, (vertex.weights,)
    return _solved(norm, Y.shape, Y.tobytes())


@lru_cache(maxsize=512)
def _solved(norm: ResidualNorm, shape: tuple[int, int], data: bytes) -> tuple[Floats, Dual]:
    """By linear programs, remembered: several quantities of one formula look at the same tokens."""
    Y = np.frombuffer(data).reshape(shape)
    if norm == "composite":
        center, dual = least_composite(Y)
    else:
        vertex = ResidualPrograms(Y).minimise(0.0, 1.0)
        center, dual = vertex.center, (vertex.weights,)
    for array in (center, *(part for weights in dual for part in (weights.columns, weights.rows))):
        array.setflags(write=False)
    return center, dual


def _direction_bound(Y: Floats, direction: Floats) -> float:
    direction = direction - direction.mean(axis=0)
    size = float(frobenius(direction))
    return max(0.0, float(np.sum(direction / size * Y))) if size > 0 else 0.0


def _tokens(X: ArrayLike) -> Floats:
    array = as_array("X", X, ndim=2)
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"X: an array of {type(array).__module__} given; residuals are computed on NumPy arrays")
    return array


def _direction(dual: ArrayLike, shape: tuple[int, ...]) -> Floats:
    direction: Floats = as_array("dual", dual, ndim=2, shape=shape)
    return direction


def _weights(dual: ArrayLike, shape: tuple[int, ...], norm: str) -> list[DualWeights]:
    if not isinstance(dual, tuple) or not all(isinstance(weights, DualWeights) for weights in dual):
        raise InvalidArgument(f"dual: a {type(dual).__name__} given; norm {norm!r} needs a tuple of DualWeights")
    n, d = shape
    checked = [
        DualWeights(
            as_array("dual.columns", weights.columns, ndim=1, shape=(d,)),
            as_array("dual.rows", weights.rows, ndim=1, shape=(n,)),
        )
        for weights in dual
    ]
    for weights in checked:
        if min(weights.columns.min(), weights.rows.min()) < 0:
            raise InvalidArgument("dual: a negative weight given; weights must be at least 0")
        if norm == "one" and weights.rows.any():
            raise InvalidArgument("dual: weights on rows given; norm 'one' is bounded by weights on columns alone")
        if norm == "inf" and weights.columns.any():
            raise InvalidArgument("dual: weights on columns given; norm 'inf' is bounded by weights on rows alone")
    return checked
