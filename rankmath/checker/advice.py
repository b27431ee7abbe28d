"""Advice: guesses that the rules put to the proof. Nothing here is trusted, and no reader of the kernel needs it.

Whatever a function here returns, a rule that uses it concludes nothing false; at worst it concludes nothing. They
are given exact numbers (the middles of intervals), work in decimals of about twice the bits, and call `tick`, which
ends what takes too long.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar

from rankmath.checker.intervals import Interval, Number, Undecided, flat, nested

Rows: TypeAlias = Sequence[Sequence[Fraction]]
Tick: TypeAlias = Callable[..., None]
Values: TypeAlias = Number | Sequence["Values"]
Field = TypeVar("Field", Fraction, Decimal)

MAX_EXACT = 2**14  # columns times bits of an entry, for an elimination in fractions


def _decimals(A: Rows, tick: Tick) -> list[list[Decimal]]:
    def near(x: Fraction) -> Decimal:
        tick()
        return Decimal(x.numerator) / x.denominator

    return [[near(x) for x in row] for row in A]


def _echelon(A: Sequence[Sequence[Field]], tick: Tick) -> tuple[list[int], list[int], list[list[Field]]]:
    """Rows and columns of the pivots, and the rows of the reduced echelon form that are not zero."""
    rows = [list(row) for row in A]
    left: list[int] = list(range(len(A)))
    I: list[int] = []
    J: list[int] = []
    for a in range(len(A[0])):
        best = max(left, key=lambda i: abs(rows[i][a]), default=-1)
        if best >= 0 and rows[best][a] != 0:
            pivot = rows[best]
            for b in reversed(range(a, len(pivot))):  # the pivot itself last
                tick()
                pivot[b] /= pivot[a]
            for i in {*left, *I} - {best}:
                tick()
                other = rows[i]
                if other[a] != 0:
                    other[a:] = [x - other[a] * p for x, p in zip(other[a:], pivot[a:], strict=True)]
            left.remove(best)
            I.append(best)
            J.append(a)
    return I, J, [rows[i] for i in I]


def inverse(bits: int, tick: Tick, A: Rows) -> list[list[Decimal]]:
    """About the inverse of A."""
    beside = [[*row, *(Decimal(i == j) for j in range(len(A)))] for i, row in enumerate(_decimals(A, tick))]
    return [row[len(A[0]) :] for row in _echelon(beside, tick)[2]]


def basis(bits: int, tick: Tick, A: Rows) -> list[list[int] | list[list[int]]]:
    """Rows I, columns J, a number [D] and B, for which A[I, J] is regular and D A = A[:, J] B, if A is short."""
    size = max(max(x.numerator.bit_length(), x.denominator.bit_length()) for row in A for x in row)
    if size * len(A[0]) > MAX_EXACT:
        I, J, _ = _echelon(_decimals(A, tick), tick)
        return [I, J, [1], [[0] * len(A[0]) for _ in J]]
    I, J, rows = _echelon(A, tick)
    D = math.lcm(*(x.denominator for row in rows for x in row))
    return [I, J, [D], [[int(D * x) for x in row] for row in rows]]


def _turned(A: Sequence[Sequence[Decimal]], shift: Decimal, tick: Tick) -> tuple[list[list[Decimal]], int]:
    """C with C (A - shift) C^T about the identity, and -1; or the first row for which the form is not positive."""
    rows = [[*row[:i], row[i] - shift] for i, row in enumerate(A)]
    C = [[Decimal(i == j) for j in range(i + 1)] for i in range(len(A))]
    for k, row in enumerate(rows):
        if row[k] <= 0:
            return C, k
        below = [other[k] for other in rows[k + 1 :]]
        for i, other in enumerate(rows[k + 1 :], k + 1):
            tick()
            factor = other[k] / row[k]
            other[k + 1 :] = [x - factor * b for x, b in zip(other[k + 1 :], below[: i - k], strict=True)]
            C[i][: k + 1] = [x - factor * c for x, c in zip(C[i], C[k], strict=False)]
        scale = row[k].sqrt()
        C[k] = [x / scale for x in C[k]]
    return C, -1


def congruence(bits: int, tick: Tick, A: Rows) -> list[list[Decimal]]:
    """C with C A C^T about the identity, if A is positive definite; else with a row c for which c A c^T <= 0."""
    return [row + [Decimal(0)] * (len(A) - len(row)) for row in _turned(_decimals(A, tick), Decimal(0), tick)[0]]


def eigenpair(bits: int, tick: Tick, A: Rows) -> list[list[Decimal]]:
    """[t] a little below the least eigenvalue of a symmetric A, and about its eigenvector."""
    rows, n = _decimals(A, tick), len(A)
    high = max(sum(map(abs, row), Decimal(0)) for row in rows)
    low, vector = -high, [Decimal(1)]
    for _ in range(min(24 + bits // 4, 10 + 2**23 // n**3)):
        middle = (low + high) / 2
        C, bad = _turned(rows, middle, tick)
        low, high, vector = (middle, high, vector) if bad < 0 else (low, middle, C[bad])
    return [[low - (high - low)], vector + [Decimal(0)] * (n - len(vector))]


def eigenvectors(bits: int, tick: Tick, A: Rows) -> list[list[Decimal]]:
    """About all eigenvectors of a symmetric A, of length 1, as rows: by Jacobi's turns."""
    rows, n = _decimals(A, tick), len(A)
    full = [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    V = [[Decimal(i == j) for j in range(n)] for i in range(n)]
    for i, j in [(a, b) for _ in range(10 + bits // 64) for a in range(n) for b in range(a)]:
        tick()
        if full[i][j] == 0:
            continue
        half = (full[j][j] - full[i][i]) / (2 * full[i][j])
        t = (1 if half >= 0 else -1) / (abs(half) + (half * half + 1).sqrt())
        c = 1 / (t * t + 1).sqrt()
        s = t * c
        for M in (full, V):
            M[i], M[j] = (
                [c * x - s * y for x, y in zip(M[i], M[j], strict=True)],
                [s * x + c * y for x, y in zip(M[i], M[j], strict=True)],
            )
        for row in full:
            row[i], row[j] = c * row[i] - s * row[j], s * row[i] + c * row[j]
    return V


def logarithm(bits: int, tick: Tick, x: Fraction) -> Decimal:
    tick()
    return (Decimal(x.numerator) / x.denominator).ln()


def threshold(bits: int, tick: Tick) -> list[Decimal]:
    """Two numbers around the positive root of e^x = 1 + 2x."""
    x, digits, context = Decimal("1.2564312086261697"), 16, decimal.getcontext()
    while digits < bits // 3 + 4:  # Newton's steps: each doubles the digits
        tick()
        digits *= 2
        context.prec = digits + 20
        e = x.exp()
        x -= (e - 2 * x - 1) / (e - 2)
    return [x - Decimal(2) ** (8 - bits), x + Decimal(2) ** (8 - bits)]


_GUESSES = (inverse, basis, congruence, eigenpair, eigenvectors, logarithm, threshold)
ADVISORS: dict[str, Callable[..., object]] = {guess.__name__: guess for guess in _GUESSES}


def advice(kind: str, bits: int, tick: Tick, *values: Values) -> Values:
    """Fractions, or lists of these, from numbers or the middles of intervals."""

    def exact(x: Number) -> Fraction:
        tick()
        return (x.lower() - (-x).lower()) / 2 if isinstance(x, Interval) else x

    def fraction(x: int | Decimal) -> Fraction:
        tick()
        return Fraction(x)

    tick(once=len(flat(list(values))) * (150 + bits // 4))
    try:
        # Decimals of twice the bits; what is larger than 10^100000 is an error, and no advice.
        with decimal.localcontext(decimal.Context(20 + bits * 6 // 10, Emin=-(10**5), Emax=10**5)):
            found: Values = nested(fraction, ADVISORS[kind](bits, tick, *nested(exact, list(values))))
    except (ArithmeticError, ValueError, LookupError):
        raise Undecided(f"no {kind} is known") from None
    return found
