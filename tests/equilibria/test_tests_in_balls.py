"""The tests that proofs of equilibria end in, where they are just passed and where they are just not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat

from rankmath.arithmetic.balls import precision
from rankmath.equilibria import attraction
from rankmath.equilibria.attraction import Attraction, _LyapunovNorm, prove_attraction, spectral_estimate
from rankmath.equilibria.balls import (
    BallMap,
    euclidean,
    exact_matrix,
    identity,
    is_positive_definite,
    maximum,
    middle_floats,
    row_sum_norm,
    spectral_norm,
    spread,
)
from rankmath.equilibria.constructions import layernorm_equilibrium
from rankmath.equilibria.contraction import (
    NotContracting,
    _above,
    _excess,
    _rank_data,
    box_around,
    prove_contraction,
    row_sums,
)
from rankmath.equilibria.designs import causal_design, path_design
from rankmath.equilibria.proofs import (
    Existence,
    Inconclusive,
    Problem,
    Refused,
    _invariant_graph,
    closes,
    prove_escape,
    prove_existence,
    prove_minor,
    short_fraction,
)
from rankmath.linalg.masks import Mask


def matrix(rows: list[list[float]], radius: float = 0.0) -> arb_mat:
    return arb_mat([[arb(x, radius) for x in row] for row in rows])


@pytest.mark.parametrize(
    ("Y", "residual", "slope", "spread", "shown"),
    [
        # One number, radius 1/4: |Y g| + |1 - Y g'| r < r.
        ([[1]], [0.124], [[0.5]], 0, True),
        ([[1]], [0.126], [[0.5]], 0, False),
        ([[1]], [-0.126], [[1.5]], 0, False),
        ([[1]], [0.124], [[1]], 0.5, True),
        ([[1]], [0.126], [[1]], 0.5, False),
        ([[2]], [0.0624], [[0.25]], 0, True),
        ([[2]], [0.0626], [[0.25]], 0, False),
        ([[0]], [0], [[1]], 0, False),  # a singular Y shows nothing
        # The sums are over rows.
        ([[1, 0], [0, 1]], [0.2, 0], [[1, 0], [0.3, 1]], 0, True),
        ([[1, 0], [0, 1]], [0, 0.2], [[1, 0], [0.3, 1]], 0, False),
        ([[1, 0], [0, 1]], [0, 0.17], [[1, 0], [0.3, 1]], 0, True),
        ([[1, 0], [0, 1]], [0, 0], [[1, 0.4], [0.3, 1]], 0.25, True),
        ([[1, 0], [0, 1]], [0, 0], [[1, 0.6], [0.3, 1]], 0.25, False),
        ([[0, 1], [1, 0]], [0.2, 0.1], [[0, 1], [1, 0]], 0, True),
    ],
)
def test_krawczyk_in_balls(Y: Any, residual: Any, slope: Any, spread: float, shown: bool) -> None:
    points = matrix([[x] for x in residual])
    assert closes(matrix(Y), points, matrix(slope, spread), arb(1) / 4) == shown
    assert not closes(matrix(Y), matrix([[x] for x in residual], 0.25), matrix(slope, spread), arb(1) / 4)


class Linear:
    """X -> X J, and the box its derivative was last asked about."""

    def __init__(self, J: arb_mat) -> None:
        self.J, self.asked = J, arb_mat(1, 2)

    def jacobian(self, box: arb_mat) -> arb_mat:
        self.asked = box
        return self.J


def norm_of(J: list[list[float]], drift: float = 0.03, exact: float = 1.0, scale: float = 2.0) -> _LyapunovNorm:
    F: Any = Linear(matrix(J))
    R = identity(2) * arb(scale)
    return _LyapunovNorm(F, matrix([[1, 2]]), R, R.inv(), arb(exact), 0.25, Fraction(1, 2), arb(drift))


def test_a_contraction_in_balls_is_shown_up_to_its_bounds() -> None:
    """rate 1/2, R = 2I, S = I/2, so that |S|_F = 1/sqrt(2)."""
    calm = [[0.4, 0.0], [0.0, 0.4]]
    small = Fraction(1, 1000)
    found = norm_of(calm).attraction(Fraction(1, 10), small)
    assert found is not None
    assert 0.1414 < found.ball <= 0.1 * np.sqrt(2)
    assert (found.radius, found.rate) == (Fraction(1, 10), Fraction(1, 2))
    worse = norm_of(calm, exact=0.9).attraction(Fraction(1, 10), small)
    assert worse is not None
    assert 0.09 * 1.414 < worse.ball <= 0.09 * np.sqrt(2)
    # The drift 0.03 stays below (1 - rate) radius from radius 0.06 on.
    assert norm_of(calm).attraction(Fraction(61, 1000), small) is not None
    assert norm_of(calm, exact=0.9).attraction(Fraction(67, 1000), small) is not None
    for exact, radius in ((1.0, Fraction(59, 1000)), (0.9, Fraction(66, 1000))):
        with pytest.raises(Inconclusive):
            norm_of(calm, exact=exact).attraction(radius, small)
    # The box of the equilibrium: its diagonal below radius/|S|_F, that is its half-width below the radius.
    assert norm_of(calm).attraction(Fraction(1, 10), Fraction(99, 1000)) is not None
    with pytest.raises(Inconclusive):
        norm_of(calm).attraction(Fraction(1, 10), Fraction(101, 1000))
    # The slope below exact * rate, whatever its direction.
    for J, exact, shown in (
        ([[0.49, 0.0], [0.0, 0.1]], 1.0, True),
        ([[0.51, 0.0], [0.0, 0.1]], 1.0, False),
        ([[0.1, 0.0], [0.0, -0.51]], 1.0, False),
        ([[0.0, 0.51], [0.0, 0.0]], 1.0, False),
        ([[0.44, 0.0], [0.0, 0.1]], 0.9, True),
        ([[0.46, 0.0], [0.0, 0.1]], 0.9, False),
    ):
        assert (norm_of(J, exact=exact).attraction(Fraction(1, 10), small) is not None) == shown


def test_the_slope_is_taken_over_a_box_around_the_whole_set() -> None:
    """The entries of R z, |z| <= r, reach the lengths of R's rows times r."""
    F: Any = Linear(matrix([[1, 0], [0, 1]]))
    R = matrix([[1, 2], [0, 1]])
    norm = _LyapunovNorm(F, matrix([[1, 2]]), R, R.inv(), arb(1), 0.0, Fraction(1, 2), arb(0))
    slope = norm.slope(arb(0.1))
    assert all(slope[i, j].contains(arb(int(i == j))) for i in range(2) for j in range(2))
    for at, reach, middle in ((0, 0.1 * 5**0.5, 1), (1, 0.1, 2)):
        box = F.asked.entries()[at]
        assert float(box.mid()) == pytest.approx(middle)
        assert reach - 1e-12 <= float(box.rad()) <= reach + 1e-6
    F.J = matrix([[1, 0], [0, 3]])
    assert float(norm.slope(arb(0.1))[0, 1].mid()) == pytest.approx(-4)  # S J R, in this order


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_an_invariant_subspace_is_enclosed(shape: tuple[int, int]) -> None:
    """W = T⁻¹ M T, T with the rows (I C) and (0 I), M lower block triangular: W keeps the span of (I C)."""
    r, rest = shape
    rng = np.random.default_rng(r + 2 * rest)
    C = rng.integers(-3, 4, shape) / 2
    T = np.block([[np.eye(r), C], [np.zeros((rest, r)), np.eye(rest)]])
    M = rng.integers(-3, 4, (r + rest, r + rest)) / 4 + np.diag([0.0] * r + [9.0] * rest)
    M[:r, r:] = 0
    W = np.linalg.inv(T) @ M @ T
    with precision(128):
        found = _invariant_graph(matrix(W.tolist()), C + 1e-5, 128)
        assert found is not None
        for i in range(r):
            for j in range(rest):
                assert found[i, j].contains(arb(float(C[i, j])))
                assert float(found[i, j].rad()) < 1e-20
        turn = matrix([[0, 1], [-1, 0]])  # no line is kept by a quarter turn
        assert _invariant_graph(turn, np.array([[0.5]]), 128) is None


