"""own:skip-lower: with skip connections the diameter decays no faster than 1/√L."""

from collections.abc import Iterator

import numpy as np

from rankmath.model.network import Network
from rankmath.verification.claim import ALL_TOKENS, NetworkInstance, Rng, networks, ours, proved
from rankmath.verification.draws import small_tokens


def shrinking_pairs(rng: Rng) -> Iterator[NetworkInstance]:
    """±a with W = −v: every layer an equality in the one-layer bound; L = 1 approaches the constant K(θ)."""
    for L, v, w, a in ((1, 50.0, 0.01, 0.9), (1, 1000.0, 0.0004, 1.0), (20, 1.0, 1.0, 0.3), (100, 1.0, 1.0, 0.1)):
        weights, values = np.full((L, 1, 1, 1), w), np.full((L, 1, 1, 1), -v)
        net = Network.from_arrays(weights, values, skip=True)
        yield NetworkInstance(net, np.asarray([[a], [-a]]), "two tokens")


own_skip_lower = proved(
    "own:skip-lower",
    "diameter(X[L], 2) >= diameter(X[0], 2)/sqrt(1 + (2 - theta)/(1 - theta)**2*kappa*diameter(X[0], 2)**2*L)",
    where={
        "theta": "max_l(sum_h(norm(W[l,h], 2)*tanh(norm(W_QK[l,h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))",
        "kappa": "max_l(sum_h(norm(W[l,h], 2)*norm(W_QK[l,h], 2)))/(4*sqrt(d_qk))",
    },
    given=("skip == 1", "mask == padding", "theta < 1"),
    title="Skips and bounded weights: a lower bound of the diameter, θ < 1",
    source="this library; Dong, Cordonnier and Loukas 2021 leave such lower bounds open",
    draws=tuple(
        networks(t, shapes=((2, 1, 1, 4), (4, 2, 2, 6), (5, 3, 1, 12)), log_weights=(-1.5, -0.3), skip=1.0)
        for t in (small_tokens, ALL_TOKENS[1])
    ),
    extremal=shrinking_pairs,
    sharp=True,
)

own_lambda_skip_lower = ours(
    "own:lambda-skip-lower",
    "diameter(X[L], 2) >= diameter(X[0], 2)*prod_l(abs(skip) - sum_h(norm(W[l,h], 2)"
    "*tanh(norm(W_QK[l,h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))",
    given=(
        "mask == padding",
        "all_l(sum_h(norm(W[l,h], 2)*tanh(norm(W_QK[l,h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))) < abs(skip))",
    ),
    title="λ-skips: a lower bound of the diameter",
    draws=tuple(
        networks(small_tokens, shapes=((2, 1, 1, 3), (4, 2, 2, 4)), log_weights=(-1.5, -0.3), skip=skip)
        for skip in (0.5, 2.0, -1.0)
    ),
    extremal=shrinking_pairs,
    sharp=True,
)

own_lambda_skip_upper = ours(
    "own:lambda-skip-upper",
    "diameter(X[L], 2) <= diameter(X[0], 2)*prod_l(abs(skip) + sum_h(norm(W[l,h], 2)"
    "*tanh(norm(W_QK[l,h], 2)*diameter(X[l], 2)**2/(4*sqrt(d_qk)))))",
    given="mask == padding",
    title="λ-skips: an upper bound of the diameter",
    draws=tuple(
        networks(small_tokens, shapes=((2, 1, 1, 3), (4, 2, 2, 4)), log_weights=(-1.5, -0.3), skip=skip)
        for skip in (0.5, 1.0, 2.0, -1.0)
    ),
    sharp=True,
)
