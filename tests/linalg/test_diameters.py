"""Diameters against all pairs, μ against its other formulas, both blind to a common mean."""

from __future__ import annotations

import math
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rankmath.arithmetic.numpy64 import many
from rankmath.linalg import diameters
from rankmath.linalg.diameters import diameter, mu

EXPONENTS = (1, 2, math.inf)
shapes = array_shapes(min_dims=2, max_dims=2, max_side=6)
# Tiny entries have a test of their own: the naive formulas compared with would underflow on them.
tokens = arrays(np.float64, shapes, elements=st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-6 else 0.0))
# Multiples of 2^-20 below 1: 2^30 can be added, and differences taken, without rounding.
dyadic_tokens = arrays(np.float64, shapes, elements=st.integers(-(2**20), 2**20).map(lambda k: k * 2.0**-20))


def all_pairs(X, p):
    return max(np.linalg.norm(x - y, p) for x in X for y in X)


@pytest.mark.parametrize("p", EXPONENTS)
@given(X=tokens)
def test_diameter_is_the_largest_distance_of_a_pair(p, X):
    assert math.isclose(diameter(X, p), all_pairs(X, p), rel_tol=1e-14)


@pytest.mark.parametrize("p", EXPONENTS)
def test_tokens_of_many_networks_side_by_side(p):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 5, 3)) * 10.0 ** rng.uniform(-200, 200, (40, 1, 1))
    X[0], X[1, 1:] = 7.0, X[1, :1]
    wide = many(X, 0)
    assert wide.strides != X.strides
    assert (wide == X).all()
    expected = [s * all_pairs(x / s, p) for x, s in zip(X, np.abs(X).max(axis=(1, 2)), strict=True)]
    assert np.allclose(diameter(wide, p), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("p", EXPONENTS)
def test_blocks_do_not_change_the_answer(p, monkeypatch):
    X = np.random.default_rng(0).normal(size=(3, 17, 4))
    whole = diameter(X, p)
    monkeypatch.setattr(diameters, "_BLOCK", 2 * 3 * 17 * 4)
    assert np.array_equal(diameter(X, p), whole)
    monkeypatch.setattr(diameters, "_BLOCK", 1)
    assert np.array_equal(diameter(X, p), whole)


@pytest.mark.parametrize("p", EXPONENTS)
@given(X=dyadic_tokens)
def test_a_huge_common_mean_costs_no_digit(p, X):
    assert diameter(X + 2.0**30, p) == diameter(X, p)
    assert mu(X + 2.0**30) == mu(X)


@pytest.mark.parametrize("p", EXPONENTS)
@given(X=dyadic_tokens, exponent=st.integers(-900, 900))
def test_homogeneous_at_every_scale(p, X, exponent):
    assert math.isclose(diameter(np.ldexp(X, exponent), p), math.ldexp(diameter(X, p), exponent), rel_tol=1e-15)
    assert math.isclose(mu(np.ldexp(X, exponent)), math.ldexp(mu(X), exponent), rel_tol=1e-15)


def test_the_two_norm_sees_the_farther_of_two_nearly_equal_pairs():
    # Distances 1 and 1 + 2^-48 on a mean of 2^3: squares of inner products alone would blur them.
    far = 1 + 2.0**-48
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, far]]) + 8
    assert diameter(X[:2]) == 1
    assert diameter(X[[0, 2]]) == far
    assert math.isclose(diameter(X), math.hypot(1, far), rel_tol=2e-16)


@given(dyadic_tokens)
def test_mu_squared_in_exact_rationals(X):
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    squared = sum((x - m) ** 2 for row in rows for x, m in zip(row, mean, strict=True))
    assert math.isclose(mu(X) ** 2, float(squared), rel_tol=1e-14)


@given(tokens)
def test_mu_squared_is_the_mean_of_squared_distances(X):
    n = len(X)
    pairs = math.fsum(((x - y) ** 2).sum() for x in X for y in X)
    assert math.isclose(mu(X) ** 2, pairs / (2 * n), rel_tol=1e-13)


@given(tokens)
def test_mu_and_the_diameter_bound_each_other(X):
    n, slack = len(X), 1 + 1e-14
    assert diameter(X) <= math.sqrt(2) * mu(X) * slack
    assert mu(X) <= math.sqrt((n - 1) / 2) * diameter(X) * slack


def test_the_bounds_between_mu_and_the_diameter_are_sharp():
    pair = np.array([[-1.0, 0.0], [1.0, 0.0]])
    assert math.isclose(diameter(pair), math.sqrt(2) * mu(pair), rel_tol=1e-15)
    simplex = np.eye(5)
    assert math.isclose(mu(simplex), math.sqrt(4 / 2) * diameter(simplex), rel_tol=1e-15)


@given(tokens)
def test_the_three_diameters_are_ordered(X):
    d = X.shape[1]
    slack = 1 + 1e-14
    assert diameter(X, math.inf) <= diameter(X, 2) * slack
    assert diameter(X, 2) <= diameter(X, 1) * slack
    assert diameter(X, 1) <= d * diameter(X, math.inf) * slack


@pytest.mark.parametrize("measure", [mu, *(lambda X, p=p: diameter(X, p) for p in EXPONENTS)])
def test_one_token_and_equal_tokens_have_no_extent(measure):
    assert measure([[3.0, -1.0]]) == 0
    assert measure([[0.1, 1e9]] * 4) == 0


@settings(max_examples=20)
@given(arrays(float, (2, 3, 4, 2), elements=st.floats(-1e3, 1e3)))
def test_batches_and_array_api_strict(X):
    strict = array_api_strict.asarray(X)
    for measure in (mu, *(lambda Y, p=p: diameter(Y, p) for p in EXPONENTS)):
        one_by_one = [[measure(X[i, j]) for j in range(3)] for i in range(2)]
        np.testing.assert_allclose(measure(X), one_by_one, rtol=1e-15)
        np.testing.assert_allclose(np.asarray(measure(strict)), one_by_one, rtol=1e-15)


@pytest.mark.parametrize("measure", [diameter, mu])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[math.nan]], r"X: entry \(0, 0\) is nan"),
        ([[math.inf, 0.0]], r"X: entry \(0, 0\) is inf"),
        ([1.0, 2.0], r"X: shape \(2,\) given"),
        (np.zeros((0, 3)), r"X: shape \(0, 3\) given"),
        ([[1 + 1j]], "X: "),
        ([[10**30]], "X: "),
    ],
)
def test_refusals(measure, X, message):
    with pytest.raises(ValueError, match=message):
        measure(X)


@pytest.mark.parametrize("p", [3, 0.5, "inf", None])
def test_other_exponents_are_refused(p):
    with pytest.raises(ValueError, match=r"p: .* given; allowed are 1, 2, inf"):
        diameter([[1.0]], p)
