"""Norms of matrices against their definitions; the composite value and why it is not a norm."""

from __future__ import annotations

import math
from itertools import product

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rankmath.arithmetic.balls import Balls, precision
from rankmath.arithmetic.numpy64 import NumPy64, many, side_by_side
from rankmath.linalg.norms import (
    SIGN_ENUMERATION_LIMIT,
    bilinear_norm,
    composite,
    frobenius,
    induced_norm,
    norm_inf,
    norm_max,
    norm_one,
    spectral,
)

# Tiny entries have a test of their own: the naive formulas compared with would underflow on them.
entries = st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-6 else 0.0)
matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=entries)
EVERY = (norm_one, norm_inf, composite, norm_max, frobenius, spectral)


@given(matrices)
def test_the_textbook_norms(A):
    assert math.isclose(norm_one(A), np.linalg.norm(A, 1), rel_tol=1e-15)
    assert math.isclose(norm_inf(A), np.linalg.norm(A, np.inf), rel_tol=1e-15)
    assert norm_max(A) == np.abs(A).max()
    assert math.isclose(frobenius(A), math.sqrt(math.fsum((A**2).ravel())), rel_tol=1e-15)
    assert math.isclose(composite(A) ** 2, norm_one(A) * norm_inf(A), rel_tol=1e-14)


@given(matrices)
def test_the_spectral_norm_squared_is_the_largest_eigenvalue_of_the_gram_matrix(A):
    assert math.isclose(spectral(A) ** 2, np.linalg.eigvalsh(A.T @ A)[-1], rel_tol=1e-13)
    assert spectral(A) <= composite(A) * (1 + 1e-14)


@pytest.mark.parametrize("norm", EVERY)
@given(A=matrices, exponent=st.integers(-500, 500))
def test_homogeneous_and_definite_at_every_scale(norm, A, exponent):
    assert math.isclose(norm(np.ldexp(A, exponent)), math.ldexp(norm(A), exponent), rel_tol=1e-14, abs_tol=5e-324)
    assert norm(-A) == norm(A)
    assert (norm(A) == 0) == (not A.any())


@given(st.integers(1, 4).flatmap(lambda k: st.tuples(arrays(float, (3, k), elements=entries), st.just(k))), st.data())
def test_the_composite_value_is_submultiplicative(first, data):
    A, k = first
    B = data.draw(arrays(float, (k, 4), elements=entries))
    assert composite(A @ B) <= composite(A) * composite(B) * (1 + 1e-14)


@pytest.mark.parametrize("n", [2, 3, 4, 9, 100])
def test_the_composite_value_fails_the_triangle_inequality(n):
    A = np.zeros((n, n))
    A[0, :] = 1
    # Integers throughout: the squares of both sides are 4n and (n + 1)², and (n + 1)² − 4n = (n − 1)².
    assert norm_one(A) * norm_inf(A) == norm_one(A.T) * norm_inf(A.T) == n
    assert norm_one(A + A.T) == norm_inf(A + A.T) == composite(A + A.T) == n + 1
    assert math.isclose(composite(A), math.sqrt(n), rel_tol=1e-15)
    assert composite(A) + composite(A.T) < composite(A + A.T)


def vector_norm(v, p):
    return np.linalg.norm(v, p)


@pytest.mark.parametrize("p", [1, 2, math.inf])
@given(W=matrices, data=st.data())
def test_no_row_vector_is_stretched_by_more_than_the_induced_norm(p, W, data):
    v = data.draw(arrays(float, W.shape[0], elements=st.floats(-1, 1)))
    assert vector_norm(v @ W, p) <= induced_norm(W, p) * vector_norm(v, p) + 1e-11


@given(matrices)
def test_the_induced_norm_is_attained(W):
    row = np.argmax(np.abs(W).sum(axis=1))
    assert math.isclose(np.abs(np.eye(len(W))[row] @ W).sum(), induced_norm(W, 1), rel_tol=1e-15)
    column = np.argmax(np.abs(W).sum(axis=0))
    signs = np.where(W[:, column] < 0, -1.0, 1.0)
    assert math.isclose(np.abs(signs @ W).max(), induced_norm(W, math.inf), rel_tol=1e-14)
    left = np.linalg.svd(W)[0][:, 0]
    assert math.isclose(np.linalg.norm(left @ W), induced_norm(W, 2), rel_tol=1e-13)


@pytest.mark.parametrize("p", [1, 2, math.inf])
@given(W=matrices, data=st.data())
def test_no_pair_of_unit_vectors_exceeds_the_bilinear_norm(p, W, data):
    u = data.draw(arrays(float, W.shape[0], elements=st.floats(-1, 1)))
    v = data.draw(arrays(float, W.shape[1], elements=st.floats(-1, 1)))
    bound = bilinear_norm(W, p)
    assert bound.exact
    assert abs(u @ W @ v) <= bound.value * vector_norm(u, p) * vector_norm(v, p) + 1e-10


@given(matrices)
def test_the_infinity_bilinear_norm_is_attained_at_signs(W):
    signs = [[np.array(s) for s in product((-1.0, 1.0), repeat=side)] for side in W.shape]
    brute = max(abs(s @ W @ t) for s in signs[0] for t in signs[1])
    assert math.isclose(bilinear_norm(W, math.inf).value, brute, rel_tol=1e-13)


