"""Layers of attention alone on the CPU, one after the other in one call: units, decisions, memory.

A layer is `units` (the unit in which each part is made), `work` (all heads, `compiled_layer`) and `conclude` (what
becomes of the units). One call on each thread makes all layers and measures their tokens, because small layers
would wait for Python. One thread leads, and announces each layer; the others follow, whenever they come.

The call stops before a layer with uneven attention, logits out of range, weights far from size one or a center that
cancels; `rankmath.attention` makes that layer from arrays.
"""

import ctypes
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from queue import SimpleQueue
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rankmath.kernels.compiled import Kernel, Shape, Writer, address, aligned, groups_at_once, module
from rankmath.kernels.compiled_layer import (
    COUNTERS,
    GIVEN,
    LIMITS,
    MEASURING,
    PER_HEAD,
    PLACES,
    RUN,
    SIZES,
    WILD,
    LayerWriter,
    Memory,
    functions,
)
from rankmath.kernels.runs import LARGE, STEP, Arrays, Run
from rankmath.validation import Floats

#: What the code is told.
Words: TypeAlias = npt.NDArray[np.int64]

# Words of a layer's record (four addresses; largest |query|, log(d_qk)/2, λ of the skip), and of a row of the log.
RECORD, _ROW = 7, 7
#: Counters of what a layer measures: tokens, and queries of the next.
MEASURED = 4
# Arrays given, limits.
_RUN = slice(PLACES[RUN[0]], PLACES[GIVEN[-1]] + 1)
_LIMITS = slice(PLACES[LIMITS[0]], PLACES[LIMITS[-1]] + 1)
_LAYER, _READY, _STOP = PLACES["layer"], PLACES["ready"], PLACES["stop"]
#: The leader announces this layer when the run ends.
END = 2**62
#: Multiply-adds, some tenths of a second, from which Ctrl-C does not wait for the end of a run.
LONG = 2**31
# Hold more heads than threads while keys and values take at most this many doubles: half of a 1 MiB cache.
_HELD = 2**16
# A thread takes rows of this many doubles at a time.
_ROWS = 2**14
# A thread takes this many rows at least: any thread, and one thread alone with wide registers, which read a tile
# faster than the second-level cache delivers it.
_FEW_ROWS, _WIDE_ROWS = 48, 128
# To start a part takes as long as this many rows.
_BEGIN = 3
# Threads share heads, not rows, if all have nearly as many and what the heads add takes at most this many doubles.
_EACH = 2**22
# Tokens up to this size are centred.
_ORDINARY = 1e59
_INFINITE = math.inf


