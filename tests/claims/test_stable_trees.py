"""X = I attracts under every connected undirected mask: the construction over a tree of a depth-first search."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import arb, arb_mat

import rankmath as rm
from rankmath.arithmetic.balls import precision
from rankmath.equilibria.map import jacobian
from rankmath.equilibria.trees import search_tree, tree_gap, tree_jacobian, tree_logits
from rankmath.linalg.masks import Mask
from rankmath.verification.verdict import Outcome


def undirected(n, *edges):
    graph = np.eye(n, dtype=bool)
    for i, j in edges:
        graph[i, j] = graph[j, i] = True
    return Mask(graph)


@pytest.mark.parametrize("seed", range(8))
def test_edges_of_the_mask_join_ancestors_and_descendants(seed):
    rng = np.random.default_rng(seed)
    graph = np.eye(9, dtype=bool) | (rng.random((9, 9)) < 0.15) | np.eye(9, k=1, dtype=bool)
    order, parents = search_tree(Mask(graph | graph.T))
    lines = [set()]
    for p in parents[1:]:
        lines.append(lines[p] | {p})
    assert sorted(order) == list(range(9))
    seen = (graph | graph.T)[np.ix_(order, order)]
    assert all(seen[i, p] for i, p in enumerate(parents) if i)
    assert all(not seen[i, j] or i in lines[j] or j in lines[i] for i, j in combinations(range(9), 2))


MASKS = {
    "star": undirected(5, (0, 1), (0, 2), (0, 3), (0, 4)),
    "star whose leaf is the root": undirected(4, (0, 1), (1, 2), (1, 3)),
    "spider": undirected(5, (0, 1), (0, 2), (0, 3), (3, 4)),
    "a triangle and two leaves": undirected(5, (0, 1), (1, 2), (0, 2), (0, 3), (0, 4)),
    "path": Mask.window(3, 1),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_with_and_without_a_hamiltonian_path(name):
    assert tree_gap(MASKS[name], Fraction(1, 4)) is not None


def test_disconnected_and_directed_masks_are_outside_of_the_statement():
    apart = undirected(4, (0, 1), (2, 3)).allowed
    directed = Mask.causal(4).allowed
    for graph in (apart, directed):
        found = rm.verify("own:stable-connected", graph, 0.25)
        assert found.outcome == Outcome.NOT_APPLICABLE
    assert rm.verify("own:stable-connected", MASKS["star"].allowed, 0.25).outcome == Outcome.HOLDS


def test_the_jacobian_is_that_of_the_map():
    """The spectrum in units of A⁻¹ against the library's Jacobian in doubles, at mild logits of no design."""
    rng = np.random.default_rng(3)
    mask = MASKS["star whose leaf is the root"]
    n = mask.n
    M = rng.integers(-4, 5, (n, n)) / 4
    scales = [Fraction(3, 4) ** k for k in range(n)]
    with precision(128):
        balls = arb_mat(M.tolist())
        J = tree_jacobian(mask.allowed, balls, [arb(s.numerator) / s.denominator for s in scales])
        ours = np.array([[float(entry) for entry in row] for row in J.tolist()])
    shares = np.where(mask.allowed, np.exp(M - np.diag(M)[:, None]), 0)
    W_V = np.linalg.inv(shares) @ np.diag([float(s) for s in scales])
    theirs = jacobian(np.eye(n), W_V, M, mask.allowed.astype(float), "sphere")
    moduli = [np.sort(np.abs(np.linalg.eigvals(matrix)))[::-1] for matrix in (ours, theirs)]
    assert np.allclose(moduli[0], moduli[1][: n * n - n], atol=1e-9)
    assert np.allclose(moduli[1][n * n - n :], 0, atol=1e-6)


def test_without_attention_to_children_siblings_stand_in_each_others_way():
    """The directed star: the moduli of two eigenvalues multiply to one, whatever the weights (the last remark)."""
    rng = np.random.default_rng(5)
    graph = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]], dtype=float)
    for _ in range(20):
        M, scales = rng.standard_normal((3, 3)), rng.uniform(0.2, 2, 3)
        shares = np.where(graph > 0, np.exp(M - np.diag(M)[:, None]), 0)
        J = jacobian(np.eye(3), np.linalg.inv(shares) @ np.diag(scales), M, graph, "sphere")
        values = np.linalg.eigvals(J)
        quotient = scales[1] / scales[2]
        assert min(abs(values - quotient)) < 1e-9
        assert min(abs(values - 1 / quotient)) < 1e-9


def test_logits_of_the_star_in_the_large():
    """Eigenvalues tend to λ_b/λ_i as the gap grows: the spectral radius to 1/4."""
    mask = MASKS["star"]
    order, parents = search_tree(mask)
    with precision(3000):
        scales = [arb(1) / 4**k for k in range(5)]
        M = tree_logits(mask.allowed[np.ix_(order, order)], parents, scales, 30)
        J = tree_jacobian(mask.allowed[np.ix_(order, order)], M, scales)
        # Traces of powers are the power sums of the eigenvalues.
        powers = [J, J * J]
        traces = [sum((P[i, i] for i in range(P.nrows())), arb(0)) for P in powers]
    for k, trace in enumerate(traces, start=1):
        expected = sum(Fraction(1, 4) ** (k * (b - i)) for i in range(5) for b in range(i + 1, 5))
        assert abs(float(trace) - float(expected)) < 1e-9
