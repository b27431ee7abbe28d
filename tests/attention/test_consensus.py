"""The rate near consensus: measured over many layers, it is the largest modulus of the spectrum; and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.attention.experiments.anatomy import _kind, second_moduli
from rankmath.model.network import Network
from rankmath.model.positions import ALiBi, PositionTable, Rotary

N, D, DEPTH = 4, 4, 70
TURNS = Rotary.of_frequencies([0.9, 0.35], N)
SLOPE = -0.4 * np.abs(np.subtract.outer(np.arange(N), np.arange(N)))[None]
KINDS: dict[str, dict[str, Any]] = {
    "rotary": {"positions": TURNS},
    "ALiBi": {"positions": "slope"},
    "causal": {"mask": "causal"},
    "causal and rotary": {"mask": "causal", "positions": TURNS},
    "window": {"mask": "window:1"},
}


def repeated(kind: dict[str, Any], heads: int, seed: int, depth: int) -> Network:
    """One layer, many times; the values of the heads sum to 1."""
    rng = np.random.default_rng(seed)
    if kind.get("positions") == "slope":
        kind = {**kind, "positions": PositionTable(np.tile(SLOPE, (heads, 1, 1)))}
    net = Network.random(N, D, heads, depth, **kind)
    query = 0.8 * rng.standard_normal((heads, D, D))
    value = 0.05 * rng.standard_normal((heads, D, D)) + np.diag(rng.uniform(-2, 3, D))
    value[-1] = np.eye(D) - value[:-1].sum(axis=0)
    return net.replace(query=np.tile(query, (depth, 1, 1, 1)), value=np.tile(value, (depth, 1, 1, 1)))


def test_two_heads_whose_leading_eigenvalue_is_real_fall_by_its_modulus() -> None:
    X = np.array([0.3, -1.0, 0.5, 0.8]) + 0.02 * np.random.default_rng(7).standard_normal((N, D))
    net = repeated(KINDS["ALiBi"], 2, 3, DEPTH)
    logs = np.asarray(rm.trace(net, X).log_residual)
    leading = rm.consensus_spectrum(net, rm.forward(net, X)[0])
    assert abs(leading[0].imag) < 1e-12
    assert np.exp(logs[-1] - logs[-2]) == pytest.approx(abs(leading[0]), rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_measured_factor_is_the_second_modulus_of_any_weights(kind: str) -> None:
    """One head with W = 1, repeated: real or complex, alone or near to others."""
    net = repeated(KINDS[kind], 1, 0, 160)
    net = net.replace(value=np.tile(np.eye(D), (160, 1, 1, 1)))
    X = np.random.default_rng(0).standard_normal((N, D))
    leading = abs(rm.consensus_spectrum(net, rm.forward(net, X)[0])[0])
    assert rm.consensus_factor(net, X) == pytest.approx(leading, abs=1e-8)


def test_random_masks_and_one_that_leaves_tokens_on_a_plateau() -> None:
    """Directed masks with self-loops; eigenvalues ½ that are multiple; then heads so sharp that nothing meets."""
    rng = np.random.default_rng(5)
    chain = np.eye(3, dtype=bool) | np.eye(3, k=-1, dtype=bool)
    for mask in (chain, rng.random((5, 5)) < 0.4, np.tril(rng.random((6, 6)) < 0.5)):
        mask[:, 0] |= len(mask) > 3
        np.fill_diagonal(mask, True)
        n = len(mask)
        net = Network.random(n, 2, 1, 200, mask=mask, seed=n)
        net = net.replace(query=np.tile(net.query[:1], (200, 1, 1, 1)), value=np.tile(np.eye(2), (200, 1, 1, 1)))
        X = rng.standard_normal((n, 2))
        leading = abs(rm.consensus_spectrum(net, rm.forward(net, X)[0])[0])
        assert rm.consensus_factor(net, X) == pytest.approx(leading, abs=1e-8)
    sharp = Network.from_arrays(
        np.tile(30 * np.eye(2), (60, 1, 1, 1)), np.tile(np.eye(2), (60, 1, 1, 1)), mask="causal"
    )
    with pytest.raises(rm.InvalidArgument, match=r"^X: .* of the residual is left 24 layers before the end"):
        rm.consensus_factor(sharp, [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize(("mask", "slope"), [("causal_window:2", 0.8), ("causal", 0.4), (None, 0.9)])
def test_balls_enclose_the_factor_also_where_the_eigenvalue_is_defective(mask: str | None, slope: float) -> None:
    """ALiBi and a causal mask: 1/(1 + e^{g(1) − g(0)}), for a window of two on a Jordan block of all other tokens."""
    net = Network.random(N, 2, 1, 1, seed=3, positions=ALiBi([slope]), mask=mask)
    layer = net.sublayers[0][0].with_attention(value=np.eye(2)[None], query=np.zeros((1, 2, 2)))
    if mask == "causal_window:2":
        layer = layer.with_attention(query=0.3 * np.ones((1, 2, 2)))
    deep = Network.from_layers([[layer]] * 110, tokens=N)
    X = np.random.default_rng(4).standard_normal((N, 2))
    found = rm.consensus_factor(deep, X, arithmetic="balls")
    exact = abs(rm.consensus_spectrum(deep, [1.0, 0.0])[0]) if mask is None else 1 / (1 + np.exp(-slope))
    assert float(found.rad()) < 1e-10
    assert abs(float(found) - exact) < 1e-10


def test_without_positions_nothing_of_first_order_is_left() -> None:
    net = Network.random(5, 3, 2, 1, seed=1)
    assert abs(rm.consensus_spectrum(net, [1.0, 2.0, -1.0])).max() < 1e-15


def test_what_is_not_attention_alone_is_refused() -> None:
    for net in (Network.random(3, 2, 1, 1, skip=1.0), Network.random(3, 2, 1, 1, norm="rms")):
        with pytest.raises(rm.InvalidArgument, match=r"^net: a layer with skip"):
            rm.consensus_spectrum(net, [1.0, 0.0])
    with pytest.raises(rm.InvalidArgument, match=r"^bits: 64 given with arithmetic 'float64'"):
        rm.consensus_factor(Network.random(3, 2, 1, 9), np.eye(3, 2), bits=64)
    with pytest.raises(rm.InvalidArgument, match=r"^layer: "):
        rm.consensus_spectrum(Network.random(3, 2, 1, 1), [1.0, 0.0], layer=1)


@pytest.mark.parametrize(
    ("net", "said"),
    [
        (Network.from_arrays(np.zeros((40, 1, 2, 2)), np.tile(np.eye(2), (40, 1, 1, 1))), "the tokens are equal"),
        (Network.random(tokens=5, dim=2, layers=40, seed=0), "ever faster or by jumps"),
        (Network.random(tokens=3, dim=2, layers=5, seed=0), "ever faster or by jumps"),
    ],
)
def test_a_run_without_a_factor_is_refused_in_words(net: rm.Network, said: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rm.InvalidArgument, match=said):
            rm.consensus_factor(net, [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]], last=min(3, net.layers))


def test_a_mask_or_a_plateau_is_never_called_doubly_exponential() -> None:
    """In words: orders of three where all tokens see the same, else a factor a layer, also of one layer alone."""
    net = Network.random(tokens=6, dim=4, layers=8, seed=0)
    X = net.random_input(seed=1)
    for mask, layers in ((None, 8), ("causal", 8), ("causal", 1)):
        short = Network.from_layers(net.replace(mask=mask).sublayers[:layers])
        logs = rm.measure(short, X, ["relative-residual"]).logs["relative-residual"]
        said = _kind(rm.trace(short, X), logs, float(second_moduli(short, X).max()))
        assert said.startswith("doubly exponential, orders ") is (mask is None)
        assert "nan" not in said
    still = Network.from_arrays(np.zeros((4, 1, 2, 2)), np.tile(np.eye(2), (4, 1, 1, 1)), mask="window:0")
    run, logs = rm.trace(still, X[:2, :2]), np.zeros(5)
    assert "which is no fall" in _kind(run, logs, 1.0)
