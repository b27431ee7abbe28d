"""karagodin2025:4.3: how fast a cluster on the sphere closes, for tokens of different speeds; explicit constants."""

from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import KARAGODIN_NORMS, OWN

defined(
    "variance_fall(B: array, X: array, s: array)",
    "u = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in "
    "range(len(X))]; y = softmax(u @ B @ T(u)) @ u; v = [[(y[i][a] - sum(y[i][b]*u[i][b] for b in "
    "range(len(X[0])))*u[i][a])/s[i] for a in range(len(X[0]))] for i in range(len(X))]; 2*sum(u[i][a]*v[j][a] for i "
    "in range(len(X)) for j in range(len(X)) for a in range(len(X[0])))/len(X)**2",
    "−d Var/dt, Var = Σ_j‖x_j − m‖²/n about the mean m, of unit tokens with x_j' = P_{x_j}(Σ_k a_jk x_k)/s_j, P_x "
    "the projection off x, a the softmax of the logits x_jᵀBx_k; tokens are divided by their lengths",
    by_name=True,
)


defined(
    "variance(X: array)",
    "u = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in "
    "range(len(X))]; sum((u[i][a] - sum(u[j][a] for j in range(len(X)))/len(X))**2 for i in range(len(X)) for a in "
    "range(len(X[0])))/len(X)",
    "Σ_j‖x_j − m‖²/n about the mean m of the n rows, divided by their lengths",
    example="variance(X) <= 1",
    by_name=True,
)


defined(
    "cone(X: array)",
    "u = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in "
    "range(len(X))]; max(1 - sum(u[i][a]*u[j][a] for a in range(len(X[0]))) for i in range(len(X)) for j in "
    "range(len(X)))",
    "1 − ⟨x_i, x_j⟩, the largest over two rows, divided by their lengths",
    example="cone(X) <= 2",
    by_name=True,
)


defined(
    "most_value(s: array)",
    "max(s[i] for i in range(len(s)))",
    "largest entry",
    example="most_value(s) >= least_value(s)",
)


@predicate(
    "variance_falls(beta: array, X: array)",
    latex=r"\tfrac{{\mathrm d}}{{\mathrm dt}}\operatorname{{Var}}({1})<0",
    because="decided only where the tokens rest",
)
def variance_falls(run: ArrayRun, beta: str, X: str) -> Truth:
    """under x_j' = P_{x_j}Σ_k a_jk x_k, P_x the projection off x, a the softmax of β⟨x_j, x_k⟩, the variance of the
    tokens about their mean falls; it does not where every token is one of ±x_0 and both occur, for then all rest,
    whatever the weights"""
    rows = np.asarray(run[X])
    signs = [1 if (row == rows[0]).all() else -1 if (row == -rows[0]).all() else 0 for row in rows]
    resting = set(signs) == {1, -1}
    return Truth(False if resting else None, "opposite tokens rest, and their variance stays" if resting else "")


defined(
    "in_printed_cone(beta: array, X: array)",
    "all(sum(X[i][a]**2 for a in range(len(X[0]))) == 1 for i in range(n)) and all(1 - sum(X[i][a]*X[j][a] "
    "for a in range(len(X[0]))) < 1/(100*n**2*beta**2) for i in range(n) for j in range(n)) and any(not "
    "X[i][a] == X[0][a] for i in range(n) for a in range(len(X[0])))",
    "all tokens have length 1, not all are equal, and 1 − ⟨x_j, x_k⟩ < 1/(100n²β²) for all j and k",
)


def draw_opposite(rng: Rng, size: int) -> ArrayInstance:
    """The opposite pair of the public formalisation, β = 1/100."""
    return exact_batch("opposite tokens", beta=[Fraction(1, 100)] * size, X=[[[1], [-1]]] * size)


def draw_clusters(rng: Rng, size: int) -> ArrayInstance:
    """Tokens near one direction, some close together, with logits and speeds of any size."""
    n, d = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    X = 10.0 ** rng.uniform(-3, -1, (size, 1, 1)) * rng.standard_normal((size, n, d))
    X[..., 0] += 1.0
    B = 10.0 ** rng.uniform(-2, 0, (size, 1, 1)) * rng.standard_normal((size, d, d))
    return ArrayInstance(
        {"B": B, "X": X, "s": 10.0 ** rng.uniform(-1, 1, (size, 1)) * rng.uniform(1, 1.5, (size, n))},
        "in a cone",
        is_batch=True,
    )


#: Close tokens of one speed: both bounds are nearly reached.
_CLOSE = [{"B": np.eye(2), "X": [[1, 0], [1, e], [1, -e / 2]], "s": [2, 2, 2]} for e in (2.0**-8, 2.0**-14)]

karagodin2025_4_3 = refuted(
    "karagodin2025:4.3",
    "variance_falls(beta, X)",
    given=("beta > 0", "in_printed_cone(beta, X)"),
    arrays={"beta": ", > 0", "X": "n d, n >= 2"},
    title="Variance of a cluster with cosines above 1 − 1/(100n²β²)",
    source=f"{KARAGODIN_NORMS}, Theorem 4.3 (ii), −d Var/dt of the order of Var, its case of LayerNorm after "
    "the map with Q = K = I, as a public formalisation, fxeqxmulfx/transformer, quotes the hypothesis; that "
    "opposite tokens and β = 1/100 satisfy it, and rest, is that formalisation's remark",
    draws=(draw_opposite,),
    share=0.02,
    notes="For small β the hypothesis asks nothing of the cosines. With 1 − ⟨x_j, x_k⟩ < 1/(100n²) as well, "
    "which the formalisation adds, the corollary of own:cluster-speed (proofs/karagodin2025.tex) gives the theorem: "
    "for LayerNorm after the map at all times, before it from a time on that depends on the lengths at the start.",
)

own_cluster_speed = proved(
    "own:cluster-speed",
    "variance_fall(B, X, s) <= 2*variance(X)*exp(w)/least_value(s)"
    " and variance_fall(B, X, s) >= 2*variance(X)*((1 - 3*delta/2)/most_value(s) - (exp(w) - 1)/least_value(s))",
    where={"delta": "cone(X)", "w": "form_size(B)*sqrt(2*delta)"},
    given=("least_value(s) > 0", "most_value(s)*(exp(w) - 1) < least_value(s)*(1 - 3*delta/2)"),
    arrays={"B": "d d", "X": "n d, n >= 2, no zero row", "s": "n"},
    title="Speed at which a cluster on the sphere closes, for tokens of different speeds",
    source=f"{OWN}, after {KARAGODIN_NORMS}, Theorem 4.3 (ii)",
    truth="proofs/karagodin2025.tex",
    draws=(draw_clusters,),
    extremal=written("a close cluster", *_CLOSE),
    sharp=True,
    share=0.3,
    notes="V = I, no mask; s_j is 1 with LayerNorm after the map, the length of token j with LayerNorm before it. "
    "Where all s_j are equal the quotient of the two bounds tends to 1 as the cluster closes.",
)
