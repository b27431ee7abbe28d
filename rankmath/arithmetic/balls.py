"""Balls (python-flint's Arb): midpoint and radius, every result an enclosure, unbounded exponents."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

import flint
import numpy as np
from flint import arb, arb_mat, fmpq

from rankmath.arithmetic.objects import ObjectArithmetic, entrywise
from rankmath.validation import Array, Floats, Number


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """python-flint's precision is global: set here, restored here, nowhere else."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def ball(value: Number) -> arb:
    """An int, float (exact dyadic), Fraction or ball as a ball.

    >>> ball(Fraction(1, 3)) * 3 == 1, (ball(Fraction(1, 3)) * 3).contains(1)
    (False, True)
    """
    kind = type(value)
    if kind is float or kind is arb:  # isinstance asks an abstract class, which takes longer
        return arb(value)
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    if isinstance(value, np.generic):
        value = value.item()
    return arb(value)


def lower_float(x: arb) -> float:
    """A double that is certainly ≤ every point of the ball."""
    if not x.is_finite():
        return math.inf if x == arb.pos_inf() else -math.inf
    bound = x.lower()
    # float() rounds to nearest, or overflows.
    value = float(bound)
    if value == math.inf:
        return 1.7976931348623157e308
    return value if value == -math.inf or arb(value) <= bound else math.nextafter(value, -math.inf)


def upper_float(x: arb) -> float:
    """A double that is certainly ≥ every point of the ball."""
    return -lower_float(-x)


def _log(x: arb) -> arb:
    return arb.neg_inf() if x.is_zero() else x.log()


def _root(x: arb) -> arb:
    """√x of a number that is known not to be negative."""
    return x.nonnegative_part().sqrt()


#: Functions of one ball.
FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "exp": arb.exp,
    "log": _log,
    "sqrt": _root,
    "abs": abs,
    "tanh": arb.tanh,
    "erfc": arb.erfc,
    "cosh": arb.cosh,
    "sinh": arb.sinh,
    "expm1_of_temporary": arb.expm1,
    "exp_of_temporary": arb.exp,
}
_ENTRYWISE = {name: entrywise(function) for name, function in FUNCTIONS.items()}
_BALLS = entrywise(ball)
_MAXIMUM = np.frompyfunc(arb.max, 2, 1)


def _matrix(a: Array) -> arb_mat:
    return arb_mat(a.shape[0], a.shape[1], a.ravel().tolist())


class Balls(ObjectArithmetic):
    """Arrays of balls; run inside `precision(bits)`.

    >>> A = Balls()
    >>> with precision(100):
    ...     A.exp(A.asarray([[1.0]]))[0, 0].contains(arb.const_e())
    True
    """

    name = "balls"

    def __init__(self) -> None:
        self.zero, self.one = arb(0), arb(1)
        self.__dict__.update(_ENTRYWISE)
        #: A factor "somewhere in [0, 1]".
        self.between = arb(0.5, 0.5)

    @property
    def root_two(self) -> arb:
        return arb(2).sqrt()

    @property
    def root_two_pi(self) -> arb:
        return (2 * arb.pi()).sqrt()

    def constant(self, value: Number) -> arb:
        return ball(value)

    def asarray(self, value: Array) -> Array:
        return _BALLS(np.asarray(value, dtype=object))

    def product(self, a: Array, b: Array) -> Array:
        entries = (_matrix(a) * _matrix(b)).entries()
        return np.fromiter(entries, dtype=object, count=len(entries)).reshape(a.shape[0], b.shape[1])

    def max(self, a: Array, axis: int) -> Array:
        # arb.max encloses the maximum of any two points of its operands.
        return _MAXIMUM.reduce(a, axis=axis, keepdims=True)

    def maximum(self, a: Array, b: Array) -> Array:
        return _MAXIMUM(a, b)

    def choose(self, u: Array, if_positive: Array, otherwise: Array) -> Array:
        """One of two where the sign of u is certain, the hull of both where it is not."""
        hull: Array = np.frompyfunc(arb.union, 2, 1)(if_positive, otherwise)
        positive, negative = np.asarray(u > 0, dtype=bool), np.asarray(u <= 0, dtype=bool)
        return np.where(positive, if_positive, np.where(negative, otherwise, hull))

    def scaled_floats(self, a: Array) -> Floats:
        """Midpoints as doubles, divided by the largest magnitude where doubles would not hold them."""
        floats = np.fromiter(map(float, a.flat), dtype=float, count=a.size)
        if 1e-150 < np.abs(floats).max() < 1e150:
            return floats.reshape(a.shape)
        middles = [x.mid() for x in a.flat]
        largest = arb(0)
        for x in middles:
            largest = largest.max(abs(x))
        if largest.is_zero() or not largest.is_finite():
            return np.zeros(a.shape)
        return np.asarray([float(x / largest) for x in middles]).reshape(a.shape)

    def certainly_positive(self, a: Array) -> Array:
        return np.asarray(a > 0, dtype=bool)

    def vanishes(self, a: Array, size: Array) -> Array:
        """Whether `a` is certainly zero: balls round nothing away."""
        return self.certainly_zero(a)

    def bits(self) -> int:
        return int(flint.ctx.prec)

    def float_and_exponent(self, x: arb) -> tuple[float, int]:
        """The midpoint as float · 2^exponent, with exponent 0 wherever a double holds it; nan for no enclosure."""
        if not x.is_finite():
            return (-math.inf if x == arb.neg_inf() else math.nan), 0
        magnitude = self.upper_exponent(np.asarray([x], dtype=object))
        if magnitude <= 1000:
            return float(x.mid()), 0
        return float(x.mid() * arb(2) ** (512 - magnitude)), magnitude - 512

    def upper_exponent(self, a: Array) -> int:
        """An integer b with every |entry| ≤ 2^b."""
        largest = arb(0)
        for x in a.flat:
            largest = largest.max(x.abs_upper())
        if largest.is_zero():
            return -(10**18)
        if not largest.is_finite():
            return 10**18
        mantissa, exponent = largest.upper().man_exp()
        return int(mantissa.bit_length() + exponent)

    def error_ball(self, exponent: int) -> arb:
        """The ball 0 ± 2^exponent."""
        return arb(0, arb(2) ** exponent)
