"""dong2021:A.3: the sandwich lemma for two softmaxes, under its hypothesis and (first version) without."""

from functools import partial

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import DONG

defined(
    "relative_gain(c: array, E: array)",
    "max(softmax(c + E)[j]/softmax(c)[j] for j in range(len(c))) - 1",
    "largest P_ij/q_j − 1 over j, P_i = softmax(c + E_i) and q = softmax(c)",
    example="relative_gain(c, E[0]) >= 0",
    by_name=True,
)


defined(
    "relative_loss(c: array, E: array)",
    "1 - min(softmax(c + E)[j]/softmax(c)[j] for j in range(len(c)))",
    "largest 1 − P_ij/q_j over j, P_i = softmax(c + E_i) and q = softmax(c)",
    example="relative_loss(c, E[0]) <= 1",
    by_name=True,
)


def draw_sandwich(rng: Rng, size: int, *, log_scale: tuple[float, float] = (-6.0, 0.3)) -> ArrayInstance:
    """A free q, perturbations of the given range of scales."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(2, 7))
    c = 10.0 ** rng.uniform(-1, 1, (size, 1)) * rng.standard_normal((size, m))
    E = 10.0 ** rng.uniform(*log_scale, (size, 1, 1)) * rng.uniform(-1, 1, (size, n, m))
    return ArrayInstance({"c": c, "E": E}, "random", is_batch=True)


#: Nearly all the weight on one key, the perturbation D on another: just below x*, nearly an equality, and beyond it.
_NEAR, _BEYOND = (
    [{"c": [0, -40], "E": [[0, D]]} for D in sizes]
    for sizes in ([1.2564312086261697 - gap for gap in (1e-2, 1e-4, 1e-6)], (1.2565, 2, 5))
)

_CLAIM = "all_i(relative_gain(c, E[i]) <= 2*osc(E[i])) and all_i(relative_loss(c, E[i]) <= osc(E[i]))"

dong2021_A_3 = proved(
    "dong2021:A.3",
    _CLAIM,
    given="all_i(osc(E[i]) <= x_star)",
    arrays={"c": "m", "E": "n m"},
    title="Sandwich lemma, under its hypothesis",
    source=f"{DONG}, Lemma A.3 with the hypothesis of the 2023 revision",
    draws=(draw_sandwich,),
    extremal=written("near threshold", *_NEAR),
    certificate="logits=c E",
    sharp=True,
)

dong2021v1_A_3 = refuted(
    "dong2021v1:A.3",
    _CLAIM,
    arrays={"c": "m", "E": "n m"},
    title="Sandwich lemma without a hypothesis",
    source=f"{DONG}, Lemma A.3, first version; the authors added the hypothesis in 2023",
    notes="The first bound fails; the second, of the relative loss, is true of all logits.",
    draws=(partial(draw_sandwich, log_scale=(-1.0, 0.7)),),
    extremal=written("beyond the threshold", *_BEYOND),
    certificate="logits=c E",
    # D = 3 and q_0 = 10⁻⁴: P_0/q_0 is 20.05, more than 1 + 2D = 7.
    exhibit={"weights": [1, 9999], "E": [[3, 0]]},
)
