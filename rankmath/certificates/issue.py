"""Issuing: from arrays to a certificate the checker accepts.

`certify_claim` is for every claim about a network, registered or a user's own, and `certify_arrays` for
statements about named arrays. Floats are read as the dyadic numbers they are, so a certificate is about exactly
the arrays that were given. Every certificate is put before the independent checker before it is handed out, and
nothing is issued on a float's word.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from rankmath.arithmetic.balls import Balls, precision
from rankmath.certificates.certificate import Certificate, Data
from rankmath.checker.network import read_network
from rankmath.formula.text import Text
from rankmath.linalg.exact_residuals import ExactWeights, exact_residual_bounds
from rankmath.linalg.masks import Mask
from rankmath.linalg.rationals import exact_array
from rankmath.model.network import Network
from rankmath.model.sublayers import MLP, Attention, Sublayer
from rankmath.validation import Array, ArrayLike, InvalidArgument, Number, Objects, as_array, as_choice

Kind: TypeAlias = Literal["holds", "violates", "exists"]
Rows: TypeAlias = list[list[Fraction]]

# Hints need not be exact: a relative 2^-40 is far below every slack the checker grants.
_HINT_BITS = 40
_MOST_BITS = 4096


class NotIssued(ArithmeticError):
    """No certificate: the claim was not decided, or the checker does not accept it."""


def issue(certificate: Certificate, *, decided: bool = True) -> Certificate:
    """The certificate itself, if the checker accepts it, and if balls had decided the claim where they were asked.

    Parameters
    ----------
    decided : False if a rigorous evaluation, made before, did not settle the claim.
    """
    as_choice("decided", decided, (False, True))
    if not decided:
        raise NotIssued(f"{certificate.statement}: the claim {certificate.kind!r} has not been decided rigorously")
    result = certificate.check()
    if not result.accepted:
        raise NotIssued(f"{certificate.statement}: the checker rejects the claim {certificate.kind!r}: {result.reason}")
    return certificate


@dataclass(frozen=True, eq=False)
class Instance:
    """Tokens and a network in exact numbers; floats are read as dyadics.

    Parameters
    ----------
    X : tokens (n, d).
    W_QK, W : (L, H, d, d).
    key_bias : (L, H, d), the k of the logits' term 1 (X k)ᵀ; None for 0.
    bias : (L, d); None for 0.
    d_qk : positive; None for d.
    skip : the factor of the skip connection.
    mask : (n, n) of 0 and 1; None for none.
    layernorm : "none", "sphere" or "column".
    mlp : the `MLP` after each layer, or None; relu or tanh.

    Examples
    --------
    >>> one = np.ones((1, 1, 1, 1))
    >>> Instance([[1.0], [0.25], [-1.0]], one, one).d_qk
    Fraction(1, 1)
    """

    X: Array
    W_QK: Array
    W: Array
    key_bias: Array = None
    bias: Array = None
    d_qk: Number = None
    skip: Number = 0
    mask: Array = None
    layernorm: str = "none"
    mlp: Sequence[MLP | None] = ()

    def __post_init__(self) -> None:
        X = exact_array("X", self.X, (None, None))
        d = X.shape[1]
        W_QK = exact_array("W_QK", self.W_QK, (None, None, d, d))
        L, H = W_QK.shape[:2]
        zeros = np.full((L, H, d), Fraction(0), dtype=object)
        d_qk = exact_array("d_qk", d if self.d_qk is None else self.d_qk, ())[()]
        if d_qk <= 0:
            raise InvalidArgument(f"d_qk: {self.d_qk} given; a positive number is needed")
        values = {
            "X": X,
            "W_QK": W_QK,
            "W": exact_array("W", self.W, (L, H, d, d)),
            "key_bias": zeros if self.key_bias is None else exact_array("key_bias", self.key_bias, (L, H, d)),
            "bias": zeros[:, 0] if self.bias is None else exact_array("bias", self.bias, (L, d)),
            "d_qk": d_qk,
            "skip": exact_array("skip", self.skip, ())[()],
            "mask": None if self.mask is None else exact_array("mask", self.mask, (len(X), len(X))),
        }
        as_choice("layernorm", self.layernorm, ("none", "sphere", "column"))
        for f in filter(None, self.mlp):
            as_choice("mlp.activation", f.activation, ("relu", "tanh"))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, net: Network, X: ArrayLike) -> Instance:
        """The instance (net, X), with W_QK and W multiplied out exactly."""
        kind = "none" if net.norm is None else net.norm.kind
        if kind not in ("none", "sphere", "column") or (net.norm is not None and net.norm.floor > 0):
            raise InvalidArgument(
                f"net: norm {kind} given; in one line there are the sphere's and columns, without eps"
            )
        mask = net.mask_for(len(X))
        return cls(
            X,
            _exact_product(net.query, None if net.key is None else np.swapaxes(net.key, -1, -2)),
            _exact_product(net.value, net.output),
            net.key_bias,
            net.bias,
            net.d_qk,
            net.skip,
            None if mask is None or mask.is_complete else np.asarray(mask.allowed, dtype=int),
            kind,
            net.mlp if any(net.mlp) else (),
        )

    def data(self) -> dict[str, Data]:
        """The fields of a certificate about this instance."""
        layers = [
            {"heads": [{"W_QK": W_QK, "W": W, "key_bias": k} for W_QK, W, k in zip(*heads, strict=True)], "bias": bias}
            for *heads, bias in zip(self.W_QK, self.W, self.key_bias, self.bias, strict=True)
        ]
        for layer, f in zip(layers, self.mlp, strict=False):
            if f is not None:
                layer["mlp"] = {**_exact_map(f), "activation": f.activation, "skip": int(f.skip)}
        return {
            "X": self.X,
            "d_qk": self.d_qk,
            "skip": self.skip,
            "mask": "complete" if self.mask is None else self.mask,
            "layernorm": self.layernorm,
            "layers": layers,
        }

    @property
    def layers(self) -> int:
        return len(self.W)


@dataclass(frozen=True, eq=False)
class SublayerInstance:
    """A network of any sublayers and its tokens; floats are read as dyadics."""

    net: Network
    X: Array

    @property
    def layers(self) -> int:
        return self.net.layers

    def data(self) -> dict[str, Data]:
        """The fields of a certificate about this instance: those of the definitions that are not absent."""
        masks = self.net.masks_for(len(self.X))
        layers = [[_sublayer(part, masks, len(self.X)) for part in layer] for layer in self.net.sublayers]
        return {"X": exact_array("X", self.X, (None, None)), "layers": layers}


def _sublayer(part: Sublayer, masks: Mapping[int, Mask | None], n: int) -> dict[str, Data]:
    found: dict[str, Data] = {"skip": part.skip}
    if part.maps:
        found["maps"] = [
            {"attention": _attention(f, masks[id(f)], n)} if isinstance(f, Attention) else {"mlp": _mlp(f)}
            for f in part.maps
        ]
    for side in ("before", "behind", "after"):
        norm = getattr(part, side)
        if norm is not None:
            found[side] = _present({"kind": norm.kind, "eps": norm.floor, "gain": norm.gain, "offset": norm.offset})
    return found


def _attention(a: Attention, mask: Mask | None, n: int) -> dict[str, Data]:
    names = ("query", "key", "value", "output", "key_bias", "bias", "d_qk", "softcap", "b_Q", "b_K")
    found = {name: getattr(a, name) for name in names}
    each = 1 if a.kv_heads is None else a.heads // a.kv_heads
    if a.qk_norm is None or len(a.qk_norm[1]) == a.query.shape[-1]:  # else a norm goes over all heads
        found |= {name: found[name][::each] for name in ("key", "value", "b_K") if found[name] is not None}
    found["cap"] = None if a.softcap is None or a.cap == "tanh" else a.cap
    found["mask"] = None if mask is None else mask.allowed.astype(int)
    found["position"] = None if a.position is None else [a.position.block(h, 0, n, n) for h in range(a.heads)]
    found["rotary"] = None if a.rotary is None else {"cos": a.rotary.cos[:n], "sin": a.rotary.sin[:n]}
    if a.qk_norm is not None:
        found["qk_norm"] = {"gains": list(a.qk_norm[:2]), "every": [1, each], "eps": a.qk_norm[2]}
    return _present(found)


def _mlp(f: MLP) -> dict[str, Data]:
    gate = {"W_gate": f.W_gate, "b_gate": f.b_gate}
    return {**_exact_map(f), **_present(gate), "activation": f.activation, "skip": int(f.skip)}


def _present(fields: Mapping[str, Data]) -> dict[str, Data]:
    return {name: value for name, value in fields.items() if value is not None}


def instance_of(net: Network, X: ArrayLike) -> Instance | SublayerInstance:
    """The network in the form of its certificates: in one line where it has one, else sublayer by sublayer."""
    if not isinstance(net, Network):
        raise InvalidArgument(f"net: a {type(net).__name__} given; a rankmath.Network is needed")
    if net.is_one_line and net.has_one_mask and all(a.kv_heads is None for a in net.attentions):
        norm, maps = net.norm, [f for f in net.mlp if f is not None]
        plain = norm is None or (norm.kind in ("sphere", "column") and norm.floor == 0)
        if plain and all(f.activation in ("relu", "tanh") and f.W_gate is None for f in maps):
            return Instance.of(net, X)
    return SublayerInstance(net, X)


def tokens(instance: Instance | SublayerInstance, bits: int) -> list[Objects]:
    """X and the tokens after each layer, as balls, as the definitions say."""
    content = json.loads(Certificate("x", "holds", instance.data(), claim="mu(X[0]) >= 0").text())
    data, _ = read_network(content["data"], {}, math.inf)
    with precision(bits):
        A = Balls()
        text = Text(A, data)
        return [text.matrix(text.apply("X", [Fraction(layer)])) for layer in range(instance.layers + 1)]


def _exact_map(f: MLP) -> dict[str, Objects]:
    """The arrays of an MLP, as fractions."""
    d, width = f.W_in.shape
    return {
        "W_in": exact_array("W_in", f.W_in, (d, width)),
        "b_in": exact_array("b_in", np.zeros(width) if f.b_in is None else f.b_in, (width,)),
        "W_out": exact_array("W_out", f.W_out, (width, d)),
        "b_out": exact_array("b_out", np.zeros(d) if f.b_out is None else f.b_out, (d,)),
    }


def certify_claim(
    statement: str,
    claim: str,
    given: Sequence[str],
    net: Network | Instance | SublayerInstance,
    X: ArrayLike = None,
    kind: Kind = "holds",
    *,
    about: str = "",
) -> Certificate:
    """A certificate of any claim about a network, in the language of claims: that it holds of (net, X), or not; of a
    claim that only says that some network has it (kind "exists"), that this one does, however trivial.

    Parameters
    ----------
    statement : a registered key, whose text the checker knows, or a name of your own.
    claim, given : the claim and its hypotheses, as text.
    net, X : the network and its input, or an `Instance` of exact numbers alone.

    Examples
    --------
    >>> net = Network.random(tokens=3, dim=2, layers=1, seed=0)
    >>> claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)"
    >>> certify_claim("mine", claim, ["H == 1", "L == 1"], net, net.random_input(seed=1)).kind
    'holds'
    """
    instance = net if isinstance(net, Instance | SublayerInstance) else instance_of(net, X)
    given = [given] if isinstance(given, str) else list(given)
    data, hints = data_and_hints(instance, [claim, *given])
    return issue(Certificate(statement, kind, data, hints, about, claim, given))


#: What is taken about the composite center, which a certificate then names.
_ABOUT_CENTERS = re.compile(r"\bgamma\(|\b(delta|q_max|q_min)\(.*composite")


def data_and_hints(
    instance: Instance | SublayerInstance, texts: Sequence[str]
) -> tuple[dict[str, Data], dict[str, Data]]:
    """The fields of the instance, with composite centers if these formulas speak of any, and `residual_hints`."""
    data, hints = instance.data(), residual_hints(instance, texts)
    if _ABOUT_CENTERS.search(" ".join(texts)):
        data["centers"] = [hints[f"X[{l}] composite"]["center"] for l in range(instance.layers)]
    return data, hints


def residual_hints(instance: Instance | SublayerInstance, texts: Iterable[str]) -> dict[str, Data]:
    """Centers and dual weights for the residuals that the formulas speak of, after each layer.

    inf- and composite residuals are least values of linear programs; the checker needs a point from each side.
    """
    text = " ".join(texts)
    both: tuple[Literal["inf", "composite"], ...] = ("inf", "composite")
    wanted = [norm for norm in both if re.search(rf"residual\([^()]*, {norm}\)", text)]
    if _ABOUT_CENTERS.search(text) and "composite" not in wanted:
        wanted.append("composite")
    hints: dict[str, Data] = {}
    for layer, X in enumerate(_rational_tokens(instance) if wanted else []):
        for norm in wanted:
            bounds = exact_residual_bounds(X, norm)
            hint: dict[str, Data] = {"center": _near(bounds.center, X)}
            if bounds.dual:
                hint["lines"] = [_line(weights) for weights in bounds.dual if isinstance(weights, ExactWeights)]
            hints[f"X[{layer}] {norm}"] = hint
    return hints


def stochastic_rationals(P: ArrayLike) -> Objects:
    """Dyadic matrices with rows that sum to 1 exactly, within 2^-40 n of the float matrices P (..., n, n).

    >>> stochastic_rationals([[0.25, 0.75], [1.0, 0.0]])[0]
    array([Fraction(1, 4), Fraction(3, 4)], dtype=object)
    """
    P = as_array("P", P, min_ndim=2)
    if (P < 0).any() or (abs(P.sum(axis=-1) - 1) > 1e-9).any():
        raise InvalidArgument("P: rows that are negative somewhere or do not sum to 1 given; P must be row-stochastic")
    down = np.array(_rounded(P.ravel(), Fraction(1, 2**_HINT_BITS)), dtype=object).reshape(P.shape)
    for row in down.reshape(-1, P.shape[-1]):
        row[np.argmax(row)] += 1 - sum(row)
    return down


def certify_arrays(
    key: str, arrays: Mapping[str, ArrayLike], *, kind: Kind = "holds", decided: bool = True
) -> Certificate:
    """A statement about named arrays, whose data are these arrays and no more, each read exactly.

    >>> one = [[1]]
    >>> certify_arrays("own:zero-grad", {"Z": [[1], [0]], "M": one, "V": one, "G": one}).check().accepted
    True
    """
    data = {name: exact_array(name, value, (None,) * np.ndim(value))[()] for name, value in arrays.items()}
    return issue(Certificate(key, kind, data), decided=decided)


# ---------------------------------------------------------------------------------------------------------
# Hints: good ones make the check succeed, bad ones could only make it fail
# ---------------------------------------------------------------------------------------------------------


def _line(weights: ExactWeights) -> dict[str, Data]:
    """A dual point of `exact_residual_bounds`: any weights ≥ 0 prove a line, so rounding them is free."""
    unit = Fraction(1, 2**_HINT_BITS)
    return {"columns": _rounded(weights.columns, unit), "rows": _rounded(weights.rows, unit)}


def _rational_tokens(instance: Instance | SublayerInstance) -> list[Rows]:
    """X and the tokens after each layer, close enough to see their residuals to 60 bits."""
    bits, found = 128, tokens(instance, 128)
    while bits <= _MOST_BITS and any(found[0][0][k] != row[k] for row in found[0] for k in range(len(row))):
        found = tokens(instance, bits)
        if all(_resolved(X) for X in found):
            return [[[_middle(x) for x in row] for row in X] for X in found]
        bits *= 2
    return [[[_middle(x) for x in row] for row in X] for X in found]  # equal tokens need no good hint


def _resolved(X: Array) -> bool:
    radius = max(_middle(x.rad()) for x in X.flat)
    spread = max(abs(_middle(x) - _middle(first)) for row in X for x, first in zip(row, X[0], strict=True))
    return radius <= spread / 2**60


def _middle(x: Number) -> Fraction:
    mantissa, exponent = x.mid().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def _near(center: Sequence[Fraction], X: Rows) -> list[Fraction]:
    """The center, rounded to a unit far below the spread of the tokens."""
    spread = max(abs(x - first) for row in X for x, first in zip(row, X[0], strict=True))
    if spread == 0:
        return list(center)
    size = spread.numerator.bit_length() - spread.denominator.bit_length()
    return _rounded(center, Fraction(2) ** (size - _HINT_BITS))


def _rounded(values: Iterable[Number], unit: Fraction) -> list[Fraction]:
    return [(Fraction(value) / unit).__floor__() * unit for value in values]


def _exact_product(left: ArrayLike, right: ArrayLike) -> Objects:
    fractions = np.vectorize(Fraction, otypes=[object])
    product: Objects = fractions(left) if right is None else fractions(left) @ fractions(right)
    return product
