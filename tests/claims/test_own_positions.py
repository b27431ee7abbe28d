"""own:transport and its kin: equalities in closed form, a rate by hand, and where their hypotheses end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.balls import Balls, precision
from rankmath.checker.kernel import Evaluator, formula
from rankmath.checker.rules import RULES
from rankmath.checker.statements import definitions
from rankmath.claims import statement
from rankmath.claims.own_positions import quarter_turn, unstated_diameter_rotary
from rankmath.decide.battery import verify
from rankmath.formula.run import Run
from rankmath.model.network import Network
from rankmath.model.positions import PositionTable, Rotary
from rankmath.model.sublayers import Attention, LayerNorm, Sublayer
from rankmath.verification.instance import network_instance
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome


@pytest.mark.parametrize("a", [0.25, 2.0**-7, 2.0**-30])
def test_a_quarter_turn_multiplies_the_diameter_by_its_closed_form(a: float) -> None:
    found = quarter_turn(a)
    factor, claimed = math.tanh((1 - a) ** 2 / math.sqrt(8)), math.tanh(a**2 / math.sqrt(2))
    Y = rm.hidden_states(found.net, found.X)[-1]
    assert np.linalg.norm(Y[0] - Y[1]) == pytest.approx(2 * a * factor, rel=1e-6)
    two = Statement("mine:two", statement("unstated:diameter-rotary").claim_text[6:-1].replace(", p)", ", 2)"),
                    given=("mask == padding", "positions == any"))  # fmt: skip
    verdict = verify(two, found.net, found.X, arithmetic="balls")
    assert verdict.outcome == Outcome.VIOLATED
    assert verdict.ratio == pytest.approx(factor / claimed, rel=1e-12)


def test_the_certificate_carries_the_rotation_and_needs_it() -> None:
    certificate = unstated_diameter_rotary.exhibited()
    attention = certificate.data["layers"][0][0]["maps"][0]["attention"]
    assert np.asarray(attention["rotary"]["sin"]).tolist() == [[0], [1]]
    found = quarter_turn()
    plain = Network.from_arrays(np.eye(2)[None, None], np.eye(2)[None, None], 2)
    assert verify("unstated:diameter-rotary", found.net, found.X, arithmetic="balls").certified
    assert verify("unstated:diameter-rotary", plain, found.X).outcome != Outcome.VIOLATED


EQUALITIES: dict[str, dict[str, Any]] = {
    "own:transport": {},
    "own:positions-diameter": {},
    "own:transport-skip": {"value": -0.5, "skip": 1.0},
    "own:pre-norm-diameter": {"value": 0.5, "skip": 1.0, "norm": "rms"},
}


@pytest.mark.parametrize("key", EQUALITIES)
def test_equal_sides_stay_undecided_and_a_little_more_is_refuted(key: str) -> None:
    entry, found = statement(key), quarter_turn(**EQUALITIES[key])
    assert verify(key, found.net, found.X, arithmetic="balls").outcome == Outcome.UNDECIDED
    lower = entry.claim_text.replace(">= ", ">= 1.0001*").replace("<= ", "<= 0.9999*")
    stronger = Statement("mine:stronger", lower, given=entry.given_texts)
    assert verify(stronger, found.net, found.X, arithmetic="balls").outcome == Outcome.VIOLATED


@pytest.mark.parametrize("turn", [0.0, 0.7, 1.2])
@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_the_rate_of_a_causal_network_is_the_share_at_consensus(turn: float, slope: float) -> None:
    n, L, rng = 4, 40, np.random.default_rng(5)
    X = rng.standard_normal((n, 2))
    table = -slope * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))[None]
    kind: dict[str, Any] = {"positions": Rotary.of_frequencies([turn], n)} if turn else {}
    kind = {"positions": PositionTable(table)} if slope else kind
    net = Network.random(n, 2, 1, L, mask="causal", **kind)
    eye = np.broadcast_to(np.eye(2), (L, 1, 2, 2))
    net = net.replace(query=eye, value=eye)
    # g(s): the logit of the first token with itself at distance s.
    x = X[0] @ X[0] / math.sqrt(2)
    g = [x * math.cos(0.0 if slope else turn * s) - slope * s for s in (0, 1)]
    p = 1 / (1 + math.exp(g[1] - g[0]))
    gaps = [np.linalg.norm(Y[1] - Y[0]) for Y in rm.hidden_states(net, X)]
    assert gaps[30] / gaps[29] == pytest.approx(p, rel=1e-3)
    verdict = verify("own:consensus-second", net.replace(sublayers=net.sublayers[:1]), X, arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS


def test_values_that_are_no_multiple_of_one_part_the_bounds_of_the_second_token() -> None:
    net = Network.random(3, 2, 1, 2, seed=1, positions="rotary", mask="causal")
    value = np.broadcast_to(np.diag([2.0, 0.5]), (2, 1, 2, 2))
    net, X = net.replace(value=value), np.asarray([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0]])
    shares = []
    for l, Y in enumerate(rm.hidden_states(net, X)[:2]):
        shares.append(rm.attention_matrices(Network.from_layers([net.sublayers[l]]), Y)[0, 0, 1, 1])
    gap = np.subtract(*rm.hidden_states(net, X)[-1][1::-1])
    # The first token is 0 and stays; the second stays on the first axis, on which the values are 2.
    assert gap == pytest.approx([4 * shares[0] * shares[1], 0.0], rel=1e-12)
    # So the upper bound is an equality, and the lower one is not: moved off the axis, the gap lies between.
    assert verify("own:second-token", net, X, arithmetic="balls").outcome == Outcome.UNDECIDED
    assert (
        verify("own:second-token", net, np.add(X, [[0.0], [0.5], [0.0]]), arithmetic="balls").outcome == Outcome.HOLDS
    )


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("own:positions-diameter", {"mask": "causal"}),
        ("own:positions-diameter", {"softcap": 1.0}),
        ("own:second-token", {"window": 1}),
        ("own:transport", {"skip": True}),
    ],
)
def test_networks_outside_the_hypotheses_are_told_so(key: str, kind: dict[str, Any]) -> None:
    net = Network.random(4, 2, seed=2, positions="rotary", **kind)
    assert verify(key, net, net.random_input(3)).outcome == Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("kind", ["real", "complex", "nilpotent", "defective"])
def test_the_checker_encloses_the_largest_modulus_of_any_matrix(kind: str) -> None:
    rng = np.random.default_rng(3)
    S = np.round(rng.standard_normal((4, 4)) * 64) / 64 + 4 * np.eye(4)
    middle = {
        "real": np.diag([-3.0, 2.0, 1.0, 0.5]),
        "complex": np.block([[np.array([[1.0, -2.0], [2.0, 1.0]]), np.zeros((2, 2))], [np.zeros((2, 2)), np.eye(2)]]),
        "nilpotent": np.eye(4, k=1),
        "defective": 2 * np.eye(4) + np.eye(4, k=1),
    }[kind]
    turned = [[Fraction(x) for x in row] for row in S.T.tolist()]
    # M S = S middle, exactly: M is similar to `middle`.
    M = [solved(turned, [Fraction(x) for x in row]) for row in (S @ middle).tolist()]
    largest = {"real": 3.0, "complex": math.sqrt(5), "nilpotent": 0.0, "defective": 2.0}[kind]
    found = Evaluator(definitions(RULES), {"M": M}, {}, 256, math.inf).value(formula("largest_modulus(M)"), {})
    low, high = (found, found) if isinstance(found, Fraction) else (found.lower(), -(-found).lower())
    assert float(low) - 1e-12 <= largest <= float(high) + 1e-12
    assert kind == "defective" or high - low < 1e-9  # multiple eigenvalues cost more bits than these


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """A x = b by Cramer's rule, in fractions."""

    def det(M: list[list[Fraction]]) -> Fraction:
        terms = (
            [(-1) ** j * x * det([row[:j] + row[j + 1 :] for row in M[1:]]) for j, x in enumerate(M[0])] if M else []
        )
        return sum(terms, Fraction(0)) if M else Fraction(1)

    replaced = [[[*row[:k], y, *row[k + 1 :]] for row, y in zip(A, b, strict=True)] for k in range(len(b))]
    return [det(M) / det(A) for M in replaced]


