"""The walk through an expression: balls contain mpmath's value, nothing overflows, and signs are never guessed."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb, ctx

from rankmath.arithmetic.balls import precision
from rankmath.formula.symbolic.evaluate import OutOfDomain, Walk, enclose
from rankmath.formula.symbolic.quantities import L
from rankmath.validation import Undecided

x, y, a0, c = sp.symbols("x y a0 c", positive=True)
CLOSED = c ** ((3**L - 1) / 2) * a0 ** (3**L)

EXPRESSIONS = [
    x * y,
    x**2 / y**3,
    sp.sqrt(x + y),
    1 / sp.sqrt(x),
    x ** sp.Rational(2, 3),
    sp.exp(-x) * y,
    sp.tanh(x) / y,
    x**y,
    (sp.exp(x) - 1) / x,
    sp.E * x,
    sp.log(1 + x) * y,
    sp.Piecewise((x, sp.Eq(x, y)), (y, True)),
    -sp.LambertW(-sp.exp(-1 - x), -1),
    (1 + x) ** (y + 3),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
@pytest.mark.parametrize(
    "point", [(Fraction(1, 3), Fraction(5, 7)), (Fraction(0.1), Fraction(3)), (Fraction(2), Fraction(2))]
)
def test_balls_contain_the_value_of_mpmath(expression, point):
    values = {x: Fraction(point[0]), y: Fraction(point[1])}
    sign, ball, _ = enclose(expression, values, bits=100)
    assert sign == 1
    assert ball.rel_one_accuracy_bits() >= 100
    with mpmath.workdps(60):
        exact = {symbol: sp.Rational(value.numerator, value.denominator) for symbol, value in values.items()}
        peer = sp.log(expression.subs(exact)).evalf(60)
    _, number, _ = enclose(expression, values, bits=220)
    with precision(220):
        assert abs(number - arb(str(peer))) < arb("1e-50")
    assert ball.overlaps(number)


def test_near_the_threshold_the_precision_is_raised():
    # c a² = 1 exactly: 3^L cancels and -log(c)/2 remains, at any depth.
    for depth in (5, 600, 20_000):
        sign, ball, working = enclose(CLOSED, {c: Fraction(4), a0: Fraction(1, 2), L: Fraction(depth)}, bits=80)
        assert sign == 1
        with ctx.workprec(120):
            assert ball.overlaps(-arb(2).log())
            assert ball.rad() < arb(2) ** -80
        assert working > depth * math.log2(3)


def test_negative_factors_keep_their_sign():
    for expression, sign in (
        (-x, -1),
        ((-x) ** 3, -1),
        ((-x) ** 2, 1),
        (x - y, -1),
        ((x - y) ** 5, -1),
        ((x - y) ** 2, 1),
        ((x - y) ** 4, 1),
        ((x - y) ** -2, 1),
        ((x - y) ** -3, -1),
        (x * (x - y) ** 2 * (y - 3) ** 3, -1),
        (x - x * y, 0),
    ):
        found, ball, _ = enclose(expression, {x: Fraction(1), y: Fraction(2 if sign else 1)}, bits=60)
        assert found == sign
        assert (ball is None) is (sign == 0)


def test_zero_to_the_power_zero_is_one():
    assert enclose(x ** (3**L - 1), {x: Fraction(0), L: Fraction(0)}, bits=60)[0] == 1
    assert enclose(x ** (3**L - 1), {x: Fraction(0), L: Fraction(1)}, bits=60)[0] == 0


@pytest.mark.parametrize(
    ("expression", "words"),
    [(sp.sqrt(x - 2), "is negative"), ((x - 2) ** sp.Rational(1, 3), "is negative"), (1 / (x - 1), "denominator")],
)
def test_what_has_no_value_is_refused(expression, words):
    with pytest.raises(OutOfDomain, match=words):
        enclose(expression, {x: Fraction(1)}, bits=60)


def test_a_sign_that_a_ball_does_not_show_is_not_guessed():
    with pytest.raises(Undecided):
        Walk({x: arb(0, 1)}).log(x)
    with pytest.raises(OutOfDomain, match="bits do not decide it"):
        enclose(x - 1, {x: arb(1, 0.001)}, bits=60)


def test_wide_balls_give_wide_balls():
    ball = arb(2, 0.01)
    _, enclosure, _ = enclose(x**3, {x: ball}, bits=200)
    for point in (1.99, 2.0, 2.01):
        assert enclosure.overlaps(3 * arb(point).log())
    assert enclosure.rad() < 0.02


def test_exact_exponents():
    walk = Walk({L: Fraction(7), x: Fraction(1, 3)})
    assert walk.exact((3**L - 1) / 2) == (3**7 - 1) // 2
    assert walk.exact(3**-L) == Fraction(1, 3**7)
    assert walk.exact(x) is None
    assert walk.exact(sp.sqrt(2)) is None


def test_precision_is_left_as_it_was():
    before = ctx.prec, mpmath.mp.prec
    enclose(CLOSED, {c: Fraction(4), a0: Fraction(1, 2), L: Fraction(300)}, bits=60)
    assert (ctx.prec, mpmath.mp.prec) == before


def test_conditions_other_than_equations_are_not_read():
    with pytest.raises(TypeError, match="only equations"):
        enclose(sp.Piecewise((x, x > 1), (1, True)), {x: Fraction(2)}, bits=60)
