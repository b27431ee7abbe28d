"""barbero2024:4.2: a repeated last token comes close, explicitly; and what the last token sees of another one."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from rankmath.attention.softmax import softmax
from rankmath.formula.arrays import Scalar
from rankmath.formula.language import fast
from rankmath.formula.numbers import Signed
from rankmath.formula.run import Run, unbox
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import Array
from rankmath.verification.claim import NetworkInstance, proved, refuted
from rankmath.verification.draws import Rng, Tokens, clustered_tokens, moderate_tokens, networks, outlier_tokens
from rankmath.verification.papers import BARBERO, OWN


def _repeated(run: Run, layer: int) -> tuple[Array, list[Array]]:
    """The repeated last token after `layer` layers, (..., 1, d), and its attention in that layer, head by head.

    Under the causal mask the tokens before it do not see it, and stay what they are.
    """
    key = ("repeated", layer)
    if key not in run.memory:
        A, net = run.A, run.net
        if layer == 0:
            z = run.plain_tokens(0)[..., -1:, :]
        else:
            before, rows = _repeated(run, layer - 1)
            keys = A.concat([run.plain_tokens(layer - 1), before], axis=-2)
            z = A.asarray(np.asarray(float(net.skip))) * before
            for h, row in enumerate(rows):
                z = z + A.matmul(A.matmul(row, keys), run.weight("W", layer - 1, h))
            if net.bias is not None:
                z = z + A.asarray(net.bias[layer - 1][..., None, :])
        rows = []
        if layer < net.layers:
            keys = A.concat([run.plain_tokens(layer), z], axis=-2)
            root = run.root if A.unbounded else np.asarray(run.root)[..., None, None]
            for h in range(net.heads):
                query = A.matmul(z, run.weight("W_QK", layer, h))
                if net.key_bias is not None:
                    query = query + A.asarray(net.key_bias[layer, h][..., None, :])
                rows.append(softmax(A, A.matmul(query, A.transpose(keys)) / root))
        run.memory[key] = z, rows
    found: tuple[Array, list[Array]] = run.memory[key]
    return found


def _distances(run: Run, layer: int) -> Array:
    """ℓ₂ distances of the repeated token from the tokens after `layer` layers, (..., n, 1)."""
    gaps = run.plain_tokens(layer) - _repeated(run, layer)[0]
    return run.A.sqrt(run.A.sum(gaps * gaps, axis=-1))


@fast("repeat_gap", of="causal")
def repeat_gap(run: Run, X: tuple[str, int]) -> Scalar:
    found = run.number(unbox(_distances(run, X[1])[..., -1:, :]))
    if run.A.unbounded:
        return found
    # A difference of tokens: it is known to a fraction of their size.
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(run.plain_tokens(X[1])).max(axis=(-2, -1)))
    return Signed(found.sign, found.log, np.maximum(found.top, size))


@fast("repeat_reach", of="causal")
def repeat_reach(run: Run, X: tuple[str, int]) -> Scalar:
    return run.number(unbox(run.A.max(_distances(run, X[1]), axis=-2)))


@fast("repeat_share", of="causal")
def repeat_share(run: Run, P: tuple[str, int, int]) -> Scalar:
    return run.number(unbox(_repeated(run, P[1])[1][P[2]][..., -1:]))


@fast("last_share")
def last_share(run: Run, k: int) -> Scalar:
    return run.number(unbox(run.attention(0, 0)[..., -1:, k : k + 1]))


@fast("is_last")
def is_last(run: Run, k: int) -> Scalar:
    return run.number(run.A.constant(1) * int(k == int(run.X.shape[-2]) - 1))


def draw_causal(tokens: Tokens, rng: Rng, size: int, *, layers: int = 1, skip: float = 0.0) -> NetworkInstance:
    """Causal networks of 3 to 5 tokens: with two, own:repeat may be an equality."""
    n, d, L = int(rng.integers(3, 6)), int(rng.integers(1, 4)), int(rng.integers(1, layers + 1))
    heads = 1 if layers == 1 else int(rng.integers(1, 3))
    draw = networks(tokens, shapes=((n, d, heads, L),), log_weights=(-1.0, 0.3), biases=layers > 1, skip=skip)
    batch = draw(rng, size)
    return NetworkInstance(batch.net.replace(mask=Mask.causal(n)), batch.X, batch.label)


def two_places(rng: Rng) -> Iterator[NetworkInstance]:
    """The others in nearly one place, the last token with the share √2 − 1: the longest step of all."""
    for off in (1e-3, 1e-7):
        X = np.asarray([[0.0, off], [0.0, -off], [1.0, 0.0]])
        logit = float(np.log(2 * (np.sqrt(2.0) - 1) / (2 - np.sqrt(2.0))))
        W_QK = np.asarray([[logit, 0.0], [0.0, 0.0]])[None, None]
        net = Network.from_arrays(W_QK, np.eye(2)[None, None], d_qk=1, mask=Mask.causal(3))
        yield NetworkInstance(net, X, "two places")


def loud_query(rng: Rng | None = None) -> Iterator[NetworkInstance]:
    """Two tokens ∓1 and a logit of 4: the last token's view of the other moves more than its share of it."""
    net = Network.from_arrays(np.full((1, 1, 1, 1), 4.0), np.ones((1, 1, 1, 1)), skip=1, mask=Mask.causal(2))
    yield NetworkInstance(net, np.asarray([[-1.0], [1.0]]), "loud query")


