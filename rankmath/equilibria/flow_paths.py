"""Trajectories of flows, enclosed: a center and a radius at every time, in balls; and where such a path ends.

One step of length h from the center c: x(h) = c + h f(c) + (h²/2)(Df f)(B), B a box that the path does not leave.
The distances e_i of two paths, token by token, grow at most like e' = Me, M_ii the largest eigenvalue of the
symmetric part of the block of Df at i over B, M_ij the norm of the block at i, j.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_mat

from rankmath.arithmetic.balls import ball, precision, upper_float
from rankmath.equilibria.flow_proof import NotProved
from rankmath.printing import Sheet, Shows
from rankmath.validation import Floats, NumpyArray, as_count, as_real

if TYPE_CHECKING:
    from rankmath.equilibria.flow import Flow
    from rankmath.equilibria.flow_proof import FlowProof

_BITS = 80
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
    with precision(_BITS):
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
    d = len(block)
    if own:
        return arb(upper_float(largest_eigenvalue(arb_mat(d, d, list(((block + block.T) / 2).flat)))))
    return _length(block.flat)


def _length(entries: Iterable[arb]) -> arb:
    """An upper bound of the ℓ₂ norm."""
    return arb(upper_float(sum((arb(upper_float(abs(x))) ** 2 for x in entries), arb(0)).sqrt()))


def largest_eigenvalue(S: arb_mat) -> arb:
    """An upper bound of the eigenvalues of a symmetric matrix of balls: Gershgorin, in a basis that nearly fits."""
    size = S.nrows()
    middle = np.array([float(x.mid()) for x in S.entries()]).reshape(size, size)
    Q = arb_mat(np.linalg.eigh((middle + middle.T) / 2)[1].tolist())
    top = _gershgorin(Q.transpose() * S * Q)
    off = Q.transpose() * Q - arb_mat(np.eye(size, dtype=int).tolist())
    near = _gershgorin(off).max(_gershgorin(-off)).max(arb(0))  # Q stretches by 1 ± near, squared
    return (top / (1 - near)).max(top / (1 + near))


def _gershgorin(M: arb_mat) -> arb:
    size = M.nrows()
    rows = [M[i, i] + sum((abs(M[i, j]) for j in range(size) if j != i), arb(0)) for i in range(size)]
    found = rows[0]
    for x in rows[1:]:
        found = found.max(x)
    return found


def _boxed(X: Floats, widths: Floats) -> NumpyArray:
    return np.array([[arb(float(x), float(w)) for x in row] for row, w in zip(X, widths, strict=True)], dtype=object)


def basin(proof: FlowProof) -> Floats:
    """For every token of a proved sink a radius: starts whose tokens are all within theirs end at it. 0 if none is
    shown. With v > 0 and Mv < 0 over a box the largest |x_i − x_i*|/v_i falls there."""
    X, flow = proof.tokens, proof.flow
    n, d = X.shape
    with precision(_BITS):
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
