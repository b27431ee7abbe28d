"""What a network is: weights and switches, no behaviour.

One layer maps tokens X (n × d, rows) to

    norm( f( λX + Σ_h P_h X W_h + 1bᵀ ) ),   P_h = softmax((X W_QK,h Xᵀ + 1 (X k_h)ᵀ)/√d_qk)

with the skip factor λ, an optional map f applied to every token alike, and an optional LayerNorm.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankmath.linalg.masks import Mask, as_mask
from rankmath.validation import Array, InvalidArgument, as_array, as_choice, as_count, as_real, same_library

Activation = Literal["relu", "tanh", "gelu"]

# What `Network.stack` gives a batch axis, right before the matrix (for the bias: vector) axes.
_STACKED = ("query", "key", "value", "output", "key_bias", "bias")

#: sup |activation'|: for GELU, (xΦ(x))' = Φ(x) + xφ(x) at x = √2, rounded up.
LIPSCHITZ: dict[str, float] = {"relu": 1.0, "tanh": 1.0, "gelu": 1.12890415}


@dataclass(frozen=True, eq=False)
class MLP:
    """f(v) = act(v W₁ + b₁) W₂ + b₂ (+ v if `skip`), the same for every token.

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

        product = (
            float(induced_norm(self.W_in, p)) * LIPSCHITZ[self.activation] * float(induced_norm(self.W_out, p))
        )
        return (product + float(self.skip)) * (1 + 2**-40)


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """One of the three maps this literature calls LayerNorm.

    - ``"sphere"`` (Wu et al. 2024): each token divided by its 2-norm;
    - ``"standard"`` (what frameworks compute): subtract the token's mean, divide by √(variance + eps),
      then `gain` and `offset`;
    - ``"column"`` (Dong et al. 2021, section 3.3): column means and column deviations over the tokens.
    """

    kind: Literal["sphere", "standard", "column"]
    eps: float | None = None
    gain: Array = None
    offset: Array = None

    def __post_init__(self) -> None:
        as_choice("norm", self.kind, ("sphere", "standard", "column"))
        eps = (1e-5 if self.kind == "standard" else 0.0) if self.eps is None else as_real("eps", self.eps)
        if eps < 0 or (eps > 0 and self.kind == "sphere"):
            allowed = "0" if self.kind == "sphere" else "a number ≥ 0"
            raise InvalidArgument(f"eps: {eps} given; with norm {self.kind!r} it must be {allowed}")
        object.__setattr__(self, "eps", eps)
        for name in ("gain", "offset"):
            value = getattr(self, name)
            if value is None:
                continue
            if self.kind != "standard":
                raise InvalidArgument(f"{name}: given with norm {self.kind!r}; only 'standard' takes one")
            object.__setattr__(self, name, as_array(name, value, ndim=1))

    @property
    def floor(self) -> float:
        """eps as a number (0 where the kind has none)."""
        return float(self.eps or 0.0)


