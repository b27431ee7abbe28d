"""What a report is about: a run of `rankmath verify` or a campaign's ledger, as plain data for figures and page."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.checker import checker
from rankmath.claims import statements
from rankmath.decide.campaigns.chunks import HISTOGRAM_EDGES
from rankmath.decide.campaigns.crews import shared
from rankmath.decide.campaigns.in_memory import Result
from rankmath.decide.campaigns.ledger import Ledger, LedgerError, Standing
from rankmath.decide.campaigns.ledger import Row as LedgerRow
from rankmath.decide.campaigns.work import Tell
from rankmath.printing import quotient
from rankmath.report.plots import Table
from rankmath.report.results import Report
from rankmath.report.sources import committed_certificates, machine_checked
from rankmath.validation import InvalidArgument, Json

#: Bins of the histogram of a run.
_BINS = 24
#: From so many certificates on, several processes check them.
_SHARED = 32
#: Of a ledger, the instances that are listed for each statement.
_TIGHTEST = 3

#: The tables a ledger's page may have beside its verdicts.
LISTINGS = ("tightest", "failures", "runs")

_SQLITE = b"SQLite format 3\0"

_PAPERS = {"dong2021": "Dong et al. 2021", "dong2021v1": "Dong et al. 2021 v1", "wu2024": "Wu et al. 2024"}
_PAPERS |= {"own": "this library", "seed": "folklore", "folk": "often said", "unstated": "stated by nobody"}


@dataclass(frozen=True)
class Row:
    """A line of the verdict table."""

    key: str
    title: str
    claim: str
    source: str
    status: str
    truth: str
    outcome: str
    as_registered: bool
    sentence: str
    instances: int
    holds: int
    certified: int
    undecided: int
    not_applicable: int
    violations: int
    log_tightest: float | None
    seconds: float
    certificates: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    log_worst: float | None = None

    @property
    def sharp(self) -> bool:
        """Whether equality is approached, by what is registered."""
        entry = statements().get(self.key)
        return entry is not None and entry.sharp

    @property
    def machine(self) -> tuple[tuple[str, str], ...]:
        """The Coq theorems that prove or refute it."""
        return machine_checked().get(self.key, ())

    @property
    def paper(self) -> str:
        """Who states it, in a few words: what a reader filters by."""
        prefix = self.key.partition(":")[0]
        return _PAPERS.get(prefix, prefix)

    @property
    def tightest(self) -> str:
        """The largest lhs/rhs among instances that hold; never printed as 1."""
        return quotient(self.log_tightest, up=True)


@dataclass(frozen=True)
class Histogram:
    """How many instances have log₁₀(lhs/rhs) in each bin; `beyond` lie below the first edge."""

    key: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    beyond: int

    @classmethod
    def of_ratios(cls, key: str, ratios: Sequence[float]) -> Histogram:
        """Whole decades from the smallest positive ratio to 1; a ratio of zero has no logarithm and lies beyond.

        >>> found = Histogram.of_ratios("own:tv", [0.0, 0.02, 0.9])
        >>> found.edges[0], found.edges[-1], sum(found.counts), found.beyond
        (-2.0, 0.0, 2, 1)
        """
        logs = np.log10([r for r in ratios if r > 0])
        least = min(math.floor(logs.min()), -1) if len(logs) else -1
        edges = np.linspace(least, max(0, math.ceil(logs.max())) if len(logs) else 0, _BINS + 1)
        counts, _ = np.histogram(logs, edges)
        return cls(key, tuple(map(float, edges)), tuple(map(int, counts)), len(ratios) - len(logs))


@dataclass(frozen=True)
class Check:
    """A certificate and what the checker says of it: `content` is its bytes, None if there are none."""

    id: str
    statement: str
    origin: str
    content: bytes | None
    accepted: bool
    status: str
    checked: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Where it lies in the report's folder."""
        return f"certificates/{'' if self.origin == 'this run' else 'proofs/'}{self.id}.json"


@dataclass(frozen=True)
class Listing:
    """A table of the page, with its words; its name is that of the CSV file."""

    name: str
    title: str
    words: str
    data: Table


@dataclass(frozen=True)
class Subject:
    """Everything the page, its figures and its files are made of."""

    kind: str
    title: str
    words: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    histograms: tuple[Histogram, ...]
    checks: tuple[Check, ...]
    again: str
    complete: bool = True
    listings: tuple[Listing, ...] = ()
    costs: Table | None = None
    omissions: tuple[str, ...] = ()
    jobs: int = 1
    report: Report | None = field(default=None, repr=False)
    #: The keys of the statements that took part.
    verified: frozenset[str] = frozenset()

    @property
    def outline(self) -> Subject:
        """What is known before a run: the statements that take part, and how to run it again."""
        return Subject(self.kind, "", (), (), (), (), (), self.again, verified=self.verified)

    def command(self, keys: Iterable[str] = ()) -> str:
        """What to type to get a report on these statements, or again on all that took part."""
        named = tuple(keys) or (() if self.complete else tuple(row.key for row in self.rows))
        return self.again.replace("KEYS", " ".join(map(shlex.quote, named))).replace("  ", " ")


