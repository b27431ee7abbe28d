"""Networks of attention alone: as many layers in one compiled call as possible, on a CPU or a GPU.

A call stops before saturated attention, logits out of range, or a center that cancels. `sublayer_step` makes that
layer from arrays, and the next call goes on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.fused import layer_plan
from rankmath.attention.tokens import LOG_ZERO, SAFE_LOG, SMALL_LOSS, SUSPICIOUS, Carried, Tokens, is_wild
from rankmath.attention.views import LINEAR_LOG
from rankmath.attention.weights import Weights, is_plain, matrices_of
from rankmath.kernels.runs import Arrays, Layers, Run
from rankmath.linalg.masks import Mask
from rankmath.model.network import Attention, Network
from rankmath.validation import Array, Floats

if TYPE_CHECKING:
    from rankmath.kernels.compiled_network import LayerPlan
    from rankmath.kernels.cuda_layer import Plan


#: What compiled layers are told of ours.
LIMITS = {
    "log_zero": LOG_ZERO,
    "safe_log": SAFE_LOG,
    "linear_log": LINEAR_LOG,
    "small_loss": SMALL_LOSS,
    "suspicious": SUSPICIOUS,
    "uneven_log": UNEVEN_LOG,
}


@dataclass(frozen=True)
class AttentionAlone:
    """What is known once of such a network; the sizes of its weights are measured every time."""

    attentions: tuple[Attention, ...]
    arrays: Arrays
    roots_and_skips: Floats  # log(d_qk)/2 and λ of each layer

    @property
    def heads(self) -> int:
        return self.attentions[0].heads

    @cached_property
    def is_masked(self) -> bool:
        return any(attention.mask is not None for attention in self.attentions)

    @cached_property
    def is_batch(self) -> bool:
        return any(attention.query.ndim > 3 for attention in self.attentions)

    @cached_property
    def unmeasured(self) -> Floats:
        """The numbers of all layers, where the first one, the size of a query, is yet to be found."""
        return np.column_stack([np.full(len(self.arrays), -1.0), self.roots_and_skips])


_KNOWN: WeakKeyDictionary[Network, AttentionAlone | None] = WeakKeyDictionary()


def attention_alone(net: Network) -> AttentionAlone | None:
    """The network's weights as compiled layers take them, or None: full matrices in one piece, as many heads in
    every layer, skips, and nothing else."""
    try:
        return _KNOWN[net]
    except KeyError:
        return _KNOWN.setdefault(net, _found(net))


def _found(net: Network) -> AttentionAlone | None:
    layers, attentions = [layer[0] for layer in net.sublayers if len(layer) == 1], net.attentions
    norms = [norm for s in layers for norm in (s.before, s.after, s.behind) if norm is not None]
    plain = not norms and all(isinstance(s.map, Attention) for s in layers)
    if len(layers) != net.layers or not layers or not plain or len({a.heads for a in attentions}) != 1:
        return None
    if not all(is_plain(attention) for attention in attentions):
        return None
    arrays = tuple((a.query, a.value, a.key_bias, a.bias) for a in attentions)
    numbers = [(math.log(a.d_qk) / 2, float(s.skip)) for a, s in zip(attentions, layers, strict=True)]
    return AttentionAlone(attentions, arrays, np.array(numbers))


def through_layers(
    A: Float64, net: Network, alone: AttentionAlone, run: Run, numbers: Floats, plan: Layers, most: int, measure: bool
) -> Run | None:
    """All layers as one run, from a first one, `most` of them at once; of a batch that stops None."""
    layers = len(alone.arrays)
    if run.layers == layers:
        return run
    if run.residual.ndim > 2:
        return None
    from rankmath.attention.centred import sublayer_step

    rows: list[Floats] = []
    l, at_once = 0, most
    while True:
        stopped = run.layers < min(at_once, layers - l)
        l += run.layers
        if l == layers:
            return run._replace(log=np.concatenate([*rows, run.log], axis=1))
        tokens = tokens_of(run)
        if stopped:
            rows.append(run.log)
            masks = net.masks_for(int(run.residual.shape[-2]))
            tokens = sublayer_step(A, net.sublayers[l][0], tokens, masks, closely=True)
            l, at_once = l + 1, 1
        else:
            rows.append(run.log[:, :-1])
            at_once = min(2 * at_once, most)
        given = slice(l, l + at_once)
        run = plan.run(*given_to(tokens), alone.arrays[given], numbers[given], LIMITS, measure=measure)


def given_to(tokens: Tokens) -> tuple[Array, Array, Floats | tuple[float, ...]]:
    """x, R and their state, as a run takes them."""
    sigma, batch = tokens.log_residual, tokens.residual.shape[:-2]
    units = [tokens.log_center, sigma.mantissa, sigma.exponent, np.asarray(tokens.lost_bits)]
    x, R = (a if a.flags.c_contiguous else a.copy() for a in (tokens.center, tokens.residual))
    if math.prod(batch) == 1:
        return x, R, tuple([a.item() for a in units])
    state = np.empty((*batch, 4))
    for k, unit in enumerate(units):
        state[:, k, None, None] = unit
    return x, R, state


def tokens_of(run: Run) -> Tokens:
    """The last tokens of a run."""
    batch = run.residual.shape[:-2]
    xi, mantissa, exponent, lost = run.log[:, -1, :4].T.reshape(4, *batch, 1, 1)
    return Tokens(run.center, run.residual, xi, LogScale(mantissa, exponent), lost)


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
    if plan is None or weights.whole is None or weights.attention.query.ndim != 3:
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


def layer_on_gpu(
    A: Float64, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None
) -> Tokens | None:
    """The layer, or None where it needs a closer look."""
    R = tokens.residual
    if weights.whole is None or mask is not None or A.cuts_finely or not _fits(weights.attention, R):
        return None
    if carried is not None and (carried.tokens is not tokens or not isinstance(carried.apart, int)):
        return None
    plan: Plan | None = _on_gpu().plan_here(R.shape, weights.attention.heads)
    if plan is None:
        return None
    numbers = (weights.heads[0].largest_query, weights.log_root, 0.0 if carried is None else carried.factor)
    x, R, state = given_to(tokens)
    if plan.networks == 1:
        return plan.one(x, R, state, weights.whole, numbers, LIMITS, tokens_of)
    run = plan.run(x, R, state, weights.whole, (numbers,), LIMITS)
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
_ON_GPU: WeakKeyDictionary[Network, _Layers | None] = WeakKeyDictionary()


def _layers(A: Float64, net: Network) -> _Layers | None:
    if net not in _ON_GPU:
        _ON_GPU[net] = _layers_of(A, net)
    return _ON_GPU[net]


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
