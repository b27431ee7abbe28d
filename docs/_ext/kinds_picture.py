"""The picture of docs/positions.md: `python docs/_ext/kinds_picture.py` writes docs/kinds.svg.

One layer, repeated, on four tokens of dimension four that nearly agree: what is left of their differences by depth,
for six architectures. The dotted lines have the slopes that are proved: log ρ, the spectral radius at consensus.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import rankmath as rm
from rankmath.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, pyplot
from rankmath.model.network import Network
from rankmath.model.positions import PositionTable, Rotary

TARGET = Path(__file__).parents[1] / "kinds.svg"
N, D, DEPTH = 4, 4, 24
Curves = dict[str, tuple[np.ndarray[Any, Any], float]]
_TURNS = Rotary.of_frequencies([0.9, 0.35], N)
_SLOPE = PositionTable(-0.4 * np.abs(np.subtract.outer(np.arange(N), np.arange(N)))[None])
#: Name, what the picture says of it, the kind of network, and the values W = w·1.
ARCHITECTURES: tuple[tuple[str, str, dict[str, Any], float, str], ...] = (
    ("plain", "no positions: order three", {}, 1.0, BLUE),
    ("shrinking", "rotary, W = 1/2: quadratic in depth", {"positions": _TURNS}, 0.5, PURPLE),
    ("rotary", "rotary: exponential, |λ₂(P₀)|", {"positions": _TURNS}, 1.0, GREEN),
    ("slope", "ALiBi: exponential, |λ₂(P₀)|", {"positions": _SLOPE}, 1.0, ORANGE),
    ("causal", "causal: exponential, 1/2", {"mask": "causal"}, 1.0, GREY),
    ("skip", "skip connections, W = −1/2: no faster than 1/√depth", {"skip": 1.0}, -0.5, "black"),
)


def network(kind: dict[str, Any], value: float) -> Network:
    """One layer, many times."""
    rng = np.random.default_rng(4)
    net = Network.random(N, D, 1, DEPTH, **kind)
    query = 1.5 * np.eye(D) + 0.3 * rng.standard_normal((D, D))
    return net.replace(query=np.tile(query, (DEPTH, 1, 1, 1)), value=np.tile(value * np.eye(D), (DEPTH, 1, 1, 1)))


def tokens() -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(5)
    return np.asarray(rng.standard_normal(D) + 0.2 * rng.standard_normal((N, D)))


def curves() -> Curves:
    """log₁₀ of the residual by depth, and the spectral radius ρ at the last consensus; 0 where there is none."""
    found: Curves = {}
    for name, _, kind, value, _ in ARCHITECTURES:
        net = network(kind, value)
        logs = np.asarray(rm.trace(net, tokens()).log_residual) / np.log(10)
        rate = 0.0
        if "skip" not in kind and value == 1:
            rate = float(abs(rm.consensus_spectrum(net, rm.forward(net, tokens())[0])[0]))
        found[name] = (logs, rate)
    return found


def draw(found: Curves, path: Path) -> None:
    """The picture; every line carries its name."""
    plt = pyplot(screen=False)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "rankmath", "font.size": 9, "figure.facecolor": "white"}):
        figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        try:
            for name, words, _, _, colour in ARCHITECTURES:
                logs, rate = found[name]
                (line,) = axes.plot(np.arange(len(logs)), logs, color=colour, linewidth=1.4, label=words)
                line.set_gid(f"line {name}")
                if rate > 1e-12:
                    depth = np.array([6, DEPTH])
                    axes.plot(depth, logs[-1] + (depth - DEPTH) * np.log10(rate), color=colour, linestyle=":", lw=3)
            axes.set(xlabel="layer", ylabel="log₁₀ of the differences of tokens", ylim=(-60, 2), xlim=(0, DEPTH))
            axes.legend(fontsize=7.5, loc="lower right")
            figure.savefig(path, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)


if __name__ == "__main__":
    draw(curves(), TARGET)
    print(TARGET)
