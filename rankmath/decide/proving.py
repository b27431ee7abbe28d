"""Proving beside refuting: a thread that looks for a derivation while instances are drawn and searched."""

from __future__ import annotations

import threading

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

    def __init__(self, statement: Statement, seconds: float = SECONDS) -> None:
        self._proof: FoundProof | None = None
        self._failure: Exception | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(statement, seconds), daemon=True)
        if statement.quantifier == "all":
            self._thread.start()

    def _run(self, statement: Statement, seconds: float) -> None:
        try:
            self._proof = prove(
                statement.claim_text, statement.given_texts, key=statement.key, seconds=seconds, stop=self._ended.is_set
            )
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

    def result(self, *, wait: bool) -> FoundProof | None:
        """The proof, if there is one (by now, or in the end)."""
        if wait and self._thread.is_alive():
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._proof

    def stop(self) -> None:
        self._ended.set()
