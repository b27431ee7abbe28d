"""Uphill in lhs/rhs from the tightest instance that was drawn: what a battery and a chunk do after drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.decide import adversary
from rankmath.decide.simplex import least
from rankmath.printing import log_of
from rankmath.validation import Floats, InvalidArgument
from rankmath.verification.instance import Instance, moved_to
from rankmath.verification.judge import judge, verdicts
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

# A simplex in more dimensions than this gets nowhere.
_MOST_PARAMETERS = 200
# Of statements with at least this share a batch costs little more than one instance: no linear programs.
_AHEAD = 0.25
# With so many steps the adversary looks at all shapes as well; evaluations for each step.
_ROAMING_STEPS, _IN_A_STEP = 1000, 16


def uphill(
    statement: Statement, start: Instance | None, tightest: float, *, seed: int, steps: int
) -> Iterator[tuple[Instance, Verdict]]:
    """Near-extremal instances, with steps enough the adversary's best over all shapes that the claim allows, and
    where a simplex gets to from the tightest; each decided by balls.

    Parameters
    ----------
    start, tightest : the tightest instance so far, and its lhs/rhs.
    """

    def seen(instance: Instance) -> tuple[Instance, Verdict]:
        nonlocal start, tightest
        verdict = judge(statement, instance, "balls")
        if verdict.outcome == Outcome.HOLDS and verdict.ratio > tightest:
            start, tightest = instance, verdict.ratio
        return instance, verdict

    for instance in statement.extremal(np.random.default_rng([seed, 2**32 - 1])) if statement.extremal else ():
        yield seen(instance)
    if steps >= _ROAMING_STEPS and not statement.arrays and statement.quantifier == "all":
        found = _elsewhere(statement, seed, steps)
        if found is not None and found.instance is not None and found.score > max(-1e4, log_of(tightest)):
            yield seen(found.instance)
    if start is None or steps == 0 or tightest > 1 - 1e-9 or start.vector().size > _MOST_PARAMETERS:
        return
    yield seen(_peak(statement, start, steps))


def _elsewhere(statement: Statement, seed: int, steps: int) -> adversary.Found | None:
    try:
        found = adversary.search(statement, evaluations=_IN_A_STEP * steps, seconds=math.inf, seed=seed)
    except InvalidArgument:
        return None  # its networks have more than the adversary knows of, such as an MLP
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _peak(statement: Statement, start: Instance, steps: int) -> Instance:
    """Where a simplex of Nelder and Mead climbs from an instance, its shape kept."""

    def depths(vectors: Floats) -> Floats:
        moved = start.at(vectors[0]) if len(vectors) == 1 else moved_to(start, vectors)
        found = verdicts(statement, Float64(np.zeros(1)), moved, len(vectors), "float64")
        with np.errstate(invalid="ignore"):
            depth = found.log_rhs - found.log_lhs
        return np.where(~found.where(Outcome.NOT_APPLICABLE) & np.isfinite(depth), depth, 1e6)

    origin = start.vector()
    corners = np.diag(0.05 * np.abs(origin) + 0.01 * np.abs(origin).max())
    simplex = origin + np.vstack([np.zeros(origin.size), corners])
    return start.at(least(depths, simplex, steps, ahead=statement.share >= _AHEAD))
