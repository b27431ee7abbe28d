"""Instances to try a statement on: random over scales, and structured where bounds come under strain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rankmath.model.network import MLP, Network
from rankmath.model.sublayers import Activation, NormKind
from rankmath.validation import ArrayLike, Floats, Objects
from rankmath.verification.instance import ArrayInstance, NetworkInstance

Rng = np.random.Generator
Tokens = Callable[[Rng, int, int, int], Floats]


def random_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Gaussian tokens with a scale from 1e-6 to 1e3 each, and a mean of its own scale."""
    scale = 10.0 ** rng.uniform(-6, 3, (size, 1, 1))
    mean = 10.0 ** rng.uniform(-6, 2, (size, 1, 1)) * rng.standard_normal((size, 1, d))
    return scale * rng.standard_normal((size, n, d)) + mean


def moderate_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Scales from 0.03 to 3, where a softmax is neither linear nor saturated."""
    return 10.0 ** rng.uniform(-1.5, 0.5, (size, 1, 1)) * rng.standard_normal((size, n, d))


def small_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Scales from 0.001 to 0.3, where logits are small."""
    return 10.0 ** rng.uniform(-3, -0.5, (size, 1, 1)) * rng.standard_normal((size, n, d))


def clustered_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Two clusters with a spread far below their distance."""
    centers = rng.standard_normal((size, 2, d))
    which = rng.integers(0, 2, (size, n))
    spread = 10.0 ** rng.uniform(-6, -1, (size, 1, 1))
    return np.take_along_axis(centers, which[..., None], axis=1) + spread * rng.standard_normal((size, n, d))


def antipodal_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """±a, nearly."""
    a = 10.0 ** rng.uniform(-1, 0.7, (size, 1, 1)) * rng.standard_normal((size, 1, d))
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)[None, :, None]
    return signs * a * (1 + 10.0 ** rng.uniform(-9, -2, (size, 1, 1)) * rng.standard_normal((size, n, d)))


def low_rank_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Tokens on a line."""
    return rng.standard_normal((size, n, 1)) * rng.standard_normal((size, 1, d))


def outlier_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """One token away from all the others."""
    X = 10.0 ** rng.uniform(-6, -1, (size, 1, 1)) * rng.standard_normal((size, n, d))
    X[:, 0] += rng.standard_normal((size, d)) * 10.0 ** rng.uniform(-1, 1, (size, 1))
    return X


ALL_TOKENS: tuple[Tokens, ...] = (random_tokens, moderate_tokens, clustered_tokens)
ALL_TOKENS += (antipodal_tokens, low_rank_tokens, outlier_tokens)


#: Shapes (n, d, H, L) of small networks.
SMALL = ((2, 1, 1, 1), (2, 2, 1, 1), (3, 2, 2, 1), (5, 3, 1, 2), (6, 4, 2, 2), (8, 3, 1, 3))


def networks(
    tokens: Tokens,
    *,
    shapes: Sequence[tuple[int, int, int, int]],
    log_weights: tuple[float, float] = (-1.0, 1.0),
    biases: bool = True,
    skip: float = 0.0,
    mlp: Activation | None = None,
    norm: NormKind | None = None,
) -> Callable[[Rng, int], NetworkInstance]:
    """A generator of batches of networks: shapes (n, d, H, L), weights scaled by 10^uniform(log_weights)."""

    def draw(rng: Rng, size: int) -> NetworkInstance:
        n, d, H, L = shapes[int(rng.integers(len(shapes)))]
        scale = 10.0 ** rng.uniform(*log_weights, (L, H, size, 1, 1))
        W_QK = scale * rng.standard_normal((L, H, size, d, d)) / math.sqrt(d)
        W = 10.0 ** rng.uniform(*log_weights, (L, H, size, 1, 1)) * rng.standard_normal((L, H, size, d, d))
        if rng.random() < 0.3:  # sparse weights: where max and sums of entries part
            W_QK = W_QK * (rng.random(W_QK.shape) < 0.5)
        key_bias = rng.standard_normal((L, H, size, d)) if biases else None
        bias = rng.standard_normal((L, size, d)) if biases else None
        maps = tuple(_mlp(rng, d, mlp) if mlp else None for _ in range(L))
        base = Network.random(n, d, H, L, norm=norm, skip=skip)
        stacked: dict[str, Any] = {"query": W_QK, "value": W, "key_bias": key_bias, "bias": bias, "mlp": maps}
        label = tokens.__name__.replace("_", " ")
        return NetworkInstance(replace(base, **stacked), tokens(rng, size, n, d), label)

    return draw


def _mlp(rng: Rng, d: int, activation: Activation) -> MLP:
    width = 2 * d
    return MLP(
        rng.standard_normal((d, width)) / math.sqrt(d),
        rng.standard_normal((width, d)) / math.sqrt(width),
        0.3 * rng.standard_normal(width),
        0.3 * rng.standard_normal(d),
        activation=activation,
    )


def rational_stochastic(rng: Rng, n: int) -> Objects:
    """A random row-stochastic matrix of Fractions, extremes included: identity, rank one, permutation, reducible."""
    kind = rng.integers(5)
    if kind == 0:
        weights = np.eye(n, dtype=int)
    elif kind == 1:
        weights = np.tile(rng.integers(1, 20, n), (n, 1))
    elif kind == 2:
        weights = np.eye(n, dtype=int)[rng.permutation(n)]
    elif kind == 3:
        weights = 10**9 * np.eye(n, dtype=int) + rng.integers(0, 2, (n, n))
    else:
        weights = rng.integers(0, 100, (n, n)) + np.eye(n, dtype=int)
    return np.asarray([[Fraction(int(w), int(row.sum())) for w in row] for row in weights], dtype=object)


def written(label: str, *given: Mapping[str, ArrayLike]) -> Callable[[Rng], Iterator[ArrayInstance]]:
    """Instances of doubles that are written down, such as those near equality."""
    made = [{name: np.asarray(array, dtype=float) for name, array in one.items()} for one in given]
    return lambda _: (ArrayInstance(arrays, label) for arrays in made)
