"""Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781), statement by statement, and what became of it.

Masks slow collapse down (`wu2024:1`), orthogonal values cannot stop it under sphere LayerNorm (`wu2024:2`,
`wu2024:cor1`, `own:hemisphere`), other values can (all the statements on equilibria).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from rankmath.certify.certificate import Certificate
from rankmath.dynamics.centred import Tokens, attention_step, centre, norm_step, weights_of
from rankmath.dynamics.enclosures import log_diameter
from rankmath.linalg.diameters import diameter
from rankmath.linalg.masks import Mask, as_mask
from rankmath.linalg.rationals import exact_matrix
from rankmath.network import LayerNorm, Network
from rankmath.statements.draws import ALL_TOKENS, Rng, moderate_tokens, networks
from rankmath.statements.instance import ArrayInstance, NetworkInstance, network_instance
from rankmath.statements.quantities import (
    Run,
    exp,
    log,
    log_positive,
    maximum,
    spectral_norm,
    sqrt,
    symmetric_extremes,
    unbox,
)
from rankmath.statements.statement import Evaluation, Exact, Hypothesis, Side, Statement, fact
from rankmath.validation import Array, as_array, as_count

PAPER = "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781)"

# Logarithms of logits beyond this are cut: the softmax is saturated either way.
_LARGEST_LOG = 300.0

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
        gaps = B[..., :1, :] - B
    return log(A, unbox(A.sum(A.max(gaps, axis=-2), axis=-1)))


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
    return close if A.unbounded else np.where(small, close, P - q)


# -- 1: masks ----------------------------------------------------------------------------------------------


def _mask_hypotheses(A: Any, mask: Mask) -> list[Hypothesis]:
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
    return Evaluation(sides, [_one_head(A, run.net), *_mask_hypotheses(A, mask)])


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


# -- sphere LayerNorm with orthogonal values: 2, Corollary 1, the hemisphere --------------------------------


@dataclass(frozen=True, eq=False)
class SphereInstance(NetworkInstance):
    """A network with sphere LayerNorm; an adversary turns X and W_QK and leaves the values alone."""

    def select(self, index: int) -> SphereInstance:
        if not self.is_batch:
            return self
        return SphereInstance(self.net.member(index), self.X[index], self.label)

    def vector(self) -> np.ndarray[Any, Any]:
        return np.concatenate([np.asarray(self.X).ravel(), np.asarray(self.net.W_QK).ravel()])

    def at(self, vector: np.ndarray[Any, Any]) -> SphereInstance:
        X, query = np.split(vector, [self.X.size])
        net = replace(self.net, query=query.reshape(self.net.W_QK.shape), key=None)
        return SphereInstance(net, X.reshape(self.X.shape), self.label)


def sphere_instance(net: Any, X: Any) -> SphereInstance:
    """Checked input: the tokens are normalised first, so none may be zero."""
    checked = network_instance(net, X)
    if not bool(np.all(np.any(np.asarray(checked.X) != 0, axis=-1))):
        raise ValueError("X: a token is zero; sphere LayerNorm needs tokens with a direction")
    return SphereInstance(checked.net, checked.X)


class SphereRun(Run):
    """X(0) = LN(X), then attention and LN at every layer."""

    @cached_property
    def tokens(self) -> list[Tokens]:
        A, net = self.A, self.net
        norm = LayerNorm("sphere")
        mask = net.mask_for(int(self.X.shape[-2]))
        found = [norm_step(A, norm, centre(A, self.X))]
        for weights in weights_of(A, net):
            found.append(norm_step(A, norm, attention_step(A, net, weights, found[-1], mask)))
        return found

    def units(self, layer: int) -> tuple[Any, Any]:
        """The units of mean and residual as numbers: 1 in balls."""
        if self.A.unbounded:
            return 1, 1
        tokens = self.tokens[layer]
        return np.exp(tokens.log_center), np.exp(np.maximum(tokens.log_residual.to_float(), -1e300))

    def heights(self, layer: int, v: Array) -> Array:
        """⟨X_i, v⟩ for a row v, (..., n, 1)."""
        A, tokens = self.A, self.tokens[layer]
        mean, spread = self.units(layer)
        column = A.transpose(v)
        return A.matmul(tokens.center, column) * mean + A.matmul(tokens.residual, column) * spread

    def log_section(self, layer: int, v: Array) -> Any:
        """log of the ℓ₂ diameter of the y_i = X_i/⟨X_i, v⟩.

        About the mean x: y_i − x/⟨x, v⟩ = (R_i − x⟨R_i, v⟩/⟨x, v⟩)/⟨X_i, v⟩, so collapsed tokens lose no digits.
        """
        A, tokens = self.A, self.tokens[layer]
        column = A.transpose(v)
        along = A.matmul(tokens.residual, column) / A.nonzero(A.matmul(tokens.center, column))
        offsets = (tokens.residual - along * tokens.center) / A.nonzero(self.heights(layer, v))
        return log_diameter(A, offsets, 2) if A.unbounded else self._scaled(tokens, diameter(offsets, 2))


def _sphere_hypotheses(A: Any, instance: NetworkInstance, mask: Mask) -> list[Hypothesis]:
    net = instance.net
    alone = net.heads == 1 and net.skip == 0 and not any(net.mlp) and net.bias is None
    sphere = net.norm is not None and net.norm.kind == "sphere"
    return [
        fact(A, "one head with sphere LayerNorm, nothing else", alone and sphere),
        fact(A, "the values are exactly orthogonal", _all_orthogonal(net)),
        *_mask_hypotheses(A, mask),
    ]


def _all_orthogonal(net: Network) -> bool:
    d = net.dim
    matrices = np.ascontiguousarray(net.W, dtype=float).reshape(-1, d * d)
    return all(_is_orthogonal(matrix.tobytes(), d) for matrix in matrices)


@lru_cache(maxsize=4096)
def _is_orthogonal(data: bytes, d: int) -> bool:
    """W Wᵀ = I, in exact rationals."""
    W = [[Fraction(x) for x in row] for row in np.frombuffer(data).reshape(d, d).tolist()]
    return all(
        sum(a * b for a, b in zip(W[i], W[j], strict=True)) == (i == j) for i in range(d) for j in range(i + 1)
    )


def evaluate_hemisphere(A: Any, instance: NetworkInstance) -> Evaluation:
    """diam y(t) ≤ (1 − γε^r)^⌊t/r⌋ diam y(0), and μ(X(t)) ≤ √((n−1)/2) times that, v the direction of the mean."""
    run = SphereRun(A, instance.net, instance.X)
    A, t = run.A, run.net.layers
    mask = mask_of(run)
    r = radius_of(mask)
    x = run.tokens[0].center
    v = x / A.nonzero(A.sqrt(A.sum(x * x, axis=-1)))
    gamma = -unbox(A.max(-run.heights(0, v), axis=-2))
    carried = v
    for layer in range(t):
        carried = A.matmul(carried, run.weight(run.net.W, layer, 0))
    rate = log_one_minus_exp(A, log_positive(A, gamma) + r * least_attention(run, mask).attained)
    rhs = run.log_section(0, v) + (t // r) * rate
    pairs = log(A, A.constant(Fraction(max(1, mask.n - 1), 2))) / 2
    sides = [Side(run.log_section(t, carried), rhs), Side(run.log_residual(t, "frobenius"), pairs + rhs)]
    inside = Hypothesis("all tokens lie in the open hemisphere of their mean", Side(0 * gamma, gamma))
    return Evaluation(sides, [*_sphere_hypotheses(A, instance, mask), inside])


def evaluate_full_rank(A: Any, instance: NetworkInstance) -> Evaluation:
    """μ(X(t)) ≤ √((n−1)/2) (Δ(X(0))/γ) (1 − γε^r)^⌊t/r⌋ with γ = (1ᵀ(XXᵀ)⁻¹1)^{−1/2}, X(0) of full row rank."""
    run = SphereRun(A, instance.net, instance.X)
    A, t = run.A, run.net.layers
    mask = mask_of(run)
    n, r = mask.n, radius_of(mask)
    fits = n <= run.net.dim
    log_gamma = -log(A, _inverse_sum(run)) / 2 if fits else A.constant(0)
    rate = log_one_minus_exp(A, log_gamma + r * least_attention(run, mask).attained)
    pairs = log(A, A.constant(Fraction(max(1, n - 1), 2))) / 2
    rhs = pairs + run.log_diameter(0, 2) - log_gamma + (t // r) * rate
    hypotheses = [*_sphere_hypotheses(A, instance, mask), fact(A, "n ≤ d", fits)]
    return Evaluation([Side(run.log_residual(t, "frobenius"), rhs)], hypotheses)


def _inverse_sum(run: SphereRun) -> Any:
    """1ᵀ(X(0)X(0)ᵀ)⁻¹1; nan where X(0) cannot be told from one of lower rank."""
    A, tokens = run.A, run.tokens[0]
    mean, spread = run.units(0)
    X = tokens.center * mean + tokens.residual * spread
    gram = A.matmul(X, A.transpose(X))
    if not A.unbounded:
        try:
            return np.linalg.inv(gram).sum(axis=(-2, -1))
        except np.linalg.LinAlgError:
            return np.full(gram.shape[:-2], np.nan)
    from flint import arb, arb_mat

    n = len(gram)
    try:
        solved = arb_mat(n, n, gram.ravel().tolist()).solve(arb_mat(n, 1, [1] * n))
    except ZeroDivisionError:
        return arb.nan()
    return sum(solved.entries(), arb(0))


def evaluate_cosines(A: Any, instance: NetworkInstance) -> Evaluation:
    """1 − φ(t + r) ≤ (1 − ε^{2r})(1 − φ(t)) for all t, and μ(X(t)) ≤ √((n−1)(1−φ(0))) (1 − ε^{2r})^{⌊t/r⌋/2}.

    φ is the least cosine of two tokens, 1 − φ = Δ₂²/2.
    """
    run = SphereRun(A, instance.net, instance.X)
    A, last = run.A, run.net.layers
    mask = mask_of(run)
    n, r = mask.n, radius_of(mask)
    rate = log_one_minus_exp(A, 2 * r * least_attention(run, mask).attained)
    gaps = [2 * run.log_diameter(t, 2) for t in range(last + 1)]
    sides = [Side(gaps[t + r], rate + gaps[t]) for t in range(last + 1 - r)]
    pairs = log(A, A.constant(Fraction(max(1, n - 1), 2)))
    sides.append(Side(run.log_residual(last, "frobenius"), (pairs + gaps[0] + (last // r) * rate) / 2))
    acute = Hypothesis("no two tokens at an obtuse angle", Side(gaps[0], log(A, A.constant(2))))
    return Evaluation(sides, [*_sphere_hypotheses(A, instance, mask), acute])


def draw_sphere(tokens: Callable[[Rng, int, int, int], Any], rng: Rng, size: int, *, full: bool) -> SphereInstance:
    """Signed permutations as values (any other orthogonal ones can be moved into W_QK), any mask; `full`: n ≤ d."""
    n, L = int(rng.integers(2, 6)), int(rng.integers(1, 9))
    d = int(rng.integers(n, n + 3)) if full else int(rng.integers(2, 6))
    kind = list(MASKS)[int(rng.integers(len(MASKS)))]
    batch = networks(moderate_tokens, shapes=((n, d, 1, L),), biases=False)(rng, size)
    W = np.zeros((L, 1, size, d, d))
    for place in np.ndindex(L, 1, size):
        W[place][np.arange(d), rng.permutation(d)] = rng.choice([-1.0, 1.0], d)
    stacked: Any = {"value": W, "norm": LayerNorm("sphere"), "mask": MASKS[kind](rng, n)}
    net = replace(batch.net, d_qk=float(10.0 ** rng.uniform(-1, 2)), **stacked)
    return SphereInstance(net, tokens(rng, size, n, d), kind)


def orthant_tokens(rng: Rng, size: int, n: int, d: int) -> np.ndarray[Any, Any]:
    """Non-negative coordinates: no obtuse angles."""
    power = float(rng.choice([0.3, 1.0, 3.0]))
    return np.asarray(np.abs(rng.standard_normal((size, n, d))) ** power)


def cap_tokens(rng: Rng, size: int, n: int, d: int) -> np.ndarray[Any, Any]:
    """Around a pole, from a narrow cap to nearly a hemisphere."""
    pole = rng.standard_normal((size, 1, d))
    pole = pole / np.sqrt((pole * pole).sum(axis=-1, keepdims=True))
    noise = rng.standard_normal((size, n, d))
    return np.asarray(pole + 10.0 ** rng.uniform(-4, 0.3, (size, 1, 1)) * noise)


def gaussian_tokens(rng: Rng, size: int, n: int, d: int) -> np.ndarray[Any, Any]:
    """In all directions."""
    return rng.standard_normal((size, n, d))


def close_pair(rng: Rng) -> Iterator[SphereInstance]:
    """Two tokens near each other, causal, uniform attention: the angle halves, as the bounds say in the limit."""
    for L, angle in ((3, 1e-2), (2, 1e-6)):
        values = np.broadcast_to(np.eye(2), (L, 1, 2, 2))
        net = Network.from_arrays(np.zeros((L, 1, 2, 2)), values, norm="sphere", mask=Mask.causal(2))
        yield SphereInstance(net, np.asarray([[1.0, 0.0], [1.0, angle]]), "two tokens, causal")


def meeting_at_the_hub(rng: Rng) -> Iterator[SphereInstance]:
    """Nearly orthonormal tokens on a star, attending mostly to themselves: two leaves meet at the hub only."""
    for L, weight in ((3, 4.0), (1, 8.0)):
        identity = np.broadcast_to(np.eye(3), (L, 1, 3, 3))
        net = Network.from_arrays(weight * identity, identity, d_qk=1, norm="sphere", mask=Mask.star(3))
        yield SphereInstance(net, np.eye(3) + 2.0**-40, "star")


# -- the printed rate of Theorem 2, with the radius in it ----------------------------------------------------


def attention_instance(A: Any) -> ArrayInstance:
    """Exact row-stochastic attention of radius 1 under a strongly connected mask with self-loops; X = W_V = I.

    Any such matrix is an attention matrix: W_QK = log A on the edges.
    """
    rows = exact_matrix("A", A)
    if any(len(row) != len(rows) or min(row) < 0 or sum(row) != 1 for row in rows):
        raise ValueError("A: not a square row-stochastic matrix; use Fractions or dyadic floats")
    mask = Mask(np.asarray([[x > 0 for x in row] for row in rows]))
    if not (mask.has_self_loops and mask.is_strongly_connected and mask.radius == 1):
        raise ValueError("A: its graph must have self-loops, be strongly connected and have radius 1")
    return ArrayInstance({"A": np.asarray(rows, dtype=object)})


def decide_cosine_step(instance: ArrayInstance) -> Exact:
    """1 − φ(t + 1) ≤ (1 − nε²)(1 − φ(t)) from orthonormal tokens: ⟨A_i, A_j⟩ ≥ nε²‖A_i‖‖A_j‖, in squares."""
    A = instance["A"].tolist()
    n, least = len(A), min(x for row in A for x in row if x > 0)
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in A] for p in A]
    claimed = (n * least**2) ** 2
    for i, j in combinations(range(n), 2):
        sizes = gram[i][i] * gram[j][j]
        if gram[i][j] ** 2 < claimed * sizes:
            found = gram[i][j] ** 2 / sizes
            return Exact(False, f"tokens {i} and {j} end at a cosine of square {found}, claimed at least {claimed}")
    return Exact(True, f"every cosine is at least nε² = {n * least**2}")


def star_attention(n: int, least: Fraction) -> np.ndarray[Any, Any]:
    """Leaves give ε to the hub, token 0, and keep the rest; the hub attends to all alike."""
    A = np.full((n, n), Fraction(0), dtype=object)
    A[0, :] = Fraction(1, n)
    A[1:, 0] = least
    A[np.arange(1, n), np.arange(1, n)] = 1 - least
    return A


def draw_stars(rng: Rng, size: int) -> ArrayInstance:
    """Stars with ε from 1/n down, the example of the text (n = 10, ε = 1/20) first."""
    n = 10
    leasts = [Fraction(1, 20), *(Fraction(1, int(rng.integers(n, 100))) for _ in range(min(size, 8) - 1))]
    return ArrayInstance({"A": np.stack([star_attention(n, e) for e in leasts])}, "star", is_batch=True)


def draw_complete_attention(rng: Rng, size: int) -> ArrayInstance:
    """Complete masks, where radius and diameter agree and the step is right."""
    n = int(rng.integers(2, 6))
    weights = rng.integers(1, 30, (size, n, n))
    A = np.empty((size, n, n), dtype=object)
    for place in np.ndindex(size, n, n):
        A[place] = Fraction(int(weights[place]), int(weights[place[:2]].sum()))
    return ArrayInstance({"A": A}, "complete", is_batch=True)


def hub_chain(n: int) -> Mask:
    """All see the hub and themselves, each leaf the leaf before it, the hub the last leaf: radius 1, three keys."""
    allowed = np.eye(n, dtype=bool)
    allowed[:, 0] = True
    allowed[np.arange(2, n), np.arange(1, n - 1)] = True
    allowed[0, n - 1] = True
    return Mask(allowed)


def uniform_instance(mask: Any, tokens: int) -> ArrayInstance:
    """A strongly connected mask with self-loops; W_QK = 0, W_V = I, X = I."""
    graph = as_mask(mask, as_count("tokens", tokens, least=2))
    if not (graph.has_self_loops and graph.is_strongly_connected):
        raise ValueError("mask: self-loops and strong connectivity are needed")
    return ArrayInstance({"allowed": graph.allowed})


def decide_radius_rate(instance: ArrayInstance) -> Exact:
    """μ(X(t)) ≤ C(1 − nε^{2r})^{t/2r} from X = I: impossible where nε^{2r} ≥ 1 and A is invertible.

    True where (n + 1)ε^r < 2, by wu2024:2; an ArithmeticError in between.
    """
    mask = Mask(instance["allowed"])
    n, r = mask.n, int(mask.radius)
    degrees = [int(k) for k in mask.allowed.sum(axis=1)]
    least = Fraction(1, max(degrees)) ** r
    if (n + 1) * least < 2:
        return Exact(True, f"(n + 1)ε^r = {(n + 1) * least} < 2, so the rate of wu2024:2 is smaller")
    A = [[Fraction(int(seen), k) for seen in row] for row, k in zip(mask.allowed, degrees, strict=True)]
    if n * least**2 < 1 or _determinant(A) == 0:
        raise ArithmeticError("not decided: nε^{2r} < 1 or the attention is singular")
    return Exact(False, f"1 − nε^{{2r}} = {1 - n * least**2}, yet X(t) = D A^t keeps rank {n} at every t")


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    """By elimination in exact rationals."""
    M, det = [list(row) for row in rows], Fraction(1)
    for k in range(len(M)):
        pivot = next((i for i in range(k, len(M)) if M[i][k] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            M[k], M[pivot], det = M[pivot], M[k], -det
        det *= M[k][k]
        for i in range(k + 1, len(M)):
            factor = M[i][k] / M[k][k]
            M[i] = [a - factor * b for a, b in zip(M[i], M[k], strict=True)]
    return det


def draw_hub_chains(rng: Rng, size: int) -> ArrayInstance:
    """From nine tokens on nε² reaches 1; for an odd number of them the attention is invertible."""
    n = 2 * int(rng.integers(4, 8)) + 1
    return ArrayInstance({"allowed": hub_chain(n).allowed[None]}, "hub and chain", is_batch=True)


# -- 4.3.1: two tokens -------------------------------------------------------------------------------------


def _rational(name: str, value: Any) -> Fraction:
    from rankmath.counterexamples.wu2024 import exact_number

    number = exact_number(name, value)
    if not number.is_Rational:
        raise ValueError(f"{name}: {number} given; a rational number is needed")
    return Fraction(int(number.p), int(number.q))


def two_token_instance(w: Any) -> ArrayInstance:
    """w > 1, rational."""
    number = _rational("w", w)
    if number <= 1:
        raise ValueError(f"w: {number} given; a number greater than 1 is needed")
    return ArrayInstance({"w": _boxed([number])[0]})


def _boxed(numbers: list[Any]) -> np.ndarray[Any, Any]:
    box = np.empty(len(numbers), dtype=object)
    box[:] = numbers
    return box


def decide_two_tokens(instance: ArrayInstance) -> Exact:
    """Token 2 beside (0, 1) rests at (0, 1) and (−1/w, ±s), with multipliers ½ and 1 ± s, and nowhere else."""
    import sympy as sp

    from rankmath.counterexamples.wu2024 import two_token_example

    example = two_token_example(instance["w"])
    w, s = example.w, sp.sqrt(1 - 1 / example.w**2)
    fixed = all(_is_second_token(example.W_V, e.x, e.multiplier) for e in example.equilibria)
    claimed = [sp.Rational(1, 2), 1 + s, 1 - s]
    multipliers = all(sp.expand(e.multiplier - m) == 0 for e, m in zip(example.equilibria, claimed, strict=True))
    # (e₂ + x)W_V is parallel to x only where this cross product vanishes: x₁ = 0 or x₁ = −1/w.
    x1, x2 = sp.symbols("x1 x2")
    y = (sp.Matrix([[x1, x2 + 1]])) * example.W_V
    only = sp.expand(y[0] * x2 - y[1] * x1 + x1 * (1 + w * x1)) == 0
    stable = [e.is_stable for e in example.equilibria] == [True, False, True]
    points = ", ".join(str(tuple(e.x)) for e in example.equilibria)
    holds = bool(fixed and multipliers and only and stable)
    return Exact(holds, f"w = {w}: {points}, multipliers ½, 1 + s, 1 − s with s = {s}")


def _is_second_token(W_V: Any, x: Any, multiplier: Any) -> bool:
    """x on the circle, (e₂ + x)W_V = λx with λ > 0, and the multiplier is the derivative along the tangent."""
    import sympy as sp

    pulled = (x + sp.Matrix([[0, 1]])) * W_V
    scale = sp.expand(pulled.dot(x))
    tangent = sp.Matrix([[-x[1], x[0]]])
    derivative = sp.expand((tangent * W_V * tangent.T)[0] - scale * multiplier)
    unit = sp.expand(x.dot(x)) == 1
    return bool(unit and (pulled - scale * x).expand().is_zero_matrix and scale.is_positive and derivative == 0)


def draw_two_tokens(rng: Rng, size: int) -> ArrayInstance:
    """w = 5/3 first, then rationals, half of them with a rational s."""
    numbers = [Fraction(5, 3)]
    while len(numbers) < size:
        t = Fraction(int(rng.integers(11, 100)), 10)
        numbers.append((t + 1 / t) / 2 if rng.random() < 0.5 else t)
    return ArrayInstance({"w": _boxed(numbers[:size])}, "rational w", is_batch=True)


# -- 3: all ranks under one W_V ----------------------------------------------------------------------------


def shift_instance(tokens: int, dim: int, w: Any) -> ArrayInstance:
    """n tokens, dimension d and w > n − 1, rational."""
    n, d, number = as_count("tokens", tokens), as_count("dim", dim), _rational("w", w)
    if number <= n - 1:
        raise ValueError(f"w: {number} given; a number greater than tokens − 1 = {n - 1} is needed")
    return ArrayInstance({"sizes": np.asarray([n, d]), "w": _boxed([number])[0]})


def decide_all_ranks(instance: ArrayInstance) -> Exact:
    """For k = 1 … min(n, d): A X W_V = D X, D > 0, unit rows, k of them distinct, a minor of order k not zero."""
    from rankmath.counterexamples.wu2024 import shift_equilibrium

    (n, d), w = (int(k) for k in instance["sizes"]), instance["w"]
    for k in range(1, min(n, d) + 1):
        equilibrium = shift_equilibrium(n, d, k, w)
        distinct = len({tuple(row) for row in equilibrium.X.tolist()})
        if not (equilibrium.is_equilibrium() and distinct == k and equilibrium.minor() != 0):
            return Exact(False, f"rank {k} fails for n = {n}, d = {d}, w = {w}")
    return Exact(True, f"ranks 1 to {min(n, d)} under one W_V, n = {n}, d = {d}, w = {w}, exact algebra")


def draw_shifts(rng: Rng, size: int) -> ArrayInstance:
    """n = 6, d = 5 first."""
    sizes, numbers = [(6, 5)], [Fraction(7)]
    while len(sizes) < size:
        n = int(rng.integers(1, 7))
        sizes.append((n, int(rng.integers(1, 7))))
        numbers.append(n - 1 + Fraction(int(rng.integers(1, 50)), 10))
    return ArrayInstance({"sizes": np.asarray(sizes[:size]), "w": _boxed(numbers[:size])}, "shift", is_batch=True)


# -- L13: a set that is not invariant -----------------------------------------------------------------------


def cone_instance(x: Any, w: Any, *, log_concave: bool) -> ArrayInstance:
    """An exact unit vector of the lemma's set {x ≤ 0, x_{d−1} ≤ −1/w}; `log_concave`: with the added hypothesis."""
    [row] = exact_matrix("x", [list(x)])
    number = _rational("w", w)
    if len(row) < 2 or number <= 1:
        raise ValueError(f"x, w: {len(row)} coordinates and w = {number} given; at least 2 and w > 1 are needed")
    if sum(v * v for v in row) != 1:
        raise ValueError("x: not of norm 1; an exact unit vector is needed")
    if max(row) > 0 or row[-2] > -1 / number:
        raise ValueError("x: not in the set x ≤ 0, x_{d−1} ≤ −1/w of the lemma")
    if log_concave and not _is_log_concave(row):
        raise ValueError("x: |x_1|, …, |x_{d−1}| is not log-concave without gaps")
    return ArrayInstance({"x": _boxed(row), "w": _boxed([number])[0]})


