"""The 2021 bound: closed forms against dense layers, lower bounds over every center, where the bound is true."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from rankmath.arithmetic.balls import ball, precision
from rankmath.attention.plain import forward
from rankmath.verification.many_tokens import (
    TokenKinds,
    TwoHeads,
    center_products,
    counterexample,
    optimise,
    smallest_tokens,
    two_tokens,
)

eighths = st.integers(0, 64).map(lambda k: Fraction(k, 8))
small_kinds = st.builds(
    TokenKinds,
    active=st.integers(1, 5),
    idle=st.integers(0, 6),
    gain=eighths.map(lambda x: x + Fraction(1, 8)),
    sink_logit=eighths,
    active_logit=eighths,
    guard_logit=eighths,
)


def dense(instance: TokenKinds | TwoHeads) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, the heads' W_QK/√d_qk and W, and SA(X), all by their definitions."""
    net, X = instance.network(), instance.input()
    root = math.sqrt(net.d_qk)
    W_QK = net.query[0] if net.key is None else net.query[0] @ net.key[0].transpose(0, 2, 1)
    W = net.value[0] if net.output is None else net.value[0] @ net.output[0]
    logits = X @ W_QK @ X.T / root
    if net.key_bias is not None:
        logits = logits + (net.key_bias[0] @ X.T / root)[:, None, :]
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    P = weights / weights.sum(axis=2, keepdims=True)
    return X, W_QK / root, W, (P @ X @ W).sum(axis=0)


def bound(instance: TokenKinds | TwoHeads) -> float:
    """(4βH/√d_qk) ‖X‖³_{1,∞}: the right-hand side of the 2021 form with the center 0."""
    X, W_QK, W, _ = dense(instance)
    return 4 * len(W) * max(one(A) * composite(B) for A, B in zip(W_QK, W, strict=True)) * composite(X) ** 3


def one(A: np.ndarray) -> float:
    return float(np.abs(A).sum(axis=0).max())


def inf(A: np.ndarray) -> float:
    return float(np.abs(A).sum(axis=1).max())


def composite(A: np.ndarray) -> float:
    return math.sqrt(one(A) * inf(A))


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


# One head: the four kinds of tokens.


def assert_closed_form(kinds: TokenKinds) -> None:
    (*_, Y), m = dense(kinds), kinds.active
    np.testing.assert_allclose(forward(kinds.network(), kinds.input()), Y, rtol=1e-12)
    at = kinds.levels(math.exp)
    np.testing.assert_allclose(Y[0, 0], at.plain, rtol=1e-12)
    np.testing.assert_allclose(Y[m + 3 :, 0], at.plain, rtol=1e-12)
    np.testing.assert_allclose(Y[1 : m + 1, 0], at.active, rtol=1e-12)
    np.testing.assert_allclose(Y[m + 1 : m + 3, 0], at.guard, rtol=1e-12)
    guards = Y[m + 1 : m + 3, m + 1 : m + 3]
    np.testing.assert_allclose(guards[[0, 1], [0, 1]] - guards[[0, 1], [1, 0]], at.separation, rtol=1e-12)
    # and a row of equal kinds is the other with two coordinates exchanged
    np.testing.assert_allclose(Y[1 : m + 1, 1 : m + 1].diagonal(), Y[1, 1], rtol=1e-12)


@given(small_kinds)
def test_closed_form_is_the_dense_layer(kinds):
    assert_closed_form(kinds)


def test_closed_form_is_the_dense_layer_at_200_tokens():
    kinds = optimise(200)
    assert kinds.tokens == 200
    assert kinds.ratio() < 1
    assert_closed_form(kinds)


def test_200_tokens_reach_the_bound_over_centers():
    # The lower bound over every center is attained: here is the center.
    kinds = optimise(200)
    *_, Y = dense(kinds)
    at = kinds.levels(math.exp)
    for x, product in zip((at.active, at.plain), center_products(kinds.active, kinds.idle, at)[1:], strict=True):
        center = Y[kinds.active + 1].copy()  # a guard's row, but for f and the guards' coordinates
        center[0] = x
        center[-2:] = Y[0, -2:]
        assert one(Y - center) * inf(Y - center) == pytest.approx(product, rel=1e-12)
    assert bound(kinds) == 4 * float(kinds.gain)


@settings(max_examples=25)
@given(small_kinds)
def test_no_center_beats_the_lower_bound(kinds):
    *_, Y = dense(kinds)
    least = min(center_products(kinds.active, kinds.idle, kinds.levels(math.exp)))
    values = [least_one(Y, height) * height for height in np.geomspace(0.05, 2.0, 7)]
    assert min(values) >= least * (1 - 1e-7)
    assert values[-1] < math.inf


