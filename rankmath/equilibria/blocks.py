"""Equilibria of a whole block: heads, rotary positions, a λ-skip, an MLP, sphere or standard LayerNorm; in balls.

X' = N(Y + s(Y U) D) with Y = λX + Σ_h A_h(X) X V_h and s(x) = x/(1 + e^{−x}), which is SiLU. Rotary positions turn
the queries X W_QK and the keys X. Derivatives are carried along, direction by direction: for few tokens in few
dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb, arb_mat

from rankmath.arithmetic.balls import precision
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.equilibria.attraction import prove_attraction
from rankmath.equilibria.balls import exact_matrix
from rankmath.equilibria.constructions import layernorm_equilibrium
from rankmath.equilibria.map import Floats, normalise
from rankmath.equilibria.proofs import Inconclusive, Problem, prove_existence, prove_minor
from rankmath.linalg.masks import Mask, MaskLike
from rankmath.model.network import Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import Rotary
from rankmath.validation import InvalidArgument, as_count

_BITS = (96, 192, 384)


@dataclass(frozen=True, eq=False)
class Block:
    """One block of a transformer: heads (W_V, W_QK), a λ-skip, an MLP of matrices U and D, its norm and positions.

    >>> I = np.eye(2)
    >>> Block([I], [0 * I], Mask.complete(2), skip=1.0).step(I).round(3).tolist()
    [[0.949, 0.316], [0.316, 0.949]]
    """

    W_V: Sequence[Floats]
    W_QK: Sequence[Floats]
    mask: Mask
    skip: float = 0.0
    up: Floats = field(default_factory=lambda: np.zeros((1, 1)))
    down: Floats = field(default_factory=lambda: np.zeros((1, 1)))
    norm: str = "sphere"
    rotary: Rotary | None = None

    def __post_init__(self) -> None:
        d = len(self.W_V[0])
        if not self.up.any():  # no MLP: one hidden unit that says nothing
            object.__setattr__(self, "up", np.zeros((d, 1)))
            object.__setattr__(self, "down", np.zeros((1, d)))

    def step(self, X: Floats) -> Floats:
        """One layer in float64."""
        seen, turns = self.mask.allowed, self.turns(X.shape[1])
        Y = self.skip * X
        for V, W in zip(self.W_V, self.W_QK, strict=True):
            queries, keys = (np.einsum("ia,iab->ib", Q, turns) for Q in (X @ W, X))
            A = np.where(seen, queries @ keys.T, -np.inf)
            A = np.exp(A - A.max(axis=1, keepdims=True))
            Y = Y + A / A.sum(axis=1, keepdims=True) @ X @ V
        hidden = Y @ self.up
        return normalise(Y + hidden / (1 + np.exp(-hidden)) @ self.down, self.norm)

    def turns(self, d: int) -> Floats:
        """What turns the queries and keys of each place, (n, d, d); the identity without positions."""
        turns = np.tile(np.eye(d), (self.mask.n, 1, 1))
        if self.rotary is None:
            return turns
        for j in range(d // 2):
            cos, sin = self.rotary.cos[: self.mask.n, j], self.rotary.sin[: self.mask.n, j]
            turns[:, 2 * j, 2 * j] = turns[:, 2 * j + 1, 2 * j + 1] = cos
            turns[:, 2 * j, 2 * j + 1], turns[:, 2 * j + 1, 2 * j] = sin, -sin
        return turns

    def network(self, gain: Floats) -> Network:
        """The same block of one head after which RMSNorm with a gain comes: X√d diag(gain) rests where X does."""
        d, (V,), (W,) = len(gain), self.W_V, self.W_QK
        queries, keys = (M / (np.sqrt(d) * gain[:, None]) for M in (W, np.eye(d)))
        heads = (queries[None], keys[None], (V / gain[:, None])[None], np.eye(d)[None])
        layer = Attention.from_qkvo(*heads, d_qk=1, mask=self.mask, rotary=self.rotary)
        return Network.from_layers([[Sublayer(layer, after=LayerNorm("rms", 0.0, gain))]], self.mask.n)

    def settled(self, X: Floats, steps: int = 5000) -> Floats:
        """Where the tokens are after so many layers."""
        for _ in range(steps):
            X = self.step(X)
        return X

    def certificate(self, X: Floats) -> Certificate:
        """Prove that an equilibrium of full rank near X attracts; NotIssued if the checker does not accept it."""
        d = X.shape[1]
        # The proofs read of W_V only which entries may feed which, and its rank: here any, and full.
        any_full = np.ones((d, d)) + np.eye(d)
        problem = _BlockProblem(X, any_full, self.W_QK[0], self.mask, 1, self.norm, 1e-9, None, block=self)
        for bits in _BITS:
            try:
                with precision(bits):
                    at = prove_existence(problem, bits)
                    minor = prove_minor(problem, at)
                    draws = prove_attraction(problem, at)
                break
            except Inconclusive as failure:
                reason = str(failure)
        else:
            raise InvalidArgument(f"X: {reason}")
        data = {
            "W_V": list(self.W_V),
            "W_QK": list(self.W_QK),
            "skip": self.skip,
            "up": self.up,
            "down": self.down,
            "mask": self.mask.allowed.astype(int),
            "norm": self.norm,
            "tokens": at.centre,
            "radius": at.radius,
            "rank": len(minor.pivots),
        }
        if self.rotary is not None:
            data |= {name: getattr(self.rotary, name)[: len(X)] for name in ("cos", "sin")}
        key = "own:stable-block" if self.rotary is None else "own:stable-rotary"
        about = f"{len(self.W_V)} heads, skip {self.skip:g}, MLP: {bool(self.down.any())}, {self.norm} LayerNorm"
        for times in (0, 3, 7, 15, 29):  # the checker's intervals are wider than balls
            smaller = draws.shrunk(times)
            attracting = {"R": smaller.R, "radius": smaller.radius, "rate": smaller.rate}
            hints = {"preconditioner": at.preconditioner, "pivots": minor.pivots, "S": smaller.S}
            draft = Certificate(key, "exists", {**data, "attracting": attracting}, hints, about)
            if draft.check().accepted:
                break
        return issue(draft, decided=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class _BlockProblem(Problem):
    block: Block

    def clusters(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        n = len(self.X)
        return tuple(range(n)), tuple(tuple(int(w) for w in row) for row in self.mask.allowed)

    def ball_map(self, weights: Sequence[Sequence[int]]) -> _BallBlock:  # type: ignore[override]
        return _BallBlock(self.block)


@dataclass(frozen=True, eq=False)
class _Moving:
    """A matrix of balls and its derivatives along some directions."""

    at: arb_mat
    along: tuple[arb_mat, ...]

    def __add__(self, other: _Moving) -> _Moving:
        return _Moving(self.at + other.at, tuple(a + b for a, b in zip(self.along, other.along, strict=True)))

    def __matmul__(self, other: _Moving | arb_mat) -> _Moving:
        if isinstance(other, arb_mat):
            return _Moving(self.at * other, tuple(a * other for a in self.along))
        pairs = zip(self.along, other.along, strict=True)
        return _Moving(self.at * other.at, tuple(a * other.at + self.at * b for a, b in pairs))

    @property
    def transposed(self) -> _Moving:
        return _Moving(self.at.transpose(), tuple(a.transpose() for a in self.along))

    def by_row(self, value: Callable[[int, list[arb]], list[arb]], slope: _Slope) -> _Moving:
        """`value` of every row, and `slope` of the row, its value and its direction."""
        rows = self.at.tolist()
        images = [value(i, row) for i, row in enumerate(rows)]
        moved = [
            arb_mat([slope(row, y, h) for row, y, h in zip(rows, images, a.tolist(), strict=True)]) for a in self.along
        ]
        return _Moving(arb_mat(images), tuple(moved))


_Slope = Callable[[list[arb], list[arb], list[arb]], list[arb]]


def _dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


@dataclass(frozen=True, eq=False)
class _BallBlock:
    """The block's map in balls: what `prove_existence` and `prove_attraction` ask of a map."""

    block: Block

    def layer(self, X: arb_mat) -> arb_mat:
        """An enclosure of F on the box X."""
        return self._moved(_Moving(X, ())).at

    def jacobian(self, X: arb_mat) -> arb_mat:
        """An enclosure of DF on the box X, an nd × nd matrix on row-stacked tokens."""
        n, d = X.nrows(), X.ncols()
        units = []
        for place in range(n * d):
            unit = arb_mat(n, d)
            unit[place // d, place % d] = arb(1)
            units.append(unit)
        columns = [a.entries() for a in self._moved(_Moving(X, tuple(units))).along]
        return arb_mat(n * d, n * d, [columns[q][p] for p in range(n * d) for q in range(n * d)])

    def _moved(self, X: _Moving) -> _Moving:
        block, d = self.block, X.at.ncols()
        Y = X @ (arb(block.skip) * exact_matrix(np.eye(d)))
        for V, W in zip(block.W_V, block.W_QK, strict=True):
            logits = self._turned(X @ exact_matrix(W)) @ self._turned(X).transposed
            Y = Y + self._attention(logits) @ X @ exact_matrix(V)
        Y = Y + (Y @ exact_matrix(block.up)).by_row(_silu, _silu_slope) @ exact_matrix(block.down)
        if block.norm == "standard":
            Y = Y @ arb_mat(d, d, [arb(int(a == b)) - arb(1) / d for a in range(d) for b in range(d)])
        radius = arb(d).sqrt() if block.norm == "standard" else arb(1)

        def unit(_: int, y: list[arb]) -> list[arb]:
            return [radius * x / _dot(y, y).sqrt() for x in y]

        def turned(y: list[arb], u: list[arb], h: list[arb]) -> list[arb]:
            along = _dot(u, h) / radius**2
            return [radius * (b - a * along) / _dot(y, y).sqrt() for a, b in zip(u, h, strict=True)]

        return Y.by_row(unit, turned)

    def _turned(self, Q: _Moving) -> _Moving:
        turns = [exact_matrix(T) for T in self.block.turns(Q.at.ncols())]

        def each(M: arb_mat) -> arb_mat:
            return arb_mat([(arb_mat([row]) * T).entries() for row, T in zip(M.tolist(), turns, strict=True)])

        return Q if self.block.rotary is None else _Moving(each(Q.at), tuple(map(each, Q.along)))

    def _attention(self, logits: _Moving) -> _Moving:
        allowed = self.block.mask.allowed

        def softmax(i: int, row: list[arb]) -> list[arb]:
            top = max((x.mid() for x, seen in zip(row, allowed[i], strict=True) if seen), key=float)
            powers = [(x - top).exp() if seen else arb(0) for x, seen in zip(row, allowed[i], strict=True)]
            total = sum(powers, arb(0))
            return [x / total for x in powers]

        return logits.by_row(softmax, lambda _, A, h: [a * (x - _dot(A, h)) for a, x in zip(A, h, strict=True)])


def _silu(_: int, row: list[arb]) -> list[arb]:
    return [x / (1 + (-x).exp()) for x in row]


def _silu_slope(row: list[arb], _: list[arb], h: list[arb]) -> list[arb]:
    gates = [1 / (1 + (-x).exp()) for x in row]
    return [b * g * (1 + x * (1 - g)) for x, g, b in zip(row, gates, h, strict=True)]


def rotary_equilibrium(tokens: int, rank: int, mask: MaskLike = "causal") -> tuple[Block, Floats]:
    """A block with rotary positions that act, and tokens of dimension and rank `rank` that rest in it and attract.

    A stable equilibrium without positions survives angles and changes of the weights that are small enough: they
    move the map and its derivative as little as one likes. The angles are 2^−k, 2^−k/2, … a place, and 2^−k is
    added to all entries of W_QK, with the least k ≥ 0 with which 400 steps from near by settle.
    `Block.certificate` proves it; `Block.network(gain)` is the block with RMSNorm and a gain.

    Parameters
    ----------
    tokens : their number, at least `rank`.
    rank : at least 2. Equal tokens along an eigenvector of W_V rest whatever the positions.
    mask : as for `layernorm_equilibrium`.

    Examples
    --------
    >>> block, X = rotary_equilibrium(3, 2)
    >>> int(np.linalg.matrix_rank(X)), bool(np.abs(block.step(X) - X).max() < 1e-12)
    (2, True)
    >>> block.certificate(X).check().accepted
    True
    """
    d = as_count("rank", rank, least=2, most=as_count("tokens", tokens, least=2))
    rest = layernorm_equilibrium(tokens, d, d, mask, True)
    near = rest.X + 1e-6 * np.random.default_rng(0).standard_normal(rest.X.shape)  # so that it must attract
    for k in range(20):
        angles = 2.0**-k * np.arange(tokens)[:, None] / (1 + np.arange(d // 2))
        W = rest.W_QK / np.sqrt(rest.d_qk) + 2.0**-k  # under a causal mask some have logits that are all equal
        block = Block([rest.W_V], [W], rest.mask, rotary=Rotary.of_angles(angles))
        X = block.settled(normalise(near, rest.norm), 400)
        least = np.linalg.svd(X, compute_uv=False)[-1]
        if np.abs(block.step(X) - X).max() < 1e-12 and least > 1e-2:
            return block, X
    raise InvalidArgument(f"tokens: {tokens} of rank {rank} given; no angle that was tried keeps the rank")


def survivors() -> dict[str, tuple[Block, Floats]]:
    """One attracting equilibrium of full rank for each extra part of a block: the block and its tokens.

    >>> for name, (block, X) in survivors().items():
    ...     print(name, np.linalg.matrix_rank(X), np.abs(block.step(X) - X).max() < 1e-12)
    two heads 2 True
    a skip, λ = 1 2 True
    an MLP 2 True
    standard LayerNorm 2 True
    all of these 2 True
    """
    on_sphere = layernorm_equilibrium(2, 2, 2, "complete", True)
    standard = layernorm_equilibrium(2, 3, 2, "complete", True, "standard")
    V, W, mask = on_sphere.W_V, on_sphere.W_QK, on_sphere.mask
    flip, cycle = np.diag([1.0, -1.0]), np.roll(np.eye(3), 1, axis=1)
    up, two = np.array([[1.0, 0, 1, -1], [0, 1, 1, 1]]), ([standard.W_V, cycle / 4], [standard.W_QK, np.eye(3)])
    made = {
        "two heads": Block([V, flip / 8], [W, 4 * flip], mask),
        "a skip, λ = 1": Block([V], [W], mask, skip=1.0),
        "an MLP": Block([V], [W], mask, up=up, down=-up.T / 4),
        "standard LayerNorm": Block([standard.W_V], [standard.W_QK], mask, norm="standard"),
        "all of these": Block(*two, mask, 1.0, np.eye(3), cycle / 4, "standard"),
    }
    starts = {"sphere": on_sphere.X, "standard": standard.X}
    return {name: (block, block.settled(starts[block.norm], 1500)) for name, block in made.items()}
