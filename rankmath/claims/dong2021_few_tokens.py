"""One head and few tokens: the bound of 2021 with γ = 1 is true. The part of the proof that balls do.

proofs/dong2021v1.tex, Theorem "few tokens", shows that a layer of n tokens that violates the bound has numbers B
(= ‖W_QK‖₁‖R‖²_{1,∞}/√d_qk) and q (the largest weight of a key) for which none of the cases A, D, M, G below applies.
`prove` covers 4 ≤ B, 16B² ≤ n, 0 ≤ q ≤ 1 with boxes, in each of which one of them does.
"""

import math

from rankmath.validation import InvalidArgument, Number, as_count

#: True for so many tokens; `many_tokens.counterexample` has one more.
FEW_TOKENS = 3562

_MIXED = 0.05  # θ, a second choice
_HEAVY = 0.52  # above it the other keys together weigh less than the heaviest
_NARROWEST = 1e-5


def prove(tokens: int) -> int:
    """The number of boxes that prove the bound of 2021 for one head and at most so many tokens.

    Raises InvalidArgument where boxes of width 1e-5 do not decide.

    >>> prove(1000) > 0
    True
    """
    from flint import arb, ctx

    from rankmath.arithmetic.balls import precision

    n = as_count("tokens", tokens, least=2, most=10**6)
    end = max(4.0, math.sqrt(n) / 4 + 1e-3)
    todo = [(4.0, end, 0.0, _HEAVY), (4.0, end, _HEAVY, 1.0)]
    boxes, cap = 0, ctx.cap
    ctx.cap = 2  # power series are used for one derivative
    try:
        with precision(64):
            while todo:
                low, high, left, right = todo.pop()
                if _decided(n, arb(low).union(arb(high)), arb(left).union(arb(right))):
                    boxes += 1
                elif high - low < _NARROWEST:
                    raise InvalidArgument(f"tokens: {n} given; not decided near B = {low}, q = {left}")
                elif high - low > 8 * (right - left):
                    middle = (low + high) / 2
                    todo += [(low, middle, left, right), (middle, high, left, right)]
                else:
                    middle = (left + right) / 2
                    todo += [(low, high, left, middle), (low, high, middle, right)]
    finally:
        ctx.cap = cap
    return boxes


def _decided(n: int, B: Number, q: Number) -> bool:
    from flint import arb

    heavy, C = bool(q >= _HEAVY), 16 * B * B
    r = (1 - q) * B.expm1()
    if q * n * r / (n + r) + (B / 2 if heavy else B) <= C / 2:  # case A: the center qᵀR
        return True
    if not heavy:
        return bool(q > 0) and _infeasible(n, B, q, 1, False)
    if _infeasible(n, B, q, 0.25, False):  # case M: centers λqᵀR
        return True
    for theta in (arb(0), arb(_MIXED)):  # case D: λq_k R_k, k the heaviest key, and θ of the others
        others = n * (1 - theta) - (C - B) / (2 * q) + theta**2 * r / (2 - 2 * theta)
        if B + (1 - q) * others <= C / (1 + q + theta * (1 - q)) and _infeasible(n, B, q, 0.25, True, theta):
            return True
    return _guarded(n, B, q)  # case G: centers near those of D, and what two far rows cost


def _infeasible(n: int, B: Number, q: Number, slop: float, lone: bool, theta: Number = 0) -> bool:
    """J > (1 − q)(e^B − 1) at the slop given, and J > 0 at slop ½ where the slop is ¼."""
    from flint import arb, arb_series

    B0, q0 = arb(B.mid()), arb(q.mid())
    lam = arb(_root(n, float(B0), float(q0), slop, lone))
    if slop < 1 and not _needed(n, B, q, 0.5, lam, lone, theta) > 0:
        return False

    def gap(B: Number, q: Number) -> Number:
        return _needed(n, B, q, slop, lam, lone, theta) - (1 - q) * (B.exp() - 1)

    if gap(B, q) > 0:
        return True
    along_B = gap(arb_series([B, 1]), arb_series([q]))[1]
    along_q = gap(arb_series([B]), arb_series([q, 1]))[1]
    return bool(gap(B0, q0) + along_B * (B - B0) + along_q * (q - q0) > 0)  # mean value form


