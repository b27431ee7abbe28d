"""The centred pass against plain evaluations with enough digits, at any depth and scale."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankmath.attention.trace import Trace, trace
from rankmath.formula.reference import reference_trace
from rankmath.model.network import MLP, LayerNorm, Network

ACCURACY = 1e-10
MOST_LOST_BITS = 15


def relative_error(measured: np.ndarray, exact: np.ndarray) -> float:
    """Largest |measured − exact|/max(1, |exact|); −inf agrees with −inf only."""
    both_zero = np.isneginf(measured) & np.isneginf(exact)
    error = np.abs(np.where(both_zero, 0.0, measured) - np.where(both_zero, 0.0, exact))
    return float((error / np.maximum(1.0, np.abs(np.where(both_zero, 0.0, exact)))).max())


def assert_agrees_with_plain(net: Network, X: np.ndarray) -> None:
    """… and where float64 itself says that too many bits are lost, the balls must agree."""
    plain = reference_trace(net, X, budget_seconds=1e6)
    assert plain.resolved.all()
    result = trace(net, X)
    if result.lost_bits.max() > MOST_LOST_BITS:
        result = trace(net, X, arithmetic="balls")
    assert relative_error(result.log_residual, plain.log_residual) <= ACCURACY


# -- against the plain pass --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_centred_pass_agrees_with_plain_mpmath(seed, draw_network):
    assert_agrees_with_plain(*draw_network(seed, tokens=7, dim=5, heads=3, layers=4, pure=seed % 4 == 0))


@pytest.mark.parametrize("mask", ["causal", "prefix:1", "star:0"])
@pytest.mark.parametrize("size", [1.0, 30.0, 600.0])
def test_saturated_attention_to_the_token_that_all_see_keeps_its_digits(mask, size):
    """Every row attends to token 0 up to e^−size: the residual is that small, and float64 sees it."""
    X = np.array([[1.0, 0.3], [-0.5, 0.2], [0.1, -0.9], [0.4, 0.6]])
    # Logits of key j: 4·size·X_j0, at the first token larger than at the others by more than 2·size.
    ones = np.ones((3, 1, 1, 1))
    W_QK, W = 0 * ones * np.eye(2), ones * np.array([[1.0, 0.2], [-0.1, 0.8]])
    key_bias = np.array([4 * size * math.sqrt(2), 0.0]) * np.array([1.0, 0.0, 0.0])[:, None, None]
    net = Network.from_arrays(W_QK, W, key_bias=key_bias, mask=mask)
    found, sure = trace(net, X), trace(net, X, arithmetic="balls")
    assert found.log_residual[1] < -2 * size
    assert found.lost_bits.max() < 8
    assert relative_error(found.log_residual, sure.log_residual) <= 1e-12


@pytest.mark.parametrize("size", [25.0, 100.0])
def test_the_token_that_all_see_is_taken_even_if_the_mean_would_look_elsewhere(size):
    """The mean's logits are largest at the second token, its own at the first: the residual is about e^−size."""
    ones = np.ones((2, 1, 1, 1))
    net = Network.from_arrays(-size / 4 * ones * np.array([1.0, 0.0])[:, None, None, None], ones, mask="causal")
    X = np.array([[-3.0], [1.0]])
    found, sure = trace(net, X), trace(net, X, arithmetic="balls")
    assert found.lost_bits.max() < 8
    assert found.log_residual[1] == pytest.approx(math.log(math.sqrt(8.0)) - size, abs=1e-9)
    assert relative_error(found.log_residual, sure.log_residual) <= 1e-12


def test_a_trace_says_where_its_digits_are_gone():
    X = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, 1.0]])
    one = np.ones((1, 1, 1, 1))
    # Two heads that cancel to rounding: 0.1 + 0.2 − 0.3.
    W = np.concatenate([0.1 * one, 0.2 * one, -0.3 * one], axis=1) * np.eye(2)
    cancels = trace(Network.from_arrays(0 * W, W, mask="causal"), X)
    assert cancels.lost_bits[-1] > 26
    assert "of 53 bits from layer 1 on" in str(cancels)
    assert "bits" not in str(trace(Network.random(4, 2, seed=0), X[:, :2]))


