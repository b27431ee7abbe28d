"""joseph2024: skips of a factor λ on the sphere: what they keep of the tokens' spread."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from rankmath.model.network import Network
from rankmath.verification.claim import NetworkInstance, proved, refuted
from rankmath.verification.draws import Rng, clustered_tokens, moderate_tokens, networks
from rankmath.verification.papers import JOSEPH, OWN


def draw_skips(rng: Rng, size: int, *, layers: int = 3) -> NetworkInstance:
    """Tokens on the sphere, values of norm below half the factor of the skips."""
    tokens = (moderate_tokens, clustered_tokens)[int(rng.integers(2))]
    shape = (int(rng.integers(2, 6)), int(rng.integers(2, 4)), 1, int(rng.integers(1, layers + 1)))
    skip = float(rng.choice([-2.0, 1.0, 3.0]))
    batch = networks(tokens, shapes=(shape,), biases=False, skip=skip, norm="sphere")(rng, size)
    W = np.asarray(batch.net.W)
    W = W / np.linalg.norm(W, 2, axis=(-2, -1), keepdims=True) * abs(skip) * rng.uniform(0.02, 0.49)
    return NetworkInstance(batch.net.replace(value=W, output=None), batch.X, batch.label)


def exchange(rng: Rng | None = None) -> Iterator[NetworkInstance]:
    """Two tokens close to each other, each of which attends to the other alone."""
    net = Network.from_arrays(-(2.0**24) * np.eye(2)[None, None], np.eye(2)[None, None], skip=2, norm="sphere")
    yield NetworkInstance(net, np.asarray([[1.0, 0.0625], [1.0, -0.0625]]), "exchange")


def close_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens that come close while what each attends to the other stays: equality in the limit."""
    for half in (2.0**-5, 2.0**-12):
        for strength in (0.5, 2.0):
            W_QK = -strength / half**2 * np.eye(2)[None, None]
            net = Network.from_arrays(W_QK, np.eye(2)[None, None], d_qk=1, skip=3, norm="sphere")
            yield NetworkInstance(net, np.asarray([[1.0, half], [1.0, -half]]), "close pair")


_GIVEN = ("layernorm == sphere", "heads == 1", "bias == none")

folk = refuted(
    "folk:lambda-skip",
    "mu(X[1])*(norm(W[0,0], frobenius)*norm(P[0,0], frobenius) + abs(skip)) >= abs(skip)*mu(X[0])",
    given=(*_GIVEN, "layers == 1", "abs(skip) > 0"),
    title="λ-skips on the sphere: a share |λ|/(SC + |λ|) of the spread",
    source=f"often read so; see also {JOSEPH}, whose condition λ² > a(SC + |λ|)² for μ² to keep the factor a, as "
    "we read it, comes with a spread that is large at the start, and is not touched by this",
    draws=(partial(draw_skips, layers=1),),
    extremal=exchange,
    exhibit=lambda: next(exchange()),
    share=0.3,
    notes="Here SC = ‖W‖_F‖P‖_F. What holds of the diameter where |λ| ≥ 2‖W‖₂ is own:lambda-skip-sphere.",
)

own_lambda_skip_sphere = proved(
    "own:lambda-skip-sphere",
    "all_l(diameter(X[l+1], 2) >= diameter(X[l], 2)*(abs(skip) - norm(W[l,0], 2)*tanh(norm(W_QK[l,0], 2)"
    "*diameter(X[l], 2)**2/(4*sqrt(d_qk))))/(abs(skip) + norm(W[l,0], 2)))",
    given=(*_GIVEN, "abs(skip) > 0", "all_l(2*norm(W[l,0], 2) <= abs(skip))"),
    title="λ-skips on the sphere: a lower bound of the diameter",
    source=f"{OWN}, after {JOSEPH}",
    draws=(draw_skips,),
    extremal=close_pair,
    sharp=True,
    share=0.4,
    notes="Whatever the attention, the factor is at least (|λ| − s)/(|λ| + s) ≥ 1/3, s = ‖W‖₂. Sharp for every |λ| ≥ "
    "2s and every strength of the attention, as two tokens come close.",
)
