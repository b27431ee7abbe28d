"""Kernels for what the profile of a layer asks for, each with a twin in arrays that tests hold it to.

The large one: softmax averages relative to their center without an n × m matrix in memory,

    out_i = Σ_j m_ij q_j v_j / (1 + Σ_j m_ij q_j),   m = expm1(left rightᵀ),

given q_j and q_j v_j.

A warp holds 16 rows of `left` and `out` in registers and walks over the keys, 32 at a time, the next 32 copied to
shared memory meanwhile. Both products run on the float64 tensor units (mma m16n8k8). The fragment one leaves m
in is the fragment the other wants, up to a permutation of the keys, and a sum does not mind the order.

The small ones make one pass where CuPy would make several: sizes of matrices, rows relative to one of them, the
softmax of a column, largest distances. The twins: `rankmath.attention.views.by_expm1`, and the methods of
`Float64` that call these.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rankmath.kernels.cuda_kernels import text
from rankmath.validation import Array, Floats

#: A compiled kernel, called with grid, block and arguments (or, elementwise, with arrays).
Kernel: TypeAlias = Callable[..., Array]

#: Wider factors would not fit the registers of a warp.
WIDEST = 64

_WARPS, _TILE = 4, 32


def _powers_of_two() -> Iterator[tuple[float, float]]:
    """2^(j/32), j < 32, as a double, and what it lacks to that, over it."""
    for j in range(32):
        root = 1 << 4096 + j
        for _ in range(5):
            root = math.isqrt(root)
        power = root / (1 << 128)
        yield power, (root - (int(power * 2.0**52) << 76)) / root


#: The sources, each with its purpose in its first lines.
PRIMITIVES, LARGEST, DEVIATION, _SMALL = map(text, ("primitives", "largest", "deviation", "small"))
# 2^(j/32) is kept by lane j, rounded, with the part of itself that this lacks (of which a high word is enough).
_POWERS = "".join(f"{{{power!r}, {rest!r}}}, " for power, rest in _powers_of_two())
EXPM1 = f"#define POWERS_OF_TWO {_POWERS}\n{text('expm1')}"

_THREADS = 256


@cache
def _small(name: str, device: int) -> Kernel:
    import cupy as cp

    kernel: Kernel = cp.RawModule(code=PRIMITIVES + _SMALL, options=("-std=c++17",)).get_function(name)
    return kernel


def _launch(name: str, blocks: int, *arguments: Array) -> None:
    import cupy as cp

    _small(name, cp.cuda.Device().id)((blocks,), (_THREADS,), arguments)


def _blocks(size: int) -> int:
    """Blocks for a matrix: every thread has some dozens of entries to look at."""
    return max(1, min(64, size // (32 * _THREADS)))


class Sizes:
    """Measures the same arrays whenever it is asked, as they are then: the largest |entry| of each matrix."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        import cupy as cp

        self.arrays = [cp.ascontiguousarray(a) for a in arrays]
        places: dict[tuple[int, ...], list[int]] = {}  # one launch for all arrays of a shape
        for place, a in enumerate(self.arrays):
            places.setdefault(a.shape, []).append(place)
        self._lock, start, pointers = Lock(), 0, np.zeros(len(self.arrays), np.uint64)
        self._groups: list[tuple[tuple[int, ...], list[int], slice, tuple[int, int, int]]] = []
        for shape, where in places.items():
            count, blocks = math.prod(shape[:-2]), _blocks(shape[-2] * shape[-1])
            size = len(where) * count * blocks
            first = sum(len(others) for _, others, *_ in self._groups)
            pointers[first : first + len(where)] = [self.arrays[place].data.ptr for place in where]
            self._groups.append((shape, where, slice(start, start + size), (first, count, blocks)))
            start += size
        # Blocks read where their matrix is: on the host that took some 0.1 µs for each of them.
        self._pointers, self._found = cp.asarray(pointers, blocking=True), _shared(start)
        self._done = cp.cuda.Event(disable_timing=True)
        self._launches = [self._launch_of(*group) for group in self._groups if group[3][1]]

    @contextmanager
    def begun(self) -> Iterator[Callable[[], tuple[Floats, Floats]]]:
        """Begins; what is given waits and reads: the sizes of all matrices, and the largest of each array."""
        with self._lock:
            self._begin()
            yield self._sizes

    def read(self) -> list[Floats]:
        """(arrays, matrices) for each shape."""
        with self._lock:
            self._begin()
            return self._read()

    def _launch_of(
        self, shape: tuple[int, ...], where: list[int], part: slice, counts: tuple[int, int, int]
    ) -> tuple[int, tuple[Array, ...]]:
        """Blocks and arguments for the arrays of one shape."""
        first, count, blocks = counts
        many, out = np.intp(self._pointers.data.ptr + 8 * first), np.intp(self._found[part].ctypes.data)
        sizes = (np.int64(count), np.int64(shape[-2] * shape[-1]), np.int32(blocks))
        return part.stop - part.start, (many, *sizes, out)

    def _begin(self) -> None:
        for blocks, arguments in self._launches:
            _launch("largest", blocks, *arguments)
        self._done.record()

    def _read(self) -> list[Floats]:
        """Written where the host reads it: a few numbers for each matrix, whose maximum is taken here."""
        self._done.synchronize()
        groups = (self._found[part].reshape(len(where), -1, sizes[2]) for _, where, part, sizes in self._groups)
        return [group.max(axis=-1).view(np.float64) for group in groups]

    def _sizes(self) -> tuple[Floats, Floats]:
        groups, of_arrays = self._read(), np.empty(len(self.arrays))
        for group, (_, where, *_) in zip(groups, self._groups, strict=True):
            of_arrays[where] = group.max(axis=-1)
        return np.concatenate([group.ravel() for group in groups]), of_arrays


