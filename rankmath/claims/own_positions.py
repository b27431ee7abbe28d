"""own:transport and its kin: what positions, masks, capped logits and norms before the map leave of collapse."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rankmath.claims import own_diameter
from rankmath.formula.arrays import defined
from rankmath.model.network import Network
from rankmath.model.positions import ALiBi, Rotary
from rankmath.model.sublayers import Attention, LayerNorm, NormKind, Sublayer
from rankmath.validation import Floats
from rankmath.verification.claim import ArrayInstance, Draw, Instance, NetworkInstance, Rng, Statement, proved, refuted
from rankmath.verification.draws import moderate_tokens
from rankmath.verification.papers import OWN

#: Any logits and any mask, as hypotheses.
LOGITS = ("positions == any", "softcap == any", "qk_norm == any")
#: Kinds of logits: rotary and additive positions, windows, caps, normed queries and keys.
PLAIN: tuple[dict[str, Any], ...] = (
    {"positions": "rotary"},
    {"positions": "alibi"},
    {"positions": "rotary", "qk_norm": True, "kv_heads": 1},
)
CAUSAL = tuple({**kind, "mask": "causal"} for kind in PLAIN)
KINDS = (*PLAIN, CAUSAL[0], {"positions": "rotary", "softcap": 2.0, "window": 1}, {**CAUSAL[1], "window": 2})
#: Shapes (n, d, H, L).
SHAPES = ((2, 2, 1, 1), (3, 4, 2, 1), (4, 2, 1, 2))


def _draws(
    kinds: Sequence[dict[str, Any]],
    shapes: Sequence[tuple[int, int, int, int]] = SHAPES,
    log_scale: tuple[float, float] = (-0.7, 0.3),
    tokens: Callable[[Rng, int, int, int], Floats] = moderate_tokens,
    values: tuple[float, float] | None = None,
    **more: Any,
) -> tuple[Draw, ...]:
    """Batches of networks that have their positions in common, a draw for each kind.

    `values` (w, s): W is a multiple of 1, between w/2 and w, plus s times a Gaussian matrix.
    """

    def of_kind(kind: dict[str, Any]) -> Draw:
        def draw(rng: Rng, size: int) -> NetworkInstance:
            n, d, H, L = shapes[int(rng.integers(len(shapes)))]
            # Slopes that matter, where the usual one of a single head is 1/256.
            slopes = {"positions": ALiBi(rng.uniform(0.05, 2, H))} if kind.get("positions") == "alibi" else {}
            net = Network.random(n, d, H, L, **{**kind, **slopes}, **more)
            stacked = {}
            for name in ("query", "key", "value", "output"):
                if (array := getattr(net, name)) is not None:
                    # Keys and values of a group are the same.
                    groups = kind.get("kv_heads", H) if name in ("key", "value") else H
                    drawn = rng.standard_normal((L, groups, size, *array.shape[2:])) / np.sqrt(d)
                    drawn = drawn * 10 ** rng.uniform(*log_scale, (size, 1, 1))
                    if name == "value" and values is not None:
                        whole = values[0] * rng.integers(16, 33, (L, 1, size, 1, 1)) / 32
                        drawn = whole * np.eye(d) + values[1] * drawn
                    stacked[name] = np.repeat(drawn, H // groups, axis=1)
            label = ", ".join(f"{name} {word}" for name, word in kind.items())
            return NetworkInstance(net.replace(**stacked), tokens(rng, size, n, d), label)

        return draw

    return tuple(of_kind(kind) for kind in kinds)


def long_tokens(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Tokens near (3, …, 3)."""
    return np.asarray(3.0 + 0.3 * rng.standard_normal((size, n, d)))


def longer_and_longer(rng: Rng, size: int, n: int, d: int) -> Floats:
    """Every token about twice as long as the one before."""
    return np.asarray(2.0 ** np.arange(n)[:, None] * (1.0 + 0.3 * rng.standard_normal((size, n, d))))


def quarter_turn(
    height: float = 2.0**-7, value: float = 1.0, slack: float = 0.0, *, skip: float = 0.0, norm: NormKind | None = None
) -> NetworkInstance:
    """Two tokens (1, ±height), W_QK = 1, W = value·diag(1 + slack, 1), the second place turned by 90°: exact."""
    attention = Attention.from_arrays(
        np.eye(2)[None], value * np.diag([1 + slack, 1.0])[None], 2, rotary=Rotary([[1.0], [0.0]], [[0.0], [1.0]])
    )
    layer = [Sublayer(attention, skip, before=None if norm is None else LayerNorm(norm))]
    tokens = np.asarray([[1.0, height], [1.0, -height]])
    return NetworkInstance(Network.from_layers([layer], tokens=2), tokens, "a quarter turn")


