"""What each statement with data of its own accepts and, more important, what it refuses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, NotIssued, certify_arrays, issue, stochastic_rationals
from rankmath.checker.checker import KINDS, CheckResult
from rankmath.checker.intervals import Interval
from rankmath.checker.kernel import Evaluator, formula
from rankmath.checker.network import arranged
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.checker.reading import read
from rankmath.checker.statements import DEFINED, STATEMENTS
from rankmath.claims.dong2021_many_tokens import (
    Kinds,
    LoneQuery,
    MeanKinds,
    TokenKinds,
    about_the_mean,
    counterexample,
    lone_query,
)
from rankmath.claims.dong2021_two_heads import FourKeys, TwoHeads, four_keys
from rankmath.claims.dong2021_two_heads import two_tokens as two_tokens_of_two_heads
from rankmath.decide.battery import certify
from rankmath.linalg.exact_residuals import exact_residual_bounds
from rankmath.model.network import Network
from rankmath.verification.papers import FIELD

Registered: TypeAlias = Callable[[str, Instance], Certificate]


def with_changes(certificate: Certificate, **changes: Any) -> CheckResult:
    """The checker's word on the certificate with some of data, hints, kind, statement replaced."""
    fields = {name: getattr(certificate, name) for name in ("statement", "kind", "data", "hints", "claim", "given")}
    if "statement" in changes:
        del fields["claim"], fields["given"]
    for name in ("data", "hints"):
        fields[name] = {**fields[name], **changes.pop(name, {})}
    return Certificate(**{**fields, **changes}).check()


def test_twenty_random_instances_of_every_statement_are_accepted(twenty_each: dict[str, list[Certificate]]) -> None:
    # The others are closed forms, a variant and equilibria, with tests of their own below and in test_equilibria.
    others = {"dong2021v1:2.2", "dong2021v1:2.3", "dong2021:2.3-printed", "own:tv-variant", "own:layernorm-equilibrium"}
    others |= {
        "dong2021v1:2.2-mean",
        "unstated:large-logits",
        "own:stable-complete",
        "wu2024:conjecture",
        "unstated:ln-sphere",
        "own:stable-causal",
        "wu2024:3",
    }
    # Neighbours: tests/claims, one file each.
    others |= {"own:zero-grad", "own:flow-step", "own:flow-step-usa"}
    # Sinks of flows: tests/equilibria/test_flow.py.
    others |= {"own:flow-sink"}
    # Attraction in a weighted maximum norm: tests/claims/test_stable_every_n.py.
    others |= {
        "own:stable-equilibrium",
        "own:stable-causal-every-n",
        "own:stable-complete-every-n",
        "own:stable-every-rank",
        "own:stable-rank-two-every-n",
        "wu2024:3-measure",
    }
    # Whole blocks: tests/equilibria/test_survivors.py and test_blocks_of_today.py.
    others |= {"own:stable-block", "own:stable-rotary"}
    # Neighbouring papers: the exhibits of tests/report/test_counterexamples.py.
    others |= {key for key in STATEMENTS if key.split(":")[0] in {*FIELD, "folk"}}
    assert set(twenty_each) - set(NETWORK_CLAIMS) - {"mine:step"} | {"wu2024:2-step"} | others == set(STATEMENTS)
    for key, drawn in twenty_each.items():
        assert len({certificate.id for certificate in drawn}) > 10
        for certificate in drawn:
            result = certificate.check()
            assert result.accepted, (key, result.reason)
            assert result.id == certificate.id
            assert key in result.checked[0]
            assert len(result.checked) > 1


@pytest.mark.parametrize("seed", range(2))
def test_the_largest_instances_promised_are_accepted(
    seed: int, draw_instance: Callable[..., Instance], certify_registered: Registered
) -> None:
    """n = 8, d = 4, L = 3, two heads: the 2023 bound, the residual form and the diameter in three norms."""
    instance = draw_instance(np.random.default_rng(seed), n=8, d=4, L=3, H=2)
    for key in ("dong2021:2.3", "own:residual-inf", "own:diameter"):
        certify_registered(key, instance)


# -- exact families --------------------------------------------------------------------------------------------


