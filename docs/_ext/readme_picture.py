"""The picture of the README: `python docs/_ext/readme_picture.py` writes docs/collapse.svg; `--print` only says it.

Left, one network of attention alone, eight layers: the logarithm of its diameter by the centred pass, the bound of
`own:diameter`, and what a plain evaluation in float64 sees. Right, two tokens with skip connections: the diameter,
and the lower bound of `own:skip-lower`.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import rankmath as rm
from rankmath.decide.campaigns.curves import antipodal_skip, first_layers, sides_by_depth
from rankmath.drawing import pyplot

TARGET = Path(__file__).parents[1] / "collapse.svg"
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"

Curves = dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def network() -> tuple[rm.Network, Any]:
    """Sixteen tokens, two heads, biases, eight layers of attention alone."""
    net = rm.Network.random(tokens=16, dim=8, heads=2, layers=8, seed=0, biases=True)
    return net, net.random_input(seed=1, scale=0.05)


def curves() -> Curves:
    """Every line of the picture, by name: depths, and what is drawn over them."""
    net, X = network()
    depth = np.arange(1, net.layers + 1)
    sides = sides_by_depth("own:diameter", net, X, depth, side=1)
    plain = [float(rm.diameter(rm.forward(first_layers(net, int(l)), X))) for l in depth]
    deep = np.unique(np.geomspace(1, 400, 14).astype(int))
    skips = sides_by_depth("own:skip-lower", *antipodal_skip(int(deep[-1])), deep)
    ten = math.log(10)
    return {
        "centred": (depth, sides.log_lhs / ten),
        "bound": (depth, sides.log_rhs / ten),
        "plain": (depth, np.log10(plain)),
        "skips": (deep, np.exp(skips.log_rhs)),
        "skip-bound": (deep, np.exp(skips.log_lhs)),
    }


_LINES = {
    "centred": (0, "o-", BLUE, "measured, centred pass"),
    "bound": (0, "--", ORANGE, "upper bound, own:diameter"),
    "plain": (0, "x:", GREY, "float64 as written: rounding"),
    "skips": (1, "o-", GREEN, "measured, two tokens"),
    "skip-bound": (1, "--", ORANGE, "lower bound, own:skip-lower"),
}


def draw(found: Curves, path: Path) -> None:
    """The picture; every line carries its name."""
    plt = pyplot(screen=False)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "rankmath", "font.size": 9, "figure.facecolor": "white"}):
        figure, row = plt.subplots(1, 2, figsize=(8.4, 3.1), layout="constrained")
        try:
            for name, (panel, style, colour, label) in _LINES.items():
                (line,) = row[panel].plot(*found[name], style, color=colour, markersize=4, label=label)
                line.set_gid(f"line {name}")
            row[0].set_yscale("symlog", linthresh=1)
            row[0].set(title="attention alone: doubly exponential", xlabel="layers", ylabel="log₁₀ of the diameter")
            row[1].set(xscale="log", yscale="log", title="with skip connections: 1/√L", xlabel="layers")
            row[1].set_ylabel("diameter")
            for axes in row:
                axes.grid(alpha=0.3)
                axes.legend(fontsize=8)
            figure.savefig(path, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)


def words(found: Curves) -> str:
    """The last layer of the left panel."""
    last = {name: f"{found[name][1][-1]:.1f}" for name in ("centred", "bound", "plain")}
    return (
        f"layer {found['centred'][0][-1]}: log10 of the diameter {last['centred']}, of its bound {last['bound']}, "
        f"of the plain evaluation {last['plain']}"
    )


if __name__ == "__main__":
    drawn = curves()
    if "--print" not in sys.argv:
        draw(drawn, TARGET)
    print(words(drawn))
