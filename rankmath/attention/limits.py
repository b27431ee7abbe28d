"""Where tokens go under LayerNorm: long runs, their limits, and how often random starts end in each.

One network is applied again and again, X(t+1) = F(X(t)). A limit is a fixed point or a periodic orbit, found in
float64: nothing is proved here, see `certify_equilibrium`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

import numpy as np

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.plain import check_input, forward, layer_norm
from rankmath.drawing import draw_tokens
from rankmath.model.network import Network
from rankmath.printing import Sheet, Shows
from rankmath.validation import ArrayLike, Axes, Bools, Floats, InvalidArgument, Json, as_array, as_count, as_real


class HasNetwork(Protocol):
    """An object that has a network, such as an equilibrium."""

    @property
    def network(self) -> Network: ...


Normed: TypeAlias = Network | HasNetwork

# Steps of this size, relative to the largest entry, are rounding and not movement.
_REST = 2.0**-40
# Two states of an orbit are different if they differ by at least this many tolerances.
_APART = 1000
# Check convergence once in this many longest periods: far enough apart to estimate a rate.
_PERIODS_APART = 2
# We refuse more random starts than this, for lack of memory, and look for no longer periods.
MOST_SAMPLES = 10**7
_LONGEST_PERIOD = 10**4


@dataclass(frozen=True, eq=False, repr=False)
class Limit(Shows):
    """What an orbit has settled on, up to `tolerance` in every entry.

    Attributes
    ----------
    kind : "fixed", "periodic", or "undecided" if it had not settled after `steps` applications.
    orbit : the states of one period, each n × d (one where fixed; the last one seen where undecided).
    steps : applications of the network until it was seen to have settled.
    error : estimated distance (largest entry) of ``orbit[0]`` from the limit; infinite where undecided.
    tolerance : what `error` had to reach.

    Notes
    -----
    The distance of X(t) from a limit of period p is estimated by g/(1 − q), where g = |X(t+p) − X(t)| and q < 1 is
    the factor by which g shrinks in p steps. A small g alone is no sign of rest: under W3 g falls like 1/t² while
    the distance falls like 1/t. Complex eigenvalues make q fluctuate, so this is an estimate.
    """

    kind: Literal["fixed", "periodic", "undecided"]
    orbit: tuple[Floats, ...]
    steps: int
    error: float
    tolerance: float

    def to_dict(self) -> dict[str, Json]:
        """What it is, as plain data."""
        error = self.error if self.kind != "undecided" else None
        return {
            "kind": self.kind,
            "steps": self.steps,
            "error": error,
            "tolerance": self.tolerance,
            "orbit": [state.tolist() for state in self.orbit],
            "rank": self.rank,
        }

    def sheet(self) -> Sheet:
        facts = (
            ("after", f"{self.steps} applications, estimated distance {self.error:.2g}"),
            ("rank", f"{self.rank}, tokens in clusters {self.clusters}"),
        )
        n, d = self.X.shape
        return Sheet(f"Limit: {self.kind}, {len(self.orbit)} state(s) of {n} tokens, dimension {d}", facts)

    def plot(self, ax: Axes = None) -> Axes:
        """The first state's tokens as matplotlib axes."""
        return draw_tokens(self.X, f"Limit: {self.kind}", ax)

    @property
    def X(self) -> Floats:
        """The first state of the orbit."""
        return self.orbit[0]

    @property
    def period(self) -> int | None:
        """1 for a fixed point; None where undecided."""
        return None if self.kind == "undecided" else len(self.orbit)

    @cached_property
    def singular_values(self) -> Floats:
        """Singular values of X, largest first."""
        return np.asarray(np.linalg.svd(self.X, compute_uv=False))

    @property
    def rank(self) -> int:
        """How many singular values exceed √(nd)·tolerance.

        Entries that are right to the tolerance move a singular value by no more than that (Weyl), so those above it
        belong to nonzero singular values of the limit.
        """
        return int((self.singular_values > np.sqrt(self.X.size) * self.tolerance).sum())

    @cached_property
    def clusters(self) -> tuple[int, ...]:
        """The cluster 0, 1, … of each token; tokens that agree to twice the tolerance are one cluster."""
        return self._labels(lambda a, b: bool(np.abs(a - b).max() <= 2 * self.tolerance))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Clusters up to sign: the tokens x and −x lie on one line."""
        return self._labels(lambda a, b: bool(min(np.abs(a - b).max(), np.abs(a + b).max()) <= 2 * self.tolerance))

    @property
    def collapsed(self) -> bool:
        """Whether all tokens are one; antipodal tokens have rank one and are not collapsed."""
        return max(self.clusters) == 0

    @property
    def flips(self) -> bool:
        """Whether the second half of the orbit is the mirror image of the first: F^{p/2}(X) = −X."""
        half, odd = divmod(len(self.orbit), 2)
        if self.kind != "periodic" or odd:
            return False
        return bool(np.abs(self.orbit[half] + self.X).max() <= 2 * self.tolerance)

    def mirrored(self) -> Limit:
        """The mirror image −X, a limit as well where F is odd (attention without biases)."""
        return replace(self, orbit=tuple(-X for X in self.orbit))

    def is_same(self, other: Limit) -> bool:
        """Whether both are one orbit, up to the sum of four tolerances and the place at which it was met."""
        if self.kind != other.kind or self.kind == "undecided" or len(self.orbit) != len(other.orbit):
            return False
        allowed = 2 * (self.tolerance + other.tolerance)
        return any(bool(np.abs(self.X - X).max() <= allowed) for X in other.orbit)

    def _labels(self, alike: Callable[[Floats, Floats], bool]) -> tuple[int, ...]:
        leaders: list[Floats] = []
        labels: list[int] = []
        for row in self.X:
            label = next((c for c, leader in enumerate(leaders) if alike(row, leader)), len(leaders))
            if label == len(leaders):
                leaders.append(row)
            labels.append(label)
        return tuple(labels)

    def __str__(self) -> str:
        what = {"fixed": "fixed point", "periodic": f"orbit of period {len(self.orbit)}"}.get(self.kind, "undecided")
        tokens = "collapsed" if self.collapsed else f"{max(self.clusters) + 1} clusters on {max(self.lines) + 1} lines"
        return f"{what} of rank {self.rank}, {tokens}, after {self.steps} steps"


def limit(net: Normed, X: ArrayLike, *, steps: int = 10_000, tolerance: float = 1e-8, longest_period: int = 8) -> Limit:
    """Apply a network with LayerNorm again and again: where the tokens X settle.

    Parameters
    ----------
    net : a `Network` with sphere or standard LayerNorm, or what has one as its ``network``, as an `Equilibrium`.
    X : tokens, n × d.
    steps : applications at most; a limit not reached by then is "undecided".
    tolerance : how near the limit the tokens must be, by estimate, in every entry.
    longest_period : periods up to this are recognised, if the states differ by 1000 tolerances.

    Examples
    --------
    >>> import rankmath as rm
    >>> stable = rm.layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    >>> found = limit(stable, stable.X + 1e-3)
    >>> found.kind, found.rank, found.collapsed
    ('fixed', 3, False)
    >>> sphere = rm.Network.from_arrays([[[[0.0]]]], [[[[-1.0]]]], norm="sphere")
    >>> found = limit(sphere, [[1.0], [1.0]])
    >>> found.kind, found.period, found.flips, found.collapsed
    ('periodic', 2, True, True)
    """
    start = np.asarray(as_array("X", X, ndim=2))
    return limits(net, start[None], steps=steps, tolerance=tolerance, longest_period=longest_period)[0]


def limits(
    net: Normed, starts: ArrayLike, *, steps: int = 10_000, tolerance: float = 1e-8, longest_period: int = 8
) -> tuple[Limit, ...]:
    """`limit` of many starts at once, (m, n, d).

    >>> import rankmath as rm
    >>> net = rm.Network.random(tokens=3, dim=2, seed=0, norm="sphere", mask="causal")
    >>> [found.kind for found in limits(net, np.random.default_rng(0).standard_normal((2, 3, 2)))]
    ['fixed', 'fixed']
    """
    network = _normalised(net)
    X = np.asarray(as_array("starts", starts, ndim=3))
    check_input(network, X)
    steps = as_count("steps", steps)
    tolerance = as_real("tolerance", tolerance, positive=True, most=0.1)
    longest = as_count("longest_period", longest_period, most=_LONGEST_PERIOD)
    found: list[Limit | None] = [None] * len(X)
    running = np.arange(len(X))
    block = max(_PERIODS_APART * longest, 16)
    # gaps[p − 1] = |X(t+p) − X(t)| of each running start at this check and at the two before it.
    history: list[Floats] = []
    time = 0
    while len(running) and time < steps:
        window = [X]
        for _ in range(min(block, steps - time)):
            window.append(forward(network, window[-1]))
        if len(window) <= block:
            # The steps that are left are too few for another check.
            X, time = window[-1], steps
            break
        gaps = np.array([np.abs(window[p] - X).max(axis=(1, 2)) for p in range(1, longest + 1)])
        history = [*history[-2:], gaps]
        error = _errors(history, block, floor=_REST * np.abs(X).max())
        near = (error <= tolerance) & _different(gaps, _APART * tolerance)
        settled = near.any(axis=0)
        time += block
        for place in np.flatnonzero(settled):
            p = int(near[:, place].argmax()) + 1
            orbit = tuple(window[block - p + s][place] for s in range(1, p + 1))
            kind: Literal["fixed", "periodic"] = "fixed" if p == 1 else "periodic"
            found[running[place]] = Limit(kind, orbit, time, float(error[p - 1, place]), tolerance)
        X, running = window[-1][~settled], running[~settled]
        history = [past[:, ~settled] for past in history]
    for last, index in zip(X, running, strict=True):
        found[index] = Limit("undecided", (last,), time, np.inf, tolerance)
    return tuple(one for one in found if one is not None)


def _errors(history: list[Floats], block: int, *, floor: float) -> Floats:
    """Estimated distance of X(t) from a limit of period p = 1, 2, …, by start: g/(1 − q), zero for g at rest."""
    now = history[-1]
    error = np.full(now.shape, np.inf)
    if len(history) == 3:
        period = np.arange(1, len(now) + 1)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            # The slower of the last block and the last two: complex eigenvalues make single quotients fluctuate.
            slower = np.maximum(now / history[1], np.sqrt(now / history[0]))
            q = slower ** (period / block)
            error = np.where(q < 1, now / (1 - q), np.inf)
    return np.where(now <= floor, 0.0, error)


def _different(gaps: Floats, least: float) -> Bools:
    """Whether the states of an orbit of period p = 1, 2, … differ: no divisor of p is a period up to `least`.

    Near a fixed point with a multiplier of −1/2 the gaps of period 2 shrink first, and one that spirals in returns
    to its direction after several steps: neither is an orbit.
    """
    apart = gaps > least
    rows = [
        np.all([apart[p - 1] for p in range(1, period) if period % p == 0] or [np.ones(gaps.shape[1:], bool)], axis=0)
        for period in range(1, len(gaps) + 1)
    ]
    return np.array(rows)


def _normalised(net: Normed) -> Network:
    network = getattr(net, "network", net)
    if not isinstance(network, Network):
        raise InvalidArgument(f"net: a {type(net).__name__} given; a rankmath.Network or an equilibrium is needed")
    if network.norm is None or network.norm.kind == "column" or network.batch_shape:
        given = "a stack" if network.batch_shape else f"norm {network.norm and network.norm.kind!r}"
        raise InvalidArgument(f"net: {given} given; one network with norm 'sphere' or 'standard' is needed")
    return network


# -- basins -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """So many of `samples` random draws, with the Clopper–Pearson interval for the probability of one.

    The interval [low, high] covers the true probability with at least the stated confidence.
    """

    hits: int
    samples: int
    confidence: float
    low: float
    high: float

    @classmethod
    def of(cls, hits: int, samples: int, confidence: float = 0.95) -> Share:
        """The interval from the quantiles of the beta distribution.

        >>> share = Share.of(0, 100)
        >>> share.low, round(share.high, 4)
        (0.0, 0.0362)
        """
        from scipy.special import betaincinv

        samples = as_count("samples", samples)
        hits = as_count("hits", hits, least=0, most=samples)
        if not 0 < as_real("confidence", confidence) < 1:
            raise InvalidArgument(f"confidence: {confidence} given; a number strictly between 0 and 1 is needed")
        tail = (1 - confidence) / 2
        low = float(betaincinv(hits, samples - hits + 1, tail)) if hits else 0.0
        high = float(betaincinv(hits + 1, samples - hits, 1 - tail)) if hits < samples else 1.0
        return cls(hits, samples, confidence, low, high)

    @property
    def observed(self) -> float:
        """hits/samples."""
        return self.hits / self.samples

    def __str__(self) -> str:
        return f"{self.observed:.1%} ({self.low:.1%} to {self.high:.1%})"


@dataclass(frozen=True, eq=False)
class Basins:
    """Limits of random starts, most frequent first, with their shares; a limit and its mirror image are two."""

    reached: tuple[tuple[Limit, Share], ...]
    undecided: Share

    def share_of(self, wanted: Callable[[Limit], bool]) -> Share:
        """The share of starts whose limit has a property.

        >>> import rankmath as rm
        >>> found = basins(rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True), 100)
        >>> found.share_of(lambda limit: limit.rank == 2).hits > 0
        True
        """
        hits = sum(share.hits for limit, share in self.reached if wanted(limit))
        return Share.of(hits, self.undecided.samples, self.undecided.confidence)

    def __str__(self) -> str:
        lines = [f"{share}: {limit}" for limit, share in self.reached]
        return "\n".join([*lines, f"{self.undecided}: undecided"])


def basins(
    net: Normed,
    samples: int = 1000,
    seed: int = 0,
    *,
    tokens: int | None = None,
    steps: int = 10_000,
    tolerance: float = 1e-8,
    longest_period: int = 8,
    confidence: float = 0.95,
) -> Basins:
    """Which limits random normalised starts reach, and how often, with confidence intervals.

    The starts are independent and uniform on the spheres. Each interval is for one share, not for all together.

    Parameters
    ----------
    net, steps, tolerance, longest_period : as in `limit`.
    tokens : the number of tokens, where the network does not fix it.

    Examples
    --------
    >>> import rankmath as rm
    >>> found = basins(rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True), 200, seed=1)
    >>> sum(share.hits for _, share in found.reached) + found.undecided.hits
    200
    """
    network = _normalised(net)
    starts = random_starts(network, samples, seed, tokens=tokens)
    ends = limits(network, starts, steps=steps, tolerance=tolerance, longest_period=longest_period)
    labels, kinds = grouped(ends)
    shares = [Share.of(labels.count(label), len(ends), confidence) for label in (*range(len(kinds)), -1)]
    return Basins(reached=tuple(zip(kinds, shares[:-1], strict=True)), undecided=shares[-1])


def grouped(ends: Sequence[Limit]) -> tuple[list[int], list[Limit]]:
    """Which of the limits that differ each end is, −1 for undecided; and these limits, most frequent first."""
    kinds: list[Limit] = []
    labels: list[int] = []
    for end in ends:
        if end.kind == "undecided":
            labels.append(-1)
            continue
        place = next((i for i, one in enumerate(kinds) if one.is_same(end)), len(kinds))
        if place == len(kinds):
            kinds.append(end)
        labels.append(place)
    order = sorted(range(len(kinds)), key=lambda i: -labels.count(i))
    names = {old: new for new, old in enumerate(order)} | {-1: -1}
    return [names[label] for label in labels], [kinds[i] for i in order]


def random_starts(net: Normed, samples: int, seed: int = 0, *, tokens: int | None = None) -> Floats:
    """Independent tokens, uniform on the network's sphere, (samples, n, d).

    >>> net = Network.random(tokens=2, dim=3, norm="sphere")
    >>> X = random_starts(net, 5)
    >>> X.shape, bool(np.allclose((X * X).sum(axis=-1), 1))
    ((5, 2, 3), True)
    """
    network = _normalised(net)
    n = network.tokens if tokens is None else as_count("tokens", tokens)
    if n is None:
        raise InvalidArgument("tokens: not given, and the network does not fix it; pass tokens=n")
    samples = as_count("samples", samples, most=MOST_SAMPLES)
    rng = np.random.default_rng(as_count("seed", seed, least=0))
    Y = rng.standard_normal((samples, n, network.dim))
    assert network.norm is not None
    return np.asarray(layer_norm(Float64(Y), replace(network.norm, gain=None, offset=None), Y))
