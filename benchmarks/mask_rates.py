"""How fast masked attention collapses, and what the bounds say: the tables of docs/masks.md.

    python benchmarks/mask_rates.py                        # print the tables
    python benchmarks/mask_rates.py --write docs/masks.md  # put them between the markers of the page

Every rate is a factor of μ per layer, the geometric mean over layers and over seeds. One head, W_V = I, Gaussian
tokens and W_QK such that logits at temperature 1 have standard deviation about 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.linalg.masks import Mask
from rankmath.network import Network
from rankmath.statements.quantities import Run
from rankmath.statements.wu2024 import least_attention, log_contraction, log_one_minus_exp, radius_of, random_graph

DIM = 8
SEEDS = 10


@dataclass(frozen=True)
class Rates:
    """Logarithms of factors per layer, and of the least attention weight."""

    least: float
    bound: float
    computed: float
    measured: float


def rates(mask: Mask, temperature: float, *, blocks: int = 2, seeds: int = SEEDS) -> Rates:
    """Over the first blocks · radius layers from random tokens: temperature acts until the tokens have met."""
    r = radius_of(mask)
    L = blocks * r
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        W_QK = rng.standard_normal((L, 1, DIM, DIM)) / np.sqrt(DIM)
        identity = np.broadcast_to(np.eye(DIM), (L, 1, DIM, DIM))
        net = Network.from_arrays(W_QK, identity, d_qk=DIM * temperature**2, mask=mask)
        run = Run(Float64(np.zeros(1)), net, rng.standard_normal((mask.n, DIM)))
        least = float(least_attention(run, mask).attained)
        bound = float(log_one_minus_exp(run.A, r * least)) / r
        computed = sum(log_contraction(run, mask, range(k * r, k * r + r)) for k in range(blocks)) / L
        measured = (run.log_residual(L, "frobenius") - run.log_residual(0, "frobenius")) / L
        found.append((least, bound, float(computed), float(measured)))
    return Rates(*np.mean(found, axis=0))


def limit_rate(mask: Mask) -> float:
    """The rate in the end: tokens that have nearly met attend uniformly, and |λ₂| of that matrix remains."""
    uniform = mask.allowed / mask.allowed.sum(axis=1, keepdims=True)
    return float(np.sort(np.abs(np.linalg.eigvals(uniform)))[-2])


def factor(log: float) -> str:
    """e^log to three digits; near one, its distance from one."""
    gap = -np.expm1(log)
    return f"1 − {gap:.1e}" if gap < 5e-3 else f"{np.exp(log):.3f}" if log > -7 else f"{np.exp(log):.1e}"


def row(name: str, mask: Mask, temperature: float) -> list[str]:
    at = rates(mask, temperature)
    degree = int(mask.allowed.sum(axis=1).max())
    limit = limit_rate(mask)
    return [
        name,
        str(mask.n),
        str(radius_of(mask)),
        str(degree),
        f"{temperature:g}",
        f"{np.exp(at.least):.1e}",
        factor(at.bound),
        factor(at.computed),
        factor(at.measured),
        f"{limit:.3f}" if limit > 1e-7 else "0",
    ]


HEADER = ["mask", "n", "r", "keys", "τ", "ε", "(1 − ε^r)^{1/r}", "computed", "measured", "limit"]


def kinds() -> Iterator[list[str]]:
    """Every kind of mask on twelve tokens."""
    n = 12
    masks = {
        "complete": Mask.complete(n),
        "causal": Mask.causal(n),
        "prefix 4": Mask.prefix(n, 4),
        "star": Mask.star(n),
        "window ±4": Mask.window(n, 4),
        "window ±2": Mask.window(n, 2),
        "window ±1": Mask.window(n, 1),
        "causal window 4": Mask.causal_window(n, 4),
        "causal window 2": Mask.causal_window(n, 2),
        "random graph A": random_graph(np.random.default_rng(1), n),
        "random graph B": random_graph(np.random.default_rng(2), n),
    }
    for name, mask in masks.items():
        yield row(name, mask, 1.0)


def radii() -> Iterator[list[str]]:
    """Windows ±1 of growing length: the radius is ⌊n/2⌋."""
    for n in (3, 5, 7, 9, 13, 17):
        yield row("window ±1", Mask.window(n, 1), 1.0)


def temperatures() -> Iterator[list[str]]:
    """The same mask, colder and hotter."""
    for name, mask in (("causal", Mask.causal(8)), ("window ±2", Mask.window(8, 2))):
        for temperature in (0.25, 0.5, 1.0, 2.0, 4.0):
            yield row(name, mask, temperature)


TABLES = {"kinds": kinds, "radii": radii, "temperatures": temperatures}


def markdown(rows: Iterator[list[str]]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main(arguments: Any = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the tables between the page's markers")
    options = parser.parse_args(arguments)
    page = options.write.read_text(encoding="utf-8") if options.write else ""
    for name, rows in TABLES.items():
        table = markdown(rows())
        if not options.write:
            print(f"{name}\n\n{table}\n")
            continue
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        page, count = re.subn(f"{begin}.*?{end}", f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)
        if count != 1:
            print(f"{options.write}: the markers {begin} … {end} must stand there once", file=sys.stderr)
            return 2
    if options.write:
        options.write.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
