"""dong2021:norm: √(‖A‖₁‖A‖_∞) is not a norm, as the paper says itself."""

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import certify_arrays
from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.papers import DONG

defined(
    "composite(A: array)",
    "sqrt(max(sum(abs(A[i][j]) for i in range(len(A))) for j in range(len(A[0])))*max(sum(abs(A[i][j]) for j in "
    "range(len(A[0]))) for i in range(len(A))))",
    "√(‖A‖₁‖A‖_∞): the root of the largest column sum times the largest row sum of absolute values",
    by_name=True,
)
defined(
    "composite_sum(A: array, B: array)",
    "C = A + B; sqrt(max(sum(abs(C[i][j]) for i in range(len(A))) for j in range(len(A[0])))*max(sum(abs(C[i][j]) for "
    "j in range(len(A[0]))) for i in range(len(A))))",
    "the same of A + B",
    by_name=True,
)


def draw_crosses(rng: Rng, size: int) -> ArrayInstance:
    """e₁uᵀ and its transpose, positive u: the sum is a cross."""
    n = int(rng.integers(3, 8))
    u = 10.0 ** rng.uniform(-3, 3, (size, 1)) * rng.uniform(0.9, 1.1, (size, n))
    A = np.zeros((size, n, n))
    A[:, 0, :] = u
    return ArrayInstance({"A": A, "B": np.swapaxes(A, -1, -2)}, "crosses", is_batch=True)


def exhibit_not_a_norm() -> Certificate:
    """A = e₁1ᵀ, B = Aᵀ for n = 3: 2√3 on the parts, 4 on the sum."""
    A = np.asarray([[1, 1, 1], [0, 0, 0], [0, 0, 0]])
    return certify_arrays("dong2021:norm", {"A": A, "B": A.T}, kind="violates")


dong2021_norm = proved(
    "dong2021:norm",
    "composite(A) + composite(B) < composite_sum(A, B)",
    arrays={"A": "n m", "B": "n m"},
    quantifier="some",
    title="The composite value and the triangle inequality",
    source=f"{DONG} say so themselves; the pair is ours",
    draws=(draw_crosses,),
    exhibit=exhibit_not_a_norm,
)
