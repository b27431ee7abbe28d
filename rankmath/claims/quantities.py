"""The quantities the bounds are made of, over any arithmetic; float64 takes batches.

Norms are (..., ) numbers over the batch; everything that shrinks doubly exponentially is a logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.centred import Tokens
from rankmath.dynamics.enclosures import log_diameter as log_diameter_objects
from rankmath.dynamics.enclosures import log_residual as log_residual_objects
from rankmath.dynamics.trace import layers_centred
from rankmath.linalg.diameters import diameter
from rankmath.linalg.norms import bilinear_norm, spectral
from rankmath.linalg.residuals import ResidualNorm, residual
from rankmath.model.network import Network
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


def log_expm1_ratio(A: Any, y: Any) -> Any:
    """log((e^t − 1)/t) at t = e^y; 0 in the limit t → 0."""
    if A.unbounded:
        t = exp(A, y) if y.is_finite() else A.zero
        return log(A, t.expm1() / t) if t > 0 else A.zero
    t = np.exp(np.minimum(np.asarray(y, dtype=float), 300.0))
    small = t < 1e-8
    safe = np.where(small, 1.0, t)
    # e^t − 1 = e^t(1 − e^−t), so that a large t does not overflow.
    return np.where(small, t / 2, safe + np.log(-np.expm1(-safe)) - np.log(safe))


def log_positive(A: Any, x: Any) -> Any:
    """log max(x, 0)."""
    if A.unbounded:
        return log(A, A.zero if x <= 0 else x.nonnegative_part())
    return log(A, np.maximum(x, 0.0))


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
        self._backend: Backend = "numpy" if A.unbounded else A.backend

    @cached_property
    def tokens(self) -> list[Tokens]:
        if self._backend == "numpy":
            return list(layers_centred(self.A, self.net, self.X))
        # The layers run there; what is made of their tokens is made here.
        net, X = on_backend(self._backend, self.net, self.X)
        layers = layers_centred(Float64(X), net, X)
        return [replace(t, center=to_numpy(t.center), residual=to_numpy(t.residual)) for t in layers]

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

    def mean_attention(self, layer: int) -> tuple[Any, Any, Any]:
        """log of the least and largest entry of q and δ = max_i osc(E_i) of the single head, about the mean."""
        log_D, _, log_least, log_largest = self._softmax_about(layer, 0 * self.tokens[layer].center, 0)
        return log_least, log_largest, exp(self.A, log_D)

    def sandwich(self, layer: int) -> Sandwich:
        """The oscillations D_ii and the largest entry of q of every head, about a center that minimises ‖·‖_{1,∞}.

        The center comes from float64 linear programs: any center gives true bounds for the D and q taken there.
        """
        offset = self._composite_center(self.tokens[layer].residual)
        heads = [self._softmax_about(layer, offset, h) for h in range(self.net.heads)]
        return Sandwich([h[0] for h in heads], [h[1] for h in heads], [h[3] for h in heads])

    def _softmax_about(self, layer: int, offset: Array, head: int) -> tuple[Any, Any, Any, Any]:
        """log max_i D_ii, log Σ_i D_ii, and log of the least and largest entry of q, about mean + offset."""
        A, net, tokens = self.A, self.net, self.tokens[layer]
        R = tokens.residual - offset
        W = self.weight(net.W_QK, layer, head)
        root = self.root if A.unbounded else np.asarray(self.root)[..., None, None]
        k = None if net.key_bias is None else A.matmul(R, A.asarray(net.key_bias[layer, head][..., None]))
        shift: Any = 0
        if A.unbounded:
            c = A.matmul(R, A.transpose(A.matmul(tokens.center + offset, W)))
        else:
            sigma = np.maximum(tokens.log_residual.to_float(), -1e300)
            unit = np.maximum(tokens.log_center, sigma)
            x = tokens.center * np.exp(tokens.log_center - unit) + offset * np.exp(sigma - unit)
            c = A.matmul(R, A.transpose(A.matmul(x, W))) * np.exp(np.minimum(sigma + unit, 600.0))
            k = None if k is None else k * np.exp(sigma)
            shift = 2.0 * sigma[..., 0, 0]
        c = (c if k is None else c + k) / root
        E = A.matmul(A.matmul(R, W), A.transpose(R)) / root
        D = A.max(E, axis=-1) + A.max(-E, axis=-1)
        c = c - A.row_of_largest(c, c)
        log_total = log(A, unbox(A.sum(A.exp(c), axis=-2)))
        log_largest, log_least = unbox(A.max(c, axis=-2)) - log_total, -unbox(A.max(-c, axis=-2)) - log_total
        return (
            log(A, unbox(A.max(D, axis=-2))) + shift,
            log(A, unbox(A.sum(D, axis=-2))) + shift,
            log_least,
            log_largest,
        )

    def _composite_center(self, R: Array) -> Array:
        if self.A.unbounded:
            exponent = self.A.upper_exponent(R)
            unit = self.A.constant(2) ** exponent
            floats = np.asarray([float((x / unit).mid()) for x in R.flat]).reshape(R.shape)
            return self.A.asarray(residual(floats, norm="composite").center[None, :]) * unit
        flat = R.reshape(-1, *R.shape[-2:])
        centers = [residual(r, norm="composite").center for r in flat]
        return np.asarray(centers).reshape(*R.shape[:-2], 1, R.shape[-1])


@dataclass(frozen=True)
class Sandwich:
    """One layer, a list over heads: log max_i D_ii, log Σ_i D_ii, log max_j q_j."""

    log_D: list[Any]
    log_sum_D: list[Any]
    log_q: list[Any]

    def log_gamma(self, A: Any) -> Any:
        """log of the largest √(Σ D_ii · max q / max D_ii); −inf for attention that is constant."""
        heads = zip(self.log_D, self.log_sum_D, self.log_q, strict=True)
        return maximum(A, [finite_difference(A, total + q, D) / 2 for D, total, q in heads])


def finite_difference(A: Any, a: Any, b: Any) -> Any:
    """a − b, with −inf − (−inf) read as −inf."""
    if A.unbounded:
        return a if not a.is_finite() else a - b
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return np.where(np.isfinite(a), a - np.where(np.isfinite(b), b, 0.0), -np.inf)


def threshold(A: Any) -> Any:
    """x* = 1.25643…, the positive root of eˣ = 1 + 2x: −½ − W₋₁(−e^{−1/2}/2)."""
    if not A.unbounded:
        return 1.2564312086261697
    half = A.constant(1) / 2
    return -half - (-((-half).exp()) / 2).lambertw(branch=-1)


def symmetric_extremes(A: Any, S: Array) -> tuple[Any, Any]:
    """The least and the largest eigenvalue of a symmetric matrix; in balls enclosures about 1e-15 wide.

    With V close to orthogonal, C = VᵀSV and ε = ‖VᵀV − I‖_∞, the k-th eigenvalue of S is that of C over a number in
    [1 − ε, 1 + ε] (Ostrowski); Gershgorin's discs of C bound one end, Rayleigh quotients of S the other.
    """
    if not A.unbounded:
        values = np.linalg.eigvalsh(S)
        return values[..., 0], values[..., -1]
    floats = A.scaled_floats(S)
    _, vectors = np.linalg.eigh((floats + floats.T) / 2)
    V = A.asarray(vectors)
    C = A.matmul(A.transpose(V), A.matmul(S, V))
    n = len(vectors)
    slack = norm_inf(A, A.matmul(A.transpose(V), V) - A.asarray(np.eye(n, dtype=int)))
    radii = [sum((abs(C[i, j]) for j in range(n) if j != i), A.zero) for i in range(n)]
    factor = (1 / (1 + slack)).union(1 / (1 - slack))
    least, largest = C[0, 0] - radii[0], C[0, 0] + radii[0]
    for i in range(1, n):
        least, largest = least.min(C[i, i] - radii[i]), largest.max(C[i, i] + radii[i])
    # The quotients at the outer columns of V are between the extremes: the other end of each enclosure.
    gram = A.matmul(A.transpose(V), V)
    inner = [C[i, i] / gram[i, i] for i in range(n)]
    low, high = inner[0], inner[0]
    for x in inner[1:]:
        low, high = low.min(x), high.max(x)
    return (least * factor).union(low), (largest * factor).union(high)
