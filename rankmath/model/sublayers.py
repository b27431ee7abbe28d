"""What a network is made of: attention, per-token maps, LayerNorms, and the sublayers that join them.

One attention of H heads maps tokens X (n × d, rows) to

    Σ_h P_h X W_h + 1bᵀ,   P_h = softmax((X W_QK,h Xᵀ + 1 (X k_h)ᵀ)/√d_qk + B_h)

with an optional position term B_h and a mask (B_h = −∞ where j is hidden from i). In today's models queries and
keys are more than products: q_i = N(X_i W_Q + b_Q) T_i and k_j = N(X_j W_K + b_K) T_j, with an RMSNorm N
(QK-norm) and rotations T_i (rotary positions), and a logit S = q_i·k_j/√d_qk may be capped, t tanh(S/t).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rankmath.definitions.layer import ACTIVATIONS, CAPS, LAYERNORMS
from rankmath.linalg.masks import Mask, MaskLike, as_mask
from rankmath.model.positions import Position, Rotary, as_position, as_rotary
from rankmath.validation import Array, ArrayLike, InvalidArgument, as_array, as_choice, as_real, same_library

#: The name of an activation or of a kind of LayerNorm in the tables of `rankmath.definitions.layer`.
Activation: TypeAlias = str
NormKind: TypeAlias = str

#: sup |activation'|, rounded up: GELU's is Φ(√2) + √2 φ(√2); the others' are at the zero of the second derivative.
LIPSCHITZ = {name: float(Fraction(slope)) for name, (_, slope) in ACTIVATIONS.items() if slope != "undefined"}


def norm_kinds() -> tuple[str, ...]:
    """The kinds of LayerNorm: those of single tokens, and that of columns."""
    return (*LAYERNORMS, "column")


@dataclass(frozen=True, eq=False)
class MLP:
    """f(v) = act(v W₁ + b₁) W₂ + b₂ (+ v if `skip`), the same for every token.

    With a gate (SwiGLU is silu, GeGLU gelu): f(v) = (act(v W_gate + b_gate) ∘ (v W₁ + b₁)) W₂ + b₂.

    Activations: relu, tanh, gelu (xΦ(x)), and x(1 + tanh g(x))/2 with g = √(2/π)(x + 0.044715x³) ("gelu_tanh"),
    x/2 ("silu") or 0.851x ("quick_gelu").

    >>> f = MLP([[1.0, 0.0]], [[2.0], [1.0]], activation="tanh")
    >>> f.dim, f.lipschitz(2) >= 2
    (1, True)
    """

    W_in: Array
    W_out: Array
    b_in: Array | None = None
    b_out: Array | None = None
    activation: Activation = "relu"
    skip: bool = False
    W_gate: Array | None = None
    b_gate: Array | None = None

    def __post_init__(self) -> None:
        W_in = as_array("W_in", self.W_in, ndim=2)
        d, width = W_in.shape
        shapes = {"W_out": (width, d), "b_in": (width,), "b_out": (d,), "W_gate": (d, width), "b_gate": (width,)}
        arrays = {"W_in": W_in}
        for name, shape in shapes.items():
            value = getattr(self, name)
            arrays[name] = None if value is None else as_array(name, value, ndim=len(shape), shape=shape)
        if arrays["W_out"] is None:
            raise InvalidArgument("W_out: None given; a matrix (width, d) is needed")
        if self.b_gate is not None and self.W_gate is None:
            raise InvalidArgument("b_gate: given without W_gate; a gate needs its matrix")
        same_library(**arrays)
        as_choice("activation", self.activation, tuple(ACTIVATIONS))
        as_choice("skip", self.skip, (False, True))
        for name, value in arrays.items():
            object.__setattr__(self, name, value)

    @property
    def dim(self) -> int:
        """d, the length of a token."""
        return int(self.W_in.shape[0])

    def lipschitz(self, p: float = 2) -> float:
        """An upper bound on the Lipschitz constant in ℓ_p (p = 1, 2, ∞): ‖W₁‖ · sup|act'| · ‖W₂‖ (+ 1).

        Float64; a few units in the last place are added, so that rounding does not make it too small.
        """
        from rankmath.linalg.norms import induced_norm

        if self.W_gate is not None:
            raise InvalidArgument("mlp: a gated MLP given; a product of two maps of the token has no such constant")
        if self.activation not in LIPSCHITZ:
            raise InvalidArgument(f"mlp: no bound on the slope of {self.activation!r} is known")
        norms = float(induced_norm(self.W_in, p)) * float(induced_norm(self.W_out, p))
        return (norms * LIPSCHITZ[self.activation] + float(self.skip)) * (1 + 2**-40)


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """One of the maps this literature calls LayerNorm.

    - ``"sphere"`` (Wu et al. 2024): each token divided by its 2-norm;
    - ``"standard"`` (what frameworks compute): subtract the token's mean, divide by √(variance + eps),
      then `gain` and `offset`;
    - ``"rms"`` (RMSNorm): divide by √(mean square + eps), then `gain` and `offset`;
    - ``"column"`` (Dong et al. 2021, section 3.3): column means and column deviations over the tokens.
    """

    kind: NormKind
    eps: float | None = None
    gain: Array | None = None
    offset: Array | None = None

    def __post_init__(self) -> None:
        as_choice("norm", self.kind, norm_kinds())
        scaled, floored = ("N." + field in LAYERNORMS.get(self.kind, "") for field in ("gain", "eps"))
        eps = (1e-5 if floored else 0.0) if self.eps is None else as_real("eps", self.eps)
        if eps < 0 or (eps > 0 and not floored and self.kind != "column"):
            allowed = "a number ≥ 0" if floored or self.kind == "column" else "0"
            raise InvalidArgument(f"eps: {eps} given; with norm {self.kind!r} it must be {allowed}")
        object.__setattr__(self, "eps", eps)
        for name in ("gain", "offset"):
            value = getattr(self, name)
            if value is None:
                continue
            if not scaled:
                raise InvalidArgument(f"{name}: given with norm {self.kind!r}; its definition has none")
            object.__setattr__(self, name, as_array(name, value, ndim=1))

    @property
    def floor(self) -> float:
        """eps as a number (0 where the kind has none)."""
        return float(self.eps or 0.0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LayerNorm) or (self.kind, self.eps) != (other.kind, other.eps):
            return False
        pairs = ((self.gain, other.gain), (self.offset, other.offset))
        return all(a is b or (a is not None and b is not None and bool((a == b).all())) for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.kind, self.eps))


NormLike: TypeAlias = LayerNorm | NormKind | None


def as_norm(norm: object, name: str = "norm") -> LayerNorm | None:
    """None, a LayerNorm, or the name of a kind."""
    if isinstance(norm, str):
        return LayerNorm(as_choice(name, norm, norm_kinds()))
    if norm is None or isinstance(norm, LayerNorm):
        return norm
    kinds = ", ".join(repr(kind) for kind in norm_kinds())
    raise InvalidArgument(f"{name}: {norm!r} given; allowed are None, {kinds} or a LayerNorm")


@dataclass(frozen=True, eq=False)
class Attention:
    """The weights of one attention; build it with `from_arrays` or `from_qkvo`.

    Attributes
    ----------
    query, key : (H, d, k) with W_QK = query keyᵀ; `key` is None when W_QK is held fused in `query`.
    value, output : (H, d, v), (H, v, d) with W = value output; `output` is None when W is fused in `value`.
    key_bias : (H, d) or None, the k of the logits' term 1 (X k)ᵀ.
    bias : (d,) or None.
    d_qk : the softmax divides by √d_qk.
    mask : a graph on the tokens, the name of one (any number of tokens), or None.
    position : the term B of the logits, or None.
    rotary : the rotations T of queries and keys, or None.
    kv_heads : so many different keys and values there are; the arrays hold them for every head, H/kv_heads times.
    qk_norm : (gain of queries, gain of keys, eps) of an RMSNorm of both before they are turned, or None. A gain of
        length k is for each head by itself; one of length H·k (kv_heads·k for keys) norms all heads as one vector.
    softcap : t of the capped logits t tanh(S/t), before B is added; or None.
    cap : the kind of cap, a name of `rankmath.definitions.layer.CAPS` (there c is t, and x is S).
    b_Q, b_K : (H, k) or None: biases of queries and keys where they do not act as a key bias.

    In a stack of networks all arrays have a batch axis right before the matrix (for `bias`: vector) axes.
    """

    query: Array
    value: Array
    d_qk: float
    key: Array | None = None
    output: Array | None = None
    key_bias: Array | None = None
    bias: Array | None = None
    mask: Mask | str | None = None
    position: Position | None = None
    rotary: Rotary | None = None
    kv_heads: int | None = None
    qk_norm: QKNorm | None = None
    softcap: float | None = None
    b_Q: Array | None = None
    b_K: Array | None = None
    cap: str = "tanh"

    @classmethod
    def from_arrays(
        cls,
        W_QK: ArrayLike,
        W: ArrayLike,
        d_qk: float | None = None,
        key_bias: ArrayLike = None,
        bias: ArrayLike = None,
        *,
        mask: MaskLike = None,
        position: Position | None = None,
        rotary: Rotary | None = None,
        softcap: float | None = None,
        cap: str = "tanh",
    ) -> Attention:
        """From fused weights W_QK and W, both (H, d, d); `rotary` turns the queries X W_QK and the keys X."""
        W_QK = as_array("W_QK", W_QK, ndim=3)
        H, d, _ = W_QK.shape
        W_QK, W = as_array("W_QK", W_QK, shape=(H, d, d)), as_array("W", W, ndim=3, shape=(H, d, d))
        width = float(d) if d_qk is None else as_real("d_qk", d_qk, positive=True)
        key_bias = None if key_bias is None else as_array("key_bias", key_bias, ndim=2, shape=(H, d))
        bias = None if bias is None else as_array("bias", bias, ndim=1, shape=(d,))
        same_library(W_QK=W_QK, W=W, key_bias=key_bias, bias=bias)
        if (rotary is not None or softcap is not None) and key_bias is not None:
            raise InvalidArgument("key_bias: given with rotary or capped logits; pass b_Q and b_K to from_qkvo")
        return cls(
            W_QK,
            W,
            width,
            None,
            None,
            key_bias,
            bias,
            checked_mask(mask),
            as_position(position, H),
            as_rotary(rotary, d),
            softcap=as_softcap(softcap),
            cap=as_choice("cap", cap, tuple(CAPS)),
        )

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
        *,
        d_qk: float | None = None,
        mask: MaskLike = None,
        position: Position | None = None,
        rotary: Rotary | None = None,
        qk_norm: QKNorm | None = None,
        softcap: float | None = None,
        cap: str = "tanh",
    ) -> Attention:
        """From factors: W_Q, W_K (H, d, k), W_V (H, d, v), W_O (H, v, d); biases (H, k), (H, k), (H, v), (d,).

        W_K, W_V and their biases may have fewer heads, a number that divides H: head h then has the keys and values
        of group h//(H/kv_heads).

        Terms constant along a row leave the softmax alone, so b_K changes nothing and b_Q acts as the key bias
        k = W_K b_Q, unless queries and keys are turned, normed or capped; rows of P sum to one, so b_V acts as the
        bias Σ_h b_V W_O. Both are rounded to doubles here, and balls enclose the network that has them so.

        >>> import numpy as np
        >>> W = np.ones((2, 4, 3))
        >>> att = Attention.from_qkvo(W, W, W, np.ones((2, 3, 4)), b_V=np.ones((2, 3)), position=None)
        >>> att.heads, att.dim, att.d_qk, att.bias
        (2, 4, 3.0, array([6., 6., 6., 6.]))
        >>> grouped = Attention.from_qkvo(W, W[:1], W[:1], np.ones((2, 3, 4)))
        >>> grouped.kv_heads, grouped.key.shape
        (1, (2, 4, 3))
        """
        query = as_array("W_Q", W_Q, ndim=3)
        H, _, k = (int(s) for s in query.shape)
        (key, b_K), kv_heads = _for_all_heads("K", W_K, b_K, H)
        (value, b_V), of_values = _for_all_heads("V", W_V, b_V, H)
        if kv_heads != of_values:
            raise InvalidArgument(f"W_V: {of_values} heads given; W_K has {kv_heads}, and both must agree")
        turned = rotary is not None or qk_norm is not None or softcap is not None
        fused = (query, key, value, W_O, None if turned else b_Q, None if turned else b_K, b_V, b_O)
        names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")
        arrays = fused_biases(
            *(None if a is None else as_array(name, a)[None, ...] for name, a in zip(names, fused, strict=True))
        )
        query, key, value, output, key_bias, bias = (None if a is None else a[0, ...] for a in arrays)
        biases: list[Array] = [None, None]
        if turned:
            biases = [
                b if b is None else as_array(f"b_{c}", b, ndim=2, shape=(H, k))
                for c, b in zip("QK", (b_Q, b_K), strict=True)
            ]
            same_library(W_Q=query, b_Q=biases[0], b_K=biases[1])
        return cls(
            query,
            value,
            float(k) if d_qk is None else as_real("d_qk", d_qk, positive=True),
            key,
            output,
            key_bias,
            bias,
            checked_mask(mask),
            as_position(position, H),
            as_rotary(rotary, k),
            None if kv_heads == H else kv_heads,
            as_qk_norm(qk_norm, H, kv_heads, k),
            as_softcap(softcap),
            b_Q=biases[0],
            b_K=biases[1],
            cap=as_choice("cap", cap, tuple(CAPS)),
        )

    @property
    def heads(self) -> int:
        """H."""
        return int(self.query.shape[0])

    @property
    def dim(self) -> int:
        """d, the length of a token."""
        return int(self.query.shape[-2])

    @property
    def is_bilinear(self) -> bool:
        """Whether the logits without B are X W_QK Xᵀ + 1 (X k)ᵀ: nothing is turned, normed or capped."""
        return all(part is None for part in (self.rotary, self.qk_norm, self.softcap, self.b_Q, self.b_K))

    def mask_for(self, n: int) -> Mask | None:
        """The mask on n tokens; None where every token sees every token."""
        if self.mask is None or self.mask == "complete":
            return None
        mask = as_mask(self.mask, n)
        return None if mask.is_complete else mask


#: Gain of the queries, gain of the keys, eps.
QKNorm: TypeAlias = tuple[Array, Array, float]


def as_qk_norm(given: object, H: int, kv_heads: int, k: int) -> QKNorm | None:
    """A QK-norm with gains of the right lengths, or None."""
    if given is None:
        return None
    if not isinstance(given, tuple | list) or len(given) != 3:
        raise InvalidArgument("qk_norm: a triple (gain of queries, gain of keys, eps) is needed")
    gains = []
    for name, gain, heads in (("queries", given[0], H), ("keys", given[1], kv_heads)):
        gain = as_array(f"qk_norm: gain of {name}", gain, ndim=1)
        if gain.shape[0] not in (k, heads * k):
            raise InvalidArgument(
                f"qk_norm: a gain of length {gain.shape[0]} for {name} given; allowed are {k}, or {heads * k} for "
                "all heads as one vector"
            )
        gains.append(gain)
    if (gains[0].shape[0] == k) != (gains[1].shape[0] == k) and min(H, kv_heads) > 1:
        raise InvalidArgument("qk_norm: one gain for each head and one for all given; both must be of one kind")
    return gains[0], gains[1], as_real("qk_norm: eps", given[2])


def as_softcap(softcap: object) -> float | None:
    return None if softcap is None else as_real("softcap", softcap, positive=True)


def _for_all_heads(letter: str, W: ArrayLike, b: ArrayLike, H: int) -> tuple[tuple[Array, Array | None], int]:
    """Keys or values of every head, (H, d, k) and (H, k), from those of fewer, and how many were given."""
    W = as_array(f"W_{letter}", W, ndim=3)
    given = int(W.shape[0])
    b = None if b is None else as_array(f"b_{letter}", b, ndim=2)
    if given == H:
        return (W, b), H
    if H % given or (b is not None and b.shape[0] != given):
        raise InvalidArgument(
            f"W_{letter}: {given} heads given; a number that divides the {H} heads is needed, b_{letter} alike"
        )
    xp = same_library(W=W)
    return (xp.repeat(W, H // given, axis=0), None if b is None else xp.repeat(b, H // given, axis=0)), given


def fused_biases(
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    W_O: ArrayLike,
    b_Q: ArrayLike,
    b_K: ArrayLike,
    b_V: ArrayLike,
    b_O: ArrayLike,
) -> tuple[Array, Array, Array, Array, Array | None, Array | None]:
    """Checked factors (L, H, ., .), and the biases as the key bias (L, H, d) and the bias (L, d) they act as."""
    W_Q = as_array("W_Q", W_Q, ndim=4)
    L, H, d, k = W_Q.shape
    W_K = as_array("W_K", W_K, ndim=4, shape=(L, H, d, k))
    W_V = as_array("W_V", W_V, ndim=4, shape=(L, H, d, None))
    v = W_V.shape[-1]
    W_O = as_array("W_O", W_O, ndim=4, shape=(L, H, v, d))
    xp = same_library(W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O)
    key_bias = bias = None
    if b_Q is not None:
        b_Q = as_array("b_Q", b_Q, ndim=3, shape=(L, H, k))
        same_library(W_Q=W_Q, b_Q=b_Q)
        key_bias = xp.matmul(W_K, b_Q[..., None])[..., 0]
    if b_K is not None:
        as_array("b_K", b_K, ndim=3, shape=(L, H, k))
    if b_V is not None:
        b_V = as_array("b_V", b_V, ndim=3, shape=(L, H, v))
        same_library(W_Q=W_Q, b_V=b_V)
        bias = xp.sum(xp.matmul(b_V[..., None, :], W_O)[..., 0, :], axis=1)
    if b_O is not None:
        b_O = as_array("b_O", b_O, ndim=2, shape=(L, d))
        same_library(W_Q=W_Q, b_O=b_O)
        bias = b_O if bias is None else bias + b_O
    return W_Q, W_K, W_V, W_O, key_bias, bias


@dataclass(frozen=True, eq=False)
class Parallel:
    """The sum of several maps of the same tokens: attention and MLP side by side (GPT-J, GPT-NeoX)."""

    maps: tuple[Attention | MLP, ...]

    def __post_init__(self) -> None:
        maps = tuple(self.maps)
        if not maps or not all(isinstance(f, (Attention, MLP)) for f in maps):
            raise InvalidArgument("maps: a non-empty sequence of Attentions and MLPs is needed")
        if len({f.dim for f in maps}) > 1 or sum(isinstance(f, Attention) for f in maps) > 1:
            raise InvalidArgument("maps: at most one Attention, and maps of one dimension, are needed")
        object.__setattr__(self, "maps", maps)

    @property
    def dim(self) -> int:
        """d, the length of a token."""
        return self.maps[0].dim


@dataclass(frozen=True, eq=False)
class Sublayer:
    """X ↦ after(skip·X + behind(map(before(X)))).

    `map` None stands for the zero map, so that ``Sublayer(None, 1.0, after=norm)`` is a LayerNorm alone. `behind`
    norms what the map adds (Gemma, OLMo 2).

    >>> Sublayer(None, 1.0, after=LayerNorm("rms")).skip
    1.0
    """

    map: Attention | MLP | Parallel | None
    skip: float = 0.0
    before: LayerNorm | None = None
    after: LayerNorm | None = None
    behind: LayerNorm | None = None

    def __post_init__(self) -> None:
        if not (self.map is None or isinstance(self.map, (Attention, MLP, Parallel))):
            raise InvalidArgument(
                f"map: a {type(self.map).__name__} given; allowed are an Attention, an MLP, a Parallel or None"
            )
        object.__setattr__(self, "skip", skip_factor(self.skip))
        if self.map is None and self.skip != 1:
            raise InvalidArgument(f"skip: {self.skip:g} given without a map; a LayerNorm alone has the skip 1")
        for name in ("before", "after", "behind"):
            norm = as_norm(getattr(self, name), name)
            object.__setattr__(self, name, norm)
            for vector in (getattr(norm, "gain", None), getattr(norm, "offset", None)):
                if vector is not None and self.map is not None:
                    as_array(name, vector, ndim=1, shape=(self.map.dim,))
                    same_library(map=self.weights, **{name: vector})
        if self.behind is not None and self.map is None:
            raise InvalidArgument("behind: given without a map; there is nothing to norm")

    @property
    def maps(self) -> tuple[Attention | MLP, ...]:
        """The maps whose sum is applied: none, one, or those of a `Parallel`."""
        if isinstance(self.map, Parallel):
            return self.map.maps
        return () if self.map is None else (self.map,)

    @property
    def attention(self) -> Attention | None:
        """The attention among the maps."""
        return next((f for f in self.maps if isinstance(f, Attention)), None)

    def with_attention(self, **changes: Array) -> Sublayer:
        """The same with these parts of its attention changed; itself where it has none."""
        if self.attention is None:
            return self
        maps = tuple(replace(f, **changes) if isinstance(f, Attention) else f for f in self.maps)
        return replace(self, map=Parallel(maps) if isinstance(self.map, Parallel) else maps[0])

    @property
    def weights(self) -> Array:
        """Some array of the map, to tell its library; None without a map."""
        return next((f.value if isinstance(f, Attention) else f.W_in for f in self.maps), None)


def skip_factor(skip: float) -> float:
    """λ of a truth value or a number."""
    return float(skip) if isinstance(skip, (bool, np.bool_)) else as_real("skip", skip)


def checked_mask(mask: MaskLike, tokens: int | None = None) -> Mask | str | None:
    """A name stays a name (it fits any number of tokens); everything else becomes a graph."""
    if mask is None or isinstance(mask, str):
        # A star and a prefix may ask for more than two tokens, which come later.
        later = tokens is None and re.fullmatch(r"(star|prefix)(:[0-9]{1,9}|\([0-9]{1,9}\))", mask or "")
        if mask is not None and not later:
            as_mask(mask, tokens or 2)
        return None if mask is None else str(mask)  # also of NumPy's texts
    if isinstance(mask, Mask):
        return mask if tokens is None else as_mask(mask, tokens)
    if tokens is None:
        try:
            tokens = len(mask)
        except TypeError:
            given = type(mask).__name__
            raise InvalidArgument(
                f"mask: {given} given; allowed are a name, a boolean matrix, a Mask, a graph"
            ) from None
    return as_mask(mask, tokens)
