"""Networks: what is built, what is refused, what a file brings back."""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path

import mpmath
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath import verify
from rankmath.linalg.masks import Mask
from rankmath.model.network import LIPSCHITZ, MLP, LayerNorm, Network
from rankmath.model.sublayers import Attention, Sublayer

EYE = np.tile(np.eye(3), (2, 1, 1, 1))
NAN = np.where(np.eye(3) > 0, math.nan, 0.0) + 0 * EYE
INF = np.where(np.eye(3) > 0, math.inf, 0.0) + 0 * EYE
LONELY = np.asarray([[True, False], [False, False]])


# -- what is built -----------------------------------------------------------------------------------------


def test_fused_weights_are_kept_as_given():
    rng = np.random.default_rng(0)
    W_QK, W = rng.standard_normal((2, 3, 4, 4)), rng.standard_normal((2, 3, 4, 4))
    net = Network.from_arrays(W_QK, W, d_qk=9.0, skip=0.5)
    assert (net.layers, net.heads, net.dim, net.d_qk, net.skip) == (2, 3, 4, 9.0, 0.5)
    assert (net.W_QK == W_QK).all()
    assert (net.W == W).all()
    assert net.key is None
    assert net.output is None


def test_factors_are_kept_and_multiply_to_the_fused_weights():
    rng = np.random.default_rng(0)
    W_Q, W_K, W_V = (rng.standard_normal((2, 3, 5, 2)) for _ in range(3))
    W_O = rng.standard_normal((2, 3, 2, 5))
    net = Network.from_qkvo(W_Q, W_K, W_V, W_O)
    assert net.query.shape == (2, 3, 5, 2)
    assert net.d_qk == 2
    np.testing.assert_allclose(net.W_QK[1, 2], W_Q[1, 2] @ W_K[1, 2].T, rtol=1e-15)
    np.testing.assert_allclose(net.W[1, 2], W_V[1, 2] @ W_O[1, 2], rtol=1e-15)


@pytest.mark.parametrize(("skip", "factor"), [(False, 0.0), (True, 1.0), (0.25, 0.25), (-2, -2.0), (np.True_, 1.0)])
def test_skip_is_a_factor(skip, factor):
    assert Network.from_arrays(EYE, EYE, skip=skip).skip == factor


@pytest.mark.parametrize("init", ["gaussian", "xavier", "orthogonal"])
def test_random_networks_repeat_and_differ_by_seed(init):
    first, again, other = (Network.random(4, 3, 2, 2, seed=s, init=init, biases=True) for s in (1, 1, 2))
    assert (first.W_QK == again.W_QK).all()
    assert (first.W != other.W).any()
    assert (first.random_input(seed=3) == again.random_input(seed=3)).all()


def test_initialisations_have_their_law():
    d = 64
    gaussian, xavier, orthogonal = (
        Network.random(2, d, heads=4, layers=4, seed=0, init=init).W for init in ("gaussian", "xavier", "orthogonal")
    )
    # 65 536 entries: the sample deviation is within 1 % of the law's with room to spare.
    assert gaussian.std() == pytest.approx(1 / math.sqrt(d), rel=0.01)
    assert np.abs(xavier).max() <= math.sqrt(6 / (2 * d))
    assert xavier.std() == pytest.approx(math.sqrt(6 / (2 * d) / 3), rel=0.01)
    np.testing.assert_allclose(orthogonal @ orthogonal.mT, np.broadcast_to(np.eye(d), orthogonal.shape), atol=1e-13)


def test_scale_multiplies_all_random_weights():
    one, three = (Network.random(4, 3, 2, 2, seed=1, biases=True, scale=s) for s in (1.0, 3.0))
    for name in ("W_QK", "W", "key_bias", "bias"):
        np.testing.assert_allclose(getattr(three, name), 3 * getattr(one, name), rtol=1e-15)


def test_is_pure_means_attention_alone():
    assert Network.random(3, 2, biases=True, mask="causal").is_pure
    for switches in ({"skip": True}, {"mlp": "relu"}, {"norm": "column"}):
        assert not Network.random(3, 2, **switches).is_pure