# -- bounds over a box, where they are attained


def test_sizes_of_boxes_are_those_of_their_largest_members(monkeypatch: pytest.MonkeyPatch) -> None:
    box = arb_mat([[arb(1, 1), arb(-2)], [arb(3), arb(-3, 1)]])
    assert 4 <= maximum(box.entries()) < 4 + 1e-6
    assert 7 <= row_sum_norm(box) < 7 + 1e-6
    assert 33 <= euclidean(box.entries()) ** 2 < 33 + 1e-6
    assert maximum([]) == 0
    # The radii as a matrix: |3 0; 4 0| is 5 long, and √(7·4) is more; |1 0; 0 1| is 1 though √2 long.
    for radii, size in (([[3, 0], [4, 0]], 5), ([[1, 0], [0, 1]], 1), ([[1, 1], [1, 1]], 2)):
        wide = arb_mat([[arb(9, r) for r in row] for row in radii])
        assert size <= spread(wide) < size + 1e-6
    wide = arb_mat([[arb(3, 0.5), arb(0, 0.5)], [arb(4, 0.5), arb(0, 0.5)]])
    assert 6 <= spectral_norm(wide) < 6 + 1e-6
    assert not spectral_norm(arb_mat([[arb.nan()]])) < 1e9
    monkeypatch.setattr(np.linalg, "norm", lambda *a: 0.9)  # doubles only guess
    assert not spectral_norm(identity(2)) < 1e9


