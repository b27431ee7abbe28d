"""The terms of a claim: numbers, letters, arrays with indices, functions, relations.

A term is a small immutable tree. Python operators build it, so that ``diameter(X[1], 1) <= 2`` is a formula; text
is read by `rankmath.formula.reader` and printed by `rankmath.formula.printing`, and both give the same tree.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, NoReturn, TypeAlias, Union

from rankmath.validation import InvalidArgument

#: What Python callers may write in the place of a term.
Termlike: TypeAlias = Union["Term", int, float, Fraction, str]

#: Bound indices, and the letter that says how far each runs: l = 0, …, L − 1.
INDICES = {"l": "L", "h": "H", "i": "n", "k": "K"}
#: The exponents an index p runs over.
EXPONENTS = ("1", "2", "inf")
#: What the signs of a term do to numbers.
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class Term:
    """A term; operators build larger ones."""

    __slots__ = ()

    def __add__(self, other: Termlike) -> Term:
        return Operation("+", (self, as_term(other)))

    def __radd__(self, other: Termlike) -> Term:
        return Operation("+", (as_term(other), self))

    def __sub__(self, other: Termlike) -> Term:
        return Operation("-", (self, as_term(other)))

    def __rsub__(self, other: Termlike) -> Term:
        return Operation("-", (as_term(other), self))

    def __mul__(self, other: Termlike) -> Term:
        return Operation("*", (self, as_term(other)))

    def __rmul__(self, other: Termlike) -> Term:
        return Operation("*", (as_term(other), self))

    def __truediv__(self, other: Termlike) -> Term:
        return quotient(self, as_term(other))

    def __rtruediv__(self, other: Termlike) -> Term:
        return quotient(as_term(other), self)

    def __pow__(self, other: Termlike) -> Term:
        return Operation("**", (self, as_term(other)))

    def __rpow__(self, other: Termlike) -> Term:
        return Operation("**", (as_term(other), self))

    def __neg__(self) -> Term:
        return negative(self)

    def __le__(self, other: Termlike) -> Formula:
        return Relation("<=", self, as_term(other))

    def __lt__(self, other: Termlike) -> Formula:
        return Relation("<", self, as_term(other))

    def __ge__(self, other: Termlike) -> Formula:
        return Relation(">=", self, as_term(other))

    def __gt__(self, other: Termlike) -> Formula:
        return Relation(">", self, as_term(other))

    def equals(self, other: Termlike) -> Formula:
        """The relation ``self == other``; the operator == compares terms themselves."""
        return Relation("==", self, as_term(other))

    def __str__(self) -> str:
        from rankmath.formula.printing import text

        return text(self)

    def _repr_latex_(self) -> str:
        from rankmath.formula.printing import latex

        return f"${latex(self)}$"


@dataclass(frozen=True, slots=True)
class Number(Term):
    """An exact number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Letter(Term):
    """A letter, a word or an index: n, d_qk, inf, l."""

    name: str


@dataclass(frozen=True, slots=True)
class Item(Term):
    """An array with indices: X[l], W[l, h]."""

    array: str
    index: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Operation(Term):
    """+ - * / ** and the negative of one term."""

    operator: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Call(Term):
    """A function, a quantity, or a reduction over an index, of terms."""

    function: str
    terms: tuple[Term, ...]

    # A predicate such as row_stochastic(P) is a formula too.
    def __and__(self, other: Formula) -> Formula:
        return both(self, other)


class _Relational(Term):
    """What has a truth value."""

    __slots__ = ()

    def __and__(self, other: Formula) -> Formula:
        return both(self, other)  # type: ignore[arg-type]

    def __bool__(self) -> NoReturn:
        raise TypeError("a formula has no truth value of its own: give it to Statement or verify")


@dataclass(frozen=True, slots=True)
class Relation(_Relational):
    """left <= right, and the like."""

    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Both(_Relational):
    """All of several formulas."""

    formulas: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Every(_Relational):
    """A formula for every value of an index: all_l(…)."""

    index: str
    formula: Formula


Formula: TypeAlias = Relation | Both | Every | Call


def both(*formulas: Formula) -> Formula:
    """All of them; a conjunction of conjunctions is one.

    >>> print(both(Letter("n") >= 2, Letter("H").equals(1)))
    n >= 2 and H == 1
    """
    parts: list[Formula] = []
    for formula in formulas:
        parts.extend(formula.formulas if isinstance(formula, Both) else (formula,))
    return parts[0] if len(parts) == 1 else Both(tuple(parts))


