"""One layer in the composite ‖·‖_{1,∞} = √(‖·‖₁‖·‖_∞): where 4γβH/√d_qk (D2.2, D2.3) and C(δ) (O3) come from.

R = res(X), E = R W_QK Rᵀ/√d_qk, Q = P - 1qᵀ. Both arguments bound ‖QRW‖₁ and ‖QRW‖_∞ apart (the composite
has no triangle inequality) and multiply; max|E_ij| <= ‖E‖₁ <= ‖W_QK‖₁ ‖R‖²_{1,∞}/√d_qk turns E into the square.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from rankmath.symbolic.constants import prove_sandwich_upper, sandwich_upper
from rankmath.symbolic.diameter import (
    linearised,
    oscillation_within,
    prove_tanh_below_identity,
    prove_total_variation,
    total_variation,
)
from rankmath.symbolic.letters import (
    W_QK,
    W_V,
    D,
    W_inf_of,
    W_one_of,
    W_QK_of,
    beta,
    d_qk,
    delta,
    gamma,
    h,
    over_heads,
    q,
    q_of,
    residual,
    with_heads,
)
from rankmath.symbolic.proof import Expr, Proof, Step, chain

# Norms that only appear inside the proofs, and δ > 0.
_R1, _Rinf, _V1, _Vinf, _D1, _Dinf, _E1 = sp.symbols("R_1 R_inf V_1 V_inf D_1 D_inf E_1", positive=True)
_s = sp.Symbol("s", positive=True)
_COMPOSITE = {_Rinf: residual**2 / _R1}

_ENTRY = (
    r"with $Z = \sum_k q_k e^{E_k}$: $\sum_k q_k E_k \le \log Z$, "
    r"and $|E_k - E_j|$, $|E_j - \log Z|$ are at most $\delta$"
)
_HEADS = (
    r"$\beta \ge \sqrt{\max_h \|W_{QK,h}\|_1\|W_h\|_1 \cdot \max_h \|W_{QK,h}\|_1\|W_h\|_\infty}$: the printed "
    r"hypothesis for one head, a stronger one for several, because their 1- and $\infty$-bounds are summed apart"
)


def logits_bound() -> Expr:
    """‖E‖₁ <= ‖R‖₁ ‖W_QK‖₁ ‖Rᵀ‖₁/√d_qk, ‖Rᵀ‖₁ = ‖R‖_∞."""
    return _R1 * W_QK * _Rinf / sp.sqrt(d_qk)


def _one_head_with_gamma() -> Expr:
    """2γ ‖D1‖_∞ ‖R‖_{1,∞} ‖W‖_{1,∞}, the factor 2 from the sandwich."""
    return (sandwich_upper() - 1) / D * gamma * _Dinf * residual * W_V


@cache
def gamma_constant() -> Expr:
    """The coefficient of ‖R‖³ for one head, ‖W_QK‖₁‖W‖_{1,∞} = β, as the argument of D2.2 gives it.

    Examples
    --------
    >>> gamma_constant()
    4*beta*gamma/sqrt(d_qk)
    """
    head = _one_head_with_gamma().subs(_Dinf, oscillation_within(logits_bound()))
    return sp.simplify((head / residual**3).subs(_COMPOSITE).subs(W_V, beta / W_QK))


@cache
def prove_gamma_constant(claim: Expr) -> Proof:
    """`claim` · ‖R‖³_{1,∞}, `claim` = 4γβ/√d_qk, bounds one head of D2.2 (2023 form, γ = √(‖D1‖₁‖q‖_∞/‖D1‖_∞)).

    Examples
    --------
    >>> prove_gamma_constant(gamma_constant()).proved
    True
    """
    factor = (sandwich_upper() - 1) / D
    columns, rows = factor * _D1 * q * _R1 * _V1, factor * _Dinf * _Rinf * _Vinf
    head = _one_head_with_gamma()
    proof = Proof(
        "one layer in the composite norm, with gamma",
        (
            r"$D_{ii} \le x^*$, hence $|PR - \mathbf{1}q^\top R| \le 2D\mathbf{1}q^\top|R|$ by the sandwich",
            r"columns: $\|QRW\|_1 \le 2\|D\mathbf{1}\|_1\|q\|_\infty\|R\|_1\|W\|_1$",
            r"rows: $\|QRW\|_\infty \le 2\|D\mathbf{1}\|_\infty\|R\|_\infty\|W\|_\infty$",
            r"$D_{ii}$ is an oscillation of numbers in $[-\|E\|_1, \|E\|_1]$",
        ),
        (
            Step(
                "columns times rows, with gamma by its definition",
                sp.sqrt(columns * rows),
                "=",
                head,
                where={_D1: gamma**2 * _Dinf / q, _Vinf: W_V**2 / _V1, **_COMPOSITE},
            ),
            Step(
                "the oscillation in terms of the residual",
                claim * residual**3,
                "=",
                head.subs(_Dinf, oscillation_within(logits_bound())),
                where={**_COMPOSITE, W_V: beta / W_QK},
            ),
        ),
    ).check()
    return chain(proof.claim, prove_sandwich_upper(sandwich_upper()), proof)


@cache
def exponential_mean(x: Expr) -> Expr:
    """A(x) = ∫₀¹ e^{tx} dt = (e^x - 1)/x for x > 0.

    Examples
    --------
    >>> exponential_mean(delta)
    (exp(delta) - 1)/delta
    """
    t = sp.Symbol("t", real=True)
    return sp.simplify(sp.integrate(sp.exp(t * _s), (t, 0, 1))).subs(_s, x)


def prove_gamma_free(claim: Expr) -> Proof:
    """`claim`: O3 for any number of heads, C² = 2A(δ): the cases P > q and P < q taken apart,

    C(δ)/√d_qk · (Σ_h ‖q_h‖_∞‖W_QK,h‖₁‖W_h‖₁)^{1/2} (Σ_h ‖W_QK,h‖₁‖W_h‖_∞)^{1/2} ‖R‖³_{1,∞}.
    """
    named = {q_of[1]: q, W_QK_of[1]: W_QK, W_one_of[1]: _V1, W_inf_of[1]: _Vinf}
    columns, column = _columns("one layer in the composite norm, without gamma")
    alone = with_heads(claim, 1).subs(named)
    single = _columns_times_rows(columns, column=column, row=_row(), claim=alone)
    both_columns = column / _E1 * with_heads(over_heads(q_of[h] * W_QK_of[h] * W_one_of[h]), 2)
    both_rows = _row() / _E1 * with_heads(over_heads(W_QK_of[h] * W_inf_of[h]), 2)
    product = both_columns * both_rows * residual**6 / d_qk
    pair = Step("two heads", with_heads(claim, 2).subs(delta, _s) ** 2, "=", product)
    premise = r"the 1-norms of the heads add, and so do their $\infty$-norms"
    return chain(single.claim, single, Proof(single.claim, (premise,), (pair,)).check())


def prove_one_head(claim: Expr) -> Proof:
    """`claim`: O3 for one head, C(δ) ‖q‖_∞^{1/2} (‖W_QK‖₁‖W_V‖_{1,∞}/√d_qk) ‖R‖³_{1,∞} with C = √2 A(δ/2).

    C² = 2A(δ) tanh(δ/4)/(δ/4): with one head the total variation need not be linearised.
    """
    columns, column = _columns("one layer in the composite norm, without gamma, one head")
    # 2 tanh(δ/4) as a multiple of δ, and δ <= 2‖E‖₁.
    row = 2 * total_variation().subs(D, _s) / _s * oscillation_within(_E1)
    return _columns_times_rows(columns, column=column, row=row, claim=claim)


def _row() -> Expr:
    """‖Q‖_∞ <= twice the total variation, linearised, for logits within ±‖E‖₁."""
    return 2 * linearised(total_variation()).subs(D, oscillation_within(_E1))


@cache
def _columns(title: str) -> tuple[Proof, Expr]:
    """‖Q‖₁/‖q‖_∞ <= 2A(δ)‖E‖₁, from |P_j/q_j - 1| <= A(δ)(|E_j| + Σ_k q_k|E_k|)."""
    x, y = sp.symbols("x y", positive=True)
    proof = Proof(
        title,
        (_ENTRY,),
        (
            Step("where P > q: x is the logarithm of the ratio", sp.exp(x) - 1, "=", exponential_mean(x) * x),
            Step("where P < q: 1 + y is the ratio q/P", 1 - 1 / (1 + y), "<=", y),
            *_increasing(),
        ),
    ).check()
    return proof, exponential_mean(_s) * (_E1 + _E1)


def _columns_times_rows(columns: Proof, *, column: Expr, row: Expr, claim: Expr) -> Proof:
    """From ‖Q‖₁/‖q‖_∞ <= column and ‖Q‖_∞ <= row, both multiples of ‖E‖₁, to the composite norm."""
    norms = {_E1: logits_bound()}
    product = column.subs(norms) * q * _R1 * _V1 * row.subs(norms) * _Rinf * _Vinf
    roots = {W_V: sp.sqrt(_V1 * _Vinf), residual: sp.sqrt(_R1 * _Rinf)}
    proof = Proof(
        columns.claim,
        (
            r"$\sum_i |E_{ij}| \le \|E\|_1$ for every $j$, hence $\sum_i\sum_k q_k|E_{ik}| \le \|E\|_1$",
            r"$\sum_j |Q_{ij}|$ is twice a total variation, and $|E_{ij}| \le \|E\|_1$",
        ),
        (
            Step("columns times rows", claim.subs(delta, _s) ** 2, "=", product, where=roots),
            Step("and its limit at 0", claim.subs(delta, 0), "=", sp.Limit(claim.subs(delta, _s), _s, 0, "+")),
        ),
    ).check()
    tv = prove_total_variation(total_variation())
    return chain(columns.claim, tv, prove_tanh_below_identity(), columns, proof)


def _increasing() -> tuple[Step, Step]:
    """A(x) increases: differentiate under the integral sign."""
    x, t = sp.symbols("x t", positive=True)
    slope = sp.Derivative(exponential_mean(x), x)
    return (
        Step("A has the derivative", slope, "=", sp.Integral(t * sp.exp(t * x), (t, 0, 1))),
        Step("whose integrand is positive: A increases", 0, "<", t * sp.exp(t * x)),
    )
