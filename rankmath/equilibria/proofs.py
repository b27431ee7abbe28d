"""Three of the proofs behind `certify_equilibrium`, in balls: existence, a nonzero minor, escape; see `attraction`.

Each runs inside `precision(bits)` and returns an exact witness from which the proof can be repeated elsewhere.
"""

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import scipy.linalg
from flint import arb, arb_mat, fmpz_mat

from rankmath.arithmetic.balls import ball, lower_float, upper_float
from rankmath.equilibria.balls import (
    BallMap,
    box,
    exact_matrix,
    identity,
    is_positive_definite,
    maximum,
    middle_floats,
    submatrix,
)
from rankmath.equilibria.map import Floats
from rankmath.equilibria.search import cluster_weights
from rankmath.linalg.masks import Mask

Dyadics: TypeAlias = tuple[tuple[Fraction, ...], ...]

_SHORT = 32  # bits of the auxiliary matrices, which need not be accurate
_SNAP = 1e-12
_NEWTON_STEPS = 30


class Inconclusive(Exception):
    """Not proved at this precision; a higher one may do."""


class Refused(Exception):
    """Not proved, and precision is not what is missing."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The data whose equilibrium is to be proved: weights taken as exact, tokens accurate to `tolerance`.

    With an ``order``, F(X) = X[order] is to be proved, and every token is a cluster of its own.
    """

    X: Floats
    W_V: Floats
    W_QK: Floats
    mask: Mask
    d_qk: int
    norm: str
    tolerance: float
    order: tuple[int, ...] | None = None

    def ball_map(self, weights: Sequence[Sequence[int]]) -> BallMap:
        """The map in balls, on tokens that stand for `weights` keys."""
        W = exact_matrix(self.W_QK) * (1 / arb(self.d_qk).sqrt())
        return BallMap(W_V=exact_matrix(self.W_V), W=W, weights=weights, norm=self.norm, order=self.order)

    def whole_map(self) -> BallMap:
        """The map in balls on all tokens."""
        return self.ball_map(self.mask.allowed.astype(int).tolist())

    def clusters(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Labels of the tokens that coincide to the tolerance, and the counts they see; singletons if unlike."""
        labels: list[int] = []
        leaders: list[int] = []
        if self.order is not None:
            return tuple(range(len(self.X))), tuple(tuple(int(w) for w in row) for row in self.mask.allowed)
        for i, row in enumerate(self.X):
            near = [c for c, j in enumerate(leaders) if np.abs(row - self.X[j]).max() <= self.tolerance]
            if not near:
                leaders.append(i)
            labels.append(near[0] if near else len(leaders) - 1)
        try:
            weights = cluster_weights(self.mask.allowed, labels)
        except ValueError:
            labels = list(range(len(self.X)))
            weights = self.mask.allowed
        return tuple(labels), tuple(tuple(int(w) for w in row) for row in weights)


@dataclass(frozen=True, eq=False)
class Existence:
    """Krawczyk's data: g(x) = F(x) − x on the reduced system has |Y g(x₀)| + |I − Y Dg(x₀ ± r)| r < r, entrywise.

    ``clusters[i]`` is the cluster of token i, ``weights`` the counts the clusters see, ``support[c]`` the
    coordinates that cluster c may use (zeros that the map preserves). The unknowns are the entries (c, a) with a in
    support[c], cluster by cluster; ``centre`` is x₀ with its zeros, one row a cluster, ``radius`` is r and
    ``preconditioner`` is Y.
    """

    bits: int
    clusters: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    support: tuple[tuple[int, ...], ...]
    centre: Dyadics
    radius: Fraction
    preconditioner: Dyadics

    @property
    def is_reduced(self) -> bool:
        """Whether tokens were identified or zeros kept: the equilibrium is then unique among such tokens."""
        full = range(len(self.centre[0]))
        return len(self.weights) < len(self.clusters) or any(row != tuple(full) for row in self.support)

    def enclosure(self, *, tokens: bool = False) -> arb_mat:
        """The box around the equilibrium: one row a cluster, or one a token."""
        width = ball(self.radius)
        rows = [
            [arb(ball(x), width) if a in self.support[c] else arb(0) for a, x in enumerate(row)]
            for c, row in enumerate(self.centre)
        ]
        chosen = [rows[c] for c in self.clusters] if tokens else rows
        return arb_mat(chosen)

    def tokens(self) -> arb_mat:
        """The exact centre, one row a token."""
        return _matrix([self.centre[c] for c in self.clusters])


@dataclass(frozen=True, eq=False)
class Minor:
    """Eliminating on these (cluster, coordinate) pivots in order meets no zero, so the minor they span is not zero.

    ``least`` bounds its absolute value from below; ``at_most`` bounds the rank from above.
    """

    pivots: tuple[tuple[int, int], ...]
    least: float
    at_most: int


@dataclass(frozen=True, eq=False)
class Escape:
    """DF =: J at the equilibrium has spectral radius above `growth` ≥ 1.

    JᵀPJ − s²P is positive definite and hᵀPh > 0 for s = growth, P = form, h = direction: then V(h) = hᵀPh grows by
    more than s² with each J where it is positive, so ‖Jᵗh‖ grows faster than sᵗ. No eigenvalue need be simple.
    """

    growth: Fraction
    form: Dyadics
    direction: tuple[Fraction, ...]


# -- existence ------------------------------------------------------------------------------------------------


def prove_existence(problem: Problem, bits: int) -> Existence:
    """Krawczyk's test on the clusters and zeros the map preserves: as given, then with dust snapped to zero."""
    labels, weights = problem.clusters()
    leaders = [labels.index(c) for c in range(len(weights))]
    start = problem.X[leaders]
    attempts = [start, np.where(np.abs(start) <= _SNAP, 0.0, start)]
    if np.array_equal(attempts[0], attempts[1]) or problem.norm == "standard":
        attempts.pop()
    trouble: Inconclusive | Refused | None = None
    for tokens in attempts:
        try:
            return _krawczyk(problem, labels, weights, tokens, bits)
        except (Inconclusive, Refused) as failure:
            trouble = failure
    assert trouble is not None
    raise trouble


def preserved_support(nonzero: Floats, W_V: Floats, weights: Sequence[Sequence[int]]) -> Floats:
    """The smallest pattern of entries containing `nonzero` that F preserves: V_j W_V ⊂ V_i whenever i sees j.

    >>> shift = np.array([[1, 2.0], [0, 1]])
    >>> preserved_support(np.array([[False, True], [True, False]]), shift, [[1, 0], [1, 1]]).tolist()
    [[False, True], [True, True]]
    """
    support = np.array(nonzero, dtype=bool)
    seen = np.asarray(weights) > 0
    carries = W_V != 0
    while True:
        reached = (seen.astype(int) @ (support.astype(int) @ carries.astype(int) > 0).astype(int)) > 0
        if not np.any(reached & ~support):
            return support
        support |= reached


def _krawczyk(
    problem: Problem, labels: tuple[int, ...], weights: tuple[tuple[int, ...], ...], tokens: Floats, bits: int
) -> Existence:
    k, d = tokens.shape
    everywhere = np.ones((k, d), dtype=bool)
    whole = problem.norm == "standard" or problem.order is not None
    support = everywhere if whole else preserved_support(tokens != 0, problem.W_V, weights)
    if not support.any(axis=1).all():
        # Nothing would be left to prove of such a token, and nothing is true of it.
        raise Refused("a token is zero, and stays so before LayerNorm, which divides by its norm")
    unknowns = np.flatnonzero(support).tolist()
    F = problem.ball_map(weights)
    centre = _newton(F, exact_matrix(tokens), unknowns, bits)
    distance = maximum([centre[c, a] - float(problem.X[i, a]) for i, c in enumerate(labels) for a in range(d)]) + arb(
        2
    ) ** -(bits // 2)
    if not distance <= problem.tolerance:
        raise Refused(
            f"the nearest equilibrium found is {upper_float(distance):.1e} away, "
            f"more than the tolerance {problem.tolerance:.0e}"
        )
    radius = arb(2) ** -(bits // 2)
    neighbourhood = box(centre, [radius if inside else arb(0) for inside in support.ravel()])
    slope = submatrix(F.jacobian(neighbourhood), unknowns, unknowns) - identity(len(unknowns))
    Y = _inverse(slope.mid())
    residual = column(F.layer(centre) - centre, unknowns)
    for length in (_SHORT, bits):
        preconditioner = shortened(Y, length)
        if closes(preconditioner, residual, slope, radius):
            return Existence(
                bits=bits,
                clusters=labels,
                weights=weights,
                support=tuple(tuple(np.flatnonzero(row).tolist()) for row in support),
                centre=dyadics(centre),
                radius=Fraction(1, 2 ** (bits // 2)),
                preconditioner=dyadics(preconditioner),
            )
    raise Inconclusive("Krawczyk's test does not close around the nearest approximate equilibrium")


def closes(Y: arb_mat, residual: arb_mat, slope: arb_mat, radius: arb) -> bool:
    """Krawczyk's test |Y g(x₀)| + |I − Y Dg| r < r, entry by entry: exactly one zero of g in the box x₀ ± r."""
    size = Y.nrows()
    correction, rest = Y * residual, identity(size) - Y * slope
    return all(
        correction[i, 0].abs_upper() + radius * sum((rest[i, j].abs_upper() for j in range(size)), arb(0)) < radius
        for i in range(size)
    )


def _newton(F: BallMap, X: arb_mat, unknowns: Sequence[int], bits: int) -> arb_mat:
    """An approximate equilibrium to nearly full precision, with dyadic entries; the zeros stay."""
    small = arb(2) ** -(7 * bits // 10)
    for _ in range(_NEWTON_STEPS):
        slope = submatrix(F.jacobian(X), unknowns, unknowns).mid() - identity(len(unknowns))
        residual = column(F.layer(X) - X, unknowns).mid()
        try:
            move = slope.solve(residual).mid()
        except ZeroDivisionError:
            raise Inconclusive("DF − I is singular to working precision: the equilibrium is not isolated") from None
        entries = X.entries()
        for place, step in zip(unknowns, move.entries(), strict=True):
            entries[place] = _rounded(entries[place] - step, bits - 16)
        X = arb_mat(X.nrows(), X.ncols(), entries)
        size = maximum(move.entries())
        if not size < 4:
            raise Inconclusive("Newton's method runs away from X: no equilibrium found near it")
        if size < small:
            return X
    raise Inconclusive("Newton's method does not settle near X: no equilibrium found near it")


# -- rank -----------------------------------------------------------------------------------------------------


def prove_minor(problem: Problem, existence: Existence) -> Minor:
    """The largest minor that elimination with full pivoting proves nonzero on the box, and a bound of the rank."""
    rows = existence.enclosure().tolist()
    k, d = len(rows), len(rows[0])
    at_most = _rank_bound(problem, existence)
    free_rows, free_columns = set(range(k)), set(range(d))
    pivots: list[tuple[int, int]] = []
    minor = arb(1)
    while free_rows and free_columns and len(pivots) < at_most:
        i, j = max(
            itertools.product(sorted(free_rows), sorted(free_columns)),
            key=lambda at: lower_float(abs(rows[at[0]][at[1]])),
        )
        pivot = rows[i][j]
        if not abs(pivot) > 0:
            break
        pivots.append((i, j))
        minor *= pivot
        free_rows.remove(i)
        free_columns.remove(j)
        for other in free_rows:
            factor = rows[other][j] / pivot
            for a in free_columns:
                rows[other][a] = rows[other][a] - factor * rows[i][a]
    if len(pivots) < at_most and _lies_in_invariant_subspace(problem, existence, pivots):
        at_most = len(pivots)
    return Minor(pivots=tuple(pivots), least=max(lower_float(abs(minor)), 0.0), at_most=at_most)


def _rank_bound(problem: Problem, existence: Existence) -> int:
    """Clusters, coordinates in use, and D X = A X W_V (centred, if need be) each bound the rank of X."""
    used = {a for coordinates in existence.support for a in coordinates}
    d = len(problem.W_V)
    # Doubles are dyadic: scaled by a power of two they are integers, whose rank is exact.
    scale = max(Fraction(float(x)).denominator for x in problem.W_V.ravel())
    integers = fmpz_mat(d, d, [int(Fraction(float(x)) * scale) for x in problem.W_V.ravel()])
    centred = d - 1 if problem.norm == "standard" else d
    return min(len(existence.weights), len(used), centred, integers.rank())


def _lies_in_invariant_subspace(problem: Problem, existence: Existence, pivots: Sequence[tuple[int, int]]) -> bool:
    """Whether the tokens are proved to lie in an r-dimensional subspace that W_V keeps, r the number of pivots.

    F keeps tokens of U = rowspan(B) in U if U W_V ⊂ U (W_V followed by the centring, under standard LayerNorm).
    B is the identity on the pivots' coordinates. An equilibrium ZB of F on U, proved to exist inside the box, is
    the only one of the box.
    """
    used = existence.support[0]
    if not pivots or any(row != used for row in existence.support):
        return False
    chosen = [j for _, j in pivots]
    order = chosen + [j for j in used if j not in chosen]
    r, k, d = len(pivots), len(existence.centre), len(problem.W_V)
    F = problem.ball_map(existence.weights)
    centre = _matrix(existence.centre)
    rows = middle_floats(centre)[[i for i, _ in pivots]]
    try:
        guess = np.linalg.solve(rows[:, chosen], rows[:, order[r:]])
    except np.linalg.LinAlgError:
        return False
    C = _invariant_graph(submatrix(F.centred_values(), order, order), guess, existence.bits)
    if C is None:
        return False
    B = arb_mat(r, d)
    for b in range(r):
        B[b, chosen[b]] = arb(1)
        for at_column, j in enumerate(order[r:]):
            B[b, j] = C[b, at_column]
    # Krawczyk's test for Z ↦ F(ZB) − ZB on the pivots' coordinates.
    places = [i * d + j for i in range(k) for j in chosen]
    start = column(centre, places).entries()
    radius = ball(existence.radius) / 4
    at = arb_mat(k, r, start) * B
    wide = arb_mat(k, r, [arb(z.mid(), radius) for z in start]) * B
    lift = arb_mat(k * d, k * r)
    for i, b, j in itertools.product(range(k), range(r), range(d)):
        lift[i * d + j, i * r + b] = B[b, j]
    slope = submatrix(F.jacobian(wide) * lift, places, range(k * r)) - identity(k * r)
    try:
        Y = _inverse(slope.mid())
    except Inconclusive:
        return False
    residual = column(F.layer(at) - at, places)
    inside = zip(existence.enclosure().entries(), wide.entries(), strict=True)
    return closes(Y, residual, slope, radius) and all(outer.contains(inner) for outer, inner in inside)


def _invariant_graph(W: arb_mat, guess: Floats, bits: int) -> arb_mat | None:
    """A ball around a C near the guess for which W keeps the rows' span of (I C); None if none is proved.

    With W in blocks, (I C) W = M (I C) says g(C) = W₁₂ + C W₂₂ − (W₁₁ + C W₂₁) C = 0, a Riccati equation with the
    derivative H ↦ H (W₂₂ − W₂₁ C) − (W₁₁ + C W₂₁) H.
    """
    r, rest = guess.shape
    head, tail = range(r), range(r, r + rest)
    W11, W12, W21, W22 = (submatrix(W, a, b) for a in (head, tail) for b in (head, tail))
    C, size = exact_matrix(guess), r * rest
    radius = arb(2) ** -(6 * bits // 10)

    def slope_at(C: arb_mat) -> arb_mat:
        left, right = W11 + C * W21, W22 - W21 * C
        out = arb_mat(size, size)
        for i, j, m in itertools.product(range(r), range(rest), range(rest)):
            out[i * rest + j, i * rest + m] += right[m, j]
        for i, m, j in itertools.product(range(r), range(r), range(rest)):
            out[i * rest + j, m * rest + j] -= left[i, m]
        return out

    def defect(C: arb_mat) -> arb_mat:
        return arb_mat(size, 1, (W12 + C * W22 - (W11 + C * W21) * C).entries())

    try:
        for _ in range(_NEWTON_STEPS):
            move = slope_at(C).mid().solve(defect(C).mid())
            C = (C - arb_mat(r, rest, move.entries())).mid()
            if maximum(move.entries()) < radius / 16:
                break
        wide = box(C, [radius] * size)
        slope = slope_at(wide)
        Y = _inverse(slope.mid())
    except (Inconclusive, ZeroDivisionError):
        return None
    return wide if closes(Y, defect(C), slope, radius) else None


# -- instability ----------------------------------------------------------------------------------------------


def prove_escape(problem: Problem, existence: Existence) -> Escape:
    """A form that grows along the orbits of the Jacobian, for every matrix in its enclosure at the equilibrium."""
    J = problem.whole_map().jacobian(existence.enclosure(tokens=True))
    approximate = middle_floats(J)
    top = float(np.abs(np.linalg.eigvals(approximate)).max())
    if not top > 1:
        raise Refused(f"the spectral radius of the Jacobian is about {top:.6g}, not above 1")
    for growth, P in growing_forms(approximate, top):
        form = shortened(exact_matrix(P), _SHORT)
        direction = shortened(exact_matrix(np.linalg.eigh(P)[1][:, -1:]), _SHORT)
        grows = J.transpose() * form * J - form * ball(growth * growth)
        if (direction.transpose() * form * direction)[0, 0] > 0 and is_positive_definite(grows):
            columns = dyadics(direction)
            return Escape(growth, dyadics(form), tuple(row[0] for row in columns))
    raise Refused(f"no growth proved, though the spectral radius of the Jacobian is about {top:.6g}")


def growing_forms(J: Floats, top: float) -> list[tuple[Fraction, Floats]]:
    """Factors 1 ≤ s < top with the solutions P of JᵀPJ − s²P = I, the most moderate first.

    P is positive on the eigenvectors v of |λ| > s, because (|λ|² − s²) v*Pv = ‖v‖²; s² must not be a product of two
    eigenvalues, and P is large where it nearly is.

    >>> s, P = growing_forms(np.diag([2.0, 1.0]), 2.0)[0]
    >>> 1 <= s < 2, np.sign(np.diag(P)).tolist()
    (True, [1.0, -1.0])
    """
    forms = []
    for share in np.linspace(0.1, 0.8, 8):
        s = 1 + short_fraction(share * (top - 1))
        with warnings.catch_warnings():
            # The solver warns where s² is nearly a product of eigenvalues: then another s is better.
            warnings.simplefilter("error")
            try:
                P = scipy.linalg.solve_discrete_lyapunov(J.T / float(s), -np.eye(len(J)) / float(s) ** 2)
            except (np.linalg.LinAlgError, Warning):
                continue
        if np.all(np.isfinite(P)):
            forms.append((s, np.asarray(P + P.T) / 2))
    return sorted(forms, key=lambda pair: float(np.abs(pair[1]).max()))


# -- exact numbers --------------------------------------------------------------------------------------------


def _rounded(x: arb, places: int) -> arb:
    """The midpoint, rounded to a multiple of 2^−places."""
    scaled = x.mid() * arb(2) ** places
    nearest = (scaled + arb(0.5)).mid().floor().mid()
    return nearest * arb(2) ** -places


def shortened(M: arb_mat, bits: int) -> arb_mat:
    """Midpoints rounded to a mantissa of `bits` bits."""

    def short(x: arb) -> arb:
        if x.mid().is_zero():
            return arb(0)
        mantissa, exponent = (int(part) for part in x.mid().man_exp())
        excess = max(abs(mantissa).bit_length() - bits, 0)
        return arb(mantissa >> excess) * arb(2) ** (exponent + excess)

    return arb_mat(M.nrows(), M.ncols(), [short(x) for x in M.entries()])


def short_fraction(x: float) -> Fraction:
    """A dyadic number of few bits, at most x."""
    exponent = math.frexp(x)[1] - 4
    return Fraction(math.floor(math.ldexp(x, -exponent))) * Fraction(2) ** exponent


def dyadics(M: arb_mat) -> Dyadics:
    def fraction(x: arb) -> Fraction:
        mantissa, exponent = (int(part) for part in x.man_exp())
        return Fraction(mantissa) * Fraction(2) ** exponent

    return tuple(tuple(fraction(x) for x in row) for row in M.tolist())


def _matrix(rows: Sequence[Sequence[Fraction]]) -> arb_mat:
    return arb_mat([[ball(x) for x in row] for row in rows])


def column(M: arb_mat, places: Sequence[int]) -> arb_mat:
    entries = M.entries()
    return arb_mat(len(places), 1, [entries[place] for place in places])


def _inverse(M: arb_mat) -> arb_mat:
    """An approximate inverse; what may be zero is zero, so that triangular matrices stay so in the certificate."""
    try:
        inverse = M.inv()
    except ZeroDivisionError:
        raise Inconclusive("DF − I is singular to working precision: the equilibrium is not isolated") from None
    return arb_mat(M.nrows(), M.ncols(), [arb(0) if x.contains(0) else x.mid() for x in inverse.entries()])
