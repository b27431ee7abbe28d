"""LayerNorm equilibria of any rank under any mask: constructions, their stability and their basins.

Under X' = N(A(X) X W_V) with sphere or standard LayerNorm, tokens can rest at every rank from 1 to full: the exact
family W3 under causal masks, the general design W_V = (A X)⁺ D X under all others, clusters for smaller ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product

import numpy as np

from rankmath.attention.backend import Backend, mover
from rankmath.equilibria.designs import Design, hamiltonian_order, path_design, stable_design
from rankmath.equilibria.equilibrium import Equilibrium
from rankmath.equilibria.map import Floats, attention, design, newton, normalise, token_norm
from rankmath.equilibria.search import cluster_weights, stable_search, stored_design
from rankmath.equilibria.wu2024 import LARGEST, ExactEquilibrium, complete_equilibrium, shift_equilibrium
from rankmath.linalg.masks import Mask, MaskLike, as_mask
from rankmath.validation import InvalidArgument, Number, as_choice, as_count, as_real

# Weights are rounded to multiples of this, so that certificates are short; the tokens follow.
_GRID = 2.0**-20
# β in W_QK = βI, from mild attention to attention to one's own kind alone.
_SHARPNESS = (2, 4, 8, 16, 32)
# How far apart the values in W_V lie, from 1 to 1 + spread.
_SPREADS = (1.0, 0.875, 1.25)
# Closed forms have spectral radius ½ by default up to this many tokens, and 31/32 beyond.
_MODERATE = 24
# Below this many tokens all partitions into clusters are tried.
_ALL_PARTITIONS = 8


def layernorm_equilibrium(
    tokens: int,
    dim: int,
    rank: int,
    mask: MaskLike = "causal",
    stable: bool = False,
    norm: str = "sphere",
    seed: int = 0,
    *,
    radius: Number = None,
    restarts: int = 60,
    backend: Backend = "numpy",
    progress: Callable[[int, float], None] | None = None,
) -> Equilibrium:
    """An equilibrium of self-attention with LayerNorm of the given rank, 1 ≤ rank ≤ min(tokens, dim).

    Causal masks on the sphere get the exact family W3; others the general design W_V = (A X)⁺ D X at random
    tokens, with clusters of equal tokens where rank < tokens. With ``stable`` the equilibrium attracts: closed
    forms for any number of tokens where the mask has a Hamiltonian path (see `designs`), else a search that
    minimises the spectral radius. Standard LayerNorm carries the sphere into the mean-zero hyperplane, so
    rank ≤ dim − 1 there.

    Parameters
    ----------
    mask : "causal", "complete", another name, a boolean matrix, a networkx graph, or a `Mask`.
    seed : of the random design or search; closed forms and stored designs do not depend on it.
    radius : the spectral radius wanted of a stable one, between 0 and 1: the closed form with this ratio. By
        default a stored design where there is one (complete mask up to 7 tokens, stars of 4 and 5: larger proved
        balls), else ½ for up to 24 tokens and 31/32 beyond.
    backend : "cupy" computes the gradients of the search for stable ones on a GPU.
    progress : called with the restart's number and the smallest spectral radius so far.

    Examples
    --------
    >>> equilibrium = layernorm_equilibrium(4, 4, 3)
    >>> equilibrium.exact.is_equilibrium(), equilibrium.residual < 1e-15
    (True, True)
    >>> stable = layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    >>> stable.spectral_radius < 0.9, stable.certify().proved
    (True, True)
    >>> layernorm_equilibrium(9, 9, 9, mask="complete", stable=True, radius=0.25).certify().rank
    9
    """
    n = as_count("tokens", tokens, most=LARGEST)
    norm = as_choice("norm", norm, ("sphere", "standard"))
    d = as_count("dim", dim, least=2 if norm == "standard" else 1, most=LARGEST)
    room = d - 1 if norm == "standard" else d
    try:
        k = as_count("rank", rank, most=min(n, room))
    except ValueError as refusal:
        lost = "; mean-zero tokens span one dimension less" if norm == "standard" else ""
        raise InvalidArgument(f"{refusal} (tokens = {n}, dim = {d}, norm = {norm!r}{lost})") from None
    graph = as_mask(mask, n)
    stable = as_choice("stable", stable, (False, True))
    seed, restarts = as_count("seed", seed, least=0), as_count("restarts", restarts)
    mover(backend)  # refused before anything runs
    if graph == Mask.causal(n) and norm == "sphere" and not stable:
        return _from_exact(shift_equilibrium(n, d, k), k)
    if radius is not None:
        ratio = as_real("radius", radius, positive=True)
        if not stable or norm != "sphere" or not ratio < 1:
            raise InvalidArgument(
                f"radius: {radius} given; a number between 0 and 1, with stable=True and norm='sphere', is needed"
            )
        closed = stable_design(graph, d, k, ratio)
        if closed is None:
            raise InvalidArgument(
                f"radius: {radius} given; no closed form for this mask and rank {k}: a Hamiltonian path, loops "
                "and dim ≥ tokens are needed"
            )
        return from_design(closed)
    stored = k == n and stored_design(graph) is not None
    if stable and norm == "sphere" and not stored:
        # For more tokens a ratio near one keeps the Jacobian nearer to normal, and the proof short.
        closed = stable_design(graph, d, k, Fraction(1, 2) if n <= _MODERATE else Fraction(31, 32))
        if closed is not None:
            return from_design(closed)
    if stable:
        cores = iter([_stable_core(graph, k, seed, restarts, backend, progress)])
    else:
        cores = _designed_cores(graph, k, np.random.default_rng(seed))
    for core in cores:
        settled = _settled(*core, mask=graph, dim=d, rank=k, norm=norm)
        if settled is not None:
            return settled
    raise InvalidArgument(
        f"mask: no isolated equilibrium of rank {k} found under it; the constructions need tokens that see themselves"
    )


def from_design(design: Design) -> Equilibrium:
    """The design's unit vectors, which the equilibrium is within rounding of, with its weights."""
    return Equilibrium(X=design.X, W_V=design.W_V, W_QK=design.W_QK, mask=design.mask, rank=design.rank, design=design)


