"""All equilibria of a given network that Newton's method finds, stable or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankmath.arithmetic.float64 import to_numpy
from rankmath.attention.backend import Backend, mover
from rankmath.attention.limits import MOST_SAMPLES as MOST_STARTS
from rankmath.attention.limits import random_starts
from rankmath.equilibria.equilibrium import Equilibrium
from rankmath.equilibria.map import Floats, jacobian, newton_from
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import ArrayLike, InvalidArgument, as_array, as_count

# Singular values up to this are taken for zero; Newton's method settles far below it.
_RANK = 1e-9


def find_equilibria(
    net: Network | Equilibrium,
    starts: ArrayLike = 300,
    seed: int = 0,
    *,
    tokens: int | None = None,
    backend: Backend = "numpy",
) -> list[Equilibrium]:
    """Equilibria that Newton's method finds from many starts: no claim that these are all, nor a proof of any.

    Mirror images are listed apart; equilibria that are not isolated are mostly missed.

    Parameters
    ----------
    net : an `Equilibrium`, or a `Network` of one layer and one head with sphere or standard LayerNorm, and no more.
    starts : how many random normalised starts, or the starts themselves, (m, n, d).
    tokens : the number of tokens, where the network does not fix it.
    backend : "cupy" runs Newton's method, all starts at once, on a GPU.

    Examples
    --------
    >>> import rankmath as rm
    >>> stable = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    >>> found = find_equilibria(stable)
    >>> any(np.allclose(one.X, stable.X) for one in found), any(np.allclose(one.X, -stable.X) for one in found)
    (True, True)
    """
    move = mover(backend)
    frame = net if isinstance(net, Equilibrium) else frame_of(net, tokens=tokens)
    shape = frame.X.shape
    if isinstance(starts, (int, np.integer)) or np.ndim(starts) == 0:
        beginnings = random_starts(
            frame.network, as_count("starts", starts, most=MOST_STARTS), seed, tokens=len(frame.X)
        )
    else:
        beginnings = np.asarray(as_array("starts", starts, ndim=3, shape=shape))
    W_V, W, weights, norm = frame.system
    ends, settled = newton_from(move(beginnings), move(W_V), move(W), move(weights), norm)
    found: list[Floats] = []
    for X in to_numpy(ends)[settled]:
        # F is odd: the mirror image rests as well.
        for one in (X, -X):
            if not any(np.abs(one - known).max() < 1e-7 for known in found):
                found.append(one)
    ranks = [int((np.linalg.svd(X, compute_uv=False) > _RANK).sum()) for X in found]
    return [replace(frame, X=X, rank=k, exact=None, design=None) for X, k in zip(found, ranks, strict=True)]


def frame_of(net: Network | Equilibrium, *, tokens: int | None = None) -> Equilibrium:
    """The weights, mask and norm of a network as an `Equilibrium` whose tokens are still to be found (zeros)."""
    if not isinstance(net, Network):
        raise InvalidArgument(f"net: a {type(net).__name__} given; a rankmath.Network or an equilibrium is needed")
    extras = {
        "more than one layer": net.layers > 1,
        "more than one head": net.heads > 1,
        "a stack of networks": net.query.ndim != 4,
        "a skip connection": net.skip != 0,
        "an MLP": any(net.mlp),
        "biases": net.key_bias is not None or net.bias is not None,
        "no LayerNorm": net.norm is None,
    }
    if net.norm is not None:
        extras["column LayerNorm"] = net.norm.kind == "column"
        extras["eps, a gain or an offset"] = (net.norm.kind == "standard" and net.norm.floor > 0) or not (
            net.norm.gain is None and net.norm.offset is None
        )
    given = [what for what, present in extras.items() if present]
    if given or net.norm is None:
        raise InvalidArgument(f"net: {given[0]} given; one layer N(A X W_V) with norm 'sphere' or 'standard' is needed")
    if float(net.d_qk) != int(net.d_qk):
        raise InvalidArgument(f"net: d_qk = {net.d_qk} given; a whole number is needed")
    n = net.tokens if tokens is None else as_count("tokens", tokens)
    if n is None:
        raise InvalidArgument("tokens: not given, and the network does not fix it; pass tokens=n")
    return Equilibrium(
        X=np.zeros((n, net.dim)),
        W_V=np.asarray(net.W[0, 0]),
        W_QK=np.asarray(net.W_QK[0, 0]),
        mask=net.mask_for(n) or Mask.complete(n),
        rank=0,
        norm=net.norm.kind,
        d_qk=int(net.d_qk),
    )


def escaping(equilibrium: Equilibrium) -> tuple[int, int]:
    """How many eigenvalues of the Jacobian lie outside the unit circle, and how many on it to 10⁻⁶.

    >>> import rankmath as rm
    >>> escaping(rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True))
    (0, 0)
    """
    moduli = np.abs(np.linalg.eigvals(jacobian(equilibrium.X, *equilibrium.system)))
    return int((moduli > 1 + 1e-6).sum()), int((np.abs(moduli - 1) <= 1e-6).sum())
