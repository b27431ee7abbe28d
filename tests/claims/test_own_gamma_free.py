"""own:gamma-free and own:composite: their constants, and the family on which they are reached."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankmath.claims.own_gamma_free import three_keys
from rankmath.decide.battery import verify
from rankmath.verification.verdict import Outcome

LIMITS = {
    "own:gamma-free-sharp": 1.0,
    "own:gamma-free-one-head": math.sqrt(16 / 27),
    "own:gamma-free": math.sqrt(16 / 27),
    "own:composite": math.sqrt(32 / 27) / 2,
    "dong2021:2.2": math.sqrt(32 / 27) / 4,
    "dong2021:2.3": math.sqrt(32 / 27) / 4,
}


@pytest.mark.parametrize("key", LIMITS)
def test_three_keys_reach_the_limit_as_idle_tokens_grow(key: str) -> None:
    ratios = []
    for idle in (10, 100, 800):
        instance = three_keys(idle, 2.0**-16)
        verdict = verify(key, instance.net, instance.X)
        assert verdict.outcome == Outcome.HOLDS
        ratios.append(verdict.ratio)
    assert ratios == sorted(ratios)
    assert LIMITS[key] * (1 - 1e-3) < ratios[-1] < LIMITS[key]


def test_balls_certify_the_sharp_constant_near_its_limit() -> None:
    instance = three_keys(40, 2.0**-12)
    verdict = verify("own:gamma-free-sharp", instance.net, instance.X, arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.certified
    assert verdict.ratio > 0.99


@st.composite
def heads(draw):
    """Logits E with column sums of |E| at most ε, and weights q."""
    rows, keys = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    E = draw(arrays(float, (rows, keys), elements=st.floats(-1, 1)))
    size = np.abs(E).sum(axis=0).max()
    assume(size > 1e-3)
    c = draw(arrays(float, keys, elements=st.floats(-3, 3)))
    return E / size * 10 ** draw(st.floats(-4, 0.5)), np.exp(c) / np.exp(c).sum()


@given(heads())
def test_columns_times_rows_of_the_attention(head):
    E, q = head
    size = np.abs(E).sum(axis=0).max()
    delta = (E.max(axis=1) - E.min(axis=1)).max()
    assume(delta > 1e-9)
    m = np.expm1(E)
    mean = (m @ q)[:, None]
    Q = np.abs(q * (m - mean) / (1 + mean))
    kappa = math.expm1(delta) / delta
    product = Q.sum(axis=0).max() * Q.sum(axis=1).max() / (q.max() * size**2)
    assert product <= kappa * (32 / 27 * kappa + 2 * (kappa - 1)) * (1 + 1e-9)
    assert product <= 2 * kappa * math.tanh(delta / 4) / (delta / 4) * (1 + 1e-9)


def test_the_maximum_of_the_proof_is_32_over_27():
    nu, s = np.meshgrid(np.linspace(0, 1, 601), np.linspace(0, 1, 601))
    inside = nu <= s
    values = np.where(inside, (1 - nu) * (s + nu) * (2 + nu - s), 0)
    assert values.max() == pytest.approx(32 / 27, abs=1e-5)
    at = np.unravel_index(values.argmax(), values.shape)
    assert (nu[at], s[at]) == (pytest.approx(1 / 3, abs=2e-3), 1)
