"""The kernel: evaluates formulas over exact data, and says accept, reject or undecided. It prints nothing.

What acceptance means: for the exact numbers of the certificate, every hypothesis is true, and the claim is true
(kinds "holds" and "exists") or false (kind "violates"), by the definitions of `rankmath.checker.statements`. A
formula is text in a few of Python's expressions, parsed and never executed; `Evaluator.value` gives every kind of
expression its meaning. A relation is decided by fractions, exactly, or by intervals, if it holds for all their
members; its truth value is True, False, or None: "these intervals cannot tell", and more bits are tried. Only True
makes a hypothesis hold. Hints and advice enter only where every value is allowed (`rankmath.checker.rules`).

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from rankmath.checker.intervals import Dual, Interval, Number, Rejected, Undecided, compare, flat, plain
from rankmath.checker.primitives import (
    MAX_EXACT_BITS,
    OPERATIONS,
    PRIMITIVES,
    REDUCTIONS,
    WORDS,
    Truth,
    Value,
    transposed,
)
from rankmath.checker.reading import demand, in_time, short

NUMBERS = {Fraction, Interval, Dual}
MAX_FORMULA = 4_000  # characters of one formula
MAX_NESTING = 40  # depth of a formula
MAX_LOOP = 10**5  # members of one range
MAX_HELD = 10**8  # bytes of derivatives, and of remembered values, about
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)  # bits, tried in this order
MAX_BITS = 2**14  # a hint may ask for more than the last of these
BITS = ("bits", "spectral_bits")  # hints that say how many bits to begin with

Env: TypeAlias = Mapping[str, Value]
Definitions: TypeAlias = Mapping[str, tuple[tuple[str, ...], ast.expr]]  # name -> parameters, body

_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_RELATIONS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
_CLAIM = (
    *(ast.BoolOp, ast.And, ast.Compare, ast.BinOp, ast.UnaryOp, ast.USub, ast.Constant, ast.Name, ast.Load),
    *(ast.Call, ast.Subscript, ast.Tuple, ast.MatMult, *_ARITHMETIC, *_RELATIONS),
)
_LOOPS = (ast.ListComp, ast.GeneratorExp)
_STATEMENT = (*_CLAIM, *_LOOPS, ast.Or, ast.Not, ast.IfExp, ast.List, ast.comprehension, ast.Store)


def formula(text: str, *, own: bool = False) -> ast.expr:
    """The tree of a formula. `own` formulas, those of the checker's table, may also have conditions and loops."""
    size = f"a formula of {len(text)} characters; ASCII, {MAX_FORMULA} at most"
    demand(len(text) <= MAX_FORMULA and text.isascii(), size)
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


# sum_l(...) runs over l = 0, .., L - 1, and so on
REACH = {"l": "range(L)", "h": "range(H)", "i": "range(n)", "k": "range(K)", "p": "[1, 2, inf]"}
_REACH = {
    letter: ast.comprehension(ast.Name(letter), formula(text, own=True), [], 0) for letter, text in REACH.items()
}


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
    at: Env = field(default_factory=dict)


