"""Instances survive JSON bit for bit."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rankmath.claims import statements
from rankmath.decide.campaigns.exact_json import decode, encode
from rankmath.linalg.masks import Mask
from rankmath.model.network import LayerNorm, Network
from rankmath.verification.instance import ArrayInstance, NetworkInstance

DRAWN = [key for key, entry in statements().items() if entry.draws]


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_side=4)))
def test_doubles_of_every_kind_keep_their_bits(array: np.ndarray) -> None:
    back = decode(encode(array))
    assert back.shape == array.shape
    # A NaN has no payload worth keeping.
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(np.signbit(back)[~np.isnan(array)], np.signbit(array)[~np.isnan(array)])


@settings(max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.fractions() | st.floats(allow_nan=False),
        lambda inner: st.dictionaries(st.text(), inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
        max_leaves=8,
    )
)
def test_values_come_back(value: object) -> None:
    back = decode(encode(value))
    assert back == value
    assert encode(back) == encode(value)


@pytest.mark.parametrize("key", DRAWN)
def test_an_instance_of_every_statement_comes_back(key: str) -> None:
    draw = statements()[key].draws[0]
    instance = draw(np.random.default_rng(7), 3).select(0)
    text = encode(instance)
    back = decode(text)
    assert type(back) is type(instance)
    assert encode(back) == text
    np.testing.assert_array_equal(back.vector(), instance.vector())


def test_masks_norms_and_maps_come_back() -> None:
    net = Network.random(
        4,
        3,
        2,
        2,
        seed=1,
        head_dim=2,
        biases=True,
        skip=0.5,
        mlp="gelu",
        mask=Mask.window(4, 1),
        norm=LayerNorm("standard"),
    )
    back = decode(encode(NetworkInstance(net, net.random_input(seed=2))))
    assert isinstance(back, NetworkInstance)
    np.testing.assert_array_equal(back.net.mask.allowed, net.mask.allowed)
    np.testing.assert_array_equal(back.net.W_QK, net.W_QK)
    assert (back.net.norm.kind, back.net.norm.eps, back.net.skip) == ("standard", 1e-5, 0.5)
    assert back.net.mlp[1].activation == "gelu"


def test_fractions_stay_fractions() -> None:
    P = np.asarray([[Fraction(1, 3), Fraction(2, 3)], [Fraction(0), Fraction(1)]], dtype=object)
    back = decode(encode(ArrayInstance({"P": P})))
    assert back["P"].tolist() == P.tolist()
    assert type(back["P"][0, 0]) is Fraction


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"class": "os:system", "fields": {}}',
        '{"class": "subprocess:Popen", "fields": {"args": "ls"}}',
        '{"class": "rankmath.cli:main", "fields": {}}',
        '{"class": "rankmath.nowhere:Network", "fields": {}}',
        '{"class": "rankmath.model.network:Network", "fields": {"nonsense": 1}}',
        '{"shape": [2], "dtype": "float64", "entries": ["0x1p0"]}',
    ],
)
def test_what_is_no_instance_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no instance can be read"):
        decode(text)


def test_what_cannot_be_written_exactly_is_refused() -> None:
    for value in (1j, object(), np.asarray([1j]), np.asarray(["word"])):
        with pytest.raises(TypeError, match="cannot be written exactly"):
            encode(value)
    json.loads(encode(float("inf")))
