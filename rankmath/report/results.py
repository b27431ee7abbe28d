"""The results of a verification run as plain data, and the folder they are written to."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.statements.engine import Battery, verify_statement
from rankmath.statements.registry import statement, statements_in
from rankmath.statements.statement import Statement
from rankmath.version import __version__


@dataclass(frozen=True)
class Result:
    """One statement's battery, ready for JSON; certificates as their JSON texts by id."""

    key: str
    title: str
    claim: str
    source: str
    status: str
    truth: str
    outcome: str
    as_registered: bool
    sharp: bool
    instances: int
    holds: int
    certified: int
    not_applicable: int
    undecided: int
    violations: int
    tightest: float
    seconds: float
    ratios: list[float] = field(repr=False)
    certificates: dict[str, str] = field(repr=False)
    comparison: dict[str, float] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What may be said of it, no more: "for all" is never shown by sampling."""
        if self.outcome == "REFUTED":
            return f"refuted by {', '.join(self.certificates) or 'an instance balls confirm'}"
        known = f"proved in {self.truth}; " if self.status == "proved" else ""
        return f"{known}held on {self.holds} instances, {self.certified} certified"


@dataclass(frozen=True)
class Task:
    """What a worker process needs to run one battery."""

    key: str
    file: str | None
    instances: int
    certify: int
    seed: int
    search: int


def run_task(task: Task) -> Result:
    """One battery, summarised."""
    if task.file is None:
        entry = statement(task.key)
    else:
        entry = next(s for s in statements_in(task.file) if s.key == task.key)
    count = max(1, int(task.instances * entry.share))
    battery = verify_statement(entry, instances=count, certify=task.certify, seed=task.seed, search=task.search)
    return summary(battery)


def summary(battery: Battery) -> Result:
    """The battery as plain data."""
    entry = battery.statement
    return Result(
        key=entry.key,
        title=entry.title,
        claim=entry.claim,
        source=entry.source,
        status=entry.status,
        truth=entry.truth,
        outcome=battery.outcome,
        as_registered=battery.as_registered,
        sharp=entry.sharp,
        instances=battery.instances,
        holds=battery.holds,
        certified=battery.certified,
        not_applicable=battery.not_applicable,
        undecided=battery.undecided,
        violations=len(battery.violations),
        tightest=battery.tightest,
        seconds=battery.seconds,
        ratios=battery.ratios,
        certificates={c.id: c.text() for c in battery.certificates},
        comparison=dict(battery.comparison),
    )


def run(
    entries: Sequence[tuple[Statement, str | None]],
    *,
    instances: int,
    certify: int,
    seed: int,
    search: int,
    jobs: int,
) -> Iterator[Result]:
    """Results as they finish; each battery depends on its own arguments alone, so `jobs` changes nothing but time."""
    tasks = [Task(entry.key, file, instances, certify, seed, search) for entry, file in entries]
    if jobs <= 1 or len(tasks) <= 1:
        yield from map(run_task, tasks)
        return
    # The long ones first, so that no worker is left with one at the end.
    tasks.sort(key=lambda task: -next(entry.cost for entry, _ in entries if entry.key == task.key))
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        for done in as_completed([pool.submit(run_task, task) for task in tasks]):
            yield done.result()


def write_report(folder: str | os.PathLike[str], results: Iterable[Result], settings: dict[str, Any]) -> Path:
    """report.json and certificates/ under `folder`; returns the folder."""
    results = list(results)
    target = Path(folder)
    (target / "certificates").mkdir(parents=True, exist_ok=True)
    for result in results:
        for name, text in result.certificates.items():
            (target / "certificates" / f"{name}.json").write_text(text, encoding="utf-8")
    content = {
        "format": "rankmath-report/1",
        "version": __version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "settings": settings,
        "results": [_plain(result) for result in results],
    }
    partial = target / "report.json.part"
    partial.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")
    partial.replace(target / "report.json")
    return target


def _plain(result: Result) -> dict[str, Any]:
    plain = asdict(result)
    plain["certificates"] = list(result.certificates)
    plain["sentence"] = result.sentence
    plain["ratios"] = [r for r in result.ratios if np.isfinite(r)]
    return plain


Reporter = Callable[[Result], None]
