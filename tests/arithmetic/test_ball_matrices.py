"""`BallMatrix` does what an object array of balls does, broadcasting included."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from rankmath.arithmetic.ball_matrices import BallMatrix, MatrixBalls
from rankmath.arithmetic.balls import Balls, precision

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
SHAPES = [(3, 4), (1, 4), (3, 1), (1, 1)]


def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Wide balls away from zero."""
    out = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        out[place] = arb(rng.uniform(1, 2) * rng.choice([-1, 1]), rng.uniform(0, 0.1))
    return out


def assert_same(matrix: BallMatrix, array: np.ndarray) -> None:
    """The same midpoints, and radii that differ by rounding only."""
    assert matrix.shape == array.shape
    for x, y in zip(matrix.array().flat, array.flat, strict=True):
        y = y if isinstance(y, arb) else arb(y)
        assert abs(float(x.mid() - y.mid())) <= 0.2 * float(y.rad()) + 1e-12
        assert x.overlaps(y)
        assert float(x.rad()) <= 1.3 * float(y.rad()) + 1e-12


@pytest.mark.parametrize("operate", OPERATORS)
@pytest.mark.parametrize("left", SHAPES)
@pytest.mark.parametrize("right", SHAPES)
def test_operators_broadcast_like_numpy(operate, left, right):
    rng = np.random.default_rng(0)
    a, b = drawn(rng, left), drawn(rng, right)
    with precision(60):
        assert_same(operate(BallMatrix.of(a), BallMatrix.of(b)), operate(a, b))


@pytest.mark.parametrize("operate", OPERATORS)
@pytest.mark.parametrize("number", [3, -2, arb(1.5)])
def test_numbers_on_either_side(operate, number):
    a = drawn(np.random.default_rng(0), (2, 3))
    with precision(60):
        assert_same(operate(BallMatrix.of(a), number), operate(a, number))
        assert_same(operate(number, BallMatrix.of(a)), operate(number, a))


@pytest.mark.parametrize("operate", OPERATORS)
def test_integer_arrays_on_either_side(operate):
    a, mask = drawn(np.random.default_rng(0), (2, 3)), np.asarray([[1, 2, 1], [3, 1, 1]])
    with precision(60):
        assert_same(operate(BallMatrix.of(a), mask), operate(a, mask))
        assert_same(operate(mask, BallMatrix.of(a)), operate(mask, a))


@given(seed=st.integers(0, 10**6))
def test_products_enclose_products_of_points(seed):
    """Row and column scalings go through diagonal matrices: every point of every factor is still covered."""
    rng = np.random.default_rng(seed)
    middle, radius = rng.standard_normal((3, 4)), rng.random((3, 4))
    scale, wide = rng.standard_normal((3, 1)), rng.random((3, 1))
    with precision(53):
        a = BallMatrix.of(np.vectorize(arb, otypes=[object])(middle, radius))
        b = BallMatrix.of(np.vectorize(arb, otypes=[object])(scale, wide))
        product = (a * b).array()
    x, y = middle + rng.uniform(-1, 1, (3, 4)) * radius, scale + rng.uniform(-1, 1, (3, 1)) * wide
    with precision(300):
        exact = BallMatrix.of(x.astype(object)).array() * BallMatrix.of(y.astype(object)).array()
        assert all(p.contains(e) for p, e in zip(product.flat, exact.flat, strict=True))


def test_large_matrices_are_scaled_entry_by_entry():
    a, b = np.full((300, 30), arb(2), dtype=object), np.full((300, 1), arb(3), dtype=object)
    assert ((BallMatrix.of(a) * BallMatrix.of(b)).array() == 6).all()


@pytest.mark.parametrize(
    "function", ["exp", "sqrt", "abs", "tanh", "erfc", "cosh", "sinh", "expm1_of_temporary", "exp_of_temporary", "log"]
)
def test_functions_are_those_of_balls(function):
    a = abs(drawn(np.random.default_rng(0), (2, 3)))
    with precision(80):
        assert_same(getattr(MatrixBalls(), function)(BallMatrix.of(a)), getattr(Balls(), function)(a))


