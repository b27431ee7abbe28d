"""The kernel: evaluates formulas over exact data, and says accept, reject or undecided. It prints nothing.

What acceptance means: for the exact numbers of the certificate, every hypothesis is true, and the claim is true
(kinds "holds" and "exists") or false (kind "violates"), by the definitions of `rankmath.checker.statements`. A
formula is text in a few of Python's expressions, parsed and never executed; `Evaluator.value` gives every kind of
expression its meaning. A relation is decided by fractions, exactly, or by intervals, if it holds for all their
members; its truth value is True, False, or None: "these intervals cannot tell", and more bits are tried. Only True
makes a hypothesis hold. Hints enter only where every value of them is allowed (`rankmath.checker.rules`).

Read `reading` (bounded JSON), `intervals` (numbers), `primitives` (what the language knows by name) and this file:
together they are the kernel.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rankmath.checker.intervals import Dual, Interval, Number, Rejected, Undecided, compare, plain, threshold
from rankmath.checker.primitives import FUNCTIONS, PRIMITIVES, REDUCTIONS, Truth, Value, transposed
from rankmath.checker.reading import demand, in_time, short

MAX_FORMULA = 4_000  # characters of one formula
MAX_NESTING = 40  # depth of a formula
MAX_POWER = 10**7  # exponents
MAX_EXACT_BITS = 2**13  # a fraction that is longer becomes an interval
MAX_LOOP = 10**5  # members of one range
MAX_HELD = 10**8  # bytes of remembered values, about
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)  # bits, tried in this order
MAX_BITS = 2**14  # a hint may ask for more than the last of these
BITS = ("bits", "spectral_bits")  # hints that say how many bits to begin with

WORDS = {"inf", "one", "composite", "frobenius", "max", "mean", "none", "sphere", "standard", "column", "relu"}
REACH = {"l": "L", "h": "H", "i": "n", "k": "K"}  # sum_l(...) runs over l = 0, .., L - 1, and so on

Env: TypeAlias = Mapping[str, Value]
Definitions: TypeAlias = Mapping[str, tuple[tuple[str, ...], ast.expr]]  # name -> parameters, body

_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_RELATIONS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
_CLAIM = (
    *(ast.BoolOp, ast.And, ast.Compare, ast.BinOp, ast.UnaryOp, ast.USub, ast.Constant, ast.Name, ast.Load),
    *(ast.Call, ast.Subscript, ast.Tuple, ast.operator, ast.cmpop),
)
_LOOPS = (ast.ListComp, ast.GeneratorExp)
_STATEMENT = (*_CLAIM, *_LOOPS, ast.Or, ast.Not, ast.IfExp, ast.List, ast.comprehension, ast.Store)


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
    for _ in range(MAX_NESTING):
        for node in level:
            allowed = isinstance(node, _STATEMENT if own else _CLAIM)
            demand(allowed, f"{type(node).__name__} has no place in {short(text)}")
            if isinstance(node, ast.Constant) and type(node.value) is not int:
                literal = ast.get_source_segment(text.strip(), node) or ""
                demand(re.fullmatch(r"[0-9]+\.[0-9]+", literal) is not None, f"{short(literal)} is no number")
                node.value = Fraction(literal)  # type: ignore[assignment]
            if isinstance(node, ast.Call):
                named = isinstance(node.func, ast.Name) and not node.keywords
                demand(named, f"a call without a name in {short(text)}")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    demand(not level, f"a formula nested more than {MAX_NESTING} deep")
    return tree


def definitions(text: str) -> dict[str, tuple[tuple[str, ...], ast.expr]]:
    """Lines ``name(a, b) = term``, ``name[i] = term``, ``name = term`` or ``# comment``; indented lines go on."""
    result = {}
    for line in filter(None, re.sub(r"\n[ ]+", " ", re.sub(r"#.*\n", "\n", text)).splitlines()):
        head, body = line.split(" = ", 1)
        name, *parameters = re.findall(r"\w+", head)
        result[name] = (tuple(parameters), formula(body, own=True))
    return result