def test_a_network_without_norms_is_outside_the_hypotheses_of_pre_norm() -> None:
    net = Network.random(3, 2, 1, 1)
    verdict = verify("own:pre-norm-diameter", net, net.random_input(seed=1))
    assert verdict.outcome == Outcome.NOT_APPLICABLE
    assert "RMSNorm" in verdict.reason


def test_layers_repeated_fall_by_the_second_modulus_at_consensus() -> None:
    """In balls, to eight digits: the factor of a late layer, and |λ₂(P₀)| of the last consensus."""
    for choices in ({"positions": "rotary", "mask": "causal"}, {"positions": "alibi"}):
        one = Network.random(4, 2, 1, 1, seed=5, scale=1.5, **choices)
        query = np.tile(one.query, (40, 1, 1, 1))
        net = Network.random(4, 2, 1, 40, **choices).replace(query=query, value=np.tile(np.eye(2), (40, 1, 1, 1)))
        X = np.array([1.0, -0.5]) + 2.0**-8 * one.random_input(seed=6)
        with precision(512):
            run = Run(Balls(), net, X)
            factor = run.log_diameter(40, 2) - run.log_diameter(39, 2)
            rate = run.by_text("second_modulus", (("P0", 39, 0),))
            assert abs(factor - rate.log()) < 1e-8


