"""`rankmath list`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import as_json


@click.command("list")
@as_json
def list_(as_json: bool) -> None:
    """The statements, with source and status.

    Example: rankmath list
    """
    from rankmath.claims import statements
    from rankmath.console import print_table

    entries = list(statements().values())
    if as_json:
        fields = ("key", "title", "claim", "source", "status", "truth")
        click.echo(json.dumps([{name: getattr(entry, name) for name in fields} for entry in entries], indent=1))
        return
    columns = ("key", "status", "statement", "shown in")
    rows = [(entry.key, entry.status, entry.title, entry.truth) for entry in entries]
    print_table(columns, rows, left=columns, optional=("shown in",), wrapped="statement")
