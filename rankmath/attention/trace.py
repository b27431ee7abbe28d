"""`trace`: one network, depth by depth, centred and in log scale, in a chosen arithmetic."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, TypeAlias

import numpy as np

from rankmath.arithmetic.distances import square_diameter
from rankmath.arithmetic.float64 import Float64, to_numpy
from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.arithmetic.protocol import System
from rankmath.arithmetic.scales import LogScale
from rankmath.attention.alone import centre_on_cpu, centre_on_gpu, layers_on_cpu, layers_on_gpu, measured_on_cpu
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.centred import sublayer_step
from rankmath.attention.plain import check_input
from rankmath.attention.tokens import Tokens, about_mean, centre
from rankmath.attention.views import in_row_blocks
from rankmath.attention.weights import sizes_of
from rankmath.drawing import draw_decay
from rankmath.kernels import compiled
from rankmath.linalg.residuals import RESIDUAL_NORMS, ResidualNorm, residual
from rankmath.model.network import Attention, Network
from rankmath.printing import Sheet, Shows, digits
from rankmath.validation import (
    Array,
    ArrayLike,
    Axes,
    Bools,
    Floats,
    InvalidArgument,
    Json,
    Number,
    as_choice,
    as_count,
    fits_in_memory,
)

#: The logarithms of residual, diameter and mean, by layer.
Scales: TypeAlias = tuple[LogScale, LogScale, LogScale]
#: With `bits=None` the precision is doubled until every log_residual is known this well, relative to max(1, |log|).
BALL_TOLERANCE = 1e-12
#: Upper limit of that doubling, in bits.
MOST_BITS = 16384
# A trace that takes this many seconds is long.
_LONG = 3.0
# Order tokens by length before comparing pairs from this many tokens.
_MANY_TOKENS = 64


class PrecisionError(ArithmeticError):
    """No precision up to the cap gave tight enough enclosures."""


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Shows):
    """How the residual of every layer shrinks.

    Attributes
    ----------
    log_residual : (L+1, ...) natural logarithms of ‖res(X^l)‖, entry 0 the input; −inf for an exact zero, and where
        the logarithm itself leaves a double (then `log_log_residual` still holds it).
    log_log_residual : log(−log‖res(X^l)‖); nan where ‖res‖ ≥ 1.
    log_diameter : (L+1, ...) logarithms of Δ₂.
    log_mean : (L+1, ...) logarithms of the mean token's 2-norm.
    order : (L, ...) the ratios log‖res(X^{l+1})‖/log‖res(X^l)‖; 3 in the limit for attention alone (own:order).
    lost_bits : (L+1, ...) how many of a double's 53 bits the residual was seen to lose to cancellation by then
        (float64; 0 otherwise). Where a saturated softmax attends only to tokens that are equal, exactly or to
        rounding, all count as lost: float64 cannot tell which it is.
    log_residual_lower, log_residual_upper : rigorous bounds, rounded outward (balls only).
    values : the logarithms of the residual in the arithmetic that ran: mpf or arb (None for float64).
    diameters : likewise for the diameter.
    center, log_center : the last layer's mean is e^{log_center}·center (float64), or center itself.
    norm, arithmetic, bits : what it was measured in.
    """

    net: Network
    norm: ResidualNorm
    arithmetic: str
    found: Floats | Scales = field(repr=False)  # `Run.log` of float64, or the logarithms
    center: Array = field(repr=False)
    values: tuple[Number, ...] | None = field(repr=False, default=None)
    diameters: tuple[Number, ...] | None = field(repr=False, default=None)
    bits: int = 53

    @cached_property
    def _rows(self) -> Floats:
        """`Run.log` by column, (7, L+1, ...)."""
        log, batch = np.asarray(self.found), self.center.shape[:-1]
        return log.transpose(2, 1, 0).reshape(log.shape[2], log.shape[1], *batch)

    @cached_property
    def _scales(self) -> Scales:
        """Residual, diameter and mean, (L+1, ...) each; of float64 made when they are asked for: a small network
        takes no longer than that."""
        if isinstance(self.found, tuple):
            return self.found
        xi, mantissa, exponent, _ = self._rows[:4]
        with np.errstate(divide="ignore"):
            residual, diameter, mean = np.log(self._rows[4:])
        of_tokens = LogScale(mantissa, exponent)
        return of_tokens.plus(residual), of_tokens.plus(diameter), LogScale.of(xi + mean)

    @property
    def residual_scale(self) -> LogScale:
        """Residuals of every layer, as numbers with logarithms."""
        return self._scales[0]

    @property
    def diameter_scale(self) -> LogScale:
        """Diameters of every layer, as numbers with logarithms."""
        return self._scales[1]

    @property
    def mean_scale(self) -> LogScale:
        """Lengths of the mean token of every layer, as numbers with logarithms."""
        return self._scales[2]

    @cached_property
    def lost_bits(self) -> Floats:
        if isinstance(self.found, tuple):
            return np.zeros(self.residual_scale.mantissa.shape)
        lost: Floats = self._rows[3]
        return lost

    @property
    def log_center(self) -> Array:
        """The logarithm of the unit of the last mean; None where the tokens were found as they are."""
        return None if isinstance(self.found, tuple) else self._rows[0, -1]

    @cached_property
    def log_residual(self) -> Floats:
        return to_numpy(self.residual_scale.to_float())

    @cached_property
    def log_log_residual(self) -> Floats:
        return to_numpy(self.residual_scale.log_minus())

    @cached_property
    def log_diameter(self) -> Floats:
        return to_numpy(self.diameter_scale.to_float())

    @cached_property
    def log_mean(self) -> Floats:
        return to_numpy(self.mean_scale.to_float())

    @cached_property
    def order(self) -> Floats:
        return to_numpy(self.residual_scale[1:].ratio(self.residual_scale[:-1]))

    @cached_property
    def log_residual_lower(self) -> Floats:
        from rankmath.arithmetic.balls import lower_float

        return _per_ball(lower_float, self._balls("log_residual_lower"))

    @cached_property
    def log_residual_upper(self) -> Floats:
        from rankmath.arithmetic.balls import upper_float

        return _per_ball(upper_float, self._balls("log_residual_upper"))

    def _balls(self, name: str) -> tuple[Number, ...]:
        if self.arithmetic != "balls" or self.values is None:
            raise AttributeError(
                f"{name} is rigorous and needs arithmetic='balls'; this trace ran in {self.arithmetic}"
            )
        return self.values

    def to_dict(self) -> dict[str, Json]:
        """The logarithms by layer as plain data; None stands for what is not a finite number."""
        return {"norm": self.norm, "arithmetic": self.arithmetic, "layers": self.rows()}

    def rows(self) -> list[dict[str, float | None]]:
        """The logarithms of each layer by name."""
        columns = {"log_residual": self.log_residual, "log_log_residual": self.log_log_residual}
        columns |= {"log_diameter": self.log_diameter}
        if self.arithmetic == "balls":
            columns |= {"log_residual_lower": self.log_residual_lower, "log_residual_upper": self.log_residual_upper}
        rows: list[dict[str, float | None]] = []
        for l in range(len(self.log_residual)):
            row: dict[str, float | None] = {"layer": l}
            row |= {name: _plain(values[l]) for name, values in columns.items()}
            row["order"] = _plain(self.order[l - 1]) if l and self.decays[l - 1].all() else None
            rows.append(row)
        return rows

    @cached_property
    def decays(self) -> Bools:
        """(L, ...) where an order of decay means something: the residual is below 1, and shrinks."""
        logs = self.log_residual
        return (logs[:-1] < 0) & (logs[1:] < logs[:-1])

    def sheet(self) -> Sheet:
        shape = self.log_residual.shape[1:]
        title = f"Trace: {self.net.layers} layers, {self.norm} residual, {self.arithmetic}, natural logarithms"
        if shape:
            return Sheet(f"{title}; a batch of {' × '.join(map(str, shape))}")
        ordered = bool(self.decays.any())
        names = ("layer", "log residual", "log diameter", *(("order",) if ordered else ()))
        rows = []
        for l in range(len(self.log_residual)):
            row = [str(l), digits(float(self.log_residual[l]), 8), digits(float(self.log_diameter[l]), 8)]
            if ordered:
                row.append(digits(float(self.order[l - 1]), 5) if l and self.decays[l - 1] else "")
            rows.append(tuple(row))
        return Sheet(title, self._doubt(), names, tuple(rows))

    def _doubt(self) -> tuple[tuple[str, str], ...]:
        """From which layer on cancellation may have left less than half of the digits."""
        lost = np.flatnonzero(self.lost_bits > 26)
        if not lost.size:
            return ()
        bits = min(53, int(self.lost_bits[lost[-1]]))
        return (("rounding", f'may have taken {bits} of 53 bits from layer {lost[0]} on; arithmetic="balls" knows'),)

    def plot(self, ax: Axes = None) -> Axes:
        """The residual by depth as matplotlib axes; doubly logarithmic where it collapses that fast."""
        return draw_decay(self.log_residual, self.log_log_residual, ax)

    @cached_property
    def weight_norms(self) -> dict[str, Floats]:
        """Norms of the weights that the bounds are made of, each (L, H), float64.

        ``W_QK_one`` ‖W_QK‖₁, ``W_composite`` ‖W‖_{1,∞}, ``W_QK_max``, ``W_inf`` ‖W‖_∞, and the spectral norms
        ``W_QK_two``, ``W_two``.
        """
        from rankmath.linalg.norms import composite, norm_inf, norm_max, norm_one, spectral

        W_QK, W = self.net.W_QK, self.net.W
        return {
            "W_QK_one": to_numpy(norm_one(W_QK)),
            "W_QK_max": to_numpy(norm_max(W_QK)),
            "W_QK_two": to_numpy(spectral(W_QK)),
            "W_composite": to_numpy(composite(W)),
            "W_inf": to_numpy(norm_inf(W)),
            "W_two": to_numpy(spectral(W)),
        }

    @cached_property
    def beta(self) -> Floats:
        """β of each layer: max over heads of ‖W_QK‖₁‖W‖_{1,∞} (dong2021:2.3)."""
        norms = self.weight_norms
        return np.asarray(np.max(norms["W_QK_one"] * norms["W_composite"], axis=1))


def trace(
    net: Network,
    X: ArrayLike,
    norm: ResidualNorm = "frobenius",
    *,
    arithmetic: Literal["float64", "mpmath", "balls"] = "float64",
    dps: int | None = None,
    bits: int | None = None,
    backend: Backend | None = None,
    memory: int | None = None,
) -> Trace:
    """Run the centred, log-scaled pass and record the residual of every layer.

    Parameters
    ----------
    net : the network.
    X : tokens, (..., n, d).
    norm : "frobenius" (about the mean), or "one", "inf", "composite" (about the minimising center; no batch).
    arithmetic : "float64", "mpmath" (`dps` digits, 50 unless given; Frobenius norm only) or "balls" (rigorous;
        `bits` of precision, raised until every enclosure is tight unless given).
    backend : "numpy" or "cupy" copies the network and X there first; None runs where they are.
    memory : bytes that blocks of the n × n logits may take (float64); unless given, what suits the cache, or on a
        GPU a part of what is free.

    Notes
    -----
    In float64 the residual keeps full relative accuracy (some units in the last place a layer, times its condition
    number) for attention without a mask or with key padding, any number of heads, biases, skips, MLPs and the
    column LayerNorm, whatever the scales of weights and tokens, while it is a sum of parts no larger than itself.
    `lost_bits` counts what is lost where it is not: when heads or skip cancel; under any other mask, at most the
    factor ‖P (R − 1R_j)‖/‖res(P R)‖ a layer, j a token that all rows see if there is one; in sphere and
    standard LayerNorm, at most ‖R‖/‖R⊥‖, R⊥ the part of R across the mean; when saturated attention makes tokens
    equal to rounding and then looks at these alone. A mean that is the
    difference of nearly equal terms (λ = −1, say) has the accuracy of that difference, and so have the logits it
    makes. Logits beyond 1e305 count as 1e305. A tanh or GELU so far in its tail, or a LayerNorm, that the residual
    shrinks by a factor below 1e-300 at once may leave −inf. Balls show all of this in their radii, and have none of
    the limits of range.

    Examples
    --------
    >>> from rankmath.model.network import Network
    >>> net = Network.random(tokens=8, dim=4, heads=2, layers=40, seed=0)
    >>> t = trace(net, net.random_input(seed=1))
    >>> bool(t.log_residual[40] < -1e17), round(float(t.order[-1]), 12)
    (True, 3.0)
    >>> b = trace(net, net.random_input(seed=1), arithmetic="balls")
    >>> bool(b.log_residual_upper[40] < -1e17)  # proved
    True
    """
    X = check_input(net, X, look=backend is not None)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    as_choice("norm", norm, RESIDUAL_NORMS)
    as_choice("arithmetic", arithmetic, ("float64", "mpmath", "balls"))
    if norm != "frobenius" and X.ndim != 2:
        raise InvalidArgument(
            f"norm: {norm!r} given with a batch of shape {tuple(X.shape)}; a batch takes 'frobenius' only"
        )
    for name, given, taker in (("dps", dps, "mpmath"), ("bits", bits, "balls"), ("memory", memory, "float64")):
        if given is not None and arithmetic != taker:
            raise InvalidArgument(f"{name}: {given} given with arithmetic {arithmetic!r}; only {taker!r} takes it")
    if arithmetic == "float64":
        began = time.perf_counter()
        found = _trace_float(net, X, norm, None if memory is None else as_count("memory", memory))
        if time.perf_counter() - began > _LONG:
            _say_what_is_faster()
        return found
    if not isinstance(X, np.ndarray):
        raise InvalidArgument(f"arithmetic: {arithmetic!r} given with arrays on a device; pass backend='numpy'")
    # An object for each logit of a head, some 100 bytes each, and one for each number of the tokens.
    fits_in_memory(
        f"X: {X.shape[-2]} tokens given with arithmetic {arithmetic!r}", 100.0 * X.shape[-2] * sum(X.shape[-2:])
    )
    if arithmetic == "mpmath":
        return _trace_mpmath(net, X, norm, as_count("dps", 50 if dps is None else dps, least=5, most=10**6))
    if bits is not None:
        return _trace_balls(net, X, norm, as_count("bits", bits, least=2, most=2**22))
    return _trace_tight_balls(net, X, norm)


@cache
def _say_what_is_faster() -> None:
    """Once in a process, and only where the compiler is missing, or too old."""
    if not compiled.has_compiler():
        logging.getLogger("rankmath").warning(
            "a long trace in NumPy: pip install 'rankmath[fast]' compiles layers of attention alone: "
            "1.5 to 3 times as fast with hundreds of tokens, 20 to 300 times with few"
        )


def _trace_float(net: Network, X: Array, norm: ResidualNorm, memory: int | None) -> Trace:
    A = Float64(X, memory=memory)
    if norm == "frobenius":
        run = (layers_on_gpu if A.on_gpu else layers_on_cpu)(A, net, X)
        if run is not None:
            return _trace_of(net, run.log, run.center)
    X = check_input(net, X) if A.on_gpu else X
    units, found = [], []
    # BLAS would wake its threads from this many multiplications; our own threads share what is large.
    with A.blas_alone(X.size * max(X.shape)):
        for tokens in layers_centred(A, net, X):
            sigma = tokens.log_residual
            units.append((tokens.log_center, sigma.mantissa, sigma.exponent, to_numpy(tokens.lost_bits)))
            found.append(_measured(A, tokens, norm))
    # Transfer once, at the end, because every number that is asked for makes a GPU wait.
    sizes = A.unit_of(A.xp.stack(found))
    log = np.concatenate([np.asarray(units)[..., 0, 0], sizes], axis=1)
    return _trace_of(net, log.reshape(*log.shape[:2], -1).transpose(2, 0, 1), tokens.center, norm)


def _trace_of(net: Network, log: Floats, center: Array, norm: ResidualNorm = "frobenius") -> Trace:
    """The float64 trace from `Run.log` of all layers, and the last center."""
    return Trace(net, norm, "float64", log, center[..., 0, :])


def _trace_mpmath(net: Network, X: Array, norm: ResidualNorm, dps: int) -> Trace:
    from rankmath.arithmetic.multiprecision import Multiprecision

    if norm != "frobenius":
        raise InvalidArgument(
            f"norm: {norm!r} given with arithmetic 'mpmath'; it takes 'frobenius' only, balls take all"
        )
    A = Multiprecision(dps)
    return _trace_objects(A, net, X, norm, A.bits())


def _trace_balls(net: Network, X: Array, norm: ResidualNorm, bits: int) -> Trace:
    from rankmath.arithmetic.ball_matrices import MatrixBalls
    from rankmath.arithmetic.balls import Balls, precision

    with precision(bits):
        A = MatrixBalls() if X.ndim == 2 and not net.batch_shape else Balls()
        return _trace_objects(A, net, X, norm, bits)


def _trace_tight_balls(net: Network, X: Array, norm: ResidualNorm) -> Trace:
    # An LP vertex from float64 is good to 1e-9: no precision makes such an enclosure tighter.
    tolerance = BALL_TOLERANCE if norm in ("frobenius", "one") else 1e-8
    bits = 128 + 8 * net.layers
    while True:
        result = _trace_balls(net, X, norm, min(bits, MOST_BITS))
        wide = [
            (l, x) for l, logs in enumerate(result.values or ()) for x in np.ravel(logs) if not _is_tight(x, tolerance)
        ]
        if not wide:
            return result
        if bits >= MOST_BITS:
            loose, x = wide[0]
            raise PrecisionError(
                f"layer {loose}: {MOST_BITS} bits leave log_residual at {x}; pass bits= for the enclosure as it is"
            )
        bits *= 2


def _is_tight(x: Number, tolerance: float) -> bool:
    if not x.is_finite():
        return bool(x == type(x).neg_inf())  # an exact zero residual is as tight as can be
    return bool(x.rad() <= tolerance * (1 + abs(x)))


def _trace_objects(A: ObjectArithmetic, net: Network, X: Array, norm: ResidualNorm, bits: int) -> Trace:
    from rankmath.linalg.exact_residuals import log_diameter, log_residual

    values, diameters, means = [], [], []
    for tokens in layers_centred(A, net, X):
        R = A.array(tokens.residual)
        values.append(log_residual(A.on_arrays, R, norm))
        diameters.append(log_diameter(A.on_arrays, R))
        means.append(log_residual(A.on_arrays, A.array(tokens.center), "frobenius"))
    return Trace(
        net,
        norm,
        A.name,
        (_as_scale(A.on_arrays, values), _as_scale(A.on_arrays, diameters), _as_scale(A.on_arrays, means)),
        tokens.center[..., 0, :],
        values=tuple(values),
        diameters=tuple(diameters),
        bits=bits,
    )


def _as_scale(A: ObjectArithmetic, logs: list[Number]) -> LogScale:
    """The nearby doubles of mpf or arb logarithms, with an exponent where they leave the range."""
    boxed = np.asarray(logs, dtype=object)
    pairs = [A.float_and_exponent(x) for x in boxed.flat]
    mantissa, exponent = np.asarray(pairs, dtype=float).T.reshape(2, *boxed.shape)
    return LogScale(mantissa, exponent)


def layers_centred(A: System, net: Network, X: Array, first: Tokens | None = None) -> Iterator[Tokens]:
    """The tokens of every layer in centred form, the input (or `first`, what was made of it) before all."""
    masks, sizes = net.masks_for(int(X.shape[-2])), sizes_of(A, net)
    if first is None and not A.unbounded:
        first = (centre_on_gpu if A.on_gpu else centre_on_cpu)(A, X)
    tokens = centre(A, X) if first is None else first
    yield tokens
    # Where no average moves the first token, differences from it keep their digits however unequal they are.
    fixed = not A.unbounded and all(
        isinstance(s.map, Attention)
        and s.before is s.behind is s.after is None
        and (mask := masks[id(s.map)]) is not None
        and mask.first_alone
        for layer in net.sublayers
        for s in layer
    )
    for layer in net.sublayers:
        for sublayer in layer:
            tokens = sublayer_step(A, sublayer, tokens, masks, sizes, fixed=fixed)
        yield about_mean(A, tokens) if fixed and isinstance(A, Float64) else tokens


def residual_size(A: Float64, R: Array, norm: ResidualNorm) -> Array:
    """‖res(R)‖ for R with mean zero."""
    if norm == "frobenius":
        return A.xp.sqrt(A.xp.sum(R * R, axis=(-2, -1)))
    if norm == "one" and A.on_gpu:
        # Each point between the two middle entries of a column is a median.
        medians = A.xp.sort(R, axis=-2)[..., R.shape[-2] // 2, :][..., None, :]
        return A.xp.max(A.xp.sum(A.xp.abs(R - medians), axis=-2), axis=-1)
    return A.xp.asarray(residual(R, norm=norm).value)


def _measured(A: Float64, tokens: Tokens, norm: ResidualNorm) -> Array:
    """Residual, Δ₂ and the mean's 2-norm, each in the unit of what it is made of, (3, ...)."""
    xp, R, x = A.xp, tokens.residual, tokens.center
    if A.on_gpu and norm == "frobenius":
        from rankmath.kernels.cuda_layer import plan_here

        plan = plan_here(R.shape, 0)
        if plan is not None:
            sizes = plan.measure(A.xp.ascontiguousarray(R), A.xp.ascontiguousarray(x))
            return sizes.reshape(3, *R.shape[:-2])
    sizes = measured_on_cpu(A, x, R) if norm == "frobenius" else None
    if sizes is not None:
        return sizes
    many = isinstance(R, np.ndarray) and R.ndim == 2 and len(R) >= _MANY_TOKENS
    squares = np.einsum("ij,ij->i", R, R)[:, None] if many else A.sum(R * R, axis=-1)
    of_mean = xp.sum(x * x, axis=(-2, -1))
    far = xp.maximum(_square_diameter(A, R, squares), 0.0)
    if norm == "frobenius":
        return xp.sqrt(xp.stack([xp.sum(squares, axis=(-2, -1)), far, of_mean]))
    return xp.stack([residual_size(A, R, norm), xp.sqrt(far), xp.sqrt(of_mean)])


