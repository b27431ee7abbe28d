"""joudaki2023:isometry: dividing tokens by their lengths makes them more isometric; and by how much exactly."""

from collections.abc import Iterator

from rankmath.formula.arrays import ArrayRun, Scalar, quantity, unbox
from rankmath.validation import Array
from rankmath.verification.claim import JOUDAKI, ArrayInstance, Instance, Rng, proved


def _lengths(run: ArrayRun, X: str) -> Array:
    A, rows = run.A, run.array(X)
    return A.sqrt(A.sum(rows * rows, axis=-1))


def _isometry(run: ArrayRun, rows: Array) -> Scalar:
    """det(G)^{1/n}/(tr G/n), G = XXᵀ, from the pivots of an elimination: G is positive definite."""
    A = run.A
    G = A.matmul(rows, A.transpose(rows))
    n = G.shape[-1]
    trace, logs = 0, 0
    for k in range(n):
        trace = trace + G[..., k : k + 1, k : k + 1]
    for _ in range(n):
        pivot, column = G[..., :1, :1], G[..., 1:, :1]
        logs = logs + A.log(pivot)
        G = G[..., 1:, 1:] - column * A.transpose(column) / pivot
    return run.from_log(unbox(logs / n - A.log(trace / n)))


@quantity(
    "isometry(X: array)",
    text="n*det(X @ T(X))**(1/n)/sum(X[i][a]**2 for i in range(n) for a in range(len(X[0])))",
    by_name=True,
    example="isometry(X) <= 1",
)
def isometry(run: ArrayRun, X: str) -> Scalar:
    """det(XXᵀ)^(1/n) over the mean squared length of a token: 1 where tokens are orthogonal and of one length"""
    return _isometry(run, run.array(X))


@quantity(
    "unit_isometry(X: array)",
    text="U = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in "
    "range(n)]; det(U @ T(U))**(1/n)",
    by_name=True,
    example="unit_isometry(X) <= 1",
)
def unit_isometry(run: ArrayRun, X: str) -> Scalar:
    """the same of the tokens divided by their lengths"""
    return _isometry(run, run.array(X) / _lengths(run, X))


@quantity(
    "length_spread(X: array)",
    text="l = [sqrt(sum(X[i][a]**2 for a in range(len(X[0])))) for i in range(n)]; m = sum(l[i] for i in "
    "range(n))/n; 1 + sum((l[i] - m)**2 for i in range(n))/(n*m**2)",
    by_name=True,
    example="length_spread(X) >= 1",
)
def length_spread(run: ArrayRun, X: str) -> Scalar:
    """1 + variance over squared mean of the lengths of tokens"""
    A, lengths = run.A, _lengths(run, X)
    total, n = A.sum(lengths, axis=-2), lengths.shape[-2]
    return run.number(unbox(n * A.sum(lengths * lengths, axis=-2) / (total * total)))


def draw_tokens(rng: Rng, size: int) -> ArrayInstance:
    """Random directions, lengths over several orders of magnitude."""
    n = int(rng.integers(2, 6))
    X = rng.standard_normal((size, n, n + int(rng.integers(1, 3))))
    X *= 10.0 ** (rng.uniform(0, 1, (size, 1, 1)) * rng.standard_normal((size, n, 1)))
    return ArrayInstance({"X": X}, "random", is_batch=True)


def nearly_one_length(rng: Rng) -> Iterator[Instance]:
    """Lengths that nearly agree: nearly an equality."""
    yield joudaki2023_isometry.instance([[1.0, 0.0, 0.0], [0.5, 0.866, 0.0]])


joudaki2023_isometry = proved(
    "joudaki2023:isometry",
    "isometry(X)*length_spread(X) <= unit_isometry(X)",
    given="isometry(X) > 0",
    arrays={"X": "n d, independent rows"},
    title="Tokens divided by their lengths are more isometric, as we read it",
    source=f"{JOUDAKI}, on normalisation and isometry, from memory",
    draws=(draw_tokens,),
    extremal=nearly_one_length,
    share=0.5,
    notes="The factor is exactly mean‖x‖² over the squared geometric mean of the lengths. It exceeds 1 by twice as "
    "much as length_spread does in the limit of equal lengths, by 49.0 against 0.96 for two lengths 1 and 100, by "
    "9.9 against 8.1 for one length 100 among 999 of length 1.",
)
