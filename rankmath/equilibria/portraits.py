"""Phase portraits of attention under LayerNorm, as arrays: where tokens rest, and which starts come to rest where.

Tokens that live on a circle (two dimensions on the sphere, three under standard LayerNorm) are angles, and two
tokens a point of the torus: `Portrait`. In other dimensions the distance to an equilibrium is followed: `Approach`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankmath.attention.limits import grouped, limits
from rankmath.equilibria.equilibrium import Equilibrium, escaping, find_equilibria, frame_of
from rankmath.equilibria.map import Floats, layer, token_norm
from rankmath.model.network import Network
from rankmath.validation import InvalidArgument, as_count, as_real

# No grid may meet a symmetry on which tokens cancel to zero: its two axes start at unrelated angles.
_OFFSETS = (0.3819660112501051, 0.4142135623730951)
_FINE = 720
_FINEST_GRID = 2000


@dataclass(frozen=True, eq=False)
class Portrait:
    """Tokens on a circle, as angles: basins over one or two of them, equilibria, and where the orbits settle.

    Attributes
    ----------
    tokens, moving : how many there are, and the one or two whose angles vary; the others are held at `rest`.
    rest : (n,) angles of an equilibrium, nan where none is known.
    axes : the angles of the grid, one array for each token that varies.
    basin : index into `limits` by angle(s), −1 where undecided.
    limits, periods : (k, n) the angles of the first state of each limit, and its period.
    mirrors : (k,) which limit is the mirror image, itself where it is its own, −1 where it was not met.
    equilibria : (e, n) angles of the equilibria found, whether or not they lie in the plane that is drawn.
    escaping, neutral : (e,) how many eigenvalues lie outside the unit circle, and on it to 10⁻⁶.
    circle_map : (2, m) the last token's angle and its next one while the others rest, where they do not see it.
    crossings : (2, c) its fixed points and their multipliers.
    """

    tokens: int
    moving: tuple[int, ...]
    rest: Floats
    axes: tuple[Floats, ...]
    basin: Floats
    limits: Floats
    periods: Floats
    mirrors: Floats
    equilibria: Floats
    escaping: Floats
    neutral: Floats
    circle_map: Floats
    crossings: Floats


@dataclass(frozen=True, eq=False)
class Approach:
    """Distances ‖X(t) − X*‖_F to an equilibrium from starts at most `ball` away, and its singular values.

    `proved`: whether they are proved to converge. `within`: the radius in which starts are, if it is too small for
    doubles, and these starts lie outside it; else 0.
    """

    ball: float
    proved: bool
    spectral_radius: float
    distances: Floats
    singular_values: Floats
    within: float = 0.0


#: A start that is nearer, as a share of the largest entry, is not told from the equilibrium by doubles.
_LEAST_BALL = 1e-13

Picture: TypeAlias = Portrait | Approach


def portrait_data(
    net: Network | Equilibrium,
    *,
    tokens: int | None = None,
    grid: int = 96,
    steps: int = 2000,
    tolerance: float | None = None,
    ball: float | None = None,
    seed: int = 0,
) -> Picture:
    """What a phase portrait shows, as arrays: a `Portrait` where tokens live on a circle, else an `Approach`.

    Parameters
    ----------
    net : an `Equilibrium`, or a `Network` of one layer and one head with sphere or standard LayerNorm.
    tokens : the number of tokens, where the network does not fix it.
    grid : starts along each angle.
    steps, tolerance : as in `limit`; the tolerance is 10⁻⁶, and 10⁻² at an equilibrium with an eigenvalue of
        modulus one, where tokens arrive like 1/t.
    ball : radius of the starts of an `Approach`, if a proof has shown that they converge; 10⁻³ otherwise.

    Examples
    --------
    >>> import rankmath as rm
    >>> stable = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    >>> data = portrait_data(stable, grid=12)
    >>> data.basin.shape, bool((data.escaping == 0).any())
    ((12, 12), True)
    >>> portrait_data(rm.layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)).distances.shape[0]
    24
    """
    grid, steps = as_count("grid", grid, most=_FINEST_GRID), as_count("steps", steps)
    known = net if isinstance(net, Equilibrium) else None
    frame = known if known is not None else frame_of(net, tokens=tokens)
    plane = _plane(frame)
    found = find_equilibria(frame, 200, seed)
    if known is None and found:
        known = min(found, key=lambda one: one.spectral_radius)
    if plane is None:
        if known is None:
            raise InvalidArgument("net: no equilibrium found; the distance to one is what would be drawn")
        return _approach(known, ball, seed)
    if tolerance is None:
        tolerance = 1e-2 if known is not None and abs(known.spectral_radius - 1) <= 1e-6 else 1e-6
    return _portrait(frame, plane, known, found, grid, steps, as_real("tolerance", tolerance, positive=True, most=0.1))


# -- tokens on a circle ---------------------------------------------------------------------------------------


def _plane(frame: Equilibrium) -> Floats | None:
    """Two rows that span the plane of the tokens, as long as a token; None where they have more room."""
    d = frame.X.shape[1]
    if frame.norm == "sphere" and d == 2:
        return np.eye(2)
    if frame.norm == "standard" and d == 3:
        rows = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]])
        return np.asarray(token_norm(d, frame.norm) * rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return None


def _angles(X: Floats, plane: Floats) -> Floats:
    across, up = np.moveaxis(X @ plane.T, -1, 0)
    return np.asarray(np.arctan2(up, across) % (2 * np.pi))


def _tokens(angles: Floats, plane: Floats) -> Floats:
    return np.asarray(np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ plane)


def wrapped(angle: Floats) -> Floats:
    """An angle as −π ≤ angle < π."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def _portrait(
    frame: Equilibrium,
    plane: Floats,
    known: Equilibrium | None,
    found: Sequence[Equilibrium],
    grid: int,
    steps: int,
    tolerance: float,
) -> Portrait:
    n = len(frame.X)
    if n > 2 and known is None:
        raise InvalidArgument("net: no equilibrium found; of more than two tokens all but two are held at one")
    moving = tuple(range(n))[-2:]
    rest = np.full(n, np.nan) if known is None else _angles(known.X, plane)
    axes = tuple(2 * np.pi * (np.arange(grid) + offset) / grid for offset in _OFFSETS[: len(moving)])
    starts = np.broadcast_to(rest, (*[grid] * len(moving), n)).copy()
    for token, values in zip(moving, np.meshgrid(*axes, indexing="ij"), strict=True):
        starts[..., token] = values
    ends = limits(frame.network, _tokens(starts.reshape(-1, n), plane), steps=steps, tolerance=tolerance)
    labels, kinds = grouped(ends)
    # Random starts of Newton's method seldom find what attracts only a little.
    seen = [one.X for one in kinds if one.kind == "fixed"] + ([] if known is None else [known.X])
    found = find_equilibria(frame, [*(one.X for one in found), *seen]) if seen else found
    mirrors = [next((j for j, two in enumerate(kinds) if one.mirrored().is_same(two)), -1) for one in kinds]
    circle_map, crossings = _circle_map(frame, plane, rest)
    counts = np.array([escaping(one) for one in found], dtype=int).reshape(-1, 2)
    return Portrait(
        tokens=n,
        moving=moving,
        rest=rest,
        axes=axes,
        basin=np.array(labels).reshape(starts.shape[:-1]),
        limits=np.array([_angles(one.X, plane) for one in kinds]).reshape(-1, n),
        periods=np.array([one.period for one in kinds], dtype=int),
        mirrors=np.array(mirrors, dtype=int),
        equilibria=np.array([_angles(one.X, plane) for one in found]).reshape(-1, n),
        escaping=counts[:, 0],
        neutral=counts[:, 1],
        circle_map=circle_map,
        crossings=crossings,
    )


