"""kim2021:3.2: attention by distances is Lipschitz on all of space; the printed constant and a smaller one."""

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, exact_batch, ours, proved
from rankmath.verification.draws import Rng, clustered_tokens, low_rank_tokens, moderate_tokens
from rankmath.verification.papers import KIM, OWN

defined(
    "inverse_phi(x: number)",
    "lambert(x/exp(1))",
    "of a number x, Lambert's function at x/e: the y ≥ 0 with y e^{y+1} = x",
    example="inverse_phi(1) <= 1",
)


defined(
    "distance_jacobian_norm(Z: array)",
    "P = softmax([[-sum((Z[i][a] - Z[j][a])**2 for a in range(len(Z[0]))) for j in range(n)] for i in range(n)]); d "
    "= len(Z[0]); f = P @ Z; spectral([[P[i][k]*identity(d)[a][b] - 2*sum(P[i][j]*(Z[i][b] - "
    "Z[j][b])*(identity(n)[i][k] - identity(n)[j][k])*(Z[j][a] - f[i][a]) for j in range(n)) for i in range(n) for a "
    "in range(d)] for k in range(n) for b in range(d)])",
    "spectral norm of the derivative of f(Z)_i = Σ_j P_ij z_j, P_ij in proportion to e^{−‖z_i − z_j‖²}",
    by_name=True,
)


defined(
    "received(Z: array)",
    "P = softmax([[-sum((Z[i][a] - Z[j][a])**2 for a in range(len(Z[0]))) for j in range(n)] for i in range(n)]); "
    "max(sum(P[i][j] for i in range(n)) for j in range(n))",
    "the most attention that one token receives in all, P_ij in proportion to e^{−‖z_i − z_j‖²}",
    example="received(Z) >= 1",
    by_name=True,
)


defined(
    "crowd_gain(m: array)",
    "o = m**2/4; t = 2/m; u = m/(m + o*t); v = m*t/(m*t + 1 + (o - 1)*t**2); (m*u**2 + o*v**2)/m",
    "‖P1_M‖²/‖1_M‖² of attention by distances, M a set of m equal tokens and 1_M its indicator, among m²/4 others that "
    "lie in orthogonal directions at the distance r from them, e^{−r²} = 2/m",
    by_name=True,
    example="crowd_gain(m) >= 1",
)


def draw_crowds(rng: Rng, size: int) -> ArrayInstance:
    counts = 2 * rng.integers(2, 2 ** rng.integers(2, 12, size))
    return exact_batch("crowds", m=counts)


def draw_tokens(rng: Rng, size: int) -> ArrayInstance:
    """Tokens of every kind, their distances about one."""
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    tokens = (moderate_tokens, clustered_tokens, low_rank_tokens)[int(rng.integers(3))]
    return ArrayInstance({"Z": tokens(rng, size, n, d)}, tokens.__name__.replace("_", " "), is_batch=True)


def draw_star(rng: Rng, size: int) -> ArrayInstance:
    """One token in the middle of many, where a change of it moves all the others."""
    n, d = int(rng.integers(4, 8)), 2
    radius = rng.uniform(0.8, 1.8, (size, 1, 1))
    angle = np.linspace(0, rng.uniform(0.5, 2 * np.pi), n - 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    Z = np.concatenate([np.zeros((size, 1, d)), radius * ring], axis=-2)
    return ArrayInstance({"Z": Z + 1e-3 * rng.standard_normal(Z.shape)}, "star", is_batch=True)


def draw_rays(rng: Rng, size: int) -> ArrayInstance:
    """One token in the middle of others in orthogonal directions: it receives about √n/2 in all."""
    n = int(rng.integers(4, 26))
    radius = rng.uniform(0.5, 1.8, (size, 1, 1))
    Z = np.concatenate([np.zeros((size, 1, n - 1)), radius * np.eye(n - 1)], axis=-2)
    return ArrayInstance({"Z": Z + 1e-3 * rng.standard_normal(Z.shape)}, "rays", is_batch=True)


kim2021_3_2 = proved(
    "kim2021:3.2",
    "distance_jacobian_norm(Z) <= sqrt(n)*(4*phi + 1)",
    where={"phi": "inverse_phi(n - 1)"},
    arrays={"Z": "n d"},
    title="Attention by distances: a Lipschitz constant in ℓ₂",
    source=f"{KIM}, Theorem 3.2, the bound on Lip₂, wording from memory, as we read it: one head with W_Q = W_K in "
    "the tokens z = xW_Q/(D/H)^{1/4}, D/H the head size; the linear maps before and after contribute their norms",
    draws=(draw_tokens, draw_star),
    share=0.4,
)

own_l2_lipschitz = ours(
    "own:l2-lipschitz",
    "distance_jacobian_norm(Z) <= n**(1/4) + 2*phi + 2*sqrt(phi*min((n - 1)*tau, sqrt(n)*log(n)/2))",
    where={"phi": "inverse_phi(n - 1)", "tau": "inverse_phi(1)"},
    arrays={"Z": "n d"},
    source=f"{OWN}, for the attention by distances of {KIM}",
    title="Attention by distances: an upper bound of its Lipschitz constant in ℓ₂",
    draws=(draw_tokens, draw_star),
    share=0.4,
    notes="Never more than kim2021:3.2. It grows like n^{1/4} log n, that one like √n log n.",
)

own_received = ours(
    "own:received",
    "received(Z) <= sqrt(n)",
    arrays={"Z": "n d"},
    source=f"{OWN}, for the attention by distances of {KIM}",
    title="What a token receives from attention by distances",
    draws=(draw_tokens, draw_rays),
    share=0.4,
    notes="So too on the unit sphere with the logits β⟨x_i, x_j⟩, β ≥ 0. The order is right: a token in the middle of "
    "others in orthogonal directions, at the best distance, receives about √n/2.",
)

own_l2_lower = ours(
    "own:l2-lower",
    "crowd_gain(m) >= m/16 + 4/9",
    given="m >= 4",
    arrays={"m": ", even, >= 4"},
    source=f"{OWN}, for the attention by distances of {KIM}",
    title="Attention by distances: a lower bound of its Lipschitz constant in ℓ₂",
    draws=(draw_crowds,),
    share=0.1,
    notes="For n = m + m²/4 tokens and a dimension to spare: along it the derivative is P, so the constant is at "
    "least ‖P‖₂ ≥ √m/4, about n^{1/4}/(2√2). So own:l2-lipschitz is right up to a factor of order log n, where d may "
    "grow with n.",
)
