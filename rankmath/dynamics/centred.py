"""The centred layer step, written once for every arithmetic.

Tokens are held as X = 1xᵀ + R and never added up. For a head with logits c_j + E_ij (row constants dropped),

    c = R (W_QKᵀ x + k)/√d_qk,   E = R W_QK R̃ᵀ/√d_qk,   q = softmax(c),   R̃ = R − 1 qᵀR,

R̃ has q-mean zero, so with m = expm1(E) and m̄ = m q

    P R = 1 qᵀR + Q R,   (Q R)_i = Σ_j q_j m_ij R̃_j / (1 + m̄_i),   1 + m̄_i = Σ_j q_j e^{E_ij} ≥ 1 (Jensen).

Nothing is subtracted that could cancel: R' = λR + Σ_h Q_h R W_h is as accurate as R.

Float64 keeps magnitudes apart, X = e^ξ 1x̂ᵀ + e^σ R̂ with R̂ and x̂ of size one: E is e^{2σ} times a matrix of
moderate size, and Q R is e^{3σ} times one. Arithmetics with unbounded exponents run the same lines with σ = ξ = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rankmath.arithmetic.scales import LogScale
from rankmath.dynamics.activations import activate, activation_difference
from rankmath.linalg.masks import Mask
from rankmath.network import MLP, LayerNorm, Network
from rankmath.validation import Array

# A logarithm that stands for "zero" where e^{log} meets other factors; −inf would breed nan.
_LOG_ZERO = -1e300
# Beyond this an exponential is on the way out of a double's range.
_SAFE_LOG = 300.0
# In place of a zero that something is divided by.
_TINY = 1e-290
# Entries of one row block of an n × n matrix: 2 MiB of doubles stay in cache.
_BLOCK_ENTRIES = 2**18


@dataclass(frozen=True)
class Tokens:
    """X = e^ξ 1 center + e^σ residual: center (..., 1, d), residual (..., n, d), mean of the residual zero.

    `log_center` (ξ) and `log_residual` (σ) are (..., 1, 1), or None where exponents are unbounded.
    """

    center: Array
    residual: Array
    log_center: Array = None
    log_residual: Any = None


@dataclass(frozen=True)
class Head:
    """One head's weights in the arithmetic that runs: W_QK = query keyᵀ, W = value output (None: identity)."""

    query: Array
    key: Array | None
    value: Array
    output: Array | None
    key_bias: Array | None


def heads_of(A: Any, net: Network, layer: int) -> list[Head]:
    """The heads of one layer, converted to the arithmetic."""

    def pick(stack: Array, h: int) -> Array | None:
        return None if stack is None else A.asarray(stack[layer, h])

    return [
        Head(
            pick(net.query, h),
            pick(net.key, h),
            pick(net.value, h),
            pick(net.output, h),
            None if net.key_bias is None else A.asarray(net.key_bias[layer, h][..., None]),
        )
        for h in range(net.heads)
    ]


def centre(A: Any, X: Array) -> Tokens:
    """Split tokens (..., n, d) into mean and residual.

    Relative to the first token first: a difference of two tokens is rounded once, and equal tokens give exact
    zeros. A residual of 1e-6 under a mean of 1e8 keeps all the digits X has of it.
    """
    X = A.asarray(X)
    first = X[..., :1, :]
    if A.unbounded:
        return _unbounded_tokens(A, first, X - first)
    zero = A.xp.zeros_like(first[..., :1])
    return _recentred(A, first, X - first, zero, LogScale.of(zero))


def _recentred(A: Any, x: Array, R: Array, log_center: Array, log_residual: LogScale) -> Tokens:
    """Move the mean of R into x and bring both to size one."""
    shift = A.sum(R, axis=-2) / R.shape[-2]
    R = R - shift
    sigma = _floored(A, log_residual.to_float())
    common = A.xp.maximum(log_center, sigma)
    x = x * A.exp(log_center - common) + shift * A.exp(sigma - common)
    x, grown = _normalised(A, x)
    R, shrunk = _normalised(A, R)
    return Tokens(x, R, _floored(A, common + grown), log_residual.plus(shrunk))


