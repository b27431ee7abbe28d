"""Real numbers as Coq writes them, each with a ball around it, and the lines that define and enclose them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from rankmath.arithmetic.balls import ball
from rankmath.certificates.certificate import Data, number
from rankmath.validation import InvalidArgument

#: How Python's grammar names the relations.
SIGNS: dict[type, str] = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}


class Untranslatable(InvalidArgument):
    """A certificate that no Coq file is written for, with the reason."""


class TooNear(Untranslatable):
    """A relation that intervals of this precision do not decide."""


@dataclass(frozen=True)
class Term:
    """A real number: how Coq writes it, and a ball that contains it."""

    coq: str
    ball: arb
    exact: Fraction | None = None

    def _with(self, sign: str, other: Term, f: Callable[[Any, Any], Any]) -> Term:
        known = self.exact is not None and other.exact is not None and not (sign == "/" and other.exact == 0)
        value = f(self.exact, other.exact) if known else None
        return Term(f"({self.coq} {sign} {other.coq})", f(self.ball, other.ball), value)

    def __add__(self, other: Term) -> Term:
        return self._with("+", other, operator.add)

    def __sub__(self, other: Term) -> Term:
        return self._with("-", other, operator.sub)

    def __mul__(self, other: Term) -> Term:
        return self._with("*", other, operator.mul)

    def __truediv__(self, other: Term) -> Term:
        return self._with("/", other, operator.truediv)

    def __pow__(self, power: int) -> Term:
        if power < 0:
            return constant(1) / self**-power
        return Term(f"({self.coq} ^ {power})", self.ball**power, None if self.exact is None else self.exact**power)

    def call(self, name: str, value: Callable[[arb], arb]) -> Term:
        return Term(f"({name} {self.coq})", value(self.ball))


def constant(value: Fraction | int) -> Term:
    """A rational number."""
    value = Fraction(value)
    text = f"({value.numerator})" if value.denominator == 1 else f"(Q2R {rational(value)})"
    return Term(text, ball(value), exact=value)


def rational(value: Fraction) -> str:
    return f"({value.numerator} # {value.denominator})"


def literal(value: Data) -> str:
    """Nested lists of rationals as Coq lists."""
    if isinstance(value, list):
        return f"[{'; '.join(literal(x) for x in value)}]"
    return rational(Fraction(value))


def exact(value: Data, where: str) -> Data:
    """Numbers and nested lists of a certificate as fractions: integers, "p/q", "m*2^e"."""
    if isinstance(value, list):
        return [exact(x, where) for x in value]
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise Untranslatable(f"{where}: {value!r} given; an integer, 'p/q' or 'm*2^e' is needed")
    try:
        return number(value)
    except (ValueError, ZeroDivisionError):
        raise Untranslatable(f"{where}: {value!r} given; an integer, 'p/q' or 'm*2^e' is needed") from None


def fraction(x: arb) -> Fraction:
    """An exact ball, as a fraction."""
    mantissa, exponent = x.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


class Writer:
    """Collects definitions; what it holds has a proved enclosure, which Coq computes."""

    def __init__(self, bits: int, n: int = 1, d: int = 1) -> None:
        self.bits, self.at = bits, f"p {n}%nat {d}%nat"
        self.lines: list[str] = [f"Definition p := SFZ.PtoP {bits}."]
        self.terms: dict[str, Term] = {}
        self.names: set[str] = set()

    def data(self, name: str, value: list[Any]) -> str:
        """Rationals `q_NAME`, and the vector or matrix NAME of real numbers."""
        matrix = isinstance(value[0], list)
        self.lines.append(f"Definition q_{name} := {literal(value)}%Q.")
        return self.hold(name, f"{'rows' if matrix else 'entries'} q_{name}", "encm" if matrix else "encv")

    def hold(self, name: str, body: str, kind: str) -> str:
        """A definition with its enclosure: kind is enc (a number), encv (a vector) or encm (a matrix)."""
        if name not in self.names:
            self.names.add(name)
            self.lines.append(f"Definition {name} := {body}.")
            self.enclosed(name, name, kind, f"held {self.at} {name}")
        return name

    def enclosed(self, name: str, coq: str, kind: str, proof: str) -> None:
        self.lines += [
            f"Definition {name}_e : {{i | {kind} i {coq}}}.\nProof. {proof}. Defined.",
            f"Definition {name}_i := Eval lazy [{name}_e proj1_sig] in proj1_sig {name}_e.",
            f"Definition {name}_ok : {kind} {name}_i {coq} := proj2_sig {name}_e.",
            f"#[local] Hint Resolve {name}_ok : encl.",
        ]

    def rational(self, name: str, coq: str, value: Fraction) -> None:
        """A rational number under a name."""
        self.names.add(name)
        self.lines += [
            f"Definition {name} := {coq}.",
            f"Lemma {name}_q : ex {rational(value)} {name}.",
            f"Proof. unfold {name}. eapply ex_by; [rat | vm_compute; reflexivity]. Qed.",
            f"Definition {name}_ok := ex_enc p _ _ {name}_q.",
            f"#[local] Hint Resolve {name}_q : rat.\n#[local] Hint Resolve {name}_ok : encl.",
        ]

    def number(self, coq: str, value: arb, proof: str = "") -> Term:
        """A number that is used again, or that a lemma of its own encloses."""
        if coq not in self.terms:
            words = "_".join(re.findall(r"\w+", coq))
            name = words if len(words) < 40 and words not in self.names else f"number_{len(self.terms)}"
            if proof:
                self.names.add(name)
                self.enclosed(name, coq, "enc", f"eexists. eapply enc_by; [{proof} | computed]")
                self.terms[coq] = Term(coq, value)
            else:
                self.hold(name, coq, "enc")
                self.terms[coq] = Term(name, value)
        return self.terms[coq]


def fold(name: str, terms: Sequence[Term]) -> Term:
    """Rmax or Rmin of several numbers."""
    result = terms[0]
    for term in terms[1:]:
        value = result.ball.max(term.ball) if name == "Rmax" else result.ball.min(term.ball)
        values = [x.exact for x in (result, term) if x.exact is not None]
        known = (max if name == "Rmax" else min)(values) if len(values) == 2 else None
        result = Term(f"({name} {result.coq} {term.coq})", value, known)
    return result


def relation(out: Writer, left: Term, sign: str, right: Term, *, holds: bool) -> tuple[str, str]:
    """A relation (or its negation) and its proof."""
    statement = f"({left.coq} {'=' if sign == '==' else sign} {right.coq})"
    exact = left.exact is not None and right.exact is not None
    turn = {">=": "apply Rle_ge. ", ">": "apply Rlt_gt. "}.get(sign, "")
    refute = {"<=": "Rlt_not_le", "<": "Rle_not_lt", ">=": "Rlt_not_ge", ">": "Rle_not_gt"}.get(sign, "")
    small, large = (right, left) if sign in (">=", ">") else (left, right)
    if exact:
        a, b = left.exact, right.exact
        if {"<=": a <= b, "<": a < b, ">=": a >= b, ">": a > b, "==": a == b}[sign] != holds:  # type: ignore[operator]
            raise TooNear(f"{statement} is {not holds}")
        if sign == "==" and not holds:
            return f"~ {statement}", f"apply {'Rlt_not_eq' if a < b else 'Rgt_not_eq; apply Rlt_gt'}. ratio."  # type: ignore[operator]
        return (statement, f"{turn}ratio.") if holds else (f"~ {statement}", f"apply {refute}. ratio.")
    if sign == "==":
        raise TooNear(f"{statement}: equality of numbers that are not rational is not decided")
    if not (small.ball < large.ball if holds else large.ball < small.ball):
        raise TooNear(f"{statement} is too near to equality for intervals")
    return (statement, f"{turn}less {out.at}.") if holds else (f"~ {statement}", f"apply {refute}. less {out.at}.")
