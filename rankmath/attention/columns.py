"""`measure`: metrics of tokens and attention as columns beside a trace, in doubles or in balls.

Tokens come from the centred pass, X = e^ξ 1x + e^σ R, so what vanishes with the residual is measured on R itself
and kept as a logarithm: it has no floor. Ranks and cosines of collapsed tokens are what they are: 1, to the last
digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.maps import norm_step
from rankmath.attention.plain import check_input, check_one_sequence, layer_norm, logits_of, matrices_by_layer
from rankmath.attention.softmax import softmax
from rankmath.attention.tokens import Tokens
from rankmath.attention.trace import layers_centred
from rankmath.linalg.masks import Mask
from rankmath.linalg.metrics import ATTENTION_METRICS, TOKEN_METRICS, dirichlet_energy, size_of
from rankmath.linalg.norms import composite, frobenius
from rankmath.model.network import LayerNorm, Network
from rankmath.validation import Array, ArrayLike, Floats, InvalidArgument, NoDirection, Number, as_choice, as_count

#: Columns by name: metrics of tokens, then of the attention that leads to them (nan at the input).
METRICS = (*TOKEN_METRICS, "cosine-gap", *ATTENTION_METRICS)
#: Those that vanish with the residual: they have logarithms.
VANISHING = (
    "relative-residual",
    "mu-ratio",
    "high-low-ratio",
    "dirichlet-energy",
    "mean-average-distance",
    "cosine-gap",
)
#: Those that see the residual alone, whatever its size.
CENTRED = ("effective-rank-centred", "participation-ratio")


#: Means over pairs of tokens.
_OF_PAIRS = ("mean-average-distance", "cosine-gap")


@dataclass(frozen=True, eq=False)
class Columns:
    """Metrics by name, each with one entry a layer, the input first.

    Attributes
    ----------
    values : name -> (L+1,) doubles; nan where the metric does not exist (attention at the input,
        cosines of a token that is zero), or where logits of attention are beyond the doubles.
    logs : name -> (L+1,) natural logarithms, of metrics that vanish with the residual; −inf for an exact zero.
    balls : name -> the enclosures themselves (arithmetic "balls"), None where the metric does not exist.
    """

    values: dict[str, Floats]
    logs: dict[str, Floats]
    arithmetic: str
    balls: dict[str, tuple[Number, ...]] = field(default_factory=dict, repr=False)


def measure(
    net: Network,
    X: ArrayLike,
    metrics: Sequence[str] = ("relative-residual", "effective-rank"),
    *,
    arithmetic: Literal["float64", "balls"] = "float64",
    bits: int = 256,
    backend: Backend | None = None,
) -> Columns:
    """Metrics at every layer.

    Parameters
    ----------
    X : tokens, (n, d); a batch (..., n, d) in float64, its columns (L+1, ...).
    metrics : names, any of `METRICS`; "cosine-gap" is 1 − mean-cosine, exact where cosines round to 1.
    arithmetic : "float64", or "balls": enclosures of every value at `bits` bits.
    backend : "cupy" runs the layers on a GPU (float64); what is measured of their tokens is measured on the host.

    Examples
    --------
    >>> net = Network.random(tokens=8, dim=4, heads=2, layers=6, seed=0)
    >>> found = measure(net, net.random_input(seed=1), ["relative-residual", "stable-rank"])
    >>> bool(found.logs["relative-residual"][6] < -47), float(found.values["stable-rank"][6])
    (True, 1.0)
    """
    X = check_input(net, X)
    if net.batch_shape or arithmetic != "float64":
        X = check_one_sequence(net, X, "measure")
    if isinstance(metrics, str) or not metrics:
        raise InvalidArgument(f"metrics: {metrics!r} given; a sequence of names is needed")
    for name in metrics:
        as_choice("metric", name, METRICS)
        if name in _OF_PAIRS:
            as_count("tokens of X", X.shape[-2], least=2)
    as_choice("arithmetic", arithmetic, ("float64", "balls"))
    if not isinstance(X, np.ndarray):
        raise InvalidArgument("X: an array on a device given; metrics are measured on NumPy arrays")
    if X.ndim > 2:
        found = [measure(net, one, metrics, backend=backend) for one in X]
        values = {name: np.stack([one.values[name] for one in found], axis=1) for name in found[0].values}
        logs = {name: np.stack([one.logs[name] for one in found], axis=1) for name in found[0].logs}
        return Columns(values, logs, arithmetic)
    if arithmetic == "float64":
        # One thread of BLAS: these products are small, and threads would wait for each other.
        with Float64(X).blas_alone(X.size * max(X.shape)):
            return _measured_floats(net, X, metrics, backend or "numpy")
    if backend not in (None, "numpy"):
        raise InvalidArgument(f"backend: {backend!r} given with arithmetic 'balls'; only 'float64' takes it")
    return _measured_balls(net, X, metrics, as_count("bits", bits, least=53, most=2**16))


# -- float64 -----------------------------------------------------------------------------------------------


def _measured_floats(net: Network, X: Array, metrics: Sequence[str], backend: Backend) -> Columns:
    A, (there, start) = Float64(X), on_backend(backend, net, X)
    values: dict[str, list[float]] = {name: [] for name in metrics}
    logs: dict[str, list[float]] = {name: [] for name in metrics if name in VANISHING}
    before: Tokens | None = None
    for l, made in enumerate(layers_centred(Float64(start), there, start)):
        tokens = replace(made, center=to_numpy(made.center), residual=to_numpy(made.residual))
        whole = _whole(tokens)
        sphere: list[Tokens] = []
        matrices: list[Floats] | None = None
        for name in metrics:
            if name in VANISHING:
                log = math.nan
                with suppress(NoDirection):  # a token is zero: it has no cosine
                    if name in _OF_PAIRS and not sphere:
                        sphere.append(norm_step(A, LayerNorm("sphere"), tokens))
                    log = _log_of(name, tokens, whole, sphere)
                logs[name].append(log)
                values[name].append(math.inf if log >= 709 else math.exp(log))
            elif name in ATTENTION_METRICS:
                if matrices is None:
                    matrices = [] if before is None else _attentions(net, l - 1, *_whole(before))
                found = [float(ATTENTION_METRICS[name](P)) for P in matrices]
                values[name].append(float(np.mean(found)) if found else math.nan)
            else:
                value = math.nan
                # Tokens that are all zero: nan.
                with suppress(NoDirection), np.errstate(divide="ignore", invalid="ignore"):
                    value = float(TOKEN_METRICS[name](tokens.residual if name in CENTRED else whole[0]))
                values[name].append(value)
        before = tokens
    return Columns(
        {name: np.asarray(column) for name, column in values.items()},
        {name: np.asarray(column) for name, column in logs.items()},
        "float64",
    )


def _sigma(tokens: Tokens) -> float:
    return float(to_numpy(tokens.log_residual.to_float())[0, 0])


def _whole(tokens: Tokens) -> tuple[Floats, float]:
    """X/e^m and m, the larger of the two scales; a token that cancels to rounding is 0."""
    xi, sigma = float(to_numpy(tokens.log_center)[0, 0]), _sigma(tokens)
    unit = max(xi, sigma)
    mean, spread = tokens.center * math.exp(xi - unit), tokens.residual * math.exp(max(sigma - unit, -745.0))
    X = mean + spread
    lost = np.abs(X) <= 4 * np.finfo(float).eps * (np.abs(mean) + np.abs(spread))
    return np.where(lost.all(axis=-1, keepdims=True), 0.0, X), unit


def _log_of(name: str, tokens: Tokens, whole: tuple[Floats, float], sphere: list[Tokens]) -> float:
    R, sigma, (X, unit) = tokens.residual, _sigma(tokens), whole
    n = R.shape[0]
    if not R.any():
        return -math.inf
    if name == "dirichlet-energy":
        return 2 * sigma + math.log(float(dirichlet_energy(R)))
    if name in _OF_PAIRS:
        # Of unit tokens û: Σ_{i≠j}(1 − cos)/(n(n−1)) = Σ‖û_i − ū‖²/(n−1), both names on the complete graph.
        unit_R = sphere[0].residual
        total = float((unit_R**2).sum())
        return 2 * _sigma(sphere[0]) + math.log(total / (n - 1)) if total else -math.inf
    if name == "high-low-ratio":
        center = float(np.linalg.norm(tokens.center)) * math.sqrt(n)
        if not center:
            return math.inf
        return sigma + math.log(float(np.linalg.norm(R)) / center) - float(to_numpy(tokens.log_center)[0, 0])
    kind = frobenius if name == "mu-ratio" else composite
    return sigma - unit + math.log(float(kind(R)) / float(kind(X)))


def _attentions(net: Network, l: int, X: Floats, unit: float) -> list[Floats]:
    """The attention matrices of layer l on its own input e^unit X, by the definition; none where doubles overflow."""
    layer = Network.from_layers([net.sublayers[l]])
    if not layer.attentions:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        tokens = X * np.exp(unit)
        found = [P for matrices in matrices_by_layer(Float64(tokens), layer, tokens) for P in matrices]
    return found if all(np.isfinite(P).all() for P in found) else []


# -- balls -------------------------------------------------------------------------------------------------


def _measured_balls(net: Network, X: Array, metrics: Sequence[str], bits: int) -> Columns:
    from rankmath.arithmetic.ball_matrices import MatrixBalls
    from rankmath.arithmetic.balls import precision

    found: dict[str, list[Number]] = {name: [] for name in metrics}
    with precision(bits):
        A = MatrixBalls()
        masks = net.masks_for(int(X.shape[-2]))
        before: Array | None = None
        for l, tokens in enumerate(layers_centred(A, net, X)):
            center, R = A.array(tokens.center), A.array(tokens.residual)
            whole = center + R
            matrices: list[Array] = []
            for name in metrics:
                if name in ATTENTION_METRICS:
                    if before is not None and not matrices:
                        matrices = list(_ball_attentions(A, net, l - 1, before, masks))
                    sides = [ATTENTION_METRICS[name](P) for P in matrices]
                    found[name].append(sum(sides[1:], sides[0]) / len(sides) if sides else None)
                else:
                    found[name].append(_BALL_METRICS[name](whole, center, R))
            before = whole
        values = {name: _floats(column, _middle) for name, column in found.items()}
        logs = {name: _floats(column, _log_middle) for name, column in found.items() if name in VANISHING}
    return Columns(values, logs, "balls", {name: tuple(column) for name, column in found.items()})


def _ball_gap(X: Array, center: Array, R: Array) -> Number:
    """1 − mean cosine = Σ_{i<j} ‖û_i − û_j‖²/(n(n−1)), from the residual where tokens are nearly parallel.

    With v = ⟨x_i, x_j⟩ and a, b the squared lengths, 1 − cos = (ab − v²)/(√(ab)(√(ab) + v)) and
    ab − v² = a‖x_i − x_j‖² − ⟨x_i, x_i − x_j⟩² : no difference of nearly equal numbers but in R.
    """
    n = len(X)
    squares = [sum((x * x for x in row[1:]), row[0] * row[0]) for row in X]
    total: Number = 0
    for i in range(n):
        for j in range(i + 1, n):
            step = R[i] - R[j]
            length = sum((s * s for s in step[1:]), step[0] * step[0])
            along = sum((x * s for x, s in zip(X[i], step, strict=True)), 0 * step[0])
            v = squares[i] - along
            root = (squares[i] * squares[j]).sqrt()
            stable = (squares[i] * length - along * along) / (root * (root + v))
            total = total + (stable if v > 0 else 1 - v / root)
    return total * 2 / (n * (n - 1))


def _of(metric: Callable[[Array], Number], place: int, *parts: Array) -> Number:
    """Of the tokens (place 0), or of their residual (2)."""
    return metric(parts[place])


def _of_both(norm: Callable[..., Array], X: Array, center: Array, R: Array) -> Number:
    return size_of(norm, R) / size_of(norm, X)


_BALL_METRICS: dict[str, Callable[[Array, Array, Array], Number]] = {
    **{name: partial(_of, f, 0) for name, f in TOKEN_METRICS.items()},
    "relative-residual": partial(_of_both, composite),
    "mu-ratio": partial(_of_both, frobenius),
    "high-low-ratio": lambda X, c, R: size_of(frobenius, R) / size_of(frobenius, c + 0 * R),
    **{name: partial(_of, TOKEN_METRICS[name], 2) for name in (*CENTRED, "dirichlet-energy")},
    "mean-average-distance": _ball_gap,
    "cosine-gap": _ball_gap,
}


def _ball_attentions(
    A: ObjectArithmetic, net: Network, l: int, X: Array, masks: dict[int, Mask | None]
) -> Iterator[Array]:
    """Enclosures of the attention matrices of layer l, by the definition."""
    first = net.sublayers[l][0]
    if first.attention is None:
        raise InvalidArgument("metric: attention in balls needs layers that begin with it")
    Y, mask, nothing = A.asarray(X), masks[id(first.attention)], A.log(A.asarray(np.zeros((1, 1))))
    for logits in logits_of(A, first.attention, Y if first.before is None else layer_norm(A, first.before, Y)):
        yield A.array(softmax(A, logits if mask is None else A.where(mask.allowed, logits, nothing)))


def _middle(x: Number) -> float:
    return math.nan if x is None else float(x.mid())


def _log_middle(x: Number) -> float:
    if x is None:
        return math.nan
    if x.is_zero():
        return -math.inf
    return float(x.log().mid()) if x > 0 else math.nan


def _floats(column: list[Number], reader: Callable[[Number], float]) -> Floats:
    return np.asarray([reader(x) for x in column])
