"""Depths and regions, decided exactly: against iteration in fractions, at equality, and where nothing contracts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from rankmath.formula.symbolic.depth import (
    depth_to_tolerance,
)

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
