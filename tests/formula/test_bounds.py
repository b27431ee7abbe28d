"""Bounds by key: their closed forms, their letters, and the same number in three arithmetics."""

from __future__ import annotations

import math
import zlib
from dataclasses import FrozenInstanceError
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import bound, statements
from rankmath.formula import read_term
from rankmath.formula.evaluate import value
from rankmath.formula.numbers import Signed
from rankmath.formula.printing import text
from rankmath.formula.symbolic import quantities as letters
from rankmath.formula.symbolic.from_formula import symbol
from rankmath.formula.terms import Call, Letter, relations, replaced, walk
from rankmath.validation import InvalidArgument

#: Statements whose bound is an expression in letters of its own.
KEYS = [
    key
    for key, entry in statements().items()
    if not entry.exact
    and entry.quantifier == "all"
    and relations(entry.formula)
    and not set(entry.functions) & {"prod_l", "prod_k", "max", "min", "recursion"}
    and "all_h" not in entry.claim_text
]

# Letters that are whole, or bounded by another one; every other letter has a number between 1/4 and 1 of its own.
POINT = {"L": 3, "H": 2, "d_qk": 5, "n": 5, "r": 2, "shift_tokens": 5, "shift_rank": 3}
POINT |= {"center_count": 3, "farthest": 2}
POINT |= {
    "first_value": 2.0,
    "second_value": 1.9375,
    "least_value": 1.5,
    "kappa": 1.625,
    "row_mu": 1.25,
    "epsilon": 0.25,
    "diameter": 0.25,
    "residual": 0.3,
    "least_root": 1.5,
}


def drawn(name):
    return 0.25 + zlib.crc32(name.encode()) % 48 / 64


def point(key, **changes):
    values = {}
    for quantity in bound(key).quantities:
        name = quantity.name
        value = POINT.get(name, drawn(name))
        if not quantity.per_head and not quantity.domain.contains(value):
            value += float(quantity.domain.start)
        values[name] = [drawn(name), drawn(name) / 8] if quantity.per_head else value
    return values | changes


def test_a_recursion_has_the_bound_of_its_closed_form():
    assert bound("own:diameter").key == "own:diameter-cubic"


def test_closed_forms_as_printed():
    L, d, r = letters.L, sp.sqrt(symbol("d_qk")), symbol("residual")
    gamma, beta, B, H = (symbol(name) for name in ("gamma_star", "beta", "B", "H"))
    cubic = {
        "dong2021:2.2": 4 * gamma * beta / d,
        "dong2021:2.3": 4 * gamma * B / d,
        "dong2021:2.3-printed": 4 * gamma * beta * H / d,
        "dong2021:3.2": 4 * gamma * B * symbol("lambda_f") / d,
        "dong2021v1:2.2": 4 * beta / d,
        "dong2021v1:2.3": 4 * beta * H / d,
        "own:composite": 2 * gamma * B / d,
        "own:residual-inf": symbol("omega") / d,
    }
    for key, c in cubic.items():
        assert sp.simplify(sp.log(bound(key).expression / (c ** ((3**L - 1) / 2) * r ** (3**L)))) == 0
    c = symbol("omega") / (4 * d)
    form = c ** ((3**L - 1) / 2) * symbol("diameter") ** (3**L)
    assert sp.simplify(sp.log(bound("own:diameter").expression / form)) == 0
    assert bound("dong2021:A.3").expression == 2 * symbol("osc_E")
    assert bound("dong2021:A.3", 1).expression == symbol("osc_E")


@pytest.mark.parametrize("key", KEYS)
def test_letters_are_explained_and_complete(key):
    b = bound(key)
    names = {str(s) for s in b.expression.free_symbols if not isinstance(s, sp.Indexed)} - {"h"}
    if any(quantity.per_head for quantity in b.quantities):
        names -= {"H"}  # the number of values given
    assert names == set(b.symbols)
    assert all(meaning for meaning in b.symbols.values())
    assert b.hypothesis
    assert b.latex()
    assert b.key == key
    with pytest.raises(TypeError):
        b.symbols["L"] = "something else"
    with pytest.raises(FrozenInstanceError):
        b.key = "other"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("log", [True, False])
