"""The library's reader of the definitions: slow, and plainly what they say, in doubles, mpmath or balls.

Text is parsed with Python's grammar of expressions and never executed. Numbers stay fractions as long as they are
exact; lists are Python's. What no formula gives at once (eigenvalues, ranks, residuals) is a function of `_OWN`, by
this library's linear algebra. Everything that is faster (`rankmath.formula.quantities`, the passes of
`rankmath.attention`) is held to what is read here.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache, reduce
from typing import Any, TypeAlias

import numpy as np

from rankmath.arithmetic.float64 import to_numpy
from rankmath.arithmetic.protocol import System
from rankmath.definitions.entries import ENTRIES, Entry, lines
from rankmath.definitions.hypotheses import ALIASES
from rankmath.definitions.layer import GRAPHS, layer_text
from rankmath.definitions.quantities import HELPERS
from rankmath.formula.evaluate import NUMBERS, Doubles, Truth, real_power
from rankmath.formula.numbers import Signed
from rankmath.formula.printed import lets
from rankmath.formula.rational import real_eigenvalues
from rankmath.formula.terms import ARITHMETIC
from rankmath.linalg.norms import spectral, symmetric_extremes
from rankmath.linalg.residuals import value_and_center
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.validation import Array, InvalidArgument, Undecided

# What texts ask of the same arrays again and again.
_KEPT = frozenset({"softmax", "ordered", "identity"})
# Kinds of arguments for which a definition is remembered, and those that are told apart by their values.
_BY_VALUE = frozenset({Fraction, str})
_REMEMBERED = _BY_VALUE | {list, dict}

#: A number, a truth value (None: not decided), a word, a record, or a list of these.
Value: TypeAlias = Any
Env: TypeAlias = Mapping[str, Value]


@cache
def _parsed(body: str) -> ast.expr:
    return ast.parse(body.strip(), mode="eval").body


@lru_cache(maxsize=4)
def _definitions(entries: tuple[Entry, ...], layer: str) -> dict[str, tuple[tuple[str, ...], ast.expr]]:
    texts = {name: (parameters, _parsed(body)) for name, parameters, body in lines(GRAPHS + layer + HELPERS)}
    return texts | {entry.name: (entry.places, _parsed(entry.body)) for entry in entries}


class Undefined(InvalidArgument):
    """A part of a definition has no meaning for this network."""


class Text:
    """The definitions over some data, in one arithmetic.

    >>> from rankmath.arithmetic.float64 import Float64
    >>> text = Text(Float64(np.zeros(1)), {})
    >>> text.read("norm([[3, 0], [4, 0]], frobenius)"), text.read("diameter([[0, 0], [3, 4]], 1)")
    (Fraction(5, 1), Fraction(7, 1))
    """

    def __init__(self, A: System, data: Env) -> None:
        self.A, self.data = A, data
        self.numbers: Any = NUMBERS[A.name] if A.unbounded else Doubles()
        self.defined = _definitions(tuple(ENTRIES.values()), layer_text())
        self.cache: dict[Any, tuple[Value, Value]] = {}

    def read(self, text: str, env: Env | None = None) -> Value:
        """The value of a term, or of a definition that says what its letters stand for: ``S = sum(v); v[0]/S``."""
        named, body = lets(text)
        env = dict(env or {})
        for name, value in named:
            env[name] = self.value(value, env)
        return self.value(body, env)

    def value(self, node: Any, env: Env) -> Value:
        return _MEANING[type(node)](self, node, env)

    def measured(self, name: str, arguments: tuple[Any, ...]) -> Value:
        """An entry at arguments of `rankmath.formula`: ("X", 1), ("P", 0, 1), words, numbers and places."""
        values: list[Value] = []
        for parameter, given in zip(ENTRIES[name].parameters, arguments, strict=True):
            if not isinstance(given, tuple):
                number = isinstance(given, int) or (isinstance(given, str) and given.isdigit())
                values.append(Fraction(given) if number else given)
            elif parameter.by_place:
                values.extend(Fraction(place) for place in given[1:])
            else:
                values.append(self.apply(given[0], [Fraction(place) for place in given[1:]]))
        try:
            found = self.apply(name, values)
        except Undecided:
            found = None
        if ENTRIES[name].truth:
            return Truth(found)
        return NUMBERS[self.A.name].lift(Fraction(0)) / 0 if found is None else found

    # -- names and calls -----------------------------------------------------------------------------------

    def name(self, name: str, env: Env) -> Value:
        for known in (env, self.data):
            if name in known:
                return known[name]
        if name in self.defined and not self.defined[name][0]:
            return self.apply(name, [])
        return name

    def item(self, node: ast.Subscript, env: Env) -> Value:
        array = self.value(node.value, env)
        places = self.value(node.slice, env)
        places = places if isinstance(places, list) else [places]
        if isinstance(array, str):
            if array == "undefined":
                raise Undefined(f"net: {ast.unparse(node.value)} is not defined for its layers")
            for place in range(int(places[0])) if len(places) == 1 else ():  # in order: X[99] needs no recursion
                self.apply(array, [Fraction(place)])
            return self.apply(array, places)
        for place in places:
            if place < 0 or place.denominator != 1:
                raise InvalidArgument(f"claim: {ast.unparse(node)} has no place {place}")
            if isinstance(array, list) and int(place) >= len(array):
                raise InvalidArgument(f"net: {ast.unparse(node)} asked for; it has no such part in one of its layers")
            array = array[int(place)]
        return array

    def field(self, record: Value, name: str) -> Value:
        if type(record) is not dict:
            raise InvalidArgument(f"net: it has no such part at this place: {name} of {record} asked for")
        return record[name]

    def call(self, name: str, arguments: list[Any], env: Env) -> Value:
        if len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            found = self.loop(arguments[0].elt, arguments[0].generators, env)
            return _REDUCED[name](self, found)
        values = [self.value(argument, env) for argument in arguments]
        if any(type(v) is str and v == "undefined" for v in values):
            return "undefined"
        if name in _KEPT:
            key = (name, *(v if type(v) in _BY_VALUE else id(v) for v in values))
            if key not in self.cache:
                self.cache[key] = (_OWN[name](self, *values), values)
            return self.cache[key][0]
        if name in _OWN:
            return _OWN[name](self, *values)
        if name in self.defined:
            return self.apply(name, values)
        if name in _REDUCED:
            listed = len(values) == 1 and isinstance(values[0], list)
            return _REDUCED[name](self, iter(values[0] if listed else values))
        return self.each(name, *values)

    def apply(self, name: str, values: list[Value]) -> Value:
        """A definition at these values; remembered: numbers and words by value, arrays by identity."""
        if name not in self.defined:
            why = {"edges": "; its mask differs from layer to layer"}.get(name, "")
            raise InvalidArgument(f"claim: {name} is not defined for this network{why}")
        kinds = [type(v) for v in values]  # isinstance of a Fraction asks an abstract class, which takes longer
        exact = all(kind in _REMEMBERED for kind in kinds)
        key = (name, *(v if kind in _BY_VALUE else id(v) for v, kind in zip(values, kinds, strict=True)))
        if not exact or key not in self.cache:
            parameters, body = self.defined[name]
            found = self.value(body, dict(zip(parameters, values, strict=True)))
            if not exact:
                return found
            self.cache[key] = (found, values)
        return self.cache[key][0]

    def loop(self, element: ast.expr, generators: list[Any], env: Env) -> Iterator[Value]:
        first, *rest = generators
        for member in self.value(first.iter, env):
            inner = {**env, first.target.id: member}
            if all(self.chosen(test, inner) for test in first.ifs):
                yield from self.loop(element, rest, inner) if rest else [self.value(element, inner)]

    # -- truth ---------------------------------------------------------------------------------------------

    def compared(self, node: ast.Compare, env: Env) -> bool | None:
        sides = [self.value(side, env) for side in (node.left, *node.comparators)]
        return _joined(True, map(self.related, map(type, node.ops), sides, sides[1:]))

    def related(self, relation: type[ast.cmpop], left: Value, right: Value) -> bool | None:
        if isinstance(left, list) and isinstance(right, list):
            return _joined(True, [self.related(relation, a, b) for a, b in zip(left, right, strict=True)])
        if any(isinstance(side, str | dict | list) for side in (left, right)):
            return bool(left == right)
        if type(left) is Fraction and type(right) is Fraction:
            return bool(_RELATIONS[relation](left, right))
        a, b = self.lifted(left), self.lifted(right)
        if self.A.name != "balls":
            return bool(_RELATIONS[relation](a, b))
        if relation is ast.Eq:
            return True if a == b else False if a < b or a > b else None
        opposite = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}[relation]
        return True if _RELATIONS[relation](a, b) else False if _RELATIONS[opposite](a, b) else None

    def chosen(self, test: ast.expr, env: Env) -> bool:
        truth = self.value(test, env)
        if truth is None:
            raise Undecided(f"{ast.unparse(test)} is not decided")
        return bool(truth)

    # -- numbers -------------------------------------------------------------------------------------------

    def lifted(self, x: Value) -> Value:
        return self.numbers.lift(x) if type(x) is Fraction else x

    def each(self, name: str, *values: Value) -> Value:
        """An operation on numbers, entry by entry of lists; a number goes with every entry."""
        kinds = [type(v) for v in values]
        if list in kinds:
            length = max(len(v) for v in values if type(v) is list)
            columns = [v if type(v) is list else [v] * length for v in values]
            return [self.each(name, *entry) for entry in zip(*columns, strict=True)]
        if str in kinds:
            raise Undefined(f"claim: {', '.join(map(str, values))} has no meaning for this network")
        if Fraction not in kinds and name in _NUMERIC:
            return _NUMERIC[name](*values)
        if name == "**":
            base, exponent = values
            if not isinstance(exponent, Fraction):
                return real_power(self.lifted(base), exponent, self.numbers)
            if isinstance(base, Fraction) and exponent.denominator == 1 and (base != 0 or exponent >= 0):
                return base**exponent.numerator
            return self.numbers.power(self.lifted(base), exponent)
        if all(kind is Fraction for kind in kinds) and (exact := _exact(name, *values)) is not None:
            return exact
        lifted = [self.lifted(v) for v in values]
        return _NUMERIC[name](*lifted) if name in _NUMERIC else self.numbers.apply(name, lifted[0])

    def product(self, a: Value, b: Value) -> Value:
        """The matrix product; a vector is a row on the left and a column on the right."""
        if not isinstance(a[0], list):
            return self.product([a], b)[0]
        if not isinstance(b[0], list):
            return [row[0] for row in self.product(a, [[x] for x in b])]
        if all(type(x) is Fraction for M in (a, b) for row in M for x in row):
            lifted = [a, b]
        elif any(type(x) is str for M in (a, b) for row in M for x in row):  # the word undefined
            raise Undefined("claim: a product with a part that has no meaning for this network")
        else:
            lifted = [[[self.lifted(x) for x in row] for row in M] for M in (a, b)]
        columns = list(zip(*lifted[1], strict=True))
        return [[reduce(operator.add, map(operator.mul, row, column)) for column in columns] for row in lifted[0]]

    def picked(self, name: str, values: Iterator[Value]) -> Value:
        pick: Callable[..., Value] = max if name == "max" else min

        def two(a: Value, b: Value) -> Value:
            if type(a) is Fraction and type(b) is Fraction:
                return pick(a, b)
            if str in (type(a), type(b)):
                raise Undefined(f"claim: {name} of a part that has no meaning for this network")
            choose = self.numbers.larger if name == "max" else self.numbers.smaller
            return choose(self.lifted(a), self.lifted(b))

        return reduce(two, values)

    # -- linear algebra ------------------------------------------------------------------------------------

    def matrix(self, M: Value) -> Array:
        rows = [[self.lifted(x) for x in row] for row in M]
        if not self.A.unbounded:
            return np.asarray(rows, dtype=float)
        found = np.empty((len(rows), len(rows[0])), dtype=object)
        found[:] = rows
        return found


def _exact(name: str, *values: Fraction) -> Fraction | None:
    """An operation on fractions, where its value is one."""
    match name:
        case "+" | "-" | "*" | "minus" | "abs":
            return Fraction(_NUMERIC[name](*values))
        case "/" if values[1]:
            return values[0] / values[1]
        case "floor":
            return Fraction(math.floor(values[0]))
        case "sqrt" if values[0] >= 0:
            root = Fraction(*map(math.isqrt, values[0].as_integer_ratio()))
            return root if root * root == values[0] else None
        case "exp" | "expc" | "tanhc" if values[0] == 0:
            return Fraction(1)
        case "tanh" | "erf" if values[0] == 0:
            return Fraction(0)
    return None


def _joined(conjunction: bool, truths: Iterable[bool | None]) -> bool | None:
    unknown = False
    for truth in truths:
        if truth is not None and truth is not conjunction:
            return truth
        unknown = unknown or truth is None
    return None if unknown else conjunction


_NUMERIC: dict[str, Callable[..., Value]] = {**ARITHMETIC, "minus": operator.neg, "abs": abs}
_RELATIONS: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
_NAMES: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_NAMES |= {ast.MatMult: "@", ast.USub: "minus", ast.Not: "not"}
_MEANING: dict[type[ast.AST], Callable[[Text, Any, Env], Value]] = {
    ast.Constant: lambda text, node, env: Fraction(node.value),
    ast.Name: lambda text, node, env: text.name(node.id, env),
    ast.Subscript: Text.item,
    ast.Attribute: lambda text, node, env: text.field(text.value(node.value, env), node.attr),
    ast.Call: lambda text, node, env: text.call(node.func.id, node.args, env),
    ast.BinOp: lambda text, node, env: text.call(_NAMES[type(node.op)], [node.left, node.right], env),
    ast.UnaryOp: lambda text, node, env: text.call(_NAMES[type(node.op)], [node.operand], env),
    ast.Compare: Text.compared,
    ast.BoolOp: lambda text, node, env: _joined(
        isinstance(node.op, ast.And), (text.value(part, env) for part in node.values)
    ),
    ast.IfExp: lambda text, node, env: text.value(node.body if text.chosen(node.test, env) else node.orelse, env),
    **dict.fromkeys((ast.List, ast.Tuple), lambda text, node, env: [text.value(part, env) for part in node.elts]),
    ast.ListComp: lambda text, node, env: list(text.loop(node.elt, node.generators, env)),
}
_REDUCED: dict[str, Callable[[Text, Iterator[Value]], Value]] = {
    "sum": lambda text, values: reduce(lambda a, b: text.each("+", a, b), values, Fraction(0)),
    "prod": lambda text, values: reduce(lambda a, b: text.each("*", a, b), values, Fraction(1)),
    "max": lambda text, values: text.picked("max", values),
    "min": lambda text, values: text.picked("min", values),
    "all": lambda text, values: _joined(True, values),
    "any": lambda text, values: _joined(False, values),
}


def _softmax(text: Text, logits: Value, edges: Value = None) -> Value:
    """m_j e^(L_j)/Σ_k m_k e^(L_k); row by row of a matrix."""
    if isinstance(logits[0], list):
        return [_softmax(text, row) for row in logits]
    edges = [Fraction(1)] * len(logits) if edges is None else edges
    largest = text.picked("max", (x for x, m in zip(logits, edges, strict=True) if m != 0))
    powers = [
        text.each("*", m, text.each("exp", text.each("-", x, largest))) if m != 0 else m
        for x, m in zip(logits, edges, strict=True)
    ]
    return text.each("/", powers, _REDUCED["sum"](text, iter(powers)))


def _fractions(text: Text, M: Value) -> list[list[Value]] | None:
    """The matrix in fractions, where it is exact."""

    def exact(x: Value) -> Fraction | None:
        if isinstance(x, Fraction):
            return x
        if text.A.name != "balls" or not x.is_exact():
            return None
        mantissa, exponent = x.man_exp()
        return int(mantissa) * Fraction(2) ** int(exponent) if abs(int(exponent)) < 4096 else None

    rows = [[exact(x) for x in row] for row in M]
    return None if any(x is None for row in rows for x in row) else rows


def _rank(text: Text, M: Value) -> Value:
    """By elimination: exact, or between the pivots that are certainly not 0 and the number of rows left."""
    rows = [list(row) for row in (_fractions(text, M) or [[text.lifted(x) for x in row] for row in M])]
    if not text.A.unbounded and not isinstance(rows[0][0], Fraction):
        return Fraction(int(np.linalg.matrix_rank(np.asarray(rows))))
    found = 0
    for column in range(len(rows[0])):
        left = sorted(range(found, len(rows)), key=lambda i: float(abs(rows[i][column])), reverse=True)
        if not left or text.related(ast.Eq, rows[left[0]][column], Fraction(0)) is not False:
            continue
        rows[found], rows[left[0]] = rows[left[0]], rows[found]
        pivot = rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] / pivot[column]
            rows[i] = [
                0 * x if j == column else x - factor * y for j, (x, y) in enumerate(zip(rows[i], pivot, strict=True))
            ]
        found += 1
    most = min(len(rows), len(rows[0]))
    if found == most or all(x == 0 for row in rows[found:] for x in row):
        return Fraction(found)
    return text.lifted(Fraction(found)).union(text.lifted(Fraction(most)))


def _positive_definite(text: Text, M: Value) -> bool | None:
    """Whether all pivots of the symmetric part are positive."""
    rows = _fractions(text, M) or [[text.lifted(x) for x in row] for row in M]
    S = [
        [a + b for a, b in zip(row, column, strict=True)]
        for row, column in zip(rows, zip(*rows, strict=True), strict=True)
    ]
    for k, pivot in enumerate(S):
        positive = text.related(ast.Gt, pivot[k], Fraction(0))
        if not positive:
            return positive
        for i in range(k + 1, len(S)):
            factor = S[i][k] / pivot[k]
            S[i] = [a - factor * b for a, b in zip(S[i], pivot, strict=True)]
    return True


def _scalar(x: Value) -> Value:
    return float(x) if isinstance(x, np.ndarray | np.floating) else x


def _solve(text: Text, M: Value, b: Value) -> Value:
    matrix, column = text.matrix(M), [text.lifted(x) for x in b]
    if not text.A.unbounded:
        return [float(x) for x in np.linalg.solve(matrix, np.asarray(column))]
    if text.A.name == "mpmath":
        import mpmath

        return list(mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(column)))
    from flint import arb, arb_mat

    n = len(matrix)
    try:
        return arb_mat(n, n, matrix.ravel().tolist()).solve(arb_mat(n, 1, column)).entries()
    except ZeroDivisionError:
        return [arb.nan()] * n


def _eigenvalues(text: Text, M: Value) -> Value:
    matrix = text.matrix(M)
    if not text.A.unbounded:
        return [float(x) for x in np.linalg.eigvalsh(matrix)]
    import mpmath

    if text.A.name == "mpmath":
        return list(mpmath.eigsy(mpmath.matrix(matrix.tolist()), eigvals_only=True))
    from rankmath.linalg.metrics import enclosed_eigenvalues

    return list(enclosed_eigenvalues(matrix, sharp=True))


def largest_modulus(text: Text, M: Value) -> Value:
    """Of the eigenvalues of any matrix; of a triangular one the largest on its diagonal."""
    if any(all(row[j] == 0 for i, row in enumerate(N) for j in range(i)) for N in (M, [*zip(*M, strict=True)])):
        return text.picked("max", (text.each("abs", M[i][i]) for i in range(len(M))))
    matrix = text.matrix(M)
    if not text.A.unbounded:
        return float(np.abs(np.linalg.eigvals(matrix)).max())
    if text.A.name == "mpmath":
        import mpmath

        return max(map(abs, mpmath.eig(mpmath.matrix(matrix.tolist()), left=False, right=False)))
    from flint import acb_mat, arb, ctx

    from rankmath.arithmetic.balls import precision

    try:
        with precision(min(int(ctx.prec), 256)):  # more bits take seconds, and decide little
            found = acb_mat(len(matrix), len(matrix), matrix.ravel().tolist()).eig(multiple=True)
    except ValueError:  # too wide
        return arb.nan()
    return text.picked("max", iter([abs(x) for x in found]))


def _residual(text: Text, Y: Value, kind: str, hint: Value) -> Value:
    from rankmath.linalg.exact_residuals import log_residual

    matrix = text.matrix(Y)
    if text.A.name != "balls":
        return text.lifted(Fraction(float(value_and_center(np.asarray(matrix, dtype=float), kind)[0])))  # type: ignore[arg-type]
    log = log_residual(text.A, matrix, kind)  # type: ignore[arg-type]
    return NUMBERS["balls"].from_log(log)


def _center(text: Text, l: Fraction) -> Value:
    """A composite center of what layer l reads: any gives true bounds for what is taken about it."""
    matrix = text.matrix(text.apply("reads", [l]))
    middles = [[float(x.mid() if text.A.name == "balls" else x) for x in row] for row in matrix]
    return [Fraction(float(x)) for x in value_and_center(np.asarray(middles), "composite")[1]]


def _surprise(text: Text, x: Value) -> Value:
    positive = text.related(ast.Gt, x, Fraction(0))
    if positive:
        return text.each("minus", text.each("*", x, text.each("log", x)))
    if positive is False:
        return text.each("*", x, Fraction(0))  # what is no number stays so
    from flint import arb

    if not x.is_finite():
        return x
    top = x.upper()
    return (-top * top.log()).union(arb(0)) if top < arb(1) / 3 else arb(0).union(arb(1))


def _moduli(text: Text, M: Value) -> Value:
    """|eigenvalues|, the largest first; in balls by exchanges, each an enclosure of the larger and the smaller."""
    matrix = text.matrix(M)
    if not text.A.unbounded:
        return [float(x) for x in sorted(abs(np.linalg.eigvals(matrix)), reverse=True)]
    if text.A.name == "mpmath":
        import mpmath

        return sorted((abs(x) for x in mpmath.eig(mpmath.matrix(matrix.tolist()), right=False)), reverse=True)
    from flint import acb_mat, arb

    try:
        found = [abs(x) for x in acb_mat(matrix.tolist()).eig(multiple=True)]
    except ValueError:  # some may be equal: those of an exact matrix are roots of a polynomial
        if (exact := _fractions(text, M)) is None:
            return [arb.nan()] * len(matrix)
        found = [abs(root) for root, count in _roots(exact) for _ in range(count)]
    return _ordered(text, found)[::-1]


def _roots(M: Value) -> Any:
    """The eigenvalues of a rational matrix and how often each occurs."""
    from rankmath.linalg.rationals import to_flint

    found: Any = to_flint(M).charpoly()
    return found.numer().complex_roots()


def _ordered(text: Text, values: Value) -> Value:
    found = list(values)
    for last in range(len(found) - 1, 0, -1):
        for k in range(last):
            found[k : k + 2] = [text.picked(name, iter(found[k : k + 2])) for name in ("min", "max")]
    return found


def _cholesky(text: Text, M: Value) -> Value:
    """By the rows of L: L_ij = (M_ij − Σ_{k<j} L_ik L_jk)/L_jj, the root of that on the diagonal."""
    L: Value = [[Fraction(0)] * len(M) for _ in M]
    for i, row in enumerate(M):
        for j in range(i + 1):
            products = (text.each("*", L[i][k], L[j][k]) for k in range(j))
            rest = text.each("-", row[j], _REDUCED["sum"](text, products))
            L[i][j] = text.each("sqrt", rest) if i == j else text.each("/", rest, L[j][j])
    return L


def _real_eigenvalues(text: Text, M: Value, *, positive: bool) -> Value:
    from rankmath.linalg.rationals import to_flint

    return Fraction(real_eigenvalues(to_flint(_fractions(text, M)), positive=positive))


def _det(text: Text, M: Value) -> Value:
    """By the first column: matrices are small."""
    if len(M) == 1:
        return M[0][0]
    minors = (_det(text, [row[1:] for k, row in enumerate(M) if k != i]) for i in range(len(M)))
    signed = (text.each("*", row[0], m) for row, m in zip(M, minors, strict=True))
    return _REDUCED["sum"](text, (x if i % 2 == 0 else text.each("minus", x) for i, x in enumerate(signed)))


def _lambert(text: Text, x: Value) -> Value:
    if text.A.name == "balls":
        return text.lifted(x).lambertw()
    import mpmath

    found = mpmath.lambertw(text.lifted(x)).real
    return found if text.A.name == "mpmath" else float(found)


def pi(A: System) -> Value:
    """π in an arithmetic."""
    if A.name == "balls":
        from flint import arb

        return arb.pi()
    if A.name == "mpmath":
        import mpmath

        return +mpmath.pi
    return math.pi


#: What the text leaves to its reader.
_OWN: dict[str, Callable[..., Value]] = {
    "@": Text.product,
    "T": lambda text, M: [list(column) for column in zip(*M, strict=True)],
    "len": lambda text, v: Fraction(len(v)),
    "range": lambda text, *ends: [Fraction(k) for k in range(*map(int, ends))],
    "chain": lambda text, matrices: reduce(text.product, matrices),
    "mpower": lambda text, M, k: reduce(text.product, [M] * int(k), _OWN["identity"](text, len(M))),
    "moduli": _moduli,
    "ordered": _ordered,
    "cholesky": _cholesky,
    "det": _det,
    "lambert": _lambert,
    "positive_eigenvalues": lambda text, M: _real_eigenvalues(text, M, positive=True),
    "real_eigenvalues": lambda text, M: _real_eigenvalues(text, M, positive=False),
    "rollout": lambda text, layers: reduce(lambda whole, layer: text.product(layer, whole), layers),
    "not": lambda text, truth: None if truth is None else not truth,
    "certain": lambda text, truth: truth is True,
    "shown": lambda text, truth: truth or None,
    "identity": lambda text, n: [[Fraction(i == j) for j in range(int(n))] for i in range(int(n))],
    "softmax": _softmax,
    "surprise": _surprise,
    "spectral": lambda text, M: _scalar(spectral(text.matrix(M), text.A)),
    "least_eigenvalue": lambda text, M: _scalar(symmetric_extremes(text.matrix(M), text.A)[0]),
    "eigenvalues": _eigenvalues,
    "largest_modulus": largest_modulus,
    "positive_definite": _positive_definite,
    "matrix_rank": _rank,
    "solve": _solve,
    "residual_of": _residual,
    "center": _center,
    "pi": lambda text: pi(text.A),
}


# -- doubles from balls --------------------------------------------------------------------------------------

#: Bits of balls from which a double is rounded: more where fewer do not give its digits.
_BITS = (128, 512, 2048)
# Eigenvectors are doubles: what rests on them is enclosed to so many bits, however many are carried.
_DIGITS = 44


def rounded(measure: Callable[[Any], Value]) -> Value:
    """What balls enclose, as the nearest sign and logarithm of doubles; not a number where they cannot tell."""
    from rankmath.arithmetic.balls import Balls, precision

    found: Value = None
    for bits in _BITS:
        with precision(bits):
            found = measure(Balls())
            if isinstance(found, Fraction) or (isinstance(found, Truth) and found.holds is not None):
                return found
            if not isinstance(found, Truth) and found.is_finite() and (found.is_zero() or _accurate(found, _DIGITS)):
                break
    if isinstance(found, Truth):
        return found
    with precision(_BITS[0]):
        if not found.is_finite():
            return Signed.of(math.nan)
        log, lost = (float(abs(x).log().mid()) if not x.is_zero() else -math.inf for x in (found.mid(), found.rad()))
    # What the balls leave open counts as rounding: a fraction of the largest summand.
    top = max(log, lost + math.log(1e9)) if not _accurate(found, _DIGITS) else log
    sign = 1.0 if found.mid() > 0 else -1.0 if found.mid() < 0 else 0.0
    return Signed(np.asarray(sign), np.asarray(log), np.asarray(top))


def _accurate(x: Value, bits: int) -> bool:
    return bool(x.rad() * 2**bits < abs(x.mid()))


def joined(values: list[Value], unbounded: bool) -> Value:
    """The values of a batch, one by one, as one."""
    if isinstance(values[0], Truth):
        return Truth(np.asarray([value.holds is True for value in values]))
    if unbounded:
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    numbers = [Signed.exact(value) if isinstance(value, Fraction) else value for value in values]
    return Signed(*(np.stack([np.asarray(getattr(x, part)) for x in numbers]) for part in ("sign", "log", "top")))


# -- a network as data ---------------------------------------------------------------------------------------


def network_data(A: System, net: Network, X: Array) -> dict[str, Value]:
    """A network and its input by the names of the definitions; what differs from layer to layer has no name."""
    n, d = map(int, X.shape)
    record = _Records(A, net, n, d)
    blocks = [[record.sublayer(part) for part in layer] for layer in net.sublayers]
    attends, feeds = ([_place(layer, kind) for layer in blocks] for kind in ("attending", "tokenwise"))
    attentions = [layer[int(at[0])] for layer, at in zip(blocks, attends, strict=True) if at]
    maps = [part["maps"][int(at[1])] for part, at in zip(attentions, filter(None, attends), strict=True)]
    fed = [
        layer[int(at[0])]["maps"][int(at[1])]["activation"] if at else "none"
        for layer, at in zip(blocks, feeds, strict=True)
    ]
    layers, heads = Fraction(len(blocks)), Fraction(len(maps[0]["query"]) if maps else 0)
    data: dict[str, Value] = {"n": Fraction(n), "d": Fraction(d), "L": layers, "H": heads}
    data |= {alias: data[letter] for alias, letter in ALIASES.items()}
    data |= {"blocks": blocks, "input": record.matrix(X), "attends": attends, "feeds": feeds, "mlp": fed}
    data |= dict.fromkeys(("hints_inf", "hints_composite"), [[]] * (len(blocks) + 1))
    data |= {"layernorm": net.norm_kind, "norm_at": net.norm_at}
    same = {"skip": [part["skip"] for part in attentions], "d_qk": [f["d_qk"] for f in maps]}
    same["edges"] = [f["mask"] for f in maps]
    return data | {name: values[0] for name, values in same.items() if values and all(v == values[0] for v in values)}


def _place(layer: list[dict[str, Value]], kind: str) -> list[Fraction]:
    """The place of the last map of a kind in a layer."""
    found = [(s, m) for s, part in enumerate(layer) for m, f in enumerate(part["maps"]) if f["kind"] == kind]
    return [Fraction(place) for place in found[-1]] if found else []


class _Records:
    """Sublayers as records of lists, in one arithmetic; what is missing is the word none."""

    def __init__(self, A: System, net: Network, n: int, d: int) -> None:
        self.A, self.n, self.d = A, n, d
        self.masks = net.masks_for(n)

    def number(self, x: Value) -> Value:
        x = float(x) if not isinstance(x, Fraction) else x
        if x in (0, 1) or isinstance(x, Fraction):
            return Fraction(x)
        return self.A.constant(x) if self.A.unbounded else x

    def row(self, v: Array) -> list[Value]:
        return [self.number(x) for x in to_numpy(v)]

    def matrix(self, M: Array) -> list[list[Value]]:
        return [self.row(row) for row in to_numpy(M)]

    def sublayer(self, part: Sublayer) -> dict[str, Value]:
        return {
            "maps": [self.attention(f) if isinstance(f, Attention) else self.mlp(f) for f in part.maps],
            "skip": Fraction(part.skip),
            **{side: self.norm(getattr(part, side)) for side in ("before", "behind", "after")},
        }

    def norm(self, norm: LayerNorm | None) -> Value:
        if norm is None:
            return "none"
        gain = [Fraction(1)] * self.d if norm.gain is None else self.row(norm.gain)
        offset = [Fraction(0)] * self.d if norm.offset is None else self.row(norm.offset)
        return {"kind": norm.kind, "eps": Fraction(norm.floor), "gain": gain, "offset": offset}

    def attention(self, a: Attention) -> dict[str, Value]:
        n, mask = self.n, self.masks[id(a)]
        allowed = np.ones((n, n)) if mask is None else mask.allowed
        rotary, even, cap = a.rotary, a.qk_norm, a.softcap
        every = [Fraction(1), Fraction(1 if a.kv_heads is None else a.heads // a.kv_heads)]
        return {
            "kind": "attending",
            **{name: self.stack(getattr(a, name)) for name in ("query", "key", "value", "output")},
            **{name: self.rows(getattr(a, name)) for name in ("key_bias", "b_Q", "b_K")},
            "bias": [Fraction(0)] * self.d if a.bias is None else self.row(a.bias),
            "d_qk": Fraction(a.d_qk),
            "mask": [[Fraction(int(x)) for x in row] for row in allowed],
            "position": "none"
            if a.position is None
            else [self.matrix(a.position.block(h, 0, n, n)) for h in range(a.heads)],
            "rotary": "none"
            if rotary is None
            else {"cos": self.matrix(rotary.cos[:n]), "sin": self.matrix(rotary.sin[:n])},
            "qk_norm": "none"
            if even is None
            else {"gains": [self.row(even[0]), self.row(even[1])], "every": every, "eps": Fraction(even[2])},
            "softcap": "none" if cap is None else Fraction(cap),
            "cap": a.cap,
        }

    def rows(self, vectors: Array | None) -> Value:
        return "none" if vectors is None else self.matrix(vectors)

    def stack(self, matrices: Array | None) -> Value:
        return "none" if matrices is None else [self.matrix(M) for M in to_numpy(matrices)]

    def mlp(self, f: MLP) -> dict[str, Value]:
        width = int(f.W_in.shape[1])
        gate, b_gate = f.W_gate, f.b_gate
        return {
            "kind": "tokenwise",
            "W_in": self.matrix(f.W_in),
            "W_out": self.matrix(f.W_out),
            "b_in": [Fraction(0)] * width if f.b_in is None else self.row(f.b_in),
            "b_out": [Fraction(0)] * self.d if f.b_out is None else self.row(f.b_out),
            "W_gate": "none" if gate is None else self.matrix(gate),
            "b_gate": [Fraction(0)] * width if b_gate is None else self.row(b_gate),
            "activation": f.activation,
            "skip": Fraction(int(f.skip)),
        }
