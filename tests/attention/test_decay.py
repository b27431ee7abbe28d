"""Order and constant of the decay, certified; and the layer from which plain arithmetic is blind to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from rankmath.arithmetic.balls import precision
from rankmath.attention import trace as trace_module
from rankmath.attention.decay import UNIT_ROUNDOFF, decay
from rankmath.attention.plain import forward
from rankmath.attention.trace import PrecisionError, trace
from rankmath.model.network import Network


def two_tokens(layers: int, weight: float = 1.0) -> tuple[Network, np.ndarray]:
    """±1/2 in one dimension: a' = weight·a·tanh(a²), so that ‖res‖_F = a√2 is known in closed form."""
    W = np.full((layers, 1, 1, 1), weight)
    return Network.from_arrays(np.ones_like(W), W), np.asarray([[0.5], [-0.5]])


def exact_logs(layers: int, weight: float) -> list[arb]:
    a, logs = arb(0.5), []
    for _ in range(layers + 1):
        logs.append((a * arb(2).sqrt()).log())
        a = weight * a * (a * a).tanh()
    return logs


@pytest.mark.parametrize("weight", [1.0, 3.0, 0.125])
def test_against_the_closed_recursion(weight):
    layers = 20
    fate = decay(*two_tokens(layers, weight), digits=25)
    with precision(2000):
        logs = exact_logs(layers, weight)
        for l in range(1, layers):
            p = (logs[l + 1] - logs[l]) / (logs[l] - logs[l - 1])
            assert fate.order_lower[l - 1] <= p <= fate.order_upper[l - 1]
            assert fate.order[l - 1] == pytest.approx(float(p), rel=1e-13)
        constant = logs[-1] / 3**layers
        assert fate.constant_lower <= constant <= fate.constant_upper
        assert fate.constant_ball.overlaps(constant)
        assert abs(fate.constant_ball / constant - 1) < arb(10) ** -24
        for l, ratio in enumerate(fate.log_cubic_ratio):
            assert ratio == pytest.approx(float(logs[l + 1] - 3 * logs[l]), rel=1e-12, abs=1e-9)


def test_limit_of_a_continuation():
    """The constants of deeper networks with the same first layers lie in the bounds that their ratios give."""
    shallow, deep = decay(*two_tokens(6)), decay(*two_tokens(30))
    ratios = deep.log_cubic_ratio[6:]
    low, high = shallow.limit(float(ratios.min()) - 1e-9, float(ratios.max()) + 1e-9)
    assert low <= deep.constant_lower
    assert deep.constant_upper <= high
    # tanh(a²) = a² up to 1e-30 by then, so the ratio is constant: log(a'/a³) − log 2 with ‖res‖ = a√2.
    assert high - low < 1e-10
    assert low <= shallow.constant - math.log(2) / 2 / 3**6 <= high


def test_pure_attention_has_order_three_and_a_skip_has_order_one():
    pure = Network.random(8, 4, heads=2, layers=25, seed=0)
    fate = decay(pure, pure.random_input(seed=1))
    assert 3 - 1e-8 < fate.order_lower[-1] <= fate.order_upper[-1] < 3 + 1e-8
    assert fate.fitted_order == pytest.approx(3, abs=1e-6)
    skip = Network.random(4, 3, layers=12, seed=0, skip=0.5, scale=0.2)
    assert decay(skip, skip.random_input(seed=1)).order[-1] == pytest.approx(1, abs=0.05)


def test_digits_are_certified_on_demand():
    net = Network.random(3, 2, layers=8, seed=0)
    X = net.random_input(seed=1)
    few, many = decay(net, X, digits=3), decay(net, X, digits=200)
    assert many.trace.bits > few.trace.bits
    assert many.constant_ball.rel_accuracy_bits() >= 200 * math.log2(10)
    assert few.constant_ball.overlaps(many.constant_ball)
    assert few.constant_lower <= many.constant_upper
    assert few.constant_upper >= many.constant_lower


def test_digits_beyond_the_cap_are_refused(monkeypatch):
    net = Network.random(3, 2, layers=2, seed=0)
    monkeypatch.setattr(trace_module, "MOST_BITS", 600)
    with pytest.raises(PrecisionError, match="digits: 500 given; 600 bits prove"):
        decay(net, net.random_input(seed=1), digits=500)


def test_growth_has_no_fitted_order():
    net = Network.from_arrays(np.zeros((3, 1, 2, 2)), np.zeros((3, 1, 2, 2)), skip=2.0)
    fate = decay(net, [[1.0, 0.0], [-1.0, 0.0]])
    assert math.isnan(fate.fitted_order)
    assert fate.constant > 0


