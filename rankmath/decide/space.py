"""Where to look: the shapes and switches that a claim about networks allows, and structured starts in them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import floor
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankmath.arithmetic.protocol import System
from rankmath.definitions.attributes import unmoved
from rankmath.definitions.entries import ENTRIES, Entry
from rankmath.definitions.hypotheses import ALIASES, SWITCHES, mask_of
from rankmath.definitions.layer import LAYERNORMS
from rankmath.formula.evaluate import NoSuchPlace, Side, index_of, judged, sides
from rankmath.formula.language import ARRAYS, FUNCTIONS
from rankmath.formula.numbers import Signed
from rankmath.formula.printing import text
from rankmath.formula.run import Run
from rankmath.formula.terms import Call, Every, Formula, Item, Letter, Number, Operation, Relation, Term, walk
from rankmath.linalg.masks import Mask, as_mask
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import ALiBi, PositionTable, Rotary
from rankmath.model.sublayers import Activation, NormKind
from rankmath.validation import InvalidArgument
from rankmath.verification.data import COMPARED
from rankmath.verification.draws import ALL_TOKENS, Rng
from rankmath.verification.instance import Instance, NetworkInstance
from rankmath.verification.statement import Statement

Floats = NDArray[np.float64]

# Sizes that are tried unless the hypotheses name others, and the largest of each.
_SIZES = {"n": (2, 3, 4, 6, 8, 16, 32), "d": (1, 2, 3, 4, 6, 16), "H": (1, 2, 3), "L": (1, 2, 3)}
_MOST = {"n": 64, "d": 24, "H": 16, "L": 16}
_MASKS = ("none", "causal", "window:1", "star:0", "prefix:1", "window:0", "others", "next")
_HOLLOW = ("others", "next")
_SKIPS = (1.0, 0.5, -1.0, 2.0, 0.0)
#: What a switch that may be anything is, beginning with what it is where nothing is said.
_TRIED = {
    "layernorm": ("none", "rms", "sphere"),
    "norm_at": ("after", "before"),
    "mlp": ("none", "relu", "tanh"),
    "softcap": ("none", "tanh"),
    "qk_norm": ("none", "any"),
    "positions": ("none", "rotary", "alibi", "relative"),
}
# -1 for terms of relative positions, which either draw or repel; 1/8 for slopes of ALiBi, which logits hide.
_STRENGTHS = (1.0, 16.0, 0.125, -1.0, 2.0**10)
_FAR = 1024.0  # for MLPs alone, which then have a bias too
_EPS = 2.0**-17  # near the usual 1e-5, and short
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
    norm: NormKind | Literal["none"] = "none"
    norm_at: str = "after"
    mlp: Activation | Literal["none"] = "none"
    softcap: str = "none"
    qk_norm: bool = False
    positions: str = "none"
    kv_heads: int = 0  # 0: every head has its own
    key_bias: bool = False
    bias: bool = False
    #: Whether every W is a signed permutation, exactly orthogonal.
    orthogonal: bool = False
    #: A factor of what is not drawn: terms that positions add to logits, weights of MLPs, caps, gains of LayerNorms
    #: (which then have an offset too).
    strength: float = 1.0

    @property
    def size(self) -> int:
        """About the numbers that make an instance, more for many tokens: the order in which rooms are searched."""
        extra = (1.5 if self.key_bias or self.bias else 1.0) * (1 + (self.mask != "none"))
        extra *= 1.5 if self.d_qk not in (1.0, float(self.d)) else 1.0
        extra *= 1.25 ** sum(part != "none" for part in (self.norm, self.mlp, self.softcap, self.positions))
        return int((self.n * (self.d + self.n / 2) + 2 * self.L * self.H * self.d**2) * extra)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The arrays that no small step may move."""
        return ("W",) if self.orthogonal else ()

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

        query = stacked("W_QK", 2)
        assert query is not None
        ones = np.broadcast_to(np.eye(self.d), query.shape)  # keys, and the values of groups, are the tokens
        net = self.prototype.replace(
            query=query,
            **({"key": ones} if self.plain_keys else {}),
            **({"value": ones, "output": stacked("W", 2)} if self.kv_heads else {"value": stacked("W", 2)}),
            key_bias=stacked("key_bias", 2),
            bias=stacked("bias", 1),
        )
        return NetworkInstance(net, arrays["X"], label)

    @cached_property
    def prototype(self) -> Network:
        """A network of zeros of this shape; its MLPs are activations times a number, plus tokens where LayerNorm is
        before."""
        zeros, mask = np.zeros((self.H, self.d, self.d)), self.mask_graph()
        f = None
        if self.mlp != "none":
            bias = np.ones(self.d) if self.strength == _FAR else None
            f = MLP(np.eye(self.d), self.strength * np.eye(self.d), b_in=bias, activation=self.mlp)
        if self.norm_at == "after" and self.positions == "none" and self.softcap == "none" and not self.plain_keys:
            stack = np.broadcast_to(zeros, (self.L, *zeros.shape))
            return Network.from_arrays(stack, stack, self.d_qk, skip=self.skip, mlp=f, norm=self.layernorm, mask=mask)
        attention = Attention.from_arrays(
            *(zeros, zeros, self.d_qk),
            mask=mask,
            softcap=None if self.softcap == "none" else self.strength,
            cap="tanh" if self.softcap == "none" else self.softcap,
            **_positions(self),
        )
        if self.plain_keys:  # keys are the tokens: XW_QK and X are queries and keys of any width up to d
            ones = np.broadcast_to(np.eye(self.d), zeros.shape)
            gains = (np.ones(self.d), np.ones(self.d), 1e-6) if self.qk_norm else None
            attention = replace(attention, key=ones, qk_norm=gains)
            if self.kv_heads:
                attention = replace(attention, value=ones, output=zeros, kv_heads=self.kv_heads)
        before = self.layernorm if self.norm_at == "before" else None
        layer = [Sublayer(attention, self.skip, before)]
        layer += [] if f is None else [Sublayer(f, 1.0 if before else 0.0, before)]
        if before is None:
            layer[-1] = replace(layer[-1], after=self.layernorm)
        return Network.from_layers([layer] * self.L)

    @property
    def plain_keys(self) -> bool:
        """Whether queries and keys must be told apart."""
        return self.qk_norm or self.kv_heads > 0

    @property
    def layernorm(self) -> LayerNorm | None:
        if self.norm == "none":
            return None
        definition = LAYERNORMS.get(self.norm, "")
        gained = self.strength != 1 and "N.gain" in definition
        return LayerNorm(
            self.norm,
            eps=_EPS if "N.eps" in definition else None,
            gain=np.full(self.d, self.strength) if gained else None,
            offset=np.eye(self.d)[0] if gained and "N.offset" in definition else None,
        )

    def mask_graph(self) -> Mask | None:
        """The mask on n tokens; under "others" and "next" (the last token's is the first) none sees itself."""
        if self.mask in _HOLLOW:
            return Mask(~np.eye(self.n, dtype=bool) if self.mask == "others" else np.roll(np.eye(self.n), 1, 1) > 0)
        return None if self.mask == "none" else as_mask(self.mask, self.n)