FULL_SIZE = {"tokens": 16, "dim": 8, "heads": 4, "layers": 6}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_centred_pass_agrees_with_plain_mpmath_at_full_size(seed, draw_network):
    """Every other network is attention alone, whose residual takes digits like 3^L."""
    assert_agrees_with_plain(*draw_network(seed, **FULL_SIZE, pure=seed % 2 == 0))


def test_hardly_any_network_loses_bits(draw_network):
    lost = [
        trace(*draw_network(seed, **FULL_SIZE, pure=seed % 2 == 0)).lost_bits.max() > MOST_LOST_BITS
        for seed in range(1000, 1200)
    ]
    assert sum(lost) <= 10


@given(seed=st.integers(0, 10**6))
def test_no_more_bits_are_lost_than_reported(seed, draw_network):
    """Up to some bits a layer that every pass loses to rounding."""
    net, X = draw_network(seed, tokens=5, dim=4, heads=2, layers=3)
    result, exact = trace(net, X), trace(net, X, arithmetic="balls", bits=500)
    known = (result.lost_bits < 45) & (exact.log_residual_upper - exact.log_residual_lower < 1e-14)
    assume(known.any())
    error = relative_error(result.log_residual[known], exact.log_residual[known])
    assert error <= 2.0 ** (result.lost_bits[known].max() + 11 - 53)


def test_tokens_made_equal_by_rounding_are_reported():
    """Two tokens agree up to e^-70, and the next layer attends to these two alone: float64 sees e^-874 instead."""
    rng = np.random.default_rng(0)
    tokens = np.asarray([[1.0, 0.0, 1.0], [1.0, 2.0**-60, 1.0], [-1.0, 0.0, 0.0]])
    W_QK = rng.standard_normal((1, 1, 3, 3))
    net = Network.from_arrays(W_QK, np.eye(3)[None, None], key_bias=[[[0.0, 0.0, 2000.0]]])
    merged = tokens.copy()
    merged[1, 1] = 0.0
    exact = trace(net, tokens, arithmetic="balls").log_residual[1]
    assert trace(net, merged).log_residual[1] < exact - 100
    assert trace(net, merged).lost_bits[1] > 53


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu"])
@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.3, 5.0, 200.0])
def test_mlp_differences_at_every_scale(activation, size):
    """Hidden units cross zero, saturate, or barely move; with biases, an inner skip, and a large mean."""
    rng = np.random.default_rng(5)
    f = MLP(
        rng.standard_normal((3, 6)),
        rng.standard_normal((6, 3)),
        rng.standard_normal(6),
        rng.standard_normal(3),
        activation=activation,
        skip=True,
    )
    net = Network.random(4, 3, layers=2, seed=3, mlp=f, skip=0.25)
    for mean in (0.0, 1.0, 30.0):
        assert_agrees_with_plain(net, mean + net.random_input(seed=7, scale=size))


def test_gelu_far_in_its_upper_tail_keeps_small_steps():
    """u = 1e5, δ = 0.2: gelu(u + δ) − gelu(u) would lose six digits."""
    f = MLP([[1.0]], [[1.0]], [1e5], activation="gelu")
    X = np.asarray([[0.0], [0.2], [-0.3]])
    net = Network.from_arrays(np.ones((1, 1, 1, 1)), np.zeros((1, 1, 1, 1)), skip=True, mlp=f)
    assert relative_error(trace(net, X).log_residual[1:], trace(net, X).log_residual[:1]) <= 1e-15


@pytest.mark.parametrize("kind", ["sphere", "standard", "column"])
@pytest.mark.parametrize("size", [1e-12, 1e-4, 0.5, 50.0])
def test_layer_norms_at_every_scale(kind, size):
    """Tokens near their mean, far from it, and opposite to it."""
    rng = np.random.default_rng(11)
    norm = LayerNorm(kind)
    if kind == "standard":
        norm = LayerNorm(kind, 1e-3, rng.standard_normal(4), rng.standard_normal(4))
    net = Network.random(5, 4, heads=2, layers=3, seed=4, norm=norm, biases=True, skip=0.5)
    assert_agrees_with_plain(net, rng.standard_normal(4) + net.random_input(seed=8, scale=size))


def test_standard_layer_norm_in_two_dimensions_sees_the_residual_that_eps_leaves():
    """Centred tokens of R² lie on a line: without eps nothing would be left."""
    net = Network.random(4, 2, layers=3, seed=1, norm="standard", skip=True)
    assert_agrees_with_plain(net, net.random_input(seed=2))


