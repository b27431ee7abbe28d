"""Differences of activations, (act(u + s·t) − act(u))/s, without subtracting nearly equal values.

u is the center's pre-activation, t the residual's in units of s = e^σ (s = 1 where exponents are unbounded). In
float64 u and s may be given over a unit `grow` = e^M, to be multiplied up only where it matters.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from rankmath.arithmetic.protocol import System
from rankmath.validation import Array, Number

# GELU's Taylor series runs while |δ| is below this; beyond, tails that differ lose at most a few bits.
_GELU_SERIES = 0.125
# The normal density, and 1 − tanh g for the gates below, are zero in float64 beyond this.
_FAR = 40.0
_FAR_GATE = 800.0
# The gated activations x(1 + tanh g(x))/2 with g(x) = a x + b x³: a and b, as fractions times √(2/π) or 1.
_GATES: dict[str, tuple[Fraction, Fraction, bool]] = {
    "gelu_tanh": (Fraction(1), Fraction(44715, 10**6), True),
    "silu": (Fraction(1, 2), Fraction(0), False),
    "quick_gelu": (Fraction(851, 1000), Fraction(0), False),
}

#: The activations that have code here.
CODED_ACTIVATIONS = frozenset(["relu", "tanh", "gelu", *_GATES])


def activate(A: System, activation: str, u: Array, grow: Array = 1) -> Array:
    """act(grow·u), for relu and gelu over grow; nobody else holds u."""
    if activation == "relu":
        return A.maximum(u, 0 * u)
    if activation == "tanh":
        return A.tanh(grow * u)
    if activation in _GATES:
        return u * _open(A, _gate(A, activation, _held(A, grow * u)))
    return u * _normal_cdf(A, grow * u)


def activation_difference(A: System, activation: str, u: Array, t: Array, s: Array, grow: Array = 1) -> Array:
    """(act(u + s t) − act(u))/s, entry by entry."""
    if activation in _GATES:
        return _gated(A, activation, u + 0 * t, t, s, grow)
    if activation == "gelu":
        return _gelu(A, u, t, s, grow)
    return {"relu": _relu, "tanh": _tanh}[activation](A, u + 0 * t, t, s, grow)


def _relu(A: System, u: Array, t: Array, s: Array, grow: Array) -> Array:
    """u > 0: max(t, −u/s);  u ≤ 0: max(t + u/s, 0)."""
    if A.unbounded:
        return A.choose(u, A.maximum(t, -u), A.maximum(u + t, 0 * u))
    # u/s only where the sign changes: there it is no larger than t.
    xp = A.xp
    crosses = (u > 0) != (u + s * t > 0)
    ratio = xp.where(crosses, u, 0.0) / A.nonzero(s)
    below = xp.where(u < 0, xp.where(crosses, t + ratio, 0.0), xp.maximum(t, 0.0))
    return xp.where(u > 0, xp.where(crosses, -ratio, t), below)


def _tanh(A: System, u: Array, t: Array, s: Array, grow: Array) -> Array:
    """tanh(a) − tanh(b) = sinh(a − b)/(cosh a cosh b)."""
    if A.unbounded:
        return A.sinh(t) / (A.cosh(u) * A.cosh(u + t))
    # sinh(δ) e^{−|a|−|b|}: the exponent is −2 min(|a|, |b|) for one sign and 0 for two.
    xp = A.xp
    a, b = u + s * t, u
    same = (a > 0) == (b > 0)
    size_a, size_b, size = (grow * xp.abs(v) for v in (a, b, s * t))
    decay = xp.where(same, A.exp(-2.0 * xp.minimum(size_a, size_b)), 1.0)
    tiny = size < 1e-300
    sinhc = xp.where(tiny, 1.0, -xp.expm1(-2.0 * size) / xp.where(tiny, 1.0, 2.0 * size))
    return 4.0 * t * sinhc * decay / ((1.0 + A.exp(-2.0 * size_a)) * (1.0 + A.exp(-2.0 * size_b)))


def _gated(A: System, activation: str, u: Array, t: Array, s: Array, grow: Array) -> Array:
    """With σ(x) = (1 + tanh g(x))/2, a = u + s t and b = u: aσ(a) − bσ(b) = s t σ(b) + a (σ(a) − σ(b)).

    σ(a) − σ(b) = sinh(g(a) − g(b))/(2 cosh g(a) cosh g(b)), and g(a) − g(b) is a − b times a polynomial.
    """
    a, b = _held(A, grow * (u + s * t)), _held(A, grow * u)
    slope_a, slope_b = _gate_slopes(A, activation)
    between = (a * a + a * b + b * b) * slope_b + slope_a  # (g(a) − g(b))/(a − b)
    p, q = _gate(A, activation, a), _gate(A, activation, b)
    if A.unbounded:
        return t * _open(A, q) + a * A.sinh(t * between) / (2 * A.cosh(p) * A.cosh(q))
    # A held place is so far out that the gate is open or shut; there the difference of the held places counts.
    xp = A.xp
    step, inside = grow * s * t, (xp.abs(a) < _FAR_GATE) & (xp.abs(b) < _FAR_GATE)
    delta = xp.abs(xp.where(inside, step, a - b) * between)
    tiny = delta < 1e-300
    sinhc = xp.where(tiny, 1.0, -xp.expm1(-2.0 * delta) / xp.where(tiny, 1.0, 2.0 * delta))  # e^{−δ} sinh(δ)/δ
    # sinh(δ)/(2 cosh p cosh q) = δ sinhc 2e^{δ − |p| − |q|}/…: exponent −2 min(|p|, |q|) for one sign, 0 for two.
    same = (p > 0) == (q > 0)
    decay = xp.where(same, A.exp(-2.0 * xp.minimum(xp.abs(p), xp.abs(q))), 1.0)
    rate = 2.0 * between * sinhc * decay / ((1.0 + A.exp(-2.0 * xp.abs(p))) * (1.0 + A.exp(-2.0 * xp.abs(q))))
    # (σ(a) − σ(b))/(s t), over `grow` like everything here.
    share = xp.where(inside, 1.0, (a - b) / xp.where(inside, 1.0, A.nonzero(step)))
    return t * (_open(A, q) + grow * (u + s * t) * rate * share)


def _gate_slopes(A: System, activation: str) -> tuple[Number, Number]:
    """a and b of g(x) = a x + b x³."""
    first, third, scaled = _GATES[activation]
    if not A.unbounded:
        scale = math.sqrt(2.0 / math.pi) if scaled else 1.0
        return float(first) * scale, float(third) * scale
    scale = 2 / A.root_two_pi if scaled else A.one
    return tuple(scale * A.constant(part.numerator) / part.denominator for part in (first, third))


def _gate(A: System, activation: str, x: Array) -> Array:
    slope, cubic = _gate_slopes(A, activation)
    return x * (x * x * cubic + slope)


def _open(A: System, gate: Array) -> Array:
    """(1 + tanh g)/2 = 1/(1 + e^{−2g}), in float64 1/(1 + e) or e/(1 + e) with e = e^{−2|g|}."""
    if A.unbounded:
        return 1 / (1 + A.exp(-2 * gate))
    e = A.exp(-2.0 * A.abs(gate))
    return A.where(gate > 0, 1.0, e) / (1.0 + e)


def _held(A: System, x: Array) -> Array:
    return x if A.unbounded else A.xp.clip(x, min=-_FAR_GATE, max=_FAR_GATE)


def _gelu(A: System, u: Array, t: Array, s: Array, grow: Array) -> Array:
    """t Σ_k gelu^(k)(u) δ^(k−1)/k! for small δ = s t, else a difference of tails."""
    if A.unbounded:
        small = A.certainly_positive(A.constant(_GELU_SERIES) - A.abs(t))
        near, far = A.where(small, t, 0 * t), A.where(small, A.one, t)
        order, place = _gelu_order(A.bits(), -A.upper_exponent(near)), u
    else:
        delta = s * t
        small = A.abs(grow * delta) <= _GELU_SERIES
        near, far = A.where(small, grow * delta, 0.0), A.where(small, 1.0, delta)
        order, place = 13, A.xp.clip(grow * u, min=-_FAR, max=_FAR)
    beyond = isinstance(small, np.ndarray) and not small.any()
    slope = t if beyond else _gelu_slope(A, u, place, near, order)
    if isinstance(small, np.ndarray) and small.all():
        return t * slope
    # aΦ(a) − bΦ(b) = δΦ(b) + a(Φ(a) − Φ(b)), the last from the upper tails if b > 0.
    below, above, upper = grow * u, grow * (u + far), A.certainly_positive(u)
    gained = _normal_cdf(A, A.where(upper, -above, above)) - _normal_cdf(A, A.where(upper, -below, below))
    gained = A.where(upper, -gained, gained)
    return t * A.where(small, slope, _normal_cdf(A, below) + (u + far) * gained / far)


def _gelu_slope(A: System, u: Array, place: Array, near: Array, order: int) -> Array:
    """Σ_k gelu^(k)(u) δ^(k−1)/k!, k = 1, …, order, by Horner's scheme: the center's derivatives are one row."""
    density = _normal_density(A, place)
    terms = [_normal_cdf(A, place) + place * density]
    for k, p in enumerate(gelu_polynomials(place, order - 1), start=2):
        density = density / k
        terms.append(density * p)
    if A.unbounded:
        # Lagrange's remainder, at a point between u and u + δ.
        between = u + near * A.between
        *_, p = gelu_polynomials(between, order)
        terms.append(_normal_density(A, between) * p / math.factorial(order))
    slope = terms.pop() + 0 * near
    while terms:
        slope = A.product_of_temporary(slope, near)
        slope = slope + terms.pop() if A.unbounded else A.sum_with_temporary(slope, terms.pop())
    return slope


def _gelu_order(bits: int, exponent: int) -> int:
    """The number k of terms that leaves δ^k gelu^(k)/k! ~ δ^k/√k! below 2^−bits for |δ| ≤ 2^−exponent ≤ 1/8."""
    k, left = 2, float(bits)
    while left > 2 * max(3, exponent):
        k += 1
        left -= max(3, exponent) + math.log2(k) / 2
    return k


def gelu_polynomials(x: Array, order: int) -> Iterator[Array]:
    """p_2(x), …, p_order(x) with gelu^(k) = φ p_k: p_k = (−1)^k (k He_{k−2} − x He_{k−1}), Hermite's He.

    >>> list(gelu_polynomials(3, 4))  # 2 − x², x³ − 4x, −x⁴ + 7x² − 4
    [-7, 15, -22]
    """
    before, hermite = 1, x
    for k in range(2, order + 1):
        yield (-1) ** k * (k * before - x * hermite)
        before, hermite = hermite, x * hermite - (k - 1) * before


def _normal_density(A: System, u: Array) -> Array:
    return A.exp(u * u / -2) / A.root_two_pi


def _normal_cdf(A: System, u: Array) -> Array:
    return A.erfc(-u / A.root_two) / 2 if A.unbounded else A.normal_cdf(u)