def test_closure_refuses_what_is_not_stochastic_by_any_amount() -> None:
    half, tiny = Fraction(1, 2), Fraction(1, 2**300)
    data = {
        "factors": [[[half, half], [0, 1]], [[1, 0], [half, half]]],
        "product": [[3 * half**2, half**2], [half, half]],
    }
    certificate = issue(Certificate("seed:closure", "holds", data))
    one = [[1, 0], [0, 1]]
    for first in ([[half + tiny, half], [0, 1]], [[1 + tiny, -tiny], [0, 1]], [[half - tiny, half], [0, 1]]):
        refused = with_changes(certificate, data={"factors": [first, one], "product": first})
        assert refused.reason == "a condition fails: all(stochastic(F) for F in factors)"
    assert not with_changes(certificate, data={"product": [[half, half], [half, half]]})
    assert not with_changes(certificate, data={"factors": [[[half, half]], [[1, 0]]]})
    assert "len(factors) >= 2" in with_changes(certificate, data={"factors": [one], "product": one}).reason


def two_layers() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "X": rng.integers(-4, 5, (3, 2)),
        "P": stochastic_rationals(rng.dirichlet(np.ones(3), (2, 2, 3))),
        "W": rng.integers(-4, 5, (2, 2, 2, 2)),
        "bias": rng.integers(-4, 5, (2, 2)),
    }


@pytest.mark.parametrize("skip", [None, 1, Fraction(-1, 2)])
def test_paths_refuse_the_three_usual_mistakes(skip: Any, certify_paths: Callable[..., Certificate]) -> None:
    """P's in the wrong layer order, W's in the wrong order, a bias not carried through later layers."""
    net = two_layers()
    certificate = certify_paths(**net, skip=skip)
    X, P, W, bias = (np.vectorize(Fraction, otypes=[object])(net[name]) for name in ("X", "P", "W", "bias"))
    identity, factor = np.eye(3, dtype=int), skip or 0
    layers = [
        [(identity, factor * np.eye(2, dtype=int)), *zip(P_l, W_l, strict=True)] for P_l, W_l in zip(P, W, strict=True)
    ]
    carried = bias[1] + bias[0] @ sum(W_h for _, W_h in layers[1])

    def output(*, late_first: bool = False, reversed_weights: bool = False, b: Any = carried) -> Any:
        total = np.tile(b, (3, 1))
        for P_1, W_1 in layers[0]:
            for P_2, W_2 in layers[1]:
                left, right = ((P_1 @ P_2 if late_first else P_2 @ P_1), (W_2 @ W_1 if reversed_weights else W_1 @ W_2))
                total = total + left @ X @ right
        return total

    assert with_changes(certificate, data={"output": output()})
    for wrong in (output(late_first=True), output(reversed_weights=True), output(b=bias[1])):
        assert with_changes(certificate, data={"output": wrong}).reason.startswith("the claim is false")


def test_paths_refuse_attention_that_is_not_stochastic_too_many_paths_and_vacuous_skips(
    certify_paths: Callable[..., Certificate],
) -> None:
    net = two_layers()
    with pytest.raises(NotIssued, match="stochastic"):
        certify_paths(**{**net, "P": net["P"] / 2})
    P, W = np.tile(np.eye(2, dtype=int), (6, 5, 1, 1)), np.full((6, 5, 1, 1), 1)
    with pytest.raises(NotIssued, match=r"F\*\*L <= 4096"):
        certify_paths([[1], [2]], P, W, np.zeros((6, 1), dtype=int))
    with pytest.raises(NotIssued, match=r"abs\(skip\) > 0"):
        certify_paths(**net, skip=0)
    with pytest.raises(NotIssued, match="n >= 2"):
        certify_paths([[1]], [[[[1]]]], [[[[1]]]], [[0]])


