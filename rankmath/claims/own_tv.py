"""own:tv: how far two softmaxes are apart, in terms of the oscillation of the difference of their logits."""

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved

defined(
    "tv(c: array, g: array)",
    "sum(abs(softmax(c + g)[j] - softmax(c)[j]) for j in range(len(c)))/2",
    "total variation ½‖p − q‖₁ of q = softmax(c) and p = softmax(c + g)",
    example="tv(c, g) <= 1",
    by_name=True,
)


def draw_tv(rng: Rng, size: int) -> ArrayInstance:
    """A spread of logits and tilt."""
    n = int(rng.integers(2, 9))
    spread = 10.0 ** rng.uniform(-6, 1.3, (size, 1))
    c = 10.0 ** rng.uniform(-2, 1.3, (size, 1)) * rng.standard_normal((size, n))
    return ArrayInstance({"c": c, "g": spread * rng.standard_normal((size, n))}, "random", is_batch=True)


def draw_two_atoms(rng: Rng, size: int) -> ArrayInstance:
    """Two atoms about the symmetric point, where it is an equality."""
    D = 10.0 ** rng.uniform(-5, 1.2, size)
    off = 10.0 ** rng.uniform(-5, -1, size)
    c = np.stack([-D / 2 * (1 + off), np.zeros(size)], axis=-1)
    return ArrayInstance({"c": c, "g": np.stack([D, np.zeros(size)], axis=-1)}, "two atoms", is_batch=True)


own_tv = proved(
    "own:tv",
    "tv(c, g) <= tanh(osc(g)/4)",
    arrays={"c": "n", "g": "n"},
    title="Total variation of two softmaxes",
    source="this library; classical for Hilbert's metric",
    certificate="logits=c g",
    draws=(draw_tv, draw_two_atoms),
    sharp=True,
)
