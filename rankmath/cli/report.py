"""`rankmath report`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.command()
@click.argument("what", metavar="LEDGER|RUN", type=click.Path())
@click.option(
    "--output",
    type=click.Path(),
    help="Folder to write to; the run's own, or LEDGER-report in the current folder, if none is named.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the paths written, machine-readable.")
def report(what: str, output: str | None, as_json: bool) -> None:
    """A page to open, filter and show, of a run or a campaign.

    RUN is the folder of `rankmath verify` or its report.json, LEDGER a campaign's (.db). Writes index.html, which
    needs no network; beside it data (CSV), certificates, figures (PDF, PNG) and appendix.tex. Certificates are
    checked on the way; exit code 1 if one is rejected or a verdict differs.

    Example: rankmath report rankmath-report

    Example: rankmath report diameter.db --output diameter-page
    """
    from rankmath.console import Progress
    from rankmath.report.html import STEPS, writable, write
    from rankmath.report.subject import subject

    if output is not None and (Path(output).exists() or any(parent.is_file() for parent in Path(output).parents)):
        writable(output)  # refused before any work; a folder that is not there is made after it
    with Progress(STEPS, "steps", quiet=as_json) as progress:
        about = subject(what)
        given = Path(what)
        if output is None and about.kind == "ledger":
            output = f"{given.stem}-report"
        elif output is None:
            output = str(given if given.is_dir() else given.parent)
        written = write(about, output, progress.step)
    if as_json:
        click.echo(json.dumps({name: str(path) for name, path in written.items()}, indent=1))
    else:
        for sentence in about.words:
            click.echo(sentence)
        for name, path in written.items():
            click.echo(f"{name}: {path}")
    sound = all(row.as_registered for row in about.rows) and all(c.accepted for c in about.checks)
    sys.exit(0 if sound else 1)
