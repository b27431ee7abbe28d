"""Row blocks: no full n × n matrix is ever held."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from rankmath.arithmetic.float64 import Float64
from rankmath.validation import Array


def in_row_blocks(
    A: Float64,
    function: Callable[[Array, int], Array],
    rows: Array,
    columns: int,
    least: int = 1,
    products: bool = False,
) -> Array:
    """function(rows, index of the first), a block of rows at a time: no full n × n matrix is ever held.

    `least` blocks a thread, for work that is less the further down; larger ones where `products` are most of it.
    """
    n = rows.shape[-2]
    batch = math.prod(rows.shape[:-2])
    entries = A.block_entries if batch == 1 and not products else A.batch_entries
    parts = -(-n // max(1, entries // max(1, columns * batch)))
    threads = A.threads_for(n * columns) if batch == 1 else 1
    if threads > 1:
        parts = max(parts, threads * least)
    parts = min(parts, n)
    if parts <= 1:
        return function(rows, 0)
    ends = [n * k // parts for k in range(parts + 1)]  # parts of equal size
    tasks = [partial(function, rows[..., start:end, :], start) for start, end in pairwise(ends)]
    return A.concat(list(A.in_turn(tasks, n * columns * batch)), axis=-2)
