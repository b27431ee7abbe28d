"""Logarithms beyond a double: σ = mantissa · 2^exponent behaves like the real number it stands for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath.arithmetic.scales import LogScale

steps = st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, 1000.0]), st.floats(-100, 100)), min_size=1, max_size=300)


def of(value: float) -> LogScale:
    return LogScale.of(np.asarray([[value]]))


@given(start=st.floats(-10, -0.1), steps=steps)
def test_times_and_plus_follow_the_exact_value(start, steps):
    s, exact = of(start), Fraction(start)
    errors = Fraction(1, 10**12)
    for factor, term in steps:
        s, exact = s.times(factor).plus(term), exact * Fraction(factor) + Fraction(term)
        errors = errors * Fraction(factor) + (abs(exact) + abs(Fraction(term))) / 2**50
    value = Fraction(float(s.mantissa[0, 0])) * Fraction(2) ** int(s.exponent[0, 0])
    assert abs(value - exact) <= errors + Fraction(1, 10**9)
    assert abs(float(s.mantissa[0, 0])) < 2.0**1012


def test_values_that_a_double_holds_are_that_double():
    s = of(-1.0).times(3.0).plus(0.25)
    assert s.to_float()[0, 0] == -2.75
    assert s.exponent[0, 0] == 0


def test_beyond_a_double_only_the_logarithm_is_left():
    s = of(-1.0)
    for _ in range(5000):
        s = s.times(3.0)
    assert s.to_float()[0, 0] == -math.inf
    assert s.log_minus()[0, 0] == pytest.approx(5000 * math.log(3), rel=1e-15)
    assert s.times(3.0).ratio(s)[0, 0] == pytest.approx(3.0, rel=1e-15)
    # Terms no longer count, and nothing underflows into nan.
    assert s.plus(-700.0).log_minus()[0, 0] == s.log_minus()[0, 0]
    assert s.plus(-math.inf).to_float()[0, 0] == -math.inf
    assert s.plus(-math.inf).log_minus()[0, 0] == math.inf
    assert of(1.0).times(2.0**20).to_float()[0, 0] == 2.0**20


@pytest.mark.parametrize("factor", [3.0, 2.0, 1000.0])
def test_ratios_are_kept_where_the_exponent_takes_over(factor):
    """σ' = factor·σ through every handover, and back: also far apart, as long as a double holds the ratio."""
    before = [of(-1.0)]
    for _ in range(1400):
        after = before[-1].times(factor)
        assert after.ratio(before[-1])[0, 0] == pytest.approx(factor, rel=1e-14)
        assert before[-1].ratio(after)[0, 0] == pytest.approx(1 / factor, rel=1e-14)
        before.append(after)
    assert before[-1].ratio(before[-11])[0, 0] == pytest.approx(factor**10, rel=1e-13)


def test_log_minus_is_undefined_from_zero_on():
    assert math.isnan(of(0.0).log_minus()[0, 0])
    assert math.isnan(of(2.0).log_minus()[0, 0])
    assert of(-math.inf).log_minus()[0, 0] == math.inf


def test_ratios_of_zeros_and_infinities_are_undefined():
    assert math.isnan(of(1.0).ratio(of(0.0))[0, 0])
    assert math.isnan(of(-math.inf).ratio(of(-1.0))[0, 0])
    assert math.isnan(of(-1.0).ratio(of(-math.inf))[0, 0])
    assert of(-6.0).ratio(of(2.0))[0, 0] == -3.0


def test_minus_infinity_stays():
    s = of(-math.inf)
    for _ in range(10):
        s = s.times(3.0).plus(5.0)
    assert s.to_float()[0, 0] == -math.inf
    assert s.exponent[0, 0] == 0


def test_entries_have_exponents_of_their_own():
    s = LogScale.of(np.asarray([-1.0, -(2.0**999), 0.0]))
    for _ in range(3):
        s = s.times(3.0)
    assert s.to_float().tolist() == [-27.0, -math.inf, 0.0]
    assert s.log_minus()[1] == pytest.approx(999 * math.log(2) + 3 * math.log(3), rel=1e-15)
