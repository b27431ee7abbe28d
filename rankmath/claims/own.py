"""The library's own theorems (proofs in proofs/own_*.tex)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance as ExactInstance
from rankmath.certificates.issue import certify_diameter, certify_residual_inf, certify_total_variation
from rankmath.claims.draws import ALL_TOKENS, Rng, networks
from rankmath.claims.instance import ArrayInstance, NetworkInstance, network_instance
from rankmath.claims.quantities import (
    Run,
    exp,
    finite_difference,
    form_norm,
    induced_norm,
    log,
    log_expm1_ratio,
    log_positive,
    log_sum,
    log_tanh_of_exp,
    maximum,
    norm_inf,
    norm_one,
    sqrt,
    symmetric_extremes,
    unbox,
)
from rankmath.claims.statement import Evaluation, Hypothesis, Side, Statement, attention_alone, fact
from rankmath.claims.verdict import Verdict
from rankmath.model.network import Network
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
    with np.errstate(over="ignore", invalid="ignore"):  # doubles may not tell; balls do
        m = A.expm1_of_temporary(tilt + 0)
        mean = A.sum(q * m, axis=-2)
        distance = A.sum(A.abs(q * (m - mean)), axis=-2) / (1 + mean) / 2
    osc = A.max(g, axis=-2) + A.max(-g, axis=-2)
    rhs = log_tanh_of_exp(A, log(A, unbox(osc)) - log(A, A.constant(constant)))
    return Evaluation([Side(log(A, unbox(distance)), rhs)])


def certify_tv_instance(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    return certify_total_variation(instance["g"], logits=instance["c"], decided=verdict.certified)


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
    sides = [Side(run.log_diameter(run.net.layers, p), log_diameter_bound(run, p, constant)) for p in ps]
    return Evaluation(sides, [attention_alone(run.A, run.net)])


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


def certify_diameter_instance(instance: NetworkInstance, verdict: Verdict) -> Certificate:
    """The chained tanh form in ℓ₂."""
    exact = ExactInstance.of(instance.net, instance.X)
    return certify_diameter(exact, decided=verdict.certified, norm="l2", form="tanh")


def certify_residual_instance(instance: NetworkInstance, verdict: Verdict) -> Certificate:
    return certify_residual_inf(ExactInstance.of(instance.net, instance.X), decided=verdict.certified)


def near_antipodal(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens ±a in one dimension: equality in O2. A slightly moved mean makes it strict, and decidable."""
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
    return Evaluation([Side(run.log_residual(L, "inf"), rhs)], [attention_alone(A, run.net)])


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


# -- O3: a composite bound free of γ -----------------------------------------------------------------------


def evaluate_gamma_free(A: Any, instance: NetworkInstance) -> Evaluation:
    """One layer: ‖res(SA X)‖ ≤ C(δ)/√d_qk (Σ_h ‖q_h‖_∞‖W_QK,h‖₁‖W_h‖₁)^½ (Σ_h ‖W_QK,h‖₁‖W_h‖_∞)^½ ‖res X‖³.

    All in ‖·‖_{1,∞}, C² = 2(e^δ − 1)/δ, times tanh(δ/4)/(δ/4) for a single head.
    """
    run = Run(A, instance.net, instance.X)
    A, net = run.A, run.net
    at = run.sandwich(0)
    log_delta = maximum(A, at.log_D)
    one, inf = [], []
    for h in range(net.heads):
        size = log(A, norm_one(A, run.weight(net.W_QK, 0, h)))
        one.append(at.log_q[h] + size + log(A, norm_one(A, run.weight(net.W, 0, h))))
        inf.append(size + log(A, norm_inf(A, run.weight(net.W, 0, h))))
    log_C2 = log(A, A.constant(2)) + log_expm1_ratio(A, log_delta)
    if net.heads == 1:
        log_quarter = log_delta - log(A, A.constant(4))
        log_C2 = log_C2 + finite_difference(A, log_tanh_of_exp(A, log_quarter), log_quarter)
    rhs = (log_C2 + log_sum(A, one) + log_sum(A, inf)) / 2 - log(A, run.root) + 3 * run.log_residual(0, "composite")
    return Evaluation(
        [Side(run.log_residual(1, "composite"), rhs)],
        [fact(A, "one layer", net.layers == 1), attention_alone(A, net, padding=False)],
    )


# -- O4: skips -------------------------------------------------------------------------------------------


