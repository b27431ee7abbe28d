"""Limits for what does not look at the clock or count its memory: an alarm, and the system's own limit (Linux)."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rankmath.checker.intervals import Rejected

MAX_GROWTH = 256 * 2**20  # bytes that the process may grow by, from the first check on
MIN_GROWTH = 64 * 2**20  # and in one check at least, whatever was there before
_BEFORE: list[int] = []  # bytes of the process at the first check


def _ring(*_: object) -> None:
    raise Rejected("the time allowed is used up")


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends what takes longer, or more memory: with `Rejected` or `MemoryError`.

    An alarm rings on the main thread alone, and not where another is set. The memory is that of the process, and
    limited where no other thread needs it. Everywhere else the kernel's own counts have to do.
    """
    with ExitStack() as undo:
        if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
            if threading.active_count() == 1:
                _limit_memory(undo)
            if seconds > 0 and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0):
                before = signal.signal(signal.SIGALRM, _ring)
                undo.callback(signal.signal, signal.SIGALRM, before or signal.SIG_DFL)
                undo.callback(signal.setitimer, signal.ITIMER_REAL, 0.0)  # first, lest it ring while others are undone
                signal.setitimer(signal.ITIMER_REAL, min(seconds, 10.0**6))
        yield


def _limit_memory(undo: ExitStack) -> None:
    import resource

    try:
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
    except OSError:  # a system that does not tell
        return
    _BEFORE[:] = _BEFORE or [used]
    limit, (soft, hard) = max(_BEFORE[0] + MAX_GROWTH, used + MIN_GROWTH), resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY or limit < soft:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        undo.callback(resource.setrlimit, resource.RLIMIT_DATA, (soft, hard))
