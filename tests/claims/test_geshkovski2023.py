"""geshkovski2023 and own:flow-step: the speed against the flow itself, the slowest tokens, the constant."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.claims.geshkovski2023 import slowest
from rankmath.decide.battery import verify_statement
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome

STEP = statement("own:flow-step")


def flow(X: np.ndarray, beta: float, *, normalised: bool = True) -> np.ndarray:
    C = X @ X.T
    P = np.exp(beta * C)
    pull = P / (P.sum(axis=1, keepdims=True) if normalised else len(X)) @ X
    return pull - (pull * X).sum(axis=1, keepdims=True) * X


def test_the_speed_is_that_of_the_flow() -> None:
    """d⟨x_i, x_j⟩/dt of the least pair from the vector field itself."""
    rng = np.random.default_rng(1)
    for n, d in ((3, 2), (5, 3), (7, 4)):
        X = 0.4 * rng.standard_normal((n, d)) + np.eye(d)[0]
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        C = X @ X.T
        C = np.where(np.eye(n), 1.0, (C + C.T) / 2)
        i, j = np.unravel_index(C.argmin(), C.shape)
        at = ArrayInstance({"C": C, "beta": np.asarray(1.5)})
        for entry, normalised in ((STEP, True), (statement("own:flow-step-usa"), False)):
            V = flow(X, 1.5, normalised=normalised)
            [side] = entry.evaluate(Float64(np.zeros(1)), at).sides
            assert math.exp(float(side.right.log)) == pytest.approx(V[i] @ X[j] + X[i] @ V[j], rel=1e-9)


def test_orthogonal_tokens_are_the_slowest_without_normalisation() -> None:
    """Euler's steps from the orthonormal basis and from tokens with cosines above zero: the latter stay ahead."""
    rng = np.random.default_rng(2)
    slow, fast = np.eye(4), np.abs(rng.standard_normal((4, 4)))
    fast /= np.linalg.norm(fast, axis=1, keepdims=True)
    for _ in range(60):
        slow, fast = (X + 0.05 * flow(X, 1.0, normalised=False) for X in (slow, fast))
        slow, fast = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (slow, fast))
        assert (slow @ slow.T).min() < (fast @ fast.T).min()


def test_both_families_are_slowest_and_a_better_constant_is_refuted() -> None:
    for instance in slowest(np.random.default_rng(0)):
        verdict = judge(STEP, instance, "balls")
        assert verdict.outcome == Outcome.HOLDS
        assert 1 - 1e-6 < verdict.ratio < 1
        assert rm.certify("own:flow-step", instance["C"], instance["beta"]).check().accepted
    formula = "closing(C, beta) >= 2.0001*rho*(1 - alpha)*{}"
    for part in ("(1 + alpha)/(1 + rho)", "(1 + (n - 1)*alpha)/(1 + (n - 1)*rho)"):
        stronger = replace(STEP, key="broken", formula=formula.format(part), status="open", certificate=None)
        assert verify_statement(stronger, instances=4, certify=0, search=0).outcome == "REFUTED"


def test_no_three_tokens_are_slower_than_the_better_of_two_kinds() -> None:
    """n = 3: the speed for all cosines of the third token with the other two, on a grid, by its formula."""
    for alpha, beta in ((0.5, 4.0), (0.75, 1.25), (0.9, 40.0), (0.3, 2.5), (0.6, 1.3)):
        rho = math.exp(-beta * (1 - alpha))
        s, t = np.meshgrid(*[np.linspace(alpha, 1, 101)] * 2)
        w, v = np.exp(-beta * (1 - s)), np.exp(-beta * (1 - t))
        own = rho * (1 - alpha**2)
        speed = (own + w * (t - alpha * s)) / (1 + rho + w) + (own + v * (s - alpha * t)) / (1 + rho + v)
        clusters = (1 + alpha) * (10 + 8 * rho) / (9 * (1 + rho) ** 2 - (1 - rho) ** 2)
        between = (1 + 2 * alpha) / (1 + 2 * rho)
        assert speed.min() == pytest.approx(2 * rho * (1 - alpha) * min(clusters, between), rel=1e-12)
    assert 2 * math.exp(-2) * 0.5 * 1.5 * (10 + 8 * math.exp(-2)) / (
        9 * (1 + math.exp(-2)) ** 2 - (1 - math.exp(-2)) ** 2
    ) == pytest.approx(0.2073, abs=5e-5)