@dataclass(frozen=True, eq=False)
class Network:
    """L layers of H heads; build it with `from_arrays`, `from_qkvo`, `random` or `load`.

    Attributes
    ----------
    query, key : (L, H, d, k) with W_QK = query keyᵀ; `key` is None when W_QK is held fused in `query`.
    value, output : (L, H, d, v), (L, H, v, d) with W = value output; `output` is None when W is fused in `value`.
    key_bias : (L, H, d) or None, the k of the logits' term 1 (X k)ᵀ.
    bias : (L, d) or None.
    d_qk : the softmax divides by √d_qk.
    skip : the number λ (0 without a skip connection).
    mlp : one map or None for each layer.
    mask : a graph on the tokens, the name of one (any number of tokens), or None.
    """

    query: Array
    value: Array
    d_qk: float
    key: Array = None
    output: Array = None
    key_bias: Array = None
    bias: Array = None
    skip: float = 0.0
    mlp: tuple[MLP | None, ...] = ()
    norm: LayerNorm | None = None
    mask: Mask | str | None = None
    tokens: int | None = field(default=None)

    # -- construction ------------------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        W_QK: Any,
        W: Any,
        d_qk: float | None = None,
        key_bias: Any = None,
        bias: Any = None,
        skip: bool | float = False,
        mlp: Any = None,
        norm: Any = None,
        mask: Any = None,
    ) -> Network:
        """A network from fused weights W_QK and W, both (L, H, d, d).

        Examples
        --------
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
        W_Q: Any,
        W_K: Any,
        W_V: Any,
        W_O: Any,
        b_Q: Any = None,
        b_K: Any = None,
        b_V: Any = None,
        b_O: Any = None,
        skip: bool | float = False,
        mlp: Any = None,
        norm: Any = None,
        mask: Any = None,
    ) -> Network:
        """A network from factored weights: W_Q, W_K (L, H, d, d_qk), W_V (L, H, d, d_v), W_O (L, H, d_v, d).

        Biases: b_Q, b_K (L, H, d_qk), b_V (L, H, d_v), b_O (L, d). The factors are kept, so a narrow head costs
        n²·d_qk. Terms constant along a row leave the softmax alone, so b_K changes nothing and b_Q acts
        as the key bias k = W_K b_Q; rows of P sum to one, so b_V acts as the bias Σ_h b_V W_O.
        """
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
        return cls._assemble(W_Q, W_K, W_V, W_O, k, key_bias, bias, skip, mlp, norm, mask)

    @classmethod
    def _assemble(
        cls,
        query: Array,
        key: Array,
        value: Array,
        output: Array,
        d_qk: float,
        key_bias: Any,
        bias: Any,
        skip: Any,
        mlp: Any,
        norm: Any,
        mask: Any,
        tokens: int | None = None,
    ) -> Network:
        L, H, d = (int(s) for s in query.shape[:3])
        key_bias = None if key_bias is None else as_array("key_bias", key_bias, ndim=3, shape=(L, H, d))
        bias = None if bias is None else as_array("bias", bias, ndim=2, shape=(L, d))
        same_library(W_QK=query, W=value, key_bias=key_bias, bias=bias)
        if isinstance(norm, str):
            norm = LayerNorm(as_choice("norm", norm, ("sphere", "standard", "column")))
        if not (norm is None or isinstance(norm, LayerNorm)):
            raise InvalidArgument(
                f"norm: {norm!r} given; allowed are None, 'sphere', 'standard', 'column' or a LayerNorm"
            )
        for name in ("gain", "offset"):
            vector = getattr(norm, name, None)
            if vector is not None:
                as_array(name, vector, ndim=1, shape=(d,))
                same_library(W=value, **{name: vector})
        mask = _mask(mask, tokens)
        return cls(
            query=query,
            key=key,
            value=value,
            output=output,
            d_qk=d_qk,
            key_bias=key_bias,
            bias=bias,
            skip=_skip_factor(skip),
            mlp=_mlps(mlp, L, d, value),
            norm=norm,
            mask=mask,
            tokens=mask.n if isinstance(mask, Mask) else tokens,
        )

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
        mlp: Any = None,
        norm: Any = None,
        mask: Any = None,
    ) -> Network:
        """Random weights: Gaussian with variance 1/d, Xavier uniform, or orthogonal, all times `scale`.

        With `head_dim` = k the network is factored (W_Q, W_K, W_V: d × k; W_O: k × d), otherwise fused.
        `mlp` may be "relu", "tanh" or "gelu": a random MLP of width 4d in every layer.

        Examples
        --------
        >>> net = Network.random(tokens=8, dim=4, heads=2, layers=3, seed=0)
        >>> net.W_QK.shape, net.random_input(seed=1).shape
        ((3, 2, 4, 4), (8, 4))
        """
        n, d = as_count("tokens", tokens), as_count("dim", dim)
        H, L = as_count("heads", heads), as_count("layers", layers)
        rng = np.random.default_rng(as_count("seed", seed, least=0))
        as_choice("init", init, ("gaussian", "xavier", "orthogonal"))
        as_choice("biases", biases, (False, True))
        size = as_real("scale", scale, positive=True)

        def draw(*shape: int) -> Array:
            return size * _draw(rng, init, shape)

        if head_dim is None:
            query, key, value, output = draw(L, H, d, d), None, draw(L, H, d, d), None
            width = d
        else:
            width = as_count("head_dim", head_dim)
            query, key = draw(L, H, d, width), draw(L, H, d, width)
            value, output = draw(L, H, d, width), draw(L, H, width, d)
        key_bias = size * rng.standard_normal((L, H, d)) / math.sqrt(d) if biases else None
        bias = size * rng.standard_normal((L, d)) / math.sqrt(d) if biases else None
        if isinstance(mlp, str):
            as_choice("mlp", mlp, tuple(LIPSCHITZ))
            mlp = [_random_mlp(rng, d, mlp, biases, draw) for _ in range(L)]
        return cls._assemble(query, key, value, output, width, key_bias, bias, skip, mlp, norm, mask, tokens=n)

    @classmethod
    def stack(cls, nets: Sequence[Network]) -> Network:
        """Many networks of one shape as one: weights (L, H, batch, d, d), for inputs (batch, n, d).

        Examples
        --------
        >>> nets = [Network.random(tokens=3, dim=2, layers=2, seed=s) for s in range(5)]
        >>> both = Network.stack(nets)
        >>> both.query.shape, bool((both.member(4).query == nets[4].query).all())
        ((2, 1, 5, 2, 2), True)
        """
        if not nets or not all(isinstance(net, Network) for net in nets):
            raise InvalidArgument("nets: a non-empty sequence of networks is needed")
        first = nets[0]
        stacked: dict[str, Any] = {}
        for name in _STACKED:
            arrays = [getattr(net, name) for net in nets]
            shapes = {None if a is None else tuple(a.shape) for a in arrays}
            if len(shapes) > 1:
                raise InvalidArgument(f"nets: {name} of different shapes given; all networks must have one shape")
            axis = 1 if name == "bias" else 2
            stacked[name] = None if arrays[0] is None else np.stack(arrays, axis=axis)
        for net in nets:
            switches = (net.d_qk, net.skip, net.mask, net.norm, net.mlp)
            if switches != (first.d_qk, first.skip, first.mask, first.norm, first.mlp):
                raise InvalidArgument("nets: different d_qk, skip, mask, norm or mlp given; all must share them")
        return replace(first, **stacked)

    def member(self, index: int) -> Network:
        """One network of a stack."""
        picked: dict[str, Any] = {}
        for name in _STACKED:
            array = getattr(self, name)
            axis = 1 if name == "bias" else 2
            picked[name] = None if array is None else array[(slice(None),) * axis + (index,)]
        return replace(self, **picked)

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def layers(self) -> int:
        """L."""
        return int(self.query.shape[0])

    @property
    def heads(self) -> int:
        """H, the same in every layer."""
        return int(self.query.shape[1])

    @property
    def dim(self) -> int:
        """d, the length of a token."""
        return int(self.query.shape[-2])

    @cached_property
    def W_QK(self) -> Array:
        """(L, H, d, d), multiplied out where the network is factored."""
        return self.query if self.key is None else self.query @ self.key.mT

    @cached_property
    def W(self) -> Array:
        """(L, H, d, d), multiplied out where the network is factored."""
        return self.value if self.output is None else self.value @ self.output

    def mask_for(self, n: int) -> Mask | None:
        """The mask on n tokens; None where every token sees every token."""
        if self.mask is None or self.mask == "complete":
            return None
        mask = as_mask(self.mask, n)
        return None if mask.is_complete else mask

    @property
    def is_pure(self) -> bool:
        """Attention alone: no skip, no MLP, no LayerNorm."""
        return self.skip == 0 and self.norm is None and not any(self.mlp)

    def random_input(self, seed: int = 0, *, tokens: int | None = None, scale: float = 1.0) -> Array:
        """Gaussian tokens, (n, d); n is the network's own unless given."""
        n = self.tokens if tokens is None else as_count("tokens", tokens)
        if n is None:
            raise InvalidArgument("tokens: not given, and the network does not fix it; pass tokens=n")
        rng = np.random.default_rng(as_count("seed", seed, least=0))
        return as_real("scale", scale, positive=True) * rng.standard_normal((n, self.dim))

    # -- files -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz file that `load` reads back bit for bit; the old file stays until the new one is whole."""
        if self.query.ndim != 4:
            raise InvalidArgument("net: a stack of networks given; save its members one by one")
        arrays: dict[str, Any] = {}
        for name in ("query", "key", "value", "output", "key_bias", "bias"):
            if getattr(self, name) is not None:
                arrays[name] = np.asarray(getattr(self, name))
        maps = []
        for l, f in enumerate(self.mlp):
            maps.append(None if f is None else {"activation": f.activation, "skip": f.skip})
            for name in ("W_in", "W_out", "b_in", "b_out"):
                if f is not None and getattr(f, name) is not None:
                    arrays[f"mlp{l}_{name}"] = np.asarray(getattr(f, name))
        norm = None
        if self.norm is not None:
            norm = {"kind": self.norm.kind, "eps": self.norm.eps}
            for name in ("gain", "offset"):
                if getattr(self.norm, name) is not None:
                    arrays[f"norm_{name}"] = np.asarray(getattr(self.norm, name))
        if isinstance(self.mask, Mask):
            arrays["mask"] = self.mask.allowed
        header: dict[str, Any] = {"format": 1, "d_qk": self.d_qk, "skip": self.skip, "mlp": maps, "norm": norm}
        header |= {"tokens": self.tokens, "mask": self.mask if isinstance(self.mask, str) else None}
        arrays["header"] = np.asarray(json.dumps(header))
        target = Path(path)
        partial = target.with_name(target.name + ".part")
        with open(partial, "wb") as file:
            np.savez_compressed(file, **arrays)
        partial.replace(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network:
        """Read what `save` wrote; a file that is not one is refused with the reason."""
        # What zipfile, zlib and NumPy raise: damage, an encrypted member, a gigantic claimed shape.
        damaged = (OSError, ValueError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
        try:
            with open(path, "rb") as opened, np.lib.npyio.NpzFile(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except damaged as error:
            raise InvalidArgument(f"path: {os.fspath(path)!r} given; not a readable npz file ({error})") from None
        try:
            header = json.loads(str(arrays["header"]))
            if header["format"] != 1:
                raise InvalidArgument(f"format {header['format']!r}; this version reads format 1")
            maps = [
                None
                if entry is None
                else MLP(
                    **{name: arrays.get(f"mlp{l}_{name}") for name in ("W_in", "W_out", "b_in", "b_out")},
                    activation=entry["activation"],
                    skip=entry["skip"],
                )
                for l, entry in enumerate(header["mlp"])
            ]
            norm = header["norm"]
            if norm is not None:
                norm = LayerNorm(norm["kind"], norm["eps"], arrays.get("norm_gain"), arrays.get("norm_offset"))
            query = as_array("query", arrays["query"], ndim=4)
            value = as_array("value", arrays["value"], ndim=4)
            L, H, d, k = query.shape
            v = value.shape[-1]
            key, output = arrays.get("key"), arrays.get("output")
            key = None if key is None else as_array("key", key, ndim=4, shape=(L, H, d, k))
            as_array("value", value, ndim=4, shape=(L, H, d, d if output is None else v))
            output = None if output is None else as_array("output", output, ndim=4, shape=(L, H, v, d))
            if key is None:
                _square_stack("query", query)
            tokens = None if header["tokens"] is None else as_count("tokens", header["tokens"])
            return cls._assemble(
                query,
                key,
                value,
                output,
                as_real("d_qk", header["d_qk"], positive=True),
                arrays.get("key_bias"),
                arrays.get("bias"),
                header["skip"],
                maps,
                norm,
                arrays.get("mask", header["mask"]),
                tokens=tokens,
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
            raise InvalidArgument(f"path: {os.fspath(path)!r} given; not a rankmath network: {reason}") from None


def _square_stack(name: str, value: Any) -> Array:
    array = as_array(name, value)
    if array.ndim != 4 or array.shape[-1] != array.shape[-2]:
        given = tuple(int(s) for s in array.shape)
        raise InvalidArgument(f"{name}: shape {given} given; it must be (layers, heads, d, d) with square matrices")
    return array


def _mask(mask: Any, tokens: int | None) -> Mask | str | None:
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


def _skip_factor(skip: Any) -> float:
    return float(skip) if isinstance(skip, (bool, np.bool_)) else as_real("skip", skip)


def _mlps(mlp: Any, L: int, d: int, like: Array) -> tuple[MLP | None, ...]:
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


def _random_mlp(rng: np.random.Generator, d: int, activation: Any, biases: bool, draw: Any) -> MLP:
    width = 4 * d
    b_in = rng.standard_normal(width) / math.sqrt(d) if biases else None
    b_out = rng.standard_normal(d) / math.sqrt(d) if biases else None
    return MLP(draw(d, width), draw(width, d), b_in, b_out, activation=activation)
