"""The checker's arithmetic and rules in Coq: the model computes what the checker does, and no rule is forgotten."""

from __future__ import annotations

import random
import re
import sys
from fractions import Fraction
from pathlib import Path

from rankmath.checker.intervals import Interval, Rejected, Undecided, compare

sys.path[:0] = [str(Path(__file__).parents[2] / "docs" / "_ext"), str(Path(__file__).parent)]

import coq_statements  # noqa: E402
from test_machine_checked import compiled, coqc, needs_coq  # noqa: E402, F401

RELATIONS = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "==": "EQ"}


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
