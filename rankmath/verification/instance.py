"""What a statement speaks about: exact data, drawn one by one or in batches of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankmath.attention.plain import check_input
from rankmath.model.network import Attention, Network
from rankmath.validation import Array, ArrayLike, Floats, InvalidArgument, NumpyArray


@dataclass(frozen=True, eq=False)
class NetworkInstance:
    """A network and tokens; as a batch, a stack of networks and X of shape (batch, n, d)."""

    net: Network
    X: NumpyArray
    label: str = "given"

    @property
    def is_batch(self) -> bool:
        return bool(self.X.ndim == 3)

    def __len__(self) -> int:
        return len(self.X) if self.is_batch else 1

    def select(self, index: int) -> NetworkInstance:
        """One instance of a batch."""
        if not self.is_batch:
            return self
        return NetworkInstance(self.net.member(index), self.X[index], self.label)

    def part(self, places: Sequence[int]) -> NetworkInstance:
        """Some of a batch, as a batch."""
        net = self.net.laid_out(lambda array, axis: np.take(array, places, axis))
        return replace(self, net=net, X=self.X[places])

    def vector(self) -> Floats:
        """X, W_QK, W and the key bias as one vector: what an adversary may turn."""
        parts = [self.X, self.net.W_QK, self.net.W]
        if self.net.key_bias is not None:
            parts.append(self.net.key_bias)
        return np.concatenate([np.asarray(part).ravel() for part in parts])

    def at(self, vector: Floats) -> NetworkInstance:
        """The instance of the same shape at another vector."""
        net, taken, parts = self.net, 0, []
        for like in (self.X, net.W_QK, net.W, net.key_bias):
            size = 0 if like is None else like.size
            parts.append(None if like is None else vector[taken : taken + size].reshape(like.shape))
            taken += size
        X, W_QK, W, key_bias = parts
        assert X is not None
        if not net.is_one_line:
            arrays = {"query": W_QK, "key": None, "value": W, "output": None, "key_bias": key_bias}
            return NetworkInstance(net.replace(**arrays), X, self.label)
        moved = Network.from_arrays(W_QK, W, net.d_qk, key_bias, net.bias, net.skip, net.mlp, net.norm, net.mask)
        return NetworkInstance(moved, X, self.label)


def demand_one_attention(net: Network) -> None:
    """Claims speak of the attention of a layer: P[l, h], W[l, h]."""
    for l, layer in enumerate(net.sublayers):
        if (found := sum(isinstance(f, Attention) for part in layer for f in part.maps)) > 1:
            raise InvalidArgument(f"net: layer {l} attends {found} times; one attention in a layer, or none, is needed")


def network_instance(net: Network, X: ArrayLike) -> NetworkInstance:
    """Checked input of `verify(key, net, X)`."""
    X = check_input(net, X, coded=False)
    demand_one_attention(net)
    return NetworkInstance(net, X)


@dataclass(frozen=True, eq=False)
class ArrayInstance:
    """Named arrays; as a batch, each with one leading axis."""

    arrays: dict[str, Array]
    label: str = "given"
    is_batch: bool = False

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()))) if self.is_batch else 1

    def select(self, index: int) -> ArrayInstance:
        if not self.is_batch:
            return self
        return ArrayInstance({name: array[index] for name, array in self.arrays.items()}, self.label)

    def part(self, places: Sequence[int]) -> ArrayInstance:
        """Some of a batch, as a batch."""
        return replace(self, arrays={name: array[places] for name, array in self.arrays.items()})

    def vector(self) -> Floats:
        return np.concatenate([np.asarray(array, dtype=float).ravel() for array in self.arrays.values()])

    def at(self, vector: Floats) -> ArrayInstance:
        moved, taken = {}, 0
        for name, array in self.arrays.items():
            moved[name] = vector[taken : taken + array.size].reshape(array.shape)
            taken += array.size
        return ArrayInstance(moved, self.label)


#: Whatever an instance is, it can be picked from a batch and turned by an adversary.
Instance = NetworkInstance | ArrayInstance


def alike(a: Instance, b: Instance) -> bool:
    """Whether two batches of networks can be one: numbers of one shape, and all else the same."""
    if not (isinstance(a, NetworkInstance) and isinstance(b, NetworkInstance) and a.is_batch and b.is_batch):
        return False
    if not (a.net.is_one_line and b.net.is_one_line):  # positions and norms of others are not compared
        return False
    return a.X.shape[1:] == b.X.shape[1:] and bool(a.net.outline == b.net.outline)


def together(instances: Sequence[Instance]) -> Instance:
    """Instances of one shape, or batches that are `alike`, as a batch."""
    first = instances[0]
    if isinstance(first, NetworkInstance):
        members = [member for member in instances if isinstance(member, NetworkInstance)]
        join = np.concatenate if first.is_batch else np.stack
        return replace(first, net=Network.stack([m.net for m in members]), X=join([m.X for m in members]))
    found = [member.arrays for member in instances if isinstance(member, ArrayInstance)]
    return replace(first, arrays={name: np.stack([m[name] for m in found]) for name in first.arrays}, is_batch=True)


def moved_to(start: Instance, vectors: Floats) -> Instance:
    """`start.at` of several vectors, as a batch: that of `together`, its numbers in the same places of memory."""
    if type(start) is not NetworkInstance:  # its vectors may be others
        return together([start.at(vector) for vector in vectors])
    first, size, taken = start.at(vectors[0]), len(vectors), 0
    net, parts = first.net, []
    for like, axis in ((first.X, 0), (net.W_QK, 2), (net.W, 2), (net.key_bias, 2)):
        width = 0 if like is None else like.size
        part = None if like is None else vectors[:, taken : taken + width].reshape(size, *like.shape)
        parts.append(None if part is None else np.ascontiguousarray(np.moveaxis(part, 0, axis)))
        taken += width
    X, query, value, key_bias = parts
    assert X is not None
    bias = None if net.bias is None else np.repeat(net.bias[:, None], size, axis=1)
    return replace(first, net=net.replace(query=query, value=value, key_bias=key_bias, bias=bias), X=X)
