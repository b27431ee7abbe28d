"""What an experiment hands over: its settings, its curves, and sentences made of its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
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
class Outcome:
    """The result of one experiment.

    Attributes
    ----------
    name : its key, as typed behind ``rankmath experiment``.
    settings : everything that decides the numbers, the seed among them.
    curves : the figure.
    findings : what the numbers say, in sentences.
    axes : for each panel the names of x and y, and "log" or "linear" for either.
    """

    name: str
    settings: dict[str, Json]
    curves: tuple[Curve, ...]
    findings: tuple[str, ...]
    axes: dict[str, tuple[str, str, str, str]]

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
            "findings": list(self.findings),
            "curves": [
                {"panel": c.panel, "label": c.label, "x": _numbers(c.x), "y": _numbers(c.y)} for c in self.curves
            ],
        }


def _numbers(values: tuple[float, ...]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
