"""From a statement and an instance to a verdict: nothing is decided that rounding could have decided."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.formula.evaluate import NUMBERS, Judged, Side, certain, is_number, judged
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.printing import text
from rankmath.formula.printing import words as words_of
from rankmath.formula.terms import Formula, Letter, Relation
from rankmath.validation import Floats, NoDirection
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

#: Balls are refined up to here before they give up.
MOST_BITS = 4096
# Digits of a verdict in mpmath.
_DIGITS = 50
_LARGEST = float(np.finfo(float).max)


def judge(statement: Statement, instance: Instance, arithmetic: str, most_bits: int = MOST_BITS) -> Verdict:
    """The verdict on one checked instance."""
    if statement.exact:
        return verdicts(statement, Float64(np.zeros(1)), instance, 1, "exact")[0]
    if arithmetic == "float64":
        return verdicts(statement, Float64(np.zeros(1)), instance, 1, "float64")[0]
    if arithmetic == "mpmath":
        return _multiprecision_verdict(statement, instance)
    return _ball_verdicts(statement, instance, most_bits)[0]


def decided(statement: Statement, batch: Instance, places: Sequence[int]) -> list[Verdict]:
    """What balls say of these instances of a batch: of all at once where they can."""
    if len(places) > 1 and _takes_batches(statement, batch):
        return _ball_verdicts(statement, batch.part(places), MOST_BITS)
    return [judge(statement, batch.select(i), "balls") for i in places]


#: Quantities that balls have of many networks at once.
_OF_BATCHES = frozenset({"diameter", "operator_norm", "form_norm", "norm", "mu"})


def _takes_batches(statement: Statement, batch: Instance) -> bool:
    """Whether balls take networks of such a batch together: attention alone, and nothing measured but sizes."""
    if statement.exact or not isinstance(batch, NetworkInstance) or not batch.net.batch_shape:
        return False
    measured = {name for name in statement.functions if FUNCTIONS[name].evaluate is not None}
    net = batch.net
    alone = net.is_one_line and net.mask is None and net.norm is None and not any(net.mlp)
    return alone and measured <= _OF_BATCHES


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


def _ball_verdicts(statement: Statement, instance: Instance, most_bits: int) -> list[Verdict]:
    """Of an instance or a batch; what is undecided is looked at again with more bits."""
    from rankmath.arithmetic.balls import Balls, precision

    found: dict[int, Verdict] = {}
    left, bits = list(range(len(instance))), min(128, most_bits)
    while True:
        with precision(bits):
            said = verdicts(statement, Balls(), instance, len(left), f"balls at {bits} bits")
        found |= zip(left, said, strict=True)
        again = np.flatnonzero(said.where(Outcome.UNDECIDED)).tolist()
        if not again or bits >= most_bits or statement.quantifier == "some":
            return [found[i] for i in sorted(found)]
        if len(again) < len(left):
            left, instance = [left[i] for i in again], instance.part(again)
        # In large steps: most of the time goes to what does not depend on the bits.
        bits = min(8 * bits, most_bits)


# Outcomes as numbers, in the order of `_OUTCOMES`.
_OUTCOMES = (Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.NOT_APPLICABLE)
_HOLDS, _VIOLATED, _UNDECIDED, _NOT_APPLICABLE = range(4)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts on a batch, by column; `reason` counts in `reasons`, of which the first says nothing."""

    key: str
    outcome: NDArray[np.int8]
    log_lhs: Floats
    log_rhs: Floats
    certified: bool
    arithmetic: str
    reason: NDArray[np.int16]
    reasons: tuple[str, ...]
    compared: str

    def where(self, *outcomes: Outcome) -> NDArray[np.bool_]:
        """Which of them have one of these outcomes."""
        return np.asarray(sum(self.outcome == _OUTCOMES.index(outcome) for outcome in outcomes), dtype=bool)

    def part(self, which: slice) -> Verdicts:
        """Those of a part of the batch."""
        columns = {name: getattr(self, name)[which] for name in ("outcome", "log_lhs", "log_rhs", "reason")}
        return replace(self, **columns)

    def __len__(self) -> int:
        return len(self.outcome)

    def __iter__(self) -> Iterator[Verdict]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, i: int) -> Verdict:
        outcome = _OUTCOMES[self.outcome[i]]
        applies = outcome != Outcome.NOT_APPLICABLE
        return Verdict(
            self.key,
            outcome,
            float(self.log_lhs[i]) if applies else math.nan,
            float(self.log_rhs[i]) if applies else math.nan,
            self.certified and outcome != Outcome.UNDECIDED,
            self.arithmetic,
            self.reasons[self.reason[i]],
            self.compared,
        )


def _said(formula: Formula) -> str:
    """A hypothesis in words, or as text where no words are printed for what is meant unsaid."""
    return words_of(formula) or text(formula)