def _normalised(A: Any, a: Array) -> tuple[Array, Array]:
    """`a` over its largest entry (over both last axes), and the logarithm of that entry (−inf for zero)."""
    largest = _largest(A, a)
    log = A.log(largest)
    return a / A.where(largest > 0, largest, A.ones_like(largest)), log


def _floored(A: Any, log: Array) -> Array:
    return A.xp.maximum(log, A.xp.full_like(log, _LOG_ZERO))


# -- one layer ---------------------------------------------------------------------------------------------


def attention_step(A: Any, net: Network, layer: int, tokens: Tokens, mask: Mask | None) -> Tokens:
    """λX + Σ_h P_h X W_h + 1bᵀ in centred form."""
    x, R = tokens.center, tokens.residual
    lam = net.skip
    support = None
    if mask is not None and mask.common_support is not None:
        support, mask = mask.common_support, None
    root = A.sqrt(A.asarray(A.constant(net.d_qk))) if A.unbounded else math.sqrt(net.d_qk)
    scale = None if A.unbounded else _Scale.of(A, tokens)
    moved: Any = None
    seen: Any = None  # Σ_h of what moves the residual, and of the common vectors qᵀR W
    mean_image = x * A.constant(lam) if lam else None
    for head in heads_of(A, net, layer):
        if mask is not None:
            common, out = _masked_head(A, head, x, R, root, scale, mask)
        else:
            common, out = _head(A, head, x, R, root, scale, support)
        image = _through(A, x, head)
        mean_image = image if mean_image is None else mean_image + image
        moved = out if moved is None else moved + out
        seen = common if seen is None else seen + common
    bias = None if net.bias is None else A.asarray(net.bias[layer][..., None, :])
    if A.unbounded:
        x = mean_image + seen
        return _unbounded_tokens(A, x if bias is None else x + bias, moved + R * A.constant(lam) if lam else moved)
    return _reassemble(A, tokens, scale, lam, moved, mean_image, seen, bias, cubic=mask is None)


def _reassemble(
    A: Any,
    tokens: Tokens,
    scale: Any,
    lam: float,
    moved: Array,
    mean_image: Array,
    seen: Array,
    bias: Array | None,
    *,
    cubic: bool,
) -> Tokens:
    """Put the parts of a float64 layer, each in its own unit, back together."""
    sigma, xi = scale.sigma, scale.xi
    log_residual = tokens.log_residual
    gain = scale.gain if cubic else 1.0
    if lam:
        R = lam * tokens.residual + gain * moved
    else:
        R = moved
        if cubic:
            # e^{3σ} where σ < 0: the cubic rate itself.
            log_residual = log_residual.times(A.where(sigma < 0, 3.0 * A.ones_like(sigma), A.ones_like(sigma)))
    common = A.xp.maximum(xi, sigma)
    if bias is not None:
        common = A.xp.maximum(common, A.xp.zeros_like(common))
    x = mean_image * A.exp(xi - common) + seen * A.exp(sigma - common)
    if bias is not None:
        x = x + bias * A.exp(-common)
    return _recentred(A, x, R, common, log_residual)


@dataclass(frozen=True)
class _Scale:
    """e^{2σ} and friends of one layer, float64 only; all (..., 1, 1)."""

    sigma: Array  # σ, floored
    xi: Array  # ξ
    double: Array  # e^{2σ}, 0 on underflow
    gain: Array  # min(1, e^{2σ}): the unit of Q R over that of R
    gain_or_one: Array  # the same, with 1 for an underflowed 0: a divisor

    @classmethod
    def of(cls, A: Any, tokens: Tokens) -> _Scale:
        sigma = _floored(A, tokens.log_residual.to_float())
        double = A.exp(A.xp.minimum(2.0 * sigma, A.xp.full_like(sigma, 2.0 * _SAFE_LOG)))
        gain = A.xp.minimum(double, A.ones_like(double))
        return cls(sigma, tokens.log_center, double, gain, A.where(gain > 0, gain, A.ones_like(gain)))


