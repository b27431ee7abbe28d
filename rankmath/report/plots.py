"""How a report's pictures are made (extra `report`).

Colours are those of `drawing`; what is measured is drawn solid with markers, what is proved
dashed, what is refuted dotted. A figure consists of panels: side by side they are one picture for print (PDF, PNG);
one by one they are the pictures of a page (SVG), which fits a narrow screen and follows a light or dark theme.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankmath.attention.experiments.findings import Curve
from rankmath.attention.trace import Trace
from rankmath.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, PURPLE, RULE, picture_format, pyplot
from rankmath.files import folder as make_folder
from rankmath.files import write
from rankmath.validation import Axes, Json

#: The colours of a picture as a page knows them: its style sheet gives each a light and a dark value.
THEME = {BLUE: "--blue", ORANGE: "--orange", GREEN: "--green", PURPLE: "--purple"}
THEME |= {GREY: "--grey", INK: "--ink", PAPER: "--paper", RULE: "--rule"}

# Fixed ids and no date: the same figure is the same bytes.
_STYLE: dict[str, Json] = {"svg.hashsalt": "rankmath", "svg.fonttype": "path", "pdf.fonttype": 42}
_STYLE |= dict.fromkeys(("figure.facecolor", "axes.facecolor", "legend.facecolor"), PAPER)
_STYLE |= dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK)
_STYLE |= dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 8)
_STYLE |= {"axes.titlesize": 10, "axes.labelsize": 9, "axes.spines.top": False, "axes.spines.right": False}
_STYLE |= {"axes.grid": True, "axes.axisbelow": True, "grid.color": RULE, "grid.linewidth": 0.6}
_STYLE |= {"legend.edgecolor": RULE, "legend.framealpha": 1.0}
# Where a title stands anyway; unsaid, every drawing measures all labels to find out.
_STYLE |= {"axes.titley": 1.0}


def save_figure(figure: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure; the ending of the name chooses the format."""
    ending = picture_format(path)
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(ending)
    drawn = io.BytesIO()  # what a full disk does to matplotlib's writers is another error
    figure.savefig(drawn, format=ending, dpi=150, metadata=undated)
    write(path, drawn.getvalue(), "plot")


def plot_decay(trace: Trace, path: str | os.PathLike[str]) -> None:
    """The residual by depth, as a file."""
    plt = pyplot(screen=False)
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    try:
        trace.plot(axes)
        save_figure(figure, path)
    finally:
        plt.close(figure)


# -- figures -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Numbers and words by column: the data behind a figure.

    >>> print(Table(("depth", "log"), ((1, -0.5), (2, None))).csv())
    depth,log
    1,-0.5
    2,
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]

    def csv(self) -> str:
        """Comma-separated, with a header; a float is the shortest text that reads back as the same double."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([repr(float(x)) if isinstance(x, float) else x for x in row] for row in self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Panel:
    """One pair of axes: how it is drawn, words for those who do not see it, and its picture if there is one."""

    draw: Callable[[Axes], None]
    alt: str
    svg: str = ""


@dataclass(frozen=True)
class Figure:
    """Panels of one size (inches), what to see in them, the data behind them, and how to make them again.

    With `margins` (left, bottom, right, top, in inches) every panel has these; without, each is laid out by what is
    in it, which takes three times as long. Without `themed` the colours stay as they are on a dark page, on white.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    caption: str
    data: Table
    command: str
    columns: int = 2
    size: tuple[float, float] = (4.5, 3.4)
    margins: tuple[float, float, float, float] | None = None
    themed: bool = True


