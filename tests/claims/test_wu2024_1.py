"""wu2024:1: masked attention collapses exponentially; the constant, the hypotheses, the computed contraction."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.claims.wu2024_1 import MASKS
from rankmath.decide.battery import judge, verify, verify_statement
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome


def test_the_mask_bound_holds_on_every_kind_of_mask() -> None:
    entry = statement("wu2024:1")
    labels = [entry.draws[k](np.random.default_rng(k), 1).label for k in range(len(entry.draws))]
    assert {label.partition(",")[0] for label in labels} == set(MASKS)
    battery = verify_statement(entry, instances=350, certify=3, seed=1, search=0)
    assert (battery.violations, battery.not_applicable) == ([], 0)


def test_two_tokens_under_the_causal_mask_are_an_equality() -> None:
    ones = np.ones((3, 1, 1, 1))
    net = rm.Network.from_arrays(0 * ones, ones, mask="causal")
    for arithmetic in ("float64", "balls"):
        verdict = verify("wu2024:1", net, [[0.0], [1.0]], arithmetic=arithmetic, bits=256)
        assert verdict.outcome == Outcome.UNDECIDED
        assert verdict.log_lhs == pytest.approx(math.log(0.5) * 3 + math.log(0.5) / 2, abs=1e-14)
        assert verdict.ratio == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("factor", "outcome"), [("0.99", "REFUTED"), ("1.01", "HELD")])
def test_a_smaller_constant_is_refuted_by_balls(factor: str, outcome: str) -> None:
    """The right side times 0.99 is violated and certified; times 1.01 it is not."""
    entry = statement("wu2024:1")
    claim = "mu(X[L]) <= FACTOR*sqrt(n/2)*product_norm(2)*mu(X[0])*(1 - least**r)**floor(L/r)"
    planted = Statement(
        "mine:planted",
        claim.replace("FACTOR", factor),
        where={"least": "min_l(epsilon(P[l,0]))"},
        given=entry.given,
        draws=entry.draws,
        extremal=entry.extremal,
    )
    battery = verify_statement(planted, instances=14, search=0, seconds=0)
    assert battery.outcome == outcome
    assert all(verdict.certified for _, verdict in battery.violations)


def test_the_constant_root_n_over_two_is_approached() -> None:
    """Half of four tokens copy the first, half the second: μ(PX)/μ(X) → √2 = √(n/2)."""
    P = np.repeat(np.eye(4)[:2], 2, axis=0)
    X = np.array([[1.0], [-1.0], [0.0], [0.0]])
    assert float(rm.mu(P @ X)) / float(rm.mu(X)) == pytest.approx(math.sqrt(2), abs=1e-15)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"mask": np.array([[True, False, False], [True, False, True], [False, True, True]])}, "self_loops"),
        ({"mask": np.eye(3, dtype=bool)}, "quasi_strongly"),
        ({"mask": "causal", "heads": 2}, "one head"),
        ({"mask": "causal", "skip": True}, "no skip connections"),
        ({"mask": "causal", "norm": "sphere"}, "no LayerNorm"),
    ],
)
def test_without_its_hypotheses_the_mask_bound_says_nothing(options: dict[str, Any], reason: str) -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=2, **options)
    for arithmetic in ("float64", "balls"):
        verdict = verify("wu2024:1", net, net.random_input(seed=1), arithmetic=arithmetic)
        assert verdict.outcome == Outcome.NOT_APPLICABLE
        assert reason in verdict.reason


def test_close_rows_keep_their_digits() -> None:
    """Tokens 1e-7 apart: rows of P differ by 1e-15, and the contraction is known to nine digits nevertheless."""
    net = rm.Network.random(tokens=4, dim=3, layers=1, mask="complete", seed=0, biases=True)
    close = NetworkInstance(net, 3.0 + 1e-7 * np.asarray(net.random_input(seed=1)))
    plain, rigorous = (judge(statement("wu2024:1-doeblin"), close, kind) for kind in ("float64", "balls"))
    assert plain.log_rhs == pytest.approx(rigorous.log_rhs, abs=1e-8)
    assert rigorous.certified
    assert rigorous.log_rhs < -40


def test_the_computed_contraction_is_never_weaker_than_the_least_weight() -> None:
    for index, draw in enumerate(statement("wu2024:1-doeblin").draws):
        batch = draw(np.random.default_rng(index), 3)
        for i in range(3):
            one = batch.select(i)
            by_weight = judge(replace(statement("wu2024:1"), key="mine:1"), one, "float64")
            computed = judge(statement("wu2024:1-doeblin"), one, "float64")
            if Outcome.NOT_APPLICABLE not in (by_weight.outcome, computed.outcome):
                assert computed.log_rhs <= by_weight.log_rhs + 1e-9
