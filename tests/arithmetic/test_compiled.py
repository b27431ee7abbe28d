"""The compiled kernel against many digits and against its twin in NumPy, for the registers of several machines."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic import compiled
from rankmath.arithmetic.float64 import Float64
from rankmath.attention.close import by_expm1

binding = pytest.importorskip("llvmlite.binding", reason="the compiled kernel needs llvmlite (extra 'fast')")

# Wide, medium and narrow vector registers: all run on any machine with fused multiply-add.
SHAPES = [(8, 6, 4), (4, 6, 2), (2, 6, 4), (2, 1, 1)]
SIZES = [(1, 1, 1, 1), (7, 5, 3, 2), (6, 32, 4, 32), (100, 33, 17, 65), (13, 300, 64, 1), (64, 64, 8, 9)]


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def kernel(request):
    return compiled.Kernel(compiled.Shape(*request.param), binding.get_host_cpu_features().flatten())


def drawn(n, m, k, v, size):
    rng = np.random.default_rng(n + m + k + v)
    q = rng.random((m, 1))
    left, right, values = rng.standard_normal((n, k)), rng.standard_normal((m, k)), rng.standard_normal((m, v))
    return left * size / k, right, q / q.sum(), values


def averages(kernel, left, right, q, values, parts=1):
    out, tasks = compiled.fused_deviation(kernel, left, right, q, values, parts)
    for task in tasks:
        task()
    return out


@pytest.mark.parametrize("size", [1e-12, 0.3, 30.0])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_kernel_is_its_twin(kernel, sizes, size):
    left, right, q, values = drawn(*sizes, size)
    expected = by_expm1(Float64(left), left, right, q, values)
    m = np.abs(np.expm1(left @ right.T))
    # Rounding of sums: relative to the sum of absolute values, and to the logits.
    scale = (m * (1 + np.abs(left) @ np.abs(right).T)) @ (q * np.abs(values)) / (1 + np.expm1(left @ right.T) @ q)
    for parts in (1, 3):
        found = averages(kernel, left, right, q, values, parts)
        assert found.shape == expected.shape
        assert (np.abs(found - expected) <= 1e-14 * (scale + np.abs(expected))).all()


@pytest.mark.parametrize("x", [0.0, 1e-300, -1e-20, 1e-9, -0.3465, 0.3466, 0.347, -1.0, 20.5, -40.0, 600.0, -600.0])
def test_expm1_to_the_last_bits(kernel, x):
    """Two keys of weight 1/2, one with logit zero and value zero: m/(2 + m)."""
    keys, weights, values = np.asarray([[0.0], [1.0]]), np.full((2, 1), 0.5), np.asarray([[0.0], [1.0]])
    found = averages(kernel, np.asarray([[x]]), keys, weights, values)[0, 0]
    with mpmath.workdps(40):
        exact = mpmath.expm1(x) / (2 + mpmath.expm1(x))
        assert abs(found - exact) <= 6e-16 * abs(exact)


def networks():
    return [
        rm.Network.random(160, 16, 2, 3, seed=0, biases=True),
        rm.Network.random(150, 20, 1, 2, seed=1, head_dim=17, skip=0.5),
        rm.Network.random(130, 33, 3, 2, seed=2, mask="prefix:130"),
    ]


@pytest.mark.parametrize("net", networks(), ids=str)
@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_traces_with_and_without_the_kernel(net, scale, monkeypatch):
    X = net.random_input(seed=3, scale=scale)
    calls = []
    original = compiled.fused_deviation
    monkeypatch.setattr(compiled, "fused_deviation", lambda *given: calls.append(1) or original(*given))
    fast = rm.trace(net, X)
    assert calls
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    pure = rm.trace(net, X)
    np.testing.assert_allclose(fast.log_residual, pure.log_residual, rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(fast.log_diameter, pure.log_diameter, rtol=1e-13, atol=1e-12)


@pytest.fixture
def always(monkeypatch):
    """The kernel for small networks as well."""
    for name in ("_COMPILED_ENTRIES", "_COMPILED_WIDTH"):
        monkeypatch.setattr(f"rankmath.arithmetic.float64.{name}", 1)


@pytest.mark.usefixtures("always")
def test_the_kernel_agrees_with_balls():
    for seed in range(4):
        net = rm.Network.random(9, 5, 2, 3, seed=seed, biases=True)
        X = net.random_input(seed=seed)
        balls = rm.trace(net, X, arithmetic="balls")
        np.testing.assert_allclose(rm.trace(net, X).log_residual, balls.log_residual, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
def test_a_batch_goes_matrix_by_matrix():
    nets = [rm.Network.random(9, 5, 2, 2, seed=s) for s in range(3)]
    stack, X = rm.Network.stack(nets), np.stack([net.random_input(seed=7) for net in nets])
    alone = np.stack([rm.trace(net, x).log_residual for net, x in zip(nets, X, strict=True)], axis=-1)
    np.testing.assert_allclose(rm.trace(stack, X).log_residual, alone, rtol=1e-13)
