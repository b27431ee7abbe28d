"""Moving a network and its input to a GPU and back: only when asked, never silently."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from types import ModuleType
from typing import Literal, TypeAlias

from array_api_compat import is_array_api_obj

from rankmath.arithmetic.float64 import to_numpy
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import Array, InvalidArgument, as_choice, same_library

Backend = Literal["numpy", "cupy"]
#: A tuple, a dataclass or an array of a network, or what they are made of.
Part: TypeAlias = Array


def on_backend(backend: Backend, net: Network, X: Array) -> tuple[Network, Array]:
    """Copies of the network and the input as arrays of `backend`."""
    move = mover(backend)
    same_library(X=X, W=net.weights)
    return Network(_moved(move, net.sublayers), net.tokens), move(X)


def mover(backend: Backend) -> Callable[[Array], Array]:
    """The function that copies an array there, or leaves it if it is there."""
    as_choice("backend", backend, ("numpy", "cupy"))
    return to_numpy if backend == "numpy" else _cupy().asarray


def _moved(move: Callable[[Array], Array], part: Part) -> Part:
    """`part` of a network with all its arrays moved; masks are read on the host."""
    if is_array_api_obj(part):
        return move(part)
    if isinstance(part, tuple):
        return tuple(_moved(move, one) for one in part)
    if is_dataclass(part) and not isinstance(part, (type, Mask)):
        return replace(part, **{f.name: _moved(move, getattr(part, f.name)) for f in fields(part)})
    return part


def _cupy() -> ModuleType:
    try:
        import cupy
    except ImportError:
        raise InvalidArgument("backend: 'cupy' given, but CuPy is not installed; pip install 'rankmath[gpu]'") from None
    module: ModuleType = cupy
    return module
