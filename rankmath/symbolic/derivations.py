"""Derivations that prove the bound of a statement: each takes the expression that the formula gives.

The letters of a formula are translated into those of the derivations (`letters`), and sympy confirms every step.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from rankmath.symbolic import composite, constants, letters, masks
from rankmath.symbolic import diameter as diameters
from rankmath.symbolic.from_formula import symbol
from rankmath.symbolic.letters import h, over_heads
from rankmath.symbolic.proof import Expr, Proof, Step, chain
from rankmath.symbolic.recursions import prove_power_recursion, prove_skip_recursion


def translated(claim: Expr, names: Mapping[str, Expr]) -> Expr:
    """`claim` with the formula's letters replaced by the derivation's."""
    return claim.subs({symbol(name): letter for name, letter in names.items()}, simultaneous=True)


def _iterated(claim: Expr, coefficient: Expr, start: Expr, layer: Proof) -> Proof:
    """`claim` is the closed form of a' ≤ coefficient · a³, from the one-layer bound that `layer` proves."""
    return chain("the size after L layers", layer, prove_power_recursion(claim, coefficient, start))


def total_variation(claim: Expr) -> Proof:
    """own:tv."""
    return diameters.prove_total_variation(translated(claim, {"osc": letters.D}))


def sandwich_upper(claim: Expr) -> Proof:
    """dong2021:A.3, P_ij/q_j − 1 ≤ 2D."""
    return constants.prove_sandwich_upper(translated(claim, {"osc_E": letters.D}) + 1)


def diameter_cubic(claim: Expr) -> Proof:
    """own:diameter-cubic."""
    layer = diameters.prove_cubic_form(diameters.cubic_form())
    coefficient = _per_cube(diameters.cubic_form(), letters.diameter)
    return _iterated(translated(claim, {"omega": letters.weights}), coefficient, letters.diameter, layer)


def residual_inf(claim: Expr) -> Proof:
    """own:residual-inf."""
    cubic = diameters.linearised(diameters.residual_tanh_form())
    layer = diameters.prove_residual_form(cubic)
    return _iterated(
        translated(claim, {"omega": letters.weights}), _per_cube(cubic, letters.residual), letters.residual, layer
    )


def _per_cube(form: Expr, letter: Expr) -> Expr:
    """The coefficient of letter³, with `weights` for the product of the two norms of a head."""
    return sp.simplify((form / letter**3).subs(letters.W_V, letters.weights / letters.W_QK))


def composite_with_gamma(claim: Expr) -> Proof:
    """dong2021:2.2, and 2.3 with B in the place of β: heads are summed norm by norm."""
    coefficient = composite.gamma_constant()
    names = {"gamma_star": letters.gamma, "B": letters.beta}
    layer = composite.prove_gamma_constant(coefficient)
    return _iterated(translated(claim, names), coefficient, letters.residual, layer)


def composite_with_map(claim: Expr) -> Proof:
    """dong2021:3.2: a Lipschitz map after attention."""
    attention = composite.gamma_constant()
    a = sp.Symbol("a", positive=True)
    coefficient = letters.lipschitz * attention
    mlp = Proof(
        "a Lipschitz map after attention",
        (r"$\|\mathrm{res}(f(Y))\| \le \lambda\|\mathrm{res}(Y)\|$",),
        (Step("attention, then the map", coefficient * a**3, "=", letters.lipschitz * (attention * a**3)),),
    ).check()
    layer = chain(mlp.claim, composite.prove_gamma_constant(attention), mlp)
    names = {"gamma_star": letters.gamma, "B": letters.beta, "lambda_f": letters.lipschitz}
    return _iterated(translated(claim, names), coefficient, letters.residual, layer)


def gamma_free(claim: Expr) -> Proof:
    """own:gamma-free, any number of heads."""
    columns = over_heads(letters.q_of[h] * letters.W_QK_of[h] * letters.W_one_of[h])
    rows = over_heads(letters.W_QK_of[h] * letters.W_inf_of[h])
    return composite.prove_gamma_free(translated(claim, {"columns": columns, "rows": rows}))


def gamma_free_one_head(claim: Expr) -> Proof:
    """own:gamma-free-one-head."""
    names = {"q_max": letters.q, "norm_W_QK_1": letters.W_QK, "norm_W_composite": letters.W_V}
    return composite.prove_one_head(translated(claim, names))


def skip_lower(claim: Expr) -> Proof:
    """own:skip-lower."""
    return prove_skip_recursion(translated(claim, {"theta": letters.u}))


def masked(claim: Expr) -> Proof:
    """wu2024:1."""
    return masks.prove_mask_bound(translated(claim, {"product_norm": letters.W_V}))


def acute(claim: Expr) -> Proof:
    """wu2024:cor1."""
    return masks.prove_cosine_bound(translated(claim, {"least": letters.epsilon}))


def hemisphere(claim: Expr) -> Proof:
    """own:hemisphere."""
    names = {"least": letters.epsilon, "gamma": letters.height, "section": letters.diameter}
    return masks.prove_hemisphere_bound(translated(claim, names))


def full_rank(claim: Expr) -> Proof:
    """own:full-rank."""
    return masks.prove_hemisphere_bound(translated(claim, {"least": letters.epsilon}), masks.full_rank_start())
