"""The two sides the checker states are the statement's: a wrong constant shows even where the bound is loose.

Recomputed here in float64 with NumPy, from the definitions; the checker states six digits.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, certify_composite_decay, certify_diameter, certify_residual_inf
from rankmath.checker.checker import CheckResult
from rankmath.linalg.residuals import residual

SIX_DIGITS = 1e-5
_SIDES = re.compile(r"left side in \[([^,]+), ([^\]]+)\], right side in \[([^,]+), ([^\]]+)\]")


def stated(result: CheckResult) -> tuple[float, float]:
    """The upper end of the left side and the lower end of the right side: what `holds` rests on."""
    assert result.accepted, result.reason
    match = _SIDES.search(result.checked[-1])
    assert match is not None, result.checked[-1]
    return float(match[2]), float(match[3])


def draw(seed: int, *, heads: int, layers: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n, d = 4, 2
    return {
        "X": rng.normal(size=(n, d)) * 0.4 + rng.normal(size=d),
        "W_QK": rng.uniform(-1, 1, (layers, heads, d, d)),
        "W": rng.uniform(-1, 1, (layers, heads, d, d)),
        "key_bias": rng.normal(size=(layers, heads, d)),
        "bias": rng.normal(size=(layers, d)),
        "d_qk": 3.0,
    }


def softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def tokens(net: dict[str, Any]) -> list[Any]:
    every = [net["X"]]
    for W_QK, W, k, b in zip(net["W_QK"], net["W"], net["key_bias"], net["bias"], strict=True):
        X = every[-1]
        P = softmax((X @ W_QK @ X.T + (X @ k[..., None]).swapaxes(-1, -2)) / net["d_qk"] ** 0.5)
        every.append((P @ X @ W).sum(axis=0) + b)
    return every


def cubic(c: float, start: float, L: int) -> float:
    return float(c ** ((3**L - 1) // 2) * start ** (3**L))


def norms(net: dict[str, Any], norm: str) -> tuple[Any, Any]:
    W, M = net["W"], net["W_QK"]
    if norm == "l1":
        return abs(W).sum(axis=-1).max(axis=-1), abs(M).max(axis=(-2, -1))
    if norm == "l2":
        return np.linalg.norm(W, 2, axis=(-2, -1)), np.linalg.norm(M, 2, axis=(-2, -1))
    signs = np.array(list(product((-1, 1), repeat=M.shape[-1])))
    return abs(W).sum(axis=-2).max(axis=-1), (signs @ M @ signs.T).max(axis=(-2, -1))


@pytest.mark.parametrize("form", ["tanh", "cubic"])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize(("heads", "layers"), [(1, 1), (2, 1), (3, 2)])
def test_both_sides_of_the_diameter_bounds(norm: Any, form: Any, heads: int, layers: int) -> None:
    net = draw(heads + layers, heads=heads, layers=layers)
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    X, *_, Y = tokens(net)
    start, left = (np.linalg.norm(Z[:, None] - Z[None], order, axis=-1).max() for Z in (X, Y))
    N, M = norms(net, norm)
    root = net["d_qk"] ** 0.5
    right = start
    for N_l, M_l in zip(N, M, strict=True):
        right = right * (N_l * np.tanh(M_l * right**2 / (4 * root))).sum()
    if form == "cubic":
        right = cubic((N * M).sum(axis=1).max() / (4 * root), start, layers)
    result = certify_diameter(Instance(**net), norm=norm, form=form, decided=True).check()
    assert stated(result) == pytest.approx((left, right), rel=SIX_DIGITS)


@pytest.mark.parametrize(("heads", "layers"), [(1, 1), (2, 1), (2, 2)])
def test_both_sides_of_the_inf_residual_bound(heads: int, layers: int) -> None:
    net = draw(10 * heads + layers, heads=heads, layers=layers)
    X, *_, Y = tokens(net)
    c = (abs(net["W_QK"]).max(axis=(-2, -1)) * abs(net["W"]).sum(axis=-1).max(axis=-1)).sum(axis=1).max()
    right = cubic(c / net["d_qk"] ** 0.5, residual(X, "inf").value, layers)
    result = certify_residual_inf(Instance(**net), decided=True).check()
    assert stated(result) == pytest.approx((residual(Y, "inf").value, right), rel=SIX_DIGITS)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_both_sides_of_the_2023_bound_with_one_head(seed: int, layers: int) -> None:
    net = draw(100 + seed, heads=1, layers=layers)
    *every, Y = tokens(net)
    root, gammas = net["d_qk"] ** 0.5, []
    for X, W_QK, k in zip(every, net["W_QK"][:, 0], net["key_bias"][:, 0], strict=True):
        x = residual(X, "composite").center
        R = X - x
        D = np.ptp(R @ W_QK @ R.T / root, axis=1)
        q = softmax(R @ (W_QK.T @ x + k) / root)
        gammas.append((D.sum() * q.max() / D.max()) ** 0.5)
    one, inf = abs(net["W"]).sum(axis=-2).max(axis=-1), abs(net["W"]).sum(axis=-1).max(axis=-1)
    beta = (abs(net["W_QK"]).sum(axis=-2).max(axis=-1) * (one * inf) ** 0.5).max()
    right = cubic(4 * max(gammas) * beta / root, residual(every[0], "composite").value, layers)
    result = certify_composite_decay(Instance(**net), statement="dong2021:2.2", decided=True).check()
    assert stated(result) == pytest.approx((residual(Y, "composite").value, right), rel=SIX_DIGITS)


@pytest.mark.parametrize("seed", range(5))
def test_both_sides_of_the_total_variation_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, g = rng.integers(1, 30, 4), rng.normal(size=4)
    q, p = weights / weights.sum(), softmax(np.log(weights) + g)
    result = Certificate("own:tv", "holds", {"weights": weights, "g": g}).check()
    assert stated(result) == pytest.approx((abs(p - q).sum() / 2, np.tanh(np.ptp(g) / 4)), rel=SIX_DIGITS)
