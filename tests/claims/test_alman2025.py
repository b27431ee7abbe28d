"""alman2025:one-layer: an equality for one token, and the size of what the identity misses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm


def test_one_token_is_an_equality() -> None:
    net = rm.Network.from_arrays(np.zeros((4, 1, 1, 1)), np.full((4, 1, 1, 1), 0.25), skip=1.0)
    verdict = rm.verify("alman2025:one-layer", net, np.ones((1, 1)))
    assert math.exp(verdict.log_lhs) == pytest.approx(1.25**4 - 1, rel=1e-13)
    assert verdict.ratio == pytest.approx(1, abs=1e-13)


def test_moved_is_the_largest_entry_that_changed() -> None:
    net = rm.Network.random(5, 3, 2, 2, seed=1, scale=0.1, skip=1.0)
    X = net.random_input(seed=2)
    bare = net.replace(bias=None)
    found = rm.verify("alman2025:one-layer", bare, X)
    assert math.exp(found.log_lhs) == pytest.approx(float(np.abs(rm.forward(bare, X) - X).max()), rel=1e-12)
