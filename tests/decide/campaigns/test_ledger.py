"""The ledger: nothing twice, nothing lost, and whatever it cannot use it leaves alone."""

from __future__ import annotations

import hashlib
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rankmath.cli import main
from rankmath.decide.campaigns import ledger as ledger_module
from rankmath.decide.campaigns.ledger import APPLICATION, SCHEMA, Ledger, LedgerError, Standing
from rankmath.decide.campaigns.plan import Plan
from rankmath.decide.campaigns.run import campaign
from rankmath.decide.campaigns.work import Attempt, attempt

Rows = dict[str, list[Any]]
SMALL = {"statements": ["own:tv"], "instances": 60, "chunk": 20, "batch": 10, "certify": 0.1}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "small.db"
    campaign(SMALL, ledger=path, workers=0)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# -- nothing twice, nothing lost -----------------------------------------------------------------------------


def test_a_chunk_recorded_twice_stands_there_once(tmp_path: Path) -> None:
    plan = Plan.of(SMALL)
    came = attempt(next(plan.chunks()))
    with Ledger.open(tmp_path / "a.db") as one, Ledger.open(tmp_path / "a.db") as other:
        first, second = one.begin(plan, resume=False), other.begin(plan, resume=False)
        assert first != second
        assert one.record(first, came)
        assert not other.record(second, came)
        assert not other.record(second, Attempt(came.chunk, None, 0.0, "", error="too late"))
        assert one.standings() == other.standings()
        assert one.standings()[0].instances == 20
        assert [row["run"] for row in one.rows("provenance")] == [first]
        assert not list(one.rows("failures"))


def test_a_failure_gives_way_to_findings(tmp_path: Path) -> None:
    plan = Plan.of(SMALL)
    came = attempt(next(plan.chunks()))
    with Ledger.open(tmp_path / "a.db") as book:
        run = book.begin(plan, resume=False)
        assert book.record(run, Attempt(came.chunk, None, 0.0, "", 3, "broken", "Traceback"))
        assert [row["error"] for row in book.rows("failures")] == ["broken"]
        assert not book.has(came.chunk)
        assert book.record(run, came)
        assert not list(book.rows("failures"))
        assert book.has(came.chunk)


def test_an_error_within_a_transaction_undoes_all_of_it(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "a.db") as book:
        book.begin(Plan.of(SMALL), resume=False)

        def interrupted() -> None:
            with book.transaction():
                book._connection.execute("DELETE FROM runs")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert len(list(book.rows("runs"))) == 1


def test_two_runs_at_once_on_one_ledger(
    command: list[str], plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    path = tmp_path / "shared.db"
    options = ["run", str(plan), "--ledger", str(path), "--resume", "--workers", "1", "--quiet"]
    both = [subprocess.Popen(command + options, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    assert rows_of(path) == undisturbed
    with Ledger.read(path) as book:
        assert [row["outcome"] for row in book.rows("runs")] == ["complete", "complete"]


def test_a_run_says_who_what_when_and_with_which_versions(ledger: Path) -> None:
    with Ledger.read(ledger) as book:
        (run,) = book.rows("runs")
    assert run["began"] < run["ended"]
    assert run["pid"] == os.getpid()
    for word in ("rankmath", "numpy", "python-flint", "platform"):
        assert f'"{word}"' in run["versions"]
    assert '"key": "own:tv"' in run["plan"]


def test_chunks_of_different_versions_are_noticed(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    larger = {**SMALL, "instances": 80}
    assert campaign(SMALL, ledger=ledger, workers=0, resume=True).versions == 1
    monkeypatch.setattr(ledger_module, "versions", lambda: {"rankmath": "99"})
    assert campaign(SMALL, ledger=ledger, workers=0, resume=True).versions == 1, "it computed nothing"
    assert campaign(larger, ledger=ledger, workers=0, resume=True).versions == 2


# -- going on ------------------------------------------------------------------------------------------------


def test_a_ledger_that_holds_chunks_is_not_used_by_accident(ledger: Path) -> None:
    before = digest(ledger)
    with pytest.raises(LedgerError, match="holds 3 chunks already: resume it"):
        campaign(SMALL, ledger=ledger, workers=0)
    assert digest(ledger) == before
    assert campaign(SMALL, ledger=ledger, workers=0, resume=True).recorded == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"certify": 0.2}, "certify: 0.2 given for own:tv; .* was made with 0.1"),
        ({"chunk": 30}, "chunk: 30 given for own:tv; .* was made with 20"),
        ({"search": 5}, "search: 5 given for own:tv; .* was made with 0"),
        ({"instances": 50}, "instances: 50 given for own:tv; .* holds chunk 2 with 20 instances, not 10"),
    ],
)
def test_another_recipe_is_refused(ledger: Path, change: dict[str, Any], words: str) -> None:
    before = digest(ledger)
    with pytest.raises(LedgerError, match=words):
        campaign({**SMALL, **change}, ledger=ledger, workers=0, resume=True)
    assert digest(ledger) == before


