"""Position bias: the order of the product, the masks, and the constants, against matrices written out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.verification.verdict import Outcome

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def test_the_last_layer_stands_on_the_left() -> None:
    """Two layers that do not commute: the weights on the second and third token, by hand."""
    first = [[1, 0, 0], [HALF, HALF, 0], [THIRD, THIRD, THIRD]]
    second = [[1, 0, 0], [Fraction(1, 5), Fraction(4, 5), 0], [Fraction(1, 10), Fraction(1, 10), Fraction(8, 10)]]
    P = np.asarray([first, second], dtype=object)
    product = P[1] @ P[0]
    assert max(product[:, 1:].sum(axis=1)) != max((P[0] @ P[1])[:, 1:].sum(axis=1))
    assert rm.verify("own:position-bias", P, 3).outcome == Outcome.HOLDS
    entry = rm.statements()["own:position-bias"]
    found = entry.evaluate(Float64(np.zeros(1)), entry.instance(P, 3)).sides
    assert [side.left for side in found] == [max(product[:, 1:].sum(axis=1)), max(product[:, 2]), 0]
    assert [side.right for side in found] == [Fraction(81, 100), Fraction(64, 100), Fraction(49, 100)]


def test_masks_are_asked_for() -> None:
    causal = [[[1, 0], [HALF, HALF]]]
    full = [[[HALF, HALF], [HALF, HALF]]]
    assert rm.verify("wu2025:4.1", full).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("wu2025:4.1", causal).outcome == Outcome.HOLDS
    assert rm.verify("wu2025:4.3", full, 2).outcome == Outcome.HOLDS
    assert rm.verify("wu2025:4.3", causal, 2).outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("wu2025:4.3", causal, 1).outcome == Outcome.HOLDS
    with pytest.raises(rm.InvalidArgument, match=r"^P: "):
        rm.verify("wu2025:4.1", [[[1, 0], [HALF, THIRD]]])
    with pytest.raises(rm.InvalidArgument, match=r"^w: "):
        rm.verify("own:position-bias", causal, 1)


def test_the_decay_of_one_row_is_that_of_its_softmax() -> None:
    logits, m = np.array([[0.0, 0.0], [np.log(3.0), 0.0]]), np.log(2.0)
    row = np.exp(logits[1] - m * np.array([1, 0]))
    row /= row.sum()
    verdict = rm.verify("wu2025:4.4", [[1, 1], [3, 1]], HALF)
    assert np.exp(verdict.log_lhs) == pytest.approx(max(row[0] * 2, row[1]))
    assert np.exp(verdict.log_rhs) == pytest.approx(3 / 1.5)
    # The first token, which sees itself alone, is left out: with equal logits the constant is below 1.
    equal = rm.verify("wu2025:4.4", [[1, 1], [1, 1]], HALF)
    assert equal.outcome == Outcome.HOLDS
    assert np.exp(equal.log_lhs) == pytest.approx(2 / 3)


def test_a_window_that_has_not_reached_the_first_token_loses_nothing() -> None:
    """One layer of width two among four tokens: all weight of the last may still be behind the second."""
    A = [[1, 0, 0, 0], [HALF, HALF, 0, 0], [0, HALF, HALF, 0], [0, 0, HALF, HALF]]
    verdict = rm.verify("own:position-bias", [A], 2)
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.ratio == 1
