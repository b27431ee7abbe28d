"""Maps applied token by token, in centred form: MLPs and LayerNorms, by divided differences.

f(x + R_i) − f(x) is formed without subtracting nearly equal values.
"""

import math

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.activations import activate, activation_difference
from rankmath.attention.tokens import (
    LOG_ZERO,
    NO_SCALE,
    SAFE_LOG,
    Carried,
    Scale,
    Scaled,
    Tokens,
    floored,
    log_of,
    normalised,
    recentred,
    scaled_sum,
    tamed,
)
from rankmath.model.network import MLP, LayerNorm
from rankmath.validation import Array, NoDirection

#: The LayerNorms that have code here.
CODED_NORMS = frozenset(["sphere", "rms", "standard", "column"])


def mlp_step(A: System, f: MLP, tokens: Tokens, carried: Carried | None = None) -> Tokens:
    """f(x + R_i) − f(x), by divided differences of the activation, and what a skip carries past it."""
    scale = Scale.of(A, tokens)
    W_out, log_out = tamed(A, A.asarray(f.W_out))
    x, R = tokens.center, tokens.residual
    W, b = (f.W_in, f.b_in) if f.W_gate is None else (f.W_gate, f.b_gate)
    (u, log_u), (t, log_in) = _hidden(A, tokens, scale, W, b)
    s: Array = 1
    grow: Array = 1
    log_hidden: Array = 0
    if not A.unbounded:
        u, s, grow, log_hidden = _hidden_units(A, (u, log_u), (t, scale.sigma + log_in))
    difference = activation_difference(A, f.activation, u, t, s, grow)
    value, log_value = activate(A, f.activation, u, grow), log_hidden
    if f.activation == "tanh" and not A.unbounded:  # 1 of a large number, and a tiny one itself
        tiny = A.factor(A.units.where(log_hidden < 0, 1.0, 0.0))
        value, log_value = tiny * u + (1.0 - tiny) * value, A.units.minimum(log_hidden, 0.0)
    if f.W_gate is not None:
        # (a + Δa)(v + Δv) − av = Δa (v + Δv) + a Δv
        v, (dv, log_dv) = _hidden(A, tokens, scale, f.W_in, f.b_in)
        whole, log_whole = scaled_sum(A, [v, (dv, scale.sigma + log_dv)])
        product = [(difference * whole, log_in + log_whole), (dv * value, log_value + log_dv)]
        difference, log_in = scaled_sum(A, product)
        value, log_value = value * v[0], log_value + v[1]
    residuals = [(A.matmul(difference, W_out), log_in + log_out)]
    centers = [(A.matmul(value, W_out), log_value + log_out)]
    if f.b_out is not None:
        centers.append(tamed(A, A.asarray(f.b_out[None, :])))
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
        return recentred(A, scaled_sum(A, centers), R)
    # The unit of a sum is the size of its largest part.
    log_parts = 0.0 if len(residuals) > 1 else LOG_ZERO
    return recentred(A, scaled_sum(A, centers), R, log_residual.plus(log), lost_bits, log_parts)


def _hidden(A: System, tokens: Tokens, scale: Scale, W: Array, b: Array) -> tuple[Scaled, Scaled]:
    """The center's x W + b, and R W in units of e^σ."""
    matrix, log = tamed(A, A.asarray(W))
    centers = [(A.matmul(tokens.center, matrix), scale.xi + log)]
    if b is not None:
        centers.append(tamed(A, A.asarray(b[None, :])))
    return scaled_sum(A, centers), (A.matmul(tokens.residual, matrix), log)


def _hidden_units(A: Float64, u: Scaled, t: Scaled) -> tuple[Array, Array, Array, Array]:
    """u and s = e^σ over a common unit e^M, e^M itself (held down), and M: 0 unless hidden units leave e^±200."""
    pre, grown = normalised(A, u[0])
    log_u = floored(A, u[1] + grown)
    size = A.units.maximum(log_u, t[1] + log_of(A, A.largest(t[0])))
    M = A.units.where(size < -200.0, size, A.units.maximum(size - 200.0, 0.0))
    s = A.exp(A.units.minimum(t[1] - M, 2 * SAFE_LOG))
    return pre * A.factor(A.exp(log_u - M)), A.factor(s), A.factor(A.exp(A.units.minimum(M, 500.0))), M


