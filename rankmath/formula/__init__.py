"""The language of claims: a statement is a formula, and everything else follows from it.

>>> from rankmath.formula import W, X, diameter, norm
>>> print(diameter(X[1], 1) <= norm(W[0, 0], "inf") * diameter(X[0], 1) / 2)
diameter(X[1], 1) <= norm(W[0, 0], inf)*diameter(X[0], 1)/2
"""

from __future__ import annotations

from collections.abc import Callable

from rankmath.definitions.hypotheses import ALIASES
from rankmath.formula import arrays as _arrays  # registers quantities
from rankmath.formula import quantities as _quantities  # registers quantities
from rankmath.formula.language import ARRAYS, FUNCTIONS, LETTERS
from rankmath.formula.reader import OWN, read_formula, read_term
from rankmath.formula.terms import INDICES, Call, Every, Formula, Item, Letter, Term, Termlike, as_term, both
from rankmath.validation import InvalidArgument

__all__ = ["Formula", "Term", "both", "read_formula", "read_term"]

del _arrays, _quantities
OWN.update(FUNCTIONS)


class _Array:
    """X, W, W_QK, P: indexing builds a term."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, index: Termlike | tuple[Termlike, ...]) -> Item:
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != ARRAYS[self._name]:
            raise InvalidArgument(f"{self._name}: {len(parts)} indices given; it takes {ARRAYS[self._name]}")
        return Item(self._name, tuple(as_term(part) for part in parts))


def _builder(name: str) -> Callable[..., Term]:
    entry = FUNCTIONS[name]

    def build(*given: Termlike, **named: Termlike) -> Term:
        names = [parameter.name for parameter in entry.parameters]
        if entry.variadic:
            return Call(name, tuple(as_term(value) for value in given))
        if len(given) > len(names) or not set(named) <= set(names[len(given) :]):
            raise InvalidArgument(f"{name}({', '.join(names)}): {len(given)} arguments and {', '.join(named)} given")
        found = {**dict(zip(names, given, strict=False)), **named}
        if len(found) < len(names):
            missing = [argument for argument in names if argument not in found]
            raise InvalidArgument(f"{name}({', '.join(names)}): {', '.join(missing)} missing")
        parts = []
        for parameter in entry.parameters:
            given_value = found[parameter.name]
            parts.append(
                Letter(given_value)
                if parameter.kind == "word" and isinstance(given_value, str)
                else as_term(given_value)
            )
        if name.startswith("all_"):
            return Every(name.removeprefix("all_"), parts[0])  # type: ignore[arg-type]
        return Call(name, tuple(parts))

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{entry.meaning}\n\nExample: ``{entry.example}``"
    return build


def __getattr__(name: str) -> object:
    if name in ARRAYS:
        return _Array(name)
    if name in LETTERS or name in INDICES or name == "p":
        return Letter(name)
    if name in ALIASES:
        return Letter(ALIASES[name])
    if not name.startswith("_") and name in FUNCTIONS:
        return _builder(name)
    raise AttributeError(f"module 'rankmath.formula' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *ARRAYS, *FUNCTIONS, *LETTERS, *INDICES, "p"})
