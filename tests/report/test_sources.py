"""The texts, the registry and the bibliography fit together."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flint import arb

from rankmath.claims import statements
from rankmath.files import proofs_folder
from rankmath.report.sources import ORDER, bibliography, cited_by, field, label_of, preamble, proof_texts
from rankmath.verification.papers import FIELD
from rankmath.verification.statement import Statement


def test_the_setting_comes_first_and_texts_nobody_placed_come_last() -> None:
    names = list(proof_texts())
    assert names[0] == "centred_form"
    placed = [name for name in ORDER if name in names]
    assert names[: len(placed)] == placed
    assert len(ORDER) == len(set(ORDER))
    assert "preamble" not in names


@pytest.mark.parametrize("entry", statements().values(), ids=lambda entry: entry.key)
def test_every_statement_is_shown_where_it_says(entry: Statement) -> None:
    file = proofs_folder().parent / entry.truth
    assert file.is_file()
    label = label_of(entry.key)
    assert label is not None
    assert f"\\label{{{label}}}" in file.read_text(encoding="utf-8")


def test_labels_are_unique_and_every_reference_has_one() -> None:
    text = "\n".join(proof_texts().values())
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"\\(?:eq)?ref\{([^}]*)\}", text)) <= set(labels)


def test_every_citation_has_an_entry_with_author_and_title() -> None:
    cited = {
        key for keys in re.findall(r"\\cite\{([^}]*)\}", "\n".join(proof_texts().values())) for key in keys.split(",")
    }
    assert cited <= set(bibliography())
    for entry in bibliography().values():
        assert field(entry, "author")
        assert field(entry, "title")
        assert entry.count("{") == entry.count("}")


def test_every_paper_a_statement_names_is_found() -> None:
    for entry in statements().values():
        papers = set(re.findall(r"(Dong|Wu|Noci|Geshkovski)\b", entry.source))
        authors = [field(bibliography()[key], "author") or "" for key in cited_by(entry.source)]
        found = {author.split(",")[0] for author in authors}
        assert papers <= found, entry.key
        numbers = {field(bibliography()[key], "eprint") for key in cited_by(entry.source)}
        assert set(re.findall(r"arXiv (\d{4}\.\d{5})", entry.source)) <= numbers, entry.key


def test_a_paper_is_found_by_its_number_or_by_whole_words() -> None:
    assert cited_by("Hedlund 2023") == ()
    assert cited_by("He and others 2023") == ("he2023deep",)
    for name in FIELD.values():
        assert len(cited_by(name)) == 1, name


def test_the_preamble_defines_what_the_assembly_uses() -> None:
    for name in ("rmset", "rmvalue", "rmreport"):
        assert rf"\newcommand{{\{name}}}" in preamble()


@pytest.mark.parametrize(
    ("constant", "most", "typed"),
    [
        (lambda d: arb(2).sqrt() * ((d / 2).exp() - 1) / (d / 2), 4, "3.625"),
        (lambda d: arb(2).sqrt() * ((d / 2).exp() - 1) / (d / 2), 2, "1.314"),
        (lambda d: (2 * (d.exp() - 1) / d).sqrt(), 4, "3.314"),
        (lambda d: (2 * (d.exp() - 1) / d).sqrt(), 2, "1.256"),
    ],
)
def test_thresholds_have_the_decimals_where_the_constants_reach_theirs(
    constant: Callable[[arb], arb], most: float, typed: str
) -> None:
    # √2 A(δ/2) for one head and √(2A(δ)) for several: 4 about the minimiser, 2 about the mean; both increase.
    assert typed in proof_texts()["own_gamma_free"]
    assert constant(arb(typed)) < most < constant(arb(typed) + arb("0.001"))