def test_masks_by_name_matrix_graph():
    graph = networkx.path_graph(4)
    for mask in ("window:1", Mask.window(4, 1), Mask.window(4, 1).allowed, Mask.window(4, 1).allowed.tolist(), graph):
        assert Network.random(4, 2, mask=mask).mask_for(4) == Mask.window(4, 1)
    assert Network.random(4, 2, mask="complete").mask_for(4) is None
    assert Network.from_arrays(EYE, EYE, mask="causal").mask_for(7) == Mask.causal(7)
    assert Network.from_arrays(EYE, EYE, mask="star:3").mask_for(5) == Mask.star(5, 3)
    assert Network.from_arrays(EYE, EYE, mask="prefix(4)").mask_for(5) == Mask.prefix(5, 4)


def largest_slope(function, near):
    """The derivative at the zero of the second derivative that Newton's method finds."""
    return mpmath.diff(function, mpmath.findroot(lambda x: mpmath.diff(function, x, 2), near))


@pytest.mark.parametrize("activation", LIPSCHITZ)
def test_lipschitz_constants_of_activations(activation):
    """sup |act'| = 1, 1, and where f'' = 0 for the others: never below the true value and within 1e-7 of it."""
    exact = {
        "relu": lambda: 1,
        "tanh": lambda: 1,
        "gelu": lambda: mpmath.ncdf(mpmath.sqrt(2)) + mpmath.sqrt(2) * mpmath.npdf(mpmath.sqrt(2)),
        "gelu_tanh": lambda: largest_slope(
            lambda x: x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))), 1.4
        ),
        "silu": lambda: largest_slope(lambda x: x / (1 + mpmath.exp(-x)), 2.4),
        "quick_gelu": lambda: largest_slope(lambda x: x / (1 + mpmath.exp(-mpmath.mpf("1.702") * x)), 1.4),
    }[activation]
    with mpmath.workdps(30):
        assert 0 <= LIPSCHITZ[activation] - exact() <= 1e-7


@given(seed=st.integers(0, 10**6), activation=st.sampled_from(sorted(LIPSCHITZ)), skip=st.booleans())
def test_mlp_stretches_no_more_than_its_lipschitz_constant(seed, activation, skip):
    from rankmath.attention.plain import forward

    rng = np.random.default_rng(seed)
    f = MLP(rng.standard_normal((3, 5)), rng.standard_normal((5, 3)), rng.standard_normal(5), None, activation, skip)
    zero = np.zeros((1, 1, 3, 3))
    net = Network.from_arrays(zero, zero, skip=True, mlp=f)
    X = rng.standard_normal((2, 3)) * 10.0 ** rng.uniform(-2, 2)
    Y = forward(net, X)
    for p in (1, 2, math.inf):
        assert np.linalg.norm(Y[0] - Y[1], p) <= f.lipschitz(p) * np.linalg.norm(X[0] - X[1], p) * (1 + 1e-10)


# -- files -------------------------------------------------------------------------------------------------


