"""Search for full-rank LayerNorm equilibria that attract (O6): the spectral radius over the general design.

The design W_V = (A X)⁺ D X makes any X an equilibrium, so the search runs over (X, W_QK, D) without constraint.
The Jacobian is the analytic one; its derivative with respect to the parameters is a complex step, exact to
rounding.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

import numpy as np
import scipy.linalg
import scipy.optimize

from rankmath.arithmetic.float64 import to_numpy
from rankmath.attention.backend import Backend, mover
from rankmath.equilibria.map import Floats, beside, design, jacobian, power_sum, reordered
from rankmath.linalg.masks import Mask, as_mask
from rankmath.validation import InvalidArgument, as_count, as_real

# A smooth function of the Jacobian and a level, with its gradient in the entries.
Measure: TypeAlias = Callable[[Floats, float], tuple[float, Floats]]

_COMPLEX_STEP = 1e-30
_OUT_OF_DOMAIN = 1e3
# Exponents p of the smooth stand-in (Σ|λ|^p)^{1/p} for the spectral radius, from forgiving to sharp.
_SHARPNESS = (6, 20)
# Then rates q at which log tr Σ (J/q)ᵀᵏ(J/q)ᵏ is made small: stable, and far from a shear.
_RATES = (0.99, 0.95)
_RIDGE = 1e-4
_THINNESS = 10.0
# Numbers held at once in a batch of complex Jacobians.
_BATCH = 4_000_000


@dataclass(frozen=True, eq=False)
class StableDesign:
    """A k × k design on the sphere: k distinct tokens X, W_V, W = W_QK/√d_qk, and what was reached.

    ``radius`` is the spectral radius of all tokens' Jacobian, ``smallest_singular_value`` that of X.
    """

    X: Floats
    W_V: Floats
    W: Floats
    radius: float
    smallest_singular_value: float


def cluster_weights(allowed: Floats, clusters: Sequence[int]) -> Floats:
    """How many members of cluster c' each member of cluster c sees, rows up to a common factor.

    Row-wise softmax ignores a common factor of a row, so members of c need only proportional counts: the first
    tokens under a causal mask are such a cluster. ValueError if the mask does not treat members alike.

    >>> cluster_weights(np.tril(np.ones((3, 3))), [0, 0, 1])
    array([[1., 0.],
           [2., 1.]])
    """
    labels = np.asarray(clusters)
    count = int(labels.max()) + 1
    member = (labels[:, None] == np.arange(count)).astype(float)
    counts = np.asarray(allowed, dtype=float) @ member
    first = np.array([np.flatnonzero(labels == c)[0] for c in range(count)])
    chosen = counts[first]
    # Integer cross-multiplication: exact.
    if not np.array_equal(counts * chosen[labels].sum(axis=1)[:, None], chosen[labels] * counts.sum(axis=1)[:, None]):
        raise InvalidArgument(
            f"clusters: {list(clusters)} given; the mask does not treat the members of a cluster alike"
        )
    return np.asarray(chosen)


@dataclass(frozen=True, eq=False)
class _Family:
    """The parameters (X, W, log D) of k clusters in k dimensions, as one vector."""

    allowed: Floats
    labels: Floats
    k: int
    least_singular_value: float
    order: Floats
    move: Callable[[Floats], Floats]  # where the batches of Jacobians are computed

    @property
    def size(self) -> int:
        return 2 * self.k**2 + self.k

    def parts(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        k, lead = self.k, p.shape[:-1]
        X = p[..., : k * k].reshape(*lead, k, k)
        X = X / np.sqrt((X * X).sum(axis=-1, keepdims=True))
        return X, p[..., k * k : 2 * k * k].reshape(*lead, k, k), np.exp(p[..., 2 * k * k :])

    def design(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        X, W, D = self.parts(p)
        weights = beside(p, cluster_weights(self.allowed, self.labels.tolist()))
        return X, design(X, D, W, weights, order=self.order), W

    def jacobian(self, p: Floats) -> Floats:
        X, W_V, W = self.design(p)
        J = jacobian(X[..., self.labels, :], W_V, W, beside(p, self.allowed), "sphere")
        return J if len(self.labels) > self.k else reordered(J, self.order, self.k)

    def objective(self, p: Floats, measure: Measure, level: float) -> tuple[float, Floats]:
        """`measure` of the Jacobian with its gradient, a ridge on W and log D, and a floor on σ_min(X)."""
        nowhere = _OUT_OF_DOMAIN, np.zeros_like(p)
        try:
            # A line search may step where the exponentials overflow; it is told so and comes back.
            with np.errstate(all="ignore"):
                J = self.jacobian(p)
                if not np.all(np.isfinite(J)):
                    return nowhere
                value, slope = measure(J, level)
                gradient = self._pull_back(p, slope)
        except np.linalg.LinAlgError:
            return nowhere
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return nowhere
        free = slice(self.k**2, None)
        value += _RIDGE * float(p[free] @ p[free])
        gradient[free] += 2 * _RIDGE * p[free]
        penalty, penalty_gradient = self._thinness(p)
        return value + penalty, gradient + penalty_gradient

    def _pull_back(self, p: Floats, slope: Floats) -> Floats:
        """Σ_ij slope_ij ∂J_ij/∂p."""
        chunk = max(1, _BATCH // slope.size)
        there = self.move(slope)
        parts = [
            np.einsum("pij,ij->p", self.jacobian(self.move(p + 1j * _COMPLEX_STEP * rows)).imag, there)
            for rows in np.split(np.eye(self.size), range(chunk, self.size, chunk))
        ]
        return np.concatenate([to_numpy(part) for part in parts]) / _COMPLEX_STEP

    def _thinness(self, p: Floats) -> tuple[float, Floats]:
        """A multiple of log²(floor/σ_min) where σ_min(X) is below the floor."""
        k = self.k
        gradient = np.zeros_like(p)
        raw = p[: k * k].reshape(k, k)
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        X = raw / length
        U, sigma, Vt = np.linalg.svd(X)
        if sigma[-1] >= self.least_singular_value:
            return 0.0, gradient
        lack = float(np.log(self.least_singular_value / sigma[-1]))
        towards = -2 * _THINNESS * lack / sigma[-1] * np.outer(U[:, -1], Vt[-1])
        towards -= (towards * X).sum(axis=1, keepdims=True) * X
        gradient[: k * k] = (towards / length).ravel()
        return _THINNESS * lack**2, gradient


def log_modulus_mean(J: Floats, sharpness: float) -> tuple[float, Floats]:
    """log (Σ|λ_i|^p)^{1/p} over the eigenvalues of a real J, and its gradient with respect to the entries of J.

    ∂|λ| = Re(λ̄ uᴴ ∂J v)/(|λ| uᴴv) for a simple eigenvalue with left and right vectors u, v.

    >>> value, gradient = log_modulus_mean(np.diag([2.0, 1.0]), 1)
    >>> np.allclose(value, np.log(3)), np.allclose(gradient, np.eye(2) / 3)
    (True, True)
    """
    eigenvalues, left, right = map(np.asarray, scipy.linalg.eig(J, left=True, right=True))
    modulus = np.abs(eigenvalues)
    largest = float(modulus.max())
    if largest == 0:
        raise np.linalg.LinAlgError("nilpotent: the logarithm of the spectral radius is not finite")
    power = (modulus / largest) ** sharpness
    total = float(power.sum())
    # The rest weighs nothing, and its vectors may be ill-conditioned.
    heavy = power > 1e-12 * total
    angle = np.einsum("im,im->m", left.conj(), right)[heavy]
    if np.any(np.abs(angle) < 1e-12):
        raise np.linalg.LinAlgError("defective: the spectral radius has no gradient")
    scale = power[heavy] / total * eigenvalues[heavy].conj() / modulus[heavy] ** 2 / angle
    gradient = np.einsum("im,m,jm->ij", left[:, heavy].conj(), scale, right[:, heavy]).real
    return float(np.log(largest) + np.log(total) / sharpness), np.asarray(gradient)


def log_lyapunov_trace(J: Floats, rate: float) -> tuple[float, Floats]:
    """log tr P, P = Σ (J/q)ᵀᵏ(J/q)ᵏ, and its gradient 2 P J Q/(q² tr P) with Q = Σ (J/q)ᵏ(J/q)ᵀᵏ; needs ρ(J) < q.

    >>> value, gradient = log_lyapunov_trace(np.array([[0.5]]), 1)
    >>> np.allclose(value, np.log(4 / 3)), np.allclose(gradient, 4 / 3)
    (True, True)
    """
    B = J / rate
    if not np.abs(np.linalg.eigvals(B)).max() < 1 - 1e-9:
        raise np.linalg.LinAlgError("the spectral radius is not below the rate: the series diverges")
    P, Q = power_sum(B), power_sum(B.T)
    trace = float(np.trace(P))
    return float(np.log(trace)), np.asarray(2 * P @ B @ Q / (rate * trace))


def stable_search(
    mask: Mask,
    clusters: Sequence[int],
    *,
    seed: int = 0,
    restarts: int = 60,
    target_radius: float = 0.9,
    least_singular_value: float = 0.3,
    order: Sequence[int] | None = None,
    backend: Backend = "numpy",
    progress: Callable[[int, float], None] | None = None,
) -> StableDesign:
    """k distinct tokens in k dimensions whose equilibrium attracts, if one is found (O6).

    Stops at the first restart with spectral radius ≤ `target_radius` and σ_min(X) ≥ `least_singular_value`; else
    returns the smallest radius seen. Nothing is proved here: see `certify_equilibrium`.

    Parameters
    ----------
    mask : who sees whom, on all tokens.
    clusters : the cluster 0 … k−1 of every token; the mask must treat the members of a cluster alike.
    order : a permutation of the tokens, each a cluster of its own; the search is then for F(X) = X[order], tokens
        that exchange places, and the spectral radius is that of X ↦ F(X) followed by the way back.
    backend : "cupy" computes the gradients, batches of Jacobians, on a GPU; it pays from eight tokens or so on.
    progress : called with the restart's number and the smallest radius so far.

    Examples
    --------
    >>> found = stable_search(Mask.complete(2), [0, 1], seed=1)
    >>> found.radius < 0.9 and found.smallest_singular_value >= 0.29
    True
    """
    restarts = as_count("restarts", restarts)
    target_radius = as_real("target_radius", target_radius, positive=True)
    floor = as_real("least_singular_value", least_singular_value, positive=True)
    if floor >= 1:
        raise InvalidArgument(f"least_singular_value: {floor} given; k unit tokens in k dimensions have σ_min ≤ 1")
    labels = np.asarray(clusters)
    if labels.shape != (mask.n,) or labels.dtype.kind != "i" or set(labels.tolist()) != set(range(labels.max() + 1)):
        raise InvalidArgument(f"clusters: {clusters} given; the cluster 0, 1, … of each of {mask.n} tokens is needed")
    allowed = mask.allowed.astype(float)
    cluster_weights(allowed, labels.tolist())
    k = int(labels.max()) + 1
    places = np.arange(k) if order is None else np.asarray(order)
    if order is not None and (k < mask.n or sorted(places.tolist()) != list(range(k))):
        raise InvalidArgument(f"order: {order} given; a permutation of {mask.n} tokens, none in a cluster, is needed")
    if k == 1:  # in one dimension the sphere is two points, so nothing moves
        return StableDesign(np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), 0.0, 1.0)
    # Aim a little above the floor: the penalty is soft.
    aim = min(1.07 * floor, (1 + floor) / 2)
    family = _Family(allowed, labels, k, aim, places, mover(backend))
    rng = np.random.default_rng(as_count("seed", seed, least=0))
    best: tuple[float, Floats] | None = None
    for restart in range(restarts):
        p = _descend(family, rng)
        radius = float(np.abs(np.linalg.eigvals(family.jacobian(p))).max()) if p is not None else np.inf
        if p is not None and _sigma_min(family, p) >= floor and (best is None or radius < best[0]):
            best = radius, p
        if progress is not None:
            progress(restart, np.inf if best is None else best[0])
        if best is not None and best[0] <= target_radius:
            break
    if best is None:
        raise RuntimeError(f"no equilibrium with σ_min ≥ {floor} found in {restarts} restarts")
    X, W_V, W = family.design(best[1])
    return StableDesign(X=X, W_V=W_V, W=W, radius=best[0], smallest_singular_value=_sigma_min(family, best[1]))


def _sigma_min(family: _Family, p: Floats) -> float:
    return float(np.linalg.svd(family.parts(p)[0], compute_uv=False)[-1])


def _descend(family: _Family, rng: np.random.Generator) -> Floats | None:
    k = family.k
    heat = rng.choice([0.5, 1.0, 2.0, 4.0])
    p: Floats = np.concatenate(
        [rng.standard_normal(k * k), heat * rng.standard_normal(k * k), 0.5 * rng.standard_normal(k)]
    )
    stages: list[tuple[Measure, float]] = [
        *((log_modulus_mean, sharpness) for sharpness in _SHARPNESS),
        *((log_lyapunov_trace, rate) for rate in _RATES),
    ]
    for measure, level in stages:
        found = scipy.optimize.minimize(
            family.objective, p, args=(measure, level), jac=True, method="BFGS", options={"maxiter": 150}
        )
        if found.fun >= _OUT_OF_DOMAIN:
            break
        p = np.asarray(found.x)
        # A start this far off does not come back: the next one is cheaper.
        if measure is log_modulus_mean and found.fun >= np.log(1.6):
            return None
    return p


#: The unit of the numbers in `stable_designs.txt`.
_UNIT = 2.0**-14

# Weights found by climbing in the share of random starts that do not collapse: mask, W_V and W_QK, n = d.
LARGE_BASINS: dict[str, tuple[str, list[list[float]], list[list[float]]]] = {
    "two tokens, no mask": ("complete", [[-0.5625, 0.390625], [1.0, -0.41796875]], [[3.0625, 5.125], [-2.1875, -5.0]]),
    "two tokens, causal": (
        "causal",
        [[1.0, 0.04296875], [0.203125, 0.8359375]],
        [[0.9375, 1.4375], [-5.6875, 12.8125]],
    ),
    "three tokens, no mask": (
        "complete",
        [[1.0, 0.07421875, -0.3125], [-0.46484375, 0.40234375, 0.21484375], [-0.1015625, -0.08984375, 0.046875]],
        [[1.3125, -4.0, -0.75], [0.1875, 8.0, -1.6875], [3.125, 2.4375, 6.9375]],
    ),
}


def stored_design(mask: Mask) -> tuple[Floats, Floats, Floats] | None:
    """X, W_V and W_QK of a stable equilibrium of full rank n = d under this mask, None where none is kept.

    >>> X, W_V, W_QK = stored_design(Mask.complete(3))
    >>> X.shape, stored_design(as_mask("star", 4))[0].shape, stored_design(Mask.complete(100))
    ((3, 3), (4, 4), None)
    """
    text = files("rankmath.equilibria").joinpath("stable_designs.txt").read_text(encoding="utf-8")
    for name, numbers in re.findall(r"^(\w+ \d+):\n([^a-z]*)", text, re.MULTILINE):
        kind, size = name.split()
        if mask.n == int(size) and mask == as_mask(kind, mask.n):
            X, W_V, W_QK = _UNIT * np.array(numbers.split(), dtype=float).reshape(3, mask.n, mask.n)
            return X, W_V, W_QK
    return None
