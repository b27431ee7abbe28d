"""velickovic2024:2.2: logits of a bounded range give attention that disperses; and the sharp form."""

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.draws import written
from rankmath.verification.papers import OWN, VELICKOVIC

defined(
    "largest_share(c: array)",
    "max(softmax(c)[j] for j in range(len(c)))",
    "the largest entry of softmax(c)",
    example="largest_share(c) <= 1",
)
defined("least_share(c: array)", "min(softmax(c)[j] for j in range(len(c)))", "the least entry of softmax(c)")


def draw_rows(rng: Rng, size: int) -> ArrayInstance:
    """Rows of 2 to 40 logits of any range."""
    scale = 10.0 ** rng.uniform(-2, 0.7, (size, 1))
    return ArrayInstance({"c": scale * rng.standard_normal((size, int(rng.integers(2, 41))))}, "random", is_batch=True)


#: All logits nearly equal but one, above or below: nearly equalities.
_APART = [{"c": [delta, *np.linspace(0, np.sign(delta) * 1e-9, 7)]} for delta in (-3.0, 0.5, 4.0)]

velickovic2024_2_2 = proved(
    "velickovic2024:2.2",
    "largest_share(c) <= exp(osc(c))/count(c) and exp(-osc(c))/count(c) <= least_share(c)",
    arrays={"c": "m, m >= 2"},
    title="Dispersion of attention, with e^δ/n, as we read it",
    source=f"{VELICKOVIC}, Lemma 2.1 at temperature 1, from memory and a summary: coefficients of order 1/n for logits "
    "of a range δ",
    draws=(draw_rows,),
    notes="The key has the number of Theorem 2.2, which applies the lemma to Transformers over a finite vocabulary.",
)

own_dispersion = proved(
    "own:dispersion",
    "largest_share(c) <= exp(osc(c))/(exp(osc(c)) + count(c) - 1)"
    " and 1/(1 + (count(c) - 1)*exp(osc(c))) <= least_share(c)",
    arrays={"c": "m, m >= 2"},
    title="Dispersion of attention, for a range of logits",
    source=f"{OWN}, after Lemma 2.1 of {VELICKOVIC}",
    draws=(draw_rows,),
    extremal=written("given", *_APART),
    sharp=True,
    notes="The first is attained where all logits but the largest are equal, the second where all but the least are.",
)
