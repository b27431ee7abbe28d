"""Layers in blocks of rows: the same numbers, within the memory that was asked for."""

import tracemalloc

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64

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


def test_a_batch_is_cut_along_its_rows_as_well():
    nets = [rm.Network.random(tokens=9, dim=4, heads=2, layers=2, seed=s) for s in range(6)]
    stack, X = rm.Network.stack(nets), np.stack([net.random_input(seed=7) for net in nets])
    for memory in (1, 24 * 9 * 6 * 2):
        np.testing.assert_allclose(rm.forward(stack, X, memory=memory), rm.forward(stack, X), rtol=1e-13)


@pytest.mark.parametrize("run", [rm.forward, rm.trace, rm.path_sums], ids=lambda f: f.__name__)
def test_no_more_than_the_budget_and_a_few_copies_of_the_tokens(run):
    n, d, budget = 1600, 4, 2**20
    net = rm.Network.random(tokens=n, dim=d, heads=2, seed=0)
    X = net.random_input(seed=1)
    run(net, X, memory=budget)
    tracemalloc.start()
    run(net, X, memory=budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < budget + 16 * X.nbytes < X.shape[0] ** 2 * 8 / 4


@pytest.mark.parametrize("memory", [0, -1, 1.5, "much", True])
@pytest.mark.parametrize("run", [rm.forward, rm.trace, rm.path_sums], ids=lambda f: f.__name__)
def test_memory_is_a_positive_integer(run, memory):
    net = rm.Network.random(tokens=3, dim=2, seed=0)
    with pytest.raises(ValueError, match=r"^memory: "):
        run(net, net.random_input(seed=1), memory=memory)


def test_work_that_is_less_further_down_is_cut_finely_enough_for_the_threads(monkeypatch):
    """The diameter of one large set of tokens, on any number of threads."""
    X = np.random.default_rng(0).standard_normal((700, 3))
    net = rm.Network.from_arrays(np.zeros((1, 1, 3, 3)), np.zeros((1, 1, 3, 3)))
    expected = np.log(np.sqrt(((X[:, None] - X) ** 2).sum(-1)).max())
    for threads in (1, 2, 3, 5):
        monkeypatch.setattr(Float64, "_threads", threads)
        assert rm.trace(net, X).log_diameter[0] == pytest.approx(expected, rel=1e-13)
