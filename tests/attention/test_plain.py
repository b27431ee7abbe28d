"""The plain pass is the definition, also where the heads are projected together."""

from __future__ import annotations

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.attention.fused import fused_softmax, fuses_heads, path_layers
from rankmath.attention.plain import apply_sublayer
from rankmath.kernels import compiled
from rankmath.linalg.masks import as_mask
from rankmath.model.positions import PositionTable
from rankmath.model.sublayers import Attention, LayerNorm, Sublayer
from rankmath.validation import Floats


@pytest.mark.parametrize("n", [5, 63, 64, 70])
def test_heads_projected_together_are_the_heads_one_by_one(n: int) -> None:
    rng = np.random.default_rng(n)
    W_Q, W_K, W_V = rng.standard_normal((3, 1, 3, 6, 2))
    W_O = rng.standard_normal((1, 3, 2, 6))
    X = rng.standard_normal((n, 6))
    expected = np.zeros((n, 6))
    for h in range(3):
        logits = (X @ W_Q[0, h]) @ (X @ W_K[0, h]).T / np.sqrt(2)
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        expected += P / P.sum(axis=1, keepdims=True) @ X @ W_V[0, h] @ W_O[0, h]
    found = rm.forward(rm.Network.from_qkvo(W_Q, W_K, W_V, W_O), X)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("memory", [None, 24 * 130 * 7])
