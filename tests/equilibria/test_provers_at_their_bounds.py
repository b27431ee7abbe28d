"""The provers of contraction and growth where each of their conditions is just met, and just not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat

from rankmath.arithmetic.balls import precision
from rankmath.equilibria import proofs
from rankmath.equilibria.balls import BallMap, exact_matrix, spread
from rankmath.equilibria.certify import EquilibriumProof, _rank_claim
from rankmath.equilibria.constructions import layernorm_equilibrium
from rankmath.equilibria.contraction import (
    DISC,
    NotContracting,
    _largest_so,
    _rank_data,
    ball_map,
    box_around,
    demand_discs,
    prove_contraction,
    row_sums,
)
from rankmath.equilibria.designs import path_design
from rankmath.equilibria.proofs import (
    Existence,
    Inconclusive,
    Minor,
    Problem,
    Refused,
    _lies_in_invariant_subspace,
    preserved_support,
    prove_escape,
    prove_existence,
)
from rankmath.linalg.masks import Mask

ONES = ((Fraction(1), Fraction(1)),)


def growing(*rows: tuple[float, float]) -> Any:
    """Row sums a + c r² over boxes of half-width r: a small box tells nothing of where their room ends."""

    def sums(box: arb_mat) -> list[arb]:
        return [arb(a) + arb(c) * x.rad() * x.rad() for (a, c), x in zip(rows, box.entries(), strict=True)]

    return sums


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize(("steep", "proved"), [(1, 2), (6, 3), (30, 4), (100, 5), (1000, 7)])
def test_a_size_is_proved_of_every_row_and_by_the_rate(at: int, steep: int, proved: int) -> None:
    """3/8 + c r² ≤ 1/2 on the box that is proved, and not on the next power of two."""
    rows = [(0.125, 0.0), (0.125, 0.0)]
    rows[at] = (0.375, steep)
    sums, X = growing(*rows), arb_mat([[1, 2]])
    with precision(400):
        found = _largest_so(sums, X, ONES, Fraction(1, 2), Fraction(1, 10**9), 0.0)
    assert found == Fraction(1, 4 * 2**proved)
    within, beyond = (sums(box_around(X, ONES, found * factor)) for factor in (4, 8))
    assert all(x <= 0.5 for x in within)
    assert proved == 2 or any(x > 0.5 for x in beyond)
    # A core that is larger than what contracts is no equilibrium's.
    with precision(400), pytest.raises(NotContracting, match="mapped into itself"):
        _largest_so(sums, X, ONES, Fraction(1, 2), Fraction(1, 2**proved) * Fraction(101, 100), 0.0)


@pytest.mark.parametrize("rows", [[(0.6, 0.0), (0.1, 0.0)], [(0.1, 0.0), (0.6, 0.0)], [(0.5, 0.0), (0.1, 0.0)]])
def test_rows_that_shrink_by_less_than_the_rate_prove_nothing(rows: list[tuple[float, float]]) -> None:
    with pytest.raises(NotContracting, match="row"):
        _largest_so(growing(*rows), arb_mat([[1, 2]]), ONES, Fraction(1, 2), Fraction(1, 10**9), 0.0)


@pytest.mark.parametrize("design", [path_design(3, 60), path_design(3, 90, rank=2), path_design(4, 120)])
def test_the_core_holds_what_the_centre_moves_by(design: Any) -> None:
    """|F(X₀) − X₀| ≤ (1 − rate)·core·w by mpmath, from the definition; a core a hundredth as large would not do."""
    proof = prove_contraction(design)
    n, d = design.X.shape
    with mpmath.workdps(400):
        X, W, M = (mpmath.matrix(part.tolist()) for part in (design.X, design.W_V, design.W_QK))
        logits, worst = X * M * X.T, mpmath.mpf(0)
        for i in range(n):
            powers = [mpmath.exp(logits[i, j]) if design.mask.allowed[i, j] else mpmath.mpf(0) for j in range(n)]
            y = [sum(p * (X * W)[j, b] for j, p in enumerate(powers)) for b in range(d)]
            length = mpmath.sqrt(sum(t * t for t in y))
            for b in range(d):
                w = proof.weights[i][b]
                worst = max(worst, abs(y[b] / length - X[i, b]) * w.denominator / w.numerator)
        left = (1 - proof.rate) * proof.core
        size = mpmath.mpf(left.numerator) / left.denominator
        assert 0 < worst <= size < 100 * worst


def test_the_rank_is_bounded_by_the_coordinates_that_the_map_may_fill() -> None:
    """Values that carry the first coordinate to one that no token has: it may be filled, so the rank may grow."""
    design = path_design(5, rank=2)
    weights = ((Fraction(1),) * 5,) * 5
    assert len(_rank_data(design, weights, Fraction(1, 100))[0]) == 2
    W_V = design.W_V.copy()
    W_V[0, 3] = 2.0**-60
    with pytest.raises(NotContracting, match="exceed"):
        _rank_data(replace(design, W_V=W_V), weights, Fraction(1, 100))


@pytest.mark.parametrize(("share", "told"), [(Fraction(2, 5), True), (Fraction(101, 100), False)])
def test_a_disc_is_as_wide_as_it_says(share: Fraction, told: bool) -> None:
    """The sums beside the diagonal take half of a disc: a value off by 2/5 of it is told, by all of it not."""
    design = path_design(3)
    proof = prove_contraction(design)
    assert proof.spectrum is not None
    with precision(proof.spectral_bits):
        F, box = ball_map(design), box_around(exact_matrix(design.X), proof.weights, proof.core)
        for i, b in np.ndindex(3, 3):
            for sign in (-1, 1):
                rows = [list(row) for row in proof.spectrum.values]
                rows[i][b] += sign * share * DISC
                claim = replace(proof.spectrum, values=tuple(map(tuple, rows)))
                if told:
                    demand_discs(F, box, claim)
                else:
                    with pytest.raises(NotContracting, match="spectrum"):
                        demand_discs(F, box, claim)


def test_bounds_term_by_term_leave_no_term_out() -> None:
    """Apart or not, the row sums of every token are at least those of the Jacobian at the centre."""
    rng = np.random.default_rng(4)
    for n, d in ((3, 2), (4, 3)):
        W_V, W = rng.standard_normal((d, d)), rng.standard_normal((d, d))
        F = BallMap(exact_matrix(W_V), exact_matrix(W), np.tril(np.ones((n, n), int)).tolist(), "sphere")
        X = exact_matrix(rng.standard_normal((n, d)))
        weights = tuple(tuple(Fraction(int(k)) for k in row) for row in rng.integers(1, 9, (n, d)))
        flat = [w for row in weights for w in row]
        with precision(120):
            exact = [sum(abs(x) * int(w) for x, w in zip(row, flat, strict=True)) for row in F.jacobian(X).tolist()]
            for apart in (False, True):
                sums = row_sums(F, X, weights, apart=apart)
                assert all(a >= b * (1 - arb(2) ** -60) for a, b in zip(sums, exact, strict=True))


class Slopes:
    """A problem of which the Jacobian is all that is known."""

    def __init__(self, J: float) -> None:
        self.J = arb_mat([[J]])

    def whole_map(self) -> Slopes:
        return self

    def jacobian(self, box: arb_mat) -> arb_mat:
        return self.J


def existence(centre: list[list[float]], radius: Fraction) -> Existence:
    n, d = len(centre), len(centre[0])
    rows = tuple(tuple(Fraction(x) for x in row) for row in centre)
    return Existence(64, tuple(range(n)), ((1,) * n,) * n, (tuple(range(d)),) * n, rows, radius, ())


def test_a_form_that_is_nowhere_positive_shows_no_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    """J = 1/2, P = −1, s = 1: JᵀPJ − s²P = 3/4 > 0, and nothing grows. Doubles only guess."""
    problem: Any = Slopes(0.5)
    known = existence([[1.0]], Fraction(1, 4))
    monkeypatch.setattr(np.linalg, "eigvals", lambda J: np.array([2.0]))
    for P in (-1.0, 0.0):
        monkeypatch.setattr(proofs, "growing_forms", lambda J, top, P=P: [(Fraction(1), np.array([[P]]))])
        with pytest.raises(Refused, match="no growth"):
            prove_escape(problem, known)


def test_a_rest_on_a_line_is_that_of_the_box_only_if_it_lies_in_it() -> None:
    """(2, 1)/√5 is kept by W_V = (1 ½; 0 0). A box around a place ten radii off has another rest, or none."""
    radius = Fraction(1, 2**20)
    rest = [2 / 5**0.5, 1 / 5**0.5]
    W_V = np.array([[1.0, 0.5], [0.0, 0.0]])
    for off, inside in ((0.0, True), (0.5, True), (10.0, False), (-10.0, False)):
        centre = [[rest[0], rest[1] + off * float(radius)]]
        problem = Problem(np.array(centre), W_V, np.eye(2), Mask.complete(1), 2, "sphere", 1e-3)
        with precision(64):
            assert _lies_in_invariant_subspace(problem, existence(centre, radius), [(0, 0)]) == inside


def test_a_box_spreads_by_its_rows_and_its_columns() -> None:
    """A column of ones and a row of ones are both √n long, whatever their largest row sum."""
    for n in (2, 5, 9):
        for shape in ((n, 1), (1, n)):
            wide = arb_mat(*shape, [arb(0, 1)] * n)
            assert n**0.5 <= spread(wide) < n**0.5 * (1 + 1e-6)
    # Euclid's length of [[1, 0], [1, 1]] is √3, its row and column sums are 2: the true size is the golden ratio.
    lower = arb_mat([[arb(0, 1), arb(0)], [arb(0, 1), arb(0, 1)]])
    assert 1.618 < spread(lower) < 3**0.5 + 1e-6
    # √(3·1) is below Euclid's √3 only where rows differ: a row of three ones over a zero row, and turned.
    for rows in ([[1, 1, 1], [1, 0, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0], [0, 0, 0]], [[1, 0, 0]] * 3):
        size = float(np.linalg.norm(np.array(rows), 2))
        assert size <= spread(arb_mat([[arb(0, r) for r in row] for row in rows])) * (1 + arb(2) ** -40)


def test_zeros_are_kept_only_where_nothing_flows_in() -> None:
    """By brute force: random patterns against the tokens that many layers fill."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, d = rng.integers(1, 5, 2)
        W_V = (rng.random((d, d)) < 0.4) * rng.uniform(1, 2, (d, d))
        seen = (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
        X = (rng.random((n, d)) < 0.4).astype(float)
        filled = X > 0
        Y = X
        for _ in range(n * d + 1):
            Y = seen @ Y @ W_V
            filled = filled | (Y > 0)
            Y = filled.astype(float)
        assert np.array_equal(preserved_support(X != 0, W_V, seen.astype(int).tolist()), filled)


class Bent:
    """One token of one number, g(x) = F(x) − x = −(x − 1) + steep (x − 1)²: a rest at 1, a slope that bends."""

    X, W_V, norm, tolerance, order = np.array([[1.0]]), np.array([[1.0]]), "sphere", 1e-3, None

    def __init__(self, steep: float) -> None:
        self.steep = arb(steep)

    def clusters(self) -> Any:
        return (0,), ((1,),)

    def ball_map(self, weights: Any) -> Bent:
        return self

    def whole_map(self) -> Bent:
        return self

    def layer(self, X: arb_mat) -> arb_mat:
        t = X[0, 0] - 1
        return arb_mat([[1 + self.steep * t * t]])

    def jacobian(self, X: arb_mat) -> arb_mat:
        return arb_mat([[2 * self.steep * (X[0, 0] - 1)]])


def test_one_rest_is_proved_by_the_slopes_of_the_whole_box() -> None:
    """At 64 bits the box has half-width 2⁻³²: slopes vary by 2·steep·2⁻³² on it, and must stay below 1."""
    for power, proved in ((28, True), (30, True), (31, False), (33, False), (40, False)):
        problem: Any = Bent(2.0**power)
        with precision(64):
            if proved:
                assert prove_existence(problem, 64).radius == Fraction(1, 2**32)
            else:
                with pytest.raises(Inconclusive, match="Krawczyk"):
                    prove_existence(problem, 64)


def test_the_whole_box_is_within_the_tolerance() -> None:
    """At 64 bits its half-width is 2⁻³² = 2.3e-10: a rest must be that much nearer than the tolerance."""
    for short, near in ((3e-10, True), (2e-10, False)):
        problem: Any = Bent(0.25)
        problem.X = np.array([[1 + problem.tolerance - short]])
        with precision(64):
            if near:
                prove_existence(problem, 64)
            else:
                with pytest.raises(Refused, match="tolerance"):
                    prove_existence(problem, 64)


@pytest.mark.parametrize(
    ("W_V", "rank"),
    [
        ([[0.5, 0.25], [1.0, 0.5]], 1),
        ([[0.5, 0.25], [1.0, 0.5 + 2.0**-50]], 2),
        ([[0.0, 0.0], [0.0, 2.0**-30]], 1),
        ([[3.0, 6.0], [1.0, 2.0]], 1),
    ],
)
def test_the_rank_of_the_values_is_exact(W_V: Any, rank: int) -> None:
    exact = Fraction(W_V[0][0]) * Fraction(W_V[1][1]) == Fraction(W_V[0][1]) * Fraction(W_V[1][0])
    assert exact == (rank == 1)
    problem = Problem(np.eye(2), np.array(W_V), np.eye(2), Mask.complete(2), 2, "sphere", 1e-3)
    assert proofs._rank_bound(problem, existence([[1.0, 0.0], [0.0, 1.0]], Fraction(1, 4))) == rank


def test_growth_is_proved_of_the_slopes_of_the_whole_box() -> None:
    """J = 3/2 at the centre, and down to 1 on the box where 2·steep·radius = 1/2."""
    for steep, grows in ((0.125, True), (1.0, False)):
        problem: Any = Bent(steep)
        problem.jacobian = lambda X, steep=steep: arb_mat([[1.5 + 2 * arb(steep) * (X[0, 0] - 1)]])
        if grows:
            assert prove_escape(problem, existence([[1.0]], Fraction(1, 4))).growth >= 1
        else:
            with pytest.raises(Refused, match="no growth"):
                prove_escape(problem, existence([[1.0]], Fraction(1, 4)))


def test_a_rest_is_as_near_as_the_tolerance_says() -> None:
    eq = layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    for off, near in ((0.9e-6, True), (1.1e-6, False)):
        for place in np.ndindex(2, 2):
            X = eq.X.copy()
            X[place] += off
            problem = Problem(X, eq.W_V, eq.W_QK, eq.mask, eq.d_qk, eq.norm, 1e-6)
            with precision(128):
                if near:
                    prove_existence(problem, 128)
                else:
                    with pytest.raises(Refused, match="tolerance"):
                        prove_existence(problem, 128)


def test_tokens_that_agree_in_one_coordinate_are_two() -> None:
    X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1e-7]])
    problem = Problem(X, np.eye(2), np.eye(2), Mask.complete(4), 2, "sphere", 1e-6)
    assert problem.clusters() == ((0, 1, 2, 0), ((2, 1, 1),) * 3)
    swap = replace(problem, order=(1, 0, 2, 3))
    assert swap.clusters()[0] == (0, 1, 2, 3)


