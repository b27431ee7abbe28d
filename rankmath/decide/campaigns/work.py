"""What a crew runs: a piece of work, and what became of it."""

from __future__ import annotations

import hashlib
import os
import platform
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from traceback import format_exc
from typing import Any, Protocol

from rankmath.files import NotWritten
from rankmath.validation import InvalidArgument
from rankmath.version import __version__

#: Hears how many instances of a piece of work are done.
Tell = Callable[[int], None]


class Work(Protocol):
    """A chunk of a campaign or a battery of `rankmath verify`: pickled, sent to whoever is free, and run there."""

    @property
    def key(self) -> str: ...

    def run(self, tell: Tell) -> object: ...


@dataclass(frozen=True)
class Attempt:
    """Work that came back: with findings, or with the error that every one of `attempts` attempts ended in.

    `users_mistake` says that the error is an InvalidArgument, such as one in a user's own file; `not_written` is
    what a full disk is told with.
    """

    chunk: Any
    findings: Any
    seconds: float
    worker: str
    attempts: int = 1
    error: str = ""
    traceback: str = ""
    users_mistake: bool = False
    not_written: NotWritten | None = None


def silent(done: int) -> None:
    """Drop the number of finished instances: nobody asked for it."""


def attempt(work: Work, tell: Tell = silent) -> Attempt:
    """Run it wherever this is called; an error comes back as words, not as an exception."""
    began = time.perf_counter()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    try:
        findings = work.run(tell)
    except Exception as error:
        mistake = isinstance(error, InvalidArgument)
        words = str(error) if mistake else f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - began
        full = error if isinstance(error, NotWritten) else None
        return Attempt(work, None, seconds, worker, 1, words, format_exc(), mistake, full)
    return Attempt(work, findings, time.perf_counter() - began, worker)


# -- versions ------------------------------------------------------------------------------------------------


@cache
def source_digest() -> str:
    """16 hex digits of the SHA-256 of this library's Python files, as they were when first asked for."""
    folder = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """By name, ready for JSON.

    >>> sorted(versions())
    ['mpmath', 'numpy', 'platform', 'python', 'python-flint', 'rankmath', 'scipy', 'source']
    """
    found = {"rankmath": __version__, "source": source_digest()}
    for name in ("numpy", "scipy", "python-flint", "mpmath"):
        found[name] = metadata.version(name)
    return {**found, "python": platform.python_version(), "platform": platform.platform()}
