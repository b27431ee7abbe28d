"""What a definition's text says of its values: that they are never negative, how they scale, what a shift does.

All is read off the text, cautiously: what no rule here shows is not known. What is true for a deeper reason the
entry itself says (`sign`, `degree`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rankmath.definitions.entries import ENTRIES, Entry, lines
from rankmath.definitions.layer import GRAPHS, layer_text
from rankmath.definitions.quantities import HELPERS

# Functions whose values, or whose entries, are never negative; numbers and arrays of which this holds.
_NEVER_NEGATIVE = frozenset(
    ["abs", "sqrt", "exp", "len", "range", "spectral", "largest_modulus", "matrix_rank", "softmax", "residual_of"]
)
_COUNTS = frozenset(["n", "d", "H", "L", "K", "d_qk", "inf", "mask", "edges"])
_STOCHASTIC = frozenset(["P", "P0"])
# Functions of one matrix or list that scale as it does, and those that do not care about its scale.
_SCALING = frozenset(
    ["abs", "sum", "max", "min", "T", "spectral", "eigenvalues", "least_eigenvalue", "largest_modulus"]
)
_SCALELESS = frozenset(["len", "range", "matrix_rank", "identity"])
_DATA = frozenset(["input", "blocks", "edges", "mlp", "attends", "feeds", "skip", "d_qk"])
_NOTHING = ""  # is known


def never_negative(entry: Entry) -> bool:
    """Whether a quantity is never negative, by its text or because its entry says so.

    >>> from rankmath.definitions.quantities import HELPERS
    >>> [name for name in ("diameter", "cosine", "logit_range", "entropy") if never_negative(ENTRIES[name])]
    ['diameter', 'logit_range', 'entropy']
    """
    return entry.sign in ("+", ">") or (not entry.truth and _sign(entry, layer_text()))


def scaling(entry: Entry) -> Fraction | None:
    """k where scaling the first argument by c > 0 scales the quantity by c^k, by its text or its entry.

    >>> [str(scaling(ENTRIES[name])) for name in ("norm", "stable_rank", "entropy")]
    ['1', '0', 'None']
    """
    if entry.degree is not None or entry.truth or not entry.parameters:
        return None if entry.degree is None else Fraction(entry.degree)
    return _degree(entry, layer_text())


def unmoved(entry: Entry) -> bool:
    """Whether a quantity of tokens stays as it is where one row is added to all of them, by its text.

    >>> [name for name in ("diameter", "mu", "norm", "cosine") if unmoved(ENTRIES[name])]
    ['diameter', 'mu']
    """
    return entry.name == "residual" or _still(entry, layer_text())


@lru_cache(maxsize=256)
def _still(entry: Entry, layer: str) -> bool:
    at = {place: "fixed" if k else "shifted" for k, place in enumerate(entry.places)}
    return bool(at) and _Shifts(layer).of(ast.parse(entry.body, mode="eval").body, at) == "fixed"


@lru_cache(maxsize=256)
def _sign(entry: Entry, layer: str) -> bool:
    return _Signs(layer).of(ast.parse(entry.body, mode="eval").body, _given(entry))


@lru_cache(maxsize=256)
def _degree(entry: Entry, layer: str) -> Fraction | None:
    first, *others = entry.places
    if entry.parameters[0].by_place or entry.parameters[0].kind not in ("tokens", "weight", "matrix"):
        return None
    at = {first: Fraction(1), **dict.fromkeys(others, Fraction(0))}
    found = _Degrees(layer).of(ast.parse(entry.body, mode="eval").body, at)
    return None if isinstance(found, str) else found


def _given(entry: Entry) -> dict[str, bool]:
    kinds = {parameter.name: parameter.kind for parameter in entry.parameters if not parameter.by_place}
    return {place: kinds.get(place, "layer") in ("attention", "layer", "word") for place in entry.places}


@lru_cache(maxsize=4)
def _texts(layer: str, entries: tuple[Entry, ...]) -> dict[str, tuple[tuple[str, ...], ast.expr]]:
    named = [*lines(GRAPHS + layer + HELPERS), *((entry.name, entry.places, entry.body) for entry in entries)]
    return {name: (parameters, ast.parse(body.strip(), mode="eval").body) for name, parameters, body in named}


class _Walk:
    """A walk through a text; at a call of a definition it goes on there."""

    def __init__(self, layer: str) -> None:
        self.defined = _texts(layer, tuple(ENTRIES.values()))
        self.known: dict[tuple[str, tuple[Any, ...]], Any] = {}

    def of(self, node: ast.expr, at: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def called(self, name: str, values: Sequence[Any], start: Any) -> Any:
        """What is known of a definition at arguments of which so much is known; `start` while it is worked out."""
        parameters, body = self.defined[name]
        key = name, tuple(values)
        if key not in self.known:
            self.known[key], at = start, dict(zip(parameters, values, strict=True))
            first = self.known[key] = self.of(body, at)
            if first != start and self.of(body, at) != first:  # of a definition that calls itself
                self.known[key] = _NOTHING
        return self.known[key]

    def looped(self, node: ast.GeneratorExp | ast.ListComp, at: Mapping[str, Any]) -> Any:
        here = dict(at)
        for loop in node.generators:
            assert isinstance(loop.target, ast.Name)
            here[loop.target.id] = self.of(loop.iter, here)
        return self.of(node.elt, here)


class _Signs(_Walk):
    """Whether a number, or every entry of an array, is never negative."""

    def of(self, node: ast.expr, at: Mapping[str, bool]) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and node.value >= 0
        if isinstance(node, ast.Name):
            known = at.get(node.id, node.id in _COUNTS or node.id == "undefined")
            return known or (node.id not in at and self._defined(node.id, []))
        if isinstance(node, ast.Subscript):
            array = node.value.id if isinstance(node.value, ast.Name) else ""
            return self.of(node.value, at) if array in at or not array else array in _COUNTS | _STOCHASTIC
        if isinstance(node, ast.Attribute):
            return node.attr in ("mask", "d_qk", "eps")
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return bool(self.looped(node, at))
        if isinstance(node, ast.BinOp):
            return self._joined(node, at)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, known_of = node.func.id, [self.of(one, at) for one in node.args]
            if name == "max" and len(known_of) > 1:
                return any(known_of)
            if name in ("sum", "max", "min", "T", "chain"):
                return all(known_of)
            return name in _NEVER_NEGATIVE or self._defined(name, known_of)
        parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else getattr(node, "elts", [])
        return bool(parts) and all(self.of(part, at) for part in parts)

    def _joined(self, node: ast.BinOp, at: Mapping[str, bool]) -> bool:
        if isinstance(node.op, ast.Pow):
            power = node.right.value if isinstance(node.right, ast.Constant) else 1
            return power in (2, 4) or self.of(node.left, at)
        if isinstance(node.op, ast.Sub):  # max(v) - min(v)
            high, low = (ast.unparse(side).partition("(") for side in (node.left, node.right))
            alone = isinstance(node.left, ast.Call) and isinstance(node.right, ast.Call)  # and not times a number
            return alone and (high[0], low[0]) == ("max", "min") and high[2] == low[2]
        return self.of(node.left, at) and self.of(node.right, at)

    def _defined(self, name: str, values: Sequence[bool]) -> bool:
        if name in ENTRIES and ENTRIES[name].sign:
            return True
        fits = name in self.defined and len(self.defined[name][0]) == len(values)
        return fits and bool(self.called(name, values, False))


class _Degrees(_Walk):
    """The power of the scale of an argument by which a number, or every entry of an array, grows; "" if unknown."""

    def of(self, node: ast.expr, at: Mapping[str, Fraction | str]) -> Fraction | str:
        if isinstance(node, ast.Constant):
            return "any" if node.value == 0 else Fraction(0)
        if isinstance(node, ast.Name):
            word = "any" if node.id == "undefined" else Fraction(0)
            return at.get(node.id, "" if node.id in self.defined or node.id in _DATA else word)
        if isinstance(node, ast.Subscript):
            return self.of(node.value, at)
        if isinstance(node, ast.IfExp):
            names = [part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)]
            free = "len(" in ast.unparse(node.test) or all(at.get(name, 0) == 0 for name in names)
            return _alike([self.of(node.body, at), self.of(node.orelse, at)]) if free else ""
        if isinstance(node, ast.List):
            return _alike([self.of(one, at) for one in node.elts])
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            found: Fraction | str = self.looped(node, at)
            return found
        if isinstance(node, ast.BinOp):
            return self._joined(node, self.of(node.left, at), self.of(node.right, at))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, [self.of(one, at) for one in node.args])
        return ""

    def _joined(self, node: ast.BinOp, a: Fraction | str, b: Fraction | str) -> Fraction | str:
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return _alike([a, b])
        if isinstance(a, str) or isinstance(b, str):
            return "any" if "any" in (a, b) and "" not in (a, b) else ""
        if isinstance(node.op, ast.Pow):
            return a * Fraction(str(node.right.value)) if isinstance(node.right, ast.Constant) else ""
        return a - b if isinstance(node.op, ast.Div) else a + b

    def _call(self, name: str, degrees: list[Fraction | str]) -> Fraction | str:
        if name == "sqrt":
            return degrees[0] if isinstance(degrees[0], str) else degrees[0] / 2
        if name in _SCALELESS:
            return Fraction(0)
        if name in _SCALING:
            return _alike(degrees)
        if name not in self.defined or len(self.defined[name][0]) != len(degrees):
            return ""
        found: Fraction | str = self.called(name, degrees, "any")
        return found


def _alike(degrees: Sequence[Fraction | str]) -> Fraction | str:
    """The degree of a sum; zero and what has no meaning go with any."""
    found = {degree for degree in degrees if degree != "any"}
    return "any" if not found else found.pop() if len(found) == 1 else ""


class _Shifts(_Walk):
    """What becomes of a term where one row is added to all tokens: it is "fixed", or "shifted" by that row."""

    def of(self, node: ast.expr, at: Mapping[str, str]) -> str:
        if isinstance(node, ast.Name):
            return at.get(node.id, "" if node.id in self.defined or node.id in _DATA else "fixed")
        if isinstance(node, ast.Subscript):
            return self.of(node.value, at)
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return str(self.looped(node, at))
        if isinstance(node, ast.IfExp):
            return self._same([self.of(node.body, at), self.of(node.orelse, at)])
        if isinstance(node, ast.BinOp):
            both = self.of(node.left, at), self.of(node.right, at)
            if isinstance(node.op, ast.Sub) and both == ("shifted", "shifted"):
                return "fixed"
            return "fixed" if both == ("fixed", "fixed") else ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, parts = node.func.id, [self.of(one, at) for one in node.args]
            if name == "mean_of" or all(part == "fixed" for part in parts):
                return self._same(parts)
            fits = name in self.defined and len(self.defined[name][0]) == len(parts) and "" not in parts
            return "fixed" if name == "len" else str(self.called(name, parts, "")) if fits else ""
        return "fixed" if isinstance(node, ast.Constant) else ""

    def _same(self, parts: Sequence[str]) -> str:
        return parts[0] if len(set(parts)) == 1 else ""
