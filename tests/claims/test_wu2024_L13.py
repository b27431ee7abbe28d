"""wu2024:L13: the printed set is left from dimension four on; the repaired sets are not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath.claims import statement
from rankmath.decide.battery import verify
from rankmath.verification.verdict import Outcome

POINT = [Fraction(-k, 7) for k in (4, 1, 4, 4)]


def on_sphere(t: list[Fraction], sign: int) -> list[Fraction]:
    """−2t/(1 + |t|²) and ±(1 − |t|²)/(1 + |t|²): inverse stereographic projection."""
    square = sum((v * v for v in t), Fraction(0))
    return [*(-2 * v / (1 + square) for v in t), sign * (1 - square) / (1 + square)]


def test_a_point_inside_the_printed_hypotheses_leaves() -> None:
    assert sum(x * x for x in POINT) == 1
    assert POINT[2] <= -Fraction(1, 2)
    assert sum((x / POINT[2]) ** 2 for x in POINT[:2]) == Fraction(17, 16)
    assert Fraction(17, 16) ** 2 <= 2**2 - 1
    verdict = verify("wu2024:L13", POINT, 2)
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert "144/49 against ‖y‖² = 158/49" in verdict.reason
    exhibit = statement("wu2024:L13").exhibited
    assert exhibit().check().accepted


@pytest.mark.parametrize(
    ("x", "w"),
    [
        ([Fraction(-4, 5), 0, Fraction(-3, 5), 0], 4),  # x_2 = 0: strict negativity is asked for
        ([Fraction(-1, 3), Fraction(-2, 3), Fraction(-2, 3)], Fraction(5, 4)),  # −2/3 > −4/5
        ([Fraction(-12, 13), Fraction(-3, 13), Fraction(-4, 13)], 5),  # the quotients are too large
    ],
)
def test_points_outside_the_printed_hypotheses_decide_nothing(x: list[Fraction], w: Fraction) -> None:
    assert verify("wu2024:L13", x, w).outcome == Outcome.NOT_APPLICABLE


@given(
    t=st.lists(st.integers(1, 40), min_size=1, max_size=2),
    w=st.fractions(Fraction(11, 10), 9, max_denominator=20),
    sign=st.sampled_from([-1, 1]),
)
def test_dimensions_two_and_three_are_right_whatever_the_last_sign(t: list[int], w: Fraction, sign: int) -> None:
    x = on_sphere([Fraction(k, 40) for k in t], sign)
    if x[-2] <= -1 / w:
        assert verify("wu2024:L13-repaired", x, w).outcome == Outcome.HOLDS
        assert verify("wu2024:L13", x, w).outcome in (Outcome.HOLDS, Outcome.NOT_APPLICABLE)


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(4, 8),
    w=st.fractions(Fraction(21, 20), 6, max_denominator=20),
    kind=st.sampled_from(["graded", "log-concave"]),
)
def test_the_repaired_sets_are_not_left(seed: int, d: int, w: Fraction, kind: str) -> None:
    rng = np.random.default_rng(seed)
    theta = math.sqrt(1 - 1 / float(w) ** 2)
    ratios = rng.uniform(0, theta, d - 2) if kind == "graded" else np.sort(rng.uniform(0, 1.2, d - 2))
    u = np.cumprod(np.concatenate([[1.0], ratios[::-1]]))[::-1]
    t = [Fraction(int(k), 10**6) for k in np.floor(u / u.sum() * 10**6)]
    verdict = verify("wu2024:L13-repaired", on_sphere(t, int(rng.choice([-1, 1]))), w)
    assert verdict.outcome in (Outcome.HOLDS, Outcome.NOT_APPLICABLE)


@pytest.mark.parametrize(("x", "w", "named"), [([-1], 4, "x"), (POINT, 1, "w"), (POINT, math.nan, "w")])
def test_bad_input_is_refused_by_name(x: list[float], w: float, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}: "):
        verify("wu2024:L13", x, w)


def test_a_vector_of_another_length_meets_no_hypothesis() -> None:
    assert verify("wu2024:L13", [-0.6, -0.9], 4).outcome == Outcome.NOT_APPLICABLE
