"""Attraction in a weighted maximum norm, proved in balls: existence, rank, rate, a ball of starts and the spectrum.

Let E = {X: |X − X₀| ≤ size·w, entry by entry}. If Σ_j sup_E |DF_ij| w_j ≤ rate·w_i for every i, and
|F(X₀) − X₀|_i ≤ (1 − rate)·size·w_i, then F maps E into itself and contracts max |·|/w: one equilibrium in E, and
every start in E converges to it. No matrix is inverted or factored: the cost is one enclosure of DF.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb, arb_mat

from rankmath.arithmetic.balls import ball, precision
from rankmath.equilibria.balls import BallMap, exact_matrix, row_of, submatrix
from rankmath.equilibria.designs import Design
from rankmath.equilibria.map import Floats
from rankmath.equilibria.proofs import preserved_support
from rankmath.printing import rounded

# Bits kept of a weight, beyond its power of two.
_WEIGHT_BITS = 8
# Bits beyond what the smallest box needs.
_SPARE_BITS = 96
_SHRINKINGS = 40
# Attention below which two terms are bounded one by one, and how many entries of DF are many.
_SMALL, _MANY = arb(2) ** -64, 2**15
#: Radius of the discs around the claimed eigenvalues.
DISC = Fraction(1, 2**24)

Rows = tuple[tuple[Fraction, ...], ...]


class NotContracting(ArithmeticError):
    """The weighted maximum norm shows no contraction; the message says where it fails."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Every eigenvalue of DF at the equilibrium is within `within` of one of the `values`, (n, d).

    Values that are more than 2·within from all others have as many eigenvalues near them as they are listed.
    """

    values: Rows
    within: Fraction
    weights: Rows


@dataclass(frozen=True, eq=False)
class Contraction:
    """Every start within `radius` (largest entry) of X₀ converges to the equilibrium, which is within core·w of X₀.

    Its rank is exactly that of the `pivots`, entries (token, coordinate) whose minor dominates on the box; more it
    cannot have because F keeps the zeros outside of the `support`.
    """

    weights: Rows
    size: Fraction
    core: Fraction
    rate: Fraction
    radius: Fraction
    pivots: tuple[tuple[int, int], ...]
    support: tuple[tuple[int, ...], ...]
    spectrum: Spectrum | None
    bits: int
    spectral_bits: int

    @property
    def rank(self) -> int:
        """The rank of the equilibrium."""
        return len(self.pivots)

    def __str__(self) -> str:
        reach = math.floor(10 * log10(self.radius)) / 10  # of 10, rounded so that what is said is true
        return (
            f"every start within 10^{reach:.1f} (largest entry) of the centre converges to it; "
            f"the distance shrinks by {rounded(self.rate, 6, up=True)} a layer in a weighted maximum norm"
        )


def prove_contraction(design: Design) -> Contraction:
    """The largest box, up to a factor of two, that the weights of the design's limit make contract.

    The rate is 1 − (1 − ρ)/4 with ρ the spectral radius of the limit. Where the limit's Jacobian is triangular and
    attention sharp enough, the eigenvalues too, to 2⁻²⁴.

    >>> from rankmath.equilibria.designs import causal_design
    >>> proof = prove_contraction(causal_design(3))
    >>> log10(proof.radius) > -8, proof.rate, proof.rank
    (True, Fraction(7, 8), 3)
    """
    slope = Fraction(design.limit_rate)
    rate = 1 - (1 - slope) / 4
    logs = design.log_weights(float(1 - (1 - slope) / 2))
    fine = design.log_weights(float(DISC) / 2, diagonal=False) if design.resolved else logs
    coarse = int(3 * logs.max()) + _SPARE_BITS + 8 * len(design.X)
    bits = int(2 * logs.max() + fine.max()) + _SPARE_BITS + 8 * len(design.X)
    weights = dyadic_weights(logs)
    with precision(bits):
        F = ball_map(design)
        X = exact_matrix(design.X)
        # Never zero: where the tokens rest exactly, the checker's numbers still round.
        core = max(_above(_excess(F.layer_at(X) - X, weights) / (1 - ball(rate))), Fraction(1, 2**bits))
        size = _largest(F, X, weights, rate, core, float(logs.max()))
        found = None
        if design.resolved:
            found = Spectrum(_rows(design.spectrum), DISC, dyadic_weights(fine))
            demand_discs(F, box_around(X, weights, core), found)
    pivots, support = _rank_data(design, weights, size)
    radius = size * min(min(row) for row in weights)
    return Contraction(weights, size, core, rate, radius, pivots, support, found, coarse, bits)


def _rank_data(
    design: Design, weights: Rows, size: Fraction
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, ...], ...]]:
    """Rows of unit vectors whose minor dominates over the box, and the entries that F may fill."""
    X = design.X
    places = {int(np.flatnonzero(row)[0]): i for i, row in reversed(list(enumerate(X)))}
    pivots = tuple(sorted((i, a) for a, i in places.items()))
    for i, a in pivots:
        reach = sum((size * weights[i][b] for _, b in pivots), Fraction(0))
        if not abs(Fraction(float(X[i, a]))) > reach:
            raise NotContracting(f"the box of token {i} reaches too far to tell the rank")
    support = preserved_support(X != 0, design.W_V, design.mask.allowed.astype(int).tolist())
    if int(support.any(axis=0).sum()) != len(pivots):
        raise NotContracting("the rank may exceed the number of distinct unit vectors")
    return pivots, tuple(tuple(int(x) for x in row) for row in support)


def log10(x: Fraction) -> float:
    """log₁₀ of a positive fraction, however small.

    >>> log10(Fraction(1, 10**500))
    -500.0
    """
    return math.log10(x.numerator) - math.log10(x.denominator)


def ball_map(design: Design) -> BallMap:
    """The design's map in balls."""
    seen = design.mask.allowed.astype(int).tolist()
    return BallMap(exact_matrix(design.W_V), exact_matrix(design.W_QK), seen, "sphere")


