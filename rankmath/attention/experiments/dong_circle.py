"""`dong-circle`: two tokens on arcs of a circle, one layer trained to take each to its next point, then iterated.

Dong et al. 2021, section 4.2: without skip connection and MLP the two trajectories merge; an MLP slows this, a skip
connection prevents it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from rankmath.attention.experiments.findings import Curve, Findings, Part, Step, silent
from rankmath.attention.experiments.gradients import Parameters, Var, layer_norm, mean_square, train
from rankmath.attention.experiments.trained import attention_layer, initial_layers
from rankmath.validation import Floats, InvalidArgument, Json, as_count

RADIUS, HEADS = 0.3, 2
VARIANTS = {"san": (False, False), "san+mlp": (False, True), "san+skip": (True, False)}


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
        for width, (name, (skip, mlp)) in product(widths, VARIANTS.items()):
            p, error = trained_step(width, seed, points=points, steps=steps, skip=skip, mlp=mlp)
            path = trajectory(p, arcs(points)[0][0], length, skip=skip, mlp=mlp)
            apart = np.linalg.norm(path[:, 0] - path[:, 1], axis=-1) / (2 * RADIUS)
            half = np.flatnonzero(apart < 0.5)
            when = f"half of it is gone after {half[0]} steps" if half.size else "it never falls to a half"
            far = f"the tokens are {apart[-1]:.3g} of a diameter apart, {when}"
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
