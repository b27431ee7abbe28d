"""own:mask-rate: exact for small masks, equality, the dichotomy, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome


def test_every_mask_on_three_tokens() -> None:
    """All 64 masks with self-loops: the trace is above 1 unless the mask is complete, and the bound holds."""
    places = [(i, j) for i in range(3) for j in range(3) if i != j]
    for bits in product((0, 1), repeat=6):
        G = np.eye(3)
        for (i, j), bit in zip(places, bits, strict=True):
            G[i, j] = bit
        P = G / G.sum(axis=1, keepdims=True)
        excess = float(sum(Fraction(1, int(k)) for k in G.sum(axis=1)) - 1)
        second = np.sort(abs(np.linalg.eigvals(P)))[-2]
        assert (excess > 1e-12) == (not G.all())
        assert excess <= 2 * second + 1e-12
        assert rm.verify("own:mask-rate", G.astype(bool)).outcome != Outcome.VIOLATED


def test_certified_and_strict_for_five_causal_tokens() -> None:
    verdict = rm.verify("own:mask-rate", "causal", 5, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    trace = sum(Fraction(1, k) for k in range(1, 6))
    assert verdict.ratio == pytest.approx(float(trace - 1) / (4 * 0.5), rel=1e-12)


def test_refusals() -> None:
    with pytest.raises(rm.InvalidArgument, match=r"^mask: "):
        rm.verify("own:mask-rate", np.array([[True, True], [True, False]]))
    with pytest.raises(rm.InvalidArgument, match=r"^tokens: "):
        rm.verify("own:mask-rate", "causal", 1)
