"""One small run, reported: a few cheap statements, proved and refuted, decided exactly and by inequalities."""

from __future__ import annotations

import pytest

from rankmath.claims import statement
from rankmath.report.results import Report, run

KEYS = ("seed:closure", "dong2021:norm", "dong2021v1:A.3", "own:tv", "own:diameter")
SETTINGS = {"instances": 20, "certify": 2, "seed": 0, "search": 10, "jobs": 1}


@pytest.fixture(scope="session")
def report() -> Report:
    return Report.of(run([(statement(key), None) for key in KEYS], **SETTINGS), SETTINGS)
