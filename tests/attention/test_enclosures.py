"""Balls never miss: every enclosure of a layer contains the plain value at 1000 digits."""

from __future__ import annotations

import functools

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.arithmetic.ball_matrices import MatrixBalls
from rankmath.arithmetic.balls import Balls, ball, precision
from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention import trace as trace_module
from rankmath.attention.activations import activate, activation_difference
from rankmath.attention.trace import PrecisionError, layers_centred, trace
from rankmath.formula.reference import reference_trace, tokens_by_text
from rankmath.linalg.exact_residuals import exact_residual_bounds, log_diameter, log_residual
from rankmath.linalg.residuals import RESIDUAL_NORMS
from rankmath.model.network import MLP, LayerNorm, Network

DIGITS = 1000


def draw(seed: int) -> tuple[Network, np.ndarray]:
    """A small network: large logits, tiny residuals, repeated tokens, zero weights, masks, norms, MLPs."""
    rng = np.random.default_rng(seed)

    def pick(*values):
        return values[rng.integers(len(values))]

    n, d, H, L = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 3))
    norm = pick(None, None, None, "sphere", "standard", "column")
    # Column LayerNorm blows up what is left of the residual: that must be more than the last of 1000 digits.
    large = norm != "column"
    W_QK, W = (rng.standard_normal((L, H, d, d)) * pick(0.0, 1e-9, 1.0, 1.0, 30.0 if large else 1.0) for _ in range(2))
    W_QK = W_QK * pick(1.0, 1.0, 1e4 if large else 1.0)
    activation = pick(None, None, None, "relu", "tanh", "gelu")
    mlp = None
    if activation:
        width = 1 if activation == "gelu" else 3
        mlp = MLP(
            rng.standard_normal((d, width)) * pick(1.0, 20.0),
            rng.standard_normal((width, d)),
            pick(None, rng.standard_normal(width), np.zeros(width)),
            activation=activation,
            skip=bool(pick(False, True)),
        )
    if norm == "standard":
        norm = LayerNorm("standard", pick(0.1, 1e-12), pick(None, rng.standard_normal(d)))
    mask = pick(None, None, "causal", "star", "padding")
    if mask == "padding":
        keep = rng.random(n) < 0.5
        keep[rng.integers(n)] = True
        mask = np.tile(keep, (n, 1))
    net = Network.from_arrays(
        W_QK,
        W,
        key_bias=pick(None, rng.standard_normal((L, H, d)) * pick(1.0, 1e3 if large else 1.0)),
        bias=pick(None, rng.standard_normal((L, d))),
        skip=pick(False, True, -0.5, 1 / 3),
        mlp=mlp,
        norm=norm,
        mask=mask,
    )
    mean = pick(0.0, 1.0, 100.0 if large else 1.0) * rng.standard_normal(d)
    X = mean + pick(1e-100, 1e-12, 1.0, 1.0, 50.0 if large else 1.0) * rng.standard_normal((n, d))
    if rng.random() < 0.2:
        X[rng.integers(n)] = X[0]
    if rng.random() < 0.05:
        X[:] = X[0]
    return net, X


def exactly(x: mpmath.mpf) -> arb:
    """The dyadic number that an mpf is."""
    sign, mantissa, exponent, _ = x._mpf_
    return arb(int(-mantissa if sign else mantissa)) * arb(2) ** int(exponent)


class TruncatingBalls(MatrixBalls):
    """Balls that ask for a few bits of every series only: the bounds of what is cut off must do the rest."""

    def bits(self) -> int:
        return 3


@functools.cache
def plain_tokens(seed: int) -> list:
    """The tokens of every layer at 1000 digits, once for all bits and arithmetics."""
    with mpmath.workdps(DIGITS):
        return list(tokens_by_text(Multiprecision(DIGITS), *draw(seed)))


def plain_and_enclosed(seed: int, bits: int, arithmetic: type[Balls]) -> list:
    """Per layer: the plain tokens, their enclosures, and the enclosed logarithms; nothing for a refused network."""
    net, X = draw(seed)
    try:
        plain = plain_tokens(seed)
        with precision(bits):
            A = arithmetic()
            enclosed = []
            for tokens in layers_centred(A, net, X):
                center, R = A.array(tokens.center), A.array(tokens.residual)
                logs = log_residual(A.on_arrays, R, "frobenius"), log_diameter(A.on_arrays, R)
                enclosed.append((center, R, *logs))
    except ValueError as error:
        refusal = str(error)
    else:
        return list(zip(plain, enclosed, strict=True))[1:]
    assert "it has no direction" in refusal
    return []


def contains(ball: arb, value: arb, slack: arb) -> bool:
    return bool((ball + slack).contains(value))


