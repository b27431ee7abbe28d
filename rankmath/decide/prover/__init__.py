"""Proving a one-line claim: a derivation from lemmas, found by linear programs, checked by `rankmath.checker`."""

from __future__ import annotations

from rankmath.decide.prover.proof import prove, weaker

__all__ = ["prove", "weaker"]
