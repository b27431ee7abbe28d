"""shi2022:layernorm and own:layernorm: equality for two tokens, and which bound is the closer one."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.claims.shi2022 import draw_rows, one_length
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome


def test_ours_is_the_closer_one() -> None:
    printed, ours = statement("shi2022:layernorm"), statement("own:layernorm")
    batch = draw_rows(np.random.default_rng(4), 20)
    for k in range(20):
        first, second = (judge(entry, batch.select(k), "float64") for entry in (printed, ours))
        assert second.log_lhs == pytest.approx(2 * first.log_lhs, abs=1e-9)
        assert second.log_rhs < 2 * first.log_rhs


def test_for_two_tokens_ours_is_an_equality_that_nothing_decides() -> None:
    verdict = rm.verify("own:layernorm", [[3.0, 1.0], [-1.0, 0.5]], arithmetic="balls", bits=256)
    assert verdict.outcome == Outcome.UNDECIDED
    assert verdict.log_lhs == pytest.approx(verdict.log_rhs, abs=1e-14)


def test_tokens_of_one_length_attain_both() -> None:
    *_, last = one_length(np.random.default_rng(0))
    for key in ("shi2022:layernorm", "own:layernorm"):
        verdict = judge(statement(key), last, "balls")
        assert verdict.outcome == Outcome.HOLDS
        assert 1 - 1e-6 < verdict.ratio < 1


def test_a_zero_token_is_refused() -> None:
    with pytest.raises(rm.InvalidArgument, match=r"^Y: "):
        rm.verify("own:layernorm", [[0.0, 0.0], [1.0, 0.0]])
