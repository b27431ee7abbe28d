"""Proving beside refuting: a thread that looks for a derivation while instances are drawn and searched."""

from __future__ import annotations

import threading
import time

from rankmath.decide.adversary import Tell
from rankmath.decide.prover import prove
from rankmath.decide.prover.proof import FoundProof
from rankmath.verification.statement import Statement

#: Seconds of computing that a proof may take.
SECONDS = 10.0


class Proved(Exception):
    """A proof was found: the search for a counterexample need not go on."""


class Proving:
    """The search for a derivation of a statement, in a thread of its own."""

    def __init__(self, statement: Statement, until: float) -> None:
        self._proof: FoundProof | None = None
        self._failure: Exception | None = None
        self._ended, self._until, self._cut = threading.Event(), until, False
        # No daemon: one that is in foreign code when Python ends takes the whole process down.
        self._thread = threading.Thread(target=self._run, args=(statement,))
        if statement.quantifier == "all":
            self._thread.start()

    def _over(self) -> bool:
        return self._ended.is_set() or time.perf_counter() > self._until

    def _run(self, statement: Statement) -> None:
        try:
            wording = statement.claim_text, statement.given_texts
            began = time.thread_time()
            try:
                self._proof = prove(*wording, key=statement.key, seconds=SECONDS, stop=self._over)
            except SystemError:  # Python 3.11 counts the depth of trees for all threads together: once more
                self._proof = prove(*wording, key=statement.key, seconds=SECONDS, stop=self._over)
            self._cut = self._proof is None and (self._over() or time.thread_time() - began > SECONDS)
        except Exception as failure:  # raised again where the result is asked for
            self._failure = failure

    def telling(self, tell: Tell | None) -> Tell:
        """`tell`, which ends the search once there is a proof."""

        def heard(count: int, score: float) -> None:
            if self._proof is not None:
                raise Proved
            if tell is not None and count:
                tell(count, score)

        return heard

    def result(self, *, wait: bool, more: float = 0.0) -> FoundProof | None:
        """The proof, if there is one (by now, or when the time is over, which is not before `more` seconds)."""
        if wait and self._thread.is_alive():
            self._until = max(self._until, time.perf_counter() + more)
            self._thread.join(max(0.0, self._until - time.perf_counter()))
        if self._failure is not None:
            raise self._failure
        return self._proof

    @property
    def cut(self) -> bool:
        """Whether the clock ended the search for a proof, or is about to."""
        return self._proof is None and (self._cut or self._thread.is_alive())

    def stop(self) -> None:
        """Have the thread end, which it does within a second or so."""
        self._ended.set()
