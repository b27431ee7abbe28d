"""How often the bound at initialisation fails (proofs/own_initialisation.tex), against what is proved.

    python benchmarks/initialisation.py [--networks 20000]

One head, one layer, Gaussian tokens, weights of variance 1/d. Prints a row for each shape: the share of networks
whose diameter exceeds the bound, and the bound n⁴e^(−t²/2)/4 on its probability.
"""

from __future__ import annotations

import argparse

import numpy as np


def exceeds(rng: np.random.Generator, count: int, n: int, d: int, m: int, t: float, scale: float) -> float:
    """The share of networks that exceed the bound, `scale` the size of the tokens' entries."""
    X = scale * rng.standard_normal((count, n, d))
    query, key = rng.standard_normal((2, count, d, m)) / np.sqrt(d)
    W = rng.standard_normal((count, d, d)) / np.sqrt(d)
    S = (X @ query) @ np.swapaxes(X @ key, -1, -2) / np.sqrt(m)
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    P /= P.sum(axis=-1, keepdims=True)

    def diameter(Y: np.ndarray) -> np.ndarray:
        return np.linalg.norm(Y[:, :, None] - Y[:, None], axis=-1).max(axis=(1, 2))

    before, after = diameter(X), diameter(P @ X @ W)
    bound = (1 + t / np.sqrt(d)) * before * np.tanh(t * (1 + t / np.sqrt(m)) * before**2 / (4 * d))
    return float((after > bound).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=20_000)
    count = parser.parse_args().networks
    print("  n   d   m     t  entries  exceeds  at most")
    for n, d, m in ((2, 1, 1), (2, 8, 4), (4, 16, 8), (8, 32, 8)):
        for t, scale in ((0.5, 0.1), (1.0, 0.1), (2.0, 0.1), (3.0, 1.0), (5.0, 1.0)):
            share = exceeds(np.random.default_rng(1), count, n, d, m, t, scale)
            proved = min(1.0, n**4 * np.exp(-(t**2) / 2) / 4)
            print(f"{n:3} {d:3} {m:3} {t:5.1f} {scale:8.1f} {share:8.4f} {proved:8.4f}")


if __name__ == "__main__":
    main()
