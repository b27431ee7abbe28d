"""Dispersion: both sides against a softmax written out."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def test_one_large_logit_attains_the_bound() -> None:
    c = np.array([2.0, 0.0, 0.0, 0.0])
    p = np.exp(c) / np.exp(c).sum()
    verdict = rm.verify("own:dispersion", c)
    assert np.exp(verdict.log_lhs) == pytest.approx(p[0])
    assert np.exp(verdict.log_rhs) == pytest.approx(np.exp(2) / (np.exp(2) + 3))
    assert verdict.outcome == Outcome.UNDECIDED  # an equality
    assert rm.verify("velickovic2024:2.2", c, arithmetic="balls").outcome == Outcome.HOLDS


def test_the_lower_bound_counts() -> None:
    verdict = rm.verify("own:dispersion", [-2.0, 0.0, 0.0, 0.1])
    assert np.exp(verdict.log_lhs) == pytest.approx(1 / (1 + 3 * np.exp(2.1)))
    with pytest.raises(rm.InvalidArgument, match=r"^c: "):
        rm.verify("own:dispersion", [1.0])
