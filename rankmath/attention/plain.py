"""The plain, textbook pass: what one would write first, and what the centred pass is compared with.

`forward` takes the centred pass itself where that is compiled, and faster (on a CPU from 64 tokens on).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import TypeAlias

import numpy as np
from array_api_compat import array_namespace, is_cupy_array

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.attention.activations import CODED_ACTIVATIONS, activate
from rankmath.attention.alone import layers_on_cpu, layers_on_gpu, tokens_of
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.fused import fused_softmax, fuses_heads, path_layers
from rankmath.attention.maps import CODED_NORMS
from rankmath.attention.softmax import softmax
from rankmath.attention.tokens import SAFE_LOG
from rankmath.attention.views import in_row_blocks
from rankmath.attention.weights import is_plain
from rankmath.kernels.runs import Run
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import Rotary, turned
from rankmath.validation import Array, ArrayLike, InvalidArgument, NoDirection, as_array, as_count, same_library

#: One head, or a slice of them.
Head: TypeAlias = int | slice

# `forward` centres tokens on a CPU from this many: with fewer, the definition keeps the digits of small entries.
_MANY_TOKENS = 64


def uncoded(net: Network) -> str:
    """The activation, cap or LayerNorm of a network for which there is no code: what is known of it is its text."""
    parts = [part for layer in net.sublayers for part in layer]
    norms = {norm.kind for part in parts for norm in (part.before, part.behind, part.after) if norm is not None}
    activations = {f.activation for part in parts for f in part.maps if isinstance(f, MLP)}
    caps = {attention.cap for attention in net.attentions} - {"tanh"}
    return min(norms - CODED_NORMS | activations - CODED_ACTIVATIONS | caps, default="")


def check_input(net: Network, X: ArrayLike, *, look: bool = True, coded: bool = True) -> Array:
    """X as a float64 array (..., n, d) that fits the network; without `look` entries on a GPU may be anything.

    Where it must be `coded`, kinds of maps that the text alone has are refused.
    """
    if not isinstance(net, Network):
        raise InvalidArgument(f"net: a {type(net).__name__} given; a rankmath.Network is needed")
    if coded and (name := uncoded(net)):
        raise InvalidArgument(f"net: {name!r} has no code, only its text; `reference_trace` reads that")
    X = as_array("X", X, min_ndim=2, shape=(None, net.dim), look=look or not is_cupy_array(X))
    if type(X) is not type(net.weights):
        same_library(X=X, W=net.weights)
    n = int(X.shape[-2])
    for attention in net.attentions:
        if attention.rotary is not None and attention.rotary.places < n:
            raise InvalidArgument(f"X: {n} tokens given; the rotary positions go up to {attention.rotary.places}")
        if attention.mask is None and attention.position is None:
            continue
        for what, fixed in (("mask", attention.mask), ("position term", attention.position)):
            tokens = fixed.n if isinstance(fixed, Mask) else getattr(fixed, "tokens", None)
            if tokens is not None and tokens != n:
                raise InvalidArgument(f"X: {n} tokens given; the network's {what} is for {tokens}")
    # A stack of networks with fewer axes of tokens: each takes the same ones.
    lead = net.batch_shape
    if not lead:
        return X
    try:
        shape = (*np.broadcast_shapes(lead, X.shape[:-2]), *X.shape[-2:])
    except ValueError:
        raise InvalidArgument(
            f"X: shape {tuple(X.shape)} given to a stack of networks of shape {tuple(lead)}; these do not match"
        ) from None
    return X if shape == X.shape else array_namespace(X).broadcast_to(X, shape)


def check_one_sequence(net: Network, X: ArrayLike, taker: str, *, look: bool = True, coded: bool = True) -> Array:
    """`check_input` for what takes one network and one sequence (n, d)."""
    X = check_input(net, X, look=look, coded=coded)
    if net.batch_shape:
        raise InvalidArgument(f"net: a stack of networks given; {taker} takes one network")
    if X.ndim != 2:
        raise InvalidArgument(f"X: shape {tuple(X.shape)} given; {taker} takes one sequence (n, d)")
    return X


# Where a double overflows on the way `in_range` says so, in one line.
_quiet = np.errstate(over="ignore", invalid="ignore")


@_quiet
def forward(net: Network, X: ArrayLike, *, backend: Backend | None = None, memory: int | None = None) -> Array:
    """The network's output as one matrix, float64: loses the residual once it is 1e-16 of the mean.

    By the definition; for attention alone, on a GPU or where the extra `fast` compiles a layer, e^ξ 1x + e^σ R of
    the centred pass, which is faster there.

    Parameters
    ----------
    net : the network.
    X : tokens, (..., n, d).
    backend : "numpy" or "cupy" copies the network and X there first; None runs where they are.
    memory : bytes that blocks of the n × n logits may take; unless given, what suits the cache, or on a GPU a part
        of what is free.

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0)
    >>> forward(net, net.random_input(seed=1)).shape
    (4, 3)
    """
    X = check_input(net, X, look=backend is not None)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    A = Float64(X, memory=None if memory is None else as_count("memory", memory))
    if A.on_gpu or X.shape[-2] >= _MANY_TOKENS:
        run = (layers_on_gpu if A.on_gpu else layers_on_cpu)(A, net, X, measure=False)
    else:
        run = None
    if run is not None and (whole := _whole(A, run)) is not None:
        return whole
    return by_definition(A, net, check_input(net, X) if A.on_gpu else X)


def _whole(A: Float64, run: Run) -> Array | None:
    """The tokens as they are, e^ξ 1x + e^σ R; None where that may overflow."""
    x, R = run.center, run.residual
    if R.ndim == 2:  # a few numbers take NumPy longer than a small layer
        xi, mantissa, exponent = run.log[0, -1, :3].tolist()
        sigma = mantissa if not exponent else math.copysign(math.inf, mantissa)
        if max(xi, sigma) > SAFE_LOG:
            return None
        of_x, of_R = math.exp(xi), math.exp(sigma)
    else:
        tokens = tokens_of(run)
        logs = np.stack([tokens.log_center, tokens.log_residual.to_float()])
        if logs.max() > SAFE_LOG:
            return None
        of_x, of_R = A.xp.asarray(np.exp(logs))
    if not A.on_gpu:
        return of_x * x + of_R * R
    from rankmath.kernels import cuda

    return cuda.axpby(of_x, x, of_R, R)


def by_definition(A: Float64, net: Network, X: Array) -> Array:
    """The output, one sublayer after the other, each as it is defined."""
    masks = net.masks_for(int(X.shape[-2]))
    for sublayer in (s for layer in net.sublayers for s in layer):
        X = apply_sublayer(A, sublayer, X, masks)
    return in_range(A, X)


def in_range(A: Float64, out: Array) -> Array:
    """`out`, or a ValueError if something has overflowed on the way to it."""
    if not bool(A.xp.all(A.xp.isfinite(out))):
        raise InvalidArgument("X: too large for the plain pass, whose logits overflow a double; `trace` takes it")
    return out


@_quiet
def attention_matrices(net: Network, X: ArrayLike, *, backend: Backend | None = None) -> Array:
    """P^l_h of the whole network, (L, H, ..., n, n).

    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=4, dim=3, heads=2, layers=2, seed=0)
    >>> P = attention_matrices(net, net.random_input(seed=1))
    >>> P.shape, float(abs(P.sum(axis=-1) - 1).max()) < 1e-15
    ((2, 2, 4, 4), True)
    """
    X = check_input(net, X)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    A = Float64(X)
    layers = matrices_by_layer(A, net, X)
    if len({matrices.shape for matrices in layers}) != 1:
        raise InvalidArgument("net: attentions of different shapes given, or none; the matrices of all are one array")
    return in_range(A, A.xp.stack(layers))


def matrices_by_layer(A: Float64, net: Network, X: Array) -> list[Array]:
    """P_h of every attention, (H, ..., n, n); nan where its logits overflow."""
    masks, layers = net.masks_for(int(X.shape[-2])), []
    for sublayer in (s for layer in net.sublayers for s in layer):
        attention = sublayer.attention
        if attention is not None:
            Y = _normed(A, sublayer.before, X)
            mask, logits = masks[id(attention)], A.xp.stack(logits_of(A, attention, Y))
            layers.append(softmax(A, logits if mask is None else A.hide(mask.allowed, logits)))
            if len(layers) == len(net.attentions):
                break
        X = apply_sublayer(A, sublayer, X, masks)
    return layers


def logits_of(A: System, attention: Attention, Y: Array) -> list[Array]:
    """The logits (..., n, n) of every head, with caps and positions; the mask hides none of them yet.

    In any arithmetic: by the definition, so that digits are lost where tokens are close.
    """
    found = []
    for h, (queries, keys, added) in enumerate(turned_rows(A, attention, Y)):
        products = A.matmul(queries, A.transpose(keys))
        products = products if added is None else products + A.transpose(added)
        root = A.sqrt(A.asarray([[A.constant(attention.d_qk)]])) if A.unbounded else math.sqrt(attention.d_qk)
        found.append(_placed(A, attention, h, products / root, slice(None)))
    return found


def apply_sublayer(A: Float64, sublayer: Sublayer, X: Array, masks: dict[int, Mask | None]) -> Array:
    """after(skip·X + behind(map(before(X)))), by the definition."""
    skip, attention = sublayer.skip, sublayer.attention

    def finished(rows: Array, before: Array) -> Array:
        if attention is not None and attention.bias is not None:
            rows = A.sum_with_temporary(rows, attention.bias[..., None, :])
        if sublayer.behind is not None:
            rows = layer_norm(A, sublayer.behind, rows, temporary=True)
        if skip:
            rows = A.sum_with_temporary(rows, before if skip == 1.0 else skip * before)
        return rows if sublayer.after is None else layer_norm(A, sublayer.after, rows, temporary=True)

    with A.blas_alone(X.size):
        Y = _normed(A, sublayer.before, X)
        if not sublayer.maps:
            return _normed(A, sublayer.after, skip * X)
        out = reduce(
            A.sum_with_temporary,
            (_attended(A, f, Y, masks[id(f)]) if isinstance(f, Attention) else _mlp(A, f, Y) for f in sublayer.maps),
        )
        norms = (sublayer.after, sublayer.behind)
        across = any(norm is not None and norm.kind == "column" for norm in norms)  # over all rows at once
        return finished(out, X) if across else A.in_place_by_rows(finished, out, X)


def _attended(A: Float64, attention: Attention, Y: Array, mask: Mask | None) -> Array:
    """Σ_h P_h Y W_h."""
    if A.on_gpu and Y.ndim == 2 and attention.is_bilinear:  # a call costs a GPU more than its work: make few
        V = attend(A, attention, slice(None), Y, mask, A.matmul(Y, attention.value))
        out = A.xp.sum(V if attention.output is None else A.matmul(V, attention.output), axis=0)
    else:
        if (made := _all_heads(A, attention, Y, mask)) is not None:
            return made
        # One head at a time, or one a thread: memory n² or less each, not H n².
        joint, heads = _joint(A, attention, Y, always=not attention.is_bilinear), range(attention.heads)
        entries = 0 if A.cuts_finely else attention.heads * Y.shape[-2] * math.prod(Y.shape[:-1])
        found = A.in_turn([partial(_head, A, attention, h, Y, mask, joint[h]) for h in heads], entries)
        if attention.output is None:
            out = reduce(A.sum_with_temporary, found)
        elif attention.output.ndim == 3:  # all heads side by side: their sum is one product
            output = attention.output.reshape(-1, attention.output.shape[-1])
            out = A.matmul(A.concat(list(found), axis=-1), output)
        else:
            terms = (A.matmul(V, attention.output[h, ...]) for h, V in enumerate(found))
            out = reduce(A.sum_with_temporary, terms)
    return out


def is_fused(A: Float64, attention: Attention, X: Array, mask: Mask | None) -> bool:
    """Whether one compiled call makes all heads, which have keys and values in common."""
    if not fuses_heads(A, X, attention.heads) or mask is not None:
        return False
    return attention.key_bias is None and is_plain(attention)


def _all_heads(A: Float64, attention: Attention, X: Array, mask: Mask | None) -> Array | None:
    """Σ_h P_h X W_h in one call, or None where that does not do."""
    if X.ndim != 2 or not is_fused(A, attention, X, mask):
        return None
    layer = attention.query, attention.value, None, 1.0 / math.sqrt(attention.d_qk), 0.0
    run = path_layers(A, X, X[:, None, :], [layer])
    # Values may be too large for weights that are not divided yet.
    fits = run.layers and (run.before is None or math.isfinite(float(np.abs(run.last.terms).max())))
    return run.last.terms[:, 0, :] if fits else None


#: Make the queries of all heads in one product from this many tokens, and keys and values alike.
_JOINT = 64
#: Queries, keys and what is added for each key (..., n, 1), of one head.
Made: TypeAlias = tuple[Array, Array, Array | None] | None


def _joint(A: Float64, attention: Attention, Y: Array, *, always: bool = False) -> list[tuple[Made, Array]]:
    """For every head its queries and keys, where it pays to make them together (or `always`), and its values."""
    H, factored = attention.heads, attention.key is not None and attention.query.ndim == 3
    if always:
        return [(rows, None) for rows in turned_rows(A, attention, Y)]
    if not factored or Y.shape[-2] < _JOINT or H == 1:
        return [(None, None)] * H

    def parts(W: Array) -> list[Array]:
        d, k = W.shape[-2:]
        made = A.matmul(Y, A.xp.reshape(A.xp.permute_dims(W, (1, 0, 2)), (d, H * k)))
        return [made[..., h * k : (h + 1) * k] for h in range(H)]

    added = [None] * H if attention.key_bias is None else parts(attention.key_bias[..., None])
    queries, keys, values = parts(attention.query), parts(attention.key), parts(attention.value)
    return [((q, k, a), v) for q, k, a, v in zip(queries, keys, added, values, strict=True)]


def turned_rows(A: System, attention: Attention, Y: Array) -> list[tuple[Array, Array, Array | None]]:
    """Queries and keys of every head, biased, normed and turned."""
    H, every = attention.heads, 1 if attention.kv_heads is None else attention.heads // attention.kv_heads
    sides = []
    for side, (W, b) in enumerate(((attention.query, attention.b_Q), (attention.key, attention.b_K))):
        step = every if side else 1  # heads of one group have one key
        rows = [Y if W is None else A.matmul(Y, A.asarray(W[h, ...])) for h in range(0, H, step)]
        if b is not None:
            rows = [a + A.asarray(b[h * step, ..., None, :]) for h, a in enumerate(rows)]
        if attention.qk_norm is not None:
            rows = normed_heads(A, rows, attention.qk_norm[side], attention.qk_norm[2])
        if attention.rotary is not None:
            rows = [_turned(A, attention.rotary, a) for a in rows]
        sides.append([rows[h // step] for h in range(H)])
    added = [None] * H
    if attention.key_bias is not None:
        added = [A.matmul(Y, A.asarray(attention.key_bias[h, ...][..., None])) for h in range(H)]
    return list(zip(*sides, added, strict=True))


def _turned(A: System, rotary: Rotary, rows: Array) -> Array:
    if not A.unbounded:
        return rotary.turned(rows)
    tables = (A.array(A.asarray(table[: rows.shape[-2], :])) for table in (rotary.cos, rotary.sin))
    return A.asarray(turned(A.array(rows), *tables))


def normed_heads(A: System, rows: list[Array], gain: Array, eps: float) -> list[Array]:
    """RMSNorm of the rows of each head, or of all heads as one vector where the gain is so long."""
    k = rows[0].shape[-1]
    if gain.shape[0] == k:
        return [layer_norm(A, LayerNorm("rms", eps, gain), a) for a in rows]
    whole = layer_norm(A, LayerNorm("rms", eps, gain), A.concat(rows, axis=-1))
    return [whole[..., h * k : (h + 1) * k] for h in range(len(rows))]


def _head(A: Float64, attention: Attention, h: int, Y: Array, mask: Mask | None, joint: tuple[Made, Array]) -> Array:
    made, V = joint
    return attend(A, attention, h, Y, mask, A.matmul(Y, attention.value[h, ...]) if V is None else V, made)


def _normed(A: Float64, norm: LayerNorm | None, X: Array) -> Array:
    if norm is None:
        return X
    if norm.kind == "column":
        return layer_norm(A, norm, X)
    return A.in_place_by_rows(lambda _, rows: layer_norm(A, norm, rows), A.xp.empty_like(X), X)


def attend(
    A: Float64, attention: Attention, h: Head, X: Array, mask: Mask | None, V: Array, made: Made = None
) -> Array:
    """P_h V, in blocks of rows where P is larger than the arithmetic's budget; (H, n, v) for H heads."""
    if made is None and not attention.is_bilinear:
        assert isinstance(h, int)
        made = turned_rows(A, attention, X)[h]
    keys, added = _keys(A, attention, h, X, made)
    plain = mask is None and attention.position is None and attention.softcap is None
    if isinstance(h, int) and X.ndim == 2 and plain:
        queries = A.matmul(X, attention.query[h, ...]) if made is None else made[0]
        found = fused_softmax(A, queries, keys, added, V, math.sqrt(attention.d_qk))
        if found is not None:
            return found
    n, heads = int(X.shape[-2]), 1 if isinstance(h, int) else len(range(attention.heads)[h])
    rows = max(1, A.lone_entries // (heads * n * math.prod(X.shape[:-2])))
    blocks = [slice(start, min(n, start + rows)) for start in range(0, n, rows)]
    # Each P is used before the next is made, so that all share one buffer.
    product = A.passing_product
    parts = [A.matmul(_weights(A, attention, h, X, (keys, added), mask, b, product, made), V) for b in blocks]
    return parts[0] if len(parts) == 1 else A.concat(parts, axis=-2)


def _keys(A: Float64, attention: Attention, h: Head, X: Array, made: Made = None) -> tuple[Array, Array | None]:
    """What the queries are multiplied with, (..., n, d_qk), and what is added for each key, (..., n, 1)."""
    if made is not None:
        return made[1:]
    keys = X if attention.key is None else A.matmul(X, attention.key[h, ...])
    return keys, None if attention.key_bias is None else A.matmul(X, attention.key_bias[h, ...][..., None])


def _weights(
    A: Float64,
    attention: Attention,
    h: Head,
    X: Array,
    keys: tuple[Array, Array | None],
    mask: Mask | None,
    block: slice = slice(None),
    product: Callable[[Array, Array], Array] | None = None,
    made: Made = None,
) -> Array:
    """The rows of P_h that `block` picks; `product` makes the logits, and says where."""
    queries = A.matmul(X[..., block, :], attention.query[h, ...]) if made is None else made[0][..., block, :]
    logits = (product or A.matmul)(queries, A.transpose(keys[0]))
    if keys[1] is not None:
        logits = A.sum_with_temporary(logits, A.transpose(keys[1]))
    # Work in place from here on, because another n × n matrix costs more to fetch than to fill.
    root = math.sqrt(attention.d_qk)
    if attention.position is None and mask is None and attention.softcap is None:
        return softmax(A, logits, root)
    logits = _placed(A, attention, h, A.quotient_of_temporary(logits, root), block)
    return softmax(A, logits if mask is None else A.hide(mask.allowed[block, :], logits))


def _placed(A: System, attention: Attention, h: Head, logits: Array, block: slice) -> Array:
    """Rows of logits capped, with their position term."""
    if attention.softcap is not None:
        logits = A.tanh(logits / A.constant(attention.softcap)) * A.constant(attention.softcap)
    if attention.position is None:
        return logits
    n = int(logits.shape[-1])
    start, stop, _ = block.indices(n)
    return logits + A.asarray(attention.position.block(h, start, stop, n))


def _mlp(A: Float64, f: MLP, Y: Array) -> Array:
    def mapped(rows: Array, start: int) -> Array:
        W, b = (f.W_in, f.b_in) if f.W_gate is None else (f.W_gate, f.b_gate)
        hidden = A.passing_product(rows, W)
        if b is not None:
            hidden = A.sum_with_temporary(hidden, b)
        hidden = activate(A, f.activation, hidden)
        if f.W_gate is not None:
            beside = A.matmul(rows, f.W_in)
            hidden = A.product_of_temporary(beside if f.b_in is None else beside + f.b_in, hidden)
        out = A.matmul(hidden, f.W_out)
        if f.b_out is not None:
            out = A.sum_with_temporary(out, f.b_out)
        return out + rows if f.skip else out

    return in_row_blocks(A, mapped, Y, f.W_in.shape[-1], products=True)


def layer_norm(A: System, norm: LayerNorm, Y: Array, *, temporary: bool = False) -> Array:
    """One of the LayerNorms, by the definition; a `temporary` Y, which nobody else holds, may be overwritten."""
    if norm.kind == "column":
        Y = Y - A.sum(Y, axis=-2) / Y.shape[-2]
        return Y / A.nonzero(A.sqrt(A.sum(Y * Y, axis=-2) / Y.shape[-2] + norm.floor))
    d = Y.shape[-1]
    if norm.kind == "standard":
        mean = A.sum(Y, axis=-1) / d
        Y, temporary = A.difference_of_temporary(Y, mean) if temporary else Y - mean, True
    squares = A.sum(Y * Y, axis=-1)
    length = A.sqrt(squares if norm.kind == "sphere" else squares / d + norm.floor)
    if A.any(length == 0):
        raise NoDirection(f"X: a token is zero before LayerNorm {norm.kind!r}; it has no direction")
    Y = A.quotient_of_temporary(Y, length) if temporary else Y / length
    Y = Y if norm.gain is None else A.product_of_temporary(Y, A.asarray(norm.gain[None, :]))
    return Y if norm.offset is None else A.difference_of_temporary(Y, -A.asarray(norm.offset[None, :]))


@_quiet
def hidden_states(net: Network, X: ArrayLike, *, backend: Backend | None = None) -> list[Array]:
    """X^0, X^1, …, X^L, each (..., n, d); the last one is `forward`'s.

    >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0)
    >>> [X.shape for X in hidden_states(net, net.random_input(seed=1))]
    [(4, 3), (4, 3), (4, 3)]
    """
    X = check_input(net, X)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    A, masks, states = Float64(X), net.masks_for(int(X.shape[-2])), [X]
    for layer in net.sublayers:
        for sublayer in layer:
            X = apply_sublayer(A, sublayer, X, masks)
        states.append(in_range(A, X))
    return states
