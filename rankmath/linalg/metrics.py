"""What people measure on tokens and attention, each with its formula and its convention named.

Every function takes doubles, (n, d) or a batch (..., n, d). All but `attention_rollout` take one matrix of balls too
(an object array of python-flint's arb), and return a ball that contains the value. Spectra of balls are enclosed by
Ostrowski's and Weyl's theorems around an approximate eigenbasis; an enclosure may be wide, never wrong. No metric
of tokens but the Dirichlet energy sees the scale of X.
"""

from collections.abc import Callable
from functools import cmp_to_key
from typing import Literal, TypeAlias

import numpy as np

from rankmath.arithmetic.balls import Balls
from rankmath.arithmetic.float64 import Float64
from rankmath.linalg.masks import MaskLike, as_mask
from rankmath.linalg.norms import composite, frobenius
from rankmath.validation import Array, ArrayLike, InvalidArgument, NoDirection, Number, as_array, as_choice, as_count

Numbers: TypeAlias = Array
#: A singular value of doubles that is a smaller share of the largest may be rounding.
LEAST_SHARE = 2.0**-40

# -- residuals ---------------------------------------------------------------------------------------------


def relative_residual(X: ArrayLike, norm: Literal["composite", "frobenius"] = "composite") -> Number:
    """‖X − 1x̄ᵀ‖/‖X‖ about the token mean x̄.

    "composite" is ‖·‖_{1,∞} = √(‖·‖₁‖·‖_∞), what Dong et al. 2021 plot; "frobenius" is μ(X)/‖X‖_F of Wu et "
    "al. 2024.

    >>> float(relative_residual([[1.0, 0.0], [-1.0, 0.0]]))
    1.0
    """
    X = _tokens(X)
    as_choice("norm", norm, ("composite", "frobenius"))
    kind = frobenius if norm == "frobenius" else composite
    return size_of(kind, _centred(X)) / size_of(kind, X)


def high_low_ratio(X: ArrayLike) -> Number:
    """‖HC[X]‖_F/‖DC[X]‖_F: what varies over the tokens against their mean, DC[X] = 11ᵀX/n (Wang et al. 2022).

    >>> float(high_low_ratio([[2.0], [0.0]]))
    1.0
    """
    X = _tokens(X)
    return size_of(frobenius, _centred(X)) / size_of(frobenius, X - _centred(X))


# -- pairs of tokens ---------------------------------------------------------------------------------------


def cosines(X: ArrayLike) -> Number:
    """The matrix of ⟨x_i, x_j⟩/(‖x_i‖‖x_j‖)."""
    unit = _unit_rows(_tokens(X))
    return _product(unit, np.swapaxes(unit, -1, -2))


def mean_cosine(X: ArrayLike) -> Number:
    """Mean cosine of two different tokens, (‖Σ x̂_i‖² − n)/(n(n−1)).

    >>> float(mean_cosine([[1.0, 0.0], [0.0, 2.0]])), float(mean_cosine([[1.0, 0.0], [2.0, 0.0]]))
    (0.0, 1.0)
    """
    unit = _unit_rows(_tokens(X, least=2))
    n, total = unit.shape[-2], _sum(unit, -2)
    return (_sum(total * total, -1) - n) / (n * (n - 1))


def largest_cosine(X: ArrayLike) -> Number:
    """Largest cosine of two different tokens."""
    return _extreme(X, +1)


def least_cosine(X: ArrayLike) -> Number:
    """Least cosine of two tokens."""
    return _extreme(X, -1)


def dirichlet_energy(X: ArrayLike, mask: MaskLike = None) -> Number:
    """½ Σ_{i,j} A_ij ‖x_i − x_j‖² over the mask's graph, A_ij = 1 where i attends to j; no weights by degree.

    >>> float(dirichlet_energy([[0.0], [1.0], [3.0]])), float(dirichlet_energy([[0.0], [1.0], [3.0]], "causal"))
    (14.0, 7.0)
    """
    X = _tokens(X)
    A = _graph(mask, X.shape[-2])
    degree = A.sum(axis=1) + A.sum(axis=0)
    # ½ Σ A_ij(‖x_i‖² + ‖x_j‖²) − Σ A_ij⟨x_i, x_j⟩ cancels; on centred tokens it cancels least.
    X = _centred(X)
    squares = _sum(X * X, -1)
    mixed = _sum(_sum(_product(_like(A, X), X) * X, -1), -1)
    return _sum(squares * _like(degree, X), -1) / 2 - mixed