def _largest(F: BallMap, X: arb_mat, weights: Rows, rate: Fraction, core: Fraction, log_range: float) -> Fraction:
    """The largest power of two, nearly, that is proved as size."""
    failures = []
    for apart in _ways(X):
        try:
            sums_of = partial(row_sums, F, weights=weights, apart=apart)
            return _largest_so(sums_of, X, weights, rate, core, log_range)
        except NotContracting as failure:
            failures.append(failure)
    raise failures[-1]


def _largest_so(
    sums_of: Callable[[arb_mat], list[arb]], X: arb_mat, weights: Rows, rate: Fraction, core: Fraction, log_range: float
) -> Fraction:
    # The row sums grow linearly with the size: one small box tells where the room ends.
    probe = Fraction(2) ** -int(2 * log_range + 64 + 4 * X.nrows())
    limit = [ball(rate * w) for row in weights for w in row]
    sums = sums_of(box_around(X, weights, probe))
    still = sums_of(X)
    room = arb.pos_inf()
    for at, (total, rest, most) in enumerate(zip(sums, still, limit, strict=True)):
        if not total < most:
            raise NotContracting(f"row {divmod(at, X.ncols())}: the weighted sum {total} is not below {most}")
        grown = total.abs_upper() - rest.abs_lower()
        if grown > 0:
            room = room.min((most - rest) / grown)
    power = math.floor(_log2(room)) if 0 < room < arb.pos_inf() else 4096
    size = min(probe * Fraction(2) ** power, Fraction(1, 4) / max(max(row) for row in weights))
    for _ in range(_SHRINKINGS):
        if size < core:
            break
        sums = sums_of(box_around(X, weights, size))
        if all(total <= most for total, most in zip(sums, limit, strict=True)):
            return max(size / 4, core)  # room for the checker, whose numbers are a little wider
        size /= 2
    raise NotContracting("no box around the tokens is mapped into itself: attention is not sharp enough")


