"""own_flows: what papers of 2024 to 2026 on tokens that flow leave to say: how long until tokens meet, how fast in
the mean field, on which circles, beside which frozen tokens, and between which steps."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from rankmath.formula.arrays import ArrayRun, Scalar, defined, quantity
from rankmath.validation import Array, InvalidArgument, Number
from rankmath.verification.claim import ArrayInstance, Rng, Statement, proved
from rankmath.verification.draws import written
from rankmath.verification.papers import CHEN_MEAN, GESHKOVSKI_SLOW, KARAGODIN, KOUBBI, OWN, POLYANSKIY

_READ = "the wording from a public formalisation, fxeqxmulfx/transformer"


def _numbers(label: str, **values: Array) -> ArrayInstance:
    arrays = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    return ArrayInstance(arrays, label, is_batch=bool(next(iter(arrays.values())).ndim))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)

# -- until tokens meet -------------------------------------------------------------------------------------


@quantity(
    "until_collapse(beta: array, u: array, c: array)",
    text="integral(exp(beta*v)/(v*(1 - v)) for v in range(exp(-c*beta), 1 - u))",
    by_name=True,
    example="until_collapse(beta, u, c) >= 0",
)
def until_collapse(run: ArrayRun, beta: str, u: str, c: str) -> Scalar:
    """the time in which u' = u(1 − u)e^{β(u − 1)} comes from u to 1 − e^{−cβ}"""
    values = [np.asarray(run[name]) for name in (beta, u, c)]
    if not run.A.unbounded:
        b, first, rate = (value.astype(float)[..., None] for value in values)
        # The part 1/v of the integrand has a logarithm as its integral; the rest is smooth down to v = 0.
        with np.errstate(all="ignore"):  # what is no time is not a number
            low, end, whole = np.exp(-rate * b), 1 - first, rate * b + np.log1p(-first)
            v = low + (end - low) * (_NODES + 1) / 2
            rest = ((np.expm1(b * v) + v) / (v * (1 - v)) * _WEIGHTS).sum(axis=-1, keepdims=True)
            return run.number(np.where(whole > 0, whole + rest * (end - low) / 2, np.nan)[..., 0])
    # With v = e^(-s) the integrand is smooth, and falls to 1 as fast as e^(-s).
    if run.A.name == "mpmath":
        import mpmath

        b, first, rate = (mpmath.mpf(value[()]) for value in values)
        start, end = -mpmath.log(1 - first), rate * b
        far = min(end, start + mpmath.mp.prec)
        return end - far + mpmath.quad(lambda s: mpmath.exp(b * mpmath.exp(-s)) / -mpmath.expm1(-s), [start, far])
    return _until_in_balls(*(value[()] for value in values))


def _until_in_balls(beta: Number, u: Number, c: Number) -> Scalar:
    from flint import acb, ctx

    from rankmath.arithmetic.balls import ball

    b, start = acb(ball(beta)), -(1 - acb(ball(u))).log()
    end = b * ball(c)
    far = start + ctx.prec if end.real > start.real + ctx.prec else end

    def pace(s: acb) -> acb:
        return (b * (-s).exp()).exp() / (1 - (-s).exp())

    whole = acb.integral(lambda s, _: pace(s), start, far, eval_limit=2000)
    return (whole + (end - far) * pace(far).union(acb(1))).real


def draw_collapses(rng: Rng, size: int) -> ArrayInstance:
    """Starts anywhere, attention up to β = 30, ends a little or far behind the start."""
    u, beta = rng.uniform(0.05, 0.95, size), 1 + 10.0 ** rng.uniform(-1, 1.46, size)
    return _numbers("random", beta=beta, u=u, c=(rng.exponential(3, size) + 0.01 - np.log1p(-u)) / beta)


_COLLAPSE = {"beta": ", > 0", "u": ", > 0, < 1", "c": ", > 0"}

geshkovski2024_until_collapse = proved(
    "geshkovski2024:until-collapse",
    "until_collapse(beta, u, c) <= exp(beta*(1 - u))/u + beta**2*c*exp(1)/(beta - 1)",
    given=("beta > 1", "u > 0", "exp(-c*beta) < 1 - u"),
    arrays=_COLLAPSE,
    title="Time of u′ = u(1 − u)e^{β(u − 1)}: a bound",
    source=f"{GESHKOVSKI_SLOW}, section 2, lemma “until collapse”; {_READ}, which proves it",
    draws=(draw_collapses,),
    share=0.02,
    notes="Sharper: own:until-collapse.",
)

