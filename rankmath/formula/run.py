"""A network instance carried through one arithmetic: what the quantities of a claim are measured on."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.arithmetic.numpy64 import many
from rankmath.arithmetic.protocol import System
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.maps import norm_step
from rankmath.attention.plain import layer_norm, logits_of, uncoded
from rankmath.attention.softmax import softmax
from rankmath.attention.tokens import Tokens, centre
from rankmath.attention.trace import layers_centred
from rankmath.definitions.entries import ENTRIES
from rankmath.definitions.hypotheses import mask_of
from rankmath.formula.evaluate import NUMBERS, Numbers, Scalar
from rankmath.formula.numbers import BEYOND, Signed
from rankmath.formula.text import Text, Undefined, joined, network_data, rounded
from rankmath.linalg.diameters import diameter
from rankmath.linalg.exact_residuals import log_diameter as log_diameter_objects
from rankmath.linalg.exact_residuals import log_residual as log_residual_objects
from rankmath.linalg.masks import Mask, as_mask
from rankmath.linalg.residuals import (
    MOST_DIMENSIONS,
    ResidualNorm,
    residual_above,
    residual_inf,
    residual_one,
    value_and_center,
)
from rankmath.model.network import Attention, Network
from rankmath.model.positions import kinds_of_positions
from rankmath.validation import Array, InvalidArgument, Number

# So many networks of at most so many tokens and dimensions lie side by side in memory.
_MANY, _SMALL = 128, 16
# Logarithms of logits beyond this are cut: the softmax is saturated either way.
_LARGEST_LOG = 300.0


class Run:
    """A network and its input in one arithmetic, layer by layer; float64 takes batches.

    Under sphere LayerNorm the input is normalised first: X[0] = LN(X).
    """

    def __init__(self, A: System, net: Network, X: Array) -> None:
        # The arithmetic of a batch is that of its arrays.
        small = X.ndim == 3 and len(X) >= _MANY and max(X.shape[1:]) <= _SMALL
        if small and not A.unbounded and net.batch_shape and net.is_one_line:
            net, X = net.laid_out(many), many(X, 0)
        self.A: Any = A if A.unbounded else Float64(X)
        self.net, self.X = net, X
        self.numbers: Numbers = NUMBERS[A.name]
        self.memory: dict[Hashable, Scalar] = {}
        #: Least residuals and their centers, found by linear programs: shared by the runs of single layers.
        self._least: dict[tuple[int, str], tuple[Array, Array, Array]] = {}
        self.on_a_line = net.dim == 1
        #: The run this is a part of, and its first layer there: sizes of weights are known there.
        self.part_of: tuple[Run, int] | None = None
        #: For searches: residuals from above where they need linear programs.
        self.quick = False
        self._backend: Backend = "numpy" if A.unbounded else A.backend

    # -- numbers -------------------------------------------------------------------------------------------

    def from_log(self, log: Array) -> Scalar:
        """e^log as a number of the arithmetic."""
        return self.numbers.from_log(log)

    def number(self, x: Array) -> Scalar:
        """A value (over the batch, in float64) as a number."""
        return x if self.A.unbounded else Signed.of(x)

    # -- letters and switches ------------------------------------------------------------------------------

    def letter(self, name: str) -> Fraction | Scalar:
        return threshold(self.numbers) if name == "x_star" else Fraction(_LETTERS[name](self))

    def switch(self, name: str, word: str) -> bool:
        net = self.net
        if word == "any":
            return True
        match name:
            case "mask":
                return self._masked_as(word)
            case "layernorm":
                return net.norm_kind == word
            case "norm_at":
                return net.norm_at == word
            case "mlp":
                return all(activation == word for activation in net.activations)
            case "bias" | "query_bias":
                names = ("bias",) if name == "bias" else ("key_bias", "b_Q")  # b_K makes no term of the logits
                given = [getattr(a, part) for a in net.attentions for part in names]
                return not any(b is not None and np.asarray(to_numpy(b)).any() for b in given)
            case "positions":
                n = int(self.X.shape[-2])
                return all(word in kinds_of_positions(a.position, a.rotary, n) for a in net.attentions)
            case "softcap":
                return all(word == ("none" if a.softcap is None else a.cap) for a in net.attentions)
            case "qk_norm":
                return all(a.qk_norm is None for a in net.attentions)
        raise KeyError(name)

    def _masked_as(self, word: str) -> bool:
        n = int(self.X.shape[-2])
        if not self.net.has_one_mask and (
            word != "padding"  # any other word names one mask
            or any(mask is not None and mask.common_support is None for mask in self.net.masks_for(n).values())
        ):
            return False
        mask = self.net.mask_for(n)
        if (mask is None or mask.is_complete) and mask_of(word) is None:
            return word in ("none", "complete", "padding") or (word == "causal" and n == 1)
        named, mask = mask_of(word), mask or Mask.complete(n)
        if named is not None and named[0] == "star" and named[1] >= n:
            return mask == Mask(np.eye(n, dtype=bool))  # a hub that is no token, by the text of the mask
        if named is not None:
            return mask == as_mask(f"{named[0]}:{named[1]}", n)
        if word == "padding":
            return mask.common_support is not None
        return word == "causal" and mask == Mask.causal(n)

    @cached_property
    def mask(self) -> Mask:
        """The mask as a graph on the tokens."""
        n = int(self.X.shape[-2])
        return self.net.mask_for(n) or Mask.complete(n)

    @property
    def radius(self) -> int:
        """The radius of the mask, at least 1; 1 where there is none."""
        return self.mask.steps

    # -- by the text ---------------------------------------------------------------------------------------

    def takes(self, of: str) -> bool:
        """Whether an implementation that was registered for such networks may measure this one."""
        if self._by_text_alone:
            return False
        if not self.net.has_one_mask and of not in ("tokens", "weights", "multiplied"):
            return False
        if of == "multiplied":
            return all(a.key is None and a.output is None for a in self.net.attentions)
        if of in ("attention", "doubles"):
            attends = [[s.attention is not None for s in layer] for layer in self.net.sublayers]
            first = all(layer[0] and sum(layer) == 1 for layer in attends)
            return first and not (of == "doubles" and self.A.unbounded)
        if of in ("bare", "causal"):
            alone = self.net.is_one_line and self.switch("layernorm", "none") and self.switch("mlp", "none")
            return alone and (of == "bare" or self._masked_as("causal"))
        return of != "one line" or self.net.is_one_line

    @cached_property
    def _by_text_alone(self) -> bool:
        return uncoded(self.net) != ""

    def by_text(self, name: str, arguments: tuple[Any, ...]) -> Scalar:
        """A quantity as its definition says; float64 rounds what balls enclose, for each of a batch."""
        if self.X.ndim == 3:
            runs = self.memory.setdefault(("members", "run"), [self._member(i) for i in range(len(self.X))])
            found = [run.by_text(name, arguments) for run in runs]
            return joined(found, self.A.unbounded)
        if self.A.unbounded:
            return self._defined(self.A, name, arguments)
        return rounded(lambda A: self._defined(A, name, arguments))

    def _defined(self, A: Any, name: str, arguments: tuple[Any, ...]) -> Scalar:
        if self.A.unbounded and self.net.norm_kind == "sphere" and not self._by_text_alone:
            read = [a[1] for a in arguments if isinstance(a, tuple) and a[0] in ("X", "P", "P0")]
            if any(layer > 0 for layer in read):
                _ = self.tokens  # a token that is 0 has no direction, and balls about 0/0 would not say so
        try:
            found = self.text(A).measured(name, arguments)
        except Undefined:
            found = "undefined"
        if isinstance(found, str):
            said = ", ".join(argument for argument in map(str, arguments) if argument.isdigit())
            at = f" at {said}" if said else ""
            told = ENTRIES[name].meaning
            raise InvalidArgument(f"net: {name} is not defined{at} for its {len(self.X)} tokens and its layers: {told}")
        return found

    def _member(self, i: int) -> Run:
        return Run(self.A, self.net.member(i) if self.net.batch_shape else self.net, self.X[i])

    def text(self, A: Any) -> Text:
        """The definitions over this network and its input, at the precision that is set."""
        key = ("text", A.name, A.bits if A.name == "balls" else 0)
        if key not in self.memory:
            self.memory[key] = Text(A, network_data(A, self.net, to_numpy(self.X)))
        found: Text = self.memory[key]
        return found

    # -- tokens --------------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> list[Tokens]:
        norm = self.net.sublayers[-1][-1].after
        if norm is not None and self.net.norm_kind == "sphere" and self.net.norm_at == "after":
            first = norm_step(self.A, norm, centre(self.A, self.X))
            return list(layers_centred(self.A, self.net, self.X, first))
        if self._backend == "numpy":
            return list(layers_centred(self.A, self.net, self.X))
        # The layers run there; what is measured of their tokens is measured here.
        net, X = on_backend(self._backend, self.net, self.X)
        layers = layers_centred(Float64(X), net, X)
        return [replace(t, center=to_numpy(t.center), residual=to_numpy(t.residual)) for t in layers]

    def part(self, first: int, last: int) -> Run:
        """The run of the layers from `first` to before `last`, on the tokens that come to them, as they are known
        here."""
        found = Run(self.A, Network.from_layers(self.net.sublayers[first:last], self.net.tokens), self.X)
        found.tokens, found._least = self.tokens[first : last + 1], self._least
        found.part_of = self, first
        return found

    def weight(self, array: str, layer: int, head: int) -> Array:
        """W or W_QK of one head, in the arithmetic; factors are multiplied there, so that balls see no rounding."""
        A, net = self.A, self.net
        left, right = (net.query, net.key) if array == "W_QK" else (net.value, net.output)
        if not A.unbounded:
            return A.asarray((net.W_QK if array == "W_QK" else net.W)[layer, head])
        first = A.asarray(left[layer, head])
        if right is None:
            return first
        second = A.asarray(right[layer, head])
        return A.matmul(first, A.transpose(second) if array == "W_QK" else second)

    def exponent(self, p: str) -> float:
        """p as a number; on a line all ℓ_p are one, and only the first is worked out."""
        return 1 if self.on_a_line else exponent(p)

    @property
    def root(self) -> Array:
        """√d_qk."""
        return scalar_function(self.A, self.A.sqrt, self.A.constant(self.net.d_qk))

    def log_diameter(self, layer: int, p: float) -> Array:
        """log Δ_p of the tokens after `layer` layers."""
        tokens = self.tokens[layer]
        if self.A.unbounded:
            return log_diameter_objects(self.A, tokens.residual, p)
        return self.scaled(tokens, diameter(tokens.residual, p))

    def log_residual(self, layer: int, norm: ResidualNorm) -> Array:
        """log‖res‖ of the tokens after `layer` layers."""
        tokens = self.tokens[layer]
        if self.A.name == "mpmath" and norm != "frobenius":
            return self._log_residual_of_doubles(tokens.residual, norm)
        if self.A.unbounded:
            return log_residual_objects(self.A, tokens.residual, norm)
        R = tokens.residual
        if norm == "frobenius":
            size = np.sqrt((R * R).sum(axis=(-2, -1)))
        elif norm == "one":
            size = residual_one(R)
        elif norm == "inf" and R.shape[-1] <= MOST_DIMENSIONS:
            size = residual_inf(R)
        elif self.quick:
            size = residual_above(R, norm)
        else:
            size = self._least_of(R, norm)[0]
        return self.scaled(tokens, size)

    def _least_of(self, R: Array, norm: ResidualNorm) -> tuple[Array, Array]:
        """The least norm of R − 1xᵀ and an x, (..., 1, d), for doubles; worked out once."""
        if (id(R), norm) not in self._least:
            found = [value_and_center(r, norm) for r in R.reshape(-1, *R.shape[-2:])]
            sizes = np.asarray([size for size, _ in found]).reshape(R.shape[:-2])
            centers = np.asarray([center for _, center in found]).reshape(*R.shape[:-2], 1, R.shape[-1])
            # With R itself, so that its id stays its own.
            self._least[id(R), norm] = sizes, centers, R
        return self._least[id(R), norm][:2]

    def _log_residual_of_doubles(self, R: Array, norm: ResidualNorm) -> Array:
        """Linear programs see doubles, scaled to size one: right to their sixteen digits."""
        import mpmath

        largest = max((abs(x) for x in R.flat), default=mpmath.mpf(0))
        if largest == 0:
            return mpmath.mpf("-inf")
        floats = np.asarray([float(x / largest) for x in R.flat]).reshape(R.shape)
        return mpmath.log(largest) + mpmath.log(value_and_center(floats, norm)[0])

    def scaled(self, tokens: Tokens, size: Array) -> Array:
        """log of a size measured in the residual's unit."""
        log = tokens.log_residual.to_float(least=BEYOND)[..., 0, 0]
        return log + self.A.log(np.asarray(size, dtype=float))

    def units(self, layer: int) -> tuple[Array, Array]:
        """The units of mean and residual as numbers: 1 where exponents are unbounded."""
        if self.A.unbounded:
            return 1, 1
        tokens = self.tokens[layer]
        return np.exp(tokens.log_center), np.exp(np.maximum(tokens.log_residual.to_float(), -1e300))

    def plain_tokens(self, layer: int) -> Array:
        """X itself, mean and residual added up."""
        tokens = self.tokens[layer]
        mean, spread = self.units(layer)
        return tokens.center * mean + tokens.residual * spread

    # -- attention -----------------------------------------------------------------------------------------

    def logit_parts(self, layer: int, head: int) -> tuple[Array, Array]:
        """c (..., 1, n) and E (..., n, n), quadratic in res(X): the logits are c_j + E_ij up to constants of a row."""
        A, net, tokens = self.A, self.net, self.tokens[layer]
        W, R = self.weight("W_QK", layer, head), tokens.residual
        c = A.matmul(A.matmul(tokens.center, W), A.transpose(R))
        E = A.matmul(A.matmul(R, W), A.transpose(R))
        bias: Array | None = None
        if net.key_bias is not None:
            bias = A.transpose(A.matmul(R, A.asarray(net.key_bias[layer, head][..., None])))
        if A.unbounded:
            return (c if bias is None else c + bias) / self.root, E / self.root
        sigma = np.maximum(tokens.log_residual.to_float(), -1e300)
        c = c * np.exp(np.minimum(sigma + tokens.log_center, _LARGEST_LOG))
        c = c if bias is None else c + bias * np.exp(np.minimum(sigma, _LARGEST_LOG))
        root = np.asarray(self.root)[..., None, None]
        return c / root, E * np.exp(np.minimum(2 * sigma, _LARGEST_LOG)) / root

    def on_edges(self, values: Array) -> Array:
        """`values` (..., n, n) where the mask allows, −∞ elsewhere."""
        nothing = scalar_function(self.A, self.A.log, self.A.constant(0))
        return self.A.where(self.mask.allowed, values, nothing)

    def attention(self, layer: int, head: int, array: str = "P") -> Array:
        """P of one head, (..., n, n), or P0, the same if all tokens that the layer reads were the first of them."""
        key = ("attention matrix", array, layer, head)
        if key not in self.memory:
            self.memory[key] = softmax(self.A, self.on_edges(self._logits(layer, head, array)))
        return self.memory[key]

    def _logits(self, layer: int, head: int, array: str) -> Array:
        if not self.net.is_one_line:
            return self.logits(layer, array)[head]
        c, E = self.logit_parts(layer, head)
        return 0 * (c + E) if array == "P0" else c + E

    def logits(self, layer: int, array: str = "P") -> list[Array]:
        """The logits of any attention, by the definition: as they are, or (`P0`) at consensus."""
        key = ("logits", array, layer)
        if key not in self.memory:
            Y = self.reads(layer)
            Y = Y if array == "P" else Y[..., :1, :] + 0 * Y
            self.memory[key] = logits_of(self.A, self.attending(layer), Y)
        found: list[Array] = self.memory[key]
        return found

    def attending(self, layer: int) -> Attention:
        """The attention that begins a layer."""
        found = self.net.sublayers[layer][0].attention
        assert found is not None
        return found

    def reads(self, layer: int) -> Array:
        """What that attention reads."""
        before, Y = self.net.sublayers[layer][0].before, self.plain_tokens(layer)
        return Y if before is None else layer_norm(self.A, before, Y)

    def about(self, layer: int, head: int, center: str) -> SoftmaxParts:
        """Oscillations D_ii and q = softmax(c) of one head, with R taken about a center.

        "composite" minimises ‖R‖_{1,∞} (found by float64 linear programs: any center gives true bounds for the
        D and q taken there), "mean" is the mean token.
        """
        key = ("softmax about", layer, head, center)
        if key not in self.memory:
            self.memory[key] = self._softmax_about(layer, self._offset(layer, center), head)
        found: SoftmaxParts = self.memory[key]
        return found

    def _offset(self, layer: int, center: str) -> Array:
        key = ("center", layer, center)
        if key not in self.memory:
            tokens = self.tokens[layer]
            mean = center == "mean"
            self.memory[key] = 0 * tokens.center if mean else self._composite_center(tokens.residual)
        return self.memory[key]

    def _softmax_about(self, layer: int, offset: Array, head: int) -> SoftmaxParts:
        A, net, tokens = self.A, self.net, self.tokens[layer]
        R = tokens.residual - offset
        W = self.weight("W_QK", layer, head)
        root = self.root if A.unbounded else np.asarray(self.root)[..., None, None]
        k = None if net.key_bias is None else A.matmul(R, A.asarray(net.key_bias[layer, head][..., None]))
        shift: Array = 0
        if A.unbounded:
            c = A.matmul(R, A.transpose(A.matmul(tokens.center + offset, W)))
        else:
            sigma = np.maximum(tokens.log_residual.to_float(), -1e300)
            unit = np.maximum(tokens.log_center, sigma)
            x = tokens.center * np.exp(tokens.log_center - unit) + offset * np.exp(sigma - unit)
            c = A.matmul(R, A.transpose(A.matmul(x, W))) * np.exp(np.minimum(sigma + unit, 600.0))
            k = None if k is None else k * np.exp(sigma)
            shift = 2.0 * sigma[..., 0, 0]
        c = (c if k is None else c + k) / root
        E = A.matmul(A.matmul(R, W), A.transpose(R)) / root
        D = A.max(E, axis=-1) + A.max(-E, axis=-1)
        c = c - A.row_of_largest(c, c)
        log_total = scalar_function(A, A.log, unbox(A.sum(A.exp(c), axis=-2)))
        return SoftmaxParts(
            scalar_function(A, A.log, unbox(A.max(D, axis=-2))) + shift,
            scalar_function(A, A.log, unbox(A.sum(D, axis=-2))) + shift,
            -unbox(A.max(-c, axis=-2)) - log_total,
            unbox(A.max(c, axis=-2)) - log_total,
        )

    def _composite_center(self, R: Array) -> Array:
        if self.A.unbounded:
            exponent = self.A.upper_exponent(R)
            unit = self.A.constant(2) ** exponent
            scaled = (x / unit for x in R.flat)
            middles = [float(x.mid()) if self.A.name == "balls" else float(x) for x in scaled]
            floats = np.asarray(middles).reshape(R.shape)
            return self.A.asarray(value_and_center(floats, "composite")[1][None, :]) * unit
        if self.quick:
            ordered = np.sort(R, axis=-2)
            return ordered[..., R.shape[-2] // 2, :][..., None, :]
        return self._least_of(R, "composite")[1]

    # -- sphere LayerNorm ----------------------------------------------------------------------------------

    def heights(self, layer: int, v: Array) -> Array:
        """⟨X_i, v⟩ for a row v, (..., n, 1)."""
        A, tokens = self.A, self.tokens[layer]
        mean, spread = self.units(layer)
        column = A.transpose(v)
        return A.matmul(tokens.center, column) * mean + A.matmul(tokens.residual, column) * spread

    def pole(self, layer: int) -> Array:
        """The direction v of the mean token of the input, carried by the values of `layer` layers: v W^0 ⋯
        W^{layer−1}."""
        A = self.A
        x = self.tokens[0].center
        v = x / A.nonzero(A.sqrt(A.sum(x * x, axis=-1)))
        for l in range(layer):
            v = A.matmul(v, self.weight("W", l, 0))
        return v

    def log_section(self, layer: int) -> Array:
        """log of the ℓ₂ diameter of the y_i = X_i/⟨X_i, v⟩, v the pole.

        About the mean x: y_i − x/⟨x, v⟩ = (R_i − x⟨R_i, v⟩/⟨x, v⟩)/⟨X_i, v⟩, so collapsed tokens lose no digits.
        """
        A, tokens, v = self.A, self.tokens[layer], self.pole(layer)
        column = A.transpose(v)
        along = A.matmul(tokens.residual, column) / A.nonzero(A.matmul(tokens.center, column))
        offsets = (tokens.residual - along * tokens.center) / A.nonzero(self.heights(layer, v))
        if A.unbounded:
            return log_diameter_objects(A, offsets, 2)
        return self.scaled(tokens, diameter(offsets, 2))


_LETTERS: dict[str, Callable[[Run], int | float | Fraction]] = {
    "n": lambda run: int(run.X.shape[-2]),
    "d": lambda run: run.net.dim,
    "H": lambda run: run.net.heads,
    "L": lambda run: run.net.layers,
    "d_qk": lambda run: run.net.d_qk,
    "skip": lambda run: run.net.skip,
    "r": lambda run: run.radius,
    "K": lambda run: -(-run.net.layers // run.radius),
    "in_degree": lambda run: int(run.mask.allowed.sum(axis=1).max()),
    "kv_heads": lambda run: max(a.heads if a.kv_heads is None else a.kv_heads for a in run.net.attentions),
}


@dataclass(frozen=True)
class SoftmaxParts:
    """One head: log max_i D_ii, log Σ_i D_ii, and log of the least and largest entry of q."""

    log_D: Array
    log_sum_D: Array
    log_q_min: Array
    log_q_max: Array


def threshold(numbers: Numbers) -> Scalar:
    """x* = −½ − W₋₁(−e^{−1/2}/2), the positive root of eˣ = 1 + 2x."""
    if numbers.name == "float64":
        return Signed.of(1.2564312086261697)
    half = numbers.lift(Fraction(1, 2))
    argument = -numbers.apply("exp", -half) / 2
    if numbers.name == "balls":
        return -half - argument.lambertw(branch=-1)
    import mpmath

    return -half - mpmath.lambertw(argument, -1).real


def scalar_function(A: System, function: Callable[[Array], Array], x: Number) -> Array:
    """A function of arrays on one number (or, in float64, on a batch of them)."""
    if not A.unbounded:
        return function(np.asarray(x, dtype=float))
    if isinstance(x, np.ndarray):
        return function(x)
    box = np.empty(1, dtype=object)
    box[0] = x
    return function(box)[0]


def unbox(a: Array) -> Array:
    """(..., 1, 1) -> (...): the number itself where there is no batch."""
    return a[..., 0, 0][()]


def exponent(word: str) -> float:
    """p as a number."""
    return math.inf if word == "inf" else int(word)
