"""The checker's arithmetic and rules in Coq: the model computes what the checker does, and no rule is forgotten."""

from __future__ import annotations

import random
import re
import sys
import time
from fractions import Fraction
from pathlib import Path

from rankmath.checker.intervals import Interval, Rejected, Undecided, compare
from rankmath.checker.kernel import Evaluator, formula

sys.path[:0] = [str(Path(__file__).parents[2] / "docs" / "_ext"), str(Path(__file__).parent)]

import coq_statements  # noqa: E402
from test_machine_checked import compiled, coqc, needs_coq  # noqa: E402, F401

RELATIONS = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "==": "EQ"}
OPERATIONS = {"+": "Plus", "-": "Less", "*": "Times", "/": "Over"}


def test_every_word_of_the_rules_is_in_the_table_once() -> None:
    words = [word for rule in coq_statements.rules() for word in rule["words"]]
    assert sorted(words) == sorted(coq_statements.rule_texts())


def test_every_theorem_of_the_table_is_there_and_every_rule_of_coq_is_used() -> None:
    named = {name for rule in coq_statements.rules() for name in rule["theorems"]}
    for name in named:
        assert coq_statements.statement(f"Rankmath.{name}")
    proved = re.findall(r"^Theorem (rule_\w+)", coq_statements.text_of("checker_rules.v"), re.MULTILINE)
    assert {f"checker_rules.{name}" for name in proved} <= named


def test_the_page_prints_the_text_of_the_rules() -> None:
    page = coq_statements.rules_page()
    assert all(text in page for text in coq_statements.rule_texts().values())
    assert "Theorem rule_polygon" in page


def _written(x: Interval) -> str:
    return f"(Iv ({x.lo}) ({x.hi}) ({x.scale}))"


def _random_interval(rng: random.Random, bits: int) -> Interval:
    low, width = rng.randint(-(2 ** rng.randint(1, bits)), 2 ** rng.randint(1, bits)), 2 ** rng.randint(0, 40)
    return Interval(low, low + rng.randint(0, width), rng.randint(-bits - 5, 3), bits)


def _cases(rng: random.Random, bits: int) -> list[tuple[str, str]]:
    """Terms of Coq, and what they must be by the checker's own arithmetic."""

    def tried(x: Interval, operation: str) -> str:
        try:
            made = {"inv": lambda: 1 / x, "root": x.sqrt, "exponential": x.exp}[operation]()
        except (Undecided, Rejected):
            return "None"
        return f"(Some {_written(made)})"

    x, y, p, q = _random_interval(rng, bits), _random_interval(rng, bits), rng.randint(-99, 99), rng.randint(1, 99)
    zero = Interval(0, 0, rng.randint(0, 9999), bits)  # it has no size, whatever its scale
    positive = Interval(max(0, x.lo), max(0, x.hi), x.scale, bits)
    one = f"mul {bits} j (of_whole {bits} 1)"
    one_over = f"match inv {bits} {_written(x)} with Some j => Some ({one}) | None => None end"
    found = [
        (f"add {bits} {_written(x)} {_written(y)}", _written(x + y)),
        (f"mul {bits} {_written(x)} {_written(y)}", _written(x * y)),
        (f"neg {bits} {_written(x)}", _written(-x)),
        (f"absolute {bits} {_written(x)}", _written(abs(x))),
        (f"of_fraction {bits} ({p}) {q}", _written(Interval.of(Fraction(p, q), bits)))
        if Fraction(p, q).denominator == q
        else ("0%Z", "0%Z"),
        (f"merged {bits} Z.min Z.max {_written(x)} {_written(y)}", _written(x.merged(y, min, max))),
        (f"merged {bits} Z.max Z.max {_written(x)} {_written(y)}", _written(x.merged(y, max, max))),
        (one_over, tried(x, "inv")),
        (f"root {bits} {_written(positive)}", tried(positive, "root")),
        (f"exponential {bits} {_written(x)}", tried(x, "exponential")),
        (f"exponential {bits} {_written(zero)}", tried(zero, "exponential")),
    ]
    for relation, name in RELATIONS.items():
        truth = {True: "(Some true)", False: "(Some false)", None: "None"}[compare(relation, x, y)]
        found.append((f"compare {bits} {name} {_written(x)} {_written(y)}", truth))
    return found