own_until_collapse = proved(
    "own:until-collapse",
    "until_collapse(beta, u, c) <= c*beta + log(1 - u) + 2*(exp(x) - 1 - x)/x + (exp(x) - 1)/(beta*u)",
    where={"x": "beta*(1 - u)"},
    given=("beta > 0", "u > 0", "exp(-c*beta) < 1 - u"),
    arrays=_COLLAPSE,
    title="Time of u′ = u(1 − u)e^{β(u − 1)}: a sharper bound",
    source=f"{OWN}, beside a lemma of {GESHKOVSKI_SLOW}",
    draws=(draw_collapses,),
    # Ever nearer to one: the logarithm is all that counts.
    extremal=written("far ends", *({"beta": 2, "u": 0.75, "c": c} for c in (2**8, 2**12))),
    sharp=True,
    share=0.02,
    notes="Never more than geshkovski2024:until-collapse, where β > 1.",
)

# -- the mean field ----------------------------------------------------------------------------------------


def draw_boosts(rng: Rng, size: int) -> ArrayInstance:
    tau, v = 10.0 ** rng.uniform(-1.5, 1, size), rng.uniform(0, 1, size) ** rng.choice([1, 8], size)
    return _numbers("random", v=v, tau=tau, a=rng.uniform(0, 1, size))


own_mean_field_rate = proved(
    "own:mean-field-rate",
    "(1 - v)/(1 + s*v) <= exp(-a*log(s*v))",
    where={"s": "exp(2*tau) - 1"},
    given=("v > 0", "v <= 1", "tau > 0", "a >= 0", "a <= 1"),
    arrays={"v": ", > 0, <= 1", "tau": ", > 0", "a": ", >= 0, <= 1"},
    title="Rate of the mean field at β = 0",
    source=f"{OWN}, beside a theorem of {CHEN_MEAN}: exponentially fast, W₂ ≤ C₀e^{{−t/100}} for |β| < β₀, from a "
    f"density in L² with a mean that is not 0, as a survey has it; {_READ}. That such flows move tokens by boosts "
    "is known: from Watanabe and Strogatz 1994 on the circle, from Lipton, Mirollo and Strogatz 2021 on spheres",
    draws=(draw_boosts,),
    # Late, near the opposite point, and with the exponent 1: the one in the denominator no longer counts.
    extremal=written("late", *({"v": 2.0**-12, "tau": tau, "a": 1} for tau in (8, 10))),
    sharp=True,
    share=0.3,
    notes="In d ≥ 2 dimensions all tokens rest where the mean is 0; else a boost of some rapidity τ along an axis w, "
    "and then a rotation, which takes w to e, move them: a token x with ⟨w, x⟩ = 2v − 1 goes to one with 1 − ⟨e, x⟩ = "
    "2(1 − v)/(1 + sv). Hölder's inequality with this bound gives W₂ ≤ Ce^{−ρt} for every ρ < min(1, (d − 1)/4), and "
    "for ρ = 1 if d ≥ 6, from every density in L² with a mean that is not 0; for no exponent above min(1, (d − 1)/4) "
    "is this true of all of them. W₂ is the distance of the tokens' distribution at the time t from one point.",
)

# -- the circle --------------------------------------------------------------------------------------------


def draw_triangles(rng: Rng, size: int) -> ArrayInstance:
    beta = -2 / 3 + np.append(rng.exponential(1, size - 1), 0.001)
    return _numbers("random", beta=beta, u=rng.uniform(0, 1, size))


own_circle_three = proved(
    "own:circle-three",
    "u*exp(beta*(u**2/2 - 1)) <= exp(-beta*u/2)",
    given=("beta >= -2/3", "u > 0", "u <= 1"),
    arrays={"beta": "", "u": ", > 0, <= 1"},
    title="Three tokens on the circle, attention not normalised",
    source=f"{OWN}, beside {POLYANSKIY}, who show for every number of tokens that they meet from almost every start "
    "if β ≥ −0.16 and, for some number, do not if β < −2/3; read in the abstract",
    draws=(draw_triangles,),
    # Nearly equilateral, at the least β: both terms nearly cancel.
    extremal=written("nearly equilateral", {"beta": -2 / 3 + 2.0**-20, "u": 1 - 2.0**-8}),
    sharp=True,
    share=0.3,
    notes="The flow is that of V = I and logits β⟨x_i, x_j⟩. The claim is strict for 0 < u < 1: three tokens with "
    "two gaps of cosine −u/2 do not rest for such a u, as they would at an equilibrium of tokens apart without a "
    "positive eigenvalue. So they meet from almost every start if β > −2/3; if β < −2/3 the equilateral triangle "
    "attracts an open set of starts.",
)