@pytest.mark.parametrize(
    ("key", "kind", "data", "accepted"),
    [
        ("seed:closure", "holds", {"factors": [[[1]], [[1]]], "product": [[1]]}, False),
        ("seed:closure", "holds", {"factors": [[["1/2", "1/2"]], [[1], [1]]], "product": [[1]]}, False),
        ("seed:closure", "holds", {"factors": [[[1, 0]], [[0, 1], [1, 0]]], "product": [[0, 1]]}, False),
        ("seed:closure", "holds", {"factors": [[["1/3", "2/3"]], [[0, 1], [1, 0]]], "product": [["2/3", "1/3"]]}, True),
        # 1/(1 + a) = 2/3 is what one layer keeps: no larger c is a reading of the claim.
        ("folk:alibi-theta", "violates", {"a": "1/2", "c": 2, "t": 0}, False),
        ("folk:alibi-theta", "violates", {"a": "1/2", "c": "67/100", "t": 1}, False),
        ("folk:alibi-theta", "violates", {"a": "1/2", "c": "2/3", "t": 0}, False),
        ("folk:alibi-theta", "violates", {"a": "1/2", "c": "2/3", "t": 1}, True),
        # No entropy exceeds log T: at T = 2, sigma = 5 the constant may be 10.28 and no more.
        ("folk:entropy-order", "violates", {"T": 2, "sigma": 5, "c": "103/10"}, False),
        ("folk:entropy-order", "violates", {"T": 2, "sigma": 5, "c": "102/10"}, True),
        ("folk:entropy-order", "violates", {"T": 2, "sigma": 1, "c": "1/1000"}, False),
    ],
)
def test_constants_and_sizes_that_say_nothing_are_refused(key: str, kind: str, data: Any, accepted: bool) -> None:
    assert Certificate(key, kind, data).check().accepted == accepted


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_the_composite_value_is_not_a_norm(n: int) -> None:
    """A = e₁1ᵀ and B = Aᵀ: 2√n on the parts, n + 1 on the sum."""
    A = np.zeros((n, n), dtype=int)
    A[0] = 1
    result = certify_arrays("dong2021:norm", {"A": A, "B": A.T}, kind="violates").check()
    assert f"{n + 1} against" in result.checked[-1]


def test_equality_in_the_triangle_inequality_is_no_violation() -> None:
    one = np.array([[1]])
    with pytest.raises(NotIssued, match="the claim is true"):
        certify_arrays("dong2021:norm", {"A": one, "B": one}, kind="violates")
    # sqrt(p) + sqrt(q) = sqrt(r) with p, q, r = 2, 2, 8: an equality that intervals cannot tell.
    A = np.array([[1, 1], [0, 0]])
    with pytest.raises(NotIssued, match="undecided"):
        certify_arrays("dong2021:norm", {"A": A, "B": A}, kind="violates")


FIFTH = Fraction(1, 5)


def test_a_vector_that_leaves_the_set_of_lemma_13_and_one_that_stays() -> None:
    leaving = certify_arrays("wu2024:L13", {"x": [Fraction(-k, 7) for k in (4, 1, 4, 4)], "w": 2}, kind="violates")
    assert "144/49 against 158/49" in leaving.check().checked[-1]
    staying = certify_arrays("wu2024:L13", {"x": [Fraction(-k, 3) for k in (1, 2, 2)], "w": 2})
    for certificate, kind in ((leaving, "holds"), (staying, "violates")):
        assert "against the kind" in with_changes(certificate, kind=kind).reason
    for data, reason in (
        (
            {"x": [Fraction(-4, 7), Fraction(-1, 7), Fraction(-4, 7), Fraction(-4, 7) - Fraction(1, 2**300)]},
            "x @ x == 1",
        ),
        ({"x": [Fraction(4, 7), Fraction(-1, 7), Fraction(-4, 7), Fraction(-4, 7)]}, "x[i] < 0"),
        ({"x": [0, Fraction(-3, 5), Fraction(-4, 5), 0]}, "x[i] < 0"),
        ({"w": Fraction(7, 4) - Fraction(1, 2**300)}, "w*x[d - 2] <= -1"),
        ({"w": 1}, "w > 1"),
        ({"x": [-1]}, "d >= 3"),
        ({"x": [Fraction(-3, 5), Fraction(-4, 5)]}, "d >= 3"),
        ({"x": [Fraction(-7, 9), Fraction(-4, 9), Fraction(-4, 9)], "w": Fraction(9, 4)}, "sqrt(w**2 - 1)"),
    ):
        assert reason in with_changes(leaving, data=data).reason, reason