def test_three_arithmetics_agree(key, log):
    values = point(key)
    as_float = bound(key).evaluate(log=log, **values)
    as_mpf = bound(key).evaluate(arithmetic="mpmath", dps=60, log=log, **values)
    ball = bound(key).evaluate(arithmetic="balls", bits=120, log=log, **values)
    assert isinstance(as_float, float)
    assert ball.rel_one_accuracy_bits() >= 118
    assert ball.contains(arb(as_mpf)) or ball == arb(as_mpf)
    with mpmath.workdps(60):
        assert abs(as_mpf - as_float) <= abs(as_mpf) * mpmath.mpf(2) ** -52


@pytest.mark.parametrize("key", KEYS)
def test_sympy_itself_agrees(key):
    # subs, then sympy's own numerical evaluation: neither the walk nor the balls.
    values = point(key)
    peer = bound(key).subs(**values).evalf(40)
    found = bound(key).evaluate(arithmetic="mpmath", dps=50, log=False, **values)
    with mpmath.workdps(50):
        assert abs(found / mpmath.mpf(str(peer)) - 1) < mpmath.mpf("1e-35")


CUBIC = (
    "dong2021:2.2",
    "dong2021:2.3",
    "dong2021:3.2",
    "dong2021v1:2.2",
    "dong2021v1:2.3",
    "own:diameter-cubic",
    "own:residual-inf",
)


@pytest.mark.parametrize("key", CUBIC)
def test_depth_600_is_finite_and_exact(key):
    values = point(key, L=600)
    found = bound(key).evaluate(**values)
    assert math.isfinite(found)
    assert abs(found) > 1e280
    # Independently: 3^600 exactly, logarithms in mpmath.
    with mpmath.workdps(400):
        one = bound(key).evaluate(arithmetic="mpmath", dps=350, **(values | {"L": 1}))
        start = mpmath.log(values.get("residual", values.get("diameter")))
        log_c = one - 3 * start
        expected = (3**600 - 1) // 2 * log_c + 3**600 * start
        assert abs(found / expected - 1) < mpmath.mpf(2) ** -52


def test_beyond_the_doubles():
    down = {"beta": 1, "d_qk": 16, "residual": 0.5}
    up = down | {"residual": 2}
    v1 = bound("dong2021v1:2.2")
    assert v1.evaluate(L=10_000, **down) == -math.inf
    assert v1.evaluate(L=10_000, **up) == math.inf
    deep = v1.evaluate(L=10_000, arithmetic="mpmath", dps=30, **down)
    with mpmath.workdps(40):
        assert abs(deep / (3**10_000 * mpmath.log(0.5)) - 1) < mpmath.mpf("1e-28")
    ball = v1.evaluate(L=10_000, arithmetic="balls", bits=100, **down)
    assert ball.contains(arb(v1.evaluate(L=10_000, arithmetic="mpmath", dps=60, **down)))
    assert v1.evaluate(L=600, log=False, **down) == 0.0
    assert v1.evaluate(L=600, log=False, **up) == math.inf


@given(depth=st.integers(0, 646), shift=st.integers(-20, 20))
def test_the_sign_near_the_threshold_is_right(depth, shift):
    # c a² = (1 + shift 2^-40)²: the two terms of the logarithm cancel almost entirely.
    residual = Fraction(1, 2) * (1 + Fraction(shift, 2**40))
    value = bound("dong2021v1:2.2").evaluate(L=depth, beta=1, d_qk=1, residual=residual)
    # log bound = 3^L log(1 + shift 2^-40) - log 2.
    with mpmath.workdps(360):
        expected = 3**depth * mpmath.log1p(mpmath.mpf(shift) / 2**40) - mpmath.log(2)
        assert abs(value - expected) <= abs(expected) * mpmath.mpf(2) ** -52


