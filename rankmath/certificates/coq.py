"""Certificates as Coq theorems: a self-contained file that states the instance and proves it by computation.

`to_coq` reads a certificate and writes the text of a .v file that needs Coq and coq-interval alone. The file defines
softmax, the layers and the norms over the reals, gives the exact data, states what the certificate claims (or, of a
kind "violates", its negation) and proves it: every number that is not rational is enclosed by the tactic `interval`,
layer by layer, and the enclosures decide. Balls choose the enclosures here; Coq proves them, so nothing written here is
believed. What cannot be written is refused with the reason.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from rankmath.arithmetic.balls import ball, precision
from rankmath.validation import InvalidArgument

#: Bits of Coq's intervals, and how wide an enclosure is stated: relative to its size, 2^-TIGHT.
BITS, TIGHT = 90, 60
MOST_ENTRIES = 4096  # of all layers' tokens and attention together: Coq's time grows with it

Matrix: TypeAlias = list[list[Fraction]]

PREAMBLE = """Require Import Reals List Lra Lia ZArith.
From Interval Require Import Specific_stdz Specific_ops.
From Interval Require Export Tactic.
Module SFZ := SpecificFloat StdZRadix2.
Module ITZ := Interval.Tactic.IntervalTactic SFZ.
Export ITZ.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- definitions ---------- *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => sum k f + f k end.
(* the largest of 0 and f 0 ... f (n-1); of non-negative f only *)
Fixpoint maxf (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => Rmax (maxf k f) (f k) end.
(* a matrix by its rows, a vector by its entries *)
Definition entries (l : list R) (j : nat) : R := nth j l 0.
Definition rows (l : list (list R)) (i j : nat) : R := nth j (nth i l nil) 0.
(* softmax over the keys with weight m j > 0 *)
Definition softmax (n : nat) (m l : nat -> R) (j : nat) : R := m j * exp (l j) / sum n (fun k => m k * exp (l k)).
(* (X_i M X_j^T + k . X_j) / sqrt d_qk *)
Definition logit (d : nat) (dqk : R) (M : nat -> nat -> R) (k : nat -> R) (X : nat -> nat -> R) (i j : nat) : R :=
  (sum d (fun a => sum d (fun b => X i a * M a b * X j b)) + sum d (fun a => k a * X j a)) / sqrt dqk.
(* row i of P X W, column b *)
Definition head (n d : nat) (dqk : R) (mask M : nat -> nat -> R) (k : nat -> R) (W X : nat -> nat -> R) (i b : nat) : R :=
  sum d (fun a => sum n (fun j => softmax n (mask i) (logit d dqk M k X i) j * X j a) * W a b).
Definition l1 (d : nat) (u : nat -> R) : R := sum d (fun a => Rabs (u a)).
Definition l2 (d : nat) (u : nat -> R) : R := sqrt (sum d (fun a => u a * u a)).
Definition linf (d : nat) (u : nat -> R) : R := maxf d (fun a => Rabs (u a)).
Definition diam (n : nat) (N : (nat -> R) -> R) (X : nat -> nat -> R) : R :=
  maxf n (fun i => maxf n (fun k => N (fun a => X i a - X k a))).
Definition norm1 (n d : nat) (A : nat -> nat -> R) : R := maxf d (fun a => sum n (fun i => Rabs (A i a))).
Definition norminf (n d : nat) (A : nat -> nat -> R) : R := maxf n (fun i => sum d (fun a => Rabs (A i a))).
Definition normmax (n d : nat) (A : nat -> nat -> R) : R := maxf n (fun i => maxf d (fun a => Rabs (A i a))).
Definition frob (n d : nat) (A : nat -> nat -> R) : R := sqrt (sum n (fun i => sum d (fun a => A i a * A i a))).
Definition comp (n d : nat) (A : nat -> nat -> R) : R := sqrt (norm1 n d A * norminf n d A).

(* ---------- tactics: the known enclosures are variables in bounds; a maximum is bounded from above by bounding all,
   from below by finding one ---------- *)
Ltac known t H := generalize H; generalize t; intros ? ?.
Ltac unfolded := cbv [sum maxf entries rows nth softmax logit head l1 l2 linf diam norm1 norminf normmax frob comp].
Ltac num := interval with (i_prec %d).
Ltac less := first [apply Rminus_le | apply Rminus_lt]; num.
Ltac below := lazymatch goal with
  | |- _ <= Rmax ?a ?b => first [apply Rle_trans with a; [below | apply Rmax_l] | apply Rle_trans with b; [below | apply Rmax_r]]
  | _ => solve [num] end.
Ltac above := lazymatch goal with |- Rmax _ _ <= _ => apply Rmax_lub; above | _ => num end.
""" % BITS


class Untranslatable(InvalidArgument):
    """A certificate that no Coq file is written for, with the reason."""


@dataclass(frozen=True)
class Term:
    """A real number: how Coq writes it, a ball that contains it, and the enclosures that Coq needs for it."""

    coq: str
    ball: arb
    uses: frozenset[tuple[str, str]] = frozenset()

    def __add__(self, other: Term) -> Term:
        return Term(f"({self.coq} + {other.coq})", self.ball + other.ball, self.uses | other.uses)

    def __sub__(self, other: Term) -> Term:
        return Term(f"({self.coq} - {other.coq})", self.ball - other.ball, self.uses | other.uses)

    def __mul__(self, other: Term) -> Term:
        return Term(f"({self.coq} * {other.coq})", self.ball * other.ball, self.uses | other.uses)

    def __truediv__(self, other: Term) -> Term:
        return Term(f"({self.coq} / {other.coq})", self.ball / other.ball, self.uses | other.uses)

    def __pow__(self, power: int) -> Term:
        return Term(f"({self.coq} ^ {power})", self.ball**power, self.uses)

    def call(self, name: str, value: Callable[[arb], arb]) -> Term:
        return Term(f"({name} {self.coq})", value(self.ball), self.uses)


def constant(value: Fraction | int) -> Term:
    """A rational number."""
    value = Fraction(value)
    text = str(value.numerator) if value.denominator == 1 else f"{value.numerator} / {value.denominator}"
    return Term(f"({text})", ball(value))


def literal(value: Any) -> str:
    """Nested lists of rationals as Coq lists."""
    if isinstance(value, list):
        return f"[{'; '.join(literal(x) for x in value)}]"
    return constant(value).coq


def exact(value: Any, where: str) -> Any:
    """Numbers and nested lists of a certificate as fractions: integers, "p/q", "m*2^e"."""
    if isinstance(value, list):
        return [exact(x, where) for x in value]
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise Untranslatable(f"{where}: {value!r} given; an integer, 'p/q' or 'm*2^e' is needed")
    try:
        mantissa, _, exponent = str(value).partition("*2^")
        return Fraction(mantissa) * Fraction(2) ** int(exponent or 0)
    except (ValueError, ZeroDivisionError):
        raise Untranslatable(f"{where}: {value!r} given; an integer, 'p/q' or 'm*2^e' is needed") from None


def bounds(x: arb) -> tuple[str, str]:
    """Two rationals around a ball, wide enough for Coq's intervals to prove them."""
    if not x.is_finite():
        raise Untranslatable("a quantity has no finite enclosure")
    size = abs(x).upper()
    slack = Fraction(1, 2**TIGHT) * max(_fraction(size), Fraction(1, 2**TIGHT))
    return tuple(  # type: ignore[return-value]
        constant(_dyadic(_fraction(end) + sign * slack, sign)).coq for end, sign in ((x.lower(), -1), (x.upper(), 1))
    )


def _fraction(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def _dyadic(x: Fraction, towards: int) -> Fraction:
    """A nearby fraction with a short denominator, not nearer to zero error than `towards` allows."""
    scale = 2 ** (TIGHT + 40)
    return Fraction((math.floor if towards < 0 else math.ceil)(x * scale), scale)


class Writer:
    """Collects definitions and lemmas; every enclosure it hands out has a lemma before it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Term] = {}
        self.matrices: list[str] = []

    def define(self, name: str, body: str) -> str:
        self.lines.append(f"Definition {name} := {body}.")
        self.matrices.append(name)
        return name

    def enclose(self, coq: str, value: arb, uses: frozenset[tuple[str, str]], *, opened: Sequence[str] = ()) -> Term:
        """The term as a number of its own, with a proved enclosure."""
        if coq in self.names:
            return self.names[coq]
        lemma = f"bound_{len(self.names)}"
        low, high = bounds(value)
        known = "".join(f" known ({term}) {name}." for term, name in sorted(uses))
        unfold = f" cbv [{' '.join(dict.fromkeys(opened))}]." if opened else ""
        self.lines.append(
            f"Lemma {lemma} : {low} <= {coq} <= {high}.\n"
            f"Proof.{unfold} unfolded.{known} unfold tanh, sinh, cosh; split; [below | above]. Qed."
        )
        self.names[coq] = Term(coq, value, frozenset({(coq, lemma)}))
        return self.names[coq]

    def largest(self, terms: Sequence[Term]) -> Term:
        """The maximum of non-negative terms as a number of its own."""
        text, value = terms[0].coq, terms[0].ball
        for term in terms[1:]:
            text, value = f"(Rmax {text} {term.coq})", value.max(term.ball)
        if len(terms) == 1:
            return terms[0]
        return self.enclose(text, value, frozenset().union(*(t.uses for t in terms)))


def relation(left: Term, sign: str, right: Term, *, holds: bool) -> tuple[str, str]:
    """A relation (or its negation) and its proof."""
    words = {"<=": "<=", "<": "<", ">=": ">=", ">": ">"}
    if sign not in words:
        raise Untranslatable(f"the relation {sign}: equality of numbers that are not rational is not decided by intervals")
    known = "".join(f" known ({term}) {name}." for term, name in sorted(left.uses | right.uses))
    swapped = sign in (">=", ">")
    small, large = (right, left) if swapped else (left, right)
    certain = small.ball < large.ball if holds else large.ball < small.ball
    if not certain:
        raise Untranslatable(f"{left.coq} {sign} {right.coq} is too near to equality for intervals")
    statement = f"({left.coq} {words[sign]} {right.coq})"
    turn = "apply Rle_ge. " if sign == ">=" else "apply Rlt_gt. " if sign == ">" else ""
    if holds:
        return statement, f"{turn}{known} unfold tanh, sinh, cosh; less."
    refute = {"<=": "Rlt_not_le", "<": "Rle_not_lt", ">=": "Rlt_not_ge", ">": "Rle_not_gt"}[sign]
    return f"~ {statement}", f"apply {refute}.{known} unfold tanh, sinh, cosh; less."


# ---------- networks ----------
class Network:
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
        rows_of = lambda name, value: out.define(name, f"rows {literal(value)}")  # noqa: E731
        rows_of("mask", seen)
        rows_of("X_0", X)
        self.values: list[list[list[Term]]] = [
            [[Term(f"X_0 {i}%nat {a}%nat", ball(x)) for a, x in enumerate(row)] for i, row in enumerate(X)]
        ]
        self.W: dict[tuple[int, int], tuple[str, Matrix]] = {}
        self.M: dict[tuple[int, int], tuple[str, Matrix]] = {}
        for index, layer in enumerate(data["layers"]):
            self._layer(index, layer, seen)

    def _layer(self, index: int, layer: Mapping[str, Any], seen: Matrix) -> None:
        out, n, d = self.out, self.n, self.d
        bias = exact(layer.get("bias", [0] * d), "bias")
        names, heads = [], []
        for h, given in enumerate(layer["heads"]):
            W, M = exact(given["W"], "W"), exact(given["W_QK"], "W_QK")
            key = exact(given.get("key_bias", [0] * d), "key_bias")
            self.W[index, h] = out.define(f"W_{index}_{h}", f"rows {literal(W)}"), W
            self.M[index, h] = out.define(f"M_{index}_{h}", f"rows {literal(M)}"), M
            out.define(f"k_{index}_{h}", f"entries {literal(key)}")
            names += [f"W_{index}_{h}", f"M_{index}_{h}", f"k_{index}_{h}"]
            heads.append((W, M, key))
        out.define(f"b_{index}", f"entries {literal(bias)}")
        sums = " + ".join(
            f"head {n} {d} {constant(self.d_qk).coq} mask M_{index}_{h} k_{index}_{h} W_{index}_{h} X_{index} i b"
            for h in range(len(heads))
        )
        out.lines.append(
            f"Definition X_{index + 1} (i b : nat) : R :=\n  {constant(self.skip).coq} * X_{index} i b + ({sums}) + b_{index} b."
        )
        opened = ["mask", *names, f"b_{index}", f"X_{index + 1}", *(["X_0"] if index == 0 else [])]
        x = [[t.ball for t in row] for row in self.values[-1]]
        uses = frozenset().union(*(t.uses for row in self.values[-1] for t in row))
        y = [[ball(self.skip) * x[i][b] + ball(bias[b]) for b in range(d)] for i in range(n)]
        for W, M, key in heads:
            for i in range(n):
                logits = [
                    (
                        sum((x[i][a] * ball(M[a][b]) * x[j][b] for a in range(d) for b in range(d)), arb(0))
                        + sum((ball(key[a]) * x[j][a] for a in range(d)), arb(0))
                    )
                    / ball(self.d_qk).sqrt()
                    for j in range(n)
                ]
                weight = [ball(m) * value.exp() for m, value in zip(seen[i], logits, strict=True)]
                total = sum(weight, arb(0))
                mixed = [sum((weight[j] * x[j][a] for j in range(n)), arb(0)) / total for a in range(d)]
                for b in range(d):
                    y[i][b] += sum((mixed[a] * ball(W[a][b]) for a in range(d)), arb(0))
        self.values.append(
            [
                [out.enclose(f"X_{index + 1} {i}%nat {b}%nat", y[i][b], uses, opened=opened) for b in range(d)]
                for i in range(n)
            ]
        )

    def diameter(self, index: int, p: str) -> Term:
        norm = {"1": "l1", "2": "l2", "inf": "linf"}[p]
        entries = self.values[index]
        uses = frozenset().union(*(t.uses for row in entries for t in row))
        gaps = [[abs(u.ball - v.ball) for u, v in zip(r, s, strict=True)] for r in entries for s in entries]
        size = {"1": lambda g: sum(g, arb(0)), "2": _euclid, "inf": _most}[p]
        coq = f"(diam {self.n} ({norm} {self.d}) X_{index})"
        return self.out.enclose(coq, _most([size(g) for g in gaps]), uses, opened=["X_0"] if index == 0 else [])

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
        if kind not in sizes:
            raise Untranslatable(f"norm(…, {kind}): the spectral norm is not written")
        function, size = sizes[kind]
        if kind == "composite":
            root = self.norm(name, value, "1") * self.norm(name, value, "inf")
            return Term(f"(sqrt {root.coq})", size, root.uses)
        return self.out.enclose(f"({function} {self.d} {self.d} {name})", size, frozenset(), opened=[name])


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

    def __init__(self, network: Network) -> None:
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
                result = {ast.Add: x + y, ast.Sub: x - y, ast.Mult: x * y}.get(type(op))
                if result is None:
                    result = x**y if isinstance(op, ast.Pow) else Fraction(x, y)
                if result == int(result):
                    return int(result)
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
            case "norm", [M, kind]:
                return self.net.norm(*self.matrix(M, at), self.word(kind, at))
            case "operator_norm", [M, p]:
                kind = {"1": "inf", "inf": "1"}.get(self.word(p, at), "max" if self.net.d == 1 else "2")
                return self.net.norm(*self.matrix(M, at), kind)
            case "form_norm", [M, p]:
                if self.word(p, at) != "1" and self.net.d > 1:
                    raise Untranslatable(f"form_norm(…, {self.word(p, at)}) is not written for d > 1")
                return self.net.norm(*self.matrix(M, at), "max")
            case ("sum_h" | "sum_l" | "prod_h" | "prod_l"), [body]:
                terms = [self.term(body, here) for here in (over_h if name.endswith("h") else over_l)]
                result = terms[0]
                for term in terms[1:]:
                    result = result + term if name.startswith("sum") else result * term
                return result
            case ("max_h" | "max_l"), [body]:
                return self.out.largest([self.term(body, here) for here in (over_h if name == "max_h" else over_l)])
            case "max", several:
                return self.out.largest([self.term(one, at) for one in several])
            case "recursion", [ast.Name(id=letter), start, body]:
                value = self.term(start, at)
                for here in over_l:
                    step = self.term(body, {**here, letter: value})
                    value = self.out.enclose(step.coq, step.ball, step.uses)
                return value
            case ("sqrt" | "exp" | "tanh"), [x]:
                return self.term(x, at).call(name, lambda b: getattr(b, name)())
            case "log", [x]:
                return self.term(x, at).call("ln", lambda b: b.log())
            case "abs", [x]:
                return self.term(x, at).call("Rabs", abs)
        raise Untranslatable(f"{name}(…) is not written in Coq")


def _network(content: Mapping[str, Any], out: Writer) -> tuple[list[tuple[str, str]], list[str]]:
    claim = Claim(Network(content["data"], out))
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


def _tv(content: Mapping[str, Any], out: Writer) -> tuple[list[tuple[str, str]], list[str]]:
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


def _sandwich(content: Mapping[str, Any], out: Writer) -> tuple[list[tuple[str, str]], list[str]]:
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


def _not_a_norm(content: Mapping[str, Any], out: Writer) -> tuple[list[tuple[str, str]], list[str]]:
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


def _closure(content: Mapping[str, Any], out: Writer) -> tuple[list[tuple[str, str]], list[str]]:
    factors, product = exact(content["data"]["factors"], "factors"), exact(content["data"]["product"], "product")
    if content["kind"] != "holds":
        raise Untranslatable("seed:closure: only certificates that it holds are written")
    names = [out.define(f"F_{k}", f"rows {literal(F)}") for k, F in enumerate(factors)]
    out.define("product", f"rows {literal(product)}")
    text = f"{names[0]} i j"
    for k, name in enumerate(names[1:], 1):
        inner = text.replace(" i j", " i a", 1) if k == 1 else f"Q_{k - 1} i a"
        out.lines.append(f"Definition Q_{k} (i j : nat) : R := sum {len(factors[k])} (fun a => {inner} * {name} a j).")
    last = f"Q_{len(names) - 1}" if len(names) > 1 else names[0]
    opened = " ".join([*names, *(f"Q_{k}" for k in range(1, len(names))), "product"])
    proof = f"cbv [{opened}]. unfolded. repeat split; lra."
    found = []
    for i, row in enumerate(product):
        entries = " /\\ ".join(f"0 <= {last} {i}%nat {j}%nat = product {i}%nat {j}%nat" for j in range(len(row)))
        entries = " /\\ ".join(
            f"(0 <= {last} {i}%nat {j}%nat /\\ {last} {i}%nat {j}%nat = product {i}%nat {j}%nat)"
            for j in range(len(row))
        )
        found.append((f"({entries} /\\ sum {len(row)} ({last} {i}%nat) = 1)", proof))
    return found, []


FAMILIES: dict[str, Callable[[Mapping[str, Any], Writer], tuple[list[tuple[str, str]], list[str]]]] = {
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
        elif "layers" in content.get("data", {}) and "claim" in content:
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
    title = f"(* Certificate {content.get('id', '')} ({kind}), as a theorem about real numbers.\n{header} *)\n"
    body = "\n".join(out.lines)
    return f"{title}{PREAMBLE}\n(* ---------- the instance ---------- *)\n{body}\n\n(* ---------- what is certified ---------- *)\n{theorem}", left_out


def _conjunction(count: int) -> str:
    return "_" if count == 1 else f"conj _ {'_' if count == 2 else '(' + _conjunction(count - 1) + ')'}"
