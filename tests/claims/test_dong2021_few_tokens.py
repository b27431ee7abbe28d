"""One head and few tokens: the inequalities behind the theorem, and the boxes that prove it for 3534 tokens."""

from __future__ import annotations

import itertools
import math

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from rankmath.arithmetic.balls import precision
from rankmath.claims.dong2021_few_tokens import FEW_TOKENS, _decided, _needed, _root, prove


def test_the_bound_of_2021_is_true_for_3534_tokens_and_the_boxes_stop_there():
    assert FEW_TOKENS == 3534
    assert prove(FEW_TOKENS) < 2000
    with pytest.raises(ValueError, match="tokens: 3536 given; not decided near B = 10"):
        prove(3536)


@pytest.mark.parametrize("B", [8, 10, 12])
@pytest.mark.parametrize(("share", "decided"), [(0.95, True), (1.05, False)])
def test_many_tokens_are_decided_up_to_half_of_c_and_not_beyond(B, share, decided, monkeypatch):
    """Rows of P − 1qᵀ are at most 2 long, Σ(1 − b) reaches r = (1 − q)(e^B − 1) as n grows: qr + B/2 ≤ C/2."""
    monkeypatch.setattr(flint.ctx, "cap", 2)
    q = (1 + math.sqrt(1 - 4 * (share * 8 * B * B - B / 2) / math.expm1(B))) / 2
    with precision(64):
        assert _decided(10**7, arb(B), arb(q)) is decided


@pytest.mark.parametrize("lone", [True, False])
def test_the_resource_is_the_integral(lone):
    n, B, q, slop = 3534, 10.4, 0.87, 0.25
    rho = q if lone else 1.0

    def g(t):
        return (16 * B * B / (1 + rho * t) - slop * B) / q

    lam = _root(n, B, q, slop, lone)
    whole = g(1) + quad(lambda t: max(0.0, g(t) + g(1) - n * (1 - t)) / t**3, lam, 1)[0]
    assert float(_needed(n, arb(B), arb(q), slop, arb(lam), lone)) == pytest.approx(whole, rel=1e-9)
    for other in (0.8 * lam, min(1.0, 1.2 * lam)):  # the best λ
        assert float(_needed(n, arb(B), arb(q), slop, arb(other), lone)) < whole


@given(arrays(float, st.integers(2, 12), elements=st.floats(0.01, 1)), st.floats(0.05, 1))
def test_spread_values_cost_the_integral(b, lam):
    # Σ(1/b − 1) = Σ(1 − b) + ∫ 2t⁻³ Σ(t − b)⁺ dt, and 2(t − b)⁺ = |b − t| + t − b.
    S = (1 - b).sum()
    edges = np.sort(np.concatenate([b[b > lam], [lam, 1.0]]))
    integral = sum(
        quad(lambda t: (np.abs(b - t).sum() + S - len(b) * (1 - t)) / t**3, low, high)[0]
        for low, high in itertools.pairwise(edges)
    )
    assert S + integral <= (1 / b - 1).sum() * (1 + 1e-9) + 1e-9


@st.composite
def rows(draw):
    """Logits E of n rows with column sums of |E| at most B, weights q, and what the proof makes of them."""
    n = draw(st.integers(2, 6))
    E = draw(arrays(float, (n, n), elements=st.floats(-1, 1)))
    size = np.abs(E).sum(axis=0).max()
    assume(size > 1e-3)
    B = draw(st.floats(0.1, 14))
    c = draw(arrays(float, n, elements=st.floats(-6, 6)))
    q = np.exp(c - c.max())
    return E / size * B, q / q.sum(), B


@given(rows(), st.floats(0, 1))
def test_columns_about_a_multiple_of_the_weights(instance, lam):
    E, q, B = instance
    n, k = len(q), int(q.argmax())
    logits = np.log(q) + E
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    others = np.arange(n) != k
    Y = (q[others] * np.exp(E[:, others])).sum(axis=1) / q[others].sum()
    b = 1 / np.maximum(1, q[k] + (1 - q[k]) * Y)
    assert (1 / b - 1).sum() <= (1 - q[k]) * math.expm1(B) * (1 + 1e-9)
    columns = np.abs(P - lam * q).sum(axis=0)
    assert columns[k] <= B / 2 + q[k] * np.abs(b - lam).sum() + 1e-9
    assert (columns <= B + q * np.abs(b - lam).sum() + 1e-9).all()
    assert np.abs(P - lam * q).sum(axis=1).max() <= 1 + lam + 1e-12
    lone = lam * q * (np.arange(n) == k)
    assert np.abs(P - lone).sum(axis=1).max() <= 1 + lam * q[k] + 1e-12
