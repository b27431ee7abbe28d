"""The centred layer step, written once for every arithmetic.

Tokens are held as X = 1xᵀ + R and never added up. Let j* be the most attended token and D = R − 1R_{j*}. Without
what is constant along a row the logits are c_j + E_ij,

    c = D (W_QKᵀ x + k)/√d_qk,   E = R W_QK Dᵀ/√d_qk,

and with q = softmax(c), R̃ = D − 1 qᵀD, m = expm1(E), m̄ = m q,

    P R = 1 qᵀR + Q R,   (Q R)_i = Σ_j q_j m_ij R̃_j / (1 + m̄_i),   1 + m̄_i = Σ_j q_j e^{E_ij} ≥ q_{j*} ≥ 1/n.

The mean is never subtracted: R' = λR + Σ_h Q_h R W_h is as accurate as R. At j* both E and D are exact zeros, so
even a saturated softmax (q_{j*} = 1 to the last bit) leaves the small q_j as factors, not as differences.

Float64 keeps magnitudes apart: every array travels with the logarithm of its unit, X = e^ξ 1x̂ᵀ + e^σ R̂ with x̂ and R̂
of size one. E is e^{2σ} times a matrix of moderate size, and Q R is e^{3σ} times one. Arithmetics with unbounded
exponents run the same lines with all units 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

from rankmath.arithmetic.scales import LogScale
from rankmath.attention.activations import activate, activation_difference
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, Attention, LayerNorm, Sublayer
from rankmath.validation import Array, InvalidArgument

#: An array and the logarithm of its unit, (..., 1, 1) on the host or 0 (always 0 where exponents are unbounded).
Scaled: TypeAlias = tuple[Array, Any]

# A logarithm that stands for "zero" where e^{log} meets other factors; −inf would breed nan.
LOG_ZERO = -1e300
# Beyond this an exponential is on the way out of a double's range.
_SAFE_LOG = 300.0
# Larger logits are shrunk to this, all alike: the softmax is saturated either way.
_LARGEST_LOG = math.log(1e305)
# A sum of this size in a unit of its own, or smaller, is looked at again.
_SUSPICIOUS = 1e-100
# In place of a zero that something is divided by.
_TINY = 1e-290
# |E| below this: expm1(E) is E to the last bit.
_LINEAR_LOG = -54 * math.log(2.0)
# Logarithm of the root-mean-square of E from which on e^E and e^E − 1 are summed with comparable errors.
_LARGE_LOG_RMS = -4 * math.log(2.0)
# Attention below e^this is uneven: see `_common_doubt`.
_UNEVEN_LOG = -20.0
_EPSILON = 2.0**-53
# Ten bits: not worth finding out whether they are lost.
_HARDLY = 10 * math.log(2.0)


@dataclass(frozen=True)
class Tokens:
    """X = e^ξ 1 center + e^σ residual: center (..., 1, d), residual (..., n, d), mean of the residual zero.

    `log_center` (ξ) and `log_residual` (σ) are (..., 1, 1), or None where exponents are unbounded. `lost_bits`: how
    many bits the rounding of what the residual was made of has cost it, the worst so far.
    """

    center: Array
    residual: Array
    log_center: Any = None
    log_residual: Any = None
    lost_bits: Any = 0.0


@dataclass(frozen=True)
class Head:
    """One head's weights in the arithmetic that runs: W_QK = query keyᵀ, W = value output (None: identity)."""

    attention: Attention
    place: int | slice  # which head, or all
    query: Array
    key: Array | None
    value: Array
    output: Array | None
    key_bias: Scaled | None
    log_logits: Any  # logarithm of the unit of W_QK
    log_value: Any  # … of W


@dataclass(frozen=True)
class Weights:
    """One attention's weights: its heads one by one, or (`stacked`) all in one `Head` with a leading axis."""

    attention: Attention
    heads: list[Head]
    bias: Scaled | None
    stacked: bool = False


def weights_of(A: Any, attention: Attention, *, stacked: bool = False, batch_axes: int = 0) -> Weights:
    """The weights of one attention, converted to the arithmetic.

    `stacked` heads have one leading axis, before as many as the tokens have for their batch.
    """
    missing = batch_axes - (attention.query.ndim - 3) if stacked else 0
    names = ("query", "key", "value", "output", "key_bias", "bias")
    arrays = {name: getattr(attention, name) for name in names if getattr(attention, name) is not None}
    if "key_bias" in arrays:
        arrays["key_bias"] = arrays["key_bias"][..., None]
    if "bias" in arrays:
        arrays["bias"] = arrays["bias"][..., None, :]
    scaled = {name: _tamed(A, array) for name, array in arrays.items()}

    def pick(name: str, *head: int) -> Scaled:
        if name not in scaled:
            return None, 0
        array, log = scaled[name]
        part, unit = A.asarray(array[*head, ...]), log if isinstance(log, int) else log[*head, ...]
        if missing and not head and name != "bias":
            part = part[:, *(None,) * missing, ...]
            unit = unit if isinstance(unit, int) else unit[:, *(None,) * missing, ...]
        return part, unit

    heads = []
    for head in [()] if stacked else [(h,) for h in range(attention.heads)]:
        (query, a), (key, b) = pick("query", *head), pick("key", *head)
        (value, c), (output, d) = pick("value", *head), pick("output", *head)
        key_bias = pick("key_bias", *head) if "key_bias" in scaled else None
        place = head[0] if head else slice(None)
        heads.append(Head(attention, place, query, key, value, output, key_bias, a + b, c + d))
    return Weights(attention, heads, pick("bias") if "bias" in scaled else None, stacked)


def stacks_heads(A: Any, attention: Attention, X: Array) -> bool:
    """Whether all heads go through a layer as one batch: always on a GPU, elsewhere while that fits the cache."""
    if A.unbounded or attention.heads == 1:
        return False
    entries = attention.heads * X.shape[-2] * math.prod(X.shape[:-1])
    return bool(A.on_gpu or 2 * entries <= A.block_entries)


