"""Where to look: the shapes and switches that a claim about networks allows, and structured starts in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankmath.formula.evaluate import judged, sides
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run
from rankmath.formula.terms import Call, Every, Formula, Item, Letter, Number, Relation, walk
from rankmath.linalg.masks import Mask
from rankmath.model.network import LayerNorm, Network
from rankmath.validation import InvalidArgument
from rankmath.verification.draws import ALL_TOKENS, Rng
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.statement import Statement

Floats = NDArray[np.float64]

_TOKENS, _DIMS, _HEADS, _LAYERS = (2, 3, 4, 6, 8, 12), (1, 2, 3, 4, 6), (1, 2, 3), (1, 2, 3)
_MASKS = ("none", "causal", "window:1", "star:0", "prefix:1")
_SKIPS = (1.0, 0.5, -1.0, 2.0)
_TRIVIAL = -50.0


@dataclass(frozen=True)
class Room:
    """One shape with its switches: all networks of it form a space of vectors."""

    n: int
    d: int
    H: int
    L: int
    d_qk: float
    skip: float = 0.0
    mask: str = "none"
    norm: str = "none"
    key_bias: bool = False
    bias: bool = False

    @property
    def size(self) -> int:
        """Numbers that make an instance: the order in which rooms are searched."""
        extra = 1.5 if self.key_bias or self.bias else 1.0
        return int((self.n * self.d + 2 * self.L * self.H * self.d**2) * extra * (1 + (self.mask != "none")))

    def parts(self) -> dict[str, tuple[int, ...]]:
        """The arrays of an instance and their shapes."""
        L, H, d = self.L, self.H, self.d
        shapes: dict[str, tuple[int, ...]] = {"X": (self.n, d), "W_QK": (L, H, d, d), "W": (L, H, d, d)}
        if self.key_bias:
            shapes["key_bias"] = (L, H, d)
        if self.bias:
            shapes["bias"] = (L, d)
        return shapes

    def instance(self, arrays: dict[str, Floats], label: str = "searched") -> NetworkInstance:
        """The instance (or batch: arrays with one leading axis) made of these arrays."""
        batch = arrays["X"].ndim == 3

        def stacked(name: str, axis: int) -> Floats | None:
            array = arrays.get(name)
            return np.moveaxis(array, 0, axis) if batch and array is not None else array

        one = Network.from_arrays(
            np.zeros((self.L, self.H, self.d, self.d)),
            np.zeros((self.L, self.H, self.d, self.d)),
            self.d_qk,
            skip=self.skip,
            norm=None if self.norm == "none" else LayerNorm("sphere" if self.norm == "sphere" else "column"),
            mask=None if self.mask == "none" else self.mask_graph(),
        )
        net = one.replace(
            query=stacked("W_QK", 2),
            value=stacked("W", 2),
            key_bias=stacked("key_bias", 2),
            bias=stacked("bias", 1),
        )
        return NetworkInstance(net, arrays["X"], label)

    def mask_graph(self) -> Mask:
        """The mask on n tokens."""
        from rankmath.linalg.masks import as_mask

        return as_mask(self.mask, self.n)


def rooms(statement: Statement) -> list[Room]:
    """All rooms that the claim's hypotheses on letters and switches allow, small ones first."""
    least_layers, least_heads = _least(statement.expanded)
    for part in statement.hypotheses:
        layers, heads = _least(part)
        least_layers, least_heads = max(least_layers, layers), max(least_heads, heads)
    said = {word for part in statement.hypotheses for word in _switch(part)}
    skips = _allowed_skips(statement)
    masks = _MASKS if ("mask", "any") in said else tuple(word for name, word in said if name == "mask") or ("none",)
    masks = tuple("none" if word in ("complete", "padding") else word for word in masks)
    norms = tuple(word for name, word in said if name == "layernorm") or ("none",)
    no_key_bias, no_bias = ("key_bias", "none") in said, ("bias", "none") in said
    free_d_qk = any(isinstance(term, Letter) and term.name == "d_qk" for term in walk(statement.expanded))
    found = []
    # Layers after the last one that is mentioned change nothing, nor do heads where only the input is.
    depths = sorted({max(l, least_layers) for l in (_LAYERS if _mentions(statement, "l", "L") else (1,))})
    only_input = not _mentions(statement, "l", "L", "h", "H") and _last_tokens(statement) == 0
    widths = sorted({max(h, least_heads) for h in (_HEADS if not only_input else (1,))})
    for n, d, H, L, skip, mask in product(_TOKENS, _DIMS, widths, depths, skips, masks):
        if norms[0] == "sphere" and d < 2:
            continue
        for with_bias in (False, True) if not no_key_bias else (False,):
            room = Room(
                *(n, d, H, L),
                d_qk=1.0 if free_d_qk or d == 1 else float(d),
                skip=skip,
                mask=mask,
                norm=norms[0],
                key_bias=with_bias,
                bias=with_bias and not no_bias and L > 1,
            )
            if _lawful(statement, room):
                found.append(room)
    return sorted(set(found), key=lambda room: (room.size, room.n, room.L, room.key_bias))


