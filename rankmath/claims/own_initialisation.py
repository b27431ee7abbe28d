"""own:gaussian-length: how long a Gaussian vector is; with it a collapse theorem for weights at initialisation."""

import math

import numpy as np

from rankmath.formula.arrays import ArrayRun, Scalar, quantity
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.draws import written
from rankmath.verification.papers import OWN


@quantity(
    "gaussian_tail(k: array, t: array)",
    text="integral(r**(k - 1)*exp(-r**2/2) for r in range(sqrt(k) + t, inf))"
    "/integral(r**(k - 1)*exp(-r**2/2) for r in range(0, inf))",
    by_name=True,
    example="gaussian_tail(k, t) <= 1",
)
def gaussian_tail(run: ArrayRun, k: str, t: str) -> Scalar:
    """probability that a vector of k independent standard normal numbers is at least √k + t long"""
    size, beyond = (np.asarray(run[name]) for name in (k, t))
    if not run.A.unbounded:
        from scipy.special import gammaincc

        with np.errstate(invalid="ignore"):
            return run.number(np.asarray(gammaincc(size / 2, (np.sqrt(size) + beyond) ** 2 / 2)))
    if run.A.name == "mpmath":
        import mpmath

        m, s = mpmath.mpf(float(size)), mpmath.mpf(float(beyond))
        return mpmath.gammainc(m / 2, (mpmath.sqrt(m) + s) ** 2 / 2, regularized=True)
    from flint import arb

    m, s = arb(float(size)), arb(float(beyond))
    return ((m.sqrt() + s) ** 2 / 2).gamma_upper(m / 2, regularized=1)


def draw_tails(rng: Rng, size: int) -> ArrayInstance:
    """Dimensions up to some thousands, t up to 8."""
    k = np.floor(10.0 ** rng.uniform(0, 3.5, size))
    return ArrayInstance({"k": k, "t": rng.uniform(0, 8, size)}, "random", is_batch=True)


own_gaussian_length = proved(
    "own:gaussian-length",
    "gaussian_tail(k, t) <= exp(-t**2/2)",
    given=("k > 0", "t >= 0"),
    arrays={"k": ", whole, >= 1", "t": ", >= 0"},
    title="Length of a Gaussian vector",
    source=f"{OWN}; a classical bound, with the proof by exponential moments",
    draws=(draw_tails,),
    # One dimension, t = 0, where the bound is farthest from 1, and many dimensions.
    extremal=written("by hand", {"k": 1, "t": 0}, {"k": 4096, "t": math.sqrt(2)}),
    share=0.1,
    notes="With it proofs/own_initialisation.tex bounds the diameters under attention alone with independent Gaussian "
    "weights.",
)
