"""Path decomposition (dong2021:2.1): a network without MLP and LayerNorm is a sum over paths.

    SAN(X) = Σ_path P_path X W_path + 1bᵀ,   P_path = P^L_{h_L} ⋯ P^1_{h_1},   W_path = W^1_{h_1} ⋯ W^L_{h_L}

over all (h_1, …, h_L); head 0 is the skip (P_0 = I, W_0 = λI) and the P's are those of the whole network.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.attention.alone import AT_ONCE
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.centred import sublayer_step, view_of
from rankmath.attention.fused import path_layers
from rankmath.attention.plain import Head, apply_sublayer, attend, check_one_sequence, in_range, is_fused
from rankmath.attention.rows import Rows
from rankmath.attention.tokens import LOG_ZERO, Scale, Scaled, centre, normalised, scaled_sum
from rankmath.attention.trace import residual_size, trace
from rankmath.attention.weights import is_plain, weights_of
from rankmath.drawing import draw_path_sums
from rankmath.linalg.masks import Mask
from rankmath.linalg.residuals import RESIDUAL_NORMS, ResidualNorm
from rankmath.model.network import Attention, Network, Sublayer
from rankmath.printing import Sheet, Shows, digits
from rankmath.validation import Array, ArrayLike, Axes, Floats, InvalidArgument, Json, as_choice, as_count

if TYPE_CHECKING:
    from rankmath.kernels.compiled_paths import Layer


@dataclass(frozen=True, eq=False, repr=False)
class PathSums(Shows):
    """The exact sums of all paths of each length.

    Attributes
    ----------
    terms : (L+1, n, d), entry k the sum of the C(L,k)·H^k paths through k heads.
    bias : (d,), the common bias b.
    """

    terms: Array
    bias: Array
    net: Network = field(repr=False)
    X: Array = field(repr=False)
    memory: int | None = field(repr=False, default=None)

    def to_dict(self) -> dict[str, Json]:
        """By length: how many paths, and log of the residual of their sum (None for an exact zero)."""
        return {"lengths": _path_rows(self)}

    def sheet(self) -> Sheet:
        rows = tuple(
            (str(r["length"]), str(r["paths"]), "" if (x := r["log_residual"]) is None else digits(x, 8))
            for r in _path_rows(self)
        )
        n, d = self.terms.shape[-2:]
        title = f"PathSums: {n} tokens of dimension {d}, paths by length, natural logarithms"
        return Sheet(title, (), ("length", "paths", "log residual of their sum"), rows)

    def plot(self, ax: Axes = None) -> Axes:
        """The residual of the paths of each length as matplotlib axes."""
        return draw_path_sums(self.log_residual(), ax)

    def total(self) -> Array:
        """The network's output, (n, d)."""
        xp = Float64(self.terms).xp
        return xp.sum(self.terms, axis=0) + self.bias

    def log_residual(self, norm: ResidualNorm = "frobenius") -> Floats:
        """log‖res‖ of the sum of each length, (L+1,), −inf for an exact zero.

        Not from `terms`, which lose a residual once it is 1e-16 of the mean, but by the same recursion for the
        residuals, T^{l+1}_k = λ T^l_k + Σ_h Q_h T^l_{k−1} W_h with P_h = 1q_hᵀ + Q_h in centred form and log scale.

        >>> net = Network.random(tokens=4, dim=3, layers=3, seed=0, skip=0.5)
        >>> logs = path_sums(net, net.random_input(seed=1, scale=1e-3)).log_residual()
        >>> [round(float(x), 2) for x in logs]
        [-8.56, -25.36, -43.23, -61.73]
        """
        as_choice("norm", norm, RESIDUAL_NORMS)
        if not any(sublayer.skip for sublayer in _steps(self.net)):
            # Only the paths through all layers are there, and they are the network.
            last = trace(self.net, self.X, norm, memory=self.memory).log_residual[-1]
            return np.concatenate([np.full(len(_steps(self.net)), -np.inf), [float(last)]])
        T, logs = _residual_terms(self.net, self.X, self.memory)
        sizes = [float(residual_size(Float64(T), T[k, ...], norm)) for k in range(T.shape[0])]
        with np.errstate(divide="ignore"):
            result: Floats = np.log(sizes) + to_numpy(logs)[:, 0, 0]
        return result


