"""folk:affine-rank: three tokens on a line, by LayerNorm itself; what is kept; refusals."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims.folk_affine_rank import LINE
from rankmath.verification.verdict import Outcome


def layernorm(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


def affine_rank(X: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(X[1:] - X[:1], tol=1e-9))


def test_three_tokens_leave_their_line() -> None:
    X = np.asarray(LINE, dtype=float)
    assert (affine_rank(X), affine_rank(layernorm(X))) == (1, 2)
    verdict = rm.verify("folk:affine-rank", LINE, [1, 2, 1])
    assert (verdict.outcome, verdict.certified) == (Outcome.VIOLATED, True)
    assert "affine rank 1 before, 2 after" in verdict.reason


def test_tokens_of_one_deviation_keep_it_and_the_rank_of_centred_tokens_is_kept() -> None:
    assert rm.verify("folk:affine-rank", [[1, -1, 0], [0, 1, -1], [1, 0, -1]], [1, 1, 1]).outcome == Outcome.HOLDS
    X = np.random.default_rng(2).standard_normal((5, 2)) @ np.random.default_rng(3).standard_normal((2, 6))
    centred = X - X.mean(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(layernorm(X)) == np.linalg.matrix_rank(centred) == 2


@pytest.mark.parametrize(("X", "s", "name"), [([[1, 2, 3]], [1], "X"), ([[1, 0, 2], [1, 2, 3]], [1, -1], "s")])
def test_refusals(X: list[list[int]], s: list[int], name: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=f"^{name}: "):
        rm.verify("folk:affine-rank", X, s)


@pytest.mark.parametrize("X", [[[1, 1, 1], [1, 2, 3]], [[1, -1, 0], [1, 1, -3]]])
def test_factors_of_other_tokens_say_nothing(X: list[list[int]]) -> None:
    assert rm.verify("folk:affine-rank", X, [1, 1]).outcome == Outcome.NOT_APPLICABLE
