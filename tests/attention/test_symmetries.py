"""What must not change the answer: order, a common shift, batching, padding, factors, the array library."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from rankmath.arithmetic.float64 import Float64
from rankmath.attention.paths import path_sums
from rankmath.attention.plain import attention_matrices, forward
from rankmath.attention.trace import trace
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, LayerNorm, Network

seeds = st.integers(0, 10**6)


@given(seed=seeds)
def test_attention_matrices_are_row_stochastic(seed, draw_network):
    net, X = draw_network(seed, tokens=6, dim=4, heads=3, layers=3)
    P = attention_matrices(net, X)
    n = len(X)
    assert P.shape == (net.layers, net.heads, n, n)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=-1), 1.0, rtol=0, atol=1e-14)
    mask = net.mask_for(n)
    if mask is not None:
        assert (P[..., ~mask.allowed] == 0).all()


@given(seed=seeds)
def test_one_layer_by_its_definition(seed):
    """λX + Σ_h P_h X W_h + 1bᵀ, the P's written out."""
    rng = np.random.default_rng(seed)
    net = Network.random(4, 3, heads=2, seed=seed, biases=True, skip=0.5)
    X = rng.standard_normal((4, 3))
    out = 0.5 * X + net.bias[0]
    for h in range(2):
        logits = (X @ net.W_QK[0, h] @ X.T + (X @ net.key_bias[0, h])[None, :]) / np.sqrt(3)
        P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        out = out + P @ X @ net.W[0, h]
    np.testing.assert_allclose(forward(net, X), out, rtol=1e-12, atol=1e-13)


@given(seed=seeds)
def test_permuting_tokens_permutes_the_output_and_leaves_the_trace(seed, draw_network):
    net, X = draw_network(seed, tokens=6, dim=4, heads=3, layers=3)
    order = np.random.default_rng(seed).permutation(len(X))
    mask = net.mask_for(len(X))
    moved = net if mask is None else replace(net, mask=Mask(mask.allowed[np.ix_(order, order)]))
    np.testing.assert_allclose(forward(moved, X[order]), forward(net, X)[order], rtol=1e-9, atol=1e-9)
    before, after = trace(net, X).log_residual, trace(moved, X[order]).log_residual
    np.testing.assert_allclose(after, before, rtol=1e-10, atol=1e-10)


@given(seed=seeds, size=st.sampled_from([0.1, 10.0, 1e3]), skip=st.sampled_from([False, True, 0.5]))
def test_a_common_shift_is_undone_by_the_key_bias(seed, size, skip):
    """X → X + 1vᵀ with k → k − W_QKᵀ v changes no residual; v moves on as v → λv + Σ_h v W_h."""
    rng = np.random.default_rng(seed)
    net = Network.random(5, 3, heads=2, layers=4, seed=seed, biases=True, skip=skip)
    X, v = rng.standard_normal((5, 3)), size * rng.standard_normal(3)
    key_bias, common = np.array(net.key_bias), v
    for l in range(4):
        for h in range(2):
            key_bias[l, h] -= net.W_QK[l, h].T @ common
        common = float(skip) * common + sum(common @ net.W[l, h] for h in range(2))
    shifted = Network.from_arrays(net.W_QK, net.W, key_bias=key_bias, bias=net.bias, skip=skip)
    before, after = trace(net, X).log_residual, trace(shifted, X + v).log_residual
    # X + v itself is rounded, and so is the key bias.
    np.testing.assert_allclose(after, before, rtol=1e-10 * size, atol=1e-10 * size)


