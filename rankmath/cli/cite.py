"""`rankmath cite`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import complete_keys, spelled_out


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="KEY|PATTERN|CERTIFICATE...", shell_complete=complete_keys)
@click.option("--format", "format_", default="latex", help="latex, bibtex or markdown.")
@click.option(
    "--sources",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Add all entries that what is printed cites (its own, the papers it comes from, rankmath) to this .bib file, "
    "such as the references.bib of an appendix, each once; what stands there stays.",
)
@click.option("--json", "as_json", is_flag=True, help="All three formats, machine-readable.")
def cite(what: tuple[str, ...], format_: str, sources: str | None, as_json: bool) -> None:
    """How to cite statements or certificates.

    latex: claim, notation, what is known and the ids of certificates, ready for \\input in a paper with amsmath,
    amssymb and amsthm. bibtex: an entry for each, whose key is its own, so that outputs for different statements can
    be put together, also with the references.bib of an appendix, which has the entry of the library, that of
    `rankmath cite rankmath`, already; --sources adds to a file what it does not have yet.

    Example: rankmath cite own:diameter wu2024:1 --format bibtex --sources references.bib
    """
    from rankmath.report.cite import FORMATS, citation, software, software_entry
    from rankmath.report.sources import added, entries
    from rankmath.validation import as_choice

    as_choice("--format", format_, FORMATS)
    listed = spelled_out(what)
    found = [citation(name) for name in listed if name != "rankmath"]
    if sources:
        wanted = {key: entry for one in found for key, entry in (one.sources | entries(one.text("bibtex"))).items()}
        added(sources, wanted | {"rankmath": software_entry()})
    itself = [software(format_)] if "rankmath" in listed else []
    if as_json:
        plain = [{name: one.text(name) for name in FORMATS} | {"sources": one.sources} for one in found]
        plain += [{name: software(name) for name in FORMATS}] if itself else []
        click.echo(json.dumps(plain[0] if len(plain) == 1 else plain, indent=1))
    elif sources and format_ == "bibtex":
        click.echo(f"entries: {sources}")
    else:
        click.echo("\n\n".join([*(one.text(format_) for one in found), *itself]))
