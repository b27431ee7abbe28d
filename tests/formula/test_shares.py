"""Shares of attention in balls: linear relations decide what digits cannot, and nothing else."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from rankmath.arithmetic.balls import Balls, precision
from rankmath.decide.battery import verify
from rankmath.formula.quantities import diagonal, dobrushin, second_modulus
from rankmath.formula.run import Run
from rankmath.formula.shares import Share, _exact_modulus, shares_of
from rankmath.model.network import Network
from rankmath.model.positions import PositionTable
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

KINDS: tuple[dict[str, Any], ...] = ({}, {"positions": "alibi"}, {"positions": "rotary", "softcap": 2.0})
BOTH = ("mask == any", "positions == any", "softcap == any")
STRICT = Statement("mine:strict", "second_modulus(P0[0, 0]) < dobrushin(P0[0, 0])", given=BOTH)
TRACE = Statement("mine:trace", "sum_i(diagonal(P0[0, 0], i)) - 1 < (n - 1)*second_modulus(P0[0, 0])", given=BOTH)


def graph(rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = (rng.random((n, n)) < rng.uniform(0.2, 0.9)) | np.eye(n, dtype=bool)
    return found


@pytest.mark.parametrize("kind", KINDS, ids=["no positions", "additive", "rotary"])
def test_shares_enclose_what_numpy_has(kind: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    for seed in range(25):
        n = int(rng.integers(2, 7))
        net = Network.random(n, 4, seed=seed, mask=graph(rng, n), **kind)
        with precision(128):
            run, P = Run(Balls(), net, net.random_input(seed)), ("P0", 0, 0)
            rows = np.array(run.attention(0, 0, "P0"), dtype=float)
            shares = shares_of(run, P)
            assert shares is not None
            assert np.array([[float(arb(x)) for x in row] for row in shares]) == pytest.approx(rows, abs=1e-15)
            assert all(sum(row[1:], row[0]) == 1 for row in shares)
            second, variation = second_modulus(run, P), dobrushin(run, P)
            trace = sum(float(diagonal(run, P, i)) for i in range(n))
        # Multiple eigenvalues move by the root of what rounding moves the matrix by, and further.
        assert float(arb(second)) == pytest.approx(sorted(abs(np.linalg.eigvals(rows)))[-2], abs=1e-4)
        assert float(arb(variation)) == pytest.approx(abs(rows[:, None] - rows).sum(axis=-1).max() / 2, abs=1e-14)
        assert trace == pytest.approx(np.trace(rows), abs=1e-14)


def test_the_spectrum_at_consensus_is_decided_under_random_masks() -> None:
    rng = np.random.default_rng(7)
    for seed in range(30):
        n = int(rng.integers(2, 7))
        windowed = {"mask": "causal", "window": int(rng.integers(1, n + 1))}
        mask = ({"mask": "complete"}, {"mask": "causal"}, {"mask": graph(rng, n)}, windowed)[seed // 3 % 4]
        net = Network.random(n, 4, 1, 2, seed=seed, **mask, **KINDS[seed % 3])
        verdict = verify("own:consensus-spectrum", net, net.random_input(seed), arithmetic="balls")
        assert verdict.outcome == Outcome.HOLDS, (seed, verdict.reason)
        assert verdict.arithmetic == "balls at 128 bits"


@pytest.mark.parametrize(
    ("strict", "n", "kind"),
    [
        (STRICT, 2, {"positions": "rotary"}),
        (STRICT, 3, {"positions": "rotary", "mask": [[1, 0, 0], [1, 1, 0], [1, 0, 1]]}),
        (STRICT, 3, {"positions": "alibi"}),  # the vector (1, 0, -1)
        (STRICT, 3, {"mask": [[1, 1, 0], [0, 1, 1], [1, 0, 1]]}),  # a pair of complex eigenvalues
        (STRICT, 4, {"mask": [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 0, 1]]}),  # 1 twice
        (TRACE, 2, {"positions": "alibi"}),
        (TRACE, 5, {"positions": "alibi", "mask": "causal", "window": 1}),
        (TRACE, 6, {}),
    ],
)
def test_equalities_are_known_to_be_equalities(strict: Statement, n: int, kind: dict[str, Any]) -> None:
    mask = kind.get("mask")
    net = Network.random(n, 4, seed=0, **kind | ({"mask": np.array(mask, dtype=bool)} if type(mask) is list else {}))
    verdict = verify(strict, net, net.random_input(2), arithmetic="balls")
    assert verdict.outcome == Outcome.VIOLATED
    assert verdict.ratio == pytest.approx(1) or verdict.log_rhs == -math.inf


def test_what_is_nearly_equal_is_not_equal() -> None:
    """The three tokens of the vector (1, 0, −1), with one logit moved in its last bit."""
    B = -np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0))) / 4
    for moved in (0.0, 2.0**-52):
        B[0, 2] = -0.5 * (1 + moved)
        net = Network.random(3, 4, positions=PositionTable(B[None]))
        outcome = verify(STRICT, net, net.random_input(2), arithmetic="balls").outcome
        assert outcome == (Outcome.HOLDS if moved else Outcome.VIOLATED)


def test_a_modulus_is_rational_only_where_it_is() -> None:
    def modulus(rows: Any) -> arb:
        with precision(128):
            return _exact_modulus([[Fraction(x) for x in row] for row in rows])

    third = Fraction(1, 3)
    for rows, value in (([[0, -1], [1, 0]], 1), ([[third, 1], [0, third]], third), ([[0, 1], [0, 0]], 0)):
        found = modulus(rows)
        assert isinstance(found, Share)
        assert found - value == 0
    for rows, square in (([[1, -1], [1, 1]], 2), ([[0, 2], [1, 0]], 2)):
        found = modulus(rows)
        assert not isinstance(found, Share)
        assert (found**2).contains(square)
    # Salem's number: its other eigenvalues are 1/s and a pair on the unit circle, and it is no root of a fraction.
    salem = modulus([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [-1, 1, 1, 1]])
    assert not isinstance(salem, Share)
    assert float(salem) == pytest.approx(1.7220838, abs=1e-7)


def test_linear_relations_do_not_go_beyond_sums() -> None:
    x, y = Share({"x": Fraction(1)}, arb(1) / 3), Share({None: Fraction(1), "x": Fraction(-1)}, arb(2) / 3)
    assert x + y == 1
    assert 3 * x - 1 == 2 - 3 * y
    assert type(x * y) is arb
    assert not bool(x * y == y * x)
    assert x < y
    assert max(x, y) is y


@pytest.mark.parametrize("mask", [None, "causal"])
@pytest.mark.parametrize("positions", ["none", "rotary", "alibi"])
@pytest.mark.parametrize(
    "quantity", ["dobrushin({0})", "diagonal({0}, 0)", "diagonal({0}, 1)", "second_modulus({0})", "other_share({0})"]
)
def test_shares_of_different_matrices_do_not_cancel(mask: str | None, positions: str, quantity: str) -> None:
    """Of two heads, of two layers, of P and of P0: a difference in balls contains that of two numbers in doubles."""
    net = Network.random(tokens=3, dim=4, heads=2, layers=2, seed=0, mask=mask, positions=positions)
    X = net.random_input(seed=1)
    for first, other in (("P[0,0]", "P[0,1]"), ("P[0,0]", "P[1,0]"), ("P[0,0]", "P0[0,0]"), ("P0[0,0]", "P0[0,1]")):
        one, two = quantity.format(first), quantity.format(other)
        low, high = (
            verify(Statement("a:b", f"{term} <= 100", given=BOTH), net, X).log_lhs
            for term in (f"1 + {one}", f"1 + {two}")
        )
        gap = math.exp(low) - math.exp(high)
        for slack, outcome in ((1e-9, "HOLDS"), (-1e-9, "VIOLATED")):
            claim = Statement("a:b", f"{one} - {two} <= {gap + slack!r}", given=BOTH)
            if abs(gap) > 1e-6 or slack > 0:
                assert verify(claim, net, X, arithmetic="balls").outcome == outcome, (first, other)
