"""One head and few tokens: the inequalities behind the theorem, and the boxes that prove it for 3562 tokens."""

from __future__ import annotations

import itertools
import math

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from rankmath.arithmetic.balls import precision
from rankmath.claims.dong2021_few_tokens import (
    _FLOOR,
    _PRICE,
    _SHIFT,
    FEW_TOKENS,
    _decided,
    _guarded,
    _needed,
    _resource,
    _root,
    _two_rows,
    prove,
)
from rankmath.claims.dong2021_many_tokens import counterexample


def test_the_bound_of_2021_is_true_for_all_numbers_below_that_of_the_counterexample():
    assert counterexample().tokens - 1 == FEW_TOKENS
    assert 2000 < prove(FEW_TOKENS) < 3000  # as the proof says
    with pytest.raises(ValueError, match="tokens: 3563 given; not decided near B = 10"):
        prove(FEW_TOKENS + 1)


@pytest.mark.parametrize("B", [8, 10, 12])
@pytest.mark.parametrize(("share", "decided"), [(0.95, True), (1.05, False)])
def test_many_tokens_are_decided_up_to_half_of_c_and_not_beyond(B, share, decided, monkeypatch):
    """Rows of P − 1qᵀ are at most 2 long, Σ(1 − b) reaches r = (1 − q)(e^B − 1) as n grows: qr + B/2 ≤ C/2."""
    monkeypatch.setattr(flint.ctx, "cap", 2)
    q = (1 + math.sqrt(1 - 4 * (share * 8 * B * B - B / 2) / math.expm1(B))) / 2
    with precision(64):
        assert _decided(10**7, arb(B), arb(q)) is decided


@pytest.mark.parametrize("lone", [True, False])
def test_the_resource_is_the_integral(lone):
    n, B, q, slop = 3562, 10.4, 0.87, 0.25
    rho = q if lone else 1.0

    def g(t):
        return (16 * B * B / (1 + rho * t) - slop * B) / q

    lam = _root(n, B, q, slop, lone)
    whole = g(1) + quad(lambda t: max(0.0, g(t) + g(1) - n * (1 - t)) / t**3, lam, 1)[0]
    assert float(_needed(n, arb(B), arb(q), slop, arb(lam), lone)) == pytest.approx(whole, rel=1e-9)
    for other in (0.8 * lam, min(1.0, 1.2 * lam)):  # the best λ
        assert float(_needed(n, arb(B), arb(q), slop, arb(other), lone)) < whole


@given(arrays(float, st.integers(2, 12), elements=st.floats(0.01, 1)), st.floats(0.05, 1))
def test_spread_values_cost_the_integral(b, lam):
    # Σ(1/b − 1) = Σ(1 − b) + ∫ 2t⁻³ Σ(t − b)⁺ dt, and 2(t − b)⁺ = |b − t| + t − b.
    S = (1 - b).sum()
    edges = np.sort(np.concatenate([b[b > lam], [lam, 1.0]]))
    integral = sum(
        quad(lambda t: (np.abs(b - t).sum() + S - len(b) * (1 - t)) / t**3, low, high)[0]
        for low, high in itertools.pairwise(edges)
    )
    assert S + integral <= (1 / b - 1).sum() * (1 + 1e-9) + 1e-9


@st.composite
def rows(draw):
    """Logits E of n rows with column sums of |E| at most B, weights q, and what the proof makes of them."""
    n = draw(st.integers(2, 6))
    E = draw(arrays(float, (n, n), elements=st.floats(-1, 1)))
    size = np.abs(E).sum(axis=0).max()
    assume(size > 1e-3)
    B = draw(st.floats(0.1, 14))
    c = draw(arrays(float, n, elements=st.floats(-6, 6)))
    q = np.exp(c - c.max())
    return E / size * B, q / q.sum(), B


@given(rows(), st.floats(0, 1))
def test_columns_about_a_multiple_of_the_weights(instance, lam):
    E, q, B = instance
    n, k = len(q), int(q.argmax())
    logits = np.log(q) + E
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    others = np.arange(n) != k
    Y = (q[others] * np.exp(E[:, others])).sum(axis=1) / q[others].sum()
    b = 1 / np.maximum(1, q[k] + (1 - q[k]) * Y)
    assert (1 / b - 1).sum() <= (1 - q[k]) * math.expm1(B) * (1 + 1e-9)
    columns = np.abs(P - lam * q).sum(axis=0)
    assert columns[k] <= B / 2 + q[k] * np.abs(b - lam).sum() + 1e-9
    assert (columns <= B + q * np.abs(b - lam).sum() + 1e-9).all()
    assert np.abs(P - lam * q).sum(axis=1).max() <= 1 + lam + 1e-12
    lone = lam * q * (np.arange(n) == k)
    assert np.abs(P - lone).sum(axis=1).max() <= 1 + lam * q[k] + 1e-12


