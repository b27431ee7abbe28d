"""The one executor: this process, processes of this machine, a Dask cluster, or whatever joblib is set to.

Each crew takes an iterator of work (chunks of a campaign, batteries of `rankmath verify`) and yields what became of
it, in any order; it asks for more only when somebody is free to run it. Closing a crew ends its work at once.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, TypeAlias

from rankmath.decide.campaigns.work import Attempt, Work, attempt, source_digest
from rankmath.validation import InvalidArgument

#: A client of Dask, an optional library without types.
Dask: TypeAlias = Any

#: Give up after this many consecutive start-up deaths.
MOST_DEATHS_AT_START = 10
#: Seconds to wait for a Dask scheduler, and for its first worker.
DASK_PATIENCE = 10


class _Job(NamedTuple):
    chunk: Work
    tried: int


class _Jobs:
    """Chunks to be run: those to be tried again first."""

    def __init__(self, chunks: Iterator[Work], attempts: int) -> None:
        self._chunks, self._attempts = chunks, attempts
        self._again: deque[_Job] = deque()

    def next(self, after: Work | None = None) -> _Job | None:
        """The next piece; first one of the same `kin` as `after`, whose process remembers what it solved for it."""
        if self._again:
            return self._again.popleft()
        chunk = None
        if (kin := getattr(after, "kin", None)) is not None:
            waiting = list(self._chunks)
            chunk = next((work for work in waiting if getattr(work, "kin", None) == kin), None)
            self._chunks = iter([work for work in waiting if work is not chunk])
        chunk = chunk or next(self._chunks, None)
        return None if chunk is None else _Job(chunk, 0)

    def put_back(self, job: _Job) -> None:
        """Requeue without counting an attempt."""
        self._again.append(job)

    def settle(self, job: _Job, came: Attempt) -> Attempt | None:
        """What to report, or None if the chunk is to be tried again."""
        tried = job.tried + 1
        if came.findings is None and tried < self._attempts:
            self._again.append(_Job(job.chunk, tried))
            return None
        return replace(came, attempts=tried)


#: What became of the work, in any order; `close` ends all of it at once.
Crew = Generator[Attempt, None, None]
#: Hears how far a piece of work is: the work, and how many of its instances are done.
Hear = Callable[[Work, int], None]


def ignore(work: Work, done: int) -> None:
    """Report nothing."""


def in_this_process(chunks: Iterator[Work], *, attempts: int, hear: Hear = ignore) -> Crew:
    """One chunk after the other, here."""
    jobs = _Jobs(chunks, attempts)
    while (job := jobs.next()) is not None:
        settled = jobs.settle(job, attempt(job.chunk, partial(hear, job.chunk)))
        if settled is not None:
            yield settled


# -- processes of this machine -----------------------------------------------------------------------------


class _Process:
    """A worker process and the socket to it."""

    def __init__(self, job: _Job) -> None:
        self.connection, theirs = Pipe()
        handle = theirs.fileno()
        # One thread each: processes are the parallelism, and sums must not depend on the number of threads.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        path = os.pathsep.join(part or os.getcwd() for part in sys.path)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from rankmath.decide.campaigns.worker import serve; serve({handle})"],
            pass_fds=[handle],
            stdin=subprocess.DEVNULL,
            env={**os.environ, **threads, "PYTHONPATH": path},
            # Ctrl-C is for the main process alone.
            start_new_session=True,
        )
        theirs.close()
        self.ready = False
        self.give(job)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

    def give(self, job: _Job) -> None:
        self.job = job
        # A dead process is noticed when its socket is read.
        with suppress(OSError):
            self.connection.send(job.chunk)

    def end(self) -> str:
        """Make sure it is gone; how it went, in words."""
        self.connection.close()
        self._popen.kill()
        code = self._popen.wait()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class _Kept(NamedTuple):
    processes: list[_Process]
    done: dict[Work, Attempt]


# Processes that wait for the next crew, and what was done ahead of it, for each `kept_workers` around it.
_KEPT: list[_Kept] = []


@contextmanager
def kept_workers() -> Iterator[None]:
    """Within it a process that has nothing left to do waits for the next crew: to start one takes a second.

    What `done_ahead` was told is not done again.
    """
    _KEPT.append(_Kept([], {}))
    try:
        yield
    finally:
        for process in _KEPT.pop().processes:
            process.end()


def done_ahead(came: Attempt) -> None:
    """Keep what became of a piece until it is asked for; one that failed is tried again then."""
    if _KEPT and not came.error:
        _KEPT[-1].done[came.chunk] = came


def is_done(piece: Work) -> bool:
    """Whether it was done ahead."""
    return bool(_KEPT) and piece in _KEPT[-1].done


def _process(job: _Job) -> _Process:
    """One that waits, or a new one."""
    while _KEPT and _KEPT[-1].processes:
        process = _KEPT[-1].processes.pop()
        if process.alive:
            process.give(job)
            return process
        process.end()
    return _Process(job)


def _dismiss(process: _Process) -> None:
    if _KEPT:
        _KEPT[-1].processes.append(process)
    else:
        process.end()


def local_processes(chunks: Iterator[Work], *, workers: int, attempts: int, hear: Hear = ignore) -> Crew:
    """`workers` processes; the chunk of one that dies is tried again by another."""
    jobs = _Jobs(chunks, attempts)
    crew: dict[Connection, _Process] = {}
    source = source_digest()
    died_at_start = 0
    try:
        while True:
            while len(crew) < workers and (job := jobs.next()) is not None:
                process = _process(job)
                crew[process.connection] = process
            if not crew:
                return
            for connection in wait(list(crew)):
                assert isinstance(connection, Connection)
                process = crew[connection]
                try:
                    came = connection.recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    del crew[connection]
                    manner = process.end()
                    if process.ready:
                        words = f"the worker process died ({manner})"
                        settled = jobs.settle(process.job, Attempt(process.job.chunk, None, 0.0, "", error=words))
                        if settled is not None:
                            yield settled
                        continue
                    died_at_start += 1
                    if died_at_start > MOST_DEATHS_AT_START:
                        raise OSError(
                            f"workers: {died_at_start} processes died before they were ready ({manner})"
                        ) from None
                    jobs.put_back(process.job)
                    continue
                if isinstance(came, str):
                    if came != source:
                        raise OSError("workers: rankmath's own files have changed since this run began; resume it")
                    process.ready, died_at_start = True, 0
                    continue
                if isinstance(came, int):
                    hear(process.job.chunk, came)
                    continue
                settled = jobs.settle(process.job, came)
                following = jobs.next(process.job.chunk)
                if following is None:
                    del crew[connection]
                    _dismiss(process)
                else:
                    process.give(following)
                if settled is not None:
                    yield settled
    finally:
        for process in crew.values():
            process.end()


def shared(pieces: Sequence[Work], *, workers: int) -> Iterator[Attempt]:
    """Pieces that are done, in any order, by so many processes or here; one that fails ends all."""
    yield from (_KEPT[-1].done[piece] for piece in pieces if is_done(piece))
    pieces = [piece for piece in pieces if not is_done(piece)]
    alone = workers <= 1 or len(pieces) <= 1
    crew = (
        in_this_process(iter(pieces), attempts=1)
        if alone
        else local_processes(iter(pieces), workers=min(workers, len(pieces)), attempts=2)
    )
    with closing(crew):
        for came in crew:
            if came.not_written is not None:
                raise came.not_written
            if came.error:
                raise RuntimeError(f"{came.chunk.key}: {came.error}\n{came.traceback}")
            yield came


# -- a Dask cluster ----------------------------------------------------------------------------------------


def dask_cluster(chunks: Iterator[Work], *, cluster: Dask, attempts: int) -> Crew:
    """The workers of a scheduler, given by its address or by a `distributed.Client`.

    The scheduler itself gives a lost worker's chunks to the others, and gives up on a chunk that has cost it
    several workers; such a chunk is reported as failed.
    """
    try:
        from distributed import CancelledError, Client, KilledWorker, as_completed
    except ImportError:
        raise InvalidArgument("dask: given, but distributed is not installed; pip install 'rankmath[scale]'") from None

    client = cluster if isinstance(cluster, Client) else _client(cluster)
    jobs = _Jobs(chunks, attempts)
    pending: dict[Any, _Job] = {}
    try:
        _check_workers(client)
        finished = as_completed(loop=client.loop)
        while True:
            # Two for each thread, so that none waits for us; workers come and go.
            room = max(1, 2 * sum(client.nthreads().values()))
            while len(pending) < room and (job := jobs.next()) is not None:
                future = client.submit(attempt, job.chunk, pure=False)
                pending[future] = job
                finished.add(future)
            if not pending:
                return
            future = next(finished)
            job = pending.pop(future)
            try:
                settled = jobs.settle(job, future.result())
            except KilledWorker as error:
                settled = Attempt(job.chunk, None, 0.0, "", job.tried + 1, str(error))
            if settled is not None:
                yield settled
    except (CancelledError, OSError) as error:
        raise OSError(f"dask: the scheduler does not answer any more ({error}); resume when it does") from None
    finally:
        with suppress(Exception):
            client.cancel(list(pending))
        if client is not cluster:
            client.close()


def _client(address: str) -> Dask:
    from distributed import Client
    from distributed.comm.addressing import parse_address, parse_host_port

    # Silence its log with tracebacks: our own errors say the same in a line.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        parse_host_port(parse_address(address)[1])
        return Client(address, timeout=DASK_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InvalidArgument(f"dask: {address!r} given; no scheduler answers there ({error})") from None


def _check_workers(client: Dask) -> None:
    """There are some, and they have this very library."""
    try:
        client.wait_for_workers(1, timeout=DASK_PATIENCE)
    except TimeoutError:
        raise InvalidArgument(
            f"dask: {client.scheduler.address} has no workers; start some with `dask worker`"
        ) from None
    try:
        found = client.run(source_digest)
    except Exception as error:
        raise InvalidArgument(f"dask: a worker cannot run rankmath ({type(error).__name__}: {error})") from None
    for worker, source in found.items():
        if source != source_digest():
            raise InvalidArgument(
                f"dask: the worker {worker} has a rankmath with source {source}, not {source_digest()} as here"
            )


# -- joblib ------------------------------------------------------------------------------------------------


def joblib_backend(chunks: Iterator[Work], *, attempts: int) -> Crew:
    """The backend of the `joblib.parallel_config` around the call: loky, dask, ray, …

    joblib does not say whose chunk a dead worker had: all chunks at hand are tried again.
    """
    try:
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool
    except ImportError:
        raise InvalidArgument("joblib: asked for, but not installed; pip install 'rankmath[scale]'") from None

    jobs = _Jobs(chunks, attempts)
    at_hand: dict[Work, _Job] = {}

    def dispatch() -> Iterator[Any]:
        while (job := jobs.next()) is not None:
            at_hand[job.chunk] = job
            yield delayed(attempt)(job.chunk)

    while True:
        try:
            for came in Parallel(return_as="generator_unordered")(dispatch()):
                settled = jobs.settle(at_hand.pop(came.chunk), came)
                if settled is not None:
                    yield settled
        except BrokenProcessPool as error:
            lost = list(at_hand.values())
            at_hand.clear()
            for job in lost:
                words = f"a worker process died ({str(error).splitlines()[0]})"
                settled = jobs.settle(job, Attempt(job.chunk, None, 0.0, "", error=words))
                if settled is not None:
                    yield settled
            continue
        following = jobs.next()
        if following is None:
            return
        # A chunk was put back for another attempt after joblib had drawn its last one: begin again.
        jobs.put_back(following)
