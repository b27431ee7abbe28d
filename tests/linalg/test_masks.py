"""Masks as graphs: the named radii, and centers, radius and connectivity against boolean matrix powers."""

from __future__ import annotations

import dataclasses
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankmath.linalg.masks import Mask, as_mask

SIZES = range(1, 12)


@st.composite
def masks(draw):
    n = draw(st.integers(1, 7))
    allowed = draw(arrays(np.bool_, (n, n), elements=st.sampled_from([True, False, False])))
    lonely = ~allowed.any(axis=1)
    allowed[lonely, draw(st.integers(0, n - 1))] = True
    return Mask(allowed)


def eccentricities(mask):
    """Steps until the news of each token has reached all, by powers of (I + A); inf if never."""
    n = mask.n
    step = mask.allowed | np.eye(n, dtype=bool)
    reached, answer = np.eye(n, dtype=bool), np.full(n, math.inf)
    for steps in range(n):
        answer = np.where(reached.all(axis=0), np.minimum(answer, steps), answer)
        reached = step @ reached
    return answer


@given(masks())
def test_centers_radius_and_connectivity_agree_with_matrix_powers(mask):
    ecc = eccentricities(mask)
    assert mask.centers == tuple(np.flatnonzero(np.isfinite(ecc)))
    assert mask.radius == ecc.min()
    assert mask.is_quasi_strongly_connected == bool(np.isfinite(ecc).any())
    assert mask.is_strongly_connected == bool(np.isfinite(ecc).all())


@given(masks())
def test_connectivity_agrees_with_networkx(mask):
    graph = nx.from_numpy_array(mask.allowed.T.astype(int), create_using=nx.DiGraph)
    assert mask.is_strongly_connected == nx.is_strongly_connected(graph)
    assert Mask.from_networkx(graph, self_loops=False) == mask


@pytest.mark.parametrize("n", SIZES)
def test_the_radii_of_the_named_masks(n):
    assert Mask.complete(n).radius == Mask.causal(n).radius == Mask.star(n).radius == min(1, n - 1)
    assert Mask.window(n, 1).radius == n // 2
    assert Mask.unidirectional_window(n).radius == n - 1
    for width in range(2, n + 2):
        assert Mask.causal_window(n, width).radius == math.ceil((n - 1) / (width - 1))
    for prefix in range(n + 1):
        assert Mask.prefix(n, prefix).radius == min(1, n - 1)


