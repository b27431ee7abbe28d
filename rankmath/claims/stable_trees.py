"""own:stable-connected: an attracting equilibrium of full rank under every connected undirected mask."""

from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.masks import Mask
from rankmath.verification.claim import ArrayInstance, Rng, ours
from rankmath.verification.papers import OWN, WU

defined(
    "undirected_connected(allowed: array, ratio: array)",
    "n >= 2 and all(allowed[i][i] == 1 for i in range(n)) and all(allowed[i][j] == allowed[j][i] for i in range(n) "
    "for j in range(n)) and all(mpower(allowed, n)[0][j] > 0 for j in range(n)) and 0 < ratio < 1",
    "at least two tokens, each of which sees itself, a mask that is undirected and connected, and a number g between "
    "0 and 1",
)


@predicate(
    "identity_attracts(allowed: array, ratio: array)",
    latex=r"\text{{for some real }}W_{{QK}},W_V\text{{ the tokens }}X=I\text{{ rest under }}"
    r"X\mapsto\mathrm{{LN}}(A(X)XW_V)\text{{, and its Jacobian there has spectral radius below }}\sqrt{{{1}}}",
    because="weights that are found by a construction, in balls",
)
def identity_attracts(run: ArrayRun, allowed: str, ratio: str) -> Truth:
    """for some real W_QK and W_V the tokens X = I rest under X ↦ LN(A(X)XW_V), A(X) the softmax of X W_QK Xᵀ over
    the pairs of the mask, LN the division of every token by its norm, and the Jacobian there has a spectral radius
    below √g, g the ratio"""
    from rankmath.equilibria.trees import tree_gap

    mask, g = Mask(np.asarray(run[allowed], dtype=bool)), Fraction(np.asarray(run[ratio]).item())
    gap = tree_gap(mask, g)
    return Truth(gap is not None or None, f"n = {mask.n}, in balls: logits with a gap of {gap}")


def draw_connected(rng: Rng, size: int) -> ArrayInstance:
    """The star with three leaves first, then random trees of four tokens with random further edges."""
    n, masks, ratios = 4, [np.eye(4, dtype=bool)], [Fraction(1, 4)]
    masks[0][0] = masks[0][:, 0] = True
    while len(masks) < size:
        names = rng.permutation(n)
        graph = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.2)
        for i in range(1, n):
            graph[names[i], names[rng.integers(i)]] = True
        masks.append(graph | graph.T)
        ratios.append(Fraction(int(rng.integers(12, 33)), 64))
    return ArrayInstance(
        {"allowed": np.stack(masks[:size]), "ratio": np.asarray(ratios[:size])}, "connected", is_batch=True
    )


own_stable_connected = ours(
    "own:stable-connected",
    "identity_attracts(allowed, ratio)",
    given="undirected_connected(allowed, ratio)",
    arrays={"allowed": "mask n", "ratio": ", > 0, < 1"},
    source=f"{OWN}, against a conjecture of {WU}",
    title="An attracting equilibrium of full rank under every connected undirected mask with self-loops",
    draws=(draw_connected,),
    share=0.002,
    cost=3,
    notes="For directed masks it may fail, though some token is seen by all others: see the last remark of the proof.",
)
