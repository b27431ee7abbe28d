"""bhojanapalli2020:1: which attention matrices tokens can have; and what the head size says of their rank."""

from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.rationals import from_flint, to_flint
from rankmath.validation import NumpyArray
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.papers import BHOJANAPALLI, OWN


def _reduced(M: NumpyArray) -> tuple[list[list[Fraction]], int]:
    """The row echelon form of a rational matrix, and its rank."""
    form, rank = to_flint(M).rref()
    return from_flint(form), rank


def _left_null(X: NumpyArray) -> NumpyArray:
    """Rows v with vX = 0 that span all of them."""
    form, rank = _reduced(X.T)
    n = len(X)
    pivots = [next(j for j in range(n) if row[j]) for row in form[:rank]]
    found = []
    for free in (j for j in range(n) if j not in pivots):
        v = np.full(n, Fraction(0), dtype=object)
        v[free] = Fraction(1)
        for row, pivot in zip(form, pivots, strict=False):
            v[pivot] = -row[free]
        found.append(v)
    return np.asarray(found, dtype=object).reshape(-1, n)


def _reachable(X: NumpyArray, L: NumpyArray) -> bool:
    """Whether XWXᵀ = L + c1ᵀ for some W and c: so it is if vX = 0 implies v(L + c1ᵀ) = 0 and (L + c1ᵀ)vᵀ = 0."""
    n = len(X)
    left, right = [], []
    for v in _left_null(X):
        total, below, beside = sum(v), -(v @ L), -(L @ v)
        for k in range(n):
            left += [v, np.eye(n, dtype=int)[k] * total]
            right += [below[k], beside[k]]
    if not left:
        return True
    system = np.asarray(left, dtype=object) + Fraction(0)
    whole = np.concatenate([system, np.asarray(right, dtype=object)[:, None]], axis=1)
    return _reduced(system)[1] == _reduced(whole)[1]


defined("independent(X: array)", "matrix_rank(X) == n", "the rows are linearly independent")
defined("dependent(X: array)", "matrix_rank(X) < n", "the rows are linearly dependent, as they are where d < n")


@predicate(
    "reachable(X: array, L: array)",
    latex=r"\text{{there is }}W\text{{ with }}\operatorname{{softmax}}({0}W{0}^{{\mathsf T}})"
    r"=\operatorname{{softmax}}({1})",
    because="that a W exists is decided by elimination, not by trying every W",
)
def reachable(run: ArrayRun, X: str, L: str) -> Truth:
    """some W_QK gives the tokens X the attention softmax(L), exactly: a linear system has a solution"""
    return Truth(_reachable(run[X], run[L]), "by exact elimination")


@predicate(
    "some_unreachable(X: array)",
    latex=r"\text{{there is a positive row-stochastic }}P\text{{ with }}"
    r"\operatorname{{softmax}}({0}W{0}^{{\mathsf T}})\ne P\text{{ for all }}W",
    because="that no W exists is decided by elimination, not by trying every W",
)
def some_unreachable(run: ArrayRun, X: str) -> Truth:
    """the attention with logits v e_0ᵀ, vᵀX = 0, v not 0, is that of no W_QK"""
    v = _left_null(run[X])[0]
    return Truth(not _reachable(run[X], np.outer(v, np.eye(len(v), dtype=int)[0])), "by exact elimination")


defined(
    "softmax_rank(q: array, x: array)",
    "matrix_rank([[x[j]**q[i] for j in range(len(x))] for i in range(len(q))])",
    "rank of the attention with queries q and keys log x, one number each: head size 1 (evaluated for whole q)",
    by_name=True,
    example="softmax_rank(q, x) >= 1",
)
defined(
    "distinct(v: array)", "all(not v[i] == v[j] for i in range(len(v)) for j in range(i))", "no two entries are equal"
)
defined("positive(v: array)", "all(v[i] > 0 for i in range(len(v)))", "every entry is positive")


def draw_wide(rng: Rng, size: int) -> ArrayInstance:
    """Tokens of dimension at least their number, and any logits."""
    n = int(rng.integers(2, 5))
    d = n + int(rng.integers(0, 2))
    X, L = rng.integers(-9, 10, (size, n, d)), rng.integers(-9, 10, (size, n, n))
    return exact_batch("dimension at least n", X=X, L=L)


def draw_narrow(rng: Rng, size: int) -> ArrayInstance:
    """More tokens than dimensions."""
    n = int(rng.integers(2, 6))
    return exact_batch("d < n", X=rng.integers(-9, 10, (size, n, int(rng.integers(1, n)))))


def draw_queries(rng: Rng, size: int) -> ArrayInstance:
    """Distinct queries and keys."""
    n = int(rng.integers(2, 6))
    x, q = [], []
    for _ in range(size):
        x.append([Fraction(int(k), 12) for k in rng.choice(np.arange(1, 40), n, replace=False)])
        q.append(rng.choice(np.arange(-5, 6), n, replace=False))
    return exact_batch("head size 1", q=q, x=x)


# As many queries as keys, which are log x.
_KEYS = ("positive(x)", "count(q) == count(x)")

bhojanapalli2020_1 = proved(
    "bhojanapalli2020:1",
    "reachable(X, L)",
    given="independent(X)",
    arrays={"X": "n d", "L": "n n"},
    title="Attention matrices of independent tokens, as we read it",
    source=f"{BHOJANAPALLI}, Theorem 1, first half, from third-party text",
    draws=(draw_wide,),
    share=0.3,
    notes="Every positive row-stochastic P is softmax(log P); √d_qk is part of W. Heads of size n − 1 or more "
    "have them all, smaller ones do not. Fewer dimensions than tokens: own:low-rank-every-input.",
)

own_low_rank = proved(
    "own:low-rank-every-input",
    "some_unreachable(X)",
    given=("n >= 2", "dependent(X)"),
    arrays={"X": "n d"},
    title="Attention matrices that two or more dependent tokens miss",
    source=f"{OWN}, after Theorem 1 of {BHOJANAPALLI}",
    draws=(draw_narrow,),
    share=0.3,
    notes="v is a column of n numbers with Σ_i v_i x_i = 0, x_i the rows of X.",
)

folk_softmax_rank = refuted(
    "folk:softmax-rank",
    "softmax_rank(q, x) <= 1",
    arrays={"q": "n, whole", "x": "n, > 0"},
    title="Rank of attention, by its head size, as often said",
    source="often read, with no one source: that is the rank of the logits",
    draws=(draw_queries,),
    # Rows (1/2, 1/2) and (1/3, 2/3): rank 2 from head size 1.
    exhibit={"q": [0, 1], "x": [1, 2]},
    share=0.3,
    given=_KEYS,
    notes="For distinct queries and keys the rank is n: own:softmax-rank.",
)

own_softmax_rank = proved(
    "own:softmax-rank",
    "softmax_rank(q, x) == count(q)",
    given=(*_KEYS, "distinct(q)", "distinct(x)"),
    arrays={"q": "n, whole", "x": "n, > 0"},
    title="Rank of attention of head size one",
    source=f"{OWN}; classical, by Vandermonde with real exponents",
    draws=(draw_queries,),
    share=0.3,
)
