"""The program around the commands: how they are listed, and how it ends.

Exit codes: 0 as expected, 1 a verdict differs or a certificate is rejected, 2 bad input, 3 a failure that is not
the user's (a bug, a full disk), 130 interrupted.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from rankmath.console import heartbeat, prepare_streams


class Interrupted(Exception):
    """Ctrl-C, with what the command has to say about what is kept."""


class Unread(Exception):
    """The reader, such as `head`, has had enough."""


@contextmanager
def _ours() -> Iterator[None]:
    """Errors that click would end with a 1, which is a verdict's."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Interrupted(str(stop)) from None
    except BrokenPipeError:
        raise Unread from None


class App(click.Group):
    """A group of commands in the order they were added; only `InvalidArgument` reads as the user's mistake."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Whole first sentences, wrapped, never cut off."""
        rows = [(name, self.commands[name].get_short_help_str(limit=1000)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from rankmath.printing import did_you_mean

            hint = did_you_mean(args[0], self.commands) if args else ""
            raise click.UsageError(f"{error.message.rstrip('.')}{hint}", ctx) from None

    def invoke(self, ctx: click.Context) -> object:
        with _ours():
            return super().invoke(ctx)

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        with _ours():  # --help and --version write here
            return super().make_context(*arguments, **extra)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        run: Callable[..., Any] = super().main
        if not extra.pop("standalone_mode", True):
            return run(args, *rest, standalone_mode=False, **extra)
        prepare_streams()
        words = sys.argv[1:] if args is None else args
        with _terminate_like_ctrl_c(), heartbeat(" ".join(["rankmath", *words[:1]]), quiet="--quiet" in words):
            sys.exit(_exit_code(lambda: run(args, *rest, standalone_mode=False, **extra)))


def _exit_code(run: Callable[[], object]) -> int:
    """Run to the end, say in one line what went wrong, and give the exit code."""
    try:
        code = run()
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (Interrupted, KeyboardInterrupt, click.Abort) as stop:
        click.echo(f"rankmath: interrupted{f'; {stop}' if str(stop) else ''}", err=True)
        return 130
    except (Unread, BrokenPipeError):
        # Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        click.echo(f"rankmath: {_words_of(error)}", err=True)
        return 3
    except MemoryError as error:
        told = f" ({error})" if str(error) else ""
        click.echo(f"rankmath: out of memory{told}; smaller sizes need less", err=True)
        return 3
    except Exception as error:
        from rankmath.validation import InvalidArgument

        if isinstance(error, InvalidArgument):
            click.echo(f"rankmath: {error}", err=True)
            return 2
        traceback.print_exc()
        click.echo("rankmath: internal error; this is a bug of rankmath's, please report the lines above", err=True)
        return 3


def _words_of(error: OSError) -> str:
    from rankmath.files import NotWritten

    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    if isinstance(error, NotWritten) or error.filename is not None or not full:
        return str(error)
    # What failed has no name: the output itself. Nothing more can be written there, not even at exit.
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"the output could not be written: {error.strerror}"


@contextmanager
def _terminate_like_ctrl_c() -> Iterator[None]:
    """Batch systems say SIGTERM where a person types Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def spelled_out(names: Iterable[str]) -> list[str]:
    """The names, each once, in the place of a pattern the keys that fit it, unless a file has that name."""
    from rankmath.claims import statements_like

    def keys(name: str) -> list[str]:
        pattern = any(sign in name for sign in "*?[") and not Path(name).exists()
        return [entry.key for entry in statements_like(name)] if pattern else [name]

    return list(dict.fromkeys(key for name in names for key in keys(name)))


def complete_keys(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The statements' keys, for the shell's completion."""
    from rankmath.claims import statements

    return [CompletionItem(key, help=entry.title) for key, entry in statements().items() if key.startswith(begun)]


#: The option every command has whose answer a machine may read.
as_json = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


def plot_option(file: str, words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--plot [FILE], for a command that can draw its answer."""
    told = f"{words} (png, pdf, svg); {file} unless a name follows."
    kind = click.Path(dir_okay=False)
    return click.option("--plot", type=kind, is_flag=False, flag_value=file, callback=drawable, help=told)


def drawable(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """A picture that could not be drawn or written is refused before any work."""
    if path is not None:
        from rankmath.drawing import picture_format
        from rankmath.files import writable

        picture_format(path)
        writable(path, "plot")
    return path
