"""Each machine-checked formula and its theorem speak of the same quantities, under the same hypotheses."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import rankmath as rm

sys.path[:0] = [str(Path(__file__).parents[2] / "docs" / "_ext")]

import coq_statements  # noqa: E402

#: How a formula is put together; no quantities. What is decided on arrays says in its words what it is.
PLAIN = """all_p all_i all_l sum_h max_h max_l min_l prod_l prod_k sqrt abs floor max min log exp recursion
    decreasing stable_range sees_predecessor token_count tokens_of shift_tokens shift_rank unit_vector
    in_printed_set in_repaired_set positive_stochastic never_zero erank_after top bottom count"""
KEYS = sorted({row["key"] for row in coq_statements.rows() if row["key"]})


@pytest.mark.parametrize("key", KEYS)
def test_formula_and_theorem_agree(key: str) -> None:
    entry = rm.statements()[key]
    assert coq_statements.quantities(entry), "the dictionary has no word of the formula"
    assert not coq_statements.disagreements(key, entry)


def test_every_quantity_has_its_word_in_coq() -> None:
    known = {term.partition("(")[0] for term in coq_statements.DICTIONARY} | set(PLAIN.split())
    for key in KEYS:
        entry = rm.statements()[key]
        for text in (entry.expanded, *entry.given_texts):
            calls = [node for node in ast.walk(ast.parse(str(text))) if isinstance(node, ast.Call)]
            assert {ast.unparse(node.func) for node in calls} <= known, (key, text)


@pytest.mark.parametrize(
    ("key", "name", "missing"),
    [
        ("own:diameter", "Rankmath.own_tv.tv_tanh", "diameter"),
        ("own:gamma-free-sharp", "Rankmath.dong2021_2_3.dong_2_2", "q_max"),
        ("dong2021:2.3", "Rankmath.own_residual_inf.residual_inf", "gamma"),
        ("own:residual-inf", "Rankmath.wu2024_2.wu_2", "layernorm == none"),
        ("wu2024:1", "Rankmath.own_diameter.diameter_depth", "mask == any"),
    ],
)
def test_another_theorem_disagrees(key: str, name: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"key": key, "name": name, "file": f"{name.split('.')[1]}.v"}
    monkeypatch.setattr(coq_statements, "rows", lambda: (row,))
    assert missing in coq_statements.disagreements(key, rm.statements()[key])


def test_what_is_left_out_is_said() -> None:
    for key in coq_statements.LEFT_OUT:
        assert any(" not " in row["scope"] for row in coq_statements.rows() if row["key"] == key)


def test_the_page_shows_every_statement_and_every_theorem() -> None:
    page = coq_statements.page(rm.statements())
    for row in coq_statements.rows():
        if row["key"]:
            assert f"## [{row['key']}](" in page
            assert coq_statements.statement(row["name"]).splitlines()[-1].strip() in page
            assert all(text.splitlines()[0] in page for text in coq_statements.meanings(row["name"]))


def test_a_theorem_brings_the_definitions_it_rests_on_and_no_others() -> None:
    for name, words in (
        ("joudaki2023.isometry_grows", "jump det gram isometry length_spread"),
        ("geshkovski2023_step.flow_step_read", "cosines least_pair closing"),  # of another file
        ("noci2022.no_grad", ""),  # its letters are names elsewhere
    ):
        assert [text.split()[1] for text in coq_statements.meanings(f"Rankmath.{name}")] == words.split()