def stable_ranks(tokens: int, mask: MaskLike = "complete", ratio: Number = 0.5) -> tuple[Equilibrium, ...]:
    """Attracting equilibria of every rank 1 … n under one W_V and one W_QK, in n dimensions (Theorem B).

    Tokens 0 … k − 1 rest near the coordinate vectors and all others near −e_0. The mask needs self-loops and a
    Hamiltonian path.

    >>> family = stable_ranks(4)
    >>> [one.certify().rank for one in family], all((one.W_QK == family[0].W_QK).all() for one in family)
    ([1, 2, 3, 4], True)
    """
    n = as_count("tokens", tokens, least=2, most=LARGEST)
    graph = as_mask(mask, n)
    order = hamiltonian_order(graph) if graph.has_self_loops else None
    if order is None:
        raise InvalidArgument("mask: self-loops and a Hamiltonian path are needed, and none was found")
    along = Mask(graph.allowed[np.ix_(order, order)])
    designs = [path_design(n, ratio=ratio, rank=k, mask=along).relabelled(order, graph) for k in range(1, n + 1)]
    return tuple(from_design(one) for one in designs)


def all_ranks(tokens: int, dim: int, mask: str = "causal", *, w: Number = None) -> tuple[Equilibrium, ...]:
    """Equilibria of every rank 1 … min(tokens, dim) under one W_V and one W_QK, in exact numbers.

    Causal: W3, with W_V = I + wS and w > tokens − 1 (tokens + 1 unless given), W_QK = 0. Complete: W_V = I, or
    diag(1, …, 1, ½) where rank = tokens is possible, and W_QK = βI; see `complete_equilibrium`.

    >>> [equilibrium.rank for equilibrium in all_ranks(6, 5)]
    [1, 2, 3, 4, 5]
    """
    n, d = (as_count(name, size, most=LARGEST) for name, size in (("tokens", tokens), ("dim", dim)))
    mask = as_choice("mask", mask, ("causal", "complete"))
    if mask == "complete" and w is not None:
        raise InvalidArgument("w: given with the complete mask; it belongs to the causal family W_V = I + wS")
    ranks = range(1, min(n, d) + 1)
    if mask == "causal":
        return tuple(_from_exact(shift_equilibrium(n, d, k, w), k) for k in ranks)
    return tuple(_from_exact(complete_equilibrium(n, d, k), k) for k in ranks)


