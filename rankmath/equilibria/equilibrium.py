"""One LayerNorm equilibrium: its weights and tokens, what can be measured of it, and its proof."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankmath.arithmetic.float64 import to_numpy
from rankmath.attention.backend import Backend, mover
from rankmath.attention.limits import MOST_SAMPLES as MOST_STARTS
from rankmath.attention.limits import Share, random_starts
from rankmath.drawing import draw_tokens
from rankmath.equilibria.certify import EquilibriumProof, certify_design, certify_equilibrium
from rankmath.equilibria.designs import Design
from rankmath.equilibria.map import Floats, attention, jacobian, layer, newton_from, orbit, spectral_radius
from rankmath.equilibria.wu2024 import ExactEquilibrium
from rankmath.linalg.masks import Mask
from rankmath.model.network import Attention, LayerNorm, Network, Sublayer
from rankmath.model.positions import Rotary
from rankmath.printing import Sheet, Shows
from rankmath.validation import ArrayLike, Axes, InvalidArgument, Json, as_array, as_choice, as_count, as_real


@dataclass(frozen=True)
class Basin:
    """How many random starts ended at the equilibrium X, at its mirror image −X, and at neither."""

    own: Share
    mirror: Share
    elsewhere: Share


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Shows):
    """Tokens X with N(A(X) X W_V) = X up to rounding, and what is claimed of them; `certify` proves it.

    ``exact`` holds the tokens as exact numbers where a closed form is known; ``design`` the limit of sharp
    attention that the tokens are near to, for closed forms that attract.
    """

    X: Floats
    W_V: Floats
    W_QK: Floats
    mask: Mask
    rank: int
    norm: str = "sphere"
    d_qk: int = 1
    exact: ExactEquilibrium | None = None
    design: Design | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mask, Mask):
            raise InvalidArgument(
                f"mask: a {type(self.mask).__name__} given; a Mask is needed, see Mask.causal and others"
            )
        as_choice("norm", self.norm, ("sphere", "standard"))
        as_count("rank", self.rank, least=0)
        as_count("d_qk", self.d_qk)
        d = as_array("X", self.X, ndim=2).shape[1]
        for name, shape in (("X", (self.mask.n, None)), ("W_V", (d, d)), ("W_QK", (d, d))):
            array = np.array(as_array(name, getattr(self, name), ndim=2, shape=shape))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def to_dict(self) -> dict[str, Json]:
        """Tokens, weights and what is claimed, as plain data."""
        arrays = {"X": self.X, "W_V": self.W_V, "W_QK": self.W_QK, "mask": self.mask.allowed.astype(int)}
        numbers = ("rank", "norm", "d_qk", "residual", "spectral_radius")
        return {name: a.tolist() for name, a in arrays.items()} | {name: getattr(self, name) for name in numbers}

    def sheet(self) -> Sheet:
        n, d = self.X.shape
        stable = "attracts" if self.spectral_radius < 1 - 1e-6 else "does not attract, as far as floats can tell"
        # What is rounding alone differs from one processor to the next.
        moves = f"{self.residual:.2g}" if self.residual > 1e-14 else "at most 1e-14"
        facts = (
            ("spectral radius", f"{self.spectral_radius:.6g} ({stable})"),
            ("|F(X) − X|", f"{moves}; `certify()` proves it"),
        )
        columns = ("token", *(f"x_{j + 1}" for j in range(min(d, 6))), *(("…",) if d > 6 else ()))
        rows = tuple(
            (str(i), *(f"{x:.4f}" for x in row[:6]), *(("…",) if d > 6 else ())) for i, row in enumerate(self.X)
        )
        title = f"Equilibrium: {n} tokens of dimension {d}, rank {self.rank}, {self.norm} LayerNorm"
        return Sheet(title, facts, columns, rows)

    def plot(self, ax: Axes = None) -> Axes:
        """The tokens as matplotlib axes."""
        return draw_tokens(self.X, f"Equilibrium of rank {self.rank}", ax)

    @property
    def system(self) -> tuple[Floats, Floats, Floats, str]:
        """W_V, W_QK/√d_qk, the mask as weights and the norm: what the functions of `map` take."""
        return self.W_V, self.W_QK / np.sqrt(self.d_qk), self.mask.allowed.astype(float), self.norm

    @cached_property
    def attention(self) -> Floats:
        """A(X), row-stochastic."""
        _, W, weights, _ = self.system
        return attention(self.X, W, weights)

    @cached_property
    def scale_factors(self) -> Floats:
        """The diagonal of D in A X W_V = D X (after centring, for standard LayerNorm)."""
        Y = self.attention @ self.X @ self.W_V
        return np.asarray((Y * self.X).sum(axis=1) / (self.X * self.X).sum(axis=1))

    @cached_property
    def residual(self) -> float:
        """Largest entry of |F(X) − X|."""
        return float(np.abs(layer(self.X, *self.system) - self.X).max())

    @cached_property
    def spectral_radius(self) -> float:
        """Spectral radius of the Jacobian on the tangent spaces; below 1: asymptotically stable.

        Of closed forms that attract, that of the limit, or a bound of it: their Jacobians are too far from normal
        for eigenvalues in doubles.
        """
        if self.design is not None:
            return self.design.limit_rate
        return spectral_radius(self.X, *self.system)

    @cached_property
    def network(self) -> Network:
        """One layer of one head with these weights and this LayerNorm, for `limit`, `basins` and `forward`."""
        W_QK, W_V, norm = self.W_QK[None, None], self.W_V[None, None], LayerNorm(self.norm, 0.0)
        return Network.from_arrays(W_QK, W_V, self.d_qk, norm=norm, mask=self.mask)

    def block(
        self, gain: ArrayLike | None = None, *, rotary: Rotary | None = None, norm_at: str = "after"
    ) -> tuple[Network, Floats]:
        """The same rest in a block of today's transformers: RMSNorm with a gain, before or after; and its tokens.

        With RMSNorm N after attention, N(A(X)) = X for the tokens that are returned. Before it, in X + A(N(X)),
        directions rest and lengths grow: layer by layer token i gets longer by √d D_ii, A X W_V = D X the
        equilibrium's own equation. Weights are conjugated by the gain (proofs/wu2024_3.tex), so rank, attraction
        and certificate are those of this equilibrium. Rotary positions turn entries of queries and keys that are
        added for them, and that are 0 here.

        >>> from rankmath.equilibria.constructions import layernorm_equilibrium
        >>> from rankmath.attention.plain import hidden_states
        >>> rest = layernorm_equilibrium(3, 4, 2, mask="causal")
        >>> net, X = rest.block([1.0, 2.0, 0.5, 1.0], rotary=Rotary.usual(3, 2))
        >>> bool(np.abs(hidden_states(net, X)[-1] - X).max() < 1e-12)
        True
        """
        if self.norm == "standard":
            raise InvalidArgument("norm: standard LayerNorm subtracts means; RMSNorm is the norm of the sphere")
        d, n = self.X.shape[1], len(self.X)
        g = np.ones(d) if gain is None else np.asarray(as_array("gain", gain, ndim=1, shape=(d,)))
        if (g <= 0).any():
            raise InvalidArgument(f"gain: an entry {g.min():g} given; a positive gain is needed")
        W_QK = self.W_QK / (d * g[:, None] * g)
        added = np.zeros((d, 0 if rotary is None else rotary.width))
        queries, keys = (np.hstack([added, part])[None] for part in (W_QK, np.eye(d)))
        factors = (queries, keys, (self.W_V / g[:, None])[None], np.eye(d)[None])
        attention = Attention.from_qkvo(*factors, d_qk=self.d_qk, mask=self.mask, rotary=rotary)
        norm = LayerNorm("rms", 0.0, g)
        if as_choice("norm_at", norm_at, ("after", "before")) == "before":
            return Network.from_layers([[Sublayer(attention, 1.0, before=norm)]], n), self.X
        return Network.from_layers([[Sublayer(attention, after=norm)]], n), np.sqrt(d) * self.X * g

    def iterate(self, X: ArrayLike, steps: int) -> Iterator[Floats]:
        """The orbit X, F(X), … of one start or a batch, ``steps`` layers deep."""
        starts = np.asarray(as_array("X", X, min_ndim=2, shape=self.X.shape))
        return orbit(starts, *self.system, steps=as_count("steps", steps, least=0))

    def basin(
        self,
        samples: int = 1000,
        seed: int = 0,
        *,
        steps: int = 1000,
        tolerance: float = 1e-2,
        confidence: float = 0.95,
    ) -> Basin:
        """The share of random normalised starts within `tolerance` of X after `steps` layers, with its interval.

        F is odd, so −X is an equilibrium too, and is counted apart. The tolerance is coarse because W3 converges
        like 1/t: its first token is not hyperbolic. For all limits of random starts, see `basins`.

        >>> from fractions import Fraction
        >>> import rankmath as rm
        >>> basin = rm.all_ranks(2, 2, w=Fraction(5, 3))[1].basin(500)
        >>> basin.own.low < 0.11 and basin.own.hits + basin.mirror.hits + basin.elsewhere.hits == 500
        True
        """
        tolerance = as_real("tolerance", tolerance, positive=True)
        starts = random_starts(self.network, samples, seed)
        last = deque(self.iterate(starts, steps), maxlen=1).pop()
        own, mirror = (int((np.abs(last - target).max(axis=(1, 2)) <= tolerance).sum()) for target in (self.X, -self.X))
        counts = (own, mirror, len(starts) - own - mirror)
        return Basin(*(Share.of(hits, len(starts), confidence) for hits in counts))

    def certify(self, *, stable: bool | None = None) -> EquilibriumProof:
        """Prove existence and rank, and stability (True) or instability (False) if claimed.

        By default whichever of the two the spectral radius suggests is tried; where it is not proved, the proof
        says so in ``undecided`` and claims neither.

        >>> import rankmath as rm
        >>> print(rm.all_ranks(2, 2, w=4)[1].certify().undecided)
        stable or unstable; the spectral radius of the Jacobian is 1 to six digits
        """
        if self.design is not None and stable is not False:
            return certify_design(self.design)
        radius = self.spectral_radius
        near_one = abs(radius - 1) <= 1e-6
        guess = (None if near_one else radius < 1) if stable is None else stable
        proof = certify_equilibrium(
            self.X, self.W_V, self.W_QK, self.mask, self.d_qk, self.norm, rank=self.rank, stable=guess
        )
        if stable is not None:
            return proof
        if near_one:
            said = "stable or unstable; the spectral radius of the Jacobian is 1 to six digits"
            return replace(proof, undecided=said)
        refused = next((claim for claim in proof.refused if claim.name in ("stability", "instability")), None)
        if refused is None:
            return proof
        kept = tuple(claim for claim in proof.claims if claim is not refused)
        return replace(proof, claims=kept, undecided=f"stable or unstable; {refused.reason}")


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
