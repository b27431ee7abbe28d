"""dong2021:3.1: with skips and heads that write elsewhere nothing collapses; 3.2: maps with a skip of their own."""

from __future__ import annotations

import math

import numpy as np

import rankmath as rm
from rankmath.model.network import MLP, Attention, Sublayer
from rankmath.verification.verdict import Outcome


def test_what_is_written_elsewhere_adds_to_the_residual() -> None:
    """Tokens ±a in the first coordinate; the head writes ±a tanh(a²) into the second."""
    a = 0.5
    W_QK, W = np.diag([1.0, 0.0])[None, None], np.array([[0.0, 1.0], [0.0, 0.0]])[None, None]
    X = [[a, 0.0], [-a, 0.0]]
    verdict = rm.verify("dong2021:3.1", rm.Network.from_arrays(W_QK, W, d_qk=1, skip=1), X, arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
    assert math.isclose(verdict.ratio, 1 / math.sqrt(1 + math.tanh(a**2) ** 2), rel_tol=1e-12)
    mixing = rm.Network.from_arrays(W_QK, np.eye(2)[None, None], d_qk=1, skip=1)
    assert rm.verify("dong2021:3.1", mixing, X).outcome == Outcome.NOT_APPLICABLE


def test_a_map_with_a_negative_skip_has_a_lipschitz_constant_too() -> None:
    """x ↦ −max(x, 0) − x has the slope −2: with −1 in place of 1 for the skip the constant would be 0."""
    one = np.ones((1, 1, 1))
    attention = Attention.from_qkvo(one / 2, one, one, one, b_O=[2.0])
    mlp = MLP(np.ones((1, 1)), -np.ones((1, 1)))
    net = rm.Network.from_layers([[Sublayer(attention), Sublayer(mlp, -1.0)]])
    verdict = rm.verify("dong2021:3.2", net, [[1.0], [2.0]], arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
