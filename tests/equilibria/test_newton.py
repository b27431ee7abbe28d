"""Newton's method from many starts at once: each start as if it were alone."""

import sys

import numpy as np
import pytest

import rankmath as rm
from rankmath.equilibria import constructions, cycles
from rankmath.equilibria import map as equilibrium_map
from rankmath.equilibria.map import layer, newton, newton_from, normalise


@pytest.mark.parametrize("norm", ["sphere", "standard"])
@pytest.mark.parametrize("batch", [1, 7 * 12**2, 10**6])
def test_many_starts_end_where_each_ends_alone(norm, batch, monkeypatch):
    held, slopes = [], equilibrium_map.jacobian

    def seen(X, *system):
        held.append(len(X))
        return slopes(X, *system)

    monkeypatch.setattr(equilibrium_map, "_BATCH", batch)
    monkeypatch.setattr(equilibrium_map, "jacobian", seen)
    rng = np.random.default_rng(0)
    W_V, W, weights = rng.standard_normal((4, 4)), rng.standard_normal((4, 4)), np.tril(np.ones((3, 3)))
    starts = normalise(rng.standard_normal((40, 3, 4)), norm)
    ends, settled = newton_from(starts, W_V, W, weights, norm, steps=9)
    assert max(held) == min(40, max(1, batch // 12**2))
    alone = [newton(start, W_V, W, weights, norm, steps=9) for start in starts]
    assert settled.tolist() == [X is not None for X in alone]
    assert 0 < settled.sum() < 40
    for end, X in zip(ends[settled], (X for X in alone if X is not None), strict=True):
        np.testing.assert_allclose(end, X, atol=1e-12)
        np.testing.assert_allclose(layer(X, W_V, W, weights, norm), X, atol=1e-13)


def test_a_singular_start_is_dropped_and_leaves_the_others():
    """A zero token has no direction; at W_V = I every token rests, and the slope is singular."""
    W_V, W, weights = np.diag([2.0, 1.0]), np.zeros((2, 2)), np.ones((1, 1))
    starts = np.array([[[1.0, 0.0]], [[0.0, 0.0]], [[0.6, 0.8]]])
    _, settled = newton_from(starts, W_V, W, weights, "sphere")
    assert settled.tolist() == [True, False, True]
    _, settled = newton_from(starts[:1], np.eye(2), W, weights, "sphere")
    assert settled.tolist() == [False]
    # Both in one batch: a matrix that LAPACK refuses does not take its neighbour along.
    slopes, columns = np.stack([np.eye(2), np.zeros((2, 2))]), np.ones((2, 2, 1))
    found = equilibrium_map._solutions(slopes, columns)
    assert found[0].ravel().tolist() == [1, 1]
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize(
    "search",
    [
        lambda: rm.find_equilibria(rm.layernorm_equilibrium(2, 2, 1), backend="cupy"),
        lambda: rm.layernorm_equilibrium(3, 3, 2, mask="complete", stable=True, backend="cupy"),
        lambda: rm.stable_cycle(2, backend="cupy"),
        lambda: rm.verify_statement("own:tv", backend="cupy"),
        lambda: rm.forward(rm.Network.random(2, 2), np.ones((2, 2)), backend="cupy"),
    ],
)
def test_a_gpu_that_is_not_there_is_said_to_be_missing(search, monkeypatch):
    class Nowhere:
        def find_spec(self, name, path=None, target=None):
            if name == "cupy":
                raise ImportError(name)

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Nowhere(), *sys.meta_path])
    with pytest.raises(ValueError, match=r"^backend: 'cupy' given, but CuPy is not installed; pip install"):
        search()


def test_an_unknown_backend_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^backend: 'torch' given"):
        rm.find_equilibria(rm.layernorm_equilibrium(2, 2, 1), backend="torch")


@pytest.mark.parametrize(
    ("module", "search"),
    [
        (constructions, lambda: rm.layernorm_equilibrium(6, 6, 6, mask="star", stable=True, backend="numpy")),
        (cycles, lambda: rm.stable_cycle(2, backend="numpy")),
    ],
)
def test_the_backend_reaches_the_search(module, search, monkeypatch):
    class Reached(Exception):
        pass

    def stable_search(*_, backend, **__):
        raise Reached(backend)

    monkeypatch.setattr(module, "stable_search", stable_search)
    with pytest.raises(Reached, match="numpy"):
        search()


def test_too_many_starts_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^starts: 1000000000000000000000000000000 given"):
        rm.find_equilibria(rm.layernorm_equilibrium(2, 2, 1), 10**30)
