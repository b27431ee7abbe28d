"""wu2024:L13: a set that is said to be invariant for the second token, as printed and repaired."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.validation import ArrayLike
from rankmath.verification.claim import ArrayInstance, Instance, Rng, exact_batch, proved, refuted
from rankmath.verification.papers import OWN, WU


def _vector(run: ArrayRun, x: str) -> list[Fraction]:
    return [Fraction(v) for v in run[x]]


def _image(x: list[Fraction], w: Fraction) -> list[Fraction]:
    """y = (x + e_d)(I + wS), not normalised."""
    moved = [*x[:-1], x[-1] + 1]
    return [moved[0], *(moved[k] + w * moved[k - 1] for k in range(1, len(moved)))]


def _is_log_concave(row: list[Fraction]) -> bool:
    """u_b u_{c+1} ≤ u_{b+1} u_c for b < c < d − 1, u = |x|: no internal zeros."""
    u = [abs(v) for v in row[:-1]]
    return all(u[b] * u[c + 1] <= u[b + 1] * u[c] for c in range(len(u) - 1) for b in range(c))


def _is_graded(row: list[Fraction], w: Fraction) -> bool:
    """w|x_b| ≤ √(w² − 1)|x_{b+1}| for b ≤ d − 2, in squares."""
    u = [abs(v) for v in row[:-1]]
    return all(w * w * a * a <= (w * w - 1) * b * b for a, b in pairwise(u))


def _far(y: list[Fraction], w: Fraction) -> bool:
    """Whether the (d − 1)-th coordinate of y/‖y‖ is at most −1/w."""
    return y[-2] < 0 and w * w * y[-2] ** 2 >= sum(v * v for v in y)


defined("unit_vector(x: array)", "sum(x[i]**2 for i in range(len(x))) == 1", "x has norm 1")


@predicate(
    "in_printed_set(x: array, w: array)",
    text="d = len(x); all(x[i] < 0 for i in range(d - 2)) and x[d - 2] <= -1/w and sum((x[i]/x[d - 2])**2 for "
    "i in range(d - 2)) <= sqrt(w**2 - 1)",
    by_name=True,
)
def in_printed_set(run: ArrayRun, x: str, w: str) -> Truth:
    """x_i < 0 for i < d − 2, x_{d−2} ≤ −1/w and Σ_{i<d−2} (x_i/x_{d−2})² ≤ √(w² − 1), counted from 0; nothing on
    x_{d−1}"""
    row, number = _vector(run, x), Fraction(run.letter(w))
    if any(v >= 0 for v in row[:-2]) or row[-2] > -1 / number:
        return Truth(False)
    total = sum(((v / row[-2]) ** 2 for v in row[:-2]), Fraction(0))
    return Truth(total**2 <= number**2 - 1)


@predicate(
    "in_repaired_set(x: array, w: array)",
    text="d = len(x); u = [abs(x[i]) for i in range(d - 1)]; all(x[i] <= 0 for i in range(d - 1)) and x[d - 2] "
    "<= -1/w and (all(u[b]*u[c + 1] <= u[b + 1]*u[c] for c in range(d - 2) for b in range(c)) or "
    "all(w*u[b] <= sqrt(w**2 - 1)*u[b + 1] for b in range(d - 2)))",
    by_name=True,
)
def in_repaired_set(run: ArrayRun, x: str, w: str) -> Truth:
    """x_i ≤ 0 for i < d − 1, x_{d−2} ≤ −1/w, and |x_0|, …, |x_{d−2}| log-concave without gaps, or
    w|x_b| ≤ √(w² − 1)|x_{b+1}| for b < d − 2, counted from 0; x_{d−1} has any sign"""
    row, number = _vector(run, x), Fraction(run.letter(w))
    inside = all(v <= 0 for v in row[:-1]) and row[-2] <= -1 / number
    return Truth(inside and (_is_log_concave(row) or _is_graded(row, number)))


@predicate(
    "stays_far(x: array, w: array)",
    text="d = len(x); y = [x[i] + identity(d)[d - 1][i] + w*sum(x[a] for a in range(d) if a == i - 1) for i in "
    "range(d)]; y[d - 2] <= -sqrt(sum(y[i]**2 for i in range(d)))/w",
    by_name=True,
)
def stays_far(run: ArrayRun, x: str, w: str) -> Truth:
    """y/‖y‖ with y = (x + e_{d−1})(I + wS), S with ones on the superdiagonal, has coordinate d − 2,
    counted from 0, at most −1/w"""
    number = Fraction(run.letter(w))
    y = _image(_vector(run, x), number)
    left, right = number**2 * y[-2] ** 2, sum(v * v for v in y)
    return Truth(_far(y, number), f"exact rationals: w²y_{{d−2}}² = {left} against ‖y‖² = {right}")


@predicate(
    "stays_in_repaired_set(x: array, w: array)",
    text="d = len(x); y = [x[i] + identity(d)[d - 1][i] + w*sum(x[a] for a in range(d) if a == i - 1) for i in "
    "range(d)]; u = [abs(x[i]) for i in range(d - 1)]; v = [abs(y[i]) for i in range(d - 1)]; all(y[i] <= "
    "0 for i in range(d - 1)) and y[d - 2] <= -sqrt(sum(y[i]**2 for i in range(d)))/w and (any(u[b]*u[c + "
    "1] > u[b + 1]*u[c] for c in range(d - 2) for b in range(c)) or all(v[b]*v[c + 1] <= v[b + 1]*v[c] "
    "for c in range(d - 2) for b in range(c))) and (any(w*u[b] > sqrt(w**2 - 1)*u[b + 1] for b in range(d "
    "- 2)) or all(w*v[b] <= sqrt(w**2 - 1)*v[b + 1] for b in range(d - 2)))",
    by_name=True,
)
def stays_in_repaired_set(run: ArrayRun, x: str, w: str) -> Truth:
    """y/‖y‖ with y = (x + e_{d−1})(I + wS), S with ones on the superdiagonal, is in the set again: log-concave
    where x was, graded where x was"""
    row, number = _vector(run, x), Fraction(run.letter(w))
    y = _image(row, number)
    kept = all(v <= 0 for v in y[:-1]) and _far(y, number)
    kept = (
        kept
        and (not _is_log_concave(row) or _is_log_concave(y))
        and (not _is_graded(row, number) or _is_graded(y, number))
    )
    left, right = number**2 * y[-2] ** 2, sum(v * v for v in y)
    return Truth(kept, f"exact rationals: w²y_{{d−2}}² = {left} against ‖y‖² = {right}")


def draw_vectors(rng: Rng, size: int, *, repaired: bool) -> ArrayInstance:
    """Rational unit vectors with x_{d−1} ≤ −1/w, by inverse stereographic projection; about half in the set."""
    d = int(rng.integers(2, 7)) if repaired else int(rng.integers(4, 7))
    w = Fraction(int(rng.integers(15, 60)), 10)
    found: list[list[Fraction]] = []
    while len(found) < size:
        u = np.sort(rng.integers(1, 60, d)) if rng.random() < 0.5 else rng.integers(1, 60, d)
        t = [Fraction(int(v), 60) for v in u[:-1]]
        square = sum((v * v for v in t), Fraction(0))
        row = [-2 * v / (1 + square) for v in t] + [(1 - square) / (1 + square) * int(rng.choice([-1, 1]))]
        if row[-2] <= -1 / w and (not repaired or _is_log_concave(row) or _is_graded(row, w)):
            found.append(row)
    return exact_batch(f"dimension {d}", x=found, w=[w] * size)


#: Inside the printed set; its image is not.
_LEAVING: dict[str, ArrayLike] = {"x": [Fraction(-k, 7) for k in (4, 1, 4, 4)], "w": 2}


def leaving(rng: Rng) -> Iterator[Instance]:
    """−(4, 1, 4, 4)/7 with w = 2: inside the printed set, its image is not."""
    yield wu2024_L13.instance(**_LEAVING)


def draw_leaving(rng: Rng, size: int) -> ArrayInstance:
    """The same point as a batch of one."""
    return exact_batch("leaving", x=[_LEAVING["x"]], w=[_LEAVING["w"]])


wu2024_L13 = refuted(
    "wu2024:L13",
    "stays_far(x, w)",
    given=("w > 1", "unit_vector(x)", "in_printed_set(x, w)"),
    arrays={"x": "d, d >= 2", "w": ", > 1"},
    title="An invariant set of the second token, as we read it",
    source=f"{WU}, Lemma 13, as we read it",
    truth="proofs/wu2024_3.tex",
    draws=(draw_leaving, partial(draw_vectors, repaired=False)),
    certificate="x w",
    exhibit=_LEAVING,
    share=0.05,
    notes="False from dimension 4 on; true in dimensions 2 and 3, and in the form of wu2024:L13-repaired.",
)

wu2024_L13_repaired = proved(
    "wu2024:L13-repaired",
    "stays_in_repaired_set(x, w)",
    given=("w > 1", "unit_vector(x)", "in_repaired_set(x, w)"),
    arrays={"x": "d, d >= 2", "w": ", > 1"},
    title="Invariant sets of the second token: log-concave or graded coordinates",
    source=f"{OWN}, after Lemma 13 of Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024",
    draws=(partial(draw_vectors, repaired=True),),
    share=0.1,
    notes="In dimensions 2 and 3 log-concavity asks for nothing.",
)
