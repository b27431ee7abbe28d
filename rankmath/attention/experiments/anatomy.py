"""What happens where in a trained model, in a few sentences: collapse and its kind, massive activations, sinks."""

import math

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.columns import measure
from rankmath.attention.plain import attention_matrices, hidden_states
from rankmath.attention.trace import Trace, trace
from rankmath.linalg.metrics import DOMINATING, dominating, effective_rank
from rankmath.model.checkpoint import Model
from rankmath.model.network import Network
from rankmath.validation import Floats

#: Attention of a head goes to one token: more than this, averaged over the others that see it.
_SINK = 0.5
#: Below this relative residual tokens count as collapsed.
_COLLAPSED = 1e-3


def anatomy(model: Model, X: Floats) -> list[str]:
    """Sentences about tokens X (n, d) in the model and its ablations; each says what was measured, and no more."""
    # Many small products: threads of BLAS would wait for each other.
    with Float64(X).blas_alone(X.size * max(X.shape)):
        return _sentences(model, X)


def _sentences(model: Model, X: Floats) -> list[str]:
    full = model.variant("full").network
    attention, n = full.attentions[0], len(X)
    groups = attention.kv_heads
    shared = "" if groups is None else f" on {groups} key-value head{'' if groups == 1 else 's'}"
    parts = ["rotary positions"] if attention.rotary is not None else []
    parts += ["QK-norm"] if attention.qk_norm is not None else []
    parts += [f"logits capped at {attention.softcap:g}"] if attention.softcap is not None else []
    about = "".join(f", {part}" for part in parts)
    size = f"{len(model.blocks)} layers of {attention.heads} heads{shared}, dimension {full.dim}"
    lines = [f"{model.kind}: {size}{about}; {n} tokens."]
    lines += _of_tokens(hidden_states(full, X))
    lines.append(_sinks(full, X))
    names = ["san", "san+norm", "san+skip+norm", "full"] if model.order == "pre" else ["san", "san+skip", "full"]
    for name in names:
        left_out = _LEFT_OUT.get(name, "") if model.order == "pre" else ""
        # What the model norms at its end is normed in its ablations too, unless they have no norms.
        last = ", after the last layer the model's last norm" if "norm" in name and model.final_norm is not None else ""
        lines.append(f"{name}{left_out}{last}: {_collapse(model, name, X)}")
    return lines


#: What an ablation of a model with LayerNorm before its maps leaves out.
_LEFT_OUT = {
    "san": ", A(X), without the norm that the model applies before attention",
    "san+norm": ", A(N(X))",
    "san+skip+norm": ", X + A(N(X))",
}


def _of_tokens(states: list[Floats]) -> list[str]:
    massive = [(l, np.flatnonzero(dominating(state))) for l, state in enumerate(states)]
    found = [(l, places) for l, places in massive if len(places)]
    if not found:
        ranks = [float(effective_rank(state)) for state in states]
        least = int(np.argmin(ranks))
        return [
            f"No token dominates: none is more than {DOMINATING:g} times as long as the median one at any depth.",
            f"Effective rank {ranks[0]:.1f} at the input, least {ranks[least]:.1f} after layer {least}.",
        ]
    first, places = found[0]
    lengths = np.linalg.norm(states[first], axis=1)
    names = ", ".join(str(int(i)) for i in places[:4]) + (" …" if len(places) > 4 else "")
    last = found[-1][0]
    with_all, without = effective_rank(states[first]), effective_rank(states[first][~dominating(states[first])])
    verb = "tokens {} are" if len(places) > 1 else "token {} is"
    first_of_them = f"token {places[0]} of length {lengths[places[0]]:.4g}"
    than = f"times as long as the median one ({np.median(lengths):.4g}), {first_of_them}"
    where = f"from layer {first} to {last}" if len(found) == last - first + 1 else f"at {len(found)} depths"
    return [
        f"Massive activations {where}: after layer {first} {verb.format(names)} more than {DOMINATING:g} {than}.",
        f"Effective rank there {float(with_all):.1f} with all tokens, {float(without):.1f} without {names}.",
    ]


