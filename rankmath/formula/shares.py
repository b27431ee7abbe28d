"""Shares of attention as balls that know their linear relations: rows sum to one, and equal logits give equal shares.

Balls that overlap decide nothing. Where two numbers are linear combinations of shares and agree by these relations,
they are equal, whatever the shares are, and it is known without digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from flint import acb, arb

from rankmath.arithmetic.balls import ball
from rankmath.formula.run import Run
from rankmath.linalg.rationals import to_flint
from rankmath.validation import Array

#: A linear combination of shares; the constant is that of `None`.
Form: TypeAlias = Mapping[Hashable, Fraction]

# Larger matrices are left to balls alone.
_MOST_TOKENS = 16
# Products of pairs of so many eigenvalues are the roots of a polynomial that takes some milliseconds.
_MOST_EXACT = 8


class Share(arb):
    """A ball with the linear form whose value it encloses.

    >>> third, rest = Share({"x": Fraction(1)}, arb(1) / 3), Share({None: Fraction(1), "x": Fraction(-1)}, arb(2) / 3)
    >>> arb(1) - third == rest, arb(1) - arb(third) == arb(rest)
    (True, False)
    """

    form: Form

    def __new__(cls, form: Form, value: arb) -> Share:
        return arb.__new__(cls)

    def __init__(self, form: Form, value: arb) -> None:
        self.form = {atom: c for atom, c in form.items() if c}
        super().__init__(value if self.form.keys() - {None} else ball(self.constant))

    @property
    def constant(self) -> Fraction:
        """What the form adds to its shares."""
        return self.form.get(None, Fraction(0))

    def __add__(self, other: Any) -> Any:
        form = _form(other)
        if form is None:
            return arb(self) + ball(other)
        whole = {atom: self.form.get(atom, Fraction(0)) + form.get(atom, Fraction(0)) for atom in {*self.form, *form}}
        return Share(whole, arb(self) + ball(other))

    def __mul__(self, other: Any) -> Any:
        form = _form(other)
        if form is None or not form.keys() <= {None}:
            return arb(self) * ball(other)
        factor = form.get(None, Fraction(0))
        return Share({atom: c * factor for atom, c in self.form.items()}, arb(self) * ball(factor))

    def __truediv__(self, other: Any) -> Any:
        form = _form(other)
        exact = form is not None and form.keys() == {None}
        return self * Share({None: 1 / form[None]}, 1 / ball(form[None])) if exact and form else arb(self) / ball(other)

    def __neg__(self) -> Share:
        return Share({atom: -c for atom, c in self.form.items()}, -arb(self))

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __abs__(self) -> Any:
        return self if self >= 0 else -self if self <= 0 else abs(arb(self))

    __radd__, __rmul__ = __add__, __mul__

    # -- what is known -------------------------------------------------------------------------------------

    def _less(self, other: Any) -> Fraction | arb:
        """self − other, exactly where the shares cancel."""
        gap = self - other
        if isinstance(gap, Share) and gap.form.keys() <= {None}:
            return gap.constant
        return arb(gap)

    def __eq__(self, other: object) -> bool:
        return bool(self._less(other) == 0)

    def __ne__(self, other: object) -> bool:
        return bool(self._less(other) != 0)

    def __lt__(self, other: Any) -> bool:
        return bool(self._less(other) < 0)

    def __le__(self, other: Any) -> bool:
        return bool(self._less(other) <= 0)

    def __gt__(self, other: Any) -> bool:
        return bool(self._less(other) > 0)

    def __ge__(self, other: Any) -> bool:
        return bool(self._less(other) >= 0)

    __hash__ = None  # type: ignore[assignment]

    def max(self, other: Any) -> Any:
        return larger(self, other)


def _form(x: Any) -> Form | None:
    """The linear form of a share, or of an exact number."""
    if isinstance(x, Share):
        return x.form
    if isinstance(x, int | Fraction):
        return {None: Fraction(x)} if x else {}
    if isinstance(x, arb) and x.is_finite() and x.is_exact():
        mantissa, exponent = map(int, x.man_exp())
        return {None: mantissa * Fraction(2) ** exponent} if mantissa else {}
    return None


def larger(a: Any, b: Any) -> Any:
    """The larger of two balls, as a share where it is known which."""
    return a if a >= b else b if b >= a else arb(a).max(arb(b))


def shares_of(run: Run, P: tuple[str, int, int]) -> list[list[Share]] | None:
    """The attention of one network in balls, entry by entry; None where balls alone must do."""
    rows = run.attention(P[1], P[2], P[0])
    n = rows.shape[-1]
    if rows.ndim != 2 or n > _MOST_TOKENS or not all(x.is_finite() for x in rows.flat):
        return None
    key = ("shares", *P)
    if key not in run.memory:
        seen, logits = run.mask.allowed, _relative_logits(run, P, n)
        run.memory[key] = [_row(rows[i], seen[i], None if logits is None else logits[i], (*P, i)) for i in range(n)]
    found: list[list[Share]] = run.memory[key]
    return found


def _relative_logits(run: Run, P: tuple[str, int, int], n: int) -> list[list[Fraction]] | None:
    """The logits of equal tokens up to a constant of all: those of additive positions. None where they are turned."""
    attention = run.attending(P[1])
    if P[0] != "P0" or attention.rotary is not None:
        return None
    if attention.position is None:
        return [[Fraction(0)] * n] * n
    return [[Fraction(float(x)) for x in row] for row in np.asarray(attention.position.block(P[2], 0, n, n))]


def _row(values: Array, seen: Array, logits: list[Fraction] | None, place: tuple[str, int, int, int]) -> list[Share]:
    """A row; of shares that are equal for equal logits the last ones are 1 minus the others.

    A share is that of one place, or of one matrix: of two matrices nothing is known to be equal.
    """
    keys = [j for j in range(len(seen)) if seen[j]]
    if logits is None:
        atoms: dict[int, Hashable] = {j: (place, j) for j in keys}
    else:
        atoms = {j: (place[:3], *sorted(logits[k] - logits[j] for k in keys)) for j in keys}
    # With a share a goes the last atom z: (1 − Σ others)/(how often z occurs).
    last = max(atoms.values())  # type: ignore[type-var]
    often = sum(atom == last for atom in atoms.values())
    rest: dict[Hashable, Fraction] = {None: Fraction(1, often)}
    for atom in atoms.values():
        if atom != last:
            rest[atom] = rest.get(atom, Fraction(0)) - Fraction(1, often)
    forms = {j: rest if atom == last else {atom: Fraction(1)} for j, atom in atoms.items()}
    return [Share(forms.get(j, {}), value) for j, value in enumerate(values)]


# -- quantities --------------------------------------------------------------------------------------------


def variation(rows: Sequence[Sequence[Share]]) -> arb:
    """The largest total variation of two rows."""
    pairs = [(rows[i], rows[k]) for i in range(len(rows)) for k in range(i)]
    near = [sum((abs(arb(a) - arb(b)) for a, b in zip(*pair, strict=True)), arb(0)) / 2 for pair in pairs]
    floor = max(x.lower() for x in near)
    largest: arb = reduce(larger, [_gap(*pair) for pair, x in zip(pairs, near, strict=True) if not x < floor])
    return largest


def _gap(first: Sequence[Share], second: Sequence[Share]) -> arb:
    found: Any = Share({}, arb(0))
    for a, b in zip(first, second, strict=True):
        found = found + abs(a - b)
    half: arb = found / 2
    return half


def second(rows: list[list[Share]], seen: Array, modulus: Callable[[list[list[arb]]], arb]) -> arb:
    """The second largest modulus of an eigenvalue, multiplicities counted; `modulus` has the largest of any matrix.

    Eigenvalues are those of the strong components of the mask; each component that sees only itself has one that is 1.
    """
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(seen, directed=True, connection="strong")
    found: list[Any] = []
    closed = 0
    for c in range(count):
        inside = np.flatnonzero(part == c)
        stochastic = not seen[inside][:, part != c].any()
        closed += stochastic
        found += _moduli([[rows[i][j] for j in inside] for i in inside], stochastic, modulus)
    largest: arb = reduce(larger, found + [Share({None: Fraction(1)}, arb(1))] * (closed - 1))
    return largest


def _moduli(block: list[list[Share]], stochastic: bool, modulus: Callable[[list[list[arb]]], arb]) -> list[Share | arb]:
    """Moduli of eigenvalues of a matrix, the largest among them; without one eigenvalue 1 of a stochastic one."""
    n = len(block)
    if n > 1 and all(block[i][j] == block[-1 - i][-1 - j] for i in range(n) for j in range(n)):
        # Vectors that reversal keeps, and those that it turns round.
        half, top = n // 2, (n + 1) // 2
        kept = [[row[j] + row[-1 - j] if j < half else row[j] for j in range(top)] for row in block[:top]]
        turned = [[row[j] - row[-1 - j] for j in range(half)] for row in block[:half]]
        return _moduli(turned, False, modulus) + _moduli(kept, stochastic, modulus)
    if stochastic:
        block = [[a - b for a, b in zip(row[1:], block[0][1:], strict=True)] for row in block[1:]]
    if len(block) < 2:
        return [abs(x) for row in block for x in row]
    if len(block) <= _MOST_EXACT and all(x.form.keys() <= {None} for row in block for x in row):
        return [_exact_modulus([[x.constant for x in row] for row in block])]
    return [modulus([[arb(x) for x in row] for row in block])]


def _exact_modulus(M: list[list[Fraction]]) -> arb:
    """The largest modulus of an eigenvalue of a rational matrix, as a rational number where it is one."""
    of_matrix: Any = to_flint(M).charpoly().numer()
    largest: arb = reduce(arb.max, [abs(root) for root, _ in of_matrix.complex_roots()])
    # Its square is the product of an eigenvalue and its conjugate, so it is an eigenvalue of the matrix M ⊗ M.
    entries = np.array(M, dtype=object)
    products: Any = to_flint(np.kron(entries, entries)).charpoly().numer()
    roots = [root for root, _ in products.complex_roots()]  # the enclosures are apart from one another
    near = [root.overlaps(acb(largest**2)) for root in roots]
    for factor in [factor for factor, _ in products.factor()[1] if factor.degree() == 1]:
        square = Fraction(-int(factor[0]), int(factor[1]))
        same = [root.overlaps(acb(ball(square))) for root in roots]
        if same == near and sum(near) == 1:  # one enclosure holds both, and one root
            root = Fraction(*map(math.isqrt, square.as_integer_ratio()))
            return Share({None: root}, ball(root)) if root * root == square else ball(square).sqrt()
    return largest
