"""alcalde2025:4.2: steps of hardmax attention towards a vertex; when they arrive, and how fast."""

from fractions import Fraction

from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import ALCALDE, OWN


@predicate(
    "arrives_exponentially(a: array, q: array)",
    latex=r"\prod_{{s<t}}(1-{0}{1}^s)\text{{ tends to }}0\text{{ at least exponentially in }}t",
    because="a limit in t",
)
def arrives_exponentially(run: ArrayRun, a: str, q: str) -> Truth:
    """with the steps γ^t = aq^t a token, x ↦ x + γ^t(v − x), comes to its vertex v at least exponentially fast;
    where q < 1 it does not: for every m with aq^m < 1 − q the product of 1 − aq^s over s < m,
    times 1 − aq^m/(1 − q), is left of the distance at least, after any number of steps"""
    first, ratio = (Fraction(run.letter(name)) for name in (a, q))
    if ratio == 1:
        return Truth(True, "constant steps")
    left, step = Fraction(1), first
    while step >= 1 - ratio:
        left, step = left * (1 - step), step * ratio
    left *= 1 - step / (1 - ratio)
    return Truth(False, f"in exact rationals: at least {float(left):.4g} of the distance is left for ever")


def draw_steps(rng: Rng, size: int) -> ArrayInstance:
    """Steps that halve, and constant ones."""
    ratios = [Fraction(1, 2) if k % 2 == 0 else Fraction(1) for k in range(size)]
    return exact_batch("geometric steps", a=[Fraction(1, 2)] * size, q=ratios)


defined(
    "left_over(g: array)",
    "prod(1 - g[i] for i in range(len(g)))",
    "the product of all 1 − g_i: what is left of the distance to the vertex after the steps g_i",
    example="left_over(g) <= 1",
)
defined("total(g: array)", "sum(g[i] for i in range(len(g)))", "sum of the entries")


defined("proper_steps(g: array)", "all(0 < g[i] and g[i] < 1 for i in range(len(g)))", "every entry is between 0 and 1")


def draw_left(rng: Rng, size: int) -> ArrayInstance:
    """Steps of any size, and small ones."""
    t = int(rng.integers(1, 9))
    return ArrayInstance({"g": 10.0 ** rng.uniform(-3, -0.01, (size, t))}, "random", is_batch=True)


alcalde2025_4_2 = refuted(
    "alcalde2025:4.2",
    "arrives_exponentially(a, q)",
    given=("a > 0", "a < 1", "q > 0", "q <= 1"),
    arrays={"a": ", > 0, < 1", "q": ", > 0, <= 1"},
    title="Hardmax attention: exponential rate towards vertices, any steps",
    source=f"{ALCALDE}, Theorem 4.2, its last words, for all step sizes γ^t in (0, 1), in the arXiv version as a "
    "public reproduction quotes it; the abstract of the published version (ICML 2026) asks for steps bounded away "
    "from zero, with which they are right; that they fail for γ^t = 2^(−t−1) was noticed by a public formalisation, "
    "fxeqxmulfx/transformer",
    draws=(draw_steps,),
    share=0.02,
    notes="The formula of the theorem, in which every step multiplies x − v by 1 − γ^t, is right. With γ^t = "
    "2^(−t−1) more than a quarter of the distance is left for ever. What is true: own:hardmax-steps.",
)

own_hardmax_steps = proved(
    "own:hardmax-steps",
    "left_over(g) + total(g) >= 1 and left_over(g) <= exp(-total(g))",
    given="proper_steps(g)",
    arrays={"g": "t"},
    title="Hardmax steps: remaining distance to the vertex",
    source=f"{OWN}; a classical inequality, beside the last words of Theorem 4.2 of {ALCALDE}",
    truth="proofs/alcalde2025.tex",
    draws=(draw_left,),
    # Both bounds are nearly reached.
    extremal=written("small steps", {"g": [2.0**-8, 2.0**-9]}, {"g": [2.0**-16, 2.0**-17]}),
    sharp=True,
    share=0.3,
)
