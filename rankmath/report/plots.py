"""Pictures (extra `report`): matplotlib is imported here and nowhere else.

Colours are Okabe and Ito's, told apart by all eyes; what is measured is drawn solid, what is proved dashed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.dynamics.trace import Trace
from rankmath.report.curves import (
    antipodal_skip,
    collapsing_network,
    log_minus_log,
    random_skip,
    sides_by_depth,
)
from rankmath.report.results import Report

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"


class NoMatplotlib(ValueError):
    """The extra `report` is not installed."""


def pyplot() -> Any:
    """matplotlib without a screen, or a sentence that says what to install."""
    try:
        import matplotlib
    except ImportError:
        raise NoMatplotlib("plot: matplotlib is not installed; pip install 'rankmath[report]'") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write the figure; the ending of the name chooses the format."""
    allowed = sorted(figure.canvas.get_supported_filetypes())
    if Path(path).suffix.lstrip(".").lower() not in allowed:
        raise ValueError(f"plot: {os.fspath(path)!r} given; the name must end in one of {', '.join(allowed)}")
    figure.savefig(path, dpi=150)


def plot_decay(trace: Trace, path: str | os.PathLike[str]) -> None:
    """log(−log‖res‖) by depth: a line of slope log 3 is decay of order three."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    try:
        axes.plot(trace.log_log_residual, marker="o", markersize=3, color=BLUE, label="network")
        axes.set_xlabel("layer")
        axes.set_ylabel(r"$\log(-\log\,\|\mathrm{res}(X^l)\|)$")
        axes.set_title("Residual by depth (slope log 3: order three)")
        axes.legend()
        save_figure(figure, path)
    finally:
        plt.close(figure)


# -- the figures of a report -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A drawn figure and the words that say what to see in it."""

    drawing: Any
    caption: str


def regimes(plt: Any, report: Report) -> Figure:
    """Both regimes: doubly exponential without skips, 1/√L with them, each against its bound."""
    drawing, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    net, X = collapsing_network()
    alone = sides_by_depth("own:diameter", net, X, range(1, net.layers + 1), side=1)
    left.plot(alone.depth, log_minus_log(alone.log_lhs), "o-", color=BLUE, markersize=4, label="measured")
    left.plot(alone.depth, log_minus_log(alone.log_rhs), "--", color=ORANGE, label="upper bound, own:diameter")
    left.set(title="attention alone: doubly exponential", xlabel="layers $L$")
    left.set_ylabel(r"$\log(-\log\,\Delta(X^L))$")
    deepest = 200
    depths = np.unique(np.geomspace(1, deepest, 12).astype(int))
    families = (("two tokens", antipodal_skip, BLUE, "o"), ("random network", random_skip, GREEN, "s"))
    curves = {}
    for name, family, colour, marker in families:
        curve = curves[name] = sides_by_depth("own:skip-lower", *family(deepest), depths)
        shown = np.exp(curve.log_rhs)
        right.loglog(depths, shown, marker + "-", color=colour, markersize=4, label=f"measured, {name}")
        right.loglog(depths, np.exp(curve.log_lhs), "--", color=colour, label="lower bound, own:skip-lower")
    slope = _slope(np.log(depths[-4:]), curves["two tokens"].log_rhs[-4:])
    through = np.exp(curves["two tokens"].log_rhs[-1]) * np.sqrt(deepest / depths)
    right.loglog(depths, through, ":", color=GREY, label=r"slope $-1/2$")
    right.set(title="with skip connections: polynomial", xlabel="layers $L$", ylabel=r"$\Delta(X^L)$")
    for axes in (left, right):
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    order = math.exp(_slope(alone.depth[-3:], log_minus_log(alone.log_lhs)[-3:]))
    caption = (
        "The diameter of the tokens by depth. Left: attention alone; the scale is doubly logarithmic and higher is "
        "smaller, so a straight line is doubly exponential decay and an upper bound lies below; each of the last "
        f"layers multiplies the logarithm by {order:.3f}. Right: with skip connections, on two logarithmic axes; "
        f"the antipodal tokens follow a power of the depth, with exponent {slope:.3f} over the last depths, and no "
        "network may fall below the dashed line of its colour."
    )
    return Figure(drawing, caption)


