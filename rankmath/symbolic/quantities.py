"""What a letter in a bound stands for, which values it takes, and how a value is read: exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from flint import arb

from rankmath.symbolic.evaluate import Value
from rankmath.symbolic.proof import Expr
from rankmath.validation import as_count

#: Layers: 3^L is written out as an integer, so a limit there must be.
DEEPEST = 1_000_000

NONNEGATIVE = sp.Interval(0, sp.oo)
AT_LEAST_ONE = sp.Interval(1, sp.oo)
POSITIVE = sp.Interval.open(0, sp.oo)
FRACTION = sp.Interval(0, 1)
BELOW_ONE = sp.Interval.Ropen(0, 1)


@dataclass(frozen=True)
class Quantity:
    """A symbol, its meaning in words, its LaTeX, and the values it takes (`integer`: only whole numbers of them).

    Examples
    --------
    >>> from rankmath.symbolic.letters import u
    >>> Quantity(u, "a number", "u", BELOW_ONE).read(0.5)
    {u: Fraction(1, 2)}
    >>> Quantity(u, "a number", "u", BELOW_ONE).read(1)
    Traceback (most recent call last):
    ...
    ValueError: u: 1 given; a number in [0, 1) is needed
    """

    symbol: Expr
    meaning: str
    latex: str
    domain: Expr = NONNEGATIVE
    integer: bool = False

    @property
    def name(self) -> str:
        """The keyword under which a value is given."""
        return str(self.symbol)

    @property
    def per_head(self) -> bool:
        """Whether one number for each head is asked for."""
        return isinstance(self.symbol, sp.IndexedBase)

    def read(self, value: Any) -> dict[Expr, Value]:
        """`value` by symbol (one for each head, if `per_head`), as Fractions or balls; or a ValueError."""
        if self.integer:
            return {self.symbol: Fraction(as_count(self.name, value, least=int(self.domain.start), most=DEEPEST))}
        if not self.per_head:
            return {self.symbol: read_number(self.name, value, self.domain)}
        if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) != 1 or not len(value):
            raise ValueError(f"{self.name}: {_show(value)} given; a list with a number for each head is needed")
        numbered = enumerate(value, start=1)
        return {self.symbol[k]: read_number(f"{self.name}[{k}]", v, self.domain) for k, v in numbered}


def read_number(name: str, value: Any, domain: Expr = POSITIVE) -> Value:
    """A real number as the Fraction it is, a ball as it is; refused unless certainly in `domain`.

    Examples
    --------
    >>> read_number("tolerance", 0.25)
    Fraction(1, 4)
    """
    number = value if isinstance(value, arb) else _fraction(value)
    if number is None or not _inside(number, domain):
        raise ValueError(f"{name}: {_show(value)} given; a number in {_interval(domain)} is needed")
    return number


def _fraction(value: Any) -> Fraction | None:
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


def _inside(x: Value, domain: Expr) -> bool:
    # A ball compares as true only where certain, and a ball that is not finite never does.
    if isinstance(x, arb) and not x.is_finite():
        return False
    start, end = Fraction(int(domain.start)), domain.end
    low = _ball(start, x)
    above = x > low if domain.left_open else x >= low
    if end == sp.oo or not above:
        return bool(above)
    high = _ball(Fraction(int(end)), x)
    return bool(x < high if domain.right_open else x <= high)


def _ball(end: Fraction, like: Value) -> Value:
    return arb(int(end)) if isinstance(like, arb) else end


def _interval(domain: Expr) -> str:
    left, right = "(" if domain.left_open else "[", ")" if domain.right_open or domain.end == sp.oo else "]"
    return f"{left}{domain.start}, {'inf' if domain.end == sp.oo else domain.end}{right}"


def _show(value: Any) -> str:
    # repr of a huge integer raises, and a page-long error teaches nobody.
    try:
        text = repr(value)
    except ValueError:
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
