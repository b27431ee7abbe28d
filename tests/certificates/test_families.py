"""What each family accepts and, more important, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import (
    Instance,
    NotIssued,
    certify_closure,
    certify_composite_decay,
    certify_cosine_step,
    certify_diameter,
    certify_invariant_set,
    certify_not_a_norm,
    certify_paths,
    certify_radius_rate,
    certify_residual_inf,
    certify_sandwich,
    certify_total_variation,
    certify_two_tokens,
    stochastic_rationals,
)
from rankmath.checker.checker import FAMILIES, CheckResult, check_text, read
from rankmath.model.network import Network
from rankmath.verification.many_tokens import Kinds, about_the_mean, counterexample, lone_query
from rankmath.verification.two_heads import four_keys
from rankmath.verification.two_heads import two_tokens as two_tokens_of_two_heads


def with_changes(certificate: Certificate, **changes: Any) -> CheckResult:
    """The checker's word on the certificate with some of data, hints, kind, statement replaced."""
    fields = {name: getattr(certificate, name) for name in ("statement", "kind", "data", "hints")}
    for name in ("data", "hints"):
        fields[name] = {**fields[name], **changes.pop(name, {})}
    return Certificate(**{**fields, **changes}).check()


def test_twenty_random_instances_of_every_family_are_accepted(twenty_each: dict[str, list[Certificate]]) -> None:
    # The others are closed forms, variants and equilibria, with tests of their own below and in test_equilibria.
    closed = {"dong2021v1:2.2", "dong2021v1:2.2-mean", "dong2021v1:2.3", "dong2021:2.2-unhedged"}
    closed |= {"dong2021:2.3-printed"}
    variants = {"own:tv-variant", "own:diameter-variant", "own:residual-inf-variant"}
    equilibria = {"own:layernorm-equilibrium", "own:stable-complete", "wu2024:conjecture", "dong2021:ln-sphere"}
    equilibria |= {"own:stable-causal", "wu2024:3"}
    assert set(twenty_each) | closed | variants | equilibria == set(FAMILIES)
    for key, drawn in twenty_each.items():
        assert len({certificate.id for certificate in drawn}) > 10
        for certificate in drawn:
            result = certificate.check()
            assert result.accepted, (key, result.reason)
            assert result.id == certificate.id
            assert key in result.checked[0]
            assert len(result.checked) > 1


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_instances_promised_are_accepted(seed: int, draw_instance: Callable[..., Instance]) -> None:
    """n = 8, d = 4, L = 3, two heads: the 2023 bound, the residual form and the diameter in three norms."""
    instance = draw_instance(np.random.default_rng(seed), n=8, d=4, L=3, H=2)
    certify_composite_decay(instance, decided=True)
    certify_residual_inf(instance, decided=True)
    for norm in ("l1", "l2", "linf"):
        certify_diameter(instance, norm=norm, form="tanh", decided=True)  # type: ignore[arg-type]


def test_precision_is_raised_until_a_tiny_residual_is_seen(draw_instance: Callable[..., Instance]) -> None:
    small = draw_instance(np.random.default_rng(0), n=3, d=2, L=3, H=1)
    small = Instance(small.X / 2**20, small.W_QK, small.W, small.key_bias, small.bias, small.d_qk)
    result = certify_composite_decay(small, decided=True).check()
    assert any("1024 bits" in sentence for sentence in result.checked)


# -- exact families --------------------------------------------------------------------------------------------


def test_closure_refuses_what_is_not_stochastic_by_any_amount() -> None:
    half, tiny = Fraction(1, 2), Fraction(1, 2**300)
    certificate = certify_closure([[[half, half], [0, 1]], [[1, 0], [half, half]]])
    assert not with_changes(certificate, data={"factors": [[[half + tiny, half], [0, 1]]]})
    negative = with_changes(certificate, data={"factors": [[[1 + tiny, -tiny], [0, 1]]]})
    assert "(0, 1) is negative" in negative.reason
    wrong = with_changes(certificate, data={"product": [[half, half], [half, half]]})
    assert "data.product" in wrong.reason
    shapes = with_changes(certificate, data={"factors": [[[half, half]], [[1, 0]]]})
    assert "rows" in shapes.reason


