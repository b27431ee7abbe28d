"""The kernel: reads bounded text, evaluates terms in exact numbers and intervals, and applies five rules.

A statement is text: hypotheses and a conclusion, written in a few of Python's expressions and never executed. A
term
is evaluated by the one function `Evaluator.value`, over the definitions of `rankmath.checker.statements` and the
exact
data of a certificate. A truth value is True, False or None: None is "these intervals cannot tell", and more bits
are
tried. Five rules decide:

1. exact predicate: a relation between fractions (`compare`);
2. interval comparison: a relation that holds for all members of two intervals (`compare`);
3. dual lower bound: weights >= 0 bound the least norm of X - 1x^T from below, a center from above (`least`);
4. unique zero: Krawczyk's test over a box (`unique_zero`), with derivatives carried along in intervals;
5. definiteness: the pivots of an elimination are positive (`definite`).

Hints enter only through rules 3 to 5, each of which is valid whatever the hint. The kernel prints nothing.
"""

from __future__ import annotations

import ast
import functools
import itertools
import json
import math
import operator
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rankmath.checker.intervals import Dual, Interval, Number, Rejected, Scalar, Undecided, compare, threshold

# Limits, so that no file can cost more than bounded time and memory.
MAX_BYTES = 4_000_000  # of a file
MAX_ITEMS = 200_000  # commas, colons and brackets of a file
MAX_DEPTH = 12  # nested brackets
MAX_DIGITS = 4_000  # decimal digits of one integer
MAX_EXPONENT = 10_000  # |e| in "m*2^e"
MAX_SIDE = 256  # rows or columns of a matrix
MAX_FORMULA = 4_000  # characters of one formula
MAX_NESTING = 40  # depth of a formula
MAX_POWER = 10**7  # exponents
MAX_EXACT_BITS = 2**14  # a fraction that is longer becomes an interval
MAX_LOOP = 10**6  # members of one range
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)  # bits, tried in this order

Value: TypeAlias = Any  # a Scalar, a truth value, a word, or a list of these
Truth: TypeAlias = bool | None


def demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Rejected(otherwise)


# -- reading: exact numbers only, every field known, everything bounded ------------------------------------

_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|\*2\^(-?[0-9]+))?")


