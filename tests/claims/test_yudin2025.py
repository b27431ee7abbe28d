"""yudin2025:softmax: equality where all shares but the largest agree, and what it implies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankmath as rm
from rankmath.verification.verdict import Outcome


def norm_and_bound(p: np.ndarray) -> tuple[float, float]:
    p = np.sort(p)[::-1]
    return float(np.linalg.norm(np.diag(p) - np.outer(p, p), 2)), float(p[0] * (1 - p[0] + p[1]))


@given(c=st.lists(st.floats(-8, 8), min_size=2, max_size=9), T=st.floats(0.1, 5))
def test_the_quantities_are_those_of_numpy(c: list[float], T: float) -> None:
    p = np.exp(np.array(c) / T - max(c) / T)
    norm, bound = norm_and_bound(p / p.sum())
    verdict = rm.verify("yudin2025:softmax", c, T)
    assert verdict.outcome != Outcome.VIOLATED
    assert math.exp(verdict.log_rhs) == pytest.approx(bound / T, rel=1e-9)
    assert math.exp(verdict.log_lhs) == pytest.approx(norm / T, rel=1e-7, abs=1e-12)
    assert bound <= 0.5 + 1e-12


@pytest.mark.parametrize("others", [1, 2, 5])
@pytest.mark.parametrize("first", [0.3, 0.5, 0.9])
def test_equality(first: float, others: int) -> None:
    rest = (1 - first) / others
    if first >= rest:
        norm, bound = norm_and_bound(np.array([first, *[rest] * others, 0.0]))
        assert norm == pytest.approx(bound, rel=1e-13)


def test_three_different_shares_are_strictly_below() -> None:
    norm, bound = norm_and_bound(np.array([0.5, 0.3, 0.2]))
    assert norm < 0.99 * bound


def test_the_attention_half_against_numpy() -> None:
    """Both bounds, and the two largest shares, by their formulas; centring never hurts."""
    rng = np.random.default_rng(5)
    M, W, X = rng.standard_normal((3, 3)), rng.standard_normal((3, 3)), rng.standard_normal((4, 3))
    bare = rm.Network.from_arrays(M[None, None], W[None, None], d_qk=1)
    S = np.exp(X @ M @ X.T)
    P = S / S.sum(axis=1, keepdims=True)
    top = np.sort(P, axis=1)[:, ::-1]
    kappa = float((top[:, 0] * (1 - top[:, 0] + top[:, 1])).max())

    def norm(A: np.ndarray) -> float:
        return float(np.linalg.norm(A, 2))

    centred = norm(X - X.mean(axis=0))
    bounds = {
        "yudin2025:attention": norm(W) * (norm(P) + 2 * norm(M) * kappa * norm(X) ** 2),
        "own:attention-shares": norm(W) * (norm(P) + norm(M) * kappa * centred * (centred + norm(X))),
    }
    for key, bound in bounds.items():
        verdict = rm.verify(key, bare, X)
        assert verdict.outcome == Outcome.HOLDS
        assert math.exp(verdict.log_rhs) == pytest.approx(bound, rel=1e-12)
    assert bounds["own:attention-shares"] <= bounds["yudin2025:attention"]