def test_column_layer_norm_with_columns_of_very_different_size():
    net = Network.random(4, 3, layers=2, seed=1, norm=LayerNorm("column", 1e-8))
    X = net.random_input(seed=2) * np.asarray([1e-100, 1.0, 1e90])
    assert_agrees_with_plain(net, X)


@pytest.mark.parametrize("norm", ["one", "inf", "composite"])
def test_other_norms_agree_with_plain(norm):
    net = Network.random(5, 3, heads=2, layers=3, seed=2, biases=True)
    X = net.random_input(seed=3)
    plain = reference_trace(net, X, norm=norm)
    assert relative_error(trace(net, X, norm).log_residual, plain.log_residual) <= ACCURACY


# -- depth -------------------------------------------------------------------------------------------------


def test_depth_500_is_finite_and_of_order_three():
    net = Network.random(16, 8, layers=500, seed=0)
    result = trace(net, net.random_input(seed=1))
    assert np.isfinite(result.log_residual).all()
    assert abs(result.order[-1] - 3) <= 1e-12
    assert abs(result.log_diameter[-1] / result.log_residual[-1] - 1) <= 1e-12


def two_tokens(layers: int, weight: float) -> tuple[Network, np.ndarray]:
    """±a in one dimension with W_QK = 1, W = weight: a' = weight·a·tanh(a²), exactly."""
    W = np.full((layers, 1, 1, 1), weight)
    return Network.from_arrays(np.ones_like(W), W), np.asarray([[0.5], [-0.5]])


def test_depth_4000_keeps_the_logarithm_of_the_logarithm():
    """log(−log‖R‖) against a' = w a tanh(a²) in mpmath, whose exponents are unbounded."""
    layers, weight = 4_000, 1.25
    net, X = two_tokens(layers, weight)
    mp = mpmath.mp.clone()
    mp.dps = 30
    # a² underflows any tanh soon: from there on log a' = 3 log a + log w.
    a, logs = mp.mpf(0.5), [mp.log(mp.mpf(0.5))]
    for _ in range(layers):
        if a is not None:
            a = mp.mpf(weight) * a * mp.tanh(a * a)
            logs.append(mp.log(a))
            a = a if a > mp.mpf(10) ** -20 else None
        else:
            logs.append(3 * logs[-1] + mp.log(mp.mpf(weight)))
    exact = np.asarray([float(mp.log(-(log + mp.log(2) / 2))) for log in logs])
    result = trace(net, X)
    assert np.isfinite(result.log_log_residual).all()
    assert np.isneginf(result.log_residual[-1])
    np.testing.assert_allclose(result.log_log_residual, exact, rtol=0, atol=1e-11)


def test_depth_beyond_the_doubles_agrees_with_balls_and_mpmath():
    net = Network.random(2, 2, layers=660, seed=3)
    X = net.random_input(seed=4)
    fast = trace(net, X)
    assert np.isneginf(fast.log_residual[-1])
    slow = trace(net, X, arithmetic="mpmath", dps=40)
    np.testing.assert_allclose(fast.log_log_residual[60:], slow.log_log_residual[60:], rtol=0, atol=1e-11)
    proved = trace(net, X, arithmetic="balls")
    np.testing.assert_allclose(fast.log_log_residual[60:], proved.log_log_residual[60:], rtol=0, atol=1e-11)


def test_log_log_residual_is_the_logarithm_of_minus_log_residual():
    net = Network.random(6, 4, heads=2, layers=8, seed=0, scale=2.0)
    result = trace(net, net.random_input(seed=1))
    small = result.log_residual < 0
    np.testing.assert_allclose(result.log_log_residual[small], np.log(-result.log_residual[small]), rtol=1e-15)
    assert np.isnan(result.log_log_residual[~small]).all()
    assert (~small).any()


# -- scales ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e1, 1e2, 1e3, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_saturated_softmax_keeps_the_residual(size, seed):
    """Logits up to 1e4 from the key bias: all tokens attend to one, up to e^-10000."""
    rng = np.random.default_rng(seed)
    base = Network.random(6, 4, heads=2, layers=3, seed=seed)
    net = Network.from_arrays(base.W_QK, base.W, key_bias=size * rng.standard_normal((3, 2, 4)))
    X = base.random_input(seed=9)
    exact = trace(net, X, arithmetic="balls")
    assert relative_error(trace(net, X).log_residual, exact.log_residual) <= 1e-12
    if size == 1e4:
        assert exact.log_residual[1] < -1000


