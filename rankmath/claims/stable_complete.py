"""wu2024:conjecture and own:stable-complete: attracting equilibria of full rank without a mask;
unstated:ln-sphere."""

from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.masks import Mask
from rankmath.validation import NumpyArray, Objects
from rankmath.verification.claim import ArrayInstance, Rng, ours, refuted
from rankmath.verification.papers import DONG, OWN, WU

_DATA = {"X": "n d, double", "W_V": "d d, double", "W_QK": "d d, double", "allowed": "mask n = complete"}
_SIGNATURE = "(X: array, W_V: array, W_QK: array, allowed: array)"


def _attracting_rank(run: ArrayRun) -> tuple[int | None, str]:
    """The rank of a true equilibrium near X that attracts a neighbourhood, proved in balls; None where
    nothing is proved."""
    if "attracting rank" not in run.memory:
        from rankmath.equilibria.certify import certify_equilibrium

        X, W_V, W_QK, allowed = (run[name] for name in _DATA)
        # The checker chooses how large a set is stated, not whether there is one: a certificate asks it.
        proof = certify_equilibrium(X, W_V, W_QK, Mask(np.asarray(allowed, dtype=bool)), stable=True, checked=False)
        if proof.proved and proof.rank is not None:
            words = f"n = {len(X)}, in balls: " + "; ".join(claim.reason for claim in proof.claims)
            run.memory["attracting rank"] = proof.rank, words
        else:
            run.memory["attracting rank"] = None, f"not decided: {'; '.join(map(str, proof.refused))}"
    found: tuple[int | None, str] = run.memory["attracting rank"]
    return found


defined(
    f"undirected{_SIGNATURE}",
    "all(allowed[i][j] == allowed[j][i] for i in range(n) for j in range(n)) and all(allowed[i][i] == 1 "
    "for i in range(n)) and all(mpower(allowed, n)[i][j] > 0 for i in range(n) for j in range(n))",
    "the mask is symmetric, every token sees itself, and it is in one piece",
)
defined(
    f"no_mask{_SIGNATURE}",
    "all(allowed[i][j] == 1 for i in range(n) for j in range(n)) and len(X) == len(X[0])",
    "every token sees every token, and there are as many tokens as dimensions",
)


@predicate(
    f"attracts_at_full_rank{_SIGNATURE}",
    latex=r"\text{{near }}{0}\text{{ an equilibrium }}\mathrm{{LN}}(A(Z)Z{1})=Z\text{{ of rank }}n\text{{ attracts "
    r"a neighbourhood}}",
    because="a limit, for every start near by: proved in balls",
)
def attracts_at_full_rank(run: ArrayRun, X: str, W_V: str, W_QK: str, allowed: str) -> Truth:
    """near X there is an equilibrium Z of full rank that attracts a neighbourhood, of Z ↦ LN(A(Z)ZW_V), A(Z) the
    softmax of Z W_QK Zᵀ over the pairs of the mask, LN the division of every token by its norm"""
    rank, words = _attracting_rank(run)
    return Truth(None if rank is None else rank == min(np.shape(run[X])), words)


@predicate(
    f"none_attracts{_SIGNATURE}",
    latex=r"\text{{no equilibrium }}\mathrm{{LN}}(A(Z)Z{1})=Z\text{{ of rank above one attracts}}",
    because="about all equilibria: refuted by one",
)
def none_attracts(run: ArrayRun, X: str, W_V: str, W_QK: str, allowed: str) -> Truth:
    """no equilibrium of rank above one of X ↦ LN(A(X)XW_V) attracts a neighbourhood, A(X) the softmax of X W_QK Xᵀ
    over the pairs of the mask, LN the division of every token by its norm"""
    rank, words = _attracting_rank(run)
    return Truth(False if rank is not None and rank > 1 else None, words)


def draw_stable_complete(rng: Rng, size: int, *, tokens: int) -> ArrayInstance:
    """The stable full-rank equilibrium of n tokens in n dimensions under the complete mask."""
    found = stable_complete(tokens)
    return ArrayInstance({name: array[None] for name, array in found.arrays.items()}, "complete", is_batch=True)


