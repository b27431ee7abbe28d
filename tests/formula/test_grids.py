"""Definitions over arrays, all instances and places at once: against Python's own loops, and what doubles lose."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankmath.arithmetic.balls import Balls, precision
from rankmath.arithmetic.float64 import Float64
from rankmath.formula.grids import Grid, OneByOne, Values

rng = np.random.default_rng(0)
M, V = rng.standard_normal((3, 4, 4)), rng.standard_normal((3, 4))
#: Definitions over a matrix M and a vector v, each with the same in Python, of one instance.
TEXTS = {
    "sum(M[i][j]*v[j] for i in range(4) for j in range(i))": lambda M, v: (np.tril(M, -1) @ v).sum(),
    "max(M[i][i] for i in range(len(v)))": lambda M, v: np.diag(M).max(),
    "min(abs(M[i][j]) for i in range(4) for j in range(i + 1, 4) if not j == 3)": lambda M, v: abs(
        M[np.triu_indices(3, 1)]
    ).min(),
    "max(sum(max(M[i][j], v[j]) for j in range(4)) for i in range(4))": lambda M, v: np.maximum(M, v).sum(axis=1).max(),
    "A = M @ T(M); sum(A[i][j] for i in range(4) for j in range(4))": lambda M, v: (M @ M.T).sum(),
    "p = [softmax(M)[i][0] for i in range(4)]; prod(p[i] for i in range(4))": lambda M, v: (
        np.exp(M[:, 0]) / np.exp(M).sum(axis=1)
    ).prod(),
    "sum((M[i][j - 1] if j > 0 else 1)**2 for i in range(4) for j in range(4))": lambda M, v: 4 + (M[:, :3] ** 2).sum(),
    "sum(i*v[i] for i in range(4))/len(v)": lambda M, v: np.arange(4) @ v / 4,
    "spectral([[identity(2)[i][j] + v[i]*v[j] for j in range(2)] for i in range(2)])": lambda M, v: 1 + v[:2] @ v[:2],
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_read_is_what_python_loops_give(text: str) -> None:
    found = Grid(Float64(np.zeros(1))).read(text, {"M": Values(M), "v": Values(V)})
    wanted = [TEXTS[text](one, row) for one, row in zip(M, V, strict=True)]
    assert np.broadcast_to(found.x, 3) == pytest.approx(wanted, rel=1e-12)
    with precision(128):
        A = Balls()
        balls = Grid(A).read(text, {"M": Values(A.asarray(M[:1])), "v": Values(A.asarray(V[:1]))}).x[0]
    assert float(balls) == pytest.approx(wanted[0], rel=1e-12)


@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-9])
def test_the_largest_summand_bounds_what_rounding_costs(off: float) -> None:
    v = Values(np.array([[1.0, 1 + off, 7.0]]))
    for text, exact in (
        ("v[2]*(v[1] - v[0])/v[2]", (1 + off) - 1),
        ("exp(log(v[1])) - v[0]", (1 + off) - 1),
        ("sqrt(v[1]**2 - 2*v[0] + v[0])**2", ((1 + off) - 1) * (2 + off)),
        ("sum(v[i] for i in range(2)) - 2", (1 + off) - 1),
    ):
        found = Grid(Float64(np.zeros(1))).read(text, {"v": v})
        assert abs(found.x[0] - exact) <= 1e-14 * found.size[0]
        assert found.size[0] < 100


def test_a_truth_is_told_where_rounding_has_no_part_in_it() -> None:
    grid, v = Grid(Float64(np.zeros(1))), Values(np.array([[0.1, 0.2, 0.3]]))
    told = grid.read("all(v[i] < v[i + 1] for i in range(2)) and v[0] == v[0]", {"v": v})
    assert told.x.all()
    rounded = grid.read("v[0] + v[1] == v[2] or v[0] + v[1] > v[2]", {"v": v})
    assert not rounded.x.any()
    assert rounded.top is not None
    assert not rounded.top.any()
    refused = grid.read("any(v[i] > 1 for i in range(3))", {"v": v})
    assert refused.top is not None
    assert refused.top.all()


def test_a_range_may_differ_from_instance_to_instance() -> None:
    v, m = Values(V), Values(np.array([1.0, 3.0, 4.0]))
    found = Grid(Float64(np.zeros(1))).read("sum(v[i] for i in range(m))", {"v": v, "m": m})
    assert found.x == pytest.approx([V[0, :1].sum(), V[1, :3].sum(), V[2].sum()])
    with pytest.raises(OneByOne):
        Grid(Float64(np.zeros(1))).read("spectral([[v[i] for i in range(m)] for j in range(2)])", {"v": v, "m": m})


def test_a_place_that_is_not_there_is_no_number() -> None:
    found = Grid(Float64(np.zeros(1))).read("v[len(v) - 5] + v[4]", {"v": Values(V)})
    assert all(map(math.isnan, found.x))
    partly = Grid(Float64(np.zeros(1))).read("sum(v[i + 1] for i in range(len(v)))", {"v": Values(V)})
    assert all(map(math.isnan, partly.x))
