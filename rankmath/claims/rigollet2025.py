"""own:merge-time: how long two clusters on the sphere take to close, in the time of a theorem on merging."""

import math

import numpy as np

from rankmath.formula.arrays import ArrayRun, Scalar, quantity
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.draws import written
from rankmath.verification.papers import OWN, RIGOLLET


@quantity(
    "pair_time(beta: array, u: array, v: array)",
    text="integral((exp(-beta*(c - u)) + exp(-beta*(1 - u)))/(2*(1 - c**2)) for c in range(u, v))",
    by_name=True,
    example="pair_time(beta, u, v) >= 0",
)
def pair_time(run: ArrayRun, beta: str, u: str, v: str) -> Scalar:
    """the time, times e^{−β(1 − u)}, in which two tokens of one weight on the sphere come from the cosine u to the
    cosine v under x_i' = P_{x_i}Σ_j a_ij x_j, P_x the projection off x, a the softmax of β⟨x_i, x_j⟩"""
    values = [np.asarray(run[name], dtype=object) for name in (beta, u, v)]
    if not run.A.unbounded:
        from scipy.integrate import quad

        def time(b: float, first: float, last: float) -> float:
            if not -1 < first <= last < 1:
                return math.nan

            def pace(c: float) -> float:
                return (math.exp(-b * (c - first)) + math.exp(-b * (1 - first))) / (2 - 2 * c * c)

            return float(quad(pace, first, last, epsabs=0, epsrel=1e-12)[0])

        return run.number(np.asarray(np.frompyfunc(time, 3, 1)(*values), dtype=float))
    if run.A.name == "mpmath":
        import mpmath

        b, first, last = (mpmath.mpf(value[()]) for value in values)
        still = mpmath.exp(-b * (1 - first))
        return mpmath.quad(lambda c: (mpmath.exp(-b * (c - first)) + still) / (2 - 2 * c * c), [first, last])
    from flint import acb

    from rankmath.arithmetic.balls import ball

    b, first, last = (acb(ball(value[()])) for value in values)
    still = (-b * (1 - first)).exp()
    return acb.integral(lambda c, _: ((-b * (c - first)).exp() + still) / (2 - 2 * c * c), first, last).real


def draw_pairs(rng: Rng, size: int) -> ArrayInstance:
    """Cosines between −0.9 and 0.99, attention of any sharpness up to β = 60."""
    u = rng.uniform(-0.9, 0.9, size)
    v = u + (0.99 - u) * rng.uniform(0.05, 1, size)
    return ArrayInstance({"beta": 10.0 ** rng.uniform(-1, 1.8, size), "u": u, "v": v}, "random", is_batch=True)


#: From 60° to 30°, ever sharper; and a short way, where the bound is nearly reached.
_WAYS = ((10, math.sqrt(0.75)), (200, math.sqrt(0.75)), (1, 0.5 + 2.0**-16))

own_merge_time = proved(
    "own:merge-time",
    "pair_time(beta, u, v) <= 1/(2*beta*(1 - max(u**2, v**2))) + (v - u)*exp(-beta*(1 - u))/(2*(1 - max(u**2, "
    "v**2))) and pair_time(beta, u, v) <= (v - u)*(1 + exp(-beta*(1 - u)))/(2*(1 - max(u**2, v**2)))",
    given=("beta > 0", "u > -1", "v > u", "v < 1"),
    arrays={"beta": ", > 0", "u": ", > -1", "v": ", < 1"},
    title="Closing time of two clusters of one mass",
    source=f"{OWN}, beside a theorem of Bruno, Pasqualotto and Agazzi on the merging of the closest pair of clusters, "
    f"as section 5 of {RIGOLLET} has it; the wording from a public formalisation, fxeqxmulfx/transformer, which "
    "notes, without a formal proof, that the pair closes in a time of order 1/β, and proves that the limit pair "
    "never meets; we have seen the words of neither paper and refute neither",
    truth="proofs/rigollet2025.tex",
    draws=(draw_pairs,),
    extremal=written("by hand", *({"beta": beta, "u": 0.5, "v": v} for beta, v in _WAYS)),
    sharp=True,
    share=0.02,
    notes="The theorem, as quoted, rescales time by dt = e^{β(1 − u)} ds, u the cosine of the pair at the start, and "
    "says that as β grows the pair follows y_i' = P_{y_i} y_j, as long as ⟨y_i, y_j⟩ ≤ 1 − ε, and merges in finite "
    "rescaled time. In that time a pair of one mass comes from u to any v < 1 within O(1/β), while y_i' = P_{y_i} y_j "
    "takes (artanh v − artanh u)/2, 0.384 from 60° to 30°, and never merges. With dt = e^{β(1 − c)} ds, c the cosine "
    "at the time, such a pair does follow it as β grows.",
)