def subject(path: str | os.PathLike[str]) -> Subject:
    """Read a ledger, a run's folder or its report.json; a ValueError says what else the path is."""
    if not os.fspath(path):  # Path would make it the current folder
        raise InvalidArgument("run: '' given; the name of a file or folder is needed")
    target = Path(path)
    if target.is_dir():
        if not (target / "report.json").is_file():
            raise InvalidArgument(
                f"run: {target} given; there is no report.json in this folder: name a folder that `rankmath "
                "verify` has written, its report.json, or a ledger (.db)"
            )
        target = target / "report.json"
    if not target.exists():
        raise InvalidArgument(f"run: {target} given; there is no such file or folder")
    if not target.is_file():
        raise InvalidArgument(f"run: {target} given; it is neither a file nor a folder")
    with open(target, "rb") as file:
        start = file.read(len(_SQLITE))
    if start == _SQLITE or target.suffix == ".db":
        return subject_of_ledger(target)
    return subject_of_run(Report.load(target), target.parent)


# -- a run -------------------------------------------------------------------------------------------------


def subject_of_run(report: Report, folder: str | os.PathLike[str]) -> Subject:
    """A verification run, whose certificates lie in certificates/ under `folder`."""
    differing = [r.key for r in report.results if not r.as_registered]
    counts = Counter(r.outcome for r in report.results)
    held = counts["HOLDS"] + counts["HELD"]
    counted = (
        f"{_many(len(report.results), 'statement')} verified: {held} failed on no instance, "
        f"{counts['REFUTED']} refuted, "
        + (f"{counts['PROVED']} proved from lemmas, " if counts["PROVED"] else "")
        + f"{counts['UNDECIDED']} undecided."
    )
    words = (
        counted,
        f"Differs from what is registered: {', '.join(differing)}."
        if differing
        else "Every verdict is what is registered.",
        "“Held” proves nothing; a proof is named where there is one.",
    )
    settings = ", ".join(f"{name} {value}" for name, value in report.settings.items())
    facts = (
        ("made by", f"rankmath {report.version}, Python {report.python}, NumPy {report.numpy}"),
        ("ended", _moment(report.date)),
        ("settings", settings),
        ("instances", f"{sum(r.instances for r in report.results):,}".replace(",", " ")),
        ("computing time", f"{sum(r.seconds for r in report.results):.1f} s"),
    )
    rows = tuple(_row_of_result(result) for result in report.results)
    histograms = tuple(Histogram.of_ratios(r.key, r.ratios) for r in report.results if r.ratios)
    own = [(name, result) for result in report.results for name in result.certificates]
    folder = Path(folder) / "certificates"
    files = [Unchecked(name, result.key, "this run", _content(folder / f"{name}.json")) for name, result in own]
    issued = {file: check for file, (_, result) in zip(files, own, strict=True) if (check := _issued(file, result))}
    files += _committed([row.key for row in rows], {name for name, _ in own})
    jobs = report.settings.get("jobs")
    jobs = jobs if isinstance(jobs, int) else 1
    plan = planned([row.key for row in rows], report.settings)
    every = plan.verified == set(statements())
    return Subject(
        kind="run",
        title="Verification run",
        words=words,
        facts=facts,
        rows=rows,
        histograms=histograms,
        checks=_checked(files, jobs, issued),
        again=plan.again,
        complete=every,
        jobs=jobs,
        report=report,
        verified=plan.verified,
    )


def planned(keys: Iterable[str], settings: Mapping[str, Json]) -> Subject:
    """The `outline` of a run of these statements with these settings."""
    verified = frozenset(keys)
    again = _verify_command(settings, FILE=not verified <= set(statements()))
    return Subject("run", "", (), (), (), (), (), again, verified=verified)


def _row_of_result(r: Result) -> Row:
    remarks = tuple(f"{name}: {factor:.3g} times" for name, factor in r.comparison.items())
    # Every instance exact: there is no quotient to speak of.
    log_tightest = math.log(r.tightest) if r.ratios and r.tightest > 0 else None
    return Row(**_same(r), log_tightest=log_tightest, remarks=remarks)


def _same(thing: Result | Standing) -> dict[str, Any]:
    """What a row calls by the same name."""
    names = (slot.name for slot in fields(Row))
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)}