@pytest.mark.parametrize(
    ("rows", "definite"),
    [
        ([[(1, 0.9)]], True),
        ([[(1, 1)]], False),
        ([[(1, 2)]], False),
        ([[(-1, 0)]], False),
        ([[(2, 0), (1, 0.9)], [(1, 0.9), (2, 0)]], True),
        ([[(2, 0), (1, 1.1)], [(1, 1.1), (2, 0)]], False),
        ([[(2, 0.5), (1, 0.5)], [(1, 0.5), (2, 0)]], True),
        ([[(2, 0.9), (1, 0.5)], [(1, 0.5), (2, 0)]], False),
        ([[(1, 0), (1, 0), (2, 0)], [(1, 0), (2, 0), (3, 0)], [(2, 0), (3, 0), (5.1, 0)]], True),
        ([[(1, 0), (1, 0), (2, 0)], [(1, 0), (2, 0), (3, 0)], [(2, 0), (3, 0), (4.9, 0)]], False),
    ],
)
def test_a_box_is_definite_only_if_every_member_is(rows: Any, definite: bool) -> None:
    assert is_positive_definite(arb_mat([[arb(*x) for x in row] for row in rows])) == definite


def known(centre: list[list[float]], radius: Fraction, W_V: Any, norm: str = "sphere") -> tuple[Problem, Existence]:
    """An enclosure as it would have been proved, every token a cluster of its own."""
    X = np.asarray(centre)
    n, d = X.shape
    existence = Existence(
        bits=64,
        clusters=tuple(range(n)),
        weights=((1,) * n,) * n,
        support=(tuple(range(d)),) * n,
        centre=tuple(tuple(Fraction(x) for x in row) for row in X.tolist()),
        radius=radius,
        preconditioner=(),
    )
    return Problem(X, np.asarray(W_V, float), np.eye(d), Mask.complete(n), d, norm, 1e-9), existence


