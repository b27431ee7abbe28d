"""One head and few tokens: the bound of 2021 with γ = 1 is true. The part of the proof that balls do.

proofs/dong2021v1.tex, Theorem "few tokens", shows that a layer of n tokens that violates the bound has numbers B
(= ‖W_QK‖₁‖R‖²_{1,∞}/√d_qk) and q (the largest weight of a key) for which none of the cases A, D, M below applies.
`prove` covers 4 ≤ B, 16B² ≤ n, 0 ≤ q ≤ 1 with boxes, in each of which one of them does.
"""

import math

from rankmath.validation import InvalidArgument, Number, as_count

#: True for so many tokens; `many_tokens.counterexample` has 3568.
FEW_TOKENS = 3534

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
    heavy, C = bool(q >= _HEAVY), 16 * B * B
    r = (1 - q) * B.expm1()
    if q * n * r / (n + r) + (B / 2 if heavy else B) <= C / 2:  # case A: the center qᵀR
        return True
    if not heavy:
        return bool(q > 0) and _infeasible(n, B, q, 1, False)
    seen = B + (1 - q) * (n - (C - B) / (2 * q)) <= C / (1 + q)  # case D: centers λq_k R_k, k the heaviest key
    return (bool(seen) and _infeasible(n, B, q, 0.25, True)) or _infeasible(n, B, q, 0.25, False)  # M: λqᵀR


def _infeasible(n: int, B: Number, q: Number, slop: float, lone: bool) -> bool:
    """J > (1 − q)(e^B − 1) at the slop given, and J > 0 at slop ½ where the slop is ¼."""
    from flint import arb, arb_series

    B0, q0 = arb(B.mid()), arb(q.mid())
    lam = arb(_root(n, float(B0), float(q0), slop, lone))
    if slop < 1 and not _needed(n, B, q, 0.5, lam, lone) > 0:
        return False

    def gap(B: Number, q: Number) -> Number:
        return _needed(n, B, q, slop, lam, lone) - (1 - q) * (B.exp() - 1)

    if gap(B, q) > 0:
        return True
    along_B = gap(arb_series([B, 1]), arb_series([q]))[1]
    along_q = gap(arb_series([B]), arb_series([q, 1]))[1]
    return bool(gap(B0, q0) + along_B * (B - B0) + along_q * (q - q0) > 0)  # mean value form


def _needed(n: int, B: Number, q: Number, slop: float, lam: Number, lone: bool) -> Number:
    """J = g(1) + ∫_λ^1 t⁻³(g(t) + g(1) − n(1 − t))dt, g(t) = (16B²/(1 + ρt) − slop·B)/q; ρ = q or 1."""
    C, rho = 16 * B * B, q if lone else q * 0 + 1
    top = (C / (1 + rho) - slop * B) / q
    # t⁻³/(1 + ρt) = t⁻³ − ρt⁻² + ρ²t⁻¹ − ρ³/(1 + ρt)
    inverse = 1 / lam
    integral = (
        (inverse**2 - 1) / 2 - rho * (inverse - 1) + rho * rho * ((1 + rho * lam).log() - (1 + rho).log() - lam.log())
    )
    return top + C * integral / q + (top - slop * B / q - n) * ((inverse**2 - 1) / 2) + n * (inverse - 1)


def _root(n: int, B: float, q: float, slop: float, lone: bool) -> float:
    """The λ at which the integrand of J changes sign, in floats: any λ is allowed, this one is best."""
    C, rho = 16 * B * B, q if lone else 1.0
    top = (C / (1 + rho) - slop * B) / q

    def integrand(t: float) -> float:
        return (C / (1 + rho * t) - slop * B) / q + top - n * (1 - t)

    low, high = min(max((math.sqrt(C * rho / (q * n)) - 1) / rho, 0.02), 1.0), 1.0  # it is convex, least there
    if integrand(low) >= 0:
        return 0.02
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if integrand(middle) > 0 else (middle, high)
    return high