def test_the_softmax_without_a_largest_logit_is_the_softmax(
    added: bool, memory: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankmath.kernels.compiled.kernel", lambda: None)
    rng = np.random.default_rng(0)
    queries, keys, values = 4 * rng.standard_normal((3, 130, 20))
    column = 30 * rng.standard_normal((130, 1)) if added else None
    found = fused_softmax(Float64(values, memory=memory), queries, keys, column, values, 3.0)
    logits = (queries @ keys.T + (0.0 if column is None else column.T)) / 3.0
    assert np.abs(found - rm.row_softmax(logits) @ values).max() < 1e-12


def test_a_softmax_that_may_overflow_is_left_to_the_one_that_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    queries, keys, values = rng.standard_normal((3, 130, 20))
    A = Float64(values)
    assert fused_softmax(A, 40 * queries, 40 * keys, None, values, 1.0) is None
    # Values beyond what e^logit leaves room for: the weights are divided last.
    large, sums = 1e300 * values, rm.row_softmax(12 * queries @ keys.T) @ values
    for kernel in (compiled.kernel(), None):
        monkeypatch.setattr(compiled, "kernel", lambda kernel=kernel: kernel)
        assert fused_softmax(A, 12 * queries, keys, None, large, 1.0) is None
        assert fused_softmax(A, 12 * queries, keys, None, values, 1.0) == pytest.approx(sums, abs=1e-11)


def averages(X, query, V, value, root, *more):
    """What one compiled layer makes, and whether it stands."""
    run = path_layers(Float64(X), X, V, [(query, value, None, 1.0 / root, 0.0), *more])
    finite = bool(np.isfinite(run.last.terms).all())
    return run.last.terms if run.layers and finite else None


@pytest.mark.parametrize(("n", "d", "H", "k"), [(150, 16, 3, 1), (65, 20, 5, 4), (300, 33, 4, 2), (128, 5, 1, 9)])
def test_all_heads_at_once_are_the_heads_one_by_one(n: int, d: int, H: int, k: int) -> None:
    """Rows of all heads over the same keys and values; 300 tokens of 4 heads are shared by threads."""
    if compiled.kernel() is None:
        pytest.skip("no compiled kernel on this machine (extra 'fast')")
    rng = np.random.default_rng(n)
    X, V = rng.standard_normal((n, d)), rng.standard_normal((n, k, d))
    query, value = rng.standard_normal((2, H, d, d))
    expected = np.zeros((n, k, d))
    for W_QK, W in zip(query, value, strict=True):
        expected += np.einsum("ij,jkd->ikd", rm.row_softmax(X @ W_QK @ X.T / 3.0), V) @ W
    found = averages(X, query, V, value, 3.0)
    assert found is not None
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    close = 100.0 + X / 100  # logits of 1e5, whose differences are of size one
    found, expected = averages(close, query, V, value, 30.0), np.zeros((n, k, d))
    for W_QK, W in zip(query, value, strict=True):
        weights = rm.row_softmax(close @ W_QK @ (X - X[0]).T / 100 / 30.0)
        expected += np.einsum("ij,jkd->ikd", weights, V) @ W
    assert found is not None
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    even = averages(0 * X, query, V, value, 3.0)  # no logit at all: the mean
    assert even is not None
    assert np.abs(even - V.mean(axis=0) @ value.sum(axis=0)).max() < 1e-12 * np.abs(value).sum()


def test_heads_that_may_overflow_or_are_few_are_left_to_one_by_one() -> None:
    rng = np.random.default_rng(0)
    X, (query, value) = rng.standard_normal((130, 20)), rng.standard_normal((2, 2, 20, 20))
    V = X[:, None, :]
    if compiled.kernel() is not None:
        given = [(30 * X, V), (X, 1e306 * V), (np.nan * X, V)]  # large logits; values that leave no room for e^logit
        assert [averages(Y, query, U, value, 1.0) for Y, U in given] == [None] * 3
        far = 1e308 * np.sign(X)  # differences that overflow
        assert averages(far, query, V, value, 1.0) is None
        two = np.sqrt(720.0) * np.eye(20)[np.arange(130) % 2 * 19]  # logits of 720 and 0: nothing need be infinite
        assert averages(two, np.stack([np.eye(20)] * 2), V, value, 1.0) is None
        arithmetics = [Float64(X), Float64(X, memory=10**4)]
        assert [fuses_heads(A, X, 2) for A in arithmetics] == [True, False]
        assert [fuses_heads(arithmetics[0], Y, 2) for Y in (X[:45], X[:, :15])] == [False, False]
    for size in (30.0, 1.0):
        net = rm.Network.from_arrays(query[None], value[None])
        logits = [size**2 * X @ W_QK @ X.T / np.sqrt(20) for W_QK in query]
        expected = sum(rm.row_softmax(E) @ (size * X) @ W for E, W in zip(logits, value, strict=True))
        assert np.abs(rm.forward(net, size * X) - expected).max() < 1e-11 * np.abs(expected).max()


def test_layers_finished_by_rows_are_the_definition() -> None:
    """More rows than are taken at a time, with skip, bias and LayerNorm before and after."""
    rng = np.random.default_rng(2)
    n, d = 300, 256  # 128 rows at a time
    norm = LayerNorm("standard", 1e-5, 1 + 0.1 * rng.standard_normal(d), rng.standard_normal(d))
    query, key, value = rng.standard_normal((3, 2, d, 8)) / 16
    bias, output = rng.standard_normal(d), rng.standard_normal((2, 8, d))
    attention = Attention(query=query, key=key, value=value, output=output, d_qk=8, bias=bias)
    X = rng.standard_normal((n, d))
    given = X.copy()

    def normed(Y: Floats) -> Floats:
        Y = Y - Y.mean(axis=1, keepdims=True)
        return np.asarray(Y / np.sqrt((Y * Y).mean(axis=1, keepdims=True) + 1e-5) * norm.gain + norm.offset)

    Y = normed(X)
    heads = zip(query, key, value, output, strict=True)
    parts = [rm.row_softmax((Y @ q) @ (Y @ k).T / np.sqrt(8)) @ (Y @ v) @ o for q, k, v, o in heads]
    wanted = normed(sum(parts) + bias + 0.5 * X)
    found = apply_sublayer(Float64(X), Sublayer(attention, 0.5, norm, norm), X, {id(attention): None})
    assert np.abs(found - wanted).max() < 1e-12
    assert (given == X).all()


@pytest.mark.parametrize("mask", [None, "causal", "window:3"])
@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("n", [20, 300])
def test_many_tokens_see_what_few_see(n: int, mask: str | None, placed: bool, biased: bool) -> None:
    """Masks, position terms and key biases, by the definition: also where a fused softmax would be faster."""
    rng = np.random.default_rng(n)
    H, d, k = 2, 24, 16
    Q, K, V = rng.standard_normal((3, H, d, k)) / 5
    O, b_Q = rng.standard_normal((H, k, d)), rng.standard_normal((H, k)) if biased else None
    term = rng.standard_normal((H, n, n)) if placed else np.zeros((H, n, n))
    position = PositionTable(term) if placed else None
    net = rm.Network.from_layers([[Sublayer(Attention.from_qkvo(Q, K, V, O, b_Q, mask=mask, position=position))]])
    X = rng.standard_normal((n, d))
    seen = as_mask(mask, n).allowed
    wanted = np.zeros((n, d))
    for h in range(H):
        queries = X @ Q[h] + (0 if b_Q is None else b_Q[h])
        P = np.where(seen, np.exp(queries @ (X @ K[h]).T / np.sqrt(k) + term[h]), 0)
        wanted += P / P.sum(axis=1, keepdims=True) @ X @ V[h] @ O[h]
    assert np.abs(rm.forward(net, X) - wanted).max() < 1e-10 * np.abs(wanted).max()