# -- frozen tokens -----------------------------------------------------------------------------------------


defined(
    "near_slope(w: array, eps: array)",
    "s = pi*w; s*cos(eps*s)/sin(eps*s) - sin(eps*s)/s",
    "s g(εs)/h(εs), with h(x) = e^{β(cos x − 1)} sin x, g its derivative, β = 1/s², s = πw",
    by_name=True,
)


defined(
    "far_slope(w: array, b: array)",
    "s = pi*w; x = b*s; y = (b + 1)*s; exp((cos(y) - cos(x))/s**2)*(sin(y)**2 - s**2*cos(y))/(s*sin(x))",
    "−s g((b + 1)s)/h(bs), with h(x) = e^{β(cos x − 1)} sin x, g its derivative, β = 1/s², s = πw",
    example="far_slope(w, b) <= 2",
    by_name=True,
)


def draw_separations(rng: Rng, size: int) -> ArrayInstance:
    w = 0.5 * rng.uniform(0.001, 1, size)
    return _numbers("random", w=w, b=1 + (1 / w - 2) * rng.uniform(0, 0.9999, size), eps=rng.uniform(0.01, 0.4, size))


own_frozen_sign = proved(
    "own:frozen-sign",
    "far_slope(w, b) <= 33/25 and near_slope(w, eps) >= 8/5",
    given=("w > 0", "(b + 1)*w <= 1", "b >= 1", "eps > 0", "5*eps <= 2"),
    arrays={"w": ", > 0", "b": ", >= 1", "eps": ", > 0"},
    title="Frozen tokens on the circle: two conditions on their distance",
    source=f"{OWN}, beside {KARAGODIN}, section 5, theorem on clustering to frozen tokens; {_READ}, which notices "
    "that a minus sign is missing in the second condition",
    draws=(draw_separations,),
    share=0.1,
    notes="With s = β^{−1/2} = πw, frozen tokens more than c·s apart, c = b + 1 + 2ε, and N the sum of all weights, "
    "the theorem asks for Nh((c − 1 − 2ε)s) < h(εs) and, as quoted, Ng((c − 2ε)s) < g(εs), g = h′, where the proof "
    "needs −N. As 33/25 < 8/5, the first condition implies the second with −N if c ≥ 2 + 2ε, ε ≤ 2/5 and (c − 2ε)s ≤ "
    "π. The last is so where there are two frozen tokens.",
)

# -- between two steps -------------------------------------------------------------------------------------


def draw_steps(rng: Rng, size: int) -> ArrayInstance:
    C = 1 + rng.exponential(2, size)
    return _numbers("random", C=C, eta=np.exp(-C) / (8 * C) * rng.uniform(0.01, 1, size))


own_off_grid = proved(
    "own:off-grid",
    "C*exp(C*eta)*eta*(eta + 1)*eta < eta/2 - eta**3/48",
    given=("C >= 1", "eta > 0", "8*C*exp(C)*eta <= 1"),
    arrays={"C": ", >= 1", "eta": ", > 0"},
    title="A chain between two layers, and its limit in continuous time",
    source=f"{OWN}; that it is against a sentence of {KOUBBI}, section 2.3.2, was noticed by a public "
    "formalisation, fxeqxmulfx/transformer, from which we have the wording: after the theorem on the weak error a rate "
    "Ce^{CT}η(T + 1)max(η, α), η the step, L the depth, T = ηL, α the scale of the noise, uniformly on [0, T]",
    draws=(draw_steps,),
    share=0.3,
    notes="One token on the circle, a head that turns it with speed 1, no noise, T = η: halfway the limit has turned "
    "by η/2, the chain, constant between its layers, not at all, so a coordinate differs by sin(η/2) ≥ η/2 − η³/48. "
    "At the times of the layers this head keeps the rate.",
)

# -- words for claims about any flow -----------------------------------------------------------------------

#: x_i' = P_{x_i}Σ_j a_ij V x_j, a the softmax of x_iᵀBx_j over the j with G_ij = 1; rows of X are divided by their
#: lengths.
FLOW = {"V": "d d", "B": "d d", "G": "n n", "X": "n d, no zero row"}


