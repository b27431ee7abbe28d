"""Attention masks as directed graphs: who sees whom, and how fast news travels."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankmath.validation import ArrayLike, Bools, InvalidArgument, as_choice, as_count, fits_in_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """A directed graph on the tokens: ``allowed[i, j]`` means token i attends to token j.

    Information flows along the edge (j, i). A *center* reaches every node along the flow.

    Parameters
    ----------
    allowed : boolean n × n matrix in which every row has a True entry.

    Examples
    --------
    >>> mask = Mask.causal(4)
    >>> mask.centers, mask.radius
    ((0,), 1)
    >>> mask.is_strongly_connected, Mask.complete(4).is_strongly_connected
    (False, True)
    """

    allowed: Bools

    def __post_init__(self) -> None:
        matrix = _adjacency("allowed", self.allowed).copy()
        matrix.flags.writeable = False
        object.__setattr__(self, "allowed", matrix)

    # -- the named graphs ---------------------------------------------------------------------------

    @classmethod
    def complete(cls, n: int) -> Mask:
        """Every token sees every token."""
        n = as_count("n", n)
        _fits(n)
        return cls(np.ones((n, n), dtype=bool))

    @classmethod
    def causal(cls, n: int) -> Mask:
        """Token i sees j <= i."""
        return cls(_seen(n, behind=n))

    @classmethod
    def window(cls, n: int, width: int) -> Mask:
        """Token i sees j with |i − j| <= width."""
        width = as_count("width", width, least=0)
        return cls(_seen(n, behind=width, ahead=width))

    @classmethod
    def causal_window(cls, n: int, width: int) -> Mask:
        """Token i sees itself and the width − 1 tokens before it."""
        return cls(_seen(n, behind=as_count("width", width) - 1))

    @classmethod
    def unidirectional_window(cls, n: int) -> Mask:
        """Token i sees itself and the token before it."""
        return cls.causal_window(n, 2)

    @classmethod
    def prefix(cls, n: int, prefix: int) -> Mask:
        """The first `prefix` tokens see each other; every later token sees all up to itself."""
        allowed = _seen(n, behind=n)
        prefix = as_count("prefix", prefix, least=0, most=n)
        allowed[:prefix, :prefix] = True
        return cls(allowed)

    @classmethod
    def star(cls, n: int, hub: int = 0) -> Mask:
        """The hub sees all, all see the hub and themselves."""
        n = as_count("n", n)
        hub = as_count("hub", hub, least=0, most=n - 1)
        allowed = np.eye(n, dtype=bool)
        allowed[hub, :] = allowed[:, hub] = True
        return cls(allowed)

    @classmethod
    def key_padding(cls, n: int, keep: ArrayLike) -> Mask:
        """Every token sees exactly the tokens j with ``keep[j]``; the rest is padding."""
        n = as_count("n", n)
        kept = np.asarray(keep)
        if kept.dtype.kind != "b" or kept.shape != (n,):
            raise InvalidArgument(
                f"keep: dtype {kept.dtype} and shape {kept.shape} given; a boolean vector of length {n} is needed"
            )
        if not kept.any():
            raise InvalidArgument("keep: no True entry; at least one token must be kept")
        return cls(np.broadcast_to(kept, (n, n)))

    @classmethod
    def from_matrix(cls, allowed: ArrayLike) -> Mask:
        """The mask of a boolean matrix (or nested list), row i marking what token i sees."""
        return cls(allowed)

    @classmethod
    def from_networkx(cls, graph: MaskLike, *, self_loops: bool = True) -> Mask:
        """The mask of a networkx graph whose edge (j, i) means: i attends to j.

        Tokens are the nodes in the graph's own order; an undirected edge counts both ways. Unless
        `self_loops` is False every token also sees itself, as the theorems on masks ask.
        """
        if not _is_graph(graph):
            raise InvalidArgument(f"graph: a {type(graph).__name__} given; a networkx graph is needed")
        place = {node: k for k, node in enumerate(graph.nodes)}
        allowed = np.eye(len(place), dtype=bool) if self_loops else np.zeros((len(place), len(place)), dtype=bool)
        for source, target in graph.edges():
            allowed[place[target], place[source]] = True
            if not graph.is_directed():
                allowed[place[source], place[target]] = True
        return cls(allowed)

    # -- what the theorems ask of a graph -----------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of tokens."""
        return int(self.allowed.shape[0])

    @cached_property
    def centers(self) -> tuple[int, ...]:
        """The tokens from which information reaches every token, in order."""
        from scipy.sparse.csgraph import connected_components

        # The centers are the strong component without an edge from outside, if there is only one such.
        count, component = connected_components(self._flow, directed=True, connection="strong")
        target, source = np.nonzero(self.allowed)
        fed = np.zeros(count, dtype=bool)
        fed[component[target[component[target] != component[source]]]] = True
        sources = np.flatnonzero(~fed)
        return tuple(int(i) for i in np.flatnonzero(component == sources[0])) if len(sources) == 1 else ()

    @cached_property
    def radius(self) -> float:
        """The smallest eccentricity of a center, an int; ``math.inf`` if there is no center.

        With an infinite radius (1 − ε^r)^⌊t/r⌋ reads 1: no bound, as it should.
        """
        from scipy.sparse.csgraph import shortest_path

        if not self.centers:
            return math.inf
        if self.n == 1:
            return 0
        if (self.allowed | np.eye(self.n, dtype=bool)).all(axis=0).any():
            return 1
        steps = shortest_path(self._flow, method="D", unweighted=True, indices=np.asarray(self.centers))
        return int(steps.max(axis=1).min())

    @cached_property
    def farthest(self) -> int:
        """The least number of steps, at least 1, in which every center reaches all tokens; 1 if there is no
        center."""
        from scipy.sparse.csgraph import shortest_path

        if not self.centers:
            return 1
        steps = shortest_path(self._flow, method="D", unweighted=True, indices=np.asarray(self.centers))
        return max(1, int(steps.max()))

    @property
    def steps(self) -> int:
        """The radius as a number of layers: at least 1, and 1 where there is no center."""
        return max(1, int(self.radius)) if self.is_quasi_strongly_connected else 1

    @property
    def is_quasi_strongly_connected(self) -> bool:
        """Some token reaches all."""
        return bool(self.centers)

    @property
    def is_strongly_connected(self) -> bool:
        """Every token reaches all."""
        return len(self.centers) == self.n

    @property
    def has_self_loops(self) -> bool:
        """Every token sees itself."""
        return bool(self.allowed.diagonal().all())

    @property
    def is_complete(self) -> bool:
        """Every token sees every token."""
        return bool(self.allowed.all())

    @property
    def common_support(self) -> Bools | None:
        """The support shared by all rows (complete masks, key padding), or None if two rows differ."""
        first: Bools = self.allowed[0]
        # Row by row: the first that differs ends it, and no second matrix is made.
        return first if all(np.array_equal(row, first) for row in self.allowed) else None

    @cached_property
    def seen_by_all(self) -> Bools | None:
        """The tokens that every row sees, or None if there are none."""
        seen = np.asarray(self.allowed.all(axis=0))
        return seen if seen.any() else None

    @cached_property
    def first_alone(self) -> bool:
        """Whether the first token sees itself and nothing else, as under a causal mask."""
        return bool(self.allowed[0, 0]) and not self.allowed[0, 1:].any()

    @cached_property
    def _flow(self) -> csr_array[np.float64, tuple[int, int]]:
        from scipy.sparse import csr_array

        return csr_array(self.allowed.T.astype(np.float64))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mask) and np.array_equal(self.allowed, other.allowed)

    def __hash__(self) -> int:
        return hash((self.n, self.allowed.tobytes()))

    def __repr__(self) -> str:
        return f"Mask(n={self.n}, edges={int(self.allowed.sum())})"


