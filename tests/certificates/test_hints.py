"""Whatever a hint says, what the checker concludes from it is true; the best hint makes it sharp."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.issue import exact_array
from rankmath.checker.checker import (
    Interval,
    Rejected,
    Undecided,
    Work,
    composite,
    demand_below_threshold,
    least_composite,
    lift_rows,
    sign_norm,
    spectral_norm,
    supporting_line,
)
from rankmath.linalg.exact_residuals import exact_residual_bounds

BITS = 128


def rows(A: Any) -> list[list[Fraction]]:
    return [list(row) for row in exact_array("A", A, (None, None))]


def vector(v: Any) -> list[Fraction]:
    return list(exact_array("v", v, (None,)))


@pytest.mark.parametrize("seed", range(40))
def test_any_two_vectors_enclose_the_spectral_norm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    W = rng.integers(-9, 10, (d, d))
    u, v = (2 * rng.integers(-99, 100, (2, d)) + 1) * 10 ** int(rng.integers(0, 9))
    enclosure = spectral_norm(Work(60), rows(W), {"u": vector(u), "v": vector(v)})(BITS)
    assert enclosure.lower() <= Fraction(np.linalg.norm(W, 2) * (1 + 1e-12))
    assert enclosure.upper() >= Fraction(np.linalg.norm(W, 2) * (1 - 1e-12))
    left, values, right = np.linalg.svd(W)
    sharp = spectral_norm(Work(60), rows(W), {"u": vector(left[:, 0]), "v": vector(right[0])})(BITS)
    assert float(sharp.lower()) == pytest.approx(values[0], rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_sign_norm_is_the_largest_value_of_the_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    W = rng.integers(-9, 10, (d, d))
    signs = np.array(np.meshgrid(*[[-1, 1]] * d)).reshape(d, -1)
    assert sign_norm(Work(60), rows(W)) == int((signs.T @ W @ signs).max())


def composite_at(X: Any, x: Any) -> tuple[Fraction, Fraction]:
    distances = abs(np.array(rows(X)) - np.array(vector(x))[None, :])
    return distances.sum(axis=0).max(), distances.sum(axis=1).max()


@pytest.mark.parametrize("seed", range(40))
def test_any_weights_prove_a_true_line_and_any_lines_a_true_bound(seed: int) -> None:
    """At random centers, at the best center known, and at the best center of either norm."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X = rng.integers(-9, 10, (n, d))
    tokens = lift_rows(rows(X), BITS)
    hints = [
        {"columns": vector(rng.integers(0, 5, d)), "rows": vector(rng.integers(0, 5, n) * rng.integers(0, 2))}
        for _ in range(int(rng.integers(1, 5)))
    ]
    lines = [supporting_line(Work(60), hint["columns"], hint["rows"], tokens) for hint in hints]
    bound = least_composite(Work(60), hints, tokens).lower() ** 2
    bounds = {norm: exact_residual_bounds(X, norm) for norm in ("one", "inf", "composite")}
    centers = [*rng.integers(-9, 10, (20, d)), *(b.center for b in bounds.values())]
    for x in centers:
        a, b = composite_at(X, x)
        assert all(alpha * a + beta * b >= v for alpha, beta, v in lines)
        assert a * b >= bound
    best = bounds["composite"]
    if best.dual:
        proof = [{"columns": vector(w.columns), "rows": vector(w.rows)} for w in best.dual]
        sharp = least_composite(Work(60), proof, tokens)
        assert float(sharp.lower() ** 2) == pytest.approx(float(best.upper), rel=1e-9)
        R = [[x - c for x, c in zip(row, best.center, strict=True)] for row in rows(X)]
        assert float(composite(Work(60), lift_rows(R, BITS)).upper() ** 2) == pytest.approx(
            float(best.upper), rel=1e-9
        )


def test_the_threshold_is_found_to_thirty_digits() -> None:
    """x* = 1.256431208626169676982737616609…"""
    digits = 1256431208626169676982737616609
    below, above = (Interval.of(Fraction(digits + step, 10**30), 200) for step in (0, 1))
    demand_below_threshold(below, "D")
    demand_below_threshold(Interval.of(0, 200), "D")
    with pytest.raises(Rejected, match="fails"):
        demand_below_threshold(above, "D")
    with pytest.raises(Undecided, match="too near"):
        demand_below_threshold(below.hull(above), "D")
