"""Proofs about flows, in balls: one equilibrium in a box (Krawczyk), its spectrum, and trajectories enclosed.

A trajectory is enclosed by a center and a radius at every time.
One step of length h from the center c: x(h) = c + h f(c) + (h²/2)(Df f)(B), B a box that the path does not leave.
The distances e_i of two paths, token by token, grow at most like e' = Me, M_ii the largest eigenvalue of the
symmetric part of the block of Df at i over B, M_ij the norm of the block at i, j.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, acb_mat, arb, arb_mat

from rankmath.arithmetic.balls import Balls, ball, lower_float, precision, upper_float
from rankmath.certificates.certificate import Certificate, Data
from rankmath.certificates.issue import NotIssued, issue
from rankmath.equilibria.flow import kind_of, named, tangents
from rankmath.equilibria.proofs import closes
from rankmath.linalg.norms import symmetric_extremes
from rankmath.printing import Sheet, Shows, power_of_two, rounded
from rankmath.validation import Array, ArrayLike, Floats, InvalidArgument, NumpyArray, as_count, as_real

if TYPE_CHECKING:
    from rankmath.equilibria.flow import Flow

_BITS = 128
# Radii of the box that are tried: smaller ones give sharper spectra, larger ones survive a poor start.
_RADII = tuple(Fraction(1, 2**k) for k in (40, 34, 28, 22, 16))
# An equilibrium farther than this from the tokens given is not the one that was meant.
_NEAR = 1e-3


class NotProved(ArithmeticError):
    """Balls do not show that there is one equilibrium near these tokens."""


@dataclass(frozen=True, eq=False, repr=False)
class FlowProof(Shows):
    """Exactly one equilibrium within `radius` of `tokens` in every coordinate; it lies on the sphere.

    `eigenvalues` are balls, as (real part, imaginary part), that hold those of the linearisation on the tangent
    space. `kind` is sink, source or saddle if they show it, else degenerate.
    """

    flow: Flow
    tokens: Floats
    radius: Fraction
    eigenvalues: tuple[tuple[arb, arb], ...]
    kind: str
    inverse: Floats
    inward: int

    def bounds(self) -> list[tuple[float, float]]:
        """For each eigenvalue floats between which its real part lies."""
        return [(lower_float(real), upper_float(real)) for real, _ in self.eigenvalues]

    def turned(self) -> list[bool]:
        """For each token whether V x is shown not to be a multiple of x: then x is no eigenvector of V."""
        with precision(_BITS):
            X = _boxed(self.tokens, float(self.radius))
            Y = X @ np.vectorize(ball, otypes=[object])(self.flow.value).T
            pairs = [(a, b) for a in range(self.flow.dim) for b in range(a)]
            return [any(0 not in x[a] * y[b] - x[b] * y[a] for a, b in pairs) for x, y in zip(X, Y, strict=True)]

    def basin(self) -> Floats:
        """A radius for every token (n,): starts whose tokens are all within theirs end at this sink; 0 if none is
        shown."""
        return basin(self)

    def attracts(self, X: ArrayLike, time: float, *, steps: int = 400) -> bool:
        """Whether the start X is shown, in balls, to end at this sink: by `time` its path is within the basin."""
        X = self.flow.tokens(X)
        if len(X) != len(self.tokens):
            raise InvalidArgument(f"X: {len(X)} tokens given; {len(self.tokens)} are needed, as at the equilibrium")
        return self.kind == "sink" and ends_at(self.flow.enclose(X, time, steps=steps), self)

    def certificate(self, statement: str = "own:flow-sink", **more: Array) -> Certificate:
        """A certificate of a sink that the independent checker accepts; `more` are further exact data.

        Its hint is a Lyapunov function: a form S with SJ + JᵀS negative definite over the box.
        """
        if self.kind != "sink":
            raise NotIssued(f"{statement}: the equilibrium is no proved sink but {self.kind}; sinks are certified")
        from scipy.linalg import solve_continuous_lyapunov

        n = len(self.tokens)
        J = self.flow.derivative(self.tokens, inward=self.inward)
        form = solve_continuous_lyapunov(J.T, -np.eye(len(J)))
        data = {
            "V": self.flow.value,
            "Q": self.flow.query,
            "K": self.flow.key,
            "beta": self.flow.beta,
            "mask": self.flow.mask_for(n).allowed.astype(int),
            "normalised": int(self.flow.normalised),
            "tokens": self.tokens,
            "radius": self.radius,
            **more,
        }
        hints: dict[str, Data] = {"preconditioner": _short(self.inverse), "form": _short((form + form.T) / 2)}
        hints["inward"] = self.inward
        kind = "exists" if statement.startswith("own:") else "violates"
        return issue(Certificate(statement, kind, data, hints))

    def sheet(self) -> Sheet:
        real = ", ".join(f"[{rounded(low, 6, up=False)}, {rounded(high, 6, up=True)}]" for low, high in self.bounds())
        where = "; ".join("(" + ", ".join(f"{x:.6g}" for x in row) + ")" for row in self.tokens)
        facts = (
            ("tokens", f"{where}, to six digits; proved within {power_of_two(self.radius)} of the stored ones"),
            ("real parts of its eigenvalues", real),
        )
        return Sheet(f"{named(self.kind)}, proved", facts)


def prove(flow: Flow, X: Floats) -> FlowProof:
    """One equilibrium near X, by Krawczyk's test in balls; `NotProved` says why there is no proof."""
    X = polished(flow, X)
    inward = flow.inward(X)
    inverse = np.linalg.pinv(flow.derivative(X, inward=inward))
    with precision(_BITS):
        for radius in _RADII:
            boxed = _boxed(X, float(radius))
            exact = _boxed(X, 0.0)
            J, at_rest = _matrix(flow.derivative(boxed, ball, inward)), flow.velocity(exact, ball, inward)
            inside = closes(arb_mat(inverse.tolist()), _matrix(at_rest.reshape(-1, 1)), J, ball(radius))
            pulls = (boxed * flow.sent(boxed, ball) + inward * boxed * boxed).sum(axis=1)
            if inside and all(y > 0 for y in pulls):
                return FlowProof(flow, X, radius, *_spectrum(boxed, J), inverse, inward)
    why = "no tokens rest there, or the linearisation has the eigenvalue 0"
    raise NotProved(f"no proof of one equilibrium within {_NEAR} of X: {why}")


