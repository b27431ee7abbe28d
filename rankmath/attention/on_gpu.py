"""Layers of attention alone on a GPU with one wait for all: `rankmath.kernels.cuda_layer` given our arrays.

What its kernels do not take (masks, position terms, factored weights), and what stops them (saturated attention,
logits out of range, a center that cancels), `attention_step` makes as everywhere. A batch of networks stops as one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.alone import LIMITS, AttentionAlone, attention_alone, given_to, through_layers, tokens_of
from rankmath.attention.tokens import Carried, Tokens, is_wild
from rankmath.attention.weights import Weights, matrices_of
from rankmath.kernels.runs import Run
from rankmath.linalg.masks import Mask
from rankmath.model.network import Attention, Network
from rankmath.validation import Array, Floats

if TYPE_CHECKING:
    from rankmath.kernels.cuda_layer import Plan

_NOTHING = np.empty((0, 3))


def layer_on_gpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    R = tokens.residual
    if not weights.is_plain or mask is not None or A.cuts_finely or not _fits(weights.attention, R):
        return None
    if carried is not None and (carried.tokens is not tokens or not isinstance(carried.apart, int)):
        return None
    plan: Plan | None = _on_gpu().plan_here(R.shape, weights.attention.heads)
    if plan is None:
        return None
    numbers = (weights.heads[0].largest_query, weights.log_root, 0.0 if carried is None else carried.factor)
    x, R, state = given_to(tokens)
    if plan.networks == 1:
        return plan.one(x, R, state, weights.arrays, numbers, LIMITS, tokens_of)
    run = plan.run(x, R, state, weights.arrays, (numbers,), LIMITS)
    return tokens_of(run) if run.layers else None


@cache
def _on_gpu() -> ModuleType:
    """What layers on a GPU need, imported with the first of them."""
    from rankmath.kernels import cuda_layer

    return cuda_layer


def _fits(attention: Attention, R: Array) -> bool:
    """One network, or one axis of them; the weights are those of all, or each network's own."""
    return R.ndim <= 3 and attention.query.shape[1:-2] in ((), R.shape[:-2])


def layers_on_gpu(A: Float64, net: Network, X: Array, *, measure: bool = True) -> Run | None:
    """All layers of networks of attention alone in one run; None where they are not."""
    layers = _layers(A, net)
    if A.cuts_finely or layers is None or not all(_fits(attention, X) for attention in layers.shapes.values()):
        return None
    masks = net.masks_for(int(X.shape[-2])) if layers.alone.is_masked else {}
    plan: Plan | None = None
    if not any(masks.values()):
        plan = _on_gpu().plan_here(X.shape, net.attentions[0].heads)
    if plan is None:
        return None
    numbers = np.empty((0, 3))

    def found() -> Floats:
        nonlocal numbers
        numbers = layers.numbers(*read())
        return numbers

    with layers.largest() as read:
        run = plan.run(None, A.xp.ascontiguousarray(X), (), layers.alone.arrays, found, LIMITS, measure=measure)
    if np.isnan(run.log[:, 0, 0]).any() or np.isnan(numbers).any():
        return None
    return through_layers(A, net, layers.alone, run, numbers, plan, net.layers, measure)


def centre_on_gpu(A: Float64, X: Array) -> Tokens | None:
    """`centre` of sequences of ordinary size, with one wait; None otherwise."""
    plan: Plan | None = _on_gpu().plan_here(X.shape, 0)
    if plan is None:
        return None
    run = plan.run(None, A.xp.ascontiguousarray(X), (), (), _NOTHING, LIMITS)
    return None if np.isnan(run.log[:, 0, 0]).any() else tokens_of(run)


@dataclass(frozen=True)
class _Layers:
    """The weights of a network of attention alone as the kernels take them."""

    alone: AttentionAlone
    largest: Callable[[], AbstractContextManager[Callable[[], tuple[Floats, Floats]]]]
    shapes: dict[tuple[int, ...], Attention]  # one attention of each shape
    queries: list[int]  # which of the measured arrays are these

    def numbers(self, of_matrices: Floats, of_arrays: Floats) -> Floats:
        """What the kernels are told of each layer; nan, so that none stands, if a weight is far from size one."""
        numbers = np.full((len(self.queries), 3), np.nan)
        if not is_wild(of_matrices).any():
            numbers[:, 0], numbers[:, 1:] = of_arrays[self.queries], self.alone.roots_and_skips
        return numbers


# What is found once of a network; the sizes of its weights are measured every time.
_KNOWN: WeakKeyDictionary[Network, _Layers | None] = WeakKeyDictionary()


def _layers(A: Float64, net: Network) -> _Layers | None:
    if net not in _KNOWN:
        _KNOWN[net] = _layers_of(A, net)
    return _KNOWN[net]


def _layers_of(A: Float64, net: Network) -> _Layers | None:
    alone, attentions = attention_alone(net), net.attentions
    if alone is None:
        return None
    names = [name for a in attentions for name in matrices_of(a)]
    return _Layers(
        alone,
        A.measuring([array for a in attentions for array in matrices_of(a).values()]),
        {a.query.shape[1:-2]: a for a in attentions},
        [k for k, name in enumerate(names) if name == "query"],
    )
