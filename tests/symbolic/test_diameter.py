"""O1 and O2: maxima, and constants that cannot be moved."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from rankmath.symbolic.diameter import (
    cubic_form,
    linearised,
    mass_gained,
    prove_cubic_form,
    prove_residual_form,
    prove_tanh_below_identity,
    prove_tanh_form,
    prove_total_variation,
    residual_tanh_form,
    tanh_form,
    total_variation,
)
from rankmath.symbolic.letters import W_QK, W_V, D, d_qk, diameter, residual
from rankmath.symbolic.proof import NotProved

NEAR = sp.Rational(400, 401)  # 1/4.01 instead of 1/4


def test_forms_are_those_of_the_theorem():
    assert total_variation() == sp.tanh(D / 4)
    assert tanh_form() == W_V * diameter * sp.tanh(W_QK * diameter**2 / (4 * sp.sqrt(d_qk)))
    assert cubic_form() == W_V * W_QK * diameter**3 / (4 * sp.sqrt(d_qk))
    assert linearised(residual_tanh_form()) == W_V * W_QK * residual**3 / sp.sqrt(d_qk)


@given(s=st.floats(1e-6, 1 - 1e-6), k=st.floats(1.0, 1e4))
def test_no_set_gains_more_than_the_total_variation(s, k):
    # σ(logit s + D) - s by its definition, D = 2 log k.
    shift = 2 * math.log(k)
    gain = 1 / (1 + (1 - s) / s * math.exp(-shift)) - s
    assert gain <= math.tanh(shift / 4) + 1e-12
    best = 1 / (1 + k)
    assert 1 / (1 + (1 - best) / best * math.exp(-shift)) - best == pytest.approx(math.tanh(shift / 4), abs=1e-12)


def test_gained_mass_is_the_logistic_difference():
    s, k = sp.Rational(1, 5), sp.Integer(3)
    odds = k**2 * s / (1 - s)
    assert mass_gained(s, k) == odds / (1 + odds) - s


@pytest.mark.parametrize("broken", [sp.tanh(NEAR * D / 4), NEAR * sp.tanh(D / 4), D / 4, sp.tanh(D / 2) / 2])
def test_another_total_variation_is_refused(broken):
    with pytest.raises(NotProved, match="step 1"):
        prove_total_variation(broken)


def test_proofs_hold_when_run_again():
    for proof in (
        prove_total_variation(total_variation()),
        prove_tanh_below_identity(),
        prove_tanh_form(tanh_form()),
        prove_cubic_form(cubic_form()),
        prove_residual_form(linearised(residual_tanh_form())),
    ):
        assert proof.proved
        assert proof.steps


def test_broken_forms_are_refused():
    with pytest.raises(NotProved):
        prove_tanh_form(tanh_form().subs(W_QK, NEAR * W_QK))
    with pytest.raises(NotProved, match="ratio"):
        prove_cubic_form(NEAR * cubic_form())
    with pytest.raises(NotProved, match="ratio"):
        prove_cubic_form(cubic_form() / NEAR)
    with pytest.raises(NotProved, match="ratio"):
        prove_residual_form(NEAR * linearised(residual_tanh_form()))


@given(a=st.floats(0.01, 3), w=st.floats(-3, 3), v=st.floats(-3, 3), keys=st.integers(1, 64))
def test_two_tokens_attain_the_bound_in_floats(a, w, v, keys):
    # An independent computation: the layer with exponentials, the bound with tanh.
    s = w * a * a / math.sqrt(keys)
    p = 1 / (1 + math.exp(-2 * s))
    top = v * (p * a - (1 - p) * a)
    spread = 2 * a
    bound = abs(v) * spread * math.tanh(abs(w) * spread**2 / (4 * math.sqrt(keys)))
    assert abs(2 * top) == pytest.approx(bound, rel=1e-12, abs=1e-14)
