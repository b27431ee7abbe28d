"""barbero2024: the repeated token against the network itself, the longest step, and what is refuted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.claims.barbero2024 import loud_query, two_places
from rankmath.linalg.masks import Mask
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome


def gaps(net: rm.Network, X: np.ndarray) -> float:
    """‖x_n − x_{n+1}‖ from two forward passes."""
    n = len(X)
    short = rm.forward(net.replace(mask=Mask.causal(n)), X)
    longer = rm.forward(net.replace(mask=Mask.causal(n + 1)), np.concatenate([X, X[-1:]]))
    return float(np.linalg.norm(short[-1] - longer[-1]))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_repeated_token_is_that_of_the_longer_input(layers: int) -> None:
    net = rm.Network.random(tokens=4, dim=3, heads=2, layers=layers, seed=layers, biases=True, skip=True)
    X = np.asarray(net.random_input(seed=7))
    causal = net.replace(mask=Mask.causal(4))
    [side] = statement("barbero2024:4.2").evaluate(Float64(np.zeros(1)), _instance(causal, X)).sides
    assert math.exp(float(side.left.log)) == pytest.approx(gaps(net, X), rel=1e-9)
    assert float(side.left.log) < float(side.right.log)


def _instance(net: rm.Network, X: np.ndarray) -> object:
    return statement("barbero2024:4.2").instance(net, X)


def test_the_gap_shrinks_like_one_over_n() -> None:
    """Tokens ±1 in turn: the bound itself is O(1/n)."""
    entry, bounds = statement("barbero2024:4.2"), []
    for n in (8, 64):
        net = rm.Network.from_arrays(np.full((2, 1, 1, 1), 0.5), np.ones((2, 1, 1, 1)), mask=Mask.causal(n))
        X = np.where(np.arange(n)[:, None] % 2 == 0, 1.0, -1.0)
        [side] = entry.evaluate(Float64(np.zeros(1)), entry.instance(net, X)).sides
        assert float(side.left.log) < float(side.right.log)
        bounds.append(math.exp(float(side.right.log)))
    assert bounds[1] < bounds[0] / 6


def test_the_longest_step_is_reached() -> None:
    *_, last = two_places(np.random.default_rng(0))
    verdict = judge(statement("own:repeat"), last, "balls")
    assert verdict.outcome == Outcome.HOLDS
    assert 1 - 1e-6 < verdict.ratio < 1
    assert math.exp(verdict.log_lhs) == pytest.approx(3 - 2 * math.sqrt(2), rel=1e-6)


def test_a_loud_query_refutes_the_reading_and_not_the_repair() -> None:
    [found] = loud_query()
    assert rm.verify("folk:influence", found.net, found.X, arithmetic="balls").outcome == Outcome.VIOLATED
    assert rm.verify("own:influence", found.net, found.X, arithmetic="balls").outcome == Outcome.HOLDS
    exhibit = statement("folk:influence").exhibited
    certificate = exhibit()
    assert (certificate.kind, certificate.check().accepted) == ("violates", True)


@pytest.mark.parametrize("size", [15.0, 20.0, 30.0])
def test_doubles_decide_nothing_of_an_influence_that_underflows(size: float) -> None:
    """A share of attention below every double is no 0: balls see that the claim fails by hundreds."""
    net = rm.Network.from_arrays([[[[1.0]]]], [[[[1.0]]]], skip=1.0, mask="causal")
    X = np.array([[size], [-size]])
    assert rm.verify("folk:influence", net, X).outcome == ("VIOLATED" if size == 15 else "UNDECIDED")
    verdict = rm.verify("folk:influence", net, X, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == ("VIOLATED", True)
    assert verdict.log_lhs - verdict.log_rhs == pytest.approx(np.log(2 * size**2 - 1))


@pytest.mark.parametrize(
    ("claim", "form"),
    [("influence(0) <= exp(-5000)", 1.0), ("diagonal(P[0,0], 1) <= 0", -1.0), ("other_share(P[0,0]) <= 0", -1.0)],
)
def test_doubles_decide_nothing_of_a_share_that_underflows(claim: str, form: float) -> None:
    net = rm.Network.from_arrays([[[[form]]]], [[[[1.0]]]], mask="causal")
    X = np.array([[30.0], [-30.0]])
    statement = rm.Statement("a:b", claim, "mask == causal")
    assert rm.verify(statement, net, X).outcome == "UNDECIDED"
    assert rm.verify(statement, net, X, arithmetic="balls").outcome == "VIOLATED"


def test_doubles_decide_nothing_of_the_spread_of_tokens_that_are_close() -> None:
    """Equal tokens less their mean are rounding, and so is the spread of tokens that are near."""
    equal = rm.Network.from_arrays(np.eye(3)[None, None], np.eye(3)[None, None])
    net = rm.Network.from_arrays([[[[-1e-6]]]], [[[[-0.5]]]], bias=np.array([[1e4]]), skip=1.0)
    for claim, of, X, outcome in (
        ("centred_norm(X[0]) <= 0", equal, [[0.1, 0.2, -0.7]] * 3, "HOLDS"),
        ("centred_norm(X[1]) <= 0.999*mu(X[1])", net, [[1e-12], [1.3e-12]], "VIOLATED"),
    ):
        statement = rm.Statement("a:b", claim, "skip >= 0")
        assert rm.verify(statement, of, X).outcome == "UNDECIDED"
        assert rm.verify(statement, of, X, arithmetic="balls").outcome == outcome