def _is_log_concave(row: list[Fraction]) -> bool:
    """u_b u_{c+1} ≤ u_{b+1} u_c for b < c < d − 1, u = |x|: no internal zeros."""
    u = [abs(v) for v in row[:-1]]
    return all(u[b] * u[c + 1] <= u[b + 1] * u[c] for c in range(len(u) - 1) for b in range(c))


def decide_invariance(instance: ArrayInstance, *, log_concave: bool) -> Exact:
    """Whether the image of x is in the set again, in exact rationals."""
    from rankmath.counterexamples.wu2024 import lemma_thirteen_step

    step = lemma_thirteen_step(instance["x"].tolist(), instance["w"])
    y, w = [Fraction(int(v.p), int(v.q)) for v in step.y], Fraction(instance["w"])
    kept = step.ends_inside and (not log_concave or _is_log_concave(y))
    left, right = float(w**2 * y[-2] ** 2), float(sum(v * v for v in y))
    return Exact(bool(kept), f"exact rationals: w²y_{{d−1}}² = {left:.6g} against ‖y‖² = {right:.6g}")


def rational_unit_vectors(rng: Rng, size: int, d: int, w: Fraction, *, log_concave: bool) -> np.ndarray[Any, Any]:
    """Unit vectors of the lemma's set by inverse stereographic projection."""
    found: list[np.ndarray[Any, Any]] = []
    while len(found) < size:
        u = np.sort(rng.integers(0, 60, d)) if log_concave and rng.random() < 0.5 else rng.integers(0, 60, d)
        t = [Fraction(int(v), 60) for v in u[:-1]]
        square = sum((v * v for v in t), Fraction(0))
        row = [-2 * v / (1 + square) for v in t] + [-abs(1 - square) / (1 + square)]
        if row[-2] <= -1 / w and (not log_concave or _is_log_concave(row)):
            found.append(_boxed(row))
    return np.stack(found)


