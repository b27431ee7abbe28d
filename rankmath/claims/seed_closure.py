"""seed:closure: products of row-stochastic matrices are row-stochastic; what everything stands on."""

from functools import reduce

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import certify_arrays
from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, Verdict, proved
from rankmath.verification.draws import rational_stochastic

defined(
    "row_stochastic(P: array)",
    "all(P[s][i][j] >= 0 for s in range(len(P)) for i in range(n) for j in range(n)) and all(sum(P[s][i][j] "
    "for j in range(n)) == 1 for s in range(len(P)) for i in range(n))",
    "every matrix of a sequence has entries ≥ 0 and row sums 1",
)
defined(
    "stochastic_product(P: array)",
    "Q = chain(P); all(Q[i][j] >= 0 for i in range(len(Q)) for j in range(len(Q[0]))) and all(sum(Q[i][j] for "
    "j in range(len(Q[0]))) == 1 for i in range(len(Q)))",
    "the product of a sequence of matrices is row-stochastic",
    by_name=True,
)


def draw_closure(rng: Rng, size: int) -> ArrayInstance:
    """Products of 2 to 6 rational matrices, extremes included: identity, rank one, permutations, reducible."""
    n, length = max(2, int(rng.integers(1, 6))), int(rng.integers(2, 7))
    products = [np.stack([rational_stochastic(rng, n) for _ in range(length)]) for _ in range(size)]
    return ArrayInstance({"P": np.stack(products)}, is_batch=True)


def certify(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    factors = instance["P"]
    return certify_arrays("seed:closure", {"factors": factors, "product": reduce(np.matmul, factors)})


seed_closure = proved(
    "seed:closure",
    "stochastic_product(P)",
    given="row_stochastic(P)",
    arrays={"P": "t n n, stochastic, n >= 2"},
    title="Products of row-stochastic matrices",
    source="folklore; used throughout Dong, Cordonnier and Loukas 2021",
    draws=(draw_closure,),
    certificate=certify,
)
