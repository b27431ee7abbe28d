"""Proofs about LayerNorm equilibria in balls: existence, exact rank, stability with a proved attracting ball.

The weights are taken as the exact dyadic numbers they are. Near the given tokens a true equilibrium is proved to
exist by Krawczyk's test; every other claim is proved for that equilibrium, not for the given approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeVar

import numpy as np

from rankmath.arithmetic.balls import precision
from rankmath.certificates.certificate import Certificate, Data
from rankmath.certificates.issue import issue
from rankmath.equilibria.attraction import Attraction, prove_attraction
from rankmath.equilibria.contraction import Contraction, NotContracting, log10, prove_contraction
from rankmath.equilibria.designs import Design, recognised
from rankmath.equilibria.map import Floats
from rankmath.equilibria.proofs import (
    Escape,
    Existence,
    Inconclusive,
    Minor,
    Problem,
    Refused,
    prove_escape,
    prove_existence,
    prove_minor,
)
from rankmath.linalg.masks import Mask, MaskLike, as_mask
from rankmath.printing import power_of_two, rounded
from rankmath.validation import ArrayLike, InvalidArgument, as_array, as_choice, as_count, as_real

#: What a certificate of an equilibrium can be about, and its kind.
STATEMENTS = {
    "own:layernorm-equilibrium": "exists",
    "own:stable-complete": "exists",
    "wu2024:conjecture": "violates",
    "unstated:ln-sphere": "violates",
}

#: What a contraction in a weighted maximum norm can be a certificate of; all exist.
CONTRACTING = (
    "own:stable-equilibrium",
    "own:stable-causal-every-n",
    "own:stable-complete-every-n",
    "own:stable-rank-two-every-n",
    "wu2024:3-measure",
)

# Working precisions: the first that proves what is asked is kept.
_LADDER = (96, 192, 384, 768, 1536)

# Bits that the checker's fixed-point numbers need beyond balls.
_FIXED_BITS = 64

# Powers of 3/4 by which an attracting set is made smaller until the checker follows; fewer of large systems.
_SHRINKINGS = (0, 1, 3, 7, 15, 29)
_FEW_SHRINKINGS, _LARGE = (3, 15, 29), 36

Witness = TypeVar("Witness")


@dataclass(frozen=True)
class Claim:
    """One claim about an equilibrium: proved, or refused with the reason."""

    name: str
    proved: bool
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {'proved' if self.proved else 'REFUSED'}; {self.reason}"


@dataclass(frozen=True, eq=False, repr=False)
class EquilibriumProof:
    """What was claimed of an equilibrium and what of it is proved; the witnesses are exact.

    ``undecided`` says what was tried without being claimed, and why it is not proved.
    """

    W_V: Floats
    W_QK: Floats
    mask: Mask
    d_qk: int
    norm: str
    claims: tuple[Claim, ...]
    existence: Existence | None = None
    minor: Minor | None = None
    attraction: Attraction | None = None
    escape: Escape | None = None
    undecided: str = ""
    order: tuple[int, ...] | None = None
    contraction: Contraction | None = None
    centre: Floats | None = None

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
        if self.contraction is not None:
            return self.contraction.rank
        if self.minor is None or len(self.minor.pivots) != self.minor.at_most:
            return None
        return self.minor.at_most

    @property
    def X(self) -> Floats:
        """The tokens, to the nearest double of the exact centre."""
        if self.centre is not None:
            return self.centre
        if self.existence is None:
            raise InvalidArgument("X: no equilibrium is proved; see `claims`")
        rows = [[float(x) for x in row] for row in self.existence.centre]
        return np.array(rows)[list(self.existence.clusters)]

    def __repr__(self) -> str:
        lines = str(self).splitlines()
        return "\n".join([f"EquilibriumProof: {len(self.claims)} claims, proved: {self.proved}", *lines[:9]])

    def __str__(self) -> str:
        tried = [f"undecided: {self.undecided}"] if self.undecided else []
        return "\n".join([*map(str, self.claims), *tried])

    def certificate(self, statement: str | None = None) -> Certificate:
        """The proof as a certificate that the independent checker has accepted; NotIssued if it does not.

        What the proof says and no more: its box, its rank, its attracting set or its growth.

        Parameters
        ----------
        statement : one of the statements that the equilibrium shows or refutes; None: the equilibrium as it is.
        """
        keys = tuple(STATEMENTS) if self.contraction is None else CONTRACTING
        statement = as_choice("statement", keys[0] if statement is None else statement, keys)
        if not self.proved:
            raise InvalidArgument(f"proof: {self.refused[0]}; only a proof of every claim makes a certificate")
        if self.order is not None:
            raise InvalidArgument("proof: tokens that exchange places; certificates are of equilibria only")
        return issue(self._draft(statement), decided=True)

    def _draft(self, statement: str) -> Certificate:
        """The certificate, before anybody has checked it."""
        if self.contraction is not None:
            return self._contracting(statement, self.contraction)
        at = self.existence
        if at is None or self.minor is None:
            raise InvalidArgument(f"proof: {self.refused[0]}; only a proof of every claim makes a certificate")
        tokens = [at.centre[c] for c in at.clusters]
        data = self._map() | {"tokens": tokens, "radius": at.radius, "rank": self.minor.at_most}
        hints: dict[str, Data] = {
            "clusters": at.clusters,
            "support": [[int(a in row) for a in range(len(self.W_V))] for row in at.support],
            "preconditioner": at.preconditioner,
            "pivots": self.minor.pivots,
        }
        if self.escape is not None:
            data["unstable"] = {"growth": self.escape.growth}
            hints |= {"form": self.escape.form, "direction": self.escape.direction}
        if self.attraction is not None:
            data["attracting"] = {name: getattr(self.attraction, name) for name in ("R", "radius", "rate")}
            hints["S"] = self.attraction.S
        return Certificate(statement, STATEMENTS[statement], data, hints, str(self))

    def _map(self) -> dict[str, Data]:
        """The map whose equilibrium it is."""
        weights = {"W_V": self.W_V, "W_QK": self.W_QK, "mask": self.mask.allowed.astype(int)}
        return {**weights, "d_qk": self.d_qk, "norm": self.norm}

    def _contracting(self, statement: str, at: Contraction) -> Certificate:
        data = self._map() | {"tokens": self.X, "rank": at.rank, "ball": at.radius, "rate": at.rate}
        hints: dict[str, Data] = {
            "support": at.support,
            "pivots": at.pivots,
            "weights": at.weights,
            "size": at.size,
            "bits": at.bits + max(_FIXED_BITS, 4 * self.mask.n),
        }
        if at.spectrum is not None:
            data["spectrum"] = {"values": at.spectrum.values, "within": at.spectrum.within}
            hints["core"], hints["spectral_bits"] = at.core, at.spectral_bits + max(_FIXED_BITS, 4 * self.mask.n)
            hints["spectral_weights"] = at.spectrum.weights
        return Certificate(statement, "exists", data, hints, str(self))


def certify_design(design: Design) -> EquilibriumProof:
    """Prove what a closed form claims, by a contraction in a weighted maximum norm.

    >>> from rankmath.equilibria.designs import causal_design
    >>> proof = certify_design(causal_design(2))
    >>> print(proof.claims[1])
    rank: proved; rank 2: a minor of that order dominates on the box; the zeros stay
    >>> print(proof.claims[3])
    spectrum: proved; every eigenvalue is within 6e-08 of those of the limit
    """
    try:
        proof: Contraction | None = prove_contraction(design)
    except NotContracting as failure:
        proof, claims = None, [Claim("stability", False, str(failure))]
    if proof is not None:
        off = proof.core * max(map(max, proof.weights))
        near = f"within 10^{ceil(10 * log10(off)) / 10:.1f} (largest entry) of the centre"
        claims = [
            Claim("existence", True, f"exactly one equilibrium in the box, {near}"),
            Claim("rank", True, f"rank {proof.rank}: a minor of that order dominates on the box; the zeros stay"),
            Claim("stability", True, str(proof)),
        ]
        if proof.spectrum is not None:
            within = f"every eigenvalue is within {rounded(proof.spectrum.within, 1, up=True)} of those of the limit"
            claims.append(Claim("spectrum", True, within))
    given = (design.W_V, design.W_QK, design.mask, 1, "sphere")
    return EquilibriumProof(*given, tuple(claims), contraction=proof, centre=design.X)


def certify_equilibrium(
    X: ArrayLike,
    W_V: ArrayLike,
    W_QK: ArrayLike,
    mask: MaskLike,
    d_qk: int = 1,
    norm: str = "sphere",
    *,
    rank: int | None = None,
    stable: bool | None = None,
    tolerance: float = 1e-9,
    order: Sequence[int] | None = None,
    checked: bool = True,
) -> EquilibriumProof:
    """Prove that X' = N(A(X) X W_V) has an equilibrium near X, its rank, and its (in)stability (O6, W3).

    Existence and uniqueness in a box by Krawczyk's test; the rank from below by a minor that is never zero on the
    box, from above by clusters, zeros and subspaces that the map preserves; stability by a contraction in a
    Lyapunov norm over a whole neighbourhood, whose radius is reported; instability by a quadratic form that the
    Jacobian makes grow.

    Parameters
    ----------
    X : the tokens, accurate to `tolerance` (largest entry); tokens that coincide to it are one cluster if the mask
        treats them alike.
    W_V, W_QK : the weights, taken as exact dyadic numbers.
    mask : a name, boolean matrix, networkx graph or `Mask`.
    rank : the rank claimed; None: whatever rank can be proved.
    stable : True claims that the equilibrium attracts, False that it is unstable, None claims neither.
    order : claims F(X) = X[order] instead of F(X) = X. If the mask does not change under this permutation of the
        tokens, which is demanded, then Fᵗ(X) = X[orderᵗ]: a periodic orbit on which tokens exchange places, stable
        if X is a stable fixed point of F followed by the way back.
    checked : False leaves the set that attracts as balls prove it; else it is one that the checker agrees to.

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
        raise InvalidArgument("X: one coordinate given; standard LayerNorm needs at least 2")
    if rank is not None:
        rank = as_count("rank", rank)
    stable = as_choice("stable", stable, (None, True, False))
    tolerance = as_real("tolerance", tolerance, positive=True)
    places = None if order is None else as_order(order, mask)
    problem = Problem(X, W_V, W_QK, mask, d_qk, norm, tolerance, places)
    # A norm of weights is cheap where it serves; where both do, that of a Lyapunov matrix gives more room.
    sharp = _of_unit_vectors(problem, rank) if stable and (X.size > _LARGE or d == 1) else None
    if sharp is not None:
        return sharp
    existence, minor, claims = _existence_and_rank(problem, rank)
    proof = EquilibriumProof(W_V, W_QK, mask, d_qk, norm, tuple(claims), existence, minor, order=places)
    if existence is None or stable is None:
        return proof
    if stable:
        found = _attracting(problem, proof, rank, checked)
        return found if found.proved else _of_unit_vectors(problem, rank) or found
    escape, reason = _attempt(prove_escape, problem, existence)
    if escape is not None:
        reason = f"the spectral radius of the Jacobian is more than {rounded(escape.growth, 6, up=False)}"
    return replace(proof, claims=(*claims, Claim("instability", escape is not None, reason)), escape=escape)


