"""Arrays of exact rationals: every float is a dyadic, so nothing is rounded on the way in."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING

import numpy as np

from rankmath.validation import ArrayLike, InvalidArgument, Objects

if TYPE_CHECKING:
    from flint import fmpq_mat


def exact_array(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Objects:
    """`value` as an array of Fractions of the given shape (None: any length), or a ValueError that names it.

    >>> exact_array("v", [0.5, Fraction(1, 3)], (2,))
    array([Fraction(1, 2), Fraction(1, 3)], dtype=object)
    """
    try:
        entries = np.array(value, dtype=object)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"{name}: a {type(value).__name__} given; not a rectangular array ({error})") from None
    if any(isinstance(entry, (list, tuple)) for entry in entries.flat):
        raise InvalidArgument(f"{name}: rows of different lengths given; a rectangular array is needed")
    wanted = ", ".join("any" if length is None else str(length) for length in shape)
    fits = entries.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, entries.shape, strict=True))
    if not fits or 0 in entries.shape:
        raise InvalidArgument(f"{name}: shape {entries.shape} given; it must be ({wanted}), no axis empty")
    result = np.empty(entries.shape, dtype=object)
    for index, given in np.ndenumerate(entries):
        if type(given) is Fraction:
            result[index] = given
            continue
        entry = given.item() if isinstance(given, np.generic) else given
        real = isinstance(entry, Rational) and not isinstance(entry, bool)
        if not real and not (isinstance(entry, float) and math.isfinite(entry)):
            shown = entry if isinstance(entry, float) else f"a {type(entry).__name__}"
            raise InvalidArgument(
                f"{name}: entry {index} is {shown}; a Fraction, an integer or a finite float is needed"
            )
        result[index] = Fraction(entry)
    return result


def exact_matrix(name: str, value: ArrayLike) -> list[list[Fraction]]:
    """`value` as rows of Fractions, or a ValueError that names it.

    >>> exact_matrix("A", [[1, 0.5], [Fraction(1, 3), 0]])
    [[Fraction(1, 1), Fraction(1, 2)], [Fraction(1, 3), Fraction(0, 1)]]
    """
    rows: list[list[Fraction]] = exact_array(name, value, (None, None)).tolist()
    return rows


def to_flint(matrix: ArrayLike) -> fmpq_mat:
    """A matrix of Fractions (an array, or rows) as FLINT's, whose products take a tenth of the time."""
    from flint import fmpq, fmpq_mat

    entries = np.asarray(matrix, dtype=object)
    rows, columns = entries.shape
    return fmpq_mat(rows, columns, [fmpq(x.numerator, x.denominator) for x in entries.ravel().tolist()])


def from_flint(matrix: fmpq_mat) -> list[list[Fraction]]:
    """The same as rows of Fractions.

    >>> from_flint(to_flint([[Fraction(1, 2), Fraction(0)]]) * to_flint([[Fraction(2)], [Fraction(3)]]))
    [[Fraction(1, 1)]]
    """
    return [[Fraction(int(x.p), int(x.q)) for x in row] for row in matrix.tolist()]


def is_exact(value: ArrayLike) -> bool:
    """Whether `value` is a matrix of Fractions and integers only, so that no rounding has touched it."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.ndim == 2 and value.dtype.kind != "f" else None
    if not isinstance(value, (list, tuple)):
        return False
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in value]
    nested = all(isinstance(row, (list, tuple)) for row in rows)
    return nested and all(isinstance(entry, Rational) for row in rows for entry in row)
