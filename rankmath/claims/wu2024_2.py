"""wu2024:2, its corollary and own:hemisphere: orthogonal values under sphere LayerNorm collapse; a step
that fails."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from rankmath.claims.wu2024_1 import MASKS
from rankmath.linalg.masks import Mask
from rankmath.model.network import LayerNorm, Network
from rankmath.validation import Array, Floats
from rankmath.verification.claim import NetworkInstance, ours, proved, refuted
from rankmath.verification.draws import Rng, Tokens, moderate_tokens, networks
from rankmath.verification.papers import OWN, WU


class SphereInstance(NetworkInstance):
    """A network with sphere LayerNorm; an adversary turns X and W_QK and leaves the values alone."""

    def select(self, index: int) -> "SphereInstance":
        if not self.is_batch:
            return self
        return SphereInstance(self.net.member(index), self.X[index], self.label)

    def vector(self) -> Floats:
        return np.concatenate([np.asarray(self.X).ravel(), np.asarray(self.net.W_QK).ravel()])

    def at(self, vector: Floats) -> "SphereInstance":
        X, query = np.split(vector, [self.X.size])
        net = self.net.replace(query=query.reshape(self.net.W_QK.shape), key=None)
        return SphereInstance(net, X.reshape(self.X.shape), self.label)


def draw_sphere(
    tokens: Tokens, rng: Rng, size: int, *, full: bool, layers: int | None = None, kinds: Sequence[str] = tuple(MASKS)
) -> "SphereInstance":
    """Signed permutations as values (any other orthogonal ones can be moved into W_QK), any mask; `full`: n ≤ d."""
    n, L = int(rng.integers(2, 6)), int(rng.integers(1, 9)) if layers is None else layers
    d = int(rng.integers(n, n + 3)) if full else int(rng.integers(2, 6))
    kind = kinds[int(rng.integers(len(kinds)))]
    batch = networks(moderate_tokens, shapes=((n, d, 1, L),), biases=False)(rng, size)
    W = np.zeros((L, 1, size, d, d))
    for place in np.ndindex(L, 1, size):
        W[place][np.arange(d), rng.permutation(d)] = rng.choice([-1.0, 1.0], d)
    stacked: dict[str, Array] = {"value": W, "norm": LayerNorm("sphere"), "mask": MASKS[kind](rng, n)}
    net = batch.net.replace(d_qk=float(10.0 ** rng.uniform(-1, 2)), **stacked)
    return SphereInstance(net, tokens(rng, size, n, d), kind)


def orthant_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Non-negative coordinates: no obtuse angles."""
    power = float(rng.choice([0.3, 1.0, 3.0]))
    return np.asarray(np.abs(rng.standard_normal((size, n, d))) ** power)


