"""own:order: two-sided cubic bounds, and what they do not speak about."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.decide.battery import judge, verify
from rankmath.verification.verdict import Outcome


def layer(W_QK: object, W: object, **options: object) -> rm.Network:
    return rm.Network.from_arrays(np.array(W_QK, float)[None, None], np.array(W, float)[None, None], **options)


SKEW = layer([[0, 1], [-1, 0]], np.eye(2)), np.array([[1.0, 0.0], [-1.0, 0.0]]) / 64
SEMIDEFINITE = layer(np.diag([1, 0]), np.eye(2)), np.array([[0.0, 1.0], [0.0, -1.0]]) / 64
NO_VALUES = layer(np.eye(2), np.zeros((2, 2))), np.eye(2) / 64
SINGULAR = layer(np.eye(2), np.diag([1, 0])), np.eye(2) / 64
FIXED_POINT = layer([[1]], [[1 / math.tanh(1)]]), np.array([[1.0], [-1.0]])
EQUAL = layer(np.eye(2), np.eye(2)), np.ones((3, 2)) / 64
ALONE = layer(np.eye(2), np.eye(2)), np.ones((1, 2)) / 64
NARROW_KEYS = layer(np.eye(2), np.eye(2), d_qk=1), np.eye(2) / 64
DEGENERATE = {
    "skew W_QK, residual of rank one": SKEW,
    "semidefinite W_QK": SEMIDEFINITE,
    "a fixed point of size one": FIXED_POINT,
    "one token": ALONE,
}
#: The bounds hold here too, if only the upper one says something.
BOUNDED = {"W = 0": NO_VALUES, "singular W": SINGULAR, "equal tokens": EQUAL, "d_qk < d": NARROW_KEYS}


@pytest.mark.parametrize("arithmetic", ["float64", "balls"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_layers_whose_order_is_not_three_are_not_spoken_about(name: str, arithmetic: str) -> None:
    verdict = verify("own:order", *DEGENERATE[name], arithmetic=arithmetic)
    assert verdict.outcome == Outcome.NOT_APPLICABLE, (name, verdict)


@pytest.mark.parametrize("name", BOUNDED)
def test_singular_values_equal_tokens_and_narrow_keys_obey_the_bounds(name: str) -> None:
    verdict = verify("own:order", *BOUNDED[name], arithmetic="balls")
    assert verdict.outcome in (Outcome.HOLDS, Outcome.UNDECIDED), (name, verdict)  # 0 <= 0 may be a ball around 0
    assert name != "d_qk < d" or verdict.outcome == Outcome.HOLDS


@pytest.mark.parametrize("name", ["skew W_QK, residual of rank one", "semidefinite W_QK", "W = 0"])
def test_these_collapse_in_one_layer(name: str) -> None:
    net, X = (DEGENERATE | BOUNDED)[name]
    assert float(rm.mu(rm.forward(net, X))) <= 1e-17 < float(rm.mu(X))


def test_the_fixed_point_stays() -> None:
    net, X = FIXED_POINT
    assert np.allclose(rm.forward(net, X), X, rtol=1e-15)


def test_small_definite_layers_are_certified_and_the_order_tends_to_three() -> None:
    L = 5
    weights, values = np.full((L, 1, 1, 1), -2.0), np.full((L, 1, 1, 1), 0.75)
    net, X = rm.Network.from_arrays(weights, values), np.array([[0.3], [0.1], [-0.2]]) / 4
    verdict = verify("own:order", net, X, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    logs = np.asarray(rm.trace(net, X).log_residual)
    assert logs[-1] / logs[-2] == pytest.approx(3, abs=0.02)


def test_in_one_dimension_both_bounds_are_sharp_as_tokens_close_up() -> None:
    ratios = []
    for size in (0.1, 0.01):
        net, X = layer([[1]], [[1]]), size * np.array([[1.0], [-1.0], [0.5]])
        ratios.append(verify("own:order", net, X, arithmetic="balls").ratio)
    assert 0.9 < ratios[0] < ratios[1] < 1
    assert ratios[1] > 0.999


def test_the_drawn_layers_are_within_the_hypotheses() -> None:
    entry = statement("own:order")
    batch = entry.draws[0](np.random.default_rng(4), 24)
    outcomes = [judge(entry, batch.select(i), "float64").outcome for i in range(24)]
    assert set(outcomes) <= {Outcome.HOLDS, Outcome.NOT_APPLICABLE}
    assert outcomes.count(Outcome.HOLDS) >= 12
