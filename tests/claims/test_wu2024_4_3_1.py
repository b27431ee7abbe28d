"""wu2024:4.3.1: three equilibria of the second token; w > 1."""

from __future__ import annotations

from fractions import Fraction

import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def test_equilibria_at_five_thirds_and_beyond() -> None:
    verdict = rm.verify("wu2024:4.3.1", Fraction(5, 3))
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    assert "s = 4/5" in verdict.reason  # √(1 − 9/25)
    assert rm.certify("wu2024:4.3.1", Fraction(5, 3)).check().accepted
    with pytest.raises(rm.InvalidArgument, match=r"^w: 1 given; > 1 is needed"):
        rm.verify("wu2024:4.3.1", 1)