def test_methods_are_those_of_balls():
    rng = np.random.default_rng(1)
    a, b = drawn(rng, (3, 4)), drawn(rng, (4, 2))
    M, B = MatrixBalls(), Balls()
    with precision(80):
        x, y = BallMatrix.of(a), BallMatrix.of(b)
        assert_same(M.matmul(x, y), B.matmul(a, b))
        assert_same(M.transpose(x), a.T)
        for axis in (-1, -2):
            assert_same(M.sum(x, axis=axis), B.sum(a, axis=axis))
            assert_same(M.max(x, axis=axis), B.max(a, axis=axis))
        assert_same(M.maximum(x, -x), B.maximum(a, -a))
        assert_same(M.choose(x, x, -x), B.choose(a, a, -a))
        assert (M.certainly_positive(x) == B.certainly_positive(a)).all()
        assert_same(M.where(M.certainly_positive(x), x, -x), B.where(B.certainly_positive(a), a, -a))
        assert M.upper_exponent(x) == B.upper_exponent(a)
        assert (M.middle(x) == B.middle(a)).all()
        scores = np.asarray([[0.0], [2.0], [1.0]])
        for mine, theirs in zip(M.relative_to_largest(scores, x), B.relative_to_largest(scores, a), strict=True):
            assert_same(mine, theirs)
        assert all(v.is_zero() for v in M.relative_to_largest(scores, x)[1].array()[1])
        q = abs(drawn(rng, (3, 1)))
        tight = (BallMatrix.of(np.vectorize(lambda v: v.mid(), otypes=[object])(m)) for m in (a, q))
        a, q = (m.array() for m in tight)
        mine = M.expm1_average(*(BallMatrix.of(m) for m in (a / 9, a / 7, q / 9, a)))
        assert_same(mine, B.expm1_average(a / 9, a / 7, q / 9, a))


@given(seed=st.integers(0, 10**6))
def test_size_bound_is_at_least_every_entry(seed):
    a = drawn(np.random.default_rng(seed), (3, 4))
    for A, held in ((MatrixBalls(), BallMatrix.of(a)), (Balls(), a)):
        bound = A.array(A.size_bound(held))[0, 0]
        assert all(bound.upper() >= abs(x).lower() for x in a.flat)
        assert bound.upper() >= max(abs(float(x.mid())) for x in a.flat)


def test_parts_and_exact_zeros():
    a = drawn(np.random.default_rng(0), (3, 4))
    a[1, 2] = arb(0)
    x = BallMatrix.of(a)
    assert x[0, 0] == a[0, 0] or x[0, 0].overlaps(a[0, 0])
    assert x[-1, 0].overlaps(a[-1, 0])
    assert x[..., :1, :].shape == (1, 4)
    assert x[..., 0, :].shape == (4,)
    A = MatrixBalls()
    assert A.certainly_zero(x).sum() == 1
    assert A.nonzero(x).array()[1, 2] == 1
    assert A.nonzero(x).array()[0, 0].overlaps(a[0, 0])
    doubtful = np.array([[arb(0, 1), arb(1, 1), arb(0), arb(-1, 2), arb(1e-300, 1e-301)]], dtype=object)
    for B, held in ((A, BallMatrix.of(doubtful)), (Balls(), doubtful)):
        # What may be zero and need not be stays what it is: its reciprocal is unknown, not one.
        kept = B.array(B.nonzero(held))[0]
        assert [bool(y.contains(0)) for y in kept] == [True, True, False, True, False]
        assert B.certainly_zero(held).tolist() == [[False, False, True, False, False]]
        assert B.certainly_positive(held).tolist() == [[False, False, False, False, True]]
    assert (0 * x).array().tolist() == [[0] * 4] * 3
    assert A.asarray(x) is x
    assert A.asarray(2.5) == arb(2.5)
