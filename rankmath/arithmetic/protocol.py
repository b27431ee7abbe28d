"""What every number system offers, and the union of those there are.

Code that needs no more than `Arithmetic` runs on all. Code that branches (``if A.unbounded: …``) takes a `System`:
the type checker then knows what only doubles (`Float64`) or only unbounded exponents (`ObjectArithmetic`) have.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.validation import Array, Number

System: TypeAlias = Float64 | ObjectArithmetic


class Arithmetic(Protocol):
    """Functions over arrays (..., n, m) of one number system; `+ - * /` and comparison come from the arrays.

    Sums and maxima keep their axis. `…_of_temporary` may overwrite an array nobody else holds.
    """

    name: str

    @property
    def unbounded(self) -> bool:
        """Whether exponents never overflow, so that no scale travels beside the arrays."""
        ...

    def constant(self, value: Number) -> Number: ...

    def asarray(self, value: Array) -> Array: ...

    def matmul(self, a: Array, b: Array) -> Array: ...

    def transpose(self, a: Array) -> Array: ...

    def exp(self, a: Array, /) -> Array: ...

    def log(self, a: Array, /) -> Array:
        """Natural logarithm, log 0 = −∞."""
        ...

    def sqrt(self, a: Array, /) -> Array: ...

    def abs(self, a: Array, /) -> Array: ...

    def tanh(self, a: Array, /) -> Array: ...

    def expm1_of_temporary(self, a: Array, /) -> Array: ...

    def exp_of_temporary(self, a: Array, /) -> Array: ...

    def difference_of_temporary(self, a: Array, b: Array) -> Array: ...

    def quotient_of_temporary(self, a: Array, b: Array) -> Array: ...

    def product_of_temporary(self, a: Array, b: Array) -> Array: ...

    def sum(self, a: Array, axis: int) -> Array: ...

    def max(self, a: Array, axis: int) -> Array: ...

    def mean_row(self, a: Array) -> Array:
        """The mean over the rows, (..., 1, d)."""
        ...

    def maximum(self, a: Array, b: Array) -> Array: ...

    def where(self, condition: Array, a: Array, b: Array) -> Array: ...

    def concat(self, arrays: list[Array], axis: int) -> Array: ...

    def any(self, a: Array) -> bool: ...

    def nonzero(self, a: Array) -> Array:
        """`a` as a divisor: exact zeros become one."""
        ...

    def largest(self, a: Array) -> Array:
        """The largest |entry| of each matrix, (..., 1, 1)."""
        ...

    def size_bound(self, a: Array) -> Array:
        """At least every |entry|, (..., 1, 1)."""
        ...

    def certainly_positive(self, a: Array) -> Array: ...

    def vanishes(self, a: Array, size: Array) -> Array:
        """Whether `a`, a difference of numbers of the given size, is zero (to rounding, where there is any)."""
        ...

    def middle(self, a: Array) -> Array:
        """Nearby doubles up to one common factor: for choices to which any answer is valid."""
        ...

    def hide(self, allowed: Array, a: Array) -> Array:
        """Doubles where allowed, −∞ elsewhere."""
        ...

    def row_of_largest(self, scores: Array, rows: Array) -> Array:
        """The row of `rows` at the first largest score: (..., n, 1), (..., n, d) -> (..., 1, d)."""
        ...

    def relative_to_largest(self, scores: Array, rows: Array) -> tuple[Array, Array]:
        """That row, and all rows minus it, that one an exact zero."""
        ...

    def in_turn(self, tasks: Sequence[Callable[[], Array]], entries: int) -> Iterator[Array]:
        """Yield the tasks' results in order; `entries` exponentials decide whether to thread."""
        ...
