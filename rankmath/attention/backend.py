"""Moving a network and its input to a GPU and back: only when asked, never silently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from rankmath.arithmetic.float64 import to_numpy
from rankmath.model.network import LayerNorm, Network
from rankmath.validation import Array, InvalidArgument, as_choice, same_library

Backend = Literal["numpy", "cupy"]

_WEIGHTS = ("query", "key", "value", "output", "key_bias", "bias")


def on_backend(backend: Backend, net: Network, X: Array) -> tuple[Network, Array]:
    """Copies of the network and the input as arrays of `backend`."""
    move = mover(backend)
    same_library(X=X, W=net.value)
    norm = net.norm
    if norm is not None:
        norm = LayerNorm(norm.kind, norm.eps, *(_moved(move, a) for a in (norm.gain, norm.offset)))
    maps = tuple(
        f if f is None else replace(f, **{name: _moved(move, getattr(f, name)) for name in _MLP_ARRAYS})
        for f in net.mlp
    )
    arrays: dict[str, Any] = {name: _moved(move, getattr(net, name)) for name in _WEIGHTS}
    return replace(net, **arrays, norm=norm, mlp=maps), move(X)


def mover(backend: Backend) -> Callable[[Array], Array]:
    """The function that copies an array there, or leaves it if it is there."""
    as_choice("backend", backend, ("numpy", "cupy"))
    return to_numpy if backend == "numpy" else _cupy().asarray


_MLP_ARRAYS = ("W_in", "W_out", "b_in", "b_out")


def _moved(move: Any, array: Array) -> Array:
    return None if array is None else move(array)


def _cupy() -> Any:
    try:
        import cupy
    except ImportError:
        raise InvalidArgument(
            "backend: 'cupy' given, but CuPy is not installed; pip install 'rankmath[gpu]'"
        ) from None
    return cupy
