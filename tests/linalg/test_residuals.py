"""Residuals: value and lower bound meet, agree with independent searches, and relate to the diameters."""

from __future__ import annotations

import math

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rankmath.linalg.diameters import diameter, mu
from rankmath.linalg.frontier import DualWeights, weighted_median_bound
from rankmath.linalg.norms import composite, frobenius, norm_inf, norm_one
from rankmath.linalg.residuals import RESIDUAL_NORMS, residual, residual_lower_bound

NORM = {"one": norm_one, "inf": norm_inf, "composite": composite, "frobenius": frobenius}
SLACK = 1 + 1e-12

shapes = array_shapes(min_dims=2, max_dims=2, max_side=5)
# Small integers make ties, equal tokens and degenerate programs common; thousandths make them rare.
tied = arrays(np.float64, shapes, elements=st.integers(-3, 3))
scattered = arrays(np.float64, shapes, elements=st.integers(-(10**6), 10**6).map(lambda k: k / 1000))
tokens = tied | scattered


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@settings(max_examples=50)
@given(X=tokens)
def test_value_and_lower_bound_meet(norm, X):
    r = residual(X, norm)
    assert r.lower_bound <= r.value <= r.lower_bound * (1 + 1e-9)
    assert r.value == NORM[norm](r.matrix)
    np.testing.assert_allclose(r.matrix, X - r.center, atol=1e-12 * np.abs(X).max())
    # The dual point proves the bound by itself.
    assert r.lower_bound == min(r.value, residual_lower_bound(X, r.dual, norm))
    # And the bound holds at centers that had no part in it.
    for center in (X.mean(axis=0), np.median(X, axis=0), X[0], X[-1], (X.min(axis=0) + X.max(axis=0)) / 2):
        assert r.lower_bound <= NORM[norm](X - center) * SLACK


@settings(max_examples=50)
@given(tokens)
def test_composite_is_never_above_its_value_at_the_mean_the_median_and_the_infinity_center(X):
    value = residual(X, "composite").value
    for center in (X.mean(axis=0), np.median(X, axis=0), residual(X, "inf").center):
        assert value <= composite(X - center) * SLACK


@settings(max_examples=50)
@given(tokens)
def test_composite_lies_between_the_product_of_the_minima_and_that_of_one_minimiser(X):
    one, inf = residual(X, "one"), residual(X, "inf")
    value = residual(X, "composite").value
    assert math.sqrt(one.value * inf.value) <= value * SLACK
    assert value <= min(composite(one.matrix), composite(inf.matrix)) * SLACK


@settings(max_examples=40)
@given(arrays(np.float64, st.tuples(st.integers(1, 7), st.just(1)), elements=st.integers(-50, 50)))
def test_in_one_dimension_the_composite_center_is_a_token_or_the_midrange(X):
    # Between two such points both norms are linear, so their product is concave or monotone.
    candidates = [*X[:, 0], (X.min() + X.max()) / 2]
    best = min(composite(X - x) for x in candidates)
    assert math.isclose(residual(X, "composite").value, best, rel_tol=1e-13)


def least_composite_by_bisection(X, tolerance):
    """Branch and bound on squares of centers in the plane, from the definition and Lipschitz constants alone.

    Moving every coordinate of x by at most h changes ‖X − 1xᵀ‖₁ by at most nh and ‖X − 1xᵀ‖_∞ by at most dh.
    Returns a value attained, and a lower bound below it by at most the tolerance (relative, of the square).
    """
    n, d = X.shape
    h = (X.max(axis=0) - X.min(axis=0)).max() / 2
    centers = ((X.max(axis=0) + X.min(axis=0)) / 2)[None, :]
    corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * d)).reshape(d, -1).T
    best = math.inf
    while True:
        distances = np.abs(X[None] - centers[:, None, :])
        a, b = distances.sum(axis=1).max(axis=1), distances.sum(axis=2).max(axis=1)
        best = min(best, (a * b).min())
        lower = np.maximum(a - n * h, 0) * np.maximum(b - d * h, 0)
        open_squares = lower < best * (1 - tolerance)
        if not open_squares.any():
            return math.sqrt(best)
        centers = (centers[open_squares][:, None, :] + h * corners).reshape(-1, d)
        h /= 2


planar = arrays(np.float64, st.tuples(st.integers(2, 5), st.just(2)), elements=st.integers(-500, 500))


@settings(max_examples=20)
@given(planar.filter(lambda X: np.ptp(X, axis=0).any()))
def test_composite_in_the_plane_equals_a_global_search(X):
    searched = least_composite_by_bisection(X, 1e-5)
    value = residual(X, "composite").value
    assert value <= searched * SLACK
    assert searched <= value * (1 + 1e-5)