def meeting_tokens(rng: Rng) -> Iterator[NetworkInstance]:
    """Quarter turns of tokens that meet. They are equalities; a little slack makes them strict, and decidable."""
    for k in (3, 7, 12, 20):
        yield quarter_turn(2.0**-k, slack=2.0**-16)


def against_the_skip(norm: NormKind | None = None) -> Callable[[Rng], Iterator[NetworkInstance]]:
    """Quarter turns whose values point against the skip, or along it: one of the two bounds is nearly reached."""

    def pairs(rng: Rng) -> Iterator[NetworkInstance]:
        for value in (-0.5, 0.5):
            yield quarter_turn(2.0**-7, value, 2.0**-16, skip=1.0, norm=norm)

    return pairs


def nearly_scaled(rng: Rng) -> Iterator[NetworkInstance]:
    """Two causal tokens, rotary positions, values that are nearly a multiple of 1: nearly equal factors."""
    for k in (10, 20):
        net = Network.random(2, 2, 1, 2, positions="rotary", mask="causal")
        value = 0.5 * np.eye(2) + 2.0**-k * rng.standard_normal((2, 1, 2, 2))
        yield NetworkInstance(net.replace(value=value), rng.standard_normal((2, 2)), "values near 1/2")


_PROVED: Any = {"source": OWN, "status": "proved", "share": 0.3}
_NORMED: Any = {"skip": 1.0, "norm": "rms", "norm_at": "before"}
_TRANSPORT = "sum_h(norm(W[l,h], 2)*dobrushin(P[l,h]))"
_GAINED = "sum_h(gained_norm(W[l,h])*dobrushin(P[l,h]))/least_root(l)"

own_transport = Statement(
    "own:transport",
    "all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l,h], p)*dobrushin(P[l,h])))*diameter(X[0], p))",
    given=("mask == any", *LOGITS),
    title="Diameter over the layers, by total variation: any logits, any mask",
    **_PROVED | {"source": f"{OWN}; one head with W = I is Dobrushin's contraction, which is classical"},
    draws=_draws(KINDS),
    extremal=meeting_tokens,
    sharp=True,
)

own_transport_skip = Statement(
    "own:transport-skip",
    f"diameter(X[L], 2) >= prod_l(abs(skip) - {_TRANSPORT})*diameter(X[0], 2)"
    f" and diameter(X[L], 2) <= prod_l(abs(skip) + {_TRANSPORT})*diameter(X[0], 2)",
    given=("mask == any", *LOGITS, f"all_l({_TRANSPORT} < abs(skip))"),
    title="λ-skips: the diameter between two products, any logits, any mask",
    **_PROVED,
    draws=_draws(KINDS, log_scale=(-1.5, -0.3), skip=1.0),
    extremal=against_the_skip(),
    sharp=True,
)

own_positions_diameter = Statement(
    "own:positions-diameter",
    "diameter(X[L], 2) <= prod_l(sum_h(norm(W[l,h], 2)*tanh((turned_range(P[l,h]) + position_range(P[l,h]))/4)))"
    "*diameter(X[0], 2)",
    given=("mask == padding", "positions == any", "qk_norm == any"),
    title="Diameter collapse with positions, rotary or additive",
    **_PROVED,
    draws=_draws(PLAIN),
    extremal=meeting_tokens,
    sharp=True,
    notes="Without positions and norms the bound is of order three; with positions it need not fall below a factor a "
    "layer.",
)

own_consensus_rate = Statement(
    "own:consensus-rate",
    "all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l,h], p)"
    "*(dobrushin(P0[l,h]) + 2*tanh(consensus_shift(P[l,h])/4))))*diameter(X[0], p))",
    given=("mask == any", *LOGITS),
    title="Growth of the diameter near consensus, by total variation",
    **_PROVED,
    draws=_draws(KINDS),
    extremal=meeting_tokens,
    sharp=True,
    notes="Where logits are continuous their shift goes to zero as tokens come together at a point. The total "
    "variation of P₀ is 0 where there are no positions and all tokens see the same keys.",
)

own_second_token = Statement(
    "own:second-token",
    "first_gap(X[L]) >= prod_l(second_least(l))*first_gap(X[0])"
    " and first_gap(X[L]) <= prod_l(second_norm(l))*first_gap(X[0])",
    given=("mask == causal", "n >= 2", *LOGITS),
    title="First two tokens under a causal mask: products over the layers",
    **_PROVED,
    draws=_draws(CAUSAL),
    extremal=nearly_scaled,
    sharp=True,
    notes="Both are equalities where every sum of P_11 W over heads is a multiple of an orthogonal matrix. With one "
    "head and W = I the distance is multiplied by P_11 a layer, whatever the logits.",
)

