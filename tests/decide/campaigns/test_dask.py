"""A Dask cluster from the command line: a scheduler and three worker processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from joblib import parallel_config

from rankmath.cli import main
from rankmath.decide.campaigns import crews
from rankmath.decide.campaigns.ledger import Ledger
from rankmath.decide.campaigns.plan import Plan
from rankmath.decide.campaigns.run import campaign
from rankmath.decide.campaigns.work import Attempt

distributed = pytest.importorskip("distributed")

Rows = dict[str, list[Any]]
DASK = [sys.executable, "-m", "dask"]


class Cluster:
    """`dask scheduler` and `dask worker`, each a process of its own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.settings = folder, settings
        self.log = folder / "scheduler.log"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.processes = [self._start(["scheduler", *options], self.log)]
        self.address = self._wait_for(r"Scheduler at: +(tcp://\S+)", self.log)
        self.workers: list[psutil.Popen] = []

    def _start(self, words: list[str], log: Path) -> psutil.Popen:
        with open(log, "w") as file:
            return psutil.Popen(
                [*DASK, *words], stdout=file, stderr=file, cwd=self.folder, env={**os.environ, **self.settings}
            )

    def _wait_for(self, pattern: str, log: Path) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = re.search(pattern, log.read_text())
            if found:
                return found[found.re.groups]
            time.sleep(0.05)
        raise TimeoutError(log.read_text())

    def add_workers(self, count: int) -> None:
        fresh = range(len(self.workers), len(self.workers) + count)
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        for k in fresh:
            self.workers.append(self._start(["worker", self.address, *options], self.folder / f"worker{k}.log"))
        for k in fresh:
            self._wait_for("Starting established connection", self.folder / f"worker{k}.log")

    def stop(self) -> None:
        for process in (*self.workers, *self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.add_workers(3)
        yield cluster
    finally:
        cluster.stop()


def test_three_worker_processes_give_the_same_ledger(
    cluster: Cluster, command: list[str], plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    path = tmp_path / "a.db"
    run = [*command, "run", str(plan), "--ledger", str(path), "--dask", cluster.address, "--quiet"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rows_of(path) == undisturbed
    with Ledger.read(path) as book:
        workers = {int(row["worker"].rpartition(":")[2]) for row in book.rows("provenance")}
    assert workers == {worker.pid for worker in cluster.workers}


def test_workers_of_another_library_are_refused(
    cluster: Cluster, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.getpid()
    monkeypatch.setattr(crews, "source_digest", lambda: "here" if os.getpid() == here else "there")
    with pytest.raises(ValueError, match="has a rankmath with source there, not here as here"):
        campaign(plan, ledger=tmp_path / "a.db", dask=cluster.address)


def test_a_killed_worker_costs_nothing_but_time(
    cluster: Cluster, plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    seen = 0

    def kill(ledger: Ledger, attempt: Attempt | None) -> None:
        nonlocal seen
        seen += attempt is not None
        if seen == 5:
            victim = cluster.workers.pop()
            victim.kill()
            victim.wait()

    with distributed.Client(cluster.address, set_as_default=False) as client:
        summary = campaign(plan, ledger=tmp_path / "a.db", dask=client, watch=kill)
    assert len(cluster.workers) == 2
    assert (summary.outcome, summary.failed) == ("complete", 0)
    assert rows_of(tmp_path / "a.db") == undisturbed


def test_through_joblib(
    cluster: Cluster, plan: Path, tmp_path: Path, undisturbed: Rows, rows_of: Callable[[Path], Rows]
) -> None:
    with (
        distributed.Client(cluster.address, set_as_default=False) as client,
        parallel_config(backend="dask", client=client),
    ):
        assert campaign(plan, ledger=tmp_path / "a.db", joblib=True).outcome == "complete"
    assert rows_of(tmp_path / "a.db") == undisturbed
    with Ledger.read(tmp_path / "a.db") as book:
        workers = {int(row["worker"].rpartition(":")[2]) for row in book.rows("provenance")}
    assert workers <= {worker.pid for worker in cluster.workers}


def test_a_scheduler_without_workers_and_a_chunk_that_kills_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "deadly.py"
    mine.write_text(
        "import os\n"
        "import rankmath as rm\n"
        "deadly = rm.Statement('mine:deadly', 'diameter(X[1], 1) <= 1', draws=(lambda rng, size: os._exit(9),))\n"
    )
    plan = Plan.of({"statement": [{"file": str(mine), "instances": 1}], "statements": ["own:tv"], "instances": 20})
    # How many workers a chunk may cost before the scheduler gives up on it is a setting of the scheduler.
    cluster = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(crews, "DASK_PATIENCE", 1)
            with pytest.raises(ValueError, match="has no workers; start some with `dask worker`"):
                campaign(plan, ledger=tmp_path / "a.db", dask=cluster.address)
        cluster.add_workers(2)
        summary = campaign(plan, ledger=tmp_path / "a.db", dask=cluster.address)
    finally:
        cluster.stop()
    assert (summary.outcome, summary.recorded, summary.failed) == ("with failures", 1, 1)
    with Ledger.read(tmp_path / "a.db") as book:
        (failure,) = book.rows("failures")
    assert failure["statement"] == "mine:deadly"
    assert "worker" in failure["error"]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "tcp://no.such.host.invalid:8786"])
def test_an_unreachable_scheduler(
    address: str, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed_ledger: Path
) -> None:
    monkeypatch.setattr(crews, "DASK_PATIENCE", 1)
    path = tmp_path / "a.db"
    path.write_bytes(undisturbed_ledger.read_bytes())
    options = ["--ledger", str(path), "--resume", "--dask", address, "--quiet"]
    done = CliRunner().invoke(main, ["campaign", "run", str(plan), *options])
    assert done.exit_code == 2, done.output
    assert f"dask: '{address}' given; no scheduler answers there" in done.stderr
    with Ledger.read(path) as one, Ledger.read(undisturbed_ledger) as other:
        assert one.standings() == other.standings()


def test_without_distributed_the_extra_is_named(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'rankmath\[scale\]'"):
        campaign(plan, ledger=tmp_path / "a.db", dask="tcp://127.0.0.1:8786")
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ValueError, match=r"pip install 'rankmath\[scale\]'"):
        campaign(plan, ledger=tmp_path / "b.db", joblib=True)