defined(
    "speed(V: array, B: array, G: array, X: array)",
    "u = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in "
    "range(len(X))]; L = u @ B @ T(u); y = [[G[i][j]*exp(L[i][j])/sum(G[i][k]*exp(L[i][k]) for k in range(len(X))) "
    "for j in range(len(X))] for i in range(len(X))] @ u @ T(V); max(sqrt(sum((y[i][a] - sum(y[i][b]*u[i][b] for b in "
    "range(len(X[0])))*u[i][a])**2 for a in range(len(X[0])))) for i in range(len(X)))",
    "largest length of a velocity P_{x_i}Σ_j a_ij V x_j, a the softmax of x_iᵀBx_j over the j with G_ij = 1; rows of "
    "X are divided by their lengths",
    by_name=True,
    example="speed(V, B, G, X) <= form_size(V)",
)


@quantity(
    "growth(V: array, B: array, G: array, X: array)",
    latex=r"\max\operatorname{{Re}}\operatorname{{spec}}\text{{ near }}{3}",
    because="an equilibrium that is sought near X",
    example="growth(V, B, G, X) <= 1",
)
def growth(run: ArrayRun, V: str, B: str, G: str, X: str) -> Scalar:
    """largest real part of an eigenvalue of the flow's linearisation, on the tangent space, at the one equilibrium
    within 0.001 of the rows of X, divided by their lengths: negative at a sink; not decided where balls do not
    show that there is one"""
    from rankmath.equilibria.flow import Flow
    from rankmath.equilibria.flow_proof import NotProved, polished

    arrays, found = [np.asarray(run[name]) for name in (V, B, G, X)], []
    for value, form, seen, rows in zip(*arrays, strict=True) if run.instance.is_batch else [arrays]:
        flow, unit = Flow(value, query=form.T, mask=seen.astype(float) > 0), rows.astype(float)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        if run.A.unbounded:
            try:
                return max((real for real, _ in flow.certify(unit).eigenvalues), key=float)
            except NotProved:
                return run.A.constant(np.nan)
        rest = polished(flow, unit)
        at_rest = abs(flow.velocity(rest)).max() < 1e-9
        found.append(flow.spectrum(rest).real.max() if at_rest else np.nan)
    return run.number(np.array(found) if run.instance.is_batch else np.asarray(found[0]))


def draw_flows(rng: Rng, size: int) -> ArrayInstance:
    """Random flows, complete or causal, and tokens."""
    n, d = int(rng.integers(1, 5)), int(rng.integers(2, 4))
    seen = np.tril(np.ones((n, n))) if rng.random() < 0.5 else np.ones((n, n))
    V, B = rng.standard_normal((2, size, d, d)) * 10.0 ** rng.uniform(-1, 0.5, (2, size, 1, 1))
    X = rng.standard_normal((size, n, d))
    return ArrayInstance({"V": V, "B": B, "G": np.tile(seen, (size, 1, 1)), "X": X}, "random flows", is_batch=True)


def draw_equilibria(rng: Rng, size: int) -> ArrayInstance:
    """Two tokens at rest, wherever they are found in some random flows in the plane."""
    from rankmath.equilibria.flow import Flow

    found: list[dict[str, Array]] = []
    while len(found) < min(size, 24):
        V, B = np.round(4 * rng.standard_normal((2, 2, 2))) / 4
        flow = Flow(V, query=B.T, mask="causal" if rng.random() < 0.5 else "complete")
        seen = flow.mask_for(2).allowed.astype(float)
        rests = flow.equilibria(2, starts=6, seed=int(rng.integers(2**31)))
        found += [{"V": V, "B": B, "G": seen, "X": one.tokens} for one in rests if one.kind != "degenerate"]
    stacked = {name: np.array([one[name] for one in found[:size]]) for name in FLOW}
    return ArrayInstance(stacked, "at rest", is_batch=True)


def own_claim(
    key: str,
    claim: str,
    given: Sequence[str] = (),
    where: Mapping[str, str] = MappingProxyType({}),
    *,
    title: str = "",
    source: str = "",
) -> Statement:
    """A claim of one's own: about flows where `speed(V, B, G, X)`, for any tokens, or `growth(V, B, G, X)`, at
    equilibria, stands in it; else about networks."""
    if not re.search(r"\b(speed|growth)\(V, *B, *G, *X\)", found := " ".join((claim, *given))):
        return Statement(key, claim, tuple(given), where, title=title, source=source)
    if where:
        raise InvalidArgument(
            f"claim: {claim} given with {', '.join(where)}; a claim about flows has no letter of its own"
        )
    draws, share = ((draw_equilibria,), 0.02) if "growth(" in found else ((draw_flows,), 0.3)
    return Statement(key, claim, tuple(given), arrays=FLOW, draws=draws, share=share, title=title, source=source)
