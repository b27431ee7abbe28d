"""The plain, un-centred pass in mpmath: what a sceptic would write, with as many digits as the decay eats.

Nothing here is shared with the centred pass but the prediction of how many digits are needed, and that is
checked afterwards: a residual counts only if it stands clear of the rounding of the mean it is subtracted from.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

import mpmath
import numpy as np

from rankmath.arithmetic.float64 import to_numpy
from rankmath.attention.plain import check_one_sequence
from rankmath.dynamics.trace import trace
from rankmath.linalg.masks import Mask
from rankmath.linalg.residuals import RESIDUAL_NORMS, ResidualNorm, residual
from rankmath.model.network import MLP, Attention, LayerNorm, Network
from rankmath.validation import (
    Array,
    ArrayLike,
    Bools,
    Floats,
    InvalidArgument,
    Number,
    as_choice,
    as_count,
    as_real,
)

#: mpmath's numbers and contexts are untyped.
Row: TypeAlias = list[Number]
Rows: TypeAlias = list[Row]
Context: TypeAlias = Number

# Digits on top of those that the decay eats; a residual with fewer than half of them left is not resolved.
_GUARD = 40
# A float64 trace that lost more than this is no guide.
_MOST_LOST_BITS = 30
# Costs are measured with this many digits and extrapolated: products grow like Karatsuba's, mpmath's
# elementary functions like √digits products.
_MEASURED_DIGITS = 400
_PRODUCT_POWER, _FUNCTION_POWER = 1.6, 2.1


@dataclass(frozen=True, eq=False)
class ReferenceTrace:
    """What the plain pass sees.

    Attributes
    ----------
    log_residual : (L+1,) natural logarithms of ‖res(X^l)‖, entry 0 the input; −inf for an exact zero.
    resolved : (L+1,) whether the residual stands clear of rounding; where not, it is the floor 10^−digits or a
        zero that rounding may have made.
    digits : decimal digits carried.
    seconds : time taken.
    """

    log_residual: Floats
    resolved: Bools
    digits: int
    seconds: float
    norm: ResidualNorm = field(default="frobenius")


def reference_trace(
    net: Network,
    X: ArrayLike,
    norm: ResidualNorm = "frobenius",
    digits: int | None = None,
    budget_seconds: float = 60.0,
) -> ReferenceTrace:
    """Evaluate the network by its definition in mpmath and record the residual of every layer.

    Parameters
    ----------
    X : tokens, (n, d).
    digits : decimal digits; unless given, what the decay of the centred trace asks for and 40 more.
    budget_seconds : longest time to spend. The cost is estimated first, and more is refused.

    Raises
    ------
    ValueError : the digits needed (3^L times those of one layer, without skips) exceed memory or the budget.
    PrecisionError : neither float64 nor balls can predict the digits; give them.

    Examples
    --------
    >>> net = Network.random(tokens=4, dim=3, layers=4, seed=0)
    >>> X = net.random_input(seed=1)
    >>> reference = reference_trace(net, X)
    >>> float(abs(reference.log_residual - trace(net, X).log_residual).max()) < 1e-11
    True
    >>> deep = Network.random(tokens=4, dim=3, layers=40, seed=0)
    >>> reference_trace(deep, X)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: digits: about ... are needed to see the residual of layer 40; ...
    """
    X = to_numpy(check_one_sequence(net, X, "the reference"))
    as_choice("norm", norm, RESIDUAL_NORMS)
    budget = as_real("budget_seconds", budget_seconds, positive=True)
    if digits is None:
        needed, layer = _digits_needed(net, X)
        _refuse_beyond(net, X, needed, layer, budget)
        digits = int(needed)
    else:
        digits = as_count("digits", digits, least=5)
        _refuse_beyond(net, X, float(digits), None, budget)
    began = time.perf_counter()
    context = mpmath.mp.clone()
    context.dps = digits
    logs, resolved = [], []
    for rows in plain_layers(context, net, X):
        log, relative = _log_residual(context, rows, norm)
        logs.append(log)
        # Tokens that become equal on the way may have been rounded to it.
        started_equal = logs[0] == -math.inf
        resolved.append(started_equal or relative > -(digits - _GUARD / 2) * math.log(10))
    return ReferenceTrace(np.asarray(logs), np.asarray(resolved), digits, time.perf_counter() - began, norm)


# -- how many digits, and what they cost -------------------------------------------------------------------


def _digits_needed(net: Network, X: Array) -> tuple[float, int]:
    """Digits by which the deepest residual lies below its tokens, guard digits included, and its layer."""
    decay = trace(net, X)
    if decay.lost_bits.max() > _MOST_LOST_BITS:
        decay = trace(net, X, arithmetic="balls")
    height = np.maximum(np.maximum(decay.log_mean, decay.log_residual), -1e6)
    # log(−log‖R‖) is finite where log‖R‖ has left the doubles, and +inf for a residual that is exactly zero.
    beyond = np.isinf(decay.log_residual)
    below = np.where(beyond, np.exp(np.minimum(decay.log_log_residual, 700.0)), height - decay.log_residual)
    below = np.where(np.isposinf(decay.log_log_residual), 0.0, below)
    layer = len(below) - 1 - int(np.argmax(below[::-1]))
    return float(below[layer]) / math.log(10) + _GUARD, layer


def _refuse_beyond(net: Network, X: Array, digits: float, layer: int | None, budget: float) -> None:
    why = "" if layer is None else f" to see the residual of layer {layer}"
    memory = _numbers_held(net, X) * (digits * math.log2(10) / 8 + 200)
    allowed = _memory_allowed()
    if memory > allowed:
        raise InvalidArgument(
            f"digits: about {digits:.3g} are needed{why}; {memory:.3g} bytes at least, allowed are {allowed:.3g}"
        )
    seconds = _seconds_needed(net, X, digits)
    if seconds > budget:
        raise InvalidArgument(
            f"digits: about {digits:.3g} are needed{why}; some {seconds:.3g} s, budget_seconds allows {budget:.3g}"
        )


def _numbers_held(net: Network, X: Array) -> int:
    n, d = map(int, X.shape)
    width = max(_hidden_widths(net), default=0)
    return n * n + n * (4 * d + 2 * width)


def _hidden_widths(net: Network) -> list[int]:
    maps = [f for layer in net.sublayers for s in layer for f in s.maps if isinstance(f, MLP)]
    return [int(f.W_in.shape[1]) * (1 if f.W_gate is None else 2) for f in maps]


def _memory_allowed() -> float:
    """A quarter of the machine's memory, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 4


