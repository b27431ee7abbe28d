"""The picture of trained heads in README.md: `python docs/_ext/heads_picture.py [FOLDER]` writes docs/heads.svg.

Each dot is one head of SmolLM2-135M with its rotary positions and causal mask and W = 1, one layer of it repeated
on eight tokens of the model's embedding, normed once as its layer norms them. Across, |λ₂(P₀)|, P₀ its attention
if all tokens were the first; up, the factor by which one layer multiplies the residual after many of them. Theorem
"relative positions" of
proofs/own_positions.tex says that they agree in the limit, whatever the weights. With FOLDER (the GGUF file, or the
folder of the checkpoint) the numbers are computed anew into docs/heads.json; without, they are read from there.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rankmath as rm
from rankmath.attention.experiments.anatomy import second_moduli
from rankmath.drawing import BLUE, GREY, pyplot
from rankmath.model.checkpoint import load_model
from rankmath.model.network import Network, Sublayer

DOCS = Path(__file__).parents[1]
LAYERS, TOKENS, DEPTH = (0, 9, 18, 27), 8, 120


def measured(folder: str) -> list[dict[str, Any]]:
    """For every head of some layers |λ₂(P₀)| and the factor of the last layer of many."""
    model, found = load_model(folder), []
    X = model.embed(model.random_ids(TOKENS, 0))
    for l, (layer, *_) in enumerate(model.variant("full").network.sublayers):
        if l not in LAYERS:
            continue
        a, norm = layer.attention, layer.before
        assert a is not None
        assert a.key is not None
        assert norm is not None
        assert norm.gain is not None
        Y = norm.gain * X / np.sqrt((X * X).mean(axis=1, keepdims=True) + norm.floor)
        for h in range(a.heads):
            one = replace(
                a,
                query=a.query[h : h + 1],
                key=a.key[h : h + 1],
                value=np.eye(len(Y[0]))[None],
                output=None,
                kv_heads=None,
            )
            net = Network.from_layers([[Sublayer(one, 0.0)]] * DEPTH)
            logs = np.asarray(rm.trace(net, Y).log_residual)
            rate = float(second_moduli(Network.from_layers([[Sublayer(one, 0.0)]]), Y)[0, 0])
            found.append({"layer": l, "head": h, "second modulus": rate, "factor": float(np.exp(logs[-1] - logs[-2]))})
    return found


def draw(found: list[dict[str, Any]], path: Path) -> None:
    plt = pyplot(screen=False)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "rankmath", "font.size": 9, "figure.facecolor": "white"}):
        figure, axes = plt.subplots(figsize=(4.2, 3.6), layout="constrained")
        try:
            axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
            axes.scatter([x["second modulus"] for x in found], [x["factor"] for x in found], color=BLUE, s=12)
            axes.set(xlabel="|λ₂(P₀)|", ylabel=f"factor of layer {DEPTH}", xlim=(0, 1.02), ylim=(0, 1.02))
            figure.savefig(path, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        (DOCS / "heads.json").write_text(json.dumps(measured(sys.argv[1]), indent=1) + "\n")
    draw(json.loads((DOCS / "heads.json").read_text()), DOCS / "heads.svg")
    print(DOCS / "heads.svg")
