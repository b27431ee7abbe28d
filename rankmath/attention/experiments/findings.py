"""What an experiment hands over: its settings, its curves, and sentences made of its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from rankmath.validation import ArrayLike, Json

#: Called with a word after every step of a known number of steps.
Step = Callable[[str], None]


def silent(_: str) -> None:
    """A progress that nobody watches."""


@dataclass(frozen=True)
class Curve:
    """One line of a figure.

    Attributes
    ----------
    panel, label : where it is drawn, and what it is called there.
    x, y : its points; a value that is not finite is left out of pictures and is null in JSON.
    """

    panel: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    @classmethod
    def of(cls, panel: str, label: str, x: ArrayLike, y: ArrayLike) -> Curve:
        """From any two sequences of numbers."""
        return cls(panel, label, tuple(map(float, np.ravel(x))), tuple(map(float, np.ravel(y))))


@dataclass(frozen=True)
class Part:
    """What one finished step of an experiment adds: its name, its curves and what they say."""

    name: str
    curves: tuple[Curve, ...]
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """The result of one experiment.

    Attributes
    ----------
    name : its key, as typed behind ``rankmath experiment``.
    settings : everything that decides the numbers, the seed among them.
    curves : the figure.
    findings : what the numbers say, in sentences.
    axes : for each panel the names of x and y, and "log" or "linear" for either.
    interrupted : whether it was stopped; then the rest is of the steps that were finished.
    """

    name: str
    settings: dict[str, Json]
    curves: tuple[Curve, ...]
    findings: tuple[str, ...]
    axes: dict[str, tuple[str, str, str, str]]
    interrupted: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        settings: dict[str, Json],
        axes: dict[str, tuple[str, str, str, str]],
        parts: Iterable[Part],
        progress: Step,
    ) -> Findings:
        """Run the parts one after another; Ctrl-C keeps those that are finished, if there is one.

        >>> def parts():
        ...     yield Part("first", (Curve.of("a", "line", [0, 1], [2, 3]),), ("it rises",))
        ...     raise KeyboardInterrupt
        >>> found = Findings.of("mine", {}, {"a": ("x", "y", "linear", "linear")}, parts(), silent)
        >>> found.findings, found.interrupted
        (('it rises', 'interrupted after first'), True)
        """
        done: list[Part] = []
        stopped = False
        try:
            for part in parts:
                done.append(part)
                progress(part.name)
        except KeyboardInterrupt:
            if not done:
                raise
            stopped = True
        curves = tuple(curve for part in done for curve in part.curves)
        findings = tuple(sentence for part in done for sentence in part.findings)
        findings += (f"interrupted after {done[-1].name}",) if stopped else ()
        drawn = {curve.panel for curve in curves}
        axes = {panel: axis for panel, axis in axes.items() if panel in drawn}
        return cls(name, settings, curves, findings, axes, stopped)

    def curve(self, panel: str, label: str) -> Curve:
        """One curve by its place and name."""
        for curve in self.curves:
            if (curve.panel, curve.label) == (panel, label):
                return curve
        raise KeyError(f"{panel}: {label}")

    def as_json(self) -> dict[str, Json]:
        """Everything as JSON knows it."""
        return {
            "experiment": self.name,
            "settings": self.settings,
            "interrupted": self.interrupted,
            "findings": list(self.findings),
            "curves": [
                {"panel": c.panel, "label": c.label, "x": _numbers(c.x), "y": _numbers(c.y)} for c in self.curves
            ],
        }


def _numbers(values: tuple[float, ...]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
