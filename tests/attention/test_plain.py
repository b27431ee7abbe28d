"""The plain pass is the definition, also where the heads are projected together."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm


@pytest.mark.parametrize("n", [5, 63, 64, 70])
def test_heads_projected_together_are_the_heads_one_by_one(n: int) -> None:
    rng = np.random.default_rng(n)
    W_Q, W_K, W_V = rng.standard_normal((3, 1, 3, 6, 2))
    W_O = rng.standard_normal((1, 3, 2, 6))
    X = rng.standard_normal((n, 6))
    expected = np.zeros((n, 6))
    for h in range(3):
        logits = (X @ W_Q[0, h]) @ (X @ W_K[0, h]).T / np.sqrt(2)
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        expected += P / P.sum(axis=1, keepdims=True) @ X @ W_V[0, h] @ W_O[0, h]
    found = rm.forward(rm.Network.from_qkvo(W_Q, W_K, W_V, W_O), X)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
