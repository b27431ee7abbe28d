"""Our gradients are derivatives: finite differences, and complex steps, which have no cancellation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankmath.attention.experiments.gradients import (
    Var,
    as_network,
    attention_layer,
    cross_entropy,
    gelu,
    gradients,
    initial_layers,
    layer_norm,
    mean_square,
    rows,
    softmax,
    train,
    value_and_gradient,
)

RNG = np.random.default_rng(0)
A, B, C = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((4, 4)), RNG.standard_normal((2, 3, 4))
LABELS, INDEX = RNG.integers(0, 4, (2, 3)), np.array([[0, 2], [2, 2]])

OPERATIONS: dict[str, Callable[[Var], Var]] = {
    "add": lambda x: (x + C) + Var(C[0, 0]),
    "subtract": lambda x: Var(C) - x,
    "multiply": lambda x: x * x * Var(C),
    "broadcast": lambda x: Var(np.ones((5, 2, 3, 4))) * x,
    "matmul": lambda x: x @ B,
    "matmul, both": lambda x: x @ x.T,
    "split and join": lambda x: (x.split(2) @ x.split(2).T @ x.split(2)).joined(),
    "softmax": softmax,
    "layer norm": layer_norm,
    "sum": lambda x: x.sum() * x.sum(),
}


def scalar(operation: Callable[[Var], Var]) -> Callable[[Any], Var]:
    """A weighted sum of what the operation makes."""

    def f(value: Any) -> Var:
        out = operation(value if isinstance(value, Var) else Var(value))
        weights = np.cos(np.arange(out.value.size)).reshape(out.value.shape)
        return (out * weights).sum()

    return f


@pytest.mark.parametrize("name", OPERATIONS)
def test_complex_steps(name: str) -> None:
    """f(x + ih) = f(x) + ih f'(x) + O(h²): with h = 1e-30 the imaginary part is the derivative to the last
    digit.
    """
    f = scalar(OPERATIONS[name])
    x = Var(A)
    found = gradients(f(x), [x])[0]
    for place in np.ndindex(A.shape):
        moved = A.astype(complex)
        moved[place] += 1e-30j
        assert found[place] == pytest.approx(float(f(moved).value.imag) / 1e-30, rel=1e-11, abs=1e-13)


def differences(f: Callable[[Any], float], x: Any, h: float = 1e-5) -> Any:
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        out[place] = (f(up) - f(down)) / (2 * h)
    return out


def test_finite_differences_of_losses_tables_and_gelu() -> None:
    cases: dict[str, tuple[Callable[[Var], Var], Any]] = {
        "cross entropy": (lambda x: cross_entropy(x, LABELS), A),
        "mean square": (lambda x: mean_square(x @ B, C), A),
        "gelu": (lambda x: (gelu(x) * Var(C)).sum(), A),
        "rows": (lambda x: (rows(x, INDEX) * rows(x, INDEX)).sum(), B),
    }
    for name, (f, at) in cases.items():
        x = Var(at)
        found = gradients(f(x), [x])[0]
        assert np.abs(found - differences(lambda v, f=f: float(f(Var(v)).value), at)).max() < 1e-8, name


@pytest.mark.parametrize("mlp", [False, True])
def test_finite_differences_of_a_layer(mlp: bool) -> None:
    p = initial_layers(np.random.default_rng(1), dim=4, layers=1, mlp=mlp)
    p = {name: value + 0.1 for name, value in p.items()}
    X = A

    def loss(q: Any) -> Var:
        return mean_square(attention_layer(q, Var(X), 0, heads=2, skip=0.5, mlp=mlp), C)

    _, found = value_and_gradient(loss, p)
    for name, at in p.items():
        numeric = differences(lambda v, name=name: value_and_gradient(loss, p | {name: v})[0], at)
        assert np.abs(found[name] - numeric).max() < 1e-8, name


def test_a_trained_layer_is_the_librarys() -> None:
    import rankmath as rm

    for mlp in (False, True):
        p = initial_layers(np.random.default_rng(2), dim=4, layers=2, mlp=mlp)
        p = {name: value + 0.1 for name, value in p.items()}
        given = {name: Var(value) for name, value in p.items()}
        X = Var(A[0])
        for l in range(2):
            X = attention_layer(given, X, l, heads=2, skip=1.0, mlp=mlp)
        net = as_network(p, layers=2, heads=2, skip=1.0, mlp=mlp)
        assert np.abs(rm.forward(net, A[0]) - X.value).max() < 1e-12


def test_training_finds_a_known_minimum() -> None:
    """Least squares, whose minimum is known exactly."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal((20, 1))
    exact = np.linalg.lstsq(X, y, rcond=None)[0]
    found, loss = train(lambda q: mean_square(Var(X) @ q["w"], y), {"w": np.zeros((3, 1))}, steps=50)
    assert np.abs(found["w"] - exact).max() < 1e-6
    assert loss == pytest.approx(float(((X @ exact - y) ** 2).mean()), rel=1e-10)