def star(n: int, least: Fraction) -> list[list[Any]]:
    hub = [Fraction(1, n)] * n
    return [hub, *([least, *(1 - least if j == i else 0 for j in range(1, n))] for i in range(1, n))]


def test_the_step_of_theorem_2_on_stars_and_where_it_holds() -> None:
    text = certify_arrays("wu2024:2-step", {"A": star(10, Fraction(1, 20))}, kind="violates").check().checked
    assert "so it fails" in text[-1]
    seven = Fraction(1, 7)
    held = [[3 * seven, 4 * seven], [4 * seven, 3 * seven]]
    assert certify_arrays("wu2024:2-step", {"A": held}).check()
    with pytest.raises(NotIssued, match="against the kind 'violates'"):
        certify_arrays("wu2024:2-step", {"A": held}, kind="violates")
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    for A, reason in (
        ([[half, half], [0, 1]], "connected"),
        ([[half, half, 0], [0, half, half], [half, 0, half]], "reached"),
        ([[half, half], [half + Fraction(1, 2**300), half]], "stochastic"),
        ([[0, 1], [half, half]], "connected"),
        ([[1]], "n >= 2"),
        ([[FIFTH] * 5] * 5, "n\\*eps < 1"),
        (star(3, Fraction(1, 3)), "n\\*eps < 1"),
    ):
        with pytest.raises(NotIssued, match=reason):
            certify_arrays("wu2024:2-step", {"A": A}, kind="violates")
    assert certify_arrays("wu2024:2-step", {"A": star(3, tenth)}, kind="violates").check()


def test_two_tokens_rest_at_three_points_for_rational_roots_alone() -> None:
    words = certify("wu2024:4.3.1", Fraction(5, 3)).check().checked
    assert "nowhere else: proofs/" in words[1]
    with pytest.raises(NotIssued, match="not rational"):
        certify("wu2024:4.3.1", 2)
    with pytest.raises(ValueError, match=r"^w: "):
        certify("wu2024:4.3.1", 1)
    for data in ({"w": 2, "s": FIFTH}, {"w": Fraction(-5, 3), "s": 4 * FIFTH}, {"w": Fraction(5, 3), "s": -4 * FIFTH}):
        assert not Certificate("wu2024:4.3.1", "holds", data).check()


# -- softmax families ------------------------------------------------------------------------------------------


def rare_token(D: Fraction) -> dict[str, Any]:
    """One token of weight 10^-9 whose logit rises by D."""
    return {"E": [[D, 0]], "weights": [Fraction(1, 10**9), 1]}


def test_the_sandwich_holds_at_1_2564_and_breaks_at_1_2565() -> None:
    """x* = 1.25643… lies between; the checker needs no decimal of it."""
    below, above = rare_token(Fraction("1.2564")), rare_token(Fraction("1.2565"))
    assert certify_arrays("dong2021:A.3", below).check()
    assert certify_arrays("dong2021v1:A.3", below).check()
    broken = certify_arrays("dong2021v1:A.3", above, kind="violates")
    assert "at i = 0, j = 0" in broken.check().checked[-1]
    for kind in ("holds", "violates"):  # outside the hypothesis nothing is shown of A.3, its violation least of all
        with pytest.raises(NotIssued, match="D\\(i\\) <= x_star"):
            certify_arrays("dong2021:A.3", above, kind=kind)
    with pytest.raises(NotIssued, match="the claim is true"):
        certify_arrays("dong2021v1:A.3", below, kind="violates")
    with pytest.raises(NotIssued, match="the claim is false"):
        certify_arrays("dong2021v1:A.3", above)
    # Below x* both halves hold however rare the token is; D is looked at in every row.
    later = {"E": [[0, 1], [2, 0]], "weights": [1, 1]}
    with pytest.raises(NotIssued, match="D\\(i\\) <= x_star"):
        certify_arrays("dong2021:A.3", later)


def test_the_sandwich_example_of_the_paper_at_three() -> None:
    """D = 3, q₀ = 10⁻⁴: P₀/q₀ is 20.05, the claimed bound 7."""
    example = {"E": [[3, 0]], "weights": [1, 9999]}
    result = certify_arrays("dong2021v1:A.3", example, kind="violates").check()
    assert "0.0020047" in result.checked[-1]