#: A Mask, the name of one, a boolean matrix, a networkx graph, or None.
MaskLike: TypeAlias = ArrayLike

_NAMED: dict[str, Callable[[int], Mask]] = {
    "complete": Mask.complete,
    "causal": Mask.causal,
    "unidirectional_window": Mask.unidirectional_window,
    "star": Mask.star,
}
_NAMED_WITH_NUMBER: dict[str, Callable[[int, int], Mask]] = {
    "window": Mask.window,
    "causal_window": Mask.causal_window,
    "prefix": Mask.prefix,
    "star": Mask.star,
}


def _fits(n: int) -> None:
    """An n × n matrix, and the copy that a mask keeps."""
    fits_in_memory(f"tokens: {n} given with a mask", 2.0 * n * n)


def as_mask(value: MaskLike, n: int) -> Mask:
    """`value` as a `Mask` on n tokens.

    Parameters
    ----------
    value : None (complete), a name ("complete", "causal", "unidirectional_window", "star"), a name with its
        number ("window:1" or "window(1)", "causal_window:3", "prefix:2", "star:4"), a `Mask`, a boolean
        n × n matrix, or a networkx graph on n nodes (self-loops are added; see `Mask.from_networkx`).

    Examples
    --------
    >>> as_mask("window:1", 5).radius
    2
    >>> as_mask("diagonal", 5)
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: mask: 'diagonal' given; allowed are 'complete', 'causal', 'unidirectional_window',
    'star', 'window:NUMBER', 'causal_window:NUMBER', 'prefix:NUMBER', 'star:NUMBER'
    """
    n = as_count("n", n)
    if value is None:
        return Mask.complete(n)
    if isinstance(value, str):
        _fits(n)
        return _named(value, n)
    if isinstance(value, Mask):
        mask = value
    elif _is_graph(value):
        mask = Mask.from_networkx(value)
    else:
        mask = Mask(_adjacency("mask", value))
    if mask.n != n:
        raise InvalidArgument(f"mask: a graph on {mask.n} tokens given; it must have {n}")
    return mask


