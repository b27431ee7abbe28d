"""What a network is: layers of sublayers, no behaviour.

Every pass runs on `Network.sublayers`. The one-line form, the subject of most theorems, is the special case

    norm( f( λX + Σ_h P_h X W_h + 1bᵀ ) ),   P_h = softmax((X W_QK,h Xᵀ + 1 (X k_h)ᵀ)/√d_qk)

of a layer, with the same skip factor λ, LayerNorm, mask and d_qk in all of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from array_api_compat import array_namespace

from rankmath.linalg.masks import Mask, MaskLike
from rankmath.model.positions import ALiBi, Position, PositionTable, Rotary
from rankmath.model.sublayers import (
    LIPSCHITZ,
    MLP,
    Activation,
    Attention,
    LayerNorm,
    NormLike,
    Parallel,
    QKNorm,
    Sublayer,
    as_norm,
    checked_mask,
    fused_biases,
    skip_factor,
)
from rankmath.printing import Sheet, Shows
from rankmath.validation import (
    Array,
    ArrayLike,
    InvalidArgument,
    Json,
    as_array,
    as_choice,
    as_count,
    as_real,
    fits_in_memory,
    same_library,
)

__all__ = ["LIPSCHITZ", "MLP", "Attention", "LayerNorm", "Network", "Parallel", "Rotary", "Sublayer"]

T = TypeVar("T")
MapLike: TypeAlias = MLP | Sequence[MLP | None] | Activation | None
#: Names of gated MLPs, and the activation of their gate.
GATED: dict[str, Activation] = {"swiglu": "silu", "geglu": "gelu", "reglu": "relu"}
# Arrays stacked over the layers; `Network.stack` gives them a batch axis before their matrix or vector axes.
_BATCH_AXIS = {"query": 2, "key": 2, "value": 2, "output": 2, "key_bias": 2, "bias": 1}
_STACKS = tuple(_BATCH_AXIS)
# The names of the one-line form beside d_qk, and what they are unless given.
_MAKERS = "build networks with Network.from_arrays, from_qkvo, from_layers, random or load"
_QKVO = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")
_ABSENT: dict[str, Json] = {**dict.fromkeys(_STACKS), "skip": 0.0, "mlp": (), "norm": None, "mask": None}


def _of_every_layer(name: str) -> cached_property[Array]:
    """An array of the attention of every layer, stacked."""
    return cached_property(lambda net: net._stacked(name))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Network(Shows):
    """Layers of sublayers; build it with `from_layers`, `from_arrays`, `from_qkvo`, `random` or `load`.

    Attributes
    ----------
    sublayers : for each layer the `Sublayer`s it applies one after the other.
    tokens : their number, where the network fixes it.

    Where every layer has one attention and all are of one shape:

    query, key : (L, H, d, k) with W_QK = query keyᵀ; `key` is None when W_QK is held fused in `query`.
    value, output : (L, H, d, v), (L, H, v, d) with W = value output; `output` is None when W is fused in `value`.
    key_bias : (L, H, d) or None, the k of the logits' term 1 (X k)ᵀ.
    bias : (L, d) or None.

    In the one-line form alone (another network refuses to name them):

    d_qk : the softmax divides by √d_qk.
    skip : the number λ (0 without a skip connection).
    mlp : one map or None for each layer.
    norm : the LayerNorm at the end of each layer, or None.
    mask : a graph on the tokens, the name of one (any number of tokens), or None.

    `replace` takes any of these names.
    """

    sublayers: tuple[tuple[Sublayer, ...], ...]
    tokens: int | None

    def __init__(
        self, sublayers: tuple[tuple[Sublayer, ...], ...] | None = None, tokens: int | None = None, **one_line: object
    ) -> None:
        if one_line:
            # The names of the one-line form are known at once, its sublayers when a pass asks for them.
            given = _ABSENT if sublayers is None else Network(sublayers, tokens)._one_line()
            whole = {**given, **one_line}
            if unknown := set(one_line) - {*_ABSENT, "d_qk"}:
                raise InvalidArgument(f"{', '.join(sorted(unknown))}: no part of a Network; {_MAKERS}")
            if not all(getattr(whole.get(name), "ndim", 0) >= 4 for name in ("query", "value")) or "d_qk" not in whole:
                raise InvalidArgument(f"query, value, d_qk: arrays of four axes and a number are needed; {_MAKERS}")
            self.__dict__.update(whole, is_one_line=True)
            L, H, *batch, d, _ = self.query.shape
            self.__dict__.update(heads=int(H), dim=int(d), batch_shape=tuple(batch), mlp=self.mlp or (None,) * int(L))
        else:
            if sublayers is None:
                raise InvalidArgument(f"sublayers: none given; {_MAKERS}")
            object.__setattr__(self, "sublayers", sublayers)
        object.__setattr__(self, "tokens", tokens)

    def __getattr__(self, name: str) -> tuple[tuple[Sublayer, ...], ...]:
        if name != "sublayers" or "query" not in self.__dict__:
            raise AttributeError(f"a Network has no {name!r}")
        layers = _one_line_layers(**self._one_line())
        object.__setattr__(self, "sublayers", layers)
        return layers

    def replace(self, **changes: Array) -> Network:
        """The network with other parts, by the names above (those of the one-line form for such a network alone).

        >>> net = Network.random(tokens=4, dim=3, layers=2)
        >>> net.replace(skip=0.5, mask="causal").skip
        0.5
        """
        if "mask" in changes:
            changes["mask"] = checked_mask(changes["mask"])
        if self.is_one_line and "sublayers" not in changes:
            return Network(**{"tokens": self.tokens, **self._one_line(), **changes})
        of_attention = {name: changes.pop(name) for name in (*_STACKS, "d_qk", "mask") if name in changes}
        layers = self.sublayers
        for name, value in of_attention.items():
            each = [value if value is None or name in ("d_qk", "mask") else value[l] for l in range(len(layers))]
            layers = tuple(
                tuple(s.with_attention(**{name: part}) for s in layer) for layer, part in zip(layers, each, strict=True)
            )
        return replace(self, **{"sublayers": layers, **changes})

    # -- construction ------------------------------------------------------------------------------------

    @classmethod
    def from_layers(cls, layers: Sequence[Sequence[Sublayer]], tokens: int | None = None) -> Network:
        """A network from its sublayers, any number of them a layer.

        >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0, skip=True)
        >>> (attention,), _ = net.sublayers
        >>> norm, f = LayerNorm("standard"), MLP(np.eye(3), np.eye(3), activation="gelu")
        >>> before = [Sublayer(attention.map, 1.0, before=norm), Sublayer(f, 1.0, before=norm)]
        >>> Network.from_layers([before, [*before, Sublayer(None, 1.0, after=norm)]]).layers
        2
        """
        for l, layer in enumerate(layers):
            if not isinstance(layer, Sequence) or not layer or not all(isinstance(s, Sublayer) for s in layer):
                raise InvalidArgument(f"layers: layer {l} is no non-empty sequence of Sublayers")
        net = cls(tuple(tuple(layer) for layer in layers), None if tokens is None else as_count("tokens", tokens))
        maps = [s.map for layer in net.sublayers for s in layer if s.map is not None]
        if not maps:
            raise InvalidArgument("layers: no attention and no MLP given; a network needs at least one")
        if len({f.dim for f in maps}) > 1:
            raise InvalidArgument(f"layers: maps of dimensions {sorted({f.dim for f in maps})} given; all must agree")
        same_library(**{f"sublayer {k}": s.weights for k, s in enumerate(sum(net.sublayers, ())) if s.map})
        fixed = {net.tokens} if net.tokens else set()
        for a in net.attentions:
            fixed |= {a.mask.n} if isinstance(a.mask, Mask) else set()
            fixed |= {a.position.tokens} if a.position and a.position.tokens else set()
            if a.rotary is not None and net.tokens is not None and a.rotary.places < net.tokens:
                raise InvalidArgument(f"layers: rotary positions up to {a.rotary.places}; tokens={net.tokens} given")
        if len(fixed) > 1:
            raise InvalidArgument(f"layers: masks or positions for {sorted(fixed)} tokens given; all must agree")
        return cls(net.sublayers, min(fixed, default=None))

    @classmethod
    def from_arrays(
        cls,
        W_QK: ArrayLike,
        W: ArrayLike,
        d_qk: float | None = None,
        key_bias: ArrayLike = None,
        bias: ArrayLike = None,
        skip: bool | float = False,
        mlp: MapLike = None,
        norm: NormLike = None,
        mask: MaskLike = None,
    ) -> Network:
        """A network from fused weights W_QK and W, both (L, H, d, d).

        >>> import numpy as np
        >>> net = Network.from_arrays(np.ones((2, 1, 3, 3)), np.ones((2, 1, 3, 3)), skip=True)
        >>> net.layers, net.heads, net.dim, net.skip
        (2, 1, 3, 1.0)
        >>> Network.from_arrays(np.ones((2, 1, 3, 4)), np.ones((2, 1, 3, 3)))
        Traceback (most recent call last):
        ...
        rankmath.InvalidArgument: W_QK: shape (2, 1, 3, 4) given; it must be (layers, heads, d, d) with square
        matrices
        """
        W_QK, W = _square_stack("W_QK", W_QK), _square_stack("W", W)
        if W.shape != W_QK.shape:
            raise InvalidArgument(f"W: shape {tuple(W.shape)} given; it must be that of W_QK, {tuple(W_QK.shape)}")
        width = W_QK.shape[-1] if d_qk is None else as_real("d_qk", d_qk, positive=True)
        return cls._assemble(W_QK, None, W, None, width, key_bias, bias, skip, mlp, norm, mask)

    @classmethod
    def from_qkvo(
        cls,
        W_Q: ArrayLike,
        W_K: ArrayLike,
        W_V: ArrayLike,
        W_O: ArrayLike,
        b_Q: ArrayLike = None,
        b_K: ArrayLike = None,
        b_V: ArrayLike = None,
        b_O: ArrayLike = None,
        skip: bool | float = False,
        mlp: MapLike = None,
        norm: NormLike = None,
        mask: MaskLike = None,
        *,
        norm_at: Literal["after", "before"] = "after",
        position: Position | None = None,
        rotary: Rotary | None = None,
        qk_norm: QKNorm | None = None,
        softcap: float | None = None,
        window: int | None = None,
    ) -> Network:
        """A network from factored weights: W_Q, W_K (L, H, d, d_qk), W_V (L, H, d, d_v), W_O (L, H, d_v, d).

        Biases: b_Q, b_K (L, H, d_qk), b_V (L, H, d_v), b_O (L, d). The factors are kept, so a narrow head costs
        n²·d_qk. Terms constant along a row leave the softmax alone, so b_K changes nothing and b_Q acts
        as the key bias k = W_K b_Q; rows of P sum to one, so b_V acts as the bias Σ_h b_V W_O. Both products are
        rounded to doubles here: the network that is made, which balls enclose, has these rounded biases.

        W_K, W_V and their biases may have fewer heads than W_Q (grouped queries), and queries and keys may be
        turned, normed or capped: `Attention` says how; every layer has the same positions and QK-norm. `norm_at` and
        `window` are those of `random`.

        >>> W = np.ones((2, 4, 6, 2))
        >>> grouped = Network.from_qkvo(W, W[:, :1], W[:, :1], np.ones((2, 4, 2, 6)), rotary=Rotary.usual(8, 2))
        >>> grouped.layers, grouped.heads, grouped.attentions[0].kv_heads
        (2, 4, 1)
        """
        W_Q, W_K = as_array("W_Q", W_Q, ndim=4), as_array("W_K", W_K, ndim=4)
        mask = _with_window(mask, window)
        before = _is_before(norm_at, norm)
        parts = (position, rotary, qk_norm, softcap)
        if before or W_K.shape != W_Q.shape or any(part is not None for part in parts):
            given = (W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)
            stacks = [
                None if a is None else as_array(name, a, ndim=ndim)
                for name, a, ndim in zip(_QKVO, given, (4, 4, 4, 4, 3, 3, 3, 2), strict=True)
            ]
            _same("layers of W_Q, W_K, …", [len(a) for a in stacks if a is not None])
            modern: dict[str, Any] = {"mask": mask, "position": position, "rotary": rotary}
            modern |= {"qk_norm": qk_norm, "softcap": softcap}
            attentions = [
                Attention.from_qkvo(*(None if a is None else a[l, ...] for a in stacks), **modern)
                for l in range(len(W_Q))
            ]
            return cls._of_attentions(attentions, skip, mlp, norm, norm_at)
        W_Q, W_K, W_V, W_O, key_bias, bias = fused_biases(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)
        k = int(W_Q.shape[-1])
        return cls._assemble(W_Q, W_K, W_V, W_O, k, key_bias, bias, skip, mlp, norm, mask)

    @classmethod
    def _of_attentions(
        cls,
        attentions: Sequence[Attention],
        skip: bool | float,
        mlp: MapLike,
        norm: NormLike,
        norm_at: Literal["after", "before"] = "after",
        tokens: int | None = None,
    ) -> Network:
        """norm(f(λX + attention)) with LayerNorm after; before, λX + attention(norm(X)) and the same for f."""
        maps = _mlps(mlp, len(attentions), attentions[0].dim, attentions[0].value)
        layers: list[list[Sublayer]] = []
        for attention, f in zip(attentions, maps, strict=True):
            if norm_at == "before":
                layers.append([Sublayer(g, skip, before=as_norm(norm)) for g in (attention, f) if g is not None])
            elif f is None:
                layers.append([Sublayer(attention, skip, after=as_norm(norm))])
            else:
                layers.append([Sublayer(attention, skip), Sublayer(f, after=as_norm(norm))])
        return cls.from_layers(layers, tokens)

    @classmethod
    def _assemble(
        cls,
        query: Array,
        key: Array,
        value: Array,
        output: Array,
        d_qk: float,
        key_bias: ArrayLike,
        bias: ArrayLike,
        skip: bool | float,
        mlp: MapLike,
        norm: NormLike,
        mask: MaskLike,
        tokens: int | None = None,
    ) -> Network:
        L, H, d = (int(s) for s in query.shape[:3])
        key_bias = None if key_bias is None else as_array("key_bias", key_bias, ndim=3, shape=(L, H, d))
        bias = None if bias is None else as_array("bias", bias, ndim=2, shape=(L, d))
        same_library(W_QK=query, W=value, key_bias=key_bias, bias=bias)
        norm = as_norm(norm)
        for name in ("gain", "offset"):
            vector = getattr(norm, name, None)
            if vector is not None:
                as_array(name, vector, ndim=1, shape=(d,))
                same_library(W=value, **{name: vector})
        mask = checked_mask(mask, tokens)
        arrays = {"query": query, "key": key, "value": value, "output": output, "key_bias": key_bias, "bias": bias}
        about = {"skip": skip_factor(skip), "mlp": _mlps(mlp, L, d, value), "norm": norm, "mask": mask}
        return cls(None, mask.n if isinstance(mask, Mask) else tokens, d_qk=d_qk, **arrays, **about)

    @classmethod
    def random(
        cls,
        tokens: int,
        dim: int,
        heads: int = 1,
        layers: int = 1,
        seed: int = 0,
        *,
        init: Literal["gaussian", "xavier", "orthogonal"] = "gaussian",
        scale: float = 1.0,
        head_dim: int | None = None,
        biases: bool = False,
        skip: bool | float = False,
        mlp: MapLike = None,
        norm: NormLike = None,
        mask: MaskLike = None,
        norm_at: Literal["after", "before"] = "after",
        positions: Literal["none", "rotary", "alibi", "relative"] | Position | Rotary = "none",
        kv_heads: int | None = None,
        qk_norm: bool = False,
        softcap: float | None = None,
        window: int | None = None,
    ) -> Network:
        """Random weights: Gaussian with variance 1/d, Xavier uniform, or orthogonal, all times `scale`.

        With `head_dim` = k the network is factored (W_Q, W_K, W_V: d × k; W_O: k × d), otherwise fused.
        `mlp` may be "relu", "tanh" or "gelu": a random MLP of width 4d in every layer; "swiglu", "geglu" or
        "reglu": a gated one.

        The parts of today's transformers: `norm_at` "before" norms what each map is given, λX + map(norm(X)), for
        attention and MLP alike; `positions` "rotary", "alibi" (slopes 2^(−8h/H)), "relative" (Gaussian numbers that
        depend on i − j and the head are added), or the positions themselves; `kv_heads` keys and values that groups of
        heads share; `qk_norm` norms queries and keys; `softcap` caps the logits; `window` = w lets a token see the w
        tokens up to itself with a causal mask, those within w else. Grouped or normed heads are factored; their
        width is d/heads unless given.

        >>> net = Network.random(tokens=8, dim=4, heads=2, layers=3, seed=0)
        >>> net.W_QK.shape, net.random_input(seed=1).shape
        ((3, 2, 4, 4), (8, 4))
        >>> llama = Network.random(tokens=8, dim=8, heads=4, layers=2, kv_heads=2, positions="rotary", norm="rms",
        ...     norm_at="before", skip=True, mlp="swiglu", mask="causal")
        >>> llama.attentions[0].kv_heads, [sublayer.before.kind for sublayer in llama.sublayers[0]]
        (2, ['rms', 'rms'])
        """
        n, d = as_count("tokens", tokens), as_count("dim", dim)
        H, L = as_count("heads", heads), as_count("layers", layers)
        rng = np.random.default_rng(as_count("seed", seed, least=0))
        as_choice("init", init, ("gaussian", "xavier", "orthogonal"))
        as_choice("biases", biases, (False, True))
        size = as_real("scale", scale, positive=True)
        of_heads = 2 * H * (d if head_dim is None else 2 * as_count("head_dim", head_dim))
        numbers = L * d * (of_heads + (8 * d if isinstance(mlp, str) else 0))
        # A draw is multiplied by its scale, and both are there at once; tokens come with the weights.
        fits_in_memory(f"tokens, dim, heads, layers: {n}, {d}, {H}, {L} given", 8 * (1.5 * numbers + 2 * n * d))

        def draw(*shape: int) -> Array:
            return size * _draw(rng, init, shape)

        before, mask = _is_before(norm_at, norm), _with_window(mask, window)
        groups = H if kv_heads is None else as_count("kv_heads", kv_heads, most=H)
        if H % groups:
            raise InvalidArgument(f"kv_heads: {groups} given; a number that divides the {H} heads is needed")
        if head_dim is None and (groups < H or qk_norm):
            head_dim = max(1, d // H)
        key: Array
        output: Array
        if head_dim is None:
            query, key, value, output = draw(L, H, d, d), None, draw(L, H, d, d), None
            width = d
        else:
            width = as_count("head_dim", head_dim)
            query, key = draw(L, H, d, width), draw(L, groups, d, width)
            value, output = draw(L, groups, d, width), draw(L, H, width, d)
        given = _positions(positions, n, H, width, rng)
        key_bias = size * rng.standard_normal((L, H, d)) / math.sqrt(d) if biases else None
        bias = size * rng.standard_normal((L, d)) / math.sqrt(d) if biases else None
        if isinstance(mlp, str):
            as_choice("mlp", mlp, (*LIPSCHITZ, *GATED))
            mlp = [_random_mlp(rng, d, mlp, biases, draw) for _ in range(L)]
        as_choice("qk_norm", qk_norm, (False, True))
        modern: dict[str, Any] = {"softcap": softcap, **given}
        if not (qk_norm or groups < H or before) and all(part is None for part in modern.values()):
            return cls._assemble(query, key, value, output, width, key_bias, bias, skip, mlp, norm, mask, tokens=n)
        make: Callable[..., Attention]
        of_layer: dict[str, Array]
        if key is None:
            if biases and ("rotary" in given or softcap is not None):
                raise InvalidArgument("biases: given with rotary or capped logits of fused heads; pass head_dim")
            make, of_layer = Attention.from_arrays, {"W_QK": query, "W": value, "key_bias": key_bias, "bias": bias}
            modern["d_qk"] = width
        else:
            if qk_norm:
                modern["qk_norm"] = (np.ones(width), np.ones(width), 1e-6)
            b_Q, b_K = (
                size * rng.standard_normal((L, count, width)) / math.sqrt(d) if biases else None
                for count in (H, groups)
            )
            make, of_layer = Attention.from_qkvo, {"W_Q": query, "W_K": key, "W_V": value, "W_O": output}
            of_layer |= {"b_Q": b_Q, "b_K": b_K, "b_O": bias}
        attentions = [
            make(**{name: a[l] for name, a in of_layer.items() if a is not None}, mask=mask, **modern) for l in range(L)
        ]
        return cls._of_attentions(attentions, skip, mlp, norm, norm_at, n)

    @classmethod
    def stack(cls, nets: Sequence[Network]) -> Network:
        """Many networks of one shape, or stacks of them, as one: weights (L, H, batch, d, d), inputs (batch, n, d).

        >>> nets = [Network.random(tokens=3, dim=2, layers=2, seed=s) for s in range(5)]
        >>> both = Network.stack(nets)
        >>> both.query.shape, bool((both.member(4).query == nets[4].query).all())
        ((2, 1, 5, 2, 2), True)
        """
        if not nets or not all(isinstance(net, Network) for net in nets):
            raise InvalidArgument("nets: a non-empty sequence of networks is needed")
        first, outlines = nets[0], [net.outline for net in nets]
        for name in _STACKS:
            if len({outline[name] for outline in outlines}) > 1:
                raise InvalidArgument(f"nets: {name} of different shapes given; all networks must have one shape")
        if any(outline != outlines[0] for outline in outlines):
            raise InvalidArgument("nets: different d_qk, skip, mask, norm or mlp given; all must share them")
        join, stacked = np.concatenate if first.batch_shape else np.stack, {}
        for name, axis in _BATCH_AXIS.items():
            arrays = [getattr(net, name) for net in nets]
            stacked[name] = None if arrays[0] is None else join(arrays, axis=axis)
        return first.replace(**stacked)

    @property
    def outline(self) -> dict[str, Json]:
        """All but the numbers: the shapes of the arrays, without a stack's own axis, and the switches."""
        found: dict[str, Json] = {name: getattr(self, name) for name in ("d_qk", "skip", "mask", "norm", "mlp")}
        for name, axis in _BATCH_AXIS.items():
            shape = getattr(getattr(self, name), "shape", None)
            found[name] = shape if shape is None or not self.batch_shape else (*shape[:axis], *shape[axis + 1 :])
        return found

    def member(self, index: int) -> Network:
        """One network of a stack."""
        return self.laid_out(lambda array, axis: array[(slice(None),) * axis + (index,)])

    def laid_out(self, layout: Callable[[Array, int], Array]) -> Network:
        """A stack with every array as `layout(array, its batch axis)` puts it."""
        arrays = {name: getattr(self, name) for name in _STACKS}
        return self.replace(**{name: None if a is None else layout(a, _BATCH_AXIS[name]) for name, a in arrays.items()})

    # -- what it is --------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Shapes and switches, and the largest norms of the weights, as plain data.

        >>> print(Network.random(tokens=8, dim=4, heads=2, layers=3, seed=0, mask="causal"))
        Network: 3 layers, 2 heads, dimension 4, 8 tokens
          each layer: attention (causal mask, d_qk = 4)
          ‖W_QK‖₂ ≤ 1.729, ‖W‖₂ ≤ 1.714
        """
        found: dict[str, Json] = {"layers": self.layers, "dim": self.dim, "tokens": self.tokens}
        found["heads"] = sorted({a.heads for a in self.attentions})
        if self.batch_shape:
            found["stack"] = list(self.batch_shape)
        found["layer"] = [[_in_words(s) for s in layer] for layer in self.sublayers]
        if self.attentions and not self.batch_shape and isinstance(self.weights, np.ndarray):
            for name, left, right in (("norm_W_QK", "query", "key"), ("norm_W", "value", "output")):
                found[name] = max(_spectral(getattr(a, left), getattr(a, right), left) for a in self.attentions)
        return found

    def sheet(self) -> Sheet:
        about = self.to_dict()
        heads = sorted({a.heads for a in self.attentions})
        parts = [f"{self.layers} layer{'' if self.layers == 1 else 's'}"]
        if heads:
            parts.append(f"{heads[0] if len(heads) == 1 else heads} head{'' if heads == [1] else 's'}")
        parts.append(f"dimension {self.dim}")
        parts.append("any number of tokens" if self.tokens is None else f"{self.tokens} tokens")
        stack = f"; a stack of {' × '.join(map(str, self.batch_shape))}" if self.batch_shape else ""
        kinds: dict[str, list[int]] = {}
        for l, layer in enumerate(self.sublayers):
            kinds.setdefault(", then ".join(map(_in_words, layer)), []).append(l)
        lines = [
            f"  {'each layer' if len(kinds) == 1 else f'layers {_ranges(where)}'}: {words}"
            for words, where in list(kinds.items())[:6]
        ]
        if len(kinds) > 6:
            lines.append(f"  … and {len(kinds) - 6} more kinds of layers")
        if "norm_W" in about:
            lines.append(f"  ‖W_QK‖₂ ≤ {about['norm_W_QK']:.4g}, ‖W‖₂ ≤ {about['norm_W']:.4g}")
        return Sheet("\n".join([f"Network: {', '.join(parts)}{stack}", *lines]))

    @property
    def layers(self) -> int:
        """L."""
        return len(self.mlp) if "mlp" in self.__dict__ else len(self.sublayers)

    @cached_property
    def attentions(self) -> tuple[Attention, ...]:
        """All attentions, in the order they are applied."""
        return tuple(s.attention for layer in self.sublayers for s in layer if s.attention is not None)

    @cached_property
    def heads(self) -> int:
        """H, the same in every layer."""
        return _same("heads", [a.heads for a in self.attentions])

    @cached_property
    def dim(self) -> int:
        """d, the length of a token."""
        return next(s.map.dim for layer in self.sublayers for s in layer if s.map is not None)

    @cached_property
    def batch_shape(self) -> tuple[int, ...]:
        """Leading axes of a stack of networks; () for one."""
        return tuple(self.attentions[0].query.shape[1:-2]) if self.attentions else ()

    @property
    def weights(self) -> Array:
        """Some array of the network, to tell its library."""
        if "value" in self.__dict__:
            return self.value
        return next(s.weights for layer in self.sublayers for s in layer if s.map is not None)

    query = _of_every_layer("query")
    key = _of_every_layer("key")
    value = _of_every_layer("value")
    output = _of_every_layer("output")
    key_bias = _of_every_layer("key_bias")
    bias = _of_every_layer("bias")

    def _stacked(self, name: str) -> Array:
        if any(sum(s.attention is not None for s in layer) != 1 for layer in self.sublayers):
            raise InvalidArgument(f"net: {name} asked for; a network with one attention in every layer has one")
        arrays = [getattr(attention, name) for attention in self.attentions]
        some = next((a for a in arrays if a is not None), None)
        if some is not None and name in ("key_bias", "bias"):  # a layer without one has 0
            arrays = [array_namespace(some).zeros_like(some) if a is None else a for a in arrays]
        _same(name, [None if a is None else tuple(a.shape) for a in arrays])
        return None if arrays[0] is None else array_namespace(*arrays).stack(arrays)

    @cached_property
    def d_qk(self) -> float:
        return _same("d_qk", [a.d_qk for a in self.attentions])

    @cached_property
    def skip(self) -> float:
        """λ, the factor of the skip connections around attention."""
        return _same("skip", [s.skip for layer in self.sublayers for s in layer if s.attention is not None])

    @cached_property
    def activations(self) -> tuple[str, ...]:
        """For every layer the activation of its last MLP, or "none"."""
        maps = [[f for s in layer for f in s.maps if isinstance(f, MLP)] for layer in self.sublayers]
        return tuple(found[-1].activation if found else "none" for found in maps)

    @cached_property
    def norm_kind(self) -> str:
        """The one kind of all LayerNorms, "none", or "mixed"."""
        parts = [s for layer in self.sublayers for s in layer]
        kinds = {norm.kind for s in parts for norm in (s.before, s.behind, s.after) if norm}
        return "mixed" if len(kinds) > 1 else next(iter(kinds), "none")

    @cached_property
    def norm_at(self) -> str:
        """Where LayerNorms stand: "after" every layer, "before" every map, or "mixed"; "after" without any."""
        parts = [s for layer in self.sublayers for s in layer]
        inner = [s.after for layer in self.sublayers for s in layer[:-1]]
        ends = [layer[-1].after is not None for layer in self.sublayers]
        if any(s.behind for s in parts):
            return "mixed"
        if not any(s.before for s in parts) and not any(inner) and len(set(ends)) == 1:
            return "after"
        return "before" if all(s.before for s in parts) and not any(s.after for s in parts) else "mixed"

    @cached_property
    def mlp(self) -> tuple[MLP | None, ...]:
        maps = (layer[1].map if len(layer) == 2 else None for layer in self._simple("mlp").sublayers)
        return tuple(f if isinstance(f, MLP) else None for f in maps)

    @cached_property
    def norm(self) -> LayerNorm | None:
        return _same("norm", [layer[-1].after for layer in self._simple("norm").sublayers])

    @cached_property
    def mask(self) -> Mask | str | None:
        return _same("mask", [a.mask for a in self.attentions])

    @cached_property
    def has_one_mask(self) -> bool:
        """Whether all attentions have the same mask."""
        masks = [a.mask for a in self.attentions]
        return all(mask is masks[0] or mask == masks[0] for mask in masks)

    @cached_property
    def is_one_line(self) -> bool:
        """Whether each layer is norm(f(λX + attention)), without positions or groups of heads; norm in all or none."""
        return len({layer[-1].after is None for layer in self.sublayers}) == 1 and all(
            isinstance(layer[0].map, Attention)
            and layer[0].map.position is None
            and layer[0].map.kv_heads is None
            and layer[0].map.is_bilinear
            and all(s.before is None and s.behind is None for s in layer)
            and (len(layer) == 1 or (len(layer) == 2 and isinstance(layer[1].map, MLP) and not layer[1].skip))
            and (len(layer) == 1 or layer[0].after is None)
            for layer in self.sublayers
        )

    def _simple(self, name: str) -> Network:
        if not self.is_one_line:
            raise InvalidArgument(
                f"net: {name} asked for; only networks whose layers are all norm(f(skip X + attention)), without "
                "position terms or groups of heads, have one"
            )
        return self

    def _one_line(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in (*_ABSENT, "d_qk")}

    @cached_property
    def W_QK(self) -> Array:
        """(L, H, d, d), multiplied out where the network is factored."""
        return self.query if self.key is None else self.query @ self.key.mT

    @cached_property
    def W(self) -> Array:
        """(L, H, d, d), multiplied out where the network is factored."""
        return self.value if self.output is None else self.value @ self.output

    def mask_for(self, n: int) -> Mask | None:
        """The mask of the one-line form on n tokens; None where every token sees every token."""
        return None if self.mask is None else self.attentions[0].mask_for(n)

    def masks_for(self, n: int) -> dict[int, Mask | None]:
        """The mask of each attention on n tokens, by the id of the attention; equal names are built once."""
        built: dict[int | str, Mask | None] = {}
        found = {}
        for attention in self.attentions:
            name = attention.mask if isinstance(attention.mask, str) else id(attention.mask)
            if name not in built:
                built[name] = attention.mask_for(n)
            found[id(attention)] = built[name]
        return found

    @property
    def is_pure(self) -> bool:
        """Attention alone: no skip, no MLP, no LayerNorm, no position term."""
        return self.is_one_line and all(
            len(layer) == 1 and not layer[0].skip and layer[0].after is None for layer in self.sublayers
        )

    def random_input(self, seed: int = 0, *, tokens: int | None = None, scale: float = 1.0) -> Array:
        """Gaussian tokens, (n, d); n is the network's own unless given."""
        n = self.tokens if tokens is None else as_count("tokens", tokens)
        if n is None:
            raise InvalidArgument("tokens: not given, and the network does not fix it; pass tokens=n")
        rng = np.random.default_rng(as_count("seed", seed, least=0))
        fits_in_memory(f"tokens: {n} given with dimension {self.dim}", 2 * 8 * n * self.dim)
        return as_real("scale", scale, positive=True) * rng.standard_normal((n, self.dim))

    # -- files -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz file that `load` reads back bit for bit; the old file stays until the new one is whole."""
        from rankmath.model.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network:
        """Read what `save` wrote; a file that is not one is refused with the reason."""
        from rankmath.model.files import load

        return load(path)