def test_the_larger_of_the_two_rates_is_no_bound() -> None:
    """Each family is slower than the other's rate where its own is the smaller one."""
    formula = "closing(C, beta) >= 2*rho*(1 - alpha)*max((1 + alpha)/(1 + rho), (1 + (n - 1)*alpha)/(1 + (n - 1)*rho))"
    larger = replace(STEP, key="broken", formula=formula, status="open")
    found = [judge(larger, instance, "balls").outcome for instance in slowest(np.random.default_rng(0))]
    assert found == [Outcome.VIOLATED] * 6


def test_what_are_no_cosines_is_not_spoken_about() -> None:
    skew = np.array([[1.0, 0.5], [0.25, 1.0]])
    assert rm.verify("own:flow-step", skew, 1.0).outcome == Outcome.NOT_APPLICABLE
    apart = np.array([[1.0, -0.5], [-0.5, 1.0]])
    assert rm.verify("own:flow-step", apart, 1.0, arithmetic="balls").outcome == Outcome.NOT_APPLICABLE


def test_the_equation_of_an_orthogonal_start_is_exact() -> None:
    assert rm.verify("geshkovski2023:orthogonal", 0, Fraction(1, 3), 5).outcome == Outcome.HOLDS
    with pytest.raises(rm.InvalidArgument, match=r"^m: "):
        rm.verify("geshkovski2023:orthogonal", 0, Fraction(1, 3), 1)


def test_the_meeting_time_of_two_tokens_is_the_area_of_a_hyperbola() -> None:
    """n = 2, β = 0: γ = tanh t. The printed bound fails at t = 0 and holds from n/2 on."""
    for gamma in (0.0, 0.3, 0.999):
        verdict = rm.verify("geshkovski2023:late-printed", gamma, 0.0, 2, arithmetic="balls")
        bound = math.exp(2 / 3 - 2 * math.atanh(gamma) / 3) / 2
        assert math.exp(verdict.log_rhs) == pytest.approx(bound, rel=1e-11)
        assert (verdict.outcome == Outcome.VIOLATED) == (1 - gamma > bound)
    assert rm.verify("geshkovski2023:late", 0.5, 0.0, 2).outcome == Outcome.NOT_APPLICABLE
    late = [rm.verify(key, 1 - 1e-9, 1.0, 5, arithmetic="balls") for key in ("geshkovski2023:late", "own:late")]
    assert [verdict.outcome for verdict in late] == [Outcome.HOLDS] * 2
    assert late[1].log_rhs < late[0].log_rhs


@pytest.mark.parametrize(
    ("gamma", "beta", "m", "fails"),
    [
        *((0, 0.0468, 2, True), (0, 0.0469, 2, False), (0.0716, 0, 2, True), (0.0717, 0, 2, False)),
        *((gamma, beta, 3, False) for gamma in (0, 0.05, 0.3) for beta in (0, 0.04, 1, 4)),
    ],
)
def test_the_printed_bound_fails_for_two_tokens_near_the_start_alone(
    gamma: float, beta: float, m: int, fails: bool
) -> None:
    outcome = rm.verify("geshkovski2023:late-printed", gamma, beta, m, arithmetic="balls").outcome
    assert outcome == (Outcome.VIOLATED if fails else Outcome.HOLDS)


def test_the_meeting_time_in_three_arithmetics() -> None:
    sides = [
        rm.verify("own:late", 0.9, 0.5, 3, arithmetic=arithmetic).log_rhs
        for arithmetic in ("float64", "mpmath", "balls")
    ]
    assert sides == pytest.approx([sides[0]] * 3, abs=1e-11)
