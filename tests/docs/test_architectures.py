"""The table of docs/architectures.md: every theorem has its row, and every cell what it says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from architectures import DATA, PAGE, PARTS, allowing, certificate, instances, is_said, keys, shown, table, tried

import rankmath as rm
from rankmath.verification.verdict import Outcome

FOUND: dict[str, dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
CELLS = [(key, part) for key in FOUND for part in PARTS]


def test_every_proved_theorem_about_networks_has_its_row_as_it_is_printed() -> None:
    assert list(FOUND) == keys()
    assert table(FOUND) in PAGE.read_text(encoding="utf-8")


def test_what_holds_instead_is_proved_and_speaks_of_the_part() -> None:
    for key, part in CELLS:
        words = shown(key, part, FOUND[key][part])
        assert words.partition(";")[0] in ("verbatim", "verbatim: said", "refuted", "not defined", "open")
        for instead in re.findall(r"`([\w:-]+)`", words):
            assert rm.statements()[instead].status == "proved"
            assert is_said(instead, part), (key, part)
        # What is said or proved to hold was not refuted.
        assert not (words.startswith("verbatim") and "refuted" in FOUND[key][part]), (key, part)


@pytest.mark.parametrize("part", PARTS)
def test_cells_that_say_refuted_are(part: str) -> None:
    cells = [(key, FOUND[key][part]["refuted"]) for key in FOUND if "refuted" in FOUND[key][part]]
    for key, number in cells:
        found = next(x for k, x in enumerate(instances(key, part)) if k == number)
        verdict = tried(allowing(key, part), found)
        if verdict is not None and verdict.outcome == Outcome.UNDECIDED:
            verdict = tried(allowing(key, part), found, "balls")
        assert verdict is not None, key
        assert verdict.outcome == Outcome.VIOLATED, key


@pytest.mark.parametrize(("key", "part"), [cell for k, cell in enumerate(CELLS) if k % 16 == 3])
def test_cells_that_say_no_such_thing_are_not(key: str, part: str) -> None:
    """Every sixteenth cell, in doubles."""
    claim = allowing(key, part)
    if "refuted" not in FOUND[key][part]:
        for found in instances(key, part):
            verdict = tried(claim, found)
            assert verdict is None or verdict.outcome != Outcome.VIOLATED


@pytest.mark.parametrize(
    ("key", "part"), [cell for k, cell in enumerate(c for c in CELLS if "refuted" in FOUND[c[0]][c[1]]) if k % 16 == 5]
)
def test_a_cell_that_says_refuted_has_a_certificate(key: str, part: str) -> None:
    """Every sixteenth; what was drawn first for dong2021:2.3 is refuted in balls, and the checker cannot tell."""
    assert certificate(key, part).check().accepted


def test_what_is_defined_under_a_norm_that_follows_is_not_what_repeats() -> None:
    for key in ("barbero2024:4.2", "own:repeat"):
        assert shown(key, "gain", FOUND[key]["gain"]) == "not defined"
        verdicts = [tried(allowing(key, "gain"), found) for found in instances(key, "gain")]
        assert all(v is None or v.outcome == Outcome.NOT_APPLICABLE for v in verdicts)
    assert certificate("dong2021:2.3", "before").check().accepted