def _tamed(A: Any, a: Array) -> Scaled:
    """Matrices far from size one over a power of two near their largest entry: products of them stay in range."""
    if A.unbounded:
        return a, 0
    xp, largest = A.units, A.largest(a)
    wild = (largest > 1e60) | ((largest > 0) & (largest < 1e-60))
    if not wild.any():
        return a, 0
    exponent = xp.where(wild, xp.round(xp.log2(xp.where(wild, largest, 1.0))), 0.0)
    half = xp.floor(exponent / 2)  # 2^exponent itself may overflow
    return a * A.factor(2.0**-half) * A.factor(2.0 ** (half - exponent)), exponent * math.log(2.0)


def centre(A: Any, X: Array) -> Tokens:
    """Split tokens (..., n, d) into mean and residual.

    Relative to the first token first: a difference of two tokens is rounded once, and equal tokens give exact
    zeros. A residual of 1e-6 under a mean of 1e8 keeps all the digits X has of it.
    """
    X, log = _tamed(A, A.asarray(X))
    first = X[..., :1, :]
    scale = None if A.unbounded else LogScale.of(log + A.units.zeros((*X.shape[:-2], 1, 1)))
    return _recentred(A, (first, log), X - first, scale)


def _recentred(
    A: Any,
    x: Scaled,
    R: Array,
    log_residual: LogScale | None,
    lost_bits: Any = 0.0,
    log_parts: Any = LOG_ZERO,
    stack: Scaled | None = None,
) -> Tokens:
    """Move the mean of R into x and bring both to size one.

    R is the sum of parts of size e^log_parts, and of the matrices of the stack. Nothing is measured before all is
    under way: on a GPU the first number asked for waits for all that was begun.
    """
    shift = A.mean_row(R)
    if log_residual is None:
        return Tokens(x[0] + shift, R - shift)
    terms = [x, (shift, _floored(A, log_residual.to_float()))]
    center, log = _sum_in_larger_unit(A, *terms)
    parts, R = [R] if stack is None else [R, stack[0]], R - shift
    of_center, of_residual, of_sum, *of_stack = A.sizes([center, R, *parts])
    if not (of_center > _SUSPICIOUS).all():
        center, log = scaled_sum(A, terms)
        of_center = A.largest(center)
    log_parts = A.units.maximum(A.log(of_sum), log_parts)
    if stack is not None:
        log_parts = A.units.maximum(A.units.max(stack[1] + A.log(of_stack[0]), axis=0), log_parts)
    grown, shrunk = A.log(of_center), A.log(of_residual)
    center = A.quotient_of_temporary(center, A.factor(A.nonzero(of_center)))
    R = A.quotient_of_temporary(R, A.factor(A.nonzero(of_residual)))
    lost_bits = A.units.maximum((log_parts - _floored(A, shrunk)) / math.log(2.0), lost_bits)
    return Tokens(center, R, _floored(A, log + grown), log_residual.plus(shrunk), lost_bits)


def _sum_in_larger_unit(A: Any, first: Scaled, second: Scaled) -> Scaled:
    """The sum of two of unmeasured sizes: where it is small, what was smaller may have been lost."""
    log = A.units.maximum(first[1], second[1])
    if float(A.units.max(log - A.units.minimum(first[1], second[1]))) > _SAFE_LOG / 2:
        return scaled_sum(A, [first, second])
    return A.combined(first[0], A.exp(first[1] - log), second[0], A.exp(second[1] - log)), log


def scaled_sum(A: Any, terms: list[Scaled]) -> Scaled:
    """The sum of arrays in different units, and its unit: the size of the largest term."""
    if A.unbounded or len(terms) == 1:
        total = terms[0][0]
        for a, _ in terms[1:]:
            total = total + a
        return total, terms[0][1]
    logs = [A.log(size) for size in A.sizes([a for a, _ in terms])]
    sizes = [_floored(A, unit + log) for (_, unit), log in zip(terms, logs, strict=True)]
    common = sizes[0]
    for size in sizes[1:]:
        common = A.units.maximum(common, size)
    (first, x), (second, y), *others = [(a, _to_unit(A, log, common)) for a, log in terms]
    total = A.combined(first, x, second, y)
    for a, x in others:
        total = total + a * A.factor(x)
    return total, common


def _to_unit(A: Any, log: Any, common: Array) -> Array:
    return A.exp(A.units.minimum(log - common, 2 * _SAFE_LOG))


def _over_heads(A: Any, term: Scaled) -> Scaled:
    """`scaled_sum` over the leading axis."""
    a, log = term
    if isinstance(log, int | float) or log.ndim < a.ndim:
        return A.xp.sum(a, axis=0), log
    if (log == log[:1]).all():
        return A.xp.sum(a, axis=0), log[0]
    common = A.units.max(_floored(A, log + A.log(A.largest(a))), axis=0)
    return A.xp.sum(a * A.factor(_to_unit(A, log, common)), axis=0), common


def normalised(A: Any, a: Array) -> Scaled:
    """`a` over its largest entry (over both last axes), and the logarithm of that entry (−inf for zero)."""
    largest = A.largest(a)
    return a / A.factor(A.nonzero(largest)), A.log(largest)


def _floored(A: Any, log: Array) -> Array:
    return A.maximum(log, LOG_ZERO)


def _grown(A: Any, a: Array, log: Any, log_size: Array) -> Array:
    """`a`, of size e^log_size, times e^log, held down where that would overflow; e^log alone may."""
    half = A.factor(A.exp(A.units.minimum(log, _LARGEST_LOG - log_size) / 2))
    return a * half * half


def _log_of(A: Any, size: Array) -> Array:
    """The logarithm of a unit that may be zero, then of something tiny."""
    return A.units.log(A.units.maximum(size, _TINY))