class NetworkWriter(LayerWriter):
    """Writes what comes before and after the work of a layer: numbers, one at a time."""

    def op(self, operation: str, a: str, b: str) -> str:
        return self.put(f"{operation} double {a}, {b}")

    def plus(self, a: str, b: str) -> str:
        return self.op("fadd", a, b)

    def less(self, a: str, b: str) -> str:
        return self.op("fsub", a, b)

    def product_of(self, a: str, b: str) -> str:
        return self.op("fmul", a, b)

    def is_(self, relation: str, a: str, b: str) -> str:
        return self.put(f"fcmp {relation} double {a}, {b}")

    def both(self, *conditions: str) -> str:
        found, *others = conditions
        for other in others:
            found = self.put(f"and i1 {found}, {other}")
        return found

    def choose(self, condition: str, a: str, b: str, kind: str = "double") -> str:
        return self.put(f"select i1 {condition}, {kind} {a}, {kind} {b}")

    def max_of(self, first: str, *others: str) -> str:
        for other in others:
            first = self.choose(self.is_("ogt", other, first), other, first)
        return first

    def of(self, function: str, x: str) -> str:
        """exp, log, sqrt, fabs of one number."""
        return self.put(f"call double @llvm.{function}.f64(double {x})")

    def tell(self, x: str, name: str) -> None:
        self.write(x, self.at("%words", PLACES[name]))

    def set(self, kind: str, x: str, name: str) -> None:
        self.code.append(f"  store {kind} {x}, ptr {self.at('%words', PLACES[name])}, align 8")

    def unless(self, condition: str) -> Iterator[None]:
        yield from self.when(self.put(f"xor i1 {condition}, true"))

    def row_of_log(self, place: str) -> str:
        return self.address(self.pointer("log"), self.times(place, _ROW))

    def moved(self, mantissa: str, exponent: str, factor: str, term: str) -> tuple[str, str]:
        """σ · factor + term for σ = mantissa · 2^exponent, as `LogScale` has it."""
        mantissa = self.product_of(mantissa, factor)
        size = self.of("fabs", mantissa)
        large = self.both(self.is_("ogt", size, self.real(LARGE)), self.is_("olt", size, self.real(_INFINITE)))
        mantissa = self.choose(large, self.product_of(mantissa, self.real(2.0**-STEP)), mantissa)
        exponent = self.choose(large, self.plus(exponent, self.real(STEP)), exponent)
        return self.plus(mantissa, term), exponent  # with an exponent the mantissa is beyond 2^488: no term counts

    def single(self, mantissa: str, exponent: str) -> str:
        """σ as a double; ±∞ beyond 2^1000."""
        infinite = self.put(f"call double @llvm.copysign.f64(double {self.real(_INFINITE)}, double {mantissa})")
        return self.choose(self.is_("oeq", exponent, self.real(0.0)), mantissa, infinite)

    def units(self) -> list[str]:
        """Where the next layer's weights and tokens are, and the factors of all its parts:

        R, x = the tokens before;  total, center = the other of two places
        log_E = 2σ − log(d_qk)/2,  log_pull = ξ + σ − log(d_qk)/2;  stop if one is beyond safe_log
        thin = whether |E| ≤ e^log_E · 2 d² max|W_QK| is below rounding
        unit of what heads add: e^σ;  e^(3σ)/√d_qk if thin and without a skip
        seen = max(ξ, σ);  log_center = max(seen, that unit, 0 if there is a bias)
        scale = e^log_E, and every other factor is e^(its own logarithm − that of its sum)
        """
        zero, one, two = self.real(0.0), self.real(1.0), self.real(2.0)
        l, d, apart = self.word("layer"), self.word("d"), self.word("apart")
        record = self.address(self.pointer("records"), self.times(l, RECORD))
        for k, name in enumerate(("query", "value", "key_bias", "bias")):
            self.set("ptr", self.put(f"load ptr, ptr {self.at(record, k)}, align 8"), name)
        odd, first = self.put(f"and i64 {l}, 1"), self.put(f"icmp eq i64 {l}, 0")
        here = self.address(self.pointer("places"), self.times(odd, apart))
        before = self.address(self.pointer("places"), self.times(self.put(f"xor i64 {odd}, 1"), apart))
        behind = self.put(f"sub i64 {apart}, {d}")  # the center is behind the residual
        self.set("ptr", here, "total")
        self.set("ptr", self.address(here, behind), "center")
        self.set("ptr", self.choose(first, self.pointer("first_R"), before, "ptr"), "R")
        self.set("ptr", self.choose(first, self.pointer("first_x"), self.address(before, behind), "ptr"), "x")
        largest_at = self.room("largest", "1")
        self.write(self.number(self.at(record, 4)), largest_at)
        for _ in self.when(self.is_("olt", self.number(largest_at), zero)):
            self._measure_weights(d, first, largest_at)
        root, skip = self.number(self.at(record, 5)), self.number(self.at(record, 6))
        state = self.row_of_log(l)
        xi, mantissa, exponent = (self.number(self.at(state, k)) for k in range(3))
        sigma = self.single(mantissa, exponent)
        twice = self.product_of(sigma, two)
        log_E, log_pull = self.less(twice, root), self.less(self.plus(xi, sigma), root)
        real_d = self.put(f"sitofp i64 {d} to double")
        size = self.product_of(self.product_of(real_d, real_d), self.product_of(two, self.number(largest_at)))
        safe = self.told("safe_log")
        in_range = [self.is_("olt", log, safe) for log in (log_E, log_pull)]
        allowed = self.both(*in_range, self.is_("olt", size, self.real(_INFINITE)))
        for _ in self.unless(allowed):
            self.stop()
        # |R W_QK| <= d max|W_QK| and |D| <= 2: where this is below rounding, so is E.
        log_size = self.of("log", self.choose(self.is_("ogt", size, zero), size, one))
        thin = self.is_("ole", self.plus(log_E, log_size), self.told("linear_log"))
        # Units of what the heads add: of the tokens themselves, but below rounding that of the logits is left out.
        falls, alone = self.is_("olt", sigma, zero), self.is_("oeq", skip, zero)
        rising = self.less(self.choose(falls, zero, twice), root)
        falling = self.choose(falls, self.put(f"fneg double {twice}"), zero)
        order = self.choose(falls, self.real(3.0), one)
        new = self.moved(mantissa, exponent, order, self.choose(thin, rising, falling))
        moves = self.both(alone, self.put(f"or i1 {thin}, {falls}"))
        mantissa, exponent = (self.choose(moves, a, b) for a, b in zip(new, (mantissa, exponent), strict=True))
        seen, shift = self.max_of(xi, sigma), self.single(mantissa, exponent)
        biased = self.put(f"icmp ne ptr {self.pointer('bias')}, null")
        unit = self.max_of(seen, shift, self.choose(biased, zero, self.real(-_INFINITE)))
        scale = self.of("exp", self.choose(thin, zero, log_E))
        limit = self.op("fdiv", safe, scale)
        below = self.choose(alone, one, self.of("exp", log_E))
        of_unit = self.of("exp", self.less(xi, unit))
        factors = {
            "scale": scale,
            "limit": self.product_of(limit, limit),
            "of_pull": self.of("exp", log_pull),
            "of_key": self.of("exp", self.less(sigma, root)),
            "of_x": self.of("exp", self.less(xi, seen)),
            "of_common": self.of("exp", self.less(sigma, seen)),
            "of_thin": self.choose(thin, below, self.real(-1.0)),
            "skip": skip,
            "of_image": self.of("exp", self.less(seen, unit)),
            "of_bias": self.choose(biased, self.of("exp", self.less(zero, unit)), zero),
            "of_skip": self.product_of(skip, of_unit),
            "of_shift": self.of("exp", self.less(shift, unit)),
            "mantissa": mantissa,
            "exponent": exponent,
            "log_center": unit,
        }
        for name, factor in factors.items():
            self.tell(factor, name)
        return self.function("units", "ptr %words", [*self.code, "  ret void"])

    def _measure_weights(self, d: str, first: str, largest_at: str) -> None:
        """The largest |query|, which the layer before has measured; stop where an array is far from size one.
        Values are measured as they are packed."""
        heads, sizes = self.word("heads"), self.pointer("of_queries")
        for _ in self.when(first):
            for h, _ in self.loop("h", "0", heads):
                self.code.append(f"  call void @of_query(ptr %words, i64 0, i64 {h})")
        self.write(self.real(0.0), largest_at)
        for h, _ in self.loop("h", "0", heads):
            size = self.number(self.address(sizes, h))
            self.keep(size, largest_at, "ogt")
            self.stop_if_wild(size)
        for name, many in (("key_bias", heads), ("bias", "1")):
            start = self.pointer(name)
            for _ in self.when(self.put(f"icmp ne ptr {start}, null")):
                for h, _ in self.loop("h", "0", many):
                    row = self.address(start, self.times(h, d))
                    self.stop_if_wild(self.largest_of(row, self.put(f"udiv i64 {d}, {self.shape.lanes}")))

    def of_query(self) -> list[str]:
        """of_queries[h] = the largest |entry| of query %h of layer %l, where that is not known."""
        d, record = self.word("d"), self.address(self.pointer("records"), self.times("%l", RECORD))
        square = self.times(d, d)
        for _ in self.when(self.is_("olt", self.number(self.at(record, 4)), self.real(0.0))):
            matrix = self.address(self.put(f"load ptr, ptr {record}, align 8"), self.times("%h", square))
            size = self.largest_of(matrix, self.put(f"udiv i64 {square}, {self.shape.lanes}"))
            self.write(size, self.address(self.pointer("of_queries"), "%h"))
        return self.function("of_query", "ptr %words, i64 %l, i64 %h", [*self.code, "  ret void"])

    def conclude(self) -> list[str]:
        """What the layer made becomes a row of the log:

        recentre;  stop if the center has cancelled
        ξ' = log_center + log(of_center),  σ' = unit + log(of_residual)
        lost = max(lost, log₂(the largest part / of_residual))
        unless stopped: write them, and layer += 1
        """
        self.code.append("  call void @recentre(ptr %words)")
        parts, sizes = self.room("parts", "1"), self.pointer("sizes")
        self.write(self.told("of_total"), parts)
        for i, _ in self.loop("i", "0", self.times(self.word("chunks"), self.word("heads"))):
            self.keep(self.number(self.address(sizes, i)), parts, "ogt")
        center, residual, floor = self.told("of_center"), self.told("of_residual"), self.told("log_zero")
        for _ in self.unless(self.is_("ogt", center, self.told("suspicious"))):
            self.stop()
        l = self.word("layer")
        state, after = self.row_of_log(l), self.put(f"add i64 {l}, 1")
        row = self.row_of_log(after)
        largest = self.max_of(self.number(parts), self.of("fabs", self.told("skip")))
        log_parts = self.max_of(self.of("log", largest), floor)
        shrunk = self.of("log", residual)  # −inf for zero
        lost = self.less(log_parts, self.max_of(shrunk, floor))
        lost = self.product_of(lost, self.real(1 / math.log(2.0)))
        mantissa, exponent = (self.told(name) for name in ("mantissa", "exponent"))
        mantissa, exponent = self.moved(mantissa, exponent, self.real(1.0), shrunk)
        xi = self.plus(self.told("log_center"), self.of("log", center))
        lost = self.max_of(self.number(self.at(state, 3)), lost)
        for _ in self.when(self.goes_on()):
            for k, x in enumerate((xi, mantissa, exponent, lost)):
                self.write(x, self.at(row, k))
            self.set("i64", after, "layer")
        return self.function("conclude", "ptr %words", [*self.code, "  ret void"])

    def begin(self) -> list[str]:
        """Centre the tokens that are given, X = 1 X_0 + (X − 1 X_0):

        total = X − 1 X_0;  recentre, with X_0 as what a skip carries and no heads
        log[0] = log of_center, log of_residual, 0, bits lost;  nan and stop if a size is far from one
        """
        lanes, n, d = self.shape.lanes, self.word("n"), self.word("d")
        count, given, to = self.put(f"udiv i64 {d}, {lanes}"), self.pointer("given"), self.pointer("first_R")
        for j, _ in self.loop("j", "0", n):
            row, target = (self.address(a, self.times(j, d)) for a in (given, to))
            for c, _ in self.loop("c", "0", count):
                at = self.times(c, lanes)
                x = self.binary("fsub", self.load(self.address(row, at)), self.load(self.address(given, at)))
                self.store(x, self.address(target, at))
        # Of a layer's sums there is none but what a skip carries, the first token, and the mean.
        size = self.times(self.times(self.word("heads"), d), 8)
        image = self.pointer("image")
        self.code.append(f"  call void @llvm.memset.p0.i64(ptr {image}, i8 0, i64 {size}, i1 false)")
        for source, name in ((given, "x"), ("null", "bias"), (to, "total"), (self.pointer("first_x"), "center")):
            self.set("ptr", source, name)
        for name, factor in (("of_image", 0.0), ("of_bias", 0.0), ("of_skip", 1.0), ("of_shift", 1.0)):
            self.tell(self.real(factor), name)
        self.code.append("  call void @recentre(ptr %words)")
        sizes = [self.told(name) for name in ("of_center", "of_residual", "of_total")]
        most, least = self.real(_ORDINARY), self.real(1 / WILD)
        ordinary = self.both(*(self.both(self.is_("ogt", x, least), self.is_("olt", x, most)) for x in sizes))
        xi, sigma, parts = (self.of("log", x) for x in sizes)
        lost = self.product_of(self.less(parts, sigma), self.real(1 / math.log(2.0)))
        xi = self.choose(ordinary, xi, self.real(math.nan))
        for k, x in enumerate((xi, sigma, self.real(0.0), self.max_of(lost, self.real(0.0)))):
            self.write(x, self.at(self.pointer("log"), k))
        for _ in self.unless(ordinary):
            self.stop()
            self.set("i64", "0", "measured")
        return self.function("begin", "ptr %words", [*self.code, "  ret void"])

    def lengths(self) -> list[str]:
        """log[l][4:] = √measure(tokens before layer %l): ‖R‖, the diameter, ‖x‖; in the first or second memory."""
        d, apart = self.word("d"), self.word("apart")
        first = self.put("icmp eq i64 %l, 0")
        odd = self.put(f"and i64 {self.put('add i64 %l, 1')}, 1")
        last = self.address(self.pointer("places"), self.times(odd, apart))
        R = self.choose(first, self.pointer("first_R"), last, "ptr")
        behind = self.put(f"sub i64 {apart}, {d}")
        x = self.choose(first, self.pointer("first_x"), self.address(last, behind), "ptr")
        out, n, tiles = self.at(self.row_of_log("%l"), 4), self.word("n"), self.word("tiles")
        up = self.put(f"add i64 {n}, {self.shape.rows - 1}")
        groups = self.put(f"udiv i64 {up}, {self.shape.rows}")
        sizes = ", ".join(f"i64 {a}" for a in (n, d, tiles, groups))
        memory = self.address("%words", self.times("%second", len(MEASURING)))
        keys, squares, ends, found, small = (
            self.put(f"load ptr, ptr {self.at(memory, PLACES[name])}, align 8") for name in MEASURING
        )
        arrays = ", ".join(f"ptr {a}" for a in (R, x, keys, squares, ends, found, out, small))
        self.code.append(f"  call void @measure({sizes}, {arrays})")
        for k in range(3):
            self.write(self.of("sqrt", self.number(self.at(out, k))), self.at(out, k))
        return self.function("lengths", "ptr %words, i64 %l, i64 %second", [*self.code, "  ret void"])

    def counters(self, l: str) -> str:
        """Those of a layer; behind the last one those of the tokens that are left to measure."""
        stride = self.put(f"add i64 {self.times(self.word('rounds'), 4)}, {MEASURED}")
        return self.address(self.at("%words", COUNTERS), self.times(l, stride))

    def announce(self, what: str) -> None:
        self.code.append(f"  store atomic i64 {what}, ptr {self.at('%words', _READY)} release, align 8")

    def is_ready(self) -> str:
        return self.put(f"load atomic i64, ptr {self.at('%words', _READY)} acquire, align 8")

    def is_beyond(self, l: str) -> str:
        return self.put(f"icmp sgt i64 {self.is_ready()}, {l}")

    def work_on(self, thread: str, l: str) -> None:
        given = f"i64 {thread}, i64 {l}, ptr %words, ptr {self.counters(l)}, ptr %scratch"
        self.code.append(f"  call void @work({given})")

    def measure_rest(self) -> None:
        """The tokens that nobody has measured, two at most, by two threads."""
        start = self.word("unmeasured")
        for unit in self.units_of(self.counters(self.word("layers")), self.word("left")):
            l = self.put(f"add i64 {start}, {unit}")
            self.code.append(f"  call void @lengths(ptr %words, i64 {l}, i64 {unit})")

    def lead(self) -> list[str]:
        """What the first thread does of a run:

        begin, if tokens are given
        for each layer, until stopped:  units;  announce the layer;  work;  conclude
        announce the end;  measure the tokens that nobody has measured
        """
        L, given = self.word("layers"), self.put(f"icmp ne ptr {self.pointer('given')}, null")
        for _ in self.when(given):
            self.code.append("  call void @begin(ptr %words)")
        measured, before_last = self.word("measured"), self.put(f"sub i64 {L}, 1")
        for l, _ in self.loop("l", "0", L):
            for _ in self.when(self.goes_on()):
                self.code.append("  call void @units(ptr %words)")
            for _ in self.when(self.goes_on()):
                after = self.put(f"add i64 {l}, 1")
                self.announce(after)
                self.work_on("0", l)
                for _ in self.when(self.put(f"icmp slt i64 {l}, {before_last}")):
                    self.set("i64", after, "unmeasured")
            for _ in self.when(self.goes_on()):
                self.code.append("  call void @conclude(ptr %words)")
        found = self.put(f"add i64 {self.word('layer')}, 1")
        left = self.put(f"sub i64 {found}, {self.word('unmeasured')}")
        self.set("i64", self.times(left, measured), "left")
        self.announce(str(END))
        self.measure_rest()
        return self.function("lead", "ptr %words, ptr %scratch", [*self.code, "  ret void"])

    def follow(self) -> list[str]:
        """What the other threads do:

        for each layer:  wait until it is announced;  work
        wait for the end;  measure the tokens that nobody has measured
        """
        for l, _ in self.loop("l", "0", self.word("layers")):
            self.wait_until(partial(self.is_beyond, l))
            for _ in self.when(self.put(f"icmp slt i64 {self.is_ready()}, {END}")):
                self.work_on("%thread", l)
        self.wait_until(partial(self.is_beyond, str(END - 1)))
        self.measure_rest()
        return self.function("follow", "i64 %thread, ptr %words, ptr %scratch", [*self.code, "  ret void"])


