"""The letters of the theorems as sympy symbols, each defined once. Their meanings stand with the bounds."""

from __future__ import annotations

from functools import cache

import sympy as sp

L = sp.Symbol("L", integer=True, nonnegative=True)
H = sp.Symbol("H", integer=True, positive=True)
d_qk = sp.Symbol("d_qk", integer=True, positive=True)

# The size of the tokens' spread, by norm.
residual = sp.Symbol("residual", positive=True)
diameter = sp.Symbol("diameter", positive=True)

# Weights: norms of one head, and what the theorems make of all heads and layers.
W_QK = sp.Symbol("W_QK", positive=True)
W_V = sp.Symbol("W_V", positive=True)
weights = sp.Symbol("weights", positive=True)
beta = sp.Symbol("beta", positive=True)
kappa = sp.Symbol("kappa", positive=True)
lipschitz = sp.Symbol("lipschitz", positive=True)

# Attention: oscillations of logits, and entries.
D = sp.Symbol("D", positive=True)
delta = sp.Symbol("delta", nonnegative=True)
gamma = sp.Symbol("gamma", positive=True)
q = sp.Symbol("q", positive=True)
u = sp.Symbol("u", positive=True)

# Masks, LayerNorm and equilibria: sizes, the least attention, and what is measured of the tokens.
n = sp.Symbol("n", integer=True, positive=True)
r = sp.Symbol("r", integer=True, positive=True)
epsilon = sp.Symbol("epsilon", positive=True)
mu = sp.Symbol("mu", positive=True)
phi = sp.Symbol("phi", nonnegative=True)
height = sp.Symbol("height", positive=True)

# One number for each head h = 1, …, H.
h = sp.Symbol("h", integer=True, positive=True)
W_QK_of = sp.IndexedBase("W_QK", positive=True)
W_one_of = sp.IndexedBase("W_one", positive=True)
W_inf_of = sp.IndexedBase("W_inf", positive=True)
q_of = sp.IndexedBase("q", positive=True)


def over_heads(term: sp.Expr) -> sp.Sum:
    """Σ over h = 1, …, H of a term in the indexed letters.

    Examples
    --------
    >>> over_heads(q_of[h])
    Sum(q[h], (h, 1, H))
    """
    return sp.Sum(term, (h, 1, H))


@cache
def with_heads(expression: sp.Expr, heads: int) -> sp.Expr:
    """`expression` with its sums over heads written out for `heads` of them.

    Examples
    --------
    >>> with_heads(over_heads(q_of[h]), 2)
    q[1] + q[2]
    """

    def written_out(term: sp.Expr, limits: sp.Tuple) -> sp.Expr:
        index, first, last = limits
        return sp.Add(*(term.subs(index, k) for k in range(int(first), int(last) + 1)))

    return expression.subs(H, heads).replace(sp.Sum, written_out)
