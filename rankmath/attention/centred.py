"""The centred layer step, written once for every arithmetic.

Tokens are held as X = 1xᵀ + R and never added up. Each head sees them as P R = 1·common + deviation, the deviation
formed without subtracting the mean: R' = λR + Σ_h Q_h R W_h is as accurate as R. In float64, E is e^{2σ} times a
matrix of moderate size, and Q R is e^{3σ} times one (`tokens`, on units).
"""

from __future__ import annotations

import math
from functools import partial
from typing import TypeAlias

from rankmath.arithmetic.protocol import System
from rankmath.attention.common import CommonView
from rankmath.attention.maps import mlp_step, norm_step
from rankmath.attention.on_cpu import layer_on_cpu
from rankmath.attention.on_gpu import layer_on_gpu
from rankmath.attention.placed import Placed, PlacedView
from rankmath.attention.tokens import (
    LARGEST_LOG,
    LOG_ZERO,
    SAFE_LOG,
    Carried,
    Scale,
    Scaled,
    Tokens,
    carried_past,
    grown_by,
    log_of,
    over_heads,
    recentred,
    scaled_sum,
    sum_in_larger_unit,
)
from rankmath.attention.views import Logits
from rankmath.attention.weights import Head, Sizes, Weights, stacks_heads, weights_of
from rankmath.linalg.masks import Mask
from rankmath.model.network import Attention, Sublayer
from rankmath.validation import Array

View: TypeAlias = CommonView | PlacedView


def sublayer_step(
    A: System,
    sublayer: Sublayer,
    tokens: Tokens,
    masks: dict[int, Mask | None],
    sizes: Sizes | None = None,
    *,
    closely: bool = False,
) -> Tokens:
    """after(skip·X + map(before(X))) in centred form; `sizes` of the weights where they are known; `closely`: no
    compiled layer may stand."""
    inner = tokens if sublayer.before is None else norm_step(A, sublayer.before, tokens)
    carried = None if not sublayer.skip else carried_past(A, sublayer.skip, tokens, inner)
    if isinstance(sublayer.map, Attention):
        attention, R = sublayer.map, tokens.residual
        stacked = stacks_heads(A, attention, R)
        weights = weights_of(A, attention, stacked=stacked, batch_axes=R.ndim - 2, sizes=sizes)
        out = attention_step(A, weights, inner, masks[id(attention)], carried, closely=closely)
    elif sublayer.map is not None:
        out = mlp_step(A, sublayer.map, inner, carried)
    elif sublayer.skip == 1:
        out = tokens
    else:
        center, (R, _) = Carried(sublayer.skip, tokens).terms(A)
        out = recentred(A, center, R, tokens.log_residual, tokens.lost_bits)
    return out if sublayer.after is None else norm_step(A, sublayer.after, out)


def attention_step(
    A: System,
    weights: Weights,
    tokens: Tokens,
    mask: Mask | None,
    carried: Carried | None = None,
    *,
    closely: bool = False,
) -> Tokens:
    """Σ_h P_h X W_h + 1bᵀ, and what a skip carries past it, in centred form; `closely`: by no compiled layer."""
    if not A.unbounded and not closely:
        made = (layer_on_gpu if A.on_gpu else layer_on_cpu)(A, weights, tokens, mask, carried)
        if made is not None:
            return made
    scale, alone = Scale.of(A, tokens), carried is None
    centers: list[Scaled] = []
    total: Scaled | None = None
    log_parts, apart, lost_bits, log_residual = LOG_ZERO, 0, tokens.lost_bits, tokens.log_residual
    if carried is not None:
        center, total = carried.terms(A)
        centers, log_parts, apart = [center], carried.log_parts, carried.apart
        log_residual = carried.tokens.log_residual
    if carried is not None and not A.unbounded:
        lost_bits = A.units.maximum(lost_bits, carried.tokens.lost_bits)
    stack: Scaled | None = None
    tasks = [partial(_head_terms, A, head, tokens, scale, mask, alone, apart) for head in weights.heads]
    entries = weights.attention.heads * tokens.residual.shape[-2] * math.prod(tokens.residual.shape[:-1])
    order: Array = None
    for image, term, log_doubt, log_size, order in A.in_turn(tasks, entries):  # noqa: B007 (the heads share it)
        if not A.unbounded:
            if weights.stacked:
                stack = term
                image, term = over_heads(A, image), over_heads(A, term)
                log_doubt = A.units.max(log_doubt + 0.0 * stack[1], axis=0)
            log_parts = A.units.maximum(A.units.maximum(log_doubt, log_size), log_parts)
        centers.append(image)
        # One head's term at a time, or a few: no H n × d numbers are held.
        if total is not None:
            if not A.unbounded and A.units.all(total[1] == term[1]):
                term = A.sum_with_temporary(total[0], term[0]), term[1]
            else:
                term = scaled_sum(A, [total, term])
        total = term
    if weights.bias is not None:
        centers.append(weights.bias)
    assert total is not None
    R, log = total
    if A.unbounded:
        return recentred(A, scaled_sum(A, centers), R)
    if alone:
        # A view's unit is e^{2σ} where σ < 0: 3σ in all, the cubic rate itself.
        log_residual = log_residual.times(order)
    if stack is not None:
        stack = (stack[0], stack[1] - log)
    center = scaled_sum(A, centers)
    return recentred(A, center, R, log_residual.plus(log), lost_bits, log_parts - log, stack)


