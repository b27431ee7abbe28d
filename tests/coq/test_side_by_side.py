"""Every proposition in Coq is printed from its registered formula, and the page shows what is proved of it."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import rankmath as rm
from rankmath.formula.language import FUNCTIONS
from rankmath.report import coq
from rankmath.report.shown import described, lines
from rankmath.verification.statement import Statement

sys.path[:0] = [str(Path(__file__).parents[2] / "docs" / "_ext")]

import coq_statements  # noqa: E402

COQ = Path(__file__).parents[2] / "proofs" / "coq"
EXACT = [row for row in coq_statements.rows() if row["proves"] != "related"]


def test_the_file_of_statements_is_printed_from_the_registry() -> None:
    assert (COQ / "Statements.v").read_text() == coq.statements_file(rm.statements())


def test_what_counts_as_machine_checked_is_the_proposition_itself() -> None:
    """The theorem's statement is statement_KEY, or its negation, and nothing else: no section around it."""
    for row in EXACT:
        name = coq.identifier(row["key"])
        verb, sign = {"holds": ("proved", ""), "refuted": ("refuted", "~ ")}[row["proves"]]
        assert row["name"].endswith(f".{verb}_{name}")
        assert coq_statements.statement(row["name"]) == f"Theorem {verb}_{name} : {sign}statement_{name}."
        assert rm.statements()[row["key"]].status == {"holds": "proved", "refuted": "refuted"}[row["proves"]]


