"""Exact residual bounds: lower <= upper in rationals, tight, and re-checkable from center and dual alone."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rankmath.linalg.exact_residuals import ExactWeights, exact_lower_bound, exact_residual_bounds, exact_upper_bound
from rankmath.linalg.frontier import least_product
from rankmath.linalg.residuals import RESIDUAL_NORMS, residual

tokens = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.integers(-3, 3).map(float) | st.floats(-100, 100),
)


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@settings(max_examples=40)
@given(X=tokens)
def test_bounds_enclose_tightly_and_agree_with_the_float_residual(norm, X):
    exact = exact_residual_bounds(X, norm)
    assert exact.lower <= exact.upper <= exact.lower * (1 + Fraction(1, 10**9))
    if norm in ("one", "frobenius"):
        assert exact.lower == exact.upper
    # Compared through rationals: the squares of small floats may underflow.
    value = Fraction(residual(X, norm).value) ** exact.power
    assert abs(value - exact.upper) <= exact.upper * Fraction(1, 10**9)


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@settings(max_examples=20)
@given(X=tokens, data=st.data())
def test_the_lower_bound_holds_at_every_rational_center(norm, X, data):
    exact = exact_residual_bounds(X, norm)
    center = data.draw(st.lists(st.fractions(-4, 4, max_denominator=6), min_size=X.shape[1], max_size=X.shape[1]))
    assert exact.lower <= exact_upper_bound(X, center, norm)
    assert exact_lower_bound(X, exact.dual, norm) == exact.lower
    assert exact_upper_bound(X, exact.center, norm) == exact.upper


@settings(max_examples=40)
@given(tokens, st.data())
def test_any_rational_weights_bound_every_center(X, data):
    n, d = X.shape
    weight = st.fractions(0, 2, max_denominator=7)
    p, q = (tuple(data.draw(st.lists(weight, min_size=size, max_size=size))) for size in (d, n))
    x = data.draw(st.lists(st.fractions(-4, 4, max_denominator=6), min_size=d, max_size=d))
    upper = exact_upper_bound(X, x, "composite")
    assert exact_lower_bound(X, (ExactWeights(p, q),), "composite") <= upper
    columns_only, rows_only = ExactWeights(p, (Fraction(0),) * n), ExactWeights((Fraction(0),) * d, q)
    assert exact_lower_bound(X, (columns_only,), "one") <= exact_upper_bound(X, x, "one")
    assert exact_lower_bound(X, (rows_only,), "inf") <= exact_upper_bound(X, x, "inf")
    assert exact_lower_bound(X, (columns_only, rows_only), "composite") <= upper


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
def test_rational_tokens_no_double_holds(norm):
    third, huge = Fraction(1, 3), Fraction(10) ** 400
    X = [[huge, third], [huge + third, -third], [huge - 1, 1]]
    plain = [[0, third], [third, -third], [-1, 1]]
    exact = exact_residual_bounds(X, norm)
    assert (exact.lower, exact.upper) == (
        exact_residual_bounds(plain, norm).lower,
        exact_residual_bounds(plain, norm).upper,
    )
    assert 0 < exact.lower <= exact.upper <= exact.lower * (1 + Fraction(1, 10**12))
    scaled = exact_residual_bounds([[entry / huge for entry in row] for row in X], norm)
    assert abs(scaled.upper * huge**scaled.power - exact.upper) <= exact.upper / 10**12


def test_known_values():
    X = [[0, 0], [2, 6]]
    assert exact_residual_bounds(X, "one").upper == 6
    assert exact_residual_bounds(X, "inf").lower == exact_residual_bounds(X, "inf").upper == 4
    assert exact_residual_bounds(X, "composite").lower == exact_residual_bounds(X, "composite").upper == 24
    mean = exact_residual_bounds(X, "frobenius")
    assert (mean.lower, mean.upper, mean.center, mean.power) == (20, 20, (1, 3), 2)


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@pytest.mark.parametrize("X", [[[3.0, -1.0]], [[0.1, 1e9]] * 4, [[Fraction(1, 3)]]])
def test_equal_tokens_have_residual_zero_exactly(norm, X):
    exact = exact_residual_bounds(X, norm)
    assert exact.lower == exact.upper == 0
    assert exact.center == tuple(Fraction(x) for x in X[0])


def test_a_changed_point_changes_the_bound_but_never_breaks_it():
    X = np.random.default_rng(0).normal(size=(6, 3))
    for norm in ("inf", "composite"):
        exact = exact_residual_bounds(X, norm)
        first = exact.dual[-1]
        heavier = dataclasses.replace(first, rows=(first.rows[0] + Fraction(1, 2), *first.rows[1:]))
        assert exact_lower_bound(X, (heavier,), norm) < exact.lower
        moved = (exact.center[0] + 1, *exact.center[1:])
        assert exact_upper_bound(X, moved, norm) > exact.upper


lines = st.lists(
    st.tuples(*[st.integers(0, 6)] * 3).filter(lambda line: line[0] + line[1] > 0), min_size=1, max_size=4
).map(lambda rows: [tuple(map(Fraction, row)) for row in rows])


@given(lines, st.data())
def test_least_product_is_below_every_feasible_point_and_attained(cuts, data):
    least = least_product(cuts)
    a, b = (data.draw(st.fractions(0, 12, max_denominator=12)) for _ in range(2))
    if all(l * a + m * b >= v for l, m, v in cuts):
        assert least <= a * b
    # Walk along every line and both axes: some feasible point there has exactly this product.
    walls = [*cuts, (Fraction(1), Fraction(0), Fraction(0)), (Fraction(0), Fraction(1), Fraction(0))]
    corners = [
        ((v1 * m2 - v2 * m1) / (l1 * m2 - l2 * m1), (l1 * v2 - l2 * v1) / (l1 * m2 - l2 * m1))
        for (l1, m1, v1), (l2, m2, v2) in product(walls, walls)
        if l1 * m2 != l2 * m1
    ]
    assert any(a * b == least and a >= 0 and b >= 0 for a, b in corners)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact_residual_bounds([[math.nan]], "one"), r"X: entry \(0, 0\) is nan"),
        (lambda: exact_residual_bounds([[1.0, math.inf]], "inf"), r"X: entry \(0, 1\) is inf"),
        (lambda: exact_residual_bounds([], "one"), "X: shape .* no axis empty"),
        (lambda: exact_residual_bounds([[]], "one"), "X: shape .* no axis empty"),
        (lambda: exact_residual_bounds([1.0], "one"), r"X: shape \(1,\) given"),
        (lambda: exact_residual_bounds([[1], [1, 2]], "one"), r"X: rows of different lengths"),
        (lambda: exact_residual_bounds([["1/2"]], "one"), r"X: entry \(0, 0\) is a str"),
        (lambda: exact_residual_bounds([[1]], "two"), "norm: 'two' given"),
        (lambda: exact_upper_bound([[1, 2]], (Fraction(1),), "one"), "center: length 1 given; it must be 2"),
        (lambda: exact_upper_bound([[1]], (math.inf,), "one"), r"center: entry \(0, 0\) is inf"),
        (lambda: exact_lower_bound([[1]], (ExactWeights((1,), (-1,)),), "composite"), "dual: a negative weight"),
        (lambda: exact_lower_bound([[1]], (ExactWeights((1, 1), (1,)),), "composite"), "dual.columns: length 2 given"),
        (lambda: exact_lower_bound([[1]], (ExactWeights((1,), ()),), "composite"), "dual.rows: shape .* no axis empty"),
        (lambda: exact_lower_bound([[1]], (ExactWeights((1,), (1,)),), "one"), "dual: .* weights on columns alone"),
        (lambda: exact_lower_bound([[1]], (ExactWeights((1,), (1,)),), "inf"), "dual: .* weights on rows alone"),
        (lambda: exact_lower_bound([[1]], ((Fraction(1),),), "inf"), "dual: a tuple given; .* needs ExactWeights"),
        (lambda: exact_lower_bound([[1], [2]], ((1,), (1,)), "frobenius"), "dual: a column sum differs from 0"),
        (lambda: exact_lower_bound([[1], [2]], ((0,),), "frobenius"), r"dual: shape \(1, 1\) given"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
