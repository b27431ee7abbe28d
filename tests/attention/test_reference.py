"""The sceptic's pass: right where float64 is, resolved where it says so, polite where it cannot be."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention.plain import forward
from rankmath.attention.trace import trace
from rankmath.formula import reference as module
from rankmath.formula.reference import reference_trace, tokens_by_text
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, LayerNorm, Network


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_the_last_layer_is_what_forward_computes(seed, draw_network):
    net, X = draw_network(seed, tokens=5, dim=4, heads=2, layers=3)
    with mpmath.workdps(40):
        *_, rows = tokens_by_text(Multiprecision(40), net, X)
    out = np.asarray([[float(a) for a in row] for row in rows])
    np.testing.assert_allclose(forward(net, X), out, rtol=1e-9, atol=1e-9 * np.abs(out).max())


def test_every_switch_of_a_network_is_followed():
    rng = np.random.default_rng(0)
    f = MLP(
        rng.standard_normal((3, 4)),
        rng.standard_normal((4, 3)),
        rng.standard_normal(4),
        rng.standard_normal(3),
        activation="gelu",
        skip=True,
    )
    for norm in (LayerNorm("standard", 1e-3, [1.0, 2.0, 3.0], [0.5, 0.0, 1.0]), LayerNorm("column", 0.1), "sphere"):
        net = Network.random(
            4,
            3,
            heads=2,
            layers=2,
            seed=1,
            head_dim=2,
            biases=True,
            skip=-0.5,
            mlp=[f, None],
            norm=norm,
            mask=Mask.key_padding(4, np.asarray([True, False, True, True])),
        )
        X = net.random_input(seed=2)
        out = forward(net, X)
        residual = np.linalg.norm(out - out.mean(axis=0))
        assert reference_trace(net, X).log_residual[-1] == pytest.approx(math.log(residual), abs=1e-10)


def test_digits_follow_the_decay_and_resolve_it():
    net = Network.random(4, 3, layers=6, seed=0)
    X = net.random_input(seed=1)
    plain = reference_trace(net, X)
    assert plain.resolved.all()
    needed = (trace(net, X).log_mean[-1] - plain.log_residual[-1]) / math.log(10)
    assert needed + 20 < plain.digits < needed + 60
    assert plain.digits > 500
    assert plain.seconds > 0


def test_too_few_digits_sit_on_their_floor_and_say_so():
    net = Network.random(4, 3, layers=6, seed=0)
    X = net.random_input(seed=1)
    exact, floored = reference_trace(net, X), reference_trace(net, X, digits=50)
    assert floored.resolved[:3].all()
    assert not floored.resolved[-1]
    assert floored.log_residual[-1] == -math.inf or floored.log_residual[-1] > exact.log_residual[-1] + 500
    np.testing.assert_allclose(floored.log_residual[:3], exact.log_residual[:3], rtol=1e-13)


def test_equal_tokens_are_exactly_zero():
    net = Network.random(3, 2, heads=2, layers=3, seed=0, biases=True)
    plain = reference_trace(net, np.tile([0.1, 0.3], (3, 1)))
    assert np.isneginf(plain.log_residual).all()
    assert plain.resolved.all()
    assert plain.digits < 100


@pytest.mark.parametrize("norm", ["one", "inf", "composite", "frobenius"])
def test_norms_agree_with_those_of_the_trace(norm):
    net = Network.random(4, 3, layers=3, seed=0)
    X = net.random_input(seed=1)
    np.testing.assert_allclose(reference_trace(net, X, norm).log_residual, trace(net, X, norm).log_residual, rtol=1e-8)


# -- politeness --------------------------------------------------------------------------------------------


def test_what_does_not_fit_memory_is_refused_before_it_starts(monkeypatch):
    net = Network.random(4, 3, layers=25, seed=0)
    monkeypatch.setattr(module, "tokens_by_text", None)  # nothing may run
    with pytest.raises(
        ValueError,
        match=r"digits: about .*e\+1. are needed to see the residual of layer 25; .* bytes at least, allowed",
    ):
        reference_trace(net, net.random_input(seed=1), budget_seconds=1e30)


def test_depth_beyond_the_doubles_is_refused_with_its_digits():
    net = Network.random(3, 2, layers=800, seed=0)
    with pytest.raises(ValueError, match=r"digits: about .*e\+30. are needed to see the residual of layer 800"):
        reference_trace(net, net.random_input(seed=1))


def test_what_takes_longer_than_the_budget_is_refused_before_it_starts(monkeypatch):
    net = Network.random(6, 4, heads=2, layers=7, seed=0)
    monkeypatch.setattr(module, "tokens_by_text", None)  # nothing may run
    with pytest.raises(ValueError, match=r"digits: about .* are needed .* s, budget_seconds allows 0.01"):
        reference_trace(net, net.random_input(seed=1), budget_seconds=0.01)


def test_digits_that_are_given_are_held_to_the_budget_too():
    net = Network.random(6, 4, layers=2, seed=0)
    X = net.random_input(seed=1)
    with pytest.raises(ValueError, match=r"digits: about 1e\+06 are needed; some .* s, budget_seconds allows 1"):
        reference_trace(net, X, digits=10**6, budget_seconds=1)
    with pytest.raises(ValueError, match=r"digits: about 1e\+12 are needed; .* bytes at least, allowed are"):
        reference_trace(net, X, digits=10**12)


def test_the_estimate_grows_with_digits_and_with_the_network(monkeypatch):
    """With an operation's time held fixed: products like Karatsuba's, functions faster, and every layer counts."""
    monkeypatch.setattr(module, "_time", lambda operation: 1e-6)
    small, large = (Network.random(6, 4, heads=2, layers=layers, seed=0) for layers in (2, 4))
    X = small.random_input(seed=1)
    few, many = (module._seconds_needed(small, X, digits) for digits in (1000.0, 4000.0))
    assert 4**1.6 <= many / few <= 4**2.1
    assert module._seconds_needed(large, X, 1000.0) == pytest.approx(2 * few)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.zeros((2, 3, 2))}, "X: shape"),
        ({"X": [[math.inf, 0.0]]}, "X: entry"),
        ({"norm": "two"}, "norm: 'two' given"),
        ({"digits": 3}, "digits: 3 given"),
        ({"digits": 50.0}, "digits: 50.0 given"),
        ({"budget_seconds": 0}, "budget_seconds: 0 given"),
        ({"budget_seconds": math.nan}, "budget_seconds: nan given"),
        ({"net": None}, "net: a NoneType given"),
        ({"net": Network.stack([Network.random(3, 2)] * 2), "X": np.zeros((2, 3, 2))}, "net: a stack"),
    ],
)
def test_refusals(arguments, message):
    net = Network.random(3, 2, seed=0)
    with pytest.raises(ValueError, match=message):
        reference_trace(**({"net": net, "X": net.random_input(seed=1)} | arguments))


@pytest.mark.parametrize("kind", ["sphere", "standard"])
def test_a_zero_token_has_no_direction(kind):
    zero = np.zeros((1, 1, 2, 2))
    net = Network.from_arrays(zero, zero, skip=True, norm=LayerNorm(kind, 0.0))
    with pytest.raises(ValueError, match="it has no direction"):
        reference_trace(net, [[0.0, 0.0], [1.0, 2.0]], digits=50)
    with pytest.raises(ValueError, match="it has no direction"):
        forward(net, [[0.0, 0.0], [1.0, 2.0]])
