"""`rankmath appendix`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rankmath.cli.app import as_json, complete_keys


@click.command()
@click.argument("what", nargs=-1, metavar="[KEY|CERTIFICATE]...", shell_complete=complete_keys)
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
def appendix(what: tuple[str, ...], output: str, report_path: str | None, as_json: bool) -> None:
    """The LaTeX appendix: statements, proofs, refutations, certificates.

    All of them; or only the KEYs named, with their proofs, and the CERTIFICATEs named, each as a theorem. With
    --report also what was measured. Writes appendix.tex and references.bib; pdflatex, bibtex, pdflatex,
    pdflatex makes the PDF.

    Example: rankmath appendix --output paper --report rankmath-report/report.json

    Example: rankmath appendix own:diameter equilibrium.json --output paper
    """
    from rankmath.certificates.certificate import Certificate
    from rankmath.claims import statements
    from rankmath.printing import did_you_mean
    from rankmath.report.appendix import appendix as assemble
    from rankmath.report.results import Report
    from rankmath.validation import InvalidArgument

    report = None if report_path is None else Report.load(report_path)
    plots = None if report_path is None else Path(report_path).parent / "figures"
    keys, certificates = [], []
    for name in what:
        if name in statements():
            keys.append(name)
        elif Path(name).is_file():
            certificates.append(Certificate.load(name))
        else:
            raise InvalidArgument(
                f"what: {name!r} given; a statement's key or a certificate's file is needed"
                f"{did_you_mean(name, statements())}"
            )
    path = assemble(report, plots=plots, keys=keys if what else None, theorems=certificates).save(output)
    if as_json:
        click.echo(json.dumps({"appendix": str(path), "bibliography": str(path.with_name("references.bib"))}))
        return
    click.echo(f"appendix: {path}")
    if report is None:
        click.echo("nothing measured is in it: run `rankmath verify` and pass --report rankmath-report/report.json")
