"""Compiled layers of path sums against the recursion as it is defined, for the registers of several machines."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.attention import fused, paths, plain
from rankmath.kernels import compiled
from rankmath.kernels.compiled_paths import path_layers

binding = pytest.importorskip("llvmlite.binding", reason="the compiled kernel needs llvmlite (extra 'fast')")

SHAPES = [(8, 6, 4), (4, 6, 2), (2, 6, 4), (2, 1, 1)]


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def kernel(request):
    return compiled.Kernel(compiled.Shape(*request.param), binding.get_host_cpu_features().flatten())


def layers_of(d, heads, skips, seed=0, size=0.4, bias=True):
    rng = np.random.default_rng(seed)
    made = []
    for skip in skips:
        query, value = size * rng.standard_normal((2, heads, d, d)) / np.sqrt(d)
        made.append((query, value, rng.standard_normal((1, d)) if bias else None, 1.0 / np.sqrt(d), skip))
    return made


def by_definition(tokens, V, layers):
    """Each layer's V, (n, k, d), and its tokens."""
    made = [(V, tokens)]
    for query, value, bias, scale, skip in layers:
        longer = 0.0
        for W_QK, W in zip(query, value, strict=True):
            P = rm.row_softmax(scale * tokens @ W_QK @ tokens.T)
            longer = longer + np.einsum("ij,jkd->ikd", P, V) @ W
        if skip:
            blank = np.zeros((len(V), 1, V.shape[2]))
            V = np.concatenate([skip * V, blank], axis=1) + np.concatenate([blank, longer], axis=1)
        else:
            V = longer
        tokens = V.sum(axis=1) + (0.0 if bias is None else bias)
        made.append((V, tokens))
    return made


def same(found, expected, tolerance=1e-12):
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        assert np.abs(a - b).max() < tolerance * np.abs(b).max()


@pytest.mark.parametrize(("n", "d", "heads", "k"), [(1, 2, 1, 1), (13, 5, 3, 1), (70, 8, 2, 2), (131, 17, 5, 1)])
@pytest.mark.parametrize("bias", [False, True])
def test_layers_are_the_recursion_of_their_lengths(kernel, n, d, heads, k, bias):
    rng = np.random.default_rng(n)
    X, V = 1.0 + rng.standard_normal((n, d)), 1.0 + rng.random((n, k, d))
    # Values of one sign: lengths that hardly cancel.
    layers = [(q, np.abs(v), b, s, skip) for q, v, b, s, skip in layers_of(d, heads, (1.0, 0.0, 0.5), n, bias=bias)]
    layers = [(q, v, None if b is None else np.abs(b), s, skip) for q, v, b, s, skip in layers]
    expected = by_definition(X, V, layers)
    for threads in (1, 2, 3):
        run = path_layers(kernel, X, V, layers, 600.0, threads)
        assert (run.layers, run.before) == (3, None)
        same(run.last, expected[3])
        if threads == 1:
            alone = run
        np.testing.assert_array_equal(run.last.terms, alone.last.terms)
        np.testing.assert_array_equal(run.last.tokens, alone.last.tokens)


@pytest.mark.parametrize("where", [0, 1, 2])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_logit_beyond_the_limit_stops_before_its_layer(kernel, where, threads):
    rng = np.random.default_rng(1)
    X = 1.0 + rng.random((40, 6))
    layers = layers_of(6, 2, (1.0, 1.0, 1.0), 3, size=0.1, bias=False)
    query, *others = layers[where]
    layers[where] = (1e4 * query, *others)
    expected = by_definition(X, X[:, None, :], layers)
    run = path_layers(kernel, X, X[:, None, :], layers, 20.0, threads)
    assert (run.layers, run.before) == (where, None)
    same(run.last, expected[where])


@pytest.mark.parametrize("factor", [-1.0, -1.0 + 1e-3])
def test_lengths_that_cancel_stop_after_their_layer(kernel, factor):
    """λ = −1 with tokens that are all equal and W = I: V_0 + V_1 = 0, or nearly."""
    d = 4
    X = np.ones((9, 1)) * np.arange(1.0, d + 1)
    value = np.eye(d)[None]
    layer = np.zeros((1, d, d)), value, None, 1.0, factor
    harmless = np.zeros((1, d, d)), value, None, 1.0, 0.0
    run = path_layers(kernel, X, X[:, None, :], [harmless, layer, harmless], 600.0, 1)
    assert run.layers == 2
    same(run.before, (X[:, None, :], X))
    same((run.last.terms,), (np.stack([factor * X, X], axis=1),))


def test_a_bias_that_cancels_counts_as_a_part(kernel):
    X = np.ones((9, 1)) * np.arange(1.0, 5.0)
    # |V|² < 16 |T|² < |V|² + |b|²
    layer = np.zeros((1, 4, 4)), np.eye(4)[None], -0.73 * X[:1], 1.0, 0.0
    assert path_layers(kernel, X, X[:, None, :], [layer], 600.0, 1).before is not None
    less = (*layer[:2], -0.5 * X[:1], *layer[3:])
    run = path_layers(kernel, X, X[:, None, :], [less], 600.0, 1)
    assert run.before is None
    same(run.last, (X[:, None, :], 0.5 * X))