def _through(A: Any, v: Array, head: Head) -> Array:
    """v W."""
    v = A.matmul(v, head.value)
    return v if head.output is None else A.matmul(v, head.output)


def _key_logits(A: Any, head: Head, x: Array, rows: Array, root: Any, scale: Any) -> Array:
    """c for the given rows R_j: (x W_QK R_jᵀ + R_j k)/√d_qk, (..., n, 1); finite whatever the scales."""
    u = A.matmul(x, head.query)
    keys = rows if head.key is None else A.matmul(rows, head.key)
    from_mean = A.matmul(keys, A.transpose(u)) / root
    from_bias = None if head.key_bias is None else A.matmul(rows, head.key_bias) / root
    if scale is None:
        return from_mean if from_bias is None else from_mean + from_bias
    c = from_mean * _clipped_exp(A, scale.sigma + scale.xi, from_mean)
    return c if from_bias is None else c + from_bias * _clipped_exp(A, scale.sigma, from_bias)


def _clipped_exp(A: Any, log: Array, factor: Array) -> Array:
    """e^log, held down where its product with `factor` would overflow: such logits are saturated already."""
    room = A.xp.minimum(2.0 * _SAFE_LOG - A.log(_largest(A, factor)), A.xp.full_like(log, 2.0 * _SAFE_LOG))
    return A.exp(A.xp.minimum(log, room))


def _pivoted(
    A: Any, head: Head, x: Array, R: Array, root: Any, scale: Any, support: Any
) -> tuple[Array, Array, Array, Array]:
    """The rows relative to the most attended token, c there (0 at that token), and that token's row.

    With q close to a unit vector, R − 1qᵀR would cancel at the attended token; R_j − R_{j*} is exact there.
    """
    scores = _key_logits(A, head, x, R, root, scale)
    seen = None
    if support is not None:
        seen = A.asarray(_as_column(A, support))
        scores = A.where(_as_column(A, support, boolean=True), scores, _least(A, scores))
    pivot = A.row_of_largest(scores, R)
    D = R - pivot
    return pivot, D, _key_logits(A, head, x, D, root, scale), seen


def _as_column(A: Any, support: Any, boolean: bool = False) -> Array:
    if A.unbounded:
        return support[:, None] if boolean else support[:, None].astype(int)
    column = A.xp.asarray(support[:, None])
    return column if boolean else A.xp.astype(column, A.xp.float64)


def _least(A: Any, scores: Array) -> Any:
    return A.constant(-(10**300)) if A.unbounded else -1e308


def _head(A: Any, head: Head, x: Array, R: Array, root: Any, scale: Any, support: Any) -> tuple[Array, Array]:
    """qᵀR W (1 × d, in units of e^σ) and Q R W (n × d, in units of e^σ·gain), all rows seeing the same keys."""
    pivot, D, c, seen = _pivoted(A, head, x, R, root, scale, support)
    e = A.exp(c if A.unbounded else A.xp.minimum(c, A.xp.full_like(c, 2 * _SAFE_LOG)))
    if seen is not None:
        e = e * seen
    total = A.sum(e, axis=-2)
    q = e / total
    qD = A.matmul(A.transpose(q), D)
    Rt = D - qD
    if seen is not None:
        Rt = Rt * seen
    left = A.matmul(R, head.query) / root
    right = Rt if head.key is None else A.matmul(Rt, head.key)
    values = A.matmul(Rt, head.value)
    if A.unbounded:
        out = _unbounded_average(A, left, right, q, values)
    else:
        log_q = c - A.log(total)
        if seen is not None:
            log_q = A.where(seen > 0, log_q, A.xp.full_like(log_q, -A.xp.inf))
        out = _float_average(A, left, right, q, log_q, values, scale, seen)
    common = _through(A, pivot + qD, head)
    return common, out if head.output is None else A.matmul(out, head.output)


def _logit_bound(A: Any, left: Array, right: Array) -> Array:
    """At least every |(left rightᵀ)_ij|, (..., 1, 1), from the largest entries alone."""
    return _largest(A, left) * _largest(A, right) * left.shape[-1]