# -- case G: what two far rows cost ------------------------------------------------------------------------------


def cost(p: float, q: float, mu: float) -> float:
    """min D − 1 + μ|e| with D ≥ 1 and p = qe^e/(qe^e + D − q), on a fine grid of y = D − q."""
    y = np.concatenate([[1 - q], np.geomspace(1 - q, 1e4, 20001)])
    return float((y + q - 1 + mu * np.abs(math.log(q * (1 - p) / p) - np.log(y))).min())


def priced(p: np.ndarray, q: float, mu: float, x0: float) -> np.ndarray:
    """g of the proof: f right of x₀, its tangent left of it."""
    tangent = q / x0 - 1 - q / x0**2 * (p - x0)
    beyond = mu * (math.log(1 - q) - np.log(q * (1 - p) / p))
    return np.where(p <= x0, tangent, np.where(p <= q, q / p - 1, beyond))


@given(st.floats(0.001, 0.999), st.floats(0.52, 0.98), st.floats(1, 9))
def test_the_price_of_a_share_is_convex_and_above_its_tangents(p, q, mu):
    f = cost(p, q, mu)
    if q / (q + mu) <= p <= q:
        assert f == pytest.approx(q / p - 1, abs=2e-2)
    for x0 in (q / (q + mu), 0.5 * q / (q + mu) + 0.5 * q):
        assert f >= priced(np.array(p), q, mu, x0) - 1e-9


@given(arrays(float, st.integers(2, 12), elements=st.floats(0.01, 0.99)), st.floats(0.55, 0.95))
def test_shares_that_are_far_from_every_center_cost_the_resource(p, q):
    mu, n = 4.0, len(p)
    x0 = max(q / (q + mu), q * math.sqrt((1 - q) / mu)) * 1.01
    edges = np.sort(np.concatenate([p[(p > x0) & (p < q)], [x0, q]]))
    end = np.abs(p - q).sum()
    integral = sum(
        quad(lambda t: (np.abs(p - t).sum() + end - n * (q - t)) / t**3, low, high)[0]
        for low, high in itertools.pairwise(edges)
    )
    assert priced(p, q, mu, x0).sum() >= (end / q + q * integral) * (1 - 1e-9) - 1e-9


@pytest.mark.parametrize("nu", [0, 0.5])
def test_the_resource_about_shares_is_the_integral_and_the_slope_its_derivative(nu):
    n, B, q, x0 = 3562, 10.43, 0.876, 0.21

    def whole(delta):
        def g(t):
            return 16 * B * B / (1 + t - delta) - nu / 4

        return g(q) / q + q * quad(lambda t: (g(t) + g(q) - n * (q - t)) / t**3, x0, q)[0]

    value, slope = _resource(n, arb(B), arb(q), arb(x0), arb(0.004), nu)
    assert float(value) == pytest.approx(whole(0.004), rel=1e-10)
    assert float(slope) == pytest.approx((whole(0.0041) - whole(0.0039)) / 0.0002, rel=1e-6)


@pytest.mark.parametrize("nu", [0, 0.5])
def test_two_far_rows_cost_at_least_what_is_said_and_not_much_more(nu):
    """Against a search over p₁ = p₂ and a grid of y₁ ≥ y₂ ≥ y₀."""
    B, q, x0, slope, mu = 10.43, 0.876, 0.21, 14500.0, _PRICE
    u, T = math.expm1(B), (1 - q) / _FLOOR
    y = np.geomspace(_FLOOR, 400, 500)
    y1, y2 = y[:, None], np.minimum(y[None, :], y[:, None])
    least = np.inf
    for p in np.geomspace(1e-5, 0.1, 400):
        delta = (1 - T) * 2 * p + (1 - nu) * (1 - q) / y1 + (y1 - 1 + q) / u * (1 / y2 - 1 / y1) - nu * T
        rows = [
            z + q - 1 + mu * (math.log(q * (1 - p) / p) - np.log(z)) - priced(np.array(p), q, mu, x0) for z in (y1, y2)
        ]
        least = min(least, (slope * delta + rows[0] + rows[1]).min())
    least -= 2 * (_FLOOR - mu * math.log(_FLOOR) - mu + mu * math.log(mu))
    said = float(_two_rows(arb(B), arb(q), arb(x0), arb(slope), nu))
    assert said <= least
    assert said >= least - (0.3 if nu == 0 else 12)


