"""The map X ↦ N(A(X) X W_V) and its Jacobian, in float64, batched, and analytic in every argument.

Tokens are rows. ``weights[i, j]`` counts how many keys token j stands for in the eyes of token i: 0 and 1 for a
mask, cluster sizes for a system of clusters. Arrays may be CuPy's, all of them. Complex arguments are allowed, so
that derivatives with respect to parameters come from a complex step, which has no cancellation.
"""

import math
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from rankmath.arithmetic.float64 import to_numpy
from rankmath.validation import ArrayLike

Floats: TypeAlias = NDArray[Any]

# Entries of the Jacobians that are held at a time.
_BATCH = 2**20


def _floats(a: ArrayLike) -> Floats:
    """For the type checker: NumPy's functions also run on CuPy's arrays, and return such."""
    return cast("Floats", a)


def attention(X: Floats, W: Floats, weights: Floats) -> Floats:
    """A_ij ∝ weights_ij exp(x_i W x_jᵀ), rows summing to one; W is W_QK/√d_qk.

    >>> attention(np.eye(2), np.zeros((2, 2)), np.tril(np.ones((2, 2))))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    logits = X @ W @ np.swapaxes(X, -1, -2)
    seen = np.where(weights > 0, logits.real, -np.inf)
    E = weights * np.exp(np.where(weights > 0, logits - seen.max(axis=-1, keepdims=True), 0))
    return _floats(E / E.sum(axis=-1, keepdims=True))


def _centred(Y: Floats, norm: str) -> Floats:
    return Y - Y.mean(axis=-1, keepdims=True) if norm == "standard" else Y


def token_norm(dim: int, norm: str) -> float:
    """The 2-norm of a normalised token: 1 on the sphere, √d under standard LayerNorm."""
    return math.sqrt(dim) if norm == "standard" else 1.0


def normalise(Y: Floats, norm: str) -> Floats:
    """Rows divided by their 2-norm ("sphere"), or centred and divided by their deviation ("standard").

    >>> normalise(np.array([[3.0, 4.0]]), "sphere"), normalise(np.array([[3.0, 4.0]]), "standard")
    (array([[0.6, 0.8]]), array([[-1.,  1.]]))
    """
    Y = _centred(Y, norm)
    return _floats(Y * (token_norm(Y.shape[-1], norm) / np.sqrt((Y * Y).sum(axis=-1, keepdims=True))))


def layer(X: Floats, W_V: Floats, W: Floats, weights: Floats, norm: str) -> Floats:
    """One layer F(X) = N(A(X) X W_V)."""
    return normalise(attention(X, W, weights) @ X @ W_V, norm)


def orbit(X: Floats, W_V: Floats, W: Floats, weights: Floats, norm: str, steps: int) -> Iterator[Floats]:
    """X, F(X), F(F(X)), …, ``steps`` layers deep."""
    yield X
    for _ in range(steps):
        X = layer(X, W_V, W, weights, norm)
        yield X


def jacobian(X: Floats, W_V: Floats, W: Floats, weights: Floats, norm: str) -> Floats:
    """DF(X) as an (…, nd, nd) matrix on row-stacked tokens, by the formula and not by differences.

    With V = X W_V, Y = A V, x_i ↦ y_i moves by
    ∂y_i/∂x_k = A_ik [(x_i W)ᵀ(v_k − y_i) + W_V] + [i = k] W C_i, C_i = Σ_j A_ij x_jᵀ (v_j − y_i),
    followed by the derivative of the normalisation, h ↦ (h − n̂⟨n̂, h⟩)/‖y_i‖ on the (centred) row.
    The image of F is normalised, so at an equilibrium this matrix maps everything into the tangent spaces: its
    spectrum is that of the Jacobian on the tangent spaces, and zeros.

    >>> J = jacobian(np.array([[0.0, 1.0], [-0.6, -0.8]]), np.array([[1, 5 / 3], [0, 1]]), np.zeros((2, 2)),
    ...              np.tril(np.ones((2, 2))), "sphere")
    >>> np.allclose(np.sort(np.abs(np.linalg.eigvals(J))), [0, 0, 0.2, 1])
    True
    """
    n, d = X.shape[-2:]
    A = attention(X, W, weights)
    V = X @ W_V
    Y = A @ V
    rows = _centred(Y, norm)
    length = np.sqrt((rows * rows).sum(axis=-1))
    unit = rows / length[..., None]
    spread = V[..., None, :, :] - Y[..., :, None, :]
    # G[i, k, a, b] = ∂(y_i)_b / ∂(x_k)_a
    G = A[..., None, None] * ((X @ W)[..., :, None, :, None] * spread[..., :, :, None, :] + W_V[..., None, None, :, :])
    token = np.arange(n)
    C = np.einsum("...ij,...ja,...ijb->...iab", A, X, spread)
    G[..., token, token, :, :] += W[..., None, :, :] @ C
    G = _centred(G, norm)
    G = G - (G @ unit[..., :, None, :, None]) * unit[..., :, None, None, :]
    G = G * (token_norm(d, norm) / length)[..., :, None, None, None]
    stacked = np.moveaxis(G, (-4, -1, -3, -2), (-4, -3, -2, -1))
    return _floats(stacked.reshape(*G.shape[:-4], n * d, n * d))


def reordered(J: Floats, order: Floats, dim: int) -> Floats:
    """The Jacobian of G, where G(X)[order] = F(X), from that of F: its blocks of rows, moved."""
    blocks = J.reshape(*J.shape[:-2], len(order), dim, J.shape[-1])
    return _floats(blocks[..., np.argsort(order), :, :].reshape(J.shape))


def spectral_radius(X: Floats, W_V: Floats, W: Floats, weights: Floats, norm: str) -> float:
    """Largest modulus of an eigenvalue of DF(X), at an equilibrium that of the tangent spaces."""
    return float(np.abs(np.linalg.eigvals(jacobian(X, W_V, W, weights, norm))).max())


def power_sum(B: Floats) -> Floats:
    """P = Σ_k (Bᵀ)ᵏ Bᵏ, which solves P = BᵀPB + I, by doubling; the spectral radius of B must be below 1.

    >>> power_sum(np.array([[0.5]]))
    array([[1.33333333]])
    """
    P = np.eye(len(B))
    # After m rounds 2^m terms are in: more than any stable matrix in doubles needs.
    for _ in range(60):
        more = B.T @ P @ B
        P = P + more
        B = B @ B
        if np.abs(more).max() <= 1e-16 * np.abs(P).max():
            break
    return (P + P.T) / 2


def design(X: Floats, D: Floats, W: Floats, weights: Floats, *, order: Floats | None = None) -> Floats:
    """W_V = (A X)⁺ D X, which makes the unit rows of X an equilibrium when A(X) X has full row rank.

    With an ``order``, W_V = (A X)⁺ D X[order], which makes F(X) = X[order].

    >>> X, ones = np.array([[1.0, 0.0], [0.6, 0.8]]), np.ones((2, 2))
    >>> W_V = design(X, np.array([1.0, 2.0]), np.eye(2), ones)
    >>> np.allclose(layer(X, W_V, np.eye(2), ones, "sphere"), X)
    True
    """
    B = attention(X, W, weights) @ X
    target = D[..., :, None] * (X if order is None else X[..., order, :])
    if X.shape[-1] == X.shape[-2]:
        return _floats(np.linalg.solve(B, target))
    # Written without conjugation, so that it stays analytic under a complex step.
    T = np.swapaxes(B, -1, -2)
    return _floats(T @ np.linalg.solve(B @ T, target))


def beside(there: Floats, a: Floats) -> Floats:
    """`a` as an array of the library, and on the device, of `there`."""
    return _floats(array_namespace(there).asarray(a))


def newton(X: Floats, W_V: Floats, W: Floats, weights: Floats, norm: str, **options: Any) -> Floats | None:
    """`newton_from` one start X, (n, d); None if it does not settle."""
    found, settled = newton_from(X[None, ...], W_V, W, weights, norm, **options)
    return found[0] if settled[0] else None


def newton_from(
    starts: Floats, W_V: Floats, W: Floats, weights: Floats, norm: str, *, order: Floats | None = None, steps: int = 50
) -> tuple[Floats, Floats]:
    """Newton's method for F(X) = X, or F(X) = X[order], from many starts (m, n, d) at once.

    Returns where each ends, and (on the host) which have settled at rounding level. F(X) = X puts X on the spheres
    by itself, so the iteration needs no constraint.

    >>> W_V, ones = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.ones((1, 1))
    >>> newton_from(np.eye(2)[:, None, :], W_V, np.zeros((2, 2)), ones, "sphere")[1]  # a rotation rests nowhere
    array([False, False])
    >>> newton_from(np.eye(2)[:, None, :], np.diag([2.0, 1.0]), np.zeros((2, 2)), ones, "sphere")[1]
    array([ True,  True])
    """
    _, n, d = starts.shape
    places = np.arange(n) if order is None else np.asarray(order)
    identity = beside(starts, np.eye(n * d))
    found, settled = starts.copy(), np.zeros(len(starts), dtype=bool)
    active = np.arange(len(starts))
    chunk = max(1, _BATCH // (n * d) ** 2)
    for _ in range(steps):
        going = []
        for few in np.split(active, range(chunk, len(active), chunk)):
            X = found[few]
            # One that runs away is dropped below.
            with np.errstate(all="ignore"):
                residual = layer(X, W_V, W, weights, norm)[:, np.argsort(places)] - X
                slope = reordered(jacobian(X, W_V, W, weights, norm), places, d) - identity
                move = _solutions(slope, residual.reshape(len(few), n * d, 1)).reshape(X.shape)
                found[few] = X - move
            size = to_numpy(np.abs(move).max(axis=(-2, -1)))
            settled[few] = size <= 1e-14 * np.sqrt(d)
            going.append(few[np.isfinite(size) & ~settled[few]])
        active = np.concatenate(going)
        if not len(active):
            break
    return found, settled


def _solutions(matrices: Floats, columns: Floats) -> Floats:
    """matrix⁻¹ column for each, nan where a matrix is singular."""
    try:
        return _floats(np.linalg.solve(matrices, columns))
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return columns * np.nan
        pairs = zip(matrices, columns, strict=True)
        return np.concatenate([_solutions(matrix[None], column[None]) for matrix, column in pairs])
