"""Row-stochastic matrices: closure in exact rationals, contraction, and the distances between rows."""

from __future__ import annotations

import math
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankmath.attention.softmax import row_softmax
from rankmath.linalg.diameters import diameter
from rankmath.linalg.rationals import exact_matrix
from rankmath.linalg.stochastic import (
    dobrushin,
    exact_product,
    is_row_stochastic,
    oscillation,
    stationary,
    total_variation,
)

logit = st.floats(-20, 20)


@st.composite
def rational_stochastic(draw, n):
    """Row-stochastic n × n matrices of Fractions, zeros and permutations included."""
    rows = draw(st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any), min_size=n, max_size=n))
    return [[Fraction(entry, sum(row)) for entry in row] for row in rows]


@st.composite
def float_stochastic(draw, n, m):
    return row_softmax(draw(arrays(np.float64, (n, m), elements=logit)))


@settings(max_examples=40)
@given(st.integers(1, 4).flatmap(lambda n: st.lists(rational_stochastic(n), min_size=1, max_size=4)))
def test_products_of_row_stochastic_matrices_are_row_stochastic_exactly(matrices):
    assert all(is_row_stochastic(P) for P in matrices)
    assert is_row_stochastic(exact_product(*matrices), tolerance=0)


@given(arrays(np.int64, (3, 4), elements=st.integers(-9, 9)), arrays(np.int64, (4, 2), elements=st.integers(-9, 9)))
def test_exact_product_is_the_matrix_product(A, B):
    assert exact_product(A, B) == (A @ B).tolist()


def test_exact_product_reads_floats_as_dyadics():
    tenth = Fraction(0.1)
    assert tenth != Fraction(1, 10)
    assert exact_product([[0.1]], [[Fraction(3)]], np.array([[2]])) == [[6 * tenth]]


def test_a_row_that_only_rounds_to_one_is_not_stochastic():
    row = [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    assert is_row_stochastic([row])
    assert not is_row_stochastic([[Fraction(1, 3) + Fraction(1, 10**40), *row[1:]]])
    assert not is_row_stochastic([[Fraction(4, 3), Fraction(-1, 3)]])
    floats = np.array([[0.1] * 10])
    assert is_row_stochastic(floats)
    assert not is_row_stochastic(floats, tolerance=0)
    assert is_row_stochastic([[0.25, 0.75]], tolerance=0)


def test_tolerance_is_the_distance_of_a_row_sum_from_one():
    off = [[Fraction(1, 2), Fraction(1, 2) + Fraction(1, 1000)]]
    assert is_row_stochastic(off, tolerance=1 / 512)
    assert not is_row_stochastic(off, tolerance=1 / 1024)
    assert is_row_stochastic(np.array([[0.5, 0.5 + 2.0**-20]]), tolerance=2.0**-20)
    assert not is_row_stochastic(np.array([[0.5, 0.5 + 2.0**-20]]), tolerance=2.0**-21)
    assert not is_row_stochastic(np.array([[-(2.0**-20), 1.0]]), tolerance=2.0**-21)


@pytest.mark.parametrize("m", [2, 6])
def test_doubles_may_miss_one_by_what_rounding_does_to_a_softmax_and_no_more(m):
    """Unless a tolerance is given: m + 4 units of 2⁻⁵²."""
    for units, allowed in ((m + 4, True), (m + 6, False), (-m - 4, True), (-m - 6, False)):
        row = np.array([0.5, 0.5 + units * 2.0**-52, *[0.0] * (m - 2)])
        assert is_row_stochastic(row[None]) is allowed


@pytest.mark.parametrize("off", [Fraction(1, 1024), Fraction(-1, 1024)])
@pytest.mark.parametrize("row", [0, 1])
def test_rows_miss_one_on_either_side(off, row):
    """Too much or too little, in any row, exact or in doubles: allowed from a tolerance of the distance on."""
    exact = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)]]
    exact[row][1] += off
    for P in (exact, np.array(exact, dtype=float)):
        assert not is_row_stochastic(P)
        assert not is_row_stochastic(P, tolerance=0)
        assert not is_row_stochastic(P, tolerance=1 / 1025)
        assert is_row_stochastic(P, tolerance=1 / 1024)
    below = [[Fraction(1), Fraction(0)], [Fraction(1), Fraction(0)]]
    below[row] = [1 + abs(off), -abs(off)]
    for P in (below, np.array(below, dtype=float)):
        assert not is_row_stochastic(P)
        assert not is_row_stochastic(P, tolerance=1 / 1025)
        assert is_row_stochastic(P, tolerance=1 / 1024)


@settings(max_examples=20)
@given(st.integers(2, 4).flatmap(rational_stochastic))
def test_a_stationary_distribution_is_on_the_left_and_sums_to_one(P):
    P = [[(x + Fraction(1, len(P))) / 2 for x in row] for row in P]  # positive: there is one
    pi = stationary(P)
    assert exact_product([pi], P) == [pi]
    assert sum(pi) == 1
    assert stationary([[Fraction(0), Fraction(1)], [Fraction(1, 3), Fraction(2, 3)]]) == [
        Fraction(1, 4),
        Fraction(3, 4),
    ]
    with pytest.raises(ValueError, match="several"):
        stationary([[1, 0], [0, 1]])


@given(float_stochastic(4, 3), arrays(np.float64, 3, elements=st.floats(-100, 100)))
def test_dobrushin_contracts_the_oscillation(P, v):
    assert oscillation(P @ v) <= dobrushin(P) * oscillation(v) + 1e-12 * np.abs(v).max()


