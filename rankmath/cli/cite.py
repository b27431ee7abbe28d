"""`rankmath cite`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import complete_keys


@click.command()
@click.argument("what", metavar="KEY|CERTIFICATE", shell_complete=complete_keys)
@click.option("--format", "format_", default="latex", show_default=True, help="latex, bibtex or markdown.")
@click.option("--json", "as_json", is_flag=True, help="All three formats, machine-readable.")
def cite(what: str, format_: str, as_json: bool) -> None:
    """How to cite a statement or a certificate.

    The claim, what is known of it, the ids of certificates, and BibTeX of the sources.

    Example: rankmath cite own:diameter --format bibtex
    """
    from rankmath.report.cite import FORMATS, citation

    found = citation(what)
    if as_json:
        click.echo(json.dumps({name: found.text(name) for name in FORMATS}, indent=1))
    else:
        click.echo(found.text(format_))
