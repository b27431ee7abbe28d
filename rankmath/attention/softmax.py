"""The softmax of the plain pass, for matrices of logits."""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.protocol import System
from rankmath.linalg.masks import Mask, MaskLike
from rankmath.validation import Array, InvalidArgument, as_array, same_library


def softmax(A: System, logits: Array, divisor: float = 1.0) -> Array:
    """e^{a_ij}/Σ_k e^{a_ik} of a = logits/divisor, relative to a row's largest; nobody else holds the logits."""
    if isinstance(A, Float64) and A.on_gpu:
        from rankmath.kernels.cuda import row_softmax as in_one_pass

        return in_one_pass(logits, divisor)
    if divisor != 1.0:
        logits = A.quotient_of_temporary(logits, divisor)
    weights = A.exp_of_temporary(A.difference_of_temporary(logits, A.max(logits, axis=-1)))
    return A.quotient_of_temporary(weights, A.sum(weights, axis=-1))


def row_softmax(logits: Array, mask: Mask | Array | None = None) -> Array:
    """P_ij = e^{A_ij} / Σ_k e^{A_ik}, the sum over the k that row i may see; P_ij = 0 elsewhere.

    Stable for every finite logit: a row enters only through A_ij − max_k A_ik, and that difference
    cannot overflow because it is formed at half scale.

    Parameters
    ----------
    logits : A of shape (..., n, m), an array of any array-API library.
    mask : a `Mask`, or a boolean array that broadcasts against `logits`; True where i attends to j.

    Returns
    -------
    P of the same shape and library, row-stochastic up to rounding.

    Examples
    --------
    >>> row_softmax([[0.0, 0.0], [1e308, -1e308]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    >>> row_softmax([[5.0, 7.0], [1.0, 1.0]], mask=Mask.causal(2))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    logits = as_array("logits", logits, min_ndim=2)
    xp = array_namespace(logits)
    if mask is not None:
        logits = xp.where(_allowed(logits, mask), logits, xp.full_like(logits, -xp.inf))
    half = logits / 2
    # e^{-800} is zero in double precision, so the clip changes nothing but spares us inf − inf and overflow.
    return softmax(Float64(logits), 2 * xp.clip(half - xp.max(half, axis=-1, keepdims=True), min=-400.0))


def _allowed(logits: Array, mask: MaskLike) -> Array:
    """The boolean array of `mask`, checked to broadcast against `logits` and to leave no row empty."""
    if isinstance(mask, Mask):
        allowed = array_namespace(logits).asarray(mask.allowed, device=device(logits))
    else:
        allowed = mask if is_array_api_obj(mask) else np.asarray(mask)
        if isinstance(allowed, np.ndarray) and allowed.dtype.kind != "b":
            raise InvalidArgument(f"mask: dtype {allowed.dtype} given; a boolean array or a Mask is needed")
        same_library(logits=logits, mask=allowed)
    xp = array_namespace(logits)
    if allowed.dtype != xp.bool:
        raise InvalidArgument(f"mask: dtype {allowed.dtype} given; a boolean array or a Mask is needed")
    given, wanted = tuple(allowed.shape), tuple(logits.shape)
    try:
        allowed = xp.broadcast_to(allowed, wanted)
    except ValueError:
        raise InvalidArgument(f"mask: shape {given} given; it must broadcast to the logits' {wanted}") from None
    empty = ~xp.any(allowed, axis=-1)
    if bool(xp.any(empty)):
        row = tuple(int(axis[0]) for axis in xp.nonzero(empty))
        raise InvalidArgument(f"mask: row {row} allows no entry; every row needs at least one neighbour")
    return allowed