def isolated_ranks(tokens: int, dim: int, mask: MaskLike = "complete") -> tuple[Equilibrium, ...]:
    """Isolated equilibria of every rank 1 … min(tokens, dim) under one W_V and one W_QK; any mask with self-loops.

    W_V is diagonal with distinct entries and W_QK = βI: for large β every token attends mostly to its own kind, and
    tokens near k of the eigenvectors of W_V rest at rank k. All are proved by `certify`, which those of `all_ranks`
    under the complete mask are not: rotations move them.

    >>> family = isolated_ranks(4, 4)
    >>> [equilibrium.certify().rank for equilibrium in family]
    [1, 2, 3, 4]
    """
    n, d = (as_count(name, size, most=LARGEST) for name, size in (("tokens", tokens), ("dim", dim)))
    graph = as_mask(mask, n)
    if not graph.has_self_loops:
        raise InvalidArgument("mask: a token that does not see itself; self-loops are needed")
    weights = graph.allowed.astype(float)
    # Some values and masks make an equilibrium that is not isolated: then we try values that lie otherwise.
    for spread, beta in product(_SPREADS, _SHARPNESS):
        W_V = np.diag(1 + on_grid(spread * np.arange(d) / d))
        W_QK = beta * np.eye(d)
        found = [_of_own_kind(n, k, W_V, W_QK, weights) for k in range(1, min(n, d) + 1)]
        settled = [X for X in found if X is not None]
        if len(settled) == len(found):
            return tuple(
                Equilibrium(X=X, W_V=W_V, W_QK=W_QK, mask=graph, rank=k) for k, X in enumerate(settled, start=1)
            )
    raise RuntimeError(f"no equilibria of every rank found with W_QK = βI, β up to {_SHARPNESS[-1]}")


def sibling(equilibrium: Equilibrium, rank: int, seed: int = 0, *, starts: int = 200) -> Equilibrium:
    """An equilibrium of another rank under the same weights and mask, by Newton's method from clustered starts.

    Parameters
    ----------
    starts : random starts for each partition of the tokens into `rank` clusters.

    Examples
    --------
    >>> stable = layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    >>> [sibling(stable, rank).certify().rank for rank in (1, 2)]
    [1, 2]
    """
    n, d = equilibrium.X.shape
    k = as_count("rank", rank, most=min(n, d))
    rng = np.random.default_rng(as_count("seed", seed, least=0))
    W_V, W, weights, norm = equilibrium.system
    for clusters in _treated_alike(equilibrium.mask, k):
        counts = cluster_weights(weights, clusters)
        for _ in range(as_count("starts", starts)):
            X = newton(normalise(rng.standard_normal((k, d)), norm), W_V, W, counts, norm)
            if X is not None and np.linalg.svd(X, compute_uv=False)[-1] > 0.02:
                return replace(equilibrium, X=X[clusters], rank=k, exact=None, design=None)
    raise RuntimeError(f"no equilibrium of rank {k} found under these weights; more starts may find one")


# -- the core: k distinct tokens in k dimensions on the sphere --------------------------------------------------

