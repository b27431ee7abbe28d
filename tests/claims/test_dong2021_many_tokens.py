"""The layers that violate the bounds of 2021 and 2023: closed forms against dense layers, and every center."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from rankmath.attention.plain import forward
from rankmath.claims.dong2021_many_tokens import (
    Kinds,
    LoneQuery,
    MeanKinds,
    TokenKinds,
    about_the_mean,
    counterexample,
    lone_query,
)
from rankmath.claims.dong2021_two_heads import FourKeys, TwoHeads, four_keys, two_tokens
from rankmath.linalg.residuals import residual

eighths = st.integers(0, 64).map(lambda k: Fraction(k, 8))
gains = eighths.map(lambda x: x + Fraction(1, 8))
small_kinds = st.builds(
    lambda active, idle, gain, sink, guards, share: TokenKinds(
        active, idle, gain, sink, ((guards[0], share * gain), (guards[1], (1 - share) * gain))
    ),
    active=st.lists(st.tuples(st.integers(1, 3), eighths), min_size=1, max_size=3).map(tuple),
    idle=st.integers(0, 6),
    gain=gains,
    sink=eighths,
    guards=st.tuples(eighths, eighths),
    share=st.integers(0, 8).map(lambda k: Fraction(k, 8)),
)
mean_kinds = st.builds(
    MeanKinds,
    active=st.integers(1, 4),
    idle=st.integers(0, 4),
    gain=gains,
    sink_logit=eighths,
    active_logit=eighths,
    guard_logit=eighths,
)
four = st.builds(
    lambda r, idle, gain, push: FourKeys(r * r, Fraction(1, r), idle, gain, push),
    st.integers(2, 5),
    st.integers(0, 30),
    st.integers(1, 40).map(lambda k: Fraction(k, 64)),
    eighths,
)


def one(A: np.ndarray) -> float:
    return float(np.abs(A).sum(axis=0).max())


def inf(A: np.ndarray) -> float:
    return float(np.abs(A).sum(axis=1).max())


def composite(A: np.ndarray) -> float:
    return math.sqrt(one(A) * inf(A))


def dense(kinds: Kinds) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, the heads' W_QK/√d_qk and W, E with center 0, and SA(X), all by their definitions."""
    net, X = kinds.network(), kinds.input()
    root = math.sqrt(net.d_qk)
    W_QK = net.query[0] if net.key is None else net.query[0] @ net.key[0].transpose(0, 2, 1)
    W = net.value[0] if net.output is None else net.value[0] @ net.output[0]
    E = X @ W_QK @ X.T / root
    logits = E if net.key_bias is None else E + (net.key_bias[0] @ X.T / root)[:, None, :]
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    P = weights / weights.sum(axis=2, keepdims=True)
    return X, W_QK / root, W, E, (P @ X @ W).sum(axis=0)


