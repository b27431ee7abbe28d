"""ContraNorm: the step on singular values is the step on matrices, and each threshold is where it should be."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.linalg.metrics import effective_rank
from rankmath.verification.verdict import Outcome


def test_the_step_on_singular_values_is_the_step_on_the_matrix() -> None:
    rng = np.random.default_rng(0)
    H = rng.standard_normal((4, 3)) * 0.4
    sigma, s = np.linalg.svd(H, compute_uv=False), 0.7
    verdict = rm.verify("contranorm2023:2", sigma, s)
    after = (1 + s) * H - s * H @ H.T @ H
    assert verdict.log_lhs == pytest.approx(np.log(float(effective_rank(H))))
    assert verdict.log_rhs == pytest.approx(np.log(float(effective_rank(after))))


def test_the_condition_is_the_right_one() -> None:
    """s = 1 and two close singular values: raised below the threshold σ_max = 1, lowered above it."""
    assert rm.verify("own:contranorm", [0.999, 0.99], 1.0, arithmetic="balls").outcome == Outcome.HOLDS
    assert rm.verify("contranorm2023:2", [1.01, 1.009], 1.0, arithmetic="balls").outcome == Outcome.VIOLATED
    assert rm.verify("own:contranorm", [1.01, 1.009], 1.0).outcome == Outcome.NOT_APPLICABLE


def test_multiplicities_do_no_harm() -> None:
    """Many equal singular values and one apart: where majorisation fails, the entropy still grows."""
    for few in (0.3, 0.8, 0.97):
        for sigma in ([1.0] * 30 + [few], [few] * 30 + [1.0]):
            assert rm.verify("own:contranorm", sigma, 1.0 - 1e-9, arithmetic="balls").outcome == Outcome.HOLDS


def test_every_condition_is_asked_for() -> None:
    assert rm.verify("contranorm2023:2", [1.5, 0.5], 1.0).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("own:contranorm", [1.1, 0.5, 0.4], 1.0).outcome == Outcome.NOT_APPLICABLE
    with pytest.raises(rm.InvalidArgument, match=r"^sigma: "):
        rm.verify("own:contranorm", [0.9, 0.0], 1.0)
