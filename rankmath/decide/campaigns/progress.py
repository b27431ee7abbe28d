"""How far a campaign is, for the console."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rankmath.claims import statements
from rankmath.console import Progress
from rankmath.decide.campaigns.ledger import Ledger
from rankmath.decide.campaigns.work import Attempt
from rankmath.printing import quotient


class Remaining:
    """The seconds that are left, by what an instance of each statement costs.

    What an instance costs is measured; of a statement that has not had its turn it is the registered cost, in the
    unit that the measured ones give.

    >>> left = Remaining({"cheap": 100, "dear": 100}, {}, {"cheap": 1.0, "dear": 50.0})
    >>> left.took("cheap", 50, 0.5)  # 10 ms each: 0.5 s for the rest, and half a second each for the dear ones
    >>> left.seconds(workers=1)
    50.5
    """

    def __init__(self, planned: Mapping[str, int], done: Mapping[str, int], costs: Mapping[str, float]) -> None:
        self.left = {key: max(0, count - done.get(key, 0)) for key, count in planned.items()}
        self.costs = costs
        self.measured: dict[str, tuple[int, float]] = {}

    def took(self, key: str, instances: int, seconds: float) -> None:
        """A chunk of a statement is done."""
        count, before = self.measured.get(key, (0, 0.0))
        self.measured[key] = count + instances, before + seconds
        self.left[key] = max(0, self.left.get(key, 0) - instances)

    def seconds(self, workers: float) -> float:
        """What is left for so many workers."""
        each = {key: seconds / count for key, (count, seconds) in self.measured.items() if count}
        registered = sum(self.measured[key][0] * self.costs.get(key, 1.0) for key in each)
        unit = sum(self.measured[key][1] for key in each) / registered if registered else 0.0
        return sum(n * each.get(key, unit * self.costs.get(key, 1.0)) for key, n in self.left.items()) / workers


class Watcher:
    """A `Watch` for `campaign`, to be used as a context manager."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._bar = Progress(0, "instances", quiet=quiet)
        self._done = self._failed = 0
        self._spent, self._began = 0.0, time.monotonic()
        self._tightest: dict[str, float] = {}

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.__exit__(*exception)

    def __call__(self, ledger: Ledger, attempt: Attempt | None) -> None:
        if attempt is None:
            planned = ledger.planned()
            standings = ledger.standings()
            done = {standing.statement: standing.instances for standing in standings}
            found = {standing.statement: standing.log_tightest for standing in standings}
            self._tightest = {key: log for key, log in found.items() if log is not None}
            known = statements()
            # `cost` is that of a battery, which takes the share of the instances that `share` says.
            costs = {key: known[key].cost / known[key].share for key in planned if key in known}
            self._remaining = Remaining(planned, done, costs)
            self._bar.total, self._done = sum(planned.values()), sum(done.values())
            self._bar.start_at(self._done)
            self._bar.__enter__()
            self._began = time.monotonic()
            return
        words = [attempt.chunk.key]
        if attempt.findings is None:
            self._failed += 1
        else:
            self._done += attempt.findings.instances
            self._remaining.took(attempt.chunk.key, attempt.findings.instances, attempt.seconds)
            log = attempt.findings.log_tightest
            if log is not None:  # of all chunks so far, this one and those before it
                log = self._tightest[words[0]] = max(log, self._tightest.get(words[0], log))
                words.append(f"held: lhs/rhs ≤ {quotient(log, up=True)}")
        if self._failed:
            words.append(f"{self._failed} chunks failed")
        self._spent += attempt.seconds
        workers = max(1.0, self._spent / max(1e-9, time.monotonic() - self._began))
        self._bar.at(self._done, "  ".join(words), left=self._remaining.seconds(workers))