def _one_line_layers(
    d_qk: float,
    skip: float,
    mlp: tuple[MLP | None, ...],
    norm: LayerNorm | None,
    mask: Mask | str | None,
    **stacks: Array,
) -> tuple[tuple[Sublayer, ...], ...]:
    """The sublayers of the one-line form; their arrays are views of the stacks."""
    layers: list[tuple[Sublayer, ...]] = []
    for l, f in enumerate(mlp):
        arrays: dict[str, Any] = {name: None if a is None else a[l, ...] for name, a in stacks.items()}
        attention = Attention(**arrays, d_qk=float(d_qk), mask=mask)
        if f is None:
            layers.append((Sublayer(attention, skip, after=norm),))
        else:
            layers.append((Sublayer(attention, skip), Sublayer(f, after=norm)))
    return tuple(layers)


def _same(name: str, values: list[T]) -> T:
    """The one value that all layers share."""
    if not values or any(not (value is values[0] or value == values[0]) for value in values[1:]):
        raise InvalidArgument(f"net: {name} asked for; it differs from layer to layer")
    return values[0]


def _square_stack(name: str, value: ArrayLike) -> Array:
    array = as_array(name, value)
    if array.ndim != 4 or array.shape[-1] != array.shape[-2]:
        given = tuple(int(s) for s in array.shape)
        raise InvalidArgument(f"{name}: shape {given} given; it must be (layers, heads, d, d) with square matrices")
    return array


