"""`rankmath check`."""

from __future__ import annotations

import sys

import click

from rankmath.cli.app import as_json
from rankmath.files import write
from rankmath.validation import InvalidArgument


@click.command()
@click.argument("files", nargs=-1, type=click.Path())
@click.option(
    "--export", type=click.Path(dir_okay=False), help="Write the checker itself, as one file that runs alone."
)
@as_json
def check(files: tuple[str, ...], export: str | None, as_json: bool) -> None:
    """The independent checker: accept or reject certificates.

    Says in words what was checked. Exit code 1 if one is rejected.

    Example: rankmath check proofs/certificates/*.json
    """
    from rankmath.checker import checker
    from rankmath.checker.export import standalone

    if export is not None:
        write(export, standalone(), name="export")
        click.echo(f"{export}: the checker in one file; run it with python -I {export} FILE...")
    elif not files:
        raise InvalidArgument("files: none given; name certificates to check, or --export FILE")
    sys.exit(checker.run(files, as_json=as_json, say=click.echo))
