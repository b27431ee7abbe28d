"""karagodin2024: the sinks that refute the conjecture, the data for which it fails, and what is true instead."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankmath as rm
from rankmath.claims import statement
from rankmath.equilibria.flow import Flow
from rankmath.verification.verdict import Outcome

KEYS = ["karagodin2024:two-clusters", "karagodin2024:two-clusters-symmetric"]


def test_the_rational_equilibrium_by_hand() -> None:
    V = np.array([[2, -2], [0, 1]], dtype=object)
    x1, x2 = np.array([1, 0], dtype=object), np.array([Fraction(-4, 5), Fraction(3, 5)], dtype=object)
    assert (V @ x1 == 2 * x1).all()
    assert (V @ (x1 + x2) == x2).all()
    t = np.array([Fraction(-3, 5), Fraction(-4, 5)], dtype=object)
    assert (t @ V @ t - 1) / 2 == Fraction(-3, 10)


@pytest.mark.parametrize("key", KEYS)
def test_the_exhibit_is_accepted_and_refutes(key: str) -> None:
    exhibit = statement(key).exhibited
    result = exhibit().check()
    assert result.accepted
    assert f"violates {key}" in result.checked[0]


def test_starts_near_the_sink_end_there_and_so_do_starts_from_a_quarter_of_the_circle() -> None:
    flow = Flow([[2, -2], [0, 1]], [[0, 0]], [[0, 0]], mask="causal")
    for a, b in product((-0.1, 0.1), (1.7, 2.4, 3.0)):
        X = [[math.cos(a), math.sin(a)], [math.cos(b), math.sin(b)]]
        end = flow.trajectory(X, 60.0, points=2).tokens[-1]
        assert end == pytest.approx(np.array([[1, 0], [-0.8, 0.6]]), abs=1e-6)


def test_what_decides_nothing_and_what_is_not_applicable() -> None:
    key = KEYS[0]
    zero = [[0, 0]]
    assert rm.verify(key, [[2, -2], [0, 1]], zero, zero, 1, [[1, 0], [1, 0]]).outcome == Outcome.UNDECIDED
    sink = [[1, 0], [-0.8, 0.6]]
    assert rm.verify(key, [[2, -2], [0, 1]], zero, zero, 1, sink).outcome == Outcome.VIOLATED
    # a symmetric V is asked for; a negative and a double eigenvalue are not allowed
    assert rm.verify(KEYS[1], [[2, -2], [0, 1]], zero, zero, 1, sink).outcome == Outcome.NOT_APPLICABLE
    for V in ([[2, 0], [0, -1]], [[1, 0], [0, 1]], [[0, -1], [1, 0]]):
        assert rm.verify(key, V, zero, zero, 1, sink).outcome != Outcome.VIOLATED
    with pytest.raises(rm.InvalidArgument, match=r"^beta: "):
        rm.verify(key, [[2, -2], [0, 1]], zero, zero, -1, sink)


@given(beta=st.floats(0.55, 8), above=st.floats(1.01, 3))
def test_the_threshold_for_diagonal_v_and_keys_that_see_the_second_coordinate(beta: float, above: float) -> None:
    """A third sink is there if and only if λ/(λ − 1) < R = e^(β − 1/2)/√(2β): G(u) < 0 somewhere in (0, 1)."""
    R = math.exp(beta - 0.5) / math.sqrt(2 * beta)
    u = np.linspace(1e-4, 1 - 1e-4, 20001)
    for ratio in (R / above, R * above):
        lam = ratio / (ratio - 1) if ratio > 1.0001 else None
        if lam is not None:
            least = (lam * np.exp(-beta * (1 - u * u)) - (lam - 1) * u).min()
            assert (least < 0) == (ratio < R)


def test_beyond_the_condition_the_opposite_point_attracts() -> None:
    """own:flow-one-cluster: with B = bI, (ξ, −ξ) is a sink as soon as e^(2b) > λ_1/(λ_1 − λ_2), in every d."""
    edge = math.log(3 / (3 - 1.01)) / 2
    for s, kind in ((0.99, "saddle"), (1.01, "sink")):
        flow = Flow(np.diag([3, 1.01, 1]), beta=edge * s, mask="causal")
        assert flow.certify([[1, 0, 0], [-1, 0, 0]]).kind == kind
    for lam in (1.5, 2.0, 5.0):
        edge = math.log(lam / (lam - 1)) / 2
        kinds = {
            s: Flow([[lam, 0], [0, 1]], beta=edge * s, mask="causal").certify([[1, 0], [-1, 0]]).kind
            for s in (0.99, 1.01)
        }
        assert kinds == {0.99: "saddle", 1.01: "sink"}


def test_the_climb_is_the_flow_itself() -> None:
    rng = np.random.default_rng(3)
    for m in (1, 3):
        lam = np.array([2.0, 0.5, 1.5])
        B, x = 0.03 * rng.standard_normal((3, 3)), rng.standard_normal(3)
        x /= np.linalg.norm(x)
        X = np.vstack([np.tile([1.0, 0, 0], (m, 1)), x])
        speed = Flow(np.diag(lam), np.eye(3), B, mask="causal").field(X)[-1, 0]
        verdict = rm.verify("own:flow-one-cluster", lam, B, x, m)
        assert verdict.outcome == Outcome.HOLDS
        logs = [log for log in (verdict.log_lhs, verdict.log_rhs) if not math.isnan(log)]  # a negative side has none
        assert math.exp(max(logs)) == pytest.approx(speed, rel=1e-12)


def test_two_tokens_of_the_second_conjecture_go_where_the_first_points() -> None:
    """V = diag(2, 2, 1, −1): both tend to the normalised part of x_1(0) in the first two coordinates."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        X = rng.standard_normal((2, 4))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        flow = Flow(np.diag([2, 2, 1, -1]), rng.standard_normal((4, 4)), rng.standard_normal((4, 4)), 0.5, "causal")
        end = flow.trajectory(X, 200.0, points=2).tokens[-1]
        top = X[0] * [1, 1, 0, 0]
        assert end == pytest.approx(np.tile(top / np.linalg.norm(top), (2, 1)), abs=1e-4)


