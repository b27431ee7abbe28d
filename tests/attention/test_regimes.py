"""Every way the centred pass takes, by the size of logits, values and tokens, against unbounded arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.linalg.masks import Mask, as_mask

N, D = 5, 2
MASKS = {
    "none": None,
    "causal": "causal",
    "window": "window:2",
    "star": "star",
    "padding": Mask.key_padding(N, np.arange(N) < 4),
}


def network(
    seed: int, mask: str, sharp: float, size: float, skip: float, pull: float | None = None, scale: float = 1.0
) -> tuple[rm.Network, np.ndarray]:
    """Two layers, two heads; the first two tokens are the same, so that what is attended to may be a pair."""
    pull = math.sqrt(sharp) if pull is None else pull
    rng = np.random.default_rng(seed)
    W_QK, W = rng.standard_normal((2, 2, 2, D, D))
    net = rm.Network.from_arrays(
        sharp * W_QK,
        size * W,
        skip=skip,
        mask=MASKS[mask],
        key_bias=pull * rng.standard_normal((2, 2, D)),
        bias=scale * rng.standard_normal((2, D)),
    )
    X = scale * rng.standard_normal((N, D))
    X[1] = X[0]
    return net, X


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    ("sharp", "pull", "scale"),
    [
        *((1e-9, None, 1.0), (0.1, None, 1.0), (3.0, None, 1.0), (100.0, None, 1.0), (1e4, None, 1.0)),
        *((1e-30, 2e3, 1.0), (1e-3, 2e3, 1.0)),  # the bias decides, and logits hardly differ from row to row
        *((1e-60, 1e-15, 1e15), (1e-30, 1e-15, 1e15), (1e-28, 1e-13, 1e15), (1e20, 1e10, 1e-10), (1.0, 1.0, 1e-30)),
    ],
)
def test_doubles_and_balls_are_what_many_digits_say(mask: str, sharp: float, pull: float | None, scale: float) -> None:
    compared = 0
    for seed, size, skip in ((0, 1.0, 0.0), (1, 1.0, 0.5), (3, 1e-90, 0.5), (4, 1e90, 0.0)):
        net, X = network(seed, mask, sharp, size, skip, pull, scale)
        exact = rm.trace(net, X, arithmetic="mpmath", dps=60).log_residual
        fast = rm.trace(net, X)
        sure = np.asarray(fast.lost_bits) <= 12
        compared += int(sure.sum())
        np.testing.assert_allclose(fast.log_residual[sure], exact[sure], rtol=1e-11, atol=1e-11)
        balls = rm.trace(net, X, arithmetic="balls", bits=300)
        assert (balls.log_residual_lower <= exact + 1e-9 * abs(exact)).all()
        assert (balls.log_residual_upper >= exact - 1e-9 * abs(exact)).all()
    assert compared >= (8 if pull == 2e3 else 11)  # nothing is lost but where all rows attend to one token


def factored(seed: int, mask: str, q: float, k: float, v: float, o: float) -> rm.Network:
    rng = np.random.default_rng(seed)
    W_Q, W_K, W_V = rng.standard_normal((3, 2, 2, D, 3))
    return rm.Network.from_qkvo(q * W_Q, k * W_K, v * W_V, o * rng.standard_normal((2, 2, 3, D)), mask=MASKS[mask])


@pytest.mark.parametrize("mask", MASKS)
def test_factors_of_the_weights_may_be_of_any_size(mask: str) -> None:
    """2^k on queries and 2^-k on keys, or on values and on outputs, change nothing."""
    X = np.random.default_rng(7).standard_normal((N, D))
    plain = factored(0, mask, 1.0, 1.0, 1.0, 1.0)
    exact = rm.trace(plain, X, arithmetic="mpmath", dps=40).log_residual
    for big in (2.0**250, 2.0**-250):
        for factors in ((big, 1 / big, 1.0, 1.0), (1.0, 1.0, big, 1 / big), (1 / big, big, 1 / big, big)):
            net = factored(0, mask, *factors)
            np.testing.assert_allclose(rm.trace(net, X).log_residual, exact, rtol=1e-11, atol=1e-11)
            assert np.allclose(rm.forward(net, X), rm.forward(plain, X), rtol=1e-10)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("power", [-250, -40, 40, 250])
def test_tokens_of_any_size_are_scaled_tokens(mask: str, power: int) -> None:
    """2^k X with 4^-k W_QK and 2^-k on the key bias has the same attention, so all residuals move by k log 2."""
    rng = np.random.default_rng(3)
    W_QK, W, key_bias = (
        rng.standard_normal((2, 1, D, D)),
        rng.standard_normal((2, 1, D, D)),
        rng.standard_normal((2, 1, D)),
    )
    X, unit = rng.standard_normal((N, D)), 2.0**power
    for skip in (0.0, -0.5):
        plain = rm.Network.from_arrays(W_QK, W, skip=skip, mask=MASKS[mask], key_bias=key_bias)
        moved = rm.Network.from_arrays(
            W_QK / unit / unit, W, skip=skip, mask=MASKS[mask], key_bias=key_bias / unit, d_qk=plain.d_qk
        )
        expected = np.asarray(rm.trace(plain, X).log_residual) + power * math.log(2)
        np.testing.assert_allclose(rm.trace(moved, unit * X).log_residual, expected, rtol=1e-11, atol=1e-11)
        expected = np.asarray(rm.path_sums(plain, X).log_residual()) + power * math.log(2)
        np.testing.assert_allclose(rm.path_sums(moved, unit * X).log_residual(), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("power", [-300, -30, 30, 300])
def test_paths_through_large_and_small_values(mask: str, power: int) -> None:
    """2^k on the values of the last layer: paths through it move by k log 2, and the empty path stays."""
    rng = np.random.default_rng(5)
    W_QK, W = rng.standard_normal((2, 2, 2, D, D))
    X = rng.standard_normal((N, D))
    large = W.copy()
    large[-1] *= 2.0**power
    plain, moved = (
        np.asarray(rm.path_sums(rm.Network.from_arrays(W_QK, V, skip=0.5, mask=MASKS[mask]), X).log_residual())
        for V in (W, large)
    )
    np.testing.assert_allclose(moved[[0, 2]], plain[[0, 2]] + [0, power * math.log(2)], rtol=1e-11, atol=1e-11)
    # Those of length one go through either layer: the larger part decides.
    first = rm.path_sums(rm.Network.from_arrays(W_QK[:1], W[:1], skip=0.5, mask=MASKS[mask]), X).log_residual()[1]
    if power < -100:
        assert moved[1] == pytest.approx(first + math.log(0.5), rel=1e-11)
    if power > 100:
        assert moved[1] > plain.max() + (power - 20) * math.log(2)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_rows_at_a_time_see_what_they_may_see(mask: str, rows: int) -> None:
    """Written from the definition; blocks of a few rows, by the memory that is allowed."""
    net, X = network(0, mask, 1.0, 1.0, 0.5)
    X[1] += 1
    allowed = as_mask(MASKS[mask], N).allowed
    Y = X
    for l in range(2):
        parts = 0.5 * Y + net.bias[l]
        for h in range(2):
            logits = (Y @ net.W_QK[l, h] @ Y.T + Y @ net.key_bias[l, h]) / math.sqrt(net.d_qk)
            P = np.where(allowed, np.exp(logits), 0)
            parts = parts + P / P.sum(axis=1, keepdims=True) @ Y @ net.W[l, h]
        Y = parts
    memory = 24 * N * rows
    np.testing.assert_allclose(rm.forward(net, X, memory=memory), Y, rtol=1e-11)
    exact = rm.trace(net, X, arithmetic="mpmath", dps=40).log_residual
    np.testing.assert_allclose(rm.trace(net, X, memory=memory).log_residual, exact, rtol=1e-11, atol=1e-11)
    assert math.log(np.linalg.norm(Y - Y.mean(axis=0))) == pytest.approx(exact[-1], rel=1e-11)


@pytest.mark.parametrize("exponent", [100, 160, 170, 250])
def test_weights_whose_squares_leave_the_range_of_a_double(exponent: int) -> None:
    # Logits near one from tokens of size 10^(e/2) along a direction where W_QK has 10^-e, beside an entry 1.
    net = rm.Network.from_arrays(np.diag([1.0, 10.0**-exponent])[None, None], np.eye(2)[None, None])
    X = np.array([[1.0, 1.0], [1.0, -0.7], [1.0, 0.2]]) * [1.0, 10.0 ** (exponent / 2)]
    floats, balls = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
    np.testing.assert_allclose(floats.log_residual, balls.log_residual, rtol=1e-13)
