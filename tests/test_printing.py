"""Public objects say in at most ten lines what a person wants, and hand over plain data and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import rankmath as rm
from rankmath.printing import MOST_LINES

NET = rm.Network.random(tokens=32, dim=16, heads=4, layers=12, seed=0)
X = NET.random_input(seed=1)
GROWS = rm.Network.random(tokens=16, dim=8, layers=8, seed=0, mask="causal", biases=True, skip=2.0)
SMALL = rm.Network.random(tokens=4, dim=2, layers=2, seed=0, skip=1.0)

OBJECTS: dict[str, Callable[[], Any]] = {
    "network": lambda: NET,
    "many kinds of layers": lambda: rm.Network.from_layers(
        [[rm.Network.random(4, 3, seed=l, skip=l / 10).sublayers[0][0]] for l in range(20)]
    ),
    "trace": lambda: rm.trace(NET, X),
    "trace that grows": lambda: rm.trace(GROWS, GROWS.random_input(seed=1)),
    "trace of a batch": lambda: rm.trace(NET, np.stack([X, 2 * X])),
    "path sums": lambda: rm.path_sums(NET, X),
    "limit": lambda: rm.limit(rm.layernorm_equilibrium(4, 3, 2).network, np.eye(4)[:, :3] + 1),
    "decay": lambda: rm.decay(SMALL, SMALL.random_input(seed=1, scale=0.01)),
    "equilibrium": lambda: rm.layernorm_equilibrium(tokens=12, dim=9, rank=2),
    "proof": lambda: rm.layernorm_equilibrium(tokens=3, dim=3, rank=2).certify(),
    "bound": lambda: rm.bound("own:diameter"),
    "battery": lambda: rm.verify_statement("own:tv", instances=20, certify=2, search=5),
    "refuted": lambda: rm.verify_statement("dong2021v1:A.3", instances=20, certify=2, search=5),
    "certificate": lambda: rm.verify_statement("dong2021v1:A.3", instances=5).certificates[0],
    "verdict": lambda: rm.verify("own:diameter", NET, X),
    "statement": lambda: rm.statements()["own:diameter"],
    "statements": rm.statements,
    "check": lambda: rm.verify_statement("dong2021v1:A.3", instances=5).certificates[0].check(),
    "long check": lambda: rm.layernorm_equilibrium(tokens=3, dim=3, rank=2).certify().certificate().check(),
    "residual": lambda: rm.residual(X, "inf"),
    "exact residual": lambda: rm.exact_residual_bounds(X[:4, :3], "composite"),
    "bounds for a network": lambda: rm.bounds_for(NET, X, ["own:diameter", "wu2024:1"]),
}


@cache
def made(name: str) -> Any:
    return OBJECTS[name]()


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_prints_in_ten_lines_and_as_html(name: str) -> None:
    thing = made(name)
    for text in (repr(thing), str(thing)):
        lines = text.splitlines()
        assert 1 <= len(lines) <= MOST_LINES
        assert all(len(line) <= 400 for line in lines)
        assert "array(" not in text
    if hasattr(thing, "_repr_html_"):
        assert "array(" not in thing._repr_html_()
    if hasattr(thing, "to_dict"):
        json.dumps(thing.to_dict(), allow_nan=False)


def test_a_network_names_its_shape_and_switches() -> None:
    shown = repr(GROWS)
    assert shown.splitlines()[:2] == [
        "Network: 8 layers, 1 head, dimension 8, 16 tokens",
        "  each layer: attention (causal mask, d_qk = 8, biases) + skip × 2",
    ]
    norm = max(np.linalg.norm(GROWS.W[l, 0], 2) for l in range(8))
    assert f"‖W‖₂ ≤ {norm:.4g}" in shown


def test_a_trace_is_a_table_by_layer_whose_numbers_are_its_own() -> None:
    trace = rm.trace(NET, X)
    last = repr(trace).splitlines()[-1].split()
    assert (int(last[0]), float(last[1])) == (12, float(f"{trace.log_residual[12]:.8g}"))
    rows = trace.to_dict()["layers"]
    assert [row["log_residual"] for row in rows] == trace.log_residual.tolist()
    assert rows[8]["order"] == trace.order[7]
    assert rows[1]["order"] is None, "the residual is not below 1 yet"


def test_a_trace_that_grows_has_no_orders_and_is_drawn_all_the_same() -> None:
    trace = rm.trace(GROWS, GROWS.random_input(seed=1))
    assert not trace.decays.any()
    assert "order" not in repr(trace)
    axes = trace.plot()
    (line,) = axes.get_lines()
    assert np.allclose(line.get_ydata(), trace.log_residual / np.log(10))
    assert "log_{10}" in axes.get_ylabel()


def test_a_collapse_is_drawn_doubly_logarithmic() -> None:
    trace = rm.trace(NET, X)
    (line,) = trace.plot().get_lines()
    known = np.isfinite(trace.log_log_residual)
    assert np.array_equal(line.get_xdata(), np.flatnonzero(known))
    assert np.array_equal(line.get_ydata(), trace.log_log_residual[known])
    (note,) = line.axes.texts
    assert note.get_text() == "not shown: residual 1 or more at layer 0, 1, 2"


def test_no_residual_at_all_is_said_on_the_picture() -> None:
    still = rm.trace(SMALL, np.zeros((4, 2)))
    axes = still.plot()
    assert "zero at every layer" in axes.get_title()


@pytest.mark.parametrize("name", ["path sums", "equilibrium", "battery", "refuted", "limit"])
def test_pictures_are_axes_with_something_on_them(name: str) -> None:
    axes = made(name).plot()
    assert axes.get_lines() or axes.patches or axes.collections
    assert axes.get_title()
    assert axes.get_xlabel()


def test_path_sums_count_their_paths() -> None:
    rows = rm.path_sums(SMALL, SMALL.random_input(seed=1)).to_dict()["lengths"]
    assert [row["paths"] for row in rows] == rm.path_counts(2, 1)
