"""How fast masked attention collapses, and what the bounds say: the tables of docs/masks.md.

    python benchmarks/mask_rates.py                        # print the tables
    python benchmarks/mask_rates.py --write docs/masks.md  # put them between the markers of the page

Every rate is a factor of μ per layer, the geometric mean over layers and over seeds. One head, W_V = I, Gaussian
tokens and W_QK such that logits at temperature 1 have standard deviation about 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from pages import write_tables

from rankmath.decide.campaigns.curves import limit_rate, mask_kinds, mask_rates
from rankmath.linalg.masks import Mask


def factor(log: float) -> str:
    """e^log to three digits; near one, its distance from one."""
    gap = -np.expm1(log)
    return f"1 − {gap:.1e}" if gap < 5e-3 else f"{np.exp(log):.3f}" if log > -7 else f"{np.exp(log):.1e}"


def row(name: str, mask: Mask, temperature: float) -> list[str]:
    at = mask_rates(mask, temperature)
    degree = int(mask.allowed.sum(axis=1).max())
    limit = limit_rate(mask)
    return [
        name,
        str(mask.n),
        str(mask.steps),
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
    for name, mask in mask_kinds().items():
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


if __name__ == "__main__":
    sys.exit(write_tables(__doc__, {name: lambda rows=rows: markdown(rows()) for name, rows in TABLES.items()}))
