"""A proof says no: to false steps, to signs it does not see, and to a step that was broken afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from rankmath.formula.symbolic.proof import NotProved, Proof, Step, has_sign, is_zero

x = sp.Symbol("x", positive=True)
y = sp.Symbol("y", real=True)
n = sp.Symbol("n", integer=True, nonnegative=True)


@pytest.mark.parametrize(
    "identity",
    [
        (x + 1) ** 2 - x**2 - 2 * x - 1,
        sp.log(x**3) - 3 * sp.log(x),
        3 ** (n + 1) - 3 * 3**n,
        sp.tanh(x) - (sp.exp(2 * x) - 1) / (sp.exp(2 * x) + 1),
        sp.sin(y) ** 2 + sp.cos(y) ** 2 - 1,
    ],
)
def test_identities_are_seen_and_their_neighbours_are_not(identity):
    assert is_zero(identity)
    assert not is_zero(identity + sp.Rational(1, 10**9))


def test_an_identity_at_one_point_only_is_none():
    # The point at which differences are looked at first must not decide.
    point = sp.Rational(2, 5)
    assert not is_zero(x - point)


@pytest.mark.parametrize(
    ("expression", "nonnegative", "positive"),
    [
        (x, True, True),
        (y**2, True, False),
        (y, False, False),
        (x - 1, False, False),
        (x**2 - 2 * x + 1, True, False),
        ((2 * x + 1) / (x + 3), True, True),
        (-x, False, False),
        (sp.S.Zero, True, False),
    ],
)
def test_signs(expression, nonnegative, positive):
    assert has_sign(expression) is nonnegative
    assert has_sign(expression, strict=True) is positive


def test_definitions_apply_in_their_order():
    a, b = sp.symbols("a b")
    assert Step("a is b is x", a, "=", x, where={a: b, b: x}).holds()
    assert not Step("the other way round", a, "=", x, where={b: x, a: b}).holds()


def test_calculus_is_carried_out_when_the_step_is_run():
    assert Step("derivative", sp.Derivative(x**3, x), "=", 3 * x**2).holds()
    assert Step("integral", sp.Integral(3 * y**2, (y, 0, x)), "=", x**3).holds()
    assert Step("limit", sp.Limit(sp.sin(x) / x, x, 0, "+"), "=", 1).holds()
    assert not Step("limit", sp.Limit(sp.sin(x) / x, x, 0, "+"), "=", sp.Rational(100, 101)).holds()


def test_the_first_failing_step_is_named():
    good, bad = Step("fine", x, "=", x), Step("a slip", x, "=", x + 1)
    proof = Proof("a claim", (good, bad, bad))
    assert not proof.proved
    with pytest.raises(NotProved, match=r"a claim: step 2 is not proved: a slip: x = x \+ 1"):
        proof.check()
    assert Proof("a claim", (good,)).check().proved


def test_a_proof_can_be_broken_and_noticed():
    proof = Proof("growth", (Step("slope", 0, "<", sp.Derivative(x**2, x)),)).check()
    assert not replace(proof, steps=(replace(proof.steps[0], relation="="),)).proved


def test_latex_holds_claim_and_steps():
    step = Step("slope", sp.Derivative(x**2, x), "=", 2 * x, where={y: 1 + x})
    text = Proof("growth", (step,)).latex({x: r"\xi"})
    assert r"\paragraph{growth}" in text
    assert r"\frac{d}{d \xi} \xi^{2} = 2 \xi" in text
    assert text.count(r"\item") == 1
