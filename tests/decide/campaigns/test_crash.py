"""kill -9 of the main process and of workers at random moments: the ledger ends up as if nothing had happened."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

Rows = dict[str, list[Any]]


def recorded(ledger: Path) -> int:
    """Chunks in the ledger by now, seen from outside."""
    if not ledger.exists():
        return 0
    connection = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, timeout=60)
    try:
        return int(connection.execute("SELECT COUNT(*) FROM chunks").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("kills", "seed"),
    [(3, 1), pytest.param(20, 2, marks=pytest.mark.slow), pytest.param(20, 3, marks=pytest.mark.slow)],
)
def test_killed_at_random_and_resumed(
    kills: int,
    seed: int,
    command: list[str],
    plan: Path,
    tmp_path: Path,
    undisturbed: Rows,
    rows_of: Callable[[Path], Rows],
) -> None:
    rng = random.Random(seed)
    ledger = tmp_path / "killed.db"
    run = [*command, "run", str(plan), "--ledger", str(ledger), "--workers", "2", "--resume", "--quiet"]
    main: psutil.Popen | None = None
    killed = {"main": 0, "worker": 0}
    total = len(undisturbed["chunks"])
    for number in range(kills):
        # Spread over the campaign: each kill waits for its share of the chunks, or comes before the first.
        goal = number * (total - 8) // kills
        main = main or psutil.Popen(run)
        deadline = time.monotonic() + 120
        while recorded(ledger) < goal and main.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.15))
        assert main.poll() is None, "it ended before it was killed"
        workers = main.children()
        if workers and (rng.random() < 0.5 or killed["main"] > killed["worker"]):
            rng.choice(workers).kill()
            killed["worker"] += 1
        else:
            main.kill()
            main.wait()
            _, alive = psutil.wait_procs(workers, timeout=30)
            assert not alive, "workers outlive the main process"
            killed["main"] += 1
            main = None
    assert min(killed.values()) > 0
    main = main or psutil.Popen(run)
    assert main.wait(timeout=300) == 0
    assert rows_of(ledger) == undisturbed
    connection = sqlite3.connect(ledger)
    outcomes = [row[0] for row in connection.execute("SELECT outcome FROM runs ORDER BY run")]
    connection.close()
    assert outcomes[-1] == "complete"
    assert set(outcomes[:-1]) <= {None}, "a killed run has no end"
