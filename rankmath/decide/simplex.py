"""The simplex of Nelder and Mead, where many points cost little more than one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankmath.validation import Floats

# It ends where the simplex is this small, in its points and in their values.
_SMALL = 1e-4


def least(values: Callable[[Floats], Floats], simplex: Floats, most: int, *, ahead: bool = True) -> Floats:
    """Where a simplex (N + 1 points in N dimensions) gets to downhill, with `most` values at most.

    `values` takes several points at once. With `ahead` the four that a step may need are asked for together; only those
    that it uses are counted, so that the way is the same. Steps shrink with the dimension (Gao and Han 2012).

    >>> found = least(lambda points: ((points - 3) ** 2).sum(axis=1), np.eye(3, 2), 200)
    >>> bool(np.abs(found - 3).max() < 1e-4)
    True
    """
    dimension = simplex.shape[1]
    expand, contract, shrink = 1 + 2 / dimension, 0.75 - 1 / (2 * dimension), 1 - 1 / dimension
    used = min(len(simplex), most)
    heights = np.full(len(simplex), np.inf)
    heights[:used] = values(simplex[:used])
    points, heights = _sorted(simplex, heights)
    while used < most:
        near = np.abs(points[1:] - points[0]).max() <= _SMALL and np.abs(heights[1:] - heights[0]).max() <= _SMALL
        if near:
            break
        middle, worst = points[:-1].sum(axis=0) / dimension, points[-1]
        tried = np.stack(
            [
                2 * middle - worst,
                (1 + expand) * middle - expand * worst,
                (1 + contract) * middle - contract * worst,
                (1 - contract) * middle + contract * worst,
            ]
        )
        known = values(tried if ahead else tried[:1]).tolist()
        across = known[0]
        used += 1
        if heights[0] <= across < heights[-2]:
            points[-1], heights[-1] = tried[0], across
        elif used < most:
            used += 1
            other = 1 if across < heights[0] else 2 if across < heights[-1] else 3
            found = known[other] if ahead else values(tried[other : other + 1])[0]
            taken = found <= across if other == 2 else found < min(across, heights[-1])
            if taken:
                points[-1], heights[-1] = tried[other], found
            elif other == 1:
                points[-1], heights[-1] = tried[0], across
            else:
                left = min(dimension, most - used)
                points[1 : left + 1] = points[0] + shrink * (points[1 : left + 1] - points[0])
                heights[1 : left + 1] = values(points[1 : left + 1]) if left else ()
                used += left
        points, heights = _sorted(points, heights)
    best: Floats = points[0]
    return best


def _sorted(points: Floats, heights: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(heights)
    return points[order], heights[order]
