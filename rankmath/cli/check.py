"""`rankmath check`."""

from __future__ import annotations

import json
import sys

import click

from rankmath.cli.app import as_json


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@as_json
def check(files: tuple[str, ...], as_json: bool) -> None:
    """The independent checker: accept or reject certificates.

    Says in words what was checked. Exit code 1 if one is rejected.

    Example: rankmath check proofs/certificates/*.json
    """
    from rankmath.checker.checker import check as run_check

    outcomes = [(name, run_check(name)) for name in files]
    if as_json:
        rows = [
            {"file": name, "accepted": r.accepted, "reason": r.reason, "id": r.id, "checked": list(r.checked)}
            for name, r in outcomes
        ]
        click.echo(json.dumps(rows, indent=1))
    else:
        for name, result in outcomes:
            click.echo(f"{name}: {'accepted' if result.accepted else 'REJECTED'} {result.id or ''}".rstrip())
            for line in result.checked:
                click.echo(f"  {line}")
            if not result.accepted:
                click.echo(f"  {result.reason}")
    sys.exit(0 if all(result.accepted for _, result in outcomes) else 1)