def decay(plt: Any, report: Report) -> Figure:
    """One network against each depth bound, each in the quantity it bounds."""
    panels = (
        ("own:diameter", 1, r"diameter $\Delta_2$", BLUE),
        ("own:residual-inf", 0, r"residual $\|\cdot\|_\infty$", GREEN),
        ("dong2021:2.3", 0, r"residual $\|\cdot\|_{1,\infty}$", PURPLE),
    )
    net, X = collapsing_network()
    drawing, row = plt.subplots(1, len(panels), figsize=(9, 3.2), sharey=True, layout="constrained")
    digits = []
    for axes, (key, side, quantity, colour) in zip(row, panels, strict=True):
        curve = sides_by_depth(key, net, X, range(1, net.layers + 1), side=side)
        axes.plot(curve.depth, log_minus_log(curve.log_lhs), "o-", color=colour, markersize=4, label="measured")
        axes.plot(curve.depth, log_minus_log(curve.log_rhs), "--", color=GREY, label=f"bound, {key}")
        axes.set(title=quantity, xlabel="layers $L$")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
        digits.append(f"{curve.log_rhs[-1] / curve.log_lhs[-1]:.2f} ({key})")
    row[0].set_ylabel(r"$\log(-\log\,\cdot)$")
    caption = (
        f"One network of attention alone ({len(X)} tokens, {net.heads} heads) against each bound, in the quantity "
        "that the bound is about. A line of slope log 3 is decay of order three; higher is smaller, so an upper "
        "bound lies below. The logarithm a bound promises at the last layer is this share of the measured one: "
        f"{', '.join(digits)}."
    )
    return Figure(drawing, caption)


def tightness(plt: Any, report: Report) -> Figure:
    """How much each bound gives away: a histogram of log₁₀(lhs/rhs) per statement."""
    shown = [(r, logs) for r in report.results if len(logs := _log_ratios(r.ratios))]
    columns = 4
    lines = max(1, math.ceil(len(shown) / columns))
    size = (9, 0.5 + 1.25 * lines)
    drawing, grid = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    for axes, (result, logs) in zip(grid.flat, shown, strict=False):
        axes.hist(logs, bins=24, color=BLUE)
        axes.axvline(0, color=ORANGE, linestyle="--", linewidth=1)
        axes.set_title(result.key, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.set_yticks([])
        axes.locator_params(axis="x", nbins=4)
    drawing.supxlabel(r"$\log_{10}(\mathrm{lhs}/\mathrm{rhs})$", fontsize=9)
    caption = (
        "How tight the bounds are on the instances of this run: the quotient of the two sides, on a logarithmic "
        f"scale, for {len(shown)} statements. The dashed line is equality, which no true statement crosses; mass "
        "close to it means that the bound cannot be improved there, mass far to the left that it gives much away "
        "on such instances."
    )
    return Figure(drawing, caption)


def _log_ratios(ratios: list[float]) -> np.ndarray[Any, Any]:
    return np.log10([ratio for ratio in ratios if ratio > 0])


def _slope(x: Any, y: Any) -> float:
    return float(np.polyfit(x, y, 1)[0])


@dataclass(frozen=True)
class Kind:
    """How a figure is drawn, what it shows in a few words, and the statements without which it is not drawn."""

    draw: Callable[[Any, Report], Figure]
    shows: str
    about: frozenset[str] = frozenset()


#: The figures of a report, in the order in which the appendix shows them.
FIGURES = {
    "regimes": Kind(
        regimes,
        "doubly exponential collapse without skip connections and a power law with them",
        frozenset({"own:diameter", "own:skip-lower"}),
    ),
    "decay": Kind(
        decay,
        "one network against each of the bounds for depth",
        frozenset({"own:diameter", "own:residual-inf", "dong2021:2.3"}),
    ),
    "tightness": Kind(tightness, "how tight each bound is on the instances drawn"),
}


def write_plots(folder: str | os.PathLike[str], report: Report) -> Path:
    """plots/ under `folder`: each figure whose statements took part, as pdf and png, with its caption as txt."""
    plt = pyplot()
    target = Path(folder) / "plots"
    target.mkdir(parents=True, exist_ok=True)
    verified = {result.key for result in report.results if result.ratios}
    for name, kind in FIGURES.items():
        paths = [target / f"{name}.{ending}" for ending in ("pdf", "png", "txt")]
        if not verified or not kind.about <= verified:
            # A picture of an earlier run says nothing about this one.
            for path in paths:
                path.unlink(missing_ok=True)
            continue
        figure = kind.draw(plt, report)
        try:
            for path in paths[:2]:
                save_figure(figure.drawing, path)
            paths[2].write_text(figure.caption + "\n", encoding="utf-8")
        finally:
            plt.close(figure.drawing)
    return target
