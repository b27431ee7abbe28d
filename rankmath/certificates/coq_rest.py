"""Equilibria in Coq: a box or an ellipsoid that a layer contracts into itself, by proofs/coq/equilibrium.v."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankmath.certificates.coq_statement import Reader
from rankmath.certificates.coq_terms import Term, Untranslatable, Writer, constant, exact, literal, rational
from rankmath.checker.statements import COMMON, STATEMENTS, definitions
from rankmath.linalg.rationals import from_flint, to_flint

Found = list[tuple[str, str]]
Rational = list[list[Fraction]]
SPARE = 40  # bits beyond those of the smallest distance
LONG = 600  # bits of numbers in which Coq would compute eigenvalues for hours
SHORT = 30  # bits of the inverse of a minor, which Coq multiplies by it


def rest(content: Mapping[str, Any]) -> tuple[Writer, Found, list[str]]:
    """Equilibria of one layer: what is given, their places, that each is alone and attracts, and the rank."""
    data, hints, key = content["data"], content["hints"], content["statement"]
    if key not in STATEMENTS or "skip" in data:  # a block is more than one layer of one head
        raise Untranslatable(f"statement {key!r} is not written in Coq")
    if data["norm"] != "sphere":
        raise Untranslatable(f"norm: {data['norm']!r} given; 'sphere' is written")
    if "equilibria" in data:
        if not data["equilibria"]:
            raise Untranslatable("equilibria: [] given; one at least is written")
        members = list(zip(data["equilibria"], hints["equilibria"], strict=True))
    else:
        members = [(data, hints)]
    n, d = len(members[0][0]["tokens"]), len(members[0][0]["tokens"][0])
    left_out: list[str] = []
    sets = [_Set.of(its, of, left_out) for its, of in members]
    bits = max(one.bits for one in sets)
    out, layer = Writer(bits, n, d), [exact(data[name], name) for name in ("W_QK", "W_V", "mask", "d_qk")]
    for name, value in zip(("M", "V", "mask"), layer, strict=False):
        out.lines += [
            f"Definition {name} := {literal(value)}%Q.",
            f"Definition {name}_q : forall i j, ex _ (rows {name} i j) := ex_rows {name}.",
            f"#[local] Hint Resolve {name}_q : rat.",
        ]
    out.lines += [
        f"Definition dqk := {rational(layer[3])}%Q.",
        f"Definition moved := step {n} {d} (Q2R dqk) (rows M) (rows V) (rows mask).",
    ]
    found = _given(out, key, layer, [its for its, _ in members])
    for k, (one, (its, of)) in enumerate(zip(sets, members, strict=True)):
        found.append(_member(out, layer[1], one, its, of, f"_{k}" if len(members) > 1 else ""))
    return out, found, left_out


def _given(out: Writer, key: str, layer: list[Any], members: list[Mapping[str, Any]]) -> Found:
    """What the statement asks of W_QK, W_V and the mask, entry by entry; the rest is about sizes."""
    held: dict[str, Any] = {}
    for word, name, A in zip(("W_QK", "W_V", "mask"), ("M", "V", "mask"), layer, strict=False):
        terms = [[(f"(rows {name} {i}%nat {j}%nat)", x) for j, x in enumerate(row)] for i, row in enumerate(A)]
        held[word] = [[Term(coq, constant(x).ball, x) for coq, x in row] for row in terms]
    held |= {"n": len(layer[2]), "d": len(layer[1]), "d_qk": layer[3], "norm_kind": "sphere"}
    held["ranks"] = [its["rank"] for its in members]
    found: Found = []
    for its in members:
        numbers = {name: exact(its[name], name) for name in ("tokens", "rank", "radius", "ball") if name in its}
        reader = Reader.over(out, held | numbers)
        reader.defined = definitions(f"{COMMON}\n{STATEMENTS[key].define}")
        for text in STATEMENTS[key].given:
            found += reader.shown(ast.parse(text, mode="eval").body, {}, holds=True)
    return [(text, proof) for text, proof in dict(found).items() if not _same(text)]


def _same(text: str) -> bool:
    """Whether a relation says of a number that it is equal to itself."""
    left, sign, right = text[1:-1].partition(" = ")
    return bool(sign) and left == right


@dataclass(frozen=True)
class _Set:
    """What is contracted: all tokens + T w, w with entries (`round`: of a length) of at most `size`.

    ``near`` bounds w of the equilibrium. ``spectrum``: whether its eigenvalues are stated.
    """

    T: Rational
    S: Rational
    size: Fraction
    near: Fraction
    rate: Fraction
    round: bool
    spectrum: bool

    @classmethod
    def of(cls, data: Mapping[str, Any], hints: Mapping[str, Any], left_out: list[str]) -> _Set:
        if "weights" in hints:  # a box, in the certificate's own scales
            weights = [w for row in exact(hints["weights"], "weights") for w in row]
            T = [[w * (i == j) for j in range(len(weights))] for i, w in enumerate(weights)]
            S = [[(i == j) / w for j in range(len(weights))] for i, w in enumerate(weights)]
            size, near = exact(hints["size"], "size"), exact(hints["size"], "size") / 2**20
            spectrum = "spectrum" in data
            if spectrum and int(hints["spectral_bits"]) > LONG:
                spectrum = False
                left_out.append(f"the eigenvalues, for which numbers of {hints['spectral_bits']} bits are needed")
            elif spectrum:
                near = exact(hints["core"], "core")
                left_out.append(
                    "how many eigenvalues lie near each value; that each of them lies near a value is stated"
                )
            return cls(T, S, size, near, exact(data["rate"], "rate"), round=False, spectrum=spectrum)
        if "attracting" not in data:
            raise Untranslatable("an equilibrium that is not shown to attract is not written")
        of = {name: exact(value, name) for name, value in data["attracting"].items()}  # its ellipsoid
        T, S = of["R"], from_flint(to_flint(of["R"]).inv())
        near = exact(data["radius"], "radius") / _wide(T)
        return cls(T, S, of["radius"], near, of["rate"], round=True, spectrum=False)

    @property
    def wide(self) -> Fraction:
        """How far an entry moves at most, by w."""
        return _wide(self.T)

    @property
    def bits(self) -> int:
        """Bits of Coq's intervals: those that tell apart what is as near as the equilibrium, and some more."""
        return math.ceil(math.log2(self.wide) - math.log2(self.near)) + SPARE


