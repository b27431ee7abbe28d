"""How numbers and names are shown to people, everywhere alike."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches


def quotient(log_ratio: float | None) -> str:
    """exp(log_ratio) in four digits; near 1 its distance from 1, and beyond the doubles a power of ten.

    A logarithm carries some fifteen digits, so closer to 1 than that nothing is claimed.

    Examples
    --------
    >>> [quotient(x) for x in (math.log(0.25), -1e-7, 1e-7, 0.0, -1e-16)]
    ['0.25', '1 - 1.0e-07', '1 + 1.0e-07', '1 to 15 digits', '1 to 15 digits']
    >>> [quotient(x) for x in (-2000.0, 5000.0, -math.inf, math.inf, None)]
    ['2.577e-869', '2.968e+2171', '0', 'inf', '']
    """
    if log_ratio is None or math.isnan(log_ratio):
        return ""
    if math.isinf(log_ratio):
        return "inf" if log_ratio > 0 else "0"
    if abs(log_ratio) < 1e-15:
        return "1 to 15 digits"
    if abs(log_ratio) < 1e-3:
        gap = math.expm1(log_ratio)
        return f"1 {'+' if gap > 0 else '-'} {abs(gap):.1e}"
    if abs(log_ratio) < 700:
        return f"{math.exp(log_ratio):.4g}"
    power = log_ratio / math.log(10)
    return f"{10 ** (power % 1):.4g}e{math.floor(power):+d}"


def log_of(ratio: float) -> float:
    """log of a ratio that may be 0."""
    return math.log(ratio) if ratio > 0 else -math.inf


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing where no name is near.

    Examples
    --------
    >>> did_you_mean("own:diametre", ["own:diameter", "own:tv"])
    "; did you mean 'own:diameter'?"
    >>> did_you_mean("zebra", ["own:diameter", "own:tv"])
    ''
    """
    names = list(known)
    near = get_close_matches(given, names, n=3, cutoff=0.6)
    near = near or [name for name in names if given and given.lower() in name.lower()][:3]
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


__all__ = ["did_you_mean", "log_of", "quotient"]
