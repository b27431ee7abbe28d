"""One head as the tokens see it, whatever the mask: the factors of its logits, and the deviations they make.

Let j* be the most attended token and D = R − 1R_{j*}. Without what is constant along a row the logits are c_j +
E_ij, c = D (W_QKᵀ x + k)/√d_qk and E = R W_QK Dᵀ/√d_qk. At j* both are exact zeros. With m = expm1(E) a deviation is
Σ_j q_j m_ij v_j / (1 + Σ_j q_j m_ij); for far tokens e^E in place of e^E − 1 gives, with values of q-mean zero, the
same average. Rows come in blocks: no full n × n matrix is ever held.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.arithmetic.protocol import System
from rankmath.attention.tokens import SAFE_LOG, Scaled, floored, grown_by, log_of, normalised
from rankmath.validation import Array


@dataclass(frozen=True)
class Logits:
    """E = e^{log_E} left rightᵀ (+ offsets), and scores that are largest at j*."""

    A: System
    scores: Array
    left: Array
    right: Array
    falling: Array  # a part of log_E, min(2σ, 0), where E is a square of the residual; else 0
    log_rest: Array  # the other part
    log_bound: Array  # of left rightᵀ, by Cauchy–Schwarz
    offsets: Scaled | None = None  # what positions add to E, (..., n, n)
    lost_bits: Array = 0.0  # of queries and keys

    @property
    def log_E(self) -> Array:
        return self.falling + self.log_rest

    @cached_property
    def log_size(self) -> Array:
        """Of the largest entry of E, at least (float64)."""
        log_size = self.log_bound + self.log_E
        if self.offsets is None or self.A.unbounded:
            return log_size
        matrix, log = self.offsets
        return self.A.units.maximum(log_size, log_of(self.A, self.A.largest(matrix)) + log)

    def factors(self, A: Float64, log_E: Array) -> tuple[Array, Array]:
        """Two matrices whose product, left rightᵀ, is e^{log_E} times that of ours, neither out of range."""
        left, right = self.left, self.right
        if float(A.units.max(log_E)) <= SAFE_LOG:
            return left * A.factor(A.exp(log_E)), right
        right, log = normalised(A, right)
        return grown_by(A, left, log_E + floored(A, log), log_of(A, A.largest(left))), right


def exp_sum(A: Float64, logits: Array) -> tuple[Array, Array]:
    """Σ_j e^{logits_ij} as a number in [1, n] and a logarithm."""
    top = A.max(logits, axis=-1)
    return A.sum(A.exp_of_temporary(logits - top), axis=-1), top


def in_one_unit(A: Float64, rows: Array) -> tuple[Array, Array]:
    """Rows whose last entry is the logarithm of their unit, brought to the largest unit."""
    logs = rows[..., -1:]
    unit = A.max(logs, axis=-2)
    return rows[..., :-1] * A.exp(logs - unit), A.unit_of(unit)


def moving(A: Float64, right: Array, log_q: Array) -> Array:
    """log q, −∞ at the tokens that coincide with j*: they contribute nothing."""
    return A.where(A.max(A.abs(right), axis=-1) > 0, log_q, -A.xp.inf)


def in_row_blocks(
    A: Float64,
    function: Callable[[Array, int], Array],
    rows: Array,
    columns: int,
    least: int = 1,
    products: bool = False,
) -> Array:
    """function(rows, index of the first), a block of rows at a time: no full n × n matrix is ever held.

    `least` blocks a thread, for work that is less the further down; larger ones where `products` are most of it.
    """
    n = rows.shape[-2]
    batch = math.prod(rows.shape[:-2])
    entries = A.block_entries if batch == 1 and not products else A.batch_entries
    parts = -(-n // max(1, entries // max(1, columns * batch)))
    threads = A.threads_for(n * columns) if batch == 1 else 1
    if threads > 1:
        parts = max(parts, threads * least)
    parts = min(parts, n)
    if parts <= 1:
        return function(rows, 0)
    ends = [n * k // parts for k in range(parts + 1)]  # parts of equal size
    tasks = [partial(function, rows[..., start:end, :], start) for start, end in pairwise(ends)]
    return A.concat(list(A.in_turn(tasks, n * columns * batch)), axis=-2)


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