@given(small_kinds, st.floats(-3, 3))
def test_the_product_is_least_at_a_breakpoint(kinds, x):
    at = kinds.levels(math.exp)
    column = (kinds.idle + 1) * abs(at.plain - x) + kinds.active * abs(at.active - x) + 2 * abs(at.guard - x)
    here = column * (abs(x - at.guard) + at.separation)
    assert here >= min(center_products(kinds.active, kinds.idle, at)) * (1 - 1e-12)


def test_the_input_has_residual_one_in_either_norm():
    X = TokenKinds(2, 3, 1, 1, 1, 1).input()
    assert one(X) == inf(X) == 1
    assert least_one(X, 100.0) == pytest.approx(1, rel=1e-9)
    assert least_one(X, 0.99) == math.inf


@given(small_kinds, st.sampled_from([64, 128, 300]))
def test_balls_enclose_a_longer_evaluation(kinds, bits):
    with mpmath.workdps(120):

        def exp(x: Fraction) -> mpmath.mpf:
            return mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)

        least = min(center_products(kinds.active, kinds.idle, kinds.levels(exp)))
        gain = mpmath.mpf(kinds.gain.numerator) / kinds.gain.denominator
        digits = mpmath.nstr(mpmath.sqrt(least) / (4 * gain), 110)
    enclosure = kinds.ratio_ball(bits=bits)
    with precision(400):
        assert enclosure.contains(arb(digits))
    assert kinds.ratio() == pytest.approx(float(enclosure), rel=1e-13)
    assert kinds.certified_ratio(bits=bits) <= Fraction(kinds.ratio()) * (1 + Fraction(1, 10**13))


def test_the_committed_instance_violates_the_bound():
    kinds = counterexample()
    assert kinds.tokens == 1 + 1444 + 2 + 2237 == 3684
    assert kinds.certified_ratio() > 1
    assert Fraction(str(kinds.data()["gain"])) == kinds.gain
    assert (
        TokenKinds(
            **{k: v if isinstance(v, int) else Fraction(v) for k, v in kinds.data().items() if k != "guards"}
        )
        == kinds
    )


def test_the_search_finds_the_committed_instance_and_none_with_fewer_tokens():
    assert smallest_tokens() == counterexample()
    assert optimise(3683, denominator=2**20).ratio() < 1
    with pytest.raises(ValueError, match="no counterexample with so few tokens"):
        smallest_tokens(most=3683)


def test_the_best_ratio_grows_with_the_tokens():
    ratios = [optimise(n).ratio() for n in (10, 30, 100, 300, 1000, 3000, 10**4, 10**5, 10**6)]
    assert ratios == sorted(ratios)
    # better than three kinds, whose best ratios are 1.004 at 7000 tokens and 3.14 at 100 000
    assert ratios[-2] > 4
    assert optimise(7000).ratio() > 1.3


@given(small_kinds)
def test_an_idle_token_more_never_lowers_the_ratio_of_weightless_idle_tokens(kinds):
    light = TokenKinds(kinds.active, kinds.idle, kinds.gain, kinds.sink_logit + 64, 64, kinds.guard_logit + 64)
    more = TokenKinds(light.active, light.idle + 1, light.gain, light.sink_logit, 64, light.guard_logit)
    assert more.ratio() >= light.ratio() * (1 - 1e-12)


# Two heads, two tokens.


@pytest.mark.parametrize("side", [1, 2, 5, 16])
@pytest.mark.parametrize("logit", [Fraction(1, 16), Fraction(1), Fraction(9, 2)])
def test_two_heads_ratio_is_the_dense_one(side, logit):
    heads = TwoHeads(side, logit)
    *_, Y = dense(heads)
    np.testing.assert_allclose(forward(heads.network(), heads.input()), Y, rtol=1e-13)
    assert composite(Y) / bound(heads) == pytest.approx(heads.ratio(), rel=1e-13)
    assert heads.certified_ratio() <= Fraction(heads.ratio()) * (1 + Fraction(1, 10**13))


@given(arrays(float, (2, 4), elements=st.floats(-4, 4)))
def test_zero_is_the_best_center_of_two_opposite_tokens(rows):
    u, c = rows
    Y = np.array([u, -u])
    assert one(Y - c) >= one(Y) * (1 - 1e-15)
    assert inf(Y - c) >= inf(Y) * (1 - 1e-15)


def test_two_tokens_violate_the_bound_at_full_width():
    heads = two_tokens()
    assert heads.tokens == 2
    assert heads.certified_ratio() == Fraction(257, 256) * Fraction(767, 768) > 1
    net, X = heads.network(), heads.input()
    assert X.shape == (2, 65536)
    for rows in net.output[0]:  # W_h = e_1 times this row
        assert composite(rows) == 1
    rhs = 4 * float(heads.logit) * 2 * composite(X) ** 3
    assert composite(forward(net, X)) / rhs == pytest.approx(heads.ratio(), rel=1e-12)
    assert composite(forward(net, X)) > rhs