def _largest(A: Any, a: Array) -> Array:
    return A.max(A.max(A.abs(a), axis=-1), axis=-2)


def _unbounded_average(A: Any, left: Array, right: Array, q: Array, values: Array) -> Array:
    """Σ_j q_j m_ij v_j/(1 + m̄_i) with m = expm1(left rightᵀ), exponents unbounded."""
    bound = A.upper_exponent(_logit_bound(A, left, right))
    if bound < -A.bits():
        # expm1(E) = E + θE², |θ| ≤ 1 for |E| ≤ 1, and 0 ≤ m̄ ≤ max E²: the quadratic part is one error ball.
        moment = A.matmul(A.transpose(right), q * values)
        error = A.error_ball(2 * bound + 1)
        largest = A.max(A.sum(A.abs(q * values), axis=-2), axis=-1)
        return A.matmul(left, moment) * (1 + error) + largest * error
    m = A.expm1_of_temporary(A.matmul(left, A.transpose(right)))
    y = A.matmul(m, A.concat([q * values, q], axis=-1))
    return y[..., :-1] / (1 + y[..., -1:])


def _float_average(
    A: Any, left: Array, right: Array, q: Array, log_q: Array, values: Array, scale: Any, seen: Array | None
) -> Array:
    """The same in float64, over the unit e^σ·gain, row block by row block."""
    xp = A.xp
    bound = xp.maximum(_logit_bound(A, left, right), xp.full_like(scale.sigma, _TINY))
    size = bound * scale.double
    if float(xp.max(size)) <= 2.0**-54:
        # expm1(E) is E to the last bit, and E times anything is a product of thin matrices.
        moment = A.matmul(A.transpose(right), q * values)
        return A.matmul(left, moment) * xp.maximum(scale.double, A.ones_like(bound))
    # Where E is far below rounding its true size does not matter; where it overflows the softmax is saturated.
    double = xp.minimum(xp.maximum(scale.double, 2.0**-60 / bound), 1e300 / xp.maximum(bound, A.ones_like(bound)))
    per_unit = xp.where(
        size < 2.0**-54, xp.maximum(scale.double, A.ones_like(bound)) / double, 1.0 / scale.gain_or_one
    )
    left = left * double
    rightT = A.transpose(right)
    visible = log_q if seen is None else xp.where(seen > 0, log_q, xp.zeros_like(log_q))
    if float(xp.max(size)) <= _SAFE_LOG and float(xp.min(visible)) >= -_SAFE_LOG:
        weights = A.concat([q * values, q], axis=-1)

        def average(rows: Array, start: int) -> Array:
            y = A.matmul(A.expm1_of_temporary(A.matmul(rows, rightT)), weights)
            return y[..., :-1] / (1.0 + y[..., -1:])

    else:
        row_log_q = A.transpose(log_q)

        def average(rows: Array, start: int) -> Array:
            E = A.matmul(rows, rightT)
            up = row_log_q + xp.maximum(E, xp.zeros_like(E))
            top = A.max(up, axis=-1)
            weight = A.sum(A.exp(row_log_q + E - top), axis=-1)
            w = xp.sign(E) * A.exp(up - top) * -xp.expm1(-xp.abs(E))
            return A.matmul(w, values) / weight

    return in_row_blocks(A, average, left, right.shape[-2]) * per_unit


