"""Constructions of LayerNorm equilibria: every rank, every kind of mask, both norms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.attention.limits import Share
from rankmath.equilibria.constructions import (
    Equilibrium,
    all_ranks,
    find_clusters,
    isolated_ranks,
    layernorm_equilibrium,
    sibling,
)
from rankmath.equilibria.map import design, layer, normalise, power_sum
from rankmath.equilibria.search import (
    cluster_weights,
    log_lyapunov_trace,
    log_modulus_mean,
    stable_search,
    stored_design,
)
from rankmath.equilibria.wu2024 import shift_equilibrium
from rankmath.linalg.masks import Mask

MASKS = ["causal", "complete", "window:1", "star", "unidirectional_window"]


def assert_rests(equilibrium: Equilibrium, rank: int) -> None:
    X = equilibrium.X
    assert equilibrium.residual < 1e-13
    assert (equilibrium.scale_factors > 0).all()
    assert np.linalg.matrix_rank(X, tol=1e-6) == rank == equilibrium.rank
    if equilibrium.norm == "standard":
        assert np.allclose(X.mean(axis=1), 0, atol=1e-13)
        assert np.allclose(X.std(axis=1), 1)
    else:
        assert np.allclose(np.linalg.norm(X, axis=1), 1)


# -- every rank, every mask


@pytest.mark.parametrize("norm", ["sphere", "standard"])
@pytest.mark.parametrize("mask", MASKS)
def test_every_rank_under_every_mask_rests_and_is_proved(mask, norm):
    n, d = 4, 5
    for rank in range(1, min(n, d - (norm == "standard")) + 1):
        equilibrium = layernorm_equilibrium(n, d, rank, mask=mask, norm=norm, seed=rank)
        assert_rests(equilibrium, rank)
        proof = equilibrium.certify()
        assert proof.proved, f"rank {rank}: {proof}"
        assert proof.rank == rank


@given(seed=st.integers(0, 1000), n=st.integers(2, 7), extra=st.integers(0, 2))
@settings(max_examples=20)
def test_random_graphs_have_equilibria_of_full_rank(seed, n, extra):
    graph = nx.gnp_random_graph(n, 0.5, seed=seed, directed=True)
    assert_rests(layernorm_equilibrium(n, n + extra, n, mask=graph, seed=seed), n)


@given(seed=st.integers(0, 1000), n=st.integers(2, 9), data=st.data())
@settings(max_examples=20)
def test_random_graphs_have_equilibria_of_every_smaller_rank(seed, n, data):
    rank = data.draw(st.integers(1, n - 1))
    graph = nx.gnp_random_graph(n, 0.4, seed=seed, directed=True)
    assert_rests(layernorm_equilibrium(n, n, rank, mask=graph, seed=seed), rank)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 5), extra=st.integers(0, 3))
@settings(max_examples=30)
def test_the_general_design_makes_any_tokens_rest(seed, n, extra):
    rng = np.random.default_rng(seed)
    X = normalise(rng.standard_normal((n, n + extra)) + 3 * np.eye(n, n + extra), "sphere")
    W, D = rng.standard_normal((n + extra, n + extra)), rng.uniform(0.5, 2, n)
    weights = np.tril(np.ones((n, n)))
    W_V = design(X, D, W, weights)
    assert np.allclose(layer(X, W_V, W, weights, "sphere"), X, atol=1e-8)


def test_the_default_is_the_exact_family():
    equilibrium = layernorm_equilibrium(4, 4, 3)
    assert equilibrium.exact == shift_equilibrium(4, 4, 3)
    assert not equilibrium.W_QK.any()


@pytest.mark.parametrize("mask", ["causal", "complete"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 5), (6, 5), (4, 4)])
def test_all_ranks_share_their_weights(mask, n, d):
    family = all_ranks(n, d, mask)
    assert [e.rank for e in family] == list(range(1, min(n, d) + 1))
    for equilibrium in family:
        assert np.array_equal(equilibrium.W_V, family[0].W_V)
        assert np.array_equal(equilibrium.W_QK, family[0].W_QK)
        assert_rests(equilibrium, equilibrium.rank)


@pytest.mark.parametrize(
    ("n", "d", "mask"),
    [(1, 1, "complete"), (2, 3, "complete"), (5, 5, "complete"), (6, 4, "complete"), (4, 4, "star"), (4, 5, "causal")],
)
def test_isolated_equilibria_of_every_rank_share_their_weights_and_are_proved(n, d, mask):
    family = isolated_ranks(n, d, mask)
    assert [e.rank for e in family] == list(range(1, min(n, d) + 1))
    for equilibrium in family:
        assert np.array_equal(equilibrium.W_V, family[0].W_V)
        assert np.array_equal(equilibrium.W_QK, family[0].W_QK)
        assert_rests(equilibrium, equilibrium.rank)
        proof = equilibrium.certify()
        assert proof.proved, str(proof)
        assert proof.rank == equilibrium.rank


@given(seed=st.integers(0, 1000), n=st.integers(2, 6), d=st.integers(1, 6))
@settings(max_examples=20)
def test_random_masks_with_self_loops_have_isolated_equilibria_of_every_rank(seed, n, d):
    allowed = np.random.default_rng(seed).random((n, n)) < 0.5
    for equilibrium in isolated_ranks(n, d, allowed | np.eye(n, dtype=bool)):
        assert_rests(equilibrium, equilibrium.rank)


def test_seeds_are_reproducible_and_different():
    first, again, other = (layernorm_equilibrium(3, 3, 3, mask="complete", seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.W_V, again.W_V)
    assert not np.allclose(first.X, other.X)


def test_weights_are_short_dyadics():
    for norm in ("sphere", "standard"):
        equilibrium = layernorm_equilibrium(3, 4, 2, mask="star", norm=norm)
        for W in (equilibrium.W_V, equilibrium.W_QK):
            assert not (W * 2**20 % 1).any()


# -- clusters


@given(n=st.integers(1, 7), data=st.data())
def test_clusters_found_are_treated_alike(n, data):
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    mask = Mask(allowed | np.eye(n, dtype=bool))
    count = data.draw(st.integers(1, n))
    clusters = find_clusters(mask, count)
    # One cluster, or one for each token, always works.
    assert clusters is not None or 1 < count < n
    if clusters is not None:
        assert sorted(set(clusters)) == list(range(count))
        counts = cluster_weights(mask.allowed, clusters)
        shares = counts / counts.sum(axis=1, keepdims=True)
        for i, c in enumerate(clusters):
            seen = np.bincount(np.array(clusters)[mask.allowed[i]], minlength=count)
            assert np.allclose(seen / seen.sum(), shares[c])


# -- stable


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_designs_on_file_are_stable_and_far_from_singular(n):
    equilibrium = layernorm_equilibrium(n, n, n, mask="complete", stable=True)
    assert_rests(equilibrium, n)
    assert equilibrium.spectral_radius <= (0.9 if n < 7 else 0.92)
    assert np.linalg.svd(equilibrium.X, compute_uv=False)[-1] >= 0.3
    assert np.array_equal(equilibrium.W_V, stored_design(Mask.complete(n))[1])


@pytest.mark.parametrize("n", [5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_designs_on_file_are_proved_stable(n):
    assert layernorm_equilibrium(n, n, n, mask="complete", stable=True).certify(stable=True).proved


@pytest.mark.parametrize(
    ("n", "d", "rank", "mask", "norm"),
    [
        (2, 4, 2, "complete", "standard"),
        (3, 2, 2, "complete", "sphere"),
        (4, 3, 2, "star", "sphere"),
        (3, 4, 2, "causal", "standard"),
        (3, 3, 1, "window:1", "sphere"),
    ],
)
def test_stable_equilibria_of_other_shapes_are_found_and_proved(n, d, rank, mask, norm):
    equilibrium = layernorm_equilibrium(n, d, rank, mask=mask, stable=True, norm=norm)
    assert_rests(equilibrium, rank)
    assert equilibrium.spectral_radius < 1
    proof = equilibrium.certify(stable=True)
    assert proof.proved, str(proof)


def test_stable_search_reports_its_progress():
    seen = []
    stable_search(Mask.complete(2), [0, 1], restarts=3, target_radius=1e-9, progress=lambda *at: seen.append(at))
    assert [restart for restart, _ in seen] == [0, 1, 2]
    assert all(a >= b for (_, a), (_, b) in pairwise(seen))


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 6), sharpness=st.sampled_from([1, 6, 40]))
@settings(max_examples=30)
def test_gradient_of_the_mean_modulus(seed, size, sharpness):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((size, size))
    value, gradient = log_modulus_mean(J, sharpness)
    assert value >= np.log(np.abs(np.linalg.eigvals(J)).max()) - 1e-12
    # A homogeneous function of degree one before the logarithm: Euler's identity.
    assert np.isclose((gradient * J).sum(), 1, rtol=1e-6)
    assert np.isclose(log_modulus_mean(3 * J, sharpness)[0], value + np.log(3))


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 6))
@settings(max_examples=30)
def test_gradient_of_the_lyapunov_trace(seed, size):
    rng = np.random.default_rng(seed)
    J, E = rng.standard_normal((2, size, size))
    J *= 0.8 / np.abs(np.linalg.eigvals(J)).max()
    P = power_sum(J)
    assert np.allclose(P, J.T @ P @ J + np.eye(size), rtol=1e-9)
    _, gradient = log_lyapunov_trace(J, 1)
    # dP = JᵀdPJ + EᵀPJ + JᵀPE solved exactly as a linear system.
    drive = E.T @ P @ J + J.T @ P @ E
    dP = np.linalg.solve(np.eye(size**2) - np.kron(J.T, J.T), drive.ravel())
    assert np.isclose((gradient * E).sum(), np.trace(dP.reshape(size, size)) / np.trace(P), rtol=1e-6)


def test_no_lyapunov_sum_beyond_the_rate():
    with pytest.raises(np.linalg.LinAlgError):
        log_lyapunov_trace(np.array([[0.96]]), 0.95)


# -- basins


@pytest.mark.parametrize("w", [Fraction(5, 3), 4])
def test_basin_of_two_tokens_lies_between_four_and_eleven_percent(w):
    # With its mirror image: the share of starts that W4.3.1 speaks of.
    basin = all_ranks(2, 2, w=w)[1].basin(2000, seed=3, steps=400)
    both = Share.of(basin.own.hits + basin.mirror.hits, 2000)
    assert both.high > 0.04
    assert both.low < 0.11
    # F is odd: the basin of −X is the mirror image of that of X, so the two shares are equal.
    assert max(basin.own.low, basin.mirror.low) < min(basin.own.high, basin.mirror.high)
    assert basin.elsewhere.hits == 2000 - both.hits


def test_basin_of_a_global_attractor_is_everything():
    # Rank 1 in one dimension: two mirror images, nothing else.
    basin = layernorm_equilibrium(1, 1, 1).basin(50)
    assert basin.own.hits + basin.mirror.hits == 50
    assert basin.elsewhere.hits == 0
    assert np.isclose(basin.elsewhere.high, 1 - 0.025 ** (1 / 50))


# -- standard LayerNorm is the frameworks'


@pytest.mark.parametrize(
    ("n", "d", "rank", "mask", "stable"),
    [
        (3, 4, 3, "complete", True),
        (2, 3, 2, "complete", True),
        (3, 4, 2, "causal", False),
        (4, 5, 3, "star", False),
        (4, 6, 2, "window:1", False),
        (2, 2, 1, "complete", False),
    ],
)
def test_standard_layernorm_is_torchs(n, d, rank, mask, stable):
    torch = pytest.importorskip("torch")
    equilibrium = layernorm_equilibrium(n, d, rank, mask=mask, stable=stable, norm="standard", seed=1)
    X, W_V, W_QK = (torch.tensor(M.copy()) for M in (equilibrium.X, equilibrium.W_V, equilibrium.W_QK))
    blocked = torch.tensor(~equilibrium.mask.allowed)

    def torch_layer(Z):
        A = torch.softmax((Z @ W_QK @ Z.T).masked_fill(blocked, -torch.inf), dim=-1)
        return torch.nn.functional.layer_norm(A @ Z @ W_V, (d,), eps=0.0)

    assert np.abs((torch_layer(X) - X).numpy()).max() < 1e-12
    start = torch.tensor(np.random.default_rng(0).standard_normal((n, d)))
    for ours in list(equilibrium.iterate(start.numpy(), 3))[1:]:
        start = torch_layer(start)
        assert np.allclose(ours, start.numpy(), atol=1e-9)
    if stable:
        # It attracts under torch's own arithmetic as well, from the boundary of the proved ball.
        proof = equilibrium.certify(stable=True)
        direction = np.random.default_rng(1).standard_normal((n, d))
        Z = torch.tensor(proof.X + proof.attraction.ball * direction / np.linalg.norm(direction))
        for _ in range(300):
            Z = torch_layer(Z)
        assert np.abs((Z - X).numpy()).max() < 1e-11


# -- refusals


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"rank": 4}, "rank"),
        ({"rank": 3, "norm": "standard"}, "rank"),
        ({"rank": 0}, "rank"),
        ({"tokens": 0}, "tokens"),
        ({"dim": 2.5}, "dim"),
        ({"dim": 1, "rank": 1, "norm": "standard"}, "dim"),
        ({"mask": "diagonal"}, "mask"),
        ({"mask": np.ones((2, 2), dtype=bool)}, "mask"),
        ({"norm": "column"}, "norm"),
        ({"stable": "yes"}, "stable"),
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": 0.0}, "seed"),
        ({"tokens": True}, "tokens"),
        ({"tokens": "3"}, "tokens"),
        ({"rank": None}, "rank"),
        ({"rank": 2.0}, "rank"),
        ({"dim": np.nan}, "dim"),
        ({"tokens": 10**20}, "tokens"),
        ({"dim": 10**20}, "dim"),
        ({"mask": [[True, False], [True]]}, "mask"),
        ({"mask": np.full((3, 3), np.nan)}, "mask"),
        ({"stable": 1}, "stable"),
        ({"norm": None}, "norm"),
        ({"stable": True, "restarts": 0}, "restarts"),
        ({"mask": "window:1", "tokens": 4, "rank": 3, "stable": True}, "rank"),
    ],
)
def test_bad_input_is_named(arguments, name):
    with pytest.raises(ValueError, match=rf"^{name}: "):
        layernorm_equilibrium(**{"tokens": 3, "dim": 3, "rank": 2, **arguments})


def test_numpy_integers_are_integers():
    ours = layernorm_equilibrium(np.int64(3), np.int32(3), np.uint8(2), mask="complete", seed=np.int64(4))
    assert np.array_equal(ours.X, layernorm_equilibrium(3, 3, 2, mask="complete", seed=4).X)


@pytest.mark.parametrize("mask", ["causal", "complete", "star"])
def test_one_token_or_one_dimension(mask):
    for n, d in [(1, 1), (1, 4), (4, 1)]:
        for stable in (False, True):
            equilibrium = layernorm_equilibrium(n, d, 1, mask=mask, stable=stable)
            assert_rests(equilibrium, 1)
            assert equilibrium.certify(stable=True if stable else None).proved


def test_the_error_says_what_is_allowed():
    with pytest.raises(ValueError, match=r"at most 2 .*mean-zero"):
        layernorm_equilibrium(3, 3, 3, norm="standard")


def test_a_mask_that_makes_attention_singular_is_refused():
    # Both tokens see only the first: two equal rows.
    with pytest.raises(ValueError, match=r"^mask: "):
        layernorm_equilibrium(2, 2, 2, mask=np.array([[True, False], [True, False]]))


@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_tokens_that_do_not_see_themselves_rest_at_full_rank_under_special_weights_only(tokens):
    # tr W_V⁻¹ = tr D⁻¹A = 0 for every full-rank X with A X W_V = D X: rounding the weights loses it.
    blind = ~np.eye(tokens, dtype=bool)
    X = normalise(np.random.default_rng(3).standard_normal((tokens, tokens)), "sphere")
    W_V = design(X, np.linspace(1, 2, tokens), np.eye(tokens), blind.astype(float))
    inverse = np.linalg.inv(W_V)
    assert abs(np.trace(inverse)) <= 1e-12 * np.linalg.norm(inverse)
    with pytest.raises(ValueError, match=r"^mask: no isolated equilibrium .* see themselves"):
        layernorm_equilibrium(tokens, tokens, tokens, mask=blind)


def test_sizes_beyond_all_use_are_refused():
    for family in (all_ranks, isolated_ranks):
        for name, sizes in [("tokens", (10**20, 2)), ("dim", (2, 10**20))]:
            with pytest.raises(ValueError, match=rf"^{name}: .* at most 256"):
                family(*sizes)


def test_other_arguments_are_named():
    with pytest.raises(ValueError, match=r"^w: "):
        all_ranks(3, 3, "complete", w=4)
    with pytest.raises(ValueError, match=r"^mask: "):
        all_ranks(3, 3, "star")
    with pytest.raises(ValueError, match=r"^clusters: "):
        stable_search(Mask.complete(3), [0, 2, 2])
    with pytest.raises(ValueError, match=r"^least_singular_value: "):
        stable_search(Mask.complete(2), [0, 1], least_singular_value=2)
    with pytest.raises(ValueError, match=r"^mask: .*self-loops"):
        isolated_ranks(2, 2, np.array([[True, False], [True, False]]))
    equilibrium = all_ranks(2, 2)[1]
    with pytest.raises(ValueError, match=r"^X: "):
        equilibrium.iterate(np.ones((2, 3)), 1)
    with pytest.raises(ValueError, match=r"^W_V: "):
        replace(equilibrium, W_V=np.ones((3, 3)))
    for name, value in [("mask", "causal"), ("norm", "column"), ("rank", 1.5), ("d_qk", 0), ("X", [[1.0], [2.0, 3.0]])]:
        with pytest.raises(ValueError, match=rf"^{name}: "):
            replace(equilibrium, **{name: value})
    with pytest.raises(ValueError, match=r"^samples: "):
        equilibrium.basin(0)
    with pytest.raises(ValueError, match=r"^confidence: "):
        equilibrium.basin(10, confidence=1.0)
    with pytest.raises(ValueError, match=r"^rank: "):
        sibling(equilibrium, 3)
