"""Wu et al. 2024, orthogonal values under sphere LayerNorm: collapse from a hemisphere, and the rates that fail.

`wu2024:2`, `wu2024:cor1` and `own:hemisphere` hold; with the radius in it, the printed rate of Theorem 2 does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from rankmath.attention.centred import Tokens, attention_step, centre, norm_step, weights_of
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import certify_cosine_step, certify_radius_rate
from rankmath.claims.draws import Rng, moderate_tokens, networks
from rankmath.claims.instance import ArrayInstance, NetworkInstance, network_instance
from rankmath.claims.quantities import (
    Run,
    log,
    log_positive,
    unbox,
)
from rankmath.claims.statement import Evaluation, Exact, Hypothesis, Side, Statement, fact
from rankmath.claims.verdict import Outcome, Verdict
from rankmath.claims.wu2024_masks import (
    MASKS,
    PAPER,
    least_attention,
    log_one_minus_exp,
    mask_hypotheses,
    mask_of,
    radius_of,
)
from rankmath.dynamics.enclosures import log_diameter
from rankmath.linalg.diameters import diameter
from rankmath.linalg.masks import Mask, as_mask
from rankmath.linalg.rationals import exact_matrix
from rankmath.model.network import LayerNorm, Network
from rankmath.validation import Array, InvalidArgument, as_count

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
        raise InvalidArgument("X: a token is zero; sphere LayerNorm needs tokens with a direction")
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
        *mask_hypotheses(A, mask),
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
        raise InvalidArgument("A: not a square row-stochastic matrix; use Fractions or dyadic floats")
    mask = Mask(np.asarray([[x > 0 for x in row] for row in rows]))
    if not (mask.has_self_loops and mask.is_strongly_connected and mask.radius == 1):
        raise InvalidArgument("A: its graph must have self-loops, be strongly connected and have radius 1")
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


def certify_step(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    """The verdict on the step from exact attention, in the checker's hands."""
    return certify_cosine_step(instance["A"], kind="holds" if verdict.outcome == Outcome.HOLDS else "violates")


def exhibit_star() -> Certificate:
    """The smallest star that breaks the step: three tokens, ε = ⅓, two leaves at the cosine 1/5 < nε² = ⅓."""
    return certify_cosine_step(star_attention(3, Fraction(1, 3)))


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
        raise InvalidArgument("mask: self-loops and strong connectivity are needed")
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


def certify_rate(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    """The mask that breaks the rate; nothing is issued where the rate is right."""
    return certify_radius_rate(instance["allowed"])


def exhibit_hub_chain() -> Certificate:
    """Nine tokens, the fewest for which nε² reaches 1 with three keys."""
    return certify_radius_rate(hub_chain(9).allowed)


def draw_hub_chains(rng: Rng, size: int) -> ArrayInstance:
    """From nine tokens on nε² reaches 1; for an odd number of them the attention is invertible; in any order."""
    n = 2 * int(rng.integers(4, 8)) + 1
    order = rng.permutation(n)
    return ArrayInstance(
        {"allowed": hub_chain(n).allowed[np.ix_(order, order)][None]}, "hub and chain", is_batch=True
    )


_SPHERE = r"X(t+1)=\mathrm{LN}(A(t)X(t)W_V(t)),\ W_V(t)^{\mathsf T}W_V(t)=I"


STATEMENTS = (
    Statement(
        key="wu2024:2",
        title="Orthogonal values under sphere LayerNorm collapse from full rank, with our rate for the printed one",
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
        certificate=certify_step,
        exhibit=exhibit_star,
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
        certificate=certify_rate,
        exhibit=exhibit_hub_chain,
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
)
