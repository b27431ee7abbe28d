"""The best constant in the place of a letter: under equations, where it grows with a size, where there is none."""

import dataclasses
import math
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import rankmath as rm
from rankmath.certificates.certificate import Certificate
from rankmath.cli.conjecture import saved
from rankmath.decide import conjecture
from rankmath.decide.adversary import grown, search
from rankmath.decide.conjecture import Answer, _scales, _threshold, sharpen
from rankmath.decide.space import Room, rooms, scores
from rankmath.formula.terms import Number
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

SPREAD = "mu(X[1]) <= c*norm(W[0,0], 2)*mu(X[0])"


def _claim(claim: str, given: str = "", first: str = "1") -> Statement:
    return Statement("mine:c", claim, given, where={"c": first})


def _with(claim: Statement, value: float) -> Statement:
    return dataclasses.replace(claim, where={"c": Number(Fraction(value))})


@pytest.mark.parametrize(
    ("claim", "given", "best"),
    [
        ("diameter(X[1], 2) <= c*diameter(X[0], 2)", "heads == 1, norm(W[0,0], 2) == 1", 1),
        ("mu(X[1]) <= c*mu(X[0])", "heads == 1, d == 1, n == 2, norm(W[0,0], max) == 3", 3),
        (
            "diameter(X[1], 2) <= c*norm(W[0,0], 2)*diameter(X[0], 2)",
            "heads == 1, n == 2, skip == 1/2, norm(W[0,0], 2) == 1",
            1.5,
        ),
    ],
)
def test_a_constant_is_found_where_weights_meet_an_equation(claim: str, given: str, best: float) -> None:
    """Doubles never tell that a norm is 1; balls do."""
    answer = sharpen(_claim(claim, given), "c", evaluations=1500, seconds=100)
    assert 0.99 * best < answer.constant <= best * (1 + 1e-9)
    assert answer.near is not None
    assert judge(answer.failing, answer.near, "balls").outcome == Outcome.VIOLATED


def test_where_no_instance_meets_the_hypotheses_no_constant_is_said_to_have_been_tried() -> None:
    given = "heads == 1, norm(W[0,0], 2) == 1, norm(W[0,0], 2) == 2"
    answer = sharpen(_claim("diameter(X[1], 2) <= c*diameter(X[0], 2)", given), "c", evaluations=100, seconds=20)
    lines = answer.lines()
    assert "no c was tried: no instance was found that meets the hypotheses" in lines
    assert not any("was found to fail" in line or "down to" in line for line in lines)
    assert answer.near is None


def test_an_instance_at_which_every_constant_fails_shows_that_there_is_none() -> None:
    """With W = 0 and a skip connection tokens stay apart, and the larger side is 0."""
    claim = _claim("diameter(X[1], 2) <= c*norm(W[0,0], 2)*diameter(X[0], 2)", "heads == 1, skip == 1")
    net = rm.Network.from_arrays(W_QK=np.ones((1, 1, 1, 1)), W=np.zeros((1, 1, 1, 1)), skip=1.0)
    instance = NetworkInstance(net, np.array([[0.0], [1.0]]))
    assert _threshold(lambda value: _with(claim, value), instance) > 1e6


def test_the_constant_of_one_instance_is_its_quotient_where_its_hypotheses_hold() -> None:
    claim = "diameter(X[1], 2) <= c*diameter(X[0], 2)"
    net = rm.Network.from_arrays(W_QK=np.ones((1, 1, 1, 1)), W=np.ones((1, 1, 1, 1)), d_qk=1.0)
    instance = NetworkInstance(net, np.array([[-1.0], [1.0]]))
    for given, value in (("norm(W[0,0], 2) == 1", math.tanh(1)), ("norm(W[0,0], 2) == 2", 0.0)):
        at = partial(_with, _claim(claim, f"heads == 1, {given}"))
        assert math.isclose(_threshold(at, instance), value, rel_tol=1e-8)


@pytest.fixture(scope="module")
def growing() -> Answer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjecture, "_shrunk", lambda of, instance, seconds: instance)  # 32 tokens take long
        return sharpen(_claim(SPREAD, "heads == 1, d == 1"), "c", evaluations=1500, seconds=200)