def _shared(size: int) -> npt.NDArray[np.uint64]:
    """Memory of the host that a GPU reads and writes."""
    import cupy as cp

    return np.frombuffer(cp.cuda.alloc_pinned_memory(8 * max(size, 1)), np.uint64, size)


def largest(arrays: Sequence[Array]) -> list[Floats]:
    """The largest |entry| of each matrix of each array, (..., 1, 1), on the host: one wait for all arrays."""
    sizes, result = Sizes(arrays), [np.empty(0)] * len(arrays)
    for group, (shape, where, *_) in zip(sizes.read(), sizes._groups, strict=True):
        for place, found in zip(where, group, strict=True):
            result[place] = found.reshape(*shape[:-2], 1, 1)
    return result


def relative_to_largest(scores: Array, rows: Array) -> tuple[Array, Array]:
    """The row at the first largest score, and all rows minus it.

    (..., n, 1), (..., n, d) -> (..., 1, d), (..., n, d). Leading axes of `rows` are the last of those of `scores`.
    """
    import cupy as cp

    lead, (n, d) = scores.shape[:-2], rows.shape[-2:]
    count, own, blocks = math.prod(lead), math.prod(rows.shape[:-2]), _blocks(n * d)
    place = cp.empty(count, dtype=cp.int32)
    row, out = cp.empty((*lead, 1, d)), cp.empty((*lead, n, d))
    _launch("first_largest", count, cp.ascontiguousarray(scores), np.int32(n), place)
    sizes = (np.int32(own), np.int32(n), np.int32(d), np.int32(blocks))
    _launch("relative", blocks * count, cp.ascontiguousarray(rows), place, *sizes, row, out)
    return row, out


def column_softmax(c: Array, scale: Array = 1.0) -> tuple[Array, Array, float]:
    """q = softmax(scale · c) and log q for columns (..., n, 1), and the least finite log q of all."""
    import cupy as cp

    count, c = math.prod(c.shape[:-2]), cp.ascontiguousarray(c)
    scales = (np.intp(0), scale) if isinstance(scale, float) else (_contiguous(scale, c.shape[:-2], 1), 1.0)
    q, log_q, least = cp.empty_like(c), cp.empty_like(c), cp.empty(count)
    _launch("column_softmax", count, c, *scales, np.int32(c.shape[-2]), q, log_q, least)
    return q, log_q, float(cp.asnumpy(least).min())


