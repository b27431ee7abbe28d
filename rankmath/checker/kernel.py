"""The kernel: evaluates formulas over exact data, and says accept, reject or undecided. It prints nothing.

What acceptance means: for the exact numbers of the certificate, every hypothesis is true, and the claim is true
(kinds "holds" and "exists") or false (kind "violates"), by the definitions of `rankmath.checker.statements`. A
formula is text in a few of Python's expressions, parsed and never executed: `MEANING` says what every kind of
expression means, `OPERATIONS` and `FUNCTIONS` what is called by a name. A relation is decided by fractions,
exactly, or by intervals, if it holds for all their members; its truth value is True, False, or None: "these
intervals cannot tell", and more bits are tried. Only True makes a hypothesis hold. Hints and advice enter only
where every value is allowed (`rankmath.checker.rules`).

Read `reading` (bounded JSON), `intervals` (numbers) and this file: together they are the kernel.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from rankmath.checker.advice import ADVISORS, advice
from rankmath.checker.intervals import Dual, Interval, Number, Rejected, Undecided, compare, flat, nested, pi, plain
from rankmath.checker.reading import demand, in_time, short

MAX_FORMULA = 3_500  # characters of one formula; so its numbers, 0xFF.. too, are short enough to be written
MAX_LOOP = 10**5  # members of one range
MAX_HELD = 10**8  # bytes of derivatives, and of remembered values, about
MAX_EXACT_BITS = 2**13  # a fraction that is longer becomes an interval
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)  # bits, tried in this order

Value: TypeAlias = Any  # a number, a truth value, a word, or a list of these
Env: TypeAlias = Mapping[str, Value]
Definitions: TypeAlias = Mapping[str, tuple[tuple[str, ...], ast.expr]]  # name -> parameters, body
exact = functools.lru_cache(1000)(Fraction)  # of whole numbers: the same ones again and again


def formula(text: str) -> ast.expr:
    """The tree of a formula, of the kinds that have a meaning."""
    demand(len(text) <= MAX_FORMULA and text.isascii(), f"a formula that is not ASCII, or beyond {MAX_FORMULA}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Rejected(f"no formula: {short(text)}") from None
    for node in ast.walk(tree):
        known = type(node) in LANGUAGE and (type(node) is not ast.Constant or type(node.value) is int)
        demand(known, f"{type(node).__name__} has no place in {short(text)}")
    return tree


class Evaluator:
    """Terms over definitions, data and hints, at a number of bits, until a deadline."""

    def __init__(self, defined: Definitions, data: Env, hints: Env, bits: int, deadline: float) -> None:
        self.defined, self.data, self.hints, self.bits, self.deadline = defined, data, hints, bits, deadline
        twice = {*data, *hints} & {*defined, *WORDS} | {*data} & {*hints}
        demand(not twice, f"names with two meanings: {', '.join(sorted(twice))}")
        self.cache: dict[Any, tuple[Value, Value]] = {}
        self.held = self.remembered = 0  # bytes of derivatives and in the cache, about

    def at(self, bits: int) -> Evaluator:
        return Evaluator(self.defined, self.data, self.hints, bits, self.deadline)

    def tick(self, held: int = 0, once: int = 0) -> None:
        self.held += held
        demand(self.held + once <= MAX_HELD, "it needs more memory than is allowed")
        in_time(self.deadline)

    def truth(self, node: ast.expr) -> bool | None:
        """The truth value of a formula."""
        return self.joined(True, [self.value(node, {})])

    def value(self, node: Any, env: Env) -> Value:
        """The value of a term, by the kind of its node; whatever Python refuses to do has no meaning."""
        try:
            return MEANING[type(node)](self, node, env)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise Rejected(f"{ast.unparse(node)[:60]} has no meaning: {error}") from None

    # -- names, places and calls

    def name(self, name: str, env: Env) -> Value:
        for known in (env, self.data, self.hints):
            if name in known:
                return known[name]
        if name in self.defined and not self.defined[name][0]:
            return self.apply(name, [])
        demand(name in WORDS or name in self.defined, f"{short(name)} has no meaning")
        return name

    def item(self, node: ast.Subscript, env: Env) -> Value:
        array, places = self.value(node.value, env), flat(self.value(node.slice, env))
        demand(all(whole(place, "an index") >= 0 for place in places), "an index is negative")
        if type(array) is str:  # the name of a definition
            for place in self.range(places[0]) if len(places) == 1 else ():  # in order: X[99] needs no recursion
                self.apply(array, [place])
            return self.apply(array, places)
        for place in places:
            demand(type(array) is list, "an index of what is no list")
            array = array[int(place)]
        return array

    def call(self, name: str, arguments: list[Any], env: Env) -> Value:
        self.tick()
        name = env[name] if type(env.get(name)) is str else name  # a map that was handed on by its name
        if name in READERS and len(arguments) == 1 and type(arguments[0]) is ast.GeneratorExp:  # read as it comes
            return FUNCTIONS[name](self, self.loop(arguments[0].elt, arguments[0].generators, env))
        values = [self.value(argument, env) for argument in arguments]
        if name in self.defined:
            return self.apply(name, values)
        return self.each(name, *values) if name in OPERATIONS else FUNCTIONS[name](self, *values)

    def apply(self, name: str, values: list[Value]) -> Value:
        """A definition at these values; remembered, so that X[3] is worked out once."""
        parameters, body = self.defined[name]
        # Numbers and words by what they are, arrays by which they are; no type is taken for another.
        key = (name, *((type(v), v if type(v) in (Fraction, str) else id(v)) for v in values))
        if key not in self.cache:
            result = self.value(body, dict(zip(parameters, values, strict=True)))
            if any(isinstance(v, (Interval, Dual)) for v in values):
                return result
            size = len(flat([result, values])) * (150 + self.bits // 4)
            self.remembered += size
            if self.remembered > MAX_HELD:  # what is forgotten can be made again
                self.cache, self.remembered = {}, size
            self.cache[key] = (result, values)  # the values are kept alive: their ids are in the key
        return self.cache[key][0]

    def loop(self, element: ast.expr, generators: list[Any], env: Env) -> Iterator[Value]:
        first, *rest = generators
        members = self.value(first.iter, env)
        demand(type(members) is list, "a loop over what is no list")
        for member in members:
            self.tick()
            inner = {**env, first.target.id: member}
            if all(self.chosen(test, inner) for test in first.ifs):
                yield from self.loop(element, rest, inner) if rest else [self.value(element, inner)]

    def metered(self, members: Iterable[Value]) -> Iterator[Value]:
        """The members of a list to be made, as long as there is room for all of them."""
        size = 0
        for member in members:
            size += len(flat(member)) * (150 + self.bits // 4)
            self.tick(once=size)
            yield member

    def range(self, *ends: Value) -> list[Fraction]:
        members = range(*(whole(end, "a range") for end in ends))
        demand(len(members) <= MAX_LOOP, f"a range of more than {MAX_LOOP}")
        return [*map(exact, members)]

    # -- truth

    def compared(self, node: ast.Compare, env: Env) -> bool | None:
        sides = [self.value(side, env) for side in (node.left, *node.comparators)]
        return self.joined(True, map(self.related, (NAMES[type(op)] for op in node.ops), sides, sides[1:]))

    def related(self, relation: str, left: Value, right: Value) -> bool | None:
        """One relation between numbers; == also between words, and between lists, member by member."""
        if relation == "==" and type(left) is type(right) is list:
            self.tick()
            return self.joined(True, [self.related(relation, a, b) for a, b in zip(left, right, strict=True)])
        if relation == "==" and str in (type(left), type(right)):
            return bool(left == right)
        demand({type(left), type(right)} <= {Fraction, Interval}, "a relation of what are no numbers")
        return compare(relation, left, right)

    def joined(self, conjunction: bool, truths: Iterable[bool | None]) -> bool | None:
        """`and` or `or` of truth values; None unless one of them settles it."""
        unknown = False
        for truth in truths:
            demand(truth is None or type(truth) is bool, "a relation is needed where a number stands")
            if truth is not conjunction and truth is not None:
                return truth
            unknown = unknown or truth is None
        return None if unknown else conjunction

    def chosen(self, test: ast.expr, env: Env) -> bool:
        truth = self.joined(True, [self.value(test, env)])
        if truth is None:
            raise Undecided(f"{short(ast.unparse(test))} is not decided")
        return truth

    # -- arithmetic

    def each(self, name: str, *values: Value) -> Value:
        """An operation on numbers, entry by entry of lists; a number goes with every entry."""
        kinds, (operation, slopes) = set(map(type, values)), OPERATIONS[name]
        if list in kinds:
            self.tick()
            length = max(len(v) for v in values if type(v) is list)
            columns = [v if type(v) is list else [v] * length for v in values]
            return [self.each(name, *entry) for entry in zip(*columns, strict=True)]
        demand(kinds <= {Fraction, Interval, Dual}, "a number is needed, a word stands")
        numbers = values if Dual not in kinds else plain(list(values))
        x = operation(self, *numbers)
        if type(x) is Fraction and max(map(int.bit_length, x.as_integer_ratio())) > MAX_EXACT_BITS:
            x = Interval.of(x, self.bits)
        return x if Dual not in kinds else self.linked(x, slopes(self, x, *numbers), values)

    def linked(self, value: Number, factors: Sequence[Number | int], parts: Sequence[Value]) -> Value:
        """The chain rule: `value`, whose derivative by each part is its factor."""
        grad: dict[int, Number] = {}
        for factor, part in zip(factors, parts, strict=True):
            for k, slope in part.grad.items() if isinstance(part, Dual) and factor != 0 else ():
                term = slope if factor == 1 else factor * slope
                grad[k] = grad[k] + term if k in grad else term
        self.tick(len(grad) * (100 + self.bits // 8))
        return Dual(value, grad) if grad else value

    def jacobian(self, name: str, X: Value, *rest: Value) -> list[list[Number]]:
        """The derivative of a defined map by its first argument, over a box; arrays are taken entry by entry."""
        demand(Dual not in map(type, flat([X, *rest])), "a derivative of a derivative")  # both count from 0
        # In intervals, as exact slopes would grow.
        size, zero, one, inner = len(flat(X)), Fraction(0), Interval.of(1, self.bits), self.at(self.bits)
        places = iter(range(size))
        variables = nested(lambda x: Dual(x, {next(places): one}), X)
        slopes = [y.grad if isinstance(y, Dual) else {} for y in flat(inner.apply(name, [variables, *rest]))]
        self.tick(once=32 * size * len(slopes))  # a place each: the derivatives themselves are counted
        return [[grad.get(k, zero) for k in range(size)] for grad in slopes]

    def reduced(self, name: str, values: Iterable[Value], *start: Number) -> Value:
        parts: dict[int, Dual] = {}  # of a sum, linked at once: partial sums would count as held
        bare = (parts.setdefault(len(parts), v).value if name == "+" and type(v) is Dual else v for v in values)
        total = functools.reduce(lambda a, b: self.each(name, a, b), bare, *start)
        demand(not parts or type(total) is not list, "a sum of numbers and lists")
        return self.linked(total, [1] * len(parts), [*parts.values()]) if parts else total

    def product(self, A: Value, B: Value) -> Value:
        """The matrix product; a vector is a row on the left and a column on the right."""
        if type(A[0]) is not list:
            return self.product([A], B)[0]
        if type(B[0]) is not list:
            return [row[0] for row in self.product(A, [[b] for b in B])]
        demand(all(len(row) == len(B) for row in A), "matrices that do not fit are multiplied")
        columns, kinds = [list(column) for column in zip(*B, strict=True)], set(map(type, flat([A, B])))
        if Interval not in kinds or not kinds <= {Fraction, Interval}:
            return [[self.reduced("+", self.each("*", row, column)) for column in columns] for row in A]
        right = [self.spread(column) for column in columns]
        return [[self.dot(u, v) for v in right] for u in map(self.spread, A)]

    def spread(self, line: list[Number]) -> tuple[list[int], list[int], int]:
        """Middles and radii as integers of one scale: |x - m 2^s| <= r 2^s, rounded outward."""
        enclosed = [Interval.of(x, self.bits) for x in line]
        scale = int(max(min(x.scale for x in enclosed), max(x.size() for x in enclosed) - self.bits - 16))
        ends = [x.ends(scale) for x in enclosed]
        return [low + high for low, high in ends], [high - low for low, high in ends], scale - 1

    def dot(self, u: Any, v: Any) -> Interval:
        """sum of u_k v_k: |m m' - x x'| <= |m| r' + r (|m'| + r'), in integers, without rounding."""
        self.tick()
        (m, r, s), (m2, r2, s2) = u, v
        middle, sizes = sum(map(operator.mul, m, m2)), map(operator.add, map(abs, m2), r2)
        radius = sum(map(operator.mul, map(abs, m), r2)) + sum(map(operator.mul, r, sizes))
        return Interval(middle - radius, middle + radius, s + s2, self.bits)