@given(seed=seeds)
def test_a_batch_is_its_members(seed, draw_network):
    net, X = draw_network(seed, tokens=5, dim=4, heads=2, layers=3)
    batch = np.stack([X, 1e-3 * X, X + 10.0, 1e-9 * X + 1.0]).reshape(2, 2, *X.shape)
    together = trace(net, batch)
    assert together.log_residual.shape == (net.layers + 1, 2, 2)
    out, P = forward(net, batch), attention_matrices(net, batch)
    for place in np.ndindex(2, 2):
        alone = trace(net, batch[place])
        for name in ("log_residual", "log_diameter"):
            measured, expected = getattr(together, name)[:, *place], getattr(alone, name)
            np.testing.assert_allclose(measured, expected, rtol=1e-9, atol=1e-9, err_msg=name)
        # The mean may be zero (column LayerNorm), and then only to rounding.
        np.testing.assert_allclose(np.exp(together.log_mean[:, *place]), np.exp(alone.log_mean), rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(out[place], forward(net, batch[place]), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(P[:, :, *place], attention_matrices(net, batch[place]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("arithmetic", ["mpmath", "balls"])
def test_a_batch_is_its_members_in_other_arithmetics(arithmetic):
    net = Network.random(3, 2, heads=2, layers=2, seed=0, biases=True, mlp="tanh", norm="column")
    batch = np.random.default_rng(1).standard_normal((2, 3, 2))
    together = trace(net, batch, arithmetic=arithmetic)
    for k in range(2):
        alone = trace(net, batch[k], arithmetic=arithmetic)
        np.testing.assert_allclose(together.log_residual[:, k], alone.log_residual, rtol=1e-14, atol=1e-15)
        if arithmetic == "balls":
            assert (together.log_residual_lower[:, k] <= alone.log_residual_upper).all()
            assert (alone.log_residual_lower <= together.log_residual_upper[:, k]).all()


def test_a_stack_of_networks_is_its_members():
    nets = [Network.random(4, 3, heads=2, layers=3, seed=s, biases=True, scale=s + 0.5) for s in range(4)]
    X = np.random.default_rng(0).standard_normal((4, 4, 3)) * np.asarray([1e-9, 1e-3, 1.0, 10.0])[:, None, None]
    stack = Network.stack(nets)
    together, out = trace(stack, X), forward(stack, X)
    for k, net in enumerate(nets):
        np.testing.assert_allclose(together.log_residual[:, k], trace(net, X[k]).log_residual, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(out[k], forward(net, X[k]), rtol=1e-12, atol=1e-13)


@given(seed=seeds, skip=st.sampled_from([False, 0.5]), arithmetic=st.sampled_from(["float64", "mpmath"]))
def test_key_padding_is_deleting_tokens_as_keys(seed, skip, arithmetic):
    """Kept tokens do not notice the padding; padded tokens see what the kept ones see."""
    rng = np.random.default_rng(seed)
    keep = rng.random(6) < 0.6
    keep[rng.integers(6)] = True
    net = Network.random(6, 3, heads=2, layers=2, seed=seed, biases=True, skip=skip)
    padded = replace(net, mask=Mask.key_padding(6, keep))
    X = rng.standard_normal((6, 3))
    out = forward(padded, X)
    np.testing.assert_allclose(out[keep], forward(net, X[keep]), rtol=1e-11, atol=1e-12)
    P = attention_matrices(padded, X)
    assert (P[..., ~keep] == 0).all()
    # The trace of all six tokens, from a plain pass in which only kept keys exist.
    measured = trace(padded, X, arithmetic=arithmetic).log_residual[-1]
    residual = out - out.mean(axis=0)
    if np.linalg.norm(residual) > 1e-6 * np.linalg.norm(out):
        assert measured == pytest.approx(np.log(np.linalg.norm(residual)), abs=1e-8)


@given(seed=seeds)
def test_key_padding_that_keeps_all_is_no_mask(seed):
    net = Network.random(5, 3, heads=2, layers=3, seed=seed)
    X = net.random_input(seed=seed)
    full = replace(net, mask=Mask(np.ones((5, 5), dtype=bool)))
    assert (trace(net, X).log_residual == trace(full, X).log_residual).all()


@given(seed=seeds, width=st.integers(1, 5), biases=st.booleans())
def test_factored_equals_fused(seed, width, biases):
    rng = np.random.default_rng(seed)
    L, H, n, d = 2, 2, 4, 3
    W_Q, W_K, W_V = (rng.standard_normal((L, H, d, width)) for _ in range(3))
    W_O = rng.standard_normal((L, H, width, d))
    given_biases: dict[str, np.ndarray] = {}
    if biases:
        given_biases = {name: rng.standard_normal((L, H, width)) for name in ("b_Q", "b_K", "b_V")}
        given_biases["b_O"] = rng.standard_normal((L, d))
    factored = Network.from_qkvo(W_Q, W_K, W_V, W_O, **given_biases)
    key_bias = bias = None
    if biases:
        key_bias = np.einsum("lhdk,lhk->lhd", W_K, given_biases["b_Q"])
        bias = np.einsum("lhv,lhvd->ld", given_biases["b_V"], W_O) + given_biases["b_O"]
    fused = Network.from_arrays(W_Q @ W_K.mT, W_V @ W_O, d_qk=width, key_bias=key_bias, bias=bias)
    X = rng.standard_normal((n, d))
    np.testing.assert_allclose(forward(factored, X), forward(fused, X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(trace(factored, X).log_residual, trace(fused, X).log_residual, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(path_sums(factored, X).terms[L], path_sums(fused, X).terms[L], rtol=1e-9, atol=1e-9)


@given(seed=seeds)
def test_from_qkvo_by_the_textbook(seed):
    """softmax((XW_Q + 1b_Qᵀ)(XW_K + 1b_Kᵀ)ᵀ/√d_qk)(XW_V + 1b_Vᵀ)W_O + 1b_Oᵀ, written out."""
    rng = np.random.default_rng(seed)
    W_Q, W_K, W_V = (rng.standard_normal((1, 2, 3, 2)) for _ in range(3))
    W_O = rng.standard_normal((1, 2, 2, 3))
    b_Q, b_K, b_V, b_O = (rng.standard_normal(s) for s in ((1, 2, 2), (1, 2, 2), (1, 2, 2), (1, 3)))
    net = Network.from_qkvo(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)
    X = rng.standard_normal((4, 3))
    out = np.tile(b_O[0], (4, 1))
    for h in range(2):
        logits = (X @ W_Q[0, h] + b_Q[0, h]) @ (X @ W_K[0, h] + b_K[0, h]).T / np.sqrt(2)
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        out = out + P @ (X @ W_V[0, h] + b_V[0, h]) @ W_O[0, h]
    np.testing.assert_allclose(forward(net, X), out, rtol=1e-11, atol=1e-12)


# -- another array library ---------------------------------------------------------------------------------


def strict(a):
    return None if a is None else array_api_strict.asarray(a)


def strict_network(net: Network) -> Network:
    """The same network in array-api-strict arrays."""
    mlp = [
        f and MLP(strict(f.W_in), strict(f.W_out), strict(f.b_in), strict(f.b_out), f.activation, f.skip)
        for f in net.mlp
    ]
    norm = net.norm
    if norm is not None:
        norm = LayerNorm(norm.kind, norm.eps if norm.kind != "sphere" else None, strict(norm.gain), strict(norm.offset))
    return Network.from_arrays(
        strict(net.W_QK),
        strict(net.W),
        d_qk=net.d_qk,
        key_bias=strict(net.key_bias),
        bias=strict(net.bias),
        skip=net.skip,
        mlp=mlp,
        norm=norm,
        mask=net.mask,
    )


@pytest.mark.parametrize("mlp", [None, "relu", "tanh"])
@pytest.mark.parametrize("norm", [None, "sphere", "standard", "column"])
@pytest.mark.parametrize("mask", [None, "causal", Mask.key_padding(4, np.asarray([True, False, True, True]))])
def test_array_api_strict_gives_what_numpy_gives(mlp, norm, mask):
    net = Network.random(4, 3, heads=2, layers=3, seed=0, biases=True, skip=0.5, mlp=mlp, norm=norm, mask=mask)
    other = strict_network(net)
    for scale in (1.0, 1e-6, 30.0):
        X = net.random_input(seed=1, scale=scale)
        np.testing.assert_allclose(trace(other, strict(X)).log_residual, trace(net, X).log_residual, rtol=1e-12)
        out = forward(other, strict(X))
        assert isinstance(out, type(strict(X)))
        np.testing.assert_allclose(np.asarray(out), forward(net, X), rtol=1e-12, atol=1e-12)
        P = np.asarray(attention_matrices(other, strict(X)))
        np.testing.assert_allclose(P, attention_matrices(net, X), rtol=1e-12, atol=1e-15)
        batch = strict(np.stack([X, 2 * X]))
        np.testing.assert_allclose(trace(other, batch).log_residual[:, 0], trace(net, X).log_residual, rtol=1e-10)
        if mlp is None and norm is None:
            sums = path_sums(other, strict(X))
            np.testing.assert_allclose(np.asarray(sums.terms), path_sums(net, X).terms, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(sums.log_residual(), path_sums(net, X).log_residual(), rtol=1e-12)


def test_extreme_weights_in_array_api_strict():
    net = Network.random(4, 3, heads=2, layers=3, seed=0, biases=True)
    wild = Network.from_arrays(net.W_QK * 1e100, net.W * 1e-120, key_bias=net.key_bias, bias=net.bias)
    X = net.random_input(seed=1)
    measured = trace(strict_network(wild), strict(X)).log_residual
    np.testing.assert_allclose(measured, trace(wild, X).log_residual, rtol=1e-12)


def test_gelu_without_erfc_is_refused_clearly():
    net = strict_network(Network.random(4, 3, seed=0, mlp="gelu"))
    X = strict(np.ones((4, 3)))
    for function in (forward, trace):
        with pytest.raises(ValueError, match=r"mlp: activation 'gelu' needs Φ, which array_api_strict"):
            function(net, X)


def test_two_libraries_do_not_mix():
    net = Network.random(4, 3, seed=0)
    with pytest.raises(ValueError, match="all arrays must come from one library"):
        trace(net, strict(np.ones((4, 3))))
    with pytest.raises(ValueError, match="all arrays must come from one library"):
        Network.from_arrays(strict(net.W_QK), net.W)


@pytest.mark.parametrize("heads", [1, 5])
def test_threads_change_nothing(heads):
    net = Network.random(tokens=600, dim=8, heads=heads, layers=2, seed=0)
    X = net.random_input(seed=1)
    found = []
    for limit in (1, 2, 3):
        with threadpool_limits(limit):
            found.append(trace(net, X).log_residual)
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-14)


def test_an_error_in_a_thread_is_raised_and_the_threads_work_on():
    A = Float64(np.zeros((2, 2)))
    tasks = [partial(float, x) for x in ("1", "2", "three", "4", "5")]
    with threadpool_limits(2):
        with pytest.raises(ValueError, match="three"):
            list(A.in_turn(tasks, 10**9))
        assert list(A.in_turn(tasks[:2] + tasks[3:], 10**9)) == [1.0, 2.0, 4.0, 5.0]


def test_an_abandoned_row_of_tasks_leaves_the_threads_free():
    """Ctrl-C between two heads: what runs ends, what waits is dropped, and the next trace has its threads."""
    net = Network.random(tokens=600, dim=8, heads=6, seed=0)
    X = net.random_input(seed=1)
    expected = trace(net, X).log_residual
    A = Float64(X)
    with threadpool_limits(2):
        row = A.in_turn([partial(trace, net, X)] * 8, 10**9)
        next(row)
        row.close()
        np.testing.assert_allclose(trace(net, X).log_residual, expected, rtol=1e-14)