def count_layers_that_contain_the_plain_value(seed: int, bits: int, arithmetic=MatrixBalls) -> tuple[int, int]:
    """Check every layer of one network; return how many there were, and how many had a tight log_residual."""
    layers = plain_and_enclosed(seed, bits, arithmetic)
    tight = 0
    with precision(8000):  # as good as exact
        for rows, (center, residual, log_size, log_gap) in layers:
            values = np.asarray([[exactly(a) for a in row] for row in rows], dtype=object)
            # The plain value is itself off in its last few of 1000 digits.
            slack = arb(0, arb(10) ** (30 - DIGITS)) * (1 + max(abs(a) for a in values.flat).upper())
            X_ball = center + residual
            assert all(contains(b, v, slack) for b, v in zip(X_ball.flat, values.flat, strict=True))
            # Differences of tokens, in which the center plays no part.
            gaps, exact_gaps = residual - residual[:1], values - values[:1]
            assert all(contains(b, v, slack) for b, v in zip(gaps.flat, exact_gaps.flat, strict=True))
            R = values - values.sum(axis=0, keepdims=True) / len(values)
            pairs = [np.sum((a - b) ** 2) for a in values for b in values]
            largest = max(pairs, key=lambda x: x.mid())
            for log, square in ((log_size, np.sum(R * R)), (log_gap, largest)):
                if square > slack * slack * arb(10) ** 40:
                    assert contains(2 * log, square.log(), arb(0, 1e-15 / 10**5))
                elif log.is_finite():  # a residual that the plain value does not resolve is small
                    assert log < (slack.upper() * arb(10) ** 21).log()
            tight += bool(log_size == arb.neg_inf() or (log_size.is_finite() and log_size.rad() < 1e-6))
    return len(layers), tight


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**40),
    bits=st.sampled_from([20, 53, 128, 300]),
    arithmetic=st.sampled_from([Balls, MatrixBalls]),
)
def test_enclosures_contain_the_plain_value(seed, bits, arithmetic):
    count_layers_that_contain_the_plain_value(seed, bits, arithmetic)


def test_enclosures_contain_the_plain_value_in_a_sweep():
    """… and are no excuses: most are tight."""
    counts = np.asarray(
        [
            count_layers_that_contain_the_plain_value(s, (53, 128)[s % 2], (Balls, MatrixBalls)[s % 3 > 0])
            for s in range(100)
        ]
    )
    layers, tight = counts.sum(axis=0)
    assert layers >= 140
    assert tight >= 0.7 * layers


def test_what_series_leave_out_is_enclosed():
    for seed in range(100):
        count_layers_that_contain_the_plain_value(seed, 300, TruncatingBalls)


@pytest.mark.slow
def test_enclosures_contain_the_plain_value_in_10000_layers():
    layers, seed = 0, 10**6
    while layers < 10_000:
        layers += count_layers_that_contain_the_plain_value(seed, (24, 53, 128, 300)[seed % 4])[0]
        seed += 1


# -- how tight ---------------------------------------------------------------------------------------------


def test_depth_100_is_known_to_ten_digits():
    net = Network.random(16, 8, layers=100, seed=0)
    result = trace(net, net.random_input(seed=1), arithmetic="balls")
    assert all(x.rad() <= 1e-10 * abs(x) for x in result.values)
    assert (result.log_residual_lower <= result.log_residual).all()
    assert (result.log_residual <= result.log_residual_upper).all()
    assert ((result.log_residual_upper - result.log_residual_lower) <= 1e-10 * np.abs(result.log_residual)).all()


def test_precision_is_raised_until_every_enclosure_is_tight():
    """Two equal tokens that all attend to, the third up to e^-1000: equal balls differ by up to 2^-bits."""
    net = Network.from_arrays(np.ones((1, 1, 2, 2)), np.eye(2)[None, None], key_bias=[[[1000.0, 0.0]]])
    X = np.asarray([[1.0, 0.3], [1.0, 0.3], [-0.4, 0.1]])
    rough = trace(net, X, arithmetic="balls", bits=136)
    assert not rough.values[1].is_finite()
    tight = trace(net, X, arithmetic="balls")
    assert tight.bits == 136 * 8
    assert tight.log_residual_upper[1] < -900
    assert all(x.rad() <= 1e-12 * (1 + abs(x)) for x in tight.values)


def test_raising_stops_at_the_cap_with_a_clear_error(monkeypatch):
    """A token that is exactly zero, seen through the mean, can never be told from zero."""
    zero = np.zeros((1, 1, 2, 2))
    net = Network.from_arrays(zero, zero, skip=True, norm=LayerNorm("sphere"))
    X = [[0.0, 0.0], [0.1, 0.3], [1.0, 1.0]]
    tried = []
    original = trace_module._trace_balls
    monkeypatch.setattr(trace_module, "MOST_BITS", 1000)
    monkeypatch.setattr(
        trace_module, "_trace_balls", lambda net, X, norm, bits: tried.append(bits) or original(net, X, norm, bits)
    )
    with pytest.raises(PrecisionError, match=r"layer 1: 1000 bits leave log_residual at nan; pass bits="):
        trace(net, X, arithmetic="balls")
    assert tried == [136, 272, 544, 1000]


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
def test_every_norm_encloses_the_exact_residual(norm):
    """Without layers that move anything the enclosure is that of X, whose residual is known in rationals."""
    zero = np.zeros((1, 1, 3, 3))
    net = Network.from_arrays(zero, zero, skip=True)
    for seed in range(8):
        X = np.random.default_rng(seed).standard_normal((5, 3)) * 10.0 ** (50 * (seed % 3) - 50)
        bounds = exact_residual_bounds(X, norm)
        for x in trace(net, X, norm, arithmetic="balls", bits=100).values:
            with precision(300):
                low, high = (ball(b).log() / bounds.power for b in (bounds.lower, bounds.upper))
                assert x.overlaps(low.union(high))
                assert x.rad() <= 1e-8
                if bounds.lower == bounds.upper:
                    assert x.contains(low)


