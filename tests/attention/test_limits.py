"""Long runs under LayerNorm: what they settle on, and how often."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from rankmath.attention.limits import Limit, Share, _errors, basins, limit, limits, random_starts
from rankmath.attention.plain import forward
from rankmath.equilibria.constructions import all_ranks, layernorm_equilibrium
from rankmath.model.network import LayerNorm, Network


def layer(W_V, W_QK=None, mask="complete", norm="sphere"):
    W_V = np.array(W_V, dtype=float)
    W_QK = np.zeros_like(W_V) if W_QK is None else np.array(W_QK, dtype=float)
    return Network.from_arrays(W_QK[None, None], W_V[None, None], d_qk=1, norm=norm, mask=mask)


def rotation(turns):
    angle = 2 * np.pi * turns
    return [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]


@pytest.fixture(scope="module", params=[2, 3, 4])
def attracting(request):
    n = request.param
    return layernorm_equilibrium(n, n, n, mask="complete", stable=True)


# -- what is settled on


def test_an_attracting_equilibrium_is_the_limit_of_what_starts_near_it(attracting):
    n = attracting.rank
    nearby = attracting.X + 1e-4 * np.random.default_rng(0).standard_normal((n, n))
    found = limit(attracting, nearby)
    assert (found.kind, found.period, found.rank, found.collapsed) == ("fixed", 1, n, False)
    assert found.clusters == found.lines == tuple(range(n))
    assert np.abs(found.X - attracting.X).max() <= 1e-8
    mirror = limit(attracting, -nearby)
    assert mirror.is_same(found.mirrored())
    assert not mirror.is_same(found)


def test_minus_the_values_make_it_flip(attracting):
    found = limit(replace(attracting, W_V=-attracting.W_V), attracting.X)
    assert (found.kind, found.period, found.flips) == ("periodic", 2, True)
    assert found.is_same(found.mirrored())


@pytest.mark.parametrize("p", [3, 4, 5, 6, 7, 8])
def test_a_rotation_by_one_pth_of_a_turn_has_period_p(p):
    # One token: X' = X R, and no attention to speak of.
    found = limit(layer(rotation(1 / p), mask=None), [[0.6, 0.8]])
    assert (found.kind, found.period) == ("periodic", p)
    assert found.flips == (p % 2 == 0)
    states = [*found.orbit, found.orbit[0]]
    for before, after in pairwise(states):
        assert np.allclose(before @ rotation(1 / p), after, atol=1e-12)


def test_an_irrational_rotation_is_undecided():
    found = limit(layer(rotation(1 / np.sqrt(2)), mask=None), [[0.6, 0.8]], steps=2000)
    assert (found.kind, found.period, found.steps, found.error) == ("undecided", None, 2000, np.inf)
    assert not found.is_same(found)


def test_a_multiplier_minus_one_half_is_no_orbit_of_period_two():
    # Near e_1 the second coordinate is halved and changes sign at each step.
    found = limit(layer([[2.0, 0.0], [0.0, -1.0]], mask=None), [[0.6, 0.8]])
    assert (found.kind, found.period) == ("fixed", 1)


@pytest.mark.parametrize(("tokens", "dim", "scale", "seed"), [(4, 3, 3.0, 20), (3, 3, 1.0, 615)])
def test_spiralling_into_a_point_is_no_orbit(tokens, dim, scale, seed):
    # The multipliers are complex, so that every eleventh step points the same way.
    net = Network.random(tokens=tokens, dim=dim, seed=seed, norm="sphere", scale=scale)
    for found in limits(net, random_starts(net, 40, seed), steps=1000, longest_period=12):
        assert found.period in (None, 1, 2)


def test_slow_convergence_is_not_taken_for_rest():
    # W4.3.1: token 1 approaches (0, 1) like 1/t, so after T steps it is about 1/(wT) away.
    example = all_ranks(2, 2, w=4)[1]
    start = [[0.6, 0.8], [-0.3, -0.9]]
    assert limit(example, start, steps=2000).kind == "undecided"
    coarse = limit(example, start, steps=2000, tolerance=1e-2)
    assert coarse.kind == "fixed"
    assert abs(coarse.X[0, 0]) <= 1.1e-2


@pytest.mark.parametrize("norm", ["sphere", "standard"])
def test_antipodal_tokens_have_rank_one_and_are_not_collapsed(norm):
    # With W_QK = 8 I each token attends to itself; e_1 and −e_1 rest under W_V = diag(2, 1, …).
    v = np.array([1.0, 0.0, 0.0]) if norm == "sphere" else np.array([1.0, 1.0, -2.0])
    W_V = np.outer(v, v) / (v @ v) + np.eye(3)
    found = limit(layer(W_V, 8 * np.eye(3), norm=LayerNorm(norm, eps=0.0)), [v, -v, v])
    assert (found.kind, found.rank, found.collapsed) == ("fixed", 1, False)
    assert found.clusters == (0, 1, 0)
    assert found.lines == (0, 0, 0)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 4), d=st.integers(2, 4))
@settings(max_examples=25)
def test_what_is_called_a_limit_is_one(seed, n, d):
    net = Network.random(tokens=n, dim=d, seed=seed, norm="sphere", mask="causal", scale=2.0)
    found = limit(net, random_starts(net, 1, seed)[0], steps=800)
    if found.kind != "undecided":
        after = found.X
        for state in (*found.orbit[1:], found.orbit[0]):
            after = forward(net, after)
            # A map that stretches by less than 10³ keeps an error of the tolerance visible but small.
            assert np.abs(after - state).max() < 1e-5
    assert found.rank <= min(n, d)
    assert max(found.lines) <= max(found.clusters)
    assert found.collapsed <= (found.rank == 1)


def test_entries_that_are_right_to_the_tolerance_hide_a_singular_value_of_root_nd_times_it():
    """Weyl, with equality: equal tokens, each entry wrong by the tolerance, the errors in orthogonal directions."""
    tolerance, pattern = 1e-6, np.outer([1, -1, 1, -1], [1, 1, -1, -1])
    for times, rank in ((0.5, 1), (0.999, 1), (1.001, 2)):
        X = np.full((4, 4), 0.5) + times * tolerance * pattern
        assert Limit("fixed", (X,), 10, 0.0, tolerance).rank == rank


@pytest.mark.parametrize("period", [1, 3])
@pytest.mark.parametrize("q", [0.5, 0.99])
def test_of_two_quotients_the_slower_is_believed(q, period):
    """Of X(t) = qᵗ the estimate is the distance, also where one gap before was seen too large."""
    block, place = 16, period - 1
    gaps = [np.full((4, 1), q ** (block * check) * (1 - q**period)) for check in range(3)]
    for larger in ((1, 1), (2, 1), (1, 2)):
        seen = [gap * factor for gap, factor in zip(gaps, (*larger, 1), strict=True)]
        assert _errors(seen, block, floor=0.0)[place, 0] == pytest.approx(q ** (2 * block), rel=1e-9)


def test_many_starts_at_once_are_as_one_by_one():
    net = Network.random(tokens=3, dim=3, seed=5, norm="sphere", mask="causal")
    starts = random_starts(net, 8, seed=2)
    for start, together in zip(starts, limits(net, starts, steps=300), strict=True):
        alone = limit(net, start, steps=300)
        assert (alone.kind, alone.period, alone.steps) == (together.kind, together.period, together.steps)
        assert np.allclose(alone.X, together.X, atol=1e-10)


def test_several_layers_are_one_application():
    net = Network.random(tokens=3, dim=3, layers=4, seed=0, norm="standard", skip=True)
    found = limit(net, net.random_input())
    assert found.kind == "fixed"
    assert np.abs(forward(net, found.X) - found.X).max() < 1e-7


# -- basins


def test_every_start_is_counted_once_and_mirror_images_apart(attracting):
    found = basins(attracting, 100, seed=3, steps=3000)
    assert sum(share.hits for _, share in found.reached) + found.undecided.hits == 100
    hits = [share.hits for _, share in found.reached]
    assert hits == sorted(hits, reverse=True)
    assert not any(a.is_same(b) for i, (a, _) in enumerate(found.reached) for b, _ in found.reached[:i])


def test_a_majority_of_symmetric_basins_is_none():
    # One token, W_V = diag(2, 1): every start goes to ±e_1, each with probability one half.
    found = basins(layer(np.diag([2.0, 1.0]), mask=None), 400, tokens=1)
    assert len(found.reached) == 2
    assert found.undecided.hits == 0
    assert all(share.low < 0.5 < share.high for _, share in found.reached)
    assert found.share_of(lambda end: end.collapsed).hits == 400


@given(samples=st.integers(1, 200), data=st.data(), confidence=st.floats(0.5, 0.999))
def test_the_interval_ends_where_the_tails_are_as_likely_as_stated(samples, data, confidence):
    hits = data.draw(st.integers(0, samples))
    share = Share.of(hits, samples, confidence)
    tail = (1 - confidence) / 2
    assert share.low <= share.observed <= share.high
    # P(at least so many | low) and P(at most so many | high) are both the tail.
    if hits:
        assert np.isclose(binom.sf(hits - 1, samples, share.low), tail, rtol=1e-6)
    if hits < samples:
        assert np.isclose(binom.cdf(hits, samples, share.high), tail, rtol=1e-6)


def test_random_starts_are_normalised():
    plain = Network.random(tokens=3, dim=4, norm="sphere")
    assert np.allclose(np.linalg.norm(random_starts(plain, 10), axis=-1), 1)
    standard = Network.random(tokens=3, dim=4, norm=LayerNorm("standard", eps=0.0))
    X = random_starts(standard, 10)
    assert np.allclose(X.mean(axis=-1), 0)
    assert np.allclose(X.std(axis=-1), 1)


# -- refusals


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"net": "causal"}, "net"),
        ({"net": Network.random(tokens=2, dim=2)}, "net"),
        ({"net": Network.random(tokens=2, dim=2, norm="column")}, "net"),
        ({"net": Network.stack([Network.random(tokens=2, dim=2, norm="sphere")] * 2)}, "net"),
        ({"X": [[np.nan, 1.0], [0.0, 1.0]]}, "X"),
        ({"X": [[1.0, 0.0], [1.0]]}, "X"),
        ({"X": [1.0, 0.0]}, "X"),
        ({"X": np.ones((2, 3))}, "X"),
        ({"X": np.ones((3, 2))}, "X"),
        ({"X": np.zeros((2, 2))}, "X"),
        ({"steps": 0}, "steps"),
        ({"steps": True}, "steps"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"longest_period": 1.5}, "longest_period"),
        ({"longest_period": 10**20}, "longest_period"),
    ],
)
def test_bad_input_is_named(change, name):
    arguments = {"net": layernorm_equilibrium(2, 2, 2), "X": np.eye(2), **change}
    with pytest.raises(ValueError, match=rf"^{name}: "):
        limit(**arguments)


def test_other_bad_input_is_named():
    net = Network.random(tokens=2, dim=2, norm="sphere")
    with pytest.raises(ValueError, match=r"^samples: "):
        basins(net, 0)
    with pytest.raises(ValueError, match=r"^samples: "):
        basins(net, 10**20)
    with pytest.raises(ValueError, match=r"^confidence: "):
        basins(net, 10, confidence=1)
    with pytest.raises(ValueError, match=r"^tokens: "):
        basins(layer(np.eye(2), mask=None), 10)
    with pytest.raises(ValueError, match=r"^hits: "):
        Share.of(11, 10)