def _path_rows(sums: PathSums) -> list[dict[str, float | None]]:
    logs = sums.log_residual()
    steps = _steps(sums.net)
    counts = path_counts(len(steps), sums.net.heads, any(s.skip for s in steps))
    return [
        {"length": k, "paths": counts[k], "log_residual": float(x) if np.isfinite(x) else None}
        for k, x in enumerate(logs)
    ]


def _residual_terms(net: Network, X: Array, memory: int | None) -> Scaled:
    """T^L_k, (L+1, n, d), each of size one and with mean zero, and the logarithms of their units, (L+1, 1, 1)."""
    A = Float64(X, memory=memory)
    xp = A.xp
    n, d = X.shape
    masks = net.masks_for(int(n))
    tokens = centre(A, X)
    T, logs = xp.stack([tokens.residual]), tokens.log_residual.to_float()[None]
    for sublayer in _steps(net):
        attention, scale = _attention(sublayer), Scale.of(A, tokens)
        blank, zero = xp.zeros_like(T[:1, ...]), A.units.full_like(logs[:1], LOG_ZERO)
        terms = [(xp.concat([sublayer.skip * T, blank]), A.units.concat([logs, zero]))]
        wide = xp.reshape(xp.permute_dims(T, (1, 0, 2)), (n, -1))
        rows = None if attention.is_bilinear else Rows.of(A, attention, tokens)
        for head in weights_of(A, attention).heads:
            view = view_of(A, head, tokens, scale, masks[id(attention)], rows)
            spread = xp.reshape(view.spread_of(wide), (n, -1, d))
            values = xp.reshape(A.matmul(spread, head.value), (n, -1))
            out, unit = view.deviation(values)
            out = xp.permute_dims(xp.reshape(out, (n, T.shape[0], -1)), (1, 0, 2))
            out = out if head.output is None else A.matmul(out, head.output)
            log = logs + view.log_unit + unit + head.log_value
            terms.append((xp.concat([blank, out]), A.units.concat([zero, log])))
        T, logs = scaled_sum(A, terms)
        T, grown = normalised(A, T - A.sum(T, axis=-2) / n)
        logs = A.units.maximum(logs + grown, LOG_ZERO)
        tokens = sublayer_step(A, sublayer, tokens, masks)
    return T, logs


def path_sums(net: Network, X: ArrayLike, *, backend: Backend | None = None, memory: int | None = None) -> PathSums:
    """Sum all (1+H)^L paths by length in O(L²H) layer products and O(L n d) memory.

    With S^l_k the sum of the length-k paths through the first l layers,
    S^{l+1}_k = λ S^l_k + Σ_h P_h S^l_{k−1} W_h.

    Parameters
    ----------
    net : the network, without MLP and LayerNorm.
    X : tokens, (n, d).
    backend, memory : as for `forward`.

    Examples
    --------
    >>> import numpy as np
    >>> from rankmath.attention.plain import forward
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=6, dim=4, heads=3, layers=5, seed=0, skip=True, biases=True)
    >>> X = net.random_input(seed=1)
    >>> bool(np.allclose(path_sums(net, X).total(), forward(net, X), rtol=1e-12))
    True
    """
    here = backend is None  # entries of X that are wrong show in the result
    X = _path_input(net, X, look=not here)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    memory = None if memory is None else as_count("memory", memory)
    A = Float64(X, memory=memory)
    xp, masks, steps = A.xp, net.masks_for(int(X.shape[0])), _steps(net)
    wide = _on_gpu(A, net, X) if A.on_gpu and not any(masks.values()) else None
    if wide is None:
        X = _path_input(net, X) if here and A.on_gpu else X
        wide = in_range(A, _side_by_side(A, net, X, masks))
    S = xp.permute_dims(wide, (1, 0, 2))
    none = [xp.zeros_like(S[:1, ...])] * sum(not sublayer.skip for sublayer in steps)
    *_, bias = None, *_common_biases(A, net)
    common = xp.zeros_like(X[0, :]) if bias is None else in_range(A, xp.asarray(bias[0, :], copy=True))
    return PathSums(xp.concat([*none, S]) if none else S, common, net, X, memory)


