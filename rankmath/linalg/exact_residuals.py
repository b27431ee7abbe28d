"""Rigorous bounds of a residual: the float center and dual point, read as rationals and evaluated exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankmath.arithmetic.objects import ObjectArithmetic
from rankmath.linalg.frontier import least_product
from rankmath.linalg.rationals import exact_matrix
from rankmath.linalg.residuals import RESIDUAL_NORMS, ResidualNorm, minimising_center, standardised
from rankmath.printing import Sheet, Shows
from rankmath.validation import Array, ArrayLike, InvalidArgument, Number, as_choice

Rationals: TypeAlias = tuple[Fraction, ...]
RationalMatrix: TypeAlias = Sequence[Sequence[Fraction]]

#: The power of the residual that is rational for rational data: its square where the norm is a square root.
RATIONAL_POWER: dict[ResidualNorm, int] = {"one": 1, "inf": 1, "composite": 2, "frobenius": 2}


@dataclass(frozen=True)
class ExactWeights:
    """Rational weights >= 0 on the columns and rows of X: a dual point (see `rankmath.linalg.frontier`)."""

    columns: Rationals
    rows: Rationals


#: Weights, or for "frobenius" the rows of a matrix with zero column sums.
ExactDual: TypeAlias = tuple[ExactWeights, ...] | tuple[Rationals, ...]


@dataclass(frozen=True, repr=False)
class ExactResidual(Shows):
    """``lower <= ‖res(X)‖ ** power <= upper``, proved by `dual` and `center`, all in exact rationals.

    `power` is 1 for "one" and "inf", 2 for "composite" and "frobenius". Re-check with `exact_lower_bound` and
    `exact_upper_bound`, or by hand: `center` is any point, `dual` any weights that are not negative.
    """

    norm: ResidualNorm
    power: int
    lower: Fraction
    upper: Fraction
    center: Rationals
    dual: ExactDual

    def sheet(self) -> Sheet:
        both = tuple(
            (name, f"{float(value):.15g}, exact here")
            for name, value in (("at least", self.lower), ("at most", self.upper))
        )
        return Sheet(f"Exact {self.norm} residual, to the power {self.power}", both)


def exact_residual_bounds(X: ArrayLike, norm: ResidualNorm = "frobenius") -> ExactResidual:
    """Certified bounds of the residual of X in one norm; equal for "one" and "frobenius", else close.

    Parameters
    ----------
    X : tokens as rows, an (n, d) matrix of floats (read as dyadics), integers or Fractions.

    Examples
    --------
    >>> bounds = exact_residual_bounds([[0.0, 0.0], [4.0, 2.0], [5.0, 7.0]], norm="one")
    >>> bounds.lower, bounds.upper, bounds.power
    (Fraction(7, 1), Fraction(7, 1), 1)
    """
    rows = exact_matrix("X", X)
    norm = as_choice("norm", norm, RESIDUAL_NORMS)
    if norm == "frobenius":
        center = tuple(sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True))
        dual: ExactDual = tuple(tuple(x - m for x, m in zip(row, center, strict=True)) for row in rows)
    elif norm == "one":
        center, dual = _medians_and_column(rows)
    else:
        center, dual = _program_points(rows, norm)
    lower, upper = exact_lower_bound(rows, dual, norm), exact_upper_bound(rows, center, norm)
    return ExactResidual(norm, RATIONAL_POWER[norm], lower, upper, center, dual)


def exact_upper_bound(X: ArrayLike, center: Sequence[Fraction], norm: ResidualNorm) -> Fraction:
    """‖X − 1xᵀ‖ (squared for "composite" and "frobenius") at the given center x, exactly.

    >>> exact_upper_bound([[0, 0], [2, 4]], (Fraction(1), Fraction(1)), "inf")
    Fraction(4, 1)
    """
    rows = exact_matrix("X", X)
    norm = as_choice("norm", norm, RESIDUAL_NORMS)
    x = _vector("center", center, len(rows[0]))
    numbers, unit = _integers([entry for row in (x, *rows) for entry in row])
    d = len(x)
    middles, *entries = (numbers[start : start + d] for start in range(0, len(numbers), d))
    distances = [[abs(entry - middle) for entry, middle in zip(row, middles, strict=True)] for row in entries]
    if norm == "frobenius":
        return Fraction(sum(entry**2 for row in distances for entry in row), unit**2)
    one, inf = max(map(sum, zip(*distances, strict=True))), max(map(sum, distances))
    return Fraction(*{"one": (one, unit), "inf": (inf, unit), "composite": (one * inf, unit**2)}[norm])


def exact_lower_bound(X: ArrayLike, dual: ExactDual, norm: ResidualNorm) -> Fraction:
    """What the dual point proves about every center, exactly (a square for "composite" and "frobenius").

    >>> half, zero = Fraction(1, 2), Fraction(0)
    >>> exact_lower_bound([[0, 0], [2, 4]], (ExactWeights((zero, zero), (half, half)),), "inf")
    Fraction(3, 1)
    """
    rows = exact_matrix("X", X)
    norm = as_choice("norm", norm, RESIDUAL_NORMS)
    n, d = len(rows), len(rows[0])
    if norm == "frobenius":
        return _direction_bound_squared(rows, dual)
    lines = []
    for weights in dual:
        if not isinstance(weights, ExactWeights):
            raise InvalidArgument(f"dual: a {type(weights).__name__} given; norm {norm!r} needs ExactWeights")
        p, q = _vector("dual.columns", weights.columns, d), _vector("dual.rows", weights.rows, n)
        if min(*p, *q) < 0:
            raise InvalidArgument("dual: a negative weight given; weights must be at least 0")
        lines.append((sum(p, Fraction(0)), sum(q, Fraction(0)), _weighted_medians(rows, p, q)))
    if norm == "composite":
        return least_product(lines)
    if any(inf if norm == "one" else one for one, inf, _ in lines):
        where = "columns" if norm == "one" else "rows"
        raise InvalidArgument(f"dual: norm {norm!r} is bounded by weights on {where} alone; others given")
    return max((bound / (one + inf) for one, inf, bound in lines if one + inf > 0), default=Fraction(0))


def _medians_and_column(rows: RationalMatrix) -> tuple[Rationals, ExactDual]:
    columns = [sorted(column) for column in zip(*rows, strict=True)]
    n = len(rows)
    medians = tuple((column[(n - 1) // 2] + column[n // 2]) / 2 for column in columns)
    sums = [sum(abs(x - t) for x in column) for column, t in zip(columns, medians, strict=True)]
    largest = sums.index(max(sums))
    weights = tuple(Fraction(int(k == largest)) for k in range(len(columns)))
    return medians, (ExactWeights(weights, (Fraction(0),) * n),)


def _program_points(rows: RationalMatrix, norm: ResidualNorm) -> tuple[Rationals, ExactDual]:
    """The float center and weights of the linear programs, read as the dyadics they are."""
    numbers, common = _integers([entry for row in rows for entry in row])
    d = len(rows[0])
    shifted = [number - numbers[k % d] for k, number in enumerate(numbers)]
    size = Fraction(max(map(abs, shifted)), common)
    # A power of two near the size; a quotient of integers is rounded once.
    scale = Fraction(2) ** (size.numerator.bit_length() - size.denominator.bit_length()) if size else Fraction(1)
    floats = [x * scale.denominator / (common * scale.numerator) for x in shifted]
    Y, exponent = standardised(np.array(floats).reshape(-1, d))
    y, dual = minimising_center(Y, norm)
    unit = scale * Fraction(2) ** exponent
    center = tuple(first + unit * t for first, t in zip(rows[0], _rationals(y), strict=True))
    return center, tuple(ExactWeights(_rationals(w.columns), _rationals(w.rows)) for w in dual)


def _weighted_medians(rows: RationalMatrix, p: Rationals, q: Rationals) -> Fraction:
    """Σ_k min_t Σ_i (p_k + q_i)|X_ik − t|."""
    # Integers over one common denominator: Fraction arithmetic would spend its time on gcds.
    entries, entry_unit = _integers([entry for row in rows for entry in row])
    weights, weight_unit = _integers([*p, *q])
    d = len(p)
    total = 0
    for k in range(d):
        column = sorted((x, weights[k] + w) for x, w in zip(entries[k::d], weights[d:], strict=True))
        heaped = list(accumulate(w for _, w in column))
        median, _ = column[next(i for i, below in enumerate(heaped) if 2 * below >= heaped[-1])]
        total += sum(w * abs(x - median) for x, w in column)
    return Fraction(total, entry_unit * weight_unit)


def _direction_bound_squared(rows: RationalMatrix, direction: ArrayLike) -> Fraction:
    """max(0, ⟨Y, X⟩)² / ‖Y‖_F² for a matrix Y whose columns sum to zero."""
    Y = exact_matrix("dual", direction)
    if (len(Y), len(Y[0])) != (len(rows), len(rows[0])):
        raise InvalidArgument(f"dual: shape {len(Y), len(Y[0])} given; it must be {len(rows), len(rows[0])}")
    if any(sum(column) for column in zip(*Y, strict=True)):
        raise InvalidArgument("dual: a column sum differs from 0; every column of a Frobenius dual must sum to 0")
    inner = sum((y * x for ys, xs in zip(Y, rows, strict=True) for y, x in zip(ys, xs, strict=True)), Fraction(0))
    size = sum((y * y for ys in Y for y in ys), Fraction(0))
    return max(inner, Fraction(0)) ** 2 / size if size else Fraction(0)


def _integers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    unit = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (unit // value.denominator) for value in values], unit


def _rationals(values: ArrayLike) -> Rationals:
    return tuple(Fraction(float(value)) for value in values)


def _vector(name: str, values: ArrayLike, length: int) -> Rationals:
    (vector,) = exact_matrix(name, [list(values)])
    if len(vector) != length:
        raise InvalidArgument(f"{name}: length {len(vector)} given; it must be {length}")
    return tuple(vector)


# -- logarithms of residual and diameter over object arithmetics (mpmath, balls) ------------------------------


def log_residual(A: ObjectArithmetic, R: Array, norm: ResidualNorm) -> Number:
    """log‖res‖ of tokens with mean zero: a number, or an array over the batch (Frobenius)."""
    if norm == "frobenius":
        squares = np.add.reduce((R * R).reshape(*R.shape[:-2], -1), axis=-1)
        return A.log(squares) / 2 if R.ndim > 2 else A.log(np.asarray([squares], dtype=object))[0] / 2
    return _ball_log_residual(A, R, norm)


def log_diameter(A: ObjectArithmetic, R: Array, p: float = 2) -> Number:
    """log Δ_p of the rows, p = 1, 2 or ∞."""
    n = R.shape[-2]
    if n == 1:
        pairs = 0 * R[..., :1, :1]
    else:
        first, second = _pairs(n)
        difference = R[..., first, :] - R[..., second, :]
        if p == 2:
            pairs = A.max(A.sum(difference * difference, axis=-1), axis=-2)
        else:
            gather = A.sum if p == 1 else A.max
            pairs = A.max(gather(A.abs(difference), axis=-1), axis=-2)
    logs = A.log(pairs)[..., 0, 0] / (2 if p == 2 else 1)
    return logs if R.ndim > 2 else np.asarray(logs, dtype=object)[()]


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """i < j."""
    return np.triu_indices(n, 1)


def _ball_log_residual(A: ObjectArithmetic, R: Array, norm: ResidualNorm) -> Number:
    """res(R) from the exact residual of nearby doubles F: norms move by at most ‖R/s − F‖.

    For the composite value √(ab) with a ≥ a₀, b ≥ b₀ over all centers, moving a and b by ε₁ and ε_∞ multiplies the
    minimum of ab by at least (1 − ε₁/a₀)(1 − ε_∞/b₀).
    """
    from flint import arb

    from rankmath.arithmetic.balls import ball

    if all(x.is_zero() for x in R.flat):
        return arb.neg_inf()
    if not all(x.is_finite() for x in R.flat):
        return arb.nan()
    exponent = A.upper_exponent(A.largest(R))
    scaled = R * arb(2) ** (-exponent)
    F = np.asarray([float(x.mid()) for x in scaled.flat]).reshape(R.shape)
    error = A.abs(scaled - A.asarray(F))
    sums = {"one": A.max(A.sum(error, axis=-2), axis=-1), "inf": A.max(A.sum(error, axis=-1), axis=-2)}
    moved = {kind: largest[0, 0].abs_upper() for kind, largest in sums.items()}
    bounds = exact_residual_bounds(F, norm)
    if norm == "composite":
        least = {kind: ball(exact_residual_bounds(F, kind).lower) for kind in ("one", "inf")}
        lower = ball(bounds.lower)
        for kind in ("one", "inf"):
            lower *= (1 - moved[kind] / least[kind]).nonnegative_part()
        at_center = {kind: ball(exact_upper_bound(F, bounds.center, kind)) + moved[kind] for kind in ("one", "inf")}
        upper = at_center["one"] * at_center["inf"]
    else:
        lower, upper = ball(bounds.lower) - moved[norm], ball(bounds.upper) + moved[norm]
    if not lower > 0:
        return arb.nan()
    return lower.union(upper).log() / bounds.power + exponent * arb.const_log2()
