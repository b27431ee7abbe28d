"""Exact numbers as a statement's data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from rankmath.validation import InvalidArgument


def rational(name: str, value: Any) -> Fraction:
    """A rational number, or an InvalidArgument that names it."""
    from rankmath.equilibria.wu2024 import exact_number

    number = exact_number(name, value)
    if not number.is_Rational:
        raise InvalidArgument(f"{name}: {number} given; a rational number is needed")
    return Fraction(int(number.p), int(number.q))


def boxed(numbers: list[Any]) -> np.ndarray[Any, Any]:
    """An object array of numbers."""
    box = np.empty(len(numbers), dtype=object)
    box[:] = numbers
    return box
