"""Wu et al. 2024, masks: attention without LayerNorm collapses exponentially (`wu2024:1`, `wu2024:1-doeblin`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from rankmath.claims.draws import ALL_TOKENS, Rng, moderate_tokens, networks
from rankmath.claims.instance import NetworkInstance, network_instance
from rankmath.claims.quantities import (
    Run,
    exp,
    log,
    maximum,
    spectral_norm,
    unbox,
)
from rankmath.claims.statement import Evaluation, Hypothesis, Side, Statement, fact
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import Array

PAPER = "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781)"

# Logarithms of logits beyond this are cut: the softmax is saturated either way.
_LARGEST_LOG = 300.0
# Below this, exponentials of doubles lose their digits.
_LEAST_CONTRACTION = 1e-290

# -- attention along a run ---------------------------------------------------------------------------------


def mask_of(run: Run) -> Mask:
    """The mask of a run as a graph on its tokens."""
    n = int(run.X.shape[-2])
    return run.net.mask_for(n) or Mask.complete(n)


def radius_of(mask: Mask) -> int:
    """The radius, at least 1; 1 where there is none and the hypothesis fails anyway."""
    return max(1, int(mask.radius)) if mask.is_quasi_strongly_connected else 1


def logit_parts(run: Run, layer: int) -> tuple[Array, Array]:
    """c (..., 1, n) and E (..., n, n), quadratic in res(X): the logits are c_j + E_ij up to constants of a row."""
    A, net, tokens = run.A, run.net, run.tokens[layer]
    W, R = run.weight(net.W_QK, layer, 0), tokens.residual
    c = A.matmul(A.matmul(tokens.center, W), A.transpose(R))
    E = A.matmul(A.matmul(R, W), A.transpose(R))
    bias: Any = None
    if net.key_bias is not None:
        bias = A.transpose(A.matmul(R, A.asarray(net.key_bias[layer, 0][..., None])))
    if A.unbounded:
        return (c if bias is None else c + bias) / run.root, E / run.root
    sigma = np.maximum(tokens.log_residual.to_float(), -1e300)
    c = c * np.exp(np.minimum(sigma + tokens.log_center, _LARGEST_LOG))
    c = c if bias is None else c + bias * np.exp(np.minimum(sigma, _LARGEST_LOG))
    root = np.asarray(run.root)[..., None, None]
    return c / root, E * np.exp(np.minimum(2 * sigma, _LARGEST_LOG)) / root


def _on_edges(A: Any, values: Array, mask: Mask) -> Array:
    """`values` (..., n, n) where the mask allows, −∞ elsewhere."""
    return A.where(mask.allowed, values, log(A, A.constant(0)))


def attention_matrix(run: Run, layer: int, mask: Mask) -> Array:
    """P^layer of the single head, (..., n, n)."""
    A = run.A
    c, E = logit_parts(run, layer)
    logits = _on_edges(A, c + E, mask)
    weights = A.exp(logits - A.max(logits, axis=-1))
    return weights / A.sum(weights, axis=-1)


@dataclass(frozen=True)
class LeastAttention:
    """Lower bounds of every attention weight on an edge, in logarithms."""

    explicit: Any  # −log(1 + (Δ_in − 1) e^{2c}), 2c the largest oscillation of a row of logits over its edges
    attained: Any  # the least weight itself


def least_attention(run: Run, mask: Mask) -> LeastAttention:
    """ε of the whole run, by the formula and as attained."""
    A = run.A
    spreads, inverses = [], []
    for layer in range(run.net.layers):
        c, E = logit_parts(run, layer)
        logits, opposite = _on_edges(A, c + E, mask), _on_edges(A, -(c + E), mask)
        high, low = A.max(logits, axis=-1), -A.max(opposite, axis=-1)
        # The least weight of a row is 1/Σ_j e^{l_j − low}.
        inverse = high - low + A.log(A.sum(A.exp(logits - high), axis=-1))
        spreads.append(unbox(A.max(high - low, axis=-2)))
        inverses.append(unbox(A.max(inverse, axis=-2)))
    spread = maximum(A, spreads)
    degree = int(mask.allowed.sum(axis=1).max())
    if A.unbounded:
        explicit = -log(A, 1 + (degree - 1) * exp(A, spread))
    else:
        explicit = -np.logaddexp(0.0, (math.log(degree - 1) if degree > 1 else -np.inf) + spread)
    return LeastAttention(explicit, -maximum(A, inverses))


def log_one_minus_exp(A: Any, y: Any) -> Any:
    """log(1 − e^y) for y ≤ 0."""
    return log(A, 1 - exp(A, y)) if A.unbounded else log(A, -np.expm1(y))


def log_contraction(run: Run, mask: Mask, layers: range) -> Any:
    """log(1 − Σ_c min_i B_ic), B the product of the attention matrices of these layers (Doeblin)."""
    A = run.A
    if mask.is_complete and len(layers) == 1:
        gaps = -_difference_from_first(run, layers[0], mask)
    else:
        B = attention_matrix(run, layers[0], mask)
        for layer in layers[1:]:
            B = A.matmul(attention_matrix(run, layer, mask), B)
        gaps = -_rows_minus_first(A, B)
    contraction = unbox(A.sum(A.max(gaps, axis=-2), axis=-1))
    if not A.unbounded:
        # Underflow is no contraction to 0: doubles cannot tell, and balls can.
        contraction = np.where(contraction > _LEAST_CONTRACTION, contraction, np.nan)
    return log(A, contraction)


def _rows_minus_first(A: Any, B: Array) -> Array:
    """B_ij − B_0j for stochastic rows.

    Doubles near 1 hide how far they differ: in the column where row 0 is largest the small weights tell, because
    the differences of a row sum to zero.
    """
    difference = B - B[..., :1, :]
    if A.unbounded:
        return difference
    largest = np.arange(B.shape[-1]) == B[..., :1, :].argmax(axis=-1)[..., None]
    return np.where(largest, -np.where(largest, 0.0, difference).sum(axis=-1, keepdims=True), difference)


def _difference_from_first(run: Run, layer: int, mask: Mask) -> Array:
    """P_ij − P_0j where every row sees every key, accurate however close the rows are.

    With g_ij = E_ij − E_0j, m = e^g − 1 and m̄_i = Σ_j P_0j m_ij it is P_0j (m_ij − m̄_i)/(1 + m̄_i).
    """
    A = run.A
    P = attention_matrix(run, layer, mask)
    _, E = logit_parts(run, layer)
    q, g = P[..., :1, :], E - E[..., :1, :]
    if not A.unbounded:
        small = np.abs(g).max(axis=(-2, -1), keepdims=True) < 1
        g = np.where(small, g, 0.0)
    m = A.expm1_of_temporary(g + 0)
    mean = A.sum(q * m, axis=-1)
    close = q * (m - mean) / (1 + mean)
    return close if A.unbounded else np.where(small, close, _rows_minus_first(A, P))


# -- 1: masks ----------------------------------------------------------------------------------------------


def mask_hypotheses(A: Any, mask: Mask) -> list[Hypothesis]:
    return [
        fact(A, "every token sees itself", mask.has_self_loops),
        fact(A, "the mask is quasi-strongly connected", mask.is_quasi_strongly_connected),
    ]


def _log_start(run: Run) -> Any:
    """log(√(n/2) ‖W^1⋯W^L‖₂ μ(X))."""
    A, net = run.A, run.net
    product = run.weight(net.W, 0, 0)
    for layer in range(1, net.layers):
        product = A.matmul(product, run.weight(net.W, layer, 0))
    scale = log(A, A.constant(Fraction(int(run.X.shape[-2]), 2))) / 2
    return scale + log(A, spectral_norm(A, product)) + run.log_residual(0, "frobenius")


def evaluate_masks(A: Any, instance: NetworkInstance) -> Evaluation:
    """μ(X(t)) ≤ √(n/2) ‖ΠW_V‖₂ (1 − ε^r)^⌊t/r⌋ μ(X(0)), for ε by the formula and for the least weight itself."""
    run = Run(A, instance.net, instance.X)
    A, t = run.A, run.net.layers
    mask = mask_of(run)
    r = radius_of(mask)
    start, end = _log_start(run), run.log_residual(t, "frobenius")
    least = least_attention(run, mask)
    sides = [Side(end, start + (t // r) * log_one_minus_exp(A, r * e)) for e in (least.explicit, least.attained)]
    return Evaluation(sides, [_one_head(A, run.net), *mask_hypotheses(A, mask)])


def evaluate_doeblin(A: Any, instance: NetworkInstance) -> Evaluation:
    """μ(X(t)) ≤ √(n/2) ‖ΠW_V‖₂ Π_k (1 − Σ_c min_i (B_k)_ic) μ(X(0)), B_k products over r layers and the rest."""
    run = Run(A, instance.net, instance.X)
    A, t = run.A, run.net.layers
    mask = mask_of(run)
    rhs = _log_start(run)
    for first in range(0, t, radius_of(mask)):
        rhs = rhs + log_contraction(run, mask, range(first, min(t, first + radius_of(mask))))
    return Evaluation([Side(run.log_residual(t, "frobenius"), rhs)], [_one_head(A, run.net)])


def _one_head(A: Any, net: Network) -> Hypothesis:
    return fact(A, "one head, attention alone", net.heads == 1 and net.is_pure)


def compare_contractions(A: Any, instance: NetworkInstance, evaluation: Evaluation) -> dict[str, Any]:
    """log of (bound with ε)/(bound with the computed contraction) on the same instance."""
    with np.errstate(invalid="ignore"):  # equal tokens: nothing to compare
        gain = evaluation.sides[0].log_rhs - evaluate_doeblin(A, instance).sides[0].log_rhs
    return {"the computed contraction is tighter on the same instances by a median factor of": gain}


# -- masks to draw -----------------------------------------------------------------------------------------


def random_graph(rng: Rng, n: int) -> Mask:
    """Self-loops, a random tree from a random center, and a few more edges: quasi-strongly connected."""
    order = rng.permutation(n)
    allowed = np.eye(n, dtype=bool) | (rng.random((n, n)) < rng.uniform(0, 0.3))
    for place in range(1, n):
        allowed[order[place], order[rng.integers(place)]] = True
    return Mask(allowed)


#: Masks of every kind on n tokens, by name.
MASKS: dict[str, Callable[[Rng, int], Mask]] = {
    "causal": lambda rng, n: Mask.causal(n),
    "complete": lambda rng, n: Mask.complete(n),
    "window": lambda rng, n: Mask.window(n, int(rng.integers(1, n))),
    "causal window": lambda rng, n: Mask.causal_window(n, int(rng.integers(2, n + 1))),
    "prefix": lambda rng, n: Mask.prefix(n, int(rng.integers(1, n + 1))),
    "star": lambda rng, n: Mask.star(n, int(rng.integers(n))),
    "random graph": random_graph,
}


def draw_masked(kind: str, rng: Rng, size: int) -> NetworkInstance:
    """One head under one mask, 2 to 12 layers, tokens of all kinds, temperatures √d_qk from 0.3 to 30."""
    n, d, L = int(rng.integers(2, 7)), int(rng.integers(1, 5)), int(rng.integers(2, 13))
    tokens = ALL_TOKENS[int(rng.integers(len(ALL_TOKENS)))]
    batch = networks(tokens, shapes=((n, d, 1, L),), log_weights=(-1.0, 0.3))(rng, size)
    net = replace(batch.net, mask=MASKS[kind](rng, n), d_qk=float(10.0 ** rng.uniform(-1, 3)))
    return NetworkInstance(net, batch.X, f"{kind}, {batch.label}")


def draw_unsaturated(kind: str, rng: Rng, size: int) -> NetworkInstance:
    """Weights that saturate no softmax, and three tokens at least: for two the contraction is an equality."""
    n, d = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    mask = MASKS[kind](rng, n)
    L = int(rng.integers(1, 3 if mask.is_complete else 8))
    batch = networks(moderate_tokens, shapes=((n, d, 1, L),), log_weights=(-1.0, 0.0))(rng, size)
    net = replace(batch.net, mask=mask, d_qk=float(10.0 ** rng.uniform(0, 2)))
    return NetworkInstance(net, batch.X, kind)


def nearly_uniform_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens, causal, logits near zero: token 2 keeps about half of its distance, as the bound says."""
    for L, w in ((5, 1e-3), (2, 1e-10)):
        weights, values = np.full((L, 1, 1, 1), w), np.ones((L, 1, 1, 1))
        net = Network.from_arrays(weights, values, mask=Mask.causal(2))
        yield NetworkInstance(net, np.asarray([[0.0], [1.0]]), "two tokens, causal")


