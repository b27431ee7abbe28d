"""A witness that a statement is not empty: an instance inside all its hypotheses, decided beyond rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankmath.formula.terms import Relation
from rankmath.verification.instance import Instance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

#: Instances of each draw that are tried, and the precision at which balls give up.
_TRIED, _BITS = 6, 512


@dataclass(frozen=True)
class Witness:
    """An instance and what balls or exact numbers say of it."""

    instance: Instance
    verdict: Verdict


def witness(entry: Statement, seed: int = 0) -> Witness | None:
    """The first drawn instance at which a proved statement holds strictly, or a refuted one fails; else None.

    >>> from rankmath.claims import statement
    >>> found = witness(statement("own:tv"))
    >>> print(found.verdict.outcome, found.verdict.certified, found.verdict.log_lhs < found.verdict.log_rhs)
    HOLDS True True
    """
    wanted = Outcome.VIOLATED if entry.status == "refuted" else Outcome.HOLDS
    rng = np.random.default_rng(seed)
    drawn = (batch.select(i) for draw in entry.draws for batch in (draw(rng, _TRIED),) for i in range(len(batch)))
    extremal = entry.extremal(rng) if entry.extremal is not None else ()
    for instance in (*extremal, *drawn) if entry.status == "refuted" else (*drawn, *extremal):
        verdict = judge(entry, instance, "balls", _BITS)
        # Predicates have no two sides, and equations equal ones.
        strict = verdict.log_lhs != verdict.log_rhs or _is_equation(entry)
        if verdict.outcome == wanted and verdict.certified and strict:
            return Witness(instance, verdict)
    return None


def _is_equation(entry: Statement) -> bool:
    return isinstance(entry.claimed, Relation) and entry.claimed.operator == "=="