def test_a_constant_that_grows_with_n_is_told_as_that(growing: Answer) -> None:
    """Half of the tokens see one of two far ones each: the quotient is √(n/2) in the limit."""
    assert growing.grows == ("n",)
    told = next(line for line in growing.lines() if line.endswith("the claim fails at this instance, by balls:"))
    assert told.startswith("no c for all n is in sight: the best c seen grows as n grows; with c = ")
    assert "?" not in told
    assert growing.near is not None
    n = len(growing.near.X)
    assert 2.8 < growing.constant <= math.sqrt(n / 2) * (1 + 1e-9)
    assert judge(growing.failing, growing.near, "balls").outcome == Outcome.VIOLATED


def test_large_sizes_are_searched_from_the_best_of_small_ones(growing: Answer) -> None:
    [table] = [line for line in growing.sizes if line.startswith("seen in a short search at n")]
    seen = [float(x) for x in table.partition(" H = 1: ")[2].partition(":")[0].split(", ")]
    sizes = [int(n) for n in table.partition(" at n = ")[2].partition(" with ")[0].split(", ")]
    assert {2, 3, 4, 6, 8, 16, 32} <= set(sizes)
    for n, value in zip(sizes, seen, strict=True):
        best = math.sqrt(2 * (n // 2) * (n - n // 2) / n)
        assert 0.9 * best < value <= best


def test_a_constant_that_grows_up_to_the_largest_size_allowed_is_one() -> None:
    answer = sharpen(_claim(SPREAD, "heads == 1, d == 1, n <= 6"), "c", evaluations=400, seconds=100)
    assert answer.grows == ()
    assert any(line.startswith("the best c seen is 1.") for line in answer.lines())


def test_a_constant_that_scales_with_the_weights_is_none() -> None:
    answer = sharpen(_claim("mu(X[1]) <= c*mu(X[0])", "n == 3"), "c", evaluations=100, seconds=2)
    lines = answer.lines()
    assert any(line.startswith("no c is in sight: with c = ") for line in lines)
    assert any(line.startswith("W times 2^") and " takes the best c seen from " in line for line in lines)
    assert answer.near is not None
    assert judge(answer.failing, answer.near, "balls").outcome == Outcome.VIOLATED


def test_the_scales_that_are_tried_keep_the_logits_where_they_say_so() -> None:
    room = Room(2, 1, 1, 1, 1.0)
    arrays = {"X": np.array([[1.0], [3.0]]), "W": np.ones((1, 1, 1, 1)), "W_QK": np.full((1, 1, 1, 1), 5.0)}
    for name, factor, instance in _scales((room, arrays)):
        X, W, W_QK = np.asarray(instance.X), np.asarray(instance.net.W), np.asarray(instance.net.W_QK)
        kept = {"X": (arrays["X"] == X).all(), "W": (W == 1).all(), "W_QK": (W_QK == 5).all()}
        assert {part for part, same in kept.items() if not same} == set(name.split(" and "))
        if " and " in name:
            assert (X**2 * W_QK.item() == 5 * arrays["X"] ** 2).all(), factor


def test_an_instance_that_is_made_larger_keeps_its_tokens_and_its_spread() -> None:
    claim = _claim("diameter(X[1], 2) <= c*norm(W[0,0], 2)*diameter(X[0], 2)", "heads == 1")
    found = search(claim, evaluations=600, seconds=60)
    assert found.place is not None
    room, arrays = found.place
    larger = next(other for other in rooms(claim) if other == dataclasses.replace(room, n=8, d=3, d_qk=3.0))
    batch = grown((room, arrays), larger, np.random.default_rng(0))
    before = scores(claim, room, {name: array[None] for name, array in arrays.items()})
    assert batch["X"].shape[1:] == (8, 3)
    assert (batch["X"][:, : room.n, : room.d] == arrays["X"]).all()
    assert not batch["X"][:, :, room.d :].any()
    assert scores(claim, larger, batch).max() >= before[0] - 0.5


def test_a_proved_constant_is_handed_over_with_its_derivation(tmp_path: Path) -> None:
    claim = _claim("diameter(X[1], 2) <= c*diameter(X[0], 2)", "heads == 1, norm(W[0,0], 2) == 1")
    answer = sharpen(claim, "c", evaluations=300, seconds=60)
    assert answer.factor == "1"
    lines = saved(answer, str(tmp_path))
    written = {path.name for path in (tmp_path / "claims").iterdir()}
    assert {"mine-c.json", "mine-c.tex", "mine-c-tightest.json", "mine-c-tightest.tex"} <= written
    certificate = Certificate.load(tmp_path / "claims" / "mine-c.json")
    assert certificate.kind == "derivation"
    assert certificate.check().accepted
    assert any(line.startswith("derivation: ") and certificate.id in line for line in lines)
