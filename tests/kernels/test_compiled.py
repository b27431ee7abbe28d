"""The compiled kernel against many digits and against its twin in NumPy, for the registers of several machines."""

from __future__ import annotations

import functools
import os
import threading

import mpmath
import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.numpy64 import NumPy64
from rankmath.attention.fused import layer_plan
from rankmath.attention.softmax import row_softmax
from rankmath.attention.views import by_expm1
from rankmath.kernels import compiled, compiled_network

binding = pytest.importorskip("llvmlite.binding", reason="the compiled kernel needs llvmlite (extra 'fast')")

# Wide, medium and narrow vector registers: all run on any machine with fused multiply-add.
SHAPES = [(8, 6, 4), (4, 6, 2), (2, 6, 4), (2, 1, 1)]
SIZES = [(1, 1, 1, 1), (7, 5, 3, 2), (6, 32, 4, 32), (100, 33, 17, 65), (13, 300, 64, 1), (64, 64, 8, 9)]


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def kernel(request):
    return compiled.Kernel(compiled.Shape(*request.param), binding.get_host_cpu_features().flatten())


def drawn(n, m, k, v, size):
    rng = np.random.default_rng(n + m + k + v)
    q = rng.random((m, 1))
    left, right, values = rng.standard_normal((n, k)), rng.standard_normal((m, k)), rng.standard_normal((m, v))
    return left * size / k, right, q / q.sum(), values


@functools.cache
def traced_in_balls(net_of, *case):
    """The network, the tokens and what balls say of them: the same for the registers of every machine."""
    net, X = net_of(*case)
    return net, X, rm.trace(net, X, arithmetic="balls")


def averages(kernel, left, right, q, values, parts=1, base=1.0, scale=1.0):
    out, tasks = compiled.fused_average(kernel, base, scale, left, right, q, values, parts)
    for task in tasks:
        task()
    return out


@pytest.mark.parametrize("size", [1e-12, 0.3, 30.0])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_kernel_is_its_twin(kernel, sizes, size):
    left, right, q, values = drawn(*sizes, size)
    expected = by_expm1(Float64(left), left, right, q, values)
    m = np.abs(np.expm1(left @ right.T))
    # Rounding of sums: relative to the sum of absolute values, and to the logits.
    scale = (m * (1 + np.abs(left) @ np.abs(right).T)) @ (q * np.abs(values)) / (1 + np.expm1(left @ right.T) @ q)
    for parts in (1, 3):
        found = averages(kernel, left, right, q, values, parts)
        assert found.shape == expected.shape
        assert (np.abs(found - expected) <= 1e-14 * (scale + np.abs(expected))).all()


@pytest.mark.parametrize("x", [0.0, 1e-300, -1e-20, 1e-9, -0.3465, 0.3466, 0.347, -1.0, 20.5, -40.0, 600.0, -600.0])
def test_expm1_to_the_last_bits(kernel, x):
    """Two keys of weight 1/2, one with logit zero and value zero: m/(2 + m)."""
    keys, weights, values = np.asarray([[0.0], [1.0]]), np.full((2, 1), 0.5), np.asarray([[0.0], [1.0]])
    found = averages(kernel, np.asarray([[x]]), keys, weights, values)[0, 0]
    with mpmath.workdps(40):
        exact = mpmath.expm1(x) / (2 + mpmath.expm1(x))
        assert abs(found - exact) <= 6e-16 * abs(exact)


@pytest.mark.parametrize("size", [1e-12, 0.3, 30.0])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_averages_of_exponentials_are_the_softmax(kernel, sizes, size):
    left, right, q, values = drawn(*sizes, size)
    weights = row_softmax(left @ right.T + np.log(q).T)
    scale = (weights * (1 + np.abs(left) @ np.abs(right).T)) @ np.abs(values)
    for parts in (1, 3):
        found = averages(kernel, left[:, ::-1], right[:, ::-1] / 4, q, values, parts, base=0.0, scale=4.0)
        assert (np.abs(found - weights @ values) <= 1e-14 * scale).all()


