"""The adversary: many starts in small rooms first, populations that climb all at once, evolution at the end.

Every room is entered with structured starts; the best of them climb by random moves that are kept where they help,
then by an evolution strategy that learns the shape of the slope (CMA-ES), a batch of networks at a time. A room
that no longer rewards is entered anew. Float64 only searches: what it finds is put before balls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from rankmath.decide.space import Room, extremes, rooms, score_of, scores, starts, wide_rooms
from rankmath.formula.terms import Letter, walk
from rankmath.validation import NumpyArray
from rankmath.verification.draws import Rng
from rankmath.verification.instance import Instance, NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

Floats: TypeAlias = NDArray[np.float64]
#: Told now and then: evaluations so far and the largest log(lhs/rhs).
Tell: TypeAlias = Callable[[int, float], None]
#: A room, and the arrays of one instance in it.
Place: TypeAlias = tuple[Room, dict[str, Floats]]

# Starts in a small room; larger rooms have fewer.
_STARTS = 512
# So many rooms are entered before any of them is searched, and so many before extreme instances are tried.
_FIRST_ROOMS = 48
_SMALL_ROOMS = 12
_POPULATION = 96
# From so many seconds an instance is slow to judge: a quantity without fast code.
_SLOW = 2e-3
_ROUNDS = 16
# Ways in which the tokens of one instance are repeated.
_REPEATED = 96
# Visits without a better score after which a room is entered anew.
_PATIENCE = 2
# A float score above this is put before balls.
_SUSPECT = 1e-10
# The evolution strategy: offspring in a generation, generations in a visit, numbers it may turn.
_OFFSPRING, _GENERATIONS, _MOST_NUMBERS = 48, 40, 90


@dataclass(frozen=True)
class Found:
    """What a search found: the instance nearest to breaking the claim, or one that breaks it, as balls confirm."""

    instance: NetworkInstance | None
    score: float
    verdict: Verdict | None
    evaluations: int
    seconds: float
    interrupted: bool = False
    #: The room of the instance, and its arrays there.
    place: Place | None = None

    @property
    def refutes(self) -> bool:
        return self.verdict is not None and self.verdict.outcome == Outcome.VIOLATED and self.verdict.certified


class _TimeIsUp(Exception):
    """The seconds of a search are used up."""


@dataclass
class _Pace:
    """Scores of one search, within its time: where instances take long there are fewer of them."""

    statement: Statement
    until: float = math.inf
    #: Seconds that one instance takes, as measured last.
    each: float = 0.0

    def most(self, room: Room, wanted: int) -> int:
        """How many of the instances wanted are worth their time: where each is slow, a fiftieth of what is left."""
        if self.until == math.inf:
            return wanted
        if not self.each:
            self.scores(room, starts(np.random.default_rng(0), room, 8))
        left = self.until - time.perf_counter()
        return wanted if self.each < _SLOW else max(8, min(wanted, int(left / 50 / self.each)))

    def scores(self, room: Room, arrays: dict[str, Floats]) -> Floats:
        began = time.perf_counter()
        if began > self.until:
            raise _TimeIsUp
        found = scores(self.statement, room, arrays)
        self.each = (time.perf_counter() - began) / len(found)
        return found


@dataclass
class _Camp:
    """A room with the population that climbs in it."""

    room: Room
    arrays: dict[str, Floats]
    score: Floats
    step: Floats
    visits: int = 0
    #: Visits since the best score rose last.
    idle: int = 0

    @property
    def best(self) -> float:
        return float(self.score.max())

    def place(self, index: int) -> Place:
        return self.room, {name: array[index] for name, array in self.arrays.items()}

    def instance(self, index: int) -> NetworkInstance:
        room, arrays = self.place(index)
        return room.instance(arrays)


def search(
    statement: Statement,
    *,
    seconds: float = 30.0,
    evaluations: int | None = None,
    seed: int = 0,
    tell: Tell | None = None,
    known: Callable[[], Iterable[Instance]] | None = None,
    among: Sequence[Room] | None = None,
    near: Place | None = None,
) -> Found:
    """Look for an instance that breaks a claim about networks, within a budget of seconds or evaluations.

    `known` makes instances on which other claims are tight; they are tried when half of the time is spent.
    `among` are the only rooms that are searched.
    `near` is an instance from which the search begins too, in the first room of the claim that has at least its sizes.

    >>> claim = Statement("mine:halves", "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2", "heads == 1")
    >>> search(claim, seconds=20).refutes
    True
    """
    rng = np.random.default_rng([seed, 0x5EA7C4])
    began = time.perf_counter()
    spent, best = 0, Found(None, -math.inf, None, 0, 0.0)
    camps: list[_Camp] = []
    pace = _Pace(statement, began + seconds if evaluations is None else math.inf)

    def done(found: Found, interrupted: bool = False) -> Found:
        return replace(found, evaluations=spent, seconds=time.perf_counter() - began, interrupted=interrupted)

    try:
        waiting = rooms(statement) if among is None else [*among]
        begun = _beside(near, waiting) if near is not None else None
        wide = wide_rooms(statement, waiting) if among is None else []
        shortcuts = any(isinstance(term, Letter) and term.name == "composite" for term in walk(statement.expanded))
        # At least one room is entered, however short the time.
        while (waiting or camps) and (not camps or time.perf_counter() - began <= seconds):
            if evaluations is not None and spent >= evaluations:
                break
            if known is not None and time.perf_counter() - began > seconds / 2:
                for instance in known():
                    if score_of(statement, instance) <= _SUSPECT:
                        continue
                    if (verdict := _violation(statement, instance)) is not None:
                        return done(Found(cast(NetworkInstance, instance), math.nan, verdict, 0, 0.0))
                known = None
            if wide and (len(camps) >= _SMALL_ROOMS or not waiting):
                for room in wide:
                    arrays = extremes(room)
                    camp = _Camp(room, arrays, pace.scores(room, arrays), np.zeros(0))
                    spent += len(camp.score)
                    if camp.best > _SUSPECT and (refuting := _confirmed(statement, camp)) is not None:
                        return done(refuting)
                wide = []
            # Open new rooms at first, then return to the promising ones.
            if near is not None and begun is not None:
                camp, cost = _new_camp(pace, begun, rng, grown(near, begun, rng))
                camps.append(camp)
                begun = None
            elif waiting and (len(camps) < _FIRST_ROOMS or rng.random() < 0.3):
                camp, cost = _new_camp(pace, waiting.pop(0), rng)
                camps.append(camp)
            else:
                camp = _promising(camps, rng)
                cost = _visited(pace, camp, rng)
            spent += cost
            if camp.best > _SUSPECT and (refuting := _confirmed(statement, camp)) is not None:
                return done(refuting)
            if shortcuts:
                _weigh(statement, camp, best.score)
            # Of instances that are equally near, the first is the smallest. What balls do not confirm is none.
            if min(camp.best, 0.0) > best.score + 1e-9:
                index = int(camp.score.argmax())
                score = min(camp.best, 0.0)
                best = Found(camp.instance(index), score, None, spent, 0.0, place=camp.place(index))
            if tell:
                tell(spent, best.score)
    except KeyboardInterrupt:
        return done(best, interrupted=True)
    except _TimeIsUp:
        pass
    return done(best)


def _new_camp(pace: _Pace, room: Room, rng: Rng, also: dict[str, Floats] | None = None) -> tuple[_Camp, int]:
    """The best of many starts in a room, and of those given, and how many there were."""
    count = pace.most(room, max(_POPULATION, min(_STARTS, 40_000 // room.size)))
    arrays = starts(rng, room, count)
    if also is not None:
        arrays = {name: np.concatenate([also[name], array]) for name, array in arrays.items()}
    found = pace.scores(room, arrays)
    order = np.argsort(-found)[:_POPULATION]
    picked = {name: array[order] for name, array in arrays.items()}
    return _Camp(room, picked, found[order], np.full(len(order), 0.3)), len(found)


def _beside(near: Place, found: list[Room]) -> Room | None:
    """The first of these rooms that is like the room of a place but for its sizes, none of which is less."""
    old = near[0]
    for room in found:
        d_qk = float(room.d) if old.d_qk == old.d else old.d_qk
        alike = room == replace(old, n=room.n, d=room.d, H=room.H, d_qk=d_qk)
        resized = (room.d, room.H) != (old.d, old.H)
        if alike and room.n >= old.n and room.d >= old.d and room.H >= old.H and not (old.orthogonal and resized):
            return room
    return None


def grown(near: Place, room: Room, rng: Rng) -> dict[str, Floats]:
    """An instance made larger, to the sizes of a room: tokens are repeated, a batch of ways to do so; dimensions of
    zeros are added, and heads of zeros or copies of heads.

    >>> room = Room(2, 1, 1, 1, 1.0)
    >>> arrays = {"X": np.array([[1.0], [-1.0]]), "W": np.ones((1, 1, 1, 1)), "W_QK": np.ones((1, 1, 1, 1))}
    >>> batch = grown((room, arrays), replace(room, n=4), np.random.default_rng(0))
    >>> sorted({tuple(X.ravel().tolist()) for X in batch["X"]})
    [(1.0, -1.0, -1.0, -1.0), (1.0, -1.0, -1.0, 1.0), (1.0, -1.0, 1.0, -1.0), (1.0, -1.0, 1.0, 1.0)]
    """
    old, arrays = near
    shapes, made = room.parts(), {}
    for name, array in arrays.items():
        sizes = (old.n, room.d) if name == "X" else shapes[name]
        made[name] = np.pad(array, [(0, new - size) for size, new in zip(array.shape, sizes, strict=True)])
    if old.d_qk == old.d:  # the logits stay the same
        made["W_QK"] = made["W_QK"] * np.sqrt(room.d / old.d)
    count = _REPEATED if room.n > old.n else 2 if room.H > old.H else 1
    batch = {name: np.repeat(array[None], count, axis=0) for name, array in made.items()}
    for name in {*batch} - {"X", "bias"} if room.H > old.H else ():
        batch[name][1::2] = batch[name][1::2][:, :, np.resize(np.arange(old.H), room.H)]
    if room.n > old.n:
        # The tokens of some set take turns.
        chosen = [rng.permutation(np.flatnonzero(rng.random(old.n) < rng.random())) for _ in range(count)]
        order = [np.resize(some if some.size else np.arange(old.n), room.n - old.n) for some in chosen]
        batch["X"] = np.stack([np.concatenate([made["X"], made["X"][places]]) for places in order])
    return batch


def _visited(pace: _Pace, camp: _Camp, rng: Rng) -> int:
    """One visit: random moves, then evolution; where visits no longer help, new starts beside the best member."""
    before = camp.best
    if camp.idle >= _PATIENCE:
        again, cost = _new_camp(pace, camp.room, rng)
        index = int(camp.score.argmax())
        for name, array in camp.arrays.items():
            again.arrays[name][-1] = array[index]
        again.score[-1] = before
        camp.arrays, camp.score, camp.step, camp.idle = again.arrays, again.score, again.step, 0
        return cost
    _climb(pace, camp, rng)
    cost = len(camp.score) * _ROUNDS + _evolve(pace, camp, rng)
    camp.idle = 0 if camp.best > before + 1e-9 * max(1.0, abs(before)) else camp.idle + 1
    return cost


def _promising(camps: list[_Camp], rng: Rng) -> _Camp:
    """A room by its best score, less what was spent on it: none is forgotten, none is searched forever."""
    worth = np.asarray([camp.best - 0.02 * camp.visits * (1 + 0.1 * abs(camp.best)) for camp in camps])
    worth = worth + 0.3 * rng.gumbel(size=len(camps)) * (1e-2 + np.ptp(worth) * 0.1)
    camp = camps[int(worth.argmax())]
    camp.visits += 1
    return camp


def _climb(pace: _Pace, camp: _Camp, rng: Rng) -> None:
    """Random moves, each kept where it helps; steps grow with success and shrink with failure."""
    for _ in range(_ROUNDS):
        moved = _moved(camp, rng)
        score = pace.scores(camp.room, moved)
        better = score > camp.score
        camp.step = np.clip(camp.step * np.where(better, 1.6, 0.85), 1e-9, 3.0)
        for name, array in camp.arrays.items():
            camp.arrays[name] = np.where(_wide(better, array), moved[name], array)
        camp.score = np.where(better, score, camp.score)
    # The worst quarter starts again from the best, a little moved, with steps of all sizes.
    order = np.argsort(-camp.score)
    quarter = max(1, len(order) // 4)
    parents = rng.choice(order[:quarter], quarter)
    for array in camp.arrays.values():
        array[order[-quarter:]] = array[parents]
    camp.score[order[-quarter:]] = camp.score[parents]
    camp.step[order[-quarter:]] = 10.0 ** rng.uniform(-6, -0.3, quarter)


def _wide(values: NumpyArray, array: Floats) -> NumpyArray:
    """One value for each member of a batch, shaped so that it meets the batch's arrays."""
    return values.reshape(-1, *(1 for _ in array.shape[1:]))


