"""Verdicts: what float64 may say, what balls may say, and that a true statement survives every adversary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from rankmath.claims.own import evaluate_diameter, evaluate_residual_inf, evaluate_tv
from rankmath.claims.quantities import Run, form_norm, induced_norm, log, log_sum, maximum

import rankmath as rm
from rankmath.campaigns.battery import judge, verify, verify_statement
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance as ExactInstance
from rankmath.certificates.issue import certify_diameter, certify_residual_inf, certify_total_variation
from rankmath.claims import statement, statements
from rankmath.verification.instance import ArrayInstance, NetworkInstance
from rankmath.verification.statement import Evaluation, Side, Statement
from rankmath.verification.verdict import Outcome, Verdict

TWO = NetworkInstance(
    rm.Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1))), np.array([[0.5], [-0.5]])
)


def test_the_registry_has_every_key_of_the_two_papers_and_ours() -> None:
    expected = {
        "seed:closure",
        "dong2021:2.1",
        "dong2021:2.1-skip",
        "dong2021:A.3",
        "dong2021:2.2",
        "dong2021:2.3",
        "dong2021v1:2.2",
        "dong2021v1:2.3",
        "dong2021:3.1",
        "dong2021:3.2",
        "dong2021:3.3",
        "dong2021:norm",
        "own:tv",
        "own:diameter",
        "own:residual-inf",
        "own:gamma-free",
        "own:skip-lower",
        "own:order",
    }
    assert expected <= set(statements())
    for key, entry in statements().items():
        assert entry.key == key
        assert entry.claim
        assert entry.source
        assert entry.draws or entry.exhibit


def test_a_verdict_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match="four outcomes"):
        bool(Verdict("k", Outcome.HOLDS, 0.0, 1.0, False, "float64"))


def test_equality_is_undecided_in_every_arithmetic() -> None:
    """own:diameter is an equality for two tokens ±a: neither doubles nor balls may say HOLDS or VIOLATED."""
    entry = statement("own:diameter")
    for arithmetic in ("float64", "balls"):
        verdict = judge(entry, TWO, arithmetic, 256)
        assert verdict.outcome == Outcome.UNDECIDED
        assert not verdict.certified
        assert verdict.ratio == pytest.approx(1, abs=1e-14)


def test_a_failed_hypothesis_is_not_applicable_and_never_counts_as_holding() -> None:
    entry = statement("dong2021:A.3")
    beyond = ArrayInstance({"c": np.array([0.0, -9.0]), "E": np.array([[0.0, 3.0]])})
    for arithmetic in ("float64", "balls"):
        verdict = judge(entry, beyond, arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE
        assert "x*" in verdict.reason
    battery = verify_statement(
        replace(entry, draws=(lambda rng, size: beyond,), extremal=None), instances=1, search=0
    )
    assert (battery.holds, battery.not_applicable, battery.outcome) == (0, 1, "UNDECIDED")


def test_a_float_violation_is_not_a_refutation_until_balls_confirm_it() -> None:
    """A statement whose float64 evaluation is wrong by 1e-3 is not refuted: balls see that it holds."""

    def evaluate(A: object, instance: ArrayInstance) -> Evaluation:
        exact = A.constant(1)  # type: ignore[attr-defined]
        seen = 1.001 if not A.unbounded else exact - A.constant(2) ** -20  # type: ignore[attr-defined]
        return Evaluation([Side(seen, exact)])

    one = ArrayInstance({"x": np.zeros(1)})
    wrong = Statement("t:wrong", "", "x", "test", "proved", "here", lambda: one, (lambda rng, size: one,), evaluate)
    assert judge(wrong, one, "float64").outcome == Outcome.VIOLATED
    battery = verify_statement(wrong, instances=3, certify=0, search=0)
    assert (battery.outcome, battery.violations, battery.certified) == ("HOLDS", [], 3)


@pytest.mark.parametrize("key", [k for k, s in statements().items() if s.status == "proved"])
def test_a_true_statement_holds_on_its_battery(key: str) -> None:
    entry = statement(key)
    battery = verify_statement(entry, instances=max(4, int(120 * entry.share)), certify=2, seed=11, search=40)
    assert battery.violations == []
    assert battery.outcome == "HOLDS"
    assert battery.holds > 0
    if entry.sharp:
        assert battery.tightest >= 0.999
    assert battery.tightest <= 1


@pytest.mark.parametrize("key", ["own:tv", "own:diameter"])
def test_the_sharp_statements_are_seen_to_be_sharp(key: str) -> None:
    battery = verify_statement(key, instances=200, seed=3)
    assert battery.tightest >= 0.999999
    assert battery.certified > 0


CONSTANT = Fraction(401, 100)
NAMES = {1: "l1", 2: "l2", math.inf: "linf"}


def tv_variant(instance: ArrayInstance, verdict: Verdict) -> Certificate:
    return certify_total_variation(
        instance["g"], logits=instance["c"], constant=CONSTANT, decided=verdict.certified
    )


def diameter_variant(p: float, instance: NetworkInstance, verdict: Verdict, **changes: Any) -> Certificate:
    exact = ExactInstance.of(instance.net, instance.X)
    options = {"form": "tanh", "constant": CONSTANT, **changes}
    return certify_diameter(exact, norm=NAMES[p], decided=verdict.certified, **options)


def residual_variant(instance: NetworkInstance, verdict: Verdict) -> Certificate:
    exact = ExactInstance.of(instance.net, instance.X)
    return certify_residual_inf(exact, constant=Fraction(99, 100), decided=verdict.certified)


def cubic_diameter(A: Any, instance: NetworkInstance, *, shift: int, heads: str) -> Evaluation:
    """Δ₁(X^L) ≤ c^{(3^L−1)/2} Δ₁(X)^{3^L + shift}, heads summed or only the largest."""
    run = Run(A, instance.net, instance.X)
    A, net = run.A, run.net
    layers = []
    for l in range(net.layers):
        sizes = [
            log(A, form_norm(A, run.weight(net.W_QK, l, h), 1))
            + log(A, induced_norm(A, run.weight(net.W, l, h), 1))
            for h in range(net.heads)
        ]
        layers.append((maximum if heads == "largest" else log_sum)(A, sizes))
    log_c = maximum(A, layers) - log(A, A.constant(4)) - log(A, run.root)
    power = 3**net.layers
    rhs = log_c * ((power - 1) // 2) + run.log_diameter(0, 1) * (power + shift)
    return Evaluation([Side(run.log_diameter(net.layers, 1), rhs)])


def two_equal_heads(rng: np.random.Generator) -> Iterator[NetworkInstance]:
    ones = np.ones((1, 2, 1, 1))
    yield NetworkInstance(rm.Network.from_arrays(ones, ones), np.array([[0.1], [-0.1]]), "two heads alike")


def broken(key: str, evaluate: Any, certificate: Any, **changes: Any) -> Statement:
    return replace(statement(key), evaluate=evaluate, certificate=certificate, **changes)


BROKEN = {
    "tv with 4.01": broken("own:tv", partial(evaluate_tv, constant=CONSTANT), tv_variant),
    **{
        f"diameter with 4.01 in {NAMES[p]}": broken(
            "own:diameter", partial(evaluate_diameter, constant=CONSTANT, ps=(p,)), partial(diameter_variant, p)
        )
        for p in NAMES
    },
    "residual with 0.99": broken(
        "own:residual-inf", partial(evaluate_residual_inf, constant=Fraction(99, 100)), residual_variant
    ),
    "exponent 3^L + 1": broken(
        "own:diameter",
        partial(cubic_diameter, shift=1, heads="sum"),
        partial(diameter_variant, 1, form="cubic", constant=4, shift=1),
    ),
    "heads not summed": broken(
        "own:diameter",
        partial(cubic_diameter, shift=0, heads="largest"),
        partial(diameter_variant, 1, form="cubic", constant=4, heads="largest"),
        extremal=two_equal_heads,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_drill_a_broken_statement_is_found_and_certified_as_violated(name: str) -> None:
    entry = BROKEN[name]
    battery = verify_statement(entry, instances=int(400 * entry.share), certify=8, search=0)
    assert battery.outcome == "REFUTED"
    assert all(verdict.certified for _, verdict in battery.violations)
    assert battery.certificates
    for certificate in battery.certificates:
        assert certificate.kind == "violates"
        assert certificate.check().accepted


def test_drill_the_statements_they_were_broken_from_are_not_refuted() -> None:
    for evaluate in (partial(cubic_diameter, shift=0, heads="sum"), partial(evaluate_tv, constant=4)):
        key = "own:tv" if evaluate.func is evaluate_tv else "own:diameter"
        battery = verify_statement(broken(key, evaluate, None), instances=200, certify=4, search=0)
        assert battery.outcome == "HOLDS"


def test_batches_and_single_instances_agree() -> None:
    """One draw of 16 networks, evaluated at once and one by one: the same logarithms."""
    from rankmath.arithmetic.float64 import Float64

    for key in ("own:diameter", "own:skip-lower", "own:order", "dong2021:3.3"):
        entry = statement(key)
        batch = entry.draws[0](np.random.default_rng(5), 16)
        together = entry.evaluate(Float64(np.zeros(1)), batch)
        for i in range(len(batch)):
            alone = entry.evaluate(Float64(np.zeros(1)), batch.select(i))
            for many, one in zip(together.sides, alone.sides, strict=True):
                lhs, rhs = np.broadcast_to(many.log_lhs, 16)[i], np.broadcast_to(many.log_rhs, 16)[i]
                assert np.allclose([lhs, rhs], [one.log_lhs, one.log_rhs], rtol=1e-12, atol=1e-12)


def test_float_and_ball_sides_agree() -> None:
    """Two evaluations of one formula: the double is within 1e-9 of the ball's middle, on every statement."""
    for key, entry in statements().items():
        if entry.evaluate is None:
            continue
        batch = entry.draws[0](np.random.default_rng(8), 3)
        for i in range(len(batch)):
            instance = batch.select(i)
            plain, rigorous = judge(entry, instance, "float64"), judge(entry, instance, "balls")
            if Outcome.NOT_APPLICABLE in (plain.outcome, rigorous.outcome):
                assert plain.outcome == rigorous.outcome, key
                continue
            for a, b in ((plain.log_lhs, rigorous.log_lhs), (plain.log_rhs, rigorous.log_rhs)):
                assert a == pytest.approx(b, rel=1e-9, abs=1e-9), (key, i)


