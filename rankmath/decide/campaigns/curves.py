"""What the figures show, as numbers: the sides of a statement by depth, sums of paths, rates under masks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.paths import path_counts, path_sums
from rankmath.attention.trace import trace
from rankmath.claims import statement
from rankmath.claims.wu2024_1 import random_graph
from rankmath.formula.evaluate import sides, value
from rankmath.formula.numbers import Signed
from rankmath.formula.reader import read_term
from rankmath.formula.run import Run
from rankmath.linalg.masks import Mask
from rankmath.model.network import Network
from rankmath.validation import ArrayLike, Floats, InvalidArgument
from rankmath.verification.instance import network_instance


@dataclass(frozen=True)
class Curve:
    """log lhs ≤ log rhs of the statement `key`, natural logarithms, at the depths given."""

    key: str
    depth: Floats
    log_lhs: Floats
    log_rhs: Floats


def first_layers(net: Network, count: int) -> Network:
    """The network of the first `count` layers.

    >>> first_layers(Network.random(tokens=3, dim=2, layers=5), 2).layers
    2
    """
    names = ("query", "key", "value", "output", "key_bias", "bias", "mlp")
    stacks = {name: getattr(net, name) for name in names}
    return net.replace(**{name: None if a is None else a[:count] for name, a in stacks.items()})


def sides_by_depth(key: str, net: Network, X: ArrayLike, depths: Iterable[int], *, side: int = 0) -> Curve:
    """Both sides of one inequality of a statement on the first l layers, for each depth l; in float64.

    >>> net = Network.random(tokens=4, dim=3, layers=3)
    >>> curve = sides_by_depth("own:diameter", net, net.random_input(seed=1), (1, 2, 3))
    >>> bool((curve.log_lhs < curve.log_rhs).all())
    True
    """
    entry = statement(key)
    if entry.arrays:
        raise InvalidArgument(f"key: {key!r} given; it has no inequality to follow through the layers")
    depth = np.asarray(list(depths))
    whole = Run(Float64(np.zeros(1)), first_layers(net, int(depth.max())), X)
    logs = []
    for l in depth:
        subject = entry.run(Float64(np.zeros(1)), network_instance(first_layers(net, int(l)), X))
        assert isinstance(subject, Run)
        # The first layers give the same tokens whatever follows them.
        subject.tokens = whole.tokens[: l + 1]
        at = list(sides(entry.expanded, subject))[side]
        assert isinstance(at.left, Signed)
        assert isinstance(at.right, Signed)
        logs.append((float(at.left.log), float(at.right.log)))
    lhs, rhs = np.asarray(logs).T
    return Curve(key, depth, lhs, rhs)


def log_minus_log(logs: ArrayLike) -> Floats:
    """log(−log x) from log x: a line of slope log 3 where x decays with order three; nan where x ≥ 1.

    >>> log_minus_log([-1.0, 0.5]).tolist()
    [0.0, nan]
    """
    logs = np.asarray(logs, dtype=float)
    return np.where(logs < 0, np.log(np.where(logs < 0, -logs, 1.0)), np.nan)


def collapsing_network(heads: int = 2) -> tuple[Network, Floats]:
    """Attention alone, eight tokens, at a scale at which every bound decays."""
    net = Network.random(tokens=8, dim=8, heads=heads, layers=6, seed=0)
    return net, net.random_input(seed=1, scale=0.004)


def antipodal_skip(layers: int) -> tuple[Network, Floats]:
    """Two tokens ±1/2 with skips, W = −1 and W_QK = 1: as fast as skips allow, 1/√L."""
    ones = np.ones((layers, 1, 1, 1))
    return Network.from_arrays(ones, -ones, skip=True), np.asarray([[0.5], [-0.5]])


def random_skip(layers: int) -> tuple[Network, Floats]:
    """Eight tokens, two heads, skips, and value maps small enough for own:skip-lower."""
    net = Network.random(tokens=8, dim=4, heads=2, layers=layers, seed=0, scale=0.4, skip=True)
    return net, net.random_input(seed=1, scale=0.2)


# -- paths -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PathCurve:
    """Of all paths through k = 0, …, L heads: how many there are, and log‖res‖ of their sum; and of the network."""

    scale: float
    counts: list[int]
    log_residual: Floats
    log_network: float


def path_curve(scale: float) -> PathCurve:
    """Sixteen tokens of size about `scale`, two heads, eight layers, skips; the exact sums of dong2021:2.1-skip.

    >>> curve = path_curve(0.01)
    >>> sum(curve.counts) == 3**8, bool(curve.log_residual[0] > curve.log_residual[8])
    (True, True)
    """
    net = Network.random(tokens=16, dim=8, heads=2, layers=8, seed=0, skip=True)
    X = net.random_input(seed=1, scale=scale)
    logs = path_sums(net, X).log_residual()
    return PathCurve(scale, path_counts(net.layers, net.heads), logs, float(trace(net, X).log_residual[-1]))


# -- masks -------------------------------------------------------------------------------------------------

_RATES = tuple(
    read_term(text)
    for text in (
        "min_l(epsilon(P[l,0]))",
        "1 - min_l(epsilon(P[l,0]))**r",
        "prod_k(contraction(k))",
        "mu(X[L])/mu(X[0])",
    )
)
_MASK_DIM = 8
_MASK_SEEDS = 10


@dataclass(frozen=True)
class Rates:
    """Logarithms of factors of μ per layer, and of the least attention weight."""

    least: float
    bound: float
    computed: float
    measured: float


def mask_rates(mask: Mask, temperature: float = 1.0) -> Rates:
    """Over the first 2 · radius layers from random tokens: temperature acts until the tokens have met.

    The bound is (1 − ε^r)^{1/r} of wu2024:1 with the least attention weight as ε, the computed contraction that of
    wu2024:1-doeblin; geometric means over the layers and over ten networks of one head with W_V = I.

    >>> at = mask_rates(Mask.causal(6))
    >>> at.measured < at.computed < at.bound < 0
    True
    """
    r = mask.steps
    L = 2 * r
    identity = np.broadcast_to(np.eye(_MASK_DIM), (L, 1, _MASK_DIM, _MASK_DIM))
    nets, inputs = [], []
    for seed in range(_MASK_SEEDS):
        rng = np.random.default_rng(seed)
        W_QK = rng.standard_normal(identity.shape) / np.sqrt(_MASK_DIM)
        nets.append(Network.from_arrays(W_QK, identity, d_qk=_MASK_DIM * temperature**2, mask=mask))
        inputs.append(rng.standard_normal((mask.n, _MASK_DIM)))
    run = Run(Float64(np.zeros(1)), Network.stack(nets), np.stack(inputs))
    least, bound, computed, measured = (float(np.mean(value(term, run, {}).log)) for term in _RATES)
    return Rates(least, bound / r, computed / L, measured / L)


def limit_rate(mask: Mask) -> float:
    """The rate in the end: tokens that have nearly met attend uniformly, and |λ₂| of that matrix remains.

    >>> round(limit_rate(Mask.causal(6)), 6)
    0.5
    """
    uniform = mask.allowed / mask.allowed.sum(axis=1, keepdims=True)
    return float(np.sort(np.abs(np.linalg.eigvals(uniform)))[-2])


def mask_kinds(n: int = 12) -> dict[str, Mask]:
    """Every kind of mask on n tokens, by name."""
    return {
        "complete": Mask.complete(n),
        "causal": Mask.causal(n),
        "prefix 4": Mask.prefix(n, 4),
        "star": Mask.star(n),
        "window ±4": Mask.window(n, 4),
        "window ±2": Mask.window(n, 2),
        "window ±1": Mask.window(n, 1),
        "causal window 4": Mask.causal_window(n, 4),
        "causal window 2": Mask.causal_window(n, 2),
        "random graph A": random_graph(np.random.default_rng(1), n),
        "random graph B": random_graph(np.random.default_rng(2), n),
    }