def _seconds_needed(net: Network, X: Array, digits: float) -> float:
    n, d = map(int, X.shape)
    widths = _hidden_widths(net)
    products, functions = sum(2 * n * d * width for width in widths), 4 * sum(n * width for width in widths)
    for a in net.attentions:
        k, v = int(a.query.shape[-1]), int(a.value.shape[-1])
        factored = (0 if a.key is None else n * d * k) + (0 if a.output is None else n * v * d)
        products += a.heads * (n * d * k + n * d * v + factored + n * n * (k + v + 2)) + n * d
        functions += a.heads * n * n + 2 * n
    measured = mpmath.mp.clone()
    measured.dps = int(min(digits, _MEASURED_DIGITS))
    number = measured.sqrt(2)
    ratio = digits / int(min(digits, _MEASURED_DIGITS))
    in_products = products * _time(lambda: number * number) * math.pow(ratio, _PRODUCT_POWER)
    return in_products + functions * _time(lambda: measured.exp(number)) * math.pow(ratio, _FUNCTION_POWER)


def _time(operation: Callable[[], Number]) -> float:
    """Seconds of one call: the best of a few, after one to warm up."""
    operation()
    best = math.inf
    for _ in range(5):
        began = time.perf_counter()
        operation()
        best = min(best, time.perf_counter() - began)
    return best


# -- the plain pass ----------------------------------------------------------------------------------------


def plain_layers(mp: Context, net: Network, X: Array) -> Iterator[Rows]:
    """The tokens after every layer, the input first, by the definition."""
    rows = _matrix(mp, X)
    masks = net.masks_for(len(rows))
    yield rows
    for layer in net.sublayers:
        for sublayer in layer:
            inner = rows if sublayer.before is None else _layer_norm(mp, sublayer.before, rows)
            new = [[mp.mpf(sublayer.skip) * a for a in row] for row in rows]
            made = [
                _attended(mp, f, inner, masks[id(f)]) if isinstance(f, Attention) else _mlp(mp, f, inner)
                for f in sublayer.maps
            ]
            if made:
                added = reduce(_sum, made)
                added = added if sublayer.behind is None else _layer_norm(mp, sublayer.behind, added)
                new = _sum(new, added)
            rows = new if sublayer.after is None else _layer_norm(mp, sublayer.after, new)
        yield rows