def _verify_command(settings: Mapping[str, Json], *, FILE: bool) -> str:
    """`rankmath verify` with the settings of the run; KEYS stands for statements."""
    ten = settings.get("search") == 3000
    parts = ["rankmath verify KEYS", "FILE.py" if FILE else "", "--thorough" if ten else ""]
    for name in ("instances", "certify", "seed"):
        value = settings.get(name)
        if isinstance(value, int):
            parts.append(f"--{name} {value // 10 if ten and name != 'seed' else value}")
    if settings.get("backend") == "cupy":
        parts.append("--backend cupy")
    return " ".join(part for part in parts if part)


# -- a ledger ----------------------------------------------------------------------------------------------


def subject_of_ledger(path: str | os.PathLike[str]) -> Subject:
    """The ledger of a campaign, read without writing a byte."""
    with Ledger.read(path) as book:
        try:
            return _subject_of(book)
        except LedgerError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise LedgerError(f"ledger: {os.fspath(path)} given; it is damaged: {error}") from None


def _subject_of(book: Ledger) -> Subject:
    standings, planned, several = book.standings(), book.planned(), book.versions()
    runs = [{**row, "versions": json.loads(row["versions"])} for row in book.rows("runs")]
    failures = list(book.rows("failures"))
    provenance = list(book.rows("provenance"))
    tightest = [row for s in standings for row in book.rows("records", key=s.statement, limit=_TIGHTEST)]
    rows = tuple(_row_of_standing(s, provenance) for s in standings)
    differing = [s.statement for s in standings if not s.as_registered]
    share = sum(s.instances for s in standings)
    aim = sum(planned.values())
    counted = (
        f"{_many(len(standings), 'statement')}, {_many(share, 'instance')} of {aim} planned, "
        f"{_many(sum(s.chunks for s in standings), 'chunk')}; {sum(s.violated for s in standings)} violations, "
        f"all certified; {sum(s.undecided for s in standings)} undecided."
    )
    words = [
        counted,
        f"Contradicts what is registered: {', '.join(differing)}."
        if differing
        else "Nothing contradicts what is registered.",
        "“Held” proves nothing; a proof is named where there is one.",
    ]
    if failures:
        words.append(f"{_many(len(failures), 'chunk')} failed and count for nothing; see below.")
    if several > 1:
        words.append(f"{several} different sets of versions have computed chunks of this ledger.")
    name, verified = book.path.name, frozenset(row.key for row in rows)
    shown, edges = [s for s in standings if sum(s.histogram)], (*map(float, HISTOGRAM_EDGES), 0.0)
    return Subject(
        kind="ledger",
        title=f"Campaign {name}",
        words=tuple(words),
        facts=_run_facts(runs),
        rows=rows,
        # The first count of a ledger's histogram is of all below its first edge.
        histograms=tuple(Histogram(s.statement, edges, s.histogram[1:], s.histogram[0]) for s in shown),
        checks=_checked(_committed([row.key for row in rows], set()), 1, {}),
        again=f"rankmath report {shlex.quote(name)}",
        listings=(_tightest(tightest), _failures(failures), _runs(runs)),
        costs=_costs(standings, provenance),
        verified=verified,
        omissions=("No instance of a ledger comes with a certificate; rm.certify issues one from its data.",),
    )


def _row_of_standing(s: Standing, provenance: Sequence[LedgerRow]) -> Row:
    entry = statements().get(s.statement)
    drawn = s.instances + s.extra
    proved = f"proved in {entry.truth}; " if entry is not None and entry.status == "proved" else ""
    held = f"held on {s.holds} of {drawn} instances, {s.certified} certified"
    told: dict[str, Any] = {
        name: "" if entry is None else getattr(entry, name) for name in ("title", "claim", "truth", "source")
    }
    told |= {"source": "a file of the user's"} if entry is None else {}
    told["sentence"] = f"refuted by {_many(s.violated, 'instance')}; {held}" if s.violated else f"{proved}{held}"
    seconds = sum(row["seconds"] for row in provenance if row["statement"] == s.statement)
    same = _same(s) | {"instances": drawn}
    return Row(key=s.statement, **told, **same, violations=s.violated, seconds=seconds)


def _run_facts(runs: Sequence[LedgerRow]) -> tuple[tuple[str, str], ...]:
    if not runs:
        return (("runs", "none recorded"),)
    last = runs[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last["versions"].items())
    ended = "has not ended, or was killed" if last["ended"] is None else f"{last['outcome']}, {_moment(last['ended'])}"
    return (
        ("runs", str(len(runs))),
        ("first began", _moment(runs[0]["began"])),
        ("last ended", ended),
        ("by", f"{last['user']} on {last['host']}"),
        ("made by", versions),
    )


