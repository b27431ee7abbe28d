"""alman2025:one-layer: with skips and small weights a network is near one layer; the identity is as near."""

from collections.abc import Iterator

import numpy as np

from rankmath.claims.own_positions import LOGITS
from rankmath.model.network import Network
from rankmath.verification.claim import NetworkInstance, proved
from rankmath.verification.draws import SMALL, Rng, clustered_tokens, moderate_tokens, networks
from rankmath.verification.papers import ALMAN


def one_token(rng: Rng) -> Iterator[NetworkInstance]:
    """One token and values w: every layer multiplies it by 1 + w. Nearly: a slack makes the bound strict."""
    for w in (0.5, 2.0**-6):
        value = np.tile(w * np.diag([1.0, 1 + 2.0**-20]), (3, 1, 1, 1))
        net = Network.from_arrays(np.zeros((3, 1, 2, 2)), value, skip=1.0)
        yield NetworkInstance(net, np.asarray([[1.0, 0.5]]), "one token")


alman2025_one_layer = proved(
    "alman2025:one-layer",
    "moved(X[L]) <= (prod_l(1 + sum_h(norm(W[l,h], 1))) - 1)*norm(X[0], max)",
    given=("skip == 1", "bias == none", "mask == any", *LOGITS),
    title="Skips and small values: distance of a network from the identity",
    source=f"{ALMAN}: weights with entries of absolute value at most η make some one-layer network as near as "
    "O(η)‖X‖_max, skips included; read in a summary. That the identity is one, and the constant, are ours",
    draws=tuple(networks(X, shapes=SMALL, biases=False, skip=1.0) for X in (moderate_tokens, clustered_tokens)),
    extremal=one_token,
    sharp=True,
    share=0.03,
    notes="A layer with W = 0 and a skip connection is the identity, and W with entries of absolute value at "
    "most η has ‖W‖₁ ≤ dη. Queries and keys need not be small. One token in one dimension with W ≥ 0 and one "
    "head is an equality.",
)