def _spectrum(X: Array, J: arb_mat) -> tuple[tuple[tuple[arb, arb], ...], str]:
    """Enclosures of the eigenvalues on the tangent space at the true equilibrium, which is in the box X."""
    T = _matrix(tangents(X))
    M = acb_mat(T.transpose() * J * T)
    # Where eigenvalues meet, those of Arb are wide; discs after a change of coordinates are not.
    found = [_discs(M)]
    with suppress(ValueError):  # Arb could not tell them apart at all
        found.append(M.eig(multiple=True))
    pairs = min(([(z.real, z.imag) for z in one] for one in found), key=_width)
    return tuple(pairs), kind_of([bool(real < 0) for real, _ in pairs], [bool(real > 0) for real, _ in pairs])


def _width(pairs: Sequence[tuple[arb, arb]]) -> float:
    return max(float(real.rad()) for real, _ in pairs)


def _discs(M: acb_mat) -> list[acb]:
    """Gershgorin's discs of S⁻¹MS, S a unitary matrix that makes M nearly triangular, with columns that shrink.

    Discs that meet hold as many eigenvalues together as there are; so the signs of their real parts are counted
    right wherever no disc meets the imaginary axis.
    """
    from scipy.linalg import schur

    size = M.nrows()
    floats = np.array([complex(z.mid()) for z in M.entries()]).reshape(size, size)
    _, U = schur(floats, output="complex")
    S = acb_mat((U * 0.5 ** (16 * np.arange(size) / max(size, 4))).tolist())
    moved = S.solve(M * S)
    radii = [sum((abs(moved[i, j]) for j in range(size) if j != i), arb(0)).abs_upper() for i in range(size)]
    return [moved[i, i] + acb(arb(0, r), arb(0, r)) for i, r in enumerate(radii)]


