"""Networks of attention alone: as many layers in one compiled call as possible, on a CPU or a GPU.

A call stops before saturated attention, logits out of range, or a center that cancels. `sublayer_step` makes that
layer from arrays, and the next call goes on from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.close import LINEAR_LOG
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.tokens import LOG_ZERO, SAFE_LOG, SMALL_LOSS, SUSPICIOUS, Tokens
from rankmath.kernels.runs import Arrays, Layers, Run
from rankmath.model.network import Attention, Network
from rankmath.validation import Array, Floats

#: What compiled layers are told of ours.
LIMITS = {
    "log_zero": LOG_ZERO,
    "safe_log": SAFE_LOG,
    "linear_log": LINEAR_LOG,
    "hardly": SMALL_LOSS,
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


def is_plain(attention: Attention) -> bool:
    """Full matrices, in one piece, and logits that are products of them."""
    arrays = [attention.query, attention.value, attention.key_bias, attention.bias]
    factored = attention.position, attention.key, attention.output
    bare = attention.is_bilinear and all(part is None for part in factored)
    return bare and all(a is None or a.flags.c_contiguous for a in arrays)


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
