"""Real numbers as Coq writes them, each with a ball around it and the lemmas that enclose it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from rankmath.arithmetic.balls import ball
from rankmath.certificates.certificate import Data
from rankmath.validation import InvalidArgument

#: Bits of Coq's intervals, and how wide an enclosure is stated: relative to its size, 2^-TIGHT.
BITS, TIGHT = 90, 60

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
Definition logit (d : nat) (dqk : R) (M : nat -> nat -> R) (k : nat -> R) (X : nat -> nat -> R) (i j : nat) :=
  (sum d (fun a => sum d (fun b => X i a * M a b * X j b)) + sum d (fun a => k a * X j a)) / sqrt dqk.
(* p X W, column b, for the row p of the attention *)
Definition mix (n d : nat) (p : nat -> R) (X W : nat -> nat -> R) (b : nat) : R :=
  sum d (fun a => sum n (fun j => p j * X j a) * W a b).
Definition l1 (d : nat) (u : nat -> R) : R := sum d (fun a => Rabs (u a)).
Definition l2 (d : nat) (u : nat -> R) : R := sqrt (sum d (fun a => u a * u a)).
Definition linf (d : nat) (u : nat -> R) : R := maxf d (fun a => Rabs (u a)).
(* the largest distance of two tokens *)
Definition diam (n : nat) (N : (nat -> R) -> R) (X : nat -> nat -> R) : R :=
  maxf n (fun i => maxf i (fun k => N (fun a => X i a - X k a))).
Definition norm1 (n d : nat) (A : nat -> nat -> R) : R := maxf d (fun a => sum n (fun i => Rabs (A i a))).
Definition norminf (n d : nat) (A : nat -> nat -> R) : R := maxf n (fun i => sum d (fun a => Rabs (A i a))).
Definition normmax (n d : nat) (A : nat -> nat -> R) : R := maxf n (fun i => maxf d (fun a => Rabs (A i a))).
Definition frob (n d : nat) (A : nat -> nat -> R) : R := sqrt (sum n (fun i => sum d (fun a => A i a * A i a))).
Definition comp (n d : nat) (A : nat -> nat -> R) : R := sqrt (norm1 n d A * norminf n d A).
(* |X - 1 mean^T|_F *)
Definition mu (n d : nat) (X : nat -> nat -> R) : R :=
  frob n d (fun i a => X i a - sum n (fun j => X j a) / INR n).
(* s is the spectral norm: the least number with |v A| <= s |v| for all v *)
Definition image (d : nat) (A : nat -> nat -> R) (v : nat -> R) (b : nat) : R := sum d (fun a => v a * A a b).
Definition spectral (d : nat) (A : nat -> nat -> R) (s : R) : Prop :=
  (forall v, l2 d (image d A v) <= s * l2 d v) /\\
  (forall t, 0 <= t -> (forall v, l2 d (image d A v) <= t * l2 d v) -> s <= t).
Lemma spectral_bounds d A s low high v : spectral d A s -> 0 <= high ->
  (forall u, sum d (fun b => image d A u b * image d A u b) <= high * high * sum d (fun a => u a * u a)) ->
  0 < l2 d v -> low * l2 d v <= l2 d (image d A v) -> low <= s <= high.
Proof.
  intros [S1 S2] H U P L. split.
  - apply Rmult_le_reg_r with (l2 d v); [exact P|]. eapply Rle_trans; [exact L|apply S1].
  - apply S2; [exact H|]. intro u. unfold l2. rewrite <- (sqrt_square high) by exact H.
    rewrite <- sqrt_mult_alt by (apply Rle_0_sqr). apply sqrt_le_1_alt, U.
Qed.

(* ---------- tactics ----------
   Known enclosures become variables in bounds; a maximum is bounded from above by all, from below by one. *)
Ltac known t H := generalize H; generalize t; intros ? ?.
Ltac unfolded :=
  cbv [sum maxf entries rows nth softmax logit mix l1 l2 linf diam norm1 norminf normmax frob comp mu image];
  rewrite ?INR_IZR_INZ; simpl IZR.
Ltac squares := repeat match goal with |- context [?x ^ 2] =>
  generalize (pow2_ge_0 x); generalize (x ^ 2); intros ? ? end; lra.
Ltac num := interval with (i_prec BITS).
Ltac less := first [apply Rminus_le | apply Rminus_lt]; num.
Ltac below := lazymatch goal with
  | |- _ <= Rmax ?a ?b =>
      first [apply Rle_trans with a; [below | apply Rmax_l] | apply Rle_trans with b; [below | apply Rmax_r]]
  | _ => solve [num] end.
Ltac above := lazymatch goal with |- Rmax _ _ <= _ => apply Rmax_lub; above | _ => num end.
""".replace("BITS", str(BITS))


