"""Linear programs whose solution is exact: HiGHS finds the support, fractions the numbers on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rankmath.validation import Floats

#: A row may be named by anything that can be hashed.
Column = Mapping[Any, Fraction]

_LARGEST = 60.0
_TINY = 1e-9


def combination(
    columns: Sequence[Column],
    costs: Sequence[float],
    goal: Column,
    *,
    at_most: float | None = None,
    lengths: Sequence[float] = (),
) -> dict[int, Fraction] | None:
    """Non-negative multipliers with Σ x_j columns_j = goal: of least cost, or the shortest within `at_most`.

    >>> half = Fraction(1, 2)
    >>> combination([{"a": Fraction(2), "b": Fraction(-1)}, {"b": half}], [0.0, 1.0], {"a": Fraction(1)})
    {0: Fraction(1, 2), 1: Fraction(1, 1)}
    """
    from scipy.optimize import linprog  # slow to import, and most commands prove nothing
    from scipy.sparse import coo_matrix, csr_matrix

    index: dict[Any, int] = {}
    rows, cols, values = [], [], []
    for j, column in enumerate(columns):
        for row, value in column.items():
            rows.append(index.setdefault(row, len(index)))
            cols.append(j)
            values.append(float(value))
    if any(row not in index for row, value in goal.items() if value):
        return None
    if not columns:
        return {}
    target = np.zeros(len(index))
    for row, value in goal.items():
        if value:
            target[index[row]] = float(value)
    places = np.asarray(rows), np.asarray(cols)
    A = coo_matrix((np.asarray(values), places), shape=(len(index), len(columns))).tocsc()
    cost = np.asarray(costs, dtype=float)
    bounds = (0, _LARGEST)
    first: Any = linprog(cost, A_eq=A, b_eq=target, bounds=bounds, method="highs-ds")  # type: ignore[call-overload]
    if first.status != 0:
        return None
    tries = [first.x]
    limit = first.fun + _TINY if at_most is None else max(first.fun, at_most) + _TINY
    weights = np.asarray(lengths, dtype=float) if len(lengths) else np.ones(len(columns))
    second: Any = linprog(  # type: ignore[call-overload]
        weights, A_eq=A, b_eq=target, A_ub=csr_matrix(cost[None]), b_ub=[limit], bounds=bounds, method="highs-ds"
    )
    if second.status == 0:
        tries.insert(0, second.x)
    for x in tries:
        found = _on_support(columns, goal, x)
        if found is not None:
            return found
    return None


def _on_support(columns: Sequence[Column], goal: Column, x: Floats) -> dict[int, Fraction] | None:
    """The exact solution on the support of an approximate one, by elimination."""
    support = [j for j in range(len(columns)) if x[j] > _TINY]
    equations: dict[Any, tuple[dict[int, Fraction], Fraction]] = {}
    for j in support:
        for row, value in columns[j].items():
            if value:
                equations.setdefault(row, ({}, goal.get(row, Fraction(0))))[0][j] = value
    if any(value and row not in equations for row, value in goal.items()):
        return None
    solved: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for cells, right in equations.values():
        cells = dict(cells)
        for j in [j for j in cells if j in solved]:
            factor = cells.get(j, Fraction(0))
            if factor:
                _subtract(cells, solved[j][0], factor)
                right -= factor * solved[j][1]
        if not cells:
            if right:
                return None
            continue
        pivot = next(iter(cells))
        scale = cells[pivot]
        made = {j: value / scale for j, value in cells.items()}
        right /= scale
        for j, (other, value) in list(solved.items()):
            if pivot in other:
                factor, other = other[pivot], dict(other)
                _subtract(other, made, factor)
                solved[j] = other, value - factor * right
        solved[pivot] = made, right
    free = {j: Fraction(float(x[j])).limit_denominator(64) for j in support if j not in solved}
    found = dict(free)
    for j, (cells, right) in solved.items():
        found[j] = right - sum((e * free[k] for k, e in cells.items() if k != j), Fraction(0))
    if any(value < 0 for value in found.values()):
        return None
    return {j: value for j, value in sorted(found.items()) if value}


def _subtract(cells: dict[int, Fraction], other: Mapping[int, Fraction], factor: Fraction) -> None:
    for j, value in other.items():
        rest = cells.get(j, Fraction(0)) - factor * value
        if rest:
            cells[j] = rest
        else:
            cells.pop(j, None)


def shares(
    columns: Sequence[Column], room: Column, lengths: Sequence[float], equal: frozenset[Any]
) -> dict[int, Fraction] | None:
    """Weights x ≥ 0 with room − Σ x_j columns_j ≥ 0 in every row (= 0 in those of `equal`)."""
    from scipy.optimize import linprog

    rows = list(dict.fromkeys([*room, *(row for column in columns for row in column)]))
    index = {row: i for i, row in enumerate(rows)}
    A = np.zeros((len(rows), len(columns)))
    for j, column in enumerate(columns):
        for row, value in column.items():
            A[index[row], j] = float(value)
    b = np.array([float(room.get(row, 0)) for row in rows])
    same = np.array([row in equal for row in rows], dtype=bool)
    found: Any = linprog(
        np.asarray(lengths, dtype=float),
        A_ub=A[~same] if (~same).any() else None,
        b_ub=b[~same] + 1e-12 if (~same).any() else None,
        A_eq=A[same] if same.any() else None,
        b_eq=b[same] if same.any() else None,
        bounds=(0, None),
        method="highs-ds",
    )
    if found.status != 0:
        return None
    slack = b - A @ found.x
    tight = {row for row, rest in zip(rows, slack, strict=True) if abs(rest) < 1e-7}
    exact = _on_support(
        [{row: value for row, value in column.items() if row in tight} for column in columns],
        {row: value for row, value in room.items() if row in tight},
        found.x,
    )
    rounded = {j: Fraction(float(v)).limit_denominator(5040) for j, v in enumerate(found.x) if v > _TINY}
    for trial in (exact, rounded):
        if trial is not None and _fits(columns, room, trial, equal):
            return trial
    return None


def _fits(columns: Sequence[Column], room: Column, x: Mapping[int, Fraction], equal: frozenset[Any]) -> bool:
    left = dict(room)
    for j, weight in x.items():
        for row, value in columns[j].items():
            left[row] = left.get(row, Fraction(0)) - weight * value
    return all(value >= 0 and (row not in equal or not value) for row, value in left.items())
