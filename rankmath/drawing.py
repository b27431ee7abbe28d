"""Small pictures of public objects, as matplotlib axes (extra `report`); matplotlib is imported here alone.

Colours are Okabe and Ito's, told apart by all eyes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rankmath.validation import ArrayLike, Axes, InvalidArgument

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
INK, PAPER, RULE = "#1A1A1A", "#FFFFFF", "#CFCFCF"


class NoMatplotlib(InvalidArgument):
    """The extra `report` is not installed."""


def need_matplotlib() -> None:
    """A sentence that says what to install, if it is not there; to import it takes half a second."""
    if find_spec("matplotlib") is None:
        raise NoMatplotlib("plot: matplotlib is not installed; pip install 'rankmath[report]'")


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format of a picture, which the ending of its name chooses."""
    need_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    allowed = sorted(FigureCanvasBase.get_supported_filetypes())
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in allowed:
        raise InvalidArgument(f"plot: {os.fspath(path)!r} given; the name must end in one of {', '.join(allowed)}")
    return ending


def pyplot(*, screen: bool = True) -> Axes:
    """matplotlib's pyplot (without a screen, where none is wanted), or a sentence that says what to install."""
    need_matplotlib()
    import matplotlib

    if not screen:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def axes_for(ax: Axes = None, *, equal: bool = False) -> Axes:
    """The axes given, or new ones."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=(5, 4) if equal else (6, 4), layout="constrained")
    if equal:
        ax.set_aspect("equal")
    return ax


def draw_decay(log_residual: ArrayLike, log_log_residual: ArrayLike, ax: Axes = None, label: str = "network") -> Axes:
    """The residual by depth: doubly logarithmic where it collapses that fast, else logarithmic.

    On the doubly logarithmic scale a line of slope log 3 is decay of order three; a residual of 1 or more has no
    place on it, and the picture says for which layers.
    """
    logs, double = np.asarray(log_residual, dtype=float), np.asarray(log_log_residual, dtype=float)
    if logs.ndim > 1:
        raise InvalidArgument(f"trace: a batch of shape {logs.shape[1:]} given; one network is drawn at a time")
    ax = axes_for(ax)
    layers = np.arange(len(logs))
    known = np.isfinite(double)
    last = double[len(double) // 2 :]
    collapses = len(last) > 1 and bool(np.isfinite(last).all()) and last[-1] > last[0] + math.log(2)
    style: dict[str, str | int] = {"marker": "o", "markersize": 3, "color": BLUE, "label": label}
    ax.set_xlabel("layer")
    if collapses:
        ax.plot(layers[known], double[known], **style)
        ax.set_ylabel(r"$\log(-\log\,\|\mathrm{res}(X^l)\|)$")
        title, left_out = "Residual by depth (slope log 3: order three)", "residual 1 or more at layer"
    else:
        known = np.isfinite(logs)
        ax.plot(layers[known], logs[known] / math.log(10), **style)
        ax.set_ylabel(r"$\log_{10}\|\mathrm{res}(X^l)\|$")
        title, left_out = "Residual by depth", "residual exactly 0 at layer"
    ax.set_title(title if known.any() else "Residual by depth: zero at every layer")
    if known.any() and not known.all():
        words = f"not shown: {left_out} {_some(layers[~known].tolist())}"
        ax.annotate(words, (0.02, 0.02), xycoords="axes fraction", fontsize=8, color=GREY)
    ax.legend()
    return ax


def _some(numbers: Sequence[int]) -> str:
    listed = ", ".join(map(str, numbers[:4]))
    return listed + (", …" if len(numbers) > 4 else "")


def draw_path_sums(log_residual: ArrayLike, ax: Axes = None) -> Axes:
    """log₁₀ of the residual of all paths of each length."""
    ax = axes_for(ax)
    logs = np.asarray(log_residual, dtype=float) / math.log(10)
    lengths = np.flatnonzero(np.isfinite(logs))
    ax.vlines(lengths, min(0.0, *logs[lengths]) if len(lengths) else 0.0, logs[lengths], color=RULE)
    ax.plot(lengths, logs[lengths], "o", color=BLUE, markersize=4)
    ax.set_xlabel("path length")
    ax.set_ylabel(r"$\log_{10}\|\mathrm{res}\|$ of their sum")
    ax.set_title("Path sums by length" + ("" if len(lengths) else ": all residuals are zero"))
    return ax


def draw_ratios(ratios: Sequence[float], title: str, worst: float | None = None, ax: Axes = None) -> Axes:
    """How tight the instances were: log₁₀(lhs/rhs), with the line of equality."""
    ax = axes_for(ax)
    logs = np.log10([ratio for ratio in ratios if 0 < ratio < math.inf])
    if len(logs):
        ax.hist(logs, bins=min(30, max(5, len(logs) // 5)), color=BLUE)
    ax.axvline(0.0, color=ORANGE, linestyle="--", label="equality")
    if worst is not None:
        ax.axvline(worst / math.log(10), color=PURPLE, linestyle=":", label="worst violation")
    ax.set_xlabel(r"$\log_{10}$(lhs/rhs)")
    ax.set_ylabel("instances")
    ax.set_title(title if len(logs) else f"{title}: no quotient to draw")
    ax.legend()
    return ax


def draw_tokens(X: ArrayLike, title: str, ax: Axes = None) -> Axes:
    """Tokens in the plane, or their first two principal directions, with the unit circle where they lie on it."""
    X = np.asarray(X, dtype=float)
    ax = axes_for(ax, equal=True)
    d = X.shape[1]
    if d > 2:
        _, _, rows = np.linalg.svd(X, full_matrices=False)
        shown, names = X @ rows[:2].T, ("first principal direction", "second principal direction")
    else:
        shown, names = (X, ("$x_1$", "$x_2$")) if d == 2 else (np.c_[X, np.zeros(len(X))], ("$x_1$", ""))
    if shown.shape[1] < 2:
        shown = np.c_[shown, np.zeros(len(shown))]
    angle = np.linspace(0, 2 * math.pi, 181)
    if np.allclose(np.linalg.norm(X, axis=1), 1, atol=1e-6):
        ax.plot(np.cos(angle), np.sin(angle), color=RULE)
    ax.plot(shown[:, 0], shown[:, 1], "o", color=BLUE)
    for i, (x, y) in enumerate(shown[:, :2]):
        ax.annotate(str(i), (x, y), textcoords="offset points", xytext=(5, 5), fontsize=8)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_title(title)
    return ax


__all__ = [
    *("BLUE", "GREEN", "GREY", "INK", "ORANGE", "PAPER", "PURPLE", "RULE", "NoMatplotlib", "axes_for"),
    *("draw_decay", "draw_path_sums", "draw_ratios", "draw_tokens", "need_matplotlib", "picture_format", "pyplot"),
]
