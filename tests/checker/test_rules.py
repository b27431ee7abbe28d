"""The rules: what each concludes is true whatever the hint says, and the best hint makes it sharp."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.checker import checker, kernel, network
from rankmath.checker.advice import advice
from rankmath.checker.intervals import Dual, Interval, Rejected, Undecided
from rankmath.checker.kernel import PRECISIONS, Evaluator, decide, formula
from rankmath.checker.rules import RULES
from rankmath.checker.statements import COMMON, defined_network, definitions
from rankmath.linalg.exact_residuals import exact_residual_bounds
from rankmath.linalg.rationals import exact_array

BITS = 128
SHARED = definitions(
    f"{RULES}{COMMON}\nresidual(X, p) = residual_of(X, p, hints_inf[0] if p == inf else hints_composite[0])\n"
)
seeds = st.integers(0, 2**32 - 1)


def work(text: str = "", bits: int = BITS, hints: Mapping[str, Any] | None = None, **data: Any) -> Evaluator:
    guides = network.network_hints(hints or {}, 0)
    return Evaluator(SHARED | definitions(text), data, guides, bits, time.monotonic() + 60)


def rows(A: Any) -> list[list[Fraction]]:
    return [list(row) for row in exact_array("A", A, (None, None))]


def vector(v: Any) -> list[Fraction]:
    return list(exact_array("v", v, (None,)))


def boxed(A: Any, width: float = 0.0) -> list[list[Interval]]:
    w = Fraction(width)
    return [[Interval.of(x - w, BITS).merged(Interval.of(x + w, BITS), min, max) for x in row] for row in rows(A)]


def enclosed(x: Any) -> Interval:
    return Interval.of(x, BITS)


def holds(x: Any, value: float, slack: float = 1e-9) -> bool:
    low, high = (x, x) if isinstance(x, Fraction) else (x.lower(), -(-x).lower())
    return bool(low - Fraction(slack) <= Fraction(value) <= high + Fraction(slack))


# -- 3: dual lower bounds -----------------------------------------------------------------------------------


def columns_of(X: Any) -> Any:
    return [list(column) for column in zip(*X, strict=True)]


def composite_at(X: Any, x: Any) -> tuple[Fraction, Fraction]:
    distances = abs(np.array(rows(X)) - np.array(vector(x))[None, :])
    return distances.sum(axis=0).max(), distances.sum(axis=1).max()


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("boxes", [False, True])
def test_any_weights_prove_a_true_line_and_any_lines_a_true_bound(seed: int, boxes: bool) -> None:
    """At random centers, at the best center known, and at the best center of either norm."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X = rng.integers(-9, 10, (n, d))
    tokens: Any = boxed(X) if boxes else rows(X)
    lines = [
        {"columns": vector(rng.integers(0, 5, d)), "rows": vector(rng.integers(0, 5, n) * rng.integers(0, 2))}
        for _ in range(int(rng.integers(1, 5)))
    ]
    w = work(hints={"X[0] composite": {"lines": lines}, "X[0] inf": {"lines": lines}})
    proved = [w.apply("line", [columns_of(tokens), line["columns"], line["rows"]]) for line in lines]
    bounds = {norm: exact_residual_bounds(X, norm) for norm in ("one", "inf", "composite")}
    centers = [*rng.integers(-9, 10, (20, d)), *(b.center for b in bounds.values())]
    least = {norm: w.apply("residual", [tokens, norm]) for norm in ("composite", "inf")}
    for x in centers:
        a, b = composite_at(X, x)
        assert all(alpha * a + beta * b >= v for alpha, beta, v in proved)
        assert enclosed(least["composite"]).lower() ** 2 <= a * b
        assert enclosed(least["inf"]).lower() <= b
    for norm, bound in (("inf", bounds["inf"]), ("composite", bounds["composite"])):
        value = float(bound.upper) ** (1 / bound.power)
        assert holds(least[norm], value)
        proof = [{"columns": vector(p.columns), "rows": vector(p.rows)} for p in bound.dual]
        sharp = work(hints={f"X[0] {norm}": {"lines": proof, "center": list(bound.center)}})
        enclosure = enclosed(sharp.apply("residual", [tokens, norm]))
        assert float(enclosure.lower()) == pytest.approx(value, rel=1e-9)
        assert float(-(-enclosure).lower()) == pytest.approx(value, rel=1e-9)


