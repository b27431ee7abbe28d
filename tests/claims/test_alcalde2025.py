"""alcalde2025:4.2: halving steps leave a quarter of the distance; constant ones do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def test_more_than_a_quarter_is_left() -> None:
    left = Fraction(1)
    for t in range(1, 60):
        left *= 1 - Fraction(1, 2**t)
        assert left >= Fraction(1, 4) + Fraction(1, 2 ** (t + 1))
    assert float(left) == pytest.approx(0.288788095, abs=1e-9)


@pytest.mark.parametrize(("q", "outcome"), [(Fraction(1), "HOLDS"), (Fraction(9, 10), "VIOLATED")])
def test_geometric_steps(q: Fraction, outcome: str) -> None:
    verdict = rm.verify("alcalde2025:4.2", Fraction(1, 3), q)
    assert (verdict.outcome, verdict.certified) == (Outcome[outcome], True)
    if q < 1:  # what is said to be left is left, after many steps
        said = float(verdict.reason.split("at least ")[1].split()[0])
        assert 0 < said <= 1.001 * float(np.prod(1 - (1 / 3) * 0.9 ** np.arange(400)))


def test_refusals() -> None:
    for a, q, name in ((1, 1, "a"), (Fraction(1, 2), 2, "q"), (0, 1, "a")):
        with pytest.raises(rm.InvalidArgument, match=f"^{name}: "):
            rm.verify("alcalde2025:4.2", a, q)
    assert rm.verify("own:hardmax-steps", [0.5, 1.5]).outcome == Outcome.NOT_APPLICABLE
