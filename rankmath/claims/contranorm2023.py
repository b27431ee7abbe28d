"""contranorm2023:2: when a step of ContraNorm raises the effective rank: as we read it, and repaired."""

from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Draw, Rng, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import GUO, OWN

defined(
    "erank(sigma: array)",
    "S = sum(sigma[i] for i in range(len(sigma))); exp(sum(sigma[i]/S*log(S/sigma[i]) for i in range(len(sigma))))",
    "exp of the entropy of σ/Σσ, σ the singular values of H (Roy and Vetterli 2007)",
    example="erank(sigma) >= 1",
    by_name=True,
)
defined(
    "erank_after(sigma: array, s: array)",
    "u = [abs(sigma[i]*(1 + s - s*sigma[i]**2)) for i in range(len(sigma))]; S = sum(u[i] for i in range(len(u))); "
    "exp(sum(u[i]/S*log(S/u[i]) for i in range(len(u))))",
    "the same after the step, whose singular values are |σ(1 + s − sσ²)|",
    example="erank_after(sigma, s) >= 1",
    by_name=True,
)
defined("top(v: array)", "max(v[i] for i in range(len(v)))", "the largest entry", example="top(sigma) >= 0")
defined("bottom(v: array)", "min(v[i] for i in range(len(v)))", "the least entry", example="bottom(sigma) >= 0")


def draw_spectra(factor: int, most: int) -> Draw:
    """Singular values and strengths with 1 + (1 − factor·σ_max²)s ≥ 0, up to the boundary."""

    def draw(rng: Rng, size: int) -> ArrayInstance:
        sigma = rng.uniform(0.05, 1.0, (size, int(rng.integers(2, most + 1))))
        sigma *= 10.0 ** rng.uniform(-0.3, 0.5, (size, 1)) / sigma.max(axis=1, keepdims=True)
        # s(factor·σ_max² − 1) ≤ 1 leaves s free where σ_max is small.
        limit = 1 / np.maximum(factor * sigma.max(axis=1) ** 2 - 1, 0.1)
        share = np.where(rng.random(size) < 0.5, rng.uniform(0.98, 0.9999, size), rng.uniform(0.01, 1.0, size))
        return ArrayInstance({"sigma": sigma, "s": limit * share}, f"1 + (1 - {factor}x²)s > 0", is_batch=True)

    return draw


_STEP = "erank(sigma) < erank_after(sigma, s)"
_GIVEN = ("s > 0", "bottom(sigma) > 0", "bottom(sigma) < top(sigma)")
_NOTE = "erank and the step depend on the singular values of the matrix H alone; those that are 0 stay 0."

contranorm2023_2 = refuted(
    "contranorm2023:2",
    _STEP,
    given=(*_GIVEN, "1 + (1 - top(sigma)**2)*s > 0"),
    arrays={"sigma": "m, > 0", "s": ""},
    title="Effective rank under a step of ContraNorm, as we read it",
    source=f"{GUO}, Proposition 2, from third-party text; that the singular values are not all equal is our addition",
    draws=(draw_spectra(1, 5),),
    # The largest singular value is sent almost to 0.
    extremal=written("given", {"sigma": [1.4, 0.5], "s": 1}),
    # The effective rank of diag(7/5, 1/2) falls from 1.78 to 1.26.
    exhibit={"sigma": [Fraction(7, 5), Fraction(1, 2)], "s": 1},
    notes=f"{_NOTE} True with 2σ_max² in place of σ_max²: own:contranorm.",
)

own_contranorm = proved(
    "own:contranorm",
    _STEP,
    given=(*_GIVEN, "1 + (1 - 2*top(sigma)**2)*s >= 0"),
    arrays={"sigma": "m, > 0", "s": ""},
    title="Effective rank under a step of ContraNorm, of bounded scale",
    source=f"{OWN}, after Proposition 2 of {GUO}",
    draws=(draw_spectra(2, 2), draw_spectra(2, 7)),
    notes=f"{_NOTE} In s and the largest singular value the condition is the best: beyond it another one close to it "
    "is a counterexample.",
)
