"""Double precision on any array-API library; `numpy64` and `cupy64` say what NumPy and CuPy do faster."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, cached_property
from types import ModuleType
from typing import Any, ClassVar, Literal, Self, cast

import array_api_compat.numpy
import numpy as np
from array_api_compat import is_cupy_array

from rankmath.arithmetic.base import Arithmetic
from rankmath.validation import Array, Bools, Floats, InvalidArgument, library_of

# A block of logits, its exponentials, and a temporary of the library.
_BYTES_PER_ENTRY = 24
# 8 MiB of doubles: larger products are no faster.
_CACHED_ENTRIES = 2**20
_BATCHED_ENTRIES = 2**22


class Float64(Arithmetic):
    """float64 arrays of one library: `Float64(X)` is of the class that X's library has."""

    name = "float64"
    #: Exponents are bounded, so magnitudes travel apart from the arrays (`scales`).
    unbounded: Literal[False] = False
    root_two_pi = math.sqrt(2.0 * math.pi)
    on_gpu: ClassVar[bool] = False

    def __new__(cls, like: Array, **_: Any) -> Self:
        return cast(Self, object.__new__(_class_for(like.__class__) if cls is Float64 else cls))

    def __init__(self, like: Array, *, memory: int | None = None, backend: Literal["numpy", "cupy"] = "numpy") -> None:
        self.xp: ModuleType = library_of(like)
        self.backend = backend  # where the layers of a statement's networks run
        # Units, one number a matrix, stay on the host: on a GPU each operation on them would be a launch.
        self.units: ModuleType = array_api_compat.numpy
        self._device = like.device
        # Entries of the blocks that `memory` allows.
        self._given = None if memory is None else max(1, memory // _BYTES_PER_ENTRY)

    @property
    def cuts_finely(self) -> bool:
        """Whether the user limits the memory of blocks."""
        return self._given is not None

    @cached_property
    def block_entries(self) -> int:
        """Entries of a row block."""
        return _CACHED_ENTRIES if self._given is None else self._given

    @cached_property
    def batch_entries(self) -> int:
        """… of a batch: products of many small matrices gain less from the cache than they lose by being cut."""
        return self.block_entries if self.cuts_finely else max(self.block_entries, _BATCHED_ENTRIES)

    @cached_property
    def lone_entries(self) -> int:
        return self.batch_entries if self._given is None else self._given

    def blas_alone(self, entries: int) -> AbstractContextManager[None]:
        """One thread for BLAS where `in_turn` would share so many entries."""
        return nullcontext()

    def threads_for(self, entries: int) -> int:
        """How many threads `in_turn` shares so many exponentials among."""
        return 1

    def asarray(self, value: Array) -> Array:
        return value

    def constant(self, value: float) -> float:
        return float(value)

    def matmul(self, a: Array, b: Array) -> Array:
        return self.xp.matmul(a, b)

    def passing_product(self, a: Array, b: Array) -> Array:
        """a b, valid until the next call."""
        return self.matmul(a, b)

    def in_place_by_rows(self, function: Callable[..., Array], a: Array, *others: Array) -> Array:
        """function(a, *others), which treats every row alike and may overwrite a."""
        return function(a, *others)

    def combined(self, a: Array, x: Array, b: Array, y: Array) -> Array:
        """a x + b y for units x and y."""
        return a * self.factor(x) + b * self.factor(y)

    def _home(self, a: Array) -> ModuleType:
        return self.units if isinstance(a, np.ndarray) else self.xp

    def unit_of(self, a: Array) -> Floats:
        """An array of a few numbers, brought to the host."""
        return to_numpy(a)

    def factor(self, unit: Array) -> Array:
        """Numbers of the host, to meet arrays: one number where all are equal."""
        if not isinstance(unit, np.ndarray):
            return unit
        first = unit.flat[0]
        return float(first) if (unit == first).all() else self.xp.asarray(unit, device=self._device)

    def exp(self, a: Array) -> Array:
        return self._home(a).exp(a)

    def expm1_of_temporary(self, a: Array) -> Array:
        return self.xp.expm1(a)

    def exp_of_temporary(self, a: Array) -> Array:
        return self.xp.exp(a)

    def log(self, a: Array) -> Array:
        """Natural logarithm, log 0 = −∞ without a warning."""
        if isinstance(a, np.ndarray):
            with np.errstate(divide="ignore"):
                return np.log(a)
        positive = a > 0
        return self.xp.where(positive, self.xp.log(self.xp.where(positive, a, 1.0)), -self.xp.inf)

    def sqrt(self, a: Array) -> Array:
        return self.xp.sqrt(a)

    def abs(self, a: Array) -> Array:
        return self.xp.abs(a)

    def largest(self, a: Array) -> Array:
        """The largest |entry| of each matrix, (..., 1, 1): a unit."""
        return self.sizes([a])[0]

    def sizes(self, arrays: list[Array]) -> list[Array]:
        """`largest` of each: from a GPU all at once."""
        return [self.unit_of(self.xp.max(self.xp.abs(a), axis=(-2, -1), keepdims=True)) for a in arrays]

    def measuring(
        self, arrays: list[Array]
    ) -> Callable[[], AbstractContextManager[Callable[[], tuple[Floats, Floats]]]]:
        """Begins to measure these when called; what it gives reads `sizes`, and the largest of each array."""

        def measured() -> tuple[Floats, Floats]:
            sizes = [to_numpy(size).ravel() for size in self.sizes(arrays)]
            return np.concatenate(sizes), np.array([size.max() for size in sizes])

        return lambda: nullcontext(measured)

    def longest(self, a: Array) -> Array:
        """The largest 2-norm of a row of each matrix, (..., 1, 1): a unit. No square leaves a double's range."""
        size = self.largest(a)
        a = a / self.factor(self.nonzero(size))
        return size * self.unit_of(self.xp.sqrt(self.max(self.sum(a * a, axis=-1), axis=-2)))

    def size_bound(self, a: Array) -> Array:
        return self.largest(a)

    def maximum(self, a: Array, b: Array | float) -> Array:
        return self._home(a).maximum(a, b)

    def tanh(self, a: Array) -> Array:
        return self.xp.tanh(a)

    def normal_cdf(self, a: Array) -> Array:
        """Φ(a)."""
        library = type(a).__module__.partition(".")[0]
        raise InvalidArgument(f"mlp: activation 'gelu' needs Φ, which {library} lacks; use NumPy or CuPy arrays")

    def middle(self, a: Array) -> Array:
        return a

    def hide(self, allowed: Bools, a: Array) -> Array:
        """`a` where allowed, −∞ elsewhere."""
        # A mask's matrix is read-only, which some libraries warn about.
        return self.xp.where(self.xp.asarray(allowed.copy(), device=self._device), a, -self.xp.inf)

    def farthest(self, products: Array, squares: Array) -> Array:
        """max_j |x_i − x_j|², (..., r, 1), from the products of r tokens with themselves and all after them."""
        own = squares[..., squares.shape[-2] - products.shape[-1] :, :]
        return own[..., : products.shape[-2], :] + self.max(self.transpose(own) - 2 * products, axis=-1)

    def row_of_largest(self, scores: Array, rows: Array) -> Array:
        """The row of `rows` at the first largest score: (..., n, 1), (..., n, d) -> (..., 1, d)."""
        xp = self.xp
        if scores.ndim == rows.ndim == 2:
            place = int(xp.argmax(scores))
            return rows[place : place + 1, :]
        lead = scores.shape[:-2]
        index = xp.argmax(scores, axis=-2, keepdims=True)
        rows = xp.broadcast_to(rows, (*lead, *rows.shape[-2:]))
        return xp.take_along_axis(rows, xp.broadcast_to(index, (*lead, 1, rows.shape[-1])), axis=-2)

    def is_first_largest(self, scores: Array) -> Array:
        """Where that row is, (..., n, 1)."""
        xp = self.xp
        place = xp.arange(scores.shape[-2], device=self._device)[:, None]
        return place == xp.argmax(scores, axis=-2, keepdims=True)

    def relative_to_largest(self, scores: Array, rows: Array) -> tuple[Array, Array]:
        """That row, and all rows minus it."""
        row = self.row_of_largest(scores, rows)
        return row, rows - row

    def column_softmax(self, c: Array, unit: Array) -> tuple[Array, Array, float]:
        """q = softmax(unit · c) and log q for a column (..., n, 1), and the least finite log q."""
        c = c * self.factor(unit)
        c = c - self.max(c, axis=-2)
        e = self.exp(c)
        total = self.sum(e, axis=-2)
        log_q = c - self.log(total)
        least = float(self.xp.min(log_q))
        if least == -math.inf:
            least = float(self.xp.min(self.xp.where(log_q > -math.inf, log_q, 0.0)))
        return e / total, log_q, least

    def nonzero(self, a: Array) -> Array:
        """`a` as a divisor: exact zeros become one."""
        if isinstance(a, float):
            return a or 1.0
        return self._home(a).where(a != 0, a, 1.0)

    def certainly_positive(self, a: Array) -> Array:
        return a > 0

    def vanishes(self, a: Array, size: Array) -> Array:
        """Whether `a`, a difference of numbers of the given size, is zero to rounding."""
        return a <= 2.0**-48 * size


@cache
def _class_for(array: type) -> type[Float64]:
    """The class for arrays of this type."""
    from rankmath.arithmetic.cupy64 import CuPy64
    from rankmath.arithmetic.numpy64 import NumPy64

    if issubclass(array, np.ndarray | np.generic):
        return NumPy64
    return CuPy64 if array.__module__.partition(".")[0] == "cupy" else Float64


def to_numpy(array: Array) -> Floats:
    """A host copy, asked for by name: the one way off a device."""
    if is_cupy_array(array):
        import cupy

        return np.asarray(cupy.asnumpy(array))
    return np.asarray(array)
