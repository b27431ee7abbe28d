"""The Pareto frontier of (‖X − 1xᵀ‖₁, ‖X − 1xᵀ‖_∞) over all centers x, and the least product on it.

Write a(x) = max_k Σ_i |X_ik − x_k| and b(x) = max_i Σ_k |X_ik − x_k|. The set {(a, b) : some x has a(x) <= a,
b(x) <= b} is a convex polygon, unbounded upwards, and the product ab is quasi-concave on the quadrant: its least
value over the polygon is taken at a vertex. Vertices come from linear programs min λa + μb.

What such a program proves fits in n + d numbers. For weights p_k >= 0 on columns and q_i >= 0 on rows, and any x,

    (Σp) a(x) + (Σq) b(x) >= Σ_ik (p_k + q_i) |X_ik − x_k| >= Σ_k min_t Σ_i (p_k + q_i) |X_ik − t|,

and the right side is d weighted medians: no program has to be believed. At the optimal dual prices of the two
families of constraints it equals the optimum, so the line supports the polygon.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: (λ, μ, v), the half-plane λa + μb >= v.
Line: TypeAlias = tuple[Fraction, Fraction, Fraction]

# The search stops when the lines found so far leave no room for a product smaller by more than this factor.
_GAP = 1e-12
# A linear program that improves on the chord by less than this has confirmed it as an edge.
_EDGE = 1e-13
# HiGHS accepts violations up to 1e-10, absolute; data and costs this large make that 6e-15 of their size.
_MAGNIFY = 2.0**14
# Up to this many entries a dense matrix is faster than a sparse one.
_DENSE = 2**16


@dataclass(frozen=True, eq=False)
class DualWeights:
    """A dual point: weights >= 0 on the columns and on the rows of X. It proves the line described above."""

    columns: Floats
    rows: Floats


@dataclass(frozen=True, eq=False)
class Vertex:
    """A center with its a and b, and a line that supports the polygon there."""

    center: Floats
    a: float
    b: float
    weights: DualWeights
    line: tuple[float, float, float]

    @property
    def product(self) -> float:
        return self.a * self.b


def weighted_median_bound(X: Floats, weights: DualWeights) -> float:
    """Σ_k min_t Σ_i (p_k + q_i) |X_ik − t|, by one weighted median a column."""
    mass = weights.columns[None, :] + weights.rows[:, None]
    order = np.argsort(X, axis=0)
    values = np.take_along_axis(X, order, axis=0)
    heaped = np.cumsum(np.take_along_axis(mass, order, axis=0), axis=0)
    middle = np.argmax(2 * heaped >= heaped[-1], axis=0)
    medians = np.take_along_axis(values, middle[None, :], axis=0)
    return float(np.sum(mass * np.abs(X - medians)))


def least_product(lines: Iterable[Line]) -> Fraction:
    """min ab over a, b >= 0 with λa + μb >= v on every line: the least product at a corner, in exact rationals.

    >>> one, zero = Fraction(1), Fraction(0)
    >>> least_product([(one, zero, 2 * one), (zero, one, 3 * one), (one, one, 6 * one)])
    Fraction(8, 1)
    """
    # A line may be multiplied by any positive number: integers spare the gcds of Fractions.
    cuts = [(1, 0, 0), (0, 1, 0)]
    for line in lines:
        unit = math.lcm(*(x.denominator for x in line))
        l, m, v = (x.numerator * (unit // x.denominator) for x in line)
        cuts.append((l, m, v))
    products = []
    for (l1, m1, v1), (l2, m2, v2) in combinations(cuts, 2):
        determinant = l1 * m2 - l2 * m1
        if determinant == 0:
            continue
        a, b = v1 * m2 - v2 * m1, l1 * v2 - l2 * v1
        if determinant < 0:
            determinant, a, b = -determinant, -a, -b
        if all(l * a + m * b >= v * determinant for l, m, v in cuts):
            products.append(Fraction(a * b, determinant * determinant))
    return min(products)


def median_vertex(X: Floats) -> Vertex:
    """The least a: column medians, proved by all weight on the column whose sum is largest."""
    n, d = X.shape
    center = np.median(X, axis=0)
    largest = np.zeros(d)
    largest[np.argmax(np.abs(X - center).sum(axis=0))] = 1.0
    return _vertex(X, center, DualWeights(largest, np.zeros(n)))


@lru_cache(maxsize=64)
def _constraints(n: int, d: int) -> tuple[Any, Any, Any]:
    """Both families of constraints and the bounds, the same for all X. SciPy reads small ones faster dense."""
    from scipy import sparse

    eye = sparse.eye_array(n * d)
    column_of = sparse.kron(np.ones((n, 1)), sparse.eye_array(d))
    row_of = sparse.kron(sparse.eye_array(n), np.ones((d, 1)))
    split: Any = sparse.hstack([column_of, eye, -eye, sparse.csr_array((n * d, 2))], format="csc")
    blocks: list[list[Any]] = [
        [sparse.csr_array((d, d)), column_of.T, column_of.T, -np.ones((d, 1)), None],
        [None, row_of.T, row_of.T, None, -np.ones((n, 1))],
    ]
    sums: Any = sparse.block_array(blocks, format="csc")
    bounds = np.zeros((split.shape[1], 2))
    bounds[:d, 0], bounds[:, 1] = -np.inf, np.inf
    small = split.shape[0] * split.shape[1] <= _DENSE
    return (split.toarray(), sums.toarray(), bounds) if small else (split, sums, bounds)


class ResidualPrograms:
    """The linear programs min λ‖X − 1xᵀ‖₁ + μ‖X − 1xᵀ‖_∞ of one matrix X, whose entries should be of size 1.

    Variables x (free), U, V >= 0 (n × d each), a, b; X − 1xᵀ = U − V; Σ_i (U + V)_ik <= a; Σ_k (U + V)_ik <= b.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        self._split, self._sums, self._bounds = _constraints(*X.shape)

    def minimise(self, one: float, inf: float) -> Vertex:
        """A vertex where ``one``·a + ``inf``·b is least, with the weights that prove it."""
        from scipy.optimize import linprog

        n, d = self.X.shape
        cost = np.zeros(self._split.shape[1])
        cost[-2:] = _MAGNIFY * one, _MAGNIFY * inf
        solution: Any = linprog(
            cost,
            A_ub=self._sums,
            b_ub=np.zeros(n + d),
            A_eq=self._split,
            b_eq=_MAGNIFY * self.X.ravel(),
            bounds=self._bounds,
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solution.status != 0:
            raise ArithmeticError(f"the linear program of the residual was not solved: {solution.message}")
        prices = np.maximum(-solution.ineqlin.marginals / _MAGNIFY, 0.0)
        # A norm without cost has no price; what is left there is rounding.
        weights = DualWeights(prices[:d] * (one > 0), prices[d:] * (inf > 0))
        return _vertex(self.X, solution.x[:d] / _MAGNIFY, weights)


def least_composite(X: Floats) -> tuple[Floats, tuple[DualWeights, ...]]:
    """The center of least a·b, and weights whose lines leave no room below it.

    Between two neighbouring vertices the frontier lies in the triangle cut off by their supporting lines. The
    triangle with the lowest corner is refined first, by the program whose objective is constant along its chord:
    either the chord is an edge, and the triangle is done, or a new vertex splits it. Triangles whose corner
    already has a product above the best vertex are never opened.
    """
    programs = ResidualPrograms(X)
    left, right = median_vertex(X), programs.minimise(0.0, 1.0)
    best = min(left, right, key=lambda vertex: vertex.product)
    proofs = [left.weights, right.weights]
    triangles = [(left, right)]
    while triangles:
        triangles.sort(key=lambda pair: _corner_product(*pair), reverse=True)
        left, right = triangles.pop()
        if _corner_product(left, right) >= best.product * (1 - _GAP):
            break
        fall, run = left.b - right.b, right.a - left.a
        if fall <= 0 or run <= 0:  # the ends coincide up to rounding
            continue
        chord = fall * left.a + run * left.b
        new = programs.minimise(fall / chord, run / chord)
        proofs.append(new.weights)
        best = min(best, new, key=lambda vertex: vertex.product)
        if (fall * new.a + run * new.b) / chord < 1 - _EDGE:
            triangles += [(left, new), (new, right)]
    return best.center, tuple(proofs)


def _vertex(X: Floats, center: Floats, weights: DualWeights) -> Vertex:
    """The point of the polygon a center gives, and the line its weights prove."""
    distances = np.abs(X - center)
    a, b = float(distances.sum(axis=0).max()), float(distances.sum(axis=1).max())
    line = float(weights.columns.sum()), float(weights.rows.sum()), weighted_median_bound(X, weights)
    return Vertex(center, a, b, weights, line)


def _corner_product(left: Vertex, right: Vertex) -> float:
    """The product at the point where the two supporting lines meet, the least in the triangle but for its ends."""
    (l1, m1, v1), (l2, m2, v2) = left.line, right.line
    determinant = l1 * m2 - l2 * m1
    if determinant <= 0:  # one line: the triangle is a segment, and its ends are known
        return min(left.product, right.product)
    return (v1 * m2 - v2 * m1) * (l1 * v2 - l2 * v1) / determinant**2