@pytest.mark.parametrize("norm", ["one", "inf", "composite"])
def test_every_norm_agrees_with_the_plain_pass(norm):
    net = Network.random(4, 3, heads=2, layers=3, seed=0, biases=True)
    X = net.random_input(seed=1)
    result = trace(net, X, norm, arithmetic="balls")
    plain = reference_trace(net, X, norm).log_residual
    assert (result.log_residual_lower - 1e-9 <= plain).all()
    assert (plain <= result.log_residual_upper + 1e-9).all()


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
def test_too_few_bits_give_no_bound_rather_than_a_wrong_one(norm):
    net = Network.random(4, 3, heads=2, layers=6, seed=0)
    X = net.random_input(seed=1)
    rough, exact = trace(net, X, norm, arithmetic="balls", bits=4), trace(net, X, norm, arithmetic="balls")
    assert (rough.log_residual_lower <= exact.log_residual_upper).all()
    assert (exact.log_residual_lower <= rough.log_residual_upper).all()
    assert np.isinf(rough.log_residual_upper[-1])


@pytest.mark.parametrize("norm", RESIDUAL_NORMS)
def test_an_exact_zero_is_proved_to_be_zero(norm):
    net = Network.random(3, 2, heads=2, layers=2, seed=0, skip=True, biases=True)
    result = trace(net, np.tile([0.3, 0.1], (3, 1)), norm, arithmetic="balls")
    assert np.isneginf(result.log_residual_upper).all()
    assert np.isneginf(result.log_residual_lower).all()


@given(seed=st.integers(0, 10**6))
def test_float64_lies_within_its_error_of_the_balls(seed, draw_network):
    net, X = draw_network(seed, tokens=4, dim=3, heads=2, layers=3)
    fast, proved = trace(net, X), trace(net, X, arithmetic="balls", bits=400)
    slack = 2.0 ** (fast.lost_bits + 11 - 53) * np.maximum(1, np.abs(fast.log_residual))
    known = fast.lost_bits < 40
    assert (proved.log_residual_lower - slack <= fast.log_residual)[known].all()
    assert (fast.log_residual <= proved.log_residual_upper + slack)[known].all()


# -- GELU's series, the one truncation -----------------------------------------------------------------------


@given(
    arithmetic=st.sampled_from([MatrixBalls, TruncatingBalls]),
    u=st.floats(-12, 12),
    t=st.one_of(st.floats(-0.2, 0.2), st.floats(-1e-8, 1e-8), st.floats(-40, 40)),
    bits=st.sampled_from([24, 53, 200, 700]),
)
def test_gelu_differences_are_enclosed(arithmetic, u, t, bits):
    with precision(bits):
        A = arithmetic()
        enclosure = A.array(activation_difference(A, "gelu", A.asarray([[u]]), A.asarray([[t]]), 1))[0, 0]
    with precision(6000):

        def gelu(x):
            return x * (-x / arb(2).sqrt()).erfc() / 2

        exact = gelu(arb(u) + arb(t)) - gelu(arb(u))
        assert enclosure.overlaps(exact)
        assert t or enclosure.is_zero()
        if bits >= 53 and arithmetic is MatrixBalls:
            assert enclosure.rad() <= abs(arb(t)) * arb(2) ** (30 - bits)


@given(u=st.floats(-3, 3), ru=st.floats(0, 0.2), t=st.floats(-0.3, 0.3), rt=st.floats(0, 0.1), seed=st.integers(0, 99))
@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu"])
def test_activation_differences_of_wide_balls_enclose_those_of_points(activation, u, ru, t, rt, seed):
    a, b = np.random.default_rng(seed).uniform(-1, 1, 2)
    with precision(60):
        A = Balls()
        wide_u, wide_t = (np.full((1, 1), x, dtype=object) for x in (arb(u, ru), arb(t, rt)))
        enclosure = activation_difference(A, activation, wide_u, wide_t, 1)[0, 0]
    with precision(300):
        B = Balls()
        x, y = (np.full((1, 1), arb(m) + arb(s) * arb(r), dtype=object) for m, s, r in ((u, a, ru), (t, b, rt)))
        point = (activate(B, activation, x + y) - activate(B, activation, x))[0, 0]
        assert enclosure.overlaps(point)