def test_zero_weights_and_zero_residuals():
    b = bound("own:diameter")
    values = point("own:diameter-cubic")
    assert b.evaluate(**(values | {"omega": 0})) == -math.inf
    assert b.evaluate(**(values | {"diameter": 0})) == -math.inf
    assert b.evaluate(**(values | {"omega": 0}), log=False) == 0.0
    # No layer, no weights: the bound is the diameter itself.
    assert b.evaluate(**(values | {"omega": 0, "L": 0}), log=False) == 0.25
    assert b.evaluate(**(values | {"omega": 0}), arithmetic="mpmath") == mpmath.mpf("-inf")
    assert float(b.evaluate(**(values | {"omega": 0}), arithmetic="balls")) == -math.inf
    assert bound("own:gamma-free").evaluate(**point("own:gamma-free", eta=0), log=False) > 0


def test_the_limit_of_o3_at_zero_is_continuous():
    for key in ("own:gamma-free", "own:gamma-free-one-head"):
        at_zero = bound(key).evaluate(**point(key, eta=0))
        for tiny in (1e-12, 1e-200, 5e-324):
            assert bound(key).evaluate(**point(key, eta=tiny)) == pytest.approx(at_zero, abs=2 * tiny + 1e-15)


def test_balls_as_values_are_carried_through():
    key = "dong2021:2.3"
    with ctx.workprec(100):
        wide = arb(0.3, 1e-6)
    ball = bound(key).evaluate(arithmetic="balls", **point(key, residual=wide))
    for inside in (0.3, 0.3 + 9e-7, 0.3 - 9e-7):
        exact = bound(key).evaluate(arithmetic="balls", bits=200, **point(key, residual=inside))
        assert ball.contains(exact)
    assert ball.rad() < 1e-3
    # At depth 20 the ball of the logarithm is wide, and still an enclosure.
    deep = bound(key).evaluate(arithmetic="balls", **point(key, residual=wide, L=20))
    assert deep.rad() > 1
    assert deep.contains(bound(key).evaluate(arithmetic="balls", **point(key, L=20)))
    with pytest.raises(ValueError, match="arithmetic='balls' is needed"):
        bound(key).evaluate(**point(key, residual=wide))
    with pytest.raises(ValueError, match="residual: a ball given"):
        bound(key).subs(residual=wide)


def test_numbers_of_many_kinds_are_read_exactly():
    key = "own:tv"
    expected = bound(key).evaluate(osc=0.5)
    for same in (Fraction(1, 2), np.float64(0.5), np.float32(0.5), sp.Rational(1, 2), mpmath.mpf(0.5)):
        assert bound(key).evaluate(osc=same) == expected
    assert bound(key).evaluate(osc=np.int64(2)) == bound(key).evaluate(osc=2)
    heads = point("dong2021:3.3")
    arrays = {name: np.array(value) if isinstance(value, list) else value for name, value in heads.items()}
    assert bound("dong2021:3.3").evaluate(**arrays) == bound("dong2021:3.3").evaluate(**heads)


