"""What the language knows by name: functions of numbers, reductions of lists, and operations on arrays.

Each is valid for all members of the intervals it is given; `work` is the evaluator, with its bits and its deadline.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from rankmath.checker.intervals import Dual, Interval, Number, Undecided, compare, plain
from rankmath.checker.reading import demand

Work: TypeAlias = Any  # rankmath.checker.kernel.Evaluator
Value: TypeAlias = Any  # a number, a truth value, a word, or a list of these
Truth: TypeAlias = bool | None

LEAST_BITS = 128  # of a share of attention, however small


def transposed(A: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*A, strict=True)]


def _sqrt(work: Work, x: Any) -> Any:
    if isinstance(x, Dual):
        root = _sqrt(work, x.value)
        return Dual.chain(root, (1 / (2 * root), x))
    if type(x) is Fraction and x >= 0:
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root * root == x:
            return root
    return work.lift(x).sqrt()


def _exp(work: Work, x: Any) -> Any:
    if isinstance(x, Dual):
        power = _exp(work, x.value)
        return Dual.chain(power, (power, x))
    return Fraction(1) if x == 0 else work.lift(x).exp()


def _floor(work: Work, x: Number) -> Fraction:
    low, high = (x, x) if isinstance(x, Fraction) else (x.lower(), x.upper())
    if math.floor(low) != math.floor(high):
        raise Undecided("the whole part is not decided")
    return Fraction(math.floor(low))


FUNCTIONS: dict[str, Callable[[Work, Any], Any]] = {
    "sqrt": _sqrt,
    "exp": _exp,
    "log": lambda work, x: Fraction(0) if x == 1 else work.lift(x).log(),
    "floor": _floor,
    "abs": lambda work, x: abs(x),
    "middle": lambda work, x: x.middle() if isinstance(x, Interval) else x,
    "lower": lambda work, x: x.lower() if isinstance(x, Interval) else x,
}


def _extreme(work: Work, values: list[Any], pick: Callable[..., Any]) -> Number:
    demand(bool(values) and all(isinstance(v, (Fraction, Interval)) for v in values), "max or min of no numbers")
    if all(type(v) is Fraction for v in values):
        return pick(values)  # type: ignore[no-any-return]
    merged: Interval = functools.reduce(lambda a, b: a.merged(b, pick, pick), values[1:], work.lift(values[0]))
    return merged


REDUCTIONS: dict[str, Callable[[Work, list[Any]], Value]] = {
    "sum": lambda work, values: work.total(values),
    "prod": lambda work, values: functools.reduce(lambda a, b: work.each(operator.mul, a, b), values, Fraction(1)),
    "max": lambda work, values: _extreme(work, values, max),
    "min": lambda work, values: _extreme(work, values, min),
    "all": lambda work, truths: work.joined(True, truths),
    "any": lambda work, truths: work.joined(False, truths),
}


def softmax(work: Work, logits: list[Any], weights: list[Any]) -> list[Any]:
    """w_j e^(L_j)/sum_m w_m e^(L_m) in every row; where w_j = 0 it is 0."""
    if type(logits[0]) is list:
        return [softmax(work, row, w) for row, w in zip(logits, weights, strict=True)]
    seen = [j for j, w in enumerate(weights) if w != 0]
    if all(type(logits[j]) is Fraction and logits[j] == logits[seen[0]] for j in seen):
        total = work.total(weights)
        return [w / total for w in weights]
    enclosed = [work.lift(logits[j]) for j in seen]
    shift = work.lift(_extreme(work, enclosed, max)).at_upper()
    e = [_below_one(x - shift).exp() * weights[j] for x, j in zip(work.ticking(enclosed), seen, strict=True)]
    rests = _all_but_one(e, Interval.of(0, work.bits))  # 1/(1 + rest/e_j): every logit occurs once
    P = [1 / (1 + rest / x) if x.lo > 0 else x / (rest + x) for x, rest in zip(e, rests, strict=True)]
    shares = dict(zip(seen, P, strict=True))
    return [shares.get(j, Fraction(0)) for j in range(len(weights))]


def _below_one(x: Interval) -> Interval:
    """x <= 0 with fewer bits where e^x, beside a sum of about 1, needs no more: e^x < 2^-k if x <= -k."""
    k = (-x.hi << x.scale if x.scale > 0 else -x.hi >> -x.scale) if x.hi < 0 else 0
    return Interval(x.lo, x.hi, x.scale, max(LEAST_BITS, x.bits - k)) if k else x


def _all_but_one(items: list[Any], zero: Any) -> list[Any]:
    """For every item the sum of the others, without subtraction."""
    before, after = (
        list(itertools.accumulate(items, initial=zero)),
        list(itertools.accumulate(items[::-1], initial=zero)),
    )
    return [before[k] + after[len(items) - 1 - k] for k in range(len(items))]


def averaged(work: Work, logits: list[Any], weights: list[Any], X: list[Any]) -> list[Any]:
    """softmax(logits, weights) @ X. With y = sum_j P_j x_j the derivative is sum_j P_j (dx_j + (x_j - y) dL_j)."""
    P = softmax(work, plain(logits), weights)
    Y = work.product(P, plain(X))
    if not any(isinstance(x, Dual) for row in itertools.chain(logits, X) for x in row):
        return Y  # type: ignore[no-any-return]
    result = []
    for i, y in enumerate(Y):
        seen = [j for j, p in enumerate(P[i]) if p != 0]
        columns = [[(P[i][j], X[j][a]) for j in seen] for a in range(len(y))]
        tilts = [[(P[i][j] * (plain(X[j][a]) - y[a]), logits[i][j]) for j in seen] for a in range(len(y))]
        result.append([work.chain(value, *c, *t) for value, c, t in zip(y, columns, tilts, strict=True)])
    return result


def unit(work: Work, y: list[Any]) -> list[Any]:
    """u = y/|y|, with derivative ((1 - u_b^2) dy_b - u_b sum_{c != b} u_c dy_c)/|y|."""
    values = plain(y)
    length = _sqrt(work, work.total([v * v for v in values]))
    u = work.each(operator.truediv, values, length)
    if not any(isinstance(x, Dual) for x in y):
        return u  # type: ignore[no-any-return]
    rests = _all_but_one([Dual.chain(b, (b, x)) for b, x in zip(u, y, strict=True)], Dual(Fraction(0), {}))
    return [
        work.chain(b, ((1 - b * b) / length, x), (-b / length, rest))
        for b, x, rest in zip(u, y, rests, strict=True)
    ]


def jacobian(work: Work, name: str, X: Value, *rest: Value) -> list[list[Number]]:
    """The derivative of a defined map by its first argument, over a box; arrays are taken entry by entry."""

    places = itertools.count()

    def numbered(x: Value) -> Value:
        return [numbered(y) for y in x] if type(x) is list else Dual(x, {next(places): Fraction(1)})

    def flat(x: Value) -> list[Any]:
        return [z for y in x for z in flat(y)] if type(x) is list else [x]

    demand(name in work.defined, "the derivative of what is no map")
    held, cache = work.held, work.cache
    work.cache = dict(cache)  # what is made on the way is forgotten
    found = flat(work.apply(name, [numbered(X), *rest]))
    work.held, work.cache, size = held, cache, next(places)
    return [
        [y.grad.get(k, Fraction(0)) if isinstance(y, Dual) else Fraction(0) for k in range(size)] for y in found
    ]


def positive_definite(work: Work, A: list[list[Number]], *, noted: bool = True) -> Truth:
    """True if every symmetric matrix in A is positive definite, False if none is, None if this cannot tell.

    With midpoints M and radii of Frobenius norm rho all are if M - rho I is, and none is if M + rho I is not; the
    signs of the pivots of an elimination without exchanges tell. Entries above the diagonal are not looked at.
    """
    lower = [[work.lift(x) for x in row[: i + 1]] for i, row in enumerate(A)]
    radii = [x.radius() for i, row in enumerate(lower) for j, x in enumerate(row) for _ in range(1 + (i != j))]
    rho = work.lift(work.total([r * r for r in radii])).sqrt().at_upper()
    for sign in (-1, 1):
        rows = [[x.middle() for x in row[:-1]] + [row[-1].middle() + sign * rho] for row in lower]
        for k, row in enumerate(rows):
            if row[k].lo <= 0:
                break
            below = [other[k] for other in rows[k + 1 :]]
            for i, other in enumerate(work.ticking(rows[k + 1 :])):
                factor = other[k] / row[k]
                other[k + 1 :] = [x - factor * b for x, b in zip(other[k + 1 :], below[: i + 1], strict=True)]
        else:
            return True if sign < 0 else None
        if sign > 0 and row[k].hi < 0:
            return False
    if not noted:
        return None
    widest = max((x for row in lower for x in row), key=lambda x: (x.hi - x.lo).bit_length() + x.scale)
    work.note("positive pivots; the widest entry", widest, Fraction(0))
    return None


def least_eigenvalue(work: Work, A: list[list[Number]]) -> Number:
    """Of a symmetric matrix, by bisection: A - tI is positive definite below it, and is not above it."""
    rows = work.each(work.lift, A)
    size = work.lift(_extreme(work, [work.total([abs(x) for x in row]) for row in rows], max)).at_upper()
    low: Interval = -size
    high: Interval = size
    for _ in range(min(24 + work.bits // 4, 10 + 2**22 // len(rows) ** 3) if size.hi else 0):
        for share in (Fraction(1, 2), Fraction(3, 8)):  # a pivot may vanish at one of them by accident
            t = (low + (high - low) * share).middle()
            shifted = [[x - t if i == j else x for j, x in enumerate(row)] for i, row in enumerate(rows)]
            truth = positive_definite(work, shifted, noted=False)
            if truth is not None:
                break
        else:
            break
        low, high = (t, high) if truth else (low, t)
    return low.hull(high)


def eliminated(work: Work, A: list[list[Number]]) -> list[list[Number]]:
    """The rows that an elimination leaves, each with a pivot; every other row is zero, or it is undecided."""
    rows, done = [list(row) for row in A], list[list[Number]]()
    for a in range(len(A[0])):
        sure = [i for i, row in enumerate(rows) if compare("==", row[a], Fraction(0)) is False]
        if not sure and any(row[a] != 0 for row in rows):
            raise Undecided("a pivot may be zero")
        if sure:
            pivot = rows.pop(sure[0])
            for other in work.ticking([*rows, *done]):
                if other[a] != 0:
                    factor = other[a] / pivot[a]
                    other[a:] = [
                        work.each(operator.sub, x, factor * p) for x, p in zip(other[a:], pivot[a:], strict=True)
                    ]
            done.append(pivot)
    return done


def nonsingular(work: Work, A: list[list[Number]]) -> Truth:
    """True if no matrix in A is singular, else None."""
    try:
        return len(eliminated(work, A)) == len(A) or None
    except Undecided:
        return None


def solved(work: Work, A: list[list[Number]], b: list[Number]) -> list[Any]:
    """x with A x = b, for a square A that is not singular."""
    rows = eliminated(work, [[*row, right] for row, right in zip(A, b, strict=True)])
    demand(len(rows) == len(A) == len(A[0]) == len(rows[0]) - 1, "a singular matrix")
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def hint(work: Work, X: list[Any], kind: str) -> list[Any]:
    """What the certificate suggests for an array such as X[3]: a center or nothing, and lines of weights."""
    found = work.hints.get(f"{work.labels.get(id(X), '')} {kind}", {})
    return [found.get("center", []), [[line["columns"], line["rows"]] for line in found.get("lines", [])]]


PRIMITIVES: dict[str, Callable[..., Value]] = {
    "softmax": softmax,
    "averaged": averaged,
    "unit": unit,
    "jacobian": jacobian,
    "positive_definite": positive_definite,
    "least_eigenvalue": least_eigenvalue,
    "matrix_rank": lambda work, A: Fraction(len(eliminated(work, A))),
    "nonsingular": nonsingular,
    "solve": solved,
    "hint": hint,
    "around": lambda work, X, r: work.each(lambda x, s: work.lift(x - s).hull(work.lift(x + s)), X, r),
    "shown": lambda work, truth: truth or None,  # of a sufficient condition: where it fails, nothing is known
    "certain": lambda work, truth: truth is True,
    "between": lambda work, a, b: a if a == b else work.lift(a).hull(work.lift(b)),
    "range": lambda work, *ends: work.range(*ends),
    "len": lambda work, v: Fraction(len(v)),
    "T": lambda work, A: transposed(A),
    "chain": lambda work, matrices: functools.reduce(work.product, matrices),
}
