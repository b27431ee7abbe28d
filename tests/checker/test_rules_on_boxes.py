"""The rules where their arguments are boxes: what they conclude holds of every member, at the ends above all."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.checker import network
from rankmath.checker.intervals import Interval, Rejected, Undecided
from rankmath.checker.kernel import Evaluator
from rankmath.checker.rules import RULES
from rankmath.checker.statements import COMMON, definitions
from rankmath.linalg.exact_residuals import exact_residual_bounds

BITS = 128
SHARED = definitions(
    f"{RULES}{COMMON}\nresidual(X, p) = residual_of(X, p, hints_inf[0] if p == inf else hints_composite[0])\n"
)


def work(hints: Any = None) -> Evaluator:
    return Evaluator(SHARED, {}, network.network_hints(hints or {}, 0), BITS, time.monotonic() + 60)


def between(low: Any, high: Any) -> Interval:
    return Interval.of(Fraction(low), BITS).merged(Interval.of(Fraction(high), BITS), min, max)


def box(A: Any, width: float) -> Any:
    return [box(row, width) if isinstance(row, list) else between(row - width, row + width) for row in A]


def members(A: Any, width: float, count: int = 12) -> list[np.ndarray]:
    """Corners of the box, and its middle."""
    rng = np.random.default_rng(0)
    middle = np.array(A, float)
    return [middle, *(middle + width * rng.choice([-1, 1], middle.shape) for _ in range(count))]


def ends(x: Any) -> tuple[float, float]:
    return (float(x), float(x)) if isinstance(x, (int, Fraction)) else (float(x.lower()), float(-(-x).lower()))


def holds(x: Any, value: float, slack: float = 1e-12) -> bool:
    low, high = ends(x)
    return low <= value + slack * abs(value) and high >= value - slack * abs(value)


INCREASING: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "expc": lambda x: math.expm1(x) / x if x else 1.0,
    "log": math.log,
}


@pytest.mark.parametrize("name", INCREASING)
@pytest.mark.parametrize(("low", "high"), [(0.25, 0.75), (0.5, 4), (1, 8), (0.125, 1), (3, 3.0625)])
def test_an_increasing_function_has_its_ends_at_the_ends(name: str, low: float, high: float) -> None:
    found, f = work().apply(name, [between(low, high)]), INCREASING[name]
    assert all(holds(found, f(x)) for x in np.linspace(low, high, 9).tolist())
    if name == "log":
        assert np.allclose(ends(found), (f(low), f(high)), rtol=1e-9)


@pytest.mark.parametrize(("low", "high"), [(0.25, 0.75), (-3, -1), (0.5, 4), (-0.25, 0.125)])
def test_odd_and_even_functions_hold_their_members(low: float, high: float) -> None:
    for name, f in (("tanh", math.tanh), ("tanhc", lambda x: math.tanh(x) / x if x else 1.0)):
        try:
            found = work().apply(name, [between(low, high)])
        except Undecided:
            assert low <= 0 <= high
            continue
        assert all(holds(found, f(x)) for x in np.linspace(low, high, 9).tolist())


def test_a_whole_part_is_told_only_where_the_box_has_one() -> None:
    for low, high, value in ((1.25, 1.75, 1), (-0.75, -0.25, -1), (2, 2.5, 2), (-3, -2.5, -3)):
        assert work().apply("floor", [between(low, high)]) == value
    for low, high in ((0.75, 1.25), (-0.25, 0.25), (1.5, 2)):
        with pytest.raises(Undecided):
            work().apply("floor", [between(low, high)])


@pytest.mark.parametrize("power", [Fraction(1, 2), Fraction(3, 2), Fraction(1, 3), Fraction(2), Fraction(-1, 3)])
def test_real_powers_hold_those_of_both_ends(power: Fraction) -> None:
    found = work().apply("real_power", [between(0.5, 3), power])
    for x in (0.5, 1.0, 2.0, 3.0):
        assert holds(found, x ** float(power))
    assert np.allclose(sorted(ends(found)), sorted((0.5 ** float(power), 3 ** float(power))), rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_softmax_of_a_box_holds_that_of_every_corner_and_is_attained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    L, m = (rng.integers(-8, 9, 3) / 4).tolist(), [1, 2, int(rng.integers(0, 2))]
    width = 0.25
    found = work().apply("softmax", [box(L, width), [Fraction(k) for k in m]])
    reached = np.array([[math.inf, -math.inf]] * 3)
    for signs in itertools.product((-1, 1), repeat=3):
        e = np.array(m) * np.exp(np.array(L) + width * np.array(signs))
        P = e / e.sum()
        assert all(holds(x, p) for x, p in zip(found, P.tolist(), strict=True))
        reached = np.stack([np.minimum(reached[:, 0], P), np.maximum(reached[:, 1], P)], axis=1)
    assert np.allclose([ends(x) for x in found], reached, rtol=1e-9)  # every logit occurs once


@pytest.mark.parametrize("width", [0.0, 0.25, 0.5, 0.75])
def test_one_equation_is_solved_over_the_whole_box_of_slopes(width: float) -> None:
    """(1 ± w) x = 1: x reaches 1/(1 − w), which |Cb| e/(1 − e) attains."""
    (x,) = work().apply("solve", [box([[1.0]], width), [Fraction(1)]])
    assert holds(x, 1 / (1 - width))
    assert holds(x, 1 / (1 + width))
    assert ends(x)[1] <= 1 / (1 - width) + 1e-9


def test_equations_without_a_unique_solution_are_not_solved() -> None:
    for A in (
        [[between(0, 2)]],
        [[between(-0.5, 2.5)]],
        box([[1.0, 0.0], [0.0, 1.0]], 0.5),
        box([[1.0, 1.0], [1.0, 1.0]], 0.0),
    ):
        with pytest.raises((Undecided, Rejected)):
            work().apply("solve", [A, [Fraction(1)] * len(A)])
        assert work().apply("nonsingular", [A]) is None


@pytest.mark.parametrize("seed", range(5))
def test_matrices_of_a_box_are_solved_and_measured_as_each_member(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = (np.diag([4.0, -5.0, 3.0]) + rng.integers(-4, 5, (3, 3)) / 4).tolist()
    width, b = 0.0625, [1.0, -2.0, 3.0]
    x = work().apply("solve", [box(A, width), [Fraction(v) for v in b]])
    size = work().apply("spectral", [box(A, width)])
    for member in members(A, width):
        assert all(holds(found, value) for found, value in zip(x, np.linalg.solve(member, b).tolist(), strict=True))
        assert holds(size, float(np.linalg.norm(member, 2)), 1e-9)
    S = (np.array(A) + np.array(A).T).tolist()
    least = work().apply("least_eigenvalue", [box(S, width)])
    for member in members(S, width):
        assert holds(least, float(np.linalg.eigvalsh((member + member.T) / 2)[0]), 1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("norm", ["inf", "composite"])
def test_residuals_of_a_box_hold_those_of_its_members(seed: int, norm: Any) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (4, 2)).astype(float).tolist()
    best = exact_residual_bounds(np.array(X, int), norm)
    lines = [{"columns": [Fraction(w) for w in p.columns], "rows": [Fraction(w) for w in p.rows]} for p in best.dual]
    found = work({f"X[0] {norm}": {"lines": lines, "center": list(best.center)}}).apply(
        "residual", [box(X, 0.25), norm]
    )
    for member in members(X, 0.25, 6):
        true = exact_residual_bounds((4 * member).astype(int), norm)
        assert holds(found, float(true.upper) ** (1 / true.power) / 4, 1e-9)


def test_weights_on_rows_and_columns_bound_no_single_norm() -> None:
    """sum(p) a + sum(q) b >= c bounds b alone only if no weight is on columns, and a pair only at the corners."""
    X = [[Fraction(0), Fraction(0)], [Fraction(1000), Fraction(0)]]  # b = 500, a = 1000
    zeros, ones = [Fraction(0)] * 2, [Fraction(1)] * 2
    for p, q, least in ((zeros, ones, 500), (ones, ones, 0), ([Fraction(9), Fraction(0)], ones, 0), (ones, zeros, 0)):
        found = work({"X[0] inf": {"lines": [{"columns": p, "rows": q}]}}).apply("residual", [X, "inf"])
        assert ends(found)[0] == least
        assert holds(found, 500)


@pytest.mark.parametrize("rounded", [(), (0,), (1,), (2,), (0, 1, 2)])
def test_a_corner_counts_where_its_lines_are_known_up_to_rounding(rounded: tuple[int, ...]) -> None:
    """a >= 2, a + b >= 6, b >= 1: ab is least at (5, 1). Bounds too long to be exact are intervals."""
    lines: list[Any] = [[Fraction(x) for x in line] for line in ((1, 0, 2), (1, 1, 6), (0, 1, 1))]
    for k in rounded:
        lines[k][2] = between(lines[k][2], lines[k][2] + Fraction(1, 2**40))
    corners = work().apply("corners", [work().apply("with_axes", [lines])])
    assert min(ends(a)[0] * ends(b)[0] for a, b in corners) == pytest.approx(5, rel=1e-9)


# -- contraction in a weighted maximum norm: one token, whose map is known -----------------------------------


def test_the_box_reaches_size_times_the_weight_of_each_entry() -> None:
    x, w = [[Fraction(1), Fraction(2)]], [[Fraction(1), Fraction(1, 4)]]
    (row,) = work().apply("boxed", [x, w, Fraction(1, 8)])
    assert [ends(entry) for entry in row] == [(0.875, 1.125), (1.96875, 2.03125)]


def contracts(x: Any, V: Any, w: Any, size: Any, rate: Any) -> bool | None:
    as_rows = [[[Fraction(t) for t in row] for row in A] for A in (x, V, w)]
    zeros = [[Fraction(0)] * len(V) for _ in V]
    seen = [[Fraction(1)] * len(x) for _ in x]
    return work().apply(  # type: ignore[no-any-return]
        "contracts", [as_rows[0], zeros, as_rows[1], seen, as_rows[2], Fraction(size), Fraction(rate), Fraction(64)]
    )


@pytest.mark.parametrize("rate", [Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)])
@pytest.mark.parametrize("weight", [1, Fraction(1, 4)])
def test_a_centre_may_move_by_what_the_rate_leaves(rate: Fraction, weight: Fraction) -> None:
    """d = 1: F = 1 everywhere, so a centre 1 − δ moves by δ, which must be at most (1 − rate) size w."""
    size = Fraction(1, 1000)
    most = (1 - rate) * size * weight
    for share, shown in ((Fraction(99, 100), True), (1, True), (Fraction(101, 100), None), (-1, True), (-2, None)):
        assert contracts([[1 - share * most]], [[3]], [[weight]], size, rate) is shown


def test_what_contracts_has_a_size_a_rate_and_weights() -> None:
    for size, rate, weight in (
        (0, Fraction(1, 2), 1),
        (1, 1, 1),
        (1, 0, 1),
        (1, 2, 1),
        (1, -1, 1),
        (-1, Fraction(1, 2), 1),
    ):
        assert contracts([[1]], [[3]], [[weight]], Fraction(size, 8), rate) is None
    for weights in ([[1, 0]], [[0, 1]], [[1, -1]]):
        assert contracts([[1, 0]], [[1, 0], [0, Fraction(1, 4)]], weights, Fraction(1, 1000), Fraction(1, 2)) is None
    assert contracts([[1, 0]], [[1, 0], [0, Fraction(1, 4)]], [[1, 1]], Fraction(1, 1000), Fraction(1, 2)) is True


@pytest.mark.parametrize("turn", [False, True])
def test_a_rate_is_that_of_the_largest_slope_of_the_box(turn: bool) -> None:
    """V = diag(1, t) at e₁: DF = diag(0, t) there, and more beside it, the tokens off the sphere included."""
    t = Fraction(1, 2)
    x, V = ([[0, 1]], [[t, 0], [0, 1]]) if turn else ([[1, 0]], [[1, 0], [0, t]])
    for rate, size, shown in (
        (Fraction(51, 100), Fraction(1, 1000), True),
        (Fraction(49, 100), Fraction(1, 1000), None),
        (Fraction(51, 100), Fraction(1, 4), None),
        (Fraction(9, 10), Fraction(1, 10), True),
    ):
        assert contracts(x, V, [[1, 1]], size, rate) is shown


def test_weights_are_those_of_the_entries_that_a_row_reads() -> None:
    """V = diag(1, t), W = 0, two tokens that see each other: y = (x₁ + x₂)V/2, so DF_ik = diag(0, t)/2 at e₁."""
    t, rate = Fraction(1, 2), Fraction(51, 100)
    x, V = [[1, 0], [1, 0]], [[1, 0], [0, t]]
    assert contracts(x, V, [[1, 1], [1, 1]], Fraction(1, 10**4), rate) is True
    # t (w_1 + w_2)/2 <= rate w_i fails for the lighter token.
    assert contracts(x, V, [[1, 1], [1, 2]], Fraction(1, 10**4), rate) is None
    assert contracts(x, V, [[1, 1], [1, 2]], Fraction(1, 10**4), Fraction(76, 100)) is True
    assert contracts(x, V, [[1, 2], [1, 1]], Fraction(1, 10**4), Fraction(74, 100)) is None


def resolves(x: Any, V: Any, w: Any, core: Any, rate: Any, v: Any, s: Any, u: Any) -> bool | None:
    x, V, w, v, u = ([[Fraction(t) for t in row] for row in A] for A in (x, V, w, v, u))
    zeros, seen = [[Fraction(0)] * len(V) for _ in V], [[Fraction(1)] * len(x) for _ in x]
    return work().apply(  # type: ignore[no-any-return]
        "resolves", [x, zeros, V, seen, w, Fraction(core), Fraction(rate), v, Fraction(s), u, Fraction(64)]
    )


def test_eigenvalues_are_told_within_their_discs() -> None:
    """DF = diag(0, 1/2) at e₁: discs of 1/100 about values that are off by less, and by more."""
    x, V, ones, core = [[1, 0]], [[2, 0], [0, 1]], [[1, 1]], Fraction(1, 10**4)
    for v, told in (
        ([0, 0.5], True),
        ([0.009, 0.5], True),
        ([0, 0.509], True),
        ([0.011, 0.5], None),
        ([-0.011, 0.5], None),
        ([0, 0.511], None),
        ([0, 0.489], None),
        ([0.5, 0], None),
    ):
        assert resolves(x, V, ones, core, Fraction(1, 2), [v], Fraction(1, 100), ones) is told
    # The scales are positive, the centre moves by what the rate leaves, and the box is as large as the core.
    assert resolves(x, V, ones, core, Fraction(1, 2), [[0, 0.5]], Fraction(1, 100), [[1, 0]]) is None
    assert resolves(x, V, ones, Fraction(1, 4), Fraction(1, 2), [[0, 0.5]], Fraction(1, 100), ones) is None
    assert resolves([[1]], [[3]], [[1]], Fraction(1, 1000), Fraction(3, 4), [[5]], Fraction(1, 100), [[0]]) is None
    for off, told in ((0.9, True), (1.1, None)):
        one = [[1 - Fraction(off) / 4000]]
        assert resolves(one, [[3]], [[1]], Fraction(1, 1000), Fraction(3, 4), [[0]], Fraction(1, 100), [[1]]) is told
