"""Row softmax: stochastic, shift-invariant, permutation-equivariant, masked, and safe at any size of logit."""

from __future__ import annotations

import math
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rankmath.attention.softmax import row_softmax
from rankmath.linalg.masks import Mask
from rankmath.linalg.stochastic import is_row_stochastic

shapes = array_shapes(min_dims=2, max_dims=4, max_side=6)
any_logits = arrays(np.float64, shapes, elements=st.floats(allow_nan=False, allow_infinity=False))
# Multiples of 2^-20 below 2^20: adding two of them rounds nothing.
dyadic = st.integers(-(2**20), 2**20).map(lambda k: k * 2.0**-20)
dyadic_logits = arrays(np.float64, shapes, elements=dyadic)


@given(any_logits)
def test_every_finite_logit_gives_a_row_stochastic_matrix(logits):
    assert is_row_stochastic(row_softmax(logits))


@settings(max_examples=40)
@given(dyadic_logits, st.data())
def test_a_constant_added_to_a_row_changes_nothing(logits, data):
    shift = data.draw(arrays(np.float64, (*logits.shape[:-1], 1), elements=dyadic))
    assert np.array_equal(row_softmax(logits + shift), row_softmax(logits))


@given(dyadic_logits, st.randoms(use_true_random=False))
def test_permuted_columns_permute_the_weights(logits, random):
    order = list(range(logits.shape[-1]))
    random.shuffle(order)
    np.testing.assert_allclose(row_softmax(logits[..., order]), row_softmax(logits)[..., order], rtol=1e-15)


@given(dyadic_logits)
def test_ratios_are_exponentials_of_differences(logits):
    P = row_softmax(logits)
    np.testing.assert_allclose(P / P[..., :1], np.exp(logits - logits[..., :1]), rtol=1e-14)


@settings(max_examples=40)
@given(dyadic_logits, st.data())
def test_a_mask_is_softmax_on_what_it_leaves(logits, data):
    allowed = data.draw(arrays(np.bool_, logits.shape))
    allowed[..., 0] |= ~allowed.any(axis=-1)
    P = row_softmax(logits, mask=allowed)
    assert np.all(P[~allowed] == 0)
    for index in np.ndindex(logits.shape[:-1]):
        kept = logits[index][allowed[index]]
        np.testing.assert_allclose(P[index][allowed[index]], row_softmax(kept[None, :])[0], rtol=1e-15)


def test_exact_where_the_exponentials_are_rational():
    P = row_softmax(np.log([[1.0, 3.0], [4.0, 12.0]]))
    np.testing.assert_allclose(P, [[float(Fraction(1, 4)), float(Fraction(3, 4))]] * 2, rtol=2e-16)


def test_logits_at_the_ends_of_the_double_range():
    big = np.finfo(float).max
    assert row_softmax([[big, -big, big]]).tolist() == [[0.5, 0.0, 0.5]]
    assert row_softmax([[-big, -big]]).tolist() == [[0.5, 0.5]]
    assert row_softmax([[1e4, 1e4 - 1]]).tolist() == row_softmax([[0.0, -1.0]]).tolist()


def test_a_masked_large_logit_does_not_swamp_the_row():
    P = row_softmax([[1e308, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], mask=[[False, True, True]] * 3)
    assert P.tolist() == [[0.0, 0.5, 0.5]] * 3


def test_one_mask_serves_a_whole_batch():
    logits = np.zeros((2, 3, 4, 4))
    P = row_softmax(logits, mask=Mask.causal(4))
    expected = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    assert np.array_equal(P, np.broadcast_to(expected, P.shape))


def test_passes_under_array_api_strict():
    logits = np.arange(24.0).reshape(2, 3, 4) % 5
    allowed = np.arange(12).reshape(3, 4) % 3 > 0
    strict = row_softmax(array_api_strict.asarray(logits), mask=array_api_strict.asarray(allowed))
    assert isinstance(strict, type(array_api_strict.asarray(0.0)))
    assert np.array_equal(np.asarray(strict), row_softmax(logits, mask=allowed))
    square = array_api_strict.asarray(logits[:, :, :3])
    assert np.array_equal(
        np.asarray(row_softmax(square, mask=Mask.causal(3))), row_softmax(logits[:, :, :3], mask=Mask.causal(3))
    )


@pytest.mark.parametrize(
    ("logits", "mask", "message"),
    [
        ([[0.0, math.nan]], None, r"logits: entry \(0, 1\) is nan"),
        ([[0.0, math.inf]], None, r"logits: entry \(0, 1\) is inf"),
        ([0.0, 1.0], None, r"logits: shape \(2,\) given"),
        (np.zeros((2, 0)), None, r"logits: shape \(2, 0\) given"),
        ([[1j, 0]], None, "logits: "),
        ([[10**400]], None, "logits: "),
        ("softmax", None, "logits: "),
        (np.zeros((2, 2)), [[1, 0], [0, 1]], "mask: dtype int64 given"),
        (np.zeros((2, 2)), np.ones((3, 3), dtype=bool), r"mask: shape \(3, 3\) given"),
        (np.zeros((2, 2)), Mask.complete(3), r"mask: shape \(3, 3\) given"),
        (np.zeros((2, 2)), [[True, False], [False, False]], r"mask: row \(1,\) allows no entry"),
        (np.zeros((2, 2)), array_api_strict.ones((2, 2), dtype=array_api_strict.bool), "mask: an array of"),
    ],
)
def test_refusals(logits, mask, message):
    with pytest.raises(ValueError, match=message):
        row_softmax(logits, mask=mask)
