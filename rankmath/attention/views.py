"""One head as the tokens see it, whatever the mask: the factors of its logits.

Let j* be the most attended token and D = R − 1R_{j*}. Without what is constant along a row the logits are c_j +
E_ij, c = D (W_QKᵀ x + k)/√d_qk and E = R W_QK Dᵀ/√d_qk. At j* both are exact zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rankmath.arithmetic.float64 import Float64
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
