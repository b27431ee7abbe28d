"""Deviations of far tokens: e^E in place of e^E − 1, which with values of q-mean zero gives the same average."""

from __future__ import annotations

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.blocks import in_row_blocks
from rankmath.attention.tokens import Scaled, floored
from rankmath.attention.views import exp_sum, in_one_unit, moving
from rankmath.validation import Array


def by_exp(A: Float64, left: Array, right: Array, q: Array, values: Array) -> Array:
    """Σ_j q_j e^{E_ij} v_j / Σ_j q_j e^{E_ij} for E that overflows nothing."""
    rightT, weights = A.transpose(right), A.concat([q * values, q], axis=-1)

    def average(rows: Array, start: int) -> Array:
        y = A.matmul(A.exp_of_temporary(A.passing_product(rows, rightT)), weights)
        return y[..., :-1] * (1.0 / y[..., -1:])  # a division an entry would take longer

    return in_row_blocks(A, average, left, right.shape[-2])


def by_softmax(A: Float64, left: Array, right: Array, log_q: Array, values: Array) -> Array:
    """The same for any E, every row relative to its largest logit."""
    ones = A.xp.ones_like(values[..., :1])
    weights = A.concat([values, ones], axis=-1)
    logitsT = A.transpose(A.concat([right, log_q], axis=-1))

    def average(rows: Array, start: int) -> Array:
        logits = A.matmul(rows, logitsT)
        logits -= A.max(logits, axis=-1)
        y = A.matmul(A.exp_of_temporary(logits), weights)
        return y[..., :-1] / y[..., -1:]

    return in_row_blocks(A, average, A.concat([left, ones], axis=-1), right.shape[-2])


def with_row_units(
    A: Float64, left: Array, right: Array, log_q: Array, values: Array, offsets: Array | None = None
) -> Scaled:
    """Every row in a unit of its own: all may attend to j* alone, up to e^-1000 and less."""
    xp, rightT, row_log_q = A.xp, A.transpose(right), A.transpose(log_q)
    row_moving = A.transpose(
        moving(A, right if offsets is None else A.concat([right, A.transpose(offsets)], axis=-1), log_q)
    )

    def average(rows: Array, start: int) -> Array:
        E = A.matmul(rows, rightT)
        if offsets is not None:
            E = E + offsets[..., start : start + rows.shape[-2], :]
        total, log_total = exp_sum(A, row_log_q + E)
        up = row_moving + xp.maximum(E, 0.0)
        top = floored(A, A.max(up, axis=-1))
        w = xp.sign(E) * A.exp(up - top) * -xp.expm1(-xp.abs(E))
        return A.concat([A.matmul(w, values) / total, top - log_total], axis=-1)

    return in_one_unit(A, in_row_blocks(A, average, left, right.shape[-2]))
