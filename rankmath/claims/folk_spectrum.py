"""folk:spectrum-real: eigenvalues of attention are not real in general; how large, and when real."""

from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.rationals import exact_array, to_flint
from rankmath.validation import Array, Number
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import OWN


def _all_real(A: Array) -> Truth:
    """Whether all eigenvalues of a rational matrix are real: real roots are counted exactly."""
    found = to_flint(A).charpoly()
    # Roots are isolated; real ones come with an imaginary part that is 0 exactly.
    roots: list[Number] = found.numer().complex_roots()
    real = [root.imag.is_zero() for root, _ in roots]
    return Truth(all(real), f"{sum(real)} of {len(real)} different eigenvalues are real")


@predicate("real_spectrum(A: array)", text="real_eigenvalues(A) == n")
def real_spectrum(run: ArrayRun, A: str) -> Truth:
    """all eigenvalues are real (and then in (−1, 1], for positive row-stochastic matrices)"""
    return _all_real(run[A])


@predicate(
    "real_attention(K: array)",
    text="real_eigenvalues([[K[i][j]/sum(K[i][k] for k in range(n)) for j in range(n)] for i in range(n)]) == n",
)
def real_attention(run: ArrayRun, K: str) -> Truth:
    """all eigenvalues of K with its rows divided by their sums are real"""
    return _all_real(run[K] / run[K].sum(axis=1, keepdims=True))


defined(
    "symmetric(K: array)",
    "all(K[i][j] == K[j][i] and K[i][j] > 0 for i in range(n) for j in range(n))",
    "the matrix is symmetric and its entries are positive",
)
defined(
    "subdominant(L: array)",
    "moduli(softmax(L))[1]",
    "largest modulus of an eigenvalue of softmax(L), row by row, besides the simple eigenvalue 1",
    example="subdominant(L) <= 1",
)
defined(
    "mixing(L: array)",
    "P = softmax(L); max(sum(abs(P[i][k] - P[j][k]) for k in range(n)) for i in range(n) for j in range(n))/2",
    "Dobrushin's coefficient of softmax(L): the largest total variation of two rows",
    example="mixing(L) <= 1",
    by_name=True,
)


def draw_positive(rng: Rng, size: int) -> ArrayInstance:
    """Random positive matrices, and blurred cyclic shifts."""
    n = int(rng.integers(3, 6))
    found = []
    for k in range(size):
        weights = rng.integers(1, 20, (n, n)) + (40 * np.roll(np.eye(n, dtype=int), 1, axis=1) if k % 2 else 0)
        A = exact_array("A", weights, (n, n))
        found.append(A / A.sum(axis=1, keepdims=True))
    return exact_batch("random and cyclic", A=found)


def draw_symmetric(rng: Rng, size: int) -> ArrayInstance:
    n = int(rng.integers(2, 6))
    weights = rng.integers(1, 30, (size, n, n))
    return exact_batch("symmetric", K=[np.tril(w) + np.tril(w, -1).T for w in weights])


def draw_logit_matrices(rng: Rng, size: int) -> ArrayInstance:
    n = int(rng.integers(3, 7))
    scale = 10.0 ** rng.uniform(-1, 0.7, (size, 1, 1))
    return ArrayInstance({"L": scale * rng.standard_normal((size, n, n))}, "random", is_batch=True)


#: A third token that nobody looks at and that looks like the mean of the others: nearly an equality.
_UNSEEN = [{"L": [[a, 0, -25], [0, 1, -25], [0, 0, -25]]} for a in (0.5, 2)]
_CYCLIC = [[Fraction(k, 10) for k in row] for row in ([1, 8, 1], [1, 1, 8], [8, 1, 1])]

folk_spectrum_real = refuted(
    "folk:spectrum-real",
    "real_spectrum(A)",
    given="positive_stochastic(A)",
    arrays={"A": "n n, > 0, stochastic"},
    title="Eigenvalues of attention, real ones, as often said",
    source="often read, with no one source",
    draws=(draw_positive,),
    # circulant(1, 8, 1)/10 has −7/20 ± 7√3/20 i; on vectors of mean 0 it satisfies A² + 7/10 A + 49/100 = 0.
    exhibit={"A": _CYCLIC, "u": [1, -1, 0], "p": Fraction(7, 10), "q": Fraction(49, 100)},
    share=0.3,
    notes="True for two tokens and for symmetric logits (own:spectrum-symmetric); in general own:spectrum.",
)

own_spectrum = proved(
    "own:spectrum",
    "subdominant(L) <= mixing(L)",
    given="n >= 2",
    arrays={"L": "n n, n >= 2"},
    title="Eigenvalues of attention and its Dobrushin coefficient",
    source=f"{OWN}; classical",
    draws=(draw_logit_matrices,),
    extremal=written("given", *_UNSEEN),
    sharp=True,
    share=0.5,
    notes="For two tokens it is an equality.",
)

own_spectrum_symmetric = proved(
    "own:spectrum-symmetric",
    "real_attention(K)",
    given="symmetric(K)",
    arrays={"K": "n n, > 0"},
    title="Eigenvalues of attention with symmetric logits",
    source=f"{OWN}; classical for reversible chains",
    draws=(draw_symmetric,),
    share=0.3,
    notes="K is e to the logits, entry by entry.",
)
