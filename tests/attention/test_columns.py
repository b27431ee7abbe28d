"""Metrics along the layers: the columns are the metrics of the states, and have no floor."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import rankmath as rm
from rankmath.attention.columns import METRICS, VANISHING
from rankmath.linalg.metrics import ATTENTION_METRICS, TOKEN_METRICS, mean_cosine


def network(**options: object) -> tuple[rm.Network, object]:
    net = rm.Network.random(tokens=6, dim=8, heads=2, layers=3, seed=0, head_dim=3, biases=True, **options)  # type: ignore[arg-type]
    return net, net.random_input(seed=1)


@pytest.mark.parametrize(
    "options", [{}, {"skip": True}, {"skip": True, "norm": "standard", "mlp": "gelu"}, {"mask": "causal"}]
)
def test_columns_are_the_metrics_of_the_states(options: dict[str, object]) -> None:
    net, X = network(**options)
    found = rm.measure(net, X, METRICS)
    states, P = rm.hidden_states(net, X), rm.attention_matrices(net, X)
    for name in METRICS:
        for l, state in enumerate(states):
            value = found.values[name][l]
            if name in ATTENTION_METRICS:
                if l == 0:
                    assert np.isnan(value)
                    continue
                expected = np.mean([ATTENTION_METRICS[name](matrix) for matrix in P[l - 1]])
            elif name == "cosine-gap":
                expected = 1 - mean_cosine(state)
            else:
                expected = TOKEN_METRICS[name](state)
            # A logarithm of a small singular value has fewer digits, or none.
            near = {"abs": 1e-3, "nan_ok": True} if name == "isometry-gap" else {"abs": 1e-11}
            assert value == pytest.approx(float(expected), rel=1e-7, **near), (name, l)


@pytest.mark.parametrize("options", [{}, {"mask": "causal"}, {"skip": True, "norm": "standard"}])
def test_balls_contain_what_doubles_measure(options: dict[str, object]) -> None:
    net, X = network(**options)
    floats, balls = rm.measure(net, X, METRICS), rm.measure(net, X, METRICS, arithmetic="balls")
    for name in METRICS:
        for l, ball in enumerate(balls.balls[name]):
            if ball is None:
                assert name in ATTENTION_METRICS
                assert l == 0
            elif np.isnan(floats.values[name][l]):
                assert name in ("isometry-gap", "spectral-gap")
                assert not ball < 25
            elif ball.is_finite():
                distance = abs(floats.values[name][l] - float(ball.mid()))
                assert distance <= float(ball.rad()) + 1e-7 * max(1.0, abs(float(ball.mid()))), (name, l)


def test_nothing_that_vanishes_has_a_floor() -> None:
    net = rm.Network.random(tokens=6, dim=4, heads=2, layers=9, seed=0)
    X = net.random_input(seed=1, scale=0.3)
    found, balls = rm.measure(net, X, VANISHING), rm.measure(net, X, VANISHING, arithmetic="balls", bits=512)
    log = rm.trace(net, X).log_residual
    assert log[9] < -1e4
    for name in VANISHING:
        assert found.logs[name] == pytest.approx(balls.logs[name], rel=1e-9)
        # Energies and cosines are quadratic in the residual.
        power = 1 if name in ("relative-residual", "mu-ratio", "high-low-ratio") else 2
        assert found.logs[name][9] / log[9] == pytest.approx(power, rel=1e-2)


def plain(X: mpmath.matrix, layer: rm.Attention) -> mpmath.matrix:
    """A layer by its definition, in the digits that are worked in."""
    made = mpmath.zeros(X.rows, X.cols)
    for W_QK, W in zip(layer.query, layer.value, strict=True):
        P = (X * mpmath.matrix(W_QK.tolist()) * X.T / mpmath.sqrt(layer.d_qk)).apply(mpmath.exp)
        for i in range(X.rows):
            P[i, :] /= mpmath.fsum(P[i, :])
        made += P * X * mpmath.matrix(W.tolist())
    return made


def test_what_grows_as_tokens_collapse_is_no_rounding() -> None:
    """In doubles nan where the digits end; in balls what digits of mpmath say, at every layer."""
    net = rm.Network.random(tokens=4, dim=6, heads=2, layers=7, seed=0)
    X = net.random_input(seed=1)
    names = ("isometry-gap", "spectral-gap")
    found, balls = rm.measure(net, X, names), rm.measure(net, X, names, arithmetic="balls", bits=8192)
    with mpmath.workdps(2000):
        rows = mpmath.matrix(X.tolist())
        for l in range(8):
            rows = plain(rows, net.attentions[l - 1]) if l else rows
            G = rows * rows.T
            trace = mpmath.fsum(G[i, i] for i in range(4))
            gap = float(mpmath.log(trace / 4) - mpmath.log(mpmath.det(G)) / 4)
            ball = balls.balls["isometry-gap"][l]
            assert abs(float(ball.mid()) - gap) <= float(ball.rad()) + 1e-12 * gap
            assert float(ball.rad()) < 1e-8 * gap
    for name in names:
        assert np.isnan(found.values[name][7])
        assert all(ball.is_finite() for ball in balls.balls[name][1:])
        seen = np.isfinite(found.values[name])
        assert seen.sum() >= 3
        assert found.values[name][seen] == pytest.approx(balls.values[name][seen], rel=1e-3)
    assert balls.balls["spectral-gap"][7] > 1e300


def test_refusals() -> None:
    net, X = network()
    with pytest.raises(rm.InvalidArgument, match="metric: 'rank' given; allowed are 'relative-residual'"):
        rm.measure(net, X, ["rank"])
    with pytest.raises(rm.InvalidArgument, match="a sequence of names is needed"):
        rm.measure(net, X, "stable-rank")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["stable-rank", "effective-rank", "participation-ratio", "isometry-gap"])
def test_zero_tokens_are_measured_without_a_warning(name: str) -> None:
    net = rm.Network.random(tokens=3, dim=4, layers=1, seed=0)
    for arithmetic in ("float64", "balls"):
        assert np.isnan(rm.measure(net, np.zeros((3, 4)), [name], arithmetic=arithmetic).values[name]).all()


def test_a_backend_is_taken_by_name() -> None:
    net = rm.Network.random(tokens=5, dim=4, layers=2, seed=0)
    X = net.random_input(seed=1)
    here, there = rm.measure(net, X, ["mu-ratio"]), rm.measure(net, X, ["mu-ratio"], backend="numpy")
    assert (here.logs["mu-ratio"] == there.logs["mu-ratio"]).all()
    with pytest.raises(rm.InvalidArgument, match="backend: 'torch' given; allowed are 'numpy', 'cupy'"):
        rm.measure(net, X, ["mu-ratio"], backend="torch")
    with pytest.raises(rm.InvalidArgument, match="backend: 'cupy' given with arithmetic 'balls'"):
        rm.measure(net, X, ["mu-ratio"], backend="cupy", arithmetic="balls")


def test_columns_of_a_batch_are_those_of_its_sequences() -> None:
    net, _ = network(mask="causal")
    X = np.random.default_rng(3).standard_normal((2, 3, 6, 8))
    found = rm.measure(net, X, ["mu-ratio", "stable-rank"])
    for place in np.ndindex(2, 3):
        one = rm.measure(net, X[place], ["mu-ratio", "stable-rank"])
        assert (found.logs["mu-ratio"][:, *place] == one.logs["mu-ratio"]).all()
        assert (found.values["stable-rank"][:, *place] == one.values["stable-rank"]).all()
    with pytest.raises(rm.InvalidArgument, match="measure takes one sequence"):
        rm.measure(net, X, ["mu-ratio"], arithmetic="balls")
    stack = rm.Network.stack([net, net])
    with pytest.raises(rm.InvalidArgument, match="a stack of networks given; measure takes one network"):
        rm.measure(stack, X[0, 0], ["mu-ratio"])


@pytest.mark.parametrize(
    "X",
    [
        [[0.0, 0], [1, 2], [3, 4]],
        [[1.0, 0], [-1, 2], [0, 0]],
        [[0.0, 0], [0, 0], [0, 0]],
        [[0.0, 0], [0.1, 0.1], [0.1, 1]],  # mean and residual cancel to rounding alone
    ],
)
def test_a_zero_token_has_no_cosine_and_leaves_the_other_columns(X: list[list[float]]) -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=2, seed=0)
    cosines = ("mean-cosine", "largest-cosine", "least-cosine", "mean-average-distance", "cosine-gap")
    found = rm.measure(net, np.array(X), [*cosines, "effective-rank"])
    for name in cosines:
        assert np.isnan(found.values[name][0])
        assert np.isfinite(found.values[name][1]) == any(map(any, X))
    rank = TOKEN_METRICS["effective-rank"](np.array(X)) if any(map(any, X)) else np.nan
    assert found.values["effective-rank"][0] == pytest.approx(rank, nan_ok=True)


@pytest.mark.parametrize("arithmetic", ["float64", "balls"])
def test_tokens_that_are_all_zero_beside_one_that_dominates_have_no_effective_rank(arithmetic: str) -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=1, seed=0)
    found = rm.measure(net, np.array([[0.0, 0], [0, 0], [100, 0]]), ["effective-rank-others"], arithmetic=arithmetic)
    assert np.isnan(found.values["effective-rank-others"][0])


@pytest.mark.filterwarnings("error")
def test_attention_whose_logits_are_beyond_doubles_is_not_measured() -> None:
    """No number, no warning; the other layers and columns are as they are."""
    names = [*ATTENTION_METRICS, "relative-residual"]
    net = rm.Network.from_arrays(np.zeros((6, 1, 4, 4)), np.tile(1e100 * np.eye(4), (6, 1, 1, 1)), mask="causal")
    X = np.random.default_rng(0).standard_normal((4, 4))
    found = rm.measure(net, X, names)
    for name in ATTENTION_METRICS:
        # The third layer reads tokens of size 1e200, the fifth tokens that no double holds.
        assert np.isfinite(found.values[name][1:4]).all()
        assert np.isnan(found.values[name][5:]).all()
    assert np.isfinite(found.logs["relative-residual"]).all()
    deep = rm.Network.random(tokens=4, dim=4, heads=2, layers=2, seed=0, mlp="gelu")
    found = rm.measure(deep, 1e200 * X, names)
    assert np.isnan(found.values["attention-entropy"]).all()
    assert np.isfinite(found.values["relative-residual"][0])
    for taker in (rm.forward, rm.hidden_states, rm.attention_matrices):
        with pytest.raises(rm.InvalidArgument, match="X: too large for the plain pass"):
            taker(deep, 1e200 * X)
