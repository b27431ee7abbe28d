"""own:residual-inf: two tokens ±a in closed form, layer by layer."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


@pytest.mark.parametrize("a", [0.05, 0.5])
def test_two_tokens_in_closed_form(a: float) -> None:
    """ω = 1: the quotient is what is left of ±a, over a to the 3^L."""
    for layers in (1, 2):
        ones = np.ones((layers, 1, 1, 1))
        verdict = rm.verify("own:residual-inf", rm.Network.from_arrays(ones, ones), [[a], [-a]], arithmetic="balls")
        left = a
        for _ in range(layers):
            left *= math.tanh(left**2)
        assert verdict.outcome == Outcome.HOLDS
        assert math.isclose(verdict.ratio, left / a ** (3**layers), rel_tol=1e-9)
