"""The centred layer step, written once for every arithmetic.

Tokens are held as X = 1xᵀ + R and never added up. Each head sees them as P R = 1·common + deviation, the deviation
formed without subtracting the mean: R' = λR + Σ_h Q_h R W_h is as accurate as R. In float64, E is e^{2σ} times a
matrix of moderate size, and Q R is e^{3σ} times one (`tokens`, on units).
"""

import math
from dataclasses import replace
from functools import partial, reduce
from typing import TypeAlias

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.attention.alone import layer_on_cpu, layer_on_gpu
from rankmath.attention.common import CommonView
from rankmath.attention.maps import mlp_step, norm_step
from rankmath.attention.placed import Placed, PlacedView, position_block
from rankmath.attention.rows import (
    Factors,
    Rows,
    capped_floats,
    capped_objects,
    factors_of,
    in_true_size,
    position_offsets,
)
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
    sum_of_tokens,
    times,
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
    fixed: bool = False,
) -> Tokens:
    """after(skip·X + behind(map(before(X)))) in centred form; `sizes` of the weights where they are known;
    `closely`: from arrays, by no compiled layer; `fixed`: the residual is that from the first token."""
    inner = tokens if sublayer.before is None else norm_step(A, sublayer.before, tokens)
    alone = len(sublayer.maps) == 1 and sublayer.behind is None
    # What a skip carries past one map is added where its residual is made; else tokens are added up.
    carried = carried_past(A, sublayer.skip, tokens, inner) if sublayer.skip and alone else None
    parts: list[Tokens] = []
    for f in sublayer.maps:
        if isinstance(f, Attention):
            stacked = stacks_heads(A, f, tokens.residual)
            weights = weights_of(A, f, stacked=stacked, batch_axes=tokens.residual.ndim - 2, sizes=sizes)
            parts.append(attention_step(A, weights, inner, masks[id(f)], carried, closely=closely, fixed=fixed))
        else:
            parts.append(mlp_step(A, f, inner, carried))
    if not parts:
        out = tokens if sublayer.skip == 1 else times(A, sublayer.skip, tokens)
    else:
        out = reduce(partial(sum_of_tokens, A), parts)
        out = out if sublayer.behind is None else norm_step(A, sublayer.behind, out)
        if sublayer.skip and not alone:
            out = sum_of_tokens(A, times(A, sublayer.skip, tokens), out)
    return out if sublayer.after is None else norm_step(A, sublayer.after, out)