def _moved(camp: _Camp, rng: Rng) -> dict[str, Floats]:
    """One proposal for every member: a step, a sparse step, a change of scale, a copied token, zeros, a crossing,
    few digits."""
    size = len(camp.score)
    kind, partners = rng.integers(9, size=size), rng.integers(size, size=size)
    moved = {}
    for name, array in camp.arrays.items():
        pick, partner = _wide(kind, array), array[partners]
        if name in camp.room.fixed:
            moved[name] = np.where(pick == 6, partner, array)
            continue
        wide = pick.shape
        step = _wide(camp.step, array)
        largest = np.abs(array).max(axis=tuple(range(1, array.ndim)), keepdims=True)
        local = array + step * rng.standard_normal(array.shape) * np.maximum(np.abs(array), 0.1 * largest + 1e-3)
        few = np.where(rng.random(array.shape) < 0.3, local, array)
        scaled = array * np.exp(step * rng.standard_normal(wide) * 2)
        zeroed = np.where(rng.random(array.shape) < 0.15, 0.0, array)
        mixed = array + rng.uniform(-0.5, 1.0, wide) * (partner - array)
        unit = 2.0 ** np.ceil(np.log2(largest + 1e-300)) / rng.choice([1.0, 2.0, 4.0, 16.0], wide)
        short = np.round(array / unit) * unit
        chosen = [local, local, few, few, scaled, zeroed, mixed, few, short]
        moved[name] = np.select([pick == k for k in range(9)], chosen)
        if name == "X" and array.shape[1] > 2:
            source, target = rng.integers(array.shape[1], size=(2, size))
            copied = array.copy()
            copied[np.arange(size), target] = array[np.arange(size), source]
            moved[name] = np.where((pick == 7) & (rng.random(wide) < 0.3), copied, moved[name])
        moved[name] = np.clip(moved[name], -1e8, 1e8)
    return moved


