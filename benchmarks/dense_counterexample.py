"""The counterexamples to the 2021 bound at full size, dense, against their closed forms.

    python benchmarks/dense_counterexample.py

Evaluates the committed layers by the library's plain pass (n × n attention, about half a gigabyte), compares every
entry the closed form speaks of, evaluates both sides of the bound from the arrays alone, and prints the best ratio
found at other numbers of tokens. Exits with 1 if anything disagrees.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from rankmath.attention.plain import forward
from rankmath.claims.dong2021_many_tokens import TokenKinds, center_products, counterexample, optimise, two_tokens


def both_norms(A: np.ndarray[Any, Any]) -> tuple[float, float]:
    return float(np.abs(A).sum(axis=0).max()), float(np.abs(A).sum(axis=1).max())


def closed_form_error(kinds: TokenKinds, Y: np.ndarray[Any, Any]) -> float:
    """The largest relative difference between SA(X) and its closed form."""
    at, m = kinds.levels(math.exp), kinds.active
    column = np.full(kinds.tokens, at.plain)
    column[1 : m + 1] = at.active
    column[m + 1 : m + 3] = at.guard
    separation = Y[m + 1, m + 1] - Y[m + 1, m + 2]
    return float(max(np.abs(Y[:, 0] / column - 1).max(), abs(separation / at.separation - 1)))


def best_known_center(kinds: TokenKinds, Y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The center that attains the lower bound over every center: a guard's row with another f-entry."""
    at = kinds.levels(math.exp)
    _, low, high = center_products(kinds.active, kinds.idle, at)
    center = Y[kinds.active + 1].copy()
    center[0] = at.active if low < high else at.plain
    center[-2:] = Y[0, -2:]
    return center


def one_head() -> bool:
    kinds = counterexample()
    began = time.perf_counter()
    X = kinds.input()
    Y = forward(kinds.network(), X)
    error = closed_form_error(kinds, Y)
    rhs = 4 * float(kinds.gain) * math.prod(both_norms(X)) ** 1.5
    attained = math.sqrt(math.prod(both_norms(Y - best_known_center(kinds, Y)))) / rhs
    print(f"one head: {kinds.tokens} tokens, width {kinds.width}, dense in {time.perf_counter() - began:.1f} s")
    print(f"  closed form against dense: largest relative difference {error:.1e}")
    print(f"  ratio of the two sides: {kinds.ratio():.9f} over every center, {attained:.9f} at the best known center")
    print(f"  certified: ratio ≥ {float(kinds.certified_ratio()):.9f}")
    return error < 1e-11 and abs(attained / kinds.ratio() - 1) < 1e-11 and kinds.certified_ratio() > 1


def two_heads() -> bool:
    heads = two_tokens()
    X = heads.input()
    Y = forward(heads.network(), X)
    rhs = 4 * 2 * float(heads.logit) * math.prod(both_norms(X)) ** 1.5
    dense = math.sqrt(math.prod(both_norms(Y))) / rhs
    print(f"two heads: {heads.tokens} tokens, width {heads.width}")
    print(f"  ratio of the two sides: {heads.ratio():.9f} in closed form, {dense:.9f} dense")
    print(f"  certified: ratio ≥ {float(heads.certified_ratio()):.9f}")
    return abs(dense / heads.ratio() - 1) < 1e-11 and heads.certified_ratio() > 1


def main() -> int:
    agreed = [one_head(), two_heads()]
    print("one head, best ratio found:")
    for tokens in (100, 300, 1000, 3000, 3683, 3684, 5000, 7000, 10**4, 10**5, 10**6):
        kinds = optimise(tokens, denominator=2**20)
        print(f"  {tokens:>8} tokens  {kinds.ratio():.6f}  ({kinds.active} active, gain {float(kinds.gain):.3f})")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