def test_a_token_that_stays_zero_rests_nowhere() -> None:
    X = np.array([[1.0, 0.0], [0.0, 0.0]])
    problem = Problem(X, np.eye(2), np.eye(2), Mask(np.eye(2, dtype=bool)), 2, "sphere", 1e-6)
    with precision(64), pytest.raises(Refused, match="zero"):
        prove_existence(problem, 64)


def test_a_subspace_is_kept_by_all_tokens_or_none() -> None:
    """W_V = (1 1; 0 1) carries the first coordinate to the second: tokens z e₁ with F(z e₁)₁ = z are no rest."""
    z = 0.5**0.5
    known = existence([[z, 0.0], [z, 0.0]], Fraction(1, 2**20))
    problem = Problem(
        np.array([[z, 0.0]] * 2), np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2), Mask.complete(2), 2, "sphere", 1e-3
    )
    with precision(64):
        for support in (((0,), (0, 1)), ((0, 1), (0,))):
            assert not _lies_in_invariant_subspace(problem, replace(known, support=support), [(0, 0)])
        assert not _lies_in_invariant_subspace(problem, known, [])


@pytest.mark.parametrize(("shown", "at_most"), [(2, 2), (1, 2), (0, 2), (1, 1), (0, 1)])
def test_a_rank_is_told_where_both_bounds_meet(shown: int, at_most: int) -> None:
    """Lower and upper bound, and a rank that is claimed: proved only where all three are one number."""
    known = existence([[1.0, 0.0], [0.0, 1.0]], Fraction(1, 4))
    minor = Minor(tuple((i, i) for i in range(shown)), 0.5, at_most)
    told = EquilibriumProof(np.eye(2), np.eye(2), Mask.complete(2), 1, "sphere", (), existence=known, minor=minor)
    assert told.rank == (shown if shown == at_most else None)
    for rank in (None, 1, 2):
        claim = _rank_claim(minor, rank, known)
        assert claim.proved == (shown == at_most and rank in (None, shown))
