"""Every implementation is held to the text of its definition, over random networks of every kind."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from rankmath.arithmetic.balls import Balls, precision
from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention.plain import forward
from rankmath.definitions.entries import ENTRIES
from rankmath.definitions.layer import layer_text
from rankmath.formula.evaluate import Truth
from rankmath.formula.language import FAST, measured
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run
from rankmath.formula.text import Text, network_data
from rankmath.linalg.masks import Mask
from rankmath.model.network import LIPSCHITZ, MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import PositionTable
from rankmath.validation import InvalidArgument

RNG = np.random.default_rng(7)
N, D, H, L = 4, 4, 2, 2


def weights(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape)


def one_line(**choices: Any) -> Network:
    heads = choices.pop("heads", H)
    return Network.random(N, D, heads=heads, layers=L, seed=1, biases=choices.pop("biases", True), **choices)


def sublayers(before: LayerNorm | None, after: LayerNorm | None, activation: Any, **choices: Any) -> Network:
    layers = []
    for _ in range(L):
        factors = (weights(H, D, 2), weights(H, D, 2), weights(H, D, 2), weights(H, 2, D))
        attention = Attention.from_qkvo(*factors, weights(H, 2), None, weights(H, 2), weights(D), **choices)
        f = MLP(weights(D, 5), weights(5, D), weights(5), weights(D), activation=activation)
        layers.append([Sublayer(attention, 1.0, before, after), Sublayer(f, 1.0, before, after)])
    return Network.from_layers(layers)


GAIN, SHIFT = np.array([1.5, -0.5, 2.0, 1.0]), np.array([0.25, 0.0, -1.0, 0.5])
NETWORKS: dict[str, Network] = {
    "attention": one_line(),
    "one head": one_line(heads=1),
    "no biases": one_line(biases=False),
    "causal": one_line(mask="causal", heads=1),
    "padding": one_line(mask=Mask.key_padding(N, np.array([True, False, True, True]))),
    "skip": one_line(skip=-0.5),
    "sphere": one_line(norm="sphere", heads=1),
    "columns": one_line(norm=LayerNorm("column")),
    **{activation: one_line(mlp=activation, skip=1.0) for activation in LIPSCHITZ},
    "standard before": sublayers(LayerNorm("standard", 1e-3, GAIN, SHIFT), None, "gelu", mask="causal"),
    "rms before": sublayers(LayerNorm("rms", 1e-5, GAIN), None, "silu"),
    "rms after": sublayers(None, LayerNorm("rms", 0.1, GAIN, SHIFT), "tanh"),
    "positions": sublayers(None, None, "relu", position=PositionTable(weights(H, N, N))),
    "rotary": one_line(
        biases=False, positions="rotary", norm="rms", norm_at="before", skip=1.0, kv_heads=1, qk_norm=True
    ),
    "window": one_line(biases=False, positions="alibi", mask="causal", window=2, softcap=2.0),
}
TOKENS = RNG.normal(size=(N, D)) + np.array([2.0, 1.0, 0.0, -1.0])
#: What an entry is asked about: its parameters by kind.
PLACES: dict[str, tuple[Any, ...]] = {
    "tokens": (("X", 0), ("X", 1), ("X", L)),
    "attention": (("P", 0, 0), ("P", 1, 0), ("P0", 1, 0)),
    "weight": (("W", 0, 0), ("W_QK", 1, 0)),
    "matrix": (("X", 1), ("W", 1, 0), ("P", 0, 0)),
    "layer": (0, 1),
}


def asked(name: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    for parameter in ENTRIES[name].parameters:
        values = parameter.words or PLACES[parameter.kind]
        values = [v for v in values if not parameter.by_place or v[0] == parameter.name]
        found = [(*before, value) for before in found for value in values]
    return found


def number(x: Any) -> float:
    if isinstance(x, Signed):
        return float(x.floats())
    return float(x.mid()) if hasattr(x, "mid") else float(x)


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_passes_compute_what_the_text_says(kind: str) -> None:
    net = NETWORKS[kind].replace(norm=None) if kind == "sphere" else NETWORKS[kind]
    out = forward(net, TOKENS)
    with mpmath.workdps(40):
        A = Multiprecision(40)
        text = Text(A, network_data(A, net, TOKENS))
        exact = [[float(text.lifted(x)) for x in row] for row in text.apply("X", [Fraction(L)])]
    np.testing.assert_allclose(out, exact, rtol=1e-11, atol=1e-11)


def is_undefined(name: str, net: Network) -> bool:
    """Whether a quantity is about parts that the network does not have, or about maps without biases and norms."""
    if name == "lengthening":
        return any(part is not None for a in net.attentions for part in (a.qk_norm, a.b_Q, a.b_K))
    if name in ("jacobian_norm", "influence", "repeat_gap", "repeat_reach", "repeat_share"):
        alone = net.norm_kind == "none" and set(net.activations) == {"none"} and net.is_one_line
        return not alone or (name.startswith("repeat") and net.mask != "causal" and net.mask != Mask.causal(N))
    roots = ("least_root", "largest_root", "root_growth", "gained_norm", "scaling_values")
    return name in roots and net.sublayers[0][0].before is None


@pytest.mark.parametrize("kind", NETWORKS)
def test_every_fast_implementation_measures_what_the_text_says(kind: str) -> None:
    net = NETWORKS[kind]
    run = Run(Float64(np.zeros(1)), net, TOKENS)
    enclosed = Run(Balls(), net, TOKENS)
    for name, (function, of) in FAST.items():
        if is_undefined(name, net):
            for arguments in asked(name):
                for measure in (partial(run.by_text, name, arguments), partial(measured, name, run, *arguments)):
                    with pytest.raises(InvalidArgument, match=rf"net: (it has no|{name} is not defined)"):
                        measure()
            continue
        if name in ("jacobian_norm", "influence") or not run.takes(of):  # no text has derivatives in the library
            continue
        for arguments in asked(name):
            if name == "contraction" and arguments[0] >= int(run.letter("K")):
                continue
            if name == "gram_height" and arguments != (("X", 0),):  # nearly singular
                continue
            by_text, fast = run.by_text(name, arguments), function(run, *arguments)
            if name == "rank" and number(by_text) % 1:  # balls tell it only up to an interval
                continue
            if isinstance(by_text, Truth):
                assert by_text.holds == fast.holds, (name, arguments)
                continue
            # Linear programs are solved up to a millionth, and what is taken about their centers is as good.
            part = 1e-5 if name == "gamma" or {"composite", "inf"} & {*arguments} else 1e-9
            assert number(fast) == pytest.approx(number(by_text), rel=part, abs=1e-10), (name, arguments)
            with precision(128):
                text = enclosed.by_text(name, arguments)
                for found in (function(enclosed, *arguments) if enclosed.takes(of) else text, text):
                    if np.isnan(number(found)):  # balls may not tell
                        continue
                    assert number(found) == pytest.approx(number(by_text), rel=part, abs=1e-10), (name, arguments)


def test_degrees_and_signs_of_the_entries_are_those_of_their_text() -> None:
    """What scales by c^k does so, and what is said to have a sign has it, on matrices of any kind."""
    text = Text(Float64(np.zeros(1)), {"d": Fraction(3), "n": Fraction(3)})
    rng = np.random.default_rng(3)
    for entry in ENTRIES.values():
        if entry.truth or not entry.parameters or entry.parameters[0].by_place:
            continue
        if entry.parameters[0].kind not in ("tokens", "weight", "matrix"):
            assert entry.degree is None
            continue
        for word in entry.parameters[1].words if len(entry.parameters) > 1 else ("",):
            M = rng.normal(size=(3, 3)).tolist()
            if entry.name == "normalised_norm":
                continue
            more = [Fraction(word) if word.isdigit() else word] if word else []
            values = [number(text.apply(entry.name, [[[c * x for x in row] for row in M], *more])) for c in (1.0, 8.0)]
            assert entry.sign != "+" or values[0] >= 0, entry.name
            if entry.degree is not None:
                assert values[1] == pytest.approx(8.0**entry.degree * values[0], rel=1e-9), entry.name


def test_a_planted_error_in_the_text_is_seen() -> None:
    """The comparison above is one: a layer with its skip forgotten is another network."""
    net = NETWORKS["skip"]
    A = Float64(np.zeros(1))
    text = Text(A, network_data(A, net, TOKENS))
    assert "joined(s, Y) = s.skip * Y" in layer_text()
    wrong = ast.parse("sum(mapped(f, normed(s.before, Y)) for f in s.maps)", mode="eval").body
    text.defined = {**text.defined, "joined": (("s", "Y"), wrong)}
    found = np.asarray(text.apply("X", [Fraction(L)]), dtype=float)
    assert not np.allclose(found, forward(net, TOKENS))
