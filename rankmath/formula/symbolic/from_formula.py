"""From a statement's formula to sympy: the bound is the right side of its inequality, nothing is written twice.

Letters of the formula, and quantities it measures, become symbols; sums over heads become sums.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, Protocol

import sympy as sp

from rankmath.formula import terms
from rankmath.formula.language import FUNCTIONS, LETTERS
from rankmath.formula.printed import latex_letter
from rankmath.formula.printing import at_its_word, latex, text
from rankmath.formula.symbolic.bound import Bound
from rankmath.formula.symbolic.proof import Expr
from rankmath.formula.symbolic.quantities import AT_LEAST_ONE, NONNEGATIVE, POSITIVE, REAL, Domain, Quantity, h
from rankmath.formula.terms import (
    Call,
    Every,
    Formula,
    Item,
    Letter,
    Number,
    Operation,
    Relation,
    Term,
    children,
    relations,
    replaced,
    walk,
)
from rankmath.validation import InvalidArgument, as_count

_WHOLE = {"L": NONNEGATIVE, "n": AT_LEAST_ONE, "d": AT_LEAST_ONE, "H": AT_LEAST_ONE, "r": AT_LEAST_ONE}
_WHOLE |= {"center_count": AT_LEAST_ONE, "farthest": AT_LEAST_ONE}
_ELEMENTARY = {"sqrt": sp.sqrt, "exp": sp.exp, "log": sp.log, "tanh": sp.tanh, "abs": sp.Abs, "floor": sp.floor}
_OPERATIONS: Mapping[str, Callable[[Expr, Expr], Expr]] = {**terms.ARITHMETIC, "**": operator.pow}


#: Measured numbers that may be negative.
_SIGNED = {"cosine", "least_cosine", "cap_height", "total", "first_value", "second_value", "least_value", "most_value"}
_SIGNED |= {"largest_rest", "least_rest", "prod_l", "recursion"}
_MAY_BE_ZERO = ("delta", "eta", "phi", "theta")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Stated(Protocol):
    """What a bound is made of."""

    @property
    def key(self) -> str: ...
    @property
    def formula(self) -> Formula | str: ...
    @property
    def where(self) -> Mapping[str, Term | str]: ...
    @property
    def hypotheses(self) -> Sequence[Formula]: ...
    @property
    def arrays(self) -> Mapping[str, str]: ...
    @property
    def premises_in_words(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def quantifier(self) -> str: ...


def bounds_of(statement: Stated) -> tuple[Bound, ...]:
    """The bounds a statement gives, one for each inequality of its conclusion."""
    formula = statement.formula
    assert not isinstance(formula, str)
    found = [part for part, relation in enumerate(relations(formula)) if relation.operator != "=="]
    return tuple(bound_of(statement, part) for part in found or [0])


def bound_of(statement: Stated, part: int = 0) -> Bound:
    """The bound a statement gives: the right side of inequality number `part` of its conclusion."""
    formula = statement.formula
    assert not isinstance(formula, str)
    found = relations(formula)
    if statement.quantifier == "some":
        raise InvalidArgument(f"key: {statement.key!r} given; it says that something exists, so it has no bound")
    if found and as_count("part", part, least=0) >= len(found):
        has = "one relation, part 0" if len(found) == 1 else f"{len(found)} relations, parts 0 to {len(found) - 1}"
        raise InvalidArgument(f"part: {part} given; the claim has {has}")
    if not found or found[part].operator == "==":
        what = f"part {part} of its claim" if len(found) > 1 else "its claim"
        raise InvalidArgument(f"key: {statement.key!r} given; {what} is no inequality, so it has no bound")
    relation = found[part]
    # Two products, say, have two names, in whichever of the inequalities they stand.
    names: dict[str, str] = {}
    for before in found[:part]:
        _Reader(before.right, formula, statement, names)
    reader = _Reader(relation.right, formula, statement, names)
    counted = {part.name for part in walk(relation) if isinstance(part, Letter)} - {"p"}
    side: Literal["upper", "lower"] = "upper" if relation.operator in ("<=", "<") else "lower"
    first = replaced(relation.left, {"L": Number(Fraction(0))})
    start = reader.names.get(text(first), "") if isinstance(first, Call) and first != relation.left else ""
    return Bound(
        statement.key,
        side,
        reader.sympy(relation.right),
        reader.quantities,
        statement.premises_in_words or "none",
        text(relation.left),
        "of a refuted claim" if statement.status == "refuted" and len(found) > 1 else statement.status,
        start,
        any(map(_is_of_an_exponent, walk(relation.right))),
        tuple(dict.fromkeys(part.index for part in walk(formula) if isinstance(part, Every) and part.index in counted)),
    )


class _Reader:
    """A term as sympy, and what its symbols mean."""

    def __init__(self, term: Term, whole: Formula, statement: Stated, names: dict[str, str]) -> None:
        self.where = statement.where
        self.names = names
        self.domains: dict[str, Domain] = {}
        self.found: dict[str, Quantity] = {}
        self.indices = {part.index for part in walk(whole) if isinstance(part, Every)} - {"p", "l", "h"}
        # Where a size is meant, the number may be negative.
        signed = {text(part.terms[0]) for part in walk(term) if isinstance(part, Call) and part.function == "abs"}
        for part in walk(term):
            if isinstance(part, Letter) and part.name not in self.domains:
                declared = statement.arrays.get(part.name, "")
                self.domains[part.name] = self._domain(part.name, text(part) in signed, statement.hypotheses, declared)
        self._meet(term)

    def _domain(self, name: str, signed: bool, hypotheses: Sequence[Formula], declared: str) -> Domain:
        """The values of a letter, as far as the hypotheses on it alone say them."""
        if name in _WHOLE:
            return _WHOLE[name]
        if name in LETTERS:
            return REAL if name == "skip" else POSITIVE
        if name in self.indices:
            return NONNEGATIVE
        meaning = self.where.get(name)
        signs = isinstance(meaning, Call) and meaning.function in _SIGNED
        values = REAL if meaning is None or signs else NONNEGATIVE
        for relation in (part for part in hypotheses if isinstance(part, Relation)):
            for a, operator_, b in (
                (relation.left, relation.operator, relation.right),
                (relation.right, _TURNED.get(relation.operator, ""), relation.left),
            ):
                edge = _number(b)
                if a == Letter(name) and edge is not None and operator_ in _TURNED:
                    values = values.within(operator_, edge)
        # A "<=" among the axes is the library's limit, not the claim's.
        for sign, edge in re.findall(r", (>=?|<) (-?\d+)", declared):
            values = values.within(sign, Fraction(edge))
        return values if values != REAL or signed or meaning is not None else POSITIVE

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What the symbols mean, in the order in which they occur."""
        return tuple(self.found.values())

    def _meet(self, part: Term) -> None:
        match part:
            case Letter(name=name) if name in self.where:
                meaning = self.where[name]
                assert isinstance(meaning, Term)
                said = "; ".join(dict.fromkeys([text(meaning), *self._explained(meaning)]))
                self._found(name, self._letter(name), said, latex_letter(name), self.domains[name])
            case Letter(name=name) if name in LETTERS and name != "x_star":
                self._found(name, self._letter(name), LETTERS[name], latex_letter(name), self.domains[name])
            case Letter(name=name) if name in self.indices:
                said = "the number of a token, from 0 to n - 1"
                self._found(name, self._letter(name), said, latex_letter(name), self.domains[name])
            case Letter(name=name) if name not in ("h", "l", "x_star"):
                self._found(name, self._letter(name), f"the number {name}", latex_letter(name), self.domains[name])
            case Call(function="sum_h", terms=(body,)):
                self._meet(body)
            case Call(function=function) if function in _ELEMENTARY or function in ("min", "max", "expc", "tanhc"):
                for inner in part.terms:
                    self._meet(inner)
            case Call():
                said = text(part)
                if said not in self.names:
                    # Two quantities have two names, such as norm_W_2 and norm_W_2_b.
                    name = quantity_name(part)
                    letters = ("", *(f"_{letter}" for letter in "bcdefghijklm"))
                    taken = {*self.names.values()}
                    self.names[said] = next(name + more for more in letters if name + more not in taken)
                name, meaning = self.names[said], f"{said}: {at_its_word(part, FUNCTIONS[part.function].meaning)[1]}"
                domain = _WHOLE.get(name, REAL if part.function in _SIGNED else NONNEGATIVE)
                self._found(name, self._call(part), meaning, latex(part), domain)
            case Operation(terms=terms):
                for inner in terms:
                    self._meet(inner)
            case _:
                pass

    def _explained(self, meaning: Term) -> Iterator[str]:
        """What the letters and the quantities of a letter's meaning are."""
        for part in walk(meaning):
            inner = self.where.get(part.name) if isinstance(part, Letter) else None
            if isinstance(part, Letter) and isinstance(inner, Term):
                yield f"{part.name} = {text(inner)}"
                yield from self._explained(inner)
            if isinstance(part, Call) and FUNCTIONS[part.function].evaluate is not None:
                yield f"{text(part)}: {at_its_word(part, FUNCTIONS[part.function].meaning)[1]}"

    def _found(self, name: str, symbol_: Expr, meaning: str, tex: str, domain: Domain) -> None:
        self.found.setdefault(
            name, Quantity(symbol_, meaning, tex, domain, integer=name in _WHOLE or name in self.indices)
        )

    def _letter(self, name: str) -> Expr:
        if name in self.indices:
            return sp.Symbol(name, integer=True, nonnegative=True)
        values = self.domains.get(name, POSITIVE)
        unsigned = values.start is not None and values.start >= 0
        return symbol(name) if name in _WHOLE or unsigned else sp.Symbol(name, real=True)

    def _call(self, term: Call) -> Expr:
        name = self.names[text(term)]
        if _of_a_head(term):
            return sp.IndexedBase(name, positive=True)
        return sp.Symbol(name, real=True) if term.function in _SIGNED else symbol(name)

    def sympy(self, term: Term) -> Expr:
        """The term as a sympy expression."""
        match term:
            case Number(value=value):
                return sp.Rational(value.numerator, value.denominator)
            case Letter(name=name):
                return self._letter(name)
            case Operation(operator="neg", terms=(inner,)):
                return -self.sympy(inner)
            case Operation(operator=sign, terms=(left, right)):
                return _OPERATIONS[sign](self.sympy(left), self.sympy(right))
            case Call(function=function, terms=terms) if function in _ELEMENTARY:
                return _ELEMENTARY[function](self.sympy(terms[0]))
            case Call(function="min" | "max" as function, terms=terms):
                return (sp.Min if function == "min" else sp.Max)(*map(self.sympy, terms))
            case Call(function="expc" | "tanhc" as function, terms=terms):
                x = self.sympy(terms[0])
                ratio = (sp.exp(x) - 1) / x if function == "expc" else sp.tanh(x) / x
                return sp.Piecewise((sp.Integer(1), sp.Eq(x, 0)), (ratio, True))
            case Call(function="sum_h", terms=terms):
                return sp.Sum(self.sympy(terms[0]), (h, 0, symbol("H") - 1))
            case Call():
                made = self._call(term)
                return made[h] if _of_a_head(term) else made
        raise InvalidArgument(f"term: {text(term)} given; it has no value in sympy")


