"""`rankmath cite`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import complete_keys


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="KEY|CERTIFICATE...", shell_complete=complete_keys)
@click.option("--format", "format_", default="latex", help="latex, bibtex or markdown.")
@click.option(
    "--sources",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Add the papers they come from, and rankmath, to this .bib file, such as the references.bib of an appendix; "
    "what stands there stays.",
)
@click.option("--json", "as_json", is_flag=True, help="All three formats, machine-readable.")
def cite(what: tuple[str, ...], format_: str, sources: str | None, as_json: bool) -> None:
    """How to cite statements or certificates.

    latex: claim, notation, what is known and the ids of certificates, ready for \\input in a paper with amsmath,
    amssymb and amsthm. bibtex: an entry for each, whose key is its own, so that outputs can be put together, also
    with the references.bib of an appendix. `rankmath cite rankmath` is the entry of the library.

    Example: rankmath cite own:diameter wu2024:1 --format bibtex --sources references.bib
    """
    from rankmath.report.cite import FORMATS, citation, software_entry
    from rankmath.report.sources import added

    found = [citation(name) for name in dict.fromkeys(what) if name != "rankmath"]
    if sources:
        entries = {key: entry for one in found for key, entry in one.sources.items()}
        added(sources, entries | {"rankmath": software_entry()})
    software = [software_entry()] if "rankmath" in what and not sources else []
    if as_json:
        plain = [{name: one.text(name) for name in FORMATS} | {"sources": one.sources} for one in found]
        click.echo(json.dumps(plain[0] if len(what) == 1 and plain else plain, indent=1))
    else:
        click.echo("\n\n".join([*(one.text(format_) for one in found), *software]))
