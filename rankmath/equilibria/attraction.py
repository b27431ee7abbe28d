"""Attraction, proved in balls: DF contracts the norm of a Lyapunov matrix on a whole neighbourhood.

Jacobians of equilibria can be far from normal, so that doubles do not see their eigenvalues: powers, the Lyapunov
matrix and its factor are computed with as many bits as the equilibrium is known to, and more are asked for where
rounding still matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat

from rankmath.arithmetic.balls import ball, lower_float, precision
from rankmath.equilibria.balls import BallMap, box, euclidean, identity, middle_floats, spectral_norm, spread
from rankmath.equilibria.proofs import (
    Dyadics,
    Existence,
    Inconclusive,
    Problem,
    Refused,
    column,
    dyadics,
    short_fraction,
    shortened,
)

_SHORT = 32  # bits of R and S beyond those that their condition takes
_SQUARINGS = 20  # the spectral radius is seen in the 2^20th power
# Where the rate of the norm lies between the spectral radius and 1; fewer are tried of large systems.
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_FEW_SHARES, _LARGE = (0.2, 0.5, 0.8), 36
# An attracting set is tried smaller by this factor, so often.
_SHRINK = 0.75
_SHRINKINGS = 20
_LEAST_RATE = 0.01


@dataclass(frozen=True, eq=False)
class Attraction:
    """A contraction: every start X = X₀ + R z, ‖z‖₂ ≤ radius, converges to the equilibrium.

    With e ≥ ‖I − SR‖_F and M = S DF R over a box around that set, ‖M‖₂ ≤ (1 − e)·rate makes F contract ‖R⁻¹·‖₂ by
    rate < 1, and ‖S(F(X₀) − X₀)‖₂ < (1 − e)(1 − rate)·radius keeps the set in itself. ``ball`` is the radius of a
    Frobenius ball about X₀ inside it, (1 − e)·radius/‖S‖_F. R and S act on row-stacked tokens.
    """

    R: Dyadics
    S: Dyadics
    radius: Fraction
    rate: Fraction
    ball: float

    def shrunk(self, times: int) -> Attraction:
        """The same on (3/4)^times of the set; that it still holds the equilibrium is for others to prove."""
        if times == 0:
            return self
        factor = Fraction(3, 4) ** times
        return replace(self, radius=self.radius * factor, ball=math.nextafter(self.ball * float(factor), 0.0))


def prove_attraction(problem: Problem, existence: Existence) -> Attraction:
    """A contraction in the norm of a Lyapunov matrix, on as large a set as its first derivatives show it on."""
    X, F = existence.tokens(), problem.whole_map()
    J = F.jacobian(X).mid()
    spectral = spectral_estimate(J)
    with precision(2 * existence.bits):
        if abs(spectral_estimate(J) - spectral) > 1e-6:
            raise Inconclusive("the Jacobian is too far from normal for its spectral radius to be seen")
    if not spectral < 1 - 1e-9:
        raise Refused(f"the spectral radius of the Jacobian is about {spectral:.6g}, not below 1")
    # Between the spectral radius and 1: a small rate bends the norm, a large one leaves no room to grow. Where the
    # Jacobian vanishes up to rounding, rounding must not bend it.
    least = max(spectral, _LEAST_RATE)
    norms = []
    for share in _SHARES if J.nrows() <= _LARGE else _FEW_SHARES:
        with precision(2 * existence.bits):
            S = lyapunov_factor(J, least + share * (1 - least))
            if S is None:
                continue
            norm = _LyapunovNorm.of(F, X, J, S)
        room = norm.room(existence.bits)
        if room > 0:
            norms.append((float((ball(short_fraction(room)) / euclidean(norm.S.entries())).mid()), room, norm))
    for _, room, norm in sorted(norms, key=lambda found: -found[0])[:1]:
        for shrinkings in range(_SHRINKINGS):
            found = norm.attraction(short_fraction(room * _SHRINK**shrinkings), existence.radius)
            if found is not None:
                return found
    raise Inconclusive(f"no contraction proved, though the spectral radius of the Jacobian is about {spectral:.6g}")


def spectral_estimate(J: arb_mat) -> float:
    """The spectral radius, nearly: ‖J^m‖_F^(1/m) with m = 2²⁰, as far as the working precision sees it.

    >>> with precision(128):
    ...     round(spectral_estimate(arb_mat([[0.5, 1e6], [0, 0.25]])), 4)
    0.5
    """
    for _ in range(_SQUARINGS):
        J = (J * J).mid()
    size = euclidean(J.entries())
    return math.exp(float(size.log().mid()) / 2**_SQUARINGS) if size > 0 else 0.0


def lyapunov_factor(J: arb_mat, rate: float) -> arb_mat | None:
    """S of Frobenius norm about 1 with ‖S J S⁻¹‖₂ < rate: SᵀS is a multiple of Σ (J/rate)ᵀᵏ (J/rate)ᵏ.

    None where rounding hides it.

    >>> with precision(128):
    ...     S = lyapunov_factor(arb_mat([[0.5, 10], [0, 0.25]]), 0.75)
    ...     bool(spectral_norm(S * arb_mat([[0.5, 10], [0, 0.25]]) * S.inv()) < 0.75)
    True
    """
    B = J * (1 / arb(rate))
    P = identity(J.nrows())
    for _ in range(60):
        more = (B.transpose() * P * B).mid()
        P, B = (P + more).mid(), (B * B).mid()
        if more.trace() <= P.trace() * arb(2) ** -40:
            break
    rows = P.tolist()
    size = len(rows)
    for k in range(size):
        pivot = rows[k][k].mid()
        if not pivot > 0:
            return None
        root = pivot.sqrt()
        rows[k] = [arb(0)] * k + [(x / root).mid() for x in rows[k][k:]]
        for i in range(k + 1, size):
            factor = rows[k][i]
            rows[i][i:] = [(x - factor * y).mid() for x, y in zip(rows[i][i:], rows[k][i:], strict=True)]
    S = arb_mat(rows)
    return (S * (1 / euclidean(S.entries()))).mid()


@dataclass(frozen=True, eq=False)
class _LyapunovNorm:
    """The norm ‖R⁻¹·‖₂ with S ≈ R⁻¹, and the map whose contraction in it is in question."""

    F: BallMap
    X: arb_mat
    R: arb_mat
    S: arb_mat
    exact: arb
    at_centre: float
    rate: Fraction
    drift: arb

    @classmethod
    def of(cls, F: BallMap, X: arb_mat, J: arb_mat, S: arb_mat) -> _LyapunovNorm:
        R = S.inv().mid()
        condition = (euclidean(S.entries()) * euclidean(R.entries())).log() / arb(2).log()
        length = _SHORT + max(0, int(float(condition.mid())) - _SHORT // 2)
        R, S = shortened(R, length), shortened(S, length)
        at_centre = float(np.linalg.norm(middle_floats(S * J * R), 2))
        return cls(
            F=F,
            X=X,
            R=R,
            S=S,
            exact=1 - euclidean((identity(S.nrows()) - S * R).entries()),
            at_centre=at_centre,
            # Most of what the rate at the centre leaves below 1 is for the neighbourhood.
            rate=1 - short_fraction(max((1 - at_centre) / 8, 2.0**-40)),
            drift=euclidean((S * column(F.layer(X) - X, range(S.nrows()))).entries()),
        )

    def slope(self, radius: arb) -> arb_mat:
        """S DF R over a box around the set of this radius."""
        size, entries = self.R.ncols(), self.R.entries()
        reach = [(euclidean(entries[i * size : (i + 1) * size]) * radius).abs_upper() for i in range(size)]
        return self.S * self.F.jacobian(box(self.X, reach)) * self.R

    def room(self, bits: int) -> float:
        """The radius up to which the contraction should reach: enclosures widen linearly, as on a small box."""
        if not self.at_centre < 1:
            return 0.0
        probe = arb(2) ** -(bits // 2) / euclidean(self.R.entries())
        left = self.exact * ball(self.rate) - self.at_centre
        reach = (left * probe / spread(self.slope(probe)).max(arb(2) ** -bits * probe)).mid()
        return min(float(reach), 1.0) if reach > 0 else 0.0

    def attraction(self, radius: Fraction, box_radius: Fraction) -> Attraction | None:
        """The contraction on the ellipsoid of this radius about the box of the equilibrium; None if not proved."""
        width, rate = ball(radius), ball(self.rate)
        stays = self.drift < self.exact * (1 - rate) * width
        inner = self.exact * width / euclidean(self.S.entries())
        # The limit of the orbits is the equilibrium of the box only if the box lies inside.
        if not (stays and ball(box_radius) * arb(self.S.nrows()).sqrt() < inner):
            raise Inconclusive("the box of the equilibrium is too large for the set that attracts")
        if not spectral_norm(self.slope(width)) < self.exact * rate:
            return None
        return Attraction(R=dyadics(self.R), S=dyadics(self.S), radius=radius, rate=self.rate, ball=lower_float(inner))