def test_negative_weights_prove_nothing() -> None:
    """With a weight of -1 the line would claim more than is true: it is refused, wherever it stands."""
    X = rows([[0, 0], [4, 0], [0, 4]])
    for columns, weights in (([-1, 0], [1, 1, 1]), ([0, 0], [-1, 3, 3]), ([1, 1], [1, 1, Fraction(-1, 2**300)])):
        with pytest.raises(Rejected, match="negative"):
            work().apply("line", [columns_of(X), vector(columns), vector(weights)])
    for norm in ("inf", "composite"):
        bad = {f"X[0] {norm}": {"lines": [{"columns": vector([0, 0]), "rows": vector([-1, 3, 3])}]}}
        with pytest.raises(Rejected, match="negative"):
            work(hints=bad).apply("residual", [X, norm])


def test_weights_all_zero_prove_the_bound_zero() -> None:
    nothing = {"X[0] inf": {"lines": [{"columns": vector([0, 0]), "rows": vector([0, 0, 0])}]}}
    enclosure = enclosed(work(hints=nothing).apply("residual", [rows([[0, 0], [4, 0], [0, 4]]), "inf"]))
    assert enclosure.lower() == 0
    assert -(-enclosure).lower() >= 4


def test_without_hints_the_residual_is_still_enclosed() -> None:
    X = rows([[0, 0], [4, 0], [0, 4]])
    for norm in ("inf", "composite"):
        true = exact_residual_bounds(X, norm)  # type: ignore[arg-type]
        assert holds(work().apply("residual", [X, norm]), float(true.upper) ** (1 / true.power))


# -- 5: definiteness ---------------------------------------------------------------------------------------


@given(seed=seeds, size=st.integers(1, 5))
@settings(max_examples=60)
def test_definiteness_is_told_as_exact_minors_tell_it(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-5, 6, (size, size))
    S = A + A.T
    minors = [int(flint.fmpz_mat(S[:k, :k].tolist()).det()) for k in range(1, size + 1)]
    truth = work().apply("positive_definite", [rows(S)])
    if all(minors):
        assert truth is (min(minors) > 0)
    elif truth is not None:
        assert truth is False
    G = A @ A.T
    regular = int(flint.fmpz_mat(A.tolist()).rank()) == size
    assert (work().apply("positive_definite", [rows(G)]) is True) == regular
    assert work().apply("positive_definite", [rows(G - (int(np.trace(G)) + 1) * np.eye(size, dtype=int))]) is False


@pytest.mark.parametrize(("width", "truth"), [(0.0, True), (0.2, True), (0.6, None), (1.5, None)])
def test_definiteness_over_a_box(width: float, truth: bool | None) -> None:
    """[[2, 1], [1, 2]] has least eigenvalue 1; a box of half-width w reaches eigenvalue 1 - 2w."""
    assert work().apply("positive_definite", [boxed([[2, 1], [1, 2]], width)]) is truth