def _attended(mp: Context, attention: Attention, rows: Rows, mask: Mask | None) -> Rows:
    """Σ_h P_h X W_h + 1bᵀ."""
    new = [[mp.mpf(0)] * len(rows[0]) for _ in rows]
    for h in range(attention.heads):
        P = _weights(mp, attention, h, rows, mask)
        V = _product(mp, P, _product(mp, rows, _matrix(mp, attention.value[h])))
        if attention.output is not None:
            V = _product(mp, V, _matrix(mp, attention.output[h]))
        new = _sum(new, V)
    return new if attention.bias is None else _add_row(new, _row(mp, attention.bias))


def _weights(mp: Context, attention: Attention, h: int, rows: Rows, mask: Mask | None) -> Rows:
    n = len(rows)
    queries, keys = (_turned(mp, attention, side, h, rows) for side in (0, 1))
    bias = [mp.mpf(0)] * n
    if attention.key_bias is not None:
        k = _row(mp, attention.key_bias[h])
        bias = [mp.fdot(row, k) for row in rows]
    root = mp.sqrt(mp.mpf(attention.d_qk))
    position = None if attention.position is None else _matrix(mp, attention.position.block(h, 0, n, n))
    P = []
    for i, query in enumerate(queries):
        seen = [j for j in range(n) if mask is None or mask.allowed[i, j]]
        logits = {j: (mp.fdot(query, keys[j]) + bias[j]) / root for j in seen}
        if attention.softcap is not None:
            t = mp.mpf(attention.softcap)
            logits = {j: t * mp.tanh(logit / t) for j, logit in logits.items()}
        if position is not None:
            logits = {j: logit + position[i][j] for j, logit in logits.items()}
        top = max(logits.values())
        weights = {j: mp.exp(logit - top) for j, logit in logits.items()}
        total = mp.fsum(weights.values())
        P.append([weights[j] / total if j in weights else mp.mpf(0) for j in range(n)])
    return P


def _turned(mp: Context, attention: Attention, side: int, h: int, rows: Rows) -> Rows:
    """Queries (side 0) or keys (side 1) of one head: projected, biased, normed, turned."""
    W, b = ((attention.query, attention.b_Q), (attention.key, attention.b_K))[side]

    def projected(g: int) -> Rows:
        made = rows if W is None else _product(mp, rows, _matrix(mp, W[g]))
        return made if b is None else _add_row(made, _row(mp, b[g]))

    own = projected(h)
    if attention.qk_norm is not None:
        gain, eps, k = _row(mp, attention.qk_norm[side]), mp.mpf(attention.qk_norm[2]), len(own[0])
        every = 1 if side == 0 or attention.kv_heads is None else attention.heads // attention.kv_heads
        together = range(0, attention.heads, every) if len(gain) > k else [h]
        squares = [[sum(a * a for a in row) for row in projected(g)] for g in together]
        roots = [mp.sqrt(sum(parts) / (k * len(together)) + eps) for parts in zip(*squares, strict=True)]
        gain = gain if len(gain) == k else gain[(h // every) * k : (h // every + 1) * k]
        own = [[a * g / root for a, g in zip(row, gain, strict=True)] for row, root in zip(own, roots, strict=True)]
    if attention.rotary is None:
        return own
    turned = []
    for i, row in enumerate(own):
        cos, sin, new = _row(mp, attention.rotary.cos[i]), _row(mp, attention.rotary.sin[i]), list(row)
        for m in range(len(cos)):
            a, c = row[2 * m], row[2 * m + 1]
            new[2 * m], new[2 * m + 1] = a * cos[m] - c * sin[m], c * cos[m] + a * sin[m]
        turned.append(new)
    return turned


def _mlp(mp: Context, f: MLP, rows: Rows) -> Rows:
    W, b = (f.W_in, f.b_in) if f.W_gate is None else (f.W_gate, f.b_gate)
    hidden = _product(mp, rows, _matrix(mp, W))
    if b is not None:
        hidden = _add_row(hidden, _row(mp, b))
    root = mp.sqrt(2)
    act = {
        "relu": lambda a: a if a > 0 else mp.mpf(0),
        "tanh": mp.tanh,
        "gelu": lambda a: a * mp.erfc(-a / root) / 2,
        "gelu_tanh": lambda a: a * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (a + mp.mpf(44715) / 10**6 * a**3))) / 2,
        "silu": lambda a: a / (1 + mp.exp(-a)),
        "quick_gelu": lambda a: a / (1 + mp.exp(-a * mp.mpf(1702) / 1000)),
    }[f.activation]
    hidden = [[act(a) for a in row] for row in hidden]
    if f.W_gate is not None:
        beside = _product(mp, rows, _matrix(mp, f.W_in))
        beside = beside if f.b_in is None else _add_row(beside, _row(mp, f.b_in))
        hidden = [[a * c for a, c in zip(*both, strict=True)] for both in zip(hidden, beside, strict=True)]
    out = _product(mp, hidden, _matrix(mp, f.W_out))
    if f.b_out is not None:
        out = _add_row(out, _row(mp, f.b_out))
    return _sum(out, rows) if f.skip else out