def test_a_ledger_grows_by_instances_seeds_and_statements(
    ledger: Path, tmp_path: Path, rows_of: Callable[[Path], Rows]
) -> None:
    larger = {**SMALL, "statements": ["own:tv", "seed:closure"], "instances": 100, "seeds": [0, 4]}
    grown = campaign(larger, ledger=ledger, workers=0, resume=True)
    assert grown.recorded == 2 * 2 * 5 - 3
    campaign(larger, ledger=tmp_path / "at once.db", workers=0)
    assert rows_of(ledger) == rows_of(tmp_path / "at once.db")


def test_a_changed_file_of_statements_is_another_recipe(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text((Path(__file__).parents[3] / "docs" / "examples" / "my_statement.py").read_text())
    plan = {"statement": [{"file": str(mine), "key": "example:never-grows"}], "instances": 20}
    campaign(plan, ledger=tmp_path / "a.db", workers=0)
    mine.write_text(mine.read_text() + "\n# another\n")
    with pytest.raises(LedgerError, match=r"digest: .* was made with"):
        campaign(plan, ledger=tmp_path / "a.db", workers=0, resume=True)


def test_the_time_budget_stops_and_the_next_run_goes_on(
    tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows], plan: Path
) -> None:
    path = tmp_path / "a.db"
    cut = campaign(plan, ledger=path, workers=0, seconds=1e-9)
    assert (cut.outcome, cut.recorded) == ("out of time", 0)
    cut = campaign(plan, ledger=path, workers=0, seconds=0.5, resume=True)
    assert cut.outcome == "out of time"
    assert 0 < cut.recorded < len(undisturbed["chunks"])
    assert campaign(plan, ledger=path, workers=0, resume=True).outcome == "complete"
    assert rows_of(path) == undisturbed


# -- what cannot be used is left alone -----------------------------------------------------------------------


def refused(path: Path, words: str) -> None:
    """Neither a run nor a look at the file works, both say why with exit code 2, and the file stays as it was."""
    plan = path.parent / "plan.toml"
    plan.write_text('statements = ["own:tv"]\ninstances = 20\nworkers = 0\n')
    before = digest(path)
    for options in (["run", str(plan), "--ledger", str(path), "--resume"], ["status", str(path)]):
        done = CliRunner().invoke(main, ["campaign", *options])
        assert (done.exit_code, done.stdout) == (2, ""), done.output
        assert words in done.stderr
    assert digest(path) == before


def test_a_ledger_of_a_newer_schema(ledger: Path) -> None:
    connection = sqlite3.connect(ledger)
    connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()
    refused(ledger, f"a newer rankmath made it (schema {SCHEMA + 1}, this one knows {SCHEMA})")


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "else.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE chunks (precious TEXT)")
    connection.execute("INSERT INTO chunks VALUES ('data')")
    connection.commit()
    connection.close()
    refused(path, "an SQLite file of something else")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("Dear diary, " * 1000)
    refused(path, "it is no ledger")


