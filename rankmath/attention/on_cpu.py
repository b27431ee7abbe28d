"""Layers of attention alone on the CPU, and their input: `rankmath.arithmetic.compiled_layer` given our arrays.

What it does not take (masks, position terms, factored weights), and what stops it (uneven attention, logits out of
range or below rounding, a center that cancels), `attention_step` makes as everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.close import LINEAR_LOG
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.tokens import LOG_ZERO, SAFE_LOG, SUSPICIOUS, Carried, Tokens
from rankmath.attention.weights import Weights
from rankmath.linalg.masks import Mask
from rankmath.validation import Array


def centre_on_cpu(A: Float64, X: Array) -> Tokens | None:
    """`centre` in one call, or None where it needs a closer look."""
    plan = A.token_plan(X)
    if plan is None:
        return None
    made = plan.centre(X)
    sizes = made.size_of_center, made.size_of_residual, made.size_of_parts
    if not (min(sizes) > 1e-60 and max(sizes) < 1e59):  # so that X is not wild
        return None
    grown, shrunk, parts = (math.log(size) for size in sizes)
    units = [np.array([[a]]) for a in (grown, shrunk, 0.0, max((parts - shrunk) / math.log(2.0), 0.0))]
    return Tokens(made.center, made.residual, units[0], LogScale(units[1], units[2]), units[3])


def layer_on_cpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    R = tokens.residual
    if R.ndim != 2 or mask is not None:
        return None
    if carried is not None and (carried.tokens is not tokens or not isinstance(carried.apart, int)):
        return None
    plan = A.layer_plan(R.shape[0], R.shape[1], weights.attention.heads)
    if plan is None or weights.whole is None:
        return None
    scale, xi = tokens.log_residual, float(tokens.log_center.item())
    sigma = float(scale.mantissa.item()) if not scale.exponent.item() else -math.inf
    skip, root = 0.0 if carried is None else carried.factor, weights.log_root
    log_E, size = 2 * sigma - root, 2.0 * R.shape[1] ** 2 * weights.heads[0].largest_query
    # Below rounding products are thin; far from size one other ways are needed.
    if not (log_E + math.log(size or 1.0) > LINEAR_LOG and -SAFE_LOG < log_E < SAFE_LOG and size < math.inf):
        return None
    if not (xi + sigma - root < SAFE_LOG and abs(xi - sigma) < SAFE_LOG / 2):
        return None
    falling = min(2 * sigma, 0.0)
    moved = scale.moved(3.0, -falling) if carried is None and sigma < 0 else scale
    seen, shift = max(xi, sigma), float(moved.mantissa.item())
    logs = [seen, *([0.0] if weights.bias is not None else []), *([xi] if skip else []), shift]
    unit = max(logs)
    if unit - min(logs) > SAFE_LOG / 2:
        return None
    factors = [math.exp(log) for log in (log_E, xi + sigma - root, sigma - root, xi - seen, sigma - seen)]
    limits = ((SAFE_LOG / factors[0]) ** 2, math.exp(UNEVEN_LOG))
    sums = [math.exp(seen - unit), 0.0 if weights.bias is None else math.exp(-unit)]
    sums += [skip * math.exp(xi - unit), math.exp(shift - unit)]
    x, R = (a if a.flags.c_contiguous else a.copy() for a in (tokens.center, R))
    made = plan.run(x, R, weights.whole, (factors[0], *limits, *factors[1:], skip, *sums))
    if made is None or not made.size_of_center > SUSPICIOUS:
        return None
    parts = max(math.log(size) if size else LOG_ZERO for size in (made.size_of_parts, abs(skip)))
    shrunk = math.log(made.size_of_residual) if made.size_of_residual else -math.inf
    lost = max(np.asarray(tokens.lost_bits).item(), (parts - max(shrunk, LOG_ZERO)) / math.log(2.0))
    log_center = np.array([[unit + math.log(made.size_of_center)]])
    return Tokens(made.center, made.residual, log_center, moved.moved(1.0, shrunk), np.array([[lost]]))
