"""`rankmath show`."""

from __future__ import annotations

import json

import click

from rankmath.cli.app import as_json, complete_keys


@click.command()
@click.argument("key", shell_complete=complete_keys)
@as_json
def show(key: str, as_json: bool) -> None:
    """One statement: claim in words and as a formula, status, proof, certificates, Coq theorems.

    Example: rankmath show own:diameter
    """
    from rankmath.report.shown import described, lines

    click.echo(json.dumps(described(key), indent=1) if as_json else "\n".join(lines(key)))
