"""Whoever runs the chunks, the same comes back; what dies is tried again, what cannot work is reported."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from joblib import parallel_config

from rankmath.claims import statement
from rankmath.decide.campaigns import crews
from rankmath.decide.campaigns.chunks import Chunk
from rankmath.decide.campaigns.crews import _Jobs, in_this_process, joblib_backend, local_processes
from rankmath.decide.campaigns.in_memory import works
from rankmath.decide.campaigns.ledger import Ledger
from rankmath.decide.campaigns.plan import Plan
from rankmath.decide.campaigns.run import campaign
from rankmath.decide.campaigns.work import Attempt, Work

Rows = dict[str, list[Any]]

# Ten chunks of one instance each; `trouble` happens when chunk 3 is decided, wherever that is.
TROUBLE = """
import os, signal, time
from pathlib import Path
import numpy as np
from rankmath.formula.evaluate import Truth
from rankmath.formula.language import quantity
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.statement import Statement

HERE = Path(__file__).parent
calls = []

def draw(rng, size):
    return ArrayInstance({"x": rng.integers(0, 2**62, size)}, "random", is_batch=True)

@quantity("untroubled(x: array)", latex="x", because="it looks at a file", example="untroubled(x)", value="truth")
def untroubled(run, x):
    "nothing happens"
    if int(run[x]) == int((HERE / "marked").read_text()):
        TROUBLE
    return Truth(True)