# -- one layer ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Carried:
    """λX, what a skip adds to the image of other tokens: of LayerNorm(X), or of X itself (`apart` zero)."""

    factor: float
    tokens: Tokens
    apart: Any = 0  # σ of what is mapped minus σ of X

    def terms(self, A: Any) -> tuple[Scaled, Scaled]:
        """Center and residual; the latter in units of e^σ of X."""
        lam, xi = A.constant(self.factor), 0 if A.unbounded else self.tokens.log_center
        return (self.tokens.center * lam, xi), (self.tokens.residual * lam, 0)

    @property
    def log_parts(self) -> float:
        return math.log(abs(self.factor))


def sublayer_step(A: Any, sublayer: Sublayer, tokens: Tokens, masks: dict[int, Mask | None]) -> Tokens:
    """after(skip·X + map(before(X))) in centred form."""
    inner = tokens if sublayer.before is None else norm_step(A, sublayer.before, tokens)
    carried = None if not sublayer.skip else _carried(A, sublayer.skip, tokens, inner)
    if isinstance(sublayer.map, Attention):
        attention, R = sublayer.map, tokens.residual
        weights = weights_of(A, attention, stacked=stacks_heads(A, attention, R), batch_axes=R.ndim - 2)
        out = attention_step(A, weights, inner, masks[id(attention)], carried)
    elif sublayer.map is not None:
        out = mlp_step(A, sublayer.map, inner, carried)
    elif sublayer.skip == 1:
        out = tokens
    else:
        lam = A.constant(sublayer.skip)
        scale = None if A.unbounded else tokens.log_residual
        xi = 0 if A.unbounded else tokens.log_center
        out = _recentred(A, (tokens.center * lam, xi), tokens.residual * lam, scale, tokens.lost_bits)
    return out if sublayer.after is None else norm_step(A, sublayer.after, out)


def _carried(A: Any, factor: float, tokens: Tokens, inner: Tokens) -> Carried:
    if A.unbounded or inner is tokens:
        return Carried(factor, tokens)
    mapped, own = (_floored(A, t.log_residual.to_float()) for t in (inner, tokens))
    # Tokens that are all equal stay so: nothing is mapped to anything.
    return Carried(factor, tokens, A.units.where(own > LOG_ZERO, mapped - own, 0.0))


def attention_step(
    A: Any, weights: Weights, tokens: Tokens, mask: Mask | None, carried: Carried | None = None
) -> Tokens:
    """Σ_h P_h X W_h + 1bᵀ, and what a skip carries past it, in centred form."""
    scale, alone = Scale.of(A, tokens), carried is None
    centers: list[Scaled] = []
    total: Scaled | None = None
    log_parts, apart, lost_bits, log_residual = LOG_ZERO, 0, tokens.lost_bits, tokens.log_residual
    if carried is not None:
        center, total = carried.terms(A)
        centers, log_parts, apart = [center], carried.log_parts, carried.apart
        log_residual = carried.tokens.log_residual
    if carried is not None and not A.unbounded:
        lost_bits = A.units.maximum(lost_bits, carried.tokens.lost_bits)
    stack: Scaled | None = None
    tasks = [partial(_head_terms, A, head, tokens, scale, mask, alone, apart) for head in weights.heads]
    n, batch = tokens.residual.shape[-2], math.prod(tokens.residual.shape[:-2])
    order: Any = None
    for image, term, log_doubt, log_size, order in A.in_turn(tasks, n * n * batch):  # noqa: B007 (the heads share it)
        if weights.stacked:
            stack = term
            image, term = _over_heads(A, image), _over_heads(A, term)
            log_parts = A.units.maximum(A.units.max(log_doubt + 0.0 * stack[1], axis=0), log_parts)
        elif not A.unbounded:
            log_parts = A.units.maximum(A.units.maximum(log_doubt, log_size), log_parts)
        centers.append(image)
        # One head's term at a time, or a few: no H n × d numbers are held.
        if total is not None:
            alike = not A.unbounded and A.units.all(total[1] == term[1])
            term = (A.sum_with_temporary(total[0], term[0]), term[1]) if alike else scaled_sum(A, [total, term])
        total = term
    if weights.bias is not None:
        centers.append(weights.bias)
    assert total is not None
    R, log = total
    if A.unbounded:
        return _recentred(A, scaled_sum(A, centers), R, None)
    if alone:
        # A view's unit is e^{2σ} where σ < 0: 3σ in all, the cubic rate itself.
        log_residual = log_residual.times(order)
    if stack is not None:
        stack = (stack[0], stack[1] - log)
    center = scaled_sum(A, centers)
    return _recentred(A, center, R, log_residual.plus(log), lost_bits, log_parts - log, stack)


def _seen(A: Any, x: Array, common: Array, scale: Scale) -> Scaled:
    """e^ξ x + e^σ common, x of size one and common, an average of rows of the residual, no larger."""
    terms = [(x, scale.xi), (common, scale.sigma)]
    return scaled_sum(A, terms) if A.unbounded else _sum_in_larger_unit(A, *terms)


def _head_terms(
    A: Any, head: Head, tokens: Tokens, scale: Scale, mask: Mask | None, alone: bool, apart: Any
) -> tuple[Scaled, Scaled, Any, Any, Any]:
    """What one head adds to center and residual, how far rounding reaches, the size of the latter, and its order.

    `alone`: heads make the residual without a skip, and their common unit e^{2σ} is left out; otherwise the unit of
    the residual is that of what a skip carries, e^−apart times the tokens' own.
    """
    view = view_of(A, head, tokens, scale, mask)
    values = A.matmul(view.spread, head.value)
    # The large product first: a GPU is busy with it while the rest is prepared.
    out, log_out = view.deviation(values)
    unit = head.log_value + (0 if alone else view.log_unit + apart)
    log_doubt = view.log_doubt(values, (out, log_out)) + unit
    out = out if head.output is None else A.matmul(out, head.output)
    seen, log_seen = _seen(A, tokens.center, view.common, scale)
    image = (_through(A, seen, head), log_seen + head.log_value)
    log_size: Any = LOG_ZERO
    if not A.unbounded and out.ndim == tokens.residual.ndim:  # all heads at once are measured later
        log_size = A.log(A.largest(out)) + log_out + unit
    return image, (out, log_out + unit), log_doubt, log_size, view.order