def turning(L: int, n: int = 3, **more: Any) -> Network:
    """One layer of rotary attention with W = 1, L times; angles are proportional to the place."""
    rng = np.random.default_rng(8)
    net = Network.random(n, 4, 1, L, positions=Rotary.of_frequencies([0.9, 0.35], n), **more)
    query = np.tile(0.4 * rng.standard_normal((4, 4)), (L, 1, 1, 1))
    key = None if net.key is None else np.tile(np.eye(4), (L, 1, 1, 1))
    return net.replace(query=query, key=key, value=np.tile(np.eye(4), (L, 1, 1, 1)))


def test_what_the_derivative_leaves_out_is_of_second_order() -> None:
    net, rng = turning(1), np.random.default_rng(9)
    x, R = rng.standard_normal(4), rng.standard_normal((3, 4))
    R[0] = 0
    gaps = []
    for k in (10, 11, 20, 21):
        with precision(256):
            gaps.append(Run(Balls(), net, x + 2.0**-k * R).by_text("linear_gap", (0,)))
    assert float(gaps[0] / gaps[1]) == pytest.approx(4, abs=0.02)
    assert float(gaps[2] / gaps[3]) == pytest.approx(4, abs=2e-5)


def test_second_and_third_moduli_are_those_of_numpy() -> None:
    net = turning(1, n=4)
    X = np.random.default_rng(4).standard_normal((4, 4))
    P0 = rm.attention_matrices(net, np.tile(X[0], (4, 1)))[0, 0]
    moduli = np.sort(abs(np.linalg.eigvals(P0)))[::-1]
    assert moduli[1] == pytest.approx(moduli[2], rel=1e-12)  # a pair of complex ones
    for k in range(1, 5):
        found = Run(Balls(), net, X).by_text("modulus_of", (("P0", 0, 0), k))
        assert float(found) == pytest.approx(moduli[k - 1], rel=1e-9), k
    least = Statement("mine:least", f"modulus_of(P0[0,0], 4) >= {moduli[3] * 0.999}", given="positions == rotary")
    assert verify(least, net, X, arithmetic="balls").outcome == Outcome.HOLDS
    assert least.certified(network_instance(net, X), verify(least, net, X, arithmetic="balls")).check().accepted


def test_without_a_mask_the_roots_of_residuals_tend_to_a_complex_eigenvalue() -> None:
    """|λ₂| of a complex pair: single factors swing, and over many layers their mean is |λ₂(P₀)|."""
    net = turning(200, n=5)
    X = np.random.default_rng(4).standard_normal(4) + 0.05 * np.random.default_rng(5).standard_normal((5, 4))
    logs, spectrum = rm.trace(net, X).log_residual, rm.consensus_spectrum(net, rm.forward(net, X)[0])
    assert abs(spectrum[0].imag) > 1e-3
    factors = np.diff(logs[20:])
    assert np.ptp(factors) > 0.1
    assert (logs[-1] - logs[20]) / (len(logs) - 21) == pytest.approx(math.log(abs(spectrum[0])), abs=5e-3)


