"""own:gaussian-length and the theorem at initialisation: exact tails, and how often the bound fails."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from initialisation import exceeds


@pytest.mark.parametrize(("k", "t"), [(1, 0.0), (2, 1.0), (2, 3.5)])
def test_the_tail_of_one_and_two_dimensions_is_known(k: int, t: float) -> None:
    """k = 1: the complementary error function; k = 2: e^{−x²/2}."""
    x = math.sqrt(k) + t
    exact = math.erfc(x / math.sqrt(2)) if k == 1 else math.exp(-(x**2) / 2)
    for arithmetic in ("float64", "mpmath", "balls"):
        verdict = rm.verify("own:gaussian-length", k, t, arithmetic=arithmetic)
        assert verdict.outcome == Outcome.HOLDS
        assert math.exp(verdict.log_lhs) == pytest.approx(exact, rel=1e-12)


def test_the_bound_fails_no_more_often_than_is_proved() -> None:
    """n = 2: at most 4e^{−t²/2}. And it is not empty: with t near 0 it fails, as it must."""
    for t in (2.0, 2.5, 3.0):
        assert exceeds(np.random.default_rng(0), 2000, 2, 8, 4, t, 0.3) <= 4 * math.exp(-(t**2) / 2)
    assert exceeds(np.random.default_rng(0), 500, 2, 8, 4, 0.1, 0.3) > 0.5


def test_the_number_of_events_is_below_a_quarter_of_the_fourth_power() -> None:
    assert all(n * (n - 1) + (n * (n - 1) // 2) ** 2 <= n**4 / 4 for n in range(2, 200))
    with pytest.raises(rm.InvalidArgument, match=r"^t: "):
        rm.verify("own:gaussian-length", 1, -1.0)