def two_layers() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "X": rng.integers(-4, 5, (3, 2)),
        "P": stochastic_rationals(rng.dirichlet(np.ones(3), (2, 2, 3))),
        "W": rng.integers(-4, 5, (2, 2, 2, 2)),
        "bias": rng.integers(-4, 5, (2, 2)),
    }


@pytest.mark.parametrize("skip", [None, 1, Fraction(-1, 2)])
def test_paths_refuse_the_three_usual_mistakes(skip: Any) -> None:
    """P's in the wrong layer order, W's in the wrong order, a bias not carried through later layers."""
    net = two_layers()
    certificate = certify_paths(**net, skip=skip)
    X, P, W, bias = (np.vectorize(Fraction, otypes=[object])(net[name]) for name in ("X", "P", "W", "bias"))
    identity, factor = np.eye(3, dtype=int), skip or 0
    layers = [
        [(identity, factor * np.eye(2, dtype=int)), *zip(P_l, W_l, strict=True)]
        for P_l, W_l in zip(P, W, strict=True)
    ]
    carried = bias[1] + bias[0] @ sum(W_h for _, W_h in layers[1])

    def output(*, late_first: bool = False, reversed_weights: bool = False, b: Any = carried) -> Any:
        total = np.tile(b, (3, 1))
        for P_1, W_1 in layers[0]:
            for P_2, W_2 in layers[1]:
                left, right = (
                    (P_1 @ P_2 if late_first else P_2 @ P_1),
                    (W_2 @ W_1 if reversed_weights else W_1 @ W_2),
                )
                total = total + left @ X @ right
        return total

    assert with_changes(certificate, data={"output": output()})
    for wrong in (output(late_first=True), output(reversed_weights=True), output(b=bias[1])):
        result = with_changes(certificate, data={"output": wrong})
        assert not result
        assert "data.output" in result.reason


def test_paths_refuse_attention_that_is_not_stochastic_and_too_many_paths() -> None:
    net = two_layers()
    with pytest.raises(NotIssued, match="sums to"):
        certify_paths(net["X"], net["P"] / 2, net["W"])
    P, W = np.full((6, 5, 1, 1), 1), np.full((6, 5, 1, 1), 1)
    with pytest.raises(NotIssued, match="15625 paths"):
        certify_paths([[1]], P, W)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_the_composite_value_is_not_a_norm(n: int) -> None:
    """A = e₁1ᵀ and B = Aᵀ: 2√n on the parts, n + 1 on the sum."""
    A = np.zeros((n, n), dtype=int)
    A[0] = 1
    result = certify_not_a_norm(A, A.T).check()
    assert f"squared are {n}, {n} and for A + B {(n + 1) ** 2}" in result.checked[-1]


def test_equality_in_the_triangle_inequality_is_no_violation() -> None:
    one = np.array([[1]])
    with pytest.raises(NotIssued, match="no violation"):
        certify_not_a_norm(one, one)
    # sqrt(p) + sqrt(q) = sqrt(r) with p, q, r = 2, 2, 8
    A = np.array([[1, 1], [0, 0]])
    with pytest.raises(NotIssued, match="squared are 2, 2 and for A \\+ B 8"):
        certify_not_a_norm(A, A)


FIFTH = Fraction(1, 5)


def test_a_vector_that_leaves_the_set_of_lemma_13_and_one_that_stays() -> None:
    leaving = certify_invariant_set([-4 * FIFTH, 0, -3 * FIFTH, 0], 4)
    assert "|y|^2 = 66/5, w^2 y_(d-1)^2 = 144/25" in leaving.check().checked[-1]
    staying = certify_invariant_set([0, -4 * FIFTH, -3 * FIFTH, 0], 4, kind="holds")
    assert "in the set again" in staying.check().checked[-1]
    for certificate, kind in ((leaving, "holds"), (staying, "violates")):
        assert "against the claim" in with_changes(certificate, kind=kind).reason
    for data, reason in (
        ({"x": [-4 * FIFTH, 0, -3 * FIFTH, Fraction(-1, 2**300)]}, "norm 1"),
        ({"x": [4 * FIFTH, 0, -3 * FIFTH, 0]}, "not in the set"),
        ({"x": [-3 * FIFTH, 0, 0, -4 * FIFTH]}, "not in the set"),
        ({"w": Fraction(5, 3) - Fraction(1, 2**300)}, "not in the set"),
        ({"w": 1}, "w > 1"),
        ({"x": [-1]}, "two coordinates"),
    ):
        assert reason in with_changes(leaving, data=data).reason


