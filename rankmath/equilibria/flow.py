"""A flow of tokens on the sphere: x_i' = P_{x_i}(Σ_j a_ij V x_j), a from queries, keys and a mask.

P_x y = y − ⟨x, y⟩x is the part of y tangent to the sphere at x. The formulas below extend the field to all of
space, with κ(1 − |x|²)x more: then ⟨x, x'⟩ = (1 − |x|²)(⟨x, y⟩ + κ|x|²), so the sphere is invariant, and where the
second factor is positive it attracts, and equilibria lie on it: nothing is lost by working with all coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankmath.linalg.masks import Mask, MaskLike, as_mask
from rankmath.linalg.rationals import exact_array
from rankmath.model.sublayers import checked_mask
from rankmath.printing import Sheet, Shows, digits
from rankmath.validation import (
    Array,
    ArrayLike,
    Axes,
    Floats,
    InvalidArgument,
    Number,
    Objects,
    as_array,
    as_choice,
    as_count,
    as_real,
)

if TYPE_CHECKING:
    from rankmath.equilibria.flow_proof import EnclosedPath, FlowProof

# Newton's method has arrived where the field is this small against the values.
_AT_REST = 1e-11
# Two equilibria nearer than this are taken for one: near a degenerate one Newton's method stops early.
_APART = 1e-3
# Real parts below this may be 0: at a degenerate equilibrium eigenvalues carry half the digits.
_NOISE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Flow(Shows):
    """Attention as a flow: x_i' = P_{x_i}(Σ_j a_ij V x_j) for tokens x_i on the unit sphere.

    Parameters
    ----------
    value : V (d, d); it acts on columns, V x.
    query, key : Q and K (e, d); the logits are β⟨Q x_i, K x_j⟩. The identity where none is given.
    beta : the inverse temperature β.
    mask : who sees whom: "complete", "causal", a matrix, … as for networks.
    normalised : whether a_ij is the softmax of the logits; if not it is e^logit/n.

    Every number is kept exactly: floats are the dyadic numbers they are, Fractions stay.

    Examples
    --------
    Two causal tokens that rest at e_1 and (−4/5, 3/5), and attract all that start near them:

    >>> flow = Flow([[2, -2], [0, 1]], query=[[0, 0]], key=[[0, 0]], mask="causal")
    >>> bool(abs(flow.field([[1, 0], [-0.8, 0.6]])).max() < 1e-15)
    True
    >>> flow.spectrum([[1, 0], [-0.8, 0.6]]).real.round(12).tolist()
    [-1.0, -0.3]
    >>> flow.certify([[1, 0], [-0.8, 0.6]]).kind
    'sink'
    """

    value: Array
    query: Array = None
    key: Array = None
    beta: Number = 1
    mask: MaskLike = "complete"
    normalised: bool = True

    def __post_init__(self) -> None:
        V = exact_array("value", self.value, (None, None))
        d = V.shape[1]
        V = exact_array("value", V, (d, d))
        eye = np.array([[int(i == j) for j in range(d)] for i in range(d)], dtype=object)
        Q = exact_array("query", eye if self.query is None else self.query, (None, d))
        if self.key is None and len(Q) != d:
            raise InvalidArgument(
                f"key: none given, so the identity, with query ({len(Q)}, {d}); as many rows are needed"
            )
        K = exact_array("key", eye if self.key is None else self.key, (len(Q), d))
        as_choice("normalised", self.normalised, (True, False))
        checked_mask(self.mask)
        beta = exact_array("beta", self.beta, ())[()]
        for name, number in (("value", V), ("query", Q), ("key", K), ("beta", beta)):
            object.__setattr__(self, name, number)

    @property
    def dim(self) -> int:
        """The dimension d of a token."""
        return len(self.value)

    @cached_property
    def form(self) -> Objects:
        """β QᵀK: the logits are x_iᵀ (βQᵀK) x_j."""
        return np.asarray(self.beta * (self.query.T @ self.key), dtype=object)

    def mask_for(self, tokens: int) -> Mask:
        """The mask on so many tokens."""
        return as_mask(self.mask, tokens)

    def tokens(self, X: ArrayLike) -> Floats:
        """X as floats of norm one (n, d)."""
        X = as_array("X", X, ndim=2)
        if X.shape[1] != self.dim:
            raise InvalidArgument(f"X: tokens of dimension {X.shape[1]} given; {self.dim} is needed, as for V")
        norms = np.linalg.norm(X, axis=1)
        if (off := abs(norms - 1)).max(initial=0.0) > 1e-6:
            i = int(off.argmax())
            raise InvalidArgument(f"X: token {i} has norm {norms[i]:.7g}; norm 1 is needed, tokens lie on the sphere")
        self.mask_for(len(X))
        return np.asarray(X, dtype=float)

    # -- the field and its derivative, over floats and over balls ---------------------------------------------

    def _numbers(self, make: Callable[[Number], Number], n: int) -> tuple[Array, Array, Array]:
        """V, βQᵀK and the mask, each number made by `make`."""
        if make is float:
            if n not in self._seen:
                self._seen[n] = self.mask_for(n).allowed.astype(float)
            return *self._floats, self._seen[n]
        over = np.vectorize(make, otypes=[object])
        return over(self.value), over(self.form), over(self.mask_for(n).allowed.astype(int))

    @cached_property
    def _seen(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        return self.value.astype(float), self.form.astype(float)

    def attention(self, X: Array, make: Callable[[Number], Number] = float) -> Array:
        """a_ij (n, n)."""
        _, B, seen = self._numbers(make, len(X))
        logits = X @ B @ X.T
        if not self.normalised:
            return seen * np.exp(logits) / len(X)
        if make is float:  # balls need no shift: their exponents are unbounded
            logits = logits - np.max(np.where(seen > 0, logits, -np.inf), axis=1, keepdims=True)
            logits = np.where(seen > 0, logits, 0.0)
        weights = seen * np.exp(logits)
        return weights / weights.sum(axis=1, keepdims=True)

    def field(self, X: ArrayLike) -> Floats:
        """The velocities of tokens X (n, d)."""
        return np.asarray(self.velocity(self.tokens(X)))

    def velocity(self, X: Array, make: Callable[[Number], Number] = float, inward: int = 1) -> Array:
        """The field off the sphere as well, with κ = inward; over floats, or over balls where `make` makes them."""
        Y = self.sent(X, make)
        return Y - (X * Y + inward * (X * X)).sum(axis=1, keepdims=True) * X + inward * X

    def sent(self, X: Array, make: Callable[[Number], Number] = float) -> Array:
        """y_i = Σ_j a_ij V x_j, before the projection."""
        V, _, _ = self._numbers(make, len(X))
        return self.attention(X, make) @ (X @ V.T)

    def derivative(self, X: Array, make: Callable[[Number], Number] = float, inward: int = 1) -> Array:
        """The derivative of `velocity` (nd, nd): dy_i = Σ_j a_ij (V dx_j + (v_j − c_i) dL_ij), v_j = V x_j.

        c_i is y_i where attention is normalised, else 0; L_ij = x_iᵀ B x_j.
        """
        n, d = X.shape
        V, B, _ = self._numbers(make, n)
        a, values = self.attention(X, make), X @ V.T
        Y = a @ values
        J = np.empty((n, d, n, d), dtype=a.dtype)
        eye = np.vectorize(make, otypes=[a.dtype])(np.eye(d, dtype=int))
        for i in range(n):
            x, y = X[i], Y[i]
            tilt = a[i][:, None] * (values - y if self.normalised else values)
            tangent = eye - np.outer(x, x)
            back = np.outer(x, y) + (x @ y) * eye + inward * (2 * np.outer(x, x) + (x @ x - 1) * eye)
            for j in range(n):
                slope = a[i, j] * V + np.outer(tilt[j], x @ B)
                if j == i:
                    slope = slope + sum(np.outer(tilt[k], B @ X[k]) for k in range(n))
                J[i, :, j] = tangent @ slope - back if j == i else tangent @ slope
        return J.reshape(n * d, n * d)

    def _flat_velocity(self, x: Floats, n: int, inward: int) -> Floats:
        return np.asarray(self.velocity(x.reshape(n, -1), inward=inward).ravel())

    def _flat_derivative(self, x: Floats, n: int, inward: int) -> Floats:
        return np.asarray(self.derivative(x.reshape(n, -1), inward=inward))

    def inward(self, X: Floats) -> int:
        """A whole κ ≥ 1 with ⟨x_i, y_i⟩ + κ > 0 for all tokens: there the sphere attracts."""
        return 1 + max(0, int(np.ceil(-(X * self.sent(X)).sum(axis=1).min() + 0.5)))

    def spectrum(self, X: ArrayLike) -> Array:
        """Eigenvalues of the linearisation on the tangent space at X, which should be at rest; floats."""
        X = self.tokens(X)
        T = tangents(X)
        values = np.linalg.eigvals(T.T @ self.derivative(X) @ T)
        return np.sort_complex(values.astype(complex))

    # -- what it does -------------------------------------------------------------------------------------

    def trajectory(self, X: ArrayLike, time: float, *, points: int = 101, tolerance: float = 1e-10) -> Trajectory:
        """The tokens from X up to `time`, at so many points, in floats with an estimate of their error.

        It is integrated twice (Dormand and Prince, order 8), the second time with a tolerance a hundred times
        smaller: `error` is the largest difference. An estimate, no bound: where paths part it can be too small.
        """
        start, time = self.tokens(X), as_real("time", time, positive=True)
        tolerance = as_real("tolerance", tolerance, positive=True, most=0.01)
        times = np.linspace(0.0, time, as_count("points", points, least=2))
        start = start / np.linalg.norm(start, axis=1, keepdims=True)

        coarse, fine = (self._moved(start, time, times, size) for size in (tolerance, tolerance / 100))
        return Trajectory(times, fine, float(abs(coarse - fine).max()))

    def enclose(self, X: ArrayLike, time: float, *, steps: int = 400) -> EnclosedPath:
        """The same in balls: at every step a center and a radius that is proved, from X divided by its lengths.

        Where paths part, or steps are long, the radius grows; `NotProved` says so where it gets out of hand.
        """
        from rankmath.equilibria.flow_proof import enclose

        return enclose(self, self.tokens(X), time, steps)

    def _moved(self, start: Floats, time: float, times: Floats, tolerance: float) -> Floats:
        from scipy.integrate import solve_ivp

        n = len(start)

        def speed(_: float, x: Floats) -> Floats:
            X = x.reshape(n, -1)  # back on the sphere, from which rounding and the method's error lead away
            return np.asarray(self.velocity(X / np.sqrt((X * X).sum(axis=1, keepdims=True)), inward=0).ravel())

        size = max(tolerance, 3e-14)  # SciPy allows no less
        done = solve_ivp(speed, (0.0, time), start.ravel(), "DOP853", times, rtol=size, atol=size)
        if not done.success:
            raise ArithmeticError(f"the flow could not be followed up to {time}: {done.message}")
        path = done.y.T.reshape(len(times), *start.shape)
        return np.asarray(path / np.linalg.norm(path, axis=2, keepdims=True))

    def equilibria(self, tokens: int, *, starts: int = 40, seed: int = 0) -> list[FlowEquilibrium]:
        """Equilibria of so many tokens, found by Newton's method from random starts; there may be others.

        Of a family that is not isolated (V = I and equal tokens, say) some members are listed.
        """
        from scipy.optimize import root

        n, rng = as_count("tokens", tokens), np.random.default_rng(as_count("seed", seed, least=0))
        self.mask_for(n)
        found: list[Floats] = []
        for k in range(as_count("starts", starts)):
            X = rng.standard_normal((n, self.dim))
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            if k % 2:  # half of them near where the flow goes
                X = self._moved(X, 30.0, np.array([0.0, 30.0]), 1e-4)[-1]
            with np.errstate(over="ignore", invalid="ignore"):  # a step that went too far is left out below
                done = root(
                    self._flat_velocity, X.ravel(), args=(n, self.inward(X)), jac=self._flat_derivative, tol=1e-14
                )
            lengths = np.linalg.norm(done.x.reshape(n, -1), axis=1, keepdims=True)
            if not np.isfinite(done.x).all() or (abs(lengths - 1) > 1e-6).any():
                continue
            X = done.x.reshape(n, -1) / lengths
            X[abs(X) < 1e-15] = 0.0
            small = abs(self.velocity(X)).max() <= _AT_REST * (1 + float(np.linalg.norm(self._floats[0])))
            if small:  # the logits are quadratic: with X also −X rests
                found += [Y for Y in (X, 0.0 - X) if all(abs(Y - other).max() > _APART for other in found)]
        listed = [FlowEquilibrium(self, X, self.spectrum(X)) for X in found]
        return sorted(listed, key=lambda one: (one.unstable, *one.tokens.ravel().round(6).tolist()))

    def certify(self, X: ArrayLike) -> FlowProof:
        """A proof in balls of an equilibrium within 0.001 of X, alone in its box, with its spectrum enclosed."""
        from rankmath.equilibria.flow_proof import prove

        if self.dim < 2:
            raise InvalidArgument("X: tokens of dimension 1 given; they cannot move, so 2 or more is needed")
        return prove(self, self.tokens(X))

    def plot(self, *paths: Trajectory, equilibria: Sequence[FlowEquilibrium] = (), ax: Axes = None) -> Axes:
        """Paths of tokens on the circle (d = 2): angles over time, and the angles of equilibria as lines."""
        from rankmath.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, axes_for

        if self.dim != 2:
            raise InvalidArgument(f"plot: a flow in dimension {self.dim} given; angles are drawn in dimension 2")
        ax = axes_for(ax)
        for one in equilibria:
            for angle in _angles(one.tokens):
                style = "-" if one.kind == "sink" else ":"
                ax.axhline(angle, color=GREY, linewidth=0.8, linestyle=style, zorder=0)
        colours = (BLUE, ORANGE, GREEN, PURPLE)
        for path in paths:
            for i in range(path.tokens.shape[1]):
                label = f"token {i + 1}" if path is paths[0] else None
                ax.plot(path.times, _angles(path.tokens[:, i]), ".", ms=2, color=colours[i % 4], label=label)
        ax.set(xlabel="time", ylabel="angle", yticks=[-np.pi, 0, np.pi], yticklabels=["−π", "0", "π"])
        if paths:
            ax.legend()
        return ax

    def sheet(self) -> Sheet:
        mask = self.mask if isinstance(self.mask, str) else "a graph"
        facts = (
            ("V", str([[str(x) for x in row] for row in self.value.tolist()]).replace("'", "")),
            ("βQᵀK", str([[str(x) for x in row] for row in self.form.tolist()]).replace("'", "")),
            ("attention", f"{'softmax' if self.normalised else 'exponential, divided by n'}, mask {mask}"),
        )
        return Sheet(f"Flow of tokens on the sphere in dimension {self.dim}", facts)


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Shows):
    """Tokens (points, n, d) at times (points,), and an estimate of the largest error of a coordinate."""

    times: Floats
    tokens: Floats
    error: float

    def sheet(self) -> Sheet:
        _, n, d = self.tokens.shape
        what = f"Trajectory of {n} tokens in dimension {d} up to time {self.times[-1]:g}"
        return Sheet(what, (("error", f"about {self.error:.1e}, estimated"),))


@dataclass(frozen=True, eq=False, repr=False)
class FlowEquilibrium(Shows):
    """Tokens at rest, with the eigenvalues of the linearisation on the tangent space; floats, not proved."""

    flow: Flow
    tokens: Floats
    eigenvalues: Array

    @property
    def unstable(self) -> int:
        """The number of eigenvalues with a positive real part."""
        return int((self.eigenvalues.real > _NOISE).sum())

    @property
    def kind(self) -> str:
        """sink, source or saddle; degenerate where an eigenvalue is near the imaginary axis."""
        return kind_of(-self.eigenvalues.real > _NOISE, self.eigenvalues.real > _NOISE)

    def certify(self) -> FlowProof:
        """`Flow.certify` at its tokens."""
        return self.flow.certify(self.tokens)

    def sheet(self) -> Sheet:
        values = ", ".join(digits(v.real) + (f"{v.imag:+.4g}i" if v.imag else "") for v in self.eigenvalues) or "none"
        where = "; ".join("(" + ", ".join(digits(x) for x in row) + ")" for row in self.tokens)
        return Sheet(named(self.kind), (("tokens", where), ("eigenvalues", values)))


def kind_of(falls: Sequence[bool] | Array, grows: Sequence[bool] | Array) -> str:
    """The kind of an equilibrium, of whose eigenvalues these have a negative, and these a positive, real part."""
    if not all(a or b for a, b in zip(falls, grows, strict=True)):
        return "degenerate"
    return "sink" if all(falls) else "source" if all(grows) else "saddle"


def named(kind: str) -> str:
    """An equilibrium of this kind, in words.

    >>> named("sink"), named("degenerate")
    ('A sink of the flow', 'A degenerate equilibrium of the flow')
    """
    return f"A {kind}{' equilibrium' if kind == 'degenerate' else ''} of the flow"


def tangents(X: Array) -> Array:
    """An orthonormal basis (nd, n(d − 1)) of the tangent space at unit tokens X, of floats or balls: reflections.

    I − 2uuᵀ/|u|² with u = x ± e_k sends e_k to ∓x, so its other columns are tangent at x.
    """
    n, d = X.shape
    zero = X[0, 0] - X[0, 0]
    T = np.full((n, d, n, d - 1), zero, dtype=X.dtype)
    for i in range(n):
        near = [abs(float(v)) for v in X[i]]
        k = int(np.argmax(near))
        u = X[i].copy()
        u[k] = u[k] + (1 if float(X[i, k]) >= 0 else -1)
        square = (u * u).sum()
        columns = [c for c in range(d) if c != k]
        for place, c in enumerate(columns):
            column = -2 * u * u[c] / square
            column[c] = column[c] + 1
            T[i, :, i, place] = column
    return T.reshape(n * d, n * (d - 1))


def _angles(points: Floats) -> Floats:
    return np.arctan2(points[..., 1], points[..., 0])