class Evaluator:
    """Terms over definitions, data and hints, at a number of bits, until a deadline."""

    def __init__(self, defined: Definitions, data: Env, hints: Env, bits: int, deadline: float) -> None:
        self.defined, self.data, self.hints, self.bits, self.deadline = defined, data, hints, bits, deadline
        self.records: dict[Truth, Record] = {}  # the last relation that fails or holds, the first undecided
        self.cache: dict[Any, tuple[Value, Value]] = {}
        self.held = self.remembered = 0  # bytes of derivatives and in the cache, about
        self._inside = 0  # definitions being worked out: only the relations of the formula itself are recorded

    def tick(self, held: int = 0, once: int = 0) -> None:
        self.held += held
        demand(self.held + once <= MAX_HELD, "it needs more memory than is allowed")
        in_time(self.deadline)

    def truth(self, node: ast.expr) -> Truth:
        """The truth value of a formula, with the relation that decided it in `records`."""
        self.records = {}
        return self.joined(True, [self.value(node, {})])

    def value(self, node: Any, env: Env) -> Value:
        """The value of a term, by the kind of its node."""
        self.tick()
        kind = type(node)
        if kind is ast.Constant:
            return Fraction(node.value)
        if kind is ast.Name:
            return self.name(node.id, env)
        if kind is ast.BinOp:
            left, right = self.value(node.left, env), self.value(node.right, env)
            if type(node.op) is ast.MatMult:
                return self.product(left, right)
            return self.each(_ARITHMETIC[type(node.op)], left, right)
        if kind is ast.UnaryOp and type(node.op) is ast.USub:
            return self.each("-", Fraction(0), self.value(node.operand, env))
        if kind is ast.UnaryOp:
            truth = self.joined(True, [self.value(node.operand, env)])
            return None if truth is None else not truth
        if kind is ast.Compare:
            sides = [self.value(side, env) for side in (node.left, *node.comparators)]
            pairs = zip(node.ops, itertools.pairwise(sides), strict=True)
            return self.joined(True, (self.related(node, _RELATIONS[type(op)], a, b, env) for op, (a, b) in pairs))
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
        if name in self.defined and not self.defined[name][0]:
            return self.apply(name, [])
        demand(name in WORDS or name in self.defined, f"{short(name)} is not known")
        return name

    def item(self, array: ast.expr, places: list[int], env: Env) -> Value:
        demand(min(places) >= 0, "an index is negative")
        name = array.id if isinstance(array, ast.Name) else ""
        if name in self.defined and self.defined[name][0] and name not in env:
            for i in range(places[0] if len(places) == 1 else 0):  # in order, so that X[99] needs no deep recursion
                self.apply(name, [Fraction(i)])
            return self.apply(name, [Fraction(i) for i in places])
        result = self.value(array, env)
        for i in places:
            demand(type(result) is list and i < len(result), f"{name}{places}: no such member")
            result = result[i]
        return result

    def call(self, name: str, arguments: list[Any], env: Env) -> Value:
        name = env[name] if type(env.get(name)) is str else name  # a map that was handed on by its name
        verb, _, index = name.rpartition("_")
        if verb in REDUCTIONS and index in _REACH and len(arguments) == 1:
            return REDUCTIONS[verb](self, self.loop(arguments[0], [_REACH[index]], env))
        if name in REDUCTIONS and len(arguments) == 1 and type(arguments[0]) is ast.GeneratorExp:
            return REDUCTIONS[name](self, self.loop(arguments[0].elt, arguments[0].generators, env))
        if name == "recursion":  # recursion(b, start, step): b = start, then b = step for l = 0, .., L - 1
            letter = arguments[0].id if len(arguments) == 3 and isinstance(arguments[0], ast.Name) else ""
            demand(re.fullmatch("[abcstuvxyz]", letter) is not None, "recursion(b, start, step) is needed")
            b = self.value(arguments[1], env)
            for l in self.range(self.name("L", env)):
                b = self.value(arguments[2], {**env, letter: b, "l": l})
            return b
        if name in self.defined:
            letters = self.defined[name][0]
            if letters[:1] == ("l",) and arguments and isinstance(arguments[0], ast.Subscript):
                arguments = [*_place(arguments[0], "P" if letters[1:2] == ("h",) else "X"), *arguments[1:]]
            return self.apply(name, [self.value(argument, env) for argument in arguments])
        values = [self.value(argument, env) for argument in arguments]
        try:
            if name in REDUCTIONS:
                return REDUCTIONS[name](self, values[0] if len(values) == 1 and type(values[0]) is list else values)
            if name in OPERATIONS:
                return self.each(name, *values)
            demand(name in PRIMITIVES, f"{short(name)} is no function of the language")
            return PRIMITIVES[name](self, *values)
        except (TypeError, AttributeError, IndexError):
            raise Rejected(f"{name} does not take these arguments") from None

    def apply(self, name: str, values: list[Value]) -> Value:
        """A definition at these values; remembered, so that X[3] is worked out once."""
        parameters, body = self.defined[name]
        demand(len(parameters) == len(values), f"{name} takes {len(parameters)} arguments, {len(values)} given")
        key = (name, *((type(v), id(v) if type(v) is list else v) for v in values))  # True is not 1, nor is an id
        if key in self.cache:
            return self.cache[key][0]
        self._inside += 1
        result = self.value(body, dict(zip(parameters, values, strict=True)))
        self._inside -= 1
        if not any(isinstance(v, (Interval, Dual)) for v in values):
            size = len(flat([result, values])) * (150 + self.bits // 4)
            self.tick(once=size)
            if self.remembered + size > MAX_HELD:  # what is forgotten can be made again
                self.cache, self.remembered = {}, 0
            self.remembered += size
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

    def related(self, node: ast.expr, relation: str, left: Value, right: Value, env: Env) -> Truth:
        """One relation between numbers; == also between words, and between lists, member by member."""
        if type(left) is list and type(right) is list and relation == "==":
            demand(len(left) == len(right), f"{ast.unparse(node)[:60]}: lengths differ")
            pairs = zip(left, right, strict=True)
            return self.joined(True, [self.related(node, relation, a, b, env) for a, b in pairs])
        if type(left) is str or type(right) is str:
            demand(relation == "==", "words are only equal or not")
            return bool(left == right)
        numbers = isinstance(left, (Fraction, Interval)) and isinstance(right, (Fraction, Interval))
        demand(numbers, "numbers are needed on both sides of a relation")
        truth = compare(relation, left, right)
        if (truth is None and None not in self.records) or (truth is not None and not self._inside):
            at = {k: v for k, v in env.items() if isinstance(v, (Fraction, str)) and len(k) == 1}
            self.records[truth] = Record(ast.unparse(node), left, right, truth, at)
        return truth

    def joined(self, conjunction: bool, truths: Iterable[Truth]) -> Truth:
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

    def each(self, name: str, *values: Value) -> Value:
        """An operation on numbers, entry by entry of lists; a number goes with every entry."""
        lists = [v for v in values if type(v) is list]
        if lists:
            demand(len({len(v) for v in lists}) == 1, "arrays of different lengths meet")
            self.tick()
            entries = ([v[i] if type(v) is list else v for v in values] for i in range(len(lists[0])))
            return [self.each(name, *entry) for entry in entries]
        kinds, (operation, slopes) = set(map(type, values)), OPERATIONS[name]
        demand(kinds <= NUMBERS, "a number is needed, a word stands")
        numbers = values if Dual not in kinds else plain(list(values))
        try:
            x = operation(self, *numbers)
        except ZeroDivisionError:
            raise Rejected("a division by zero") from None
        if type(x) is Fraction and max(x.numerator.bit_length(), x.denominator.bit_length()) > MAX_EXACT_BITS:
            x = self.lift(x)  # long fractions are enclosed
        if Dual not in kinds:
            return x
        if slopes is None:
            raise Rejected(f"{name} has no derivative here")
        return self.linked(x, slopes(self, x, *numbers), values)

    def linked(self, value: Number, factors: Sequence[Number | int], parts: Sequence[Value]) -> Value:
        """The chain rule: `value`, whose derivative by each part is its factor."""
        grad: dict[int, Number] = {}
        for factor, part in zip(factors, parts, strict=True):
            if isinstance(part, Dual) and factor != 0:
                for k, slope in part.grad.items():
                    term = slope if factor == 1 else factor * slope
                    grad[k] = grad[k] + term if k in grad else term
        self.tick(len(grad) * (100 + self.bits // 8))
        return Dual(value, grad) if grad else value

    def total(self, values: Sequence[Any]) -> Any:
        if any(isinstance(v, Dual) for v in values):
            return self.linked(self.total(plain(values)), [1] * len(values), values)
        return functools.reduce(lambda a, b: self.each("+", a, b), values, Fraction(0))

    def product(self, A: Value, B: Value) -> Value:
        """The matrix product; a vector is a row on the left and a column on the right."""
        demand(type(A) is list and type(B) is list and len(A) * len(B) > 0, "a matrix product of what is no array")
        if type(A[0]) is not list:
            return self.product([A], B)[0]
        if type(B[0]) is not list:
            return [row[0] for row in self.product(A, [[b] for b in B])]
        demand(all(len(row) == len(B) for row in A), "matrices that do not fit are multiplied")
        columns = transposed(B)
        kinds = {type(x) for x in itertools.chain(*A, *B)}
        if Dual in kinds or Interval not in kinds:
            return [[self.total(self.each("*", row, column)) for column in columns] for row in A]
        right = [self.spread(column) for column in columns]
        return [[self.dot(u, v) for v in right] for u in map(self.spread, A)]

    def spread(self, line: list[Number]) -> tuple[list[int], list[int], list[int], int]:
        """Middles, their sizes and radii as integers of one scale: |x - m 2^s| <= r 2^s, rounded outward."""
        enclosed = [self.lift(x) for x in line]
        sizes = [(x.scale, max(x.lo.bit_length(), x.hi.bit_length()) + x.scale) for x in enclosed if x.lo or x.hi]
        scale = max(min(s for s, _ in sizes), max(s for _, s in sizes) - self.bits - 16) if sizes else 0
        ends = [x.ends(scale) for x in enclosed]
        middles = [low + high for low, high in ends]
        return middles, [abs(m) for m in middles], [high - low for low, high in ends], scale - 1

    def dot(self, u: Any, v: Any) -> Interval:
        """sum of u_k v_k: |m m' - x x'| <= |m| r' + r (|m'| + r'), in integers, without rounding."""
        self.tick()
        (m, size, r, s), (m2, size2, r2, s2) = u, v
        middle = sum(map(operator.mul, m, m2))
        radius = sum(map(operator.mul, size, r2)) + sum(map(operator.mul, r, map(operator.add, size2, r2)))
        return Interval(middle - radius, middle + radius, s + s2, self.bits)


def whole(value: Value, what: str) -> int:
    demand(type(value) is Fraction and value.denominator == 1, f"{what} must be a whole number")
    return int(value)


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


def decide(conditions: Sequence[str], claim: str, kind: str, given: Evaluator, *, own: bool) -> Outcome:
    """Whether all conditions hold and the claim is true (kind "holds", "exists") or false (kind "violates").

    With the definitions, data, hints and deadline of `given`, at more and more bits.
    """
    texts = [(text, formula(text, own=own)) for text in (*conditions, claim)]
    outcome, width = Outcome("undecided", "nothing was decided"), math.inf
    wanted = [whole(given.hints[name], name) for name in BITS if name in given.hints]
    start = min(max([given.bits, *wanted]), MAX_BITS)
    for bits in (start, *(b for b in PRECISIONS if b > start)):
        work = Evaluator(given.defined, given.data, given.hints, bits, given.deadline)
        trace: list[Record] = []
        try:
            for text, node in texts:
                truth = work.truth(node)
                trace.append(work.records.get(truth, Record(text, None, None, truth)))
                if truth is not True:
                    break
        except Undecided as error:
            outcome = Outcome("undecided", f"undecided at {bits} bits: {error}", bits, tuple(trace))
            continue
        proved = len(trace) == len(texts)  # every condition
        if proved and truth is not None and truth == (kind != "violates"):
            return Outcome("accept", "every condition holds", bits, tuple(trace))
        if truth is not None:
            against = f"the claim is {'true' if truth else 'false'}, against the kind {kind!r}"
            return Outcome("reject", against if proved else f"a condition fails: {text}", bits, tuple(trace))
        outcome, before = Outcome("undecided", f"undecided at {bits} bits: {text}", bits, tuple(trace)), width
        sides = [s for s in (trace[-1].left, trace[-1].right) if isinstance(s, Interval)]
        width = max(((s.hi - s.lo).bit_length() + s.scale for s in sides), default=0)
        if width > before - 1 or None not in work.records:
            return outcome  # more bits no longer narrow it, or nothing was too wide: the box is too large
    return outcome
