"""own:transport and its kin: what positions, masks, capped logits and norms before the map leave of collapse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rankmath.claims import own_diameter
from rankmath.model.network import Network
from rankmath.model.positions import Rotary
from rankmath.model.sublayers import Attention, LayerNorm, NormKind, Sublayer
from rankmath.verification.draws import Rng, moderate_tokens
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.papers import OWN
from rankmath.verification.statement import Draw, Statement

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
    **more: Any,
) -> tuple[Draw, ...]:
    """Batches of networks that have their positions in common, a draw for each kind."""

    def of_kind(kind: dict[str, Any]) -> Draw:
        def draw(rng: Rng, size: int) -> NetworkInstance:
            n, d, H, L = shapes[int(rng.integers(len(shapes)))]
            net = Network.random(n, d, H, L, **kind, **more)
            stacked = {}
            for name in ("query", "key", "value", "output"):
                if (array := getattr(net, name)) is not None:
                    # Keys and values of a group are the same.
                    groups = kind.get("kv_heads", H) if name in ("key", "value") else H
                    drawn = rng.standard_normal((L, groups, size, *array.shape[2:])) / np.sqrt(d)
                    drawn = drawn * 10 ** rng.uniform(*log_scale, (size, 1, 1))
                    stacked[name] = np.repeat(drawn, H // groups, axis=1)
            label = ", ".join(f"{name} {word}" for name, word in kind.items())
            return NetworkInstance(net.replace(**stacked), moderate_tokens(rng, size, n, d), label)

        return draw

    return tuple(of_kind(kind) for kind in kinds)


def quarter_turn(
    height: float = 2.0**-7,
    value: float = 1.0,
    slack: float = 0.0,
    *,
    skip: float = 0.0,
    norm: NormKind | None = None,
) -> NetworkInstance:
    """Two tokens (1, ±height), W_QK = 1, W = value·diag(1 + slack, 1), the second place turned by 90°: exact."""
    attention = Attention.from_arrays(
        np.eye(2)[None],
        value * np.diag([1 + slack, 1.0])[None],
        2,
        rotary=Rotary([[1.0], [0.0]], [[0.0], [1.0]]),
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
_TRANSPORT = "sum_h(norm(W[l,h], 2)*dobrushin(P[l,h]))"
_GAINED = "sum_h(gained_norm(W[l,h])*dobrushin(P[l,h]))/least_root(l)"

own_transport = Statement(
    "own:transport",
    "all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l,h], p)*dobrushin(P[l,h])))*diameter(X[0], p))",
    given=("mask == any", *LOGITS),
    title="With any logits and any mask a layer multiplies the diameter by the attention's total variation at most",
    **_PROVED,
    draws=_draws(KINDS),
    extremal=meeting_tokens,
    sharp=True,
    notes="Positions, caps and norms of queries and keys enter through the attention alone.",
)

own_transport_skip = Statement(
    "own:transport-skip",
    f"diameter(X[L], 2) >= prod_l(abs(skip) - {_TRANSPORT})*diameter(X[0], 2)"
    f" and diameter(X[L], 2) <= prod_l(abs(skip) + {_TRANSPORT})*diameter(X[0], 2)",
    given=("mask == any", *LOGITS, f"all_l({_TRANSPORT} < abs(skip))"),
    title="A λ-skip keeps the diameter between two products, with any logits and any mask",
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
    title="The diameter with positions, rotary or additive: the tanh of own:diameter with what positions add",
    **_PROVED,
    draws=_draws(PLAIN),
    extremal=meeting_tokens,
    sharp=True,
    notes="Without positions queries and keys come together with the tokens, and the bound is of order three. With "
    "them it does not fall below a factor a layer.",
)

own_consensus_rate = Statement(
    "own:consensus-rate",
    "all_p(diameter(X[L], p) <= prod_l(sum_h(operator_norm(W[l,h], p)"
    "*(dobrushin(P0[l,h]) + 2*tanh(consensus_shift(P[l,h])/4))))*diameter(X[0], p))",
    given=("mask == any", *LOGITS),
    title="Near consensus the diameter is multiplied by the total variation of the attention at consensus at most",
    **_PROVED,
    draws=_draws(KINDS),
    extremal=meeting_tokens,
    sharp=True,
    notes="The shift of the logits goes to zero with the diameter, so what stays is the attention of equal tokens. "
    "Its rows are equal, and the factor is 0, where there are no positions and all tokens see the same keys.",
)

own_second_token = Statement(
    "own:second-token",
    "first_gap(X[L]) >= prod_l(second_least(l))*first_gap(X[0])"
    " and first_gap(X[L]) <= prod_l(second_norm(l))*first_gap(X[0])",
    given=("mask == causal", "n >= 2", *LOGITS),
    title="Under a causal mask the distance of the first two tokens is a product over the layers, with any logits",
    **_PROVED,
    draws=_draws(CAUSAL),
    extremal=nearly_scaled,
    sharp=True,
    notes="Both are equalities where every sum of P_11 W over heads is a multiple of an orthogonal matrix. With "
    "one head and W = 1 the distance of the first two tokens is multiplied by P_11 a layer, whatever the logits. "
    "Tokens are counted from 0.",
)

own_consensus_second = Statement(
    "own:consensus-second",
    "first_gap(X[L]) >= prod_l(diagonal(P0[l,0], 1)*exp(-consensus_shift(P[l,0]))*least_singular(W[l,0]))"
    "*first_gap(X[0])"
    " and first_gap(X[L]) <= prod_l(diagonal(P0[l,0], 1)*exp(consensus_shift(P[l,0]))*norm(W[l,0], 2))"
    "*first_gap(X[0])",
    given=("mask == causal", "n >= 2", "heads == 1", *LOGITS),
    title="Under a causal mask the first two tokens meet at the rate of the attention at consensus",
    **_PROVED,
    draws=_draws(CAUSAL, ((2, 2, 1, 1), (3, 4, 1, 1), (4, 2, 1, 2))),
    extremal=nearly_scaled,
    notes="With W = 1 and no bias the first token never moves, and where one layer is repeated the rate is the "
    "share that the second token gives itself at consensus: 1/2 without positions, 1/(1 + exp(g(1) − g(0))) with "
    "relative ones, g(s) the logit of the first token with itself at distance s.",
)

own_pre_norm_diameter = Statement(
    "own:pre-norm-diameter",
    f"diameter(X[L], 2) >= prod_l(abs(skip) - {_GAINED})*diameter(X[0], 2)"
    f" and diameter(X[L], 2) <= prod_l(abs(skip) + {_GAINED})*diameter(X[0], 2)",
    given=("layernorm == rms", "norm_at == before", "mask == any", *LOGITS, f"all_l({_GAINED} < abs(skip))"),
    title="With RMSNorm before attention a layer changes the diameter by a share that falls as tokens grow",
    **_PROVED,
    draws=_draws(KINDS, log_scale=(-2.0, -0.7), skip=2.0, norm="rms", norm_at="before"),
    extremal=against_the_skip("rms"),
    sharp=True,
)

unstated_diameter_rotary = Statement(
    "unstated:diameter-rotary",
    own_diameter.own_diameter.formula,
    given=("mask == padding", "positions == any"),
    title="Doubly exponential collapse of the diameter with positions: a claim that nobody makes",
    source=f"{OWN}; nobody states it: own:diameter is about attention without positions",
    status="refuted",
    draws=_draws(PLAIN[:2]),
    extremal=meeting_tokens,
    exhibit=quarter_turn,
    share=0.1,
    notes="Two tokens (1, ±1/128), weights 1, and the second place turned by a right angle: the attention at "
    "consensus has unequal rows, so the diameter is multiplied by a factor that does not fall with it. What holds "
    "is own:positions-diameter.",
)