def _sinks(net: Network, X: Floats) -> str:
    """How many heads send most of their attention to one token."""
    try:
        P = attention_matrices(net, X)
    except ValueError:
        return "Attention sinks: not counted, the attentions have different shapes."
    seen = P > 0
    other = ~np.eye(len(X), dtype=bool)
    weight = np.where(seen & other, P, 0.0).sum(axis=-2) / np.maximum((seen & other).sum(axis=-2), 1)
    enough = (seen & other).sum(axis=-2) >= len(X) // 2
    sinks = np.where(enough, weight, 0.0).max(axis=-1) > _SINK
    if not sinks.any():
        return f"Attention sinks: no head sends more than {_SINK:.0%} of its attention to one token on average."
    tokens = np.where(enough, weight, 0.0).argmax(axis=-1)[sinks]
    token = int(np.bincount(tokens).argmax())
    layers = np.flatnonzero(sinks.any(axis=1))
    return (
        f"Attention sinks: {int(sinks.sum())} of {sinks.size} heads, first in layer {int(layers[0]) + 1}, send "
        f"more than {_SINK:.0%} of their attention to one token on average, most often token {token}."
    )


def _collapse(model: Model, name: str, X: Floats) -> str:
    net = model.variant(name).network
    run = trace(net, X)
    logs = measure(net, X, ["relative-residual"]).logs["relative-residual"]
    if not np.isfinite(logs).all():
        return f"all tokens are equal, exactly, after layer {int(np.flatnonzero(~np.isfinite(logs))[0])}."
    start, end = (logs[k] / math.log(10) for k in (0, -1))
    said = f"relative residual 10^{start:.2f} at the input, 10^{end:.2f} after {net.layers} layers; "
    if logs[-1] > math.log(_COLLAPSED):
        return said + f"no collapse, it is above {_COLLAPSED:g}."
    moduli = second_moduli(net, X) if len(X) > 1 else np.zeros((1, 1))
    said += _kind(run, logs, float(moduli.max()))
    if name == "san+norm" and len(X) > 1:
        with np.errstate(divide="ignore"):  # 0 without positions and mask
            mean = math.exp(np.log(moduli).mean())
        said += (
            f" |λ₂(P₀)|, P₀ the attention if all tokens were the first, is {mean:.3f} "
            f"in the geometric mean of all heads, from {moduli.min():.3f} to {moduli.max():.3f} (one layer of one "
            "head with W = I, repeated: the factor's limit)."
        )
    return said


def second_moduli(net: Network, X: Floats) -> Floats:
    """|λ₂(P₀)| of every layer and head, (L, H): P₀ the attention where every token of the input is the first of X.

    Equal tokens stay equal through attention, LayerNorms and MLPs, so one pass gives all of them.

    >>> net = Network.random(tokens=5, dim=2, layers=2, mask="causal")
    >>> second_moduli(net, net.random_input(seed=1)).round(12).tolist()
    [[0.5], [0.5]]
    """
    P = attention_matrices(net, np.repeat(X[:1], len(X), axis=0))
    found: Floats = np.abs(np.linalg.eigvals(P[..., 1:, 1:] - P[..., :1, 1:])).max(axis=-1)
    return found


def _kind(run: Trace, logs: Floats, modulus: float) -> str:
    """How it falls: by orders where equal tokens have equal rows of attention, else by a factor a layer.

    Where `modulus`, the largest |λ₂(P₀)|, is not 0 the fall in the end is by a factor, whatever one layer says.
    """
    orders = [float(order) if falls else 0.0 for order, falls in zip(run.order[-2:], run.decays[-2:], strict=True)]
    if len(orders) == 2 and min(orders) > 2 and modulus < 1e-6:
        said = "orders {:.2f} and {:.2f} in the last two layers".format(*orders)
        return f"doubly exponential, {said} (attention without positions and mask, near consensus: 3)."
    half = (len(logs) - 1) // 2
    factor = math.exp(float(logs[-1] - logs[half]) / (len(logs) - 1 - half))
    return f"a factor {factor:.3g} a layer over the second half{', which is no fall' if factor > 0.9995 else ''}."
