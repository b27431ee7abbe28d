"""wu2024:anisotropy: the spectral gap of two tokens in closed form."""

from __future__ import annotations

import math

import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


@pytest.mark.parametrize("w", [1.25, 4.0])
def test_two_tokens_have_the_gap_that_their_angle_gives(w: float) -> None:
    """The Gram matrix of (0, 1) and (−1/w, ±√(1 − 1/w²)) has the largest eigenvalue 1 + √(1 − 1/w²)."""
    verdict = rm.verify("wu2024:anisotropy", 2, 2, w, arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
    assert math.isclose(verdict.ratio, (1 - math.sqrt(1 - 1 / w**2)) * w**2, rel_tol=1e-12)
    assert rm.verify("wu2024:anisotropy", 3, 2, 1.5).outcome == Outcome.NOT_APPLICABLE
