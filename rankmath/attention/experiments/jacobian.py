"""The norm of a layer's derivative: how much a small change of the tokens can grow in one layer."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from scipy.sparse import linalg

from rankmath.attention.experiments.gradients import Var, gelu, gradients, layer_norm, softmax
from rankmath.attention.plain import check_one_sequence, hidden_states
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.validation import ArrayLike, Floats, InvalidArgument

# A step so small that the square of it is nothing: the imaginary part is the derivative, without a difference.
_STEP = 1e-30


def jacobian_norms(net: Network, X: ArrayLike, *, seed: int = 0) -> Floats:
    """‖∂X^{l+1}/∂X^l‖₂ of every layer, (L,): the largest singular value of an nd × nd matrix that is never formed.

    Products with it are complex steps, products with its transpose our gradients; Lanczos does the rest. Float64.

    >>> net = Network.random(tokens=2, dim=1, layers=1, seed=0)
    >>> W = float(net.W[0, 0, 0, 0])
    >>> found = float(jacobian_norms(net, [[0.0], [0.0]])[0])      # at X = 0 attention averages: J = W·11ᵀ/2
    >>> abs(found - abs(W)) < 1e-12
    True
    """
    X = check_one_sequence(net, X, "jacobian_norms")
    masks = net.masks_for(len(X))
    states = hidden_states(net, X)[:-1]
    return np.asarray([_norm(layer, state, masks, seed) for layer, state in zip(net.sublayers, states, strict=True)])


def _norm(layer: tuple[Sublayer, ...], X: Floats, masks: dict[int, Mask | None], seed: int) -> float:
    def through(value: Floats) -> tuple[Var, Var]:
        first = last = Var(value)
        for sublayer in layer:
            last = _applied(sublayer, last, masks)
        return first, last

    def forward(v: Floats) -> Floats:
        return np.asarray(through(X + 1j * _STEP * v.reshape(X.shape))[1].value.imag / _STEP).ravel()

    def back(u: Floats) -> Floats:
        first, last = through(X)
        return gradients((last * u.reshape(X.shape)).sum(), [first])[0].ravel()

    size = X.size
    if size == 1:
        return abs(float(forward(np.ones(1))[0]))
    operator = linalg.LinearOperator((size, size), matvec=forward, rmatvec=back, dtype=float)
    if size <= 8:  # Lanczos needs room
        return float(np.linalg.norm(operator @ np.eye(size), 2))
    start = np.random.default_rng(seed).standard_normal(size)
    return float(linalg.svds(operator, k=1, v0=start, return_singular_vectors=False, tol=1e-12)[0])


def _applied(sublayer: Sublayer, X: Var, masks: dict[int, Mask | None]) -> Var:
    """after(skip·X + behind(map(before(X)))) with what it was made of remembered."""
    Y = X if sublayer.before is None else _normed(sublayer.before, X)
    out: Var | None = X * sublayer.skip if sublayer.skip else None
    parts = [_attended(f, Y, masks[id(f)]) if isinstance(f, Attention) else _mapped(f, Y) for f in sublayer.maps]
    if parts:
        part = reduce(lambda a, b: a + b, parts)
        part = part if sublayer.behind is None else _normed(sublayer.behind, part)
        out = part if out is None else out + part
    out = X * 0.0 if out is None else out
    return out if sublayer.after is None else _normed(sublayer.after, out)


def _attended(attention: Attention, X: Var, mask: Mask | None) -> Var:
    n = X.shape[0]
    total: Var | None = None
    hidden = np.where(mask.allowed, 0.0, -1e300) if mask is not None else None
    for h in range(attention.heads):
        queries, keys = (_turned(attention, side, h, X) for side in (0, 1))
        logits = queries @ keys.T
        if attention.key_bias is not None:
            logits = logits + (X @ attention.key_bias[h][:, None]).T
        logits = logits * (1 / math.sqrt(attention.d_qk))
        if attention.softcap is not None:
            logits = _activated("tanh", logits * (1 / attention.softcap)) * attention.softcap
        if attention.position is not None:
            logits = logits + attention.position.block(h, 0, n, n)
        if hidden is not None:
            logits = logits + hidden
        out: Var = softmax(logits) @ (X @ attention.value[h])
        out = out if attention.output is None else out @ attention.output[h]
        total = out if total is None else total + out
    if total is None:
        raise InvalidArgument("net: an attention without heads given")
    return total if attention.bias is None else total + attention.bias


def _turned(attention: Attention, side: int, h: int, X: Var) -> Var:
    """Queries (side 0) or keys (side 1) of one head: projected, biased, normed, turned."""
    W, b = ((attention.query, attention.b_Q), (attention.key, attention.b_K))[side]
    rows = X if W is None else X @ W[h]
    rows = rows if b is None else rows + b[h]
    if attention.qk_norm is not None:
        gain: Floats = attention.qk_norm[0] if side == 0 else attention.qk_norm[1]
        if len(gain) != attention.query.shape[-1]:
            raise InvalidArgument("net: QK-norm of all heads at once given; its derivative is not offered")
        rows = _normed(LayerNorm("rms", attention.qk_norm[2], gain), rows)
    if attention.rotary is None:
        return rows
    n, k = rows.shape
    width = attention.rotary.width
    cos, sin, across = np.ones((n, k)), np.zeros((n, k)), np.zeros((k, k))
    cos[:, :width] = np.repeat(attention.rotary.cos[:n], 2, axis=1)
    sin[:, :width] = np.repeat(attention.rotary.sin[:n], 2, axis=1)
    for m in range(0, width, 2):
        across[m + 1, m], across[m, m + 1] = -1.0, 1.0
    return rows * cos + (rows @ across) * sin


def _mapped(f: MLP, X: Var) -> Var:
    inner = X @ f.W_in
    inner = inner if f.b_in is None else inner + f.b_in
    if f.W_gate is not None:
        gate = X @ f.W_gate
        inner = _activated(f.activation, gate if f.b_gate is None else gate + f.b_gate) * inner
    else:
        inner = _activated(f.activation, inner)
    out: Var = inner @ f.W_out
    out = out if f.b_out is None else out + f.b_out
    return out + X if f.skip else out


def _activated(name: str, a: Var) -> Var:
    x = a.value
    if name == "gelu":
        return gelu(a)
    if name == "relu":
        on = x.real > 0
        return Var(np.where(on, x, 0), ((a, lambda g: np.where(on, g, 0)),))
    if name == "tanh":
        t = np.tanh(x)
        return Var(t, ((a, lambda g: g * (1 - t * t)),))
    # x(1 + tanh g(x))/2, derivative (1 + t)/2 + x(1 − t²)g'/2.
    if name == "gelu_tanh":
        root = math.sqrt(2 / math.pi)
        inner, slope = root * (x + 0.044715 * x**3), root * (1 + 3 * 0.044715 * x * x)
    else:
        factor = {"silu": 0.5, "quick_gelu": 0.851}[name]
        inner, slope = factor * x, np.full_like(x, factor)
    t = np.tanh(inner)
    return Var(x * (1 + t) / 2, ((a, lambda g: g * ((1 + t) / 2 + x * (1 - t * t) * slope / 2)),))


def _normed(norm: LayerNorm, X: Var) -> Var:
    if norm.kind == "standard":
        out = layer_norm(X, norm.floor)
    elif norm.kind in ("rms", "sphere"):
        size = X.shape[-1] if norm.kind == "rms" else 1
        x = X.value
        root = np.sqrt((x * x).sum(axis=-1, keepdims=True) / size + norm.floor)
        y = x / root
        out = Var(y, ((X, lambda g: (g - y * (g * y).sum(axis=-1, keepdims=True) / size) / root),))
    else:
        raise InvalidArgument(f"net: LayerNorm {norm.kind!r} given; its derivative is not offered")
    out = out if norm.gain is None else out * norm.gain
    return out if norm.offset is None else out + norm.offset