own_consensus_second = Statement(
    "own:consensus-second",
    "first_gap(X[L]) >= prod_l(diagonal(P0[l,0], 1)*exp(-consensus_shift(P[l,0]))*least_singular(W[l,0]))"
    "*first_gap(X[0])"
    " and first_gap(X[L]) <= prod_l(diagonal(P0[l,0], 1)*exp(consensus_shift(P[l,0]))*norm(W[l,0], 2))"
    "*first_gap(X[0])",
    given=("mask == causal", "n >= 2", "heads == 1", *LOGITS),
    title="First two tokens under a causal mask, by attention at consensus",
    **_PROVED,
    draws=_draws(CAUSAL, ((2, 2, 1, 1), (3, 4, 1, 1), (4, 2, 1, 2))),
    extremal=nearly_scaled,
    notes="With W = I and no bias the first token never moves, and where one layer with continuous logits is repeated "
    "on first two tokens that differ the rate is the share that the second gives itself at consensus, 1/2 without "
    "positions.",
)

own_pre_norm_diameter = Statement(
    "own:pre-norm-diameter",
    f"diameter(X[L], 2) >= prod_l(abs(skip) - {_GAINED})*diameter(X[0], 2)"
    f" and diameter(X[L], 2) <= prod_l(abs(skip) + {_GAINED})*diameter(X[0], 2)",
    given=("layernorm == rms", "norm_at == before", "mask == any", *LOGITS, f"all_l({_GAINED} < abs(skip))"),
    title="RMSNorm before attention: the diameter over the layers",
    **_PROVED,
    draws=_draws(KINDS, log_scale=(-2.0, -0.7), skip=2.0, norm="rms", norm_at="before"),
    extremal=against_the_skip("rms"),
    sharp=True,
)

own_consensus_derivative = Statement(
    "own:consensus-derivative",
    "all_l(linear_gap(l) <= sum_h(norm(W[l,h], 2)*tanh(consensus_shift(P[l,h])/4))*diameter(X[l], 2))",
    given=("mask == any", *LOGITS),
    title="Derivative of attention at consensus",
    **_PROVED | {"share": 0.1},
    draws=_draws(KINDS),
    notes="Where logits are continuous the shift goes to zero as tokens come together at a point, so Σ_h P₀(X − C)W "
    "is the derivative there.",
)

own_consensus_spectrum = Statement(
    "own:consensus-spectrum",
    "all_l(all_h(abs(sum_i(diagonal(P0[l,h], i)) - 1) <= (n - 1)*second_modulus(P0[l,h])"
    " and second_modulus(P0[l,h]) <= dobrushin(P0[l,h])))",
    given=("mask == any", *LOGITS),
    title="Spectrum of attention at consensus",
    **_PROVED | {"share": 0.1, "source": f"{OWN}; both bounds are classical"},
    truth="proofs/own_mask_rate.tex",
    draws=_draws(KINDS[:-1], ((3, 4, 1, 1), (4, 2, 1, 2))),
    notes="Where one layer of one head with W = I, no bias and logits that are analytic in the tokens is repeated, a "
    "layer multiplies the residual by |λ₂(P₀)| at the limit, in the geometric mean over all layers, for almost every "
    "start near a consensus where 0 < |λ₂(P₀)| < 1 (proofs/own_mask_rate.tex).",
)

own_causal_rate = Statement(
    "own:causal-rate",
    "reach(X[L]) >= prod_l(diagonal(P0[l,0], 1)*exp(-consensus_shift(P[l,0]))*least_singular(W[l,0]))"
    "*first_gap(X[0]) and reach(X[L]) <= L**(n - 2)*prod_l(norm(W[l,0], 2)*(1/L + (1 - 1/L)*other_share(P0[l,0])"
    "*exp(consensus_shift(P[l,0]))))*reach(X[0])",
    given=("mask == causal", "n >= 2", "heads == 1", *LOGITS),
    title="Distance from the first token under a causal mask, by attention at consensus",
    **_PROVED | {"share": 0.1},
    draws=_draws(CAUSAL, ((2, 2, 1, 1), (3, 4, 1, 2), (4, 2, 1, 2))),
    notes="Where one layer with W = I, no bias and logits that are Lipschitz on bounded sets is repeated, the "
    "distance from the first token lies, up to constants and a power of L, between the L-th powers of two shares at "
    "consensus: that of the second token, if it differs from the first, and the largest beside the first token's. "
    "They agree for relative positions and for none (own:relative-shares).",
)