def _circle_map(frame: Equilibrium, plane: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """The last token's map while the others rest, and its fixed points with multipliers; empty if they see it."""
    from scipy.optimize import brentq

    n = len(frame.X)
    if frame.mask.allowed[:-1, -1].any() or (n > 1 and np.isnan(rest).any()):
        return np.empty((2, 0)), np.empty((2, 0))

    def step(angle: Floats) -> Floats:
        angles = np.broadcast_to(rest, (*np.shape(angle), n)).copy()
        angles[..., -1] = angle
        return _angles(layer(_tokens(angles, plane), *frame.system), plane)[..., -1]

    def gain(angle: float) -> float:
        return float(wrapped(step(np.asarray(angle)) - angle))

    angles = 2 * np.pi * (np.arange(_FINE + 1) + _OFFSETS[0]) / _FINE
    moves = wrapped(step(angles) - angles)
    # A change of sign through ±π is a jump of the representation, not a fixed point.
    crossed = (moves[:-1] * moves[1:] < 0) & (np.abs(moves[:-1]) + np.abs(moves[1:]) < np.pi)
    places = [float(brentq(gain, angles[i], angles[i + 1])) for i in np.flatnonzero(crossed)]
    # Where the last token cancels to zero the map jumps across the diagonal.
    places = [place for place in places if abs(gain(place)) < 1e-6]
    h = 1e-5
    slopes = [float(wrapped(step(np.asarray(a + h)) - step(np.asarray(a - h)))) / (2 * h) for a in places]
    return np.stack([angles, step(angles)]), np.array([places, slopes]).reshape(2, -1)


# -- other dimensions -----------------------------------------------------------------------------------------


def _approach(equilibrium: Equilibrium, ball: float | None, seed: int, starts: int = 24) -> Approach:
    given = None if ball is None else as_real("ball", ball, positive=True)
    tiny = given is not None and given < _LEAST_BALL * float(abs(equilibrium.X).max())
    radius = 1e-3 if given is None or tiny else given
    rng = np.random.default_rng(as_count("seed", seed, least=0))
    directions = rng.standard_normal((starts, *equilibrium.X.shape))
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    # Half of them on the boundary of the ball.
    radii = radius * np.where(np.arange(starts) % 2, 1.0, rng.random(starts))
    rate = equilibrium.spectral_radius
    # Until rounding is all that is left, if it attracts.
    layers = min(400, 20 + int(np.ceil(np.log(1e-15 / radius) / np.log(rate)))) if 0 < rate < 1 else 60
    orbit = equilibrium.iterate(equilibrium.X + radii[:, None, None] * directions, layers)
    distances = [np.linalg.norm(X - equilibrium.X, axis=(1, 2)) for X in orbit]
    singular_values = np.linalg.svd(equilibrium.X, compute_uv=False)
    proved, within = given is not None and not tiny, given if given is not None and tiny else 0.0
    return Approach(radius, proved, rate, np.array(distances).T, singular_values, within)
