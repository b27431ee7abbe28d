"""The least entropy: attained as the proof says, and never undercut on a grid of spheres."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def entropy(u: np.ndarray) -> np.ndarray:
    e = np.exp(u - u.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1)


def floor(T: int, sigma: float) -> float:
    beta = np.exp(-sigma * np.sqrt(T / (T - 1)))
    return float(np.log1p((T - 1) * beta) + sigma * np.sqrt(T * (T - 1)) * beta / (1 + (T - 1) * beta))


@pytest.mark.parametrize("T", [2, 3, 4, 7])
@pytest.mark.parametrize("sigma", [0.3, 2.0, 6.0])
def test_no_logits_of_that_norm_have_less_entropy(T: int, sigma: float) -> None:
    best = np.full(T, -1 / np.sqrt(T * (T - 1)))
    best[0] = np.sqrt((T - 1) / T)
    assert entropy(sigma * best) == pytest.approx(floor(T, sigma), rel=1e-12)
    u = np.random.default_rng(T).standard_normal((4000, T))
    # Half of them near logits of two values, where other critical points lie.
    u[::2] = np.sign(u[::2]) + 0.1 * u[1::2]
    u *= sigma / np.linalg.norm(u, axis=1, keepdims=True)
    assert entropy(u).min() >= floor(T, sigma) * (1 - 1e-12)


def test_both_sides_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    X, W = rng.standard_normal((4, 3)), rng.standard_normal((3, 3))
    verdict = rm.verify("zhai2023:3.1", X, W)
    sigma = np.linalg.norm(W, 2) * np.linalg.norm(X @ X.T, 2)
    assert verdict.log_lhs == pytest.approx(np.log(floor(4, sigma)))
    assert verdict.log_rhs == pytest.approx(np.log(entropy(X @ W @ X.T).min()))


def test_the_order_fails_only_for_large_logits() -> None:
    assert rm.verify("folk:entropy-order", 2, 1.0, 1e-3, arithmetic="balls").outcome == Outcome.HOLDS
    assert rm.verify("folk:entropy-order", 2, 30.0, 1e-3, arithmetic="balls").outcome == Outcome.VIOLATED
    with pytest.raises(rm.InvalidArgument, match=r"^T: 1.0 given; >= 2 is needed"):
        rm.verify("folk:entropy-order", 1, 1.0, 1.0)
