"""The ball step against the same step in mpmath at equal digits (n = 16, d = 8, one head).

    OMP_NUM_THREADS=1 python benchmarks/balls_vs_mpmath.py

Both run the centred layer step of `rankmath.attention.centred` from the same tokens, side by side: the first layer,
whose logits are of moderate size, and one where the residual is small. The target is a ratio of at least 20. Depth
60 in balls, with precision raised until every enclosure is tight, is timed beside it (target: under 10 s).
"""

from __future__ import annotations

import math
from typing import Any

from timing import report, side_by_side

from rankmath.arithmetic.ball_matrices import MatrixBalls
from rankmath.arithmetic.balls import precision
from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.attention.centred import attention_step
from rankmath.attention.tokens import centre
from rankmath.attention.trace import trace
from rankmath.attention.weights import weights_of
from rankmath.model.network import Network

TOKENS, DIM = 16, 8


def step_times(digits: int, scale: float) -> dict[str, Any]:
    net = Network.random(TOKENS, DIM, seed=0)
    X = net.random_input(seed=1, scale=scale)
    bits = math.ceil(digits * math.log2(10))
    B, M = MatrixBalls(), Multiprecision(digits)
    with precision(bits):
        ball_tokens, ball_weights = centre(B, X), weights_of(B, net.attentions[0])
        tokens, weights = centre(M, X), weights_of(M, net.attentions[0])
        return side_by_side(
            {
                "balls": lambda: attention_step(B, ball_weights, ball_tokens, None),
                "mpmath": lambda: attention_step(M, weights, tokens, None),
            },
            repeats=11,
        )


def depth_60() -> float:
    net = Network.random(TOKENS, DIM, layers=60, seed=0)
    X = net.random_input(seed=1)
    return float(side_by_side({"balls": lambda: trace(net, X, arithmetic="balls")}, repeats=3)["seconds"]["balls"])


if __name__ == "__main__":
    steps = {
        f"{digits} digits, input scale {scale:g}": step_times(digits, scale)
        for digits in (30, 50, 100, 300)
        for scale in (1.0, 1e-3)
    }
    report({"step": steps, "seconds for depth 60 in balls": depth_60()})
