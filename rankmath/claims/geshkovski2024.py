"""geshkovski2024: metastable clusters on the sphere; how long they stay apart, and how fast each closes meanwhile."""

from collections.abc import Iterator

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.validation import Array
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.papers import GESHKOVSKI_SLOW, OWN

_UNIT = (
    "u = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in range(len(X))]"
)
_GAPS = f"{_UNIT}; C = u @ T(u)"


defined(
    "pair_gap(X: array)",
    f"{_GAPS}; 1 - C[0][1]",
    "1 − ⟨x_0, x_1⟩; rows are divided by their lengths",
    example="pair_gap(X) <= 2",
    by_name=True,
)


defined(
    "inner_gap(X: array, m: array)",
    f"{_GAPS}; max(1 - C[i][j] for i in range(m) for j in range(2, m)) if m > 2 else 0",
    "the largest 1 − ⟨x_i, x_j⟩ of a pair of the first m rows, the pair of the first two left out, 0 if there is none; "
    "rows are divided by their lengths",
    example="inner_gap(X, m) <= 2",
    by_name=True,
)


defined(
    "outer_gap(X: array, m: array)",
    f"{_GAPS}; min(1 - C[i][j] for i in range(m) for j in range(m, n)) if m < n else 2",
    "the least 1 − ⟨x_i, x_j⟩ of one of the first m rows and one of the others, 2 if there is no other; rows are "
    "divided by their lengths",
    example="outer_gap(X, m) <= 2",
    by_name=True,
)


defined(
    "pair_speed(X: array, beta: array)",
    f"{_GAPS}; P = softmax(beta*C); sum(P[0][j]*(C[j][1] - C[j][0]*C[0][1]) + P[1][j]*(C[j][0] - "
    "C[j][1]*C[0][1]) for j in range(n))",
    "d⟨x_0, x_1⟩/dt for tokens on the sphere that follow dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P the softmax of "
    "the logits β⟨x_i, x_k⟩; rows are divided by their lengths",
    example="pair_speed(X, beta) <= 4",
    by_name=True,
)


defined(
    "cap_height(X: array, w: array)",
    f"{_UNIT}; sum(u[0][a]*w[a] for a in range(len(w)))/sqrt(sum(w[a]**2 for a in range(len(w))))",
    "⟨x_0, w⟩; rows of X and w are divided by their lengths",
    example="cap_height(X, w) <= 1",
    by_name=True,
)


defined(
    "cap_least(X: array, w: array, m: array)",
    f"{_UNIT}; min(sum(u[i][a]*w[a] for a in range(len(w)))/sqrt(sum(w[a]**2 for a in range(len(w)))) for i in "
    "range(1, m)) if m > 1 else 1",
    "the least ⟨x_i, w⟩ of the first m rows other than the first, 1 if there is none; rows of X and w are divided by "
    "their lengths",
    example="cap_least(X, w, m) <= 1",
    by_name=True,
)


defined(
    "cap_fall(X: array, w: array, beta: array)",
    f"{_GAPS}; P = softmax(beta*C); h = [sum(u[j][a]*w[a] for a in range(len(w)))/sqrt(sum(w[a]**2 for a in "
    "range(len(w)))) for j in range(n)]; sum(P[0][j]*(C[j][0]*h[0] - h[j]) for j in range(n))",
    "−d⟨x_0, w⟩/dt for tokens on the sphere that follow dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P the softmax of "
    "the logits β⟨x_i, x_k⟩; rows of X and w are divided by their lengths",
    example="cap_fall(X, w, beta) <= 2",
    by_name=True,
)


# -- instances ---------------------------------------------------------------------------------------------