def test_the_polynomial_of_expm1_is_good_beyond_the_last_bit():
    with mpmath.workdps(40):
        for k in range(-200, 201):
            r = mpmath.log(2) / 2 * k / 200
            found = r + r * r * mpmath.polyval(compiled._EXPM1[::-1], r)
            assert abs(found - mpmath.expm1(r)) <= 2.0**-58 * abs(r)


def networks():
    return [
        rm.Network.random(160, 16, 2, 3, seed=0, biases=True),
        rm.Network.random(150, 20, 1, 2, seed=1, head_dim=17, skip=0.5),
        rm.Network.random(130, 33, 3, 2, seed=2, mask="prefix:130"),
    ]


@pytest.fixture
def calls(monkeypatch):
    """What the kernels make: heads one by one ("head"), or all of a layer ("layer"); or what stops them."""
    found, head, run = [], compiled.fused_average, compiled_network.LayerPlan.run

    def layers(plan, x, R, state, arrays, *given, **named):
        made = run(plan, x, R, state, arrays, *given, **named)
        found.extend(["layer"] * made.layers + ["stopped"] * (made.layers < len(arrays)))
        return made

    monkeypatch.setattr(compiled, "fused_average", lambda *given: found.append("head") or head(*given))
    monkeypatch.setattr(compiled_network.LayerPlan, "run", layers)
    return found


@pytest.mark.parametrize("net", networks(), ids=str)
@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_traces_with_and_without_the_kernel(net, scale, calls, monkeypatch):
    X = net.random_input(seed=3, scale=scale)
    fast = rm.trace(net, X)
    assert calls
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    pure = rm.trace(net, X)
    np.testing.assert_allclose(fast.log_residual, pure.log_residual, rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(fast.log_diameter, pure.log_diameter, rtol=1e-13, atol=1e-12)


ACTIVATIONS = ("gelu", "gelu_tanh", "silu", "quick_gelu")


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_plain_passes_with_and_without_the_kernel(activation, calls, monkeypatch):
    rng = np.random.default_rng(5)
    mlp = rm.MLP(rng.standard_normal((17, 40)), rng.standard_normal((40, 17)), activation=activation)
    heads = rng.standard_normal((4, 2, 3, 17, 16)) / 4
    net = rm.Network.from_qkvo(*heads[:3], np.swapaxes(heads[3], -1, -2), b_Q=heads[0, ..., 0, :], mlp=mlp)
    X = rng.standard_normal((150, 17)) / 3
    fast = rm.forward(net, X)
    assert len(calls) == 6
    # Logits that no bound keeps below 600 take the other way.
    rm.forward(net, 30 * X)
    assert len(calls) < 12
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    np.testing.assert_allclose(fast, rm.forward(net, X), rtol=1e-12, atol=1e-13 * np.abs(fast).max())


def test_two_tokens_are_compiled_and_forward_keeps_small_entries():
    A = Float64(np.zeros((2, 1)))
    assert [layer_plan(A, n, 1, 1) is not None for n in (1, 2, 64)] == [False, True, True]
    # Entries far below others of their column: about their center these would keep the digits of the largest alone.
    eye = np.eye(4)
    made = rm.forward(rm.Network.from_arrays(18 * eye[None, None], eye[None, None]), eye)  # logits 9 and 0
    far, near = 1 / (np.exp(9.0) + 3), np.exp(9.0) / (np.exp(9.0) + 3)
    np.testing.assert_allclose(made, far + (near - far) * eye, rtol=1e-14)


@pytest.fixture
def always(monkeypatch):
    """The kernel for small networks as well."""
    for name in ("_COMPILED_ENTRIES", "_COMPILED_WIDTH", "_COMPILED_ROWS"):
        monkeypatch.setattr(f"rankmath.attention.fused.{name}", 1)


# Tokens, columns, heads, size of the input, and the rest: sizes that no tile divides, one column, large logits.
AGAINST_BALLS = [
    *((9, 5, 2, 1.0, {"biases": True}), (33, 3, 1, 1.0, {}), (7, 1, 3, 1.0, {}), (14, 2, 4, 3.0, {})),
    *((13, 4, 5, 1e-4, {"mask": "prefix:13"}), (8, 6, 6, 3.0, {"skip": 0.5}), (5, 3, 7, 20.0, {})),
    *((35, 4, 2, 4.0, {"head_dim": 3}), (10, 2, 1, 1.0, {"mask": "causal"}), (11, 33, 1, 2.0, {})),
]


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("n", "d", "heads", "size", "more"), AGAINST_BALLS)
def test_the_kernel_agrees_with_balls(n, d, heads, size, more, calls):
    net = rm.Network.random(n, d, heads, 2, seed=n, **more)
    X = net.random_input(seed=d, scale=size)
    found, balls = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
    assert calls or more.get("mask") == "causal" or size == 20.0
    np.testing.assert_allclose(found.log_residual, balls.log_residual, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.log_diameter, balls.log_diameter, rtol=1e-12, atol=1e-12)


