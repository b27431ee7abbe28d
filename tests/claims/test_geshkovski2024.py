"""geshkovski2024: speeds against the flow itself, the sharper bounds against the printed ones, and what follows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.claims.geshkovski2024 import draw_caps, draw_clusters
from rankmath.formula.arrays import ArrayRun
from rankmath.verification.instance import ArrayInstance


def flow(X: np.ndarray, beta: float) -> np.ndarray:
    P = np.exp(beta * (X @ X.T - 1))
    pull = P / P.sum(axis=1, keepdims=True) @ X
    return pull - (pull * X).sum(axis=1, keepdims=True) * X


def sides(key: str, at: ArrayInstance) -> tuple[np.ndarray, np.ndarray]:
    [side] = statement(key).evaluate(Float64(np.zeros(1)), at).sides
    left, right = (np.asarray(one.sign * np.exp(one.log), dtype=float) for one in (side.left, side.right))
    return (left, right) if key.endswith("escape") else (right, left)


def test_the_speeds_are_those_of_the_flow() -> None:
    drawn = draw_caps(np.random.default_rng(3), 40)
    run = ArrayRun(Float64(np.zeros(1)), drawn)
    speeds, falls = run.by_text("pair_speed", ("X", "beta")), run.by_text("cap_fall", ("X", "w", "beta"))
    for i, (X, w, beta) in enumerate(zip(drawn["X"], drawn["w"], drawn["beta"], strict=True)):
        u, pole = X / np.linalg.norm(X, axis=1, keepdims=True), w / np.linalg.norm(w)
        V = flow(u, beta)
        speed = float(speeds.sign[i] * np.exp(speeds.log[i]))
        assert speed == pytest.approx(V[0] @ u[1] + u[0] @ V[1], rel=1e-9, abs=1e-14)
        assert float(falls.sign[i] * np.exp(falls.log[i])) == pytest.approx(-V[0] @ pole, rel=1e-9, abs=1e-14)


def test_the_sharper_bounds_imply_the_printed_ones() -> None:
    """For any speed: the sharper lower bound of the pair is not less, that of the fall not more."""
    for seed in range(3):
        at = draw_clusters(np.random.default_rng(seed), 100)
        speed = ArrayRun(Float64(np.zeros(1)), at).by_text("pair_speed", ("X", "beta"))
        (mine, needed), (printed, asked) = (sides(f"{name}:cluster", at) for name in ("own", "geshkovski2024"))
        value = np.asarray(speed.sign * np.exp(speed.log), dtype=float)
        assert (needed - (mine - value) >= asked - (printed - value) - 1e-13).all()
        at = draw_caps(np.random.default_rng(seed), 100)
        assert (sides("own:escape", at)[1] <= sides("geshkovski2024:escape", at)[1]).all()


def test_two_clusters_close_for_good_long_before_they_leave_their_caps() -> None:
    """Runge-Kutta steps: squared distances fall below 16 eps e^(-3 g t), far beyond e^(-(1 - alpha) beta)."""
    eps, beta, n = 1 / 1000, 16.0, 4
    small = math.acos(1 - eps)
    # w = ±e_0: two points of the larger caps have at most the cosine of pi - 2 arccos(1 - 2 eps).
    alpha = math.cos(math.pi - 2 * math.acos(1 - 2 * eps))
    rate = math.exp(-8 * eps * beta) / n - n * (1 + beta) * math.exp(-(1 - alpha) * beta)
    angles = np.asarray([small, -small, math.pi + small, math.pi - small / 2])
    X, step = np.stack([np.cos(angles), np.sin(angles)], axis=1), 0.25
    for k in range(1, 121):
        v1 = flow(X, beta)
        v2 = flow(X + step / 2 * v1, beta)
        v3 = flow(X + step / 2 * v2, beta)
        X = X + step / 6 * (v1 + 2 * v2 + 2 * v3 + flow(X + step * v3, beta))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        apart = max(((X[0] - X[1]) ** 2).sum(), ((X[2] - X[3]) ** 2).sum())
        assert apart <= 16 * eps * math.exp(-3 * rate * k * step)
    assert apart < 1e-4 * 2 * math.exp(-(1 - alpha) * beta)
    assert k * step < eps / n * math.exp((1 - alpha) * beta)