def _tightest(records: Sequence[LedgerRow]) -> Listing:
    names = ("statement", "seed", "chunk", "position", "why", "outcome", "arithmetic", "log_lhs", "log_rhs", "label")
    rows = tuple(tuple(record[name] for name in names) for record in records)
    return Listing(
        "tightest",
        "Tightest instances",
        f"The {_TIGHTEST} instances of each statement that are kept whole and have the largest lhs/rhs, or "
        "exceed 1; logarithms are natural. rankmath campaign show LEDGER --json prints their exact data.",
        Table(names, rows),
    )


def _costs(standings: Sequence[Standing], provenance: Sequence[LedgerRow]) -> Table:
    """What the chunks of each statement cost, in seconds of one process."""
    rows = []
    for s in standings:
        mine = [row for row in provenance if row["statement"] == s.statement]
        seconds = float(sum(row["seconds"] for row in mine))
        drawn = s.instances + s.extra
        rate = drawn / seconds if seconds else None
        workers = len({row["worker"] for row in mine})
        rows.append((s.statement, s.chunks, drawn, seconds, rate, workers))
    names = ("statement", "chunks", "instances", "seconds", "instances_per_second", "workers")
    return Table(names, tuple(rows))


def _failures(failures: Sequence[LedgerRow]) -> Listing:
    names = ("statement", "seed", "chunk", "attempts", "error", "at", "traceback")
    rows = tuple(tuple(row[name] for name in names) for row in failures)
    words = "Chunks that always failed; rankmath campaign run --resume tries them once more."
    return Listing("failures", "Failures", words, Table(names, rows))


def _runs(runs: Sequence[LedgerRow]) -> Listing:
    names = ("run", "began", "ended", "outcome", "user", "host", "versions")
    rows = tuple(
        (*(row[name] for name in names[:-1]), ", ".join(f"{k} {v}" for k, v in row["versions"].items())) for row in runs
    )
    words = "Who ran it, when, and with which versions; “source” is a digest of rankmath's own files."
    return Listing("runs", "Runs", words, Table(names, rows))


# -- certificates ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unchecked:
    """A certificate to be checked: a piece of work for the crews."""

    id: str
    key: str
    origin: str
    content: bytes | None

    def run(self, tell: Tell) -> Check:
        name, key, origin, content = self.id, self.key, self.origin, self.content
        if content is None:
            return Check(name, key, origin, None, False, "not checked: its file is not in the run's folder")
        try:
            result = checker.check_text(content.decode("utf-8"))
        except UnicodeDecodeError:
            return Check(name, key, origin, content, False, "REJECTED: the file is not text")
        if result.accepted and result.id != name:
            other = f"REJECTED: the file holds another certificate, {result.id}"
            return Check(name, key, origin, content, False, other)
        status = "accepted" if result.accepted else f"REJECTED: {result.reason}"
        return Check(name, key, origin, content, result.accepted, status, tuple(result.checked))


def _issued(file: Unchecked, result: Result) -> Check | None:
    """The check of a certificate that the run put before the checker itself, and whose file is what it was."""
    text = dict(zip(result.certificates, result.texts, strict=False)).get(file.id)
    if text is None or file.id not in result.checked or file.content != f"{text}\n".encode():
        return None
    return Check(file.id, file.key, file.origin, file.content, True, "accepted", result.checked[file.id])


def _committed(keys: Iterable[str], known: Set[str], *kinds: str) -> list[Unchecked]:
    """The certificates (of these kinds) that come with the proofs of these statements."""
    found = committed_certificates()
    return [
        Unchecked(certificate.id, key, "the proofs", f"{certificate.text()}\n".encode())
        for key in keys
        for certificate in found.get(key, ())
        if certificate.id not in known and (not kinds or certificate.kind in kinds)
    ]


def unchecked(keys: Iterable[str]) -> list[Unchecked]:
    """Those of the proofs' certificates that no run of these statements issues itself, large ones first."""
    return _largest(_committed(keys, set(), "holds"))


def _largest(files: Iterable[Unchecked]) -> list[Unchecked]:
    return sorted(files, key=lambda file: -len(file.content or b""))


def _checked(files: list[Unchecked], jobs: int, known: Mapping[Unchecked, Check]) -> tuple[Check, ...]:
    """What the checker says of each, in their order; many are shared among so many processes, large ones first."""
    left = _largest(file for file in files if file not in known)
    said = {came.chunk: came.findings for came in shared(left, workers=jobs if len(files) >= _SHARED else 1)}
    return tuple(known.get(file) or said[file] for file in files)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


# -- words -------------------------------------------------------------------------------------------------


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _moment(iso: str) -> str:
    """2026-01-31T12:00:00+00:00 for people."""
    return f"{iso[:10]} {iso[11:16]} UTC" if iso[10:11] == "T" else iso