@pytest.mark.parametrize(("width", "truth"), [(0.0, True), (0.3, True), (0.49, True), (0.51, None), (0.9, None)])
def test_every_entry_of_a_box_counts_twice_off_the_diagonal(width: float, truth: bool | None) -> None:
    """Ones on the diagonal, [-w, w] elsewhere: the least eigenvalue reaches 1 - 2w, and that is the bound."""
    box = boxed(np.zeros((3, 3), dtype=int), width)
    A: Any = [[Fraction(1) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(box)]
    assert work().apply("positive_definite", [A]) is truth
    assert work().apply("positive_definite", [[[-x for x in row] for row in A]]) is False
    assert work().apply("positive_definite", [rows([[0]])]) is not True
    assert work().apply("positive_definite", [rows([[1, 1], [1, 1]])]) is not True


def test_a_box_around_the_singular_is_undecided_and_the_indefinite_is_false() -> None:
    assert work().apply("positive_definite", [boxed([[1, 1], [1, 1]])]) is None
    assert work().apply("positive_definite", [boxed([[1, 2], [2, 1]], 0.1)]) is False
    assert work().apply("positive_definite", [boxed([[-1, 0], [0, 5]], 0.25)]) is False
    # Inside the box around the identity's border there are matrices of both kinds.
    assert work().apply("positive_definite", [boxed([[1, 0], [0, 0]], 0.25)]) is None


@given(seed=seeds, size=st.integers(1, 5))
@settings(max_examples=40)
def test_least_eigenvalues_and_spectral_norms_are_enclosed_tightly(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-9, 10, (size, size))
    least = enclosed(work().apply("least_eigenvalue", [rows(A + A.T)]))
    true = float(np.linalg.eigvalsh(A + A.T)[0])
    assert holds(least, true)
    assert float(-(-least).lower() - least.lower()) < 1e-9
    norm = work().apply("spectral", [rows(A)])
    assert holds(norm, float(np.linalg.norm(A, 2)))
    assert float(-(-enclosed(norm)).lower() - enclosed(norm).lower()) < 1e-6


def test_spectral_norms_that_simple_bounds_settle_are_exact() -> None:
    assert work().apply("spectral", [rows([[0, 3], [3, 0]])]) == 3
    assert work().apply("spectral", [rows([[1, 0], [0, 1]])]) == 1
    assert work().apply("spectral", [rows([[0, 0], [0, 0]])]) == 0


@given(seed=seeds, size=st.integers(1, 5))
@settings(max_examples=40)
def test_ranks_and_singularity_are_exact(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (size, size))
    exact = flint.fmpz_mat(A.tolist())
    assert work().apply("matrix_rank", [rows(A)]) == exact.rank()
    assert work().apply("nonsingular", [rows(A)]) is (True if exact.det() != 0 else None)
    if exact.det() != 0:
        x = work().apply("solve", [rows(A), vector(np.ones(size, int))])
        assert all(holds(total, 1.0, 1e-20) for total in work().product(rows(A), x))


@given(seed=seeds, size=st.integers(1, 4), how=st.sampled_from(["zeros", "random", "huge", "nearly", "shapeless"]))
@settings(max_examples=100)
def test_no_advice_makes_a_rule_say_what_is_false(seed: int, size: int, how: str) -> None:
    """Whatever the advisors say, what is concluded is true; bad advice may only cost the conclusion."""
    rng = np.random.default_rng(seed)

    def lie(kind: str, bits: int, tick: Any, *values: Any) -> Any:
        honest = advice(kind, bits, tick, *values)
        if kind == "basis":
            J = vector(rng.integers(0, size, int(rng.integers(1, size + 1))))
            return [J, J, vector(rng.integers(-1, 2, 1)), rows(rng.integers(-1, 2, (len(J), size)))]

        def bent(x: Any) -> Any:
            if isinstance(x, list):
                return [bent(y) for y in (x[1:] if how == "shapeless" else x)]
            factor = {"zeros": 0.0, "random": rng.normal(), "huge": 1e30}.get(how, 1 + 0.3 * rng.normal())
            return x * Fraction(factor)

        return bent(honest)

    A = rng.integers(-3, 4, (size, size))
    S, exact = A + A.T, flint.fmpz_mat(A.tolist())
    true = {
        "positive_definite": bool(np.linalg.eigvalsh(S)[0] > 1e-9),
        "nonsingular": exact.det() != 0,
        "least_eigenvalue": float(np.linalg.eigvalsh(S)[0]),
        "matrix_rank": int(exact.rank()),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "advice", lie)
        for name, value in true.items():
            try:
                found = work().apply(name, [rows(A if name in ("nonsingular", "matrix_rank") else S)])
            except (Undecided, Rejected):
                continue
            assert found is None or (found is value if isinstance(value, bool) else holds(found, value))
        for text, number in (("x_star", 1.2564312086261697), ("log(7)", float(np.log(7))), ("log(1/9)", -np.log(9.0))):
            try:
                assert holds(work().value(formula(text), {}), float(number), 1e-12)
            except (Undecided, Rejected):
                continue
        if true["nonsingular"]:
            b = rng.integers(-3, 4, size)
            try:
                x = work().apply("solve", [rows(A), vector(b)])
            except (Undecided, Rejected):
                return
            assert all(map(holds, x, np.linalg.solve(A, b).tolist()))


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (1, 2, True),
        (0.5, 2, True),
        (1.25, 1.2565, True),
        (1.5, 2, False),
        (0.75, 1.25, False),
        (1.25, -1, False),
        (0, 0, False),
    ],
)
def test_the_threshold_lies_between_any_two_ends_on_its_sides(low: float, high: float, told: bool) -> None:
    """e^x - 1 - 2x is 0 at 0, negative up to x* = 1.2564.., positive after it, and positive below 0."""
    try:
        found = work().apply("x_star_in", [vector([low, high])])
    except Undecided:
        assert not told
    else:
        assert told
        assert holds(found, 1.2564312086261697)


