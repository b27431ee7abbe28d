"""O1 and O2: the distance of two softmaxes, and the collapse of the diameter in one layer.

O1. p_j ∝ q_j e^{g_j}: total variation at most tanh(osc(g)/4).
O2. Δ(SA(X)) ≤ Σ_h ‖W_h‖ Δ tanh(‖W_QK,h‖_* Δ²/(4√d_qk)) ≤ (Σ_h ‖W_h‖‖W_QK,h‖_*/(4√d_qk)) Δ³.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from rankmath.symbolic.letters import W_QK, W_V, D, d_qk, diameter, residual
from rankmath.symbolic.proof import Expr, Proof, Step, chain

# The argument of tanh.
_x = sp.Symbol("x", positive=True)


def mass_gained(s: Expr, k: Expr) -> Expr:
    """σ(logit s + D) - s, k = e^{D/2}: what a set of mass s gains when its odds are multiplied by e^D.

    Examples
    --------
    >>> mass_gained(sp.Rational(1, 3), sp.Integer(2))
    1/3
    """
    odds = k**2 * s / (1 - s)
    return sp.cancel(odds / (1 + odds) - s)


@cache
def total_variation() -> Expr:
    """O1: max over s of σ(logit s + D) - s, found by setting the derivative to zero.

    Examples
    --------
    >>> total_variation()
    tanh(D/4)
    """
    s, k = sp.symbols("s k", positive=True)
    gain = mass_gained(s, k)
    # The two critical points are 1/(1 ± k); only the first lies in (0, 1) for k > 1.
    where = next(root for root in sp.solve(sp.diff(gain, s), s) if root.is_positive)
    peak = sp.factor(gain.subs(s, where))
    x = sp.Symbol("x", positive=True)
    height = sp.simplify(peak.subs(k, sp.exp(2 * x)).rewrite(sp.tanh))
    return height.subs(x, D / 4)


@cache
def prove_total_variation(claim: Expr) -> Proof:
    """`claim`, an expression in D, is the maximum of σ(logit s + D) - s over 0 < s < 1.

    The difference is a square: (k - 1)(1 - (k + 1)s)² / ((k + 1)(1 + s(k² - 1))), k = e^{D/2} > 1. It vanishes at
    s = 1/(1 + k), where s and the new mass are symmetric about 1/2.

    Examples
    --------
    >>> prove_total_variation(sp.tanh(D / 4)).proved
    True
    """
    s, k, j, t = sp.symbols("s k j t", positive=True)
    best = (k - 1) / (k + 1)
    gain = mass_gained(s, k)
    square = (k - 1) * (1 - (k + 1) * s) ** 2 / ((k + 1) * (1 + s * (k**2 - 1)))
    symmetric = 1 / (1 + k)
    return Proof(
        "total variation of two softmaxes",
        (r"the odds of $S = \{p > q\}$ change by a factor of at most $e^{\mathrm{osc}(g)}$, from $q(S) = s$",),
        (
            Step("the maximum in terms of $k = e^{D/2}$", claim, "=", best.subs(k, sp.exp(D / 2))),
            Step("the gap to the maximum is a square", best - gain, "=", square),
            Step("which is nonnegative for k > 1", 0, "<=", square, where={k: 1 + j, s: 1 / (1 + t)}),
            Step("and vanishes at the symmetric point", gain.subs(s, symmetric), "=", best),
            Step("whose new mass is its mirror image", (gain + s).subs(s, symmetric), "=", 1 - symmetric),
        ),
    ).check()


@cache
def prove_tanh_below_identity() -> Proof:
    """tanh x <= x for x >= 0: equal at 0, and the difference has derivative tanh² x."""
    x = sp.Symbol("x", nonnegative=True)
    slope = sp.Derivative(x - sp.tanh(x), x)
    return Proof(
        "tanh is below the identity",
        (),
        (
            Step("equal at 0", (x - sp.tanh(x)).subs(x, 0), "=", 0),
            Step("the difference has a derivative", slope, "=", sp.tanh(x) ** 2),
            Step("which is nonnegative", 0, "<=", sp.tanh(x) ** 2),
        ),
    ).check()


def oscillation_within(most: Expr) -> Expr:
    """The largest oscillation of numbers in [-most, most].

    Examples
    --------
    >>> oscillation_within(sp.Symbol("M"))
    2*M
    """
    return most - (-most)


def linearised(form: Expr) -> Expr:
    """`form` with tanh x replaced by x.

    Examples
    --------
    >>> linearised(total_variation())
    D/4
    """
    return form.replace(sp.tanh, lambda x: x)


def tanh_form() -> Expr:
    """O2 for one head: ‖W‖ Δ tanh(‖W_QK‖_* Δ²/(4√d_qk)).

    Examples
    --------
    >>> tanh_form()
    W_V*diameter*tanh(W_QK*diameter**2/(4*sqrt(d_qk)))
    """
    return W_V * diameter * total_variation().subs(D, W_QK * diameter**2 / sp.sqrt(d_qk))


def cubic_form() -> Expr:
    """O2 for one head with tanh x <= x: ‖W‖‖W_QK‖_* Δ³/(4√d_qk).

    Examples
    --------
    >>> cubic_form()
    W_QK*W_V*diameter**3/(4*sqrt(d_qk))
    """
    return linearised(tanh_form())


@cache
def prove_tanh_form(claim: Expr) -> Proof:
    """`claim` is the tanh form of O2 for one head; heads add by the triangle inequality.

    Examples
    --------
    >>> prove_tanh_form(tanh_form()).proved
    True
    """
    tau = sp.Symbol("tau", positive=True)
    proof = Proof(
        "diameter after one layer, tanh form",
        (
            r"rows $i, k$ see logits differing by $(X_i - X_k) W_{QK} X_j^\top/\sqrt{d_{qk}}$, up to a constant",
            r"whose oscillation in $j$ is at most $D = \|W_{QK}\|_* \Delta^2/\sqrt{d_{qk}}$",
            r"a zero-sum combination of tokens with total variation $\tau$ has norm at most $\tau\Delta$",
            "heads add by the triangle inequality",
        ),
        (
            Step(
                "value weights, times total variation at that oscillation, times diameter",
                claim,
                "=",
                W_V * tau * diameter,
                where={tau: total_variation(), D: W_QK * diameter**2 / sp.sqrt(d_qk)},
            ),
        ),
    ).check()
    return chain(proof.claim, prove_total_variation(total_variation()), proof)


@cache
def prove_cubic_form(claim: Expr) -> Proof:
    """`claim` is the least multiple of Δ³ above the tanh form.

    Examples
    --------
    >>> prove_cubic_form(cubic_form()).proved
    True
    """
    argument = {W_QK: 4 * sp.sqrt(d_qk) * _x / diameter**2}
    title = "diameter after one layer, cubic form"
    return chain(title, prove_tanh_form(tanh_form()), _prove_linearised(title, claim, tanh_form(), argument))


def residual_tanh_form() -> Expr:
    """O2 for r = ‖res‖_∞, one head: 2‖W‖_∞ r tanh(‖W_QK‖_max r²/(2√d_qk)).

    Examples
    --------
    >>> residual_tanh_form()
    2*W_V*residual*tanh(W_QK*residual**2/(2*sqrt(d_qk)))
    """
    logits = oscillation_within(W_QK * residual**2 / sp.sqrt(d_qk))
    return 2 * total_variation().subs(D, logits) * residual * W_V


@cache
def prove_residual_form(claim: Expr) -> Proof:
    """`claim` = ‖W_QK‖_max ‖W‖_∞ r³/√d_qk, r = ‖res(X)‖_∞, is the least multiple of r³ above its tanh form.

    Examples
    --------
    >>> prove_residual_form(linearised(residual_tanh_form())).proved
    True
    """
    title = "residual in the infinity norm after one layer"
    logits, tau = sp.symbols("M tau", positive=True)
    tanh = Proof(
        title,
        (
            r"logits $R_i W_{QK} R_j^\top/\sqrt{d_{qk}}$ are within $M = \|W_{QK}\|_{\max} r^2/\sqrt{d_{qk}}$",
            r"$\sum_j |Q_{ij}| = 2\tau$, twice a total variation; $\|R_j W\|_1 \le r\|W\|_\infty$",
            "heads add by the triangle inequality",
        ),
        (
            Step(
                "value weights, times twice the total variation, times the residual",
                residual_tanh_form(),
                "=",
                W_V * 2 * tau * residual,
                where={tau: total_variation(), D: logits + logits, logits: W_QK * residual**2 / sp.sqrt(d_qk)},
            ),
        ),
    ).check()
    argument = {W_QK: 2 * sp.sqrt(d_qk) * _x / residual**2}
    linear = _prove_linearised(title, claim, residual_tanh_form(), argument)
    return chain(title, prove_total_variation(total_variation()), tanh, linear)


def _prove_linearised(title: str, claim: Expr, form: Expr, argument: dict[Expr, Expr]) -> Proof:
    """`claim`/`form` is x/tanh x, x the argument of tanh in `form`: at least one, and no less in the limit."""
    ratio = _x / sp.tanh(_x)
    proof = Proof(
        title,
        (),
        (
            Step("its ratio to the tanh form", claim / form, "=", ratio, where=argument),
            Step("tends to one, so that no smaller multiple would do", sp.Limit(ratio, _x, 0, "+"), "=", 1),
        ),
    ).check()
    return chain(title, prove_tanh_below_identity(), proof)
