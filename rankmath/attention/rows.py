"""Queries and keys of one head in centred form, whatever is done to them: biased, normed, turned by positions.

Let q̂ be the query of the center at the first place, and j* the key with the largest q̂·k_j. Without what is constant
along a row the logits are c_j + E_ij, c = (k_j − k_{j*})·q̂/√d_qk and E_ij = (q_i − q̂)·(k_j − k_{j*})/√d_qk. With
rotations T_i, queries e^ξ x T_i + e^σ R_i T_i and the like for keys,

    q_i − q̂ = e^ξ x (T_i − T_0) + e^σ R_i T_i,
    k_j − k_{j*} = e^ξ y (T_j − T_{j*}) + e^σ (S_j T_j − S_{j*} T_{j*}):

differences of the tables alone, so E keeps its digits however close the tokens are. Without rotations E is what it
is in `views`. A cap f(S) = t tanh(S/t) of the logits keeps that form with another E (`capped`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from array_api_compat import array_namespace

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.attention.maps import norm_step
from rankmath.attention.tokens import Scale, Scaled, Tokens, floored, grown_by, log_of, scaled_sum, tamed
from rankmath.attention.views import LINEAR_LOG
from rankmath.model.network import Attention, LayerNorm
from rankmath.model.positions import turned
from rankmath.validation import Array


@dataclass(frozen=True)
class Factors:
    """What the logits of a head are made of, all times √d_qk: c = column, E = left rightᵀ.

    `log_weights` is what the unit of E is beside e^{2σ}, where E is a square of the residual; None where it is not.
    """

    scores: Array
    column: Scaled
    left: Scaled
    right: Scaled
    log_weights: Array | None
    reference: Scaled = (None, 0)  # q̂, (..., 1, k), and
    pivot: Scaled = (None, 0)  # k_{j*}, which caps ask for
    lost_bits: Array = 0.0


@dataclass(frozen=True)
class Rows:
    """Queries and keys of every head before they are turned, as tokens."""

    queries: tuple[Tokens, ...]
    keys: tuple[Tokens, ...]

    @classmethod
    def of(cls, A: System, attention: Attention, tokens: Tokens) -> Rows:
        H, tokens = attention.heads, replace(tokens, lost_bits=0.0)  # bits that are lost here are counted
        every = 1 if attention.kv_heads is None else H // attention.kv_heads
        sides: list[tuple[Tokens, ...]] = []
        for side, (W, b) in enumerate(((attention.query, attention.b_Q), (attention.key, attention.b_K))):
            step = every if side else 1  # heads of one group have one key
            heads = range(0, H, step)
            gain: Array | None = None if attention.qk_norm is None else attention.qk_norm[side]
            if gain is not None and gain.shape[0] != attention.query.shape[-1]:
                assert attention.qk_norm is not None
                rows = _normed_together(A, tokens, W, b, heads, gain, attention.qk_norm[2])
            else:
                rows = [_projected(A, tokens, W, b, h) for h in heads]
                if gain is not None:
                    assert attention.qk_norm is not None
                    norm = LayerNorm("rms", attention.qk_norm[2], gain)
                    rows = [norm_step(A, norm, row) for row in rows]
            sides.append(tuple(rows[h // step] for h in range(H)))
        return cls(*sides)


def _projected(A: System, tokens: Tokens, W: Array, b: Array, h: int) -> Tokens:
    """X W_h + 1b_hᵀ."""
    if W is None:
        return tokens
    matrix, log = tamed(A, A.asarray(W[h, ...]))
    centers = [(A.matmul(tokens.center, matrix), tokens.log_center + log)]
    if b is not None:
        centers.append((A.asarray(b[h, ..., None, :]), 0))
    center, log_center = scaled_sum(A, centers)
    residual = A.matmul(tokens.residual, matrix)
    if A.unbounded:
        return Tokens(center, residual)
    return Tokens(center, residual, log_center, tokens.log_residual.plus(log), tokens.lost_bits)


def _normed_together(
    A: System, tokens: Tokens, W: Array, b: Array, heads: range, gain: Array, eps: float
) -> list[Tokens]:
    """RMSNorm of the queries (or keys) of all heads as one vector, cut into heads again."""
    parts, k = [_projected(A, tokens, W, b, h) for h in heads], W.shape[-1]
    joined = parts[0]
    if A.unbounded:
        joined = Tokens(*(A.concat([getattr(p, name) for p in parts], axis=-1) for name in ("center", "residual")))
    else:
        logs = [p.log_center + 0.0 * p.log_residual.to_float() for p in parts]
        top = logs[0]
        for log in logs[1:]:
            top = A.units.maximum(top, log)
        sigma = parts[0].log_residual
        centers = [p.center * A.factor(A.exp(log - top)) for p, log in zip(parts, logs, strict=True)]
        apart = [floored(A, p.log_residual.to_float()) - floored(A, sigma.to_float()) for p in parts]
        residuals = [p.residual * A.factor(A.exp(log)) for p, log in zip(parts, apart, strict=True)]
        joined = Tokens(A.concat(centers, axis=-1), A.concat(residuals, axis=-1), top, sigma, tokens.lost_bits)
    whole = norm_step(A, LayerNorm("rms", eps, gain), joined)
    cut = [slice(h * k, (h + 1) * k) for h in range(len(parts))]
    return [replace(whole, center=whole.center[..., :, part], residual=whole.residual[..., :, part]) for part in cut]


def factors_of(
    A: System,
    attention: Attention,
    queries: Tokens,
    keys: Tokens,
    scale: Scale,
    seen: Array | None,
    added: Array | None,
) -> Factors:
    """c and E of one head; j* is among the keys `seen`, and `added` to c, (n, 1), counts where they are given."""
    tables = None if attention.rotary is None else _tables(A, attention, keys.residual)
    of_queries, of_keys = Scale.of(A, queries), Scale.of(A, keys)
    x, y, S = queries.center, keys.center, keys.residual
    left: Scaled = (queries.residual, of_queries.sigma)
    flat: Scaled = (S, of_keys.sigma)  # the keys without y T_0
    if tables is not None:
        cos, sin = tables
        first = cos[..., :1, :], sin[..., :1, :]
        from_first = cos - first[0], sin - first[1]
        left = scaled_sum(
            A,
            [
                (_turned(A, x, *from_first, rest=0), of_queries.xi),
                (_turned(A, queries.residual, cos, sin), of_queries.sigma),
            ],
        )
        S = _turned(A, S, cos, sin)
        flat = scaled_sum(A, [(_turned(A, y, *from_first, rest=0), of_keys.xi), (S, of_keys.sigma)])
        x = _turned(A, x, *first)
    scores = A.matmul(flat[0], A.transpose(x))
    if added is not None:
        scores = added + in_true_size(A, scores, flat[1] + of_queries.xi, attention.d_qk)
    scores = A.middle(scores)
    if seen is not None:
        scores = A.hide(seen[:, None], scores)
    pivot, moved = A.relative_to_largest(scores, S)
    right: Scaled = (moved, of_keys.sigma)
    log_weights = None
    if tables is not None:
        (cos_there, d_cos), (sin_there, d_sin) = (_relative(A, scores, table) for table in tables)
        right = scaled_sum(A, [(_turned(A, y, d_cos, d_sin, rest=0), of_keys.xi), right])
        y = _turned(A, y, cos_there, sin_there)
    elif not A.unbounded:
        log_weights = left[1] + right[1] - 2 * scale.sigma
    column = A.matmul(right[0], A.transpose(x)), right[1] + of_queries.xi
    whole = scaled_sum(A, [(y, of_keys.xi), (pivot, of_keys.sigma)])
    lost = 0.0 if A.unbounded else A.units.maximum(queries.lost_bits, keys.lost_bits)
    return Factors(scores, column, left, right, log_weights, (x, of_queries.xi), whole, lost)


def _relative(A: System, scores: Array, table: Array) -> tuple[Array, Array]:
    """The row of a table at j*, and the table minus it, as arrays that can be sliced."""
    row, apart = A.relative_to_largest(scores, A.asarray(table))
    return (A.array(row), A.array(apart)) if A.unbounded else (row, apart)


def in_true_size(A: System, products: Array, log: Array, d_qk: float) -> Array:
    """Products of queries and keys, in units of e^log, over √d_qk; held down where a double would overflow."""
    if A.unbounded:
        return products * (1 / A.sqrt(A.asarray(A.constant(d_qk))))
    return grown_by(A, products, log - math.log(d_qk) / 2, log_of(A, A.largest(products)))


def _tables(A: System, attention: Attention, rows: Array) -> tuple[Array, Array]:
    """Cosines and sines of the places, one matrix for each of a batch, as arrays that can be sliced."""
    assert attention.rotary is not None
    n, lead = int(rows.shape[-2]), tuple(rows.shape[:-2])

    def ready(table: Array) -> Array:
        table = A.array(A.asarray(table[:n, :])) if A.unbounded else table[:n, :]
        return array_namespace(table).broadcast_to(table, (*lead, *table.shape)) if lead else table

    return ready(attention.rotary.cos), ready(attention.rotary.sin)


def _turned(A: System, rows: Array, cos: Array, sin: Array, rest: int = 1) -> Array:
    if A.unbounded:
        return A.asarray(turned(A.array(rows), cos, sin, rest=rest))
    return turned(rows, cos, sin, rest=rest)


# -- what positions and caps add to E --------------------------------------------------------------------------


def position_offsets(A: System, B: Array, scores: Array) -> tuple[Array, Array]:
    """What B (..., n, n) adds to c, (..., n, 1), and to E: B_ij − B_0j − B_ij* + B_0j*, from exact differences."""
    BT = A.transpose(A.asarray(B))
    there, D = A.relative_to_largest(scores, BT)  # column j* of B, and the others minus it
    first = D[..., :, :1]
    if A.unbounded:
        return first, A.transpose(D - first)
    # The rounding of a first difference must not meet the cancellation of a second one.
    back = D - BT
    rounded = (BT - (D - back)) - (there + back)
    return first, A.transpose((D - first) + (rounded - rounded[..., :, :1]))


def capped(A: System, t: float, base: Array, delta: Array, c: Array, g: Array) -> Array:
    """tanh(s + δ_i + c_j + g_ij) − tanh(s + c_j) − tanh(s + δ_i) + tanh(s) times t, s = `base`, all given over t.

    Where c, δ or g is not small: a difference of two differences, of the smaller ones. Else, with u = tanh s,
    w = tanh(s + δ), γ = tanh c and γ' = tanh(c + g),

        ((γ' − γ)(1 − w²) − (w − u) γ (w + u + γ'(1 + uw)))/((1 + wγ')(1 + uγ)).
    """
    near = A.certainly_positive(A.constant(0.25) - A.maximum(A.abs(g), A.maximum(A.abs(c), A.abs(delta)) + 0 * g))
    steps = [_step(A, base + c, delta + g), _step(A, base, delta) + 0 * g]
    others = [_step(A, base + delta, c + g), _step(A, base, c) + 0 * g]
    sizes = [A.maximum(*(A.abs(step) for step in pair)) for pair in (steps, others)]
    apart = A.where(A.certainly_positive(sizes[1] - sizes[0]), steps[0] - steps[1], others[0] - others[1])
    # The formula divides by numbers that underflow where the differences are large: there it is read at 0.
    delta, c, g = (A.where(near, v + 0 * g, 0 * g) for v in (delta, c, g))
    moved, beyond = c + g, base + delta
    u, w, first, second = A.tanh(base), A.tanh(beyond), A.tanh(c), A.tanh(moved)
    top = _step(A, c, g) * _sech2(A, beyond) - _step(A, base, delta) * (first * (w + u + second * (u * w + 1)))
    small = top / (_joined(A, beyond, moved) * _joined(A, base, c))
    return A.where(near, small, apart) * A.constant(t)


def _step(A: System, a: Array, b: Array) -> Array:
    """tanh(a + b) − tanh(a), that is tanh(b) · 2e^{|b| − |a| − |a + b|} f(b)/(f(a) f(a + b)), f(x) = 1 + e^{−2|x|}.

    The exponent is at most 0, and no denominator is below 1.
    """
    sizes = [A.abs(v) for v in (b, a, a + b)]
    change, start, end = (A.exp(size * -2) + 1 for size in sizes)
    return A.tanh(b) * A.exp(sizes[0] - sizes[1] - sizes[2]) * change * 2 / (start * end)


def _sech2(A: System, a: Array) -> Array:
    """1 − tanh² a."""
    e = A.exp(A.abs(a) * -2)
    return e * 4 / ((e + 1) * (e + 1))


def _joined(A: System, a: Array, b: Array) -> Array:
    """1 + tanh(a) tanh(b) = cosh(a + b)/(cosh a cosh b), without a sum that may cancel."""
    sizes = [A.abs(v) for v in (a + b, a, b)]
    both, one, other = (A.exp(size * -2) + 1 for size in sizes)
    return A.exp(sizes[0] - sizes[1] - sizes[2]) * both * 2 / (one * other)


def capped_floats(A: Float64, t: float, found: Factors, log_root: float) -> tuple[Array, Scaled]:
    """c of capped logits, and E as a matrix with the logarithm of its unit."""
    per_cap = -log_root - math.log(t)

    def product(a: Scaled, b: Scaled) -> Scaled:
        return A.matmul(a[0], A.transpose(b[0])), a[1] + b[1] + per_cap

    def grown(a: Scaled) -> Array:
        return grown_by(A, a[0], a[1], log_of(A, A.largest(a[0])))

    column, delta, g = (
        (found.column[0], found.column[1] + per_cap),
        product(found.left, found.pivot),
        product(found.left, found.right),
    )
    s, c = grown(product(found.reference, found.pivot)), grown(column)
    shift, slope = _step(A, s, c), _sech2(A, s)
    sizes = [float(A.units.max(log_of(A, A.largest(a)) + log)) for a, log in (column, delta, g)]
    if max(sizes) > LINEAR_LOG:
        return shift * t, (capped(A, t, s, grown(delta), A.transpose(c), grown(g)), 0.0 * g[1])
    # Below rounding: g(1 − u²) − 2u(1 − u²) δ c, each in its unit.
    bent = A.matmul(delta[0], A.transpose(column[0])) * (-2.0 * A.tanh(s) * slope)
    matrix, log = scaled_sum(A, [(g[0] * slope, g[1]), (bent, delta[1] + column[1])])
    return shift * t, (matrix * t, log)


def capped_objects(A: System, t: float, found: Factors, per_root: Array) -> tuple[Array, Array]:
    """The same with unbounded exponents: c and E."""
    over = per_root / A.constant(t)
    c, left = found.column[0] * over, found.left[0] * over
    s = A.matmul(found.reference[0], A.transpose(found.pivot[0])) * over
    delta, g = A.matmul(left, A.transpose(found.pivot[0])), A.matmul(left, A.transpose(found.right[0]))
    return _step(A, s, c) * A.constant(t), capped(A, t, s, delta, A.transpose(c), g)
