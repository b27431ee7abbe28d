"""folk:affine-rank: LayerNorm of single tokens and the affine rank of the set of tokens."""

from fractions import Fraction
from math import isqrt

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.rationals import to_flint
from rankmath.validation import Array
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, refuted
from rankmath.verification.papers import CIRRINCIONE


def _centred(X: Array) -> Array:
    return X - X.sum(axis=1, keepdims=True) / X.shape[1]


def _rank(rows: Array) -> int:
    return int(to_flint(rows).rank())


def _affine_rank(X: Array) -> int:
    return _rank(X[1:] - X[:1])


defined(
    "normed_by(X: array, s: array)",
    "Y = [[X[i][a] - sum(X[i][b] for b in range(len(X[0])))/len(X[0]) for a in range(len(X[0]))] for i in range(n)]; "
    "q = [sum(Y[i][a]**2 for a in range(len(X[0]))) for i in range(n)]; all(q[i] > 0 and s[i] > 0 and s[i]**2*q[i] == "
    "s[0]**2*q[0] for i in range(n))",
    "no token is constant, and s > 0 are the factors by which LayerNorm multiplies the centred tokens, up to one "
    "common factor: s_i² times the squared length of the centred token i is the same for all i",
    by_name=True,
)


@predicate(
    "keeps_affine_rank(X: array, s: array)",
    text="Y = [[X[i][a] - sum(X[i][b] for b in range(len(X[0])))/len(X[0]) for a in range(len(X[0]))] for i in "
    "range(n)]; matrix_rank([[s[i]*Y[i][a] - s[0]*Y[0][a] for a in range(len(X[0]))] for i in range(n)]) "
    "== matrix_rank([[X[i][a] - X[0][a] for a in range(len(X[0]))] for i in range(n)])",
    by_name=True,
)
def keeps_affine_rank(run: ArrayRun, X: str, s: str) -> Truth:
    """LayerNorm of the single tokens leaves the affine rank of their set, the dimension of the least affine space
    that holds them all"""
    before = _affine_rank(run[X])
    after = _affine_rank(_centred(run[X]) * np.asarray(run[s])[:, None])
    return Truth(before == after, f"affine rank {before} before, {after} after")


def _root(x: Fraction) -> Fraction | None:
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if p * p == x.numerator and q * q == x.denominator else None


def scales(rows: Array) -> Array:
    """By what LayerNorm multiplies each centred token, over what it does to the first; None if irrational."""
    squares = (_centred(rows) ** 2).sum(axis=1)
    return np.asarray([_root(squares[0] / square) for square in squares], dtype=object)


#: Three points of a line: the ends and the middle.
LINE = [[Fraction(x) for x in row] for row in ([1, -1, 0], [0.5, 0, -0.5], [0, 1, -1])]


def draw_lines(rng: Rng, size: int) -> ArrayInstance:
    """Permutations of coordinates of (1, −1, 0, …), (½, 0, −½, …), (0, 1, −1, …), moved and scaled."""
    found = []
    d = int(rng.integers(3, 6))
    for _ in range(size):
        order = rng.permutation(d)
        rows = np.full((3, d), Fraction(0), dtype=object)
        rows[:, order[:3]] = np.asarray(LINE, dtype=object)
        rows = rows * Fraction(int(rng.integers(1, 9)), int(rng.integers(1, 9))) + Fraction(int(rng.integers(-5, 6)))
        found.append(rows)
    return exact_batch("three on a line", X=found, s=[scales(rows) for rows in found])


folk_affine_rank = refuted(
    "folk:affine-rank",
    "keeps_affine_rank(X, s)",
    given="normed_by(X, s)",
    arrays={"X": "n d, n >= 2", "s": "n, > 0"},
    title="Affine rank of tokens under LayerNorm, as one may read it",
    source=f"{CIRRINCIONE}, its abstract, with a definition of affine rank that we have not seen; read with the "
    "dimension of the affine hull and the LayerNorm of single tokens, without gain and bias",
    draws=(draw_lines,),
    exhibit={"X": LINE, "s": scales(np.asarray(LINE, dtype=object))},
    share=0.05,
    notes="Three tokens on a line may leave it. What LayerNorm keeps is the rank of the matrix of centred tokens: it "
    "multiplies its rows by positive numbers.",
)