def fits(mask: str, n: int) -> bool:
    """Whether there is such a mask on n tokens: a hub is one of them, and each token sees some token."""
    word, _, number = mask.partition(":")
    return n > 1 if word in _HOLLOW else word != "star" or int(number) < n


def _positions(room: Room) -> dict[str, Any]:
    """The positions of a room, exact: quarter turns, slopes and terms that are powers of two."""
    match room.positions:
        case "rotary":
            turns = np.arange(room.n)[:, None] * (1 + np.arange(room.d // 2)) % 4
            cosines, sines = np.asarray([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]])
            return {"rotary": Rotary(cosines[turns], sines[turns])}
        case "alibi":
            return {"position": ALiBi(room.strength * 2.0 ** -np.arange(room.H))}
        case "relative":
            far = np.arange(room.n) - np.arange(room.n)[:, None]
            tables = [np.where(far == h - 1, 2 * room.strength, 0.0) for h in range(room.H)]
            return {"position": PositionTable(np.stack(tables))}
    return {}


def rooms(statement: Statement) -> list[Room]:
    """Those rooms of the lists above that the hypotheses on letters and switches allow, small ones first."""
    parts = (statement.expanded, *statement.hypotheses)
    if not any(isinstance(term, Item) for term in walk(statement.expanded)) and not _measures(statement.expanded):
        raise InvalidArgument(f"claim: {statement.claim_text} given; it says nothing of X, W, W_QK or P")
    needed = [max(sizes) for sizes in zip(*map(_least, parts), strict=True)]
    for what, least, letter in zip(("tokens", "layers", "heads"), needed, "nLH", strict=True):
        if least > _MOST[letter]:
            raise InvalidArgument(
                f"claim: it speaks of {least} {what}; networks of at most {_MOST[letter]} are searched"
            )
    least_tokens, least_layers, least_heads = needed
    equations = [part for part in statement.hypotheses if isinstance(part, Relation) and part.operator == "=="]
    said = {
        (e.left.name, e.right.name) for e in equations if isinstance(e.left, Letter) and isinstance(e.right, Letter)
    }
    masks = _MASKS if ("mask", "any") in said else tuple(word for name, word in said if name == "mask") or ("none",)
    masks = tuple(_mask_name(word) for word in masks)
    words = {name: word for name, word in said if word != "none"}
    kinds = {
        name: tried if words.get(name) == "any" else (words.get(name, tried[0]),) for name, tried in _TRIED.items()
    }
    groups = (1, 2) if _mentions(statement, "kv_heads") else (0,)
    no_key_bias, no_bias = ("query_bias", "none") in said, ("bias", "none") in said
    assumed = [term.function for p in statement.hypotheses for term in walk(p) if isinstance(term, Call)]
    orthogonal = "orthogonal_values" in assumed
    # Layers after the last one that is mentioned change nothing, nor do heads where only the input is.
    only_input = not _mentions(statement, "l", "L", "h", "H") and _last_tokens(statement) == 0
    layers = _sizes(statement, "L") if _mentions(statement, "l", "L") else [1]
    heads = _sizes(statement, "H") if not only_input else [1]
    shapes = product(
        sorted({max(n, least_tokens) for n in _sizes(statement, "n")}),
        _sizes(statement, "d"),
        sorted({max(h, least_heads) for h in heads}),
        sorted({max(l, least_layers) for l in layers}),
    )
    # The scale of W_QK stands for d_qk, unless the claim speaks of it.
    scales = _numbers(statement, "d_qk") | {1.0, 4.0} if _mentions(statement, "d_qk") else {0.0}
    # A bias moves all tokens alike: one layer shows it only where that can be seen.
    called = {t.function for p in parts for t in walk(p) if isinstance(t, Call) and t.function in ENTRIES}
    tokens = [entry for entry in map(ENTRIES.__getitem__, called) if _of_tokens(entry)]
    seen = not all(map(unmoved, tokens))
    lawful = _lawful(statement)
    beside = {int(number) + step for number in _numbers(statement, "d") for step in (-1, 0, 1)}
    found = set()
    skips = {factor * number for number in _numbers(statement, "skip") for factor in (1.0, -1.0, 0.5, 2.0)}
    every = product(
        shapes, sorted(skips | set(_SKIPS)), masks, sorted(scales), product(*kinds.values()), groups, _STRENGTHS
    )
    for (n, d, H, L), skip, mask, d_qk, switched, kv_heads, strength in every:
        norm, norm_at, mlp, softcap, qk_norm, positions = switched
        if not fits(mask, n):
            continue
        if (positions == "rotary" and d < 2) or (kv_heads and H % kv_heads) or (norm != "none" and d < 2):
            continue
        scaled = mlp != "none" or softcap != "none" or positions in ("alibi", "relative")
        scaled = scaled or "N.gain" in LAYERNORMS.get(norm, "")
        alone = {-1.0: "relative", 0.125: "alibi"}.get(strength)
        if strength != 1 and not scaled:
            continue
        if alone and (positions, mlp, softcap, norm) != (alone, "none", "none", "none"):
            continue
        if strength == _FAR and (mlp == "none" or (positions, softcap, norm) != ("none", "none", "none")):
            continue
        if norm == "none" and norm_at == "before":
            continue
        biased = not no_key_bias and softcap == "none" and qk_norm == "none" and not kv_heads
        for with_bias in (False, True):
            room = Room(
                *(n, d, H, L, d_qk or float(d), skip, mask),
                *(norm, norm_at, mlp, softcap, qk_norm != "none", positions, kv_heads),
                key_bias=with_bias and biased and positions != "rotary",
                bias=with_bias and not no_bias and (L > 1 or seen),
                orthogonal=orthogonal,
                strength=strength,
            )
            thin = d <= 6 or n <= 4 or d in beside  # many dimensions matter most to few tokens
            if thin and room not in found and lawful(room):
                found.add(room)
    if not found:
        if clash := _clash(statement):
            clashing = " and ".join(clash) + (" contradict each other" if len(clash) > 1 else " given")
            raise InvalidArgument(f"given: {clashing}; no network is so")
        for what, least, letter in zip(("token", "layer", "head"), needed, "nLH", strict=True):
            if clash := _clash(statement, Relation(">=", Letter(letter), Number(Fraction(least)))):
                counted = f"{least} {what}s" if least > 1 else f"{least} {what}"
                raise InvalidArgument(f"claim: it speaks of {counted}; {clash[0]} given")
        sizes = ", ".join(f"{letter} <= {number}" for letter, number in _MOST.items())
        # What was typed, not what is meant where nothing is said.
        assert isinstance(statement.given, tuple)
        given = ", ".join(map(text, statement.given)) or "nothing"
        raise InvalidArgument(
            f"given: {given} given; no network that is searched (n >= 2, {sizes}, d >= 2 with LayerNorm) is so and "
            "has what the claim names"
        )
    ordered = sorted(
        found,
        key=lambda room: (
            room.size // (8 if room.d > 6 else 1),
            room.n,
            room.L,
            room.key_bias,
            room.strength != 1,
            str(room),
        ),
    )
    try:
        scores(statement, ordered[0], starts(np.random.default_rng(0), ordered[0], 2))
    except NoSuchPlace:
        raise InvalidArgument(f"claim: {statement.claim_text} speaks of layers or heads beyond L or H") from None
    return ordered


def _of_tokens(entry: Entry) -> bool:
    return bool(entry.parameters) and entry.parameters[0].kind in ("tokens", "matrix")


def _clash(statement: Statement, *more: Relation) -> list[str]:
    """Hypotheses on one letter, each compared with a number, that no value of it meets; else nothing."""
    said: dict[str, list[Relation]] = {}
    for part in (*statement.expanded_hypotheses, *more):
        if isinstance(part, Relation) and isinstance(part.left, Letter) and isinstance(part.right, Letter | Number):
            said.setdefault(part.left.name, []).append(part)
    for letter, parts in said.items():
        if letter in SWITCHES:
            if len({part.right for part in parts if part.right != Letter("any")}) > 1:
                return [text(part) for part in parts]
            continue
        bounds = [(part.operator, part.right.value) for part in parts if isinstance(part.right, Number)]
        numbers = sorted({Fraction(1), *(value for _, value in bounds)})
        # If any value meets all of them, then one at, between or beside the numbers does.
        values = [*numbers, numbers[0] - 1, numbers[-1] + 1, *((a + b) / 2 for a, b in pairwise(numbers))]
        if letter in _MOST:
            values = [Fraction(value) for x in values for value in (floor(x), floor(x) + 1) if value >= 1]
        if not any(all(_COMPARE[sign](value, bound) for sign, bound in bounds) for value in values):
            return [text(part) for part in parts]
    return []


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {**COMPARED, "==": operator.eq}


def _mask_name(word: str) -> str:
    """The name of a mask for `as_mask`."""
    named = mask_of(word)
    return f"{named[0]}:{named[1]}" if named else "none" if word in ("complete", "padding") else word


def _numbers(statement: Statement, letter: str) -> set[float]:
    """The numbers that stand beside a letter in a hypothesis of the sizes alone."""
    return {
        float(term.value)
        for part in statement.hypotheses
        if any(isinstance(term, Letter) and ALIASES.get(term.name, term.name) == letter for term in walk(part))
        and not any(isinstance(term, Item) for term in walk(part))
        for term in walk(part)
        if isinstance(term, Number) and abs(term.value) < 10**9
    }


def _sizes(statement: Statement, letter: str) -> list[int]:
    """The usual values of a letter, and those at and beside the numbers it is compared with."""
    beside = {int(number) + step for number in _numbers(statement, letter) for step in (-1, 0, 1)}
    # One token alone is a network of its own kind: searched where the hypotheses ask for it.
    alone = any(text(part) in ("n == 1", "n <= 1", "n < 2") for part in statement.hypotheses)
    least = 2 if letter == "n" and not alone else 1
    return sorted(k for k in beside | set(_SIZES[letter]) if least <= k <= _MOST[letter])


def _mentions(statement: Statement, *names: str) -> bool:
    """Whether a letter or a reduction over an index occurs in the claim or its hypotheses."""
    for part in (statement.expanded, *statement.hypotheses):
        for term in walk(part):
            if isinstance(term, Letter) and term.name in names:
                return True
            if isinstance(term, Call) and (term.function == "recursion" or term.function.partition("_")[2] in names):
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


def _least(formula: Formula) -> tuple[int, int, int]:
    """How many tokens, layers and heads the numbers of these ask for; as many layers as blocks of them."""
    tokens = layers = heads = 1
    for term in walk(formula):
        if isinstance(term, Call) and term.function in ENTRIES:
            for part, parameter in zip(term.terms, FUNCTIONS[term.function].parameters, strict=False):
                if parameter.kind == "layer" and isinstance(part, Number):
                    index = index_of(term.function, parameter.name)
                    tokens = max(tokens, int(part.value) + 1 if index == "i" else 1)
                    layers = max(layers, int(part.value) + 1 if index in ("l", "k") else 1)
        if isinstance(term, Item) and term.array in ARRAYS:
            numbers = [int(part.value) if isinstance(part, Number) else -1 for part in term.index]
            layers = max(layers, numbers[0] + (term.array != "X"))
            heads = max(heads, *(number + 1 for number in numbers[1:]), 1)
    return tokens, layers, heads


def _lawful(statement: Statement) -> Callable[[Room], bool]:
    """Whether every hypothesis that only letters and switches decide holds in a room."""
    deciding = [
        (part, _reads(part), dict[tuple[object, ...], bool]())
        for part in statement.expanded_hypotheses
        if not any(isinstance(term, Item) for term in walk(part)) and not _measures(part)
    ]

    def lawful(room: Room) -> bool:
        for part, fields, known in deciding:
            seen = tuple(getattr(room, field) for field in fields)
            if seen not in known:
                known[seen] = _obeyed(part, room)
            if not known[seen]:
                return False
        return True

    return lawful


#: What of a room a letter or switch depends on; nothing, unless said here.
_READ = {
    **{name: (name,) for name in ("n", "d", "H", "L", "d_qk", "skip")},
    **dict.fromkeys(("mask", "r", "in_degree"), ("n", "mask")),
    "K": ("L", "n", "mask"),
    "layernorm": ("norm",),
    **{name: (name,) for name in ("norm_at", "mlp", "softcap", "qk_norm")},
    "positions": ("positions", "n", "H", "strength"),
    "kv_heads": ("kv_heads", "H"),
}


def _reads(formula: Formula) -> tuple[str, ...]:
    """The fields of a room on which a formula of letters and switches depends."""
    if any(isinstance(term, Call | Every) for term in walk(formula)):
        return tuple(name for name in Room.__dataclass_fields__ if "bias" not in name and name != "orthogonal")
    letters = {ALIASES.get(term.name, term.name) for term in walk(formula) if isinstance(term, Letter)}
    return tuple(sorted({field for letter in letters for field in _READ.get(letter, ())}))


def _obeyed(hypothesis: Formula, room: Room) -> bool:
    # Sizes and switches without weights: a network of zeros would say the same, more slowly.
    absent = dict.fromkeys(("rotary", "position", "bias", "key_bias", "b_Q"))
    capped = {"softcap": None if room.softcap == "none" else 1.0, "cap": room.softcap}
    logits = {**capped, "qk_norm": room.qk_norm or None, **_positions(room)}
    attention = SimpleNamespace(**{**absent, **logits}, heads=room.H, kv_heads=room.kv_heads or None)
    bare: Any = SimpleNamespace(
        dim=room.d,
        heads=room.H,
        layers=room.L,
        d_qk=room.d_qk,
        skip=room.skip,
        activations=(room.mlp,),
        attentions=(attention,),
        norm_kind=room.norm,
        norm_at=room.norm_at,
        mask_for=lambda n: room.mask_graph(),
        has_one_mask=True,
    )
    subject = Run(_FLOATS, bare, np.empty((room.n, room.d)))
    return not any(bool(judged(side, 1, subject.numbers).above[0]) for side in sides(hypothesis, subject))


def _measures(formula: Formula) -> bool:
    return any(isinstance(term, Call) and FUNCTIONS[term.function].evaluate is not None for term in walk(formula))


def starts(rng: Rng, room: Room, size: int) -> dict[str, Floats]:
    """A batch of structured instances: scales over decades; sparse, signed, repeated, idle, one-hot and two-valued
    tokens; rank-one, skew, diagonal and permuting weights; small integers throughout."""
    shapes = room.parts()
    arrays = {name: _weights(rng, size, shape) for name, shape in shapes.items() if name != "X"}
    n, d = shapes["X"]
    signs = rng.choice([-1.0, 1.0], (size, n, d))
    kinds = [tokens(rng, size, n, d) for tokens in ALL_TOKENS]
    kinds.append(np.where(rng.random((size, n, d)) < 0.5, 0.0, signs))
    kinds.append(signs)
    kinds.append(_one_hot(rng, size, n, d))
    kinds.append(signs[..., :1] * rng.standard_normal((size, 1, d)))
    kinds.append(rng.integers(-3, 4, (size, n, d)).astype(float))
    # Idle tokens: all but two or three nearly zero, on either side of it.
    active = np.arange(n) < rng.integers(1, 4, (size, 1))
    kinds.append(np.where(active[..., None], signs, signs * 10.0 ** rng.uniform(-6, -1, (size, 1, 1))))
    which = rng.integers(len(kinds), size=size)
    scaled, decades = rng.random((size, 1, 1)) < 0.2, 10.0 ** rng.uniform(-3, 3, (size, 1, 1))
    X = np.stack(kinds)[which, np.arange(size)] * np.where(scaled, decades, 1.0)
    # Repeated tokens: copies of one.
    copies = rng.random((size, n)) < rng.choice([0.0, 0.0, 0.5], (size, 1))
    X = np.where(copies[..., None], X[:, :1], X)
    # Equal tokens say nothing.
    X[(X[:, :1] == X).all(axis=(1, 2)), -1] += 1.0
    arrays["X"] = np.clip(X, -1e6, 1e6)
    if room.orthogonal:
        arrays["W"] = _permutations(rng, (size, *shapes["W"]))
    if room.norm == "sphere":
        # A zero token has no direction.
        zero = ~arrays["X"].any(axis=-1, keepdims=True)
        arrays["X"] = np.where(zero, rng.standard_normal(arrays["X"].shape), arrays["X"])
    return arrays


def patterns(rng: Rng, room: Room, size: int) -> dict[str, Floats]:
    """A batch in numbers as simple as equalities ask for, such as those at which a rank falls.

    Tokens are units, signs, or multiples of one; each W is a multiple of the identity, has one entry or one row that
    is not 0, or is 0; attention is uniform, soft or nearly hard. Tokens of the first two are units up to signs. In
    some, what the one entry of W adds to the second of them may cancel it.
    """
    n, d = room.n, room.d

    def powers(*shape: int) -> Floats:
        return np.asarray(rng.choice([-1.0, 1.0], (size, *shape)) * 2.0 ** rng.integers(-3, 3, (size, *shape)))

    places = np.arange(n)
    units = np.eye(d)[places % d] * np.where(places // d % 2, -1.0, 1.0)[:, None] * np.ones((size, 1, 1))
    signs = rng.choice([-1.0, 1.0], (size, n, d))
    hot = np.eye(d)[rng.integers(d, size=(size, n))] * powers(n, 1)
    multiples = (2.0 * places - n + 1)[:, None] / n * signs[:, :1] * np.abs(powers(1, 1))
    which = rng.integers(5, size=size)
    which[:2] = 0
    arrays = {"X": np.stack([units, signs, hot, hot * np.abs(powers(1, 1)), multiples])[which, np.arange(size)]}
    stack = room.parts()["W"][:2]
    scale = powers(*stack, 1, 1) * 2.0 ** (-6 * rng.integers(0, 2, (size, *(1 for _ in stack), 1, 1)))
    unit = np.eye(d)[rng.integers(d, size=(size, *stack))]
    row = unit[..., :, None] * powers(*stack, 1, d)
    entry = unit[..., :, None] * np.eye(d)[rng.integers(d, size=(size, *stack))][..., None, :] * scale
    which = rng.integers(4, size=size)
    which[:2] = range(len(which[:2]))
    arrays["W"] = np.stack([np.eye(d) * scale, np.zeros_like(entry), entry, row])[which, np.arange(size)]
    if room.orthogonal:
        arrays["W"] = _permutations(rng, (size, *room.parts()["W"]))
    sharp = rng.choice([0.0, 0.0, 1.0, 32.0], (size, *stack, 1, 1))
    arrays["W_QK"] = np.eye(d) * sharp * np.where(sharp == 1, np.abs(powers(*stack, 1, 1)), 1.0)
    if n > 1 and d > 1 and not room.orthogonal:
        falls = (rng.random(size) < 0.15) & (np.arange(size) > 1)
        single = powers(1, 1)
        fallen = units.copy()
        fallen[:, 1] *= single[:, 0] / rng.choice([-1.0, 1.0, -2.0, -n, -4.0], (size, 1))
        arrays["X"] = np.where(falls[:, None, None], fallen, arrays["X"])
        falls, single = falls[:, None, None, None, None], single[:, None, None]
        arrays["W"] = np.where(falls, single * np.outer(np.eye(d)[0], np.eye(d)[1]), arrays["W"])
        arrays["W_QK"] = np.where(falls, 0.0, arrays["W_QK"])
    arrays |= {name: np.zeros((size, *shape)) for name, shape in room.parts().items() if name not in arrays}
    if "bias" in arrays:
        arrays["bias"] = powers(*room.parts()["bias"]) * rng.choice([0.0, 1.0], (size, 1, 1))
    return arrays


def _permutations(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Signed permutation matrices, half of them plus or minus the identity."""
    d = shape[-1]
    order = np.where(rng.random((*shape[:-2], 1)) < 0.5, np.arange(d), rng.random(shape[:-1]).argsort(axis=-1))
    one = rng.choice([-1.0, 1.0], (*shape[:-2], 1))
    signs = np.where(rng.random((*shape[:-2], 1)) < 0.5, one, rng.choice([-1.0, 1.0], shape[:-1]))
    return np.asarray(np.eye(d)[order] * signs[..., None])


def _weights(rng: Rng, size: int, shape: tuple[int, ...]) -> Floats:
    wide = (size, *(1 for _ in shape))
    scale = 10.0 ** rng.uniform(-1.5, 1.5, wide)
    scale = np.where(rng.random(wide) < 0.2, 10.0 ** rng.uniform(-4, 4, wide), scale)
    scale = np.where(rng.random(wide) < 0.2, 1.0, scale)
    dense = rng.standard_normal((size, *shape))
    whole = rng.integers(-2, 3, (size, *shape)).astype(float)
    sparse = dense * (rng.random((size, *shape)) < 0.4)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        d = shape[-1]
        left, right = rng.standard_normal((size, *shape[:-1], 1)), rng.standard_normal((size, *shape[:-2], 1, d))
        rank_one = left * right
        unit = np.eye(d)[rng.integers(d, size=(size, *shape[:-2]))][..., None, :] * left
        skew = dense - np.swapaxes(dense, -1, -2)
        kinds = np.stack([dense, whole, sparse, rank_one, unit, _permutations(rng, (size, *shape)), skew])
        if d >= 8:  # where norms of matrices are far apart
            flat = [np.broadcast_to(matrix, dense.shape) for matrix in _far_apart(d)]
            kinds = np.concatenate([kinds, flat])
    else:
        kinds = np.stack([dense, whole, sparse, np.zeros_like(dense)])
    which = rng.integers(len(kinds), size=size)
    return np.asarray(scale * kinds[which, np.arange(size)])


def _far_apart(d: int) -> Floats:
    """Matrices whose norms differ most: a flat orthogonal one (Hartley's), a full row, a full column."""
    angle = 2 * np.pi * np.outer(np.arange(d), np.arange(d)) / d
    first = np.eye(d)[:1]
    return np.stack([(np.cos(angle) + np.sin(angle)) / np.sqrt(d), first.T * np.ones(d), first * np.ones((d, 1))])


def wide_rooms(statement: Statement, found: list[Room]) -> list[Room]:
    """Of the rooms that a claim allows, a few of few tokens in many dimensions, and of many tokens in two."""
    lawful = _lawful(statement)
    wide: dict[Room, None] = {}
    tall: dict[Room, None] = {}
    for room in sorted(found, key=lambda room: (room.n, room.H, room.L)):
        if room.n <= 3 and room.d == 2 and not room.orthogonal and not room.kv_heads and room.positions != "rotary":
            bare = replace(room, key_bias=False, bias=False)
            many = replace(bare, d=_MOST["d"], d_qk=float(_MOST["d"]) if room.d_qk == room.d else room.d_qk)
            for rooms_like, one in ((wide, many), (tall, replace(bare, n=_MOST["n"] // 2))):
                if lawful(one):
                    rooms_like[one] = None
    return [*wide][:4] + [*tall][:2]


def extremes(room: Room) -> dict[str, Floats]:
    """Instances, no two alike, on which norms of tokens, of matrices and of attention are far apart.

    Tokens are 0 but for the first or last, or opposite, or units; each layer's values are the identity, all ones, a
    full row or column, a flat orthogonal matrix or a unit one; attention is uniform, nearly so, or nearly hard.
    """
    n, d, L, H = room.n, room.d, room.L, room.H
    unit, ones, place = np.eye(d)[0], np.ones(d), np.eye(max(n, d))
    mixed = np.where(np.arange(d) % 2, 1.0, -1.0)
    peak = ones + (np.sqrt(d) - 1) * unit  # of unit length its largest entry times the sum of them is largest
    first, last = place[:n, :1], place[:n, n - 1 : n]
    tokens = [side * v for v in (unit, ones, mixed, peak) for side in (first, last, first - last)]
    turns = np.where(np.arange(n)[:, None] % 2, 1.0, -1.0)
    tokens += [place[:n, :d] - place[n - 1, :d], turns * unit, turns * ones]
    matrices = [np.eye(d), np.ones((d, d)), np.outer(unit, unit), *_far_apart(d)]
    every = [*product(range(len(matrices)), repeat=min(L, 2))]
    logits = (0.0, 2.0**-8, 30.0)
    rows = [*product(range(len(tokens)), every, logits, (True, False) if H > 1 else (True,))]
    W = np.zeros((len(rows), L, H, d, d))
    for k, (_, chosen, _, all_heads) in enumerate(rows):
        for l in range(L):
            W[k, l, : H if all_heads else 1] = matrices[chosen[l % len(chosen)]]
    sharp = np.asarray([row[2] for row in rows])[:, None, None, None, None]
    arrays = {"X": np.stack([tokens[row[0]] for row in rows]), "W": W, "W_QK": sharp * np.eye(d) + 0 * W}
    if room.norm == "sphere":  # a zero token has no direction
        arrays["X"] = np.where(arrays["X"].any(axis=-1, keepdims=True), arrays["X"], unit)
    absent = {name: shape for name, shape in room.parts().items() if name not in arrays}
    return arrays | {name: np.zeros((len(rows), *shape)) for name, shape in absent.items()}


def _one_hot(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Signed basis vectors, some of them zero."""
    X = np.zeros((size, n, d))
    place = rng.integers(d, size=(size, n))
    np.put_along_axis(X, place[..., None], rng.choice([-1.0, 0.0, 1.0], (size, n, 1)), axis=-1)
    return X


def with_draws(statement: Statement) -> Statement:
    """The statement itself, or (about networks, without draws) one that draws from its rooms."""
    if statement.draws or statement.arrays:
        return statement
    small = rooms(statement)[:40]

    def structured(rng: Rng, size: int) -> NetworkInstance:
        room = small[int(rng.integers(len(small)))]
        drawn = starts(rng, room, size)
        if room.norm == "sphere":
            # A token that cancels has no direction: another member of the batch stands in.
            fine = np.flatnonzero(scores(statement, room, drawn) > -1e6)
            drawn = {name: array[np.resize(fine, size)] for name, array in drawn.items()} if fine.size else drawn
        return replace(room.instance(drawn), label="structured")

    return replace(statement, draws=(structured,))


def scores(statement: Statement, room: Room, arrays: dict[str, Floats], *, quick: bool = True) -> Floats:
    """How near each instance of a batch is to breaking the claim: log lhs − log rhs of the worst relation.

    Where a side is not positive, the difference relative to the largest summand. Instances that a hypothesis
    excludes score by how far they are from it, far below all others.
    """
    try:
        return _scores(statement, room.instance(arrays), quick)
    except NoSuchPlace:
        raise
    except InvalidArgument:  # one of them has no meaning, such as a zero token under LayerNorm
        size = len(arrays["X"])
        if size == 1:
            return np.full(1, -1e6)
        halves = (slice(0, size // 2), slice(size // 2, size))
        parts = [{name: array[half] for name, array in arrays.items()} for half in halves]
        return np.concatenate([scores(statement, room, part, quick=quick) for part in parts])


def score_of(statement: Statement, instance: Instance) -> float:
    """The score of one instance of any kind; −∞ where the claim does not speak of such a one."""
    try:
        return float(_scores(statement, instance, quick=False)[0])
    except (ValueError, KeyError, IndexError, AttributeError, ArithmeticError):
        return -np.inf


def _scores(statement: Statement, instance: Instance, quick: bool) -> Floats:
    size = len(instance)
    with np.errstate(all="ignore"):
        subject = statement.run(_FLOATS, instance)
        if isinstance(subject, Run):
            subject.quick = quick
        found = np.full(size, -np.inf)
        excluded = np.zeros(size)
        if isinstance(instance, NetworkInstance):  # equal tokens are looked at where nothing else refutes
            X = np.asarray(instance.X).reshape(size, *instance.X.shape[-2:])
            excluded = np.where((X[:, :1] == X).all(axis=(1, 2)), 1e3, 0.0)
        for part in statement.expanded_hypotheses:
            for side in sides(part, subject):
                known = judged(side, size, subject.numbers)
                if side.truth is not None:
                    excluded = np.where(known.above, 1e3, excluded)
                    continue
                # Doubles never tell equality: near enough is let through, and balls decide.
                obeyed = ~known.above if side.equal else known.below
                excluded = np.maximum(excluded, np.where(obeyed, 0.0, 1e-3 + np.maximum(0.0, _gap(side))))
        for side in sides(statement.expanded, subject):
            if side.strict and isinstance(side.formula, Relation) and _whole(side.formula.left, side.formula.right):
                # Of whole numbers a < b says that a + 1/2 <= b, which doubles can tell.
                side = replace(side, left=_signed(side.left) + Signed.exact(Fraction(1, 2)), strict=False)
            known = judged(side, size, subject.numbers)
            if side.truth is not None:
                found = np.maximum(found, np.where(known.above, 1.0, -1.0))
            else:
                # What doubles cannot tell from equality is none.
                found = np.fmax(found, np.where(known.above, _gap(side), np.minimum(_gap(side), 0.0)))
    found = np.where(np.isnan(found), -1e4, np.clip(found, -1e4, 1e4))
    return np.asarray(np.where(excluded > 0, -1e5 - excluded, found))


def _whole(*terms: Term) -> bool:
    """Whether these are whole numbers: ranks, counts and what sums and products make of them."""
    for term in terms:
        match term:
            case Number(value=value):
                known = value.denominator == 1
            case Letter(name=name):
                known = ALIASES.get(name, name) in ("n", "d", "H", "L", "kv_heads", "in_degree")
            case Operation(operator="+" | "-" | "*" | "neg", terms=parts):
                known = _whole(*parts)
            case Call(function=function):
                known = function in ENTRIES and ENTRIES[function].body.startswith("matrix_rank(")
            case _:
                known = False
        if not known:
            return False
    return True


def _signed(x: Any) -> Signed:
    return x if isinstance(x, Signed) else Signed.exact(Fraction(x))


def _gap(side: Side) -> Floats:
    left, right = _signed(side.left), _signed(side.right)
    both = (left.sign > 0) & (right.sign > 0)
    difference = left - right
    relative = difference.sign * np.exp(np.minimum(difference.log - difference.top, 0.0))
    # Equal tokens and the like: 0 ≤ 0 is no near miss.
    relative = np.where(difference.sign == 0, np.where(left.sign == 0, _TRIVIAL, 0.0), relative)
    # A quotient that is not positive is less than all that are.
    relative = np.where((left.sign <= 0) & (right.sign > 0), _TRIVIAL + relative, relative)
    gap = np.where(both, left.log - right.log, relative)
    return np.asarray(np.abs(gap) if side.equal else gap)


def _floats() -> System:
    from rankmath.arithmetic.float64 import Float64

    return Float64(np.zeros(1))


_FLOATS = _floats()