def _wide(T: Rational) -> Fraction:
    return max(sum((abs(x) for x in row), Fraction(0)) for row in T)


def _member(
    out: Writer, V: Rational, one: _Set, data: Mapping[str, Any], hints: Mapping[str, Any], mark: str
) -> tuple[str, str]:
    """One equilibrium. ``mark`` ends its names."""
    tokens = exact(data["tokens"], "tokens")
    n, d = len(tokens), len(tokens[0])
    c, round_ = [x for row in tokens for x in row], one.round
    rows, columns = ([int(p[k]) for p in hints["pivots"]] for k in (0, 1))
    if len({int(c) for c in hints.get("clusters", range(n))}) < n:
        raise Untranslatable("equal tokens, and an ellipsoid: Coq's test is of tokens that differ")
    others = [b for b in range(d) if b not in columns]
    if data["rank"] != len(rows):
        raise Untranslatable(f"rank {data['rank']} given; a minor of order {len(rows)} shows another")
    vanish = all(row[b] == 0 for row in tokens for b in others) and all(V[a][b] == 0 for a in columns for b in others)
    below = len(rows) < d and vanish and not round_
    if len(rows) < min(n, d) and not below:
        raise Untranslatable(
            f"rank {len(rows)} of {n} tokens in dimension {d}: below full rank it is shown in Coq where"
            " all columns but as many vanish at the tokens, and W_V keeps that"
        )
    minor = from_flint(to_flint([[tokens[i][a] for a in columns] for i in rows]).inv())
    K = [[Fraction(round(x * 2**SHORT), 2**SHORT) for x in row] for row in minor]
    for name, value in (("turn", one.S), ("back", one.T), ("tokens", c), ("K", K)):
        out.lines.append(f"Definition {name}{mark} := {literal(value)}%Q.")
    for name in ("size", "near", "rate", "wide"):
        out.lines.append(f"Definition {name}{mark} := {rational(getattr(one, name))}%Q.")
    its = " ".join(f"{name}{mark}" for name in ("turn", "back", "tokens", "size", "near", "rate"))
    given = f"p {n} {d} dqk M V mask {its}"
    test = f"certifiedb {given} {str(round_).lower()} && widthb {n} {d} back{mark} wide{mark}"
    N, at = n * d, f"(fun k => nth k {_naturals(rows)} O) (fun q => nth q {_naturals(columns)} O)"
    still = f"rest_map {n} {d} (Q2R dqk) (rows M) (rows V) (rows mask) (unfold_ {d} z) i a = unfold_ {d} z i a"
    parts = [
        "exists z : nat -> R, (* tokens, row by row: near the stored ones, *)",
        f"(forall k, (k < {N})%nat -> Rabs (z k - entries tokens{mark} k) <= Q2R (wide{mark} * near{mark})) /\\",
        "(* a layer leaves them where they are; *)",
        f"(forall i a, (i < {n})%nat -> (a < {d})%nat -> {still}) /\\",
    ]
    if round_:
        theorem = f"attracts_ellipsoid {given} wide{mark}"
        R = f"{N} (rows back{mark})"
        E = f"ellipsoid {R} (Q2R size{mark}) (entries tokens{mark}) {{0}}"
        parts += [
            "(* in the ellipsoid tokens + back w, |w|_2 <= size, nothing else rests; a layer maps it into itself, *)",
            f"(forall y, {E.format('y')} -> (forall k, (k < {N})%nat -> moved y k = y k) ->",
            f"  forall k, (k < {N})%nat -> y k = z k) /\\",
            f"(forall x, {E.format('x')} -> {E.format('(moved x)')}) /\\",
            "(* contracts |back^-1 (x - y)|_2 in it by rate, and all its starts converge; *)",
            f"(forall x y r, {E.format('x')} -> {E.format('y')} ->",
            f"  ellipsoid {R} r y x -> ellipsoid {R} (Q2R rate{mark} * r) (moved y) (moved x)) /\\",
            f"(forall x, {E.format('x')} -> forall t,",
            f"  ellipsoid {R} (Q2R rate{mark} ^ t * Q2R (2 * size{mark})) z (Nat.iter t moved x)) /\\",
        ]
        names = ["Z1", "Z2", "Z3", "Z4", "Z5", "Z6"]
    else:
        ball = exact(data["ball"], "ball")
        out.lines.append(f"Definition ball{mark} := {rational(ball)}%Q.")
        test += f" && forallb (fun k => Qle_bool (ball{mark} * qrow {n} {d} turn{mark} k) size{mark}) (seq 0 {N})"
        theorem = f"attracts_box {given} ball{mark} wide{mark}"
        close = f"(forall k, (k < {N})%nat -> Rabs ({{0}} k - entries tokens{mark} k) <= Q2R ball{mark})"
        parts += [
            "(* nothing else rests where all entries are within ball of these, and all starts there converge; *)",
            f"(forall y, {close.format('y')} -> (forall k, (k < {N})%nat -> moved y k = y k) ->",
            f"  forall k, (k < {N})%nat -> y k = z k) /\\",
            f"(forall x, {close.format('x')} -> forall t k, (k < {N})%nat ->",
            f"  Rabs (Nat.iter t moved x k - z k) <= Q2R rate{mark} ^ t * Q2R (2 * wide{mark} * size{mark})) /\\",
        ]
        names = ["Z1", "Z2", "Z3", "Z4"]
    out.lines += [
        f"Definition layer_rests{mark} := {theorem}.",
        f"Lemma computed{mark} : ({test})%bool = true.\nProof. vm_cast_no_check (eq_refl true). Qed.",
    ]
    parts.append("(* some rows are independent, as many as the rank *)")
    last = [f"independent {len(rows)} (unfold_ {d} z) {at}"]
    minor_stays = (
        f"apply (minorb_ok p {d} tokens{mark} (wide{mark} * near{mark}) {_naturals(rows)}"
        f" {_naturals(columns)} K{mark}); [|vm_compute; reflexivity].\n"
        f"  intros k q Hk Hq. apply Z1. simpl in Hk, Hq. unfold place. {_cases(len(rows))}"
    )
    goals = [minor_stays]
    if below:  # all other columns are zero: the rank is no more either
        last.append(f"(* and all other columns vanish *)\n  flat {n} {d} {_naturals(columns)} z")
        goals.append(
            f"apply (zeros_stay_b {n} {d} (Q2R dqk) (rows M) V (rows mask) tokens{mark} {_naturals(columns)} z"
            f" (Q2R rate{mark}) (Q2R (2 * wide{mark} * size{mark}))); [vm_compute; reflexivity|unfold rate{mark}, Q2R;"
            f" cbn [Qnum Qden]; lra|].\n  apply Z4. intros k _. rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0."
            f" unfold ball{mark}, Q2R. cbn [Qnum Qden]. lra."
        )
    if one.spectrum:
        last.append(_spectrum(out, data, hints, mark, f"{n} {d}", given))
        goals.append(
            f"exact (spectrum_ok {given} false"
            f" (eq_refl true <: sizesb {n} mask size{mark} near{mark} rate{mark} = true) _ _ _ z Zi Zf"
            f" computed_spectrum{mark})."
        )
    if not round_:
        names += ["Zi", "Zf"]
    pattern = " [".join(names[:-1]) + f" {names[-1]}" + "]" * (len(names) - 2)
    shown = names[: len(names) if round_ else -2]
    conj = "".join(f"(conj {name} " for name in shown) + "(conj _ " * (len(goals) - 1) + "_"
    conj += ")" * (len(shown) + len(goals) - 1)
    body = goals[0] if len(goals) == 1 else "\n  ".join(f"{{ {goal} }}" for goal in goals)
    proof = f"destruct (layer_rests{mark} computed{mark}) as [z [{pattern}]]. exists z. refine {conj}.\n  {body}"
    stated = "\n  ".join([*parts, " /\\\n  ".join(last)])
    return f"({stated})" if mark else stated, proof


