"""Fast code for quantities that `rankmath.definitions.quantities` defines and says in words, over any arithmetic.

Sizes of tokens come as logarithms, because they shrink doubly exponentially; in balls every value is an enclosure,
and a residual's enclosure runs from its dual to its primal bound, so that a verdict follows from the formula alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import to_numpy
from rankmath.arithmetic.protocol import System
from rankmath.attention.plain import turned_rows
from rankmath.attention.trace import layers_centred
from rankmath.formula.evaluate import Scalar, Truth
from rankmath.formula.language import Measure, Reach, fast
from rankmath.formula.numbers import FLOAT_MARGIN, Signed
from rankmath.formula.run import Run, scalar_function, unbox
from rankmath.formula.text import largest_modulus
from rankmath.linalg import metrics, norms
from rankmath.linalg.diameters import diameter as diameter_of
from rankmath.model.network import LIPSCHITZ, Attention, LayerNorm, Network
from rankmath.validation import Array, Bools, Floats, InvalidArgument

Place = tuple[str, int, int]

#: What takes one line, by the networks that it is for (see `fast`).
_LINES: dict[Reach, dict[str, Measure]] = {
    "tokens": {
        "residual": lambda run, X, norm: run.from_log(run.log_residual(X[1], norm)),
        "mu": lambda run, X: run.from_log(run.log_residual(X[1], "frobenius")),
        "longest": lambda run, X: run.number(
            unbox(run.A.max(norms.frobenius(run.plain_tokens(X[1])[..., None, :], run.A)[..., None], axis=-2))
        ),
    },
    "weights": {
        "operator_norm": lambda run, W, p: norm(run, W, {1: "inf", math.inf: "1", 2: "2"}[run.exponent(p)]),
        "form_norm": lambda run, W, p: _of_weight(
            run, W, f"form {run.exponent(p)}", lambda M, A: norms.bilinear_norm(M, run.exponent(p), A).value
        ),
    },
    "multiplied": {
        "orthogonal_values": lambda run: Truth(np.asarray(_exactly("orthogonal", run.net.W).all(axis=(0, 1)))[()]),
        "definite": lambda run, W: Truth(_exactly("definite", getattr(run.net, W[0])[W[1:]])[()]),
        "invertible": lambda run, W: Truth(_exactly("invertible", getattr(run.net, W[0])[W[1:]])[()]),
    },
    "doubles": {
        "rank": lambda run, M: run.number(np.linalg.matrix_rank(_of_one_rank(run, M)).astype(float)),
        "participation_ratio": np.errstate(invalid="ignore")(
            lambda run, X: run.number(metrics.participation_ratio(run.plain_tokens(X[1]), centred=False))
        ),
        "effective_rank": np.errstate(invalid="ignore")(
            lambda run, X, of: run.number(metrics.effective_rank(run.plain_tokens(X[1]), of))
        ),
        "reach": lambda run, X: _from_first(run, X, slice(1, None)),
        "other_share": lambda run, P: (
            Fraction(0)
            if run.X.shape[-2] == 1
            else _made_of(run, np.diagonal(_matrix(run, P), axis1=-2, axis2=-1)[..., 1:].max(axis=-1), _LEAST_SHARE)
        ),
        "second_norm": lambda run, l: _second_map(run, l, lambda M: norms.spectral(M, run.A)),
        "second_least": lambda run, l: _second_map(run, l, lambda M: np.linalg.svd(M, compute_uv=False)[..., -1]),
        "least_root": lambda run, l: run.number(_roots(run, l).min(axis=-1)),
        "largest_root": lambda run, l: run.number(_roots(run, l).max(axis=-1)),
    },
    "one line": {
        "delta": lambda run, P, center: run.from_log(run.about(P[1], P[2], center).log_D),
        "q_max": lambda run, P, center: run.from_log(run.about(P[1], P[2], center).log_q_max),
        "q_min": lambda run, P, center: run.from_log(run.about(P[1], P[2], center).log_q_min),
        "logit_range": lambda run, P: run.number(_row_logits(run, P)[0]),
        "center_count": lambda run: Fraction(len(run.mask.centers)),
        "farthest": lambda run: Fraction(run.mask.farthest),
        "height": lambda run: run.number(-unbox(run.A.max(-run.heights(0, run.pole(0)), axis=-2))),
        "section": lambda run, X: run.from_log(run.log_section(X[1])),
        "self_loops": lambda run: Truth(run.mask.has_self_loops),
        "quasi_strongly_connected": lambda run: Truth(run.mask.is_quasi_strongly_connected),
        "strongly_connected": lambda run: Truth(run.mask.is_strongly_connected),
    },
}
for _reach, _measures in _LINES.items():
    for _name, _measure in _measures.items():
        fast(_name, _reach)(_measure)

# -- tokens ------------------------------------------------------------------------------------------------


@fast("diameter", of="tokens")
def diameter(run: Run, X: tuple[str, int], p: str) -> Scalar:
    key = ("diameter", X[1], run.exponent(p))
    if key not in run.memory:
        run.memory[key] = run.from_log(run.log_diameter(X[1], run.exponent(p)))
    return run.memory[key]


@fast("centred_norm", of="tokens")
def centred_norm(run: Run, X: tuple[str, int]) -> Scalar:
    A, Y = run.A, run.plain_tokens(X[1])
    found = norms.spectral(Y - A.sum(Y, axis=-2) / Y.shape[-2], A)
    # In doubles tokens less their mean have lost digits where they are close.
    return found if A.unbounded else _made_of(run, found, np.maximum(_most(Y), np.finfo(float).tiny))


@fast("moved")
def moved(run: Run, X: tuple[str, int]) -> Scalar:
    A = run.A
    gap = A.abs(run.plain_tokens(X[1]) - run.plain_tokens(0))
    return run.number(unbox(A.max(A.max(gap, axis=-1), axis=-2)))


@fast("cosine", of="tokens")
def cosine(run: Run, X: tuple[str, int]) -> Scalar:
    A, Y = run.A, run.plain_tokens(X[1])
    with np.errstate(invalid="ignore", divide="ignore"):  # a zero token has no angle
        unit = Y / A.sqrt(A.sum(Y * Y, axis=-1))
    gram = A.matmul(unit, A.transpose(unit))
    return _of_order_one(run, -unbox(A.max(A.max(-gram, axis=-1), axis=-2)))


@fast("stable_rank", of="tokens")
def stable_rank(run: Run, X: tuple[str, int]) -> Scalar:
    A, Y = run.A, run.plain_tokens(X[1])
    with np.errstate(invalid="ignore"):  # tokens that are all zero have none
        ratio = norms.frobenius(Y, A) / norms.spectral(Y, A)
    return run.number(ratio * ratio)


# -- weights -----------------------------------------------------------------------------------------------


@fast("norm", of="attention")
def norm(run: Run, M: tuple[str, int, int], p: str) -> Scalar:
    measure = {"1": norms.norm_one, "2": norms.spectral, "inf": norms.norm_inf, "max": norms.norm_max}
    measure |= {"frobenius": norms.frobenius, "composite": norms.composite}
    if M[0] in ("W", "W_QK"):
        return _of_weight(run, M, p, measure[p])
    return run.number(measure[p](_matrix(run, M), run.A))


def _of_weight(run: Run, W: Place, name: str, measure: Callable[[Array, System], Array]) -> Scalar:
    """A size of one weight; in float64 those of all layers and heads are taken together."""
    if run.part_of is not None:
        whole, first = run.part_of
        return _of_weight(whole, (W[0], W[1] + first, W[2]), name, measure)
    alone = run.A.unbounded
    key = ("size", *(W if alone else W[:1]), name)
    if key not in run.memory:
        weight = run.weight(*W) if alone else run.net.W_QK if W[0] == "W_QK" else run.net.W
        run.memory[key] = run.number(measure(weight, run.A))
    return run.memory[key] if alone else run.memory[key][W[1:]]


def _matrix(run: Run, M: tuple[str, int, int] | tuple[str, int]) -> Array:
    match M:
        case (_, layer):
            return run.plain_tokens(layer)
        case ("P" | "P0" as array, layer, head):
            return run.attention(layer, head, array)
        case (array, layer, head):
            return run.weight(array, layer, head)
    raise TypeError(M)


@fast("least_singular", of="weights")
def least_singular(run: Run, W: Place) -> Scalar:
    A, M = run.A, run.weight(*W)
    least = norms.symmetric_extremes(A.matmul(A.transpose(M), M), A)[0]
    return run.number(scalar_function(A, A.sqrt, least if A.unbounded else np.maximum(least, 0.0)))


@fast("definiteness", of="weights")
def definiteness(run: Run, W: Place) -> Scalar:
    A, M = run.A, run.weight(*W)
    low, high = norms.symmetric_extremes((M + A.transpose(M)) / 2, A)
    return run.number(np.maximum(low, -high) if not A.unbounded else run.numbers.larger(low, -high))


@fast("product_norm", of="weights")
def product_norm(run: Run, p: str) -> Scalar:
    A = run.A
    product = run.weight("W", 0, 0)
    for layer in range(1, run.net.layers):
        product = A.matmul(product, run.weight("W", layer, 0))
    return run.number(norms.spectral(product, A))


@fast("lipschitz")
def lipschitz(run: Run, layer: int) -> Scalar:
    f, A = run.net.mlp[layer], run.A
    if f is None:
        return Fraction(1)
    if f.W_gate is not None:  # its text says that there is none
        return run.by_text("lipschitz", (layer,))
    product = A.matmul(A.abs(A.asarray(f.W_in)), A.abs(A.asarray(f.W_out))) * A.constant(LIPSCHITZ[f.activation])
    if f.skip:
        product = product + A.asarray(np.eye(f.dim))
    return run.number(norms.composite(product, A))


# -- attention ---------------------------------------------------------------------------------------------


@fast("gamma")
def gamma(run: Run, P: Place) -> Scalar:
    at = run.about(P[1], P[2], "composite")
    D = run.from_log(at.log_D)
    total = run.from_log(at.log_sum_D) * run.from_log(at.log_q_max)
    if isinstance(D, Signed):
        log = np.where(D.sign == 0, -np.inf, (total.log - np.where(D.sign == 0, 0.0, D.log)) / 2)
        return Signed.positive(log)
    if D == 0:
        return run.numbers.lift(Fraction(0))
    return run.numbers.apply("sqrt", total / D)


def _row_logits(run: Run, P: Place) -> tuple[Array, Array]:
    """The largest oscillation of a row of logits over its edges, and −log of the least attention on an edge."""
    key = ("row logits", P)
    if key not in run.memory:
        A = run.A
        c, E = run.logit_parts(P[1], P[2])
        logits, opposite = run.on_edges(c + E), run.on_edges(-(c + E))
        high, low = A.max(logits, axis=-1), -A.max(opposite, axis=-1)
        # The least weight of a row is 1/Σ_j e^{l_j − low}.
        inverse = high - low + A.log(A.sum(A.exp(logits - high), axis=-1))
        run.memory[key] = unbox(A.max(high - low, axis=-2)), unbox(A.max(inverse, axis=-2))
    spread, inverse_least = run.memory[key]
    return spread, inverse_least


@fast("epsilon", of="attention")
def epsilon(run: Run, P: Place) -> Scalar:
    if P[0] == "P" and run.net.is_one_line:
        return run.from_log(-_row_logits(run, P)[1])
    rows = _matrix(run, P)
    least = -unbox(run.A.max(run.A.max(run.A.where(run.mask.allowed, -rows, -1 + 0 * rows), -1), -2))
    return _made_of(run, least, _LEAST_SHARE)


@fast("dobrushin", of="attention")
def dobrushin(run: Run, P: Place) -> Scalar:
    A, rows = run.A, _matrix(run, P)
    n = rows.shape[-1]
    first, second = np.triu_indices(n, 1)
    if first.size == 0:
        return Fraction(0)
    if (shares := _shares(run, P)) is not None:
        from rankmath.formula.shares import variation

        return variation(shares)
    gaps = A.sum(A.abs(rows[..., first, :] - rows[..., second, :]), axis=-1) / 2
    return _of_order_one(run, unbox(A.max(gaps, axis=-2)))


def _shares(run: Run, P: Place) -> Any:
    """The attention as balls that know that rows sum to one, in balls; None elsewhere."""
    if run.A.name != "balls":
        return None
    from rankmath.formula.shares import shares_of

    return shares_of(run, P)


def _of_order_one(run: Run, x: Array) -> Scalar:
    """A number made of summands of size one: where it is small, doubles have lost digits, and it says so."""
    return _made_of(run, x, 1.0)


def _made_of(run: Run, x: Array, size: Array | float) -> Scalar:
    """A number made of summands of this size, or less: where it is much smaller, doubles have lost its digits."""
    if run.A.unbounded:
        return x
    found = Signed.of(x)
    return Signed(found.sign, found.log, np.maximum(found.top, np.log(size)))


def _of_one_rank(run: Run, M: tuple[Any, ...]) -> Array:
    """A matrix of the rank of this one. Of tokens X = 1x + R about their mean it is that of x and the rows of R, each
    of length about 1: X^T X = n x^T x + R^T R, and R is not lost beside x where tokens are close. A LayerNorm leaves
    rounding in R that is not small beside a small R."""
    if M[0] != "X" or run.net.norm_kind != "none":
        return _matrix(run, M)
    tokens = run.tokens[M[1]]

    def sized(rows: Array) -> Array:
        most = np.abs(rows).max(axis=(-2, -1), keepdims=True)
        return rows / np.where(most > 0, most, 1)

    return np.concatenate((sized(tokens.center), sized(tokens.residual)), axis=-2)


# A share of attention that is smaller has lost digits, or is 0, in doubles.
_LEAST_SHARE = 1e-300


@fast("top_shares", of="attention")
def top_shares(run: Run, P: Place) -> Scalar:
    A, rows = run.A, _matrix(run, P)
    n = rows.shape[-1]
    if n == 1:
        return Fraction(0)
    # Of all pairs of entries the two largest have the largest value.
    j, k = (np.concatenate(both) for both in zip(np.triu_indices(n, 1), np.tril_indices(n, -1), strict=True))
    pairs = rows[..., j] * (1 - rows[..., j] + rows[..., k])
    return _of_order_one(run, unbox(A.max(A.max(pairs, axis=-1), axis=-2)))


@fast("entropy", of="attention")
def entropy(run: Run, P: Place) -> Scalar:
    A, rows = run.A, _matrix(run, P)
    # 0 log 0 = 0, also where doubles underflow.
    logs = A.where(run.mask.allowed, A.log(A.nonzero(A.where(run.mask.allowed, rows, 1 + 0 * rows))), 0 * rows)
    return _of_order_one(run, -unbox(A.max(A.sum(rows * logs, axis=-1), axis=-2)))


# Below this, exponentials of doubles lose their digits.
_LEAST_CONTRACTION = 1e-290


@fast("contraction")
def contraction(run: Run, k: int) -> Scalar:
    A, r = run.A, run.radius
    layers = range(k * r, min(run.net.layers, k * r + r))
    if run.mask.is_complete and len(layers) == 1:
        gaps = -_difference_from_first(run, layers[0])
    else:
        B = run.attention(layers[0], 0)
        for layer in layers[1:]:
            B = A.matmul(run.attention(layer, 0), B)
        gaps = -_rows_minus_first(A, B)
    found = unbox(A.sum(A.max(gaps, axis=-2), axis=-1))
    if not A.unbounded:
        # Underflow is no contraction to 0: doubles cannot tell, and balls can.
        found = np.where(found > _LEAST_CONTRACTION, found, np.nan)
    return run.number(found)


def _rows_minus_first(A: System, B: Array) -> Array:
    """B_ij − B_0j for stochastic rows.

    Doubles near 1 hide how far they differ: in the column where row 0 is largest the small weights tell, because
    the differences of a row sum to zero.
    """
    difference = B - B[..., :1, :]
    if A.unbounded:
        return difference
    largest = np.arange(B.shape[-1]) == B[..., :1, :].argmax(axis=-1)[..., None]
    return np.where(largest, -np.where(largest, 0.0, difference).sum(axis=-1, keepdims=True), difference)


def _difference_from_first(run: Run, layer: int) -> Array:
    """P_ij − P_0j where every row sees every key, accurate however close the rows are.

    With g_ij = E_ij − E_0j, m = e^g − 1 and m̄_i = Σ_j P_0j m_ij it is P_0j (m_ij − m̄_i)/(1 + m̄_i).
    """
    A = run.A
    rows = run.attention(layer, 0)
    _, E = run.logit_parts(layer, 0)
    q, g = rows[..., :1, :], E - E[..., :1, :]
    if not A.unbounded:
        small = np.abs(g).max(axis=(-2, -1), keepdims=True) < 1
        g = np.where(small, g, 0.0)
    m = A.expm1_of_temporary(g + 0)
    mean = A.sum(q * m, axis=-1)
    close = q * (m - mean) / (1 + mean)
    return close if A.unbounded else np.where(small, close, _rows_minus_first(A, rows))


# -- positions, in doubles ---------------------------------------------------------------------------------


@fast("diagonal", of="attention")
def diagonal(run: Run, P: Place, k: int) -> Scalar:
    if not 0 <= k < run.X.shape[-2]:
        raise InvalidArgument(f"net: diagonal is not defined for its layers; there is no token {k}")
    shares = _shares(run, P)
    return shares[k][k] if shares is not None else _made_of(run, _matrix(run, P)[..., k, k][()], _LEAST_SHARE)


@fast("second_modulus", of="attention")
def second_modulus(run: Run, P: Place) -> Scalar:
    rows = _matrix(run, P)
    if rows.shape[-1] == 1:
        return Fraction(0)
    if (shares := _shares(run, P)) is not None:
        from rankmath.formula.shares import second

        return second(shares, run.mask.allowed, lambda M: largest_modulus(run.text(run.A), M))
    moved = rows[..., 1:, 1:] - rows[..., :1, 1:]
    if run.A.unbounded:
        return largest_modulus(run.text(run.A), moved.tolist())
    found = np.linalg.eigvals(moved)
    return _of_order_one(run, np.abs(found).max(axis=-1))


def _lengths(rows: Array) -> Array:
    return np.sqrt((rows * rows).sum(axis=-1))


def _doubtful(value: Array, log_top: Array) -> Scalar:
    """A number whose digits end where those of e^log_top do."""
    found = Signed.of(value)
    return Signed(found.sign, found.log, np.maximum(found.top, log_top))


def _on_keys(run: Run, S: Array) -> Array:
    """The largest oscillation of a row over the keys that it sees, (...)."""
    sides = [np.where(run.mask.allowed, sign * S, -np.inf).max(axis=-1) for sign in (1, -1)]
    return (sides[0] + sides[1]).max(axis=-1)


@fast("turned_range", of="doubles")
def turned_range(run: Run, P: Place) -> Scalar:
    queries, keys, _ = turned_rows(run.A, run.attending(P[1]), run.reads(P[1]))[P[2]]
    root = math.sqrt(run.attending(P[1]).d_qk)
    (a, a_top), (b, b_top) = ((diameter_of(side, 2), _lengths(side).max(axis=-1)) for side in (queries, keys))
    with np.errstate(divide="ignore"):
        return _doubtful(a * b / root, np.log((a * b_top + b * a_top + FLOAT_MARGIN * a_top * b_top) / root))


@fast("position_range", of="doubles")
def position_range(run: Run, P: Place) -> Scalar:
    position, n = run.attending(P[1]).position, int(run.X.shape[-2])
    if position is None:
        return Fraction(0)
    B = position.block(P[2], 0, n, n)
    with np.errstate(divide="ignore"):
        return _doubtful(_on_keys(run, B - B[:, None, :]).max(), np.log(np.abs(B).max()))


@fast("lengthening", of="doubles")
def lengthening(run: Run, P: Place) -> Scalar:
    a = run.attending(P[1])
    if a.qk_norm is not None or a.b_Q is not None or a.b_K is not None:
        raise InvalidArgument("net: lengthening is not defined for its layers; queries or keys have biases or norms")
    sizes = [norms.spectral(W[P[2]], run.A) for W in (a.query, a.key) if W is not None]
    n = int(run.X.shape[-2])
    turn = 1.0 if a.rotary is None else max(1.0, float((a.rotary.cos[:n] ** 2 + a.rotary.sin[:n] ** 2).max()))
    return run.number(math.prod(sizes) * turn / math.sqrt(a.d_qk))


@fast("consensus_shift", of="doubles")
def consensus_shift(run: Run, P: Place) -> Scalar:
    S, S0 = (run.logits(P[1], array)[P[2]] for array in ("P", "P0"))
    with np.errstate(divide="ignore"):
        return _doubtful(_on_keys(run, S - S0), np.log(np.maximum(abs(S), abs(S0)).max(axis=(-2, -1))))


@fast("first_gap", of="tokens")
def first_gap(run: Run, X: tuple[str, int]) -> Scalar:
    A, R = run.A, run.tokens[X[1]].residual
    if A.unbounded and R.shape[-2] > 1:
        gap = R[..., 1:2, :] - R[..., :1, :]
        return A.sqrt(A.sum(gap * gap, axis=-1))[0, 0]
    return _from_first(run, X, slice(1, 2))


def _from_first(run: Run, X: tuple[str, int], others: slice) -> Scalar:
    """The largest distance of some tokens from the first, in doubles."""
    tokens = run.tokens[X[1]]
    R = tokens.residual
    if R.shape[-2] == 1:
        return Fraction(0)
    found = run.from_log(run.scaled(tokens, _lengths(R[..., others, :] - R[..., :1, :]).max(axis=-1)))
    return Signed(found.sign, found.log, np.maximum(found.log, run.scaled(tokens, _lengths(R).max(axis=-1))))


@fast("across", of="doubles")
def across(run: Run, X: tuple[str, int]) -> Scalar:
    Y = run.plain_tokens(X[1])
    if Y.shape[-2] == 1:
        return Fraction(0)
    first, second = Y[..., 0, :], Y[..., 1, :]
    with np.errstate(divide="ignore", invalid="ignore"):  # a first token 0 has no line
        share = (first * second).sum(axis=-1) / (first * first).sum(axis=-1)
        # The line is known as well as the first token is for its length.
        top = _lengths(Y).max(axis=-1) * (1 + _lengths(second) / _lengths(first))
        return _doubtful(_lengths(second - share[..., None] * first), np.log(top))


@fast("linear_gap", of="doubles")
def linear_gap(run: Run, layer: int) -> Scalar:
    Y, heads = run.reads(layer), range(run.net.heads)
    Y = Y - Y[..., :1, :]
    P, P0 = ([run.attention(layer, h, array) for h in heads] for array in ("P", "P0"))
    W = [run.weight("W", layer, h) for h in heads]
    made = sum((P[h] - P0[h]) @ Y @ W[h] for h in heads)
    added = sum((P[h] + P0[h]) @ abs(Y) @ abs(W[h]) for h in heads)
    with np.errstate(divide="ignore"):
        return _doubtful(_lengths(made).max(axis=-1), np.log(_lengths(added).max(axis=-1)))


def _second_map(run: Run, layer: int, measure: Callable[[Array], Array]) -> Scalar:
    """What is measured of Σ_h P_11 W of a layer, (..., d, d); its digits end where those of the summands do."""
    if run.X.shape[-2] == 1:
        raise InvalidArgument("net: the second token's map is not defined for its layers; there is one token")
    terms = [run.attention(layer, h)[..., 1:2, 1:2] * run.weight("W", layer, h) for h in range(run.net.heads)]
    # Shares below the range of doubles are 0 there.
    sizes = [abs(term) + 1e-300 * abs(run.weight("W", layer, h)) for h, term in enumerate(terms)]
    with np.errstate(divide="ignore"):
        return _doubtful(measure(sum(terms)), np.log(norms.frobenius(sum(sizes), run.A)))


def _before(run: Run, layer: int) -> LayerNorm:
    norm = run.net.sublayers[layer][0].before
    if norm is None:
        raise InvalidArgument("net: it has no LayerNorm before the attention of every layer; one is asked for")
    return norm


def _roots(run: Run, layer: int) -> Array:
    """The root mean squares of the tokens that a layer norms."""
    Y, norm = run.plain_tokens(layer), _before(run, layer)
    return np.sqrt((Y * Y).sum(axis=-1) / Y.shape[-1] + norm.floor)


@fast("root_growth", of="doubles")
def root_growth(run: Run) -> Scalar:
    if run.net.layers == 1:
        raise InvalidArgument("net: root_growth is not defined for its layers; there is one layer")
    roots = np.stack([_roots(run, l).min(axis=-1) for l in range(run.net.layers)])
    slopes = (roots[1:] - roots[0]) / np.arange(1, len(roots)).reshape(-1, *[1] * (roots.ndim - 1))
    return _doubtful(slopes.min(axis=0), np.log(roots.max(axis=0)))


@fast("scaling_values", of="multiplied")
def scaling_values(run: Run) -> Truth:
    norms = [_before(run, l) for l in range(run.net.layers)]
    if any(norm.gain is not None or norm.offset is not None for norm in norms):
        found: Truth = run.by_text("scaling_values", ())
        return found
    W = np.asarray(run.net.W[:, 0])
    scales = W[..., :1, :1]
    return Truth(((scales * np.eye(W.shape[-1]) == W).all(axis=(-2, -1)) & (scales >= 0)[..., 0, 0]).all(axis=0)[()])


@fast("gained_norm", of="doubles")
def gained_norm(run: Run, W: Place) -> Scalar:
    gain, M = _before(run, W[1]).gain, run.weight(*W)
    return run.number(norms.spectral(M if gain is None else gain[:, None] * M, run.A))


# -- sphere LayerNorm --------------------------------------------------------------------------------------


@fast("mu_before")
def mu_before(run: Run, l: int) -> Scalar:
    # The attention of the layer without its LayerNorm, from tokens that keep their digits however close they are.
    (attention,) = (part for part in run.net.sublayers[l] if isinstance(part.map, Attention))
    alone = Network.from_layers([[replace(attention, after=None)]], run.net.tokens)
    made = Run(run.A, alone, run.X)
    made.tokens = list(layers_centred(run.A, alone, run.X, run.tokens[l]))
    return made.from_log(made.log_residual(1, "frobenius"))


@fast("gram_height", of="tokens")
def gram_height(run: Run, X: tuple[str, int]) -> Scalar:
    A, Y = run.A, run.plain_tokens(X[1])
    if not A.unbounded:
        # By singular values of X: those of XXᵀ are their squares, and twice as many digits are lost.
        left, sizes, _ = np.linalg.svd(Y, full_matrices=False)
        full = (sizes[..., -1] > max(Y.shape) * np.finfo(float).eps * sizes[..., 0]) & (Y.shape[-2] <= Y.shape[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.square(left.sum(axis=-2) / sizes).sum(axis=-1)
            return run.number(np.where(full, total, np.nan) ** -0.5)
    gram = A.matmul(Y, A.transpose(Y))
    if A.name == "mpmath":
        import mpmath

        solved = mpmath.lu_solve(mpmath.matrix(gram.tolist()), mpmath.ones(len(gram), 1))
        return 1 / mpmath.sqrt(sum(solved))
    from flint import arb, arb_mat

    n = len(gram)
    try:
        found = arb_mat(n, n, gram.ravel().tolist()).solve(arb_mat(n, 1, [1] * n))
    except ZeroDivisionError:
        return arb.nan()
    return 1 / sum(found.entries(), arb(0)).sqrt()


# -- predicates --------------------------------------------------------------------------------------------


def _exactly(what: str, matrices: Array) -> Bools:
    """Of each matrix, in exact rationals."""
    d = matrices.shape[-1]
    rows = np.ascontiguousarray(matrices, dtype=float).reshape(-1, d * d)
    return np.asarray([_is(what, row.tobytes(), d) for row in rows]).reshape(matrices.shape[:-2])


@lru_cache(maxsize=4096)
def _is(what: str, data: bytes, d: int) -> bool:
    from flint import fmpq, fmpq_mat

    W = fmpq_mat(d, d, [fmpq(*x.as_integer_ratio()) for x in np.frombuffer(data).tolist()])
    if what == "invertible":
        return bool(W.det() != 0)
    if what == "orthogonal":
        return bool(W * W.transpose() == fmpq_mat(d, d, np.eye(d, dtype=int).ravel().tolist()))
    # Definite: the leading minors of the symmetric part, or of what is opposite to it, are positive.
    S = (W + W.transpose()).tolist()
    sign = 1 if S[0][0] > 0 else -1
    return all(fmpq_mat(k, k, [sign * x for row in S[:k] for x in row[:k]]).det() > 0 for k in range(1, d + 1))


@fast("disjoint_blocks")
def disjoint_blocks(run: Run) -> Truth:
    net, X = run.net, np.asarray(run.X)
    bias = None if net.bias is None else np.asarray(net.bias)
    if X.ndim == 2:
        return Truth(_disjoint(np.asarray(net.W), bias, X))
    found = [_disjoint(np.asarray(net.W)[:, :, i], None if bias is None else bias[:, i], x) for i, x in enumerate(X)]
    return Truth(np.asarray(found))


def _disjoint(W: Array, bias: Array | None, X: Array) -> bool:
    written = (W != 0).any(axis=(0, 1, 2))
    if bias is not None:
        written = written | (bias != 0).any(axis=0)
    read = (W != 0).any(axis=(0, 1, 3))
    return not bool((written & read).any()) and not bool(X[:, written].any())


# -- the derivative of the first layer ---------------------------------------------------------------------


def block(run: Run, k: int, i: int) -> Array:
    """The derivative of token i after the first layer in token k of the input, (..., d, d), rows the input.

    With m_i = Σ_j P_ij x_j, q_i = (x_i W_QK + k)/√d_qk and K_i the covariance of the tokens under row i of P it is
    P_ik (W + q_iᵀ(x_k − m_i)W), and for k = i more by W_QK K_i W/√d_qk + skip I; heads add up.
    """
    A, net, X = run.A, run.net, run.plain_tokens(0)
    root = run.root if A.unbounded else np.asarray(run.root)[..., None, None]
    total: Array = 0
    for h in range(net.heads):
        P, W, M = run.attention(0, h), run.weight("W", 0, h), run.weight("W_QK", 0, h)
        row, x = P[..., i : i + 1, :], X[..., i : i + 1, :]
        q = A.matmul(x, M)
        if net.key_bias is not None:
            q = q + A.asarray(net.key_bias[0, h][..., None, :])
        R = X - A.matmul(row, X)
        part = W + A.matmul(A.transpose(q) / root, A.matmul(R[..., k : k + 1, :], W))
        total = total + P[..., i : i + 1, k : k + 1] * part
        if k == i:
            covariance = A.matmul(A.transpose(R), A.transpose(row) * R)
            total = total + A.matmul(A.matmul(M, covariance), W) / root
    if k == i and net.skip:
        total = total + A.asarray(float(net.skip) * np.eye(net.dim))
    return total


def jacobian(run: Run) -> Array:
    """All blocks, (..., nd, nd): rows are entries of the input, columns entries of the output."""
    n = int(run.X.shape[-2])
    rows = [run.A.concat([block(run, k, i) for i in range(n)], axis=-1) for k in range(n)]
    return run.A.concat(rows, axis=-2)


@fast("jacobian_norm", of="bare")
def jacobian_norm(run: Run) -> Scalar:
    return run.number(norms.spectral(jacobian(run), run.A))


@fast("influence", of="bare")
def influence(run: Run, k: int) -> Scalar:
    last = int(run.X.shape[-2]) - 1
    found = norms.spectral(block(run, k, last), run.A)
    return found if run.A.unbounded else _made_of(run, found, _size_of_block(run, k, last))


def _size_of_block(run: Run, k: int, i: int) -> Floats:
    """What the summands of a block are made of in doubles: tokens less their mean have lost digits where it is near."""
    net, X = run.net, to_numpy(run.plain_tokens(0))
    long = np.abs(X).max(axis=(-1, -2)) * X.shape[-1]
    total = np.abs(net.skip) if k == i else 0.0
    for h in range(net.heads):
        row = to_numpy(run.attention(0, h))[..., i, :]
        W, M = (_most(run.weight(name, 0, h)) for name in ("W", "W_QK"))
        bias = 0.0 if net.key_bias is None else _most(net.key_bias[0, h][..., None, :])
        total = total + np.maximum(row[..., k], _LEAST_SHARE) * W * (1 + (M * long + bias) * long)
        if k == i:  # the covariance of the tokens under the row
            gaps = np.abs(X - row[..., None, :] @ X).max(axis=-1) * X.shape[-1]
            spread = (row * gaps).sum(axis=-1)
            total = total + M * W * long * (spread + np.finfo(float).eps * long)
    return np.asarray(np.maximum(total, _LEAST_SHARE))


def _most(W: Array) -> Floats:
    """At least the norm of a matrix, or of each of a batch."""
    sizes = np.abs(to_numpy(W))
    return np.asarray(sizes.max(axis=(-1, -2)) * max(sizes.shape[-2:]))
