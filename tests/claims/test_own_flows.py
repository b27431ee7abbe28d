"""own_flows: times, rates and conditions against the flows they are about."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rankmath as rm
from rankmath.claims.own_flows import own_claim
from rankmath.decide.conjecture import claims_in
from rankmath.verification.verdict import Outcome


@pytest.mark.parametrize(("beta", "u", "c"), [(2.0, 0.5, 3.0), (8.0, 0.3, 0.5), (1.5, 0.9, 20.0)])
def test_the_time_until_collapse_is_that_of_the_equation(beta: float, u: float, c: float) -> None:
    found = [rm.verify("own:until-collapse", beta, u, c, arithmetic=name) for name in ("float64", "mpmath", "balls")]
    assert [one.outcome for one in found] == [Outcome.HOLDS] * 3
    times = [math.exp(one.log_lhs) for one in found]
    # Integrated as an equation for log(1 − u), which does not run into rounding near 1.
    path = solve_ivp(
        lambda _, g: -(1 - np.exp(g)) * np.exp(-beta * np.exp(g)),
        (0, times[0]),
        [math.log1p(-u)],
        rtol=1e-11,
        atol=1e-11,
    )
    assert path.y[0, -1] == pytest.approx(-c * beta, rel=1e-8)
    assert times == pytest.approx([times[0]] * 3, rel=1e-12)
    printed = rm.verify("geshkovski2024:until-collapse", beta, u, c)
    assert printed.outcome == Outcome.HOLDS
    assert printed.log_rhs > found[0].log_rhs


def test_without_coupling_tokens_move_by_one_boost() -> None:
    """β = 0: the heights over the end are (1 − v)/(1 + sv), with one s and one axis for all tokens."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 3)) + np.array([1.0, 0.5, 0.0])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    flow = rm.Flow(np.eye(3, dtype=int), beta=0, normalised=False)
    path = flow.trajectory(X, 1.5)
    after = path.tokens[-1]
    # Follow the boost itself: time-like part (cosh τ, e sinh τ), moved by the mean token.
    means = path.tokens.mean(axis=1)
    L = np.eye(4)
    step = path.times[1]
    for before, later in pairwise(means):
        G = np.zeros((4, 4))
        G[0, 1:] = G[1:, 0] = (before + later) / 2
        L = (np.eye(4) + step * G + (step * G) @ (step * G) / 2) @ L
    tau, e = math.acosh(L[0, 0]), L[1:, 0] / np.linalg.norm(L[1:, 0])
    w = L[0, 1:] / np.linalg.norm(L[0, 1:])
    v, s = (1 + X @ w) / 2, math.expm1(2 * tau)
    assert 1 - after @ e == pytest.approx(2 * (1 - v) / (1 + s * v), abs=1e-4)


def test_three_tokens_on_the_circle_turn_at_minus_two_thirds() -> None:
    """The equilateral triangle attracts below −2/3 and repels above, and the inequality fails below."""
    triangle = [[math.cos(t), math.sin(t)] for t in (0, 2 * math.pi / 3, 4 * math.pi / 3)]
    for beta, sign in ((-0.7, -1), (-0.6, 1)):
        values = rm.Flow(np.eye(2, dtype=int), beta=beta, normalised=False).spectrum(triangle)
        assert values.real == pytest.approx([*([math.exp(-beta / 2) * (2 + 3 * beta) / 4] * 2), 0][::-sign], abs=1e-12)
    assert rm.verify("own:circle-three", -0.7, 0.98).outcome == Outcome.NOT_APPLICABLE
    assert 2 * 0.49 * math.exp(-0.7 * (2 * 0.49**2 - 1)) > math.exp(0.7 * 0.49)
    assert rm.verify("own:circle-three", -0.66, 0.98, arithmetic="balls").outcome == Outcome.HOLDS


def test_slopes_of_the_pull_of_frozen_tokens() -> None:
    """Both slopes against differences of h(x) = e^{β(cos x − 1)} sin x."""
    w, b, eps = 0.2, 2.5, 0.3
    s = math.pi * w

    def h(x: float) -> float:
        return math.exp((math.cos(x) - 1) / s**2) * math.sin(x)

    def g(x: float) -> float:
        return (h(x + 1e-6) - h(x - 1e-6)) / 2e-6

    letters = {"w": ", > 0", "b": "", "eps": ""}
    for claim, value in (
        ("far_slope(w, b) <= 33/25", -s * g((b + 1) * s) / h(b * s)),
        ("8/5 <= near_slope(w, eps)", s * g(eps * s) / h(eps * s)),
    ):
        for name in ("float64", "mpmath", "balls"):
            verdict = rm.verify(rm.Statement("mine:slope", claim, arrays=letters), w, b, eps, arithmetic=name)
            assert verdict.outcome == Outcome.HOLDS
            assert math.exp(verdict.log_lhs if "far" in claim else verdict.log_rhs) == pytest.approx(value, rel=1e-6)
    assert rm.verify("own:frozen-sign", 0.5, 1.0, 0.5).outcome == Outcome.NOT_APPLICABLE