def test_shares_at_consensus_fall_also_where_angles_are_proportional_to_the_place() -> None:
    shares = np.diagonal(rm.attention_matrices(turning(1, n=6, mask="causal"), np.ones((6, 4)))[0, 0])
    assert (np.diff(shares) < 0).all()


def test_longer_turns_count_in_the_lengthening() -> None:
    """Tables with cos² + sin² = 4 (as YaRN scales them): queries and keys are twice as long each."""
    plain = turning(1)
    table = plain.attentions[0].rotary
    assert table is not None
    scaled = plain.replace(
        sublayers=((plain.sublayers[0][0].with_attention(rotary=Rotary(2 * table.cos, 2 * table.sin)),),)
    )
    X = np.random.default_rng(1).standard_normal((3, 4))
    sizes = [Run(Balls(), net, X).by_text("lengthening", (("P", 0, 0),)) for net in (plain, scaled)]
    assert float(sizes[1] / sizes[0]) == pytest.approx(4, rel=1e-12)
    assert verify("own:shrinking-values", scaled, X, arithmetic="balls").outcome == Outcome.HOLDS


def test_the_angle_behind_a_norm_falls_with_the_proved_power_of_the_depth() -> None:
    """Two causal tokens, RMSNorm before, W = 1, no positions: L^(−1/2); with positions p − 1."""
    for positions, query in (("none", 0.3), (Rotary.of_frequencies([2.0], 2), -0.5)):
        one = Network.random(2, 2, 1, 1, skip=1.0, norm="rms", norm_at="before", mask="causal", positions=positions)
        one = one.replace(query=query * np.eye(2)[None, None], key=None, value=np.eye(2)[None, None])
        X = np.array([[1.0, 0.2], [0.6, 0.5]])
        states = rm.hidden_states(Network.from_layers([*one.sublayers] * 512), X)
        u = [state / np.linalg.norm(state, axis=1)[:, None] for state in (states[256], states[512])]
        angles = [np.linalg.norm(v[1] - v[0]) for v in u]
        share = rm.attention_matrices(one, np.tile(X[0], (2, 1)))[0, 0, 1, 1]
        assert math.log2(angles[1] / angles[0]) == pytest.approx(share - 1, abs=3e-3)
        assert share == pytest.approx(0.5, abs=1e-12) if positions == "none" else 0.2 < share < 0.3


@pytest.mark.parametrize("second", [0.5, 0.25, 0.0])
def test_with_symmetric_values_the_power_is_that_of_the_eigenvalue_that_the_second_token_meets(second: float) -> None:
    """V = diag(1, σ), the first token along e_1, no positions: p = 1/2, and L^(σ/2 − 1)."""
    assert doubled_angle(second) == pytest.approx(second / 2 - 1, abs=5e-3)


def test_along_a_smaller_eigenvalue_the_angle_behind_a_norm_need_not_fall() -> None:
    """V = diag(1, 4): pσ = 2 > 1."""
    assert abs(doubled_angle(4.0)) < 5e-3


def doubled_angle(second: float) -> float:
    """log₂ of the quotient of the angles of two causal tokens after 1024 and 512 layers with V = diag(1, second)."""
    one = Network.random(2, 2, 1, 1, skip=1.0, norm="rms", norm_at="before", mask="causal")
    one = one.replace(query=0.3 * np.eye(2)[None, None], key=None, value=np.diag([1.0, second])[None, None])
    states = rm.hidden_states(Network.from_layers([*one.sublayers] * 1024), np.array([[1.0, 0.0], [0.6, 0.5]]))
    angles = [math.atan2(*states[L][1, ::-1]) for L in (512, 1024)]
    return math.log2(angles[1] / angles[0])


