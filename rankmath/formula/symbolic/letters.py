"""The letters that every bound may have, and sums over heads written out."""

from __future__ import annotations

from functools import cache

import sympy as sp

L = sp.Symbol("L", integer=True, nonnegative=True)
H = sp.Symbol("H", integer=True, positive=True)
#: One of the heads 1, …, H.
h = sp.Symbol("h", integer=True, positive=True)


@cache
def with_heads(expression: sp.Expr, heads: int) -> sp.Expr:
    """`expression` with its sums over heads written out for `heads` of them.

    >>> with_heads(sp.Sum(sp.IndexedBase("q")[h], (h, 1, H)), 2)
    q[1] + q[2]
    """

    def written_out(term: sp.Expr, limits: sp.Tuple) -> sp.Expr:
        index, first, last = limits
        return sp.Add(*(term.subs(index, k) for k in range(int(first), int(last) + 1)))

    return expression.subs(H, heads).replace(sp.Sum, written_out)
