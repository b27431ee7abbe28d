"""Balls as the library's own matrices: the arithmetic of `Balls` with far fewer Python objects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from flint import arb, arb_mat

from rankmath.arithmetic.balls import FUNCTIONS, Balls, ball
from rankmath.validation import Array, Number

# Diagonal matrices scale rows and columns faster than loops do, up to this many products.
_MOST_PRODUCTS = 2**16


class BallMatrix:
    """A matrix of balls that broadcasts like a NumPy array of two axes.

    >>> A = MatrixBalls()
    >>> column, row = A.asarray([[1], [2]]), A.asarray([[10, 20, 30]])
    >>> (column + row).array().tolist() == [[11, 21, 31], [12, 22, 32]]
    True
    >>> (column * row - 1).array().tolist() == [[9, 19, 29], [19, 39, 59]]
    True
    """

    __slots__ = ("matrix", "shape")
    # NumPy arrays on the left leave the operation to us.
    __array_ufunc__ = None
    ndim = 2

    def __init__(self, matrix: arb_mat) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = (matrix.nrows(), matrix.ncols())

    @classmethod
    def of(cls, a: Array) -> BallMatrix:
        """A matrix, an array of two axes, or a number (1 × 1) as a `BallMatrix`."""
        if isinstance(a, BallMatrix):
            return a
        if isinstance(a, np.ndarray) and a.ndim == 2:
            return cls(arb_mat(a.shape[0], a.shape[1], [ball(x) for x in a.ravel().tolist()]))
        return cls(arb_mat(1, 1, [ball(a if not isinstance(a, np.ndarray) else a[()])]))

    def array(self) -> Array:
        """The same as an object array."""
        rows, columns = self.shape
        return np.fromiter(self.matrix.entries(), dtype=object, count=rows * columns).reshape(rows, columns)

    def map(self, function: Callable[[Number], Number]) -> BallMatrix:
        """`function` of every entry."""
        return BallMatrix(arb_mat(*self.shape, list(map(function, self.matrix.entries()))))

    def __getitem__(self, key: Array) -> Array:
        if key in ((0, 0), (-1, 0)):
            return self.matrix[0 if key[0] == 0 else self.shape[0] - 1, 0]
        part = self.array()[key]
        return BallMatrix.of(part) if isinstance(part, np.ndarray) and part.ndim == 2 else part

    def __neg__(self) -> BallMatrix:
        return BallMatrix(-self.matrix)

    def __add__(self, other: Array) -> BallMatrix:
        a, b = _same_shape(self, BallMatrix.of(other))
        return BallMatrix(a + b)

    __radd__ = __add__

    def __sub__(self, other: Array) -> BallMatrix:
        a, b = _same_shape(self, BallMatrix.of(other))
        return BallMatrix(a - b)

    def __rsub__(self, other: Array) -> BallMatrix:
        return BallMatrix.of(other) - self

    def __mul__(self, other: Array) -> BallMatrix:
        return _times(self, BallMatrix.of(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Array) -> BallMatrix:
        return _times(self, BallMatrix.of(other).map(_reciprocal))

    def __rtruediv__(self, other: Array) -> BallMatrix:
        return _times(BallMatrix.of(other), self.map(_reciprocal))


def _reciprocal(x: arb) -> arb:
    return 1 / x


def _spread(a: BallMatrix, shape: tuple[int, int]) -> arb_mat:
    """A row, a column or a number repeated to the given shape."""
    matrix = a.matrix
    if a.shape[0] != shape[0]:
        matrix = _ones(shape[0], 1) * matrix
    if a.shape[1] != shape[1]:
        matrix = matrix * _ones(1, shape[1])
    return matrix


def _same_shape(a: BallMatrix, b: BallMatrix) -> tuple[arb_mat, arb_mat]:
    if a.shape == b.shape:
        return a.matrix, b.matrix
    shape = max(a.shape[0], b.shape[0]), max(a.shape[1], b.shape[1])
    return _spread(a, shape), _spread(b, shape)


def _times(a: BallMatrix, b: BallMatrix) -> BallMatrix:
    if a.shape[0] * a.shape[1] < b.shape[0] * b.shape[1]:
        a, b = b, a
    (rows, columns), (n, m) = a.shape, b.shape
    if (n, m) == (1, 1):
        return BallMatrix(a.matrix * b.matrix[0, 0])
    if (n, m) == (rows, 1) and rows * rows * columns <= _MOST_PRODUCTS:
        return BallMatrix(_diagonal(b) * a.matrix)
    if (n, m) == (1, columns) and rows * columns * columns <= _MOST_PRODUCTS:
        return BallMatrix(a.matrix * _diagonal(b))
    one, other = _same_shape(a, b)
    products = list(map(operator.mul, one.entries(), other.entries()))
    return BallMatrix(arb_mat(one.nrows(), one.ncols(), products))


@cache
def _ones(rows: int, columns: int) -> arb_mat:
    return arb_mat(rows, columns, [1] * (rows * columns))


def _diagonal(a: BallMatrix) -> arb_mat:
    entries = a.matrix.entries()
    diagonal = arb_mat(len(entries), len(entries))
    for i, x in enumerate(entries):
        diagonal[i, i] = x
    return diagonal


class MatrixBalls(Balls):
    """`Balls` for a single sequence, its arrays held as `BallMatrix`; run inside `precision(bits)`."""

    def __init__(self) -> None:
        super().__init__()
        for name, function in FUNCTIONS.items():
            setattr(self, name, partial(_entrywise, function))

    def asarray(self, value: Array) -> Array:
        if isinstance(value, BallMatrix):
            return value
        return BallMatrix.of(np.asarray(value, dtype=object)) if np.ndim(value) == 2 else ball(value)

    @property
    def on_arrays(self) -> Balls:
        return Balls()

    def array(self, a: Array) -> Array:
        return a.array()

    def matmul(self, a: Array, b: Array) -> BallMatrix:
        return BallMatrix(a.matrix * b.matrix)

    def transpose(self, a: Array) -> BallMatrix:
        return BallMatrix(a.matrix.transpose())

    def sum(self, a: Array, axis: int) -> BallMatrix:
        rows, columns = a.shape
        return BallMatrix(_ones(1, rows) * a.matrix if axis == -2 else a.matrix * _ones(columns, 1))

    def size_bound(self, a: Array) -> BallMatrix:
        """Frobenius' norm: one small product instead of a walk over all entries."""
        return BallMatrix.of((a.matrix.transpose() * a.matrix).trace().nonnegative_part().sqrt())

    def relative_to_largest(self, scores: Array, rows: Array) -> tuple[BallMatrix, BallMatrix]:
        place = int(np.argmax(scores))
        width = rows.shape[1]
        pivot = BallMatrix(arb_mat(1, width, [rows.matrix[place, k] for k in range(width)]))
        difference = rows - pivot
        for k in range(width):
            difference.matrix[place, k] = self.zero
        return pivot, difference

    def expm1_average(
        self, left: Array, right: Array, q: Array, values: Array, offsets: Array | None = None
    ) -> BallMatrix:
        E = BallMatrix(left.matrix * right.matrix.transpose())
        E = E if offsets is None else E + offsets
        m = E.map(arb.expm1).matrix
        return BallMatrix(m * _times(values, q).matrix) / (1 + BallMatrix(m * q.matrix))

    def middle(self, a: Array) -> Array:
        return self.scaled_floats(a.array())

    def upper_exponent(self, a: Array) -> int:
        return super().upper_exponent(a.array())

    def max(self, a: Array, axis: int) -> BallMatrix:
        return BallMatrix.of(super().max(a.array(), axis))

    def maximum(self, a: Array, b: Array) -> BallMatrix:
        return BallMatrix.of(super().maximum(a.array(), b.array()))

    def choose(self, u: Array, if_positive: Array, otherwise: Array) -> BallMatrix:
        return BallMatrix.of(super().choose(u.array(), if_positive.array(), otherwise.array()))

    def where(self, condition: Array, a: Array, b: Array) -> BallMatrix:
        return BallMatrix.of(np.where(condition, *(x.array() if isinstance(x, BallMatrix) else x for x in (a, b))))

    def concat(self, arrays: list[Array], axis: int) -> BallMatrix:
        return BallMatrix.of(super().concat([a.array() for a in arrays], axis))

    def nonzero(self, a: Array) -> BallMatrix:
        return a.map(lambda x: self.one if x.is_zero() else x) if isinstance(a, BallMatrix) else a

    def certainly_positive(self, a: Array) -> Array:
        return super().certainly_positive(a.array())

    def certainly_zero(self, a: Array) -> Array:
        return super().certainly_zero(a.array())


def _entrywise(function: Callable[[Number], Number], a: Array) -> Array:
    return a.map(function) if isinstance(a, BallMatrix) else function(a)