def verdicts(statement: Statement, A: System, instance: Instance, size: int, name: str) -> Verdicts:
    """Verdicts on an instance or a batch of `size`: decided only where rounding cannot have decided.

    A hypothesis that certainly fails makes the statement not applicable; one that cannot be told, undecided. A
    claim of existence is not violated by an instance that does not show it. Nor is one applicable whose layer is not
    defined at these tokens; a batch of such is refused.
    """
    certified = name not in ("float64", "mpmath")
    try:
        evaluation = statement.evaluate(A, instance)
    except NoDirection as undefined:
        if size > 1:
            raise
        # Balls alone tell zero from small.
        code, doubt = (_NOT_APPLICABLE, ", exactly or to rounding") if certified else (_UNDECIDED, "")
        nothing, said = np.full(1, np.nan), ("", str(undefined).removeprefix("X: ").replace(doubt, ""))
        outcome, first = np.full(1, code, dtype=np.int8), np.ones(1, dtype=np.int16)
        return Verdicts(statement.key, outcome, nothing, nothing, certified, name, first, said, statement.compared)
    numbers = NUMBERS[A.name]
    outcomes, reason = np.zeros(size, dtype=np.int8), np.zeros(size, dtype=np.int16)
    reasons = [""]
    lefts, rights, worst = np.full(size, np.nan), np.full(size, np.nan), np.zeros(size)
    levels = np.zeros(size, dtype=np.int8)

    def say(which: NDArray[np.bool_], outcome: int | None, words: Callable[[], str], form: str = "{}") -> None:
        if which.any():
            if outcome is not None:
                outcomes[which] = outcome
            reasons.append(form.format(words()))
            reason[which] = len(reasons) - 1

    for count, side in enumerate(evaluation.sides):
        if any(side is before for before in evaluation.sides[:count]):
            continue
        known = judged(side, size, numbers)
        with np.errstate(invalid="ignore"):
            excess = np.where(known.log_left == -np.inf, -np.inf, known.log_left - known.log_right)
        # The side that is reported: one that is violated, else one that is undecided, else the tightest.
        level = np.where(known.above, 2, ~known.below)
        # What is no number counts as 0, and infinities as what a double holds.
        excess = np.minimum(np.maximum(np.where(np.isnan(excess), 0.0, excess), -_LARGEST), _LARGEST)
        critical = np.isnan(lefts)
        if count:
            critical |= (level > levels) | ((level == levels) & (excess > worst))
        for kept, new in ((lefts, known.log_left), (rights, known.log_right), (levels, level), (worst, excess)):
            np.copyto(kept, new, where=critical, casting="unsafe")
        open_ = ~known.below & ~known.above & (outcomes == _HOLDS)
        outcomes[open_] = _UNDECIDED
        outcomes[known.above] = _VIOLATED
        if side.truth is not None:
            say(critical, None, partial(str, side.truth.reason))
        else:
            number = is_number(side, size)
            say(open_ & number, None, lambda: "the two sides are equal as far as these numbers can tell")
            say(open_ & ~number, None, lambda: "a side is no number, as far as can be told")
    if statement.quantifier == "some":
        says = "this instance does not show it; the claim is that some does"
        say(outcomes == _VIOLATED, _UNDECIDED, lambda: says)
    for side in evaluation.hypotheses:
        if certain(side):
            continue
        known = _as_given(side, instance, size) or judged(side, size, numbers)
        shown = partial(_said, side.formula)
        doubtful = ~known.below & ~known.above & (outcomes != _NOT_APPLICABLE)
        say(doubtful, _UNDECIDED, shown, "cannot tell whether {}")
        say(known.above, _NOT_APPLICABLE, shown, "{} fails")
    columns = (outcomes, lefts, rights, certified, name, reason, tuple(reasons))
    return Verdicts(statement.key, *columns, statement.compared)


def _as_given(side: Side, instance: Instance, size: int) -> Judged | None:
    """A relation of numbers that are given, such as m >= 2: they are compared as they are, without a margin."""
    if not (isinstance(side.formula, Relation) and isinstance(instance, ArrayInstance)):
        return None
    terms, found = [side.formula.left, side.formula.right], []
    if side.formula.operator in (">", ">="):  # the smaller side is the left one
        terms.reverse()
    for term, value in zip(terms, (side.left, side.right), strict=True):
        given = instance.arrays.get(term.name) if isinstance(term, Letter) else None
        if isinstance(value, Fraction | int) and abs(Fraction(value)) < _LARGEST:
            exact, nearest = Fraction(value), Fraction(float(value))  # and on which side of it the number is
            found.append((np.asarray(float(value)), (exact > nearest) - (exact < nearest)))
        elif isinstance(given, np.ndarray | np.float64) and given.dtype == float and given.ndim == instance.is_batch:
            found.append((np.asarray(given), 0))
        else:
            return None
    (x, beyond_x), (y, beyond_y) = found
    holds = operator.eq if side.equal else operator.lt if side.strict else operator.le
    if np.isnan(x).any() or np.isnan(y).any():
        return None
    below = np.broadcast_to((x == y) & holds(beyond_x, beyond_y) | (x < y) & (not side.equal), (size,))
    return Judged(below, ~below, np.full(size, np.nan), np.full(size, np.nan))
