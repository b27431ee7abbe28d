"""Roots with certified digits, and the softmax sandwich that ends at one of them."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb, ctx

from rankmath.symbolic.constants import (
    chord_root,
    prove_chord_root,
    prove_sandwich_lower,
    prove_sandwich_upper,
    root_enclosure,
    sandwich_lower,
    sandwich_threshold,
    sandwich_upper,
)
from rankmath.symbolic.letters import D
from rankmath.symbolic.proof import NotProved

x = sp.Symbol("x")


def test_the_threshold_solves_its_equation_with_certainty():
    ball = sandwich_threshold().enclosure(bits=200)
    with ctx.workprec(240):
        assert (ball.exp() - 1 - 2 * ball).contains(0)
        assert ball.rad() < arb(2) ** -200
        low, high = ball.lower(), ball.upper()
        assert low.exp() < 1 + 2 * low
        assert high.exp() > 1 + 2 * high


def test_the_threshold_agrees_with_lambert_in_mpmath():
    with mpmath.workdps(60):
        value = -mpmath.mpf(1) / 2 - mpmath.lambertw(-1 / (2 * mpmath.sqrt(mpmath.e)), -1).real
        text = mpmath.nstr(value, 55)
    assert sandwich_threshold().decimals(50) == text[:52]
    assert sandwich_threshold().decimals(4) == "1.2564"
    assert str(sandwich_threshold().closed_form.evalf(40))[:38] == sandwich_threshold().decimals(36)


@pytest.mark.parametrize("slope", [sp.Integer(2), sp.Integer(8), sp.sqrt(2), sp.Rational(3, 2)])
def test_chords_meet_the_exponential_where_lambert_says(slope):
    closed = chord_root(slope)
    assert prove_chord_root(closed, slope).proved
    value = closed.evalf(50)
    assert value > 0
    assert abs(sp.exp(value) - 1 - slope * value) < sp.Float("1e-45")


@pytest.mark.parametrize(
    "broken",
    [
        -sp.Rational(1, 2) - sp.LambertW(-sp.exp(-sp.Rational(1, 2)) / 2, 0),
        -sp.Rational(1, 2) + sp.LambertW(-sp.exp(-sp.Rational(1, 2)) / 2, -1),
        -sp.Rational(1, 3) - sp.LambertW(-sp.exp(-sp.Rational(1, 2)) / 2, -1),
        -sp.Rational(1, 2) - sp.LambertW(-sp.exp(-sp.Rational(1, 2)) / 3, -1),
        sp.Rational(12564, 10000),
    ],
)
def test_another_closed_form_is_refused(broken):
    with pytest.raises(NotProved):
        prove_chord_root(broken, sp.Integer(2))


def test_a_chord_that_is_too_flat_has_no_positive_root():
    with pytest.raises(NotProved):
        prove_chord_root(chord_root(sp.Rational(1, 2)), sp.Rational(1, 2))


@pytest.mark.parametrize("factor", [sp.Rational(99, 100), sp.Rational(101, 100)])
def test_the_sandwich_cannot_be_moved(factor):
    assert prove_sandwich_upper(sandwich_upper()).proved
    assert prove_sandwich_lower(sandwich_lower()).proved
    with pytest.raises(NotProved, match="no gap at the root"):
        prove_sandwich_upper(1 + factor * 2 * D)
    with pytest.raises(NotProved, match="no gap at 0"):
        prove_sandwich_upper(factor * (1 + 2 * D))
    with pytest.raises(NotProved, match="slope"):
        prove_sandwich_lower(1 - factor * D)
    with pytest.raises(NotProved, match="touch"):
        prove_sandwich_lower(factor * (1 - D))


def test_the_sandwich_holds_below_the_threshold_and_fails_above():
    with mpmath.workdps(30):
        # Two keys, the first of tiny weight: the ratio P/q tends to e^D.
        q = mpmath.mpf("1e-20")
        for oscillation, holds in ((mpmath.mpf("1.2564"), True), (mpmath.mpf("1.2565"), False)):
            ratio = mpmath.exp(oscillation) / (q * mpmath.exp(oscillation) + 1 - q)
            assert (ratio <= 1 + 2 * oscillation) is holds
        ratio = mpmath.exp(3) / (mpmath.mpf("1e-4") * mpmath.exp(3) + 1 - mpmath.mpf("1e-4"))
        assert ratio > 20.04 > 7


def test_roots_are_enclosed_only_where_there_is_exactly_one():
    square = root_enclosure(x**2 - 2, x, (Fraction(1), Fraction(2)), bits=300)
    with ctx.workprec(320):
        assert (square * square).contains(2)
        assert square.overlaps(arb(2).sqrt())
    for function, low, high in ((x**2 - 2, -2, 2), (x**2 + 1, -1, 1), (x - 5, 0, 1), ((x - 1) ** 2, 0, 2)):
        with pytest.raises(NotProved, match="exactly one root"):
            root_enclosure(function, x, (Fraction(low), Fraction(high)), bits=64)


def test_a_falling_function_has_its_root_enclosed_too():
    ball = root_enclosure(sp.Integer(3) - sp.exp(x), x, (Fraction(1), Fraction(2)), bits=100)
    with ctx.workprec(120):
        assert ball.overlaps(arb(3).log())


def test_precision_is_global_and_left_alone():
    before = ctx.prec
    sandwich_threshold().decimals(30)
    with pytest.raises(NotProved):
        root_enclosure(x**2 + 1, x, (Fraction(0), Fraction(1)), bits=500)
    assert ctx.prec == before


@pytest.mark.parametrize("bad", [0, -1, 2.5, None, 10**40])
def test_digits_and_bits_are_checked(bad):
    with pytest.raises(ValueError, match=r"places: .* given"):
        sandwich_threshold().decimals(bad)
    with pytest.raises(ValueError, match=r"bits: .* given"):
        sandwich_threshold().enclosure(bits=bad)
