"""`rankmath list`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import as_json, complete_keys


@click.command("list")
@click.argument("patterns", nargs=-1, metavar="[KEY|PATTERN]...", shell_complete=complete_keys)
@as_json
def list_(patterns: tuple[str, ...], as_json: bool) -> None:
    """The statements, with status, proof and Coq theorem (--json: the source too); with a pattern those whose key fits.

    Example: rankmath list 'own:*' 'wu2024:*'
    """
    from rankmath.claims import statements, statements_like
    from rankmath.console import print_table
    from rankmath.report.sources import machine_checked

    fitting = {entry.key for pattern in patterns for entry in statements_like(pattern)}
    entries = [entry for key, entry in statements().items() if key in fitting or not patterns]
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
        (entry.key, entry.status, entry.title, entry.truth, _names(theorems.get(entry.key, ()))) for entry in entries
    ]
    print_table(columns, rows, left=columns, optional=("Coq theorem", "shown in"), wrapped="statement")


def _names(theorems: tuple[tuple[str, str], ...]) -> str:
    """The theorems by their own names."""
    return ", ".join(name.rpartition(".")[2] for name, _ in theorems)
