"""The quantities the bounds are made of, over any arithmetic; float64 takes batches.

Norms are (..., ) numbers over the batch; everything that shrinks doubly exponentially is a logarithm.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.dynamics.centred import Tokens
from rankmath.dynamics.enclosures import log_diameter as log_diameter_objects
from rankmath.dynamics.enclosures import log_residual as log_residual_objects
from rankmath.dynamics.trace import layers_centred
from rankmath.linalg.diameters import diameter
from rankmath.linalg.norms import bilinear_norm, spectral
from rankmath.linalg.residuals import ResidualNorm, residual
from rankmath.network import Network
from rankmath.validation import Array

P = Literal[1, 2] | float

# Sign vectors are enumerated up to this dimension; beyond it Σ|W_ij|, which is larger, stands in.
_MOST_SIGNS = 12


def norm_one(A: Any, W: Array) -> Any:
    """Largest column sum of |W|."""
    return unbox(A.max(A.sum(A.abs(W), axis=-2), axis=-1))


def norm_inf(A: Any, W: Array) -> Any:
    """Largest row sum of |W|."""
    return unbox(A.max(A.sum(A.abs(W), axis=-1), axis=-2))


def norm_max(A: Any, W: Array) -> Any:
    """Largest |entry|."""
    return unbox(A.max(A.max(A.abs(W), axis=-1), axis=-2))


def composite(A: Any, W: Array) -> Any:
    """√(‖W‖₁‖W‖_∞)."""
    return sqrt(A, norm_one(A, W) * norm_inf(A, W))


def sqrt(A: Any, x: Any) -> Any:
    return _scalarwise(A, A.sqrt, x)


def log(A: Any, x: Any) -> Any:
    return _scalarwise(A, A.log, x)


def exp(A: Any, x: Any) -> Any:
    return _scalarwise(A, A.exp, x)


def tanh(A: Any, x: Any) -> Any:
    return _scalarwise(A, A.tanh, x)


def _scalarwise(A: Any, function: Any, x: Any) -> Any:
    if not A.unbounded:
        return function(np.asarray(x, dtype=float))
    if isinstance(x, np.ndarray):
        return function(x)
    box = np.empty(1, dtype=object)
    box[0] = x
    return function(box)[0]


def unbox(a: Array) -> Any:
    """(..., 1, 1) -> (...): the number itself where there is no batch."""
    return a[..., 0, 0][()]


def maximum(A: Any, numbers: list[Any]) -> Any:
    """The largest of several numbers (or of arrays over a batch, entry by entry)."""
    best = numbers[0]
    for x in numbers[1:]:
        best = best.max(x) if A.name == "balls" else np.maximum(best, x)
    return best


def log_sum(A: Any, logs: list[Any]) -> Any:
    """log Σ e^{logs}, without leaving the range of a double."""
    if A.unbounded:
        total = logs[0].exp()
        for x in logs[1:]:
            total = total + x.exp()
        return log(A, total)
    return np.logaddexp.reduce(np.stack(np.broadcast_arrays(*logs)), axis=0)


def log_tanh_of_exp(A: Any, y: Any) -> Any:
    """log tanh(e^y)."""
    if A.unbounded:
        return log(A, tanh(A, exp(A, y)))
    y = np.asarray(y, dtype=float)
    # tanh t = t(1 − t²/3 + …): below e^-10 the first correction of the logarithm is −t²/3, the next is t⁴.
    near = -np.exp(2.0 * np.minimum(y, -10.0)) / 3.0
    far = np.log(np.tanh(np.exp(np.clip(y, -10.0, 20.0))))
    return np.where(y < -10.0, y + near, far)


def induced_norm(A: Any, W: Array, p: P) -> Any:
    """Norm of v ↦ vW in ℓ_p."""
    if p == 2:
        return spectral_norm(A, W)
    return norm_inf(A, W) if p == 1 else norm_one(A, W)


def form_norm(A: Any, W: Array, p: P) -> Any:
    """sup |u W vᵀ| over the unit balls of ℓ_p; for p = ∞ and d > 12 its bound Σ|W_ij|."""
    if p == 2:
        return spectral_norm(A, W)
    if p == 1:
        return norm_max(A, W)
    d = W.shape[-1]
    if d > _MOST_SIGNS:
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


class Run:
    """A network instance carried through one arithmetic, layer by layer."""

    def __init__(self, A: Any, net: Network, X: Array) -> None:
        self.A, self.net, self.X = A, net, X
        # The arithmetic of a batch is that of its arrays.
        self.A = A if A.unbounded else Float64(X)

    @cached_property
    def tokens(self) -> list[Tokens]:
        return list(layers_centred(self.A, self.net, self.X))

    def weight(self, stack: Array, layer: int, head: int) -> Array:
        return self.A.asarray(stack[layer, head])

    @property
    def root(self) -> Any:
        """√d_qk."""
        return sqrt(self.A, self.A.constant(self.net.d_qk))

    def log_diameter(self, layer: int, p: P) -> Any:
        """log Δ_p of the tokens after `layer` layers."""
        tokens = self.tokens[layer]
        if self.A.unbounded:
            return log_diameter_objects(self.A, tokens.residual, p)
        return self._scaled(tokens, diameter(tokens.residual, p))

    def log_residual(self, layer: int, norm: ResidualNorm) -> Any:
        """log‖res‖ of the tokens after `layer` layers."""
        tokens = self.tokens[layer]
        if self.A.unbounded:
            return log_residual_objects(self.A, tokens.residual, norm)
        R = tokens.residual
        if norm == "frobenius":
            size = np.sqrt((R * R).sum(axis=(-2, -1)))
        else:
            flat = R.reshape(-1, *R.shape[-2:])
            size = np.asarray([residual(r, norm=norm).value for r in flat]).reshape(R.shape[:-2])
        return self._scaled(tokens, size)

    def _scaled(self, tokens: Tokens, size: Any) -> Any:
        return tokens.log_residual.to_float()[..., 0, 0] + self.A.log(np.asarray(size, dtype=float))

    def heads(self) -> list[tuple[int, int]]:
        return [(l, h) for l in range(self.net.layers) for h in range(self.net.heads)]