@pytest.mark.parametrize(("n", "decided"), [(3562, True), (3563, False), (3600, False)])
def test_case_g_decides_the_worst_place_up_to_3562(n, decided, monkeypatch):
    monkeypatch.setattr(flint.ctx, "cap", 2)
    with precision(64):
        assert _guarded(n, arb(10.4295), arb(0.87616)) is decided


@pytest.mark.parametrize(("n", "B", "q"), [(2500, 8.3, 0.83), (3000, 8.7, 0.86)])
def test_case_g_knows_that_rows_may_be_longer_than_1_q(n, B, q, monkeypatch):
    """δ is negative for ν > 0, small p and large y₁, so the columns beside the heaviest must be below C/(1 + q + T)."""
    monkeypatch.setattr(flint.ctx, "cap", 2)
    T, y1, nu, C = (1 - q) / _FLOOR, 40.0, 0.4, 16 * B * B
    spread = (y1 - 1 + q) / math.expm1(B) * (1 / _FLOOR - 1 / y1)
    assert -T < (1 - nu) * (1 - q) / y1 + spread - nu * T < 0
    columns = B + (1 - q) * (n - (C - B) / (2 * q) + n / _FLOOR) + n * _SHIFT
    assert C / (1 + q + T) < columns < C / (1 + q)
    with precision(64):
        assert _guarded(n, arb(B), arb(q)) is False


@st.composite
def far_rows(draw):
    """Logits with a heavy key 0 and two rows that hardly see it, column sums of |E| at most B."""
    n = draw(st.integers(4, 8))
    q0 = draw(st.floats(0.55, 0.95))
    rest = draw(arrays(float, n - 1, elements=st.floats(0.05, 1)))
    q = np.concatenate([[q0], (1 - q0) * rest / rest.sum()])
    E = draw(arrays(float, (n, n), elements=st.floats(0, 3)))
    E[:2, 0] -= draw(st.floats(2, 9))
    E[0, 1] += draw(st.floats(0, 7))
    E[1, 2] += draw(st.floats(0, 7))
    return E, q


@given(far_rows(), st.floats(0.3, 0.8))
def test_some_center_is_nearer_than_the_far_rows_say(instance, x):
    """The rows about the center of case G, without negative entries beside the heavy key (ν = 0)."""
    E, q = instance
    n, mu, floor = len(q), _PRICE, _FLOOR
    weights = q * np.exp(E)
    P = weights / weights.sum(axis=1, keepdims=True)
    y, p, u = weights[:, 1:].sum(axis=1), P[:, 0], math.exp(np.abs(E).sum(axis=0).max()) - 1
    far = np.flatnonzero(p <= q[0] / (q[0] + mu))
    assume(len(far) >= 2)
    order = far[np.argsort(-y[far])]
    r, y2 = order[0], max(floor, y[order[1]])
    y1, T = max(y[r], y2), (1 - q[0]) / y2
    overlap = (1 - q[0]) / y1 + (y1 - 1 + q[0]) / u * (1 / y2 - 1 / y1)
    M = np.full(n, T - 2 * q[0] / (q[0] + mu))
    M[far] = -T - 2 * (1 - T) * p[far]
    M[r] = T - 2 * (1 - T) * p[r] - 2 * overlap
    c = q / y2
    c[0] = x
    below = p < x
    assert (np.abs(P - c).sum(axis=1)[below] <= 1 + x + M[below] + 1e-12).all()
    assert (np.abs(P - c).sum(axis=1)[~below] <= 1 - x + T + 1e-12).all()
    a, b = np.argsort(-M)[:2]
    share = np.maximum(P[a] - c, 0)
    share[0] = 0
    shifted = c + min(1.0, (M[a] - M[b]) / 2 / share.sum()) * share
    if a in far and (M[a] - M[b]) / 2 <= share.sum():
        assert (np.abs(P - shifted).sum(axis=1)[below] <= 1 + x + (M[a] + M[b]) / 2 + 1e-12).all()