def mean_average_distance(X: ArrayLike, mask: MaskLike = None) -> Number:
    """MAD: the mean over tokens of the mean of 1 − cos(x_i, x_j) over the other tokens j that i attends to.

    Tokens that see only themselves do not count (Chen et al. 2020).

    >>> float(mean_average_distance([[1.0, 0.0], [0.0, 1.0]]))
    1.0
    """
    X = _tokens(X, least=2)
    A = _graph(mask, X.shape[-2]) * (1 - np.eye(X.shape[-2]))
    seen = A.sum(axis=1)
    if not seen.any():
        raise InvalidArgument("mask: no token sees another one; the mean of their distances needs one that does")
    weights = A / np.where(seen > 0, seen, 1)[:, None] / np.count_nonzero(seen)
    unit = _unit_rows(X)
    # Weights sum to one; 1 − cos = ½‖x̂_i − x̂_j‖² keeps the digits of tokens that almost agree.
    middle = unit - _sum(unit, -2)[..., None, :] / unit.shape[-2]
    squares = _sum(middle * middle, -1)
    own = _sum(squares * _like(weights.sum(axis=1) + weights.sum(axis=0), X), -1) / 2
    return own - _sum(_sum(_product(_like(weights, X), middle) * middle, -1), -1)


# -- spectra -----------------------------------------------------------------------------------------------


def singular_squares(X: ArrayLike, *, centred: bool = False, sharp: bool = False) -> Number:
    """σ₁² ≥ σ₂² ≥ …, the min(n, d) squared singular values of X, or of X − 1x̄ᵀ; balls enclose each.

    `sharp`: balls in as many bits as are worked in, at more cost.
    """
    X = _tokens(X)
    X = _centred(X) if centred else X
    if not _of_balls(X):
        return np.linalg.svd(X, compute_uv=False) ** 2
    short = X if X.shape[0] <= X.shape[1] else X.T
    return enclosed_eigenvalues(_product(short, short.T), sharp=sharp)


def _told_from_zero(X: ArrayLike, place: int) -> Numbers:
    """The squared singular values, the one in this place told from 0: nan in doubles that rounding may have made."""
    squares = singular_squares(X)
    if squares.dtype == object:
        return squares if squares[place] > 0 else singular_squares(X, sharp=True)
    squares[..., place][squares[..., place] < LEAST_SHARE**2 * squares[..., 0]] = np.nan
    return squares


def stable_rank(X: ArrayLike) -> Number:
    """‖X‖_F²/‖X‖₂².

    >>> float(stable_rank([[2.0, 0.0], [0.0, 1.0]]))
    1.25
    """
    squares = singular_squares(X)
    return _sum(squares, -1) / squares[..., 0]


def participation_ratio(X: ArrayLike, *, centred: bool = True) -> Number:
    """(Σλ)²/Σλ² of the eigenvalues λ = σ² of XᵀX; of the covariance if `centred`.

    >>> float(participation_ratio([[1.0, 0.0], [0.0, 1.0]], centred=False))
    2.0
    """
    squares = singular_squares(X, centred=centred)
    total = _sum(squares, -1)
    return total * total / _sum(squares * squares, -1)


def effective_rank(X: ArrayLike, of: Literal["singular", "eigen"] = "singular", *, centred: bool = False) -> Number:
    """exp of the entropy of p_i = σ_i/Σσ ("singular", Roy and Vetterli 2007) or p_i = σ_i²/Σσ² ("eigen").

    Three conventions are in use, all under one name: singular values, eigenvalues, and either of centred tokens.

    >>> X = [[1.4, 0.0], [0.0, 0.5]]
    >>> round(float(effective_rank(X)), 4), round(float(effective_rank(X, "eigen")), 4)
    (1.7795, 1.4233)
    """
    as_choice("of", of, ("singular", "eigen"))
    values = singular_squares(X, centred=centred)
    if of == "singular":
        values = _by_entry("sqrt", values)
    return _by_entry("exp", _entropy(values / np.add.reduce(values, axis=-1, keepdims=True)))


