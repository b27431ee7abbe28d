"""A definition over doubles as a Python function, made of its text, for all instances of a batch at once.

The batch is the last axis of every array, so that an entry is one number for each instance.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from rankmath.formula.rational import at, compiled
from rankmath.validation import Array


def _array(value: Any) -> Array:
    """Numbers in lists as an array."""
    return np.stack(np.broadcast_arrays(*map(_array, value))) if isinstance(value, list) else np.asarray(value, float)


def _matrices(value: Any) -> Array:
    """Matrices as NumPy has them, the batch first."""
    return np.moveaxis(_array(value), -1, 0)


def _softmax(logits: Any) -> Array:
    rows = _array(logits)
    e = np.exp(rows - rows.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-2, keepdims=True)


def _lambert(x: Any) -> Array:
    from scipy.special import lambertw

    return np.asarray(lambertw(x).real)


def _picked(pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *values: reduce(pick, values[0] if len(values) == 1 else values)


#: What a text leaves to its reader.
ALGEBRA: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "log", "sqrt", "tanh")},
    "@": lambda a, b: np.einsum("ijz,jkz->ikz", _array(a), _array(b)),
    "T": lambda M: np.swapaxes(_array(M), 0, 1),
    "identity": lambda n: np.eye(int(n)),
    "softmax": _softmax,
    "spectral": lambda M: np.linalg.svdvals(_matrices(M))[..., 0],
    "moduli": lambda M: np.sort(np.abs(np.linalg.eigvals(_matrices(M))), axis=-1)[..., ::-1].T,
    "det": lambda M: np.linalg.det(_matrices(M)),
    "ordered": lambda v: np.sort(_array(v), axis=0),
    "lambert": _lambert,
}
_PLAIN: dict[str, Any] = {
    **{f.__name__: f for f in (abs, at, len, sum)},
    "max": _picked(np.maximum),
    "min": _picked(np.minimum),
    "prod": math.prod,
    "divided": operator.truediv,
    "raised": operator.pow,
    "range": lambda *ends: range(*map(int, ends)),
}


@lru_cache(maxsize=1024)
def function(text: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """The definition as a function of what it leaves to its reader, n and its arguments.

    >>> from rankmath.formula.rational import Own
    >>> norm = function("sqrt(sum(v[i]**2 for i in range(len(v))))", ("v",))
    >>> norm(Own(ALGEBRA), None, np.array([[3.0, 1.0], [4.0, 0.0]]))
    array([5., 1.])
    """
    return compiled(text, names, _PLAIN)
