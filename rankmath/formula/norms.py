"""Norms and extreme eigenvalues of one weight matrix, in any arithmetic; balls give enclosures."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from rankmath.formula.run import scalar_function, unbox
from rankmath.linalg.norms import bilinear_norm, spectral
from rankmath.validation import Array

# Sign vectors are enumerated up to this dimension; beyond it Σ|W_ij|, which is larger, stands in.
MOST_SIGNS = 12


def norm_one(A: Any, W: Array) -> Any:
    """Largest column sum of |W|."""
    return unbox(A.max(A.sum(A.abs(W), axis=-2), axis=-1))


def norm_inf(A: Any, W: Array) -> Any:
    """Largest row sum of |W|."""
    return unbox(A.max(A.sum(A.abs(W), axis=-1), axis=-2))


def norm_max(A: Any, W: Array) -> Any:
    """Largest |entry|."""
    return unbox(A.max(A.max(A.abs(W), axis=-1), axis=-2))


def norm_frobenius(A: Any, W: Array) -> Any:
    """√Σ W_ij²."""
    return scalar_function(A, A.sqrt, unbox(A.sum(A.sum(W * W, axis=-1), axis=-2)))


def norm_composite(A: Any, W: Array) -> Any:
    """√(‖W‖₁‖W‖_∞)."""
    return scalar_function(A, A.sqrt, norm_one(A, W) * norm_inf(A, W))


def form_norm(A: Any, W: Array, p: float) -> Any:
    """sup |u W vᵀ| over the unit balls of ℓ_p; for p = ∞ and d > 12 its bound Σ|W_ij|."""
    if p == 2:
        return spectral_norm(A, W)
    if p == 1:
        return norm_max(A, W)
    d = W.shape[-1]
    if d > MOST_SIGNS:
        return unbox(A.sum(A.sum(A.abs(W), axis=-1), axis=-2))
    if not A.unbounded:
        return bilinear_norm(W, math.inf).value
    signs = np.asarray([(1, *rest) for rest in product((1, -1), repeat=d - 1)], dtype=object)
    return unbox(A.max(A.sum(A.abs(A.matmul(A.asarray(signs), W)), axis=-1), axis=-2))


def spectral_norm(A: Any, W: Array) -> Any:
    """Largest singular value; in balls an enclosure of relative width about 1e-15, exact for d = 1.

    With V close to orthogonal, C = VᵀWᵀWV: ‖W‖₂² lies between ‖WVe‖²/‖Ve‖² for any e and
    ‖C‖_∞/(1 − ‖VᵀV − I‖_∞).
    """
    if not A.unbounded:
        return spectral(W)
    if A.name == "mpmath":
        import mpmath

        return max(mpmath.svd_r(mpmath.matrix(W.tolist()), compute_uv=False))
    if all(x.is_zero() for x in W.flat):
        return A.zero
    _, _, Vh = np.linalg.svd(A.scaled_floats(W))
    V = A.asarray(Vh.T)
    WV = A.matmul(W, V)
    C = A.matmul(A.transpose(WV), WV)
    gram = A.matmul(A.transpose(V), V)
    slack = norm_inf(A, gram - A.asarray(np.eye(len(Vh), dtype=int)))
    upper = norm_inf(A, C) / (1 - slack)
    lower = C[0, 0] / gram[0, 0]
    return lower.union(upper).sqrt()


def symmetric_extremes(A: Any, S: Array) -> tuple[Any, Any]:
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
    V = A.asarray(vectors)
    C = A.matmul(A.transpose(V), A.matmul(S, V))
    n = len(vectors)
    gram = A.matmul(A.transpose(V), V)
    slack = norm_inf(A, gram - A.asarray(np.eye(n, dtype=int)))
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
