"""How fast the residual decays (own:order): order, constant, and where doubles no longer see it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankmath.arithmetic.balls import ball, lower_float, precision, upper_float
from rankmath.attention import trace as traces
from rankmath.attention.trace import PrecisionError, Trace, trace
from rankmath.linalg.residuals import ResidualNorm
from rankmath.model.network import Network
from rankmath.printing import Sheet, Shows, digits
from rankmath.validation import ArrayLike, Axes, Floats, InvalidArgument, Number, as_count, as_real

#: Unit roundoff of the arithmetics a plain pass may run in.
UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8}


@dataclass(frozen=True, eq=False, repr=False)
class Decay(Shows):
    """The decay of a_l = ‖res(X^l)‖ along the layers of one network, read from a trace in balls.

    Attributes
    ----------
    order : (L−1,) local orders p_l = log(a_{l+1}/a_l)/log(a_l/a_{l−1}), l = 1, …, L−1; → 3 for attention alone.
    order_lower, order_upper : rigorous bounds of them.
    fitted_order : exp of the slope of log(−log a_l) over the last half of the layers, a fit; nan where a_l ≥ 1.
    log_cubic_ratio : (L,) the numbers log(a_{l+1}/a_l³).
    constant : 3^{−L} log a_L, for the depth L of this network.
    constant_lower, constant_upper : rigorous bounds of it.
    invisible_from : for float64, float32 and bfloat16 the first layer whose residual lies below the rounding of its
        mean, ‖res(X^l)‖_F < u √n ‖mean‖₂, so that a plain pass no longer sees it decay; None if there is none.

    Notes
    -----
    A network of depth L has no limit lim 3^{−l} log a_l; `constant` is its last term. What can be proved about a
    continuation by more layers depends on these: see `limit`.
    """

    trace: Trace
    tokens: int

    def sheet(self) -> Sheet:
        rows = tuple(
            (str(l + 1), digits(float(low), 8), digits(float(high), 8))
            for l, (low, high) in enumerate(zip(self.order_lower, self.order_upper, strict=True))
        )
        facts = (("3^-L log a_L", digits(self.constant, 10)), ("fitted order", digits(self.fitted_order, 5)))
        title = f"Decay: {self.trace.net.layers} layers, {self.tokens} tokens, orders between proved bounds"
        return Sheet(title, facts, ("layer", "order ≥", "order ≤"), rows)

    def plot(self, ax: Axes = None) -> Axes:
        """The residual by depth as matplotlib axes."""
        return self.trace.plot(ax)

    @cached_property
    def order(self) -> Floats:
        return _floats(float(p.mid()) for p in self._orders)

    @cached_property
    def order_lower(self) -> Floats:
        return _floats(lower_float(p) for p in self._orders)

    @cached_property
    def order_upper(self) -> Floats:
        return _floats(upper_float(p) for p in self._orders)

    @cached_property
    def fitted_order(self) -> float:
        logs = self.trace.log_log_residual
        layers = np.arange(len(logs))
        used = (layers >= len(logs) // 2) & np.isfinite(logs)
        return math.exp(np.polyfit(layers[used], logs[used], 1)[0]) if used.sum() >= 2 else math.nan

    @cached_property
    def log_cubic_ratio(self) -> Floats:
        with precision(self.trace.bits):
            return _floats(float((after - 3 * before).mid()) for before, after in pairwise(self._logs))

    @cached_property
    def constant(self) -> float:
        return float(self.constant_ball.mid())

    @cached_property
    def constant_lower(self) -> float:
        return lower_float(self.constant_ball)

    @cached_property
    def constant_upper(self) -> float:
        return upper_float(self.constant_ball)

    @cached_property
    def constant_ball(self) -> Number:
        with precision(self.trace.bits):
            return self._logs[-1] / ball(3) ** (len(self._logs) - 1)

    def limit(self, log_ratio_lower: float, log_ratio_upper: float) -> tuple[float, float]:
        """Bounds of lim 3^{−l} log a_l for every continuation whose log(a_{l+1}/a_l³) stay between the given two.

        3^{−(l+1)} log a_{l+1} − 3^{−l} log a_l = 3^{−(l+1)} log(a_{l+1}/a_l³), and Σ_{l≥L} 3^{−(l+1)} = 3^{−L}/2.
        The bounds are rigorous, the hypothesis is the caller's: its upper half follows from a_{l+1} ≤ C a_l³
        (own:diameter), its lower half from nothing in general, since one layer with W = 0 makes all tokens equal.

        >>> net = Network.random(tokens=4, dim=3, layers=12, seed=0)
        >>> found = decay(net, net.random_input(seed=1))
        >>> low, high = found.limit(-10.0, 10.0)
        >>> low < found.constant < high, high - low < 1e-4
        (True, True)
        """
        low, high = as_real("log_ratio_lower", log_ratio_lower), as_real("log_ratio_upper", log_ratio_upper)
        if low > high:
            raise InvalidArgument(f"log_ratio_lower: {low} given; it must be at most log_ratio_upper, {high}")
        with precision(self.trace.bits):
            tail = 1 / (2 * ball(3) ** (len(self._logs) - 1))
            return lower_float(self.constant_ball + low * tail), upper_float(self.constant_ball + high * tail)

    @cached_property
    def invisible_from(self) -> dict[str, int | None]:
        below = self.trace.log_residual - self.trace.log_mean - math.log(self.tokens) / 2
        unseen = {name: np.flatnonzero(below < math.log(u)) for name, u in UNIT_ROUNDOFF.items()}
        return {name: int(layers[0]) if layers.size else None for name, layers in unseen.items()}

    @property
    def _logs(self) -> tuple[Number, ...]:
        return self.trace.values or ()

    @cached_property
    def _orders(self) -> list[Number]:
        with precision(self.trace.bits):
            steps = [after - before for before, after in pairwise(self._logs)]
            return [after / before for before, after in pairwise(steps)]


def decay(net: Network, X: ArrayLike, norm: ResidualNorm = "frobenius", *, digits: int = 12) -> Decay:
    """Certify how fast the residual of a network decays.

    Parameters
    ----------
    X : tokens, (n, d).
    norm : as for `trace`, which does the work in balls.
    digits : decimal digits of `constant` to certify; precision is raised until they are.

    Examples
    --------
    >>> net = Network.random(tokens=8, dim=4, heads=2, layers=30, seed=0)
    >>> found = decay(net, net.random_input(seed=1))
    >>> bool(found.order_lower[-1] > 3 - 1e-9), bool(found.order_upper[-1] < 3 + 1e-9)  # proved
    (True, True)
    >>> round(found.fitted_order, 6), found.invisible_from
    (3.0, {'float64': 6, 'float32': 6, 'bfloat16': 5})
    """
    digits = as_count("digits", digits)
    result = trace(net, X, norm, arithmetic="balls")
    if result.values is not None and isinstance(result.values[0], np.ndarray):
        raise InvalidArgument(f"X: shape {np.shape(X)} given; the decay of one sequence (n, d) is certified")
    found = Decay(result, int(np.shape(X)[-2]))
    bits = result.bits
    while _digits_proved(found.constant_ball) < digits:
        if bits >= traces.MOST_BITS:
            raise PrecisionError(f"digits: {digits} given; {bits} bits prove {_digits_proved(found.constant_ball):.1f}")
        bits = min(2 * bits, traces.MOST_BITS)
        found = Decay(trace(net, X, norm, arithmetic="balls", bits=bits), found.tokens)
    return found


def _digits_proved(x: Number) -> float:
    # An exact zero residual has the exact constant −∞.
    return math.inf if x.is_exact() else float(x.rel_accuracy_bits()) * math.log10(2)


def _floats(values: Iterable[float]) -> Floats:
    return np.asarray(list(values), dtype=float)
