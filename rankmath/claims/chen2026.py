"""chen2026: one layer of attention on tokens whose cosines are all alike, for every number of tokens: its outputs,
and the mean square of its derivative."""

from fractions import Fraction

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved
from rankmath.verification.papers import CHEN

defined(
    "equiangular_layer(gamma: array, rho: array, m: array)",
    "C = [[gamma + (1 - gamma)*identity(m)[i][j] for j in range(m)] for i in range(m)]; P = [[(rho + (1 - "
    "rho)*identity(m)[i][j])/(1 + (m - 1)*rho) for j in range(m)] for i in range(m)]; D = P @ C @ T(P); "
    "all(D[i][i] == D[0][0] > 0 for i in range(m)) and all(1 - D[i][j]/D[0][0] == (1 - rho)**2*(1 - "
    "gamma)/((1 - rho)**2 + rho*(2 - 2*rho + m*rho)*(1 + (m - 1)*gamma)) for i in range(m) for j in range(i))",
    "m unit tokens whose cosines are all γ go, under attention with the logits β⟨x_i, x_j⟩ and W = I, to "
    "tokens whose cosines are all 1 − (1 − ρ)²(1 − γ)/((1 − ρ)² + ρ(2 − 2ρ + mρ)(1 + (m − 1)γ)); ρ = e^{−β(1 "
    "− γ)} stands for any positive number",
    by_name=True,
)

defined(
    "equiangular_gradient(gamma: array, rho: array, beta: array, m: array, d: array)",
    "C = [[gamma + (1 - gamma)*identity(m)[i][j] for j in range(m)] for i in range(m)]; P = [[(rho + (1 - "
    "rho)*identity(m)[i][j])/(1 + (m - 1)*rho) for j in range(m)] for i in range(m)]; M = P @ C; N = M @ T(P); a = "
    "P[0][0]; b = P[0][1]; e = 1 - 2*(a - b)*gamma + (a - b)**2 - m*b**2*(1 + (m - 1)*gamma); sum(P[i][j]**2*(d - 1"
    " + 2*beta*(C[i][j]*M[i][j] - M[i][i]) + beta**2*(1 - 2*M[i][j] + N[i][i])*(1 - C[i][j]**2)) for i in range(m) "
    "for j in range(m) if not i == j) + sum(P[i][i]**2*(d - 1) + 2*beta*P[i][i]*sum(P[i][k]*(1 - C[k][i]**2 - "
    "M[i][k] + M[i][i]*C[k][i]) for k in range(m)) + beta**2*sum(P[i][k]*P[i][l]*(C[k][l] - M[i][k] - M[i][l] + "
    "N[i][i])*(C[k][l] - C[k][i]*C[l][i]) for k in range(m) for l in range(m)) for i in range(m)) == m*((a**2 + (m "
    "- 1)*b**2)*(d - 1) + 2*beta*(m - 1)*b*(1 - gamma)*((1 + gamma)*(a - b*(a - b)) - b*(1 + (m - 1)*gamma)*(a + "
    "b)) + beta**2*(m - 1)*b**2*(1 - gamma)*(2*(1 + gamma)*e + (m - 2)*gamma*(e - 1 + gamma)))",
    "the square of the Frobenius norm of the derivative of attention of the tokens divided by their lengths, logits"
    " β⟨x_i, x_j⟩, W = I, at m unit tokens in d dimensions whose cosines are all γ, is m times (a² + (m − 1)b²)(d −"
    " 1) + 2β(m − 1)b(1 − γ)((1 + γ)(a − b(a − b)) − b(1 + (m − 1)γ)(a + b)) + β²(m − 1)b²(1 − γ)(2(1 + γ)e + (m − "
    "2)γ(e − 1 + γ)), a and b = ρa what a token gives itself and any other one, e = 1 − 2(a − b)γ + (a − b)² − "
    "mb²(1 + (m − 1)γ); ρ = e^{−β(1 − γ)} stands for any positive number",
    by_name=True,
)


def draw_layers(rng: Rng, size: int) -> ArrayInstance:
    m = int(rng.integers(2, 8))
    gamma = [Fraction(int(k), 20 * (m - 1)) for k in rng.integers(-19, 20, size)]
    rho = [Fraction(int(k), 30) for k in rng.integers(1, 60, size)]
    return exact_batch("", gamma=gamma, rho=rho, m=[m] * size)


def draw_gradients(rng: Rng, size: int) -> ArrayInstance:
    m = int(rng.integers(2, 5))
    gamma = [Fraction(int(k), 20 * (m - 1)) for k in rng.integers(-19, 20, size)]
    rho, beta = ([Fraction(int(k), 30) for k in rng.integers(1, 90, size)] for _ in range(2))
    return exact_batch("", gamma=gamma, rho=rho, beta=beta, m=[m] * size, d=[m + int(rng.integers(5))] * size)


chen2026_2_1 = proved(
    "chen2026:2.1",
    "equiangular_layer(gamma, rho, m)",
    given=("rho > 0", "m >= 2", "(m - 1)*gamma > -1", "gamma <= 1"),
    arrays={"gamma": "", "rho": "", "m": ", whole, >= 2, <= 64"},
    title="One layer on equiangular tokens, exactly",
    source=f"{CHEN}, Theorem 2.1, read in a survey: limits for β = g log n; the formula for every n is ours",
    draws=(draw_layers,),
    share=0.1,
    notes="With β = g log m and 0 < γ < 1 the cosines tend to 1, 4γ/(1 + 3γ) and γ as m grows, for g below, at and "
    "above 1/(1 − γ): the limits of the theorem.",
)

chen2026_2_4 = proved(
    "chen2026:2.4",
    "equiangular_gradient(gamma, rho, beta, m, d)",
    given=("rho > 0", "m >= 2", "d >= m", "(m - 1)*gamma > -1", "gamma <= 1"),
    arrays={"gamma": "", "rho": "", "beta": "", "m": ", whole, >= 2, <= 64", "d": ", whole, >= 2"},
    title="Derivative of one layer at equiangular tokens: its mean square",
    source=f"{CHEN}, Theorem 2.4, read in two summaries: limits of ‖J‖²/(nd), J the derivative, n tokens of "
    "squared length q in d dimensions, without skip, for β = g log n; the formula for every n is ours",
    draws=(draw_gradients,),
    share=0.1,
    notes="For tokens of squared length q divide by q. With β = g log m and 0 < γ < 1 the mean square ‖J‖²/(md) "
    "tends to 0, 1/(4q) and 1/q as m grows, for g below, at and above 1/(1 − γ). The factor 1 − 1/d of the "
    "summaries tends to 1, as d ≥ m.",
)