def assert_same(one: Network, other: Network) -> None:
    for name in ("query", "key", "value", "output", "key_bias", "bias"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        assert a is None or a.tobytes() == b.tobytes()
    assert (one.d_qk, one.skip, one.mask, one.tokens) == (other.d_qk, other.skip, other.mask, other.tokens)
    assert (one.norm is None) == (other.norm is None)
    if one.norm is not None:
        assert (one.norm.kind, one.norm.eps) == (other.norm.kind, other.norm.eps)
        for name in ("gain", "offset"):
            a, b = getattr(one.norm, name), getattr(other.norm, name)
            assert (a is None and b is None) or a.tobytes() == b.tobytes()
    for f, g in zip(one.mlp, other.mlp, strict=True):
        assert (f is None) == (g is None)
        if f is not None:
            assert (f.activation, f.skip) == (g.activation, g.skip)
            for name in ("W_in", "W_out", "b_in", "b_out"):
                a, b = getattr(f, name), getattr(g, name)
                assert (a is None and b is None) or a.tobytes() == b.tobytes()


@pytest.mark.parametrize("head_dim", [None, 2])
@pytest.mark.parametrize(
    ("mlp", "norm", "mask"),
    [
        (None, None, None),
        ("gelu", "sphere", "causal"),
        ("relu", "column", Mask.star(5)),
        (
            [None, MLP(np.ones((3, 1)), np.ones((1, 3)), skip=True)],
            LayerNorm("standard", 1e-9, [1, 2, 3], [0, 0, 1]),
            "window:2",
        ),
    ],
)
def test_files_bring_back_every_bit(tmp_path, head_dim, mlp, norm, mask):
    net = Network.random(5, 3, 2, 2, seed=7, head_dim=head_dim, mlp=mlp, norm=norm, mask=mask, biases=True, skip=1 / 3)
    net.save(tmp_path / "net.npz")
    assert_same(Network.load(tmp_path / "net.npz"), net)
    assert [p.name for p in tmp_path.iterdir()] == ["net.npz"]


def test_extreme_doubles_survive_a_file(tmp_path):
    W = np.asarray([5e-324, -0.0, 1.7976931348623157e308, math.pi]).reshape(1, 1, 2, 2)
    net = Network.from_arrays(W, W, d_qk=0.1, skip=5e-324)
    net.save(tmp_path / "n")
    assert_same(Network.load(tmp_path / "n"), net)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    old, new = Network.random(3, 2, seed=0), Network.random(3, 2, seed=1)
    old.save(tmp_path / "net.npz")

    def broken(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", broken)
    with pytest.raises(OSError, match="disk full"):
        new.save(tmp_path / "net.npz")
    assert_same(Network.load(tmp_path / "net.npz"), old)


def edited(tmp_path, change):
    """A saved network whose arrays and header `change` has altered."""
    Network.random(3, 2, 1, 2, seed=0, mlp="relu", mask=np.tri(3, dtype=bool)).save(tmp_path / "net.npz")
    with np.load(tmp_path / "net.npz") as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header")))
    change(arrays, header)
    np.savez(tmp_path / "bad.npz", header=np.asarray(json.dumps(header)), **arrays)
    return tmp_path / "bad.npz"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda a, h: h.update(format=1), "format 1; this version reads format 2"),
        (lambda a, h: h.pop("tokens"), "field 'tokens' is missing"),
        (lambda a, h: h.pop("layers"), "field 'layers' is missing"),
        (lambda a, h: h.update(layers=[]), "no attention and no MLP given"),
        (lambda a, h: h["layers"].append([]), "layer 2 is no non-empty sequence"),
        (lambda a, h: h["layers"].append([3]), "layer 2 is no non-empty sequence of Sublayers"),
        (lambda a, h: h["layers"][0][0].pop("part"), "field 'part' is missing"),
        (lambda a, h: h["layers"][0][0].update(part="Network"), "a part 'Network'"),
        (lambda a, h: h["layers"][0][0].update(extra=1), "unexpected keyword argument 'extra'"),
        (lambda a, h: a.pop("layer0.0.map.query"), "field 'layer0.0.map.query' is missing"),
        (lambda a, h: h["layers"][1][1]["map"].update(W_in=None), "W_in: None given"),
        (lambda a, h: attention(h).update(d_qk=-1), "d_qk: -1 given"),
        (lambda a, h: attention(h).update(d_qk="two"), "d_qk: 'two' given"),
        (lambda a, h: attention(h).update(position="rotary"), "position: rotary positions given"),
        (lambda a, h: h["layers"][0][0].update(skip=None), "skip: None given"),
        (lambda a, h: h["layers"][0][0].update(map=3), "map: a int given"),
        (lambda a, h: h.update(tokens=0), "tokens: 0 given"),
        (lambda a, h: h.update(tokens=7), r"masks or positions for \[3, 7\] tokens given"),
        (lambda a, h: h["layers"][0][0].update(after={"part": "LayerNorm", "kind": "batch"}), "norm: 'batch' given"),
        (lambda a, h: h["layers"][0][0].update(after={"part": "LayerNorm", "kind": "rms", "eps": -1}), "eps: -1.0"),
        (lambda a, h: h["layers"][0][1]["map"].update(activation="sin"), "activation: 'sin' given"),
        (lambda a, h: a["layer0.0.map.query"].fill(math.nan), "query: entry"),
        (lambda a, h: a.update({"layer0.0.map.value": np.ones((2, 2, 2))}), "value: shape"),
        (lambda a, h: a.update({"layer0.0.map.query": np.ones((1, 2, 1))}), "query: shape"),
        (lambda a, h: a.update({"layer0.0.map.query": np.ones((1, 4, 4))}), "value: shape"),
        (lambda a, h: a.update({"layer0.0.map.mask": np.zeros((3, 3), dtype=bool)}), "row 0 has no True entry"),
        (lambda a, h: a.update({"layer0.0.map.mask": np.ones((2, 2), dtype=bool)}), r"for \[2, 3\] tokens"),
        (lambda a, h: attention(h).update(bias={"array": "layer0.0.map.query"}), "bias: shape"),
    ],
)
def test_malformed_contents_are_refused_with_the_reason(tmp_path, change, reason):
    with pytest.raises(ValueError, match=f"path: .* not a rankmath network: .*{reason}"):
        Network.load(edited(tmp_path, change))


