"""Real weights, where a folder with them is named (RANKMATH_MODELS): never committed, never downloaded by a
test.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from real_weights import PLACES, found, given, states

import rankmath as rm

FOLDER = os.environ.get("RANKMATH_MODELS")
DIGITS = json.loads((Path(__file__).parent / "real_digits.json").read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FOLDER is None, reason="RANKMATH_MODELS names no folder with weights"),
]


def place_of(name: str) -> Path:
    place = found(Path(str(FOLDER)), name)
    if place is None:
        pytest.skip(f"{PLACES[name][0]} is not in RANKMATH_MODELS")
    return place


@pytest.mark.parametrize("name", PLACES)
def test_hidden_states_have_the_digits_of_an_independent_run(name: str) -> None:
    model = rm.load_model(place_of(name), part=PLACES[name][1])
    ours = rm.hidden_states(model.network, model.embed(given(name)))
    assert len(ours) == len(DIGITS[name])
    for X, digits in zip(ours, DIGITS[name], strict=True):
        picked = X[[0, len(X) // 2, -1], :4]
        assert np.abs(picked - np.asarray(digits["entries"])).max() < 1e-10
        assert np.linalg.norm(X) == pytest.approx(digits["norm"], rel=1e-12)


@pytest.mark.parametrize("name", PLACES)
def test_hidden_states_are_those_of_transformers(name: str) -> None:
    pytest.importorskip("transformers", reason="transformers and torch are no dependency; install them to compare")
    model = rm.load_model(place_of(name), part=PLACES[name][1])
    ours = rm.hidden_states(model.network, model.embed(given(name)))
    theirs = states(Path(str(FOLDER)), name)
    assert [X.shape for X in ours] == [X.shape for X in theirs]
    assert max(np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)) < 1e-10


def test_attention_alone_of_a_trained_model_collapses_doubly_exponentially() -> None:
    model = rm.load_model(place_of("minilm"))
    X = model.embed(model.random_ids(64, seed=0))
    trace = rm.trace(model.variant("san").network, X)
    assert trace.log_residual[6] < -300
    assert trace.order[-1] == pytest.approx(3, abs=0.1)
    # The plain pass stops at the rounding of the mean.
    last = rm.hidden_states(model.variant("san").network, X)[-1]
    assert np.log(np.linalg.norm(last - last.mean(axis=0))) > -40