def polished(flow: Flow, X: Floats) -> Floats:
    """A few steps of Newton's method, as long as they stay near X."""
    best = X
    for _ in range(4):
        step = np.linalg.lstsq(flow.derivative(best), flow.velocity(best).ravel(), rcond=1e-10)[0]
        moved = best - step.reshape(X.shape)
        if abs(moved - X).max() > _NEAR or not abs(flow.velocity(moved)).max() < abs(flow.velocity(best)).max():
            break
        best = moved
    return np.round(best * 2.0**50) / 2.0**50 + 0.0  # a box is far wider, and exact data stay short; no −0


def _boxed(X: Floats, widths: Floats | float) -> NumpyArray:
    """Balls around floats, of one radius or of one for every row."""
    radii = np.broadcast_to(np.reshape(widths, (-1, 1)), X.shape)
    return np.asarray(np.vectorize(lambda x, w: arb(float(x), float(w)), otypes=[object])(X, radii))


def _matrix(M: Array) -> arb_mat:
    rows, columns = M.shape
    return arb_mat(int(rows), int(columns), list(M.flat))


def _short(M: Floats) -> list[list[Fraction]]:
    """Hints need not be exact: 2⁻³⁰ of the largest entry is enough."""
    unit = Fraction(2) ** (int(np.ceil(np.log2(max(abs(M).max(), 1e-300)))) - 30)
    return [[round(Fraction(float(x)) / unit) * unit for x in row] for row in M]


# -- trajectories --------------------------------------------------------------------------------------------

_PATH_BITS = 80
# Pulls κ to the sphere that are tried: with a strong one errors across the sphere do not feed those along it.
_PULLS = (1, 2, 4, 8)
# How far a float token may be from the sphere.
_ROUNDING = 2.0**-50
# Radii in which all paths are tried to come together.
_BASINS = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)


@dataclass(frozen=True, eq=False, repr=False)
class EnclosedPath(Shows):
    """At times (k,) token i is within `radii` (k, n) of `tokens` (k, n, d), in the ℓ₂ norm: proved."""

    times: Floats
    tokens: Floats
    radii: Floats

    def sheet(self) -> Sheet:
        _, n, d = self.tokens.shape
        what = f"Enclosed trajectory of {n} tokens in dimension {d} up to time {self.times[-1]:g}"
        return Sheet(what, (("radius at the end", f"{self.radii[-1].max():.1e}, proved"),))


def enclose(flow: Flow, X: Floats, time: float, steps: int) -> EnclosedPath:
    """The path from X, divided by its lengths, in so many steps; `NotProved` where it gets too wide."""
    time, count = as_real("time", time, positive=True), as_count("steps", steps)
    center = X / np.linalg.norm(X, axis=1, keepdims=True)
    radii = np.full(len(X), _ROUNDING)
    found = [(center, radii)]
    with precision(_PATH_BITS):
        step = ball(Fraction(float(time)) / count)
        for _ in range(count):
            center, radii = _step(flow, center, radii, step)
            found.append((center, radii))
    tokens, widths = zip(*found, strict=True)
    return EnclosedPath(np.linspace(0.0, time, count + 1), np.array(tokens), np.array(widths))


def _step(flow: Flow, center: Floats, radii: Floats, step: arb) -> tuple[Floats, Floats]:
    n, d = center.shape
    # The path of the point on the sphere that rounds to the center, by the field that needs no pull to the sphere.
    lone = _held(flow, center, 0 * radii + _ROUNDING, step)
    turn = flow.derivative(lone, ball, 0) @ flow.velocity(lone, ball, 0).ravel()
    start = _boxed(center, 0 * radii + _ROUNDING)
    after = start + step * flow.velocity(start, ball, 0) + step * step / 2 * turn.reshape(n, d)
    middle = np.vectorize(lambda x: float(x.mid()), otypes=[float])(after)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    error = [_length(x - c for x, c in zip(*rows, strict=True)) for rows in zip(after, middle.tolist(), strict=True)]
    # Both paths lie on the sphere, so any pull to it may be added: the one with the least growth.
    box = _held(flow, center, radii + _ROUNDING, step)
    M = growths(flow, box, _PULLS).tolist()
    grown = arb_mat([[step * x for x in row] for row in M]).exp() * arb_mat(n, 1, (radii + _ROUNDING).tolist())
    return middle, np.array([upper_float(grown[i, 0] + error[i]) for i in range(n)])


