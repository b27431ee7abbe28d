"""The maps in balls, over boxes: every member's image and derivative is held, by differences of the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb_mat

from rankmath.arithmetic.balls import precision
from rankmath.equilibria.balls import BallMap, box, exact_matrix, middle_floats
from rankmath.equilibria.blocks import Block, _BallBlock
from rankmath.linalg.masks import Mask
from rankmath.validation import Floats

COUNTS = {
    "complete": np.ones((3, 3), int),
    "causal": np.tril(np.ones((3, 3), int)),
    "blind": np.array([[0, 1, 0], [1, 0, 1], [1, 1, 0]]),  # no token sees itself
    "clusters": np.array([[2, 1, 3], [0, 1, 3], [2, 0, 1]]),
}


def defined(
    X: Floats, heads: Any, counts: Any, norm: str, skip: float = 0.0, up: Any = None, down: Any = None
) -> Floats:
    """One layer, from the definition, a token at a time."""
    rows = []
    for i in range(len(X)):
        y = skip * X[i]
        for W_V, W in heads:
            e = np.array([counts[i][j] * np.exp(X[i] @ W @ X[j]) for j in range(len(X))])
            y = y + e / e.sum() @ X @ W_V
        if up is not None:
            hidden = y @ up
            y = y + hidden / (1 + np.exp(-hidden)) @ down
        if norm == "standard":
            y = y - y.mean()
        rows.append(y / np.linalg.norm(y) * (np.sqrt(X.shape[1]) if norm == "standard" else 1))
    return np.array(rows)


def slopes(f: Any, X: Floats) -> Floats:
    """Central differences, on row-stacked tokens."""
    columns = []
    for place in np.ndindex(X.shape):
        step = np.zeros(X.shape)
        step[place] = 1e-6
        columns.append(((f(X + step) - f(X - step)) / 2e-6).ravel())
    return np.array(columns).T


def held(M: arb_mat, values: Floats, slack: float) -> bool:
    flat = zip(M.entries(), values.ravel().tolist(), strict=True)
    return all(float(x.mid()) - float(x.rad()) - slack <= v <= float(x.mid()) + float(x.rad()) + slack for x, v in flat)


def members(X: Floats, width: float) -> list[Floats]:
    rng = np.random.default_rng(1)
    return [X, *(X + width * rng.choice([-1, 1], X.shape) for _ in range(2))]


@pytest.mark.parametrize("norm", ["sphere", "standard"])
@pytest.mark.parametrize("mask", COUNTS)
@pytest.mark.parametrize("order", [None, (1, 2, 0)])
def test_images_and_derivatives_of_a_layer(norm: str, mask: str, order: Any) -> None:
    rng = np.random.default_rng(0)
    W_V, W, X = rng.standard_normal((3, 3)), rng.standard_normal((3, 3)) / 2, rng.standard_normal((3, 3))
    counts = COUNTS[mask]

    def f(Y: Floats) -> Floats:
        image = defined(Y, [(W_V, W)], counts, norm)
        back = np.empty_like(image)
        back[list(order or range(3))] = image  # G(X)[order] = F(X)
        return back

    F = BallMap(exact_matrix(W_V), exact_matrix(W), counts.tolist(), norm, order)
    with precision(80):
        for width in (0.0, 1e-4):
            wide = box(exact_matrix(X), list(exact_matrix(np.full((1, 9), width)).entries()))
            images, J = F.layer(wide), F.jacobian(wide)
            for member in members(X, width):
                assert held(images, f(member), 1e-12)
                assert held(J, slopes(f, member), 1e-6)
        assert np.abs(middle_floats(F.layer(exact_matrix(X))) - f(X)).max() < 1e-12
        assert np.abs(middle_floats(F.jacobian(exact_matrix(X))) - slopes(f, X)).max() < 1e-6


@pytest.mark.parametrize("norm", ["sphere", "standard"])
@pytest.mark.parametrize("mask", COUNTS)
def test_the_factors_are_those_of_the_derivative(norm: str, mask: str) -> None:
    rng = np.random.default_rng(2)
    W_V, W, X = rng.standard_normal((3, 3)), rng.standard_normal((3, 3)) / 2, rng.standard_normal((3, 3))
    counts = COUNTS[mask]
    F = BallMap(exact_matrix(W_V), exact_matrix(W), counts.tolist(), norm)
    with precision(80):
        for width in (0.0, 1e-4):
            wide = box(exact_matrix(X), list(exact_matrix(np.full((1, 9), width)).entries()))
            images, found = F.layer_at(wide), list(F.factors(wide))
            for member in members(X, width):
                assert held(images, defined(member, [(W_V, W)], counts, norm), 1e-12)
                J = slopes(lambda Y: defined(Y, [(W_V, W)], counts, norm), member)
                for one in found:
                    for k in range(3):
                        block = J[3 * one.i : 3 * one.i + 3, 3 * k : 3 * k + 3].T
                        if k == one.i:
                            assert held(one.own, block, 1e-6)
                        elif k in one.seen:
                            assert held(one.block(one.seen.index(k)), block, 1e-6)
                        else:
                            assert np.abs(block).max() < 1e-9


@pytest.mark.parametrize("norm", ["sphere", "standard"])
@pytest.mark.parametrize("mask", ["complete", "causal", "blind"])
@pytest.mark.parametrize("mlp", [False, True])
def test_images_and_derivatives_of_a_block(norm: str, mask: str, mlp: bool) -> None:
    rng = np.random.default_rng(3)
    heads = [(rng.standard_normal((3, 3)), rng.standard_normal((3, 3)) / 2) for _ in range(2)]
    up, down = (
        (rng.standard_normal((3, 4)), rng.standard_normal((4, 3))) if mlp else (np.zeros((3, 1)), np.zeros((1, 3)))
    )
    counts, X = COUNTS[mask], rng.standard_normal((3, 3))
    block = Block(
        [V for V, _ in heads], [W for _, W in heads], Mask(counts > 0), skip=0.75, up=up, down=down, norm=norm
    )

    def f(Y: Floats) -> Floats:
        return defined(Y, heads, counts, norm, 0.75, up, down)

    assert np.abs(block.step(X) - f(X)).max() < 1e-12
    F = _BallBlock(block)
    with precision(80):
        for width in (0.0, 1e-4):
            wide = box(exact_matrix(X), list(exact_matrix(np.full((1, 9), width)).entries()))
            images, J = F.layer(wide), F.jacobian(wide)
            for member in members(X, width):
                assert held(images, f(member), 1e-12)
                assert held(J, slopes(f, member), 1e-6)
        assert np.abs(middle_floats(F.jacobian(exact_matrix(X))) - slopes(f, X)).max() < 1e-6
