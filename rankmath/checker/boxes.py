"""A relation of few real numbers, each in known bounds: enclosures on boxes that are halved until they tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rankmath.checker.intervals import Interval, Rejected, Undecided
from rankmath.checker.monomials import Atom, Base, Poly, constant_sign, expanded, plus
from rankmath.checker.reading import demand, in_time

_BITS = 64
#: At most so many variables, and so many boxes.
MOST_VARIABLES, MOST_BOXES = 3, 1500
Ends = tuple[Fraction, Fraction]


def enclosed(poly: Poly, box: Mapping[Atom, Interval]) -> Interval:
    """What a polynomial's values lie in where its atoms lie in these intervals."""
    total = Interval.of(0, _BITS)
    for mono, c in poly.items():
        term = Interval.of(c, _BITS)
        for base, e in mono:
            term = term * _raised(_value(base, box), e)
        total = total + term
    return total


def _value(base: Base, box: Mapping[Atom, Interval]) -> Interval:
    if isinstance(base, int):
        return Interval.of(base, _BITS)
    if base in box:
        return box[base]
    demand(base.kind in ("sum", "function"), f"{base} has no bounds")
    inner = enclosed(dict(base.args[0]), box)
    if base.kind == "sum":
        return inner
    if base.name == "exp":
        return inner.exp()
    if base.name == "abs":
        return abs(inner)
    if base.name == "tanh":
        return 1 + -(2 / (1 + (2 * inner).exp()))
    demand(base.name == "log", f"no bounds of {base.name} are known")
    return _log(inner)


def _raised(x: Interval, e: Fraction) -> Interval:
    demand(e.denominator in (1, 2) and abs(e) <= 64, "a power that is not taken")
    if e < 0:
        return 1 / _raised(x, -e)
    out = x.sqrt() if e.denominator == 2 else Interval.of(1, _BITS)
    square = abs(x)
    for _ in range(int(e) // 2):
        out = out * square * square
    return out * x if int(e) % 2 else out


def _log(x: Interval) -> Interval:
    """The logarithm, which grows: numbers next to that of each end, whose exponentials lie on the right sides."""
    ends = x.lower(), -(-x).lower()
    if ends[0] <= 0:
        raise Undecided("the logarithm of what may be zero")
    found = []
    for end, side in zip(ends, (-1, 1), strict=True):
        y = Fraction(math.log(end.numerator) - math.log(end.denominator)) + side * Fraction(1, 2**36)
        above = Interval.of(y, _BITS).exp() + -Interval.of(end, _BITS)
        demand(above.lo >= 0 if side > 0 else above.hi <= 0, "a logarithm that cannot be told")
        found.append(Interval.of(y, _BITS))
    return found[0].merged(found[1], min, max)


def constant_bounds(poly: Poly) -> Ends:
    """Rationals below and above a constant."""
    found = enclosed(poly, {})
    return found.lower(), -(-found).lower()


def bounds_of(lines: Sequence[tuple[Poly, Poly]]) -> dict[Atom, Ends]:
    """The bounds that lines `c <= x` and `x <= c` give, as c·x <= 1 and 1 <= c·x too, for single atoms x."""
    low: dict[Atom, Fraction] = {}
    high: dict[Atom, Fraction] = {}
    for left, right in lines:
        for poly, other, table in ((left, right, high), (right, left, low)):
            if len(poly) != 1:
                continue
            ((mono, c),) = poly.items()
            atoms = [(b, e) for b, e in mono if isinstance(b, Atom)]
            if len(atoms) != 1 or atoms[0][1] != 1 or c <= 0 or any(isinstance(b, Atom) for m in other for b, _ in m):
                continue
            scale: Poly = {tuple((b, e) for b, e in mono if isinstance(b, int)): c}
            quotient, atom = enclosed(other, {}) * (1 / enclosed(scale, {})), atoms[0][0]
            if table is high:
                end = -(-quotient).lower()
                high[atom] = min(high.get(atom, end), end)
            else:
                low[atom] = max(low.get(atom, quotient.lower()), quotient.lower())
    return {atom: (low[atom], high[atom]) for atom in low if atom in high}


def demand_on_box(left: Poly, right: Poly, strict: bool, ends: Mapping[Atom, Ends], deadline: float) -> None:
    """left <= right (or <) on the whole box."""
    difference = expanded(plus(right, left, -1))
    if all(isinstance(b, int) for mono in difference for b, _ in mono):
        demand(constant_sign(difference) > 0 or (not difference and not strict), "a constant that is too small")
        return
    demand(len(ends) <= MOST_VARIABLES, f"more than {MOST_VARIABLES} numbers vary")
    names = list(ends)
    boxes, looked = [tuple(ends[name] for name in names)], 0
    while boxes:
        box = boxes.pop()
        looked += 1
        demand(looked <= MOST_BOXES, "the boxes do not tell")
        in_time(deadline)
        demand(all(low <= high for low, high in box), "bounds that contradict each other")
        spans = [(Interval.of(a, _BITS), Interval.of(b, _BITS)) for a, b in box]
        sides = {x: a.merged(b, min, max) for x, (a, b) in zip(names, spans, strict=True)}
        try:
            found = enclosed(difference, sides)
            if found.lo > 0 or (found.lo == 0 and not strict):
                continue
            demand(found.hi > 0 or (found.hi == 0 and not strict), "it is false on a box")
        except Undecided:
            pass
        whole = [max(b - a, Fraction(1, 10**9)) for a, b in ends.values()]
        widths = [(b - a) / most for most, (a, b) in zip(whole, box, strict=True)]
        wide = max(range(len(names)), key=widths.__getitem__, default=-1)
        if wide < 0 or widths[wide] <= 0:
            raise Rejected("the numbers do not tell")
        a, b = box[wide]
        for half in ((a, (a + b) / 2), ((a + b) / 2, b)):
            boxes.append((*box[:wide], half, *box[wide + 1 :]))
