"""Proofs that sympy carries out: every step is an equation or an inequality that can be run again.

A step holds when its difference simplifies to zero (equations), or when sympy reads the sign of the difference off the
assumptions on the symbols (inequalities). An inequality on an interval is first given a change of variables that turns
the interval into a half-line, so that signs become visible: v in (0, 1) is v = 1/(1 + s) with s > 0. "Not proved"
therefore means what it says: perhaps false, perhaps only out of reach, and never accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import sympy as sp

#: A sympy expression; sympy ships no types.
Expr: TypeAlias = Any
Relation: TypeAlias = Literal["=", "<=", "<"]

_TEX = {"=": "=", "<=": r"\le", "<": "<"}


class NotProved(ArithmeticError):
    """A step of a proof that sympy could not confirm."""


@dataclass(frozen=True)
class Step:
    """One checkable line: `left` relation `right`, for the reason given.

    Derivatives, integrals and limits may stand unevaluated: they are carried out when the step is run.
    `where` holds definitions and changes of variables, substituted in the order given. In `said`, the reason, {0},
    {1}, … stand for the expressions it is `about`.

    >>> v = sp.Symbol("v", positive=True)
    >>> Step("below one", v, "<", sp.Integer(1), where={v: 1 / (1 + sp.Symbol("s", positive=True))}).holds()
    True
    >>> Step("a wrong derivative", sp.Derivative(v**3, v), "=", 2 * v**2).holds()
    False
    """

    said: str
    left: Expr
    relation: Relation
    right: Expr
    where: Mapping[Expr, Expr] = field(default_factory=dict)
    about: tuple[Expr, ...] = ()

    @property
    def reason(self) -> str:
        """Why, as plain text."""
        return self.said.format(*self.about)

    def holds(self) -> bool:
        """Run the step."""
        difference = (sp.sympify(self.right) - sp.sympify(self.left)).doit().subs(list(self.where.items()))
        if self.relation == "=":
            return is_zero(difference)
        return has_sign(difference, strict=self.relation == "<")

    def latex(self, names: Mapping[Expr, str] | None = None) -> str:
        """The line as LaTeX mathematics."""
        show = names or {}
        left, right = (sp.latex(side, symbol_names=show) for side in (self.left, self.right))
        where = ", ".join(f"{sp.latex(k, symbol_names=show)} = {sp.latex(v)}" for k, v in self.where.items())
        tail = rf" \quad \left({where}\right)" if where else ""
        return f"{left} {_TEX[self.relation]} {right}{tail}"

    def reason_latex(self, names: Mapping[Expr, str] | None = None) -> str:
        """Why, as LaTeX text."""
        return self.said.format(*(f"${sp.latex(one, symbol_names=names or {})}$" for one in self.about))

    def __str__(self) -> str:
        where = ", ".join(f"{k} = {v}" for k, v in self.where.items())
        return f"{self.reason}: {self.left} {self.relation} {self.right}" + (f"   [{where}]" if where else "")


@dataclass(frozen=True)
class Proof:
    """A claim, and the steps that sympy runs.

    >>> x = sp.Symbol("x", real=True)
    >>> square = Proof("a square is its own absolute value", (Step("a square", 0, "<=", x**2),))
    >>> square.proved
    True
    >>> print(square)
    a square is its own absolute value
      1. a square: 0 <= x**2
    """

    claim: str
    steps: tuple[Step, ...]

    def check(self) -> Proof:
        """Run every step again; `NotProved` names the first that fails. Returns the proof itself."""
        for number, step in enumerate(self.steps, start=1):
            if not step.holds():
                raise NotProved(f"{self.claim}: step {number} is not proved: {step}")
        return self

    @property
    def proved(self) -> bool:
        """Whether every step holds (they are run now)."""
        return all(step.holds() for step in self.steps)

    def latex(self, names: Mapping[Expr, str] | None = None) -> str:
        """The proof as a LaTeX fragment: claim, numbered steps."""
        steps = (rf"\item {step.reason_latex(names)}: \[ {step.latex(names)} \]" for step in self.steps)
        return "\n".join((rf"\paragraph{{{self.claim}}}", r"\begin{enumerate}", *steps, r"\end{enumerate}"))

    def __str__(self) -> str:
        return "\n".join((self.claim, *(f"  {number}. {step}" for number, step in enumerate(self.steps, start=1))))


def is_zero(expression: Expr) -> bool:
    """Whether sympy reduces `expression` to the number 0 (False: not shown, not "differs from 0")."""
    return not _differs_at_a_point(expression) and any(reduce(expression) == 0 for reduce in _REDUCTIONS)


def _differs_at_a_point(expression: Expr) -> bool:
    """Whether `expression` is far from 0 at one point: then there is no use in simplifying it."""
    atoms = expression.atoms(sp.Indexed) or set()
    letters = sorted(atoms | {s for s in expression.free_symbols if s.is_Symbol}, key=str)
    point = {
        letter: sp.Integer(k + 2) if letter.is_integer else sp.Rational(k + 2, 2 * k + 5)
        for k, letter in enumerate(letters)
    }
    value = sp.N(expression.subs(point), 30)
    return bool(value.is_Float and abs(value) > sp.Float("1e-15"))


def _numerator(expression: Expr) -> Expr:
    return sp.expand(sp.fraction(sp.together(expression))[0])


# From cheap to dear.
_REDUCTIONS = (
    _numerator,
    lambda e: sp.expand(sp.powsimp(sp.expand_log(e))),
    lambda e: sp.powsimp(_numerator(e.rewrite(sp.exp))),
    sp.simplify,
    lambda e: sp.simplify(e.rewrite(sp.exp)),
)


def has_sign(expression: Expr, *, strict: bool = False) -> bool:
    """Whether `expression` is seen to be >= 0 (> 0 if strict): as it stands, factored, or term by term."""
    numerator, denominator = sp.fraction(sp.together(expression))
    forms = (expression, sp.factor(expression), sp.expand(numerator) / sp.factor(denominator))
    return any((form.is_positive if strict else form.is_nonnegative) is True for form in forms)
