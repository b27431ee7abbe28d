"""The value of an expression: walk a sympy tree with balls, products in logarithms.

A bound like c^{(3^L-1)/2} a^{3^L} leaves every floating-point range at once, but its logarithm is a short sum
with integer coefficients. `enclose` computes that sum in balls, at a precision raised until the answer is as
accurate as asked: near the threshold c a² = 1 the sum cancels, and the balls notice. Values are exact (integers,
fractions; a double is a fraction), or balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import sympy as sp
from flint import arb

from rankmath.arithmetic.balls import ball as to_ball
from rankmath.arithmetic.balls import precision
from rankmath.formula.symbolic.proof import Expr
from rankmath.validation import InvalidArgument, Number, Undecided

#: A flint.arb, as it comes out of the walk.
Ball: TypeAlias = Number
#: An exact number or a ball, given for a symbol.
Given: TypeAlias = Number
Values: TypeAlias = Mapping[Expr, Given]

_MOST_BITS = 1 << 22
# Where the values themselves are balls, more bits soon stop helping.
_MOST_BITS_FOR_BALLS = 1 << 13


class OutOfDomain(InvalidArgument):
    """An expression without a value at the numbers given: the root or logarithm of a negative number."""


_FUNCTIONS: dict[type[sp.Function], Callable[..., Ball]] = {
    **{getattr(sp, name): getattr(arb, name) for name in ("exp", "log", "tanh", "sqrt")},
    sp.LambertW: lambda x, branch=0: x.lambertw(int(branch)),
}


def _sign(x: Ball) -> int:
    """-1, 0 or 1, if certain."""
    for sign, seen in ((1, x > 0), (-1, x < 0), (0, x == 0)):
        if seen:
            return sign
    raise Undecided


@dataclass(frozen=True)
class Walk:
    """Value and logarithm of an expression at given values."""

    values: Values

    def value(self, e: Expr) -> Ball:
        """The number itself."""
        if e.is_Symbol or isinstance(e, sp.Indexed):
            given = self._given(e)
            return to_ball(given) if isinstance(given, Fraction) else given
        if e.is_Rational:
            return to_ball(Fraction(int(e.p), int(e.q)))
        if e is sp.E:
            return _FUNCTIONS[sp.exp](to_ball(Fraction(1)))
        if e.is_Add:
            return sum(map(self.value, e.args[1:]), start=self.value(e.args[0]))
        if e.is_Mul:
            return math.prod(map(self.value, e.args[1:]), start=self.value(e.args[0]))
        if isinstance(e, sp.Piecewise):
            return self.value(self._branch(e))
        if e.is_Pow:
            return self._power(e)
        if isinstance(e, sp.Abs):
            return abs(self.value(e.args[0]))
        if isinstance(e, sp.Max | sp.Min):
            sign = 1 if isinstance(e, sp.Max) else -1
            return reduce(lambda a, b: (a + b + sign * abs(a - b)) / 2, map(self.value, e.args))
        if isinstance(e, sp.floor):
            return self._floor(e)
        if e.func not in _FUNCTIONS:
            raise InvalidArgument(f"bound: it has {e}; values of its letters do not decide it")
        # The branch of Lambert's W, the one further argument there is, stays an integer.
        return _FUNCTIONS[e.func](self.value(e.args[0]), *e.args[1:])

    def log(self, e: Expr) -> tuple[int, Ball]:
        """Sign and log|e|; products and powers are taken apart, so that nothing overflows. (0, None) for zero."""
        if e.is_Mul:
            parts = [self.log(a) for a in e.args]
            if any(sign == 0 for sign, _ in parts):
                return 0, None
            return math.prod(sign for sign, _ in parts), sum(log for _, log in parts[1:]) + parts[0][1]
        if isinstance(e, sp.exp):
            return 1, self.value(e.args[0])
        if isinstance(e, sp.Abs):
            sign, log = self.log(e.args[0])
            return abs(sign), log
        if isinstance(e, sp.Piecewise):
            return self.log(self._branch(e))
        if e.is_Pow:
            return self._log_power(*e.as_base_exp())
        x = self.value(e)
        sign = _sign(x)
        return (sign, _FUNCTIONS[sp.log](abs(x))) if sign else (0, None)

    def exact(self, e: Expr) -> Fraction | None:
        """`e` as an exact number, if it is one built from integers by +, ×, ⌊·⌋, integer powers and divisions."""
        if e.is_Rational:
            return Fraction(int(e.p), int(e.q))
        if e.is_Symbol and e.is_integer:
            given = self._given(e)
            return given if isinstance(given, Fraction) else None
        if isinstance(e, sp.floor):
            inner = self.exact(e.args[0])
            return None if inner is None else Fraction(math.floor(inner))
        if not (e.is_Add or e.is_Mul or e.is_Pow):
            return None
        parts = [self.exact(a) for a in e.args]
        if any(part is None for part in parts):
            return None
        known = [part for part in parts if part is not None]
        if e.is_Pow:
            base, exponent = known
            return base**exponent.numerator if exponent.denominator == 1 else None
        return sum(known, start=Fraction(0)) if e.is_Add else math.prod(known, start=Fraction(1))

    def _given(self, e: Expr) -> Given:
        if e not in self.values:
            raise InvalidArgument(f"bound: it has {e}, of one head at a time; values of its letters do not decide it")
        return self.values[e]

    def _power(self, e: Expr) -> Ball:
        base, exponent = e.as_base_exp()
        exact = self.exact(exponent)
        if exact is not None and exact.denominator == 1:
            return self.value(base) ** int(exact)
        if exact is not None and abs(exact) == Fraction(1, 2):
            x = self.value(base)
            if _sign(x) < 0:
                raise OutOfDomain(f"{base} is negative")
            root = _FUNCTIONS[sp.sqrt](x)
            return root if exact > 0 else 1 / root
        sign, log = self._log_power(base, exponent)
        return _FUNCTIONS[sp.exp](log) * sign if sign else to_ball(Fraction(0))

    def _log_power(self, base: Expr, exponent: Expr) -> tuple[int, Ball]:
        sign, log = self.log(base)
        exact = self.exact(exponent)
        if sign < 0 and (exact is None or exact.denominator != 1):
            raise OutOfDomain(f"{base} is negative")
        n = to_ball(exact) if exact is not None else self.value(exponent)
        if sign == 0:
            direction = _sign(n)
            if direction < 0:
                raise OutOfDomain(f"{base} is zero, in a denominator")
            return (0, None) if direction else (1, to_ball(Fraction(0)))
        odd = exact is not None and exact.numerator % 2 == 1
        return (-1 if sign < 0 and odd else 1), n * log

    def _floor(self, e: Expr) -> Ball:
        if (whole := self.exact(e)) is not None:
            return to_ball(whole)
        inside = self.value(e.args[0])
        low, high = (end.floor() for end in (inside.lower(), inside.upper()))
        if not low == high:
            raise Undecided
        return low

    def _branch(self, e: Expr) -> Expr:
        for branch, condition in e.args:
            if condition is sp.true:
                return branch
            if not isinstance(condition, sp.Eq):
                raise TypeError(f"a condition {condition} in an expression; only equations are read")
            if _sign(self.value(condition.lhs) - self.value(condition.rhs)) == 0:
                return branch
        raise OutOfDomain(f"no case of {e} applies")


def enclose(e: Expr, values: Values, *, bits: int, log: bool = True) -> tuple[int, Ball, int]:
    """Sign of `e`, a ball around log|e| accurate to `bits` bits (of the larger of it and 1), bits worked with.

    With log=False the accuracy is absolute, so that exp of the ball is accurate. Balls among the values may
    make the accuracy unreachable: then the tightest ball is returned. Zero: (0, None, bits).

    >>> L = sp.Symbol("L", integer=True)
    >>> enclose(sp.Rational(1, 2) ** (3**L), {L: Fraction(2)}, bits=30)[1]
    [-6.23832462503951 +/- 2.22e-15]
    """
    exact = all(isinstance(value, Fraction) for value in values.values())
    walk = Walk(values)
    working: int = bits + 32
    previous: int | None = None
    while working <= (_MOST_BITS if exact else _MOST_BITS_FOR_BALLS):
        with precision(working):
            try:
                sign, ball = walk.log(e)
            except Undecided:
                working *= 2
                continue
        if sign == 0:
            return 0, None, working
        reached = _accuracy(ball, absolute=not log)
        if reached >= bits or (not exact and previous is not None and reached <= previous + 1):
            return sign, ball, working
        previous = reached
        working *= 2
    raise OutOfDomain(f"{e}: {working // 2} bits do not decide it")


def _accuracy(ball: Ball, *, absolute: bool) -> int:
    if not absolute or not ball.is_finite():
        return int(ball.rel_one_accuracy_bits())
    radius = ball.rad()
    if radius == 0:
        return _MOST_BITS
    mantissa, exponent = (int(part) for part in radius.man_exp())
    return -(mantissa.bit_length() + exponent)
