"""Bad input is refused by name, good input arrives unchanged."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath.validation import as_array, as_choice, as_count, as_real, same_library


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.int64, np.uint32, np.bool_])
def test_real_arrays_widen_exactly(dtype):
    given_array = np.asarray([[0, 1], [1, 0]], dtype=dtype)
    array = as_array("X", given_array)
    assert array.dtype == np.float64
    assert (array == given_array).all()


def test_float64_is_passed_through_without_a_copy():
    X = np.ones((2, 2))
    assert as_array("X", X) is X


def test_other_libraries_keep_their_arrays():
    X = array_api_strict.ones((2, 2))
    assert isinstance(as_array("X", X), type(X))


@given(st.integers(-(2**53), 2**53))
def test_integers_that_a_double_holds_are_taken(k):
    assert int(as_array("X", [k])[0]) == k


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (None, {}, "X: None given"),
        ([[1.0], [2.0, 3.0]], {}, "X: .*rectangular"),
        ([1, "a"], {}, "X: .*real numbers"),
        ("12", {}, "X: '12' given"),
        (b"12", {}, "X: b'12' given"),
        ([1j], {}, "X: "),
        (np.ones(2, dtype=complex), {}, "X: dtype complex128"),
        (np.ones(2, dtype=object), {}, "X: dtype object"),
        ([Fraction(1, 3)], {}, "X: "),
        ([10**400], {}, "X: "),
        ([2**53 + 1], {}, "X: integer of size 9007199254740993"),
        ([-(2**63)], {}, "X: integer of size 9223372036854775808"),
        (np.asarray([2**64 - 1], dtype=np.uint64), {}, "X: integer of size"),
        (np.ones(2, dtype=np.longdouble), {}, "X: dtype float128|X: dtype longdouble"),
        (np.datetime64("2020-01-01"), {}, "X: "),
        ({"a": 1}, {}, "X: "),
        (object(), {}, "X: "),
        ([math.nan], {}, r"X: entry \(0,\) is nan"),
        ([[0.0, math.inf]], {}, r"X: entry \(0, 1\) is inf"),
        (math.nan, {}, r"X: entry \(\) is nan"),
        ([], {}, r"X: shape \(0,\) given; no axis may be empty"),
        (np.zeros((3, 0, 2)), {}, "X: shape"),
        ([1.0], {"ndim": 2}, "X: shape .* must have 2 axes"),
        ([1.0], {"min_ndim": 2}, "X: shape .* at least 2 axes"),
        ([[1.0]], {"ndim": 1}, "X: shape .* must have 1 axis"),
        ([[1.0, 2.0]], {"shape": (None, 3)}, r"X: shape \(1, 2\) given; it must be \(..., any, 3\)"),
        ([1.0], {"shape": (1, 1)}, r"X: shape \(1,\) given"),
    ],
)
def test_as_array_refuses(value, options, message):
    if isinstance(value, np.ndarray) and value.dtype == np.longdouble and value.dtype.itemsize <= 8:
        pytest.skip("long double is double here")
    with pytest.raises(ValueError, match=message):
        as_array("X", value, **options)


def test_as_array_can_be_asked_for_more():
    assert as_array("X", [], allow_empty=True).shape == (0,)
    assert as_array("X", [math.inf], allow_infinite=True)[0] == math.inf
    with pytest.raises(ValueError, match="must be a number"):
        as_array("X", [math.nan], allow_infinite=True)


def test_messages_stay_short_whatever_was_given():
    with pytest.raises(ValueError, match="X: ") as caught:
        as_array("X", ["a" * 10**6])
    assert len(str(caught.value)) < 300
    huge = 10 ** (sys.get_int_max_str_digits() + 10)  # its repr raises
    for refuse in (lambda: as_count("n", -huge), lambda: as_real("x", huge), lambda: as_choice("c", huge, ("a",))):
        with pytest.raises(ValueError, match=r"an? int given"):
            refuse()


@pytest.mark.parametrize("value", [0, -1, 1.0, 2.5, True, np.True_, "3", None, [1], math.nan, 1j])
def test_as_count_refuses(value):
    with pytest.raises(ValueError, match=r"n: .* given; a whole number of at least 1 is needed"):
        as_count("n", value)


def test_as_count_takes_whole_numbers_in_range():
    assert as_count("n", np.int32(7)) == 7
    assert type(as_count("n", np.int32(7))) is int
    assert as_count("n", 0, least=0) == 0
    with pytest.raises(ValueError, match="at least 1 and at most 5"):
        as_count("n", 6, most=5)


@pytest.mark.parametrize("value", ["1", b"1", None, math.nan, math.inf, -math.inf, 1j, [1.0, 2.0], 10**400])
def test_as_real_refuses(value):
    with pytest.raises(ValueError, match=r"x: .* given; a finite number is needed"):
        as_real("x", value)


@pytest.mark.parametrize("value", [0, -1.5])
def test_as_real_refuses_what_is_not_positive(value):
    with pytest.raises(ValueError, match="a positive finite number"):
        as_real("x", value, positive=True)


@pytest.mark.parametrize("value", [3, 0.5, np.float32(0.5), np.int64(3), Fraction(1, 2)])
def test_as_real_takes_numbers(value):
    assert as_real("x", value) == value


@pytest.mark.parametrize("value", ["c", 1, 1.0, True, None, ["a"], np.asarray([1, 2])])
def test_as_choice_refuses_what_only_looks_like_a_choice(value):
    with pytest.raises(ValueError, match=r"c: .* given; allowed are 'a', 2, False"):
        as_choice("c", value, ("a", 2, False))


@pytest.mark.parametrize("value", ["a", 2, False])
def test_as_choice_takes_the_choices(value):
    assert as_choice("c", value, ("a", 2, False)) is value


def test_same_library_names_the_stranger():
    x, y = np.ones(1), array_api_strict.ones(1)
    assert same_library(x=x, y=None, z=x) is same_library(x=x)
    with pytest.raises(ValueError, match=r"y: an array of array_api_strict.* given while x is one of numpy"):
        same_library(x=x, y=y)


@pytest.mark.parametrize("value", [True, np.True_, 0.2, 1.5, 0, -1, np.nan, "0.01", None, 10**400])
def test_a_number_of_at_most(value):
    with pytest.raises(ValueError, match=r"^tolerance: .* given; a positive finite number of at most 0.1 is needed$"):
        as_real("tolerance", value, positive=True, most=0.1)
