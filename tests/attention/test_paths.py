"""Path decomposition: sums by length against the network, against every single path, against the known traps."""

from __future__ import annotations

from itertools import product
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath.attention.paths import path_counts, path_sums, path_term
from rankmath.attention.plain import attention_matrices, forward
from rankmath.attention.trace import trace
from rankmath.linalg.residuals import residual
from rankmath.model.network import Network


def relative(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.abs(difference).max() / np.abs(size).max())


@pytest.mark.parametrize("skip", [False, True, 0.5, -0.3])
@pytest.mark.parametrize(("heads", "layers"), [(1, 1), (2, 3), (8, 2), (3, 12), (8, 12)])
def test_the_sum_of_all_paths_is_the_network(heads, layers, skip):
    net = Network.random(6, 4, heads, layers, seed=heads + layers, skip=skip, biases=True, scale=0.6)
    X = net.random_input(seed=1)
    out = forward(net, X)
    assert relative(path_sums(net, X).total() - out, out) <= 1e-12


@given(
    seed=st.integers(0, 10**6),
    heads=st.integers(1, 8),
    layers=st.integers(1, 12),
    skip=st.sampled_from([False, True, 0.5, 2.0]),
    mask=st.sampled_from([None, "causal", "star"]),
    head_dim=st.sampled_from([None, 2]),
)
def test_the_sum_of_all_paths_is_the_network_whatever_its_shape(seed, heads, layers, skip, mask, head_dim):
    net = Network.random(
        4, 3, heads, layers, seed=seed, skip=skip, biases=True, mask=mask, head_dim=head_dim, scale=0.4
    )
    X = net.random_input(seed=seed + 1)
    sums, out = path_sums(net, X), forward(net, X)
    # Long paths may cancel: the error is that of the largest term.
    size = max(float(np.abs(sums.terms).max()), float(np.abs(out).max()))
    assert float(np.abs(sums.total() - out).max()) <= 1e-12 * size


@pytest.mark.parametrize(("heads", "layers"), [(1, 12), (2, 7), (3, 6), (7, 4), (15, 3), (63, 2)])
@pytest.mark.parametrize("skip", [True, 0.7])
def test_every_length_is_the_sum_of_its_paths(heads, layers, skip):
    """Term by term, by enumeration of all (H+1)^L ≤ 4096 paths."""
    assert (heads + 1) ** layers <= 4096
    net = Network.random(3, 2, heads, layers, seed=5, skip=skip, biases=True)
    X = net.random_input(seed=6)
    P, W = attention_matrices(net, X), net.W
    by_length = np.zeros((layers + 1, 3, 2))
    for path in product(range(heads + 1), repeat=layers):
        term = X
        for l, h in enumerate(path):
            term = skip * term if h == 0 else P[l, h - 1] @ term @ W[l, h - 1]
        by_length[sum(h > 0 for h in path)] += term
    terms = path_sums(net, X).terms
    for k in range(layers + 1):
        assert relative(terms[k] - by_length[k], by_length[k]) <= 1e-12


def test_attention_is_that_of_the_tokens_where_long_paths_cancel():
    """W = -I: terms of size 1e11 whose sum, of size one, has lost ten digits; logits must not be made of it."""
    rng, L = np.random.default_rng(0), 40
    W = np.broadcast_to(-np.eye(4), (L, 1, 4, 4)).copy()
    net = Network.from_arrays(0.3 * rng.standard_normal((L, 1, 4, 4)), W, skip=True)
    X = rng.standard_normal((6, 4))
    sums = path_sums(net, X)
    assert relative(sums.total() - forward(net, X), forward(net, X)) > 1e-8
    expected = np.zeros((L + 1, 6, 4))
    expected[0] = X
    for P in attention_matrices(net, X)[:, 0]:
        expected[1:] -= P @ expected[:-1]
    for k in range(L + 1):
        assert relative(sums.terms[k] - expected[k], expected[k]) <= 1e-12


@pytest.mark.parametrize("cancels", [False, True])
def test_many_tokens_have_the_path_sums_of_their_attention(cancels):
    """Sizes at which one kernel makes all heads. With W = −I/2 and 24 layers lengths are a million times as large
    as the tokens, whose digits their sum has not."""
    rng, n, d, H, L = np.random.default_rng(3), 130, 16, 2, 24 if cancels else 4
    X, W_QK = rng.standard_normal((n, d)), 0.1 * rng.standard_normal((L, H, d, d))
    if cancels:
        W, skip, bias = np.tile(-np.eye(d) / 2, (L, H, 1, 1)), 1.0, None
    else:
        W, skip, bias = rng.standard_normal((L, H, d, d)) / 8, 0.7, rng.standard_normal((L, d))
    net = Network.from_arrays(W_QK, W, skip=skip, bias=bias)
    expected = np.zeros((L + 1, n, d))
    expected[0] = X
    for P, maps in zip(attention_matrices(net, X), W, strict=True):
        longer = sum(np.einsum("ij,kjd->kid", P[h], expected[:-1]) @ maps[h] for h in range(H))
        expected *= skip
        expected[1:] += longer
    terms = path_sums(net, X).terms
    for k in range(L + 1):
        assert relative(terms[k] - expected[k], expected[k]) <= 1e-12


