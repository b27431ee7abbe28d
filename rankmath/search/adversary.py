"""The adversary: many starts in small rooms first, a population that climbs all at once, and a simplex at the end.

Every room is entered with structured starts; the best of them climb by random moves that are kept where they
help, a
batch of networks at a time. Float64 only searches: what it finds is put before balls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankmath.search.space import Room, rooms, scores, starts
from rankmath.verification.draws import Rng
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

Floats: TypeAlias = NDArray[np.float64]
#: Told now and then: evaluations so far and the largest log(lhs/rhs).
Tell: TypeAlias = Callable[[int, float], None]

_STARTS = 192
# So many rooms are entered before any of them is searched.
_FIRST_ROOMS = 48
_POPULATION = 48
_ROUNDS = 24
# A float score above this is put before balls.
_SUSPECT = 1e-10
_SIMPLEX_STEPS = 400


@dataclass(frozen=True)
class Found:
    """What a search found: the instance nearest to breaking the claim, or one that breaks it, as balls confirm."""

    instance: NetworkInstance | None
    score: float
    verdict: Verdict | None
    evaluations: int
    seconds: float

    @property
    def refutes(self) -> bool:
        return self.verdict is not None and self.verdict.outcome == Outcome.VIOLATED and self.verdict.certified


@dataclass
class _Camp:
    """A room with the population that climbs in it."""

    room: Room
    arrays: dict[str, Floats]
    score: Floats
    step: Floats
    visits: int = 0

    @property
    def best(self) -> float:
        return float(self.score.max())


def search(
    statement: Statement,
    *,
    seconds: float = 30.0,
    evaluations: int | None = None,
    seed: int = 0,
    tell: Tell | None = None,
) -> Found:
    """Look for an instance that breaks a claim about networks, within a budget of seconds or evaluations.

    Examples
    --------
    >>> claim = Statement("mine:halves", "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2", "heads == 1")
    >>> search(claim, seconds=20).refutes
    True
    """
    rng = np.random.default_rng([seed, 0x5EA7C4])
    began = time.perf_counter()
    spent, best = 0, Found(None, -math.inf, None, 0, 0.0)
    camps: list[_Camp] = []
    waiting = rooms(statement)
    suspects_refused = 0

    def out_of_budget() -> bool:
        over = evaluations is not None and spent >= evaluations
        return over or time.perf_counter() - began > seconds

    def done(found: Found) -> Found:
        return Found(found.instance, found.score, found.verdict, spent, time.perf_counter() - began)

    try:
        while not out_of_budget() and (waiting or camps):
            # Open new rooms at first, then return to the promising ones.
            if waiting and (len(camps) < _FIRST_ROOMS or rng.random() < 0.3):
                camp = _pitched(statement, waiting.pop(0), rng)
                spent += _STARTS
                camps.append(camp)
            else:
                camp = _promising(camps, rng)
                _climb(statement, camp, rng)
                spent += _POPULATION * _ROUNDS
                if camp.visits % 3 == 0:
                    spent += _polish(statement, camp)
            # Of instances that are equally near, the first is the smallest.
            if camp.best > best.score + 1e-9:
                index = int(camp.score.argmax())
                instance = camp.room.instance({name: array[index] for name, array in camp.arrays.items()})
                best = Found(instance, camp.best, None, spent, 0.0)
            if tell:
                tell(spent, best.score)
            if camp.best > _SUSPECT:
                refuting, refused = _confirmed(statement, camp)
                suspects_refused += refused
                if refuting is not None:
                    return done(refuting)
    except KeyboardInterrupt:
        if best.instance is None:
            raise
    return done(best)


def _pitched(statement: Statement, room: Room, rng: Rng) -> _Camp:
    """The best of many starts in a room."""
    arrays = starts(rng, room, _STARTS)
    found = scores(statement, room.instance(arrays))
    order = np.argsort(-found)[:_POPULATION]
    picked = {name: array[order] for name, array in arrays.items()}
    return _Camp(room, picked, found[order], np.full(len(order), 0.3))


def _promising(camps: list[_Camp], rng: Rng) -> _Camp:
    """A room by its best score, less what was spent on it: none is forgotten, none is searched forever."""
    worth = np.asarray([camp.best - 0.02 * camp.visits * (1 + 0.1 * abs(camp.best)) for camp in camps])
    worth = worth + 0.3 * rng.gumbel(size=len(camps)) * (1e-2 + np.ptp(worth) * 0.1)
    camp = camps[int(worth.argmax())]
    camp.visits += 1
    return camp


def _climb(statement: Statement, camp: _Camp, rng: Rng) -> None:
    """Random moves, each kept where it helps; steps grow with success and shrink with failure."""
    for _ in range(_ROUNDS):
        moved = _moved(camp, rng)
        score = scores(statement, camp.room.instance(moved))
        better = score > camp.score
        camp.step = np.clip(camp.step * np.where(better, 1.6, 0.85), 1e-9, 3.0)
        for name, array in camp.arrays.items():
            shape = (-1, *(1 for _ in array.shape[1:]))
            camp.arrays[name] = np.where(better.reshape(shape), moved[name], array)
        camp.score = np.where(better, score, camp.score)
    # The worst quarter starts again from the best, a little moved, with steps of all sizes.
    order = np.argsort(-camp.score)
    quarter = max(1, len(order) // 4)
    parents = rng.choice(order[:quarter], quarter)
    for array in camp.arrays.values():
        array[order[-quarter:]] = array[parents]
    camp.score[order[-quarter:]] = camp.score[parents]
    camp.step[order[-quarter:]] = 10.0 ** rng.uniform(-6, -0.3, quarter)


def _moved(camp: _Camp, rng: Rng) -> dict[str, Floats]:
    """One proposal for every member: a step, a change of scale, a sparse step, a copied token, a zero, a
    crossing."""
    size = len(camp.score)
    kind = rng.integers(8, size=size)
    moved = {}
    for name, array in camp.arrays.items():
        wide = (size, *(1 for _ in array.shape[1:]))
        step = camp.step.reshape(wide)
        largest = np.abs(array).max(axis=tuple(range(1, array.ndim)), keepdims=True)
        noise = rng.standard_normal(array.shape)
        local = array + step * noise * np.maximum(np.abs(array), 0.1 * largest + 1e-3)
        few = np.where(rng.random(array.shape) < 0.3, local, array)
        scaled = array * np.exp(step * rng.standard_normal(wide) * 2)
        zeroed = np.where(rng.random(array.shape) < 0.15, 0.0, array)
        partner = camp.arrays[name][rng.integers(size, size=size)]
        mixed = array + rng.uniform(-0.5, 1.0, wide) * (partner - array)
        chosen = [local, local, few, few, scaled, zeroed, mixed, few]
        pick = kind.reshape(wide)
        moved[name] = np.select([pick == k for k in range(8)], chosen)
        if name == "X" and array.shape[1] > 2:
            source, target = rng.integers(array.shape[1], size=(2, size))
            copied = array.copy()
            copied[np.arange(size), target] = array[np.arange(size), source]
            moved[name] = np.where((pick == 7) & (rng.random(wide) < 0.3), copied, moved[name])
        moved[name] = np.clip(moved[name], -1e8, 1e8)
    return moved


def _polish(statement: Statement, camp: _Camp) -> int:
    """A simplex from the best member; returns how often the claim was evaluated."""
    from scipy.optimize import minimize

    index = int(camp.score.argmax())
    names = list(camp.arrays)
    shapes = [camp.arrays[name].shape[1:] for name in names]
    sizes = [math.prod(shape) for shape in shapes]
    if sum(sizes) > 60 or camp.score[index] < -1e4:
        return 0

    def unpacked(vector: Floats) -> dict[str, Floats]:
        parts = np.split(vector, np.cumsum(sizes)[:-1])
        return {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}

    def depth(vector: Floats) -> float:
        return -float(scores(statement, camp.room.instance(unpacked(vector)))[0])

    origin = np.concatenate([camp.arrays[name][index].ravel() for name in names])
    found = minimize(
        depth, origin, method="Nelder-Mead", options={"maxfev": _SIMPLEX_STEPS, "adaptive": True, "xatol": 1e-12}
    )
    if -found.fun > camp.score[index]:
        camp.score[index] = -found.fun
        for name, part in unpacked(np.asarray(found.x)).items():
            camp.arrays[name][index] = part
    return int(found.nfev)


def _confirmed(statement: Statement, camp: _Camp) -> tuple[Found | None, int]:
    """The first of the best members that balls confirm as a violation, and how many they did not."""
    order = np.argsort(-camp.score)
    for count, index in enumerate(order[:3]):
        if camp.score[index] <= _SUSPECT:
            return None, count
        instance = camp.room.instance({name: array[index] for name, array in camp.arrays.items()})
        verdict = judge(statement, instance, "balls", 512)
        if verdict.outcome == Outcome.VIOLATED and verdict.certified:
            return Found(instance, float(camp.score[index]), verdict, 0, 0.0), count
        # Not to be looked at again.
        camp.score[index] = min(camp.score[index], 0.0)
    return None, 3