# -- 4: a unique zero ---------------------------------------------------------------------------------------

ROOT = "f(v) = [v[0]**2 + v[1]**2 - 2, v[0] - v[1]]"
CENTER, INVERSE = vector([1, 1]), rows([[0.25, 0.5], [0.25, -0.5]])


def test_a_zero_is_found_where_there_is_one() -> None:
    """x² + y² = 2, x = y has the zero (1, 1) and the Jacobian [[2, 2], [1, -1]] there."""
    for radius in (Fraction(1, 10**30), Fraction(1, 10), Fraction(1, 4)):
        assert work(ROOT).apply("unique_zero", ["f", CENTER, radius, INVERSE]) is True
    near = vector([Fraction(101, 100), 1])
    assert work(ROOT).apply("unique_zero", ["f", near, Fraction(1, 10), INVERSE]) is True
    assert work(ROOT).apply("unique_zero", ["f", near, Fraction(1, 1000), INVERSE]) is None  # it lies outside


def test_a_box_with_two_zeros_or_a_double_one_or_none_is_refused() -> None:
    for text, center, radius in (
        (ROOT, [0, 0], 2),  # (1, 1) and (-1, -1)
        ("f(v) = [v[0]**2, v[1]]", [0, 0], Fraction(1, 10)),  # double
        ("f(v) = [v[0]**2 + 1, v[1]]", [0, 0], Fraction(1, 10)),  # none
    ):
        for Y in (INVERSE, rows(np.eye(2, dtype=int)), rows([[0, 0], [0, 0]])):
            assert work(text).apply("unique_zero", ["f", vector(center), Fraction(radius), Y]) is None


def test_the_derivative_is_taken_over_the_whole_box_and_not_at_its_center() -> None:
    """x³ - x on [-1.5, 1.5] has three zeros, though at the center 0 its derivative -1 is as good as any."""
    cubic = "f(v) = [v[0]**3 - v[0]]"
    assert work(cubic).apply("unique_zero", ["f", vector([0]), Fraction(3, 2), rows([[-1]])]) is None
    assert work(cubic).apply("unique_zero", ["f", vector([0]), Fraction(1, 4), rows([[-1]])]) is True
    # The radius bounds the growth of |I - Y Df| too: on [-0.6, 0.6] the slope turns over.
    assert work(cubic).apply("unique_zero", ["f", vector([0]), Fraction(7, 10), rows([[-1]])]) is None


def test_a_singular_preconditioner_shows_nothing() -> None:
    assert work(ROOT).apply("unique_zero", ["f", CENTER, Fraction(1, 10), rows([[0.25, 0.5], [0.25, 0.5]])]) is None
    with pytest.raises(Rejected, match="do not fit"):
        work(ROOT).apply("unique_zero", ["f", CENTER, Fraction(1, 10), rows([[1]])])


# -- derivatives --------------------------------------------------------------------------------------------

MAP = """
f(X) = [y/length(y, 2) for y in averaged(X @ W @ T(X), M, X) @ V]
u(X) = [unit(y) for y in averaged(X @ W @ T(X), M, X @ V)]
g(v) = [exp(v[0])*v[1], sqrt(v[0]*v[0] + v[1]**2), v[0]/v[1], 3/v[1] - v[0]]
h(v) = [2 - v[0], exp(1) - v[0], v[0] - 2, v[0] - exp(1), exp(1)*v[0], exp(1)/v[0], v[0]/exp(1), -v[0], v[0]**3, 5]
"""


@given(seed=seeds)
@settings(max_examples=25)
def test_derivatives_enclose_difference_quotients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 4)), 2
    X, W, V = rng.normal(size=(n, d)), rng.normal(size=(d, d)), rng.normal(size=(d, d)) + 2 * np.eye(d)
    M = np.tril(rng.integers(1, 3, (n, n)))

    def f(Z: Any) -> Any:
        e = M * np.exp(Z @ W @ Z.T)
        Y = e / e.sum(axis=1, keepdims=True) @ Z @ V
        return (Y / np.linalg.norm(Y, axis=1, keepdims=True)).ravel()

    w = work(MAP, W=rows(W), V=rows(V), M=rows(M))
    assert all(holds(x, s) for x, s in zip(w.apply("flat", [w.apply("u", [rows(X)])]), f(X).tolist(), strict=True))
    try:
        both = [w.jacobian(name, boxed(X, 2.0**-20)) for name in ("f", "u")]
    except Undecided:
        return  # a token is sent too near to zero to be divided by its length
    h = 1e-6
    for k, J in itertools.product(range(n * d), both):
        E = np.zeros(n * d)
        E[k] = h
        slope = (f(X + E.reshape(n, d)) - f(X - E.reshape(n, d))) / (2 * h)
        size = max(1.0, float(abs(slope).max()))
        assert all(holds(row[k], s, 1e-4 * size) for row, s in zip(J, slope.tolist(), strict=True))
        assert all(float(-(-x).lower() - x.lower()) < 1 for row in J for x in row if isinstance(x, Interval))