def draw_cone(rng: Rng, size: int, *, log_concave: bool) -> ArrayInstance:
    d = int(rng.integers(2, 7)) if log_concave else int(rng.integers(4, 7))
    w = Fraction(int(rng.integers(15, 60)), 10)
    vectors = rational_unit_vectors(rng, size, d, w, log_concave=log_concave)
    return ArrayInstance({"x": vectors, "w": _boxed([w] * size)}, f"dimension {d}", is_batch=True)


def draw_leaving(rng: Rng, size: int) -> ArrayInstance:
    """(−4/5, −0.001, −3/5, −0.001), turned exactly onto the sphere, in dimensions 4 and up; w = 4."""
    from rankmath.counterexamples.wu2024 import lemma_thirteen_counterexample

    step = lemma_thirteen_counterexample(int(rng.integers(4, 7)))
    x = _boxed([Fraction(int(v.p), int(v.q)) for v in step.x])
    return ArrayInstance({"x": x[None], "w": _boxed([Fraction(4)])}, "leaving", is_batch=True)


# -- anisotropy --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ShiftInstance(ArrayInstance):
    """The equilibrium of W_V = I + wS of a given rank on `tokens` tokens; an adversary turns w."""

    tokens: int = 2
    rank: int = 2
    alternating: bool = True

    def select(self, index: int) -> ShiftInstance:
        return replace(self, arrays={"w": self["w"][index]}, is_batch=False) if self.is_batch else self

    def at(self, vector: np.ndarray[Any, Any]) -> ShiftInstance:
        return replace(self, arrays={"w": vector.reshape(np.shape(self["w"]))})