def on(kernel, monkeypatch, threads=1):
    """The kernel of other registers, on so many threads."""
    monkeypatch.setattr(compiled, "kernel", lambda: kernel)
    main = threading.main_thread()

    def shared(A, entries):
        return threads if threading.current_thread() is main else 1

    monkeypatch.setattr(NumPy64, "threads_for", shared)


LAYERS = [
    *((9, 5, 2, 1.0, {"biases": True}), (33, 3, 1, 1.0, {}), (70, 8, 3, 0.3, {"skip": -0.5}), (7, 17, 4, 1e-3, {})),
    *((40, 12, 5, 2.0, {"skip": True}), (50, 33, 2, 1.5, {"biases": True, "skip": 0.7}), (5, 1, 1, 0.5, {})),
]


def of_two_layers(n, d, heads, size, more):
    net = rm.Network.random(n, d, heads, 2, seed=n, **dict(more))
    return net, net.random_input(seed=d, scale=size)


def of_five_layers(n, d, heads, size, more):
    net = rm.Network.random(n, d, heads, 5, seed=n, **dict(more))
    # A mean of size one would swallow smaller tokens.
    return net, net.random_input(seed=d, scale=size) + (size > 1e-13)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("n", "d", "heads", "size", "more"), LAYERS)
def test_a_compiled_layer_agrees_with_balls_on_all_registers(kernel, n, d, heads, size, more, calls, monkeypatch):
    net, X, balls = traced_in_balls(of_two_layers, n, d, heads, size, tuple(more.items()))
    on(kernel, monkeypatch)
    found = rm.trace(net, X)
    assert "layer" in calls
    for name in ("log_residual", "log_diameter", "log_mean"):
        np.testing.assert_allclose(getattr(found, name), getattr(balls, name), rtol=1e-12, atol=1e-12)


