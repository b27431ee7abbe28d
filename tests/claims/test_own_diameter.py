"""own:diameter: two tokens ±a attain it; own:diameter-cubic by tanh(a²)/a² less."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


@pytest.mark.parametrize("a", [0.05, 0.5])
def test_two_tokens_in_closed_form(a: float) -> None:
    """One layer makes ±a tanh(a²) of them, and 2a tanh((2a)²/4) is the bound."""
    net = rm.Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)))
    assert math.isclose(rm.verify("own:diameter", net, [[a], [-a]]).ratio, 1.0, rel_tol=1e-12)
    cubic = rm.verify("own:diameter-cubic", net, [[a], [-a]], arithmetic="balls")
    assert cubic.outcome == Outcome.HOLDS
    assert math.isclose(cubic.ratio, math.tanh(a**2) / a**2, rel_tol=1e-9)
