"""Metrics: exact values, identities, invariances, and enclosures that contain what a higher precision finds."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import rankmath as rm
from rankmath.linalg import metrics as m


def balls(X: Any) -> Any:
    return np.frompyfunc(lambda x: arb(float(x)), 1, 1)(np.asarray(X))


def tokens(seed: int, n: int, d: int, shift: float = 0.0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


SIZES = [(2, 3), (5, 5), (9, 4), (4, 9)]


@pytest.fixture(autouse=True)
def high_precision() -> Any:
    before, ctx.prec = ctx.prec, 160
    yield
    ctx.prec = before


@pytest.mark.parametrize("name", m.TOKEN_METRICS)
@pytest.mark.parametrize("size", SIZES)
def test_balls_contain_the_value_and_doubles_are_near_it(name: str, size: tuple[int, int]) -> None:
    X = tokens(3, *size, shift=0.7)
    if name == "isometry-gap" and size[0] > size[1]:
        return
    value, ball = float(m.TOKEN_METRICS[name](X)), m.TOKEN_METRICS[name](balls(X))
    assert float(ball.rad()) < 1e-5 * max(1, abs(value))
    assert abs(value - float(ball.mid())) <= float(ball.rad()) + 1e-12 * max(1, abs(value))


@pytest.mark.parametrize("size", SIZES)
def test_spectra_are_enclosed(size: tuple[int, int]) -> None:
    """Squared singular values by mpmath in 40 digits lie in their balls, in order."""
    X = tokens(1, *size)
    with mpmath.workdps(40):
        exact = [s**2 for s in mpmath.svd_r(mpmath.matrix(X.tolist()), compute_uv=False)]
        digits = [mpmath.nstr(s, 35) for s in exact]
    for ball, value in zip(m.singular_squares(balls(X)), digits, strict=True):
        assert ball.contains(arb(value).mid())
        assert ball.rad() < 1e-12


def test_equal_singular_values_are_enclosed_too() -> None:
    """A multiple eigenvalue has no isolated eigenvector; the enclosure does not need one."""
    Q = np.linalg.qr(tokens(0, 4, 4))[0]
    for ball in m.singular_squares(balls(3 * Q)):
        assert ball.contains(9) or abs(float(ball) - 9) < 1e-12
    assert float(m.effective_rank(balls(3 * Q))) == pytest.approx(4, abs=1e-10)


def test_a_ball_that_may_dominate_is_counted_both_ways() -> None:
    """A third token of length 10 ± 10⁻⁶: with it the effective rank is 1.76…, without it 2."""
    X = balls(np.diag([1.0, 1.0, 10.0]))
    exactly = m.effective_rank_of_others(X)
    X[2, 2] = arb(10, 1e-6)
    either = m.effective_rank_of_others(X)
    for length in (10.0, 10.0000005):
        assert either.contains(arb(float(m.effective_rank_of_others(np.diag([1.0, 1.0, length])))))
    assert exactly.rad() < 1e-20
    assert 0.99 < either.lower() < either.upper() < 3.01
    X[2, 2] = arb(11, 1e-6)
    assert m.effective_rank_of_others(X).contains(2)
    even = m.effective_rank_of_others(balls(np.diag([1.0, 3.0, 15.0, 25.0])))  # the median is 9
    assert float(even) == pytest.approx(float(m.effective_rank(np.diag([1.0, 3.0, 15.0, 25.0]))), abs=1e-12)


@pytest.mark.parametrize("name", sorted({*m.TOKEN_METRICS} - {"dirichlet-energy"}))
def test_only_the_energy_sees_the_scale(name: str) -> None:
    X = tokens(2, 3, 5)
    assert float(m.TOKEN_METRICS[name](4 * X)) == pytest.approx(float(m.TOKEN_METRICS[name](X)), rel=1e-12)


def test_exact_values() -> None:
    assert float(m.stable_rank(np.diag([3.0, 4.0]))) == pytest.approx(25 / 16, rel=1e-15)
    assert float(m.participation_ratio(np.diag([1.0, 1.0, 2.0]), centred=False)) == pytest.approx(36 / 18, rel=1e-15)
    assert float(m.effective_rank(np.eye(5))) == pytest.approx(5, rel=1e-14)
    assert float(m.isometry_gap(np.diag([1.0, 4.0]))) == pytest.approx(np.log(17 / 2) - np.log(4), rel=1e-14)
    P = np.array([[0.25, 0.75], [0.5, 0.5]])
    expected = (-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)) + np.log(2)) / 2
    assert float(m.attention_entropy(P)) == pytest.approx(expected, rel=1e-15)
    assert float(m.attention_entropy(P, "least")) == pytest.approx(2 * expected - np.log(2), rel=1e-14)
    assert float(m.relative_residual([[3.0, 1.0], [1.0, 1.0]], "frobenius")) == pytest.approx((2 / 12) ** 0.5)


@pytest.mark.parametrize("end", [0.0, 0.2, 0.36, 0.5, 0.9, 1.0])
def test_the_entropy_of_a_ball_that_reaches_zero_holds_that_of_every_member(end: float) -> None:
    """-p log p rises from 0 to 1/e, at p = 1/e, and falls again: all of it, and hardly more."""
    found = m.attention_entropy(np.array([[arb(end / 2, end / 2)]]))
    inside = [p for p in (end / 8, end / 2, np.exp(-1), end) if 0 < p <= end]
    members = [0.0, *(-p * np.log(p) for p in inside)]
    for value in members:
        assert found.overlaps(arb(value, 1e-15))
    assert float(found.upper()) == pytest.approx(max(members), rel=1e-3)
    assert float(found.lower()) == pytest.approx(0.0, abs=1e-8)


def test_the_three_effective_ranks_differ_as_their_formulas_do() -> None:
    X = tokens(5, 6, 4, shift=2.0)
    s = np.linalg.svd(X, compute_uv=False)
    c = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)

    def rank(p: Any) -> float:
        p = p / p.sum()
        p = p[p > 1e-300]
        return float(np.exp(-(p * np.log(p)).sum()))

    assert float(m.effective_rank(X)) == pytest.approx(rank(s), rel=1e-13)
    assert float(m.effective_rank(X, "eigen")) == pytest.approx(rank(s**2), rel=1e-13)
    assert float(m.effective_rank(X, centred=True)) == pytest.approx(rank(c), rel=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 5))
def test_pairs_of_tokens(seed: int, n: int, d: int) -> None:
    X = tokens(seed, n, d)
    cos = np.array([[a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a in X] for b in X])
    off = cos[~np.eye(n, dtype=bool)]
    assert float(m.mean_cosine(X)) == pytest.approx(off.mean(), abs=1e-13)
    assert float(m.largest_cosine(X)) == pytest.approx(off.max(), abs=1e-13)
    assert float(m.least_cosine(X)) == pytest.approx(off.min(), abs=1e-13)
    assert float(m.mean_average_distance(X)) == pytest.approx(1 - off.mean(), abs=1e-13)
    energy = sum(((a - b) ** 2).sum() for a in X for b in X) / 2
    assert float(m.dirichlet_energy(X)) == pytest.approx(energy, rel=1e-12)
    # n Σ‖x_i − x̄‖² is the energy of the complete graph.
    assert float(m.dirichlet_energy(X)) == pytest.approx(n * float(rm.mu(X)) ** 2, rel=1e-12)


def test_the_masks_graph_counts_its_edges_alone() -> None:
    X = np.array([[0.0], [1.0], [5.0]])
    # causal: pairs (2,1), (3,1), (3,2), each once.
    assert float(m.dirichlet_energy(X, "causal")) == pytest.approx((1 + 25 + 16) / 2)
    turned = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert float(m.mean_average_distance(turned, "causal")) == pytest.approx((1 + 0.5) / 2)


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_ranks_and_cosines_do_not_see_scale(seed: int, scale: float) -> None:
    X = tokens(seed, 5, 4, shift=0.3)
    for name in set(m.TOKEN_METRICS) - {"dirichlet-energy", "isometry-gap"}:
        f = m.TOKEN_METRICS[name]
        assert float(f(scale * X)) == pytest.approx(float(f(X)), rel=1e-9, abs=1e-9), name


def test_rollout_is_a_stochastic_product_with_the_last_layer_leftmost() -> None:
    P = np.random.default_rng(0).dirichlet(np.ones(4), (3, 2, 4))
    mean = P.mean(axis=1)
    expected = (np.eye(4) + mean[2]) / 2 @ ((np.eye(4) + mean[1]) / 2) @ ((np.eye(4) + mean[0]) / 2)
    assert np.abs(m.attention_rollout(P) - expected).max() < 1e-15


def test_refusals() -> None:
    with pytest.raises(rm.InvalidArgument, match="a token is zero"):
        m.mean_cosine([[0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(rm.InvalidArgument, match="tokens of X: 1 given"):
        m.mean_cosine([[1.0, 0.0]])
    with pytest.raises(rm.InvalidArgument, match="the determinant is 0 unless"):
        m.isometry_gap(np.ones((3, 2)))
    with pytest.raises(rm.InvalidArgument, match="of: 'both' given"):
        m.effective_rank(np.eye(2), "both")  # type: ignore[arg-type]
    with pytest.raises(rm.InvalidArgument, match="skip: 2"):
        m.attention_rollout(np.ones((1, 1, 1, 1)), skip=2)


@pytest.mark.parametrize("upper", [0.1, 0.3, 0.36, 0.37, 0.45, 0.6, 0.9, 1.0])
def test_the_entropy_of_a_ball_that_reaches_zero_holds_its_peak(upper: float) -> None:
    """−p log p rises up to p = 1/e and falls again."""
    found = m._surprise(arb(upper / 2, upper / 2 + 1e-9))
    for p in (*np.linspace(0, upper, 50)[1:].tolist(), min(upper, float(np.exp(-1)))):
        assert found.contains(-arb(p) * arb(p).log())


@pytest.mark.parametrize("metric", [m.stable_rank, m.effective_rank, m.effective_rank_of_others, m.participation_ratio])
def test_zero_tokens_have_no_rank_in_balls_either(metric: Any) -> None:
    assert metric(balls(np.zeros((2, 3)))).is_nan()
