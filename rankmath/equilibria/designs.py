"""Closed forms: weights with attracting equilibria for every number of tokens, and the Jacobian of their limit.

`causal_design`, Theorem A: causal mask, X = I exactly, its spectrum known. `path_design`, Theorem B: any mask in
which every token sees itself and its predecessor, the complete one among them; one weight pair, every rank.
`rank_two_design`: every number of tokens under the complete mask, rank two. Proofs: proofs/stable_every_n.tex.

Weights are integers and dyadic numbers, exact as doubles. In the limit of sharp attention token i attends evenly to
a set S_i, and the equilibrium is made of unit vectors: the nd × nd Jacobian of the limit is exact in doubles too,
and becomes triangular when its rows and columns are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from rankmath.equilibria.map import Floats, attention
from rankmath.linalg.masks import Mask, MaskLike, as_mask
from rankmath.validation import InvalidArgument, Number, as_count

# Bits of a scale factor: products with integer logits then stay exact in doubles.
_RATIO_BITS = 24
# Steps after which the search for a Hamiltonian path gives up.
_MOST_STEPS = 200_000


@dataclass(frozen=True, eq=False)
class Design:
    """Weights, and signed unit vectors near which they have an attracting equilibrium.

    ``attended[i, j]``: the share, up to a factor of row i, of token j in what token i attends to in the limit.
    ``order`` sorts the coordinates (token · dim + entry) into groups that make the limit's Jacobian lower
    triangular, group by group.
    ``resolved``: attention is sharp enough, or exact, for the limit's eigenvalues to be those of the equilibrium to
    2⁻²⁴.
    """

    X: Floats
    W_V: Floats
    W_QK: Floats
    mask: Mask
    attended: Floats
    order: tuple[tuple[int, ...], ...]
    rank: int
    resolved: bool = False

    @property
    def spectrum(self) -> Floats:
        """The eigenvalues of the limit's Jacobian, by coordinate (n, d): its diagonal."""
        n, d = self.X.shape
        blocks = [self.slopes(i) for i in range(n)]
        return np.array([[blocks[i][b, i * d + b] for b in range(d)] for i in range(n)])

    def slopes(self, i: int) -> Floats:
        """The d rows of the limit's Jacobian that move token i, (d, nd).

        With shares a_j and v_j = x_j W_V, Σ_j a_j ∂y_i/∂x_k = a_k(M x_i ⊗ v_k + W_V) + [k = i] Σ_j a_j M x_j ⊗ v_j
        without the component along x_i, divided by Σ_j a_j |y_i|.
        """
        X, M, W_V = self.X, self.W_QK, self.W_V
        n, d = X.shape
        V, shares = X @ W_V, self.attended[i]
        weighted = shares[:, None] * V
        out: Floats = weighted.T[:, :, None] * (X[i] @ M) + shares[:, None] * W_V.T[:, None, :]
        out[:, i, :] += weighted.T @ (X @ M.T)
        out[int(np.flatnonzero(X[i])[0])] = 0
        return out.reshape(d, n * d) / float(shares @ V @ X[i])

    @cached_property
    def moduli(self) -> tuple[Floats, ...]:
        """|`slopes`| of every token."""
        return tuple(np.abs(self.slopes(i)) for i in range(len(self.X)))

    @property
    def limit_rate(self) -> float:
        """A bound of the limit's spectral radius: the largest row sum of moduli within a group."""
        d = self.X.shape[1]
        return max(float(self.moduli[p // d][p % d][list(group)].sum()) for group in self.order for p in group)

    def log_weights(self, rate: float, *, diagonal: bool = True) -> Floats:
        """log₂ of weights w ≥ 1 with Σ_j |J_ij| w_j ≤ rate·w_i for the limit's Jacobian J, by substitution, (n, d).

        Without the ``diagonal`` the sums run over j ≠ i: Gershgorin's discs of radius `rate`, for single groups.
        """
        n, d = self.X.shape
        logs = np.zeros(n * d)
        for group in self.order:
            least = 0.0
            for place in group:
                row = self.moduli[place // d][place % d].copy()
                own = float(row[list(group)].sum()) if diagonal else 0.0
                if own >= rate:
                    raise InvalidArgument(f"rate: {rate} given; more than {own:.6g} is needed, entry {place}")
                row[list(group)] = 0
                used = np.flatnonzero(row)
                if len(used):
                    terms = np.log2(row[used]) + logs[used]
                    top = float(terms.max())
                    least = max(least, top + math.log2(float(np.exp2(terms - top).sum()) / (rate - own)))
            logs[list(group)] = least
        return logs.reshape(n, d)

    def relabelled(self, order: Sequence[int], mask: Mask) -> Design:
        """The same with token t called order[t]; `mask` is the mask under the new names."""
        d = self.X.shape[1]
        back = np.argsort(order)
        groups = tuple(tuple(order[p // d] * d + p % d for p in group) for group in self.order)
        attended = self.attended[np.ix_(back, back)]
        return replace(self, X=self.X[back], mask=mask, attended=attended, order=groups)

    def padded(self, dim: int) -> Design:
        """The same in `dim` ≥ d dimensions: entries that are zero, and are forgotten if they are not."""
        n, d = self.X.shape
        more = ((0, dim - d), (0, dim - d))
        groups = tuple((i * dim + a,) for i in range(n) for a in range(d, dim))
        kept = tuple(tuple((p // d) * dim + p % d for p in group) for group in self.order)
        X, W_V, W_QK = np.pad(self.X, ((0, 0), more[1])), np.pad(self.W_V, more), np.pad(self.W_QK, more)
        return replace(self, X=X, W_V=W_V, W_QK=W_QK, order=groups + kept)


def scale_factors(count: int, ratio: Number) -> Floats:
    """ν_k ≈ ratio^k, k = 0 … count − 1, each a dyadic number of at most 24 bits; exact for powers of two.

    >>> scale_factors(4, 0.5)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    value = Fraction(ratio)
    if not 0 < value < 1:
        raise InvalidArgument(f"ratio: {ratio} given; a number between 0 and 1 is needed")
    out = []
    for k in range(count):
        power = value**k
        unit = Fraction(2) ** (power.numerator.bit_length() - power.denominator.bit_length() - _RATIO_BITS)
        out.append(float(round(power / unit) * unit))
    return np.array(out)


def causal_design(tokens: int, ratio: Number = Fraction(1, 2)) -> Design:
    """Theorem A: W_QK ones above the diagonal, row i of W_V = μ_i e_i − μ_{i−1} e_{i−1}; X = I rests exactly.

    Its Jacobian on the tangent spaces has the eigenvalues μ_k/μ_i, i < k, and zeros.

    >>> causal_design(3).W_V
    array([[ 1.  ,  0.  ,  0.  ],
           [-1.  ,  0.5 ,  0.  ],
           [ 0.  , -0.5 ,  0.25]])
    >>> causal_design(3).spectrum
    array([[0.  , 0.5 , 0.25],
           [0.  , 0.  , 0.5 ],
           [0.  , 0.  , 0.  ]])
    """
    n = as_count("tokens", tokens)
    mu = scale_factors(n, ratio)
    causal = Mask.causal(n)
    # Token by token; entries that a token may gain from later ones first, the last entry first.
    order = tuple((i * n + b,) for i in range(n) for b in (i, *(b for b in reversed(range(n)) if b != i)))
    weights = np.diag(mu) - np.diag(mu[:-1], -1), np.triu(np.ones((n, n)), 1)
    # Discs of 2⁻²⁴ cost too many bits where the eigenvalues crowd together.
    resolved = Fraction(ratio) <= Fraction(3, 4)
    return Design(np.eye(n), *weights, causal, causal.allowed.astype(float), order, n, resolved)


def path_weights(tokens: int, gap: int, ratio: Number = Fraction(1, 2)) -> tuple[Floats, Floats]:
    """W_V and W_QK of Theorem B: integers for logits, (−1)^{i−j} ν_j, j ≤ i, for values.

    Token i attends to itself and to its predecessor with logit s_i; every other logit is smaller by the gap L at
    least: s_i = L + 1 (s_0 = 2L + 2n, so that −e_0 keeps to itself too), M_iq = 1 for q < i − 1, and
    M_qi = M_{q,i−1} − M_iq − (−1)^{i+q} above the diagonal.

    >>> W_V, W_QK = path_weights(3, 20)
    >>> W_QK
    array([[46., 26., 24.],
           [21., 21.,  1.],
           [ 1., 21., 21.]])
    >>> W_V
    array([[ 1.  ,  0.  ,  0.  ],
           [-1.  ,  0.5 ,  0.  ],
           [ 1.  , -0.5 ,  0.25]])
    """
    n, L = as_count("tokens", tokens), as_count("gap", gap)
    nu = scale_factors(n, ratio)
    M = np.zeros((n, n))
    s = [2 * L + 2 * n] + [L + 1] * (n - 1)
    for i in range(n):
        M[i, : max(i - 1, 0)] = 1
        M[i, max(i - 1, 0) : i + 1] = s[i]
    for i in range(1, n):
        for q in range(i):
            M[q, i] = M[q, i - 1] - M[i, q] - (-1) ** (i + q)
    signs = (-1.0) ** np.subtract.outer(np.arange(n), np.arange(n))
    return np.tril(signs) * nu, M


def path_design(
    tokens: int,
    gap: int | None = None,
    ratio: Number = Fraction(1, 2),
    *,
    rank: int | None = None,
    mask: MaskLike = "complete",
    dim: int | None = None,
) -> Design:
    """Theorem B: tokens 0 … k − 1 near e_0 … e_{k−1} and all others near −e_0, an equilibrium of rank k.

    The mask must let every token see itself, and those up to `dim`, by default all, their predecessors. Without a
    gap one is taken at which the spectrum is resolved to 2⁻²⁴. The limit's eigenvalues are ν_b/ν_i, b > i, zeros,
    and ν_b/ν_0 times eigenvalues of the averages that the tokens at −e_0 take of each other.

    >>> path_design(3, 20).spectrum
    array([[0.  , 0.5 , 0.25],
           [0.  , 0.  , 0.5 ],
           [0.  , 0.  , 0.  ]])
    """
    n = as_count("tokens", tokens)
    d = n if dim is None else as_count("dim", dim, most=n)
    k = d if rank is None else as_count("rank", rank, most=d)
    graph = as_mask(mask, n)
    along = np.eye(n, dtype=bool) | np.eye(n, k=-1, dtype=bool) & (np.arange(n) < d)[:, None]
    if not graph.allowed[along].all():
        raise InvalidArgument("mask: every token must see itself and its predecessor; see `hamiltonian_order`")
    sharp = gap is None
    L = sharp_gap(n, ratio) if gap is None else gap
    W_V, M = path_weights(d, L, ratio)
    X = np.eye(n, d)
    X[k:] = -X[0]
    attended = graph.allowed & along
    attended[k:] = False
    attended[k:, k:] = graph.allowed[k:, k:]
    groups: list[tuple[int, ...]] = [(i * d + b,) for i in range(k) for b in (i, *range(d - 1, i, -1), *range(i))]
    if k < n:
        groups += [tuple(i * d + b for i in range(k, n)) for b in reversed(range(d))]
    resolved = sharp and d == n and k >= n - 1
    return Design(X, W_V, M, graph, attended.astype(float), tuple(groups), k, resolved)


def rank_two_design(tokens: int) -> Design:
    """N = n − 1 tokens at e_0 and one at e_1 under the complete mask in two dimensions: rank two, in doubles.

    W_QK = [[0, ½ − m], [m, 2]] with m = 2 + log(2/N), W_V = [[1, −κε], [−2, κ]] with ε = e^{−3/2}/2: the first
    tokens attend to the last with the odds ε, the last to all others with the odds 2. Proved in Coq for every n
    (`wu_all_n`).

    >>> rank_two_design(100).limit_rate <= 0.5
    True
    """
    n = as_count("tokens", tokens, least=2)
    odds, m = math.exp(-1.5) / 2, 2 + math.log(2 / (n - 1))
    kappa = (1 - 2 * odds) / (2 * (1 + odds * (abs(0.5 - m) + abs(m) + 2) + odds**2))
    X = np.zeros((n, 2))
    X[:-1, 0] = X[-1, 1] = 1
    attended = np.ones((n, n))
    attended[:-1, -1], attended[-1, :-1] = math.exp(0.5 - m), math.exp(m - 2)
    along = tuple((2 * i + int(i == n - 1),) for i in range(n))
    across = tuple(2 * i + int(i < n - 1) for i in range(n))
    W_V, W_QK = np.array([[1, -kappa * odds], [-2, kappa]]), np.array([[0, 0.5 - m], [m, 2]])
    return Design(X, W_V, W_QK, Mask.complete(n), attended, (*along, across), 2)


def hamiltonian_order(mask: Mask) -> tuple[int, ...] | None:
    """An order of the tokens in which each sees its predecessor, by depth-first search; None if none is found.

    >>> hamiltonian_order(Mask.causal(4)), hamiltonian_order(as_mask("star", 4))
    ((0, 1, 2, 3), None)
    """
    seen_by = [np.flatnonzero(mask.allowed[:, j]).tolist() for j in range(mask.n)]
    steps = 0
    for start in range(mask.n):
        path, tried = [start], [iter(seen_by[start])]
        while path:
            steps += 1
            if len(path) == mask.n:
                return tuple(path)
            if steps > _MOST_STEPS:
                return None
            following = next((j for j in tried[-1] if j not in path), None)
            if following is None:
                path.pop()
                tried.pop()
            else:
                path.append(following)
                tried.append(iter(seen_by[following]))
    return None


def sharp_gap(tokens: int, ratio: Number = Fraction(1, 2)) -> int:
    """A gap L for which `prove_contraction` finds room, and resolves the spectrum into discs of radius 2⁻²⁴.

    Attention outside of S_i is at most e^{−L}, and the proof needs it below 1/w² and below 1/(w·w'), where w and w'
    are the ranges of `log_weights` for the rate of `prove_contraction` and for the discs. They grow with L only
    like a power of it.

    >>> sharp_gap(3) < sharp_gap(3, Fraction(1, 8)) < sharp_gap(4, Fraction(1, 8))
    True
    """
    n = as_count("tokens", tokens)
    gap = 1
    for _ in range(20):
        design = path_design(n, gap, ratio)
        logs = float(design.log_weights((1 + design.limit_rate) / 2).max())
        fine = float(design.log_weights(2.0**-25, diagonal=False).max())
        needed = math.ceil(math.log(2) * (max(fine, logs) + 2 * logs)) + 40 + 12 * n
        if needed <= gap:
            break
        gap = needed
    return gap


def recognised(X: Floats, W_V: Floats, W_QK: Floats, mask: Mask, tolerance: float) -> Design | None:
    """The design that arrays from elsewhere are: unit vectors whose Jacobian is triangular after sorting, or None.

    The tokens must be signed unit vectors up to the tolerance, in any order and under any names of the
    coordinates; attention is that of the unit vectors, to doubles.

    >>> made = path_design(3)
    >>> found = recognised(made.X[[2, 0, 1]], made.W_V, made.W_QK, made.mask, 1e-9)
    >>> found.limit_rate, found.rank
    (0.5, 3)
    """
    unit = np.round(X)
    if np.abs(X - unit).max() > tolerance or not (np.abs(unit).sum(axis=1) == 1).all():
        return None
    n, d = unit.shape
    attended = attention(unit, W_QK, mask.allowed.astype(float))
    attended, rank = np.where(attended < 2.0**-52, 0.0, attended), int((np.abs(unit).sum(axis=0) > 0).sum())
    design = Design(unit, W_V, W_QK, mask, attended, (tuple(range(n * d)),), rank)
    if not all(float(design.attended[i] @ unit @ W_V @ unit[i]) > 0 for i in range(n)):
        return None
    from scipy.sparse.csgraph import connected_components

    size = max(float(block.max(initial=0.0)) for block in design.moduli)
    feeds = np.vstack(design.moduli) > 2.0**-48 * size
    count, label = connected_components(feeds, connection="strong")
    # Groups by how many others they depend on, at any remove: those that depend on nothing come first.
    below = np.zeros((count, count), dtype=bool)
    below[label[np.nonzero(feeds)[0]], label[np.nonzero(feeds)[1]]] = True
    for k in range(count):
        below |= np.outer(below[:, k], below[k])
    first = np.argsort(below.sum(axis=1), kind="stable")
    sorted_design = replace(design, order=tuple(tuple(np.flatnonzero(label == g).tolist()) for g in first))
    return sorted_design if sorted_design.limit_rate < 1 else None


def stable_design(mask: Mask, dim: int, rank: int, ratio: Number = Fraction(1, 2)) -> Design | None:
    """The closed form for this mask and rank with spectral radius `ratio` in the limit, None where there is none.

    Causal masks of full rank: Theorem A. Masks with a Hamiltonian path, dim ≥ tokens: Theorem B, any rank.
    Complete masks of rank two in any dimension: `rank_two_design`, whose spectral radius is its own.

    >>> stable_design(as_mask("window:1", 5), 6, 3).X.shape
    (5, 6)
    >>> stable_design(as_mask("star", 5), 5, 5) is None
    True
    """
    n = mask.n
    if dim >= n > 1:
        if mask == Mask.causal(n) and rank == n:
            return causal_design(n, ratio).padded(dim)
        order = hamiltonian_order(mask) if mask.has_self_loops else None
        if order is not None:
            along = Mask(mask.allowed[np.ix_(order, order)])
            return path_design(n, ratio=ratio, rank=rank, mask=along).relabelled(order, mask).padded(dim)
    if mask.is_complete and rank == 2 and dim >= 2 <= n:
        return rank_two_design(n).padded(dim)
    return None
