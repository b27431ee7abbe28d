"""When the bound c^{(3^L-1)/2} a_0^{3^L} falls at all, and how deep a network must be for it to reach a tolerance.

Its logarithm is 3^L θ - (log c)/2 with θ = log(c a_0²)/2: everything depends on the sign of θ.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from rankmath.arithmetic.balls import ball, precision
from rankmath.formula.symbolic.quantities import POSITIVE, read_number
from rankmath.validation import InvalidArgument, Number


def depth_to_tolerance(coefficient: Number, start: Number, tolerance: Number) -> int | None:
    """The smallest L with c^{(3^L-1)/2} a_0^{3^L} <= tolerance, decided exactly; None if no depth reaches it.

    The arguments are exact (integers, fractions, doubles as the fractions they are), and so is the answer: balls
    decide unless the two sides are equal, and equality is decided in integers.

    Examples
    --------
    >>> depth_to_tolerance(1, 0.5, 0.125), depth_to_tolerance(1, 0.5, 0.124)
    (1, 2)
    >>> depth_to_tolerance(4, 0.5, 1e-3) is None
    True
    """
    first = _exact("start", start)
    goal = _exact("tolerance", tolerance)
    c_exact = _exact("coefficient", coefficient)
    if first <= goal:
        return 0
    x, y = c_exact * first**2, c_exact * goal**2
    if x >= 1:
        return None
    depth = _about(x, y)
    while not _power_at_most(x, 3**depth, y):
        depth += 1
    return depth


def _about(x: Fraction, y: Fraction) -> int:
    """A depth of at least 1 that is certainly not beyond the answer, and only a few short of it."""
    bits = 64
    while True:
        with precision(bits):
            real = (ball(y).log() / ball(x).log()).log() / arb(3).log()
            if real.rad() < 1:
                return max(1, int(float(real.lower())) - 1)
        bits *= 2


def _exact(name: str, value: Number) -> Fraction:
    number = read_number(name, value, POSITIVE)
    if not isinstance(number, Fraction):
        raise InvalidArgument(f"{name}: a ball given; an exact number is needed")
    return number


def _power_at_most(x: Fraction, n: int, y: Fraction) -> bool:
    """x^n <= y, for 0 < y < x < 1."""
    # The denominator of x^n is at least 2^n: beyond the length of y's, equality is impossible.
    if n <= y.denominator.bit_length() and x**n == y:
        return True
    bits = 64
    while True:
        with precision(bits):
            gap: arb = ball(x).log() * n - ball(y).log()
            if gap < 0 or gap > 0:
                return bool(gap < 0)
        bits *= 2
