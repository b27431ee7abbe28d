"""Balls: what is stated about them is certain, and no precision leaks."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from rankmath.arithmetic.balls import Balls, ball, lower_float, precision, upper_float

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e6, 1e6)
rationals = st.fractions(max_denominator=10**30)


@st.composite
def wide_balls(draw: st.DrawFn) -> tuple[arb, Fraction, Fraction]:
    """A ball given by exact ends: (ball, lower end, upper end)."""
    middle, radius = draw(finite), abs(draw(st.one_of(st.just(0.0), finite)))
    with precision(2000):
        return arb(middle, radius), Fraction(middle) - Fraction(radius), Fraction(middle) + Fraction(radius)


def at_most(x: float, y: Fraction) -> bool:
    return x == -math.inf or (x < math.inf and Fraction(x) <= y)


@given(ends=wide_balls(), bits=st.sampled_from([2, 30, 53, 200]))
def test_float_bounds_are_outward(ends, bits):
    x, lower, upper = ends
    with precision(bits):  # bounds are taken at whatever precision happens to be set
        below, above = lower_float(x), upper_float(x)
    assert at_most(below, lower)
    assert at_most(-above, -upper)


@given(value=rationals, scale=st.integers(-1200, 1200), bits=st.sampled_from([53, 64, 300]))
def test_float_bounds_of_any_size_enclose_and_are_close(value, scale, bits):
    exact = value * Fraction(2) ** scale
    with precision(bits):
        x = ball(exact)
    below, above = lower_float(x), upper_float(x)
    assert at_most(below, exact)
    assert at_most(-above, -exact)
    if 1e-300 < abs(exact) < 1e300:
        assert above - below <= 4 * math.ulp(float(exact))


@given(finite)
def test_float_bounds_of_a_double_are_the_double(x):
    assert lower_float(arb(x)) == x == upper_float(arb(x))


def test_float_bounds_of_infinities_and_of_nothing():
    assert lower_float(arb.neg_inf()) == upper_float(arb.neg_inf()) == -math.inf
    assert lower_float(arb.pos_inf()) == upper_float(arb.pos_inf()) == math.inf
    for x in (arb.nan(), arb(0, math.inf)):
        assert (lower_float(x), upper_float(x)) == (-math.inf, math.inf)
    huge = arb(10) ** 400
    assert (lower_float(huge), upper_float(huge)) == (1.7976931348623157e308, math.inf)
    assert (lower_float(-huge), upper_float(-huge)) == (-math.inf, -1.7976931348623157e308)
    tiny = arb(10) ** -400
    assert (lower_float(tiny), upper_float(tiny)) == (0.0, 5e-324)


# -- conversion --------------------------------------------------------------------------------------------


@given(finite)
def test_doubles_become_exact_balls_at_any_precision(x):
    with precision(10):
        b = ball(x)
        assert b.is_exact()
        assert ball(np.float64(x)) == b
    assert float(b) == x


@given(rationals)
def test_fractions_are_enclosed(x):
    with precision(40):
        b = ball(x)
    with precision(4000):
        assert b.contains(arb(flint.fmpq(x.numerator, x.denominator)))


@pytest.mark.parametrize("value", [7, -(10**50), True])
def test_integers_become_exact_balls(value):
    with precision(300):
        assert ball(value) == arb(int(value))


# -- precision ---------------------------------------------------------------------------------------------


def test_precision_is_restored():
    before = flint.ctx.prec
    with precision(777):
        assert flint.ctx.prec == 777
        with precision(33):
            assert flint.ctx.prec == 33
        assert flint.ctx.prec == 777
    assert flint.ctx.prec == before


def test_precision_is_restored_after_an_exception():
    before = flint.ctx.prec
    with pytest.raises(ZeroDivisionError), precision(777):
        raise ZeroDivisionError
    assert flint.ctx.prec == before


def test_a_trace_that_fails_restores_the_precision(monkeypatch):
    from rankmath.attention import trace as module
    from rankmath.model.network import LayerNorm, Network

    before = flint.ctx.prec
    zero = np.zeros((1, 1, 2, 2))
    net = Network.from_arrays(zero, zero, skip=True, norm=LayerNorm("sphere"))
    with pytest.raises(ValueError, match="has no direction"):
        module.trace(net, np.zeros((2, 2)), arithmetic="balls")
    assert flint.ctx.prec == before
    monkeypatch.setattr(module, "MOST_BITS", 128)
    with pytest.raises(module.PrecisionError):
        module.trace(net, [[0.0, 0.0], [0.1, 0.3], [1.0, 1.0]], arithmetic="balls")
    assert flint.ctx.prec == before


# -- functions on arrays -----------------------------------------------------------------------------------


def boxed(*numbers: arb) -> np.ndarray:
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out


FUNCTIONS = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "abs": abs,
    "tanh": math.tanh,
    "erfc": math.erfc,
    "cosh": math.cosh,
    "sinh": math.sinh,
    "expm1_of_temporary": math.expm1,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(middle=st.floats(-20, 20), radius=st.floats(0, 3), place=st.floats(-1, 1))
def test_functions_enclose_their_values_on_the_whole_ball(name, middle, radius, place):
    """Any point of the ball, in double precision, up to the rounding of the double."""
    point = middle + place * radius
    assume(name not in ("log", "sqrt") or point > 0)
    with precision(53):
        image = getattr(Balls(), name)(boxed(arb(middle, radius)))[0]
        value = FUNCTIONS[name](point)
        assert (image + arb(value, abs(value) * 1e-13 + 1e-300) - value).contains(value)


@given(a=moderate, b=moderate, ra=st.floats(0, 10), rb=st.floats(0, 10), s=st.floats(-1, 1), t=st.floats(-1, 1))
def test_maximum_encloses_the_maximum_of_any_two_points(a, b, ra, rb, s, t):
    A = Balls()
    x, y = Fraction(a) + Fraction(s) * Fraction(ra), Fraction(b) + Fraction(t) * Fraction(rb)
    with precision(100):
        one = A.maximum(boxed(arb(a, ra)), boxed(arb(b, rb)))[0]
        other = A.max(boxed(arb(a, ra), arb(b, rb)), axis=0)[0]
    assert at_most(lower_float(one), max(x, y))
    assert at_most(-upper_float(one), -max(x, y))
    assert at_most(lower_float(other), max(x, y))
    assert at_most(-upper_float(other), -max(x, y))


@given(middle=st.floats(-2, 2), radius=st.floats(0, 2), place=st.floats(-1, 1))
def test_choose_encloses_the_choice_at_every_point(middle, radius, place):
    A = Balls()
    with precision(100):
        u = arb(middle) + arb(place) * arb(radius)
        chosen = A.choose(boxed(arb(middle, radius)), boxed(arb(7)), boxed(arb(-5)))[0]
        assert chosen.contains(7 if u > 0 else -5)
        if middle - radius > 0 or middle + radius < -1e-9:
            assert chosen.is_exact()


def test_log_of_zero_is_minus_infinity_and_of_a_doubtful_zero_unknown():
    A = Balls()
    logs = A.log(boxed(arb(0), arb(0, 1), arb(-1)))
    assert logs[0] == arb.neg_inf()
    assert not logs[1].is_finite()
    assert not logs[2].is_finite()


def test_certainly_means_certainly():
    A = Balls()
    doubtful = boxed(arb(0, 1), arb(1, 1), arb(0), arb(1), arb.nan())
    assert A.certainly_positive(doubtful).tolist() == [False, False, False, True, False]
    assert A.certainly_zero(doubtful).tolist() == [False, False, True, False, False]
    assert A.nonzero(doubtful)[2] == 1
    assert A.nonzero(doubtful)[0].contains(0)


@given(st.lists(st.tuples(finite, st.floats(0, 1e300)), min_size=1, max_size=4))
def test_upper_exponent_bounds_every_entry(entries):
    A = Balls()
    with precision(60):
        balls = boxed(*(arb(m, r) for m, r in entries))
        b = A.upper_exponent(balls)
    with precision(3000):
        assert all(abs(x).upper() <= arb(2) ** b for x in balls)


def test_upper_exponent_of_nothing_known_is_huge():
    assert Balls().upper_exponent(boxed(arb.nan())) > 10**15


def test_error_ball_is_symmetric_and_reaches_its_radius():
    e = Balls().error_ball(-(10**20))
    assert e.contains(0)
    assert e.contains(arb(2) ** -(10**20))
    assert e.contains(-(arb(2) ** -(10**20)))
    for exponent in (-60, -3, 0, 7):
        e, radius = Balls().error_ball(exponent), arb(2) ** exponent
        assert e.contains(radius)
        assert e.contains(-radius)
        assert not e.contains(radius * 1.01)


def test_the_row_that_all_is_relative_to_is_exactly_zero():
    A = Balls()
    with precision(53):
        rows = A.asarray([[1, 2], [3, 4], [5, 6]]) / 3
        pivot, difference = A.relative_to_largest(np.asarray([[0.0], [9.0], [1.0]]), rows)
        assert pivot[0, 0] is rows[1, 0]
        assert all(x.is_zero() for x in difference[1])
        assert all((d - (r - p)).contains(0) for d, r, p in zip(difference[0], rows[0], pivot[0], strict=True))
        assert A.row_of_largest(A.asarray([[0], [9], [1]]), rows)[0, 0] is rows[1, 0]


@given(seed=st.integers(0, 10**6))
def test_products_of_balls_enclose_products_of_points(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 2))
    ra, rb = rng.random((2, 3, 4)) * 1e-3, rng.random((4, 2)) * 1e-3
    A = Balls()
    with precision(53):
        left, right = (np.vectorize(arb, otypes=[object])(m, r) for m, r in ((a, ra), (b, rb)))
        product = A.matmul(left, right)
    x, y = a + rng.uniform(-1, 1, a.shape) * ra, b + rng.uniform(-1, 1, b.shape) * rb
    exact = [
        [[sum(Fraction(p) * Fraction(q) for p, q in zip(row, col, strict=True)) for col in y.T] for row in page]
        for page in x
    ]
    with precision(2000):
        for enclosure, value in zip(product.flat, np.ravel(np.asarray(exact, dtype=object)), strict=True):
            assert enclosure.contains(arb(flint.fmpq(value.numerator, value.denominator)))
