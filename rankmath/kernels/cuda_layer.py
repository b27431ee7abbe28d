"""Layers of attention alone on a GPU, one after the other with one wait for all: memory and launches.

With tokens e^ξ 1x + e^σ R, heads W_QK, W and key biases k the kernels of `cuda_kernels` make, for each layer::

    units       what the host has told of it; in which unit each part is made, and whether logits are below rounding
    scores      g = x W_QK + k (more than 64 columns: `pull`) and the pivot: the first largest entry of R g
    relative    D = R − 1R_pivot, e = exp(unit · D g), qᵀD for q = e/Σe
    project     left = scale · R W_QK, values = (D − 1qᵀD) W
    deviation   Σ_j m_ij q_j v_j/(1 + Σ_j m_ij q_j), m = expm1(left Dᵀ) (in `cuda`), where there are few rows over
                parts of the keys that `collect` adds up; for more than 64 columns
    lifted      m_ij e_j of some rows, and
    average     their averages, also over parts of the keys (`average_long`: 128 rows a block in the place of 64);
                below rounding, in the place of all these,
    covariance  Dᵀ diag(q) values, and
    thin        left times it
    collect     the sum over the heads and what a skip carries, its column sums; the images of the common rows; for
                tokens to be centred, X − 1X_0 in its place
    recentre    the mean moved into the center
    normalise   both over their largest entry, the units of what was made, and whether that was allowed
    squares, pairs, measured    where asked, the sizes of the new tokens

What is not allowed (saturated attention, logits out of range, a center that cancels) stops there, and the arrays of
`rankmath.attention` make that layer. The launches of a layer are captured once in a graph. A batch of networks,
each with its own units, has as many blocks for every one. The same source runs on the host in tests.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from struct import Struct
from threading import Lock
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from rankmath.kernels import cuda_kernels
from rankmath.kernels.cuda import EXPM1, LARGEST, PRIMITIVES, WIDEST, Kernel, deviation_kernel, has_tensor_units, padded
from rankmath.kernels.cuda_kernels import (
    COUNTERS,
    COUNTS,
    FACTORS,
    MANY,
    MEMORY,
    OUT,
    PER_HEAD,
    POINTERS,
    RECORD,
    ROW,
    SIZES,
    STATE,
    THREADS,
)
from rankmath.kernels.runs import Arrays, Run
from rankmath.validation import Array, Floats

#: Largest dimension of a token.
MOST_COLUMNS = 256
#: Networks of a batch that are launched at once.
MOST_NETWORKS = 2**15
# Entries of m of all heads at a time, where it is formed: 512 MiB.
_WIDE_ENTRIES = 2**26
# So many processors has a GPU; twice as many blocks fill it.
_PROCESSORS = 132
_FILLED = 2 * _PROCESSORS

# Which word each is, and where the told record, its numbers and the told state begin and end.
_PLACES = {name: place for place, name in enumerate((*POINTERS, *FACTORS, *COUNTERS))}
_TOLD = _PLACES["told0"]
_NUMBERS, _STATE, _END = _TOLD + 4, _TOLD + RECORD, _TOLD + RECORD + STATE

# What changes from one layer alone to the next: the first of `TOKENS`; numbers of the record and the state.
_TOKENS_OF_ONE, _TOLD_OF_ONE = Struct("4Q"), Struct(f"{_END - _NUMBERS}d")

T = TypeVar("T")

#: What is launched together.
Part: TypeAlias = Literal["layer", "fused layer", "thin layer", "queued layer", "measured layer", "measure", "centre"]


@cache
def _module(K: int, device: int) -> Array:
    import cupy as cp

    code = PRIMITIVES + LARGEST + EXPM1 + cuda_kernels.source(K)
    return cp.RawModule(code=code, options=("-std=c++17",))


@cache
def _kernel(name: str, K: int, device: int) -> Kernel:
    function = _module(K, device).get_function(name)
    if memory_of(name, K):
        function.max_dynamic_shared_size_bytes = memory_of(name, K)
    kernel: Kernel = function
    return kernel


def memory_of(name: str, K: int) -> int:
    """Bytes of shared memory of a kernel that makes tiles: two to four chunks of 16 of their rows and columns."""
    if name in ("average", "average_long"):
        return 4 * 8 * 16 * ((64 if name == "average" else 128) + 66)
    if name == "lifted" or (name == "project" and K > WIDEST):  # the same for both, which run side by side
        return 3 * 8 * 16 * 128
    return 2 * 8 * 20 * 128 if name in ("project", "covariance", "thin", "pairs") else 0


@cache
def _runtime() -> Array:
    from cupy.cuda import runtime

    return runtime


def _device() -> int:
    number: int = _runtime().getDevice()
    return number


class Plan:
    """Memory and launches of layers with these sizes, for some networks; nothing of one run outlives it here."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.n, self.d, self.heads, self.K = sizes["n"], sizes["d"], sizes["heads"], padded(sizes["d"])
        self.sizes, self.networks = sizes, sizes["networks"]
        self._index = np.arange(self.networks, dtype=np.uint64)
        bytes_of = 8 * self.d * np.array([1, self.n, 1, self.n, 1, self.n, self.n, self.n], np.uint64)
        self._apart = self._index[:, None] * bytes_of
        self.arrays = {name: self.memory(self._all(name, shape)) for name, shape in shapes(sizes).items()}
        width = len(_PLACES)
        self.doubles = self.pinned(self.networks * width).reshape(self.networks, width)
        self.words = self.doubles.view(np.uint64)
        self.words[:] = 0
        # One number is written faster without NumPy.
        self._bare, self._memory = self.words.reshape(-1).data, self.words.reshape(-1).view(np.uint8).data
        self.told = self.memory(self.words.shape)
        self.report, self._shared, self._most = self.pinned(9 * self.networks), self.pinned(0), 0
        self._records, self._log = np.empty((self.networks, 0, RECORD)), np.empty((self.networks, 0, ROW))
        self._at_log = self._told_log = 0
        self._spare: tuple[Array, Array, int, int] | None = None  # where the next layer alone writes
        self._limits: Mapping[str, float] = {}
        self._known: Arrays | None = None
        self._ready: Arrays | None = None  # the weights of which one layer alone is all told but its tokens
        self._log_of_one = np.empty((2, ROW))
        each = {name: (self.address(self.arrays[name]), math.prod(shape)) for name, shape in shapes(sizes).items()}
        each["report"] = (self.report.ctypes.data, 9)
        places = [word for name in MEMORY for word in each[name]] + [sizes[name] for name in SIZES]
        self.places = np.array(places, np.uint64).view(f"V{8 * len(places)}")  # one value, as CuPy wants it
        self._ran: set[tuple[Part, bool]] = set()
        self._graphs: dict[tuple[Part, bool], Array] = {}
        self._sides: list[Array] | None = None  # other streams of a graph that is being captured
        self._lock = Lock()

    def _all(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an array of all networks; parts of keys come before them."""
        parts = (self.sizes["key_parts"],) if name in ("partial", "means") else ()
        return (*parts, self.networks, *shape)

    def _point(self, name: str, address: int, step: int) -> None:
        """Where each network has an array: so many bytes apart."""
        if self.networks == 1:  # a small layer waits for the host as long as for the device
            self._bare[_PLACES[name]] = address
        else:
            self.words[:, _PLACES[name]] = np.uint64(address) + np.uint64(step) * self._index

    def _point_at_tokens(self, *addresses: int) -> None:
        """Where the first network has what is named `TOKENS`, or some of it; the next have theirs behind it."""
        if self.networks == 1:
            for place, address in enumerate(addresses):
                self._bare[place] = address
        else:
            self.words[:, : len(addresses)] = self._apart[:, : len(addresses)] + np.array(addresses, np.uint64)

    def memory(self, shape: tuple[int, ...]) -> Array:
        import cupy as cp

        return cp.ndarray(shape, memptr=cp.cuda.alloc(8 * math.prod(shape)))

    def pinned(self, size: int) -> Floats:
        import cupy as cp

        return np.frombuffer(cp.cuda.alloc_pinned_memory(8 * max(size, 1)), np.float64, size)

    def address(self, a: Array) -> int:
        return int(a.data.ptr)

    def send(self, words: npt.NDArray[np.uint64]) -> None:
        from cupy.cuda import get_current_stream, runtime

        # As this may be part of a graph: `copy_from_host_async` refuses that, for memory that is not pinned.
        stream = get_current_stream().ptr
        runtime.memcpyAsync(self.told.data.ptr, words.ctypes.data, words.nbytes, runtime.memcpyHostToDevice, stream)

    def launch(self, name: str, blocks: tuple[int, ...], threads: int, given: int | None = None) -> None:
        """A kernel, told one number more where it wants one."""
        told = (self.places, self.told) if given is None else (self.places, self.told, np.int64(given))
        _kernel(name, self.K, _device())(blocks, (threads,), told, shared_mem=memory_of(name, self.K))

    def deviate(self, blocks: tuple[int, ...], arguments: tuple[Array, ...]) -> None:
        kernel, memory = deviation_kernel(self.K, self.K, _device())
        kernel(blocks, (128,), arguments, shared_mem=memory)

    def wait(self) -> None:
        import cupy as cp

        cp.cuda.get_current_stream().synchronize()

    def run(
        self,
        x: Array | None,
        R: Array,
        state: Floats | Sequence[float],
        arrays: Arrays,
        numbers: Floats | Sequence[Sequence[float]] | Callable[[], Floats],
        limits: Mapping[str, float],
        *,
        measure: bool = False,
    ) -> Run:
        """As many of these layers as can be made (of a batch all or none) of tokens x (..., 1, d), R (..., n, d).

        Without x the tokens are R, and are centred first: ξ is nan where that may not stand. `state` is otherwise
        ξ, mantissa and exponent of σ, and the lost bits, of each network; `numbers` are the largest |query|,
        log(d_qk)/2 and λ of the skip of each layer (no layer stands where the second is nan), or a function that
        finds them, called while the tokens are centred.
        """
        L, B, of_x, of_R = len(arrays), self.networks, 8 * self.d, 8 * self.n * self.d
        with self._lock:
            turns = 2 if L > 1 or x is None else 1  # layers write to two places in turn
            centers, residuals = self._allocated((turns, *R.shape))
            to_x, to_R, at_R = self.address(centers), self.address(residuals), self.address(R)
            told, log = self._prepared(arrays, limits)
            # What is centred stands where a layer before the first would write.
            first = (to_x + B * of_x, to_R + B * of_R) if x is None else (self.address(x), at_R)
            told_later = () if L and x is not None else (*first, at_R, at_R)  # `units` finds these
            self._point_at_tokens(to_x, to_R, *first, *told_later)
            self.words[:, _PLACES["way"]] = cuda_kernels.FUSED if x is not None else cuda_kernels.CENTRE
            if x is None:
                self.step("centre", tell=True)
            numbers = numbers() if callable(numbers) else numbers
            told[:, :, 4:] = numbers
            if x is not None and L:
                self.doubles[:, _NUMBERS:_STATE], self.doubles[:, _STATE:_END] = numbers[0], state
            parts: list[Part] = ["measured layer" if measure else "layer" if L == 1 else "queued layer"] * L
            parts += ["measure"] if measure else []
            for place, part in enumerate(parts):
                self.step(part, tell=not place and x is not None)
            if x is not None:
                log[:, 0, :STATE] = state
            self.wait()
            reached = int(self.report[8::9].min()) if L else 0
            reached = reached if B == 1 or reached == L else 0
            rows = log[:, : reached + 1].copy()
        if not reached and x is not None:
            return Run(rows, x, R)
        last = (reached - 1) % 2
        return Run(rows, centers[last], residuals[last])

    def one(
        self,
        x: Array,
        R: Array,
        state: Sequence[float] | Floats,
        arrays: Arrays,
        numbers: tuple[float, float, float],
        limits: Mapping[str, float],
        meanwhile: Callable[[Run], T],
    ) -> T | None:
        """One layer of one network, as `run`, but while a small one runs the host has as much to do.

        What is made of it `meanwhile`, before it is there, or None where the layer may not stand.
        """
        with self._lock:
            if self._ready is not arrays or limits is not self._limits:
                self._log_of_one = self._prepared(arrays, limits)[1][0]
                self._bare[_PLACES["way"]] = cuda_kernels.FUSED
                self._ready = arrays
            center, residual, *places = self._spare or self._places_of_one(R.shape)
            _TOKENS_OF_ONE.pack_into(self._memory, 0, *places, self.address(x), self.address(R))
            _TOLD_OF_ONE.pack_into(self._memory, 8 * _NUMBERS, *numbers, *state)
            self.step(self._way(state, numbers), tell=True)
            log, here = self._log_of_one, np.empty((1, 2, ROW))
            here[0, 0, :STATE] = state
            made = meanwhile(Run(here, center, residual))
            self._spare = self._places_of_one(R.shape)
            self.wait()
            if self.report[8] != 1:
                return None
            here[0, 1] = log[1]
            return made

    def _places_of_one(self, shape: tuple[int, ...]) -> tuple[Array, Array, int, int]:
        center, residual = self._allocated(shape)
        return center, residual, self.address(center), self.address(residual)

    def _allocated(self, shape: tuple[int, ...]) -> tuple[Array, Array]:
        return self.memory((*shape[:-2], 1, self.d)), self.memory(shape)

    def _prepared(self, arrays: Arrays, limits: Mapping[str, float]) -> tuple[Floats, Floats]:
        """Records and log of layers with these weights, which the kernels are told of."""
        self._ready = None
        told, log = self._room(len(arrays))
        if arrays is not self._known:
            self._record(told, arrays)
        if limits is not self._limits:
            for name, limit in limits.items():
                self.doubles[:, _PLACES[name]] = limit
            self._limits = limits
        return told, log

    def _way(self, state: Sequence[float] | Floats, numbers: tuple[float, float, float]) -> Part:
        """What one layer needs launched, where that is clear before `units` finds it out."""
        mantissa, exponent = state[1:3]
        sigma = mantissa if not exponent else math.copysign(math.inf, mantissa)
        largest, root, _ = numbers
        above = 2 * sigma - root + math.log(max(2 * self.d**2 * largest, 1e-300)) - self._limits["linear_log"]
        return "layer" if not abs(above) > 1 else "fused layer" if above > 0 else "thin layer"

    def _room(self, layers: int) -> tuple[Floats, Floats]:
        """Records and log of so many layers, where both sides reach them: no copies."""
        if layers != self._records.shape[1] or not self._most:
            if layers >= self._most:
                self._most = layers + 1
                self._shared = self.pinned(self.networks * (RECORD + ROW) * self._most)
            records = self._shared[: self.networks * RECORD * layers]
            log = self._shared[records.size :][: self.networks * ROW * (layers + 1)]
            self._records = records.reshape(self.networks, layers, RECORD)
            self._log = log.reshape(self.networks, layers + 1, ROW)
            self._point("records", self._records.ctypes.data, 8 * RECORD * layers)
            self._at_log, self._told_log, self._known = self._log.ctypes.data, 0, None
        if self._told_log != self._at_log:
            self._point("log", self._at_log, 8 * ROW * (layers + 1))
            self._told_log = self._at_log
        return self._records, self._log

    def _record(self, told: Floats, arrays: Arrays) -> None:
        """Where the weights of every layer are, of each network or of all."""
        addresses = told.view(np.uint64)[..., :4]
        addresses[:] = [[0 if a is None else self.address(a) for a in layer] for layer in arrays] or 0
        owners = arrays[0][0].size // (self.heads * self.d**2) if arrays else 1
        if owners > 1:
            apart = np.array([self.d, self.d, 1, 1], np.uint64) * np.uint64(8 * self.d)
            addresses += (addresses > 0) * apart * self._index[:, None, None]
        self.words[:, _PLACES["owners"]] = owners
        if arrays:
            self.words[:, _TOLD:_NUMBERS] = addresses[:, 0]
        self._known = arrays

    def measure(self, R: Array, x: Array) -> Array:
        """‖R‖_F, the largest distance of two rows, ‖x‖, (3, networks), for R (..., n, d) of mean zero and x."""
        log = self.memory((self.networks, ROW))
        with self._lock:
            for name, a in (("residual", R), ("center", x), ("log", log)):
                self._point(name, self.address(a), a.nbytes // self.networks)
            self.words[:, _PLACES["way"]] = cuda_kernels.FUSED
            self._told_log, self._ready = 0, None
            self.send(self.words.copy())  # not waited for: these words may change before they are read
            self.step("measure", tell=False)
        return log[:, 4:].T

    def step(self, part: Part, *, tell: bool) -> None:
        """All its launches: one by one at first, when kernels are compiled and loaded, then as one graph."""
        if (part, tell) in self._graphs:
            self._graphs[part, tell].launch()
        elif (part, tell) in self._ran:  # all is compiled and loaded by now
            self._graphs[part, tell] = self._captured(part, tell)
            self._graphs[part, tell].launch()
        else:
            self._ran.add((part, tell))
            self.launch_all(part, tell)

    def _captured(self, part: Part, tell: bool) -> Array:
        import cupy as cp

        stream, self._sides = cp.cuda.Stream(non_blocking=True), []
        try:
            with stream:
                stream.begin_capture()
                self.launch_all(part, tell)
                return stream.end_capture()
        finally:
            self._sides = None

    def aside(self, launches: Callable[[], None]) -> Callable[[], None]:
        """These launches, in a graph beside those that follow, until what is returned is called: whatever is
        launched after that, where it is, waits for them."""
        if self._sides is None:
            launches()
            return lambda: None
        import cupy as cp

        here, side = cp.cuda.get_current_stream(), cp.cuda.Stream(non_blocking=True)
        self._sides.append(side)  # as long as it is captured
        side.wait_event(here.record(cp.cuda.Event(disable_timing=True)))
        with side:
            launches()
            done = side.record(cp.cuda.Event(disable_timing=True))
        return lambda: cp.cuda.get_current_stream().wait_event(done)

    def launch_all(self, part: Part, tell: bool) -> None:
        home = self.words.ctypes.data if tell else 0
        if part not in ("measure", "centre"):
            self._layer(part, home)
            return
        if tell:
            self._make("clear", (1,), 32, home)
        if part == "measure":
            self._measure(before=False)
        else:
            self._collect()

    def _make(self, name: str, blocks: tuple[int, ...], threads: int, given: int | None = None) -> None:
        """A kernel with so many blocks for each network."""
        self.launch(name, (self.networks * blocks[0], *blocks[1:]), threads, given)

    def _measure(self, *, before: bool) -> None:
        row_blocks = self.sizes["row_blocks"]
        abreast = 16 * _FILLED // (row_blocks * self.networks)  # many, as the first have most to look at
        self._make("squares", (self.sizes["groups"],), THREADS, before)
        self._make("pairs", (row_blocks, max(1, min(row_blocks, abreast))), 128, before)
        self._make("measured", (1,), 32, before)

    def _layer(self, part: Part, home: int) -> None:
        s, H, wide = self.sizes, self.heads, -(-self.K // 64)
        rows = H * s["row_blocks"]
        self._make("units", (1,), 32, home)
        measured = self.aside(lambda: self._measure(before=True)) if part == "measured layer" else None
        # One layer alone waits for its branches to begin; where layers are queued they began before.
        branches = wide > 1 or part in ("queued layer", "measured layer")
        left = self.aside(lambda: self._make("project", (rows, 1, wide), 128, 0)) if branches else None
        if wide > 1:
            self._make("pull", (H * self._slices,), THREADS)
        self._make("scores", (H * s["blocks"],), THREADS)
        self._make("relative", (H * s["blocks"],), THREADS)
        values = None
        if left is None:
            self._make("project", (rows, 2, wide), 128, 0)
        elif wide == 1 or part == "thin layer":
            self._make("project", (rows, 1, wide), 128, 1)
            left()
        else:  # no product before `average` needs the values
            values = self.aside(lambda: self._make("project", (rows, 1, wide), 128, 1))
            left()

        def below_rounding() -> None:
            if values is not None:
                values()
            self._make("covariance", (H * s["splits"], wide, wide), 128)
            self._make("thin", (rows, wide), 128)

        if part == "thin layer":
            below_rounding()
        else:  # of these two one does nothing
            thin = self.aside(below_rounding) if branches and part != "fused layer" else None
            self._deviation() if wide == 1 else self._wide_deviation(wide, values)
            if thin is not None:
                thin()
            elif part != "fused layer":
                below_rounding()
        self._collect(measured)

    @property
    def _slices(self) -> int:
        return -(-self.d // 32) if self.K > WIDEST else 1

    def _deviation(self) -> None:
        s, heads = self.sizes, self.networks * self.heads
        operands = [self.arrays[name] for name in ("left", "D", "values", "q")]
        sizes = (np.int32(self.n), np.int32(self.n), np.int32(s["row_blocks"]))
        whole = s["key_parts"] == 1
        out = self.arrays["out" if whole else "partial"]
        of_heads = (self.arrays["words"].ravel()[OUT:] if whole else np.intp(0), np.int32(PER_HEAD))
        way = (self.told.ravel()[_PLACES["way"] :], np.int32(self.words.shape[1]), np.int32(self.heads))
        arguments = (*operands, np.intp(0), 1.0, out, *sizes, *of_heads, self.arrays["means"], *way)
        self.deviate((heads * s["row_blocks"], s["key_parts"]), arguments)

    def _wide_deviation(self, columns: int, values: Callable[[], None] | None) -> None:
        """What more than 64 columns take, rows at a time: a warp has not registers enough to keep all."""
        keys, most = -(-self.n // 64), self.sizes["wide_rows"]
        for start in range(0, self.n, most):
            rows = min(most, self.n - start)
            self._make("lifted", (keys, -(-rows // 64), self.heads), 128, start)
            if values is not None and not start:
                values()
            name, of_rows = ("average_long", 128) if self.sizes["long"] else ("average", 64)
            of_heads = self.heads * self.sizes["key_parts"]
            self._make(name, (columns, -(-rows // of_rows), of_heads), 128, start)

    def _collect(self, measured: Callable[[], None] | None = None) -> None:
        groups, slices = self.sizes["groups"], -(-self.d // 64)
        abreast = max(1, min(groups, _FILLED // self.networks) // slices)
        self._make("collect", (groups + self.heads * self._slices,), THREADS)
        self._make("recentre", ((1 + abreast) * slices,), MANY)
        if measured is not None:  # into the row of the log that is still this layer's
            measured()
        entries = -(-self.n * self.d // (4 * THREADS))
        self._make("normalise", (1 + max(1, min(entries, 1056 // self.networks)),), THREADS)


@lru_cache(maxsize=4)
def plan(shape: tuple[int, ...], heads: int, device: int) -> Plan | None:
    """The plan of a layer, the last four kept with their memory; None where it would take most of what is free.

    For tokens (n, d), or (networks, n, d).
    """
    import cupy as cp

    *batch, n, d = shape
    networks = math.prod(batch)
    if d > MOST_COLUMNS or len(batch) > 1 or not 0 < networks <= MOST_NETWORKS or not has_tensor_units(device):
        return None
    free = cp.cuda.Device(device).mem_info[0] + cp.get_default_memory_pool().free_bytes()
    sizes = sizes_of(n, d, heads, networks)
    needed = 8 * networks * sum(math.prod(shape) for shape in shapes(sizes).values())
    return None if needed > free // 2 else Plan(sizes)


def plan_here(shape: tuple[int, ...], heads: int) -> Plan | None:
    """`plan` on this device."""
    return plan(shape, heads, _device())


def shapes(sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """What a layer needs memory for, by network (of `partial` and `means` for each part of the keys)."""
    n, d, H, parted, K = sizes["n"], sizes["d"], sizes["heads"], sizes["key_parts"] > 1, padded(sizes["d"])
    wide = -(-K // 16) * 16  # columns of packed rows
    return {
        **dict.fromkeys(("values", "out"), (H, n, K)),
        **dict.fromkeys(("left", "D"), (H, sizes["stride"], wide) if K > WIDEST else (H, n, K)),
        "e": (H, sizes["stride"]),
        "q": (H, n, 1),
        **dict.fromkeys(("g", "common", "image", "pivots"), (H, d)),
        "best": (H, sizes["blocks"], 2),
        "sums": (H, sizes["blocks"], K + 1),
        "mean": (H, K + 1),
        "columns": (sizes["groups"], d),
        "thin": (H, sizes["splits"], K, K),
        "partial": (H, n, K) if parted else (1,),
        "means": (H, n) if parted else (1,),
        "lifted": (H, sizes["wide_rows"], sizes["stride"]) if K > WIDEST else (1,),
        "row_sums": (H, sizes["row_blocks"], sizes["wide_rows"]) if K > WIDEST else (1,),
        "counts": (H, COUNTS),
        "squares": (n,),
        "parts": (1 + sizes["groups"],),
        "far": (1,),
        "words": (H, PER_HEAD),
        "totals": (3,),
    }


def sizes_of(n: int, d: int, heads: int, networks: int = 1) -> dict[str, int]:
    """How the work of a layer is cut: some blocks for each head, or for the rows of all."""
    all_heads = max(1, heads * networks)
    row_blocks, columns = -(-n // 64), -(-d // 64)
    stride = 64 * row_blocks
    wide_rows = min(stride, max(64, _WIDE_ENTRIES // (all_heads * stride) // 64 * 64))
    averaging = row_blocks if d <= WIDEST else wide_rows // 64 * columns  # blocks of a head that do
    blocks, long_parts = all_heads * columns * -(-wide_rows // 128), 0
    if d > WIDEST:  # parts of 2048 keys or more take hardly any time to add up
        long_parts = next((p for p in (1, 2, 4) if (p == 1 or n >= 2048 * p) and fills(p * blocks)), 0)
    return {
        "n": n,
        "d": d,
        "heads": heads,
        "networks": networks,
        "blocks": max(1, min(64, -(-n // 32), -(-528 // all_heads))),
        "row_blocks": row_blocks,
        "groups": min(128, -(-n // 2), max(1, 1056 // networks)),
        "splits": max(1, min(8, -(-n // 128), _FILLED // (all_heads * columns**2))),
        "key_parts": long_parts or key_parts(n, all_heads * averaging, 0 if d <= WIDEST else 1),
        "wide_rows": wide_rows,
        "stride": stride,
        "long": long_parts > 0,
    }


def fills(blocks: int) -> bool:
    """Whether so many blocks, two on a processor at a time, leave hardly any of them idle in their last round."""
    return blocks >= 0.9 * -(-blocks // _FILLED) * _FILLED > 0


def key_parts(n: int, blocks: int, adding: int) -> int:
    """Into how many parts, of 64 keys or more, so many blocks that average cut the keys: the quickest of 1 to 8.

    Two blocks side by side on one of `_PROCESSORS` take 1.6 times as long as one; each takes as long as two
    tiles of 32 keys to begin and to end. Parts have to be added up: as long as two tiles, and as `adding` for each,
    and where that counts, blocks that fill the processors are not cut.
    """

    def cost(parts: int) -> float:
        most, tiles = -(-blocks * parts // _PROCESSORS), -(-n // (32 * parts))
        return (tiles + 2) * (1.6 * (most // 2) + most % 2) + (2 + adding * parts) * (parts > 1)

    most = 1 if adding and blocks >= _FILLED else min(8, n // 64)
    return min(range(1, max(1, most) + 1), key=cost)
