"""From a counterexample to the smallest one: fewer tokens, layers, heads and dimensions, no biases, short numbers.

Every step is kept only if balls still say that the claim is violated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import Floats, InvalidArgument, NumpyArray
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

# Bits that balls may take for one step: a step that needs more is not taken.
_BITS = 512


def shrinking(
    statement: Statement,
    instance: NetworkInstance,
    *,
    seconds: float = 20.0,
    hurried: bool = False,
    kept: Callable[[NetworkInstance, Verdict], bool] = lambda instance, verdict: True,
) -> Iterator[tuple[NetworkInstance, Verdict]]:
    """The instance, then smaller and smaller ones, each with the verdict that it violates the claim; where it is
    `hurried`, numbers are made short before anything is left out. `kept` may ask more of a smaller one.

    >>> net = Network.random(tokens=3, dim=2, seed=1)
    >>> claim = Statement("mine:none", "diameter(X[0], 2) <= 0")
    >>> *_, (small, verdict) = shrinking(claim, NetworkInstance(net, net.random_input(seed=2)))
    >>> small.X.shape, verdict.outcome.value
    ((2, 1), 'VIOLATED')
    """
    until = time.perf_counter() + seconds
    # What was found may need more bits than a step gets.
    verdict = judge(statement, instance, "balls")
    if verdict.outcome != Outcome.VIOLATED:
        raise InvalidArgument(f"instance: {verdict.outcome} given; an instance that violates the claim is needed")
    again, alike = True, _all_alike(instance)
    while again:
        yield replace(instance, label="shrunk"), verdict
        again = False
        for smaller in _smaller(instance, hurried):
            if time.perf_counter() > until:
                break
            if _all_alike(smaller) and not alike:
                continue  # tokens that differ say more
            try:
                found = judge(statement, smaller, "balls", _BITS)
            except (ValueError, IndexError, KeyError, ArithmeticError):
                continue  # the claim does not speak of so small a network
            if found.outcome == Outcome.VIOLATED and found.certified and kept(smaller, found):
                instance, verdict, again = smaller, found, True
                break


def _all_alike(instance: NetworkInstance) -> bool:
    return len(instance.X) > 1 and bool((instance.X[0] == instance.X).all())


def _smaller(instance: NetworkInstance, hurried: bool = False) -> Iterator[NetworkInstance]:
    """Simpler instances, the greatest simplification first; if `hurried`, short numbers first."""
    net, X = instance.net, np.asarray(instance.X)
    n, d = X.shape
    W_QK, W = np.asarray(net.W_QK), np.asarray(net.W)
    L, H = W.shape[:2]
    named = isinstance(net.mask, str)

    attention = net.attentions[0]
    grouped = attention.kv_heads is not None
    ones = np.broadcast_to(np.eye(d), W.shape)  # the keys and values that groups of heads share
    plain = net.is_one_line and not any(net.activations[l] != "none" for l in range(L))

    def made(**changes: Any) -> NetworkInstance:
        tokens = changes.pop("X", X)
        if not net.is_one_line:  # no layer and no dimension of it is dropped
            arrays = {"query": changes.pop("W_QK", W_QK), "value": changes.pop("W", W), "key": None, **changes}
            if grouped or attention.qk_norm is not None:
                shared = ones[:, : arrays["query"].shape[1]]
                arrays |= {"key": shared} | ({"value": shared, "output": arrays["value"]} if grouped else {})
            return NetworkInstance(net.replace(**{"output": None, **arrays}), tokens, instance.label)
        same = {name: getattr(net, name) for name in ("d_qk", "key_bias", "bias", "skip", "norm", "mask")}
        parts: dict[str, Any] = {"W_QK": W_QK, "W": W, "mlp": net.mlp if any(net.mlp) else None, **same}
        return NetworkInstance(Network.from_arrays(**(parts | changes)), tokens, instance.label)

    arrays = {"X": X, "W_QK": W_QK, "W": W}
    for name in ("key_bias", "bias"):
        if getattr(net, name) is not None:
            arrays[name] = np.asarray(getattr(net, name))

    def rounded(alone: bool) -> Iterator[NetworkInstance]:
        for bits in (1, 2, 3, 4, 6, 8, 11, 15, 20, 26):
            short = {name: _short(array, bits) for name, array in arrays.items()}
            if _simpler(short, arrays):
                yield made(**short)
                for name, value in short.items() if alone else ():
                    if _simpler({name: value}, arrays):
                        yield made(**{name: value})

    if hurried:
        yield from rounded(alone=False)
    for l in range(L if L > 1 and plain else 0):
        keep = [k for k in range(L) if k != l]
        yield made(W_QK=W_QK[keep], W=W[keep], key_bias=_at(net.key_bias, keep), bias=_at(net.bias, keep))
    for h in range(H if H > 1 else 0):
        keep = [k for k in range(H) if k != h]
        biases = None if net.key_bias is None else np.asarray(net.key_bias)[:, keep]
        yield made(W_QK=W_QK[:, keep], W=W[:, keep], key_bias=biases)
    for i in range(n if n > 2 else 0):
        keep = [k for k in range(n) if k != i]
        mask = net.mask
        if isinstance(mask, Mask):
            allowed = mask.allowed[np.ix_(keep, keep)]
            if not allowed.any(axis=1).all():
                continue
            mask = Mask(allowed)
        if named or mask is None or isinstance(mask, Mask):
            yield made(X=X[keep], mask=mask)
    # In dimension 1 LayerNorm leaves nothing but signs, and the checker asks for more.
    for k in range(d if plain and d > (1 if net.norm is None else 2) else 0):
        keep = [j for j in range(d) if j != k]
        square = np.ix_(range(L), range(H), keep, keep)
        biases = None if net.key_bias is None else np.asarray(net.key_bias)[..., keep]
        bias = None if net.bias is None else np.asarray(net.bias)[..., keep]
        d_qk = net.d_qk if net.d_qk != d else float(d - 1)
        norm = net.norm
        if norm is not None:
            norm = replace(norm, gain=_at(norm.gain, keep), offset=_at(norm.offset, keep))
        yield made(X=X[:, keep], W_QK=W_QK[square], W=W[square], key_bias=biases, bias=bias, d_qk=d_qk, norm=norm)
    if net.bias is not None:
        yield made(bias=None)
    if net.key_bias is not None:
        yield made(key_bias=None)
    if net.d_qk != 1:
        yield made(d_qk=1.0)
    yield from rounded(alone=True)
    yield from (made(**{name: value}) for name, array in arrays.items() for value in _entrywise(array))


def rescaled(instance: NetworkInstance) -> Iterator[NetworkInstance]:
    """The instance with tokens or weights at other scales, also such that the attention stays the same."""
    net, X = instance.net, np.asarray(instance.X)
    W_QK, W = np.asarray(net.W_QK), np.asarray(net.W)
    for factor in (2.0**-power for power in range(1, 11)):
        for tokens, query, value in (
            (X * factor, W_QK, W),
            (X, W_QK * factor, W),
            (X * factor, W_QK / factor**2, W),
            (X, W_QK, W * factor),
        ):
            scaled = net.replace(key=None, output=None, query=query, value=value)
            yield NetworkInstance(scaled, tokens, "rescaled")


def _at(array: NumpyArray | None, keep: list[int]) -> NumpyArray | None:
    return None if array is None else np.asarray(array)[keep]


def _short(array: Floats, bits: int) -> Floats:
    """Every number to so many significant bits of the largest one; whole numbers where that is exact enough."""
    largest = float(np.abs(array).max(initial=0.0))
    if largest == 0.0:
        return array
    unit = 2.0 ** (math.floor(math.log2(largest)) - bits + 1)
    return np.asarray(np.round(array / unit) * unit)


def _cost(array: Floats) -> int:
    """How long the numbers are: significant bits, and the exponent of what is not whole or not small."""
    total = 0
    for value in array.ravel().tolist():
        if value == 0.0:
            continue
        mantissa, exponent = math.frexp(abs(value))
        bits = len(bin(int(mantissa * 2**53)).rstrip("0")) - 2
        total += 2 + bits + (abs(exponent - bits) if exponent < bits else max(0, exponent - 1))
    return total


def _simpler(new: dict[str, Floats], old: dict[str, Floats]) -> bool:
    return sum(map(_cost, new.values())) < sum(_cost(old[name]) for name in new)


def _entrywise(array: Floats) -> Iterator[Floats]:
    """One entry replaced by a shorter number: zero, one, a power of two, a whole number, fewer bits."""
    for place, value in np.ndenumerate(array):
        if value == 0.0:
            continue
        sign = math.copysign(1.0, value)
        near = 2.0 ** round(math.log2(abs(value)))
        mantissa, exponent = math.frexp(value)
        fewer = (math.ldexp(round(mantissa * 2**bits) / 2**bits, exponent) for bits in (1, 2, 3, 5, 8, 12))
        for candidate in (0.0, sign, sign * near, float(round(value)), *fewer):
            moved = np.array(array)
            moved[place] = candidate
            if _cost(moved) < _cost(array):
                yield moved