def _mentions(statement: Statement, *names: str) -> bool:
    """Whether a letter or a reduction over an index occurs in the claim or its hypotheses."""
    for part in (statement.expanded, *statement.hypotheses):
        for term in walk(part):
            if isinstance(term, Letter) and term.name in names:
                return True
            if isinstance(term, Call) and (
                term.function == "recursion" or term.function.partition("_")[2] in names
            ):
                return True
            if isinstance(term, Every) and term.index in names:
                return True
    return False


def _last_tokens(statement: Statement) -> int:
    """The largest number l of X[l], counting W and P of layer l as l + 1."""
    found = 0
    for part in (statement.expanded, *statement.hypotheses):
        for term in walk(part):
            if isinstance(term, Item):
                first = term.index[0]
                number = int(first.value) if isinstance(first, Number) else 1
                found = max(found, number + (term.array != "X"))
            elif isinstance(term, Call) and FUNCTIONS[term.function].evaluate is not None and not term.terms:
                found = max(found, 1)
    return found


def _least(formula: Formula) -> tuple[int, int]:
    """How many layers and heads the indices that are numbers ask for."""
    layers = heads = 1
    for term in walk(formula):
        if isinstance(term, Item) and term.array in ("X", "W", "W_QK", "P"):
            numbers = [int(part.value) if isinstance(part, Number) else -1 for part in term.index]
            layers = max(layers, numbers[0] + (term.array != "X"))
            heads = max(heads, *(number + 1 for number in numbers[1:]), 1)
    return layers, heads


def _switch(formula: Formula) -> Iterator[tuple[str, str]]:
    match formula:
        case Relation(operator="==", left=Letter(name=name), right=Letter(name=word)):
            yield name, word


def _allowed_skips(statement: Statement) -> tuple[float, ...]:
    """The factors of the skip connection to try."""
    for part in statement.hypotheses:
        match part:
            case Relation(operator="==", left=Letter(name="skip"), right=Number(value=value)):
                return (float(value),)
    return (*_SKIPS, 0.0)


def _lawful(statement: Statement, room: Room) -> bool:
    """Whether every hypothesis that only letters and switches decide holds in the room."""
    zeros = {name: np.zeros(shape) for name, shape in room.parts().items()}
    subject = statement.run(_FLOATS, room.instance(zeros))
    for part in statement.hypotheses:
        names = {type(term) for term in walk(part)}
        if Item in names or _measures(part):
            continue
        for side in sides(part, subject):
            if bool(judged(side, 1, subject.numbers).above[0]):
                return False
    return True


def _measures(formula: Formula) -> bool:
    return any(isinstance(term, Call) and FUNCTIONS[term.function].evaluate is not None for term in walk(formula))


def starts(rng: Rng, room: Room, size: int) -> dict[str, Floats]:
    """A batch of structured instances: scales over decades, sparse, signed, repeated, idle, one-hot,
    rank-one parts."""
    shapes = room.parts()
    arrays = {name: _weights(rng, size, shape) for name, shape in shapes.items() if name != "X"}
    n, d = shapes["X"]
    kinds = [tokens(rng, size, n, d) for tokens in ALL_TOKENS]
    kinds.append(np.where(rng.random((size, n, d)) < 0.5, 0.0, rng.choice([-1.0, 1.0], (size, n, d))))
    kinds.append(_one_hot(rng, size, n, d))
    kinds.append(rng.choice([-1.0, 1.0], (size, n, 1)) * rng.standard_normal((size, 1, d)))
    which = rng.integers(len(kinds), size=size)
    X = np.stack(kinds)[which, np.arange(size)]
    # Idle tokens: copies of one.
    copies = rng.random((size, n)) < rng.choice([0.0, 0.0, 0.5], (size, 1))
    X = np.where(copies[..., None], X[:, :1], X)
    arrays["X"] = np.clip(X, -1e6, 1e6)
    if room.norm == "sphere":
        # A zero token has no direction.
        zero = ~arrays["X"].any(axis=-1, keepdims=True)
        arrays["X"] = np.where(zero, rng.standard_normal(arrays["X"].shape), arrays["X"])
    return arrays


