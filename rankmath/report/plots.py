"""Pictures (extra `report`): matplotlib is imported here and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankmath.dynamics.trace import Trace


def pyplot() -> Any:
    """matplotlib without a screen, or a sentence that says what to install."""
    try:
        import matplotlib
    except ImportError:
        raise ValueError("plot: matplotlib is not installed; pip install 'rankmath[report]'") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write the figure; the ending of the name chooses the format."""
    allowed = sorted(figure.canvas.get_supported_filetypes())
    if Path(path).suffix.lstrip(".").lower() not in allowed:
        raise ValueError(f"plot: {os.fspath(path)!r} given; the name must end in one of {', '.join(allowed)}")
    figure.savefig(path, bbox_inches="tight", dpi=150)


def plot_decay(trace: Trace, path: str | os.PathLike[str]) -> None:
    """log(−log‖res‖) by depth: a line of slope log 3 is decay of order three."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 4))
    try:
        axes.plot(trace.log_log_residual, marker="o", markersize=3, color="#0072B2", label="network")
        axes.set_xlabel("layer")
        axes.set_ylabel(r"$\log(-\log\,\|\mathrm{res}(X^l)\|)$")
        axes.set_title("Residual by depth (slope log 3: order three)")
        axes.legend()
        save_figure(figure, path)
    finally:
        plt.close(figure)
