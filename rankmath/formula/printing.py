"""A formula as text (which reads back to the same formula), as LaTeX, and its hypotheses in words."""

from __future__ import annotations

import re
from fractions import Fraction

from rankmath.definitions.hypotheses import SWITCHES, said
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.printed import latex_letter, stands_apart
from rankmath.formula.terms import Both, Call, Every, Formula, Item, Letter, Number, Operation, Relation, Term, replaced

# How tightly each operator binds; a power binds its base tighter than its exponent.
_SUM, _PRODUCT, _NEGATIVE, _POWER, _ATOM = 1, 2, 3, 4, 5
_LEVELS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "neg": _NEGATIVE, "**": _POWER}


def _level(term: Term) -> int:
    match term:
        case Number(value=value):
            if value.denominator != 1:
                return _PRODUCT
            return _NEGATIVE if value < 0 else _ATOM
        case Operation(operator=operator):
            return _LEVELS[operator]
        case _:
            return _ATOM


def text(term: Term) -> str:
    """The canonical text: `read_formula(text(f)) == f`.

    >>> from rankmath.formula.reader import read_formula
    >>> text(read_formula("n-(d-1) <= 2**(L-1) and H==1"))
    'n - (d - 1) <= 2**(L - 1) and H == 1'
    """
    match term:
        case Number(value=value):
            return str(value)
        case Letter(name=name):
            return name
        case Item(array=array, index=index):
            return f"{array}[{', '.join(map(text, index))}]"
        case Call(function=function, terms=terms):
            return f"{function}({', '.join(map(text, terms))})"
        case Relation(operator=operator, left=left, right=right):
            return f"{text(left)} {operator} {text(right)}"
        case Both(formulas=formulas):
            return " and ".join(map(text, formulas))
        case Every(index=index, formula=formula):
            return f"all_{index}({text(formula)})"
        case Operation(operator="neg", terms=(inner,)):
            return f"-{_inside(inner, _NEGATIVE)}"
        case Operation(operator=operator, terms=(left, right)):
            level = _LEVELS[operator]
            if operator == "**":
                return f"{_inside(left, _ATOM)}**{_inside(right, _ATOM)}"
            space = " " if level == _SUM else ""
            return f"{_inside(left, level)}{space}{operator}{space}{_inside(right, level + 1)}"
    raise TypeError(f"{term!r} is no term")


def _inside(term: Term, least: int) -> str:
    return text(term) if _level(term) >= least else f"({text(term)})"


_SIGNS = {"<=": r"\le", "<": "<", ">=": r"\ge", ">": ">", "==": "="}


def latex(term: Term) -> str:
    """The formula in LaTeX.

    >>> from rankmath.formula.reader import read_formula
    >>> print(latex(read_formula("sqrt(n/2) <= 3**L")))
    \\sqrt{\\frac{n}{2}} \\le 3^{L}
    """
    match term:
        case Number(value=value):
            return _latex_number(value)
        case Letter(name=name):
            return latex_letter(name)
        case Item(array="X", index=(index,)):
            return f"X^{{{latex(index)}}}"
        case Item(array="W_QK" | "P0" as array, index=(layer, head)):
            letter, _, index = array.partition("_") if "_" in array else ("P", "", "0")
            return f"{letter}_{{{index}}}^{{{latex(layer)},{latex(head)}}}"
        case Item(array=array, index=(layer, head)):
            return f"{array}^{{{latex(layer)},{latex(head)}}}"
        case Item(array=array, index=index):
            return f"{latex_letter(array)}_{{{','.join(map(latex, index))}}}"
        case Call(function=function, terms=terms):
            return _latex_call(function, terms)
        case Relation(operator=operator, left=left, right=right):
            return f"{latex(left)} {_SIGNS[operator]} {latex(right)}"
        case Both(formulas=formulas):
            return r",\quad ".join(map(latex, formulas))
        case Every(index="p", formula=formula):
            return rf"{latex(formula)}\quad(p=1,2,\infty)"
        case Every(index=index, formula=formula):
            return rf"{latex(formula)}\quad\text{{for all }}{index}"
        case Operation(operator="neg", terms=(inner,)):
            return f"-{_latex_inside(inner, _NEGATIVE)}"
        case Operation(operator="/", terms=(above, below)):
            return rf"\frac{{{latex(above)}}}{{{latex(below)}}}"
        case Operation(operator="**", terms=(base, exponent)):
            return _latex_power(base, exponent)
        case Operation(operator="*", terms=(left, right)):
            first, second = _latex_inside(left, _PRODUCT), _latex_inside(right, _PRODUCT)
            dot = r"\cdot " if second[:1].isdigit() else r"\,"
            return f"{first}{dot}{second}"
        case Operation(operator="-", terms=(Number(value=0), right)):
            return f"-{_latex_inside(right, _SUM + 1)}"
        case Operation(operator=operator, terms=(left, right)):
            first = _latex_inside(left, _SUM) if _stands_apart(left) else latex(left)
            return f"{first} {operator} {_latex_inside(right, _SUM + 1)}"
    raise TypeError(f"{term!r} is no term")


