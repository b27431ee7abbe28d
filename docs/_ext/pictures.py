"""The gallery's pictures: how tight a statement is on a small seeded sample, and the numbers they are drawn from.

python docs/_ext/pictures.py own:tv         writes own-tv.svg and own-tv.json
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.drawing import pyplot
from rankmath.printing import log_of, quotient
from rankmath.report.sources import committed_certificates, slug
from rankmath.verification.instance import Instance
from rankmath.verification.judge import judge, verdicts
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

SEED = 0
#: Instances of a statement whose instances are cheap, over all its generators.
SAMPLE = 80

# Okabe and Ito's colours, told apart by all eyes.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"

DRAWN, NEAR, VIOLATED = "drawn", "built to be tight", "violated"
HELD = "held"
_COLOURS = {DRAWN: BLUE, NEAR: GREEN, VIOLATED: ORANGE, HELD: BLUE}


@dataclass
class Sample:
    """What a picture shows. Inequalities: log₁₀(lhs/rhs) by series; exact statements: outcomes by kind of instance.

    `zero` counts instances whose left side vanishes, which have no logarithm; `exceeds` is a lower bound of lhs/rhs
    in the committed refutation, where there is one.
    """

    key: str
    log_ratios: dict[str, list[float]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)
    zero: int = 0
    not_applicable: int = 0
    undecided: int = 0
    exceeds: float | None = None

    @property
    def count(self) -> int:
        """Instances on which the statement was decided."""
        ratios = sum(len(values) for values in self.log_ratios.values())
        return ratios + self.zero + sum(sum(row.values()) for row in self.outcomes.values())

    @property
    def tightest(self) -> float | None:
        """The largest lhs/rhs among instances that hold."""
        held = [x for name, values in self.log_ratios.items() if name != VIOLATED for x in values]
        return 10 ** max(held) if held else None

    @property
    def violated(self) -> int:
        return len(self.log_ratios.get(VIOLATED, ())) + sum(row[VIOLATED] for row in self.outcomes.values())

    def words(self) -> str:
        """The picture in words, for those who do not see it."""
        if self.outcomes:
            rows = "; ".join(
                f"{label}: {row[HELD]} held, {row[VIOLATED]} violated" for label, row in self.outcomes.items()
            )
            return f"{self.key} decided exactly on {plural(self.count)}. {rows}."
        parts = [f"{self.key}: quotient of the two sides on {plural(self.count)}, on a logarithmic scale"]
        if self.tightest is not None:
            parts.append(f"the largest that holds is {quotient(log_of(self.tightest))}")
        if self.violated:
            parts.append(f"{self.violated} lie beyond equality")
        if self.exceeds is not None:
            parts.append(f"the committed counterexample exceeds {self.exceeds:.4g}")
        return "; ".join(parts) + "."


def plural(count: int) -> str:
    return f"{count} instance" + ("" if count == 1 else "s")


def sample(entry: Statement) -> Sample:
    """Every generator of instances, seeded by its index; then the near-extremal instances the statement names."""
    found = Sample(entry.key, exceeds=_exceeds(entry.key))
    # Where an instance is dear there are few, and not of every kind.
    total = max(1, round(SAMPLE * entry.share))
    size = max(1, min(40, total // max(1, len(entry.draws))))
    for index, draw in enumerate(entry.draws[:total]):
        batch = draw(np.random.default_rng([SEED, index]), size)
        instances = [batch.select(i) for i in range(len(batch))]
        if entry.exact:
            seen = [judge(entry, instance, "exact") for instance in instances]
        else:
            seen = verdicts(entry, Float64(np.zeros(1)), batch, len(batch), "float64")
        for instance, verdict in zip(instances, seen, strict=True):
            _take(found, entry, instance, verdict, DRAWN)
    if entry.extremal is not None:
        for instance in entry.extremal(np.random.default_rng([SEED, len(entry.draws)])):
            _take(found, entry, instance, judge(entry, instance, "float64"), NEAR)
    return found


def _take(found: Sample, entry: Statement, instance: Instance, verdict: Verdict, series: str) -> None:
    if not verdict.certified and verdict.outcome in (Outcome.VIOLATED, Outcome.UNDECIDED):
        seen, verdict = verdict, judge(entry, instance, "balls")  # rounding decides nothing, in pictures neither
        if seen.outcome == verdict.outcome == Outcome.VIOLATED:
            verdict = seen  # confirmed; balls name the first side that fails, float64 the one that fails most
    if verdict.outcome == Outcome.NOT_APPLICABLE:
        found.not_applicable += 1
    elif verdict.outcome == Outcome.UNDECIDED:
        found.undecided += 1
    elif math.isnan(verdict.log_lhs):
        row = found.outcomes.setdefault(instance.label, {HELD: 0, VIOLATED: 0})
        row[HELD if verdict.outcome == Outcome.HOLDS else VIOLATED] += 1
    elif verdict.log_lhs == -math.inf:
        found.zero += 1
    else:
        name = VIOLATED if verdict.outcome == Outcome.VIOLATED else series
        found.log_ratios.setdefault(name, []).append(_log10(verdict))


def _log10(verdict: Verdict) -> float:
    return float(verdict.log_lhs - verdict.log_rhs) / math.log(10)


def _exceeds(key: str) -> float | None:
    """A lower bound of lhs/rhs from the committed refutation of `key`, for the families that have one."""
    from rankmath.report.appendix import values

    text = values(committed_certificates()).get(f"{key}:ratio")
    return None if text is None else float(Fraction(text))


def draw(found: Sample, path: Path) -> None:
    """The picture as SVG: every bar carries the name of its series and its place, so that it can be read back."""
    plt = pyplot(screen=False)
    import matplotlib

    # The same picture from the same numbers, byte for byte.
    with matplotlib.rc_context({"svg.hashsalt": found.key, "font.size": 9}):
        figure, axes = plt.subplots(figsize=(6, 2.4))
        figure.subplots_adjust(left=0.24 if found.outcomes else 0.1, right=0.98, bottom=0.2, top=0.88)
        try:
            _draw_outcomes(axes, found) if found.outcomes else _draw_ratios(axes, found)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            figure.savefig(path, format="svg", metadata={"Date": None, "Title": found.words()})
        finally:
            plt.close(figure)


#: Smaller quotients share the first bar: doubly exponential decay has no scale that shows both ends.
LEAST = -12.0


def edges(found: Sample) -> np.ndarray[Any, Any]:
    """Bins of the histogram: thirty between the smallest and the largest, a decade in all at the least."""
    everything = [x for values in found.log_ratios.values() for x in values]
    high = max([*everything, 0.0])
    low = min([*everything, high - 1.0])
    return np.linspace(max(low, LEAST), high, 31)


def bars(found: Sample) -> dict[str, list[int]]:
    """The heights of the histogram, series by series."""
    return {
        name: np.histogram(np.maximum(values, LEAST), bins=edges(found))[0].tolist()
        for name, values in found.log_ratios.items()
    }


def _draw_ratios(axes: Any, found: Sample) -> None:
    bins = edges(found)
    below = np.zeros(len(bins) - 1)
    for name, heights in bars(found).items():
        shown = axes.bar(
            bins[:-1], heights, np.diff(bins), bottom=below, align="edge", color=_COLOURS[name], label=name
        )
        for k, bar in enumerate(shown):
            bar.set_gid(f"bar {name} {k}")
        below += heights
    axes.axvline(0, color=GREY, linestyle="--", linewidth=1, label="equality")
    if found.exceeds is not None:
        axes.axvline(math.log10(found.exceeds), color=ORANGE, linewidth=2, label="counterexample")
    cut = " (first bar: −12 and below)" if bins[0] == LEAST else ""
    axes.set(xlabel=f"log₁₀(lhs/rhs){cut}", ylabel="instances", title=found.key)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=8, loc="upper left", frameon=False)


def _draw_outcomes(axes: Any, found: Sample) -> None:
    labels = list(found.outcomes)
    left = np.zeros(len(labels))
    for name in (HELD, VIOLATED):
        widths = [found.outcomes[label][name] for label in labels]
        shown = axes.barh(labels, widths, left=left, color=_COLOURS[name], label=name, height=0.6)
        for k, bar in enumerate(shown):
            bar.set_gid(f"bar {name} {k}")
        left += widths
    axes.set(xlabel="instances", title=found.key)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.4)
    axes.legend(fontsize=8, loc="upper left", frameon=False)


def write(key: str, folder: Path) -> Sample:
    """The picture and its numbers under `folder`, named by the key."""
    found = sample(statement(key))
    folder.mkdir(parents=True, exist_ok=True)
    draw(found, folder / f"{slug(key)}.svg")
    (folder / f"{slug(key)}.json").write_text(json.dumps(plain(found), indent=1) + "\n", encoding="utf-8")
    return found


def plain(found: Sample) -> Mapping[str, Any]:
    """For JSON."""
    return {"seed": SEED, **vars(found)}


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(write(wanted, Path(".")).words())