def attention(header):
    return header["layers"][0][0]["map"]


@pytest.mark.parametrize("header", ["", "null", "[]", "3", "{", '{"format": 1', "[" * 100_000, '{"format": 1}'])
def test_malformed_headers_are_refused(tmp_path, header):
    np.savez(tmp_path / "bad.npz", header=np.asarray(header))
    with pytest.raises(ValueError, match=r"path: .* not a rankmath network"):
        Network.load(tmp_path / "bad.npz")


def test_files_that_are_no_npz_are_refused(tmp_path):
    path = tmp_path / "x"
    for content in (b"", b"hello", b"PK\x03\x04", np.random.default_rng(0).bytes(500)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a readable npz file"):
            Network.load(path)
    np.save(tmp_path / "single.npy", np.ones(3))
    for wrong in (tmp_path / "single.npy", tmp_path / "missing.npz", tmp_path):
        with pytest.raises(ValueError, match="not a readable npz file"):
            Network.load(wrong)


def test_pickles_are_never_opened(tmp_path):
    np.savez(tmp_path / "p.npz", header=np.asarray([object()], dtype=object))
    with pytest.raises(ValueError, match="not a readable npz file"):
        Network.load(tmp_path / "p.npz")


def test_an_array_that_claims_to_be_gigantic_is_refused(tmp_path):
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)})
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as file:
        file.writestr("query.npy", claim.getvalue())
    with pytest.raises(ValueError, match="not a readable npz file"):
        Network.load(tmp_path / "g.npz")


