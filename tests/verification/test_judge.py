"""From truths of relations to a verdict: which hypothesis, which side, how many bits, and what is certified."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.verification.instance import ArrayInstance, NetworkInstance, together
from rankmath.verification.judge import decided, judge, verdicts
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

# The two tokens are 3 apart. No arithmetic of finite precision decides the last one.
TRUTHS = {
    True: "diameter(X[0], 2) <= {}",
    False: "diameter(X[0], 2) >= {}",
    None: "sqrt(2)*sqrt(2)*diameter(X[0], 2) <= 2*diameter(X[0], 2)",
}
NET = rm.Network.random(tokens=2, dim=1, heads=1, layers=1, seed=0)
INSTANCE = NetworkInstance(NET, np.array([[1.0], [4.0]]))


@pytest.mark.parametrize("arithmetic", ["float64", "mpmath", "balls"])
def test_every_combination_of_two_hypotheses_and_two_sides(arithmetic: str) -> None:
    everything = list(itertools.product(TRUTHS, repeat=4))
    for first, second, one, other in everything if arithmetic == "float64" else everything[::7]:
        claim = f"{TRUTHS[one].format(4)} and {TRUTHS[other].format(5)}"
        statement = Statement("mine:claim", claim, [TRUTHS[first].format(6), TRUTHS[second].format(7)])
        verdict = judge(statement, INSTANCE, arithmetic, 128)
        if False in (first, second):
            expected = Outcome.NOT_APPLICABLE
        elif None in (first, second):
            expected = Outcome.UNDECIDED
        else:
            expected = Outcome.VIOLATED if False in (one, other) else Outcome.HOLDS
            expected = expected if False in (one, other) or None not in (one, other) else Outcome.UNDECIDED
        assert verdict.outcome == expected
        assert verdict.certified == (arithmetic == "balls" and expected != Outcome.UNDECIDED)
        if expected == Outcome.NOT_APPLICABLE:
            assert math.isnan(verdict.log_lhs)
            assert verdict.reason.endswith("fails")


@pytest.mark.parametrize(
    ("claim", "left", "right"),
    [
        ("diameter(X[0], 2) <= 4 and diameter(X[0], 2) <= 5", 3, 4),  # the tightest
        ("diameter(X[0], 2) <= 5 and diameter(X[0], 2) <= 4", 3, 4),
        ("diameter(X[0], 2) <= 4 and diameter(X[0], 2) <= 2", 3, 2),  # the one that is violated
        ("diameter(X[0], 2) <= 2 and diameter(X[0], 2) <= 4", 3, 2),
        ("diameter(X[0], 2) <= 1 and diameter(X[0], 2) <= 2", 3, 1),  # by most
        (f"diameter(X[0], 2) <= 4 and {TRUTHS[None]}", 6, 6),  # else the one that is open
        (f"{TRUTHS[None]} and diameter(X[0], 2) <= 4", 6, 6),
        (f"{TRUTHS[None]} and diameter(X[0], 2) <= 2", 3, 2),
    ],
)
def test_the_side_that_is_reported(claim: str, left: float, right: float) -> None:
    for arithmetic in ("float64", "mpmath", "balls"):
        verdict = judge(Statement("mine:claim", claim), INSTANCE, arithmetic, 128)
        sides = (math.exp(verdict.log_lhs), math.exp(verdict.log_rhs), verdict.ratio)
        assert sides == pytest.approx((left, right, left / right), rel=1e-9)


def test_balls_are_refined_until_they_decide() -> None:
    cases = ((20, 4096, 128), (60, 4096, 1024), (60, 250, 250), (1000, 4096, 4096), (60, 128, 128))
    for power, most, name in cases:
        claim = f"exp(1)*diameter(X[0], 2) < exp(1 + 1/10**{power})*diameter(X[0], 2)"
        verdict = judge(Statement("mine:claim", claim), INSTANCE, "balls", most)
        assert verdict.outcome == (Outcome.UNDECIDED if (power, most) == (60, 128) else Outcome.HOLDS)
        assert verdict.arithmetic == f"balls at {name} bits"


def test_members_of_a_batch_are_judged_one_by_one() -> None:
    sizes = np.array([1.0, 3.0, 5.0, 9.0])
    X = np.stack([np.zeros_like(sizes), sizes], axis=1)[:, :, None]
    batch = NetworkInstance(NET, X)
    statement = Statement("mine:claim", "diameter(X[0], 2) <= 4 and diameter(X[0], 2) >= 2", "diameter(X[0], 2) <= 8")
    found = verdicts(statement, Float64(np.zeros(1)), batch, 4, "float64")
    assert [v.outcome for v in found] == ["VIOLATED", "HOLDS", "VIOLATED", "NOT_APPLICABLE"]
    assert [math.exp(v.log_lhs) for v in list(found)[:3]] == pytest.approx([2, 3, 5], rel=1e-9)
    assert [math.isnan(side) for side in (found[3].log_lhs, found[3].log_rhs)] == [True, True]


def test_a_member_to_which_a_claim_does_not_apply_says_nothing_of_the_others() -> None:
    """X = (0, 1) grows by |W|: W = 3 breaks the claim, W = 1/2 keeps it, and W = 0 is excluded by a predicate."""
    nets = [rm.Network.from_arrays([[[[0.0]]]], [[[[w]]]], skip=1.0) for w in (3.0, 0.0, 0.5)]
    batch = together([NetworkInstance(net, np.array([[0.0], [1.0]])) for net in nets])
    claim = Statement("mine:claim", "norm(W[0,0], 2) <= diameter(X[0], 2)", ["invertible(W[0,0])", "skip == 1"])
    for members in (batch, batch.part([1, 0]), batch.part([1, 2]), batch.part([1])):
        found = verdicts(claim, Float64(np.zeros(1)), members, len(members), "float64")
        expected = {3.0: "VIOLATED", 0.5: "HOLDS", 0.0: "NOT_APPLICABLE"}
        assert [v.outcome for v in found] == [expected[float(w)] for w in members.net.W.ravel()]


def test_instances_taken_together_are_those_one_by_one() -> None:
    """What a search asks for four at a time is what it would be told one by one."""
    rng = np.random.default_rng(0)
    for key in ("own:diameter", "dong2021:3.3", "own:l2-lipschitz", "wu2024:cor1"):
        entry = rm.statements()[key]
        start = entry.draws[0](rng, 1).select(0)
        origin = start.vector()
        moved = [start.at(origin * (1 + 0.1 * rng.standard_normal(origin.size))) for _ in range(4)]
        batch = together(moved)
        assert len(batch) == 4
        assert type(batch) is type(start)
        found = verdicts(entry, Float64(np.zeros(1)), batch, 4, "float64")
        for i, instance in enumerate(moved):
            assert np.array_equal(batch.select(i).vector(), instance.vector())
            alone = judge(entry, instance, "float64")
            assert found[i].outcome == alone.outcome
            assert found[i].log_lhs == pytest.approx(alone.log_lhs, rel=1e-12, nan_ok=True)
            assert found[i].log_rhs == pytest.approx(alone.log_rhs, rel=1e-12, nan_ok=True)


def test_balls_of_a_batch_are_those_of_its_members() -> None:
    rng = np.random.default_rng(8)
    # Attention e^{-3u/4} away from saturation takes about u bits: some few, some more than there are.
    tokens, one = np.array([[1.0], [-0.5]]), np.ones((1, 1, 1, 1))
    steep = [NetworkInstance(rm.Network.from_arrays(u * one, one), tokens) for u in (8, 300, 9000, 0.1, 1500, 9, 0)]
    diameter = rm.statements()["own:diameter"]
    cases = [(diameter, together(steep)), *((diameter, draw(rng, 4)) for draw in diameter.draws)]
    for key in ("own:lambda-skip-upper", "own:skip-lower"):
        entry = rm.statements()[key]
        cases += [(entry, draw(rng, 4)) for draw in entry.draws[:2]]
    for entry, batch in cases:
        places = [i for i in range(len(batch)) if i != 1] + [1]
        found = decided(entry, batch, places)
        alone = [judge(entry, batch.select(i), "balls") for i in places]
        assert [str(v.to_dict()) for v in found] == [str(v.to_dict()) for v in alone]
    bits = [(v.outcome, v.arithmetic.split()[2]) for v in decided(diameter, cases[0][1], range(7))]
    few, some, most = ("HOLDS", "128"), ("HOLDS", "1024"), ("HOLDS", "4096")
    assert bits == [few, some, ("UNDECIDED", "4096"), few, most, few, few]
    claim = "diameter(X[0], 2) <= 4 and diameter(X[0], 2) >= 2"
    batch = together([NetworkInstance(NET, np.array([[0.0], [x]])) for x in (1.0, 3.0, 5.0, 9.0)])
    found = decided(Statement("mine:claim", claim, "diameter(X[0], 2) <= 8"), batch, [3, 2, 1, 0])
    assert [v.outcome for v in found] == ["NOT_APPLICABLE", "VIOLATED", "HOLDS", "VIOLATED"]


@pytest.mark.parametrize("arithmetic", ["float64", "balls"])
def test_hypotheses_on_sizes_are_strict_where_they_say_so(arithmetic: str) -> None:
    relations = {"<": (True, False, False), "<=": (True, True, False), "==": (False, True, False)}
    relations |= {">=": (False, True, True), ">": (False, False, True)}
    for relation, truths in relations.items():
        for bound, truth in zip((3, 2, 1), truths, strict=True):  # of two tokens
            statement = Statement("mine:claim", "diameter(X[0], 2) <= 4", [f"n {relation} {bound}"])
            found = judge(statement, INSTANCE, arithmetic, 128).outcome
            assert found == (Outcome.HOLDS if truth else Outcome.NOT_APPLICABLE), (relation, bound)


def test_two_sides_that_are_zero_have_no_quotient() -> None:
    """W = 0 makes all tokens equal: 0 <= 0, and a verdict says so in place of an empty quotient."""
    verdict = rm.verify("own:diameter", rm.Network.from_arrays([[[[1.0]]]], [[[[0.0]]]]), [[1.0], [4.0]])
    assert verdict.outcome == Outcome.HOLDS
    assert str(verdict) == "own:diameter: HOLDS numerically, both sides 0"


@pytest.mark.parametrize("key", ["own:diameter", "own:composite", "own:gamma-free"])
def test_queries_and_keys_at_right_angles_violate_nothing_in_doubles(key: str) -> None:
    """W_Q W_Kᵀ = 0 exactly, and the bound is 0; a fused product leaves logits of 1e-17."""
    one = np.ones((1, 1, 2))
    attention = rm.Attention.from_qkvo(one, [[[-2.0, 2.0]]], one, np.ones((1, 2, 1)))
    net = rm.Network.from_layers([[rm.Sublayer(attention)]])
    X = np.random.default_rng(3).standard_normal((6, 4, 1))
    assert all(rm.verify(key, net, Y).outcome in (Outcome.HOLDS, Outcome.UNDECIDED) for Y in X)
    assert rm.verify(key, net, X[0], arithmetic="mpmath").outcome == Outcome.HOLDS
    wrong = Statement("mine:zero", "diameter(X[0], 2) <= norm(W_QK[0, 0], 2)*diameter(X[0], 2)")
    assert judge(wrong, NetworkInstance(net, X[0]), "balls").outcome == Outcome.VIOLATED


@pytest.mark.parametrize("arithmetic", ["float64", "mpmath"])
def test_a_number_that_is_given_is_compared_as_it_is(arithmetic: str) -> None:
    """At the ends of what a claim allows, and a last bit beyond them: T ≥ 2, β ≥ −2/3."""
    least, below = 2.0, np.nextafter(2.0, 0)
    assert rm.verify("own:entropy-order", T=least, sigma=1, arithmetic=arithmetic).outcome == Outcome.HOLDS
    third = float(np.nextafter(-2 / 3, -1))
    for beta, outcome in ((-2 / 3, Outcome.HOLDS), (third, Outcome.NOT_APPLICABLE)):
        assert rm.verify("own:circle-three", beta=beta, u=0.5, arithmetic=arithmetic).outcome == outcome
    statement = Statement("mine:edge", "T + 1 >= 2", "T >= 2", arrays={"T": ""})
    batch = ArrayInstance({"T": np.asarray([least, below, 3.0, 1.0])}, is_batch=True)
    found = verdicts(statement, Float64(np.zeros(1)), batch, 4, "float64")
    assert [one.outcome == Outcome.HOLDS for one in found] == [True, False, True, False]


@pytest.mark.parametrize("key", ["wu2024:cor1", "own:hemisphere"])
def test_a_zero_token_before_the_sphere_norm_is_no_instance_of_a_claim(key: str) -> None:
    """It has no direction, so the layer is not defined. Float64 cannot tell zero from small; balls can."""
    statement = rm.statements()[key]
    net = rm.Network.from_arrays(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), 1.0, norm="sphere")
    for X in ([[0.0], [0.0]], [[0.0], [1.0]]):
        for arithmetic, expected in (("float64", "UNDECIDED"), ("mpmath", "UNDECIDED"), ("balls", "NOT_APPLICABLE")):
            verdict = judge(statement, NetworkInstance(net, np.array(X)), arithmetic)
            assert (verdict.outcome, verdict.certified) == (expected, arithmetic == "balls")
            assert "a token is zero before LayerNorm" in verdict.reason
            assert ("to rounding" in verdict.reason) == (arithmetic != "balls")
            assert math.isnan(verdict.log_lhs)
    with pytest.raises(ArithmeticError, match="nothing to certify"):
        rm.certify(key, net, np.zeros((2, 1)))


@pytest.mark.parametrize("arithmetic", ["float64", "balls"])
@pytest.mark.parametrize("normed", [0, 1])
def test_a_norm_in_some_layers_is_none_of_every_layer(arithmetic: str, normed: int) -> None:
    """Without LayerNorm a layer of equal logits and skip 1/2 halves distances; own:lambda-skip-sphere claims 2/3."""
    net = rm.Network.from_arrays(np.zeros((2, 1, 2, 2)), np.broadcast_to(-np.eye(2) / 4, (2, 1, 2, 2)), skip=0.5)
    norms = [rm.LayerNorm("sphere") if l == normed else None for l in range(2)]
    layers = [[rm.Sublayer(layer[0].map, 0.5, after=norm)] for layer, norm in zip(net.sublayers, norms, strict=True)]
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    verdict = judge(
        rm.statements()["own:lambda-skip-sphere"], NetworkInstance(rm.Network.from_layers(layers), X), arithmetic, 128
    )
    assert (verdict.outcome, verdict.reason) == (Outcome.NOT_APPLICABLE, "norm_at == after fails")


def test_attention_of_a_layer_without_any_is_refused() -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=1, seed=0)
    layers = [*net.sublayers, (rm.Sublayer(rm.MLP(np.eye(2), np.eye(2))),)]
    with pytest.raises(rm.InvalidArgument, match=r"^net: attends\[l\]\[0\] asked for; it has no such part"):
        rm.verify("dong2021:3.2", rm.Network.from_layers(layers, 3), np.eye(3)[:, :2])


@pytest.mark.parametrize(
    ("quantity", "place", "has"),
    [
        ("lipschitz(4)", "layer 4", "2 layers"),
        ("max_l(lipschitz(l - 1))", "layer -1", "2 layers"),
        ("lipschitz(1/2)", "layer 1/2", "2 layers"),
        ("mu_before(2)", "layer 2", "2 layers"),
        ("second_norm(2)", "layer 2", "2 layers"),
        ("linear_gap(2)", "layer 2", "2 layers"),
        ("least_root(2)", "layer 2", "2 layers"),
        ("contraction(2)", "block of layers 2", "2 blocks of layers"),
        ("influence(3)", "token 3", "3 tokens"),
        ("last_share(9)", "token 9", "3 tokens"),
        ("diagonal(P[0,0], 3)", "token 3", "3 tokens"),
    ],
)
def test_a_layer_or_token_that_a_network_does_not_have_is_named(quantity: str, place: str, has: str) -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=2, seed=0)
    message = rf"asked for; there is no {place}: the network has {has}, counted from 0$"
    with pytest.raises(rm.InvalidArgument, match=message):
        rm.verify(Statement("mine:x", f"{quantity} <= 1"), net, net.random_input())


@pytest.mark.parametrize("claim", ["mu_before(L) <= 1", "last_share(2*n) <= 1", "modulus_of(P[0,0], mu(X[0])) <= 1"])
def test_a_search_refuses_a_place_that_no_network_of_it_has_in_words(claim: str) -> None:
    with pytest.raises(
        rm.InvalidArgument, match=r"there is no (layer \d+|token \d+): the network|a whole number is needed"
    ):
        rm.verify_statement(Statement("mine:x", claim, given="heads == 1"), seconds=1, instances=20)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("osc(A) < 1", r"^arrays: A of shape \(2, 2\) given; osc\(A\) has no value there, osc is: largest minus least"),
        ("osc(A[7]) < 1", r"^arrays: A of shape \(2, 2\) given; osc\(A\[7\]\) has no value there"),
        ("osc(A[0 - 1]) < 1", r"^claim: A\[0 - 1\] given; whole numbers from 0 are needed as places$"),
        ("form_size(v) < 1", r"^arrays: v of shape \(2,\) given; form_size\(v\) has no value there"),
        ("A[0, 2] < 1", r"^arrays: A of shape \(2, 2\) given; A\[0, 2\] is no number of it$"),
        ("A < 1", r"^arrays: A of shape \(2, 2\) given; A is no number of it$"),
        ("v[1/2] < 1", r"^claim: v\[1/2\] given; whole numbers from 0 are needed as places$"),
        ("v[0] < L", r"^claim: L given; it is of networks, and the arrays are A, v$"),
    ],
)
def test_what_arrays_have_not_is_refused_in_words(claim: str, says: str) -> None:
    entry = Statement("mine:x", claim, arrays={"A": "n m", "v": "k"})
    with pytest.raises(rm.InvalidArgument, match=says):
        rm.verify(entry, A=[[0.5, 0.5], [0.25, 0.75]], v=[0.5, 0.5])


def test_rows_are_counted_where_there_are_some() -> None:
    with pytest.raises(rm.InvalidArgument, match=r"^claim: n given; it counts rows, and no array has any: v$"):
        rm.verify(Statement("mine:x", "v[0] < n", arrays={"v": "k"}), v=[0.5, 0.5])


@pytest.mark.parametrize("exact", [False, True])
def test_entries_of_arrays_are_numbers_one_by_one_and_in_a_batch(exact: bool) -> None:
    entry = Statement("mine:x", "v[0] <= A[1, 0]", arrays={"v": "k", "A": "n m"}, exact=exact)
    v, A = np.array([[0.1, 9.0], [0.3, 9.0], [0.5, 9.0]]), np.array([[[9.0], [0.4]], [[9.0], [0.2]], [[9.0], [0.6]]])
    batch = verdicts(entry, Float64(v), ArrayInstance({"v": v, "A": A}, is_batch=True), 3, "float64")
    found = [rm.verify(entry, v=v[k], A=A[k]).outcome for k in range(3)]
    assert found == [verdict.outcome for verdict in batch] == [Outcome.HOLDS, Outcome.VIOLATED, Outcome.HOLDS]
