"""Verdicts as they come: decided batch by batch, and counted."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankmath.arithmetic.float64 import Float64
from rankmath.verification.instance import Instance, alike, together
from rankmath.verification.judge import Verdicts, verdicts
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict


def looked_at(
    statement: Statement, batch: Instance, wanted: Set[int], A: Float64
) -> tuple[Verdicts | None, NDArray[np.bool_]]:
    """What float64 says of a batch, and for which of them that is enough: not for those `wanted` in balls (by their
    place), and not where it leaves open or sees violated. Exact statements are not for floats."""
    if statement.exact:
        return None, np.zeros(len(batch), dtype=bool)
    found = verdicts(statement, A, batch, len(batch), "float64")
    return found, cleared(found, wanted)


def cleared(found: Verdicts, wanted: Set[int]) -> NDArray[np.bool_]:
    """For which of a batch that is enough, as `looked_at` says."""
    clear = ~found.where(Outcome.VIOLATED, Outcome.UNDECIDED)
    clear[[i for i in wanted if 0 <= i < len(found)]] = False
    return clear


def looked_at_all(statement: Statement, batches: Sequence[Instance]) -> list[Verdicts | None]:
    """What float64 says of each batch; those that are alike are looked at as one, which takes half the time."""
    if statement.exact:
        return [None for _ in batches]
    groups: list[list[int]] = []
    for place, batch in enumerate(batches):
        group = next((group for group in groups if alike(batches[group[0]], batch)), None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    said: dict[int, Verdicts] = {}
    for group in groups:
        whole = batches[group[0]] if len(group) == 1 else together([batches[place] for place in group])
        found = verdicts(statement, Float64(np.zeros(1)), whole, len(whole), "float64")
        ends = np.cumsum([len(batches[place]) for place in group]).tolist()
        for place, end in zip(group, ends, strict=True):
            said[place] = found.part(slice(end - len(batches[place]), end))
    return [said[place] for place in range(len(batches))]


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

    def count_clear(self, found: Verdicts, clear: NDArray[np.bool_]) -> int | None:
        """Count those of a batch that are `clear`: float64 says that they hold, or that they are not concerned.

        The place of the tightest of them, if it is tighter than all before.
        """
        holds = clear & found.where(Outcome.HOLDS)
        self.instances += int(clear.sum())
        self.holds += int(holds.sum())
        self.not_applicable += int(clear.sum() - holds.sum())
        places = np.flatnonzero(holds & ~np.isnan(found.log_lhs))
        with np.errstate(invalid="ignore"):
            excesses = found.log_lhs[places] - found.log_rhs[places]
        self.excesses.extend(excesses.tolist())
        best = int(np.argmax(np.nan_to_num(excesses, nan=-math.inf))) if len(places) else 0
        if not len(places) or not excesses[best] > self.log_tightest:
            return None
        self.log_tightest = float(excesses[best])
        return int(places[best])

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
