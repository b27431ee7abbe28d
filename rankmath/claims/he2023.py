"""he2023:u-spa, he2023:e-spa: attention matrices that carry one kernel into the next are non-negative."""

from fractions import Fraction
from functools import partial

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, predicate
from rankmath.validation import Array, Number
from rankmath.verification.claim import ArrayInstance, Rng, Statement, exact_batch
from rankmath.verification.papers import HE

# Enough for kernels of a few dozen tokens; what they leave open is said to be open.
_BITS = 512


def _factor(kernel: Array) -> Array:
    """The lower triangular L with LLᵀ = kernel, in balls."""
    n = len(kernel)
    L = np.full((n, n), 0 * kernel[0][0], dtype=object)
    for i in range(n):
        for j in range(i + 1):
            rest = kernel[i][j] - sum((L[i, k] * L[j, k] for k in range(j)), 0 * kernel[0][0])
            L[i, j] = rest.sqrt() if i == j else rest / L[j, j]
    return L


def _carries(before: Array, after: Array) -> Truth:
    """Whether L′L⁻¹ ≥ 0 entrywise, L and L′ the factors of two kernels, by elimination in balls."""
    from rankmath.arithmetic.balls import ball, precision

    with precision(_BITS):
        first, second = (_factor([[ball(x) for x in row] for row in kernel]) for kernel in (before, after))
        n = len(first)
        answer: bool | None = True
        for i in range(n):
            # Row i of A = L′L⁻¹ from the right: A L = L′.
            row: list[Number] = [None] * n
            for j in range(i, -1, -1):
                total = sum((row[k] * first[k, j] for k in range(j + 1, i + 1)), 0 * first[0, 0])
                row[j] = (second[i, j] - total) / first[j, j]
                if row[j] < 0:
                    return Truth(False, f"entry ({i}, {j}) is {row[j].str(5)}")
                if not row[j] >= 0:
                    answer = None
    return Truth(answer, f"all {n * (n + 1) // 2} entries in balls of {_BITS} bits")


def _uniform(n: int, rho: Fraction) -> list[list[Fraction]]:
    return [[Fraction(1) if i == j else rho for j in range(n)] for i in range(n)]


def _exponential(n: int, a: Fraction) -> list[list[Fraction]]:
    return [[a ** abs(i - j) for j in range(n)] for i in range(n)]


@predicate(
    "carries_uniform(a: array, b: array, size: array)",
    text="L = cholesky([[a + (1 - a)*identity(size)[i][j] for j in range(size)] for i in range(size)]); M = "
    "cholesky([[b + (1 - b)*identity(size)[i][j] for j in range(size)] for i in range(size)]); "
    "all(solve(T(L), M[i])[j] >= 0 for i in range(size) for j in range(i + 1))",
    by_name=True,
)
def carries_uniform(run: ArrayRun, a: str, b: str, size: str) -> Truth:
    """the lower triangular factor, of positive diagonal, of the uniform kernel with correlation b, times the
    inverse of that with a, is non-negative"""
    n, first, second = (Fraction(run.letter(name)) for name in (size, a, b))
    return _carries(_uniform(int(n), first), _uniform(int(n), second))


@predicate(
    "carries_exponential(a: array, b: array, size: array)",
    text="L = cholesky([[a**abs(i - j) for j in range(size)] for i in range(size)]); M = cholesky([[b**abs(i - "
    "j) for j in range(size)] for i in range(size)]); all(solve(T(L), M[i])[j] >= 0 for i in range(size) "
    "for j in range(i + 1))",
    by_name=True,
)
def carries_exponential(run: ArrayRun, a: str, b: str, size: str) -> Truth:
    """the lower triangular factor, of positive diagonal, of the kernel b to the |i − j|, times the inverse of
    that with a, is non-negative"""
    n, first, second = (Fraction(run.letter(name)) for name in (size, a, b))
    return _carries(_exponential(int(n), first), _exponential(int(n), second))


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
    status="proved",
    draws=(partial(draw_kernels, most=8),),
    share=0.2,
)

he2023_u_spa = _between_kernels(
    "he2023:u-spa",
    "carries_uniform(a, b, size)",
    title="Uniform kernels are carried into one another by non-negative attention, as we read it",
    source=f"{HE}, on U-SPA, from memory",
    notes="Correlations that grow from layer to layer; where they fall some entry is negative, for two tokens or more.",
)

he2023_e_spa = _between_kernels(
    "he2023:e-spa",
    "carries_exponential(a, b, size)",
    title="Exponential kernels are carried into one another by non-negative attention, as we read it",
    source=f"{HE}, on E-SPA, from memory",
    notes="The kernel is e^(−γ|i − j|) with γ falling from layer to layer; a and b are e^(−γ).",
)