def test_a_refutation_over_real_numbers_for_whole_ones_says_which_it_takes() -> None:
    """Where Coq lets a whole number be any real one the negation says less than what is displayed."""
    text, looser, more = (COQ / "Statements.v").read_text(), set(), set()
    for row in EXACT:
        entry = rm.statements()[row["key"]]
        whole = {name for name, declared in entry.arrays.items() if re.search("whole|even", declared)}
        bound = text.partition(f"Definition statement_{coq.identifier(row['key'])} :")[2].partition(",\n")[0]
        natural = set(" ".join(re.findall(r"\(([^:()]*) : nat\)", bound)).split())
        shaped = set(" ".join(re.findall(r"\(([^:()]*) : shape [^()]*\)", bound)).split())
        if row["proves"] == "refuted" and not whole <= natural | shaped:
            looser.add(row["key"])
            assert re.search("real .*the proof takes", row["scope"])
        elif not whole <= natural | shaped:
            more.add(row["key"])
    assert looser == {"geshkovski2023:late-printed", "folk:softmax-rank"}
    page = (Path(__file__).parents[2] / "docs" / "machine-checked.md").read_text()
    bullet = page.partition("**Whole numbers.**")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+:[\w-]+)`", bullet)) == looser | more


def test_a_time_or_a_probability_that_coq_has_as_an_integral_is_said_to_be_one() -> None:
    found = 0
    for row in EXACT:
        entry = rm.statements()[row["key"]]
        if any(FUNCTIONS[name].text.startswith("integral(") for name in entry.functions):
            assert "integral" in row["scope"], row["key"]
            found += 1
    assert found >= 5


def test_a_theorem_is_said_to_be_of_the_formula() -> None:
    """Notes say more than formulas, and sharpness is no part of a bound: neither is what Coq has checked."""
    for row in EXACT:
        shown = " ".join(line.strip() for line in lines(row["key"]))
        assert f"Coq theorem of the formula: {row['name']}" in shown


def test_every_theorem_about_a_proposition_is_in_the_table() -> None:
    found = {
        f"Rankmath.{path.stem}.{name}"
        for path in COQ.glob("*.v")
        for name in re.findall(r"^Theorem ((?:proved|refuted)_\w+) :", path.read_text(), re.MULTILINE)
    }
    assert found == {row["name"] for row in EXACT}


def test_no_key_is_proved_twice() -> None:
    keys = [row["key"] for row in EXACT]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("key", "change", "old", "new"),
    [
        ("own:tv", {"formula": "tv(c, g) <= tanh(osc(g)/3)"}, "osc g / 4", "osc g / 3"),
        (
            "folk:entropy-order",
            {"given": ("T >= 2", "sigma > 0", "c > 0")},
            "c * T * sigma * exp (- sigma) <= ln T ->\n",
            "",
        ),
        ("contranorm2023:2", {"given": ("s > 0", "bottom(sigma) > 0")}, "bottom sigma < top sigma ->\n", ""),
        ("wu2024:L13-repaired", {"given": ("w > 1", "in_repaired_set(x, w)")}, "unit_vector x ->\n", ""),
    ],
)
def test_a_changed_formula_or_hypothesis_changes_the_proposition(
    key: str, change: dict[str, object], old: str, new: str
) -> None:
    entry = rm.statements()[key]
    before, after = coq.proposition(entry), coq.proposition(replace(entry, **change))
    assert old in before
    assert old.strip() not in after
    assert new in after


def test_every_hypothesis_is_printed() -> None:
    """A hypothesis taken away changes the proposition, whichever it is; what Coq's types say has no line."""
    printed, _ = coq.propositions(rm.statements())
    silent = {f"{name} == any" for name in ("mask", "softcap", "qk_norm")}
    for key, text in printed.items():
        entry = rm.statements()[key]
        # Networks that the words ask for have positions of every kind, or maps of single tokens.
        asked = {"positions == any"} if "(N : normed)" in text or "(N : placed)" in text else set()
        asked |= {"mlp == any"} if "(N : fed)" in text else set()
        for k, part in enumerate(entry.hypotheses):
            fewer = _with(entry, entry.hypotheses[:k] + entry.hypotheses[k + 1 :])
            assert (coq.proposition(fewer) == text) == (str(part) in silent | asked), (key, str(part))


def _with(entry: Statement, hypotheses: tuple[object, ...]) -> Statement:
    """The statement with these hypotheses and no others, also not those that go without saying."""
    changed = replace(entry)
    changed.__dict__["hypotheses"] = hypotheses
    return changed


def test_words_that_are_not_defined_in_coq_are_refused_by_name() -> None:
    rm.statements()  # the claims' own words, row_mu among them, are known once they are loaded
    entry = Statement("mine:new", "row_mu(Y) <= received(Y)", arrays={"Y": "n d"})
    with pytest.raises(coq.Unprintable, match="its arrays"):
        coq.proposition(entry)


def test_words_have_the_meaning_of_the_registry() -> None:
    """The comment above a word in Language.v is its meaning in the language of claims; it may go on."""
    text = re.sub(r"\s+", " ", (COQ / "Language.v").read_text())
    rm.statements()  # the claims' own words are known once they are loaded
    said = re.findall(r"\(\*\* (\w+): (.*?) \*\)", text)
    for name, meaning in said:
        assert meaning.startswith(FUNCTIONS[name].meaning), name
    named = {name for name, _ in said}
    for name in coq.words():
        assert name in named or name not in FUNCTIONS or not FUNCTIONS[name].parameters, name
    assert len(named) > 150


#: What a condition on the arrays of a statement says of one of them, in the words of its declaration.
DECLARED = {
    r"l2 d": "no zero row",
    r"\b(row_)?stochastic": "stochastic",
    r"is_mask": "mask ",
    r"0 < E i j": "> 0",
    r"0 < a < 1": "> 0, < 1",
    r"0 <= beta": ">= 0",
    r"2 <= \w+": ">= 2",
}
#: What the words of a statement ask for besides.
ASKED = {
    "karagodin2024:two-clusters": "tokens on the sphere",
    "karagodin2024:two-clusters-symmetric": "tokens on the sphere",
    "own:stable-complete": "an existence claim: more is said",
    "wu2024:anisotropy": "what n, k and the signs stand for",
}


def test_conditions_on_arrays_are_those_that_the_registry_declares() -> None:
    for key, entry in rm.statements().items():
        declared = " ".join(f"{text}," for text in entry.arrays.values())
        for condition in coq.declared(entry).conditions if entry.arrays else ():
            if re.fullmatch(r"\(0 < \w+\)%nat", condition) or key in ASKED:
                continue
            words = [word for sign, word in DECLARED.items() if re.search(sign, condition)]
            assert words, (key, condition)
            assert all(word in declared for word in words), (key, condition)


def test_every_array_is_one_that_the_formula_reads() -> None:
    """A letter that no formula names is a quantifier over nothing."""
    for key, entry in rm.statements().items():
        found = described(key)
        said = " ".join((found["claim"], found["given"], *found["where"].values()))
        for name in entry.arrays:
            assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said), (key, name)


def test_the_page_shows_every_statement_and_every_theorem() -> None:
    page = coq_statements.page(rm.statements())
    for row in coq_statements.rows():
        if row["key"]:
            assert f"## [{row['key']}](" in page
            assert coq_statements.statement(row["name"]).splitlines()[-1].strip() in page
    for row in EXACT:
        assert f"Definition statement_{coq.identifier(row['key'])} : Prop :=" in page


def test_a_theorem_brings_the_definitions_it_rests_on_and_no_others() -> None:
    for name, words in (
        ("bhojanapalli2020.isometry_grows", "jump det gram isometry length_spread"),
        ("geshkovski2023.flow_step_read", "cosines least_pair closing"),  # of another file
        ("zhai2023.no_grad", ""),  # its letters are names elsewhere
    ):
        assert [text.split()[1] for text in coq_statements.meanings(f"Rankmath.{name}")] == words.split()


def test_a_reason_for_no_theorem_stands_where_there_is_none() -> None:
    table = tomllib.loads((COQ / "theorems.toml").read_text(encoding="utf-8"))
    assert set(table["without"]) <= set(rm.statements())
    assert not set(table["without"]) & {row["key"] for row in EXACT}
    key = "own:stable-connected"
    assert f"Coq theorem: none ({table['without'][key]})" in " ".join(line.strip() for line in lines(key))
