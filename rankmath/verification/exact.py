"""Exact numbers as a statement's data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rankmath.linalg.rationals import exact_array
from rankmath.validation import ArrayLike, InvalidArgument, Number
from rankmath.verification.instance import ArrayInstance


def rational(name: str, value: Number) -> Fraction:
    """A rational number, or an InvalidArgument that names it."""
    from rankmath.equilibria.wu2024 import exact_number

    number = exact_number(name, value)
    if not number.is_Rational:
        raise InvalidArgument(f"{name}: {number} given; a rational number is needed")
    return Fraction(int(number.p), int(number.q))


def exact_batch(label: str, **arrays: ArrayLike) -> ArrayInstance:
    """A batch of exact data, each array with one leading axis."""
    exact = {name: exact_array(name, value, (None,) * np.ndim(value)) for name, value in arrays.items()}
    return ArrayInstance(exact, label, is_batch=True)
