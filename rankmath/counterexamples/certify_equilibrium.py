"""Proofs about LayerNorm equilibria in balls: existence, exact rank, stability with a proved attracting ball.

The weights are taken as the exact dyadic numbers they are. Near the given tokens a true equilibrium is proved to
exist by Krawczyk's test; every other claim is proved for that equilibrium, not for the given approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.linalg

from rankmath.arithmetic.balls import precision
from rankmath.certify.certificate import Certificate
from rankmath.certify.issue import issue
from rankmath.counterexamples.equilibrium_map import Floats, jacobian
from rankmath.counterexamples.equilibrium_proofs import (
    Attraction,
    Escape,
    Existence,
    Inconclusive,
    Minor,
    Problem,
    Refused,
    prove_attraction,
    prove_escape,
    prove_existence,
    prove_minor,
    short_fraction,
)
from rankmath.linalg.masks import Mask, as_mask
from rankmath.validation import as_array, as_choice, as_count, as_real

#: What a certificate of an equilibrium can be about, and its kind.
STATEMENTS = {
    "own:layernorm-equilibrium": "exists",
    "own:stable-complete": "exists",
    "wu2024:conjecture": "violates",
    "dong2021:ln-sphere": "violates",
}

# Working precisions: the first that proves what is asked is kept.
_LADDER = (96, 192, 384, 768, 1536)
# The checker has not been seen to follow the contraction on a larger share of its set than 2^-3.
_LEAST_HALVINGS = 3

Witness = TypeVar("Witness")


@dataclass(frozen=True)
class Claim:
    """One claim about an equilibrium: proved, or refused with the reason."""

    name: str
    proved: bool
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {'proved' if self.proved else 'REFUSED'}; {self.reason}"


@dataclass(frozen=True, eq=False)
class EquilibriumProof:
    """What was claimed of an equilibrium and what of it is proved; the witnesses are exact."""

    W_V: Floats
    W_QK: Floats
    mask: Mask
    d_qk: int
    norm: str
    claims: tuple[Claim, ...]
    existence: Existence | None
    minor: Minor | None
    attraction: Attraction | None
    escape: Escape | None

    @property
    def proved(self) -> bool:
        """Whether every claim is proved."""
        return all(claim.proved for claim in self.claims)

    @property
    def refused(self) -> tuple[Claim, ...]:
        """The claims that are not proved, each with its reason."""
        return tuple(claim for claim in self.claims if not claim.proved)

    @property
    def rank(self) -> int | None:
        """The proved rank, None if it is not pinned down."""
        if self.minor is None or len(self.minor.pivots) != self.minor.at_most:
            return None
        return self.minor.at_most

    @property
    def X(self) -> Floats:
        """The tokens, to the nearest double of the exact centre."""
        if self.existence is None:
            raise ValueError("X: no equilibrium is proved; see `claims`")
        rows = [[float(x) for x in row] for row in self.existence.centre]
        return np.array(rows)[list(self.existence.clusters)]

    def __str__(self) -> str:
        return "\n".join(str(claim) for claim in self.claims)

    def certificate(self, statement: str = "own:layernorm-equilibrium") -> Certificate:
        """The proof as a certificate that the independent checker has accepted; NotIssued if it does not.

        The checker encloses first derivatives only, so it follows the contraction on a smaller set than
        `certify_equilibrium` with its second derivatives: the certificate claims the largest 2⁻ᵏ that is accepted.

        Parameters
        ----------
        statement : the equilibrium as it is, or one of the statements that it shows or refutes.
        """
        as_choice("statement", statement, tuple(STATEMENTS))
        if not self.proved or self.existence is None or self.minor is None:
            raise ValueError(f"proof: {self.refused[0]}; only a proof of every claim makes a certificate")
        at = self.existence
        data: dict[str, Any] = {
            "W_V": self.W_V,
            "W_QK": self.W_QK,
            "mask": self.mask.allowed.astype(int),
            "d_qk": self.d_qk,
            "norm": self.norm,
            "tokens": [at.centre[c] for c in at.clusters],
            "radius": at.radius,
            "rank": self.minor.at_most,
        }
        hints: dict[str, Any] = {
            "clusters": at.clusters,
            "support": [[int(a in row) for a in range(len(self.W_V))] for row in at.support],
            "preconditioner": at.preconditioner,
            "pivots": self.minor.pivots,
        }
        if self.escape is not None:
            J = jacobian(
                self.X, self.W_V, self.W_QK / np.sqrt(self.d_qk), self.mask.allowed.astype(float), self.norm
            )
            data["unstable"], form = growing_form(J)
            hints |= form
        if self.attraction is None:
            return issue(Certificate(statement, STATEMENTS[statement], data, hints, str(self)), decided=True)
        hints["S"] = self.attraction.S
        # Between the proved rate and 1: a checker with wider enclosures needs the room.
        rate = 1 - short_fraction((1 - self.attraction.rate) / 2)
        for halvings in range(_LEAST_HALVINGS, _LEAST_HALVINGS + 10):
            radius = self.attraction.radius / 2**halvings
            data["attracting"] = {"R": self.attraction.R, "radius": radius, "rate": rate}
            certificate = Certificate(statement, STATEMENTS[statement], data, hints, str(self))
            result = certificate.check()
            if result.accepted:
                return certificate
            if "attracting" not in result.reason:
                break
        return issue(certificate, decided=True)


def growing_form(J: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
    """s ≥ 1 and a symmetric P with JᵀPJ − s²P ≻ 0 and hᵀPh > 0, so that ‖Jᵗh‖ grows faster than sᵗ.

    P solves JᵀPJ − s²P = I, which needs s² away from all products of two eigenvalues; on the eigenvectors v of
    |λ| > s it is positive, because (|λ|² − s²) v*Pv = ‖v‖².

    Examples
    --------
    >>> claim, hints = growing_form(np.diag([2.0, 1.0]))
    >>> 1 <= claim["growth"] < 2, np.sign(np.diag(hints["form"])).tolist()
    (True, [1.0, -1.0])
    """
    top = float(np.abs(np.linalg.eigvals(J)).max())
    forms = []
    for share in np.linspace(0.1, 0.8, 8):
        s = 1 + short_fraction(share * (top - 1))
        forms.append((s, scipy.linalg.solve_discrete_lyapunov(J.T / float(s), -np.eye(len(J)) / float(s) ** 2)))
    growth, P = min(forms, key=lambda pair: float(np.abs(pair[1]).max()))
    P = (P + P.T) / 2
    return {"growth": growth}, {"form": P, "direction": np.linalg.eigh(P)[1][:, -1]}


def certify_equilibrium(
    X: Any,
    W_V: Any,
    W_QK: Any,
    mask: Any,
    d_qk: int = 1,
    norm: str = "sphere",
    *,
    rank: int | None = None,
    stable: bool | None = None,
    tolerance: float = 1e-9,
) -> EquilibriumProof:
    """Prove that X' = N(A(X) X W_V) has an equilibrium near X, its rank, and its (in)stability (O6, W3).

    Existence and uniqueness in a box by Krawczyk's test; the rank from below by a minor that is never zero on the
    box, from above by clusters and zeros that the map preserves; stability by a contraction in a Lyapunov norm over
    a whole neighbourhood, whose radius is reported; instability by an enclosed eigenvalue outside the unit circle.

    Parameters
    ----------
    X : the tokens, accurate to `tolerance` (largest entry); tokens that coincide to it are one cluster if the mask
        treats them alike.
    W_V, W_QK : the weights, taken as exact dyadic numbers.
    mask : a name, boolean matrix, networkx graph or `Mask`.
    rank : the rank claimed; None: whatever rank can be proved.
    stable : True claims that the equilibrium attracts, False that it is unstable, None claims neither.

    Examples
    --------
    >>> W_V = [[1, 5 / 3], [0, 1]]
    >>> proof = certify_equilibrium([[0, 1], [-0.6, -0.8]], W_V, np.zeros((2, 2)), "causal")
    >>> proof.proved, proof.rank
    (True, 2)
    >>> print(certify_equilibrium([[0, 1], [-0.6, -0.8001]], W_V, np.zeros((2, 2)), "causal"))
    existence: REFUSED; the nearest equilibrium found is 1.0e-04 away, more than the tolerance 1e-09
    """
    X = np.asarray(as_array("X", X, ndim=2))
    n, d = X.shape
    W_V = np.asarray(as_array("W_V", W_V, ndim=2, shape=(d, d)))
    W_QK = np.asarray(as_array("W_QK", W_QK, ndim=2, shape=(d, d)))
    mask = as_mask(mask, n)
    d_qk = as_count("d_qk", d_qk)
    norm = as_choice("norm", norm, ("sphere", "standard"))
    if norm == "standard" and d < 2:
        raise ValueError("X: one coordinate given; standard LayerNorm needs at least 2")
    if rank is not None:
        rank = as_count("rank", rank)
    stable = as_choice("stable", stable, (None, True, False))
    tolerance = as_real("tolerance", tolerance, positive=True)
    problem = Problem(X, W_V, W_QK, mask, d_qk, norm, tolerance)
    existence, minor, claims = _existence_and_rank(problem, rank)
    attraction: Attraction | None = None
    escape: Escape | None = None
    if existence is not None and stable is not None:
        if stable:
            attraction, reason = _attempt(prove_attraction, problem, existence)
            if attraction is not None:
                reason = (
                    f"every start within {attraction.ball:.3g} of the centre (Frobenius norm) converges to it, "
                    f"so none collapses; the distance shrinks by {attraction.rate:.6f} a layer in a fixed norm"
                )
        else:
            escape, reason = _attempt(prove_escape, problem, existence)
            if escape is not None:
                reason = f"the Jacobian has an eigenvalue of modulus at least {escape.least:.12g}"
        proved = attraction is not None or escape is not None
        claims.append(Claim("stability" if stable else "instability", proved, reason))
    return EquilibriumProof(
        W_V=W_V,
        W_QK=W_QK,
        mask=mask,
        d_qk=d_qk,
        norm=norm,
        claims=tuple(claims),
        existence=existence,
        minor=minor,
        attraction=attraction,
        escape=escape,
    )


def _existence_and_rank(problem: Problem, rank: int | None) -> tuple[Existence | None, Minor | None, list[Claim]]:
    """Climb the precisions until the equilibrium is proved and its rank, where provable, is too."""
    existence: Existence | None = None
    minor: Minor | None = None
    reason = ""
    for bits in _LADDER:
        with precision(bits):
            try:
                existence = prove_existence(problem, bits)
                minor = prove_minor(problem, existence)
            except Inconclusive as failure:
                reason = reason or str(failure)
                continue
            except Refused as failure:
                reason = str(failure)
                break
        wanted = minor.at_most if rank is None else min(rank, minor.at_most)
        if len(minor.pivots) >= wanted:
            break
    if existence is None or minor is None:
        return None, None, [Claim("existence", False, reason)]
    alike = " with these clusters and zeros" if existence.is_reduced else ""
    reason = f"exactly one equilibrium{alike} within {float(existence.radius):.1e} (largest entry) of the centre"
    return existence, minor, [Claim("existence", True, reason), _rank_claim(minor, rank, existence)]


def _rank_claim(minor: Minor, rank: int | None, existence: Existence) -> Claim:
    shown, limit = len(minor.pivots), minor.at_most
    clusters = len(existence.weights)
    if rank is not None and rank > limit:
        return Claim(
            "rank", False, f"rank {rank} claimed, but {clusters} distinct tokens here have rank at most {limit}"
        )
    if rank is not None and shown > rank:
        return Claim("rank", False, f"rank {rank} claimed, but a minor of order {shown} is not zero")
    if rank is not None and shown < rank:
        return Claim("rank", False, f"rank {rank} claimed, but only rank at least {shown} is proved")
    if shown < limit:
        return Claim("rank", False, f"proved only that the rank is at least {shown} and at most {limit}")
    return Claim("rank", True, f"rank {limit}: a minor of that order is at least {minor.least:.3g} in modulus")


def _attempt(
    prove: Callable[[Problem, Existence], Witness], problem: Problem, existence: Existence
) -> tuple[Witness | None, str]:
    try:
        with precision(existence.bits):
            return prove(problem, existence), ""
    except (Inconclusive, Refused) as failure:
        return None, str(failure)
