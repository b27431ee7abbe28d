"""The ledger: an SQLite file that holds what every chunk found, one transaction a chunk.

`statements`, `chunks` and `records` are functions of the plan alone: two ledgers of one plan have the same rows,
however often a run was killed. Who computed what, when and with which versions stands apart, in `runs` and
`provenance`.
"""

from __future__ import annotations

import getpass
import json
import math
import os
import socket
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from rankmath.decide.campaigns.chunks import Chunk, Record
from rankmath.decide.campaigns.plan import Plan, Task
from rankmath.decide.campaigns.work import Attempt, versions
from rankmath.validation import InvalidArgument

#: A row of a table as SQLite gives it: whatever its columns hold.
Row: TypeAlias = dict[str, Any]

#: Version of the tables below; a ledger with a larger one is refused.
SCHEMA = 1
#: "rmlg": what tells a ledger from other SQLite files.
APPLICATION = 0x726D6C67
#: Seconds to wait while another process writes.
PATIENCE = 60.0

_TABLES = """
CREATE TABLE IF NOT EXISTS statements (statement TEXT PRIMARY KEY, status TEXT NOT NULL, recipe TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (
    statement TEXT NOT NULL REFERENCES statements, seed INTEGER NOT NULL, chunk INTEGER NOT NULL,
    instances INTEGER NOT NULL, extra INTEGER NOT NULL, holds INTEGER NOT NULL, violated INTEGER NOT NULL,
    undecided INTEGER NOT NULL, not_applicable INTEGER NOT NULL, certified INTEGER NOT NULL,
    log_tightest REAL, tightest_position INTEGER, histogram TEXT NOT NULL,
    PRIMARY KEY (statement, seed, chunk)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    statement TEXT NOT NULL, seed INTEGER NOT NULL, chunk INTEGER NOT NULL, position INTEGER NOT NULL,
    why TEXT NOT NULL, outcome TEXT NOT NULL, certified INTEGER NOT NULL, log_lhs REAL, log_rhs REAL,
    arithmetic TEXT NOT NULL, reason TEXT NOT NULL, label TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (statement, seed, chunk, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
    statement TEXT NOT NULL, seed INTEGER NOT NULL, chunk INTEGER NOT NULL, attempts INTEGER NOT NULL,
    error TEXT NOT NULL, traceback TEXT NOT NULL, run INTEGER NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (statement, seed, chunk)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS provenance (
    statement TEXT NOT NULL, seed INTEGER NOT NULL, chunk INTEGER NOT NULL, run INTEGER NOT NULL,
    worker TEXT NOT NULL, attempts INTEGER NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (statement, seed, chunk)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY, began TEXT NOT NULL, ended TEXT, outcome TEXT,
    user TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, versions TEXT NOT NULL, plan TEXT NOT NULL
);
"""

#: Every table, for export.
TABLES = ("chunks", "records", "failures", "provenance", "runs", "statements")

_WRITING = "nothing recorded was lost; the run can be resumed"
_TROUBLE = {
    "SQLITE_FULL": f"the disk is full; {_WRITING} when there is room",
    "SQLITE_IOERR": f"the disk refuses to be written to or read from; {_WRITING} once it does not",
    "SQLITE_READONLY": "it is read-only; nothing was written",
    "SQLITE_CANTOPEN": "it cannot be opened; is the folder there, and may it be written to?",
    "SQLITE_PERM": "it may not be opened",
    "SQLITE_NOTADB": "it is no ledger; nothing was written",
    "SQLITE_CORRUPT": "it is damaged; nothing was written. Restore a copy, or start another ledger",
    "SQLITE_BUSY": f"another process has been writing to it for {PATIENCE:.0f} s; {_WRITING}",
}


class LedgerError(InvalidArgument):
    """The ledger cannot be used, and why."""


