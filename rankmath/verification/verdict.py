"""A verdict never lies: what was decided, by which arithmetic, with both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NoReturn

from rankmath.printing import compared
from rankmath.validation import Json


class Outcome(StrEnum):
    """What is known of one statement on one instance; `Verdict` says by which arithmetic."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    UNDECIDED = "UNDECIDED"
    NOT_APPLICABLE = "NOT_APPLICABLE"


def ratio(excess: float) -> float:
    """A quotient from its logarithm; ∞ where it does not fit into a double."""
    return math.inf if excess >= 709 else math.exp(excess)


@dataclass(frozen=True)
class Verdict:
    """What is known of one statement on one instance.

    Attributes
    ----------
    outcome : HOLDS, VIOLATED, UNDECIDED (rounding could have decided), NOT_APPLICABLE (a hypothesis fails, or
        a token is zero where a LayerNorm divides by its length).
    log_lhs, log_rhs : the two sides of the critical inequality, natural logarithms (nan where there are none).
    certified : True only if balls or exact arithmetic decided.
    reason : in words; for NOT_APPLICABLE the hypothesis that fails, or the token.
    compared : what `ratio` is: "lhs/rhs"; "rhs/lhs" where the claim says lhs ≥ rhs, for then `log_lhs` is that of
        the right side; "smaller/larger", as claimed, where it says both.
    """

    key: str
    outcome: Outcome
    log_lhs: float
    log_rhs: float
    certified: bool
    arithmetic: str
    reason: str = ""
    compared: str = "lhs/rhs"

    @property
    def ratio(self) -> float:
        """The side claimed to be smaller over the other: the tightness; at most 1 where the statement holds."""
        return ratio(self.log_lhs - self.log_rhs)

    @property
    def kind(self) -> Literal["holds", "violates"]:
        """What a certificate of this instance says."""
        return "holds" if self.outcome == Outcome.HOLDS else "violates"

    def __bool__(self) -> NoReturn:
        raise TypeError("a Verdict has four outcomes: compare verdict.outcome with Outcome.HOLDS, …")

    def to_dict(self) -> dict[str, Json]:
        """The verdict as plain data; None where there are no sides."""
        sides = {name: getattr(self, name) for name in ("log_lhs", "log_rhs", "ratio")}
        plain = {name: x if math.isfinite(x) else None for name, x in sides.items()}
        about: dict[str, Json] = {"key": self.key, "outcome": str(self.outcome), "certified": self.certified}
        return {**about, **plain, "arithmetic": self.arithmetic, "reason": self.reason}

    def __str__(self) -> str:
        kind = "certified" if self.certified else "numerically"
        ratio = compared(self.log_lhs, self.log_rhs)
        both_zero = self.log_lhs == self.log_rhs == -math.inf
        sides = ", both sides 0" if both_zero else f", {self.compared} = {ratio}" if ratio else ""
        note = f" ({self.reason})" if self.reason else ""
        return f"{self.key}: {self.outcome} {kind}{sides}{note}"
