"""Definitions as Python functions over rational numbers; `test_printed` holds all of them to text and print."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rankmath.formula.rational import Own, fraction, function, rational


def value(text: str, **arrays: object) -> Fraction:
    found = function(text, tuple(arrays))(Own(), None, *map(rational, arrays.values()))
    return fraction(found)


def test_whole_numbers_divide_to_fractions() -> None:
    assert value("1/3 + len(v)/7", v=[1, 2]) == Fraction(13, 21)
    assert value("2**(0 - 3)", v=[1]) == Fraction(1, 8)


def test_a_double_is_the_fraction_that_it_is() -> None:
    assert value("v[0]*10 == 1", v=[0.1]) == 0
    assert value("sum(v[i] for i in range(2))", v=[0.1, 0.2]) == Fraction(0.1) + Fraction(0.2)


def test_algebra_agrees_with_the_sums_it_stands_for() -> None:
    A, z = [[1, 2], [3, 4]], [5, Fraction(1, 3)]
    assert value("(mpower(A, 2) @ z)[1]", A=A, z=z) == 15 * 5 + Fraction(22, 3)
    assert value("rollout([A, T(A)])[0][1]", A=A) == 1 * 2 + 3 * 4
    assert value("chain([A, T(A)])[0][1]", A=A) == 1 * 3 + 2 * 4
    assert value("solve(A, z)[0]", A=A, z=z) == Fraction(4 * 5 - 2 * Fraction(1, 3)) / -2
    assert value("matrix_rank([[1, 2], [2, 4]])", A=A) == 1


def test_what_is_not_rational_and_what_has_no_place_is_refused() -> None:
    with pytest.raises(ArithmeticError):
        value("v[0]**(1/2)", v=[2])
    with pytest.raises(IndexError):
        value("v[len(v) - 3]", v=[1, 2])
