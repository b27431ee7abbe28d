"""karagodin2024: causal tokens that flow on the sphere; two conjectures on where they end, and what is true."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.rationals import exact_array
from rankmath.verification.claim import ArrayInstance, Instance, Rng, proved, refuted
from rankmath.verification.data import Declared
from rankmath.verification.papers import KARAGODIN, OWN

_DATA = {"V": "d d", "Q": "e d", "K": "e d", "beta": ", >= 0", "X": "n d, double"}
_SIGNATURE = "(V: array, Q: array, K: array, beta: array, X: array)"
_WORDING = (
    "the wording from a public formalisation, fxeqxmulfx/transformer, which names the paper's labels; we have not "
    "seen the paper's own"
)


defined(
    f"distinct_positive{_SIGNATURE}",
    "positive_eigenvalues(V) == len(V)",
    "V has d distinct eigenvalues, all real and positive; in balls",
)


defined(
    f"symmetric_values{_SIGNATURE}",
    "all(V[i][j] == V[j][i] for i in range(len(V)) for j in range(len(V)))",
    "V is symmetric",
)


@predicate(
    f"two_clusters{_SIGNATURE}",
    latex=r"\text{{under }}\dot x_k=P_{{x_k}}\sum_{{j\le k}}a_{{kj}}{0}x_j,\ "
    r"a=\operatorname{{softmax}}({3}\langle {1}x_k,{2}x_j\rangle)\text{{, every token tends to }}\pm\xi"
    r"\text{{ from almost every start near }}{4}",
    because="a limit, for almost every start: only refuted, by a sink",
)
def two_clusters(run: ArrayRun, V: str, Q: str, K: str, beta: str, X: str) -> Truth:
    """under the causal flow x_k' = P(Σ_{j≤k} a_kj V x_j), a the softmax of β⟨Qx_k, Kx_j⟩, P the projection off
    x_k, every token tends to ξ or −ξ, ξ the unit eigenvector of the largest eigenvalue of V, from almost every
    start near X"""
    from rankmath.equilibria.flow import Flow
    from rankmath.equilibria.flow_proof import NotProved

    values, query, key = (np.asarray(run[name], dtype=object) for name in (V, Q, K))
    flow = Flow(values, query, key, run[beta], "causal")
    try:
        proof = flow.certify(np.asarray(run[X], dtype=float))
    except NotProved as error:
        return Truth(None, str(error))
    off = proof.kind == "sink" and any(proof.turned())
    sink = "; ".join("(" + ", ".join(f"{x:.4g}" for x in row) + ")" for row in proof.tokens)
    rates = ", ".join(f"{high:.4g}" for _, high in proof.bounds())
    return Truth(False if off else None, f"in balls: a {proof.kind} at {sink}, eigenvalues {rates}")


#: V, Q, K, β, tokens, and the eigenvalues of V with their eigenvectors, the largest first.
_RATIONAL = ([[2, -2], [0, 1]], [[0, 0]], [[0, 0]], 1, [[1, 0], [Fraction(-4, 5), Fraction(3, 5)]])
_SYMMETRIC = ([[2, 0], [0, 1]], [[0, 1]], [[0, 1]], 4, [[1, 0], [-0.893645, 0.448774]])
_VECTORS = {"general": [[1, 0], [2, 1]], "symmetric": [[1, 0], [0, 1]]}


def third_sink(kind: str) -> ArrayInstance:
    """Two tokens on the circle that rest where the second is at neither of ±ξ."""
    V, Q, K, beta, X = _RATIONAL if kind == "general" else _SYMMETRIC
    tokens = np.asarray(X, dtype=float)
    return Declared(_DATA, exact=True)(V, Q, K, beta, tokens / np.linalg.norm(tokens, axis=1, keepdims=True))


def draw_sink(rng: Rng, size: int, *, kind: str) -> ArrayInstance:
    """The same instance as a batch of one."""
    found = third_sink(kind).arrays
    return ArrayInstance({name: np.asarray(array)[None] for name, array in found.items()}, kind, is_batch=True)


def exhibit_sink(key: str, *, kind: str) -> Certificate:
    """The sink, proved in balls, with the exact eigenvalues 2 and 1 of V, accepted by the checker."""
    from rankmath.equilibria.flow import Flow

    V, Q, K, beta, X = _RATIONAL if kind == "general" else _SYMMETRIC
    proof = Flow(V, Q, K, beta, "causal").certify(third_sink(kind)["X"])
    exact = {"tokens": exact_array("tokens", X, (2, 2))} if kind == "general" else {}
    return proof.certificate(key, values=[2, 1], vectors=_VECTORS[kind], **exact)


karagodin2024_two_clusters = refuted(
    "karagodin2024:two-clusters",
    "two_clusters(V, Q, K, beta, X)",
    given="distinct_positive(V, Q, K, beta, X)",
    arrays=_DATA,
    title="Two opposite limits of causal tokens on the sphere (conjectured)",
    source=f"{KARAGODIN}, section 4, conjecture for V with distinct positive eigenvalues; {_WORDING}",
    draws=(partial(draw_sink, kind="general"), partial(draw_sink, kind="symmetric")),
    exhibit=partial(exhibit_sink, "karagodin2024:two-clusters", kind="general"),
    share=0.005,
    notes="Two tokens on the circle, V = [[2, −2], [0, 1]], Q = K = 0: e_0 and (−4/5, 3/5) are a sink with "
    "eigenvalues −1 and −3/10. What is true of symmetric V: own:flow-one-cluster.",
)

karagodin2024_symmetric = refuted(
    "karagodin2024:two-clusters-symmetric",
    "two_clusters(V, Q, K, beta, X)",
    given=("distinct_positive(V, Q, K, beta, X)", "symmetric_values(V, Q, K, beta, X)"),
    arrays=_DATA,
    title="Two opposite limits of causal tokens on the sphere, symmetric V",
    source=f"{KARAGODIN}, the same conjecture, read for symmetric V alone: a hypothesis that we add",
    draws=(partial(draw_sink, kind="symmetric"),),
    exhibit=partial(exhibit_sink, "karagodin2024:two-clusters-symmetric", kind="symmetric"),
    share=0.005,
    notes="V = diag(2, 1), Q = K = (0, 1), β = 4: a sink at e_0, (−0.8936…, 0.4487…) with eigenvalues −1 and −0.7501….",
)

# -- what is true ------------------------------------------------------------------------------------------


defined(
    "climb(lam: array, B: array, x: array, m: array)",
    "u = [x[a]/sqrt(sum(x[b]**2 for b in range(len(x)))) for a in range(len(x))]; p = exp(sum(u[a]*B[a][b]*u[b] for "
    "a in range(len(u)) for b in range(len(u)))); q = exp(sum(u[a]*B[a][0] for a in range(len(u)))); (m*q*lam[0]*(1 "
    "- u[0]**2) + p*u[0]*(lam[0] - sum(lam[a]*u[a]**2 for a in range(len(u)))))/(m*q + p)",
    "d⟨x, e_0⟩/dt of a unit token x that sees itself and m tokens at e_0 under V = diag(λ), with the logits xᵀBy; x "
    "is divided by its length",
    by_name=True,
)


defined(
    "off_axis(x: array)",
    "1 - x[0]**2/sum(x[a]**2 for a in range(len(x)))",
    "1 − ⟨x, e_0⟩², x divided by its length",
    example="off_axis(x) <= 1",
    by_name=True,
)


defined("first_value(lam: array)", "lam[0]", "first entry", example="first_value(lam) > 0")


defined(
    "first_is_largest(lam: array)",
    "all(lam[0] >= lam[i] for i in range(len(lam)))",
    "no entry is larger than the first",
)


def draw_climbs(rng: Rng, size: int) -> ArrayInstance:
    """Positive definite V, queries and keys within the condition, half of the tokens near −e_0."""
    d, m = int(rng.integers(2, 6)), rng.integers(1, 5, size) * 1.0
    lam = rng.uniform(0.0, 1.0, (size, d))
    lam[:, 0] = lam.max(axis=1) + rng.uniform(0.0, 1.0, size)
    x = rng.standard_normal((size, d))
    x[: size // 2, 1:] *= 10.0 ** rng.uniform(-4, 0, (size // 2, 1))
    x[: size // 2, 0] = -abs(x[: size // 2, 0])
    B = rng.standard_normal((size, d, d))
    most = np.log(m * lam[:, 0] / (lam[:, 0] - lam.min(axis=1))) / 2
    B *= (rng.uniform(0.01, 0.99, size) * most / np.linalg.norm(B, 2, axis=(1, 2)))[:, None, None]
    return ArrayInstance({"lam": lam, "B": B, "x": x, "m": m}, "random", is_batch=True)


def nearly_opposite(rng: Rng) -> Iterator[Instance]:
    """A token near −e_0 in the direction of the least eigenvalue, with B a multiple of the identity."""
    for top, strength, m in ((2.0, 0.25, 1), (1.5, 0.75, 2), (4.0, 0.5, 3)):
        yield own_flow_one_cluster.instance([top, 1.0], strength * np.eye(2), [-1.0, 2.0**-13], m)


own_flow_one_cluster = proved(
    "own:flow-one-cluster",
    "climb(lam, B, x, m) >= off_axis(x)*(m*first_value(lam) - s*(first_value(lam) - least_value(lam)))/(m + s)",
    where={"s": "exp(2*form_size(B))"},
    given=("first_is_largest(lam)", "m > 0", "s*(first_value(lam) - least_value(lam)) < m*first_value(lam)"),
    arrays={"lam": "d, d >= 2", "B": "d d", "x": "d, no zero row", "m": ", whole, >= 1"},
    title="One limit of causal tokens under a symmetric V, by its first and last eigenvalue",
    source=f"{OWN}, after the conjecture of {KARAGODIN}",
    truth="proofs/karagodin2024.tex",
    draws=(draw_climbs,),
    extremal=nearly_opposite,
    sharp=True,
    share=0.3,
    notes="So where V is symmetric, λ_0 > λ_1 ≥ … ≥ λ_{d−1}, λ_0 > 0 and e^{2‖B‖} < λ_0/(λ_0 − λ_{d−1}), B = βQᵀK, "
    "all tokens tend to the same one of ±ξ, ξ the unit eigenvector of λ_0, from almost every start. In terms of ‖B‖, "
    "λ_0 and λ_{d−1} the condition is the best, up to equality; in terms of λ_1: own:flow-second-value.",
)

# -- the sharp condition -----------------------------------------------------------------------------------


defined(
    "tilting(lam: array, B: array, x: array, m: array)",
    "u = [x[a]/sqrt(sum(x[b]**2 for b in range(len(x)))) for a in range(len(x))]; p = exp(sum(u[a]*B[a][b]*u[b] for "
    "a in range(len(u)) for b in range(len(u)))); q = exp(sum(u[a]*B[a][0] for a in range(len(u)))); (m*q*lam[0]/(0 "
    "- u[0]) - p*(lam[0] - lam[1]))/(m*q + p)",
    "d log(|x_1|/|x_0|)/dt, with its limit where x_1 = 0, of a unit token x, x_0 < 0, that sees itself and m tokens at "
    "e_0 under V = diag(λ), with the logits xᵀBy; x is divided by its length",
    example="tilting(lam, B, x, m) > 0",
    by_name=True,
)


defined("second_value(lam: array)", "lam[1]", "second entry", example="second_value(lam) > 0")


def draw_tilts(rng: Rng, size: int) -> ArrayInstance:
    """Values of any sign beside the first, logits of any size, tokens on the far side, some near −e_0."""
    d, m = int(rng.integers(2, 6)), rng.integers(1, 5, size) * 1.0
    lam = rng.standard_normal((size, d))
    lam[:, 0] = np.maximum(lam[:, 1], 0) + rng.exponential(1, size)
    x = rng.standard_normal((size, d))
    x[: size // 2, 1:] *= 10.0 ** rng.uniform(-4, 0, (size // 2, 1))
    x[:, 0] = -abs(x[:, 0])
    B = rng.standard_normal((size, d, d)) * 10.0 ** rng.uniform(-2, 0.3, (size, 1, 1))
    return ArrayInstance({"lam": lam, "B": B, "x": x, "m": m}, "random", is_batch=True)


def nearly_the_far_pole(rng: Rng) -> Iterator[Instance]:
    """A token near −e_0, with B a multiple of the identity."""
    for top, strength, m in ((2.0, 0.25, 1), (1.5, 0.75, 2), (4.0, 0.5, 3)):
        yield own_flow_second_value.instance([top, 1.0, -3.0], strength * np.eye(3), [-1.0, 2.0**-13, 2.0**-13], m)


own_flow_second_value = proved(
    "own:flow-second-value",
    "tilting(lam, B, x, m) >= (m*first_value(lam) - s*(first_value(lam) - second_value(lam)))/(m + s)",
    where={"s": "exp(2*form_size(B))"},
    given=("first_value(x) < 0", "first_value(lam) >= second_value(lam)", "first_value(lam) >= 0", "m > 0"),
    arrays={"lam": "d, d >= 2", "B": "d d", "x": "d, no zero row", "m": ", whole, >= 1"},
    title="One limit of causal tokens under a symmetric V, by its first two eigenvalues",
    source=f"{OWN}, after the conjecture of {KARAGODIN}",
    truth="proofs/karagodin2024.tex",
    draws=(draw_tilts,),
    extremal=nearly_the_far_pole,
    sharp=True,
    share=0.3,
    notes="So where V is symmetric, λ_0 > λ_1 ≥ … ≥ λ_{d−1}, λ_0 > 0, e^{2‖B‖} < λ_0/(λ_0 − λ_1), B = βQᵀK, and "
    "e^{2⟨ξ, Bξ⟩}(λ_0 − λ_i) ≠ mλ_0 where λ_i < λ_1 and 1 ≤ m < n, all tokens tend to the same one of ±ξ, ξ the unit "
    "eigenvector of λ_0, from almost every start. In terms of ‖B‖, λ_0 and λ_1 the condition is the best, up to "
    "equality.",
)

# -- the second conjecture ---------------------------------------------------------------------------------


defined(
    "aligning(lam: array, M: array, B: array, X: array)",
    "k = len(X[0]) - len(M); p = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(k)] for i "
    "in range(2)]; r = [sqrt(sum(p[i][a]**2 for a in range(k))) for i in range(2)]; U = "
    "[[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in range(2)]; s = "
    "exp(sum(U[1][a]*B[a][b]*(U[1][b] - U[0][b]) for a in range(len(X[0])) for b in range(len(X[0])))); v = "
    "[lam*(p[0][a] + s*p[1][a])/(1 + s) for a in range(k)]; c = sum(p[0][a]*p[1][a] for a in range(k))/(r[0]*r[1]); "
    "(sum(p[0][a]*v[a] for a in range(k))/r[0] - c*sum(p[1][a]*v[a] for a in range(k))/r[1])/r[1]",
    "d cos φ/dt, φ the angle of p_0 and p_1, p_i the part of x_i in L, the first coordinates; two causal tokens "
    "under V = λ on L and M on the others, with the logits x_iᵀBx_j; tokens are divided by their lengths",
    by_name=True,
)


defined(
    "lead(M: array, X: array)",
    "k = len(X[0]) - len(M); sqrt(sum(X[0][a]**2 for a in range(k))/sum(X[0][a]**2 for a in range(len(X[0]))))",
    "length of the part p_0 of the first token in L",
    example="lead(M, X) <= 1",
    by_name=True,
)


defined(
    "parts_in_space(M: array, X: array)",
    "k = len(X[0]) - len(M); all(sum(X[i][a]**2 for a in range(k)) > 0 for i in range(2))",
    "neither of the parts p_0 and p_1 of the two tokens in L is 0",
)


defined(
    "sine_square(M: array, X: array)",
    "k = len(X[0]) - len(M); 1 - sum(X[0][a]*X[1][a] for a in range(k))**2/(sum(X[0][a]**2 for a in "
    "range(k))*sum(X[1][a]**2 for a in range(k)))",
    "squared sine of the angle of the parts p_0 and p_1 of two tokens in L",
    example="sine_square(M, X) <= 1",
    by_name=True,
)


def draw_pairs(rng: Rng, size: int) -> ArrayInstance:
    """Random tokens, values and logits; L of dimension two or more."""
    k, dim = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    d = k + dim
    B = 10.0 ** rng.uniform(-2, 0.5, (size, 1, 1)) * rng.standard_normal((size, d, d))
    X, M = rng.standard_normal((size, 2, d)), rng.standard_normal((size, k, k))
    return ArrayInstance({"lam": rng.uniform(0.1, 3, size), "M": M, "B": B, "X": X}, "random", is_batch=True)


def nearly_apart(rng: Rng) -> Iterator[Instance]:
    """Tokens in L that are nearly opposite, with B a multiple of the identity."""
    for strength in (0.25, 1.0):
        X = [[1.0, 0.0, 0.0], [-1.0, 2.0**-7, 0.0]]
        yield karagodin2024_subspace_two.instance(1.0, [[0.5]], strength * np.eye(3), X)


karagodin2024_subspace_two = proved(
    "karagodin2024:subspace-two",
    "aligning(lam, M, B, X) >= lam*lead(M, X)*sine_square(M, X)/(1 + exp(2*form_size(B)))",
    given=("lam > 0", "parts_in_space(M, X)"),
    arrays={"lam": "", "M": "m m", "B": "d d", "X": "2 d"},
    title="Limits of two causal tokens under a V with a multiple largest eigenvalue",
    source=f"{OWN}; it gives a conjecture of {KARAGODIN}, on a top eigenvalue of multiplicity two or more, for two "
    f"tokens; {_WORDING}",
    draws=(draw_pairs,),
    extremal=nearly_apart,
    sharp=True,
    share=0.3,
    notes="So where ⟨Mz, z⟩ < λ‖z‖² for all z ≠ 0 both tokens tend to the normalised L-part of the first, from "
    "every start with independent L-parts. More tokens: own:flow-subspace and proofs/karagodin2024.tex.",
)


defined(
    "rise(lam: array, c: array, x: array, m: array)",
    "u = [x[a]/sqrt(sum(x[b]**2 for b in range(len(x)))) for a in range(len(x))]; p = exp(c*sum(lam[a]*u[a]**2 for a "
    "in range(len(x)))); q = exp(c*lam[0]*u[0]); g = [p*lam[a]*u[a] + (m*q*lam[0] if a == 0 else 0) for a in "
    "range(len(x))]; h = sum(g[a]*u[a] for a in range(len(x))); sum(g[a]*(g[a] - h*u[a]) for a in "
    "range(len(x)))/(m*q + p)",
    "df/dt, its limit for c = 0, f = (m e^(cλ_0 x_0) + e^(c⟨x, Vx⟩)/2)/c, along the path of a unit token x that "
    "sees itself and m tokens at e_0 under V = diag(λ), with the logits c xᵀVy; x is divided by its length",
    example="rise(lam, c, x, m) >= 0",
    by_name=True,
)


defined(
    "pace(lam: array, c: array, x: array, m: array)",
    "u = [x[a]/sqrt(sum(x[b]**2 for b in range(len(x)))) for a in range(len(x))]; p = exp(c*sum(lam[a]*u[a]**2 for a "
    "in range(len(x)))); q = exp(c*lam[0]*u[0]); g = [p*lam[a]*u[a] + (m*q*lam[0] if a == 0 else 0) for a in "
    "range(len(x))]; h = sum(g[a]*u[a] for a in range(len(x))); sqrt(sum((g[a] - h*u[a])**2 for a in "
    "range(len(x))))/(m*q + p)",
    "length of the velocity of that token",
    example="pace(lam, c, x, m) >= 0",
    by_name=True,
)


defined(
    "largest_size(lam: array)",
    "max(abs(lam[i]) for i in range(len(lam)))",
    "largest absolute value of an entry",
    example="largest_size(lam) >= 0",
)


def draw_rises(rng: Rng, size: int) -> ArrayInstance:
    """Any values, any tokens, c of either sign."""
    d, m = int(rng.integers(1, 6)), rng.integers(1, 5, size) * 1.0
    lam, x = rng.standard_normal((2, size, d))
    c = rng.standard_normal(size) * 10.0 ** rng.uniform(-2, 0.3, size)
    return ArrayInstance({"lam": lam, "c": c, "x": x, "m": m}, "random", is_batch=True)


def nearly_uniform(rng: Rng) -> Iterator[Instance]:
    """Attention that is nearly uniform: nearly equalities."""
    for c in (2.0**-14, -(2.0**-14)):
        yield own_flow_subspace.instance([1.0, 1.0, 0.5], c, [-1.0, 0.5, 0.25], 2)


own_flow_subspace = proved(
    "own:flow-subspace",
    "rise(lam, c, x, m) >= (m + 1)*exp(0 - abs(c)*largest_size(lam))*pace(lam, c, x, m)**2",
    given=("m > 0",),
    arrays={"lam": "d", "c": "", "x": "d, no zero row", "m": ", whole, >= 1"},
    title="Limits of causal tokens under a symmetric V with a multiple eigenvalue, QᵀK a multiple of V",
    source=f"{OWN}; it gives a conjecture of {KARAGODIN}, on a top eigenvalue of multiplicity two or more, for such "
    f"logits; {_WORDING}",
    truth="proofs/karagodin2024.tex",
    draws=(draw_rises,),
    extremal=nearly_uniform,
    sharp=True,
    share=0.3,
    notes="So where V is symmetric, its largest eigenvalue positive and multiple, and βQᵀK = cV, c of either sign, "
    "all tokens tend to the normalised part of the first in the eigenspace, from almost every start, for every n. For "
    "c = 0 it is an equality.",
)
