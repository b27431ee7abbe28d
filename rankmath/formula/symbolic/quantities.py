"""What a letter in a bound stands for, which values it takes, and how a value is read: exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import sympy as sp
from flint import arb

from rankmath.arithmetic.balls import ball
from rankmath.formula.symbolic.evaluate import Given
from rankmath.formula.symbolic.proof import Expr
from rankmath.validation import InvalidArgument, Number, as_count, short

#: Layers: 3^L is written out as an integer, so a limit there must be.
DEEPEST = 1_000_000


@dataclass(frozen=True)
class Domain:
    """The numbers between two, themselves among them unless `open` or `ends_open`; None is no bound.

    >>> print(Domain(0, open=True), Domain(Fraction(1, 2), end=Fraction(1)), Domain(None))
    (0, inf) [1/2, 1] (-inf, inf)
    """

    start: Fraction | int | None
    open: bool = False
    end: Fraction | None = None
    ends_open: bool = False

    def contains(self, x: Given) -> bool:
        """Whether `x` is certainly in it; a ball compares as true only where certain."""
        if isinstance(x, arb) and not x.is_finite():
            return False
        low, high = (None if edge is None else _as(x, edge) for edge in (self.start, self.end))
        above = low is None or bool(x > low if self.open else x >= low)
        return above and (high is None or bool(x < high if self.ends_open else x <= high))

    def within(self, operator: str, edge: Fraction) -> Domain:
        """Those of its numbers x with x < edge, and the like."""
        strict = operator in ("<", ">")
        if operator.startswith("<"):
            here = self.end is None or edge < self.end or (edge == self.end and strict)
            return replace(self, end=edge, ends_open=strict) if here else self
        here = self.start is None or edge > self.start or (edge == self.start and strict)
        return replace(self, start=edge, open=strict) if here else self

    def __str__(self) -> str:
        low = "(-inf" if self.start is None else f"{'(' if self.open else '['}{self.start}"
        return f"{low}, inf)" if self.end is None else f"{low}, {self.end}{')' if self.ends_open else ']'}"


def _as(x: Given, edge: Fraction | int) -> Given:
    """An edge that a ball compares with."""
    return ball(Fraction(edge)) if isinstance(x, arb) else edge


REAL = Domain(None)
NONNEGATIVE = Domain(0)
AT_LEAST_ONE = Domain(1)
POSITIVE = Domain(0, open=True)


@dataclass(frozen=True)
class Quantity:
    """A symbol, its meaning in words, its LaTeX, and the values it takes (`integer`: only whole numbers of them).

    >>> u = sp.Symbol("u")
    >>> Quantity(u, "a number", "u").read(0.5)
    {u: Fraction(1, 2)}
    >>> Quantity(u, "a number", "u").read(-1)
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: u: -1 given; a number in [0, inf) is needed
    """

    symbol: Expr
    meaning: str
    latex: str
    domain: Domain = NONNEGATIVE
    integer: bool = False

    @property
    def name(self) -> str:
        """The keyword under which a value is given."""
        return str(self.symbol.name)

    @property
    def per_head(self) -> bool:
        """Whether one number for each head is asked for."""
        return isinstance(self.symbol, sp.IndexedBase)

    def read(self, value: Number) -> dict[Expr, Given]:
        """`value` by symbol (one for each head, if `per_head`), as Fractions or balls; or a ValueError."""
        if self.integer:
            value = int(value) if isinstance(value, sp.Integer) else value
            return {self.symbol: Fraction(as_count(self.name, value, least=int(self.domain.start or 0), most=DEEPEST))}
        if not self.per_head:
            return {self.symbol: read_number(self.name, value, self.domain)}
        if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) != 1 or not len(value):
            raise InvalidArgument(f"{self.name}: {short(value)} given; a list with a number for each head is needed")
        numbered = enumerate(value)
        return {self.symbol[k]: read_number(f"{self.name}[{k}]", v, self.domain) for k, v in numbered}


def read_number(name: str, value: Number, domain: Domain = POSITIVE) -> Given:
    """A real number as the Fraction it is, a ball as it is; refused unless certainly in `domain`.

    >>> read_number("tolerance", 0.25)
    Fraction(1, 4)
    """
    number = value if isinstance(value, arb) else _fraction(value)
    if number is None or not domain.contains(number):
        raise InvalidArgument(f"{name}: {short(value)} given; a number in {domain} is needed")
    return number


def _fraction(value: Number) -> Fraction | None:
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, (int, np.integer)):
        return Fraction(int(value))
    if isinstance(value, (float, np.floating)):
        return Fraction(float(value)) if math.isfinite(value) and float(value) == value else None
    if isinstance(value, mpmath.mpf):
        return Fraction(*map(int, mpmath.libmp.to_rational(value._mpf_))) if mpmath.isfinite(value) else None
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    return value if isinstance(value, Fraction) else None


# -- letters -------------------------------------------------------------------------------------------------


L = sp.Symbol("L", integer=True, nonnegative=True)
H = sp.Symbol("H", integer=True, positive=True)
#: One of the heads 0, …, H − 1.
h = sp.Symbol("h", integer=True, nonnegative=True)


@cache
def with_heads(expression: sp.Expr, heads: int) -> sp.Expr:
    """`expression` with its sums over heads written out for `heads` of them.

    >>> with_heads(sp.Sum(sp.IndexedBase("q")[h], (h, 0, H - 1)), 2)
    q[0] + q[1]
    """

    def written_out(term: sp.Expr, limits: sp.Tuple) -> sp.Expr:
        index, first, last = limits
        return sp.Add(*(term.subs(index, k) for k in range(int(first), int(last) + 1)))

    return expression.subs(H, heads).replace(sp.Sum, written_out)
