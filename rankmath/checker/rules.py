"""The primitives of the kernel: functions, reductions, and the six rules.

Each rule is valid whatever the hints say: a bad hint costs a certificate its acceptance, never the checker its
soundness.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankmath.checker.contraction import contracts, resolves
from rankmath.checker.intervals import Dual, Interval, Number, Scalar, Undecided, compare
from rankmath.checker.kernel import (
    FUNCTIONS,
    PRECISIONS,
    REDUCTIONS,
    RULES,
    Definitions,
    Evaluator,
    Record,
    Truth,
    Value,
    formula,
    whole,
)
from rankmath.checker.reading import demand


def _sqrt(work: Evaluator, x: Scalar) -> Scalar:
    if isinstance(x, Dual):
        root = _sqrt(work, x.value)
        return x.along(root, 1 / (2 * root))  # type: ignore[arg-type, operator]
    if type(x) is Fraction and x >= 0:
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root * root == x:
            return root
    return work.lift(x).sqrt()


def _exp(work: Evaluator, x: Scalar) -> Scalar:
    if isinstance(x, Dual):
        power = _exp(work, x.value)
        return x.along(power, power)  # type: ignore[arg-type]
    return Fraction(1) if x == 0 else work.lift(x).exp()


def _quotient(work: Evaluator, x: Number, name: str) -> Number:
    """(e^x - 1)/x or tanh(x)/x, 1 at 0; both are even or increasing near 0, so a narrow x around 0 is left
    undecided."""
    if x == 0:
        return Fraction(1)
    enclosed = work.lift(x)
    found: Number = (enclosed.exp() - 1) / enclosed if name == "expc" else enclosed.tanh() / enclosed
    return found


FUNCTIONS |= {
    "sqrt": _sqrt,
    "exp": _exp,
    "log": lambda work, x: Fraction(0) if x == 1 else work.lift(x).log(),
    "tanh": lambda work, x: Fraction(0) if x == 0 else work.lift(x).tanh(),
    "expc": lambda work, x: _quotient(work, x, "expc"),
    "tanhc": lambda work, x: _quotient(work, x, "tanhc"),
    "abs": lambda work, x: abs(x),
    "middle": lambda work, x: x.middle() if isinstance(x, Interval) else x,
    "lower": lambda work, x: x.at_lower() if isinstance(x, Interval) else x,
}


def _extreme(name: str) -> Callable[[Evaluator, list[Any]], Value]:
    def extreme(work: Evaluator, values: list[Any]) -> Value:
        demand(bool(values) and all(isinstance(v, (Fraction, Interval)) for v in values), f"{name} of no numbers")
        result = values[0]
        for value in values[1:]:
            if type(result) is Fraction and type(value) is Fraction:
                result = (max if name == "max" else min)(result, value)
            else:
                result = getattr(work.lift(result), name)(value)
        return result

    return extreme


def _sum(work: Evaluator, values: list[Any]) -> Value:
    total = values[0] if values else Fraction(0)
    for value in values[1:]:
        total = work.each(operator.add, total, value)
    return total


def _prod(work: Evaluator, values: list[Any]) -> Value:
    product: Value = Fraction(1)
    for value in values:
        product = work.each(operator.mul, product, value)
    return product


REDUCTIONS |= {
    "sum": _sum,
    "prod": _prod,
    "max": _extreme("max"),
    "min": _extreme("min"),
    "all": lambda work, truths: work.joined(True, truths),
    "any": lambda work, truths: work.joined(False, truths),
}


def _floor(work: Evaluator, x: Value) -> Fraction:
    low, high = (math.floor(x),) * 2 if type(x) is Fraction else (math.floor(x.lower()), math.floor(x.upper()))
    if low != high:
        raise Undecided("the whole part is not decided")
    return Fraction(low)


def _softmax(work: Evaluator, logits: list[Value], weights: list[Value]) -> list[Value]:
    """P_j = w_j e^(L_j)/sum_m w_m e^(L_m) in every row; where w_j = 0 it is 0. dP_j = P_j (dL_j - sum_m P_m
    dL_m)."""
    if type(logits[0]) is list:
        return [_softmax(work, row, w) for row, w in zip(logits, weights, strict=True)]
    work.tick()
    result: list[Value] = [Fraction(0)] * len(logits)
    seen = [j for j, w in enumerate(weights) if w != 0]
    values = [logits[j].value if isinstance(logits[j], Dual) else logits[j] for j in seen]
    if all(type(x) is Fraction and x == values[0] for x in values):
        P: list[Any] = [weights[j] / sum(weights[m] for m in seen) for j in seen]
    else:
        enclosed = [work.lift(x) for x in values]
        shift = REDUCTIONS["max"](work, list(enclosed)).at_upper()
        e = [(x - shift).exp() * weights[j] for x, j in zip(work.ticking(enclosed), seen, strict=True)]
        zero = Interval.of(0, work.bits)
        before = [zero, *itertools.accumulate(e)]
        after = [zero, *itertools.accumulate(reversed(e))][::-1]
        # 1/(1 + rest/e_j): every logit occurs once, so nothing is widened twice.
        rests = [before[k] + after[k + 1] for k in range(len(e))]
        P = [1 / (1 + rest / x) if x.lo > 0 else x / before[-1] for x, rest in zip(e, rests, strict=True)]
    if any(isinstance(logits[j], Dual) for j in seen):
        mean = work.total([p * logits[j] for p, j in zip(P, seen, strict=True)])
        tilt = [logits[j] - mean for j in seen]
        P = [Dual(p, t.along(p, p).grad) for p, t in zip(P, tilt, strict=True)]
    for j, p in zip(seen, P, strict=True):
        result[j] = p
    return result


def _line(work: Evaluator, p: list[Fraction], q: list[Fraction], X: list[list[Number]]) -> tuple[Fraction, ...]:
    """alpha, beta, v with alpha |X - 1x^T|_1 + beta |X - 1x^T|_inf >= v for every x, from weights p, q >= 0.

    alpha = sum p, beta = sum q; v = sum_k min_t sum_i (p_k + q_i) |X_ik - t|, because a norm that is the largest of
    some sums is at least any mean of them. The least t is one of the X_ik whose weight is not 0, so all are tried.
    """
    demand(len(p) == len(X[0]) and len(q) == len(X), "hints: one weight for each row and column is needed")
    demand(min(*p, *q) >= 0, "hints: a weight is negative")
    least: Any = Fraction(0)
    for p_k, column in zip(p, zip(*X, strict=True), strict=True):
        seen = [(p_k + q_i, x) for q_i, x in zip(q, column, strict=True) if p_k + q_i]
        sums = [work.total([w * abs(x - t) for w, x in seen]) for _, t in seen]
        least = work.short(least + _extreme("min")(work, sums)) if sums else least
        work.tick()
    return sum(p, Fraction(0)), sum(q, Fraction(0)), least if type(least) is Fraction else least.lower()


def _least(work: Evaluator, X: list[list[Number]], kind: str) -> tuple[list[Any], Number, Number]:
    """Rule 3: a center, what |X - 1x^T| is there, and a lower bound on it for all x at once.

    inf: one line alone gives v/beta. composite: the two norms are a point (a, b) of the polygon a, b >= 0 and
    alpha a +
    beta b >= v for every line; there ab is quasi-concave and increasing, so it is least at a vertex.
    """
    hint = work.hints.get(f"{work._labels.get(id(X), '')} {kind}", {})
    columns = [list(column) for column in zip(*X, strict=True)]
    half = [(_extreme("max")(work, c) + _extreme("min")(work, c)) / 2 for c in columns]
    center = hint.get("center") or [work.lift(x).middle().lower() for x in half]
    demand(len(center) == len(columns), "hints: a center of the wrong length")
    gaps = [[abs(x - c) for x, c in zip(row, center, strict=True)] for row in X]
    inf = _extreme("max")(work, [work.total(row) for row in gaps])
    one = _extreme("max")(work, [work.total(column) for column in zip(*gaps, strict=True)])
    equal = {
        "columns": [Fraction(kind == "composite") for _ in columns],
        "rows": [Fraction(kind == "inf") for _ in X],
    }
    lines = [_line(work, hint["columns"], hint["rows"], X) for hint in hint.get("lines", [equal])]
    if kind == "inf":
        bounds = [v / beta for alpha, beta, v in lines if alpha == 0 < beta]
        return center, inf, max(bounds, default=Fraction(0))
    lines += [(Fraction(1), Fraction(0), Fraction(0)), (Fraction(0), Fraction(1), Fraction(0))]
    products = []
    for (p, q, v), (r, s, w) in itertools.combinations(lines, 2):
        work.tick()
        determinant = p * s - q * r
        if determinant:
            a, b = (v * s - q * w) / determinant, (p * w - v * r) / determinant
            if all(alpha * a + beta * b >= bound for alpha, beta, bound in lines):
                products.append(a * b)
    return center, _sqrt(work, one * inf), _sqrt(work, min(products))  # type: ignore[return-value]


def _residual(work: Evaluator, X: list[list[Number]], kind: str) -> Number:
    """The least |X - 1x^T|: at most what it is at a center, at least what weights prove."""
    _, above, below = _least(work, X, kind)
    return above if above == below else work.lift(below).hull(work.lift(above))


def _center(work: Evaluator, X: list[list[Number]], kind: str) -> list[Any]:
    """The stored center, proved to be least up to a factor 1 + 2^-20."""
    center, above, below = _least(work, X, kind)
    if not compare("<=", above, below * (1 + Fraction(1, 2**20))):
        raise Undecided("a stored center is not shown to be least up to a factor 1 + 2^-20")
    return center


def _spectral(work: Evaluator, M: list[list[Number]]) -> Number:
    """The spectral norm: the root of the largest eigenvalue of M^T M; exact where simpler bounds meet."""
    columns = [list(column) for column in zip(*M, strict=True)]
    squares, extreme = [work.total([x * x for x in line]) for line in (*columns, *M)], _extreme("max")
    row_sums, column_sums = ([work.total([abs(x) for x in line]) for line in lines] for lines in (M, columns))
    below, above = extreme(work, squares), extreme(work, row_sums) * extreme(work, column_sums)
    if type(below) is Fraction and below == above:
        return _sqrt(work, below)  # type: ignore[return-value]
    opposite = [[-x for x in row] for row in work.product(columns, M)]
    return work.lift(_extreme("max")(work, [below, -least_eigenvalue(work, opposite)])).sqrt()


def least_eigenvalue(work: Evaluator, A: list[list[Value]]) -> Interval:
    """Of a symmetric matrix, by bisection: A - tI has positive pivots below it, and one that is negative above
    it."""
    rows = [[work.lift(x) for x in row] for row in A]
    size = work.lift(_extreme("max")(work, [work.total([abs(x) for x in row]) for row in rows])).at_upper()
    low, high = -size, size
    for _ in range(min(24 + work.bits // 4, 10 + 2**22 // len(rows) ** 3) if size.hi else 0):
        for share in (Fraction(1, 2), Fraction(3, 8)):  # a pivot may vanish at one of them by accident
            t = (low + (high - low) * share).middle()
            shifted = [[x - t if i == j else x for j, x in enumerate(row)] for i, row in enumerate(rows)]
            truth = _pivots(work, shifted)
            if truth is not None:
                break
        if truth is None:
            break
        low, high = (t, high) if truth else (low, t)
    return low.hull(high)


def definite(work: Evaluator, A: list[list[Value]]) -> Truth:
    """Rule 5: every symmetric matrix in A is positive definite: True, False if none is, or None."""
    truth = _pivots(work, [[work.lift(x) for x in row] for row in A])
    if truth is None:
        widest = max((work.lift(x) for row in A for x in row), key=lambda x: (x.hi - x.lo).bit_length() + x.scale)
        work.records.setdefault(None, Record("positive pivots; the widest entry", widest, Fraction(0), None))
    return truth


def _pivots(work: Evaluator, A: list[list[Interval]]) -> Truth:
    """True if every symmetric matrix in A is positive definite, False if none is, None if this cannot tell.

    With midpoints M and radii of Frobenius norm rho all are if M - rho I is, and none is if M + rho I is not; and
    that is
    told by the signs of the pivots of an elimination without exchanges. Entries above the diagonal are not looked
    at.
    """
    lower = [row[: i + 1] for i, row in enumerate(A)]
    twice = [x.radius() for i, row in enumerate(lower) for j, x in enumerate(row) for _ in range(1 + (i != j))]
    rho = work.lift(work.total([r * r for r in twice])).sqrt().at_upper()  # type: ignore[arg-type]
    for sign in (-1, 1):
        rows = [
            [x.middle() + sign * rho if i == j else x.middle() for j, x in enumerate(row)]
            for i, row in enumerate(lower)
        ]
        for k, row in enumerate(rows):
            if row[k].lo <= 0:
                break
            below = [other[k] for other in rows[k + 1 :]]
            for i, other in enumerate(rows[k + 1 :]):
                work.tick()
                factor = other[k] / row[k]
                other[k + 1 :] = [x - factor * b for x, b in zip(other[k + 1 :], below[: i + 1], strict=True)]
        else:
            return True if sign < 0 else None
        if sign > 0 and row[k].hi < 0:
            return False
    return None


def _solve(work: Evaluator, A: list[list[Value]], b: list[Value]) -> list[Value]:
    """x with A x = b, by elimination; undecided where a pivot may be zero."""
    rows = [[work.lift(x) for x in (*row, right)] for row, right in zip(A, b, strict=True)]
    for k, row in enumerate(rows):
        for other in rows[:k] + rows[k + 1 :]:
            work.tick()
            factor = other[k] / row[k]
            other[k:] = [x - factor * y for x, y in zip(other[k:], row[k:], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def _nonsingular(work: Evaluator, A: list[list[Value]]) -> Truth:
    """No matrix in A is singular: elimination without exchanges meets no pivot that may be zero. True or None."""
    rows = [[work.lift(x) for x in row] for row in A]
    for k, row in enumerate(rows):
        if row[k].lo <= 0 <= row[k].hi:
            return None
        for other in rows[k + 1 :]:
            work.tick()
            factor = other[k] / row[k]
            other[k:] = [x - factor * y for x, y in zip(other[k:], row[k:], strict=True)]
    return True


def _rank(work: Evaluator, A: list[list[Fraction]]) -> Fraction:
    rank, rows = 0, A
    demand(all(type(x) is Fraction for row in A for x in row), "a rank is taken of exact matrices only")
    for a in range(len(A[0])):
        pivot = next((row for row in rows if row[a]), None)
        if pivot is not None:
            rank, others = rank + 1, [(row, row[a] / pivot[a]) for row in rows if row is not pivot]
            rows = [
                [work.short(x - c * p) for x, p in zip(row, pivot, strict=True)] for row, c in work.ticking(others)
            ]
            demand(
                all(type(x) is Fraction for row in rows for x in row),
                "an exact rank needs numbers that are too long",
            )
            work.tick()
    return Fraction(rank)


def jacobian(work: Evaluator, name: str, X: list[Value]) -> list[list[Number]]:
    """The derivative of a defined map over a box, its arguments and values written one after the other."""
    places = itertools.count()
    flat = work.apply(name, [_numbered(X, places)])
    flat = [x for row in flat for x in row] if type(flat[0]) is list else flat
    size = next(places)
    return [[y.grad.get(k, Fraction(0)) if isinstance(y, Dual) else Fraction(0) for k in range(size)] for y in flat]


def _numbered(X: Value, places: Iterator[int]) -> Value:
    return [_numbered(x, places) for x in X] if type(X) is list else Dual(X, {next(places): Fraction(1)})


def unique_zero(work: Evaluator, name: str, x: list[Fraction], r: Fraction, Y: list[list[Fraction]]) -> Truth:
    """Rule 4: the map f has exactly one zero within r of x, entry by entry. True or None.

    Krawczyk: let |Y f(x)| + |I - Y Df(B)| r < r in every entry, over the box B. Then z -> z - Y f(z) maps B into B
    and
    contracts the largest entry, so it has one fixed point there; and Y is invertible, so that is the one zero of f.
    """
    demand(len(Y) == len(x) == len(Y[0]), f"the preconditioner must have {len(x)} rows and columns")
    steps = work.product(Y, [[y] for y in work.apply(name, [x])])
    YJ = work.product(Y, jacobian(work, name, around(work, x, r)))
    for i, (step, row) in enumerate(zip(steps, YJ, strict=True)):
        wrong = work.total([abs((i == j) - entry) for j, entry in enumerate(row)])
        total = abs(step[0]) + r * wrong
        if not compare("<", total, r):
            work.records.setdefault(None, Record(f"Krawczyk's test in entry {i} < the radius", total, r, None))
            return None
        work.tick()
    return True


def around(work: Evaluator, X: Value, r: Value) -> Value:
    """All points within r of X, entry by entry."""
    return work.each(lambda x, s: work.lift(x - s).hull(work.lift(x + s)), X, r)


RULES |= {
    "residual_of": _residual,
    "center": _center,
    "spectral": _spectral,
    "positive_definite": definite,
    "shown": lambda work, truth: truth or None,  # of a sufficient condition: where it fails, nothing is known
    "nonsingular": _nonsingular,
    "least_eigenvalue": least_eigenvalue,
    "solve": _solve,
    "matrix_rank": _rank,
    "jacobian": jacobian,
    "unique_zero": unique_zero,
    "around": around,
    "contracts": contracts,
    "resolves": resolves,
    "softmax": _softmax,
    "floor": _floor,
    "range": lambda work, *ends: work.range(*ends),
    "len": lambda work, v: Fraction(len(v)),
    "T": lambda work, A: [list(column) for column in zip(*A, strict=True)],
    "identity": lambda work, n: [[Fraction(i == j) for j in range(whole(n, "n"))] for i in range(whole(n, "n"))],
    "chain": lambda work, matrices: functools.reduce(work.product, matrices),
    "flat": lambda work, X: [x for row in X for x in row],
    "signs": lambda work, d: [
        list(s) for s in itertools.product((Fraction(1), Fraction(-1)), repeat=whole(d, "d"))
    ],
}


# -- deciding ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What the kernel found: accept, reject or undecided, why, and the relations that decided it."""

    verdict: str
    reason: str
    bits: int = 0
    trace: tuple[Record, ...] = ()
    relations: int = 0