def test_two_tokens_satisfy_the_hypothesis_of_the_2023_form_with_factor_one():
    x = two_tokens().logit
    E = np.array([[x, -x], [-x, x]])
    D = E.max(axis=1) - E.min(axis=1)
    assert max(D) < Fraction(5, 4)  # below x* = 1.256…, the root of e^x = 1 + 2x
    assert sum(D) * Fraction(1, 2) / max(D) == 1  # γ² = ‖D1‖₁ ‖q‖_∞ / ‖D1‖_∞ with q = (1/2, 1/2)


def test_no_constant_saves_several_heads():
    logit = Fraction(1, 16)
    ratios = [TwoHeads(4**k, logit).certified_ratio() for k in range(1, 31)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 10**7


# One head and few tokens: the bound is true (theorem in proofs/dong2021v1.tex).


@st.composite
def single_heads(draw):
    """Random residuals R and weights of one head, logits from tiny to saturated."""
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    unit = st.floats(-1, 1, allow_subnormal=False)
    R = draw(arrays(float, (n, d), elements=unit))
    W_QK = draw(arrays(float, (d, d), elements=unit)) * 10 ** draw(st.floats(-3, 2))
    c = draw(arrays(float, n, elements=st.floats(-6, 6)))
    return R, W_QK, c


@given(single_heads())
def test_attention_differs_from_its_reference_by_at_most_the_logits(head):
    R, W_QK, c = head
    n, B = len(c), one(W_QK) * one(R) * inf(R)
    E = R @ W_QK @ R.T
    q = np.exp(c - c.max())
    q /= q.sum()
    logits = c + E
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    Q = P - q
    slack = 1e-14
    assert one(E) <= B * (1 + 1e-12)
    assert inf(Q) <= 2 * math.tanh(B / 2) + slack
    # y overflows long after its part y/(1 + y) has reached 1
    y = np.expm1(np.minimum(np.abs(E), 600)) @ q
    u = math.expm1(min(B, 600))
    eta = np.abs(E) @ q
    entry = np.abs(E) + np.maximum(eta, 1 - 1 / (1 + y))[:, None]
    assert (np.abs(Q) <= entry * (1 + 1e-12) + slack).all()
    assert one(Q) <= min(B + u, 2 * B + n * u / (n + u)) * (1 + 1e-12) + slack
    assert composite(Q @ R) <= 4 * B * composite(R) * (1 + 1e-12) + slack


def test_the_constants_of_the_theorem():
    # (B + u)/B ≤ 16 at B = 4; then 1/(8B² − 2B) − 1/u ≤ 1/512 on every quarter, with u = e^B − 1.
    assert (4 + ball(4).exp() - 1) / 4 <= 16
    for quarter in range(16, 33):
        b, later = Fraction(quarter, 4), Fraction(quarter + 1, 4)
        assert ball(1 / (8 * b**2 - 2 * b)) - 1 / (ball(later).exp() - 1) <= ball(Fraction(1, 512))
    assert 8 * later**2 - 2 * later >= 512


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"active": 0}, "active: 0 given; a whole number of at least 1"),
        ({"active": 10**400}, "active: .* given; a whole number"),
        ({"idle": -1}, "idle: -1 given; a whole number of at least 0"),
        ({"idle": 2.5}, "idle: 2.5 given; a whole number"),
        ({"gain": Fraction(0)}, "gain: a number out of range given; a positive number"),
        ({"gain": 1.5}, "gain: a float given; an exact number"),
        ({"gain": math.nan}, "gain: a float given; an exact number"),
        ({"sink_logit": "3"}, "sink_logit: a str given; an exact number"),
        ({"active_logit": 10**400}, "active_logit: a number out of range given"),
        ({"guard_logit": Fraction(-1, 3)}, "guard_logit: a number out of range given"),
        ({"guard_logit": True}, "guard_logit: a bool given"),
    ],
)
def test_kinds_refuse(change, message):
    good = {"active": 2, "idle": 2, "gain": 1, "sink_logit": 1, "active_logit": 1, "guard_logit": 1}
    with pytest.raises(ValueError, match=message):
        TokenKinds(**(good | change))


def test_searches_and_arrays_refuse():
    with pytest.raises(ValueError, match="tokens: 7 given; a whole number of at least 8"):
        optimise(7)
    with pytest.raises(ValueError, match="denominator: 0 given"):
        optimise(100, denominator=0)
    with pytest.raises(ValueError, match="bits: 8 given; a whole number of at least 32"):
        counterexample().ratio_ball(bits=8)
    with pytest.raises(ValueError, match="active: 5000 given; weights are written out up to width 4096"):
        TokenKinds(5000, 1, 1, 1, 1, 1).network()
    with pytest.raises(ValueError, match="side: 0 given; a whole number of at least 1"):
        TwoHeads(0, Fraction(1))
    with pytest.raises(ValueError, match="logit: a float given; an exact number"):
        TwoHeads(4, 0.5)
    with pytest.raises(ValueError, match="side: 1025 given; weights are written out up to side 1024"):
        TwoHeads(1025, 1).network()
