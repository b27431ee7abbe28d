"""The parts of the centred pass by themselves, against fifty digits: divided differences and deviations."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.attention import views
from rankmath.attention.activations import activation_difference


def defined(activation: str, x: Any) -> Any:
    if activation == "relu":
        return max(x, mpmath.mpf(0))
    if activation == "tanh":
        return mpmath.tanh(x)
    if activation == "gelu":
        return x * mpmath.ncdf(x)
    a, b = {
        "gelu_tanh": (mpmath.sqrt(2 / mpmath.pi), mpmath.sqrt(2 / mpmath.pi) * mpmath.mpf("0.044715")),
        "silu": (mpmath.mpf("0.5"), 0),
        "quick_gelu": (mpmath.mpf("0.851"), 0),
    }[activation]
    return x * (1 + mpmath.tanh(a * x + b * x**3)) / 2


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu", "gelu_tanh", "silu", "quick_gelu"])
@pytest.mark.parametrize("s", [1.0, 0.25, 1e-9, 1e-200])
def test_divided_differences_of_activations(activation: str, s: float) -> None:
    """(f(u + s t) − f(u))/s at zero and on both sides of it, with and without a change of sign."""
    places = [0.0, 1e-12, -1e-12, 0.5, -0.5, 2.0, -2.0, 6.0, -6.0]
    steps = [0.0, 1.0, -1.0, 1e-8, -1e-8, 3.0, -3.0, 0.05, -0.05]
    u, t = (a.ravel()[None, :] for a in np.meshgrid(places, steps))
    found = activation_difference(Float64(u), activation, u, t, np.asarray([[s]]))
    with mpmath.workdps(450):
        for x, step, value in zip(u[0].tolist(), t[0].tolist(), np.asarray(found)[0].tolist(), strict=True):
            size = mpmath.mpf(s)
            true = (defined(activation, x + size * step) - defined(activation, mpmath.mpf(x))) / size
            assert value == pytest.approx(float(true), rel=1e-10, abs=1e-13 * abs(step)), (x, step)


def exact_deviation(E: Any, log_q: Any, V: Any) -> Any:
    """Σ_j q_j (e^E_ij − 1) v_j / Σ_j q_j e^E_ij."""
    q = [mpmath.exp(x) for x in log_q]
    return [
        [
            sum(q[j] * mpmath.expm1(E[i][j]) * V[j][k] for j in range(len(q)))
            / sum(q[j] * mpmath.exp(E[i][j]) for j in range(len(q)))
            for k in range(len(V[0]))
        ]
        for i in range(len(E))
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("size", "uneven", "ways"),
    [
        (1e-20, 1.0, ("thin", "expm1", "units")),
        (1e-3, 1.0, ("expm1", "units")),
        (2.0, 1.0, ("expm1", "softmax", "units")),
        (30.0, 1.0, ("softmax", "units")),
        (1e-20, 900.0, ("thin units", "units")),
        (0.5, 900.0, ("units",)),
        (40.0, 900.0, ("units",)),
    ],
)
def test_every_way_to_a_deviation(seed: int, size: float, uneven: float, ways: tuple[str, ...]) -> None:
    """Rows whose logits rise and fall; values of q-mean zero, the most attended token's own among them."""
    rng = np.random.default_rng(seed)
    n = 5
    left, right = rng.standard_normal((n, 2)), size * rng.standard_normal((n, 2))
    right[0] = 0  # the most attended token
    c = np.array([0.0, *(-uneven * rng.uniform(0.5, 1.5, n - 1))])
    log_q = (c - np.log(np.exp(c).sum()))[:, None]
    q, V = np.exp(log_q), rng.standard_normal((n, 3))
    V = V - V[:1] if uneven > 100 else V - q.T @ V
    A = Float64(V)
    with mpmath.workdps(50):
        E = (mpmath.matrix(left.tolist()) * mpmath.matrix(right.tolist()).T).tolist()
        true = exact_deviation(E, log_q[:, 0].tolist(), V.tolist())
        for way in ways:
            out, unit = {
                "thin": lambda: views.by_thin_products(A, left, right, q, None, V),
                "thin units": lambda: views.by_thin_products(A, left, right, q, log_q, V),
                "expm1": lambda: (views.by_expm1(A, left, right, q, V), 0.0),
                "softmax": lambda: (views.by_softmax(A, left, right, log_q, V), 0.0),
                "units": lambda: views.with_row_units(A, left, right, log_q, V),
            }[way]()
            scale = mpmath.exp(float(np.asarray(unit).ravel()[0])) if np.size(unit) else mpmath.mpf(1)
            largest = max(abs(x) for row in true for x in row)
            for i in range(n):
                for k in range(3):
                    assert abs(mpmath.mpf(float(out[i, k])) * scale - true[i][k]) < 1e-10 * largest, (way, i, k)


@pytest.mark.parametrize("n", [3, 40, 600, 601])
def test_the_size_of_a_matrix_is_that_of_its_largest_entry_of_either_sign(n: int) -> None:
    a = np.random.default_rng(n).uniform(0.5, 1.0, (n, n))
    for M in (a, -a, np.where(np.eye(n) > 0, -2.0, a)):
        assert float(np.asarray(Float64(M).largest(M)).ravel()[0]) == np.abs(M).max()
        assert float(np.asarray(Float64(M).sizes([M])[0]).ravel()[0]) == np.abs(M).max()
