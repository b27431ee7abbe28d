"""How far a campaign is: bars on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from rankmath.campaigns.chunks import Attempt
from rankmath.campaigns.ledger import Ledger

#: Seconds between two lines where there is no terminal.
PAUSE = 30.0


def ratio_words(log_ratio: float | None) -> str:
    """lhs/rhs for people: a ratio just below 1 must not be printed as 1.

    Examples
    --------
    >>> ratio_words(-1e-7), ratio_words(math.log(0.25)), ratio_words(0.0), ratio_words(None)
    ('1 - 1.0e-07', '0.25', '1 - <1e-15', '')
    """
    if log_ratio is None:
        return ""
    gap = -math.expm1(log_ratio)
    if gap < 1e-15:
        return "1 - <1e-15"
    return f"1 - {gap:.1e}" if gap < 1e-3 else f"{math.exp(log_ratio):.4g}"


class _Count:
    """One statement: instances done and planned, the tightest ratio so far, chunks that failed."""

    def __init__(self, done: int, planned: int, log_tightest: float | None) -> None:
        self.done, self.planned, self.log_tightest, self.failed = done, planned, log_tightest, 0

    def take(self, attempt: Attempt) -> None:
        if attempt.findings is None:
            self.failed += 1
            return
        self.done += attempt.findings.instances
        seen = (self.log_tightest, attempt.findings.log_tightest)
        self.log_tightest = max((x for x in seen if x is not None), default=None)

    @property
    def words(self) -> str:
        tightest = f"lhs/rhs ≤ {ratio_words(self.log_tightest)}" if self.log_tightest is not None else ""
        return f"{tightest}  {self.failed} failed" if self.failed else tightest


class Progress:
    """A `Watch` for `campaign`, to be used as a context manager."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._counts: dict[str, _Count] = {}
        self._bars: Any = None
        self._tasks: dict[str, Any] = {}
        self._began = self._spoke = time.monotonic()
        self._fresh = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, ledger: Ledger, attempt: Attempt | None) -> None:
        if self._quiet:
            return
        if attempt is None:
            self._start(ledger)
            return
        key = attempt.chunk.key
        count = self._counts[key]
        count.take(attempt)
        self._fresh += attempt.findings.instances if attempt.findings is not None else 0
        if self._bars is not None:
            self._bars.update(self._tasks[key], completed=count.done, words=count.words)
        elif time.monotonic() - self._spoke > PAUSE:
            self._spoke = time.monotonic()
            print(self._line(), file=sys.stderr, flush=True)

    def _start(self, ledger: Ledger) -> None:
        standings = {standing.statement: standing for standing in ledger.standings()}
        for key, planned in ledger.planned().items():
            self._counts[key] = _Count(standings[key].instances, planned, standings[key].log_tightest)
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
        from rich.text import Text

        class Rate(ProgressColumn):
            def render(self, task: Any) -> Text:
                speed = task.finished_speed or task.speed
                return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")

        name, words = TextColumn("{task.description}"), TextColumn("{task.fields[words]}")
        columns = (name, BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn(), words)
        self._bars = Bars(*columns, console=Console(stderr=True), speed_estimate_period=120)
        for key, count in self._counts.items():
            self._tasks[key] = self._bars.add_task(
                key, total=count.planned, completed=min(count.done, count.planned), words=count.words
            )
        self._bars.start()

    def _line(self) -> str:
        rate = self._fresh / (time.monotonic() - self._began)
        left = sum(max(0, count.planned - count.done) for count in self._counts.values())
        minutes = f", {left / rate / 60:.1f} min left" if rate > 0 else ""
        parts = [f"{key} {count.done}/{count.planned} {count.words}" for key, count in self._counts.items()]
        return f"{'; '.join(parts)}; {rate:.0f}/s{minutes}"


__all__ = ["Progress", "ratio_words"]
