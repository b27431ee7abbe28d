"""The four proofs behind `certify_equilibrium`, in balls: existence, a nonzero minor, attraction, escape.

Each runs inside `precision(bits)` and returns an exact witness from which the proof can be repeated elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import acb, acb_mat, arb, arb_mat, fmpz_mat

from rankmath.arithmetic.balls import ball, lower_float, upper_float
from rankmath.counterexamples.equilibrium_balls import (
    BallMap,
    box,
    euclidean,
    exact_matrix,
    identity,
    maximum,
    middle,
    middle_floats,
    spectral_norm,
    submatrix,
)
from rankmath.counterexamples.equilibrium_map import Floats, jacobian, power_sum
from rankmath.counterexamples.stable_search import cluster_weights
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
    """The data whose equilibrium is to be proved: weights taken as exact, tokens accurate to `tolerance`."""

    X: Floats
    W_V: Floats
    W_QK: Floats
    mask: Mask
    d_qk: int
    norm: str
    tolerance: float

    def ball_map(self, weights: Sequence[Sequence[int]]) -> BallMap:
        """The map in balls, on tokens that stand for `weights` keys."""
        W = exact_matrix(self.W_QK) * (1 / arb(self.d_qk).sqrt())
        return BallMap(W_V=exact_matrix(self.W_V), W=W, weights=weights, norm=self.norm)

    def whole_map(self) -> BallMap:
        """The map in balls on all tokens."""
        return self.ball_map(self.mask.allowed.astype(int).tolist())

    def clusters(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Labels of the tokens that coincide to the tolerance, and the counts they see; singletons if unlike."""
        labels: list[int] = []
        leaders: list[int] = []
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
class Attraction:
    """A contraction: every start X = X₀ + R z, ‖z‖₂ ≤ radius, converges to the equilibrium.

    With e = ‖I − SR‖₂ and τ ≥ ‖S D²F[R·] R‖₂ over that set, (‖S DF(X₀) R‖₂ + radius·τ)/(1 − e) ≤ rate < 1 bounds
    the Lipschitz constant of F in the norm ‖R⁻¹·‖₂, and ‖S(F(X₀) − X₀)‖₂/(1 − e) ≤ (1 − rate)·radius keeps the set
    in itself. ``ball`` is the radius of a Frobenius ball about X₀ inside it. R and S act on row-stacked tokens.
    """

    R: Dyadics
    S: Dyadics
    radius: Fraction
    rate: float
    ball: float


