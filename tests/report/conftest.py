"""One small run, reported: a few cheap statements, proved and refuted, decided exactly and by inequalities."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rankmath.checker import checker
from rankmath.claims import statement
from rankmath.decide.campaigns.in_memory import Result, run_all, works
from rankmath.files import proofs_folder
from rankmath.report.results import Report

KEYS = ("seed:closure", "dong2021:norm", "dong2021v1:A.3", "own:tv", "own:diameter")
SETTINGS = {"instances": 20, "certify": 2, "seed": 0, "search": 10}


@pytest.fixture(scope="session")
def report() -> Report:
    batteries = works([(statement(key), None) for key in KEYS], **SETTINGS)
    return Report.of(_in_order(run_all(batteries, jobs=1)), SETTINGS)


@pytest.fixture(scope="session")
def checked(made_once: Callable[[str, Callable[[Path], None]], Path]) -> dict[str, checker.CheckResult]:
    """What the checker says of every committed certificate, by the names of the files; asked once in a run."""

    def fill(folder: Path) -> None:
        files = (proofs_folder() / "certificates").glob("*.json")
        (folder / "said").write_bytes(pickle.dumps({path.name: checker.check(path) for path in files}))

    found: dict[str, checker.CheckResult] = pickle.loads((made_once("checked", fill) / "said").read_bytes())
    return found


@pytest.fixture(scope="session")
def accepted(checked: dict[str, checker.CheckResult]) -> dict[str, tuple[str, ...]]:
    """What was checked of each, by its id, as an appendix tells it."""
    return {str(result.id): result.checked for result in checked.values() if result.accepted}


def _in_order(results: Iterable[Result]) -> list[Result]:
    return sorted(results, key=lambda result: KEYS.index(result.key))
