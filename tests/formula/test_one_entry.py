"""One entry makes a quantity, and one line of text a kind of layer: claims about them are decided and certified."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.balls import Balls, precision
from rankmath.arithmetic.float64 import Float64
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import NotIssued, certify_claim
from rankmath.checker.checker import check_text
from rankmath.checker.network import _switched, read_network
from rankmath.decide.conjecture import examine, in_python
from rankmath.definitions import layer
from rankmath.definitions.entries import ENTRIES, Entry, define
from rankmath.definitions.hypotheses import MASKS, SWITCHES, said
from rankmath.formula.evaluate import value
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.printing import latex, words
from rankmath.formula.reader import read_formula, read_term
from rankmath.formula.run import Run
from rankmath.linalg.masks import as_mask
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome


@pytest.fixture
def widest() -> Iterator[Entry]:
    yield define(
        "widest(X) = max(max(c) - min(c) for c in T(X))",
        "largest oscillation of a coordinate over the tokens",
        latex=r"\omega({0})",
        example="widest(X[1]) <= widest(X[0])",
        degree=1,
    )
    del ENTRIES["widest"], FUNCTIONS["widest"]


def test_a_quantity_is_one_entry(widest: Entry) -> None:
    """It is read, printed, measured in doubles and balls, searched, certified and checked."""
    net = Network.random(3, 2, heads=2, layers=2, seed=0)
    X = net.random_input(seed=1)
    exact = np.ptp(np.asarray(X), axis=0).max()
    assert latex(read_term("widest(X[0])")) == r"\omega(X^{0})"
    assert FUNCTIONS["widest"].meaning == widest.meaning
    run = Run(Float64(np.zeros(1)), net, X)
    assert float(value(read_term("widest(X[0])"), run, {}).floats()) == pytest.approx(exact, rel=1e-15)
    with precision(128):
        ball = value(read_term("widest(X[0])"), Run(Balls(), net, X), {})
        assert abs(ball - float(exact)) < 2**-50
        assert ball.rad() < 2**-100
    # Where values are the identity attention averages coordinates; else they may grow.
    average = Network.from_arrays(np.eye(2)[None, None] / 4, np.eye(2)[None, None])
    shrinks = Statement("mine:shrinks", "widest(X[1]) <= widest(X[0])")
    assert judge(shrinks, NetworkInstance(average, X), "balls").outcome == Outcome.HOLDS
    assert certify_claim("mine", "widest(X[1]) <= widest(X[0])", [], average, X).check().accepted
    answer = examine(shrinks, seconds=1, instances=20)
    assert answer.refuted
    certificate = answer.battery.certificate()
    assert check_text(certificate.text()).accepted
    # Who has no such entry says so.
    del ENTRIES["widest"]
    assert "'widest' is not in the language" in check_text(certificate.text()).reason
    ENTRIES["widest"] = widest


def weights(rng: np.random.Generator, *shape: int) -> Any:
    return np.round(rng.uniform(-1, 1, shape), 2)


def modern(**choices: Any) -> tuple[Network, Any]:
    """A block as language models have it: RMSNorm before attention and before a gated MLP, with skips."""
    rng = np.random.default_rng(4)
    factors = [weights(rng, 2, 4, 2) for _ in range(3)] + [weights(rng, 2, 2, 4)]
    attention = Attention.from_qkvo(*factors, mask="causal", **choices)
    f = MLP(weights(rng, 4, 5), weights(rng, 5, 4), activation="silu", W_gate=weights(rng, 4, 5))
    norm = LayerNorm("rms", 2.0**-17, 1 + weights(rng, 4))
    layer = [Sublayer(attention, 1.0, norm), Sublayer(f, 1.0, norm)]
    return Network.from_layers([layer, layer]), weights(rng, 3, 4)


TURNS = rm.Rotary(np.array([[1.0], [0.8], [0.28]]), np.array([[0.0], [0.6], [0.96]]))
BLOCK = ["mask == causal", "layernorm == rms", "norm_at == before", "mlp == silu", "skip == 1"]
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "block": ({}, "mlp == silu"),
    "soft cap": ({"softcap": 0.5}, "softcap == any"),
    "norms of queries and keys": ({"qk_norm": (np.ones(2), np.array([2.0, 0.5]), 2.0**-10)}, "qk_norm == any"),
    "rotary positions": ({"rotary": TURNS}, "positions == any"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_layer_is_a_line_of_text(kind: str) -> None:
    """What the library computes of it the checker works out from exact numbers, and the text decides claims."""
    choices, switch = KINDS[kind]
    net, X = modern(**choices)
    out = Run(Float64(np.zeros(1)), net, X).plain_tokens(2)
    spread = float(np.abs(out - out.mean(axis=0)).max())
    assert spread > 0.1
    size = float(np.linalg.norm(out - out.mean(axis=0)))
    given = BLOCK if switch in BLOCK else [*BLOCK, switch]
    below, above = (f"mu(X[2]) <= {round(size * factor, 6)}*mu(X[0])/mu(X[0])" for factor in (1.001, 0.999))
    holds = certify_claim("mine", below, given, net, X)
    assert json.loads(holds.text())["format"].endswith("/3")
    assert certify_claim("mine", above, given, net, X, "violates").check().accepted
    for arithmetic in ("float64", "mpmath", "balls"):
        verdict = judge(Statement("mine", below, given), NetworkInstance(net, X), arithmetic)
        assert verdict.outcome == Outcome.HOLDS, arithmetic
    # A claim that does not speak of it is not about this network.
    if switch not in BLOCK:
        with pytest.raises(NotIssued, match=switch.split()[0]):
            certify_claim("mine", below, BLOCK, net, X)
        silent = judge(Statement("mine", below, BLOCK), NetworkInstance(net, X), "balls")
        assert silent.outcome == Outcome.NOT_APPLICABLE
    # Attention of another kind is another network: the same claim with the kind left out of the data is refused.
    content = json.loads(holds.text())
    del content["id"]
    content["format"] = "rankmath-certificate/2"
    assert not check_text(json.dumps(content)).accepted


X_OF_KINDS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5]])
#: Kinds of maps that no code knows: how each is added, to which table, and how a claim names it.
OWN: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "cap": (partial(layer.add_cap, "rational", "x/(1 + abs(x)/c)"), layer.CAPS, "softcap", "rational"),
    "norm": (partial(layer.add_norm, "largest", "y / max(abs(y))"), layer.LAYERNORMS, "layernorm", "largest"),
    "activation": (partial(layer.add_activation, "ratio", "x/(1 + abs(x))"), layer.ACTIVATIONS, "mlp", "ratio"),
}


def own_layer(kind: str, name: str) -> list[Sublayer]:
    I, W_QK = np.eye(2)[None], np.array([[[2.0, 1.0], [0.0, -1.0]]])
    capped = {"softcap": 0.5, "cap": name} if kind == "cap" else {}
    first = Sublayer(Attention.from_arrays(W_QK, I, 2.0, **capped), after=LayerNorm(name) if kind == "norm" else None)
    return [first, Sublayer(MLP(I[0], I[0], activation=name))] if kind == "activation" else [first]


def by_hand(kind: str) -> Any:
    """The layer in a few lines of NumPy."""
    X = X_OF_KINDS
    S = X @ np.array([[2.0, 1.0], [0.0, -1.0]]) @ X.T / math.sqrt(2)
    S = S / (1 + np.abs(S) / 0.5) if kind == "cap" else S
    P = np.exp(S - S.max(axis=1, keepdims=True))
    Y = P / P.sum(axis=1, keepdims=True) @ X
    if kind == "norm":
        return Y / np.abs(Y).max(axis=1, keepdims=True)
    return Y / (1 + np.abs(Y)) if kind == "activation" else Y


@pytest.mark.parametrize("kind", OWN)
def test_a_kind_of_map_is_one_line(kind: str) -> None:
    """A cap, a LayerNorm, an activation is added: claims are decided in each arithmetic, searched, certified."""
    add, table, switch, name = OWN[kind]
    add()
    try:
        net = Network.from_layers([own_layer(kind, name)])
        size = float(np.linalg.norm(np.subtract(*by_hand(kind)[:2])))
        tight = [f"first_gap(X[1]) <= {size * factor:.12f}*n/n" for factor in (1 + 1e-6, 1 - 1e-6)]
        below, above = (Statement("mine", claim, f"{switch} == {name}") for claim in tight)
        for arithmetic in ("float64", "mpmath", "balls"):
            assert judge(below, NetworkInstance(net, X_OF_KINDS), arithmetic).outcome == Outcome.HOLDS
            assert judge(above, NetworkInstance(net, X_OF_KINDS), arithmetic).outcome == Outcome.VIOLATED
        given = [text for text in below.given_texts if not text.startswith("d")]
        certificate = certify_claim("mine", tight[1], given, net, X_OF_KINDS, "violates")
        assert certificate.check().accepted
        silent = judge(Statement("mine", tight[0]), NetworkInstance(net, X_OF_KINDS), "balls")
        assert silent.outcome == Outcome.NOT_APPLICABLE
        claim = Statement("mine", "norm(X[1], max) <= norm(X[0], max)/2", f"{switch} == {name}")
        grows = examine(claim, seconds=0.5, instances=10)
        assert grows.refuted
        assert grows.battery.certificate().check().accepted
        with pytest.raises(rm.InvalidArgument, match="has no code, only its text"):
            rm.trace(net, X_OF_KINDS)
    finally:
        del table[name], SWITCHES[switch][name]
    assert name in check_text(certificate.text()).reason


def test_claims_about_blocks_are_searched_and_their_counterexamples_run() -> None:
    """A pre-norm block may widen tokens; what is printed builds the same network."""
    claim = Statement(
        "mine:narrows", "diameter(X[1], 2) <= diameter(X[0], 2)", ["layernorm == rms", "norm_at == before"]
    )
    found = examine(claim, seconds=5, instances=20).battery.counterexample
    assert isinstance(found, NetworkInstance)
    assert found.net.norm_at == "before"
    built: dict[str, Any] = {}
    exec(in_python(found), built)
    assert judge(claim, NetworkInstance(built["net"], built["X"]), "balls").outcome == Outcome.VIOLATED


@pytest.mark.parametrize("name", [name for name, (text, _) in MASKS.items() if "k" in text])
def test_every_named_mask_means_what_the_text_says(name: str) -> None:
    """The library's graphs, the checker's reading of the text, and the words."""
    n = 5
    net, X = Network.random(n, 2, seed=0), np.arange(10.0).reshape(5, 2)
    for k in range(2, 5):
        mask = as_mask(f"{name}:{k}", n)
        masked = net.replace(mask=mask)
        run = Run(Float64(np.zeros(1)), masked, X)
        content = json.loads(
            certify_claim("mine", "mu(X[1]) <= 1000*mu(X[0])", [f"mask == {name}({k})"], masked, X).text()
        )
        data, _ = read_network(content["data"], {}, float("inf"))
        for other in range(2, 5):
            same = bool((as_mask(f"{name}:{other}", n).allowed == mask.allowed).all())
            word = f"{name}({other})"
            assert (run.switch("mask", word), _switched("mask", word, data)) == (same, same)
        assert words(read_formula(f"mask == {name}({k})")) == said("mask", f"{name}({k})")


def test_the_switches_are_those_of_the_readers() -> None:
    for switch, allowed in SWITCHES.items():
        for word in allowed:
            assert words(read_formula(f"{switch} == {word}")) == allowed[word]


def test_powers_are_read_either_way() -> None:
    assert read_formula("mu(X[1])^2 <= n^2") == read_formula("mu(X[1])**2 <= n**2")


def test_a_certificate_of_an_unknown_field_is_refused() -> None:
    net, X = modern(softcap=0.5)
    certificate = certify_claim("mine", "mu(X[2]) <= 1000*mu(X[0])", [*BLOCK, "softcap == any"], net, X)
    content = json.loads(certificate.text())
    del content["id"]
    content["data"]["layers"][0][0]["maps"][0]["attention"]["sink"] = 1
    assert "sink" in check_text(json.dumps(content)).reason
    assert Certificate._from_content(json.loads(certificate.text()), "here") == certificate
