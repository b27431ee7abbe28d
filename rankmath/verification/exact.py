"""Exact numbers as a statement's data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rankmath.linalg.rationals import exact_array
from rankmath.validation import ArrayLike, InvalidArgument, Number, Objects
from rankmath.verification.instance import ArrayInstance


def rational(name: str, value: Number) -> Fraction:
    """A rational number, or an InvalidArgument that names it."""
    from rankmath.equilibria.wu2024 import exact_number

    number = exact_number(name, value)
    if not number.is_Rational:
        raise InvalidArgument(f"{name}: {number} given; a rational number is needed")
    return Fraction(int(number.p), int(number.q))


def boxed(numbers: list[Number]) -> Objects:
    """An object array of numbers."""
    box = np.empty(len(numbers), dtype=object)
    box[:] = numbers
    return box


def exact_stochastic(name: str, value: ArrayLike, *, positive: bool = False) -> Objects:
    """A square row-stochastic matrix, or a sequence of them (an axis more), as Fractions."""
    P = exact_array(name, value, (None,) * max(2, np.ndim(value)))
    if P.shape[-1] != P.shape[-2] or (P < 0).any() or (P.sum(axis=-1) != 1).any():
        raise InvalidArgument(f"{name}: square matrices with rows that sum to 1 exactly are needed")
    if positive and not (P > 0).all():
        raise InvalidArgument(f"{name}: an entry is 0; a positive matrix is needed")
    return P


def stacked(instances: list[ArrayInstance], label: str) -> ArrayInstance:
    """Instances of one shape as a batch."""
    names = instances[0].arrays
    arrays = {}
    for name in names:
        members = [np.asarray(one[name], dtype=object) for one in instances]
        arrays[name] = np.stack(members) if members[0].ndim else boxed([member[()] for member in members])
    return ArrayInstance(arrays, label, is_batch=True)