#: A token this many times as long as the median one dominates the others.
DOMINATING = 10.0


def dominating(X: ArrayLike) -> Numbers:
    """Which tokens are more than ten times as long as the median token (massive activations), (n,) truth values.

    Of balls: which midpoints are.

    >>> dominating([[1.0, 0.0], [0.0, 30.0], [2.0, 0.0]]).tolist()
    [False, True, False]
    """
    X = _tokens(X)
    rows = np.asarray([[float(x.mid()) for x in row] for row in X]) if X.dtype == object else X
    lengths = np.sqrt((rows * rows).sum(axis=-1))
    return np.asarray(lengths > DOMINATING * np.median(lengths, axis=-1, keepdims=True))


def effective_rank_of_others(X: ArrayLike) -> Number:
    """`effective_rank` of the tokens that do not dominate: one massive activation makes that of all tokens tell of
    it alone. Of balls that leave open which tokens dominate: all that an effective rank can be.

    >>> X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1e9]]
    >>> round(float(effective_rank(X)), 4), round(float(effective_rank_of_others(X)), 4)
    (1.0, 2.0)
    """
    X = _tokens(X)
    if X.ndim > 2:
        return np.asarray([effective_rank_of_others(one) for one in X])
    if not _of_balls(X):
        return effective_rank(X[~dominating(X)])
    from flint import arb

    lengths = _by_entry("sqrt", _sum(X * X, -1))
    # The median of numbers in balls lies between those of the lower and of the upper ends.
    limit = DOMINATING * _median([x.lower() for x in lengths]).union(_median([x.upper() for x in lengths]))
    kept = np.asarray([bool(x <= limit) for x in lengths])
    if not all(keep or x > limit for keep, x in zip(kept, lengths, strict=True)):
        # Tokens that may all be zero have no effective rank.
        return arb(1).union(arb(min(X.shape))) if limit > 0 else arb("nan")
    return effective_rank(X[kept])


def isometry_gap(X: ArrayLike) -> Number:
    """−log of det(G)^{1/n}/(tr G/n), G = XXᵀ: 0 for orthogonal tokens of one length (Joudaki et al. 2023); n ≤ d.

    Of doubles: nan where the least singular value is below 2⁻⁴⁰ of the largest, so that rounding may have made it.

    >>> float(isometry_gap([[3.0, 0.0], [0.0, 3.0]]))
    0.0
    """
    X = _tokens(X)
    n, d = X.shape[-2:]
    if n > d:
        raise InvalidArgument(f"X: {n} tokens of dimension {d} given; the determinant is 0 unless tokens ≤ dimension")
    squares = _told_from_zero(X, -1)
    with np.errstate(divide="ignore"):
        return _by_entry("log", _sum(squares, -1) / n) - _sum(_by_entry("log", squares), -1) / n


# -- attention ---------------------------------------------------------------------------------------------


def attention_entropy(P: ArrayLike, of: Literal["mean", "least"] = "mean") -> Number:
    """Entropy −Σ_j P_ij log P_ij of the rows, in nats: their mean, or the least of them.

    >>> round(float(attention_entropy([[0.5, 0.5], [1.0, 0.0]])), 4)
    0.3466
    """
    P = _tokens(P, "P")
    as_choice("of", of, ("mean", "least"))
    rows = _entropy(P)
    return _sum(rows, -1) / rows.shape[-1] if of == "mean" else _least(rows)


def spectral_gap(P: ArrayLike) -> Number:
    """σ₁/σ₂ of an attention matrix; of doubles nan where it is above 2⁴⁰, so that rounding may have made σ₂.

    >>> float(spectral_gap([[1.0, 0.0], [0.0, 1.0]]))
    1.0
    """
    squares = _told_from_zero(_tokens(P, "P", least=2), 1)
    with np.errstate(divide="ignore"):
        return _by_entry("sqrt", squares[..., 0] / squares[..., 1])