_FUNCTIONS = ("exp", "log", "sqrt", "fabs")


def source(shape: Shape) -> str:
    """All functions in LLVM's intermediate language."""

    def writer() -> NetworkWriter:
        return NetworkWriter(shape)

    declared = [f"declare double @llvm.{name}.f64(double)" for name in _FUNCTIONS]
    declared += ["declare double @llvm.copysign.f64(double, double)"]
    written = [
        *functions(shape),
        Writer(shape).sums("expm1"),
        Writer(shape).sums(None, "linear"),
        Writer(shape).pairs(),
        writer().head(),
        writer().times_matrix("project", "alone"),
        writer().times_matrix("collect", "measured"),
        writer().covariance(),
        writer().rows(),
        writer().gather(),
        writer().work(),
        writer().recentre(),
        writer().measure(),
        writer().of_query(),
        writer().units(),
        writer().conclude(),
        writer().begin(),
        writer().lengths(),
        writer().lead(),
        writer().follow(),
    ]
    return module(shape, declared, *written)


def chunk_of(n: int, d: int, threads: int, shape: Shape) -> int:
    """Rows, in whole groups, that a thread takes at a time: nearly equal parts of all.

    For one thread as many as stay in cache, for several some four parts each, or a few more where the thread that
    gets most gets fewer rows then.

    >>> chunk_of(256, 64, 2, Shape(8, 6, 4))  # 130 rows at most, and not 144 as with parts of 48
    42
    """
    group, few = shape.rows, _WIDE_ROWS if threads == 1 and shape.lanes > 2 else _FEW_ROWS
    least = max(few, min(_ROWS // d, n if threads == 1 else -(-n // (4 * threads))))
    groups, parts = -(-n // group), -(-n // least)
    most_parts = parts if threads == 1 else max(2 * parts, threads)
    chunks = [-(-groups // count) * group for count in range(parts, most_parts + 1)]

    def most(chunk: int) -> int:
        """Rows of the thread that has most: parts are taken as they come, the last one may be short, and each takes
        as long to begin as some rows."""
        rounds, left = divmod(-(-n // chunk), threads)
        last = max(n - (-(-n // chunk) - 1) * chunk, group)
        begun = _BEGIN * (rounds + (left > 0))
        return chunk * rounds + (0 if not left else last if left == 1 else chunk) + begun

    return min(chunks, key=most)


class _Known(NamedTuple):
    """What is known of some layers: their weights, held, and the records of these."""

    arrays: Arrays
    held: list[Any]
    records: Floats
    place: int


class LayerPlan:
    """Memory of layers of these sizes; `d` is a multiple of the lanes, and tokens may have fewer columns."""

    def __init__(self, kernel: Kernel, n: int, d: int, heads: int, threads: int) -> None:
        shape = kernel.shape
        self.kernel, self.code = kernel, _compiled(kernel)
        self.n, self.d, self.heads, self.threads = n, d, heads, threads
        rounds = -(-heads // threads)  # of heads, if threads share these and not the rows of each
        by_heads = 1 < threads <= heads and 16 * rounds * threads <= 17 * heads and heads * n * d <= _EACH
        chunk = chunk_of(n, d, 1 if by_heads else threads, shape)
        tiles, chunks = -(-n // shape.width), -(-n // chunk)
        held = tiles * shape.width * d
        at_once = min(heads, max(threads, _HELD // (2 * (held + d * d))))
        self.rows, self.rounds = chunks * chunk, -(-heads // at_once)
        scratch = 2 * chunk * d + chunk * shape.lanes
        groups = -(-n // shape.rows)
        self._small = [Memory(shape, n, d) for _ in range(min(threads, 2))]
        self.measures = self._small[0].pays
        self.arrays: dict[str, Any] = {
            "g": aligned(heads, d),
            "image": aligned(heads, d),
            "keys": aligned(at_once, held),
            "values": aligned(at_once, -(-n // shape.keys) * shape.keys * d),
            "q": aligned(at_once, tiles * shape.width),
            "packed": aligned(at_once, 2 * d * d),
            "thin": aligned(at_once, d * (2 * d + shape.rows)),
            "of_each": aligned(heads if by_heads else 0, self.rows * d),
            "sizes": aligned(chunks, heads),
            "of_heads": aligned(heads, PER_HEAD),
            "of_queries": aligned(heads),
        }
        self.scratch = aligned(threads, -(-scratch // 8) * 8)
        self.told = np.zeros(len(PLACES), np.int64)
        per = groups_at_once(shape, chunk // shape.rows, d)
        self._of_tokens = (self.rows + 1) * d
        sizes = n, d, heads, tiles, per, chunk, chunks, at_once, self.rounds, self._of_tokens, by_heads
        self.told[: len(SIZES)] = sizes
        # Two threads measure, each in memory of its own.
        for k, small in enumerate(self._small):
            of_one = {
                "tiles_of_rows": aligned(held if self.measures else 0),
                "squares": np.full(tiles * shape.width, -np.inf),
                "ends": np.full(groups, tiles, np.int64),
                "found": aligned(groups * shape.rows),
            }
            self.arrays |= {("", "second_")[k] + name: a for name, a in of_one.items()}
            self.told[PLACES[("small", "second_small")[k]]] = small.place
        for name, a in self.arrays.items():
            self.told[PLACES[name]] = a.ctypes.data
        if threads == 1:
            for name in MEASURING:
                self.told[PLACES[f"second_{name}"]] = self.told[PLACES[name]]
        self.told[PLACES["yield"]] = yielding()
        self.lock, self.left = Lock(), Event()
        self.left.set()
        self._limits: Mapping[str, float] = {}
        self._first: Floats | None = None  # tokens that are centred
        self._at_first = 0
        self._known: _Known | None = None

    def run(
        self,
        x: Floats | None,
        R: Floats,
        state: Floats | Sequence[float],
        arrays: Arrays,
        numbers: Floats | Sequence[Sequence[float]],
        limits: Mapping[str, float],
        *,
        measure: bool = False,
    ) -> Run:
        """As many of these layers as can be made of tokens x (1, d), R (n, d), all contiguous.

        Without x the tokens are R, and are centred first: ξ is nan where they cannot be. `state` is otherwise ξ,
        mantissa and exponent of σ, and the lost bits; `numbers` are the largest |query| (below zero: it is
        measured, and so are all weights), log(d_qk)/2 and λ of the skip of each layer.
        """
        with self.lock:
            self.left.wait()  # a run that was interrupted still has the memory
            L, d, missing = len(arrays), R.shape[1], self.d - R.shape[1]
            if missing:  # columns of zeros change nothing
                x, R = None if x is None else widened(x, missing, both=False), widened(R, missing, both=False)
            known = self._weights(arrays, numbers, missing)
            # Layers write to two places in turn, each a residual with its center behind it; the log is last.
            places, apart = max(1, min(L, 2)), self._of_tokens
            memory = aligned(places * apart + (L + 1) * _ROW)
            log, at = memory[places * apart :].reshape(1, L + 1, _ROW), address(memory)
            if limits is not self._limits:
                given_limits = {**limits, "uneven": math.exp(limits["uneven_log"])}
                self.told.view(np.float64)[_LIMITS] = [given_limits[name] for name in LIMITS]
                self._limits = limits
            if x is None:
                if self._first is None:
                    self._first = aligned(self.n + 1, self.d)
                    self._at_first = address(self._first)
                start, behind, given = self._at_first, self._at_first + 8 * self.n * self.d, address(R)
            else:
                start, behind, given = address(R), address(x), 0
                log[0, 0, :4] = state
            # A thread may come late, and finds nothing left to do: words and counters are of this run alone.
            words = np.zeros(COUNTERS + (L + 1) * (4 * self.rounds + MEASURED), np.int64)
            words[: len(PLACES)] = self.told
            run = (0, L, measure, 0, 0, 0, 0, given, behind, start, at, known.place, at + 8 * places * apart)
            words[_RUN] = run
            products = (2 * self.heads * L + 1) * self.n * (self.n + self.d) * self.d
            held = (self, x, R, known, memory)
            lead_and_follow(*self.code, words, self.scratch, held, products >= LONG, self.left)
            reached = int(words[_LAYER])
            if reached:
                first = (reached - 1) % 2 * apart
                made = memory[first : first + apart].reshape(self.rows + 1, self.d)
                center, residual = made[self.rows :], made[: self.n]
            elif x is None:
                assert self._first is not None
                center, residual = self._first[self.n :].copy(), self._first[: self.n].copy()
            else:
                center, residual = x, R
            if missing:
                center, residual = center[:, :d], residual[:, :d]
            return Run(log if reached == L else log[:, : reached + 1], center, residual)

    def _weights(self, arrays: Arrays, numbers: Floats | Sequence[Sequence[float]], missing: int) -> _Known:
        """The weights as wide as the plan, and the records of where they are; those of the last run are known, but
        for copies, since weights may be changed in their place."""
        known = self._known
        if missing or known is None or known.arrays is not arrays:
            wide = [
                [a if a is None or not missing else widened(a, missing, both=a.ndim == 3) for a in layer]
                for layer in arrays
            ]
            records = np.empty((len(arrays), RECORD))
            places = [[0 if a is None else a.ctypes.data for a in layer] for layer in wide]
            records.view(np.int64)[:, :4] = np.reshape(places, (-1, 4))
            self._known = known = _Known(arrays, wide, records, address(records))
        known.records[:, 4:] = numbers
        return known


#: What follows, its thread, where words and memory are, and what stays in its place meanwhile.
Job: TypeAlias = tuple[Callable[..., None], int, int, int, object]


def lead_and_follow(
    lead: Callable[..., None],
    follow: Callable[..., None],
    words: Words,
    scratch: Floats,
    held: object,
    long: bool = False,
    left: Event | None = None,
) -> None:
    """A run on as many threads as there is scratch memory for; what is held stays in its place meanwhile.

    Signals wait for the end of compiled code. A long run is led by another thread, so that Ctrl-C stops it: then
    `left` is set when its memory is free.
    """
    start, memory, threads = address(words), address(scratch), len(scratch)
    try:
        if threads > 1:
            jobs = _crew(os.getpid(), threads - 1)
            for thread in range(1, threads):
                jobs.put((follow, thread, start, memory + thread * scratch.strides[0], (words, scratch, held)))
        if not long or current_thread() is not main_thread():
            lead(start, memory)
            return
        left = left or Event()
        left.clear()
        Thread(target=_lead, args=(lead, start, memory, (words, scratch, held), left), daemon=True).start()
        left.wait()
    finally:  # the other threads wait for this, also after an interruption
        words[_STOP], words[_READY] = 1, END


def _lead(lead: Callable[..., None], words: int, memory: int, held: object, left: Event) -> None:
    try:
        lead(words, memory)
    finally:
        left.set()


@cache
def _crew(process: int, count: int) -> SimpleQueue[Job]:
    """The queue of so many threads that do nothing else. A pool's futures take longer than a small layer; a forked
    process has none of its parent's threads."""
    jobs: SimpleQueue[Job] = SimpleQueue()
    for _ in range(count):
        Thread(target=_serve, args=(jobs,), daemon=True).start()
    return jobs


def _serve(jobs: SimpleQueue[Job]) -> None:
    while True:
        follow, thread, words, scratch, held = jobs.get()
        follow(thread, words, scratch)
        del follow, held  # free their memory before we wait for the next job


def widened(a: Floats, missing: int, *, both: bool) -> Floats:
    """Zeros after the last entries of all rows; and so many rows of them, of matrices."""
    return np.pad(a, [(0, 0)] * (a.ndim - 2) + [(0, missing * both)] * (a.ndim > 1) + [(0, missing)])


@cache
def _compiled(kernel: Kernel) -> tuple[Callable[..., None], Callable[..., None]]:
    arguments = {"lead": (0, 2), "follow": (1, 2)}
    lead, follow = kernel.compiled_all(source(kernel.shape), arguments)
    return lead, follow


@cache
def yielding() -> int:
    """Where the system's function is that lets other threads run; 0 where it has another name."""
    try:
        return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0
    except (AttributeError, OSError, TypeError):
        return 0


@lru_cache(maxsize=4)
def plan(kernel: Kernel, n: int, d: int, heads: int, threads: int) -> LayerPlan:
    """The plan of a layer, the last four kept with their memory."""
    return LayerPlan(kernel, n, d, heads, threads)
