"""O1 and O2: the distance of two softmaxes, the collapse of the diameter in one layer, and its sharpness.

O1. p_j ∝ q_j e^{g_j}: total variation at most tanh(osc(g)/4).
O2. Δ(SA(X)) ≤ Σ_h ‖W_h‖ Δ tanh(‖W_QK,h‖_* Δ²/(4√d_qk)) ≤ (Σ_h ‖W_h‖‖W_QK,h‖_*/(4√d_qk)) Δ³.
"""

from __future__ import annotations

import sympy as sp

from rankmath.symbolic.proof import Expr, Proof, Step, chain
from rankmath.symbolic.softmax_expansion import normalised

#: osc(g), the oscillation of the change of logits.
D = sp.Symbol("D", positive=True)
#: Δ(X), ‖W_h‖ and ‖W_QK,h‖_* of one head, and the key dimension.
diameter = sp.Symbol("diameter", positive=True)
W_V = sp.Symbol("W_V", positive=True)
W_QK = sp.Symbol("W_QK", positive=True)
d_qk = sp.Symbol("d_qk", integer=True, positive=True)


def mass_gained(s: Expr, k: Expr) -> Expr:
    """σ(logit s + D) - s, k = e^{D/2}: what a set of mass s gains when its odds are multiplied by e^D.

    Examples
    --------
    >>> mass_gained(sp.Rational(1, 3), sp.Integer(2))
    1/3
    """
    odds = k**2 * s / (1 - s)
    return sp.cancel(odds / (1 + odds) - s)


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


def oscillation() -> Expr:
    """osc_j of (X_i - X_k) W_QK X_jᵀ/√d_qk: at most ‖W_QK‖_* Δ·Δ/√d_qk."""
    return W_QK * diameter * diameter / sp.sqrt(d_qk)


def tanh_form() -> Expr:
    """O2 for one head: ‖W‖ Δ tanh(‖W_QK‖_* Δ²/(4√d_qk)).

    Examples
    --------
    >>> tanh_form()
    W_V*diameter*tanh(W_QK*diameter**2/(4*sqrt(d_qk)))
    """
    return W_V * diameter * total_variation().subs(D, oscillation())


def cubic_form() -> Expr:
    """O2 for one head with tanh x <= x: ‖W‖‖W_QK‖_* Δ³/(4√d_qk).

    Examples
    --------
    >>> cubic_form()
    W_QK*W_V*diameter**3/(4*sqrt(d_qk))
    """
    return tanh_form().replace(sp.tanh, lambda x: x)


def prove_tanh_form(claim: Expr) -> Proof:
    """`claim` is the tanh form of O2 for one head; heads add by the triangle inequality."""
    proof = Proof(
        "diameter after one layer, tanh form",
        (
            r"rows $i, k$ see logits differing by $(X_i - X_k) W_{QK} X_j^\top/\sqrt{d_{qk}}$, up to a constant",
            r"a zero-sum combination of tokens with total variation $\tau$ has norm at most $\tau\Delta$",
            "heads add by the triangle inequality",
        ),
        (
            Step(
                "total variation at the oscillation of the logits, times the diameter, times the value weights",
                claim,
                "=",
                W_V * diameter * sp.tanh(D / 4).subs(D, oscillation()),
            ),
        ),
    ).check()
    return chain(proof.claim, prove_total_variation(sp.tanh(D / 4)), proof)


def prove_cubic_form(claim: Expr) -> Proof:
    """`claim` is the least multiple of Δ³ above the tanh form: their ratio is x/tanh x, x the argument of tanh.

    Examples
    --------
    >>> prove_cubic_form(cubic_form()).proved
    True
    """
    x = sp.Symbol("x", positive=True)
    argument = {W_QK: 4 * sp.sqrt(d_qk) * x / diameter**2}
    proof = Proof(
        "diameter after one layer, cubic form",
        (),
        (
            Step("its ratio to the tanh form", claim / tanh_form(), "=", x / sp.tanh(x), where=argument),
            Step("tends to one, so no smaller multiple would do", sp.Limit(x / sp.tanh(x), x, 0, "+"), "=", 1),
        ),
    ).check()
    return chain(proof.claim, prove_tanh_form(tanh_form()), prove_tanh_below_identity(), proof)


def two_token_layer(a: Expr, w: Expr, v: Expr) -> list[Expr]:
    """SA(X) for n = 2, d = 1, X = (a, -a), W_QK = w, W_V = v, by the plain definition.

    Examples
    --------
    >>> two_token_layer(sp.Integer(1), sp.Integer(0), sp.Integer(5))
    [0, 0]
    """
    X = [a, -a]
    rows = [normalised([sp.exp(x * w * y / sp.sqrt(d_qk)) for y in X]) for x in X]
    return [v * sp.Add(*(p * y for p, y in zip(row, X, strict=True))) for row in rows]


def prove_sharpness(claim: Expr) -> Proof:
    """For X = (a, -a) and all signs of w and v, Δ(SA(X)) **equals** `claim` at Δ = 2a, identically in a > 0.

    `claim` is the tanh form of O2, in the symbols of this module.

    Examples
    --------
    >>> prove_sharpness(tanh_form()).proved
    True
    """
    a = sp.Symbol("a", positive=True)
    bound = claim.subs(diameter, 2 * a)
    steps = []
    for sign_w in (1, -1):
        for sign_v in (1, -1):
            first, second = two_token_layer(a, sign_w * W_QK, sign_v * W_V)
            distance = sign_w * sign_v * (first - second)
            reason = f"equality for w {'>' if sign_w > 0 else '<'} 0, v {'>' if sign_v > 0 else '<'} 0"
            steps.append(Step(reason, distance, "=", bound))
    return Proof("two opposite tokens attain the tanh form", (), tuple(steps)).check()
