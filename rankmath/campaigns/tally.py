"""Verdicts as they come: decided batch by batch, and counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.backend import Backend
from rankmath.verification.instance import Instance
from rankmath.verification.judge import judge, verdicts
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict


def decided(
    statement: Statement,
    batch: Instance,
    wanted: Callable[[int], bool],
    backend: Backend = "numpy",
    hear: Callable[[Float64, list[Verdict]], None] | None = None,
) -> Iterator[Verdict]:
    """A verdict for each of a batch: float64 looks at all, balls decide those `wanted` (by their place) and all
    that float64 leaves open or sees violated. Exact statements are decided one by one.

    `hear` is told what float64 says, before balls are asked.
    """
    if statement.exact:
        for i in range(len(batch)):
            yield judge(statement, batch.select(i), "exact")
        return
    A = Float64(np.zeros(1), backend=backend)
    found = verdicts(statement, A, batch, len(batch), "float64")
    if hear is not None:
        hear(A, found)
    for i, verdict in enumerate(found):
        is_open = verdict.outcome in (Outcome.VIOLATED, Outcome.UNDECIDED)
        yield judge(statement, batch.select(i), "balls") if is_open or wanted(i) else verdict


@dataclass(repr=False)
class Tally:
    """How many instances there were of each outcome, and how tight those were on which the statement holds."""

    statement: Statement
    instances: int = 0
    holds: int = 0
    certified: int = 0
    not_applicable: int = 0
    undecided: int = 0
    violated: int = 0
    log_tightest: float = -math.inf
    #: log(lhs/rhs) where the statement holds and has two sides.
    excesses: list[float] = field(default_factory=list)

    def count(self, verdict: Verdict) -> bool:
        """Count one decided instance; whether it is the tightest so far."""
        self.instances += 1
        name = Outcome(verdict.outcome).lower()
        setattr(self, name, getattr(self, name) + 1)
        self.certified += verdict.certified and verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED)
        if verdict.outcome != Outcome.HOLDS or math.isnan(verdict.log_lhs):
            return False
        self.excesses.append(verdict.log_lhs - verdict.log_rhs)
        if not self.excesses[-1] > self.log_tightest:
            return False
        self.log_tightest = self.excesses[-1]
        return True
