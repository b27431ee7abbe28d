"""own:diameter: the diameter of the tokens collapses doubly exponentially, without hypothesis, and the
bound is sharp."""

from collections.abc import Iterator

import numpy as np

from rankmath.model.network import Network
from rankmath.verification.claim import ALL_TOKENS, SMALL, NetworkInstance, Rng, networks, ours


def near_antipodal(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens ±a in one dimension: equality. A slightly moved mean makes it strict, and decidable."""
    for _ in range(6):
        a = 10.0 ** rng.uniform(-2, 0.5)
        X = np.asarray([[a * (1 + 10.0 ** rng.uniform(-5, -4))], [-a]])
        weight = np.asarray([[[[10.0 ** rng.uniform(-1, 0.5)]]]])
        value = np.asarray([[[[rng.standard_normal() + 2.0]]]])
        yield NetworkInstance(Network.from_arrays(weight, value), X, "two tokens")


own_diameter = ours(
    "own:diameter",
    "all_p(diameter(X[L], p) <= recursion(b, diameter(X[0], p),"
    " sum_h(operator_norm(W[l,h], p)*b*tanh(form_norm(W_QK[l,h], p)*b**2/(4*sqrt(d_qk))))))",
    given="mask == padding",
    closed="own:diameter-cubic",
    title="Diameter collapse, with tanh",
    draws=tuple(networks(tokens, shapes=SMALL) for tokens in ALL_TOKENS),
    extremal=near_antipodal,
    sharp=True,
    notes="At most own:diameter-cubic, which says when tokens collapse.",
)

own_diameter_cubic = ours(
    "own:diameter-cubic",
    "all_p(diameter(X[L], p) <= (omega/(4*sqrt(d_qk)))**((3**L - 1)/2)*diameter(X[0], p)**(3**L))",
    where={"omega": "max_l(sum_h(operator_norm(W[l,h], p)*form_norm(W_QK[l,h], p)))"},
    given="mask == padding",
    title="Diameter collapse, in closed form",
    draws=tuple(networks(tokens, shapes=SMALL) for tokens in ALL_TOKENS),
    extremal=near_antipodal,
    sharp=True,
    notes="Where 0 < ωΔ² < 4√d_qk, ω over all layers and Δ the diameter of the input, it falls doubly exponentially "
    "with depth. Sharp as Δ goes to 0.",
)