def _named(text: str, n: int) -> Mask:
    name, colon, number = re.sub(r"\((\d+)\)$", r":\1", text).partition(":")  # window(1), as in claims
    if not colon and name in _NAMED:
        return _NAMED[name](n)
    # int() would also take "1_0" and digits of other scripts, and refuses very long ones with an error of its own.
    if name in _NAMED_WITH_NUMBER and number.isascii() and number.isdigit() and len(number) <= 9:
        try:
            return _NAMED_WITH_NUMBER[name](n, int(number))
        except ValueError as refusal:
            what, _, needed = str(refusal).removesuffix(" is needed").partition(": ")
            tokens = f" for {n} tokens" if "at most" in needed else ""
            needed = needed.partition("; ")[2]
            raise InvalidArgument(f"mask: {text!r} given{tokens}; {needed} is needed as its {what}") from None
    as_choice("mask", text, (*_NAMED, *(f"{name}:NUMBER" for name in _NAMED_WITH_NUMBER)))
    raise InvalidArgument(f"mask: {text!r} given; replace NUMBER by a whole number")


def _seen(n: int, *, behind: int, ahead: int = 0) -> Bools:
    """Token i sees the tokens i − behind … i + ahead: one byte a pair, and no more on the way."""
    n = as_count("n", n)
    allowed = np.zeros((n, n), dtype=bool)
    for i in range(n):
        allowed[i, max(0, i - behind) : i + ahead + 1] = True
    return allowed


def _adjacency(name: str, value: MaskLike) -> Bools:
    """`value` as a square boolean matrix in which every row has a True entry, or a ValueError that names it."""
    try:
        matrix = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"{name}: not a rectangular matrix ({error})") from None
    if matrix.dtype.kind != "b":
        raise InvalidArgument(f"{name}: dtype {matrix.dtype} given; a boolean matrix is needed")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidArgument(f"{name}: shape {matrix.shape} given; a square, non-empty matrix is needed")
    lonely = np.flatnonzero(~matrix.any(axis=1))
    if lonely.size:
        raise InvalidArgument(f"{name}: row {lonely[0]} has no True entry; every token must attend to some token")
    return matrix


def _is_graph(value: MaskLike) -> bool:
    return all(hasattr(value, name) for name in ("nodes", "edges", "is_directed"))
