"""wang2022:1: attention as a low-pass filter: as it is read, for all signals, and where it is one, with a rate."""

from fractions import Fraction
from functools import partial

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.rationals import exact_array
from rankmath.linalg.stochastic import stationary
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.papers import OWN, WANG

defined(
    "never_zero(A: array, z: array)",
    "any(not (mpower(A, n) @ z)[i] == 0 for i in range(n))",
    "A^t z is never 0: it is not 0 at t = n",
)


@predicate(
    "low_pass(A: array, z: array)",
    latex=r"\frac{{\|\mathrm{{HC}}[{0}^t{1}]\|_2}}{{\|\mathrm{{DC}}[{0}^t{1}]\|_2}}\to0\quad(t\to\infty)",
    because="a limit in t",
)
def low_pass(run: ArrayRun, A: str, z: str) -> Truth:
    """‖HC[A^t z]‖/‖DC[A^t z]‖ → 0, DC the part along 1 and HC the rest: so it is exactly where πᵀz ≠ 0, π the
    stationary distribution"""
    mean = run.by_text("stationary_mean", (A, z))
    return Truth(mean != 0, f"πᵀz = {mean}")


defined(
    "stationary_mean(A: array, z: array)",
    "p = solve([[A[j][i] - identity(n)[i][j] + 1 for j in range(n)] for i in range(n)], [1 for i in "
    "range(n)]); sum(p[i]*z[i] for i in range(n))",
    "πᵀz, π the stationary distribution of A",
    by_name=True,
    example="stationary_mean(A, z) > 0",
)
defined(
    "high_square(A: array, z: array, t: array)",
    "y = mpower(A, t) @ z; sum((y[i] - sum(y[j] for j in range(n))/n)**2 for i in range(n))",
    "squared norm of A^t z minus its mean",
    by_name=True,
    example="high_square(A, z, t) >= 0",
)
defined(
    "low_square(A: array, z: array, t: array)",
    "y = mpower(A, t) @ z; sum(y[i] for i in range(n))**2/n",
    "squared norm of the mean of A^t z, as a constant vector",
    by_name=True,
)
defined(
    "dobrushin_of(A: array)",
    "max(sum(abs(A[i][k] - A[j][k]) for k in range(n)) for i in range(n) for j in range(n))/2",
    "Dobrushin's coefficient: the largest total variation ½‖A_i − A_j‖₁ of two rows",
    example="dobrushin_of(A) <= 1",
)
defined(
    "range_of(z: array)",
    "max(z[i] - z[j] for i in range(len(z)) for j in range(len(z)))",
    "largest minus least entry, exactly",
)


def draw_signals(rng: Rng, size: int, *, blind: bool) -> ArrayInstance:
    """Positive rational matrices and signals; `blind`: signals with πᵀz = 0."""
    n = int(rng.integers(2, 6))
    matrices, signals, steps = [], [], []
    for _ in range(size):
        A = exact_array("A", rng.integers(1, 30, (n, n)), (n, n))
        A = A / A.sum(axis=1, keepdims=True)
        z = exact_array("z", rng.integers(-20, 21, n) + np.eye(n, dtype=int)[0] * 50, (n,))
        if blind:
            z = z - sum(p * x for p, x in zip(stationary(A), z, strict=True))
        matrices.append(A)
        signals.append(z)
        steps.append(int(rng.integers(0, 6)))
    return exact_batch("stationary mean 0" if blind else "random", A=matrices, z=signals, t=steps)


def draw_near_absorbing(rng: Rng, size: int) -> ArrayInstance:
    """Two tokens, the first of which hardly looks at the second: nearly an equality."""
    matrices, signals, steps = [], [], []
    for _ in range(size):
        a, b = Fraction(1, 10 ** int(rng.integers(7, 12))), Fraction(int(rng.integers(1, 9)), 10)
        matrices.append([[1 - a, a], [b, 1 - b]])
        signals.append([3, int(rng.integers(1, 3))])
        steps.append(int(rng.integers(1, 4)))
    return exact_batch("nearly absorbing", A=matrices, z=signals, t=steps)


_TWO_ROWS = [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]]

wang2022_1 = refuted(
    "wang2022:1",
    "low_pass(A, z)",
    given=("positive_stochastic(A)", "never_zero(A, z)"),
    arrays={"A": "n n, > 0, stochastic", "z": "n"},
    title="Attention as a low-pass filter of every signal, as we read it",
    source=f"{WANG}, Theorem 1, as later papers quote it: for all z; the original was not before us",
    draws=(partial(draw_signals, blind=True), partial(draw_signals, blind=False)),
    # Az = z/6, and the ratio is 5 at every step.
    exhibit={"A": _TWO_ROWS, "z": [2, -3], "pi": stationary(_TWO_ROWS)},
    notes="What is true: wang2022:1-repaired. A positive row-stochastic matrix is the softmax of its logarithm.",
)

wang2022_1_repaired = proved(
    "wang2022:1-repaired",
    "4*high_square(A, z, t)*(abs(stationary_mean(A, z)) - beta*(n - 1)/n)**2 <= beta**2*low_square(A, z, t)",
    given=("positive_stochastic(A)", "beta*(n - 1)/n < abs(stationary_mean(A, z))"),
    where={"beta": "dobrushin_of(A)**t*range_of(z)"},
    arrays={"A": "n n, > 0, stochastic", "z": "n", "t": ", whole, >= 0"},
    title="Attention as a low-pass filter of signals of stationary mean not 0, with a rate",
    source=f"{OWN}, after Theorem 1 of {WANG}",
    draws=(draw_near_absorbing, partial(draw_signals, blind=False)),
    sharp=True,
    notes="Here 0⁰ = 1. The quotient of the two squared norms tends to 0 as t grows, wherever πᵀz ≠ 0.",
)