# -- what the language knows ---------------------------------------------------------------------------------


def member_of(record: Value, name: str) -> Value:
    demand(type(record) is dict and name in record, f"no {short(name)} here")
    return record[name]


def whole(value: Value, what: str) -> int:
    demand(type(value) is Fraction and value.denominator == 1, f"{what} must be a whole number")
    return int(value)


def _sqrt(work: Evaluator, x: Number) -> Number:
    root = Fraction(*map(math.isqrt, x.as_integer_ratio())) if type(x) is Fraction else None  # none is negative
    return root if root is not None and root * root == x else Interval.of(x, work.bits).sqrt()


def _power(work: Evaluator, base: Number, exponent: Number) -> Number:
    """Whole powers, by squaring; all others by a rule."""
    if isinstance(exponent, Interval) or exponent.denominator > 1:
        power: Number = work.apply("real_power", [base, exponent])
        return power
    if exponent <= 0:
        return 1 / _power(work, base, -exponent) if exponent < 0 else Fraction(1)
    half = _power(work, work.each("abs", base), Fraction(exponent // 2))
    whole_power: Number = work.each("*", work.each("*", half, half), base if exponent % 2 else Fraction(1))
    return whole_power


# Operations on numbers, entry by entry of arrays: the value z, and dz/da, dz/db where it is differentiated; by what
# has None there it is not, and Python's refusal to calculate with None rejects what tries.
OPERATIONS: dict[str, tuple[Callable[..., Number], Any]] = {
    "+": (lambda work, a, b: a + b, lambda work, z, a, b: (1, 1)),
    "-": (lambda work, a, b: a + -b, lambda work, z, a, b: (1, -1)),
    "minus": (lambda work, a: -a, lambda work, z, a: (-1,)),
    "*": (lambda work, a, b: a * b, lambda work, z, a, b: (b, a)),
    "/": (lambda work, a, b: a * (1 / b), lambda work, z, a, b: (1 / b, -z * (1 / b))),
    "**": (_power, lambda work, z, a, b: (b * _power(work, a, b - 1), None)),
    "sqrt": (_sqrt, lambda work, z, a: (1 / (2 * z),)),
    "exp": (lambda work, x: Fraction(1) if x == 0 else Interval.of(x, work.bits).exp(), lambda work, z, a: (z,)),
    "erf": (lambda work, x: Fraction(0) if x == 0 else Interval.of(x, work.bits).erf(), None),
    "round": (lambda work, x: x if type(x) is Interval or x.denominator == 1 else Interval.of(x, work.bits), None),
    "lower": (lambda work, x: x.lower() if isinstance(x, Interval) else x, None),
    "whole_part": (lambda work, x: Fraction(math.floor(x)), None),  # of what is exact
    "abs": (lambda work, x: abs(x), None),
    "between": (lambda work, a, b: a if a == b else Interval.of(a, work.bits).merged(b, min, max), None),
    "larger": (lambda work, a, b: _merged(work, a, b, max), None),
    "smaller": (lambda work, a, b: _merged(work, a, b, min), None),
}


def _merged(work: Evaluator, a: Number, b: Number, pick: Callable[..., Any]) -> Number:
    return pick(a, b) if type(a) is type(b) is Fraction else Interval.of(a, work.bits).merged(b, pick, pick)


def _gathered(values: tuple[Value, ...]) -> Iterable[Value]:
    """Those of the one list or loop that is given, or all that are given."""
    return values[0] if len(values) == 1 and isinstance(values[0], (list, Iterator)) else values


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "sum": lambda work, *values: work.reduced("+", _gathered(values), Fraction(0)),
    "prod": lambda work, *values: work.reduced("*", _gathered(values), Fraction(1)),
    "max": lambda work, *values: work.reduced("larger", _gathered(values)),
    "min": lambda work, *values: work.reduced("smaller", _gathered(values)),
    "all": lambda work, *truths: work.joined(True, _gathered(truths)),
    "any": lambda work, *truths: work.joined(False, _gathered(truths)),
    "not": lambda work, truth: None if work.joined(True, [truth]) is None else not truth,
    "shown": lambda work, truth: work.joined(True, [truth]) or None,  # False of a sufficient one says nothing
    "certain": lambda work, truth: work.joined(True, [truth]) is True,
    "range": Evaluator.range,
    "len": lambda work, v: Fraction(len(v)),
    "T": lambda work, A: [list(column) for column in zip(*A, strict=True)],
    "@": Evaluator.product,
    "chain": lambda work, matrices: functools.reduce(work.product, matrices),
    "jacobian": Evaluator.jacobian,
    "linked": Evaluator.linked,
    "plain": lambda work, x: plain(x),
    "pi": lambda work: pi(work.bits),
    "advice": lambda work, kind, *values: work.each("round", advice(kind, work.bits, work.tick, *values)),
}
WORDS = {"inf", "one", "composite", "frobenius", "max", "mean", "none", "sphere", "standard", "column", "rms"}
WORDS |= {"after", "attending", "tokenwise", "eigen", *ADVISORS}
READERS = {"sum", "prod", "max", "min", "all", "any"}  # of loops: what they give is no loop
NAMES: dict[type[ast.AST], str] = {ast.USub: "minus", ast.Not: "not", ast.MatMult: "@", ast.Pow: "**"}
NAMES |= {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
NAMES |= {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
BOTH = {ast.And: True, ast.Or: False}
MEANING: dict[type[ast.AST], Callable[[Evaluator, Any, Env], Value]] = {
    ast.Constant: lambda work, node, env: exact(node.value),
    ast.Name: lambda work, node, env: work.name(node.id, env),
    ast.Subscript: Evaluator.item,
    ast.Attribute: lambda work, node, env: member_of(work.value(node.value, env), node.attr),
    ast.Call: lambda work, node, env: work.call(node.func.id, node.args, env),
    ast.BinOp: lambda work, node, env: work.call(NAMES[type(node.op)], [node.left, node.right], env),
    ast.UnaryOp: lambda work, node, env: work.call(NAMES[type(node.op)], [node.operand], env),
    ast.Compare: Evaluator.compared,
    ast.BoolOp: lambda work, node, env: work.joined(BOTH[type(node.op)], (work.value(x, env) for x in node.values)),
    ast.IfExp: lambda work, node, env: work.value(node.body if work.chosen(node.test, env) else node.orelse, env),
    **dict.fromkeys((ast.List, ast.Tuple), lambda work, node, env: [work.value(part, env) for part in node.elts]),
    ast.ListComp: lambda work, node, env: list(work.metered(work.loop(node.elt, node.generators, env))),
}
# A generator is an argument, never a value.
LANGUAGE = {*MEANING, *NAMES, *BOTH, ast.GeneratorExp, ast.comprehension, ast.Load, ast.Store}


# -- deciding ----------------------------------------------------------------------------------------------


class Decision(NamedTuple):
    """Accept, reject or undecided; how many formulas are true, the evaluator, and why there are no values."""

    verdict: str
    true: int
    work: Evaluator
    why: str


def decide(formulas: Sequence[ast.expr], kind: str, given: Evaluator) -> Decision:
    """Whether all but the last hold, and the last, the claim, is true (or false, if that is its kind, "violates").

    With the definitions, data, hints and deadline of `given`, at its bits and more.
    """
    truth: bool | None = None
    for bits in (given.bits, *(b for b in PRECISIONS if b > given.bits)):
        work, true, truth, why = given.at(bits), 0, True, ""
        try:
            while truth and true < len(formulas):
                truth = work.truth(formulas[true])
                true += truth is True
        except Undecided as error:
            truth, why = None, str(error)
        if truth is not None:
            break
    accepted = true >= len(formulas) - 1 and truth is (kind != "violates")
    return Decision("undecided" if truth is None else "accept" if accepted else "reject", true, work, why)