def test_what_all_keys_have_in_common_makes_no_logit(kernel):
    rng = np.random.default_rng(2)
    X = 1e3 + rng.random((33, 4))
    (layer,) = layers_of(4, 2, (0.0,), 5, size=0.05, bias=False)
    run = path_layers(kernel, X, X[:, None, :], [layer], 600.0, 1)
    assert run.layers == 1
    query, value, _, scale, _ = layer
    expected = sum(
        rm.row_softmax(scale * X @ W_QK @ (X - X[0]).T) @ X @ W for W_QK, W in zip(query, value, strict=True)
    )
    same((run.last.tokens,), (expected,), 1e-10)
    assert path_layers(kernel, X, X[:, None, :], [layer], 0.1, 1).layers == 0


def sums(net, X):
    return rm.path_sums(net, X).terms


@pytest.fixture
def counted(monkeypatch):
    """How many layers each compiled call made."""
    found = []

    def counts(A, *arguments):
        run = made(A, *arguments)
        found.append(run.layers)
        return run

    made = fused.path_layers
    for module in (paths, plain):
        monkeypatch.setattr(module, "path_layers", counts)
    monkeypatch.setattr(fused, "_COMPILED_HEADS", 1)
    monkeypatch.setattr(fused, "_COMPILED_WIDTH", 1)
    return found


@pytest.mark.parametrize("most", [1, 2, 10])
@pytest.mark.parametrize("skip", [True, 0.5, False])
def test_calls_of_some_layers_are_one_call(most, skip, counted, monkeypatch):
    net = rm.Network.random(20, 6, 2, 5, seed=1, skip=skip, biases=True)
    net = rm.Network.from_arrays(net.query, 0.1 * np.abs(net.value), bias=net.bias**2, skip=skip)
    X = 1.0 + net.random_input(seed=2, tokens=20) ** 2
    once = sums(net, X)
    assert counted == [5]
    cost = 2 * X.size * sum(X.shape) * (1 + 1 + 5)
    monkeypatch.setattr(paths, "AT_ONCE", most * cost)
    counted.clear()
    np.testing.assert_array_equal(sums(net, X), once)
    assert sum(counted) == 5
    assert max(counted) <= max(most, 2)
    monkeypatch.setattr(plain, "fuses_heads", lambda *_: False)
    assert np.abs(sums(net, X) - once).max() < 1e-12 * np.abs(once).max()


def test_layers_that_do_not_fit_are_made_by_arrays_and_the_others_compiled(counted, monkeypatch):
    """A key bias in the second layer, large logits in the fourth, and values beyond e^logit in the last."""
    net = rm.Network.random(20, 6, 2, 5, seed=3, skip=True)
    query, value, key_bias = net.query.copy(), 0.1 * np.abs(net.value), np.zeros((5, 2, 6))
    query[3] *= 1e4
    key_bias[1] = 1.0
    nets = [
        rm.Network.from_arrays(query[[l]], value[[l]], key_bias=key_bias[[l]] if l == 1 else None, skip=1.0)
        for l in range(5)
    ]
    net = rm.Network(tuple(net.sublayers[0] for net in nets))
    X = 1.0 + net.random_input(seed=2, tokens=20) ** 2
    found = sums(net, X)
    assert counted == [1, 1, 0, 1]
    monkeypatch.setattr(plain, "fuses_heads", lambda *_: False)
    expected = sums(net, X)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_lengths_that_cancel_keep_the_digits_of_the_tokens(counted, monkeypatch):
    """λ = −1: the tokens come from the layer itself, and compiled layers go on with them."""
    net = rm.Network.random(20, 6, 1, 6, seed=4, skip=-1.0)
    query, value = net.query, np.broadcast_to(np.eye(6), net.value.shape).copy()
    net = rm.Network.from_arrays(query, value, skip=-1.0)
    X = 1.0 + 0.1 * net.random_input(seed=2, tokens=20)
    found = sums(net, X)
    assert counted == [1] * 12  # each layer, and its tokens once more by themselves
    monkeypatch.setattr(plain, "fuses_heads", lambda *_: False)
    expected = sums(net, X)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()


def test_values_that_overflow_before_weights_are_divided(counted):
    """e^580 times 1e140 is no double; the average is."""
    n, d = 20, 4
    X = np.zeros((n, d))
    X[:, 0] = 1e140 * (np.arange(n) % 2)
    query = np.zeros((1, 1, d, d))
    query[..., 0, 0] = 1.16e-277
    net = rm.Network.from_arrays(query, np.eye(d)[None, None], skip=True)
    expected = rm.row_softmax(X @ query[0, 0] @ X.T / 2.0) @ X
    with np.errstate(over="ignore"):
        whole, terms = plain.by_definition(Float64(X), net, X), sums(net, X)
    assert counted[:2] == [1, 1]
    np.testing.assert_allclose(whole, X + expected, rtol=1e-12)
    np.testing.assert_allclose(terms, [X, expected], rtol=1e-12)


def test_other_threads_make_their_own_sums(counted):
    nets = [rm.Network.random(30, 6, 2, 3, seed=s, skip=True) for s in range(4)]
    given = [(net, net.random_input(seed=s)) for s, net in enumerate(nets)]
    alone, found = [sums(*pair) for pair in given], [None] * 4

    def run(place):
        found[place] = sums(*given[place])

    threads = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for a, b in zip(found, alone, strict=True):
        np.testing.assert_array_equal(a, b)
