"""dong2021:2.2, 2.3 and own:composite: two tokens ±a, of which one layer makes ±a tanh(a²)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome

ONE = np.ones((1, 1, 1, 1))


@pytest.mark.parametrize("a", [0.05, 0.5])
@pytest.mark.parametrize(("key", "factor"), [("dong2021:2.2", 8), ("dong2021:2.3", 8), ("own:composite", 4)])
def test_two_tokens_in_closed_form(key: str, factor: int, a: float) -> None:
    """‖·‖_{1,∞} of ±a is √2 a, γ = 1 and β = B = 1: the quotient is tanh(a²)/(factor·a²)."""
    verdict = rm.verify(key, rm.Network.from_arrays(ONE, ONE), [[a], [-a]], arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
    assert math.isclose(verdict.ratio, math.tanh(a**2) / (factor * a**2), rel_tol=1e-9)