def star(n: int, least: Fraction) -> list[list[Any]]:
    hub = [Fraction(1, n)] * n
    return [hub, *([least, *(1 - least if j == i else 0 for j in range(1, n))] for i in range(1, n))]


def test_the_step_of_theorem_2_on_stars_and_where_it_holds() -> None:
    text = certify_cosine_step(star(10, Fraction(1, 20))).check().checked
    assert "n eps^2 = 1/40" in text[1]
    assert f"its square {Fraction(1, 362) ** 2}" in text[2]
    even = [[FIFTH] * 5] * 5
    assert certify_cosine_step(even, kind="holds").check()
    with pytest.raises(NotIssued, match="against the claim 'violates'"):
        certify_cosine_step(even)
    half = Fraction(1, 2)
    for A, reason in (
        ([[half, half], [0, 1]], "not connected"),
        ([[half, half, 0], [0, half, half], [half, 0, half]], "radius 1"),
        ([[half, half], [half + Fraction(1, 2**300), half]], "sums to"),
        ([[0, 1], [half, half]], "see themselves"),
        ([[1]], "two tokens"),
    ):
        with pytest.raises(NotIssued, match=reason):
            certify_cosine_step(A)


def hub_and_chain(n: int) -> Any:
    mask = np.eye(n, dtype=int)
    mask[:, 0] = mask[0, -1] = 1
    mask[np.arange(2, n), np.arange(1, n - 1)] = 1
    return mask


def test_the_rate_of_theorem_2_on_a_hub_with_a_chain_and_where_nothing_is_shown() -> None:
    assert "1 - n eps^(2r) = 0 <= 0" in certify_radius_rate(hub_and_chain(9)).check().checked[1]
    broken = hub_and_chain(9)
    broken[0, -1] = 0
    for mask, reason in (
        (hub_and_chain(7), "2/9 is positive"),
        (hub_and_chain(10), "not invertible"),
        (np.ones((9, 9)), "is positive"),
        (broken, "not connected"),
        (2 * hub_and_chain(9), "0 or 1"),
    ):
        with pytest.raises(NotIssued, match=reason):
            certify_radius_rate(mask)


def test_two_tokens_rest_at_three_points_for_rational_roots_alone() -> None:
    words = certify_two_tokens(Fraction(5, 3)).check().checked
    assert [line.split("multiplier ")[1] for line in words[1:]] == ["1/2, exactly", "9/5, exactly", "1/5, exactly"]
    with pytest.raises(NotIssued, match="not rational"):
        certify_two_tokens(2)
    with pytest.raises(ValueError, match=r"^w: "):
        certify_two_tokens(1)
    for data in (
        {"w": 2, "s": FIFTH},
        {"w": Fraction(-5, 3), "s": 4 * FIFTH},
        {"w": Fraction(5, 3), "s": -4 * FIFTH},
    ):
        assert not Certificate("wu2024:4.3.1", "holds", data).check()


# -- softmax families ------------------------------------------------------------------------------------------


def rare_token(D: Fraction) -> dict[str, Any]:
    """One token of weight 10^-9 whose logit rises by D."""
    return {"E": [[D, 0]], "weights": [Fraction(1, 10**9), 1]}


