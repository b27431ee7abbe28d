"""Tokens centred and measured on the CPU, one call for each: small layers wait for NumPy's calls otherwise.

centre      X = 1x + R, relative to the first token, the mean moved into x, both brought to size one
measure     Σ_i |R_i|², max_ij |R_i − R_j|² and |x|²
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np

from rankmath.kernels.compiled import Kernel, Shape, Writer, address, aligned, module
from rankmath.kernels.compiled_far import Memory, functions
from rankmath.kernels.compiled_layer import PLACES, LayerWriter
from rankmath.validation import Floats

_FOUND = slice(PLACES["of_total"], PLACES["of_center"] + 1)
_TOKENS = [PLACES[name] for name in ("x", "total", "center")]


def source(shape: Shape) -> str:
    measure = LayerWriter(shape).measure()
    parts = [Writer(shape).pairs(), *functions(shape), measure, LayerWriter(shape).recentre()]
    return module(shape, ["declare double @llvm.sqrt.f64(double)"], *parts)


class Made(NamedTuple):
    """Tokens of size one, and the sizes they had."""

    center: Floats  # (1, d)
    residual: Floats  # (n, d)
    size_of_center: float
    size_of_residual: float
    size_of_parts: float  # the largest |entry| before the mean is moved


class TokenPlan:
    """Memory of n tokens of d columns, a multiple of the lanes."""

    def __init__(self, kernel: Kernel, n: int, d: int) -> None:
        shape = kernel.shape
        self.recentre, self._measure = _compiled(kernel)
        self.n, self.d, tiles, groups = n, d, -(-n // shape.width), -(-n // shape.rows)
        self.squares, self._found = np.full(tiles * shape.width, -np.inf), aligned(groups * shape.rows + 3)
        self._out = self._found[-3:]
        held = (
            aligned(tiles, d * shape.width),
            self.squares,
            np.full(groups, tiles, np.int64),
            self._found,
            self._out,
        )
        self._small = Memory(shape, n, d)
        self.measures = self._small.pays
        self._held = held, (n, d, tiles, groups), [*(a.ctypes.data for a in held), self._small.place]
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
        of_total, of_residual, of_center = words.view(np.float64)[_FOUND].tolist()
        return Made(center, R, of_center, of_residual, of_total)

    def measure(self, R: Floats, x: Floats) -> tuple[float, float, float]:
        """Σ|R_i|², max |R_i − R_j|² and |x|² for R (n, d) of mean zero and x (1, d), both in one piece."""
        _, sizes, places = self._held
        with self.lock:
            self._measure(*sizes, address(R), address(x), *places)
            total, far, of_mean = self._out.tolist()
            return total, far, of_mean


@cache
def _compiled(kernel: Kernel) -> tuple[Callable[..., None], Callable[..., None]]:
    recentre, measure = kernel.compiled_all(source(kernel.shape), {"recentre": (0, 1), "measure": (4, 8)})
    return recentre, measure


@lru_cache(maxsize=4)
def token_plan(kernel: Kernel, n: int, d: int) -> TokenPlan:
    """The plan of such tokens, the last four kept with their memory."""
    return TokenPlan(kernel, n, d)
