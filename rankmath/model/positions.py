"""Additive position terms of the logits: softmax(X W_QK Xᵀ/√d_qk + B_h), B_h a function of the places i and j.

A mask is the special case B ∈ {0, −∞}. Rotary positions multiply queries and keys instead, and are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from array_api_compat import array_namespace

from rankmath.validation import Array, InvalidArgument, as_array, as_choice, as_count


@runtime_checkable
class Position(Protocol):
    """What a position term offers: its heads, the one number of tokens it is for (None: any), and its rows."""

    @property
    def heads(self) -> int: ...

    @property
    def tokens(self) -> int | None: ...

    def block(self, head: int | slice, start: int, stop: int, n: int) -> Array:
        """Rows start … stop − 1 of B_h for n tokens: (rows, n), or (H, rows, n) for a slice of heads."""
        ...


@dataclass(frozen=True, eq=False)
class ALiBi:
    """B_h[i, j] = −slopes[h] |i − j|.

    Examples
    --------
    >>> ALiBi([0.5]).block(0, 0, 2, 3)
    array([[-0. , -0.5, -1. ],
           [-0.5, -0. , -0.5]])
    """

    slopes: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", as_array("slopes", self.slopes, ndim=1))

    @property
    def heads(self) -> int:
        return int(self.slopes.shape[0])

    @property
    def tokens(self) -> int | None:
        return None

    def block(self, head: int | slice, start: int, stop: int, n: int) -> Array:
        xp = array_namespace(self.slopes)
        distance = xp.asarray(np.abs(np.arange(1 - n, n)), dtype=xp.float64)
        return _by_offset(-self.slopes[head][..., None] * distance, start, stop, n)


@dataclass(frozen=True, eq=False)
class RelativeBuckets:
    """B_h[i, j] = table[bucket(j − i), h] (T5, MPNet): distances one by one at first, then in logarithmic steps.

    With b buckets a direction (half of all if `bidirectional`, the second half for keys after the query; else all,
    and keys after the query count as distance 0) and e = b//2, distance t has bucket t for t < e and
    e + ⌊(b − e) log(t/e)/log(max_distance/e)⌋, at most b − 1, beyond; decided in whole numbers.

    Examples
    --------
    >>> B = RelativeBuckets([[float(k)] for k in range(8)], max_distance=8)
    >>> [int(x) for x in B.block(0, 0, 1, 6)[0]], [int(x) for x in B.block(0, 5, 6, 6)[0]]
    ([0, 5, 6, 6, 7, 7], [3, 3, 2, 2, 1, 0])
    """

    table: Array
    max_distance: int = 128
    bidirectional: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", as_array("table", self.table, ndim=2))
        as_choice("bidirectional", self.bidirectional, (False, True))
        buckets = int(self.table.shape[0])
        if buckets < 2 or (self.bidirectional and (buckets < 4 or buckets % 2)):
            raise InvalidArgument(
                f"table: {buckets} buckets given; an even number of at least 4 is needed, or 2 one way"
            )
        as_count("max_distance", self.max_distance, least=self._side // 2 + 1)

    @property
    def _side(self) -> int:
        return int(self.table.shape[0]) // (2 if self.bidirectional else 1)

    @property
    def heads(self) -> int:
        return int(self.table.shape[1])

    @property
    def tokens(self) -> int | None:
        return None

    def block(self, head: int | slice, start: int, stop: int, n: int) -> Array:
        offsets, side = np.arange(1 - n, n), self._side
        distance = np.abs(offsets) if self.bidirectional else np.maximum(-offsets, 0)
        # t belongs to bucket e + k or a later one iff (t/e)^(b − e) ≥ (max_distance/e)^k.
        e, steps, k, t = side // 2, side - side // 2, 1, side // 2
        starts = []
        while k < steps and t < n:
            if t**steps * e**k >= self.max_distance**k * e**steps:
                starts.append(t)
                k += 1
            else:
                t += 1
        bucket = np.minimum(distance, e) + np.searchsorted(np.asarray(starts, dtype=int), distance, side="right")
        bucket = bucket + side * (offsets > 0) if self.bidirectional else bucket
        xp = array_namespace(self.table)
        values = xp.take(xp.permute_dims(self.table, (1, 0))[head, ...], xp.asarray(bucket), axis=-1)
        return _by_offset(values, start, stop, n)


@dataclass(frozen=True, eq=False)
class PositionTable:
    """B_h = values[h], any (H, n, n) array."""

    values: Array

    def __post_init__(self) -> None:
        values = as_array("values", self.values, ndim=3)
        if values.shape[1] != values.shape[2]:
            raise InvalidArgument(f"values: shape {tuple(values.shape)} given; it must be (heads, n, n)")
        object.__setattr__(self, "values", values)

    @property
    def heads(self) -> int:
        return int(self.values.shape[0])

    @property
    def tokens(self) -> int | None:
        return int(self.values.shape[1])

    def block(self, head: int | slice, start: int, stop: int, n: int) -> Array:
        return self.values[head, start:stop, :]


def as_position(position: object, heads: int) -> Position | None:
    """`position` if it is one for so many heads (or None), else a ValueError that says what is allowed."""
    if position is None:
        return None
    if isinstance(position, str) and position.lower() in ("rotary", "rope"):
        raise InvalidArgument(
            "position: rotary positions given; they are no additive term of the logits and not supported"
        )
    if not isinstance(position, Position):
        given = repr(position) if isinstance(position, str) else type(position).__name__
        raise InvalidArgument(
            f"position: {given} given; allowed are None, ALiBi, RelativeBuckets and PositionTable"
        )
    if position.heads != heads:
        raise InvalidArgument(f"position: a term for {position.heads} heads given; the attention has {heads}")
    return position


def _by_offset(values: Array, start: int, stop: int, n: int) -> Array:
    """Rows start … stop − 1 of the matrix whose entry (i, j) is the value of j − i = 1 − n, …, n − 1."""
    if isinstance(values, np.ndarray):  # the rows are windows of the values, and no matrix is made
        return np.lib.stride_tricks.sliding_window_view(values, n, axis=-1)[..., n - stop : n - start, :][
            ..., ::-1, :
        ]
    places = n - 1 + np.arange(n)[None, :] - np.arange(start, stop)[:, None]
    return values[..., array_namespace(values).asarray(places)]
