"""What people see at a terminal: tables, a bar that moves, and plain lines where the output is a pipe or a file."""

from __future__ import annotations

import codecs
import math
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

#: Columns of a pipe or a file, which has no width of its own.
PIPE_WIDTH = 160
#: Seconds between two lines of progress where there is no terminal.
PAUSE = 5.0

# What a terminal without Unicode shows instead.
_UNICODE = "≤ ≥ ∞ … ‖ − – → √ × · “ ” ’ λ μ γ ε ρ σ δ κ θ φ ᵀ ² ³ ⁻ Σ ₁ ₂ ℓ ≈ ± █"
_ASCII = """<= >= inf ... || - - -> sqrt x * " " ' lambda mu gamma epsilon rho sigma delta kappa theta phi ^T ^2
^3 ^- sum _1 _2 l ~ +- #"""
_PLAIN = str.maketrans(dict(zip(_UNICODE.split(), _ASCII.split(), strict=True)))


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode(error.encoding, "replace").decode(error.encoding), error.end


codecs.register_error("rankmath", _spell_out)


def prepare_streams() -> None:
    """A terminal or file with a narrow encoding gets letters it knows, not an error after all the work."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by >&-: what is said goes nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it stays open)
        stream = getattr(sys, name)
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="rankmath")


def console() -> Console:
    """The terminal; a pipe gets long lines instead of the width of a terminal that is not there."""
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            """The command says what it means that nobody reads; rich would end with a 1, which is a verdict's."""
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Ours(width=width, emoji=False, markup=False, highlight=False)