def row_sums(F: BallMap, X: arb_mat, weights: Rows, values: Rows | None = None, *, apart: bool = False) -> list[arb]:
    """Upper bounds of Σ_q sup |DF_pq − [p = q] v_p| w_q over the box X, one for each entry p of each token.

    |S + qᵀz| is bounded by |S| + |q|ᵀ|z| where attention is small, and everywhere if `apart`: faster.
    """
    n, d = X.nrows(), X.ncols()
    w = arb_mat(n, d, [ball(x) for row in weights for x in row])
    sums: list[arb] = []
    for one in F.factors(X):
        own, others = arb_mat(one.own), [s for s, k in enumerate(one.seen) if k != one.i]
        for b, value in enumerate(values[one.i] if values else ()):
            own[b, b] -= ball(value)
        near = [s for s in others if not (apart or one.A[s] < _SMALL)]
        far = [s for s in others if apart or one.A[s] < _SMALL]
        total = row_of(w, one.i) * _moduli(own)
        for s in near:
            total += row_of(w, one.seen[s]) * _moduli(one.block(s))
        if far:
            there, shares = submatrix(w, [one.seen[s] for s in far], range(d)), [one.A[s] for s in far]
            tilts = (there * _moduli(one.q).transpose()).entries()
            tilted = arb_mat(1, len(far), [a * x for a, x in zip(shares, tilts, strict=True)])
            total += arb_mat(1, len(far), shares) * there * _moduli(one.S)
            total += tilted * _moduli(submatrix(one.Z, far, range(d)))
        sums += [x.abs_upper() for x in total.entries()]
    return sums


def _moduli(M: arb_mat) -> arb_mat:
    return arb_mat(M.nrows(), M.ncols(), [x.abs_upper() for x in M.entries()])


def demand_discs(F: BallMap, X: arb_mat, claim: Spectrum) -> None:
    """Gershgorin: |J_ii − λ_i| w_i + Σ_{j≠i} |J_ij| w_j ≤ within·w_i for every DF = J on the box X."""
    most = [ball(claim.within * w) for row in claim.weights for w in row]
    for apart in _ways(X):
        sums = row_sums(F, X, claim.weights, claim.values, apart=apart)
        wide = [divmod(p, X.ncols()) for p, total in enumerate(sums) if not total <= most[p]]
        if not wide:
            return
    raise NotContracting(f"spectrum: the disc of entry {wide[0]} is wider than {float(claim.within):.3g}")


def _ways(X: arb_mat) -> tuple[bool, ...]:
    """Bounds of the terms of DF one by one are tried first where it has many entries."""
    return (True, False) if (X.nrows() * X.ncols()) ** 2 >= _MANY else (False,)


def box_around(X: arb_mat, weights: Rows, size: Fraction) -> arb_mat:
    """The box X ± size·w."""
    radii = [ball(size * w) for row in weights for w in row]
    entries = [arb(x, radius) for x, radius in zip(X.entries(), radii, strict=True)]
    return arb_mat(X.nrows(), X.ncols(), entries)


def dyadic_weights(logs: Floats) -> Rows:
    """2^logs, each rounded to a short dyadic number."""
    unit = 2**_WEIGHT_BITS
    return tuple(
        tuple(round(2 ** (x - math.floor(x)) * unit) * Fraction(2) ** (math.floor(x) - _WEIGHT_BITS) for x in row)
        for row in logs.tolist()
    )


def _excess(M: arb_mat, weights: Rows) -> arb:
    """An upper bound of max |M_ia|/w_ia."""
    largest = arb(0)
    for x, w in zip(M.entries(), (w for row in weights for w in row), strict=True):
        largest = largest.max((x.abs_upper() / ball(w)).abs_upper())
    return largest


def _above(x: arb) -> Fraction:
    """A power of two at least x > 0; zero for zero."""
    return Fraction(2) ** (math.ceil(_log2(x)) + 1) if x > 0 else Fraction(0)


def _log2(x: arb) -> float:
    """log₂ of the middle of x > 0, also far outside the range of doubles."""
    mantissa, exponent = x.mid().man_exp()
    return math.log2(int(mantissa)) + int(exponent)


def _rows(values: Floats) -> Rows:
    return tuple(tuple(Fraction(float(x)) for x in row) for row in values)