def _evolve(pace: _Pace, camp: _Camp, rng: Rng) -> int:
    """CMA-ES from one of the best members, over its numbers and the logarithm of each array's scale; returns the
    evaluations.

    Hansen's constants (The CMA evolution strategy: a tutorial, 2016).
    """
    index = int(np.argsort(-camp.score)[int(rng.integers(8)) if rng.random() < 0.3 else 0])
    names = [name for name in camp.arrays if name not in camp.room.fixed]
    origin = {name: camp.arrays[name][index] for name in names}
    sizes = [origin[name].size for name in names]
    N = sum(sizes) + len(names)
    if N > _MOST_NUMBERS or camp.score[index] <= -1e5 - 1e3:
        return 0
    units = {name: np.maximum(np.abs(x), 0.1 * np.abs(x).max() + 1e-3) for name, x in origin.items()}
    ends = np.cumsum(sizes)

    def placed(z: Floats) -> dict[str, Floats]:
        batch = {name: np.repeat(array[index][None], len(z), axis=0) for name, array in camp.arrays.items()}
        for k, (name, part) in enumerate(zip(names, np.split(z[:, : ends[-1]], ends[:-1], axis=1), strict=True)):
            moved = origin[name] + units[name] * part.reshape(-1, *origin[name].shape)
            batch[name] = np.clip(moved * _wide(np.exp(np.clip(z[:, ends[-1] + k], -20, 20)), moved), -1e8, 1e8)
        return batch

    half = _OFFSPRING // 2
    weights = np.log(half + 0.5) - np.log(np.arange(1, half + 1))
    weights /= weights.sum()
    effective = 1 / float((weights**2).sum())
    c_sigma, damping, c_c, c_1, c_mu = _rates(N, effective)
    mean, C, path_sigma, path_c = np.zeros(N), np.eye(N), np.zeros(N), np.zeros(N)
    sigma = 10.0 ** rng.uniform(-3, -0.3)
    axes, lengths, spent = np.eye(N), np.ones(N), 0
    for generation in range(_GENERATIONS):
        if generation % 4 == 0:
            values, axes = np.linalg.eigh((C + C.T) / 2)
            lengths = np.sqrt(np.maximum(values, 1e-20))
        y = (rng.standard_normal((_OFFSPRING, N)) * lengths) @ axes.T
        z = mean + sigma * y
        batch = placed(z)
        score = pace.scores(camp.room, batch)
        spent += len(z)
        order = np.argsort(-score)
        if score[order[0]] > camp.score[index]:
            camp.score[index] = score[order[0]]
            for name in names:
                camp.arrays[name][index] = batch[name][order[0]]
            if score[order[0]] > 1e-6:  # clear enough for balls
                break
        step = weights @ y[order[:half]]
        mean = mean + sigma * step
        path_sigma = _along(path_sigma, axes @ ((axes.T @ step) / lengths), c_sigma, effective)
        path_c = _along(path_c, step, c_c, effective)
        C = _learned(C, path_c, y[order[:half]], weights, c_1, c_mu)
        sigma *= _stretch(path_sigma, c_sigma / damping)
        if not 1e-12 < sigma < 1e6:
            break
    return spent


