"""The functions of the language of claims: name, arguments, notation, meaning, example; one entry each.

Elementary functions and reductions stand here; `rankmath.formula.quantities` adds what is measured of a network,
and a claim's own file may add what only it needs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from rankmath.definitions import quantities as _quantities  # fills the entries
from rankmath.definitions.entries import ENTRIES, WATCHERS, Entry, Parameter
from rankmath.formula.printed import latex_letter, named, printed
from rankmath.formula.rational import is_rational
from rankmath.formula.terms import INDICES
from rankmath.validation import InvalidArgument

del _quantities

#: What measures a quantity: a run of some arithmetic and the arguments give a number or a truth.
Measure: TypeAlias = Callable[..., Any]

Value = Literal["number", "truth", "array"]
Reach = Literal["tokens", "weights", "multiplied", "attention", "doubles", "one line", "bare", "causal"]

#: Arrays of a network and how many indices each takes.
ARRAYS = {"X": 1, "W": 2, "W_QK": 2, "P": 2, "P0": 2}
LETTERS = {
    "n": "number of tokens",
    "d": "dimension of a token",
    "H": "number of heads in a layer",
    "L": "number of layers",
    "d_qk": "dimension of queries and keys: logits are divided by its square root",
    "skip": "factor λ of the skip connection, 0 without",
    "kv_heads": "number of key and value heads in a layer, in groups of which heads share them; H without groups",
    "x_star": "1.25643…, the positive root of eˣ = 1 + 2x",
    "r": "radius of the mask: least k ≥ 1 where all others see some one token in at most k steps; 1 if there is none",
    "in_degree": "largest number of tokens that a token sees, itself too where it sees itself",
    "K": "L/r rounded up, the number of blocks of r layers, the last of which may be shorter",
}


@dataclass(frozen=True)
class Function:
    """One function of the language.

    `latex` is a template over the printed arguments: ``{0}``, ``{1}``, …, or a function of them. `evaluate` takes
    the run and the arguments. `variadic` functions take any number of numbers. `text` is the definition of what is
    measured of arrays, in the language of `rankmath.definitions.entries`; LaTeX is printed from it, or, where
    `definition` is not empty, its name, and the definition once. `because` says why one has no such text. `exact`
    functions have an exact value where the arrays are rational.
    """

    name: str
    parameters: tuple[Parameter, ...]
    latex: str | Callable[..., str]
    meaning: str
    example: str
    value: Value = "number"
    evaluate: Measure | None = None
    variadic: bool = False
    text: str = ""
    definition: str = ""
    because: str = ""
    exact: bool = False


FUNCTIONS: dict[str, Function] = {}


def _add(call: str, latex: str | Callable[..., str], meaning: str, example: str, value: Value = "number") -> None:
    """Add a function of numbers, given by its name and its arguments; of any number of them where none is named."""
    name, *arguments = re.findall(r"\w+", call)
    parameters = tuple(Parameter(argument, "number") for argument in arguments)
    exact = name not in ("sqrt", "exp", "log", "tanh", "expc", "tanhc")
    FUNCTIONS[name] = Function(name, parameters, latex, meaning, example, value, variadic=not arguments, exact=exact)


#: What measures a definition faster than its text, and of which networks.
FAST: dict[str, tuple[Measure, Reach]] = {}


def fast(name: str, of: Reach = "one line") -> Callable[[Measure], Measure]:
    """Register an implementation of a definition: for networks in one line, or for any (`tokens`, `weights`), for
    any whose weights are held multiplied out, so that they are exact, or for layers that begin with
    their one attention (`attention`), in doubles alone (`doubles`), or for attention alone in one line (`bare`), under
    a causal mask (`causal`).

    A test holds it to the text over random networks of every kind.
    """

    def register(function: Measure) -> Measure:
        function.__doc__ = ENTRIES[name].meaning
        FAST[name] = (function, of)
        return function

    return register


def measured(name: str, run: Any, *arguments: Any) -> Any:
    """A quantity by what was registered for it, or by its text."""
    function, of = FAST.get(name, (None, ""))
    return run.by_text(name, arguments) if function is None or not run.takes(of) else function(run, *arguments)


def _of_entry(entry: Entry) -> None:
    value: Value = "truth" if entry.truth else "number"
    told = entry.name, entry.parameters, entry.latex, entry.meaning, entry.example, value
    FUNCTIONS[entry.name] = Function(*told, partial(measured, entry.name))


for _entry in ENTRIES.values():
    _of_entry(_entry)
WATCHERS.append(_of_entry)


#: The name of what measures a quantity by its text alone.
_BY_TEXT = "by_text"


def quantity(
    signature: str,
    *,
    latex: str | Callable[..., str] = "",
    text: str = "",
    by_name: bool = False,
    because: str = "",
    example: str = "",
    value: Value = "number",
) -> Callable[[Measure], Measure]:
    """Register a function of the language: its evaluation is the decorated function, its meaning the docstring.

    `signature` lists the arguments, as in ``"tv(c: array, g: array)"``; without an `example` that is the call by
    their names. It is printed from `text`, its definition over its arguments and n, the number of rows, in place or
    `by_name` with the definition beside; a test reads what is printed and holds the function to it. What no finite
    computation defines (a limit, a search) is printed as `latex` says, `because` of what is said there in a line.
    """
    name = signature.partition("(")[0]
    if bool(latex) == bool(text) or bool(latex) != bool(because):
        raise InvalidArgument(f"text: a definition of {name} is needed, or latex= with because=, why it has none")
    parameters = tuple(Parameter(*pair) for pair in re.findall(r"(\w+): (\w+)", signature))
    shown_as = example or re.sub(r": \w+", "", signature)
    places = [parameter.name for parameter in parameters]
    shown = latex or (lambda *parts: named(name, parts) if by_name else printed(text, places, *parts))
    own = [latex_letter(place) for place in places]
    definition = f"{named(name, own)}={printed(text, places, *own)}" if by_name else ""

    def register(function: Measure) -> Measure:
        meaning = " ".join((function.__doc__ or "").split())
        made = Function(name, parameters, shown, meaning, shown_as, value, function)
        exact = is_rational(text) if function.__name__ == _BY_TEXT else value == "truth"
        FUNCTIONS[name] = replace(made, text=text, definition=definition, because=because, exact=exact)
        return function

    return register


#: Register a function that is true or false.
predicate = partial(quantity, value="truth")


def defined(signature: str, text: str, meaning: str, *, example: str = "", by_name: bool = False) -> None:
    """Register a quantity, or a predicate over rational numbers: what measures it is made of its text."""
    *_, last = ast.parse(text).body
    kind = getattr(last.value, "func", last.value) if isinstance(last, ast.Expr) else last
    truth = isinstance(kind, ast.Compare | ast.BoolOp) or getattr(kind, "id", "") in ("all", "any")
    name = signature.partition("(")[0]

    def measure(run: Any, *arguments: Any) -> Any:
        return run.by_text(name, arguments)

    measure.__name__, measure.__doc__ = _BY_TEXT, meaning
    example = example or re.sub(r": \w+", "", signature) + (" >= 0" if not truth else "")
    kind_of: Value = "truth" if truth else "number"
    quantity(signature, text=text, by_name=by_name, example=example, value=kind_of)(measure)


for _name, _latex, _meaning, _example in (
    ("sqrt", r"\sqrt{{{0}}}", "square root", "diameter(X[0], 2) <= sqrt(2)*mu(X[0])"),
    ("exp", r"e^{{{0}}}", "exponential", "epsilon(P[0, 0]) >= exp(-logit_range(P[0, 0]))/n"),
    ("log", r"\log({0})", "natural logarithm", "entropy(P[0, 0]) <= log(n)"),
    ("tanh", r"\tanh\Bigl({0}\Bigr)", "hyperbolic tangent", "dobrushin(P[0, 0]) <= tanh(logit_range(P[0, 0])/2)"),
    ("abs", r"\bigl|{0}\bigr|", "absolute value", "abs(cosine(X[0])) <= 1"),
    ("floor", r"\lfloor {0}\rfloor", "largest integer not above", "rank(X[1]) <= 2*floor(n/2) + 1"),
    ("expc", r"\frac{{e^{{{0}}}-1}}{{{0}}}", "(eˣ − 1)/x, 1 at x = 0", "expc(mu(X[0])) <= exp(mu(X[0]))"),
    ("tanhc", r"\frac{{\tanh({0})}}{{{0}}}", "tanh(x)/x, 1 at x = 0", "tanhc(mu(X[0])) <= 1"),
):
    _add(f"{_name}(x)", _latex, _meaning, _example)
for _name, _which in (("min", "least"), ("max", "largest")):
    _latex_of = partial(lambda name, *parts: rf"\{name}\bigl({', '.join(parts)}\bigr)", _name)
    _add(_name, _latex_of, f"the {_which} of several numbers", f"rank(X[1]) <= {_name}(n, d)")
_TERMS = {"l": "norm(W[l, 0], 2)", "h": "norm(W[0, h], 2)", "i": "last_share(i)", "k": "contraction(k)"}
_VERBS = {"sum": "sum", "prod": "product", "max": "largest value", "min": "least value"}
_EXAMPLES = {
    "l": "diameter(X[l + 1], 2) <= diameter(X[l], 2)",
    "h": "norm(W[0, h], 2) <= 1",
    "i": "last_share(i) <= 1/n",
}
_EXAMPLES |= {"k": "contraction(k) <= 1/2", "p": "diameter(X[1], p) <= diameter(X[0], p)"}
_REACH = {index: f"{index} = 0, …, {end} − 1" for index, end in INDICES.items()} | {"p": "p = 1, 2, inf"}
for _kind, _verb in _VERBS.items():
    for _index, _term in _TERMS.items():
        _name = f"{_kind}_{_index}"
        _add(
            f"{_name}(term)",
            rf"\{_name[:-1]}{{{{{_index}}}}} {{0}}",
            f"{_verb} over {_REACH[_index]}",
            f"{_name}({_term}) <= 1",
        )
for _index, _example in _EXAMPLES.items():
    _said = f"the formula holds for every {_REACH[_index]}"
    _add(f"all_{_index}(formula)", rf"{{0}}\quad\forall {_index}", _said, f"all_{_index}({_example})", "truth")
for _index in INDICES:
    _said = f"the relation holds for some {_REACH[_index]}, read as a relation of the least or largest"
    _add(
        f"any_{_index}(relation)", rf"{{0}}\quad\exists {_index}", _said, f"any_{_index}({_EXAMPLES[_index]})", "truth"
    )
_add(
    "recursion(b, start, step)",
    lambda b, start, step: rf"{b}_L,\quad {b}_0={start},\ {b}_{{l+1}}={step}",
    "b after L steps: b = start, then b = step for l = 0, …, L − 1, where step may use b and l",
    "diameter(X[L], 2) <= recursion(b, diameter(X[0], 2), b/2)",
)