@pytest.mark.parametrize("d", [2, 7, SIGN_ENUMERATION_LIMIT])
def test_sign_enumeration_up_to_the_limit(d):
    # Planted maximum: |W| = uvᵀ with the signs s_i t_j, attained at (s, t) and equal to the sum of |W|.
    rng = np.random.default_rng(d)
    s, t = rng.choice([-1.0, 1.0], size=(2, d))
    W = rng.integers(1, 9, size=(d, d)) * np.outer(s, t)
    assert bilinear_norm(W, math.inf).value == np.abs(W).sum()
    # And a maximum nothing announces, against every sign vector at once.
    W = rng.integers(-9, 10, size=(d, d)).astype(float)
    signs = 1.0 - 2.0 * ((np.arange(2 ** (d - 1))[:, None] >> np.arange(d)) & 1)
    assert bilinear_norm(W, math.inf).value == np.abs(signs @ W).sum(axis=1).max()


def test_beyond_the_limit_the_sum_of_entries_bounds_and_says_so():
    d = SIGN_ENUMERATION_LIMIT + 1
    W = np.random.default_rng(0).normal(size=(2, d, d))
    bound = bilinear_norm(W, math.inf)
    assert not bound.exact
    assert np.array_equal(bound.value, np.abs(W).sum(axis=(1, 2)))
    # A long thin matrix is exact: the signs of its short side are tried.
    thin = bilinear_norm(W[:, :, :3], math.inf)
    assert thin.exact
    np.testing.assert_allclose(thin.value, bilinear_norm(np.swapaxes(W[:, :, :3], 1, 2), math.inf).value, rtol=1e-15)


@settings(max_examples=20)
@given(arrays(float, (2, 3, 4, 2), elements=entries))
def test_batches_and_array_api_strict(A):
    strict = array_api_strict.asarray(A)
    for norm in EVERY:
        one_by_one = [[norm(A[i, j]) for j in range(3)] for i in range(2)]
        np.testing.assert_allclose(norm(A), one_by_one, rtol=1e-14)
        np.testing.assert_allclose(np.asarray(norm(strict)), one_by_one, rtol=1e-14)
    for p in (1, 2, math.inf):
        for norm in (induced_norm, lambda W, p: bilinear_norm(W, p).value):
            one_by_one = [[norm(A[i, j], p) for j in range(3)] for i in range(2)]
            np.testing.assert_allclose(np.asarray(norm(strict, p)), one_by_one, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("norm", [*EVERY, lambda A: induced_norm(A, 2), lambda A: bilinear_norm(A, 2)])
@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[1.0, math.nan]], r"entry \(0, 1\) is nan"),
        ([[-math.inf]], r"entry \(0, 0\) is -inf"),
        ([1.0], r"shape \(1,\) given"),
        (np.zeros((0, 2)), r"shape \(0, 2\) given"),
        ([[1.0], [2.0, 3.0]], "rectangular"),
        ([[2**70]], "given"),
        (None, "None given"),
    ],
)
def test_refusals(norm, A, message):
    with pytest.raises(ValueError, match=message):
        norm(A)


@pytest.mark.parametrize("norm", [induced_norm, bilinear_norm])
@pytest.mark.parametrize("p", [3, 0, "2", None, math.nan])
def test_other_exponents_are_refused(norm, p):
    with pytest.raises(ValueError, match=r"p: .* given; allowed are 1, 2, inf"):
        norm([[1.0]], p)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_many_matrices_side_by_side_have_the_norms_of_each(d: int) -> None:
    rng = np.random.default_rng(d)
    W = rng.standard_normal((2, 60, d, d)) * 10.0 ** rng.uniform(-150, 150, (2, 60, 1, 1))
    W[0, :20] = np.linalg.qr(W[0, :20])[0]  # all singular values equal
    W[0, 20:40] *= 1 + 1e-9 * rng.standard_normal((20, d, d))  # and hardly different
    W[1, :20] *= rng.random((20, d, d)) < 0.4  # zeros, whole matrices of them too
    W[1, 20:40] = W[1, 20:40, :, :1] * rng.standard_normal((20, 1, d))  # rank one
    W[1, 40] = 0.0
    together = many(W, 1)
    assert side_by_side(together)
    assert d == 1 or not side_by_side(W)
    assert np.allclose(spectral(together), np.linalg.svd(W, compute_uv=False)[..., 0], rtol=1e-14, atol=0)
    with precision(120):
        for found, matrix in zip(spectral(together)[1, :25], W[1, :25], strict=True):
            assert abs(spectral(Balls().asarray(matrix), Balls()) - found) <= 1e-14 * found


def test_the_row_of_the_largest_score_is_picked_also_where_the_first_score_is_hidden() -> None:
    """A hidden score is −∞: 0 times it is no number, and the row must not become one."""
    rng = np.random.default_rng(0)
    scores, rows = rng.standard_normal((5, 3, 1)), rng.standard_normal((5, 3, 4))
    scores[:, 0] = -np.inf
    picked = np.take_along_axis(rows, scores.argmax(axis=-2, keepdims=True), axis=-2)
    with np.errstate(all="raise"):
        assert np.array_equal(NumPy64(rows).row_of_largest(many(scores, 0), many(rows, 0)), picked)