# -- blindness ---------------------------------------------------------------------------------------------


def plain_in(dtype, net: Network, X: np.ndarray) -> list[float]:
    """log(‖res‖_F/(√n ‖mean‖)) of every layer, the pass run and rounded in the given type (bfloat16: by hand)."""

    def rounded(a: np.ndarray) -> np.ndarray:
        if dtype != "bfloat16":
            return a.astype(dtype)
        bits = a.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)

    X, logs = rounded(X), []
    for l in range(net.layers + 1):
        exact = X.astype(float)
        mean = exact.mean(axis=0)
        residual = np.linalg.norm(exact - mean)
        logs.append(math.log(residual / (math.sqrt(len(X)) * np.linalg.norm(mean))) if residual else -math.inf)
        if l == net.layers:
            return logs
        Y = 0
        for h in range(net.heads):
            logits = rounded(rounded(X @ rounded(net.W_QK[l, h])) @ X.T) / np.float32(math.sqrt(net.d_qk))
            P = rounded(np.exp(logits - logits.max(axis=1, keepdims=True)))
            P = rounded(P / P.sum(axis=1, keepdims=True))
            Y = Y + rounded(P @ rounded(X @ rounded(net.W[l, h])))
        X = rounded(Y)
    raise AssertionError


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("seed", range(4))
def test_plain_passes_go_blind_where_predicted(dtype, seed):
    """Before that layer the plain pass is right up to a factor, from there on it sees its own noise."""
    net = Network.random(8, 4, heads=1, layers=9, seed=seed)
    X = net.random_input(seed=seed + 10, scale=0.8) + 1.0
    fate = decay(net, X)
    layer = fate.invisible_from[dtype]
    seen = plain_in(dtype, net, X)
    true = fate.trace.log_residual - fate.trace.log_mean - math.log(8) / 2
    unit = math.log(UNIT_ROUNDOFF[dtype])
    assert layer is not None
    for l in range(net.layers + 1):
        if true[l] > unit + 4:
            assert abs(seen[l] - true[l]) < 1.0
        if true[l] < unit - 8:
            assert l >= layer
            assert seen[l] > true[l] + 4 or seen[l] == -math.inf


def test_the_plain_float64_pass_is_the_one_that_goes_blind():
    net = Network.random(8, 4, layers=8, seed=0)
    X = net.random_input(seed=1) + 1.0
    layer = decay(net, X).invisible_from["float64"]
    out = forward(net, X)
    assert layer is not None
    assert layer < 8
    assert (
        np.linalg.norm(out - out.mean(axis=0)) == 0
        or math.log(np.linalg.norm(out - out.mean(axis=0)) / np.linalg.norm(out)) > trace(net, X).log_residual[-1] + 100
    )


def test_tokens_are_invisible_where_they_differ_from_their_mean_by_less_than_its_rounding():
    """Sixteen tokens 1 ± δ: ‖res‖_F = 4δ, and √n times the mean is 4."""
    net = Network.random(16, 1, layers=2, seed=0)
    signs = np.resize([1.0, -1.0], (16, 1))
    for name in ("bfloat16", "float32"):
        for factor, first in ((0.5, True), (0.99, True), (1.01, False), (2.0, False)):
            found = decay(net, 1 + factor * UNIT_ROUNDOFF[name] * signs, digits=1).invisible_from[name]
            assert (found == 0) is first


def test_skips_stay_visible():
    net = Network.random(5, 3, layers=6, seed=0, skip=True)
    assert decay(net, net.random_input(seed=1)).invisible_from == dict.fromkeys(UNIT_ROUNDOFF)


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"digits": 0}, "digits: 0 given"),
        ({"digits": 2.5}, "digits: 2.5 given"),
        ({"norm": "two"}, "norm: 'two' given"),
        ({"X": [[math.nan, 0.0]]}, "X: entry"),
        ({"X": np.zeros((2, 3, 2)) + np.arange(2)}, r"X: shape \(2, 3, 2\) given"),
        ({"net": 3}, "net: a int given"),
    ],
)
def test_refusals(arguments, message):
    net = Network.random(3, 2, seed=0)
    with pytest.raises(ValueError, match=message):
        decay(**({"net": net, "X": net.random_input(seed=1)} | arguments))


def test_limit_refuses_crossed_bounds():
    fate = decay(*two_tokens(3))
    with pytest.raises(ValueError, match=r"log_ratio_lower: 2\.0 given; it must be at most log_ratio_upper, 1\.0"):
        fate.limit(2.0, 1.0)
    with pytest.raises(ValueError, match="log_ratio_upper: inf given"):
        fate.limit(2.0, math.inf)