@given(seed=seeds, sharp=st.booleans())
@settings(max_examples=25)
def test_the_derivative_of_rule_six_is_that_of_the_map(seed: int, sharp: bool) -> None:
    """Row sums of |DF - diag v| w at a point, by the rule and by automatic differentiation: no more and no less."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    X, W, V = rng.normal(size=(n, d)), rng.normal(size=(d, d)), rng.normal(size=(d, d)) + 2 * np.eye(d)
    W = 200 * W if sharp else W
    M, v, w = np.tril(np.ones((n, n))), rng.normal(size=(n, d)), np.exp2(rng.integers(-3, 4, (n, d)))
    given = [rows(A) for A in (X, W, V, M, v, w)]
    rule = work(MAP, W=given[1], V=given[2], M=given[3])
    J = rule.jacobian("u", given[0])
    difference = [[x + (p == q) * -Fraction(v.flat[p]) for q, x in enumerate(row)] for p, row in enumerate(J)]
    sums = [sum(abs(x) * Fraction(y) for x, y in zip(row, w.flat, strict=True)) for row in difference]
    most = max(-(-enclosed(total * (1 / Fraction(y)))).lower() for total, y in zip(sums, w.flat, strict=True))
    slack = most / 2**50
    assert rule.apply("rows_below", [*given, most + slack]) is True
    assert rule.apply("rows_below", [*given, most - slack]) is not True


def test_every_rule_of_differentiation_at_a_point() -> None:
    J = work(MAP).jacobian("g", vector([2, 3]))
    e, r = float(np.exp(2)), float(np.sqrt(13))
    expected = [[3 * e, e], [2 / r, 3 / r], [1 / 3, -2 / 9], [-1, -1 / 3]]
    for row, values in zip(J, expected, strict=True):
        for x, value in zip(row, values, strict=True):
            assert holds(x, value, 1e-12)
    [*J, last] = work(MAP).jacobian("h", vector([2]))
    slopes = [-1, -1, 1, 1, np.e, -np.e / 4, 1 / np.e, -1, 12]
    assert all(holds(row[0], slope, 1e-12) for row, slope in zip(J, slopes, strict=True))
    assert last == [0]
    w = work(MAP)
    values = [x.value for x in w.apply("h", [[Dual(Fraction(2), {0: Fraction(1)})]])[:9]]
    wanted = [0, np.e - 2, 0, 2 - np.e, 2 * np.e, np.e / 2, 2 / np.e, -2, 8]
    assert all(holds(x, value, 1e-12) for x, value in zip(values, wanted, strict=True))


def test_a_box_of_derivatives_holds_those_at_every_point_of_it() -> None:
    J = work("f(v) = [v[0]**3]").jacobian("f", [Interval.of(-1, BITS).merged(Interval.of(2, BITS), min, max)])
    assert J[0][0].lower() <= 0
    assert -(-J[0][0]).lower() >= 12


# -- products ------------------------------------------------------------------------------------------------


@given(seed=seeds, width=st.sampled_from([0.0, 2.0**-30, 0.5]))
@settings(max_examples=40)
def test_a_product_of_boxes_holds_every_product_of_members(seed: int, width: float) -> None:
    rng = np.random.default_rng(seed)
    n, m, k = (int(x) for x in rng.integers(1, 5, 3))
    A, B = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-30, 30, (n, m)), rng.normal(size=(m, k))
    C = work(bits=53).product(boxed(A, width), boxed(B, width))
    for _ in range(5):
        signs = [rng.choice([-1, 0, 1], size=M.shape) for M in (A, B)]
        P, Q = (np.array(rows(M)) + Fraction(width) * s for M, s in zip((A, B), signs, strict=True))
        for row, exact in zip(C, (P @ Q).tolist(), strict=True):
            for x, value in zip(row, exact, strict=True):
                assert x.lower() <= value <= -(-x).lower()


def test_fractions_are_multiplied_exactly_as_long_as_they_are_short() -> None:
    A = rows([[Fraction(1, 3), Fraction(1, 7)], [2, Fraction(-5, 11)]])
    assert work().product(A, A) == (np.array(A) @ np.array(A)).tolist()
    long = [[Fraction(1, 3**12_000), Fraction(1)]]
    enclosure = work().product(long, [[Fraction(1)], [Fraction(1)]])[0][0]
    assert isinstance(enclosure, Interval)
    assert enclosure.lower() <= 1 + long[0][0] <= -(-enclosure).lower()


# -- the evaluator -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (network.in_fractions("1/2 + 0.25*3 - 2**3"), Fraction(-27, 4)),
        ("sqrt(9/4)**3", Fraction(27, 8)),
        ("4**(1/2) + 8**(0 - 1)", Fraction(17, 8)),
        ("max(1, 2, 3/2) - min(4, 5)", Fraction(-2)),
        ("floor(7/2) + floor(-7/2)", Fraction(-1)),
        ("exp(0) + tanh(0) + log(1) + expc(0) + tanhc(0)", Fraction(3)),
        ("sum(i*i for i in range(4)) + prod([2, 3])", Fraction(20)),
        ("[1, 2] @ [[1, 0], [0, 3]] @ [1, 1]", Fraction(7)),
        ("0**(1/3)", Fraction(0)),
        ("0**(4/3) + 0**0 + 0**2", Fraction(1)),
        ("(0 - 2)**3 + (1/2)**(0 - 2) + (0 - 3)**0", Fraction(-3)),
        ("len(range(10**5)) + len(range(7, 10**5 + 7)) + sum(range(2, 5))", Fraction(200009)),
        ("floor(sqrt(2)) + floor(0 - sqrt(2)) + floor(0 - 3)", Fraction(-4)),
        ("[3, 5][1] + [[1, 2], [3, 4]][1][0]", Fraction(8)),
        ("3**4096 / 3**4095", Fraction(3)),
        ("exp(2)**0", Fraction(1)),
    ],
)
def test_exact_terms_have_exact_values(text: str, value: Fraction) -> None:
    assert work().value(formula(text), {}) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("exp(1)", np.e),
        ("log(10)", np.log(10)),
        ("tanh(3/4)", np.tanh(0.75)),
        ("tanh(7)", np.tanh(7)),
        ("expc(-3/2)", np.expm1(-1.5) / -1.5),
        ("2**(1/3)", 2 ** (1 / 3)),
        ("2**sqrt(2)", 2 ** np.sqrt(2)),
        ("expc(-2)", (1 - np.exp(-2)) / 2),
        ("tanhc(2)", np.tanh(2) / 2),
        ("x_star", 1.2564312086261697),
        ("exp(-3)**5", np.exp(-15)),
        ("sqrt(2)**(-3)", 2**-1.5),
        ("exp(1)**(1/2)", np.exp(0.5)),
        ("exp(1)**(2/3)", np.exp(2 / 3)),
    ],
)
def test_other_terms_are_enclosed_to_thirty_digits(text: str, value: float) -> None:
    enclosure = work().value(formula(text), {})
    assert holds(enclosure, float(value), 1e-12 * value)
    assert -(-enclosure).lower() - enclosure.lower() <= -(-enclosure).lower() * Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("exp(1) < 3", True),
        ("exp(1) >= 3", False),
        ("exp(1) - exp(1) == 0", None),
        ("1 < 2 <= 2 < 3", True),
        ("1 < 2 and exp(1) < 2", False),
        ("exp(1) <= exp(1) and 2 < 1", False),
        ("exp(1) <= exp(1) or 1 < 2", True),
        ("exp(1) <= exp(1) and 1 < 2", None),
        ("not exp(1) < 2", True),
        ("not exp(1) <= exp(1)", None),
        ("all(i < 3 for i in range(3)) and any(i == 2 for i in range(3))", True),
        ("[1, 2] == [1, 2]", True),
        ("[1, 2] == [1, 3]", False),
    ],
)
def test_truth_has_three_values(text: str, truth: bool | None) -> None:
    assert work().truth(formula(text)) is truth


@pytest.mark.parametrize(
    "text",
    [
        "1/0",
        "0**(-1)",
        "0**(0 - 1/2)",
        "sqrt(-1) < 0",
        "log(0) < 0",
        "lower(2**(10**9))",
        "[1, 2] + [1, 2, 3]",
        "1 + inf",
        "nothing",
        "max(inf) < 2",
        "max(1, inf)",
        "f(1)",
        "len(3)",
        "[[1, 2]] @ [[1]]",
        "[1][5]",
        "[1][-1]",
        "range(10**9)",
        "range(10**5 + 1)",
        "range(1/2)",
        "[1, 2][2]",
        "[[1], [2]][0, 1]",
        "floor(inf)",
        "sqrt(1, 2)",
        "1 < [1]",
        "inf < 2",
        "1 and 2",
        "inf[0]",
        "not certain(1)",
        "shown(0)",
        "certain([1 < 2])",
        "length((x for x in [1]), 1)",  # a loop is used up once it is read
        "recursion(1, 0, 1)",
        "term",
    ],
)
def test_terms_without_meaning_are_rejected(text: str) -> None:
    with pytest.raises(Rejected):
        work().value(formula(text), {})


@pytest.mark.parametrize("text", ["2**(2**(10**4))", "floor(2**9000 + 1/2)"])
def test_what_is_too_long_to_be_exact_is_not_decided(text: str) -> None:
    with pytest.raises(Undecided):
        work().value(formula(text), {})


def test_a_guess_that_cannot_be_made_is_not_decided() -> None:
    """√2 less its first 60 decimals is not 0; of 128 bits its middle is, and a matrix of rank 0 has no minor."""
    rank = formula(f"matrix_rank([[sqrt(2) - {math.isqrt(2 * 10**120)}/10**60]]) == 1")
    with pytest.raises(Undecided):
        work(bits=128).truth(rank)
    assert work(bits=256).truth(rank) is True


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "(1).real < 2",
        "lambda: 1",
        "[x for x in X]",
        "x if 1 < 2 else 3",
        "a := 1",
        "1 if 2",
        "",
        "X[0:1] < 1",
        "f'{1}' < 1",
        "1 < 2 < ",
        "not 1 < 2",
        "1 < 2 or 2 < 3",
        "[1] == [1]",
        "1e5 < 2",
        "1j < 2",
        "'a' == 'a'",
        "True",
        "X.T < 1",
        "f(x=1) < 2",
        "f(*X) < 2",
        "f()()",
        "1 is 2",
        "1 in X",
        "1 != 2",
        "~1 < 2",
        "+1 < 2",
        "1 % 2 < 1",
        "1 // 2 < 1",
        "ä < 1",
        "sum_l(term) < 1",
        "recursion(L, 0, L + 1) < 1",
        "recursion(f(1), 0, 1) < 1",
        "place(X, X[0])[0] < 1",
        "advice(threshold)[0] < 1",
        "(1, 2)[range(1)] < 1",
    ],
)
def test_what_a_claim_may_not_contain_is_rejected(text: str) -> None:
    with pytest.raises(Rejected):
        network.demand_language(text, [])


def test_formulas_are_bounded_in_length_and_depth() -> None:
    for text in (
        "1 < 2" + " " * 10**6,
        "-" * 3000 + "1 < 2",
        "(" * 300 + "1" + ")" * 300 + " < 2",
        "1+" * 1500 + "1 < 2",
    ):
        with pytest.raises((Rejected, RecursionError)):
            work().truth(formula(text))


def test_limits_are_where_they_are_said_to_be() -> None:
    assert formula("1 < 2".ljust(3500)) is not None
    for text in ("1 < 2".ljust(3501), "ä < 1"):
        with pytest.raises(Rejected):
            formula(text)
    assert isinstance(work().value(formula("2**(10**7)"), {}), Interval)
    assert work().truth(formula("2**(10**9) < 2**(10**9 + 1)")) is True
    assert isinstance(work().value(formula("3**5168"), {}), Fraction)
    assert isinstance(work().value(formula("3**5169"), {}), Interval)  # of more than 2^13 bits
    w = work("many = [1 for i in range(1000)]\nmore = [0 for i in range(1000)]")
    w.value(formula("many"), {})
    assert w.remembered >= 100 * 1000
    w.remembered = 10**8 - 50 * 1000
    w.value(formula("more"), {})
    assert set(w.cache) == {("more",)}  # the older one was forgotten
    assert 100 * 1000 <= w.remembered < 10**8
    same = work("itself(x) = x")
    assert same.apply("itself", [Fraction(1)]) == 1
    assert same.apply("itself", [True]) is True  # and not the number that is equal to it
    w.tick(10**8 - w.held)
    for too_much in ({"held": 1}, {"once": 1}):
        with pytest.raises(Rejected, match="memory"):
            w.tick(**too_much)


def test_advice_and_derivatives_look_at_the_clock_as_they_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick that ends it ends it within one number, one step or one row; a matrix is bounded before it is made."""
    A = rows([[2, 1, 0], [1, 2, 1], [0, 1, 2]])

    def looks(kind: str, *values: Any, bits: int = 512) -> int:
        seen: list[None] = []
        advice(kind, bits, lambda once=0: seen.append(None), *values)
        return len(seen)

    assert looks("threshold", bits=4096) >= 7  # the digits double
    assert looks("logarithm", Fraction(2)) >= 1
    for kind in ("inverse", "congruence", "eigenpair"):
        assert looks(kind, A) >= 9 + 3
    root = work(bits=4096).value(formula("x_star"), {})
    assert 0 < -(-root).lower() - root.lower() < Fraction(1, 2**4080)  # few steps, and all digits
    with pytest.raises(Rejected, match="memory"):
        work(bits=2**14, A=rows(np.eye(160, dtype=int))).value(formula("advice(inverse, A)"), {})
    late = work()
    late.deadline = 0.0
    for action in (
        lambda: advice("threshold", 128, late.tick),
        lambda: late.product(boxed(A), boxed(A)),
        lambda: late.jacobian("flat", A),
    ):
        with pytest.raises(Rejected, match="time"):
            action()
    w, seen = work("same(v) = v"), []
    monkeypatch.setattr(Evaluator, "tick", lambda self, held=0, once=0: seen.append((self, once)))
    slopes = [[enclosed(x).lower() for x in row] for row in w.jacobian("same", vector(np.arange(5)))]
    assert slopes == rows(np.eye(5, dtype=int))
    assert [once for who, once in seen if who is w] == [32 * 25]