def in_row_blocks(A: Any, function: Any, rows: Array, columns: int) -> Array:
    """function(rows, index of the first), a block of rows at a time: no full n × n matrix is ever held."""
    n = rows.shape[-2]
    batch = math.prod(rows.shape[:-2])
    block = max(16, _BLOCK_ENTRIES // max(1, columns * batch))
    if block >= n:
        return function(rows, 0)
    parts = [function(rows[..., start : start + block, :], start) for start in range(0, n, block)]
    return A.concat(parts, axis=-2)


def _masked_head(A: Any, head: Head, x: Array, R: Array, root: Any, scale: Any, mask: Mask) -> tuple[Array, Array]:
    """The same when rows see different keys: P R relative to one token, in units of e^σ."""
    pivot, D, c, _ = _pivoted(A, head, x, R, root, scale, None)
    left = A.matmul(R, head.query) / root
    right = D if head.key is None else A.matmul(D, head.key)
    values = A.matmul(D, head.value)
    rowc, rightT = A.transpose(c), A.transpose(right)
    common = _through(A, pivot, head)
    if A.unbounded:
        a = A.exp(A.matmul(left, rightT) + rowc) * mask.allowed.astype(int)
        out = A.matmul(a, values) / A.sum(a, axis=-1)
        return common, out if head.output is None else A.matmul(out, head.output)
    xp = A.xp
    allowed = xp.asarray(mask.allowed)
    bound = xp.maximum(_logit_bound(A, left, right), xp.full_like(scale.sigma, _TINY))
    left = left * xp.minimum(scale.double, 1e300 / xp.maximum(bound, A.ones_like(bound)))
    ones = xp.ones_like(values[..., :1])
    weights = A.concat([values, ones], axis=-1)
    hidden = xp.asarray(-xp.inf)

    def average(rows: Array, start: int) -> Array:
        logits = A.matmul(rows, rightT) + rowc
        logits = xp.where(allowed[start : start + rows.shape[-2], :], logits, hidden)
        y = A.matmul(A.exp_of_temporary(logits - A.max(logits, axis=-1)), weights)
        return y[..., :-1] / y[..., -1:]

    out = in_row_blocks(A, average, left, right.shape[-2])
    return common, out if head.output is None else A.matmul(out, head.output)


# -- maps applied token by token ---------------------------------------------------------------------------


def mlp_step(A: Any, f: MLP, tokens: Tokens) -> Tokens:
    """f(x + R_i) − f(x), by divided differences of the activation."""
    W_in, W_out = A.asarray(f.W_in), A.asarray(f.W_out)
    x, R = tokens.center, tokens.residual
    t = A.matmul(R, W_in)
    if A.unbounded:
        s: Any = 1
        u = A.matmul(x, W_in)
    else:
        sigma = _floored(A, tokens.log_residual.to_float())
        s = _clipped_exp(A, sigma, t)
        u = A.matmul(x, W_in)
        u = u * _clipped_exp(A, tokens.log_center, u)
    if f.b_in is not None:
        u = u + A.asarray(f.b_in[None, :])
    R_new = A.matmul(activation_difference(A, f.activation, u, t, s), W_out)
    x_new = A.matmul(activate(A, f.activation, u), W_out)
    if f.b_out is not None:
        x_new = x_new + A.asarray(f.b_out[None, :])
    if f.skip:
        R_new = R_new + R
    if A.unbounded:
        return _unbounded_tokens(A, x_new + x if f.skip else x_new, R_new)
    zero = A.xp.zeros_like(tokens.log_center)
    log_center = zero
    if f.skip:
        log_center = A.xp.maximum(tokens.log_center, zero)
        x_new = x * A.exp(tokens.log_center - log_center) + x_new * A.exp(-log_center)
    return _recentred(A, x_new, R_new, log_center, tokens.log_residual)


def _unbounded_tokens(A: Any, x: Array, R: Array) -> Tokens:
    shift = A.sum(R, axis=-2) / R.shape[-2]
    return Tokens(x + shift, R - shift)


def norm_step(A: Any, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """LayerNorm in centred form."""
    if norm.kind == "column":
        return _column_norm(A, norm, tokens)
    return _token_norm(A, norm, tokens)


def _token_norm(A: Any, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """v ↦ ϱ v/√(‖v‖² + e): sphere with ϱ = 1, e = 0; standard with v centred, ϱ = √d, e = d·eps.

    With x = b·u (‖u‖ = 1), R_i = r(p u + w), w ⟂ u, a² = (b + rp)² + r²‖w‖² + e and β² = b² + e, token i lands at

        r (w/a + κ u),   κ = (e p (2b + rp) − b² r‖w‖²)/(aβ((b + rp)β + ba))  if b + rp > 0,

    relative to the image (b/β) u of the center: the part along x, which would cancel, never enters.
    """
    x, R = tokens.center, tokens.residual
    d = x.shape[-1]
    floor = norm.floor * d if norm.kind == "standard" else 0.0
    if norm.kind == "standard":
        x, R = x - A.sum(x, axis=-1) / d, R - A.sum(R, axis=-1) / d
    length = A.sqrt(A.sum(x * x, axis=-1))
    unit = x / A.nonzero(length)
    r, b, e, log_r = _norm_units(A, tokens, length, floor)
    p = A.sum(R * unit, axis=-1)
    w = R - p * unit
    if not A.unbounded:
        w = w - A.sum(w * unit, axis=-1) * unit
    size = A.sum(w * w, axis=-1)
    along = b + r * p
    a = A.sqrt(along * along + r * r * size + e)
    if bool(A.xp.any(a == 0)) if not A.unbounded else bool((a == 0).any()):
        raise ValueError(f"X: a token is exactly zero before LayerNorm {norm.kind!r}; its direction is not defined")
    beta = A.sqrt(b * b + e)
    stable = (e * p * (2 * b + r * p) - b * b * r * size) / A.nonzero(a * beta * (along * beta + b * a))
    turned = (along / a - b / A.nonzero(beta)) / A.nonzero(r + 0 * b)
    kappa = A.where(A.certainly_positive(along), stable, turned)
    R_new, x_new = w / a + unit * kappa, unit * (b / A.nonzero(beta))
    if norm.kind == "standard":
        radius: Any = A.sqrt(A.asarray(A.constant(d))) if A.unbounded else math.sqrt(d)
        R_new, x_new = R_new * radius, x_new * radius
        if norm.gain is not None:
            gain = A.asarray(norm.gain[None, :])
            R_new, x_new = R_new * gain, x_new * gain
        if norm.offset is not None:
            x_new = x_new + A.asarray(norm.offset[None, :])
    if A.unbounded:
        return _unbounded_tokens(A, x_new, R_new)
    return _recentred(A, x_new, R_new, A.xp.zeros_like(b), log_r)


def _norm_units(A: Any, tokens: Tokens, length: Array, floor: float) -> tuple[Any, Array, Any, Any]:
    """r, b, e and log r of `_token_norm` in a unit that the largest of center, residual and √e does not leave."""
    if A.unbounded:
        return 1, length, A.constant(floor), None
    sigma = _floored(A, tokens.log_residual.to_float())
    unit = A.xp.maximum(tokens.log_center, sigma)
    if floor:
        unit = A.xp.maximum(unit, A.xp.full_like(unit, 0.5 * math.log(floor)))
    e = floor * A.exp(-2.0 * unit) if floor else 0.0
    return A.exp(sigma - unit), length * A.exp(tokens.log_center - unit), e, tokens.log_residual.plus(-unit)


def _column_norm(A: Any, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """R diag(1/√(column mean of R² + eps)): a right multiplication. A constant column stays zero."""
    R = tokens.residual
    n = R.shape[-2]
    zero = 0 * tokens.center
    if A.unbounded:
        deviation = A.sqrt(A.sum(R * R, axis=-2) / n + A.constant(norm.floor))
        return _unbounded_tokens(A, zero, R / A.nonzero(deviation))
    sigma = _floored(A, tokens.log_residual.to_float())
    unit = sigma
    if norm.floor:
        unit = A.xp.maximum(sigma, A.xp.full_like(sigma, 0.5 * math.log(norm.floor)))
    # Columns of very different size: squares of the small ones must not underflow.
    column = A.nonzero(A.max(A.abs(R), axis=-2))
    scaled = R / column
    r = A.exp(sigma - unit)
    floor = norm.floor * A.exp(-2.0 * unit) / (column * column) if norm.floor else 0.0
    deviation = A.sqrt(r * r * A.sum(scaled * scaled, axis=-2) / n + floor)
    log_r = tokens.log_residual.plus(-unit)
    return _recentred(A, zero, scaled / A.nonzero(deviation), A.xp.full_like(sigma, _LOG_ZERO), log_r)
