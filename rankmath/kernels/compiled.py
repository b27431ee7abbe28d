"""Kernels for the CPU, compiled when first used: softmax averages.

No n × m matrix is held of

    deviation:  out_i = Σ_j m_ij q_j v_j / (1 + Σ_j m_ij q_j),   m = expm1(left rightᵀ),
    average:    out_i = Σ_j m_ij q_j v_j / Σ_j m_ij q_j,         m = exp(left rightᵀ).

A group of rows is multiplied with a tile of keys in registers: logits, m and sums of one tile, then its part of the
average. `Writer` writes the code in LLVM's intermediate language, for the vector registers of the machine; the
docstring of each function that it writes is its pseudo-code. The optional library `llvmlite` compiles it in a
second, and `machine_code` keeps it. Tests compare it with many digits, and with `by_expm1` and `softmax` of
`rankmath.attention`, which do the same in NumPy.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankmath.kernels.machine_code import object_of
from rankmath.validation import Floats

#: The counter of a loop, and the values carried through it.
Loop: TypeAlias = tuple[str, list[str]]
#: The result, and the tasks that fill it.
Tasks: TypeAlias = tuple[Floats, list[Callable[[], None]]]

# A product takes this many doubles of a tile of keys at a time: half of a first-level cache of 32 KiB.
_PANEL = 2**11
# At most this many logits are held, and this many doubles of the groups of rows that take turns at a tile.
_LOGITS, _GROUPED = 3 * 2**12, 2**15


@dataclass(frozen=True)
class Shape:
    """How the registers are used: `rows` × `vectors` of them, each of `lanes` doubles, hold the sums."""

    lanes: int
    rows: int
    vectors: int

    @property
    def width(self) -> int:
        """Keys of a tile, and columns of the values in a strip."""
        return self.lanes * self.vectors

    @property
    def keys(self) -> int:
        """Keys whose part of the averages is added at a time."""
        return 256 if self.upright else 64

    @property
    def tiles(self) -> int:
        """The same in tiles."""
        return self.keys // self.width

    @property
    def upright(self) -> bool:
        """Whether the lanes of a register hold rows, and not keys, while logits are made: where a register has few
        lanes, and a product may take either of them as a factor, no entry has to be spread over the lanes."""
        return self.lanes == 2 and self.rows % 2 == 0


#: 24 sums, four vectors and six or eight entries, two a register, take 31 of the 32 registers of aarch64.
NEON = Shape(2, 6, 4)


def groups_at_once(shape: Shape, groups: int, k: int) -> int:
    """Groups of rows of k columns that meet a tile one after the other: nearly equal parts of all."""
    most = max(1, min(_LOGITS // (shape.rows * shape.keys), _GROUPED // (shape.rows * k)))
    return -(-groups // -(-groups // most))


class Kernel:
    """The compiled functions for one shape."""

    def __init__(self, shape: Shape, features: str) -> None:
        self.shape, self._features = shape, features
        self._engines: list[object] = []  # kept, because they own the code

    def compiled(self, name: str, code: str, sizes: int, pointers: int) -> Callable[..., None]:
        return self.compiled_all(code, {name: (sizes, pointers)})[0]

    def compiled_all(self, code: str, functions: dict[str, tuple[int, int]]) -> list[Callable[..., None]]:
        """Functions of a module, each with as many sizes and pointers as arguments."""
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=self._features, opt=3
        )
        made = llvm.ObjectFileRef.from_data(object_of(code, machine, self._features))
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(made)
        engine.finalize_object()
        self._engines.append(engine)
        found: list[Callable[..., None]] = []
        for name, (sizes, pointers) in functions.items():
            # ctypes releases the interpreter's lock, so that other threads run.
            types = [ctypes.c_int64] * sizes + [ctypes.c_void_p] * pointers
            found.append(ctypes.CFUNCTYPE(None, *types)(engine.get_function_address(name)))
        return found

    @cached_property
    def deviation(self) -> Callable[..., None]:
        return self.compiled("sums", source(self.shape, "expm1"), 7, 6)

    @cached_property
    def average(self) -> Callable[..., None]:
        return self.compiled("sums", source(self.shape, "exp"), 7, 6)

    @cached_property
    def pack(self) -> Callable[..., None]:
        return self.compiled("pack", packing(self.shape), 3, 6)

    def rows(self, base: float, left: Floats, keys: Packed, out: Floats) -> None:
        """Deviations (base 1) or averages (0) of the rows `left` (n, k) into `out`, padded to groups and strips."""
        shape, (n, k), tiles, wide = self.shape, left.shape, len(keys.right), keys.columns
        left = left if left.strides[1] == left.itemsize else np.ascontiguousarray(left)
        groups, total = len(out) // shape.rows, aligned(len(out), shape.lanes)
        sizes = (
            groups,
            k,
            tiles,
            groups_at_once(shape, groups, k),
            wide // shape.lanes,
            left.strides[0] // left.itemsize,
            n - 1,
        )
        call = self.deviation if base else self.average
        call(*sizes, *(a.ctypes.data for a in (left, keys.right, keys.values, keys.q, out, total)))


@dataclass(frozen=True)
class Packed:
    """Keys and weighted values in the order in which the kernel meets them, a tile of keys after the other."""

    right: Floats  # (tiles, k, width)
    values: Floats  # (blocks of tiles, keys, columns), in each block some columns after the others
    q: Floats  # (tiles, width)

    @classmethod
    def of(cls, compiled: Kernel, scale: Floats | float, right: Floats, q: Floats, values: Floats) -> Packed:
        (m, k), shape = right.shape, compiled.shape
        width, keys, lanes = shape.width, shape.keys, shape.lanes
        given = [np.ascontiguousarray(a) for a in (right, q, _padded(values.T, lanes).T, np.full(1, scale))]
        tiles, blocks, wide = -(-m // width), -(-m // keys), given[2].shape[1]
        made = cls(aligned(tiles, k, width), aligned(blocks, keys, wide), aligned(tiles, width))
        for a in (made.right, made.values, made.q):
            a[-1] = 0.0  # keys of the last tile may be missing
        made.q.reshape(-1)[:m] = q[:, 0]
        compiled.pack(m, k, wide // lanes, *(a.ctypes.data for a in (*given, made.right, made.values)))
        return made

    @property
    def columns(self) -> int:
        return int(self.values.shape[2])


def _padded(a: Floats, multiple: int) -> Floats:
    """Rows of zeros added up to a multiple."""
    missing = -len(a) % multiple
    return np.concatenate([a, np.zeros((missing, a.shape[1]))]) if missing else a


def address(a: npt.NDArray[Any]) -> int:
    """Where an array in one piece begins; `a.ctypes` takes several times as long, which small layers feel."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(a.data))
    except (TypeError, ValueError):  # it may only be read, or is empty
        return int(a.ctypes.data)


