"""Phase portraits of attention under LayerNorm: where tokens rest, and which starts come to rest where.

Tokens that live on a circle (two dimensions on the sphere, three under standard LayerNorm) are angles, and two
tokens a point of the torus: `Portrait`. In other dimensions the distance to an equilibrium is drawn: `Approach`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rankmath.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, PURPLE, pyplot
from rankmath.dynamics.limits import Limit, limits
from rankmath.equilibria.equilibrium import Equilibrium
from rankmath.equilibria.find import escaping, find_equilibria, frame_of
from rankmath.equilibria.map import Floats, layer, token_norm
from rankmath.files import write
from rankmath.model.network import Network
from rankmath.report.plots import Figure, Panel, Table, save_figure
from rankmath.validation import Axes, InvalidArgument, as_count, as_real

# Okabe and Ito's colours, one for each limit and its mirror image; the mirror image is paler.
_HUES = (BLUE, ORANGE, GREEN, PURPLE, "#56B4E9", "#E69F00", "#F0E442")
_OWN, _MIRROR = 0.75, 0.4
# No grid may meet a symmetry on which tokens cancel to zero: its two axes start at unrelated angles.
_OFFSETS = (0.3819660112501051, 0.4142135623730951)
_FINE = 720
_FINEST_GRID = 2000
# Tokens closer than this are drawn as one.
_SAME_PLACE = 1e-2


@dataclass(frozen=True, eq=False)
class Portrait:
    """Tokens on a circle, as angles: basins over one or two of them, equilibria, and where the orbits settle.

    Attributes
    ----------
    tokens, moving : how many there are, and the one or two whose angles vary; the others are held at `rest`.
    rest : (n,) angles of an equilibrium, nan where none is known.
    axes : the angles of the grid, one array for each token that varies.
    basin : index into `limits` by angle(s), −1 where undecided.
    limits, periods : (k, n) the angles of the first state of each limit, and its period.
    mirrors : (k,) which limit is the mirror image, itself where it is its own, −1 where it was not met.
    equilibria : (e, n) angles of the equilibria found, whether or not they lie in the plane that is drawn.
    escaping, neutral : (e,) how many eigenvalues lie outside the unit circle, and on it to 10⁻⁶.
    circle_map : (2, m) the last token's angle and its next one while the others rest, where they do not see it.
    crossings : (2, c) its fixed points and their multipliers.
    """

    tokens: int
    moving: tuple[int, ...]
    rest: Floats
    axes: tuple[Floats, ...]
    basin: Floats
    limits: Floats
    periods: Floats
    mirrors: Floats
    equilibria: Floats
    escaping: Floats
    neutral: Floats
    circle_map: Floats
    crossings: Floats

    def table(self) -> Table:
        """One row for each start of the grid: the angles that vary, and the limit."""
        names = tuple(f"angle_{i + 1}" for i in self.moving)
        grid = np.meshgrid(*self.axes, indexing="ij")
        columns = zip(*(part.ravel().tolist() for part in grid), self.basin.ravel().tolist(), strict=True)
        return Table((*names, "limit"), tuple(columns))


@dataclass(frozen=True, eq=False)
class Approach:
    """Distances ‖X(t) − X*‖_F to an equilibrium from starts at most `ball` away, and its singular values."""

    ball: float
    proved: bool
    spectral_radius: float
    distances: Floats
    singular_values: Floats

    def table(self) -> Table:
        """One row for each layer: the distance of every start."""
        names = tuple(f"start_{s + 1}" for s in range(len(self.distances)))
        rows = tuple((t, *row) for t, row in enumerate(self.distances.T.tolist()))
        return Table(("layer", *names), rows)


Picture: TypeAlias = Portrait | Approach


def portrait_data(
    net: Network | Equilibrium,
    *,
    tokens: int | None = None,
    grid: int = 96,
    steps: int = 2000,
    tolerance: float | None = None,
    ball: float | None = None,
    seed: int = 0,
) -> Picture:
    """What a phase portrait shows, as arrays: a `Portrait` where tokens live on a circle, else an `Approach`.

    Parameters
    ----------
    net : an `Equilibrium`, or a `Network` of one layer and one head with sphere or standard LayerNorm.
    tokens : the number of tokens, where the network does not fix it.
    grid : starts along each angle.
    steps, tolerance : as in `limit`; the tolerance is 10⁻⁶, and 10⁻² at an equilibrium with an eigenvalue of
        modulus one, where tokens arrive like 1/t.
    ball : radius of the starts of an `Approach`, if a proof has shown that they converge; 10⁻³ otherwise.

    Examples
    --------
    >>> import rankmath as rm
    >>> stable = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    >>> data = portrait_data(stable, grid=12)
    >>> data.basin.shape, bool((data.escaping == 0).any())
    ((12, 12), True)
    >>> portrait_data(rm.layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)).distances.shape[0]
    24
    """
    grid, steps = as_count("grid", grid, most=_FINEST_GRID), as_count("steps", steps)
    known = net if isinstance(net, Equilibrium) else None
    frame = known if known is not None else frame_of(net, tokens=tokens)
    plane = _plane(frame)
    found = find_equilibria(frame, 200, seed)
    if known is None and found:
        known = min(found, key=lambda one: one.spectral_radius)
    if plane is None:
        if known is None:
            raise InvalidArgument("net: no equilibrium found; the distance to one is what would be drawn")
        return _approach(known, ball, seed)
    if tolerance is None:
        tolerance = 1e-2 if known is not None and abs(known.spectral_radius - 1) <= 1e-6 else 1e-6
    return _portrait(
        frame, plane, known, found, grid, steps, as_real("tolerance", tolerance, positive=True, most=0.1)
    )


# -- tokens on a circle ---------------------------------------------------------------------------------------


def _plane(frame: Equilibrium) -> Floats | None:
    """Two rows that span the plane of the tokens, as long as a token; None where they have more room."""
    d = frame.X.shape[1]
    if frame.norm == "sphere" and d == 2:
        return np.eye(2)
    if frame.norm == "standard" and d == 3:
        rows = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]])
        return np.asarray(token_norm(d, frame.norm) * rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return None


def _angles(X: Floats, plane: Floats) -> Floats:
    across, up = np.moveaxis(X @ plane.T, -1, 0)
    return np.asarray(np.arctan2(up, across) % (2 * np.pi))


def _tokens(angles: Floats, plane: Floats) -> Floats:
    return np.asarray(np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ plane)


def _wrapped(angle: Floats) -> Floats:
    """An angle as −π ≤ angle < π."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def _portrait(
    frame: Equilibrium,
    plane: Floats,
    known: Equilibrium | None,
    found: Sequence[Equilibrium],
    grid: int,
    steps: int,
    tolerance: float,
) -> Portrait:
    n = len(frame.X)
    if n > 2 and known is None:
        raise InvalidArgument("net: no equilibrium found; of more than two tokens all but two are held at one")
    moving = tuple(range(n))[-2:]
    rest = np.full(n, np.nan) if known is None else _angles(known.X, plane)
    axes = tuple(2 * np.pi * (np.arange(grid) + offset) / grid for offset in _OFFSETS[: len(moving)])
    starts = np.broadcast_to(rest, (*[grid] * len(moving), n)).copy()
    for token, values in zip(moving, np.meshgrid(*axes, indexing="ij"), strict=True):
        starts[..., token] = values
    ends = limits(frame.network, _tokens(starts.reshape(-1, n), plane), steps=steps, tolerance=tolerance)
    labels, kinds = _grouped(ends)
    # Random starts of Newton's method seldom find what attracts only a little.
    seen = [one.X for one in kinds if one.kind == "fixed"] + ([] if known is None else [known.X])
    found = find_equilibria(frame, [*(one.X for one in found), *seen]) if seen else found
    mirrors = [next((j for j, two in enumerate(kinds) if one.mirrored().is_same(two)), -1) for one in kinds]
    circle_map, crossings = _circle_map(frame, plane, rest)
    counts = np.array([escaping(one) for one in found], dtype=int).reshape(-1, 2)
    return Portrait(
        tokens=n,
        moving=moving,
        rest=rest,
        axes=axes,
        basin=np.array(labels).reshape(starts.shape[:-1]),
        limits=np.array([_angles(one.X, plane) for one in kinds]).reshape(-1, n),
        periods=np.array([one.period for one in kinds], dtype=int),
        mirrors=np.array(mirrors, dtype=int),
        equilibria=np.array([_angles(one.X, plane) for one in found]).reshape(-1, n),
        escaping=counts[:, 0],
        neutral=counts[:, 1],
        circle_map=circle_map,
        crossings=crossings,
    )


