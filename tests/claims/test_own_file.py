"""A user's own file of statements runs, and its false claim is refuted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankmath.claims import statements_in
from rankmath.cli import main

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my_statement.py"


def test_the_example_of_the_docs_is_verified_and_its_false_claim_refuted(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["verify", str(EXAMPLE), "--json", "--jobs", "1", "--output", str(tmp_path)])
    assert run.exit_code == 0, run.output
    outcomes = {r["key"]: r["outcome"] for r in json.loads((tmp_path / "report.json").read_text())["results"]}
    assert outcomes == {"example:never-grows": "HOLDS", "example:always-halves": "REFUTED"}


def test_a_false_claim_registered_as_proved_is_an_exit_code_of_one(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(EXAMPLE.read_text().replace("bound / 2,", "bound / 2, status='proved',"))
    run = CliRunner().invoke(main, ["verify", str(wrong), "--jobs", "1", "--output", str(tmp_path / "report")])
    assert run.exit_code == 1
    assert "example:always-halves" in run.output


@pytest.mark.parametrize(("text", "word"), [("x = 1\n", "defines no Statement"), (None, "a Python file")])
def test_a_file_without_statements_is_refused(tmp_path: Path, text: str | None, word: str) -> None:
    path = tmp_path / "empty.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ValueError, match=word):
        statements_in(path)
    assert CliRunner().invoke(main, ["verify", str(path), "--output", str(tmp_path / "r")]).exit_code == 2
