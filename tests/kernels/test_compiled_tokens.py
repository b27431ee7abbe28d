"""Tokens centred and measured by the compiled functions, against `centre` and exact sums, for several registers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.alone import LIMITS, centre_on_cpu
from rankmath.attention.tokens import centre
from rankmath.kernels import compiled
from rankmath.kernels.compiled_network import LayerPlan

binding = pytest.importorskip("llvmlite.binding", reason="the compiled functions need llvmlite (extra 'fast')")


@pytest.fixture(scope="module", params=[(8, 6, 4), (4, 6, 2), (2, 6, 4)], ids=str)
def kernel(request):
    return compiled.Kernel(compiled.Shape(*request.param), binding.get_host_cpu_features().flatten())


def drawn(n, d, seed, mean=1.0, size=1.0):
    rng = np.random.default_rng(seed)
    return mean * rng.standard_normal(d) + size * rng.standard_normal((n, d))


@pytest.mark.parametrize(("n", "d"), [(1, 8), (7, 8), (32, 16), (33, 40), (70, 24)])
def test_squares_and_the_farthest_pair_are_those_of_exact_sums(kernel, n, d):
    R, x = drawn(n, d, n), drawn(1, d, d)
    R -= R.mean(axis=0)
    run = LayerPlan(kernel, n, d, 1, 1).run(x, R, (0.0,) * 4, (), np.empty((0, 3)), LIMITS, measure=True)
    total, far, of_mean = (run.log[0, 0, 4:] ** 2).tolist()
    rows = [[Fraction(a) for a in row] for row in R.tolist()]
    exact = sum(a * a for row in rows for a in row)
    gap = max(sum((a - b) ** 2 for a, b in zip(u, v, strict=True)) for u in rows for v in rows)
    assert abs(total - exact) <= exact * 2.0**-50
    assert abs(far - gap) <= 4 * max(sum(a * a for a in row) for row in rows) * d * 2.0**-52
    assert of_mean == pytest.approx(float(sum(Fraction(a) ** 2 for a in x[0].tolist())), rel=1e-15)


@pytest.mark.parametrize(("mean", "size"), [(1.0, 1.0), (1e8, 1e-6), (1e-3, 1e5), (0.0, 1e-40)])
def test_compiled_centring_is_centring_to_the_last_digit(kernel, mean, size, monkeypatch):
    """The same sums in the same order."""
    X = drawn(67, 16, 3, mean, size)
    A = Float64(X)
    monkeypatch.setattr(compiled, "kernel", lambda: kernel)
    found, expected = centre_on_cpu(A, X), centre(A, X)
    for name in ("center", "residual", "log_center", "lost_bits"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.log_residual.mantissa == expected.log_residual.mantissa
    assert found.log_residual.exponent == 0


@pytest.mark.parametrize("size", [1e70, 1e-70])
def test_what_is_far_from_size_one_or_equal_is_centred_as_everywhere(size):
    X = drawn(67, 16, 3)
    for wild in (size * X, np.ones_like(X), X - X):
        assert centre_on_cpu(Float64(X), wild) is None
