"""Residuals in closed form against the linear programs that prove both sides."""

from __future__ import annotations

from itertools import combinations

import flint
import numpy as np
import pytest

from rankmath.linalg.residuals import _vertices, residual, residual_above, residual_inf, residual_one


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_closed_forms_are_the_values_of_the_programs(n: int, d: int) -> None:
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((6, n, d)) * 10.0 ** rng.uniform(-5, 3, (6, 1, 1)) + rng.standard_normal((6, 1, d))
    X[0] = np.sign(X[0])
    for values, norm in ((residual_one(X), "one"), (residual_inf(X), "inf")):
        for value, tokens in zip(values, X, strict=True):
            exact = residual(tokens, norm=norm)
            assert exact.lower_bound * (1 - 1e-9) <= value <= exact.value * (1 + 1e-9) + 1e-300
    for value, tokens in zip(residual_above(X, "composite"), X, strict=True):
        assert value >= residual(tokens, norm="composite").lower_bound * (1 - 1e-9)


@pytest.mark.parametrize(("d", "count"), [(1, 1), (2, 2), (3, 6), (4, 48)])
def test_the_weights_are_exact_and_every_vertex_is_there(d: int, count: int) -> None:
    """Vertices are the positive weights of independent signs: found once more by rational elimination."""
    signs, weights = _vertices(d)
    twelfths = np.rint(12 * weights)
    assert np.array_equal(weights, twelfths / 12)
    columns = [[*s, 1] for s in signs.astype(int).tolist()]
    expected = set()
    for size in range(1, d + 2):
        for chosen in combinations(range(len(signs)), size):
            system = flint.fmpq_mat([*(columns[s] for s in chosen), [*[0] * d, 12]]).transpose()
            reduced, rank = system.rref()
            values = [reduced[i, size] for i in range(size)]
            if rank == size and all(reduced[i, i] == 1 for i in range(size)) and min(values) > 0:
                assert all(value.q == 1 for value in values)
                expected.add(tuple(int(values[chosen.index(s)].p) if s in chosen else 0 for s in range(len(signs))))
    assert {tuple(map(int, row)) for row in twelfths} == expected
    assert len(weights) == len(expected) == count
