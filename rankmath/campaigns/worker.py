"""The other end of `crews.local_processes`: a process that runs one chunk after another until nobody listens."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from rankmath.campaigns.chunks import Chunk, attempt
from rankmath.campaigns.versions import source_digest
from rankmath.claims import statements


def serve(handle: int) -> None:
    """Answer chunks that arrive over the socket `handle`; the first word is our source's digest: we are ready."""
    connection = Connection(handle)
    chunks: SimpleQueue[Chunk] = SimpleQueue()

    def listen() -> None:
        # The listener notices at once that the main process is gone, however long the chunk at hand would take.
        try:
            while True:
                chunks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    Thread(target=listen, daemon=True).start()
    statements()
    try:
        connection.send(source_digest())
        while True:
            connection.send(attempt(chunks.get()))
    except OSError:
        os._exit(0)


__all__ = ["serve"]