def attention_rollout(P: ArrayLike, *, skip: float = 0.5) -> Number:
    """∏_l (skip·I + (1 − skip)·mean_h P^l_h), last layer leftmost (Abnar and Zuidema 2020), (n, n).

    Parameters
    ----------
    P : (layers, heads, n, n), as `attention_matrices` returns it.

    Examples
    --------
    >>> attention_rollout([[[[0.5, 0.5], [0.0, 1.0]]]], skip=0.0)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    P = as_array("P", P, ndim=4)
    if not 0 <= skip <= 1:
        raise InvalidArgument(f"skip: {skip} given; a number from 0 to 1 is needed")
    n = P.shape[-1]
    whole = np.eye(n)
    for layer in P.mean(axis=1):
        whole = (skip * np.eye(n) + (1 - skip) * layer) @ whole
    return whole


#: Metrics of tokens by the name the command line knows; each a column of a trace.
TOKEN_METRICS: dict[str, Callable[[ArrayLike], Number]] = {
    "relative-residual": relative_residual,
    "mu-ratio": lambda X: relative_residual(X, "frobenius"),
    "high-low-ratio": high_low_ratio,
    "mean-cosine": mean_cosine,
    "largest-cosine": largest_cosine,
    "least-cosine": least_cosine,
    "stable-rank": stable_rank,
    "effective-rank": effective_rank,
    "effective-rank-eigen": lambda X: effective_rank(X, "eigen"),
    "effective-rank-others": effective_rank_of_others,
    "effective-rank-centred": lambda X: effective_rank(X, centred=True),
    "participation-ratio": participation_ratio,
    "dirichlet-energy": dirichlet_energy,
    "mean-average-distance": mean_average_distance,
    "isometry-gap": isometry_gap,
}

#: Metrics of a layer's attention matrices, averaged over its heads.
ATTENTION_METRICS: dict[str, Callable[[ArrayLike], Number]] = {
    "attention-entropy": attention_entropy,
    "attention-entropy-least": lambda P: attention_entropy(P, "least"),
    "spectral-gap": spectral_gap,
}


# -- doubles and balls alike -------------------------------------------------------------------------------


def _tokens(X: ArrayLike, name: str = "X", *, least: int = 1) -> Numbers:
    if isinstance(X, np.ndarray) and X.dtype == object:
        if X.ndim != 2 or 0 in X.shape:
            raise InvalidArgument(f"{name}: shape {X.shape} given; balls are measured as one matrix (n, d)")
        array = X
    else:
        array = as_array(name, X, min_ndim=2)
    as_count(f"tokens of {name}", int(array.shape[-2]), least=least)
    return array


def _of_balls(X: Numbers) -> bool:
    return bool(X.dtype == object)


def _like(A: Numbers, X: Numbers) -> Numbers:
    """Doubles as numbers of X's kind: each is exact as a ball."""
    return Balls().asarray(A) if _of_balls(X) else A


def _by_entry(function: str, a: Number) -> Number:
    """√, log or exp of every entry; of balls, √ of what is known not to be negative."""
    return getattr(Balls() if _of_balls(np.asarray(a)) else np, function)(a)[()]


def _sum(a: Numbers, axis: int) -> Number:
    return np.add.reduce(a, axis=axis)


def _product(a: Numbers, b: Numbers) -> Numbers:
    return Balls().product(a, b) if _of_balls(a) else a @ b


def _centred(X: Numbers) -> Numbers:
    return np.asarray(X - _sum(X, -2)[..., None, :] / X.shape[-2])


def size_of(norm: Callable[..., Array], X: Numbers) -> Number:
    """A norm of `rankmath.linalg.norms`, of doubles or of balls."""
    return norm(X, Balls() if _of_balls(X) else Float64(X))


def _largest(a: Numbers) -> Number:
    return Balls().max(a, axis=-1)[..., 0][()] if _of_balls(a) else np.max(a, axis=-1)


def _least(a: Numbers) -> Number:
    return -_largest(-a)


def _unit_rows(X: Numbers) -> Numbers:
    if not _of_balls(X):
        size = np.abs(X).max(axis=-1, keepdims=True)
        if not size.all():
            raise NoDirection("X: a token is zero; it has no direction")
        X = X / size  # squares neither overflow nor underflow
    return np.asarray(X / _by_entry("sqrt", _sum(X * X, -1))[..., None])


def _extreme(X: ArrayLike, sign: int) -> Number:
    cos = cosines(_tokens(X, least=2))
    first, second = np.triu_indices(cos.shape[-1], 1)
    return sign * _largest(sign * cos[..., first, second])


