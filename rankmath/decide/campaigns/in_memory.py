"""`rankmath verify`: a campaign in memory. Each statement's battery is one piece of work for the crews."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rankmath.attention.backend import Backend
from rankmath.claims import statement, statements, statements_in, users_error
from rankmath.decide.battery import Battery, verify_statement
from rankmath.decide.campaigns.crews import Hear, done_ahead, ignore, in_this_process, local_processes
from rankmath.decide.campaigns.exact_json import encode
from rankmath.decide.campaigns.work import Attempt, Tell, Work
from rankmath.formula.printing import text
from rankmath.printing import quotient
from rankmath.validation import InvalidArgument, Json
from rankmath.verification.instance import Instance
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Verdict


class BatteryFailed(RuntimeError):
    """A battery ended in an error that is not the user's; the message is the worker's traceback."""


@dataclass(frozen=True)
class Result:
    """One statement's battery, ready for JSON.

    `extra` of the instances are near-extremal or found by search; `log_worst` is the largest log(lhs/rhs) among
    violations. Certificates are named by id, `texts` holding them until they are written; `counterexample` is the
    smallest violating instance, exactly (see `exact_json`).
    """

    key: str
    title: str
    claim: str
    source: str
    status: str
    truth: str
    outcome: str
    as_registered: bool
    sharp: bool
    instances: int
    extra: int
    holds: int
    certified: int
    not_applicable: int
    undecided: int
    violations: int
    tightest: float
    log_worst: float | None
    seconds: float
    ratios: list[float] = field(repr=False)
    certificates: tuple[str, ...]
    comparison: dict[str, float] = field(default_factory=dict)
    texts: tuple[str, ...] = field(default=(), repr=False)
    #: What the checker concluded of those it accepted in this run, by id.
    checked: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    counterexample: str = field(default="", repr=False)
    #: Of a statement that is not registered: premises, conclusion, letters, meanings and, of a network, hypotheses.
    stated: dict[str, Json] = field(default_factory=dict, repr=False)

    @property
    def drawn(self) -> str:
        """How many instances there were, and where they come from."""
        more = f" ({self.instances - self.extra} drawn, {self.extra} near-extremal or searched)" if self.extra else ""
        return f"{self.instances} instances{more}"

    @property
    def sentence(self) -> str:
        """What may be said of it, no more: "for all" is never shown by sampling."""
        listed = ", ".join(self.certificates)
        if self.outcome == "REFUTED" and not self.violations:
            return f"refuted by a stored certificate, {listed}; it held on all {self.drawn} tried here"
        if self.outcome == "REFUTED":
            ratio = f", lhs/rhs = {quotient(self.log_worst)} at worst" if self.log_worst is not None else ""
            certificates = f"; certificates {listed}" if listed else ""
            return f"refuted by {self.violations} of {self.drawn}{ratio}{certificates}"
        known = f"proved in {self.truth}; " if self.status == "proved" and self.truth else ""
        return f"{known}held on {self.holds} of {self.drawn}, {self.certified} certified"


@dataclass(frozen=True)
class BatteryWork:
    """What a worker process needs to run one battery."""

    key: str
    file: str | None
    instances: int
    certify: int
    seed: int
    search: int
    backend: Backend
    cost: float = 1.0
    #: Batteries of one number draw the same instances; what one of them solved, a process knows in the next.
    kin: int | None = None

    def run(self, tell: Tell) -> Result:
        """The battery, summarised; an error in a user's own file is named by its line."""
        try:
            asked = {name: getattr(self, name) for name in ("instances", "certify", "seed", "search", "backend")}
            battery = verify_statement(self.statement(), **asked, progress=tell)
        except InvalidArgument:
            raise
        except Exception as error:
            if self.file is None:
                raise
            raise users_error(self.file, error, self.key) from error
        return summary(battery, self.instances)

    def statement(self) -> Statement:
        """The registered statement, or the one of the user's file."""
        if self.file is None:
            return statement(self.key)
        return next(entry for entry in statements_in(self.file) if entry.key == self.key)


def summary(battery: Battery, asked: int) -> Result:
    """The battery as plain data; `asked` instances were to be drawn."""
    entry = battery.statement
    worst = [v.log_lhs - v.log_rhs for _, v in battery.violations if math.isfinite(v.log_lhs - v.log_rhs)]
    of_entry = ("key", "title", "claim", "source", "status", "truth", "sharp")
    counted = ("outcome", "as_registered", "instances", "holds", "certified", "not_applicable", "undecided")
    return Result(
        **{name: getattr(entry, name) for name in of_entry},
        **{name: getattr(battery, name) for name in (*counted, "tightest", "seconds", "ratios")},
        extra=max(0, battery.instances - asked),
        violations=len(battery.violations),
        log_worst=max(worst, default=None),
        certificates=tuple(c.id for c in battery.certificates),
        comparison=dict(battery.comparison),
        texts=tuple(c.text() for c in battery.certificates),
        checked={c.id: tuple(said.checked) for c in battery.certificates if (said := c.check()).accepted},
        counterexample=encode(smallest(battery.violations)) if battery.violations else "",
        stated={} if entry.key in statements() else _as_stated(entry),
    )


def _as_stated(entry: Statement) -> dict[str, Json]:
    parts = {name: list(getattr(entry, name)) for name in ("premises", "conclusion", "letters")}
    given = {} if entry.arrays else {"given": [text(part) for part in entry.hypotheses]}
    return {**parts, "meanings": [list(pair) for pair in entry.meanings], **given}


def smallest(violations: Sequence[tuple[Instance, Verdict]]) -> Instance:
    """The violating instance with the fewest numbers; among equals the first found."""
    return min(violations, key=lambda found: found[0].vector().size)[0]


def works(
    entries: Sequence[tuple[Statement, str | None]],
    *,
    instances: int,
    certify: int,
    seed: int,
    search: int,
    backend: Backend = "numpy",
) -> list[BatteryWork]:
    """One battery a statement, the long ones first, so that no worker is left with one at the end."""
    families: dict[object, int] = {}
    return [
        BatteryWork(
            entry.key,
            file,
            max(1, int(instances * entry.share)),
            certify,
            seed,
            # A step costs what an instance costs; the search is cut by less, as it finds the tight instances.
            int(search * math.sqrt(entry.share)),
            backend,
            entry.cost,
            families.setdefault((*map(id, entry.draws), entry.share), len(families)),
        )
        for entry, file in sorted(entries, key=lambda entry: -entry[0].cost)
    ]


def run_all(
    batteries: Sequence[BatteryWork], *, jobs: int, hear: Hear = ignore, ahead: Sequence[Work] = ()
) -> Iterator[Result]:
    """Results as they finish; a battery depends on its own arguments alone, so `jobs` changes nothing but time.

    Processes for which no battery is left go on with `ahead`, what is wanted afterwards and needs no result.
    Closing the iterator, or Ctrl-C, ends the workers at once.
    """
    if jobs <= 1 or len(batteries) <= 1:
        crew = in_this_process(iter(batteries), attempts=1, hear=hear)
    else:
        pieces = iter([*batteries, *ahead])
        crew = local_processes(pieces, workers=min(jobs, len(batteries)), attempts=1, hear=hear)
    with closing(crew):
        for came in crew:
            if isinstance(came.chunk, BatteryWork):
                yield _result(came)
            else:
                done_ahead(came)


def _result(came: Attempt) -> Result:
    if isinstance(came.findings, Result):
        return came.findings
    if came.users_mistake:
        raise InvalidArgument(came.error)
    print(came.traceback, file=sys.stderr)
    raise BatteryFailed(f"{came.chunk.key}: {came.error}")