@pytest.mark.parametrize("p", [1, 2, math.inf])
@given(P=float_stochastic(4, 3), X=arrays(np.float64, (3, 2), elements=st.floats(-100, 100)))
def test_dobrushin_contracts_the_diameter_in_every_norm(p, P, X):
    assert diameter(P @ X, p) <= dobrushin(P) * diameter(X, p) + 1e-12 * np.abs(X).max()


@given(float_stochastic(4, 3), float_stochastic(3, 5))
def test_dobrushin_is_submultiplicative(P, Q):
    assert dobrushin(P @ Q) <= dobrushin(P) * dobrushin(Q) + 1e-15


@settings(max_examples=40)
@given(float_stochastic(5, 4))
def test_dobrushin_is_the_largest_total_variation_and_one_minus_the_least_overlap(P):
    pairs = [(P[i], P[k]) for i in range(5) for k in range(5)]
    assert dobrushin(P) == max(total_variation(p, q) for p, q in pairs)
    np.testing.assert_allclose(dobrushin(P), 1 - min(np.minimum(p, q).sum() for p, q in pairs), atol=1e-15)


def test_dobrushin_at_its_ends():
    assert dobrushin(np.eye(3)) == 1
    assert dobrushin(np.full((3, 4), 0.25)) == 0
    assert dobrushin([[1.0]]) == 0


@given(float_stochastic(1, 5), float_stochastic(1, 5))
def test_total_variation_is_the_largest_gap_on_an_event(p, q):
    gap = (p - q)[0]
    np.testing.assert_allclose(total_variation(p[0], q[0]), gap[gap > 0].sum(), atol=1e-15)


@given(arrays(np.float64, (3, 4), elements=st.floats(-1e6, 1e6)), st.sampled_from([-2, -1, 0, 1]))
def test_oscillation_vanishes_on_constants_only(v, axis):
    widest = oscillation(v, axis=axis)
    assert np.all(widest >= 0)
    assert np.array_equal(widest == 0, np.all(v == np.take(v, [0], axis=axis), axis=axis))


def test_passes_under_array_api_strict():
    P = row_softmax(np.arange(24.0).reshape(2, 3, 4) % 7)
    strict = array_api_strict.asarray(P)
    assert is_row_stochastic(strict)
    assert is_row_stochastic(array_api_strict.asarray([[0.5, 0.5]]), tolerance=0)
    assert np.array_equal(np.asarray(dobrushin(strict)), dobrushin(P))
    assert np.array_equal(np.asarray(oscillation(strict, axis=0)), oscillation(P, axis=0))
    assert np.array_equal(np.asarray(total_variation(strict, strict[:, :1, :])), total_variation(P, P[:, :1, :]))


@given(st.lists(st.fractions(), min_size=1, max_size=4))
def test_exact_matrix_keeps_every_rational(row):
    assert exact_matrix("A", [row]) == [row]


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_exact_matrix_keeps_every_float(double, single):
    assert exact_matrix("A", np.array([[double]])) == [[Fraction(double)]]
    assert exact_matrix("A", [[double, np.float32(single)]]) == [[Fraction(double), Fraction(single)]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: is_row_stochastic([[0.5, math.nan]]), r"P: entry \(0, 1\) is nan"),
        (lambda: is_row_stochastic([]), "P: "),
        (lambda: is_row_stochastic([[Fraction(1)], [Fraction(1, 2), Fraction(1, 2)]]), r"P: rows of different lengths"),
        (lambda: is_row_stochastic([[1]], tolerance=-1), "tolerance: -1"),
        (lambda: is_row_stochastic([[1]], tolerance=math.nan), "tolerance: nan"),
        (lambda: exact_product(), "matrices: none given"),
        (lambda: exact_product([[1, 2]], [[1, 2]]), r"matrices\[1\]: 1 rows given; .* 2 columns"),
        (lambda: exact_product([[1]], [[math.inf]]), r"matrices\[1\]: entry \(0, 0\) is inf"),
        (lambda: exact_product([["1"]]), r"matrices\[0\]: entry \(0, 0\) is a str"),
        (lambda: exact_product([[1], [1, 2]]), r"matrices\[0\]: rows of different lengths"),
        (lambda: exact_product([[]]), r"matrices\[0\]: shape \(1, 0\)"),
        (lambda: exact_product(np.zeros(3)), r"matrices\[0\]: shape \(3,\) given"),
        (lambda: exact_product("ab"), r"matrices\[0\]: shape \(\) given"),
        (lambda: exact_product([1, 2]), r"matrices\[0\]: shape \(2,\) given"),
        (lambda: oscillation(3.0), r"v: shape \(\) given"),
        (lambda: oscillation([1.0, math.inf]), r"v: entry \(1,\) is inf"),
        (lambda: oscillation([1.0], axis=1), "axis: 1 given"),
        (lambda: total_variation([0.5, 0.5], [1.0]), "q: length 1 given"),
        (lambda: total_variation([0.5, 0.6], [0.5, 0.5]), "p: a row sum differs from 1 by 0.1"),
        (lambda: total_variation([0.5, 0.5], [1.5, -0.5]), "q: entry -0.5 given"),
        (lambda: total_variation(np.full((2, 1), 1.0), np.full((3, 1), 1.0)), r"q: shape \(3, 1\) given"),
        (lambda: total_variation([1.0], array_api_strict.asarray([1.0])), "q: an array of"),
        (lambda: dobrushin([[0.5, 0.6]]), "P: a row sum differs from 1"),
        (lambda: dobrushin([0.5, 0.5]), r"P: shape \(2,\) given"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
