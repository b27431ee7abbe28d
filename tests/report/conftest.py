"""One small run, reported: a few cheap statements, proved and refuted, decided exactly and by inequalities."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rankmath.campaigns.in_memory import Result, run_all, works
from rankmath.claims import statement
from rankmath.report.results import Report

KEYS = ("seed:closure", "dong2021:norm", "dong2021v1:A.3", "own:tv", "own:diameter")
SETTINGS = {"instances": 20, "certify": 2, "seed": 0, "search": 10}


@pytest.fixture(scope="session")
def report() -> Report:
    batteries = works([(statement(key), None) for key in KEYS], **SETTINGS)
    return Report.of(_in_order(run_all(batteries, jobs=1)), SETTINGS)


def _in_order(results: Iterable[Result]) -> list[Result]:
    return sorted(results, key=lambda result: KEYS.index(result.key))
