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
    from rankmath.report.sources import machine_checked

    entries = list(statements().values())
    theorems = machine_checked()
    if as_json:
        fields = ("key", "title", "claim", "source", "status", "truth")
        plain = [
            {name: getattr(entry, name) for name in fields}
            | {"machine_checked": [name for name, _ in theorems.get(entry.key, ())]}
            for entry in entries
        ]
        click.echo(json.dumps(plain, indent=1))
        return
    columns = ("key", "status", "statement", "shown in", "Coq theorem")
    rows = [
        (entry.key, entry.status, entry.title, entry.truth, _names(theorems.get(entry.key, ())))
        for entry in entries
    ]
    print_table(columns, rows, left=columns, optional=("Coq theorem", "shown in"), wrapped="statement")


def _names(theorems: tuple[tuple[str, str], ...]) -> str:
    """The theorems by their own names."""
    return ", ".join(name.rpartition(".")[2] for name, _ in theorems)
