"""Networks of any sublayers: every pass against the plain definition in many digits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rankmath as rm
from rankmath.attention.trace import trace
from rankmath.formula.reference import reference_trace
from rankmath.model.network import LIPSCHITZ, MLP, Attention, LayerNorm, Network, Parallel, Sublayer
from rankmath.model.positions import ALiBi, PositionTable, RelativeBuckets

MOST_LOST_BITS = 15


def draw_transformer(seed: int) -> tuple[Network, np.ndarray]:
    """Two or three layers of attention and MLP with norms before or after, skips, masks and position terms."""
    rng = np.random.default_rng(seed)

    def pick(*values):
        return values[rng.integers(len(values))]

    n, d, H, k, v = 5, 4, int(rng.integers(1, 4)), int(rng.integers(2, 4)), int(rng.integers(2, 4))

    def weights(*shape):
        return rng.standard_normal(shape) / math.sqrt(d)

    def norm():
        kind = pick("standard", "standard", "rms", "sphere")
        if kind == "sphere":
            return LayerNorm(kind)
        return LayerNorm(kind, pick(1e-12, 1e-5, 0.1), 1 + weights(d), weights(d))

    def position():
        return pick(None, ALiBi(2.0 ** -np.arange(1, H + 1)), RelativeBuckets(weights(8, H), 16), table)

    table = PositionTable(weights(H, n, n))
    style, layers = pick("before", "after", "both", "neither"), []
    for _ in range(int(rng.integers(2, 4))):
        attention = Attention.from_qkvo(
            *(weights(H, d, k), weights(H, d, k), weights(H, d, v), weights(H, v, d)),
            *(weights(H, k), weights(H, k), weights(H, v), weights(d)),
            d_qk=pick(None, 1.0, 64.0),
            mask=pick(None, None, "causal"),
            position=position(),
        )
        f = MLP(weights(d, 7), weights(7, d), weights(7), weights(d), activation=pick(*LIPSCHITZ))
        layer = []
        for part in (attention, f):
            before = norm() if style in ("before", "both") else None
            after = norm() if style in ("after", "both") else None
            layer.append(Sublayer(part, pick(0.0, 1.0, 1.0, -0.5), before, after))
        layers.append(layer)
    if style == "before":
        layers[-1].append(Sublayer(None, 1.0, after=norm()))
    net = Network.from_layers(layers)
    return net, rng.standard_normal((n, d)) * pick(0.01, 1.0, 3.0)


@pytest.mark.parametrize("seed", range(60))
def test_every_pass_agrees_with_the_definition(seed):
    net, X = draw_transformer(seed)
    exact = reference_trace(net, X, digits=60, budget_seconds=1e6)
    assert exact.resolved.all()
    fast = trace(net, X)
    if fast.lost_bits.max() <= MOST_LOST_BITS:
        np.testing.assert_allclose(fast.log_residual, exact.log_residual, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(trace(net, X, arithmetic="mpmath").log_residual, exact.log_residual, atol=1e-11)
    balls = trace(net, X, arithmetic="balls", bits=200)
    assert (balls.log_residual_lower <= exact.log_residual + 1e-12).all()
    assert (balls.log_residual_upper >= exact.log_residual - 1e-12).all()
    assert (balls.log_residual_upper - balls.log_residual_lower < 1e-10).all()


def test_few_of_them_lose_bits():
    lost = [trace(*draw_transformer(seed)).lost_bits.max() > MOST_LOST_BITS for seed in range(60)]
    assert sum(lost) <= 6


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_the_plain_pass_and_the_centred_mean_agree(seed):
    net, X = draw_transformer(seed)
    found = trace(net, X)
    mean = np.exp(found.log_center) * found.center
    np.testing.assert_allclose(rm.forward(net, X).mean(axis=0), mean, rtol=1e-9, atol=1e-12)
    both = np.stack([X, 2 * X])
    np.testing.assert_allclose(rm.forward(net, both)[1], rm.forward(net, 2 * X), rtol=1e-12)
    np.testing.assert_allclose(trace(net, both).log_residual[:, 0], found.log_residual, rtol=1e-9, atol=1e-9)


def test_a_bert_layer_is_what_a_framework_computes():
    """Post-norm, GELU, biases everywhere, written out in NumPy with explicit heads."""
    rng = np.random.default_rng(3)
    n, H, k = 7, 3, 4
    d = H * k
    Q, K, V, O, inner, outer = (rng.standard_normal((a, b)) / 3 for a, b in ((d, d),) * 4 + ((d, 20), (20, d)))
    bq, bk, bv, bo, bout = (rng.standard_normal(d) for _ in range(5))
    bin_ = rng.standard_normal(20)
    gains, shifts = rng.standard_normal((2, d)), rng.standard_normal((2, d))
    split = [a.reshape(d, H, k).transpose(1, 0, 2) for a in (Q, K, V)]
    attention = Attention.from_qkvo(
        *split, O.reshape(H, k, d), bq.reshape(H, k), bk.reshape(H, k), bv.reshape(H, k), bo
    )
    norms = [LayerNorm("standard", 1e-12, g, b) for g, b in zip(gains, shifts, strict=True)]
    net = Network.from_layers(
        [
            [
                Sublayer(attention, 1.0, after=norms[0]),
                Sublayer(MLP(inner, outer, bin_, bout, "gelu"), 1.0, after=norms[1]),
            ]
        ]
    )
    X = rng.standard_normal((n, d))

    def standard(Y, g, b):
        Y = Y - Y.mean(axis=1, keepdims=True)
        return Y / np.sqrt((Y * Y).mean(axis=1, keepdims=True) + 1e-12) * g + b

    q, key, v = X @ Q + bq, X @ K + bk, X @ V + bv
    context = np.empty((n, d))
    for h in range(H):
        s = slice(h * k, (h + 1) * k)
        P = np.exp(q[:, s] @ key[:, s].T / math.sqrt(k))
        context[:, s] = P / P.sum(axis=1, keepdims=True) @ v[:, s]
    Y = standard(X + context @ O + bo, gains[0], shifts[0])
    hidden = Y @ inner + bin_
    gelu = hidden * np.vectorize(lambda a: 0.5 * math.erfc(-a / math.sqrt(2)))(hidden)
    np.testing.assert_allclose(rm.forward(net, X), standard(Y + gelu @ outer + bout, gains[1], shifts[1]), rtol=1e-12)


def test_a_mask_is_a_position_term_of_minus_infinity():
    net = Network.random(tokens=6, dim=4, heads=2, layers=2, seed=0, mask="causal", skip=0.5)
    far = PositionTable(np.where(np.tri(6, dtype=bool), 0.0, -5000.0) * np.ones((2, 1, 1)))
    layers = [
        [replace(sublayer, map=replace(sublayer.map, mask=None, position=far)) for sublayer in layer]
        for layer in net.sublayers
    ]
    X = net.random_input(seed=1)
    other = Network.from_layers(layers)
    np.testing.assert_allclose(rm.forward(other, X), rm.forward(net, X), rtol=1e-13)
    np.testing.assert_allclose(trace(other, X).log_residual, trace(net, X).log_residual, rtol=1e-12)
    np.testing.assert_allclose(rm.attention_matrices(other, X), rm.attention_matrices(net, X), atol=1e-15)


def test_a_position_term_that_all_rows_share_is_a_key_bias():
    """B_ij = b_j multiplies column j of P by e^{b_j} before the rows are normalised."""
    rng = np.random.default_rng(0)
    net = Network.random(tokens=5, dim=4, heads=1, layers=1, seed=2)
    row = rng.standard_normal(5)
    (sublayer,) = net.sublayers[0]
    term = PositionTable(np.broadcast_to(row, (1, 5, 5)))
    other = Network.from_layers([[replace(sublayer, map=replace(sublayer.map, position=term))]])
    X = net.random_input(seed=1)
    P = rm.attention_matrices(net, X)[0, 0] * np.exp(row)
    P = P / P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rm.attention_matrices(other, X)[0, 0], P, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_paths_sum_to_the_network_with_position_terms_and_mixed_skips(seed):
    rng = np.random.default_rng(seed)
    random = Network.random(tokens=5, dim=3, heads=2, layers=3, seed=seed, biases=True)
    layers = [
        [Sublayer(replace(s.map, position=ALiBi([0.5, 0.1])), float(rng.choice([0.0, 1.0, 0.3])))]
        for (s,) in random.sublayers
    ]
    net, X = Network.from_layers(layers), rng.standard_normal((5, 3))
    sums = rm.path_sums(net, X)
    np.testing.assert_allclose(sums.total(), rm.forward(net, X), rtol=1e-12)
    paths = np.ndindex(3, 3, 3)
    by_length = np.zeros((4, 5, 3))
    for path in paths:
        by_length[sum(h > 0 for h in path)] += rm.path_term(net, X, path)
    np.testing.assert_allclose(sums.terms, by_length, rtol=1e-11, atol=1e-13)
    exact = [np.linalg.norm(term - term.mean(axis=0)) for term in by_length]
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.exp(sums.log_residual()), exact, rtol=1e-8, atol=1e-12)


def test_other_networks_do_not_pretend_to_have_the_one_line_form():
    net, _ = draw_transformer(0)
    for name in ("mlp", "norm"):
        with pytest.raises(ValueError, match=f"net: {name} asked for"):
            getattr(net, name)
    assert not net.is_pure
    attention = Network.random(tokens=3, dim=2, seed=0).sublayers[0][0].map
    placed = Network.from_layers([[Sublayer(replace(attention, position=ALiBi([1.0])))]])
    assert not placed.is_pure
    with pytest.raises(ValueError, match="without position terms"):
        placed.norm  # noqa: B018
    mixed = Network.from_layers([[Sublayer(attention)], [Sublayer(attention, 1.0)]])
    assert mixed.query.shape == (2, 1, 2, 2)
    with pytest.raises(ValueError, match="skip asked for; it differs from layer to layer"):
        mixed.skip  # noqa: B018


def test_layers_of_one_line_networks_are_their_own_definition():
    """from_layers on the sublayers of any one-line network is that network again."""
    net = Network.random(4, 3, 2, 3, seed=1, skip=0.5, mlp="gelu", norm="standard", mask="causal", biases=True)
    again, X = Network.from_layers(net.sublayers), net.random_input(seed=2)
    assert (rm.forward(net, X) == rm.forward(again, X)).all()
    assert (trace(net, X).log_residual == trace(again, X).log_residual).all()
    assert (again.skip, again.norm, again.mask, again.d_qk) == (net.skip, net.norm, net.mask, net.d_qk)
    assert (again.W_QK == net.W_QK).all()
    assert again.mlp == net.mlp


@pytest.mark.parametrize("seed", range(8))
def test_files_bring_back_any_network(tmp_path, seed):
    net, X = draw_transformer(seed)
    net.save(tmp_path / "net.npz")
    again = Network.load(tmp_path / "net.npz")
    assert (rm.forward(again, X) == rm.forward(net, X)).all()
    assert (trace(again, X).log_residual == trace(net, X).log_residual).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a, f: Network.from_layers([]), "no attention and no MLP"),
        (lambda a, f: Network.from_layers([[]]), "layer 0 is no non-empty sequence"),
        (lambda a, f: Network.from_layers([[a]]), "layer 0 is no non-empty sequence of Sublayers"),
        (lambda a, f: Network.from_layers([[Sublayer(None, 1.0)]]), "no attention and no MLP"),
        (lambda a, f: Network.from_layers([[Sublayer(a), Sublayer(f)]]), r"maps of dimensions \[2, 3\]"),
        (lambda a, f: Sublayer(a, "much"), "skip: 'much' given"),
        (lambda a, f: Sublayer(a, before="batch"), "before: 'batch' given"),
        (lambda a, f: Sublayer(a, after=LayerNorm("rms", gain=[1.0])), "after: shape"),
        (lambda a, f: Sublayer([1.0]), "map: a list given"),
        (lambda a, f: Attention.from_qkvo(*[np.ones((1, 2, 2))] * 4, position="rotary"), "rotary positions"),
        (lambda a, f: Attention.from_qkvo(*[np.ones((1, 2, 2))] * 4, d_qk=0), "d_qk: 0 given"),
        (lambda a, f: Attention.from_qkvo(*[np.ones((1, 2, 2))] * 4, b_V=np.ones((2, 2))), "b_V: shape"),
        (lambda a, f: Attention.from_arrays(np.ones((1, 2, 3)), np.ones((1, 2, 2))), "W_QK: shape"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    attention = Network.random(tokens=3, dim=2, seed=0).sublayers[0][0].map
    with pytest.raises(ValueError, match=message):
        make(attention, MLP(np.eye(3), np.eye(3)))


def test_a_term_for_other_tokens_is_refused():
    attention = Network.random(tokens=3, dim=2, seed=0).sublayers[0][0].map
    net = Network.from_layers([[Sublayer(replace(attention, position=PositionTable(np.zeros((1, 3, 3)))))]])
    assert net.tokens == 3
    with pytest.raises(ValueError, match="X: 4 tokens given; the network's position term is for 3"):
        rm.forward(net, np.ones((4, 2)))


def test_no_theorem_of_attention_alone_speaks_of_more() -> None:
    """A factor without a map is refused, and the map whose Lipschitz constant is meant comes after attention."""
    with pytest.raises(rm.InvalidArgument, match="skip: 3 given without a map"):
        Sublayer(None, 3.0)
    attention = Attention.from_arrays(np.ones((1, 1, 1)), np.ones((1, 1, 1)))
    f = MLP([[4.0]], [[1.0]])
    X = np.array([[0.1], [0.2]])
    after = Network(((Sublayer(attention), Sublayer(f)),))
    assert rm.verify("dong2021:3.2", after, X).outcome == "HOLDS"
    before = (Sublayer(f), Sublayer(attention))  # there the bound would be violated by 1.86
    beside = (Sublayer(Parallel((attention, f))), Sublayer(MLP([[1.0]], [[1.0]])))  # a second map, not counted
    twice = (Sublayer(attention), Sublayer(f), Sublayer(MLP([[1.0]], [[1.0]])))
    with pytest.raises(rm.InvalidArgument, match="layer 0 attends 2 times"):
        rm.verify("dong2021:2.2", Network(((Sublayer(attention), Sublayer(attention)),)), X)
    gated = (Sublayer(attention), Sublayer(MLP([[1e-3]], [[1.0]], activation="silu", W_gate=[[1e6]])))
    for layer in (before, beside, twice, gated):
        with pytest.raises(rm.InvalidArgument, match="lipschitz is not defined"):
            rm.verify("dong2021:3.2", Network((layer,)), X)
