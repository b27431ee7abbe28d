"""Hints about a claim that is neither proved nor refuted: what bounds as well, and from what it would follow."""

from __future__ import annotations

import math
import time
from itertools import permutations

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.checker.intervals import Rejected
from rankmath.claims import statements
from rankmath.decide.adversary import search
from rankmath.decide.prover.search import OutOfTime, Search
from rankmath.decide.space import with_draws
from rankmath.formula import read_term
from rankmath.formula.evaluate import sides, value
from rankmath.formula.numbers import Signed
from rankmath.formula.terms import Call, relations
from rankmath.printing import quotient
from rankmath.validation import Floats
from rankmath.verification.instance import Instance
from rankmath.verification.statement import Statement

_COMPARED = 4
_BATCH = 16
#: How many facts in a row may turn out false, and how long each is attacked.
_TRIES, _SECONDS = 6, 2.0


def lacking(statement: Statement, seed: int = 0, seconds: float = 20.0) -> str:
    """The fact from which the claim would follow, in words: an inequality of two quantities that was not refuted.

    Of all that held on the instances compared, a program in logarithms takes what suffices together with the
    lemmas, the slackest first; what a search refutes is dropped, and the next is taken. Nothing where `seconds` do
    not suffice.

    >>> claim = "stable_rank(X[0]) <= 2*effective_rank(X[0], eigen)"
    >>> said = lacking(Statement("mine:r", claim, "norm(X[0], 2) > 0"))
    >>> said.partition(", which held")[0]
    'it would follow from stable_rank(X[0]) <= effective_rank(X[0], eigen)'
    """
    until = time.perf_counter() + seconds

    def over() -> bool:
        return time.perf_counter() > until

    try:
        work = Search(statement.claim_text, statement.given_texts, seconds=6.0, statements=False, stop=over)
        goal, *others = work.work.goals()
        if others:
            return ""
        work.settle_meaning()
        near = {atom.text: atom for atom in work.quantities_near(goal)}
        slack = _compared(statement, list(near), seed, until)
        for _ in range(_TRIES):
            used = work.suppose(goal, [(near[a], near[b], *known[:2]) for (a, b), known in slack.items()])
            if len(used) != 1:
                return ""
            _, tight, count = slack.pop((used[0].name, used[0].body))
            fact = used[0].line.text
            if fact == goal.text:
                continue
            if over():
                return ""
            if not search(
                Statement("mine:lacking", fact, statement.given_texts),
                seconds=min(_SECONDS, max(0.0, until - time.perf_counter())),
            ).refutes:
                told = f"the tightest quotient was {quotient(tight)}" if np.isfinite(tight) else "one side was 0"
                return f"it would follow from {fact}, which held on {count} instances compared; {told}"
    except (Rejected, OutOfTime):
        return ""
    return ""


def _compared(
    statement: Statement, quantities: list[str], seed: int, until: float = math.inf
) -> dict[tuple[str, str], tuple[int, float, int]]:
    """Pairs a <= b or a <= 2b of quantities that held throughout: the factor, the largest quotient's logarithm, and
    on how many instances; out of time after `until`."""
    drawn, A = with_draws(statement), Float64(np.zeros(1))
    logs: dict[str, list[Floats]] = {text: [] for text in quantities}
    for turn in range(_COMPARED):
        batch = drawn.draws[turn % len(drawn.draws)](np.random.default_rng([seed, 77, turn]), _BATCH)
        with np.errstate(all="ignore"):
            subject, met = statement.run(A, batch), statement.evaluate(A, batch).hypotheses
            fine = np.ones(_BATCH, dtype=bool)
            for side in met:
                fine &= True if side.truth is None else np.broadcast_to(np.asarray(side.truth.holds), _BATCH)
            for text in quantities:
                if time.perf_counter() > until:
                    raise OutOfTime
                x = value(read_term(text), subject, {})
                x = x if isinstance(x, Signed) else Signed.exact(x)
                sized = np.where(np.asarray(x.sign) > 0, x.log, np.where(np.asarray(x.sign) < 0, np.nan, -np.inf))
                logs[text].append(np.broadcast_to(sized, _BATCH)[fine])
    values = {text: np.concatenate(parts) for text, parts in logs.items()}
    out = {}
    for (a, x), (b, y) in permutations(values.items(), 2):
        with np.errstate(invalid="ignore"):
            gap = np.where(np.isneginf(x), -np.inf, x - y)
        if gap.size and not np.isnan(gap).any() and gap.max() <= math.log(2) + 1e-12:
            factor = 1 if gap.max() <= 1e-12 else 2
            out[a, b] = factor, min(0.0, float(gap.max()) - math.log(factor)), gap.size  # it held, up to rounding
    return out


def implying(statement: Statement, seed: int, until: float = math.inf) -> list[str]:
    """Proved statements with the same left side and a right side at most as large, on every instance compared."""
    drawn = with_draws(statement)
    A = Float64(np.zeros(1))
    measured = _measured(statement)
    # Only bounds of the same quantity can be compared.
    fits = {
        key: True
        for key, entry in statements().items()
        if entry.status == "proved" and not entry.arrays and measured is not None and _measured(entry) == measured
    }
    for turn in range(_COMPARED):
        batch = drawn.draws[turn % len(drawn.draws)](np.random.default_rng([seed, 77, turn]), _BATCH)
        mine = _logs(statement, A, batch)
        if mine is None:
            return []
        for key in [key for key, fit in fits.items() if fit]:
            if time.perf_counter() > until:
                return []
            theirs = _logs(statements()[key], A, batch)
            if theirs is None:
                fits[key] = False
                continue
            with np.errstate(invalid="ignore"):
                same = np.isclose(theirs[0], mine[0], rtol=1e-9, atol=1e-9).all()
                slack = 1e-9 * np.maximum(1.0, np.abs(np.where(np.isfinite(mine[1]), mine[1], 1.0)))
                fits[key] = bool(same and (theirs[1] <= mine[1] + slack).all())
    return [key for key, fit in fits.items() if fit]


def _measured(statement: Statement) -> tuple[str, str] | None:
    """The function on the left of the claim's only relation, and the relation."""
    found = relations(statement.expanded)
    if len(found) != 1 or not isinstance(found[0].left, Call):
        return None
    return found[0].left.function, found[0].operator


def _logs(entry: Statement, A: System, batch: Instance) -> tuple[Floats, Floats] | None:
    """Both sides of the only relation of a claim over a batch to which it applies throughout."""
    try:
        with np.errstate(all="ignore"):
            subject = entry.run(A, batch)
            evaluation = entry.evaluate(A, batch)
            if any(side.truth is not None and not np.all(side.truth.holds) for side in evaluation.hypotheses):
                return None
            found = list(sides(entry.expanded, subject))
    except (KeyError, IndexError, ValueError, ArithmeticError):
        return None  # the claim speaks of other networks than these
    if len(found) > 3 or not all(isinstance(side, Signed) for side in (found[0].left, found[0].right)):
        return None
    return found[0].left.log, found[0].right.log