@pytest.mark.parametrize("n", SIZES)
def test_the_centers_of_the_named_masks(n):
    everyone = tuple(range(n))
    assert Mask.complete(n).centers == Mask.window(n, 1).centers == Mask.star(n, n - 1).centers == everyone
    assert Mask.causal(n).centers == Mask.unidirectional_window(n).centers == (0,)
    assert Mask.prefix(n, n // 2).centers == tuple(range(max(1, n // 2)))
    assert Mask.key_padding(n, np.arange(n) < 1).centers == (0,)


@pytest.mark.parametrize("n", range(4, 9))
def test_to_see_all_is_not_to_be_seen_by_all(n):
    """A path along which news travels n − 1 steps, whose last token sees everyone; and the same turned round."""
    allowed = Mask.unidirectional_window(n).allowed.copy()
    allowed[-1] = True
    seeing, seen = Mask(allowed), Mask(allowed.T)
    assert (seeing.radius, seeing.centers) == (n - 2, (0,))
    assert (seen.radius, seen.centers) == (1, (n - 1,))
    assert seeing.steps == n - 2
    assert seeing.seen_by_all is None
    assert np.array_equal(seen.seen_by_all, np.arange(n) == n - 1)
    assert seeing.common_support is None
    assert seen.common_support is None


def test_tokens_seen_by_all_and_supports_that_all_share():
    for mask, seen in ((Mask.causal(4), [0]), (Mask.star(4, 2), [2]), (Mask.complete(3), [0, 1, 2])):
        assert np.flatnonzero(mask.seen_by_all).tolist() == seen
    assert Mask.window(5, 1).seen_by_all is None
    for odd in range(3):  # one row that differs, wherever it stands
        allowed = np.ones((3, 3), dtype=bool)
        allowed[odd, 0] = False
        assert Mask(allowed).common_support is None
        assert not Mask(allowed).is_complete
        assert Mask(allowed).has_self_loops == (odd != 0)


def test_no_center_means_an_infinite_radius():
    isolated = Mask(np.eye(3, dtype=bool))
    assert isolated.centers == ()
    assert isolated.radius == math.inf
    assert not isolated.is_quasi_strongly_connected
    assert Mask.window(4, 0) == Mask(np.eye(4, dtype=bool))


@pytest.mark.parametrize("n", SIZES)
def test_who_sees_whom(n):
    pairs = [(i, j) for i in range(n) for j in range(n)]
    assert all(Mask.complete(n).allowed[i, j] for i, j in pairs)
    assert all(Mask.causal(n).allowed[i, j] == (j <= i) for i, j in pairs)
    assert all(Mask.unidirectional_window(n).allowed[i, j] == (i - j in (0, 1)) for i, j in pairs)
    hub = n // 2
    assert all(Mask.star(n, hub).allowed[i, j] == (i == j or hub in (i, j)) for i, j in pairs)
    for w in range(1, n + 2):
        assert all(Mask.window(n, w).allowed[i, j] == (abs(i - j) <= w) for i, j in pairs)
        assert all(Mask.causal_window(n, w).allowed[i, j] == (0 <= i - j < w) for i, j in pairs)
    for m in range(n + 1):
        assert all(Mask.prefix(n, m).allowed[i, j] == (j <= i or max(i, j) < m) for i, j in pairs)


def test_relations_between_the_named_masks():
    assert Mask.prefix(5, 0) == Mask.prefix(5, 1) == Mask.causal_window(5, 5) == Mask.causal(5)
    assert Mask.prefix(5, 5) == Mask.window(5, 4) == Mask.key_padding(5, [True] * 5) == Mask.complete(5)
    assert Mask.causal_window(5, 2) == Mask.unidirectional_window(5) != Mask.causal(5)
    assert len({Mask.causal(5), Mask.causal_window(5, 5), Mask.causal(4)}) == 2


def test_common_support():
    keep = np.array([True, False, True])
    padded = Mask.key_padding(3, keep)
    assert np.array_equal(padded.common_support, keep)
    assert Mask.complete(3).common_support.all()
    assert Mask.causal(3).common_support is None
    assert not padded.has_self_loops
    assert not padded.is_complete
    assert Mask.causal(3).has_self_loops
    assert Mask.complete(3).is_complete


def test_a_graph_edge_carries_news_from_source_to_target():
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    mask = Mask.from_networkx(graph)
    assert mask == Mask.unidirectional_window(3)
    assert Mask.from_networkx(nx.path_graph(5)) == Mask.window(5, 1)
    assert Mask.from_networkx(nx.star_graph(4)) == Mask.star(5)
    with pytest.raises(ValueError, match="row 0 has no True entry"):
        Mask.from_networkx(graph, self_loops=False)


def test_a_mask_cannot_be_changed_from_outside():
    matrix = np.eye(3, dtype=bool)
    mask = Mask.from_matrix(matrix)
    matrix[0, 1] = True
    assert not mask.allowed[0, 1]
    with pytest.raises(ValueError, match="read-only"):
        mask.allowed[0, 1] = True
    with pytest.raises(dataclasses.FrozenInstanceError):
        mask.allowed = matrix


def test_a_mask_with_a_number_is_named_as_in_claims_too():
    for name in ("window", "causal_window", "prefix", "star"):
        assert np.array_equal(as_mask(f"{name}(2)", 5).allowed, as_mask(f"{name}:2", 5).allowed)


@pytest.mark.parametrize(
    ("value", "mask"),
    [
        (None, Mask.complete(5)),
        ("complete", Mask.complete(5)),
        ("causal", Mask.causal(5)),
        ("unidirectional_window", Mask.unidirectional_window(5)),
        ("star", Mask.star(5)),
        ("star:2", Mask.star(5, 2)),
        ("window:2", Mask.window(5, 2)),
        ("causal_window:3", Mask.causal_window(5, 3)),
        ("prefix:2", Mask.prefix(5, 2)),
        (Mask.causal(5), Mask.causal(5)),
        (np.tri(5, dtype=bool), Mask.causal(5)),
        (np.tri(5, dtype=bool).tolist(), Mask.causal(5)),
        (nx.path_graph(5), Mask.window(5, 1)),
    ],
)
def test_as_mask_reads(value, mask):
    assert as_mask(value, 5) == mask


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Mask(np.ones((2, 3), dtype=bool)), r"allowed: shape \(2, 3\) given"),
        (lambda: Mask(np.ones((0, 0), dtype=bool)), r"allowed: shape \(0, 0\) given"),
        (lambda: Mask(np.ones(4, dtype=bool)), r"allowed: shape \(4,\) given"),
        (lambda: Mask(np.ones((2, 2))), "allowed: dtype float64 given"),
        (lambda: Mask([[True, False], [False, False]]), "allowed: row 1 has no True entry"),
        (lambda: Mask.from_matrix([[True], [True, False]]), "allowed: not a rectangular matrix"),
        (lambda: Mask.from_matrix([[1, 0], [0, 1]]), "allowed: dtype int64 given"),
        (lambda: Mask.from_networkx([[1]]), "graph: a list given"),
        (lambda: Mask.from_networkx(nx.Graph()), r"allowed: shape \(0, 0\) given"),
        (lambda: Mask.complete(0), "n: 0 given"),
        (lambda: Mask.causal(2.0), "n: 2.0 given"),
        (lambda: Mask.causal(True), "n: True given"),
        (lambda: Mask.window(3, -1), "width: -1 given"),
        (lambda: Mask.causal_window(3, 0), "width: 0 given"),
        (lambda: Mask.prefix(3, 4), "prefix: 4 given; .* at most 3"),
        (lambda: Mask.star(3, 3), "hub: 3 given; .* at most 2"),
        (lambda: as_mask("star:3", 3), "^mask: 'star:3' given for 3 tokens; .* at most 2 is needed as its hub$"),
        (
            lambda: as_mask("causal_window(0)", 3),
            r"^mask: 'causal_window\(0\)' given; .* at least 1 is needed as its width$",
        ),
        (lambda: Mask.key_padding(3, [True, False]), r"keep: dtype bool and shape \(2,\) given"),
        (lambda: Mask.key_padding(2, [1, 0]), "keep: dtype int64"),
        (lambda: Mask.key_padding(2, [False, False]), "keep: no True entry"),
        (lambda: as_mask("diagonal", 3), "mask: 'diagonal' given; allowed are 'complete', 'causal'"),
        (lambda: as_mask("window", 3), "mask: 'window' given; allowed are"),
        (lambda: as_mask("window:x", 3), "mask: 'window:x' given"),
        (lambda: as_mask("window:-1", 3), "mask: 'window:-1' given"),
        (lambda: as_mask("window:NUMBER", 3), "mask: 'window:NUMBER' given"),
        (lambda: as_mask("prefix:" + "9" * 5000, 3), "mask: 'prefix:999"),
        (lambda: as_mask("prefix:4", 3), "'prefix:4' given for 3 tokens; .* at most 3 is needed as its prefix"),
        (lambda: as_mask(Mask.causal(4), 3), "mask: a graph on 4 tokens given; it must have 3"),
        (lambda: as_mask(np.ones((2, 2), dtype=bool), 3), "mask: a graph on 2 tokens given"),
        (lambda: as_mask(nx.path_graph(2), 3), "mask: a graph on 2 tokens given"),
        (lambda: as_mask(3, 3), "mask: dtype int64 given"),
        (lambda: as_mask(np.ones((3, 2), dtype=bool), 3), r"mask: shape \(3, 2\) given"),
        (lambda: as_mask([[True, False], [False, False]], 2), "mask: row 1 has no True entry"),
        (lambda: as_mask(None, 0), "n: 0 given"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
