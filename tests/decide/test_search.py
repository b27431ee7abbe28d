"""The adversary finds what exists, refutes nothing that is true, and the shrinker leaves the smallest."""

from __future__ import annotations

import itertools
import math
from functools import reduce
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.decide import adversary, hints, prover, space
from rankmath.decide.adversary import search
from rankmath.decide.battery import Battery, _alike, _equal_tokens, _simple, pursue
from rankmath.decide.conjecture import Answer, claims_in, examine, in_python, in_words, sharpen, short
from rankmath.decide.existence import negation
from rankmath.decide.hints import implying as implied
from rankmath.decide.shrink import _smaller, shrinking
from rankmath.decide.space import rooms, scores, starts
from rankmath.linalg.residuals import residual
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

#: False claims, hypotheses, and how many tokens suffice to refute them.
FALSE = {
    "half": ("diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2", ["heads == 1"], 2),
    "false by 1.2 %": (
        (
            "diameter(X[1], 2) <= 0.988*norm(W[0,0], 2)"
            "*tanh(norm(W_QK[0,0], 2)*diameter(X[0], 2)**2/(4*sqrt(d_qk)))"
            "*diameter(X[0], 2)"
        ),
        ["heads == 1", "n >= 3", "d >= 2"],
        3,
    ),
    "false by 1 % as tokens shrink": (
        "diameter(X[1], 1) <= norm(W[0,0], inf)*norm(W_QK[0,0], max)*diameter(X[0], 1)**3/(4.04*sqrt(d_qk))",
        ["heads == 1"],
        2,
    ),
    "skips never spread": ("diameter(X[1], 2) <= diameter(X[0], 2)", ["skip == 1"], 2),
    "causal, mean square": ("mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ["heads == 1", "mask == causal"], 3),
    "mean square": ("mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ["heads == 1"], 3),
    "the largest head": ("diameter(X[1], 1) <= max_h(norm(W[0,h], inf))*diameter(X[0], 1)", ["heads == 2"], 2),
    "two layers": ("diameter(X[2], 1) <= diameter(X[1], 1)", ["layers == 2"], 2),
    "Jung": ("residual(X[0], inf) <= 0.6*diameter(X[0], 1)", [], 4),
    "entropy": ("entropy(P[0,0]) >= log(n)/2", ["heads == 1"], 2),
    "sphere": ("cosine(X[1]) >= cosine(X[0])", ["heads == 1", "layernorm == sphere"], 2),
    "steep positions": ("entropy(P0[0,0]) >= log(n)/2", ["positions == relative"], 2),
    "grouped heads": ("diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", ["heads == 2", "kv_heads == 1"], 2),
}
TRUE = {
    "own:diameter": (
        (
            "diameter(X[1], 2) <= sum_h(norm(W[0,h], 2)"
            "*tanh(norm(W_QK[0,h], 2)*diameter(X[0], 2)**2/(4*sqrt(d_qk))))"
            "*diameter(X[0], 2)"
        ),
        [],
    ),
    "Dobrushin": ("diameter(X[1], 1) <= dobrushin(P[0,0])*norm(W[0,0], inf)*diameter(X[0], 1)", ["heads == 1"]),
    "half the diameter at least": ("residual(X[1], inf) >= diameter(X[1], 1)/2", []),
    "least attention": ("epsilon(P[0,0]) <= 1/n", []),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refuted_by_few_tokens_with_a_certificate_that_is_accepted(name: str) -> None:
    claim, given, tokens = FALSE[name]
    entry = Statement("mine:claim", claim, given)
    battery = rm.verify_statement(entry, instances=20, certify=0, search=0, seconds=90)
    assert battery.outcome == "REFUTED"
    instance = battery.counterexample
    assert isinstance(instance, NetworkInstance)
    assert len(instance.X) <= tokens
    assert judge(entry, instance, "balls").outcome == Outcome.VIOLATED
    assert battery.certificate().check().accepted


@pytest.mark.parametrize("name", TRUE)
def test_a_true_claim_is_not_refuted(name: str) -> None:
    claim, given = TRUE[name]
    found = search(Statement("mine:claim", claim, given), evaluations=12_000, seconds=600)
    assert not found.refutes
    assert found.instance is not None


def test_a_search_climbs_to_the_supremum() -> None:
    """In ℓ₁ of three dimensions the residual is at most 3/4 of the diameter, as at the corners of a tetrahedron."""
    entry = Statement("mine:claim", "residual(X[0], inf) <= diameter(X[0], 1)", ["n == 4", "d == 3"])
    first = search(entry, evaluations=1, seconds=600)
    later = search(entry, evaluations=20_000, seconds=600)
    assert first.score < later.score <= np.log(3 / 4) + 1e-9
    assert later.score > np.log(0.749)
    for found in (first, later):  # the instance is the one that has the score
        assert found.instance is not None
        X = np.asarray(found.instance.X, dtype=float)
        quotient = residual(X, "inf").value / np.abs(X[:, None] - X).sum(axis=-1).max()
        assert np.log(quotient) == pytest.approx(found.score, abs=1e-6)


#: False claims that a part of the search is for: each turns red without it.
HARD = {
    "climbing": ("mu(X[1])**2 <= 1.32*norm(W[0,0], 2)**2*mu(X[0])**2", ["heads == 1", "n == 3", "d == 2"]),
    "restarts": ("residual(X[0], inf) <= 0.745*diameter(X[0], 1)", ["n == 4", "d == 3"]),
    "exactly orthogonal values": (
        "cosine(X[1]) >= cosine(X[0])",
        ["layernorm == sphere", "heads == 1", "orthogonal_values()", "bias == none", "n == 3", "d == 2"],
    ),
    "a bias in one layer": ("norm(X[1], max) <= norm(W[0,0], 1)*norm(X[0], max)", ["heads == 1", "n == 2", "d == 1"]),
    "a size that is named": ("mu(X[0]) <= diameter(X[0], 2)*sqrt(1.19)", ["n == 5", "d == 1"]),
    "equality in a hypothesis": ("diameter(X[1], 1) <= 0.99*diameter(X[0], 1)", ["norm(W[0,0], inf) == 1", "H == 1"]),
    "d_qk": ("logit_range(P[0,0]) <= norm(W_QK[0,0], 2)*norm(X[0], 2)*diameter(X[0], 2)/d_qk", ["query_bias == none"]),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("seed", [3, 4])
def test_what_each_part_of_the_search_is_for(name: str, seed: int) -> None:
    assert search(Statement("mine:claim", *HARD[name]), evaluations=60_000, seconds=600, seed=seed).refutes


#: False claims that have their counterexamples in simple numbers, and few elsewhere.
SIMPLE = {
    "a rank falls": (
        "rank(X[1]) >= rank(X[0])",
        ["heads == 1", "skip == 1", "mask == causal", "bias == none", "norm(W[0,0], 2) < 1"],
    ),
    "a rank falls, as a strict relation": (
        "rank(X[1]) > rank(X[0]) - 1",
        ["heads == 1", "skip == 1", "n == 2", "d == 2"],
    ),
    "biases of MLPs": ("rank(X[1]) <= rank(X[0]) + 2", ["mlp == relu", "heads == 1", "n == 4", "d == 4"]),
    "units": ("about_mean(X[0]) <= 3/2*residual(X[0], composite)", []),
    "large weights of MLPs": ("mu(X[1]) <= mu(X[0])", ["mlp == silu", "heads == 1", "norm(W[0,0], 2) <= 1/100"]),
}


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_numbers_are_looked_at_before_the_search(name: str) -> None:
    entry = Statement("mine:claim", *SIMPLE[name])
    [(instance, verdict)] = _simple(entry, 0, 600.0, None)
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert judge(entry, instance, "balls").outcome == Outcome.VIOLATED


def test_a_strict_relation_of_whole_numbers_is_searched_as_the_other_form_is() -> None:
    """Where ranks are equal, rank - 1 < rank is met and rank < rank is not; both by a half, as doubles see it."""
    forms = ("rank(X[1]) >= rank(X[0])", "rank(X[1]) > rank(X[0]) - 1", "n*rank(X[1]) >= n*rank(X[0])")
    given = ["skip == 1", "mask == causal", "n == 2", "d == 2", "H == 1", "bias == none"]
    entries = [Statement("mine:claim", form, given) for form in forms]
    room = rooms(entries[0])[0]
    arrays = space.patterns(np.random.default_rng(0), room, 500)
    broken = [scores(entry, room, arrays) > 0 for entry in entries]
    assert 0 < broken[0].sum() < 100
    assert (broken[0] == broken[1]).all()
    assert (broken[0] == broken[2]).all()
    mixed = Statement("mine:claim", "rank(X[1]) > mu(X[0]) - 1", given)  # mu is no whole number
    assert not space._whole(mixed.expanded.left, mixed.expanded.right)


@pytest.mark.parametrize("mask", ["none", "causal", "any"])
def test_equal_tokens_are_a_witness_though_a_hypothesis_bounds_the_weights(mask: str) -> None:
    """0 >= 3*0: of the networks of equal tokens that are looked at first, some have no weights."""
    given = ["heads == 1", "norm(W[0,0], 2) <= 1", f"mask == {mask}"]
    entry = negation(Statement("mine:claim", "exists diameter(X[1], 2) >= 3*diameter(X[0], 2)", given))
    battery = Battery(entry)
    _equal_tokens(entry, battery, 0, 0.0)
    assert battery.outcome == "REFUTED"
    assert isinstance(battery.counterexample, NetworkInstance)
    assert battery.counterexample.X.shape == (2, 1)


def test_one_token_is_looked_at_however_short_the_time() -> None:
    entry = Statement("mine:claim", "second_modulus(P0[0,0]) == 1/2", "mask == causal")
    net = rm.Network.random(tokens=2, dim=2, layers=1, mask="causal", seed=0)
    battery = Battery(entry, tightest_instance=NetworkInstance(net, net.random_input(seed=1)))
    assert [one.X.shape for one in itertools.islice(_alike(entry, battery.tightest_instance, 1, 0), 2)] == [
        (1, 2),
        (1, 1),
    ]
    _equal_tokens(entry, battery, 0, -math.inf)
    assert isinstance(battery.counterexample, NetworkInstance)
    assert len(battery.counterexample.X) == 1


@pytest.mark.parametrize("given", [["heads == 1"], ["heads == 1", "d == 2"]])
def test_a_refutation_that_the_checker_cannot_decide_gives_way_to_a_short_one_that_it_can(given: list[str]) -> None:
    """Of W_QK = 0 the checker cannot tell that it is not definite."""
    entry, zeros = Statement("mine:claim", "definite(W_QK[0,0])", given), np.zeros((1, 1, len(given), len(given)))
    found = NetworkInstance(rm.Network.from_arrays(zeros, zeros, 1.0), np.eye(2)[:, : len(given)])
    battery = Battery(entry, violations=[(found, judge(entry, found, "balls"))])
    pursue(entry, battery, seconds=60.0)
    assert battery.certificate().check().accepted
    small = battery.counterexample
    assert isinstance(small, NetworkInstance)
    assert small.X.shape == (2, 2)
    assert all(abs(x) in (0, 1) for array in (small.X, small.net.W_QK) for x in np.ravel(array))
    assert not np.any(small.net.W)


def test_what_a_claim_would_follow_from_is_compared_within_its_time() -> None:
    with pytest.raises(prover.search.OutOfTime):
        hints._compared(Statement("mine:claim", "mu(X[1]) <= mu(X[0])"), ["mu(X[0])"], 0, until=-math.inf)


def test_what_a_claim_says_of_all_values_is_not_taken_for_granted() -> None:
    """W is a signed permutation where a hypothesis asks for it, not where the claim says that it is."""
    [(instance, _)] = _simple(Statement("mine:claim", "orthogonal_values()", ["H == 1", "d == 2"]), 0, 600.0, None)
    W = np.asarray(instance.net.W)[0, 0]
    assert not np.array_equal(W @ W.T, np.eye(2))
    assert {r.orthogonal for r in rooms(Statement("mine:claim", "mu(X[1]) <= 1", "orthogonal_values()"))} == {True}


def test_ctrl_c_among_simple_numbers_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*rest: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankmath.decide.battery._simple", interrupted)
    monkeypatch.setattr(adversary, "search", lambda *rest, **more: pytest.fail("searched"))
    claim = Statement("mine:claim", "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)", "heads == 1")
    battery = rm.verify_statement(claim, instances=5, search=0, seconds=5)
    assert battery.interrupted
    assert battery.instances == 5


def test_each_climber_goes_uphill_and_keeps_scores_and_arrays_together() -> None:
    entry = Statement("mine:claim", "mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ["H == 1", "n == 3", "d == 2"])
    [room, *_] = rooms(entry)
    for climb, measure in ((adversary._climb, np.median), (adversary._evolve, np.max)):
        rng = np.random.default_rng(5)
        camp, _ = adversary._new_camp(adversary._Pace(entry), room, rng)
        keep = np.argsort(camp.score)[:24]  # not from the best
        camp.arrays = {name: array[keep] for name, array in camp.arrays.items()}
        camp.score, camp.step = camp.score[keep], camp.step[keep]
        before = float(measure(camp.score))
        climb(adversary._Pace(entry), camp, rng)
        assert measure(camp.score) > before + 0.03
        assert np.allclose(scores(entry, room, camp.arrays), camp.score, atol=1e-12)


def test_the_constants_of_the_evolution_strategy() -> None:
    """Where Hansen's formulas become simple, and what they are for."""
    for N in (2, 5, 30):
        assert adversary._chi(N) == pytest.approx(
            math.sqrt(2) * math.exp(math.lgamma((N + 1) / 2) - math.lgamma(N / 2)), rel=0.003
        )
        c_sigma, damping, c_c, c_1, _ = adversary._rates(N, float(N))
        assert (c_sigma, c_c) == pytest.approx(((N + 2) / (2 * N + 5), 5 / (N + 6)), rel=1e-14)
        assert (damping, c_1) == pytest.approx((1 + c_sigma, 2 / (N * N + 3.6 * N + 1.69)), rel=1e-14)
        c_sigma, damping, *_ = adversary._rates(N, 4.0 * N + 5)
        assert damping == pytest.approx(3 + c_sigma, rel=1e-14)
        assert adversary._rates(N, 2.0)[-1] == pytest.approx(1 / (N * N + 4 * N + 6), rel=1e-14)
        assert sum(adversary._rates(N, 1e9)[-2:]) <= 1
        path, step = np.eye(N)[0], np.eye(N)[1] / math.sqrt(N)  # steps of length 1/sqrt(parents) are random ones
        new = adversary._along(path, step, 0.3, float(N))
        assert (np.linalg.norm(new), new[0]) == pytest.approx((1, 0.7), rel=1e-14)


def test_what_an_evolution_learns_stays_what_it_was_where_nothing_is_new() -> None:
    """Steps and path as the covariance already has them change nothing; others enter with their own part."""
    rng = np.random.default_rng(0)
    for N in (1, 3):
        L = np.tril(rng.normal(size=(N, N))) + 2 * np.eye(N)
        C, weights = L @ L.T, np.array([0.5, 0.3, 0.2, 0.1])[: N + 1] / sum([0.5, 0.3, 0.2, 0.1][: N + 1])
        best = np.linalg.qr(rng.normal(size=(N + 1, N)))[0] / np.sqrt(weights)[:, None] @ L.T  # Σ w y yᵀ = C
        zero = np.zeros(N)
        assert np.allclose(adversary._learned(C, zero, best, weights, 0.0, 0.25), C)
        assert np.allclose(adversary._learned(C, zero, 0 * best, weights, 0.2, 0.3), C / 2)
        path = rng.normal(size=N)
        assert np.allclose(adversary._learned(0 * C, path, 0 * best, weights, 0.2, 0.3), 0.2 * np.outer(path, path))
        assert np.allclose(adversary._learned(C, 0 * path, best, weights, 0.2, 0.3), 0.8 * C)
        for length, rate, grown in (
            (1.0, 0.3, 1.0),
            (2.0, 0.3, math.exp(0.3)),
            (0.0, 0.5, math.exp(-0.5)),
            (99.0, 0.9, math.e),
        ):
            assert adversary._stretch(length * adversary._chi(N) * np.eye(N)[0], rate) == pytest.approx(grown)


def test_an_evolution_learns_the_shape_of_a_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turned ellipsoid a hundred times as long as wide: without its axes nobody gets near its center."""
    entry = Statement("mine:claim", "mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ["H == 1", "n == 2", "d == 2"])
    [room, *_] = rooms(entry)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]

    def height(statement: Statement, room: space.Room, arrays: dict[str, Any], quick: bool = True) -> Any:
        vectors = np.concatenate([arrays[name].reshape(len(arrays["X"]), -1) for name in room.parts()], axis=1)
        return -50 - np.log(np.square((vectors - 1) @ turn) @ 10.0 ** np.linspace(0, 4, 12))

    monkeypatch.setattr(adversary, "scores", height)
    monkeypatch.setattr(adversary, "_GENERATIONS", 300)
    reached = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrays = {name: 2 + 0.1 * rng.normal(size=(8, *shape)) for name, shape in room.parts().items()}
        camp = adversary._Camp(room, arrays, height(entry, room, arrays), np.full(8, 0.3))
        assert adversary._evolve(adversary._Pace(entry), camp, rng) == 300 * 48
        assert np.allclose(height(entry, room, camp.arrays), camp.score)
        reached.append(camp.best)
    assert np.median(reached) > -41


class Calm:
    """A generator whose noise is none."""

    def gumbel(self, size: int) -> Any:
        return np.zeros(size)


def camp_of(*scored: float, visits: int = 0) -> adversary._Camp:
    room = rooms(Statement("mine:claim", "mu(X[1]) <= mu(X[0])", ["H == 1", "n == 2", "d == 1"]))[0]
    arrays = {
        name: np.arange(float(len(scored) * math.prod(shape))).reshape(-1, *shape)
        for name, shape in room.parts().items()
    }
    return adversary._Camp(room, arrays, np.array(scored), np.ones(len(scored)), visits)


def test_the_best_room_is_visited_until_it_was_visited_often() -> None:
    rng: Any = Calm()
    good, other = camp_of(-0.5, -0.1), camp_of(-0.2)
    chosen = [adversary._promising([other, good], rng) is good for _ in range(40)]
    assert chosen[0]
    assert all(chosen[:4])
    assert 10 < sum(chosen) < 30  # none is searched forever, none is forgotten
    assert good.visits + other.visits == 40


def test_members_that_only_a_shortcut_makes_good_lose_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    camp = camp_of(-0.1, -0.2, -0.3, -0.9)
    true = np.array([-0.8, -0.5, -0.3, -0.9])

    def exact(statement: Statement, room: space.Room, arrays: dict[str, Any], quick: bool = True) -> Any:
        assert not quick
        return true[[int(i) for i in arrays["X"][:, 0, 0] // 2]]

    monkeypatch.setattr(adversary, "scores", exact)
    adversary._weigh(Statement("mine:claim", "mu(X[0]) >= 0"), camp, -1.0)
    assert camp.score.tolist() == [-0.8, -0.5, -0.3, -0.9]
    camp = camp_of(-0.1, -0.2, -0.3, -0.9)
    adversary._weigh(Statement("mine:claim", "mu(X[0]) >= 0"), camp, -0.15)  # what cannot be best is left alone
    assert camp.score.tolist() == [-0.8, -0.2, -0.3, -0.9]


def test_what_balls_do_not_confirm_is_no_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three suspects the first is a shortcut's, the second is not confirmed, the third is returned."""
    true = np.array([-0.1, 0.2, 0.1, 0.05])
    monkeypatch.setattr(
        adversary, "scores", lambda s, r, arrays, quick: true[[int(i) for i in arrays["X"][:, 0, 0] // 2]]
    )
    asked = []

    def violated(statement: Statement, instance: Any) -> Any:
        asked.append(float(instance.X[0, 0]) // 2)
        return "violated" if asked[-1] == 2 else None

    monkeypatch.setattr(adversary, "_violation", violated)
    camp = camp_of(0.3, 0.2, 0.1, 0.05)
    found = adversary._confirmed(Statement("mine:claim", "mu(X[0]) >= 0"), camp)
    assert found is not None
    assert (found.score, asked) == (0.1, [1, 2])
    assert camp.score.tolist() == [-0.1, 0, 0.1, 0.05]
    assert adversary._confirmed(Statement("mine:claim", "mu(X[0]) >= 0"), camp_of(-0.3, -0.2)) is None


def test_a_room_that_rewards_no_more_is_entered_anew_and_its_best_is_kept() -> None:
    """Around two far tokens on a line the quotient is 1/2 wherever the others stand: no step leads away."""
    entry = Statement("mine:claim", "residual(X[0], inf) <= diameter(X[0], 1)", ["n == 4", "d == 3"])
    [room, *_] = rooms(entry)
    rng = np.random.default_rng(1)
    camp, _ = adversary._new_camp(adversary._Pace(entry), room, rng)
    trap = np.zeros((4, 3))
    trap[:2, 0] = 1.0, -1.0
    camp.arrays["X"][:] = trap
    camp.score = scores(entry, room, camp.arrays)
    assert np.allclose(camp.score, np.log(1 / 2))
    camp.step[:], camp.idle = 1e-3, adversary._PATIENCE
    adversary._visited(adversary._Pace(entry), camp, rng)
    assert camp.best > np.log(0.55)
    assert any(np.array_equal(X, trap) for X in camp.arrays["X"])
    assert camp.idle == 0


@pytest.mark.parametrize("place", [0, 5, -1])
def test_the_best_member_enters_anew_with_its_own_score(place: int) -> None:
    """Wherever the best stands among worse ones: scores are those of the arrays they stand with."""
    entry = Statement("mine:claim", "residual(X[0], inf) <= diameter(X[0], 1)", ["n == 4", "d == 3"])
    [room, *_] = rooms(entry)
    rng = np.random.default_rng(1)
    camp, _ = adversary._new_camp(adversary._Pace(entry), room, rng)
    best = {name: array[int(camp.score.argmax())].copy() for name, array in camp.arrays.items()}
    for name, array in camp.arrays.items():
        array[:] = array[int(camp.score.argmin())]
        array[place] = best[name]
    camp.score = scores(entry, room, camp.arrays)
    score, camp.idle = camp.best, adversary._PATIENCE
    assert camp.score[place] == score
    adversary._visited(adversary._Pace(entry), camp, rng)
    assert camp.score[-1] == score
    assert all(np.array_equal(camp.arrays[name][-1], best[name]) for name in best)
    assert np.allclose(camp.score, scores(entry, room, camp.arrays), atol=1e-12)


def test_an_interrupted_search_keeps_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankmath.decide.proving.prove", lambda *texts, **options: None)  # it would end the search

    def stop(count: int, score: float) -> None:
        if count > 3000:
            raise KeyboardInterrupt

    # True, and not provable from the lemmas: a proof would end the search before it is interrupted.
    claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)*(1 + sqrt(2) - 1414/1000)"
    entry = Statement("mine:claim", claim, ["heads == 1"])
    found = search(entry, seconds=600, tell=stop)
    assert found.interrupted
    assert found.instance is not None
    assert found.score <= 0.0
    battery = rm.verify_statement(entry, instances=20, certify=0, search=0, seconds=600, tell=stop)
    assert battery.interrupted
    assert battery.outcome == "HELD"


def test_equal_tokens_are_no_counterexample() -> None:
    """At equal tokens the bias alone breaks the claim; the checker refuses such an instance: others are found."""
    entry = Statement("mine:claim", "norm(X[1], max) <= norm(W[0,0], 1)*norm(X[0], max)", ["heads == 1"])
    battery = rm.verify_statement(entry, instances=5, certify=0, search=0, seconds=60)
    assert isinstance(battery.counterexample, NetworkInstance)
    assert np.ptp(battery.counterexample.X) > 0
    assert battery.certificate().check().accepted


@pytest.mark.parametrize(
    ("claim", "given", "says"),
    [
        ("mu(X[1]) <= 1", "n == 10**9", "no network that is searched"),
        ("mu(X[1]) <= 1", "heads == 0", "H == 0 given; no network is so"),
        ("mu(X[40]) <= 1", "heads == 1", "speaks of 40 layers"),
        ("lipschitz(40) <= 1", "heads == 1", "speaks of 41 layers"),
        ("influence(64) <= 1", "heads == 1", "speaks of 65 tokens"),
        ("diagonal(P[0,0], 5) <= 1", "n == 5", "speaks of 6 tokens; n == 5 given"),
        ("mu(X[3]) <= mu(X[0])", "layers <= 2, heads == 1", "speaks of 3 layers; L <= 2 given"),
        ("norm(W[0,2], 2) <= 1", "heads == 2", "speaks of 3 heads; H == 2 given"),
        ("mu(X[L+1]) <= 1", "heads == 1", "layers or heads beyond"),
        ("all_l(mu(X[l-1]) <= 1)", "heads == 1", "layers or heads beyond"),
        ("1 <= 2", "heads == 1", "says nothing of X"),
    ],
)
def test_claims_about_no_network_are_refused(claim: str, given: str, says: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=says):
        rooms(Statement("mine:claim", claim, given.split(", ")))


def test_rooms_obey_the_hypotheses() -> None:
    entry = Statement("mine:claim", "mu(X[2]) <= 1", ["heads == 2", "n >= 3", "mask == causal", "skip == 1", "d == 2"])
    found = rooms(entry)
    assert found
    for room in found:
        assert (room.H, room.d, room.mask, room.skip) == (2, 2, "causal", 1.0)
        assert room.n >= 3
        assert room.L == 2
    assert [room.size for room in found] == sorted(room.size for room in found)


def test_scores_are_the_logarithm_of_the_quotient_and_exclude_what_a_hypothesis_excludes() -> None:
    entry = Statement("mine:claim", "diameter(X[0], 2) <= 1", "diameter(X[0], 1) <= 100")
    room = rooms(entry)[0]
    batch = starts(np.random.default_rng(0), room, 32)
    sizes = np.abs(batch["X"][:, 0] - batch["X"][:, 1])[:, 0]
    found = scores(entry, room, batch)
    inside = sizes < 99
    assert np.allclose(found[inside & (sizes > 0)], np.log(sizes[inside & (sizes > 0)]), atol=1e-9)
    assert (found[sizes > 101] < -1e4).all()


def test_the_worst_relation_is_scored_and_equalities_by_their_distance() -> None:
    given = "diameter(X[0], 1) <= 100"
    for claim, wanted in (
        ("diameter(X[0], 2) <= 1 and diameter(X[0], 2) <= 4", lambda t: t),
        ("diameter(X[0], 2) <= 4 and diameter(X[0], 2) <= 1", lambda t: t),
        ("diameter(X[0], 2) >= 1 and diameter(X[0], 2) <= 4", lambda t: np.maximum(-t, t - np.log(4))),
        ("diameter(X[0], 2) == 4", lambda t: abs(t - np.log(4))),
    ):
        entry = Statement("mine:claim", claim, given)
        room = rooms(entry)[0]
        batch = starts(np.random.default_rng(0), room, 32)
        sizes = np.abs(batch["X"][:, 0] - batch["X"][:, 1])[:, 0]
        assert (sizes > 0).all()  # equal tokens say nothing
        inside = (sizes < 99) & (abs(sizes - 4) > 1e-3) & (abs(sizes - 1) > 1e-3)
        assert inside.sum() > 9
        assert np.allclose(scores(entry, room, batch)[inside], wanted(np.log(sizes[inside])), atol=1e-8), claim


@pytest.mark.parametrize(
    ("claim", "several"),
    [
        ("mu(X[1]) <= mu(X[0])", ()),
        ("all_l(mu(X[l + 1]) <= mu(X[0]))", ("L",)),
        ("mu(X[L]) <= mu(X[0])", ("L",)),
        ("mu(X[1]) <= sum_l(norm(W[l, 0], 2))", ("L",)),
        ("mu(X[1]) <= sum_h(norm(W[0, h], 2))*mu(X[0])", ("H",)),
        ("mu(X[1]) <= H*mu(X[0])", ("H",)),
        ("all_l(all_h(norm(W[l, h], 2) <= 1))", ("L", "H")),
    ],
)
def test_what_a_claim_runs_over_is_searched_in_several_sizes(claim: str, several: tuple[str, ...]) -> None:
    found = rooms(Statement("mine:claim", claim))
    for size in several:
        assert len({getattr(room, size) for room in found}) > 1, (claim, size)
    if "L" not in several:
        assert {room.L for room in found} == {1}


def test_rooms_have_the_sizes_and_layers_that_a_claim_asks_for() -> None:
    assert {room.n for room in rooms(Statement("mine:claim", "mu(X[0]) <= 1", ["n > 8", "n < 10"]))} == {9}
    later = rooms(Statement("mine:claim", "norm(W[1,0], 2) <= norm(W[0,0], 2)"))
    assert {room.L for room in later} == {2}
    assert min(room.H for room in rooms(Statement("mine:claim", "norm(W[0,2], 2) <= 1"))) == 3
    assert min(room.n for room in rooms(Statement("mine:claim", "diagonal(P[0,0], 6) <= 1/2"))) == 7
    assert {room.L for room in rooms(Statement("mine:claim", "lipschitz(4) <= contraction(2)"))} == {5}
    # The k of modulus_of numbers no token.
    assert min(room.n for room in rooms(Statement("mine:claim", "modulus_of(P0[0,0], 2) <= 1/2"))) == 2
    assert {room.H for room in rooms(Statement("mine:claim", "norm(W[0,0], 2) <= 1"))} == {1, 2, 3}
    assert {room.H for room in rooms(Statement("mine:claim", "mu(X[0]) <= 1"))} == {1}
    # Doubles never tell equality: what may be equal is searched, what is not equal is excluded.
    for equal, excluded in (("sqrt(2)*mu(X[0])/sqrt(2) == mu(X[0])", False), ("2*mu(X[0]) == mu(X[0])", True)):
        entry = Statement("mine:claim", "mu(X[0]) <= 1", equal)
        room = rooms(entry)[0]
        found = scores(entry, room, starts(np.random.default_rng(0), room, 8))
        assert ((found < -1e5) == excluded).all()


@pytest.mark.parametrize(
    ("claim", "drawn"), [("rank(X[1]) <= rank(X[0])", True), ("diameter(X[1], 2) <= 3*diameter(X[0], 2)", False)]
)
def test_a_bias_is_drawn_where_the_quantity_sees_a_shift(claim: str, drawn: bool) -> None:
    """One layer with a bias of its output breaks the first: X = [1 −1; −1 1], W = [0 0; −1 0], b = (0, −1)."""
    found = rooms(Statement("mine", claim, "heads == 1"))
    assert any(room.bias for room in found) == drawn
    net = rm.Network.from_arrays(np.eye(2)[None, None], [[[[0, 0], [-1, 0]]]], bias=[[0, -1]])
    tokens = NetworkInstance(net, np.array([[1.0, -1.0], [-1.0, 1.0]]))
    verdict = judge(Statement("mine", claim, "heads == 1"), tokens, "balls")
    assert (verdict.outcome == Outcome.VIOLATED) == drawn


def test_the_best_of_many_starts_are_kept() -> None:
    entry = Statement("mine:claim", "mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ["H == 1", "n == 3", "d == 2"])
    [room, *_] = rooms(entry)
    camp, count = adversary._new_camp(adversary._Pace(entry), room, np.random.default_rng(8))
    every = scores(entry, room, starts(np.random.default_rng(8), room, count))
    assert len(camp.score) == 96 < count
    assert np.array_equal(camp.score, -np.sort(-every)[:96])


@pytest.mark.parametrize(("trend", "factor"), [(1.0, 1.6), (-1.0, 0.85)])
def test_steps_grow_with_success_and_shrink_with_failure(
    trend: float, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    camp = camp_of(-0.1, -0.2, -0.3, -0.4)
    told = iter(range(1, 99))
    monkeypatch.setattr(adversary, "scores", lambda s, r, arrays: np.full(4, trend * next(told)))
    camp.step[:] = 1e-4
    pace = adversary._Pace(Statement("mine:claim", "mu(X[0]) >= 0"))
    adversary._climb(pace, camp, np.random.default_rng(0))
    assert np.isclose(camp.step, 1e-4 * factor**16).sum() == 3  # and the last starts again
    assert camp.best == (16 if trend > 0 else -0.1)


def test_the_shrinker_keeps_only_what_violates() -> None:
    net = rm.Network.random(tokens=6, dim=4, heads=3, layers=1, seed=3)
    entry = Statement("mine:claim", "diameter(X[1], 2) <= diameter(X[0], 2)/100")
    instance = NetworkInstance(net, net.random_input(seed=1))
    assert judge(entry, instance, "balls").outcome == Outcome.VIOLATED
    *_, (small, verdict) = shrinking(entry, instance)
    assert verdict.outcome == Outcome.VIOLATED
    assert judge(entry, small, "balls").outcome == Outcome.VIOLATED
    assert small.X.shape == (2, 1)
    assert small.net.heads == 1
    with pytest.raises(rm.InvalidArgument, match="violates the claim"):
        next(shrinking(Statement("mine:claim", "diameter(X[0], 2) >= 0"), instance))


def test_the_shrinker_stays_where_the_claim_speaks() -> None:
    """Smaller instances obey the hypotheses, and balls decide: not to violate is not yet to hold."""
    net = rm.Network.random(tokens=5, dim=3, heads=2, layers=1, seed=3)
    instance = NetworkInstance(net, net.random_input(seed=1))
    entry = Statement("mine:claim", "diameter(X[1], 2) <= diameter(X[0], 2)/100", ["n >= 3", "d >= 2", "H == 2"])
    for small, verdict in shrinking(entry, instance, seconds=600):
        assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
        assert judge(entry, small, "balls").outcome == Outcome.VIOLATED
        assert small.X.shape[0] >= 3
        assert small.X.shape[1] >= 2
        assert small.net.heads == 2
    assert small.X.shape == (3, 2)


def test_every_simplification_is_tried_and_changes_one_thing() -> None:
    rng = np.random.default_rng(0)
    (L, H, n, d), allowed = (3, 2, 4, 3), np.tril(np.ones((4, 4), dtype=bool))
    W_QK, W = rng.normal(size=(2, L, H, d, d))
    key, bias, X = rng.normal(size=(L, H, d)), rng.normal(size=(L, d)), rng.normal(size=(n, d))
    parts = {"W_QK": W_QK, "W": W, "key_bias": key, "bias": bias, "X": X, "mask": allowed, "d_qk": 3.0}
    found = list(_smaller(NetworkInstance(rm.Network.from_arrays(W_QK, W, 3.0, key, bias, mask=rm.Mask(allowed)), X)))

    def part(small: NetworkInstance, name: str) -> Any:
        mask = small.net.mask
        at = {"X": small.X, "mask": mask.allowed if isinstance(mask, rm.Mask) else None}
        return at[name] if name in at else getattr(small.net, name)

    def cut(k: int, **axes: int | tuple[int, int]) -> dict[str, Any]:
        twice = {name: axis if isinstance(axis, tuple) else (axis,) for name, axis in axes.items()}
        return {name: reduce(lambda a, axis: np.delete(a, k, axis), twice[name], parts[name]) for name in axes}

    expected = [
        *(cut(l, W_QK=0, W=0, key_bias=0, bias=0) for l in range(L)),
        *(cut(h, W_QK=1, W=1, key_bias=1) for h in range(H)),
        *(cut(i, X=0, mask=(0, 1)) for i in range(n)),
        *({**cut(k, X=1, W_QK=(2, 3), W=(2, 3), key_bias=2, bias=1), "d_qk": 2.0} for k in range(d)),
        *({"bias": None}, {"key_bias": None}, {"d_qk": 1.0}),
    ]
    for small, changes in zip(found, expected, strict=False):
        assert all(np.array_equal(part(small, name), changes.get(name, parts[name])) for name in parts)
    rounded = found[len(expected) :]
    for bits in (1, 2, 3, 4, 6, 8, 11, 15, 20, 26):
        # The largest number has so many bits, and the others end where it does.
        units = {x: 2.0 ** (np.frexp(np.abs(parts[x]).max())[1] - bits) for x in ("X", "W", "W_QK", "key_bias", "bias")}
        short = {x: np.round(parts[x] / unit) * unit for x, unit in units.items()}
        assert any(all(np.array_equal(part(small, x), short[x]) for x in short) for small in rounded)
    for d_qk in (1.0, 2.0):  # 1 stays, and 2 becomes 1
        net = rm.Network.from_arrays(W_QK[:1, :1], W[:1, :1], d_qk)
        tried = [small.net for small in _smaller(NetworkInstance(net, X[:2])) if np.array_equal(small.X, X[:2])]
        same = [m for m in tried if np.array_equal(m.W, net.W) and np.array_equal(m.W_QK, net.W_QK)]
        assert [m.d_qk for m in same] == [1.0] * (d_qk > 1)


def test_layers_and_dimensions_of_a_network_with_an_mlp_stay() -> None:
    """An MLP in one layer of two: no layer and no coordinate is dropped, and the MLP stays where it is."""
    net = rm.Network.random(tokens=3, dim=2, heads=1, layers=2, seed=0)
    f = rm.MLP(np.eye(2), np.eye(2), None, None)
    for mlp in ((f, None), (None, f)):
        found = list(_smaller(NetworkInstance(net.replace(mlp=mlp), net.random_input(seed=1))))
        assert found
        assert {small.net.W.shape for small in found} == {net.W.shape}
        assert all([g is not None for g in small.net.mlp] == [g is not None for g in mlp] for small in found)


def test_sharpening_finds_the_constant_of_own_diameter() -> None:
    """Among c in Δ₁ ≤ c‖W‖_∞‖W_QK‖_max Δ³/√d_qk the best is 1/4."""
    claim = "diameter(X[1], 1) <= c*norm(W[0,0], inf)*norm(W_QK[0,0], max)*diameter(X[0], 1)**3/sqrt(d_qk)"
    answer = sharpen(Statement("mine:claim", claim, "heads == 1", where={"c": "1"}), "c", seconds=600, evaluations=600)
    assert 0.24 <= answer.constant <= 0.25 * (1 + 1e-9)
    assert answer.factor == "1/4"  # from the other side: what is proved
    assert answer.proof is not None
    assert answer.proof.certificate().check().accepted
    assert f"c = 1/4 is PROVED, in {len(answer.proof.lines)} lines:" in answer.lines()
    assert not answer.refuted
    with pytest.raises(rm.InvalidArgument, match=r"^letter: 'b' given"):
        sharpen(Statement("mine:claim", claim, "heads == 1", where={"c": "1"}), "b")


def test_a_claim_that_follows_from_lemmas_is_proved_and_names_them() -> None:
    claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*norm(W_QK[0,0], max)*diameter(X[0], 1)**3/(4*sqrt(d_qk))"
    answer = examine(Statement("mine:claim", claim, ["heads == 1", "layers == 1"]), seconds=5, instances=20)
    assert answer.battery.outcome == "PROVED"
    assert answer.battery.derivation is not None
    assert answer.battery.derivation.check().accepted
    said = "\n".join(answer.lines())
    assert "dobrushin-tanh[1]" in said
    assert "layer-dobrushin[1]" in said
    battery = answer.battery
    assert battery.instances == battery.holds + battery.undecided + battery.not_applicable


def test_a_claim_that_only_held_says_with_which_factor_it_is_proved() -> None:
    """μ(X¹) ≤ √(n − 1)‖W‖₂μ(X⁰) is proved; 1.3 in its place holds for three tokens, and no lemma gives it."""
    claim = "mu(X[1]) <= 1.3*norm(W[0,0], 2)*mu(X[0])"
    answer = examine(Statement("mine:claim", claim, ["heads == 1", "tokens <= 3"]), seconds=8, instances=20)
    assert answer.battery.outcome == "HELD"
    assert answer.proof is not None
    assert answer.proof.certificate().check().accepted
    assert any(line.startswith("with the factor ") and line.endswith("PROVED") for line in answer.lines())


@pytest.mark.parametrize(
    ("given", "right", "violates"),
    [("", "2", False), ("", "sqrt(2)*sqrt(1/2)", False), ("", "1/2", True), ("n >= 3", "1/2", False)],
)
def test_a_violation_is_one_that_balls_see(given: str, right: str, violates: bool) -> None:
    """Of tokens 0 and 1: what holds, is equal up to rounding, or is not spoken of is none."""
    net = rm.Network.from_arrays([[[[1.0]]]], [[[[1.0]]]])
    claim = Statement("mine:claim", f"diameter(X[0], 2) <= {right}", [given] if given else [])
    found = adversary._violation(claim, NetworkInstance(net, np.array([[0.0], [1.0]])))
    assert (found is not None) is violates


@pytest.mark.parametrize(
    ("constant", "implying"),
    [
        ("1/5", set()),
        ("1/4", {"own:diameter", "own:diameter-cubic", "own:transport"}),
        ("1", {"own:diameter", "own:diameter-cubic", "own:transport"}),
    ],
)
def test_a_theorem_implies_a_claim_that_is_no_stronger(constant: str, implying: set[str]) -> None:
    """own:diameter-cubic has the constant 1/4, and own:diameter is stronger: neither implies a smaller one."""
    size = f"{constant}*sum_h(operator_norm(W[0,h], p)*form_norm(W_QK[0,h], p))/sqrt(d_qk)"
    claim = Statement("mine:claim", f"all_p(diameter(X[1], p) <= {size}*diameter(X[0], p)**3)", "layers == 1")
    assert set(implied(claim, 0)) == implying


def test_what_is_handed_over_builds_the_same_instance() -> None:
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=2, seed=0, biases=True, mask="causal", skip=0.5)
    instance = NetworkInstance(net, net.random_input(seed=1))
    names: dict[str, object] = {}
    exec(in_python(instance), names)
    again = names["net"]
    assert isinstance(again, rm.Network)
    assert np.array_equal(rm.forward(again, names["X"]), rm.forward(net, instance.X))
    assert any("mask" in line for line in in_words(instance))
    assert short(0.1).endswith("*2^-55")


def test_files_of_claims() -> None:
    text = "# mine\none: mu(X[1]) <= mu(X[0]) given heads == 1, norm(W[0,0], 2) <= 1\nmu(X[0]) >= 0\n"
    first, second = claims_in("claims.txt", text)
    assert first.key == "mine:one"
    assert [str(part) for part in first.given] == ["H == 1", "norm(W[0, 0], 2) <= 1"]
    assert second.key == "mine:3"
    [third] = claims_in(
        "claims.toml", '[a]\nclaim = "mu(X[1]) <= c*mu(X[0])"\ngiven = ["heads == 1"]\nwhere = {c = "2"}\n'
    )
    assert third.key == "mine:a"
    for content, says in (
        ("[a]\ngiven = 1\n", "needs a line claim"),
        ('[a]\nclaim = "mu(X[1]) <= 1"\nstatus = "proved"\n', "has status"),
        ("[a\n", "is not TOML"),
        ('# mine\n[a]\nclaim = "mu(Y[1]) <= 1"\n', r"claims.toml, line 2: \[a\]: claim, column"),
        ('[a]\nclaim = "mu(X[1]) <= 1"\ngiven = 3\n', "given is a list of texts"),
        ('[a]\nclaim = "mu(X[1]) <= 1"\ngiven = "mask == cusal"\n', "given, column 9: 'cusal' given"),
        ("", "holds no claim"),
    ):
        with pytest.raises(rm.InvalidArgument, match=says):
            claims_in("claims.toml", content)
    with pytest.raises(rm.InvalidArgument, match="line 2: claim, column"):
        claims_in("claims.txt", "mu(X[0]) >= 0\nmu(X[0]) >=\n")
    with pytest.raises(rm.InvalidArgument, match="line 2: the name 'a' is taken"):
        claims_in("claims.txt", "a: mu(X[0]) >= 0\na: mu(X[0]) >= 1\n")
    with pytest.raises(rm.InvalidArgument, match="holds no claim"):
        claims_in("claims.txt", "# nothing\n")


def test_every_shape_that_is_searched_obeys_the_hypotheses_on_sizes() -> None:
    entry = Statement("mine:claim", "mu(X[L]) <= mu(X[0])", ["mask == any", "K == 2", "r <= 2", "in_degree <= 3"])
    found = space.rooms(entry)
    assert len({(room.n, room.mask, room.L) for room in found}) > 3
    for room in found:
        assert all(space._obeyed(part, room) for part in entry.expanded_hypotheses), room


def test_a_claim_that_fails_for_one_token_alone_is_refuted_by_one() -> None:
    """Two tokens and more satisfy it: what is not excluded is meant."""
    claim = Statement("mine:claim", "longest(X[0]) <= 10*(n - 1)*longest(X[0]) + 1/2")
    battery = rm.verify_statement(claim, instances=8, certify=0, search=0, seconds=1)
    assert battery.outcome == "REFUTED"
    assert isinstance(battery.counterexample, NetworkInstance)
    assert len(battery.counterexample.X) == 1
    assert battery.certificate().check().accepted


def test_what_is_equal_under_one_mask_alone_refutes_a_strict_claim() -> None:
    claim = Statement("mine:claim", "diagonal(P[0, 0], 0) > 0", "mask == any")
    battery = rm.verify_statement(claim, instances=8, certify=0, search=0, seconds=10)
    assert battery.outcome == "REFUTED"
    assert isinstance(battery.counterexample, NetworkInstance)
    assert not battery.counterexample.net.mask_for(2).allowed[0, 0]
    assert battery.certificate().check().accepted


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        ("diameter(X[1], 2) <= norm(W[0, 0], 2)*diameter(X[0], 2)", "heads == 1, mlp == relu"),
        ("diameter(X[1], 2) <= norm(W[0, 0], 2)*diameter(X[0], 2)", "heads == 1, mlp == any"),
        ("diameter(X[1], 2) <= diameter(X[0], 2)", "norm == rms before, heads == 1, skip == 1"),
        ("second_modulus(P0[0, 0]) <= 1/2", "positions == relative, mask == causal"),
        ("norm(X[1], max) <= 1", "layernorm == standard"),
        # Under these masks tokens do not see themselves.
        ("self_loops()", "mask == any"),
        ("epsilon(P[0, 0]) <= diagonal(P[0, 0], 0) + 1/2", "mask == any"),
        ("second_modulus(P[0, 0]) <= dobrushin(P[0, 0])*diagonal(P[0, 0], 0)*n", "mask == any"),
        ("rank(X[1]) <= rank(X[0])", "heads == 1, layernorm == standard, bias == none"),
    ],
)
def test_parts_that_are_not_drawn_are_strong_enough_to_refute(claim: str, given: str) -> None:
    """Weights of MLPs, terms of positions, groups of heads, gains: true of identities, small terms, own heads."""
    entry = Statement("mine:claim", claim, given.split(", "))
    found = search(entry, evaluations=20_000, seconds=600)
    assert found.refutes
    assert isinstance(found.instance, NetworkInstance)
    for smaller in itertools.islice(_smaller(found.instance), 40):  # a dropped dimension is dropped everywhere
        assert np.isfinite(rm.forward(smaller.net, smaller.X)).all()


def test_what_is_found_by_ctrl_c_is_told_in_short_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers become short before tokens and dimensions are left out: there is no time for all of it."""
    claim = Statement("mine:none", "diameter(X[1], 2) <= diameter(X[0], 2)/2", "heads == 1")
    net = rm.Network.random(tokens=8, dim=3, seed=1)
    large = NetworkInstance(net.replace(value=100 * np.asarray(net.value)), net.random_input(seed=2))
    first, second = (instance for instance, _ in itertools.islice(shrinking(claim, large, hurried=True), 2))
    assert first.X.shape == second.X.shape == (8, 3)
    mantissas = {abs(math.frexp(float(x))[0]) for a in (second.X, second.net.W, second.net.W_QK) for x in a.ravel()}
    assert mantissas <= {0.0, 0.5}
    found = adversary.Found(large, 1.0, None, 1, 0.0, interrupted=True)
    monkeypatch.setattr(adversary, "search", lambda *rest, **more: found)
    monkeypatch.setattr("rankmath.decide.battery._simple", lambda *rest: iter(()))
    battery = rm.verify_statement(claim, instances=0, seconds=5)
    assert battery.interrupted
    told = battery.violations[0][0]
    assert max(len(repr(float(x))) for a in (told.X, told.net.W, told.net.W_QK) for x in np.asarray(a).ravel()) < 12


@pytest.mark.parametrize(("given", "tokens"), [((), 1), (("n >= 2",), 2)])
def test_tokens_0_refute_what_fails_at_them_alone(given: tuple[str, ...], tokens: int) -> None:
    answer = examine(Statement("mine:zeros", "rank(X[0]) >= 1", given), seconds=8)
    assert answer.refuted
    assert answer.battery.certificates
    [(instance, verdict), *_] = answer.battery.violations
    assert isinstance(instance, NetworkInstance)
    assert (len(instance.X), instance.X.any(), verdict.certified) == (tokens, False, True)


def test_what_needs_many_bits_is_shrunk_by_steps_that_need_few() -> None:
    """Logits of 2⁻⁶⁰⁰ keep two tokens so little apart that 512 bits do not see it."""
    net = rm.Network.from_arrays(
        np.diag([2.0**-600, 0.0])[None, None], np.eye(2)[None, None], bias=np.array([[0.0, 1.0]])
    )
    instance = NetworkInstance(net, np.array([[1.0, 0.0], [-1.0, 0.0]]))
    entry = Statement("mine:claim", "rank(X[1]) <= rank(X[0])")
    assert judge(entry, instance, "balls", 512).outcome == Outcome.UNDECIDED
    (found, verdict), *_ = shrinking(entry, instance)
    assert (found.X == instance.X).all()
    assert verdict.outcome == Outcome.VIOLATED


@pytest.mark.parametrize("claim", ["tanh(log(mu(X[0]))) > -1", "exp(log(mu(X[0]))) > 0", "log(mu(X[0])) <= mu(X[0])"])
def test_no_claim_is_decided_by_a_logarithm_of_0(claim: str) -> None:
    instance = NetworkInstance(rm.Network.from_arrays(*np.ones((2, 1, 1, 1, 1))), np.ones((2, 1)))
    for arithmetic in ("float64", "balls"):
        said = judge(Statement("mine:claim", claim), instance, arithmetic)
        assert said.outcome == Outcome.UNDECIDED
        assert "a side is no number" in str(said)
    power = Statement("mine:claim", "mu(X[0])**norm(W[0, 0], 2) <= 0")
    assert judge(power, instance, "balls").outcome == Outcome.HOLDS


@pytest.mark.parametrize("sign", ["", "0 - "])
@pytest.mark.parametrize("arithmetic", ["float64", "balls"])
def test_sides_that_are_equal_are_said_to_be_equal_also_where_they_are_negative(sign: str, arithmetic: str) -> None:
    net = rm.Network.random(tokens=3, dim=2, seed=1)
    entry = Statement("mine:claim", f"{sign}mu(X[0]) <= {sign}sqrt(mu(X[0])**2)")
    said = judge(entry, NetworkInstance(net, net.random_input(seed=2)), arithmetic)
    assert said.outcome == Outcome.UNDECIDED
    assert "the two sides are equal" in str(said)


@pytest.mark.parametrize(
    ("claim", "given", "factor", "weaker"),
    [
        # equality is attained: with n = 2 and d = 1
        ("mu(X[0]) < sqrt(n)*diameter(X[0], 2)/2", ("d == 1", "diameter(X[0], 2) > 0"), "1", True),
        ("mu(X[0]) < sqrt(n)*diameter(X[0], 2)/4", ("d == 1", "diameter(X[0], 2) > 0"), "2", True),
        ("mu(X[0]) <= sqrt(n)*diameter(X[0], 2)/4", ("d == 1",), "2", False),
    ],
)
def test_a_proof_of_at_most_is_not_told_as_one_of_less(
    claim: str, given: tuple[str, ...], factor: str, weaker: bool
) -> None:
    found = prover.weaker(claim, Statement("mine:x", claim, given).given_texts)
    assert found is not None
    assert found[0] == factor
    assert ("<=" in found[1].claim) is (weaker or "<=" in claim)
    held = Answer(Battery(Statement("mine:x", claim, given), holds=1), factor=factor, proof=found[1])
    assert held.weakened is weaker
    told = "\n".join(held.lines())
    assert ("<= in the place of <: PROVED" in told) is weaker
    assert ": the claim" not in told


def test_what_is_proved_with_the_factor_one_is_the_claim() -> None:
    claim = Statement("mine:x", "mu(X[0]) <= sqrt(n)*diameter(X[0], 2)/2", ("d == 1",))
    found = prover.weaker(claim.claim_text, claim.given_texts)
    assert found is not None
    assert (found[0], found[1].claim) == ("1", claim.claim_text)
    assert found[1].certificate().check().accepted