def _mlps(mlp: MapLike, L: int, d: int, like: Array) -> tuple[MLP | None, ...]:
    maps = [mlp] * L if mlp is None or isinstance(mlp, MLP) else mlp
    if not isinstance(maps, Sequence) or isinstance(maps, str) or len(maps) != L:
        given = type(mlp).__name__
        raise InvalidArgument(f"mlp: {given} given; allowed are None, an MLP, or a sequence of {L}, one a layer")
    for f in maps:
        if not (f is None or isinstance(f, MLP)):
            raise InvalidArgument(f"mlp: an entry of type {type(f).__name__} given; each must be an MLP or None")
        if f is not None and f.dim != d:
            raise InvalidArgument(f"mlp: a map of R^{f.dim} given; the tokens have dimension {d}")
        if f is not None:
            same_library(W=like, mlp=f.W_in)
    return tuple(maps)


def _draw(rng: np.random.Generator, init: str, shape: tuple[int, ...]) -> Array:
    rows, columns = shape[-2:]
    if init == "gaussian":
        return rng.standard_normal(shape) / math.sqrt(rows)
    if init == "xavier":
        limit = math.sqrt(6.0 / (rows + columns))
        return rng.uniform(-limit, limit, shape)
    # The Q factor of a Gaussian matrix, signs fixed so that it is Haar distributed.
    tall = rng.standard_normal((*shape[:-2], max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(tall)
    q = q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
    return q if rows >= columns else np.swapaxes(q, -1, -2)


def _random_mlp(
    rng: np.random.Generator, d: int, activation: Activation, biases: bool, draw: Callable[..., Array]
) -> MLP:
    width = 4 * d
    b_in = rng.standard_normal(width) / math.sqrt(d) if biases else None
    b_out = rng.standard_normal(d) / math.sqrt(d) if biases else None
    W_in, W_out = draw(d, width), draw(width, d)
    if activation not in GATED:
        return MLP(W_in, W_out, b_in, b_out, activation=activation)
    b_gate = rng.standard_normal(width) / math.sqrt(d) if biases else None
    return MLP(W_in, W_out, b_in, b_out, activation=GATED[activation], W_gate=draw(d, width), b_gate=b_gate)


def _is_before(norm_at: object, norm: NormLike) -> bool:
    as_choice("norm_at", norm_at, ("after", "before"))
    if norm_at == "before" and norm is None:
        raise InvalidArgument("norm_at: 'before' given without a norm; pass norm='rms', say")
    return norm_at == "before"


def _with_window(mask: MaskLike, window: int | None) -> MaskLike:
    """The w tokens up to itself with a causal mask, those within w without one."""
    if window is None:
        return mask
    if not (mask is None or (isinstance(mask, str) and mask == "causal")):
        raise InvalidArgument(f"window: {window} given with another mask; allowed are None and 'causal'")
    behind = as_count("window", window, least=0 if mask is None else 1)
    return f"window:{behind}" if mask is None else f"causal_window:{behind}"


def _positions(positions: object, n: int, H: int, width: int, rng: np.random.Generator) -> dict[str, Position | Rotary]:
    """The arguments of an Attention that a word, or positions themselves, stand for."""
    if isinstance(positions, Rotary):
        return {"rotary": positions}
    if isinstance(positions, Position):
        return {"position": positions}
    as_choice("positions", positions, ("none", "rotary", "alibi", "relative"))
    if positions == "rotary":
        return {"rotary": Rotary.usual(n, width)}
    if positions == "relative":
        places = np.arange(n)
        return {"position": PositionTable(rng.standard_normal((H, 2 * n - 1))[:, n - 1 + places[:, None] - places])}
    return {"position": ALiBi(2.0 ** (-8.0 * np.arange(1, H + 1) / H))} if positions == "alibi" else {}


def _in_words(sublayer: Sublayer) -> str:
    """What a sublayer does, in a few words."""
    words = [] if sublayer.before is None else [f"{sublayer.before.kind} LayerNorm"]
    words += [_map_in_words(f) for f in sublayer.maps]
    if sublayer.behind is not None:
        words.append(f"{sublayer.behind.kind} LayerNorm")
    if sublayer.skip:
        words.append("skip" if sublayer.skip == 1 else f"skip × {sublayer.skip:g}")
    if sublayer.after is not None:
        words.append(f"{sublayer.after.kind} LayerNorm")
    return " + ".join(words)


def _map_in_words(f: Attention | MLP) -> str:
    if isinstance(f, MLP):
        return f"{f.activation}{'' if f.W_gate is None else '-gated'} MLP"
    about = [f"{f.mask if isinstance(f.mask, str) else 'given'} mask"] if f.mask is not None else []
    about.append(f"d_qk = {f.d_qk:g}")
    if any(b is not None for b in (f.key_bias, f.bias, f.b_Q, f.b_K)):
        about.append("biases")
    if f.position is not None:
        about.append(f"{type(f.position).__name__} positions")
    if f.rotary is not None:
        about.append("rotary positions")
    if f.kv_heads is not None:
        about.append(f"{f.kv_heads} key-value head{'' if f.kv_heads == 1 else 's'}")
    if f.qk_norm is not None:
        about.append("QK-norm")
    if f.softcap is not None:
        about.append(f"logits capped at {f.softcap:g}{'' if f.cap == 'tanh' else f' by {f.cap}'}")
    return f"attention ({', '.join(about)})"


def _ranges(numbers: Sequence[int]) -> str:
    """0, 1, 2, 5 as 0–2, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)


def _spectral(left: Array, right: Array | None, name: str) -> float:
    """The largest spectral norm of the heads' products: query keyᵀ, or value output."""
    product = left if right is None else left @ (np.swapaxes(right, -1, -2) if name == "query" else right)
    return float(np.linalg.norm(product, 2, (-2, -1)).max())
