"""chen2026:2.1: one layer of attention on tokens whose cosines are all alike, for every number of tokens."""

from fractions import Fraction

from rankmath.formula.arrays import defined
from rankmath.verification.claim import CHEN, ArrayInstance, Rng, exact_batch, proved

defined(
    "equiangular_layer(gamma: array, rho: array, m: array)",
    "C = [[gamma + (1 - gamma)*identity(m)[i][j] for j in range(m)] for i in range(m)]; P = [[(rho + (1 - "
    "rho)*identity(m)[i][j])/(1 + (m - 1)*rho) for j in range(m)] for i in range(m)]; D = P @ C @ T(P); "
    "all(D[i][i] == D[0][0] > 0 for i in range(m)) and all(1 - D[i][j]/D[0][0] == (1 - rho)**2*(1 - "
    "gamma)/((1 - rho)**2 + rho*(2 - 2*rho + m*rho)*(1 + (m - 1)*gamma)) for i in range(m) for j in range(i))",
    "m unit tokens whose cosines are all γ go, under attention with the logits β⟨x_i, x_j⟩ and W = I, to "
    "tokens whose cosines are all 1 − (1 − ρ)²(1 − γ)/((1 − ρ)² + ρ(2 − 2ρ + mρ)(1 + (m − 1)γ)); ρ = e^{−β(1 "
    "− γ)} stands for any positive number; in exact rationals, from the Gram matrix",
    by_name=True,
)


def draw_layers(rng: Rng, size: int) -> ArrayInstance:
    m = int(rng.integers(2, 8))
    gamma = [Fraction(int(k), 20 * (m - 1)) for k in rng.integers(-19, 20, size)]
    rho = [Fraction(int(k), 30) for k in rng.integers(1, 60, size)]
    return exact_batch("", gamma=gamma, rho=rho, m=[m] * size)


chen2026_2_1 = proved(
    "chen2026:2.1",
    "equiangular_layer(gamma, rho, m)",
    given=("rho > 0", "m >= 2", "(m - 1)*gamma > -1", "gamma <= 1"),
    arrays={"gamma": "", "rho": "", "m": ", whole, >= 2, <= 64"},
    exact=True,
    title="One layer on tokens whose cosines are all alike, exactly",
    source=f"{CHEN}, Theorem 2.1, read in a survey: limits for β = g log n; the formula for every n is ours",
    draws=(draw_layers,),
    share=0.1,
    notes="With β = g log m and 0 < γ < 1 the cosines tend to 1, 4γ/(1 + 3γ) and γ as m grows, for g below, at and "
    "above 1/(1 − γ): the limits of the theorem.",
)
