"""The farthest of all pairs of rows from products of bytes, which take an eighth of the time of doubles.

Rows x_i = s a_i + e_i with bytes a_i and one step s: two are as far apart as s|a_i − a_j|, up to |e_i| + |e_j|.
The squares of the former are exact integers, |a_i|² + |a_j|² − 2 a_i·a_j. The row that has the farthest one by
these is compared with all others in double precision, and so are those that may still have a farther one. Where
these are not few, nothing is found.

quantise    a_i in the order of rows and of keys, |a_i|², Σ_k a_ik, |e_i|
dots        max_j |a_j|² − 2 a_i·a_j of all rows i
chosen      the largest |x_i − x_j|² of the rows i that may have it
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankmath.kernels.compiled import Dots, Shape, Writer, aligned
from rankmath.kernels.compiled_layer import LayerWriter

#: Where the parts of the memory are, a word each; then sizes.
_PARTS = ("rows", "keys", "norms", "sums", "found", "errors", "groups", "tiles", "quads")
_AT = {name: place for place, name in enumerate(_PARTS)}
# Products of entries from which on bytes pay, and columns up to which sums of products fit integers of 32 bits.
_MANY, _MOST_COLUMNS = 2**18, 2**13
# Up to so many all pairs are looked at in one call, with bytes and without: beyond, threads pay.
_FEW_BY_BYTES, _FEW = 2**28, 2**24
# Lanes of aarch64's by-element products.
_QUADS = 4


class DotWriter(Writer):
    """Writes the products of bytes: a vector is one of integers."""

    def __init__(self, shape: Shape, dots: Dots) -> None:
        super().__init__(shape)
        self.dots, self.vector = dots, f"<{dots.lanes} x i32>"

    def bytes(self, base: str, offset: str) -> str:
        return self.put(f"getelementptr i8, ptr {base}, i64 {offset}")

    def integers_at(self, place: str) -> str:
        return self.put(f"load {self.vector}, ptr {place}, align 4")

    def vectors_at(self, place: str) -> list[str]:
        return [self.integers_at(self.bytes(place, str(4 * self.dots.lanes * c))) for c in range(self.dots.vectors)]

    def keep_vector(self, x: str, place: str) -> None:
        self.code.append(f"  store {self.vector} {x}, ptr {place}, align 4")

    def spread_quads(self, place: str) -> Iterator[str]:
        """Four bytes of each row in all lanes."""
        v = self.vector
        if self.dots.instruction == "sdot":  # one load for four rows: the instruction names a lane
            for r in range(0, self.dots.rows, _QUADS):
                four = self.integers_at(self.bytes(place, str(4 * r)))
                for lane in range(_QUADS):
                    mask = ", ".join([f"i32 {lane}"] * self.dots.lanes)
                    yield self.put(f"shufflevector {v} {four}, {v} poison, <{self.dots.lanes} x i32> <{mask}>")
            return
        for r in range(self.dots.rows):
            x = self.put(f"load i32, ptr {self.bytes(place, str(4 * r))}, align 4")
            one = self.put(f"insertelement {v} poison, i32 {x}, i64 0")
            yield self.put(f"shufflevector {v} {one}, {v} poison, <{self.dots.lanes} x i32> zeroinitializer")

    def dot(self, total: str, keys: str, row: str) -> str:
        """total + the products of four bytes in every lane."""
        v, lanes = self.vector, self.dots.lanes
        if self.dots.instruction == "vpdpbusd":
            return self.put(f"call {v} @llvm.x86.avx512.vpdpbusd.512({v} {total}, {v} {keys}, {v} {row})")
        many = f"<{4 * lanes} x i8>"
        keys, row = (self.put(f"bitcast {v} {x} to {many}") for x in (keys, row))
        if self.dots.instruction == "sdot":
            return self.put(
                f"call {v} @llvm.aarch64.neon.sdot.v4i32.v16i8({v} {total}, {many} {keys}, {many} {row})"
            )
        wide = f"<{4 * lanes} x i32>"
        left = self.put(f"{'zext' if self.dots.shifted else 'sext'} {many} {keys} to {wide}")
        right = self.put(f"sext {many} {row} to {wide}")
        products = self.put(f"mul {wide} {left}, {right}")
        for k in range(4):
            mask = ", ".join(f"i32 {4 * l + k}" for l in range(lanes))
            part = self.put(f"shufflevector {wide} {products}, {wide} poison, <{lanes} x i32> <{mask}>")
            total = self.put(f"add {v} {total}, {part}")
        return total

    def dots_of_all(self) -> list[str]:
        """Of groups of rows, over the keys from their own tile on."""
        dots, v = self.dots, self.vector
        part = {name: self.at("%small", place) for name, place in _AT.items()}
        rows, keys, norms, found = (
            self.put(f"load ptr, ptr {part[name]}, align 8") for name in ("rows", "keys", "norms", "found")
        )
        groups, tiles, quads = (self.put(f"load i64, ptr {part[a]}, align 8") for a in ("groups", "tiles", "quads"))
        low = "<" + ", ".join(["i32 -2147483648"] * dots.lanes) + ">"
        self.code.append(f"  %most = alloca [{dots.rows} x {v}], align 64")
        for g, _ in self.loop("g", "0", groups):
            first = self.times(g, dots.rows)
            group = self.bytes(rows, self.times(self.times(g, quads), 4 * dots.rows))
            for r in range(dots.rows):
                self.keep_vector(low, self.bytes("%most", str(4 * dots.lanes * r)))
            for t, _ in self.loop("t", self.put(f"udiv i64 {first}, {dots.width}"), tiles):
                tile = self.bytes(keys, self.times(self.times(t, quads), 4 * dots.width))
                sums = ["zeroinitializer"] * (dots.rows * dots.vectors)
                for k, now in self.loop("k", "0", quads, sums):
                    place = self.bytes(tile, self.times(k, 4 * dots.width))
                    of_keys = [
                        self.integers_at(self.bytes(place, str(4 * dots.lanes * c))) for c in range(dots.vectors)
                    ]
                    entries = self.spread_quads(self.bytes(group, self.times(k, 4 * dots.rows)))
                    for r, x in enumerate(entries):
                        for c, y in enumerate(of_keys):
                            i = r * dots.vectors + c
                            sums[i] = self.dot(now[i], y, x)
                place = self.bytes(norms, self.times(t, 4 * dots.width))
                squares = [
                    self.integers_at(self.bytes(place, str(4 * dots.lanes * c))) for c in range(dots.vectors)
                ]
                for r in range(dots.rows):
                    at = self.bytes("%most", str(4 * dots.lanes * r))
                    most = self.integers_at(at)
                    for c in range(dots.vectors):
                        twice = self.put(f"shl {v} {sums[r * dots.vectors + c]}, " + self._ones())
                        gap = self.put(f"sub {v} {squares[c]}, {twice}")
                        larger = self.put(f"icmp sgt {v} {gap}, {most}")
                        most = self.put(f"select <{dots.lanes} x i1> {larger}, {v} {gap}, {v} {most}")
                    self.keep_vector(most, at)
            for r in range(dots.rows):
                most = self.integers_at(self.bytes("%most", str(4 * dots.lanes * r)))
                x = self.put(f"call i32 @llvm.vector.reduce.smax.v{dots.lanes}i32({v} {most})")
                place = self.bytes(found, self.times(self.put(f"add i64 {first}, {r}"), 4))
                self.code.append(f"  store i32 {x}, ptr {place}, align 4")
        return self.function("dots", "ptr %small", [*self.code, "  ret void"])

    def _ones(self) -> str:
        return "<" + ", ".join(["i32 1"] * self.dots.lanes) + ">"


class ChoiceWriter(LayerWriter):
    """Writes what is done in doubles before and after."""

    def __init__(self, shape: Shape, dots: Dots) -> None:
        super().__init__(shape)
        self.dots = dots

    def part(self, name: str, kind: str = "ptr") -> str:
        return self.put(f"load {kind}, ptr {self.at('%small', _AT[name])}, align 8")

    def integer(self, base: str, place: str) -> str:
        return self.put(f"getelementptr i32, ptr {base}, i64 {place}")

    def quantise(self) -> list[str]:
        """Bytes of all rows, the square and the sum of each, and how far it is from the row; to %out the step, and
        how far they are at most."""
        lanes, dots = self.shape.lanes, self.dots
        count, quads = self.put(f"udiv i64 %d, {lanes}"), self.part("quads", "i64")
        rows, keys, norms, totals, errors = (self.part(a) for a in ("rows", "keys", "norms", "sums", "errors"))
        largest = self.largest_of("%R", self.times("%n", count))
        some = self.put(f"fcmp ogt double {largest}, {self.real(1e-290)}")
        inverse = self.put(f"fdiv double 127.0, {largest}")
        inverse = self.spread(self.put(f"select i1 {some}, double {inverse}, double 0.0"))
        step = self.put(f"fdiv double {largest}, 127.0")
        self.write(step, "%out")
        step, far = self.spread(step), self.at("%out", 1)
        self.write("0.0", far)
        room = self.times(quads, 4)
        self.code.append(f"  %row = alloca i8, i64 {room}, align 64")
        self.code.append(f"  call void @llvm.memset.p0.i64(ptr %row, i8 0, i64 {room}, i1 false)")
        eight = max(1, 8 // lanes)  # vectors that make eight bytes
        whole = self.put(f"udiv i64 {count}, {eight}")
        parts = self.room("parts", str(3 * lanes))
        for j, _ in self.loop("j", "0", "%n"):
            row = self.address("%R", self.times(j, "%d"))
            for k in range(3):
                self.store(self.splat(0.0), self.at(parts, k * lanes))
            for _ in self.when(self.put(f"icmp sgt i64 {whole}, 0")):
                sums = [self.splat(0.0)] * (3 * eight)
                for c, now in self.loop("c", "0", whole, sums):
                    sums[:] = self._bytes(row, self.times(c, eight), inverse, step, now)
                for k in range(3):
                    x = sums[k]
                    for y in sums[k + 3 :: 3]:
                        x = self.binary("fadd", x, y)
                    self.store(x, self.at(parts, k * lanes))
            for c, _ in self.loop("c", self.times(whole, eight), count):
                places = [self.at(parts, k * lanes) for k in range(3)]
                added = self._bytes(row, c, inverse, step, [self.load(place) for place in places])
                for x, place in zip(added, places, strict=True):
                    self.store(x, place)
            square, total, error = (self.total(self.load(self.at(parts, k * lanes))) for k in range(3))
            for x, array in ((square, norms), (total, totals)):
                x = self.put(f"fptosi double {x} to i32")
                self.code.append(f"  store i32 {x}, ptr {self.integer(array, j)}, align 4")
            error = self.put(f"call double @llvm.sqrt.f64(double {error})")
            self.write(error, self.address(errors, j))
            self.keep(error, far, "ogt")
            target, source = self._place(rows, j, dots.rows, quads), self._place(keys, j, dots.width, quads)
            for quad, _ in self.loop("k", "0", quads):
                four = self.put(f"load i32, ptr {self.integer('%row', quad)}, align 4")
                place = self.integer(target, self.times(quad, dots.rows))
                self.code.append(f"  store i32 {four}, ptr {place}, align 4")
                four = self.put(f"xor i32 {four}, -2139062144") if dots.shifted else four  # 128 more of each byte
                place = self.integer(source, self.times(quad, dots.width))
                self.code.append(f"  store i32 {four}, ptr {place}, align 4")
        return self.function("quantise", "i64 %n, i64 %d, ptr %R, ptr %small, ptr %out", [*self.code, "  ret void"])

    def _bytes(self, row: str, first: str, inverse: str, step: str, sums: list[str]) -> list[str]:
        """Bytes of some vectors of a row; for each the sums, with square, entry and squared error added."""
        lanes, magic, v = self.shape.lanes, self.splat(6755399441055744.0), self.vector
        at, integers, added, size = self.times(first, lanes), [], list[str](), lanes
        for k in range(len(sums) // 3):
            y = self.load(self.at(self.address(row, at), k * lanes))
            shifted = self.fma(y, inverse, magic)  # an integer in its last bits
            integers.append(self.put(f"bitcast {v} {shifted} to {self.integers}"))
            a = self.binary("fsub", shifted, magic)
            e = self.binary("fsub", y, self.binary("fmul", a, step))
            square, total, error = sums[3 * k : 3 * k + 3]
            added += [self.fma(a, a, square), self.binary("fadd", a, total), self.fma(e, e, error)]
        while len(integers) > 1:
            mask = ", ".join(f"i32 {k}" for k in range(2 * size))
            integers = [
                self.put(f"shufflevector <{size} x i64> {x}, <{size} x i64> {y}, <{2 * size} x i32> <{mask}>")
                for x, y in zip(integers[::2], integers[1::2], strict=True)
            ]
            size *= 2
        few = self.put(f"trunc <{size} x i64> {integers[0]} to <{size} x i8>")
        place = self.put(f"getelementptr i8, ptr %row, i64 {at}")
        self.code.append(f"  store <{size} x i8> {few}, ptr {place}, align 1")
        return added

    def _place(self, base: str, j: str, size: int, quads: str) -> str:
        """Where the first bytes of row j are, groups of so many rows side by side."""
        group, at = self.put(f"udiv i64 {j}, {size}"), self.put(f"urem i64 {j}, {size}")
        place = self.put(f"add i64 {self.times(self.times(group, quads), size)}, {at}")
        return self.integer(base, place)

    def chosen(self) -> list[str]:
        """The largest distance, squared, to %far; −1 where too many rows may have it."""
        lanes, errors = self.shape.lanes, self.part("errors")
        norms, totals, found = (self.part(a) for a in ("norms", "sums", "found"))
        room, best = self.room("two", "2"), self.room("best", "1")
        self.code.append("  call void @quantise(i64 %n, i64 %d, ptr %R, ptr %small, ptr %two)")
        self.code.append("  call void @dots(ptr %small)")
        step, farthest = self.number(room), self.number(self.at(room, 1))
        self.write("-1.0", best)
        self.code.append("  %place = alloca i64, align 8")
        self.code.append("  %many = alloca i64, align 8")
        count = self.put(f"udiv i64 %d, {lanes}")
        for i, _ in self.loop("i", "0", "%n"):
            gap, square = (self.put(f"load i32, ptr {self.integer(a, i)}, align 4") for a in (found, norms))
            gap = self.put(f"add i32 {gap}, {square}")
            if self.dots.shifted:
                total = self.put(f"load i32, ptr {self.integer(totals, i)}, align 4")
                gap = self.put(f"add i32 {gap}, {self.put(f'shl i32 {total}, 8')}")
            far = self.put(f"call double @llvm.sqrt.f64(double {self.put(f'sitofp i32 {gap} to double')})")
            far = self.put(f"fmul double {far}, {step}")
            self.write(far, self.address("%held", i))
            for _ in self.when(self.keep(far, best, "ogt")):
                self.code.append(f"  store i64 {i}, ptr %place, align 8")
        self.write("0.0", "%far")
        first, most = self.put("load i64, ptr %place, align 8"), self.put("udiv i64 %n, 8")
        self._row(first, count)
        self.code.append("  store i64 1, ptr %many, align 8")
        for i, _ in self.loop("i", "0", "%n"):
            doubt = self.put(f"fadd double {self.number(self.address(errors, i))}, {farthest}")
            reach = self.put(f"fadd double {self.number(self.address('%held', i))}, {doubt}")
            known = self.put(f"call double @llvm.sqrt.f64(double {self.number('%far')})")
            # The roundings of these few operations are far below this.
            bound = self.put(f"fmul double {known}, {self.real(1 - 2.0**-40)}")
            likely = self.put(f"fcmp oge double {reach}, {bound}")
            other = self.put(f"icmp ne i64 {i}, {first}")
            for _ in self.when(self.put(f"and i1 {likely}, {other}")):
                many = self.put("load i64, ptr %many, align 8")
                self.code.append(f"  store i64 {self.put(f'add i64 {many}, 1')}, ptr %many, align 8")
                for _ in self.when(self.put(f"icmp slt i64 {many}, {most}")):
                    self._row(i, count)
        many = self.put("load i64, ptr %many, align 8")
        for _ in self.when(self.put(f"icmp sgt i64 {many}, {most}")):
            self.write("-1.0", "%far")
        arguments = "i64 %n, i64 %d, ptr %R, ptr %squares, ptr %held, ptr %small, ptr %far"
        return self.function("chosen", arguments, [*self.code, "  ret void"])

    def _row(self, i: str, count: str) -> None:
        """Row i with all, four of them abreast."""
        last, lanes = self.put("sub i64 %n, 1"), self.shape.lanes
        row, own = self.address("%R", self.times(i, "%d")), self.number(self.address("%squares", i))
        fours = self.put(f"udiv i64 {self.put('add i64 %n, 3')}, 4")
        for b, _ in self.loop("b", "0", fours):
            first, sums = self.times(b, 4), [self.splat(0.0)] * 4
            others = self.rows_of("%R", first, "%d", last, 4)
            for c, now in self.loop("c", "0", count, sums):
                at = self.times(c, lanes)
                x = self.load(self.address(row, at))
                sums[:] = [self.fma(x, self.load(self.address(y, at)), s) for y, s in zip(others, now, strict=True)]
            for k, x in enumerate(sums):
                j = self.put(f"add i64 {first}, {k}")
                inside = self.put(f"icmp slt i64 {j}, {last}")
                square = self.number(self.address("%squares", self.put(f"select i1 {inside}, i64 {j}, i64 {last}")))
                twice = self.put(f"fmul double {self.total(x)}, 2.0")
                gap = self.put(f"fsub double {self.put(f'fadd double {own}, {square}')}, {twice}")
                self.keep(gap, "%far", "ogt")


def functions(shape: Shape, dots: Dots | None) -> list[list[str]]:
    """All of them, and what they call."""
    if dots is None:
        return []
    v, many = f"<{dots.lanes} x i32>", f"<{4 * dots.lanes} x i8>"
    declared = [f"declare i32 @llvm.vector.reduce.smax.v{dots.lanes}i32({v})"]
    if dots.instruction == "sdot":
        declared.append(f"declare {v} @llvm.aarch64.neon.sdot.v4i32.v16i8({v}, {many}, {many})")
    if dots.instruction == "vpdpbusd":
        declared.append(f"declare {v} @llvm.x86.avx512.vpdpbusd.512({v}, {v}, {v})")
    choice = [ChoiceWriter(shape, dots) for _ in range(2)]
    return [declared, choice[0].quantise(), DotWriter(shape, dots).dots_of_all(), choice[1].chosen()]


class Memory:
    """What is needed for n rows of d columns, and the place of what the code is told: 0 where no bytes pay; and
    whether it pays to look at all pairs in one call."""

    def __init__(self, dots: Dots | None, n: int, d: int) -> None:
        self.held: dict[str, Any] = {}
        self.told, self.place, self.pays = np.zeros(0, np.int64), 0, n * n * d <= _FEW
        if dots is None or not _MANY <= n * n * d <= _FEW_BY_BYTES or d > _MOST_COLUMNS:
            return
        quads, groups, tiles = -(-d // 4), -(-n // dots.rows), -(-n // dots.width)
        self.held = {
            "rows": np.zeros(groups * quads * dots.rows, np.int32),
            "keys": np.zeros(tiles * quads * dots.width, np.int32),
            "norms": np.full(tiles * dots.width, -(2**30), np.int32),  # of keys that are missing
            "sums": np.zeros(n, np.int32),
            "found": np.zeros(groups * dots.rows, np.int32),
            "errors": aligned(n),
        }
        sizes = {"groups": groups, "tiles": tiles, "quads": quads}
        self.told = np.array([self.held[a].ctypes.data if a in self.held else sizes[a] for a in _PARTS], np.int64)
        self.place, self.pays = int(self.told.ctypes.data), True
