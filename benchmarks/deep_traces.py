"""The centred trace in float64 against balls, down to 10^-1000, on random networks of today's kinds.

    python benchmarks/deep_traces.py --nets 40 --first 1000    # seeds 1000 to 1039

Every network has random sizes and parts; where its residual does not reach 10^-1000 by itself and no norm holds it up,
its values are made smaller until it does. Columns: the layers, log10 of the last residual, the largest error of a
natural logarithm up to there (over the logarithm where that is larger than one: a double holds no more of it), and
how many of 53 bits float64 says that it may have lost (a saturated softmax loses them).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import rankmath as rm

LAYERS, DEEP = 60, -1000 * np.log(10)


def options(rng: np.random.Generator) -> tuple[int, int, dict[str, Any]]:
    """Tokens, dimension and what `Network.random` takes."""
    heads = int(rng.integers(1, 5))
    d = 2 * max(heads, int(rng.integers(1, 5)))
    found: dict[str, Any] = {
        "heads": heads,
        "positions": str(rng.choice(["rotary", "alibi", "relative", "none"])),
        "mask": [None, "causal"][rng.integers(2)],
        "scale": float(rng.choice([0.1, 0.3, 0.6, 1.0])),
    }
    if heads % 2 == 0 and rng.random() < 0.5:
        found |= {"kv_heads": heads // 2, "head_dim": 2}
    if rng.random() < 0.3:
        found["window"] = int(rng.integers(1, 4))
    if rng.random() < 0.2:
        found |= {"qk_norm": True, "head_dim": 2}
    if rng.random() < 0.2:
        found["softcap"] = 2.0
    if rng.random() < 0.3:
        found |= {"norm": "rms", "norm_at": str(rng.choice(["before", "after"]))}
    if rng.random() < 0.3:
        found["mlp"] = str(rng.choice(["swiglu", "geglu", "gelu"]))
    return int(rng.integers(2, 7)), d, found


def with_values(net: rm.Network, factor: float) -> rm.Network:
    """The network with all values times a factor."""
    layers = [
        [s if s.attention is None else s.with_attention(value=factor * s.attention.value) for s in layer]
        for layer in net.sublayers
    ]
    return rm.Network.from_layers(layers, tokens=net.tokens)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nets", type=int, default=40)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    given = parser.parse_args()
    print("seed | layers | log10 residual | error | bits lost | network")
    print("---|---|---|---|---|---")
    for seed in range(given.first, given.first + given.nets):
        n, d, parts = options(np.random.default_rng(seed))
        net = rm.Network.random(n, d, layers=LAYERS, seed=seed, **parts)
        X = net.random_input(seed=seed + 1)
        logs = rm.trace(net, X).log_residual
        if logs[-1] > DEEP and "norm" not in parts:
            net = with_values(net, float(np.exp((1.02 * DEEP - logs[-1]) / LAYERS)))
            logs = rm.trace(net, X).log_residual
        beyond = np.flatnonzero(logs < DEEP)
        depth = max(1, int(beyond[0]) - int(logs[beyond[0]] < 1.2 * DEEP)) if beyond.size else LAYERS
        net = rm.Network.from_layers(net.sublayers[:depth], tokens=n)
        ours, balls = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
        size = np.maximum(1.0, np.abs(balls.log_residual))
        error = (np.abs(ours.log_residual - balls.log_residual) / size).max()
        end, lost = balls.log_residual[-1] / np.log(10), min(53, ours.lost_bits.max())
        print(f"{seed} | {depth} | {end:.0f} | {error:.1e} | {lost:.0f} | {n} tokens, d = {d}, {parts}", flush=True)


if __name__ == "__main__":
    main()
