"""Layers in blocks of rows: the same numbers, within the memory that was asked for."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.numpy64 import NumPy64
from rankmath.attention import plain

SHAPES = {
    "two heads": {"tokens": 37, "dim": 5, "heads": 2, "layers": 3, "seed": 0, "biases": True},
    "skip": {"tokens": 37, "dim": 5, "heads": 2, "layers": 2, "seed": 1, "skip": 0.5},
    "causal": {"tokens": 37, "dim": 5, "layers": 2, "seed": 2, "mask": "causal"},
    "window": {"tokens": 37, "dim": 5, "layers": 2, "seed": 3, "mask": "window:4", "norm": "sphere"},
}


@pytest.mark.parametrize("memory", [1, 24 * 37 * 5, 10**9])
@pytest.mark.parametrize("name", SHAPES)
def test_blocks_of_any_size_give_the_same_numbers(name, memory):
    net = rm.Network.random(**SHAPES[name])
    X = net.random_input(seed=1)
    np.testing.assert_allclose(rm.forward(net, X, memory=memory), rm.forward(net, X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        rm.trace(net, X, memory=memory).log_residual, rm.trace(net, X).log_residual, rtol=1e-12, atol=1e-12
    )
    if net.norm is None:
        found, expected = rm.path_sums(net, X, memory=memory), rm.path_sums(net, X)
        np.testing.assert_allclose(found.terms, expected.terms, rtol=1e-11, atol=1e-13)


def test_a_batch_is_cut_along_its_rows_as_well(monkeypatch):
    nets = [rm.Network.random(tokens=9, dim=4, heads=2, layers=2, seed=s) for s in range(6)]
    stack, X = rm.Network.stack(nets), np.stack([net.random_input(seed=7) for net in nets])
    whole, sizes = rm.forward(stack, X), []

    def seen(*arguments):
        sizes.append(attention(*arguments))
        return sizes[-1]

    attention = plain._weights
    monkeypatch.setattr(plain, "_weights", seen)
    for rows in (1, 2, 4, 9):
        sizes.clear()
        np.testing.assert_allclose(rm.forward(stack, X, memory=24 * 9 * 6 * rows), whole, rtol=1e-13)
        assert {P.shape for P in sizes} <= {(6, r, 9) for r in range(1, rows + 1)}
        assert len(sizes) == 4 * -(-9 // rows)


def test_one_input_for_a_stack_of_networks_is_given_to_each():
    nets = [rm.Network.random(tokens=9, dim=4, heads=2, layers=2, seed=s) for s in range(5)]
    X, stack = nets[0].random_input(seed=7), rm.Network.stack(nets)
    np.testing.assert_allclose(rm.forward(stack, X), [rm.forward(net, X) for net in nets], rtol=1e-13)
    alone = np.stack([rm.trace(net, X).log_residual for net in nets], axis=-1)
    np.testing.assert_allclose(rm.trace(stack, X).log_residual, alone, rtol=1e-12)
    with pytest.raises(ValueError, match=r"^X: shape \(4, 9, 4\) given to a stack of networks of shape \(5,\)"):
        rm.trace(stack, np.stack([X] * 4))
    for single in (rm.path_sums, rm.reference_trace):
        with pytest.raises(ValueError, match=r"^net: a stack of networks given; .* takes one network$"):
            single(stack, X)
        with pytest.raises(ValueError, match=r"^X: shape \(2, 9, 4\) given; .* takes one sequence \(n, d\)$"):
            single(nets[0], np.stack([X] * 2))


@pytest.mark.parametrize("run", [rm.forward, rm.trace, rm.path_sums], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mask", [None, "causal", "window:3", "prefix:9", "star"])
def test_no_more_than_the_budget_and_a_few_copies_of_the_tokens(run, mask):
    """… and of the mask, one byte a pair, twice while it is made."""
    n, d, budget = 1600, 4, 2**20
    net = rm.Network.random(tokens=n, dim=d, heads=2, seed=0, mask=mask)
    X = net.random_input(seed=1)
    run(net, X, memory=budget)
    tracemalloc.start()
    run(net, X, memory=budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    held = 0 if mask is None else 2 * n**2
    assert peak < budget + 16 * X.nbytes + held < n**2 * 8 / 2


@pytest.mark.parametrize("memory", [0, -1, 1.5, "much", True])
@pytest.mark.parametrize("run", [rm.forward, rm.trace, rm.path_sums], ids=lambda f: f.__name__)
def test_memory_is_a_positive_integer(run, memory):
    net = rm.Network.random(tokens=3, dim=2, seed=0)
    with pytest.raises(ValueError, match=r"^memory: "):
        run(net, net.random_input(seed=1), memory=memory)


@pytest.mark.parametrize("threads", [1, 2, 3, 32, 48, 96])
@pytest.mark.parametrize("n", [513, 600, 1025])
def test_rows_are_cut_into_as_many_parts_as_there_are_threads(n, threads, monkeypatch):
    """The diameter of many tokens, with columns enough that any two may be the farthest.

    Its work is less the further down, so the parts are finer.
    """
    X = np.random.default_rng(n).standard_normal((n, 200))
    net = rm.Network.from_arrays(np.zeros((1, 1, 200, 200)), np.zeros((1, 1, 200, 200)))
    monkeypatch.setattr("rankmath.kernels.compiled.kernel", lambda: None)
    found = []

    def in_turn(self, tasks, entries):
        found.append(len(tasks))
        return (task() for task in tasks)

    monkeypatch.setattr(NumPy64, "_threads", threads)
    monkeypatch.setattr(NumPy64, "in_turn", in_turn)
    diameter = rm.trace(net, X).log_diameter[0]
    assert diameter == pytest.approx(np.log(pdist(X).max()), rel=1e-13)
    if threads > 1:
        assert found[0] == 4 * threads


@pytest.mark.parametrize("arithmetic", ["balls", "mpmath"])
def test_memory_belongs_to_float64(arithmetic):
    net = rm.Network.random(tokens=3, dim=2, seed=0)
    with pytest.raises(ValueError, match=rf"^memory: 9 given with arithmetic '{arithmetic}'"):
        rm.trace(net, net.random_input(seed=1), arithmetic=arithmetic, memory=9)


def test_blocks_of_a_strict_library_do_not_run_past_the_end():
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    net = rm.Network.random(tokens=5, dim=2, seed=0)
    X = net.random_input(seed=1)
    there = rm.Network.from_arrays(strict.asarray(net.W_QK), strict.asarray(net.W))
    found = rm.trace(there, strict.asarray(X), memory=24 * 5 * 2).log_residual
    np.testing.assert_allclose(found, rm.trace(net, X).log_residual, rtol=1e-12)


def test_gradients_pass_through_the_plain_pass_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    net = rm.Network.random(tokens=4, dim=3, heads=2, layers=2, seed=0)
    X = net.random_input(seed=1)
    there = rm.Network.from_arrays(torch.tensor(net.W_QK), torch.tensor(net.W))
    T = torch.tensor(X, requires_grad=True)
    rm.forward(there, T).sum().backward()
    step = 1e-6 * np.eye(3)[0]
    ahead, back = X.copy(), X.copy()
    ahead[1] += step
    back[1] -= step
    slope = (rm.forward(net, ahead).sum() - rm.forward(net, back).sum()) / 2e-6
    assert float(T.grad[1, 0]) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("run", [rm.forward, rm.attention_matrices, rm.path_sums], ids=lambda f: f.__name__)
def test_what_overflows_is_refused_and_not_returned(run):
    net = rm.Network.random(tokens=3, dim=2, seed=0)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"^X: too large for the plain pass"):
        run(net, 1e200 * net.random_input(seed=1))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"^X: too large for the plain pass"):
        rm.path_term(net, 1e200 * net.random_input(seed=1), (1,))


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_largest_distances_from_products(lead):
    """What one kernel does on a GPU, in arrays."""
    a = np.random.default_rng(0).standard_normal((*lead, 9, 4))
    squares = (a * a).sum(axis=-1, keepdims=True)
    for first, rows in ((0, 9), (3, 2), (8, 1)):
        some, rest = a[..., first : first + rows, :], a[..., first:, :]
        found = Float64(a).farthest(some @ np.swapaxes(rest, -1, -2), squares)
        gaps = ((some[..., :, None, :] - rest[..., None, :, :]) ** 2).sum(axis=-1)
        np.testing.assert_allclose(found[..., 0], gaps.max(axis=-1), rtol=1e-13, atol=1e-14)


def pairs_of_points():
    rng = np.random.default_rng(0)
    clear = rng.standard_normal((90, 5))
    # Two pairs of opposite tokens farther apart than all others, by parts in 1e9: the same in single precision.
    close = clear / 10
    close[[10, 70]], close[[20, 80]] = np.eye(5)[:1] * [[1.0], [-1.0]], np.eye(5)[1:2] * [[1.0], [-1.0 - 4e-9]]
    return {"clear": clear, "close": close, "all alike": np.tile(np.eye(5), (18, 1)), "equal": np.ones((90, 5))}


@pytest.mark.parametrize("name", pairs_of_points())
def test_single_precision_decides_no_diameter(name, monkeypatch):
    """It leaves out rows that are clearly not the farthest, and where too many remain, all are looked at."""
    X = pairs_of_points()[name]
    net = rm.Network.random(90, 5, 1, 1, seed=1)
    expected = rm.trace(net, X).log_diameter[0]
    monkeypatch.setattr("rankmath.attention.trace._MANY_TOKENS", 1)
    found = rm.trace(net, X).log_diameter[0]
    assert found == expected if name == "equal" else found == pytest.approx(expected, rel=1e-15, abs=1e-15)
    np.testing.assert_allclose(np.exp(found), rm.diameter(X), rtol=2e-15)