def _square_diameter(A: Float64, R: Array, squares: Array) -> Array:
    """Δ₂² of rows with mean zero. None of them is longer than Δ₂, so ‖R_i‖² + ‖R_j‖² − 2R_i·R_j hardly cancels."""
    n = R.shape[-2]
    if isinstance(R, np.ndarray) and R.ndim == 2 and n >= _MANY_TOKENS and not A.cuts_finely:
        return np.asarray(square_diameter(A, R, squares))
    if A.on_gpu:
        left, right = R, R
    else:  # the sum itself as a product: no pass over an n × n matrix but the last
        ones = A.xp.ones_like(squares)
        left, right = A.concat([-2.0 * R, squares, ones], axis=-1), A.concat([R, ones, squares], axis=-1)

    def farthest(rows: Array, start: int) -> Array:
        """The largest of each row, of columns from the diagonal on at least."""
        products = A.passing_product(rows, A.transpose(right[..., start:, :]))
        return A.farthest(products, squares) if A.on_gpu else A.max(products, axis=-1)

    return A.max(in_row_blocks(A, farthest, left, n, least=4), axis=-2)[..., 0, 0]


def _plain(x: Number) -> Number:
    """A number or list for JSON, which knows no infinities."""
    values = np.asarray(x, dtype=float)
    if values.ndim:
        return [_plain(value) for value in values]
    return float(values) if np.isfinite(values) else None


def _per_ball(bound: Callable[[Number], float], balls: tuple[Number, ...]) -> Floats:
    return np.asarray(np.frompyfunc(bound, 1, 1)(np.asarray(balls, dtype=object)), dtype=float)
