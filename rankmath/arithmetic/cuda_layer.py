"""Layers of attention alone on a GPU, one after the other with one wait for all: memory and launches.

With tokens e^ξ 1x + e^σ R, heads W_QK, W and key biases k the kernels of `cuda_kernels` make, for each layer::

    units       in which unit each part is made, and whether logits are below rounding
    scores      g = x W_QK + k and the pivot: the first largest entry of R g
    relative    D = R − 1R_pivot, e = exp(unit · D g), qᵀD for q = e/Σe
    project     left = scale · R W_QK, values = (D − 1qᵀD) W
    deviation   Σ_j m_ij q_j v_j/(1 + Σ_j m_ij q_j), m = expm1(left Dᵀ) (in `cuda`), where there are few rows over
                parts of the keys that `combine` adds up; for more than 64 columns
    lifted      m_ij q_j of some rows, and
    average     their averages; below rounding, in the place of all these,
    covariance  Dᵀ diag(q) values, and
    thin        left times it
    collect     the sum over the heads and what a skip carries, its column sums; the images of the common rows
    recentre    the mean moved into the center
    normalise   both over their largest entry, the units of what was made, and whether that was allowed
    squares, pairs, measured    where asked, the sizes of the new tokens

What is not allowed (saturated attention, logits out of range, a center that cancels) stops there, and the arrays of
`rankmath.attention` make that layer. The launches of a layer are captured once in a graph. The same source runs on
the host in tests.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankmath.arithmetic import cuda_kernels
from rankmath.arithmetic.cuda import (
    EXPM1,
    LARGEST,
    PRIMITIVES,
    WIDEST,
    Kernel,
    deviation_kernel,
    has_tensor_units,
    padded,
)
from rankmath.arithmetic.cuda_kernels import COUNTS, FACTORS, OUT, PER_HEAD, POINTERS, RECORD, ROW, SIZES, THREADS
from rankmath.validation import Array, Floats

#: Tokens of at most so many columns.
MOST_COLUMNS = 256
# Entries of m of all heads at a time, where it is formed: 512 MiB.
_WIDE_ENTRIES = 2**26
# So many blocks fill a GPU twice.
_FILLED = 264

# Which word each is.
_PLACES = {name: place for place, name in enumerate((*POINTERS, *FACTORS, *SIZES))}

#: What is launched together.
Part: TypeAlias = Literal["layer", "fused layer", "thin layer", "measured layer", "measure", "centre"]
#: Addresses of query, value, key bias and bias (0: none), the largest |query|, log(d_qk)/2, and λ of the skip.
Record: TypeAlias = tuple[Array, Array, Array | None, Array | None, float, float, float]


class Run(NamedTuple):
    """How far some layers went, and what they made."""

    log: (
        Floats  # by layer, the input first: ξ, mantissa and exponent of σ, lost bits, ‖R‖_F, Δ₂, ‖x‖ in their units
    )
    center: Array
    residual: Array

    @property
    def layers(self) -> int:
        return len(self.log) - 1


@cache
def _module(K: int, device: int) -> Array:
    import cupy as cp

    code = PRIMITIVES + LARGEST + EXPM1 + cuda_kernels.source(K)
    return cp.RawModule(code=code, options=("-std=c++17",))


@cache
def _kernel(name: str, K: int, device: int) -> Kernel:
    kernel: Kernel = _module(K, device).get_function(name)
    return kernel


def memory_of(name: str) -> int:
    """Bytes of shared memory of a kernel that makes tiles: two chunks of 16 of their rows and columns."""
    return 2 * 8 * 20 * 128 if name in ("project", "lifted", "average", "covariance", "thin") else 0


def _device() -> int:
    import cupy as cp

    return int(cp.cuda.runtime.getDevice())


class Plan:
    """Memory and launches of layers with these sizes; nothing of one run outlives it here."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.n, self.d, self.heads, self.K = sizes["n"], sizes["d"], sizes["heads"], padded(sizes["d"])
        self.sizes = sizes
        self.arrays = {name: self.memory(shape) for name, shape in shapes(sizes).items()}
        self.told = self.memory((len(POINTERS) + len(FACTORS) + len(SIZES),))
        self.report, self._shared, self._most = self.pinned(9), self.pinned(ROW), 0  # both sides reach them
        self._records, self._log = np.empty((0, RECORD)), self._shared.reshape(1, ROW)
        self._factors: Mapping[str, float] = {}
        self.words = np.zeros(self.told.size, np.uint64)
        for place, name in enumerate(POINTERS):
            if name in self.arrays:
                self.words[place] = self.address(self.arrays[name])
        self.words[_PLACES["report"]] = self.report.ctypes.data
        self.doubles = self.words[len(POINTERS) : -len(SIZES)].view(np.float64)
        self.words[-len(SIZES) :] = [sizes.get(name, 0) for name in SIZES]
        self._ran: set[Part] = set()
        self._graphs: dict[Part, Array] = {}
        self._lock = Lock()

    def memory(self, shape: tuple[int, ...]) -> Array:
        import cupy as cp

        return cp.empty(shape)

    def pinned(self, size: int) -> Floats:
        import cupy as cp

        return np.frombuffer(cp.cuda.alloc_pinned_memory(8 * size), np.float64, size)

    def address(self, a: Array) -> int:
        return int(a.data.ptr)

    def send(self) -> None:
        self.told.data.copy_from_host_async(ctypes.c_void_p(self.words.ctypes.data), self.told.nbytes)

    def launch(self, name: str, blocks: tuple[int, ...], threads: int, start: int | None = None) -> None:
        """A kernel on all rows, or on rows from `start` on."""
        told = (self.told,) if start is None else (self.told, np.int32(start))
        _kernel(name, self.K, _device())(blocks, (threads,), told, shared_mem=memory_of(name))

    def deviate(self, blocks: tuple[int, ...], arguments: tuple[Array, ...]) -> None:
        kernel, memory = deviation_kernel(self.K, self.K, _device())
        kernel(blocks, (128,), arguments, shared_mem=memory)

    def wait(self) -> None:
        import cupy as cp

        cp.cuda.get_current_stream().synchronize()

    def _tell(self, addresses: Mapping[str, Array], factors: Mapping[str, float], way: int) -> None:
        for name, a in addresses.items():
            self.words[_PLACES[name]] = self.address(a)
        if factors is not self._factors:
            for name, factor in factors.items():
                self.doubles[_PLACES[name] - len(POINTERS)] = factor
            self._factors = factors
        self.words[_PLACES["way"]] = way
        self.send()

    def run(
        self,
        x: Array,
        R: Array,
        state: Sequence[float],
        records: Sequence[Record],
        limits: Mapping[str, float],
        *,
        measure: bool = False,
    ) -> Run:
        """As many of these layers as may stand; `state` is ξ, mantissa and exponent of σ, and the lost bits."""
        L = len(records)
        slots = (2,) if L > 1 else ()  # layers write to two places in turn
        centers, residuals = self.memory((*slots, 1, self.d)), self.memory((*slots, self.n, self.d))
        with self._lock:
            told, log = self._room(L)
            addresses = told.view(np.uint64)
            for l, (query, value, *biases, largest, root, skip) in enumerate(records):
                addresses[l, :2] = self.address(query), self.address(value)
                addresses[l, 2:4] = [0 if a is None else self.address(a) for a in biases]
                told[l, 4:] = largest, root, skip
            log[0, :4] = state
            given = {"first_x": x, "first_R": R, "center": x, "residual": R, "centers": centers}
            self._tell(given | {"residuals": residuals}, limits, cuda_kernels.FUSED)
            part: Part = "measured layer" if measure else self._way(state, records[0]) if L == 1 else "layer"
            if measure:
                self.step("measure")
            for _ in range(L):
                self.step(part)
            self.wait()
            reached = int(self.report[8]) if L else 0
            rows = log[: reached + 1].copy()
        if not reached:
            return Run(rows, x, R)
        last = (reached - 1) % 2
        return Run(rows, centers[last], residuals[last]) if slots else Run(rows, centers, residuals)

    def _way(self, state: Sequence[float], record: Record) -> Part:
        """What one layer needs launched, where that is clear before `units` finds it out."""
        _, mantissa, exponent, _ = state
        sigma = mantissa if not exponent else math.copysign(math.inf, mantissa)
        above = (
            2 * sigma - record[5] + math.log(max(2 * self.d**2 * record[4], 1e-300)) - self._factors["linear_log"]
        )
        return "layer" if not abs(above) > 1 else "fused layer" if above > 0 else "thin layer"

    def _room(self, layers: int) -> tuple[Floats, Floats]:
        """Records and log of so many layers, where both sides reach them: no copies."""
        if layers != len(self._records):
            if layers > self._most:
                self._shared, self._most = self.pinned(RECORD * layers + ROW * (layers + 1)), layers
            records, log = self._shared[: RECORD * layers], self._shared[RECORD * layers :][: ROW * (layers + 1)]
            self._records, self._log = records.reshape(layers, RECORD), log.reshape(layers + 1, ROW)
        self.words[_PLACES["records"]], self.words[_PLACES["log"]] = (
            a.ctypes.data for a in (self._records, self._log)
        )
        return self._records, self._log

    def centre(self, arrays: Mapping[str, Array], factors: Mapping[str, float]) -> Floats:
        """The mean of R moved to the center: the largest entries of both, and of R before."""
        with self._lock:
            self._tell(arrays, factors, cuda_kernels.CENTRE)
            self.step("centre")
            self.wait()
            return self.report[:3].copy()

    def measure(self, R: Array, x: Array) -> Array:
        """‖R‖_F, the largest distance of two rows, and ‖x‖, an array of three: R (n, d) of mean zero, x (1, d)."""
        log = self.memory((ROW,))
        with self._lock:
            self._tell({"residual": R, "center": x, "log": log}, self._factors, cuda_kernels.FUSED)
            self.step("measure")
        return log[4:]

    def step(self, part: Part) -> None:
        """All its launches: one by one at first, when kernels are compiled and loaded, then as one graph."""
        if part in self._graphs:
            self._graphs[part].launch()
        elif part in self._ran:  # all is compiled and loaded by now
            self._graphs[part] = self._captured(part)
            self._graphs[part].launch()
        else:
            self._ran.add(part)
            self.launch_all(part)

    def _captured(self, part: Part) -> Array:
        import cupy as cp

        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            self.launch_all(part)
            return stream.end_capture()

    def launch_all(self, part: Part) -> None:
        if part == "centre":
            self.launch("clear", (1,), 32)
            self._collect()
        elif part != "measure":
            self._layer(part)
            self._collect()
        if part in ("measure", "measured layer"):
            row_blocks = self.sizes["row_blocks"]
            self.launch("squares", (self.sizes["groups"],), THREADS)
            self.launch("pairs", (row_blocks, max(1, min(row_blocks, 2 * _FILLED // row_blocks))), 128)
            self.launch("measured", (1,), 32)

    def _layer(self, part: Part) -> None:
        s, H, wide = self.sizes, self.heads, -(-self.K // 64)
        rows = H * s["row_blocks"]
        self.launch("units", (1,), 32)
        self.launch("scores", (H * s["blocks"],), THREADS)
        self.launch("relative", (H * s["blocks"],), THREADS)
        self.launch("project", (rows, 2, wide), 128)
        if part != "thin layer":
            self._deviation() if wide == 1 else self._wide_deviation(wide)
        if part != "fused layer":
            self.launch("covariance", (H * s["splits"], wide, wide), 128)
            self.launch("thin", (rows, wide), 128)

    def _deviation(self) -> None:
        s = self.sizes
        operands = [self.arrays[name] for name in ("left", "D", "values", "q")]
        sizes = (np.int32(self.n), np.int32(self.n), np.int32(s["row_blocks"]))
        whole = s["key_parts"] == 1
        out = self.arrays["out" if whole else "partial"]
        of_heads = (self.arrays["words"][OUT:] if whole else np.intp(0), np.int32(PER_HEAD))
        way = self.told[_PLACES["way"] :]
        arguments = (*operands, np.intp(0), 1.0, out, *sizes, *of_heads, self.arrays["means"], way)
        self.deviate((self.heads * s["row_blocks"], s["key_parts"]), arguments)
        if not whole:
            self.launch("combine", (self.heads * -(-self.n // 8),), 128)

    def _wide_deviation(self, columns: int) -> None:
        """What more than 64 columns take, rows at a time: a warp has not registers enough to keep all."""
        keys, most = -(-self.n // 64), self.sizes["wide_rows"]
        for start in range(0, self.n, most):
            row_blocks = -(-min(most, self.n - start) // 64)
            self.launch("lifted", (keys, row_blocks, self.heads), 128, start)
            self.launch("average", (columns, row_blocks, self.heads), 128, start)

    def _collect(self) -> None:
        groups = self.sizes["groups"]
        self.launch("collect", (groups + self.heads,), THREADS)
        self.launch("recentre", (groups,), THREADS)
        self.launch("normalise", (groups,), THREADS)


@lru_cache(maxsize=4)
def plan(n: int, d: int, heads: int, device: int) -> Plan | None:
    """The plan of a layer, the last four kept with their memory; None where it would take most of what is free."""
    import cupy as cp

    free = cp.cuda.Device(device).mem_info[0] + cp.get_default_memory_pool().free_bytes()
    sizes = sizes_of(n, d, heads)
    needed = 8 * sum(math.prod(shape) for shape in shapes(sizes).values())
    return None if needed > free // 2 else Plan(sizes)


def plan_here(n: int, d: int, heads: int) -> Plan | None:
    """`plan` on this device, if its kernels take the layer."""
    device = _device()
    return plan(n, d, heads, device) if d <= MOST_COLUMNS and has_tensor_units(device) else None


def shapes(sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """What a layer needs memory for."""
    n, d, H, parts = sizes["n"], sizes["d"], sizes["heads"], sizes["key_parts"]
    K = padded(d)
    return {
        **dict.fromkeys(("left", "D", "values", "out"), (H, n, K)),
        **dict.fromkeys(("e", "q"), (H, n, 1)),
        **dict.fromkeys(("g", "common", "image"), (H, d)),
        "best": (H, sizes["blocks"], 2),
        "sums": (H, sizes["blocks"], K + 1),
        "mean": (H, K + 1),
        "columns": (sizes["groups"], d),
        "thin": (H, sizes["splits"], K, K),
        "partial": (parts, H, n, K) if parts > 1 else (1,),
        "means": (parts, H, n) if parts > 1 else (1,),
        "lifted": (H, sizes["wide_rows"], sizes["stride"]) if K > WIDEST else (1,),
        "counts": (H, COUNTS),
        "squares": (n,),
        "parts": (1 + sizes["groups"],),
        "far": (1,),
        "words": (PER_HEAD * H + 3,),
    }


def sizes_of(n: int, d: int, heads: int) -> dict[str, int]:
    """How the work of a layer is cut: some blocks for each head, or for the rows of all."""
    blocks = max(1, min(64, -(-n // 32), -(-528 // max(1, heads))))
    row_blocks, stride, tiles = -(-n // 64), padded(n), (-(-d // 64)) ** 2
    return {
        "n": n,
        "d": d,
        "heads": heads,
        "blocks": blocks,
        "row_blocks": row_blocks,
        "groups": min(128, -(-n // 8)),
        "splits": max(1, min(8, -(-n // 128), _FILLED // max(1, heads * tiles))),
        # Few rows leave the device idle in the large kernel: then parts of the keys, of 64 or more, go abreast.
        "key_parts": max(1, min(8, n // 64, _FILLED // max(1, heads * row_blocks))) if d <= WIDEST else 1,
        "wide_rows": min(n, max(64, _WIDE_ENTRIES // (max(1, heads) * stride) // 64 * 64)),
        "stride": stride,
    }
