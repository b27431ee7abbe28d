"""Every number system of the formulas against mpmath at fifty digits, and balls around what they must hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import rankmath as rm
from rankmath.arithmetic.balls import Balls
from rankmath.arithmetic.float64 import Float64
from rankmath.formula.evaluate import NUMBERS, NoSuchPlace, judged, sides, value
from rankmath.formula.numbers import Signed, ball_expc, ball_tanhc
from rankmath.formula.reader import read_formula, read_term
from rankmath.formula.run import Run, threshold
from rankmath.linalg.masks import Mask, as_mask
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

#: Terms without letters, and their values.
TERMS: dict[str, Any] = {
    "2 - 3*exp(1/2)": lambda: 2 - 3 * mpmath.exp(0.5),
    "exp(-3) - 1/7 + sqrt(5)": lambda: mpmath.exp(-3) - mpmath.mpf(1) / 7 + mpmath.sqrt(5),
    "sqrt(2)/(1 - exp(1))": lambda: mpmath.sqrt(2) / (1 - mpmath.e),
    "(1 - sqrt(2))**3": lambda: (1 - mpmath.sqrt(2)) ** 3,
    "(1 - sqrt(2))**4": lambda: (1 - mpmath.sqrt(2)) ** 4,
    "exp(2)**(-5/2)": lambda: mpmath.exp(-5),
    "exp(1)**(1/3)": lambda: mpmath.exp(mpmath.mpf(1) / 3),
    "sqrt(3)**sqrt(2)": lambda: mpmath.sqrt(3) ** mpmath.sqrt(2),
    "log(sqrt(2))": lambda: mpmath.log(2) / 2,
    "log(exp(-2)/3)": lambda: -2 - mpmath.log(3),
    "tanh(sqrt(2)) - tanh(-1)": lambda: mpmath.tanh(mpmath.sqrt(2)) + mpmath.tanh(1),
    "tanh(exp(-12))": lambda: mpmath.tanh(mpmath.exp(-12)),
    "tanhc(sqrt(3))": lambda: mpmath.tanh(mpmath.sqrt(3)) / mpmath.sqrt(3),
    "expc(sqrt(7))": lambda: mpmath.expm1(mpmath.sqrt(7)) / mpmath.sqrt(7),
    "expc(exp(-30))": lambda: mpmath.expm1(mpmath.exp(-30)) / mpmath.exp(-30),
    "floor(-sqrt(8))": lambda: mpmath.mpf(-3),
    "floor(exp(3))": lambda: mpmath.mpf(20),
    "abs(1 - exp(1))": lambda: mpmath.e - 1,
    "max(-sqrt(2), -exp(1), -3)": lambda: -mpmath.sqrt(2),
    "min(sqrt(2), exp(-1), 3)": lambda: mpmath.exp(-1),
    "(1/3)**4097*3**4097*sqrt(4)": lambda: mpmath.mpf(2),
}


class Nothing:
    """A subject without letters."""

    def __init__(self, system: str) -> None:
        self.numbers, self.memory = NUMBERS[system], dict[Any, Any]()

    def letter(self, name: str) -> Any:
        raise KeyError(name)

    def switch(self, name: str, word: str) -> bool:
        raise KeyError(name)


class Sizes(Nothing):
    """Letters alone."""

    def letter(self, name: str) -> Any:
        return Fraction({"L": 3, "H": 2, "n": 4, "K": 5}[name])


@pytest.mark.parametrize("text", TERMS)
def test_closed_terms_in_every_number_system(text: str) -> None:
    with mpmath.workdps(50):
        true = TERMS[text]()
        single = value(read_term(text), Nothing("mpmath"), {})
        assert abs(mpmath.mpf(str(single) if isinstance(single, Fraction) else single) - true) < abs(true) * 1e-40
        held = value(read_term(text), Nothing("balls"), {})
        ball = NUMBERS["balls"].lift(held) if isinstance(held, Fraction) else held
        assert abs(float(ball.mid()) - true) <= float(ball.rad()) + 1e-15 * abs(true)
        assert float(ball.rad()) < 1e-9
        found = value(read_term(text), Nothing("float64"), {})
        number = found if isinstance(found, Signed) else Signed.exact(found)
        assert float(number.floats()) == pytest.approx(float(true), rel=1e-12)


#: Relations, whether they are certainly true, and whether they are certainly false.
RELATIONS = {
    "sqrt(2) <= 3/2": (True, False),
    "3/2 >= sqrt(2)": (True, False),
    "sqrt(2) < 3/2": (True, False),
    "sqrt(2) > 3/2": (False, True),
    "exp(1) == 3": (False, True),
    "exp(-1) - exp(1) <= -2": (True, False),
    "2 <= 2": (True, False),
    "0*sqrt(2) <= 0": (True, False),
    "0*sqrt(2) < 0": (False, None),
    "0*sqrt(2) == 0": (None, False),
    "0*sqrt(2) < sqrt(2)": (True, False),
    "0*sqrt(2) <= 0 - sqrt(2)": (False, True),
    "2 < 2": (False, True),
    "2 > 3": (False, True),
    "6/2 == 3": (True, False),
    "sqrt(2)*sqrt(2) <= 2": (False, False),
    "sqrt(2)*sqrt(2) >= 2": (False, False),
    "sqrt(2)*sqrt(2) == 2": (False, False),
    "sqrt(2)*sqrt(2) < 2*(1 + 1/10**11)": (None, False),
    "sqrt(2)*sqrt(2) > 2*(1 + 1/10**11)": (False, None),
    # How small both sides are does not matter, nor how large.
    "sqrt(2)/10**40 < 1415/1000/10**40": (True, False),
    "sqrt(2)/10**40 == 1415/1000/10**40": (False, True),
    "10**40*sqrt(2) >= 1415/1000*10**40": (False, True),
}


@pytest.mark.parametrize("system", NUMBERS)
@pytest.mark.parametrize("text", RELATIONS)
def test_a_relation_is_decided_only_where_rounding_cannot_have_decided_it(text: str, system: str) -> None:
    [side] = sides(read_formula(text), Nothing(system))
    found = judged(side, 1, NUMBERS[system])
    for verdict, wanted in zip((found.below, found.above), RELATIONS[text], strict=True):
        assert bool(verdict[0]) == (system == "balls" if wanted is None else wanted)


def test_a_zero_that_rounding_made_decides_nothing() -> None:
    for text in (
        "sqrt(2) - sqrt(2) <= 0",
        "1/3 - exp(0)/3 <= 0",
        "sqrt(2) - sqrt(2) < 1/10**30",
        "sqrt(exp(1)*exp(5/7) - exp(1 + 5/7)) <= 0",
    ):
        [side] = sides(read_formula(text), Nothing("float64"))
        found = judged(side, 1, NUMBERS["float64"])
        assert not found.below[0]
        assert not found.above[0]


#: What has no value, and 0 beside it.
NOTHING = (
    *("sqrt(1 - exp(1))", "(1 - exp(1))**(1/2)", "(1 - exp(1))**(3/2)", "(1 - exp(1))**(1/3)", "log(1 - exp(1))"),
    *(
        "1/(n - n)",
        "(n - n)**(-1)",
        "sqrt(2)/(n - n)",
        "(0*sqrt(2))**(-1)",
        "0*sqrt(1 - exp(1))",
        "max(1, sqrt(1 - exp(1)))",
    ),
    *("max(sqrt(1 - exp(1)), 1)", "min(sqrt(1 - exp(1)), 1)", "min(1, sqrt(1 - exp(1)))"),
)


@pytest.mark.parametrize("system", ["float64", "balls"])
@pytest.mark.parametrize("text", NOTHING)
def test_what_has_no_value_decides_nothing(text: str, system: str) -> None:
    for relation in ("{} <= 5", "{} >= -5", "{} < -5", "{} == 1", "0*sqrt(2) <= {}", "{} <= 0*sqrt(2)"):
        [side] = sides(read_formula(relation.format(text)), Sizes(system))
        found = judged(side, 1, NUMBERS[system])
        assert not found.below[0], relation
        assert not found.above[0], relation


def test_doubles_know_fewer_digits_of_a_large_exponential() -> None:
    """The margin is a part of the logarithm: of e^10000 five digits are trusted."""
    for power, decided in ((6, False), (4, True)):
        [side] = sides(read_formula(f"exp(1)**(10**4) < exp(1)**(10**4)*(1 + 1/10**{power})"), Nothing("float64"))
        assert bool(judged(side, 1, NUMBERS["float64"]).below[0]) == decided


@pytest.mark.parametrize(
    "outer",
    [
        "{}",
        "1/{}",
        "sqrt({})",
        "({})**2",
        "tanh({})",
        "10**9*{}/10**9",
        "-{}",
        "abs({})",
        "max(0, {})",
        "min({}, sqrt(2))",
    ],
)
def test_digits_that_cancelled_stay_lost(outer: str) -> None:
    """exp(1) - exp(1)(1 - 10^-4) has lost four of its nine digits: a part 10^-6 of it decides nothing."""
    small = outer.format("(exp(1) - exp(1)*(1 - 1/10**4))")
    for left, right in ((small, f"(1 + 1/10**6)*{small}"), (f"(1 + 1/10**6)*{small}", small)):
        [side] = sides(read_formula(f"{left} <= {right}"), Nothing("float64"))
        found = judged(side, 1, NUMBERS["float64"])
        assert not found.below[0]
        assert not found.above[0]
        [side] = sides(read_formula(f"{left} <= 3*({right})"), Nothing("float64"))
        found = judged(side, 1, NUMBERS["float64"])
        assert found.below[0] ^ found.above[0]


def test_exponentials_and_logarithms_of_what_cancelled() -> None:
    """An error in the argument of exp is one of the result, and a part of the argument of log one of its value."""
    large = "(10**8*sqrt(2) - (10**8*sqrt(2) - 1))"
    for text in (f"exp({large}) <= exp(1)*(1 + 1/10**5)", f"expc({large}) <= expc(1)*(1 + 1/10**5)"):
        [side] = sides(read_formula(text), Nothing("float64"))
        assert not judged(side, 1, NUMBERS["float64"]).below[0], text
    small = "(exp(1) - exp(1)*(1 - 1/10**8))"
    for text in (
        f"log({small}) <= log(exp(1)/10**8) + 1/10**7",
        f"tanhc(10**8*{small}) <= tanhc(exp(1))*(1 + 1/10**7)",
    ):
        [side] = sides(read_formula(text), Nothing("float64"))
        assert not judged(side, 1, NUMBERS["float64"]).below[0], text


@pytest.mark.parametrize(("index", "size"), [("l", 3), ("h", 2), ("i", 4), ("k", 5)])
def test_quantifiers_and_reductions_take_every_place_once(index: str, size: int) -> None:
    found = sides(read_formula(f"all_{index}({index} <= 0)"), Sizes("float64"))
    assert [side.left for side in found] == list(range(size))
    if index != "h":
        nested = sides(read_formula(f"all_{index}(all_h({index} + 10*h <= 0) and {index} < 1)"), Sizes("float64"))
        assert [side.left for side in nested] == [x for place in range(size) for x in (place, place + 10, place)]
    for system in NUMBERS:
        for name, wanted in (
            ("sum", sum(k + 1 for k in range(size))),
            ("prod", math.factorial(size)),
            ("max", size),
            ("min", 1),
        ):
            for factor in ("1", "exp(0)"):  # exact, and in the number system
                found = value(read_term(f"{name}_{index}(({index} + 1)*{factor})"), Sizes(system), {})
                number = float(found.floats()) if isinstance(found, Signed) else float(found)
                assert number == pytest.approx(wanted, rel=1e-14)
    assert value(read_term("recursion(b, 1, 10*b + l)"), Sizes("float64"), {}) == 1012


def test_all_exponents_are_taken_and_places_that_a_network_does_not_have_are_refused() -> None:
    ones = np.ones((2, 2, 2, 2))
    run = Run(Float64(np.zeros(1)), rm.Network.from_arrays(ones, ones), np.array([[0.0, 0.0], [3.0, 2.0]]))
    found = [side.left.floats() for side in sides(read_formula("all_p(diameter(X[0], p) <= 1)"), run)]
    assert np.allclose(found, [5, np.sqrt(13), 3])
    for term in ("mu(X[L])", "norm(W[L - 1, H - 1], 2)", "dobrushin(P[L - 1, 0])", "norm(W_QK[0, 0], 2)"):
        assert np.isfinite(value(read_term(term), run, {}).log)
    for term in ("mu(X[L + 1])", "norm(W[L, 0], 2)", "norm(W[0, H], 2)", "dobrushin(P[L, 0])", "mu(X[L - 3])"):
        with pytest.raises(NoSuchPlace, match=r"in a network of 2 heads and 2 layers$"):
            value(read_term(term), run, {})


numbers = st.one_of(st.just(0.0), st.floats(1e-6, 1e6), st.floats(-1e6, -1e-6))


@pytest.mark.parametrize("claim", ["all_p(diameter(X[1], p) <= operator_norm(W[0,0], p))", "all_p(norm(X[0], p) <= 9)"])
@pytest.mark.parametrize("system", ["float64", "balls"])
def test_on_a_line_every_exponent_is_still_a_side(claim: str, system: str) -> None:
    net, X = rm.Network.random(tokens=3, dim=1, layers=1, seed=2), np.array([[1.0], [2.0], [4.5]])
    found = list(sides(read_formula(claim), Run(Balls() if system == "balls" else Float64(X), net, X)))
    assert len(found) == 3
    if "diameter" in claim:  # one side three times: ℓ_1, ℓ_2 and ℓ_∞ are one
        assert found[0] is found[1] is found[2]
        return
    lefts = [judged(side, 1, NUMBERS[system]).log_left[0] for side in found]
    assert np.allclose(np.exp(lefts), [7.5, math.sqrt(25.25), 4.5])  # of X as a matrix they differ


@given(numbers, numbers, numbers)
def test_signed_logarithms_err_by_no_more_than_their_largest_summand_says(x: float, y: float, z: float) -> None:
    """(x + y) z − y: `top` bounds the summands, so that the error is a small part of e^top."""
    a, b, c = (Signed.of(v) for v in (x, y, z))
    exact = (Fraction(x) + Fraction(y)) * Fraction(z) - Fraction(y)
    found = (a + b) * c - b
    largest = max(abs(x * z), abs(y * z), abs(y))
    assert float(found.floats()) == pytest.approx(float(exact), abs=1e-12 * largest)
    assert (float(found.top) == -math.inf) == (largest == 0)
    if largest:
        assert math.log(largest) - 1e-9 <= float(found.top) <= math.log(largest) + 2
    assert float((a - b).sign) == np.sign(x - y)
    assert float(a.max(b).floats()) == pytest.approx(max(x, y), rel=1e-12)
    assert float(a.min(b).floats()) == pytest.approx(min(x, y), rel=1e-12)
    if z:
        assert float((a / c).floats()) == pytest.approx(x / z, rel=1e-12)
    assert float(abs(-a).floats()) == pytest.approx(abs(x), rel=1e-12)


@given(st.floats(-60, 5))
def test_quotients_of_small_numbers_keep_their_digits(log: float) -> None:
    """log((e^x - 1)/x) and log(tanh(x)/x) against fifty digits: near 0 they are x/2 and -x²/3."""
    with mpmath.workdps(50):
        x = mpmath.exp(log)
        expc, tanhc = mpmath.log(mpmath.expm1(x) / x), mpmath.log(mpmath.tanh(x) / x)
    small = Signed(np.ones(()), np.asarray(log), np.asarray(log))
    assert float(small.expc().log) == pytest.approx(float(expc), rel=1e-7, abs=1e-14 if log > -18.5 else 0)
    assert float(small.tanhc().log) == pytest.approx(float(tanhc), rel=1e-7, abs=1e-14)


def test_what_has_no_value_is_no_number() -> None:
    minus, zero = Signed.of(-2.0), Signed.of(0.0)
    assert np.isnan(minus.sqrt().log)
    assert np.isnan((minus / zero).log)
    assert np.isnan(zero.power(Fraction(-1)).log)
    assert np.isnan(minus.logarithm().log)
    assert np.isnan(minus.expc().log)
    assert float(zero.power(Fraction(3)).floats()) == 0
    assert float(zero.power(Fraction(0)).floats()) == 1
    assert np.isnan((zero * Signed.of(np.nan)).log)
    assert np.isnan(Signed.of(np.nan).max(zero).log)


@given(st.fractions(0, 40), st.fractions(0, 1))
def test_quotients_of_balls_hold_those_of_every_member(low: Fraction, width: Fraction) -> None:
    box = arb(str(float(low))).union(arb(str(float(low + width))))
    for member in (float(low), float(low + width / 3), float(low + width)):
        expc = arb(member).expm1() / arb(member) if member else arb(1)
        tanhc = arb(member).tanh() / arb(member) if member else arb(1)
        assert ball_expc(box).overlaps(expc)
        assert ball_tanhc(box).overlaps(tanhc)
    for box in (arb(0.125, 0.25), arb(0, 1), arb(0.5, 0.5)):
        assert ball_expc(box).contains(1)
        assert ball_tanhc(box).contains(1)
    assert ball_expc(arb(0)) == 1
    assert ball_tanhc(arb(0)) == 1


def test_numbers_beyond_doubles_and_the_threshold_keep_their_digits() -> None:
    for number, log in (
        (Fraction(3) ** 1000, 1000 * math.log(3)),
        (Fraction(3**1000, 7**800), 1000 * math.log(3) - 800 * math.log(7)),
        (Fraction(1, 7**400), -400 * math.log(7)),
    ):
        assert float(Signed.exact(number).log) == pytest.approx(log, rel=1e-14)
    for system in NUMBERS:
        x = threshold(NUMBERS[system])
        x = float(x.floats() if isinstance(x, Signed) else x)
        assert x > 1
        assert math.expm1(x) == pytest.approx(2 * x, rel=1e-15)


@pytest.mark.parametrize(("mask", "radius", "in_degree"), [("window:1", 3, 3), ("hub", 1, 2), ("causal", 1, 6)])
def test_letters_of_masks(mask: str, radius: int, in_degree: int) -> None:
    """Six tokens: on a path the middle reaches all in three steps; all see a hub and themselves, it only itself."""
    seen = Mask(np.eye(6, dtype=bool) | (np.arange(6) == 0)) if mask == "hub" else as_mask(mask, 6)
    for L in range(1, 6):
        ones = np.ones((L, 1, 1, 1))
        run = Run(Float64(np.zeros(1)), rm.Network.from_arrays(ones, ones, mask=seen), np.ones((6, 1)))
        assert [run.letter(name) for name in ("r", "in_degree", "K")] == [radius, in_degree, math.ceil(L / radius)]


def test_quantities_of_all_layers() -> None:
    """Three layers: the product of all values; the constant of an MLP, with a skip of its own and without."""
    rng = np.random.default_rng(0)
    W_QK, W = rng.normal(size=(2, 3, 1, 2, 2))
    W_in, W_out = rng.normal(size=(2, 4)), rng.normal(size=(4, 2))
    maps = (None, rm.MLP(W_in, W_out, activation="tanh"), rm.MLP(W_in, W_out, activation="tanh", skip=True))
    run = Run(Float64(np.zeros(1)), rm.Network.from_arrays(W_QK, W, mlp=maps), rng.normal(size=(3, 2)))
    product = W[0, 0] @ W[1, 0] @ W[2, 0]
    assert float(value(read_term("product_norm(2)"), run, {}).floats()) == pytest.approx(np.linalg.norm(product, 2))
    for layer, M in ((1, abs(W_in) @ abs(W_out)), (2, abs(W_in) @ abs(W_out) + np.eye(2))):
        wanted = np.sqrt(np.linalg.norm(M, 1) * np.linalg.norm(M, np.inf))
        assert float(value(read_term(f"lipschitz({layer})"), run, {}).floats()) == pytest.approx(wanted)
    assert value(read_term("lipschitz(0)"), run, {}) == 1


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu", "gelu_tanh", "silu", "quick_gelu"])
def test_the_constant_of_a_map_is_the_steepest_slope_of_its_activation(activation: str) -> None:
    """x ↦ 3φ(2x) on a fine grid: nowhere steeper, and as steep somewhere."""
    f = rm.MLP(np.array([[2.0]]), np.array([[3.0]]), activation=activation)
    net = rm.Network.from_arrays(np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 1, 1)), skip=True, mlp=f)
    X = np.linspace(-3, 3, 2000)[:, None]
    steepest = float(np.abs(np.diff(rm.forward(net, X), axis=0) / np.diff(X, axis=0)).max())
    found = float(value(read_term("lipschitz(0)"), Run(Float64(np.zeros(1)), net, X), {}).floats())
    assert steepest <= found * (1 + 1e-9)
    assert found <= steepest * (1 + 1e-5)
    ball = value(read_term("lipschitz(0)"), Run(Balls(), net, X[:2]), {})
    assert float(ball) == pytest.approx(found, rel=1e-12)


def test_a_contraction_that_underflows_is_not_zero() -> None:
    ones = np.ones((1, 1, 1, 1))
    for apart, known in ((1e-3, True), (1e-170, False)):
        run = Run(Float64(np.zeros(1)), rm.Network.from_arrays(ones, ones), np.array([[0.0], [apart]]))
        found = value(read_term("contraction(0)"), run, {})
        assert bool(np.isnan(found.log)) != known


@pytest.mark.parametrize("middle", [-1.0, -0.25, 0.0, 0.5, -5.0])
def test_tanhc_of_a_ball_holds_that_of_every_member_on_either_side_of_zero(middle: float) -> None:
    found = ball_tanhc(arb(middle, 1.25))
    for t in (middle - 1.25, middle - 0.5, middle, middle + 1.25):
        expected = mpmath.tanh(t) / t if t else mpmath.mpf(1)
        assert float(found.lower()) <= float(expected) * (1 + 1e-14)
        assert float(found.upper()) >= float(expected) * (1 - 1e-14)


def test_the_zero_that_rounding_made_is_no_zero() -> None:
    """½ − ½ and what is made of it: products, powers, tanh, quotients, maxima stay in doubt."""
    noise = Signed.of(0.5) - Signed.of(0.5)
    assert (float(noise.sign), float(noise.log)) == (0, -math.inf)
    one, small = Signed.of(1.0), Signed.of(1e-12)
    for found in (noise * noise, noise.power(Fraction(3)), noise.sqrt(), noise.tanh(), noise / one, noise.max(small)):
        assert float(found.top) > math.log(1e-12)
    assert float(noise.max(one).top) == 0
    assert float((Signed.of(0.0) * noise).top) == -math.inf
    assert float(Signed.of(0.0).tanh().top) == -math.inf


def test_attention_that_rounding_made_equal_violates_nothing_in_float64() -> None:
    """Three layers of attention alone: rows of the last agree in doubles, and not in truth."""
    net = rm.Network.random(tokens=3, dim=2, heads=1, layers=4, seed=0)
    X = 1e-3 * net.random_input(seed=1)
    for key in ("own:transport", "own:positions-diameter"):
        assert rm.verify(key, net, X).outcome == "UNDECIDED"
        assert rm.verify(key, net, X, arithmetic="balls").outcome == "HOLDS"
    far = 100.0 * np.asarray([[-1.0], [1.0]])
    pair = rm.Network.from_arrays([[[[-1.0]]]], [[[[1.0]]]], mask="causal")
    assert rm.verify("own:second-token", pair, far).outcome == "UNDECIDED"


#: Numbers and layers so small that their logarithm leaves the doubles; all of these are false.
DEEP = [
    "2*exp(-exp(710)) <= exp(-exp(710))",
    "exp(-exp(710)) <= 0",
    "exp(-exp(709))**2 >= exp(-exp(709))**3*exp(exp(709))**2",
    "(2*exp(-exp(709)))**3 <= (exp(-exp(709)))**3",
    "exp(-exp(709))/exp(exp(709)) <= 0",
    "2*diameter(X[L], 1) <= diameter(X[L], 1)",
    "diameter(X[L], 1) <= 0",
    "diameter(X[L-1], 1)**2 <= diameter(X[L], 1)",
    "residual(X[L], inf)*2 <= residual(X[L], inf)",
]


@pytest.mark.parametrize("text", DEEP)
def test_what_is_too_small_for_a_logarithm_is_not_zero(text: str) -> None:
    net = rm.Network.random(tokens=4, dim=2, layers=640, seed=0)
    X = net.random_input(seed=1)
    found = rm.verify(Statement("mine:deep", text), net, X)
    assert found.outcome == Outcome.UNDECIDED, found
    assert "both sides 0" not in str(found)
    if "exp(709)" not in text:
        certified = rm.verify(Statement("mine:deep", text), net, X, arithmetic="balls")
        assert certified.outcome == Outcome.VIOLATED
        assert "1 to" not in str(certified)
        assert "sides 0" not in str(certified)


def test_one_token_after_700_layers_has_no_distance_at_all() -> None:
    net = rm.Network.random(tokens=1, dim=2, layers=700, seed=0)
    X = net.random_input(seed=1)
    assert rm.verify(Statement("mine:deep", "diameter(X[L], 1) <= 0"), net, X).outcome == Outcome.HOLDS


def test_the_rank_of_tokens_is_not_lost_where_they_come_together() -> None:
    """Three tokens on a line and two heads: of rank 3 after two layers, with singular values from 1 to 1e-29."""
    hypotheses = ("heads == 2", "layers == 2", "bias == none")
    claim = Statement("mine:rank", "rank(X[2]) <= 2*rank(X[0])", hypotheses)
    net = rm.Network.random(tokens=3, dim=3, heads=2, layers=2, seed=0)
    for size in (1.0, 0.1, 0.01, 0.001):
        X = size * np.outer([1.0, 2.0, 3.0], np.full(3, 0.5))
        for arithmetic in ("float64", "balls"):
            verdict = rm.verify(claim, net, X, arithmetic=arithmetic)
            assert (verdict.outcome, verdict.log_lhs) == (Outcome.VIOLATED, pytest.approx(np.log(3))), (
                size,
                arithmetic,
            )


@pytest.mark.parametrize("seed", range(40))
def test_the_rank_of_an_input_is_that_of_its_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 6, 2)
    r = int(rng.integers(0, min(n, d) + 1))
    X = rng.integers(-3, 4, (n, r)).astype(float) @ rng.integers(-3, 4, (r, d)).astype(float)
    run = Run(Float64(np.zeros(1)), rm.Network.random(tokens=int(n), dim=int(d), layers=1, seed=seed), X)
    found = value(read_term("rank(X[0])"), run, {})
    assert float(found.sign) * np.exp(float(found.log)) == pytest.approx(float(np.linalg.matrix_rank(X)))
