"""Networks of every kind, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rankmath.model.network import Network

Draw = Callable[..., tuple[Network, np.ndarray]]


@pytest.fixture(scope="session")
def draw_network() -> Draw:
    """draw(seed, tokens, dim, heads, layers): a network of at most that size with random switches, and tokens.

    `pure` leaves attention and biases alone: the cubic decay.
    """

    def draw(
        seed: int, tokens: int, dim: int, heads: int, layers: int, *, pure: bool = False
    ) -> tuple[Network, np.ndarray]:
        rng = np.random.default_rng(seed)

        def pick(*values: object) -> object:
            return values[rng.integers(len(values))]

        n, d = int(rng.integers(2, tokens + 1)), int(rng.integers(2, dim + 1))
        switches = (
            {}
            if pure
            else {
                "skip": pick(False, True, 0.5, -0.3),
                "mlp": pick(None, None, "relu", "tanh", "gelu"),
                "norm": pick(None, None, "sphere", "standard", "column"),
                "mask": pick(None, None, "causal", "window:1", "star"),
            }
        )
        net = Network.random(
            n,
            d,
            int(rng.integers(1, heads + 1)),
            int(rng.integers(1, layers + 1)),
            seed=seed,
            **switches,
            # Heads of width one send all tokens to one line, where sphere and standard LayerNorm leave nothing.
            head_dim=pick(None, max(2, d // 2)),
            biases=pick(False, True),
            scale=pick(0.5, 1.0, 2.0),
        )
        return net, net.random_input(seed=seed + 1, scale=pick(0.1, 1.0, 3.0))

    return draw