def aligned(*shape: int) -> Floats:
    """An array that begins on a cache line."""
    size = math.prod(shape)
    raw = np.empty(size + 8)
    start = (-address(raw) // 8) % 8
    return raw[start : start + size].reshape(shape)


def fused_average(
    compiled: Kernel,
    base: float,
    scale: Floats | float,
    left: Floats,
    right: Floats,
    q: Floats,
    values: Floats,
    parts: int,
) -> Tasks:
    """The formulas above for left (n, k), scale·right (m, k), q (m, 1), values (m, v): tasks of some rows each."""
    keys, rows = Packed.of(compiled, scale, right, q, values), compiled.shape.rows
    groups = -(-len(left) // rows)
    out = aligned(groups * rows, keys.columns)
    ends = [groups * part // parts * rows for part in range(parts + 1)]
    parts_of_rows = [(left[a:b], keys, out[a:b]) for a, b in pairwise(ends) if a < b]
    return out[: len(left), : values.shape[1]], [partial(compiled.rows, base, *part) for part in parts_of_rows]


@cache
def has_compiler() -> bool:
    """Whether llvmlite is here, and its LLVM reads `ptr` as a type: llvmlite 0.44 has LLVM 15, which does not."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return False
    return bool(llvm.llvm_version_info >= (16,))


@cache
def kernel() -> Kernel | None:
    """The kernel of this machine; None without a compiler or without fused multiply-add."""
    if not has_compiler():
        return None
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if llvm.get_default_triple().startswith("aarch64"):
        return Kernel(NEON, features.flatten())
    if not features.get("fma"):
        return None
    return Kernel(Shape(8, 6, 4) if features.get("avx512dq") else Shape(4, 6, 2), features.flatten())


# -- the code ----------------------------------------------------------------------------------------------


def source(shape: Shape, function: Literal["exp", "expm1"]) -> str:
    """The sums in LLVM's intermediate language."""
    return module(shape, Writer(shape).sums(function))


def packing(shape: Shape) -> str:
    """Tiles of keys, transposed and times a factor, and of weighted values."""
    return module(shape, Writer(shape).pack())


def module(shape: Shape, *functions: list[str]) -> str:
    return "\n".join([*Writer(shape).declared(), *(line for function in functions for line in function)])


# 1.5·2^52 + 1023: adding it rounds to a whole number, and its lower bits are the exponent of a power of two.
_ROUNDS = 6755399441056767.0
# expm1(r) = r + r² P(r) for |r| <= log(2)/2. P of degree 10 interpolates in Chebyshev's points.
_EXPM1 = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326141, 0.0013888888888883752,
    0.00019841269874800683, 2.4801587325533502e-05, 2.75572554255029e-06, 2.7557273661174726e-07,
    2.5105206475334834e-08, 2.091467944897855e-09,
)  # fmt: skip


class Writer:
    """Writes the instructions; every value gets a number of its own."""

    def __init__(self, shape: Shape, element: Literal["double", "float"] = "double") -> None:
        self.shape, self.element, self.vector = shape, element, f"<{shape.lanes} x {element}>"
        self.suffix = f"v{shape.lanes}f{64 if element == 'double' else 32}"
        self.integers, self.align = f"<{shape.lanes} x i64>", 8 if element == "double" else 4
        self.code: list[str] = []
        self.constants: dict[float, int] = {}
        self.count = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.code.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def splat(self, x: float) -> str:
        """A constant in every lane."""
        bits = np.float64(x).view(np.uint64)
        return "<" + ", ".join([f"{self.element} 0x{int(bits):016X}"] * self.shape.lanes) + ">"

    def addend(self, x: float) -> str:
        """A constant that a product is added to. Where an instruction overwrites what it adds to, a load costs less
        than a copy, which takes the place of a product; LLVM leaves what is volatile where it stands."""
        if not self.shape.upright:
            return self.splat(x)
        place = self.at("%constants", self.constants.setdefault(x, len(self.constants)) * self.shape.lanes)
        return self.put(f"load volatile {self.vector}, ptr {place}, align 16")

    def fma(self, a: str, b: str, c: str) -> str:
        v = self.vector
        return self.put(f"call {v} @llvm.fma.{self.suffix}({v} {a}, {v} {b}, {v} {c})")

    def address(self, base: str, offset: str) -> str:
        return self.put(f"getelementptr {self.element}, ptr {base}, i64 {offset}")

    def at(self, base: str, constant: int) -> str:
        return self.address(base, str(constant)) if constant else base

    def load(self, pointer: str) -> str:
        return self.put(f"load {self.vector}, ptr {pointer}, align {self.align}")

    def store(self, value: str, pointer: str) -> None:
        self.code.append(f"  store {self.vector} {value}, ptr {pointer}, align 8")

    def broadcast(self, pointer: str) -> str:
        return self.spread(self.put(f"load {self.element}, ptr {pointer}, align {self.align}"))

    def spread(self, x: str) -> str:
        """A number in every lane."""
        v = self.vector
        one = self.put(f"insertelement {v} poison, {self.element} {x}, i64 0")
        return self.put(f"shufflevector {v} {one}, {v} poison, <{self.shape.lanes} x i32> zeroinitializer")

    def here(self) -> str:
        """The block that is being written."""
        return next((line[:-1] for line in reversed(self.code) if line.endswith(":")), "entry")

    def loop(self, name: str, start: str, stop: str, carried: list[str] | None = None) -> Iterator[Loop]:
        """Yield counter and carried values once: the caller writes the body and leaves new ones in `carried`.

        The body runs once at least, unless nothing is carried.
        """
        self.count += 1
        name, carried, guarded = f"{name}{self.count}", carried or [], not carried
        if guarded:
            some = self.put(f"icmp slt i64 {start}, {stop}")
            self.code += [f"  br i1 {some}, label %{name}.start, label %{name}.end", f"{name}.start:"]
        before, index, first = self.here(), f"%{name}", list(carried)
        new = [f"%{name}.c{k}" for k in range(len(carried))]
        self.code += [f"  br label %{name}.body", f"{name}.body:"]
        body = len(self.code)
        yield index, new
        inside, last = self.code[body:], self.here()
        del self.code[body:]
        self.code.append(f"  {index} = phi i64 [ {start}, %{before} ], [ {index}.next, %{last} ]")
        for value, old, updated in zip(new, first, carried, strict=True):
            self.code.append(f"  {value} = phi {self.vector} [ {old}, %{before} ], [ {updated}, %{last} ]")
        self.code += inside
        self.code += [
            f"  {index}.next = add nuw nsw i64 {index}, 1",
            f"  {index}.more = icmp slt i64 {index}.next, {stop}",
            f"  br i1 {index}.more, label %{name}.body, label %{name}.end",
            f"{name}.end:",
        ]

    def when(self, condition: str) -> Iterator[None]:
        """Yield once: the caller writes what is done only then."""
        self.count += 1
        name = f"then{self.count}"
        self.code += [f"  br i1 {condition}, label %{name}, label %{name}.end", f"{name}:"]
        yield
        self.code += [f"  br label %{name}.end", f"{name}.end:"]

    def strips(self, count: str) -> Iterator[tuple[int, str]]:
        """Yield the vectors of a strip and its first column, for whole strips and for each width the last may have:
        `count` vectors in all."""
        vectors, lanes = self.shape.vectors, self.shape.lanes
        whole, rest = self.put(f"udiv i64 {count}, {vectors}"), self.put(f"urem i64 {count}, {vectors}")
        for s, _ in self.loop("strip", "0", whole):
            yield vectors, self.times(s, self.shape.width)
        for v in range(1, vectors):
            for _ in self.when(self.put(f"icmp eq i64 {rest}, {v}")):
                yield v, self.times(whole, vectors * lanes)

    def times(self, a: str, b: str | int) -> str:
        return self.put(f"mul nuw nsw i64 {a}, {b}")

    def rows_of(self, base: str, first: str, step: str, last: str, count: int | None = None) -> list[str]:
        """Where the rows of a group, or so many, begin; the last row once more where there are fewer."""
        found = []
        for r in range(count or self.shape.rows):
            row = self.put(f"add i64 {first}, {r}")
            inside = self.put(f"icmp slt i64 {row}, {last}")
            found.append(self.address(base, self.times(self.put(f"select i1 {inside}, i64 {row}, i64 {last}"), step)))
        return found

    def total(self, x: str, start: float = 0.0) -> str:
        """The sum of a vector's entries, and of a number."""
        lanes, v = self.shape.lanes, self.vector
        return self.put(f"call double @llvm.vector.reduce.fadd.v{lanes}f64(double {start}, {v} {x})")

    def larger(self, x: str, y: str) -> str:
        """The larger one; y where x is no number."""
        if self.shape.upright:  # one instruction, as the comparison is elsewhere
            return self.put(f"call {self.vector} @llvm.maxnum.{self.suffix}({self.vector} {x}, {self.vector} {y})")
        return self._select(self.put(f"fcmp ogt {self.vector} {x}, {y}"), x, y)

    def most(self, x: str) -> str:
        """The largest entry of a vector."""
        return self.put(f"call {self.element} @llvm.vector.reduce.fmax.{self.suffix}({self.vector} {x})")

    def without_sign(self, x: str) -> str:
        return self.put(f"call {self.vector} @llvm.fabs.{self.suffix}({self.vector} {x})")

    def rows_from(self, first: str, step: str) -> list[str]:
        """Where the rows of a group begin."""
        found = [first]
        for _ in range(self.shape.rows - 1):
            found.append(self.address(found[-1], step))
        return found

    def product(self, sums: list[str], entries: Iterable[str], row: list[str]) -> None:
        """sums[r][c] += entries[r] row[c]."""
        vectors = len(row)
        for r, x in enumerate(entries):
            for c, y in enumerate(row):
                sums[r * vectors + c] = self.fma(x, y, sums[r * vectors + c])

    def vectors(self, base: str, k: str, count: int) -> list[str]:
        """Row k of so many vectors each."""
        place = self.address(base, self.times(k, count * self.shape.lanes))
        return [self.load(self.at(place, c * self.shape.lanes)) for c in range(count)]

    def spread_out(self, vectors: Iterable[str]) -> Iterator[str]:
        """Each entry of these vectors in every lane: an instruction of aarch64 names a lane of a factor."""
        v, lanes = self.vector, self.shape.lanes
        for x in vectors:
            for lane in range(lanes):
                mask = ", ".join([f"i32 {lane}"] * lanes)
                yield self.put(f"shufflevector {v} {x}, {v} poison, <{lanes} x i32> <{mask}>")

    def binary(self, operation: str, a: str, b: str) -> str:
        return self.put(f"{operation} {self.vector} {a}, {b}")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Horner's scheme, the leading coefficient last."""
        *lower, first = coefficients
        p = self.splat(first)
        for c in reversed(lower):
            p = self.fma(p, x, self.addend(c))
        return p

    def reduced(self, x: str) -> tuple[str, str]:
        """x = n log 2 + r, |r| <= log(2)/2: expm1(r), and integers whose lower bits are n + 1023."""
        v, magic = self.vector, self.splat(_ROUNDS)
        t = self.fma(x, self.splat(1.4426950408889634), self.addend(_ROUNDS))
        n = self.binary("fsub", t, magic)
        r = self.fma(n, self.splat(-2.3190468138462996e-17), self.fma(n, self.splat(-0.6931471805599453), x))
        p = self.polynomial(r, _EXPM1)
        p = self.fma(self.binary("fmul", p, r), r, r)
        return p, self.put(f"bitcast {v} {t} to {self.integers}")

    def power(self, n: str) -> str:
        """2^n for integers of which the lower bits are n + 1023."""
        shifted = self.put(f"shl {self.integers} {n}, {self._integers(52)}")
        return self.put(f"bitcast {self.integers} {shifted} to {self.vector}")

    def expm1(self, x: str) -> str:
        """2^n expm1(r) + (2^n − 1). The caller keeps |x| below 700."""
        p, n = self.reduced(x)
        s = self.power(n)
        return self.fma(p, s, self.binary("fsub", s, self.splat(1.0)))

    def exp(self, x: str) -> str:
        p, n = self.reduced(x)
        s = self.power(n)
        return self.fma(p, s, s)

    def _select(self, condition: str, a: str, b: str) -> str:
        v = self.vector
        return self.put(f"select <{self.shape.lanes} x i1> {condition}, {v} {a}, {v} {b}")

    def _integers(self, x: int) -> str:
        return "<" + ", ".join([f"i64 {x}"] * self.shape.lanes) + ">"

    def function(self, name: str, arguments: str, code: list[str]) -> list[str]:
        bits = 64 * self.shape.lanes
        attributes = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}" nounwind'
        held: list[str] = []
        if self.constants:
            kept = f"[{len(self.constants)} x {self.vector}]"
            values = ", ".join(f"{self.vector} {self.splat(x)}" for x in self.constants)
            held.append(f"@{name}.constants = private constant {kept} [{values}], align 16")
            # Their place is read from memory, so that it is known once and not made for every one of them.
            code = [
                "  %place.of.constants = alloca ptr, align 8",
                f"  store ptr @{name}.constants, ptr %place.of.constants, align 8",
                "  %constants = load volatile ptr, ptr %place.of.constants, align 8",
                *code,
            ]
        return [*held, f"define void @{name}({arguments}) {attributes} {{", "entry:", *code, "}"]

    def declared(self) -> list[str]:
        v, e, suffix = self.vector, self.element, self.suffix
        return [
            f"declare {v} @llvm.fma.{suffix}({v}, {v}, {v})",
            f"declare {v} @llvm.fabs.{suffix}({v})",
            f"declare {v} @llvm.maxnum.{suffix}({v}, {v})",
            f"declare {e} @llvm.vector.reduce.fadd.{suffix}({e}, {v})",
            f"declare {e} @llvm.vector.reduce.fmax.{suffix}({v})",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        ]

    def pack(self) -> list[str]:
        """For keys right (m, K), weights q and values (m, columns):

        for each key j:
            for each column k:  keys[tile of j][k][place of j in its tile] = factor · right[j, k]
            for each strip of columns:  w[block of j][strip][place of j in its block] = q_j values[j, strip]
        """
        lanes, width, held = self.shape.lanes, self.shape.width, self.shape.keys
        factor = self.put("load double, ptr %factor, align 8")
        for j, _ in self.loop("j", "0", "%m"):
            tile, lane = self.put(f"udiv i64 {j}, {width}"), self.put(f"urem i64 {j}, {width}")
            place = self.address(self.address("%keys", self.times(tile, self.times("%K", width))), lane)
            row = self.address("%right", self.times(j, "%K"))
            for k, _ in self.loop("k", "0", "%K"):
                x = self.put(f"load double, ptr {self.address(row, k)}, align 8")
                target = self.address(place, self.times(k, width))
                self.code.append(f"  store double {self.put(f'fmul double {x}, {factor}')}, ptr {target}, align 8")
            q, row = self.broadcast(self.address("%q", j)), self.address("%values", self.times(j, "%wide"))
            block, lane = self.put(f"udiv i64 {j}, {held}"), self.put(f"urem i64 {j}, {held}")
            place = self.address("%w", self.times(self.times(block, "%wide"), held))
            for v, column in self.strips("%count"):
                source = self.address(row, column)
                target = self.address(self.address(place, self.times(column, held)), self.times(lane, v * lanes))
                for c in range(v):
                    x = self.load(self.at(source, c * lanes))
                    self.store(self.binary("fmul", x, q), self.at(target, c * lanes))
        pointers = ", ".join(f"ptr noalias %{a}" for a in ("right", "q", "values", "factor", "keys", "w"))
        code = [f"  %wide = mul i64 %count, {lanes}", *self.code, "  ret void"]
        return self.function("pack", f"i64 %m, i64 %K, i64 %count, {pointers}", code)

    def sums(self, function: Literal["exp", "expm1"] | None, name: str = "sums") -> list[str]:
        """The softmax averages of all rows of `left`, %per groups of them at a time::

            out = 0, total = 0
            for some tiles of keys at a time:
                for each tile, for each group:   m = left · tile            (in registers: rows × vectors sums)
                                                 m = expm1(m) or exp(m), total += m q
                for each strip of columns, for each group:  out[strip] += m · values[strip]
            out /= 1 + total (expm1) or total (exp)

        Without a function m is the logit, and nothing is divided. The groups take turns, so that a tile or a strip
        stays in the first-level cache.
        """
        rows, lanes, width = self.shape.rows, self.shape.lanes, self.shape.width
        pointers = ", ".join(f"ptr noalias %{name}" for name in ("left", "right", "w", "q", "out", "total"))
        logits = self.times("%per", self.shape.tiles * rows * width)
        entries, wide = self.times(self.times("%K", "%per"), rows), self.times("%count", lanes)
        self.code += [f"  %tile = alloca double, i64 {logits}, align 64"]
        self.code += [f"  %group = alloca double, i64 {entries}, align 64"]
        self.code += [f"  %zeros = alloca [{rows * width} x double], align 64"]
        self.code += [f"  call void @llvm.memset.p0.i64(ptr %zeros, i8 0, i64 {8 * rows * width}, i1 false)"]
        for g0, have in self.parts("%groups", "%per"):
            means, out = self.address("%total", self.times(g0, rows * lanes)), self.times(wide, rows)
            made = self.address("%out", self.times(g0, out))
            for start, size in ((means, str(rows * lanes)), (made, out)):
                size = self.times(self.times(size, have), 8)
                self.code.append(f"  call void @llvm.memset.p0.i64(ptr {start}, i8 0, i64 {size}, i1 false)")
            for g, _ in self.loop("g", "0", have):
                first = self.times(self.put(f"add i64 {g0}, {g}"), rows)
                given, group = self.rows_of("%left", first, "%step", "%last"), self.times(g, self.times("%K", rows))
                for k, _ in self.loop("a", "0", "%K"):
                    place = self.address(self.address("%group", group), self.times(k, rows))
                    for r in range(rows):
                        x = self.put(f"load double, ptr {self.address(given[r], k)}, align 8")
                        self.code.append(f"  store double {x}, ptr {self.at(place, r)}, align 8")
            for t0, some in self.parts("%tiles", str(self.shape.tiles)):
                for t, _ in self.loop("t", "0", some):
                    tile = self.put(f"add i64 {t0}, {t}")
                    self._logits(self.address("%right", self.times(tile, self.times("%K", width))), t, have)
                    if function is not None:
                        self._exponentials(function, self.address("%q", self.times(tile, width)), t, have, means)
                self._averages(t0, some, have, made, wide)
            if function is None:
                continue
            for g, _ in self.loop("g", "0", have):
                mean = self.address(means, self.times(g, rows * lanes))
                for r, row in enumerate(self.rows_from(self.address(made, self.times(g, out)), wide)):
                    base = float(function == "expm1")
                    if self.shape.upright:
                        total = self.put(f"fadd double {base}, {self.put(f'load double, ptr {self.at(mean, r)}')}")
                    else:
                        total = self.total(self.load(self.at(mean, r * lanes)), base)
                    inverse = self.spread(self.put(f"fdiv double 1.0, {total}"))
                    for place, _ in self.loop("c", "0", "%count"):
                        entry = self.address(row, self.times(place, lanes))
                        self.store(self.binary("fmul", self.load(entry), inverse), entry)
        sizes = "i64 %groups, i64 %K, i64 %tiles, i64 %per, i64 %count, i64 %step, i64 %last"
        return self.function(name, f"{sizes}, {pointers}", [*self.code, "  ret void"])

    def parts(self, count: str, most: str) -> Iterator[tuple[str, str]]:
        """Yield the first of some, and how many they are: `most` at a time of so many."""
        up = self.put(f"add i64 {self.put(f'sub i64 {most}, 1')}, {count}")
        for part, _ in self.loop("part", "0", self.put(f"udiv i64 {up}, {most}")):
            first = self.times(part, most)
            left = self.put(f"sub i64 {count}, {first}")
            fewer = self.put(f"icmp slt i64 {left}, {most}")
            yield first, self.put(f"select i1 {fewer}, i64 {left}, i64 {most}")

    def _tile(self, g: str, t: str) -> str:
        """Where the logits of group g and of a tile are."""
        size = self.shape.rows * self.shape.width
        first = self.times(g, self.shape.tiles * size)
        return self.address("%tile", self.put(f"add i64 {first}, {self.times(t, size)}"))

    def _logits(self, right: str, t: str, groups: str) -> None:
        """Of all groups and a tile, some columns of both after the others: of each row the keys, or upright."""
        rows, vectors, lanes, width = self.shape.rows, self.shape.vectors, self.shape.lanes, self.shape.width
        for k0, some in self.parts("%K", str(_PANEL // width)):
            begins, end = self.put(f"icmp eq i64 {k0}, 0"), self.put(f"add i64 {k0}, {some}")
            for g, _ in self.loop("g", "0", groups):
                group, place = self.address("%group", self.times(g, self.times("%K", rows))), self._tile(g, t)
                begun = self.put(f"select i1 {begins}, ptr %zeros, ptr {place}")
                sums = [self.load(self.at(begun, i * lanes)) for i in range(rows * vectors)]
                for k, now in self.loop("k", k0, end, sums):
                    sums[:] = now
                    if self.shape.upright:
                        keys = self.spread_out(self.vectors(right, k, vectors))
                        self.product(sums, keys, self.vectors(group, k, rows // lanes))
                    else:
                        entries = self.address(group, self.times(k, rows))
                        places = [self.at(entries, r) for r in range(rows)]
                        self.product(sums, map(self.broadcast, places), self.vectors(right, k, vectors))
                for i, x in enumerate(sums):
                    self.store(x, self.at(place, i * lanes))

    def _exponentials(self, function: Literal["exp", "expm1"], q: str, t: str, groups: str, means: str) -> None:
        """m in the place of the logits, and m q added to the sums."""
        rows, vectors, lanes = self.shape.rows, self.shape.vectors, self.shape.lanes
        apply = {"exp": self.exp, "expm1": self.expm1}[function]
        weights = [] if self.shape.upright else self.vectors(q, "0", vectors)
        for g, _ in self.loop("g", "0", groups):
            tile, start = self._tile(g, t), self.address(means, self.times(g, rows * lanes))
            if self.shape.upright:  # (keys, rows)
                across = rows // lanes
                sums = [self.load(self.at(start, c * lanes)) for c in range(across)]
                for j, now in self.loop("j", "0", str(vectors), sums):
                    sums[:] = now
                    place = self.address(tile, self.times(j, lanes * rows))
                    places = [self.at(place, i * lanes) for i in range(rows)]
                    made = self.abreast(apply, [self.load(a) for a in places])
                    of_keys = [w for w in self.spread_out(self.vectors(q, j, 1)) for _ in range(across)]
                    for i, (m, place, weight) in enumerate(zip(made, places, of_keys, strict=True)):
                        self.store(m, place)
                        sums[i % across] = self.fma(m, weight, sums[i % across])
                for c, x in enumerate(sums):
                    self.store(x, self.at(start, c * lanes))
                continue
            for r in range(rows):
                places = [self.at(tile, (r * vectors + c) * lanes) for c in range(vectors)]
                mean, logits = self.load(self.at(start, r * lanes)), [self.load(place) for place in places]
                for m, place, q_of_keys in zip(self.abreast(apply, logits), places, weights, strict=True):
                    self.store(m, place)
                    mean = self.fma(m, q_of_keys, mean)
                self.store(mean, self.at(start, r * lanes))

    def abreast(self, function: Callable[[str], str], xs: list[str]) -> list[str]:
        """The function of each, their instructions taken in turns: of one alone each waits for the one before."""
        before, parts, values = self.code, [], []
        for x in xs:
            self.code = []
            values.append(function(x))
            parts.append(self.code)
        self.code = before
        self.code += [line for turn in zip(*parts, strict=True) for line in turn]
        return values

    def _averages(self, first: str, tiles: str, groups: str, made: str, wide: str) -> None:
        """What some tiles from the first on add, one strip of columns after the other."""
        rows, lanes, width = self.shape.rows, self.shape.lanes, self.shape.width
        values = self.address("%w", self.times(first, self.times(wide, width)))
        for v, column in self.strips("%count"):
            source, target = self.address(values, self.times(column, self.shape.keys)), self.address(made, column)
            for g, _ in self.loop("g", "0", groups):
                targets = self.rows_from(self.address(target, self.times(g, self.times(wide, rows))), wide)
                places = [self.at(targets[i // v], i % v * lanes) for i in range(rows * v)]
                sums, tile = [self.load(place) for place in places], self._tile(g, "0")
                if self.shape.upright:
                    for j, now in self.loop("j", "0", self.times(tiles, width), sums):
                        sums[:] = now
                        m = self.spread_out(self.vectors(tile, j, rows // lanes))
                        self.product(sums, m, self.vectors(source, j, v))
                else:
                    for t, through in self.loop("t", "0", tiles, sums):
                        sums[:] = through
                        strip = self.address(source, self.times(t, width * v * lanes))
                        of_tile = self.address(tile, self.times(t, rows * width))
                        for j, now in self.loop("j", "0", str(width), sums):
                            sums[:] = now
                            m_of_key = [self.at(self.address(of_tile, j), r * width) for r in range(rows)]
                            self.product(sums, map(self.broadcast, m_of_key), self.vectors(strip, j, v))
                for x, place in zip(sums, places, strict=True):
                    self.store(x, place)

    def pairs(self, name: str = "pairs") -> list[str]:
        """For each group of rows from %first to %stop.

        In plain steps::

            most = −∞
            for each tile from the group's own to its end:
                sums = rows · tile
                most = max(most, squares of the tile − 2 sums)
            out[i] = the largest lane of most_i
        """
        rows, vectors, lanes, width = self.shape.rows, self.shape.vectors, self.shape.lanes, self.shape.width
        two = self.splat(-2.0)
        self.code.append(f"  %most = alloca [{rows} x {self.vector}], align 64")
        for g, _ in self.loop("g", "%first", "%stop"):
            first = self.times(g, rows)
            given = self.rows_of("%rows", first, "%K", "%last")
            for r in range(rows):
                self.store(self.splat(-math.inf), self.at("%most", r * lanes))
            end = self.put(f"load i64, ptr {self.put(f'getelementptr i64, ptr %ends, i64 {g}')}, align 8")
            for t, _ in self.loop("t", self.put(f"udiv i64 {first}, {width}"), end):
                tile, sums = self.address("%tiles", self.times(t, self.times("%K", width))), []
                sums = [self.splat(0.0)] * (rows * vectors)
                for k, now in self.loop("k", "0", "%K", sums):
                    sums[:] = now
                    places = [self.address(row, k) for row in given]
                    self.product(sums, map(self.broadcast, places), self.vectors(tile, k, vectors))
                place = self.address("%squares", self.times(t, width))
                squares = [self.load(self.at(place, c * lanes)) for c in range(vectors)]
                for r in range(rows):
                    most = self.load(self.at("%most", r * lanes))
                    for c in range(vectors):
                        most = self.larger(self.fma(sums[r * vectors + c], two, squares[c]), most)
                    self.store(most, self.at("%most", r * lanes))
            for r in range(rows):
                found, place = self.most(self.load(self.at("%most", r * lanes))), self.address("%out", first)
                self.code.append(f"  store {self.element} {found}, ptr {self.at(place, r)}, align {self.align}")
        sizes = "i64 %first, i64 %stop, i64 %K, i64 %last"
        pointers = ", ".join(f"ptr noalias %{a}" for a in ("rows", "tiles", "squares", "ends", "out"))
        return self.function(name, f"{sizes}, {pointers}", [*self.code, "  ret void"])
