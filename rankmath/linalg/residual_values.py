"""Values of residuals over a batch, without linear programs where a closed form exists.

In the norm of largest column sums the medians of the columns minimise. In the norm of largest row sums

    min_x max_i ‖X_i − x‖₁ = max Σ_s λ_s max_i ⟨s, X_i⟩   over weights λ ≥ 0 on signs s ∈ {±1}^d, Σλ_s = 1,
    Σλ_s s = 0,

and the weights that matter are the vertices of that polytope, which are few for d ≤ 4.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Up to this dimension the vertices are written out.
MOST_DIMENSIONS = 4


def residual_one(R: Floats) -> Floats:
    """min_x of the largest column sum of |R − 1xᵀ|, (..., n, d) -> (...).

    >>> float(residual_one(np.array([[0.0, 0.0], [4.0, 2.0], [5.0, 7.0]])))
    7.0
    """
    middle = np.sort(R, axis=-2)[..., R.shape[-2] // 2, :]
    return np.asarray(np.abs(R - middle[..., None, :]).sum(axis=-2).max(axis=-1))


def residual_inf(R: Floats) -> Floats:
    """min_x of the largest row sum of |R − 1xᵀ|, (..., n, d) -> (...), for d ≤ 4.

    >>> float(residual_inf(np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])))
    3.0
    """
    signs, weights = _vertices(R.shape[-1])
    # About the first row: nearly equal tokens keep their digits.
    reach = ((R - R[..., :1, :]) @ signs.T).max(axis=-2)
    return np.asarray(np.maximum((reach @ weights.T).max(axis=-1), 0.0))


@cache
def _vertices(d: int) -> tuple[Floats, Floats]:
    """The signs {±1}^d and the vertices of {λ ≥ 0, Σλ = 1, Σλ_s s = 0}, one a row.

    For d ≤ 4 they are multiples of 1/12: determinants of k × k signs are 2^(k−1) m with m ≤ 1, 1, 1, 2, 3 (k ≤ 5).
    Whole numbers are tested, so that no processor rounds otherwise.
    """
    signs = np.asarray(list(product((1.0, -1.0), repeat=d)))
    found: dict[tuple[int, ...], Floats] = {}
    system = np.vstack([signs.T, np.ones(len(signs))])
    wanted = np.append(np.zeros(d), 12.0)
    for size in range(2, d + 2):
        for chosen in combinations(range(len(signs)), size):
            part = system[:, chosen]
            if np.linalg.matrix_rank(part) < size:
                continue
            twelfths = np.rint(np.linalg.lstsq(part, wanted, rcond=None)[0])
            if twelfths.min() > 0 and np.array_equal(part @ twelfths, wanted):
                row = np.zeros(len(signs))
                row[list(chosen)] = twelfths / 12
                found[chosen] = row
    return signs, np.stack(list(found.values()))


def residual_above(R: Floats, norm: str) -> Floats:
    """An upper bound of min_x ‖R − 1xᵀ‖ in the norm "inf" or "composite", from a few centers; for searches, not for
    verdicts."""
    n = R.shape[-2]
    ordered = np.sort(R, axis=-2)
    median, mean = ordered[..., n // 2, :], R.mean(axis=-2)
    middle = (ordered[..., 0, :] + ordered[..., -1, :]) / 2
    centers = [
        median,
        mean,
        middle,
        (median + middle) / 2,
        (median + mean) / 2,
        *(R[..., i, :] for i in range(min(n, 8))),
    ]
    best = np.full(R.shape[:-2], np.inf)
    for center in centers:
        distance = np.abs(R - center[..., None, :])
        rows = distance.sum(axis=-1).max(axis=-1)
        size = rows if norm == "inf" else np.sqrt(rows * distance.sum(axis=-2).max(axis=-1))
        best = np.minimum(best, size)
    return np.asarray(best)
