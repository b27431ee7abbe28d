"""seed:closure: products of row-stochastic matrices, exactly; what is none is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome

HALVES = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3)]]


def test_products_and_what_is_no_factor() -> None:
    verdict = rm.verify("seed:closure", [HALVES, [[0, 1], [1, 0]], HALVES])
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    with pytest.raises(rm.InvalidArgument, match=r"^P: .* stochastic is needed"):
        rm.verify("seed:closure", [HALVES, [[0.1, 0.9], [1, 0]]])
