"""A statement as LaTeX for running text: hypotheses, conclusion, letters, and every quantity in words."""

from __future__ import annotations

from typing import Protocol

from rankmath.certificates.certificate import Certificate
from rankmath.report.latex import breakable, formulas
from rankmath.validation import InvalidArgument
from rankmath.verification.statement import Statement


class Stated(Protocol):
    """A statement, or what is quoted of one: hypotheses, conclusions, letters of its own, quantities in words."""

    @property
    def premises(self) -> tuple[str, ...]: ...
    @property
    def conclusion(self) -> tuple[str, ...]: ...
    @property
    def letters(self) -> tuple[str, ...]: ...
    @property
    def meanings(self) -> tuple[tuple[str, str], ...]: ...


def stated(entry: Stated) -> list[str]:
    """Hypotheses, conclusion and what its letters stand for, as LaTeX whose lines may be broken anywhere."""
    lines = []
    if entry.premises:
        given = (breakable(part.strip("$")) if part.startswith("$") else formulas(part) for part in entry.premises)
        lines.append(rf"Suppose: {'; '.join(given)}.  Then\\*[3pt]")
    return [*lines, r",\\*[3pt] ".join(map(breakable, (*entry.conclusion, *entry.letters))) + "."]


def in_words(entry: Stated) -> list[str]:
    """What each quantity of it is, as LaTeX."""
    return [
        f"In words: {formulas(said)}." if shown in entry.conclusion else f"Here {breakable(shown)}: {formulas(said)}."
        for shown, said in entry.meanings
    ]


def of_its_own(certificate: Certificate) -> Statement | None:
    """A claim that the certificate alone carries, where it is one about networks."""
    try:
        return Statement(certificate.statement, certificate.claim, tuple(certificate.given))
    except InvalidArgument:
        return None
