"""The picture of docs/flows.md: `python docs/_ext/flow_picture.py` writes docs/flows.svg.

Left, two causal tokens on the circle, V = [[2, −2], [0, 1]], uniform attention: the angle of the second token from
many starts, while the first tends to 0. Right, for V = diag(λ, 1) and logits βx₂y₂ the data for which the
conjecture of two clusters fails: λ/(λ − 1) < R, R = e^(β − 1/2)/√(2β), β > 1/2.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import rankmath as rm
from rankmath.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, pyplot

TARGET = Path(__file__).parents[1] / "flows.svg"
Curves = dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def flow() -> rm.Flow:
    """Two tokens that end at angle 0 and one of 0, 143.13…°."""
    return rm.Flow([[2, -2], [0, 1]], query=[[0, 0]], key=[[0, 0]], mask="causal")


def edge(beta: float) -> float:
    """The least λ for which the conjecture fails at β > 1/2."""
    R = math.exp(beta - 0.5) / math.sqrt(2 * beta)
    return R / (R - 1)


def curves() -> Curves:
    """Every line, by name: the angle in degrees of the second token by its start, and the edge."""
    found: Curves = {}
    for start in range(-165, 180, 15):
        angle = math.radians(start + 0.5)
        X = [[math.cos(0.3), math.sin(0.3)], [math.cos(angle), math.sin(angle)]]
        path = flow().trajectory(X, 14.0, points=71)
        turned = np.unwrap(np.arctan2(path.tokens[:, 1, 1], path.tokens[:, 1, 0]))
        found[f"start{start}"] = (path.times, np.degrees(turned))
    beta = np.linspace(0.8, 5.0, 85)
    found["edge"] = (beta, np.array([edge(float(b)) for b in beta]))
    return found


def draw(found: Curves, path: Path) -> None:
    """The picture; every line carries its name."""
    plt = pyplot(screen=False)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "rankmath", "font.size": 9, "figure.facecolor": "white"}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
        try:
            for name, (x, y) in found.items():
                if name != "edge":
                    end = math.cos(math.radians(y[-1]))
                    colour = ORANGE if -0.95 < end < 0.5 else BLUE
                    (line,) = left.plot(x, y, color=colour, linewidth=1)
                    line.set_gid(f"line {name}")
            sink = math.degrees(math.acos(-0.8))
            left.axhline(sink, color=GREY, linewidth=0.8, linestyle="--")
            left.annotate("(−4/5, 3/5)", (14, sink), ha="right", va="bottom", fontsize=8)
            left.set(title="the second token: a sink that is not ±ξ", xlabel="time", ylabel="angle, degrees")
            left.set_yticks([-180, -90, 0, 90, 180])
            beta, lam = found["edge"]
            (line,) = right.plot(beta, lam, color=PURPLE)
            line.set_gid("line edge")
            right.fill_between(beta, lam, 8, color=ORANGE, alpha=0.25, linewidth=0)
            right.text(3.2, 4.5, "false", color=ORANGE)
            right.text(1.0, 1.6, "true", color=GREEN)
            right.set(title="V = diag(λ, 1), logits β x₂y₂", xlabel="β", ylabel="λ", ylim=(1, 8), xlim=(0.5, 5))
            figure.savefig(path, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)


if __name__ == "__main__":
    draw(curves(), TARGET)
    print(TARGET)
