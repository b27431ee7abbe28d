"""The checker's intervals contain the true value, and little else. Oracle: 200-bit balls of python-flint."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from rankmath.checker.checker import Interval, Rejected, Undecided

OPERATIONS = 100_000


@pytest.fixture(autouse=True)
def two_hundred_bits() -> Iterator[None]:
    before = flint.ctx.prec
    flint.ctx.prec = 200
    yield
    flint.ctx.prec = before


def end(mantissa: int, scale: int) -> arb:
    return arb((mantissa, scale))


def contains(interval: Interval, value: arb) -> bool:
    """Certainly: the whole ball lies between the ends."""
    return bool(end(interval.lo, interval.scale) <= value) and bool(value <= end(interval.hi, interval.scale))


def draw(rng: random.Random, *, positive: bool = False, scale: int = -40) -> tuple[Interval, arb]:
    """An interval of 24 to 64 bits (a point, thin, or wide) and a member of it."""
    bits = rng.choice((24, 53, 64))
    lo = rng.getrandbits(rng.randint(0, bits)) * rng.choice((1, -1))
    width = rng.choice((0, 0, 1, rng.getrandbits(8), rng.getrandbits(40)))
    if positive:  # the ends share a scale, so a lower end far below the upper one is rounded to 0
        lo = abs(lo) + 1
        width = min(width, lo << 10)
    scale += rng.randint(-30, 10)
    member = rng.choice((lo, lo + width, rng.randint(lo, lo + width)))
    return Interval(lo, lo + width, scale, bits), end(member, scale)


def draw_exponent(rng: random.Random) -> tuple[Interval, arb]:
    """Arguments of exp over [-10^4, 10^4], half of them below 1 in size."""
    at = int(rng.uniform(-1e4, 1e4) * 2**20) if rng.random() < 0.5 else rng.randint(-(2**20), 2**20)
    width = rng.choice((0, 0, 0, 1, rng.getrandbits(10)))
    member = rng.choice((at, at + width))
    return Interval(at, at + width, -20, rng.choice((24, 53))), end(member, -20)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "max": lambda a, b: a.max(b),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_operations_contain_the_true_value(name: str) -> None:
    rng, operation = random.Random(f"binary {name}"), BINARY[name]
    divide = name == "divide"
    side = math.isqrt(OPERATIONS) + 1
    left, right = [draw(rng) for _ in range(side)], [draw(rng, positive=divide) for _ in range(side)]
    if divide:
        right[::2] = [(-B, -b) for B, b in right[::2]]
    for A, a in left:
        for B, b in right:
            assert contains(operation(A, B), operation(a, b)), (A.lo, A.hi, A.scale, B.lo, B.hi, B.scale, A.bits)


UNARY: dict[str, tuple[Callable[[Interval], Interval], Callable[[arb], arb]]] = {
    "sqrt": (Interval.sqrt, arb.sqrt),
    "abs": (abs, abs),
    "cube": (lambda a: a**3, lambda a: a * a * a),
    "fourth power": (lambda a: a**4, lambda a: a * a * a * a),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary_operations_contain_the_true_value(name: str) -> None:
    rng, (operation, oracle) = random.Random(f"unary {name}"), UNARY[name]
    for _ in range(OPERATIONS if name == "sqrt" else OPERATIONS // 10):
        A, a = draw(rng, positive=name == "sqrt", scale=-20)
        assert contains(operation(A), oracle(a)), (A.lo, A.hi, A.scale, A.bits)


def test_exp_contains_the_true_value_from_minus_ten_thousand_to_ten_thousand() -> None:
    rng = random.Random("exp")
    for _ in range(OPERATIONS):
        A, a = draw_exponent(rng)
        assert contains(A.exp(), a.exp()), (A.lo, A.hi, A.scale, A.bits)


def test_tanh_contains_the_true_value() -> None:
    rng = random.Random("tanh")
    for _ in range(OPERATIONS // 5):
        A, a = draw(rng, scale=-70)  # up to about 16: beyond, 200 bits cannot tell tanh from 1
        assert contains(A.tanh(), a.tanh()), (A.lo, A.hi, A.scale, A.bits)


rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)


@given(rationals, st.integers(8, 300))
def test_an_exact_number_lies_in_its_interval_and_dyadics_are_points(value: Fraction, bits: int) -> None:
    enclosure = Interval.of(value, bits)
    assert enclosure.lower() <= value <= enclosure.upper()
    assert enclosure.upper() - enclosure.lower() <= abs(value) * Fraction(2) ** (2 - bits)
    dyadic = Interval.of(Fraction(value.numerator % 255, 2**70), bits)
    assert dyadic.lower() == dyadic.upper() == Fraction(value.numerator % 255, 2**70)


@given(rationals, rationals.filter(bool), st.integers(30, 400))
def test_results_at_points_are_narrow(x: Fraction, y: Fraction, bits: int) -> None:
    """Containment alone would also be had from [-inf, inf]."""
    a, b = Interval.of(x, bits), Interval.of(y, bits)
    ulp = Fraction(2) ** (6 - bits)
    for result, size in [(a * b, abs(x * y)), (a / b, abs(x / y)), (a + b, abs(x) + abs(y))]:
        assert result.upper() - result.lower() <= size * ulp
    root = abs(a).sqrt()
    assert root.upper() - root.lower() <= root.upper() * ulp
    # exp turns the absolute error |x| 2^-bits of its argument into a relative one.
    power = a.exp()
    assert power.upper() - power.lower() <= power.upper() * ulp * (1 + abs(x))


@pytest.mark.parametrize("bits", [64, 1000, 4096])
def test_exp_of_one_is_e_to_all_its_bits(bits: int) -> None:
    flint.ctx.prec = bits + 100
    power = Interval.of(1, bits).exp()
    assert contains(power, arb.const_e())
    assert power.hi - power.lo <= 4


def test_numbers_of_very_different_size_meet_in_bounded_memory() -> None:
    tiny, huge = Interval(1, 1, -(10**12), 64), Interval(1, 1, 10**12, 64)
    total = tiny + huge
    assert huge <= total or total.lo.bit_length() <= 64
    assert tiny < huge
    assert not huge < tiny
    assert max(total.lo.bit_length(), total.hi.bit_length()) <= 64
    assert (tiny + 0).lo == tiny.lo
    assert (tiny + 0).scale == tiny.scale
    assert (huge - huge).lo <= 0 <= (huge - huge).hi


def test_exp_outside_its_range_is_bounded_or_undecided() -> None:
    small = Interval.of(-(2**40), 64).exp()
    assert small.lo == 0
    assert small < Interval(1, 1, -(2**20) + 1, 64)
    assert Interval.of(2**40, 64).tanh() <= 1
    assert not Interval.of(2**40, 64).tanh() < 1
    with pytest.raises(Undecided, match="2\\^20"):
        Interval.of(2**40, 64).exp()


def test_comparisons_are_true_only_when_certain() -> None:
    third = Interval.of(Fraction(1, 3), 64)
    assert not third <= Fraction(1, 3)
    assert not third < Fraction(1, 3)
    assert Interval.of(3, 64) <= 3
    assert not Interval.of(3, 64) < 3
    assert third < Fraction(34, 100)


def test_what_has_no_answer_is_undecided() -> None:
    around_zero = Interval(-1, 1, -50, 64)
    with pytest.raises(Undecided, match="zero"):
        1 / around_zero
    with pytest.raises(Undecided, match="negative"):
        around_zero.sqrt()
    with pytest.raises(Rejected, match="too small or too large"):
        Interval(1, 1, -(10**9), 64).lower()