@dataclass(frozen=True)
class Scale:
    """The units of the tokens as doubles; 0 where exponents are unbounded."""

    sigma: Any  # σ, floored
    xi: Any  # ξ
    falling: Any  # min(2σ, 0)
    rising: Any  # max(2σ, 0)

    @classmethod
    def of(cls, A: Any, tokens: Tokens) -> Scale:
        if A.unbounded:
            return cls(0, 0, 0, 0)
        sigma = _floored(A, tokens.log_residual.to_float())
        return cls(sigma, tokens.log_center, A.units.minimum(2.0 * sigma, 0.0), A.units.maximum(2.0 * sigma, 0.0))


def _through(A: Any, v: Array, head: Head) -> Array:
    """v W."""
    v = A.matmul(v, head.value)
    return v if head.output is None else A.matmul(v, head.output)


def view_of(A: Any, head: Head, tokens: Tokens, scale: Scale, mask: Mask | None) -> View:
    """One head as the tokens see it."""
    x, R, d_qk = tokens.center, tokens.residual, head.attention.d_qk
    g = A.matmul(x, head.query)
    if head.key is not None:
        g = A.matmul(g, A.transpose(head.key))
    pull = [(g, scale.xi + head.log_logits)]
    if head.key_bias is not None:
        pull.append((A.transpose(head.key_bias[0]), head.key_bias[1]))
    g, log_g = scaled_sum(A, pull)  # x W_QK + kᵀ
    hidden = Hidden.of(A, head, mask, R.shape[-2])
    support = None if mask is None or hidden is not None else mask.common_support
    scores = A.middle(A.matmul(R, A.transpose(g)))
    if support is not None:
        scores = A.hide(support[:, None], scores)
    pivot, D = A.relative_to_largest(scores, R)
    c = A.matmul(D, A.transpose(g))
    query, log_logits, log_bound = head.query, head.log_logits, 0
    if A.unbounded:
        per_root = 1 / A.sqrt(A.asarray(A.constant(d_qk)))
        c, query = c * per_root, query * per_root
    left = A.matmul(R, query)
    right = D if head.key is None else A.matmul(D, head.key)
    unit: Any = 1.0
    if not A.unbounded:
        log_root = math.log(d_qk) / 2
        log_logits = log_logits - log_root
        log_c, log_left, log_right = (_log_of(A, size) for size in A.sizes([c, left, right]))
        log_bound = log_left + log_right + math.log(left.shape[-1])
        log_unit = scale.sigma + log_g - log_root
        log_size = A.units.maximum(log_c + log_unit, log_bound + 2 * scale.sigma + log_logits)
        # By which logarithm c and E must shrink, both alike, to stay in the range of a double.
        excess = A.units.maximum(log_size - _LARGEST_LOG, 0.0)
        log_unit, log_logits = log_unit - excess, log_logits - excess
        if hidden is not None or float(A.units.max(log_unit)) > _SAFE_LOG:
            c = _grown(A, c, log_unit, log_c)
        else:
            unit = A.exp(log_unit)
    if hidden is not None:
        return View(A, scores, scale, left, right, log_logits, log_bound, pivot, D, c, None, 0.0, hidden)
    q, log_q, least = _softmax(A, c, unit, support)
    qD = A.matmul(A.transpose(q), D)
    return View(A, scores, scale, left, right, log_logits, log_bound, pivot + qD, D - qD, q, log_q, least, None)


def _softmax(A: Any, c: Array, unit: Any, support: Any) -> tuple[Array, Array | None, float]:
    """The column q = softmax(unit · c) over the support; in float64 log q and its least entry there too."""
    if not A.unbounded:
        if support is not None:
            c, unit = A.hide(support[:, None], c * A.factor(unit)), 1.0
        q, log_q, least = A.column_softmax(c, unit)
        return q, log_q, least
    e = A.exp(c)
    if support is not None:
        e = e * support[:, None].astype(int)
    return e / A.sum(e, axis=-2), None, 0.0


@dataclass(frozen=True)
class Hidden:
    """What is added to the logits by the places of the tokens: a position term, and −∞ where the mask hides."""

    A: Any
    head: Head
    mask: Mask | None
    n: int

    @classmethod
    def of(cls, A: Any, head: Head, mask: Mask | None, n: int) -> Hidden | None:
        """None where all rows see the same keys in the same way."""
        if head.attention.position is None and (mask is None or mask.common_support is not None):
            return None
        return cls(A, head, mask, n)

    def added(self, logits: Array, start: int) -> Array:
        """Float64 logits of the rows from `start` on, with the term."""
        A, stop = self.A, start + logits.shape[-2]
        if self.head.attention.position is not None:
            logits = logits + self._position(start, stop, logits.ndim)
        return logits if self.mask is None else A.hide(self.mask.allowed[start:stop, :], logits)

    def exponentials(self, logits: Array) -> Array:
        """e^logits of all rows with the term, unbounded exponents."""
        if self.head.attention.position is not None:
            logits = logits + self.A.asarray(self._position(0, self.n, logits.ndim))
        e = self.A.exp(logits)
        return e if self.mask is None else e * self.mask.allowed.astype(int)

    def _position(self, start: int, stop: int, ndim: int) -> Array:
        assert self.head.attention.position is not None
        block = self.head.attention.position.block(self.head.place, start, stop, self.n)
        return block if block.ndim == 2 else block[:, *(None,) * (ndim - 3), ...]