@pytest.mark.parametrize("skip", [True, 0.7])
def test_one_path_is_the_product_of_its_matrices(skip):
    """P_path = P^L_{h_L} ⋯ P^1_{h_1} and W_path = W^1_{h_1} ⋯ W^L_{h_L}, formed apart."""
    net = Network.random(4, 3, 2, 3, seed=0, skip=skip, biases=True)
    X = net.random_input(seed=1)
    P, W = attention_matrices(net, X), net.W
    for path in product(range(3), repeat=3):
        P_path, W_path = np.eye(4), np.eye(3)
        for l, h in enumerate(path):
            P_path = (np.eye(4) if h == 0 else P[l, h - 1]) @ P_path
            W_path = W_path @ (skip * np.eye(3) if h == 0 else W[l, h - 1])
        np.testing.assert_allclose(path_term(net, X, path), P_path @ X @ W_path, rtol=1e-12, atol=1e-13)


class TestTraps:
    """Three mistakes that give another number; each is far from the truth on this network."""

    net = Network.random(5, 3, 2, 3, seed=3, scale=1.5)
    X = net.random_input(seed=4)
    path = (1, 2, 1)

    def distance(self, wrong: np.ndarray) -> float:
        return relative(wrong - path_term(self.net, self.X, self.path), self.X)

    def matrices(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        P, W = attention_matrices(self.net, self.X), self.net.W
        return [P[l, h - 1] for l, h in enumerate(self.path)], [W[l, h - 1] for l, h in enumerate(self.path)]

    def test_attention_multiplied_in_the_wrong_order(self):
        P, W = self.matrices()
        assert self.distance(P[0] @ P[1] @ P[2] @ self.X @ W[0] @ W[1] @ W[2]) > 0.01
        assert self.distance(P[2] @ P[1] @ P[0] @ self.X @ W[0] @ W[1] @ W[2]) < 1e-13

    def test_weights_of_the_reversed_path(self):
        P, W = self.matrices()
        assert self.distance(P[2] @ P[1] @ P[0] @ self.X @ W[2] @ W[1] @ W[0]) > 0.01

    def test_attention_recomputed_along_the_path(self):
        """A network with this path's heads only attends differently than the path inside the whole network."""
        heads = np.asarray([h - 1 for h in self.path])
        alone = Network.from_arrays(
            self.net.W_QK[np.arange(3), heads][:, None], self.net.W[np.arange(3), heads][:, None]
        )
        assert self.distance(forward(alone, self.X)) > 0.01


# -- counts ------------------------------------------------------------------------------------------------


def test_counts_are_binomial_and_add_up():
    for L, H in product(range(9), range(1, 6)):
        counts = path_counts(L, H)
        assert counts == [comb(L, k) * H**k for k in range(L + 1)]
        assert sum(counts) == (1 + H) ** L
        assert path_counts(L, H, skip=False) == [0] * L + [H**L]


def test_counts_are_exact_integers_at_any_size():
    counts = path_counts(300, 97)
    assert sum(counts) == 98**300
    assert all(type(c) is int for c in counts)


def test_counts_are_what_uniform_networks_sum_to():
    """P = I would be needed for counting; W_QK = 0, W = I and equal tokens count just as well."""
    L, H = 6, 3
    zero, eye = np.zeros((L, H, 2, 2)), np.tile(np.eye(2), (L, H, 1, 1))
    terms = path_sums(Network.from_arrays(zero, eye, skip=True), np.ones((3, 2))).terms
    np.testing.assert_allclose(terms[:, 0, 0], path_counts(L, H), rtol=1e-14)


def test_17_to_the_24_paths():
    net = Network.random(32, 16, 16, 24, seed=0, skip=True, biases=True, scale=0.05)
    X = net.random_input(seed=1)
    out = forward(net, X)
    assert relative(path_sums(net, X).total() - out, out) <= 1e-12


# -- residual by length ------------------------------------------------------------------------------------


def residuals_by_length_in_mpmath(net: Network, X: np.ndarray, dps: int) -> np.ndarray:
    """log‖S_k − mean‖_F of every length: the plain recursion, with so many digits that nothing is lost."""
    mp = mpmath.mp.clone()
    mp.dps = dps
    tokens = mp.matrix(X.tolist())
    n, d = X.shape
    S = [tokens]
    allowed = np.ones((n, n), dtype=bool) if net.mask_for(n) is None else net.mask_for(n).allowed
    for l in range(net.layers):
        new = [net.skip * s for s in S] + [mp.zeros(n, d)]
        output = net.skip * tokens
        for h in range(net.heads):
            W_QK, W = mp.matrix(net.W_QK[l, h].tolist()), mp.matrix(net.W[l, h].tolist())
            logits = tokens * W_QK * tokens.T / mp.sqrt(net.d_qk)
            if net.key_bias is not None:
                logits += mp.ones(n, 1) * (tokens * mp.matrix(net.key_bias[l, h].tolist())).T / mp.sqrt(net.d_qk)
            P = mp.matrix(n, n)
            for i in range(n):
                row = [mp.exp(logits[i, j]) if allowed[i, j] else mp.mpf(0) for j in range(n)]
                for j in range(n):
                    P[i, j] = row[j] / mp.fsum(row)
            for k, s in enumerate(S):
                new[k + 1] += P * s * W
            output += P * tokens * W
        if net.bias is not None:
            output += mp.ones(n, 1) * mp.matrix(net.bias[l].tolist()).T
        S, tokens = new, output
    logs = []
    for s in S:
        mean = mp.ones(n, n) * s / n
        logs.append(float(mp.log(mp.norm(s - mean, 2))))
    return np.asarray(logs)


@pytest.mark.parametrize("skip", [True, 0.5, 1e-4])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-9])
def test_residual_of_each_length(skip, scale):
    """Lengths of up to e^-600: `terms` hold none of those residuals."""
    net = Network.random(4, 3, 2, 5, seed=2, skip=skip, biases=True)
    X = 1.0 + net.random_input(seed=3, scale=scale)
    logs = path_sums(net, X).log_residual()
    exact = residuals_by_length_in_mpmath(net, X, dps=500)
    assert (np.abs(logs - exact) <= 1e-11 * np.maximum(1, np.abs(exact))).all()


