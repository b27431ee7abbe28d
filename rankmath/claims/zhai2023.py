"""zhai2023:3.1: the least entropy that attention can have, given the norms of weights and tokens: attained."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved, refuted
from rankmath.verification.papers import OWN, ZHAI

defined(
    "row_entropy(X: array, W: array)",
    "P = softmax(X @ W @ T(X)); min(sum(P[i][j]*log(1/P[i][j]) for j in range(n)) for i in range(n))",
    "least entropy of a row of softmax(XWXᵀ), in nats",
    by_name=True,
)
defined("logit_size(X: array, W: array)", "spectral(W)*spectral(X @ T(X))", "spectral norm of W times that of XXᵀ")


defined(
    "entropy_floor(T: number, s: number)",
    "b = exp(-s*sqrt(T/(T - 1))); log(1 + (T - 1)*b) + s*sqrt(T*(T - 1))*b/(1 + (T - 1)*b)",
    "log(1 + (T − 1)β) + s√(T(T − 1))β/(1 + (T − 1)β), β = e^(−s√(T/(T − 1))), for T tokens",
    example="entropy_floor(3, 1) >= 0",
    by_name=True,
)


def draw_entropies(rng: Rng, size: int) -> ArrayInstance:
    """Random tokens and weights, with logits of moderate size."""
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    scale = 10.0 ** rng.uniform(-1, 0.4, (size, 1, 1))
    X, W = rng.standard_normal((size, n, d)), scale * rng.standard_normal((size, d, d))
    return ArrayInstance({"X": X, "W": W}, "random", is_batch=True)


def one_token_apart(rng: Rng) -> Iterator[ArrayInstance]:
    """Token 1 is e, the others f/√(T − 1), and W turns e nearly into the direction that separates them most."""
    for n, strength in ((2, 0.5), (3, 2.0), (6, 5.0)):
        X = np.zeros((n, 2))
        X[0, 0], X[1:, 1] = 1.0, 1 / math.sqrt(n - 1)
        angle = math.atan2(-math.sqrt(1 / n), math.sqrt(1 - 1 / n)) + 2.0**-14
        # Row i of XWXᵀ is x_i W Xᵀ: the query e sees the keys along the angle.
        W = strength * np.asarray([[math.cos(angle), math.sin(angle)], [0.0, 0.0]])
        yield ArrayInstance({"X": X, "W": W}, "one token apart")


zhai2023_3_1 = proved(
    "zhai2023:3.1",
    "entropy_floor(n, logit_size(X, W)) <= row_entropy(X, W)",
    given="n >= 2",
    arrays={"X": "n d, n >= 2", "W": "d d"},
    title="Entropy of attention, by norms, as we read it",
    source=f"{ZHAI}, Theorem 3.1, from third-party text",
    draws=(draw_entropies,),
    extremal=one_token_apart,
    sharp=True,
    notes="In the floor T is n, and s is ‖W‖₂‖XXᵀ‖₂. Attained for every n and s where d ≥ 2, as the authors say; "
    "the proof is ours.",
)


def draw_orders(rng: Rng, size: int) -> ArrayInstance:
    """Few tokens, larger and larger logits."""
    arrays = {
        "T": rng.integers(2, 6, size).astype(float),
        "sigma": 10.0 ** rng.uniform(0, 2.5, size),
        "c": 10.0 ** rng.uniform(-6, -1, size),
    }
    return ArrayInstance(arrays, "few tokens", is_batch=True)


folk_entropy_order = refuted(
    "folk:entropy-order",
    "c*T*sigma*exp(-sigma) <= entropy_floor(T, sigma)",
    given=("T >= 2", "sigma > 0", "c > 0", "c*T*sigma*exp(-sigma) <= log(T)"),
    arrays={"T": ", >= 2", "sigma": ", > 0", "c": ", > 0"},
    title="Order of the least entropy, Tσe^(−σ), as one may read it",
    source=f"often read; third parties quote it, for large σ and T, from Theorem 3.1 of {ZHAI}",
    draws=(draw_orders,),
    # Below a ten-thousand-millionth of Tσe^(−σ).
    exhibit={"T": 2, "sigma": 60, "c": Fraction(1, 10**10)},
    notes="In the floor s is σ. Where T is fixed every c fails from some σ on, for the exponent is σ√(T/(T − "
    "1)), not σ. Nothing is said where T grows with σ.",
)

own_entropy_order = proved(
    "own:entropy-order",
    "sigma*sqrt(T*(T - 1))*beta/(1 + (T - 1)*beta) <= entropy_floor(T, sigma)"
    " and entropy_floor(T, sigma) <= (T - 1)*beta*(1 + sigma*sqrt(T/(T - 1)))",
    given=("T >= 2", "sigma > 0"),
    where={"beta": "exp(-sigma*sqrt(T/(T - 1)))"},
    arrays={"T": ", >= 2", "sigma": ", > 0"},
    title="Order of the least entropy for a fixed number of tokens",
    source=f"{OWN}, after Theorem 3.1 of {ZHAI}",
    draws=(draw_orders,),
)
