"""Double precision on NumPy: our threads, buffers that are used again, and compiled kernels."""

from __future__ import annotations

import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankmath.arithmetic.base import T
from rankmath.arithmetic.float64 import Float64
from rankmath.validation import Array, Bools, Floats

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

# Functions of rows take this many doubles at a time.
_CACHED_ROWS = 2**15
# Use our thread pool from this many exponentials.
THREADED_ENTRIES = 2**18
# Sums of products of many small matrices that lie side by side are written out up to this many terms.
_FEW_TERMS = 16
# Share the rows of a product among our threads from this many multiplications.
_SHARED_PRODUCT = 2**24
# Above this size max and −min beat max of a temporary abs(a).
_LONG = 2**14
_IN_PLACE = {operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide}


class NumPy64(Float64):
    """NumPy's arrays."""

    def __init__(self, like: Array, **more: Any) -> None:
        super().__init__(like, **more)
        self._device = None
        self._scratch = threading.local()
        self._alone = False  # whether BLAS has one thread

    @cached_property
    def block_entries(self) -> int:
        """One thread alone may hold all of the memory, each of many its part."""
        return super().block_entries if self._given is None else max(1, self._given // self._threads)

    def in_turn(self, tasks: Sequence[Callable[[], T]], entries: int) -> Iterator[T]:
        """Yield results in order; `entries`, the exponentials of all tasks, decides whether to thread.

        NumPy's exponentials run on one core. Large tasks therefore share the threads that BLAS has: as many at a
        time as there are, or, if there are fewer tasks than threads, the parts of one (which come here as well).
        """
        threads = self.threads_for(entries)
        if threads == 1:
            yield from (task() for task in tasks)
            return
        with self.blas_alone(entries):
            if len(tasks) < threads:
                yield from (task() for task in tasks)
                return
            shared = pool(os.getpid(), threads)
            # Each in a context of its own: what is ignored here (np.errstate) is ignored there.
            ahead = deque(shared.submit(copy_context().run, task) for task in tasks[: threads + 1])
            try:
                for task in tasks[threads + 1 :]:
                    yield ahead.popleft().result()
                    ahead.append(shared.submit(copy_context().run, task))
                yield from (future.result() for future in ahead)
            finally:
                for future in ahead:
                    future.cancel()

    @contextmanager
    def blas_alone(self, entries: int) -> Iterator[None]:
        """One thread for BLAS where `in_turn` would share so many entries: its others, once woken, wait for more
        work for a hundredth of a second, on the cores that our threads run on."""
        if self.threads_for(entries) == 1 or self._alone:
            yield
            return
        with _controller().limit(limits=1, user_api="blas"):
            self._alone = True
            try:
                yield
            finally:
                self._alone = False

    def threads_for(self, entries: int) -> int:
        """How many threads `in_turn` shares so many exponentials among."""
        # Only the main thread shares work: other threads must not wait for each other, nor change BLAS's threads.
        alone = threading.current_thread() is not threading.main_thread()
        return 1 if alone or entries < THREADED_ENTRIES else self._threads

    @cached_property
    def _threads(self) -> int:
        """As many as the user lets BLAS have."""
        return max((lib.num_threads for lib in _controller().lib_controllers if lib.user_api == "blas"), default=1)

    def matmul(self, a: Array, b: Array) -> Array:
        if a.ndim == b.ndim == 2 and a.size * b.shape[1] >= _SHARED_PRODUCT:
            return self._shared_product(a, b)
        few = a.shape[-1] <= _FEW_TERMS and max(a.ndim, b.ndim) > 2
        if few and all(x.ndim == 2 or side_by_side(x) for x in (a, b)):
            return _product_of_many(a, b)
        return np.matmul(a, b)

    def _shared_product(self, a: Array, b: Array) -> Array:
        """a b with rows for each of our threads: BLAS's own would go on waiting for work where ours run next."""
        threads = self.threads_for(THREADED_ENTRIES)
        if threads == 1:
            return a @ b
        out, rows = np.empty((a.shape[0], b.shape[1])), -(-a.shape[0] // threads)
        cuts = [slice(start, start + rows) for start in range(0, a.shape[0], rows)]
        list(self.in_turn([partial(np.matmul, a[cut], b, out=out[cut]) for cut in cuts], THREADED_ENTRIES))
        return out

    def passing_product(self, a: Array, b: Array) -> Array:
        """a b in a per-thread buffer, valid until the next call: fresh pages cost more than they seem to."""
        if a.ndim != 2:
            return self.matmul(a, b)
        rows, columns = a.shape[0], b.shape[1]
        flat: Array = getattr(self._scratch, "flat", None)
        if flat is None or flat.size < rows * columns:
            flat = self._scratch.flat = np.empty(rows * columns)
        return np.matmul(a, b, out=flat.view(a.dtype)[: rows * columns].reshape(rows, columns))

    def in_place_by_rows(self, function: Callable[..., Array], a: Array, *others: Array) -> Array:
        """function(a, *others), which may overwrite a: on the CPU some rows at a time, in cache, on our threads."""
        if a.ndim != 2 or any(other.shape != a.shape for other in others):
            return function(a, *others)
        (n, d), step = a.shape, max(1, _CACHED_ROWS // a.shape[1])

        def some(rows: slice) -> None:
            given = a[rows]
            made = function(given, *(other[rows] for other in others))
            if made is not given:
                given[...] = made

        list(self.in_turn([partial(some, slice(start, start + step)) for start in range(0, n, step)], n * d))
        return a

    def unit_of(self, a: Array) -> Floats:
        return np.asarray(a)

    def factor(self, unit: Array) -> Array:
        return unit

    def expm1_of_temporary(self, a: Array) -> Array:
        return np.expm1(a, out=a)

    def exp_of_temporary(self, a: Array) -> Array:
        return np.exp(a, out=a)

    def _combined_with(self, operation: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
        if np.broadcast_shapes(a.shape, np.shape(b)) == a.shape:
            return _IN_PLACE[operation](a, b, out=a)
        return operation(a, b)

    # NumPy's own names for these spend longer on their arguments than on a small array.
    def sum(self, a: Array, axis: int) -> Array:
        return np.add.reduce(a, axis=axis, keepdims=True)

    def max(self, a: Array, axis: int) -> Array:
        return np.maximum.reduce(a, axis=axis, keepdims=True)

    def largest(self, a: Array) -> Array:
        if a.ndim == 2 and a.size > _LONG:
            return np.maximum(a.max(keepdims=True), -a.min(keepdims=True))
        return np.maximum.reduce(np.abs(a), axis=(-2, -1), keepdims=True)

    def sizes(self, arrays: list[Array]) -> list[Array]:
        return [self.largest(a) for a in arrays]

    def longest(self, a: Array) -> Array:
        size = self.largest(a)
        a = a / self.nonzero(size)
        return size * np.sqrt(np.max(np.einsum("...i,...i->...", a, a), axis=-1)[..., None, None])

    def normal_cdf(self, a: Array) -> Array:
        from scipy.special import ndtr

        return ndtr(a)

    def hide(self, allowed: Bools, a: Array) -> Array:
        return np.where(allowed, a, -np.inf)

    def row_of_largest(self, scores: Array, rows: Array) -> Array:
        if side_by_side(scores) and side_by_side(rows):
            return _row_of_many(scores, rows)
        return super().row_of_largest(scores, rows)


# -- many small matrices ------------------------------------------------------------------------------------


def many(a: Array, axis: int) -> Array:
    """The same array with the matrices of a batch (along `axis`) side by side in memory, so that NumPy's loops run
    over all of them and not over a few rows; what is computed from it entry by entry, or reduced, is as well."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, axis, -1)), -1, axis)


def side_by_side(a: Array) -> bool:
    """Whether `many` has laid it out, (..., batch, n, d)."""
    laid = isinstance(a, np.ndarray) and a.ndim > 2 and a.shape[-3] > 1
    return bool(laid and a.strides[-3] == a.itemsize)


def _product_of_many(a: Floats, b: Floats) -> Floats:
    out = a[..., :1] * b[..., :1, :]
    part = np.empty_like(out)
    for k in range(1, a.shape[-1]):
        out += np.multiply(a[..., k : k + 1], b[..., k : k + 1, :], out=part)
    return out


def _row_of_many(scores: Floats, rows: Floats) -> Floats:
    best, found = scores[..., :1, :].copy(), rows[..., :1, :] + np.zeros_like(scores[..., :1, :1])
    for i in range(1, scores.shape[-2]):
        score = scores[..., i : i + 1, :]
        better = score > best
        np.copyto(best, score, where=better)
        np.copyto(found, rows[..., i : i + 1, :], where=better)
    return found


@cache
def pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads that stay, since starting them takes time; a forked process has none of its parent's."""
    return ThreadPoolExecutor(threads)


@cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
