"""The largest distance of two of many rows against all distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from rankmath.arithmetic import distances
from rankmath.arithmetic.float64 import Float64
from rankmath.kernels import compiled


def rows(kind, n, d):
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    if kind == "outlier":
        X[n // 2] *= 30.0
    if kind == "sphere":  # any two may be the farthest
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    if kind == "few":  # many pairs are equally far apart: more than single precision can tell apart
        X = X[rng.integers(0, min(3, n), n)]
    if kind == "line":
        X = np.outer(rng.random(n), X[0])
    if kind == "nearly":  # pairs that single precision cannot tell apart
        X = X[rng.integers(0, min(3, n), n)] * (1 + 1e-9 * rng.random((n, 1)))
    X -= X.mean(axis=0)
    return X / np.abs(X).max()


@pytest.mark.parametrize("kernel", ["compiled", "products"])
@pytest.mark.parametrize("kind", ["gaussian", "outlier", "sphere", "few", "line", "nearly"])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (64, 16), (255, 3), (256, 130), (300, 1), (700, 40), (1025, 9)])
def test_the_farthest_pair(kernel, kind, n, d, monkeypatch):
    if kernel == "products" or compiled.kernel() is None:
        monkeypatch.setattr(compiled, "kernel", lambda: None)
    R = rows(kind, n, d)
    found = distances.square_diameter(Float64(R), R, np.sum(R * R, axis=1, keepdims=True))
    assert np.sqrt(found) == pytest.approx(pdist(R).max(), rel=1e-14)


def test_rows_that_are_all_equal():
    assert distances.square_diameter(Float64(np.zeros((80, 3))), np.zeros((80, 3)), np.zeros((80, 1))) == 0.0


@pytest.mark.parametrize("n", [70, 300])
def test_rows_that_are_part_of_longer_ones(n):
    R = rows("gaussian", n, 12)[:, 3:10]
    R = R - R.mean(axis=0)
    wide = np.concatenate([R, np.full((n, 5), 7.0)], axis=1)[:, :7]
    found = distances.square_diameter(Float64(R), wide, np.sum(R * R, axis=1, keepdims=True))
    assert np.sqrt(found) == pytest.approx(pdist(R).max(), rel=1e-14)


def test_a_short_row_far_from_a_long_one_is_looked_at():
    """The longest row is not of the farthest pair, and the first guesses do not find it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        R = rng.standard_normal((90, 5)) * rng.random((90, 1))
        R -= R.mean(axis=0)
        found = distances.square_diameter(Float64(R), R, np.sum(R * R, axis=1, keepdims=True))
        assert np.sqrt(found) == pytest.approx(pdist(R).max(), rel=1e-14)