def test_a_constant_row_is_an_equality_and_holds_and_constant_rows_alone_say_nothing() -> None:
    assert certify_arrays("dong2021:A.3", {"E": [[7, 7], [0, 1]], "weights": [1, 2]}).check()
    with pytest.raises(NotIssued, match="> 0"):
        certify_arrays("dong2021:A.3", {"E": [[7, 7], [1, 1]], "weights": [1, 2]})
    with pytest.raises(NotIssued, match="m >= 2"):
        certify_arrays("dong2021:A.3", {"E": [[7]], "weights": [1]})


def test_weights_must_be_positive_and_given_once() -> None:
    for data in (
        {"E": [[1, 0]], "weights": [0, 1]},
        {"E": [[1, 0]]},
        {"E": [[1, 0]], "weights": [1, 1], "logits": [1, 1]},
    ):
        assert not Certificate("dong2021:A.3", "holds", data).check()
    assert not Certificate("own:tv", "holds", {"weights": [1, -1], "g": [1, 0]}).check()


def test_total_variation_near_equality_is_decided_and_equality_is_not() -> None:
    """Two atoms at odds e^(-D/2) attain the bound; rational odds miss it by about their distance squared."""
    D = 2
    odds = Fraction(np.exp(-D / 2))
    assert certify_arrays("own:tv", {"g": [D, 0], "weights": [odds, 1]}).check()
    assert certify_arrays("own:tv", {"g": [D, 0], "logits": [-D / 2 * (1 + 2**-30), 0]}).check()
    with pytest.raises(NotIssued, match=r"max\(g\) - min\(g\) > 0"):
        certify_arrays("own:tv", {"g": [3, 3], "weights": [1, 2]})
    with pytest.raises(NotIssued, match="undecided at 4096 bits"):
        certify_arrays("own:tv", {"g": [2, 0], "logits": [-1, 0]})


def test_what_is_true_and_empty_is_refused() -> None:
    """Paths of equal tokens, or through no weights; a direction that moves no logit: 0 = 0 and 0 <= 0."""
    one, none, half = [[1, 0], [0, 1]], [[0, 0], [0, 0]], [["1/2", "1/2"], [0, 1]]

    def paths(X: Any, W: Any, output: Any) -> Certificate:
        layers = [{"heads": [{"P": half, "W": W}, {"P": one, "W": none}], "bias": [0, 3]}]
        return Certificate("dong2021:2.1", "holds", {"X": X, "layers": layers, "output": output})

    same, apart, bias = [[1, 2], [1, 2]], [[1, 2], [2, 1]], [[0, 3], [0, 3]]
    assert paths(apart, one, [["3/2", "9/2"], [2, 4]]).check().accepted
    for X, W, output, reason in (
        (same, one, [[1, 5], [1, 5]], "a condition fails: any(abs(X[i][a] - X[0][a]) > 0"),
        (none, none, bias, "a condition fails: any(abs(X[i][a] - X[0][a]) > 0"),
        (apart, none, bias, "a condition fails: any(averages(l, h, p) for l in range(L)"),
    ):
        assert paths(X, W, output).check().reason.startswith(reason)
    moved = {"Z": [[1], [2]], "M": [[0]], "V": [[1]]}
    assert Certificate("own:zero-grad", "holds", {**moved, "G": [[1]]}).check().accepted
    empty = Certificate("own:zero-grad", "holds", {**moved, "G": [[0]]}).check()
    failed = "any(max(tilt(i)) - min(tilt(i)) > 0 for i in range(n))"
    assert empty.reason == f"a condition fails: {failed}, without which it says nothing"


@pytest.mark.parametrize("key", ["own:flow-step", "own:flow-step-usa"])
def test_a_flow_speaks_of_a_matrix(key: str) -> None:
    """The inequality holds for a C that no tokens have (its least eigenvalue is 1 - sqrt(2)): the words tell."""
    result = certify_arrays(key, {"C": [[1, 1, 0], [1, 1, 1], [0, 1, 1]], "beta": 1}).check()
    assert ": the symmetric C, 1 on its diagonal and nowhere above, has at its least entries" in result.checked[0]
    assert "where C is semidefinite, so that tokens have them" in result.checked[1]


