"""Row-stochastic matrices, their exact products, and how strongly they mix."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

from array_api_compat import array_namespace

from rankmath.linalg.diameters import diameter
from rankmath.linalg.rationals import exact_matrix, from_flint, is_exact, to_flint
from rankmath.validation import Array, ArrayLike, InvalidArgument, as_array, as_count, as_real, same_library

# A probability vector whose sum is off by more than this is a slip of the caller, not rounding.
_SUM_SLACK = 1e-8


def is_row_stochastic(P: ArrayLike, *, tolerance: float | None = None) -> bool:
    """Whether P_ij >= 0 and Σ_j P_ij = 1 for every row.

    Parameters
    ----------
    P : a matrix of Fractions and integers, or a (..., n, m) array of floats of any array-API library.
    tolerance : how far a row sum may lie from 1 and an entry below 0. Zero decides exactly (floats are dyadic
        rationals). Default: zero for Fractions and integers, and for floats (m + 4)·2⁻⁵², what rounding can do
        to a softmax.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> is_row_stochastic([[third, third, third], [0, 1, 0]])
    True
    >>> is_row_stochastic([[0.1] * 10]), is_row_stochastic([[0.1] * 10], tolerance=0)
    (True, False)
    """
    if tolerance is not None:
        tolerance = as_real("tolerance", tolerance)
        if tolerance < 0:
            raise InvalidArgument(f"tolerance: {tolerance} given; a number of at least 0 is needed")
    if is_exact(P):
        return _is_exactly_stochastic(exact_matrix("P", P), Fraction(tolerance or 0))
    P = as_array("P", P, min_ndim=2)
    xp = array_namespace(P)
    m = P.shape[-1]
    if tolerance == 0:
        rows = xp.reshape(P, (-1, m))
        exact = [[Fraction(float(rows[i, j])) for j in range(m)] for i in range(rows.shape[0])]
        return _is_exactly_stochastic(exact, Fraction(0))
    if tolerance is None:
        tolerance = (m + 4) * 2.0**-52
    return bool(xp.all(P + tolerance >= 0)) and bool(xp.all(xp.abs(xp.sum(P, axis=-1) - 1) <= tolerance))


def exact_product(*matrices: ArrayLike) -> list[list[Fraction]]:
    """A₁A₂⋯A_k in exact rationals; entries may be Fractions, integers or floats (read as the dyadics they are).

    >>> half = Fraction(1, 2)
    >>> exact_product([[half, half], [0, 1]], [[1, 0], [half, half]])
    [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 2), Fraction(1, 2)]]
    """
    if not matrices:
        raise InvalidArgument("matrices: none given; at least one matrix is needed")
    product, *rest = (to_flint(exact_matrix(f"matrices[{k}]", matrix)) for k, matrix in enumerate(matrices))
    for k, factor in enumerate(rest, start=1):
        if product.ncols() != factor.nrows():
            raise InvalidArgument(
                f"matrices[{k}]: {factor.nrows()} rows given; the product before it has {product.ncols()} columns"
            )
        product = product * factor
    return from_flint(product)


def stationary(A: ArrayLike) -> list[Fraction]:
    """π with πA = π and Σπ = 1, in exact rationals; A is row-stochastic with one such π (all positive ones are).

    >>> stationary([[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]])
    [Fraction(3, 5), Fraction(2, 5)]
    """
    from flint import fmpq, fmpq_mat

    rows = exact_matrix("A", A)
    n = len(rows)
    # πA = π has one equation too many; Σπ = 1 takes its place.
    entries = [[rows[j][i] - (i == j) for j in range(n)] for i in range(n - 1)] + [[Fraction(1)] * n]
    try:
        found = to_flint(entries).solve(fmpq_mat(n, 1, [fmpq(0)] * (n - 1) + [fmpq(1)]))
    except ZeroDivisionError:
        raise InvalidArgument("A: a matrix with several stationary distributions given; one is needed") from None
    return [Fraction(int(found[i, 0].p), int(found[i, 0].q)) for i in range(n)]


def oscillation(v: Array, *, axis: int = -1) -> Array:
    """osc(v) = max v − min v along an axis.

    >>> float(oscillation([3, -1, 2]))
    4.0
    """
    v = as_array("v", v, min_ndim=1)
    axis = as_count("axis", axis, least=-v.ndim, most=v.ndim - 1)
    xp = array_namespace(v)
    return xp.max(v, axis=axis) - xp.min(v, axis=axis)


def total_variation(p: Array, q: Array) -> Array:
    """½ Σ_j |p_j − q_j| for probability vectors along the last axis.

    >>> float(total_variation([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    p, q, xp = _pair(p, q)
    for name, vector in (("p", p), ("q", q)):
        _refuse_unless_stochastic(name, vector, xp)
    return xp.sum(xp.abs(p - q), axis=-1) / 2


def dobrushin(P: Array) -> Array:
    """Dobrushin's coefficient max_{i,k} TV(P_i, P_k) of a row-stochastic (..., n, m) matrix.

    It contracts: osc(Pv) <= dobrushin(P)·osc(v), and Δ(PX) <= dobrushin(P)·Δ(X) in every norm.

    >>> float(dobrushin([[1, 0], [0.25, 0.75]]))
    0.75
    """
    P = as_array("P", P, min_ndim=2)
    _refuse_unless_stochastic("P", P, array_namespace(P))
    return diameter(P, 1) / 2


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Array, Array, ModuleType]:
    p, q = as_array("p", p, min_ndim=1), as_array("q", q, min_ndim=1)
    xp = same_library(p=p, q=q)
    if p.shape[-1] != q.shape[-1]:
        raise InvalidArgument(f"q: length {q.shape[-1]} given; it must be {p.shape[-1]} as in p")
    try:
        return *xp.broadcast_arrays(p, q), xp
    except ValueError:
        raise InvalidArgument(f"q: shape {tuple(q.shape)} given; it must broadcast with p's {tuple(p.shape)}") from None


def _is_exactly_stochastic(rows: list[list[Fraction]], slack: Fraction) -> bool:
    return all(all(entry + slack >= 0 for entry in row) and abs(sum(row, Fraction(-1))) <= slack for row in rows)


def _refuse_unless_stochastic(name: str, vectors: Array, xp: ModuleType) -> None:
    if bool(xp.any(vectors < -_SUM_SLACK)):
        raise InvalidArgument(f"{name}: entry {float(xp.min(vectors))} given; probabilities must be at least 0")
    off = float(xp.max(xp.abs(xp.sum(vectors, axis=-1) - 1)))
    if off > _SUM_SLACK:
        raise InvalidArgument(f"{name}: a row sum differs from 1 by {off:.3g}; every row must sum to 1")
