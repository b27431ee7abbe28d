"""own:mask-rate: under every incomplete mask with self-loops uniform attention forgets exponentially at best."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankmath.formula.arrays import ArrayRun
from rankmath.formula.evaluate import Scalar, Truth
from rankmath.formula.language import predicate, quantity
from rankmath.formula.run import unbox
from rankmath.linalg.masks import MaskLike, as_mask
from rankmath.validation import Array, InvalidArgument, as_count
from rankmath.verification.draws import Rng
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.papers import OWN
from rankmath.verification.statement import Statement


def _uniform(run: ArrayRun, G: str) -> Array:
    """Attention with equal logits over the mask, in the arithmetic."""
    A = run.A
    seen = A.asarray(np.asarray(run[G]).astype(int))
    return seen / A.sum(seen, axis=-1)


@quantity(
    "mask_second(G: array)",
    text="moduli([[G[i][j]/sum(G[i][k] for k in range(n)) for j in range(n)] for i in range(n)])[1]",
    by_name=True,
    example="mask_second(G) <= 1",
)
def mask_second(run: ArrayRun, G: str) -> Scalar:
    """second largest modulus of an eigenvalue of uniform attention over the mask, with multiplicities"""
    P = _uniform(run, G)
    if not run.A.unbounded:
        return run.number(np.sort(np.abs(np.linalg.eigvals(P)), axis=-1)[..., -2])
    if run.A.name == "mpmath":
        import mpmath

        return sorted(abs(x) for x in mpmath.eig(mpmath.matrix(P.tolist()), left=False, right=False))[-2]
    from flint import acb_mat, arb

    try:
        moduli = [abs(z) for z in acb_mat(P.tolist()).eig(multiple=True)]
    except ValueError:  # not told apart: they are at most 1
        return arb(0.5, 0.5)
    # The second largest: the least, over the one that is left out, of the largest of the others.
    largest = [max_of([x for k, x in enumerate(moduli) if k != out]) for out in range(len(moduli))]
    least = largest[0]
    for x in largest[1:]:
        least = least.min(x)
    return least


def max_of(values: list[Array]) -> Array:
    """The largest of some balls."""
    found = values[0]
    for x in values[1:]:
        found = found.max(x)
    return found


@quantity(
    "mask_trace(G: array)",
    text="sum(G[i][i]/sum(G[i][k] for k in range(n)) for i in range(n))",
    by_name=True,
    example="mask_trace(G) >= 1",
)
def mask_trace(run: ArrayRun, G: str) -> Scalar:
    """the trace of uniform attention over the mask: the sum of 1/deg_i, deg_i the tokens that token i sees"""
    A, P = run.A, _uniform(run, G)
    eye = A.asarray(np.eye(P.shape[-1], dtype=int))
    return run.number(unbox(A.sum(A.sum(P * eye, axis=-1), axis=-2)))


@predicate(
    "zero_one(G: array)",
    text="all(G[i][j] == 0 or G[i][j] == 1 for i in range(n) for j in range(n)) and"
    " all(any(G[i][j] == 1 for j in range(n)) for i in range(n))",
)
def zero_one(run: ArrayRun, G: str) -> Truth:
    """entries are 0 and 1, and every token sees one"""
    M = np.asarray(run[G])
    return Truth(((M == 0) | (M == 1)).all(axis=(-2, -1)) & (M == 1).any(axis=-1).all(axis=-1))


def mask_instance(mask: MaskLike, tokens: int | None = None) -> ArrayInstance:
    """A mask with self-loops on at least two tokens; a name such as "causal" needs the number of tokens."""
    given = tokens if tokens is not None or isinstance(mask, str) else len(mask)
    count = as_count("tokens", given, least=2)
    graph = as_mask(mask, count)
    if not graph.has_self_loops:
        raise InvalidArgument("mask: a token that does not see itself given; self-loops are needed")
    return ArrayInstance({"G": graph.allowed.astype(float)})


def draw_masks(rng: Rng, size: int) -> ArrayInstance:
    """Random graphs of any density, with self-loops."""
    n = int(rng.integers(2, 8))
    G = (rng.random((size, n, n)) < rng.uniform(0.1, 0.95, (size, 1, 1))) | np.eye(n, dtype=bool)
    return ArrayInstance({"G": G.astype(float)}, "random graphs", is_batch=True)


def two_causal(rng: Rng) -> Iterator[ArrayInstance]:
    """Two causal tokens: an equality."""
    yield mask_instance("causal", 2)


own_mask_rate = Statement(
    "own:mask-rate",
    "mask_trace(G) - 1 <= (n - 1)*mask_second(G)",
    given=("n >= 2", "zero_one(G)"),
    arrays={"G": "n n, n >= 2"},
    title="Equal logits under an incomplete mask with self-loops: exponential at best, from almost every start",
    source=OWN,
    status="proved",
    instance=mask_instance,
    draws=(draw_masks,),
    extremal=two_causal,
    share=0.3,
    notes="With self-loops the trace is above 1 unless every token sees every token. So equal logits with "
    "W = I multiply the residual in the end by |λ₂| ≥ (Σ 1/deg_i − 1)/(n − 1) > 0 a layer, for almost every "
    "start: exponential, and not doubly exponential. Two causal tokens are an equality.",
)
