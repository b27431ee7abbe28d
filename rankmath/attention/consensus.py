"""The rate near consensus: what one layer does to small differences of tokens that nearly agree."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.plain import attention_matrices, check_input
from rankmath.attention.tokens import Tokens
from rankmath.attention.trace import layers_centred
from rankmath.linalg.exact_residuals import log_residual
from rankmath.model.network import Network
from rankmath.model.sublayers import Attention
from rankmath.validation import Array, ArrayLike, InvalidArgument, Number, as_array, as_choice, as_count

# What is smaller than this in the span of the residuals may be rounding.
_NOISE = 1e-10
# Rounding splits a multiple eigenvalue by about so much; the mean of the parts is right to rounding.
_SPLIT = 1e-7
# Tokens that have come together by less than this are not near consensus.
_NEAR = 1e-3
# Two stretches of a run whose factors differ by less than this, relatively, agree.
_AGREED = 1e-13
#: Two stretches in balls must agree this far, of the factor; further apart the run is too short to tell.
_TOLD = 1e-10


#: Steps of a logarithm that differ by more are no steps of one factor, nor of several near to one another.
_STEADY = 30.0


def consensus_spectrum(net: Network, x: ArrayLike, *, tokens: int | None = None, layer: int = 0) -> Array:
    """The eigenvalues, those of the largest modulus first, of R ↦ Σ_h P_h R W_h on differences of tokens.

    P_h is the attention of a layer where all tokens equal x. Where the layer is repeated, keeps consensus
    (Σ_h W_h = 1, no bias) and the largest modulus ρ is between 0 and 1, tokens that start near consensus and come
    together at x do so exponentially with the factor ρ, from almost every start (proofs/own_mask_rate.tex). ρ = 0
    without positions where all tokens see the same keys: collapse is then faster than exponential.

    Parameters
    ----------
    net : attention alone: one attention a layer, without skip connections, maps and norms.
    x : the common token (d).
    tokens : their number, where the network does not fix it.
    layer : which layer.

    Examples
    --------
    >>> net = Network.from_arrays(np.zeros((1, 1, 2, 2)), np.eye(2)[None, None], mask="causal")
    >>> consensus_spectrum(net, [1.0, 0.0], tokens=3).real.round(12).tolist()
    [0.5, 0.5, 0.333333333333, 0.333333333333]
    """
    row = as_array("x", x, ndim=1)
    count = as_count("tokens", net.tokens if tokens is None else tokens, least=2)
    one = as_count("layer", layer, least=0, most=net.layers - 1)
    maps = [f for sublayer in net.sublayers[one] for f in sublayer.maps]
    bare = all(not s.skip and s.before is s.after is s.behind is None for s in net.sublayers[one])
    if not bare or len(maps) != 1 or not isinstance(maps[0], Attention):
        raise InvalidArgument(
            "net: a layer with skip connections, other maps or norms given; attention alone is needed"
        )
    P = attention_matrices(Network.from_layers([net.sublayers[one]]), np.tile(row, (count, 1)))[0]
    W = maps[0].value if maps[0].output is None else maps[0].value @ maps[0].output
    # About the first token: R_0 = 0, and the new differences are those of P's rows from its first.
    whole = sum(np.kron(step, head.T) for step, head in zip((P - P[:, :1])[:, 1:, 1:], W, strict=True))
    found = np.linalg.eigvals(whole).astype(complex)
    return found[np.argsort(-np.abs(found), kind="stable")]


def consensus_factor(
    net: Network,
    X: ArrayLike,
    *,
    last: int | None = None,
    arithmetic: Literal["float64", "balls"] = "float64",
    bits: int | None = None,
) -> Number:
    """The factor a layer by which the residual falls in the end of a run, measured; it needs no eigenvalue of P₀.

    The last residuals of a layer that is repeated follow a linear map; the largest modulus of its eigenvalues that
    the run shows is the factor, also where a pair of complex eigenvalues leads, so that the residual's norm turns,
    or where several are near to one another. A run that has not come near consensus, on a plateau, say, has no such
    factor yet and is refused.

    Parameters
    ----------
    net, X : the run; every layer the same.
    last : so many layers at the end are looked at: 24, or all if there are fewer; in balls 48, or half of all.
    arithmetic : "float64" fits the map on the space that the residuals span, up to rounding. A leading eigenvalue
        that is defective, as under a causal window with relative positions, it knows to a few digits, two with six
        tokens. "balls" fits a recurrence to one coordinate of the residual over two stretches of the last layers,
        encloses the largest modulus of its roots over each, and returns the smallest ball around both, of any order
        of the recurrence: an arb, which holds two measurements and is no proof about the limit. Where they do not
        agree to ten digits the run is too short and is refused.
    bits : of balls; 256 + 12 a layer unless given.

    >>> net = Network.from_arrays(np.zeros((40, 1, 2, 2)), np.tile(np.eye(2), (40, 1, 1, 1)), mask="causal")
    >>> round(consensus_factor(net, [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]), 12)
    0.5
    >>> found = consensus_factor(net, [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]], arithmetic="balls")
    >>> bool(abs(found - 0.5) < 1e-15)
    True
    """
    tokens = check_input(net, as_array("X", X, ndim=2))
    as_choice("arithmetic", arithmetic, ("float64", "balls"))
    if arithmetic == "float64":
        if bits is not None:
            raise InvalidArgument(f"bits: {bits} given with arithmetic 'float64'; only 'balls' takes it")
        count = as_count("last", min(24, net.layers) if last is None else last, least=2, most=net.layers)
        run = list(layers_centred(Float64(tokens), net, tokens))
        logs = np.array([np.asarray(one.log_residual.to_float()).item() for one in run])
        if not np.isfinite(logs).all():
            equal = int(np.flatnonzero(~np.isfinite(logs))[0])
            raise InvalidArgument(
                f"X: the tokens are equal, or nearer than doubles tell, after layer {equal}: no factor"
            )
        _near_consensus(logs[0], logs[-count - 1], count)
        if np.ptp(np.diff(logs[-count - 1 :])) > _STEADY:
            raise InvalidArgument(f"X: the last {count} layers do not fall by one factor, but ever faster or by jumps")
        return _fitted_map(run[-count - 1 :], logs[-count - 1 :])
    from rankmath.arithmetic.ball_matrices import MatrixBalls
    from rankmath.arithmetic.balls import precision

    count = as_count("last", min(48, max(3, net.layers // 2)) if last is None else last, least=3, most=net.layers)
    with precision(256 + 12 * net.layers if bits is None else as_count("bits", bits, least=2, most=2**22)):
        A = MatrixBalls()
        rows = [A.array(one.residual) for one in layers_centred(A, net, tokens)]
        first, before = (float(log_residual(A.on_arrays, rows[place], "frobenius")) for place in (0, -count - 1))
        _near_consensus(first, before, count)
        weights = np.random.default_rng(0).integers(-99, 100, tokens.size)
        return _leading_root([(row.ravel() * weights).sum() for row in rows[-count:]])


def _near_consensus(first: float, then: float, count: int) -> None:
    if then > first + np.log(_NEAR):
        raise InvalidArgument(
            f"X: {np.exp(then - first):.2g} of the residual is left {count} layers before the end; less than "
            f"{_NEAR:g} is needed: a deeper net, or another start"
        )


def _fitted_map(run: list[Tokens], logs: Array) -> float:
    """The largest modulus of an eigenvalue of the linear map that fits residuals, each made of the one before."""
    # Each residual in a unit that falls evenly, so that none underflows.
    step = (logs[-1] - logs[0]) / (len(run) - 1)
    units = np.exp(logs - logs[0] - step * np.arange(len(run)))
    rows = np.array([unit * np.asarray(one.residual).ravel() for unit, one in zip(units, run, strict=True)])
    U, sizes, V = np.linalg.svd(rows[:-1].T, full_matrices=False)
    kept = sizes > _NOISE * sizes[0]
    U, sizes, V = U[:, kept], sizes[kept], V[kept]
    values = np.linalg.eigvals(U.T @ rows[1:].T @ V.T / sizes)
    top = values[abs(values).argmax()]
    return float(abs(values[abs(values - top) <= _SPLIT * abs(top)].mean()) * np.exp(step))


def _leading_root(s: list[Number]) -> Number:
    """The largest modulus of the roots of a recurrence that s obeys at its beginning and at its end."""
    best = None
    for order in range(1, len(s) // 3 + 1):
        ends = [_roots(part, order) for part in (s[: 2 * order], s[-2 * order :])]
        if not all(ends):
            continue
        both = _around(ends, 0.0)
        # A multiple root is found as roots around it, as far from it as the stretches differ. Their mean is far nearer.
        of_means = _around(ends, 10 * float(both.rad()))
        both = of_means if of_means.rad() < both.rad() ** 2 else both
        if best is None or both.rad() < best.rad():
            best = both
        if best.rad() <= _AGREED * abs(best):
            break
    if best is None:
        raise InvalidArgument("X: the residuals at the end of the run obey no recurrence in balls; pass more bits")
    if best.rad() > _TOLD * abs(best):
        raise InvalidArgument(
            f"X: two stretches at the end of the run give factors that differ by {float(best.rad()):.1e}, and "
            f"less than {_TOLD:g} of the factor is needed: a deeper net, more bits, or another start"
        )
    return best


def _around(ends: list[list[Number]], near: float) -> Number:
    """The moduli of the means of the roots that are this near to the largest one, in one ball."""
    means = [[x for x in roots if not abs(x - roots[0]) > near] for roots in ends]
    one, other = (abs(sum(roots, 0 * roots[0]) / len(roots)) for roots in means)
    return one.union(other)


def _roots(s: list[Number], order: int) -> list[Number]:
    """Enclosures of the roots of the recurrence of this order through 2·order numbers, the largest first."""
    from flint import acb_mat, arb_mat, ctx

    from rankmath.arithmetic.balls import precision

    try:
        last = arb_mat([s[i : i + order] for i in range(order)]).solve(arb_mat([[x] for x in s[order:]])).entries()
    except ZeroDivisionError:  # the numbers obey a shorter recurrence, up to what is known of them
        return []
    above = [[int(j == i + 1) for j in range(order)] for i in range(order - 1)]
    for bits in (512, int(ctx.prec)):  # a few bits are faster; roots around a multiple one may need all
        try:
            with precision(min(bits, int(ctx.prec))):
                found = acb_mat([*above, last]).eig(multiple=True)
        except ValueError:
            continue
        return sorted(found, key=lambda x: -float(abs(x).mid()))
    return []