# The cluster of every token, the tokens of the clusters, W_V and W = W_QK/√d_qk, all k-dimensional.
_Core = tuple[list[int], Floats, Floats, Floats]


def _stable_core(
    mask: Mask, rank: int, seed: int, restarts: int, backend: Backend, progress: Callable[[int, float], None] | None
) -> _Core:
    if rank == mask.n:
        known = stored_design(mask)
        if known is not None:
            return list(range(rank)), *known
    clusters = find_clusters(mask, rank)
    if clusters is None:
        raise InvalidArgument(
            f"rank: {rank} given; this mask treats no partition of the {mask.n} tokens into {rank} clusters alike, "
            "and stable equilibria of smaller rank are built from clusters"
        )
    found = stable_search(mask, clusters, seed=seed, restarts=restarts, backend=backend, progress=progress)
    if not found.radius < 1:
        raise RuntimeError(
            f"no stable equilibrium found in {restarts} restarts; smallest spectral radius {found.radius:.4f}"
        )
    return clusters, found.X, found.W_V, found.W


def _designed_cores(mask: Mask, rank: int, rng: np.random.Generator) -> Iterator[_Core]:
    """Random tokens that rest by design, or, without clusters, tokens near the eigenvectors of a random W_V.

    Most draws are hyperbolic; the caller takes the first that is.
    """
    clusters = find_clusters(mask, rank)
    for _ in range(100):
        core = _near_eigenvectors(mask, rank, rng) if clusters is None else _drawn(mask, clusters, rank, rng)
        if core is not None:
            yield core


def _drawn(mask: Mask, clusters: list[int], rank: int, rng: np.random.Generator) -> _Core | None:
    """The general design at random (X, W, D), if X and A are far from singular."""
    weights = cluster_weights(mask.allowed, clusters)
    X = normalise(rng.standard_normal((rank, rank)), "sphere")
    W = rng.standard_normal((rank, rank))
    A = attention(X, W, weights)
    if min(np.linalg.svd(X, compute_uv=False)[-1], np.linalg.svd(A, compute_uv=False)[-1]) < 0.1 / rank:
        return None
    return clusters, X, design(X, rng.uniform(0.5, 2, rank), W, weights), W


def _near_eigenvectors(mask: Mask, rank: int, rng: np.random.Generator) -> _Core | None:
    """Distinct tokens near the k eigenvectors of W_V = diag(w), each attending mostly to its own kind.

    With W_QK = βI attention leaves a cluster at e_c only by e^{−β}, and for generic w the tokens resting there are
    hyperbolic, so for large β an equilibrium of rank k lies nearby whatever the mask, self-loops given.
    """
    W_V = np.diag(rng.uniform(1, 2, rank))
    for beta in _SHARPNESS:
        W = beta * np.eye(rank)
        X = _of_own_kind(mask.n, rank, W_V, W, mask.allowed.astype(float))
        if X is not None:
            return list(range(mask.n)), X, W_V, W
    return None


def _of_own_kind(n: int, rank: int, W_V: Floats, W: Floats, weights: Floats) -> Floats | None:
    """Tokens at rest near the first k coordinate vectors in turn, far from smaller rank; None if there are none."""
    start = np.eye(len(W_V))[np.arange(n) % rank]
    X = newton(start, W_V, W, weights, "sphere")
    if X is None or np.abs(X - start).max() >= 0.5 or np.linalg.svd(X, compute_uv=False)[rank - 1] <= 0.1:
        return None
    return X


def find_clusters(mask: Mask, count: int) -> list[int] | None:
    """A partition of the tokens into `count` clusters whose members see the clusters alike, or None.

    All singletons; the first tokens as one cluster (causal masks); tokens with equal rows of the mask merged; and
    for up to 8 tokens any partition at all.

    >>> find_clusters(Mask.causal(4), 2), find_clusters(Mask.complete(4), 2), find_clusters(Mask.window(4, 1), 2)
    ([0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0])
    """
    return next(_treated_alike(mask, count), None)


