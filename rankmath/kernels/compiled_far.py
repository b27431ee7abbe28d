"""The farthest of all pairs of rows, in single precision first, which takes half the time of doubles.

In plain steps::

    chosen      for every row i:  found_i = max_j |x_j|² − 2 x_i·x_j over the rows j from its own tile on, in floats
                doubt = what the rounding of floats may change of that, for the longest row
                for every row i with |x_i|² + found_i ≥ the largest of these − 2 doubt:
                    far = max(far, |x_i|² + |x_j|² − 2 x_i·x_j) over all rows j, in doubles
                far = −1 if more than an eighth of the rows are such: then all pairs are compared in doubles
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankmath.kernels.compiled import Shape, Writer
from rankmath.kernels.compiled_layer import LayerWriter

#: Arrays in single precision, a word with the address of each; `ends` are whole numbers.
_PARTS = ("rows", "keys", "squares", "ends", "found")
# Single precision pays from this many products of entries.
_MANY = 2**18
# One call compares all pairs up to this many products, in floats and in doubles: beyond, threads pay.
_MOST_IN_FLOATS, _MOST_IN_DOUBLES = 2**28, 2**24


class FarWriter(LayerWriter):
    """Writes what is done in doubles before and after the products of floats."""

    def chosen(self) -> list[str]:
        """See above; %found is memory for n doubles."""
        lanes, width = self.shape.lanes, 2 * self.shape.width
        rows, keys, squares, ends, found = (
            self.put(f"load ptr, ptr {self.at('%small', k)}, align 8") for k in range(len(_PARTS))
        )
        count, (groups, last) = self.put(f"udiv i64 %d, {lanes}"), self.grouped("%n")
        tiles = self.put(f"udiv i64 {self.put(f'add i64 %n, {width - 1}')}, {width}")
        longest, best = self.room("longest", "1"), self.room("best", "1")
        for place in (longest, best):
            self.write("0.0", place)
        for i, _ in self.loop("i", "0", self.times("%n", count)):
            at = self.times(i, lanes)
            self.store_single(self.load(self.address("%R", at)), self.single_at(rows, at))
        for j, _ in self.loop("j", "0", "%n"):
            square = self.number(self.address("%squares", j))
            self.keep(square, longest, "ogt")
            square = self.put(f"fptrunc double {square} to float")
            self.code.append(f"  store float {square}, ptr {self.single_at(squares, j)}, align 4")
        self.tiles_of_rows(keys, tiles, count, single=True)
        arrays = ", ".join(f"ptr {a}" for a in (rows, keys, squares, ends, found))
        self.code.append(f"  call void @pairs_of_floats(i64 0, i64 {groups}, i64 %d, i64 {last}, {arrays})")
        for i, _ in self.loop("i", "0", "%n"):
            gap = self.put(f"load float, ptr {self.single_at(found, i)}, align 4")
            gap = self.put(f"fpext float {gap} to double")
            gap = self.put(f"fadd double {gap}, {self.number(self.address('%squares', i))}")
            self.write(gap, self.address("%found", i))
            self.keep(gap, best, "ogt")
        # Each of d + 2 terms is rounded thrice and added; their sizes sum to (|x_i| + |x_j|)² at most.
        terms = self.put(f"sitofp i64 {self.put('add i64 %d, 6')} to double")
        doubt = self.put(f"fmul double {terms}, {self.put(f'fmul double {self.number(longest)}, {2.0**-21!r}')}")
        least = self.put(f"fsub double {self.number(best)}, {doubt}")
        self.code += ["  %many = alloca i64, align 8", "  store i64 0, ptr %many, align 8"]
        most = self.put("udiv i64 %n, 8")
        self.write("0.0", "%far")
        for i, _ in self.loop("i", "0", "%n"):
            likely = self.put(f"fcmp uge double {self.number(self.address('%found', i))}, {least}")
            for _ in self.when(likely):  # and for what is no number
                many = self.put("load i64, ptr %many, align 8")
                self.code.append(f"  store i64 {self.put(f'add i64 {many}, 1')}, ptr %many, align 8")
                for _ in self.when(self.put(f"icmp slt i64 {many}, {most}")):
                    self._row(i, count, last)
        many = self.put("load i64, ptr %many, align 8")
        for _ in self.when(self.put(f"icmp sgt i64 {many}, {most}")):
            self.write("-1.0", "%far")
        arguments = "i64 %n, i64 %d, ptr %R, ptr %squares, ptr %found, ptr %small, ptr %far"
        return self.function("chosen", arguments, [*self.code, "  ret void"])

    def _row(self, i: str, count: str, last: str) -> None:
        """Row i with all rows, four of them at a time, in doubles."""
        lanes, fours = self.shape.lanes, self.put(f"udiv i64 {self.put('add i64 %n, 3')}, 4")
        row, own = self.address("%R", self.times(i, "%d")), self.number(self.address("%squares", i))
        for b, _ in self.loop("b", "0", fours):
            first, sums = self.times(b, 4), [self.splat(0.0)] * 4
            others, their = (self.rows_of(a, first, step, last, 4) for a, step in (("%R", "%d"), ("%squares", "1")))
            for c, now in self.loop("c", "0", count, sums):
                at = self.times(c, lanes)
                x = self.load(self.address(row, at))
                sums[:] = [self.fma(x, self.load(self.address(y, at)), s) for y, s in zip(others, now, strict=True)]
            for product, square in zip(sums, their, strict=True):
                twice = self.put(f"fmul double {self.total(product)}, 2.0")
                both = self.put(f"fadd double {own}, {self.number(square)}")
                self.keep(self.put(f"fsub double {both}, {twice}"), "%far", "ogt")


def functions(shape: Shape) -> list[list[str]]:
    """`chosen`, and what it calls."""
    # Registers hold twice as many floats as doubles.
    floats = Writer(Shape(2 * shape.lanes, shape.rows, shape.vectors), "float")
    return [floats.declared()[:-1], floats.pairs("pairs_of_floats"), FarWriter(shape).chosen()]


class Memory:
    """What `chosen` needs for n rows of d columns, and the place of its addresses: 0 where floats do not pay; and
    whether it pays to compare all pairs in one call."""

    def __init__(self, shape: Shape, n: int, d: int) -> None:
        products = n * n * d
        self.place, self.pays = 0, products <= _MOST_IN_DOUBLES
        if not _MANY <= products <= _MOST_IN_FLOATS:
            return
        tiles, groups = -(-n // (2 * shape.width)), -(-n // shape.rows)
        padded = 2 * tiles * shape.width
        self.held: dict[str, Any] = {
            "rows": np.empty(n * d, np.float32),
            "keys": np.empty(padded * d, np.float32),
            "squares": np.full(padded, -np.inf, np.float32),  # of rows that are missing
            "ends": np.full(groups, tiles, np.int64),
            "found": np.empty(groups * shape.rows, np.float32),
        }
        self._addresses = np.array([self.held[name].ctypes.data for name in _PARTS], np.int64)
        self.place, self.pays = int(self._addresses.ctypes.data), True
