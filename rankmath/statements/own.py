"""The library's own theorems (proofs in proofs/own_*.tex)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankmath.network import Network
from rankmath.statements.draws import ALL_TOKENS, Rng, networks
from rankmath.statements.instance import ArrayInstance, NetworkInstance, network_instance
from rankmath.statements.quantities import (
    Run,
    form_norm,
    induced_norm,
    log,
    log_sum,
    log_tanh_of_exp,
    maximum,
    unbox,
)
from rankmath.statements.statement import Evaluation, Side, Statement
from rankmath.validation import as_array

SMALL = ((2, 1, 1, 1), (2, 2, 1, 1), (3, 2, 2, 1), (5, 3, 1, 2), (6, 4, 2, 2), (8, 3, 1, 3))

# -- O1: total variation of two softmaxes ------------------------------------------------------------------


def tv_instance(c: Any, g: Any) -> ArrayInstance:
    """Logits c of q (so any positive weights) and the tilt g, two vectors of one length."""
    c = as_array("c", c, ndim=1)
    return ArrayInstance({"c": c, "g": as_array("g", g, ndim=1, shape=c.shape)})


def evaluate_tv(A: Any, instance: ArrayInstance, constant: float = 4) -> Evaluation:
    """½‖p − q‖₁ ≤ tanh(osc(g)/4) with p_j ∝ q_j e^{g_j}, q = softmax(c)."""
    c, g = (A.asarray(np.asarray(instance[name])[..., None]) for name in ("c", "g"))
    rows = A.concat([c, g], axis=-1)
    rows = rows - A.row_of_largest(c, rows)
    e = A.exp(rows[..., :1])
    q = e / A.sum(e, axis=-2)
    tilt = rows[..., 1:] - A.sum(q * rows[..., 1:], axis=-2)
    m = A.expm1_of_temporary(tilt + 0)
    mean = A.sum(q * m, axis=-2)
    distance = A.sum(A.abs(q * (m - mean)), axis=-2) / (1 + mean) / 2
    osc = A.max(g, axis=-2) + A.max(-g, axis=-2)
    rhs = log_tanh_of_exp(A, log(A, unbox(osc)) - log(A, A.constant(constant)))
    return Evaluation([Side(log(A, unbox(distance)), rhs)])


def draw_tv(rng: Rng, size: int) -> ArrayInstance:
    n = int(rng.integers(2, 9))
    spread = 10.0 ** rng.uniform(-6, 1.3, (size, 1))
    c = 10.0 ** rng.uniform(-2, 1.3, (size, 1)) * rng.standard_normal((size, n))
    return ArrayInstance({"c": c, "g": spread * rng.standard_normal((size, n))}, "random", is_batch=True)


def draw_two_atoms(rng: Rng, size: int) -> ArrayInstance:
    """Two atoms about the symmetric point, where O1 is an equality."""
    D = 10.0 ** rng.uniform(-5, 1.2, size)
    off = 10.0 ** rng.uniform(-5, -1, size)
    c = np.stack([-D / 2 * (1 + off), np.zeros(size)], axis=-1)
    return ArrayInstance({"c": c, "g": np.stack([D, np.zeros(size)], axis=-1)}, "two atoms", is_batch=True)


# -- O2: sharp diameter collapse ---------------------------------------------------------------------------


def evaluate_diameter(
    A: Any, instance: NetworkInstance, constant: float = 4, ps: Any = (1, 2, math.inf)
) -> Evaluation:
    """Δ(X^L) ≤ b_L with b_0 = Δ(X), b_{l+1} = Σ_h ‖W_h‖ b_l tanh(‖W_QK,h‖_* b_l²/(4√d_qk)), in each norm."""
    run = Run(A, instance.net, instance.X)
    return Evaluation([Side(run.log_diameter(run.net.layers, p), log_diameter_bound(run, p, constant)) for p in ps])


def log_diameter_bound(run: Run, p: Any, constant: float = 4) -> Any:
    """log b_L, the chained tanh form."""
    A, net = run.A, run.net
    log_b = run.log_diameter(0, p)
    divisor = log(A, A.constant(constant)) + log(A, run.root)
    for l in range(net.layers):
        terms = []
        for h in range(net.heads):
            size = log(A, form_norm(A, run.weight(net.W_QK, l, h), p))
            value = log(A, induced_norm(A, run.weight(net.W, l, h), p))
            terms.append(value + log_b + log_tanh_of_exp(A, size + 2 * log_b - divisor))
        log_b = log_sum(A, terms)
    return log_b


def near_antipodal(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens ±a in one dimension: equality in O2. A slightly moved mean makes it strict, so that balls decide."""
    for _ in range(6):
        a = 10.0 ** rng.uniform(-2, 0.5)
        X = np.asarray([[a * (1 + 10.0 ** rng.uniform(-5, -4))], [-a]])
        weight = np.asarray([[[[10.0 ** rng.uniform(-1, 0.5)]]]])
        value = np.asarray([[[[rng.standard_normal() + 2.0]]]])
        yield NetworkInstance(Network.from_arrays(weight, value), X, "two tokens")


