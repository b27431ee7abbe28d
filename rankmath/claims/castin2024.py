"""castin2024:3.3: how much attention can stretch a change of its tokens, as printed and closer."""

from collections.abc import Iterator

import numpy as np

from rankmath.model.network import Network
from rankmath.verification.claim import NetworkInstance, Rng, networks, ours, proved
from rankmath.verification.draws import antipodal_tokens, clustered_tokens, moderate_tokens, outlier_tokens
from rankmath.verification.papers import CASTIN, OWN

#: Shapes (n, d, H, L) of one layer whose derivative has few rows.
LAYERS = ((2, 1, 1, 1), (3, 1, 1, 1), (3, 2, 1, 1), (4, 2, 1, 1), (2, 3, 1, 1))
_DRAWS = tuple(
    networks(tokens, shapes=LAYERS, log_weights=(-1.0, 0.5), biases=False)
    for tokens in (moderate_tokens, antipodal_tokens, clustered_tokens, outlier_tokens)
)


def close_tokens(rng: Rng) -> Iterator[NetworkInstance]:
    """Tokens that come together: the derivative tends to the mean of the tokens, times W."""
    for spread in (1e-2, 1e-4):
        X = 1.0 + spread * rng.standard_normal((3, 1))
        yield NetworkInstance(Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1))), X, "close tokens")


ONE_LAYER = ("heads == 1", "layers == 1", "query_bias == none")
#: The derivative is that of the first layer, whatever comes behind it.
FIRST_LAYER = ("heads == 1", "query_bias == none")
_LETTERS = {"a": "norm(W_QK[0,0], 2)/sqrt(d_qk)", "R": "longest(X[0])"}

castin2024_3_3 = proved(
    "castin2024:3.3",
    "jacobian_norm() <= sqrt(3)*norm(W[0,0], 2)*sqrt(a**2*R**4*(4*n + 1) + n)",
    given=ONE_LAYER,
    where=_LETTERS,
    title="Lipschitz bound of attention on a ball, of order √n",
    source=f"{CASTIN}, Theorem 3.3, wording from memory: on tokens of norm at most R, whose largest derivative it "
    "bounds",
    draws=_DRAWS,
    share=0.4,
)

own_lipschitz = ours(
    "own:lipschitz",
    "jacobian_norm() <= norm(W[0,0], 2)*(sqrt(c*(1 + (a*R*diameter(X[0], 2)/2)**2)) + a*diameter(X[0], 2)**2/4)",
    given=FIRST_LAYER,
    where={**_LETTERS, "c": "norm(P[0,0], 1)"},
    source=f"{OWN}, beside Theorem 3.3 of {CASTIN}",
    title="Lipschitz bound of attention, by the diameter of its tokens",
    draws=_DRAWS,
    extremal=close_tokens,
    sharp=True,
    share=0.4,
    notes="Never more than castin2024:3.3. Equality is approached as tokens come together at a point.",
)
