"""What follows from a bound by calculation: every step is an equation or inequality that sympy confirms.

Nothing here knows a theorem. From the expression of a bound and the letter it starts from come

- its linear form, where it has tanh(x): tanh x ≤ x, and no smaller multiple of x will do;
- from one layer to L layers: the bound at L = 1 is a map f; f increases, and L + 1 layers are one more f;
- the threshold below which a layer lowers the bound, and the closed form about it;
- or the factor by which every layer (or block of r layers) multiplies it;
- its limit as the number of tokens grows;
- where there is none of these, what each letter does to it: the power that it is
  proportional to, or that it grows or falls with the letter.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from rankmath.formula.symbolic.proof import Expr, Proof, Step, has_sign, is_zero
from rankmath.formula.symbolic.quantities import L

_n = sp.Symbol("n", integer=True, positive=True)
_r = sp.Symbol("r", integer=True, positive=True)
_k = sp.Symbol("k", integer=True, nonnegative=True)
# Operations of a bound beyond which signs of its derivatives take sympy too long.
_LONG = 14


def derivation(claim: str, expression: Expr, start: Expr | None) -> Proof | None:
    """What is found to follow from the expression, its letters > 0; None where nothing is.

    `start` is the letter of the input's quantity.

    >>> a, c = sp.symbols("a c", positive=True)
    >>> proof = derivation("a doubly exponential bound", c ** ((3**L - 1) / 2) * a ** (3**L), a)
    >>> for step in proof.steps[:2]: print(step)
    no layer changes nothing: a = a
    one layer is the map f that takes a to a**3*c, which increases: 0 <= Derivative(a**3*c, a)
    >>> print(proof.steps[4].reason)
    and lowers what is smaller: the bound falls if a < 1/sqrt(c)
    """
    steps = (*_linear(expression), *_from_layer_to_layer(expression, start), *_many_tokens(expression))
    steps = steps or tuple(_letters(expression))
    return Proof(claim, steps).check() if steps else None


def _linear(expression: Expr) -> Iterator[Step]:
    """tanh x ≤ x, where that bounds the whole expression: the difference vanishes at 0 and grows."""
    bent = sorted(expression.atoms(sp.tanh), key=str)
    slack = {tanh: sp.Symbol(f"e{place}", nonnegative=True) for place, tanh in enumerate(bent)}
    straight = expression.xreplace({tanh: tanh.args[0] for tanh in bent})
    below = expression.xreplace({tanh: tanh.args[0] - slack[tanh] for tanh in bent})
    sides = {"at most": (below, straight), "at least": (straight, below)}
    found = [word for word, (left, right) in sides.items() if bent and has_sign(sp.expand(right - left))]
    if not found:
        return
    x = sp.Symbol("x", nonnegative=True)
    yield Step("tanh x and x agree at 0", sp.tanh(x).subs(x, 0), "=", 0)
    yield Step("their difference grows", sp.Derivative(x - sp.tanh(x), x), "=", sp.tanh(x) ** 2)
    yield Step("because a square is not negative", 0, "<=", sp.tanh(x) ** 2)
    left, right = sides[found[0]]
    yield Step(f"so the bound is {found[0]} its linear form (x - e for tanh x, e >= 0)", left, "<=", right)
    yield Step("and no smaller multiple of x will do", sp.Limit(sp.tanh(x) / x, x, 0, "+"), "=", 1)


def _from_layer_to_layer(expression: Expr, start: Expr | None) -> Iterator[Step]:
    if not expression.has(L):
        return
    if expression.has(sp.floor):
        expression = expression.subs(L, _r * _k)
        depth, layer = _k, "block of r layers"
    else:
        depth, layer = L, "layer"
    factor = sp.simplify(expression.subs(depth, depth + 1) / expression)
    if not factor.has(depth) and (start is None or not factor.has(start)):
        later = expression.subs(depth, depth + 1)
        yield Step(f"every {layer} multiplies it by the same factor", later, "=", factor * expression)
        return
    if start is None or not is_zero(expression.subs(depth, 0) - start):
        return
    once = sp.simplify(expression.subs(depth, 1))
    if not has_sign(sp.diff(once, start)):
        return
    again = once.subs(start, expression)
    later = expression.subs(depth, depth + 1)
    left, right = (sp.expand_log(sp.log(side), force=True) for side in (later, again))
    if not is_zero(left - right):
        left, right = later, again
        if not is_zero(left - right):
            return
    yield Step("no layer changes nothing", expression.subs(depth, 0), "=", start)
    yield Step(
        f"one {layer} is the map f that takes {{0}} to {{1}}, which increases",
        0,
        "<=",
        sp.Derivative(once, start),
        about=(start, once),
    )
    yield Step(f"one {layer} more is f once more", left, "=", right)
    yield from _threshold(expression, once, start)


def _threshold(expression: Expr, once: Expr, start: Expr) -> Iterator[Step]:
    """Where a layer neither lowers nor raises the bound, and the closed form about that value."""
    power = sp.simplify(start * sp.diff(once, start) / once)
    if not (power.is_number and power > 1):
        return
    coefficient = sp.simplify(once / start**power)
    rest = coefficient ** (-1 / (power - 1))
    s = sp.Symbol("s", positive=True)
    yield Step("f leaves {0} where it is", once.subs(start, rest), "=", rest, about=(rest,))
    smaller = rest / (1 + s)
    falls = "and lowers what is smaller: the bound falls if {0}"
    yield Step(falls, once.subs(start, smaller), "<", smaller, about=(sp.Lt(start, rest, evaluate=False),))
    closed = sp.log(rest) + power**L * (sp.log(start) - sp.log(rest))
    left = sp.expand_log(sp.log(expression), force=True)
    yield Step("in logarithms, about that value", left, "=", sp.expand_log(closed, force=True))


def _many_tokens(expression: Expr) -> Iterator[Step]:
    """The limit as n grows, where sympy finds one."""
    if not expression.has(_n) or expression.has(sp.Sum, sp.Min, sp.Max, sp.floor, L):
        return
    try:
        limit = sp.limit(expression, _n, sp.oo)
    except (NotImplementedError, ValueError):
        return
    if not limit.has(sp.Limit, sp.AccumBounds, sp.sign, sp.oo, sp.zoo, sp.nan, -sp.oo):
        yield Step("as the number n of tokens grows it tends to", sp.Limit(expression, _n, sp.oo), "=", limit)


def _letters(expression: Expr) -> Iterator[Step]:
    """The power of each letter that the bound is proportional to, or whether it grows or falls with the letter."""
    if expression.is_Symbol or expression.has(sp.Sum, sp.floor, sp.Piecewise) or expression.count_ops() > _LONG:
        return
    s = sp.Symbol("s", positive=True)
    heads = {base.label for base in expression.atoms(sp.IndexedBase)}
    for letter in sorted(expression.free_symbols - heads - {L}, key=str):
        if not (isinstance(letter, sp.Symbol) and letter.is_positive):
            continue
        slope, scaled = sp.diff(expression, letter), expression.subs(letter, s * letter)
        power = sp.cancel(sp.powsimp(letter * slope / expression))
        if power.is_number and is_zero(scaled - s**power * expression):
            said = "s times {0} makes it {1} times as large"
            yield Step(said, scaled, "=", s**power * expression, about=(letter, s**power))
            continue
        for word, sign in (("grows", 1), ("falls", -1)):
            if not expression.has(sp.Min, sp.Max) and has_sign(sign * slope):
                yield Step(f"it {word} with {{0}}", 0, "<=", sign * sp.Derivative(expression, letter), about=(letter,))
                break
