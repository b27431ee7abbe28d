"""The rate near consensus: what one layer does to small differences of tokens that nearly agree."""

from __future__ import annotations

import numpy as np

from rankmath.attention.plain import attention_matrices
from rankmath.model.network import Network
from rankmath.model.sublayers import Attention
from rankmath.validation import Array, ArrayLike, InvalidArgument, as_array, as_count


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
