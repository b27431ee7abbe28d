"""Kernels carried into one another: factors against NumPy's, and negative entries where correlation falls."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.balls import Balls, precision
from rankmath.formula.arrays import ArrayRun
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.verdict import Outcome

#: Each predicate with its kernel, as NumPy has it.
KERNELS = {
    "carries_uniform": lambda n, rho: np.eye(n) + rho * (1 - np.eye(n)),
    "carries_exponential": lambda n, a: a ** np.abs(np.subtract.outer(np.arange(n), np.arange(n))),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("a", "b"), [(Fraction(2, 5), Fraction(3, 5)), (Fraction(3, 5), Fraction(2, 5))])
def test_factors_and_signs(name: str, a: Fraction, b: Fraction) -> None:
    rm.statements()  # the claims' own words are known once they are loaded
    first, second = (np.linalg.cholesky(KERNELS[name](5, float(x))) for x in (a, b))
    carried = second @ np.linalg.inv(first)
    with precision(128):
        run = ArrayRun(Balls(), ArrayInstance({"a": np.asarray(a), "b": np.asarray(b), "size": np.asarray(5)}))
        found = run.by_text(name, ("a", "b", "size")).holds
    assert found is bool(carried.min() > -1e-12) is (a < b)


@pytest.mark.parametrize("key", ["he2023:u-spa", "he2023:e-spa"])
def test_correlation_must_grow(key: str) -> None:
    assert rm.verify(key, Fraction(1, 2), Fraction(1, 3), 4).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify(key, Fraction(1, 3), Fraction(1, 2), 12).outcome == Outcome.HOLDS
    with pytest.raises(rm.InvalidArgument, match=r"^b: 1 given; < 1 is needed"):
        rm.verify(key, Fraction(1, 3), 1, 4)