def draw_clusters(rng: Rng, size: int) -> ArrayInstance:
    """A cluster and tokens elsewhere; the two of the cluster that are farthest apart come first."""
    n, d = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    m = int(rng.integers(2, n))
    X = rng.standard_normal((size, n, d)) - 0.5 * np.eye(d)[0]
    X[:, :m] = np.eye(d)[0] + 10.0 ** rng.uniform(-2, -0.2, (size, 1, 1)) * rng.standard_normal((size, m, d))
    _farthest_first(X, m)
    return ArrayInstance(
        {"X": X, "beta": 10.0 ** rng.uniform(-1, 1, size), "m": np.full(size, float(m))}, "a cluster", is_batch=True
    )


def _farthest_first(X: Array, m: int) -> None:
    """Put the two of the first m tokens that are farthest apart in front."""
    u = X[:, :m] / np.linalg.norm(X[:, :m], axis=-1, keepdims=True)
    for one, C in zip(X, u @ np.swapaxes(u, -1, -2), strict=True):
        i, j = sorted(np.unravel_index(C.argmin(), C.shape))
        one[[0, i]] = one[[i, 0]]
        one[[1, j]] = one[[j, 1]]


def draw_wide(rng: Rng, size: int) -> ArrayInstance:
    """A cluster as wide as an orthant, of any number of tokens, others anywhere or none; lengths and β of any size."""
    n, d = int(rng.integers(3, 9)), int(rng.integers(2, 9))
    m = int(rng.integers(2, n + 1))
    X = rng.standard_normal((size, n, d))
    X[:, :m] = np.abs(X[:, :m])
    X *= 10.0 ** rng.uniform(-3, 3, (size, n, 1))
    _farthest_first(X, m)
    beta = 10.0 ** rng.uniform(-2, 2, size) * (rng.random(size) > 0.1)
    return ArrayInstance({"X": X, "beta": beta, "m": np.full(size, float(m))}, "an orthant", is_batch=True)


def draw_crowded(rng: Rng, size: int) -> ArrayInstance:
    """Several tokens in a cap about any w, the lowest first, and others anywhere."""
    drawn = draw_wide(rng, size)
    X, m = drawn["X"], int(drawn["m"][0])
    w = np.abs(rng.standard_normal((size, X.shape[-1]))) * 10.0 ** rng.uniform(-2, 2, (size, 1))
    heights = (X[:, :m] / np.linalg.norm(X[:, :m], axis=-1, keepdims=True) @ w[..., None])[..., 0]
    for one, lowest in zip(X, heights.argmin(axis=-1), strict=True):
        one[[0, lowest]] = one[[lowest, 0]]
    return ArrayInstance(drawn.arrays | {"w": w}, "a crowded cap", is_batch=True)


def draw_caps(rng: Rng, size: int) -> ArrayInstance:
    """A token alone in its cap, others anywhere, and w on the side from which they draw it away."""
    drawn = draw_clusters(rng, size)
    X, beta = drawn["X"], drawn["beta"]
    u = X / np.linalg.norm(X, axis=-1, keepdims=True)
    shares = np.exp(beta[:, None] * ((u @ u[:, 0, :, None])[..., 0] - 1))
    pull = (shares[:, None, :] @ u)[:, 0]
    pull -= (pull * u[:, 0]).sum(axis=-1, keepdims=True) * u[:, 0]
    w = u[:, 0] - rng.uniform(0.1, 1, (size, 1)) * pull / np.linalg.norm(pull, axis=-1, keepdims=True)
    return ArrayInstance(drawn.arrays | {"m": np.ones(size), "w": w}, "a cap", is_batch=True)


def pair_alone(rng: Rng) -> Iterator[ArrayInstance]:
    """Two tokens and a third opposite to both of them: nearly a pair alone."""
    for k, beta in ((1, 8.0), (2, 12.0)):
        X = np.asarray([[1.0, 2.0**-k], [1.0, -(2.0**-k)], [-1.0, 2.0**-10]])
        yield ArrayInstance({"X": X, "beta": np.asarray(beta), "m": np.asarray(2.0)}, "a pair")


