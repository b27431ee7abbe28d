"""Small attention networks trained here, by our own gradients: what the experiments on circles and on tasks share.

The layer is the library's: λX + Σ_h softmax((X W_Q + b_Q)(X W_K)ᵀ/√k) (X W_V) W_O + b, heads side by side, with a
map applied to every token alike where asked; so a trained one becomes a `Network` and every pass of the library
takes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rankmath.attention.experiments.gradients import Parameters, Var, gelu, softmax
from rankmath.model.network import MLP, Network
from rankmath.validation import Floats


def initial_layers(
    rng: np.random.Generator, *, dim: int, layers: int, mlp: bool, spread: float | None = None
) -> Parameters:
    """Gaussian weights with variance 1/d (or `spread`²), biases 0; names end in the layer."""
    size = 1 / math.sqrt(dim) if spread is None else spread
    found: Parameters = {}
    for l in range(layers):
        for name in ("query", "key", "value", "output"):
            found[f"{name}{l}"] = rng.standard_normal((dim, dim)) * size
        found[f"query_bias{l}"], found[f"bias{l}"] = np.zeros(dim), np.zeros(dim)
        if mlp:
            found[f"inner{l}"] = rng.standard_normal((dim, dim)) * size
            found[f"outer{l}"] = rng.standard_normal((dim, dim)) * size
            found[f"inner_bias{l}"], found[f"outer_bias{l}"] = np.zeros(dim), np.zeros(dim)
    return found


def attention_layer(p: Mapping[str, Var], X: Var, l: int, *, heads: int, skip: float, mlp: bool) -> Var:
    """One layer, Y = λX + SA(X), and with a map Y + f(Y): it keeps its own skip connection, as in Dong et
    al.'s code.
    """
    d = X.shape[-1]
    Q = (X @ p[f"query{l}"] + p[f"query_bias{l}"]).split(heads)
    K, V = (X @ p[f"key{l}"]).split(heads), (X @ p[f"value{l}"]).split(heads)
    P = softmax(Q @ K.T * (1 / math.sqrt(d // heads)))
    Y = (P @ V).joined() @ p[f"output{l}"] + p[f"bias{l}"]
    Y = Y + X * skip if skip else Y
    if mlp:
        Y = Y + gelu(Y @ p[f"inner{l}"] + p[f"inner_bias{l}"]) @ p[f"outer{l}"] + p[f"outer_bias{l}"]
    return Y


def as_network(p: Parameters, *, layers: int, heads: int, skip: float, mlp: bool) -> Network:
    """The trained layers as a network of the library."""
    d = p["query0"].shape[0]
    k = d // heads

    def split(name: str) -> Floats:
        return np.stack([p[f"{name}{l}"].reshape(d, heads, k).transpose(1, 0, 2) for l in range(layers)])

    maps = None
    if mlp:
        maps = [
            MLP(p[f"inner{l}"], p[f"outer{l}"], p[f"inner_bias{l}"], p[f"outer_bias{l}"], "gelu", skip=True)
            for l in range(layers)
        ]
    return Network.from_qkvo(
        split("query"),
        split("key"),
        split("value"),
        np.stack([p[f"output{l}"].reshape(heads, k, d) for l in range(layers)]),
        b_Q=np.stack([p[f"query_bias{l}"].reshape(heads, k) for l in range(layers)]),
        b_O=np.stack([p[f"bias{l}"] for l in range(layers)]),
        skip=skip,
        mlp=maps,
    )