def test_the_sandwich_holds_at_1_2564_and_breaks_at_1_2565() -> None:
    """x* = 1.25643… lies between; the checker needs no decimal of it."""
    below, above = rare_token(Fraction("1.2564")), rare_token(Fraction("1.2565"))
    assert certify_sandwich(**below, decided=True).check()
    assert certify_sandwich(**below, hypothesis=False, decided=True).check()
    broken = certify_sandwich(**above, hypothesis=False, kind="violates", decided=True)
    assert "D = 2513/2000" in broken.check().checked[-1]
    with pytest.raises(NotIssued, match="hypothesis D <= x\\* fails"):
        certify_sandwich(**above, decided=True)
    with pytest.raises(NotIssued, match="no entry violates"):
        certify_sandwich(**below, hypothesis=False, kind="violates", decided=True)
    with pytest.raises(NotIssued, match=r"entry \(0, 0\).*fails"):
        certify_sandwich(**above, hypothesis=False, decided=True)


def test_the_sandwich_example_of_the_paper_at_three() -> None:
    """D = 3, q₀ = 10⁻⁴: P₀/q₀ is 20.05, the claimed bound 7."""
    example = {"E": [[3, 0]], "weights": [1, 9999]}
    result = certify_sandwich(**example, hypothesis=False, kind="violates", decided=True).check()
    assert "0.00200473" in result.checked[-1]


def test_a_constant_row_is_an_equality_and_holds() -> None:
    assert certify_sandwich([[7, 7], [0, 1]], weights=[1, 2], decided=True).check()


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
    assert certify_total_variation([D, 0], weights=[odds, 1], decided=True).check()
    assert certify_total_variation([D, 0], logits=[-D / 2 * (1 + 2**-30), 0], decided=True).check()
    with pytest.raises(NotIssued, match="undecided at 4096 bits"):
        certify_total_variation([3, 3], weights=[1, 2], decided=True)


def test_variants_of_the_sharp_statements_are_refuted_and_the_statements_are_not() -> None:
    """4.01 for 4, a larger exponent, the largest head for the sum, 0.99 in front of c: each has its instance."""
    constant, a = Fraction(401, 100), Fraction(1, 8)
    variant = certify_total_variation([2, 0], logits=[-1, 0], constant=constant, decided=True)
    assert (variant.statement, variant.kind) == ("own:tv-variant", "violates")
    with pytest.raises(NotIssued, match="undecided"):
        certify_total_variation([2, 0], logits=[-1, 0], constant=4, decided=True)
    for norm in ("l1", "l2", "linf"):
        for form in ("tanh", "cubic"):
            certify_diameter(two_tokens(a, a), norm=norm, form=form, constant=constant, decided=True)
    certify_diameter(two_tokens(a, a), norm="l1", form="cubic", constant=4, shift=1, decided=True)
    one = np.ones((1, 2, 1, 1), dtype=int)
    both = Instance([[a], [-a]], one, one)
    certify_diameter(both, norm="linf", form="tanh", constant=4, heads="largest", decided=True)
    with pytest.raises(NotIssued, match="undecided"):
        certify_diameter(both, norm="linf", form="tanh", constant=4, decided=True)
    certify_residual_inf(two_tokens(a, a), constant=Fraction(99, 100), decided=True)
    with pytest.raises(NotIssued, match="against the claim"):
        certify_residual_inf(two_tokens(a, a), constant=1, decided=True)


def test_closed_forms_that_refute_and_their_neighbours_that_do_not() -> None:
    neighbours: dict[str, tuple[Kinds, list[dict[str, Any]]]] = {
        "dong2021v1:2.2": (
            counterexample(),
            [{"idle": 2037}, {"gain": 11}, {"idle": -1}, {"active": [["1/2", 30]]}, {"active": [[1, 2, 3]]}],
        ),
        "dong2021v1:2.2-mean": (about_the_mean(), [{"idle": 3000}, {"gain": 0}, {"active": "1/2"}]),
        "dong2021:2.2-unhedged": (lone_query(), [{"idle": 1700}, {"gain": 9}, {"idle": 1}, {"gain": 0}]),
        "dong2021:2.3-printed": (four_keys(), [{"columns": 900}, {"entry": 1}, {"gain": 1}, {"idle": 395}]),
        "dong2021v1:2.3": (
            two_tokens_of_two_heads(),
            [{"side": 250}, {"logit": "2/3"}, {"logit": 0}, {"logit": "1/4"}],
        ),
    }
    for key, (kinds, changes) in neighbours.items():
        assert Certificate(key, "violates", kinds.data()).check()
        for change in changes:
            assert not Certificate(key, "violates", {**kinds.data(), **change}).check(), (key, change)


