"""Certificates with data of their own in Coq: the statement's text, unrolled into terms about entries of the data.

The text is that of `rankmath.checker.statements`. Numbers made of the data stay as they are written, with a value
only to choose between cases; loops are unrolled, softmax and spectral norms are those of proofs/coq/certificate.v.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankmath.certificates.coq_network import softmax, spectral
from rankmath.certificates.coq_terms import (
    SIGNS,
    Term,
    TooNear,
    Untranslatable,
    Writer,
    constant,
    exact,
    fold,
    relation,
)
from rankmath.checker.kernel import WORDS
from rankmath.checker.statements import COMMON, STATEMENTS, definitions
from rankmath.definitions.entries import ENTRIES, Entry
from rankmath.definitions.layer import ACTIVATIONS, CAPS, GRAPHS, layer_text
from rankmath.definitions.quantities import HELPERS

Found = list[tuple[str, str]]
LONG = 160  # characters of a term that gets a name of its own
OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@functools.lru_cache(maxsize=4)
def _definitions(layer: str, entries: tuple[Entry, ...]) -> dict[str, tuple[tuple[str, ...], ast.expr]]:
    return definitions(GRAPHS + layer + HELPERS + "".join(entry.line for entry in entries))


class Reader:
    """One statement over one certificate's data."""

    def __init__(self, content: Mapping[str, Any], bits: int) -> None:
        self.statement = STATEMENTS[content["statement"]]
        self.defined = definitions(f"{COMMON}\n{self.statement.define}")
        self.out, self.held = Writer(bits), dict[str, Any]()
        self.memo: dict[str, Any] = {}
        self.left_out: list[str] = []
        data = dict(content["data"])
        sizes = {name: shape for name, shape in self.statement.data.items() if isinstance(shape, str)}
        for name, shape in sizes.items():
            if name.rstrip("?") in data and shape not in ("number", "n pair"):
                value = data[name.rstrip("?")]
                for letter in shape.split():
                    self.held.setdefault(letter, len(value))
                    value = value[0]
        for name, shape in sizes.items():  # what may be left out
            if name.endswith("?") and name[:-1] not in data:
                data[name[:-1]] = [int(name == "weights?")] * self.held[shape]
        if "layers" in data:
            layers = data.pop("layers")
            self.held |= {"L": len(layers), "H": len(layers[0]["heads"])}
            for word in ("P", "W"):
                self.held[word] = [
                    [self.named(f"{word}_{k}_{h}", head[word]) for h, head in enumerate(layer["heads"])]
                    for k, layer in enumerate(layers)
                ]
            self.held["bias"] = [self.named(f"bias_{k}", layer["bias"]) for k, layer in enumerate(layers)]
        for name, value in data.items():
            deep = isinstance(value, list) and isinstance(value[0], list) and isinstance(value[0][0], list)
            several = [self.named(f"{name}_{k}", v) for k, v in enumerate(value)] if deep else None
            self.held[name] = self.named(name, value) if several is None else several
        if "X" in self.held and "d" not in self.held:
            self.held["d"] = len(self.held["X"][0])
        self.out.at = "p 16%nat 16%nat"

    @classmethod
    def over(cls, out: Writer, held: dict[str, Any]) -> Reader:
        """The definitions of quantities over arrays that are written already, as terms that name their entries."""
        made = cls.__new__(cls)
        made.defined = _definitions(layer_text(), tuple(ENTRIES.values()))
        made.out, made.held, made.memo, made.left_out = out, held, {}, []
        return made

    def named(self, name: str, value: Any) -> Any:
        """The data as terms that name their entries."""
        value, coq = exact(value, name), f"{name}_"
        if not isinstance(value, list):
            self.out.rational(coq, constant(value).coq, value)
            return Term(coq, constant(value).ball, value)
        self.out.data(coq, value)
        matrix = isinstance(value[0], list)
        at, lemma = ("i j", "ex_rows") if matrix else ("i", "ex_entries")
        self.out.lines += [
            f"Definition {coq}_q : forall {at}, ex _ ({coq} {at}) := {lemma} q_{coq}.",
            f"#[local] Hint Resolve {coq}_q : rat.",
        ]
        if matrix:
            return [
                [Term(f"({coq} {i}%nat {j}%nat)", constant(x).ball, x) for j, x in enumerate(row)]
                for i, row in enumerate(value)
            ]
        return [Term(f"({coq} {j}%nat)", constant(x).ball, x) for j, x in enumerate(value)]

    # -- values --------------------------------------------------------------------------------------------------
    def short(self, value: Any) -> Any:
        """Long terms get a name."""
        if isinstance(value, list):
            return [self.short(x) for x in value]
        if isinstance(value, Term) and len(value.coq) > LONG:
            if value.exact is not None:
                name = f"r_{len(self.out.terms)}"
                if value.coq not in self.out.terms:
                    self.out.rational(name, value.coq, value.exact)
                    self.out.terms[value.coq] = Term(name, value.ball, value.exact)
                return self.out.terms[value.coq]
            return self.out.number(value.coq, value.ball)
        return value

    def value(self, node: ast.expr, at: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=int(k)):
                return k
            case ast.Constant():
                return Fraction(ast.unparse(node))
            case ast.Name(id=name):
                return self.look(name, at)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return each(lambda x: -x if not isinstance(x, Term) else constant(0) - x, self.value(inner, at))
            case ast.BinOp(left=a, op=ast.MatMult(), right=b):
                return self.short(self.product(self.value(a, at), self.value(b, at)))
            case ast.BinOp(left=a, op=op, right=b):
                return self.short(both(functools.partial(arithmetic, type(op)), self.value(a, at), self.value(b, at)))
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.value(yes if self.decided(test, at) else no, at)
            case ast.List(elts=several):
                return [self.value(one, at) for one in several]
            case ast.ListComp(elt=body, generators=loops) | ast.GeneratorExp(elt=body, generators=loops):
                return [self.value(body, here) for here in self.loop(loops, at)]
            case ast.Subscript(value=ast.Name(id=name), slice=where) if (
                name not in at and self.defined.get(name, ((),))[0]
            ):
                several = where.elts if isinstance(where, ast.Tuple) else [where]
                return self.apply(name, [self.value(one, at) for one in several])
            case ast.Subscript(value=inner, slice=where):
                found = self.value(inner, at)
                for one in where.elts if isinstance(where, ast.Tuple) else [where]:
                    found = found[int(self.value(one, at))]
                return found
            case ast.Attribute(value=inner, attr=field):
                return self.value(inner, at)[field]
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, args, at)
        raise Untranslatable(f"{ast.unparse(node)} is not written in Coq")

    def look(self, name: str, at: Mapping[str, Any]) -> Any:
        if name in at:
            return at[name]
        if name in self.held:
            return self.held[name]
        if name in self.defined and not self.defined[name][0]:
            return self.apply(name, [])
        if name in WORDS or name in self.defined or name in ACTIVATIONS or name in CAPS:
            return name
        raise Untranslatable(f"{name} is not written in Coq")

    def apply(self, name: str, args: list[Any]) -> Any:
        key = f"{name}{args}"
        if key not in self.memo:
            parameters, body = self.defined[name]
            self.memo[key] = self.short(self.value(body, dict(zip(parameters, args, strict=True))))
        return self.memo[key]

    def loop(self, loops: Sequence[ast.comprehension], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not loops:
            yield at
            return
        for item in self.value(loops[0].iter, at):
            here = {**at, loops[0].target.id: item}  # type: ignore[attr-defined]
            if all(self.decided(test, here) for test in loops[0].ifs):
                yield from self.loop(loops[1:], here)

    def product(self, a: Any, b: Any) -> Any:
        if isinstance(a[0], list):
            return [self.product(row, b) for row in a]
        if isinstance(b[0], list):
            return [self.product(a, list(column)) for column in zip(*b, strict=True)]
        return add([arithmetic(ast.Mult, x, y) for x, y in zip(a, b, strict=True)])

    def call(self, name: str, args: list[ast.expr], at: dict[str, Any]) -> Any:
        match name, args:
            case (("sum" | "prod" | "max" | "min"), [one]):
                return self.reduced(name, self.value(one, at))
            case (("max" | "min"), several):
                return self.reduced(name, [self.value(one, at) for one in several])
            case "range", several:
                return list(range(*(int(self.value(one, at)) for one in several)))
            case "len", [one]:
                return len(self.value(one, at))
            case "T", [one]:
                return [list(column) for column in zip(*self.value(one, at), strict=True)]
            case "identity", [one]:
                n = int(self.value(one, at))
                return [[int(i == j) for j in range(n)] for i in range(n)]
            case "chain", [one]:
                return functools.reduce(lambda a, b: self.short(self.product(a, b)), self.value(one, at))
            case "floor", [one]:
                x = self.value(one, at)
                return math.floor(x.exact if isinstance(x, Term) and x.exact is not None else x)
            case "softmax", [logits, weights]:
                return self.softmax(self.value(logits, at), self.value(weights, at))
            case "spectral", [one]:
                return self.spectral(self.value(one, at))
            case (("sqrt" | "exp" | "tanh" | "log"), [one]):
                word = {"log": "ln"}.get(name, name)
                return each(lambda x: term(x).call(word, lambda b: getattr(b, name)()), self.value(one, at))
            case "abs", [one]:
                return each(absolute, self.value(one, at))
        if name in self.defined:
            return self.apply(name, [self.value(one, at) for one in args])
        raise Untranslatable(f"{name}(…) is not written in Coq")

    def reduced(self, name: str, values: list[Any]) -> Any:
        if name in ("sum", "prod"):
            of = functools.partial(arithmetic, ast.Add if name == "sum" else ast.Mult)
            return self.short(functools.reduce(functools.partial(both, of), values))
        if not any(isinstance(x, Term) for x in values):
            return (max if name == "max" else min)(values)
        return self.short(fold("Rmax" if name == "max" else "Rmin", [term(x) for x in values]))

    def softmax(self, logits: list[Any], weights: list[Any]) -> list[Any]:
        if isinstance(logits[0], list):
            return [self.softmax(row, w) for row, w in zip(logits, weights, strict=True)]
        x, w = [term(v) for v in logits], [term(v) for v in weights]
        vectors = ["; ".join(v.coq for v in one) for one in (w, x)]
        body = f"softmax {len(x)} (vector [{vectors[0]}]) (vector [{vectors[1]}])"
        if body not in self.memo:
            name = self.out.hold(f"softmax_{len(self.memo)}", body, "encv")
            P = softmax([v.ball for v in x], [v.ball for v in w])
            self.memo[body] = [Term(f"({name} {j}%nat)", p) for j, p in enumerate(P)]
        return self.memo[body]  # type: ignore[no-any-return]

    def spectral(self, M: list[list[Any]]) -> Term:
        entries = [[term(x) for x in row] for row in M]
        rows = "; ".join(f"[{'; '.join(x.coq for x in row)}]" for row in entries)
        name = self.out.hold(f"matrix_{len(self.memo)}", f"matrix [{rows}]", "encm")
        return spectral(self.out, name, [[x.ball for x in row] for row in entries])

    # -- truths --------------------------------------------------------------------------------------------------
    def decided(self, node: ast.expr, at: dict[str, Any]) -> bool:
        """A condition on exact numbers that chooses between cases."""
        match node:
            case ast.BoolOp(op=op, values=values):
                return (all if isinstance(op, ast.And) else any)(self.decided(v, at) for v in values)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not self.decided(inner, at)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                sides = [self.value(side, at) for side in (left, *rights)]
                return all(_exactly(a, SIGNS[type(op)], b) for a, op, b in zip(sides, ops, sides[1:], strict=False))
            case ast.Call(func=ast.Name(id="all" | "any" as name), args=[ast.GeneratorExp(elt=body, generators=loops)]):
                return (all if name == "all" else any)(self.decided(body, here) for here in self.loop(loops, at))
            case ast.Name(id=name) if name in self.defined and not self.defined[name][0]:
                return self.decided(self.defined[name][1], {})
            case ast.Call(func=ast.Name(id=name), args=args) if name in self.defined:
                parameters, body = self.defined[name]
                return self.decided(body, dict(zip(parameters, [self.value(x, at) for x in args], strict=True)))
        raise Untranslatable(f"{ast.unparse(node)}: no condition on exact numbers")

    def shown(self, node: ast.expr, at: dict[str, Any], *, holds: bool) -> Found:
        """What is stated of a condition, or of its negation: the relations that decide it, with their proofs."""
        match node:
            case ast.BoolOp(op=op, values=values):
                parts: list[Callable[[], Found]] = [functools.partial(self.shown, v, at, holds=holds) for v in values]
                return self.joined(parts, every=isinstance(op, ast.And) == holds)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.shown(inner, at, holds=not holds)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.shown(yes if self.decided(test, at) else no, at, holds=holds)
            case ast.Call(func=ast.Name(id="all" | "any" as name), args=[ast.GeneratorExp(elt=body, generators=loops)]):
                parts = [functools.partial(self.shown, body, here, holds=holds) for here in self.loop(loops, at)]
                return self.joined(parts, every=(name == "all") == holds)
            case ast.Call(func=ast.Name(id=name), args=args) if name in self.defined:
                parameters, body = self.defined[name]
                return self.shown(
                    body, dict(zip(parameters, [self.value(x, at) for x in args], strict=True)), holds=holds
                )
            case ast.Compare(left=left, ops=[ast.LtE()], comparators=[ast.Name(id="x_star")]):
                x = term(self.value(left, at))  # x* > 0 is where e^x = 1 + 2x
                return [
                    relation(
                        self.out, x.call("exp", lambda b: b.exp()), "<=", constant(1) + constant(2) * x, holds=holds
                    )
                ]
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="matrix_rank"), args=[M]),
                ops=[ast.LtE()],
                comparators=[ast.Constant(value=1)],
            ):
                return self.minor(self.value(M, at), holds=holds)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                sides = [self.value(side, at) for side in (left, *rights)]
                parts = [
                    functools.partial(self.related, a, SIGNS[type(op)], b, holds=holds)
                    for a, op, b in zip(sides, ops, sides[1:], strict=False)
                ]
                return self.joined(parts, every=holds)
        raise Untranslatable(f"{ast.unparse(node)}: no condition that is written in Coq")

    def joined(self, parts: Sequence[Callable[[], Found]], *, every: bool) -> Found:
        if every:
            return [one for part in parts for one in part()]
        why: Untranslatable = TooNear("nothing of the claim is certainly decided")
        for part in parts:
            try:
                return part()
            except Untranslatable as other:
                why = other
        raise why

    def related(self, a: Any, sign: str, b: Any, *, holds: bool) -> Found:
        if isinstance(a, list) or isinstance(b, list):
            parts = [functools.partial(self.related, x, sign, y, holds=holds) for x, y in zip(a, b, strict=True)]
            return self.joined(parts, every=holds)
        if not isinstance(a, Term) and not isinstance(b, Term):
            if _exactly(a, sign, b) != holds:
                raise TooNear(f"{a} {sign} {b}")
            return []  # about sizes and indices
        return [relation(self.out, term(a), sign, term(b), holds=holds)]

    def minor(self, M: list[list[Any]], *, holds: bool) -> Found:
        """A rank above 1, as a minor that is not 0."""
        if holds:
            raise Untranslatable("matrix_rank: only that a rank is above 1 is written")
        self.left_out.append("a rank above one is stated as a minor of order two that is not 0")
        for (r, s), (j, k) in itertools.product(
            itertools.combinations(M, 2), itertools.combinations(range(len(M[0])), 2)
        ):
            value = term(r[j]) * term(s[k]) - term(r[k]) * term(s[j])
            if value.exact:
                text, proof = relation(self.out, value, "==", constant(0), holds=False)
                return [(text, proof)]
        raise TooNear("no minor of order two is certainly not 0")


