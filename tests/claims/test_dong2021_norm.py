"""dong2021:norm: a cross is larger than its parts together."""

from __future__ import annotations

import math

import numpy as np

import rankmath as rm
from rankmath.verification.verdict import Outcome


def test_the_cross_of_side_three() -> None:
    A = np.zeros((3, 3))
    A[0] = 1.0
    verdict = rm.verify("dong2021:norm", A, A.T, arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
    assert math.isclose(verdict.ratio, 2 * math.sqrt(3) / 4, rel_tol=1e-14)
    assert rm.verify("dong2021:norm", A, A, arithmetic="balls").outcome == Outcome.UNDECIDED
    assert rm.statements()["dong2021:norm"].exhibited().check().accepted