def _spectrum(out: Writer, data: Mapping[str, Any], hints: Mapping[str, Any], mark: str, sizes: str, given: str) -> str:
    """The eigenvalues of the derivative at the equilibrium are near those that are listed."""
    of = {"values": data["spectrum"]["values"], "scales": hints["spectral_weights"]}
    for name, value in of.items():
        flat = [x for row in exact(value, name) for x in row]
        out.lines.append(f"Definition {name}{mark} := {literal(flat)}%Q.")
    out.lines.append(f"Definition within{mark} := {rational(exact(data['spectrum']['within'], 'within'))}%Q.")
    test = f"spectrumb p {sizes} dqk M V mask back{mark} tokens{mark} near{mark} false values{mark} scales{mark}"
    out.lines.append(
        f"Lemma computed_spectrum{mark} : {test} within{mark} = true.\nProof. vm_cast_no_check (eq_refl true). Qed."
    )
    return (
        f"(* eigenvalues a + b i of the derivative J there are within this of the values *)\n"
        f"  (exists J : nat -> nat -> R, derivative_at {sizes} moved z J /\\\n"
        f"    forall a b, eigenvalue {sizes} J a b -> exists q, (q < {sizes.replace(' ', ' * ')})%nat /\\\n"
        f"    (a - entries values{mark} q) ^ 2 + b ^ 2 <= Q2R within{mark} ^ 2)"
    )


def _naturals(values: list[int]) -> str:
    return f"[{'; '.join(map(str, values))}]%nat"


def _cases(r: int) -> str:
    """k and q are below r: each case is a computation."""
    k, q = (f"{'[|' * r}{name}{']' * r}" for name in "kq")
    return f"destruct k as {k}; try lia; destruct q as {q}; try lia; simpl; lia."
