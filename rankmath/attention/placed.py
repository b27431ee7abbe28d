"""One head whose rows see different keys: masks, with position terms where there are any.

All is relative to the most attended token j*: P V = 1V_{j*} + P (V − 1V_{j*}), P a block of rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.attention.tokens import SMALL_LOSS, Scaled, floored, log_of
from rankmath.attention.views import Logits, exp_sum, in_one_unit, in_row_blocks, moving
from rankmath.attention.weights import Head
from rankmath.linalg.masks import Mask
from rankmath.model.positions import Position
from rankmath.validation import Array


@dataclass(frozen=True)
class Placed:
    """What the places of the tokens add to the logits: a position term, and −∞ where the mask hides."""

    head: Head
    mask: Mask | None
    n: int
    common: Array | None = None  # what logits of a row have in common, (..., n, 1); a cap must know it

    @classmethod
    def of(cls, head: Head, mask: Mask | None, n: int) -> Placed | None:
        """None where all rows see the same keys."""
        return None if mask is None or mask.common_support is not None else cls(head, mask, n)

    def added(self, A: Float64, logits: Array, start: int) -> Array:
        """Logits of the rows from `start` on, with the term."""
        stop = start + logits.shape[-2]
        logits = self._capped(A, logits, start, stop)
        if self.head.attention.position is not None:
            logits = logits + self._position(start, stop, logits.ndim)
        return logits if self.mask is None else A.hide(self.mask.allowed[start:stop, :], logits)

    def exponentials(self, A: System, logits: Array) -> Array:
        """e^logits of all rows with the term, unbounded exponents."""
        logits = self._capped(A, logits, 0, self.n)
        if self.head.attention.position is not None:
            logits = logits + A.asarray(self._position(0, self.n, logits.ndim))
        e = A.exp(logits)
        return e if self.mask is None else e * self.mask.allowed.astype(int)

    def _capped(self, A: System, logits: Array, start: int, stop: int) -> Array:
        t = self.head.attention.softcap
        if t is None:
            return logits
        assert self.common is not None  # a capped head is made with it
        common = self.common if A.unbounded else self.common[..., start:stop, :]
        return A.tanh((logits + common) / A.constant(t)) * A.constant(t)

    def _position(self, start: int, stop: int, ndim: int) -> Array:
        assert self.head.attention.position is not None
        return position_block(self.head.attention.position, self.head.place, start, stop, self.n, ndim)


def position_block(position: Position, place: int | slice, start: int, stop: int, n: int, ndim: int) -> Array:
    """Rows of the position term of one head, or of all with axes for a batch of logits with `ndim` axes."""
    block = position.block(place, start, stop, n)
    return block if block.ndim == 2 else block[:, *(None,) * (ndim - 3), ...]


@dataclass(frozen=True)
class PlacedView:
    """P V = 1·common + deviation(spread of V): common = V_{j*}, spread = V − 1V_{j*}, deviation P·spread."""

    logits: Logits
    c: Array
    placed: Placed
    common: Array  # of V = R
    spread: Array

    #: Deviations are in the unit of V.
    log_unit = 0

    @property
    def order(self) -> Array:
        """The power of the residual that its next value is when deviations alone make it (float64)."""
        A = self.logits.A
        return None if A.unbounded else A.units.ones_like(self.logits.falling)

    def spread_of(self, V: Array) -> Array:
        """The spread of any V (..., n, m)."""
        return self.logits.A.relative_to_largest(self.logits.scores, V)[1]

    def deviation(self, values: Array) -> Scaled:
        """The deviation for V, or for V W, from its spread."""
        A, rowc = self.logits.A, self.logits.A.transpose(self.c)
        if A.unbounded:
            E = A.matmul(self.logits.left, A.transpose(self.logits.right))
            a = self.placed.exponentials(A, E + rowc)
            return A.matmul(a, values) / A.sum(a, axis=-1), 0
        left, right = self.logits.factors(A, self.logits.log_E)
        out = _by_softmax(A, left, right, rowc, self.placed, values)
        if (A.largest(out) >= 1e-280 * A.largest(values)).all():
            return out, 0.0
        return _with_row_units(A, left, right, rowc, self.placed, values)

    def log_doubt(self, spread: Array, out: Scaled) -> Array:
        """Logarithm of a size, in the units of `deviation`, whose last bit the rounding of the tokens may change:
        |v| times the largest attention that any row pays to other tokens than j*."""
        A, c, placed = self.logits.A, self.c, self.placed
        if A.unbounded:
            return 0
        log_size = log_of(A, A.largest(spread))
        if (out[1] + A.log(A.largest(out[0])) >= log_size - SMALL_LOSS).all():
            return log_size
        left, right = self.logits.factors(A, self.logits.log_E)
        others = A.xp.where(A.is_first_largest(self.logits.scores), -A.xp.inf, c)
        rightT, rowc, row_others = A.transpose(right), A.transpose(c), A.transpose(others)

        def attention(rows: Array, start: int) -> Array:
            E = A.matmul(rows, rightT)
            total, log_total = exp_sum(A, placed.added(A, E + rowc, start))
            return A.max(placed.added(A, E + row_others, start), axis=-1) - log_total - A.log(total)

        largest = A.max(in_row_blocks(A, attention, left, right.shape[-2]), axis=-2)
        return floored(A, log_size + A.unit_of(largest))


def _by_softmax(A: Float64, left: Array, right: Array, rowc: Array, placed: Placed, values: Array) -> Array:
    rightT, weights = A.transpose(right), A.concat([values, A.xp.ones_like(values[..., :1])], axis=-1)

    def average(rows: Array, start: int) -> Array:
        logits = placed.added(A, A.matmul(rows, rightT) + rowc, start)
        y = A.matmul(A.exp_of_temporary(logits - A.max(logits, axis=-1)), weights)
        return y[..., :-1] / y[..., -1:]

    return in_row_blocks(A, average, left, right.shape[-2])


def _with_row_units(A: Float64, left: Array, right: Array, rowc: Array, placed: Placed, values: Array) -> Scaled:
    """The same where all rows attend to j* and to nothing else that a double can hold: a unit for every row."""
    rightT = A.transpose(right)
    row_moving = A.transpose(moving(A, values, A.transpose(A.xp.zeros_like(rowc))))

    def average(rows: Array, start: int) -> Array:
        logits = placed.added(A, A.matmul(rows, rightT) + rowc, start)
        total, log_total = exp_sum(A, logits)
        logits = logits + row_moving
        top = floored(A, A.max(logits, axis=-1))
        y = A.matmul(A.exp(logits - top), values)
        return A.concat([y / total, top - log_total], axis=-1)

    return in_one_unit(A, in_row_blocks(A, average, left, right.shape[-2]))