@dataclass(frozen=True)
class View:
    """P V = 1·common + deviation(spread of V) for one head, P never formed.

    Where all rows see the same keys, common = qᵀV, spread = V − 1qᵀV and the deviation is Q V. Under any other mask
    all is relative to the token j* instead: common = V_{j*}, spread = V − 1V_{j*}, deviation P·spread.
    """

    A: Any
    scores: Array  # largest at j*
    scale: Scale
    left: Array
    right: Array  # E = e^{2σ + log_logits} left rightᵀ
    log_logits: Any
    log_bound: Any  # of left rightᵀ
    common: Array  # of V = R
    spread: Array
    weights: Array  # q; under a mask c
    log_q: Array | None
    least_log_q: float  # over the keys that are seen
    hidden: Hidden | None

    @property
    def log_E(self) -> Any:
        return 2 * self.scale.sigma + self.log_logits

    @property
    def log_unit(self) -> Any:
        """Deviations are in units of e^`log_unit`, times the unit they are returned with."""
        return self.scale.falling if self.hidden is None else 0

    @property
    def order(self) -> Any:
        """The power of the residual that its next value is when deviations alone make it (float64)."""
        if self.A.unbounded:
            return None
        units = self.A.units
        ones = units.ones_like(self.scale.sigma)
        return ones if self.hidden is not None else units.where(self.scale.sigma < 0, 3 * ones, ones)

    def spread_of(self, V: Array) -> Array:
        """The spread of any V (..., n, m)."""
        _, D = self.A.relative_to_largest(self.scores, V)
        return D if self.hidden is not None else D - self.A.matmul(self.A.transpose(self.weights), D)

    def log_doubt(self, spread: Array, out: Scaled) -> Any:
        """Logarithm of a size, in the units of `deviation`, whose last bit the rounding of the tokens may change.

        Rounding may have made tokens equal that are not: where only they are attended to, all is lost.
        """
        if self.A.unbounded:
            return 0
        if self.hidden is None and self.least_log_q > _UNEVEN_LOG:
            return LOG_ZERO  # all tokens are attended to, so the residual is no smaller than theirs
        log_size = _log_of(self.A, self.A.largest(spread)) - self.log_unit
        if (out[1] + self.A.log(self.A.largest(out[0])) >= log_size - _HARDLY).all():
            return log_size
        return _common_doubt(self, spread) if self.hidden is None else _masked_doubt(self, self.hidden, log_size)

    def deviation(self, spread: Array) -> Scaled:
        """The deviation for V, or for V W, from its spread."""
        if self.hidden is not None:
            return _masked_deviation(self, self.hidden, spread)
        return _unbounded_deviation(self, spread) if self.A.unbounded else _float_deviation(self, spread)


def _logit_bound(A: Any, left: Array, right: Array) -> Array:
    """At least every |(left rightᵀ)_ij|, (..., 1, 1), from the sizes of the factors alone."""
    return A.size_bound(left) * A.size_bound(right) * left.shape[-1]


def _unbounded_deviation(view: View, values: Array) -> Scaled:
    A, left, right, q = view.A, view.left, view.right, view.weights
    if not A.clearly_moderate(left, right):
        weighted = q * values
        bound = _logit_bound(A, left, right)
        b = A.upper_exponent(bound)
        if b < -A.bits():
            # |E| ≤ 2^b: m = E + θE² with |θ| ≤ 1, and |m̄| ≤ 2^{b+1}, so 1/(1 + m̄) is within 2^{b+2} of 1.
            quadratic = A.max(A.sum(A.abs(weighted), axis=-2), axis=-1) * A.error_ball(2 * b + 1)
            linear = A.matmul(left, A.matmul(A.transpose(right), weighted)) * (1 + A.error_ball(b + 2))
            return linear + A.where(A.certainly_zero(bound), A.zero, quadratic), 0
    return A.expm1_average(left, right, q, values), 0


def _float_deviation(view: View, values: Array) -> Scaled:
    """Five ways to the same sum, by the size of E and the evenness of q."""
    A, xp, left, right, q, log_q = view.A, view.A.units, view.left, view.right, view.weights, view.log_q
    falling, rising = view.scale.falling, view.scale.rising
    log_bound, log_size = view.log_bound, view.log_bound + view.log_E
    saturated = view.least_log_q < -_SAFE_LOG
    if float(xp.max(log_size)) <= _LINEAR_LOG:
        # E times anything is a product of thin matrices.
        unit: Any = 0.0
        if saturated:
            log_q = _moving(A, right, log_q)
            top = _floored(A, A.max(log_q, axis=-2))
            q, unit = A.exp(log_q - top), A.unit_of(top)
        out = A.matmul(left, A.matmul(A.transpose(right), q * values))
        return out, rising + view.log_logits + unit
    # Where E is far below rounding (in a batch) its true size does not matter.
    tiny = log_size <= _LINEAR_LOG
    log_E = xp.where(tiny, _LINEAR_LOG - log_bound, view.log_E)
    unit = xp.where(tiny, rising + view.log_logits - log_E, -falling)
    safe = not saturated and float(xp.max(log_size)) <= math.log(_SAFE_LOG)
    if not safe and not saturated:
        # Cauchy–Schwarz: dearer than the bound by entries, and closer by up to a factor of the width.
        lengths = [A.unit_of(A.max(A.sum(a * a, axis=-1), axis=-2)) for a in (left, right)]
        log_lengths = _log_of(A, lengths[0] * lengths[1]) / 2
        safe = float(xp.max(log_lengths + log_E)) <= math.log(_SAFE_LOG)
    fused = safe and A.fuses(left, values) and float(xp.max(log_E)) <= _SAFE_LOG
    large = not fused and float(xp.min(_log_root_mean_square(A, left, right, q) + log_E)) >= _LARGE_LOG_RMS
    if fused:
        return A.fused_deviation(left, right, q, values, A.exp(log_E)), unit
    left, right = _factors(A, left, right, log_E + A.log_power if safe and large else log_E)
    if safe:
        return (_by_exp if large else _by_expm1)(A, left, right, q, values), unit
    if large:
        out = _by_softmax(A, left, right, log_q, values)
        if (A.largest(out) >= 2.0**-6 * A.largest(values)).all():
            return out, unit
    out, log_out = _with_row_units(A, left, right, log_q, values)
    return out, unit + log_out