def parse(text: str) -> Any:
    """JSON with integers, strings, lists and objects; floats, constants and repeated fields are refused."""
    demand(len(text) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
    items = sum(text.count(mark) for mark in "[{,:")
    demand(items <= MAX_ITEMS, f"{items} brackets, colons and commas; {MAX_ITEMS} are allowed")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        demand(len(dict(pairs)) == len(pairs), "an object has the same field twice")
        return dict(pairs)

    def refuse(literal: str) -> Any:
        raise Rejected(f"the number {short(literal)} is not exact; integers, 'p/q' and 'm*2^e' are")

    hooks: Any = {"parse_int": _integer, "parse_float": refuse, "parse_constant": refuse}
    try:
        content = json.loads(text, object_pairs_hook=unique, **hooks)
    except ValueError as error:
        raise Rejected(f"not JSON: {short(str(error))}") from None
    except RecursionError:
        raise Rejected(f"brackets are nested more than {MAX_DEPTH} deep") from None
    level, depth = [content], 0
    while level:
        demand(depth <= MAX_DEPTH, f"brackets are nested more than {MAX_DEPTH} deep")
        inner = (
            list(item.values()) if type(item) is dict else item for item in level if type(item) in (dict, list)
        )
        level, depth = [member for members in inner for member in members], depth + 1
    return content


def _integer(digits: str) -> int:
    demand(len(digits) <= MAX_DIGITS, f"an integer of {len(digits)} digits; {MAX_DIGITS} are allowed")
    try:
        return int(digits)
    except ValueError:  # the interpreter may have been started with a lower limit of its own
        raise Rejected(f"an integer of {len(digits)} digits is beyond this interpreter's limit") from None


def short(value: Any) -> str:
    text = ascii(value) if isinstance(value, str) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def read(value: Any, shape: Any, where: str, sizes: dict[str, int]) -> Any:
    """`value`, read as its shape demands.

    A shape is a dict from fields to shapes (a field with "?" may be missing, any other field is refused); a list
    [shape, most] of 1 to `most` members; a tuple of allowed words or a shape beside them; "number"; or letters that
    name lengths: "d" a vector, "n d" a matrix. A letter stands for one length throughout a certificate; one
    that first
    occurs in
    a member of a list, throughout that member.
    """
    if isinstance(shape, dict):
        demand(type(value) is dict, f"{where}: {short(value)} given, an object is needed")
        shapes = {name.rstrip("?"): inner for name, inner in shape.items()}
        for name in value:
            demand(name in shapes, f"{where} has a field {short(name)} that is not known")
        for name in shape:
            demand(name.endswith("?") or name in value, f"{where}.{name} is missing")
        return {name: read(value[name], shapes[name], f"{where}.{name}", sizes) for name in shapes if name in value}
    if isinstance(shape, list):
        items = _list(value, where, shape[1])
        return [read(item, shape[0], f"{where}[{i}]", {**sizes}) for i, item in enumerate(items)]
    if isinstance(shape, tuple):
        *words, last = shape
        if " " in last and type(value) is list:
            return _array(value, last.split(), where, sizes)
        words = words if " " in last else [*words, last]
        demand(type(value) is str and value in words, f"{where}: {short(value)} is none of {', '.join(words)}")
        return value
    return _number(value, where) if shape == "number" else _array(value, shape.split(), where, sizes)


def _list(value: Any, where: str, most: int) -> list[Any]:
    demand(type(value) is list and 1 <= len(value) <= most, f"{where}: a list of 1 to {most} members is needed")
    return list(value)


def _array(value: Any, letters: list[str], where: str, sizes: dict[str, int]) -> Any:
    if not letters:
        return _number(value, where)
    items = _list(value, where, MAX_SIDE)
    length = sizes.setdefault(letters[0], len(items))
    demand(len(items) == length, f"{where}: {len(items)} members given, {letters[0]} = {length} are needed")
    return [_array(item, letters[1:], f"{where}[{i}]", sizes) for i, item in enumerate(items)]


def _number(value: Any, where: str) -> Fraction:
    """An integer, or a string "p", "p/q" with q > 0, or "m*2^e"."""
    if type(value) is int:
        return Fraction(value)
    match = _NUMBER.fullmatch(value) if type(value) is str and len(value) <= 2 * MAX_DIGITS + 1 else None
    if match is None:
        raise Rejected(f"{where}: {short(value)} is no integer, 'p/q' or 'm*2^e' within the limits")
    numerator, denominator, exponent = _integer(match[1]), _integer(match[2] or "1"), _integer(match[3] or "0")
    demand(abs(exponent) <= MAX_EXPONENT, f"{where}: the exponent of {short(value)} is beyond {MAX_EXPONENT}")
    demand(denominator > 0, f"{where}: {short(value)} has denominator 0")
    return Fraction(numerator, denominator) * Fraction(2) ** exponent


# -- formulas: a few of Python's expressions, parsed and never executed ------------------------------------

_CLAIM = (
    ast.BoolOp,
    ast.And,
    ast.Compare,
    ast.BinOp,
    ast.UnaryOp,
    ast.USub,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Call,
)
_CLAIM += (ast.Subscript, ast.Tuple, ast.operator, ast.cmpop)
_STATEMENT = (
    *_CLAIM,
    ast.Or,
    ast.Not,
    ast.IfExp,
    ast.List,
    ast.ListComp,
    ast.GeneratorExp,
    ast.comprehension,
    ast.Store,
)


def formula(text: str, *, own: bool = False) -> ast.expr:
    """The tree of a formula. `own` formulas, those of the checker's table, may also have conditions and loops."""
    demand(
        len(text) <= MAX_FORMULA and text.isascii(),
        f"a formula of {len(text)} characters; ASCII, {MAX_FORMULA} at most",
    )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Rejected(f"no formula: {short(text)}") from None
    level, depth = [tree], 0
    while level:
        depth += 1
        demand(depth <= MAX_NESTING, f"a formula nested more than {MAX_NESTING} deep")
        for node in level:
            demand(
                isinstance(node, _STATEMENT if own else _CLAIM),
                f"{type(node).__name__} has no place in {short(text)}",
            )
            if isinstance(node, ast.Constant) and type(node.value) is not int:
                literal = ast.get_source_segment(text.strip(), node) or ""
                demand(re.fullmatch(r"[0-9]+\.[0-9]+", literal) is not None, f"{short(literal)} is no number")
                node.value = Fraction(literal)  # type: ignore[assignment]
            if isinstance(node, ast.Call):
                demand(
                    isinstance(node.func, ast.Name) and not node.keywords, f"a call without a name in {short(text)}"
                )
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return tree


Definitions: TypeAlias = Mapping[str, tuple[tuple[str, ...], ast.expr]]  # name -> parameters, body


def definitions(text: str) -> dict[str, tuple[tuple[str, ...], ast.expr]]:
    """Lines ``name(a, b) = term``, ``name[i] = term`` or ``name = term``; a line that is indented goes on."""
    result = {}
    for line in filter(None, re.sub(r"\n[ ]+", " ", text).splitlines()):
        head, body = line.split(" = ", 1)
        name, *parameters = re.findall(r"\w+", head)
        result[name] = (tuple(parameters), formula(body, own=True))
    return result


# -- the evaluator -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """One relation that was decided, or could not be: its text, both sides, and the indices it was taken at."""

    relation: str
    left: Value
    right: Value
    truth: Truth
    indices: str = ""


def _divide(a: Any, b: Any) -> Any:
    demand(type(b) is not Fraction or b != 0, "a division by zero")
    return a / b


_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
}
_RELATIONS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}


