"""What a one-layer bound becomes after L layers: closed forms, proved by induction.

Without skips a_{l+1} = c a_l³. With skips the recursion Δ_{l+1} = Δ_l (1 − κΔ_l²) is linear in 1/Δ_l², up to a
remainder whose supremum is the best constant.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from rankmath.symbolic.letters import L, diameter, kappa, u
from rankmath.symbolic.proof import Expr, Proof, Step, chain


def prove_power_recursion(claim: Expr, coefficient: Expr, start: Expr) -> Proof:
    """Induction: `claim`, an expression in L, bounds every sequence with 0 <= a_{l+1} <= c a_l³ from a_0.

    Raises `NotProved` when sympy cannot confirm the base, the step or the monotonicity.

    Examples
    --------
    >>> c, a0 = sp.symbols("c a0", positive=True)
    >>> prove_power_recursion(c ** ((3**L - 1) / 2) * a0 ** (3**L), c, a0).proved
    True
    >>> prove_power_recursion(c ** ((3**L + 1) / 2) * a0 ** (3**L), c, a0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.symbolic.proof.NotProved: closed form of a' = c a^3: step 1 is not proved: base case, L = 0: ...
    """
    x = sp.Symbol("x", positive=True)
    after = sp.expand_log(sp.log(coefficient) + 3 * sp.log(claim))
    return Proof(
        "closed form of a' = c a^3",
        (),
        (
            Step("base case, L = 0", sp.log(claim.subs(L, 0)), "=", sp.log(start)),
            Step("induction step, in logarithms", sp.expand_log(sp.log(claim.subs(L, L + 1))), "=", after),
            Step(
                "the right side increases with a, so that inequalities chain",
                0,
                "<=",
                sp.Derivative(coefficient * x**3, x),
            ),
        ),
    ).check()


def best_skip_constant(most: Expr = u) -> Expr:
    """K(u), the least K with 1/v' − 1/v <= K for v' = v(1 − v)² and every v in (0, u] (O4).

    It is attained after one layer from v = u; K(1/2) = 6 serves all u <= 1/2, and K(0+) = 2.

    Examples
    --------
    >>> best_skip_constant(), best_skip_constant(sp.Rational(1, 2))
    ((2 - u)/(1 - u)**2, 6)
    """
    return (2 - most) / (1 - most) ** 2


@cache
def prove_skip_constant(claim: Expr) -> Proof:
    """`claim`, an expression in u < 1, is the least K with 1/v' − 1/v <= K for every v in (0, u].

    Examples
    --------
    >>> prove_skip_constant(best_skip_constant() * sp.Rational(99, 100))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.symbolic.proof.NotProved: best constant of v' = v(1 - v)^2: step 3 is not proved: ...
    """
    v, s, w = sp.symbols("v s w", positive=True)
    r = sp.Symbol("r", nonnegative=True)
    moved = best_skip_constant(v)
    return Proof(
        "best constant of v' = v(1 - v)^2",
        (),
        (
            Step("how far 1/v moves in one layer", 1 / (v * (1 - v) ** 2), "=", 1 / v + moved),
            Step("it increases on (0, 1)", 0, "<", sp.Derivative(moved, v), where={v: 1 / (1 + s)}),
            Step("so K dominates it on (0, u]", moved, "<=", claim, where={v: 1 - w - r, u: 1 - w}),
            Step("and no smaller K does: equality at v = u", claim, "=", moved.subs(v, u)),
        ),
    ).check()


def prove_skip_recursion(claim: Expr) -> Proof:
    """Induction: `claim` (in L, Δ_0, κ and u) bounds Δ from below after L layers that multiply it by 1 − φ_l (O4).

    φ_l <= v_l = κΔ_l², provided φ_l <= u < 1 **at every layer** l < L. v_0 <= u alone does not suffice: Δ may first
    grow and then fall to 0 in one layer.

    Examples
    --------
    >>> prove_skip_recursion(diameter / sp.sqrt(1 + best_skip_constant() * kappa * diameter**2 * L)).proved
    True
    """
    inverse = 1 / (kappa * claim**2)
    layer = _prove_skip_layer()
    induction = Proof(
        layer.claim,
        (),
        (
            Step("base case, L = 0", claim.subs(L, 0), "=", diameter),
            Step("induction step, in y", inverse.subs(L, L + 1), "=", inverse + best_skip_constant()),
        ),
    ).check()
    return chain(layer.claim, layer, induction)


@cache
def _prove_skip_layer() -> Proof:
    """In one layer y = 1/v, v = κΔ², obeys y' <= y + K."""
    v, y, constant, phi, s = sp.symbols("v y K phi s", positive=True)
    slack = sp.Symbol("e", nonnegative=True)
    squared = kappa * (sp.sqrt(v / kappa) * (1 - phi)) ** 2
    moved = best_skip_constant(phi)
    inside = {v: phi + slack, phi: 1 / (1 + s)}
    return Proof(
        "lower bound of the diameter after L layers with skips",
        (
            r"$\Delta_{l+1} \ge \lambda\Delta_l(1 - \varphi_l)$ and $\varphi_l \le u < 1$ for every $l < L$",
            r"$\varphi_l \le v_l = \kappa\Delta_l^2/\lambda$",
        ),
        (
            Step("one layer, written in v", squared, "=", v * (1 - phi) ** 2),
            Step("so 1/v moves by", 1 / (v * (1 - phi) ** 2), "=", 1 / v + phi / v * moved),
            Step("which is no further than from v = phi", phi / v * moved, "<=", moved, where=inside),
            *prove_skip_constant(best_skip_constant()).steps,
            Step("y = 1/v obeys a linear recursion that increases with y", 0, "<", sp.Derivative(y + constant, y)),
        ),
    ).check()