def _common_doubt(view: View, values: Array) -> Any:
    """Tokens known to ε: Σ_{j≠j*} q_j ((μ_j + ε μ)|v| + μ |v_j|), μ_j = min(1, |E_·j|), |v| and μ the largest."""
    A, xp = view.A, view.A.xp
    keys, sizes = A.max(A.abs(view.right), axis=-1), A.max(A.abs(values), axis=-1)
    key, size = A.nonzero(A.max(keys, axis=-2)), A.nonzero(A.max(sizes, axis=-2))
    log_E = view.log_bound + view.log_E
    grow = A.exp(A.units.minimum(A.units.maximum(log_E, 0.0), 2 * _SAFE_LOG))
    step = A.units.minimum(_EPSILON * grow, 1.0)
    moves = xp.minimum(A.factor(grow) * (keys / key), 1.0)
    doubt = moves + A.factor(step) + A.factor(step / _EPSILON) * sizes / size
    others = xp.where(A.is_first_largest(view.scores), -xp.inf, view.log_q)
    unit = _floored(A, A.max(others, axis=-2))
    total = A.log(A.sum(A.exp(others - unit) * doubt, axis=-2)) + unit + A.log(size)
    linear = view.scale.rising + view.log_logits + log_E - view.log_E
    return _floored(A, A.unit_of(total) + A.units.where(log_E > 0, -view.scale.falling, linear))


def _masked_doubt(view: View, hidden: Hidden, log_size: Array) -> Any:
    """|v| times the largest attention that any row pays to other tokens than j*."""
    A = view.A
    left, right = _factors(A, view.left, view.right, view.log_E)
    others = A.xp.where(A.is_first_largest(view.scores), -A.xp.inf, view.weights)
    rightT, rowc, row_others = A.transpose(right), A.transpose(view.weights), A.transpose(others)

    def attention(rows: Array, start: int) -> Array:
        E = A.matmul(rows, rightT)
        total, log_total = _exp_sum(A, hidden.added(E + rowc, start))
        return A.max(hidden.added(E + row_others, start), axis=-1) - log_total - A.log(total)

    largest = A.max(in_row_blocks(A, attention, left, right.shape[-2]), axis=-2)
    return _floored(A, log_size + A.unit_of(largest))


def _factors(A: Any, left: Array, right: Array, log_E: Array) -> tuple[Array, Array]:
    """Two matrices whose product, left rightᵀ, is E itself, neither out of range."""
    if float(A.units.max(log_E)) <= _SAFE_LOG:
        return left * A.factor(A.exp(log_E)), right
    right, log = normalised(A, right)
    return _grown(A, left, log_E + _floored(A, log), _log_of(A, A.largest(left))), right


def _moving(A: Any, right: Array, log_q: Array) -> Array:
    """log q, −∞ at the tokens that coincide with j*: they contribute nothing."""
    return A.where(A.max(A.abs(right), axis=-1) > 0, log_q, -A.xp.inf)


