"""The softmax sandwich P_ij <= (1 + 2D) q_j, and the number x* up to which it holds, by a derived equation."""

from __future__ import annotations

from functools import cache

import sympy as sp

from rankmath.symbolic.letters import D
from rankmath.symbolic.proof import Expr, Proof, Step, chain

_HALF = sp.Rational(1, 2)


def sandwich_threshold() -> Expr:
    """x*, the positive root of e^x = 1 + 2x: x = −1/2 − W_{−1}(−e^{−1/2}/2).

    With w = −x − 1/2 the equation reads w e^w = −e^{−1/2}/2, which Lambert's W inverts; its branch W_0 gives x = 0.
    The sandwich lemma `dong2021:A.3` holds up to x*, and no further.

    Examples
    --------
    >>> sandwich_threshold()
    -1/2 - LambertW(-exp(-1/2)/2, -1)
    """
    return -_HALF - sp.LambertW(-sp.exp(-_HALF) / 2, -1)


@cache
def prove_threshold(claim: Expr) -> Proof:
    """`claim` is the only positive root of e^x = 1 + 2x.

    Examples
    --------
    >>> prove_threshold(sandwich_threshold()).proved
    True
    """
    x, w = sp.symbols("x w", real=True)
    f = sp.exp(x) - (1 + 2 * x)
    z = -_HALF * sp.exp(-_HALF)
    by_w = claim.replace(sp.LambertW, lambda argument, branch=0: w if (argument, branch) == (z, -1) else sp.nan)
    return Proof(
        "the exponential meets its chord",
        (r"$w = W_{-1}(z) < -1$ solves $w e^w = z$ for $-1/e < z < 0$",),
        (
            Step("the root is named by w", by_w, "=", -w - _HALF),
            Step("the equation in w", f.subs(x, by_w), "=", sp.exp(-w - _HALF) * (1 + 2 * w * sp.exp(w + _HALF))),
            Step("which holds where w exp(w) = z", 1 + 2 * z * sp.exp(_HALF), "=", 0),
            Step("0 is a root", f.subs(x, 0), "=", 0),
            Step("where the difference falls", sp.Subs(sp.Derivative(f, x), x, 0), "<", 0),
            Step("and it is convex: there is one more root, a positive one", 0, "<", sp.Derivative(f, (x, 2))),
        ),
    ).check()


def sandwich_upper() -> Expr:
    """The chord of e^D over [0, x*]: P_ij <= (1 + 2D) q_j."""
    return 1 + 2 * D


@cache
def prove_sandwich_upper(claim: Expr) -> Proof:
    """P_ij <= `claim` · q_j for D <= x*, `claim` = 1 + 2D: a concave gap that vanishes at both ends of [0, x*].

    Examples
    --------
    >>> prove_sandwich_upper(sandwich_upper()).proved
    True
    """
    w = sp.Symbol("w", real=True)
    q = sp.Symbol("q", positive=True)
    gap = claim - sp.exp(D)
    at_root = sp.expand(gap.subs(D, -w - _HALF).subs(sp.exp(-w - _HALF), -2 * w))
    proof = Proof(
        "upper half of the softmax sandwich",
        (
            r"$P_{ij}/q_j = e^{E_{ij}}/\sum_k q_k e^{E_{ik}} \le e^{D}$, an average being at least the least",
            r"$D \le x^*$, and $x^* = -w - 1/2$ with $e^{x^*} = -2w$",
        ),
        (
            Step("no gap at 0", gap.subs(D, 0), "=", 0),
            Step("no gap at the root", at_root, "=", 0),
            Step("concave, hence nonnegative between", sp.Derivative(gap, (D, 2)), "<", 0),
            Step(
                "and the factor exp(D) is approached, for two keys",
                sp.Limit(sp.exp(D) / (q * sp.exp(D) + 1 - q), q, 0, "+"),
                "=",
                sp.exp(D),
            ),
        ),
    ).check()
    return chain(proof.claim, prove_threshold(sandwich_threshold()), proof)
