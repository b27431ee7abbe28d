"""`dong-effectiveness`: how well paths of each length do a task alone (Dong et al. 2021, section 4.3, figure 4).

A network of attention with skip connections learns memorisation, sorting or convex hull; then only paths through k
heads are kept. Two readings of "a path", under different names: *terms* are the summands of Theorem 2.1, whose
attention matrices are those of the whole network, summed exactly over all paths of a length; *recomputed* are what
the paper's code runs, sampled paths whose attention is computed on the path's own activations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.experiments.findings import Curve, Findings, Part, Step, silent
from rankmath.attention.experiments.gradients import Parameters, Var, cross_entropy, rows, train
from rankmath.attention.experiments.trained import as_network, attention_layer, initial_layers
from rankmath.attention.paths import path_sums
from rankmath.attention.plain import attend
from rankmath.attention.softmax import row_softmax
from rankmath.model.network import Attention
from rankmath.validation import Array, Floats, Ints, InvalidArgument, Json, as_choice, as_count

TASKS = ("memorisation", "sorting", "convex-hull")
#: Length of a sequence, heads and labels of each task, as in the paper's commands; vocabulary of ids, or 0 for
#: points.
SIZES = {"memorisation": (16, 2, 2, 64), "sorting": (8, 2, 10, 10), "convex-hull": (10, 3, 2, 0)}


def task_data(task: str, count: int, rng: np.random.Generator) -> tuple[Array, Ints]:
    """Inputs (count, n) of ids, or (count, n, 2) of points, and a label for each token."""
    n, _, labels, vocabulary = SIZES[task]
    if task == "memorisation":
        return rng.integers(0, vocabulary, (count, n)), rng.integers(0, labels, (count, n))
    if task == "sorting":
        ids = rng.integers(0, vocabulary, (count, n))
        return ids, np.sort(ids, axis=1)
    points = rng.uniform(-1, 1, (count, n, 2)) + rng.normal(scale=0.66, size=(count, 1, 2))
    return points, np.stack([on_hull(sample) for sample in points])


def on_hull(points: Floats) -> Ints:
    """1 for corners of the convex hull, 0 for the rest."""
    from scipy.spatial import ConvexHull

    label = np.zeros(len(points), dtype=np.int64)
    label[ConvexHull(points).vertices] = 1
    return label


def embedded(p: Mapping[str, Var], data: Array) -> Var:
    """Tokens of layer 0: words or points into R^d, plus positions where order matters."""
    if data.ndim == 3:
        return Var(data) @ p["points"] + p["points_bias"]
    return rows(p["words"], data) + p["positions"]


def logits(p: Mapping[str, Var], data: Floats, *, layers: int, heads: int) -> Var:
    """The whole network: attention with skip connections, and a linear classifier of every token."""
    X = embedded(p, data)
    for l in range(layers):
        X = attention_layer(p, X, l, heads=heads, skip=1.0, mlp=False)
    return X @ p["classifier"] + p["classifier_bias"]


def trained_task(
    task: str, seed: int, *, dim: int, layers: int, count: int, steps: int, progress: Step
) -> tuple[Parameters, float, Array, Ints]:
    """Weights after training, the loss they leave, and the data."""
    n, heads, labels, vocabulary = SIZES[task]
    rng = np.random.default_rng(seed)
    data, target = task_data(task, count, rng)
    # Small weights: the skip connections carry the signal at first, as residual networks are started.
    p = initial_layers(rng, dim=dim, layers=layers, mlp=False, spread=1 / math.sqrt(dim * layers))
    if vocabulary:
        p |= {"words": rng.standard_normal((vocabulary, dim)), "positions": rng.standard_normal((n, dim))}
    else:
        p |= {"points": rng.standard_normal((2, dim)), "points_bias": np.zeros(dim)}
    p |= {"classifier": rng.standard_normal((dim, labels)) / math.sqrt(dim), "classifier_bias": np.zeros(labels)}
    found, loss = train(
        lambda q: cross_entropy(logits(q, data, layers=layers, heads=heads), target), p, steps=steps, progress=progress
    )
    return found, loss, data, target


def term_accuracy(p: Parameters, data: Array, target: Ints, *, layers: int, heads: int) -> tuple[Floats, Floats]:
    """Accuracy of the sum of all paths of each length k = 0..L (Theorem 2.1), and the size of its part, both
    (L+1,).

    The size is the mean Frobenius norm of the sum, divided by that of the whole output.
    """
    net = as_network(p, layers=layers, heads=heads, skip=1.0, mlp=False)
    start = embedded({name: Var(value) for name, value in p.items()}, data).value
    right, size = np.zeros(layers + 1), np.zeros(layers + 1)
    for X, wanted in zip(start, target, strict=True):
        sums = path_sums(net, X)
        # Each part with the whole bias: what does not depend on the path is no path's merit.
        scores = (sums.terms + sums.bias) @ p["classifier"] + p["classifier_bias"]
        right += (scores.argmax(axis=-1) == wanted).mean(axis=-1)
        size += np.linalg.norm(sums.terms, axis=(1, 2)) / np.linalg.norm(sums.total())
    return right / len(data), size / len(data)


def recomputed_accuracy(
    p: Parameters, data: Array, target: Ints, *, layers: int, heads: int, paths: int, rng: np.random.Generator
) -> Floats:
    """Accuracy of the mean of `paths` sampled paths of each length, attention computed on the path's own tokens."""
    right = np.zeros(layers + 1)
    start = embedded({name: Var(value) for name, value in p.items()}, data).value
    attentions = as_network(p, layers=layers, heads=heads, skip=0.0, mlp=False).attentions
    for k in range(layers + 1):
        total: Array = 0.0
        for _ in range(paths):
            through = set(rng.choice(layers, size=k, replace=False).tolist())
            X = start
            for l in range(layers):
                if l in through:
                    X = _one_head(attentions[l], X, int(rng.integers(heads)))
            scores = X @ p["classifier"] + p["classifier_bias"]
            total = total + row_softmax(scores)
        right[k] = (total.argmax(axis=-1) == target).mean()
    return right


