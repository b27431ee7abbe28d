"""The tests that proofs of equilibria end in, where they are just passed and where they are just not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat

from rankmath.arithmetic.balls import precision
from rankmath.equilibria.attraction import _LyapunovNorm
from rankmath.equilibria.balls import identity
from rankmath.equilibria.proofs import Inconclusive, _closes, _invariant_graph


def matrix(rows: list[list[float]], radius: float = 0.0) -> arb_mat:
    return arb_mat([[arb(x, radius) for x in row] for row in rows])


@pytest.mark.parametrize(
    ("Y", "residual", "slope", "spread", "closes"),
    [
        # One number, radius 1/4: |Y g| + |1 - Y g'| r < r.
        ([[1]], [0.124], [[0.5]], 0, True),
        ([[1]], [0.126], [[0.5]], 0, False),
        ([[1]], [-0.126], [[1.5]], 0, False),
        ([[1]], [0.124], [[1]], 0.5, True),
        ([[1]], [0.126], [[1]], 0.5, False),
        ([[2]], [0.0624], [[0.25]], 0, True),
        ([[2]], [0.0626], [[0.25]], 0, False),
        ([[0]], [0], [[1]], 0, False),  # a singular Y shows nothing
        # The sums are over rows.
        ([[1, 0], [0, 1]], [0.2, 0], [[1, 0], [0.3, 1]], 0, True),
        ([[1, 0], [0, 1]], [0, 0.2], [[1, 0], [0.3, 1]], 0, False),
        ([[1, 0], [0, 1]], [0, 0.17], [[1, 0], [0.3, 1]], 0, True),
        ([[1, 0], [0, 1]], [0, 0], [[1, 0.4], [0.3, 1]], 0.25, True),
        ([[1, 0], [0, 1]], [0, 0], [[1, 0.6], [0.3, 1]], 0.25, False),
        ([[0, 1], [1, 0]], [0.2, 0.1], [[0, 1], [1, 0]], 0, True),
    ],
)
def test_krawczyk_in_balls(Y: Any, residual: Any, slope: Any, spread: float, closes: bool) -> None:
    points = matrix([[x] for x in residual])
    assert _closes(matrix(Y), points, matrix(slope, spread), arb(1) / 4) == closes
    assert not _closes(matrix(Y), matrix([[x] for x in residual], 0.25), matrix(slope, spread), arb(1) / 4)


class Linear:
    """X -> X J, and the box its derivative was last asked about."""

    def __init__(self, J: arb_mat) -> None:
        self.J, self.asked = J, arb_mat(1, 2)

    def jacobian(self, box: arb_mat) -> arb_mat:
        self.asked = box
        return self.J


def norm_of(J: list[list[float]], drift: float = 0.03, exact: float = 1.0, scale: float = 2.0) -> _LyapunovNorm:
    F: Any = Linear(matrix(J))
    R = identity(2) * arb(scale)
    return _LyapunovNorm(F, matrix([[1, 2]]), R, R.inv(), arb(exact), 0.25, Fraction(1, 2), arb(drift))


def test_a_contraction_in_balls_is_shown_up_to_its_bounds() -> None:
    """rate 1/2, R = 2I, S = I/2, so that |S|_F = 1/sqrt(2)."""
    calm = [[0.4, 0.0], [0.0, 0.4]]
    small = Fraction(1, 1000)
    found = norm_of(calm).attraction(Fraction(1, 10), small)
    assert found is not None
    assert 0.1414 < found.ball <= 0.1 * np.sqrt(2)
    assert (found.radius, found.rate) == (Fraction(1, 10), Fraction(1, 2))
    # The drift 0.03 stays below (1 - rate) radius from radius 0.06 on.
    assert norm_of(calm).attraction(Fraction(61, 1000), small) is not None
    assert norm_of(calm, exact=0.9).attraction(Fraction(67, 1000), small) is not None
    for exact, radius in ((1.0, Fraction(59, 1000)), (0.9, Fraction(66, 1000))):
        with pytest.raises(Inconclusive):
            norm_of(calm, exact=exact).attraction(radius, small)
    # The box of the equilibrium: its diagonal below radius/|S|_F, that is its half-width below the radius.
    assert norm_of(calm).attraction(Fraction(1, 10), Fraction(99, 1000)) is not None
    with pytest.raises(Inconclusive):
        norm_of(calm).attraction(Fraction(1, 10), Fraction(101, 1000))
    # The slope below exact * rate, whatever its direction.
    for J, exact, shown in (
        ([[0.49, 0.0], [0.0, 0.1]], 1.0, True),
        ([[0.51, 0.0], [0.0, 0.1]], 1.0, False),
        ([[0.1, 0.0], [0.0, -0.51]], 1.0, False),
        ([[0.0, 0.51], [0.0, 0.0]], 1.0, False),
        ([[0.44, 0.0], [0.0, 0.1]], 0.9, True),
        ([[0.46, 0.0], [0.0, 0.1]], 0.9, False),
    ):
        assert (norm_of(J, exact=exact).attraction(Fraction(1, 10), small) is not None) == shown


def test_the_slope_is_taken_over_a_box_around_the_whole_set() -> None:
    """The entries of R z, |z| <= r, reach the lengths of R's rows times r."""
    F: Any = Linear(matrix([[1, 0], [0, 1]]))
    R = matrix([[1, 2], [0, 1]])
    norm = _LyapunovNorm(F, matrix([[1, 2]]), R, R.inv(), arb(1), 0.0, Fraction(1, 2), arb(0))
    slope = norm.slope(arb(0.1))
    assert all(slope[i, j].contains(arb(int(i == j))) for i in range(2) for j in range(2))
    for at, reach, middle in ((0, 0.1 * 5**0.5, 1), (1, 0.1, 2)):
        box = F.asked.entries()[at]
        assert float(box.mid()) == pytest.approx(middle)
        assert reach - 1e-12 <= float(box.rad()) <= reach + 1e-6
    F.J = matrix([[1, 0], [0, 3]])
    assert float(norm.slope(arb(0.1))[0, 1].mid()) == pytest.approx(-4)  # S J R, in this order


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_an_invariant_subspace_is_enclosed(shape: tuple[int, int]) -> None:
    """W = T⁻¹ M T, T with the rows (I C) and (0 I), M lower block triangular: W keeps the span of (I C)."""
    r, rest = shape
    rng = np.random.default_rng(r + 2 * rest)
    C = rng.integers(-3, 4, shape) / 2
    T = np.block([[np.eye(r), C], [np.zeros((rest, r)), np.eye(rest)]])
    M = rng.integers(-3, 4, (r + rest, r + rest)) / 4 + np.diag([0.0] * r + [9.0] * rest)
    M[:r, r:] = 0
    W = np.linalg.inv(T) @ M @ T
    with precision(128):
        found = _invariant_graph(matrix(W.tolist()), C + 1e-5, 128)
        assert found is not None
        for i in range(r):
            for j in range(rest):
                assert found[i, j].contains(arb(float(C[i, j])))
                assert float(found[i, j].rad()) < 1e-20
        turn = matrix([[0, 1], [-1, 0]])  # no line is kept by a quarter turn
        assert _invariant_graph(turn, np.array([[0.5]]), 128) is None
