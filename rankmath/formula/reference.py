"""The definitions read in mpmath: what a sceptic would compute, with as many digits as the decay eats.

Nothing here is shared with the centred pass but the prediction of how many digits are needed, and that is
checked afterwards: a residual counts only if it stands clear of the rounding of the mean it is subtracted from.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import mpmath
import numpy as np

from rankmath.arithmetic.float64 import to_numpy
from rankmath.arithmetic.multiprecision import Multiprecision
from rankmath.arithmetic.protocol import System
from rankmath.attention.plain import check_one_sequence
from rankmath.attention.trace import trace
from rankmath.formula.text import Text, network_data
from rankmath.linalg.residuals import RESIDUAL_NORMS, ResidualNorm, residual
from rankmath.model.network import MLP, Network
from rankmath.validation import Array, ArrayLike, Bools, Floats, InvalidArgument, Number, as_choice, as_count, as_real

#: mpmath's numbers are untyped.
Rows: TypeAlias = list[list[Number]]

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
    X = to_numpy(check_one_sequence(net, X, "the reference", coded=False))
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
    logs, resolved = [], []
    with mpmath.workdps(digits):
        for rows in tokens_by_text(Multiprecision(digits), net, X):
            log, relative = _log_residual(rows, norm)
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
    n, d = map(int, X.shape)
    held = n * n + n * (4 * d + 2 * max(_hidden_widths(net), default=0))  # numbers
    memory = held * (digits * math.log2(10) / 8 + 200)
    allowed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 4  # a quarter of the machine's memory
    if memory > allowed:
        raise InvalidArgument(
            f"digits: about {digits:.3g} are needed{why}; {memory:.3g} bytes at least, allowed are {allowed:.3g}"
        )
    seconds = _seconds_needed(net, X, digits)
    if seconds > budget:
        raise InvalidArgument(
            f"digits: about {digits:.3g} are needed{why}; some {seconds:.3g} s, budget_seconds allows {budget:.3g}"
        )


def _hidden_widths(net: Network) -> list[int]:
    maps = [f for layer in net.sublayers for s in layer for f in s.maps if isinstance(f, MLP)]
    return [int(f.W_in.shape[1]) * (1 if f.W_gate is None else 2) for f in maps]


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


# -- the text ----------------------------------------------------------------------------------------------


def tokens_by_text(A: System, net: Network, X: Array) -> Iterator[Rows]:
    """The tokens after every layer, the input first, as the definitions say."""
    text = Text(A, {**network_data(A, net, X), "layernorm": "none"})  # the input as it is given
    try:
        for layer in range(net.layers + 1):
            yield [[text.lifted(x) for x in row] for row in text.apply("X", [Fraction(layer)])]
    except ZeroDivisionError:
        raise InvalidArgument("X: a token is zero before LayerNorm; it has no direction") from None


def _log_residual(rows: Rows, norm: ResidualNorm) -> tuple[float, float]:
    """log‖res‖, and the logarithm of the residual's largest entry over that of the tokens."""
    first = rows[0]
    R = [[a - b for a, b in zip(row, first, strict=True)] for row in rows]
    largest = max(abs(a) for row in R for a in row)
    if not largest:
        return -math.inf, -math.inf
    height = max(abs(a) for row in rows for a in row)
    # Over their largest entry the differences are doubles as good as any.
    scaled = np.asarray([[float(a / largest) for a in row] for row in R])
    log = float(mpmath.log(largest)) + math.log(residual(scaled, norm=norm).value)
    return log, float(mpmath.log(largest / height))
