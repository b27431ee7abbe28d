"""Phase portraits: the arrays are the dynamics, and the pictures are drawn."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from rankmath.attention.plain import forward
from rankmath.equilibria.constructions import all_ranks, layernorm_equilibrium
from rankmath.equilibria.equilibrium import Equilibrium, escaping, find_equilibria
from rankmath.equilibria.map import layer
from rankmath.equilibria.portraits import Approach, Portrait, portrait_data
from rankmath.model.network import LayerNorm, Network
from rankmath.report.portraits import plot_portrait, portrait_figure, table, write_portrait

pytest.importorskip("matplotlib")


def on_circle(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


@pytest.fixture(scope="module")
def pair() -> Equilibrium:
    return layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)


@pytest.fixture(scope="module")
def portrait(pair: Equilibrium) -> Portrait:
    data = portrait_data(pair, grid=24)
    assert isinstance(data, Portrait)
    return data


# -- what is drawn is true


def test_every_start_ends_at_the_limit_of_its_colour(pair: Equilibrium, portrait: Portrait) -> None:
    first, second = (part.ravel() for part in np.meshgrid(*portrait.axes, indexing="ij"))
    for X in pair.iterate(on_circle(np.stack([first, second], axis=-1)), 2000):
        last = X
    after = np.array(list(pair.iterate(last, 1))[1])
    limits = on_circle(portrait.limits)
    for state, following, label in zip(last, after, portrait.basin.ravel(), strict=True):
        if label >= 0:
            # Either of two successive states may be the first of an orbit of period two.
            assert min(np.abs(state - limits[label]).max(), np.abs(following - limits[label]).max()) < 1e-5


def test_the_equilibria_rest_and_come_with_their_mirror_images(pair: Equilibrium, portrait: Portrait) -> None:
    X = on_circle(portrait.equilibria)
    assert np.allclose(layer(X, *pair.system), X, atol=1e-12)
    for one in X:
        assert (np.abs(X + one).max(axis=(1, 2)) < 1e-7).sum() == 1
    attracting = X[(portrait.escaping == 0) & (portrait.neutral == 0)]
    assert (np.abs(attracting - pair.X).max(axis=(1, 2)) < 1e-7).sum() == 1


def test_mirror_images_have_equal_shares_up_to_the_grid(portrait: Portrait) -> None:
    for k, mirror in enumerate(portrait.mirrors):
        assert mirror == -1 or portrait.mirrors[mirror] == k


def test_the_circle_map_of_two_tokens_has_the_printed_multipliers() -> None:
    # W4.3.1 with w = 5/3: (0, 1), (−3/5, 4/5), (−3/5, −4/5) with multipliers 1/2, 9/5, 1/5.
    data = portrait_data(all_ranks(2, 2, w=Fraction(5, 3))[1], grid=8)
    assert isinstance(data, Portrait)
    places, slopes = data.crossings
    assert np.allclose(on_circle(places), [[0, 1], [-0.6, 0.8], [-0.6, -0.8]], atol=1e-10)
    assert np.allclose(slopes, [1 / 2, 9 / 5, 1 / 5], atol=1e-8)


def test_standard_layernorm_in_three_dimensions_is_a_circle_too() -> None:
    flat = layernorm_equilibrium(2, 3, 2, mask="complete", stable=True, norm="standard")
    data = portrait_data(flat, grid=8)
    assert isinstance(data, Portrait)
    frame = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]]) * np.sqrt(3)
    assert np.allclose(on_circle(data.rest) @ frame, flat.X, atol=1e-12)


def test_of_three_tokens_two_move_through_the_equilibrium() -> None:
    three = layernorm_equilibrium(3, 2, 2, mask="complete", stable=True)
    data = portrait_data(three, grid=6)
    assert isinstance(data, Portrait)
    assert data.moving == (1, 2)
    assert np.allclose(on_circle(data.rest), three.X)


def test_starts_in_the_proved_ball_come_nearer() -> None:
    four = layernorm_equilibrium(4, 4, 4, mask="complete", stable=True)
    proof = four.certify()
    assert proof.attraction is not None
    data = portrait_data(four, ball=proof.attraction.ball)
    assert isinstance(data, Approach)
    assert data.proved
    assert (data.distances[:, 0] <= proof.attraction.ball * (1 + 1e-9)).all()
    assert (data.distances[:, -1] < 1e-13).all()
    assert np.allclose(data.singular_values, np.linalg.svd(four.X, compute_uv=False))


# -- equilibria of a network


def test_equilibria_of_a_network_rest_under_its_forward_pass() -> None:
    net = Network.random(tokens=3, dim=2, norm="sphere", mask="causal", scale=3.0, seed=0)
    found = find_equilibria(net, 60)
    assert found
    for one in found:
        assert np.allclose(forward(net, one.X), one.X, atol=1e-12)
        outside, on = escaping(one)
        assert (outside > 0) == (one.spectral_radius > 1 + 1e-6)
        assert on >= 0


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"layers": 2}, "net"),
        ({"heads": 2}, "net"),
        ({"skip": True}, "net"),
        ({"mlp": "relu"}, "net"),
        ({"biases": True}, "net"),
        ({"norm": None}, "net"),
        ({"norm": "column"}, "net"),
        ({"norm": "standard"}, "net"),
    ],
)
def test_other_networks_are_refused(change: dict[str, object], name: str) -> None:
    net = Network.random(**{"tokens": 2, "dim": 2, "norm": "sphere", **change})
    with pytest.raises(ValueError, match=rf"^{name}: "):
        portrait_data(net)


def test_bad_arguments_are_named(pair: Equilibrium) -> None:
    for change, name in [
        ({"grid": 0}, "grid"),
        ({"grid": 10**20}, "grid"),
        ({"steps": 1.5}, "steps"),
        ({"tolerance": -1}, "tolerance"),
    ]:
        with pytest.raises(ValueError, match=rf"^{name}: "):
            portrait_data(pair, **change)
    with pytest.raises(ValueError, match=r"^net: a str"):
        portrait_data("causal")
    with pytest.raises(ValueError, match=r"^starts: "):
        find_equilibria(pair, np.ones((2, 3, 2)))
    with pytest.raises(ValueError, match=r"^starts: "):
        find_equilibria(pair, 0)
    with pytest.raises(ValueError, match=r"^ball: "):
        portrait_data(layernorm_equilibrium(3, 3, 3), ball=0)


# -- files


@pytest.mark.parametrize(
    ("net", "panels"),
    [
        (layernorm_equilibrium(2, 2, 2, mask="complete", stable=True), 2),
        (all_ranks(2, 2)[1], 3),
        (Network.random(tokens=1, dim=2, norm="sphere"), 3),
        (Network.random(tokens=2, dim=3, norm=LayerNorm("standard", eps=0.0), scale=3.0), 2),
        (layernorm_equilibrium(3, 3, 2, mask="star"), 2),
    ],
)
def test_pictures_and_numbers_are_written(net: object, panels: int, tmp_path: Path) -> None:
    data = portrait_data(net, grid=6, steps=300)
    figure = portrait_figure(data)
    assert len(figure.panels) == panels
    assert all(panel.alt for panel in figure.panels)
    plot_portrait(data, tmp_path / "portrait.png")
    assert (tmp_path / "portrait.png").read_bytes().startswith(b"\x89PNG")
    lines = write_portrait(data, tmp_path / "portrait.csv").read_text().splitlines()
    assert lines[0] == ",".join(table(data).columns)
    assert len(lines) == 1 + len(table(data).rows)
    with pytest.raises(ValueError, match=r"^plot: "):
        plot_portrait(data, tmp_path / "portrait.word")


def test_starts_outside_the_proved_set_are_said_to_be() -> None:
    """A set of starts that doubles do not tell from the equilibrium is not the one that is drawn."""
    found = layernorm_equilibrium(3, 3, 2, mask="complete", stable=True)
    proof = found.certify(stable=True)
    assert proof.contraction is not None
    data = portrait_data(found, ball=float(proof.contraction.radius))
    assert (data.ball, data.proved) == (1e-3, False)
    assert data.within == float(proof.contraction.radius)
    figure = portrait_figure(data)
    assert "it is proved within" in figure.caption
    near = portrait_data(found, ball=1e-3)
    assert (near.proved, near.within) == (True, 0.0)