@given(seed=st.integers(0, 10**9))
def test_a_damaged_file_is_refused_or_read_as_a_network(seed, tmp_path_factory):
    """Any few bytes changed, any cut: a ValueError with the path, or (damage in slack bytes) a valid network."""
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("damaged")
    Network.random(3, 2, seed=0, mlp="tanh", norm="standard").save(folder / "n.npz")
    data = bytearray((folder / "n.npz").read_bytes())
    for _ in range(rng.integers(1, 4)):
        data[rng.integers(len(data))] = rng.integers(256)
    if rng.random() < 0.3:
        del data[rng.integers(len(data)) :]
    (folder / "n.npz").write_bytes(data)
    try:
        answer = f"path: {Network.load(folder / 'n.npz').query.shape}"
    except ValueError as error:
        answer = str(error)
    assert answer.startswith("path: ")


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"W_QK": NAN}, "W_QK: entry"),
        ({"W_QK": INF}, "W_QK: entry"),
        ({"W": NAN}, "W: entry"),
        ({"W_QK": np.zeros((0, 1, 3, 3)), "W": np.zeros((0, 1, 3, 3))}, "W_QK: shape"),
        ({"W_QK": np.zeros((1, 1, 3, 0))}, "W_QK: shape"),
        ({"W_QK": np.zeros((2, 1, 3, 4))}, "W_QK: shape .* square"),
        ({"W_QK": np.zeros((3, 3))}, "W_QK: shape"),
        ({"W": np.zeros((2, 2, 3, 3))}, "W: shape .* that of W_QK"),
        ({"W_QK": [[[[1.0, 2.0], [3.0]]]]}, "W_QK: .*rectangular"),
        ({"W_QK": [[[[10**400]]]]}, "W_QK: "),
        ({"W_QK": [[[[2**60]]]]}, "W_QK: integer of size"),
        ({"W_QK": "weights"}, "W_QK: 'weights' given"),
        ({"W_QK": None}, "W_QK: None given"),
        ({"W_QK": EYE.astype(complex)}, "W_QK: dtype complex128"),
        ({"d_qk": 0}, "d_qk: 0 given"),
        ({"d_qk": -3.0}, "d_qk: -3.0 given"),
        ({"d_qk": math.nan}, "d_qk: nan given"),
        ({"d_qk": "3"}, "d_qk: '3' given"),
        ({"key_bias": np.zeros((2, 3))}, "key_bias: shape"),
        ({"key_bias": np.zeros((2, 1, 4))}, "key_bias: shape"),
        ({"bias": np.zeros((2, 4))}, "bias: shape"),
        ({"bias": [[math.inf, 0, 0], [0, 0, 0]]}, "bias: entry"),
        ({"skip": math.nan}, "skip: nan given"),
        ({"skip": "yes"}, "skip: 'yes' given"),
        ({"skip": None}, "skip: None given"),
        ({"skip": 1j}, "skip: 1j given"),
        ({"skip": 10**400}, "skip: "),
        ({"mlp": "relu"}, "mlp: str given"),
        ({"mlp": [None]}, "mlp: list given"),
        ({"mlp": [None, 3]}, "mlp: an entry of type int given"),
        ({"mlp": MLP([[1.0]], [[1.0]])}, r"mlp: a map of R\^1 given"),
        ({"norm": "layer"}, "norm: 'layer' given"),
        ({"norm": 3}, "norm: 3 given"),
        ({"norm": LayerNorm("standard", gain=[1.0, 2.0])}, "gain: shape"),
        ({"mask": "diagonal"}, "mask: 'diagonal' given"),
        ({"mask": "window:x"}, "mask: 'window:x' given"),
        ({"mask": 3}, "mask: int given"),
        ({"mask": LONELY}, "row 1 has no True entry"),
        ({"mask": np.ones((2, 3), dtype=bool)}, "a square, non-empty matrix"),
        ({"mask": np.ones((2, 2))}, "a boolean matrix is needed"),
    ],
)
def test_from_arrays_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        Network.from_arrays(**({"W_QK": EYE, "W": EYE} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"W_Q": np.ones((1, 1, 3))}, "W_Q: shape"),
        ({"W_K": np.ones((1, 1, 3, 4))}, "W_K: shape"),
        ({"W_V": np.ones((1, 2, 3, 2))}, "W_V: shape"),
        ({"W_O": np.ones((1, 1, 3, 3))}, "W_O: shape"),
        ({"W_O": np.full((1, 1, 2, 3), math.nan)}, "W_O: entry"),
        ({"b_Q": np.ones((1, 1, 3))}, "b_Q: shape"),
        ({"b_K": np.ones((1, 1, 3))}, "b_K: shape"),
        ({"b_K": [[[math.nan, 0.0]]]}, "b_K: entry"),
        ({"b_V": np.ones((1, 1, 5))}, "b_V: shape"),
        ({"b_O": np.ones((1, 2))}, "b_O: shape"),
    ],
)
def test_from_qkvo_refuses(arguments, message):
    good = {"W_Q": np.ones((1, 1, 3, 2)), "W_K": np.ones((1, 1, 3, 2)), "W_V": np.ones((1, 1, 3, 2))}
    with pytest.raises(ValueError, match=message):
        Network.from_qkvo(**(good | {"W_O": np.ones((1, 1, 2, 3))} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": 0}, "tokens: 0 given"),
        ({"tokens": 2.0}, "tokens: 2.0 given"),
        ({"dim": -1}, "dim: -1 given"),
        ({"dim": True}, "dim: True given"),
        ({"heads": 0}, "heads: 0 given"),
        ({"layers": None}, "layers: None given"),
        ({"seed": -1}, "seed: -1 given"),
        ({"seed": 0.5}, "seed: 0.5 given"),
        ({"init": "zeros"}, "init: 'zeros' given"),
        ({"scale": 0.0}, "scale: 0.0 given"),
        ({"scale": math.inf}, "scale: inf given"),
        ({"head_dim": 0}, "head_dim: 0 given"),
        ({"biases": 1}, "biases: 1 given"),
        ({"mlp": "sin"}, "mlp: 'sin' given"),
        ({"mask": np.ones((5, 5), dtype=bool)}, "mask: a graph on 5 tokens given; it must have 3"),
        ({"mask": "window"}, "mask: 'window' given"),
        ({"mask": "prefix:9"}, "at most 3 is needed as its prefix"),
    ],
)
def test_random_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        Network.random(**({"tokens": 3, "dim": 2} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"W_in": [1.0, 2.0]}, "W_in: shape"),
        ({"W_out": [[1.0, 2.0]]}, "W_out: shape"),
        ({"W_in": [[math.nan]]}, "W_in: entry"),
        ({"b_in": [1.0, 2.0]}, "b_in: shape"),
        ({"b_out": [[1.0]]}, "b_out: shape"),
        ({"activation": "swish"}, "activation: 'swish' given"),
        ({"skip": 1}, "skip: 1 given"),
    ],
)
def test_mlp_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        MLP(**({"W_in": [[1.0]], "W_out": [[1.0]]} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "batch"}, "norm: 'batch' given"),
        ({"kind": "standard", "eps": -1e-9}, "eps: -1e-09 given"),
        ({"kind": "standard", "eps": math.nan}, "eps: nan given"),
        ({"kind": "sphere", "eps": 1e-5}, "eps: 1e-05 given; with norm 'sphere' it must be 0"),
        ({"kind": "column", "gain": [1.0]}, "gain: given with norm 'column'"),
        ({"kind": "standard", "offset": [math.inf]}, "offset: entry"),
    ],
)
def test_layer_norm_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        LayerNorm(**arguments)


