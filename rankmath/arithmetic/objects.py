"""What mpmath and balls share: NumPy object arrays with functions applied entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankmath.validation import Array


def entrywise(function: Callable[[Any], Any]) -> Callable[[Array], Array]:
    """`function` applied to every entry of an object array."""
    ufunc = np.frompyfunc(function, 1, 1)

    def apply(a: Array) -> Array:
        out = ufunc(a)
        return out if isinstance(out, np.ndarray) else _box(out)

    return apply


def _box(number: Any) -> Array:
    box = np.empty((), dtype=object)
    box[()] = number
    return box


class ObjectArithmetic:
    """Arrays of numbers whose exponents never overflow, so no scale travels beside them."""

    name: str
    unbounded = True
    #: 0 and 1 in this number system.
    zero: Any
    one: Any
    #: |a|, entry by entry.
    abs: Callable[[Array], Array]

    def middle(self, a: Array) -> np.ndarray[Any, Any]:
        """Nearby doubles up to one common factor: for choices to which any answer is valid."""
        raise NotImplementedError

    def product(self, a: Array, b: Array) -> Array:
        """The product of two matrices."""
        raise NotImplementedError

    def matmul(self, a: Array, b: Array) -> Array:
        if a.ndim == 2 and b.ndim == 2:
            return self.product(a, b)
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = np.broadcast_to(a, lead + a.shape[-2:]), np.broadcast_to(b, lead + b.shape[-2:])
        out = np.empty((*lead, a.shape[-2], b.shape[-1]), dtype=object)
        for place in np.ndindex(*lead):
            out[place] = self.product(a[place], b[place])
        return out

    def transpose(self, a: Array) -> Array:
        return np.swapaxes(a, -1, -2)

    def sum(self, a: Array, axis: int) -> Array:
        return np.add.reduce(a, axis=axis, keepdims=True)

    def max(self, a: Array, axis: int) -> Array:
        raise NotImplementedError

    def largest(self, a: Array) -> Array:
        """The largest |entry| of each matrix, (..., 1, 1)."""
        return self.max(self.max(self.abs(a), axis=-1), axis=-2)

    def where(self, condition: Array, a: Array, b: Array) -> Array:
        return np.where(condition, a, b)

    def concat(self, arrays: list[Array], axis: int) -> Array:
        return np.concatenate(arrays, axis=axis)

    def certainly_zero(self, a: Array) -> Array:
        return np.asarray(a == 0, dtype=bool)

    def nonzero(self, a: Array) -> Array:
        """`a` as a divisor: exact zeros become one."""
        return np.where(self.certainly_zero(a), self.one, a)

    def hide(self, allowed: np.ndarray[Any, Any], a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Doubles where allowed, −∞ elsewhere."""
        return np.where(allowed, a, -np.inf)

    def any(self, a: Array) -> bool:
        return bool(np.any(a))

    def row_of_largest(self, scores: Array, rows: Array) -> Array:
        """The row of `rows` at the largest score: (..., n, 1), (..., n, d) -> (..., 1, d)."""
        return self.relative_to_largest(self.middle(scores), rows)[0]

    def relative_to_largest(self, scores: np.ndarray[Any, Any], rows: Array) -> tuple[Array, Array]:
        """The row at the largest score (doubles, (..., n, 1)), and all rows minus it, that one an exact zero."""
        place = np.argmax(scores, axis=-2, keepdims=True)
        lead = np.broadcast_shapes(place.shape[:-2], rows.shape[:-2])
        rows = np.broadcast_to(rows, lead + rows.shape[-2:])
        index = np.broadcast_to(place, (*lead, 1, rows.shape[-1]))
        pivot = np.take_along_axis(rows, index, axis=-2)
        difference = rows - pivot
        # A ball minus itself is not zero, but the number it stands for is.
        np.put_along_axis(difference, index, self.zero, axis=-2)
        return pivot, difference