def evaluate_skip_lower(A: Any, instance: NetworkInstance) -> Evaluation:
    """Δ₂(X^L) ≥ Δ₀/√(1 + K(θ) κ Δ₀² L), K(θ) = (2 − θ)/(1 − θ)², for skips with φ_l(Δ_l) ≤ θ < 1 at every layer.

    φ_l(t) = Σ_h ‖W_h‖ tanh(‖W_QK,h‖_* t²/(4√d_qk)), κ = max_l Σ_h ‖W_h‖‖W_QK,h‖_*/(4√d_qk).
    """
    run = Run(A, instance.net, instance.X)
    A, net = run.A, run.net
    L = net.layers
    phis, kappas = [], []
    divisor = log(A, A.constant(4)) + log(A, run.root)
    for l in range(L):
        steps, slopes = [], []
        for h in range(net.heads):
            value = log(A, induced_norm(A, run.weight(net.W, l, h), 2))
            size = log(A, form_norm(A, run.weight(net.W_QK, l, h), 2)) - divisor
            slopes.append(value + size)
            steps.append(value + log_tanh_of_exp(A, size + 2 * run.log_diameter(l, 2)))
        phis.append(log_sum(A, steps))
        kappas.append(log_sum(A, slopes))
    log_theta, log_kappa = maximum(A, phis), maximum(A, kappas)
    # Past θ = 1 the hypothesis fails and the bound is not looked at: any θ below 1 keeps it finite.
    theta = exp(A, log_theta)
    safe = theta if A.unbounded else np.minimum(theta, 0.999)
    slack = (2 - safe) / ((1 - safe) * (1 - safe))
    start = run.log_diameter(0, 2)
    growth = exp(A, log(A, slack) + log_kappa + 2 * start + log(A, A.constant(L))) + 1
    hypotheses = [
        attention_alone(A, net, skip=1.0),
        Hypothesis("φ_l(Δ_l) ≤ θ < 1 at every layer", Side(log_theta, A.constant(0))),
    ]
    return Evaluation([Side(start - log(A, growth) / 2, run.log_diameter(L, 2))], hypotheses)


def small_value_tokens(rng: Rng, size: int, n: int, d: int) -> np.ndarray[Any, Any]:
    """Scales at which a skip layer moves tokens by less than their distance."""
    return 10.0 ** rng.uniform(-3, -0.3, (size, 1, 1)) * rng.standard_normal((size, n, d))


def shrinking_pairs(rng: Rng) -> Iterator[NetworkInstance]:
    """±a with W = −v: every layer an equality in the one-layer bound; L = 1 approaches the constant K(θ)."""
    for L, v, w, a in ((1, 50.0, 0.01, 0.9), (1, 1000.0, 0.0004, 1.0), (20, 1.0, 1.0, 0.3), (100, 1.0, 1.0, 0.1)):
        weights, values = np.full((L, 1, 1, 1), w), np.full((L, 1, 1, 1), -v)
        yield NetworkInstance(
            Network.from_arrays(weights, values, skip=True), np.asarray([[a], [-a]]), "two tokens"
        )


# -- O5: the exact order ---------------------------------------------------------------------------------


def evaluate_order(A: Any, instance: NetworkInstance) -> Evaluation:
    """c₁‖R‖_F³ ≤ ‖R'‖_F ≤ c₂‖R‖_F³ at every layer, one head, sym(W_QK) definite: the order is exactly three.

    c₁ = σ_min(W) q_min/√d_qk (m/r √(q_min/q_max) − (e^δ − 1)‖W_QK‖₂), c₂ = ‖W‖₂ q_max e^δ ‖W_QK‖₂/√d_qk,
    m the distance of sym(W_QK) from singular, r = min(n − 1, d). Where c₁ ≤ 0 the lower half says nothing.
    """
    run = Run(A, instance.net, instance.X)
    A, net = run.A, run.net
    n, d = instance.X.shape[-2:]
    sides, definite = [], []
    for l in range(net.layers):
        M, W = run.weight(net.W_QK, l, 0), run.weight(net.W, l, 0)
        low, high = symmetric_extremes(A, (M + A.transpose(M)) / 2)
        m = maximum(A, [low, -high])
        definite.append(Hypothesis("sym(W_QK) is definite", Side(A.constant(0) * m, m)))
        log_q_min, log_q_max, delta = run.mean_attention(l)
        size, value = form_norm(A, M, 2), induced_norm(A, W, 2)
        least = sqrt(A, symmetric_extremes(A, A.matmul(A.transpose(W), W))[0])
        start, end = run.log_residual(l, "frobenius"), run.log_residual(l + 1, "frobenius")
        upper = log(A, value) + log_q_max + delta + log(A, size) - log(A, run.root) + 3 * start
        sides.append(Side(end, upper))
        tilt = exp(A, (log_q_min - log_q_max) / 2)
        bracket = m / max(1, min(n - 1, d)) * tilt - (exp(A, delta) - 1) * size
        lower = log(A, least) + log_q_min + log_positive(A, bracket) - log(A, run.root) + 3 * start
        sides.append(Side(lower, end))
    return Evaluation(
        sides, [fact(A, "one head", net.heads == 1), attention_alone(A, net, padding=False), *definite]
    )


