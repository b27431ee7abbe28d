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

from rankmath.checker.intervals import Interval, Rejected, Undecided, compare
from rankmath.checker.kernel import Evaluator
from rankmath.checker.rules import RULES
from rankmath.checker.statements import definitions

OPERATIONS = 100_000
DEFINED_RULES = definitions(RULES)


def rule(bits: int) -> Evaluator:
    return Evaluator(DEFINED_RULES, {}, {}, bits, math.inf)


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
    "subtract": lambda a, b: rule(64).each("-", a, b) if isinstance(a, Interval) else a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: rule(64).each("/", a, b) if isinstance(a, Interval) else a / b,
    "max": lambda a, b: a.merged(b, max, max) if isinstance(a, Interval) else a.max(b),
    "min": lambda a, b: a.merged(b, min, min) if isinstance(a, Interval) else a.min(b),
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
    "cube": (lambda a: rule(a.bits).each("**", a, Fraction(3)), lambda a: a * a * a),
    "fourth power": (lambda a: rule(a.bits).each("**", a, Fraction(4)), lambda a: a * a * a * a),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary_operations_contain_the_true_value(name: str) -> None:
    rng, (operation, oracle) = random.Random(f"unary {name}"), UNARY[name]
    for _ in range(OPERATIONS if name == "sqrt" else OPERATIONS // 10):
        A, a = draw(rng, positive=name == "sqrt", scale=-20)
        assert contains(operation(A), oracle(a)), (A.lo, A.hi, A.scale, A.bits)


def test_exp_contains_the_true_value_from_minus_ten_thousand_to_ten_thousand() -> None:
    rng = random.Random("exp")
    for _ in range(OPERATIONS // 10):
        A, a = draw_exponent(rng)
        assert contains(A.exp(), a.exp()), (A.lo, A.hi, A.scale, A.bits)


rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)


@given(rationals, st.integers(8, 300))
def test_an_exact_number_lies_in_its_interval_and_dyadics_are_points(value: Fraction, bits: int) -> None:
    enclosure = Interval.of(value, bits)
    assert enclosure.lower() <= value <= -(-enclosure).lower()
    assert -(-enclosure).lower() - enclosure.lower() <= abs(value) * Fraction(2) ** (2 - bits)
    dyadic = Interval.of(Fraction(value.numerator % 255, 2**70), bits)
    assert dyadic.lower() == -(-dyadic).lower() == Fraction(value.numerator % 255, 2**70)


@given(rationals, rationals.filter(bool), st.integers(30, 400))
def test_results_at_points_are_narrow(x: Fraction, y: Fraction, bits: int) -> None:
    """Containment alone would also be had from [-inf, inf]."""
    a, b = Interval.of(x, bits), Interval.of(y, bits)
    ulp = Fraction(2) ** (6 - bits)
    for result, size in [(a * b, abs(x * y)), (a * (1 / b), abs(x / y)), (a + b, abs(x) + abs(y))]:
        assert -(-result).lower() - result.lower() <= size * ulp
    root = abs(a).sqrt()
    assert -(-root).lower() - root.lower() <= -(-root).lower() * ulp
    # exp turns the absolute error |x| 2^-bits of its argument into a relative one; where e^x < 2^-k it may spare k
    # bits, but has 128.
    power, kept = a.exp(), min(bits, max(128, bits + math.ceil(x)))
    assert -(-power).lower() - power.lower() <= -(-power).lower() * Fraction(2) ** (6 - kept) * (1 + abs(x))


@pytest.mark.parametrize("bits", [64, 1000, 4096])
def test_exp_of_one_is_e_to_all_its_bits(bits: int) -> None:
    flint.ctx.prec = bits + 100
    power = Interval.of(1, bits).exp()
    assert contains(power, arb.const_e())
    assert power.hi - power.lo <= 4


def test_numbers_of_very_different_size_meet_in_bounded_memory() -> None:
    tiny, huge = Interval(1, 1, -(10**12), 64), Interval(1, 1, 10**12, 64)
    total = tiny + huge
    assert compare("<", tiny, huge) is True
    assert compare("<", huge, tiny) is False
    assert max(total.lo.bit_length(), total.hi.bit_length()) <= 64
    assert (tiny + 0).lo == tiny.lo
    assert (tiny + 0).scale == tiny.scale
    assert (huge + -huge).lo <= 0 <= (huge + -huge).hi


@pytest.mark.parametrize("gap", [129, 140, 1000, 10**9])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_far_below_is_rounded_outward_when_scales_are_aligned(gap: int, sign: int) -> None:
    """1 + 2^-gap lies strictly above 1, and 1 - 2^-gap strictly below: the end on that side must move."""
    one, tiny = Interval(1, 1, 0, 64), Interval(sign, sign, -gap, 64)
    total = one + tiny
    if sign > 0:
        assert -(-total).lower() > 1 >= total.lower()
        assert compare("<=", total, Fraction(1)) is not True
    else:
        assert total.lower() < 1 <= -(-total).lower()
        assert compare("<", total, Fraction(1)) is None
    # The same through the comparison alone, which aligns scales itself.
    assert compare("<", Fraction(0), Interval(1, 1, -gap, 64)) is True
    assert compare("<=", one, tiny) is False
    assert -(-one.merged(one + tiny, max, max)).lower() >= 1
    assert tiny.ends(0) == ((0, 1) if sign > 0 else (-1, 0))


def test_a_narrow_interval_across_scales_holds_both_ends() -> None:
    """The hull of 1 and 1 + 2^-300 at 64 bits: its upper end may not fall back to 1."""
    hull = Interval(1, 1, 0, 64).merged(Interval((1 << 300) + 1, (1 << 300) + 1, -300, 400), min, max)
    assert -(-hull).lower() >= 1 + Fraction(1, 2**300)
    assert hull.lower() <= 1


def test_exp_outside_its_range_is_bounded_or_undecided() -> None:
    small = Interval.of(-(2**40), 64).exp()
    assert small.lo == 0
    assert compare("<", small, Interval(1, 1, -(2**20) + 1, 64)) is True
    with pytest.raises(Undecided, match="2\\^20"):
        Interval.of(2**40, 64).exp()


@pytest.mark.parametrize("x", [-(2**20), -(2**20) - 1, -(2**20) + 1, -(2**21), -3 * 2**18, -(2**14)])
def test_the_exponential_of_very_negative_numbers_is_enclosed(x: int) -> None:
    """Around the point where a coarse bound takes over, e^x itself lies inside, and nothing negative does."""
    enclosure = Interval.of(x, 64).exp()
    assert contains(enclosure, arb(x).exp())
    assert enclosure.lo >= 0
    assert compare("<", enclosure, Interval(1, 1, x + 1, 64)) is not False


def test_comparisons_are_true_or_false_only_when_certain() -> None:
    third, three = Interval.of(Fraction(1, 3), 64), Interval.of(3, 64)
    for relation in ("<=", "<", ">=", ">", "=="):
        assert compare(relation, third, Fraction(1, 3)) is None
    assert [compare(r, three, Fraction(3)) for r in ("<=", "<", ">=", ">", "==")] == [
        True,
        False,
        True,
        False,
        True,  # a point that was not rounded is the number itself
    ]
    assert [compare(r, third, Fraction(1)) for r in ("<=", "<", ">=", ">", "==")] == [True, True, False, False, False]
    assert [compare(r, Fraction(1), Fraction(1)) for r in ("<=", "<", ">=", ">", "==")] == [
        True,
        False,
        True,
        False,
        True,
    ]


def test_what_has_no_answer_is_undecided_and_what_cannot_be_is_rejected() -> None:
    around_zero = Interval(-1, 1, -50, 64)
    for operation in (lambda: 1 / around_zero, around_zero.sqrt, lambda: rule(64).apply("log", [around_zero])):
        with pytest.raises(Undecided):
            operation()
    for operation in (Interval.of(-1, 64).sqrt, lambda: rule(64).apply("log", [Interval.of(0, 64)])):
        with pytest.raises(Rejected):
            operation()
    with pytest.raises(Rejected, match="too small or too large"):
        Interval(1, 1, -(10**9), 64).lower()


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9), st.integers(40, 300))
def test_the_logarithm_is_enclosed_and_narrow(x: Fraction, bits: int) -> None:
    flint.ctx.prec = 400
    enclosure = Interval.of(rule(bits).apply("log", [Interval.of(x, bits)]), bits)
    assert contains(enclosure, (arb(x.numerator) / x.denominator).log())
    assert -(-enclosure).lower() - enclosure.lower() <= (1 + abs(-(-enclosure).lower())) * Fraction(2) ** (12 - bits)


def test_the_threshold_is_found_to_thirty_digits() -> None:
    """x* = 1.256431208626169676982737616609…, the positive root of e^x = 1 + 2x."""
    digits = 1256431208626169676982737616609
    for bits in (128, 512, 4096):
        x = rule(bits).apply("x_star", [])
        assert Fraction(digits, 10**30) < x.lower() <= -(-x).lower() < Fraction(digits + 1, 10**30)
        flint.ctx.prec = bits + 64
        exact = -arb(0.5) - (-(-arb(0.5)).exp() / 2).lambertw(-1)
        assert contains(x, exact)


@given(st.integers(-(2**200), 2**200), st.integers(0, 2**200), st.integers(-300, 300))
def test_the_middle_is_a_point_inside(lo: int, width: int, scale: int) -> None:
    x = Interval(lo, lo + width, scale, 128)
    middle = rule(128).apply("middle", [x])
    assert middle == (x.lower() - (-x).lower()) / 2
