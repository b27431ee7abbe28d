"""A claim in the language of claims in Coq, for one network: its relations as statements, with their proofs."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from rankmath.arithmetic.balls import ball
from rankmath.certificates.coq_network import Network, euclid, largest, product, softmax, total, transpose
from rankmath.certificates.coq_statement import Reader
from rankmath.certificates.coq_terms import SIGNS, Term, TooNear, Untranslatable, Writer, constant, fold, relation
from rankmath.definitions.entries import ENTRIES

SWITCHES = ("mask", "layernorm", "mlp", "bias", "query_bias")


class Claim:
    """A claim in the language of claims, for one network: its relations with their proofs."""

    def __init__(self, network: Network) -> None:
        self.net, self.out = network, network.out
        self.left_out: list[str] = []
        self.extra: dict[str, str] = {}

    # -- the graph of the mask -----------------------------------------------------------------------------------
    def walks(self, k: int) -> list[list[bool]]:
        n, E = self.net.n, self.net.edges
        reach = [[i == j for j in range(n)] for i in range(n)]
        for _ in range(k):
            reach = [[any(E[i][m] and reach[m][j] for m in range(n)) for j in range(n)] for i in range(n)]
        return reach

    def radius(self) -> int:
        n = self.net.n
        if not all(self.net.edges[i][i] for i in range(n)):
            raise Untranslatable("r under a mask in which some token does not see itself is not written in Coq")
        for k in range(1, n + 1):
            if any(all(row[c] for row in self.walks(k)) for c in range(n)):
                self.boolean(f"centre {n} q_mask {k} = true")
                if k > 1:
                    self.boolean(f"centre {n} q_mask {k - 1} = false")
                return k
        return 1

    def boolean(self, statement: str) -> None:
        self.extra[f"({statement})"] = "vm_compute; reflexivity."

    # -- relations -------------------------------------------------------------------------------------------------
    def relations(self, node: ast.expr, at: dict[str, Any]) -> list[tuple[Term, str, Term]]:
        n, d = self.net.n, self.net.d
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return [r for value in values for r in self.relations(value, at)]
            case ast.Compare(left=left, ops=[ast.LtE()], comparators=[ast.Name(id="x_star")]):
                x = self.term(left, at)  # x* > 0 is where e^x = 1 + 2x: below it e^x <= 1 + 2x
                return [(x.call("exp", lambda b: b.exp()), "<=", constant(1) + constant(2) * x)]
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
                    except TooNear:
                        raise
                    except Untranslatable as why:
                        self.left_out.append(f"p = {p}: {why}")
                if not found:
                    raise Untranslatable("; ".join(self.left_out))
                return found
            case ast.Call(func=ast.Name(id="self_loops")):
                self.boolean(f"self_loops {n} q_mask = true")
                return []
            case ast.Call(func=ast.Name(id="quasi_strongly_connected")):
                self.radius()
                return []
            case ast.Call(func=ast.Name(id="strongly_connected")):
                self.boolean(f"strongly {n} q_mask = true")
                return []
            case ast.Call(func=ast.Name(id="orthogonal_values")):
                for name in (f"W_{index}_{h}" for index in range(self.net.L) for h in range(self.net.H[index])):
                    self.boolean(f"orthogonal {d} q_{name} = true")
                return []
            case ast.Call(func=ast.Name(id="disjoint_blocks")):
                Ws = "; ".join(f"q_W_{index}_{h}" for index in range(self.net.L) for h in range(self.net.H[index]))
                bs = "; ".join(f"q_b_{index}" for index in range(self.net.L))
                self.boolean(f"disjoint {n} {d} [{Ws}] [{bs}] q_X_0 = true")
                return []
        raise Untranslatable(f"{ast.unparse(node)}: no relation that is written in Coq")

    def number(self, node: ast.expr, at: Mapping[str, Any]) -> Fraction:
        """A rational number made of the sizes."""
        value = {"L": self.net.L, "H": max(self.net.H), "n": self.net.n, "d": self.net.d, **at}
        match node:
            case ast.Constant(value=int() | float()):
                return Fraction(ast.unparse(node))
            case ast.Name(id="r"):
                return Fraction(self.radius())
            case ast.Name(id="K"):
                return Fraction(-(-self.net.L // self.radius()))
            case ast.Name(id="d_qk" | "skip" as name):
                return Fraction(getattr(self.net, name))
            case ast.Name(id=name) if isinstance(value.get(name), int):
                return Fraction(value[name])
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.number(inner, at)
            case ast.Call(func=ast.Name(id="floor"), args=[inner]):
                return Fraction(math.floor(self.number(inner, at)))
            case ast.Call(func=ast.Name(id="is_last"), args=[inner]):
                return Fraction(self.number(inner, at) == self.net.n - 1)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=several):
                return (min if name == "min" else max)(self.number(one, at) for one in several)
            case ast.BinOp(left=a, op=op, right=b):
                x, y = self.number(a, at), self.number(b, at)
                if isinstance(op, ast.Pow) and y.denominator == 1 and abs(y) <= 64:
                    return Fraction(x ** int(y))
                whole = {ast.Add: x + y, ast.Sub: x - y, ast.Mult: x * y, ast.Div: x / y if y else None}
                if (found := whole.get(type(op))) is not None:
                    return found
        raise Untranslatable(f"{ast.unparse(node)}: no number made of the sizes")

    def index(self, node: ast.expr, at: Mapping[str, Any]) -> int:
        value = self.number(node, at)
        if value.denominator != 1:
            raise Untranslatable(f"{ast.unparse(node)}: no whole number")
        return int(value)

    def word(self, node: ast.expr, at: Mapping[str, Any]) -> str:
        text = ast.unparse(node)
        return str(at.get(text, text))

    def matrix(self, node: ast.expr, at: Mapping[str, Any]) -> str:
        match node:
            case ast.Subscript(value=ast.Name(id="W" | "W_QK" | "P" as name), slice=ast.Tuple(elts=[layer, h])):
                return f"{name.replace('W_QK', 'M')}_{self.index(layer, at)}_{self.index(h, at)}"
            case ast.Subscript(value=ast.Name(id="X"), slice=where):
                return f"X_{self.index(where, at)}"
        raise Untranslatable(f"{ast.unparse(node)}: no matrix that is written")

    def head(self, node: ast.expr, at: Mapping[str, Any]) -> tuple[int, int]:
        match node:
            case ast.Subscript(value=ast.Name(id="P"), slice=ast.Tuple(elts=[layer, h])):
                return self.index(layer, at), self.index(h, at)
        raise Untranslatable(f"{ast.unparse(node)}: P[l, h] is needed")

    def term(self, node: ast.expr, at: dict[str, Any]) -> Term:
        match node:
            case ast.Name(id=name) if isinstance(at.get(name), Term):
                return at[name]  # type: ignore[no-any-return]
            case ast.Name(id="in_degree"):
                sizes = [total([ball(x) for x in row]) for row in self.net.edges]
                return self.out.number(f"(maxf {self.net.n} (fun i => sum {self.net.n} (mask i)))", largest(sizes))
        try:
            return constant(self.number(node, at))
        except Untranslatable:
            pass
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return constant(0) - self.term(inner, at)
            case ast.BinOp(left=a, op=ast.Pow(), right=b):
                return self.power(self.term(a, at), b, at)
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

    def power(self, base: Term, exponent: ast.expr, at: dict[str, Any]) -> Term:
        try:
            k = self.number(exponent, at)
        except Untranslatable:
            y = self.term(exponent, at)
            return Term(f"(Rpower {base.coq} {y.coq})", (base.ball.log() * y.ball).exp())
        if k.denominator == 1:
            return base ** int(k)
        if k.denominator == 2:
            return base.call("sqrt", lambda b: b.sqrt()) ** int(2 * k)
        return Term(f"(Rpower {base.coq} {constant(k).coq})", (base.ball.log() * ball(k)).exp())

    def call(self, name: str, args: list[ast.expr], at: dict[str, Any]) -> Term:
        net, n, d = self.net, self.net.n, self.net.d
        over_l = [{**at, "l": index} for index in range(net.L)]
        over_h = [{**at, "h": h} for h in range(net.H[at.get("l", 0)])]
        match name, args:
            case "diameter", [X, p]:
                return net.diameter(self.matrix(X, at), self.word(p, at))
            case "mu", [X]:
                return net.mu(self.matrix(X, at))
            case "residual", [X, p]:
                return net.residual(int(self.matrix(X, at).removeprefix("X_")), self.word(p, at))
            case "norm", [M, kind]:
                return net.norm(self.matrix(M, at), self.word(kind, at))
            case "operator_norm", [M, p]:
                other = "max" if d == 1 else "2"
                return net.norm(self.matrix(M, at), {"1": "inf", "inf": "1"}.get(self.word(p, at), other))
            case "form_norm", [M, p]:
                form = "max" if d == 1 else {"1": "max", "2": "2"}.get(self.word(p, at), "")
                return net.norm(self.matrix(M, at), form) if form else self.form_inf(self.matrix(M, at))
            case (("delta" | "gamma" | "q_max" | "q_min"), [P, *rest]):
                return self.centred(name, *self.head(P, at), self.word(rest[0], at) if rest else "composite")
            case "epsilon", [P]:
                name = self.matrix(P, at)
                values = [net.balls[name][i][j] for i in range(n) for j in range(n) if net.edges[i][j]]
                return self.out.number(f"(least (edges {n} q_mask) {name})", _least(values))
            case "logit_range", [P]:
                return self.logit_range(*self.head(P, at))
            case "product_norm", [p]:
                return net.norm(self.chain([f"W_{index}_0" for index in range(net.L)], "V", d), self.word(p, at))
            case "prod_k", [ast.Call(func=ast.Name(id="contraction"))]:
                return self.contractions()
            case "height", []:
                pole, v = self.pole(0)
                value = _least([total([x * y for x, y in zip(row, v, strict=True)]) for row in net.balls["X_0"]])
                return self.out.number(f"(minf {n - 1} (fun i => dot {d} (X_0 i) {pole}))", value)
            case "section", [X]:
                return self.section(int(self.matrix(X, at).removeprefix("X_")))
            case "cosine", [X]:
                return self.cosine(self.matrix(X, at))
            case "longest", [X]:
                name = self.matrix(X, at)
                return self.out.number(
                    f"(maxf {n} (fun i => l2 {d} ({name} i)))", largest([euclid(r) for r in net.balls[name]])
                )
            case "last_share", [k]:
                j = self.index(k, at)
                return Term(f"(P_0_0 {n - 1}%nat {j}%nat)", net.balls["P_0_0"][n - 1][j])
            case (("repeat_gap" | "repeat_reach"), [X]):
                return self.repeat(name, int(self.matrix(X, at).removeprefix("X_")))
            case "repeat_share", [P]:
                layer, h = self.head(P, at)
                again, a = self.again(layer, h)
                return Term(f"({again} {n}%nat)", a[n])
            case (("sum_h" | "sum_l" | "prod_h" | "prod_l"), [body]):
                terms = [self.term(body, here) for here in (over_h if name.endswith("h") else over_l)]
                result = terms[0]
                for term in terms[1:]:
                    result = result + term if name.startswith("sum") else result * term
                return result
            case (("max_h" | "max_l" | "min_l" | "min_h"), [body]):
                terms = [self.term(body, here) for here in (over_h if name.endswith("h") else over_l)]
                found = fold("Rmax" if name.startswith("max") else "Rmin", terms)
                return found if len(terms) == 1 else self.out.number(found.coq, found.ball)
            case (("max" | "min"), several):
                return fold("Rmax" if name == "max" else "Rmin", [self.term(one, at) for one in several])
            case "recursion", [ast.Name(id=letter), start, body]:
                reached = self.term(start, at)
                for here in over_l:
                    step = self.term(body, {**here, letter: reached})
                    reached = self.out.number(step.coq, step.ball)
                return reached
            case (("sqrt" | "exp" | "tanh"), [x]):
                return self.term(x, at).call(name, lambda b: getattr(b, name)())
            case "expc", [x]:
                return self.term(x, at).call("expc", lambda b: (b.exp() - 1) / b)
            case "tanhc", [x]:
                return self.term(x, at).call("tanhc", lambda b: b.tanh() / b)
            case "log", [x]:
                return self.term(x, at).call("ln", lambda b: b.log())
            case "abs", [x]:
                return self.term(x, at).call("Rabs", abs)
        return self.by_text(name, args, at)

    # -- what has no function of its own in proofs/coq -------------------------------------------------------------
    def by_text(self, name: str, args: list[ast.expr], at: dict[str, Any]) -> Term:
        """A quantity as its definition says, unrolled over the entries of its arrays."""
        if name not in ENTRIES or ENTRIES[name].truth:
            raise Untranslatable(f"{name}(…) is not written in Coq")
        values: list[Any] = []
        for parameter, node in zip(ENTRIES[name].parameters, args, strict=True):
            if parameter.kind == "word":
                word = self.word(node, at)
                values.append(int(word) if word.isdigit() else word)
            elif parameter.by_place:
                raise Untranslatable(f"{name}(…) is not written in Coq: it speaks of more than an array's entries")
            elif parameter.kind in ("number", "layer"):
                values.append(self.index(node, at))
            else:
                values.append(self.entries(self.matrix(node, at)))
        net = self.net
        held = {"n": net.n, "d": net.d, "L": net.L, "H": max(net.H)}
        found = Reader.over(self.out, {**held, "edges": [[int(x) for x in row] for row in net.edges]})
        try:
            value = found.apply(name, values)
        except TooNear:
            raise
        except Untranslatable as why:
            raise Untranslatable(f"{name}(…) is not written in Coq: {why}") from None
        return value if isinstance(value, Term) else constant(value)

    def entries(self, name: str) -> list[list[Term]]:
        rows = enumerate(self.net.balls[name])
        return [[Term(f"({name} {i}%nat {j}%nat)", x) for j, x in enumerate(row)] for i, row in rows]

    def form_inf(self, name: str) -> Term:
        """max over signs u of |u A|_1: the largest u A v with |u|, |v| <= 1 in every entry."""
        A, d = self.net.balls[name], self.net.d
        signs = list(itertools.product((1, -1), repeat=d))
        value = largest([total([abs(x) for x in product([[arb(s) for s in u]], A)[0]]) for u in signs])
        q = (
            self.out.data(f"signs_{d}", [list(u) for u in signs])
            if f"signs_{d}" not in self.out.names
            else f"signs_{d}"
        )
        return self.out.number(f"(maxf {len(signs)} (fun k => l1 {d} (image {d} ({q} k) {name})))", value)

    def centred(self, name: str, layer: int, h: int, at: str) -> Term:
        net, n = self.net, self.net.n
        if at == "composite":  # the centre that is written is least, up to a factor 1 + 2^-20
            centre, _ = net.about(layer, at)
            least = net.residual(layer, at)
            left = f"(comp {n} {net.d} (centred X_{layer} {centre}))"
            self.extra[f"({left} <= Q2R ({2**20 + 1} # {2**20}) * {least.coq})"] = f"less {self.out.at}."
        if name == "delta" or name == "gamma":
            T, swings = net.tilts(layer, h, at)
        if name != "delta":
            Q, q = net.shares(layer, h, at)
        if name == "delta":
            return self.out.number(f"(delta {n} {T})", largest(swings))
        if name == "q_max":
            return self.out.number(f"(maxf {n} {Q})", largest(q))
        if name == "q_min":
            return self.out.number(f"(minf {n - 1} {Q})", _least(q))
        value = (total(swings) * largest(q) / largest(swings)).sqrt()
        return self.out.number(f"(gamma {n} {T} {Q})", value)

    def logit_range(self, layer: int, h: int) -> Term:
        net, n = self.net, self.net.n
        L, at = net.logits(layer, h), f"{layer}_{h}"
        name = net.held(f"L_{at}", f"logit {net.d} {net.dqk} M_{at} k_{at} X_{layer}", L)
        seen = [[x for x, e in zip(row, edges, strict=True) if e] for row, edges in zip(L, net.edges, strict=True)]
        value = largest([x - y for row in seen for x in row for y in row])
        return self.out.number(f"(logit_range {n} q_mask {name})", value)

    def chain(self, names: Sequence[str], name: str, size: int) -> str:
        """The product of matrices, in order."""
        text, value = names[0], self.net.balls[names[0]]
        for other in names[1:]:
            text, value = f"(product {size} {text} {other})", product(value, self.net.balls[other])
        return self.net.held(name, text, value)

    def contractions(self) -> Term:
        net, n, r = self.net, self.net.n, self.radius()
        result = constant(1)
        for k in range(-(-net.L // r)):
            end = min(net.L, k * r + r)
            B = self.chain([f"P_{end - 1 - t}_0" for t in range(end - k * r)], f"B_{k}", n)
            value = 1 - total([_least(c) for c in transpose(net.balls[B])])
            term = self.out.number(f"(contraction {n} {B})", value)
            result = term if k == 0 else result * term
        return result

    def pole(self, t: int) -> tuple[str, list[arb]]:
        net, d = self.net, self.net.d
        if t == 0:
            means = [total(c) / net.n for c in transpose(net.balls["X_0"])]
            mean = net.vector("m_0", f"mean {net.n} X_0", means)
            value = [x / euclid(means) for x in means]
            return net.vector("pole_0", f"(fun a => {mean} a / l2 {d} {mean}) : nat -> R", value), value
        before, v = self.pole(t - 1)
        value = product([v], net.balls[f"W_{t - 1}_0"])[0]
        return net.vector(f"pole_{t}", f"image {d} {before} W_{t - 1}_0", value), value

    def section(self, t: int) -> Term:
        net, d = self.net, self.net.d
        pole, v = self.pole(t)
        value = [[x / total([a * b for a, b in zip(row, v, strict=True)]) for x in row] for row in net.balls[f"X_{t}"]]
        body = f"(fun i a => X_{t} i a / dot {d} (X_{t} i) {pole}) : nat -> nat -> R"
        return net.diameter(net.held(f"S_{t}", body, value), "2")

    def cosine(self, name: str) -> Term:
        X, n, d = self.net.balls[name], self.net.n, self.net.d
        values = [
            total([a * b for a, b in zip(r, s, strict=True)]) / (euclid(r) * euclid(s))
            for i, r in enumerate(X)
            for s in X[:i]
        ]
        pair = f"dot {d} ({name} i) ({name} j) / (l2 {d} ({name} i) * l2 {d} ({name} j))"
        return self.out.number(f"(minf {n - 1} (fun i => minf {n - 1} (fun j => {pair})))", _least([*values, arb(1)]))

    # -- the last token once more --------------------------------------------------------------------------------
    def repeated(self, t: int) -> tuple[str, list[arb]]:
        net, n, d = self.net, self.net.n, self.net.d
        if t == 0:
            value = net.balls["X_0"][n - 1]
            return net.vector("R_0", f"X_0 {n - 1}%nat", value), value
        name, before = f"R_{t}", self.repeated(t - 1)
        longer = self.longer(t - 1)
        text = f"{constant(net.skip).coq} * {before[0]} a + b_{t - 1} a"
        value = [ball(net.skip) * x + ball(b) for x, b in zip(before[1], net.biases[t - 1], strict=True)]
        for h in range(net.H[t - 1]):
            again, p = self.again(t - 1, h)
            text += f" + sum {d} (fun b => image {n + 1} {again} {longer} b * W_{t - 1}_{h} b a)"
            moved = product(product([p], net.balls[longer]), net.balls[f"W_{t - 1}_{h}"])[0]
            value = [x + y for x, y in zip(value, moved, strict=True)]
        return net.vector(name, f"(fun a => {text}) : nat -> R", value), value

    def longer(self, t: int) -> str:
        token, value = self.repeated(t)
        return self.net.held(f"Z_{t}", f"appended {self.net.n} X_{t} {token}", [*self.net.balls[f"X_{t}"], value])

    def again(self, t: int, h: int) -> tuple[str, list[arb]]:
        net, n, d = self.net, self.net.n, self.net.d
        longer, (token, v) = self.longer(t), self.repeated(t)
        key = net.balls[f"k_{t}_{h}"][0]
        w = [x + k for x, k in zip(product([v], net.balls[f"M_{t}_{h}"])[0], key, strict=True)]
        logits = [total([x * y for x, y in zip(row, w, strict=True)]) / net.root for row in net.balls[longer]]
        p = softmax(logits, [arb(1)] * (n + 1))
        text = f"sum {d} (fun a => {longer} j a * (image {d} {token} M_{t}_{h} a + k_{t}_{h} a)) / sqrt {net.dqk}"
        return net.vector(f"A_{t}_{h}", f"softmax {n + 1} (fun _ => 1) (fun j => {text})", p), p

    def repeat(self, name: str, t: int) -> Term:
        net, n, d = self.net, self.net.n, self.net.d
        token, v = self.repeated(t)
        far = [euclid([x - y for x, y in zip(row, v, strict=True)]) for row in net.balls[f"X_{t}"]]
        if name == "repeat_gap":
            return self.out.number(f"(l2 {d} (fun a => {token} a - X_{t} {n - 1}%nat a))", far[n - 1])
        return self.out.number(f"(maxf {n} (fun i => l2 {d} (fun a => X_{t} i a - {token} a)))", largest(far))


def _least(values: Sequence[arb]) -> arb:
    value = values[0]
    for other in values[1:]:
        value = value.min(other)
    return value


def network(content: Mapping[str, Any], bits: int) -> tuple[Writer, list[tuple[str, str]], list[str]]:
    """The lines of a network's file, its statements with their proofs, and what is left out."""
    claim = Claim(Network(content, bits))
    out, holds, found = claim.out, content["kind"] != "violates", []
    for text in content.get("given", []):
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id in SWITCHES:
            continue  # a property of the data that the file shows
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            if claim.number(node.left, {}) != claim.number(node.comparators[0], {}):
                raise Untranslatable(f"{text} is not so")
            continue
        found += [relation(out, *r, holds=True) for r in claim.relations(node, {})]
    relations = claim.relations(ast.parse(content["claim"], mode="eval").body, {})
    if holds:
        found += [relation(out, *r, holds=True) for r in relations]
    else:
        for r in relations:
            try:
                found.append(relation(out, *r, holds=False))
                break
            except TooNear:
                continue
        else:
            raise TooNear("no relation of the claim is certainly violated")
    return out, [*claim.extra.items(), *found], claim.left_out
