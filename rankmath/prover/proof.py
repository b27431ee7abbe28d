"""A proof as data: the lines of a derivation, its certificate, and how it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankmath.certificates.certificate import Certificate
from rankmath.checker.derivation import Derivation
from rankmath.checker.intervals import Rejected
from rankmath.prover.search import OutOfTime, Search, Step


@dataclass(frozen=True)
class Proof:
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
) -> Proof | None:
    """A derivation of the claim from lemmas, or None where none is found in time.

    `given` are all hypotheses, also those that are meant where nothing is said (`Statement.given_texts`). `seconds`
    counts this thread's own; `without` names lemmas and statements that are not to be used.

    Examples
    --------
    >>> alone = ("H == 1", "mask == none", "layernorm == none", "mlp == none", "skip == 0")
    >>> proof = prove("diameter(X[1], 2) <= norm(W[0, 0], 2)*diameter(X[0], 2)", alone)
    >>> proof.certificate().check().accepted, sorted(proof.lemmas)
    (True, ['dobrushin-one', 'layer-dobrushin[2]'])
    """
    began = time.perf_counter()
    try:
        search = Search(claim, given, key=key, seconds=seconds, without=without, stop=stop)
        goals = search.work.goals()
        search.settle_meaning()
    except (Rejected, OutOfTime):
        return None
    steps: list[Step] = []
    for goal in goals:
        step = search.goal(goal)
        if step is None:
            return None
        steps.append(step)
    return _written(claim, tuple(given), key, search, steps, time.perf_counter() - began)


def _written(
    claim: str, given: tuple[str, ...], key: str, search: Search, goals: list[Step], seconds: float
) -> Proof | None:
    """The lines in order, signs first; lines that are not needed are left out."""
    needed = _lines(goals, search.signs)
    lines = [entry for entry, _ in needed]
    if _accepted(claim, given, key, lines) is None:
        return None
    # Signs and hypotheses may be proved on the way and not be needed in the end.
    kept = list(search.signs)
    for sign in list(reversed(kept)):
        fewer = [step for step in kept if step is not sign]
        trial = [entry for entry, _ in _lines(goals, fewer)]
        if len(trial) < len(lines) and _accepted(claim, given, key, trial) is not None:
            kept, lines = fewer, trial
    work = _accepted(claim, given, key, lines)
    assert work is not None
    return Proof(claim, given, tuple(lines), dict(work.used), seconds)


def _accepted(claim: str, given: tuple[str, ...], key: str, lines: Sequence[dict[str, Any]]) -> Derivation | None:
    work = Derivation(claim, given, key)
    try:
        for line in lines:
            work.add(line)
        work.demand_proved()
    except Rejected:
        return None
    return work


def _lines(goals: Sequence[Step], signs: Sequence[Step]) -> list[tuple[dict[str, Any], Step]]:
    out: list[tuple[dict[str, Any], Step]] = []
    numbers: dict[str, int] = {}
    done: dict[int, int] = {}

    def put(step: Step) -> int:
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
            out.append((entry, step))
            numbers[entry["says"]] = len(out)
        done[id(step)] = numbers[entry["says"]]
        return done[id(step)]

    for step in (*signs, *goals):
        put(step)
    return out
