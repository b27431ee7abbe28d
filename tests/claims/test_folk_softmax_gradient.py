"""The derivative of softmax: the formula is the derivative, and 1/2 is attained."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return np.asarray(e / e.sum())


def test_the_slope_is_the_norm_of_finite_differences() -> None:
    c, T, h = np.array([0.3, -1.0, 0.8, 0.1]), 0.7, 1e-5
    J = [(softmax((c + h * e) / T) - softmax((c - h * e) / T)) / (2 * h) for e in np.eye(4)]
    verdict = rm.verify("own:softmax-gradient", c, T)
    assert verdict.log_lhs == pytest.approx(np.log(np.linalg.norm(J, 2)), abs=1e-8)
    assert verdict.log_rhs == pytest.approx(-np.log(2 * T))


def test_two_equal_logits_attain_it_and_refute_the_half_of_it() -> None:
    assert rm.verify("own:softmax-gradient", [0.0, 0.0], 2.0, arithmetic="balls", bits=128).outcome == Outcome.UNDECIDED
    verdict = rm.verify("folk:softmax-gradient", [0.0, 0.0], 2.0, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert verdict.ratio == pytest.approx(2)
    third = [rm.verify("own:softmax-gradient", [0.0, 0.0, c], 1.0, arithmetic="balls") for c in (-1.0, -9.0, 0.0)]
    assert [one.outcome for one in third] == [Outcome.HOLDS] * 3
    assert 0.999 < third[1].ratio < 1
    with pytest.raises(rm.InvalidArgument, match=r"^T: 0.0 given; > 0 is needed"):
        rm.verify("own:softmax-gradient", [0.0, 0.0], 0.0)
