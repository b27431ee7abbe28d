"""chen2026: both formulas against tokens, and their three limits."""

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


def mean_square(n: int, d: int, gamma: float, beta: float) -> float:
    rho = math.exp(-beta * (1 - gamma))
    a, sigma = 1 / (1 + (n - 1) * rho), 1 + (n - 1) * gamma
    b = rho * a
    e = 1 - 2 * (a - b) * gamma + (a - b) ** 2 - n * b**2 * sigma
    linear = (1 - gamma) * ((1 + gamma) * (a - b * (a - b)) - b * sigma * (a + b))
    square = (1 - gamma) * (2 * (1 + gamma) * e + (n - 2) * gamma * (e - 1 + gamma))
    whole = (a**2 + (n - 1) * b**2) * (d - 1) + 2 * beta * (n - 1) * b * linear + beta**2 * (n - 1) * b**2 * square
    return whole / d


@pytest.mark.parametrize(("n", "d", "gamma", "beta"), [(2, 3, -0.4, 0.7), (4, 4, 0.3, 1.7), (3, 5, 0.6, 2.5)])
def test_the_derivative_is_that_of_attention(n: int, d: int, gamma: float, beta: float) -> None:
    """By complex steps: the imaginary part is the derivative, and no digit cancels."""
    X = np.zeros((n, d), dtype=complex)
    X[:, :n] = math.sqrt(2) * np.linalg.cholesky(np.full((n, n), gamma) + (1 - gamma) * np.eye(n))

    def moved(i: int, a: int) -> float:
        Z = X.copy()
        Z[i, a] += 1e-30j
        Y = Z / np.sqrt((Z * Z).sum(axis=1, keepdims=True))
        P = np.exp(beta * Y @ Y.T)
        return float((((P / P.sum(axis=1, keepdims=True) @ Y).imag / 1e-30) ** 2).sum())

    eta = sum(moved(i, a) for i in range(n) for a in range(d)) / (n * d)
    assert 2 * eta == pytest.approx(mean_square(n, d, gamma, beta), rel=1e-12)


def test_three_limits() -> None:
    gamma, n = 0.5, 10**12
    for g, limit, slope in ((1.0, 1.0, 0.0), (2.0, 4 * gamma / (1 + 3 * gamma), 0.25), (3.0, gamma, 1.0)):
        assert cosine_after(n, gamma, n ** (-g * (1 - gamma))) == pytest.approx(limit, abs=1e-5)
        assert mean_square(n, n, gamma, g * math.log(n)) == pytest.approx(slope, abs=1e-5)
    far = [n * (mean_square(n, n, gamma, 2 * math.log(n)) - 0.25 * (1 - 1 / n)) for n in (10**6, 10**12)]
    assert all(
        abs(x - gamma * math.log(n) ** 2 / 16) < 2 * math.log(n) for x, n in zip(far, (10**6, 10**12), strict=True)
    )


def test_exact_and_refusals() -> None:
    assert rm.verify("chen2026:2.1", Fraction(1, 3), Fraction(2, 7), 6).outcome == Outcome.HOLDS
    assert rm.verify("chen2026:2.4", Fraction(1, 3), Fraction(2, 7), Fraction(5, 3), 4, 5).outcome == Outcome.HOLDS
    for gamma, rho, m in ((-1, Fraction(1, 2), 2), (2, 1, 3), (0, 0, 3)):
        assert rm.verify("chen2026:2.1", gamma, rho, m).outcome == Outcome.NOT_APPLICABLE
        assert rm.verify("chen2026:2.4", gamma, rho, 1, m, 9).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("chen2026:2.4", Fraction(1, 3), 1, 1, 4, 3).outcome == Outcome.NOT_APPLICABLE