def anisotropy_instance(tokens: int, rank: int, w: float, alternating: bool = True) -> ShiftInstance:
    """n tokens of rank k, 2 ≤ k ≤ n, and the number w; last coordinates of alternating signs, or all positive."""
    n = as_count("tokens", tokens, least=2)
    k = as_count("rank", rank, least=2, most=n)
    return ShiftInstance({"w": as_array("w", w, ndim=0)}, tokens=n, rank=k, alternating=bool(alternating))


def evaluate_anisotropy(A: Any, instance: ShiftInstance) -> Evaluation:
    """‖X‖_F²/‖X‖₂² ≤ n/(n − (m² + k − 2)/w²), m = n − k + 1, in the form n − ‖X‖₂² ≤ (m² + k − 2)/w²."""
    n, k = instance.tokens, instance.rank
    m = n - k + 1
    w = A.constant(float(instance["w"])) if A.unbounded else np.asarray(instance["w"], dtype=float)
    row: list[Any] = [0 * w] * (k - 1) + [0 * w + 1]
    rows = [row] * m
    for step in range(k - 1):
        pull = m if step == 0 else 1
        # Where w ≤ n − 1 there is no such token: the hypothesis fails, and any number will do.
        inside = 1 - pull * pull / (w * w)
        last = sqrt(A, inside if A.unbounded else np.maximum(inside, 0.0))
        row = [*(-x * pull / w for x in row[1:]), -last if instance.alternating and step % 2 == 0 else last]
        rows.append(row)
    gram = np.asarray([[sum(x * y for x, y in zip(p, q, strict=True)) for q in rows] for p in rows])
    largest = symmetric_extremes(A, gram if A.unbounded else np.moveaxis(gram, (0, 1), (-2, -1)))[1]
    rhs = log(A, A.constant(m * m + k - 2)) - 2 * log(A, w)
    wide = Hypothesis("w > n − 1", Side(log(A, A.constant(n - 1)), log(A, w)))
    return Evaluation([Side(log_positive(A, n - largest), rhs)], [wide])


