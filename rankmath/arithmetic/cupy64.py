"""Double precision on a GPU: CuPy, and kernels where these take fewer launches."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from rankmath.arithmetic.float64 import _BYTES_PER_ENTRY, Float64
from rankmath.validation import Array, Bools, Floats

_LARGEST_BLOCK_BYTES = 6 * 2**30


class CuPy64(Float64):
    """CuPy's arrays."""

    on_gpu: ClassVar[bool] = True

    def __init__(self, like: Array, **more: Any) -> None:
        super().__init__(like, **more)
        self._device = None

    @cached_property
    def block_entries(self) -> int:
        """A part of the memory that is free."""
        if self._given is not None:
            return self._given
        import cupy

        free, _ = cupy.cuda.Device().mem_info
        pooled = cupy.get_default_memory_pool().free_bytes()
        return int(min((free + pooled) // 4, _LARGEST_BLOCK_BYTES) // _BYTES_PER_ENTRY)

    @cached_property
    def batch_entries(self) -> int:
        return self.block_entries

    def matmul(self, a: Array, b: Array) -> Array:
        if a.ndim == 2 and b.ndim == 3:
            from rankmath.kernels.cuda import product_with_each

            return product_with_each(a, b)
        if a.ndim == 3 and b.ndim == 2:  # one large product
            return self.xp.matmul(a.reshape(-1, a.shape[2]), b).reshape(*a.shape[:2], b.shape[1])
        return self.xp.matmul(a, b)

    def combined(self, a: Array, x: Array, b: Array, y: Array) -> Array:
        from rankmath.kernels.cuda import axpby

        return axpby(a, self.factor(x), b, self.factor(y))

    def expm1_of_temporary(self, a: Array) -> Array:
        return self.xp.expm1(a, out=a)

    def exp_of_temporary(self, a: Array) -> Array:
        return self.xp.exp(a, out=a)

    def log(self, a: Array) -> Array:
        return super().log(a) if isinstance(a, np.ndarray) else self.xp.log(a)  # no warnings on a GPU

    def mean_row(self, a: Array) -> Array:
        n = a.shape[-2]
        if a.ndim <= 3:  # a product is faster than CuPy's sum over rows
            return self.matmul(self.xp.full((1, n), 1 / n), a)
        return super().mean_row(a)

    def sizes(self, arrays: list[Array]) -> list[Array]:
        from rankmath.kernels.cuda import largest

        return list(largest(arrays))

    def measuring(
        self, arrays: list[Array]
    ) -> Callable[[], AbstractContextManager[Callable[[], tuple[Floats, Floats]]]]:
        from rankmath.kernels.cuda import Sizes

        return Sizes(arrays).begun

    def normal_cdf(self, a: Array) -> Array:
        return import_module("cupyx.scipy.special").ndtr(a)

    def hide(self, allowed: Bools, a: Array) -> Array:
        return self.xp.where(self.xp.asarray(allowed), a, -self.xp.inf)

    def farthest(self, products: Array, squares: Array) -> Array:
        from rankmath.kernels.cuda import farthest

        return farthest(products, squares)

    def relative_to_largest(self, scores: Array, rows: Array) -> tuple[Array, Array]:
        if scores.shape[scores.ndim - rows.ndim : -2] != rows.shape[:-2]:
            return super().relative_to_largest(scores, rows)
        from rankmath.kernels.cuda import relative_to_largest

        return relative_to_largest(scores, rows)

    def column_softmax(self, c: Array, unit: Array) -> tuple[Array, Array, float]:
        from rankmath.kernels.cuda import column_softmax

        return column_softmax(c, self.factor(unit))
