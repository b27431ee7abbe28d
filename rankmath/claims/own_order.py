"""own:order: the collapse of one head with definite W_QK is exactly cubic, layer by layer."""

import numpy as np

from rankmath.verification.claim import NetworkInstance, Rng, networks, ours
from rankmath.verification.draws import small_tokens


def draw_definite(rng: Rng, size: int) -> NetworkInstance:
    """sym(W_QK) = ±diag, exactly; any skew part; tokens so small that the lower constant is positive."""
    n, d, L = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    batch = networks(small_tokens, shapes=((n, d, 1, L),), log_weights=(-0.5, 0.5), biases=False)(rng, size)
    upper = np.triu(np.array(batch.net.query), 1)
    sign = np.where(rng.random((L, 1, size, 1, 1)) < 0.5, -1.0, 1.0)
    diagonal = sign * rng.uniform(0.5, 2.0, (L, 1, size, 1, d)) * np.eye(d)
    net = batch.net.replace(query=upper - np.swapaxes(upper, -1, -2) + diagonal)
    return NetworkInstance(net, batch.X * 0.03, "definite")


_LOWER = (
    "definiteness(W_QK[l,0])/min(n - 1, d)*sqrt(q_min(P[l,0], mean)/q_max(P[l,0], mean))"
    " - (exp(delta(P[l,0], mean)) - 1)*norm(W_QK[l,0], 2)"
)

own_order = ours(
    "own:order",
    f"all_l(least_singular(W[l,0])*q_min(P[l,0], mean)/sqrt(d_qk)*({_LOWER})*mu(X[l])**3 <= mu(X[l+1]))"
    " and all_l(mu(X[l+1]) <= norm(W[l,0], 2)*q_max(P[l,0], mean)*exp(delta(P[l,0], mean))*norm(W_QK[l,0], 2)"
    "/sqrt(d_qk)*mu(X[l])**3)",
    given=("heads == 1", "n >= 2", "all_l(definite(W_QK[l,0]))", f"all_l({_LOWER} > 0)"),
    title="Cubic bounds on both sides, layer by layer",
    draws=(draw_definite,),
    notes="Where besides the values are invertible, the tokens are not all equal and the spectral norms of values and "
    "W_QK have a product below 4√d_qk/Δ² in every layer, Δ the diameter at the start, the order is three: for these "
    "layers repeated for ever log‖R_{l+1}‖/log‖R_l‖ → 3, R_l the tokens about their mean.",
)
