"""The plain, textbook pass: what one would write first, and what the centred pass is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from rankmath.arithmetic.float64 import Float64
from rankmath.dynamics.activations import activate
from rankmath.linalg.masks import Mask
from rankmath.network import MLP, LayerNorm, Network
from rankmath.validation import Array, as_array, same_library


def check_input(net: Network, X: Any) -> Array:
    """X as a float64 array (..., n, d) that fits the network."""
    if not isinstance(net, Network):
        raise ValueError(f"net: a {type(net).__name__} given; a rankmath.Network is needed")
    X = as_array("X", X, min_ndim=2, shape=(None, net.dim))
    same_library(X=X, W=net.value)
    n = int(X.shape[-2])
    if isinstance(net.mask, Mask) and net.mask.n != n:
        raise ValueError(f"X: {n} tokens given; the network's mask is for {net.mask.n}")
    return X


def forward(net: Network, X: Any) -> Array:
    """The network's output by the definition, float64: loses the residual once it is 1e-16 of the mean.

    Examples
    --------
    >>> from rankmath.network import Network
    >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0)
    >>> forward(net, net.random_input(seed=1)).shape
    (4, 3)
    """
    X = check_input(net, X)
    A = Float64(X)
    mask = net.mask_for(int(X.shape[-2]))
    for l in range(net.layers):
        # One head's matrix at a time: memory n², not H n².
        X = _layer(A, net, l, X, (_attention(A, net, l, h, X, mask) for h in range(net.heads)))
    return _in_range(A, X)


def _in_range(A: Float64, out: Array) -> Array:
    if not bool(A.xp.all(A.xp.isfinite(out))):
        raise ValueError("X: too large for the plain pass, whose logits overflow a double; `trace` takes it")
    return out


def attention_matrices(net: Network, X: Any) -> Array:
    """P^l_h of the whole network, (L, H, ..., n, n).

    Examples
    --------
    >>> from rankmath.network import Network
    >>> net = Network.random(tokens=4, dim=3, heads=2, layers=2, seed=0)
    >>> P = attention_matrices(net, net.random_input(seed=1))
    >>> P.shape, float(abs(P.sum(axis=-1) - 1).max()) < 1e-15
    ((2, 2, 4, 4), True)
    """
    X = check_input(net, X)
    A = Float64(X)
    return _in_range(A, A.xp.stack([A.xp.stack(matrices) for matrices, _ in layers_of(net, X)]))


def layers_of(net: Network, X: Array) -> Iterator[tuple[list[Array], Array]]:
    """Per layer: the H attention matrices and the tokens that come out."""
    A = Float64(X)
    mask = net.mask_for(int(X.shape[-2]))
    for l in range(net.layers):
        matrices = [_attention(A, net, l, h, X, mask) for h in range(net.heads)]
        X = _layer(A, net, l, X, matrices)
        yield matrices, X


def _attention(A: Float64, net: Network, l: int, h: int, X: Array, mask: Mask | None) -> Array:
    xp = A.xp
    keys = X if net.key is None else A.matmul(X, net.key[l, h, ...])
    logits = A.matmul(A.matmul(X, net.query[l, h, ...]), A.transpose(keys))
    if net.key_bias is not None:
        logits = logits + A.transpose(A.matmul(X, net.key_bias[l, h, ...][..., None]))
    logits = logits / math.sqrt(net.d_qk)
    if mask is not None:
        logits = xp.where(xp.asarray(mask.allowed), logits, -xp.inf)
    weights = A.exp_of_temporary(logits - A.max(logits, axis=-1))
    return weights / A.sum(weights, axis=-1)


def _layer(A: Float64, net: Network, l: int, X: Array, matrices: Iterable[Array]) -> Array:
    Y = net.skip * X if net.skip else 0.0
    for h, P in enumerate(matrices):
        V = A.matmul(P, A.matmul(X, net.value[l, h, ...]))
        Y = Y + (V if net.output is None else A.matmul(V, net.output[l, h, ...]))
    if net.bias is not None:
        Y = Y + net.bias[l, ...][..., None, :]
    f = net.mlp[l]
    if f is not None:
        Y = _mlp(A, f, Y)
    return Y if net.norm is None else layer_norm(A, net.norm, Y)


def _mlp(A: Float64, f: MLP, Y: Array) -> Array:
    hidden = A.matmul(Y, f.W_in)
    if f.b_in is not None:
        hidden = hidden + f.b_in
    out = A.matmul(activate(A, f.activation, hidden), f.W_out)
    if f.b_out is not None:
        out = out + f.b_out
    return out + Y if f.skip else out


def layer_norm(A: Any, norm: LayerNorm, Y: Array) -> Array:
    """One of the three LayerNorms, by the definition."""
    if norm.kind == "column":
        Y = Y - A.sum(Y, axis=-2) / Y.shape[-2]
        return Y / A.nonzero(A.sqrt(A.sum(Y * Y, axis=-2) / Y.shape[-2] + norm.floor))
    if norm.kind == "sphere":
        return _divided(A, norm, Y, A.sqrt(A.sum(Y * Y, axis=-1)))
    d = Y.shape[-1]
    Y = Y - A.sum(Y, axis=-1) / d
    Y = _divided(A, norm, Y, A.sqrt(A.sum(Y * Y, axis=-1) / d + norm.floor))
    Y = Y if norm.gain is None else Y * norm.gain
    return Y if norm.offset is None else Y + norm.offset


def _divided(A: Any, norm: LayerNorm, Y: Array, length: Array) -> Array:
    if A.any(length == 0):
        raise ValueError(f"X: a token is zero before LayerNorm {norm.kind!r}; it has no direction")
    return Y / length