class Evaluator:
    """Terms over definitions, data and hints, at a number of bits, until a deadline."""

    def __init__(
        self,
        defined: Definitions,
        data: Mapping[str, Value],
        hints: Mapping[str, Value],
        bits: int,
        deadline: float,
    ) -> None:
        self.defined, self.data, self.hints, self.bits, self.deadline = defined, data, hints, bits, deadline
        self.records: dict[Truth, Record] = {}  # the last relation that fails or holds, the first undecided
        self.relations = 0
        self._cache: dict[Any, tuple[Value, Value]] = {}
        self._inside = 0  # definitions being worked out: only the relations of the formula itself are recorded
        self._labels: dict[int, str] = {}  # of arrays with indices, for the names of hints

    def tick(self) -> None:
        if time.monotonic() > self.deadline:
            raise Rejected("the time allowed is used up")

    def truth(self, node: ast.expr, text: str) -> Truth:
        """The truth value of a formula, with the relation that decided it in `records`."""
        self.records = {}
        result = self.value(node, {})
        demand(result is None or type(result) is bool, f"{short(text)} is a number and no relation")
        return result  # type: ignore[no-any-return]

    def value(self, node: Any, env: Mapping[str, Value]) -> Value:
        """The value of a term, by the kind of its node."""
        self.tick()
        kind = type(node)
        if kind is ast.Constant:
            return Fraction(node.value)
        if kind is ast.Name:
            return self.name(node.id, env)
        if kind is ast.BinOp:
            return self.operation(type(node.op), self.value(node.left, env), self.value(node.right, env))
        if kind is ast.UnaryOp:
            inner = self.value(node.operand, env)
            if type(node.op) is ast.USub:
                return self.each(operator.sub, Fraction(0), inner)
            demand(inner is None or type(inner) is bool, "the denial of a number")
            return None if inner is None else not inner
        if kind is ast.Compare:
            sides = [self.value(side, env) for side in (node.left, *node.comparators)]
            pairs = zip(node.ops, itertools.pairwise(sides), strict=True)
            return self.joined(True, (self.related(node, type(op), a, b, env) for op, (a, b) in pairs))
        if kind is ast.BoolOp:
            return self.joined(type(node.op) is ast.And, (self.value(part, env) for part in node.values))
        if kind is ast.IfExp:
            chosen = self.value(node.test, env)
            if chosen is None:
                raise Undecided("a condition is not decided")
            return self.value(node.body if chosen else node.orelse, env)
        if kind is ast.List:
            return [self.value(part, env) for part in node.elts]
        if kind in (ast.ListComp, ast.GeneratorExp):
            return list(self.loop(node.elt, node.generators, env))
        if kind is ast.Subscript:
            parts = node.slice.elts if type(node.slice) is ast.Tuple else [node.slice]
            return self.item(node.value, [self.value(part, env) for part in parts], env)
        demand(kind is ast.Call, f"{ast.unparse(node)[:60]} has no meaning here")
        return self.call(node.func.id, node.args, env)

    def operation(self, kind: type, left: Value, right: Value) -> Value:
        if kind is ast.Pow:
            return self.power(left, right)
        if kind is ast.MatMult:
            return self.product(left, right)
        demand(kind in _ARITHMETIC, f"{kind.__name__} is no operation of the language")
        return self.each(_ARITHMETIC[kind], left, right)

    def name(self, name: str, env: Mapping[str, Value]) -> Value:
        for known in (env, self.data, self.hints):
            if name in known:
                return known[name]
        if name in self.defined and not self.defined[name][0]:
            return self.apply(name, [])
        if name == "x_star":
            return threshold(self.bits)
        demand(name in WORDS, f"{short(name)} is not known")
        return name

    def item(self, array: ast.expr, index: list[Value], env: Mapping[str, Value]) -> Value:
        places = [whole(i, "an index") for i in index]
        demand(min(places) >= 0, "an index is negative")
        name = array.id if isinstance(array, ast.Name) else ""
        if name in self.defined and self.defined[name][0] and name not in env:
            for i in range(places[0] if len(places) == 1 else 0):  # in order, so that X[99] needs no deep recursion
                self.apply(name, [Fraction(i)])
            result = self.apply(name, [Fraction(i) for i in places])
        else:
            result = self.value(array, env)
            for i in places:
                demand(type(result) is list and 0 <= i < len(result), f"{name}{places}: no such member")
                result = result[i]
        if type(result) is list:
            self._labels[id(result)] = f"{name}[{','.join(map(str, places))}]"
        return result

    def call(self, name: str, arguments: list[ast.expr], env: Mapping[str, Value]) -> Value:
        if name[:-2] in REDUCTIONS and name[-2:] in INDICES and len(arguments) == 1:
            index = name[-1]
            members = (
                [Fraction(1), Fraction(2), "inf"]
                if index == "p"
                else self.range(self.name(INDICES[name[-2:]], env))
            )
            return REDUCTIONS[name[:-2]](self, [self.value(arguments[0], {**env, index: i}) for i in members])
        if name == "recursion":
            return self.recursion(arguments, env)
        if name in self.defined:
            if (
                name in PLACED and arguments and isinstance(arguments[0], ast.Subscript)
            ):  # the place of P[l, h] or X[l]
                place = arguments[0].slice
                arguments = [*(place.elts if isinstance(place, ast.Tuple) else [place]), *arguments[1:]]
            return self.apply(name, [self.value(argument, env) for argument in arguments])
        if name in ("jacobian", "unique_zero"):  # the first argument is the name of a definition
            first, *rest = arguments
            demand(isinstance(first, ast.Name) and first.id in self.defined, f"{name} needs the name of a map")
            # type: ignore[attr-defined]
            return RULES[name](self, first.id, *(self.value(argument, env) for argument in rest))
        if name in ("all", "any") and len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            return self.joined(
                name == "all", self.loop(arguments[0].elt, arguments[0].generators, env)
            )  # as far as needed
        values = [self.value(argument, env) for argument in arguments]
        if name in REDUCTIONS:
            return REDUCTIONS[name](self, values[0] if len(values) == 1 and type(values[0]) is list else values)
        demand(name in RULES or name in FUNCTIONS, f"{short(name)} is no function of the language")
        try:
            return (
                RULES[name](self, *values)
                if name in RULES
                else self.each(lambda x: FUNCTIONS[name](self, x), *values)
            )
        except TypeError:
            raise Rejected(f"{name} does not take these arguments") from None

    def recursion(self, arguments: list[ast.expr], env: Mapping[str, Value]) -> Value:
        """recursion(b, start, step): b = start, then b = step for l = 0, .., L - 1, where the step may use b and
        l."""
        demand(len(arguments) == 3 and isinstance(arguments[0], ast.Name), "recursion(b, start, step) is needed")
        letter, b = arguments[0].id, self.value(arguments[1], env)  # type: ignore[attr-defined]
        for l in self.range(self.name("L", env)):
            b = self.value(arguments[2], {**env, letter: b, "l": l})
        return b

    def apply(self, name: str, values: list[Value]) -> Value:
        """A definition at these values; remembered, so that X[3] is worked out once."""
        parameters, body = self.defined[name]
        demand(len(parameters) == len(values), f"{name} takes {len(parameters)} arguments, {len(values)} given")
        key = (name, *(id(v) if type(v) is list else v for v in values if not isinstance(v, (Interval, Dual))))
        plain = not any(isinstance(v, (Interval, Dual)) for v in values)
        if plain and key in self._cache:
            return self._cache[key][0]
        self._inside += 1
        result = self.value(body, dict(zip(parameters, values, strict=True)))
        self._inside -= 1
        if plain:
            self._cache[key] = (result, values)  # the values are kept alive: their ids are in the key
        return result

    def loop(
        self, element: ast.expr, generators: list[ast.comprehension], env: Mapping[str, Value]
    ) -> Iterator[Value]:
        if not generators:
            yield self.value(element, env)
            return
        first, *rest = generators
        members = self.value(first.iter, env)
        demand(isinstance(first.target, ast.Name) and type(members) is list, "a loop over what is no list")
        for member in members:
            inner = {**env, first.target.id: member}  # type: ignore[attr-defined]
            keep = self.joined(True, (self.value(test, inner) for test in first.ifs))
            demand(keep is not None, "a condition is not decided")
            if keep:
                yield from self.loop(element, rest, inner)

    def range(self, *ends: Value) -> list[Fraction]:
        bounds = [whole(end, "a range") for end in ends]
        demand(bounds[-1] - (bounds[0] if len(bounds) > 1 else 0) <= MAX_LOOP, f"a range of more than {MAX_LOOP}")
        return [Fraction(i) for i in range(*bounds)]

    # -- relations

    def related(self, node: ast.expr, kind: type, left: Value, right: Value, env: Mapping[str, Value]) -> Truth:
        demand(kind in _RELATIONS, f"{kind.__name__} is no relation of the language")
        relation = _RELATIONS[kind]
        if type(left) is list and type(right) is list and relation == "==":
            demand(len(left) == len(right), f"{ast.unparse(node)[:60]}: lengths differ")
            return self.joined(
                True, (self.related(node, kind, a, b, env) for a, b in zip(left, right, strict=True))
            )
        if type(left) is str or type(right) is str:
            demand(relation == "==", f"{ast.unparse(node)[:60]}: words are only equal or not")
            return bool(left == right)
        for side in (left, right):
            demand(
                isinstance(side, (Fraction, Interval)),
                f"{ast.unparse(node)[:60]}: numbers are needed on both sides",
            )
        truth = compare(relation, left, right)
        indices = ", ".join(f"{k} = {v}" for k, v in env.items() if isinstance(v, (Fraction, str)) and len(k) == 1)
        self.relations += not self._inside
        if not self._inside and (truth is not None or None not in self.records):
            self.records[truth] = Record(ast.unparse(node), left, right, truth, indices)
        return truth

    def joined(self, conjunction: bool, truths: Iterator[Truth] | Sequence[Truth]) -> Truth:
        """`and` or `or` of truth values; None unless one of them settles it."""
        unknown = False
        for truth in truths:
            demand(truth is None or type(truth) is bool, "a relation is needed where a number stands")
            if truth is not conjunction and truth is not None:
                return truth
            unknown = unknown or truth is None
        return None if unknown else conjunction

    # -- arithmetic

    def short(self, x: Value) -> Value:
        """A fraction that has become long is enclosed."""
        if type(x) is Fraction and max(x.numerator.bit_length(), x.denominator.bit_length()) > MAX_EXACT_BITS:
            return Interval.of(x, self.bits)
        return x

    def lift(self, x: Number) -> Interval:
        return x if isinstance(x, Interval) else Interval.of(x, self.bits)

    def each(self, f: Callable[..., Any], *values: Value) -> Value:
        """f of numbers, entry by entry of lists; a number goes with every entry of a list."""
        lists = [v for v in values if type(v) is list]
        if not lists:
            demand(
                all(isinstance(v, (Fraction, Interval, Dual)) for v in values),
                "a number is needed where a word stands",
            )
            return self.short(f(*values))
        demand(len({len(v) for v in lists}) == 1, "arrays of different lengths meet")
        self.tick()
        return [self.each(f, *(v[i] if type(v) is list else v for v in values)) for i in range(len(lists[0]))]

    def power(self, base: Value, exponent: Value) -> Value:
        if type(base) is list:
            return [self.power(entry, exponent) for entry in base]
        if isinstance(base, Dual):
            slope = exponent * self.power(base.value, exponent - 1)
            return base.along(self.power(base.value, exponent), slope)
        demand(isinstance(base, (Fraction, Interval)), "a power of what is no number")
        if isinstance(exponent, Interval):
            return (self.lift(base).log() * exponent).exp()
        demand(
            type(exponent) is Fraction and abs(exponent) <= MAX_POWER, "an exponent that is no number, or too large"
        )
        if exponent.denominator == 2:
            return self.power(FUNCTIONS["sqrt"](self, base), Fraction(exponent.numerator))
        if exponent.denominator > 2:
            return Fraction(0) if base == 0 < exponent else (self.lift(base).log() * exponent).exp()
        e = int(exponent)
        if type(base) is Fraction:
            demand(base != 0 or e >= 0, "a division by zero")
            if abs(e) * max(base.numerator.bit_length(), base.denominator.bit_length()) <= MAX_EXACT_BITS:
                return base**e
        return self.lift(base).power(e)

    def product(self, A: Value, B: Value) -> Value:
        """The matrix product; a vector is a row on the left and a column on the right."""
        demand(type(A) is list and type(B) is list, "a matrix product of what is no array")
        if type(A[0]) is not list:
            return self.product([A], B)[0]
        if type(B[0]) is not list:
            return [row[0] for row in self.product(A, [[b] for b in B])]
        demand(all(len(row) == len(B) for row in A), "matrices that do not fit are multiplied")
        columns = [list(column) for column in zip(*B, strict=True)]
        if any(isinstance(x, Dual) for row in itertools.chain(A, B) for x in row):
            return [[self.total([a * b for a, b in zip(row, c, strict=True)]) for c in columns] for row in A]
        left, right = [_over_one(row) for row in A], [_over_one(column) for column in columns]
        long = max(r[2] for r in left) + max(r[2] for r in right) > MAX_EXACT_BITS
        if not long and all(r[1] for r in itertools.chain(left, right)):
            return [
                [self.short(Fraction(sum(map(operator.mul, u, v)), p * q)) for v, q, _ in right] for u, p, _ in left
            ]
        rows, cols = [self.aligned(row) for row in A], [self.aligned(column) for column in columns]
        return [[self.dot(u, v) for v in cols] for u in rows]

    def aligned(self, row: list[Number]) -> tuple[list[int], list[int], list[int], int]:
        """Middles, their sizes and radii as integers of one scale: |x - m 2^s| <= r 2^s, rounded outward."""
        self.tick()
        enclosed = [self.lift(x) for x in row]
        sizes = [max(x.lo.bit_length(), x.hi.bit_length()) + x.scale for x in enclosed if x.lo or x.hi]
        scale = max(
            min((x.scale for x in enclosed if x.lo or x.hi), default=0), max(sizes, default=0) - self.bits - 16
        )
        ends = [x.ends(scale) for x in enclosed]
        middles = [low + high for low, high in ends]
        return middles, [abs(m) for m in middles], [high - low for low, high in ends], scale - 1

    def dot(self, u: Any, v: Any) -> Interval:
        """sum of u_k v_k: |m m' - x x'| <= |m| r' + r (|m'| + r'), in integers, without rounding."""
        (m, size, r, s), (m2, size2, r2, s2) = u, v
        middle = sum(map(operator.mul, m, m2))
        radius = sum(map(operator.mul, size, r2)) + sum(map(operator.mul, r, map(operator.add, size2, r2)))
        return Interval(middle - radius, middle + radius, s + s2, self.bits)

    def total(self, values: Sequence[Scalar]) -> Scalar:
        result: Any = Fraction(0)
        for value in values:
            result = self.short(result + value)
        return result  # type: ignore[no-any-return]


