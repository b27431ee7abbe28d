"""karagodin2025:4.3 and own:cluster-speed: the derivative against a flow, and the constants of the corollary."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def variance(X: np.ndarray) -> float:
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return float(1 - np.linalg.norm(unit.mean(axis=0)) ** 2)


def test_the_variance_falls_as_the_flow_says() -> None:
    """The quantity is read off the verdict: with s → 2s it halves, and it is the derivative along rm.Flow."""
    rng = np.random.default_rng(3)
    X = 0.2 * rng.standard_normal((4, 3)) + np.array([3, 0, 0])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    flow = rm.Flow(np.eye(3), query=np.eye(3), key=np.eye(3), beta=1)
    step = 1e-6
    F = flow.field(X)
    slope = (variance(X - step * F) - variance(X + step * F)) / (2 * step)
    for s in (1.0, 2.0):
        verdict = rm.verify("own:cluster-speed", np.eye(3), X, np.full(4, s))
        sides = sorted((verdict.log_lhs, verdict.log_rhs))
        assert verdict.outcome == Outcome.HOLDS
        assert any(math.exp(side) == pytest.approx(slope / s, rel=1e-7) for side in sides)


def test_the_corollary_has_its_constants() -> None:
    """δ = 1/(100n²), ‖B‖ = 1, n = 2: between 1.8 and 2.15."""
    delta, w = 1 / 400, math.sqrt(2) / 20
    assert 2 * (1 - 1.5 * delta - math.expm1(w)) > 1.8
    assert 2 * math.exp(w) < 2.15


def test_opposite_tokens_rest_and_the_added_hypothesis_excludes_them() -> None:
    pair = [[1], [-1]]
    assert rm.verify("karagodin2025:4.3", Fraction(1, 100), pair).outcome == Outcome.VIOLATED
    assert rm.verify("karagodin2025:4.3", Fraction(1), pair).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("karagodin2025:4.3", Fraction(1, 100), [[1], [2]]).outcome == Outcome.NOT_APPLICABLE
    for beta, X, name in ((0, pair, "beta"), (1, [[1]], "X")):
        with pytest.raises(rm.InvalidArgument, match=f"^{name}: "):
            rm.verify("karagodin2025:4.3", beta, X)
    with pytest.raises(rm.InvalidArgument, match=r"^X: a zero row given"):
        rm.verify("own:cluster-speed", [[1.0]], [[1.0], [0.0]], [1.0, 1.0])
