"""`rankmath completion`."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """A script that completes commands, options and keys.

    Example: rankmath completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    program = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(program, {}, "rankmath", "_RANKMATH_COMPLETE").source())
