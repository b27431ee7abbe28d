"""Hidden states by the definition, layer by layer: what frameworks return, and what peers are compared with."""

from __future__ import annotations

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.backend import Backend, on_backend
from rankmath.attention.plain import apply_sublayer, check_input, in_range
from rankmath.model.network import Network
from rankmath.validation import Array, ArrayLike


def hidden_states(net: Network, X: ArrayLike, *, backend: Backend | None = None) -> list[Array]:
    """X^0, X^1, …, X^L, each (..., n, d); the last one is `forward`'s.

    >>> net = Network.random(tokens=4, dim=3, layers=2, seed=0)
    >>> [X.shape for X in hidden_states(net, net.random_input(seed=1))]
    [(4, 3), (4, 3), (4, 3)]
    """
    X = check_input(net, X)
    if backend is not None:
        net, X = on_backend(backend, net, X)
    A, masks, states = Float64(X), net.masks_for(int(X.shape[-2])), [X]
    for layer in net.sublayers:
        for sublayer in layer:
            X = apply_sublayer(A, sublayer, X, masks)
        states.append(in_range(A, X))
    return states