@pytest.mark.parametrize("mask", [None, "causal", "star"])
@pytest.mark.parametrize("size", [1e2, 1e4])
def test_large_query_key_weights(size, mask):
    base = Network.random(6, 4, heads=2, layers=3, seed=5, biases=True)
    net = Network.from_arrays(size * base.W_QK, base.W, bias=base.bias, skip=0.5, mask=mask)
    X = base.random_input(seed=9)
    exact = trace(net, X, arithmetic="balls")
    assert relative_error(trace(net, X).log_residual, exact.log_residual) <= 1e-11


def test_masked_rows_that_all_attend_to_one_token_keep_the_residual():
    base = Network.random(4, 3, layers=1, seed=0)
    net = Network.from_arrays(base.W_QK, base.W, key_bias=[[[2e4, 0.0, 0.0]]], mask=np.tri(4, dtype=bool))
    X = base.random_input(seed=3) * [0.01, 1.0, 1.0] + [[1.0, 0.0, 0.0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    exact = trace(net, X, arithmetic="balls")
    assert exact.log_residual[1] < -1000
    assert relative_error(trace(net, X).log_residual, exact.log_residual) <= 1e-12


def test_huge_common_mean_keeps_a_tiny_residual():
    """Mean 1e8, residual 1e-6: X holds the residual to 1e-2 only, the pass adds less than 1e-8 to that."""
    net = Network.random(8, 4, heads=2, layers=3, seed=0, scale=1e-4)
    X = 1e8 + 1e-6 * np.random.default_rng(1).standard_normal((8, 4))
    exact = trace(net, X, arithmetic="balls")
    assert relative_error(trace(net, X).log_residual, exact.log_residual) <= 1e-9
    assert abs(math.expm1(float(trace(net, X).log_residual[0] - exact.log_residual[0]))) <= 1e-12


def test_mean_1e8_residual_1e_minus_6_in_plain_mpmath():
    net = Network.random(5, 3, layers=2, seed=0, scale=1e-5)
    X = 1e8 + 1e-6 * np.random.default_rng(1).standard_normal((5, 3))
    plain = reference_trace(net, X)
    assert np.abs(np.expm1(trace(net, X).log_residual - plain.log_residual)).max() <= 1e-8


@pytest.mark.parametrize("seed", range(120))
def test_no_scale_gives_nan(seed):
    """Every matrix of norm 1e-150 … 1e150, tokens of size 1e-300 … 1e300: never a nan, never a warning."""
    rng = np.random.default_rng(seed)
    n, d, H, L = (int(rng.integers(low, high)) for low, high in ((1, 6), (2, 5), (1, 4), (1, 5)))

    def wild(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape) * 10.0 ** rng.uniform(-150, 150)

    def pick(*values: object) -> object:
        return values[rng.integers(len(values))]

    activation = pick(None, "relu", "tanh", "gelu")
    mlp = None
    if activation:
        mlp = [MLP(wild(d, 5), wild(5, d), wild(5), wild(d), activation=activation, skip=pick(False, True))] * L
    net = Network.from_qkvo(
        np.stack([[wild(d, 2) for _ in range(H)] for _ in range(L)]),
        np.stack([[wild(d, 2) for _ in range(H)] for _ in range(L)]),
        np.stack([[wild(d, 2) for _ in range(H)] for _ in range(L)]),
        np.stack([[wild(2, d) for _ in range(H)] for _ in range(L)]),
        b_Q=pick(None, np.ones((L, H, 2))),
        b_O=pick(None, wild(L, d)),
        skip=pick(False, True, 1e100, -1e-100),
        mlp=mlp,
        norm=pick(None, None, LayerNorm("standard", 1e-5), LayerNorm("column", 1e-300)),
        mask=pick(None, None, "causal", "star"),
    )
    result = trace(net, rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-300, 300))
    for logs in (result.log_residual, result.log_diameter, result.log_mean):
        assert not np.isnan(logs).any()


@pytest.mark.parametrize("power", [-150, -60, 60, 150])
def test_scaling_the_value_weights_only_shifts_the_logarithm_of_the_last_layer(power):
    net = Network.random(5, 3, heads=2, layers=2, seed=0)
    scaled = Network.from_arrays(net.W_QK, net.W * np.asarray([1.0, 2.0**power])[:, None, None, None])
    X = net.random_input(seed=1)
    gained = trace(scaled, X).log_residual - trace(net, X).log_residual
    np.testing.assert_allclose(gained, [0, 0, power * math.log(2)], rtol=1e-15, atol=1e-13)


# -- exact zeros and small cases ---------------------------------------------------------------------------


@pytest.mark.parametrize("arithmetic", ["float64", "mpmath", "balls"])
def test_equal_tokens_have_exactly_no_residual(arithmetic):
    net = Network.random(4, 3, heads=2, layers=3, seed=0, biases=True, skip=0.3, mlp="gelu")
    result = trace(net, np.tile([0.1, 0.7, -3.3], (4, 1)), arithmetic=arithmetic)
    assert np.isneginf(result.log_residual).all()
    assert np.isneginf(result.log_diameter).all()


@pytest.mark.parametrize("arithmetic", ["float64", "mpmath", "balls"])
def test_one_token_has_no_residual(arithmetic):
    net = Network.random(1, 3, heads=2, layers=2, seed=0, skip=True)
    assert np.isneginf(trace(net, [[0.1, 0.2, 0.3]], arithmetic=arithmetic).log_residual).all()


@pytest.mark.parametrize("arithmetic", ["float64", "mpmath", "balls"])
def test_zero_weights_leave_the_skip_alone(arithmetic):
    zero = np.zeros((3, 2, 3, 3))
    net = Network.from_arrays(zero, zero, skip=0.5)
    logs = trace(net, np.random.default_rng(0).standard_normal((5, 3)), arithmetic=arithmetic).log_residual
    np.testing.assert_allclose(np.diff(logs), -math.log(2), rtol=1e-14)


def test_uniform_attention_without_skip_is_exactly_rank_one():
    """W_QK = 0: every row of P is 1/n, and the residual is an exact zero in every arithmetic."""
    net = Network.from_arrays(np.zeros((2, 1, 3, 3)), np.ones((2, 1, 3, 3)))
    X = np.random.default_rng(0).standard_normal((4, 3))
    for arithmetic in ("float64", "mpmath", "balls"):
        assert np.isneginf(trace(net, X, arithmetic=arithmetic).log_residual[1:]).all()


# -- what a trace carries ----------------------------------------------------------------------------------


def test_center_and_log_mean_are_those_of_the_plain_output():
    from rankmath.attention.plain import forward

    net = Network.random(5, 3, heads=2, layers=2, seed=0, skip=True, biases=True)
    X = net.random_input(seed=1)
    result = trace(net, X)
    mean = forward(net, X).mean(axis=0)
    np.testing.assert_allclose(np.exp(result.log_center) * result.center, mean, rtol=1e-12)
    assert abs(result.log_mean[-1] - math.log(float(np.linalg.norm(mean)))) <= 1e-12
    assert abs(result.log_mean[0] - math.log(float(np.linalg.norm(X.mean(axis=0))))) <= 1e-12


def test_weight_norms_and_beta_by_their_definitions():
    net = Network.random(4, 3, heads=2, layers=3, seed=0)
    norms = trace(net, net.random_input(seed=1)).weight_norms
    for l in range(3):
        for h in range(2):
            A, W = net.W_QK[l, h], net.W[l, h]
            assert norms["W_QK_one"][l, h] == np.abs(A).sum(axis=0).max()
            assert norms["W_QK_max"][l, h] == np.abs(A).max()
            assert norms["W_inf"][l, h] == np.abs(W).sum(axis=1).max()
            composite = math.sqrt(np.abs(W).sum(axis=0).max() * np.abs(W).sum(axis=1).max())
            assert norms["W_composite"][l, h] == pytest.approx(composite, rel=1e-15)
            assert norms["W_QK_two"][l, h] == pytest.approx(np.linalg.norm(A, 2), rel=1e-14)
            assert norms["W_two"][l, h] == pytest.approx(np.linalg.norm(W, 2), rel=1e-14)
    beta = trace(net, net.random_input(seed=1)).beta
    np.testing.assert_allclose(beta, (norms["W_QK_one"] * norms["W_composite"]).max(axis=1), rtol=1e-15)


def test_order_is_the_ratio_of_consecutive_logarithms():
    net = Network.random(5, 3, layers=5, seed=0, scale=0.5)
    result = trace(net, net.random_input(seed=1))
    np.testing.assert_allclose(result.order, result.log_residual[1:] / result.log_residual[:-1], rtol=1e-15)


def test_rigorous_bounds_are_refused_outside_balls():
    net = Network.random(3, 2, seed=0)
    result: Trace = trace(net, net.random_input(seed=1))
    with pytest.raises(AttributeError, match="needs arithmetic='balls'"):
        _ = result.log_residual_lower


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": [[1.0, math.nan]]}, "X: entry"),
        ({"X": [[1.0, math.inf]]}, "X: entry"),
        ({"X": np.zeros((0, 2))}, "X: shape"),
        ({"X": np.zeros((3, 5))}, "X: shape"),
        ({"X": np.zeros(2)}, "X: shape"),
        ({"X": [[1.0], [1.0, 2.0]]}, "X: "),
        ({"X": [[10**400, 1]]}, "X: "),
        ({"X": [["a", "b"]]}, "X: "),
        ({"X": None}, "X: None given"),
        ({"X": np.zeros((3, 2), dtype=complex)}, "X: dtype"),
        ({"norm": "spectral"}, "norm: 'spectral' given"),
        ({"norm": "one", "X": np.zeros((4, 3, 2))}, "norm: 'one' given with a batch"),
        ({"arithmetic": "float32"}, "arithmetic: 'float32' given"),
        ({"dps": 50}, "dps: 50 given"),
        ({"bits": 50}, "bits: 50 given"),
        ({"arithmetic": "mpmath", "dps": 2}, "dps: 2 given"),
        ({"arithmetic": "mpmath", "dps": 50.0}, "dps: 50.0 given"),
        ({"arithmetic": "mpmath", "norm": "inf"}, "norm: 'inf' given with arithmetic 'mpmath'"),
        ({"arithmetic": "balls", "bits": 1}, "bits: 1 given"),
        ({"arithmetic": "balls", "bits": True}, "bits: True given"),
    ],
)
def test_trace_refuses(arguments, message):
    net = Network.random(3, 2, seed=0)
    given = {"X": net.random_input(seed=1)} | arguments
    with pytest.raises(ValueError, match=message):
        trace(net, **given)


