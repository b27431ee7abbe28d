"""Tokens that exchange places: periodic orbits under the complete mask, stable and proved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.attention.limits import limit
from rankmath.equilibria.certify import certify_equilibrium
from rankmath.equilibria.cycles import Cycle, stable_cycle
from rankmath.equilibria.map import design, jacobian, layer, newton, normalise, reordered
from rankmath.equilibria.search import stable_search
from rankmath.linalg.masks import Mask


@pytest.fixture(scope="module", params=[2, 3, 4])
def cycle(request: pytest.FixtureRequest) -> Cycle:
    return stable_cycle(request.param)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 5))
@settings(max_examples=25)
def test_the_design_moves_any_tokens_as_told(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X = normalise(rng.standard_normal((n, n)) + 3 * np.eye(n), "sphere")
    W, D, order = rng.standard_normal((n, n)), rng.uniform(0.5, 2, n), rng.permutation(n)
    weights = np.ones((n, n))
    W_V = design(X, D, W, weights, order=order)
    states = [X]
    for _ in range(3):
        states.append(layer(states[-1], W_V, W, weights, "sphere"))
        assert np.allclose(states[-1], states[-2][order], atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 4), d=st.integers(2, 4))
@settings(max_examples=25)
def test_the_reordered_jacobian_is_that_of_the_way_back(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, U = rng.standard_normal((2, n, d))
    W_V, W = rng.standard_normal((2, d, d))
    order = rng.permutation(n)
    J = reordered(jacobian(X, W_V, W, np.ones((n, n)), "sphere"), order, d)
    step = layer(X + 1e-30j * U, W_V, W, np.ones((n, n)), "sphere").imag * 1e30
    back = np.empty_like(step)
    back[order] = step
    assert np.allclose(J @ U.ravel(), back.ravel(), rtol=1e-9, atol=1e-9 * np.abs(J).max())


def test_the_orbit_is_met_again_after_one_period_and_attracts(cycle: Cycle) -> None:
    n = len(cycle.X)
    assert cycle.period == n
    assert cycle.residual < 1e-12
    assert cycle.spectral_radius < 1
    assert np.linalg.matrix_rank(cycle.X, tol=0.1) == n
    assert not (cycle.W_V * 2**20 % 1).any()
    found = limit(cycle, cycle.X + 1e-6 * np.random.default_rng(0).standard_normal((n, n)))
    assert (found.kind, found.period, found.rank, found.flips) == ("periodic", n, n, False)
    assert any(np.abs(found.X - state).max() < 1e-7 for state in cycle.states)


def test_it_is_proved_with_a_ball_of_starts(cycle: Cycle) -> None:
    proof = cycle.certify()
    assert proof.proved, str(proof)
    assert proof.rank == len(cycle.X)
    assert "exactly one X with F(X) = X[order]" in str(proof)
    assert proof.attraction is not None
    rng = np.random.default_rng(1)
    directions = rng.standard_normal((100, *cycle.X.shape))
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    X = proof.X + proof.attraction.ball * directions
    weights = np.ones((len(cycle.X),) * 2)
    for _ in range(400 * cycle.period):
        X = layer(X, cycle.W_V, cycle.W_QK, weights, "sphere")
    assert np.abs(X - proof.X).max() < 1e-10
    with pytest.raises(ValueError, match="certificates are of equilibria"):
        proof.certificate()


def test_the_eigenvalues_of_one_period_are_powers(cycle: Cycle) -> None:
    # D(F^p) at X is the product of the Jacobians along the orbit.
    product = np.eye(cycle.X.size)
    for X in cycle.states:
        product = jacobian(X, cycle.W_V, cycle.W_QK, np.ones((len(X),) * 2), "sphere") @ product
    assert np.isclose(np.abs(np.linalg.eigvals(product)).max(), cycle.spectral_radius**cycle.period, rtol=1e-6)


def test_what_is_not_a_cycle_is_refused(cycle: Cycle) -> None:
    resting = certify_equilibrium(cycle.X, cycle.W_V, cycle.W_QK, "complete")
    assert [claim.name for claim in resting.refused] == ["existence"]
    X = cycle.X.copy()
    X[0, 0] += 1e-6
    assert [claim.name for claim in replace(cycle, X=X).certify().refused] == ["existence"]


def test_two_pairs_exchange_places_with_period_two() -> None:
    swapped = stable_cycle(4, order=[1, 0, 3, 2])
    assert swapped.period == 2
    assert limit(swapped, swapped.X).period == 2


def test_bad_orders_are_named() -> None:
    for order in ([0, 0], [0, 1, 2], [1.5, 0.5], [np.nan, 1]):
        with pytest.raises(ValueError, match=r"^order: "):
            stable_cycle(2, order=order)
    with pytest.raises(ValueError, match=r"^tokens: "):
        stable_cycle(1)
    with pytest.raises(ValueError, match=r"^tokens: "):
        stable_cycle(10**20)
    with pytest.raises(ValueError, match=r"^order: .* must not change the mask"):
        certify_equilibrium(np.eye(2), np.eye(2), np.eye(2), "causal", order=[1, 0])
    with pytest.raises(ValueError, match=r"^order: "):
        stable_search(Mask.complete(3), [0, 0, 1], order=[1, 0])


def test_newton_finds_the_cycle_from_nearby(cycle: Cycle) -> None:
    start = cycle.X + 1e-6 * np.random.default_rng(3).standard_normal(cycle.X.shape)
    X = newton(start, cycle.W_V, cycle.W_QK, np.ones((len(start),) * 2), "sphere", order=np.array(cycle.order))
    assert X is not None
    assert np.allclose(X, cycle.X, atol=1e-12)