own_relative_shares = Statement(
    "own:relative-shares",
    "all_l(all_h(diagonal(P0[l,h], n - 1) < diagonal(P0[l,h], 1)))",
    given=("mask == causal", "positions == relative", "n >= 3"),
    title="Attention of later tokens to themselves at consensus: relative positions, causal mask",
    **_PROVED | {"share": 0.1},
    draws=_draws(CAUSAL[1:2], ((3, 2, 2, 1), (4, 2, 1, 2))),
    notes="Token i gives itself 1/Σ exp(g(s) − g(0)) over s = 0, …, i, g(s) the logit of equal tokens at distance s; "
    "so the second token has the largest share after the first. The same holds for rotary positions whose angles are "
    "proportional to the place, and for none.",
)

own_shrinking_values = Statement(
    "own:shrinking-values",
    "diameter(X[L], 2) <= s**(L**2)*(c*longest(X[0])**2)**L*diameter(X[0], 2)",
    given=("mask == padding", "positions == rotary", "bias == none", "query_bias == none"),
    where={"s": "max_l(sum_h(norm(W[l,h], 2)))", "c": "max_l(max_h(lengthening(P[l,h])))"},
    title="Rotary positions without a mask: collapse with shrinking values",
    **_PROVED | {"share": 0.1},
    draws=_draws(PLAIN[:1]),
    notes="With rotations a key bias does not cancel: b_K = 0 is needed too, as c asks.",
)

own_pre_norm_depth = Statement(
    "own:pre-norm-depth",
    "diameter(X[L], 2) >= exp(-nu/(least_root(0) - nu)"
    " - nu/root_growth()*log(1 + root_growth()*L/(least_root(0) - nu)))*diameter(X[0], 2)"
    " and diameter(X[L], 2) <= exp(nu/least_root(0)"
    " + nu/root_growth()*log(1 + root_growth()*L/least_root(0)))*diameter(X[0], 2)",
    given=(
        "norm == rms before",
        "skip == 1",
        "layers >= 2",
        "mask == any",
        *LOGITS,
        "root_growth() > 0",
        "nu < least_root(0)",
    ),
    where={"nu": "max_l(sum_h(gained_norm(W[l,h])*dobrushin(P[l,h])))"},
    title="RMSNorm before attention: the diameter between two powers of the depth",
    **_PROVED | {"share": 0.1},
    draws=_draws(
        (*PLAIN[:2], *KINDS[3:]), ((2, 2, 1, 2), (3, 2, 1, 3)), tokens=long_tokens, values=(0.5, 0.1), **_NORMED
    ),
    notes="So for fixed ν, ρ_0 and c, the least (ρ_l − ρ_0)/l, the diameter lies, up to factors that do not depend on "
    "L, between the powers −ν/c and ν/c of L.",
)

own_pre_norm_power = Statement(
    "own:pre-norm-power",
    "across(X[L]) >= prod_l(1 + gained_norm(W[l,0])*diagonal(P[l,0], 1)/largest_root(l))*across(X[0])"
    " and across(X[L]) <= prod_l(1 + gained_norm(W[l,0])*diagonal(P[l,0], 1)/least_root(l))*across(X[0])",
    given=(
        "norm == rms before",
        "skip == 1",
        "heads == 1",
        "n >= 2",
        "mask == causal",
        "bias == none",
        *LOGITS,
        "scaling_values()",
    ),
    title="RMSNorm before causal attention: power of the depth, values a multiple of the identity",
    **_PROVED | {"share": 0.1},
    draws=_draws(CAUSAL[:2], ((3, 2, 1, 1), (4, 2, 1, 2)), tokens=longer_and_longer, values=(1.0, 0.0), **_NORMED),
    notes="With the second token's own root mean square in the place of the least and the largest it is an equality. "
    "One layer repeated, ε = 0, diag(g)W = w·I with w > 0, logits S_ij that are Lipschitz in the normed tokens i and "
    "j, first two tokens that are independent with a positive inner product: their angle falls like the power p − 1 of "
    "L, p the share that the second gives itself at consensus, 1/2 without positions. Not evaluated where the first "
    "token is 0.",
)

_LENGTH = "a = sqrt(sum(x[i]**2 for i in range(len(x)))/len(x))"