def pulled_down(rng: Rng) -> Iterator[ArrayInstance]:
    """A token, and others at a right angle to it on the side away from w."""
    for beta in (0.25, 2.0):
        X = np.asarray([[1.0, 0.0], [2.0**-20, -1.0], [0.0, -1.0]])
        w, one = np.asarray([0.96875, 0.25]), np.asarray(1.0)
        yield ArrayInstance({"X": X, "beta": np.asarray(beta), "m": one, "w": w}, "at a right angle")


_READ = "the wording from a public formalisation, fxeqxmulfx/transformer"
_CLUSTER = {"X": "n d, n >= 2, no zero row", "beta": ", >= 0", "m": ", whole, >= 2"}
_CAP = {"X": "n d, no zero row", "w": "d, no zero row", "beta": ", >= 0", "m": ", whole, >= 1"}
_WIDEST = ("m >= 2", "m <= n", "inner_gap(X, m) <= g", "g <= 1", "beta >= 0")
_LOWEST = ("m >= 1", "m <= n", "cap_height(X, w) <= cap_least(X, w, m)", "cap_height(X, w) >= 0", "beta >= 0")
_LEFT = "(n - m)*exp(-beta*outer_gap(X, m))"

geshkovski2024_cluster = proved(
    "geshkovski2024:cluster",
    "pair_speed(X, beta) + 2*n*exp(-beta*outer_gap(X, m)) >= 2*(1 - g)*g*exp(-beta*g)/n",
    where={"g": "pair_gap(X)"},
    given=_WIDEST,
    arrays=_CLUSTER,
    title="A cluster of the first m tokens: growth of its least cosine",
    source=f"{GESHKOVSKI_SLOW}, section 2, the differential inequality for the least cosine of a cap; {_READ}",
    draws=(draw_clusters, draw_wide),
    share=0.1,
    notes="Sharper: own:cluster.",
)

own_cluster = proved(
    "own:cluster",
    "pair_speed(X, beta) + 2*kappa/(1 + kappa)*min(sqrt(g*(2 - g)), g*(1 + (2 - g)*beta)) >= "
    "2*g*(2 - g)*rho/(m - 1 + rho + kappa)",
    where={"g": "pair_gap(X)", "rho": "exp(-beta*g)", "kappa": _LEFT},
    given=_WIDEST,
    arrays=_CLUSTER,
    title="A cluster of the first m tokens: rate of its least cosine",
    source=f"{OWN}, beside {GESHKOVSKI_SLOW}",
    truth="proofs/geshkovski2024.tex",
    draws=(draw_clusters, draw_wide),
    extremal=pair_alone,
    sharp=True,
    share=0.1,
    notes="It implies geshkovski2024:cluster, and that the largest 1 − ⟨x_i, x_j⟩ within a cluster, where it is "
    "neither 0 nor above 1, falls as long as n(1 + β)κ < ρ, ρ and κ those of that pair.",
)

geshkovski2024_escape = proved(
    "geshkovski2024:escape",
    "cap_fall(X, w, beta) <= n*exp(-beta*outer_gap(X, m))",
    given=_LOWEST,
    arrays=_CAP,
    title="Escape from a cap: slowness of the lowest of the first m tokens",
    source=f"{GESHKOVSKI_SLOW}, section 2, the step that keeps tokens in their caps; {_READ}",
    draws=(draw_caps, draw_crowded),
    share=0.1,
    notes="Sharper: own:escape.",
)

own_escape = proved(
    "own:escape",
    "cap_fall(X, w, beta) <= sqrt(1 - cap_height(X, w)**2)*kappa/(1 + kappa)",
    where={"kappa": _LEFT},
    given=_LOWEST,
    arrays=_CAP,
    title="Escape from a cap: speed of the lowest of the first m tokens",
    source=f"{OWN}, beside {GESHKOVSKI_SLOW}",
    truth="proofs/geshkovski2024.tex",
    draws=(draw_caps, draw_crowded),
    extremal=pulled_down,
    sharp=True,
    share=0.1,
    notes="It implies geshkovski2024:escape. A cap ⟨x, w⟩ ≥ c, c ≥ 0, that holds all tokens they never leave.",
)