def test_the_box_of_an_equilibrium_is_as_wide_as_proved() -> None:
    _, existence = known([[1.0, 2.0], [3.0, 4.0]], Fraction(1, 4), np.eye(2))
    existence = Existence(**{**existence.__dict__, "clusters": (1, 0, 1), "support": ((0, 1), (1,))})
    rows = existence.enclosure().tolist()
    for i, a, low, high in ((0, 0, 0.75, 1.25), (0, 1, 1.75, 2.25), (1, 1, 3.75, 4.25)):
        assert rows[i][a].contains(low)
        assert rows[i][a].contains(high)
        assert not rows[i][a].contains(high + 1e-6)
    assert rows[1][0].is_zero()
    assert existence.is_reduced
    kept = Existence(**{**existence.__dict__, "clusters": (0, 1)})
    assert kept.is_reduced  # one token keeps a zero
    assert not Existence(**{**kept.__dict__, "support": ((0, 1), (0, 1))}).is_reduced
    assert [row[1].contains(2) for row in existence.enclosure(tokens=True).tolist()] == [False, True, False]
    assert existence.tokens().tolist() == [[3, 4], [1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("centre", "radius", "W_V", "norm", "rank", "at_most", "least"),
    [
        ([[2.0, 1.0], [1.0, 2.0]], Fraction(1, 4), np.eye(2), "sphere", 2, 2, 1.5),  # 1.75² - 1.25²
        ([[2.0, 1.0], [1.0, 2.0]], Fraction(3, 4), np.eye(2), "sphere", 1, 2, 1.25),  # (1.5 1.5) twice is in the box
        ([[2.0, 1.0], [1.0, 2.0]], Fraction(9, 4), np.eye(2), "sphere", 0, 2, 0),
        ([[2.0, 1.0], [1.0, 2.0]], Fraction(1, 4), [[1, 1], [1, 1]], "sphere", 1, 1, 1.75),
        ([[2.0, 1.0], [1.0, 2.0]], Fraction(1, 4), np.eye(2), "standard", 1, 1, 1.75),
        ([[2.0, 1.0]], Fraction(1, 4), np.eye(2), "sphere", 1, 1, 1.75),
    ],
)
def test_a_minor_is_nonzero_on_the_whole_box(
    centre: Any, radius: Fraction, W_V: Any, norm: str, rank: int, at_most: int, least: float
) -> None:
    minor = prove_minor(*known(centre, radius, W_V, norm))
    assert (len(minor.pivots), minor.at_most) == (rank, at_most)
    if rank:
        rows, columns = (np.array(part) for part in zip(*minor.pivots, strict=True))
        rng = np.random.default_rng(0)
        members = np.asarray(centre) + float(radius) * rng.uniform(-1, 1, (500, *np.shape(centre)))
        sizes = abs(np.linalg.det(members[:, rows[:, None], columns[None, :]]))
        assert 0 < minor.least <= sizes.min()
        assert minor.least == pytest.approx(least, rel=0.35)


class Known:
    """A problem of which the Jacobian is all that is known."""

    def __init__(self, J: Any) -> None:
        self.J = arb_mat([[arb(*x) if isinstance(x, tuple) else arb(x) for x in row] for row in J])

    def whole_map(self) -> Known:
        return self

    def jacobian(self, box: arb_mat) -> arb_mat:
        return self.J


@pytest.mark.parametrize(
    ("J", "grows"),
    [
        ([[1.5]], True),
        ([[-1.5]], True),
        ([[(1.5, 0.3)]], True),
        ([[(1.5, 0.352)]], False),  # a ball times itself reaches down to 1.07, between 1.047 and its square
        ([[(1.5, 0.6)]], False),
        ([[0.9]], False),
        ([[2, 0], [0, 0.5]], True),
        ([[0, 2], [-2, 0]], True),
        ([[(2, 0.3), 0], [(0, 0.2), 0.5]], True),
        ([[0.5, 1e3], [0, 0.5]], False),
    ],
)
def test_growth_is_proved_of_every_jacobian_of_the_box(J: Any, grows: bool) -> None:
    problem: Any = Known(J)
    _, existence = known([[1.0]], Fraction(1, 4), [[1.0]])
    if not grows:
        with pytest.raises(Refused):
            prove_escape(problem, existence)
        return
    found = prove_escape(problem, existence)
    h, P = np.array(found.direction, float), np.array(found.form, float)
    assert found.growth >= 1
    assert h @ P @ h > 0
    for sign in (-1, 0, 1):
        member = np.array([[x[0] + sign * x[1] if isinstance(x, tuple) else x for x in row] for row in J], float)
        assert np.abs(np.linalg.eigvals(member)).max() > found.growth
        assert np.linalg.eigvalsh(member.T @ P @ member - float(found.growth) ** 2 * P).min() > 0


def test_short_numbers_are_below_and_close() -> None:
    for x in (1.0, 0.3, 1e-9, 12345.678, 2.0**-40, 0.999):
        assert x * (1 - 1 / 8) <= short_fraction(x) <= x
        assert short_fraction(x).numerator < 16 * short_fraction(x).denominator * max(1, x)


def test_a_smaller_set_is_smaller_in_every_number() -> None:
    found = Attraction((), (), Fraction(1, 2), Fraction(7, 8), 0.3).shrunk(2)
    assert (found.radius, found.rate) == (Fraction(9, 32), Fraction(7, 8))
    assert 0.3 * 9 / 16 * (1 - 1e-12) < found.ball < 0.3 * 9 / 16


# -- attraction


@pytest.fixture(scope="module")
def proved() -> tuple[Problem, Existence]:
    eq = layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    problem = Problem(eq.X, eq.W_V, eq.W_QK, eq.mask, eq.d_qk, eq.norm, 1e-6)
    with precision(128):
        return problem, prove_existence(problem, 128)


def test_the_largest_set_is_chosen_among_the_norms(
    proved: tuple[Problem, Existence], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large, up to a step, as what the best single share gives, and some give far less."""
    with precision(128):
        best = prove_attraction(*proved)
        alone = []
        for share in (0.1, 0.5, 0.9):
            monkeypatch.setattr(attraction, "_SHARES", (share,))
            alone.append(prove_attraction(*proved).ball)
    assert best.ball >= 0.7 * max(alone)
    assert min(alone) < 0.5 * max(alone)


def test_what_a_norm_of_lyapunov_knows_of_itself(proved: tuple[Problem, Existence]) -> None:
    """Every number of it against rationals: |I - SR|, |S (F(X) - X)|, the rate between that at the centre and 1."""
    problem, existence = proved
    with precision(128):
        X, F = existence.tokens(), problem.whole_map()
        J = F.jacobian(X).mid()
        S = attraction.lyapunov_factor(J, 0.9)
        assert S is not None
        moved = X + arb_mat([[arb(2) ** -20, 0], [0, 0]])
        found = _LyapunovNorm.of(F, moved, J, S)
        R_exact, S_exact = (
            np.array([[Fraction(float(x)) for x in row] for row in M.tolist()]) for M in (found.R, found.S)
        )
        wrong = np.eye(4, dtype=int) - S_exact @ R_exact
        size = sum(x * x for x in wrong.ravel())
        gap = 1 - found.exact
        assert gap > 0
        assert gap * gap >= arb(str(float(size))) * (1 - arb(2) ** -40)
        assert float(gap) < 1e-6
        step = middle_floats(F.layer(moved) - moved).ravel()
        assert float(found.drift) == pytest.approx(np.linalg.norm(middle_floats(found.S) @ step), rel=1e-9)
        assert found.at_centre < found.rate < 1
        assert float(1 - found.rate) == pytest.approx((1 - found.at_centre) / 8, rel=0.13)


def test_a_spectral_radius_of_one_attracts_nothing() -> None:
    _, existence = known([[1.0]], Fraction(1, 4), [[1.0]])
    for J in (1.0, -1.0, 1.5):
        problem: Any = Known([[J]])
        with pytest.raises(Refused, match="not below 1"):
            prove_attraction(problem, existence)
    assert spectral_estimate(matrix([[1.0, 1.0], [0.0, 1.0]])) == pytest.approx(1, abs=1e-4)
    assert spectral_estimate(matrix([[0.0, 4.0], [0.25, 0.0]])) == pytest.approx(1, abs=1e-4)
    assert spectral_estimate(matrix([[0.0, 1.0], [0.0, 0.0]])) == 0


def test_a_lyapunov_factor_contracts_and_is_of_size_one() -> None:
    for J, rate in (([[0.5, 10], [0, 0.25]], 0.75), ([[0, 1], [-0.5, 0.5]], 0.8), ([[0.9]], 0.95)):
        with precision(128):
            S = attraction.lyapunov_factor(matrix(J), rate)
            assert S is not None
            assert spectral_norm(S * matrix(J) * S.inv()) < rate
            assert float(euclidean(S.entries())) == pytest.approx(1)


# -- the weighted maximum norm


def test_row_sums_are_those_of_the_largest_member_of_a_box() -> None:
    """Over a box they are at least what any member has, about its own diagonal too; on a point they are equal."""
    design = path_design(3)
    rng = np.random.default_rng(0)
    weights = tuple(tuple(Fraction(int(k), 4) for k in row) for row in rng.integers(1, 9, (3, 3)))
    values = tuple(tuple(Fraction(int(k), 8) for k in row) for row in rng.integers(-8, 9, (3, 3)))
    w, v = np.array(weights, float).ravel(), np.array(values, float).ravel()
    W = np.array([[1, -1, 0.5], [0, 1, 2], [-1, 0.5, 1]])
    with precision(120):
        F = BallMap(exact_matrix(design.W_V), exact_matrix(W), design.mask.allowed.astype(int).tolist(), "sphere")
        X = rng.standard_normal((3, 3)).round(2)
        box = box_around(exact_matrix(X), weights, Fraction(1, 1000))
        for some, diagonal in ((None, 0 * v), (values, v)):
            wide = [float(x) for x in row_sums(F, box, weights, some)]
            point = [float(x) for x in row_sums(F, exact_matrix(X), weights, some)]
            J = middle_floats(F.jacobian(exact_matrix(X)))
            assert np.allclose(point, abs(J - np.diag(diagonal)) @ w, rtol=1e-9)
            for _ in range(20):
                inside = X + 1e-3 * rng.choice([-1, 1], X.shape) * w.reshape(3, 3)
                J = middle_floats(F.jacobian(exact_matrix(inside)))
                assert (abs(J - np.diag(diagonal)) @ w <= wide).all()


def test_boxes_excesses_and_powers_are_outward() -> None:
    weights = ((Fraction(1), Fraction(2)),)
    box = box_around(matrix([[1, 2]]), weights, Fraction(1, 4))
    assert box[0, 0].contains(0.75)
    assert box[0, 0].contains(1.25)
    assert box[0, 1].contains(1.5)
    assert not box[0, 1].contains(2.6)
    assert 1 <= _excess(matrix([[0.5, -2]]), weights) < 1 + 1e-9
    assert 1.5 <= _excess(matrix([[0.5, -2]], 1), weights) < 1.5 + 1e-8
    for x in (1.0, 0.75, 0.5, 1e-30, 3.0):
        assert x <= _above(arb(x)) <= 4 * x
    assert _above(arb(0)) == 0


def test_a_rank_is_told_only_where_the_minor_dominates_the_whole_box() -> None:
    """Unit vectors: the reach of a token is size times the weights of the pivots' coordinates."""
    design = causal_design(3)
    weights = ((Fraction(1),) * 3,) * 3
    pivots, support = _rank_data(design, weights, Fraction(33, 100))
    assert len(pivots) == 3
    assert all(design.X[i, a] != 0 for i, a in pivots)
    for size in (Fraction(1, 3), Fraction(34, 100)):
        with pytest.raises(NotContracting, match="rank"):
            _rank_data(design, weights, size)
    assert np.array(support).shape == (3, 3)
    uneven = ((Fraction(1), Fraction(2), Fraction(4)),) * 3
    assert _rank_data(design, uneven, Fraction(2, 15))[0] == pivots
    with pytest.raises(NotContracting, match="rank"):
        _rank_data(design, uneven, Fraction(1, 7))
    proof = prove_contraction(design)
    assert proof.radius == proof.size * min(min(row) for row in proof.weights)
