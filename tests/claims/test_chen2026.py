"""chen2026:2.1: the formula against tokens, and its three limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def cosine_after(n: int, gamma: float, rho: float) -> float:
    gap = (1 - rho) ** 2 * (1 - gamma)
    return 1 - gap / ((1 - rho) ** 2 + rho * (2 - 2 * rho + n * rho) * (1 + (n - 1) * gamma))


@pytest.mark.parametrize("gamma", [-0.2, 0.0, 0.4, 0.9])
def test_the_formula_is_what_a_network_does(gamma: float) -> None:
    n, beta = 5, 1.3
    X = np.linalg.cholesky(np.full((n, n), gamma) + (1 - gamma) * np.eye(n))
    eye = np.eye(n)[None, None]
    net = rm.Network.from_arrays(beta * eye, eye, d_qk=1)
    Y = rm.forward(net, X)
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    found = (Y @ Y.T)[np.triu_indices(n, 1)]
    assert found == pytest.approx(np.full(10, cosine_after(n, gamma, math.exp(-beta * (1 - gamma)))), abs=1e-13)


def test_three_limits() -> None:
    gamma, n = 0.5, 10**12
    for g, limit in ((1.0, 1.0), (2.0, 4 * gamma / (1 + 3 * gamma)), (3.0, gamma)):
        assert cosine_after(n, gamma, n ** (-g * (1 - gamma))) == pytest.approx(limit, abs=1e-5)


def test_exact_and_refusals() -> None:
    assert rm.verify("chen2026:2.1", Fraction(1, 3), Fraction(2, 7), 6).outcome == Outcome.HOLDS
    for gamma, rho, m in ((-1, Fraction(1, 2), 2), (2, 1, 3), (0, 0, 3)):
        assert rm.verify("chen2026:2.1", gamma, rho, m).outcome == Outcome.NOT_APPLICABLE