def _grouped(ends: Sequence[Limit]) -> tuple[list[int], list[Limit]]:
    """The limits that differ, most frequent first, and which of them each end is; −1 for undecided."""
    kinds: list[Limit] = []
    labels: list[int] = []
    for end in ends:
        if end.kind == "undecided":
            labels.append(-1)
            continue
        place = next((i for i, one in enumerate(kinds) if one.is_same(end)), len(kinds))
        if place == len(kinds):
            kinds.append(end)
        labels.append(place)
    order = sorted(range(len(kinds)), key=lambda i: -labels.count(i))
    names = {old: new for new, old in enumerate(order)} | {-1: -1}
    return [names[label] for label in labels], [kinds[i] for i in order]


def _circle_map(frame: Equilibrium, plane: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """The last token's map while the others rest, and its fixed points with multipliers; empty if they see it."""
    from scipy.optimize import brentq

    n = len(frame.X)
    if frame.mask.allowed[:-1, -1].any() or (n > 1 and np.isnan(rest).any()):
        return np.empty((2, 0)), np.empty((2, 0))

    def step(angle: Floats) -> Floats:
        angles = np.broadcast_to(rest, (*np.shape(angle), n)).copy()
        angles[..., -1] = angle
        return _angles(layer(_tokens(angles, plane), *frame.system), plane)[..., -1]

    def gain(angle: float) -> float:
        return float(_wrapped(step(np.asarray(angle)) - angle))

    angles = 2 * np.pi * (np.arange(_FINE + 1) + _OFFSETS[0]) / _FINE
    moves = _wrapped(step(angles) - angles)
    # A change of sign through ±π is a jump of the representation, not a fixed point.
    crossed = (moves[:-1] * moves[1:] < 0) & (np.abs(moves[:-1]) + np.abs(moves[1:]) < np.pi)
    places = [float(brentq(gain, angles[i], angles[i + 1])) for i in np.flatnonzero(crossed)]
    # Where the last token cancels to zero the map jumps across the diagonal.
    places = [place for place in places if abs(gain(place)) < 1e-6]
    h = 1e-5
    slopes = [float(_wrapped(step(np.asarray(a + h)) - step(np.asarray(a - h)))) / (2 * h) for a in places]
    return np.stack([angles, step(angles)]), np.array([places, slopes]).reshape(2, -1)


# -- other dimensions -----------------------------------------------------------------------------------------


def _approach(equilibrium: Equilibrium, ball: float | None, seed: int, starts: int = 24) -> Approach:
    radius = 1e-3 if ball is None else as_real("ball", ball, positive=True)
    rng = np.random.default_rng(as_count("seed", seed, least=0))
    directions = rng.standard_normal((starts, *equilibrium.X.shape))
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    # Half of them on the boundary of the ball.
    radii = radius * np.where(np.arange(starts) % 2, 1.0, rng.random(starts))
    rate = equilibrium.spectral_radius
    # Until rounding is all that is left, if it attracts.
    layers = min(400, 20 + int(np.ceil(np.log(1e-15 / radius) / np.log(rate)))) if 0 < rate < 1 else 60
    orbit = equilibrium.iterate(equilibrium.X + radii[:, None, None] * directions, layers)
    distances = [np.linalg.norm(X - equilibrium.X, axis=(1, 2)) for X in orbit]
    return Approach(
        ball=radius,
        proved=ball is not None,
        spectral_radius=rate,
        distances=np.array(distances).T,
        singular_values=np.linalg.svd(equilibrium.X, compute_uv=False),
    )


# -- drawing --------------------------------------------------------------------------------------------------


def plot_portrait(data: Picture, path: str | os.PathLike[str]) -> None:
    """Draw what `portrait_data` has computed; the ending of the name chooses the format."""
    plt = pyplot(screen=False)
    figure = portrait_figure(data)
    width, height = figure.size
    drawing, row = plt.subplots(
        1, len(figure.panels), figsize=(width * len(figure.panels), height), squeeze=False, layout="constrained"
    )
    try:
        for axes, panel in zip(row.flat, figure.panels, strict=True):
            panel.draw(axes)
        save_figure(drawing, path)
    finally:
        plt.close(drawing)


def write_portrait(data: Picture, path: str | os.PathLike[str]) -> Path:
    """The numbers behind the picture as CSV."""
    target = Path(path)
    write(target, data.table().csv())
    return target


def portrait_figure(data: Picture, name: str = "portrait") -> Figure:
    """The picture as panels, with its caption and its numbers, for a page or for print.

    Examples
    --------
    >>> import rankmath as rm
    >>> stable = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    >>> figure = portrait_figure(portrait_data(stable, grid=8))
    >>> len(figure.panels), figure.data.columns
    (2, ('angle_1', 'angle_2', 'limit'))
    """
    if isinstance(data, Approach):
        drawn = [
            Panel(partial(_draw_distances, data), "Distances to the equilibrium by layer, on a logarithmic scale."),
            Panel(partial(_draw_singular_values, data), "The singular values of the equilibrium."),
        ]
        title, caption = "Approach to an equilibrium", _approach_caption(data)
    else:
        first = _draw_torus if len(data.moving) == 2 else _draw_line
        drawn = [Panel(partial(first, data), f"The basins, by angle of {_names(data.moving)}.")]
        drawn.append(Panel(partial(_draw_circle, data), "The tokens of each limit on their circle."))
        if data.circle_map.size:
            drawn.append(Panel(partial(_draw_map, data), "The last token's angle against its next one."))
        title, caption = "Phase portrait", _portrait_caption(data)
    return Figure(
        name=name,
        title=title,
        panels=tuple(drawn),
        caption=caption,
        data=data.table(),
        command="rankmath counterexample layernorm",
        columns=len(drawn),
        size=(3.6, 3.4),
    )


def _names(tokens: Sequence[int]) -> str:
    return " and ".join(f"token {i + 1}" for i in tokens)


def _colours(data: Portrait) -> list[tuple[float, float, float]]:
    """One hue for a limit and its mirror image, the mirror image paler."""
    from matplotlib.colors import to_rgb

    hues: dict[int, tuple[str, float]] = {}
    for k, mirror in enumerate(data.mirrors.tolist()):
        if k not in hues:
            hue = _HUES[len({name for name, _ in hues.values()}) % len(_HUES)]
            hues[k] = hue, _OWN
            if mirror not in (k, -1):
                hues[mirror] = hue, _MIRROR
    shades = []
    for k in range(len(data.limits)):
        hue, weight = hues[k]
        red, green, blue = (weight * part + 1 - weight for part in to_rgb(hue))
        shades.append((red, green, blue))
    return shades


def _degrees(axes: Axes, which: str) -> None:
    ticks = [0, 90, 180, 270, 360]
    getattr(axes, f"set_{which}ticks")(ticks, [f"{t}°" for t in ticks])
    getattr(axes, f"set_{which}lim")(0, 360)


def _basin_image(data: Portrait, axes: Axes, basin: Floats, extent: tuple[float, float, float, float]) -> None:
    from matplotlib.colors import ListedColormap, to_rgb

    # Limits that the palette does not reach share the last colour with nobody: the list is as long as the limits.
    colours = ListedColormap([to_rgb(GREY), *_colours(data)])
    axes.imshow(
        basin + 1, origin="lower", extent=extent, cmap=colours, vmin=-0.5, vmax=len(data.limits) + 0.5,
        interpolation="nearest", aspect="auto",
    )  # fmt: skip
    axes.grid(False)


def _draw_torus(data: Portrait, axes: Axes) -> None:
    first, second = data.moving
    _basin_image(data, axes, data.basin.T, (0, 360, 0, 360))
    held = [i for i in range(data.tokens) if i not in data.moving]
    shown: Floats = np.ones(len(data.equilibria), dtype=bool)
    if held:
        apart = np.abs(_wrapped(data.equilibria[:, held] - data.rest[held]))
        shown = np.asarray((apart < _SAME_PLACE).all(axis=1))
    for label, marker, face, chosen in (
        ("attracts", "o", INK, (data.escaping == 0) & (data.neutral == 0)),
        ("eigenvalue of modulus 1", "D", PAPER, (data.escaping == 0) & (data.neutral > 0)),
        ("saddle or repeller", "o", PAPER, data.escaping > 0),
    ):
        places = np.degrees(data.equilibria[chosen & shown])
        if len(places):
            axes.plot(
                places[:, first],
                places[:, second],
                marker,
                color=INK,
                markerfacecolor=face,
                markersize=5,
                label=label,
            )
    _degrees(axes, "x")
    _degrees(axes, "y")
    axes.set(xlabel=f"token {first + 1}", ylabel=f"token {second + 1}", title="basins and equilibria")
    if shown.any():
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=7, ncols=2, frameon=False)