def as_term(value: Termlike) -> Term:
    """A term from what a Python caller writes: numbers are exact, strings are words.

    >>> print(as_term(0.25) + "x_star")
    1/4 + x_star
    """
    if isinstance(value, Term):
        return value
    if isinstance(value, bool):
        raise InvalidArgument(f"term: {value} given; a number, a term or a word is needed")
    if isinstance(value, float):
        if math.isinf(value) and value > 0:
            return Letter("inf")
        if not math.isfinite(value):
            raise InvalidArgument(f"term: {value} given; a finite number is needed")
        return Number(Fraction(value))
    if isinstance(value, Rational):
        return Number(Fraction(value))
    if isinstance(value, str):
        from rankmath.formula.reader import read_term

        return read_term(value)
    raise InvalidArgument(f"term: a {type(value).__name__} given; a number, a term or a word is needed")


def quotient(above: Term, below: Term) -> Term:
    """above/below; of two numbers the fraction, so that text reads back to the same term."""
    if isinstance(above, Number) and isinstance(below, Number) and below.value != 0:
        return Number(above.value / below.value)
    return Operation("/", (above, below))


def negative(term: Term) -> Term:
    """−term; of a number the number."""
    return Number(-term.value) if isinstance(term, Number) else Operation("neg", (term,))


def children(term: Term) -> tuple[Term, ...]:
    """The terms a term is made of."""
    match term:
        case Item(index=parts) | Operation(terms=parts) | Call(terms=parts) | Both(formulas=parts):
            return parts
        case Relation(left=left, right=right):
            return (left, right)
        case Every(formula=formula):
            return (formula,)
        case _:
            return ()


def walk(term: Term) -> Iterator[Term]:
    """The term and everything in it."""
    yield term
    for part in children(term):
        yield from walk(part)


def replaced(term: Term, letters: dict[str, Term]) -> Term:
    """`term` with letters replaced by terms.

    >>> print(replaced(Letter("B") * 2, {"B": Letter("n") + 1}))
    (n + 1)*2
    """
    if not letters:
        return term
    match term:
        case Letter(name=name):
            return letters.get(name, term)
        case Item(array=array, index=index):
            return Item(array, tuple(replaced(part, letters) for part in index))
        case Operation(operator=operator, terms=terms):
            return Operation(operator, tuple(replaced(part, letters) for part in terms))
        case Call(function=function, terms=terms):
            return Call(function, tuple(replaced(part, letters) for part in terms))
        case Relation(operator=operator, left=left, right=right):
            return Relation(operator, replaced(left, letters), replaced(right, letters))
        case Both(formulas=formulas):
            return Both(tuple(_formula(replaced(part, letters)) for part in formulas))
        case Every(index=index, formula=formula):
            return Every(index, _formula(replaced(formula, letters)))
        case _:
            return term


def _formula(term: Term) -> Formula:
    assert isinstance(term, Relation | Both | Every | Call)
    return term


def over(index: str, relation: Relation, *, some: bool) -> Relation:
    """One relation that says that `relation` holds for some value of an index, or for every one.

    >>> print(over("h", Letter("h") <= Letter("n"), some=True), over("l", Letter("n") < Letter("l"), some=False))
    min_h(h) <= n n < min_l(l)
    """
    if relation.operator == "==":
        distance = Call("abs", (relation.left - relation.right,))
        return over(index, Relation("<=", distance, Number(Fraction(0))), some=some)
    # The side that ought to be small: its least value decides for some, its largest for every one.
    small, large = ("min", "max") if some else ("max", "min")
    if relation.operator in (">=", ">"):
        small, large = large, small

    def free(term: Term) -> bool:
        return all(not (isinstance(part, Letter) and part.name == index) for part in walk(term))

    left, right = relation.left, relation.right
    if free(right):
        return Relation(relation.operator, Call(f"{small}_{index}", (left,)), right)
    if free(left):
        return Relation(relation.operator, left, Call(f"{large}_{index}", (right,)))
    return Relation(relation.operator, Call(f"{small}_{index}", (left - right,)), Number(Fraction(0)))


def negated(relation: Relation) -> Relation:
    """What holds where the inequality does not.

    >>> print(negated(Letter("n") >= 2))
    n < 2
    """
    opposite = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}[relation.operator]
    return Relation(opposite, relation.left, relation.right)


def relations(formula: Formula) -> list[Relation]:
    """The inequalities of a formula, quantifiers stripped.

    >>> from rankmath.formula import read_formula
    >>> [str(part) for part in relations(read_formula("all_l(mu(X[l]) <= 1) and n >= 2"))]
    ['mu(X[l]) <= 1', 'n >= 2']
    """
    match formula:
        case Relation():
            return [formula]
        case Both(formulas=formulas):
            return [found for part in formulas for found in relations(part)]
        case Every(formula=inner):
            return relations(inner)
        case _:
            return []
