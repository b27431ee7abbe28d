"""The constants of one layer in the composite norm: 4γ and C(δ)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from rankmath.claims import bound
from rankmath.symbolic import derivations
from rankmath.symbolic.composite import exponential_mean, gamma_constant, prove_gamma_constant
from rankmath.symbolic.letters import beta, d_qk, delta, gamma
from rankmath.symbolic.proof import NotProved

NEAR = sp.Rational(99, 100)


def test_the_constant_of_2023_is_four_gamma():
    assert gamma_constant() == 4 * gamma * beta / sp.sqrt(d_qk)
    assert prove_gamma_constant(gamma_constant()).proved
    for broken in (NEAR * gamma_constant(), gamma_constant() / gamma, gamma_constant() * sp.sqrt(d_qk)):
        with pytest.raises(NotProved, match="oscillation"):
            prove_gamma_constant(broken)


def test_the_printed_beta_does_not_cover_two_heads():
    # Tokens ±e_1, W_QK = x e_1e_1ᵀ, W_1 = e_1e_1ᵀ, W_2 = e_1 1ᵀ/m of width m²: each |W_h|_{1,inf} is 1, so the
    # printed beta is x; D_ii = 2x is small, gamma = sqrt(2 · 1/2) = 1. The output is ± tanh(x) e_1ᵀ(W_1 + W_2).
    x, m = 1 / 16, 256
    rows, columns = (1 + 1 / m) + (m**2 - 1) / m, 2 * (1 + 1 / m)
    measured = np.log(np.tanh(x)) + 0.5 * np.log(rows * columns)
    values = {"L": 1, "gamma_star": 1, "d_qk": 1, "residual": np.sqrt(2)}
    assert measured > bound("dong2021:2.3-printed").evaluate(beta=x, H=2, **values) + 1e-3
    # The B of the repaired form sums the 1-norms, 1 + 1/m, and the infinity-norms, 1 + m, over heads.
    assert measured < bound("dong2021:2.3").evaluate(B=x * np.sqrt((1 + 1 / m) * (1 + m)), **values)


@pytest.mark.parametrize("value", [sp.Rational(1, k) for k in (100, 2, 1)])
def test_one_head_has_the_better_constant(value):
    # √2 A(δ/2) against √(2A(δ)), whose ratio is √(tanh(δ/4)/(δ/4)); both tend to √2 at δ = 0.
    refined = sp.sqrt(2 * exponential_mean(delta)).subs(delta, value).evalf(30)
    single = (sp.sqrt(2) * exponential_mean(delta / 2)).subs(delta, value).evalf(30)
    assert sp.sqrt(2) < single < refined
    tau = sp.tanh(delta / 4) / (delta / 4)
    assert abs((single / refined) ** 2 - tau.subs(delta, value).evalf(30)) < sp.Float("1e-25")


def test_the_constants_are_not_interchangeable():
    one_head = bound("own:gamma-free-one-head").expression
    looser = sp.sqrt(2 * exponential_mean(delta)) / (sp.sqrt(2) * exponential_mean(delta / 2))
    with pytest.raises(NotProved, match="columns times rows"):
        derivations.gamma_free_one_head(one_head * looser)


def _layer(rng, *, heads):
    """A random layer about a random center: Q R W, and what O3 asks for."""
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    R = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 0.3)
    shared = float(d)
    out, values = np.zeros((n, d)), {"q": [], "W_QK": [], "W_one": [], "W_inf": []}
    largest = 0.0
    for _ in range(heads):
        A, W, c = rng.normal(size=(d, d)), rng.normal(size=(d, d)), rng.normal(size=n) * 3
        E = R @ A @ R.T / np.sqrt(shared)
        q = np.exp(c - c.max())
        q /= q.sum()
        P = q * np.exp(E - E.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        out += (P - q) @ R @ W
        largest = max(largest, float(np.ptp(E, axis=1).max()))
        for name, value in (("q", q.max()), ("W_QK", one(A)), ("W_one", one(W)), ("W_inf", inf(W))):
            values[name].append(float(value))
    return out, values | {"delta": largest, "residual": float(np.sqrt(one(R) * inf(R))), "d_qk": d}


def one(A):
    return np.abs(A).sum(axis=0).max()


def inf(A):
    return np.abs(A).sum(axis=1).max()


@pytest.mark.parametrize("seed", range(40))
def test_o3_bounds_random_layers(seed):
    rng = np.random.default_rng(seed)
    out, values = _layer(rng, heads=int(rng.integers(1, 4)))
    measured = 0.5 * np.log(one(out) * inf(out))
    assert measured <= bound("own:gamma-free").evaluate(**_summed(values)) + 1e-12
    out, values = _layer(rng, heads=1)
    measured = 0.5 * np.log(one(out) * inf(out))
    single = {name: value[0] if isinstance(value, list) else value for name, value in values.items()}
    single["norm_W_composite"] = float(np.sqrt(single.pop("W_one") * single.pop("W_inf")))
    single |= {"q_max": single.pop("q"), "norm_W_QK_1": single.pop("W_QK")}
    tight = bound("own:gamma-free-one-head").evaluate(**single)
    assert measured <= tight + 1e-12
    assert tight <= bound("own:gamma-free").evaluate(**_summed(values)) + 1e-12


def _summed(values):
    """The sums over heads that the bound is made of."""
    q, W_QK, W_one, W_inf = (np.asarray(values[name]) for name in ("q", "W_QK", "W_one", "W_inf"))
    rest = {name: values[name] for name in ("delta", "residual", "d_qk")}
    return {"columns": float((q * W_QK * W_one).sum()), "rows": float((W_QK * W_inf).sum()), **rest}
