"""own:mask-rate: exact for small masks, equality, the dichotomy, refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement
from rankmath.claims.own_mask_rate import FORGETFUL
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
        assert rm.verify("own:mask-rate", G).outcome != Outcome.VIOLATED
    assert "the mask has self-loops but not all pairs" in statement("own:mask-rate").notes


def test_certified_and_strict_for_five_causal_tokens() -> None:
    verdict = rm.verify("own:mask-rate", np.tril(np.ones((5, 5))), arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    trace = sum(Fraction(1, k) for k in range(1, 6))
    assert verdict.ratio == pytest.approx(float(trace - 1) / (4 * 0.5), rel=1e-12)


def test_multiple_eigenvalues_are_told_apart_by_the_exact_polynomial() -> None:
    """Uniform attention with ½ twice, in a Jordan block, which no enclosure of eigenvalues one by one decides."""
    G = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]])
    verdict = rm.verify("own:mask-rate", G, arithmetic="balls")
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    assert verdict.ratio == pytest.approx(1.25 / (3 * 0.5), rel=1e-12)


def test_refusals() -> None:
    with pytest.raises(rm.InvalidArgument, match=r"^G: n = 1 given"):
        rm.verify("own:mask-rate", [[1.0]])
    assert rm.verify("own:mask-rate", [[1.0, 2.0], [1.0, 0.0]]).outcome == Outcome.NOT_APPLICABLE


def test_one_missing_edge_and_two_layers_to_consensus() -> None:
    """The matrix in exact rationals: its square has equal rows, and a little away from it no power has."""
    P = np.asarray(FORGETFUL, dtype=object)
    assert {*(P @ P).ravel()} == {Fraction(1, 3)}
    assert rm.verify("unstated:mask-dichotomy", P.tolist()).outcome == Outcome.VIOLATED
    moved = P.copy()
    moved[0] = [Fraction(2, 5), Fraction(3, 5), 0]
    assert rm.verify("unstated:mask-dichotomy", moved.tolist()).outcome == Outcome.HOLDS
    assert rm.verify("unstated:mask-dichotomy", [[Fraction(1, 2)] * 2] * 2).outcome == Outcome.NOT_APPLICABLE


def test_symmetric_logits_have_a_real_spectrum_whose_squares_are_the_returns() -> None:
    rng = np.random.default_rng(0)
    K = np.exp(rng.standard_normal((5, 5)))
    K = (K + K.T) / 2
    K[0, 3] = K[3, 0] = 0.0
    values = np.sort_complex(np.linalg.eigvals(K / K.sum(axis=1, keepdims=True)))
    assert np.abs(values.imag).max() < 1e-12
    verdict = rm.verify("own:mask-rate-symmetric", K)
    assert verdict.outcome == Outcome.HOLDS
    assert math.exp(verdict.log_lhs) == pytest.approx(float((values.real[:-1] ** 2).sum()), rel=1e-9)
    assert rm.verify("own:mask-rate-symmetric", [[1.0, 2.0], [1.0, 1.0]]).outcome == Outcome.NOT_APPLICABLE
