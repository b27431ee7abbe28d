"""Differences of activations, (act(u + s·t) − act(u))/s, without subtracting nearly equal values.

u is the center's pre-activation, t the residual's in units of s = e^σ (s = 1 where exponents are unbounded).
"""

from __future__ import annotations

from typing import Any

from rankmath.validation import Array

# GELU's Taylor series runs while |δ| is below this; the plain difference then loses at most a few bits.
_GELU_SERIES = 0.125


def activate(A: Any, activation: str, u: Array) -> Array:
    """act(u)."""
    if activation == "relu":
        return A.maximum(u, 0 * u)
    if activation == "tanh":
        return A.tanh(u)
    return u * _normal_cdf(A, u)


def activation_difference(A: Any, activation: str, u: Array, t: Array, s: Any) -> Array:
    """(act(u + s t) − act(u))/s, entry by entry."""
    return {"relu": _relu, "tanh": _tanh, "gelu": _gelu}[activation](A, u, t, s)


def _relu(A: Any, u: Array, t: Array, s: Any) -> Array:
    """u > 0: max(t, −u/s);  u ≤ 0: max(t + u/s, 0)."""
    u = u + 0 * t
    if A.unbounded:
        above, below = A.maximum(t, -u), A.maximum(u + t, 0 * u)
        return A.choose(u, above, below)
    # u/s saturates harmlessly where s underflows.
    xp = A.xp
    ratio = u / xp.maximum(s, xp.full_like(s, 1e-300))
    return xp.where(u > 0, xp.maximum(t, -ratio), xp.maximum(t + ratio, xp.zeros_like(t)))


def _tanh(A: Any, u: Array, t: Array, s: Any) -> Array:
    """tanh(a) − tanh(b) = sinh(a − b)/(cosh a cosh b)."""
    if A.unbounded:
        return A.sinh(t) / (A.cosh(u) * A.cosh(u + t))
    # sinh(δ) e^{−|a|−|b|}: the exponent is −2 min(|a|, |b|) for one sign and 0 for two.
    xp = A.xp
    delta = s * t
    a, b = u + delta, u
    same = (a > 0) == (b > 0)
    size_a, size_b = xp.abs(a), xp.abs(b)
    decay = xp.where(same, A.exp(-2.0 * xp.minimum(size_a, size_b)), xp.ones_like(a))
    size = xp.abs(delta)
    tiny = size < 1e-300
    sinhc = xp.where(tiny, xp.ones_like(a), -xp.expm1(-2.0 * size) / xp.where(tiny, xp.ones_like(a), 2.0 * size))
    return 4.0 * t * sinhc * decay / ((1.0 + A.exp(-2.0 * size_a)) * (1.0 + A.exp(-2.0 * size_b)))


def _gelu(A: Any, u: Array, t: Array, s: Any) -> Array:
    """t Σ_k gelu^(k)(u) δ^(k−1)/k! for small δ, with gelu^(k) = φ p_k, p_{k+1} = p_k' − x p_k for k ≥ 2."""
    u = u + 0 * t
    if A.unbounded:
        small = A.certainly_positive(A.constant(_GELU_SERIES) - A.abs(t))
        delta, near, far = t, A.where(small, t, 0 * t), A.where(small, A.one, t)
        # Terms up to δ^order; the last one, at a point between u and u + δ, is Lagrange's remainder.
        order = min(60, 2 + A.bits() // max(3, -A.upper_exponent(near)))
    else:
        delta = s * t
        small = A.abs(delta) <= _GELU_SERIES
        near, far = A.where(small, delta, 0.0 * delta), A.where(small, 0.0 * delta + 1.0, delta)
        order = 12
    slope = _normal_cdf(A, u) + u * _normal_density(A, u)
    power: Any = 1
    polynomials = gelu_derivative_polynomials(order)
    for k, coefficients in enumerate(polynomials, start=2):
        power = power * near / k
        place = u + near * A.between if A.unbounded and k == order else u
        slope = slope + _normal_density(A, place) * power * _horner(coefficients, place)
    direct = (activate(A, "gelu", u + far) - activate(A, "gelu", u)) / far
    return t * A.where(small, slope, direct)


def _normal_density(A: Any, u: Array) -> Array:
    return A.exp(u * u / -2) / A.root_two_pi


def _normal_cdf(A: Any, u: Array) -> Array:
    return A.erfc(-u / A.root_two) / 2


def gelu_derivative_polynomials(order: int) -> list[list[int]]:
    """Coefficients (constant first) of p_2, …, p_order in gelu^(k)(x) = φ(x) p_k(x); p_2 = 2 − x².

    Examples
    --------
    >>> gelu_derivative_polynomials(4)  # p_3 = x³ − 4x, p_4 = −x⁴ + 7x² − 4
    [[2, 0, -1], [0, -4, 0, 1], [-4, 0, 7, 0, -1]]
    """
    polynomials = [[2, 0, -1]]
    while len(polynomials) < order - 1:
        p = polynomials[-1]
        derivative = [k * c for k, c in enumerate(p)][1:]
        times_x = [0, *p]
        polynomials.append([(derivative[k] if k < len(derivative) else 0) - c for k, c in enumerate(times_x)])
    return polynomials


def _horner(coefficients: list[int], x: Any) -> Any:
    value: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value