def _needed(n: int, B: Number, q: Number, slop: float, lam: Number, lone: bool, theta: Number = 0) -> Number:
    """J = g(1) + ∫_λ^1 t⁻³(g(t) + g(1) − n(1 − t))dt, g(t) = (16B²/(1 + θ(1 − q) + ρt) − slop·B)/q; ρ = q or 1."""
    whole = 1 + theta * (1 - q)
    C, rho = 16 * B * B / whole, (q if lone else q * 0 + 1) / whole
    top = (C / (1 + rho) - slop * B) / q
    # t⁻³/(1 + ρt) = t⁻³ − ρt⁻² + ρ²t⁻¹ − ρ³/(1 + ρt)
    inverse = 1 / lam
    integral = (
        (inverse**2 - 1) / 2 - rho * (inverse - 1) + rho * rho * ((1 + rho * lam).log() - (1 + rho).log() - lam.log())
    )
    return top + C * integral / q + (top - slop * B / q - n) * ((inverse**2 - 1) / 2) + n * (inverse - 1)


def _root(n: int, B: float, q: float, slop: float, lone: bool, delta: float = 0.0) -> float:
    """The λ at which the integrand of J changes sign, in floats: any λ is allowed, this one is best."""
    C, rho, a = 16 * B * B, q if lone else 1.0, 1 - delta
    top = (C / (a + rho) - slop * B) / q

    def integrand(t: float) -> float:
        return (C / (a + rho * t) - slop * B) / q + top - n * (1 - t)

    low, high = min(max((math.sqrt(C * rho / (q * n)) - a) / rho, 0.02), 1.0), 1.0  # it is convex, least there
    if integrand(low) >= 0:
        return 0.02
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if integrand(middle) > 0 else (middle, high)
    return high


# -- case G ----------------------------------------------------------------------------------------------------

_PRICE = 4.05  # μ, of a unit of Σ|E_ik|; any number from 1 on is allowed
_FLOOR = 1.4 * _PRICE  # y₀: a far row whose other keys weigh less is treated as if they weighed this
_SHIFT = 0.08  # the largest share of a far row that the center takes
_NEAR = 0.0036  # δ₀, where the tangent of J is taken
_SPOILT = 0.5  # from this ν on, what negative entries of E cost is enough


def _guarded(n: int, B: Number, q: Number) -> bool:
    """No layer has these B and q, by the resource that two rows far from every center cost beside J."""
    from flint import arb, arb_series

    C, mu = 16 * B * B, arb(_PRICE)
    B0, q0 = arb(B.mid()), arb(q.mid())
    x0 = arb(max(_root(n, float(B0), float(q0), 0.0, True, _NEAR), 1.01 / (float(q0) + _PRICE)) * float(q0))
    T = (1 - q) / _FLOOR
    capped = _SHIFT * (1 - _SPOILT / 4 - q / (q + mu) - T) - T  # from there on the two rows do not matter
    if not (
        x0 < q
        and x0 * (q + mu) >= q  # f(p) = q/p − 1 on [x₀, q]
        and mu * x0**2 >= q**2 * (1 - q)
        and 2 * x0 >= 2 * T + _SHIFT + capped
        and q / (q + mu) - T >= capped
        and capped > 0
        # no row is longer than 1 + q + T
        and B + (1 - q) * (n - (C - B) / (2 * q) + n / arb(_FLOOR)) + n * arb(_SHIFT) <= C / (1 + q + T)
    ):
        return False
    if not all(_resource(n, B, q, x0, capped, nu)[0] > _spent(B, q, nu) for nu in (0, _SPOILT)):
        return False
    if not all(_resource(n, B, q, x0, arb(0), nu)[0] > _spent(B, q, nu) for nu in (_SPOILT, B)):
        return False
    slope = _resource(n, B, q, x0, arb(_NEAR), 0)[1]
    if not (slope / B.expm1()).sqrt() * (B / 2).exp() < slope * (1 - _SPOILT):  # `rest` of _two_rows is convex in s
        return False
    for nu in (0.0, _SPOILT):

        def gap(B: Number, q: Number, nu: float = nu) -> Number:
            value, slope = _resource(n, B, q, x0, arb(_NEAR), nu)
            return value - slope * _NEAR + _two_rows(B, q, x0, slope, nu) - _spent(B, q, nu)

        if gap(B, q) > 0:
            continue
        along_B = gap(arb_series([B, 1]), arb_series([q]))[1]
        along_q = gap(arb_series([B]), arb_series([q, 1]))[1]
        if not gap(B0, q0) + along_B * (B - B0) + along_q * (q - q0) > 0:
            return False
    return True


