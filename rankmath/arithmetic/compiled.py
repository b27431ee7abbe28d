"""A kernel for the CPU, compiled when first used: softmax averages relative to their center.

No n × m matrix is held of

    out_i = Σ_j m_ij q_j v_j / (1 + Σ_j m_ij q_j),   m = expm1(left rightᵀ).

A group of rows meets a tile of keys in registers: logits, expm1 and sums of one tile, then its part of the average.
Tiles go in chunks that stay in the cache of a core. The code is LLVM's intermediate language, made below for the
vector registers of the machine; the optional library `llvmlite` makes machine code of it in a fraction of a second.
The twin in NumPy that tests hold it to is `rankmath.attention.close.by_expm1`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from rankmath.validation import Floats

#: The counter of a loop, and the values carried through it.
Loop: TypeAlias = tuple[str, list[str]]
#: The result, and the tasks that fill it.
Tasks: TypeAlias = tuple[Floats, list[Callable[[], None]]]

# Doubles of keys and values that a chunk of tiles may take: half of a second-level cache of 1 MiB.
_CHUNK = 2**16


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


class Kernel:
    """The compiled function for one shape."""

    def __init__(self, shape: Shape, features: str) -> None:
        import llvmlite.binding as llvm

        self.shape = shape
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=features, opt=3
        )
        module = llvm.parse_assembly(source(shape))
        module.verify()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        address = self._engine.get_function_address("deviation")
        # ctypes lets other threads run meanwhile.
        self._call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5, *[ctypes.c_void_p] * 6)(address)

    def __call__(self, left: Floats, keys: Packed, out: Floats) -> None:
        """Averages of the rows `left` (n, k) into `out`, padded to groups of rows and strips of columns."""
        shape, k, strips = self.shape, left.shape[1], keys.strips
        left = _padded(left, shape.rows)
        groups = len(left) // shape.rows
        rows = _aligned(groups, k, shape.rows)
        rows[:] = left.reshape(groups, shape.rows, k).transpose(0, 2, 1)
        sums, total = _aligned(groups, strips, shape.rows, shape.width), _aligned(groups, shape.rows, shape.lanes)
        sums[:], total[:] = 0.0, 0.0
        per = max(1, _CHUNK // (shape.width * (k + strips * shape.width)))
        arrays = (rows, keys.right, keys.values, keys.q, sums, total)
        self._call(groups, k, len(keys.q), per, strips, *(a.ctypes.data for a in arrays))
        means = 1.0 / (1.0 + total.sum(axis=2))
        blocks = out.reshape(groups, shape.rows, strips, shape.width)
        np.multiply(sums.transpose(0, 2, 1, 3), means[:, :, None, None], out=blocks)


@dataclass(frozen=True)
class Packed:
    """Keys and weighted values in the order in which the kernel meets them, a tile of keys after the other."""

    right: Floats  # (tiles, k, width)
    values: Floats  # (tiles, strips, width, width)
    q: Floats  # (tiles, width)

    @classmethod
    def of(cls, shape: Shape, right: Floats, q: Floats, values: Floats) -> Packed:
        width = shape.width
        right, q, values = (_padded(a, width) for a in (right, q, values))
        values = _padded(values.T, width).T
        (m, k), v = right.shape, values.shape[1]
        tiles, strips = m // width, v // width
        keys, weighted = _aligned(tiles, k, width), _aligned(tiles, strips, width, width)
        keys[:] = right.reshape(tiles, width, k).transpose(0, 2, 1)
        blocks = values.reshape(tiles, width, strips, width).transpose(0, 2, 1, 3)
        np.multiply(q.reshape(tiles, 1, width, 1), blocks, out=weighted)
        return cls(keys, weighted, np.ascontiguousarray(q).reshape(tiles, width))

    @property
    def strips(self) -> int:
        return int(self.values.shape[1])


def _padded(a: Floats, multiple: int) -> Floats:
    """Rows of zeros added up to a multiple."""
    missing = -len(a) % multiple
    return np.concatenate([a, np.zeros((missing, a.shape[1]))]) if missing else a


def _aligned(*shape: int) -> Floats:
    """An array that begins on a cache line."""
    size = math.prod(shape)
    raw = np.empty(size + 8)
    start = (-raw.ctypes.data // 8) % 8
    return raw[start : start + size].reshape(shape)


def fused_deviation(compiled: Kernel, left: Floats, right: Floats, q: Floats, values: Floats, parts: int) -> Tasks:
    """The formula above for left (n, k), right (m, k), q (m, 1), values (m, v), as tasks for some rows each."""
    keys, rows = Packed.of(compiled.shape, right, q, values), compiled.shape.rows
    groups = -(-len(left) // rows)
    out = np.empty((groups * rows, keys.strips * compiled.shape.width))
    ends = [groups * part // parts * rows for part in range(parts + 1)]
    parts_of_rows = [(left[a:b], keys, out[a:b]) for a, b in pairwise(ends) if a < b]
    return out[: len(left), : values.shape[1]], [partial(compiled, *part) for part in parts_of_rows]


@cache
def kernel() -> Kernel | None:
    """The kernel of this machine; None without llvmlite or without fused multiply-add."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return None
    features = llvm.get_host_cpu_features()
    if llvm.get_default_triple().startswith("aarch64"):
        return Kernel(Shape(2, 6, 4), features.flatten())
    if not features.get("fma"):
        return None
    return Kernel(Shape(8, 6, 4) if features.get("avx512dq") else Shape(4, 6, 2), features.flatten())