_ONE = ("mask == causal", "heads == 1", "layers == 1")

barbero2024_4_2 = proved(
    "barbero2024:4.2",
    "repeat_gap(X[L]) <= recursion(b, 0, b*(abs(skip) + sum_h(norm(W[l,h], 2)*norm(W_QK[l,h], 2))"
    "*diameter(X[l], 2)**2/(4*sqrt(d_qk))) + sum_h(norm(W[l,h], 2)*repeat_share(P[l,h]))*repeat_reach(X[l]))",
    given="mask == causal",
    title="A repeated last token: the last two tokens of a growing input",
    source=f"{BARBERO}, Theorem 4.2, as we read it: without positions, of causal attention with skips and biases; "
    "the paper has a limit, the explicit bound is ours",
    notes="Where the weights are fixed and all tokens of the input lie in one ball, however many, the bound is O(1/n).",
    draws=(
        partial(draw_causal, moderate_tokens, layers=3),
        partial(draw_causal, clustered_tokens, layers=2, skip=1.0),
        partial(draw_causal, outlier_tokens, layers=2, skip=0.5),
    ),
    share=0.4,
)

own_repeat = proved(
    "own:repeat",
    "repeat_gap(X[1]) <= norm(W[0,0], 2)*diameter(X[0], 2)*p*(1 - p)/(1 + p)"
    " and repeat_gap(X[1]) <= (3 - 2*sqrt(2))*norm(W[0,0], 2)*diameter(X[0], 2)",
    given=_ONE,
    where={"p": "last_share(n - 1)"},
    title="A repeated last token after one layer",
    source=f"{OWN}, after Theorem 4.2 of {BARBERO}",
    draws=tuple(partial(draw_causal, tokens) for tokens in (moderate_tokens, clustered_tokens)),
    extremal=two_places,
    sharp=True,
    share=0.4,
)

folk = refuted(
    "folk:influence",
    "all_i((1 - is_last(i))*influence(i) <= norm(W[0,0], 2)*last_share(i))",
    given=(*_ONE, "skip == 1"),
    title="Influence of a token on the last one, by the rollout alone (attention not frozen)",
    source="the constant of frozen attention, read of attention that moves, with no one source; see also Theorem "
    "5.1 "
    f"of {BARBERO}, which has some constant C, and whose authors say that attention need not be frozen: rightly",
    draws=(partial(draw_causal, moderate_tokens, skip=1.0),),
    extremal=loud_query,
    exhibit=lambda: next(loud_query()),
    share=0.4,
    notes="Where b_Q = 0 it is true with one more factor: own:influence.",
)

own_influence = proved(
    "own:influence",
    "all_i(influence(i) <= norm(W[0,0], 2)*(1 + a*longest(X[0])*diameter(X[0], 2))*last_share(i)"
    " + is_last(i)*(abs(skip) + norm(W[0,0], 2)*a*diameter(X[0], 2)**2/4))",
    given=("mask == causal", "heads == 1", "query_bias == none"),
    where={"a": "norm(W_QK[0,0], 2)/sqrt(d_qk)"},
    title="Influence of a token on the last one, attention not frozen",
    source=f"{OWN}, after Theorem 5.1 of {BARBERO}",
    draws=(
        partial(draw_causal, moderate_tokens),
        partial(draw_causal, outlier_tokens, skip=1.0),
        partial(draw_causal, clustered_tokens, skip=0.5),
    ),
    share=0.4,
)
