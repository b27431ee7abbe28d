"""Layers of attention alone on a GPU with one wait for all: `rankmath.arithmetic.cuda_layer` given our arrays.

What its kernels do not take (masks, position terms, factored weights), and what stops them (saturated attention,
logits out of range, a center that cancels), `attention_step` makes as everywhere. A batch of networks stops as one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.close import LINEAR_LOG
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.tokens import HARDLY, LOG_ZERO, SAFE_LOG, SUSPICIOUS, Carried, Tokens, is_wild
from rankmath.attention.weights import Sizes, Weights, sizes_of
from rankmath.linalg.masks import Mask
from rankmath.model.network import Attention, Network
from rankmath.validation import Array, Floats

if TYPE_CHECKING:
    from rankmath.arithmetic.cuda_layer import Record, Run

_LIMITS = {
    "log_zero": LOG_ZERO,
    "safe_log": SAFE_LOG,
    "linear_log": LINEAR_LOG,
    "hardly": HARDLY,
    "suspicious": SUSPICIOUS,
    "uneven_log": UNEVEN_LOG,
}


def layer_on_gpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    R = tokens.residual
    if not weights.is_plain or mask is not None or A.cuts_finely or not _fits(weights.attention, R):
        return None
    if carried is not None and (carried.tokens is not tokens or not isinstance(carried.apart, int)):
        return None
    from rankmath.arithmetic import cuda_layer

    plan = cuda_layer.plan_here(R.shape, weights.attention.heads)
    if plan is None:
        return None
    head, skip = weights.heads[0], 0.0 if carried is None else carried.factor
    biases = [None if bias is None else bias[0] for bias in (head.key_bias, weights.bias)]
    root = math.log(weights.attention.d_qk) / 2
    record = (head.query, head.value, *biases, head.largest_query, root, skip)
    run = plan.run(*_given(A, tokens), [record], _LIMITS)
    return _tokens(run) if run.layers else None


def _fits(attention: Attention, R: Array) -> bool:
    """One network, or one axis of them; the weights are those of all, or each network's own."""
    return R.ndim <= 3 and attention.query.shape[1:-2] in ((), R.shape[:-2])


def layers_on_gpu(A: Float64, net: Network, X: Array, *, measure: bool = True) -> tuple[Floats, Tokens] | None:
    """All layers of networks of attention alone: `Run.log` of all, and the last tokens; None where they are not."""
    from rankmath.arithmetic import cuda_layer
    from rankmath.attention.centred import sublayer_step

    records = _records(A, net, X)
    if records is None:
        return None
    plan = cuda_layer.plan_here(X.shape, net.attentions[0].heads)
    tokens = None if plan is None else centre_on_gpu(A, X)
    if plan is None or tokens is None:
        return None
    rows: list[Floats] = []
    l, at_once, masks = 0, len(records), net.masks_for(int(X.shape[-2]))
    while True:
        given = records[l : l + at_once]
        run = plan.run(*_given(A, tokens), given, _LIMITS, measure=measure)
        l += run.layers
        tokens = _tokens(run) if run.layers else tokens
        if l == len(records):
            return np.concatenate([*rows, run.log], axis=1), tokens
        if X.ndim > 2:
            return None
        rows.append(run.log[:, :-1])
        if run.layers == len(given):
            at_once *= 2
            continue
        rows.append(run.log[:, -1:])
        tokens = sublayer_step(A, net.sublayers[l][0], tokens, masks)
        l, at_once = l + 1, 1


def forward_on_gpu(A: Float64, net: Network, X: Array) -> Array | None:
    """The last tokens as they are, e^ξ 1x + e^σ R."""
    made = layers_on_gpu(A, net, X, measure=False)
    if made is None:
        return None
    tokens = made[1]
    logs = np.stack([tokens.log_center, tokens.log_residual.to_float()])
    if logs.max() > SAFE_LOG:
        return None
    of_x, of_R = np.exp(logs).ravel().tolist() if X.ndim == 2 else A.xp.asarray(np.exp(logs))
    return of_x * tokens.center + of_R * tokens.residual


def centre_on_gpu(A: Float64, X: Array) -> Tokens | None:
    """`centre` of sequences of ordinary size, with one wait; None otherwise."""
    from rankmath.arithmetic import cuda_layer

    plan = cuda_layer.plan_here(X.shape, 0)
    if plan is None:
        return None
    first = X[..., :1, :]
    center, residual = plan.memory(first.shape), plan.memory(X.shape)
    arrays = {"x": A.xp.ascontiguousarray(first), "R": X - first, "center": center, "residual": residual}
    sizes = plan.centre(arrays, {"of_out": 1.0, "lambda": 1.0, "of_skip": 1.0, "of_shift": 1.0})
    if not ((sizes[:, :2] > 1e-60) & (sizes[:, :2] < 1e60)).all():
        return None
    x, R, before = sizes.T.reshape(3, *X.shape[:-2], 1, 1)
    return Tokens(center, residual, np.log(x), LogScale.of(np.log(R)), np.maximum(0.0, np.log2(before / R)))


def _records(A: Float64, net: Network, X: Array) -> list[Record] | None:
    """The weights of every layer as the kernels take them, or None."""
    layers = [layer[0] for layer in net.sublayers if len(layer) == 1]
    if A.cuts_finely or len(layers) != net.layers or not layers:
        return None
    heads, masks = {attention.heads for attention in net.attentions}, net.masks_for(int(X.shape[-2]))
    plain = all(s.before is None and s.after is None and isinstance(s.map, Attention) for s in layers)
    if not plain or len(heads) != 1 or any(mask is not None for mask in masks.values()):
        return None
    if not all(_is_plain(attention) and _fits(attention, X) for attention in net.attentions):
        return None
    sizes = sizes_of(A, net)
    if is_wild(np.concatenate([to_numpy(size).ravel() for size in sizes.values()])).any():
        return None
    return [
        _record(attention, sizes, sublayer.skip) for attention, sublayer in zip(net.attentions, layers, strict=True)
    ]


def _is_plain(attention: Attention) -> bool:
    """Full matrices, in one piece."""
    arrays = [attention.query, attention.value, attention.key_bias, attention.bias]
    factored = attention.position, attention.key, attention.output
    return all(part is None for part in factored) and all(a is None or a.flags.c_contiguous for a in arrays)


def _record(attention: Attention, sizes: Sizes, skip: float) -> Record:
    weights = attention.query, attention.value, attention.key_bias, attention.bias
    return (*weights, float(sizes[id(attention), "query"].max()), math.log(attention.d_qk) / 2, float(skip))


def _given(A: Float64, tokens: Tokens) -> tuple[Array, Array, Floats | tuple[float, ...]]:
    sigma, batch = tokens.log_residual, tokens.residual.shape[:-2]
    units = [tokens.log_center, sigma.mantissa, sigma.exponent, np.asarray(tokens.lost_bits)]
    arrays = A.xp.ascontiguousarray(tokens.center), A.xp.ascontiguousarray(tokens.residual)
    if not batch:
        return *arrays, tuple(a.item() for a in units)
    return *arrays, np.stack([np.broadcast_to(to_numpy(a), (*batch, 1, 1))[:, 0, 0] for a in units], axis=-1)


def _tokens(run: Run) -> Tokens:
    batch = run.residual.shape[:-2]
    xi, mantissa, exponent, lost = run.log[:, -1, :4].T.reshape(4, *batch, 1, 1)
    return Tokens(run.center, run.residual, xi, LogScale(mantissa, exponent), lost)
