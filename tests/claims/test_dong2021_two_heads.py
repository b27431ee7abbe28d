"""Two heads against the bound: the closed forms are what the layers written out measure."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rankmath.attention.plain import forward
from rankmath.claims.dong2021_two_heads import FourKeys, TwoHeads
from rankmath.linalg.norms import composite
from rankmath.linalg.residuals import residual
from rankmath.validation import InvalidArgument


@pytest.mark.parametrize(("side", "logit"), [(1, Fraction(1, 2)), (2, Fraction(1, 8)), (5, Fraction(3, 4))])
def test_two_heads_double_what_one_may_do(side: int, logit: Fraction) -> None:
    """‖res(X¹)‖ over the bound 4·2·w‖res(X)‖³, γ = 1 and both heads of norm 1: its square, in closed form."""
    heads = TwoHeads(side, logit)
    net, X = heads.network(), heads.input()
    assert all(composite(W) == pytest.approx(1.0) for W in net.W[0])
    assert composite(net.W[0].sum(axis=0)) == pytest.approx((side + 1) / math.sqrt(side))
    out = forward(net, X)
    ratio = residual(out, norm="composite").value / (8 * float(logit) * residual(X, norm="composite").value ** 3)
    square = heads.square(float, lambda x: math.exp(float(x)))
    assert ratio == pytest.approx(math.sqrt(square), rel=1e-9)


def test_four_keys_swing_by_twice_their_gain() -> None:
    """Both heads have norm 1 at most; the query's logits swing by 2 gain; a row (x, …, x, x + 2) leaves."""
    keys = FourKeys(columns=4, entry=Fraction(1, 2), idle=2, gain=Fraction(1, 8), key_logit=Fraction(3))
    net, X = keys.network(), keys.input()
    assert [composite(W) for W in net.W[0]] == pytest.approx([1.0, 1.0])
    logits = (X @ net.W_QK[0, 0] @ X.T)[0]
    assert np.ptp(logits) == 2 * float(keys.gain)
    # Shares that change by a, a, −a, −a against keys e, e, −e, −e add up in the first coordinate.
    row = np.array([1.0, 1.0, -1.0, -1.0]) @ X[1:5] @ net.W[0].sum(axis=0)
    assert row.tolist() == [2.5, *[0.5] * 15]


def test_what_would_break_the_hypotheses_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="entry: 3/5 given; at most 1/√columns"):
        FourKeys(4, Fraction(3, 5), 0, Fraction(1, 8), Fraction(1))
    with pytest.raises(InvalidArgument, match="gain: 1 given; at most 5/8"):
        FourKeys(4, Fraction(1, 2), 0, Fraction(1), Fraction(1))
    with pytest.raises(InvalidArgument, match="side: 2000 given; weights are written out"):
        TwoHeads(2000, Fraction(1)).network()
