"""What mpmath and balls share: NumPy object arrays with functions applied entry by entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from rankmath.arithmetic.base import Arithmetic
from rankmath.validation import Array, Floats, Number

# Products of so few numbers are taken over a whole batch, one factor at a time.
_FEW = 16


def entrywise(function: Callable[[Number], Number]) -> Callable[[Array], Array]:
    """`function` applied to every entry of an object array."""
    ufunc = np.frompyfunc(function, 1, 1)

    def apply(a: Array) -> Array:
        out = ufunc(a)
        return out if isinstance(out, np.ndarray) else _box(out)

    return apply


def _box(number: Number) -> Array:
    box = np.empty((), dtype=object)
    box[()] = number
    return box


class ObjectArithmetic(Arithmetic):
    """Arrays of numbers whose exponents never overflow, so no scale travels beside them."""

    unbounded: Literal[True] = True
    xp = np
    #: 0, 1, √2 and √(2π) in this number system, and a factor "somewhere in [0, 1]".
    zero: Number
    one: Number
    between: Number
    # Functions applied entry by entry.
    exp: Callable[[Array], Array]
    log: Callable[[Array], Array]
    sqrt: Callable[[Array], Array]
    abs: Callable[[Array], Array]
    tanh: Callable[[Array], Array]
    erfc: Callable[[Array], Array]
    cosh: Callable[[Array], Array]
    sinh: Callable[[Array], Array]
    expm1_of_temporary: Callable[[Array], Array]
    exp_of_temporary: Callable[[Array], Array]

    #: Numbers and arrays of this system.
    constant: Callable[[Number], Number]
    asarray: Callable[[Array], Array]
    maximum: Callable[[Array, Array], Array]
    #: One of two by the sign of the first argument; the hull of both where the sign is not certain.
    choose: Callable[[Array, Array, Array], Array]
    certainly_positive: Callable[[Array], Array]
    #: Whether a difference of numbers of the given size is zero (to rounding, where there is any).
    vanishes: Callable[[Array, Array], Array]
    #: Nearby doubles, over the largest magnitude where doubles would not hold them.
    scaled_floats: Callable[[Array], Floats]
    #: x as float · 2^exponent, with exponent 0 wherever a double holds x.
    float_and_exponent: Callable[[Number], tuple[float, int]]
    #: An integer b with every |entry| ≤ 2^b.
    upper_exponent: Callable[[Array], int]
    #: What stands for an error of up to 2^exponent.
    error_ball: Callable[[int], Number]
    #: The product of two matrices.
    product: Callable[[Array, Array], Array]
    #: Precision in bits.
    bits: Callable[[], int]

    @property
    def root_two(self) -> Number:
        raise NotImplementedError

    @property
    def root_two_pi(self) -> Number:
        raise NotImplementedError

    @property
    def on_arrays(self) -> ObjectArithmetic:
        """The same arithmetic on NumPy object arrays."""
        return self

    def array(self, a: Array) -> Array:
        """`a` as a NumPy object array."""
        return a

    def middle(self, a: Array) -> Floats:
        """Nearby doubles up to one common factor: for choices to which any answer is valid."""
        return self.scaled_floats(a)

    def matmul(self, a: Array, b: Array) -> Array:
        if a.ndim == 2 and b.ndim == 2:
            return self.product(a, b)
        if a.shape[-2] * math.prod(b.shape[-2:]) <= _FEW:
            return np.add.reduce(a[..., :, :, None] * b[..., None, :, :], axis=-2)
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = np.broadcast_to(a, lead + a.shape[-2:]), np.broadcast_to(b, lead + b.shape[-2:])
        out = np.empty((*lead, a.shape[-2], b.shape[-1]), dtype=object)
        for place in np.ndindex(*lead):
            out[place] = self.product(a[place], b[place])
        return out

    def expm1_average(self, left: Array, right: Array, q: Array, values: Array, offsets: Array | None = None) -> Array:
        """Σ_j q_j m_ij v_j / (1 + Σ_j q_j m_ij) with m = expm1(left rightᵀ + offsets)."""
        E = self.matmul(left, self.transpose(right))
        m = self.expm1_of_temporary(E if offsets is None else E + offsets)
        y = self.matmul(m, self.concat([q * values, q], axis=-1))
        return y[..., :-1] * (1 / (1 + y[..., -1:]))

    def clearly_moderate(self, left: Array, right: Array) -> bool:
        """Whether one look shows that left rightᵀ is not all below 2^−bits: saves bounding it."""
        if left.ndim > 2 or right.ndim > 2:
            return bool((abs(left[..., :1, :1] * right[..., [0, -1], :1]) * 2 ** self.bits() > 1).any())
        first, last = left[0, 0], right[0, 0] if right[0, 0] != 0 else right[-1, 0]
        return bool(abs(first * last) * 2 ** self.bits() > 1)

    def sum(self, a: Array, axis: int) -> Array:
        return np.add.reduce(a, axis=axis, keepdims=True)

    def largest(self, a: Array) -> Array:
        """The largest |entry| of each matrix, (..., 1, 1)."""
        return self.max(self.max(self.abs(a), axis=-1), axis=-2)

    def size_bound(self, a: Array) -> Array:
        """At least every |entry|, (..., 1, 1)."""
        return self.largest(a)

    def certainly_zero(self, a: Array) -> Array:
        return np.asarray(a == 0, dtype=bool)

    def nonzero(self, a: Array) -> Array:
        """`a` as a divisor: exact zeros become one."""
        return np.where(self.certainly_zero(a), self.one, a)

    def hide(self, allowed: Array, a: Array) -> Array:
        """Doubles where allowed, −∞ elsewhere."""
        return np.where(allowed, a, -np.inf)

    def row_of_largest(self, scores: Array, rows: Array) -> Array:
        """The row of `rows` at the largest score: (..., n, 1), (..., n, d) -> (..., 1, d)."""
        return self.relative_to_largest(self.middle(scores), rows)[0]

    def relative_to_largest(self, scores: Array, rows: Array) -> tuple[Array, Array]:
        """The row at the largest score (doubles, (..., n, 1)), and all rows minus it, that one an exact zero.

        A ball minus itself is not zero, but the number it stands for is.
        """
        if scores.ndim == rows.ndim == 2:
            row = int(np.argmax(scores))
            pivot = rows[row : row + 1]
            difference = rows - pivot
            difference[row] = self.zero
            return pivot, difference
        place = np.argmax(scores, axis=-2, keepdims=True)
        lead = np.broadcast_shapes(place.shape[:-2], rows.shape[:-2])
        rows = np.broadcast_to(rows, lead + rows.shape[-2:])
        index = np.broadcast_to(place, (*lead, 1, rows.shape[-1]))
        pivot = np.take_along_axis(rows, index, axis=-2)
        difference = rows - pivot
        np.put_along_axis(difference, index, self.zero, axis=-2)
        return pivot, difference
