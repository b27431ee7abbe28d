"""wu2024:3, wu2024:4.3.1 and wu2024:anisotropy: equilibria under W_V = I + wS and the causal mask."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from rankmath.decide.battery import verify
from rankmath.equilibria.map import normalise, orbit
from rankmath.equilibria.wu2024 import shift_equilibrium, two_token_example
from rankmath.verification.verdict import Outcome


def test_two_tokens_at_five_thirds() -> None:
    verdict = verify("wu2024:4.3.1", Fraction(5, 3))
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    example = two_token_example(Fraction(5, 3))
    assert [e.multiplier for e in example.equilibria] == [Fraction(1, 2), Fraction(9, 5), Fraction(1, 5)]


def test_the_coupled_basin_of_the_stable_token_with_its_mirror_image() -> None:
    """Random pairs of starts, both tokens moving: 4 to 11 % end at B or at −B; by symmetry B has half."""
    starts = normalise(np.random.default_rng(0).standard_normal((2000, 2, 2)), "sphere")
    W_V = np.array([[1.0, 5 / 3], [0.0, 1.0]])
    path = orbit(starts, W_V, np.zeros((2, 2)), np.tril(np.ones((2, 2))), "sphere", 500)
    last = deque(path, maxlen=1).pop()
    B = np.array([[0.0, 1.0], [-0.6, -0.8]])
    own, mirror = (int((np.abs(last - sign * B).max(axis=(1, 2)) < 1e-2).sum()) for sign in (1, -1))
    interval = binomtest(own + mirror, len(starts)).proportion_ci(confidence_level=0.99, method="exact")
    assert 0.04 < interval.low < interval.high < 0.11
    assert binomtest(own, own + mirror).pvalue > 0.01


def test_all_ranks_under_one_value_matrix() -> None:
    verdict = verify("wu2024:3", [6, 5], w=7)
    assert verdict.outcome == Outcome.HOLDS
    assert "ranks 1 to 5" in verdict.reason


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 4), (5, 3), (6, 2)])
def test_anisotropy_is_that_of_the_exact_equilibria(n: int, k: int) -> None:
    w = n + 0.5
    X = shift_equilibrium(n, k, k, w).floats()[0]
    verdict = verify("wu2024:anisotropy", n, k, w)
    assert math.exp(verdict.log_lhs) == pytest.approx(n - np.linalg.norm(X, 2) ** 2, rel=1e-9)
    m = n - k + 1
    assert math.exp(verdict.log_rhs) == pytest.approx((m * m + k - 2) / w**2, rel=1e-12)
    assert verify("wu2024:anisotropy", n, k, w, arithmetic="balls").outcome == Outcome.HOLDS


def test_the_bound_of_full_rank_is_for_full_rank() -> None:
    """n = 3, k = 2: ‖X‖₂² < 3 − 2/w²."""
    for w in (2.1, 3.0, 10.0):
        X = shift_equilibrium(3, 2, 2, w).floats()[0]
        assert 3 / np.linalg.norm(X, 2) ** 2 > 3 / (3 - 2 / w**2) * (1 + 1e-12)


def test_anisotropy_needs_a_wide_shift() -> None:
    for arithmetic in ("float64", "balls"):
        assert verify("wu2024:anisotropy", 4, 4, 2.0, arithmetic=arithmetic).outcome == Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("key", "given", "named"),
    [
        ("wu2024:4.3.1", (1,), "w"),
        ("wu2024:4.3.1", (math.nan,), "w"),
        ("wu2024:4.3.1", ("5/3",), "w"),
        ("wu2024:3", ([0, 3], 2), "sizes"),
        ("wu2024:anisotropy", (3, 4, 5.0), "rank"),
        ("wu2024:anisotropy", (3, 3, math.inf), "w"),
    ],
)
def test_bad_input_is_refused_by_name(key: str, given: tuple[Any, ...], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}: "):
        verify(key, *given)