def test_across_is_a_product_of_the_second_tokens_own_length() -> None:
    net = Network.random(3, 2, 1, 4, skip=1.0, norm="rms", norm_at="before", mask="causal", positions="rotary")
    net = net.replace(query=np.tile(np.eye(2), (4, 1, 1, 1)), key=None, value=np.tile(0.75 * np.eye(2), (4, 1, 1, 1)))
    X = np.array([[1.0, 0.5], [-0.25, 2.0], [4.0, 1.0]])
    run, states = Run(Balls(), net, X), rm.hidden_states(net, X)
    roots = [math.sqrt((state[1] ** 2).mean() + 1e-5) for state in states]
    factors = [1 + 0.75 * rm.attention_matrices(net, X)[l, 0, 1, 1] / roots[l] for l in range(4)]
    ratio = run.by_text("across", (("X", 4),)) / run.by_text("across", (("X", 0),))
    assert float(ratio) == pytest.approx(math.prod(factors), rel=1e-12)
    assert verify("own:pre-norm-power", net, X, arithmetic="balls").outcome == Outcome.HOLDS
    value = net.value.copy()
    value[0, 0, 0, 1] = 2.0**-40
    assert verify("own:pre-norm-power", net.replace(value=value), X).outcome == Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("first", [0.0, 2.0**-60])
def test_rounding_of_a_first_token_about_zero_refutes_nothing(first: float) -> None:
    net = Network.random(3, 2, 1, 2, skip=1.0, norm="rms", norm_at="before", mask="causal")
    net = net.replace(query=np.tile(np.eye(2), (2, 1, 1, 1)), key=None, value=np.tile(0.75 * np.eye(2), (2, 1, 1, 1)))
    verdict = verify("own:pre-norm-power", net, np.array([[first, 0.0], [-0.25, 2.0], [4.0, 1.0]]))
    assert verdict.outcome in ([Outcome.HOLDS, Outcome.UNDECIDED] if first else [Outcome.UNDECIDED])


def test_symmetric_values_turn_the_second_token_as_the_network_does() -> None:
    """One layer with RMSNorm before it, causal, V diagonal: tan φ′/tan φ, and its bounds, which agree for d = 2."""
    rng = np.random.default_rng(31)
    lam, X = np.array([1.5, 0.5]), np.array([[3.0, 0.0], [2.0, 1.0]])
    attention = Attention.from_arrays(rng.standard_normal((1, 2, 2)), np.diag(lam)[None], 2, mask="causal")
    net = Network.from_layers([[Sublayer(attention, 1.0, before=LayerNorm("rms", eps=0.0))]], tokens=2)
    Y = rm.hidden_states(net, X)[-1]
    with precision(128):
        p = float(Run(Balls(), net, X).attention(0, 0)[1, 1])
    tangent = (Y[1, 1] / Y[1, 0]) / (X[1, 1] / X[1, 0])
    a = math.sqrt(2.5)
    forward = 1 + p * lam[0] / a + (1 - p) * lam[0] * math.sqrt(2) / X[1, 0]
    assert tangent * forward == pytest.approx(1 + p * lam[1] / a, rel=1e-9)
    verdict = verify("own:pre-norm-symmetric", lam, X[1], p)
    assert math.exp(verdict.log_lhs) == pytest.approx(tangent * forward, rel=1e-9)
    assert verify("own:pre-norm-symmetric", lam, -X[1], p).outcome == Outcome.NOT_APPLICABLE
    assert verify("own:pre-norm-symmetric", lam, [2.0, 0.0], p).outcome == Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("least", [1.0, 0.5, 0.0])
def test_with_symmetric_values_the_exponent_is_that_of_the_second_value(least: float) -> None:
    """V = diag(1, σ), equal logits, p = 1/2: the angle goes like L^(σ/2 − 1)."""
    lam, x, angles = np.array([1.0, least]), np.array([1.0, 1.0]), []
    for step in range(1, 2**17 + 1):
        a = math.sqrt(float(x @ x) / 2)
        x = x * (1 + lam / (2 * a)) + [math.sqrt(2) / 2, 0]
        if step in (2**13, 2**17):
            angles.append(math.atan2(x[1], x[0]))
    assert math.log(angles[1] / angles[0]) / math.log(16) == pytest.approx(least / 2 - 1, abs=2e-3)
