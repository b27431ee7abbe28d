"""The norm of a layer's derivative, against the whole matrix by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.attention.experiments.jacobian import jacobian_norms
from rankmath.model.network import Sublayer


def dense(net: rm.Network, X: Any, h: float = 1e-6) -> float:
    columns = []
    for place in np.ndindex(X.shape):
        up, down = X.copy(), X.copy()
        up[place] += h
        down[place] -= h
        columns.append((rm.forward(net, up) - rm.forward(net, down)).ravel() / (2 * h))
    return float(np.linalg.norm(np.asarray(columns), 2))


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu", "gelu_tanh", "silu", "quick_gelu"])
@pytest.mark.parametrize("norm", ["standard", "rms", "sphere"])
def test_every_part(activation: Any, norm: Any) -> None:
    base = rm.Network.random(tokens=4, dim=5, heads=2, layers=1, seed=0, head_dim=3, biases=True, mask="causal")
    rng = np.random.default_rng(1)
    f = rm.MLP(rng.standard_normal((5, 7)), rng.standard_normal((7, 5)), rng.standard_normal(7), activation=activation)
    after = rm.LayerNorm(norm)
    layer = [Sublayer(base.attentions[0], 0.7, before=after), Sublayer(f, 1.0, after=after)]
    net = rm.Network.from_layers([layer])
    X = rng.standard_normal((4, 5))
    assert jacobian_norms(net, X)[0] == pytest.approx(dense(net, X), rel=1e-6)


def test_small_and_deep_networks() -> None:
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=3, seed=0, skip=True)
    X = net.random_input(seed=1)
    states = rm.hidden_states(net, X)
    for l, found in enumerate(jacobian_norms(net, X)):
        one = rm.Network.from_layers([net.sublayers[l]])
        assert found == pytest.approx(dense(one, states[l]), rel=1e-6)
    with pytest.raises(rm.InvalidArgument, match="LayerNorm 'column' given"):
        jacobian_norms(rm.Network.random(tokens=3, dim=2, seed=0, norm="column"), X)
