"""What a bound is: one sympy expression, the meaning of its letters, and numbers in three arithmetics from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

import mpmath
import sympy as sp
from flint import arb

from rankmath.arithmetic.balls import precision
from rankmath.formula.symbolic.evaluate import Ball, OutOfDomain, Values, enclose
from rankmath.formula.symbolic.proof import Expr, Proof
from rankmath.formula.symbolic.quantities import L, Quantity, h, with_heads
from rankmath.printing import Sheet, Shows
from rankmath.validation import InvalidArgument, Json, Number, as_choice, as_count

Side: TypeAlias = Literal["upper", "lower"]

# subs writes 3^L out; evaluate has no such limit.
_DEEPEST_WRITTEN = 12


@dataclass(frozen=True, repr=False)
class Bound(Shows):
    """A bound that is stated: `expression`, of what it is, what its letters mean, the hypothesis, whether it is true.

    >>> from rankmath.claims import bound
    >>> b = bound("dong2021:2.2")
    >>> print(b.expression, "for", b.of, f"({b.status})")
    residual**(3**L)*(4*beta*gamma_star/sqrt(d_qk))**(3**L/2 - 1/2) for residual(X[L], composite) (proved)
    >>> b.evaluate(L=600, beta=1, gamma_star=1, d_qk=16, residual=0.5)  # the logarithm
    -1.298907704520917e+286
    """

    key: str
    side: Side
    expression: Expr
    quantities: tuple[Quantity, ...]
    hypothesis: str
    #: What is bounded, in the language of claims.
    of: str
    #: "proved", "refuted" (then it is no bound), "open", or "of a refuted claim": one of several parts, at least one of
    #: which is false.
    status: str
    #: The name of the letter that stands for the bounded quantity of the input; empty where there is none.
    start: str = ""
    #: Whether it is stated for the exponents p = 1, 2 and inf.
    exponents: bool = False
    #: The letters that are counted through: it is stated for every l, say.
    every: tuple[str, ...] = ()

    @cached_property
    def derivation(self) -> Proof | None:
        """What follows from the bound by calculation, each step confirmed by sympy; None where nothing does."""
        from rankmath.formula.symbolic.derive import derivation

        start = next((q.symbol for q in self.quantities if q.name == self.start), None)
        what = {"proved": "What follows", "refuted": "What would follow, were it true,"}
        said = f"{what.get(self.status, 'What would follow')} from the bound of {self.key}, letters positive"
        return derivation(said, self.expression, start)

    @property
    def claimed(self) -> str:
        """What it is, in words: of what it is a bound, and that it is refuted or not proved."""
        told = {"proved": "", "refuted": "refuted, stated here as ", "open": "not proved, stated here as "}
        known = told.get(self.status, "part of what is refuted, stated here as ")
        every = f" for every {' and '.join(self.every)}" if self.every else ""
        return f"{known}{'an upper' if self.side == 'upper' else 'a lower'} bound of {self.of}{every}"

    def sheet(self) -> Sheet:
        sign = "≤" if self.side == "upper" else "≥"
        letters = tuple((name, meaning) for name, meaning in list(self.symbols.items())[:7])
        known = {"proved": "", "open": " (not proved)"}.get(self.status, f" ({self.status})")
        title = f"Bound of {self.key}{known}: {self.of} {sign} {self.expression}"
        return Sheet(title, (("under", self.hypothesis), *letters))

    def to_dict(self) -> dict[str, Json]:
        """Expression, LaTeX, letters and hypothesis as plain data."""
        about = {"key": self.key, "side": self.side, "of": self.of, "status": self.status}
        about |= {"expression": str(self.expression), "latex": self.latex()}
        return about | {"symbols": dict(self.symbols), "hypothesis": self.hypothesis}

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    @property
    def symbols(self) -> Mapping[str, str]:
        """What each letter stands for."""
        return MappingProxyType({quantity.name: quantity.meaning for quantity in self.quantities})

    def latex(self) -> str:
        """The expression as LaTeX, in the letters of the theorem."""
        return self.latex_of(self.expression)

    def latex_of(self, expression: Expr) -> str:
        """An expression in these letters as LaTeX; a letter of head h has its h in it."""
        of_head = {q.symbol[h]: sp.Symbol(f"{q.name}_h") for q in self.quantities if q.per_head}
        names = {of_head[q.symbol[h]]: q.latex for q in self.quantities if q.per_head}
        return str(sp.latex(expression.xreplace(of_head), symbol_names=self.names | names))

    @property
    def names(self) -> dict[Expr, str]:
        """The LaTeX of each letter's symbol."""
        return {q.symbol.label if q.per_head else q.symbol: q.latex for q in self.quantities}

    def subs(self, **values: Number) -> Expr:
        """The expression with some letters replaced: by numbers (taken exactly) or by sympy expressions.

        >>> from rankmath.claims import bound
        >>> bound("own:tv").subs(osc=2)
        tanh(1/2)
        """
        self._refuse_unknown(values)
        letters = {q.name: q.symbol for q in self.quantities if not q.per_head}
        symbolic = {
            name: value
            for name, value in values.items()
            if name in letters and isinstance(value, sp.Expr) and not value.is_Rational
        }
        numbers = {name: value for name, value in values.items() if name not in symbolic}
        expression, exact = self._read(numbers)
        replacements = {letters[name]: value for name, value in symbolic.items()}
        for symbol, number in exact.items():
            if isinstance(number, arb):
                raise InvalidArgument(f"{symbol}: a ball given; subs takes exact numbers and sympy expressions")
            if symbol == L and number > _DEEPEST_WRITTEN and expression.has(3**L):
                raise InvalidArgument(
                    f"L: {number} given; subs writes 3^L out, up to L = {_DEEPEST_WRITTEN}: use evaluate"
                )
            replacements[symbol] = sp.Rational(number.numerator, number.denominator)
        return expression.subs(replacements, simultaneous=True).doit()

    def evaluate(
        self, *, arithmetic: str = "float", log: bool = True, dps: int = 50, bits: int = 128, **values: Number
    ) -> Number:
        """The logarithm of the bound (the bound itself with log=False) at the values given.

        "float": a double within an ulp of the truth (a logarithm near 0: within 1e-18); ±inf beyond the doubles.
        "mpmath": an mpf of `dps` digits. "balls": an arb that contains the truth, accurate to `bits` bits; there
        the values themselves may be balls. Values are otherwise exact: integers, fractions, doubles, mpf. A bound
        that is zero has the logarithm -inf.

        >>> from rankmath.claims import bound
        >>> bound("own:tv").evaluate(osc=2, log=False)
        0.46211715726000974
        >>> bound("own:tv").evaluate(osc=2, arithmetic="balls", bits=53)
        [-0.771936832905305 +/- 2.75e-16]
        >>> bound("own:tv").evaluate(osc=-1)
        Traceback (most recent call last):
        ...
        rankmath.InvalidArgument: osc: -1 given; a number in [0, inf) is needed
        """
        arithmetic = as_choice("arithmetic", arithmetic, ("float", "mpmath", "balls"))
        log = as_choice("log", log, (True, False))
        dps = as_count("dps", dps, least=1, most=100_000)
        bits = as_count("bits", bits, least=2, most=1_000_000)
        self._refuse_unknown(values)
        missing = [quantity for quantity in self.quantities if quantity.name not in values]
        if missing:
            listed = "; ".join(f"{quantity.name} ({quantity.meaning})" for quantity in missing)
            raise InvalidArgument(f"{self.key}: no value given for {listed}")
        expression, exact = self._read(values)
        if arithmetic != "balls" and any(isinstance(value, arb) for value in exact.values()):
            raise InvalidArgument(f"{self.key}: balls given as values; arithmetic='balls' is needed for them")
        wanted = {"float": 60, "mpmath": 8 + dps * 10 // 3, "balls": bits}[arithmetic]
        try:
            sign, ball, working = enclose(expression, exact, bits=wanted, log=log)
        except OutOfDomain as error:
            raise InvalidArgument(f"{self.key}: {error} at these values") from None
        if log and sign < 0:
            raise InvalidArgument(
                f"{self.key}: the bound is negative at these values and has no logarithm; use log=False"
            )
        if arithmetic == "balls":
            return _ball(sign, ball, working, log=log)
        if arithmetic == "float":
            return _float(sign, ball, log=log)
        if sign == 0:
            return mpmath.mpf("-inf") if log else mpmath.mpf(0)
        middle = mpmath.ldexp(*map(int, ball.mid().man_exp()))  # exact
        with mpmath.workdps(dps):
            return +middle if log else sign * mpmath.exp(middle)

    def _read(self, values: Mapping[str, Number]) -> tuple[Expr, Values]:
        """Exact values by symbol, and the expression with its sums written out if numbers for heads are given."""
        exact: dict[Expr, Number] = {}
        heads: dict[str, int] = {}
        for quantity in self.quantities:
            if quantity.name in values:
                read = quantity.read(values[quantity.name])
                exact.update(read)
                if quantity.per_head:
                    heads[quantity.name] = len(read)
        if len(set(heads.values())) > 1:
            lengths = ", ".join(f"{name} has {count}" for name, count in heads.items())
            raise InvalidArgument(f"{self.key}: one number for each head is needed, but {lengths}")
        return (with_heads(self.expression, *set(heads.values())) if heads else self.expression), exact

    def _refuse_unknown(self, values: Mapping[str, Number]) -> None:
        known = self.symbols
        for name in values:
            if name not in known:
                raise InvalidArgument(f"{name}: no letter of {self.key}; its letters are {', '.join(known)}")


def _ball(sign: int, ball: Ball, working: int, *, log: bool) -> arb:
    if sign == 0:
        return arb.neg_inf() if log else arb(0)
    if log:
        return arb(ball)
    with precision(working):
        return arb(sign * ball.exp())


def _float(sign: int, ball: Ball, *, log: bool) -> float:
    if sign == 0:
        return -float("inf") if log else 0.0
    if log:
        return float(ball)
    # Beyond these the exponential leaves the doubles, and far beyond it leaves the balls as well.
    if ball > 800:
        return sign * float("inf")
    if ball < -800:
        return sign * 0.0
    with precision(64):
        return float(sign * ball.exp())
