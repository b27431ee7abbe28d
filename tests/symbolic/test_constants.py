"""The number at which the softmax sandwich ends, and the sandwich itself."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from rankmath.arithmetic.balls import precision
from rankmath.formula.evaluate import BallNumbers
from rankmath.formula.run import threshold
from rankmath.symbolic.constants import (
    prove_sandwich_upper,
    prove_threshold,
    sandwich_threshold,
    sandwich_upper,
)
from rankmath.symbolic.letters import D
from rankmath.symbolic.proof import NotProved


def test_the_threshold_is_the_number_the_claims_are_judged_with():
    with precision(128):
        ball = threshold(BallNumbers())
        low, high = ball.lower(), ball.upper()
        assert low > 1
        assert low.exp() < 1 + 2 * low
        assert high.exp() > 1 + 2 * high
        digits = Fraction(str(sandwich_threshold().evalf(40)))
        assert abs(digits - Fraction(ball.mid().str(40, radius=False))) < Fraction(1, 10**30)


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
        prove_threshold(broken)


@pytest.mark.parametrize("factor", [sp.Rational(99, 100), sp.Rational(101, 100)])
def test_the_sandwich_cannot_be_moved(factor):
    assert prove_sandwich_upper(sandwich_upper()).proved
    with pytest.raises(NotProved, match="no gap at the root"):
        prove_sandwich_upper(1 + factor * 2 * D)
    with pytest.raises(NotProved, match="no gap at 0"):
        prove_sandwich_upper(factor * (1 + 2 * D))


def test_the_sandwich_holds_below_the_threshold_and_fails_above():
    with mpmath.workdps(30):
        # Two keys, the first of tiny weight: the ratio P/q tends to e^D.
        q = mpmath.mpf("1e-20")
        for oscillation, holds in ((mpmath.mpf("1.2564"), True), (mpmath.mpf("1.2565"), False)):
            ratio = mpmath.exp(oscillation) / (q * mpmath.exp(oscillation) + 1 - q)
            assert (ratio <= 1 + 2 * oscillation) is holds
        ratio = mpmath.exp(3) / (mpmath.mpf("1e-4") * mpmath.exp(3) + 1 - mpmath.mpf("1e-4"))
        assert ratio > 20.04 > 7