def _draw_line(data: Portrait, axes: Axes) -> None:
    _basin_image(data, axes, data.basin[None, :], (0, 360, 0, 1))
    _degrees(axes, "x")
    axes.set_yticks([])
    axes.set(xlabel="token 1", title="basins")


def _draw_circle(data: Portrait, axes: Axes) -> None:
    turn = np.linspace(0, 2 * np.pi, 200)
    # One ring for each limit, so that limits with a token in common stay apart.
    rings = 1 + 0.16 * np.arange(min(len(data.limits), len(_HUES)))
    for k, (ring, colour, angles) in enumerate(zip(rings, _colours(data), data.limits, strict=False)):
        axes.plot(ring * np.cos(turn), ring * np.sin(turn), color=GREY, linewidth=0.4, zorder=0)
        at = np.stack([np.cos(angles), np.sin(angles)]) * ring
        share = f"{(data.basin == k).mean():.1%}"
        label = share if data.periods[k] == 1 else f"{share}, period {data.periods[k]}"
        axes.plot(*at, "o", color=colour, markersize=9, markeredgecolor=INK, markeredgewidth=0.6, label=label)
        for token, names in _together(angles).items():
            axes.annotate(names, at[:, token], ha="center", va="center", fontsize=5.5, color=INK)
    reach = 1.15 * float(rings.max(initial=1.0))
    axes.set(
        xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title="where tokens settle, share of starts"
    )
    axes.set_axis_off()
    if len(rings):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), fontsize=7, ncols=2, frameon=False)