def _graph(mask: MaskLike, n: int) -> Numbers:
    return np.ones((n, n)) if mask is None else np.asarray(as_mask(mask, n).allowed, dtype=float)


def _entropy(p: Numbers) -> Number:
    """−Σ p log p along the last axis, 0 log 0 = 0."""
    if not _of_balls(p):
        return -_sum(p * np.log(np.where(p > 0, p, 1.0)), -1)
    return _sum(np.frompyfunc(_surprise, 1, 1)(p), -1)


def _surprise(p: Number) -> Number:
    """−p log p of a ball inside [0, 1]; where it reaches 0, all of [0, −u log u] for the upper end u ≤ 1/e."""
    if p > 0:
        return -p * p.log()
    if not p.is_finite():  # a share of nothing
        return p
    from flint import arb

    u = p.abs_upper().min(arb(1))
    if u.is_zero():
        return arb(0)
    peak = (-u * u.log()) if u < 0.36 else (-arb(1)).exp()
    return arb(0).union(peak).union(-u * u.log() if u < 1 else arb(0))


def _compared(a: Number, b: Number) -> int:
    """Exact numbers, in order."""
    return int(a > b) - int(a < b)


def _median(exact: list[Number]) -> Number:
    ordered, half = sorted(exact, key=cmp_to_key(_compared)), len(exact) - 1
    return (ordered[half // 2] + ordered[half - half // 2]) / 2


def enclosed_eigenvalues(G: Numbers, *, sharp: bool = False) -> Numbers:
    """Balls around the eigenvalues of a symmetric positive semidefinite matrix of balls, largest first.

    With any V near the eigenvectors, found in doubles or, if `sharp`, in the bits that are worked in, E = VᵀV − I and
    ‖E‖_F < 1, λ_i(VᵀGV) = θ_iλ_i(G) for some 1 − ‖E‖ ≤ θ_i ≤ 1 + ‖E‖ (Ostrowski), and λ_i(VᵀGV) is its i-th largest
    diagonal entry up to the Frobenius norm of the rest (Weyl).
    """
    from flint import arb

    n = G.shape[0]
    size = _largest(abs(G).ravel()).abs_upper()
    if not all(x.is_finite() for x in G.flat):
        return np.asarray([arb.nan()] * n, dtype=object)
    if size.is_zero():
        return np.asarray([arb(0)] * n, dtype=object)
    if sharp:
        V = _eigenvectors(G)
    else:
        middle = np.asarray([float((x / size).mid()) for x in G.flat]).reshape(n, n)
        V = _like(np.linalg.eigh((middle + middle.T) / 2)[1][:, ::-1], G)
    A, E = _product(V.T, _product(G, V)), _product(V.T, V)
    off, diagonal = A.copy(), [A[i, i] for i in range(n)]
    for i in range(n):
        off[i, i] = arb(0)
        E[i, i] = E[i, i] - 1
    spread, defect = size_of(frobenius, off).abs_upper(), size_of(frobenius, E).abs_upper()
    if not defect < 1:
        return np.asarray([arb.nan()] * n, dtype=object)
    stretch = arb(1, defect)
    # The i-th largest of numbers in balls lies between the i-th largest lower and upper ends.
    exactly = cmp_to_key(_compared)
    lower = sorted((x.lower() for x in diagonal), key=exactly, reverse=True)
    upper = sorted((x.upper() for x in diagonal), key=exactly, reverse=True)
    values = [(low.union(high) + arb(0, spread)) / stretch for low, high in zip(lower, upper, strict=True)]
    return np.asarray([x.nonnegative_part() for x in values], dtype=object)


def _eigenvectors(G: Numbers) -> Numbers:
    """Numbers near the eigenvectors of the middles, in the bits that are worked in."""
    import mpmath
    from flint import arb, ctx

    with mpmath.workprec(ctx.prec):
        middles = [[mpmath.ldexp(*map(int, x.mid().man_exp())) for x in row] for row in G]
        vectors = mpmath.eigsy(mpmath.matrix(middles))[1]
        n, V = len(G), np.empty_like(G)
        for i, j in np.ndindex(n, n):
            sign, mantissa, exponent, _ = vectors[i, n - 1 - j]._mpf_
            V[i, j] = arb(int(-mantissa if sign else mantissa)) * arb(2) ** int(exponent)
    return V