defined(
    "narrowing(lam: array, x: array, p: array)",
    f"{_LENGTH}; y = [x[i]*(1 + p*lam[i]/a) + ((1 - p)*lam[0]*sqrt(len(x)) if i == 0 else 0) for i in range(len(x))]; "
    "sqrt(sum(y[i]**2 for i in range(1, len(x))))*x[0]/(y[0]*sqrt(sum(x[i]**2 for i in range(1, len(x)))))",
    "tan φ′/tan φ, φ the angle of a causal token x with e_0, x_0 > 0, and φ′ that of x + p N(x)V + (1 − p) N(e_0)V, "
    "V = diag(λ), N the division by the root mean square",
    by_name=True,
)
defined(
    "forward(lam: array, x: array, p: array)",
    f"{_LENGTH}; 1 + p*lam[0]/a + (1 - p)*lam[0]*sqrt(len(x))/x[0]",
    "factor of x_0 in that step",
    example="forward(lam, x, p) >= 1",
    by_name=True,
)
defined(
    "ahead(x: array)", "x[0] > 0 and sum(x[i]**2 for i in range(1, len(x))) > 0", "x_0 > 0, and x is no multiple of e_0"
)
defined(
    "root_square(x: array)",
    "sqrt(sum(x[i]**2 for i in range(len(x)))/len(x))",
    "root mean square of the entries",
    example="root_square(x) > 0",
)
defined(
    "largest_rest(lam: array)",
    "max(lam[i] for i in range(1, len(lam)))",
    "largest entry beside the first",
    example="largest_rest(lam) > 0",
)
defined(
    "least_rest(lam: array)",
    "min(lam[i] for i in range(1, len(lam)))",
    "least entry beside the first",
    example="least_rest(lam) > 0",
)


def draw_turns(rng: Rng, size: int) -> ArrayInstance:
    """Values of which the first is the largest, tokens at any angle below a right one, every share."""
    d = int(rng.integers(2, 6))
    lam = rng.uniform(0, 1, (size, d)) * 10 ** rng.uniform(-1, 1, (size, 1))
    lam[:, 0] = lam.max(axis=1) + rng.exponential(0.5, size)
    x = rng.standard_normal((size, d)) * 10 ** rng.uniform(-1, 1, (size, 1))
    x[:, 1:] *= 10.0 ** rng.uniform(-3, 1, (size, 1))
    x[:, 0] = abs(x[:, 0])
    return ArrayInstance({"lam": lam, "x": x, "p": rng.uniform(0, 1, size)}, "random", is_batch=True)


def nearly_one_value(rng: Rng) -> Iterator[Instance]:
    """Two values that are nearly equal beside the first: nearly equalities."""
    for p in (0.25, 0.75):
        yield own_pre_norm_symmetric.instance([2.0, 1.0, 1 - 2.0**-14], [3.0, 1.0, 2.0], p)


own_pre_norm_symmetric = proved(
    "own:pre-norm-symmetric",
    "narrowing(lam, x, p)*forward(lam, x, p) <= 1 + p*largest_rest(lam)/root_square(x)"
    " and narrowing(lam, x, p)*forward(lam, x, p) >= 1 + p*least_rest(lam)/root_square(x)",
    given=("ahead(x)", "least_value(lam) >= 0", "p >= 0", "p <= 1"),
    arrays={"lam": "d, d >= 2", "x": "d, no zero row", "p": ", >= 0, <= 1"},
    title="RMSNorm before causal attention: power of the depth, positive semidefinite values",
    source=OWN,
    truth="proofs/own_positions.tex",
    draws=(draw_turns,),
    extremal=nearly_one_value,
    sharp=True,
    share=0.3,
    notes="One layer with RMSNorm and a causal mask repeated, skip 1, one head, no bias, no offset, ε = 0, logits "
    "S_ij that are Lipschitz in the normed tokens i and j, V = diag(g)W symmetric, positive semidefinite, with the "
    "largest eigenvalue μ > 0; the first token a positive multiple of a unit eigenvector u of μ, the second "
    "independent of it with a positive inner product, p its share at consensus. Then the angle, divided by the power "
    "pσ/μ − 1 of L, converges to a positive number, σ the largest eigenvalue on which the second token has a part "
    "beside u.",
)

unstated_diameter_rotary = refuted(
    "unstated:diameter-rotary",
    own_diameter.own_diameter.formula,
    given=("mask == padding", "positions == any"),
    title="Doubly exponential collapse of the diameter with positions: a claim that nobody makes",
    source=f"{OWN}; nobody states it: own:diameter is about attention without positions",
    draws=_draws(PLAIN[:2]),
    extremal=meeting_tokens,
    exhibit=quarter_turn,
    share=0.1,
    notes="Two tokens (1, ±1/128), weights 1, and the second place turned by a right angle: the attention at "
    "consensus has unequal rows. What holds is own:positions-diameter.",
)
