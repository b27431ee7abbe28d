"""What a one-layer bound becomes after L layers: closed forms, solved and then proved by induction.

Without skips a_{l+1} = c a_l^3; logarithms make it linear, and sympy solves it. With skips the recursion
Δ_{l+1} = λΔ_l (1 ∓ κΔ_l²/λ) is linear in 1/Δ_l², up to a remainder whose supremum is the best constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from rankmath.symbolic.letters import L, a0, c, diameter, kappa, skip, u
from rankmath.symbolic.proof import Expr, Proof, Step, chain
from rankmath.validation import as_choice, as_count


@dataclass(frozen=True)
class ClosedForm:
    """The value after L layers as an expression in L, with its proof."""

    expression: Expr
    proof: Proof


@cache
def solve_linear(factor: Expr, term: Expr, start: Expr) -> Expr:
    """b_L with b_{l+1} = factor · b_l + term and b_0 = start.

    Examples
    --------
    >>> solve_linear(sp.Integer(2), sp.Integer(1), sp.Integer(0))
    2**L - 1
    """
    b = sp.Function("b")
    # Opaque symbols: the solver need not look inside the coefficients.
    t, s = sp.symbols("t s", real=True)
    solution = sp.rsolve(b(L + 1) - factor * b(L) - t, b(L), {b(0): s})
    return solution.subs({t: term, s: start}, simultaneous=True)


@cache
def power_recursion(coefficient: Expr = c, start: Expr = a0, *, order: int = 3) -> ClosedForm:
    """Closed form of a_{l+1} = c a_l^p, from the linear recursion of log a_l.

    For p = 3: c^{(3^L - 1)/2} a_0^{3^L} (`dong2021:2.2`, `own:diameter`; an MLP puts cλ for c).

    Examples
    --------
    >>> power_recursion().expression
    a0**(3**L)*c**((3**L - 1)/2)
    """
    order = as_count("order", order, least=2, most=1000)
    log_c, log_a = sp.symbols("log_c log_a", real=True)
    solution = sp.collect(sp.expand(solve_linear(sp.Integer(order), log_c, log_a)), (log_c, log_a))
    exponent = sp.factor_terms(solution.coeff(log_c))
    # Unevaluated, or sympy would print (3^L - 1)/2 as a difference of fractions.
    expression = sp.Mul(coefficient**exponent, start ** solution.coeff(log_a), evaluate=False)
    return ClosedForm(expression, prove_power_recursion(expression, coefficient, start, order=order))


def prove_power_recursion(claim: Expr, coefficient: Expr = c, start: Expr = a0, *, order: int = 3) -> Proof:
    """Induction: `claim`, an expression in L, bounds every sequence with 0 <= a_{l+1} <= c a_l^p from a_0.

    Raises `NotProved` when sympy cannot confirm the base, the step or the monotonicity.

    Examples
    --------
    >>> prove_power_recursion(c ** ((3**L + 1) / 2) * a0 ** (3**L))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.symbolic.proof.NotProved: closed form of a' = c a^3: step 1 is not proved: base case, L = 0: ...
    """
    x = sp.Symbol("x", positive=True)
    after = sp.expand_log(sp.log(coefficient) + order * sp.log(claim))
    return Proof(
        f"closed form of a' = c a^{order}",
        (),
        (
            Step("base case, L = 0", sp.log(claim.subs(L, 0)), "=", sp.log(start)),
            Step("induction step, in logarithms", sp.expand_log(sp.log(claim.subs(L, L + 1))), "=", after),
            Step(
                "the right side increases with a, so that inequalities chain",
                0,
                "<=",
                sp.Derivative(coefficient * x**order, x),
            ),
        ),
    ).check()


@cache
def growth(v: Expr, sign: int) -> Expr:
    """φ(v) = ±(1/(v(1 ∓ v)²) - 1/v), how far 1/v moves in one layer of v' = v(1 ∓ v)²; sign = -1 shrinks v.

    Examples
    --------
    >>> growth(u, -1), growth(u, +1)
    ((2 - u)/(1 - u)**2, (u + 2)/(u + 1)**2)
    """
    sign = as_choice("sign", sign, (-1, 1))
    # Simplified in w = 1 ∓ v, where no sign is pulled out of the square.
    w = sp.Symbol("w", positive=True)
    z = sign * (w - 1)
    return sp.cancel(sign * (1 / z - 1 / (z * w**2))).subs(w, 1 + sign * v)


def best_skip_constant(sign: int = -1) -> Expr:
    """The best K in |1/v' - 1/v| <= K on (0, u]: φ(u) for shrinking v (O4), φ(0+) = 2 for growing v.

    For shrinking v it is attained after one layer from v = u; K(1/2) = 6 serves all u <= 1/2, and K(0+) = 2.

    Examples
    --------
    >>> best_skip_constant()
    (2 - u)/(1 - u)**2
    >>> best_skip_constant().subs(u, sp.Rational(1, 2)), best_skip_constant(+1)
    (6, 2)
    """
    return growth(u, -1) if sign < 0 else sp.limit(growth(u, +1), u, 0, "+")


@cache
def prove_skip_constant(claim: Expr, *, sign: int = -1) -> Proof:
    """`claim`, an expression in u, is the least K with ±(1/v - 1/v') <= K for every v in (0, u].

    sign = -1: v' = v(1 - v)² with u < 1. sign = +1: v' = v(1 + v)² and any u.

    Examples
    --------
    >>> prove_skip_constant(best_skip_constant() * sp.Rational(99, 100))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.symbolic.proof.NotProved: best constant of v' = v(1 - v)^2: step 3 is not proved: ...
    """
    v, s, w = sp.symbols("v s w", positive=True)
    r = sp.Symbol("r", nonnegative=True)
    moved = growth(v, sign)
    identity = Step("how far 1/v moves in one layer", 1 / (v * (1 + sign * v) ** 2), "=", 1 / v - sign * moved)
    if sign < 0:
        steps = (
            Step("it increases on (0, 1)", 0, "<", sp.Derivative(moved, v), where={v: 1 / (1 + s)}),
            Step("so K dominates it on (0, u]", moved, "<=", claim, where={v: 1 - w - r, u: 1 - w}),
            Step("and no smaller K does: equality at v = u", claim, "=", moved.subs(v, u)),
        )
    else:
        steps = (
            Step("it decreases on the half-line", sp.Derivative(moved, v), "<", 0),
            Step("so K dominates it", moved, "<=", claim),
            Step("and no smaller K does: equality in the limit", claim, "=", sp.Limit(moved, v, 0, "+")),
        )
    return Proof(f"best constant of v' = v(1 {'-' if sign < 0 else '+'} v)^2", (), (identity, *steps)).check()


@cache
def skip_recursion(weight: Expr = skip, *, sign: int = -1) -> ClosedForm:
    """Bound of Δ after L layers that multiply it by λ(1 ∓ φ_l), φ_l <= v_l = κΔ_l²/λ: linear in 1/v_l.

    sign = -1 (lower bound, O4): λ^L Δ_0 / √(1 + K(u) v_0 S_L), provided φ_l <= u < 1 **at every layer** l < L.
    sign = +1 (upper bound): λ^L Δ_0 / √(1 - 2 v_0 S_L), provided 2 v_0 S_L < 1.
    S_L = 1 + λ² + … + λ^{2L-2}: L for λ = 1 (polynomial); bounded for λ < 1 (geometric, at the rate λ); for λ > 1
    the lower bound tends to Δ² = λ(λ² - 1)/(K κ), whatever Δ_0.

    v_0 <= u alone does not suffice for the lower bound: Δ may first grow and then fall to 0 in one layer. By the
    upper bound, v_l <= 1/2 at every l < L is certain beforehand for λ = 1 when 2 L v_0 <= 1.

    Parameters
    ----------
    weight : λ, the number 1 or an expression for a number other than 1.

    Examples
    --------
    >>> skip_recursion(sp.Integer(1)).expression
    diameter/sqrt(L*diameter**2*kappa*(2 - u)/(1 - u)**2 + 1)
    """
    constant, start = sp.symbols("K y0", positive=True)
    solution = solve_linear(1 / weight**2, -sign * constant / weight**2, start)
    sums = sp.simplify((solution * weight ** (2 * L) - start) / (-sign * constant))
    v0 = kappa * diameter**2 / weight
    expression = weight**L * diameter / sp.sqrt(1 - sign * best_skip_constant(sign) * v0 * sums)
    return ClosedForm(expression, prove_skip_recursion(expression, weight, sign=sign))


def prove_skip_recursion(claim: Expr, weight: Expr = skip, *, sign: int = -1) -> Proof:
    """Induction: `claim` (in L, Δ_0, κ, u and λ) is a bound of `skip_recursion`, from below or above by `sign`."""
    inverse = weight / (kappa * claim**2)
    after = (inverse - sign * best_skip_constant(sign)) / weight**2
    layer = _prove_skip_layer(weight, sign)
    induction = Proof(
        layer.claim,
        (),
        (
            Step("base case, L = 0", claim.subs(L, 0), "=", diameter),
            Step("induction step, in y", inverse.subs(L, L + 1), "=", after),
        ),
    ).check()
    return chain(layer.claim, layer, induction)


@cache
def _prove_skip_layer(weight: Expr, sign: int) -> Proof:
    """In one layer y = 1/v, v = κΔ²/λ, obeys y' <= (y + K)/λ² (sign = -1), or y' >= (y - K)/λ² (sign = +1)."""
    v, y, constant, phi, s = sp.symbols("v y K phi s", positive=True)
    slack = sp.Symbol("e", nonnegative=True)
    spread = sp.sqrt(weight * v / kappa)
    squared = kappa / weight * (weight * spread * (1 + sign * phi)) ** 2
    moved = growth(phi, sign)
    if sign < 0:
        title = "lower bound of the diameter after L layers with skips"
        layer = r"$\Delta_{l+1} \ge \lambda\Delta_l(1 - \varphi_l)$ and $\varphi_l \le u < 1$ for every $l < L$"
        inside = {v: phi + slack, phi: 1 / (1 + s)}
    else:
        title = "upper bound of the diameter after L layers with skips"
        layer = r"$\Delta_{l+1} \le \lambda\Delta_l(1 + \varphi_l)$ for every $l < L$, and the radicand is positive"
        inside = {v: phi + slack}
    linear = (y - sign * constant) / weight**2
    return Proof(
        title,
        (layer, r"$\varphi_l \le v_l = \kappa\Delta_l^2/\lambda$"),
        (
            Step("one layer, written in v", squared, "=", weight**2 * v * (1 + sign * phi) ** 2),
            Step("so 1/v moves by", 1 / (v * (1 + sign * phi) ** 2), "=", 1 / v - sign * phi / v * moved),
            Step("which is no further than from v = phi", phi / v * moved, "<=", moved, where=inside),
            *prove_skip_constant(best_skip_constant(sign), sign=sign).steps,
            Step("y = 1/v obeys a linear recursion that increases with y", 0, "<", sp.Derivative(linear, y)),
        ),
    ).check()
