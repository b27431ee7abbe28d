"""folk:softmax-gradient: the norm of the derivative of softmax at a temperature, as often given, and sharp."""

from collections.abc import Iterator

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Instance, Rng, proved, refuted
from rankmath.verification.papers import OWN

#: At least two logits, and a temperature.
LOGITS = {"c": "m, m >= 2", "T": ", > 0"}


defined(
    "softmax_slope(c: array, T: array)",
    "p = softmax(c/T); spectral([[(p[i]*identity(len(c))[i][j] - p[i]*p[j])/T for j in range(len(c))] for i in "
    "range(len(c))])",
    "spectral norm of the derivative (diag p − ppᵀ)/T of c ↦ p = softmax(c/T)",
    by_name=True,
)


def draw_logits(rng: Rng, size: int) -> ArrayInstance:
    """Logits and temperatures of any size."""
    T = 10.0 ** rng.uniform(-1, 1, size)
    c = T[:, None] * 10.0 ** rng.uniform(-2, 0.7, (size, 1)) * rng.standard_normal((size, int(rng.integers(2, 7))))
    return ArrayInstance({"c": c, "T": T}, "random", is_batch=True)


def two_alike(rng: Rng) -> Iterator[Instance]:
    """Two logits that nearly agree, the others far below: nearly 1/(2T)."""
    for T in (0.5, 3.0):
        yield own_softmax_gradient.instance([T / 2048, 0.0], T)
        yield own_softmax_gradient.instance([T / 2048, 0.0, -40 * T], T)


folk_softmax_gradient = refuted(
    "folk:softmax-gradient",
    "softmax_slope(c, T) <= 1/(4*T) and softmax_slope(c, T) <= sqrt(2)",
    given="T > 0",
    arrays=LOGITS,
    title="Derivative of softmax, with 1/(4T) and with √2, as often given",
    source="often read, with no one source; 1/4 is the largest slope of one entry in its own logit at T = 1",
    draws=(draw_logits,),
    extremal=two_alike,
    exhibit={"c": [0, 0], "T": 1},
    notes="Two equal logits give 1/(2T), and that is the largest value: own:softmax-gradient. So √2 is right for "
    "T ≥ 1/√8 alone, and 1/(4T) for no T.",
)

own_softmax_gradient = proved(
    "own:softmax-gradient",
    "softmax_slope(c, T) <= 1/(2*T)",
    given="T > 0",
    arrays=LOGITS,
    title="Derivative of softmax, with 1/(2T)",
    source=f"{OWN}; well known for T = 1",
    draws=(draw_logits,),
    extremal=two_alike,
    sharp=True,
    notes="Attained by two equal logits alone; approached for every m > 2.",
)