def _side_by_side(A: Float64, net: Network, X: Array, masks: dict[int, Mask | None]) -> Array:
    """S_k for all k that are there, (n, k, d): without a skip there is no shorter one."""
    tokens, S, l = X, X[:, None, :], 0
    steps, biases = _steps(net), list(_common_biases(A, net))
    while l < len(steps):
        made = _compiled_steps(A, steps[l:], biases[l:], tokens, S, masks)
        if made is None:
            tokens, S = _step(A, steps[l], biases[l], tokens, S, masks)
            l += 1
        else:
            tokens, S = made[1:]
            l += made[0]
    return S


def _step(
    A: Float64, sublayer: Sublayer, bias: Array | None, before: Array, S: Array, masks: dict[int, Mask | None]
) -> tuple[Array, Array]:
    """The tokens and S after one layer."""
    xp, attention = A.xp, _attention(sublayer)
    longer = _longer(A, attention, before, S, masks[id(attention)])
    if sublayer.skip:
        longer = xp.concat([xp.zeros_like(longer[:, :1, :]), longer], axis=1)
        longer[:, :-1, :] += sublayer.skip * S
    tokens, parts = A.sum(longer, axis=1)[:, 0, :], _squares(A, longer)
    if bias is not None:
        tokens, parts = tokens + bias, parts + _squares(A, bias)
    # If these do not cancel much, their sum is as accurate as the tokens. Squares that are 0 or ∞ decide nothing.
    if not bool(xp.all(parts < 16.0 * _squares(A, tokens))):
        tokens = apply_sublayer(A, sublayer, before, masks)
    return tokens, longer


