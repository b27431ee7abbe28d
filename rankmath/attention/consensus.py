"""The rate near consensus: what one layer does to small differences of tokens that nearly agree."""

from __future__ import annotations

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.plain import attention_matrices, check_input
from rankmath.attention.trace import layers_centred
from rankmath.model.network import Network
from rankmath.model.sublayers import Attention
from rankmath.validation import Array, ArrayLike, InvalidArgument, as_array, as_count

# What is smaller than this in the span of the residuals may be rounding.
_NOISE = 1e-10
# Rounding splits a multiple eigenvalue by about so much; the mean of the parts is right to rounding.
_SPLIT = 1e-7
# Tokens that have come together by less than this are not near consensus.
_NEAR = 1e-3


def consensus_spectrum(net: Network, x: ArrayLike, *, tokens: int | None = None, layer: int = 0) -> Array:
    """The eigenvalues, those of the largest modulus first, of R ↦ Σ_h P_h R W_h on differences of tokens.

    P_h is the attention of a layer where all tokens equal x. Where the layer is repeated, keeps consensus
    (Σ_h W_h = 1, no bias) and the largest modulus ρ is between 0 and 1, tokens near consensus come together
    exponentially with the factor ρ, from almost every start (proofs/own_mask_rate.tex). ρ = 0 without positions
    where all tokens see the same keys: collapse is then faster than exponential.

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


def consensus_factor(net: Network, X: ArrayLike, *, last: int = 24) -> float:
    """The factor a layer by which the residual falls in the end of a run, measured; it needs no eigenvalue of P₀.

    The last residuals of a layer that is repeated follow a linear map; the largest modulus of an eigenvalue of the
    map that fits them (on the space that they span, up to rounding) is the factor, also where a pair of complex
    eigenvalues leads, so that the residual's norm turns, or where several are near to one another. A run that has
    not come near consensus, on a plateau, say, has no such factor yet and is refused. A leading eigenvalue that is
    defective, as under a causal window with relative positions, is known to five digits or so.

    >>> net = Network.from_arrays(np.zeros((40, 1, 2, 2)), np.tile(np.eye(2), (40, 1, 1, 1)), mask="causal")
    >>> round(consensus_factor(net, [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]), 12)
    0.5
    """
    tokens = check_input(net, as_array("X", X, ndim=2))
    count = as_count("last", last, least=2, most=net.layers)
    A = Float64(tokens)
    run = list(layers_centred(A, net, tokens))
    logs = np.array([np.asarray(one.log_residual.to_float()).item() for one in run])
    if logs[-count - 1] > logs[0] + np.log(_NEAR):
        left = np.exp(logs[-count - 1] - logs[0])
        raise InvalidArgument(
            f"X: {left:.2g} of the residual is left {count} layers before the end; less than {_NEAR:g} is needed: "
            "a deeper net, or another start"
        )
    run, logs = run[-count - 1 :], logs[-count - 1 :]
    # Each residual in a unit that falls evenly, so that none underflows.
    step = (logs[-1] - logs[0]) / count
    units = np.exp(logs - logs[0] - step * np.arange(count + 1))
    rows = np.array([unit * np.asarray(one.residual).ravel() for unit, one in zip(units, run, strict=True)])
    U, sizes, V = np.linalg.svd(rows[:-1].T, full_matrices=False)
    kept = sizes > _NOISE * sizes[0]
    U, sizes, V = U[:, kept], sizes[kept], V[kept]
    values = np.linalg.eigvals(U.T @ rows[1:].T @ V.T / sizes)
    top = values[abs(values).argmax()]
    return float(abs(values[abs(values - top) <= _SPLIT * abs(top)].mean()) * np.exp(step))