# -- its residual form -------------------------------------------------------------------------------------


def evaluate_residual_inf(A: Any, instance: NetworkInstance, constant: float = 1) -> Evaluation:
    """‖res(X^L)‖_∞ ≤ c^{(3^L−1)/2} ‖res X‖_∞^{3^L}, c = max_l Σ_h ‖W_QK,h‖_max ‖W_h‖_∞/√d_qk."""
    run = Run(A, instance.net, instance.X)
    A, L = run.A, run.net.layers
    log_c = maximum(A, [log(A, _residual_constant(run, l) * A.constant(constant)) for l in range(L)])
    rhs = log_c * ((3**L - 1) // 2) + run.log_residual(0, "inf") * 3**L
    return Evaluation([Side(run.log_residual(L, "inf"), rhs)])


def _residual_constant(run: Run, layer: int) -> Any:
    A, net = run.A, run.net
    total: Any = 0
    for h in range(net.heads):
        total = total + form_norm(A, run.weight(net.W_QK, layer, h), 1) * induced_norm(
            A, run.weight(net.W, layer, h), 1
        )
    return total / run.root


def small_antipodal(rng: Rng) -> Iterator[NetworkInstance]:
    """±a with a small: the cubic form is an equality in the limit."""
    for a in (0.1, 0.03, 0.01):
        yield NetworkInstance(
            Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1))), np.asarray([[a], [-a]]), "two tokens"
        )


STATEMENTS = (
    Statement(
        key="own:tv",
        title="Total variation of two softmaxes",
        claim=r"p_j\propto q_j e^{g_j}\implies \tfrac12\|p-q\|_1\le\tanh\bigl(\operatorname{osc}(g)/4\bigr)",
        source="this library; classical for Hilbert's metric",
        status="proved",
        truth="proofs/own_tv.tex",
        instance=tv_instance,
        evaluate=evaluate_tv,
        draws=(draw_tv, draw_two_atoms),
        sharp=True,
    ),
    Statement(
        key="own:diameter",
        title="Sharp diameter collapse",
        claim=r"\Delta(\mathrm{SA}(X))\le\sum_h\|W_h\|\,\Delta(X)\tanh\Bigl(\frac{\|W_{QK,h}\|_*\Delta(X)^2}{4\sqrt{d_{qk}}}\Bigr)"
        r"\quad\text{in }\ell_1,\ell_2,\ell_\infty",
        source="this library",
        status="proved",
        truth="proofs/own_diameter.tex",
        instance=network_instance,
        evaluate=evaluate_diameter,
        draws=tuple(networks(tokens, shapes=SMALL) for tokens in ALL_TOKENS),
        extremal=near_antipodal,
        sharp=True,
    ),
    Statement(
        key="own:residual-inf",
        title="Residual form of the diameter collapse",
        claim=r"\|\mathrm{res}(X^L)\|_\infty\le c^{(3^L-1)/2}\|\mathrm{res}(X)\|_\infty^{3^L},\quad "
        r"c=\max_l\sum_h\|W_{QK,h}\|_{\max}\|W_h\|_\infty/\sqrt{d_{qk}}",
        source="this library",
        status="proved",
        truth="proofs/own_residual_inf.tex",
        instance=network_instance,
        evaluate=evaluate_residual_inf,
        draws=tuple(networks(tokens, shapes=SMALL) for tokens in ALL_TOKENS),
        extremal=small_antipodal,
        sharp=True,
    ),
)