def _rates(N: int, effective: float) -> tuple[float, float, float, float, float]:
    """c_σ, its damping, c_c, c_1 and c_μ for N numbers and so many effective parents."""
    c_sigma = (effective + 2) / (N + effective + 5)
    damping = 1 + c_sigma + 2 * max(0.0, math.sqrt((effective - 1) / (N + 1)) - 1)
    c_1 = 2 / ((N + 1.3) ** 2 + effective)
    c_mu = min(1 - c_1, 2 * (effective - 2 + 1 / effective) / ((N + 2) ** 2 + effective))
    return c_sigma, damping, (4 + effective / N) / (N + 4 + 2 * effective / N), c_1, c_mu


def _chi(N: int) -> float:
    """About how long a standard normal vector of N numbers is."""
    return math.sqrt(N) * (1 - 1 / (4 * N) + 1 / (21 * N * N))


def _along(path: Floats, step: Floats, rate: float, effective: float) -> Floats:
    """The path with a part `rate` of it new; where steps are random it stays standard normal."""
    return (1 - rate) * path + math.sqrt(rate * (2 - rate) * effective) * step


def _learned(C: Floats, path: Floats, best: Floats, weights: Floats, c_1: float, c_mu: float) -> Floats:
    """The covariance, a part c_1 of it now that of the path and a part c_μ that of the best steps."""
    return (1 - c_1 - c_mu) * C + c_1 * np.outer(path, path) + c_mu * (best.T * weights) @ best


