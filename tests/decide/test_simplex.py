"""The simplex goes SciPy's way, whether it asks ahead or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from rankmath.decide.simplex import least
from rankmath.validation import Floats


@pytest.mark.parametrize("most", [3, 10, 11, 60, 250])
@pytest.mark.parametrize("dimension", [1, 2, 5, 12])
@pytest.mark.parametrize("kind", ["smooth", "edges", "ties"])
def test_the_way_is_that_of_scipy(dimension: int, most: int, kind: str) -> None:
    rng = np.random.default_rng([dimension, most])
    A, origin = rng.standard_normal((dimension, dimension)), rng.standard_normal(dimension)
    simplex = origin + np.vstack([np.zeros(dimension), np.diag(0.05 * np.abs(origin) + 0.01)])

    def height(x: Floats) -> float:
        away = A @ x - 1
        return float({"smooth": away @ away, "edges": np.abs(away).max(), "ties": np.floor(3 * away @ away)}[kind])

    asked: list[int] = []

    def heights(points: Floats) -> Floats:
        asked.append(len(points))
        return np.asarray([height(x) for x in points])

    options = {"maxfev": most, "initial_simplex": simplex, "adaptive": True}
    known = minimize(height, origin, method="Nelder-Mead", options=options)
    assert np.array_equal(least(heights, simplex.copy(), most), known.x)
    assert set(asked[1:]) <= {4, *range(1, dimension + 1)}
    asked.clear()
    assert np.array_equal(least(heights, simplex.copy(), most, ahead=False), known.x)
    assert sum(asked) == min(known.nfev, most)
