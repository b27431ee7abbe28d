"""What every number system offers: functions over arrays (..., n, m); `+ - * /` and comparison come from the arrays."""

import operator
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TypeVar

from rankmath.validation import Array

T = TypeVar("T")


class Arithmetic:
    """What doubles, mpmath and balls compute alike; what they do not is in `Float64` and `ObjectArithmetic`.

    Sums and maxima keep their axis. Methods that end in `_of_temporary` may overwrite an array nobody else holds.
    """

    name: str
    xp: ModuleType

    def in_turn(self, tasks: Sequence[Callable[[], T]], entries: int) -> Iterator[T]:
        """Yield the tasks' results in order; `entries`, their exponentials, decides whether threads share them."""
        return (task() for task in tasks)

    def transpose(self, a: Array) -> Array:
        return self.xp.matrix_transpose(a)

    def _combined_with(self, operation: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
        """operation(a, b), in the place of a where the library can."""
        return operation(a, b)

    def sum_with_temporary(self, a: Array, b: Array) -> Array:
        return self._combined_with(operator.add, a, b)

    def difference_of_temporary(self, a: Array, b: Array) -> Array:
        return self._combined_with(operator.sub, a, b)

    def quotient_of_temporary(self, a: Array, b: Array) -> Array:
        return self._combined_with(operator.truediv, a, b)

    def product_of_temporary(self, a: Array, b: Array) -> Array:
        return self._combined_with(operator.mul, a, b)

    def sum(self, a: Array, axis: int) -> Array:
        return self.xp.sum(a, axis=axis, keepdims=True)

    def max(self, a: Array, axis: int) -> Array:
        return self.xp.max(a, axis=axis, keepdims=True)

    def mean_row(self, a: Array) -> Array:
        """The mean over the rows, (..., 1, d)."""
        return self.sum(a, axis=-2) / a.shape[-2]

    def where(self, condition: Array, a: Array, b: Array) -> Array:
        return self.xp.where(condition, a, b)

    def concat(self, arrays: list[Array], axis: int) -> Array:
        return self.xp.concat(arrays, axis=axis)

    def any(self, a: Array) -> bool:
        return bool(self.xp.any(a))