@pytest.mark.parametrize("kind", ["holds", "violates", "exists"])
@pytest.mark.parametrize("claim", [True, False, None])
@pytest.mark.parametrize("condition", [True, False, None])
def test_what_is_accepted(condition: bool | None, claim: bool | None, kind: str) -> None:
    """Only what is true, or false where that is said, under conditions that are all true."""
    text = {True: "exp(1) < 3", False: "exp(1) > 3", None: "exp(1)*exp(1) <= exp(2)"}
    outcome = decide([formula(t) for t in ("1 < 2", text[condition], "2 < 3", text[claim])], kind, work())
    if condition is not True:
        expected = "reject" if condition is False else "undecided"
    else:
        expected = "undecided" if claim is None else "accept" if claim == (kind != "violates") else "reject"
    assert outcome.verdict == expected
    assert outcome.work.bits >= 128
    assert outcome.true == (4 if condition and claim else 3 if condition else 1)


def test_more_bits_are_tried_until_it_is_decided_and_a_hint_says_where_to_begin() -> None:
    def bits(claim: str, **hints: int) -> tuple[str, int]:
        known = {name: Fraction(value) for name, value in hints.items()}
        found = decide([formula(claim)], "holds", work(bits=checker._bits(known)))
        return found.verdict, found.work.bits

    assert PRECISIONS == (128, 256, 512, 1024, 2048, 4096)
    for power, needed in ((30, 128), (60, 256), (130, 512), (290, 1024), (600, 2048), (1200, 4096)):
        assert bits(f"exp(1) < exp(1 + 1/10**{power})") == ("accept", needed)
    assert bits("exp(1) < 3", bits=300) == ("accept", 300)
    assert bits("exp(1) < 3", spectral_bits=500, bits=300) == ("accept", 500)
    assert bits("exp(1) < 3", bits=10**9) == ("accept", 2**14)
    assert bits("exp(1) < exp(1 + 1/10**60)", bits=130) == ("accept", 256)


def test_the_definitions_of_a_network_name_every_quantity_once() -> None:
    assert {"X", "P", "diameter", "residual", "norm", "gamma", "delta", "epsilon"} <= set(defined_network())
