"""Matrices of exact rationals: every float is a dyadic, so nothing is rounded on the way in."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational

import numpy as np

from rankmath.validation import ArrayLike, InvalidArgument, Number


def exact_matrix(name: str, value: ArrayLike) -> list[list[Fraction]]:
    """`value` as rows of Fractions, or a ValueError that names it; floats are read as the dyadics they are.

    Examples
    --------
    >>> exact_matrix("A", [[1, 0.5], [Fraction(1, 3), 0]])
    [[Fraction(1, 1), Fraction(1, 2)], [Fraction(1, 3), Fraction(0, 1)]]
    """
    rows = _rows(value)
    if rows is None:
        raise InvalidArgument(f"{name}: a {type(value).__name__} given; a list of rows of rationals is needed")
    lengths = {len(row) for row in rows}
    if not rows or lengths == {0}:
        raise InvalidArgument(f"{name}: an empty matrix given; at least one row and one column are needed")
    if len(lengths) > 1:
        raise InvalidArgument(
            f"{name}: rows of lengths {sorted(lengths)} given; all rows must have the same length"
        )
    return [[_fraction(name, i, j, entry) for j, entry in enumerate(row)] for i, row in enumerate(rows)]


def is_exact(value: ArrayLike) -> bool:
    """Whether `value` is a matrix of Fractions and integers only, so that no rounding has touched it."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return False
    rows = _rows(value)
    return rows is not None and all(isinstance(entry, Rational) for row in rows for entry in row)


def _rows(value: ArrayLike) -> list[list[Number]] | None:
    """Nested lists of Python scalars, or None when `value` is not a matrix."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 2 else None
    if not isinstance(value, (list, tuple)):
        return None
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in value]
    if not all(isinstance(row, (list, tuple)) for row in rows):
        return None
    return [[entry.item() if isinstance(entry, np.generic) else entry for entry in row] for row in rows]


def _fraction(name: str, i: int, j: int, entry: Number) -> Fraction:
    if type(entry) is Fraction:
        return entry
    if isinstance(entry, Rational) or (isinstance(entry, float) and math.isfinite(entry)):
        return Fraction(entry)
    shown = entry if isinstance(entry, float) else f"a {type(entry).__name__}"
    raise InvalidArgument(
        f"{name}: entry ({i}, {j}) is {shown}; a Fraction, an integer or a finite float is needed"
    )