# -- network families ------------------------------------------------------------------------------------------


def two_tokens(a: Fraction, b: Fraction) -> Instance:
    one = np.ones((1, 1, 1, 1), dtype=int)
    return Instance([[a], [-b]], one, one)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_diameter_bound_is_sharp(norm: Any) -> None:
    """n = 2, d = 1, X = ±a attains the tanh bound: no interval decides it. Next to it, the strict inequality."""
    a = Fraction(3, 4)
    with pytest.raises(NotIssued, match="undecided at 4096 bits"):
        certify_diameter(two_tokens(a, a), norm=norm, form="tanh", decided=True)
    with pytest.raises(NotIssued, match="undecided at 4096 bits"):
        certify_diameter(two_tokens(a, a), norm=norm, form="tanh", constant=4, decided=True)
    near = certify_diameter(two_tokens(a, a + Fraction(1, 2**70)), norm=norm, form="tanh", decided=True)
    assert near.check()
    with pytest.raises(NotIssued, match="against the claim 'violates'"):
        certify_diameter(two_tokens(a, 2 * a), norm=norm, form="tanh", constant=4, decided=True)


def test_a_hint_can_only_lose_a_certificate(draw_instance: Callable[..., Instance]) -> None:
    instance = draw_instance(np.random.default_rng(1), n=3, d=2, L=1, H=1)
    certificate = certify_diameter(instance, norm="l2", form="cubic", decided=True)
    zero = {"u": [0, 0], "v": [1, 0]}
    assert "zero" in with_changes(certificate, hints={"singular": [[{"W": zero, "W_QK": zero}]]}).reason
    W = instance.W[0, 0]
    blind = {"u": [1, 0], "v": [-W[0, 1], W[0, 0]]}  # u W v = 0: a lower bound of nothing
    hints = {"singular": [[{"W": blind, "W_QK": blind}]]}
    assert "undecided" in with_changes(certificate, hints=hints).reason
    assert not with_changes(certificate, hints=hints, kind="violates")
    assert "hints.singular" in with_changes(certificate, data={"norm": "l1"}).reason


def test_a_residual_cannot_be_overstated(draw_instance: Callable[..., Instance]) -> None:
    """Larger weights prove the same line, negative ones none; a far center weakens the claim until it is lost."""
    instance = draw_instance(np.random.default_rng(2), n=4, d=2, L=1, H=1)
    certificate = certify_residual_inf(instance, decided=True)
    rows = read(json.loads(certificate.text())["hints"]["rows"], "n", "rows", {})
    assert (
        with_changes(certificate, hints={"rows": [10**9 * q for q in rows]}).checked == certificate.check().checked
    )
    assert "negative" in with_changes(certificate, hints={"rows": [-1, 1, 1, 1]}).reason
    assert "zero" in with_changes(certificate, hints={"rows": [0, 0, 0, 0]}).reason
    assert "undecided" in with_changes(certificate, hints={"output_center": [1000, 1000]}).reason


def test_a_center_far_from_least_is_refused(draw_instance: Callable[..., Instance]) -> None:
    """Gamma is taken at the stored centers, so they must be what the statement means."""
    instance = draw_instance(np.random.default_rng(2), n=4, d=2, L=2, H=1)
    certificate = certify_composite_decay(instance, decided=True)
    lines, centers = certificate.hints["lines"], certificate.hints["centers"]
    moved = with_changes(certificate, hints={"centers": [centers[0], [1000, 1000], centers[2]]})
    assert "layer 1: the stored center against (1 + 2^-20) times the least" in moved.reason
    few = with_changes(certificate, hints={"lines": [lines[0][:1], lines[1]]})
    assert "layer 0: the stored center against (1 + 2^-20) times the least" in few.reason
    assert "centers" in with_changes(certificate, hints={"centers": centers[:2]}).reason
    assert "lines" in with_changes(certificate, hints={"lines": lines[:1]}).reason


