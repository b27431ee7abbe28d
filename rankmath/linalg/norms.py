"""The sizes of a matrix, and of the maps v ↦ vW and (u, v) ↦ u W vᵀ it stands for.

Every function takes (..., n, m) arrays of any array-API library and returns an array of shape (...).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

from array_api_compat import array_namespace, device

from rankmath.validation import Array, as_array, as_choice

#: Largest dimension for which the ∞→1 norm is found by trying all sign vectors.
SIGN_ENUMERATION_LIMIT = 16


def norm_one(A: Array) -> Array:
    """‖A‖₁ = max_j Σ_i |A_ij|, the largest column sum.

    Examples
    --------
    >>> float(norm_one([[1, -2], [3, 4]]))
    6.0
    """
    A, xp = _matrix("A", A)
    return xp.max(xp.sum(xp.abs(A), axis=-2), axis=-1)


def norm_inf(A: Array) -> Array:
    """‖A‖_∞ = max_i Σ_j |A_ij|, the largest row sum.

    Examples
    --------
    >>> float(norm_inf([[1, -2], [3, 4]]))
    7.0
    """
    A, xp = _matrix("A", A)
    return xp.max(xp.sum(xp.abs(A), axis=-1), axis=-1)


def composite(A: Array) -> Array:
    """‖A‖_{1,∞} = √(‖A‖₁ ‖A‖_∞): homogeneous, definite, submultiplicative, and **not a norm**.

    The triangle inequality fails: A = e₁1ᵀ and B = Aᵀ (n × n) have composite value √n each, A + B has n + 1.

    Examples
    --------
    >>> A = [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    >>> float(composite(A))
    2.0
    """
    A, xp = _matrix("A", A)
    one, inf = norm_one(A), norm_inf(A)
    # ‖A‖₁/‖A‖_∞ lies between 1/m and n, so this form neither overflows nor underflows; 0 counts as 0·√1.
    return inf * xp.sqrt(xp.where(inf > 0, one, xp.ones_like(one)) / xp.where(inf > 0, inf, xp.ones_like(inf)))


def norm_max(A: Array) -> Array:
    """‖A‖_max = max_ij |A_ij|.

    Examples
    --------
    >>> float(norm_max([[1, -2], [3, -4]]))
    4.0
    """
    A, xp = _matrix("A", A)
    return xp.max(xp.abs(A), axis=(-2, -1))


def frobenius(A: Array) -> Array:
    """‖A‖_F = √(Σ_ij A_ij²), formed without overflow or underflow.

    Examples
    --------
    >>> float(frobenius([[3, 0], [0, 4]]))
    5.0
    >>> float(frobenius([[3e-200, 4e-200]]))
    5e-200
    """
    A, xp = _matrix("A", A)
    scale = norm_max(A)
    scale = xp.where(scale > 0, scale, xp.ones_like(scale))
    return scale * xp.sqrt(xp.sum((A / scale[..., None, None]) ** 2, axis=(-2, -1)))


def spectral(A: Array) -> Array:
    """‖A‖₂, the largest singular value.

    Examples
    --------
    >>> float(spectral([[0, 2], [1, 0]]))
    2.0
    """
    A, xp = _matrix("A", A)
    return xp.linalg.svdvals(A)[..., 0]


def induced_norm(W: Array, p: float) -> Array:
    """The induced norm of v ↦ vW on row vectors, sup ‖vW‖_p / ‖v‖_p, for p = 1, 2 or inf.

    Rows multiply from the left, so ℓ₁ gives the largest *row* sum ‖W‖_∞ and ℓ_∞ the largest column sum ‖W‖₁.

    Examples
    --------
    >>> W = [[1, -2], [3, 4]]
    >>> float(induced_norm(W, 1)), float(induced_norm(W, math.inf))
    (7.0, 6.0)
    """
    W, _ = _matrix("W", W)
    p = as_choice("p", p, (1, 2, math.inf))
    return {1: norm_inf, 2: spectral, math.inf: norm_one}[p](W)


@dataclass(frozen=True)
class BilinearNorm:
    """`value` of a bilinear norm, and whether it is `exact` (up to rounding) or only an upper bound."""

    value: Array
    exact: bool


def bilinear_norm(W: Array, p: float) -> BilinearNorm:
    """‖W‖_* = sup |u W vᵀ| over ‖u‖_p, ‖v‖_p <= 1, for p = 1, 2 or inf (the norm of W_QK in own:O2).

    ℓ₁: the largest entry. ℓ₂: the spectral norm. ℓ_∞: the ∞→1 norm max_s ‖sW‖₁ over sign vectors s, exact while
    the smaller side of W is at most 16; beyond that the sum of absolute entries, an upper bound.

    Examples
    --------
    >>> bilinear_norm([[1.0, 1.0], [1.0, -1.0]], math.inf)
    BilinearNorm(value=np.float64(2.0), exact=True)
    """
    W, xp = _matrix("W", W)
    p = as_choice("p", p, (1, 2, math.inf))
    if p == 1:
        return BilinearNorm(norm_max(W), exact=True)
    if p == 2:
        return BilinearNorm(spectral(W), exact=True)
    if W.shape[-2] > W.shape[-1]:  # u W vᵀ = v Wᵀ uᵀ: enumerate the signs of the shorter side
        W = xp.matrix_transpose(W)
    if W.shape[-2] > SIGN_ENUMERATION_LIMIT:
        return BilinearNorm(xp.sum(xp.abs(W), axis=(-2, -1)), exact=False)
    return BilinearNorm(_infinity_to_one(W, xp), exact=True)


def _infinity_to_one(W: Array, xp: Any) -> Array:
    """max over s ∈ {±1}^d of ‖sW‖₁, one block of signs at a time so that memory stays at 2^11 rows of W."""
    d = W.shape[-2]
    near = min(d, 12)
    # −s gives the same value as s: the first sign stays +1.
    signs = _rows([(1.0, *s) for s in product((1.0, -1.0), repeat=near - 1)], W, xp)
    partial = signs @ W[..., :near, :]
    best = None
    for far in product((1.0, -1.0), repeat=d - near):
        rest = _rows([far], W, xp) @ W[..., near:, :] if far else 0.0
        value = xp.max(xp.sum(xp.abs(partial + rest), axis=-1), axis=-1)
        best = value if best is None else xp.maximum(best, value)
    return best


def _rows(rows: list[tuple[float, ...]], like: Array, xp: Any) -> Array:
    return xp.asarray(rows, dtype=xp.float64, device=device(like))


def _matrix(name: str, value: Array) -> tuple[Array, Any]:
    array = as_array(name, value, min_ndim=2)
    return array, array_namespace(array)
