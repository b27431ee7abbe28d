"""The figures show true inequalities, and say in their captions what is in them."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from rankmath.attention.plain import forward
from rankmath.decide.campaigns import curves
from rankmath.decide.campaigns.curves import (
    antipodal_skip,
    collapsing_network,
    first_layers,
    log_minus_log,
    random_skip,
    sides_by_depth,
)
from rankmath.drawing import NoMatplotlib
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.report.figures import figures_of, regimes
from rankmath.report.plots import plot_decay, save_figure, save_for_print
from rankmath.report.results import Report
from rankmath.report.subject import Subject, subject_of_run


@pytest.mark.parametrize("key", ["own:diameter", "own:residual-inf", "dong2021:2.3"])
def test_every_bound_in_the_decay_figure_lies_above_and_decays_with_order_three(key: str) -> None:
    net, X = collapsing_network()
    curve = sides_by_depth(key, net, X, (1, 3, net.layers - 1, net.layers))
    assert (curve.log_lhs < curve.log_rhs).all()
    assert (curve.log_rhs < 0).all()
    for logs in (curve.log_lhs, curve.log_rhs):
        last = np.diff(log_minus_log(logs)[-2:])[0]
        assert abs(last - math.log(3)) < 0.03


def test_two_tokens_with_skips_follow_the_exact_recursion_and_the_square_root() -> None:
    """a' = a(1 − tanh a²), and Δ_L √(κL) → 1/√2 with κ = 1/4 (proofs/own_skip_lower.tex)."""
    net, X = antipodal_skip(400)
    curve = sides_by_depth("own:skip-lower", net, X, (1, 40, 400))
    a, seen = 0.5, {}
    for l in range(1, 401):
        a *= 1 - math.tanh(a * a)
        seen[l] = 2 * a
    assert np.allclose(np.exp(curve.log_rhs), [seen[1], seen[40], seen[400]], rtol=1e-12, atol=0)
    assert (curve.log_lhs < curve.log_rhs).all()
    assert abs(seen[400] * math.sqrt(400 / 4) - 1 / math.sqrt(2)) < 0.02


def test_a_random_network_with_skips_stays_above_its_bound() -> None:
    net, X = random_skip(30)
    curve = sides_by_depth("own:skip-lower", net, X, (1, 10, 30))
    assert (curve.log_lhs < curve.log_rhs).all()


@pytest.mark.parametrize("key", ["own:diameter", "own:residual-inf", "dong2021:2.3"])
def test_a_side_does_not_depend_on_the_depths_asked_for_beside_it(key: str) -> None:
    net, X = collapsing_network()
    together = sides_by_depth(key, net, X, (5, 1, 3))
    for k, depth in enumerate((5, 1, 3)):
        alone = sides_by_depth(key, first_layers(net, depth), X, (depth,))
        assert (alone.log_lhs[0], alone.log_rhs[0]) == (together.log_lhs[k], together.log_rhs[k])


def test_the_rates_under_a_mask_are_means_over_its_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one network the mean is its own: μ after 2r layers of it, by the plain pass."""
    mask = Mask.window(5, 2)
    monkeypatch.setattr(curves, "_MASK_SEEDS", 1)
    rng, L, d = np.random.default_rng(0), 2 * mask.steps, 8
    W_QK = rng.standard_normal((L, 1, d, d)) / math.sqrt(d)
    X = rng.standard_normal((5, d))
    net = Network.from_arrays(W_QK, np.broadcast_to(np.eye(d), W_QK.shape), d_qk=d, mask=mask)
    first, last = (np.linalg.norm(Y - Y.mean(axis=0)) for Y in (X, forward(net, X)))
    assert curves.mask_rates(mask).measured == pytest.approx(math.log(last / first) / L, rel=1e-12)
    monkeypatch.undo()
    assert curves.mask_rates(mask).measured != pytest.approx(math.log(last / first) / L, rel=1e-3)


def test_the_first_layers_of_a_network_are_its_own() -> None:
    net = Network.random(tokens=3, dim=2, heads=2, layers=4, biases=True, mlp="relu")
    part = first_layers(net, 2)
    assert part.layers == 2
    assert len(part.mlp) == 2
    assert (net.W[:2] == part.W).all()
    assert (part.bias == net.bias[:2]).all()


def test_a_statement_without_inequality_has_no_curve() -> None:
    net, X = collapsing_network()
    with pytest.raises(ValueError, match="key: 'seed:closure' given; it has no inequality"):
        sides_by_depth("seed:closure", net, X, (1,))


@pytest.fixture(scope="module")
def run(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return subject_of_run(report, report.save(tmp_path_factory.mktemp("run")))


def test_only_figures_whose_statements_took_part_are_drawn(run: Subject, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    figures, omitted = figures_of(run)
    assert [figure.name for figure in figures] == ["ranked", "decay", "tightness"]
    assert [figure.panels[0].alt.split()[0] for figure in figures] == [f"{len(run.histograms)}", "Line", "Histogram"]
    assert all(f" {histogram.key}: " in figures[2].panels[0].alt for histogram in run.histograms)
    assert any("needs own:diameter with own:skip-lower" in sentence for sentence in omitted)
    paths = save_for_print(figures[2], tmp_path)
    assert [path.name for path in paths] == ["tightness.pdf", "tightness.png", "tightness.txt"]
    assert f"for {len(run.histograms)} statements" in (tmp_path / "tightness.txt").read_text()
    assert (tmp_path / "tightness.pdf").read_bytes().startswith(b"%PDF")


def test_the_captions_state_the_measured_orders(run: Subject) -> None:
    figure = regimes(run)
    words = figure.caption.split()
    order = float(words[words.index("multiplies") + 4].rstrip("."))
    exponent = float(words[words.index("exponent") + 1])
    assert abs(order - 3) < 0.02
    assert abs(exponent + 0.5) < 0.03


def test_without_matplotlib_it_says_what_to_install(
    run: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures, _ = figures_of(run)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NoMatplotlib, match=r"pip install 'rankmath\[report\]'"):
        save_for_print(figures[0], tmp_path)


def test_a_picture_needs_a_known_ending(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    from rankmath.attention.trace import trace
    from rankmath.drawing import pyplot

    net, X = collapsing_network()
    plot_decay(trace(net, X), tmp_path / "decay.svg")
    assert "<svg" in (tmp_path / "decay.svg").read_text()
    plt = pyplot(screen=False)
    figure = plt.figure()
    with pytest.raises(ValueError, match=r"plot: .*decay\.doc' given; the name must end in one of"):
        save_figure(figure, tmp_path / "decay.doc")
    plt.close(figure)
