"""Isometry: against determinants of NumPy, and the exact gain."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm


def isometry(X: np.ndarray) -> float:
    G = X @ X.T
    return float(np.linalg.det(G) ** (1 / len(G)) / (np.trace(G) / len(G)))


def test_both_sides_are_those_of_numpy() -> None:
    X = np.random.default_rng(2).standard_normal((3, 4)) * np.array([[1.0], [2.0], [0.3]])
    a = np.linalg.norm(X, axis=1)
    verdict = rm.verify("joudaki2023:isometry", X)
    assert verdict.log_lhs == pytest.approx(np.log(isometry(X) * (1 + a.var() / a.mean() ** 2)))
    assert verdict.log_rhs == pytest.approx(np.log(isometry(X / a[:, None])))
    gain = (a**2).mean() / np.exp(np.log(a).mean()) ** 2
    assert verdict.log_rhs == pytest.approx(np.log(isometry(X) * gain))


def test_dependent_tokens_are_refused() -> None:
    for bad in ([[1.0], [2.0]], [[1.0, 2.0], [2.0, 4.0]]):
        with pytest.raises(rm.InvalidArgument, match=r"^X: "):
            rm.verify("joudaki2023:isometry", bad)
