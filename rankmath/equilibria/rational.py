"""Exact algebra at tokens that rest: the characteristic polynomial of the Jacobian over the rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_poly

Rows = Sequence[Sequence[Fraction | int]]


@dataclass(frozen=True)
class Polynomial:
    """A monic polynomial with rational coefficients, the constant one first."""

    coefficients: tuple[Fraction, ...]

    @classmethod
    def with_roots(cls, roots: Sequence[Fraction | int]) -> Polynomial:
        """∏(z − root)."""
        product = fmpq_poly([1])
        for root in roots:
            product *= fmpq_poly([-_fmpq(root), 1])
        return cls(_fractions(product))


def resting_polynomial(X: Rows, W_V: Rows, M: Rows, allowed: Sequence[Sequence[bool]]) -> Polynomial | None:
    """The characteristic polynomial of DF at signed coordinate vectors X that rest under even attention, else None.

    Even attention: the logits x_i M x_jᵀ of each token are equal on the mask. The Jacobian is by the definition:
    ∂y_i/∂x_k = A_ik((x_i M)ᵀ(v_k − y_i) + W_V) + [i = k] Σ_j A_ij (M x_jᵀ)(v_j − y_i), then (I − x_iᵀx_i)/|y_i|.

    >>> found = resting_polynomial([[1, 0], [0, 1]], [[2, 0], [-2, 1]], [[0, 1], [0, 0]], [[1, 0], [1, 1]])
    >>> found == Polynomial.with_roots([Fraction(1, 2), 0, 0, 0])
    True
    """
    n, d = len(X), len(W_V)
    x, w, m = (fmpq_mat(len(A), len(A[0]), [_fmpq(v) for row in A for v in row]) for A in (X, W_V, M))
    logits, v = x * m * x.transpose(), x * w
    queries, keys = x * m, x * m.transpose()
    rows = []
    for i in range(n):
        seen = [j for j in range(n) if allowed[i][j]]
        y = [sum((v[j, b] for j in seen), fmpq(0)) / len(seen) for b in range(d)]
        along = sum((y[b] * x[i, b] for b in range(d)), fmpq(0))
        rests = all(y[b] == along * x[i, b] for b in range(d)) and along > 0
        if not rests or any(logits[i, j] != logits[i, seen[0]] for j in seen):
            return None
        for b in range(d):
            row = [fmpq(0)] * (n * d)
            if x[i, b] == 0:
                for k in seen:
                    for a in range(d):
                        row[k * d + a] += queries[i, a] * (v[k, b] - y[b]) + w[a, b]
                        row[i * d + a] += keys[k, a] * (v[k, b] - y[b])
            rows += [entry / (len(seen) * along) for entry in row]
    return Polynomial(_fractions(fmpq_mat(n * d, n * d, rows).charpoly()))


def _fmpq(value: Fraction | int) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fractions(polynomial: fmpq_poly) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(c.p), int(c.q)) for c in polynomial.coeffs())
