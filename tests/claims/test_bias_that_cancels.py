"""Claims about networks without a bias of values or outputs, where b_V and b_O undo each other and neither is 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statements
from rankmath.model.network import Attention, Network, Sublayer
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome

KEYS = [
    key
    for key, entry in statements().items()
    if not entry.arrays and "bias == none" in map(str, entry.hypotheses) and entry.status == "proved"
]


def undone(a: Attention, rng: np.random.Generator, off: float = 0.0) -> Attention:
    """The same queries, keys and values by factors, with dyadic b_V and b_O = `off` − b_V W_O, W_O the identity."""
    eye = np.broadcast_to(np.eye(a.dim), np.shape(a.value))
    b_V = rng.integers(1, 9, (a.heads, a.dim)) / 8.0
    made = Attention.from_qkvo(a.query, eye, a.value, eye, b_V=b_V, b_O=off - b_V.sum(axis=0), d_qk=a.d_qk)
    return replace(made, mask=a.mask, key_bias=a.key_bias, rotary=a.rotary, position=a.position)


def with_biases(net: Network, rng: np.random.Generator, off: float = 0.0) -> Network:
    layers = [
        [replace(part, map=undone(part.map, rng, off)) if isinstance(part.map, Attention) else part for part in layer]
        for layer in net.sublayers
    ]
    return Network.from_layers(layers, net.tokens)


def drawn(key: str) -> NetworkInstance:
    """An instance inside all hypotheses."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for draw in statements()[key].draws:
            instance = draw(rng, 1).select(0)
            assert isinstance(instance, NetworkInstance)
            if judge(statements()[key], instance, "float64").outcome == Outcome.HOLDS:
                return instance
    raise AssertionError(f"no instance of {key}")


def test_the_claims_that_say_so_are_these() -> None:
    assert len(KEYS) == 11
    assert {"own:hemisphere", "own:full-rank", "wu2024:2", "wu2024:cor1", "alman2025:one-layer"} <= set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_a_bias_that_cancels_is_none(key: str) -> None:
    instance, rng = drawn(key), np.random.default_rng(0)
    net = with_biases(instance.net, rng)
    found = rm.verify(key, net, instance.X, arithmetic="balls")
    assert found.outcome == Outcome.HOLDS
    assert found.certified
    # A bias that does not cancel is no instance.
    assert rm.verify(key, with_biases(instance.net, rng, 0.5), instance.X).outcome == Outcome.NOT_APPLICABLE


def test_values_and_outputs_with_biases_are_those_of_the_layer() -> None:
    """P(XW_V + 1b_V)W_O + 1b_O by hand, W_O not the identity, b_O = −b_V W_O: the layer without biases."""
    rng = np.random.default_rng(0)
    X, W_Q, W_K, W_V, W_O = (rng.integers(-4, 5, (3, 3)) / 4.0 for _ in range(5))
    b_V = np.asarray([1.0, -0.5, 0.25])
    b_O = -b_V @ W_O
    given: dict[str, Any] = {"W_Q": W_Q[None], "W_K": W_K[None], "W_V": W_V[None], "W_O": W_O[None]}
    logits = X @ W_Q @ (X @ W_K).T / np.sqrt(3)
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    by_hand = P @ (X @ W_V + b_V) @ W_O + b_O
    net = Network.from_layers([[Sublayer(Attention.from_qkvo(**given, b_V=b_V[None], b_O=b_O))]])
    assert np.abs(rm.forward(net, X) - by_hand).max() < 1e-14
    assert b_O.all()
