"""Layers of attention alone in numba beside ours in LLVM's language: time in turns, on one thread, and lines.

    OPENBLAS_NUM_THREADS=1 python benchmarks/numba_layer.py

It needs numba, which the library does not. Products are those of BLAS, block by block, and the exponential is a
loop that LLVM turns into vector instructions. There are no biases and no skip: the least that a peer needs.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from timing import report, side_by_side

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.alone import LIMITS
from rankmath.attention.common import UNEVEN_LOG
from rankmath.attention.fused import layer_plan
from rankmath.attention.tokens import SAFE_LOG
from rankmath.attention.views import LINEAR_LOG
from rankmath.kernels.compiled import _EXPM1 as C
from rankmath.kernels.compiled import _ROUNDS

try:
    import numba
except ImportError:
    raise SystemExit("numba is not installed; it is what is measured here: pip install numba") from None

#: n, d, heads, layers, and whether residual and diameter of every layer are measured, as `trace` does.
SIZES = (
    *((16, 8, 1, 8, True), (64, 16, 1, 8, True), (64, 64, 8, 1, True), (128, 32, 4, 1, True), (256, 32, 8, 8, True)),
    *((256, 64, 8, 1, False), (512, 64, 4, 1, False), (1024, 64, 1, 1, False), (1024, 16, 4, 1, False)),
    *((256, 256, 4, 1, False), (64, 256, 4, 8, True)),
)
ROWS, KEYS = 96, 256

exact = numba.njit(fastmath={"contract"}, nogil=True, error_model="numpy", cache=True)
inlined = numba.njit(fastmath={"contract"}, nogil=True, error_model="numpy", inline="always")
# Sums and maxima in any order, so that they become vector instructions.
free = numba.njit(fastmath={"contract", "reassoc", "nsz", "nnan"}, nogil=True, error_model="numpy", cache=True)


@inlined
def expm1(x):
    t = x * 1.4426950408889634 + _ROUNDS
    n = t - _ROUNDS
    r = n * -2.3190468138462996e-17 + (n * -0.6931471805599453 + x)
    r2 = r * r
    r4 = r2 * r2
    low = (C[3] * r + C[2]) * r2 + (C[1] * r + C[0])
    high = (C[7] * r + C[6]) * r2 + (C[5] * r + C[4])
    p = ((C[10] * r2 + (C[9] * r + C[8])) * r4 + high) * r4 + low
    s = np.int64(np.float64(t).view(np.int64) << 52).view(np.float64)
    return (p * r2 + r) * s + (s - 1.0)


@exact
def all_expm1(a):
    for i in range(a.size):
        a[i] = expm1(a[i])


@free
def dot(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@free
def add_to(a, b, factor):
    """a + factor b in the place of a; the largest |entry| of the result, and of what was added."""
    most, added = 0.0, 0.0
    for k in range(a.size):
        b_k = factor * b[k]
        a[k] += b_k
        most, added = max(most, abs(a[k])), max(added, abs(b_k))
    return most, added


@free
def farthest(products, squares):
    most = -np.inf
    for j in range(products.size):
        most = max(most, squares[j] - 2.0 * products[j])
    return most


@exact
def measure(R, x, row):
    """‖R‖, the diameter and ‖x‖."""
    n = len(R)
    squares = np.empty(n)
    for j in range(n):
        squares[j] = dot(R[j], R[j])
    far = 0.0
    for first in range(0, n, ROWS):
        products = np.dot(R[first : first + ROWS], R[first:].T)
        for i in range(len(products)):
            far = max(far, squares[first + i] + farthest(products[i, i:], squares[first + i :]))
    row[4], row[5], row[6] = math.sqrt(squares.sum()), math.sqrt(far), math.sqrt(dot(x, x))


@exact
def recentre(total, center, factor):
    """The mean of the total, times a factor, into the center, and both over their sizes; the sizes."""
    n = len(total)
    shift, before, size = np.zeros_like(center), 0.0, 0.0
    for j in range(n):
        before = max(before, add_to(shift, total[j], 1.0)[1])
    shift /= n
    of_center, _ = add_to(center, shift, factor)
    for j in range(n):
        size = max(size, add_to(total[j], shift, -1.0)[0])
    center /= of_center
    total *= 1.0 / size
    return of_center, size, before


@exact
def head(x, R, query, value, units, uneven, total, image, held):
    """One head added to the total; the largest |entry| it adds, −1 where this may not stand."""
    of_pull, of_x, of_common, scale, of_thin, limit = units
    logits, D, weighted, left, part, more = held
    n, d = R.shape
    g = np.dot(x, query) * of_pull
    pivot = np.argmax(np.dot(R, g))
    q, far = np.empty(n), 0.0
    for j in range(n):
        for c in range(d):
            D[j, c] = R[j, c] - R[pivot, c]
        q[j], far = dot(D[j], g), max(far, dot(D[j], D[j]))
    low, top = q.min(), q.max()
    for j in range(n):
        q[j] = expm1(max(q[j] - top, -700.0)) + 1.0
    whole = q.sum()
    if not math.exp(low - top) > whole * uneven:
        return -1.0
    q /= whole
    mean = np.dot(q, D)
    image[:] = np.dot(x * of_x + (R[pivot] + mean) * of_common, value)
    for j in range(n):
        for c in range(d):
            weighted[j, c] = q[j] * (D[j, c] - mean[c])
        weighted[j, d] = q[j]
    most, thin = 0.0, of_thin >= 0.0
    if thin and n >= d:  # logits below rounding: a covariance
        covariance = np.dot(D.T, np.ascontiguousarray(weighted[:, :d]))
        np.dot(R, np.dot(query, np.dot(covariance, value)), out=left)
        for i in range(n):
            most = max(most, add_to(total[i], left[i], of_thin)[1])
        return most
    np.dot(R, query, out=left)
    for i in range(n):
        if not thin and not dot(left[i], left[i]) * far <= limit:
            return -1.0
    left *= of_thin if thin else scale
    for first in range(0, n, ROWS):
        rows = left[first : first + ROWS]
        out = part[: len(rows)]
        for start in range(0, n, KEYS):
            keys = D[start : start + KEYS]
            m, sums = logits[: len(rows) * len(keys)].reshape(len(rows), len(keys)), more[: len(rows)]
            np.dot(rows, keys.T, out=m)
            if not thin:
                all_expm1(m.reshape(-1))
            np.dot(m, weighted[start : start + KEYS], out=sums if start else out)
            if start:
                out += sums
        for i in range(len(rows)):
            inverse = 1.0 if thin else 1.0 / (1.0 + out[i, d])
            for c in range(d):
                rows[i, c] = out[i, c] * inverse
        made = np.dot(rows, value)
        for i in range(len(rows)):
            most = max(most, add_to(total[first + i], made[i], 1.0)[1])
    return most


@exact
def network(X, query, value, root, limits, log, measured):
    """All layers of X, the last residual in its place, and the log as ours has it; how many could be made."""
    safe_log, linear_log, uneven = limits
    (n, d), (L, H) = X.shape, query.shape[:2]
    x, R = X[0].copy(), X - X[0]
    of_center, size, before = recentre(R, x, 1.0)
    log[0, 0], log[0, 1] = math.log(of_center), math.log(size)
    log[0, 3] = max(0.0, math.log2(before / size))
    logits, D, weighted, left = np.empty(ROWS * KEYS), np.empty((n, d)), np.empty((n, d + 1)), np.empty((n, d))
    held = logits, D, weighted, left, np.empty((ROWS, d + 1)), np.empty((ROWS, d + 1))
    image, new, new_x = np.empty(d), np.empty((n, d)), np.empty(d)
    for l in range(L):
        if measured:
            measure(R, x, log[l])
        xi, sigma = log[l, 0], log[l, 1]
        log_E, log_pull, largest = 2 * sigma - root, xi + sigma - root, np.abs(query[l]).max()
        if not max(log_E, log_pull) < safe_log:
            return l
        thin, seen = log_E + math.log(max(1e-300, 2 * d * d * largest)) <= linear_log, max(xi, sigma)
        unit = 3 * sigma - root if thin else sigma
        common, scale = max(seen, unit), math.exp(0.0 if thin else log_E)
        pull, of_x, of_common = math.exp(log_pull), math.exp(xi - seen), math.exp(sigma - seen)
        units = pull, of_x, of_common, scale, 1.0 if thin else -1.0, (safe_log / scale) ** 2
        new[:], new_x[:], parts = 0.0, 0.0, 0.0
        for h in range(H):
            most = head(x, R, query[l, h], value[l, h], units, uneven, new, image, held)
            if most < 0.0:
                return l
            parts = max(parts, most)
            add_to(new_x, image, math.exp(seen - common))
        of_center, size, before = recentre(new, new_x, math.exp(unit - common))
        log[l + 1, 0], log[l + 1, 1] = common + math.log(of_center), unit + math.log(size)
        log[l + 1, 3] = max(log[l, 3], math.log2(max(parts, before) / size))
        R, new, x, new_x = new, R, new_x, x
    if measured:
        measure(R, x, log[L])
    X[:] = R
    return L


def compare(n: int, d: int, H: int, L: int, measured: bool) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X, root = rng.standard_normal((n, d)), math.log(d) / 2
    query = rng.standard_normal((L, H, d, d)) * 0.3 / math.sqrt(d)
    value = rng.standard_normal((L, H, d, d)) / math.sqrt(d * H)
    plan = layer_plan(Float64(X), n, d, H)
    assert plan is not None, "the extra `fast` is needed"
    arrays, numbers = tuple((query[l], value[l], None, None) for l in range(L)), np.array([(-1.0, root, 0.0)] * L)
    log, limits = np.zeros((L + 1, 7)), (SAFE_LOG, LINEAR_LOG, math.exp(UNEVEN_LOG))

    def theirs() -> int:
        return int(network(X.copy(), query, value, root, limits, log, measured))

    began = time.process_time()
    reached = theirs()
    first = time.process_time() - began
    run = plan.run(None, X, (), arrays, numbers, LIMITS, measure=measured)
    kept = [0, 1, 4, 5, 6] if measured else [0, 1]
    assert run.layers == reached == L
    assert np.allclose(run.log[0][:, kept], log[:, kept], rtol=1e-11, atol=1e-11), "these must be the same numbers"
    times = side_by_side(
        {"ours": lambda: plan.run(None, X, (), arrays, numbers, LIMITS, measure=measured), "numba": theirs},
        repeats=200 if n <= 64 else 25,
        clock=time.process_time,  # one thread: what else runs on the machine does not count
    )
    size = {"n": n, "d": d, "H": H, "L": L, "measured": measured}
    return size | times | {"seconds of numba's first call": first}


if __name__ == "__main__":
    report({"sizes": [compare(*size) for size in SIZES]})
