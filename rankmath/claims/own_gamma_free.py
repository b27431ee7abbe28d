"""own:gamma-free: a composite bound of one layer without γ, for any logits, and its sharp constant for one head."""

from collections.abc import Iterator

import numpy as np

from rankmath.claims.own_residual_inf import small_antipodal
from rankmath.model.network import Network
from rankmath.verification.claim import ALL_TOKENS, NetworkInstance, Rng, networks, ours
from rankmath.verification.papers import DONG, OWN


def three_keys(idle: int, w: float, push: float = 40.0) -> NetworkInstance:
    """Query e₀, keys e₁, −e₂, −e₃ with q → 1/3 by the key bias, W_QK = w e₀(e₁ + e₂ + e₃)ᵀ, W = I, idle tokens 0.

    ‖res X‖_{1,∞} = 1 and δ = 2w; tight as w → 0 and the idle tokens grow in number.
    """
    X = np.zeros((4 + idle, 4))
    X[0, 0] = X[1, 1] = 1.0
    X[2, 2] = X[3, 3] = -1.0
    W_QK = np.zeros((1, 1, 4, 4))
    W_QK[0, 0, 0, 1:] = w
    key_bias = np.asarray([[[0.0, push, -push, -push]]])
    net = Network.from_arrays(W_QK, np.eye(4)[None, None], 1, key_bias)
    return NetworkInstance(net, X, f"three keys, {idle} idle tokens")


def tight(rng: Rng) -> Iterator[NetworkInstance]:
    """Few tokens first, then many idle ones."""
    yield from small_antipodal(rng)
    for idle, w in ((10, 2.0**-10), (60, 2.0**-12), (400, 2.0**-16)):
        yield three_keys(idle, w)


_DRAWS = tuple(networks(t, shapes=((2, 1, 1, 1), (4, 2, 1, 1), (5, 3, 2, 1))) for t in ALL_TOKENS[1:])
_SINGLE = tuple(networks(t, shapes=((2, 1, 1, 1), (4, 2, 1, 1), (5, 3, 1, 1))) for t in ALL_TOKENS[1:])

own_gamma_free = ours(
    "own:gamma-free",
    "residual(X[1], composite) <= sqrt(2*expc(eta)/d_qk*columns*rows)*residual(X[0], composite)**3",
    where={
        "eta": "max_h(delta(P[0,h], composite))",
        "columns": "sum_h(q_max(P[0,h], composite)*norm(W_QK[0,h], 1)*norm(W[0,h], 1))",
        "rows": "sum_h(norm(W_QK[0,h], 1)*norm(W[0,h], inf))",
    },
    given="layers == 1",
    source=f"{OWN}, after Theorem 2.3 of {DONG}",
    title="Composite bound without γ",
    draws=_DRAWS,
    extremal=tight,
    supremum="sqrt(16/27)",
    share=0.15,
    cost=3,
)

own_gamma_free_one_head = ours(
    "own:gamma-free-one-head",
    "residual(X[1], composite) <= sqrt(2*expc(eta)*tanhc(eta/4)*q_max(P[0,0], composite)/d_qk)"
    "*norm(W_QK[0,0], 1)*norm(W[0,0], composite)*residual(X[0], composite)**3",
    where={"eta": "delta(P[0,0], composite)"},
    given=("heads == 1", "layers == 1"),
    source=f"{OWN}, after Theorem 2.2 of {DONG}",
    title="Composite bound without γ, one head",
    draws=_SINGLE,
    extremal=tight,
    supremum="sqrt(16/27)",
    share=0.1,
    cost=3,
    notes="On tokens e_0, e_1, −e_2, −e_3 and N tokens 0, W_QK = w e_0(e_1 + e_2 + e_3)ᵀ, W = I, d_qk ≥ 2, and a query "
    "bias along e_1 − e_2 − e_3 that sends q to 1/3 on each of e_1, −e_2, −e_3, the ratio of the two sides tends to "
    "√(16/27) as w → 0 and N → ∞.",
)

own_gamma_free_sharp = ours(
    "own:gamma-free-sharp",
    "residual(X[1], composite) <= sqrt(kappa*(32/27*kappa + 2*(kappa - 1))*q_max(P[0,0], composite)/d_qk)"
    "*norm(W_QK[0,0], 1)*norm(W[0,0], composite)*residual(X[0], composite)**3",
    where={"kappa": "expc(delta(P[0,0], composite))"},
    given=("heads == 1", "layers == 1"),
    source=f"{OWN}, after Theorem 2.2 of {DONG}",
    title="Composite bound without γ, one head, with the constant √(32/27)",
    draws=_SINGLE,
    extremal=tight,
    sharp=True,
    share=0.1,
    cost=3,
    notes="On the tokens that own:gamma-free-one-head names the ratio of the two sides tends to 1.",
)