def cap_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Around a pole, from a narrow cap to nearly a hemisphere."""
    pole = rng.standard_normal((size, 1, d))
    pole = pole / np.sqrt((pole * pole).sum(axis=-1, keepdims=True))
    noise = rng.standard_normal((size, n, d))
    return np.asarray(pole + 10.0 ** rng.uniform(-4, 0.3, (size, 1, 1)) * noise)


def gaussian_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
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


def star_network(n: int, logit: float) -> "SphereInstance":
    """Orthonormal tokens on a star: leaves give 1/(1 + e^logit) to the hub, token 0, which attends to all alike."""
    W_QK = np.diag([0.0, *[logit] * (n - 1)])[None, None]
    net = Network.from_arrays(W_QK, np.eye(n)[None, None], 1, norm="sphere", mask=Mask.star(n))
    # A little off orthogonal, so that balls can tell that no angle is obtuse.
    return SphereInstance(net, np.eye(n) + 2.0**-30, "star")


def stars(rng: Rng) -> Iterator[SphereInstance]:
    """nε < 1, yet two leaves end at a cosine below nε²."""
    for n, logit in ((3, 1.125), (4, 2.0), (10, 3.0)):
        yield star_network(n, logit)


_SPHERE = (
    "heads == 1",
    "mask == any",
    "layernorm == sphere",
    "bias == none",
    "orthogonal_values()",
    "self_loops()",
    "n >= 2",
)
# Unit tokens have bounded logits where the weights are bounded.
_BOUNDED = (
    "Tokens collapse where least stays above a positive number in all layers, as it does where W_QK/√d_qk and "
    "W_K b_Qᵀ/√d_qk are bounded."
)
_CONNECTED = (*_SPHERE, "quasi_strongly_connected()")

own_full_rank = proved(
    "own:full-rank",
    "mu(X[L]) <= sqrt((n - 1)/2)*diameter(X[0], 2)/height*(1 - height*least**r)**floor(L/r)",
    where={"height": "gram_height(X[0])", "least": "min_l(epsilon(P[l,0]))"},
    given=(*_CONNECTED, "n <= d", "gram_height(X[0]) > 0"),
    title="Tokens of full rank, orthogonal values, sphere LayerNorm: a rate",
    source=f"{OWN}, after Theorem 2 of Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024",
    draws=(partial(draw_sphere, gaussian_tokens, full=True), partial(draw_sphere, cap_tokens, full=True)),
    extremal=close_pair,
    sharp=True,
    share=0.25,
    notes=_BOUNDED,
)

wu2024_2 = proved(
    "wu2024:2",
    "mu(X[L]) <= sqrt(2*n)*max(1, sqrt(goal**(-2) - 1))*rate**(-(steps + 2)/2)*rate**(L/(2*r))",
    where={
        "least": "min_l(epsilon(P[l,0]))",
        "rate": "1 - n*least**(2*r)",
        "goal": "(1 - sqrt(rate))/least**r",
        "height": "gram_height(X[0])",
        "steps": "max(0, log(diameter(X[0], 2)/height/sqrt(2*(1 - goal)))/(-log(1 - height*least**r)))",
    },
    given=(*_SPHERE, "strongly_connected()", "n <= d", "gram_height(X[0]) > 0", "n*min_l(epsilon(P[l,0])) < 1"),
    title="Collapse from full rank, orthogonal values, sphere LayerNorm: the printed rate",
    source=f"{WU}, Theorem 2: there are C > 0 and ε > 0 with nε < 1 such that μ(X(t)) ≤ C(1 − nε^{{2r}})^{{t/2r}}; "
    "C explicit by us",
    draws=(partial(draw_sphere, gaussian_tokens, full=True, kinds=("complete", "window", "star")),),
    share=0.25,
    notes=_BOUNDED,
)

wu2024_2_step = refuted(
    "wu2024:2-step",
    "1 - cosine(X[1]) <= (1 - n*epsilon(P[0,0])**2)*(1 - cosine(X[0]))",
    given=(*_SPHERE, "layers == 1", "strongly_connected()", "r == 1", "cosine(X[0]) >= 0", "n*epsilon(P[0,0]) < 1"),
    title="A step towards Theorem 2, read with the radius",
    source=f"{WU}, the step behind Theorem 2, read with r the radius as in Theorem 1; the theorem itself is true",
    extremal=stars,
    draws=(partial(draw_sphere, orthant_tokens, full=True, layers=1, kinds=("complete", "star")),),
    share=0.05,
    notes="With the diameter of the mask, which may be what is meant, the step is right where the least cosine is not "
    "negative.",
)

wu2024_cor1 = proved(
    "wu2024:cor1",
    "mu(X[L]) <= sqrt((n - 1)*(1 - phi))*(1 - least**(2*r))**(floor(L/r)/2)",
    where={"phi": "1 - diameter(X[0], 2)**2/2", "least": "min_l(epsilon(P[l,0]))"},
    given=(*_CONNECTED, "diameter(X[0], 2)**2 <= 2"),
    title="Collapse from acute angles, orthogonal values, sphere LayerNorm",
    source=f"{WU}, Corollary 1; the constant is ours",
    draws=(partial(draw_sphere, orthant_tokens, full=False),),
    extremal=meeting_at_the_hub,
    share=0.25,
    notes=f"φ is the least cosine of two tokens of the input. {_BOUNDED}",
)

wu2024_cor1_step = proved(
    "wu2024:cor1-step",
    "diameter(X[r], 2)**2 <= (1 - least**(2*r))*diameter(X[0], 2)**2",
    where={"least": "min_l(epsilon(P[l,0]))"},
    given=(*_CONNECTED, "diameter(X[0], 2)**2 <= 2", "L >= r"),
    title="Gain of the least cosine in r layers",
    source=f"{WU}, the step behind Corollary 1: 1 − φ(t + r) ≤ (1 − ε^{{2r}})(1 − φ(t))",
    draws=(partial(draw_sphere, orthant_tokens, full=False),),
    extremal=meeting_at_the_hub,
    share=0.25,
    notes="φ is the least cosine of two tokens, 1 − φ = Δ₂²/2; any layer may be the first.",
)

wu2024_cor1_centers = proved(
    "wu2024:cor1-centers",
    "mu(X[L]) <= sqrt((n - 1)*(1 - phi))*(1 - center_count()*least**(2*farthest()))**(floor(L/farthest())/2)",
    where={"phi": "1 - diameter(X[0], 2)**2/2", "least": "min_l(epsilon(P[l,0]))"},
    given=(*_CONNECTED, "diameter(X[0], 2)**2 <= 2"),
    title="Collapse from acute angles, orthogonal values, sphere LayerNorm, by the number of centers",
    source=f"{WU}, Corollary 1 refined by the number of center nodes, as we read it (the wording was not before "
    f"us): "
    "every center counts; with R steps in which all tokens see each of them, and the constant, by us",
    draws=(partial(draw_sphere, orthant_tokens, full=False),),
    share=0.25,
    notes="With the radius in place of R the step behind it is false: wu2024:2-step. φ is the least cosine of two "
    f"tokens of the input. {_BOUNDED}",
)

wu2024_pre_ln = proved(
    "wu2024:pre-ln",
    "mu_before(L - 1) <= sqrt((n - 1)*(1 - phi))*(1 - least**(2*r))**(floor((L - 1)/r)/2)",
    where={"phi": "1 - diameter(X[0], 2)**2/2", "least": "min_l(epsilon(P[l,0]))"},
    given=(*_CONNECTED, "diameter(X[0], 2)**2 <= 2"),
    title="Collapse with LayerNorm in front of attention",
    source=f"{WU}, the remark that pre-LN behaves alike, as we read it (the wording was not before us): without "
    f"skip "
    "connections its tokens after L layers are one layer of attention on those of post-LN after L − 1; the bound "
    "is ours",
    draws=(partial(draw_sphere, orthant_tokens, full=False),),
    share=0.25,
    notes="Divided by their norms these tokens are those with LayerNorm behind. X^0 and φ, the least cosine of two "
    f"tokens, are those of the input after its LayerNorm. {_BOUNDED}",
)

own_hemisphere = ours(
    "own:hemisphere",
    "section(X[L]) <= (1 - height()*least**r)**floor(L/r)*section(X[0])"
    " and mu(X[L]) <= sqrt((n - 1)/2)*(1 - height()*least**r)**floor(L/r)*section(X[0])",
    where={"least": "min_l(epsilon(P[l,0]))"},
    given=(*_CONNECTED, "height() > 0"),
    source=f"{OWN}, after Corollary 1 of {WU}",
    title="Tokens in an open hemisphere, orthogonal values, sphere LayerNorm: a rate",
    truth="proofs/own_hemisphere.tex",
    draws=(partial(draw_sphere, cap_tokens, full=False), partial(draw_sphere, orthant_tokens, full=False)),
    extremal=close_pair,
    sharp=True,
    share=0.5,
    notes="Evaluated with v the direction of the mean token; it holds for every unit v with all ⟨X_i, v⟩ > 0. "
    f"{_BOUNDED}",
)
