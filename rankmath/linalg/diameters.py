"""How far apart the tokens are: the diameters Δ_p and the distance μ from the mean token."""

from __future__ import annotations

import math
from types import ModuleType

from array_api_compat import array_namespace, device

from rankmath.linalg.norms import frobenius
from rankmath.validation import Array, as_array, as_choice

# Doubles held at once while pairs of rows are compared (16 MiB).
_BLOCK = 2**21


def diameter(X: Array, p: float = 2) -> Array:
    """Δ_p(X) = max_{i,j} ‖X_i − X_j‖_p over the rows of X, for p = 1, 2 or inf.

    Translation-invariant, and accurate to a few units in the last place however large a mean the rows share.
    Pairs are compared in blocks, so memory stays bounded for any number of tokens.

    Parameters
    ----------
    X : tokens as rows, shape (..., n, d), of any array-API library.

    Returns
    -------
    Array of shape (...).

    Examples
    --------
    >>> X = [[0, 0], [3, 4], [1, 1]]
    >>> [float(diameter(X, p)) for p in (1, 2, math.inf)]
    [7.0, 5.0, 4.0]
    """
    X = as_array("X", X, min_ndim=2)
    p = as_choice("p", p, (1, 2, math.inf))
    xp = array_namespace(X)
    if p == math.inf:  # pairs and coordinates may be maximised in either order
        return xp.max(xp.max(X, axis=-2) - xp.min(X, axis=-2), axis=-1)
    *batch, n, d = X.shape
    rows = xp.reshape(X, (-1, n, d))
    value = _diameter_one(rows, xp) if p == 1 else _diameter_two(rows, xp)
    return xp.reshape(value, tuple(batch))


def mu(X: Array) -> Array:
    """μ(X) = ‖X − 11ᵀX/n‖_F, the Frobenius distance of X (..., n, d) from its mean token.

    >>> float(mu([[1e8, 3.0], [1e8, -5.0], [1e8, 1.0], [1e8, 1.0]])) ** 2
    36.0
    """
    X = as_array("X", X, min_ndim=2)
    xp = array_namespace(X)
    # Differences first: the rounding of a large common mean would otherwise swamp a small residual.
    from_first = X - X[..., :1, :]
    return frobenius(from_first - xp.mean(from_first, axis=-2, keepdims=True))


def _diameter_one(X: Array, xp: ModuleType) -> Array:
    batch, n, d = X.shape
    best = xp.zeros_like(X[:, 0, 0])
    for start, stop in _blocks(n, batch * n * d):
        gaps = xp.abs(X[:, start:stop, None, :] - X[:, None, start:, :])
        best = xp.maximum(best, xp.max(xp.sum(gaps, axis=-1), axis=(-2, -1)))
    return best


def _diameter_two(X: Array, xp: ModuleType) -> Array:
    """The farthest pair from inner products, its distance from the rows themselves.

    Relative to the first row all vectors are no longer than Δ, so ‖x‖² + ‖y‖² − 2⟨x, y⟩ is off by a few
    rounding errors of Δ²: too little to miss a pair that is farther by more than that.
    """
    batch, n, d = X.shape
    Y = X - X[:, :1, :]
    scale = xp.max(xp.abs(Y), axis=(-2, -1), keepdims=True)
    Y = Y / xp.where(scale > 0, scale, xp.ones_like(scale))
    squared = xp.sum(Y * Y, axis=-1)
    best = xp.zeros_like(squared[:, 0])
    first = second = xp.zeros(batch, dtype=xp.int64, device=device(X))
    for start, stop in _blocks(n, batch * n):
        width = n - start
        gaps = (
            squared[:, start:stop, None]
            + squared[:, None, start:]
            - 2 * (Y[:, start:stop, :] @ xp.matrix_transpose(Y[:, start:, :]))
        )
        gaps = xp.reshape(gaps, (batch, -1))
        farthest, where = xp.max(gaps, axis=-1), xp.argmax(gaps, axis=-1)
        better = farthest > best
        best = xp.where(better, farthest, best)
        first = xp.where(better, start + where // width, first)
        second = xp.where(better, start + where % width, second)
    flat = xp.reshape(X, (batch * n, d))
    offset = n * xp.arange(batch, dtype=xp.int64, device=device(X))
    return frobenius((xp.take(flat, offset + first, axis=0) - xp.take(flat, offset + second, axis=0))[:, None, :])


def _blocks(n: int, per_row: int) -> list[tuple[int, int]]:
    step = max(1, _BLOCK // per_row)
    return [(start, min(start + step, n)) for start in range(0, n, step)]