def test_residual_of_each_length_under_a_mask():
    net = Network.random(4, 3, 2, 4, seed=2, skip=0.5, mask="causal")
    X = net.random_input(seed=3)
    exact = residuals_by_length_in_mpmath(net, X, dps=60)
    np.testing.assert_allclose(path_sums(net, X).log_residual(), exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", ["one", "inf", "composite", "frobenius"])
def test_residual_of_each_length_in_every_norm(norm):
    """Where nothing is lost, the residuals of the terms themselves."""
    net = Network.random(5, 3, 2, 3, seed=2, skip=True, scale=2.0)
    sums = path_sums(net, net.random_input(seed=3))
    plain = [np.log(residual(term, norm=norm).value) for term in sums.terms]
    np.testing.assert_allclose(sums.log_residual(norm), plain, rtol=0, atol=1e-8)


def test_without_skips_only_the_longest_paths_are_there():
    net = Network.random(5, 3, 2, 7, seed=2)
    X = net.random_input(seed=3)
    logs = path_sums(net, X).log_residual()
    assert np.isneginf(logs[:-1]).all()
    assert logs[-1] == trace(net, X).log_residual[-1]


def test_length_zero_is_the_skip_alone():
    net = Network.random(5, 3, 2, 4, seed=2, skip=0.5)
    X = net.random_input(seed=3)
    start = path_sums(net, X).log_residual()[0]
    assert start == pytest.approx(trace(net, X).log_residual[0] + 4 * np.log(0.5), rel=1e-14)


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (path_sums, {"X": np.zeros((2, 3, 2))}, "X: shape"),
        (path_sums, {"X": [[np.nan, 1.0]]}, "X: entry"),
        (path_sums, {"net": Network.random(3, 2, mlp="relu")}, "net: a network with an MLP"),
        (path_sums, {"net": Network.random(3, 2, norm="sphere")}, "net: a network with an MLP or LayerNorm"),
        (path_sums, {"net": "net"}, "net: a str given"),
        (path_term, {"path": (1,)}, "path: "),
        (path_term, {"path": (1, 2)}, "path: 2 given"),
        (path_term, {"path": (-1, 0)}, "path: -1 given"),
        (path_term, {"path": (1.0, 0)}, "path: 1.0 given"),
        (path_term, {"path": "01"}, "path: '01' given"),
        (path_counts, {"L": -1, "H": 1}, "L: -1 given"),
        (path_counts, {"L": 2, "H": 0}, "H: 0 given"),
        (path_counts, {"L": 2.0, "H": 1}, "L: 2.0 given"),
        (path_counts, {"L": 2, "H": 1, "skip": 0.5}, "skip: 0.5 given"),
    ],
)
def test_refusals(function, arguments, message):
    if function is not path_counts:
        arguments = {"net": Network.random(3, 2, layers=2, seed=0), "X": np.zeros((3, 2))} | arguments
    with pytest.raises(ValueError, match=message):
        function(**arguments)


def test_log_residual_refuses_an_unknown_norm():
    net = Network.random(3, 2, seed=0, skip=True)
    with pytest.raises(ValueError, match="norm: 'two' given"):
        path_sums(net, net.random_input(seed=0)).log_residual("two")
