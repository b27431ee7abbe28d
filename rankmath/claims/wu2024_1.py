"""wu2024:1: how fast masked attention without LayerNorm collapses, up to the product of its values."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from rankmath.formula.evaluate import Subject, value
from rankmath.formula.reader import read_term
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import Number
from rankmath.verification.claim import ALL_TOKENS, NetworkInstance, Rng, networks, proved
from rankmath.verification.draws import moderate_tokens
from rankmath.verification.papers import OWN, WU


def random_graph(rng: Rng, n: int) -> Mask:
    """Self-loops, a random tree from a random center, and a few more edges: quasi-strongly connected."""
    order = rng.permutation(n)
    allowed = np.eye(n, dtype=bool) | (rng.random((n, n)) < rng.uniform(0, 0.3))
    for place in range(1, n):
        allowed[order[place], order[rng.integers(place)]] = True
    return Mask(allowed)


#: Masks of every kind on n tokens, by name.
MASKS: dict[str, Callable[[Rng, int], Mask]] = {
    "causal": lambda rng, n: Mask.causal(n),
    "complete": lambda rng, n: Mask.complete(n),
    "window": lambda rng, n: Mask.window(n, int(rng.integers(1, n))),
    "causal window": lambda rng, n: Mask.causal_window(n, int(rng.integers(2, n + 1))),
    "prefix": lambda rng, n: Mask.prefix(n, int(rng.integers(1, n + 1))),
    "star": lambda rng, n: Mask.star(n, int(rng.integers(n))),
    "random graph": random_graph,
}


def draw_masked(kind: str, rng: Rng, size: int) -> NetworkInstance:
    """One head under one mask, 2 to 12 layers, tokens of all kinds, temperatures √d_qk from 0.3 to 30."""
    n, d, L = int(rng.integers(2, 7)), int(rng.integers(1, 5)), int(rng.integers(2, 13))
    tokens = ALL_TOKENS[int(rng.integers(len(ALL_TOKENS)))]
    batch = networks(tokens, shapes=((n, d, 1, L),), log_weights=(-1.0, 0.3))(rng, size)
    net = batch.net.replace(mask=MASKS[kind](rng, n), d_qk=float(10.0 ** rng.uniform(-1, 3)))
    return NetworkInstance(net, batch.X, f"{kind}, {batch.label}")


def draw_unsaturated(kind: str, rng: Rng, size: int) -> NetworkInstance:
    """Weights that saturate no softmax, and three tokens at least: for two the contraction is an equality."""
    n, d = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    mask = MASKS[kind](rng, n)
    L = int(rng.integers(1, 3 if mask.is_complete else 8))
    batch = networks(moderate_tokens, shapes=((n, d, 1, L),), log_weights=(-1.0, 0.0))(rng, size)
    net = batch.net.replace(mask=mask, d_qk=float(10.0 ** rng.uniform(0, 2)))
    return NetworkInstance(net, batch.X, kind)


def nearly_uniform_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens, causal, logits near zero: token 2 keeps about half of its distance, as the bound says."""
    for L, w in ((5, 1e-3), (2, 1e-10)):
        weights, values = np.full((L, 1, 1, 1), w), np.ones((L, 1, 1, 1))
        net = Network.from_arrays(weights, values, mask=Mask.causal(2))
        yield NetworkInstance(net, np.asarray([[0.0], [1.0]]), "two tokens, causal")


def nearly_aligned_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens in the plane whose difference is nearly what the values stretch most."""
    for L, tilt in ((4, 1e-2), (2, 1e-6)):
        weights = rng.standard_normal((L, 1, 2, 2))
        values = np.broadcast_to(np.diag([1.0, 0.5]), (L, 1, 2, 2))
        net = Network.from_arrays(weights, values, mask=Mask.causal(2))
        yield NetworkInstance(net, np.asarray([[0.0, 0.0], [1.0, tilt]]), "two tokens, causal")


def gain_of_contraction(run: Subject) -> dict[str, Number]:
    """log of (rate with ε)/(computed contraction) on the same instances."""
    explicit = value(
        read_term("(1 - (1/(1 + (in_degree - 1)*exp(max_l(logit_range(P[l,0])))))**r)**floor(L/r)"), run, {}
    )
    computed = value(read_term("prod_k(contraction(k))"), run, {})
    with np.errstate(invalid="ignore"):  # equal tokens: nothing to compare
        gain = explicit.log - computed.log
    return {"the computed contraction is tighter on the same instances by a median factor of": gain}


_START = "sqrt(n/2)*product_norm(2)*mu(X[0])"
_GIVEN = ("heads == 1", "mask == any", "self_loops()", "quasi_strongly_connected()")

wu2024_1 = proved(
    "wu2024:1",
    f"mu(X[L]) <= {_START}*(1 - epsilon**r)**floor(L/r) and mu(X[L]) <= {_START}*(1 - least**r)**floor(L/r)",
    where={"epsilon": "1/(1 + (in_degree - 1)*exp(max_l(logit_range(P[l,0]))))", "least": "min_l(epsilon(P[l,0]))"},
    given=_GIVEN,
    title="Exponential collapse of masked attention, in explicit form",
    source=f"{WU}, Theorem 1; the constants are ours",
    draws=tuple(partial(draw_masked, kind) for kind in MASKS),
    extremal=nearly_uniform_pair,
    compare=gain_of_contraction,
    sharp=True,
    cost=2,
)

wu2024_1_doeblin = proved(
    "wu2024:1-doeblin",
    f"mu(X[L]) <= {_START}*prod_k(contraction(k))",
    given=("heads == 1", "mask == any"),
    title="Exponential collapse of masked attention, with the computed contraction",
    source=f"{OWN}, after Theorem 1 of Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024; Doeblin's contraction is "
    "classical",
    draws=tuple(partial(draw_unsaturated, kind) for kind in MASKS),
    extremal=nearly_aligned_pair,
    sharp=True,
    share=0.5,
    cost=2,
)
