"""castin2024:3.3 and own:lipschitz: the derivative against differences, and the order of the bounds."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention.experiments.jacobian import jacobian_norms
from rankmath.claims import statement
from rankmath.formula.quantities import jacobian
from rankmath.formula.run import Run
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge


def network(seed: int, **options: object) -> tuple[rm.Network, np.ndarray]:
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=1, seed=seed, biases=True, **options)
    return net, np.asarray(net.random_input(seed=seed + 1))


@pytest.mark.parametrize("options", [{}, {"skip": True}, {"mask": "causal"}])
def test_the_derivative_is_the_limit_of_differences(options: dict[str, object]) -> None:
    """Central differences with 60 digits and a step of 1e-20 agree to 1e-35, entry by entry."""
    net, X = network(2, **options)
    with mpmath.workdps(60):
        A = Multiprecision(60)
        exact = jacobian(Run(A, net, A.asarray(X)))
        step = mpmath.mpf(10) ** -20
        for entry in range(X.size):
            ends = []
            for sign in (1, -1):
                moved = A.asarray(X)
                moved.flat[entry] += sign * step
                ends.append(Run(A, net, moved).plain_tokens(1))
            difference = (ends[0] - ends[1]).ravel() / (2 * step)
            assert max(abs(a - b) for a, b in zip(exact[entry], difference, strict=True)) < 1e-35


def test_its_norm_is_that_of_the_derivative_that_is_never_formed() -> None:
    for seed in range(3):
        net, X = network(seed, skip=True)
        found = np.linalg.norm(jacobian(Run(Float64(np.zeros(1)), net, X)), 2)
        assert found == pytest.approx(jacobian_norms(net, X)[0], rel=1e-9)


def test_our_bound_is_never_the_larger_one() -> None:
    printed, ours = statement("castin2024:3.3"), statement("own:lipschitz")
    for seed, draw in enumerate(ours.draws):
        batch = draw(np.random.default_rng(seed), 8)
        for k in range(8):
            first, second = (judge(entry, batch.select(k), "float64") for entry in (printed, ours))
            assert first.log_lhs == second.log_lhs
            assert second.log_rhs <= first.log_rhs


def test_without_its_second_summand_the_bound_fails() -> None:
    """Two tokens ±1 stretch a change by more than √2."""
    net = rm.Network.from_arrays(np.full((1, 1, 1, 1), 1.0), np.ones((1, 1, 1, 1)))
    X = np.asarray([[1.0], [-1.0]])
    verdict = rm.verify("own:lipschitz", net, X, arithmetic="balls")
    assert verdict.certified
    assert np.exp(verdict.log_lhs) > np.sqrt(2.0)  # c = 1: the first summand alone


@pytest.mark.parametrize("key", ["own:lipschitz", "castin2024:3.3", "own:influence"])
def test_the_bias_that_must_vanish_is_the_one_that_is_printed(key: str) -> None:
    """Each bias alone, as a person writes it: b_Q breaks the bounds and is excluded, b_K, b_V and b_O are allowed.

    With W_Q = 0, W_K = W = 1, b_Q = 1 and X = (−1, 1) the derivative has norm 1.548, and own:lipschitz would say
    1.327."""
    entry, one = statement(key), np.ones((1, 1, 1, 1))
    [printed] = [part for part in entry.premises if "bias" in part]
    X = np.asarray([[-1.0], [1.0]])
    for name, shape in (("b_Q", (1, 1, 1)), ("b_K", (1, 1, 1)), ("b_V", (1, 1, 1)), ("b_O", (1, 1))):
        mask = "causal" if key == "own:influence" else None
        net = rm.Network.from_qkvo(0 * one, one, one, one, mask=mask, **{name: np.ones(shape)})
        outcome = judge(entry, NetworkInstance(net, X), "balls").outcome.name
        assert (outcome == "NOT_APPLICABLE") == (f"{name} = 0" in printed) == (name == "b_Q"), (name, outcome)
    net = rm.Network.from_qkvo(0 * one, one, one, one, b_Q=np.ones((1, 1, 1)))
    run = Run(Float64(np.zeros(1)), net, X)
    assert round(float(np.linalg.norm(jacobian(run), 2)), 3) == 1.548
    assert round(float(np.sqrt(np.asarray(run.attention(0, 0)).sum(axis=0).max())), 3) == 1.327


def test_the_bounds_tend_to_the_norm_of_the_derivative_at_a_point_only() -> None:
    """Three tokens about (t, 0) at the distance 1/√t: they come together, and go away, as t grows."""
    net = rm.Network.from_arrays(np.eye(2)[None, None], np.eye(2)[None, None], d_qk=1)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for key, factor in (("own:lipschitz", 10), ("own:attention-shares", 1.5)):
        near, far = (rm.verify(key, net, X) for X in (corners * 1e-6 + [1, 0], corners / 1e3 + [1e6, 0]))
        assert near.log_rhs == pytest.approx(0, abs=1e-5)
        assert far.log_rhs > np.log(factor)
        assert "together at a point" in statement(key).notes