def _together(angles: Floats) -> dict[int, str]:
    """The first token at each place, and the numbers of all that are there."""
    places: dict[int, str] = {}
    for i, angle in enumerate(angles):
        first = next((j for j in places if abs(_wrapped(angles[j] - angle)) < _SAME_PLACE), i)
        places[first] = f"{places[first]},{i + 1}" if first in places else f"{i + 1}"
    return places


def _draw_map(data: Portrait, axes: Axes) -> None:
    before, after = np.degrees(data.circle_map)
    order = np.argsort(before % 360)
    before, after = before[order] % 360, after[order]
    # Cut the curve where the angle passes 360°, and where the map jumps.
    cuts = np.flatnonzero(np.abs(np.diff(after)) > 45) + 1
    pieces: Callable[[Floats], list[Floats]] = partial(np.split, indices_or_sections=cuts)
    for x, y in zip(pieces(before), pieces(after), strict=True):
        axes.plot(x, y, color=BLUE)
    axes.plot([0, 360], [0, 360], color=GREY, linewidth=0.8, linestyle=":")
    below: list[float] = []
    for angle, slope in data.crossings.T.tolist():
        place = np.degrees(angle) % 360
        # Multipliers of crossings that lie close together are written one below the other.
        line = sum(abs(place - other) < 20 for other in below)
        below.append(place)
        axes.plot(place, place, "o", color=INK, markerfacecolor=INK if abs(slope) < 1 else PAPER, markersize=5)
        axes.annotate(
            f"{slope:.3g}", (place, place), textcoords="offset points", xytext=(6, -9 - 8 * line), fontsize=7
        )
    _degrees(axes, "x")
    _degrees(axes, "y")
    last = data.tokens
    axes.set(xlabel=f"token {last}", ylabel=f"token {last}, one layer on", title="circle map and multipliers")


