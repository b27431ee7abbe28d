"""noci2022:zero-grad and own:zero-grad: the derivative against complex steps, and Grüss's constant."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.claims.noci2022 import draw_gradients
from rankmath.verification.verdict import Outcome


def attended(Z: np.ndarray, M: np.ndarray, V: np.ndarray) -> np.ndarray:
    weights = np.exp(Z @ M @ Z.T)
    return weights / weights.sum(axis=1, keepdims=True) @ Z @ V


def test_the_derivative_is_the_complex_step() -> None:
    entry, batch = statement("own:zero-grad"), draw_gradients(np.random.default_rng(3), 12)
    for k in range(12):
        one = batch.select(k)
        Z, M, V, G = (one[name] / 4 for name in "ZMVG")
        at = type(one)({"Z": Z, "M": M, "V": V, "G": G})
        moved = attended(Z, M + 1e-30j * G, V).imag / 1e-30
        sides = entry.evaluate(Float64(np.zeros(1)), at).sides
        found = [math.exp(float(side.left.log)) for side in sides]
        assert found == pytest.approx(np.linalg.norm(moved, axis=1), rel=1e-9)


def test_a_smaller_constant_is_refuted_by_two_tokens_and_certified() -> None:
    """At ±1 with even attention the derivative is exactly 1 = Δ·osc/4: with 4.001 in place of 4 it fails."""
    two = [[1.0], [-1.0]], [[1e-6]], [[1.0]], [[1.0]]
    verdict = rm.verify("own:zero-grad", *two, arithmetic="balls")
    assert verdict.outcome == Outcome.HOLDS
    assert 1 - 1e-6 < verdict.ratio < 1
    assert rm.certify("own:zero-grad", *two).check().accepted


def test_equal_tokens_are_exactly_still_and_others_are_not_spoken_about() -> None:
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal((2, 2)) for _ in range(3)]
    equal = rm.verify("noci2022:zero-grad", np.full((4, 2), 0.3), *weights, arithmetic="balls")
    assert (equal.outcome, equal.certified) == (Outcome.HOLDS, True)
    other = rm.verify("noci2022:zero-grad", rng.standard_normal((4, 2)), *weights, arithmetic="balls")
    assert other.outcome == Outcome.NOT_APPLICABLE
