"""A campaign from beginning to end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rankmath.decide.campaigns.chunks import Chunk
from rankmath.decide.campaigns.crews import Crew, Dask, dask_cluster, in_this_process, joblib_backend, local_processes
from rankmath.decide.campaigns.ledger import Ledger, LedgerError, Standing
from rankmath.decide.campaigns.plan import Plan
from rankmath.decide.campaigns.work import Attempt
from rankmath.validation import InvalidArgument, as_choice

#: Called with the ledger before the first chunk (None), and with every chunk that comes back.
Watch = Callable[[Ledger, Attempt | None], None]


@dataclass(frozen=True)
class Summary:
    """What the ledger holds after a run.

    `outcome` is "complete", "out of time" or "with failures"; `recorded` counts the chunks of this run; `versions`
    counts the different versions (of the library, NumPy, …) that have computed chunks of the ledger.
    """

    ledger: Path
    outcome: str
    recorded: int
    failed: int
    seconds: float
    versions: int
    standings: tuple[Standing, ...]

    @property
    def as_registered(self) -> bool:
        """Whether no instance contradicts what is registered."""
        return all(standing.as_registered for standing in self.standings)

    def __getitem__(self, key: str) -> Standing:
        for standing in self.standings:
            if standing.statement == key:
                return standing
        raise KeyError(key)


def campaign(
    plan: str | os.PathLike[str] | Mapping[str, object] | Plan,
    *,
    ledger: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: int | None = None,
    seconds: float | None = None,
    dask: Dask = None,
    joblib: bool = False,
    watch: Watch | None = None,
) -> Summary:
    """Verify statements on many instances, in parallel, with a ledger that survives whatever happens.

    Parameters
    ----------
    plan : a TOML file, or a mapping with its keys (see docs/campaigns.md).
    ledger, workers, seconds : instead of what the plan says; `workers=0` runs in this process.
    resume : go on with a ledger that holds chunks already; without it such a ledger is refused.
    dask : the address of a scheduler, or a `distributed.Client`: its workers run the chunks.
    joblib : run under the `joblib.parallel_config` around this call.
    watch : called as `watch(ledger, attempt)` for every chunk that comes back.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     plan = {"statements": ["own:tv"], "instances": 300, "chunk": 100, "certify": 0.02}
    ...     summary = campaign(plan, ledger=f"{folder}/tv.db", workers=0)
    >>> summary.outcome, summary["own:tv"].holds, summary["own:tv"].violated
    ('complete', 300, 0)
    """
    checked = _plan(plan, ledger=ledger, workers=workers, seconds=seconds)
    as_choice("resume", resume, (False, True))
    as_choice("joblib", joblib, (False, True))
    cluster = checked.dask if dask is None else dask
    if joblib and cluster is not None:
        raise InvalidArgument("joblib: True given together with dask; choose one")
    if checked.ledger is None:
        raise InvalidArgument("ledger: none given; name the file to keep the results in")
    began = time.monotonic()
    with Ledger.open(checked.ledger) as book:
        run = book.begin(checked, resume=resume)
        clock = _Clock(book, checked, began)
        recorded = failed = 0
        try:
            if watch is not None:
                watch(book, None)
            with closing(_crew(checked, clock.chunks(), cluster, joblib)) as crew:
                for attempt in crew:
                    kept = book.record(run, attempt)
                    recorded += kept and attempt.findings is not None
                    failed += kept and attempt.findings is None
                    if watch is not None:
                        watch(book, attempt)
        except BaseException as error:
            # The ledger may be what failed; the error at hand says more than another one would.
            with suppress(LedgerError):
                book.end(run, "interrupted" if isinstance(error, KeyboardInterrupt) else f"stopped: {error}")
            raise
        outcome = "with failures" if failed else "out of time" if clock.ran_out else "complete"
        book.end(run, outcome)
        took, standings = time.monotonic() - began, tuple(book.standings())
        return Summary(Path(checked.ledger), outcome, recorded, failed, took, book.versions(), standings)


class _Clock:
    """Hands out the chunks that are not recorded yet, until the time is over."""

    def __init__(self, ledger: Ledger, plan: Plan, began: float) -> None:
        self._ledger, self._plan, self._began = ledger, plan, began
        self.ran_out = False

    def chunks(self) -> Iterator[Chunk]:
        for chunk in self._plan.chunks():
            # Asked late, so that of two runs on one ledger the second skips what the first has done by now.
            if self._ledger.has(chunk):
                continue
            if self._plan.seconds is not None and time.monotonic() - self._began > self._plan.seconds:
                self.ran_out = True
                return
            yield chunk


def _plan(given: object, **instead: object) -> Plan:
    """The plan, with what was given in its stead checked like the plan itself."""
    if isinstance(given, Plan):
        plan = given
    elif isinstance(given, Mapping):
        plan = Plan.of(given)
    elif isinstance(given, (str, os.PathLike)):
        plan = Plan.read(given)
    else:
        raise InvalidArgument(f"plan: a {type(given).__name__} given; a TOML file or a mapping of settings is needed")
    options = Plan.options({name: value for name, value in instead.items() if value is not None})
    return replace(plan, **options)


def _crew(plan: Plan, chunks: Iterator[Chunk], cluster: Dask, joblib: bool) -> Crew:
    if cluster is not None:
        return dask_cluster(chunks, cluster=cluster, attempts=plan.attempts)
    if joblib:
        return joblib_backend(chunks, attempts=plan.attempts)
    if plan.workers == 0:
        return in_this_process(chunks, attempts=plan.attempts)
    return local_processes(chunks, workers=plan.workers, attempts=plan.attempts)