def growths(flow: Flow, box: NumpyArray, pulls: Iterable[int]) -> NumpyArray:
    """The matrix M over a box, with that of the pulls to the sphere that makes each diagonal entry least."""
    n, d = box.shape
    found = [flow.derivative(box, ball, pull).reshape(n, d, n, d) for pull in pulls]
    own = [[_growth(J[i, :, i], own=True) for i in range(n)] for J in found]
    least = [min(column, key=float) for column in zip(*own, strict=True)]
    return np.array(
        [[least[i] if i == j else _growth(found[0][i, :, j], own=False) for j in range(n)] for i in range(n)],
        dtype=object,
    )


def _held(flow: Flow, center: Floats, radii: Floats, step: arb) -> NumpyArray:
    """A box that no path from within the radii of the center leaves within the step."""
    widths = 1.1 * float(step) * abs(flow.velocity(center, inward=0)).max(axis=1) + 1.05 * radii + 1e-14
    for _ in range(12):
        box = _boxed(center, widths)
        moved = flow.velocity(box, ball, 0) * step
        reach = np.array([max(upper_float(abs(x)) for x in row) for row in moved]) + radii
        if (reach < widths).all():
            return box
        widths = np.maximum(1.3 * reach, widths)
    raise NotProved(f"steps: no box holds a step of {float(step):g} from radii of {radii.max():.1e}; take more steps")


def _growth(block: NumpyArray, *, own: bool) -> arb:
    """An upper bound: a token's own block, its symmetric part's largest eigenvalue; another's, its norm."""
    if own:
        return arb(upper_float(symmetric_extremes((block + block.T) / 2, Balls())[1]))
    return _length(block.flat)


def _length(entries: Iterable[arb]) -> arb:
    """An upper bound of the ℓ₂ norm."""
    return arb(upper_float(sum((arb(upper_float(abs(x))) ** 2 for x in entries), arb(0)).sqrt()))


def basin(proof: FlowProof) -> Floats:
    """For every token of a proved sink a radius: starts whose tokens are all within theirs end at it. 0 if none is
    shown. With v > 0 and Mv < 0 over a box the largest |x_i − x_i*|/v_i falls there."""
    X, flow = proof.tokens, proof.flow
    n, d = X.shape
    with precision(_PATH_BITS):
        for size in _BASINS:
            weights = np.ones(n)
            for _ in range(2):  # the weights of the last try's M, if they are positive
                widths = size * weights
                M = growths(flow, _boxed(X, widths), _PULLS)
                if all(x < 0 for x in M @ np.array([arb(w) for w in weights], dtype=object)):
                    # The equilibrium itself is within proof.radius of X in every coordinate.
                    off = ball(proof.radius) * d
                    return np.array([max(0.0, -upper_float(-(arb(w) - off - off * w / size))) for w in widths])
                floats = M.astype(float)
                solved = np.linalg.solve(floats, -np.ones(n)) if np.linalg.det(floats) else weights
                weights = solved / solved.max() if (solved > 0).all() else weights
    return np.zeros(n)


def ends_at(path: EnclosedPath, proof: FlowProof) -> bool:
    """Whether the path is shown to end at the sink: at its last time it is enclosed by the basin."""
    gaps = np.linalg.norm(path.tokens[-1] - proof.tokens, axis=1) * (1 + 1e-12) + 1e-15
    return bool((gaps + path.radii[-1] < basin(proof)).all())