@needs_coq
def test_the_model_computes_what_the_checker_computes(compiled: Path, tmp_path: Path) -> None:  # noqa: F811
    """Bit by bit: sums, products, quotients, roots, exponentials, hulls and relations of random intervals."""
    rng = random.Random(45)
    cases = [case for bits in (64, 128, 150) for _ in range(2) for case in _cases(rng, bits)]
    head = "Require Import ZArith.\nFrom Rankmath Require Import Dyadic.\nOpen Scope Z_scope.\n"
    terms, values = (", ".join(f"({part})" for part in column) for column in zip(*cases, strict=True))
    done = coqc(tmp_path, "Model", f"{head}Goal ({terms}) = ({values}). vm_compute. reflexivity. Qed.")
    assert done.returncode == 0, done.stderr
    wrong = "Goal add 64 (Iv 1 1 0) (Iv 1 1 0) = Iv 2 3 0. vm_compute. reflexivity. Qed."
    assert coqc(tmp_path, "Wrong", head + wrong).returncode != 0


def _random_term(rng: random.Random, depth: int) -> tuple[str, str]:
    """A term as the checker reads it, and as Acceptance.v has it."""
    if depth == 0:
        p, q = rng.randint(-9, 9), rng.randint(1, 9)
        return rng.choice(
            [
                (f"({p})", f"(Fraction (inject_Z ({p})))"),
                (f"({p}/{q})", f"(Over (Fraction (inject_Z ({p}))) (Fraction {q}))"),
            ]
        )
    (a, A), (b, B), (c, C) = (_random_term(rng, rng.randint(0, depth - 1)) for _ in range(3))
    return rng.choice(
        [
            *((f"({a} {sign} {b})", f"({name} {A} {B})") for sign, name in OPERATIONS.items()),
            (f"max({a}, {b})", f"(Larger {A} {B})"),
            (f"min({a}, {b})", f"(Smaller {A} {B})"),
            (f"(-{a})", f"(Minus {A})"),
            (f"abs({a})", f"(Size {A})"),
            (f"sqrt(abs({a}))", f"(Sqrt (Size {A}))"),
            (f"exp({a} - {a})", f"(Exp (Less {A} {A}))"),
            (f"exp({a})", f"(Exp {A})"),
            (f"({a} if {b} <= {c} else {c})", f"(If (Relation LE {B} {C}) {A} {C})"),
        ]
    )


@needs_coq
def test_acceptance_is_about_what_the_kernel_computes(compiled: Path, tmp_path: Path) -> None:  # noqa: F811
    """Terms and relations have in Coq the value that they have in the kernel, bit by bit, exact or not."""
    data = {"odd": Fraction(2**8200 + 1), "even": Fraction(2**8200)}
    rng, work = random.Random(46), Evaluator({}, data, {}, 128, time.monotonic() + 60)

    def value(text: str) -> str:
        try:
            x = work.value(formula(text), {})
        except (Undecided, Rejected):
            return "None"
        return (
            f"Some (Wide {_written(x)})" if type(x) is Interval else f"Some (Exact ({x.numerator} # {x.denominator}))"
        )

    def truth(text: str) -> str:
        try:
            found = work.truth(formula(text))
        except (Undecided, Rejected):
            found = None
        return "None" if found is None else f"Some {str(found).lower()}"

    # Numbers of the data stay exact however long they are; what is calculated becomes an interval.
    odd, even, one = "(Fraction (inject_Z (2 ^ 8200 + 1)))", "(Fraction (inject_Z (2 ^ 8200)))", "(Fraction 1)"
    terms = [("odd", odd), ("odd - odd", f"(Less {odd} {odd})"), ("odd/odd", f"(Over {odd} {odd})")]
    terms += [("max(1, odd)", f"(Larger {one} {odd})"), ("abs(odd)", f"(Size {odd})")]
    terms += [("exp(even*1 - even*1)", f"(Exp (Less (Times {even} {one}) (Times {even} {one})))")]
    terms += [_random_term(rng, rng.randint(0, 3)) for _ in range(40)]
    goals, kinds = [], set()
    for (a, A), (b, B) in zip(terms, [*terms[1:], terms[0]], strict=True):
        found, sign = value(a), rng.choice([*RELATIONS])
        kinds.add(found[:9])
        relation = f"Relation {RELATIONS[sign]} {A} {B}"
        goals += [f"eval 128 {A} = {found}", f"truth 128 ({relation}) = {truth(f'{a} {sign} {b}')}"]
    assert kinds == {"None", "Some (Exa", "Some (Wid"}
    head = "Require Import ZArith QArith.\nFrom Rankmath Require Import Dyadic Acceptance.\nOpen Scope Z_scope.\n"
    text = "".join(f"Goal {goal}. vm_compute. reflexivity. Qed.\n" for goal in goals)
    done = coqc(tmp_path, "Kernel", head + text)
    assert done.returncode == 0, done.stderr[-3000:]
    wrong = "Goal eval 128 (Over (Fraction 1) (Fraction 3)) = Some (Exact (1 # 2)). vm_compute. reflexivity. Qed."
    assert coqc(tmp_path, "Wrong", head + wrong).returncode != 0
