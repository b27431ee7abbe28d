"""Every rule is sound by itself: what a careless statement might ask is refused, or decided right."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from rankmath.checker import kernel
from rankmath.checker.intervals import Rejected
from rankmath.checker.kernel import Evaluator, decide, formula
from rankmath.checker.rules import RULES
from rankmath.checker.statements import COMMON, definitions


def verdict(claim: str, more: str = "", kind: str = "holds") -> str:
    work = Evaluator(definitions(RULES + COMMON + more), {}, {}, 128, time.monotonic() + 60)
    return decide([formula(claim)], kind, work).verdict


@pytest.mark.parametrize(
    "claim",
    [
        "all(not all(g) and all(g) for g in [(1 > 2 for i in range(1))])",
        "all(sum(g) == 3 and sum(g) == 0 for g in [(i for i in [1, 2])])",
        "f([(x > 5 for x in [1])])",
        "f((x > 5 for x in [1]))",
        "not all(g) and all(g)",
        "not all(shown(1 > 2 for i in range(1)))",
        "all(certain(i > 0 for i in [1]) for j in [1])",
    ],
)
def test_a_loop_is_read_once_where_it_stands(claim: str) -> None:
    with pytest.raises(Rejected):
        verdict(claim, "f(v) = not all(v[0]) and all(v[0])\ng = plain(0 > 1 for i in range(1))\n")


@pytest.mark.parametrize("claim", ["jacobian(g, [3]) == [[0]]", "jacobian(h, [3]) == [[6]]"])
def test_a_derivative_of_a_derivative_is_refused(claim: str) -> None:
    """The first would be 1, as g(x) = [x], and the second 2, as h(x) = [2x]."""
    more = "f(u, x) = [u[0]*x[0]]\ng(x) = jacobian(f, [1], x)[0]\nq(x) = [x[0]**2]\nh(x) = jacobian(q, x)[0]\n"
    assert verdict("g([3]) == [3] and h([3]) == [6]", more) == "accept"
    with pytest.raises(Rejected, match="derivative of a derivative"):
        verdict(claim, more)


@pytest.mark.parametrize("body", ["T(x)[0]", "T(x)", "[len(x[0])]", "[x[0][0]]", "[y for y in x[0]]"])
def test_a_number_with_derivatives_is_no_list(body: str) -> None:
    with pytest.raises(Rejected):
        verdict("all(row == row for row in jacobian(f, [3]))", f"f(x) = {body}\n")


def test_an_array_that_is_gone_lends_its_value_to_no_other() -> None:
    """Values are remembered by which array they are of; one that is made later may stand in the same place."""
    assert verdict("all(f([i, i]) == 2*i for i in range(100))", "f(v) = sum(v)\n") == "accept"


def test_sums_of_numbers_with_derivatives_and_of_lists() -> None:
    f = "f(x) = [sum(y*y for y in x), sum([x, 2*x, 1])[1], sum(x) + sum(1 for y in x)]\n"
    assert verdict("jacobian(f, [3, 4]) == [[6, 8], [0, 3], [1, 1]]", f) == "accept"
    with pytest.raises(Rejected, match="numbers and lists"):
        verdict("jacobian(f, [3]) == [[0], [1]]", "f(x) = sum([x[0], [x[0], 1]])\n")


def test_a_name_has_one_meaning() -> None:
    for data, hints in (({"c": 7}, {}), ({}, {"c": 7}), ({}, {"f": 7}), ({"inf": 7}, {}), ({"a": 7}, {"a": 7})):
        with pytest.raises(Rejected, match="two meanings"):
            Evaluator(definitions("c = 1\nf(x) = x\n"), data, hints, 128, time.monotonic() + 60)
    for text in ("plain(x) = 0\n", "abs(x) = 0\n", "c = 1\nc = 2\n", "log(x) = 0\n"):
        with pytest.raises(Rejected, match="twice"):
            definitions(text, definitions(RULES))


def test_a_list_is_counted_as_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MAX_HELD", kernel.MAX_HELD // 20)
    assert verdict("len(many) == 5000", "many = [0 for i in range(10) for j in range(500)]\n") == "accept"
    assert verdict("sum(0 for i in range(30) for j in range(1000)) == 0") == "accept"  # and no list is made
    with pytest.raises(Rejected, match="memory"):
        verdict("len([0 for i in range(30) for j in range(1000)]) > 0")
    for more in ("[0 for i in range(10**5) for j in range(10**5)]", "[range(10**5) for i in range(10**5)]"):
        with pytest.raises(Rejected, match="memory"):
            verdict(f"len({more}) > 0")


def test_a_power_is_not_differentiated_by_its_exponent() -> None:
    assert verdict("jacobian(f, [3]) == [[6]]", "f(X) = [X[0]**2]\n") == "accept"
    for exponent in ("X[0]", "X[0]/2"):
        with pytest.raises(Rejected):
            verdict("jacobian(f, [3]) == [[0]]", f"f(X) = [2**({exponent})]\n")


@pytest.mark.parametrize(
    ("f", "x", "r", "Y", "found"),
    [
        ("[X[0] - 1/10]", "[0]", "1", "[[1]]", "accept"),
        ("[X[0] + X[1], X[0] + X[1] + 1]", "[0, 0]", "0 - 1", "[[10, 0], [0, 10]]", "undecided"),  # no zero
        ("[X[0], X[0] + 1]", "[0]", "1", "[[1, 0]]", "undecided"),  # nor here
    ],
)
def test_a_zero_needs_a_box_and_a_square_matrix(f: str, x: str, r: str, Y: str, found: str) -> None:
    assert verdict("unique_zero(f, x, r, Y)", f"f(X) = {f}\nx = {x}\nr = {r}\nY = {Y}\n") == found


def test_equations_are_solved_for_one_vector() -> None:
    half = "[[1/2, 0], [0, 1/2]]"  # in the place of the inverse
    assert verdict(f"solved([[1, 0], [0, 1]], [1, 1000], {half})[0] < 1000") == "accept"  # 1/2 and 500 to either side
    assert verdict(f"solved([[1, 0], [0, 1]], [1, 1000], {half})[1] > 999") != "accept"
    with pytest.raises(Rejected):
        verdict(f"solved([[1, 0], [0, 1]], [[1, 1000], [1, 1000]], {half})[0][1] < 501")


def test_definiteness_is_that_of_the_form() -> None:
    skew = "[[1 if i == j else 0 - 99/100 if j == 0 else 0 for j in range(10)] for i in range(10)]"
    assert verdict(f"positive_definite({skew})") == "reject"  # v = (3, 1, .., 1) gives -8.73
    assert verdict(f"positive_definite({skew})", kind="violates") == "accept"
    assert verdict("positive_definite([[1, 100], [0 - 100, 1]])") == "accept"  # v A v^T = |v|^2


def test_definiteness_needs_as_many_rows_as_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "advice", lambda *_: [[Fraction(7, 10), Fraction(0)]])
    assert verdict("positive_definite([[1, 0], [0, 0 - 1]])") == "undecided"


def test_a_lower_bound_of_another_norm_has_no_rule() -> None:
    with pytest.raises(Rejected):
        verdict("at_least([[1, 1], [0 - 1, 0 - 1]], one) > 2")


def test_weights_of_a_softmax_are_not_negative() -> None:
    # F is constant, so any rate will do: with a negative weight nothing is shown.
    shared = "x = [[1, 0], [1, 0]]\nW = [[0, 0], [0, 0]]\nV = [[1, 0], [0, 0]]\nw = [[1, 1], [1, 1]]\n"
    claim = "contracts(x, W, V, m, w, 1/100, 1/2, 64)"
    assert verdict(claim, shared + "m = [[1, 1], [1, 1]]\n") == "accept"
    assert verdict(claim, shared + "m = [[2, 0 - 1], [1, 1]]\n") == "undecided"


def test_exponents_that_are_whole_in_an_interval() -> None:
    assert verdict("4**(0*sqrt(2)) == 1 and 4**(1/2 + 0*sqrt(2)) == 2 and 0**(0*sqrt(2)) == 1") == "accept"


def test_what_is_nested_too_deep_and_truths_among_numbers_are_refused() -> None:
    with pytest.raises(RecursionError):  # the checker rejects what raises it
        verdict("-" * 500 + "1 < 2")
    with pytest.raises(Rejected):
        verdict("([[1 > 0, 1 > 0]] @ [[sqrt(2)], [1]])[0][0] > 2")


def test_equality_of_arrays_looks_at_the_clock() -> None:
    late = Evaluator({}, {"C": [[Fraction(1)]]}, {}, 128, time.monotonic() - 1)
    with pytest.raises(Rejected, match="time allowed"):
        late.related("==", [[Fraction(1)]], [[Fraction(1)]])