def test_skips_that_keep_a_share_are_no_skips_of_0() -> None:
    """abs(skip) mu(X[0]) = 0 is below everything."""
    head = {"W_QK": [[1, 0], [0, 1]], "W": [[1, 0], [0, 1]], "key_bias": [0, 0]}
    data = {"X": [[1, 0], [0, 1]], "d_qk": 1, "mask": "complete", "layernorm": "sphere"}
    data["layers"] = [{"heads": [head], "bias": [0, 0]}]

    def word(skip: int) -> CheckResult:
        return Certificate("folk:lambda-skip", "holds", {**data, "skip": skip}).check()

    assert word(1).accepted
    assert word(0).reason == "a condition fails: abs(skip) > 0"


def test_the_constant_of_total_variation_is_sharp() -> None:
    """4.01 for 4 has its instance, and 3.99 none; what holds of the statement is no violation."""
    constant = Fraction(401, 100)
    variant = certify_arrays("own:tv-variant", {"g": [2, 0], "logits": [-1, 0], "constant": constant}, kind="violates")
    assert (variant.statement, variant.kind) == ("own:tv-variant", "violates")
    assert "of q in total variation, c = 401/100" in variant.check().checked[0]
    with pytest.raises(NotIssued, match="undecided"):
        certify_arrays("own:tv-variant", {"g": [2, 0], "logits": [-1, 0], "constant": 4}, kind="violates")
    with pytest.raises(NotIssued, match="the claim is true"):
        certify_arrays(
            "own:tv-variant", {"g": [2, 0], "logits": [-1, 0], "constant": Fraction(399, 100)}, kind="violates"
        )
    with pytest.raises(NotIssued, match="constant > 0"):
        certify_arrays("own:tv-variant", {"g": [2, 0], "logits": [-1, 0], "constant": -4}, kind="violates")


def test_closed_forms_that_refute_and_their_neighbours_that_do_not() -> None:
    neighbours: dict[str, tuple[Kinds, list[dict[str, Any]]]] = {
        "dong2021v1:2.2": (
            counterexample(),
            [{"idle": 2037}, {"gain": 11}, {"idle": -1}, {"active": [["1/2", 30]]}, {"active": [[1, 2, 3]]}],
        ),
        "dong2021v1:2.2-mean": (about_the_mean(), [{"idle": 3000}, {"gain": 0}, {"active": "1/2"}]),
        "unstated:large-logits": (lone_query(), [{"idle": 1700}, {"gain": 9}, {"idle": 1}, {"gain": 0}]),
        "dong2021:2.3-printed": (four_keys(), [{"columns": 900}, {"entry": 1}, {"gain": 1}, {"idle": 395}]),
        "dong2021v1:2.3": (
            two_tokens_of_two_heads(),
            [{"side": 250}, {"logit": "2/3"}, {"logit": 0}, {"logit": "1/4"}],
        ),
    }
    for key, (kinds, changes) in neighbours.items():
        assert Certificate(key, "violates", kinds.data()).check(), key
        for change in changes:
            assert not Certificate(key, "violates", {**kinds.data(), **change}).check(), (key, change)


def quotient(key: str, kinds: Kinds, term: str) -> float:
    """A term of the checker's definitions at the numbers of a closed form."""
    statement, sizes = STATEMENTS[key], dict[str, int]()
    content = json.loads(Certificate(key, "violates", kinds.data()).text())["data"]
    data = arranged(read(content, statement.data, "data", sizes), sizes)
    found = Evaluator(DEFINED[key], data, {}, 128, time.monotonic() + 60).value(formula(term), {})
    return float((found.lower() - (-found).lower()) / 2 if isinstance(found, Interval) else found)


_CLOSED = {
    "dong2021v1:2.2": "min(columns(value(i))*rows(value(i)) for i in range(m + 3))/(16*gain**2)",
    "dong2021v1:2.2-mean": "column*row/(128*gain**2)",
    "unstated:large-logits": "n*moved**2/(16*gain**2)",
    "dong2021:2.3-printed": "change**2*product/(64*gain**2*q)",
}


