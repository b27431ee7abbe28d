"""Layers of attention alone on the CPU, and their input: `rankmath.arithmetic.compiled_layer` given our arrays.

What it does not take (masks, position terms, factored weights), and what stops it (uneven attention, logits out of
range or below rounding, a center that cancels), `attention_step` makes as everywhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.scales import LogScale, moved
from rankmath.attention.close import LINEAR_LOG
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.tokens import LOG_ZERO, SAFE_LOG, SUSPICIOUS, Carried, Tokens
from rankmath.attention.weights import Weights
from rankmath.linalg.masks import Mask
from rankmath.validation import Array

if TYPE_CHECKING:
    from rankmath.arithmetic.compiled_layer import Made

_LOG_2 = math.log(2.0)


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
    return _tokens(made, grown, shrunk, 0.0, max((parts - shrunk) / _LOG_2, 0.0))


def _tokens(made: Made, xi: float, mantissa: float, exponent: float, lost: float) -> Tokens:
    units = np.array((xi, mantissa, exponent, lost)).reshape(4, 1, 1)
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
    mantissa, exponent = (float(a.item()) for a in (tokens.log_residual.mantissa, tokens.log_residual.exponent))
    xi, sigma = float(tokens.log_center.item()), mantissa if not exponent else math.copysign(math.inf, mantissa)
    skip, root = 0.0 if carried is None else carried.factor, weights.log_root
    log_E, size = 2 * sigma - root, 2.0 * R.shape[1] ** 2 * weights.heads[0].largest_query
    if not (max(log_E, xi + sigma - root) < SAFE_LOG and size < math.inf):
        return None
    thin = log_E + math.log(size or 1.0) <= LINEAR_LOG
    # Units of what the heads add: of the tokens themselves, but below rounding that of the logits is left out.
    falling, rising = min(2 * sigma, 0.0), max(2 * sigma, 0.0)
    if carried is None and (thin or sigma < 0):
        moved_by = rising - root if thin else -falling
        mantissa, exponent = moved(mantissa, exponent, 3.0 if sigma < 0 else 1.0, moved_by)
    seen, shift = max(xi, sigma), mantissa if not exponent else -math.inf
    unit = max(seen, shift, *([] if weights.bias is None else [0.0]))
    log_scale, of_thin = (0.0, math.exp(log_E) if skip else 1.0) if thin else (log_E, -1.0)
    logs = (log_scale, xi + sigma - root, sigma - root, xi - seen, sigma - seen)
    scale, *factors = [math.exp(log) for log in logs]
    limits = ((SAFE_LOG / scale) ** 2, math.exp(UNEVEN_LOG))
    sums = [math.exp(seen - unit), 0.0 if weights.bias is None else math.exp(-unit)]
    sums += [skip * math.exp(xi - unit), math.exp(shift - unit)]
    x, R = (a if a.flags.c_contiguous else a.copy() for a in (tokens.center, R))
    made = plan.run(x, R, weights.whole, (scale, *limits, *factors, of_thin, skip, *sums))
    if made is None or not made.size_of_center > SUSPICIOUS:
        return None
    parts = max(math.log(size) if size else LOG_ZERO for size in (made.size_of_parts, abs(skip)))
    shrunk = math.log(made.size_of_residual) if made.size_of_residual else -math.inf
    lost = max(np.asarray(tokens.lost_bits).item(), (parts - max(shrunk, LOG_ZERO)) / _LOG_2)
    return _tokens(made, unit + math.log(made.size_of_center), *moved(mantissa, exponent, 1.0, shrunk), lost)