@dataclass(frozen=True, eq=False)
class Escape:
    """DF at the equilibrium has an eigenvalue within `error` of `eigenvalue`, of modulus at least `least` > 1."""

    eigenvalue: complex
    error: float
    least: float


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

    Examples
    --------
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
    support = everywhere if problem.norm == "standard" else preserved_support(tokens != 0, problem.W_V, weights)
    unknowns = np.flatnonzero(support).tolist()
    F = problem.ball_map(weights)
    centre = _newton(F, exact_matrix(tokens), unknowns, bits)
    distance = maximum(
        [centre[c, a] - float(problem.X[i, a]) for i, c in enumerate(labels) for a in range(d)]
    ) + arb(2) ** -(bits // 2)
    if not distance <= problem.tolerance:
        raise Refused(
            f"the nearest equilibrium found is {upper_float(distance):.1e} away, "
            f"more than the tolerance {problem.tolerance:.0e}"
        )
    radius = arb(2) ** -(bits // 2)
    neighbourhood = box(centre, [radius if inside else arb(0) for inside in support.ravel()])
    slope = submatrix(F.jacobian(neighbourhood), unknowns, unknowns) - identity(len(unknowns))
    Y = _inverse(middle(slope))
    residual = _column(F.layer(centre) - centre, unknowns)
    for length in (_SHORT, bits):
        preconditioner = _shortened(Y, length)
        correction = preconditioner * residual
        contraction = identity(len(unknowns)) - preconditioner * slope
        inside = all(
            correction[i, 0].abs_upper()
            + radius * sum((contraction[i, j].abs_upper() for j in range(len(unknowns))), arb(0))
            < radius
            for i in range(len(unknowns))
        )
        if inside:
            return Existence(
                bits=bits,
                clusters=labels,
                weights=weights,
                support=tuple(tuple(np.flatnonzero(row).tolist()) for row in support),
                centre=_dyadics(centre),
                radius=Fraction(1, 2 ** (bits // 2)),
                preconditioner=_dyadics(preconditioner),
            )
    raise Inconclusive("Krawczyk's test does not close around the nearest approximate equilibrium")


def _newton(F: BallMap, X: arb_mat, unknowns: Sequence[int], bits: int) -> arb_mat:
    """An approximate equilibrium to nearly full precision, with dyadic entries; the zeros stay."""
    small = arb(2) ** -(7 * bits // 10)
    for _ in range(_NEWTON_STEPS):
        slope = middle(submatrix(F.jacobian(X), unknowns, unknowns)) - identity(len(unknowns))
        residual = middle(_column(F.layer(X) - X, unknowns))
        try:
            move = middle(slope.solve(residual))
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
    """The largest minor that elimination with full pivoting proves nonzero on the whole box."""
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


# -- stability ------------------------------------------------------------------------------------------------


def prove_attraction(problem: Problem, existence: Existence) -> Attraction:
    """A contraction in the norm of a Lyapunov matrix, on a neighbourhood as large as its curvature lets it be."""
    X = existence.tokens()
    flow = _FloatFlow.of(problem, middle_floats(X))
    if not flow.spectral < 1:
        raise Refused(f"the spectral radius of the Jacobian is about {flow.spectral:.6g}, not below 1")
    # Between the spectral radius and 1: a small rate bends the norm, a large one leaves no room to grow.
    shares = [flow.lyapunov(flow.spectral + share * (1 - flow.spectral)) for share in np.linspace(0.1, 0.9, 9)]
    room, S = max((pair for pair in shares if pair is not None), key=lambda pair: pair[0], default=(0.0, np.eye(1)))
    if room > 0:
        norm = _LyapunovNorm.of(problem, X, S)
        for halvings in range(1, 12):
            found = norm.attraction(short_fraction(room / 2**halvings), existence.radius)
            if found is not None:
                return found
    raise Refused(f"no contraction proved, though the spectral radius of the Jacobian is about {flow.spectral:.6g}")


@dataclass(frozen=True, eq=False)
class _FloatFlow:
    """Derivatives in float64, to guess what the balls then prove."""

    problem: Problem
    X: Floats
    J: Floats
    spectral: float

    @classmethod
    def of(cls, problem: Problem, X: Floats) -> _FloatFlow:
        J = cls._jacobian(problem, X)
        return cls(problem=problem, X=X, J=J, spectral=float(np.abs(np.linalg.eigvals(J)).max()))

    @staticmethod
    def _jacobian(problem: Problem, X: Floats) -> Floats:
        W = problem.W_QK / np.sqrt(problem.d_qk)
        return jacobian(X, problem.W_V, W, problem.mask.allowed.astype(float), problem.norm)

    def lyapunov(self, rate: float) -> tuple[float, Floats] | None:
        """S of norm 1 with ‖S J S⁻¹‖₂ < rate, from P = SᵀS = Σ (J/rate)ᵀᵏ (J/rate)ᵏ, and its room to 1.

        The room is (1 − ‖SJS⁻¹‖₂)/‖D²F‖ in that norm: how far the contraction reaches, to second order.
        """
        size = len(self.J)
        try:
            S = np.linalg.cholesky(power_sum(self.J / rate)).T
        except np.linalg.LinAlgError:
            return None
        S = S / np.linalg.norm(S, 2)
        R = np.linalg.inv(S)
        gram = np.zeros((size, size))
        for direction in R.T.reshape(size, *self.X.shape):
            T = S @ self._jacobian(self.problem, self.X + 1e-30j * direction).imag @ R * 1e30
            gram += T.T @ T
        slack = 1 - float(np.linalg.norm(S @ self.J @ R, 2))
        # Where the second derivative vanishes too, a radius of 1 is room enough.
        return min(slack / max(float(np.sqrt(np.linalg.norm(gram, 2))), 1e-9), 1.0), S


@dataclass(frozen=True, eq=False)
class _LyapunovNorm:
    """The norm ‖R⁻¹·‖₂ with S ≈ R⁻¹, and the map whose contraction in it is in question."""

    F: BallMap
    X: arb_mat
    R: arb_mat
    S: arb_mat
    defect: arb
    centre_rate: arb
    drift: arb

    @classmethod
    def of(cls, problem: Problem, X: arb_mat, S: Floats) -> _LyapunovNorm:
        R_ball = _shortened(exact_matrix(np.linalg.inv(S)), _SHORT)
        S_ball = _shortened(exact_matrix(S), _SHORT)
        defect = spectral_norm(identity(len(S)) - S_ball * R_ball)
        F = problem.whole_map()
        return cls(
            F=F,
            X=X,
            R=R_ball,
            S=S_ball,
            defect=defect,
            centre_rate=spectral_norm(S_ball * F.jacobian(X) * R_ball),
            drift=euclidean((S_ball * _column(F.layer(X) - X, range(len(S)))).entries()),
        )

    def curvature_on(self, radius: arb) -> arb:
        """An upper bound of sup ‖Σ_m u_m S D²F[R e_m] R‖₂ over unit u and the ellipsoid of this radius.

        It is the norm of the stacked matrices T_m = S D²F[R e_m] R, hence √λ_max(Σ T_mᵀ T_m).
        """
        size, (n, d) = self.R.ncols(), (self.X.nrows(), self.X.ncols())
        entries = self.R.entries()
        reach = [(euclidean(entries[i * size : (i + 1) * size]) * radius).abs_upper() for i in range(size)]
        neighbourhood = box(self.X, reach)
        gram = arb_mat(size, size)
        for m in range(size):
            direction = arb_mat(n, d, [entries[i * size + m] for i in range(size)])
            T = self.S * self.F.second_derivative(neighbourhood, direction) * self.R
            gram += T.transpose() * T
        return spectral_norm(gram).sqrt()

    def attraction(self, radius: Fraction, box_radius: Fraction) -> Attraction | None:
        """The contraction on the ellipsoid of this radius about the box of the equilibrium; None if not proved."""
        if not self.defect < 1:
            return None
        width = ball(radius)
        exact = 1 - self.defect
        rate = ((self.centre_rate + width * self.curvature_on(width)) / exact).abs_upper()
        inner = width * exact / spectral_norm(self.S)
        stays = rate < 1 and self.drift / exact <= (1 - rate) * width
        # The limit of the orbits is the equilibrium of the box only if the box lies inside.
        if not (stays and ball(box_radius) * arb(self.R.ncols()).sqrt() < inner):
            return None
        return Attraction(
            R=_dyadics(self.R),
            S=_dyadics(self.S),
            radius=radius,
            rate=upper_float(rate),
            ball=lower_float(inner),
        )


def prove_escape(problem: Problem, existence: Existence) -> Escape:
    """An eigenvalue outside the unit circle, by Krawczyk's test on the pair (v, λ) with one entry of v fixed."""
    J = problem.whole_map().jacobian(existence.enclosure(tokens=True))
    eigenvalues, vectors = np.linalg.eig(middle_floats(J))
    top = int(np.abs(eigenvalues).argmax())
    if not abs(eigenvalues[top]) > 1:
        raise Refused(f"the spectral radius of the Jacobian is about {abs(eigenvalues[top]):.6g}, not above 1")
    enclosed, error = _eigenvalue(acb_mat(J), complex(eigenvalues[top]), vectors[:, top])
    modulus = abs(enclosed)
    if not modulus > 1:
        raise Inconclusive("the enclosure of the largest eigenvalue does not leave the unit circle")
    middle_value = complex(float(enclosed.real.mid()), float(enclosed.imag.mid()))
    return Escape(eigenvalue=middle_value, error=error, least=lower_float(modulus))


def _eigenvalue(J: acb_mat, guess: complex, vector: Floats) -> tuple[acb, float]:
    """The ball of an eigenvalue that every matrix in the box J has, near the guess."""
    size = J.nrows()
    fixed = int(np.abs(vector).argmax())
    v = [acb(x.real, x.imag) for x in vector / vector[fixed]]
    eigenvalue = acb(guess.real, guess.imag)
    others = [i for i in range(size) if i != fixed]
    centre = acb_mat(size, size, [acb(x.real.mid(), x.imag.mid()) for x in J.entries()])

    def slope(matrix: acb_mat, at: acb, vec: Sequence[acb]) -> acb_mat:
        # Columns: the free entries of v, then λ.
        out = acb_mat(size, size)
        for i in range(size):
            for column, j in enumerate(others):
                out[i, column] = matrix[i, j] - (at if i == j else 0)
            out[i, size - 1] = -vec[i]
        return out

    def defect(matrix: acb_mat) -> acb_mat:
        return matrix * acb_mat(size, 1, v) - acb_mat(size, 1, [eigenvalue * x for x in v])

    try:
        for _ in range(_NEWTON_STEPS):
            move = slope(centre, eigenvalue, v).solve(defect(centre)).entries()
            for column, j in enumerate(others):
                v[j] = _centre_of(v[j] - move[column])
            eigenvalue = _centre_of(eigenvalue - move[-1])
            if maximum([abs(x) for x in move]) < arb(2) ** -60:
                break
        Y = slope(centre, eigenvalue, v).inv()
    except ZeroDivisionError:
        raise Inconclusive("the largest eigenvalue is not simple to working precision") from None
    Y = acb_mat(size, size, [_centre_of(x) for x in Y.entries()])
    shift = [abs(x).abs_upper() for x in (Y * defect(J)).entries()]
    radius = 4 * maximum(shift) + arb(2) ** -100
    blob = acb(arb(0, radius), arb(0, radius))
    wide = [x if i == fixed else x + blob for i, x in enumerate(v)]
    contraction = Y * slope(J, eigenvalue + blob, wide)
    for i in range(size):
        row = [abs(contraction[i, j] - int(i == j)).abs_upper() for j in range(size)]
        # Entries of the box have modulus up to √2 radius.
        if not shift[i] + arb(2).sqrt() * radius * sum(row, arb(0)) < radius:
            raise Inconclusive("Krawczyk's test on the largest eigenvalue does not close")
    return eigenvalue + blob, upper_float(arb(2).sqrt() * radius)


# -- exact numbers --------------------------------------------------------------------------------------------


def _rounded(x: arb, places: int) -> arb:
    """The midpoint, rounded to a multiple of 2^−places."""
    scaled = x.mid() * arb(2) ** places
    nearest = (scaled + arb(0.5)).mid().floor().mid()
    return nearest * arb(2) ** -places


def _shortened(M: arb_mat, bits: int) -> arb_mat:
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


def _dyadics(M: arb_mat) -> Dyadics:
    def fraction(x: arb) -> Fraction:
        mantissa, exponent = (int(part) for part in x.man_exp())
        return Fraction(mantissa) * Fraction(2) ** exponent

    return tuple(tuple(fraction(x) for x in row) for row in M.tolist())


def _matrix(rows: Sequence[Sequence[Fraction]]) -> arb_mat:
    return arb_mat([[ball(x) for x in row] for row in rows])


def _column(M: arb_mat, places: Sequence[int]) -> arb_mat:
    entries = M.entries()
    return arb_mat(len(places), 1, [entries[place] for place in places])


def _inverse(M: arb_mat) -> arb_mat:
    """An approximate inverse; what may be zero is zero, so that triangular matrices stay so in the certificate."""
    try:
        inverse = M.inv()
    except ZeroDivisionError:
        raise Inconclusive("DF − I is singular to working precision: the equilibrium is not isolated") from None
    return arb_mat(M.nrows(), M.ncols(), [arb(0) if x.contains(0) else x.mid() for x in inverse.entries()])


def _centre_of(x: acb) -> acb:
    return acb(x.real.mid(), x.imag.mid())
