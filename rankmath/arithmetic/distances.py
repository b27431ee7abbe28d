"""The largest distance of two of many rows, on the CPU."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rankmath.arithmetic.float64 import Float64
from rankmath.validation import Array, Floats

# Compare pairs in single precision first from this many rows.
_MANY_ROWS = 256
# Skip pairs of short rows from this many rows on, up to this many columns: wider rows are all about as long.
_ORDERED_ROWS, _ORDERED_COLUMNS = 1024, 128
# Cut the rows into this many parts a thread, because the first rows have more pairs.
_PARTS = 4


def square_diameter(A: Float64, R: Floats, squares: Floats) -> float:
    """max |R_i − R_j|² of rows with mean zero, `squares` (n, 1) their |R_i|².

    None of them is longer than the diameter, so |R_i|² + |R_j|² − 2R_i·R_j hardly cancels. Two rows are no farther
    apart than the sum of their lengths: once a pair is known that is far apart, pairs of shorter rows need no look.
    """
    with A.blas_alone(len(R) ** 2):
        return _square_diameter(A, R, squares[:, 0])


def _square_diameter(A: Float64, R: Floats, s: Floats) -> float:
    n, order = len(R), None
    best, reach, rows = 0.0, np.full(n, n), n
    if n >= _ORDERED_ROWS and R.shape[1] <= _ORDERED_COLUMNS:
        order = np.argsort(-s)
        best, reach, rows = _first_look(R, s, order)
        if not rows:
            return best
    ordered = s if order is None else s[order]
    if n >= _MANY_ROWS:
        # Single precision takes half the time, and leaves a few rows that may belong to the farthest pair.
        Y: Array = R.astype(np.float32)
        single = _row_maxima(A, Y if order is None else Y[order], ordered.astype(np.float32), reach, rows)
        # Each of d + 2 terms is rounded thrice and added; their sizes sum to (|R_i| + |R_j|)² at most.
        doubt = (R.shape[1] + 6) * 2.0**-24 * 4.0 * float(s.max())
        likely = np.flatnonzero(single >= max(float(single.max()), best) - 2.0 * doubt)
        if len(likely) * n <= min(A.block_entries, n**2 // 8):
            likely = likely if order is None else order[likely]
            exact = s[likely, None] + (s - 2.0 * (R[likely] @ R.T))
            return max(best, float(exact.max(initial=0.0)))
    return max(best, float(_row_maxima(A, R if order is None else R[order], ordered, reach, rows).max()))


def _first_look(R: Floats, s: Floats, order: npt.NDArray[np.intp]) -> tuple[float, npt.NDArray[np.intp], int]:
    """The largest distance found so far, squared; of rows ordered by length, up to which other one each may be
    farther, and how many may be so from a shorter one."""
    best, place = 0.0, int(order[0])
    for _ in range(3):  # the farthest from the longest, the farthest from that one …
        gaps = s + s[place] - 2.0 * (R @ R[place])
        place = int(gaps.argmax())
        best = max(best, float(gaps[place]))
    lengths, least = np.sqrt(s[order]), math.sqrt(best) * (1 - 2.0**-40)
    reach = np.searchsorted(-lengths, lengths - least, side="right")
    return best, reach, int(np.count_nonzero(reach > np.arange(len(R)) + 1))


def _row_maxima(A: Float64, Y: Floats, s: Floats, reach: npt.NDArray[np.intp], rows: int) -> Floats:
    """max_j |Y_i − Y_j|² of the first rows i, over all j from i to `reach`[i] and perhaps some others.

    The sum itself is a product: there is no pass over a matrix of all pairs but the last.
    """
    ones = np.ones_like(s)
    left, right = np.column_stack([-2 * Y[:rows], s[:rows], ones[:rows]]), np.column_stack([Y, ones, s])
    out, step = np.empty_like(s[:rows]), max(1, A.block_entries // len(Y))
    parts = max(-(-rows // step), _PARTS * A.threads_for(rows * len(Y)))

    def some(start: int, stop: int) -> None:
        np.max(A.passing_product(left[start:stop], right[start : reach[start]].T), axis=1, out=out[start:stop])

    ends = [rows * k // parts for k in range(parts + 1)]
    tasks = [partial(some, start, stop) for start, stop in pairwise(ends) if start < stop]
    list(A.in_turn(tasks, rows * len(Y)))
    return out
