"""noci2022:zero-grad: attention moves with its queries and keys only as far as tokens differ; Grüss's constant."""

from functools import partial

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.draws import written
from rankmath.verification.papers import NOCI, OWN

defined(
    "weight_gradient(Z: array, M: array, V: array, G: array, i: layer)",
    "p = softmax(Z @ M @ T(Z)); f = Z @ G @ T(Z); v = Z @ V; sqrt(sum(sum(p[i][j]*(f[i][j] - sum(p[i][k]*f[i][k] for "
    "k in range(n)))*v[j][a] for j in range(n))**2 for a in range(len(v[0]))))",
    "ℓ₂ norm of the derivative of token i of softmax(ZMZᵀ)ZV when M moves along G",
    example="weight_gradient(Z, M, V, G, 0) >= 0",
    by_name=True,
)


defined(
    "logit_shift(Z: array, M: array, G: array, i: layer)",
    "f = Z @ G @ T(Z); max(f[i][j] for j in range(n)) - min(f[i][j] for j in range(n))",
    "largest minus least z_i G z_jᵀ over j: how far row i of the logits moves along G",
    example="logit_shift(Z, M, G, 0) >= 0",
    by_name=True,
)


defined(
    "value_spread(Z: array, V: array)",
    "v = Z @ V; max(sqrt(sum((v[i][a] - v[j][a])**2 for a in range(len(v[0])))) for i in range(n) for j in range(n))",
    "largest ℓ₂ distance of two rows of Z V",
    by_name=True,
)


defined(
    "equal_tokens(Z: array)",
    "all(Z[i][a] == Z[0][a] for i in range(n) for a in range(len(Z[0])))",
    "all rows are equal",
)
defined(
    "no_gradient(Z: array, M: array, V: array, G: array)",
    "f = Z @ G @ T(Z); v = Z @ V; all(sum((f[i][j] - sum(f[i][k] for k in range(n))/n)*v[j][a] for j in "
    "range(n)) == 0 for i in range(n) for a in range(len(v[0])))",
    "Σ_j (f_ij − Σ_k f_ik/n) z_j V = 0 for f = ZGZᵀ: attention on equal tokens is 1/n, whatever M",
    by_name=True,
)


def draw_gradients(rng: Rng, size: int, *, equal: bool = False) -> ArrayInstance:
    """Tokens of any spread (none where equal) about a mean, weights and directions of any scale."""
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    spread = 0.0 if equal else 10.0 ** rng.uniform(-4, 0.7, (size, 1, 1))
    Z = rng.standard_normal((size, 1, d)) + spread * rng.standard_normal((size, n, d))
    M, V, G = (10.0 ** rng.uniform(-1, 0.7, (size, 1, 1)) * rng.standard_normal((size, d, d)) for _ in range(3))
    return ArrayInstance({"Z": Z, "M": M, "V": V, "G": G}, "equal" if equal else "random", is_batch=True)


#: Half of the tokens at a + 1 and half at a − 1 with logits nearly even: Grüss's equality.
_TWO_SIDES = [{"Z": [[1], [1], [-1], [-1]], "M": [[off]], "V": [[1]], "G": [[1]]} for off in (1e-1, 1e-4)]

noci2022_zero_grad = proved(
    "noci2022:zero-grad",
    "no_gradient(Z, M, V, G)",
    given="equal_tokens(Z)",
    arrays={"Z": "n d", "M": "d d", "V": "d m", "G": "d d"},
    title="Gradient of queries and keys at equal tokens",
    source=f"{NOCI}, on vanishing gradients under rank collapse, as we read it: X = 1xᵀ makes the derivative of "
    "self-attention in W_Q and in W_K vanish (M = W_Q W_Kᵀ/√d_qk moves along G = dW_Q W_Kᵀ/√d_qk or "
    "W_Q dW_Kᵀ/√d_qk)",
    draws=(partial(draw_gradients, equal=True),),
    share=0.1,
)

own_zero_grad = proved(
    "own:zero-grad",
    "all_i(weight_gradient(Z, M, V, G, i) <= value_spread(Z, V)*logit_shift(Z, M, G, i)/4)",
    arrays={"Z": "n d", "M": "d d", "V": "d m", "G": "d d"},
    title="Effect of queries and keys on a token",
    source=f"{OWN}, by Grüss's inequality",
    draws=(draw_gradients,),
    extremal=written("two sides", *_TWO_SIDES),
    certificate="Z M V G",
    sharp=True,
    share=0.5,
)
