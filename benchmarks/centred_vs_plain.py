"""The centred pass against the plain one: time of a layer, memory, and overhead of small layers.

    OMP_NUM_THREADS=1 python benchmarks/centred_vs_plain.py

`trace` and `forward` run one layer of n = 1024, d = 64, H = 8 side by side on inputs of several scales. What
`trace` adds to the layer (norms, diameters of input and output) counts as its own. The target is a ratio of 1.
Memory is the peak beyond input and output, in units of one head's n × n matrix; the target is at most 1.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

from timing import report, side_by_side

from rankmath.attention.plain import forward
from rankmath.attention.trace import trace
from rankmath.model.network import Network

TOKENS, DIM, HEADS = 1024, 64, 8
SCALES = (1.0, 0.3, 0.1, 1e-3, 1e-12, 10.0)


def layer_times() -> dict[str, Any]:
    net = Network.random(TOKENS, DIM, heads=HEADS, layers=1, seed=0)
    results = {}
    for scale in SCALES:
        X = net.random_input(seed=1, scale=scale)
        results[f"input scale {scale:g}"] = side_by_side(
            {"plain": lambda X=X: forward(net, X), "centred": lambda X=X: trace(net, X)}
        )
    return results


def peak_memory() -> dict[str, float]:
    """Largest allocation of either pass beyond what it returns, over 8 n² bytes."""
    net = Network.random(TOKENS, DIM, heads=HEADS, layers=1, seed=0)
    peaks = {}
    for scale in SCALES:
        X = net.random_input(seed=1, scale=scale)
        for name, function in (("plain", forward), ("centred", trace)):
            function(net, X)
            tracemalloc.start()
            kept = function(net, X)
            size, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            del kept
            peaks[f"{name}, input scale {scale:g}"] = (peak - size) / (8 * TOKENS**2)
    return peaks


def small_layers() -> dict[str, Any]:
    """Microseconds a layer of n = 16, d = 8 at depth 500."""
    net = Network.random(16, 8, layers=500, seed=0)
    X = net.random_input(seed=1)
    times = side_by_side({"plain": lambda: forward(net, X), "centred": lambda: trace(net, X)}, repeats=5)
    return {name: seconds / 500 * 1e6 for name, seconds in times["seconds"].items()}


if __name__ == "__main__":
    report({"layer": layer_times(), "memory": peak_memory(), "microseconds a small layer": small_layers()})
