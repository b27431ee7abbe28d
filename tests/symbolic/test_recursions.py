"""Closed forms against iteration in exact fractions, their induction proofs, and the best constant with skips."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from rankmath.claims import bound
from rankmath.symbolic.letters import L, diameter, kappa, u
from rankmath.symbolic.proof import NotProved
from rankmath.symbolic.recursions import (
    best_skip_constant,
    prove_power_recursion,
    prove_skip_constant,
    prove_skip_recursion,
)

c, a0 = sp.symbols("c a0", positive=True)


def test_the_printed_form_is_the_iteration():
    form = c ** ((3**L - 1) / 2) * a0 ** (3**L)
    assert prove_power_recursion(form, c, a0).proved
    a = a0
    for depth in range(5):
        assert sp.powsimp(form.subs(L, depth)) == sp.powsimp(a)
        a = sp.expand(c * a**3)


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
        prove_power_recursion(broken, c, a0)


def test_best_constant_of_skips():
    K = best_skip_constant()
    assert sp.limit(K, u, 0, "+") == 2
    assert prove_skip_constant(K).proved
    for v in (sp.Rational(1, 7), sp.Rational(1, 2), sp.Rational(9, 10)):
        assert best_skip_constant(v) == 1 / (v * (1 - v) ** 2) - 1 / v


@pytest.mark.parametrize("factor", [sp.Rational(99, 100), sp.Rational(101, 100)])
def test_one_percent_less_or_more_is_not_the_best_constant(factor):
    with pytest.raises(NotProved, match=r"dominates|no smaller"):
        prove_skip_constant(factor * best_skip_constant())


def test_the_uniform_constant_dominates_only_up_to_one_half():
    # K = 6 is the supremum on (0, 1/2]: it is reached there, and passed beyond.
    v = sp.Symbol("v", positive=True)
    assert sp.solve(best_skip_constant(v) - 6, v) == [sp.Rational(1, 2), sp.Rational(4, 3)]


def squared(v, depth, weight=1, *, most=None):
    """κ/λ times the squared bound of proofs/own_skip_lower.tex, v = κΔ_0²/λ: below, or above without `most`."""
    sums = sum(weight ** (2 * l) for l in range(depth))
    radicand = 1 - 2 * v * sums if most is None else 1 + best_skip_constant(most) * v * sums
    return weight ** (2 * depth) * v / radicand


depths = st.integers(1, 6)
shares = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(1, 2), max_denominator=1000)


@given(v=shares, depth=depths)
def test_skip_lower_is_below_the_iteration_and_attained_after_one_layer(v, depth):
    value = v
    for _ in range(depth):
        value = value * (1 - value) ** 2
    assert squared(v, depth, most=v) <= value
    assert squared(v, 1, most=v) == v * (1 - v) ** 2


@given(v=shares, depth=depths)
def test_skip_upper_is_above_the_iteration(v, depth):
    v /= 2 * depth
    value = v
    for _ in range(depth):
        value = value * (1 + value) ** 2
    assert value <= squared(v, depth)


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
    assert squared(v, depth, weight, most=most) <= values[depth]


def test_broken_skip_forms_are_refused():
    form = diameter / sp.sqrt(1 + best_skip_constant() * kappa * diameter**2 * L)
    assert prove_skip_recursion(form).proved
    for broken in (form * 2, form.subs(kappa, sp.Rational(99, 100) * kappa)):
        with pytest.raises(NotProved, match=r"base case|induction step"):
            prove_skip_recursion(broken)


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
        assert bound("own:skip-lower").evaluate(L=2, kappa=1, diameter=0.7, theta=0.5, log=False) > 0.2