def draw_anisotropy(rng: Rng, size: int) -> ShiftInstance:
    n = int(rng.integers(2, 9))
    k = n if rng.random() < 0.5 else int(rng.integers(2, n + 1))
    w = (n - 1) * (1 + 10.0 ** rng.uniform(-3, 1, size))
    return ShiftInstance({"w": w}, "shift", True, tokens=n, rank=k, alternating=bool(rng.random() < 0.5))


def barely_wide(rng: Rng) -> Iterator[ShiftInstance]:
    """Two tokens with w near 1: nearly orthogonal, and the bound nearly attained."""
    for w in (1.1, 1.0001):
        yield ShiftInstance({"w": np.asarray(w)}, "two tokens", tokens=2, rank=2)


# -- equilibria that are not collapsed ----------------------------------------------------------------------


def resting_instance(X: Any, W_V: Any, mask: Any = "causal") -> ArrayInstance:
    """Exact unit tokens that rest under uniform attention (W_QK = 0) over the mask and the exact W_V."""
    tokens, values = exact_matrix("X", X), exact_matrix("W_V", W_V)
    d = len(tokens[0])
    if len(values) != d or len(values[0]) != d:
        raise ValueError(f"W_V: {len(values)} × {len(values[0])} given; it must be {d} × {d}, as X has {d} columns")
    graph = as_mask(mask, len(tokens))
    instance = ArrayInstance(
        {"X": np.asarray(tokens, dtype=object), "W_V": np.asarray(values, dtype=object), "allowed": graph.allowed}
    )
    if resting_scales(instance) is None:
        raise ValueError("X: not unit tokens at rest; X_i must be A X W_V up to a positive factor, exactly")
    return instance