def decide(
    conditions: Sequence[str],
    claim: str,
    kind: str,
    defined: Definitions,
    data: Mapping[str, Value],
    hints: Mapping[str, Value],
    deadline: float,
    *,
    own: bool,
) -> Outcome:
    """Whether all conditions hold and the claim is true (kind "holds", "exists") or false (kind "violates")."""
    texts = [(condition, formula(condition, own=own)) for condition in conditions]
    tree, width = formula(claim, own=own), math.inf
    undecided = Outcome("undecided", "nothing was decided")
    for bits in PRECISIONS:
        work, trace = Evaluator(defined, data, hints, bits, deadline), []
        try:
            text = claim
            for text, node in texts:
                truth = work.truth(node, text)
                trace.append(_deciding(work, truth, text))
                if truth is not True:
                    break
            else:
                text, truth = claim, work.truth(tree, claim)
                trace.append(_deciding(work, truth, claim))
                if truth is not None and truth == (kind != "violates"):
                    return Outcome("accept", "every condition holds", bits, tuple(trace), work.relations)
                if truth is not None:
                    reason = f"the claim is {'true' if truth else 'false'}, against the kind {kind!r}"
                    return Outcome("reject", reason, bits, tuple(trace), work.relations)
            if truth is False:
                return Outcome("reject", f"a condition fails: {text}", bits, tuple(trace), work.relations)
            reason = f"undecided at {bits} bits: {text}"
            undecided = Outcome("undecided", reason, bits, tuple(trace), work.relations)
            before, width = width, _width(trace[-1])
            if width > before - 1:
                return undecided  # more bits no longer narrow it: the box is too large
        except Undecided as error:
            undecided = Outcome(
                "undecided", f"undecided at {bits} bits: {error}", bits, tuple(trace), work.relations
            )
    return undecided


def _deciding(work: Evaluator, truth: Truth, text: str) -> Record:
    return work.records.get(truth, Record(text, None, None, truth))


def _width(record: Record) -> float:
    """The logarithm of the wider side, to the base 2; 0 where there is none."""
    sides = [s for s in (record.left, record.right) if isinstance(s, Interval)]
    return max(((s.hi - s.lo).bit_length() + s.scale for s in sides), default=0)
