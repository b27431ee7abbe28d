"""One head all of whose rows see the same keys: P V = 1qᵀV + Q V with q = softmax(c), P and Q never formed.

With Ṽ = V − 1qᵀV, m = expm1(E) and m̄ = m q,

    (Q V)_i = Σ_j q_j m_ij Ṽ_j / (1 + m̄_i),   1 + m̄_i = Σ_j q_j e^{E_ij} ≥ q_{j*} ≥ 1/n.

Even a saturated softmax (q_{j*} = 1 to the last bit) leaves the small q_j as factors, not as differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.attention import views
from rankmath.attention.fused import fused_deviation
from rankmath.attention.tokens import LOG_ZERO, SAFE_LOG, SMALL_LOSS, Scaled, floored, grown_by, log_of
from rankmath.attention.views import Logits
from rankmath.validation import Array

# From this logarithm of the root-mean-square of E, sums of e^E are as accurate as sums of e^E − 1.
_LARGE_LOG_RMS = -4 * math.log(2.0)
#: Attention is uneven if a weight is below e^this: `log_doubt` then computes what rounding may change.
UNEVEN_LOG = -20.0
_EPSILON = 2.0**-53


@dataclass(frozen=True)
class CommonView:
    """P V = 1·common + deviation(spread of V): common = qᵀV, spread = V − 1qᵀV, deviation Q V."""

    logits: Logits
    q: Array
    log_q: Array  # float64 alone
    least_log_q: float  # over the keys that are seen
    common: Array  # of V = R
    spread: Array

    @classmethod
    def of(cls, logits: Logits, c: Array, unit: Array, support: Array, pivot: Array, D: Array) -> CommonView:
        """From D = R − 1 pivot and the logits c, in units of `unit`, of the keys in the support."""
        A = logits.A
        q, log_q, least = _column_softmax(A, c, unit, support)
        qD = A.matmul(A.transpose(q), D)
        return cls(logits, q, log_q, least, pivot + qD, D - qD)

    @property
    def log_unit(self) -> Array:
        """The logarithm of the unit of deviations, before the unit they are returned with."""
        return self.logits.falling

    @property
    def order(self) -> Array:
        """The power of the residual that its next value is when deviations alone make it (float64)."""
        A, falling = self.logits.A, self.logits.falling
        return None if A.unbounded else A.units.where(falling < 0, 3.0, A.units.ones_like(falling))

    def spread_of(self, V: Array) -> Array:
        """The spread of any V (..., n, m)."""
        A = self.logits.A
        D = A.relative_to_largest(self.logits.scores, V)[1]
        return D - A.matmul(A.transpose(self.q), D)

    def deviation(self, values: Array) -> Scaled:
        """The deviation for V, or for V W, from its spread."""
        A, logits = self.logits.A, self.logits
        if A.unbounded:
            offsets = None if logits.offsets is None else logits.offsets[0]
            return views.enclosed(A, logits.left, logits.right, self.q, values, offsets), 0
        return (self._float_deviation if logits.offsets is None else self._offset_deviation)(A, values)

    def _offset_deviation(self, A: Float64, values: Array) -> Scaled:
        """The same sum where E is more than a thin product."""
        xp, logits, saturated = A.units, self.logits, self.least_log_q < -SAFE_LOG
        assert logits.offsets is not None
        tiny = logits.log_size <= views.LINEAR_LOG
        # An E below rounding counts in proportion only: it is brought to where doubles hold it.
        grown = xp.where(tiny, views.LINEAR_LOG - xp.maximum(logits.log_size, LOG_ZERO / 2), 0.0)
        left, right = logits.factors(A, logits.log_E + grown)
        matrix, log = logits.offsets
        offsets = grown_by(A, matrix, log + grown, log_of(A, A.largest(matrix)))
        if not saturated and float(xp.max(logits.log_size)) <= math.log(SAFE_LOG):
            return views.by_expm1(A, left, right, self.q, values, offsets), -grown - logits.falling
        out, log_out = views.with_row_units(A, left, right, self.log_q, values, offsets)
        return out, log_out - grown - logits.falling

    def _float_deviation(self, A: Float64, values: Array) -> Scaled:
        """Five ways to the same sum, by the size of E and the evenness of q."""
        xp, logits = A.units, self.logits
        left, right, q, log_q = logits.left, logits.right, self.q, self.log_q
        log_size = logits.log_bound + logits.log_E
        saturated = self.least_log_q < -SAFE_LOG
        if float(xp.max(log_size)) <= views.LINEAR_LOG:
            out, unit = views.by_thin_products(A, left, right, q, log_q if saturated else None, values)
            return out, logits.log_rest + unit
        # Where E is far below rounding (in a batch) its true size does not matter.
        tiny = log_size <= views.LINEAR_LOG
        log_E = xp.where(tiny, views.LINEAR_LOG - logits.log_bound, logits.log_E)
        unit = xp.where(tiny, logits.log_rest - log_E, -logits.falling)
        safe = not saturated and float(xp.max(log_size)) <= math.log(SAFE_LOG)
        if safe and float(xp.max(log_E)) <= SAFE_LOG:
            made = fused_deviation(A, left, right, q, values, A.exp(log_E))
            if made is not None:
                return made, unit
        large = float(xp.min(_log_root_mean_square(A, left, right, q) + log_E)) >= _LARGE_LOG_RMS
        left, right = logits.factors(A, log_E)
        if safe:
            return (views.by_exp if large else views.by_expm1)(A, left, right, q, values), unit
        if large:
            out = views.by_softmax(A, left, right, log_q, values)
            if (A.largest(out) >= 2.0**-6 * A.largest(values)).all():
                return out, unit
        out, log_out = views.with_row_units(A, left, right, log_q, values)
        return out, unit + log_out

    def log_doubt(self, spread: Array, out: Scaled) -> Array:
        """Logarithm of a size, in the units of `deviation`, whose last bit the rounding of the tokens may change.

        Rounding may have made tokens equal that are not: where only they are attended to, all is lost.
        """
        A = self.logits.A
        if A.unbounded:
            return 0
        if self.least_log_q > UNEVEN_LOG:
            return LOG_ZERO  # all tokens are attended to, so the residual is no smaller than theirs
        log_size = log_of(A, A.largest(spread)) - self.log_unit
        if (out[1] + A.log(A.largest(out[0])) >= log_size - SMALL_LOSS).all():
            return log_size
        return self._uneven_doubt(A, spread)

    def _uneven_doubt(self, A: Float64, values: Array) -> Array:
        """Tokens known to ε: Σ_{j≠j*} q_j ((μ_j + ε μ)|v| + μ |v_j|), μ_j = min(1, |E_·j|), |v| and μ largest."""
        xp, logits = A.xp, self.logits
        keys, sizes = A.max(A.abs(logits.right), axis=-1), A.max(A.abs(values), axis=-1)
        key, size = A.nonzero(A.max(keys, axis=-2)), A.nonzero(A.max(sizes, axis=-2))
        log_E = logits.log_size
        grow = A.exp(A.units.minimum(A.units.maximum(log_E, 0.0), 2 * SAFE_LOG))
        step = A.units.minimum(_EPSILON * grow, 1.0)
        moves = xp.minimum(A.factor(grow) * (keys / key if logits.offsets is None else 1.0 + 0.0 * keys), 1.0)
        doubt = moves + A.factor(step) + A.factor(step / _EPSILON) * sizes / size
        others = xp.where(A.is_first_largest(logits.scores), -xp.inf, self.log_q)
        unit = floored(A, A.max(others, axis=-2))
        total = A.log(A.sum(A.exp(others - unit) * doubt, axis=-2)) + unit + A.log(size)
        linear = logits.log_rest + log_E - logits.log_E
        return floored(A, A.unit_of(total) + A.units.where(log_E > 0, -logits.falling, linear))


def _column_softmax(A: System, c: Array, unit: Array, support: Array) -> tuple[Array, Array, float]:
    """The column q = softmax(unit · c) over the support; in float64 log q and its least entry there too."""
    if not A.unbounded:
        if support is not None:
            c, unit = A.hide(support[:, None], c * A.factor(unit)), 1.0
        return A.column_softmax(c, unit)
    e = A.exp(c)
    if support is not None:
        e = e * support[:, None].astype(int)
    return e / A.sum(e, axis=-2), None, 0.0


def _log_root_mean_square(A: Float64, left: Array, right: Array, q: Array) -> Array:
    """log √(mean_i Σ_j q_j (left rightᵀ)_ij²), (..., 1, 1), over a few rows."""
    E = A.matmul(left[..., :: max(1, left.shape[-2] // 8), :], A.transpose(right))
    mean = A.sum(A.matmul(E * E, q), axis=-2) / E.shape[-2]
    return log_of(A, A.unit_of(mean)) / 2