def _log_root_mean_square(A: Any, left: Array, right: Array, q: Array) -> Array:
    """log √(mean_i Σ_j q_j (left rightᵀ)_ij²), (..., 1, 1), over a few rows."""
    E = A.matmul(left[..., :: max(1, left.shape[-2] // 8), :], A.transpose(right))
    mean = A.sum(A.matmul(E * E, q), axis=-2) / E.shape[-2]
    return _log_of(A, A.unit_of(mean)) / 2


def _by_expm1(A: Any, left: Array, right: Array, q: Array, values: Array) -> Array:
    """Σ_j q_j m_ij v_j / (1 + Σ_j q_j m_ij) for moderate E."""
    rightT, weights = A.transpose(right), A.weighted(q, values)

    def average(rows: Array, start: int) -> Array:
        y = A.matmul(A.expm1_of_temporary(A.passing_product(rows, rightT)), weights)
        return y[..., :-1] * (1.0 / (1.0 + y[..., -1:]))

    return in_row_blocks(A, average, left, right.shape[-2])


def _by_exp(A: Any, left: Array, right: Array, q: Array, values: Array) -> Array:
    """The same with e^E for m, E in units of `log_power`: with q-mean zero, P and Q average the values alike."""
    rightT, weights = A.transpose(right), A.weighted(q, values)

    def average(rows: Array, start: int) -> Array:
        y = A.matmul(A.power_of_temporary(A.passing_product(rows, rightT)), weights)
        return y[..., :-1] * (1.0 / y[..., -1:])  # a division an entry would take longer

    return in_row_blocks(A, average, left, right.shape[-2])


def _by_softmax(A: Any, left: Array, right: Array, log_q: Array, values: Array) -> Array:
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


def _with_row_units(A: Any, left: Array, right: Array, log_q: Array, values: Array) -> Scaled:
    """Every row in a unit of its own: all may attend to j* alone, up to e^-1000 and less."""
    xp, rightT, row_log_q = A.xp, A.transpose(right), A.transpose(log_q)
    row_moving = A.transpose(_moving(A, right, log_q))

    def average(rows: Array, start: int) -> Array:
        E = A.matmul(rows, rightT)
        total, log_total = _exp_sum(A, row_log_q + E)
        up = row_moving + xp.maximum(E, 0.0)
        top = _floored(A, A.max(up, axis=-1))
        w = xp.sign(E) * A.exp(up - top) * -xp.expm1(-xp.abs(E))
        return A.concat([A.matmul(w, values) / total, top - log_total], axis=-1)

    return _in_one_unit(A, in_row_blocks(A, average, left, right.shape[-2]))


def _exp_sum(A: Any, logits: Array) -> tuple[Array, Array]:
    """Σ_j e^{logits_ij} as a number in [1, n] and a logarithm."""
    top = A.max(logits, axis=-1)
    return A.sum(A.exp_of_temporary(logits - top), axis=-1), top


def _in_one_unit(A: Any, rows: Array) -> Scaled:
    """Rows whose last entry is the logarithm of their unit, brought to the largest unit."""
    logs = rows[..., -1:]
    unit = A.max(logs, axis=-2)
    return rows[..., :-1] * A.exp(logs - unit), A.unit_of(unit)


def _masked_deviation(view: View, hidden: Hidden, values: Array) -> Scaled:
    A, left, right, c = view.A, view.left, view.right, view.weights
    rowc = A.transpose(c)
    if A.unbounded:
        a = hidden.exponentials(A.matmul(left, A.transpose(right)) + rowc)
        return A.matmul(a, values) / A.sum(a, axis=-1), 0
    xp = A.xp
    left, right = _factors(A, left, right, view.log_E)
    rightT = A.transpose(right)
    weights = A.concat([values, xp.ones_like(values[..., :1])], axis=-1)

    def logits_of(rows: Array, start: int) -> Array:
        return hidden.added(A.matmul(rows, rightT) + rowc, start)

    def average(rows: Array, start: int) -> Array:
        logits = logits_of(rows, start)
        y = A.matmul(A.exp_of_temporary(logits - A.max(logits, axis=-1)), weights)
        return y[..., :-1] / y[..., -1:]

    out = in_row_blocks(A, average, left, right.shape[-2])
    if (A.largest(out) >= 1e-280 * A.largest(values)).all():
        return out, 0.0
    # All rows attend to j* and to nothing else that a double can hold: a unit for every row.
    row_moving = A.transpose(_moving(A, values, xp.zeros_like(c)))

    def small_average(rows: Array, start: int) -> Array:
        logits = logits_of(rows, start)
        total, log_total = _exp_sum(A, logits)
        logits = logits + row_moving
        top = _floored(A, A.max(logits, axis=-1))
        y = A.matmul(A.exp(logits - top), values)
        return A.concat([y / total, top - log_total], axis=-1)

    return _in_one_unit(A, in_row_blocks(A, small_average, left, right.shape[-2]))


def in_row_blocks(
    A: Any, function: Callable[[Array, int], Array], rows: Array, columns: int, least: int = 1
) -> Array:
    """function(rows, index of the first), a block of rows at a time: no full n × n matrix is ever held.

    `least` blocks a thread, for work that is less the further down.
    """
    n = rows.shape[-2]
    batch = math.prod(rows.shape[:-2])
    entries = A.block_entries if batch == 1 else A.batch_entries
    parts = -(-n // max(1, entries // max(1, columns * batch)))
    threads = A.threads_for(n * columns) if batch == 1 else 1
    if threads > 1:
        parts = max(parts, threads * least)
    parts = min(parts, n)
    if parts <= 1:
        return function(rows, 0)
    ends = [n * k // parts for k in range(parts + 1)]  # as many, and alike
    tasks = [partial(function, rows[..., start:end, :], start) for start, end in pairwise(ends)]
    return A.concat(list(A.in_turn(tasks, n * columns * batch)), axis=-2)


# -- maps applied token by token ---------------------------------------------------------------------------


def mlp_step(A: Any, f: MLP, tokens: Tokens, carried: Carried | None = None) -> Tokens:
    """f(x + R_i) − f(x), by divided differences of the activation, and what a skip carries past it."""
    scale = Scale.of(A, tokens)
    (W_in, log_in), (W_out, log_out) = _tamed(A, A.asarray(f.W_in)), _tamed(A, A.asarray(f.W_out))
    x, R = tokens.center, tokens.residual
    t = A.matmul(R, W_in)
    hidden = [(A.matmul(x, W_in), scale.xi + log_in)]
    if f.b_in is not None:
        hidden.append(_tamed(A, A.asarray(f.b_in[None, :])))
    u, log_u = scaled_sum(A, hidden)
    s: Any = 1
    grow: Any = 1
    log_hidden: Any = 0
    if not A.unbounded:
        u, s, grow, log_hidden = _hidden_units(A, (u, log_u), (t, scale.sigma + log_in))
    difference = activation_difference(A, f.activation, u, t, s, grow)
    value, log_value = activate(A, f.activation, u, grow), 0 if f.activation == "tanh" else log_hidden
    residuals = [(A.matmul(difference, W_out), log_in + log_out)]
    centers = [(A.matmul(value, W_out), log_value + log_out)]
    if f.b_out is not None:
        centers.append(_tamed(A, A.asarray(f.b_out[None, :])))
    if f.skip:
        residuals.append((R, 0))
        centers.append((x, scale.xi))
    log_residual, lost_bits = tokens.log_residual, tokens.lost_bits
    if carried is not None:
        center, residual = carried.terms(A)
        centers.append(center)
        residuals = [*((a, unit + carried.apart) for a, unit in residuals), residual]
        log_residual = carried.tokens.log_residual
        lost_bits = lost_bits if A.unbounded else A.units.maximum(carried.tokens.lost_bits, lost_bits)
    R, log = scaled_sum(A, residuals)
    if A.unbounded:
        return _recentred(A, scaled_sum(A, centers), R, None)
    # The unit of a sum is the size of its largest part.
    log_parts = 0.0 if len(residuals) > 1 else LOG_ZERO
    return _recentred(A, scaled_sum(A, centers), R, log_residual.plus(log), lost_bits, log_parts)


def _hidden_units(A: Any, u: Scaled, t: Scaled) -> tuple[Array, Array, Array, Array]:
    """u and s = e^σ over a common unit e^M, e^M itself (held down), and M: 0 unless hidden units near overflow."""
    pre, grown = normalised(A, u[0])
    log_u = _floored(A, u[1] + grown)
    size = A.units.maximum(log_u, t[1] + _log_of(A, A.largest(t[0])))
    M = A.units.maximum(size - 200.0, 0.0)
    s = A.exp(A.units.minimum(t[1] - M, 2 * _SAFE_LOG))
    return pre * A.factor(A.exp(log_u - M)), A.factor(s), A.factor(A.exp(A.units.minimum(M, 500.0))), M


def norm_step(A: Any, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """LayerNorm in centred form."""
    if norm.kind == "column":
        return _column_norm(A, norm, tokens)
    return _token_norm(A, norm, tokens)


def _token_norm(A: Any, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """v ↦ ϱ v/√(‖v‖² + e): sphere with ϱ = 1, e = 0; rms with ϱ = √d, e = d·eps; standard too, v centred first.

    With x = b·u (‖u‖ = 1), R_i = r(p u + w), w ⟂ u, a² = (b + rp)² + r²‖w‖² + e and β² = b² + e, token i lands at

        r (w/a + κ u),   κ = (e p (2b + rp) − b² r‖w‖²)/(aβ((b + rp)β + ba))  if b + rp > 0,

    relative to the image (b/β) u of the center: the part along x, which would cancel, never enters.
    """
    x, R = tokens.center, tokens.residual
    d = x.shape[-1]
    floor = A.constant(norm.floor) * d if norm.floor else 0.0
    if norm.kind == "standard":
        x, R = x - A.sum(x, axis=-1) / d, R - A.sum(R, axis=-1) / d
    length = A.sqrt(A.sum(x * x, axis=-1))
    unit = x / A.nonzero(length)
    r, b, e, log_r = _norm_units(A, tokens, length, floor)
    p = A.sum(R * unit, axis=-1)
    w = R - p * unit
    if norm.kind == "standard" and d == 2:
        w = 0 * w  # centred tokens lie on a line
    elif not A.unbounded:  # rounding must not leave anything along u, nor along 1 where v is centred
        if norm.kind == "standard":
            w = w - A.sum(w, axis=-1) / d
        w = w - A.sum(w * unit, axis=-1) * unit
    size = A.sum(w * w, axis=-1)
    along = b + r * p
    a = A.sqrt(along * along + r * r * size + e)
    if not norm.floor and A.any(A.vanishes(a, b + r * A.sqrt(A.sum(R * R, axis=-1)))):
        raise InvalidArgument(
            f"X: a token is zero before LayerNorm {norm.kind!r}, exactly or to rounding; it has no direction"
        )
    beta = A.sqrt(b * b + e)
    stable = (e * p * (2 * b + r * p) - b * b * r * size) / A.nonzero(a * beta * (along * beta + b * a))
    turned = (along / A.nonzero(a) - b / A.nonzero(beta)) / A.nonzero(r + 0 * b)
    kappa = A.where(A.certainly_positive(along), stable, turned)
    R_new, x_new = w / A.nonzero(a) + unit * kappa, unit * (b / A.nonzero(beta))
    stretch: Any = 1.0
    if norm.kind != "sphere":
        stretch = A.sqrt(A.asarray(A.constant(d))) if A.unbounded else math.sqrt(d)
        R_new, x_new = R_new * stretch, x_new * stretch
        if norm.gain is not None:
            gain = A.asarray(norm.gain[None, :])
            R_new, x_new = R_new * gain, x_new * gain
            stretch = stretch * A.largest(gain)
        if norm.offset is not None:
            x_new = x_new + A.asarray(norm.offset[None, :])
    if A.unbounded:
        return _recentred(A, (x_new, 0), R_new, None)
    # What is left of R is its part across x, known to the last bit of R.
    log_parts = _log_of(A, A.largest(R / A.nonzero(a)) * stretch)
    return _recentred(A, (x_new, 0), R_new, log_r, tokens.lost_bits, log_parts)


def _norm_units(A: Any, tokens: Tokens, length: Array, floor: Any) -> tuple[Any, Array, Any, Any]:
    """r, b, e and log r of `_token_norm` in a unit that the largest of center, residual and √e does not leave."""
    if A.unbounded:
        return 1, length, floor, None
    sigma = _floored(A, tokens.log_residual.to_float())
    unit = A.units.maximum(tokens.log_center, sigma)
    if floor:
        unit = A.units.maximum(unit, 0.5 * math.log(floor))
    e = A.factor(floor * A.exp(-2.0 * unit)) if floor else 0.0
    b = length * A.factor(A.exp(tokens.log_center - unit))
    return A.factor(A.exp(sigma - unit)), b, e, tokens.log_residual.plus(-unit)


def _column_norm(A: Any, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """R diag(1/√(column mean of R² + eps)): a right multiplication. A constant column stays zero."""
    R = tokens.residual
    n = R.shape[-2]
    zero = 0 * tokens.center
    if A.unbounded:
        deviation = A.sqrt(A.sum(R * R, axis=-2) / n + A.constant(norm.floor))
        return _recentred(A, (zero, 0), R / A.nonzero(deviation), None)
    # Columns of very different size: squares of the small ones must not underflow.
    column = A.nonzero(A.max(A.abs(R), axis=-2))
    R = R / column
    deviation = A.nonzero(A.sqrt(A.sum(R * R, axis=-2) / n))
    sigma = _floored(A, tokens.log_residual.to_float())
    if not norm.floor:
        return _recentred(A, (zero, 0), R / deviation, LogScale.of(0 * sigma), tokens.lost_bits)
    log_column = A.log(column)
    log_size = A.factor(sigma) + log_column + A.log(deviation)
    log_deviation = A.xp.logaddexp(2 * log_size, math.log(norm.floor) + 0 * column) / 2
    unit = A.max(log_column - log_deviation, axis=-1)
    R = R * A.exp(log_column - log_deviation - unit)
    return _recentred(A, (zero, 0), R, tokens.log_residual.plus(A.unit_of(unit)), tokens.lost_bits)