def _weights(rng: Rng, size: int, shape: tuple[int, ...]) -> Floats:
    wide = (size, *(1 for _ in shape))
    scale = 10.0 ** rng.uniform(-1.5, 1.5, wide)
    dense = rng.standard_normal((size, *shape))
    whole = rng.integers(-2, 3, (size, *shape)).astype(float)
    sparse = dense * (rng.random((size, *shape)) < 0.4)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        d = shape[-1]
        left, right = rng.standard_normal((size, *shape[:-1], 1)), rng.standard_normal((size, *shape[:-2], 1, d))
        rank_one = left * right
        signed_identity = rng.choice([-1.0, 1.0], wide) * np.broadcast_to(np.eye(d), (size, *shape))
        skew = dense - np.swapaxes(dense, -1, -2)
        kinds = np.stack([dense, whole, sparse, rank_one, signed_identity, skew])
    else:
        kinds = np.stack([dense, whole, sparse, np.zeros_like(dense)])
    which = rng.integers(len(kinds), size=size)
    return np.asarray(scale * kinds[which, np.arange(size)])


def _one_hot(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Signed basis vectors, some of them zero."""
    X = np.zeros((size, n, d))
    place = rng.integers(d, size=(size, n))
    np.put_along_axis(X, place[..., None], rng.choice([-1.0, 0.0, 1.0], (size, n, 1)), axis=-1)
    return X


def draw(statement: Statement, rng: Rng, size: int) -> NetworkInstance:
    """A batch for a statement that brings no draws of its own."""
    allowed = rooms(statement)[:40]
    room = allowed[int(rng.integers(len(allowed)))]
    return replace(room.instance(starts(rng, room, size)), label="structured")


def with_draws(statement: Statement) -> Statement:
    """The statement itself, or (about networks, without draws) one that draws from its rooms."""
    if statement.draws or statement.arrays:
        return statement

    def structured(rng: Rng, size: int) -> NetworkInstance:
        return draw(statement, rng, size)

    return replace(statement, draws=(structured,))


def scores(statement: Statement, instance: NetworkInstance) -> Floats:
    """How near each instance of a batch is to breaking the claim: log lhs − log rhs of the worst relation.

    Where a side is not positive, the difference relative to the largest summand. Instances that a hypothesis
    excludes
    score by how far they are from it, far below all others.
    """
    try:
        return _scores(statement, instance)
    except InvalidArgument:  # one of them has no meaning, such as a zero token under LayerNorm
        if len(instance) == 1:
            return np.full(1, -1e6)
        return np.concatenate([scores(statement, instance.select(i)) for i in range(len(instance))])


def _scores(statement: Statement, instance: NetworkInstance) -> Floats:
    size = len(instance)
    with np.errstate(all="ignore"):
        subject = statement.run(_FLOATS, instance)
        if isinstance(subject, Run):
            subject.quick = True
        found = np.full(size, -np.inf)
        excluded = np.zeros(size)
        for part in statement.hypotheses:
            for side in sides(statement._written_out(part), subject):
                known = judged(side, size, subject.numbers)
                if side.truth is not None:
                    excluded = np.where(known.above, 1e3, excluded)
                else:
                    excluded = np.maximum(excluded, np.where(known.below, 0.0, 1e-3 + np.maximum(0.0, _gap(side))))
        for side in sides(statement.expanded, subject):
            if side.truth is not None:
                found = np.maximum(found, np.where(judged(side, size, subject.numbers).above, 1.0, -1.0))
            else:
                # What doubles cannot tell from equality is none.
                clear = judged(side, size, subject.numbers).above
                gap = _gap(side)
                found = np.fmax(found, np.where(clear, gap, np.minimum(gap, 0.0)))
    found = np.where(np.isnan(found), -1e4, np.clip(found, -1e4, 1e4))
    return np.asarray(np.where(excluded > 0, -1e5 - excluded, found))


def _gap(side: Any) -> Floats:
    left, right = (x if isinstance(x, Signed) else Signed.exact(Fraction(x)) for x in (side.left, side.right))
    both = (left.sign > 0) & (right.sign > 0)
    difference = left - right
    relative = difference.sign * np.exp(np.minimum(difference.log - difference.top, 0.0))
    # Equal tokens and the like: 0 ≤ 0 is no near miss.
    relative = np.where(difference.sign == 0, np.where(left.sign == 0, _TRIVIAL, 0.0), relative)
    return np.asarray(np.where(both, left.log - right.log, relative))


def _floats() -> Any:
    from rankmath.arithmetic.float64 import Float64

    return Float64(np.zeros(1))


_FLOATS = _floats()