@pytest.mark.parametrize("seed", range(8))
def test_closed_forms_have_one_value_in_the_checker_and_in_the_library(seed: int) -> None:
    """(Two heads are bounded by tanh(w)/w >= 1 - w^2/3 in the checker.)"""
    rng = np.random.default_rng(seed)
    gain, sink, active, guard = (Fraction(int(k), 16) for k in rng.integers(1, 80, 4))
    m, idle, columns = (int(k) for k in rng.integers(2, 9, 3))
    forms: dict[str, Kinds] = {
        "dong2021v1:2.2": TokenKinds(
            ((m, active), (2, guard)), idle, gain, sink, ((guard, gain / 3), (active, gain / 2))
        ),
        "dong2021v1:2.2-mean": MeanKinds(m, idle, gain, sink, active, guard),
        "unstated:large-logits": LoneQuery(idle, gain),
        "dong2021:2.3-printed": FourKeys(2 + columns % 3, Fraction(1, 2), idle, gain / 8, sink),
    }
    for key, kinds in forms.items():
        assert quotient(key, kinds, _CLOSED[key]) == pytest.approx(kinds.ratio() ** 2, rel=1e-12), key
    heads = TwoHeads(side=m, logit=gain / 10)
    least = quotient("dong2021v1:2.3", heads, "(side + 1)**2*(1 - logit**2/3)**2/(256*side)")
    assert (1 - float(heads.logit) ** 4) * heads.ratio() ** 2 <= least <= heads.ratio() ** 2


@pytest.mark.parametrize(("columns", "entry"), [(2, Fraction(1, 2)), (2, Fraction(45, 64)), (4, Fraction(1, 2))])
def test_the_row_of_four_keys_is_as_far_from_every_center_as_is_said(columns: int, entry: Fraction) -> None:
    """The row (x + 2, x, .., x) above zero rows: least |.|_1 |.|_inf over all centers, in each of its cases."""
    for idle in (0, 1, 2, 3, 4, 6, 15):
        rows = np.full((idle + 5, 4 * columns), Fraction(0), dtype=object)
        rows[0], rows[0, 0] = entry, entry + 2
        least = exact_residual_bounds(rows, "composite")
        found = quotient("dong2021:2.3-printed", FourKeys(columns, entry, idle, Fraction(1, 8), 1), "product")
        assert float(least.lower) * (1 - 1e-12) <= found <= float(least.upper) * (1 + 1e-12)


# -- networks ----------------------------------------------------------------------------------------------------


def two_tokens(a: Fraction, b: Fraction) -> Instance:
    one = np.ones((1, 1, 1, 1), dtype=int)
    return Instance([[a], [-b]], one, one)


def test_a_center_far_from_least_is_refused(
    draw_instance: Callable[..., Instance], certify_registered: Registered
) -> None:
    """Gamma is taken at the centers of the data, so they must be what the statement means; no hint moves them."""
    instance = draw_instance(np.random.default_rng(2), n=4, d=2, L=2, H=1)
    certificate = certify_registered("dong2021:2.3", instance)
    for layer in (0, 1):
        name = f"X[{layer}] composite"
        hint = certificate.hints[name]
        elsewhere = [[1000, 1000] if l == layer else center for l, center in enumerate(certificate.data["centers"])]
        for result in (
            with_changes(certificate, data={"centers": elsewhere}),
            with_changes(certificate, hints={name: {**hint, "lines": hint["lines"][:1]}}),
        ):
            assert "around_it(l) <= at_least(reads[l], composite" in result.reason
        assert "not decided" not in with_changes(certificate, hints={name: {**hint, "center": [1000, 1000]}}).reason


def test_decay_needs_its_hypothesis_and_its_number_of_heads(
    draw_instance: Callable[..., Instance], certify_registered: Registered
) -> None:
    instance = draw_instance(np.random.default_rng(3), n=3, d=2, L=1, H=2)
    with pytest.raises(NotIssued, match="H == 1"):
        certify_registered("dong2021:2.2", instance)
    loud = Instance(instance.X, 100 * instance.W_QK, instance.W)
    with pytest.raises(NotIssued, match="x_star"):
        certify_registered("dong2021:2.3", loud)