def _compiled_steps(
    A: Float64,
    steps: Sequence[Sublayer],
    biases: Sequence[Array | None],
    X: Array,
    S: Array,
    masks: dict[int, Mask | None],
) -> tuple[int, Array, Array] | None:
    """How many layers one call made, the tokens and S after them; None where it makes not one."""
    layers: list[Layer] = []
    for sublayer, bias in zip(steps, biases, strict=True):
        attention = _attention(sublayer)
        if attention.heads != _attention(steps[0]).heads or not is_fused(A, attention, X, masks[id(attention)]):
            break
        layers.append((attention.query, attention.value, bias, 1.0 / math.sqrt(attention.d_qk), sublayer.skip))
    # A call takes some tenths of a second, or one layer, because nobody can interrupt it.
    cost = _attention(steps[0]).heads * X.size * (sum(X.shape)) * (S.shape[1] + 1 + len(layers))
    run = path_layers(A, X, S, layers[: max(1, AT_ONCE // cost)]) if layers else None
    if run is None or not run.layers:
        return None
    if run.before is None:
        return run.layers, run.last.tokens, run.last.terms
    if not bool(np.isfinite(run.last.terms).all()):  # values may be too large for weights that are not divided yet
        return None if run.layers == 1 else (run.layers - 1, run.before.tokens, run.before.terms)
    tokens = apply_sublayer(A, steps[run.layers - 1], run.before.tokens, masks)
    return run.layers, tokens, run.last.terms


def _squares(A: Float64, a: Array) -> Array:
    """Σ a² of each entry of the first axis."""
    rows = A.xp.reshape(a, (a.shape[0], -1))
    if isinstance(rows, np.ndarray):  # one call, because small networks wait for NumPy's calls
        return np.einsum("ij,ij->i", rows, rows)
    return A.xp.sum(rows * rows, axis=1)


def _common_biases(A: Float64, net: Network) -> Iterator[Array | None]:
    """Yield b, (1, d), after each layer, None before there is one: what a layer adds to every token goes through
    those that follow as their value maps say."""
    bias: Array | None = None
    for sublayer in _steps(net):
        attention = _attention(sublayer)
        if bias is not None:
            total = A.xp.sum(_value_map(attention, slice(None)), axis=0)
            bias = sublayer.skip * bias + A.matmul(bias, total)
        if attention.bias is not None:
            bias = attention.bias[None, :] if bias is None else bias + attention.bias
        yield bias


def _on_gpu(A: Float64, net: Network, X: Array) -> Array | None:
    """The path sums side by side, (n, 1 + L or fewer, d), in few launches; None where those do not do, or something
    is not finite."""
    layers = [(_attention(sublayer), sublayer.skip) for sublayer in _steps(net)]
    if not layers or not all(is_plain(attention) for attention, _ in layers):
        return None
    from rankmath.kernels.cuda import PathSums

    sums = PathSums(X, max(attention.heads for attention, _ in layers), len(layers), A.lone_entries)
    for attention, skip in layers:
        arrays = attention.query, attention.value, attention.key_bias, attention.bias
        sums.step(*arrays, math.sqrt(attention.d_qk), skip)
    return sums.wide[:, 1:, :] if sums.finite() else None


def path_term(net: Network, X: ArrayLike, path: Sequence[int]) -> Array:
    """P_path X W_path for one path (h_1, …, h_L), heads counted from 1, 0 for a skipped layer (times λ).

    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=3, dim=2, heads=2, layers=2, seed=0, skip=True)
    >>> X = net.random_input(seed=1)
    >>> bool((path_term(net, X, (0, 0)) == X).all())
    True
    """
    X = _path_input(net, X)
    layers = _steps(net)
    if not isinstance(path, (list, tuple)) or len(path) != len(layers):
        raise InvalidArgument(f"path: {path!r} given; a sequence of {len(layers)} heads, one a layer, is needed")
    steps = [as_count("path", h, least=0, most=_attention(s).heads) for h, s in zip(path, layers, strict=True)]
    A = Float64(X)
    term, masks = X, net.masks_for(int(X.shape[-2]))
    for step, sublayer in zip(steps, layers, strict=True):
        attention = _attention(sublayer)
        if step == 0:
            term = sublayer.skip * term
        else:
            seen = attend(A, attention, step - 1, X, masks[id(attention)], term)
            term = A.matmul(seen, _value_map(attention, step - 1))
        X = apply_sublayer(A, sublayer, X, masks)
    return in_range(A, term)


def _longer(A: Float64, attention: Attention, X: Array, S: Array, mask: Mask | None) -> Array:
    """Σ_h P_h S_k W_h of the attention that the tokens X make, for all S_k side by side, (n, k, d)."""
    xp, (n, k, d), H = A.xp, S.shape, attention.heads
    columns = xp.reshape(S, (n, k * d))

    def through(h: Head) -> Array:
        seen = xp.reshape(attend(A, attention, h, X, mask, columns), (-1, n * k, d))
        made = A.matmul(seen, _value_map(attention, h))
        return made[0, ...] if made.shape[0] == 1 else xp.sum(made, axis=0)

    # A call costs a GPU more than its work, so as many heads as fit are made at once.
    together = A.on_gpu and attention.is_bilinear
    some = max(1, A.lone_entries // (n * max(n, k * d))) if together else 1
    heads: list[Head] = [slice(first, first + some) for first in range(0, H, some)] if together else [*range(H)]
    with A.blas_alone(S.size):
        found = A.in_turn([partial(through, h) for h in heads], H * n * n)
        return xp.reshape(reduce(A.sum_with_temporary, found), (n, k, d))


def _value_map(attention: Attention, h: Head) -> Array:
    """W_h, of one head or of some."""
    value = attention.value[h, ...]
    return value if attention.output is None else value @ attention.output[h, ...]


def _steps(net: Network) -> tuple[Sublayer, ...]:
    """The sublayers a path goes through, one after the other."""
    return tuple(sublayer for layer in net.sublayers for sublayer in layer)


def _attention(sublayer: Sublayer) -> Attention:
    assert isinstance(sublayer.map, Attention)
    return sublayer.map


def path_counts(L: int, H: int, skip: bool = True) -> list[int]:
    """How many paths go through k = 0..L heads: C(L,k)·H^k, exact integers; without skips only the longest.

    >>> path_counts(3, 2), sum(path_counts(3, 2)) == 3**3
    ([1, 6, 12, 8], True)
    """
    L, H = as_count("L", L, least=0, most=10**4), as_count("H", H)
    as_choice("skip", skip, (False, True))
    return [math.comb(L, k) * H**k if skip or k == L else 0 for k in range(L + 1)]


def _path_input(net: Network, X: ArrayLike, *, look: bool = True) -> Array:
    X = check_one_sequence(net, X, "the path decomposition", look=look)
    norms = [norm for s in _steps(net) for norm in (s.before, s.after, s.behind) if norm is not None]
    if norms or not all(isinstance(s.map, Attention) for s in _steps(net)):
        raise InvalidArgument("net: a network with an MLP or LayerNorm given; the path decomposition needs neither")
    return X
