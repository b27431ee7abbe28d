"""res(X) = X − 1xᵀ with the center x that makes it smallest, and the proof that no center does better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, product
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
        direction = as_array("dual", dual, ndim=2, shape=X.shape)
        direction = direction - direction.mean(axis=0)
        size = float(frobenius(direction))
        return math.ldexp(max(0.0, float(np.sum(direction / size * Y))), exponent) if size > 0 else 0.0
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


def _tokens(X: ArrayLike) -> Floats:
    array = as_array("X", X, ndim=2)
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"X: an array of {type(array).__module__} given; residuals are computed on NumPy arrays")
    return array


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


# -- values over a batch -------------------------------------------------------------------------------------

#: Up to this dimension the vertices are written out.
MOST_DIMENSIONS = 4


def residual_one(R: Floats) -> Floats:
    """min_x of the largest column sum of |R − 1xᵀ|, (..., n, d) -> (...).

    >>> float(residual_one(np.array([[0.0, 0.0], [4.0, 2.0], [5.0, 7.0]])))
    7.0
    """
    middle = np.sort(R, axis=-2)[..., R.shape[-2] // 2, :]
    return np.asarray(np.abs(R - middle[..., None, :]).sum(axis=-2).max(axis=-1))


def residual_inf(R: Floats) -> Floats:
    """min_x of the largest row sum of |R − 1xᵀ|, (..., n, d) -> (...), for d ≤ 4, without a linear program.

    min_x max_i ‖X_i − x‖₁ = max Σ_s λ_s max_i ⟨s, X_i⟩ over weights λ ≥ 0 on signs s ∈ {±1}^d, Σλ_s = 1, Σλ_s s = 0,
    and the weights that matter are the vertices of that polytope, which are few for d ≤ 4.

    >>> float(residual_inf(np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])))
    3.0
    """
    signs, weights = _vertices(R.shape[-1])
    # About the first row: nearly equal tokens keep their digits.
    reach = ((R - R[..., :1, :]) @ signs.T).max(axis=-2)
    return np.asarray(np.maximum((reach @ weights.T).max(axis=-1), 0.0))


@cache
def _vertices(d: int) -> tuple[Floats, Floats]:
    """The signs {±1}^d and the vertices of {λ ≥ 0, Σλ = 1, Σλ_s s = 0}, one a row.

    For d ≤ 4 they are multiples of 1/12: determinants of k × k signs are 2^(k−1) m with m ≤ 1, 1, 1, 2, 3 (k ≤ 5).
    Whole numbers are tested, so that no processor rounds otherwise.
    """
    signs = np.asarray(list(product((1.0, -1.0), repeat=d)))
    found: dict[tuple[int, ...], Floats] = {}
    system = np.vstack([signs.T, np.ones(len(signs))])
    wanted = np.append(np.zeros(d), 12.0)
    for size in range(2, d + 2):
        for chosen in combinations(range(len(signs)), size):
            part = system[:, chosen]
            if np.linalg.matrix_rank(part) < size:
                continue
            twelfths = np.rint(np.linalg.lstsq(part, wanted, rcond=None)[0])
            if twelfths.min() > 0 and np.array_equal(part @ twelfths, wanted):
                row = np.zeros(len(signs))
                row[list(chosen)] = twelfths / 12
                found[chosen] = row
    return signs, np.stack(list(found.values()))


def residual_above(R: Floats, norm: str) -> Floats:
    """An upper bound of min_x ‖R − 1xᵀ‖ in the norm "inf" or "composite", from a few centers; for searches, not for
    verdicts."""
    n = R.shape[-2]
    ordered = np.sort(R, axis=-2)
    median, mean = ordered[..., n // 2, :], R.mean(axis=-2)
    middle = (ordered[..., 0, :] + ordered[..., -1, :]) / 2
    centers = [
        median,
        mean,
        middle,
        (median + middle) / 2,
        (median + mean) / 2,
        *(R[..., i, :] for i in range(min(n, 8))),
    ]
    best = np.full(R.shape[:-2], np.inf)
    for center in centers:
        distance = np.abs(R - center[..., None, :])
        rows = distance.sum(axis=-1).max(axis=-1)
        size = rows if norm == "inf" else np.sqrt(rows * distance.sum(axis=-2).max(axis=-1))
        best = np.minimum(best, size)
    return np.asarray(best)
