"""Reachable attention: the exact criterion against least squares, and ranks against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def solvable(X: np.ndarray, L: np.ndarray) -> bool:
    """Whether XWXᵀ − c1ᵀ = L has a solution, by least squares over W and c."""
    n, d = X.shape
    columns = [np.outer(X[:, i], X[:, j]).ravel() for i in range(d) for j in range(d)]
    columns += [np.outer(e, np.ones(n)).ravel() for e in np.eye(n)]
    M = np.stack(columns, axis=1)
    found = np.linalg.lstsq(M, L.ravel(), rcond=None)[0]
    return bool(np.abs(M @ found - L.ravel()).max() < 1e-8)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_criterion_is_that_the_system_has_a_solution(d: int) -> None:
    from rankmath.claims.bhojanapalli2020 import _reachable

    rng = np.random.default_rng(d)
    for trial in range(6):
        X = rng.integers(-5, 6, (3, d))
        W = rng.integers(-3, 4, (d, d))
        L = X @ W @ X.T + rng.integers(-4, 5, (3, 1)) if trial % 2 else rng.integers(-4, 5, (3, 3))
        exact = rm.statements()["bhojanapalli2020:1"].instance(X, L)
        assert _reachable(exact["X"], exact["L"]) == solvable(X.astype(float), L.astype(float))


def test_hypotheses_are_asked_for() -> None:
    assert rm.verify("bhojanapalli2020:1", [[1], [2]], [[0, 1], [2, 3]]).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("own:low-rank-every-input", [[1], [2]]).outcome == Outcome.HOLDS
    assert rm.verify("own:low-rank-every-input", [[1, 0], [0, 1]]).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("own:softmax-rank", [1, 1], [1, 2]).outcome == Outcome.NOT_APPLICABLE


def test_head_size_one_gives_full_rank() -> None:
    q, k = np.array([0.0, 1.0, 2.0]), np.log([1.0, 2.0, 5.0])
    P = np.exp(np.outer(q, k))
    P /= P.sum(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(P) == 3
    assert rm.verify("own:softmax-rank", [0, 1, 2], [1, 2, 5]).outcome == Outcome.HOLDS
    assert rm.verify("folk:softmax-rank", [0, 1, 2], [1, 2, 5]).outcome == Outcome.VIOLATED
    assert rm.verify("folk:softmax-rank", [1, 1, 1], [1, 2, 5]).outcome == Outcome.HOLDS