def _number(term: Term) -> Fraction | None:
    """A number, as it is written or as a negative or a quotient of such."""
    match term:
        case Number(value=value):
            return value
        case Operation(operator="neg", terms=(inner,)):
            found = _number(inner)
            return None if found is None else -found
        case Operation(operator="/", terms=(top, below)):
            parts = _number(top), _number(below)
            return None if parts[0] is None or not parts[1] else parts[0] / parts[1]
    return None


def _of_a_head(term: Term) -> bool:
    """Whether it has a value for each head: the letter h stands in it, outside sums and the like over heads."""
    if isinstance(term, Call) and term.function.endswith("_h"):
        return False
    return term == Letter("h") or any(map(_of_a_head, children(term)))


def symbol(name: str) -> Expr:
    """The symbol of a letter: whole where the letter is, positive otherwise."""
    if name == "h":
        return h
    if name in _WHOLE:
        domain = _WHOLE[name]
        return sp.Symbol(
            name, integer=True, **({"positive": True} if domain is AT_LEAST_ONE else {"nonnegative": True})
        )
    if name == "d_qk":
        return sp.Symbol(name, integer=True, positive=True)
    return sp.Symbol(name, nonnegative=True) if name in _MAY_BE_ZERO else sp.Symbol(name, positive=True)


def quantity_name(term: Call) -> str:
    """A short name of a measured quantity: residual(X[0], inf) is "residual", norm(W[0, h], 1) "norm_W_1".

    >>> from rankmath.formula import read_term
    >>> quantity_name(read_term("norm(W_QK[0, 0], 1)")), quantity_name(read_term("mu(X[0])"))
    ('norm_W_QK_1', 'mu')
    >>> quantity_name(read_term("mu(X[l + 1])", free="l")), quantity_name(read_term("mu(X[L - 1])"))
    ('mu_l_plus_1', 'mu_L_minus_1')
    """
    entry = FUNCTIONS[term.function]
    parts = [term.function]
    for part, parameter in zip(term.terms, entry.parameters, strict=False):
        if isinstance(part, Item) and part.array != "X" and parameter.kind != "attention":
            parts.append(part.array)
        elif isinstance(part, Item) and part.array == "X" and text(part.index[0]) != "0":
            parts.append(text(part.index[0]).replace(" + ", "_plus_").replace(" - ", "_minus_").replace(" ", ""))
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
