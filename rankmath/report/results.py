"""The results of a verification run as plain data, and the folder they are written to."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.attention.backend import Backend
from rankmath.campaigns.battery import Battery, verify_statement
from rankmath.claims import statement, statements_in
from rankmath.files import read, write
from rankmath.validation import InvalidArgument
from rankmath.verification.statement import Statement
from rankmath.version import __version__

FORMAT = "rankmath-report/1"


@dataclass(frozen=True)
class Result:
    """One statement's battery, ready for JSON; certificates by id, `texts` holding them until they are written."""

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
    certificates: tuple[str, ...]
    comparison: dict[str, float] = field(default_factory=dict)
    texts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def sentence(self) -> str:
        """What may be said of it, no more: "for all" is never shown by sampling."""
        if self.outcome == "REFUTED":
            shown = ", ".join(self.certificates) or "an instance that exact or ball arithmetic confirms"
            return f"refuted by {shown}"
        known = f"proved in {self.truth}; " if self.status == "proved" and self.truth else ""
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
    backend: Backend


def run_task(task: Task) -> Result:
    """One battery, summarised."""
    if task.file is None:
        entry = statement(task.key)
    else:
        entry = next(s for s in statements_in(task.file) if s.key == task.key)
    count = max(1, int(task.instances * entry.share))
    # Where an instance is dear a step of the search is, too; it is cut by less, being what finds the tight ones.
    search = int(task.search * math.sqrt(entry.share))
    battery = verify_statement(
        entry, instances=count, certify=task.certify, seed=task.seed, search=search, backend=task.backend
    )
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
        certificates=tuple(c.id for c in battery.certificates),
        comparison=dict(battery.comparison),
        texts=tuple(c.text() for c in battery.certificates),
    )


def run(
    entries: Sequence[tuple[Statement, str | None]],
    *,
    instances: int,
    certify: int,
    seed: int,
    search: int,
    jobs: int,
    backend: Backend = "numpy",
) -> Iterator[Result]:
    """Results as they finish; a battery depends on its own arguments alone, so `jobs` changes nothing but time."""
    tasks = [Task(entry.key, file, instances, certify, seed, search, backend) for entry, file in entries]
    if jobs <= 1 or len(tasks) <= 1:
        yield from map(run_task, tasks)
        return
    # The long ones first, so that no worker is left with one at the end.
    tasks.sort(key=lambda task: -next(entry.cost for entry, _ in entries if entry.key == task.key))
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        for done in as_completed([pool.submit(run_task, task) for task in tasks]):
            yield done.result()


@dataclass(frozen=True)
class Report:
    """A verification run: what ran, where, with which settings, and what it showed."""

    version: str
    date: str
    python: str
    numpy: str
    settings: dict[str, Any]
    results: tuple[Result, ...]

    @classmethod
    def of(cls, results: Iterable[Result], settings: dict[str, Any]) -> Report:
        """The report of a run that has just ended here."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(__version__, now, platform.python_version(), np.__version__, dict(settings), tuple(results))

    def result(self, key: str) -> Result | None:
        """The result of one statement; None if it did not take part."""
        return next((result for result in self.results if result.key == key), None)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """report.json and certificates/ under `folder`; returns the folder."""
        target = Path(folder)
        (target / "certificates").mkdir(parents=True, exist_ok=True)
        for result in self.results:
            for name, text in zip(result.certificates, result.texts, strict=True):
                write(target / "certificates" / f"{name}.json", text + "\n")
        content = {"format": FORMAT, **vars(self), "results": [_plain(result) for result in self.results]}
        write(target / "report.json", json.dumps(content, indent=1, allow_nan=False))
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """Read report.json back; a ValueError names what is wrong with it."""
        raw = read(path, "report")
        try:
            content = json.loads(raw.decode())
            if content["format"] != FORMAT:
                newer = re.fullmatch(r"rankmath-report/[1-9]\d{0,5}", str(content["format"]))
                raise InvalidArgument(
                    f"the format is {content['format']!r}{', of a newer rankmath' if newer else ''}"
                )
            results = tuple(Result(**_typed(Result, entry)) for entry in content["results"])
            return cls(**_typed(cls, {**content, "results": results}))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidArgument(
                f"report: {os.fspath(path)} given; it is no report of `rankmath verify` ({FORMAT}): {error}"
            ) from None


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "list[float]": (list,),
    "tuple[str, ...]": (list, tuple),
    "tuple[Result, ...]": (tuple,),
    "dict[str, float]": (dict,),
    "dict[str, Any]": (dict,),
}


def _typed(kind: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass out of a JSON object, each of the type that is declared for it."""
    found: dict[str, Any] = {}
    for slot in fields(kind):
        if slot.name == "texts":
            continue
        value = entry[slot.name]
        declared = str(slot.type)
        if not isinstance(value, _TYPES[declared]) or (isinstance(value, bool) and declared != "bool"):
            raise InvalidArgument(f"{slot.name} is a {type(value).__name__}, not {declared}")
        if declared in _MEMBERS:
            wanted, words = _MEMBERS[declared]
            members: Any = value.values() if isinstance(value, dict) else value
            if not all(wanted(member) for member in members):
                raise InvalidArgument(f"{slot.name} holds something else than {words}")
        if declared == "float" and not _is_finite(value):
            raise InvalidArgument(f"{slot.name} is {value}, not a finite number")
        found[slot.name] = tuple(value) if isinstance(value, list) and "tuple" in declared else value
    # Certificates are files of this name: nothing else may be read or written by way of a report.
    for name in found.get("certificates", ()):
        if not re.fullmatch(r"rm-[0-9a-f]{32}", name):
            raise InvalidArgument(f"certificates holds {name!r}, which is no id of a certificate")
    return found


def _is_finite(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= sys.float_info.max


#: What a list, or the values of an object, must consist of, by the declared type.
_MEMBERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "list[float]": (_is_finite, "finite numbers"),
    "dict[str, float]": (_is_finite, "finite numbers"),
    "tuple[str, ...]": (lambda x: isinstance(x, str), "words"),
}


def _plain(result: Result) -> dict[str, Any]:
    plain = {name: value for name, value in vars(result).items() if name != "texts"}
    # JSON knows no infinities.
    ratios = [r for r in result.ratios if np.isfinite(r)]
    return {**plain, "ratios": ratios, "sentence": result.sentence}