def _draw_distances(data: Approach, axes: Axes) -> None:
    for distances in data.distances:
        # A start on the equilibrium to the last bit has no logarithm.
        axes.semilogy(np.where(distances > 0, distances, np.nan), color=BLUE, linewidth=0.7, alpha=0.6)
    label = "radius of the proved ball" if data.proved else "largest distance of a start"
    axes.axhline(data.ball, color=ORANGE, linestyle="--", linewidth=1, label=label)
    axes.set(xlabel="layer", ylabel=r"$\|X(t)-X^*\|_F$", title=f"spectral radius {data.spectral_radius:.3g}")
    axes.legend(fontsize=7)


def _draw_singular_values(data: Approach, axes: Axes) -> None:
    places = np.arange(1, len(data.singular_values) + 1)
    axes.bar(places, data.singular_values, color=GREEN)
    axes.set_xticks(places)
    axes.set(xlabel="index", title="singular values of $X^*$")
    axes.grid(visible=False, axis="x")


def _portrait_caption(data: Portrait) -> str:
    held = "" if len(data.moving) == data.tokens else ", the other tokens starting at the equilibrium"
    stable = int(((data.escaping == 0) & (data.neutral == 0)).sum())
    orbits = ", ".join(f"period {p}" for p in sorted({int(p) for p in data.periods if p > 1}))
    text = (
        "Tokens on a circle under attention with LayerNorm. "
        f"Each start, by the angles of {_names(data.moving)}{held}, has the colour of the limit it comes to; "
        "a limit and its mirror image share a hue, undecided starts are grey. "
        f"Newton's method found {len(data.equilibria)} equilibria, {stable} of them attracting (numerically)."
    )
    if orbits:
        text += f" Among the limits are orbits of {orbits}."
    if data.crossings.size:
        slopes = ", ".join(f"{slope:.3g}" for slope in data.crossings[1])
        text += f" While the other tokens rest, the last one follows a map of the circle with multipliers {slopes}."
    return text


def _approach_caption(data: Approach) -> str:
    inside = "the ball in which convergence is proved" if data.proved else f"distance {data.ball:.1g}"
    ranks = ", ".join(f"{value:.3g}" for value in data.singular_values)
    return (
        f"Distance to the equilibrium by layer, from {len(data.distances)} random starts within {inside}, half of "
        f"them on its boundary. The spectral radius of the Jacobian is {data.spectral_radius:.4g}; the singular "
        f"values of the tokens are {ranks}."
    )