def _spent(B: Number, q: Number, nu: Number) -> Number:
    """(1 − q)(e^B − 1)(1 − ν/B) + μB."""
    return (1 - q) * (B.exp() - 1) * (1 - nu / B) + _PRICE * B


def _resource(n: int, B: Number, q: Number, x0: Number, delta: Number, nu: Number) -> tuple[Number, Number]:
    """J = Γ(q)/q + q∫_{x₀}^q t⁻³(Γ(t) + Γ(q) − n(q − t))dt, Γ(t) = C/(1 + t − δ) − ν/4, and its derivative in δ."""
    C, a, rise = 16 * B * B, 1 - delta, 1 / x0 - 1 / q
    squares = (1 / x0**2 - 1 / (q * q)) / 2
    logs = (q / (a + q)).log() - (x0 / (a + x0)).log()
    # t⁻³/(a + t) = t⁻³/a − t⁻²/a² + t⁻¹/a³ − 1/(a³(a + t)); below, its derivative in a
    inner = squares / a - rise / a**2 + logs / a**3
    inner_a = -squares / a**2 + 2 * rise / a**3 - 3 * logs / a**4 - (1 / (a + q) - 1 / (a + x0)) / a**3
    end = C / (a + q) - nu / 4
    value = end / q + q * (C * inner + (end - nu / 4 - n * q) * squares + n * rise)
    slope = C / (a + q) ** 2 * (1 / q + q * squares) - q * C * inner_a
    return value, slope


def _two_rows(B: Number, q: Number, x0: Number, slope: Number, nu: float) -> Number:
    """Least of slope·δ and of the resource of two rows beside J, over their shares p₁, p₂ and weights y₁ ≥ y₂."""
    from flint import arb

    mu, u, T = arb(_PRICE), B.exp() - 1, (1 - q) / _FLOOR
    steep = slope * (1 - T) + q / x0**2
    p = (1 - (1 - 4 * mu / steep).sqrt()) / 2  # least of steep·p + μ log((1 − p)/p) for p < ½
    shares = 2 * (steep * p + mu * ((1 - p) / p * q).log() - (2 * q / x0 - 1) + q - 1)
    lost = 2 * (_FLOOR - mu * arb(_FLOOR).log() - mu + mu * mu.log())
    # y₂ + K/y₂ − μ log y₂ ≥ 2√(K(1 − μ/z)) − μ(log z − 1) for every z, K = slope(y₁ − 1 + q)/u
    z = arb(7)
    k = 2 * (slope / u * (1 - mu / z)).sqrt()
    # with s = √y₁, √(y₁ − 1 + q) ≥ s − (1 − q)/s; what is left is convex in s, by s² at least
    s = arb(6.55)
    over = slope * (1 - q) * (1 - nu + 1 / u)
    rest = over / s**2 + s**2 - 2 * mu * s.log() + k * (s - (1 - q) / s)
    rest_s = -2 * over / s**3 + 2 * s - 2 * mu / s + k * (1 + (1 - q) / s**2)
    return shares - lost - slope * (1 / u + T * nu) + rest - rest_s**2 / 4 - mu * (z.log() - 1)
