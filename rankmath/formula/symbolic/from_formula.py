"""From a statement's formula to sympy: the bound is the right side of its inequality, nothing is written twice.

Letters of the formula, and quantities it measures, become symbols; sums over heads become sums.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal, Protocol

import sympy as sp

from rankmath.formula import terms
from rankmath.formula.language import FUNCTIONS, LETTERS
from rankmath.formula.printed import latex_letter
from rankmath.formula.printing import latex, text
from rankmath.formula.symbolic.bound import Bound
from rankmath.formula.symbolic.proof import Expr
from rankmath.formula.symbolic.quantities import AT_LEAST_ONE, NONNEGATIVE, POSITIVE, Quantity
from rankmath.formula.terms import (
    Call,
    Formula,
    Item,
    Letter,
    Number,
    Operation,
    Term,
    children,
    relations,
    replaced,
    walk,
)
from rankmath.validation import InvalidArgument

_WHOLE = {"L": NONNEGATIVE, "n": AT_LEAST_ONE, "d": AT_LEAST_ONE, "H": AT_LEAST_ONE, "r": AT_LEAST_ONE}
_WHOLE |= {"center_count": AT_LEAST_ONE, "farthest": AT_LEAST_ONE}
_ELEMENTARY = {"sqrt": sp.sqrt, "exp": sp.exp, "log": sp.log, "tanh": sp.tanh, "abs": sp.Abs, "floor": sp.floor}
_OPERATIONS: Mapping[str, Callable[[Expr, Expr], Expr]] = {**terms.ARITHMETIC, "**": operator.pow}
_HEAD = sp.Symbol("h", integer=True, positive=True)


class Stated(Protocol):
    """What a bound is made of."""

    @property
    def key(self) -> str: ...
    @property
    def formula(self) -> Formula | str: ...
    @property
    def where(self) -> Mapping[str, Term | str]: ...
    @property
    def hypotheses_in_words(self) -> str: ...


def bound_of(statement: Stated, part: int = 0) -> Bound:
    """The bound a statement gives: the right side of inequality number `part` of its conclusion."""
    formula = statement.formula
    assert not isinstance(formula, str)
    found = relations(formula)
    if not 0 <= part < len(found) or found[part].operator == "==":
        what = f"part {part} of its claim" if len(found) > 1 else "its claim"
        raise InvalidArgument(f"key: {statement.key!r} given; {what} is no inequality, so it has no bound")
    relation = found[part]
    expression = to_sympy(relation.right)
    quantities = _quantities(relation.right, statement.where)
    hypothesis = statement.hypotheses_in_words or "none"
    side: Literal["upper", "lower"] = "upper" if relation.operator in ("<=", "<") else "lower"
    names = {quantity.name for quantity in quantities}
    first = replaced(relation.left, {"L": Number(Fraction(0))})
    start = quantity_name(first) if isinstance(first, Call) and first != relation.left else ""
    return Bound(statement.key, side, expression, quantities, hypothesis, start if start in names else "")


def to_sympy(term: Term) -> Expr:
    """The term as a sympy expression.

    >>> from rankmath.formula import read_term
    >>> to_sympy(read_term("sqrt(n/2)*mu(X[0])*3**L"))
    sqrt(2)*3**L*mu*sqrt(n)/2
    """
    match term:
        case Number(value=value):
            return sp.Rational(value.numerator, value.denominator)
        case Letter(name=name):
            return symbol(name)
        case Operation(operator="neg", terms=(inner,)):
            return -to_sympy(inner)
        case Operation(operator=sign, terms=(left, right)):
            a, b = to_sympy(left), to_sympy(right)
            return _OPERATIONS[sign](a, b)
        case Call(function=function, terms=terms):
            return _call(term, function, terms)
    raise InvalidArgument(f"term: {text(term)} given; it has no value in sympy")


def _call(term: Call, function: str, terms: tuple[Term, ...]) -> Expr:
    if function in _ELEMENTARY:
        return _ELEMENTARY[function](to_sympy(terms[0]))
    if function in ("min", "max"):
        return (sp.Min if function == "min" else sp.Max)(*map(to_sympy, terms))
    if function in ("expc", "tanhc"):
        x = to_sympy(terms[0])
        ratio = (sp.exp(x) - 1) / x if function == "expc" else sp.tanh(x) / x
        return sp.Piecewise((sp.Integer(1), sp.Eq(x, 0)), (ratio, True))
    if function == "sum_h":
        return sp.Sum(to_sympy(terms[0]), (_HEAD, 1, symbol("H")))
    name = quantity_name(term)
    if _of_a_head(term):
        return sp.IndexedBase(name, positive=True)[_HEAD]
    return symbol(name)


def _of_a_head(term: Term) -> bool:
    """Whether it has a value for each head: the letter h stands in it, outside sums and the like over heads."""
    if isinstance(term, Call) and term.function.endswith("_h"):
        return False
    return term == Letter("h") or any(map(_of_a_head, children(term)))


def symbol(name: str) -> Expr:
    """The symbol of a letter: whole where the letter is, positive otherwise."""
    if name == "h":
        return _HEAD
    if name in _WHOLE:
        domain = _WHOLE[name]
        return sp.Symbol(
            name, integer=True, **({"positive": True} if domain is AT_LEAST_ONE else {"nonnegative": True})
        )
    if name == "d_qk":
        return sp.Symbol(name, integer=True, positive=True)
    return sp.Symbol(name, nonnegative=True) if name in ("delta", "phi", "theta") else sp.Symbol(name, positive=True)


def quantity_name(term: Call) -> str:
    """A short name of a measured quantity: residual(X[0], inf) is "residual", norm(W[0, h], 1) "norm_W_1".

    >>> from rankmath.formula import read_term
    >>> quantity_name(read_term("norm(W_QK[0, 0], 1)")), quantity_name(read_term("mu(X[0])"))
    ('norm_W_QK_1', 'mu')
    """
    entry = FUNCTIONS[term.function]
    parts = [term.function]
    for part, parameter in zip(term.terms, entry.parameters, strict=False):
        if isinstance(part, Item) and part.array != "X" and parameter.kind != "attention":
            parts.append(part.array)
        elif isinstance(part, Item) and part.array == "X" and text(part.index[0]) != "0":
            parts.append(text(part.index[0]).replace(" ", ""))
        elif (
            parameter.kind == "word" and part != Letter("p") and term.function in ("norm", "operator_norm", "form_norm")
        ):
            parts.append(text(part))
    return "_".join(parts)


def _is_of_an_exponent(part: Term | Formula) -> bool:
    """Whether it measures at an exponent p; elsewhere p is a number that a claim is about."""
    if not isinstance(part, Call) or part.function not in FUNCTIONS:
        return False
    pairs = zip(part.terms, FUNCTIONS[part.function].parameters, strict=False)
    return any(inner == Letter("p") and parameter.kind == "word" for inner, parameter in pairs)


def _quantities(term: Term, where: Mapping[str, Term | str]) -> tuple[Quantity, ...]:
    """What the symbols of a term mean, in the order in which they occur."""
    found: dict[str, Quantity] = {}
    indices = {"h", "l", "x_star"} | ({"p"} if any(map(_is_of_an_exponent, walk(term))) else set())

    def visit(part: Term) -> None:
        match part:
            case Letter(name=name) if name in where:
                meaning = where[name]
                assert isinstance(meaning, Term)
                domain = NONNEGATIVE
                found.setdefault(name, Quantity(symbol(name), text(meaning), latex_letter(name), domain))
            case Letter(name=name) if name in LETTERS and name != "x_star":
                domain = _WHOLE.get(name, POSITIVE)
                whole = name in _WHOLE
                found.setdefault(name, Quantity(symbol(name), LETTERS[name], latex_letter(name), domain, integer=whole))
            case Letter(name=name) if name not in indices:
                found.setdefault(name, Quantity(symbol(name), f"the number {name}", latex_letter(name), POSITIVE))
            case Call(function="sum_h", terms=(body,)):
                visit(body)
            case Call(function=function) if function in _ELEMENTARY or function in ("min", "max", "expc", "tanhc"):
                for inner in part.terms:
                    visit(inner)
            case Call():
                name = quantity_name(part)
                meaning_text = f"{text(part)}: {FUNCTIONS[part.function].meaning}"
                symbol_ = sp.IndexedBase(name, positive=True) if _of_a_head(part) else symbol(name)
                domain, whole = _WHOLE.get(name, NONNEGATIVE), name in _WHOLE
                found.setdefault(name, Quantity(symbol_, meaning_text, latex(part), domain, integer=whole))
            case Operation(terms=terms):
                for inner in terms:
                    visit(inner)
            case _:
                pass

    visit(term)
    return tuple(found.values())
