"""How far a campaign is, for the console."""

from __future__ import annotations

from rankmath.campaigns.ledger import Ledger
from rankmath.campaigns.work import Attempt
from rankmath.console import Progress
from rankmath.printing import quotient


class Watcher:
    """A `Watch` for `campaign`, to be used as a context manager."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._bar = Progress(0, "instances", quiet=quiet)
        self._done = self._failed = 0
        self._tightest: dict[str, float] = {}

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.__exit__(*exception)

    def __call__(self, ledger: Ledger, attempt: Attempt | None) -> None:
        if attempt is None:
            self._bar.total = sum(ledger.planned().values())
            self._done = sum(standing.instances for standing in ledger.standings())
            self._bar.start_at(self._done)
            self._bar.__enter__()
            return
        words = [attempt.chunk.key]
        if attempt.findings is None:
            self._failed += 1
        else:
            self._done += attempt.findings.instances
            if attempt.findings.log_tightest is not None:
                words.append(f"lhs/rhs ≤ {quotient(attempt.findings.log_tightest)}")
        if self._failed:
            words.append(f"{self._failed} chunks failed")
        self._bar.at(self._done, "  ".join(words))


__all__ = ["Watcher"]