def _attracting(problem: Problem, proof: EquilibriumProof, rank: int | None, checked: bool) -> EquilibriumProof:
    """The proof with a set that attracts and, if checked, that the checker agrees to, with more bits if need be."""
    assert proof.existence is not None
    found: EquilibriumProof | None = None
    refusal = ""
    for bits in [b for b in _LADDER if b >= proof.existence.bits]:
        try:
            here = proof if bits == proof.existence.bits else _enclosed(problem, proof, rank, bits)
            assert here.existence is not None
            with precision(bits):
                attraction = prove_attraction(problem, here.existence)
        except Inconclusive as failure:
            refusal = str(failure)
            continue
        except Refused as failure:
            refusal = str(failure)
            break
        stability = Claim("stability", True, _attraction_words(attraction, rank))
        here = replace(here, claims=(*here.claims, stability), attraction=attraction)
        # The checker reads equilibria, not cycles.
        plain = not checked or problem.order is not None or not here.proved
        agreed = here if plain else _agreed(here, attraction)
        if agreed is not None or found is not None:
            return agreed or found or here
        # The box of the equilibrium may be too large for the set that attracts: enclose it more closely, once.
        found = here
    return found or replace(proof, claims=(*proof.claims, Claim("stability", False, refusal)))


def _of_unit_vectors(problem: Problem, rank: int | None) -> EquilibriumProof | None:
    """The proof in a weighted maximum norm where the arrays are a closed form, or one like it; else None."""
    if problem.order is not None or problem.norm != "sphere" or problem.d_qk != 1:
        return None
    design = recognised(problem.X, problem.W_V, problem.W_QK, problem.mask, problem.tolerance)
    proof = None if design is None else certify_design(design)
    return proof if proof is not None and proof.proved and rank in (None, proof.rank) else None


