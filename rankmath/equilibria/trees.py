"""Weights under which X = I attracts, for every connected undirected mask with self-loops: proofs/stable_trees.tex.

A depth-first search makes the mask a rooted tree whose further edges join ancestors with descendants. Token i
attends evenly to itself and its parent, far less to its children, and the logits are such that a feedback of rank
one moves all large eigenvalues of the block of token i to 0. X = I rests exactly with W_V = A⁻¹D.
"""

from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq

from rankmath.arithmetic.balls import precision
from rankmath.equilibria.map import Floats
from rankmath.linalg.masks import Mask

# The gaps E of the logits that are tried, bits for each unit of it, bits of the powers, how often they are squared.
_GAPS = (12, 48, 96, 192)
_BITS_PER_UNIT = 48
_BITS = 256
_DOUBLINGS = 10


def search_tree(mask: Mask) -> tuple[list[int], list[int]]:
    """The tokens in the order of a depth-first search from token 0, and the place of each one's parent (root: −1).

    >>> search_tree(Mask.window(3, 1))
    ([0, 1, 2], [-1, 0, 1])
    """
    order, parents = [0], [-1]
    places = [0]
    while places:
        sees = np.flatnonzero(mask.allowed[order[places[-1]]])
        child = next((j for j in sees.tolist() if j not in order), None)
        if child is None:
            places.pop()
        else:
            parents.append(places[-1])
            places.append(len(order))
            order.append(child)
    return order, parents


def tree_logits(edges: Floats, parents: list[int], scales: list[arb], gap: int) -> arb_mat:
    """W_QK of the construction, as balls of radius 0, tokens in the order of the search."""
    n = len(parents)
    slack = arb(gap) / n
    lines: list[list[int]] = [[]]
    for p in parents[1:]:
        lines.append([*lines[p], p])
    M, shares, gaps = arb_mat(n, n), arb_mat(n, n), [arb(0)]
    shares[0, 0] = 1
    for i in range(1, n):
        p = parents[i]
        # Further from the parent than every earlier branch of it.
        depths = [sum((gaps[k] for k in (*lines[q], q) if p in lines[k]), arb(0)) for q in range(i) if p in lines[q]]
        gaps.append(gap + max(depths, default=arb(0), key=float))
        ups = [arb(1) if q == p else (-slack).exp() if edges[i, q] else arb(0) for q in range(i)]
        flows = arb_mat([[shares[a, b] for b in range(i)] for a in range(i)]).inv()
        own = [-value for value in (arb_mat([ups]) * flows).entries()]
        block = arb_mat([[flows[q, b] * own[q] / own[b] * scales[b] for q in range(i)] for b in range(i)])
        wanted = [gain / unit for gain, unit in zip(_deadbeat(block, scales[:i]), own, strict=True)]
        M[i, i] = (wanted[p] + gaps[i]).mid()
        for q in range(i):
            M[i, q] = M[i, i] - (0 if q == p else slack.mid()) if q in lines[i] else arb(0)
            M[q, i] = (wanted[q] - M[i, q] + M[q, p]).mid()
            shares[i, q] = ups[q]
            shares[q, i] = (M[q, i] - M[q, q]).exp() if edges[q, i] else 0
        shares[i, i] = 1
    return M


def _deadbeat(block: arb_mat, entry: list[arb]) -> list[arb]:
    """c for which block + entry·cᵀ is nilpotent (Ackermann's formula)."""
    n = block.nrows()
    columns = [arb_mat(n, 1, entry)]
    while len(columns) < n:
        columns.append(block * columns[-1])
    reach = arb_mat([[column[r, 0] for column in columns] for r in range(n)])
    last = reach.transpose().solve(arb_mat(n, 1, [int(k == n - 1) for k in range(n)])).transpose()
    return [-value for value in (last * block**n).entries()]


def tree_jacobian(edges: Floats, M: arb_mat, scales: list[arb]) -> arb_mat:
    """The derivative of X ↦ LN(A(X)XW_V) at X = I, where A W_V = D, D_ii = A_ii·scales[i], so that I rests.

    Entry b ≠ i of token i is measured in units of (A⁻¹)_ib; entry i, which does not move, is left out.
    """
    n = M.nrows()
    shares = arb_mat([[(M[i, j] - M[i, i]).exp() if edges[i, j] else arb(0) for j in range(n)] for i in range(n)])
    flows = shares.inv()
    weighted = [arb_mat([[shares[i, j] * flows[j, b] for b in range(n)] for j in range(n)]) for i in range(n)]
    turned = [M * one for one in weighted]
    places = [(i, b) for i in range(n) for b in range(n) if b != i]
    return arb_mat(
        [
            [
                (M[i, q] * weighted[i][k, b] + shares[i, k] * flows[q, b] + (turned[i][q, b] if k == i else 0))
                * (flows[k, q] / flows[i, b] * scales[b] / scales[i])
                for k, q in places
            ]
            for i, b in places
        ]
    )


def tree_gap(mask: Mask, ratio: Fraction) -> int | None:
    """A gap at which DF(I) is proved to have spectral radius below √ratio, or None where none that is tried does.

    Some power of DF(I)/√ratio has row sums below one, in balls.

    >>> tree_gap(Mask.window(3, 1), Fraction(1, 4))
    48
    """
    order, parents = search_tree(mask)
    edges = mask.allowed[np.ix_(order, order)]
    for gap in _GAPS:
        with precision(_BITS_PER_UNIT * gap):
            scales = [arb(fmpq(ratio.numerator, ratio.denominator)) ** k for k in range(mask.n)]
            M = tree_logits(edges, parents, scales, gap)
            power = tree_jacobian(edges, M, scales) / scales[1].sqrt()
        with precision(_BITS):
            for _ in range(_DOUBLINGS):
                moduli = arb_mat([[abs(entry) for entry in row] for row in power.tolist()])
                if all(total < 1 for total in (moduli * arb_mat([[1]] * power.ncols())).entries()):
                    return gap
                power = power * power
    return None
