"""A proof as data: the lines of a derivation, its certificate, and how it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankmath.certificates.certificate import Certificate
from rankmath.checker.derivation import Derivation
from rankmath.checker.intervals import Rejected
from rankmath.checker.monomials import normal, poly_text, raised, rational, read_tree, times
from rankmath.decide.prover.search import SMALL, FoundLine, OutOfTime, Search


@dataclass(frozen=True)
class FoundProof:
    """A derivation of a claim that the checker accepts."""

    claim: str
    given: tuple[str, ...]
    lines: tuple[dict[str, Any], ...]
    lemmas: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def certificate(self, key: str = "mine:claim") -> Certificate:
        """The derivation as a certificate, which `rankmath check` accepts."""
        return Certificate(key, "derivation", {"lines": self.lines}, claim=self.claim, given=self.given)


def prove(
    claim: str,
    given: Sequence[str] = (),
    *,
    key: str = "mine:claim",
    seconds: float = 10.0,
    without: Iterable[str] = (),
    stop: Callable[[], bool] = lambda: False,
) -> FoundProof | None:
    """A derivation of the claim from lemmas, or None where none is found in time.

    `given` are all hypotheses, also those that are meant where nothing is said (`Statement.given_texts`). `seconds`
    counts this thread's own, and `stop` ends it before; `without` names lemmas and statements that are not to be used.

    >>> alone = ("H == 1", "mask == none", "layernorm == none", "mlp == none", "skip == 0")
    >>> proof = prove("diameter(X[1], 2) <= norm(W[0, 0], 2)*diameter(X[0], 2)", alone)
    >>> proof.certificate().check().accepted, sorted(proof.lemmas)
    (True, ['dobrushin-one', 'layer-dobrushin[2]'])
    """
    began, used = time.perf_counter(), time.thread_time()
    # First from lemmas alone, in half of the time: fewer facts, and each has its theorem in Lemmas.v.
    for statements in (False, True):
        left = used + seconds / (1 if statements else 2) - time.thread_time()
        try:
            search = Search(claim, given, key=key, seconds=left, without=without, statements=statements, stop=stop)
            goals = search.work.goals()
            search.settle_meaning()
            steps = [step for goal in goals if (step := search.goal(goal)) is not None]
        except OutOfTime:
            continue
        except Rejected:
            return None
        if len(steps) == len(goals):
            found = _written(claim, tuple(given), key, search, steps, time.perf_counter() - began)
            if found is not None:
                return found
        if all(where.arrays is not None for where in search.pools):  # statements would add nothing
            return None
    return None


#: Factors that are tried where a claim cannot be proved as it stands, small ones first.
_FACTORS = ("1", "sqrt(n/2)", "sqrt(d)", "sqrt(n)", "sqrt(n*d)", "d", "n")


def weaker(
    claim: str, given: Sequence[str], *, seconds: float = 10.0, stop: Callable[[], bool] = lambda: False
) -> tuple[str, FoundProof] | None:
    """The least factor that is found with which the claim's larger side makes it provable, as text, and the proof.

    Of claims of one relation; a factor below 1 says how much stronger the claim may be. What is proved may have <= in
    the place of <; with the factor 1 and the claim's own sign it is the claim.

    >>> found = weaker("diameter(X[0], 2) <= mu(X[0])", ("mask == none", "layernorm == none"))
    >>> found[0]
    'sqrt(2)'
    """
    try:
        search = Search(claim, given, seconds=seconds, stop=stop)
        goals = search.work.goals()
        search.settle_meaning()
        if len(goals) != 1:
            return None
        (goal,) = goals
        for text in _FACTORS:
            factor = times(normal(read_tree(text), search.work.fixed), rational(SMALL))
            step = search.bound(goal.left, times(factor, goal.right), 0)
            if step is None:
                continue
            scale = times(step.line.right, raised(goal.right, -1))
            sign = "<" if goal.strict and step.line.strict else "<="
            line = f"{poly_text(goal.left)} {sign} {poly_text(step.line.right)}"
            if poly_text(scale) == "1" and goal.strict <= step.line.strict:
                line = claim
            proof = _written(line, tuple(given), "mine:claim", search, [step], 0.0)
            if proof is not None:
                return poly_text(scale), proof
    except (Rejected, OutOfTime):
        return None
    return None


def _written(
    claim: str, given: tuple[str, ...], key: str, search: Search, goals: list[FoundLine], seconds: float
) -> FoundProof | None:
    """The lines in order, signs first; lines that are not needed are left out."""
    lines = _lines(goals, search.signs)
    if _accepted(claim, given, key, lines) is None:
        return None
    for number in range(len(lines), 0, -1):
        fewer = _without(lines, number) or None  # one line at least, also where a hypothesis is all
        if search.stop():  # a proof with lines that it does not need is a proof
            break
        if fewer is not None and _accepted(claim, given, key, fewer) is not None:
            lines = fewer
    work = _accepted(claim, given, key, lines)
    assert work is not None
    return FoundProof(claim, given, tuple(lines), dict(work.used), seconds)


def _without(lines: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]] | None:
    """The lines without one that no other cites, numbered anew."""
    out = []
    for place, line in enumerate(lines, start=1):
        if place == number:
            continue
        cited = [part[0] if isinstance(part, list) else part for part in line.get("of", [])]
        if number in cited:
            return None
        moved = [part - (part > number) for part in cited]
        weights = [part[1] if isinstance(part, list) else None for part in line.get("of", [])]
        of = [new if weight is None else [new, weight] for new, weight in zip(moved, weights, strict=True)]
        out.append({**line, "of": of} if "of" in line else line)
    return out


def _accepted(claim: str, given: tuple[str, ...], key: str, lines: Sequence[dict[str, Any]]) -> Derivation | None:
    work = Derivation(claim, given, key)
    try:
        for line in lines:
            work.add(line)
        work.demand_proved()
    except Rejected:
        return None
    return work


def _lines(goals: Sequence[FoundLine], signs: Sequence[FoundLine]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    done: dict[int, int] = {}

    def put(step: FoundLine) -> int:
        if id(step) in done:
            return done[id(step)]
        for need in step.needs:
            put(need)
        cited = [(put(part), weight) for part, weight in step.of]
        entry: dict[str, Any] = {"says": step.line.text, "by": step.by}
        if step.name:
            entry["name"] = step.name
        if step.at:
            entry["at"] = step.at
        if step.how:
            entry["how"] = step.how
        if step.body:
            entry["body"] = step.body
        if step.by in ("product", "sum"):
            entry["of"] = [[number, str(weight)] for number, weight in cited]
        elif cited:
            entry["of"] = [number for number, _ in cited]
        if entry["says"] not in numbers:
            out.append(entry)
            numbers[entry["says"]] = len(out)
        done[id(step)] = numbers[entry["says"]]
        return done[id(step)]

    for step in (*signs, *goals):
        put(step)
    return out
