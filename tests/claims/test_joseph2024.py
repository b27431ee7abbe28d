"""own:lambda-skip-sphere and folk:lambda-skip: equality in the limit, and what is refuted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.claims.joseph2024 import close_pair, exchange
from rankmath.decide.battery import verify_statement
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome

OURS, FOLK = statement("own:lambda-skip-sphere"), statement("folk:lambda-skip")


def test_a_close_pair_shrinks_as_the_proof_says() -> None:
    """tan(θ⁺/2) = (λ − ν)/(λ + s)·tan(θ/2), from the layer itself."""
    for instance in close_pair(np.random.default_rng(0)):
        X = instance.X / np.linalg.norm(instance.X, axis=1, keepdims=True)
        Y = rm.forward(instance.net, X)
        before, after = (abs(M[0, 1] / M[0, 0]) for M in (X, Y))
        delta = 2 * before / math.sqrt(1 + before**2)
        nu = math.tanh(-instance.net.W_QK[0, 0, 0, 0] * delta**2 / 4)
        assert after / before == pytest.approx((3 - nu) / 4, rel=1e-6)


def test_the_limit_is_approached_and_a_better_factor_is_refuted() -> None:
    *_, last = close_pair(np.random.default_rng(0))
    verdict = judge(OURS, last, "balls")
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.certified
    assert verdict.log_lhs - verdict.log_rhs > -1e-6
    formula = (
        "all_l(diameter(X[l+1], 2) >= 1.0001*diameter(X[l], 2)*(abs(skip) - norm(W[l,0], 2)*tanh(norm(W_QK[l,0], 2)"
    )
    formula += "*diameter(X[l], 2)**2/(4*sqrt(d_qk))))/(abs(skip) + norm(W[l,0], 2)))"
    stronger = replace(OURS, key="broken", formula=formula, status="open")
    assert judge(stronger, last, "balls").outcome == Outcome.VIOLATED


def test_close_tokens_refute_the_reading_without_a_spread_at_the_start() -> None:
    [found] = exchange()
    assert judge(FOLK, found, "balls").outcome == Outcome.VIOLATED
    assert judge(OURS, found, "balls").outcome == Outcome.HOLDS
    certificate = FOLK.exhibited()
    assert (certificate.kind, certificate.check().accepted) == ("violates", True)
    # Nearly opposite tokens that attend to each other nearly keep their directions.
    apart = np.asarray([[1.0, 0.125], [-1.0, 0.125]])
    assert rm.verify("folk:lambda-skip", found.net, apart, arithmetic="balls").outcome == Outcome.HOLDS


def test_values_beyond_half_the_skip_are_not_spoken_about() -> None:
    net = rm.Network.from_arrays(np.eye(2)[None, None], 0.6 * np.eye(2)[None, None], skip=1, norm="sphere")
    assert rm.verify(OURS.key, net, np.eye(2), arithmetic="balls").outcome == Outcome.NOT_APPLICABLE


def test_the_battery_holds() -> None:
    assert verify_statement(OURS, instances=60, certify=2, search=0, seed=3).violations == []


def test_without_skip_and_values_nothing_is_claimed() -> None:
    """There the factor would be 0/0, and no token has a direction."""
    net = rm.Network.from_arrays(np.eye(2)[None, None], np.zeros((1, 1, 2, 2)), skip=0, norm="sphere")
    assert r"$\bigl|\lambda\bigr| > 0$" in OURS.premises
    assert rm.verify(OURS.key, net, np.eye(2), arithmetic="balls").outcome == Outcome.NOT_APPLICABLE