mine = Statement("mine:trouble", "untroubled(x)", arrays={"x": ""}, exact=True, status="proved", draws=(draw,))
"""


@pytest.fixture
def troubled(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """A plan of ten chunks, of which number 3 runs a line of Python first."""

    def plan(line: str) -> dict[str, Any]:
        path = tmp_path / "trouble.py"
        path.write_text(TROUBLE.replace("TROUBLE", line))
        plan = {"statement": [{"file": str(path), "chunk": 1, "instances": 10, "certify": 0}], "seeds": [7]}
        chunk = next(chunk for chunk in Plan.of(plan).chunks() if chunk.index == 3)
        (tmp_path / "marked").write_text(str(chunk.generator(0).integers(0, 2**62, 1)[0]))
        return plan

    return plan


CREWS = [in_this_process, lambda chunks, attempts: local_processes(chunks, workers=2, attempts=attempts)]


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_processes_gives_the_same_ledger(
    plan: Path, workers: int, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    assert campaign(plan, ledger=tmp_path / "a.db", workers=workers).outcome == "complete"
    assert rows_of(tmp_path / "a.db") == undisturbed


@pytest.mark.parametrize("crew", CREWS, ids=["here", "processes"])
def test_a_chunk_that_always_fails_is_reported_and_the_rest_goes_on(
    crew: Callable[..., Iterator[Attempt]], troubled: Callable[[str], dict[str, Any]]
) -> None:
    plan = Plan.of(troubled("raise ArithmeticError('seven')"))
    came = {attempt.chunk.index: attempt for attempt in crew(plan.chunks(), attempts=3)}
    assert sorted(came) == list(range(10))
    bad = came.pop(3)
    assert (bad.findings, bad.attempts, bad.error) == (None, 3, "ArithmeticError: seven")
    assert "raise ArithmeticError('seven')" in bad.traceback
    assert all(attempt.findings is not None and attempt.attempts == 1 for attempt in came.values())


@pytest.mark.parametrize("crew", CREWS, ids=["here", "processes"])
def test_a_chunk_that_fails_once_is_tried_again(
    crew: Callable[..., Iterator[Attempt]], troubled: Callable[[str], dict[str, Any]]
) -> None:
    once = "exec('''if not (HERE / \"once\").exists():\\n (HERE / \"once\").touch()\\n raise MemoryError''')"
    plan = Plan.of(troubled(once))
    attempts = {came.chunk.index: came.attempts for came in crew(plan.chunks(), attempts=3) if came.findings}
    assert attempts == {**dict.fromkeys(range(10), 1), 3: 2}


def test_a_chunk_that_kills_its_process_is_told_from_the_innocent(
    troubled: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    plan = troubled("os.kill(os.getpid(), signal.SIGKILL)")
    summary = campaign({**plan, "attempts": 2}, ledger=tmp_path / "a.db", workers=2)
    assert (summary.outcome, summary.recorded, summary.failed) == ("with failures", 9, 1)
    with Ledger.read(tmp_path / "a.db") as book:
        (failure,) = book.rows("failures")
        assert (failure["chunk"], failure["attempts"]) == (3, 2)
        assert failure["error"] == "the worker process died (killed by SIGKILL)"
        assert [row["attempts"] for row in book.rows("provenance")] == [1] * 9


def test_failed_chunks_are_tried_again_by_the_next_run(
    troubled: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    plan = troubled("raise ArithmeticError('until the file says otherwise')")
    first = campaign({**plan, "attempts": 1}, ledger=tmp_path / "a.db", workers=0)
    assert (first.outcome, first["mine:trouble"].failures) == ("with failures", 1)
    (tmp_path / "marked").write_text("-1")
    second = campaign(plan, ledger=tmp_path / "a.db", workers=0, resume=True)
    assert (second.outcome, second.recorded, second["mine:trouble"].failures) == ("complete", 1, 0)


def _workers() -> list[psutil.Process]:
    """Worker processes that live; one that was killed is a zombie until its parent asks after it."""
    found = []
    for process in psutil.Process().children():
        with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            if "rankmath.decide.campaigns.worker" in " ".join(process.cmdline()):
                found.append(process)
    return found


def test_a_killed_worker_costs_nothing_but_time(
    plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    killed: list[int] = []

    def kill(ledger: Ledger, attempt: Attempt | None) -> None:
        if attempt is not None and len(killed) < 3:
            # One that was killed may not be gone yet, nor replaced.
            alive = [worker for worker in _workers() if worker.pid not in killed]
            if alive:
                alive[0].kill()
                killed.append(alive[0].pid)

    summary = campaign(plan, ledger=tmp_path / "a.db", workers=2, watch=kill)
    assert len(killed) == 3
    assert (summary.outcome, summary.failed) == ("complete", 0)
    assert rows_of(tmp_path / "a.db") == undisturbed


def test_closing_a_crew_ends_its_processes(plan: Path) -> None:
    crew = local_processes(Plan.read(plan).chunks(), workers=2, attempts=1)
    next(crew)
    children = _workers()
    assert len(children) == 2
    crew.close()  # type: ignore[attr-defined]
    assert not any(child.is_running() for child in children)


def test_kept_processes_run_the_next_crew_and_end_with_it(plan: Path) -> None:
    with crews.kept_workers():
        first = {came.worker for came in local_processes(Plan.read(plan).chunks(), workers=2, attempts=1)}
        waiting = _workers()
        assert {f"{socket.gethostname()}:{child.pid}" for child in waiting} == first
        waiting[0].kill()  # one that died while it waited is replaced
        waiting[0].wait()
        second = list(local_processes(Plan.read(plan).chunks(), workers=2, attempts=1))
        assert not any(came.error for came in second)
        assert len(first & {came.worker for came in second}) == 1
        children = _workers()
    assert len(children) == 2
    assert not any(child.is_running() for child in children)


def test_a_crew_asks_for_no_more_chunks_than_it_can_run(plan: Path) -> None:
    asked: list[Chunk] = []

    def chunks() -> Iterator[Chunk]:
        for chunk in Plan.read(plan).chunks():
            asked.append(chunk)
            yield chunk

    crew = local_processes(chunks(), workers=2, attempts=1)
    list(itertools.islice(crew, 3))
    assert len(asked) <= 5
    crew.close()  # type: ignore[attr-defined]


def test_processes_that_never_come_up_are_given_up(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews.sys, "executable", "/bin/false")
    with pytest.raises(OSError, match=r"11 processes died before they were ready \(exit code 1\)"):
        list(local_processes(Plan.read(plan).chunks(), workers=2, attempts=1))


def test_processes_of_another_library_are_refused(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "source_digest", lambda: "as it was when the run began")
    with pytest.raises(OSError, match="rankmath's own files have changed since this run began; resume it"):
        list(local_processes(Plan.read(plan).chunks(), workers=1, attempts=1))


def test_chunks_in_threads_of_one_process_take_turns(troubled: Callable[[str], dict[str, Any]]) -> None:
    """The precision of balls belongs to the process, and a Dask worker may have threads."""
    plan = troubled("pass")
    path = Path(plan["statement"][0]["file"])
    alone = ("def decide(instance):", "calls.append(1)", "time.sleep(0.01)", "assert len(calls) == 1", "calls.clear()")
    path.write_text(path.read_text().replace(alone[0], "\n    ".join(alone)))
    came: list[Attempt] = []
    threads = [
        threading.Thread(target=lambda chunk=chunk: came.extend(in_this_process(iter([chunk]), attempts=1)))
        for chunk in Plan.of(plan).chunks()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [attempt.error for attempt in came] == [""] * 10


def test_joblib_survives_the_death_of_a_worker(troubled: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    once = "exec('''if not (HERE / \"once\").exists():\\n (HERE / \"once\").touch()\\n os._exit(9)''')"
    plan = Plan.of(troubled(once))
    with parallel_config(backend="loky", n_jobs=2):
        came = list(joblib_backend(plan.chunks(), attempts=3))
    assert sorted(attempt.chunk.index for attempt in came) == list(range(10))
    assert all(attempt.findings is not None for attempt in came)


def test_the_main_process_leaves_no_orphans(command: list[str], plan: Path, tmp_path: Path) -> None:
    run = [*command, "run", str(plan), "--ledger", str(tmp_path / "a.db"), "--workers", "2", "--quiet"]
    process = psutil.Popen(run)
    deadline = time.monotonic() + 60
    while len(workers := process.children()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(workers) == 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


def test_a_process_goes_on_with_the_kin_of_what_it_did_and_nothing_is_done_twice() -> None:
    keys = ("dong2021v1:2.2", "own:composite", "own:tv", "dong2021v1:2.3", "unstated:large-logits")
    batteries = works([(statement(key), None) for key in keys], instances=400, certify=0, seed=0, search=0)
    kin = {work.key: work.kin for work in batteries}
    assert kin["dong2021v1:2.2"] == kin["unstated:large-logits"] != kin["own:composite"] == kin["dong2021v1:2.3"]
    jobs = _Jobs(iter(batteries), attempts=1)
    order: list[str] = []
    before: Work | None = None
    while (job := jobs.next(before)) is not None:
        before = job.chunk
        order.append(job.chunk.key)
    # The long one first, then its kin, then the first that is left.
    assert order == ["own:composite", "dong2021v1:2.3", "dong2021v1:2.2", "unstated:large-logits", "own:tv"]
