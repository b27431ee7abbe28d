"""`rankmath appendix`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rankmath.cli.app import as_json


@click.command()
@click.option(
    "--output", type=click.Path(file_okay=False), default=".", show_default=True, help="Folder to write to."
)
@click.option(
    "--report",
    "report_path",
    type=click.Path(),
    help="report.json of `rankmath verify`, for what is measured; its figures are taken along.",
)
@as_json
def appendix(output: str, report_path: str | None, as_json: bool) -> None:
    """The LaTeX appendix: statements, proofs, refutations, certificates.

    With --report also what was measured. Writes appendix.tex and references.bib; pdflatex, bibtex, pdflatex,
    pdflatex makes the PDF.

    Example: rankmath appendix --output paper --report rankmath-report/report.json
    """
    from rankmath.report.appendix import appendix as assemble
    from rankmath.report.results import Report

    report = None if report_path is None else Report.load(report_path)
    plots = None if report_path is None else Path(report_path).parent / "figures"
    path = assemble(report, plots=plots).save(output)
    if as_json:
        click.echo(json.dumps({"appendix": str(path), "bibliography": str(path.with_name("references.bib"))}))
        return
    click.echo(f"appendix: {path}")
    if report is None:
        click.echo("nothing measured is in it: run `rankmath verify` and pass --report rankmath-report/report.json")
