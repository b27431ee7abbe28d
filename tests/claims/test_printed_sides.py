"""A bound that nothing attains accepts any looser constant: its sides are computed again here, as the source prints
them, with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.formula.numbers import Signed
from rankmath.verification.instance import ArrayInstance


def inverse_phi(n: float) -> float:
    """x e^(x + 1) = n."""
    return float(lambertw(n / np.e).real)


def powers(P: Any) -> list[Any]:
    """P_0, P_1 P_0, …"""
    found = [P[0]]
    for A in P[1:]:
        found.append(A @ found[-1])
    return found


def windowed(n: int, w: int, layers: int) -> Any:
    rng = np.random.default_rng([n, w, layers])
    P = np.tril(rng.integers(1, 9, (layers, n, n))) * np.triu(np.ones((n, n), int), 1 - w)
    return np.array([[[Fraction(int(x), int(row.sum())) for x in row] for row in A] for A in P])


def prefixed(n: int, k: int, layers: int) -> Any:
    rng = np.random.default_rng([n, k, layers])
    P = rng.integers(1, 9, (layers, n, n)) * (np.tri(n, dtype=int) | (np.arange(n) < k))
    return np.array([[[Fraction(int(x), int(row.sum())) for x in row] for row in A] for A in P])


def least(P: Any, allowed: Any) -> float:
    return float(P[:, allowed].min())


Z = np.random.default_rng(0).normal(size=(5, 2))
C = np.array([[1, 0.75, 0.5], [0.75, 1, 0.625], [0.5, 0.625, 1]])
LOGITS = np.array([0.5, -1.0, 2.0, 0.25])
Y = np.random.default_rng(1).normal(size=(4, 3))
WINDOW, PREFIX, LAYERS = windowed(5, 2, 6), prefixed(5, 2, 4), windowed(4, 4, 5)
DECAY = np.array([[Fraction(x) for x in row] for row in ((1, 1, 1), (2, 3, 1), (0.5, 4, 1.5))])


def window_bound(i: int) -> tuple[float, float]:
    """k = ⌈(n - 1)/(w - 1)⌉ = 4 layers of a window of two reach all of five tokens."""
    epsilon, k = least(WINDOW, np.tri(5, dtype=bool) & ~np.tri(5, k=-2, dtype=bool)), 4
    share = float(powers(WINDOW)[-1][:, i + 1].max())
    rest = 1 - (i + 1) * epsilon**k
    return share ** (2 * k) * rest**k, rest ** (len(WINDOW) - 1)


def falling(T: float, sigma: float) -> float:
    return float(np.exp(-sigma * np.sqrt(T / (T - 1))))


#: A claim, its arrays, and (where they are computed again) left and right of each relation.
PRINTED: dict[str, tuple[dict[str, Any], Callable[[], list[tuple[float | None, float | None]]]]] = {
    "kim2021:3.2": ({"Z": Z}, lambda: [(None, np.sqrt(5) * (4 * inverse_phi(4) + 1))]),
    "own:l2-lipschitz": (
        {"Z": Z},
        lambda: [
            (
                None,
                5**0.25
                + 2 * inverse_phi(4)
                + 2 * np.sqrt(inverse_phi(4) * min(4 * inverse_phi(1), np.sqrt(5) * np.log(5) / 2)),
            )
        ],
    ),
    "own:received": ({"Z": Z}, lambda: [(None, np.sqrt(5))]),
    "geshkovski2023:step": ({"C": C, "beta": 0.5}, lambda: [(0.5 / (2 * 3 * np.exp(1)), None)]),
    "velickovic2024:2.2": (
        {"c": LOGITS},
        lambda: [
            (np.exp(2) / np.exp(LOGITS).sum(), np.exp(3) / 4),
            (np.exp(-3) / 4, np.exp(-1) / np.exp(LOGITS).sum()),
        ],
    ),
    "wu2025:4.1": (
        {"P": LAYERS},
        lambda: [
            (float(powers(LAYERS)[-1][:, i + 1].max()), (1 - (i + 1) * least(LAYERS, np.tri(4, dtype=bool))) ** 4)
            for i in range(3)
        ],
    ),
    "wu2025:4.2": ({"P": WINDOW, "w": 2}, lambda: [window_bound(i) for i in range(4)]),
    "wu2025:4.3": (
        {"P": PREFIX, "prefix": 2},
        lambda: [
            (
                float(powers(PREFIX)[-1][:, 2 + i].max()),
                max(0, 1 - (i + 1) * least(PREFIX, np.tri(5, dtype=bool) | (np.arange(5) < 2))) ** 3,
            )
            for i in range(3)
        ],
    ),
    "wu2025:4.4": ({"E": DECAY, "a": Fraction(1, 2)}, lambda: [(None, 8 / 1.5)]),
    "own:entropy-order": (
        {"T": 7.0, "sigma": 3.0, "c": 1.0},
        lambda: [
            (3 * np.sqrt(42) * falling(7, 3) / (1 + 6 * falling(7, 3)), None),
            (None, 6 * falling(7, 3) * (1 + 3 * np.sqrt(7 / 6))),
        ],
    ),
    "folk:entropy-order": ({"T": 7.0, "sigma": 3.0, "c": 0.5}, lambda: [(0.5 * 21 * np.exp(-3), None)]),
    "shi2022:layernorm": (
        {"Y": Y},
        lambda: [(None, np.linalg.norm(Y - Y.mean(axis=0)) / np.linalg.norm(Y, axis=1).min())],
    ),
}


@pytest.mark.parametrize("key", PRINTED)
def test_both_sides_are_as_printed(key: str) -> None:
    arrays, again = PRINTED[key]
    instance = ArrayInstance({name: np.asarray(array) for name, array in arrays.items()})
    sides = statement(key).evaluate(Float64(np.zeros(1)), instance).sides
    for side, wanted in zip(sides, again(), strict=False):
        for found, number in zip((side.left, side.right), wanted, strict=True):
            if number is not None:
                value = float(np.ravel(found.floats())[0]) if isinstance(found, Signed) else float(found)
                assert value == pytest.approx(float(number), rel=1e-9), side.formula
