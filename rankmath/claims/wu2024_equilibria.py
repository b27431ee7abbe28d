"""Equilibria under sphere LayerNorm that do not collapse, some of them attracting: against the conjecture."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.claims.draws import Rng
from rankmath.claims.instance import ArrayInstance
from rankmath.claims.statement import Exact, Statement
from rankmath.claims.wu2024_masks import PAPER
from rankmath.claims.wu2024_shift import boxed, rational
from rankmath.linalg.masks import Mask, as_mask
from rankmath.linalg.rationals import exact_matrix
from rankmath.validation import InvalidArgument, as_array, as_count


def resting_instance(X: Any, W_V: Any, mask: Any = "causal") -> ArrayInstance:
    """Exact unit tokens that rest under uniform attention (W_QK = 0) over the mask and the exact W_V."""
    tokens, values = exact_matrix("X", X), exact_matrix("W_V", W_V)
    d = len(tokens[0])
    if len(values) != d or len(values[0]) != d:
        raise InvalidArgument(
            f"W_V: {len(values)} × {len(values[0])} given; it must be {d} × {d}, as X has {d} columns"
        )
    graph = as_mask(mask, len(tokens))
    instance = ArrayInstance(
        {"X": np.asarray(tokens, dtype=object), "W_V": np.asarray(values, dtype=object), "allowed": graph.allowed}
    )
    if resting_scales(instance) is None:
        raise InvalidArgument("X: not unit tokens at rest; X_i must be A X W_V up to a positive factor, exactly")
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
    from rankmath.equilibria.wu2024 import rational_full_rank

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
    from rankmath.equilibria.wu2024 import stable_causal_example

    a, w = rational("a", a), rational("w", w)
    c = a / 2 if c is None else rational("c", c)
    stable_causal_example(a, w, c, dim)
    return ArrayInstance({"parameters": boxed([a, w, c]), "dim": np.asarray(as_count("dim", dim, least=2))})


def decide_stable_causal(instance: ArrayInstance) -> Exact:
    """An equilibrium of rank 2 whose Jacobian on both tangent spaces has the claimed eigenvalues, all below 1."""
    import sympy as sp

    from rankmath.equilibria.wu2024 import stable_causal_example

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
    parameters, dims = [boxed([Fraction(1, 2), Fraction(1), Fraction(1, 4)])], [2]
    while len(parameters) < size:
        a = Fraction(int(rng.integers(1, 20)), 20)
        t = Fraction(int(rng.integers(11, 80)), 10)
        # q = −(t² − 1)/(t² + 1) makes √(1 − q²) = 2t/(t² + 1) rational, and with it w.
        q, root = -(t * t - 1) / (t * t + 1), 2 * t / (t * t + 1)
        if q < a - 1:
            w = (1 + (1 - a) * q) / root
            parameters.append(boxed([a, w, a * Fraction(int(rng.integers(1, 10)), 10)]))
            dims.append(int(rng.integers(2, 5)))
    return ArrayInstance(
        {"parameters": np.stack(parameters[:size]), "dim": np.asarray(dims[:size])}, "rational", is_batch=True
    )


def exhibit_stable_causal() -> Certificate:
    """a = ½, w = 1: (0, 1) and (−3/5, −4/5), eigenvalues ½ and 2/5, with a set of starts that it attracts."""
    from rankmath.equilibria.certify import certify_equilibrium
    from rankmath.equilibria.wu2024 import stable_causal_example

    X, W_V, W_QK = stable_causal_example().equilibrium.floats()
    proof = certify_equilibrium(X, W_V, W_QK, "causal", rank=2, stable=True).certificate()
    return issue(replace(proof, statement="own:stable-causal"), decided=True)


def equilibrium_instance(X: Any, W_V: Any, W_QK: Any, mask: Any = "complete") -> ArrayInstance:
    """Tokens near an equilibrium of sphere LayerNorm under an undirected mask in one piece, and exact weights."""
    X = as_array("X", X, ndim=2)
    n, d = X.shape
    graph = as_mask(mask, n)
    if not np.array_equal(graph.allowed, graph.allowed.T):
        raise InvalidArgument("mask: not symmetric; the conjecture is about undirected masks")
    if not (graph.has_self_loops and graph.is_strongly_connected):
        raise InvalidArgument("mask: a token that does not see itself, or several pieces; neither is allowed")
    weights = {name: as_array(name, W, ndim=2, shape=(d, d)) for name, W in (("W_V", W_V), ("W_QK", W_QK))}
    return ArrayInstance({"X": X, **weights, "allowed": graph.allowed})


def complete_instance(X: Any, W_V: Any, W_QK: Any) -> ArrayInstance:
    """Tokens near an equilibrium of sphere LayerNorm without a mask, and exact weights."""
    return equilibrium_instance(X, W_V, W_QK)


def decide_stable_equilibrium(instance: ArrayInstance, *, claims_existence: bool) -> Exact:
    """A true equilibrium near X, its rank, and a ball of starts that converge to it, all proved in balls.

    For existence the rank must be full, against it any rank above one will do. An ArithmeticError where a claim is
    not proved: nothing is decided then.
    """
    from rankmath.equilibria.certify import certify_equilibrium

    X, W_V, W_QK, allowed = (instance[name] for name in ("X", "W_V", "W_QK", "allowed"))
    proof = certify_equilibrium(X, W_V, W_QK, Mask(allowed), stable=True)
    if not proof.proved or proof.rank is None:
        raise ArithmeticError(f"not decided: {'; '.join(map(str, proof.refused))}")
    if proof.rank < (min(X.shape) if claims_existence else 2):
        return Exact(not claims_existence, f"the equilibrium has rank {proof.rank} only")
    return Exact(claims_existence, f"n = {len(X)}, in balls: " + "; ".join(claim.reason for claim in proof.claims))


def draw_stable_complete(rng: Rng, size: int, *, tokens: int) -> ArrayInstance:
    """The stable full-rank equilibrium of n tokens in n dimensions under the complete mask."""
    found = stable_complete(tokens)
    return ArrayInstance({name: array[None] for name, array in found.arrays.items()}, "complete", is_batch=True)


@lru_cache(maxsize=8)
def stable_complete(tokens: int) -> ArrayInstance:
    from rankmath.equilibria.constructions import layernorm_equilibrium

    found = layernorm_equilibrium(tokens, tokens, tokens, mask="complete", stable=True)
    return equilibrium_instance(found.X, found.W_V, found.W_QK, found.mask)


def exhibit_equilibrium(key: str, *, tokens: int = 2) -> Certificate:
    """The equilibrium that `key` says exists, or that refutes it, proved in balls and accepted by the checker."""
    from rankmath.equilibria.certify import certify_equilibrium

    X, W_V, W_QK, allowed = stable_complete(tokens).arrays.values()
    return certify_equilibrium(X, W_V, W_QK, Mask(allowed), stable=True).certificate(key)


STATEMENTS = (
    Statement(
        key="wu2024:conjecture",
        title="No equilibria of rank above one under undirected masks, or none that attracts",
        claim=r"\text{undirected mask in one piece, sphere LayerNorm}\implies"
        r"\text{no equilibrium of rank}>1\text{ attracts}",
        source=f"{PAPER}, stated there as a conjecture",
        status="refuted",
        truth="proofs/stable_complete.tex",
        instance=equilibrium_instance,
        decide=partial(decide_stable_equilibrium, claims_existence=False),
        draws=(partial(draw_stable_complete, tokens=2),),
        exhibit=partial(exhibit_equilibrium, "wu2024:conjecture"),
        share=0.0025,
        notes="The paper conjectures that there are none. Registered, and refuted, is the weaker claim that none "
        "attracts: see own:stable-complete.",
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
        exhibit=exhibit_stable_causal,
        exhibit_refutes=False,
        share=0.03,
    ),
    Statement(
        key="own:stable-complete",
        title="Stable full-rank equilibria under the complete mask",
        claim=r"n=d\in\{2,\dots,7\},\ \text{complete mask, sphere LayerNorm}:\ \exists W_V,W_{QK},X:\ "
        r"\mathrm{LN}(A(X)XW_V)=X,\ \operatorname{rank}X=n,\ X\text{ attracts a neighbourhood}",
        source="this library",
        status="proved",
        truth="proofs/stable_complete.tex",
        instance=complete_instance,
        decide=partial(decide_stable_equilibrium, claims_existence=True),
        draws=tuple(partial(draw_stable_complete, tokens=n) for n in range(2, 8)),
        exhibit=partial(exhibit_equilibrium, "own:stable-complete", tokens=3),
        exhibit_refutes=False,
        share=0.015,
        cost=3,
        notes="For each of these n existence, rank and an attracting set are proved in balls, and again, with a "
        "smaller set, by the checker. Exhibited: n = 3.",
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
