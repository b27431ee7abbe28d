"""The weights of one attention in the arithmetic that runs."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from rankmath.arithmetic.protocol import System
from rankmath.attention.tokens import Scaled, tamed
from rankmath.kernels.runs import Arrays
from rankmath.model.network import Attention, Network
from rankmath.validation import Array


@dataclass(frozen=True)
class Head:
    """One head's weights in the arithmetic that runs: W_QK = query keyᵀ, W = value output (None: identity)."""

    attention: Attention
    place: int | slice  # which head, or all
    query: Array
    key: Array | None
    value: Array
    output: Array | None
    key_bias: Scaled | None
    log_logits: Array  # logarithm of the unit of W_QK
    log_value: Array  # … of W
    largest_query: float = math.inf  # the largest |entry| of `query`, where it is known


@dataclass(frozen=True)
class Weights:
    """One attention's weights: its heads one by one, or (`stacked`) all in one `Head` with a leading axis."""

    attention: Attention
    heads: list[Head]
    bias: Scaled | None
    stacked: bool = False

    @cached_property
    def whole(self) -> Arrays | None:
        """Query, value, key bias and bias as compiled layers take them: full matrices near size one in one piece, no
        position terms; None where they are not."""
        attention, heads = self.attention, self.heads
        logs = [log for head in heads for log in (head.log_logits, head.log_value)]
        logs += [bias[1] for bias in (self.bias, *(head.key_bias for head in heads)) if bias is not None]
        if not is_plain(attention) or not all(isinstance(log, int) for log in logs):
            return None
        return ((attention.query, attention.value, attention.key_bias, attention.bias),)

    @cached_property
    def log_root(self) -> float:
        return math.log(self.attention.d_qk) / 2


def is_plain(attention: Attention) -> bool:
    """Full matrices, in one piece, and logits that are products of them."""
    arrays = [attention.query, attention.value, attention.key_bias, attention.bias]
    factored = attention.position, attention.key, attention.output
    bare = attention.is_bilinear and all(part is None for part in factored)
    return bare and all(a is None or a.flags.c_contiguous for a in arrays)


#: The largest entries of each array of each attention, by its id and the array's name.
Sizes: TypeAlias = dict[tuple[int, str], Array]


def sizes_of(A: System, net: Network) -> Sizes:
    """The sizes of all weights of a network: from a GPU in one transfer."""
    named = {(id(a), name): array for a in net.attentions for name, array in matrices_of(a).items()}
    return {} if A.unbounded else dict(zip(named, A.sizes(list(named.values())), strict=True))


def matrices_of(attention: Attention) -> dict[str, Array]:
    """All arrays as matrices: biases are columns and rows."""
    names = ("query", "key", "value", "output", "key_bias", "bias")
    arrays = {name: getattr(attention, name) for name in names if getattr(attention, name) is not None}
    if "key_bias" in arrays:
        arrays["key_bias"] = arrays["key_bias"][..., None]
    if "bias" in arrays:
        arrays["bias"] = arrays["bias"][..., None, :]
    return arrays


def weights_of(
    A: System, attention: Attention, *, stacked: bool = False, batch_axes: int = 0, sizes: Sizes | None = None
) -> Weights:
    """The weights of one attention, converted to the arithmetic; `sizes` saves measuring them.

    `stacked` heads have one leading axis, before as many as the tokens have for their batch.
    """
    missing = batch_axes - (attention.query.ndim - 3) if stacked else 0
    arrays = matrices_of(attention)
    known: dict[str, Array] = {}
    if not A.unbounded:
        known = {name: (sizes or {}).get((id(attention), name)) for name in arrays}
        if any(size is None for size in known.values()):
            known = dict(zip(arrays, A.sizes(list(arrays.values())), strict=True))
    scaled = {name: tamed(A, array, known.get(name)) for name, array in arrays.items()}

    def pick(name: str, *head: int) -> Scaled:
        if name not in scaled:
            return None, 0
        array, log = scaled[name]
        part, unit = A.asarray(array[*head, ...]), log if isinstance(log, int) else log[*head, ...]
        if missing and not head and name != "bias":
            part = part[:, *(None,) * missing, ...]
            unit = unit if isinstance(unit, int) else unit[:, *(None,) * missing, ...]
        return part, unit

    heads = []
    for head in [()] if stacked else [(h,) for h in range(attention.heads)]:
        (query, a), (key, b) = pick("query", *head), pick("key", *head)
        (value, c), (output, d) = pick("value", *head), pick("output", *head)
        key_bias = pick("key_bias", *head) if "key_bias" in scaled else None
        place = head[0] if head else slice(None)
        largest = math.inf if A.unbounded else float(known["query"].max())
        heads.append(Head(attention, place, query, key, value, output, key_bias, a + b, c + d, largest))
    return Weights(attention, heads, pick("bias") if "bias" in scaled else None, stacked)


def stacks_heads(A: System, attention: Attention, X: Array) -> bool:
    """Whether all heads go through a layer as one batch: always on a GPU, elsewhere while that fits the cache."""
    if A.unbounded or attention.heads == 1 or not attention.is_bilinear:
        return False
    entries = attention.heads * X.shape[-2] * math.prod(X.shape[:-1])
    return bool(A.on_gpu or 2 * entries <= A.block_entries)
