"""Deviations of close tokens: Σ_j q_j m_ij v_j / (1 + Σ_j q_j m_ij), m = expm1(E), E below rounding or moderate."""

from __future__ import annotations

import math

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.attention.blocks import in_row_blocks
from rankmath.attention.tokens import Scaled, floored
from rankmath.attention.views import moving
from rankmath.validation import Array

#: log |E| below this: expm1(E) is E to the last bit, and 1 + m̄ is 1.
LINEAR_LOG = -54 * math.log(2.0)


def by_thin_products(A: Float64, left: Array, right: Array, q: Array, log_q: Array | None, values: Array) -> Scaled:
    """E (q v) for E below rounding, thin matrices alone; `log_q` is given where q may have underflowed."""
    unit: Array = 0.0
    if log_q is not None:
        log_q = moving(A, right, log_q)
        top = floored(A, A.max(log_q, axis=-2))
        q, unit = A.exp(log_q - top), A.unit_of(top)
    return A.matmul(left, A.matmul(A.transpose(right), q * values)), unit


def by_expm1(A: Float64, left: Array, right: Array, q: Array, values: Array, offsets: Array | None = None) -> Array:
    """The sum as it stands, for moderate E = left rightᵀ (+ offsets)."""
    rightT, weights = A.transpose(right), A.concat([q * values, q], axis=-1)

    def average(rows: Array, start: int) -> Array:
        E = A.passing_product(rows, rightT)
        if offsets is not None:
            E = A.sum_with_temporary(E, offsets[..., start : start + rows.shape[-2], :])
        y = A.matmul(A.expm1_of_temporary(E), weights)
        return y[..., :-1] * (1.0 / (1.0 + y[..., -1:]))

    return in_row_blocks(A, average, left, right.shape[-2])


def enclosed(
    A: ObjectArithmetic, left: Array, right: Array, q: Array, values: Array, offsets: Array | None = None
) -> Array:
    """The sum with unbounded exponents; without exponentials and with an error bound where E is below rounding."""
    E = None if offsets is None else A.matmul(left, A.transpose(right)) + offsets
    if E is not None or not A.clearly_moderate(left, right):
        weighted = q * values
        bound = A.size_bound(left) * A.size_bound(right) * left.shape[-1] if E is None else A.size_bound(E)
        b = A.upper_exponent(bound)
        if b < -A.bits():
            # |E| ≤ 2^b: m = E + θE² with |θ| ≤ 1, and |m̄| ≤ 2^{b+1}, so 1/(1 + m̄) is within 2^{b+2} of 1.
            quadratic = A.max(A.sum(A.abs(weighted), axis=-2), axis=-1) * A.error_ball(2 * b + 1)
            thin = E is None
            linear = A.matmul(left, A.matmul(A.transpose(right), weighted)) if thin else A.matmul(E, weighted)
            return linear * (1 + A.error_ball(b + 2)) + A.where(A.certainly_zero(bound), A.zero, quadratic)
    return A.expm1_average(left, right, q, values, offsets)
