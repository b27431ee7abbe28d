"""Tokens centred and measured on the CPU, one call for each: small layers wait for NumPy's calls otherwise.

centre      X = 1x + R, relative to the first token, the mean moved into x, both brought to size one
measure     Σ_i |R_i|², max_ij |R_i − R_j|² and |x|²
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock

import numpy as np

from rankmath.arithmetic.compiled import Kernel, Shape, Writer, address, aligned, module
from rankmath.arithmetic.compiled_layer import PLACES, LayerWriter, Made
from rankmath.validation import Floats

_TOKENS = [PLACES[name] for name in ("x", "total", "center")]


class TokenWriter(LayerWriter):
    """Writes the measurement."""

    def measure(self) -> list[str]:
        """All |R_i|², the largest |R_i − R_j|² and |x|²: rows as tiles of columns, and products of all pairs."""
        lanes, vectors, width = self.shape.lanes, self.shape.vectors, self.shape.width
        count, last = self.put(f"udiv i64 %d, {lanes}"), self.put("sub i64 %n, 1")
        for given, stop, out in (("%R", "%n", "%squares"), ("%x", "1", self.at("%out", 1))):
            for j, _ in self.loop("j", "0", stop):
                row, sums = self.address(given, self.times(j, "%d")), [self.splat(0.0)]
                for c, now in self.loop("c", "0", count, sums):
                    y = self.load(self.address(row, self.times(c, lanes)))
                    sums[0] = self.fma(y, y, now[0])
                self.write(self.total(sums[0]), self.address(out, j))
        for b, _ in self.loop("b", "0", self.times("%tiles", vectors)):
            tile, part = self.put(f"udiv i64 {b}, {vectors}"), self.put(f"urem i64 {b}, {vectors}")
            target = self.address(
                self.address("%keys", self.times(tile, self.times("%d", width))), self.times(part, lanes)
            )
            rows = self.rows_of("%R", self.times(b, lanes), "%d", last, lanes)
            for c, _ in self.loop("c", "0", count):
                at = self.times(c, lanes)
                place = self.address(target, self.times(at, width))
                for k, column in enumerate(self.transposed([self.load(self.address(row, at)) for row in rows])):
                    self.store(column, self.at(place, k * width))
        arrays = ", ".join(f"ptr %{a}" for a in ("R", "keys", "squares", "ends", "found"))
        self.code.append(f"  call void @pairs(i64 0, i64 %groups, i64 %d, i64 {last}, {arrays})")
        self.write("0.0", "%out")
        for i, _ in self.loop("i", "0", "%n"):
            found, square = (self.number(self.address(a, i)) for a in ("%found", "%squares"))
            self.keep(self.put(f"fadd double {found}, {square}"), "%out", "ogt")
        sizes = ", ".join(f"i64 %{a}" for a in ("n", "d", "tiles", "groups"))
        pointers = ", ".join(f"ptr %{a}" for a in ("R", "x", "keys", "squares", "ends", "found", "out"))
        return self.function("measure", f"{sizes}, {pointers}", [*self.code, "  ret void"])


def source(shape: Shape) -> str:
    return module(shape, Writer(shape).pairs(), TokenWriter(shape).measure(), LayerWriter(shape).recentre())


class TokenPlan:
    """Memory of n tokens of d columns, a multiple of the lanes."""

    def __init__(self, kernel: Kernel, n: int, d: int) -> None:
        shape = kernel.shape
        self.recentre, self._measure = _compiled(kernel)
        self.n, self.d, tiles, groups = n, d, -(-n // shape.width), -(-n // shape.rows)
        self.squares, self._found = np.full(tiles * shape.width, -np.inf), aligned(groups * shape.rows + 2)
        self._out = self._found[-2:]
        held = (
            aligned(tiles, d * shape.width),
            self.squares,
            np.full(groups, tiles, np.int64),
            self._found,
            self._out,
        )
        self._held = held, (n, d, tiles, groups), [a.ctypes.data for a in held]
        # Of a layer's sums there is none but what a skip carries, the first token, and the mean.
        self._image, self._told = np.zeros(d), np.zeros(len(PLACES), np.int64)
        for name, word in {"n": n, "d": d, "heads": 1, "image": self._image.ctypes.data}.items():
            self._told[PLACES[name]] = word
        for name in ("of_skip", "of_shift"):
            self._told.view(np.float64)[PLACES[name]] = 1.0
        self.lock = Lock()

    def centre(self, X: Floats) -> Made:
        """Of X (n, d) in one piece."""
        made, words = aligned(self.n + 1, self.d), self._told.copy()
        R, center = made[:-1], made[-1:]
        np.subtract(X, X[:1], out=R)
        to = address(made)
        words[_TOKENS] = address(X), to, to + 8 * self.n * self.d
        self.recentre(address(words))
        of_total, of_residual, of_center = words.view(np.float64)[PLACES["of_total"] :].tolist()
        return Made(center, R, of_center, of_residual, of_total)

    def measure(self, R: Floats, x: Floats) -> tuple[float, float, float]:
        """Σ|R_i|², max |R_i − R_j|² and |x|² for R (n, d) of mean zero and x (1, d), both in one piece."""
        _, sizes, places = self._held
        with self.lock:
            self._measure(*sizes, address(R), address(x), *places)
            return float(np.add.reduce(self.squares[: self.n])), *self._out.tolist()


@cache
def _compiled(kernel: Kernel) -> tuple[Callable[..., None], Callable[..., None]]:
    recentre, measure = kernel.compiled_all(source(kernel.shape), {"recentre": (0, 1), "measure": (4, 7)})
    return recentre, measure


@lru_cache(maxsize=4)
def token_plan(kernel: Kernel, n: int, d: int) -> TokenPlan:
    """The plan of such tokens, the last four kept with their memory."""
    return TokenPlan(kernel, n, d)
