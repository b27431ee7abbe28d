"""Double precision on any array-API library."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, cached_property, partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar

import array_api_compat.numpy
import numpy as np
from array_api_compat import is_cupy_array, is_numpy_array

from rankmath.kernels import compiled
from rankmath.validation import Array, Bools, Floats, InvalidArgument, library_of

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from rankmath.kernels.compiled import Kernel
    from rankmath.kernels.compiled_network import LayerPlan
    from rankmath.kernels.compiled_paths import Layer, PathRun
    from rankmath.kernels.compiled_tokens import TokenPlan

T = TypeVar("T")

# A block of logits, its exponentials, and a temporary of the library.
_BYTES_PER_ENTRY = 24
# 8 MiB of doubles: larger products are no faster.
_CACHED_ENTRIES = 2**20
_BATCHED_ENTRIES = 2**22
# Doubles of the rows that functions of every row take at a time.
_CACHED_ROWS = 2**15
# Use our thread pool from this many exponentials.
_THREADED_ENTRIES = 2**18
# Use the compiled kernel from this many pairs of tokens, and for values at least this wide: it pads them to 32.
_COMPILED_ENTRIES = 2**14
_COMPILED_WIDTH = 16
# … compiled layers from this many tokens, on our threads from this many multiply-adds (of the first four layers)
# for each lane of a register and two more, all heads of plain attention from this many pairs of tokens of all,
_COMPILED_ROWS = 2
_SHARED = 2**17
_COMPILED_HEADS = 2**12
# … and compiled functions from this many entries.
_COMPILED_MAP = 2**10
# Logits up to this size need no largest one taken off them.
_LARGEST_LOGIT = 600.0
# Products of many small matrices that lie side by side add up to so many terms.
_FEW_TERMS = 16
# Multiplications of a product from which its rows are shared among our threads.
_SHARED_PRODUCT = 2**24
# Above this size max and −min beat max of a temporary abs(a).
_LONG = 2**14
_LARGEST_BLOCK_BYTES = 6 * 2**30


class Float64:
    """float64 arrays of one library; NumPy and CuPy may overwrite a temporary in place."""

    name = "float64"
    #: Exponents are bounded, so magnitudes travel apart from the arrays (`scales`).
    unbounded: Literal[False] = False
    root_two_pi = math.sqrt(2.0 * math.pi)

    def __init__(
        self, like: Array, *, memory: int | None = None, backend: Literal["numpy", "cupy"] = "numpy"
    ) -> None:
        self.xp: ModuleType = library_of(like)
        self.backend = backend  # where the layers of a statement's networks run
        # Units, one number a matrix, stay on the host: on a GPU each operation on them would be a launch.
        self.units: ModuleType = array_api_compat.numpy
        self._numpy = is_numpy_array(like)
        self.on_gpu = is_cupy_array(like)
        self._native = self._numpy or self.on_gpu
        self._device = None if self._native else like.device
        self.log_power = math.log(math.log2(math.e)) if self._numpy else 0.0
        self._scratch = threading.local()
        self._alone = False  # whether BLAS has one thread
        # NumPy's own names for these spend longer on their arguments than on a small array.
        self._max: Callable[..., Array] = np.maximum.reduce if self._numpy else self.xp.max
        self._sum: Callable[..., Array] = np.add.reduce if self._numpy else self.xp.sum

        # Entries of the blocks that `memory` allows.
        self._given = None if memory is None else max(1, memory // _BYTES_PER_ENTRY)

    @property
    def cuts_finely(self) -> bool:
        """Whether the user limits the memory of blocks."""
        return self._given is not None

    @cached_property
    def block_entries(self) -> int:
        """Entries of a row block; one thread alone may hold all of the memory, each of many its part."""
        if self._given is None:
            return self._budget()
        return max(1, self._given // (self._threads if self._numpy else 1))

    @cached_property
    def batch_entries(self) -> int:
        """… of a batch: products of many small matrices gain less from the cache than they lose by being cut."""
        cut = self.cuts_finely or self.on_gpu
        return self.block_entries if cut else max(self.block_entries, _BATCHED_ENTRIES)

    @cached_property
    def lone_entries(self) -> int:
        return self.batch_entries if self._given is None else self._given

    def _budget(self) -> int:
        """Entries of a row block: on the CPU what stays in cache, on a GPU a part of the memory that is free."""
        if not self.on_gpu:
            return _CACHED_ENTRIES
        import cupy

        free, _ = cupy.cuda.Device().mem_info
        pooled = cupy.get_default_memory_pool().free_bytes()
        return int(min((free + pooled) // 4, _LARGEST_BLOCK_BYTES) // _BYTES_PER_ENTRY)

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
            ahead = deque(shared.submit(task) for task in tasks[: threads + 1])
            try:
                for task in tasks[threads + 1 :]:
                    yield ahead.popleft().result()
                    ahead.append(shared.submit(task))
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
        # Other threads, ours among them, work alone: they wait for none, and leave BLAS's threads as they are.
        alone = threading.current_thread() is not threading.main_thread()
        return 1 if alone or not self._numpy or entries < _THREADED_ENTRIES else self._threads

    @cached_property
    def _threads(self) -> int:
        """As many as the user lets BLAS have."""
        return max((lib.num_threads for lib in _controller().lib_controllers if lib.user_api == "blas"), default=1)

    def asarray(self, value: Array) -> Array:
        return value

    def constant(self, value: float) -> float:
        return float(value)

    def matmul(self, a: Array, b: Array) -> Array:
        if self.on_gpu and a.ndim == 2 and b.ndim == 3:
            from rankmath.kernels.cuda import product_with_each

            return product_with_each(a, b)
        if self.on_gpu and a.ndim == 3 and b.ndim == 2:  # one large product
            return self.xp.matmul(a.reshape(-1, a.shape[2]), b).reshape(*a.shape[:2], b.shape[1])
        if self._numpy and a.ndim == b.ndim == 2 and a.size * b.shape[1] >= _SHARED_PRODUCT:
            return self._shared_product(a, b)
        few = self._numpy and a.shape[-1] <= _FEW_TERMS and max(a.ndim, b.ndim) > 2
        if few and all(x.ndim == 2 or side_by_side(x) for x in (a, b)):
            return _product_of_many(a, b)
        return self.xp.matmul(a, b)

    def _shared_product(self, a: Array, b: Array) -> Array:
        """a b with rows for each of our threads: BLAS's own would go on waiting for work where ours run next."""
        threads = self.threads_for(_THREADED_ENTRIES)
        if threads == 1:
            return a @ b
        out, rows = np.empty((a.shape[0], b.shape[1])), -(-a.shape[0] // threads)
        cuts = [slice(start, start + rows) for start in range(0, a.shape[0], rows)]
        list(self.in_turn([partial(np.matmul, a[cut], b, out=out[cut]) for cut in cuts], _THREADED_ENTRIES))
        return out

    def passing_product(self, a: Array, b: Array) -> Array:
        """a b in a per-thread buffer, valid until the next call: fresh pages cost more than they seem to."""
        if not self._numpy or a.ndim != 2:
            return self.matmul(a, b)
        rows, columns = a.shape[0], b.shape[1]
        flat: Array = getattr(self._scratch, "flat", None)
        if flat is None or flat.size < rows * columns:
            flat = self._scratch.flat = np.empty(rows * columns)
        return np.matmul(a, b, out=flat.view(a.dtype)[: rows * columns].reshape(rows, columns))

    def in_place_by_rows(self, function: Callable[..., Array], a: Array, *others: Array) -> Array:
        """function(a, *others), which may overwrite a: on the CPU some rows at a time, in cache, on our threads."""
        if not self._numpy or a.ndim != 2 or any(other.shape != a.shape for other in others):
            return function(a, *others)
        (n, d), step = a.shape, max(1, _CACHED_ROWS // a.shape[1])

        def some(rows: slice) -> None:
            given = a[rows]
            made = function(given, *(other[rows] for other in others))
            if made is not given:
                given[...] = made

        list(self.in_turn([partial(some, slice(start, start + step)) for start in range(0, n, step)], n * d))
        return a

    def weighted(self, q: Array, values: Array) -> Array:
        """[q v, q] side by side: sums of the weighted values, and of the weights, in one product."""
        if not self._numpy or values.ndim != 2 or q.ndim != 2:
            return self.concat([q * values, q], axis=-1)
        n, d = values.shape
        both = np.empty((n, d + 1))
        np.multiply(q, values, out=both[:, :d])
        both[:, d:] = q
        return both

    def combined(self, a: Array, x: Array, b: Array, y: Array) -> Array:
        """a x + b y for units x and y."""
        if self.on_gpu:
            from rankmath.kernels.cuda import axpby

            return axpby(a, self.factor(x), b, self.factor(y))
        return a * self.factor(x) + b * self.factor(y)

    def transpose(self, a: Array) -> Array:
        return self.xp.matrix_transpose(a)

    def _home(self, a: Array) -> ModuleType:
        return self.units if isinstance(a, np.ndarray) else self.xp

    def unit_of(self, a: Array) -> Floats:
        """An array of a few numbers, brought to the host."""
        return a if self._numpy else to_numpy(a)

    def factor(self, unit: Array) -> Array:
        """Numbers of the host, to meet arrays: one number where all are equal."""
        if self._numpy or not isinstance(unit, np.ndarray):
            return unit
        first = unit.flat[0]
        return float(first) if (unit == first).all() else self.xp.asarray(unit, device=self._device)

    def exp(self, a: Array) -> Array:
        return self._home(a).exp(a)

    def expm1_of_temporary(self, a: Array) -> Array:
        """expm1 of an array nobody else holds: in place where the library can."""
        return self.xp.expm1(a, out=a) if self._native else self.xp.expm1(a)

    def exp_of_temporary(self, a: Array) -> Array:
        return self.xp.exp(a, out=a) if self._native else self.xp.exp(a)

    def sum_with_temporary(self, a: Array, b: Array) -> Array:
        """a + b in the place of a, which nobody else holds."""
        if self._numpy and np.broadcast_shapes(a.shape, b.shape) == a.shape:
            a += b
            return a
        return a + b

    def difference_of_temporary(self, a: Array, b: Array) -> Array:
        if self._numpy and np.broadcast_shapes(a.shape, b.shape) == a.shape:
            a -= b
            return a
        return a - b

    def quotient_of_temporary(self, a: Array, b: Array) -> Array:
        if self._numpy and np.broadcast_shapes(a.shape, np.shape(b)) == a.shape:
            a /= b
            return a
        return a / b

    def product_of_temporary(self, a: Array, b: Array) -> Array:
        if self._numpy and np.broadcast_shapes(a.shape, np.shape(b)) == a.shape:
            a *= b
            return a
        return a * b

    def power_of_temporary(self, a: Array) -> Array:
        """e^(a/u), u = e^`log_power`: powers of two cost NumPy a tenth less than powers of e."""
        return np.exp2(a, out=a) if self._numpy else self.exp_of_temporary(a)

    def log(self, a: Array) -> Array:
        """Natural logarithm, log 0 = −∞ without a warning."""
        if isinstance(a, np.ndarray):
            with np.errstate(divide="ignore"):
                return np.log(a)
        if self.on_gpu:
            return self.xp.log(a)  # no warnings there
        positive = a > 0
        return self.xp.where(positive, self.xp.log(self.xp.where(positive, a, 1.0)), -self.xp.inf)

    def sqrt(self, a: Array) -> Array:
        return self.xp.sqrt(a)

    def abs(self, a: Array) -> Array:
        return self.xp.abs(a)

    def sum(self, a: Array, axis: int) -> Array:
        return self._sum(a, axis=axis, keepdims=True)

    def mean_row(self, a: Array) -> Array:
        """The mean over the rows, (..., 1, d)."""
        n = a.shape[-2]
        if self.on_gpu and a.ndim <= 3:  # a product is faster than CuPy's sum over rows
            return self.matmul(self.xp.full((1, n), 1 / n), a)
        return self.sum(a, axis=-2) / n

    def max(self, a: Array, axis: int) -> Array:
        return self._max(a, axis=axis, keepdims=True)

    def largest(self, a: Array) -> Array:
        """The largest |entry| of each matrix, (..., 1, 1): a unit."""
        if not self._numpy:
            return self.sizes([a])[0]
        if a.size >= _LONG and (found := self._compiled_largest(a)) is not None:
            return found
        if a.ndim == 2 and a.size > _LONG:
            return np.maximum(a.max(keepdims=True), -a.min(keepdims=True))
        return np.maximum.reduce(np.abs(a), axis=(-2, -1), keepdims=True)

    def _compiled_largest(self, a: Array) -> Array | None:
        kernel, entries = compiled.kernel(), a.shape[-2] * a.shape[-1]
        if kernel is None or not a.flags.c_contiguous or entries % (4 * kernel.shape.lanes):
            return None
        out = np.empty((*a.shape[:-2], 1, 1))
        kernel.largest(out.size, entries // kernel.shape.lanes, a.ctypes.data, out.ctypes.data)
        return out

    def sizes(self, arrays: list[Array]) -> list[Array]:
        """`largest` of each: from a GPU all at once."""
        if self.on_gpu:
            from rankmath.kernels.cuda import largest

            return largest(arrays)
        if self._numpy:
            return [self.largest(a) for a in arrays]
        return [self.unit_of(self.xp.max(self.xp.abs(a), axis=(-2, -1), keepdims=True)) for a in arrays]

    def measuring(
        self, arrays: list[Array]
    ) -> Callable[[], AbstractContextManager[Callable[[], tuple[Floats, Floats]]]]:
        """Begins to measure these when called; what it gives reads `sizes`, and the largest of each array."""
        if self.on_gpu:
            from rankmath.kernels.cuda import Sizes

            return Sizes(arrays).begun

        def measured() -> tuple[Floats, Floats]:
            sizes = [to_numpy(size).ravel() for size in self.sizes(arrays)]
            return np.concatenate(sizes), np.array([size.max() for size in sizes])

        return lambda: nullcontext(measured)

    def longest(self, a: Array) -> Array:
        """The largest 2-norm of a row of each matrix, (..., 1, 1): a unit. No square leaves a double's range."""
        size = self.largest(a)
        a = a / self.factor(self.nonzero(size))
        if self._numpy:
            return size * np.sqrt(np.max(np.einsum("...i,...i->...", a, a), axis=-1)[..., None, None])
        return size * self.unit_of(self.xp.sqrt(self.max(self.sum(a * a, axis=-1), axis=-2)))

    def size_bound(self, a: Array) -> Array:
        return self.largest(a)

    def where(self, condition: Array, a: Array, b: Array) -> Array:
        return self.xp.where(condition, a, b)

    def concat(self, arrays: list[Array], axis: int) -> Array:
        return self.xp.concat(arrays, axis=axis)

    def maximum(self, a: Array, b: Array | float) -> Array:
        return self._home(a).maximum(a, b)

    def tanh(self, a: Array) -> Array:
        return self.xp.tanh(a)

    def normal_cdf(self, a: Array) -> Array:
        """Φ(a)."""
        if found := self._mapped("normal_cdf", a):
            return found(np.empty_like(a))
        if not self._native:
            library = type(a).__module__.partition(".")[0]
            raise InvalidArgument(
                f"mlp: activation 'gelu' needs Φ, which {library} lacks; use NumPy or CuPy arrays"
            )
        special = import_module("scipy.special" if self._numpy else "cupyx.scipy.special")
        return special.ndtr(a)

    def activated(self, name: Literal["gelu", "gated"], a: Array, slopes: tuple[float, float]) -> Array | None:
        """a Φ(a), or a/(1 + e^−g(a)), in the place of a; None if no kernel does it."""
        found = self._mapped(name, a, slopes)
        return found(a) if found else None

    def _mapped(
        self, name: str, a: Array, slopes: tuple[float, float] = (0.0, 0.0)
    ) -> Callable[[Floats], Floats] | None:
        """A compiled function of every entry, to be told where its values go; None where NumPy takes as long."""
        if not self._numpy or a.size < _COMPILED_MAP or not a.flags.c_contiguous:
            return None
        kernel = compiled.kernel()
        return None if kernel is None else lambda out: kernel.mapped(name, a, out, slopes)

    def middle(self, a: Array) -> Array:
        return a

    def hide(self, allowed: Bools, a: Array) -> Array:
        """`a` where allowed, −∞ elsewhere."""
        # A mask's matrix is read-only, which some libraries warn about.
        there = self.xp.asarray(allowed if self._native else allowed.copy(), device=self._device)
        return self.xp.where(there, a, -self.xp.inf)

    def any(self, a: Array) -> bool:
        return bool(self.xp.any(a))

    def fuses(self, left: Array, values: Array) -> bool:
        """Whether one kernel does what `fused_deviation` says."""
        if self._numpy:
            large = left.shape[-2] * values.shape[-2] >= _COMPILED_ENTRIES and values.shape[-1] >= _COMPILED_WIDTH
            return large and compiled.kernel() is not None
        if not self.on_gpu:
            return False
        from rankmath.kernels.cuda import fits

        return fits(left, values)

    def fused_deviation(self, left: Array, right: Array, q: Array, values: Array, scale: Array) -> Array:
        """Σ_j m_ij q_j v_j/(1 + Σ_j m_ij q_j) with m = expm1(scale · left rightᵀ), no n × n matrix in memory."""
        if self._numpy:
            return self._compiled_average(1.0, scale, left, right, q, values)
        from rankmath.kernels.cuda import fused_deviation

        return fused_deviation(left, right, q, values, self.factor(scale))

    def fuses_softmax(self, left: Array, values: Array) -> bool:
        """Whether `fused_softmax` is worth its look at the sizes."""
        return self._numpy and left.shape[-2] * values.shape[-2] >= _COMPILED_ENTRIES

    def fused_softmax(
        self, queries: Array, keys: Array, added: Array | None, values: Array, root: float
    ) -> Array | None:
        """softmax((queries keysᵀ + 1 addedᵀ)/root) values without a largest logit taken off; None if that may
        overflow."""
        spread = 0.0 if added is None else float(added.max() - added.min())
        lengths = (self.longest(queries) * self.longest(keys)).item()
        if not lengths + spread <= _LARGEST_LOGIT * root:  # Cauchy–Schwarz
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            out = self._average(queries, keys, added, values, root)
            # Values may be too large for weights that are not divided yet.
            return out if math.isfinite(float(out.sum())) else None

    def fuses_heads(self, X: Array, heads: int) -> bool:
        """Whether `path_layers` does, and pays."""
        if not self._numpy or self.cuts_finely or X.shape[-1] < _COMPILED_WIDTH:
            return False
        return heads * X.shape[-2] ** 2 >= _COMPILED_HEADS and compiled.kernel() is not None

    def path_layers(self, tokens: Array, V: Array, layers: Sequence[Layer]) -> PathRun:
        """As many of these layers as may stand: their averages of V (n, k, d) side by side, without a largest logit
        taken off."""
        kernel, (n, k, d), heads = compiled.kernel(), V.shape, len(layers[0][0])
        assert kernel is not None
        threads = self._shares(kernel, min(len(layers), 4) * heads * n * d * (n + d) * (k + 1))
        return _plans()[2](kernel, tokens, V, layers, _LARGEST_LOGIT, threads)

    def _average(self, queries: Array, keys: Array, added: Array | None, values: Array, root: float) -> Array:
        q = np.ones((keys.shape[0], 1)) if added is None else np.exp((added - added.max()) / root)
        if values.shape[1] >= _COMPILED_WIDTH and compiled.kernel() is not None:
            return self._compiled_average(0.0, 1.0 / root, queries, keys, q, values)
        right, weighted = (keys / root).T, values if added is None else q * values
        out, rows = np.empty((len(queries), values.shape[1])), max(1, self.lone_entries // len(keys))
        for start in range(0, len(out), rows):
            cut = slice(start, start + rows)
            weights = self.exp_of_temporary(self.passing_product(queries[cut], right))
            np.matmul(weights, weighted, out=out[cut])
            out[cut] /= weights @ q
        return out

    def _compiled_average(
        self, base: float, scale: Array, left: Array, right: Array, q: Array, values: Array
    ) -> Array:
        kernel = compiled.kernel()
        assert kernel is not None
        if left.ndim > 2:
            lead = np.broadcast_shapes(*(np.shape(a)[:-2] for a in (scale, left, right, q, values)))
            many = [np.broadcast_to(a, (*lead, *np.shape(a)[-2:])) for a in (scale, left, right, q, values)]
            out = np.empty((*lead, left.shape[-2], values.shape[-1]))

            def one(place: tuple[int, ...]) -> None:
                out[place] = self._compiled_average(base, *(a[place] for a in many))

            each = [partial(one, place) for place in np.ndindex(*lead)]
            list(self.in_turn(each, len(each) * left.shape[-2] * right.shape[-2]))
            return out
        entries = left.shape[0] * right.shape[0]
        threads = self.threads_for(entries)
        out, tasks = compiled.fused_average(kernel, base, scale, left, right, q, values, threads)
        list(self.in_turn(tasks, entries))
        return out

    def layer_plan(self, n: int, d: int, heads: int, layers: int = 1) -> LayerPlan | None:
        """The compiled layers for such tokens; None where no kernel is, or where it would not pay."""
        if not self._numpy or self.cuts_finely or n < _COMPILED_ROWS:
            return None
        kernel = compiled.kernel()
        if kernel is None:
            return None
        threads = self._shares(kernel, 2 * heads * n * (n + d) * d * min(layers, 4))
        return _plans()[0](kernel, n, d + -d % kernel.shape.lanes, heads, threads)

    def _shares(self, kernel: Kernel, products: int) -> int:
        """Threads of compiled code with so many multiply-adds: they pay sooner than in `in_turn`, called once."""
        enough = products >= _SHARED * (kernel.shape.lanes + 2)
        return self.threads_for(_THREADED_ENTRIES if enough else 0)

    def token_plan(self, X: Array) -> TokenPlan | None:
        """What centres and measures such tokens in one call; None where no kernel is, or for a few tokens."""
        if (
            not self._numpy
            or self.cuts_finely
            or X.ndim != 2
            or len(X) < _COMPILED_ROWS
            or not X.flags.c_contiguous
        ):
            return None
        kernel = compiled.kernel()
        if kernel is None or X.shape[1] % kernel.shape.lanes:
            return None
        return _plans()[1](kernel, *X.shape)

    def farthest(self, products: Array, squares: Array) -> Array:
        """max_j |x_i − x_j|², (..., r, 1), from the products of r tokens with themselves and all after them."""
        if self.on_gpu:
            from rankmath.kernels.cuda import farthest

            return farthest(products, squares)
        own = squares[..., squares.shape[-2] - products.shape[-1] :, :]
        return own[..., : products.shape[-2], :] + self.max(self.transpose(own) - 2 * products, axis=-1)

    def row_of_largest(self, scores: Array, rows: Array) -> Array:
        """The row of `rows` at the first largest score: (..., n, 1), (..., n, d) -> (..., 1, d)."""
        xp = self.xp
        if scores.ndim == rows.ndim == 2:
            place = int(xp.argmax(scores))
            return rows[place : place + 1, :]
        if self._numpy and side_by_side(scores) and side_by_side(rows):
            return _row_of_many(scores, rows)
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
        if self.on_gpu and scores.shape[scores.ndim - rows.ndim : -2] == rows.shape[:-2]:
            from rankmath.kernels.cuda import relative_to_largest

            return relative_to_largest(scores, rows)
        row = self.row_of_largest(scores, rows)
        return row, rows - row

    def column_softmax(self, c: Array, unit: Array) -> tuple[Array, Array, float]:
        """q = softmax(unit · c) and log q for a column (..., n, 1), and the least finite log q."""
        if self.on_gpu:
            from rankmath.kernels.cuda import column_softmax

            return column_softmax(c, self.factor(unit))
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
    best, found = scores[..., :1, :].copy(), rows[..., :1, :] + 0.0 * scores[..., :1, :1]
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
def _plans() -> tuple[Callable[..., LayerPlan], Callable[..., TokenPlan], Callable[..., PathRun]]:
    """Loaded when there is a kernel; to import them again and again takes small layers a while."""
    from rankmath.kernels.compiled_network import plan
    from rankmath.kernels.compiled_paths import path_layers
    from rankmath.kernels.compiled_tokens import token_plan

    return plan, token_plan, path_layers


@cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def to_numpy(array: Array) -> Floats:
    """A host copy, asked for by name: the one way off a device."""
    if is_cupy_array(array):
        import cupy

        return np.asarray(cupy.asnumpy(array))
    return np.asarray(array)
