"""Kernels carried into one another: factors against NumPy's, and negative entries where correlation falls."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.balls import ball, precision
from rankmath.claims.he2023 import _carries, _exponential, _factor, _uniform
from rankmath.verification.verdict import Outcome


@pytest.mark.parametrize("kernel", [_uniform, _exponential])
def test_factors_and_signs(kernel: object) -> None:
    a, b = Fraction(2, 5), Fraction(3, 5)
    S = np.asarray(kernel(5, a), dtype=float)  # type: ignore[operator]
    with precision(128):
        L = _factor([[ball(x) for x in row] for row in kernel(5, a)])  # type: ignore[operator]
    assert np.allclose([[float(x) for x in row] for row in L], np.linalg.cholesky(S))
    carried = np.linalg.cholesky(np.asarray(kernel(5, b), dtype=float)) @ np.linalg.inv(np.linalg.cholesky(S))  # type: ignore[operator]
    assert carried.min() > -1e-12
    assert _carries(kernel(5, a), kernel(5, b)).holds is True  # type: ignore[operator]
    assert _carries(kernel(5, b), kernel(5, a)).holds is False  # type: ignore[operator]


@pytest.mark.parametrize("key", ["he2023:u-spa", "he2023:e-spa"])
def test_correlation_must_grow(key: str) -> None:
    assert rm.verify(key, Fraction(1, 2), Fraction(1, 3), 4).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify(key, Fraction(1, 3), Fraction(1, 2), 12).outcome == Outcome.HOLDS
    with pytest.raises(rm.InvalidArgument, match=r"^b: 1 given; < 1 is needed"):
        rm.verify(key, Fraction(1, 3), 1, 4)