@lru_cache(maxsize=8)
def stable_complete(tokens: int) -> ArrayInstance:
    from rankmath.equilibria.constructions import layernorm_equilibrium

    found = layernorm_equilibrium(tokens, tokens, tokens, mask="complete", stable=True)
    return ArrayInstance({"X": found.X, "W_V": found.W_V, "W_QK": found.W_QK, "allowed": found.mask.allowed})


def exhibit_equilibrium(key: str, *, tokens: int = 2) -> Certificate:
    """The equilibrium that `key` says exists, or that refutes it, proved in balls and accepted by the checker."""
    from rankmath.equilibria.certify import certify_equilibrium

    X, W_V, W_QK, allowed = stable_complete(tokens).arrays.values()
    return certify_equilibrium(X, W_V, W_QK, Mask(allowed), stable=True).certificate(key)


own_stable_complete = ours(
    "own:stable-complete",
    "attracts_at_full_rank(X, W_V, W_QK, allowed)",
    given="no_mask(X, W_V, W_QK, allowed)",
    arrays=_DATA,
    quantifier="some",
    source=f"{OWN}, against a conjecture of {WU}",
    title="Stable full-rank equilibria under the complete mask",
    draws=tuple(partial(draw_stable_complete, tokens=n) for n in range(2, 8)),
    exhibit=partial(exhibit_equilibrium, "own:stable-complete", tokens=3),
    share=0.015,
    cost=3,
    notes="One token is a trivial instance. The certificate has three tokens; the Coq theorem asks for two or more.",
)

wu2024_conjecture = refuted(
    "wu2024:conjecture",
    "none_attracts(X, W_V, W_QK, allowed)",
    given="undirected(X, W_V, W_QK, allowed)",
    arrays=_DATA,
    title="Stability of equilibria of rank above one under undirected masks (conjectured)",
    source=f"{WU}, stated there as a conjecture: that there are none; registered is the weaker claim that "
    f"none attracts",
    draws=(partial(draw_stable_complete, tokens=2),),
    exhibit=partial(exhibit_equilibrium, "wu2024:conjecture"),
    share=0.0025,
    notes="See own:stable-complete-every-n.",
)


defined(
    "at_rest(X: array, W_V: array, allowed: array)",
    "A = [[allowed[i][j]/sum(allowed[i][k] for k in range(n)) for j in range(n)] for i in range(n)]; Y = A @ "
    "X @ W_V; d = len(X[0]); all(sum(X[i][a]**2 for a in range(d)) == 1 for i in range(n)) and "
    "all(sum(X[i][b]*Y[i][b] for b in range(d)) > 0 for i in range(n)) and all(Y[i][a] == sum(X[i][b]*Y[i][b] "
    "for b in range(d))*X[i][a] for i in range(n) for a in range(d))",
    "unit tokens that rest under uniform attention over the mask, values W_V and division by their norms",
    by_name=True,
)
defined(
    "collapses(X: array)",
    "all(X[i][a] == X[0][a] for i in range(n) for a in range(len(X[0])))",
    "tokens at rest collapse only if all are equal",
)


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


def _fractions(M: NumpyArray) -> Objects:
    return np.asarray([[Fraction(int(x.p), int(x.q)) for x in row] for row in M.tolist()], dtype=object)


def exhibit_resting() -> Certificate:
    """Two causal tokens with uniform attention, (0, 1) and (−3/5, −4/5), and a set of starts that they attract."""
    from rankmath.equilibria.certify import certify_equilibrium
    from rankmath.equilibria.wu2024 import stable_causal_example

    X, W_V, W_QK = stable_causal_example().equilibrium.floats()
    return certify_equilibrium(X, W_V, W_QK, "causal", rank=2, stable=True).certificate("unstated:ln-sphere")


unstated_ln_sphere = refuted(
    "unstated:ln-sphere",
    "collapses(X)",
    given="at_rest(X, W_V, allowed)",
    arrays={"X": "n d", "W_V": "d d", "allowed": "mask n = causal"},
    title="Doubly exponential collapse whatever a sphere LayerNorm: a claim that nobody makes",
    source=f"{OWN}; nobody states it: section 3.3 of {DONG} is about column LayerNorm, a right multiplication "
    f"(dong2021:3.3), and {WU} show that it is false of this one",
    truth="proofs/wu2024_anisotropy.tex",
    draws=(draw_resting,),
    exhibit=exhibit_resting,
    share=0.05,
    notes="Without a mask: own:stable-complete.",
)
