"""Time functions side by side: one warm-up each, then in turn, so that a busy moment hits all of them alike."""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any


def side_by_side(
    candidates: dict[str, Callable[[], Any]],
    repeats: int = 9,
    *,
    settle: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Median seconds of every candidate, and the median of its ratio to the first, round by round.

    `settle`: each runs untimed for a tenth of a second before its turn, while threads of the library before it
    still wait for work (those of OpenBLAS for some 25 ms).

    Examples
    --------
    >>> result = side_by_side({"short": lambda: sum(range(100)), "long": lambda: sum(range(10_000))})
    >>> result["ratio"]["short"], result["ratio"]["long"] > 1
    (1.0, True)
    """
    for function in candidates.values():
        function()
    rounds: dict[str, list[float]] = {name: [] for name in candidates}
    turns = list(candidates.items())
    for _ in range(repeats):
        turns.reverse()  # both orders: nobody always runs after the same other
        for name, function in turns:
            until = time.perf_counter() + 0.1 * settle
            while time.perf_counter() < until:
                function()
            began = clock()
            function()
            rounds[name].append(clock() - began)
    first = rounds[next(iter(candidates))]
    return {
        "seconds": {name: statistics.median(times) for name, times in rounds.items()},
        "ratio": {
            name: statistics.median(t / base for t, base in zip(times, first, strict=True))
            for name, times in rounds.items()
        },
        "repeats": repeats,
    }


def report(results: dict[str, Any]) -> None:
    """Results as JSON on standard output, with what they were measured on."""
    json.dump({"machine": platform.machine(), "python": platform.python_version(), **results}, sys.stdout, indent=2)
    print()
