"""The experiments of Dong et al. 2021.

`dong-fig2` (figure 2): relative residual by depth, four variants, trained and at initialisation.

`dong-circle` (section 4.2): two tokens on arcs of a circle, one layer trained to take each to its next point, then
iterated. Without skip connection and MLP the two trajectories merge; an MLP slows this, a skip connection prevents it.

`dong-paths` (sections 2.3 and 4, figures 1 and 3): what paths of each length contribute, exact sums over all (1+H)^L
paths, not samples. Their figure of single paths multiplies sampled attention matrices, the first layer leftmost; in
Theorem 2.1 the last layer is leftmost. Both orders are drawn, from the same samples.

`dong-effectiveness` (section 4.3, figure 4): how well paths of each length do a task alone. A network of attention with
skip connections learns memorisation, sorting or convex hull; then only paths through k heads are kept. Two readings of
"a path", under different names: *terms* are the summands of Theorem 2.1, whose attention matrices are those of the
whole network, summed exactly over all paths of a length; *recomputed* are what the paper's code runs, sampled paths
whose attention is computed on the path's own activations.
"""

import math
import os
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.columns import measure
from rankmath.attention.experiments.findings import Curve, Findings, Part, Step, silent
from rankmath.attention.experiments.gradients import (
    Parameters,
    Var,
    as_network,
    attention_layer,
    cross_entropy,
    initial_layers,
    layer_norm,
    mean_square,
    rows,
    train,
)
from rankmath.attention.experiments.models import first_tokens, given_model
from rankmath.attention.paths import path_counts, path_sums
from rankmath.attention.plain import attend, attention_matrices
from rankmath.attention.softmax import row_softmax
from rankmath.linalg.norms import composite
from rankmath.model.checkpoint import Model
from rankmath.model.network import Attention
from rankmath.validation import Array, ArrayLike, Floats, Ints, InvalidArgument, Json, as_choice, as_count

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


RADIUS, HEADS = 0.3, 2
CIRCLING = {"san": (False, False), "san+mlp": (False, True), "san+skip": (True, False)}


def arcs(points: int) -> tuple[Floats, Floats]:
    """Pairs of tokens half a turn apart on the circle, (points/2 − 1, 2, 2), and the points they go to."""
    angle = np.arange(points) * 2 * math.pi / points
    circle = RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    half = points // 2 - 1
    here = np.stack([circle[:half], circle[half : 2 * half]], axis=1)
    there = np.stack([circle[1 : half + 1], circle[half + 1 : 2 * half + 1]], axis=1)
    return here, there


def step(p: dict[str, Var] | Parameters, X: Floats | Var, *, skip: bool, mlp: bool) -> Var:
    """One application: coordinates into R^d, the layer, LayerNorm, and back; a skip connection is around all
    of it.
    """
    given = {name: value if isinstance(value, Var) else Var(value) for name, value in p.items()}
    X = X if isinstance(X, Var) else Var(X)
    Y = attention_layer(given, X @ given["into"] + given["into_bias"], 0, heads=HEADS, skip=0.0, mlp=mlp)
    out = layer_norm(Y) @ given["back"] + given["back_bias"]
    return out + X if skip else out


def trained_step(width: int, seed: int, *, points: int, steps: int, skip: bool, mlp: bool) -> tuple[Parameters, float]:
    """Weights after training, and the mean squared error they leave."""
    rng = np.random.default_rng(seed)
    p = initial_layers(rng, dim=width, layers=1, mlp=mlp)
    p |= {"into": rng.standard_normal((2, width)), "into_bias": np.zeros(width)}
    p |= {"back": rng.standard_normal((width, 2)) / math.sqrt(width), "back_bias": np.zeros(2)}
    here, there = arcs(points)
    return train(lambda q: mean_square(step(dict(q), here, skip=skip, mlp=mlp), there), p, steps=steps)


def trajectory(p: Parameters, start: Floats, length: int, *, skip: bool, mlp: bool) -> Floats:
    """The two tokens, applied to themselves again and again, (length, 2, 2)."""
    states = [start]
    for _ in range(length - 1):
        states.append(step(p, states[-1], skip=skip, mlp=mlp).value)
        if not np.isfinite(states[-1]).all() or np.abs(states[-1]).max() > 1e6:
            break  # left the circle for good
    return np.stack(states)


def dong_circle(
    *,
    widths: tuple[int, ...] = (32, 64, 128),
    seed: int = 0,
    points: int = 1000,
    steps: int = 100,
    length: int = 300,
    progress: Step = silent,
) -> Findings:
    """Train and iterate; curves: distance of the two tokens by step, and the trajectories themselves."""
    as_count("points", points, least=8)
    as_count("steps", steps)
    as_count("length", length, least=2)
    for width in widths:
        as_count("widths", width, least=2)
        if width % HEADS:
            raise InvalidArgument(f"widths: {width} given; it must be a multiple of the {HEADS} heads")

    def parts() -> Iterator[Part]:
        for width, (name, (skip, mlp)) in product(widths, CIRCLING.items()):
            p, error = trained_step(width, seed, points=points, steps=steps, skip=skip, mlp=mlp)
            path = trajectory(p, arcs(points)[0][0], length, skip=skip, mlp=mlp)
            apart = np.linalg.norm(path[:, 0] - path[:, 1], axis=-1) / (2 * RADIUS)
            half = np.flatnonzero(apart < 0.5)
            when = f"half of it is gone after {half[0]} steps" if half.size else "it never falls to a half"
            # Doubles of the size of the radius tell no smaller distance from none.
            size = f"{apart[-1]:.3g}" if apart[-1] > 1e-14 else "less than 1e-14"
            far = f"the tokens are {size} of a diameter apart, {when}"
            place = f"trajectories, width {width}"
            yield Part(
                f"width {width}, {name}",
                (
                    Curve.of(f"width {width}", name, np.arange(len(apart)), apart),
                    Curve.of(place, f"{name}, token 1", path[:, 0, 0], path[:, 0, 1]),
                    Curve.of(place, f"{name}, token 2", path[:, 1, 0], path[:, 1, 1]),
                ),
                (f"width {width}, {name}: mean squared error {error:.2e}; after {len(apart) - 1} steps {far}",),
            )

    axes = {f"width {w}": ("step", "distance of the tokens / diameter", "linear", "log") for w in widths}
    axes |= {f"trajectories, width {w}": ("x", "y", "linear", "linear") for w in widths}
    settings: dict[str, Json] = {
        "widths": list(widths),
        "seed": seed,
        "points": points,
        "steps": steps,
        "length": length,
    }
    return Findings.of("dong-circle", settings, axes, parts(), progress)


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
                U, s, V = np.linalg.svd(M)
                rest = float(composite(M - s[0] * np.outer(U[:, 0], V[0])))
                ratios[label].append(rest / float(composite(M)))
        for label, values in ratios.items():
            found[label].append(float(np.median(values)))
    return found


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
