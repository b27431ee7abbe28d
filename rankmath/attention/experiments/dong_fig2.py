"""`dong-fig2`: relative residual by depth, four variants, trained and at initialisation (Dong et al. 2021,
figure 2).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np

from rankmath.attention.columns import measure
from rankmath.attention.experiments.findings import Curve, Findings, Part, Step, silent
from rankmath.attention.experiments.models import first_tokens, given_model
from rankmath.model.checkpoint import Model
from rankmath.validation import ArrayLike, Json, as_count

#: What their figure shows for bert-base-cased at these layers, float32 (floor 2e-7).
PAPER_LAYERS = (0, 1, 2, 3, 4, 6, 8, 12)
PAPER = {
    ("trained", "dong:san"): (0.687, 0.676, 0.315, 0.139, 0.031, 1.6e-5, 2e-7, 2e-7),
    ("trained", "dong:san+mlp"): (0.687, 0.433, 0.209, 0.040, 0.0022, 2e-7),
    ("trained", "dong:san+skip"): (0.687, 0.717, 0.636, 0.489, 0.353, 0.205, 0.233, 0.074),
    ("trained", "dong:full"): (0.687, 0.666, 0.559, 0.504, 0.466, 0.379, 0.390, 0.310),
    ("at initialisation", "dong:san"): (0.612, 0.0176, 7.0e-7),
}
VARIANTS = ("dong:san", "dong:san+mlp", "dong:san+skip", "dong:full", "san")


def dong_fig2(
    *,
    model: str | os.PathLike[str] | Model | None = None,
    text: str | None = None,
    tokens: int = 64,
    seed: int = 0,
    dim: int = 384,
    heads: int = 12,
    layers: int = 12,
    progress: Step = silent,
) -> Findings:
    """log₁₀ of ‖res‖_{1,∞}/‖X‖_{1,∞} about the token mean, by layer; "san" is attention with nothing else at
    all.
    """
    as_count("tokens", tokens, least=2)
    whole, is_trained = given_model(model, dim=dim, heads=heads, layers=layers, seed=seed)
    sources = ("trained", "at initialisation") if is_trained else ("at initialisation",)

    def parts() -> Iterator[Part]:
        for source in sources:
            start = whole if source == "trained" or not is_trained else whole.variant(weights="initial", seed=seed)
            X = first_tokens(start, text=text, tokens=tokens, seed=seed)
            for name in VARIANTS:
                logs = measure(start.variant(name).network, X, ["relative-residual"]).logs["relative-residual"]
                ten = logs / math.log(10)
                curves = [Curve.of(source, name, np.arange(len(ten)), ten)]
                paper = PAPER.get((source, name), ())
                if paper:
                    label = f"{name}, paper (bert-base-cased, float32)"
                    curves.append(Curve.of(source, label, PAPER_LAYERS[: len(paper)], np.log10(paper)))
                found = f"log10 of the relative residual {ten[0]:.3f} at the input, {_shown(ten)} by layer"
                yield Part(f"{source}, {name}", tuple(curves), (f"{source}, {name}: {found}",))

    axes = dict.fromkeys(sources, ("layer", "log10 of the relative residual", "linear", "linear"))
    settings: dict[str, Json] = {"model": None if model is None else whole.kind, "text": text is not None}
    settings |= {"tokens": tokens, "seed": seed}
    if not is_trained:
        settings |= {"dim": dim, "heads": heads, "layers": layers}
    return Findings.of("dong-fig2", settings, axes, parts(), progress)


def _shown(values: ArrayLike) -> str:
    return ", ".join(f"{value:.4g}" for value in values[1:])