def test_seeds_decide_everything() -> None:
    one, two = (verify_statement("own:diameter", instances=100, certify=3, seed=7, search=20) for _ in range(2))
    assert one.ratios == two.ratios
    assert verify_statement("own:diameter", instances=100, certify=3, seed=8, search=20).ratios != one.ratios


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: verify("own:nothing", 1, 2), "key"),
        (lambda: verify("own:tv", [0.0, math.nan], [0.0, 1.0]), "c"),
        (lambda: verify("own:tv", [0.0, 1.0], [0.0]), "g"),
        (lambda: verify("own:diameter", "net", [[0.0]]), "net"),
        (lambda: verify("own:diameter", TWO.net, [[0.0, 1.0]]), "X"),
        (lambda: verify("own:diameter", TWO.net, TWO.X, arithmetic="decimal"), "arithmetic"),
        (lambda: verify("own:diameter", TWO.net, TWO.X, bits=0), "bits"),
        (lambda: verify("own:diameter", TWO.net, np.stack([TWO.X, TWO.X])), "X"),
        (lambda: verify_statement("own:tv", instances=-1), "instances"),
        (lambda: verify_statement("own:tv", seed=1.5), "seed"),
        (lambda: verify("seed:closure", [[0.5, 0.6], [0.0, 1.0]]), "matrices"),
    ],
)
def test_bad_input_is_refused_by_name(call: object, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}: "):
        call()  # type: ignore[operator]