def bound(kinds: Kinds, *, gamma: bool = False) -> float:
    """(4γβH/√d_qk) ‖X‖³_{1,∞} with the center 0, γ = 1 or γ_*."""
    X, W_QK, W, E, _ = dense(kinds)
    beta = max(one(A) * composite(B) for A, B in zip(W_QK, W, strict=True))
    factor = 1.0
    if gamma:
        net = kinds.network()
        common = (
            np.zeros((len(W), kinds.tokens)) if net.key_bias is None else net.key_bias[0] @ X.T / math.sqrt(net.d_qk)
        )
        q = np.exp(common - common.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        D = E.max(axis=2) - E.min(axis=2)
        factor = max(math.sqrt(D[h].sum() * q[h].max() / D[h].max()) for h in range(len(W)))
    return 4 * factor * len(W) * beta * composite(X) ** 3


def least_one(Y: np.ndarray, inf_at_most: float) -> float:
    """min ‖Y − 1cᵀ‖₁ over the c with ‖Y − 1cᵀ‖_∞ ≤ inf_at_most, a linear program in (c, |Y − 1cᵀ|, value)."""
    n, d = Y.shape
    cells = eye_array(n * d)
    spread = kron(np.ones((n, 1)), eye_array(d))
    nothing = csr_array((n * d, 1))
    A = vstack(
        [
            hstack([spread, -cells, nothing]),
            hstack([-spread, -cells, nothing]),
            hstack([csr_array((d, d)), kron(np.ones((1, n)), eye_array(d)), -np.ones((d, 1))]),
            hstack([csr_array((n, d)), kron(eye_array(n), np.ones((1, d))), csr_array((n, 1))]),
        ]
    )
    b = np.concatenate([Y.ravel(), -Y.ravel(), np.zeros(d), np.full(n, inf_at_most)])
    free = [(None, None)] * d + [(0, None)] * (n * d + 1)
    found = linprog(np.r_[np.zeros(d + n * d), 1.0], A_ub=A.tocsr(), b_ub=b, bounds=free)
    return float(found.fun) if found.status == 0 else math.inf


# -- every center --------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(small_kinds)
def test_no_center_beats_the_lower_bound_over_centers(kinds):
    Y, claimed = dense(kinds)[-1], (kinds.ratio() * 4 * float(kinds.gain)) ** 2
    values = [least_one(Y, height) * height for height in np.geomspace(0.05, 2.0, 7)]
    assert min(values) >= claimed * (1 - 1e-7)
    assert values[-1] < math.inf


@settings(max_examples=25)
@given(small_kinds)
def test_the_ratio_is_below_that_of_the_dense_layer_and_the_input_has_residual_one(kinds):
    X, *_, Y = dense(kinds)
    np.testing.assert_allclose(forward(kinds.network(), X), Y, rtol=1e-12)
    assert residual(X, norm="composite").value == pytest.approx(1, rel=1e-9)
    assert bound(kinds) == pytest.approx(4 * float(kinds.gain), rel=1e-14)
    assert kinds.ratio() <= residual(Y, norm="composite").value / bound(kinds) * (1 + 1e-7)


def test_the_lower_bound_is_attained_where_column_f_and_the_guards_decide():
    guard = (Fraction(6), Fraction(3))
    kinds = TokenKinds(((90, 4),), 106, Fraction(6), Fraction(9), (guard, guard))
    Y = dense(kinds)[-1]
    assert residual(Y, norm="composite").value / bound(kinds) == pytest.approx(kinds.ratio(), rel=1e-3)


@given(mean_kinds)
def test_about_the_mean_the_closed_form_is_a_column_and_a_row_of_the_dense_layer(kinds):
    X, *_, Y = dense(kinds)
    np.testing.assert_array_equal(X.mean(axis=0), 0)
    about = Y - Y.mean(axis=0)
    product = np.abs(about[:, 0]).sum() * np.abs(about[kinds.width - 1]).sum()
    assert kinds.ratio() == pytest.approx(math.sqrt(product) / bound(kinds), rel=1e-9, abs=1e-13)
    assert kinds.ratio() <= composite(about) / bound(kinds) * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize(("idle", "gain"), [(2, 1), (8, Fraction(5, 2)), (50, 7), (200, Fraction(1, 8))])
def test_a_lone_query_moves_one_row(idle, gain):
    kinds = LoneQuery(idle, gain)
    X, *_, Y = dense(kinds)
    found = residual(X, norm="composite")
    assert found.value == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(found.center, 0, atol=1e-12)
    assert kinds.ratio() <= residual(Y, norm="composite").value / bound(kinds, gamma=True) * (1 + 1e-9)
    assert kinds.ratio() == pytest.approx(residual(Y, norm="composite").value / bound(kinds, gamma=True), rel=0.2)


@settings(max_examples=20)
@given(four)
def test_four_keys_are_below_the_dense_layer_and_satisfy_the_hypotheses(kinds):
    X, *_, E, Y = dense(kinds)
    assert (E.max(axis=2) - E.min(axis=2)).max() <= 1.2564  # D ≤ x*
    assert residual(X, norm="composite").value == pytest.approx(1, rel=1e-9)
    reached = residual(Y, norm="composite").value / bound(kinds, gamma=True)
    assert kinds.ratio() <= reached * (1 + 1e-7)
    if kinds.key_logit > 6 and kinds.gain < Fraction(1, 8):
        assert kinds.ratio() >= 0.97 * reached  # and the bound over centers is nearly attained


@pytest.mark.parametrize("side", [1, 2, 5, 16])
@pytest.mark.parametrize("gain", [Fraction(1, 16), Fraction(1), Fraction(9, 2)])
def test_two_heads_ratio_is_the_dense_one(side, gain):
    heads = TwoHeads(side, gain)
    Y = dense(heads)[-1]
    np.testing.assert_allclose(forward(heads.network(), heads.input()), Y, rtol=1e-13)
    assert composite(Y) / bound(heads) == pytest.approx(heads.ratio(), rel=1e-13)
    assert bound(heads, gamma=True) == pytest.approx(bound(heads), rel=1e-14)  # γ_* = 1


@given(arrays(float, (2, 4), elements=st.floats(-4, 4)))
def test_zero_is_the_best_center_of_two_opposite_tokens(rows):
    u, c = rows
    Y = np.array([u, -u])
    assert one(Y - c) >= one(Y) * (1 - 1e-15)
    assert inf(Y - c) >= inf(Y) * (1 - 1e-15)


# -- the committed layers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [counterexample, about_the_mean, lone_query, two_tokens, four_keys])
def test_the_committed_layer_violates_and_its_data_rebuild_it(make):
    kinds = make()
    assert kinds.certified_ratio() > 1
    assert kinds.certified_ratio(bits=300) == pytest.approx(kinds.ratio(), rel=1e-12)

    def exact(value):
        return value if isinstance(value, int) else Fraction(value)

    data = {
        name: tuple((exact(m), exact(c)) for m, c in value) if isinstance(value, list) else exact(value)
        for name, value in kinds.data().items()
    }
    assert type(kinds)(**data) == kinds


def test_how_many_tokens():
    assert counterexample().tokens == 3563
    assert about_the_mean().tokens == 31058
    assert (lone_query().tokens, lone_query().width) == (1900, 2)
    assert [(k.tokens, k.width) for k in (two_tokens(), four_keys(0), four_keys(395))] == [
        (2, 65536),
        (5, 15876),
        (400, 5952),
    ]


def test_the_lone_query_at_full_size():
    kinds = lone_query()
    Y = forward(kinds.network(), kinds.input())
    reached = residual(Y, norm="composite").value / (4 / math.sqrt(1900) * 9.75)
    assert kinds.ratio() <= reached * (1 + 1e-9)
    assert reached == pytest.approx(1.0057, abs=1e-4)


@pytest.mark.parametrize("more", [1, 1000, 10**6])
def test_more_idle_tokens_do_not_help_the_bound(more):
    few = counterexample()
    many = TokenKinds(few.active, few.idle + more, few.gain, few.sink_logit, few.guards)
    assert many.certified_ratio() > 1


def test_no_constant_saves_several_heads():
    ratios = [TwoHeads(4**k, Fraction(1, 16)).certified_ratio() for k in range(1, 31) if 4**k <= 10**9]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 10**3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"active": ()}, "active: no kind given"),
        ({"active": ((0, 1),)}, "active: 0 given; a whole number of at least 1"),
        ({"active": ((2, 1.5),)}, "active: a float given; an exact number"),
        ({"idle": -1}, "idle: -1 given; a whole number of at least 0"),
        ({"gain": Fraction(0)}, "gain: a number out of range given; a positive number"),
        ({"gain": math.nan}, "gain: a float given; an exact number"),
        ({"sink_logit": "3"}, "sink_logit: a str given; an exact number"),
        ({"guards": ((Fraction(-1, 3), 0), (1, 0))}, "guards: a number out of range given"),
        ({"guards": ((True, 0), (1, 0))}, "guards: a bool given"),
        ({"guards": ((1, 0),)}, "guards: .* two of \\(logit, fall\\) are needed"),
        ({"guards": ((1, 1), (1, Fraction(1, 8)))}, "falls that sum to `gain` at most"),
    ],
)
def test_kinds_refuse(change, message):
    good = {"active": ((2, 1),), "idle": 2, "gain": 1, "sink_logit": 1, "guards": ((1, 0), (1, 0))}
    with pytest.raises(ValueError, match=message):
        TokenKinds(**(good | change))


def test_other_families_and_arrays_refuse():
    with pytest.raises(ValueError, match="tokens: 31058 of width 13976 given; written out up to 4096"):
        about_the_mean().network()
    with pytest.raises(ValueError, match="bits: 8 given; a whole number of at least 32"):
        counterexample().certified_ratio(bits=8)
    with pytest.raises(ValueError, match="side: 1025 given; weights are written out up to side 1024"):
        TwoHeads(1025, 1).network()
    with pytest.raises(ValueError, match="entry: 1 given; at most 1/√columns is needed, columns = 4"):
        FourKeys(4, 1, 0, Fraction(1, 8), 1)
    with pytest.raises(ValueError, match="gain: 1 given; at most 5/8 is needed"):
        FourKeys(4, Fraction(1, 2), 0, 1, 1)
    with pytest.raises(ValueError, match="idle: 1 given; a whole number of at least 2"):
        LoneQuery(1, 1)