def _over_one(row: list[Number]) -> tuple[list[int], int, int]:
    """Fractions over one denominator, and their length in bits; denominator 0 if one is no fraction or they are
    long."""
    if not all(type(x) is Fraction for x in row):
        return [], 0, 0
    q = 1
    for x in row:
        q = math.lcm(q, x.denominator)  # type: ignore[union-attr]
        if q.bit_length() > MAX_EXACT_BITS:
            return [], 0, 0
    numerators = [x.numerator * (q // x.denominator) for x in row]  # type: ignore[union-attr]
    return numerators, q, max(q.bit_length(), *(p.bit_length() for p in numerators))


def whole(value: Value, what: str) -> int:
    demand(type(value) is Fraction and value.denominator == 1, f"{what} must be a whole number")
    return int(value)


# -- functions and rules ---------------------------------------------------------------------------------------


def _sqrt(work: Evaluator, x: Scalar) -> Scalar:
    if isinstance(x, Dual):
        root = _sqrt(work, x.value)
        return x.along(root, 1 / (2 * root))  # type: ignore[arg-type, operator]
    if type(x) is Fraction and x >= 0:
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root * root == x:
            return root
    return work.lift(x).sqrt()


def _exp(work: Evaluator, x: Scalar) -> Scalar:
    if isinstance(x, Dual):
        power = _exp(work, x.value)
        return x.along(power, power)  # type: ignore[arg-type]
    return Fraction(1) if x == 0 else work.lift(x).exp()


def _quotient(work: Evaluator, x: Number, name: str) -> Number:
    """(e^x - 1)/x or tanh(x)/x, 1 at 0; both are even or increasing near 0, so a narrow x around 0 is left
    undecided."""
    if x == 0:
        return Fraction(1)
    enclosed = work.lift(x)
    return (enclosed.exp() - 1) / enclosed if name == "expc" else enclosed.tanh() / enclosed


FUNCTIONS: dict[str, Callable[[Evaluator, Any], Scalar]] = {
    "sqrt": _sqrt,
    "exp": _exp,
    "log": lambda work, x: Fraction(0) if x == 1 else work.lift(x).log(),
    "tanh": lambda work, x: Fraction(0) if x == 0 else work.lift(x).tanh(),
    "expc": lambda work, x: _quotient(work, x, "expc"),
    "tanhc": lambda work, x: _quotient(work, x, "tanhc"),
    "abs": lambda work, x: abs(x),
    "middle": lambda work, x: x.middle() if isinstance(x, Interval) else x,
    "lower": lambda work, x: x.at_lower() if isinstance(x, Interval) else x,
}


def _extreme(name: str) -> Callable[[Evaluator, list[Any]], Value]:
    def extreme(work: Evaluator, values: list[Any]) -> Value:
        demand(bool(values) and all(isinstance(v, (Fraction, Interval)) for v in values), f"{name} of no numbers")
        result = values[0]
        for value in values[1:]:
            if type(result) is Fraction and type(value) is Fraction:
                result = (max if name == "max" else min)(result, value)
            else:
                result = getattr(work.lift(result), name)(value)
        return result

    return extreme


def _sum(work: Evaluator, values: list[Any]) -> Value:
    total = values[0] if values else Fraction(0)
    for value in values[1:]:
        total = work.each(operator.add, total, value)
    return total


def _prod(work: Evaluator, values: list[Any]) -> Value:
    product: Value = Fraction(1)
    for value in values:
        product = work.each(operator.mul, product, value)
    return product


REDUCTIONS: dict[str, Callable[[Evaluator, list[Any]], Value]] = {
    "sum": _sum,
    "prod": _prod,
    "max": _extreme("max"),
    "min": _extreme("min"),
    "all": lambda work, truths: work.joined(True, truths),
    "any": lambda work, truths: work.joined(False, truths),
}

INDICES = {"_l": "L", "_h": "H", "_i": "n", "_k": "K", "_p": ""}
PLACED = ("delta", "gamma", "q_max", "q_min", "logit_range", "section")


def _floor(work: Evaluator, x: Value) -> Fraction:
    low, high = (math.floor(x),) * 2 if type(x) is Fraction else (math.floor(x.lower()), math.floor(x.upper()))
    if low != high:
        raise Undecided("the whole part is not decided")
    return Fraction(low)


def _softmax(work: Evaluator, logits: list[Value], weights: list[Value]) -> list[Value]:
    """P_j = w_j e^(L_j)/sum_m w_m e^(L_m) in every row; where w_j = 0 it is 0. dP_j = P_j (dL_j - sum_m P_m
    dL_m)."""
    if type(logits[0]) is list:
        return [_softmax(work, row, w) for row, w in zip(logits, weights, strict=True)]
    work.tick()
    result: list[Value] = [Fraction(0)] * len(logits)
    seen = [j for j, w in enumerate(weights) if w != 0]
    values = [logits[j].value if isinstance(logits[j], Dual) else logits[j] for j in seen]
    if all(type(x) is Fraction and x == values[0] for x in values):
        P: list[Any] = [weights[j] / sum(weights[m] for m in seen) for j in seen]
    else:
        enclosed = [work.lift(x) for x in values]
        shift = REDUCTIONS["max"](work, list(enclosed)).at_upper()
        e = [(x - shift).exp() * weights[j] for x, j in zip(enclosed, seen, strict=True)]
        zero = Interval.of(0, work.bits)
        before = [zero, *itertools.accumulate(e)]
        after = [zero, *itertools.accumulate(reversed(e))][::-1]
        # 1/(1 + rest/e_j): every logit occurs once, so nothing is widened twice.
        rests = [before[k] + after[k + 1] for k in range(len(e))]
        P = [1 / (1 + rest / x) if x.lo > 0 else x / before[-1] for x, rest in zip(e, rests, strict=True)]
    if any(isinstance(logits[j], Dual) for j in seen):
        mean = work.total([p * logits[j] for p, j in zip(P, seen, strict=True)])
        tilt = [logits[j] - mean for j in seen]
        P = [Dual(p, t.along(p, p).grad) for p, t in zip(P, tilt, strict=True)]
    for j, p in zip(seen, P, strict=True):
        result[j] = p
    return result


def _line(work: Evaluator, p: list[Fraction], q: list[Fraction], X: list[list[Number]]) -> tuple[Fraction, ...]:
    """alpha, beta, v with alpha |X - 1x^T|_1 + beta |X - 1x^T|_inf >= v for every x, from weights p, q >= 0.

    alpha = sum p, beta = sum q; v = sum_k min_t sum_i (p_k + q_i) |X_ik - t|, because a norm that is the largest of
    some sums is at least any mean of them. The least t is one of the X_ik whose weight is not 0, so all are tried.
    """
    demand(len(p) == len(X[0]) and len(q) == len(X), "hints: one weight for each row and column is needed")
    demand(min(*p, *q) >= 0, "hints: a weight is negative")
    least: Any = Fraction(0)
    for p_k, column in zip(p, zip(*X, strict=True), strict=True):
        seen = [(p_k + q_i, x) for q_i, x in zip(q, column, strict=True) if p_k + q_i]
        sums = [work.total([w * abs(x - t) for w, x in seen]) for _, t in seen]
        least = work.short(least + _extreme("min")(work, sums)) if sums else least
        work.tick()
    return sum(p, Fraction(0)), sum(q, Fraction(0)), least if type(least) is Fraction else least.lower()


def _least(work: Evaluator, X: list[list[Number]], kind: str) -> tuple[list[Any], Number, Number]:
    """Rule 3: a center, what |X - 1x^T| is there, and a lower bound on it for all x at once.

    inf: one line alone gives v/beta. composite: the two norms are a point (a, b) of the polygon a, b >= 0 and
    alpha a +
    beta b >= v for every line; there ab is quasi-concave and increasing, so it is least at a vertex.
    """
    hint = work.hints.get(f"{work._labels.get(id(X), '')} {kind}", {})
    columns = [list(column) for column in zip(*X, strict=True)]
    half = [(_extreme("max")(work, c) + _extreme("min")(work, c)) / 2 for c in columns]
    center = hint.get("center") or [work.lift(x).middle().lower() for x in half]
    demand(len(center) == len(columns), "hints: a center of the wrong length")
    gaps = [[abs(x - c) for x, c in zip(row, center, strict=True)] for row in X]
    inf = _extreme("max")(work, [work.total(row) for row in gaps])
    one = _extreme("max")(work, [work.total(column) for column in zip(*gaps, strict=True)])
    equal = {
        "columns": [Fraction(kind == "composite") for _ in columns],
        "rows": [Fraction(kind == "inf") for _ in X],
    }
    lines = [_line(work, hint["columns"], hint["rows"], X) for hint in hint.get("lines", [equal])]
    if kind == "inf":
        bounds = [v / beta for alpha, beta, v in lines if alpha == 0 < beta]
        return center, inf, max(bounds, default=Fraction(0))
    lines += [(Fraction(1), Fraction(0), Fraction(0)), (Fraction(0), Fraction(1), Fraction(0))]
    products = []
    for (p, q, v), (r, s, w) in itertools.combinations(lines, 2):
        work.tick()
        determinant = p * s - q * r
        if determinant:
            a, b = (v * s - q * w) / determinant, (p * w - v * r) / determinant
            if all(alpha * a + beta * b >= bound for alpha, beta, bound in lines):
                products.append(a * b)
    return center, _sqrt(work, one * inf), _sqrt(work, min(products))  # type: ignore[return-value, operator]


def _residual(work: Evaluator, X: list[list[Number]], kind: str) -> Number:
    """The least |X - 1x^T|: at most what it is at a center, at least what weights prove."""
    _, above, below = _least(work, X, kind)
    return above if above == below else work.lift(below).hull(work.lift(above))


def _center(work: Evaluator, X: list[list[Number]], kind: str) -> list[Any]:
    """The stored center, proved to be least up to a factor 1 + 2^-20."""
    center, above, below = _least(work, X, kind)
    if not compare("<=", above, below * (1 + Fraction(1, 2**20))):
        raise Undecided("a stored center is not shown to be least up to a factor 1 + 2^-20")
    return center


def _spectral(work: Evaluator, M: list[list[Number]]) -> Number:
    """The spectral norm: the root of the largest eigenvalue of M^T M; exact where simpler bounds meet."""
    columns = [list(column) for column in zip(*M, strict=True)]
    squares, extreme = [work.total([x * x for x in line]) for line in (*columns, *M)], _extreme("max")
    row_sums, column_sums = ([work.total([abs(x) for x in line]) for line in lines] for lines in (M, columns))
    below, above = extreme(work, squares), extreme(work, row_sums) * extreme(work, column_sums)
    if type(below) is Fraction and below == above:
        return _sqrt(work, below)  # type: ignore[return-value]
    opposite = [[-x for x in row] for row in work.product(columns, M)]
    return work.lift(_extreme("max")(work, [below, -least_eigenvalue(work, opposite)])).sqrt()


def least_eigenvalue(work: Evaluator, A: list[list[Value]]) -> Interval:
    """Of a symmetric matrix, by bisection: A - tI has positive pivots below it, and one that is negative above
    it."""
    rows = [[work.lift(x) for x in row] for row in A]
    size = work.lift(_extreme("max")(work, [work.total([abs(x) for x in row]) for row in rows])).at_upper()
    low, high = -size, size
    for _ in range(min(24 + work.bits // 4, 10 + 2**22 // len(rows) ** 3) if size.hi else 0):
        for share in (Fraction(1, 2), Fraction(3, 8)):  # a pivot may vanish at one of them by accident
            t = (low + (high - low) * share).middle()
            shifted = [[x - t if i == j else x for j, x in enumerate(row)] for i, row in enumerate(rows)]
            truth = _pivots(work, shifted)
            if truth is not None:
                break
        if truth is None:
            break
        low, high = (t, high) if truth else (low, t)
    return low.hull(high)


def definite(work: Evaluator, A: list[list[Value]]) -> Truth:
    """Rule 5: every symmetric matrix in A is positive definite: True, False if none is, or None."""
    truth = _pivots(work, [[work.lift(x) for x in row] for row in A])
    if truth is None:
        widest = max((work.lift(x) for row in A for x in row), key=lambda x: (x.hi - x.lo).bit_length() + x.scale)
        work.records.setdefault(None, Record("positive pivots; the widest entry", widest, Fraction(0), None))
    return truth


def _pivots(work: Evaluator, A: list[list[Interval]]) -> Truth:
    """True if every symmetric matrix in A is positive definite, False if none is, None if this cannot tell.

    With midpoints M and radii of Frobenius norm rho all are if M - rho I is, and none is if M + rho I is not; and
    that is
    told by the signs of the pivots of an elimination without exchanges. Entries above the diagonal are not looked
    at.
    """
    lower = [row[: i + 1] for i, row in enumerate(A)]
    twice = [x.radius() for i, row in enumerate(lower) for j, x in enumerate(row) for _ in range(1 + (i != j))]
    rho = work.lift(work.total([r * r for r in twice])).sqrt().at_upper()  # type: ignore[arg-type]
    for sign in (-1, 1):
        rows = [
            [x.middle() + sign * rho if i == j else x.middle() for j, x in enumerate(row)]
            for i, row in enumerate(lower)
        ]
        for k, row in enumerate(rows):
            if row[k].lo <= 0:
                break
            below = [other[k] for other in rows[k + 1 :]]
            for i, other in enumerate(rows[k + 1 :]):
                work.tick()
                factor = other[k] / row[k]
                other[k + 1 :] = [x - factor * b for x, b in zip(other[k + 1 :], below[: i + 1], strict=True)]
        else:
            return True if sign < 0 else None
        if sign > 0 and row[k].hi < 0:
            return False
    return None


def _solve(work: Evaluator, A: list[list[Value]], b: list[Value]) -> list[Value]:
    """x with A x = b, by elimination; undecided where a pivot may be zero."""
    rows = [[work.lift(x) for x in (*row, right)] for row, right in zip(A, b, strict=True)]
    for k, row in enumerate(rows):
        for other in rows[:k] + rows[k + 1 :]:
            work.tick()
            factor = other[k] / row[k]
            other[k:] = [x - factor * y for x, y in zip(other[k:], row[k:], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def _nonsingular(work: Evaluator, A: list[list[Value]]) -> Truth:
    """No matrix in A is singular: elimination without exchanges meets no pivot that may be zero. True or None."""
    rows = [[work.lift(x) for x in row] for row in A]
    for k, row in enumerate(rows):
        if row[k].lo <= 0 <= row[k].hi:
            return None
        for other in rows[k + 1 :]:
            work.tick()
            factor = other[k] / row[k]
            other[k:] = [x - factor * y for x, y in zip(other[k:], row[k:], strict=True)]
    return True


def _rank(work: Evaluator, A: list[list[Fraction]]) -> Fraction:
    rank, rows = 0, A
    demand(all(type(x) is Fraction for row in A for x in row), "a rank is taken of exact matrices only")
    for a in range(len(A[0])):
        pivot = next((row for row in rows if row[a]), None)
        if pivot is not None:
            rank, others = rank + 1, [(row, row[a] / pivot[a]) for row in rows if row is not pivot]
            rows = [[work.short(x - c * p) for x, p in zip(row, pivot, strict=True)] for row, c in others]
            demand(
                all(type(x) is Fraction for row in rows for x in row),
                "an exact rank needs numbers that are too long",
            )
            work.tick()
    return Fraction(rank)


def jacobian(work: Evaluator, name: str, X: list[Value]) -> list[list[Number]]:
    """The derivative of a defined map over a box, its arguments and values written one after the other."""
    places = itertools.count()
    flat = work.apply(name, [_numbered(X, places)])
    flat = [x for row in flat for x in row] if type(flat[0]) is list else flat
    size = next(places)
    return [[y.grad.get(k, Fraction(0)) if isinstance(y, Dual) else Fraction(0) for k in range(size)] for y in flat]


def _numbered(X: Value, places: Iterator[int]) -> Value:
    return [_numbered(x, places) for x in X] if type(X) is list else Dual(X, {next(places): Fraction(1)})


def unique_zero(work: Evaluator, name: str, x: list[Fraction], r: Fraction, Y: list[list[Fraction]]) -> Truth:
    """Rule 4: the map f has exactly one zero within r of x, entry by entry. True or None.

    Krawczyk: let |Y f(x)| + |I - Y Df(B)| r < r in every entry, over the box B. Then z -> z - Y f(z) maps B into B
    and
    contracts the largest entry, so it has one fixed point there; and Y is invertible, so that is the one zero of f.
    """
    demand(len(Y) == len(x) == len(Y[0]), f"the preconditioner must have {len(x)} rows and columns")
    steps = work.product(Y, [[y] for y in work.apply(name, [x])])
    YJ = work.product(Y, jacobian(work, name, around(work, x, r)))
    for i, (step, row) in enumerate(zip(steps, YJ, strict=True)):
        wrong = work.total([abs((i == j) - entry) for j, entry in enumerate(row)])
        total = abs(step[0]) + r * wrong
        if not compare("<", total, r):
            work.records.setdefault(None, Record(f"Krawczyk's test in entry {i} < the radius", total, r, None))
            return None
        work.tick()
    return True


def around(work: Evaluator, X: Value, r: Value) -> Value:
    """All points within r of X, entry by entry."""
    return work.each(lambda x, s: work.lift(x - s).hull(work.lift(x + s)), X, r)


RULES: dict[str, Callable[..., Value]] = {
    "residual_of": _residual,
    "center": _center,
    "spectral": _spectral,
    "positive_definite": definite,
    "shown": lambda work, truth: truth or None,  # of a sufficient condition: where it fails, nothing is known
    "nonsingular": _nonsingular,
    "least_eigenvalue": least_eigenvalue,
    "solve": _solve,
    "matrix_rank": _rank,
    "jacobian": jacobian,
    "unique_zero": unique_zero,
    "around": around,
    "softmax": _softmax,
    "floor": _floor,
    "range": lambda work, *ends: work.range(*ends),
    "len": lambda work, v: Fraction(len(v)),
    "T": lambda work, A: [list(column) for column in zip(*A, strict=True)],
    "identity": lambda work, n: [[Fraction(i == j) for j in range(whole(n, "n"))] for i in range(whole(n, "n"))],
    "chain": lambda work, matrices: functools.reduce(work.product, matrices),
    "flat": lambda work, X: [x for row in X for x in row],
    "signs": lambda work, d: [
        list(s) for s in itertools.product((Fraction(1), Fraction(-1)), repeat=whole(d, "d"))
    ],
}
WORDS = {"inf", "one", "composite", "frobenius", "max", "mean", "none", "sphere", "standard"}


# -- deciding ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What the kernel found: accept, reject or undecided, why, and the relations that decided it."""

    verdict: str
    reason: str
    bits: int = 0
    trace: tuple[Record, ...] = ()
    relations: int = 0


def decide(
    conditions: Sequence[str],
    claim: str,
    kind: str,
    defined: Definitions,
    data: Mapping[str, Value],
    hints: Mapping[str, Value],
    deadline: float,
    *,
    own: bool,
) -> Outcome:
    """Whether all conditions hold and the claim is true (kind "holds", "exists") or false (kind "violates")."""
    texts = [(condition, formula(condition, own=own)) for condition in conditions]
    tree, width = formula(claim, own=own), math.inf
    undecided = Outcome("undecided", "nothing was decided")
    for bits in PRECISIONS:
        work, trace = Evaluator(defined, data, hints, bits, deadline), []
        try:
            text = claim
            for text, node in texts:
                truth = work.truth(node, text)
                trace.append(_deciding(work, truth, text))
                if truth is not True:
                    break
            else:
                text, truth = claim, work.truth(tree, claim)
                trace.append(_deciding(work, truth, claim))
                if truth is not None and truth == (kind != "violates"):
                    return Outcome("accept", "every condition holds", bits, tuple(trace), work.relations)
                if truth is not None:
                    reason = f"the claim is {'true' if truth else 'false'}, against the kind {kind!r}"
                    return Outcome("reject", reason, bits, tuple(trace), work.relations)
            if truth is False:
                return Outcome("reject", f"a condition fails: {text}", bits, tuple(trace), work.relations)
            reason = f"undecided at {bits} bits: {text}"
            undecided = Outcome("undecided", reason, bits, tuple(trace), work.relations)
            before, width = width, _width(trace[-1])
            if width > before - 1:
                return undecided  # more bits no longer narrow it: the box is too large
        except Undecided as error:
            undecided = Outcome(
                "undecided", f"undecided at {bits} bits: {error}", bits, tuple(trace), work.relations
            )
    return undecided


def _deciding(work: Evaluator, truth: Truth, text: str) -> Record:
    return work.records.get(truth, Record(text, Fraction(0), Fraction(0), truth))


def _width(record: Record) -> float:
    """The logarithm of the wider side, to the base 2; 0 where there is none."""
    sides = [s for s in (record.left, record.right) if isinstance(s, Interval)]
    return max(((s.hi - s.lo).bit_length() + s.scale for s in sides), default=0)
