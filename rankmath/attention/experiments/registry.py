"""The experiments by name, and how their sizes are typed."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rankmath.attention.experiments.dong import dong_circle, dong_effectiveness, dong_fig2, dong_paths
from rankmath.attention.experiments.findings import Findings, Step, silent
from rankmath.attention.experiments.wu import wu_fig2, wu_ranks, wu_temperature
from rankmath.validation import InvalidArgument, as_choice

#: A setting of an experiment, as typed or as a text names it.
Setting: TypeAlias = Any


@dataclass(frozen=True)
class Experiment:
    """A function that returns an `Findings`, and about how many steps it reports at its default size."""

    run: Callable[..., Findings]
    steps: int


EXPERIMENTS = {
    "dong-fig2": Experiment(dong_fig2, 5),
    "dong-circle": Experiment(dong_circle, 9),
    "dong-paths": Experiment(dong_paths, 3),
    "dong-effectiveness": Experiment(dong_effectiveness, 363),
    "wu-fig2": Experiment(wu_fig2, 20),
    "wu-temperature": Experiment(wu_temperature, 10),
    "wu-ranks": Experiment(wu_ranks, 4),
}


def run(name: str, changes: Sequence[str] = (), *, progress: Step = silent, **options: Setting) -> Findings:
    """One experiment; `changes` are sizes as typed, "layers=12".

    >>> run("wu-fig2", ["layers=3", "tokens=4", "dim=8"]).settings["layers"]
    3
    """
    as_choice("experiment", name, tuple(EXPERIMENTS))
    chosen = EXPERIMENTS[name].run
    known = inspect.signature(chosen).parameters
    for key in options:
        if key not in known:
            raise InvalidArgument(f"--{key}: given; {name} takes none")
    sizes = {key: value.default for key, value in known.items() if key not in ("progress", "model", "text", "seed")}
    for change in changes:
        key, _, text = change.partition("=")
        if key not in sizes:
            raise InvalidArgument(f"--set: {change[:60]!r} given; {name} has {', '.join(sizes)}")
        options[key] = _read(change, text, sizes[key])
    return chosen(progress=progress, **options)


def _read(change: str, text: str, usual: Setting) -> Setting:
    """`text` as a value of the kind of the usual one."""
    try:
        if isinstance(usual, tuple):
            return tuple(type(usual[0])(part) for part in text.split(","))
        return type(usual)(text)
    except ValueError:
        kind = "numbers separated by commas" if isinstance(usual, tuple) else f"a {type(usual).__name__}"
        raise InvalidArgument(f"--set: {change[:60]!r} given; {kind} is needed, such as {usual}") from None
