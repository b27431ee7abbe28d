"""Position terms of the logits, entry by entry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankmath.model.positions import ALiBi, PositionTable, RelativeBuckets, as_position


def bucket(offset: int, buckets: int, max_distance: int, bidirectional: bool) -> int:
    """T5's definition, with the logarithm in floating point and a little room for its rounding."""
    base = 0
    if bidirectional:
        buckets //= 2
        base, distance = buckets * (offset > 0), abs(offset)
    else:
        distance = max(-offset, 0)
    exact = buckets // 2
    if distance < exact:
        return base + distance
    steps = math.log(distance / exact) / math.log(max_distance / exact) * (buckets - exact)
    return base + min(exact + int(steps + 1e-9), buckets - 1)


@pytest.mark.parametrize("buckets", [4, 8, 32])
@pytest.mark.parametrize("max_distance", [20, 128])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_the_definition(buckets, max_distance, bidirectional):
    table = np.arange(2.0 * buckets).reshape(buckets, 2)
    n = 200
    term = RelativeBuckets(table, max_distance, bidirectional)
    expected = np.asarray([[bucket(j - i, buckets, max_distance, bidirectional) for j in range(n)] for i in range(n)])
    for h in (0, 1):
        assert (term.block(h, 0, n, n) == table[expected, h]).all()
    assert (term.block(slice(None), 7, 9, n) == np.moveaxis(table[expected[7:9]], -1, 0)).all()


def test_blocks_are_rows_of_the_whole():
    rng = np.random.default_rng(0)
    terms = [ALiBi([0.5, 0.25]), RelativeBuckets(rng.standard_normal((8, 2)), 16), PositionTable(rng.random((2, 6, 6)))]
    for term in terms:
        whole = term.block(slice(None), 0, 6, 6)
        assert whole.shape == (2, 6, 6)
        assert (whole[:, 2:5] == term.block(slice(None), 2, 5, 6)).all()
        assert (whole[1, 2:5] == term.block(1, 2, 5, 6)).all()


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("rotary", "position: rotary positions given"),
        ("alibi", "position: 'alibi' given; allowed are None, ALiBi"),
        (np.zeros((2, 3, 3)), "position: ndarray given"),
        (ALiBi([1.0]), "position: a term for 1 heads given; the attention has 2"),
    ],
)
def test_refusals_name_the_position(position, message):
    with pytest.raises(ValueError, match=message):
        as_position(position, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ALiBi([[1.0]]), "slopes: shape"),
        (lambda: ALiBi([math.nan]), "slopes: entry"),
        (lambda: RelativeBuckets(np.zeros((5, 1))), "table: 5 buckets given"),
        (lambda: RelativeBuckets(np.zeros((32, 1)), max_distance=8), "max_distance: 8 given"),
        (lambda: PositionTable(np.zeros((1, 2, 3))), "values: shape"),
        (lambda: PositionTable(np.full((1, 2, 2), -math.inf)), "values: entry"),
    ],
)
def test_malformed_terms_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
