"""own:stable-causal: the family is closed, its range is sharp, and what is handed over is checked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rankmath.claims import statement
from rankmath.decide.battery import verify
from rankmath.equilibria.wu2024 import stable_causal_example
from rankmath.validation import InvalidArgument
from rankmath.verification.verdict import Outcome

HALF = Fraction(1, 2)


def test_the_tokens_rest_and_a_push_dies_out() -> None:
    """a = ½, w = 1: the layer written out by hand brings tokens nearby back at the rate of its eigenvalues."""
    X, W_V, _ = stable_causal_example().equilibrium.floats()
    assert np.allclose(X, [[0, 1], [-0.6, -0.8]])

    def layer(Y: np.ndarray) -> np.ndarray:
        Z = np.array([Y[0], (Y[0] + Y[1]) / 2]) @ W_V
        return Z / np.linalg.norm(Z, axis=1, keepdims=True)

    assert np.allclose(layer(X), X, atol=1e-15)
    far = X + np.array([[1e-3, 0.0], [0.0, 1e-3]])
    far = far / np.linalg.norm(far, axis=1, keepdims=True)
    for _ in range(8):
        near = layer(far)
        assert np.linalg.norm(near - X) < 0.9 * np.linalg.norm(far - X)
        far = near


@pytest.mark.parametrize("dim", [2, 3])
def test_it_holds_by_exact_algebra_inside_its_range(dim: int) -> None:
    verdict = verify("own:stable-causal", [HALF, 1, Fraction(1, 4)], dim)
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)


@pytest.mark.parametrize(("a", "w", "c", "dim"), [(HALF, HALF, Fraction(1, 4), 2), (HALF, 1, HALF, 3), (1, 2, HALF, 2)])
def test_outside_its_range_it_says_nothing(a: Fraction, w: Fraction, c: Fraction, dim: int) -> None:
    """w² ≤ a(2 − a), c = a, a = 1: the first has no such equilibrium, the others an eigenvalue 1."""
    assert verify("own:stable-causal", [a, w, c], dim).outcome == Outcome.NOT_APPLICABLE


def test_what_is_handed_over_is_checked() -> None:
    with pytest.raises(InvalidArgument, match="dim: 1 given"):
        statement("own:stable-causal").instance([HALF, 1, Fraction(1, 4)], 1)
    with pytest.raises(InvalidArgument, match="parameters: "):
        statement("own:stable-causal").instance([HALF, 1], 2)