@dataclass(frozen=True)
class Record:
    """One relation that was decided, or could not be: its text, both sides, and the indices it was taken at."""

    relation: str
    left: Value
    right: Value
    truth: Truth
    indices: str = ""


class Evaluator:
    """Terms over definitions, data and hints, at a number of bits, until a deadline."""

    def __init__(self, defined: Definitions, data: Env, hints: Env, bits: int, deadline: float) -> None:
        self.defined, self.data, self.hints, self.bits, self.deadline = defined, data, hints, bits, deadline
        self.records: dict[Truth, Record] = {}  # the last relation that fails or holds, the first undecided
        self.cache: dict[Any, tuple[Value, Value]] = {}
        self.held = 0  # bytes in the cache, about
        self._inside = 0  # definitions being worked out: only the relations of the formula itself are recorded
        self.labels: dict[int, str] = {}  # of arrays with indices, for the names of hints

    def tick(self, held: int = 0) -> None:
        self.held += held
        demand(self.held <= MAX_HELD, "it needs more memory than is allowed")
        in_time(self.deadline)

    def truth(self, node: ast.expr, text: str) -> Truth:
        """The truth value of a formula, with the relation that decided it in `records`."""
        self.records = {}
        result = self.value(node, {})
        demand(result is None or type(result) is bool, f"{short(text)} is a number and no relation")
        return result  # type: ignore[no-any-return]

    def value(self, node: Any, env: Env) -> Value:
        """The value of a term, by the kind of its node."""
        self.tick()
        kind = type(node)
        if kind is ast.Constant:
            return Fraction(node.value)
        if kind is ast.Name:
            return self.name(node.id, env)
        if kind is ast.BinOp:
            left, right, sign = self.value(node.left, env), self.value(node.right, env), type(node.op)
            if sign is ast.MatMult:
                return self.product(left, right)
            demand(sign is ast.Pow or sign in _ARITHMETIC, f"{sign.__name__} is no operation of the language")
            return self.each(self.power if sign is ast.Pow else _ARITHMETIC[sign], left, right)
        if kind is ast.UnaryOp:
            inner = self.value(node.operand, env)
            if type(node.op) is ast.USub:
                return self.each(operator.neg, inner)
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
                raise Undecided(f"{ast.unparse(node.test)[:80]} is not decided")
            return self.value(node.body if chosen else node.orelse, env)
        if kind is ast.List:
            return [self.value(part, env) for part in node.elts]
        if kind in _LOOPS:
            return list(self.loop(node.elt, node.generators, env))
        if kind is ast.Subscript:
            parts = node.slice.elts if type(node.slice) is ast.Tuple else [node.slice]
            return self.item(node.value, [whole(self.value(part, env), "an index") for part in parts], env)
        demand(kind is ast.Call, f"{ast.unparse(node)[:60]} has no meaning here")
        return self.call(node.func.id, node.args, env)

    def name(self, name: str, env: Env) -> Value:
        for known in (env, self.data, self.hints):
            if name in known:
                return known[name]
        if name in self.defined:
            return self.apply(name, []) if not self.defined[name][0] else name
        demand(name in WORDS or name == "x_star", f"{short(name)} is not known")
        return threshold(self.bits) if name == "x_star" else name

    def item(self, array: ast.expr, places: list[int], env: Env) -> Value:
        demand(min(places) >= 0, "an index is negative")
        name = array.id if isinstance(array, ast.Name) else ""
        if name in self.defined and self.defined[name][0] and name not in env:
            for i in range(places[0] if len(places) == 1 else 0):  # in order, so that X[99] needs no deep recursion
                self.apply(name, [Fraction(i)])
            result = self.apply(name, [Fraction(i) for i in places])
        else:
            result = self.value(array, env)
            for i in places:
                demand(type(result) is list and i < len(result), f"{name}{places}: no such member")
                result = result[i]
        if type(result) is list:
            self.labels[id(result)] = f"{name}[{','.join(map(str, places))}]"
        return result

    def call(self, name: str, arguments: list[Any], env: Env) -> Value:
        name = env[name] if type(env.get(name)) is str else name  # a map that was handed on by its name
        verb, _, index = name.rpartition("_")
        if verb in REDUCTIONS and index in (*REACH, "p") and len(arguments) == 1:
            exponents = [Fraction(1), Fraction(2), "inf"]
            members = exponents if index == "p" else self.range(self.name(REACH[index], env))
            return REDUCTIONS[verb](self, [self.value(arguments[0], {**env, index: i}) for i in members])
        if name == "recursion":  # recursion(b, start, step): b = start, then b = step for l = 0, .., L - 1
            letter = arguments[0].id if len(arguments) == 3 and isinstance(arguments[0], ast.Name) else ""
            demand(re.fullmatch("[abcstuvxyz]", letter) is not None, "recursion(b, start, step) is needed")
            b = self.value(arguments[1], env)
            for l in self.range(self.name("L", env)):
                b = self.value(arguments[2], {**env, letter: b, "l": l})
            return b
        if name in ("all", "any") and len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            return self.joined(name == "all", self.loop(arguments[0].elt, arguments[0].generators, env))
        if name in self.defined:
            letters = self.defined[name][0]
            if letters[:1] == ("l",) and arguments and isinstance(arguments[0], ast.Subscript):
                arguments = [*_place(arguments[0], "P" if letters[1:2] == ("h",) else "X"), *arguments[1:]]
            return self.apply(name, [self.value(argument, env) for argument in arguments])
        values = [self.value(argument, env) for argument in arguments]
        if name in REDUCTIONS:
            return REDUCTIONS[name](self, values[0] if len(values) == 1 and type(values[0]) is list else values)
        demand(name in PRIMITIVES or name in FUNCTIONS, f"{short(name)} is no function of the language")
        try:
            if name in PRIMITIVES:
                return PRIMITIVES[name](self, *values)
            return self.each(functools.partial(FUNCTIONS[name], self), *values)
        except (TypeError, AttributeError, IndexError):
            raise Rejected(f"{name} does not take these arguments") from None

    def apply(self, name: str, values: list[Value]) -> Value:
        """A definition at these values; remembered, so that X[3] is worked out once."""
        parameters, body = self.defined[name]
        demand(len(parameters) == len(values), f"{name} takes {len(parameters)} arguments, {len(values)} given")
        key = (name, *(id(v) if type(v) is list else v for v in values))
        if key in self.cache:
            return self.cache[key][0]
        self._inside += 1
        result = self.value(body, dict(zip(parameters, values, strict=True)))
        self._inside -= 1
        if not any(isinstance(v, (Interval, Dual)) for v in values):
            self.tick(_numbers_in(result) * (200 + self.bits // 4))
            self.cache[key] = (result, values)  # the values are kept alive: their ids are in the key
        return result

    def loop(self, element: ast.expr, generators: list[ast.comprehension], env: Env) -> Iterator[Value]:
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

    def related(self, node: ast.expr, kind: type, left: Value, right: Value, env: Env) -> Truth:
        """One relation between numbers; == also between words, and between lists, member by member."""
        demand(kind in _RELATIONS, f"{kind.__name__} is no relation of the language")
        relation = _RELATIONS[kind]  # type: ignore[index]
        if type(left) is list and type(right) is list and relation == "==":
            if len(left) != len(right):
                raise Rejected(f"{ast.unparse(node)[:60]}: lengths differ")
            return self.joined(
                True, [self.related(node, kind, a, b, env) for a, b in zip(left, right, strict=True)]
            )
        if type(left) is str or type(right) is str:
            demand(relation == "==", "words are only equal or not")
            return bool(left == right)
        numbers = isinstance(left, (Fraction, Interval)) and isinstance(right, (Fraction, Interval))
        demand(numbers, "numbers are needed on both sides of a relation")
        truth = compare(relation, left, right)
        if (truth is None and None not in self.records) or (truth is not None and not self._inside):
            short = ((k, v) for k, v in env.items() if isinstance(v, (Fraction, str)) and len(k) == 1)
            indices = ", ".join(f"{k} = {v}" for k, v in short)
            self.records[truth] = Record(ast.unparse(node), left, right, truth, indices)
        return truth

    def note(self, what: str, left: Value, right: Value) -> None:
        """What could not be told, for the words."""
        self.records.setdefault(None, Record(what, left, right, None))

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

    def lift(self, x: Number) -> Interval:
        return Interval.of(x, self.bits)

    def each(self, f: Callable[..., Any], *values: Value) -> Value:
        """f of numbers, entry by entry of lists; a number goes with every entry. Long fractions are enclosed."""
        lists = [v for v in values if type(v) is list]
        if lists:
            demand(len({len(v) for v in lists}) == 1, "arrays of different lengths meet")
            self.tick()
            return [self.each(f, *(v[i] if type(v) is list else v for v in values)) for i in range(len(lists[0]))]
        demand(all(isinstance(v, (Fraction, Interval, Dual)) for v in values), "a number is needed, a word stands")
        try:
            x = f(*values)
        except ZeroDivisionError:
            raise Rejected("a division by zero") from None
        long = type(x) is Fraction and max(x.numerator.bit_length(), x.denominator.bit_length()) > MAX_EXACT_BITS
        return self.lift(x) if long else x

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(base, Dual):
            slope = exponent * self.power(base.value, exponent - 1)
            return Dual.chain(self.power(base.value, exponent), (slope, base))
        if isinstance(exponent, Interval):
            return (self.lift(base).log() * exponent).exp()
        demand(type(exponent) is Fraction and abs(exponent) <= MAX_POWER, "an exponent that is too large")
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

    def total(self, values: Sequence[Any]) -> Any:
        self.tick()
        return functools.reduce(lambda a, b: self.each(operator.add, a, b), values, Fraction(0))

    def product(self, A: Value, B: Value) -> Value:
        """The matrix product; a vector is a row on the left and a column on the right."""
        demand(type(A) is list and type(B) is list and len(A) * len(B) > 0, "a matrix product of what is no array")
        if type(A[0]) is not list:
            return self.product([A], B)[0]
        if type(B[0]) is not list:
            return [row[0] for row in self.product(A, [[b] for b in B])]
        demand(all(len(row) == len(B) for row in A), "matrices that do not fit are multiplied")
        rows, columns = plain(A), transposed(plain(B))
        if all(type(x) is Fraction for row in itertools.chain(rows, columns) for x in row):
            values = [[self.total(list(map(operator.mul, u, v))) for v in columns] for u in rows]
        else:
            left, right = [self.spread(row) for row in rows], [self.spread(column) for column in columns]
            values = [[self.dot(u, v) for v in self.ticking(right)] for u in left]
        if not any(isinstance(x, Dual) for row in itertools.chain(A, B) for x in row):
            return values
        others = [list(zip(v, b, strict=True)) for v, b in zip(columns, transposed(B), strict=True)]
        result: list[list[Dual]] = []
        for u, row, found in zip(rows, A, values, strict=True):
            pairs = ([p for a, x, (b, y) in zip(u, row, v, strict=True) for p in ((b, x), (a, y))] for v in others)
            result.append([self.chain(value, *parts) for value, parts in zip(found, pairs, strict=True)])
        return result

    def chain(self, value: Number, *parts: tuple[Number, Any]) -> Dual:
        """The chain rule, within bounds of time and memory."""
        result = Dual.chain(value, *parts)
        self.tick(len(result.grad) * (100 + self.bits // 8))
        return result

    def spread(self, line: list[Number]) -> tuple[list[int], list[int], list[int], int]:
        """Middles, their sizes and radii as integers of one scale: |x - m 2^s| <= r 2^s, rounded outward."""
        self.tick()
        enclosed = [self.lift(x) for x in line]
        sizes = [(x.scale, max(x.lo.bit_length(), x.hi.bit_length()) + x.scale) for x in enclosed if x.lo or x.hi]
        scale = max(min(s for s, _ in sizes), max(s for _, s in sizes) - self.bits - 16) if sizes else 0
        ends = [x.ends(scale) for x in enclosed]
        middles = [low + high for low, high in ends]
        return middles, [abs(m) for m in middles], [high - low for low, high in ends], scale - 1

    def dot(self, u: Any, v: Any) -> Interval:
        """sum of u_k v_k: |m m' - x x'| <= |m| r' + r (|m'| + r'), in integers, without rounding."""
        (m, size, r, s), (m2, size2, r2, s2) = u, v
        middle = sum(map(operator.mul, m, m2))
        radius = sum(map(operator.mul, size, r2)) + sum(map(operator.mul, r, map(operator.add, size2, r2)))
        return Interval(middle - radius, middle + radius, s + s2, self.bits)

    def ticking(self, items: Sequence[Any]) -> Iterator[Any]:
        """The items, with a look at the clock before each."""
        for item in items:
            self.tick()
            yield item


def whole(value: Value, what: str) -> int:
    demand(type(value) is Fraction and value.denominator == 1, f"{what} must be a whole number")
    return int(value)


def _numbers_in(value: Value) -> int:
    return sum(map(_numbers_in, value)) if type(value) is list else 1


def _place(node: ast.Subscript, array: str) -> list[ast.expr]:
    """The indices of P[l, h] or X[l], for what is defined by its place and not by its value."""
    named = isinstance(node.value, ast.Name) and node.value.id == array
    demand(named, f"{ast.unparse(node)[:60]}: {array} is needed here")
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


# -- deciding ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What the kernel found: accept, reject or undecided, why, and the relations that decided it."""

    verdict: str
    reason: str
    bits: int = 0
    trace: tuple[Record, ...] = ()


def decide(
    conditions: Sequence[str],
    claim: str,
    kind: str,
    defined: Definitions,
    data: Env,
    hints: Env,
    deadline: float,
    *,
    own: bool,
) -> Outcome:
    """Whether all conditions hold and the claim is true (kind "holds", "exists") or false (kind "violates")."""
    texts = [(text, formula(text, own=own)) for text in (*conditions, claim)]
    outcome, width = Outcome("undecided", "nothing was decided"), math.inf
    start = min(max([PRECISIONS[0], *(whole(hints[name], name) for name in BITS if name in hints)]), MAX_BITS)
    for bits in (start, *(b for b in PRECISIONS if b > start)):
        work = Evaluator(defined, data, hints, bits, deadline)
        trace: list[Record] = []
        try:
            for text, node in texts:
                truth = work.truth(node, text)
                trace.append(work.records.get(truth, Record(text, None, None, truth)))
                if truth is not True:
                    break
            proved = len(trace) == len(texts)  # every condition
            if proved and truth is not None:
                agreed = truth == (kind != "violates")
                reason = f"the claim is {'true' if truth else 'false'}, against the kind {kind!r}"
                verdict = ("accept", "every condition holds") if agreed else ("reject", reason)
                return Outcome(*verdict, bits, tuple(trace))
            if truth is False:
                return Outcome("reject", f"a condition fails: {text}", bits, tuple(trace))
            reason = f"undecided at {bits} bits: {text}"
            outcome, before = Outcome("undecided", reason, bits, tuple(trace)), width
            sides = [s for s in (trace[-1].left, trace[-1].right) if isinstance(s, Interval)]
            width = max(((s.hi - s.lo).bit_length() + s.scale for s in sides), default=0)
            if width > before - 1 or None not in work.records:
                return outcome  # more bits no longer narrow it, or nothing was too wide: the box is too large
        except Undecided as error:
            outcome = Outcome("undecided", f"undecided at {bits} bits: {error}", bits, tuple(trace))
    return outcome