def test_halfway_between_two_layers() -> None:
    for C in (1.0, 3.0):
        eta = math.exp(-C) / (9 * C)
        assert rm.verify("own:off-grid", C, eta, arithmetic="balls").outcome == Outcome.HOLDS
        assert C * math.exp(C * eta) * eta**2 * (eta + 1) < eta / 2 - eta**3 / 48 < math.sin(eta / 2)


def test_refusals() -> None:
    for key, given, name in (
        ("own:until-collapse", (1.0, 1.0, 1.0), "u"),
        ("own:mean-field-rate", (0.5, 1.0, 1.5), "a"),
        ("own:frozen-sign", (0.2, 0.5, 0.1), "b"),
        ("own:off-grid", (0.5, 0.1), "C"),
    ):
        with pytest.raises(rm.InvalidArgument, match=f"^{name}: "):
            rm.verify(key, *given)
    assert rm.verify("own:until-collapse", 1.0, 0.5, 0.1).outcome == Outcome.NOT_APPLICABLE


def test_claims_of_ones_own_about_flows() -> None:
    """The words are the flow's own field and spectrum; a true claim holds, half of it is refuted."""
    V, B, G = [[2, -2], [0, 1]], [[0, 1], [0, 0.5]], [[1, 0], [1, 1]]
    flow = rm.Flow(V, query=np.transpose(B), mask="causal")
    X = [[0.6, 0.8], [1, 0]]
    fast = np.linalg.norm(flow.field(X), axis=1).max()
    claim = own_claim("mine:speed", "speed(V, B, G, X) <= form_size(V)")
    for name in ("float64", "mpmath", "balls"):
        verdict = rm.verify(claim, V, B, G, X, arithmetic=name)
        assert (verdict.outcome, math.exp(verdict.log_lhs)) == (Outcome.HOLDS, pytest.approx(fast, rel=1e-12))
    assert rm.verify_statement(claim, instances=40, search=0).outcome == "HELD"
    # In a file as in a line; a letter of its own such a claim has not.
    (listed,) = claims_in("claims.txt", "fast: speed(V, B, G, X) <= form_size(V)")
    (tabled,) = claims_in("claims.toml", '[fast]\nclaim = "speed(V, B, G, X) <= form_size(V)"\ntitle = "how fast"')
    assert listed.claim_text == tabled.claim_text == claim.claim_text
    assert listed.arrays == tabled.arrays == claim.arrays
    assert tabled.title == "how fast"
    with pytest.raises(rm.InvalidArgument, match="given with c; a claim about flows has no letter of its own"):
        own_claim("mine:c", "speed(V, B, G, X) <= c*form_size(V)", where={"c": "1"})
    halved = own_claim("mine:half", "speed(V, B, G, X) <= form_size(V)/2")
    assert rm.verify_statement(halved, instances=40, search=0).outcome == "REFUTED"


def test_claims_of_ones_own_about_equilibria() -> None:
    none = own_claim("mine:no-sinks", "growth(V, B, G, X) >= -3/10")
    stronger = own_claim("mine:stronger", "growth(V, B, G, X) >= -0.29")
    sink = [[2, -2], [0, 1]], [[0, 0], [0, 0]], [[1, 0], [1, 1]], [[1, 0], [-0.8, 0.6]]
    for given, outcome in ((none, Outcome.UNDECIDED), (stronger, Outcome.VIOLATED)):
        assert rm.verify(given, *sink, arithmetic="balls").outcome == outcome
    elsewhere = (*sink[:3], [[0.6, 0.8], [0, 1]])
    assert rm.verify(none, *elsewhere, arithmetic="balls").outcome == Outcome.UNDECIDED


@pytest.mark.parametrize("beta", [-0.66, -0.4])
def test_random_tokens_on_the_circle_meet_in_floats_above_minus_two_thirds(beta: float) -> None:
    """No proof: 20 starts of 4 and of 7 tokens, with random weights, by Runge and Kutta's steps."""
    rng = np.random.default_rng(0)
    for n in (4, 7):
        angles, weights = rng.uniform(0, 2 * math.pi, (20, n)), rng.uniform(0.2, 1, (20, 1, n))

        def speed(at: np.ndarray, weights: np.ndarray = weights) -> np.ndarray:
            gaps = at[:, None, :] - at[:, :, None]
            pulled: np.ndarray = (weights * np.exp(beta * np.cos(gaps)) * np.sin(gaps)).sum(axis=-1)
            return pulled

        for _ in range(3000):
            k1 = speed(angles)
            k2 = speed(angles + 0.05 * k1)
            k3 = speed(angles + 0.05 * k2)
            angles = angles + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + speed(angles + 0.1 * k3))
        assert np.abs(np.exp(1j * angles).mean(axis=1)).min() > 1 - 1e-6
