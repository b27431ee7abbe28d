"""A layer of attention alone on a GPU with one wait: `rankmath.arithmetic.cuda_layer` between units on the host.

What its kernels do not take (masks, position terms, factored weights, batches), and what their report
forbids (saturated attention, logits out of range, a center that cancels), `attention_step` makes as everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.close import LINEAR_LOG
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.tokens import HARDLY, LOG_ZERO, SAFE_LOG, SUSPICIOUS, Carried, Tokens
from rankmath.attention.weights import Weights
from rankmath.linalg.masks import Mask
from rankmath.validation import Array


def layer_on_gpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    R = tokens.residual
    if not weights.is_plain or R.ndim != 2 or mask is not None or A.cuts_finely:
        return None
    if not (R.flags.c_contiguous and tokens.center.flags.c_contiguous):
        return None
    if carried is not None and (carried.tokens is not tokens or not isinstance(carried.apart, int)):
        return None
    from rankmath.arithmetic import cuda_layer

    head, x = weights.heads[0], tokens.center
    d = R.shape[1]
    plan = cuda_layer.plan_here(R.shape[0], d, weights.attention.heads)
    if plan is None:
        return None
    xi, sigma = tokens.log_center.item(), max(tokens.log_residual.single(), LOG_ZERO)
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
        scale = scale.moved(3.0 if sigma < 0 else 1.0, log_out)
    else:
        factor, of_out = carried.factor, math.exp(log_out + falling)
    log_shift = max(scale.single(), LOG_ZERO)
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
    center, residual = plan.memory(x.shape), plan.memory(R.shape)
    arrays = {"x": x, "R": R, "query": head.query, "value": head.value, "center": center, "residual": residual}
    if head.key_bias is not None:
        arrays["key_bias"] = head.key_bias[0]
    if weights.bias is not None:
        arrays["bias"] = weights.bias[0]
    found = plan.run(arrays, factors, "thin" if thin else "fused")
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
    log_center = np.full((1, 1), unit + math.log(found.center))
    return Tokens(center, residual, log_center, scale.moved(1.0, math.log(found.residual)), lost_bits)


def centre_on_gpu(A: Float64, X: Array) -> Tokens | None:
    """`centre` of one sequence of ordinary size, with one wait; None otherwise."""
    from rankmath.arithmetic import cuda_layer

    plan = cuda_layer.plan_here(X.shape[0], X.shape[1], 0) if X.ndim == 2 else None
    if plan is None:
        return None
    first = X[:1]
    center, residual = plan.memory(first.shape), plan.memory(X.shape)
    arrays = {"x": A.xp.ascontiguousarray(first), "R": X - first, "center": center, "residual": residual}
    found = plan.run(arrays, {"of_out": 1.0, "lambda": 1.0, "of_skip": 1.0, "of_shift": 1.0}, "centre")
    if not all(1e-60 < size < 1e60 for size in (found.center, found.residual)):
        return None
    lost = max(0.0, math.log2(found.total / found.residual))
    logs = [np.full((1, 1), math.log(size)) for size in (found.center, found.residual)]
    return Tokens(center, residual, logs[0], LogScale.of(logs[1]), np.full((1, 1), lost))