def _stretch(path: Floats, rate: float) -> float:
    """By how much steps grow: not at all where the path is as long as one of random steps, at most e times."""
    return math.exp(min(1.0, rate * (float(np.linalg.norm(path)) / _chi(len(path)) - 1)))


def _weigh(statement: Statement, camp: _Camp, least: float) -> None:
    """The best members scored anew without the shortcuts of a search, until one keeps its place."""
    for _ in range(4):
        index = int(camp.score.argmax())
        if camp.score[index] <= least + 1e-9:
            return
        one = {name: array[index : index + 1] for name, array in camp.arrays.items()}
        exact = float(scores(statement, camp.room, one, quick=False)[0])
        kept = exact >= camp.score[index] - 1e-9
        camp.score[index] = exact
        if kept:
            return


def _confirmed(statement: Statement, camp: _Camp) -> Found | None:
    """The first of the best members that balls confirm as a violation."""
    for index in np.argsort(-camp.score)[:3]:
        if camp.score[index] <= _SUSPECT:
            break
        # First without the shortcuts of a search.
        one = {name: array[index : index + 1] for name, array in camp.arrays.items()}
        camp.score[index] = scores(statement, camp.room, one, quick=False)[0]
        if camp.score[index] > _SUSPECT:
            if (verdict := _violation(statement, camp.instance(index))) is not None:
                score = float(camp.score[index])
                return Found(camp.instance(index), score, verdict, 0, 0.0, place=camp.place(index))
            # Not to be looked at again.
            camp.score[index] = 0.0
    return None


def _violation(statement: Statement, instance: Instance) -> Verdict | None:
    """The verdict of balls, if it is that the claim is violated."""
    verdict = judge(statement, instance, "balls", 512)
    return verdict if verdict.outcome == Outcome.VIOLATED and verdict.certified else None