def _enclosed(problem: Problem, proof: EquilibriumProof, rank: int | None, bits: int) -> EquilibriumProof:
    """The same with existence and rank proved in a smaller box."""
    with precision(bits):
        existence = prove_existence(problem, bits)
        minor = prove_minor(problem, existence)
    claims = (_existence_claim(problem, existence), _rank_claim(minor, rank, existence))
    return replace(proof, claims=claims, existence=existence, minor=minor)


def as_order(order: object, mask: Mask) -> tuple[int, ...]:
    """A permutation of the tokens under which the mask does not change, or a ValueError."""
    places = np.asarray(as_array("order", order, ndim=1, shape=(mask.n,)))
    if sorted(places.tolist()) != list(range(mask.n)):
        raise InvalidArgument(f"order: {order} given; a permutation of 0 … {mask.n - 1} is needed")
    chosen = places.astype(int)
    if not np.array_equal(mask.allowed[np.ix_(chosen, chosen)], mask.allowed):
        raise InvalidArgument(f"order: {order} given; it must not change the mask")
    return tuple(chosen.tolist())


def _agreed(proof: EquilibriumProof, attraction: Attraction) -> EquilibriumProof | None:
    """The proof with an attracting set on which the independent checker agrees, so that both state one ball.

    Its intervals are others than these balls, and wider where tokens coincide: the set is made smaller until it
    follows. Every claim about the smaller set is then the checker's; None if it never follows.
    """
    assert proof.existence is not None
    spread = float(sum(x * x for row in attraction.S for x in row) * len(attraction.S)) ** 0.5
    for times in _SHRINKINGS if len(attraction.S) <= _LARGE else _FEW_SHRINKINGS:
        smaller = attraction.shrunk(times)
        if spread * float(proof.existence.radius) >= float(smaller.radius):
            break  # the set no longer holds the box of the equilibrium
        claims = (*proof.claims[:-1], Claim("stability", True, _attraction_words(smaller, proof.rank)))
        candidate = replace(proof, claims=claims, attraction=smaller)
        result = candidate._draft("own:layernorm-equilibrium").check()
        if result.accepted:
            return candidate
        if result.verdict != "undecided":
            break
    return None


def _attraction_words(attraction: Attraction, rank: int | None) -> str:
    spared = ", so none collapses" if rank is not None and rank > 1 else ""
    return (
        f"every start within {rounded(attraction.ball, 3, up=False)} of the centre (Frobenius norm) converges to it"
        f"{spared}; "
        f"the distance shrinks by {rounded(attraction.rate, 6, up=True)} a layer in a fixed norm"
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
        shown = len(minor.pivots)
        if shown == minor.at_most or (rank is not None and not shown <= rank <= minor.at_most):
            break
    if existence is None or minor is None:
        return None, None, [Claim("existence", False, reason)]
    return existence, minor, [_existence_claim(problem, existence), _rank_claim(minor, rank, existence)]


def _existence_claim(problem: Problem, existence: Existence) -> Claim:
    alike = " with these clusters and zeros" if existence.is_reduced else ""
    what = "equilibrium" if problem.order is None else "X with F(X) = X[order]"
    near = f"within {power_of_two(existence.radius)} (largest entry) of the centre"
    return Claim("existence", True, f"exactly one {what}{alike} {near}")


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
