"""Positions: additive terms of the logits, softmax(X W_QK Xᵀ/√d_qk + B_h), and rotations of queries and keys.

A mask is the special case B ∈ {0, −∞}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from array_api_compat import array_namespace

from rankmath.validation import Array, ArrayLike, InvalidArgument, as_array, as_choice, as_count


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

    >>> ALiBi([0.5]).block(0, 0, 2, 3)
    array([[-0. , -0.5, -1. ],
           [-0.5, -0. , -0.5]])
    """

    slopes: Array
    tokens: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", as_array("slopes", self.slopes, ndim=1))

    @property
    def heads(self) -> int:
        return int(self.slopes.shape[0])

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

    >>> B = RelativeBuckets([[float(k)] for k in range(8)], max_distance=8)
    >>> [int(x) for x in B.block(0, 0, 1, 6)[0]], [int(x) for x in B.block(0, 5, 6, 6)[0]]
    ([0, 5, 6, 6, 7, 7], [3, 3, 2, 2, 1, 0])
    """

    table: Array
    max_distance: int = 128
    bidirectional: bool = True
    tokens: ClassVar[int | None] = None

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


@dataclass(frozen=True, eq=False)
class Rotary:
    """Rotations of queries and keys (RoFormer): at place i the pair (v_2m, v_2m+1) of a row v is turned by the
    angle whose cosine and sine are cos[i, m], sin[i, m]; later entries of v stay as they are.

    The tables, (places, pairs), are the definition: no pass uses that cos² + sin² is 1, or anything of angles.

    >>> Rotary.of_angles([[0.0], [1.0]]).places
    2
    >>> Rotary([[1.0], [0.6]], [[0.0], [0.8]]).turned(np.asarray([[1.0, 0.0, 5.0], [1.0, 0.0, 5.0]]))
    array([[1. , 0. , 5. ],
           [0.6, 0.8, 5. ]])
    """

    cos: Array
    sin: Array

    def __post_init__(self) -> None:
        cos = as_array("cos", self.cos, ndim=2)
        sin = as_array("sin", self.sin, ndim=2, shape=tuple(cos.shape))
        object.__setattr__(self, "cos", cos)
        object.__setattr__(self, "sin", sin)

    @classmethod
    def of_angles(cls, angles: ArrayLike) -> Rotary:
        """From angles, (places, pairs)."""
        angles = as_array("angles", angles, ndim=2)
        xp = array_namespace(angles)
        return cls(xp.cos(angles), xp.sin(angles))

    @classmethod
    def of_frequencies(cls, frequencies: ArrayLike, places: int, scale: float = 1.0) -> Rotary:
        """Place i turns pair m by i·frequencies[m]; `scale` multiplies both tables (YaRN, LongRoPE)."""
        frequencies = as_array("frequencies", frequencies, ndim=1)
        angles = np.arange(as_count("places", places))[:, None] * np.asarray(frequencies)[None, :]
        return cls(np.cos(angles) * scale, np.sin(angles) * scale)

    @classmethod
    def usual(cls, places: int, width: int, base: float = 10000.0) -> Rotary:
        """The frequencies of RoFormer, base^(−2m/width), for keys of even length `width`."""
        if as_count("width", width) % 2:
            raise InvalidArgument(f"width: {width} given; rotary positions turn pairs, an even number is needed")
        return cls.of_frequencies(base ** (-np.arange(0, width, 2) / width), places)

    @property
    def places(self) -> int:
        """Sequences may be so long."""
        return int(self.cos.shape[0])

    @property
    def width(self) -> int:
        """So many entries of a row are turned."""
        return 2 * int(self.cos.shape[1])

    def turned(self, V: Array) -> Array:
        """The rows V_i T_i of (..., n, k)."""
        n = int(V.shape[-2])
        return turned(V, self.cos[:n, :], self.sin[:n, :])


def turned(V: Array, cos: Array, sin: Array, *, rest: int = 1) -> Array:
    """Pairs of rows V (..., n or 1, k) turned by tables (..., n, m), later entries times `rest`; any numbers."""
    xp, width = array_namespace(V), 2 * cos.shape[-1]
    first, second = V[..., 0:width:2], V[..., 1:width:2]
    pairs = xp.stack([first * cos - second * sin, second * cos + first * sin], axis=-1)
    whole = xp.reshape(pairs, (*pairs.shape[:-2], width))
    if width == V.shape[-1]:
        return whole
    return xp.concat([whole, rest * V[..., width:] + 0 * whole[..., :1]], axis=-1)


def as_rotary(rotary: object, width: int) -> Rotary | None:
    """`rotary` if it turns rows of this length (or None)."""
    if rotary is None:
        return None
    if not isinstance(rotary, Rotary):
        raise InvalidArgument(f"rotary: a {type(rotary).__name__} given; allowed are None and a Rotary")
    if rotary.width > width:
        raise InvalidArgument(f"rotary: {rotary.width} entries are turned; queries and keys have {width}")
    return rotary


def as_position(position: object, heads: int) -> Position | None:
    """`position` if it is one for so many heads (or None), else a ValueError that says what is allowed."""
    if position is None:
        return None
    if isinstance(position, Rotary) or (isinstance(position, str) and position.lower() in ("rotary", "rope")):
        raise InvalidArgument("position: rotary positions given; they are no term of the logits: pass them as rotary=")
    if not isinstance(position, Position):
        given = repr(position) if isinstance(position, str) else type(position).__name__
        raise InvalidArgument(f"position: {given} given; allowed are None, ALiBi, RelativeBuckets and PositionTable")
    if position.heads != heads:
        raise InvalidArgument(f"position: a term for {position.heads} heads given; the attention has {heads}")
    return position


def kinds_of_positions(position: Position | None, rotary: Rotary | None, n: int) -> frozenset[str]:
    """The words of the language of claims that hold of such positions of n tokens.

    >>> sorted(kinds_of_positions(ALiBi([0.5]), None, 3)), sorted(kinds_of_positions(None, None, 3))
    (['alibi', 'relative'], ['none'])
    """
    if position is None:
        return frozenset(["none" if rotary is None else "rotary"])
    if rotary is not None:
        return frozenset(["mixed"])
    B = np.asarray(position.block(slice(None), 0, n, n))
    distance = np.abs(np.arange(n)[:, None] - np.arange(n))
    relative = bool((B[:, 1:, 1:] == B[:, :-1, :-1]).all())
    straight = bool((B <= 0).all()) and bool(((B[:, :1, 1:2] if n > 1 else 0 * B) * distance == B).all())
    return frozenset((["relative"] if relative else ["mixed"]) + (["alibi"] if relative and straight else []))


def _by_offset(values: Array, start: int, stop: int, n: int) -> Array:
    """Rows start … stop − 1 of the matrix whose entry (i, j) is the value of j − i = 1 − n, …, n − 1."""
    if isinstance(values, np.ndarray):  # the rows are windows of the values, and no matrix is made
        return np.lib.stride_tricks.sliding_window_view(values, n, axis=-1)[..., n - stop : n - start, :][..., ::-1, :]
    places = n - 1 + np.arange(n)[None, :] - np.arange(start, stop)[:, None]
    return values[..., array_namespace(values).asarray(places)]
