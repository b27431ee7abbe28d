"""`rankmath appendix`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rankmath.cli.app import as_json, complete_keys, spelled_out


@click.command()
@click.argument("what", nargs=-1, metavar="[KEY|PATTERN|CERTIFICATE]...", shell_complete=complete_keys)
@click.option("--output", type=click.Path(file_okay=False), default=".", help="Folder to write to.")
@click.option(
    "--report",
    "report_path",
    type=click.Path(),
    help="report.json of `rankmath verify`, for what is measured; its figures are taken along.",
)
@click.option("--all", "everything", is_flag=True, help="All statements: more than a hundred pages.")
@click.option("--fragment", is_flag=True, help="For \\input in a paper of yours; rankmath.sty lies beside it.")
@click.option(
    "--sources",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Add the BibTeX entries to this .bib file, each once, instead of to references.bib beside the text.",
)
@as_json
def appendix(
    what: tuple[str, ...],
    output: str,
    report_path: str | None,
    everything: bool,
    fragment: bool,
    sources: str | None,
    as_json: bool,
) -> None:
    """The LaTeX appendix: statements, proofs, refutations, certificates.

    The KEYs named and those that fit a PATTERN, with their proofs, and the CERTIFICATEs named, each as a theorem.
    With --report what was measured, and without a KEY the statements that the run refuted (all of the run, if it was
    one of named statements). Writes appendix.tex and references.bib; pdflatex, bibtex, pdflatex, pdflatex makes the
    PDF.

    Example: rankmath appendix --output paper --report rankmath-report/report.json

    Example: rankmath appendix own:diameter equilibrium.json --output paper --fragment
    """
    from rankmath.claims import current, statements
    from rankmath.files import folder
    from rankmath.printing import did_you_mean
    from rankmath.report.appendix import appendix as assemble
    from rankmath.report.appendix import relied_on
    from rankmath.report.results import Report
    from rankmath.report.sources import certificate_in
    from rankmath.validation import InvalidArgument

    folder(output, "--output")  # before any work
    report = None if report_path is None else Report.load(report_path)
    plots = None if report_path is None else Path(report_path).parent / "figures"
    keys, certificates = [], []
    for name in map(current, spelled_out(what)):
        if name in statements():
            keys.append(name)
        elif Path(name).is_file():
            certificates.append(certificate_in(name))
        else:
            raise InvalidArgument(
                f"what: {name!r} given; a statement's key or a certificate's file is needed"
                f"{did_you_mean(name, statements())}"
            )
    if everything and what:
        raise InvalidArgument(f"--all: given with {what[0]!r}; name statements, or take all of them")
    if not what and not everything:
        if report is None:
            raise InvalidArgument("what: nothing given; name statements or certificates, a --report, or --all")
        keys = relied_on([(result.key, result.outcome) for result in report.results])
    chosen = None if everything else keys
    path = assemble(report, plots=plots, keys=chosen, theorems=certificates, fragment=fragment).save(output, sources)
    if as_json:
        click.echo(
            json.dumps({"appendix": str(path), "bibliography": sources or str(path.with_name("references.bib"))})
        )
        return
    click.echo(f"appendix: {path}")
    if report is None:
        click.echo("nothing measured is in it: run `rankmath verify` and pass --report rankmath-report/report.json")
