"""What the figures show: the two sides of a statement after every layer of one network, as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.network import Network
from rankmath.statements.instance import network_instance
from rankmath.statements.registry import statement


@dataclass(frozen=True)
class Curve:
    """log lhs ≤ log rhs of the statement `key`, natural logarithms, at the depths given."""

    key: str
    depth: np.ndarray[Any, Any]
    log_lhs: np.ndarray[Any, Any]
    log_rhs: np.ndarray[Any, Any]


def first_layers(net: Network, count: int) -> Network:
    """The network of the first `count` layers.

    Examples
    --------
    >>> first_layers(Network.random(tokens=3, dim=2, layers=5), 2).layers
    2
    """
    names = ("query", "key", "value", "output", "key_bias", "bias", "mlp")
    return replace(net, **{name: _head(getattr(net, name), count) for name in names})


def _head(stack: Any, count: int) -> Any:
    return None if stack is None else stack[:count]


def sides_by_depth(key: str, net: Network, X: Any, depths: Iterable[int], *, side: int = 0) -> Curve:
    """Both sides of one inequality of a statement on the first l layers, for each depth l; in float64.

    Examples
    --------
    >>> net = Network.random(tokens=4, dim=3, layers=3)
    >>> curve = sides_by_depth("own:diameter", net, net.random_input(seed=1), (1, 2, 3))
    >>> bool((curve.log_lhs < curve.log_rhs).all())
    True
    """
    evaluate = statement(key).evaluate
    if evaluate is None:
        raise ValueError(f"key: {key!r} given; it has no inequality to follow through the layers")
    depth = np.asarray(list(depths))
    sides = []
    for l in depth:
        instance = network_instance(first_layers(net, int(l)), X)
        sides.append(evaluate(Float64(np.zeros(1)), instance).sides[side])
    lhs, rhs = (np.asarray([float(getattr(s, name)) for s in sides]) for name in ("log_lhs", "log_rhs"))
    return Curve(key, depth, lhs, rhs)


def log_minus_log(logs: Any) -> np.ndarray[Any, Any]:
    """log(−log x) from log x: a line of slope log 3 where x decays with order three; nan where x ≥ 1.

    Examples
    --------
    >>> log_minus_log([-1.0, 0.5]).tolist()
    [0.0, nan]
    """
    logs = np.asarray(logs, dtype=float)
    return np.where(logs < 0, np.log(np.where(logs < 0, -logs, 1.0)), np.nan)


def collapsing_network() -> tuple[Network, Any]:
    """Attention alone, sixteen tokens, two heads, at a scale at which every bound decays."""
    net = Network.random(tokens=16, dim=8, heads=2, layers=6, seed=0)
    return net, net.random_input(seed=1, scale=0.004)


def antipodal_skip(layers: int) -> tuple[Network, Any]:
    """Two tokens ±1/2 with skips, W = −1 and W_QK = 1: as fast as skips allow, 1/√L."""
    ones = np.ones((layers, 1, 1, 1))
    return Network.from_arrays(ones, -ones, skip=True), np.asarray([[0.5], [-0.5]])


def random_skip(layers: int) -> tuple[Network, Any]:
    """Eight tokens, two heads, skips, and value maps small enough for own:skip-lower."""
    net = Network.random(tokens=8, dim=4, heads=2, layers=layers, seed=0, scale=0.4, skip=True)
    return net, net.random_input(seed=1, scale=0.2)
