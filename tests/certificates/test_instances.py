"""What a certificate says of a network is the network: its data, run from the definition, give the same tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.certificates.issue import Instance, instance_of
from rankmath.linalg.masks import Mask
from rankmath.model.sublayers import MLP, LayerNorm

N, D = 4, 2


def options(rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    mlps = [
        MLP(*(rng.standard_normal(s) for s in ((D, 3), (3, D), 3, D)), activation=name, skip=skip)
        for name, skip in (("relu", True), ("tanh", False))
    ]
    return {
        "plain": {},
        "biases": {"key_bias": rng.standard_normal((2, 2, D)), "bias": rng.standard_normal((2, D)), "d_qk": 3.0},
        "skip": {"skip": -0.5},
        "causal": {"mask": "causal"},
        "seen": {"mask": Mask(np.triu(np.ones((N, N), bool), -1))},
        "sphere": {"norm": "sphere"},
        "column": {"norm": "column", "skip": 1.0},
        "mlp": {"mlp": mlps, "skip": 0.5},
    }


def ran(data: dict[str, Any]) -> np.ndarray:
    """A certificate's data, layer by layer, in doubles and from the words of its format."""

    def floats(a: Any) -> np.ndarray:
        return np.array(a, dtype=float)

    X, layernorm = floats(data["X"]), data["layernorm"]
    seen = np.ones((N, N)) if isinstance(data["mask"], str) else floats(data["mask"])

    def normed(Y: np.ndarray) -> np.ndarray:
        if layernorm == "sphere":
            return np.asarray(Y / np.linalg.norm(Y, axis=1, keepdims=True))
        return np.asarray((Y - Y.mean(axis=0)) / Y.std(axis=0)) if layernorm == "column" else Y

    if layernorm == "sphere":
        X = normed(X)
    for layer in data["layers"]:
        Y = float(data["skip"]) * X + floats(layer["bias"])
        for head in layer["heads"]:
            logits = X @ floats(head["W_QK"]) @ X.T + X @ floats(head["key_bias"])
            E = seen * np.exp(logits / np.sqrt(float(data["d_qk"])))
            Y = Y + E / E.sum(axis=1, keepdims=True) @ X @ floats(head["W"])
        if "mlp" in layer:
            f = layer["mlp"]
            hidden = Y @ floats(f["W_in"]) + floats(f["b_in"])
            bent = np.maximum(hidden, 0) if f["activation"] == "relu" else np.tanh(hidden)
            Y = float(f["skip"]) * Y + bent @ floats(f["W_out"]) + floats(f["b_out"])
        X = normed(Y)
    return X


@pytest.mark.parametrize("name", options(np.random.default_rng(0)))
def test_the_data_of_a_certificate_run_like_the_network(name: str) -> None:
    rng = np.random.default_rng(1)
    chosen = options(rng)[name]
    W_QK, W = rng.standard_normal((2, 2, 2, D, D))
    net = rm.Network.from_arrays(W_QK, W, **chosen)
    X = rng.standard_normal((N, D))
    if name == "sphere":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(ran(Instance.of(net, X).data()), rm.forward(net, X), rtol=1e-11, atol=1e-12)


def test_factors_are_multiplied_out() -> None:
    rng = np.random.default_rng(2)
    Q, K, V = rng.standard_normal((3, 2, 2, D, 3))
    net = rm.Network.from_qkvo(Q, K, V, rng.standard_normal((2, 2, 3, D)), mask="causal")
    X = rng.standard_normal((N, D))
    np.testing.assert_allclose(ran(Instance.of(net, X).data()), rm.forward(net, X), rtol=1e-11)


@pytest.mark.parametrize(
    "norm", ["standard", "rms", LayerNorm("column", 1e-5), LayerNorm("column", 1e-300), LayerNorm("rms", 0.1)]
)
def test_a_norm_that_the_one_line_form_cannot_say_is_said_by_sublayers(norm: Any) -> None:
    """An eps > 0 above all: without it the certificate would be about another network."""
    ones = np.ones((1, 1, D, D))
    net = rm.Network.from_arrays(ones, ones, norm=norm)
    with pytest.raises(rm.InvalidArgument, match=r"^net: norm "):
        Instance.of(net, np.eye(2))
    assert "layernorm" not in instance_of(net, np.eye(2)).data()


def layers_with_masks(*masks: Any) -> tuple[rm.Network, np.ndarray]:
    parts = [rm.Network.random(3, 2, seed=seed, mask=mask).sublayers[0] for seed, mask in enumerate(masks)]
    net = rm.Network.from_layers(parts, 3)
    return net, net.random_input(seed=1)


def test_a_network_whose_layers_have_masks_of_their_own_is_certified() -> None:
    net, X = layers_with_masks("causal", "window:1")
    verdict = rm.verify("own:transport", net, X)
    assert verdict.outcome == "HOLDS"
    assert verdict.log_lhs <= verdict.log_rhs
    certificate = rm.certify("own:transport", net, X)
    masks = [layer[0]["maps"][0]["attention"]["mask"] for layer in certificate.data["layers"]]
    assert masks == [((1, 0, 0), (1, 1, 0), (1, 1, 1)), ((1, 1, 0), (1, 1, 1), (0, 1, 1))]
    assert certificate.check().accepted


@pytest.mark.parametrize("key", ["own:causal-rate", "own:diameter", "dong2021:2.2"])
def test_no_word_names_the_masks_of_layers_that_differ(key: str) -> None:
    assert rm.verify(key, *layers_with_masks("causal", "star:1")).outcome == "NOT_APPLICABLE"


def test_what_is_read_off_one_mask_is_refused_where_masks_differ() -> None:
    for key in ("wu2024:1", "wu2024:1-doeblin"):
        with pytest.raises(rm.InvalidArgument, match="differs from layer to layer"):
            rm.verify(key, *layers_with_masks("causal", "window:1"))
    hidden = [np.tile(np.array(row, dtype=bool), (3, 1)) for row in ([1, 1, 0], [0, 1, 1])]
    with pytest.raises(rm.InvalidArgument, match="differs from layer to layer"):
        rm.verify("own:diameter", *layers_with_masks(*hidden))


@pytest.mark.parametrize("activation", ["gelu", "silu", "gelu_tanh", "quick_gelu"])
def test_an_activation_that_a_certificate_cannot_say_is_refused(activation: Any) -> None:
    ones = np.ones((1, 1, D, D))
    net = rm.Network.from_arrays(ones, ones, mlp=MLP(np.eye(D), np.eye(D), activation=activation))
    with pytest.raises(rm.InvalidArgument, match="activation"):
        Instance.of(net, np.eye(2))
    assert "layernorm" not in instance_of(net, np.eye(2)).data()
