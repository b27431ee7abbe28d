"""Depths and regions, decided exactly: against iteration in fractions, at equality, and where nothing contracts."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from rankmath.symbolic.depth import (
    contraction_region,
    depth_formula,
    depth_to_tolerance,
    log_rate,
    nu,
    prove_depth_formula,
    tanh_region,
    tol,
)
from rankmath.symbolic.letters import a0, c, diameter, kappa
from rankmath.symbolic.proof import NotProved

positive = st.fractions(min_value=Fraction(1, 100), max_value=2, max_denominator=100)


def brute_force(coefficient, start, tolerance, most=7):
    a = start
    for depth in range(most):
        if a <= tolerance:
            return depth
        a = coefficient * a**3
    return None


@given(coefficient=positive, start=positive, tolerance=positive)
def test_depth_is_the_first_that_iterates_below(coefficient, start, tolerance):
    found = depth_to_tolerance(coefficient, start, tolerance)
    expected = brute_force(coefficient, start, tolerance)
    if expected is None:
        # Either never, or beyond what fractions can follow.
        assert found is None or found >= 7
        assert (found is None) is (coefficient * start**2 >= 1)
    else:
        assert found == expected


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_equality_reaches_the_tolerance_and_anything_less_does_not(depth):
    exact = Fraction(1, 2) ** 3**depth
    assert depth_to_tolerance(1, Fraction(1, 2), exact) == depth
    assert depth_to_tolerance(1, Fraction(1, 2), exact * (1 - Fraction(1, 10**400))) == depth + 1
    assert depth_to_tolerance(1, Fraction(1, 2), exact * (1 + Fraction(1, 10**400))) == depth


def test_depths_beyond_every_float():
    barely = 1 - Fraction(1, 10**1000)
    depth = depth_to_tolerance(1, barely, Fraction(1, 10**300))
    # log bound = 3^L log(1 - 10^-1000), so 3^L passes 300 log(10) 10^1000 there.
    assert 3 ** (depth - 1) < 690 * 10**1000 < 3**depth


def test_what_never_gets_there():
    assert depth_to_tolerance(4, 0.5, 0.4) is None  # c a² = 1: the bound stays at a
    assert depth_to_tolerance(4, 0.5, 0.5) == 0
    assert depth_to_tolerance(4, 0.6, 0.1) is None
    assert depth_to_tolerance(4, 0.6, 0.7) == 0


@pytest.mark.parametrize("name", ["coefficient", "start", "tolerance"])
@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True, [1]])
def test_bad_numbers_are_refused_by_name(name, bad):
    values = {"coefficient": 1, "start": 0.5, "tolerance": 0.1, name: bad}
    with pytest.raises(ValueError, match=rf"{name}: .* given; a number in \(0, inf\) is needed"):
        depth_to_tolerance(**values)


def test_balls_are_not_exact():
    with pytest.raises(ValueError, match="start: a ball given; an exact number is needed"):
        depth_to_tolerance(1, arb(0.5), 0.1)


def test_the_formula_is_the_real_depth():
    assert prove_depth_formula(depth_formula()).proved
    values = {c: sp.Rational(1, 2), a0: sp.Rational(9, 10), tol: sp.Rational(1, 10**6)}
    real = depth_formula().subs(values).evalf(30)
    assert depth_to_tolerance(0.5, Fraction(9, 10), Fraction(1, 10**6)) == sp.ceiling(real)


@pytest.mark.parametrize(
    "broken",
    [
        depth_formula() * sp.Rational(101, 100),
        depth_formula() + sp.Rational(1, 100),
        depth_formula().subs(tol, 2 * tol),
        sp.log(sp.log(tol) / sp.log(a0)) / sp.log(3),
    ],
)
def test_another_formula_is_refused(broken):
    with pytest.raises(NotProved):
        prove_depth_formula(broken)


def test_contraction_region():
    region = contraction_region()
    assert region.condition == (c * a0**2 < 1)
    assert sp.simplify(2 * log_rate() - sp.log(c * a0**2)) == 0
    assert region.proof.proved


def test_the_tanh_form_contracts_on_a_larger_region():
    region = tanh_region()
    assert region.proof.proved
    for weight in (sp.Rational(1, 2), sp.Integer(1)):
        assert region.condition.subs({nu: weight, kappa: 10**6, diameter: 10}) == sp.true
    edge = 2 * sp.atanh(sp.Rational(1, 2))
    assert edge.evalf() > 1
    for square, inside in ((edge.evalf(20) - sp.Float("1e-9"), True), (edge.evalf(20) + sp.Float("1e-9"), False)):
        point = {nu: 2, kappa: 1, diameter: sp.sqrt(square)}
        assert bool(region.condition.subs(point)) is inside
        # One step of the map itself agrees.
        assert bool((2 * sp.tanh(square / 2)).evalf(20) < 1) is inside