def test_decay_needs_its_hypothesis_and_its_number_of_heads(draw_instance: Callable[..., Instance]) -> None:
    instance = draw_instance(np.random.default_rng(3), n=3, d=2, L=1, H=2)
    with pytest.raises(NotIssued, match="one head"):
        certify_composite_decay(instance, statement="dong2021:2.2", decided=True)
    loud = Instance(instance.X, 100 * instance.W_QK, instance.W)
    with pytest.raises(NotIssued, match="hypothesis D <= x\\* fails"):
        certify_composite_decay(loud, decided=True)


def test_heads_that_do_nothing_are_no_obstacle() -> None:
    rng = np.random.default_rng(4)
    W = rng.normal(size=(1, 2, 2, 2))
    W_QK = W.copy()
    W_QK[0, 1] = 0
    instance = Instance(rng.normal(size=(3, 2)) / 4, W_QK, W)
    assert certify_composite_decay(instance, decided=True).check()
    silent = Instance(instance.X, instance.W_QK, 0 * instance.W)
    assert certify_diameter(silent, norm="l2", decided=True).check()


def test_nothing_is_issued_undecided(draw_instance: Callable[..., Instance]) -> None:
    instance = draw_instance(np.random.default_rng(6))
    with pytest.raises(NotIssued, match="not been decided"):
        certify_diameter(instance, decided=False)
    with pytest.raises(ValueError, match="decided"):
        certify_diameter(instance, decided=1)  # type: ignore[arg-type]


def test_claims_of_a_kind_the_family_does_not_have_are_refused(twenty_each: dict[str, list[Certificate]]) -> None:
    for key, drawn in twenty_each.items():
        for kind in {"holds", "violates", "exists"} - set(FAMILIES[key].kinds):
            assert "kind" in with_changes(drawn[0], kind=kind).reason


def test_a_network_is_certified_with_its_weights_multiplied_out_exactly() -> None:
    rng = np.random.default_rng(8)
    W_Q, W_K = rng.normal(size=(2, 1, 2, 3, 2)) / 2
    W_V, W_O = rng.normal(size=(1, 2, 3, 2)), rng.normal(size=(1, 2, 2, 3))
    net = Network.from_qkvo(W_Q, W_K, W_V, W_O)
    instance = Instance.of(net, rng.normal(size=(4, 3)))
    fractions = np.vectorize(Fraction, otypes=[object])
    assert (instance.W_QK[0, 1] == fractions(W_Q[0, 1]) @ fractions(W_K[0, 1]).T).all()
    assert (instance.W[0, 0] == fractions(W_V[0, 0]) @ fractions(W_O[0, 0])).all()
    assert certify_diameter(instance, norm="l1", decided=True).check()
    with pytest.raises(ValueError, match="skip"):
        Instance.of(Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), skip=True), [[1.0]])


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


def test_bad_arguments_of_the_builders_are_refused_by_name() -> None:
    instance = two_tokens(Fraction(1), Fraction(2))
    with pytest.raises(ValueError, match="norm: 'frobenius'"):
        certify_diameter(instance, norm="frobenius", decided=True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="form: 'square'"):
        certify_diameter(instance, form="square", decided=True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="statement"):
        certify_composite_decay(instance, statement="dong2021:2.4", decided=True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="exactly one"):
        certify_sandwich([[1, 0]], decided=True)
    with pytest.raises(ValueError, match="composable"):
        certify_closure([[[1]], [[1], [1]]])
    with pytest.raises(ValueError, match="row-stochastic"):
        stochastic_rationals([[0.5, 0.6]])
    with pytest.raises(NotIssued, match="do not differ"):
        certify_residual_inf(Instance([[1.0], [1.0]], instance.W_QK, instance.W), decided=True)


def test_tokens_that_coincide_leave_nothing_to_decide() -> None:
    text = json.dumps(
        {
            "format": "rankmath-certificate/1",
            "statement": "own:diameter",
            "kind": "holds",
            "data": {
                "norm": "l1",
                "form": "cubic",
                "X": [[1], [1], [1]],
                "d_qk": 1,
                "layers": [{"heads": [{"W_QK": [[1]], "W": [[1]], "key_bias": [0]}], "bias": [0]}],
            },
            "hints": {},
        }
    )
    assert "undecided at 4096 bits" in check_text(text).reason