#: A cell: its text, or its text and a style.
Cell = str | tuple[str, str]


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    left: Sequence[str] = (),
    optional: Sequence[str] = (),
    wrapped: str | None = None,
) -> None:
    """A table; where the terminal is narrow the `optional` columns give way, the last of them first, and what is still
    too wide is several tables, one below the other, each with the first column.

    Parameters
    ----------
    left : columns of words; numbers stand on the right.
    wrapped : the one column whose text may go over several lines.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    if unknown := [name for name in optional if name not in columns]:  # at any width, so that no narrow one surprises
        raise ValueError(f"optional: {', '.join(unknown)} given; there are the columns {', '.join(columns)}")
    screen = console()
    texts = [[cell if isinstance(cell, str) else cell[0] for cell in row] for row in rows]
    width = {name: max([cell_len(name), *(cell_len(text[i]) for text in texts)]) + 2 for i, name in enumerate(columns)}
    if wrapped is not None:
        width[wrapped] = min(width[wrapped], 30)
    shown, dropped = list(columns), []
    for name in reversed(optional):
        if sum(width[kept] for kept in shown) <= screen.width:
            break
        shown.remove(name)
        dropped.append(name)
    for part in [shown] if wrapped is not None else _beside(shown, width, screen.width):
        table = Table(box=None, header_style="bold")
        for name in part:
            table.add_column(
                name,
                justify="left" if name in left or name == wrapped else "right",
                no_wrap=name != wrapped and sum(width[kept] for kept in part) <= screen.width,
                overflow="fold",
            )
        for row in rows:
            cells = [row[columns.index(name)] for name in part]
            table.add_row(*(Text(cell) if isinstance(cell, str) else Text(cell[0], style=cell[1]) for cell in cells))
        screen.print(table)
    if dropped:
        screen.print(f"left out for want of width: {', '.join(reversed(dropped))}")


def _beside(columns: Sequence[str], width: Mapping[str, int], room: int) -> list[list[str]]:
    """The columns in groups that fit, each with the first of them.

    >>> _beside("labc", {"l": 3, "a": 5, "b": 5, "c": 9}, 14)
    [['l', 'a', 'b'], ['l', 'c']]
    """
    first, *others = columns
    groups = [[first]]
    for name in others:
        if len(groups[-1]) > 1 and sum(width[kept] for kept in groups[-1]) + width[name] > room:
            groups.append([first])
        groups[-1].append(name)
    return groups


class Progress:
    """How far the work is: a bar on a terminal, elsewhere a line every few seconds; both on stderr.

    RANKMATH_PROGRESS=off in the environment silences it. With "%" as unit only the share that is done is shown;
    with "s" the total is the seconds of a search, and what the clock says is shown beside it.
    Both go on while nothing is reported, so that waiting never looks like hanging.
    """

    #: How many are shown, or kept quiet on purpose.
    at_work = 0

    def __init__(self, total: float, unit: str = "", *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.total, self.unit = total, unit
        self.quiet = quiet or os.environ.get("RANKMATH_PROGRESS") == "off"
        self._stream = sys.stderr if stream is None else stream
        self._done, self._first, self._words = 0.0, 0.0, ""
        self._told: tuple[float, float] | None = None
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._over = threading.Event()
        self._over.set()
        self._speaker: threading.Thread | None = None

    def __enter__(self) -> Progress:
        Progress.at_work += 1
        self._over.clear()
        if self.quiet:
            return self
        if self._stream.isatty():
            self._start_bar()
        else:
            self._speaker = threading.Thread(target=self._speak, daemon=True)
            self._speaker.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._over.is_set():
            Progress.at_work -= 1
        self._over.set()
        if self._bar is not None:
            self._bar.stop()

    def start_at(self, done: float) -> None:
        """What was done before this run: it counts, but not for the speed."""
        self._done = self._first = done

    def at(self, done: float, words: str = "", *, left: float | None = None) -> None:
        """So much is done, `words` about the latest of it; seconds `left`, by the mean speed unless given."""
        self._done, self._words = done, words or self._words
        self._told = None if left is None else (left, time.monotonic())
        if self._bar is not None:
            self._bar.update(self._task, completed=min(done, self.total), total=self.total, **self._fields())

    def step(self, words: str = "") -> None:
        """One more is done."""
        self.at(self._done + 1, words)

    def line(self) -> str:
        """The state in words."""
        seconds = "" if self.unit == "s" else f"{time.monotonic() - self._began:.0f} s"
        parts = [part for part in (self._count(), seconds, self._left()) if part]
        return ", ".join(parts) + (f"; {self._words}" if self._words else "")

    def _left(self) -> str:
        now = time.monotonic()
        if self.unit == "s":
            return ""
        seconds, done = now - self._began, self._done - self._first
        left = (self.total - self._done) * seconds / done if done > 0 else math.nan
        if self._told is not None:
            left = max(0.0, self._told[0] - (now - self._told[1]))
        return f"about {_duration(left)} left" if math.isfinite(left) and 0 < self._done < self.total else ""

    def _fields(self) -> dict[str, str]:
        return {"count": self._count(), "left": self._left(), "words": self._words}

    def _count(self) -> str:
        if not self.total:
            return ""
        if self.unit == "s":
            seconds = time.monotonic() - self._began
            said = f"the search takes up to {self.total:.0f} s"
            return f"{seconds:.0f} s ({said if seconds <= self.total else 'the search is over: proving and shrinking'})"
        if self.unit == "%":
            # Down: 100 % is said when all is done.
            return f"{math.floor(100 * min(1.0, self._done / self.total) + 1e-9)} %"
        return f"{self._done:,.0f}/{self.total:,.0f} {self.unit}".rstrip()

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (
            SpinnerColumn("line"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[words]}"),
        )
        screen = Console(file=self._stream, emoji=False, markup=False, highlight=False)
        self._bar = Bars(*columns, console=screen, transient=True)
        self._task = self._bar.add_task("", total=self.total, completed=self._done, **self._fields())
        self._bar.start()

    def _speak(self) -> None:
        while not self._over.wait(PAUSE):
            print(self.line(), file=self._stream, flush=True)


@contextmanager
def heartbeat(name: str, *, quiet: bool = False) -> Iterator[None]:
    """Say every few seconds that `name` is at work, where no `Progress` says more.

    RANKMATH_PROGRESS=off in the environment silences it and bars, RANKMATH_PROGRESS=bars leaves bars alone.
    """
    over, began = threading.Event(), time.monotonic()
    terminal = sys.stderr.isatty()

    def beat() -> None:
        said = False
        while not over.wait(PAUSE):
            if not Progress.at_work:
                line = f"{name}: {time.monotonic() - began:.0f} s"
                print(f"\r{line}" if terminal else line, file=sys.stderr, end="" if terminal else "\n", flush=True)
                said = terminal
        if said:
            print("\r\033[K", file=sys.stderr, end="", flush=True)

    if quiet or os.environ.get("RANKMATH_PROGRESS") in ("off", "bars"):
        yield
        return
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _duration(seconds: float) -> str:
    if seconds >= 100 * 60:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
