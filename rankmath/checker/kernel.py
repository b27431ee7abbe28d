"""The kernel: reads bounded text, evaluates terms in exact numbers and intervals, and applies six rules.

A statement is text: hypotheses and a conclusion, written in a few of Python's expressions and never executed. A
term
is evaluated by the one function `Evaluator.value`, over the definitions of `rankmath.checker.statements` and the
exact
data of a certificate. A truth value is True, False or None: None is "these intervals cannot tell", and more bits
are
tried. Six rules decide:

1. exact predicate: a relation between fractions (`compare`);
2. interval comparison: a relation that holds for all members of two intervals (`compare`);
3. dual lower bound: weights >= 0 bound the least norm of X - 1x^T from below, a center from above (`least`);
4. unique zero: Krawczyk's test over a box (`unique_zero`), with derivatives carried along in intervals;
5. definiteness: the pivots of an elimination are positive (`definite`);
6. contraction in a weighted maximum norm: row sums of a Jacobian over a box (`rankmath.checker.contraction`).

Hints enter only through rules 3 to 6, each of which is valid whatever the hint. The kernel prints nothing.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from rankmath.checker.intervals import Dual, Interval, Number, Rejected, Scalar, Undecided, compare, threshold
from rankmath.checker.reading import demand, short

MAX_FORMULA = 4_000  # characters of one formula
MAX_NESTING = 40  # depth of a formula
MAX_POWER = 10**7  # exponents
MAX_EXACT_BITS = 2**13  # a fraction that is longer becomes an interval
MAX_LOOP = 10**5  # members of one range
MAX_HELD = 10**8  # bytes of remembered values, about
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)  # bits, tried in this order

# Indices of reductions and how far each runs; quantities that want the place of P[l, h] or X[l], not its value.
INDICES = {"_l": "L", "_h": "H", "_i": "n", "_k": "K", "_p": ""}
PLACED = (
    *("delta", "gamma", "q_max", "q_min", "logit_range", "section"),
    *("repeat_gap", "repeat_share", "repeat_reach"),
)
WORDS = {"inf", "one", "composite", "frobenius", "max", "mean", "none", "sphere", "standard"}

T = TypeVar("T")
Value: TypeAlias = Any  # a Scalar, a truth value, a word, or a list of these
Truth: TypeAlias = bool | None


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
    ast.Subscript,
    ast.Tuple,
    ast.operator,
    ast.cmpop,
)
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
    level: list[ast.AST] = [tree]
    depth = 0
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
_RELATIONS: dict[type, str] = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}


# What the language knows by name; `rankmath.checker.rules` fills these.
FUNCTIONS: dict[str, Callable[[Evaluator, Any], Scalar]] = {}
REDUCTIONS: dict[str, Callable[[Evaluator, list[Any]], Value]] = {}
RULES: dict[str, Callable[..., Value]] = {}


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
        self._held = 0  # bytes in the cache, about
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
            first: Any
            first, *rest = arguments
            demand(isinstance(first, ast.Name) and first.id in self.defined, f"{name} needs the name of a map")
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
            self._held += _numbers_in(result) * (200 + self.bits // 4)
            demand(self._held <= MAX_HELD, "it needs more memory than is allowed")
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
        length = max(r[2] for r in left) + max(r[2] for r in right)
        long = length > MAX_EXACT_BITS or length * len(A) * len(columns) > 8 * MAX_HELD
        if not long and all(r[1] for r in itertools.chain(left, right)):
            exact = self.ticking(left)
            sums = [[(sum(map(operator.mul, u, v)), p * q) for v, q, _ in right] for u, p, _ in exact]
            return [[self.short(Fraction(*pair)) for pair in row] for row in self.ticking(sums)]
        rows, cols = [self.aligned(row) for row in A], [self.aligned(column) for column in columns]
        return [[self.dot(u, v) for v in cols] for u in self.ticking(rows)]

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

    def ticking(self, items: Sequence[T]) -> Iterator[T]:
        """The items, with a look at the clock before each."""
        for item in items:
            self.tick()
            yield item

    def total(self, values: Sequence[Scalar]) -> Scalar:
        self.tick()
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


def _numbers_in(value: Value) -> int:
    return sum(map(_numbers_in, value)) if type(value) is list else 1


def whole(value: Value, what: str) -> int:
    demand(type(value) is Fraction and value.denominator == 1, f"{what} must be a whole number")
    return int(value)
