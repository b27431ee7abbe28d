"""Curves as panels side by side: the pictures of `rankmath model` and `rankmath experiment`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from rankmath.attention.experiments.findings import Curve
from rankmath.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, pyplot
from rankmath.report.plots import save_figure

_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, GREY, "#E69F00", "#56B4E9", "#1A1A1A")


def plot_curves(
    curves: Sequence[Curve], axes: dict[str, tuple[str, str, str, str]], path: str | os.PathLike[str]
) -> None:
    """One panel for each name, at most three beside each other."""
    plt = pyplot(screen=False)
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(4.6 * columns, 3.4 * lines), squeeze=False, layout="constrained"
    )
    try:
        for place, panel in enumerate(panels):
            drawn = grid[place // columns][place % columns]
            for k, curve in enumerate(c for c in curves if c.panel == panel):
                points = [
                    (x, y) for x, y in zip(curve.x, curve.y, strict=True) if math.isfinite(x) and math.isfinite(y)
                ]
                style = ":" if "paper" in curve.label else "-"
                marker = "o" if len(points) <= 40 else None
                xs, ys = [x for x, _ in points], [y for _, y in points]
                drawn.plot(xs, ys, style, marker=marker, markersize=3, color=_COLOURS[k % 8], label=curve.label)
            x_name, y_name, x_scale, y_scale = axes[panel]
            # Logarithms that triple with every layer need a logarithm of their own.
            deep = any(y < -100 for curve in curves if curve.panel == panel for y in curve.y if math.isfinite(y))
            drawn.set(title=panel, xlabel=x_name, ylabel=y_name, xscale=x_scale)
            drawn.set_yscale("symlog", linthresh=1) if deep else drawn.set_yscale(y_scale)
            drawn.grid(alpha=0.3)
            drawn.legend(fontsize=6)
        for place in range(len(panels), lines * columns):
            grid[place // columns][place % columns].set_axis_off()
        save_figure(figure, path)
    finally:
        plt.close(figure)
