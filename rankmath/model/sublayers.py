"""What a network is made of: attention, per-token maps, LayerNorms, and the sublayers that join them.

One attention of H heads maps tokens X (n × d, rows) to

    Σ_h P_h X W_h + 1bᵀ,   P_h = softmax((X W_QK,h Xᵀ + 1 (X k_h)ᵀ)/√d_qk + B_h)

with an optional position term B_h and a mask (B_h = −∞ where j is hidden from i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankmath.linalg.masks import Mask, MaskLike, as_mask
from rankmath.model.positions import Position, as_position
from rankmath.validation import Array, ArrayLike, InvalidArgument, as_array, as_choice, as_real, same_library

Activation = Literal["relu", "tanh", "gelu", "gelu_tanh", "silu", "quick_gelu"]
NormKind = Literal["sphere", "standard", "rms", "column"]
NORM_KINDS: tuple[NormKind, ...] = ("sphere", "standard", "rms", "column")

#: sup |activation'|, rounded up: GELU's is Φ(√2) + √2 φ(√2); the others' are at the zero of the second derivative.
LIPSCHITZ: dict[Activation, float] = {
    "relu": 1.0,
    "tanh": 1.0,
    "gelu": 1.12890415,
    "gelu_tanh": 1.12899307,
    "silu": 1.09983933,
    "quick_gelu": 1.09983933,
}


@dataclass(frozen=True, eq=False)
class MLP:
    """f(v) = act(v W₁ + b₁) W₂ + b₂ (+ v if `skip`), the same for every token.

    Activations: relu, tanh, gelu (xΦ(x)), and x(1 + tanh g(x))/2 with g = √(2/π)(x + 0.044715x³) ("gelu_tanh"),
    x/2 ("silu") or 0.851x ("quick_gelu").

    Examples
    --------
    >>> f = MLP([[1.0, 0.0]], [[2.0], [1.0]], activation="tanh")
    >>> f.dim, f.lipschitz(2) >= 2
    (1, True)
    """

    W_in: Array
    W_out: Array
    b_in: Array = None
    b_out: Array = None
    activation: Activation = "relu"
    skip: bool = False

    def __post_init__(self) -> None:
        W_in = as_array("W_in", self.W_in, ndim=2)
        d, width = W_in.shape
        W_out = as_array("W_out", self.W_out, ndim=2, shape=(width, d))
        b_in = None if self.b_in is None else as_array("b_in", self.b_in, ndim=1, shape=(width,))
        b_out = None if self.b_out is None else as_array("b_out", self.b_out, ndim=1, shape=(d,))
        same_library(W_in=W_in, W_out=W_out, b_in=b_in, b_out=b_out)
        as_choice("activation", self.activation, tuple(LIPSCHITZ))
        as_choice("skip", self.skip, (False, True))
        for name, value in (("W_in", W_in), ("W_out", W_out), ("b_in", b_in), ("b_out", b_out)):
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
    gain: Array = None
    offset: Array = None

    def __post_init__(self) -> None:
        as_choice("norm", self.kind, NORM_KINDS)
        scaled = self.kind in ("standard", "rms")
        eps = (1e-5 if scaled else 0.0) if self.eps is None else as_real("eps", self.eps)
        if eps < 0 or (eps > 0 and self.kind == "sphere"):
            allowed = "0" if self.kind == "sphere" else "a number ≥ 0"
            raise InvalidArgument(f"eps: {eps} given; with norm {self.kind!r} it must be {allowed}")
        object.__setattr__(self, "eps", eps)
        for name in ("gain", "offset"):
            value = getattr(self, name)
            if value is None:
                continue
            if not scaled:
                raise InvalidArgument(f"{name}: given with norm {self.kind!r}; only 'standard' and 'rms' take one")
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
        return LayerNorm(as_choice(name, norm, NORM_KINDS))
    if norm is None or isinstance(norm, LayerNorm):
        return norm
    kinds = ", ".join(repr(kind) for kind in NORM_KINDS)
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

    In a stack of networks all arrays have a batch axis right before the matrix (for `bias`: vector) axes.
    """

    query: Array
    value: Array
    d_qk: float
    key: Array = None
    output: Array = None
    key_bias: Array = None
    bias: Array = None
    mask: Mask | str | None = None
    position: Position | None = None

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
    ) -> Attention:
        """From fused weights W_QK and W, both (H, d, d)."""
        W_QK = as_array("W_QK", W_QK, ndim=3)
        H, d, _ = W_QK.shape
        W_QK, W = as_array("W_QK", W_QK, shape=(H, d, d)), as_array("W", W, ndim=3, shape=(H, d, d))
        width = float(d) if d_qk is None else as_real("d_qk", d_qk, positive=True)
        key_bias = None if key_bias is None else as_array("key_bias", key_bias, ndim=2, shape=(H, d))
        bias = None if bias is None else as_array("bias", bias, ndim=1, shape=(d,))
        same_library(W_QK=W_QK, W=W, key_bias=key_bias, bias=bias)
        return cls(W_QK, W, width, None, None, key_bias, bias, checked_mask(mask), as_position(position, H))

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
    ) -> Attention:
        """From factors: W_Q, W_K (H, d, k), W_V (H, d, v), W_O (H, v, d); biases (H, k), (H, k), (H, v), (d,).

        Terms constant along a row leave the softmax alone, so b_K changes nothing and b_Q acts as the key bias
        k = W_K b_Q; rows of P sum to one, so b_V acts as the bias Σ_h b_V W_O.

        Examples
        --------
        >>> import numpy as np
        >>> W = np.ones((2, 4, 3))
        >>> att = Attention.from_qkvo(W, W, W, np.ones((2, 3, 4)), b_V=np.ones((2, 3)), position=None)
        >>> att.heads, att.dim, att.d_qk, att.bias
        (2, 4, 3.0, array([6., 6., 6., 6.]))
        """
        names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")
        given = zip(names, (W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O), strict=True)
        arrays = fused_biases(*(None if a is None else as_array(name, a)[None, ...] for name, a in given))
        query, key, value, output, key_bias, bias = (None if a is None else a[0, ...] for a in arrays)
        assert query is not None
        width = float(query.shape[-1]) if d_qk is None else as_real("d_qk", d_qk, positive=True)
        position = as_position(position, int(query.shape[0]))
        return cls(query, value, width, key, output, key_bias, bias, checked_mask(mask), position)

    @property
    def heads(self) -> int:
        """H."""
        return int(self.query.shape[0])

    @property
    def dim(self) -> int:
        """d, the length of a token."""
        return int(self.query.shape[-2])

    def mask_for(self, n: int) -> Mask | None:
        """The mask on n tokens; None where every token sees every token."""
        if self.mask is None or self.mask == "complete":
            return None
        mask = as_mask(self.mask, n)
        return None if mask.is_complete else mask


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
class Sublayer:
    """X ↦ after(skip·X + map(before(X))).

    `map` None stands for the zero map, so that ``Sublayer(None, 1.0, after=norm)`` is a LayerNorm alone.

    Examples
    --------
    >>> Sublayer(None, 1.0, after=LayerNorm("rms")).skip
    1.0
    """

    map: Attention | MLP | None
    skip: float = 0.0
    before: LayerNorm | None = None
    after: LayerNorm | None = None

    def __post_init__(self) -> None:
        if not (self.map is None or isinstance(self.map, (Attention, MLP))):
            raise InvalidArgument(
                f"map: a {type(self.map).__name__} given; allowed are an Attention, an MLP or None"
            )
        object.__setattr__(self, "skip", skip_factor(self.skip))
        for name in ("before", "after"):
            norm = as_norm(getattr(self, name), name)
            object.__setattr__(self, name, norm)
            for vector in (getattr(norm, "gain", None), getattr(norm, "offset", None)):
                if vector is not None and self.map is not None:
                    as_array(name, vector, ndim=1, shape=(self.map.dim,))
                    same_library(map=self.weights, **{name: vector})

    @property
    def maps(self) -> tuple[Attention | MLP, ...]:
        """The maps whose images are added up; none where it is the zero map."""
        return () if self.map is None else (self.map,)

    @property
    def weights(self) -> Array:
        """Some array of the map, to tell its library; None without a map."""
        return self.map.value if isinstance(self.map, Attention) else None if self.map is None else self.map.W_in


def skip_factor(skip: float) -> float:
    """λ of a truth value or a number."""
    return float(skip) if isinstance(skip, (bool, np.bool_)) else as_real("skip", skip)


def checked_mask(mask: MaskLike, tokens: int | None = None) -> Mask | str | None:
    """A name stays a name (it fits any number of tokens); everything else becomes a graph."""
    if mask is None or isinstance(mask, str):
        if isinstance(mask, str):
            try:
                as_mask(mask, tokens or 2)
            except ValueError as error:
                # A name with a number may ask for more than two tokens, which come later.
                if tokens is not None or str(error).startswith("mask"):
                    raise
        return mask
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
