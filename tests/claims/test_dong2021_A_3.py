"""dong2021:A.3: its hypothesis is needed, and the bound is attained at the threshold."""

from __future__ import annotations

import math

import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome

THRESHOLD = 1.2564312086261697  # e^x = 1 + 2x


@pytest.mark.parametrize("D", [1.25, 2.0])
def test_one_key_with_little_weight_gains_nearly_e_to_the_D(D: float) -> None:
    verdict = rm.verify("dong2021v1:A.3", [0.0, -40.0], [[0.0, D]], arithmetic="balls")
    assert verdict.outcome == (Outcome.HOLDS if D < THRESHOLD else Outcome.VIOLATED)
    assert math.isclose(verdict.ratio, (math.exp(D) - 1) / (2 * D), rel_tol=1e-12)
    known = rm.verify("dong2021:A.3", [0.0, -40.0], [[0.0, D]], arithmetic="balls").outcome
    assert known == (Outcome.HOLDS if D < THRESHOLD else Outcome.NOT_APPLICABLE)
