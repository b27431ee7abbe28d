"""The farthest pair by floats first against all pairs in doubles, for the registers of several machines."""

from __future__ import annotations

import numpy as np
import pytest

from rankmath.attention.alone import LIMITS
from rankmath.kernels import compiled, compiled_layer
from rankmath.kernels.compiled_network import LayerPlan, source

binding = pytest.importorskip("llvmlite.binding", reason="the compiled kernel needs llvmlite (extra 'fast')")
HERE = compiled.kernel()
if HERE is None:
    pytest.skip("this processor has no fused multiply-add", allow_module_level=True)


@pytest.fixture(params=[(8, 6, 4), (4, 6, 2), (2, 6, 4)], ids=str)
def kernel(request, monkeypatch):
    monkeypatch.setattr(compiled_layer, "_MANY", 1)
    return compiled.Kernel(compiled.Shape(*request.param), HERE._features)


def tokens(kernel, n, d, seed=0):
    d += -d % kernel.shape.lanes
    R = np.random.default_rng(seed).standard_normal((n, d))
    R -= R.mean(axis=0)
    return R / abs(R).max()


def by_all_pairs(R):
    """max |R_i − R_j|² from differences."""
    return max(float(np.sum((R - row) ** 2, axis=1).max()) for row in R)


def measure(plan, R):
    """Σ|R_i|², max |R_i − R_j|² and |x|² of a run of no layers, x the ones."""
    made = plan.run(np.ones((1, R.shape[1])), R, (0.0,) * 4, (), np.empty((0, 3)), LIMITS, measure=True)
    return (made.log[0, 0, 4:] ** 2).tolist()


def measured(kernel, R):
    return measure(LayerPlan(kernel, *R.shape, 1, 1), R)


def chosen(kernel, R):
    """The largest square that is found, or −1, and the largest of each row by floats."""
    (call,) = kernel.compiled_all(source(kernel.shape), {"chosen": (2, 5)})
    (n, d), memory, far = R.shape, compiled_layer.Memory(kernel.shape, *R.shape), np.zeros(1)
    squares, found = np.sum(R * R, axis=1), np.zeros(n)
    call(n, d, *(a.ctypes.data for a in (R, squares, found)), memory.place, far.ctypes.data)
    return far[0], found


@pytest.mark.parametrize(("n", "d"), [(9, 1), (40, 16), (64, 24), (100, 8), (257, 40), (130, 264)])
@pytest.mark.parametrize("seed", range(3))
def test_floats_find_the_farthest_pair(kernel, n, d, seed):
    R = tokens(kernel, n, d, seed)
    far = by_all_pairs(R)
    assert measured(kernel, R)[1] == pytest.approx(far, rel=1e-14)
    found = chosen(kernel, R)[0]
    assert found == -1.0 or found == pytest.approx(far, rel=1e-14)
    if n >= 40:
        assert found > 0


def test_the_largest_of_each_row_is_within_the_doubt(kernel):
    R = tokens(kernel, 70, 24)
    _, found = chosen(kernel, R)
    gaps = np.sum((R[:, None] - R[None]) ** 2, axis=2)
    doubt = (R.shape[1] + 6) * 2.0**-22 * np.sum(R * R, axis=1).max()
    # Of a row at least those from itself on: tiles begin no later.
    assert (np.array([gaps[i, i:].max() for i in range(70)]) <= found + doubt).all()
    assert (found - doubt <= gaps.max(axis=1)).all()


@pytest.mark.parametrize("kind", ["equal", "one far", "two far", "near", "simplex", "cube", "line"])
def test_tokens_that_floats_tell_badly_apart(kernel, kind):
    d = 2 * kernel.shape.lanes
    n = 2**6 if kind == "cube" else 120
    R = np.zeros((n, d))
    if kind == "near":  # pairs that are equally far apart as floats
        R = 1e-10 * tokens(kernel, n, d)
        R[: n // 2, 0] += 1.0
    if kind in ("one far", "two far"):
        R = 1e-4 * tokens(kernel, n, d)
        R[n // 2] += 1.0
        R[n // 3] -= kind == "two far"
    if kind == "simplex":  # all pairs are equally far apart
        n = d
        R = np.eye(d)
    if kind == "cube":
        R[:, : min(d, 6)] = np.arange(n)[:, None] >> np.arange(min(d, 6)) & 1
    if kind == "line":
        R[:, 0] = np.linspace(-1, 1, n)
    R = R - R.mean(axis=0)
    R /= abs(R).max() or 1.0
    total, far, _ = measured(kernel, R)
    assert far == pytest.approx(by_all_pairs(R), rel=1e-13)
    assert total == pytest.approx(float(np.sum(R * R)), rel=1e-13)


def test_a_second_measurement_knows_nothing_of_the_first(kernel):
    first, second = tokens(kernel, 150, 16), 0.9 * tokens(kernel, 150, 16, seed=1)
    plan = LayerPlan(kernel, *first.shape, 1, 1)
    alone = [measure(plan, R) for R in (second, first)]
    assert [measure(plan, R) for R in (second, first, second)] == [alone[0], alone[1], alone[0]]