def test_a_truncated_ledger(ledger: Path) -> None:
    with open(ledger, "r+b") as file:
        file.truncate(ledger.stat().st_size // 2)
    refused(ledger, "it is damaged")


def test_a_ledger_with_a_page_overwritten(ledger: Path) -> None:
    connection = sqlite3.connect(ledger)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with open(ledger, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(os.urandom(size))
    refused(ledger, "it is damaged")


def test_a_folder_and_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="it is a folder"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="there is no such file"):
        Ledger.read(tmp_path / "nowhere.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(LedgerError, match="it is empty"):
        Ledger.read(tmp_path / "empty.db")
    with Ledger.open(tmp_path / "empty.db") as book:
        assert book.standings() == []
    assert sqlite3.connect(tmp_path / "empty.db").execute("PRAGMA application_id").fetchone() == (APPLICATION,)


def test_another_writer_is_waited_for_but_not_forever(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "PATIENCE", 0.1)
    blocker = sqlite3.connect(ledger, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process has been writing to it"):
        campaign(SMALL, ledger=ledger, workers=0, resume=True)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert campaign(SMALL, ledger=ledger, workers=0, resume=True).outcome == "complete"


# -- disks ---------------------------------------------------------------------------------------------------


def test_a_limit_on_the_size_of_files_loses_nothing(
    command: list[str], plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    path = tmp_path / "full.db"
    run = [*command, "run", str(plan), "--ledger", str(path), "--workers", "1", "--resume", "--quiet"]
    size = 150_000
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
    done = subprocess.run(run, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "nothing recorded was lost; the run can be resumed" in done.stderr
    assert "Traceback" not in done.stderr
    some = rows_of(path)
    assert 0 < len(some["chunks"]) < len(undisturbed["chunks"])
    assert set(some["records"]) <= set(undisturbed["records"])
    assert subprocess.run(run, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert rows_of(path) == undisturbed


def in_a_private_mount(script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script that may mount file systems nobody else sees; skipped where that is not allowed."""
    unshare = ["unshare", "--mount", "--map-root-user"]
    probe = subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("no private mounts here")
    return subprocess.run([*unshare, "sh", "-ec", script], capture_output=True, text=True, check=False)


@pytest.mark.needs("unshare")
def test_a_full_disk_loses_nothing(
    plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    rankmath = f"{sys.executable} -c 'from rankmath.cli import main; main()' campaign"
    run = f"{rankmath} run {plan} --ledger {tmp_path}/disk/full.db --workers 2 --resume --quiet"
    (tmp_path / "disk").mkdir()
    done = in_a_private_mount(
        f"mount -t tmpfs -o size=240k none {tmp_path}/disk\n"
        f"code=0; {run} || code=$?; echo first $code\n"
        f"cp {tmp_path}/disk/full.db* {tmp_path}\n"
        f"mount -o remount,size=64m {tmp_path}/disk\n"
        f"{run}; cp {tmp_path}/disk/full.db {tmp_path}/resumed.db\n"
    )
    assert done.returncode == 0, done.stderr
    assert "first 2" in done.stdout
    assert "the disk is full; nothing recorded was lost" in done.stderr
    assert "Traceback" not in done.stderr
    assert 0 < len(rows_of(tmp_path / "full.db")["chunks"]) < len(undisturbed["chunks"])
    assert rows_of(tmp_path / "resumed.db") == undisturbed


@pytest.mark.needs("unshare")
def test_a_read_only_disk_can_be_looked_at_but_not_written_to(ledger: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('statements = ["own:tv"]\ninstances = 60\nchunk = 20\nbatch = 10\ncertify = 0.1\n')
    rankmath = f"{sys.executable} -c 'from rankmath.cli import main; main()' campaign"
    (tmp_path / "disk").mkdir()
    done = in_a_private_mount(
        f"mount -t tmpfs -o size=1m none {tmp_path}/disk\n"
        f"cp {ledger} {tmp_path}/disk/a.db; mount -o remount,ro {tmp_path}/disk\n"
        f"{rankmath} status {tmp_path}/disk/a.db\n"
        f"code=0; {rankmath} run {plan} --ledger {tmp_path}/disk/a.db --resume || code=$?; echo run $code\n"
        f"cmp {ledger} {tmp_path}/disk/a.db\n"
    )
    assert done.returncode == 0, done.stderr
    assert "60 (100 %)" in done.stdout
    assert "run 2" in done.stdout
    assert "Traceback" not in done.stderr
    assert "may it be written to?" in done.stderr or "read-only" in done.stderr


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to every file")
def test_a_read_only_file_is_refused(ledger: Path) -> None:
    ledger.chmod(0o444)
    before = digest(ledger)
    with pytest.raises(LedgerError, match="read-only"):
        campaign(SMALL, ledger=ledger, workers=0, resume=True)
    assert digest(ledger) == before


@pytest.mark.parametrize("status", ["proved", "refuted", "open"])
@pytest.mark.parametrize(
    ("holds", "violated", "outcome"), [(10**6, 1, "REFUTED"), (0, 1, "REFUTED"), (1, 0, "HOLDS"), (0, 0, "UNDECIDED")]
)
def test_one_violation_refutes_whatever_held(status: str, holds: int, violated: int, outcome: str) -> None:
    """And contradicts what is registered as proved, and nothing else."""
    counts = {"holds": holds, "violated": violated, "instances": holds + violated + 3, "undecided": 3}
    none = dict.fromkeys(("chunks", "extra", "not_applicable", "certified", "failures"), 0)
    standing = Standing("mine:claim", status, **counts, **none, log_tightest=None, histogram=())
    assert standing.outcome == outcome
    assert standing.as_registered is not (status == "proved" and violated == 1)