def test_trace_refuses_what_is_not_a_network():
    with pytest.raises(ValueError, match="net: a dict given"):
        trace({}, [[1.0]])


def test_trace_refuses_a_mask_of_another_length():
    net = Network.random(3, 2, seed=0, mask=np.tri(3, dtype=bool))
    with pytest.raises(ValueError, match="X: 4 tokens given; the network's mask is for 3"):
        trace(net, np.zeros((4, 2)))


@pytest.mark.parametrize("kind", ["sphere", "standard"])
@pytest.mark.parametrize("arithmetic", ["float64", "mpmath", "balls"])
def test_layer_norm_of_zero_tokens_is_refused(kind, arithmetic):
    zero = np.zeros((1, 1, 3, 3))
    net = Network.from_arrays(zero, zero, skip=True, norm=LayerNorm(kind, 0.0))
    with pytest.raises(ValueError, match=f"X: a token is zero before LayerNorm '{kind}'"):
        trace(net, np.zeros((2, 3)), arithmetic=arithmetic)


@pytest.mark.parametrize("kind", ["sphere", "standard"])
def test_layer_norm_of_one_zero_token_is_never_answered(kind):
    """Seen from the mean the token is a difference: zero to rounding, or a ball that may be zero."""
    zero = np.zeros((1, 1, 3, 3))
    net = Network.from_arrays(zero, zero, skip=True, norm=LayerNorm(kind, 0.0))
    X = [[0.0, 0.0, 0.0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    for arithmetic in ("float64", "mpmath"):
        with pytest.raises(ValueError, match="to rounding; it has no direction"):
            trace(net, X, arithmetic=arithmetic)
    assert np.isneginf(trace(net, X, arithmetic="balls", bits=100).log_residual_lower[1])
