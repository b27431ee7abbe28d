"""Residuals in closed form against the linear programs that prove both sides."""

from __future__ import annotations

import numpy as np
import pytest

from rankmath.linalg.residual_values import residual_above, residual_inf, residual_one
from rankmath.linalg.residuals import residual


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_closed_forms_are_the_values_of_the_programs(n: int, d: int) -> None:
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((6, n, d)) * 10.0 ** rng.uniform(-5, 3, (6, 1, 1)) + rng.standard_normal((6, 1, d))
    X[0] = np.sign(X[0])
    for values, norm in ((residual_one(X), "one"), (residual_inf(X), "inf")):
        for value, tokens in zip(values, X, strict=True):
            exact = residual(tokens, norm=norm)
            assert exact.lower_bound * (1 - 1e-9) <= value <= exact.value * (1 + 1e-9) + 1e-300
    for value, tokens in zip(residual_above(X, "composite"), X, strict=True):
        assert value >= residual(tokens, norm="composite").lower_bound * (1 - 1e-9)
