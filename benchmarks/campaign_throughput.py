"""Throughput of a campaign on one process and on two, and the large run: a million instances of one statement.

    python benchmarks/campaign_throughput.py               the ratio of two processes to one, in one run
    python benchmarks/campaign_throughput.py --million     10^6 instances of own:diameter, 1000 certified

The two settings take turns, several rounds of each, so that whatever else the machine does hits both; the median of
the ratios of neighbours is printed. Start-up of the processes is part of the time. The processor time that an
instance costs is printed too: it shows on a busy machine what the second process adds to the work. The large run
prints its time, the largest memory of all its processes together, and the size of the ledger.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from rankmath.decide.campaigns.run import campaign

PLAN = {"statements": ["own:diameter"], "certify": 0.001}


def measure(workers: int, instances: int, folder: str) -> tuple[float, float]:
    """Instances a second of the clock, and a second of the processors; start-up included."""
    ledger = Path(folder) / f"{workers}-{time.monotonic_ns()}.db"
    before = processor_seconds()
    summary = campaign({**PLAN, "instances": instances}, ledger=ledger, workers=workers)
    assert summary["own:diameter"].instances == instances
    return instances / summary.seconds, instances / (processor_seconds() - before)


def processor_seconds() -> float:
    """Of this process and of the children that have ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


def compare(instances: int, rounds: int) -> float:
    rates: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for workers in (1, 2) if number % 2 == 0 else (2, 1):
                rates[workers].append(measure(workers, instances, folder))
    for workers, found in rates.items():
        clock, processors = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{workers} worker(s): {clock:,.0f} instances/s, {processors:,.0f} per second of processor time")
    ratios = [two[0] / one[0] for one, two in zip(rates[1], rates[2], strict=True)]
    ratio = statistics.median(ratios)
    print(f"two workers to one: {ratio:.3f} (rounds: {', '.join(f'{r:.3f}' for r in ratios)})")
    return ratio


class Memory:
    """The largest sum of the resident memory of this process and its children, looked at ten times a second."""

    def __init__(self) -> None:
        self.largest = 0
        self.series: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            now = sum(map(resident, [os.getpid(), *children()]))
            self.largest = max(self.largest, now)
            self.series.append(now)


def children() -> list[int]:
    found = []
    for task in Path("/proc/self/task").iterdir():
        found += [int(pid) for pid in (task / "children").read_text().split()]
    return found


def resident(pid: int) -> int:
    """Bytes, 0 for a process that has just ended."""
    try:
        words = Path(f"/proc/{pid}/status").read_text().split("VmRSS:")
    except OSError:
        return 0
    return int(words[1].split()[0]) * 1024 if len(words) > 1 else 0


def million(instances: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory() as memory:
        ledger = Path(folder) / "million.db"
        summary = campaign({**PLAN, "instances": instances}, ledger=ledger, workers=2)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    found = summary["own:diameter"]
    print(f"{found.instances} instances in {summary.seconds:.0f} s on two processes")
    print(f"held on {found.holds}, violated {found.violated}, undecided {found.undecided}, by balls {found.certified}")
    half = len(memory.series) // 2
    print(
        f"memory: {memory.largest / 2**20:.0f} MiB at most, {max(memory.series[:half]) / 2**20:.0f} in the first "
        f"half, {max(memory.series[half:]) / 2**20:.0f} in the second; ledger: {size / 1e6:.2f} MB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--million", action="store_true", help="the large run")
    parser.add_argument("--instances", type=int, help="of a round, or of the large run")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.million:
        million(given.instances or 10**6)
        return 0
    return 0 if compare(given.instances or 100_000, given.rounds) >= 1.7 else 1


if __name__ == "__main__":
    sys.exit(main())