def resting_scales(instance: ArrayInstance) -> list[Fraction] | None:
    """The D > 0 of A X W_V = D X with unit rows X, in exact rationals, or None."""
    X, W_V = instance["X"], instance["W_V"]
    scales = []
    for x, row in zip(X, instance["allowed"], strict=True):
        pulled = sum(X[j] for j in np.flatnonzero(row)) @ W_V / int(row.sum())
        scale = Fraction(pulled @ x)
        if x @ x != 1 or scale <= 0 or (pulled != scale * x).any():
            return None
        scales.append(scale)
    return scales


def decide_sphere_collapse(instance: ArrayInstance) -> Exact:
    """Tokens that rest and are not all equal never collapse."""
    X, scales = instance["X"], resting_scales(instance)
    apart = next((i for i, x in enumerate(X) if (x != X[0]).any()), None)
    if scales is None or apart is None:
        return Exact(True, "all tokens are equal")
    factors = ", ".join(map(str, scales))
    return Exact(False, f"an equilibrium, scale factors {factors}, in which tokens 0 and {apart} differ")


def draw_resting(rng: Rng, size: int) -> ArrayInstance:
    """W3 of full rank in rationals."""
    from rankmath.counterexamples.wu2024 import rational_full_rank

    n = int(rng.integers(2, 5))
    found = [rational_full_rank(n, n, int(t)) for t in rng.integers(2 * n, 9 * n, size)]
    return ArrayInstance(
        {
            "X": np.stack([_fractions(e.X) for e in found]),
            "W_V": np.stack([_fractions(e.W_V) for e in found]),
            "allowed": np.stack([e.mask.allowed for e in found]),
        },
        "shift",
        is_batch=True,
    )


def _fractions(M: Any) -> np.ndarray[Any, Any]:
    return np.asarray([[Fraction(int(x.p), int(x.q)) for x in row] for row in M.tolist()], dtype=object)


def stable_causal_instance(a: Any, w: Any, c: Any = None, dim: int = 2) -> ArrayInstance:
    """The exact numbers 0 < c < a < 1 and w with w² > a(2 − a), all rational; c defaults to a/2."""
    from rankmath.counterexamples.wu2024 import stable_causal_example

    a, w = _rational("a", a), _rational("w", w)
    c = a / 2 if c is None else _rational("c", c)
    stable_causal_example(a, w, c, dim)
    return ArrayInstance({"parameters": _boxed([a, w, c]), "dim": np.asarray(as_count("dim", dim, least=2))})


def decide_stable_causal(instance: ArrayInstance) -> Exact:
    """An equilibrium of rank 2 whose Jacobian on both tangent spaces has the claimed eigenvalues, all below 1."""
    import sympy as sp

    from rankmath.counterexamples.wu2024 import stable_causal_example

    a, w, c = instance["parameters"].tolist()
    d = int(instance["dim"])
    example = stable_causal_example(a, w, c, d)
    equilibrium = example.equilibrium
    rests = equilibrium.is_equilibrium() and sp.expand(equilibrium.minor()) != 0
    z = sp.Symbol("z")
    eigenvalues = example.eigenvalues[: d - 1], example.eigenvalues[d - 1 :]
    # With x fixed, token i moves by h ↦ h W_V(I − xᵀx)/(i·scale); causal, so the Jacobian is block triangular.
    for i, claimed in enumerate(eigenvalues):
        x = equilibrium.X.row(i)
        block = equilibrium.W_V * (sp.eye(d) - x.T * x) / ((i + 1) * equilibrium.scales[i])
        polynomial = block.charpoly(z).as_expr() - z * sp.prod(z - value for value in claimed)
        rests = rests and sp.expand(polynomial) == 0
    below = all(bool(abs(value) < 1) for value in example.eigenvalues)
    values = ", ".join(str(value) for value in example.eigenvalues)
    return Exact(bool(rests and below), f"a = {a}, w = {w}, c = {c}: eigenvalues {values}")


def draw_stable_causal(rng: Rng, size: int) -> ArrayInstance:
    """a = ½, w = 1 first (eigenvalues ½ and 2/5); then rational points of the family."""
    parameters, dims = [_boxed([Fraction(1, 2), Fraction(1), Fraction(1, 4)])], [2]
    while len(parameters) < size:
        a = Fraction(int(rng.integers(1, 20)), 20)
        t = Fraction(int(rng.integers(11, 80)), 10)
        # q = −(t² − 1)/(t² + 1) makes √(1 − q²) = 2t/(t² + 1) rational, and with it w.
        q, root = -(t * t - 1) / (t * t + 1), 2 * t / (t * t + 1)
        if q < a - 1:
            w = (1 + (1 - a) * q) / root
            parameters.append(_boxed([a, w, a * Fraction(int(rng.integers(1, 10)), 10)]))
            dims.append(int(rng.integers(2, 5)))
    return ArrayInstance(
        {"parameters": np.stack(parameters[:size]), "dim": np.asarray(dims[:size])}, "rational", is_batch=True
    )


def equilibrium_instance(X: Any, W_V: Any, W_QK: Any, mask: Any = "complete") -> ArrayInstance:
    """Tokens near an equilibrium of sphere LayerNorm under an undirected mask, and exact weights."""
    X = as_array("X", X, ndim=2)
    n, d = X.shape
    graph = as_mask(mask, n)
    if not np.array_equal(graph.allowed, graph.allowed.T):
        raise ValueError("mask: not symmetric; the conjecture is about undirected masks")
    weights = {name: as_array(name, W, ndim=2, shape=(d, d)) for name, W in (("W_V", W_V), ("W_QK", W_QK))}
    return ArrayInstance({"X": X, **weights, "allowed": graph.allowed})


def decide_stable_equilibrium(instance: ArrayInstance, *, claims_existence: bool) -> Exact:
    """A true equilibrium near X, its rank, and a ball of starts that converge to it, all proved in balls.

    An ArithmeticError where a claim is not proved: nothing is decided then.
    """
    from rankmath.counterexamples.certify_equilibrium import certify_equilibrium

    X, W_V, W_QK, allowed = (instance[name] for name in ("X", "W_V", "W_QK", "allowed"))
    proof = certify_equilibrium(X, W_V, W_QK, Mask(allowed), stable=True)
    if not proof.proved or proof.rank is None:
        raise ArithmeticError(f"not decided: {'; '.join(map(str, proof.refused))}")
    if proof.rank == 1:
        return Exact(not claims_existence, "the equilibrium has rank one")
    return Exact(claims_existence, f"n = {len(X)}, in balls: " + "; ".join(claim.reason for claim in proof.claims))