def _latex_number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _is_reduction(term: Term) -> bool:
    """Σ, Π, max or min over an index: what follows belongs to it, so it is set apart."""
    return isinstance(term, Call) and term.function[:4] in ("sum_", "prod", "max_", "min_")


def _stands_apart(term: Term) -> bool:
    """What is printed with a sign or a sum at its front, and so is set in brackets inside an operation."""
    entry = FUNCTIONS[term.function] if isinstance(term, Call) else None
    written_out = entry is not None and entry.text != "" and entry.definition == ""
    return _is_reduction(term) or (written_out and entry is not None and stands_apart(entry.text))


def _latex_inside(term: Term, least: int) -> str:
    shown = latex(term)
    is_fraction = isinstance(term, Number) or (isinstance(term, Operation) and term.operator == "/")
    if _stands_apart(term):
        return rf"\Bigl({shown}\Bigr)"
    negative = isinstance(term, Number) and term.value < 0
    return shown if (_level(term) >= least or is_fraction) and not negative else rf"\bigl({shown}\bigr)"


def _latex_power(base: Term, exponent: Term) -> str:
    if (isinstance(base, Call) and base.function in ("diameter", "residual", "mu", "norm")) or (
        _level(base) == _ATOM and not isinstance(base, Call) and not isinstance(base, Item)
    ):
        shown = latex(base)
    else:
        shown = rf"\Bigl({latex(base)}\Bigr)"
    if isinstance(exponent, Operation) and exponent.operator == "/":
        above, below = exponent.terms
        return f"{shown}^{{{_latex_inside(above, _PRODUCT)}/{_latex_inside(below, _POWER)}}}"
    if isinstance(exponent, Number) and exponent.value.denominator != 1:
        return f"{shown}^{{{exponent.value}}}"
    return f"{shown}^{{{latex(exponent)}}}"


def _latex_call(function: str, terms: tuple[Term, ...]) -> str:
    entry = FUNCTIONS[function]
    if function == "recursion" and isinstance(terms[0], Letter):
        # b_{l+1} is a step from b_l.
        letter, (_, start, step) = terms[0], terms
        terms = (letter, start, replaced(step, {letter.name: Letter(f"{letter.name}_l")}))
    over = _is_reduction(Call(function, terms))
    parts = [_latex_inside(part, _PRODUCT) if over and _level(part) < _PRODUCT else latex(part) for part in terms]
    return entry.latex(*parts) if callable(entry.latex) else entry.latex.format(*map(_Printed, parts))


_SUBSCRIPTS = {"one": "1", "composite": r"1,\infty", "frobenius": "F", "max": r"\max"}


class _Printed(str):
    """A printed argument: {1:sub} is a word as a subscript, {1:bar q} is q, with a bar where the word is mean."""

    def __format__(self, spec: str) -> str:
        if spec == "sub":
            plain = self.removeprefix(r"\mathrm{").removesuffix("}")
            return _SUBSCRIPTS.get(plain, str(self))
        if spec.startswith("bar "):
            letter = spec.removeprefix("bar ")
            return rf"\bar{{{letter}}}" if "mean" in self else letter
        return str(self)


#: Hypotheses that read better in words.
_WORDS = {
    "H == 1": "one head",
    "L == 1": "one layer",
    "skip == 0": "no skip connections",
    "skip == 1": "skip connections of factor 1",
}


def at_its_word(term: Call, meaning: str) -> tuple[str, str]:
    """The word behind a quantity and what it is with it, where the meaning lists its words; else as it is.

    >>> from rankmath.formula.reader import read_formula
    >>> at_its_word(read_formula("norm(W[0,0], inf) <= 1").left, "norm of a matrix: 2 (spectral), inf (row sum)")
    ('inf', 'norm of a matrix: row sum')

    A quantity of layer l, of another layer than that of an index, says which.

    >>> at_its_word(read_formula("least_root(0) <= 1").left, "least length in layer l")
    ('0', 'least length in layer l, here l = 0')
    """
    head, _, listed = meaning.partition(": ")
    last = term.terms[-1] if term.terms else None
    word = last.name if isinstance(last, Letter) else str(last.value) if isinstance(last, Number) else ""
    if "ℓ_p" in meaning and not listed and word in ("1", "2", "inf"):
        return word, meaning.replace("ℓ_p", f"ℓ_{word.replace('inf', '∞')}")
    if word and (found := re.search(rf"(?:^|, ){re.escape(word)} \(([^)]*)\)", listed)):
        return word, f"{head}: {found[1]}"
    parameters = FUNCTIONS[term.function].parameters
    if last is not None and parameters and parameters[-1].name == "l" and text(last) != "l":
        return text(last), f"{meaning}, here l = {text(last).replace('-', '−')}"
    return "", meaning


def words(formula: Formula) -> str:
    """A hypothesis in words where it has some, as text otherwise; empty where it says nothing.

    >>> from rankmath.formula.reader import read_formula
    >>> words(read_formula("heads == 1")), words(read_formula("n >= 2"))
    ('one head', 'n >= 2')
    """
    match formula:
        case Relation(operator="==", left=Letter(name=switch), right=Letter(name=word)) if switch in SWITCHES:
            return said(switch, word)
    shown = text(formula)
    return _WORDS.get(shown, shown)