class Untranslatable(InvalidArgument):
    """A certificate that no Coq file is written for, with the reason."""


@dataclass(frozen=True)
class Term:
    """A real number: how Coq writes it, a ball that contains it, and the enclosures that Coq needs for it."""

    coq: str
    ball: arb
    uses: frozenset[tuple[str, str]] = frozenset()
    exact: Fraction | None = None

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
    return Term(f"({text})", ball(value), exact=value)


def literal(value: Data) -> str:
    """Nested lists of rationals as Coq lists."""
    if isinstance(value, list):
        return f"[{'; '.join(literal(x) for x in value)}]"
    return constant(value).coq


def exact(value: Data, where: str) -> Data:
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


def bounds(x: arb) -> tuple[Fraction, Fraction]:
    """Two rationals around a ball, wide enough for Coq's intervals to prove them."""
    if not x.is_finite():
        raise Untranslatable("a quantity has no finite enclosure")
    slack = Fraction(1, 2**TIGHT) * max(_fraction(abs(x).upper()), Fraction(1, 2**TIGHT))
    scale = 2 ** (2 * TIGHT + 20)
    low, high = (_fraction(x.lower()) - slack) * scale, (_fraction(x.upper()) + slack) * scale
    return Fraction(math.floor(low), scale), Fraction(math.ceil(high), scale)


def _fraction(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


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

    def enclose(
        self, coq: str, value: arb, uses: frozenset[tuple[str, str]], opened: Sequence[str] | None = None
    ) -> Term:
        """The term as a number of its own, with a proved enclosure; `opened` are the definitions to look into."""
        if coq in self.names:
            return self.names[coq]
        lemma = f"bound_{len(self.names)}"
        low, high = bounds(value)
        known = "".join(f" known ({term}) {name}." for term, name in sorted(uses))
        unfold = f" cbv [{' '.join(dict.fromkeys(opened))}]." if opened else ""
        unfold += " unfolded." if opened is not None else ""
        self.lines.append(
            f"Lemma {lemma} : {constant(low).coq} <= {coq} <= {constant(high).coq}.\n"
            f"Proof.{unfold}{known} unfold tanh, sinh, cosh; split; [below | above]. Qed."
        )
        self.names[coq] = Term(coq, ball(low).union(ball(high)), frozenset({(coq, lemma)}))
        return self.names[coq]

    def assume(self, name: str, meaning: str, value: arb, proof: str) -> Term:
        """A number that is known by what it is: a variable, its meaning, and bounds that follow."""
        if name not in self.names:
            low, high = bounds(value)
            between = f"{constant(low).coq} <= {name} <= {constant(high).coq}"
            self.lines += [f"Variable {name} : R.", f"Hypothesis is_{name} : {meaning}."]
            self.lines += [f"Lemma bound_{name} : {between}.", f"Proof.\n{proof}\nQed."]
            self.names[name] = Term(name, ball(low).union(ball(high)), frozenset({(name, f"bound_{name}")}))
        return self.names[name]

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
        raise Untranslatable(
            f"the relation {sign}: equality of numbers that are not rational is not decided by intervals"
        )
    known = "".join(f" known ({term}) {name}." for term, name in sorted(left.uses | right.uses))
    if left.exact is not None and right.exact is not None and holds:
        a, b = left.exact, right.exact
        if {"<=": a <= b, "<": a < b, ">=": a >= b, ">": a > b}[sign]:
            return f"({left.coq} {words[sign]} {right.coq})", "lra."
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
