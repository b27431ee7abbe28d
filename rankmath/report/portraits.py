"""Phase portraits drawn: basins on a torus, tokens on their circle, or the approach to an equilibrium."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from rankmath.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, PURPLE, pyplot
from rankmath.equilibria.map import Floats
from rankmath.equilibria.portraits import Approach, Picture, Portrait, wrapped
from rankmath.files import write
from rankmath.report.plots import Figure, Panel, Table, save_figure
from rankmath.validation import Axes

# Okabe and Ito's colours, one for each limit and its mirror image; the mirror image is paler.
_HUES = (BLUE, ORANGE, GREEN, PURPLE, "#56B4E9", "#E69F00", "#F0E442")
_OWN, _MIRROR = 0.75, 0.4
# Tokens closer than this are drawn as one.
_SAME_PLACE = 1e-2


def table(data: Picture) -> Table:
    """A row for each start of the grid, the angles that vary and the limit; or for each layer, the distances."""
    if isinstance(data, Approach):
        names = tuple(f"start_{s + 1}" for s in range(len(data.distances)))
        return Table(("layer", *names), tuple((t, *row) for t, row in enumerate(data.distances.T.tolist())))
    angles = np.meshgrid(*data.axes, indexing="ij")
    columns = zip(*(part.ravel().tolist() for part in angles), data.basin.ravel().tolist(), strict=True)
    return Table((*(f"angle_{i + 1}" for i in data.moving), "limit"), tuple(columns))


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
    write(target, table(data).csv())
    return target


def portrait_figure(data: Picture, name: str = "portrait") -> Figure:
    """The picture as panels, with its caption and its numbers, for a page or for print.

    >>> import rankmath as rm
    >>> from rankmath.equilibria.portraits import portrait_data
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
        data=table(data),
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


def _slope(slope: float) -> str:
    """A multiplier from a difference quotient, whose noise is no number."""
    return "0" if abs(slope) < 1e-8 else f"{slope:.3g}"


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
        apart = np.abs(wrapped(data.equilibria[:, held] - data.rest[held]))
        shown = np.asarray((apart < _SAME_PLACE).all(axis=1))
    for label, marker, face, chosen in (
        ("attracts", "o", INK, (data.escaping == 0) & (data.neutral == 0)),
        ("eigenvalue of modulus 1", "D", PAPER, (data.escaping == 0) & (data.neutral > 0)),
        ("saddle or repeller", "o", PAPER, data.escaping > 0),
    ):
        places = np.degrees(data.equilibria[chosen & shown])
        if len(places):
            axes.plot(
                places[:, first], places[:, second], marker, color=INK, markerfacecolor=face, markersize=5, label=label
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
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title="where tokens settle, share of starts")
    axes.set_axis_off()
    if len(rings):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), fontsize=7, ncols=2, frameon=False)


def _together(angles: Floats) -> dict[int, str]:
    """The first token at each place, and the numbers of all that are there."""
    places: dict[int, str] = {}
    for i, angle in enumerate(angles):
        first = next((j for j in places if abs(wrapped(angles[j] - angle)) < _SAME_PLACE), i)
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
        axes.annotate(_slope(slope), (place, place), textcoords="offset points", xytext=(6, -9 - 8 * line), fontsize=7)
    _degrees(axes, "x")
    _degrees(axes, "y")
    last = data.tokens
    axes.set(xlabel=f"token {last}", ylabel=f"token {last}, one layer on", title="circle map and multipliers")


def _draw_distances(data: Approach, axes: Axes) -> None:
    for distances in data.distances:
        # A start on the equilibrium to the last bit has no logarithm.
        axes.semilogy(np.where(distances > 0, distances, np.nan), color=BLUE, linewidth=0.7, alpha=0.6)
    label = "radius of the proved ball" if data.proved else "largest distance of a start"
    label += f"; proved within {data.within:.0e} alone" if data.within else ""
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
        slopes = ", ".join(_slope(slope) for slope in data.crossings[1])
        text += f" While the other tokens rest, the last one follows a map of the circle with multipliers {slopes}."
    return text


def _approach_caption(data: Approach) -> str:
    inside = "the ball in which convergence is proved" if data.proved else f"distance {data.ball:.1g}"
    inside += f" (it is proved within {data.within:.0e} alone, which doubles do not show)" if data.within else ""
    ranks = ", ".join(f"{value:.3g}" for value in data.singular_values)
    return (
        f"Distance to the equilibrium by layer, from {len(data.distances)} random starts within {inside}, half of "
        f"them on its boundary. The spectral radius of the Jacobian is {data.spectral_radius:.4g}; the singular "
        f"values of the tokens are {ranks}."
    )