def _layer_norm(mp: Context, norm: LayerNorm, rows: Rows) -> Rows:
    if norm.kind == "column":
        columns = [_standardised(mp, list(column), norm) for column in zip(*rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]
    if norm.kind == "sphere":
        return [_divided(row, mp.sqrt(mp.fsum(a * a for a in row)), norm) for row in rows]
    if norm.kind == "rms":
        sizes = [mp.sqrt(mp.fsum(a * a for a in row) / len(row) + mp.mpf(norm.floor)) for row in rows]
        out = [_divided(row, size, norm) for row, size in zip(rows, sizes, strict=True)]
    else:
        out = [_standardised(mp, row, norm) for row in rows]
    if norm.gain is not None:
        gain = _row(mp, norm.gain)
        out = [[a * g for a, g in zip(row, gain, strict=True)] for row in out]
    return out if norm.offset is None else _add_row(out, _row(mp, norm.offset))


def _standardised(mp: Context, values: Row, norm: LayerNorm) -> Row:
    """(v − mean)/√(variance + eps). Relative to the first entry, so that equal entries give exact zeros."""
    values = [a - values[0] for a in values]
    mean = mp.fsum(values) / len(values)
    values = [a - mean for a in values]
    return _divided(values, mp.sqrt(mp.fsum(a * a for a in values) / len(values) + mp.mpf(norm.floor)), norm)


def _divided(values: Row, size: Number, norm: LayerNorm) -> Row:
    if size:
        return [a / size for a in values]
    if norm.kind == "column":
        return values
    raise InvalidArgument(f"X: a token is zero before LayerNorm {norm.kind!r}; it has no direction")


def _log_residual(mp: Context, rows: Rows, norm: ResidualNorm) -> tuple[float, float]:
    """log‖res‖, and the logarithm of the residual's largest entry over that of the tokens."""
    first = rows[0]
    R = [[a - b for a, b in zip(row, first, strict=True)] for row in rows]
    largest = max(abs(a) for row in R for a in row)
    if not largest:
        return -math.inf, -math.inf
    height = max(abs(a) for row in rows for a in row)
    # Over their largest entry the differences are doubles as good as any.
    scaled = np.asarray([[float(a / largest) for a in row] for row in R])
    log = float(mp.log(largest)) + math.log(residual(scaled, norm=norm).value)
    return log, float(mp.log(largest / height))


def _matrix(mp: Context, values: Array) -> Rows:
    return [_row(mp, row) for row in to_numpy(values)]


def _row(mp: Context, values: Array) -> Row:
    return [mp.mpf(float(a)) for a in to_numpy(values)]


def _product(mp: Context, a: Rows, b: Rows) -> Rows:
    columns = list(zip(*b, strict=True))
    return [[mp.fdot(row, column) for column in columns] for row in a]


def _sum(a: Rows, b: Rows) -> Rows:
    return [[p + q for p, q in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def _add_row(a: Rows, row: Row) -> Rows:
    return [[p + q for p, q in zip(r, row, strict=True)] for r in a]