def test_the_angle_of_two_tokens_closes_as_the_flow_says() -> None:
    rng = np.random.default_rng(11)
    lam, M, B = 1.7, rng.standard_normal((2, 2)), rng.standard_normal((4, 4))
    X = rng.standard_normal((2, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    V = np.block([[lam * np.eye(2), np.zeros((2, 2))], [np.zeros((2, 2)), M]])
    speed = Flow(V, np.eye(4), B, mask="causal").field(X)

    def cosine(Y: np.ndarray) -> float:
        p, q = Y[:, :2]
        return float(p @ q / np.linalg.norm(p) / np.linalg.norm(q))

    slope = (cosine(X + 1e-6 * speed) - cosine(X - 1e-6 * speed)) / 2e-6
    verdict = rm.verify("karagodin2024:subspace-two", lam, M, B, X)
    assert verdict.outcome == Outcome.HOLDS
    assert math.exp(max(verdict.log_lhs, verdict.log_rhs)) == pytest.approx(slope, rel=1e-7)
    for other in (np.eye(3), np.eye(X.shape[1])):
        apart = np.hstack([np.zeros((2, X.shape[1] - len(other))), np.ones((2, len(other)))])
        assert rm.verify("karagodin2024:subspace-two", lam, other, B, apart).outcome == Outcome.NOT_APPLICABLE


def test_what_the_tokens_before_do_not_span_grows_at_one_rate() -> None:
    """V = λ on L: the L-part of a token at a right angle to those before it moves along itself, by a_kk λ − μ."""
    rng = np.random.default_rng(5)
    lam, V = 2.0, np.diag([2.0, 2.0, 2.0, 0.0, 0.0])
    V[3:, 3:] = rng.standard_normal((2, 2))
    flow = Flow(V, query=rng.standard_normal((2, 5)), key=rng.standard_normal((2, 5)), mask="causal")
    X = rng.standard_normal((3, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    logits = X @ np.asarray(flow.query, dtype=float).T @ np.asarray(flow.key, dtype=float) @ X.T
    for k in (1, 2):
        weights = np.exp(logits[k, : k + 1])
        weights /= weights.sum()
        rate = weights[k] * lam - X[k] @ (V @ (weights @ X[: k + 1]))
        off = np.eye(3) - np.linalg.pinv(X[:k, :3]) @ X[:k, :3]
        assert off @ flow.field(X)[k, :3] == pytest.approx(rate * (off @ X[k, :3]), abs=1e-13)


def test_the_second_coordinate_tilts_as_the_flow_says() -> None:
    rng = np.random.default_rng(13)
    for m in (1, 3):
        lam, B = np.array([2.0, 1.5, -1.0]), 0.1 * rng.standard_normal((3, 3))
        x = -abs(rng.standard_normal(3))
        x /= np.linalg.norm(x)
        X = np.vstack([np.tile([1.0, 0, 0], (m, 1)), x])
        speed = Flow(np.diag(lam), np.eye(3), B, mask="causal").field(X)[-1]
        verdict = rm.verify("own:flow-second-value", lam, B, x, m)
        assert verdict.outcome == Outcome.HOLDS
        assert math.exp(max(verdict.log_lhs, verdict.log_rhs)) == pytest.approx(
            speed[1] / x[1] - speed[0] / x[0], rel=1e-12
        )
    assert rm.verify("own:flow-second-value", lam, B, abs(x), 1).outcome == Outcome.NOT_APPLICABLE


def test_the_second_value_decides_and_the_least_does_not() -> None:
    """V = diag(1, 0.9, −2): e^(2‖B‖) = 4 is above 1/(1 + 2) and below 1/(1 − 0.9); all end at ±ξ. Beyond 10, not."""
    rng = np.random.default_rng(17)
    V = np.diag([1.0, 0.9, -2.0])
    for _ in range(4):
        B = rng.standard_normal((3, 3))
        B *= math.log(4) / 2 / np.linalg.norm(B, 2)
        X = rng.standard_normal((3, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        end = Flow(V, np.eye(3), B, mask="causal").trajectory(X, 200.0, points=2).tokens[-1]
        assert end == pytest.approx(np.tile([math.copysign(1, X[0, 0]), 0, 0], (3, 1)), abs=1e-6)
    for s, kind in ((0.99, "saddle"), (1.01, "sink")):
        assert Flow(V, beta=s * math.log(10) / 2, mask="causal").certify([[1, 0, 0], [-1, 0, 0]]).kind == kind


def test_a_token_climbs_its_function_at_the_rate_of_the_statement() -> None:
    rng = np.random.default_rng(19)
    lam, m = np.array([1.5, 1.5, -1.0]), 2
    for c in (0.75, -0.5, 0.0):
        x = rng.standard_normal(3)
        x /= np.linalg.norm(x)
        X = np.vstack([np.tile([1.0, 0, 0], (m, 1)), x])
        speed = Flow(np.diag(lam), np.eye(3), c * np.diag(lam), mask="causal").field(X)[-1]

        def height(y: np.ndarray, c: float = c) -> float:
            near, own = lam[0] * y[0], float(y @ (lam * y))
            return m * near + own / 2 if c == 0 else (m * math.exp(c * near) + math.exp(c * own) / 2) / c

        slope = (height(x + 1e-6 * speed) - height(x - 1e-6 * speed)) / 2e-6
        verdict = rm.verify("own:flow-subspace", lam, c, x, m)
        assert verdict.outcome != Outcome.VIOLATED
        assert math.exp(max(verdict.log_lhs, verdict.log_rhs)) == pytest.approx(slope, rel=1e-8)


def test_no_other_equilibrium_of_the_second_conjecture_is_stable() -> None:
    """V = 2 on L, with a complement of dimension two and any logits: sinks have all tokens at one point of L."""
    rng = np.random.default_rng(23)
    V = np.diag([2.0, 2.0, 0.0, 0.0])
    V[2:, 2:] = [[-3.0, 1.0], [-1.0, -4.0]]
    kinds = set()
    for _ in range(6):
        flow = Flow(V, query=np.eye(4), key=1.5 * rng.standard_normal((4, 4)), mask="causal")
        for x in ([-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0]):
            e = -np.array(x)
            # The far pole is an equilibrium; the rate of the other directions of L is a_e λ/|α|, exactly.
            X = np.array([e, e, x])
            assert abs(flow.field(X)).max() < 1e-15
            B = flow.key if flow.query is None else flow.query.T @ flow.key
            m, E = 2, math.exp(float(x @ B @ (x - e)))
            rates = np.sort_complex(flow.spectrum(X))
            assert min(abs(rates - 2 * m / (m + E))) < 1e-9
            kinds.add(rates.real.max() > 0)
    assert kinds == {True}


def test_tokens_converge_where_the_other_eigenvalues_are_real() -> None:
    """Four tokens, L of dimension two, eigenvalues 1 and −5 on the complement, logits that no theorem before covers."""
    rng = np.random.default_rng(29)
    V = np.diag([2.0, 2.0, 1.0, -5.0])
    for _ in range(4):
        flow = Flow(V, query=np.eye(4), key=0.5 * rng.standard_normal((4, 4)), mask="causal")
        X = rng.standard_normal((4, 4))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        top = X[0] * [1, 1, 0, 0]
        end = flow.trajectory(X, 400.0, points=2).tokens[-1]
        assert end == pytest.approx(np.tile(top / np.linalg.norm(top), (4, 1)), abs=1e-5)


def test_a_periodic_orbit_of_the_far_side_has_the_multiplier_of_the_proof() -> None:
    """V = 2 on L and eigenvalues ½ ± 3i beside it; logits that see the complement alone, so a cycle attracts there."""
    V = np.diag([2.0, 2.0, 0.5, 0.5])
    V[2, 3], V[3, 2] = 3.0, -3.0
    flow = Flow(V, query=np.eye(4), key=np.diag([0.0, 0.0, 4.0, 2.0]), mask="causal")
    first = [1.0, 0.0, 0.0, 0.0]

    def second(x: object, time: float, points: int = 2) -> np.ndarray:
        return flow.trajectory(np.array([first, x]), time, points=points).tokens[:, 1]

    start = second([-0.7, 0.0, math.sqrt(0.51), 0.0], 60.0)[-1]
    path = second(start, 8.0, 4001)
    assert path[:, 0].max() < -0.9
    turned = np.unwrap(np.arctan2(path[:, 2], path[:, 3]))
    period = float(np.interp(2 * math.pi, turned - turned[0], np.linspace(0, 8, 4001)))
    assert second(start, period)[-1] == pytest.approx(start, abs=1e-7)
    # Over a period log‖z‖ returns, so ∮(a·½ − μ) = 0, and ∮(2a − μ) = (2 − ½)·2π/3: the multiplier is e^π.
    aside = start + 1e-7 * np.array([0.0, 1.0, 0.0, 0.0])
    assert second(aside, period)[-1][1] / 1e-7 == pytest.approx(math.exp(math.pi), rel=1e-5)
    # What it repels tends to the first token, where the conjecture says.
    assert second(aside, 200.0)[-1] == pytest.approx(first, abs=1e-5)