def draw_stable_complete(rng: Rng, size: int, *, tokens: int) -> ArrayInstance:
    """The stable full-rank equilibrium of n tokens in n dimensions under the complete mask."""
    found = stable_complete(tokens)
    return ArrayInstance({name: array[None] for name, array in found.arrays.items()}, "complete", is_batch=True)


@lru_cache(maxsize=8)
def stable_complete(tokens: int) -> ArrayInstance:
    from rankmath.counterexamples.equilibria import layernorm_equilibrium

    found = layernorm_equilibrium(tokens, tokens, tokens, mask="complete", stable=True)
    return equilibrium_instance(found.X, found.W_V, found.W_QK, found.mask)


def exhibit_equilibrium(key: str, *, tokens: int = 2) -> Certificate:
    """The equilibrium that `key` says exists, or that refutes it, proved in balls and accepted by the checker."""
    from rankmath.counterexamples.certify_equilibrium import certify_equilibrium

    X, W_V, W_QK, allowed = stable_complete(tokens).arrays.values()
    return certify_equilibrium(X, W_V, W_QK, Mask(allowed), stable=True).certificate(key)


_SPHERE = r"X(t+1)=\mathrm{LN}(A(t)X(t)W_V(t)),\ W_V(t)^{\mathsf T}W_V(t)=I"

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
    Statement(
        key="wu2024:2",
        title="Orthogonal values under sphere LayerNorm collapse from full rank",
        claim=_SPHERE + r",\ \operatorname{rank}X(0)=n\implies\mu(X(t))\le"
        r"\sqrt{\tfrac{n-1}2}\,\frac{\Delta(X(0))}\gamma(1-\gamma\varepsilon^r)^{\lfloor t/r\rfloor},"
        r"\quad\gamma^{-2}=\mathbf1^{\mathsf T}(X(0)X(0)^{\mathsf T})^{-1}\mathbf1,"
        r"\quad\limsup_t\mu(X(t))^{1/t}\le(1-\varepsilon^r)^{1/r}",
        source=f"{PAPER}, Theorem 2, with a rate of ours",
        status="proved",
        truth="proofs/wu2024_2.tex",
        instance=sphere_instance,
        evaluate=evaluate_full_rank,
        draws=(partial(draw_sphere, gaussian_tokens, full=True), partial(draw_sphere, cap_tokens, full=True)),
        extremal=close_pair,
        sharp=True,
        share=0.25,
        notes="Strong connectivity is not needed. With r the diameter the printed rate (1 − nε^{2r})^{1/2r} holds; "
        "with the radius see wu2024:2-step and wu2024:2-radius.",
    ),
    Statement(
        key="wu2024:2-step",
        title="The step of Theorem 2 with the radius",
        claim=_SPHERE + r",\ \text{strongly connected of radius }r,\ \varphi(t)\ge0\implies"
        r"1-\varphi(t+r)\le(1-n\varepsilon^{2r})(1-\varphi(t))",
        source=f"{PAPER}, the step behind Theorem 2, read with the radius r",
        status="refuted",
        truth="proofs/wu2024_2.tex",
        instance=attention_instance,
        decide=decide_cosine_step,
        draws=(draw_stars, draw_complete_attention),
        share=0.05,
        notes="Decided for r = 1 and orthonormal tokens, in exact rationals. With the diameter the step is right.",
    ),
    Statement(
        key="wu2024:2-radius",
        title="The rate of Theorem 2 with the radius",
        claim=_SPHERE + r",\ \text{strongly connected of radius }r,\ \operatorname{rank}X(0)=n\le d\implies"
        r"\mu(X(t))\le C(1-n\varepsilon^{2r})^{t/2r}",
        source=f"{PAPER}, Theorem 2, read with the radius r",
        status="refuted",
        truth="proofs/wu2024_2.tex",
        instance=uniform_instance,
        decide=decide_radius_rate,
        draws=(draw_hub_chains,),
        share=0.01,
        notes="True where (n + 1)ε^r < 2, in particular for the star.",
    ),
    Statement(
        key="wu2024:cor1",
        title="Orthogonal values under sphere LayerNorm collapse from acute angles",
        claim=_SPHERE + r",\ \varphi(0)=\min_{ij}\langle X_i,X_j\rangle\ge0\implies"
        r"1-\varphi(t+r)\le(1-\varepsilon^{2r})(1-\varphi(t)),"
        r"\ \mu(X(t))\le\sqrt{(n-1)(1-\varphi(0))}\,(1-\varepsilon^{2r})^{\lfloor t/r\rfloor/2}",
        source=f"{PAPER}, Corollary 1",
        status="proved",
        truth="proofs/wu2024_2.tex",
        instance=sphere_instance,
        evaluate=evaluate_cosines,
        draws=(partial(draw_sphere, orthant_tokens, full=False),),
        extremal=meeting_at_the_hub,
        sharp=True,
        share=0.25,
    ),
    Statement(
        key="own:hemisphere",
        title="Orthogonal values under sphere LayerNorm collapse from any open hemisphere",
        claim=_SPHERE + r",\ \gamma=\min_i\langle X_i(0),v\rangle>0,\ v_t=v\prod_sW_V(s),\ "
        r"y_i=X_i/\langle X_i,v_t\rangle\implies\operatorname{diam}y(t)\le"
        r"(1-\gamma\varepsilon^r)^{\lfloor t/r\rfloor}\operatorname{diam}y(0)",
        source="this library",
        status="proved",
        truth="proofs/own_hemisphere.tex",
        instance=sphere_instance,
        evaluate=evaluate_hemisphere,
        draws=(partial(draw_sphere, cap_tokens, full=False), partial(draw_sphere, orthant_tokens, full=False)),
        extremal=close_pair,
        sharp=True,
        share=0.5,
        notes="Evaluated with v the direction of the mean token; it holds for every v.",
    ),
    Statement(
        key="wu2024:4.3.1",
        title="Two tokens that need not collapse: equilibria and multipliers",
        claim=r"n=d=2,\ \text{causal},\ W_{QK}=0,\ W_V=\begin{pmatrix}1&w\\0&1\end{pmatrix},\ w>1,\ X_1=(0,1):\ "
        r"X_2\in\{(0,1),(-\tfrac1w,s),(-\tfrac1w,-s)\}\text{ with multipliers }\tfrac12,1+s,1-s,"
        r"\quad s=\sqrt{1-w^{-2}}",
        source=f"{PAPER}, section 4.3.1",
        status="proved",
        truth="proofs/wu2024_3.tex",
        instance=two_token_instance,
        decide=decide_two_tokens,
        draws=(draw_two_tokens,),
        share=0.03,
    ),
    Statement(
        key="wu2024:3",
        title="One value matrix with equilibria of every rank",
        claim=r"\text{causal},\ W_{QK}=0,\ W_V=I+wS,\ w>n-1:\ \forall\,1\le k\le\min(n,d)\ \exists X:\ "
        r"\mathrm{LN}(AXW_V)=X,\ \operatorname{rank}X=k",
        source=f"{PAPER}, Theorem 3",
        status="proved",
        truth="proofs/wu2024_3.tex",
        instance=shift_instance,
        decide=decide_all_ranks,
        draws=(draw_shifts,),
        share=0.03,
        cost=2,
    ),
    Statement(
        key="wu2024:L13",
        title="An invariant set of the second token, as printed",
        claim=r"\{x\in S^{d-1}:x\le0,\ x_{d-1}\le-\tfrac1w\}\text{ is invariant under }"
        r"x\mapsto\mathrm{LN}((x+e_d)(I+wS))",
        source=f"{PAPER}, Lemma 13",
        status="refuted",
        truth="proofs/wu2024_3.tex",
        instance=partial(cone_instance, log_concave=False),
        decide=partial(decide_invariance, log_concave=False),
        draws=(draw_leaving, partial(draw_cone, log_concave=False)),
        share=0.05,
        notes="False from dimension 4 on; true in dimensions 2 and 3, and under wu2024:L13-repaired.",
    ),
    Statement(
        key="wu2024:L13-repaired",
        title="An invariant set of the second token, with log-concave coordinates",
        claim=r"\{x\in S^{d-1}:x\le0,\ x_{d-1}\le-\tfrac1w,\ |x_1|,\dots,|x_{d-1}|\text{ log-concave}\}"
        r"\text{ is invariant under }x\mapsto\mathrm{LN}((x+e_d)(I+wS)),\ w>1",
        source="this library; Lemma 13 of Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 for d = 3",
        status="proved",
        truth="proofs/wu2024_L13.tex",
        instance=partial(cone_instance, log_concave=True),
        decide=partial(decide_invariance, log_concave=True),
        draws=(partial(draw_cone, log_concave=True),),
        share=0.1,
        notes="Two coordinates are always log-concave, so dimensions 2 and 3 need no hypothesis.",
    ),
    Statement(
        key="wu2024:anisotropy",
        title="The equilibria of every rank are anisotropic",
        claim=r"\frac{\|X\|_F^2}{\|X\|_2^2}\le\frac n{n-(m^2+k-2)/w^2},\ m=n-k+1;\quad"
        r"\text{at full rank }\frac n{n-(n-1)/w^2}",
        source=f"{PAPER}, section 4, at full rank; the form for rank k is ours",
        status="proved",
        truth="proofs/wu2024_anisotropy.tex",
        instance=anisotropy_instance,
        evaluate=evaluate_anisotropy,
        draws=(draw_anisotropy,),
        extremal=barely_wide,
        share=0.5,
    ),
    Statement(
        key="wu2024:conjecture",
        title="No such equilibria under undirected masks",
        claim=r"\text{undirected mask, sphere LayerNorm}\implies\text{no equilibrium of rank}>1\text{ attracts}",
        source=f"{PAPER}, stated there as a conjecture",
        status="refuted",
        truth="proofs/stable_complete.tex",
        instance=equilibrium_instance,
        decide=partial(decide_stable_equilibrium, claims_existence=False),
        draws=(partial(draw_stable_complete, tokens=2),),
        exhibit=partial(exhibit_equilibrium, "wu2024:conjecture"),
        share=0.0025,
        notes="Refuted by own:stable-complete: a stable equilibrium of full rank under the complete mask.",
    ),
    Statement(
        key="own:stable-causal",
        title="An exponentially stable causal equilibrium of rank two",
        claim=r"W_V=cI_{d-2}\oplus\begin{pmatrix}a&w\\0&1\end{pmatrix},\ 0<c<a<1,\ w^2>a(2-a):\ X_1=e_d,\ "
        r"X_2=pe_{d-1}+qe_d,\ w^2(1-q^2)=(1+(1-a)q)^2,\ q<a-1\ \text{rests, with eigenvalues }"
        r"a,c,\tfrac{1+q}a,\tfrac ca",
        source="this library",
        status="proved",
        truth="proofs/stable_causal.tex",
        instance=stable_causal_instance,
        decide=decide_stable_causal,
        draws=(draw_stable_causal,),
        share=0.03,
    ),
    Statement(
        key="own:stable-complete",
        title="Stable full-rank equilibria under the complete mask",
        claim=r"n=d\in\{2,3,4\},\ \text{complete mask, sphere LayerNorm}:\ \exists W_V,W_{QK},X:\ "
        r"\mathrm{LN}(A(X)XW_V)=X,\ \operatorname{rank}X=n,\ X\text{ attracts a neighbourhood}",
        source="this library",
        status="proved",
        truth="proofs/stable_complete.tex",
        instance=equilibrium_instance,
        decide=partial(decide_stable_equilibrium, claims_existence=True),
        draws=tuple(partial(draw_stable_complete, tokens=n) for n in (2, 3, 4)),
        exhibit=partial(exhibit_equilibrium, "own:stable-complete", tokens=3),
        exhibit_refutes=False,
        share=0.0075,
        cost=3,
    ),
    Statement(
        key="dong2021:ln-sphere",
        title="LayerNorm plays no role, sphere meaning",
        claim=r"X(t+1)=\mathrm{LN}(A(t)X(t)W_V)\implies\mu(X(t))\to0,"
        r"\quad\mathrm{LN}\text{ dividing each token by its norm}",
        source="Dong, Cordonnier and Loukas 2021 (arXiv 2103.03404), section 3.3, read with the LayerNorm of "
        "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024",
        status="refuted",
        truth="proofs/wu2024_anisotropy.tex",
        instance=resting_instance,
        decide=decide_sphere_collapse,
        draws=(draw_resting,),
        exhibit=partial(exhibit_equilibrium, "dong2021:ln-sphere"),
        share=0.05,
        notes="Drawn: rational equilibria under causal masks; exhibited: a stable one under no mask. With column "
        "means and deviations, as the section has it, the claim is right: dong2021:3.3.",
    ),
)
