"""folk:spectrum-real: eigenvalues of attention are not real in general; how large, and when real."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Scalar, Truth, predicate, quantity, unbox
from rankmath.linalg.rationals import exact_array, to_flint
from rankmath.validation import Array, Number
from rankmath.verification.claim import OWN, ArrayInstance, Instance, Rng, exact_batch, proved, refuted


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


@predicate("symmetric(K: array)", text="all(K[i][j] == K[j][i] and K[i][j] > 0 for i in range(n) for j in range(n))")
def symmetric(run: ArrayRun, K: str) -> Truth:
    """the matrix is symmetric and its entries are positive"""
    return Truth(bool((run[K] == run[K].T).all() and (run[K] > 0).all()))


def _attention(run: ArrayRun, L: str) -> Array:
    A = run.A
    logits = A.asarray(np.asarray(run[L]))
    e = A.exp(logits - A.max(logits, axis=-1))
    return e / A.sum(e, axis=-1)


@quantity("subdominant(L: array)", text="moduli(softmax(L))[1]", example="subdominant(L) <= 1")
def subdominant(run: ArrayRun, L: str) -> Scalar:
    """largest modulus of an eigenvalue of softmax(L), row by row, besides the simple eigenvalue 1"""
    P = _attention(run, L)
    if not run.A.unbounded:
        return run.number(np.sort(np.abs(np.linalg.eigvals(P)), axis=-1)[..., -2])
    if run.A.name == "mpmath":
        import mpmath

        return sorted(abs(x) for x in mpmath.eig(mpmath.matrix(P.tolist()), left=False, right=False))[-2]
    from flint import acb_mat

    values = acb_mat(P.tolist()).eig(multiple=True)
    [first, *_] = [k for k, x in enumerate(values) if x.contains(1)]
    moduli = [abs(x) for k, x in enumerate(values) if k != first]
    largest = moduli[0]
    for x in moduli[1:]:
        largest = largest.max(x)
    return largest


@quantity(
    "mixing(L: array)",
    text="P = softmax(L); max(sum(abs(P[i][k] - P[j][k]) for k in range(n)) for i in range(n) for j in range(n))/2",
    by_name=True,
    example="mixing(L) <= 1",
)
def mixing(run: ArrayRun, L: str) -> Scalar:
    """Dobrushin's coefficient of softmax(L): the largest total variation of two rows"""
    P, A = _attention(run, L), run.A
    first, second = np.triu_indices(P.shape[-1], 1)
    gaps = A.sum(A.abs(P[..., first, :] - P[..., second, :]), axis=-1) / 2
    return run.number(unbox(A.max(gaps, axis=-2)))


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


def nearly_two_tokens(rng: Rng) -> Iterator[Instance]:
    """A third token that nobody looks at and that looks like the mean of the others: nearly an equality."""
    for a in (0.5, 2.0):
        yield own_spectrum.instance([[a, 0.0, -25.0], [0.0, 1.0, -25.0], [0.0, 0.0, -25.0]])


_CYCLIC = [[Fraction(k, 10) for k in row] for row in ([1, 8, 1], [1, 1, 8], [8, 1, 1])]

folk_spectrum_real = refuted(
    "folk:spectrum-real",
    "real_spectrum(A)",
    given="positive_stochastic(A)",
    arrays={"A": "n n, > 0, stochastic"},
    exact=True,
    title="Attention has its eigenvalues in (−1, 1], as it is often said",
    source="often read, with no one source",
    draws=(draw_positive,),
    # circulant(1, 8, 1)/10 has −7/20 ± 7√3/20 i; on vectors of mean 0 it satisfies A² + 7/10 A + 49/100 = 0.
    exhibit={"A": _CYCLIC, "u": [1, -1, 0], "p": Fraction(7, 10), "q": Fraction(49, 100)},
    share=0.3,
    notes="True for two tokens and for symmetric logits (own:spectrum-symmetric); in general the eigenvalues lie "
    "in a disc of radius δ(A) < 1, besides 1 itself (own:spectrum).",
)

own_spectrum = proved(
    "own:spectrum",
    "subdominant(L) <= mixing(L)",
    given="n >= 2",
    arrays={"L": "n n, n >= 2"},
    title="Every eigenvalue of attention besides 1 has modulus at most the Dobrushin coefficient",
    source=f"{OWN}; classical",
    draws=(draw_logit_matrices,),
    extremal=nearly_two_tokens,
    sharp=True,
    share=0.5,
    notes="For two tokens it is an equality.",
)

own_spectrum_symmetric = proved(
    "own:spectrum-symmetric",
    "real_attention(K)",
    given="symmetric(K)",
    arrays={"K": "n n, > 0"},
    exact=True,
    title="Attention with symmetric logits has its eigenvalues in (−1, 1]",
    source=f"{OWN}; classical for reversible chains",
    draws=(draw_symmetric,),
    share=0.3,
    notes="W_QK symmetric, no query bias and no mask, or an undirected one with self-loops: K = e to the logits.",
)
