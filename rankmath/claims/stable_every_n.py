"""Attracting equilibria for every number of tokens: Theorem A (causal), Theorem B (any mask with a Hamiltonian
path, every rank under one weight pair), rank two in two dimensions; Theorem 3 of Wu et al.; orthogonal values."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.equilibria.designs import Design, causal_design, path_design, rank_two_design, scale_factors
from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.linalg.masks import Mask
from rankmath.validation import Number
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, ours, proved
from rankmath.verification.papers import OWN, WU

_MAP = "The map is X ↦ LN(A(X)XW_V), A(X) the attention, LN the division of every token by its norm."


def _shown(key: str, design: Callable[..., Design], tokens: int, **options: int) -> Certificate:
    """The proof of a design as a certificate of the statement, accepted by the checker."""
    from rankmath.equilibria.certify import certify_design

    return certify_design(design(tokens, **options)).certificate(key)


# -- Theorem A ---------------------------------------------------------------------------------------------------


defined(
    "decreasing(mu: array)",
    "len(mu) >= 2 and all(mu[i] > mu[i + 1] > 0 for i in range(len(mu) - 1))",
    "at least two numbers, all positive, each smaller than the one before",
)


@predicate(
    "causal_identity_attracts(mu: array)",
    latex=r"\text{{causal mask, }}W_{{QK}}/\sqrt{{d_{{qk}}}}=([j>i])_{{ij}},\ e_0W_V=\mu_0e_0,\ "
    r"e_iW_V=\mu_ie_i-\mu_{{i-1}}e_{{i-1}}\ (i\ge1):"
    r"\ \mathrm{{LN}}(A(I)W_V)=I\text{{, and its Jacobian has the eigenvalues }}\mu_k/\mu_i\ (i<k)\text{{ and }}0",
    because="the eigenvalues of a Jacobian, by exact algebra",
)
def causal_identity_attracts(run: ArrayRun, mu: str) -> Truth:
    """under the causal mask with W_QK/√d_qk the ones above the diagonal and rows μ_0 e_0 and, for i ≥ 1, μ_i e_i
    − μ_{i−1} e_{i−1} of W_V, X = I rests, and the characteristic polynomial of its Jacobian is that of μ_k/μ_i, i
    < k, and zeros: by exact algebra"""
    from rankmath.equilibria.rational import Polynomial, resting_polynomial

    values = run[mu].tolist()
    n = len(values)
    W_V = [[Fraction(0)] * n for _ in range(n)]
    for i, value in enumerate(values):
        W_V[i][i] = value
        if i:
            W_V[i][i - 1] = -values[i - 1]
    M = [[Fraction(j > i) for j in range(n)] for i in range(n)]
    eigenvalues = [values[k] / values[i] for i in range(n) for k in range(i + 1, n)]
    found = resting_polynomial(np.eye(n, dtype=int).tolist(), W_V, M, Mask.causal(n).allowed.tolist())
    if found is None:
        return Truth(False, f"n = {n}: the identity does not rest")
    claimed = Polynomial.with_roots([*eigenvalues, *[Fraction(0)] * (n * n - len(eigenvalues))])
    return Truth(found == claimed, f"n = {n}: spectral radius {max(eigenvalues)}, exact algebra")


def draw_causal(rng: Rng, size: int) -> ArrayInstance:
    """μ_k = 2^{1−k} first, then ratios drawn at random; 2 to 5 tokens in a batch."""
    n = int(rng.integers(2, 6))
    rows = [[Fraction(1, 2**k) for k in range(n)]]
    while len(rows) < size:
        ratios = [Fraction(int(rng.integers(1, 40)), 40) for _ in range(n)]
        values = [Fraction(1)]
        for ratio in ratios[1:]:
            values.append(values[-1] * min(ratio, Fraction(39, 40)))
        rows.append(values)
    return exact_batch("ratios", mu=rows[:size])


own_stable_causal_every_n = ours(
    "own:stable-causal-every-n",
    "causal_identity_attracts(mu)",
    given="decreasing(mu)",
    arrays={"mu": "n"},
    source=f"{OWN}, beside Theorem 3 of {WU}",
    title="An attracting causal equilibrium of full rank for every number of tokens, its spectrum known exactly",
    draws=(draw_causal,),
    exhibit=partial(_shown, "own:stable-causal-every-n", causal_design, 4),
    share=0.01,
    cost=2,
    notes="All eigenvalues are below 1; their largest is max μ_{k+1}/μ_k. " + _MAP,
)


# -- Theorem B ---------------------------------------------------------------------------------------------------


defined(
    "sees_predecessor(allowed: array, ratio: array)",
    "n >= 2 and all(allowed[i][i] == 1 for i in range(n)) and all(allowed[i][i - 1] == 1 for i in range(1, "
    "n)) and 0 < ratio < 1",
    "at least two tokens, each of which sees itself and its predecessor, and a number g between 0 and 1",
)


_PATH = r"\text{{some integer }}W_{{QK}}\text{{ and }}e_iW_V=\textstyle\sum_{{j\le i}}(-1)^{{i-j}}{1}^je_j\text{{ "


@predicate(
    "path_attracts(allowed: array, ratio: array)",
    latex=_PATH + r"have an equilibrium of rank }}n\text{{ that attracts, near }}I\text{{, with eigenvalues near }}"
    r"{1}^{{k}}\text{{ and }}0",
    because="a limit, for every start near by: proved in balls",
)
def path_attracts(run: ArrayRun, allowed: str, ratio: str) -> Truth:
    """for some whole number L these weights have near X = I an equilibrium of rank n of X ↦ LN(A(X)XW_V) that
    attracts a ball of starts, A(X) the softmax of X W_QK Xᵀ over the pairs of the mask, LN the division of every
    token by its norm, with every eigenvalue of the Jacobian within 2⁻²⁴ of g^{k−i}, i < k, g the ratio, or 0; row i
    of W_V is Σ_{j≤i} (−1)^{i−j} g^j e_j, that of W_QK has s_i at i and i − 1, 1 before and s_i − L − 2⌊(j−i)/2⌋ at
    j > i, where s_0 = 2L + 2n and s_i = L + 1 else"""
    return _path(run, allowed, ratio, full=True)


@predicate(
    "every_rank_attracts(allowed: array, ratio: array)",
    latex=_PATH + r"have attracting equilibria of all ranks }}1,\dots,n",
    because="a limit, for every start near by: proved in balls",
)
def every_rank_attracts(run: ArrayRun, allowed: str, ratio: str) -> Truth:
    """for some whole number L this one weight pair has for every k = 1, …, n an equilibrium of rank k of X ↦
    LN(A(X)XW_V) that attracts a ball of starts, A(X) the softmax of X W_QK Xᵀ over the pairs of the mask, LN the
    division of every token by its norm: near e_0, …, e_{k−1} and n − k times −e_0; with g the ratio row i of W_V is
    Σ_{j≤i} (−1)^{i−j} g^j e_j, that of W_QK has s_i at i and i − 1, 1 before and s_i − L − 2⌊(j−i)/2⌋ at j > i, where
    s_0 = 2L + 2n and s_i = L + 1 else"""
    return _path(run, allowed, ratio, full=False)


def _number(value: Number) -> Fraction:
    return Fraction(value.item() if isinstance(value, np.ndarray) else value)


def _path(run: ArrayRun, allowed: str, ratio: str, *, full: bool) -> Truth:
    """The equilibrium of full rank, or those of every rank."""
    mask, g = Mask(np.asarray(run[allowed], dtype=bool)), _number(run[ratio])
    n = mask.n
    if any(Fraction(power) != g**j for j, power in enumerate(scale_factors(n, g))):
        return Truth(None, f"not decided: a power of {g} is no number of 24 bits")
    ranks = (n,) if full else range(1, n + 1)
    return _proved([path_design(n, ratio=g, rank=k, mask=mask) for k in ranks])


def _proved(designs: list[Design]) -> Truth:
    """Whether each design is proved to attract at its rank; never false, for a failed proof shows nothing."""
    from rankmath.equilibria.contraction import NotContracting, log10, prove_contraction

    try:
        proofs = [prove_contraction(design) for design in designs]
    except NotContracting as failure:
        return Truth(None, f"not decided: {failure}")
    ranks = ", ".join(str(proof.rank) for proof in proofs)
    least = min(log10(proof.radius) for proof in proofs)
    shown = all(proof.rank == design.rank for proof, design in zip(proofs, designs, strict=True))
    return Truth(shown or None, f"n = {len(designs[0].X)}, in balls: rank {ranks}, every start within 10^{least:.1f}")


def draw_paths(rng: Rng, size: int) -> ArrayInstance:
    """The complete mask first, the causal one, the path, the cycle, then random ones that contain the path."""
    n = int(rng.integers(2, 6))
    path = np.eye(n, dtype=bool) | np.eye(n, k=-1, dtype=bool)
    ring = path | path.T
    ring[0, -1] = ring[-1, 0] = True
    masks = [np.ones((n, n), dtype=bool), np.tril(np.ones((n, n), dtype=bool)), path | path.T, ring]
    ratios = [Fraction(1, 2)] * len(masks)
    while len(masks) < size:
        masks.append(path | (rng.random((n, n)) < 0.5))
        ratios.append(Fraction(int(rng.integers(8, 57)), 64))
    return ArrayInstance({"allowed": np.stack(masks[:size]), "ratio": np.asarray(ratios[:size])}, "path", is_batch=True)


def exhibit_every_rank() -> Certificate:
    """Four tokens, no mask, ν_k = 2^{1−k}: equilibria of all ranks under one weight pair, in one certificate."""
    shown = [_shown("own:stable-equilibrium", path_design, 4, rank=k) for k in range(1, 5)]
    resting = ("tokens", "rank", "ball", "rate")
    spectral = ("core", "spectral_weights", "spectral_bits")
    data = {name: value for name, value in shown[0].data.items() if name not in (*resting, "spectrum")}
    data["equilibria"] = [{name: one.data[name] for name in resting} for one in shown]
    hints = [{name: value for name, value in one.hints.items() if name not in spectral} for one in shown]
    return issue(Certificate("own:stable-every-rank", "exists", data, {"equilibria": hints}), decided=True)


own_stable_complete_every_n = ours(
    "own:stable-complete-every-n",
    "path_attracts(allowed, ratio)",
    given="sees_predecessor(allowed, ratio)",
    arrays={"allowed": "mask n", "ratio": ", > 0, < 1"},
    source=f"{OWN}, against a conjecture of {WU}",
    title="An attracting equilibrium of full rank for every number of tokens: self-loops and a Hamiltonian path",
    draws=(draw_paths,),
    exhibit=partial(_shown, "own:stable-complete-every-n", path_design, 8),
    share=0.005,
    cost=3,
    notes=f"{WU} conjecture that undirected masks have no equilibria of rank above one: the complete mask has, for "
    "every n ≥ 2.",
)

own_stable_every_rank = ours(
    "own:stable-every-rank",
    "every_rank_attracts(allowed, ratio)",
    given="sees_predecessor(allowed, ratio)",
    arrays={"allowed": "mask n", "ratio": ", > 0, < 1"},
    source=f"{OWN}, beside Theorem 3 of {WU}",
    title="One weight pair with attracting equilibria of every rank",
    draws=(draw_paths,),
    exhibit=exhibit_every_rank,
    share=0.004,
    cost=6,
)


# -- rank two in two dimensions ------------------------------------------------------------------------------------


defined("token_count(tokens: array)", "tokens", "the number of tokens", example="token_count(tokens) >= 2")


@predicate(
    "rank_two_attracts(tokens: array)",
    latex=r"\text{{no mask, }}n={0},\ d=2:\text{{ for some weights an equilibrium of rank two near }}"
    r"n-1\text{{ tokens }}e_0\text{{ and one }}e_1\text{{ attracts a ball of starts}}",
    because="a limit, for every start near by: proved in balls",
)
def rank_two_attracts(run: ArrayRun, tokens: str) -> Truth:
    """without a mask, in two dimensions, there are weights with an equilibrium of rank two near n − 1 tokens e_0
    and one e_1 that attracts a ball of starts"""
    return _proved([rank_two_design(int(run[tokens]))])


def draw_counts(rng: Rng, size: int) -> ArrayInstance:
    """2, 3, 4, …, then random numbers to 12."""
    counts = [min(2 + i, 12) if i < 5 else int(rng.integers(2, 13)) for i in range(size)]
    return ArrayInstance({"tokens": np.asarray(counts)}, "counts", is_batch=True)


own_stable_rank_two_every_n = ours(
    "own:stable-rank-two-every-n",
    "rank_two_attracts(tokens)",
    given="token_count(tokens) >= 2",
    arrays={"tokens": ", whole, >= 2, <= 64"},
    source=f"{OWN}, against a conjecture of {WU}",
    title="An attracting equilibrium of rank two in two dimensions for every number of tokens, no mask",
    draws=(draw_counts,),
    exhibit=partial(_shown, "own:stable-rank-two-every-n", rank_two_design, 5),
    share=0.005,
    cost=2,
    notes=_MAP,
)


# -- Wu et al., Theorem 3, item 2 ----------------------------------------------------------------------------------


@predicate(
    "spares_an_open_set(tokens: array)",
    latex=r"\text{{causal mask, sphere LayerNorm, }}n={0}:\text{{ for some weights all starts in a ball of }}"
    r"(S^{{n-1}})^n\text{{ tend to an equilibrium of rank }}n",
    because="a limit, for every start near by: proved in balls",
)
def spares_an_open_set(run: ArrayRun, tokens: str) -> Truth:
    """under the causal mask there are weights, those of own:stable-causal-every-n, and a ball of starts that all
    converge to an equilibrium of rank n ≥ 2"""
    return _proved([causal_design(int(run[tokens]))])


wu2024_3_measure = proved(
    "wu2024:3-measure",
    "spares_an_open_set(tokens)",
    given="token_count(tokens) >= 2",
    arrays={"tokens": ", whole, >= 2, <= 64"},
    title="Starts that do not collapse under the causal mask",
    source=f"{WU}, Theorem 3, item 2, read as: for every number of tokens from two on there are such weights",
    draws=(draw_counts,),
    exhibit=partial(_shown, "wu2024:3-measure", causal_design, 3),
    share=0.005,
    cost=2,
    notes="The printed proof rests on Lemma 13 (wu2024:L13). A ball of starts has positive measure. Here d = n; every "
    f"dimension from 2 on is wu2024:3-whole. {_MAP}",
)


# -- Wu et al., Theorem 3, both items -----------------------------------------------------------------------------


defined(
    "tokens_and_dimensions(sizes: array)", "sizes[0] >= 2 and sizes[1] >= 2", "at least two tokens and two dimensions"
)


@predicate(
    "causal_ranks_attract(sizes: array)",
    latex=r"\text{{causal mask, sphere LayerNorm: one pair }}W_{{QK}},W_V\text{{ has for "
    r"every }}1\le k\le\min(n,d)\text{{ an equilibrium of rank }}k\text{{ that attracts a ball of starts}}",
    because="a limit, for every start near by: proved in balls",
)
def causal_ranks_attract(run: ArrayRun, sizes: str) -> Truth:
    """under the causal mask one weight pair, that of own:stable-every-rank with g = 1/2 in min(n, d) dimensions and
    zeros beyond, has for some whole number L and every k up to min(n, d) an equilibrium of rank k that attracts a
    ball of starts"""
    n, d = (int(size) for size in run[sizes])
    m = min(n, d)
    return _proved([path_design(n, rank=k, mask="causal", dim=m).padded(d) for k in range(1, m + 1)])


def draw_sizes(rng: Rng, size: int) -> ArrayInstance:
    """More tokens than dimensions first, then as many, then fewer."""
    sizes = [(3, 2), (5, 3), (3, 3), (2, 4), *rng.integers(2, 7, (size, 2)).tolist()]
    return ArrayInstance({"sizes": np.asarray(sizes[:size])}, "sizes", is_batch=True)


wu2024_3_whole = proved(
    "wu2024:3-whole",
    "causal_ranks_attract(sizes)",
    given="tokens_and_dimensions(sizes)",
    arrays={"sizes": "2, whole, >= 2, <= 32"},
    title="Equilibria of every rank, and starts that do not collapse, under the causal mask",
    source=f"{WU}, Theorem 3, items 1 and 2 together, read as: there is one pair of weights for both; that these "
    "equilibria attract is ours",
    draws=(draw_sizes,),
    share=0.004,
    cost=6,
    notes="A ball of starts has positive measure, so k = 2 is item 2. Item 1 for the weights of the paper is wu2024:3. "
    f"{_MAP}",
)


# -- orthogonal values ---------------------------------------------------------------------------------------------


defined(
    "orthogonal_rest(X: array, W_V: array, allowed: array)",
    "d = len(X[0]); n <= d and all(sum(W_V[a][c]*W_V[b][c] for c in range(d)) == identity(d)[a][b] for a in "
    "range(d) for b in range(d)) and all(sum(X[i][a]**2 for a in range(d)) == 1 for i in range(n)) and "
    "any(not X[i][a] == X[0][a] for i in range(n) for a in range(d)) and all(allowed[i][i] == 1 for i in "
    "range(n)) and any(all(mpower(allowed, n)[i][c] > 0 for i in range(n)) for c in range(n))",
    "W_V is orthogonal, there are no more tokens than dimensions, the mask has self-loops and a token that "
    "all others see, directly or through others, and the unit tokens are not all equal",
    by_name=True,
)


@predicate(
    "collapsing_neighbours(X: array)",
    latex=r"\text{{arbitrarily near }}{0}\text{{ there are starts with }}\max_{{i,j}}\|X_i(t)-X_j(t)\|\to0\text{{, }}"
    r"X(t+1)=\mathrm{{LN}}(A(X(t))X(t)W_V)",
    because="a limit, for starts as near as one likes",
)
def collapsing_neighbours(run: ArrayRun, X: str) -> Truth:
    """arbitrarily near X there are tokens of full row rank, which collapse (own:full-rank) under X ↦ LN(A(X)XW_V),
    LN the division of every token by its norm and A(X) the softmax of X W_QK Xᵀ over the pairs of the mask, whatever
    W_QK: det of the Gram matrix of X + t(B − X), B the first n unit vectors, is a polynomial in t that is not zero at
    t = 1, so not zero for small t but at finitely many"""
    from flint import fmpq, fmpq_mat

    x = np.asarray(run[X])
    n, d = x.shape
    start = fmpq_mat(n, d, [fmpq(Fraction(v).numerator, Fraction(v).denominator) for v in x.ravel()])
    end = fmpq_mat(n, d, [fmpq(int(i == a)) for i in range(n) for a in range(d)])
    full = (end * end.transpose()).det() != 0
    nearest = next(
        (
            k
            for k in range(8, 64)
            if ((start + (end - start) * fmpq(1, 2**k)) * (start + (end - start) * fmpq(1, 2**k)).transpose()).det()
            != 0
        ),
        None,
    )
    return Truth(bool(full and nearest is not None), f"full rank at distance 2^-{nearest} along a segment, exactly")


def draw_orthogonal(rng: Rng, size: int) -> ArrayInstance:
    """Antipodal pairs, at rest under W_V = I and W_QK = βI, turned by a rational reflection."""
    pairs = int(rng.integers(1, 3))
    n = d = 2 * pairs
    tokens = []
    for _ in range(size):
        v = np.array([Fraction(int(x)) for x in rng.integers(1, 9, d)], dtype=object)
        turn = np.array([[Fraction(int(i == j)) for j in range(d)] for i in range(d)], dtype=object)
        turn = turn - 2 * np.outer(v, v) / (v @ v)
        axes = turn[:pairs]
        tokens.append(np.stack([row for axis in axes for row in (axis, -axis)]))
    identity = np.array([[Fraction(int(i == j)) for j in range(d)] for i in range(d)], dtype=object)
    return ArrayInstance(
        {"X": np.stack(tokens), "W_V": np.stack([identity] * size), "allowed": np.ones((size, n, n), dtype=bool)},
        "pairs",
        is_batch=True,
    )


own_no_stable_orthogonal = ours(
    "own:no-stable-orthogonal",
    "collapsing_neighbours(X)",
    given="orthogonal_rest(X, W_V, allowed)",
    arrays={"X": "n d", "W_V": "d d", "allowed": "mask n = complete"},
    title="Collapsing starts near any tokens: orthogonal values, tokens up to the dimension",
    draws=(draw_orthogonal,),
    share=0.01,
    notes="So no equilibrium of unequal tokens attracts a neighbourhood there.",
)
