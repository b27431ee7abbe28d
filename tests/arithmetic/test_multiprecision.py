"""mpmath in a context of its own: the digits asked for, and nobody else's precision touched."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention.activations import activate, activation_difference
from rankmath.attention.trace import trace
from rankmath.model.network import Network
from rankmath.validation import InvalidArgument


def test_the_global_precision_is_left_alone():
    before = mpmath.mp.dps
    net = Network.random(3, 2, layers=2, seed=0, mlp="gelu", norm="standard")
    trace(net, net.random_input(seed=1), arithmetic="mpmath", dps=80)
    assert mpmath.mp.dps == before


@pytest.mark.parametrize("x", [0.0, 1e-300, -1e-40, 1e-5, -0.3, 2.0, -700.0])
def test_expm1_at_every_size(x):
    A = Multiprecision(50)
    value = A.expm1_of_temporary(A.asarray([[x]]))[0, 0]
    with mpmath.workdps(400):
        assert abs(mpmath.mpf(value) - mpmath.expm1(mpmath.mpf(x))) <= abs(mpmath.mpf(x)) * mpmath.mpf(10) ** -48


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu"])
@pytest.mark.parametrize("dps", [30, 200, 1000])
@pytest.mark.parametrize("t", [1e-200, 1e-9, 0.1, -0.11, 0.3, -4.0])
def test_activation_differences_have_all_the_digits(activation, dps, t):
    """GELU's series has no cap: a thousand digits are a thousand digits."""
    A = Multiprecision(dps)
    u, step = A.asarray([[0.75]]), A.asarray([[t]])
    value = activation_difference(A, activation, u, step, 1)[0, 0]
    B = Multiprecision(dps + 250)
    exact = activate(B, activation, B.asarray([[0.75]]) + B.asarray([[t]])) - activate(
        B, activation, B.asarray([[0.75]])
    )
    exact = exact[0, 0]
    assert abs(B.context.mpf(value) - exact) <= abs(exact) * B.context.mpf(10) ** (3 - dps)


def test_more_digits_agree_with_fewer():
    net = Network.random(4, 3, heads=2, layers=4, seed=0, skip=0.5, mlp="tanh", norm="sphere", biases=True)
    X = net.random_input(seed=1)
    few, many = (trace(net, X, arithmetic="mpmath", dps=dps) for dps in (30, 90))
    for a, b in zip(few.values, many.values, strict=True):
        assert abs(a - b) <= 1e-24 * max(1, abs(b))


def test_exponents_are_unbounded():
    A = Multiprecision(30)
    tiny = A.exp(A.asarray([[-1e9]]))
    mantissa, exponent = A.float_and_exponent(A.log(tiny)[0, 0])
    assert (mantissa, exponent) == (pytest.approx(-1e9, rel=1e-15), 0)
    huge = A.asarray([[1.0]])[0, 0] * A.context.mpf(10) ** 400
    mantissa, exponent = A.float_and_exponent(-huge)
    assert math.log2(-mantissa) + exponent == pytest.approx(400 * math.log2(10), rel=1e-15)
    assert exponent > 0


def test_choices_are_made_on_doubles_of_any_scale():
    A = Multiprecision(30)
    scores = A.asarray([[1.0], [3.0], [2.0]]) * A.context.mpf(10) ** -5000
    np.testing.assert_allclose(A.middle(scores), [[1 / 3], [1.0], [2 / 3]], rtol=1e-15)
    row, difference = A.relative_to_largest(A.middle(scores), A.asarray(np.eye(3)))
    assert row.tolist() == [[0, 1, 0]]
    assert difference[1].tolist() == [0, 0, 0]


def test_averages_that_no_digit_is_left_of_are_refused_in_words():
    A = Multiprecision(50)
    left, q = A.asarray([[1.0]]), A.asarray([[1.0]])
    few = A.expm1_average(left, A.asarray([[-100.0]]), q, q)[0, 0]
    assert abs(few * A.context.exp(-100) / A.context.expm1(-100) - 1) < 1e-5  # 1 + expm1(-100) has six of 50 digits
    with pytest.raises(InvalidArgument, match="dps: 50 digits leave nothing"):
        A.expm1_average(left, A.asarray([[-1e200]]), q, q)