@dataclass(frozen=True)
class Standing:
    """What the ledger holds of one statement, over all seeds and chunks."""

    statement: str
    status: str
    chunks: int
    instances: int
    extra: int
    holds: int
    violated: int
    undecided: int
    not_applicable: int
    certified: int
    log_tightest: float | None
    failures: int
    histogram: tuple[int, ...]

    @property
    def outcome(self) -> str:
        """REFUTED, HOLDS (on all that was seen) or UNDECIDED."""
        if self.violated:
            return "REFUTED"
        return "HOLDS" if self.holds else "UNDECIDED"

    @property
    def as_registered(self) -> bool:
        """False if an instance contradicts the registered status; a sample cannot contradict "refuted"."""
        return self.status != "proved" or not self.violated

    @property
    def tightest(self) -> float | None:
        """The largest lhs/rhs among instances that hold."""
        return None if self.log_tightest is None else math.exp(self.log_tightest)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Ledger:
    """An open ledger; use `Ledger.open` to write, `Ledger.read` to look."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    # -- opening and closing -----------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open for writing, or make a new one; what is not a sound ledger of this schema is left as it is."""
        target = Path(path)
        if not target.parent.is_dir():
            raise LedgerError(f"ledger: {target} given; there is no folder {target.parent}")
        if target.is_dir():
            raise LedgerError(f"ledger: {target} given; it is a folder")
        with _explained(target):
            connection = _connect(target, "mode=rwc")
            try:
                known = _identify(target, connection)
                if known:
                    sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                    if sound != "ok":
                        raise LedgerError(f"ledger: {target} given; {_TROUBLE['SQLITE_CORRUPT']} ({sound})")
                ledger = cls(target, connection)
                ledger._prepare(new=not known)
            except BaseException:  # an interruption too leaves no open file
                connection.close()
                raise
        return ledger

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open to look, without writing a byte."""
        target = Path(path)
        if not target.is_file():
            raise LedgerError(f"ledger: {target} given; there is no such file")
        with _explained(target):
            connection = _connect(target, "mode=ro")
            try:
                known = _identify(target, connection)
            except sqlite3.OperationalError:
                connection.close()
                # In a folder that cannot be written to, a ledger at rest (no log beside it) can still be looked at.
                if target.with_name(target.name + "-wal").exists():
                    raise
                connection = _connect(target, "mode=ro&immutable=1")
                known = _identify(target, connection)
        if not known:
            connection.close()
            raise LedgerError(f"ledger: {target} given; it is empty")
        return cls(target, connection)

    def _prepare(self, *, new: bool) -> None:
        execute = self._connection.execute
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # Try again: another run makes the same change, and here SQLite does not wait by itself.
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        execute("PRAGMA synchronous = FULL")
        if not new:
            return
        # If two runs create one ledger at once, the second finds the tables and changes nothing.
        with self.transaction():
            for command in _TABLES.split(";"):
                execute(command)
            execute(f"PRAGMA application_id = {APPLICATION}")
            execute(f"PRAGMA user_version = {SCHEMA}")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, one writer at a time."""
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # On a full disk SQLite has rolled back already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    # -- writing -----------------------------------------------------------------------------------------

    def begin(self, plan: Plan, *, resume: bool) -> int:
        """Register the plan's statements and a run; a plan that does not fit what is recorded is refused."""
        with self.transaction():
            recorded = self._value("SELECT COUNT(*) FROM chunks")
            if recorded and not resume:
                raise LedgerError(
                    f"ledger: {self.path} given; it holds {recorded} chunk{'s' * (recorded > 1)} already: "
                    "resume it (--resume), or name another"
                )
            for task in plan.tasks:
                self._register(task, plan.seeds)
            who = (now(), _user(), socket.gethostname(), os.getpid())
            about = (json.dumps(versions()), json.dumps(plan.plain()))
            row = self._connection.execute(
                "INSERT INTO runs (began, user, host, pid, versions, plan) VALUES (?, ?, ?, ?, ?, ?)", who + about
            )
        return int(row.lastrowid or 0)

    def _register(self, task: Task, seeds: Sequence[int]) -> None:
        key, recipe = task.recipe.key, task.recipe.plain()
        text = json.dumps(recipe, sort_keys=True)
        command = "INSERT OR IGNORE INTO statements VALUES (?, ?, ?)"
        if self._connection.execute(command, (key, task.status, text)).rowcount:
            return
        there = json.loads(self._value("SELECT recipe FROM statements WHERE statement = ?", key))
        for name, value in recipe.items():
            if there.get(name) != value:
                raise LedgerError(
                    f"{name}: {value!r} given for {key}; {self.path} was made with {there.get(name)!r}: "
                    "use that, or another ledger"
                )
        command = "SELECT chunk, instances FROM chunks WHERE statement = ? AND seed = ? AND chunk < ?"
        for seed in seeds:
            for index, size in self._rows(command, key, seed, task.chunks):
                if size != task.size(index):
                    raise LedgerError(
                        f"instances: {task.instances} given for {key}; {self.path} holds chunk {index} with {size} "
                        f"instances, not {task.size(index)}: only whole chunks can be added to"
                    )

    def end(self, run: int, outcome: str) -> None:
        """Say when and how a run ended."""
        with self.transaction():
            self._connection.execute("UPDATE runs SET ended = ?, outcome = ? WHERE run = ?", (now(), outcome, run))

    def record(self, run: int, attempt: Attempt) -> bool:
        """One chunk, one transaction; False if another run had recorded it already."""
        chunk, found = attempt.chunk, attempt.findings
        place = (chunk.key, chunk.seed, chunk.index)
        execute = self._connection.execute
        with self.transaction():
            if found is None:
                if self.has(chunk):
                    return False
                execute(
                    "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*place, attempt.attempts, attempt.error, attempt.traceback, run, now()),
                )
                return True
            row = {**vars(found), "histogram": json.dumps(found.histogram)}
            del row["records"]
            marks = ", ".join("?" * (len(place) + len(row)))
            names = ", ".join(("statement", "seed", "chunk", *row))
            command = f"INSERT OR IGNORE INTO chunks ({names}) VALUES ({marks})"
            if not execute(command, (*place, *row.values())).rowcount:
                return False
            self._connection.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*place, *vars(record).values()) for record in found.records],
            )
            execute("DELETE FROM failures WHERE statement = ? AND seed = ? AND chunk = ?", place)
            execute(
                "INSERT INTO provenance VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*place, run, attempt.worker, attempt.attempts, attempt.seconds, now()),
            )
        return True

    # -- looking -----------------------------------------------------------------------------------------

    def has(self, chunk: Chunk) -> bool:
        """Whether the chunk's findings are recorded."""
        command = "SELECT 1 FROM chunks WHERE statement = ? AND seed = ? AND chunk = ?"
        return bool(self._rows(command, chunk.key, chunk.seed, chunk.index))

    def standings(self) -> list[Standing]:
        """One for each statement, in the order of their keys."""
        names = ("instances", "extra", "holds", "violated", "undecided", "not_applicable", "certified")
        sums = ", ".join(f"COALESCE(SUM({name}), 0)" for name in names)
        command = f"SELECT COUNT(*), MAX(log_tightest), {sums} FROM chunks WHERE statement = ?"
        found = []
        for key, status in self._rows("SELECT statement, status FROM statements ORDER BY statement"):
            chunks, log_tightest, *counts = self._rows(command, key)[0]
            failures = self._value("SELECT COUNT(*) FROM failures WHERE statement = ?", key)
            lists = self._rows("SELECT histogram FROM chunks WHERE statement = ?", key)
            histogram = tuple(sum(column) for column in zip(*(json.loads(text) for (text,) in lists), strict=True))
            seen = dict(zip(names, counts, strict=True))
            known = {"log_tightest": log_tightest, "failures": failures, "histogram": histogram}
            found.append(Standing(key, status, chunks, **seen, **known))
        return found

    def planned(self) -> dict[str, int]:
        """Instances the latest run set out for, by statement."""
        latest = self._rows("SELECT plan FROM runs ORDER BY run DESC LIMIT 1")
        if not latest:
            return {}
        plan = json.loads(latest[0][0])
        return {part["key"]: part["instances"] * len(plan["seeds"]) for part in plan["statements"]}

    def versions(self) -> int:
        """How many different sets of versions have computed chunks of this ledger."""
        command = "SELECT COUNT(DISTINCT versions) FROM runs WHERE run IN (SELECT run FROM provenance)"
        return int(self._value(command))

    def records(self, key: str | None = None, why: str | None = None, limit: int | None = None) -> list[Record]:
        """Instances kept whole, tightest first; `why` is a reason to keep one, such as "violated"."""
        return [Record(**_fields(row)) for row in self.rows("records", key=key, why=why, limit=limit)]

    def rows(
        self, table: str, *, key: str | None = None, why: str | None = None, limit: int | None = None
    ) -> Iterator[Row]:
        """The rows of a table as mappings, in the order of their keys (records: tightest first)."""
        command, given = f"SELECT * FROM {table}", []
        tests = []
        if key is not None:
            tests.append("statement = ?")
            given.append(key)
        if why is not None:
            tests.append("',' || why || ',' LIKE ?")
            given.append(f"%,{why},%")
        if tests:
            command += " WHERE " + " AND ".join(tests)
        if table == "records":
            command += " ORDER BY log_lhs - log_rhs DESC, statement, seed, chunk, position"
        if limit is not None:
            command += f" LIMIT {limit}"
        with _explained(self.path):
            cursor = self._connection.execute(command, given)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))

    def columns(self, table: str) -> list[str]:
        with _explained(self.path):
            return [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]

    def _rows(self, command: str, *given: str | float | None) -> list[tuple[Any, ...]]:
        with _explained(self.path):
            return self._connection.execute(command, given).fetchall()

    def _value(self, command: str, *given: str | float | None) -> Any:
        return self._rows(command, *given)[0][0]