def save_for_print(figure: Figure, folder: str | os.PathLike[str]) -> list[Path]:
    """NAME.pdf and NAME.png of all panels together, and the caption as NAME.txt."""
    plt = pyplot(screen=False)
    target = make_folder(folder)
    columns = min(figure.columns, len(figure.panels))
    lines = math.ceil(len(figure.panels) / columns)
    # A page of print is 9 inches of figure wide, whatever a panel is on a screen.
    shrink = min(1.0, 9 / (columns * figure.size[0]))
    size = (figure.size[0] * columns * shrink, figure.size[1] * lines * shrink)
    paths = [target / f"{figure.name}.{ending}" for ending in ("pdf", "png", "txt")]
    with plt.rc_context(_STYLE):
        drawing, grid = _axes(plt, figure, lines, columns, size)
        try:
            for axes in grid.flat[len(figure.panels) :]:
                axes.set_axis_off()
            for axes, panel in zip(grid.flat, figure.panels, strict=False):
                panel.draw(axes)
            for path in paths[:2]:
                save_figure(drawing, path)
                # Once laid out it stays so.
                drawing.set_layout_engine("none")
        finally:
            plt.close(drawing)
    write(paths[2], figure.caption + "\n")
    return paths


def panel_svgs(figure: Figure) -> list[str]:
    """Each panel as an <svg> element for a page: colours by name, ids of its own, nothing spoken (see `Panel.alt`).

    >>> line = Panel(lambda axes: axes.plot([1, 2], color=BLUE), "A line.")
    >>> svg = panel_svgs(Figure("line", "A line", (line,), "It rises.", Table((), ()), "draw"))[0]
    >>> svg.startswith("<svg"), "var(--blue)" in svg, "#" + BLUE[1:].lower() in svg
    (True, True, False)
    """
    if all(panel.svg for panel in figure.panels):
        return [panel.svg for panel in figure.panels]
    plt = pyplot(screen=False)
    found = []
    with plt.rc_context(_STYLE):
        for index, panel in enumerate(figure.panels):
            if panel.svg:
                found.append(panel.svg)
                continue
            drawing, ((axes,),) = _axes(plt, figure, 1, 1, figure.size)
            try:
                panel.draw(axes)
                text = io.StringIO()
                drawing.savefig(text, format="svg", metadata={"Date": None})
            finally:
                plt.close(drawing)
            svg = _for_page(text.getvalue(), f"{figure.name}-{index}")
            for colour, name in THEME.items() if figure.themed else ():
                svg = svg.replace(colour.lower(), f"var({name})")
            found.append(svg)
    return found


def _axes(plt: Axes, figure: Figure, lines: int, columns: int, size: tuple[float, float]) -> tuple[Axes, Axes]:
    """Lines and columns of axes for a figure's panels."""
    if figure.margins is None:
        return plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")  # type: ignore[no-any-return]
    left, bottom, right, top = figure.margins
    width, height = size[0] / columns - left - right, size[1] / lines - bottom - top
    places = {
        "left": left / size[0],
        "bottom": bottom / size[1],
        "right": 1 - right / size[0],
        "top": 1 - top / size[1],
        "wspace": (left + right) / width,
        "hspace": (bottom + top) / height,
    }
    return plt.subplots(lines, columns, figsize=size, squeeze=False, gridspec_kw=places)  # type: ignore[no-any-return]


def _for_page(svg: str, prefix: str) -> str:
    """The <svg> element alone: no comments (they hold text of the figure), no metadata, no style."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    # Several pictures share one page: ids must differ, or one shows the clip paths and glyphs of another.
    svg = re.sub(r'(\bid="|"#|url\(#)', rf"\g<1>{prefix}-", svg)
    # The page's style sheet decides how wide a picture is; the viewBox keeps its proportions.
    head, rest = svg.split(">", 1)
    head = re.sub(r'\s(?:width|height|xmlns:xlink|xmlns|version)="[^"]*"', "", head)
    whole = f'{head} aria-hidden="true" focusable="false">{rest}'.replace("xlink:href", "href")
    return re.sub(r"\s+", " ", whole).replace("> <", "><").strip()


# -- panels --------------------------------------------------------------------------------------------------


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