ONES = np.ones((1, 1, 1, 1))
PADDED = np.array([[True, False], [True, False]])


@pytest.mark.parametrize(
    ("key", "net"),
    [
        *(
            (key, rm.Network.from_arrays(ONES, 1e-3 * ONES, skip=True))
            for key in ("own:diameter", "own:residual-inf")
        ),
        *((key, rm.Network.from_arrays(ONES, 1e-3 * ONES, skip=True)) for key in ("dong2021:2.2", "dong2021:2.3")),
        *((key, rm.Network.from_arrays(ONES, ONES, mask="causal")) for key in ("own:diameter", "dong2021:3.2")),
        *((key, rm.Network.from_arrays(ONES, ONES, norm="column")) for key in ("own:diameter", "own:gamma-free")),
        *((key, rm.Network.from_arrays(ONES, ONES, mask=PADDED)) for key in ("own:order", "dong2021v1:2.2")),
        ("own:skip-lower", rm.Network.from_arrays(1e-3 * ONES, -ONES, skip=True, mask="causal")),
        ("own:skip-lower", rm.Network.from_arrays(ONES, ONES)),
    ],
)
def test_a_network_the_theorem_does_not_speak_of_is_not_applicable(key: str, net: rm.Network) -> None:
    for arithmetic in ("float64", "balls"):
        verdict = judge(statement(key), NetworkInstance(net, np.array([[0.1], [-0.1]])), arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE
        assert "attention" in verdict.reason


def test_key_padding_is_within_the_diameter_bound() -> None:
    net = rm.Network.from_arrays(ONES, ONES, mask=PADDED)
    assert judge(statement("own:diameter"), NetworkInstance(net, TWO.X), "balls").outcome == Outcome.HOLDS


def test_a_certificate_that_says_holds_is_not_given_for_a_violation() -> None:
    """A broken copy of a statement inherits its certifier, which speaks of the true one: nothing is handed out."""
    entry = replace(
        statement("own:diameter"), key="my:diameter", evaluate=partial(evaluate_diameter, constant=4.01)
    )
    battery = verify_statement(entry, instances=100, certify=2, search=0)
    assert battery.outcome == "REFUTED"
    assert battery.certificates == []


def test_paths_without_skips_refuse_a_network_with_them() -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=2, seed=0, skip=True)
    with pytest.raises(ValueError, match=r"^net: .*2\.1-skip"):
        verify("dong2021:2.1", net, net.random_input())
    assert verify("dong2021:2.1-skip", net, net.random_input()).outcome == Outcome.HOLDS


@pytest.mark.parametrize("function", [rm.verify, rm.certify])
def test_too_few_and_too_many_arguments_are_named(function):
    with pytest.raises(ValueError, match=r"^own:tv: missing a required argument: 'g'; it takes c, g$"):
        function("own:tv", [0.0])
    with pytest.raises(ValueError, match=r"^own:diameter: too many positional arguments; it takes net, X$"):
        function("own:diameter", 1, 2, 3)


def test_tilts_that_leave_a_double_are_undecided_there_and_decided_in_balls():
    given = [0.0, -1e5], [0.0, 1e5]
    assert rm.verify("own:tv", *given).outcome == Outcome.UNDECIDED
    assert rm.verify("own:tv", *given, arithmetic="balls").certified