def _fields(row: Row) -> Row:
    place = ("statement", "seed", "chunk")
    sides = {name: math.nan if row[name] is None else row[name] for name in ("log_lhs", "log_rhs")}
    plain = {name: value for name, value in row.items() if name not in place}
    return {**plain, **sides, "certified": bool(row["certified"])}


def _connect(path: Path, options: str) -> sqlite3.Connection:
    name = quote(str(path.absolute()))
    # joblib asks for the next chunk from a thread of its own; SQLite itself takes turns.
    return sqlite3.connect(
        f"file:{name}?{options}", uri=True, isolation_level=None, timeout=PATIENCE, check_same_thread=False
    )


def _identify(path: Path, connection: sqlite3.Connection) -> bool:
    """True for a ledger this version reads, False for an empty file; anything else is refused."""
    questions = ("PRAGMA application_id", "PRAGMA user_version", "SELECT COUNT(*) FROM sqlite_master")
    # One transaction: another run may make the tables between two of these questions.
    connection.execute("BEGIN")
    try:
        application, schema, tables = (connection.execute(question).fetchone()[0] for question in questions)
    finally:
        connection.rollback()
    if application != APPLICATION:
        if tables or application or schema:
            raise LedgerError(f"ledger: {path} given; it is an SQLite file of something else; nothing was written")
        return False
    if schema > SCHEMA:
        raise LedgerError(
            f"ledger: {path} given; a newer rankmath made it (schema {schema}, this one knows {SCHEMA}); "
            "nothing was written"
        )
    return True


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """SQLite's errors in words."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        base = "_".join(name.split("_")[:2])
        reason = _TROUBLE.get(base, "SQLite cannot go on")
        raise LedgerError(f"ledger: {path} given; {reason} ({error})") from error


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