def norm_step(A: System, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """LayerNorm in centred form."""
    if norm.kind == "column":
        return _column_norm(A, norm, tokens)
    return _token_norm(A, norm, tokens)


def _token_norm(A: System, norm: LayerNorm, tokens: Tokens) -> Tokens:
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
    r, b, e, log_r, log_x = _norm_units(A, tokens, length, floor)
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
        raise NoDirection(
            f"X: a token is zero before LayerNorm {norm.kind!r}, exactly or to rounding; it has no direction"
        )
    beta = A.sqrt(b * b + e)
    stable = (e * p * (2 * b + r * p) - b * b * r * size) / A.nonzero(a * beta * (along * beta + b * a))
    turned = (along / A.nonzero(a) - b / A.nonzero(beta)) / A.nonzero(r + 0 * b)
    kappa = A.where(A.certainly_positive(along), stable, turned)
    R_new, x_new = w / A.nonzero(a) + unit * kappa, unit * (b / A.nonzero(beta))
    stretch: Array = 1.0
    if norm.kind != "sphere":
        stretch = A.sqrt(A.asarray(A.constant(d))) if A.unbounded else math.sqrt(d)
        R_new, x_new = R_new * stretch, x_new * stretch
        if norm.gain is not None:
            gain = A.asarray(norm.gain[None, :])
            R_new, x_new = R_new * gain, x_new * gain
            stretch = stretch * A.largest(gain)
    centers = [(x_new, log_x)]
    if norm.offset is not None and norm.kind != "sphere":
        centers.append((A.asarray(norm.offset[None, :]), 0))
    center = scaled_sum(A, centers)
    if A.unbounded:
        return recentred(A, center, R_new)
    # What is left of R is its part across x, known to the last bit of R.
    log_parts = log_of(A, A.largest(R / A.nonzero(a)) * stretch)
    return recentred(A, center, R_new, log_r, tokens.lost_bits, log_parts)


def _norm_units(A: System, tokens: Tokens, length: Array, floor: Array) -> tuple[Array, Array, Array, LogScale, Array]:
    """r, b, e and log r of `_token_norm` in a unit that the largest of center, residual and √e does not leave.

    Tokens far below √e are divided by it, to the last bit: where e^−300 √e is still above them they are computed as if
    they were of that size, and the last number returned is the logarithm of what their center's image is over that.
    """
    if A.unbounded:
        return 1, length, floor, NO_SCALE, 0
    sigma = floored(A, tokens.log_residual.to_float())
    unit = own = A.units.maximum(tokens.log_center, sigma)
    if floor:
        unit = A.units.maximum(own, 0.5 * math.log(floor))
    near = A.units.minimum(unit, own + SAFE_LOG)
    e = A.factor(floor * A.exp(-2.0 * unit)) if floor else 0.0
    b = length * A.factor(A.exp(tokens.log_center - near))
    return A.factor(A.exp(sigma - near)), b, e, tokens.log_residual.plus(-unit), near - unit


def _column_norm(A: System, norm: LayerNorm, tokens: Tokens) -> Tokens:
    """R diag(1/√(column mean of R² + eps)): a right multiplication. A constant column stays zero."""
    R = tokens.residual
    n = R.shape[-2]
    zero = 0 * tokens.center
    if A.unbounded:
        deviation = A.sqrt(A.sum(R * R, axis=-2) / n + A.constant(norm.floor))
        return recentred(A, (zero, 0), R / A.nonzero(deviation))
    # Columns of very different size: squares of the small ones must not underflow.
    column = A.nonzero(A.max(A.abs(R), axis=-2))
    R = R / column
    deviation = A.nonzero(A.sqrt(A.sum(R * R, axis=-2) / n))
    sigma = floored(A, tokens.log_residual.to_float())
    if not norm.floor:
        return recentred(A, (zero, 0), R / deviation, LogScale.of(0 * sigma), tokens.lost_bits)
    log_column = A.log(column)
    log_size = A.factor(sigma) + log_column + A.log(deviation)
    log_deviation = A.xp.logaddexp(2 * log_size, math.log(norm.floor) + 0 * column) / 2
    unit = A.max(log_column - log_deviation, axis=-1)
    R = R * A.exp(log_column - log_deviation - unit)
    return recentred(A, (zero, 0), R, tokens.log_residual.plus(A.unit_of(unit)), tokens.lost_bits)
