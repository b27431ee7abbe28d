"""he2023:u-spa, he2023:e-spa: attention matrices that carry one kernel into the next are non-negative."""

from fractions import Fraction
from functools import partial

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, Statement, exact_batch
from rankmath.verification.papers import HE

defined(
    "carries_uniform(a: array, b: array, size: array)",
    "L = cholesky([[a + (1 - a)*identity(size)[i][j] for j in range(size)] for i in range(size)]); M = "
    "cholesky([[b + (1 - b)*identity(size)[i][j] for j in range(size)] for i in range(size)]); "
    "all(solve(T(L), M[i])[j] >= 0 for i in range(size) for j in range(i + 1))",
    "the lower triangular factor, of positive diagonal, of the uniform kernel with correlation b, times the "
    "inverse of that with a, is non-negative",
    by_name=True,
)
defined(
    "carries_exponential(a: array, b: array, size: array)",
    "L = cholesky([[a**abs(i - j) for j in range(size)] for i in range(size)]); M = cholesky([[b**abs(i - "
    "j) for j in range(size)] for i in range(size)]); all(solve(T(L), M[i])[j] >= 0 for i in range(size) "
    "for j in range(i + 1))",
    "the lower triangular factor, of positive diagonal, of the kernel b to the |i − j|, times the inverse of "
    "that with a, is non-negative",
    by_name=True,
)


def draw_kernels(rng: Rng, size: int, *, most: int) -> ArrayInstance:
    """Correlations that grow, by much or by little."""
    a, b, sizes = [], [], []
    for _ in range(size):
        first, second = sorted(rng.choice(np.arange(1, 1000), 2, replace=False))
        a.append(Fraction(int(first), 1000))
        b.append(Fraction(int(second), 1000))
        sizes.append(int(rng.integers(2, most)))
    return exact_batch("growing correlation", a=a, b=b, size=sizes)


_between_kernels = partial(
    Statement,
    given=("a > 0", "a < b", "b < 1"),
    arrays={"a": ", > 0, < 1", "b": ", > 0, < 1", "size": ", whole, >= 2, <= 40"},
    exact=True,
    status="proved",
    draws=(partial(draw_kernels, most=8),),
    share=0.2,
)

he2023_u_spa = _between_kernels(
    "he2023:u-spa",
    "carries_uniform(a, b, size)",
    title="Non-negative attention between uniform kernels, as we read it",
    source=f"{HE}, on U-SPA, from memory",
    notes="Where b < a some entry is negative.",
)

he2023_e_spa = _between_kernels(
    "he2023:e-spa",
    "carries_exponential(a, b, size)",
    title="Non-negative attention between exponential kernels, as we read it",
    source=f"{HE}, on E-SPA, from memory",
    notes="a and b are e^(−γ) of a layer and the next, where γ falls with depth.",
)
