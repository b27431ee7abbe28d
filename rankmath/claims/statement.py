"""A statement is an object; nothing else in the library knows a theorem by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.claims.instance import Instance
from rankmath.claims.verdict import Verdict
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network

#: What is known: proved or an identity (every instance holds), refuted (an instance violates it, with certificate).
Status = Literal["proved", "refuted"]


@dataclass(frozen=True)
class Side:
    """One inequality lhs ≤ rhs in log scale: numbers of the arithmetic that ran, or arrays of them over a batch."""

    log_lhs: Any
    log_rhs: Any


@dataclass(frozen=True)
class Hypothesis:
    """A named predicate in the form log_lhs ≤ log_rhs (strict or not), so that balls can decide it too."""

    name: str
    side: Side


def fact(A: Any, name: str, true: bool) -> Hypothesis:
    """A hypothesis that needs no rounding: True or False."""
    low, high = A.constant(0), A.constant(1)
    return Hypothesis(name, Side(low, high) if true else Side(high, low))


def attention_alone(
    A: Any, net: Network, *, skip: float = 0.0, maps: bool = False, padding: bool = True
) -> Hypothesis:
    """What the layer theorems speak of: no LayerNorm, λ = `skip`, MLPs only if `maps`, no mask but key padding."""
    mask = net.mask_for(net.mask.n) if isinstance(net.mask, Mask) else None
    named = isinstance(net.mask, str) and net.mask != "complete"
    seen = not named and (mask is None or (padding and mask.common_support is not None))
    plain = net.norm is None and net.skip == skip and (maps or not any(net.mlp))
    words = "attention alone" if skip == 0 else "attention with λ = 1"
    return fact(
        A, f"{words}{', MLPs' if maps else ''}, {'key padding at most' if padding else 'no mask'}", plain and seen
    )


@dataclass(frozen=True)
class Evaluation:
    """A statement on an instance: all hypotheses and all inequalities (every one must hold)."""

    sides: Sequence[Side]
    hypotheses: Sequence[Hypothesis] = ()


@dataclass(frozen=True)
class Exact:
    """The outcome of a statement that exact arithmetic decides."""

    holds: bool
    reason: str


Draw = Callable[[np.random.Generator, int], Instance]


@dataclass(frozen=True)
class Statement:
    """One theorem, lemma or claim.

    Attributes
    ----------
    key : what users type, e.g. ``own:diameter``.
    claim : LaTeX of the claim.
    source : who states it, and where.
    status : what is registered as known.
    truth : where the truth is shown: a file of proofs/, or the certificate that refutes.
    evaluate : (arithmetic, instance) -> Evaluation, for inequalities; batches in float64.
    decide : instance -> Exact, for identities in exact arithmetic.
    instance : checks what a user hands over and makes an instance of it.
    draws : generators of batches, (rng, size) -> instance: random and structured.
    extremal : generators of single instances close to equality, from the statement's own analysis.
    exhibit : builds the instance that refutes, or shows what is claimed to exist, with its certificate.
    certificate : turns an instance and its certified verdict into a certificate.
    sharp : whether equality is approached (ratio → 1).
    """

    key: str
    title: str
    claim: str
    source: str
    status: Status
    truth: str
    instance: Callable[..., Any]
    draws: tuple[Draw, ...] = ()
    evaluate: Callable[[Any, Any], Evaluation] | None = None
    decide: Callable[[Any], Exact] | None = None
    extremal: Callable[[np.random.Generator], Iterator[Instance]] | None = None
    exhibit: Callable[[], Certificate] | None = None
    certificate: Callable[[Any, Verdict], Certificate] | None = None
    sharp: bool = False
    notes: str = field(default="")
    #: Whether the exhibit's certificate refutes the claim (or is what the claim says exists).
    exhibit_refutes: bool = True
    #: The share of a battery's instances it takes: less than one where an instance costs linear programs.
    share: float = 1.0
    #: Rough relative cost of its battery, to start the long ones first.
    cost: float = 1.0
    #: How another bound does on the same instances: (arithmetic, instance, evaluation) -> {words: log of a factor}.
    compare: Callable[[Any, Any, Evaluation], dict[str, Any]] | None = None
