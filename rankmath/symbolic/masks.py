"""Masks and sphere LayerNorm: r layers contract by a factor, so L layers by its power floor(L/r)."""

from __future__ import annotations

import sympy as sp

from rankmath.symbolic.letters import W_V as values
from rankmath.symbolic.letters import L, diameter, epsilon, height, mu, n, phi, r
from rankmath.symbolic.proof import Expr, Proof, Step

#: How many times r layers fit into L.
BLOCKS = sp.floor(L / r)

_WALK = r"a centre reaches every token in $r$ steps, each of weight at least $\varepsilon$"
_REST = "the layers left over enlarge nothing"


def prove_mask_bound(claim: Expr) -> Proof:
    """`claim` is the bound after ⌊L/r⌋ blocks, each with Dobrushin's coefficient 1 − ε^r; and what ε may be."""
    p, Q = sp.symbols("p Q", positive=True)
    keys, oscillation = sp.symbols("Delta E", positive=True)
    a, b = sp.symbols("a b", nonnegative=True)
    formula = Step(
        r"a row with $p + 1$ keys whose weights differ by factors of at most $Q$ gives each at least $1/(1 + pQ)$",
        1 / (1 + (keys - 1) * oscillation),
        "<=",
        1 / (1 + p * Q),
        where={keys: 1 + p + a, oscillation: Q + b},
    )
    premises = (
        r"$\mu(X(L)) \le \sqrt{n/2}\,\|\prod W_V\|_2\,\delta(P)\,\mu(X(0))$, $P$ the product of the attention",
        rf"{_WALK}, so $\delta(B) \le 1 - \varepsilon^r$ over $r$ layers; $\delta$ is submultiplicative",
        _REST,
    )
    return _by_blocks("masked attention", claim, 1 - epsilon**r, sp.sqrt(n / 2) * values * mu, premises, (formula,))


def prove_cosine_bound(claim: Expr) -> Proof:
    """`claim` bounds μ after ⌊L/r⌋ blocks, each of which multiplies 1 − φ by 1 − ε^{2r}."""
    gained = Step(
        r"$r$ layers",
        1 - (phi + (1 - phi) * epsilon ** (2 * r)),
        "=",
        (1 - epsilon ** (2 * r)) * (1 - phi),
    )
    premises = (
        rf"{_WALK}, so $\varphi(t + r) \ge \varphi(t) + (1 - \varphi(t))\varepsilon^{{2r}}$ while $\varphi \ge 0$",
        r"$\mu(X)^2 \le (n - 1)(1 - \varphi)$",
        _REST,
    )
    factor, start = sp.sqrt(1 - epsilon ** (2 * r)), sp.sqrt(n - 1) * sp.sqrt(1 - phi)
    return _by_blocks("acute angles", claim, factor, start, premises, (gained,))


def prove_hemisphere_bound(claim: Expr, start: Expr = diameter) -> Proof:
    """`claim` bounds what begins at `start`, the section of the cone, after ⌊L/r⌋ blocks with factor 1 − γε^r."""
    before, after, a, b = sp.symbols("s_c s_i a b", positive=True)
    telescoped = Step(
        r"heights $s_j = \langle X_j, v\rangle$ telescope along a walk, and lie between $\gamma$ and $1$",
        height * epsilon**r,
        "<=",
        before / after * epsilon**r,
        where={before: height + a, after: 1 / (1 + b)},
    )
    premises = (
        rf"{_WALK}; $y_i = X_i/s_i$ moves by a stochastic matrix with entries $A_{{ij}}s_j/(N_is_i)$, $N_i \le 1$",
        _REST,
    )
    return _by_blocks("from a hemisphere", claim, 1 - height * epsilon**r, start, premises, (telescoped,))


def full_rank_start() -> Expr:
    """√((n − 1)/2) diam y(0): all heights are γ, so y = X/γ."""
    return sp.sqrt((n - 1) / 2) * diameter / height


def _by_blocks(
    title: str, claim: Expr, factor: Expr, start: Expr, premises: tuple[str, ...], steps: tuple[Step, ...]
) -> Proof:
    """`claim` is start · factor^⌊L/r⌋: by induction over the number K of blocks."""
    K = sp.Symbol("K", integer=True, nonnegative=True)
    counted = claim.subs(BLOCKS, K)
    induction = (
        Step("no block of $r$ layers yet", counted.subs(K, 0), "=", start),
        Step("one block more", counted.subs(K, K + 1), "=", counted * factor),
    )
    return Proof(title, premises, (*steps, *induction)).check()
