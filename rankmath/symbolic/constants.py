"""Numbers that are roots, and the softmax sandwich, which ends at one of them.

Every number is the root of an equation that is derived, not quoted. Its digits are enclosed in balls: interval
Newton steps from a bracket on which the derivative has one sign, so that the root exists and is the only one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

import sympy as sp
from flint import arb

from rankmath.arithmetic.balls import precision
from rankmath.symbolic.evaluate import BALLS, Ball, Walk
from rankmath.symbolic.letters import D
from rankmath.symbolic.proof import Expr, NotProved, Proof, Step, chain
from rankmath.validation import as_count

_HALF = sp.Rational(1, 2)

# Pieces of a bracket on which the sign of a derivative is looked at: narrow enough for a ball to show it.
_PIECES = 64


@dataclass(frozen=True)
class Root:
    """The one zero of `function` in the bracket, and the proof of what it is a threshold of.

    Examples
    --------
    >>> sandwich_threshold().decimals(20)
    '1.25643120862616967698'
    """

    function: Expr
    variable: Expr
    bracket: tuple[Fraction, Fraction]
    closed_form: Expr | None
    proof: Proof

    def enclosure(self, *, bits: int = 128) -> Ball:
        """A ball that contains the root, about 2^-bits wide."""
        bits = as_count("bits", bits, least=24, most=100_000)
        return root_enclosure(self.function, self.variable, self.bracket, bits=bits)

    def decimals(self, places: int) -> str:
        """The root cut off (not rounded) after `places` decimals, each of them certain."""
        places = as_count("places", places, least=1, most=10_000)
        bits = 4 * places + 32
        ball = self.enclosure(bits=bits)
        with precision(2 * bits):
            scaled = (ball * arb(10) ** places).floor().unique_fmpz()
        if scaled is None:
            raise ArithmeticError(f"decimal {places} of {ball} is not certain")
        whole, rest = divmod(int(scaled), 10**places)
        return f"{whole}.{rest:0{places}d}"


def root_enclosure(function: Expr, variable: Expr, bracket: tuple[Fraction, Fraction], *, bits: int) -> Ball:
    """The root of `function` in `bracket`, in a ball; `NotProved` unless there is exactly one.

    Existence: the signs at the ends differ. Uniqueness: the derivative has one sign on the whole bracket.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> root_enclosure(x**2 - 2, x, (Fraction(1), Fraction(2)), bits=64)
    [1.41421356237310 +/- 4.96e-15]
    >>> root_enclosure(x**2 + 1, x, (Fraction(1), Fraction(2)), bits=64)
    Traceback (most recent call last):
    ...
    rankmath.symbolic.proof.NotProved: x**2 + 1: exactly one root between 1 and 2 is not seen
    """
    slope = sp.diff(function, variable)

    def at(e: Expr, x: Ball) -> Ball:
        return Walk(BALLS, {variable: x}).value(e)

    with precision(bits + 32):
        low, high = bracket
        ends = [BALLS.exact(low + (high - low) * Fraction(k, _PIECES)) for k in range(_PIECES + 1)]
        pieces = [left.union(right) for left, right in pairwise(ends)]
        slopes = [at(slope, piece) for piece in pieces]
        values = [at(function, end) for end in ends]
        rises = all(tilt > 0 for tilt in slopes) and values[0] < 0 < values[-1]
        falls = all(tilt < 0 for tilt in slopes) and values[0] > 0 > values[-1]
        crossing = [k for k, (left, right) in enumerate(pairwise(values)) if left * right < 0]
        if not (rises or falls) or not crossing:
            raise NotProved(f"{function}: exactly one root between {low} and {high} is not seen")
        interval = pieces[crossing[0]]
        while True:
            middle = interval.mid()
            newton = interval.intersection(middle - at(function, middle) / at(slope, interval))
            if not newton.rad() < interval.rad() / 2:
                return newton
            interval = newton


def chord_root(slope: Expr) -> Expr:
    """The positive root of e^x = 1 + m x, m > 1: x = -1/m - W_{-1}(-e^{-1/m}/m).

    With w = -x - 1/m the equation reads w e^w = -e^{-1/m}/m, which Lambert's W inverts; its branch W_0 gives x = 0.

    Examples
    --------
    >>> chord_root(sp.Integer(2))
    -1/2 - LambertW(-exp(-1/2)/2, -1)
    """
    return -1 / slope - sp.LambertW(-sp.exp(-1 / slope) / slope, -1)


@cache
def prove_chord_root(claim: Expr, slope: Expr) -> Proof:
    """`claim` is the only positive root of e^x = 1 + m x, for a number m > 1.

    Examples
    --------
    >>> prove_chord_root(chord_root(sp.Integer(2)), sp.Integer(2)).proved
    True
    """
    x, w = sp.symbols("x w", real=True)
    f = sp.exp(x) - (1 + slope * x)
    m = 1 / slope
    z = -m * sp.exp(-m)
    by_w = claim.replace(sp.LambertW, lambda argument, branch=0: w if (argument, branch) == (z, -1) else sp.nan)
    return Proof(
        "the exponential meets its chord",
        (r"$w = W_{-1}(z) < -1$ solves $w e^w = z$ for $-1/e < z < 0$",),
        (
            Step("the root is named by w", by_w, "=", -w - m),
            Step("the equation in w", f.subs(x, by_w), "=", sp.exp(-w - m) * (1 + slope * w * sp.exp(w + m))),
            Step("which holds where w exp(w) = z", 1 + slope * z * sp.exp(m), "=", 0),
            Step("0 is a root", f.subs(x, 0), "=", 0),
            Step("where the difference falls", sp.Subs(sp.Derivative(f, x), x, 0), "<", 0),
            Step("and it is convex: there is one more root, a positive one", 0, "<", sp.Derivative(f, (x, 2))),
        ),
    ).check()


def sandwich_threshold() -> Root:
    """x*, the positive root of e^x = 1 + 2x: the sandwich lemma `dong2021:A.3` holds up to it, and no further.

    Examples
    --------
    >>> sandwich_threshold().closed_form
    -1/2 - LambertW(-exp(-1/2)/2, -1)
    """
    x = sp.Symbol("x", real=True)
    slope = sp.Integer(2)
    closed = chord_root(slope)
    function = sp.exp(x) - (1 + slope * x)
    return Root(function, x, (Fraction(1), Fraction(3, 2)), closed, prove_chord_root(closed, slope))


def sandwich_upper() -> Expr:
    """The chord of e^D over [0, x*]: P_ij <= (1 + 2D) q_j."""
    return 1 + 2 * D


def sandwich_lower() -> Expr:
    """The tangent of e^{-D} at 0: P_ij >= (1 - D) q_j."""
    return sp.series(sp.exp(-D), D, 0, 2).removeO()


@cache
def prove_sandwich_upper(claim: Expr) -> Proof:
    """P_ij <= `claim` · q_j for D <= x*, `claim` = 1 + 2D: a concave gap that vanishes at both ends of [0, x*].

    Examples
    --------
    >>> prove_sandwich_upper(sandwich_upper()).proved
    True
    """
    w = sp.Symbol("w", real=True)
    q = sp.Symbol("q", positive=True)
    gap = claim - sp.exp(D)
    at_root = sp.expand(gap.subs(D, -w - _HALF).subs(sp.exp(-w - _HALF), -2 * w))
    proof = Proof(
        "upper half of the softmax sandwich",
        (
            r"$P_{ij}/q_j = e^{E_{ij}}/\sum_k q_k e^{E_{ik}} \le e^{D}$, an average being at least the least",
            r"$D \le x^*$, and $x^* = -w - 1/2$ with $e^{x^*} = -2w$",
        ),
        (
            Step("no gap at 0", gap.subs(D, 0), "=", 0),
            Step("no gap at the root", at_root, "=", 0),
            Step("concave, hence nonnegative between", sp.Derivative(gap, (D, 2)), "<", 0),
            Step(
                "and the factor exp(D) is approached, for two keys",
                sp.Limit(sp.exp(D) / (q * sp.exp(D) + 1 - q), q, 0, "+"),
                "=",
                sp.exp(D),
            ),
        ),
    ).check()
    return chain(proof.claim, sandwich_threshold().proof, proof)


def prove_sandwich_lower(claim: Expr) -> Proof:
    """P_ij >= `claim` · q_j always, `claim` = 1 - D: the tangent of the convex e^{-D} at 0.

    Examples
    --------
    >>> prove_sandwich_lower(sandwich_lower()).proved
    True
    """
    gap = sp.exp(-D) - claim
    return Proof(
        "lower half of the softmax sandwich",
        (r"$P_{ij}/q_j = e^{E_{ij}}/\sum_k q_k e^{E_{ik}} \ge e^{-D}$, an average being at most the most",),
        (
            Step("they touch at 0", gap.subs(D, 0), "=", 0),
            Step("with the same slope", sp.Subs(sp.Derivative(gap, D), D, 0), "=", 0),
            Step("and their difference is convex, hence nonnegative", 0, "<", sp.Derivative(gap, (D, 2))),
        ),
    ).check()
