"""A layer of attention alone on a GPU with one wait: `rankmath.arithmetic.cuda_layer` between units on the host.

What its kernels do not take (masks, position terms, factored weights, batches), and what their report
forbids (saturated attention, logits out of range, a center that cancels), `attention_step` makes as everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.close import LINEAR_LOG
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.tokens import HARDLY, LOG_ZERO, SAFE_LOG, SUSPICIOUS, Carried, Tokens
from rankmath.attention.weights import Weights
from rankmath.linalg.masks import Mask


def layer_on_gpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    if A.cuts_finely or not _plain(weights, tokens, mask, carried):
        return None
    from rankmath.arithmetic import cuda_layer

    head, x, R = weights.heads[0], tokens.center, tokens.residual
    d = R.shape[1]
    plan = cuda_layer.plan_here(R.shape[0], d, weights.attention.heads)
    if plan is None:
        return None
    xi, sigma = float(tokens.log_center.flat[0]), max(float(tokens.log_residual.to_float().flat[0]), LOG_ZERO)
    root = math.log(weights.attention.d_qk) / 2
    pull = xi if head.key_bias is None else max(xi, 0.0)  # unit of x W_QK + k
    log_E, log_unit = 2 * sigma - root, sigma + pull - root
    if max(log_E, log_unit) > SAFE_LOG:
        return None
    # |R W_QK| ≤ d max|W_QK| and |D| ≤ 2: where this is below rounding, so is E.
    thin = log_E + math.log(max(2.0 * d * d * head.largest_query, 1e-300)) <= LINEAR_LOG
    falling, rising = min(2 * sigma, 0.0), max(2 * sigma, 0.0)
    log_out = rising - root if thin else -falling
    scale = tokens.log_residual
    if carried is None:
        factor, of_out = 0.0, 1.0
        scale = scale.times(3.0 if sigma < 0 else 1.0).plus(log_out)
    else:
        factor, of_out = carried.factor, math.exp(log_out + falling)
    log_shift = max(float(scale.to_float().flat[0]), LOG_ZERO)
    unit = max(xi, sigma, log_shift, LOG_ZERO if weights.bias is None else 0.0)
    factors = {
        "unit": math.exp(log_unit),
        "of_pull": math.exp(xi - pull),
        "of_key": math.exp(-max(pull, 0.0)),
        "scale": 1.0 if thin else math.exp(log_E),
        "of_x": math.exp(xi - unit),
        "of_common": math.exp(sigma - unit),
        "of_out": of_out,
        "lambda": factor,
        "of_skip": factor * math.exp(xi - unit),
        "of_bias": 0.0 if weights.bias is None else math.exp(-unit),
        "of_shift": math.exp(log_shift - unit),
    }
    center, residual = A.xp.empty_like(x), A.xp.empty_like(R)
    arrays = {"x": x, "R": R, "query": head.query, "value": head.value, "center": center, "residual": residual}
    arrays |= {"key_bias": None if head.key_bias is None else head.key_bias[0]}
    arrays |= {"bias": None if weights.bias is None else weights.bias[0]}
    found = plan.run(arrays, factors, thin=thin)
    uneven = found.unevenness >= -UNEVEN_LOG
    if not (
        SUSPICIOUS < found.center < math.inf
        and 0 < found.residual < math.inf
        and found.unevenness <= SAFE_LOG
        and (thin or found.logit <= SAFE_LOG)
        and not (uneven and (thin or found.least_ratio < math.exp(-HARDLY)))
    ):
        return None
    parts = max(found.total, of_out * found.parts, of_out * found.values if uneven else 0.0, abs(factor))
    lost = math.log2(parts) - math.log2(found.residual)
    lost_bits = np.maximum(tokens.lost_bits, lost)
    log_center = np.full_like(tokens.log_center, unit + math.log(found.center))
    return Tokens(center, residual, log_center, scale.plus(math.log(found.residual)), lost_bits)


def _plain(weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None) -> bool:
    """Whether the kernels take it: one network, one sequence, full matrices near size one, no mask or positions."""
    head = weights.heads[0]
    added = [bias for bias in (head.key_bias, weights.bias) if bias is not None]
    arrays = (tokens.center, tokens.residual, head.query, head.value, *(array for array, _ in added))
    return (
        tokens.residual.ndim == 2
        and mask is None
        and len(weights.heads) == 1
        and weights.attention.query.ndim == 3
        and weights.attention.position is None
        and head.key is None
        and head.output is None
        and all(isinstance(log, int) for log in (head.log_logits, head.log_value, *(log for _, log in added)))
        and (carried is None or (carried.tokens is tokens and isinstance(carried.apart, int)))
        and all(a.flags.c_contiguous for a in arrays)
    )
