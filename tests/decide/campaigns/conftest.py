"""One small campaign, run once without any disturbance: what every other way of running it must reproduce."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankmath.decide.campaigns.run import campaign

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "my_statement.py"

PLAN = f"""
seeds = [0, 1]
keep = 3
attempts = 5

[[statement]]
key = "own:diameter"
instances = 615
chunk = 30
batch = 10
certify = 0.03

[[statement]]
key = "seed:closure"
instances = 24
chunk = 4
certify = 0.25

[[statement]]
file = "{EXAMPLE}"
key = "example:always-halves"
instances = 80
chunk = 20
certify = 0.02
search = 2
"""

Rows = dict[str, list[Any]]


@pytest.fixture(scope="session")
def command() -> list[str]:
    """`rankmath campaign` as a process of its own."""
    return [sys.executable, "-c", "from rankmath.cli import main; main()", "campaign"]


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture(scope="session")
def rows_of() -> Callable[[Path], Rows]:
    """All rows of the tables that depend on the plan alone."""

    def rows(path: Path) -> Rows:
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = ("statements", "chunks", "records", "failures")
        found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
        done = connection.execute("SELECT statement, seed, chunk FROM provenance").fetchall()
        connection.close()
        assert done == [row[:3] for row in found["chunks"]], "each chunk recorded once, by someone"
        return found

    return rows


@pytest.fixture(scope="session")
def undisturbed_ledger(plan: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("undisturbed") / "plan.db"
    assert campaign(plan, ledger=path, workers=0).outcome == "complete"
    return path


@pytest.fixture(scope="session")
def undisturbed(undisturbed_ledger: Path, rows_of: Callable[[Path], Rows]) -> Rows:
    found = rows_of(undisturbed_ledger)
    assert len(found["chunks"]) == 2 * (21 + 6 + 4)
    return found
