"""Certificates as Coq theorems: a self-contained file that states the instance and proves it by computation.

`to_coq` reads a certificate and writes the text of a .v file that needs Coq and coq-interval alone. The file has
softmax, the layers and the norms over the reals, the exact data, and what the certificate claims (or its negation,
for the kind "violates") with a proof: `interval` encloses every number that is not rational, layer by
layer, and the enclosures decide. Balls choose the enclosures here and Coq proves them, so nothing here is believed.
What cannot be written is refused with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from rankmath.arithmetic.balls import ball, precision
from rankmath.certificates.coq_terms import (
    BITS,
    PREAMBLE,
    Term,
    Untranslatable,
    Writer,
    bounds,
    constant,
    exact,
    literal,
    relation,
)

MOST_ENTRIES = 4096  # of all layers' tokens and attention together: Coq's time grows with it

Matrix: TypeAlias = list[list[Fraction]]
Found: TypeAlias = list[tuple[str, str]]  # statements and their proofs


class Layers:
    """The layers of a certificate, their tokens enclosed one after the other."""

    def __init__(self, data: Mapping[str, Any], out: Writer) -> None:
        self.out = out
        X = exact(data["X"], "X")
        self.n, self.d, self.L = len(X), len(X[0]), len(data["layers"])
        self.H = [len(layer["heads"]) for layer in data["layers"]]
        self.d_qk = exact(data["d_qk"], "d_qk")
        self.skip = exact(data.get("skip", 0), "skip")
        if data.get("layernorm", "none") != "none":
            raise Untranslatable("layernorm: only 'none' is written; the sphere's is not")
        if any(set(layer) - {"heads", "bias"} for layer in data["layers"]):
            raise Untranslatable("layers: a map after the attention is not written")
        mask = data.get("mask", "complete")
        seen = [[Fraction(1)] * self.n for _ in X] if mask == "complete" else exact(mask, "mask")
        if self.n * (self.n + self.d) * self.L * max(self.H) > MOST_ENTRIES:
            raise Untranslatable(f"too large: at most {MOST_ENTRIES} entries of tokens and attention are written")
        out.define("mask", f"rows {literal(seen)}")
        out.define("X_0", f"rows {literal(X)}")
        self.values: list[list[list[Term]]] = [
            [[Term(f"X_0 {i}%nat {a}%nat", ball(x)) for a, x in enumerate(row)] for i, row in enumerate(X)]
        ]
        self.W: dict[tuple[int, int], tuple[str, Matrix]] = {}
        self.M: dict[tuple[int, int], tuple[str, Matrix]] = {}
        self.P: dict[tuple[int, int, int], list[Term]] = {}
        for index, layer in enumerate(data["layers"]):
            self._layer(index, layer, seen)

    def _layer(self, index: int, layer: Mapping[str, Any], seen: Matrix) -> None:
        out, n, d = self.out, self.n, self.d
        bias = exact(layer.get("bias", [0] * d), "bias")
        x, here = self.values[-1], f"X_{index}"
        y = [[ball(self.skip) * x[i][b].ball + ball(bias[b]) for b in range(d)] for i in range(n)]
        uses = [frozenset().union(*(t.uses for t in row)) for row in x]
        first = ["X_0"] if index == 0 else []
        sums, opened = [], []
        for h, given in enumerate(layer["heads"]):
            at = f"{index}_{h}"
            W, M = exact(given["W"], "W"), exact(given["W_QK"], "W_QK")
            key = exact(given.get("key_bias", [0] * d), "key_bias")
            self.W[index, h] = out.define(f"W_{at}", f"rows {literal(W)}"), W
            self.M[index, h] = out.define(f"M_{at}", f"rows {literal(M)}"), M
            out.define(f"k_{at}", f"entries {literal(key)}")
            logits = f"logit {d} {constant(self.d_qk).coq} M_{at} k_{at} {here}"
            out.lines.append(f"Definition L_{at} (i j : nat) : R := {logits} i j.")
            out.lines.append(f"Definition P_{at} (i j : nat) : R := softmax {n} (mask i) (L_{at} i) j.")
            sums.append(f"mix {n} {d} (P_{at} i) {here} W_{at} b")
            opened.append(f"W_{at}")
            for i in range(n):
                L = [
                    out.enclose(
                        f"L_{at} {i}%nat {j}%nat",
                        self._logit(x[i], x[j], M, key),
                        uses[i] | uses[j],
                        opened=[f"L_{at}", f"M_{at}", f"k_{at}", *first],
                    )
                    for j in range(n)
                ]
                weight = [ball(m) * value.ball.exp() for m, value in zip(seen[i], L, strict=True)]
                known = frozenset().union(*(t.uses for t in L))
                P = [
                    out.enclose(
                        f"P_{at} {i}%nat {j}%nat", w / sum(weight, arb(0)), known, opened=[f"P_{at}", "mask"]
                    )
                    for j, w in enumerate(weight)
                ]
                self.P[index, h, i] = P
                mixed = [sum((P[j].ball * x[j][a].ball for j in range(n)), arb(0)) for a in range(d)]
                for b in range(d):
                    y[i][b] += sum((mixed[a] * ball(W[a][b]) for a in range(d)), arb(0))
        out.define(f"b_{index}", f"entries {literal(bias)}")
        out.lines.append(
            f"Definition X_{index + 1} (i b : nat) : R :=\n"
            f"  {constant(self.skip).coq} * {here} i b + ({' + '.join(sums)}) + b_{index} b."
        )
        opened += [f"b_{index}", f"X_{index + 1}", *first]
        tokens = frozenset().union(*uses)
        rows = []
        for i in range(n):
            seen_by = frozenset().union(*(t.uses for h in range(len(sums)) for t in self.P[index, h, i]))
            rows.append(
                [
                    out.enclose(f"X_{index + 1} {i}%nat {b}%nat", y[i][b], tokens | seen_by, opened=opened)
                    for b in range(d)
                ]
            )
        self.values.append(rows)

    def _logit(self, query: list[Term], key: list[Term], M: Matrix, bias: list[Fraction]) -> arb:
        d = self.d
        value = sum((query[a].ball * ball(M[a][b]) * key[b].ball for a in range(d) for b in range(d)), arb(0))
        value += sum((ball(bias[a]) * key[a].ball for a in range(d)), arb(0))
        return value / ball(self.d_qk).sqrt()

    def diameter(self, index: int, p: str) -> Term:
        norm = {"1": "l1", "2": "l2", "inf": "linf"}[p]
        entries = self.values[index]
        uses = frozenset().union(*(t.uses for row in entries for t in row))
        gaps = [
            [abs(u.ball - v.ball) for u, v in zip(r, s, strict=True)]
            for i, r in enumerate(entries)
            for s in entries[:i]
        ]
        size = {"1": lambda g: sum(g, arb(0)), "2": _euclid, "inf": _most}[p]
        coq = f"(diam {self.n} ({norm} {self.d}) X_{index})"
        return self.out.enclose(
            coq, _most([size(g) for g in gaps] or [arb(0)]), uses, opened=["X_0"] if index == 0 else []
        )

    def norm(self, name: str, value: Matrix, kind: str) -> Term:
        absolute = [[abs(x) for x in row] for row in value]
        one, inf = max(sum(c) for c in zip(*absolute, strict=True)), max(sum(r) for r in absolute)
        sizes: dict[str, tuple[str, arb]] = {
            "1": ("norm1", ball(one)),
            "inf": ("norminf", ball(inf)),
            "max": ("normmax", ball(max(max(r) for r in absolute))),
            "frobenius": ("frob", ball(sum(x * x for r in value for x in r)).sqrt()),
            "composite": ("comp", ball(one * inf).sqrt()),
        }
        if kind == "2":
            return self._spectral(name, value)
        if kind not in sizes:
            raise Untranslatable(f"norm(…, {kind}) is not written")
        function, size = sizes[kind]
        if kind == "composite":
            root = self.norm(name, value, "1") * self.norm(name, value, "inf")
            return Term(f"(sqrt {root.coq})", size, root.uses)
        return self.out.enclose(f"({function} {self.d} {self.d} {name})", size, frozenset(), opened=[name])

    def _spectral(self, name: str, value: Matrix) -> Term:
        """The spectral norm, from below by a vector and from above by a sum of squares."""
        n = len(value)
        vectors, sizes, _ = np.linalg.svd(np.array(value, dtype=float))
        v = [Fraction(float(x)).limit_denominator(10**9) for x in vectors[:, 0]]
        image = [sum(v[a] * value[a][b] for a in range(n)) for b in range(n)]
        high = Fraction(float(sizes[0])) * (1 + Fraction(1, 2**40)) + Fraction(1, 2**60)
        gram = [[sum(x * y for x, y in zip(r, s, strict=True)) for s in value] for r in value]
        squares = sum_of_squares([[high**2 * (i == j) - gram[i][j] for j in range(n)] for i in range(n)])
        low, _ = bounds(ball(sum(x * x for x in image)).sqrt() / ball(sum(x * x for x in v)).sqrt())
        forms = [" + ".join(f"{constant(c).coq} * u {a}%nat" for a, c in enumerate(row)) for _, row in squares]
        terms = " + ".join(f"{constant(p).coq} * ({form}) ^ 2" for (p, _), form in zip(squares, forms, strict=True))
        least, most, vector = constant(low).coq, constant(high).coq, literal(v)
        proof = (
            f"  enough (B : {least} <= s_{name} <= {most}) by lra.\n"
            f"  apply (spectral_bounds {n} {name} _ {least} {most} (entries {vector}) is_s_{name}); [lra| | |].\n"
            f"  - intro u. cbv [{name}]. unfolded. apply Rminus_le.\n"
            f"    match goal with |- ?e <= 0 => replace e with (- ({terms})) by field end. squares.\n"
            f"  - unfolded. num.\n  - cbv [{name}]. unfolded. less."
        )
        value_ball = ball(low).union(ball(high))
        return self.out.assume(f"s_{name}", f"spectral {n} {name} s_{name}", value_ball, proof)

    def mu(self, index: int) -> Term:
        entries = self.values[index]
        uses = frozenset().union(*(t.uses for row in entries for t in row))
        means = [sum((row[a].ball for row in entries), arb(0)) / self.n for a in range(self.d)]
        size = _euclid([row[a].ball - means[a] for row in entries for a in range(self.d)])
        opened = ["X_0"] if index == 0 else []
        return self.out.enclose(f"(mu {self.n} {self.d} X_{index})", size, uses, opened=opened)


def sum_of_squares(form: Matrix) -> list[tuple[Fraction, list[Fraction]]]:
    """A form as pivots times squares of linear forms; refused where a pivot is negative.

    Examples
    --------
    >>> sum_of_squares([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)]])
    [(Fraction(2, 1), [Fraction(1, 1), Fraction(1, 2)]), (Fraction(1, 2), [Fraction(0, 1), Fraction(1, 1)])]
    """
    n, rest, found = len(form), [list(row) for row in form], []
    for k in range(n):
        pivot = rest[k][k]
        if pivot <= 0:
            raise Untranslatable("a spectral norm is too near to its bound for exact pivots")
        row = [Fraction(0)] * k + [rest[k][j] / pivot for j in range(k, n)]
        found.append((pivot, row))
        rest = [[rest[i][j] - pivot * row[i] * row[j] for j in range(n)] for i in range(n)]
    return found


def _most(values: Sequence[arb]) -> arb:
    value = values[0]
    for other in values[1:]:
        value = value.max(other)
    return value


def _euclid(gaps: Sequence[arb]) -> arb:
    return sum((g * g for g in gaps), arb(0)).sqrt()


SIGNS: dict[type, str] = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
SWITCHES = ("mask", "layernorm", "mlp", "skip", "bias", "key_bias")


class Claim:
    """A claim in the language of claims, for one network: its relations with their proofs."""

    def __init__(self, network: Layers) -> None:
        self.net, self.out = network, network.out
        self.left_out: list[str] = []

    def relations(self, node: ast.expr, at: dict[str, Any]) -> list[tuple[Term, str, Term]]:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return [r for value in values for r in self.relations(value, at)]
            case ast.Compare(left=left, ops=ops, comparators=rights):
                sides = [self.term(side, at) for side in (left, *rights)]
                return [(a, SIGNS[type(op)], b) for a, op, b in zip(sides, ops, sides[1:], strict=False)]
            case ast.Call(func=ast.Name(id="all_l"), args=[body]):
                return [r for index in range(self.net.L) for r in self.relations(body, {**at, "l": index})]
            case ast.Call(func=ast.Name(id="all_h"), args=[body]):
                return [r for h in range(self.net.H[at.get("l", 0)]) for r in self.relations(body, {**at, "h": h})]
            case ast.Call(func=ast.Name(id="all_p"), args=[body]):
                found = []
                for p in ("1", "2", "inf"):
                    try:
                        found += self.relations(body, {**at, "p": p})
                    except Untranslatable as why:
                        self.left_out.append(f"p = {p}: {why}")
                if not found:
                    raise Untranslatable("; ".join(self.left_out))
                return found
        raise Untranslatable(f"{ast.unparse(node)}: no relation that is written in Coq")

    def index(self, node: ast.expr, at: Mapping[str, Any]) -> int:
        value = {"L": self.net.L, "H": max(self.net.H), "n": self.net.n, "d": self.net.d, **at}
        match node:
            case ast.Constant(value=int(k)):
                return k
            case ast.Name(id=name) if isinstance(value.get(name), int):
                return int(value[name])
            case ast.BinOp(left=a, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Pow() | ast.Div() as op, right=b):
                x, y = self.index(a, at), self.index(b, at)
                if isinstance(op, ast.Pow) and 0 <= y <= 64:
                    return int(x**y)
                if isinstance(op, ast.Div) and y and x % y == 0:
                    return x // y
                whole = {ast.Add: x + y, ast.Sub: x - y, ast.Mult: x * y}
                if type(op) in whole:
                    return whole[type(op)]
        raise Untranslatable(f"{ast.unparse(node)}: no whole number")

    def word(self, node: ast.expr, at: Mapping[str, Any]) -> str:
        text = ast.unparse(node)
        return str(at.get(text, text))

    def matrix(self, node: ast.expr, at: Mapping[str, Any]) -> tuple[str, Matrix]:
        match node:
            case ast.Subscript(value=ast.Name(id="W" | "W_QK" as name), slice=ast.Tuple(elts=[layer, h])):
                found = self.net.W if name == "W" else self.net.M
                return found[self.index(layer, at), self.index(h, at)]
        raise Untranslatable(f"{ast.unparse(node)}: only W[l, h] and W_QK[l, h] are written as matrices")

    def term(self, node: ast.expr, at: dict[str, Any]) -> Term:
        match node:
            case ast.Constant(value=int() | float()):
                return constant(Fraction(ast.unparse(node)))
            case ast.Name(id=name) if isinstance(at.get(name), Term):
                return at[name]  # type: ignore[no-any-return]
            case ast.Name(id="d_qk" | "skip" as name):
                return constant(getattr(self.net, name))
            case ast.Name():
                return constant(self.index(node, at))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return constant(0) - self.term(inner, at)
            case ast.BinOp(left=a, op=ast.Pow(), right=b):
                if ast.unparse(b) in ("1 / 2", "0.5"):
                    return self.term(a, at).call("sqrt", lambda x: x.sqrt())
                return self.term(a, at) ** self.index(b, at)
            case ast.BinOp(left=a, op=op, right=b):
                x, y = self.term(a, at), self.term(b, at)
                if isinstance(op, ast.Add):
                    return x + y
                if isinstance(op, ast.Sub):
                    return x - y
                return x * y if isinstance(op, ast.Mult) else x / y
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, args, at)
        raise Untranslatable(f"{ast.unparse(node)} is not written in Coq")

    def call(self, name: str, args: list[ast.expr], at: dict[str, Any]) -> Term:
        over_l = [{**at, "l": index} for index in range(self.net.L)]
        over_h = [{**at, "h": h} for h in range(self.net.H[at.get("l", 0)])]
        match name, args:
            case "diameter", [ast.Subscript(value=ast.Name(id="X"), slice=where), p]:
                return self.net.diameter(self.index(where, at), self.word(p, at))
            case "mu", [ast.Subscript(value=ast.Name(id="X"), slice=where)]:
                return self.net.mu(self.index(where, at))
            case "norm", [M, kind]:
                return self.net.norm(*self.matrix(M, at), self.word(kind, at))
            case "operator_norm", [M, p]:
                other = "max" if self.net.d == 1 else "2"
                return self.net.norm(*self.matrix(M, at), {"1": "inf", "inf": "1"}.get(self.word(p, at), other))
            case "form_norm", [M, p]:
                form = "max" if self.net.d == 1 else {"1": "max", "2": "2"}.get(self.word(p, at), "")
                if not form:
                    raise Untranslatable(f"form_norm(…, {self.word(p, at)}) is not written for d > 1")
                return self.net.norm(*self.matrix(M, at), form)
            case (("sum_h" | "sum_l" | "prod_h" | "prod_l"), [body]):
                terms = [self.term(body, here) for here in (over_h if name.endswith("h") else over_l)]
                result = terms[0]
                for term in terms[1:]:
                    result = result + term if name.startswith("sum") else result * term
                return result
            case (("max_h" | "max_l"), [body]):
                return self.out.largest([self.term(body, here) for here in (over_h if name == "max_h" else over_l)])
            case "max", several:
                return self.out.largest([self.term(one, at) for one in several])
            case "recursion", [ast.Name(id=letter), start, body]:
                value = self.term(start, at)
                for here in over_l:
                    step = self.term(body, {**here, letter: value})
                    value = self.out.enclose(step.coq, step.ball, step.uses)
                return value
            case (("sqrt" | "exp" | "tanh"), [x]):
                return self.term(x, at).call(name, lambda b: getattr(b, name)())
            case "log", [x]:
                return self.term(x, at).call("ln", lambda b: b.log())
            case "abs", [x]:
                return self.term(x, at).call("Rabs", abs)
        raise Untranslatable(f"{name}(…) is not written in Coq")


def _network(content: Mapping[str, Any], out: Writer) -> tuple[Found, list[str]]:
    claim = Claim(Layers(content["data"], out))
    holds = content["kind"] == "holds"
    found = []
    for text in content.get("given", []):
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id in SWITCHES:
            continue  # a property of the data that the file shows
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            if claim.index(node.left, {}) != claim.index(node.comparators[0], {}):
                raise Untranslatable(f"{text} is not so")
            continue
        found += [relation(*r, holds=True) for r in claim.relations(node, {})]
    relations = claim.relations(ast.parse(content["claim"], mode="eval").body, {})
    if holds:
        found += [relation(*r, holds=True) for r in relations]
    else:
        for r in relations:
            try:
                found.append(relation(*r, holds=False))
                break
            except Untranslatable:
                continue
        else:
            raise Untranslatable("no relation of the claim is certainly violated")
    return found, claim.left_out


# ---------- statements about vectors and matrices ----------
def _softmax_terms(name: str, weights: list[Fraction], logits: str, values: list[Fraction]) -> list[Term]:
    """Entries of softmax(n, weights, logits) as terms."""
    n = len(weights)
    e = [ball(w) * ball(x).exp() for w, x in zip(weights, values, strict=True)]
    return [Term(f"(softmax {n} {name} {logits} {j}%nat)", e[j] / sum(e, arb(0))) for j in range(n)]


def _tv(content: Mapping[str, Any], out: Writer) -> tuple[Found, list[str]]:
    data = content["data"]
    g, logits = exact(data["g"], "g"), exact(data.get("logits", [0] * len(data["g"])), "logits")
    weights = exact(data.get("weights", [1] * len(g)), "weights")
    n = len(g)
    for name, value in (("w", weights), ("c", logits), ("g", g)):
        out.define(name, f"entries {literal(value)}")
    q = _softmax_terms("w", weights, "c", logits)
    p = _softmax_terms("w", weights, "(fun j => c j + g j)", [a + b for a, b in zip(logits, g, strict=True)])
    value = sum((abs(a.ball - b.ball) for a, b in zip(p, q, strict=True)), arb(0)) / 2
    left = out.enclose(
        f"(sum {n} (fun j => Rabs (softmax {n} w (fun j => c j + g j) j - softmax {n} w c j)) / 2)",
        value,
        frozenset(),
        opened=["w", "c", "g"],
    )
    width = constant(max(g) - min(g)) / constant(4)
    return [relation(left, "<=", width.call("tanh", lambda b: b.tanh()), holds=content["kind"] == "holds")], []


def _sandwich(content: Mapping[str, Any], out: Writer) -> tuple[Found, list[str]]:
    data, holds = content["data"], content["kind"] == "holds"
    E = exact(data["E"], "E")
    m = len(E[0])
    logits, weights = exact(data.get("logits", [0] * m), "logits"), exact(data.get("weights", [1] * m), "weights")
    out.define("w", f"entries {literal(weights)}")
    out.define("c", f"entries {literal(logits)}")
    out.define("E", f"rows {literal(E)}")
    opened = ["w", "c", "E"]
    q = [out.enclose(t.coq, t.ball, frozenset(), opened=opened) for t in _softmax_terms("w", weights, "c", logits)]
    found = []
    for i, row in enumerate(E):
        D = max(row) - min(row)
        if not D:
            continue
        if holds:
            D_term = constant(D)
            found.append(relation(D_term.call("exp", lambda b: b.exp()), "<", constant(1 + 2 * D), holds=True))
        shifted = f"(fun j => c j + E {i}%nat j)"
        P = _softmax_terms("w", weights, shifted, [a + b for a, b in zip(logits, row, strict=True)])
        for j in range(m):
            entry = out.enclose(P[j].coq, P[j].ball, frozenset(), opened=opened)
            low, high = constant(1 - D) * q[j], constant(1 + 2 * D) * q[j]
            if holds:
                found += [relation(low, "<=", entry, holds=True), relation(entry, "<=", high, holds=True)]
            elif entry.ball > high.ball:
                return [relation(entry, "<=", high, holds=False)], []
            elif entry.ball < low.ball:
                return [relation(low, "<=", entry, holds=False)], []
    if not found:
        raise Untranslatable("no entry is certainly outside its bounds")
    return found, []


def _not_a_norm(content: Mapping[str, Any], out: Writer) -> tuple[Found, list[str]]:
    A, B = exact(content["data"]["A"], "A"), exact(content["data"]["B"], "B")
    n, d = len(A), len(A[0])
    out.define("A", f"rows {literal(A)}")
    out.define("B", f"rows {literal(B)}")
    total = [[a + b for a, b in zip(r, s, strict=True)] for r, s in zip(A, B, strict=True)]

    def comp(name: str, value: Matrix) -> Term:
        absolute = [[abs(x) for x in row] for row in value]
        one, inf = max(sum(c) for c in zip(*absolute, strict=True)), max(sum(r) for r in absolute)
        pair = [
            out.enclose(f"({f} {n} {d} {name})", ball(v), frozenset(), opened=["A", "B"])
            for f, v in (("norm1", one), ("norminf", inf))
        ]
        product = pair[0] * pair[1]
        return Term(f"(sqrt {product.coq})", ball(one * inf).sqrt(), product.uses)

    sides = comp("(fun i j => A i j + B i j)", total), comp("A", A) + comp("B", B)
    return [relation(sides[0], "<=", sides[1], holds=content["kind"] == "holds")], []


def _closure(content: Mapping[str, Any], out: Writer) -> tuple[Found, list[str]]:
    factors, product = exact(content["data"]["factors"], "factors"), exact(content["data"]["product"], "product")
    if content["kind"] != "holds":
        raise Untranslatable("seed:closure: only certificates that it holds are written")
    names = [out.define(f"F_{k}", f"rows {literal(F)}") for k, F in enumerate(factors)]
    out.define("product", f"rows {literal(product)}")
    text = f"{names[0]} i j"
    for k, name in enumerate(names[1:], 1):
        inner = text.replace(" i j", " i a", 1) if k == 1 else f"Q_{k - 1} i a"
        out.lines.append(
            f"Definition Q_{k} (i j : nat) : R := sum {len(factors[k])} (fun a => {inner} * {name} a j)."
        )
    last = f"Q_{len(names) - 1}" if len(names) > 1 else names[0]
    opened = " ".join([*names, *(f"Q_{k}" for k in range(1, len(names))), "product"])
    proof = f"cbv [{opened}]. unfolded. repeat split; lra."
    found = []
    for i, row in enumerate(product):
        entries = " /\\ ".join(
            f"(0 <= {last} {i}%nat {j}%nat /\\ {last} {i}%nat {j}%nat = product {i}%nat {j}%nat)"
            for j in range(len(row))
        )
        found.append((f"({entries} /\\ sum {len(row)} ({last} {i}%nat) = 1)", proof))
    return found, []


FAMILIES: dict[str, Callable[[Mapping[str, Any], Writer], tuple[Found, list[str]]]] = {
    "own:tv": _tv,
    "dong2021:A.3": _sandwich,
    "dong2021v1:A.3": _sandwich,
    "dong2021:norm": _not_a_norm,
    "seed:closure": _closure,
}


def to_coq(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The text of a .v file for a certificate, and what of the claim it leaves out, in words.

    Examples
    --------
    >>> content = {"id": "rm-0", "statement": "own:tv", "kind": "holds", "data": {"g": [1, 0, 0]}}
    >>> text, left_out = to_coq(content)
    >>> "Theorem certified" in text, left_out
    (True, [])
    """
    key, kind = content.get("statement", ""), content.get("kind", "")
    if kind not in ("holds", "violates"):
        raise Untranslatable(f"kind: {kind!r} given; certificates of the kinds 'holds' and 'violates' are written")
    out = Writer()
    with precision(2 * BITS):
        if key in FAMILIES:
            found, left_out = FAMILIES[key](content, out)
        elif {"layers", "d_qk"} <= set(content.get("data", {})) and "claim" in content:
            found, left_out = _network(content, out)
        else:
            raise Untranslatable(f"statement {key!r} is not written in Coq")
    said = [f"{key}: {content.get('claim', '')}", *(f"given {text}" for text in content.get("given", []))]
    said += [f"left out: {text}" for text in left_out]
    header = "\n".join(f"   {line}".rstrip() for line in said).replace("*)", "* )").replace("(*", "( *")
    statement = " /\\\n  ".join(text for text, _ in found)
    proofs = "\n".join(f"  {'- ' if len(found) > 1 else ''}{proof}" for _, proof in found)
    split = f"  refine ({_conjunction(len(found))}).\n" if len(found) > 1 else ""
    theorem = f"Theorem certified :\n  {statement}.\nProof.\n{split}{proofs}\nQed.\n"
    title = f"(* Certificate {content.get('id', '')} ({kind}), as a theorem about real numbers.\n{header} *)"
    parts = [title, PREAMBLE, "(* ---------- the instance ---------- *)", "Section Instance.", *out.lines, ""]
    return "\n".join(
        [*parts, "(* ---------- what is certified ---------- *)", theorem, "End Instance.\n"]
    ), left_out


def _conjunction(count: int) -> str:
    return "_" if count == 1 else f"conj _ {'_' if count == 2 else '(' + _conjunction(count - 1) + ')'}"
