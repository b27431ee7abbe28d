"""From a statement and an instance to a verdict: nothing is decided that rounding could have decided."""

from __future__ import annotations

import math

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.formula.evaluate import NUMBERS, judged
from rankmath.formula.printing import words as words_of
from rankmath.verification.instance import Instance
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

#: Balls are refined up to here before they give up.
MOST_BITS = 4096
# Digits of a verdict in mpmath.
_DIGITS = 50


def judge(statement: Statement, instance: Instance, arithmetic: str, most_bits: int = MOST_BITS) -> Verdict:
    """The verdict on one checked instance."""
    if statement.exact:
        return verdicts(statement, Float64(np.zeros(1)), instance, 1, "exact")[0]
    if arithmetic == "float64":
        return verdicts(statement, Float64(np.zeros(1)), instance, 1, "float64")[0]
    if arithmetic == "mpmath":
        return _multiprecision_verdict(statement, instance)
    return _ball_verdict(statement, instance, most_bits)


def _multiprecision_verdict(statement: Statement, instance: Instance) -> Verdict:
    import mpmath

    from rankmath.arithmetic.multiprecision import Multiprecision

    try:
        with mpmath.workdps(_DIGITS):
            return verdicts(statement, Multiprecision(_DIGITS), instance, 1, "mpmath")[0]
    except (ZeroDivisionError, OverflowError):
        # Other arithmetics have a number for it, or know that they do not know.
        reason = "a quotient by zero, or a number that mpmath cannot hold"
        return Verdict(statement.key, Outcome.UNDECIDED, math.nan, math.nan, False, "mpmath", reason)


def _ball_verdict(statement: Statement, instance: Instance, most_bits: int) -> Verdict:
    from rankmath.arithmetic.balls import Balls, precision

    bits = min(128, most_bits)
    while True:
        with precision(bits):
            verdict = verdicts(statement, Balls(), instance, 1, f"balls at {bits} bits")[0]
        if verdict.outcome != Outcome.UNDECIDED or bits >= most_bits or statement.quantifier == "some":
            return verdict
        bits = min(2 * bits, most_bits)


def verdicts(statement: Statement, A: System, instance: Instance, size: int, name: str) -> list[Verdict]:
    """Verdicts on an instance or a batch of `size`: decided only where rounding cannot have decided.

    A hypothesis that certainly fails makes the statement not applicable; one that cannot be told, undecided. A
    claim of existence is not violated by an instance that does not show it.
    """
    evaluation = statement.evaluate(A, instance)
    numbers = NUMBERS[A.name]
    outcomes = np.full(size, Outcome.HOLDS, dtype=object)
    reasons = np.full(size, "", dtype=object)
    lefts, rights, worst = np.full(size, np.nan), np.full(size, np.nan), np.zeros(size)
    levels = np.zeros(size, dtype=int)
    for side in evaluation.sides:
        known = judged(side, size, numbers)
        with np.errstate(invalid="ignore"):
            excess = np.where(known.log_left == -np.inf, -np.inf, known.log_left - known.log_right)
        # The side that is reported: one that is violated, else one that is undecided, else the tightest.
        level = np.where(known.above, 2, np.where(known.below, 0, 1))
        excess = np.nan_to_num(excess)
        critical = (level > levels) | ((level == levels) & (excess > worst)) | np.isnan(lefts)
        lefts, rights = np.where(critical, known.log_left, lefts), np.where(critical, known.log_right, rights)
        levels, worst = np.where(critical, level, levels), np.where(critical, excess, worst)
        open_ = ~known.below & ~known.above & (outcomes == Outcome.HOLDS)
        outcomes[open_] = Outcome.UNDECIDED
        outcomes[known.above] = Outcome.VIOLATED
        if side.truth is not None:
            reasons[critical] = side.truth.reason
        else:
            reasons[open_] = "the two sides are equal as far as these numbers can tell"
    if statement.quantifier == "some":
        silent = outcomes == Outcome.VIOLATED
        outcomes[silent], reasons[silent] = (
            Outcome.UNDECIDED,
            "this instance does not show it; the claim is that some does",
        )
    for side in evaluation.hypotheses:
        known = judged(side, size, numbers)
        shown = words_of(side.formula)
        doubtful = ~known.below & ~known.above & (outcomes != Outcome.NOT_APPLICABLE)
        outcomes[doubtful], reasons[doubtful] = Outcome.UNDECIDED, f"cannot tell whether {shown}"
        outcomes[known.above], reasons[known.above] = Outcome.NOT_APPLICABLE, f"{shown} fails"
    certified = name not in ("float64", "mpmath")
    found = []
    for i in range(size):
        outcome = Outcome(outcomes[i])
        applies = outcome != Outcome.NOT_APPLICABLE
        found.append(
            Verdict(
                statement.key,
                outcome,
                float(lefts[i]) if applies else math.nan,
                float(rights[i]) if applies else math.nan,
                certified and outcome != Outcome.UNDECIDED,
                name,
                str(reasons[i]),
            )
        )
    return found
