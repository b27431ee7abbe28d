"""Where the cube comes from: softmax near constant attention, exactly and to first order.

One row of attention with logits c_j + E_j is P_j = q_j e^{E_j} / Σ_k q_k e^{E_k}, q = softmax(c). What the row
adds to q is of first order in E, and E = R W_QK Rᵀ/√d_qk is of second order in the residual R: so attention
moves the residual by its third power.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from rankmath.symbolic.proof import Expr, Proof, Step
from rankmath.validation import as_count


def normalised(weights: Sequence[Expr]) -> list[Expr]:
    """Weights divided by their sum: softmax, once the logits are exponentiated.

    Examples
    --------
    >>> normalised(sp.symbols("a b"))
    [a/(a + b), b/(a + b)]
    """
    total = sp.Add(*weights)
    return [weight / total for weight in weights]


def average(weights: Sequence[Expr], values: Sequence[Expr]) -> Expr:
    """Σ_k q_k v_k."""
    return sp.Add(*(q * v for q, v in zip(weights, values, strict=True)))


def centred_form(weights: Sequence[Expr], exponentials: Sequence[Expr]) -> list[Expr]:
    """Q_j = q_j (m_j - m̄)/(1 + m̄), m_j = e^{E_j} - 1, m̄ = Σ_k q_k m_k, from q and e^E.

    Examples
    --------
    >>> q = sp.Rational(1, 2)
    >>> centred_form([q, q], [sp.Integer(3), sp.Integer(1)])
    [1/4, -1/4]
    """
    m = [e - 1 for e in exponentials]
    mean = average(weights, m)
    return [q * (mj - mean) / (1 + mean) for q, mj in zip(weights, m, strict=True)]


def prove_centred_form(tokens: int, claim: Sequence[Expr] | None = None) -> Proof:
    """P_j - q_j = q_j (m_j - m̄)/(1 + m̄) identically, for one row over `tokens` keys; and these sum to zero.

    The unknowns are w_j = e^{c_j} and x_j = e^{E_j}, any positive numbers. `claim` replaces the right sides.

    Examples
    --------
    >>> prove_centred_form(3).proved
    True
    """
    tokens = as_count("tokens", tokens, least=2, most=6)
    w, x = sp.symbols(f"w0:{tokens}", positive=True), sp.symbols(f"x0:{tokens}", positive=True)
    q = normalised(w)
    P = normalised([wj * xj for wj, xj in zip(w, x, strict=True)])
    Q = list(claim) if claim is not None else centred_form(q, x)
    entries = (Step(f"entry {j}", P[j] - q[j], "=", Q[j]) for j in range(tokens))
    total = Step("the row sums to zero", sp.Add(*Q), "=", 0)
    return Proof(f"centred form of an attention row over {tokens} keys", (), (*entries, total)).check()


def prove_first_order(tokens: int, claim: Sequence[Expr] | None = None) -> Proof:
    """P_j = q_j + q_j (E_j - Ē) + O(E²), Ē = Σ_k q_k E_k: the Taylor coefficients along E → tE.

    `claim`, in the symbols q0, q1, … and E0, E1, …, replaces q_j (E_j - Ē).

    Examples
    --------
    >>> prove_first_order(3).proved
    True
    """
    tokens = as_count("tokens", tokens, least=2, most=6)
    q, E, t, P = _row_along_ray(tokens)
    first = list(claim) if claim is not None else [qj * (Ej - average(q, E)) for qj, Ej in zip(q, E, strict=True)]
    unit = {q[-1]: 1 - sp.Add(*q[:-1])}
    steps = []
    for j in range(tokens):
        steps.append(Step(f"order 0, entry {j}", sp.Subs(P[j], t, 0), "=", q[j], where=unit))
        steps.append(Step(f"order 1, entry {j}", sp.Subs(sp.Derivative(P[j], t), t, 0), "=", first[j], where=unit))
    return Proof(f"softmax to first order, {tokens} keys", (r"$\sum_j q_j = 1$",), tuple(steps)).check()


def prove_cubic_order(tokens: int, claim: Expr | None = None) -> Proof:
    """Along R → tR a token's residual is t³ Σ_j q_j (E_j - Ē) r_j + O(t⁵): no t, no t², no t⁴.

    r_j is a coordinate of (R W)_j, E_j an entry of R W_QK Rᵀ/√d_qk, hence t r_j and t² E_j along the ray.
    `claim` replaces the coefficient of t³.

    Examples
    --------
    >>> prove_cubic_order(2).claim
    'attention moves the residual by its cube, 2 keys'
    """
    tokens = as_count("tokens", tokens, least=2, most=4)
    q, E, t, P = _row_along_ray(tokens)
    r = sp.symbols(f"r0:{tokens}", real=True)
    first = [qj * (Ej - average(q, E)) for qj, Ej in zip(q, E, strict=True)]
    cubic = claim if claim is not None else average(first, r)
    # With τ = t²: the residual along the ray is t f(t²).
    f = average([Pj - qj for Pj, qj in zip(P, q, strict=True)], r)
    moved = t * f.subs(t, t**2)
    unit = {q[-1]: 1 - sp.Add(*q[:-1])}
    steps = (
        Step("no even orders", moved.subs(t, -t), "=", -moved),
        Step("order 1", sp.Subs(f, t, 0), "=", 0, where=unit),
        Step("order 3", sp.Subs(sp.Derivative(f, t), t, 0), "=", cubic, where=unit),
    )
    return Proof(f"attention moves the residual by its cube, {tokens} keys", (r"$\sum_j q_j = 1$",), steps).check()


def _row_along_ray(tokens: int) -> tuple[tuple[Expr, ...], tuple[Expr, ...], Expr, list[Expr]]:
    """q, E, t, and the row P_j(tE) = q_j e^{tE_j} / Σ_k q_k e^{tE_k}."""
    q = sp.symbols(f"q0:{tokens}", positive=True)
    E = sp.symbols(f"E0:{tokens}", real=True)
    t = sp.Symbol("t", real=True)
    return q, E, t, normalised([qj * sp.exp(t * Ej) for qj, Ej in zip(q, E, strict=True)])
