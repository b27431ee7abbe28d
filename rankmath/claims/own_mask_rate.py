"""own:mask-rate: what an incomplete mask leaves of collapse: exponential at best for equal logits, and for
symmetric ones under an undirected mask, but not for all."""

from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import OWN

defined(
    "mask_second(G: array)",
    "moduli([[G[i][j]/sum(G[i][k] for k in range(n)) for j in range(n)] for i in range(n)])[1]",
    "second largest modulus of an eigenvalue of uniform attention over the mask, with multiplicities",
    example="mask_second(G) <= 1",
    by_name=True,
)
defined(
    "weights_second(K: array)",
    "moduli([[K[i][j]/sum(K[i][k] for k in range(n)) for j in range(n)] for i in range(n)])[1]",
    "second largest modulus, with multiplicities, of an eigenvalue of the matrix K, each row divided by its sum",
    example="weights_second(K) <= 1",
    by_name=True,
)
defined(
    "mask_trace(G: array)",
    "sum(G[i][i]/sum(G[i][k] for k in range(n)) for i in range(n))",
    "the trace of uniform attention over the mask: the sum of 1/deg_i over the tokens i that see themselves, deg_i "
    "the number of tokens that i sees",
    example="mask_trace(G) >= 1",
    by_name=True,
)


defined(
    "zero_one(G: array)",
    "all(G[i][j] == 0 or G[i][j] == 1 for i in range(n) for j in range(n)) and all(any(G[i][j] == 1 for j in "
    "range(n)) for i in range(n))",
    "entries are 0 and 1, and every token sees one",
)


defined(
    "returns(K: array)",
    "P = [[K[i][j]/sum(K[i][k] for k in range(n)) for j in range(n)] for i in range(n)]; sum(P[i][j]*P[j][i] for i in "
    "range(n) for j in range(n))",
    "the sum of all P_ij P_ji, P the matrix K with each row divided by its sum",
    by_name=True,
)


defined(
    "symmetric_weights(K: array)",
    "all(K[i][j] == K[j][i] and K[i][j] >= 0 and K[i][i] > 0 for i in range(n) for j in range(n))",
    "K is symmetric, no entry is negative, and those on the diagonal are positive",
)


defined(
    "incomplete_attention(P: array)",
    "all(sum(P[i][j] for j in range(n)) == 1 and P[i][i] > 0 for i in range(n)) and all(P[i][j] >= 0 for i in "
    "range(n) for j in range(n)) and any(P[i][j] == 0 for i in range(n) for j in range(n))",
    "rows sum to 1, no entry is negative, those on the diagonal are positive, and some entry is 0",
)
defined(
    "never_forgets(P: array)",
    "any(not mpower(P, n - 1)[i][j] == mpower(P, n - 1)[0][j] for i in range(n) for j in range(n))",
    "an eigenvalue of P besides one 1 is not 0: no power of P has equal rows",
)


#: Three tokens, all edges but one, self-loops: P² has equal rows.
FORGETFUL = [[Fraction(x, 6) for x in row] for row in ((3, 3, 0), (1, 1, 4), (2, 2, 2))]


def draw_forgetful(rng: Rng, size: int) -> ArrayInstance:
    """That matrix, with tokens in any order."""
    orders = [rng.permutation(3) for _ in range(size)]
    return exact_batch("all edges but one", P=[np.asarray(FORGETFUL)[order][:, order] for order in orders])


def draw_weights(rng: Rng, size: int) -> ArrayInstance:
    """Random symmetric logits on random undirected graphs."""
    n = int(rng.integers(2, 7))
    seen = (rng.random((size, n, n)) < rng.uniform(0.2, 1, (size, 1, 1))) * np.exp(rng.standard_normal((size, n, n)))
    upper = np.triu(seen, 1)
    diagonal = np.exp(rng.standard_normal((size, n)))[..., None] * np.eye(n)
    return ArrayInstance({"K": upper + np.swapaxes(upper, -1, -2) + diagonal}, "undirected graphs", is_batch=True)


def draw_masks(rng: Rng, size: int) -> ArrayInstance:
    """Random graphs of any density, with self-loops."""
    n = int(rng.integers(2, 8))
    G = (rng.random((size, n, n)) < rng.uniform(0.1, 0.95, (size, 1, 1))) | np.eye(n, dtype=bool)
    return ArrayInstance({"G": G.astype(float)}, "random graphs", is_batch=True)


_TRACE = f"{OWN}; that traces bound eigenvalues is classical"

own_mask_rate = proved(
    "own:mask-rate",
    "mask_trace(G) - 1 <= (n - 1)*mask_second(G)",
    given=("n >= 2", "zero_one(G)"),
    arrays={"G": "n n, n >= 2"},
    title="Rate under an incomplete mask with self-loops: equal logits",
    source=_TRACE,
    draws=(draw_masks,),
    extremal=written("given", {"G": [[1, 0], [1, 1]]}),
    share=0.3,
    notes="So where logits are equal, and the mask has self-loops but not all pairs, a layer X ↦ PX multiplies the "
    "residual in the end by |λ₂| ≥ (Σ 1/deg_i − 1)/(n − 1) > 0, in the geometric mean, for almost every start. Two "
    "causal tokens are an equality.",
)

own_mask_rate_symmetric = proved(
    "own:mask-rate-symmetric",
    "returns(K) - 1 <= (n - 1)*weights_second(K)**2",
    given=("n >= 2", "symmetric_weights(K)"),
    arrays={"K": "n n"},
    title="Rate under an incomplete undirected mask: fixed symmetric logits",
    source=_TRACE,
    truth="proofs/own_mask_rate.tex",
    draws=(draw_weights,),
    extremal=written("two tokens", {"K": [[3, 1], [1, 1]]}),
    share=0.3,
    notes="Entries of K are e^logit on an edge and 0 elsewhere. The left side is the sum of λ_k² over the eigenvalues "
    "besides λ_1 = 1, all real, and positive where an edge is missing: with fixed logits a layer X ↦ PX then "
    "multiplies the residual in the end by |λ₂| > 0, in the geometric mean, for almost every start. Two tokens are an "
    "equality.",
)

unstated_mask_dichotomy = refuted(
    "unstated:mask-dichotomy",
    "never_forgets(P)",
    given="incomplete_attention(P)",
    arrays={"P": "n n, stochastic"},
    title="Incomplete masks with self-loops in finite depth: a claim that nobody makes",
    source=f"{OWN}; nobody states it: own:mask-rate is about equal logits",
    draws=(draw_forgetful,),
    share=0.02,
    notes="[[1/2, 1/2, 0], [1/6, 1/6, 2/3], [1/3, 1/3, 1/3]]: token 0 does not see token 2, and every start is "
    "at consensus after two layers. It holds for two tokens, wherever Σ_i P_ii ≠ 1, for equal logits, for "
    "symmetric ones under an undirected mask (own:mask-rate-symmetric), and under a mask whose only cycles are "
    "self-loops.",
)
