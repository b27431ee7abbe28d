"""Eigenvalues of attention, against NumPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.formula.arrays import ArrayRun
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.verdict import Outcome

CYCLIC = [[Fraction(k, 10) for k in row] for row in ([1, 8, 1], [1, 1, 8], [8, 1, 1])]


def test_the_cyclic_matrix_has_eigenvalues_that_are_not_real() -> None:
    values = np.linalg.eigvals(np.asarray(CYCLIC, dtype=float))
    assert sorted(values.imag)[-1] == pytest.approx(7 * 3**0.5 / 20)
    assert rm.verify("folk:spectrum-real", CYCLIC).outcome == Outcome.VIOLATED
    flat = [[Fraction(1, 3)] * 3] * 3  # a double eigenvalue 0
    assert rm.verify("folk:spectrum-real", flat).outcome == Outcome.HOLDS


def test_exact_root_counting_agrees_with_numpy() -> None:
    batch = rm.statements()["folk:spectrum-real"].draws[0](np.random.default_rng(3), 20)
    for i in range(20):
        A = batch.select(i)["A"]
        real = bool((abs(np.linalg.eigvals(A.astype(float)).imag) < 1e-7).all())
        assert (rm.verify("folk:spectrum-real", A).outcome == Outcome.HOLDS) == real


def test_two_tokens_attain_dobrushins_coefficient() -> None:
    verdict = rm.verify("own:spectrum", [[1.0, 0.0], [0.3, -0.2]])
    assert verdict.log_lhs == pytest.approx(verdict.log_rhs, abs=1e-12)
    P = np.exp([[1.0, 0.0], [0.3, -0.2]])
    P /= P.sum(axis=1, keepdims=True)
    assert np.exp(verdict.log_lhs) == pytest.approx(abs(P[0, 0] - P[1, 0]))


def test_kernels_must_be_symmetric() -> None:
    assert rm.verify("own:spectrum-symmetric", [[1, 2], [3, 4]]).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("own:spectrum-symmetric", [[1, 2], [2, 4]]).outcome == Outcome.HOLDS
    with pytest.raises(rm.InvalidArgument, match=r"^K: "):
        rm.verify("own:spectrum-symmetric", [[1, 0], [0, 1]])


def test_every_row_sums_to_one_and_every_entry_is_positive() -> None:
    half = Fraction(1, 2)
    cases = (([[half, half], [half, half]], True), ([[half, half], [half, 1]], False), ([[1, 1], [half, half]], False))
    for rows, truth in (*cases, ([[half, half], [Fraction(0), Fraction(1)]], False)):
        run = ArrayRun(Float64(np.zeros(1)), ArrayInstance({"A": np.array(rows, dtype=object)}))
        assert run.by_text("positive_stochastic", ("A",)).holds is truth
