"""When the bound c^{(3^L-1)/2} a_0^{3^L} falls at all, and how deep a network must be for it to reach a tolerance.

Its logarithm is 3^L θ - (log c)/2 with θ = log(c a_0²)/2: everything depends on the sign of θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import arb

from rankmath.arithmetic.balls import ball, precision
from rankmath.symbolic.letters import L, a0, c, diameter, kappa
from rankmath.symbolic.proof import Expr, Proof, Step
from rankmath.symbolic.quantities import POSITIVE, read_number
from rankmath.symbolic.recursions import power_recursion
from rankmath.validation import InvalidArgument, Number

tol = sp.Symbol("tolerance", positive=True)
#: ‖W‖ of one head, where the tanh form is iterated.
nu = sp.Symbol("nu", positive=True)


@dataclass(frozen=True)
class Region:
    """Where a bound tends to zero as L grows: a condition on its letters, and the proof."""

    condition: Expr
    proof: Proof


def log_rate() -> Expr:
    """θ, the coefficient of 3^L in the logarithm of the closed form.

    Examples
    --------
    >>> log_rate()
    log(a0) + log(c)/2
    """
    logarithm = sp.expand(sp.expand_log(sp.log(power_recursion().expression)))
    return sp.collect(logarithm, 3**L).coeff(3**L)


def contraction_region() -> Region:
    """The bound tends to zero exactly where c a_0² < 1; where c a_0² = 1 it stays at a_0, beyond it grows.

    Examples
    --------
    >>> contraction_region().condition
    a0**2*c < 1
    """
    return Region(*_prove_region(sp.powsimp(sp.exp(sp.expand(2 * log_rate())))))


def _prove_region(product: Expr) -> tuple[Expr, Proof]:
    s, t = sp.symbols("s t", positive=True)
    bound = sp.log(power_recursion().expression)
    proof = Proof(
        "where the closed form tends to zero",
        (),
        (
            Step("the logarithm", sp.expand_log(bound), "=", 3**L * log_rate() - sp.log(c) / 2),
            Step("its rate", sp.exp(2 * log_rate()), "=", product),
            Step("negative rates shrink", sp.Limit(sp.exp(-s * 3**t), t, sp.oo), "=", 0),
            Step("rate zero stays", sp.expand_log(bound), "=", sp.log(a0), where={c: a0**-2}),
            Step("positive rates grow: the inverse shrinks", sp.Limit(1 / sp.exp(s * 3**t), t, sp.oo), "=", 0),
        ),
    ).check()
    return product < 1, proof


def tanh_region() -> Region:
    """Δ' = νΔ tanh(κΔ²/ν) tends to zero for every Δ if ν <= 1, and where κΔ² < ν artanh(1/ν) if ν > 1.

    That is never less than the region κΔ² < 1 of the cubic form: artanh y >= y.

    Examples
    --------
    >>> tanh_region().condition
    (nu <= 1) | (diameter**2*kappa < nu*atanh(1/nu))
    """
    x, y, s = sp.symbols("x y s", positive=True)
    edge = nu * sp.atanh(1 / nu)
    excess = sp.atanh(y) - y
    proof = Proof(
        "where the tanh form tends to zero",
        (r"inside, $\Delta$ decreases and no positive limit is a fixed point",),
        (
            Step("the factor is one at the edge", (nu * sp.tanh(x / nu)).subs(x, edge), "=", 1),
            Step("it increases with x", 0, "<", 1 / sp.cosh(x / nu) ** 2),
            Step("as its derivative", sp.Derivative(nu * sp.tanh(x / nu), x), "=", 1 / sp.cosh(x / nu) ** 2),
            Step("its limit is nu: no edge for nu <= 1", sp.Limit(nu * sp.tanh(x / nu), x, sp.oo), "=", nu),
            Step("artanh y and y agree at 0", excess.subs(y, 0), "=", 0),
            Step(
                "and their difference increases on (0, 1)", 0, "<", sp.Derivative(excess, y), where={y: 1 / (1 + s)}
            ),
        ),
    ).check()
    return Region(sp.Or(nu <= 1, kappa * diameter**2 < edge), proof)


def depth_formula() -> Expr:
    """The real depth at which the bound equals the tolerance: log_3(log(c tol²)/log(c a_0²)), for c a_0² < 1.

    Examples
    --------
    >>> depth_formula()
    log(log(c*tolerance**2)/log(a0**2*c))/log(3)
    """
    return sp.log(sp.log(c * tol**2) / sp.log(c * a0**2)) / sp.log(3)


def prove_depth_formula(claim: Expr) -> Proof:
    """At the real depth `claim` the logarithm of the bound is that of the tolerance, tol < a_0 < 1/√c.

    Examples
    --------
    >>> prove_depth_formula(depth_formula()).proved
    True
    """
    s, t = sp.symbols("s t", positive=True)
    real = sp.Symbol("ell", real=True)
    logarithm = sp.expand_log(sp.log(power_recursion().expression)).subs(L, real).rewrite(sp.exp)
    return Proof(
        "depth that reaches a tolerance",
        (r"$a_0 = e^{-s}/\sqrt c$ and $tol = e^{-t}/\sqrt c$ with $0 < s < t$",),
        (
            Step(
                "the bound at that depth is the tolerance",
                logarithm.subs(real, claim),
                "=",
                sp.log(tol),
                where={a0: sp.exp(-s) / sp.sqrt(c), tol: sp.exp(-t) / sp.sqrt(c)},
            ),
        ),
    ).check()


def depth_to_tolerance(coefficient: Number, start: Number, tolerance: Number) -> int | None:
    """The smallest L with c^{(3^L-1)/2} a_0^{3^L} <= tolerance, decided exactly; None if no depth reaches it.

    The arguments are exact (integers, fractions, doubles as the fractions they are), and so is the answer: balls
    decide unless the two sides are equal, and equality is decided in integers.

    Examples
    --------
    >>> depth_to_tolerance(1, 0.5, 0.125), depth_to_tolerance(1, 0.5, 0.124)
    (1, 2)
    >>> depth_to_tolerance(4, 0.5, 1e-3) is None
    True
    """
    first = _exact("start", start)
    goal = _exact("tolerance", tolerance)
    c_exact = _exact("coefficient", coefficient)
    if first <= goal:
        return 0
    x, y = c_exact * first**2, c_exact * goal**2
    if x >= 1:
        return None
    depth = _about(x, y)
    while not _power_at_most(x, 3**depth, y):
        depth += 1
    return depth


def _about(x: Fraction, y: Fraction) -> int:
    """A depth of at least 1 that is certainly not beyond the answer, and only a few short of it."""
    bits = 64
    while True:
        with precision(bits):
            real = (ball(y).log() / ball(x).log()).log() / arb(3).log()
            if real.rad() < 1:
                return max(1, int(float(real.lower())) - 1)
        bits *= 2


def _exact(name: str, value: Number) -> Fraction:
    number = read_number(name, value, POSITIVE)
    if not isinstance(number, Fraction):
        raise InvalidArgument(f"{name}: a ball given; an exact number is needed")
    return number


def _power_at_most(x: Fraction, n: int, y: Fraction) -> bool:
    """x^n <= y, for 0 < y < x < 1."""
    # The denominator of x^n is at least 2^n: beyond the length of y's, equality is impossible.
    if n <= y.denominator.bit_length() and x**n == y:
        return True
    bits = 64
    while True:
        with precision(bits):
            gap: arb = ball(x).log() * n - ball(y).log()
            if gap < 0 or gap > 0:
                return bool(gap < 0)
        bits *= 2