def _one_head(attention: Attention, X: Floats, h: int) -> Floats:
    """P_h X W_h + b with the attention of X itself."""
    assert attention.output is not None
    seen = attend(Float64(X), attention, h, X, None, X @ attention.value[h])
    made: Floats = seen @ attention.output[h] + attention.bias
    return made


def dong_effectiveness(
    *,
    tasks: tuple[str, ...] = TASKS,
    seed: int = 0,
    dim: int = 48,
    layers: int = 6,
    count: int = 300,
    steps: int = 120,
    paths: int = 5,
    progress: Step = silent,
) -> Findings:
    """Train each task and measure accuracy by path length, in both readings."""
    as_count("layers", layers)
    as_count("count", count)
    as_count("paths", paths)
    for task in tasks:
        heads = SIZES[as_choice("tasks", task, TASKS)][1]
        if dim % heads:
            raise InvalidArgument(f"dim: {dim} given; it must be a multiple of the {heads} heads of {task}")

    def parts() -> Iterator[Part]:
        for task in tasks:
            _, heads, labels, _ = SIZES[task]
            p, loss, data, target = trained_task(
                task, seed, dim=dim, layers=layers, count=count, steps=steps, progress=progress
            )
            rng = np.random.default_rng(seed + 1)
            fresh = (data, target) if task == "memorisation" else task_data(task, 200, rng)
            given = {name: Var(value) for name, value in p.items()}
            whole = float((logits(given, fresh[0], layers=layers, heads=heads).value.argmax(-1) == fresh[1]).mean())
            terms, sizes = term_accuracy(p, *fresh, layers=layers, heads=heads)
            again = recomputed_accuracy(p, *fresh, layers=layers, heads=heads, paths=paths, rng=rng)
            length = np.arange(layers + 1)
            chance = max(float((fresh[1] == label).mean()) for label in range(labels))
            curves = (
                Curve.of(task, "terms (Theorem 2.1, all paths of a length)", length, terms),
                Curve.of(task, f"recomputed ({paths} sampled paths)", length, again),
                Curve.of(task, "whole network", length, np.full(layers + 1, whole)),
                Curve.of(task, "commonest label", length, np.full(layers + 1, chance)),
                Curve.of(f"{task}: size", "‖sum of the paths‖/‖output‖", length, sizes),
            )
            found = (
                f"{task}: loss {loss:.3f}, whole network {whole:.3f}, commonest label {chance:.3f}; accuracy by "
                f"path length 0..{layers}: terms {_list(terms)}; recomputed {_list(again)}"
            )
            yield Part(task, curves, (found,))

    axes = dict.fromkeys(tasks, ("path length", "accuracy", "linear", "linear"))
    axes |= {f"{task}: size": ("path length", "share of the output", "linear", "log") for task in tasks}
    settings: dict[str, Json] = {"tasks": list(tasks), "seed": seed, "dim": dim, "layers": layers, "count": count}
    settings |= {"steps": steps, "paths": paths}
    return Findings.of("dong-effectiveness", settings, axes, parts(), progress)


def _list(values: Floats) -> str:
    return " ".join(f"{value:.2f}" for value in values)
