"""The tool that weakens hypotheses tells one that a proof uses from one that it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rankmath as rm
from rankmath.report.coq import proposition

sys.path[:0] = [str(Path(__file__).parents[2] / "benchmarks"), str(Path(__file__).parent)]

import coq_hypotheses  # noqa: E402
from test_machine_checked import compiled, needs_coq  # noqa: E402, F401


def test_a_hypothesis_taken_away_leaves_its_place() -> None:
    entry = rm.statements()["own:softmax-gradient"]
    assert proposition(entry, 0) == proposition(entry).replace("T > 0 ->", "True ->")


@needs_coq
@pytest.mark.parametrize(
    ("key", "file", "hypothesis", "compiles"),
    [
        ("own:softmax-gradient", "proved_derivatives.v", "T > 0", False),
        ("wu2024:cor1-step", "proved_masks.v", "n >= 2", True),
        ("wu2024:cor1-step", "proved_masks.v", "self_loops()", False),
    ],
)
def test_hypotheses_that_are_used_and_not_used(
    compiled: Path,  # noqa: F811
    key: str,
    file: str,
    hypothesis: str,
    compiles: bool,
) -> None:
    which = [str(part) for part in rm.statements()[key].hypotheses].index(hypothesis)
    assert coq_hypotheses.compiles_without(key, file, which) == compiles
