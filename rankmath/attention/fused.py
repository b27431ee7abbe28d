"""What compiled kernels do of a layer: None or False where there is no kernel, or where it would not pay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.numpy64 import THREADED_ENTRIES, NumPy64
from rankmath.kernels import compiled
from rankmath.validation import Array

if TYPE_CHECKING:
    from rankmath.kernels.compiled import Kernel
    from rankmath.kernels.compiled_network import LayerPlan
    from rankmath.kernels.compiled_paths import Layer, PathRun

# Use the compiled kernel from this many pairs of tokens, and for values at least this wide: it pads them to 32.
_COMPILED_ENTRIES = 2**14
_COMPILED_WIDTH = 16
# Use compiled layers from this many tokens.
_COMPILED_ROWS = 2
# Run them on our threads from this many multiply-adds (of the first four layers) for each lane and two more.
_SHARED = 2**17
# Make all heads of plain attention in one call from this many pairs of tokens of all heads.
_COMPILED_HEADS = 2**12
# Logits up to this size need no largest one taken off them.
_LARGEST_LOGIT = 600.0


def _kernel(A: Float64) -> Kernel | None:
    """The kernel that makes whole layers, unless the user limits the memory of blocks."""
    return compiled.kernel() if isinstance(A, NumPy64) and not A.cuts_finely else None


def fused_deviation(A: Float64, left: Array, right: Array, q: Array, values: Array, scale: Array) -> Array | None:
    """Σ_j m_ij q_j v_j/(1 + Σ_j m_ij q_j) with m = expm1(scale · left rightᵀ), no n × n matrix in memory."""
    if A.on_gpu:
        from rankmath.kernels import cuda

        return cuda.fused_deviation(left, right, q, values, A.factor(scale)) if cuda.fits(left, values) else None
    large = left.shape[-2] * values.shape[-2] >= _COMPILED_ENTRIES and values.shape[-1] >= _COMPILED_WIDTH
    if not large or not isinstance(A, NumPy64) or compiled.kernel() is None:
        return None
    return _compiled_average(A, 1.0, scale, left, right, q, values)


def fused_softmax(
    A: Float64, queries: Array, keys: Array, added: Array | None, values: Array, root: float
) -> Array | None:
    """softmax((queries keysᵀ + 1 addedᵀ)/root) values, no largest logit taken off; None if that may overflow."""
    if not isinstance(A, NumPy64) or len(queries) * len(keys) < _COMPILED_ENTRIES:
        return None
    spread = 0.0 if added is None else float(added.max() - added.min())
    lengths = (A.longest(queries) * A.longest(keys)).item()
    if not lengths + spread <= _LARGEST_LOGIT * root:  # Cauchy–Schwarz
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        out = _average(A, queries, keys, added, values, root)
        # Values may be too large for weights that are not divided yet.
        return out if math.isfinite(float(out.sum())) else None


def _average(A: NumPy64, queries: Array, keys: Array, added: Array | None, values: Array, root: float) -> Array:
    q = np.ones((keys.shape[0], 1)) if added is None else np.exp((added - added.max()) / root)
    if values.shape[1] >= _COMPILED_WIDTH and compiled.kernel() is not None:
        return _compiled_average(A, 0.0, 1.0 / root, queries, keys, q, values)
    right, weighted = (keys / root).T, values if added is None else q * values
    out, rows = np.empty((len(queries), values.shape[1])), max(1, A.lone_entries // len(keys))
    for start in range(0, len(out), rows):
        cut = slice(start, start + rows)
        weights = A.exp_of_temporary(A.passing_product(queries[cut], right))
        np.matmul(weights, weighted, out=out[cut])
        out[cut] /= weights @ q
    return out


def _compiled_average(
    A: NumPy64, base: float, scale: Array, left: Array, right: Array, q: Array, values: Array
) -> Array:
    kernel = compiled.kernel()
    assert kernel is not None
    if left.ndim > 2:
        lead = np.broadcast_shapes(*(np.shape(a)[:-2] for a in (scale, left, right, q, values)))
        many = [np.broadcast_to(a, (*lead, *np.shape(a)[-2:])) for a in (scale, left, right, q, values)]
        out = np.empty((*lead, left.shape[-2], values.shape[-1]))

        def one(place: tuple[int, ...]) -> None:
            out[place] = _compiled_average(A, base, *(a[place] for a in many))

        each = [partial(one, place) for place in np.ndindex(*lead)]
        list(A.in_turn(each, len(each) * left.shape[-2] * right.shape[-2]))
        return out
    entries = left.shape[0] * right.shape[0]
    threads = A.threads_for(entries)
    out, tasks = compiled.fused_average(kernel, base, scale, left, right, q, values, threads)
    list(A.in_turn(tasks, entries))
    return out


def layer_plan(A: Float64, n: int, d: int, heads: int, layers: int = 1) -> LayerPlan | None:
    """The compiled layers for such tokens."""
    kernel = _kernel(A) if n >= _COMPILED_ROWS else None
    if kernel is None:
        return None
    threads = _shares(A, kernel, 2 * heads * n * (n + d) * d * min(layers, 4))
    return _plans()[0](kernel, n, d + -d % kernel.shape.lanes, heads, threads)


def fuses_heads(A: Float64, X: Array, heads: int) -> bool:
    """Whether `path_layers` makes all heads in one call, and pays."""
    large = X.shape[-1] >= _COMPILED_WIDTH and heads * X.shape[-2] ** 2 >= _COMPILED_HEADS
    return large and _kernel(A) is not None


def path_layers(A: Float64, tokens: Array, V: Array, layers: Sequence[Layer]) -> PathRun:
    """As many of these layers as one call can make: their averages of V (n, k, d) side by side, without a largest
    logit taken off."""
    kernel, (n, k, d), heads = compiled.kernel(), V.shape, len(layers[0][0])
    assert kernel is not None
    threads = _shares(A, kernel, min(len(layers), 4) * heads * n * d * (n + d) * (k + 1))
    return _plans()[1](kernel, tokens, V, layers, _LARGEST_LOGIT, threads)


def _shares(A: Float64, kernel: Kernel, products: int) -> int:
    """Threads of compiled code with so many multiply-adds: they pay sooner than in `in_turn`, called once."""
    return A.threads_for(THREADED_ENTRIES if products >= _SHARED * (kernel.shape.lanes + 2) else 0)


@cache
def _plans() -> tuple[Callable[..., LayerPlan], Callable[..., PathRun]]:
    """Loaded when there is a kernel; to import them again and again takes small layers a while."""
    from rankmath.kernels.compiled_network import plan
    from rankmath.kernels.compiled_paths import path_layers

    return plan, path_layers
