"""The plain, textbook pass: what one would write first, and what the centred pass is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.activations import activate
from rankmath.attention.backend import Backend, on_backend
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, LayerNorm, Network
from rankmath.validation import Array, InvalidArgument, as_array, as_count, same_library


def check_input(net: Network, X: Any) -> Array:
    """X as a float64 array (..., n, d) that fits the network."""
    if not isinstance(net, Network):
        raise InvalidArgument(f"net: a {type(net).__name__} given; a rankmath.Network is needed")
    X = as_array("X", X, min_ndim=2, shape=(None, net.dim))
    same_library(X=X, W=net.value)
    n = int(X.shape[-2])
    if isinstance(net.mask, Mask) and net.mask.n != n:
        raise InvalidArgument(f"X: {n} tokens given; the network's mask is for {net.mask.n}")
    # A stack of networks with fewer axes of tokens: each takes the same ones.
    lead = net.query.shape[2:-2]
    try:
        shape = (*np.broadcast_shapes(lead, X.shape[:-2]), *X.shape[-2:])
    except ValueError:
        raise InvalidArgument(
            f"X: shape {tuple(X.shape)} given to a stack of networks of shape {tuple(lead)}; these do not match"
        ) from None
    return X if shape == X.shape else array_namespace(X).broadcast_to(X, shape)


def check_one_sequence(net: Network, X: Any, taker: str) -> Array:
    """`check_input` for what takes one network and one sequence (n, d)."""
    X = check_input(net, X)
    if net.query.ndim != 4:
        raise InvalidArgument(f"net: a stack of networks given; {taker} takes one network")
    if X.ndim != 2:
        raise InvalidArgument(f"X: shape {tuple(X.shape)} given; {taker} takes one sequence (n, d)")
    return X


def forward(net: Network, X: Any, *, backend: Backend | None = None, memory: int | None = None) -> Array:
    """The network's output by the definition, float64: loses the residual once it is 1e-16 of the mean.

    Parameters
    ----------
    net : the network.
    X : tokens, (..., n, d).
    backend : "numpy" or "cupy" copies the network and X there first; None runs where they are.
    memory : bytes that blocks of the n × n logits may take; unless given, what suits the cache, or on a GPU a part
        of what is free.

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0)
    >>> forward(net, net.random_input(seed=1)).shape
    (4, 3)
    """
    X = check_input(net, X)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    A = Float64(X, memory=None if memory is None else as_count("memory", memory))
    mask = net.mask_for(int(X.shape[-2]))
    for l in range(net.layers):
        # One head at a time: memory n² or less, not H n².
        values = (A.matmul(X, net.value[l, h, ...]) for h in range(net.heads))
        X = _layer(A, net, l, X, (attend(A, net, l, h, X, mask, V) for h, V in enumerate(values)))
    return in_range(A, X)


def in_range(A: Float64, out: Array) -> Array:
    """`out`, or a ValueError if something has overflowed on the way to it."""
    if not bool(A.xp.all(A.xp.isfinite(out))):
        raise InvalidArgument("X: too large for the plain pass, whose logits overflow a double; `trace` takes it")
    return out


def attention_matrices(net: Network, X: Any, *, backend: Backend | None = None) -> Array:
    """P^l_h of the whole network, (L, H, ..., n, n).

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=4, dim=3, heads=2, layers=2, seed=0)
    >>> P = attention_matrices(net, net.random_input(seed=1))
    >>> P.shape, float(abs(P.sum(axis=-1) - 1).max()) < 1e-15
    ((2, 2, 4, 4), True)
    """
    X = check_input(net, X)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    A = Float64(X)
    mask, layers = net.mask_for(int(X.shape[-2])), []
    for l in range(net.layers):
        layers.append([_attention(A, net, l, h, X, _keys(A, net, l, h, X), mask) for h in range(net.heads)])
        values = (A.matmul(X, net.value[l, h, ...]) for h in range(net.heads))
        X = _layer(A, net, l, X, (A.matmul(P, V) for P, V in zip(layers[l], values, strict=True)))
    return in_range(A, A.xp.stack([A.xp.stack(matrices) for matrices in layers]))


def attend(A: Float64, net: Network, l: int, h: int, X: Array, mask: Mask | None, V: Array) -> Array:
    """P^l_h V, in blocks of rows where P is larger than the arithmetic's budget."""
    n = int(X.shape[-2])
    rows = max(1, A.lone_entries // (n * math.prod(X.shape[:-2])))
    blocks = [slice(start, min(n, start + rows)) for start in range(0, n, rows)]
    keys = _keys(A, net, l, h, X)
    parts = [A.matmul(_attention(A, net, l, h, X, keys, mask, block), V) for block in blocks]
    return parts[0] if len(parts) == 1 else A.concat(parts, axis=-2)


def _keys(A: Float64, net: Network, l: int, h: int, X: Array) -> tuple[Array, Array | None]:
    """What the queries are multiplied with, (..., d_qk, n), and what is added for each key, (..., 1, n)."""
    keys = X if net.key is None else A.matmul(X, net.key[l, h, ...])
    if net.key_bias is None:
        return A.transpose(keys), None
    return A.transpose(keys), A.transpose(A.matmul(X, net.key_bias[l, h, ...][..., None]))


def _attention(
    A: Float64,
    net: Network,
    l: int,
    h: int,
    X: Array,
    keys: tuple[Array, Array | None],
    mask: Mask | None,
    block: slice = slice(None),
) -> Array:
    """The rows of P^l_h that `block` picks."""
    logits = A.matmul(A.matmul(X[..., block, :], net.query[l, h, ...]), keys[0])
    if keys[1] is not None:
        logits = logits + keys[1]
    # In place from here on: another n × n matrix costs more to fetch than to fill.
    logits = A.quotient_of_temporary(logits, math.sqrt(net.d_qk))
    if mask is not None:
        logits = A.hide(mask.allowed[block, :], logits)
    weights = A.exp_of_temporary(A.difference_of_temporary(logits, A.max(logits, axis=-1)))
    return A.quotient_of_temporary(weights, A.sum(weights, axis=-1))


def _layer(A: Float64, net: Network, l: int, X: Array, averages: Iterable[Array]) -> Array:
    """The layer from the averages P_h X value_h of its heads."""
    Y = net.skip * X if net.skip else 0.0
    for h, V in enumerate(averages):
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
        raise InvalidArgument(f"X: a token is zero before LayerNorm {norm.kind!r}; it has no direction")
    return Y / length
