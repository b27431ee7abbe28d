"""Rule 6, contraction in a weighted maximum norm: attraction, rate and spectrum from row sums of one Jacobian.

F(X)_i = y_i/|y_i|, y_i = sum_j A_ij x_j V, A_ij proportional to mask_ij e^(x_i W x_j^T), is one layer of
self-attention with tokens divided by their length. For weights w > 0 let E be the box |X - x| <= size w, entry by
entry. If, for every entry p,

    sum_q |dF_p/dX_q| w_q <= rate w_p  on E,  and  |F(x) - x|_p <= (1 - rate) size w_p,

then F maps E into E and contracts max |.|/w by the rate < 1 (mean value theorem): there is one equilibrium in E,
every start in E converges to it, and the spectral radius of DF there is at most the rate. If even
|F(x) - x|_p <= (1 - rate) core w_p with core <= size, it lies within core w of x. If also, for every entry p,

    |dF_p/dX_p - v_p| u_p + sum_{q != p} |dF_p/dX_q| u_q <= within u_p  on |X - x| <= core w,

then every eigenvalue of DF at the equilibrium is within `within` of a v_p, and near v_p that are more than 2 within
from all others there are as many as listed (Gershgorin's discs of the Jacobian in the scale u).

Numbers are fixed-point balls: a pair (m, r) of integers stands for all reals within r 2^-bits of m 2^-bits. A
product of two is (m m' 2^-bits rounded down, (|m| r' + |m'| r + r r') 2^-bits rounded down, plus 2). e^x, roots and
quotients, of which there are n^2, are those of the checker's intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Interval, Rejected

Ball = tuple[int, int]
Balls = tuple[list[int], list[int]]  # middles and radii of a vector
Rows = Sequence[Sequence[Fraction]]


def vector(values: Sequence[Fraction], radii: Sequence[Fraction] | None, bits: int) -> Balls:
    """Balls around exact numbers, or around all numbers within the radii of them."""
    middles = [(x.numerator << bits) // x.denominator for x in values]
    own = [int(m * x.denominator != x.numerator << bits) for m, x in zip(middles, values, strict=True)]
    if radii is None:
        return middles, own
    return middles, [e - ((-r.numerator << bits) // r.denominator) for e, r in zip(own, radii, strict=True)]


def dot(a: Balls, b: Balls, bits: int) -> Ball:
    middle = sum(map(int.__mul__, a[0], b[0]))
    radius = sum(abs(m) * s + (abs(p) + s) * r for m, r, p, s in zip(*a, *b, strict=True) if r or s)
    return middle >> bits, (radius >> bits) + 2


def times(a: Ball, v: Balls, bits: int) -> Balls:
    m, r = a
    size = abs(m) + r
    return (
        [m * p >> bits for p in v[0]],
        [(size * s + r * abs(p) >> bits) + 2 for p, s in zip(*v, strict=True)],
    )


def minus(v: Balls, w: Balls) -> Balls:
    return [a - b for a, b in zip(v[0], w[0], strict=True)], [a + b for a, b in zip(v[1], w[1], strict=True)]


def interval(a: Ball, bits: int) -> Interval:
    return Interval(a[0] - a[1], a[0] + a[1], -bits, bits)


def ball(x: Interval, bits: int) -> Ball:
    shift = x.scale + bits
    low, high = (x.lo << shift, x.hi << shift) if shift >= 0 else (x.lo >> -shift, -(-x.hi >> -shift))
    middle = (low + high) >> 1
    return middle, max(high - middle, middle - low)


Block = tuple[int, list[Balls]]  # a token k, and for each entry a of it the derivatives of the entries of F_i


def layer(X: Sequence[Balls], W: Rows, V: Rows, mask: Rows, bits: int) -> Iterator[tuple[Balls, Iterator[Block]]]:
    """For every token i: F_i, and the derivatives of F_i along the tokens k that i sees and along itself.

    dy_i/dx_ka = A_ik ((x_i W)_a (v_k - y_i) + V_a) + [i = k] sum_j A_ij (W x_j^T)_a (v_j - y_i) with v_j = x_j V,
    then h -> (h - u <u, h>)/|y_i|, u = y_i/|y_i|, which is linear and is applied to v_j - y_i and V_a first.
    """
    d = len(V)
    rows = [vector(row, None, bits) for row in W]
    columns = [vector(column, None, bits) for column in zip(*W, strict=True)]
    values = [vector(row, None, bits) for row in V]
    value_columns = [vector(column, None, bits) for column in zip(*V, strict=True)]
    queries = [_each(dot(x, c, bits) for c in columns) for x in X]
    keys = [_each(dot(x, r, bits) for r in rows) for x in X]
    images = [_each(dot(x, c, bits) for c in value_columns) for x in X]
    for i, sees in enumerate(mask):
        seen = [j for j, count in enumerate(sees) if count]
        logits = [dot(queries[i], X[j], bits) for j in seen]
        top = max(m for m, _ in logits)
        powers = [interval((m - top, r), bits).exp() * sees[j] for j, (m, r) in zip(seen, logits, strict=True)]
        total = sum(powers[1:], powers[0])
        A = [ball(p / total, bits) for p in powers]
        attention = _each(A)
        y = _each(dot(attention, _each((images[j][0][b], images[j][1][b]) for j in seen), bits) for b in range(d))
        length = interval(dot(y, y, bits), bits).sqrt()
        factor = ball(1 / length, bits)
        unit = times(factor, y, bits)

        # The map h -> (h - u <u, h>)/|y_i| as a matrix: its entries are narrower than the difference.
        tangent = [_tangent(unit, b, factor, bits) for b in range(d)]
        gaps = [_each(dot(minus(images[j], y), t, bits) for t in tangent) for j in seen]
        moved = [_each(dot(row, t, bits) for t in tangent) for row in values]
        yield unit, _blocks(i, seen, A, queries[i], keys, gaps, moved, bits)


def _tangent(unit: Balls, b: int, factor: Ball, bits: int) -> Balls:
    """Column b of (I - u^T u)/|y|."""
    middles, radii = times((-unit[0][b], unit[1][b]), unit, bits)
    middles[b] += 1 << bits
    return times(factor, (middles, radii), bits)


def _blocks(
    i: int,
    seen: list[int],
    A: list[Ball],
    query: Balls,
    keys: list[Balls],
    gaps: list[Balls],
    moved: list[Balls],
    bits: int,
) -> Iterator[Block]:
    d = len(moved)
    pulled = [times(a, gap, bits) for a, gap in zip(A, gaps, strict=True)]
    across = [_each((p[0][b], p[1][b]) for p in pulled) for b in range(d)]
    for k in sorted({*seen, i}):
        block = []
        for a in range(d):
            out: Balls = [0] * d, [0] * d
            if k in seen:
                s = seen.index(k)
                (m, r), (p, t) = A[s], (query[0][a], query[1][a])
                size, reach = abs(m) + r, abs(p) + t
                out = (
                    [p * g + m * v >> bits for g, v in zip(pulled[s][0], moved[a][0], strict=True)],
                    [
                        (reach * h + t * abs(g) + size * w + r * abs(v) >> bits) + 2
                        for g, h, v, w in zip(*pulled[s], *moved[a], strict=True)
                    ],
                )
            if k == i:
                own = _each(
                    dot(_each((keys[j][0][a], keys[j][1][a]) for j in seen), across[b], bits) for b in range(d)
                )
                out = (
                    [x + y for x, y in zip(out[0], own[0], strict=True)],
                    [x + y for x, y in zip(out[1], own[1], strict=True)],
                )
            block.append(out)
        yield k, block


def _each(balls: Iterable[Ball]) -> Balls:
    pairs = list(balls)
    return [m for m, _ in pairs], [r for _, r in pairs]


def row_sums(
    X: Sequence[Balls],
    layer_of: tuple[Rows, Rows, Rows],
    weights: Rows,
    bits: int,
    tick: Callable[[], None],
    diagonal: Rows | None = None,
) -> Iterator[tuple[int, int, Fraction]]:
    """For every entry (i, b) an upper bound of sum_q |dF_ib/dX_q - [q = (i, b)] v_ib| w_q over the box X; v is the
    `diagonal`, or zero."""
    denominator = math.lcm(*(w.denominator for row in weights for w in row))
    scaled = [[int(w * denominator) for w in row] for row in weights]
    for i, (_, blocks) in enumerate(layer(X, *layer_of, bits)):
        sums = [0] * len(weights[0])
        for k, block in blocks:
            tick()
            for a, ((middles, radii), w) in enumerate(zip(block, scaled[k], strict=True)):
                if k == i and diagonal is not None:
                    (claimed,), (error,) = vector([diagonal[i][a]], None, bits)
                    middles[a] -= claimed
                    radii[a] += error
                sums = [s + (abs(m) + r) * w for s, m, r in zip(sums, middles, radii, strict=True)]
        for b, total in enumerate(sums):
            yield i, b, Fraction(total, denominator << bits)


MAX_FIXED_BITS = 2**14


def _box(x: Rows, weights: Rows, size: Fraction, bits: int) -> list[Balls]:
    return [vector(row, [size * w for w in reach], bits) for row, reach in zip(x, weights, strict=True)]


def _fixed(weights: Rows, bits: Fraction) -> int:
    if not (bits.denominator == 1 and 64 <= bits <= MAX_FIXED_BITS):
        raise Rejected(f"hints.bits: a whole number from 64 to {MAX_FIXED_BITS} is needed")
    if not all(w > 0 for row in weights for w in row):
        raise Rejected("hints: every weight must be positive")
    return int(bits)


def _demand_rest(work: Any, x: Rows, layer_of: tuple[Rows, Rows, Rows], most: Fraction, w: Rows, bits: int) -> None:
    """|F(x) - x|_p <= most w_p for every entry p."""
    for i, (image, _) in enumerate(layer([vector(row, None, bits) for row in x], *layer_of, bits)):
        work.tick()
        for b, (m, r) in enumerate(zip(*image, strict=True)):
            if abs(Fraction(m, 1 << bits) - x[i][b]) + Fraction(r, 1 << bits) > most * w[i][b]:
                raise Rejected(f"the tokens move too far: entry {i, b}")


def contracts(
    work: Any, x: Rows, W: Rows, V: Rows, mask: Rows, w: Rows, size: Fraction, rate: Fraction, bits: Fraction
) -> bool:
    """The first two inequalities with core = size, at every entry; what is not shown is rejected."""
    fixed = _fixed(w, bits)
    if not (0 < rate < 1 and size > 0):
        raise Rejected("0 < rate < 1 and size > 0 are needed")
    _demand_rest(work, x, (W, V, mask), (1 - rate) * size, w, fixed)
    for i, b, total in row_sums(_box(x, w, size, fixed), (W, V, mask), w, fixed, work.tick):
        if total > rate * w[i][b]:
            raise Rejected(f"no contraction at this rate: the weighted row of entry {i, b}")
    return True


def resolves(
    work: Any,
    x: Rows,
    W: Rows,
    V: Rows,
    mask: Rows,
    w: Rows,
    core: Fraction,
    rate: Fraction,
    values: Rows,
    within: Fraction,
    u: Rows,
    bits: Fraction,
) -> bool:
    """After `contracts`: that the equilibrium lies within core w of x, and the third inequality, at every entry."""
    fixed = _fixed(u, bits)
    _demand_rest(work, x, (W, V, mask), (1 - rate) * core, w, fixed)
    for i, b, total in row_sums(_box(x, w, core, fixed), (W, V, mask), u, fixed, work.tick, values):
        if total > within * u[i][b]:
            raise Rejected(f"spectrum: the disc of entry {i, b} is wider than stated")
    return True
