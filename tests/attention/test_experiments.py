"""The experiments of the papers, small: what must hold of their numbers whatever the seed."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import pytest

import rankmath as rm
from rankmath.attention.experiments.dong import (
    RADIUS,
    TASKS,
    _sampled,
    arcs,
    embedded,
    logits,
    on_hull,
    task_data,
    term_accuracy,
)
from rankmath.attention.experiments.findings import Findings
from rankmath.attention.experiments.gradients import Var, as_network, initial_layers
from rankmath.attention.experiments.registry import EXPERIMENTS, run
from rankmath.cli import main

SMALL = {
    "dong-fig2": ["layers=4", "dim=24", "heads=2", "tokens=8"],
    "dong-circle": ["widths=8", "steps=20", "points=40", "length=12"],
    "dong-paths": ["layers=3", "dim=12", "heads=2", "tokens=6", "samples=5"],
    "dong-effectiveness": ["layers=2", "dim=12", "count=6", "steps=5"],
    "wu-fig2": ["layers=6", "dim=12", "tokens=6"],
    "wu-temperature": ["layers=6", "dim=12", "tokens=6"],
    "wu-ranks": ["layers=6", "dim=12", "tokens=6"],
}


@cache
def small(name: str) -> tuple[Findings, list[str]]:
    """An experiment at a small size, and the words of its progress."""
    heard: list[str] = []
    return run(name, SMALL[name], progress=heard.append), heard


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_runs_is_reproducible_and_speaks_json(name: str) -> None:
    first, again, other = small(name)[0], run(name, SMALL[name]), run(name, SMALL[name], seed=1)
    assert first.as_json() == again.as_json() != other.as_json()
    assert json.loads(json.dumps(first.as_json()))["experiment"] == name
    assert first.findings
    assert {curve.panel for curve in first.curves} == set(first.axes)


def test_sizes_are_typed_and_refused_by_name() -> None:
    assert run("wu-temperature", ["layers=2", "temperatures=1,4", "dim=4"]).settings["temperatures"] == [1.0, 4.0]
    for change, words in (
        ("depth=3", r"--set: 'depth=3' given; wu-fig2 has tokens, dim"),
        ("layers=many", "a int is needed, such as 128"),
        ("dim=63", "it must be a multiple of the 2 heads"),
    ):
        with pytest.raises(rm.InvalidArgument, match=words):
            run("wu-fig2", [change])
    with pytest.raises(rm.InvalidArgument, match="experiment: 'wu-fig3' given; allowed are 'dong-fig2'"):
        run("wu-fig3")
    with pytest.raises(rm.InvalidArgument, match="--model: given; wu-fig2 takes none"):
        run("wu-fig2", model="x")


def test_fig2_attention_without_skips_collapses_and_with_skips_does_not() -> None:
    found = run("dong-fig2", ["layers=6", "dim=48", "heads=4", "tokens=12"])
    last = {name: found.curve("at initialisation", name).y for name in ("dong:san", "dong:san+skip", "dong:full")}
    assert last["dong:san"][-1] < -300
    # Order three: the logarithm triples.
    assert last["dong:san"][-1] / last["dong:san"][-2] == pytest.approx(3, abs=0.1)
    assert last["dong:san+skip"][-1] > -0.1
    assert last["dong:full"][-1] > -0.1


def test_wu_complete_attention_with_layernorm_collapses_at_initialisation() -> None:
    """Their text says that LayerNorm keeps it from collapsing; without dropout it does not."""
    found = run("wu-fig2", ["layers=12", "dim=32", "heads=2", "tokens=8"])
    for variant in ("san", "san+norm"):
        assert found.curve(variant, "complete").y[-1] < -1e3
    causal = found.curve("san+norm", "causal").y
    assert -40 < causal[-1] < causal[-4] < 1  # exponentially, not doubly
    ranks = run("wu-ranks", ["layers=12", "dim=32", "heads=2", "tokens=8"])
    panel = "log10 of 1 − mean cosine"
    assert ranks.curve(panel, "complete").y[-1] < -1e3
    assert ranks.curve(panel, "complete, dropout 0.1").y[-1] > -2


def test_a_higher_temperature_collapses_faster() -> None:
    found = run("wu-temperature", ["layers=8", "dim=32", "tokens=8"])
    ends = [curve.y[-1] for curve in found.curves if curve.panel == "san"]
    assert ends == sorted(ends, reverse=True)


def test_circle_points() -> None:
    here, there = arcs(40)
    assert np.linalg.norm(here, axis=-1) == pytest.approx(RADIUS)
    turn = 2 * math.pi / 40
    turned = here @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    assert np.abs(turned - there).max() < 1e-14


def test_a_distance_that_doubles_cannot_see_is_not_called_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    dong = importlib.import_module("rankmath.attention.experiments.dong")
    monkeypatch.setattr(dong, "trajectory", lambda *given, **parts: np.array([[[1.0, 0], [-1, 0]], [[1, 0], [1, 0]]]))
    for sentence in run("dong-circle", SMALL["dong-circle"]).findings:
        assert "the tokens are less than 1e-14 of a diameter apart" in sentence


def stop_after(word: str) -> Callable[[str], None]:
    """A progress during which Ctrl-C is pressed when `word` is reported."""

    def hear(words: str) -> None:
        if words == word:
            raise KeyboardInterrupt

    return hear


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_interruption_keeps_what_is_finished(name: str) -> None:
    whole, heard = small(name)
    steps = [words for words in heard if words != "step"]  # one step of an optimiser finishes nothing
    assert len(steps) > 2
    for word in (steps[0], steps[-2]):
        kept = run(name, SMALL[name], progress=stop_after(word))
        *findings, last = kept.findings
        assert kept.interrupted
        assert kept.as_json()["interrupted"] is True
        assert last == f"interrupted after {word}"
        assert 0 < len(findings) < len(whole.findings)
        assert tuple(findings) == whole.findings[: len(findings)]
        assert 0 < len(kept.curves) < len(whole.curves)
        assert kept.curves == whole.curves[: len(kept.curves)]
        assert set(kept.axes) == {curve.panel for curve in kept.curves}
    assert not whole.interrupted


def test_an_interruption_before_anything_is_finished_keeps_nothing() -> None:
    with pytest.raises(KeyboardInterrupt):
        run("dong-effectiveness", SMALL["dong-effectiveness"], progress=stop_after("step"))


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_the_command_prints_what_is_finished_and_exits_with_130(
    how: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rankmath.console.Progress.step", lambda _, words: stop_after("san, causal")(words))
    typed = [part for change in SMALL["wu-fig2"] for part in ("--set", change)]
    with pytest.raises(SystemExit) as end:
        main.main(["experiment", "wu-fig2", *typed, *how])
    assert end.value.code == 130
    printed = capsys.readouterr()
    assert printed.err.endswith("rankmath: interrupted; what was finished by then is above\n")
    if how:
        assert [curve["label"] for curve in json.loads(printed.out)["curves"]] == ["complete", "causal"]
    else:
        complete, causal, last = printed.out.splitlines()
        assert complete.startswith("san, complete: ")
        assert causal.startswith("san, causal: ")
        assert last == "interrupted after san, causal"


def test_task_data() -> None:
    rng = np.random.default_rng(0)
    for task in TASKS:
        data, target = task_data(task, 5, rng)
        assert data.shape[:2] == target.shape
    ids, ordered = task_data("sorting", 5, rng)
    assert (np.sort(ids, axis=1) == ordered).all()
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.4]])
    assert on_hull(square).tolist() == [1, 1, 1, 1, 0]


def test_terms_by_length_are_the_sums_of_all_paths() -> None:
    """Theorem 2.1 by brute force: every path of every length, one by one."""
    rng = np.random.default_rng(0)
    data, target = task_data("sorting", 3, rng)
    p = initial_layers(rng, dim=6, layers=2, mlp=False)
    p |= {"words": rng.standard_normal((10, 6)), "positions": rng.standard_normal((8, 6))}
    p |= {"classifier": rng.standard_normal((6, 10)), "classifier_bias": rng.standard_normal(10)}
    given = {name: Var(value) for name, value in p.items()}
    net = as_network(p, layers=2, heads=2, skip=1.0, mlp=False)
    right = np.zeros(3)
    for X, wanted in zip(embedded(given, data).value, target, strict=True):
        terms = {k: np.zeros_like(X) for k in range(3)}
        for path in product(range(3), repeat=2):
            terms[sum(h > 0 for h in path)] += rm.path_term(net, X, path)
        bias = rm.path_sums(net, X).bias
        for k in range(3):
            right[k] += (
                ((terms[k] + bias) @ p["classifier"] + p["classifier_bias"]).argmax(axis=-1).__eq__(wanted).mean()
            )
    assert term_accuracy(p, data, target, layers=2, heads=2)[0] == pytest.approx(right / 3)
    whole = logits(given, data, layers=2, heads=2).value
    assert (
        np.abs(
            whole[0] - (rm.forward(net, embedded(given, data).value[0]) @ p["classifier"] + p["classifier_bias"])
        ).max()
        < 1e-12
    )


def test_products_in_either_order() -> None:
    """With one layer there is one order; with a rank-one first factor either product has rank one."""
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(5), (2, 1, 5))
    P[0, 0] = P[0, 0, :1]
    found = _sampled(P, 20, seed=0)
    for values in found.values():
        assert values[1] < 1e-12
