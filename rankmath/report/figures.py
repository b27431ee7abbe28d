"""The figures of a report: which there are, what is drawn in them, and the words that say what to see."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from rankmath.claims import statement
from rankmath.decide.campaigns.crews import shared
from rankmath.decide.campaigns.curves import (
    Curve,
    Rates,
    antipodal_skip,
    collapsing_network,
    limit_rate,
    log_minus_log,
    mask_kinds,
    mask_rates,
    path_curve,
    random_skip,
    sides_by_depth,
)
from rankmath.decide.campaigns.work import Tell
from rankmath.drawing import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RULE
from rankmath.linalg.masks import Mask, MaskLike
from rankmath.report.plots import Figure, Panel, Table, panel_svgs, save_for_print
from rankmath.report.subject import Histogram, Row, Subject
from rankmath.validation import ArrayLike, Axes


@dataclass(frozen=True)
class Kind:
    """How a figure is made, what it shows in a few words, and the statements without which there is none.

    `about` lists alternatives: the figure is there if all statements of one of them took part; none if the figure
    is about whatever took part, and so about what was found.
    """

    make: Callable[[Subject], Figure | None]
    shows: str
    about: tuple[frozenset[str], ...] = ()
    kind: str | None = None

    def wanted(self, subject: Subject) -> bool:
        """Whether the statements of the figure took part."""
        if self.kind is not None and self.kind != subject.kind:
            return False
        return not self.about or any(keys <= subject.verified for keys in self.about)


@dataclass(frozen=True)
class Drawing:
    """A figure to be made, saved for print in `folder` and drawn for the page: a piece of work for the crews."""

    key: str
    subject: Subject
    folder: Path

    def run(self, tell: Tell) -> Figure | None:
        figure = FIGURES[self.key].make(self.subject)
        if figure is None:
            return None
        save_for_print(figure, self.folder)
        drawn = zip(figure.panels, panel_svgs(figure), strict=True)
        return replace(figure, panels=tuple(Panel(_drawn_already, panel.alt, svg) for panel, svg in drawn))


def _drawn_already(axes: Axes) -> None:
    """In place of what draws a panel: it cannot be sent from another process, as a lambda cannot."""


def drawings(subject: Subject, folder: Path) -> list[Drawing]:
    """The figures to be made; those of networks of their own do not depend on what was found."""
    found = replace(subject, checks=(), report=None)
    return [
        Drawing(name, subject.outline if kind.about else found, folder)
        for name, kind in FIGURES.items()
        if kind.wanted(subject)
    ]


def drawn(
    subject: Subject, folder: Path, step: Callable[[str], None] = lambda name: None
) -> tuple[list[Figure], list[str]]:
    """`figures_of`, saved for print and drawn for the page, by as many processes as the run had where they pay."""
    pieces = drawings(subject, folder)
    made: dict[str, Figure | None] = {}
    for came in shared(pieces, workers=subject.jobs if len(pieces) >= _SHARED else 1):
        step(came.chunk.key)
        made[came.chunk.key] = came.findings
    return figures_of(subject, made)


def figures_of(subject: Subject, made: Mapping[str, Figure | None] | None = None) -> tuple[list[Figure], list[str]]:
    """The figures there is something to draw for, made here unless given, and a sentence for each of the others."""
    found, omitted = [], []
    for name, kind in FIGURES.items():
        wanted = kind.wanted(subject)
        figure = None if not wanted else made[name] if made is not None else kind.make(subject)
        if figure is not None:
            found.append(figure)
        elif kind.kind in (None, subject.kind):
            needs = " or ".join(" with ".join(sorted(keys)) for keys in kind.about)
            reason = f"it needs {needs}" if needs else "no instance has two sides to compare"
            omitted.append(f"{kind.shows[0].upper()}{kind.shows[1:]}: not drawn, {reason}.")
    return found, omitted


#: From so many figures on, several processes draw them.
_SHARED = 4
#: Left, bottom, right, top, in inches: room for a label and two digits.
_MARGINS = (0.62, 0.5, 0.12, 0.3)


# -- decay -------------------------------------------------------------------------------------------------


def regimes(subject: Subject) -> Figure:
    """Both regimes: doubly exponential without skips, 1/√L with them, each against its bound."""
    net, X = collapsing_network()
    alone = sides_by_depth("own:diameter", net, X, range(1, net.layers + 1), side=1)
    deepest = 200
    depths = np.unique(np.geomspace(1, deepest, 12).astype(int))
    families = (("two tokens", antipodal_skip, BLUE, "o"), ("random network", random_skip, GREEN, "s"))
    curves = {name: sides_by_depth("own:skip-lower", *family(deepest), depths) for name, family, *_ in families}

    def left(axes: Axes) -> None:
        axes.plot(alone.depth, log_minus_log(alone.log_lhs), "o-", color=BLUE, markersize=4, label="measured")
        axes.plot(alone.depth, log_minus_log(alone.log_rhs), "--", color=ORANGE, label="upper bound, own:diameter")
        axes.set(title="attention alone: doubly exponential", xlabel="layers $L$")
        axes.set_ylabel(r"$\log(-\log\,\Delta(X^L))$")
        axes.legend()

    def right(axes: Axes) -> None:
        for name, _, colour, marker in families:
            curve = curves[name]
            shown = np.exp(curve.log_rhs)
            axes.loglog(depths, shown, marker + "-", color=colour, markersize=4, label=f"measured, {name}")
            axes.loglog(depths, np.exp(curve.log_lhs), "--", color=colour, label="its lower bound, own:skip-lower")
        through = np.exp(curves["two tokens"].log_rhs[-1]) * np.sqrt(deepest / depths)
        axes.loglog(depths, through, ":", color=GREY, label=r"slope $-1/2$")
        axes.set(title="with skip connections: polynomial", xlabel="layers $L$", ylabel=r"$\Delta(X^L)$")
        axes.legend(fontsize=7)

    slope = _slope(np.log(depths[-4:]), curves["two tokens"].log_rhs[-4:])
    order = math.exp(_slope(alone.depth[-3:], log_minus_log(alone.log_lhs)[-3:]))
    caption = (
        "The diameter of the tokens by depth. First: attention alone; the scale is doubly logarithmic and "
        "higher is smaller, so a straight line is doubly exponential decay and an upper bound lies below; each "
        f"of the last layers multiplies the logarithm by {order:.3f}. Second: with skip connections, on two "
        f"logarithmic axes; the antipodal tokens follow a power of the depth, with exponent {slope:.3f} over the "
        "last depths, and no network may fall below the dashed line of its colour."
    )
    rows = [("attention alone", *row) for row in _depth_rows(alone)]
    for name, curve in curves.items():
        rows += [(f"with skips, {name}", *row) for row in _depth_rows(curve)]
    alt_first = (
        "Line chart of log(−log diameter) against layers 1 to 6 for attention alone: the measured line rises "
        f"straight, the logarithm growing {order:.2f}-fold a layer at the end, and the bound of own:diameter "
        "stays below it."
    )
    alt_second = (
        f"Chart with logarithmic axes of the diameter against 1 to {deepest} layers with skip connections: two "
        f"measured lines stay above their lower bounds; that of two tokens falls with slope {slope:.2f}."
    )
    panels = (Panel(left, alt_first), Panel(right, alt_second))
    data = Table(("network", "statement", "layers", "log_lhs", "log_rhs"), tuple(rows))
    command = subject.command(("own:diameter", "own:skip-lower"))
    return Figure("regimes", "Two regimes of collapse", panels, caption, data, command, margins=_MARGINS)


@dataclass(frozen=True)
class _Quantity:
    """A measured quantity of one network and the bounds on it: (key, number of the inequality) each."""

    title: str
    plain: str
    colour: str
    heads: int
    bounds: tuple[tuple[str, int], ...]


_QUANTITIES = (
    _Quantity(r"diameter $\Delta_2$, two heads", "diameter", BLUE, 2, (("own:diameter", 1),)),
    _Quantity(
        r"residual $\|\cdot\|_\infty$, two heads", "residual in the infinity norm", GREEN, 2, (("own:residual-inf", 0),)
    ),
    _Quantity(
        r"residual $\|\cdot\|_{1,\infty}$, two heads",
        "composite residual",
        PURPLE,
        2,
        (("dong2021:2.3", 0), ("dong2021:2.3-printed", 0), ("dong2021v1:2.3", 0)),
    ),
    _Quantity(
        r"residual $\|\cdot\|_{1,\infty}$, one head",
        "composite residual",
        PURPLE,
        1,
        (("dong2021:2.2", 0), ("dong2021v1:2.2", 0)),
    ),
    _Quantity(
        r"$\mu$, one head", "distance μ from the mean token", BLUE, 1, (("wu2024:1", 0), ("wu2024:1-doeblin", 0))
    ),
)
_DEPTH_KEYS = tuple(key for quantity in _QUANTITIES for key, _ in quantity.bounds)


def decay(subject: Subject) -> Figure:
    """Each depth bound that took part against a network, in the quantity it bounds."""
    networks = {heads: collapsing_network(heads) for heads in (1, 2)}
    panels, rows, shares, missing = [], [], [], []
    for quantity in _QUANTITIES:
        net, X = networks[quantity.heads]
        curves = [
            sides_by_depth(key, net, X, range(1, net.layers + 1), side=side)
            for key, side in quantity.bounds
            if key in subject.verified
        ]
        if not curves:
            continue
        panels.append(_decay_panel(quantity, curves))
        for curve in curves:
            rows += [(quantity.heads, quantity.plain, *row) for row in _depth_rows(curve)]
            resolved = np.isfinite(curve.log_rhs)
            if not resolved.all():
                missing.append(f"{curve.key} beyond layer {int(curve.depth[resolved][-1])}")
            last = int(np.flatnonzero(resolved)[-1])
            shares.append(f"{curve.log_rhs[last] / curve.log_lhs[last]:.3g} ({curve.key})")
    tokens = len(networks[1][1])
    caption = (
        f"Networks of attention alone ({tokens} tokens, as many heads as said) against every bound for depth that took "
        "part, each in the quantity the bound is about. A line of slope log 3 is decay of order three; higher is "
        "smaller, so an upper bound lies below. The logarithm a bound promises at the last layer is this share "
        f"of the measured one: {', '.join(shares)}."
    )
    if any(statement(row[2]).status == "refuted" for row in rows):
        caption += " Dotted bounds are refuted: they happen to hold on these networks."
    if missing:
        caption += (
            f" Float64 cannot follow {', '.join(missing)}, where attention is uniform to all its digits; the share "
            "is that of the last layer it follows."
        )
    data = Table(("heads", "quantity", "statement", "layers", "log_lhs", "log_rhs"), tuple(rows))
    command = subject.command(key for key in _DEPTH_KEYS if key in subject.verified)
    size = (3.6, 3.1)
    return Figure("decay", "Decay against every bound", tuple(panels), caption, data, command, 3, size, _MARGINS)


def _decay_panel(quantity: _Quantity, curves: Sequence[Curve]) -> Panel:
    measured = curves[0]
    bounds = (ORANGE, GREY, GREEN)

    def draw(axes: Axes) -> None:
        axes.plot(
            measured.depth, log_minus_log(measured.log_lhs), "o-", color=quantity.colour, markersize=4, label="measured"
        )
        for curve, colour in zip(curves, bounds, strict=False):
            refuted = statement(curve.key).status == "refuted"
            style, word = (":", "refuted") if refuted else ("--", "bound")
            shown = np.where(np.isfinite(curve.log_rhs), log_minus_log(curve.log_rhs), np.nan)
            axes.plot(curve.depth, shown, style, color=colour, linewidth=1.8, label=f"{word}, {curve.key}")
        axes.set(title=quantity.title, xlabel="layers $L$")
        axes.set_ylabel(r"$\log(-\log\,\cdot)$")
        # All curves rise: below them, to the right, there is room for the words, with a line's height for each.
        low, high = axes.get_ylim()
        axes.set_ylim(low - 0.13 * (len(curves) + 1) * (high - low), high)
        axes.legend(fontsize=7, loc="lower right")

    first, last = log_minus_log(measured.log_lhs)[[0, -1]]
    names = ", ".join(curve.key for curve in curves)
    heads = "two heads" if quantity.heads == 2 else "one head"
    alt = (
        f"Line chart of log(−log) of the {quantity.plain} with {heads} against layers 1 to {measured.depth[-1]}: "
        f"measured rises from {first:.2f} to {last:.2f}; bounds below it: {names}."
    )
    return Panel(draw, alt)


def _depth_rows(curve: Curve) -> list[tuple[str, int, float, float]]:
    numbers = zip(curve.depth.tolist(), curve.log_lhs.tolist(), curve.log_rhs.tolist(), strict=True)
    return [(curve.key, *row) for row in numbers]


def _slope(x: ArrayLike, y: ArrayLike) -> float:
    return float(np.polyfit(x, y, 1)[0])


# -- tightness ---------------------------------------------------------------------------------------------


def tightness(subject: Subject) -> Figure | None:
    """How much each bound gives away: a histogram of log₁₀(lhs/rhs) per statement, all on one axis."""
    shown = [histogram for histogram in subject.histograms if sum(histogram.counts)]
    if not shown:
        return None
    shown.sort(key=lambda histogram: (_median(histogram), histogram.key))
    keys = [histogram.key for histogram in shown]
    tightest = {row.key: row.tightest for row in subject.rows}
    least = min(histogram.edges[0] for histogram in shown)
    decades = [x for x in (0, 1, 3, 10, 30, 100, 300, 1000) if x <= -least]

    def draw(axes: Axes) -> None:
        for line, histogram in enumerate(shown):
            heights = line + 0.85 * np.asarray(histogram.counts) / max(histogram.counts)
            axes.stairs(heights, histogram.edges, baseline=line, fill=True, color=BLUE)
        axes.hlines(range(len(shown)), least, 0, color=RULE, linewidth=0.6)
        axes.axvline(0, color=ORANGE, linestyle="--", linewidth=1.2)
        # A user's key may hold a dollar: it is a name, no formula.
        axes.set_yticks(np.arange(len(shown)) + 0.3, keys, fontsize=7, parse_math=False)
        axes.set_ylim(-0.4, len(shown) + 0.2)
        # Linear up to a factor of ten, logarithmic beyond: some bounds give a hundred decades away.
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(least, max(0.25, *(histogram.edges[-1] for histogram in shown)))
        axes.set_xticks([-x for x in decades], [f"−{x}" if x else "0" for x in decades])
        axes.minorticks_off()
        axes.set_xlabel("log₁₀(lhs/rhs)")
        axes.grid(visible=False)

    alt = "Histogram of log10(lhs/rhs) of each statement, one above the other: " + " ".join(
        _tightness_words(histogram, tightest.get(histogram.key, "")) for histogram in reversed(shown)
    )
    beyond = sum(histogram.beyond for histogram in subject.histograms)
    left_out = "" if not beyond else f" {beyond} instances lie below the first bin, or have lhs = 0."
    caption = (
        f"How tight the bounds are on the instances of this {subject.kind}: the quotient of the two sides, on a "
        f"logarithmic scale, for {len(shown)} statements, by its median. The dashed line is equality, which no "
        "true statement crosses; mass close to it means that the bound can hardly be improved on such instances, mass "
        f"far to the left that it gives much away on such instances. Every line has its own bins and height.{left_out}"
    )
    rows = tuple(
        (h.key, low, high, count)
        for h in subject.histograms
        for low, high, count in [(None, h.edges[0], h.beyond), *zip(h.edges, h.edges[1:], h.counts, strict=False)]
        if count
    )
    data = Table(("statement", "log10_ratio_from", "log10_ratio_to", "instances"), rows)
    size, margins = _listing(keys)
    return Figure("tightness", "Tightness", (Panel(draw, alt),), caption, data, subject.command(), 1, size, margins)


def _median(histogram: Histogram) -> float:
    """The left edge of the bin in which the middle instance lies."""
    up_to = np.cumsum(histogram.counts)
    return histogram.edges[int(np.searchsorted(up_to, up_to[-1] / 2))]


def _tightness_words(histogram: Histogram, tightest: str) -> str:
    k = int(np.argmax(histogram.counts))
    low, high = histogram.edges[k : k + 2]
    return (
        f"{histogram.key}: {sum(histogram.counts)} instances, most of them ({histogram.counts[k]}) between "
        f"{low:.3g} and {high:.3g}; largest lhs/rhs {tightest}."
    )


def _listing(keys: Sequence[str]) -> tuple[tuple[float, float], tuple[float, float, float, float]]:
    """Size and margins of a panel with one line for each key, which stands on its left."""
    return (6.5, 0.75 + 0.17 * max(len(keys), 5)), (0.2 + min(3.0, 0.068 * max(map(len, keys))), 0.5, 0.15, 0.1)


def ranked(subject: Subject) -> Figure | None:
    """All statements in one picture, ranked by how close they come to equality; the refuted ones beyond it."""
    rows = [row for row in subject.rows if row.log_tightest is not None or row.log_worst is not None]
    if not rows:
        return None

    def place(row: Row) -> float:
        """Digits in which lhs and rhs agree at best, 0 to 15; beyond equality for what is violated."""
        if row.outcome == "REFUTED" and row.log_worst is not None:
            return 17.0
        gap = -math.expm1(row.log_tightest) if row.log_tightest is not None else 1.0
        return min(15.0, -math.log10(max(gap, 1e-15)))

    ordered = sorted(rows, key=lambda row: (place(row), row.key))
    places = [place(row) for row in ordered]
    kinds = (
        ("holds", BLUE, "o", lambda row: row.outcome in ("HOLDS", "HELD", "PROVED")),
        ("refuted", ORANGE, "X", lambda row: row.outcome == "REFUTED"),
        ("undecided", GREY, "s", lambda row: row.outcome == "UNDECIDED"),
    )

    def draw(axes: Axes) -> None:
        axes.hlines(range(len(ordered)), 0, places, color=RULE, linewidth=1)
        for name, colour, marker, belongs in kinds:
            chosen = [k for k, row in enumerate(ordered) if belongs(row)]
            if chosen:
                axes.plot([places[k] for k in chosen], chosen, marker, color=colour, markersize=5, label=name)
        axes.axvline(15.5, color=INK, linewidth=0.8)
        axes.set_yticks(range(len(ordered)), [row.key for row in ordered], fontsize=7, parse_math=False)
        axes.set_ylim(-0.8, len(ordered) - 0.2)
        axes.set_xlim(-0.4, 18)
        axes.set_xticks([0, 3, 6, 9, 12, 15, 17], ["0", "3", "6", "9", "12", "15", "beyond"])
        axes.set_xlabel("digits in which lhs and rhs agree at best")
        if axes.get_legend_handles_labels()[0]:  # a user's report may name outcomes of its own
            axes.legend(loc="lower right")

    listed = "; ".join(f"{row.key}: {row.tightest or 'violated'}" for row in reversed(ordered))
    alt = f"{len(ordered)} statements ranked by tightness, from the tightest: {listed}."
    caption = (
        "All statements with two sides, ranked: how many digits of the smaller side and the larger agree on the "
        "tightest instance. At 15 a double sees equality: the bound is sharp there. Beyond the line an instance "
        "violates the statement."
    )
    table = Table(
        ("statement", "outcome", "log_tightest", "log_worst"),
        tuple((row.key, row.outcome, row.log_tightest, row.log_worst) for row in reversed(ordered)),
    )
    size, margins = _listing([row.key for row in ordered])
    return Figure("ranked", "All at a glance", (Panel(draw, alt),), caption, table, subject.command(), 1, size, margins)


# -- paths -------------------------------------------------------------------------------------------------


def paths(subject: Subject) -> Figure:
    """What the paths of each length contribute, at three sizes of the tokens, and how many there are."""
    styles = ((1.0, BLUE, "o"), (0.3, GREEN, "s"), (0.1, ORANGE, "^"))
    curves = [(path_curve(scale), colour, marker) for scale, colour, marker in styles]
    lengths = np.arange(len(curves[0][0].counts))
    counts = curves[0][0].counts

    def contributions(axes: Axes) -> None:
        for curve, colour, marker in curves:
            axes.plot(
                lengths,
                curve.log_residual / math.log(10),
                marker + "-",
                color=colour,
                markersize=4,
                label=f"tokens of size {curve.scale:g}",
            )
            axes.axhline(curve.log_network / math.log(10), color=colour, linestyle=":", linewidth=1.2)
        axes.set(title="residual of the sum of all paths", xlabel="heads on the path $k$")
        axes.set_ylabel(r"$\log_{10}\,\|\mathrm{res}\|_F$")
        axes.legend(loc="lower left")

    def numbers(axes: Axes) -> None:
        axes.bar(lengths, counts, color=GREY, width=0.7)
        axes.set_yscale("log")
        axes.set(title=f"number of paths, {sum(counts)} in all", xlabel="heads on the path $k$")
        axes.set_ylabel(r"$\binom{L}{k} H^k$")

    small, large = curves[-1][0], curves[0][0]
    per_head = math.exp((small.log_residual[-1] - small.log_residual[0]) / (len(small.counts) - 1))
    k = int(np.argmax(large.log_residual))
    caption = (
        "An attention network with skip connections is the sum of its paths (dong2021:2.1-skip); here they are "
        "summed exactly by the number of heads they pass, the rest of the layers being skipped. Few paths are "
        "short, yet with small tokens the short ones are nearly all that remains: every head on the way "
        f"multiplies the residual by a small factor ({per_head:.1e} in the mean for size "
        f"{small.scale:g}). With tokens of size 1 paths through {k} heads weigh most. Dotted: the residual of "
        "the network, the sum of all."
    )
    rows = tuple(
        (curve.scale, int(k), counts[k], float(curve.log_residual[k]), curve.log_network)
        for curve, *_ in curves
        for k in lengths
    )
    alt_first = (
        f"Line chart of log10 of the residual of all paths through k heads, k from 0 to {lengths[-1]}: for small "
        f"tokens it falls from {small.log_residual[0] / math.log(10):.1f} to "
        f"{small.log_residual[-1] / math.log(10):.1f}."
    )
    alt_second = f"Bar chart of the number of paths through k heads, from {counts[0]} to at most {max(counts)}."
    panels = (Panel(contributions, alt_first), Panel(numbers, alt_second))
    data = Table(("token_size", "heads_on_path", "paths", "log_residual", "log_residual_network"), rows)
    command = subject.command(_PATHS)
    return Figure("paths", "Contributions by path length", panels, caption, data, command, margins=_MARGINS)


_PATHS = ("dong2021:2.1-skip",)


# -- masks -------------------------------------------------------------------------------------------------


def masks(subject: Subject) -> Figure:
    """Rates of collapse under masks: the bound, the computed contraction, what is measured, and the limit."""
    kinds = [(name, mask, mask_rates(mask)) for name, mask in mask_kinds().items()]
    windows = [(n, mask, mask_rates(mask)) for n in (3, 5, 7, 9, 13, 17) for mask in (Mask.window(n, 1),)]
    shown = (
        (r"bound $(1-\varepsilon^r)^{1/r}$", "bound", ORANGE, "v", "--"),
        ("computed contraction", "computed", GREEN, "s", "-."),
        ("measured", "measured", BLUE, "o", "-"),
    )

    def by_kind(axes: Axes) -> None:
        height = np.arange(len(kinds))[::-1]
        for label, name, colour, marker, _ in shown:
            gaps = [_gap(getattr(rates, name)) for *_, rates in kinds]
            axes.plot(gaps, height, marker, color=colour, markersize=5, label=label)
        axes.set_xscale("log")
        axes.set_yticks(height, [f"{name}, r = {mask.steps}" for name, mask, _ in kinds])
        axes.set(title="twelve tokens", xlabel="1 − factor of μ per layer")
        axes.legend(fontsize=7, loc="upper left")

    def by_radius(axes: Axes) -> None:
        radii = [mask.steps for _, mask, _ in windows]
        for label, name, colour, marker, line in shown:
            gaps = [_gap(getattr(rates, name)) for *_, rates in windows]
            axes.plot(radii, gaps, marker + line, color=colour, markersize=4, label=label)
        limits = [1 - limit_rate(mask) for _, mask, _ in windows]
        axes.plot(radii, limits, "x:", color=GREY, label="in the limit")
        axes.set_yscale("log")
        axes.set(title="windows ±1 of growing length", xlabel="radius $r$", ylabel="1 − factor of μ per layer")
        axes.legend(fontsize=7, loc="lower left")

    longest = windows[-1]
    caption = (
        "By what factor μ, the distance of the tokens from their mean, shrinks a layer under masks; to the "
        "right, and higher, is faster collapse. The bound of wu2024:1 lies in the radius r and the least "
        "attention weight ε alone; the computed contraction of wu2024:1-doeblin sees all columns that everybody "
        "attends to. First: every kind of mask. Second: on windows ±1 the bound falls geometrically with the "
        f"radius, to 1 − {_gap(longest[2].bound):.1e} at r = {longest[1].steps}, while the measured factor "
        f"is {math.exp(longest[2].measured):.3f}: a local mask slows collapse polynomially. Means over ten "
        "networks with one head, W_V = I."
    )
    rows = [_mask_row(name, mask, rates) for name, mask, rates in kinds]
    rows += [_mask_row("window ±1", mask, rates) for _, mask, rates in windows]
    names = ("mask", "tokens", "radius", "least_attention", "bound", "computed", "measured", "limit")
    alt_first = (
        "Dot chart of one minus the rate per layer for eleven masks of twelve tokens: under every mask the "
        "bound lies left of the computed contraction, which lies left of what is measured."
    )
    alt_second = (
        f"Line chart of one minus the rate per layer against the radius, 1 to {longest[1].steps}, for "
        "windows ±1: the bound and the computed contraction fall by orders of magnitude, measured and limit "
        "rates hardly."
    )
    panels = (Panel(by_kind, alt_first), Panel(by_radius, alt_second))
    data = Table(names, tuple(rows))
    return Figure("masks", "Collapse under masks", panels, caption, data, subject.command(_MASKS), 2, (4.8, 3.6))


_MASKS = ("wu2024:1", "wu2024:1-doeblin")


def _gap(log_rate: float) -> float:
    return float(-np.expm1(log_rate))


def _mask_row(name: str, mask: MaskLike, rates: Rates) -> tuple[str | float | None, ...]:
    factors = (math.exp(x) for x in (rates.least, rates.bound, rates.computed, rates.measured))
    return (name, mask.n, mask.steps, *factors, limit_rate(mask))


# -- LayerNorm ---------------------------------------------------------------------------------------------


def portrait(mask: str, key: str, subject: Subject) -> Figure:
    """Two tokens in the plane under LayerNorm with an attracting equilibrium of rank two: basins and limits."""
    from rankmath.equilibria.constructions import layernorm_equilibrium
    from rankmath.equilibria.portraits import portrait_data
    from rankmath.report.portraits import portrait_figure

    # A grid of 48 angles shows the basins; a finer one shows the same at four times the price.
    data = portrait_data(layernorm_equilibrium(2, 2, 2, mask=mask, stable=True), grid=48)
    figure = portrait_figure(data, f"portrait-{mask}")
    # The basins are a picture of pale colours that no style sheet reaches: what is drawn on it must stay dark.
    return replace(
        figure,
        title=f"LayerNorm equilibria, {mask} mask",
        caption=f"{figure.caption} Limits whose tokens lie at different places are tokens that never collapse: "
        f"{key} proves of others that they attract; the command hands over a certificate for this one.",
        command=f"rankmath counterexample layernorm --tokens 2 --dim 2 --rank 2 --mask {mask} --stable --plot",
        themed=False,
    )


# -- a campaign --------------------------------------------------------------------------------------------


def throughput(subject: Subject) -> Figure | None:
    """Instances a second of one process, by statement."""
    costs = subject.costs
    rates = [(row[0], row[4]) for row in costs.rows if row[4]] if costs is not None else []
    if costs is None or not rates:
        return None

    def draw(axes: Axes) -> None:
        height = np.arange(len(rates))[::-1]
        # Points: a logarithmic axis has no zero from which a bar could start.
        axes.semilogx([rate for _, rate in rates], height, "o", color=BLUE)
        axes.margins(0.08, 0.5 / len(rates))
        # A dollar of a user's key is no formula.
        axes.set_yticks(height, [str(key).replace("$", r"\$") for key, _ in rates])
        axes.grid(visible=False, axis="y")
        axes.set(title="throughput", xlabel="instances per second of one process")

    fastest, slowest = max(rates, key=lambda r: r[1]), min(rates, key=lambda r: r[1])
    caption = (
        "How fast instances were judged, certification included: seconds of one process, over all chunks of the "
        f"ledger. Fastest {fastest[0]} ({fastest[1]:.4g} a second), slowest {slowest[0]} ({slowest[1]:.4g})."
    )
    alt = f"Points: instances per second of {len(rates)} statements, from {slowest[1]:.4g} to {fastest[1]:.4g}."
    size = (5.4, 1.2 + 0.28 * len(rates))
    return Figure("throughput", "Throughput", (Panel(draw, alt),), caption, costs, subject.command(), 1, size)


#: The figures of a report, in the order in which page and appendix show them.
FIGURES = {
    "ranked": Kind(ranked, "all statements, ranked by tightness"),
    "regimes": Kind(
        regimes,
        "doubly exponential collapse without skip connections and a power law with them",
        (frozenset({"own:diameter", "own:skip-lower"}),),
    ),
    "decay": Kind(
        decay,
        "each bound for depth against a network of one or two heads",
        tuple(frozenset({key}) for key in _DEPTH_KEYS),
    ),
    "tightness": Kind(tightness, "how tight each bound is on the instances drawn"),
    "paths": Kind(paths, "what the paths of each length contribute", (frozenset(_PATHS),)),
    "masks": Kind(masks, "how fast attention collapses under masks, and what the bounds say", (frozenset(_MASKS),)),
    "portrait-complete": Kind(
        partial(portrait, "complete", "own:stable-complete"),
        "where two tokens settle under LayerNorm and the complete mask",
        (frozenset({"own:stable-complete"}),),
    ),
    "portrait-causal": Kind(
        partial(portrait, "causal", "own:stable-causal"),
        "where two tokens settle under LayerNorm and the causal mask",
        (frozenset({"own:stable-causal"}),),
    ),
    "throughput": Kind(throughput, "how many instances a second were judged", kind="ledger"),
}