def _seen(A: System, x: Array, common: Array, scale: Scale) -> Scaled:
    """e^ξ x + e^σ common, x of size one and common, an average of rows of the residual, no larger."""
    terms = [(x, scale.xi), (common, scale.sigma)]
    return scaled_sum(A, terms) if A.unbounded else sum_in_larger_unit(A, *terms)


def _head_terms(
    A: System, head: Head, tokens: Tokens, scale: Scale, mask: Mask | None, alone: bool, apart: Array
) -> tuple[Scaled, Scaled, Array, Array, Array]:
    """What one head adds to center and residual, how far rounding reaches, the size of the latter, and its order.

    `alone`: heads make the residual without a skip, and their common unit e^{2σ} is left out; otherwise the unit of
    the residual is that of what a skip carries, e^−apart times the tokens' own.
    """
    view = view_of(A, head, tokens, scale, mask)
    values = A.matmul(view.spread, head.value)
    # The large product first: a GPU is busy with it while the rest is prepared.
    out, log_out = view.deviation(values)
    unit = head.log_value + (0 if alone else view.log_unit + apart)
    log_doubt = view.log_doubt(values, (out, log_out)) + unit
    out = out if head.output is None else A.matmul(out, head.output)
    seen, log_seen = _seen(A, tokens.center, view.common, scale)
    image = (_through(A, seen, head), log_seen + head.log_value)
    log_size: Array = LOG_ZERO
    if not A.unbounded and out.ndim == tokens.residual.ndim:  # all heads at once are measured later
        log_size = A.log(A.largest(out)) + log_out + unit
    return image, (out, log_out + unit), log_doubt, log_size, view.order


def _through(A: System, v: Array, head: Head) -> Array:
    """v W."""
    v = A.matmul(v, head.value)
    return v if head.output is None else A.matmul(v, head.output)


def view_of(A: System, head: Head, tokens: Tokens, scale: Scale, mask: Mask | None) -> View:
    """One head as the tokens see it."""
    x, R, d_qk = tokens.center, tokens.residual, head.attention.d_qk
    g = A.matmul(x, head.query)
    if head.key is not None:
        g = A.matmul(g, A.transpose(head.key))
    pull = [(g, scale.xi + head.log_logits)]
    if head.key_bias is not None:
        pull.append((A.transpose(head.key_bias[0]), head.key_bias[1]))
    g, log_g = scaled_sum(A, pull)  # x W_QK + kᵀ
    placed = Placed.of(head, mask, R.shape[-2])
    support = None if mask is None or placed is not None else mask.common_support
    scores = A.middle(A.matmul(R, A.transpose(g)))
    # All rows can attend to one token alone only if all see it: then j* must be that token.
    seen = None if mask is None else mask.seen_by_all if support is None else support
    if seen is not None:
        scores = A.hide(seen[:, None], scores)
    pivot, D = A.relative_to_largest(scores, R)
    c, right = A.matmul(D, A.transpose(g)), D if head.key is None else A.matmul(D, head.key)
    unit: Array = 1.0
    if A.unbounded:
        per_root = 1 / A.sqrt(A.asarray(A.constant(d_qk)))
        c = c * per_root
        logits = Logits(A, scores, scale, A.matmul(R, head.query * per_root), right, head.log_logits, 0)
    else:
        left, log_root = A.matmul(R, head.query), math.log(d_qk) / 2
        log_logits = head.log_logits - log_root
        log_c, log_bound = log_of(A, A.largest(c)), log_of(A, A.longest(left) * A.longest(right))
        log_unit = scale.sigma + log_g - log_root
        log_size = A.units.maximum(log_c + log_unit, log_bound + 2 * scale.sigma + log_logits)
        # By which logarithm c and E must shrink, both alike, to stay in the range of a double.
        excess = A.units.maximum(log_size - LARGEST_LOG, 0.0)
        log_unit = log_unit - excess
        if placed is not None or float(A.units.max(log_unit)) > SAFE_LOG:
            c = grown_by(A, c, log_unit, log_c)
        else:
            unit = A.exp(log_unit)
        logits = Logits(A, scores, scale, left, right, log_logits - excess, log_bound)
    if placed is not None:
        return PlacedView(logits, c, placed, pivot, D)
    return CommonView.of(logits, c, unit, support, pivot, D)