def test_a_minimum_inside_the_frontier():
    # Neither norm is at its own minimum: the composite center (4, 2) has the norms 8 and 4, where 7 and 3.5 can be
    # had, but not together.
    X = np.array([[0.0, 2.0], [4.0, 5.0], [5.0, 0.0], [5.0, 4.0], [6.0, 3.0]])
    r = residual(X, "composite")
    assert math.isclose(r.value, math.sqrt(32), rel_tol=1e-15)
    np.testing.assert_allclose(r.center, [4.0, 2.0], rtol=1e-14)
    assert residual(X, "one").value == 7
    assert math.isclose(residual(X, "inf").value, 3.5, rel_tol=1e-15)
    assert min(composite(residual(X, norm).matrix) for norm in ("one", "inf")) > r.value * 1.01
    # Two supporting lines at the ends leave room below; the lines between them close it.
    ends = residual_lower_bound(X, r.dual[:2], "composite")
    assert math.isclose(ends, math.sqrt(7 * 3.5), rel_tol=1e-14)
    assert r.lower_bound >= r.value * (1 - 1e-14)


@settings(max_examples=50)
@given(tokens)
def test_residuals_and_diameters_bound_each_other(X):
    n = len(X)
    one, inf, two = residual(X, "one").value, residual(X, "inf").value, residual(X, "frobenius").value
    assert inf <= diameter(X, 1) * SLACK  # center at a token
    assert diameter(X, 1) <= 2 * inf * SLACK  # triangle inequality through the center
    assert diameter(X, math.inf) <= one * SLACK
    assert one <= (n // 2) * diameter(X, math.inf) * SLACK  # medians pair the tokens up
    assert math.isclose(two, mu(X), rel_tol=1e-14)
    assert composite(residual(X, "composite").matrix) <= math.sqrt(n // 2 * n) * diameter(X, 1) * SLACK


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@settings(max_examples=20)
@given(X=tied, v=arrays(np.float64, 5, elements=st.integers(-(2**40), 2**40)), exponent=st.integers(-900, 900))
def test_shift_and_scale(norm, X, v, exponent):
    # Integers below 2^53: shift and scale round nothing, so neither may the answer.
    plain = residual(X, norm)
    moved = residual(np.ldexp(X + v[: X.shape[1]], exponent), norm)
    assert moved.value == math.ldexp(plain.value, exponent)
    assert moved.lower_bound == math.ldexp(plain.lower_bound, exponent)
    assert np.array_equal(moved.matrix, np.ldexp(plain.matrix, exponent))


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@pytest.mark.parametrize(("scale", "mean"), [(1e-12, 0.0), (1e12, 0.0), (1e-6, 1e8), (1e-300, 0.0), (1e300, 0.0)])
def test_well_solved_at_every_scale_and_mean(norm, scale, mean):
    X = scale * np.random.default_rng(0).normal(size=(9, 5)) + mean
    r = residual(X, norm)
    assert 0 < r.lower_bound <= r.value <= r.lower_bound * (1 + 1e-12)


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
def test_a_huge_mean_keeps_the_relative_accuracy_of_a_small_residual(norm):
    # Multiples of 2^-20 of size 2^-14, exact even on top of 2^27: the answer must be that without the mean.
    R = np.random.default_rng(1).integers(-64, 65, size=(8, 4)) * 2.0**-20
    assert residual(R + 2.0**27, norm).value == residual(R, norm).value


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
@pytest.mark.parametrize("X", [[[3.0, -1.0]], [[0.1, 1e9]] * 4, [[7.0]], [[0.0], [0.0]]])
def test_one_token_and_equal_tokens_have_no_residual(norm, X):
    r = residual(X, norm)
    assert r.value == r.lower_bound == 0
    assert r.center.tolist() == X[0]
    assert not r.matrix.any()


def test_two_tokens_by_hand():
    # Halfway, both rows carry the same: |x − y|/2 in each, and no center does better in any of the norms.
    X = np.array([[0.0, 0.0], [2.0, 6.0]])
    assert residual(X, "one").value == 6
    assert residual(X, "inf").value == 4
    assert math.isclose(residual(X, "composite").value, math.sqrt(24), rel_tol=1e-15)
    assert math.isclose(residual(X, "frobenius").value, math.sqrt(20), rel_tol=1e-15)


def test_three_tokens_by_hand():
    # Tokens 0, 0 and (1, 1). At (s, s): ‖·‖₁ = 1 + s and ‖·‖_∞ = 2 − 2s for s <= 1/2, product 2(1 − s²).
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    r = residual(X, "composite")
    assert math.isclose(r.value, math.sqrt(1.5), rel_tol=1e-15)
    np.testing.assert_allclose(r.center, [0.5, 0.5], rtol=1e-14)


def test_the_fourfold_table_by_hand():
    # The rows ±e_1, ±e_2: the center 0 has ‖·‖₁ = 2 and ‖·‖_∞ = 1, and by symmetry and convexity none has less.
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert (residual(X, "one").value, residual(X, "inf").value) == (2, 1)
    assert math.isclose(residual(X, "composite").value, math.sqrt(2), rel_tol=1e-15)


@settings(max_examples=50)
@given(tokens, st.data())
def test_any_weights_prove_a_true_line(X, data):
    n, d = X.shape
    weight = st.integers(0, 8).map(lambda k: k / 8)
    p, q = data.draw(arrays(float, d, elements=weight)), data.draw(arrays(float, n, elements=weight))
    x = data.draw(arrays(float, d, elements=st.integers(-4, 4)))
    R = X - x
    bound = weighted_median_bound(X, DualWeights(p, q))
    assert bound <= (p.sum() * norm_one(R) + q.sum() * norm_inf(R)) * SLACK
    # The weighted medians are optimal: no token coordinate does better.
    brute = sum(min(((p[k] + q) * np.abs(X[:, k] - t)).sum() for t in X[:, k]) for k in range(d))
    assert math.isclose(bound, brute, rel_tol=1e-14)


def test_weaker_duals_prove_less_and_none_proves_nothing():
    X = np.random.default_rng(5).normal(size=(12, 6))
    assert residual_lower_bound(X, (), "composite") == 0
    assert residual_lower_bound(X, (DualWeights(np.zeros(6), np.zeros(12)),), "inf") == 0
    assert residual_lower_bound(X, np.zeros((12, 6)), "frobenius") == 0
    uniform = DualWeights(np.zeros(6), np.full(12, 1 / 12))
    assert 0 < residual_lower_bound(X, (uniform,), "inf") < residual(X, "inf").value
    # The wrong direction proves nothing, a shifted one as much as the right one.
    matrix = residual(X, "frobenius").matrix
    assert residual_lower_bound(X, -matrix, "frobenius") == 0
    assert math.isclose(residual_lower_bound(X, matrix + 5.0, "frobenius"), frobenius(matrix), rel_tol=1e-13)
    for shift in (np.arange(6.0), -100 * np.arange(6.0)):  # what a column has in common proves nothing
        bound = residual_lower_bound(X, matrix + shift, "frobenius")
        assert math.isclose(bound, frobenius(matrix), rel_tol=1e-11)
        assert residual_lower_bound(X, 0 * matrix + shift, "frobenius") == 0


@pytest.mark.parametrize(
    ("X", "norm", "message"),
    [
        ([[math.nan]], "one", r"X: entry \(0, 0\) is nan"),
        ([[0.0, math.inf]], "inf", r"X: entry \(0, 1\) is inf"),
        ([1.0, 2.0], "composite", r"X: shape \(2,\) given; it must have 2 axes"),
        (np.zeros((2, 2, 2)), "one", r"X: shape \(2, 2, 2\) given"),
        (np.zeros((0, 3)), "frobenius", r"X: shape \(0, 3\) given"),
        (np.zeros((3, 0)), "inf", r"X: shape \(3, 0\) given"),
        ([[1], [2, 3]], "inf", "X: .* rectangular"),
        ([[2**60]], "one", "X: "),
        ([["a"]], "one", "X: "),
        ([[1.0]], "spectral", "norm: 'spectral' given; allowed are 'one', 'inf', 'composite', 'frobenius'"),
        ([[1.0]], 2, "norm: 2 given"),
        (array_api_strict.ones((2, 2)), "one", "X: an array of array_api_strict"),
    ],
)
def test_refusals(X, norm, message):
    with pytest.raises(ValueError, match=message):
        residual(X, norm)


def weights(columns, rows):
    return (DualWeights(np.array(columns), np.array(rows)),)


@pytest.mark.parametrize(
    ("dual", "norm", "message"),
    [
        (weights([1.0, 0.0], [0.0, -1.0]), "composite", "dual: a negative weight"),
        (weights([1.0], [0.0, 1.0]), "composite", r"dual.columns: shape \(1,\) given"),
        (weights([1.0, 0.0], [0.0]), "composite", r"dual.rows: shape \(1,\) given"),
        (weights([math.nan, 0.0], [0.0, 1.0]), "composite", r"dual.columns: entry \(0,\) is nan"),
        (weights([1.0, 0.0], [0.0, 1.0]), "one", "dual: weights on rows given"),
        (weights([1.0, 0.0], [0.0, 1.0]), "inf", "dual: weights on columns given"),
        (np.zeros((2, 2)), "composite", "dual: a ndarray given; norm 'composite' needs a tuple of DualWeights"),
        (np.zeros((2, 3)), "frobenius", r"dual: shape \(2, 3\) given; it must be \(2, 2\)"),
        (weights([1.0, 0.0], [0.0, 1.0]), "frobenius", "dual: "),
        ((), "two", "norm: 'two' given"),
    ],
)
def test_refused_duals(dual, norm, message):
    with pytest.raises(ValueError, match=message):
        residual_lower_bound([[0.0, 0.0], [2.0, 6.0]], dual, norm)