def term(x: Any) -> Term:
    return x if isinstance(x, Term) else constant(x)


def each(f: Callable[[Any], Any], x: Any) -> Any:
    return [each(f, y) for y in x] if isinstance(x, list) else f(x)


def both(f: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    if isinstance(x, list) and isinstance(y, list):
        return [both(f, a, b) for a, b in zip(x, y, strict=True)]
    if isinstance(x, list):
        return [both(f, a, y) for a in x]
    return [both(f, x, b) for b in y] if isinstance(y, list) else f(x, y)


def absolute(x: Any) -> Any:
    if not isinstance(x, Term):
        return abs(x)
    return Term(f"(Rabs {x.coq})", abs(x.ball), None if x.exact is None else abs(x.exact))


def add(values: Sequence[Any]) -> Any:
    """A sum without its zeros."""
    kept = [v for v in values if isinstance(v, Term) or v]
    return functools.reduce(functools.partial(arithmetic, ast.Add), kept) if kept else 0


def arithmetic(op: type, x: Any, y: Any) -> Any:
    if not isinstance(x, Term) and not isinstance(y, Term):
        x, y = Fraction(x), Fraction(y)
        if op is ast.Pow:
            return Fraction(x ** int(y))
        return OPERATIONS[op](x, y)
    if op is ast.Pow:
        k = y.exact if isinstance(y, Term) else Fraction(y)
        if k is None or k.denominator != 1:
            raise Untranslatable("a power that is no whole number is not written")
        return term(x) ** int(k)
    if op is ast.Mult and (x in (0, 1) if not isinstance(x, Term) else False):
        return y if x == 1 else 0
    if op is ast.Mult and (y in (0, 1) if not isinstance(y, Term) else False):
        return x if y == 1 else 0
    a, b = term(x), term(y)
    return OPERATIONS[op](a, b)


def _exactly(a: Any, sign: str, b: Any) -> bool:
    if isinstance(a, list):
        return all(_exactly(x, sign, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    x, y = (v.exact if isinstance(v, Term) else Fraction(v) for v in (a, b))
    if x is None or y is None:
        raise Untranslatable("a case depends on a number that is not rational")
    return {"<=": x <= y, "<": x < y, ">=": x >= y, ">": x > y, "==": x == y}[sign]


def statement(content: Mapping[str, Any], bits: int) -> tuple[Writer, Found, list[str]]:
    """The lines of a file for a statement with data of its own, what it states and how, what is left out."""
    reader = Reader(content, bits)
    found: Found = []
    for text in reader.statement.given:
        found += reader.shown(ast.parse(text, mode="eval").body, {}, holds=True)
    claim = ast.parse(reader.statement.claim.strip(), mode="eval").body
    found += reader.shown(claim, {}, holds=content["kind"] != "violates")
    reader.left_out += [f"as in the certificate, {text}" for text in reader.statement.relies]
    return reader.out, list(dict.fromkeys(found)), reader.left_out
