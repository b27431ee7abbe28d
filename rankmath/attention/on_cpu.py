"""Layers of attention alone on the CPU, and their input: `rankmath.kernels.compiled_network` given our arrays.

It does not take masks, position terms and factored weights, and stops before uneven attention, logits out of range
and a center that cancels. `attention_step` makes such a layer from arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.alone import LIMITS, attention_alone, given_to, through_layers, tokens_of
from rankmath.attention.fused import layer_plan
from rankmath.attention.tokens import Carried, Tokens
from rankmath.attention.weights import Weights
from rankmath.kernels.runs import Run
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import Array, Floats

if TYPE_CHECKING:
    from rankmath.kernels.compiled_network import LayerPlan

#: Multiply-adds of a call of several layers, some tenths of a second, because nobody can interrupt it.
AT_ONCE = 2**32
_NOTHING = np.empty((0, 3))


def _without_layers(A: Float64, X: Array) -> LayerPlan | None:
    """The plan of a run of no layers, which centres or measures tokens."""
    whole = isinstance(X, np.ndarray) and X.ndim == 2 and X.flags.c_contiguous
    return layer_plan(A, X.shape[0], X.shape[1], 1, 0) if whole else None


def centre_on_cpu(A: Float64, X: Array) -> Tokens | None:
    """`centre` in one call, or None where it needs a closer look."""
    plan = _without_layers(A, X)
    run = None if plan is None else plan.run(None, X, (), (), _NOTHING, LIMITS)
    return None if run is None or math.isnan(run.log[0, 0, 0]) else tokens_of(run)


def measured_on_cpu(A: Float64, x: Array, R: Array) -> Floats | None:
    """‖R‖_F, the largest distance of two rows, ‖x‖, in one call; None where that does not pay."""
    plan = _without_layers(A, R)
    if plan is None or not plan.measures:
        return None
    return plan.run(np.ascontiguousarray(x), R, (0.0,) * 4, (), _NOTHING, LIMITS, measure=True).log[0, 0, 4:]


def layer_on_cpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    R = tokens.residual
    if R.ndim != 2 or mask is not None:
        return None
    if carried is not None and (carried.tokens is not tokens or not isinstance(carried.apart, int)):
        return None
    plan = layer_plan(A, R.shape[0], R.shape[1], weights.attention.heads)
    if plan is None or weights.whole is None:
        return None
    skip = 0.0 if carried is None else carried.factor
    numbers = ((weights.heads[0].largest_query, weights.log_root, skip),)
    run = plan.run(*given_to(tokens), weights.whole, numbers, LIMITS)
    return tokens_of(run) if run.layers else None


def layers_on_cpu(A: Float64, net: Network, X: Array, *, measure: bool = True) -> Run | None:
    """All layers of a network of attention alone in one run; None for others."""
    alone = attention_alone(net) if isinstance(X, np.ndarray) and X.ndim == 2 else None
    if alone is None or alone.is_batch or (alone.is_masked and any(net.masks_for(len(X)).values())):
        return None
    n, d = X.shape
    plan = layer_plan(A, n, d, alone.heads, len(alone.arrays))
    if plan is None or (measure and not plan.measures):
        return None
    most = max(1, min(len(alone.arrays), AT_ONCE // (2 * alone.heads * n * (n + d) * d)))
    arrays, numbers = alone.arrays, alone.unmeasured
    first = (arrays, numbers) if most == len(arrays) else (arrays[:most], numbers[:most])
    run = plan.run(None, np.ascontiguousarray(X), (), *first, LIMITS, measure=measure)
    if math.isnan(run.log[0, 0, 0]):
        return None
    return through_layers(A, net, alone, run, numbers, plan, most, measure)