def test_random_input_needs_to_know_the_number_of_tokens():
    with pytest.raises(ValueError, match="tokens: not given"):
        Network.from_arrays(EYE, EYE).random_input()
    assert Network.from_arrays(EYE, EYE).random_input(tokens=5).shape == (5, 3)
    with pytest.raises(ValueError, match="scale: 0 given"):
        Network.random(3, 2).random_input(scale=0)


def test_stack_refuses_what_does_not_fit():
    for nets, message in (
        ([], "nets: a non-empty sequence"),
        ([Network.random(3, 2), "net"], "nets: a non-empty sequence of networks"),
        ([Network.random(3, 2), Network.random(3, 4)], "nets: query of different shapes"),
        ([Network.random(3, 2), Network.random(3, 2, skip=True)], "nets: different d_qk, skip"),
    ):
        with pytest.raises(ValueError, match=message):
            Network.stack(nets)


def test_a_stack_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="save its members one by one"):
        Network.stack([Network.random(3, 2)] * 2).save(tmp_path / "s.npz")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "sublayers: none given; build networks with Network.from_arrays"),
        ({"query": 1}, "query, value, d_qk: arrays of four axes and a number are needed"),
        ({"query": np.ones((1, 1, 2, 2)), "value": np.ones((1, 1, 2, 2))}, "query, value, d_qk: arrays"),
        ({"querry": np.ones((1, 1, 2, 2))}, "querry: no part of a Network; build networks with"),
    ],
)
def test_a_network_put_together_by_hand_is_refused_at_once(parts, words):
    with pytest.raises(ValueError, match=words):
        Network(**parts)


@pytest.mark.parametrize("key", ["dong2021:2.3", "own:consensus-rate"])
@pytest.mark.parametrize("name", ["b_Q", "b_V"])
def test_a_layer_without_a_bias_beside_one_with_it_has_the_bias_zero(key, name):
    """A bias in one layer alone: the same verdict as with zeros written out."""
    rng = np.random.default_rng(3)
    W, X = rng.standard_normal((2, 4, 1, 3, 3)) / 3, rng.standard_normal((4, 3)) / 3
    bias = rng.standard_normal((1, 3))

    def verdict(other):
        made = [Attention.from_qkvo(*w, **{name: b}) for w, b in zip(W, (bias, other), strict=True)]
        return verify(key, Network.from_layers([[Sublayer(one)] for one in made]), X)

    one, both = verdict(None), verdict(np.zeros((1, 3)))
    assert one.outcome == both.outcome == "HOLDS"
    assert (one.log_lhs, one.log_rhs) == (both.log_lhs, both.log_rhs)


def test_masks_of_layers_may_be_given_as_matrices() -> None:
    full = Network.from_arrays(np.ones((2, 1, 2, 2)), np.ones((2, 1, 2, 2)))
    ring = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    net = Network.from_layers([full.replace(mask=m).sublayers[l] for l, m in enumerate(("causal", ring))], 3)
    with pytest.raises(ValueError, match="mask asked for; it differs from layer to layer"):
        net.mask_for(3)
    assert full.replace(mask=ring).mask_for(3) == Mask(ring)


def test_a_name_of_a_mask_may_be_numpys(tmp_path: Path) -> None:
    net = Network.random(tokens=4, dim=3, layers=2, mask=np.array(["causal"])[0])
    net.save(tmp_path / "net.npz")
    assert Network.load(tmp_path / "net.npz").mask == "causal"