def nearly_aligned_pair(rng: Rng) -> Iterator[NetworkInstance]:
    """Two tokens in the plane whose difference is nearly what the values stretch most."""
    for L, tilt in ((4, 1e-2), (2, 1e-6)):
        weights = rng.standard_normal((L, 1, 2, 2))
        values = np.broadcast_to(np.diag([1.0, 0.5]), (L, 1, 2, 2))
        net = Network.from_arrays(weights, values, mask=Mask.causal(2))
        yield NetworkInstance(net, np.asarray([[0.0, 0.0], [1.0, tilt]]), "two tokens, causal")


STATEMENTS = (
    Statement(
        key="wu2024:1",
        title="Masked attention collapses exponentially, in explicit form",
        claim=r"\mu(X(t))\le\sqrt{\tfrac n2}\,\Bigl\|\prod_sW_V(s)\Bigr\|_2"
        r"(1-\varepsilon^r)^{\lfloor t/r\rfloor}\mu(X(0)),"
        r"\quad\varepsilon=1/(1+(\Delta_{\mathrm{in}}-1)e^{2c})",
        source=f"{PAPER}, Theorem 1; the constants are ours",
        status="proved",
        truth="proofs/wu2024_1.tex",
        instance=network_instance,
        evaluate=evaluate_masks,
        draws=tuple(partial(draw_masked, kind) for kind in MASKS),
        extremal=nearly_uniform_pair,
        compare=compare_contractions,
        sharp=True,
        cost=2,
        notes="2c is the largest oscillation of a row of logits over its edges in the run, at most 2 max |logit|; "
        "the least attention on an edge may take the place of ε. The printed chain of lemmas gives 1 − ε^r/2.",
    ),
    Statement(
        key="wu2024:1-doeblin",
        title="Masked attention collapses exponentially, with the computed contraction",
        claim=r"\mu(X(t))\le\sqrt{\tfrac n2}\,\Bigl\|\prod_sW_V(s)\Bigr\|_2"
        r"\prod_k\Bigl(1-\sum_c\min_i(B_k)_{ic}\Bigr)\mu(X(0)),\quad B_k=A(kr+r-1)\cdots A(kr)",
        source="this library, after Theorem 1 of Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024",
        status="proved",
        truth="proofs/wu2024_1.tex",
        instance=network_instance,
        evaluate=evaluate_doeblin,
        draws=tuple(partial(draw_unsaturated, kind) for kind in MASKS),
        extremal=nearly_aligned_pair,
        sharp=True,
        share=0.5,
        cost=2,
    ),
)
