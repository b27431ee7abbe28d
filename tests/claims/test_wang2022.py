"""The low-pass filter: the criterion decides as the ratio itself does, computed far out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.linalg.stochastic import stationary
from rankmath.verification.verdict import Outcome

A = [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]]


def ratio(A: np.ndarray, z: np.ndarray, t: int) -> float:
    y = np.linalg.matrix_power(A, t) @ z
    return float(np.linalg.norm(y - y.mean()) / (np.sqrt(len(y)) * abs(y.mean())))


def test_the_ratio_of_the_counterexample_is_five_at_every_step() -> None:
    y = np.asarray([2, -3], dtype=object)
    for _ in range(5):
        y = np.asarray(A, dtype=object) @ y
        high, low = (y[0] - y[1]) ** 2 / 2, (y[0] + y[1]) ** 2 / 2
        assert high == 25 * low
    assert rm.verify("wang2022:1", A, [2, -3]).outcome == Outcome.VIOLATED
    assert rm.verify("wang2022:1", A, [2, -2]).outcome == Outcome.HOLDS


@pytest.mark.parametrize("blind", [False, True])
def test_the_criterion_is_what_the_ratio_does(blind: bool) -> None:
    entry = rm.statements()["wang2022:1"]
    batch = entry.draws[0 if blind else 1](np.random.default_rng(4), 6)
    for i in range(6):
        one = batch.select(i)
        M, z = one["A"], one["z"]
        assert sum(stationary(M)) == 1
        assert (np.asarray(stationary(M), dtype=object) @ M == stationary(M)).all()
        far = ratio(M.astype(float), z.astype(float), 3) if blind else ratio(M.astype(float), z.astype(float), 200)
        assert (far > 1e-3) if blind else (far < 1e-9)


def test_bad_matrices_are_refused_by_name() -> None:
    for bad in ([[1, 0], [Fraction(1, 2), Fraction(1, 2)]], [[Fraction(1, 2), Fraction(1, 3)], [1, 1]]):
        with pytest.raises(rm.InvalidArgument, match=r"^A: "):
            rm.verify("wang2022:1", bad, [1, 2])
    with pytest.raises(rm.InvalidArgument, match=r"^A: "):
        stationary([[1, 0], [0, 1]])