@pytest.mark.parametrize(
    ("key", "changes", "message"),
    [
        ("own:tv", {"osc": -1}, r"osc: -1 given; a number in \[0, inf\) is needed"),
        ("own:tv", {"osc": math.nan}, r"osc: nan given; a number in \[0, inf\)"),
        ("own:tv", {"osc": math.inf}, r"osc: inf given; a number in \[0, inf\)"),
        ("own:tv", {"osc": "1"}, r"osc: '1' given"),
        ("own:tv", {"osc": True}, r"osc: True given"),
        ("own:tv", {"osc": None}, r"osc: None given"),
        ("own:tv", {"osc": 1 + 1j}, r"osc: \(1\+1j\) given"),
        ("own:tv", {"osc": arb(0, 1)}, r"osc: .* given; a number in \[0, inf\)"),
        ("own:tv", {"E": 1}, r"E: no letter of own:tv; its letters are osc"),
        ("own:diameter-cubic", {"L": -1}, r"L: -1 given; a whole number of at least 0"),
        ("own:diameter-cubic", {"L": 2.0}, r"L: 2.0 given; a whole number"),
        ("own:diameter-cubic", {"L": 10**7}, r"L: 10000000 given; a whole number of at least 0 and at most 1000000"),
        ("own:diameter-cubic", {"L": 10**5000}, r"L: .* given; a whole number"),
        ("own:diameter-cubic", {"d_qk": 0}, r"d_qk: 0 given; a number in \(0, inf\)"),
        ("own:diameter-cubic", {"omega": -0.5}, r"omega: -0.5 given; a number in \[0, inf\)"),
        ("dong2021:3.3", {"form_norm_W_QK": 0.5}, r"form_norm_W_QK: 0.5 given; a list with a number for each head"),
        ("dong2021:3.3", {"form_norm_W_QK": []}, r"form_norm_W_QK: \[\] given; a list"),
        ("dong2021:3.3", {"form_norm_W_QK": [1, -1]}, r"form_norm_W_QK\[1\]: -1 given"),
        ("dong2021:3.3", {"form_norm_W_QK": [1, 2, 3]}, r"one number for each head is needed, but"),
    ],
)
def test_bad_values_are_refused_by_name(key, changes, message):
    with pytest.raises(ValueError, match=message):
        bound(key).evaluate(**point(key, **changes))