def _treated_alike(mask: Mask, count: int) -> Iterator[list[int]]:
    """The partitions that `find_clusters` speaks of, most natural first."""
    n = mask.n
    if mask.common_support is not None:
        yield [i * count // n for i in range(n)]
    candidates = [[max(0, i - (n - count)) for i in range(n)], *_merged_twins(mask, count)]
    everything = _partitions(n, count) if n <= _ALL_PARTITIONS else iter(())
    yield from (labels for labels in chain(candidates, everything) if _alike(mask, labels))


def _alike(mask: Mask, labels: list[int]) -> bool:
    try:
        cluster_weights(mask.allowed, labels)
    except ValueError:
        return False
    return True


def _merged_twins(mask: Mask, count: int) -> list[list[int]]:
    """Merge tokens with equal rows, one pair at a time, down to `count` clusters if that is possible."""
    labels = list(range(mask.n))
    rows = [row.tobytes() for row in mask.allowed]
    for i in range(mask.n):
        if len(set(labels)) == count:
            break
        twin = next((j for j in range(i) if rows[j] == rows[i]), None)
        if twin is not None:
            labels[i] = labels[twin]
    names = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return [[names[label] for label in labels]] if len(names) == count else []


def _partitions(n: int, count: int) -> Iterator[list[int]]:
    """Every partition of n tokens into `count` clusters, as restricted growth strings."""

    def grow(labels: list[int], used: int) -> Iterator[list[int]]:
        if len(labels) == n:
            if used == count:
                yield labels
            return
        for label in range(min(used + 1, count)):
            yield from grow([*labels, label], max(used, label + 1))

    return grow([], 0)


# -- from the core to what was asked ----------------------------------------------------------------------------


def _from_exact(exact: ExactEquilibrium, rank: int) -> Equilibrium:
    X, W_V, W_QK = exact.floats()
    return Equilibrium(X=X, W_V=W_V, W_QK=W_QK, mask=exact.mask, rank=rank, exact=exact)


def _settled(
    clusters: list[int], X: Floats, W_V: Floats, W: Floats, *, mask: Mask, dim: int, rank: int, norm: str
) -> Equilibrium | None:
    """Carry the core into `dim` dimensions, round the weights to short dyadics and let the tokens follow.

    None if they do not: the core was not hyperbolic.
    """
    basis, lengths = _integer_frame(len(W_V), dim, norm)
    radius = token_norm(dim, norm)
    # Integers around the rounded core: the rank of W_V stays exactly that of the core.
    W_V = basis.T @ on_grid(W_V / np.outer(lengths, lengths)) @ basis
    W_QK = basis.T @ on_grid(W / np.outer(lengths, lengths) / radius**2) @ basis
    start = radius * X @ (basis / lengths[:, None])
    tokens = newton(start, W_V, W_QK, cluster_weights(mask.allowed, clusters), norm)
    if tokens is None or np.abs(tokens - start).max() > 1e-2 * radius:
        return None
    return Equilibrium(X=tokens[clusters], W_V=W_V, W_QK=W_QK, mask=mask, rank=rank, norm=norm)


def on_grid(M: Floats) -> Floats:
    """Entries rounded to multiples of 2⁻²⁰: short numbers, for weights that are then exact."""
    return np.asarray(_GRID * np.round(M / _GRID))


def _integer_frame(count: int, dim: int, norm: str) -> tuple[Floats, Floats]:
    """Orthogonal integer rows and their lengths: coordinate vectors, or (1, …, 1, −k, 0, …) of mean zero."""
    if norm == "sphere":
        return np.eye(count, dim), np.ones(count)
    k = np.arange(1, count + 1)[:, None]
    column = np.arange(dim)[None, :]
    basis = np.where(column < k, 1.0, np.where(column == k, -1.0 * k, 0.0))
    return basis, np.linalg.norm(basis, axis=1)
