"""geshkovski2023: tokens that flow on the sphere; the sharp rate at which the least cosine grows."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from rankmath.formula.arrays import ArrayRun, Scalar, defined, quantity
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, ours, proved, refuted
from rankmath.verification.draws import written
from rankmath.verification.papers import GESHKOVSKI, OWN

defined(
    "cosines(C: array)",
    "all(C[i][i] == 1 for i in range(n)) and all(C[i][j] == C[j][i] and abs(C[i][j]) <= 1 for i in range(n) for j in "
    "range(n))",
    "C is symmetric with ones on its diagonal and no entry beyond ±1, as the cosines ⟨x_i, x_j⟩ of tokens are",
)


defined(
    "least_cosine(C: array)",
    "min(C[i][j] for i in range(n) for j in range(n))",
    "least entry",
    example="least_cosine(C) <= 1",
)


defined(
    "closing(C: array, beta: array)",
    "P = softmax(beta*C); min(sum(P[i][k]*(C[k][j] - C[k][i]*C[i][j]) + P[j][k]*(C[k][i] - C[k][j]*C[i][j]) for k in "
    "range(n)) for i in range(n) for j in range(n) if C[i][j] == min(C[a][b] for a in range(n) for b in range(n)))",
    "least d⟨x_i, x_j⟩/dt over the pairs with the least cosine, for tokens with the cosines C on the sphere that "
    "follow dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P = softmax(βC)",
    by_name=True,
)


defined(
    "closing_usa(C: array, beta: array)",
    "P = [[exp(beta*C[i][j])/n for j in range(n)] for i in range(n)]; min(sum(P[i][k]*(C[k][j] - C[k][i]*C[i][j]) + "
    "P[j][k]*(C[k][i] - C[k][j]*C[i][j]) for k in range(n)) for i in range(n) for j in range(n) if C[i][j] == "
    "min(C[a][b] for a in range(n) for b in range(n)))",
    "least d⟨x_i, x_j⟩/dt over the pairs with the least cosine, for tokens with the cosines C on the sphere that "
    "follow dx_i/dt = Σ_k e^{βC_ik}(x_k − ⟨x_k, x_i⟩x_i)/n: attention that is not normalised",
    by_name=True,
)


defined(
    "equiangular_flow(gamma: array, rho: array, m: array)",
    "C = [[gamma + (1 - gamma)*identity(m)[i][j] for j in range(m)] for i in range(m)]; P = [[(rho + (1 - "
    "rho)*identity(m)[i][j])/(1 + (m - 1)*rho) for j in range(m)] for i in range(m)]; "
    "all(sum(P[i][k]*(C[k][j] - C[k][i]*gamma) + P[j][k]*(C[k][i] - C[k][j]*gamma) for k in range(m)) == "
    "2*rho*(1 - gamma)*((m - 1)*gamma + 1)/(1 + (m - 1)*rho) for i in range(m) for j in range(i))",
    "m tokens whose cosines are all γ: every d⟨x_i, x_j⟩/dt is 2ρ(1 − γ)((m − 1)γ + 1)/(1 + (m − 1)ρ), where "
    "ρ = e^{−β(1 − γ)} stands for any positive number",
    by_name=True,
)


@quantity(
    "meeting_time(gamma: array, beta: array, m: array)",
    text="integral((exp(beta*(1 - u)) + m - 1)/(2*(1 - u)*(1 + (m - 1)*u)) for u in range(0, gamma))",
    by_name=True,
    example="meeting_time(gamma, beta, m) >= 0",
)
def meeting_time(run: ArrayRun, gamma: str, beta: str, m: str) -> Scalar:
    """the time in which the common cosine of m orthogonal tokens comes from 0 to γ on the sphere under dx_i/dt =
    Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i), P the softmax of the logits β⟨x_i, x_k⟩"""
    values = [np.asarray(run[name], dtype=object) for name in (gamma, beta, m)]
    if not run.A.unbounded:
        from scipy.integrate import quad

        def pace(u: float, b: float, n: float) -> float:  # c = 1 − e^{−u}
            return (math.exp(b * math.exp(-u)) + n - 1) / (2 - 2 * (n - 1) * math.expm1(-u))

        def time(g: float, b: float, n: float) -> float:
            known = 0 <= g < 1 and n >= 1
            return float(quad(pace, 0, -math.log1p(-g), (b, n), epsabs=0, epsrel=1e-12)[0]) if known else math.nan

        return run.number(np.asarray(np.frompyfunc(time, 3, 1)(*values), dtype=float))
    if run.A.name == "mpmath":
        import mpmath

        g, b, n = (mpmath.mpf(value[()]) for value in values)
        return mpmath.quad(lambda c: (mpmath.exp(b * (1 - c)) + n - 1) / (2 * (1 - c) * (1 + (n - 1) * c)), [0, g])
    from flint import acb

    from rankmath.arithmetic.balls import ball

    g, b, n = (acb(ball(value[()])) for value in values)
    return acb.integral(lambda c, _: ((b * (1 - c)).exp() + n - 1) / (2 * (1 - c) * (1 + (n - 1) * c)), acb(0), g).real


# -- instances ---------------------------------------------------------------------------------------------


def draw_flow(rng: Rng, size: int) -> ArrayInstance:
    """Tokens in a cap, or in clusters there, of any temperature."""
    n, d = int(rng.integers(3, 8)), int(rng.integers(2, 5))
    X = 10.0 ** rng.uniform(-2, 0.2, (size, 1, 1)) * rng.standard_normal((size, n, d))
    if rng.random() < 0.5:
        X = X[:, rng.integers(0, n, n)] + 10.0 ** rng.uniform(-4, -2) * rng.standard_normal((size, n, d))
    X[..., 0] += 1.0
    X /= np.linalg.norm(X, axis=-1, keepdims=True)
    C = np.clip(X @ np.swapaxes(X, -1, -2), -1, 1)
    C = np.where(np.eye(n, dtype=bool), 1.0, (C + np.swapaxes(C, -1, -2)) / 2)
    return ArrayInstance({"C": C, "beta": 10.0 ** rng.uniform(-2, 1, size)}, "in a cap", is_batch=True)


def draw_orthogonal(rng: Rng, size: int) -> ArrayInstance:
    gamma = [Fraction(int(k), 20) for k in rng.integers(0, 20, size)]
    rho = [Fraction(int(k), 30) for k in rng.integers(1, 31, size)]
    return exact_batch("", gamma=gamma, rho=rho, m=[int(rng.integers(2, 7))] * size)


def slowest(rng: Rng) -> Iterator[ArrayInstance]:
    """All cosines alike while α < ρ, and two clusters of one size beyond: the two slowest, moved by 2⁻²⁴."""
    off = 2.0**-24
    for alpha, beta in ((0.25, 0.5), (0.5, 0.25), (0.125, 1.0)):
        C = np.full((4, 4), alpha + off)
        C[0, 1] = C[1, 0] = alpha
        np.fill_diagonal(C, 1.0)
        yield ArrayInstance({"C": C, "beta": np.asarray(beta)}, "all alike")
    for alpha, beta in ((0.5, 4.0), (0.75, 8.0), (0.25, 3.0)):
        C = np.kron(np.asarray([[1.0, alpha], [alpha, 1.0]]), np.ones((2, 2)))
        C[0, 1] = C[1, 0] = C[2, 3] = C[3, 2] = 1 - off
        yield ArrayInstance({"C": C, "beta": np.asarray(beta)}, "two clusters")


def draw_odd(rng: Rng, size: int) -> ArrayInstance:
    """As `draw_flow`, three or five tokens and large β."""
    drawn = draw_flow(rng, size)
    n = 3 if drawn["C"].shape[-1] < 5 else 5
    return ArrayInstance({"C": drawn["C"][:, :n, :n], "beta": 8 * drawn["beta"]}, "in a cap", is_batch=True)


def slowest_odd(rng: Rng) -> Iterator[ArrayInstance]:
    """Two clusters that differ by one, and two of one size with one token between them; moved by 2⁻²⁴."""
    off = 2.0**-24
    for label, kinds, alpha, beta in (
        ("nearly alike", [0, 1, 0], 0.5, 4.0),
        ("nearly alike", [0, 1, 0, 1, 0], 0.75, 12.0),
        ("one between", [0, 1, 2], 0.75, 1.25),
        ("one between", [0, 1, 0, 1, 2], 0.5, 1.5),
    ):
        C = np.where(np.equal.outer(kinds, kinds), 1 - off, alpha + off)
        C[0, 1] = C[1, 0] = alpha
        np.fill_diagonal(C, 1.0)
        yield ArrayInstance({"C": C, "beta": np.asarray(beta)}, label)


def alike(rng: Rng) -> Iterator[ArrayInstance]:
    """All cosines alike, whatever the temperature."""
    for instance in list(slowest(rng))[:3]:
        for factor in (1.0, 16.0):
            yield ArrayInstance({"C": instance["C"], "beta": factor * instance["beta"]}, instance.label)


def draw_late(rng: Rng, size: int) -> ArrayInstance:
    """Tokens at any stage, the start included."""
    gamma = np.where(rng.random(size) < 0.1, 0.0, 1 - 10.0 ** rng.uniform(-12, 0, size))
    m = rng.integers(2, 20, size) * 1.0
    return ArrayInstance({"gamma": gamma, "beta": rng.uniform(0, 2, size), "m": m}, "orthogonal start", True)


def draw_arrived(rng: Rng, size: int) -> ArrayInstance:
    """Tokens that have nearly met."""
    gamma, m = 1 - 10.0 ** rng.uniform(-12, -8, size), rng.integers(2, 6, size) * 1.0
    return ArrayInstance({"gamma": gamma, "beta": rng.uniform(0, 0.7, size), "m": m}, "nearly met", True)


_READ = "as we read it: flow of tokens on the sphere with Q = K = V = I and attention normalised"

geshkovski2023_step = proved(
    "geshkovski2023:step",
    "closing(C, beta) >= (1 - alpha)/(2*n*exp(2*beta))",
    where={"alpha": "least_cosine(C)"},
    given=("cosines(C)", "alpha >= 1/2", "beta >= 0"),
    arrays={"C": "n n", "beta": ""},
    title="Closing of tokens with cosines from one half on",
    source=f"{GESHKOVSKI}, the step of the clustering theorem for a hemisphere, {_READ}",
    draws=(draw_flow,),
    share=0.5,
    notes="By own:flow-step the rate is at least e^{−β(1−α)}(1 − α) here, whatever the number of tokens.",
)

geshkovski2023_orthogonal = proved(
    "geshkovski2023:orthogonal",
    "equiangular_flow(gamma, rho, m)",
    given="rho > 0",
    arrays={"gamma": "", "rho": "", "m": ", whole, >= 2, <= 64"},
    title="Cosine from an orthogonal start: its equation",
    source=f"{GESHKOVSKI}, the equation for orthogonal initial tokens, {_READ}",
    draws=(draw_orthogonal,),
    share=0.1,
)

own_flow_step = ours(
    "own:flow-step",
    "closing(C, beta) >= 2*rho*(1 - alpha)*min((1 + alpha)/(1 + rho), (1 + (n - 1)*alpha)/(1 + (n - 1)*rho))",
    where={"alpha": "least_cosine(C)", "rho": "exp(-beta*(1 - alpha))"},
    given=("cosines(C)", "alpha >= 0", "beta >= 0"),
    arrays={"C": "n n", "beta": ""},
    source=f"{OWN}, for the flow with normalised attention of {GESHKOVSKI}",
    title="Slowest closing of tokens that flow on the sphere",
    draws=(draw_flow,),
    extremal=slowest,
    certificate="C beta",
    sharp=True,
    share=0.5,
    notes="The first is the rate of two clusters of n/2 tokens, the second that of tokens whose cosines are all α. So "
    "in n dimensions or more it is the best bound for even n, and for odd n where α ≤ ρ; else own:flow-step-odd is.",
)

own_flow_step_odd = ours(
    "own:flow-step-odd",
    "closing(C, beta) >= 2*rho*(1 - alpha)*min((1 + alpha)*(n**2*(1 + rho) + 1 - rho)/(n**2*(1 + rho)**2 - "
    "(1 - rho)**2), (n*(1 + alpha) - (1 - alpha))/(n*(1 + rho) - (1 - rho)))",
    where={"alpha": "least_cosine(C)", "rho": "exp(-beta*(1 - alpha))"},
    given=("cosines(C)", "n >= 3", "n == 2*floor(n/2) + 1", "alpha >= rho", "alpha < 1", "beta >= 0"),
    arrays={"C": "n n", "beta": ""},
    source=f"{OWN}, for the flow with normalised attention of {GESHKOVSKI}",
    title="Slowest closing of an odd number of tokens that flow on the sphere",
    draws=(draw_odd,),
    extremal=slowest_odd,
    sharp=True,
    share=0.1,
    notes="Clusters of (n ± 1)/2 tokens attain the first, three of (n − 1)/2, (n − 1)/2 and 1 tokens with the cosines "
    "α the second, which needs three dimensions.",
)

own_flow_step_usa = proved(
    "own:flow-step-usa",
    "closing_usa(C, beta) >= 2*exp(beta*alpha)*(1 - alpha)*(1 + (n - 1)*alpha)/n",
    where={"alpha": "least_cosine(C)"},
    given=("cosines(C)", "alpha >= 0", "beta >= 0"),
    arrays={"C": "n n", "beta": ""},
    title="Slowest closing of tokens that flow without normalisation",
    source=f"{OWN}, for the flow with unnormalised attention of {GESHKOVSKI}",
    draws=(draw_flow,),
    extremal=alike,
    certificate="C beta",
    sharp=True,
    share=0.5,
    notes="So from cosines ≥ 0 the least cosine is at no time below that of as many orthogonal tokens.",
)

_LATE = {"t": "meeting_time(gamma, beta, m)", "c": "m + exp(beta/2)"}
_EARLY = ("gamma >= 0", "gamma < 1", "beta >= 0", "m >= 2")

geshkovski2023_late_printed = refuted(
    "geshkovski2023:late-printed",
    "1 - gamma <= exp(m**2*exp(beta)/(2*c) - m*t/c)/2",
    where=_LATE,
    given=_EARLY,
    arrays={"gamma": ", >= 0, < 1", "beta": ", >= 0", "m": ", whole, >= 2"},
    title="Cosine from an orthogonal start: exponential rate, at every time",
    source=f"{GESHKOVSKI}, appendix D, the bound on 1 − γ_β(t), printed for t ≥ 0 as a public formalisation, "
    "fxeqxmulfx/transformer, quotes it; that it fails at t = 0 is that formalisation's remark",
    draws=(draw_late,),
    extremal=written("the start", {"gamma": 0, "beta": 0, "m": 2}),
    share=0.02,
    notes="Two tokens, β = 0, t = 0: the left side is 1 and the right side e^{2/3}/2 = 0.974. True at every time for "
    "three tokens or more, and for two where β ≥ 0.0469 or γ ≥ 0.0717. For t ≥ me^β/2: geshkovski2023:late.",
)

geshkovski2023_late = proved(
    "geshkovski2023:late",
    "1 - gamma <= exp(m**2*exp(beta)/(2*c) - m*t/c)/2",
    where=_LATE,
    given=(*_EARLY, "t >= m*exp(beta)/2"),
    arrays={"gamma": ", >= 0, < 1", "beta": ", >= 0", "m": ", whole, >= 2"},
    title="Cosine from an orthogonal start: exponential rate, from a time on",
    source=f"{GESHKOVSKI}, appendix D, the same bound on the times its constant points at, as a public "
    "formalisation, fxeqxmulfx/transformer, repairs it; the proof here is ours",
    draws=(draw_arrived,),
    share=0.03,
)

own_late = proved(
    "own:late",
    "1 - gamma <= exp(-(m + 1)*(t - s)/(m - 1 + exp(beta/2)))/2",
    where={"t": "meeting_time(gamma, beta, m)", "s": "(exp(beta) + m - 1)/3"},
    given=(*_EARLY, "t >= s"),
    arrays={"gamma": ", >= 0, < 1", "beta": ", >= 0", "m": ", whole, >= 2"},
    title="Cosine from an orthogonal start: a larger rate, from an earlier time on",
    source=f"{OWN}, after {GESHKOVSKI}",
    draws=(draw_arrived,),
    share=0.03,
    notes="Never more than geshkovski2023:late.",
)
