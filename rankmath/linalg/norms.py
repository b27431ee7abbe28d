"""The sizes of a matrix, and of the maps v ↦ vW and (u, v) ↦ u W vᵀ it stands for: once, for every arithmetic.

Every function takes (..., n, m) arrays of any array-API library and returns an array of shape (...). With an
arithmetic `A` given the matrix is one of that arithmetic (one alone, where exponents are unbounded), and balls give
enclosures.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.numpy64 import side_by_side
from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.arithmetic.protocol import System
from rankmath.validation import Array, ArrayLike, Floats, Number, as_array, as_choice

#: Largest dimension for which the ∞→1 norm is found by trying all sign vectors.
SIGN_ENUMERATION_LIMIT = 12
# Up to this many columns Jacobi rotations of many matrices at once beat LAPACK, which takes them one by one.
_TURNED = 4


def norm_one(W: ArrayLike, A: System | None = None) -> Array:
    """‖W‖₁ = max_j Σ_i |W_ij|, the largest column sum.

    >>> float(norm_one([[1, -2], [3, 4]]))
    6.0
    """
    A, W = _home(W, A)
    return _number(A.max(A.sum(A.abs(W), axis=-2), axis=-1))


def norm_inf(W: ArrayLike, A: System | None = None) -> Array:
    """‖W‖_∞ = max_i Σ_j |W_ij|, the largest row sum.

    >>> float(norm_inf([[1, -2], [3, 4]]))
    7.0
    """
    A, W = _home(W, A)
    return _number(A.max(A.sum(A.abs(W), axis=-1), axis=-2))


def composite(W: ArrayLike, A: System | None = None) -> Array:
    """‖W‖_{1,∞} = √(‖W‖₁ ‖W‖_∞): homogeneous, definite, submultiplicative, and **not a norm**.

    The triangle inequality fails: W = e₁1ᵀ and V = Wᵀ (n × n) have composite value √n each, W + V has n + 1.

    >>> W = [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    >>> float(composite(W))
    2.0
    """
    A, W = _home(W, A)
    absolute = A.abs(W)
    one, inf = A.max(A.sum(absolute, axis=-2), axis=-1), A.max(A.sum(absolute, axis=-1), axis=-2)
    if A.unbounded:
        return _number(A.sqrt(one * inf))
    # ‖W‖₁/‖W‖_∞ lies between 1/m and n, so this form neither overflows nor underflows.
    return _number(inf * A.sqrt(one / A.nonzero(inf)))


def norm_max(W: ArrayLike, A: System | None = None) -> Array:
    """‖W‖_max = max_ij |W_ij|.

    >>> float(norm_max([[1, -2], [3, -4]]))
    4.0
    """
    A, W = _home(W, A)
    return _number(A.max(A.max(A.abs(W), axis=-1), axis=-2))


def frobenius(W: ArrayLike, A: System | None = None) -> Array:
    """‖W‖_F = √(Σ_ij W_ij²), formed without overflow or underflow.

    >>> float(frobenius([[3, 0], [0, 4]]))
    5.0
    >>> float(frobenius([[3e-200, 4e-200]]))
    5e-200
    """
    A, W = _home(W, A)
    scale = 1 if A.unbounded else A.nonzero(A.max(A.max(A.abs(W), axis=-1), axis=-2))
    W = W / scale
    return _number(A.sqrt(A.sum(A.sum(W * W, axis=-1), axis=-2)) * scale)


def spectral(W: ArrayLike, A: System | None = None) -> Array:
    """‖W‖₂, the largest singular value; in balls an enclosure of relative width about 1e-15, exact for d = 1.

    With V close to orthogonal, C = VᵀWᵀWV: ‖W‖₂² lies between ‖WVe‖²/‖Ve‖² for any e and ‖C‖_∞/(1 − ‖VᵀV − I‖_∞).

    >>> float(spectral([[0, 2], [1, 0]]))
    2.0
    """
    A, W = _home(W, A)
    if not A.unbounded:
        return _spectral_of_many(W) if side_by_side(W) and W.shape[-1] <= _TURNED else A.xp.linalg.svdvals(W)[..., 0]
    if A.name == "mpmath":
        import mpmath

        return max(mpmath.svd_r(mpmath.matrix(W.tolist()), compute_uv=False))
    if W.shape[-2:] == (1, 1):
        return abs(_number(W))
    if W.ndim > 2:
        return np.frompyfunc(lambda place: spectral(W[place], A), 1, 1)(np.arange(len(W)))
    if all(x.is_zero() for x in W.flat):
        return A.zero
    _, _, Vh = np.linalg.svd(A.scaled_floats(W))
    WV, gram, slack = _moved(A, W, Vh.T)
    C = A.matmul(A.transpose(WV), WV)
    return (C[0, 0] / gram[0, 0]).union(norm_inf(C, A) / (1 - slack)).sqrt()


def _spectral_of_many(W: Floats) -> Floats:
    """√ of the largest eigenvalue of WᵀW, which Jacobi's rotations make diagonal: what rounding costs is a part of
    that one, and nothing is asked of the others."""
    size = np.abs(W).max(axis=(-2, -1), keepdims=True)
    V = W / np.where(size > 0, size, 1.0)
    places = range(V.shape[-1])
    gram = {(i, j): (V[..., i] * V[..., j]).sum(axis=-1) for i in places for j in places if i <= j}
    least = 2.0**-54 * sum(gram[i, i] for i in places)
    turned, sweeps = True, 0
    while turned and sweeps < 40:
        turned, sweeps = False, sweeps + 1
        for i, j in combinations(places, 2):
            across = gram[i, j]
            wanted = np.abs(across) > least
            if not wanted.any():
                continue
            turned = True
            slope = (gram[j, j] - gram[i, i]) / np.where(wanted, 2.0 * across, 1.0)
            tangent = np.copysign(wanted, slope) / (np.abs(slope) + np.sqrt(1.0 + slope * slope))
            cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
            sine = tangent * cosine
            gram[i, j] = np.where(wanted, 0.0, across)
            gram[i, i], gram[j, j] = gram[i, i] - tangent * across, gram[j, j] + tangent * across
            for k in places:
                if k not in (i, j):
                    one, other = (min(i, k), max(i, k)), (min(j, k), max(j, k))
                    u, v = gram[one], gram[other]
                    gram[one], gram[other] = cosine * u - sine * v, sine * u + cosine * v
    largest = np.maximum.reduce([gram[i, i] for i in places])
    return np.asarray(np.sqrt(largest) * size[..., 0, 0])


def symmetric_extremes(S: Array, A: System) -> tuple[Array, Array]:
    """The least and the largest eigenvalue of a symmetric matrix; in balls enclosures about 1e-15 wide.

    With V close to orthogonal, C = VᵀSV and ε = ‖VᵀV − I‖_∞, the k-th eigenvalue of S is that of C over a number in
    [1 − ε, 1 + ε] (Ostrowski); Gershgorin's discs of C bound one end, Rayleigh quotients of S the other.
    """
    if not A.unbounded:
        values = np.linalg.eigvalsh(S)
        return values[..., 0], values[..., -1]
    if A.name == "mpmath":
        import mpmath

        found = mpmath.eigsy(mpmath.matrix(S.tolist()), eigvals_only=True)
        return min(found), max(found)
    floats = A.scaled_floats(S)
    _, vectors = np.linalg.eigh((floats + floats.T) / 2)
    SV, gram, slack = _moved(A, S, vectors)
    C = A.matmul(A.transpose(A.asarray(vectors)), SV)
    n = len(vectors)
    radii = [sum((abs(C[i, j]) for j in range(n) if j != i), A.zero) for i in range(n)]
    factor = (1 / (1 + slack)).union(1 / (1 - slack))
    least, largest = C[0, 0] - radii[0], C[0, 0] + radii[0]
    for i in range(1, n):
        least, largest = least.min(C[i, i] - radii[i]), largest.max(C[i, i] + radii[i])
    # The quotients at the columns of V lie between the extremes: the other end of each enclosure.
    inner = [C[i, i] / gram[i, i] for i in range(n)]
    low, high = inner[0], inner[0]
    for x in inner[1:]:
        low, high = low.min(x), high.max(x)
    return (least * factor).union(low), (largest * factor).union(high)


def _moved(A: ObjectArithmetic, M: Array, vectors: Floats) -> tuple[Array, Array, Number]:
    """M V, VᵀV and ‖VᵀV − I‖_∞."""
    V = A.asarray(vectors)
    gram = A.matmul(A.transpose(V), V)
    return A.matmul(M, V), gram, norm_inf(gram - A.asarray(np.eye(len(vectors), dtype=int)), A)


def induced_norm(W: ArrayLike, p: float, A: System | None = None) -> Array:
    """The induced norm of v ↦ vW on row vectors, sup ‖vW‖_p / ‖v‖_p, for p = 1, 2 or inf.

    Rows multiply from the left, so ℓ₁ gives the largest *row* sum ‖W‖_∞ and ℓ_∞ the largest column sum ‖W‖₁.

    >>> W = [[1, -2], [3, 4]]
    >>> float(induced_norm(W, 1)), float(induced_norm(W, math.inf))
    (7.0, 6.0)
    """
    A, W = _home(W, A)
    p = as_choice("p", p, (1, 2, math.inf))
    return {1: norm_inf, 2: spectral, math.inf: norm_one}[p](W, A)


@dataclass(frozen=True)
class BilinearNorm:
    """`value` of a bilinear norm, and whether it is `exact` (up to rounding) or only an upper bound."""

    value: Array
    exact: bool


def bilinear_norm(W: ArrayLike, p: float, A: System | None = None) -> BilinearNorm:
    """‖W‖_* = sup |u W vᵀ| over ‖u‖_p, ‖v‖_p <= 1, for p = 1, 2 or inf (the norm of W_QK in own:O2).

    ℓ₁: the largest entry. ℓ₂: the spectral norm. ℓ_∞: the ∞→1 norm max_s ‖sW‖₁ over sign vectors s, exact while
    the smaller side of W is at most 12; beyond that the sum of absolute entries, an upper bound.

    >>> bilinear_norm([[1.0, 1.0], [1.0, -1.0]], math.inf)
    BilinearNorm(value=np.float64(2.0), exact=True)
    """
    A, W = _home(W, A)
    p = as_choice("p", p, (1, 2, math.inf))
    if p == 1:
        return BilinearNorm(norm_max(W, A), exact=True)
    if p == 2:
        return BilinearNorm(spectral(W, A), exact=True)
    if W.shape[-2] > W.shape[-1]:  # u W vᵀ = v Wᵀ uᵀ: enumerate the signs of the shorter side
        W = A.transpose(W)
    if W.shape[-2] > SIGN_ENUMERATION_LIMIT:
        return BilinearNorm(_number(A.sum(A.sum(A.abs(W), axis=-1), axis=-2)), exact=False)
    signs = _signs(int(W.shape[-2]))
    signs = A.asarray(signs) if A.unbounded else A.xp.asarray(signs, device=W.device)
    return BilinearNorm(_number(A.max(A.sum(A.abs(A.matmul(signs, W)), axis=-1), axis=-2)), exact=True)


def _number(a: Array) -> Array:
    """(..., 1, 1) -> (...), a number where that is ()."""
    a = a[..., 0, 0]
    return a[()] if isinstance(a, np.ndarray) else a


@cache
def _signs(d: int) -> Floats:
    """All sign vectors up to a common sign, one a row."""
    return np.asarray([(1.0, *rest) for rest in product((1.0, -1.0), repeat=d - 1)])


def _home(W: ArrayLike, A: System | None) -> tuple[System, Array]:
    """The arithmetic and the matrix in it; what comes from a user is checked."""
    if A is not None:
        return A, W
    array = as_array("W", W, min_ndim=2)
    return Float64(array), array