# -- the code ----------------------------------------------------------------------------------------------


def source(shape: Shape) -> str:
    """The function in LLVM's intermediate language."""
    return "\n".join(_Writer(shape).lines())


class _Writer:
    """Writes the instructions; every value gets a number of its own."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.vector = shape, f"<{shape.lanes} x double>"
        self.integers = f"<{shape.lanes} x i64>"
        self.code: list[str] = []
        self.count = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.code.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def splat(self, x: float) -> str:
        """A constant in every lane."""
        bits = np.float64(x).view(np.uint64)
        return "<" + ", ".join([f"double 0x{int(bits):016X}"] * self.shape.lanes) + ">"

    def fma(self, a: str, b: str, c: str) -> str:
        v = self.vector
        return self.put(f"call {v} @llvm.fma.v{self.shape.lanes}f64({v} {a}, {v} {b}, {v} {c})")

    def address(self, base: str, offset: str) -> str:
        return self.put(f"getelementptr double, ptr {base}, i64 {offset}")

    def at(self, base: str, constant: int) -> str:
        return self.address(base, str(constant)) if constant else base

    def load(self, pointer: str) -> str:
        return self.put(f"load {self.vector}, ptr {pointer}, align 8")

    def store(self, value: str, pointer: str) -> None:
        self.code.append(f"  store {self.vector} {value}, ptr {pointer}, align 8")

    def broadcast(self, pointer: str) -> str:
        x, v = self.put(f"load double, ptr {pointer}, align 8"), self.vector
        one = self.put(f"insertelement {v} poison, double {x}, i64 0")
        return self.put(f"shufflevector {v} {one}, {v} poison, <{self.shape.lanes} x i32> zeroinitializer")

    def loop(self, name: str, start: str, stop: str, before: str, carried: list[str]) -> Iterator[Loop]:
        """Yield counter and carried values once: the caller writes the body and leaves new ones in `carried`."""
        body = len(self.code)
        index, new = f"%{name}", [f"%{name}.c{k}" for k in range(len(carried))]
        first = list(carried)
        self.code += [f"  br label %{name}.body", f"{name}.body:"]
        yield index, new
        inside = self.code[body + 2 :]
        del self.code[body + 2 :]
        last = next((line[:-1] for line in reversed(inside) if line.endswith(":")), f"{name}.body")
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

    def product(self, sums: list[str], a: str, a_row: int, a_step: str, b: str, k: str) -> None:
        """sums[r][c] += a[k, r] b[k, c] for one k: `a` is read entry by entry, `b` a row of vectors."""
        shape = self.shape
        base = self.address(b, self.put(f"mul nuw nsw i64 {k}, {shape.width}"))
        row = [self.load(self.at(base, c * shape.lanes)) for c in range(shape.vectors)]
        left = self.address(a, k if a_step == "1" else self.put(f"mul nuw nsw i64 {k}, {a_step}"))
        for r in range(shape.rows):
            x = self.broadcast(self.at(left, r * a_row))
            for c in range(shape.vectors):
                sums[r * shape.vectors + c] = self.fma(x, row[c], sums[r * shape.vectors + c])

    def expm1(self, x: str) -> str:
        """x = n log 2 + r, |r| <= log(2)/2: 2^n expm1(r) + (2^n - 1). The caller keeps |x| below 700."""
        v, magic = self.vector, self.splat(6755399441055744.0)  # 1.5·2^52: adding it rounds to a whole number
        t = self.fma(x, self.splat(1.4426950408889634), magic)
        n = self.put(f"fsub {v} {t}, {magic}")
        r = self.fma(n, self.splat(-2.3190468138462996e-17), self.fma(n, self.splat(-0.6931471805599453), x))
        p = self.splat(1 / math.factorial(13))
        for k in range(12, 1, -1):
            p = self.fma(p, r, self.splat(1 / math.factorial(k)))
        p = self.fma(self.put(f"fmul {v} {p}, {r}"), r, r)
        whole = self.put(f"bitcast {v} {t} to {self.integers}")
        biased = self.put(f"add {self.integers} {whole}, {self._integers(1023)}")
        s = self.put(
            f"bitcast {self.integers} {self.put(f'shl {self.integers} {biased}, {self._integers(52)}')} to {v}"
        )
        return self.fma(p, s, self.put(f"fsub {v} {s}, {self.splat(1.0)}"))

    def _integers(self, x: int) -> str:
        return "<" + ", ".join([f"i64 {x}"] * self.shape.lanes) + ">"

    def lines(self) -> list[str]:
        shape, v = self.shape, self.vector
        rows, vectors, lanes, width = shape.rows, shape.vectors, shape.lanes, shape.width
        zero, whole = [self.splat(0.0)] * (rows * vectors), range(rows * vectors)
        pointers = ", ".join(f"ptr noalias %{name}" for name in ("left", "right", "w", "q", "out", "total"))
        self.code = [f"  %tile = alloca [{rows * width} x double], align 64", "  br label %chunk"]
        self.code += ["chunk:", "  %t0 = phi i64 [ 0, %entry ], [ %t1, %g.end ]"]
        self.code += ["  %tn = add nuw nsw i64 %t0, %per", "  %less = icmp slt i64 %tn, %tiles"]
        self.code += ["  %t1 = select i1 %less, i64 %tn, i64 %tiles"]
        for g, _ in self.loop("g", "0", "%groups", "chunk", []):
            group = self.address("%left", self.put(f"mul i64 {g}, {self.put(f'mul i64 %K, {rows}')}"))
            means = self.address("%total", self.put(f"mul i64 {g}, {rows * lanes}"))
            sums_of_group = self.address(
                "%out", self.put(f"mul i64 {g}, {self.put(f'mul i64 %strips, {rows * width}')}")
            )
            for t, _ in self.loop("t", "%t0", "%t1", "g.body", []):
                keys = self.address("%right", self.put(f"mul i64 {t}, {self.put(f'mul i64 %K, {width}')}"))
                sums = list(zero)
                for k, now in self.loop("k", "0", "%K", "t.body", sums):
                    sums[:] = now
                    self.product(sums, group, 1, str(rows), keys, k)
                for place in whole:
                    self.store(sums[place], self.at("%tile", place * lanes))
                weights = self.address("%q", self.put(f"mul i64 {t}, {width}"))
                q = [self.load(self.at(weights, c * lanes)) for c in range(vectors)]
                for r in range(rows):
                    mean = self.load(self.at(means, r * lanes))
                    for c in range(vectors):
                        entry = self.at("%tile", (r * vectors + c) * lanes)
                        m = self.expm1(self.load(entry))
                        self.store(m, entry)
                        mean = self.fma(m, q[c], mean)
                    self.store(mean, self.at(means, r * lanes))
                values = self.address(
                    "%w", self.put(f"mul i64 {t}, {self.put(f'mul i64 %strips, {width * width}')}")
                )
                for s, _ in self.loop("s", "0", "%strips", "k.end", []):
                    strip = self.address(values, self.put(f"mul i64 {s}, {width * width}"))
                    target = self.address(sums_of_group, self.put(f"mul i64 {s}, {rows * width}"))
                    sums = [self.load(self.at(target, place * lanes)) for place in whole]
                    for j, now in self.loop("j", "0", str(width), "s.body", sums):
                        sums[:] = now
                        self.product(sums, "%tile", width, "1", strip, j)
                    for place in whole:
                        self.store(sums[place], self.at(target, place * lanes))
        tail = [
            "  %more = icmp slt i64 %t1, %tiles",
            "  br i1 %more, label %chunk, label %done",
            "done:",
            "  ret void",
        ]
        sizes = "i64 %groups, i64 %K, i64 %tiles, i64 %per, i64 %strips"
        attributes = f'"prefer-vector-width"="{64 * lanes}" "min-legal-vector-width"="{64 * lanes}" nounwind'
        return [
            f"declare {v} @llvm.fma.v{lanes}f64({v}, {v}, {v})",
            f"define void @deviation({sizes}, {pointers}) {attributes} {{",
            "entry:",
            *self.code,
            *tail,
            "}",
        ]
