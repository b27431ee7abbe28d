"""Relations of few numbers within bounds: enclosures hold what mpmath finds, bounds are rounded outward."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from rankmath.checker import boxes
from rankmath.checker.boxes import bounds_of, demand_on_box, enclosed
from rankmath.checker.intervals import Interval, Rejected
from rankmath.checker.monomials import Poly, atoms_in, normal, read_tree


def poly(text: str) -> Poly:
    return normal(read_tree(text), {})


(X,) = atoms_in(poly("skip"))


def within(low: Fraction, high: Fraction) -> Interval:
    return Interval.of(low, 64).merged(Interval.of(high, 64), min, max)


@pytest.mark.parametrize(
    ("text", "meaning", "low", "high"),
    [
        ("tanh(skip)", mpmath.tanh, -3, 2),
        ("exp(skip)", mpmath.exp, -3, 2),
        ("log(skip)", mpmath.log, Fraction(1, 7), 9),
        ("abs(skip)", abs, -3, 2),
        ("sqrt(skip)", mpmath.sqrt, 0, 5),
        ("skip**3", lambda x: x**3, -3, 2),
        ("skip**4", lambda x: x**4, -3, 2),
        ("skip**(3/2)", lambda x: x * mpmath.sqrt(x), 0, 5),
        ("1/skip**2", lambda x: 1 / x**2, 1, 5),
        ("sqrt(2)*skip - 1/3", lambda x: mpmath.sqrt(2) * x - mpmath.mpf(1) / 3, -1, 1),
    ],
)
def test_an_enclosure_holds_the_values_and_is_narrow_at_a_point(
    text: str, meaning: Callable[[mpmath.mpf], mpmath.mpf], low: Fraction, high: Fraction
) -> None:
    term, low, high = poly(text), Fraction(low), Fraction(high)
    ends: list[mpmath.mpf] = []
    wide = enclosed(term, {X: within(low, high)})
    with mpmath.workprec(200):
        for k in range(9):
            x = low + (high - low) * Fraction(k, 8)
            value = meaning(mpmath.mpf(x.numerator) / x.denominator)
            for found in (wide, enclosed(term, {X: within(x, x)})):
                ends = [mpmath.mpf(end.numerator) / end.denominator for end in (found.lower(), -(-found).lower())]
                assert ends[0] <= value <= ends[1]
            assert ends[1] - ends[0] <= mpmath.mpf(2) ** -30 * (1 + abs(value))


def test_a_logarithm_that_the_machine_gets_wrong_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = boxes.math.log
    monkeypatch.setattr(boxes.math, "log", lambda x: wrong(x) * (1 + 1e-6))
    with pytest.raises(Rejected, match="cannot be told"):
        enclosed(poly("log(skip)"), {X: within(Fraction(9), Fraction(9))})


def test_bounds_are_rounded_outward_and_the_narrowest_count() -> None:
    nonnegative = (poly("0"), poly("skip"))
    low, high = bounds_of([nonnegative, (poly("3*skip"), poly("1")), (poly("skip"), poly("2"))])[X]
    assert low == 0
    assert Fraction(1, 3) < high < Fraction(1, 3) + Fraction(1, 2**60)
    low, high = bounds_of([(poly("1"), poly("3*skip")), (poly("1/4"), poly("skip")), (poly("skip"), poly("1"))])[X]
    assert Fraction(1, 3) - Fraction(1, 2**60) < low < Fraction(1, 3)
    assert high == 1
    # −x ≤ 1 says x ≥ −1, and is not read as x ≤ −1.
    assert bounds_of([(poly("0 - skip"), poly("1")), nonnegative]) == {}


@pytest.mark.parametrize(("left", "right"), [("0", "skip"), ("skip", "2"), ("skip**2", "4"), ("abs(skip)", "2")])
def test_what_is_reached_at_an_end_is_not_strict(left: str, right: str) -> None:
    ends = {X: (Fraction(0), Fraction(2))}
    demand_on_box(poly(left), poly(right), False, ends, float("inf"))
    with pytest.raises(Rejected):
        demand_on_box(poly(left), poly(right), True, ends, float("inf"))
