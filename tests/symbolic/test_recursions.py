"""Closed forms against iteration in exact fractions, their induction proofs, and the best constant with skips."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from rankmath.symbolic.letters import H, L, a0, beta, c, d_qk, diameter, gamma, kappa, lipschitz, skip, u
from rankmath.symbolic.proof import NotProved
from rankmath.symbolic.recursions import (
    best_skip_constant,
    growth,
    power_recursion,
    prove_power_recursion,
    prove_skip_constant,
    prove_skip_recursion,
    skip_recursion,
    solve_linear,
)

ONE = sp.Integer(1)


def rational(x: Fraction) -> sp.Rational:
    return sp.Rational(x.numerator, x.denominator)


@pytest.mark.parametrize("factor", [Fraction(3), Fraction(1, 2), Fraction(7, 3)])
def test_linear_recursions_are_solved(factor):
    q, t, s = sp.symbols("q t s", positive=True)
    solution = solve_linear(q, t, s).subs(q, rational(factor))
    b = s
    for depth in range(5):
        assert sp.expand(solution.subs(L, depth) - b) == 0
        b = rational(factor) * b + t


@pytest.mark.parametrize("order", [2, 3, 4])
def test_power_recursion_is_its_iteration(order):
    form = power_recursion(order=order).expression
    a = a0
    for depth in range(5):
        assert sp.powsimp(form.subs(L, depth)) == sp.powsimp(a)
        a = sp.expand(c * a**order)


def test_power_recursion_is_the_printed_form():
    assert power_recursion().expression.equals(c ** ((3**L - 1) / 2) * a0 ** (3**L))
    assert power_recursion().proof.proved
    assert len(power_recursion().proof.steps) == 3


def test_the_mlp_only_changes_the_coefficient():
    attention = 4 * gamma * beta * H / sp.sqrt(d_qk)
    form = power_recursion(attention * lipschitz, a0)
    plain = power_recursion(attention, a0)
    assert sp.simplify(form.expression / plain.expression - lipschitz ** ((3**L - 1) / 2)) == 0


@pytest.mark.parametrize(
    "broken",
    [
        c ** ((3**L + 1) / 2) * a0 ** (3**L),
        c ** ((3**L - 1) / 3) * a0 ** (3**L),
        c ** ((3**L - 2) / 2) * a0 ** (3**L),
        c ** ((3**L - 1) / 2) * a0 ** (2**L),
        c ** ((3**L - 1) / 2) * a0 ** (3**L + 1),
        c ** ((3**L - 1) / 2) * a0 ** (3 * L),
        2 * c ** ((3**L - 1) / 2) * a0 ** (3**L),
        c ** ((3**L - 1) / 2) * (a0 * sp.Rational(101, 100)) ** (3**L),
        c ** ((3 ** (L + 1) - 3) / 2) * a0 ** (3**L),
    ],
)
def test_no_other_closed_form_is_proved(broken):
    with pytest.raises(NotProved):
        prove_power_recursion(broken)


def test_growth_is_what_one_layer_adds():
    for sign in (-1, 1):
        for v in (sp.Rational(1, 7), sp.Rational(1, 2), sp.Rational(9, 10)):
            after = v * (1 + sign * v) ** 2
            assert growth(v, sign) == sign * (1 / v - 1 / after)
    with pytest.raises(ValueError, match="sign: 0 given; allowed are -1, 1"):
        growth(u, 0)


def test_best_constant_of_skips():
    K = best_skip_constant()
    assert K.subs(u, sp.Rational(1, 2)) == 6
    assert sp.limit(K, u, 0, "+") == 2
    assert best_skip_constant(+1) == 2
    assert prove_skip_constant(K).proved
    assert prove_skip_constant(sp.Integer(2), sign=+1).proved


@pytest.mark.parametrize("factor", [sp.Rational(99, 100), sp.Rational(101, 100)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_one_percent_less_or_more_is_not_the_best_constant(factor, sign):
    with pytest.raises(NotProved, match=r"dominates|no smaller"):
        prove_skip_constant(factor * best_skip_constant(sign), sign=sign)


def test_the_uniform_constant_dominates_only_up_to_one_half():
    # K = 6 is the supremum on (0, 1/2]: it is reached there, and passed beyond.
    v = sp.Symbol("v", positive=True)
    assert sp.solve(growth(v, -1) - 6, v) == [sp.Rational(1, 2), sp.Rational(4, 3)]


@cache
def squared(weight, sign):
    """(κ/λ times) the square of the bound as a function of v_0 = κΔ_0²/λ, u, λ and L, in exact arithmetic."""
    v = sp.Symbol("v", positive=True)
    square = (skip_recursion(weight, sign=sign).expression ** 2 * kappa / weight).subs(
        kappa, weight * v / diameter**2
    )
    return sp.lambdify((v, u, skip, L), sp.simplify(square), "math")


depths = st.integers(1, 6)
shares = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(1, 2), max_denominator=1000)


@given(v=shares, depth=depths)
def test_skip_lower_is_below_the_iteration_and_attained_after_one_layer(v, depth):
    bound = squared(ONE, -1)
    value = v
    for _ in range(depth):
        value = value * (1 - value) ** 2
    assert bound(v, v, 1, depth) <= value
    assert bound(v, v, 1, 1) == v * (1 - v) ** 2


@given(v=shares, depth=depths)
def test_skip_upper_is_above_the_iteration(v, depth):
    bound = squared(ONE, +1)
    v /= 2 * depth
    value = v
    for _ in range(depth):
        value = value * (1 + value) ** 2
    assert value <= bound(v, None, 1, depth)


@given(
    weight=st.sampled_from([Fraction(1, 3), Fraction(9, 10), Fraction(11, 10), Fraction(2)]), v=shares, depth=depths
)
def test_lambda_skip_is_below_the_iteration(weight, v, depth):
    # u is the largest v before the last layer; where v reaches 1 the theorem says nothing.
    values = [v]
    for _ in range(depth):
        values.append(weight**2 * values[-1] * (1 - values[-1]) ** 2)
    most = max(values[:-1])
    assume(most < 1)
    assert squared(skip, -1)(v, most, weight, depth) <= values[depth]


def test_lambda_skip_has_three_regimes():
    form = skip_recursion().expression
    at_one = sp.limit(form, skip, 1)
    assert sp.simplify(at_one - skip_recursion(ONE).expression) == 0
    point = {kappa: 1, diameter: sp.Rational(1, 2), u: sp.Rational(1, 2)}
    # λ < 1: geometric, at the rate λ.
    shrinking = form.subs(point).subs(skip, sp.Rational(1, 2))
    ratio = sp.limit(shrinking.subs(L, L + 1) / shrinking, L, sp.oo)
    assert ratio == sp.Rational(1, 2)
    # λ > 1: a floor that does not depend on where the tokens started.
    persisting = form.subs({kappa: 1, u: sp.Rational(1, 2), skip: 2})
    floor = sp.sqrt(skip * (skip**2 - 1) / (best_skip_constant() * kappa)).subs(
        {kappa: 1, u: sp.Rational(1, 2), skip: 2}
    )
    for start in (sp.Rational(1, 100), sp.Rational(1, 2)):
        assert sp.simplify(sp.limit(persisting.subs(diameter, start), L, sp.oo) - floor) == 0


@pytest.mark.parametrize("weight", [ONE, skip])
@pytest.mark.parametrize("sign", [-1, 1])
def test_broken_skip_forms_are_refused(weight, sign):
    form = skip_recursion(weight, sign=sign)
    assert form.proof.proved
    for broken in (form.expression * 2, form.expression.subs(kappa, sp.Rational(99, 100) * kappa)):
        with pytest.raises(NotProved, match=r"base case|induction step"):
            prove_skip_recursion(broken, weight, sign=sign)


def test_the_start_alone_does_not_bound_skips_from_below():
    # Two tokens ±a, d = 1: Δ' = Δ(1 + v tanh(wΔ²/4)), κ = |v||w|/4. Growing first, then annihilating, with the same
    # κ = 1 in both layers: from κΔ² < 1/2 straight to Δ = 0, below every positive bound.
    with mpmath.workdps(30):
        start = mpmath.mpf("0.49")
        grown = start * (1 + start) ** 2
        assert start < 0.5
        assert grown > 1
        w = mpmath.mpf("1e-10")
        one = start * (1 + 4 / w * mpmath.tanh(w * start / 4)) ** 2
        # v tanh(w y/4) = 1 with v = 4/w has a solution w once y = κΔ² exceeds 1.
        w2 = mpmath.findroot(lambda w: 4 / w * mpmath.tanh(w * one / 4) - 1, 2)
        assert abs(1 - 4 / w2 * mpmath.tanh(w2 * one / 4)) < mpmath.mpf("1e-25")
        bound = skip_recursion(ONE).expression.subs({kappa: 1, diameter: sp.sqrt(0.49), u: 0.5, L: 2})
        assert bound > 0.2


def test_order_is_checked():
    with pytest.raises(ValueError, match="order: 1 given; a whole number of at least 2"):
        power_recursion(order=1)
