"""Enclosed trajectories of flows: they hold what is integrated, and show where a start ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

import rankmath as rm
from rankmath.arithmetic.balls import Balls
from rankmath.equilibria.flow_proof import NotProved, ends_at
from rankmath.linalg.norms import symmetric_extremes


def at(*angles: float) -> list[list[float]]:
    return [[math.cos(a), math.sin(a)] for a in angles]


SHARP = rm.Flow([[2, 0], [0, 1]], [[0, 1]], [[0, 1]], 4, "causal")


def test_a_start_away_from_a_sink_is_shown_to_end_there() -> None:
    """200 steps, by radii that hold the integrated one; the mirrored sink does not get it."""
    sink, mirrored = (SHARP.certify([[1, 0], [-0.893645, y]]) for y in (0.448774, -0.448774))
    path = SHARP.enclose(at(0.02, 2.65), 5, steps=200)
    true = SHARP.trajectory(at(0.02, 2.65), 5, points=201, tolerance=1e-13).tokens
    assert (np.linalg.norm(path.tokens - true, axis=2) < path.radii).all()
    assert 1e-6 < path.radii[-1].max() < 1e-3
    assert ends_at(path, sink)
    assert not ends_at(path, mirrored)
    assert not sink.attracts(at(0.02, 2.65), 0.1, steps=5)


@pytest.mark.parametrize("normalised", [True, False])
def test_three_tokens_on_the_sphere_stay_in_their_enclosure(normalised: bool) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    flow = rm.Flow(np.round(2 * rng.standard_normal((3, 3))) / 4, beta=1, normalised=normalised)
    path = flow.enclose(X, 0.2, steps=20)
    true = flow.trajectory(X, 0.2, points=21, tolerance=1e-13).tokens
    assert (np.linalg.norm(path.tokens - true, axis=2) < path.radii + 1e-12).all()
    assert path.radii[-1].max() < 3e-2


def test_a_starting_point_within_the_basin_ends_at_the_sink() -> None:
    sink = SHARP.certify([[1, 0], [-0.893645, 0.448774]])
    widths = sink.basin()
    assert (widths > 0).all()
    turn = np.arcsin(0.7 * widths)
    angles = np.arctan2(sink.tokens[:, 1], sink.tokens[:, 0])
    for signs in ((1, 1), (1, -1), (-1, 1)):
        end = SHARP.trajectory(at(*(angles + np.array(signs) * turn)), 40).tokens[-1]
        assert abs(end - sink.tokens).max() < 1e-9
    saddle = next(one for one in SHARP.equilibria(2) if one.kind == "saddle").certify()
    assert not saddle.basin().any()
    assert not saddle.attracts(saddle.tokens, 1, steps=1)


def test_a_start_of_another_number_of_tokens_does_not_end_at_a_sink() -> None:
    sink = SHARP.certify([[-1, 0], [-1, 0]])
    assert sink.attracts([[-1, 0], [-1, 0]], 0.01, steps=5)
    for n in (1, 3):
        with pytest.raises(rm.InvalidArgument, match=rf"^X: {n} tokens given; 2 are needed"):
            sink.attracts([[-1, 0]] * n, 0.01, steps=5)


def test_the_bound_of_eigenvalues_is_one_and_is_tight() -> None:
    rng = np.random.default_rng(0)
    M = rng.standard_normal((5, 5))
    S = M + M.T
    top = np.linalg.eigvalsh(S)[-1]
    assert float(symmetric_extremes(Balls().asarray(S), Balls())[1]) == pytest.approx(top, rel=1e-12)
    wide = Balls().asarray(S) + arb(0, 0.01)
    assert top + 0.01 < float(symmetric_extremes(wide, Balls())[1].upper()) < top + 0.01 * 25


def test_steps_that_are_too_long_are_refused() -> None:
    with pytest.raises(NotProved, match=r"^steps: "):
        SHARP.enclose(at(0.3, 2.0), 20, steps=4)
    with pytest.raises(rm.InvalidArgument, match=r"^time: "):
        SHARP.enclose(at(0.3, 2.0), 0)
