"""`rankmath experiment`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from rankmath.cli.app import as_json, plot_option

if TYPE_CHECKING:
    from rankmath.attention.experiments.registry import Setting


@click.command()
@click.argument("name", metavar="NAME")
@click.option("--seed", type=int, default=0)
@click.option("--model", "folder", type=click.Path(), help="A checkpoint (dong-fig2, dong-paths); else none is needed.")
@click.option("--text", type=click.Path(exists=True, dir_okay=False), help="What the checkpoint reads.")
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="Another size, such as layers=12.")
@plot_option("experiment.png", "Write the figure")
@as_json
def experiment(
    name: str,
    seed: int,
    folder: str | None,
    text: str | None,
    changes: tuple[str, ...],
    plot: str | None,
    as_json: bool,
) -> None:
    """An experiment of the papers, run again.

    NAME is dong-fig2, dong-circle, dong-paths, dong-effectiveness, wu-fig2, wu-temperature or wu-ranks. Each takes
    seconds to two minutes of an idle core at its default size, and writes what it found in sentences; --plot draws
    it, --json has every number. Ctrl-C keeps the steps that are finished.

    Example: rankmath experiment wu-fig2 --set layers=32 --plot masks.png
    """
    from rankmath.attention.experiments.registry import EXPERIMENTS, run
    from rankmath.console import Progress
    from rankmath.files import read_text

    options: dict[str, Setting] = {"seed": seed}
    if folder is not None:
        options["model"] = folder
    if text is not None:
        options["text"] = read_text(text, "--text")
    steps = EXPERIMENTS[name].steps if name in EXPERIMENTS else 1
    with Progress(steps, "steps", quiet=as_json) as progress:
        outcome = run(name, changes, progress=progress.step, **options)
    click.echo(json.dumps(outcome.as_json(), indent=1) if as_json else "\n".join(outcome.findings))
    if plot is not None:  # last: where it cannot be written the numbers are there
        from rankmath.report.plots import plot_curves

        plot_curves(outcome.curves, outcome.axes, plot)
        if not as_json:
            click.echo(f"plot: {plot}")
    if outcome.interrupted:
        raise KeyboardInterrupt("what was finished by then is above")
