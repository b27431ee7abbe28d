"""Closed forms near a number that was seen: rationals, roots, simple functions of a size. Guesses, no proofs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

#: What was seen lies below what it approaches, by at most this much of it.
_CLOSE = 1e-4
_CLOSE_BY_SIZE = 2e-3
#: Numbers rise with a size by this power of it at least, and the last step's is not below this part of the one before.
_POWER, _STEADY = 0.1, 0.5

#: Functions of a size k, as texts of the language, from the simplest on.
_FUNCTIONS: dict[str, Callable[[int], float]] = {
    "1": lambda k: 1.0,
    "{k}": float,
    "sqrt({k})": math.sqrt,
    "1/{k}": lambda k: 1 / k,
    "1/sqrt({k})": lambda k: 1 / math.sqrt(k),
    "({k} - 1)": lambda k: k - 1.0,
    "sqrt({k} - 1)": lambda k: math.sqrt(k - 1),
    "({k} - 1)/{k}": lambda k: (k - 1) / k,
    "sqrt(({k} - 1)/{k})": lambda k: math.sqrt((k - 1) / k),
    "{k}/({k} - 1)": lambda k: k / (k - 1) if k > 1 else math.nan,
    "({k} + 1)": lambda k: k + 1.0,
    "{k}**2": lambda k: float(k * k),
    "log({k})": math.log,
    # The pairs between two halves, over the number of all.
    "floor({k}/2)*({k} - floor({k}/2))/{k}": lambda k: (k // 2) * (k - k // 2) / k,
    "sqrt(floor({k}/2)*({k} - floor({k}/2))/{k})": lambda k: math.sqrt((k // 2) * (k - k // 2) / k),
}


def constant(value: float, close: float = _CLOSE, *, up: bool = True) -> str:
    """A rational number or a multiple of a root a little above the value (below it, if not `up`); else nothing.

    Numerators of three digits and more fit anything.

    >>> constant(0.24999), constant(1.15469), constant(0.7071), constant(0.1234567)
    ('1/4', '2*sqrt(3)/3', 'sqrt(2)/2', '')
    """
    for c in (1, 2, 3, 5, 6):
        for q in range(1, 13):
            p = round(value * q / math.sqrt(c))
            above = (p * math.sqrt(c) / q / value - 1) * (1 if up else -1)
            near = 0 < p < 100 and -1e-9 <= above < close
            if near and math.gcd(p, q) == 1:
                told = ("" if p == 1 and c > 1 else f"{p}*" if c > 1 else f"{p}") + (f"sqrt({c})" if c > 1 else "")
                return told if q == 1 else f"{told}/{q}"
    return ""


def function(letter: str, sizes: Sequence[int], values: Sequence[float]) -> str:
    """A multiple of a simple function of a size that lies a little above all the values; else nothing.

    Three sizes are needed: two fit too much.

    >>> function("n", (2, 3, 4), (1.4142, 1.7320, 1.9999)), function("H", (1, 2, 3), (0.5, 1.0, 1.4999))
    ('sqrt(n)', '1/2*H')
    >>> function("d", (1, 2, 3), (0.25, 0.25, 0.25)), function("n", (2, 3, 4), (1, 1.1547, 1.41421))
    ('1/4', 'sqrt(2)*sqrt(floor(n/2)*(n - floor(n/2))/n)')
    """
    if len(sizes) < 3 or min(values) <= 0:
        return ""
    for shown, f in _FUNCTIONS.items():
        shares = [value / f(size) if f(size) else math.nan for size, value in zip(sizes, values, strict=True)]
        if not all(map(math.isfinite, shares)) or max(shares) > min(shares) * (1 + _CLOSE_BY_SIZE):
            continue
        if factor := constant(max(shares)) or constant(max(shares), _CLOSE_BY_SIZE):
            named = shown.format(k=letter)
            return factor if shown == "1" else named if factor == "1" else f"{factor}*{named}"
    return ""


def rises(sizes: Sequence[int], values: Sequence[float]) -> bool:
    """Whether numbers seen at several sizes rise with no end in sight: at the last two steps by a power of the size
    that is not small, nor much smaller at the last one.

    >>> sizes = (2, 3, 4, 6, 8, 16, 32)
    >>> rises(sizes, [n**0.5 for n in sizes]), rises(sizes, [2 - 2 / n for n in sizes])
    (True, False)
    """
    if len(sizes) < 3 or min(values) <= 0:
        return False
    points = [*zip(map(math.log, sizes), map(math.log, values), strict=True)][-3:]
    before, last = ((y - v) / (x - u) for (u, v), (x, y) in pairwise(points))
    return min(before, last) >= _POWER and last >= _STEADY * before
