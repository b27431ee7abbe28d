"""What exists under LayerNorm, measured: the tables of docs/equilibria.md.

python benchmarks/equilibria.py                             # print the tables
python benchmarks/equilibria.py --write docs/equilibria.md  # put them between the markers of the page
python benchmarks/equilibria.py --only masks,blocks         # some of them
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
from pages import write_tables

import rankmath as rm
from rankmath.attention.limits import basins, limits, random_starts
from rankmath.certificates.issue import NotIssued
from rankmath.equilibria.blocks import survivors
from rankmath.equilibria.certify import certify_design
from rankmath.equilibria.constructions import sibling
from rankmath.equilibria.contraction import log10
from rankmath.equilibria.cycles import stable_cycle
from rankmath.equilibria.designs import causal_design, path_design
from rankmath.equilibria.equilibrium import Equilibrium
from rankmath.equilibria.search import LARGE_BASINS
from rankmath.linalg.masks import Mask, as_mask
from rankmath.printing import rounded

Rows = list[list[str]]
STARTS = 2000


def power_of_ten(radius: Fraction) -> str:
    """A power of ten that is no larger."""
    return f"10^{math.floor(10 * log10(radius)) / 10:.1f}"


def stable() -> Rows:
    """Stable equilibria of full rank under the complete mask, n = d."""
    rows = [["n = d", "spectral radius", "least singular value", "proved ball", "starts that reach it or −X"]]
    for n in range(2, 8):
        equilibrium = rm.layernorm_equilibrium(n, n, n, mask="complete", stable=True)
        proof = equilibrium.certify(stable=True)
        basin = equilibrium.basin(STARTS)
        both = STARTS - basin.elsewhere.hits
        ball = rounded(proof.attraction.ball, 2, up=False) if proof.proved and proof.attraction else "not proved"
        sigma = np.linalg.svd(equilibrium.X, compute_uv=False)[-1]
        share = f"{both} of {STARTS} ({1 - basin.elsewhere.high:.2%} to {1 - basin.elsewhere.low:.2%})"
        rows.append([str(n), f"{equilibrium.spectral_radius:.3f}", f"{sigma:.3f}", ball, share])
    return rows


def every_n() -> Rows:
    """The closed forms: generated, proved in balls, checked."""
    rows = [["n = d", "mask", "largest entry of W_QK", "spectral radius", "proved ball (largest entry)", "certificate"]]
    for n in range(2, 17):
        for mask, key, design in (
            ("complete", "own:stable-complete-every-n", path_design),
            ("causal", "own:stable-causal-every-n", causal_design),
        ):
            proof = certify_design(design(n))
            largest = f"{np.abs(proof.W_QK).max():.0f}"
            ball = power_of_ten(proof.contraction.radius)
            rows.append([str(n), mask, largest, "0.5 ± 2⁻²⁴", ball, proof.certificate(key).id])
    return rows


def beyond() -> Rows:
    """More tokens: the causal closed form, and rank two in two dimensions."""
    rows = [["n", "d", "mask", "rank", "spectral radius", "proved ball (largest entry)", "certificate"]]
    for n, d, mask in [
        *((n, n, "causal") for n in (32, 64)),
        *((n, 2, "complete") for n in (3, 4, 8, 16, 32, 64, 128)),
    ]:
        found = rm.layernorm_equilibrium(n, d, d, mask, stable=True)
        proof = found.certify()
        ball = power_of_ten(proof.contraction.radius)
        # Theorem A: the eigenvalues are ratios of the diagonal of W_V.
        slope = max(np.diag(found.W_V)[1:] / np.diag(found.W_V)[:-1]) if n == d else found.spectral_radius
        key = "own:stable-causal-every-n" if n == d else "own:stable-equilibrium"
        try:
            issued = proof.certificate(key).id
        except NotIssued:
            issued = "proved in balls; the checker would need more than its three minutes"
        rows.append([str(n), str(d), mask, str(proof.rank), f"{slope:.3f}", ball, issued])
    return rows


def radii() -> Rows:
    """Closed forms that are asked for a small spectral radius; their weights are doubles."""
    rows = [["n = d", "spectral radius", "largest entry of W_QK", "proved ball (largest entry)", "certificate"]]
    for n in range(3, 10):
        found = rm.layernorm_equilibrium(n, n, n, mask="complete", stable=True, radius=1 / 16)
        proof = found.certify()
        radius = float(max(x for row in proof.contraction.spectrum.values for x in row))
        ball = power_of_ten(proof.contraction.radius)
        largest = f"{np.abs(found.W_QK).max():.0f}"
        rows.append([str(n), f"{radius:.4g} ± 2⁻²⁴", largest, ball, proof.certificate().id])
    return rows


def blocks() -> Rows:
    """Whole blocks: heads, a skip, an MLP, standard LayerNorm."""
    rows = [["block", "n", "d", "rank", "least singular value", "certificate"]]
    for name, (block, X) in survivors().items():
        certificate = block.certificate(X)
        sigma = np.linalg.svd(X, compute_uv=False)[len(X) - 1]
        rank = str(certificate.data["rank"])
        rows.append([name, str(len(X)), str(X.shape[1]), rank, f"{sigma:.3f}", certificate.id])
    return rows


def masks() -> Rows:
    """Connected undirected masks with self-loops, full rank."""
    rng = np.random.default_rng(0)
    drawn = [np.triu(rng.random((n, n)) < 0.5, 1) for n in (7, 12)]
    named = {
        "path": np.eye(6, k=1),
        "path, twelve tokens": np.eye(12, k=1),
        "cycle": np.eye(6, k=1) + np.eye(6, k=5),
        "cycle, twelve tokens": np.eye(12, k=1) + np.eye(12, k=11),
        "grid 2 × 3": np.kron(np.eye(2), np.eye(3, k=1)) + np.eye(6, k=3),
        "grid 3 × 4": np.kron(np.eye(3), np.eye(4, k=1)) + np.eye(12, k=4),
        "random, edges with probability ½": drawn[0],
        "random, twelve tokens": drawn[1],
        "star": np.eye(4)[:, :1] @ np.ones((1, 4)),
        "star, five tokens": np.eye(5)[:, :1] @ np.ones((1, 5)),
    }
    rows = [["mask", "n = d", "found by", "spectral radius", "proved ball", "certificate"]]
    for name, edges in named.items():
        n = len(edges)
        mask = Mask((edges + edges.T + np.eye(n)) > 0)
        found = rm.layernorm_equilibrium(n, n, n, mask, stable=True)
        proof = found.certify(stable=True)
        closed = proof.contraction is not None
        ball = power_of_ten(proof.contraction.radius) if closed else rounded(proof.attraction.ball, 2, up=False)
        certificate = proof.certificate(None if closed else "wu2024:conjecture").id
        how = "closed form" if closed else "search"
        rows.append([name, str(n), how, f"{found.spectral_radius:.3f}", ball, certificate])
    return rows


def basins_found() -> Rows:
    """Weights with large basins: the share of random starts that settle at rank two or more, and what attracts."""
    rows = [["weights", "starts that settle at rank ≥ 2", "limits proved", "smallest and largest proved ball"]]
    for name, (mask, W_V, W_QK) in LARGE_BASINS.items():
        n = len(W_V)
        frame = Equilibrium(X=np.eye(n), W_V=W_V, W_QK=W_QK, mask=as_mask(mask, n), rank=n)
        counted = basins(frame.network, STARTS, tokens=n, steps=600)
        share = counted.share_of(lambda limit: limit.period == 1 and limit.rank >= 2)
        seen = [limit.orbit[0] for limit, _ in counted.reached if limit.period == 1 and limit.rank >= 2]
        proofs = [rm.certify_equilibrium(X, W_V, W_QK, mask, stable=True, tolerance=1e-6) for X in seen]
        balls = [proof.attraction.ball for proof in proofs if proof.proved]
        rows.append(
            [
                name,
                str(share),
                f"{len(balls)} of {len(seen)}",
                f"{rounded(min(balls), 2, up=False)}, {rounded(max(balls), 2, up=False)}",
            ]
        )
    return rows


def ranks() -> Rows:
    """Ranks proved under one W_V and one W_QK."""
    rows = [["mask", "n", "d", "W_V diagonal, W_QK = βI", "weights of the stable equilibrium of full rank"]]
    for mask, n, d in [("complete", 3, 3), ("complete", 4, 4), ("complete", 5, 5), ("complete", 8, 8), ("star", 5, 5)]:
        family = rm.isolated_ranks(n, d, mask)
        proved = [str(proof.rank) for proof in (one.certify() for one in family) if proof.proved]
        rows.append([mask, str(n), str(d), ", ".join(proved), _siblings(n) if mask == "complete" and n < 6 else ""])
    return rows


def _siblings(n: int) -> str:
    top = rm.layernorm_equilibrium(n, n, n, mask="complete", stable=True)
    found = []
    for k in range(1, n):
        try:
            proof = sibling(top, k).certify()
        except RuntimeError:
            continue
        found += [str(k)] if proof.proved and proof.rank == k else []
    return ", ".join([*found, str(n)])


def cycles() -> Rows:
    """Stable orbits on which n tokens exchange places."""
    rows = [["n = d", "period", "spectral radius", "least singular value", "proved ball", "starts that reach period n"]]
    for n in range(2, 6):
        cycle = stable_cycle(n)
        proof = cycle.certify()
        ball = rounded(proof.attraction.ball, 2, up=False) if proof.proved and proof.attraction else "not proved"
        sigma = np.linalg.svd(cycle.X, compute_uv=False)[-1]
        share = basins(cycle, STARTS, steps=3000).share_of(lambda limit, n=n: limit.period == n and limit.rank == n)
        rows.append([str(n), str(cycle.period), f"{cycle.spectral_radius:.3f}", f"{sigma:.3f}", ball, str(share)])
    return rows


def networks() -> Rows:
    """What random networks settle on."""
    rows = [
        [
            "mask",
            "networks",
            "fixed, rank 1",
            "fixed, rank 2 or more",
            "period 2",
            "longer period",
            "undecided",
            "W_V with complex leading eigenvalues",
        ]
    ]
    for mask in ("complete", "causal"):
        seen: Counter[str] = Counter()
        for seed in range(100):
            net = rm.Network.random(tokens=3, dim=3, seed=seed, norm="sphere", mask=mask, scale=4.0)
            ends = limits(net, random_starts(net, 20, seed), steps=1000, longest_period=12)
            names = {_name(end.period, end.rank) for end in ends}
            leading = np.linalg.eigvals(np.asarray(net.W)[0, 0])
            turning = abs(leading[np.argmax(abs(leading))].imag) > 1e-9
            seen.update(names | ({"turning"} if turning else set()))
            seen["both"] += turning and "undecided" in names
        counts = ("point", "thick", "pair", "long", "undecided", "turning")
        rows.append([mask, "100", *(str(seen[name]) for name in counts)])
        if seen["both"] == seen["turning"] == seen["undecided"]:
            rows[-1][-1] += ", the undecided ones"
    return rows


def _name(period: int | None, rank: int) -> str:
    if period is None:
        return "undecided"
    if period > 1:
        return "pair" if period == 2 else "long"
    return "point" if rank == 1 else "thick"


TABLES = {
    "every-n": every_n,
    "beyond": beyond,
    "radii": radii,
    "masks": masks,
    "blocks": blocks,
    "basins": basins_found,
    "stable": stable,
    "ranks": ranks,
    "cycles": cycles,
    "networks": networks,
}


def markdown(rows: Rows) -> str:
    """A table of Markdown."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, f"|{' --- |' * len(rows[0])}", *body])


if __name__ == "__main__":
    sys.exit(write_tables(__doc__, {name: lambda rows=rows: markdown(rows()) for name, rows in TABLES.items()}))