# One layer below rounding at once, or a few layers on; more keys than a block of values holds, more columns than
# two groups of rows have, a skip beside which logits underflow.
BELOW_ROUNDING = [
    *((9, 5, 2, 1e-12, {"biases": True}), (33, 3, 1, 1e-100, {}), (70, 8, 3, 1e-9, {"skip": -0.5})),
    *((300, 4, 2, 0.1, {}), (7, 17, 4, 1e-40, {"biases": True}), (24, 13, 2, 1.0, {})),
    *((6, 2, 3, 3e-200, {"skip": 2}), (40, 50, 2, 1e-9, {"skip": -0.5})),
]


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("n", "d", "heads", "size", "more"), BELOW_ROUNDING)
def test_layers_below_rounding_agree_with_balls_on_all_registers(kernel, n, d, heads, size, more, calls, monkeypatch):
    net, X, balls = traced_in_balls(of_five_layers, n, d, heads, size, tuple(more.items()))
    on(kernel, monkeypatch)
    found = rm.trace(net, X)
    assert calls.count("layer") == 5  # all, after the first ones are centred elsewhere where they are tiny
    for name in ("log_residual", "log_diameter", "log_mean"):
        np.testing.assert_allclose(getattr(found, name), getattr(balls, name), rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_layers_go_on_where_logarithms_leave_a_double(threads, calls, monkeypatch):
    """log‖R‖ ~ −3^L: its mantissa hands over to an exponent, and then terms no longer count."""
    net = rm.Network.random(8, 4, 2, 1400, seed=3)
    X = net.random_input(seed=4)
    on(compiled.kernel(), monkeypatch, threads)
    found = rm.trace(net, X)
    assert calls.count("layer") == 1400
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    pure = rm.trace(net, X)
    assert np.isneginf(pure.log_residual[-1])
    for name in ("log_log_residual", "log_mean", "order"):
        np.testing.assert_allclose(getattr(found, name), getattr(pure, name), rtol=1e-13, equal_nan=True)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("where", [0, 1, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_layer_that_may_not_stand_is_made_by_the_arrays_and_the_next_ones_compiled(
    where, threads, calls, monkeypatch
):
    """Weights far from size one stop a run before, in the middle, and at the end."""
    net = rm.Network.random(9, 4, 2, 4, seed=1, biases=True)
    value = net.value.copy()
    value[where] *= 1e-70
    net = rm.Network.from_arrays(net.query, value, key_bias=net.key_bias, bias=net.bias)
    X = net.random_input(seed=2, tokens=9)
    balls = rm.trace(net, X, arithmetic="balls")
    on(compiled.kernel(), monkeypatch, threads)
    found = rm.trace(net, X)
    assert calls.count("stopped") == 1
    assert calls[:where] == ["layer"] * where
    for name in ("log_residual", "log_diameter", "log_mean"):
        np.testing.assert_allclose(getattr(found, name), getattr(balls, name), rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("most", [1, 2, 3, 7])
@pytest.mark.parametrize("where", [None, 2])
def test_calls_of_some_layers_make_what_one_call_makes(most, where, calls, monkeypatch):
    """Where layers take long; also if one may not stand."""
    net = rm.Network.random(9, 4, 2, 7, seed=1)
    value = net.value.copy()
    value[where or slice(0)] *= 1e-70
    net = rm.Network.from_arrays(net.query, value)
    X = np.asfortranarray(net.random_input(seed=2, tokens=9))
    once = rm.trace(net, X)
    monkeypatch.setattr("rankmath.attention.alone.AT_ONCE", most * 2 * 2 * 9 * (9 + 4) * 4)
    calls.clear()
    found = rm.trace(net, X)
    assert calls.count("layer") == 7 - (where is not None)
    for name in ("log_residual", "log_diameter", "log_mean", "lost_bits"):
        np.testing.assert_array_equal(getattr(found, name), getattr(once, name))


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("d", [4, 5])
def test_weights_may_change_between_two_traces(d):
    """What is known of a network is where its weights are; of an odd number of columns there are copies."""
    net = rm.Network.random(9, d, 2, 2, seed=1)
    X = net.random_input(seed=2)
    before = rm.trace(net, X).log_residual
    for attention in net.attentions:
        np.multiply(attention.query, 2.0, out=attention.query)
    found = rm.trace(net, X).log_residual
    fresh = rm.Network.from_arrays(net.query.copy(), net.value.copy())
    assert not np.array_equal(found[1:], before[1:])
    np.testing.assert_array_equal(found, rm.trace(fresh, X).log_residual)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("where", [0, 1, 2])
@pytest.mark.parametrize("bias", [False, True])
def test_layers_of_zeros_leave_zeros(where, bias, calls, monkeypatch):
    """Then the center is what a bias makes it, or zero, and so is the residual."""
    net = rm.Network.random(9, 4, 2, 3, seed=1, biases=bias)
    value = net.value.copy()
    value[where] = 0.0
    net = rm.Network.from_arrays(net.query, value, key_bias=net.key_bias, bias=net.bias)
    X = net.random_input(seed=2, tokens=9)
    found = rm.trace(net, X)
    assert calls
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    pure = rm.trace(net, X)
    assert np.isneginf(pure.log_residual[where + 1])
    for name in ("log_residual", "log_diameter", "log_mean", "lost_bits"):
        np.testing.assert_allclose(getattr(found, name), getattr(pure, name), rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
def test_tokens_are_measured_in_memory_that_no_head_uses(monkeypatch):
    """One thread measures the tokens before a layer while others make it; at the end two measure side by side."""
    kernel, run = compiled.kernel(), compiled_network.lead_and_follow
    on(kernel, monkeypatch, 2)
    net = rm.Network.random(40, 8, 2, 1, seed=1)
    code = compiled_network.source(kernel.shape)
    (lengths,) = kernel.compiled_all(code, {"lengths": (3, 0)})
    changed = set(), set()

    def measured_again(lead, follow, words, scratch, held, *more):
        run(lead, follow, words, scratch, held, *more)
        plan = held[0]
        for second in (0, 1):
            for name, a in plan.arrays.items():
                if not name.endswith("ends"):
                    a.reshape(-1)[:1] += 1.0
            old = {name: a.tobytes() for name, a in plan.arrays.items()}
            lengths(words.ctypes.data, 0, second)
            changed[second].update(name for name, a in plan.arrays.items() if a.tobytes() != old[name])

    monkeypatch.setattr(compiled_network, "lead_and_follow", measured_again)
    rm.trace(net, net.random_input(seed=0))
    assert changed[0] == {"tiles_of_rows", "squares", "found"}
    assert changed[1] == {"second_tiles_of_rows", "second_squares", "second_found"}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_nothing_that_is_measured_of_many_layers(threads, monkeypatch):
    """Those who follow come when they come; tokens of every layer are measured once, and by one."""
    for seed, layers in enumerate((1, 2, 3, 8)):
        net = rm.Network.random(60, 8, 4, layers, seed=seed, skip=1.0)
        X = net.random_input(seed=9)
        on(compiled.kernel(), monkeypatch)
        alone = rm.trace(net, X)
        on(compiled.kernel(), monkeypatch, threads)
        for _ in range(20):
            found = rm.trace(net, X)
            for name in ("log_residual", "log_diameter", "log_mean", "lost_bits", "center"):
                np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


@pytest.mark.usefixtures("always")
def test_those_who_follow_go_home_where_nobody_leads(monkeypatch):
    """Someone interrupts after the others were called, and before the first one begins."""
    on(compiled.kernel(), monkeypatch, 2)
    net = rm.Network.random(40, 8, 2, 3, seed=1)
    X = net.random_input(seed=2)
    plan = layer_plan(Float64(X), 40, 8, 2)
    called = []

    def interrupted(start, scratch):
        called.append(start)
        raise KeyboardInterrupt

    with monkeypatch.context() as here:
        here.setattr(plan, "code", (interrupted, plan.code[1]))
        with pytest.raises(KeyboardInterrupt):
            rm.trace(net, X)
    assert called
    both = threading.Barrier(2)  # the only one that follows is free for this
    compiled_network._crew(os.getpid(), 1).put((lambda *_: both.wait(60), 1, 0, 0, None))
    both.wait(60)
    again = rm.trace(net, X)
    on(compiled.kernel(), monkeypatch)
    alone = rm.trace(net, X)
    np.testing.assert_array_equal(again.log_residual, alone.log_residual)


@pytest.mark.usefixtures("always")
def test_small_weights_are_below_rounding_whatever_the_tokens(kernel, calls, monkeypatch):
    """σ > 0: the residual keeps its order, and not the third power of it."""
    net = rm.Network.random(12, 6, 2, 3, seed=1)
    net = rm.Network.from_arrays(1e-30 * net.query, net.value)
    X = net.random_input(seed=2, tokens=12, scale=50.0)
    balls = rm.trace(net, X, arithmetic="balls")
    on(kernel, monkeypatch)
    found = rm.trace(net, X)
    assert calls[0] == "layer"
    np.testing.assert_allclose(found.log_residual, balls.log_residual, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize("head", [0, 1])
def test_large_queries_are_not_below_rounding_whatever_the_tokens(kernel, where, head, calls, monkeypatch):
    """|R|² ~ 1e-18, but one head has logits of 1e-3: their second order counts, in the first layer or a next."""
    net = rm.Network.random(12, 6, 2, 2, seed=1)
    query, value = net.query.copy(), net.value
    query[where, head] *= 1e15
    net = rm.Network.from_arrays(query[where : where + 1], value[where : where + 1])
    if where:  # a layer before it that leaves the tokens as small as they are
        first = rm.Network.from_arrays(0.0 * query[:1], np.stack([np.eye(6), -np.eye(6)])[None] * 0.5, skip=True)
        net = rm.Network(first.sublayers + net.sublayers)
    X = 1e-9 * net.random_input(seed=2, tokens=12)
    balls = rm.trace(net, X, arithmetic="balls")
    on(kernel, monkeypatch)
    found = rm.trace(net, X)
    assert calls == ["layer"] * (1 + where)
    np.testing.assert_allclose(found.log_residual, balls.log_residual, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1e-10, 0.01, 1.0])
@pytest.mark.parametrize("heads", [5, 6, 8])
def test_threads_change_no_digit_of_a_compiled_layer(size, heads, calls, monkeypatch):
    """Whole heads are shared if all threads have as many, or heads and rows as they come: rounds of heads, parts of
    rows, more threads than either."""
    net = rm.Network.random(200, 24, heads, 1, seed=4, biases=True, skip=0.5)
    X = net.random_input(seed=5, scale=size)
    found = []
    for threads in (1, 2, 3, 8):
        on(compiled.kernel(), monkeypatch, threads)
        found.append(rm.trace(net, X))
        plan = layer_plan(Float64(X), 200, 24, heads)
        assert plan.threads == threads
        assert bool(plan.arrays["of_each"].size) == ((heads, threads) in [(6, 2), (6, 3), (8, 2), (8, 8)])
    assert calls == ["layer"] * 4
    for run in found[1:]:
        for name in ("log_residual", "log_diameter", "lost_bits", "center"):
            np.testing.assert_array_equal(getattr(run, name), getattr(found[0], name))


@pytest.mark.usefixtures("always")
def test_logits_out_of_range_stop_a_compiled_layer(calls):
    """A mean near zero attends to all alike; the logits around it are thousands."""
    net = rm.Network.random(40, 8, 2, 1, seed=8)
    Y = net.random_input(seed=9)
    X = 40.0 * (Y - Y.mean(axis=0)) + 1e-3
    found, balls = rm.trace(net, X), rm.trace(net, X, arithmetic="balls")
    assert calls[0] == "stopped"
    np.testing.assert_allclose(found.log_residual, balls.log_residual, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("size", [1e-12, 1e-4, 1.0, 8.0, 60.0])
def test_bits_lost_and_sizes_are_those_of_the_arrays(size, calls, monkeypatch):
    """Heads that cancel, uneven attention, logits below rounding and out of range."""
    net = rm.Network.random(40, 8, 2, 3, seed=6, skip=0.3)
    value = net.value.copy()
    value[:, 1] = -value[:, 0] * (1 + 1e-6)
    query = np.repeat(net.query[:, :1], 2, axis=1)
    net = rm.Network(query=query, value=value, d_qk=net.attentions[0].d_qk, skip=0.3)
    X = net.random_input(seed=7, tokens=40, scale=size)
    fast = rm.trace(net, X)
    assert calls
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    pure = rm.trace(net, X)
    np.testing.assert_allclose(fast.lost_bits, pure.lost_bits, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(fast.log_residual, pure.log_residual, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("bias", [19.7, 60.0, 2000.0])
def test_uneven_attention_is_looked_at_again(bias, calls, monkeypatch):
    """Two of three tokens agree, perhaps by rounding, and all attend to them alone, up to e^−bias/2."""
    X = np.asarray([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    W_QK, key_bias = np.diag([0.01, 0.01, 0.0])[None, None], np.sqrt(3.0) * np.asarray([[[0.0, 0.0, bias]]])
    net = rm.Network.from_arrays(W_QK, np.eye(3)[None, None], key_bias=key_bias)
    fast = rm.trace(net, X)
    assert calls[0] == "stopped"
    monkeypatch.setattr(compiled, "kernel", lambda: None)
    pure = rm.trace(net, X)
    np.testing.assert_allclose(fast.lost_bits, pure.lost_bits, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.log_residual, pure.log_residual, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("always")
def test_what_a_skip_carries_counts_as_a_part(calls):
    """Each of ±s e_k attends to itself alone; four heads of −λ(1 − 2^−20)/4 each, beside λX, leave 2^−20 λX."""
    s, skip, heads, lost = 12.0, 0.5, 4, 20
    X = s * np.concatenate([np.eye(4), -np.eye(4)]) + 1e-6
    W = np.tile(np.eye(4), (1, heads, 1, 1))
    net = rm.Network.from_arrays(W, -skip / heads * (1 - 2.0**-lost) * W, skip=skip)
    found = rm.trace(net, X)
    assert calls == ["layer"]
    assert found.log_residual[1] - found.log_residual[0] == pytest.approx(np.log(skip * 2.0**-lost), abs=1e-6)
    assert found.lost_bits[1] == pytest.approx(lost, abs=1e-6)


@pytest.mark.usefixtures("always")
def test_a_batch_goes_matrix_by_matrix():
    nets = [rm.Network.random(9, 5, 2, 2, seed=s) for s in range(3)]
    stack, X = rm.Network.stack(nets), np.stack([net.random_input(seed=7) for net in nets])
    alone = np.stack([rm.trace(net, x).log_residual for net, x in zip(nets, X, strict=True)], axis=-1)
    np.testing.assert_allclose(rm.trace(stack, X).log_residual, alone, rtol=1e-13)


def test_addresses_are_those_of_numpy() -> None:
    a = np.zeros((5, 8))
    only_read = a.view()
    only_read.flags.writeable = False
    for b in (a, a[2:], a[:, 3:], only_read, a.astype(np.int64), a[:0]):
        assert compiled.address(b) == b.ctypes.data
    assert all(compiled.aligned(3, k).ctypes.data % 64 == 0 for k in (1, 7, 64))


@pytest.mark.skipif(compiled.kernel() is None, reason="llvmlite is not installed")
def test_threads_of_a_layer_have_memory_of_their_own() -> None:
    plan, given, words = compiled_network.LayerPlan(compiled.kernel(), 64, 16, 1, 3), {}, np.zeros(200, np.int64)
    came = threading.Barrier(3)

    def lead(start, scratch):
        given[0] = scratch
        came.wait(60)

    def follow(thread, start, scratch):
        given[thread] = scratch
        came.wait(60)

    compiled_network.lead_and_follow(lead, follow, words, plan.scratch, None)
    assert given == {thread: part.ctypes.data for thread, part in enumerate(plan.scratch)}