def test_a_head_that_does_nothing_is_no_obstacle(certify_registered: Registered) -> None:
    rng = np.random.default_rng(4)
    W = rng.normal(size=(1, 2, 2, 2))
    W_QK = W.copy()
    W_QK[0, 1] = 0
    instance = Instance(rng.normal(size=(3, 2)) / 4, W_QK, W)
    assert certify_registered("dong2021:2.3", instance).check()
    silent = Instance(instance.X, instance.W_QK, 0 * instance.W)
    with pytest.raises(NotIssued, match="every W is 0"):  # where no head does anything, nothing is said
        certify_registered("own:diameter", silent)


def test_nothing_is_issued_undecided() -> None:
    arrays = {"g": [1, 0], "weights": [1, 2]}
    with pytest.raises(NotIssued, match="not been decided"):
        certify_arrays("own:tv", arrays, decided=False)
    with pytest.raises(ValueError, match="decided"):
        certify_arrays("own:tv", arrays, decided=1)  # type: ignore[arg-type]


def test_claims_of_a_kind_the_family_does_not_have_are_refused(twenty_each: dict[str, list[Certificate]]) -> None:
    for key, drawn in twenty_each.items():
        networks = ("holds", "violates") if key in NETWORK_CLAIMS else KINDS  # of one's own a claim may be of existence
        known = STATEMENTS[key].kinds if key in STATEMENTS else networks
        for kind in {"holds", "violates", "exists"} - set(known):
            assert "kind" in with_changes(drawn[0], kind=kind).reason


def test_a_network_is_certified_with_its_weights_multiplied_out_exactly(certify_registered: Registered) -> None:
    rng = np.random.default_rng(8)
    W_Q, W_K = rng.normal(size=(2, 1, 2, 3, 2)) / 2
    W_V, W_O = rng.normal(size=(1, 2, 3, 2)), rng.normal(size=(1, 2, 2, 3))
    net = Network.from_qkvo(W_Q, W_K, W_V, W_O)
    instance = Instance.of(net, rng.normal(size=(4, 3)))
    fractions = np.vectorize(Fraction, otypes=[object])
    assert (instance.W_QK[0, 1] == fractions(W_Q[0, 1]) @ fractions(W_K[0, 1]).T).all()
    assert (instance.W[0, 0] == fractions(W_V[0, 0]) @ fractions(W_O[0, 0])).all()
    assert certify_registered("own:diameter", instance).check()
    skipping = Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), skip=True)
    assert Instance.of(skipping, [[1.0]]).skip == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[1.0, float("nan")]]}, "X: entry \\(0, 1\\) is nan"),
        ({"X": [[]]}, "X: shape"),
        ({"X": [[1.0, 2.0], [3.0]]}, "X: "),
        ({"X": [["a", 1]]}, "X: entry \\(0, 0\\) is a str"),
        ({"X": [[True, 1]]}, "X: entry \\(0, 0\\) is a bool"),
        ({"W": np.ones((1, 1, 3, 3))}, "W: shape"),
        ({"key_bias": np.ones((1, 2))}, "key_bias: shape"),
        ({"bias": np.ones(2)}, "bias: shape"),
        ({"d_qk": 0}, "d_qk: 0 given"),
        ({"d_qk": float("inf")}, "d_qk: entry"),
    ],
)
def test_bad_instances_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    good = {"X": [[1.0, 2.0]], "W_QK": np.ones((1, 1, 2, 2)), "W": np.ones((1, 1, 2, 2))}
    with pytest.raises(ValueError, match=message):
        Instance(**{**good, **changes})


def test_bad_arguments_of_the_builders_are_refused_by_name(certify_registered: Registered) -> None:
    instance = two_tokens(Fraction(1), Fraction(2))
    with pytest.raises(ValueError, match="row-stochastic"):
        stochastic_rationals([[0.5, 0.6]])
    with pytest.raises(NotIssued, match="all tokens are equal"):
        certify_registered("own:residual-inf", Instance([[1.0], [1.0]], instance.W_QK, instance.W))
