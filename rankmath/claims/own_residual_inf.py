"""own:residual-inf: the diameter bound for the residual in the norm of largest row sums."""

from collections.abc import Iterator

import numpy as np

from rankmath.model.network import Network
from rankmath.verification.claim import ALL_TOKENS, SMALL, NetworkInstance, Rng, networks, ours


def small_antipodal(rng: Rng) -> Iterator[NetworkInstance]:
    """±a with a small: the cubic form is an equality in the limit."""
    for a in (0.1, 0.03, 0.01):
        ones = np.ones((1, 1, 1, 1))
        yield NetworkInstance(Network.from_arrays(ones, ones), np.asarray([[a], [-a]]), "two tokens")


own_residual_inf = ours(
    "own:residual-inf",
    "residual(X[L], inf) <= (omega/sqrt(d_qk))**((3**L - 1)/2)*residual(X[0], inf)**(3**L)",
    where={"omega": "max_l(sum_h(norm(W_QK[l,h], max)*norm(W[l,h], inf)))"},
    given="mask == padding",
    title="Residual form of the diameter collapse",
    draws=tuple(networks(tokens, shapes=SMALL) for tokens in ALL_TOKENS),
    extremal=small_antipodal,
    sharp=True,
    share=0.2,
    cost=3,
    notes="Where 0 < ωr² < √d_qk, ω over all layers and r the residual of the input, it falls doubly exponentially "
    "with depth.",
)