def row_softmax(logits: Array, divisor: float = 1.0) -> Array:
    """softmax(logits/divisor) along the last axis, in the place of the logits."""
    import cupy as cp

    logits = cp.ascontiguousarray(logits)
    if logits.size:
        columns = logits.shape[-1]
        sizes = np.int64(columns), np.intp(0), np.int64(1)
        _launch(_softmax(columns), logits.size // columns, logits, float(divisor), *sizes)
    return logits


def _softmax(columns: int) -> str:
    """The kernel for rows of so many entries."""
    return f"row_softmax_{next((per for per in (1, 4, 16, 32) if columns <= per * _THREADS), 0)}"


def farthest(products: Array, squares: Array) -> Array:
    """max_j |x_i − x_j|² = |x_i|² + max_j (|x_j|² − 2 x_i·x_j), (..., r, 1).

    From the products (..., r, m) of r tokens with the last m of n, whose first they are, and squares (..., n, 1).
    """
    import cupy as cp

    (rows, columns), n = products.shape[-2:], squares.shape[-2]
    out = cp.empty((*products.shape[:-1], 1))
    arrays = (cp.ascontiguousarray(products), cp.ascontiguousarray(squares))
    _launch("farthest", out.size, *arrays, np.int32(rows), np.int32(columns), np.int32(n), out)
    return out


def product_with_each(a: Array, b: Array) -> Array:
    """a b_h for one matrix a (n, k) and a stack b (H, k, m): CuPy's own product first spreads a out."""
    import cupy as cp

    (n, k), (H, _, m) = a.shape, b.shape
    a, b, out = cp.ascontiguousarray(a), cp.ascontiguousarray(b), cp.empty((H, n, m))
    _multiplier()(n, m, k, H, (a.data.ptr, k, 0), (b.data.ptr, m, k * m), (out.data.ptr, m, n * m))
    return out


def axpby(a: Array, x: Array, b: Array, y: Array) -> Array:
    """a x + b y in one pass."""
    return _axpby()(a, x, b, y)


@cache
def _axpby() -> Kernel:
    import cupy as cp

    arguments = "float64 a, float64 x, float64 b, float64 y", "float64 z"
    kernel: Kernel = cp.ElementwiseKernel(*arguments, "z = a * x + b * y", "axpby")
    return kernel


class PathSums:
    """λ V + Σ_h P_h V W_h, layer by layer, of tokens and path sums V side by side, P those of the tokens.

    But for the tokens, what heads make comes one place later than what is carried, and one more is made; without λ
    all are where they were. P is made for some rows at a time: `entries` of all heads at most, n × n where they
    suffice. Few launches, and little around them: each takes longer than many a layer.
    """

    def __init__(self, X: Array, heads: int, layers: int, entries: int) -> None:
        import cupy as cp

        (n, d), device = X.shape, cp.cuda.Device().id
        self.n, self.d, self.k = n, d, 2
        of_row = heads * (layers + 2) * d  # where there are most
        self._here, self._held = cp.ascontiguousarray(X), 1  # at first the tokens are the sum of all paths, too
        self._next, self._last = cp.empty((2, n * (layers + 2) * d))
        self._queries, self._added = cp.empty(heads * n * d), cp.empty(heads * n)
        self._P = cp.empty(min(heads * n * n, max(entries, heads * n)))
        self._seen, self._made = cp.empty((2, min(n * of_row, max(entries, of_row))))
        self._found = _shared(1)
        self._found[:] = 0
        self._multiply = _multiplier()
        self._softmax, self._lengthen = _small(_softmax(n), device), _small("lengthened", device)

    @property
    def wide(self) -> Array:
        """The tokens, and the sums by length, (n, k, d)."""
        return self._here[: self.n * self.k * self.d].reshape(self.n, self.k, self.d)

    def finite(self) -> bool:
        """Whether all that was made is; waits for it."""
        import cupy as cp

        cp.cuda.get_current_stream().synchronize()
        return not self._found[0]

    def step(
        self, query: Array, value: Array, key_bias: Array | None, bias: Array | None, root: float, skip: float
    ) -> None:
        """One layer of heads with these weights."""
        n, k, d, H, more, multiply = self.n, self._held, self.d, len(query), self.k + bool(skip), self._multiply
        P, seen, made, queries = (a.data.ptr for a in (self._P, self._seen, self._made, self._queries))
        X, row = (self._here.data.ptr, k * d, 0), k * d
        multiply(n, d, d, H, X, (query.data.ptr, d, d * d), (queries, d, n * d))
        added = _NOTHING
        if key_bias is not None:
            added = self._added
            multiply(1, n, d, H, (key_bias.data.ptr, d, d), X, (added.data.ptr, n, n), across=True, factor=1 / root)
        most = min(n, self._P.size // (H * n), self._seen.size // (H * row))
        for start in range(0, n, most):
            r = min(most, n - start)
            some, of_P = (queries + 8 * start * d, d, n * d), (P, n, r * n)
            multiply(r, n, d, H, some, X, of_P, across=True, factor=1 / root)
            self._softmax((H * r,), (_THREADS,), (self._P, 1.0, np.int64(n), added, np.int64(r)))
            multiply(r, row, n, H, of_P, X, (seen, row, r * row))
            multiply(r * k, d, d, H, (seen, d, r * row), (value.data.ptr, d, d * d), (made, d, r * row))
            sizes = np.array([start, r, self.k, k, d, H], np.int64)
            arrays = self._here, self._made, _NOTHING if bias is None else bias, float(skip)
            found = self._next, np.intp(self._found.ctypes.data)
            self._lengthen((-(-r * more * d // _THREADS),), (_THREADS,), (*arrays, *sizes, *found))
        self._here, self._next, self._last = self._next, self._last, self._next
        self.k = self._held = more


#: Matrices of a batch as BLAS knows them: where the first is, how far rows and how far matrices are apart.
Operand: TypeAlias = tuple[int, int, int]

_NOTHING = np.intp(0)


@lru_cache(64)
def _factors(factor: float) -> tuple[int, int, Floats]:
    """Where BLAS finds what it multiplies a product, and what that is added to, with; and the array, to stay."""
    pair = np.array([factor, 0.0])
    return pair.ctypes.data, pair.ctypes.data + 8, pair


def _multiplier() -> Callable[..., None]:
    """BLAS of this thread and device."""
    from cupy.cuda import cublas, get_cublas_handle

    handle, gemm, as_it_is, turned = (
        get_cublas_handle(),
        cublas.dgemmStridedBatched,
        cublas.CUBLAS_OP_N,
        cublas.CUBLAS_OP_T,
    )

    def multiply(
        n: int,
        m: int,
        k: int,
        count: int,
        a: Operand,
        b: Operand,
        out: Operand,
        *,
        across: bool = False,
        factor: float = 1.0,
    ) -> None:
        """out = factor · a b (`across`: a bᵀ) of `count` pairs, (n, k) by (k, m)."""
        at_factor, at_zero, _ = _factors(factor)
        # Rows of ours are columns of theirs: outᵀ = bᵀ aᵀ.
        way = turned if across else as_it_is
        gemm(handle, way, as_it_is, m, n, k, at_factor, *b, *a, at_zero, *out, count)

    return multiply


def fits(left: Array, values: Array) -> bool:
    """Whether the kernel takes these widths on this device."""
    import cupy

    return max(left.shape[-1], values.shape[-1]) <= WIDEST and has_tensor_units(cupy.cuda.runtime.getDevice())


@cache
def has_tensor_units(device: int) -> bool:
    """Whether a device has the instruction (compute capability 9 or newer)."""
    import cupy

    return int(cupy.cuda.Device(device).compute_capability) >= 90


def fused_deviation(left: Array, right: Array, q: Array, values: Array, scale: Array = 1.0) -> Array:
    """The formula above for CuPy arrays: left (..., n, k), right (..., m, k), q (..., m, 1), values (..., m, v).

    `left` counts times `scale`, a number or an array (..., 1, 1).
    """
    import cupy as cp

    lead = cp.broadcast_shapes(*(a.shape[:-2] for a in (left, right, q, values)))
    n, m, v = left.shape[-2], right.shape[-2], values.shape[-1]
    K, V = padded(left.shape[-1]), padded(v)
    operands = [_contiguous(a, lead, width) for a, width in ((left, K), (right, K), (q * values, V), (q, 1))]
    out = cp.empty((*lead, n, V), dtype=cp.float64)
    kernel, memory = deviation_kernel(K, V, cp.cuda.Device().id)
    row_blocks = -(-n // (16 * _WARPS))
    grid = (row_blocks * math.prod(lead),)
    sizes = (np.int32(n), np.int32(m), np.int32(row_blocks))
    scales = (np.intp(0), scale) if isinstance(scale, float) else (_contiguous(scale, lead, 1), 1.0)
    nowhere = (np.intp(0), np.int32(0), np.intp(0), np.intp(0), np.int32(0), np.int32(1))
    kernel(grid, (32 * _WARPS,), (*operands, *scales, out, *sizes, *nowhere), shared_mem=memory)
    return out if v == V else out[..., :v]


def padded(width: int) -> int:
    return -(-width // 8) * 8


def _contiguous(a: Array, lead: tuple[int, ...], width: int) -> Array:
    import cupy as cp

    if a.shape[-1] == width:
        return cp.ascontiguousarray(cp.broadcast_to(a, (*lead, *a.shape[-2:])))
    wide = cp.zeros((*lead, a.shape[-2], width), dtype=cp.float64)
    wide[..., : a.shape[-1]] = a
    return wide


@cache
def deviation_kernel(K: int, V: int, device: int) -> tuple[Kernel, int]:
    """The compiled kernel for these widths on this device, and its shared memory in bytes."""
    import cupy as cp

    defines = {"K": K, "V": V, "WARPS": _WARPS, "TILE": _TILE}
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in defines.items()))
    kernel = cp.RawModule(code=PRIMITIVES + LARGEST + EXPM1 + DEVIATION, options=options).get_function("deviation")
    row = K + 8 if K % 16 == 0 else K
    memory = 2 * 8 * _TILE * (row + V + 2 + 1)
    kernel.max_dynamic_shared_size_bytes = memory
    return kernel, memory
