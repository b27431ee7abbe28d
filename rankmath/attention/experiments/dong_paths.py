"""`dong-paths`: what paths of each length contribute (Dong et al. 2021, sections 2.3 and 4, figures 1 and 3).

Exact sums over all (1+H)^L paths, not samples. Their figure of single paths multiplies sampled attention matrices,
the first layer leftmost; in Theorem 2.1 the last layer is leftmost. Both orders are drawn, from the same samples.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from rankmath.attention.experiments.findings import Curve, Findings, Part, Step, silent
from rankmath.attention.experiments.models import first_tokens, given_model
from rankmath.attention.paths import path_counts, path_sums
from rankmath.attention.plain import attention_matrices
from rankmath.linalg.norms import composite
from rankmath.model.checkpoint import Model
from rankmath.validation import Floats, Json, as_count

#: Heads and layers of the models whose path lengths they draw.
ARCHITECTURES = {
    "DistilBERT": (12, 6),
    "MobileBERT": (4, 12),
    "BERT-base, ViT-B": (12, 12),
    "BERT-large, ViT-L": (16, 24),
    "ViT-H": (16, 32),
    "T5-3B": (32, 24),
    "T5-11B": (128, 24),
    "GPT-3": (96, 96),
    "DeiT-T": (3, 12),
}


def dong_paths(
    *,
    model: str | os.PathLike[str] | Model | None = None,
    text: str | None = None,
    tokens: int = 64,
    seed: int = 0,
    samples: int = 100,
    dim: int = 192,
    heads: int = 6,
    layers: int = 12,
    progress: Step = silent,
) -> Findings:
    """Residual and size of the sum of all paths of each length, single sampled paths, and how many paths there
    are.
    """
    as_count("samples", samples)
    as_count("tokens", tokens, least=2)
    whole, is_trained = given_model(model, dim=dim, heads=heads, layers=layers, seed=seed)
    X = first_tokens(whole, text=text, tokens=tokens, seed=seed)
    net = whole.variant("san+skip").network
    L = net.layers
    length = np.arange(L + 1)
    singles = "single paths, relative residual of the product of attentions"

    def parts() -> Iterator[Part]:
        sums = path_sums(net, X)
        with np.errstate(divide="ignore"):
            size = np.log10(np.linalg.norm(sums.terms, axis=(1, 2)) / np.linalg.norm(sums.total()))
        residual = sums.log_residual() / math.log(10)
        largest = f"{(1 + net.heads) ** L} paths; the largest residual comes from those of length "
        largest += f"{np.argmax(residual)} of {L}, the largest part of the output from length {np.argmax(size)}"
        logs = " ".join(f"{x:.2f}" for x in residual)
        curves = [
            Curve.of("sums of all paths", "log10 ‖res‖_F of the sum", length, residual),
            Curve.of("sums of all paths", "log10 ‖sum‖_F/‖output‖_F", length, size),
        ]
        by_length = f"log10 of the residual of the sum of all paths of length 0..{L}: {logs}"
        yield Part("path sums", tuple(curves), (largest, by_length))
        # Their attention is that of the whole model; so is ours here.
        P = attention_matrices(whole.network, X)
        with threadpool_limits(1, user_api="blas"):  # small matrices, for which a second thread only waits
            sampled = _sampled(P, samples, seed)
        curves = [Curve.of(singles, label, length[1:], values) for label, values in sampled.items()]
        yield Part("single paths", tuple(curves), ())
        curves = []
        for name, (H, depth) in ARCHITECTURES.items():
            counts = path_counts(depth, H)
            share = [float(count * 10**12 // sum(counts)) / 1e12 for count in counts]
            curves.append(Curve.of("share of paths of each length", name, np.arange(depth + 1) / depth, share))
        typical = ", ".join(f"{name} {H / (1 + H):.3f}" for name, (H, _) in ARCHITECTURES.items())
        not_skipped = f"mean share of layers that a path does not skip, H/(1+H): {typical}"
        yield Part("counts", tuple(curves), (not_skipped,))

    axes = {
        "sums of all paths": ("path length", "log10", "linear", "linear"),
        singles: ("path length", "median", "linear", "log"),
        "share of paths of each length": ("path length / L", "share", "linear", "linear"),
    }
    settings: dict[str, Json] = {"model": whole.kind if is_trained else None, "text": text is not None}
    settings |= {"tokens": tokens, "seed": seed, "samples": samples, "layers": L, "heads": net.heads, "dim": net.dim}
    return Findings.of("dong-paths", settings, axes, parts(), progress)


def _sampled(P: Floats, samples: int, seed: int) -> dict[str, list[float]]:
    """Medians over sampled paths of ‖M − rank one‖_{1,∞}/‖M‖_{1,∞}, M the product of its attention matrices."""
    L, H, n, _ = P.shape
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {"last layer leftmost (Theorem 2.1)": [], "first layer leftmost (their code)": []}
    for k in range(1, L + 1):
        ratios: dict[str, list[float]] = {label: [] for label in found}
        for _ in range(samples):
            chosen = [P[l, rng.integers(H)] for l in sorted(rng.choice(L, size=k, replace=False))]
            for label in found:
                M = np.eye(n)
                for matrix in chosen:
                    M = matrix @ M if label.startswith("last") else M @ matrix
                ratios[label].append(_relative_to_rank_one(M))
        for label, values in ratios.items():
            found[label].append(float(np.median(values)))
    return found


def _relative_to_rank_one(M: Floats) -> float:
    U, s, V = np.linalg.svd(M)
    return float(composite(M - s[0] * np.outer(U[:, 0], V[0]))) / float(composite(M))
