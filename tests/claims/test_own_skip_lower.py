"""Two regimes: doubly exponential without skips, 1/√L with them, to the constant (own:skip-lower)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.decide.battery import judge
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.verdict import Outcome


def two_tokens(L: int, a: float) -> NetworkInstance:
    """±a, W_QK = 1, W = −1, λ = 1: a' = a(1 − tanh a²), κ = 1/4."""
    ones = np.ones((L, 1, 1, 1))
    return NetworkInstance(rm.Network.from_arrays(ones, -ones, skip=True), np.array([[a], [-a]]))


@pytest.mark.parametrize("L", [100, 1000])
def test_the_two_token_example_follows_one_over_root_L_to_the_constant(L: int) -> None:
    """√(κL)·Δ_L → 1/√2, from below, with an error of order log(L)/L."""
    instance = two_tokens(L, 0.5)
    diameter = math.exp(rm.trace(instance.net, instance.X).log_diameter[-1])
    limit = math.sqrt(L / 4) * diameter
    assert 1 / math.sqrt(2) * (1 - 2 * math.log(L) / L) < limit < 1 / math.sqrt(2)


def test_the_trace_of_the_example_is_its_scalar_recursion() -> None:
    a, instance = 0.5, two_tokens(200, 0.5)
    logs = rm.trace(instance.net, instance.X).log_diameter
    for l in range(201):
        assert logs[l] == pytest.approx(math.log(2 * a), rel=1e-12)
        a *= 1 - math.tanh(a * a)


@pytest.mark.parametrize("L", [1, 10, 50])
def test_measured_skip_networks_never_fall_below_the_bound(L: int) -> None:
    verdict = judge(statement("own:skip-lower"), two_tokens(L, 0.4), "balls")
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.certified


def test_an_input_hypothesis_alone_is_not_enough() -> None:
    """κΔ₀² = 0.48 < ½, yet two layers with the same κ bring the diameter to (nearly) zero: the bound needs the
    hypothesis at every layer, and the statement says NOT_APPLICABLE."""
    kappa, u0 = 0.25, 0.48
    a = math.sqrt(u0 / (4 * kappa))
    w1 = 1e-6  # expands: a (1 + (4κ/w) tanh(w a²))
    a1 = a * (1 + 4 * kappa / w1 * math.tanh(w1 * a * a))
    low, high = 1e-9, 50.0
    for _ in range(200):  # (4κ/w) tanh(w a₁²) = 1
        w2 = math.sqrt(low * high)
        low, high = (w2, high) if 4 * kappa / w2 * math.tanh(w2 * a1 * a1) > 1 else (low, w2)
    weights = np.array([w1, w2]).reshape(2, 1, 1, 1)
    values = np.array([4 * kappa / w1, -4 * kappa / w2]).reshape(2, 1, 1, 1)
    net = rm.Network.from_arrays(weights, values, skip=True)
    X = np.array([[a], [-a]])
    assert math.exp(rm.trace(net, X).log_diameter[-1]) < 1e-9
    assert rm.verify("own:skip-lower", net, X, arithmetic="balls").outcome == Outcome.NOT_APPLICABLE