def attention_step(
    A: System,
    weights: Weights,
    tokens: Tokens,
    mask: Mask | None,
    carried: Carried | None = None,
    *,
    closely: bool = False,
    fixed: bool = False,
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
    rows = None if weights.attention.is_bilinear else Rows.of(A, weights.attention, tokens)
    tasks = [partial(_head_terms, A, head, tokens, scale, mask, alone, apart, rows) for head in weights.heads]
    entries = weights.attention.heads * tokens.residual.shape[-2] * math.prod(tokens.residual.shape[:-1])
    order: Array | None = None
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
    return recentred(A, center, R, log_residual.plus(log), lost_bits, log_parts - log, stack, fixed=fixed)


def _seen(A: System, x: Array, common: Array, scale: Scale) -> Scaled:
    """e^ξ x + e^σ common, x of size one and common, an average of rows of the residual, no larger."""
    terms = [(x, scale.xi), (common, scale.sigma)]
    return scaled_sum(A, terms) if A.unbounded else sum_in_larger_unit(A, *terms)


def _head_terms(
    A: System, head: Head, tokens: Tokens, scale: Scale, mask: Mask | None, alone: bool, apart: Array, rows: Rows | None
) -> tuple[Scaled, Scaled, Array, Array, Array]:
    """What one head adds to center and residual, how far rounding reaches, the size of the latter, and its order.

    `alone`: heads make the residual without a skip, and their common unit e^{2σ} is left out; otherwise the unit of
    the residual is that of what a skip carries, e^−apart times the tokens' own.
    """
    view = view_of(A, head, tokens, scale, mask, rows)
    values = A.matmul(view.spread, head.value)
    # The large product first: a GPU is busy with it while the rest is prepared.
    out, log_out = view.deviation(values)
    unit = head.log_value + (0 if alone else view.log_unit + apart)
    log_doubt = view.log_doubt(values, (out, log_out)) + unit
    if not A.unbounded and rows is not None:  # bits that queries and keys have lost, the deviation has lost
        lost = view.logits.lost_bits * math.log(2.0)
        log_doubt = A.units.maximum(log_doubt, log_of(A, A.largest(out)) + log_out + unit + lost)
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


def view_of(A: System, head: Head, tokens: Tokens, scale: Scale, mask: Mask | None, rows: Rows | None = None) -> View:
    """One head as the tokens see it; `rows` are its queries and keys, where they are more than products."""
    attention, R = head.attention, tokens.residual
    n, position = R.shape[-2], attention.position
    placed = Placed.of(head, mask, n)
    support = None if mask is None or placed is not None else mask.common_support
    # All rows can attend to one token alone only if all see it: then j* must be that token.
    seen = None if mask is None else mask.seen_by_all if support is None else support
    if mask is not None and mask.first_alone:  # no average moves it, and differences from it keep their digits
        seen = np.arange(n) == 0
    B = None if position is None or placed is not None else position_block(position, head.place, 0, n, n, R.ndim + 1)
    first = None if B is None else A.transpose(A.asarray(B[..., :1, :]))
    if attention.is_bilinear:
        found = _bilinear(A, head, tokens, scale, seen, first)
    else:
        assert isinstance(head.place, int)
        rows = Rows.of(A, attention, tokens) if rows is None else rows
        queries, keys = rows.queries[head.place], rows.keys[head.place]
        found = factors_of(A, attention, queries, keys, scale, seen, first)
    relative = A.relative_to_largest(found.scores, R)
    if not A.unbounded:
        return _float_view(A, found, scale, placed, support, attention, B, relative)
    per_root = 1 / A.sqrt(A.asarray(A.constant(attention.d_qk)))
    c, left, right, offsets = found.column[0] * per_root, found.left[0] * per_root, found.right[0], None
    if attention.softcap is not None and placed is not None:
        common = A.matmul(left + found.reference[0] * per_root, A.transpose(found.pivot[0]))
        placed = replace(placed, common=common)
    elif attention.softcap is not None:
        c, offsets = capped_objects(A, attention.softcap, found, per_root)
        left, right = 0 * c, 0 * c
    if B is not None:
        of_c, of_E = position_offsets(A, B, found.scores)
        c, offsets = c + of_c, of_E if offsets is None else offsets + of_E
    logits = Logits(A, found.scores, left, right, 0, 0, 0, None if offsets is None else (offsets, 0))
    if placed is not None:
        return PlacedView(logits, c, placed, *relative)
    return CommonView.of(logits, c, 1.0, support, *relative)


def _bilinear(A: System, head: Head, tokens: Tokens, scale: Scale, seen: Array | None, added: Array | None) -> Factors:
    """c and E of logits that are products; j* is among the keys `seen`, and `added` to c counts."""
    x, R = tokens.center, tokens.residual
    g = A.matmul(x, head.query)
    if head.key is not None:
        g = A.matmul(g, A.transpose(head.key))
    pull = [(g, scale.xi + head.log_logits)]
    if head.key_bias is not None:
        pull.append((A.transpose(head.key_bias[0]), head.key_bias[1]))
    g, log_g = scaled_sum(A, pull)  # x W_QK + kᵀ
    scores = A.matmul(R, A.transpose(g))
    if added is not None:
        scores = added + in_true_size(A, scores, scale.sigma + log_g, head.attention.d_qk)
    scores = A.middle(scores)
    if seen is not None:
        scores = A.hide(seen[:, None], scores)
    D = A.relative_to_largest(scores, R)[1]
    column = A.matmul(D, A.transpose(g)), scale.sigma + log_g
    right = D if head.key is None else A.matmul(D, head.key)
    left = A.matmul(R, head.query), scale.sigma + head.log_logits
    return Factors(scores, column, left, (right, scale.sigma), head.log_logits)


def _float_view(
    A: Float64,
    found: Factors,
    scale: Scale,
    placed: Placed | None,
    support: Array | None,
    attention: Attention,
    B: Array | None,
    relative: tuple[Array, Array],
) -> View:
    """The view with units: c and E in the range of a double, whatever the logits are."""
    (left, log_left), (right, log_right), log_root = found.left, found.right, math.log(attention.d_qk) / 2
    (c, log_unit), unit, offsets = found.column, 1.0, None
    log_c, log_bound = log_of(A, A.largest(c)), log_of(A, A.longest(left) * A.longest(right))
    log_unit, log_E = log_unit - log_root, log_left + log_right - log_root
    # By which logarithm c and E must shrink, both alike, to stay in the range of a double.
    excess = A.units.maximum(A.units.maximum(log_c + log_unit, log_bound + log_E) - LARGEST_LOG, 0.0)
    log_unit, squares = log_unit - excess, found.log_weights is not None and B is None
    falling = scale.falling if squares else 0.0 * scale.falling
    log_rest = (scale.rising + found.log_weights if squares else log_left + log_right) - log_root - excess
    if attention.softcap is not None and placed is not None:
        both, log = scaled_sum(A, [found.left, found.reference])
        common = A.matmul(both, A.transpose(found.pivot[0]))
        placed = replace(placed, common=in_true_size(A, common, log + found.pivot[1], attention.d_qk))
    elif attention.softcap is not None:
        c, offsets = capped_floats(A, attention.softcap, found, log_root)
        left, right, log_unit = 0 * c, 0 * c, 0.0 * log_unit
        log_rest, log_c = LOG_ZERO / 2 + log_unit, log_of(A, A.largest(c))
    if placed is not None or B is not None or float(A.units.max(log_unit)) > SAFE_LOG:
        c = grown_by(A, c, log_unit, log_c)
    else:
        unit = A.exp(log_unit)
    if B is not None:
        of_c, of_E = position_offsets(A, B, found.scores)
        c, added = c + of_c * A.factor(A.exp(-excess)), (of_E, -excess)
        offsets = added if offsets is None else scaled_sum(A, [offsets, added])
    logits = Logits(A, found.scores, left, right, falling, log_rest, log_bound, offsets, found.lost_bits)
    if placed is not None:
        return PlacedView(logits, c, placed, *relative)
    return CommonView.of(logits, c, unit, support, *relative)