def test_missing_values_are_named_with_their_meaning():
    with pytest.raises(ValueError, match=r"own:diameter-cubic: no value given for L \(number of layers\); diameter \("):
        bound("own:diameter").evaluate(omega=1, d_qk=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arithmetic": "double"}, "arithmetic: 'double' given; allowed are 'float', 'mpmath', 'balls'"),
        ({"dps": 0}, "dps: 0 given"),
        ({"bits": 1.5}, "bits: 1.5 given"),
        ({"log": 1}, "log: 1 given"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        bound("own:tv").evaluate(osc=1, **options)


@pytest.mark.parametrize("key", ["own:nothing", None, 3, "OWN:TV"])
def test_unknown_keys_are_refused_with_the_list(key):
    with pytest.raises(ValueError, match=r"^key: .* given; (`rankmath list` shows all|did you mean)"):
        bound(key)


@pytest.mark.parametrize(
    ("part", "message"),
    [(1, r"^part: 1 given; the claim has one relation, part 0$"), (-1, "^part: -1 given"), ("a", "^part: 'a' given")],
)
def test_a_part_that_a_claim_does_not_have_is_refused_as_such(part, message):
    with pytest.raises(InvalidArgument, match=message):
        bound("own:diameter", part)


def test_subs_takes_numbers_and_expressions():
    b = bound("own:diameter")
    x = sp.Symbol("x", positive=True)
    assert sp.simplify(b.subs(L=1, d_qk=4) - symbol("omega") * symbol("diameter") ** 3 / 8) == 0
    assert sp.simplify(b.subs(L=1, d_qk=4, omega=2 * x) - x * symbol("diameter") ** 3 / 4) == 0
    assert b.subs(L=0) == symbol("diameter")
    assert sp.simplify(b.subs(L=sp.Integer(1), omega=sp.sqrt(2), d_qk=2) - symbol("diameter") ** 3 / 4) == 0
    tanh = bound("dong2021:3.3").subs(normalised_norm_W=[1, 2], form_norm_W_QK=[4, 8], d_qk=1)
    spread = symbol("diameter")
    assert sp.simplify(tanh - spread * (sp.tanh(spread**2) + 2 * sp.tanh(2 * spread**2))) == 0
    with pytest.raises(ValueError, match="L: 600 given; subs writes 3"):
        b.subs(L=600)
    with pytest.raises(ValueError, match="no letter"):
        b.subs(M=1)
    with pytest.raises(ValueError, match="form_norm_W_QK: x given; a list"):
        bound("dong2021:3.3").subs(form_norm_W_QK=x)


def test_precision_is_left_as_it_was():
    before = ctx.prec, mpmath.mp.prec
    for arithmetic in ("float", "mpmath", "balls"):
        bound("dong2021:2.3").evaluate(arithmetic=arithmetic, **point("dong2021:2.3", L=200))
        with pytest.raises(ValueError, match="osc"):
            bound("own:tv").evaluate(arithmetic=arithmetic, osc=-1)
    assert (ctx.prec, mpmath.mp.prec) == before


def test_a_bound_of_one_head_at_a_time_has_no_value_of_its_letters():
    with pytest.raises(InvalidArgument, match="of one head at a time"):
        bound("own:consensus-spectrum").evaluate(**point("own:consensus-spectrum"))


def test_what_is_summed_over_heads_is_no_value_of_one_head():
    found = bound("own:transport")
    assert str(found.expression) == "diameter*prod_l"
    assert found.latex().endswith(r"\prod_{l} \sum_{h} \|W^{l,h}\|_{\ell_{p}}\,\tau(P^{l,h})")
    assert found.evaluate(log=False, diameter=2, prod_l=Fraction(1, 2)) == pytest.approx(1)


#: What the letters that a claim binds are on an instance.
FIXED = {"p": Letter("2"), "l": read_term("0"), "h": read_term("0"), "i": read_term("0")}


def measured(term, run, entry, **changes):
    """A term of a statement on an instance, as a double."""
    for _ in entry.where:
        term = replaced(term, dict(entry.where))
    calls = {part.function for part in walk(term) if isinstance(part, Call)}
    # What a sum or a product binds is no letter of the claim; a recursion goes through the layers.
    within = {name[-1] for name in calls if name[-2:] in ("_h", "_l", "_i")} | {
        "l" for name in calls if name == "recursion"
    }
    free = {
        name: number for name, number in (FIXED | changes).items() if name not in entry.arrays and name not in within
    }
    found = value(replaced(term, free), run, {})
    if not isinstance(found, Signed):
        return float(found)
    return float(found.sign) * math.exp(float(found.log)) if found.sign else 0.0


def inequalities(entry):
    return [] if entry.exact else [part for part in relations(entry.formula) if part.operator != "=="]


@pytest.mark.parametrize(
    "key", [key for key, entry in statements().items() if entry.quantifier == "all" and inequalities(entry)]
)
def test_a_bound_is_the_right_side_on_an_instance(key):
    """Each letter's own meaning, measured on an instance: sympy's number is that of the statement's right side."""
    entry = statements()[key]
    run = entry.run(Float64(np.zeros(1)), entry.draws[0](np.random.default_rng(1), 2).select(0))
    for found, part in zip(entry.bounds(), inequalities(entry), strict=True):
        summed = any(isinstance(term, Call) and term.function == "sum_h" for term in walk(part.right))
        expected = measured(part.right, run, entry)
        terms = {text(term): term for term in walk(part.right)}
        values = {}
        for quantity in found.quantities:
            said = quantity.meaning.split(": ")[0]
            term = terms.get(said, Letter(quantity.name))
            heads = range(run.net.heads) if quantity.per_head and summed else (0,)
            each = [measured(term, run, entry, h=read_term(str(h))) for h in heads]
            whole = round(each[0]) if quantity.integer else each[0]
            values[quantity.name] = each if quantity.per_head else whole
            if not quantity.domain.contains(Fraction(min(each))):
                assert key in NOT_MET
                return
        if any(quantity.per_head for quantity in found.quantities) and not summed:
            with pytest.raises(InvalidArgument, match="of one head at a time"):
                found.evaluate(log=False, **values)
        else:
            assert found.evaluate(log=False, **values) == pytest.approx(expected, rel=1e-9, abs=0), key


#: The instance that is drawn does not meet their hypothesis on a letter.
NOT_MET = {"own:flow-step", "own:flow-step-usa", "geshkovski2023:step"}