def draw_definite(rng: Rng, size: int) -> NetworkInstance:
    """sym(W_QK) = ±diag, exactly; any skew part."""
    n, d, L = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    batch = networks(small_value_tokens, shapes=((n, d, 1, L),), log_weights=(-0.5, 0.5))(rng, size)
    upper = np.triu(np.array(batch.net.query), 1)
    sign = np.where(rng.random((L, 1, size, 1, 1)) < 0.5, -1.0, 1.0)
    diagonal = sign * rng.uniform(0.5, 2.0, (L, 1, size, 1, d)) * np.eye(d)
    return NetworkInstance(
        replace(batch.net, query=upper - np.swapaxes(upper, -1, -2) + diagonal), batch.X, "definite"
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
        certificate=certify_tv_instance,
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
        certificate=certify_diameter_instance,
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
        certificate=certify_residual_instance,
        draws=tuple(networks(tokens, shapes=SMALL) for tokens in ALL_TOKENS),
        extremal=small_antipodal,
        sharp=True,
        share=0.2,
        cost=3,
    ),
    Statement(
        key="own:gamma-free",
        title="A composite bound free of γ",
        claim=r"\|\mathrm{res}(\mathrm{SA}(X))\|_{1,\infty}\le\frac{C(\delta)}{\sqrt{d_{qk}}}"
        r"\bigl(\textstyle\sum_h\|q_h\|_\infty\|W_{QK,h}\|_1\|W_h\|_1\bigr)^{1/2}"
        r"\bigl(\textstyle\sum_h\|W_{QK,h}\|_1\|W_h\|_\infty\bigr)^{1/2}\|\mathrm{res}(X)\|_{1,\infty}^3,"
        r"\quad C(\delta)^2=2(e^\delta-1)/\delta",
        source="this library",
        status="proved",
        truth="proofs/own_gamma_free.tex",
        instance=network_instance,
        evaluate=evaluate_gamma_free,
        draws=tuple(networks(t, shapes=((2, 1, 1, 1), (4, 2, 1, 1), (5, 3, 2, 1))) for t in ALL_TOKENS[1:]),
        extremal=small_antipodal,
        share=0.15,
        cost=3,
    ),
    Statement(
        key="own:skip-lower",
        title="With skips the diameter decays no faster than 1/√L",
        claim=r"\Delta(X^L)\ge\Delta_0/\sqrt{1+K(\theta)\,\kappa\Delta_0^2L},\quad "
        r"K(\theta)=\frac{2-\theta}{(1-\theta)^2},\ \varphi_l(\Delta_l)\le\theta<1",
        source="this library; answers a question left open by Dong, Cordonnier and Loukas 2021",
        status="proved",
        truth="proofs/own_skip_lower.tex",
        instance=network_instance,
        evaluate=evaluate_skip_lower,
        draws=tuple(
            networks(t, shapes=((2, 1, 1, 4), (4, 2, 2, 6), (5, 3, 1, 12)), log_weights=(-1.5, -0.3), skip=1.0)
            for t in (small_value_tokens, ALL_TOKENS[1])
        ),
        extremal=shrinking_pairs,
        sharp=True,
    ),
    Statement(
        key="own:order",
        title="The order of collapse is exactly three",
        claim=r"c_1\|R_l\|_F^3\le\|R_{l+1}\|_F\le c_2\|R_l\|_F^3,\quad\text{hence }"
        r"\log\|R_{l+1}\|/\log\|R_l\|\to3\quad(\operatorname{sym}W_{QK}\text{ definite})",
        source="this library",
        status="proved",
        truth="proofs/own_order.tex",
        instance=network_instance,
        evaluate=evaluate_order,
        draws=(draw_definite,),
    ),
)
