"""The other end of `crews.local_processes`: runs one piece of work after another until nobody listens.

What is sent back: the source's digest once (we are ready), then whole numbers (instances done) and Attempts.
"""

from __future__ import annotations

import gc
import os
import time
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from rankmath.claims import statements
from rankmath.decide.campaigns.work import Work, attempt, source_digest


def serve(handle: int) -> None:
    """Answer the work that arrives over the socket `handle`."""
    connection = Connection(handle)
    chunks: SimpleQueue[Work] = SimpleQueue()

    def listen() -> None:
        # This thread ends the process as soon as the main process is gone, even in the middle of a long chunk.
        try:
            while True:
                chunks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    told = time.monotonic()

    def tell(done: int) -> None:
        nonlocal told
        if time.monotonic() - told > 0.2:
            told = time.monotonic()
            connection.send(done)

    Thread(target=listen, daemon=True).start()
    statements()
    # Freeze what is loaded, so that the garbage collector does not scan it again.
    gc.freeze()
    try:
        connection.send(source_digest())
        while True:
            connection.send(attempt(chunks.get(), tell))
    except OSError:
        os._exit(0)
