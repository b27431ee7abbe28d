"""What `certify_equilibrium` proves, and what it refuses."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.arithmetic.balls import precision
from rankmath.certificates.certificate import exact
from rankmath.equilibria import certify
from rankmath.equilibria.balls import BallMap, box, exact_matrix, is_positive_definite, middle_floats, spectral_norm
from rankmath.equilibria.certify import certify_equilibrium
from rankmath.equilibria.constructions import all_ranks, layernorm_equilibrium, sibling
from rankmath.equilibria.designs import causal_design, path_design
from rankmath.equilibria.map import jacobian, layer
from rankmath.equilibria.proofs import growing_forms, preserved_support
from rankmath.equilibria.search import cluster_weights
from rankmath.equilibria.wu2024 import two_token_example
from rankmath.printing import power_of_two

NORMS = ["sphere", "standard"]


def system(seed, n, d):
    rng = np.random.default_rng(seed)
    X, U = rng.standard_normal((2, n, d))
    W_V, W = rng.standard_normal((2, d, d))
    weights = np.tril(rng.integers(1, 4, (n, n)))
    return X, U, W_V, W, weights


def claims(proof):
    return {claim.name: claim.proved for claim in proof.claims}


@pytest.fixture(scope="module", params=[2, 3, 4])
def attracting(request):
    n = request.param
    return layernorm_equilibrium(n, n, n, mask="complete", stable=True)


@pytest.fixture(scope="module")
def pair():
    return layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)


# -- the map: formula, complex step and balls agree


@pytest.mark.parametrize("norm", NORMS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 4), d=st.integers(3, 5))
@settings(max_examples=25)
def test_jacobian_is_the_derivative_of_the_layer(norm, seed, n, d):
    X, U, W_V, W, weights = system(seed, n, d)
    J = jacobian(X, W_V, W, weights, norm)
    step = layer(X + 1e-30j * U, W_V, W, weights, norm).imag * 1e30
    assert np.allclose(J @ U.ravel(), step.ravel(), rtol=1e-10, atol=1e-10 * np.abs(J).max())


@pytest.mark.parametrize("norm", NORMS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3), d=st.integers(3, 4))
@settings(max_examples=10)
def test_balls_contain_the_map_and_its_derivative_on_a_box(norm, seed, n, d):
    X, _, W_V, W, weights = system(seed, n, d)
    inside = X + 1e-3 * np.random.default_rng(seed).uniform(-1, 1, X.shape)
    with precision(80):
        F = BallMap(exact_matrix(W_V), exact_matrix(W), weights.tolist(), norm)
        wide = box(exact_matrix(X), [arb(0.001)] * X.size)
        # At an exact point the balls are the truth to 20 digits: they must lie in those of the box.
        point = exact_matrix(inside)
        for tight, loose in [(F.layer(point), F.layer(wide)), (F.jacobian(point), F.jacobian(wide))]:
            assert all(big.contains(small) for big, small in zip(loose.entries(), tight.entries(), strict=True))
        assert np.allclose(middle_floats(F.layer(point)), layer(inside, W_V, W, weights, norm), atol=1e-9)
        J = jacobian(inside, W_V, W, weights, norm)
        assert np.allclose(middle_floats(F.jacobian(point)), J, atol=1e-9 * np.abs(J).max())


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 5), columns=st.integers(1, 5))
@settings(max_examples=25)
def test_spectral_norm_bounds_every_matrix_of_the_box(seed, rows, columns):
    rng = np.random.default_rng(seed)
    centre, radii = rng.standard_normal((rows, columns)), rng.uniform(0, 0.1, (rows, columns))
    with precision(80):
        bound = float(spectral_norm(box(exact_matrix(centre), [arb(r) for r in radii.ravel()])))
    worst = centre + radii * rng.choice([-1, 1], (rows, columns))
    assert np.linalg.norm(worst, 2) <= bound
    assert bound <= np.linalg.norm(centre, 2) + np.linalg.norm(radii, 1) + np.linalg.norm(radii, np.inf) + 1e-6


def test_positive_definiteness_is_never_decided_by_rounding():
    with precision(80):
        assert is_positive_definite(exact_matrix(np.array([[2.0, 1.0], [1.0, 2.0]])))
        assert not is_positive_definite(exact_matrix(np.array([[1.0, 2.0], [2.0, 1.0]])))
        assert not is_positive_definite(exact_matrix(np.array([[1.0, 1.0], [1.0, 1.0]])))


def test_preserved_support_is_preserved():
    rng = np.random.default_rng(0)
    for _ in range(50):
        W_V = rng.standard_normal((4, 4)) * (rng.random((4, 4)) < 0.4) + np.eye(4)
        weights = np.tril(np.ones((3, 3), dtype=int))
        support = preserved_support(rng.random((3, 4)) < 0.3, W_V, weights)
        support[:, 0] = support[:, 0] | ~support.any(axis=1)
        support = preserved_support(support, W_V, weights)
        X = np.where(support, rng.standard_normal((3, 4)), 0.0)
        image = layer(X, W_V, np.zeros((4, 4)), weights, "sphere")
        assert (image[~support] == 0).all()


# -- O6: stable equilibria under the complete mask


def test_stable_full_rank_under_the_complete_mask_is_proved(attracting):
    n = attracting.rank
    proof = attracting.certify()
    assert claims(proof) == {"existence": True, "rank": True, "stability": True}
    assert proof.rank == n
    assert attracting.spectral_radius <= 0.9
    assert np.linalg.svd(attracting.X, compute_uv=False)[-1] >= 0.3
    assert proof.attraction.ball > 1e-6


def test_a_thousand_starts_in_the_proved_ball_converge(attracting):
    proof = attracting.certify()
    rng = np.random.default_rng(1)
    directions = rng.standard_normal((1000, *attracting.X.shape))
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    # Half of them on the boundary of the ball.
    radii = proof.attraction.ball * np.where(np.arange(1000) % 2, 1.0, rng.random(1000))
    starts = proof.X + radii[:, None, None] * directions
    assert proof.attraction.rate < 1
    away = (np.abs(X - proof.X).max() for X in attracting.iterate(starts, 600))
    assert any(distance < 1e-12 for distance in away)


def test_the_contraction_rate_holds_along_orbits(pair):
    proof = pair.certify()
    S = np.array(proof.attraction.S, dtype=float)
    rng = np.random.default_rng(2)
    X = proof.X + proof.attraction.ball / 4 * rng.uniform(-1, 1, (200, 2, 2))
    for before, after in zip(pair.iterate(X, 5), list(pair.iterate(X, 6))[1:], strict=True):
        sizes = [np.linalg.norm((Z - proof.X).reshape(-1, 4) @ S.T, axis=1) for Z in (before, after)]
        assert (sizes[1] <= float(proof.attraction.rate) * sizes[0] + 1e-15).all()


def test_every_rank_under_the_weights_of_a_stable_one():
    top = layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    for rank in (1, 2):
        lower = sibling(top, rank)
        assert np.array_equal(lower.W_V, top.W_V)
        assert np.array_equal(lower.W_QK, top.W_QK)
        proof = lower.certify()
        assert proof.proved, str(proof)
        assert proof.rank == rank


def test_minus_the_values_make_a_stable_cycle_of_two(pair):
    # F is odd and W_V ↦ −W_V flips its sign: X, −X, X, …
    flipped = replace(pair, W_V=-pair.W_V)
    rng = np.random.default_rng(0)
    states = list(flipped.iterate(pair.X + 1e-4 * rng.standard_normal(pair.X.shape), 201))
    assert np.allclose(states[200], pair.X, atol=1e-13)
    assert np.allclose(states[201], -pair.X, atol=1e-13)


# -- given from outside


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_arrays_accurate_to_a_trillionth_are_certified(pair, seed):
    noise = 1e-12 * np.random.default_rng(seed).uniform(-1, 1, pair.X.shape)
    proof = certify_equilibrium(pair.X + noise, pair.W_V, pair.W_QK, "complete", rank=2, stable=True)
    assert proof.proved, str(proof)


def outside_layer(X, W_V, W_QK, allowed, norm):
    """The definition, written apart from the library."""
    E = np.where(allowed, np.exp(X @ W_QK @ X.T), 0.0)
    Y = E / E.sum(axis=1, keepdims=True) @ X @ W_V
    if norm == "standard":
        return np.array([(y - y.mean()) / y.std() for y in Y])
    return np.array([y / np.sqrt(y @ y) for y in Y])


def found_outside(seed, norm):
    """An equilibrium of random weights under a random mask, by scipy's fsolve, and the spectral radius there."""
    rng = np.random.default_rng(seed)
    while True:
        n, d = rng.integers(1, 6), rng.integers(2, 6)
        allowed = (rng.random((n, n)) < rng.uniform(0.3, 1.3)) | np.eye(n, dtype=bool)
        W_V, W_QK = rng.standard_normal((d, d)), rng.choice([0.3, 1.0, 2.0]) * rng.standard_normal((d, d))
        weights = W_V, W_QK, allowed, norm

        def gap(x, shape=(n, d), weights=weights):
            X = x.reshape(shape)
            # The solver may wander to where the exponentials overflow; it comes back, or is not used.
            with np.errstate(all="ignore"):
                return (outside_layer(X, *weights) - X).ravel()

        start = outside_layer(rng.standard_normal((n, d)), *weights)
        x, _, solved, _ = scipy.optimize.fsolve(gap, start.ravel(), full_output=True, xtol=1e-14)
        if solved == 1 and np.abs(gap(x)).max() < 1e-13:
            steps = 1e-6 * np.eye(n * d)
            slope = np.array([(gap(x + h) - gap(x - h)) / 2e-6 for h in steps]).T + np.eye(n * d)
            eigenvalues = np.linalg.eigvals(slope)
            radius = np.abs(eigenvalues).max()
            if np.abs(eigenvalues - 1).min() > 1e-2 and abs(radius - 1) > 1e-2:
                return x.reshape(n, d), W_V, W_QK, allowed, radius


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(3))
def test_equilibria_that_others_found_are_certified_and_near_misses_refused(seed, norm):
    X, W_V, W_QK, allowed, radius = found_outside(seed, norm)
    rng = np.random.default_rng(seed)
    X = X + 1e-12 * rng.uniform(-1, 1, X.shape)
    rank = int((np.linalg.svd(X, compute_uv=False) > 1e-7).sum())
    given = {"W_V": W_V, "W_QK": W_QK, "mask": allowed, "norm": norm}
    proof = certify_equilibrium(X, **given, rank=rank, stable=bool(radius < 1))
    assert proof.proved, str(proof)
    assert proof.rank == rank
    wrong = certify_equilibrium(X, **given, stable=bool(radius > 1))
    assert [claim.name for claim in wrong.refused] == ["stability" if radius > 1 else "instability"]
    beyond = certify_equilibrium(X, **given, rank=rank + 1)
    assert [claim.name for claim in beyond.refused] == ["rank"]
    X[rng.integers(len(X)), rng.integers(len(W_V))] += 1e-6
    assert [claim.name for claim in certify_equilibrium(X, **given).refused] == ["existence"]


def test_antipodal_tokens_on_an_eigenvector_have_rank_one():
    # v W_V = 2v; the tokens v, v, −v attend to themselves, and nothing but the invariant line shows rank one.
    rng = np.random.default_rng(4)
    frame = rng.standard_normal((3, 3))
    W_V = np.linalg.inv(frame) @ np.diag([2.0, 1.0, -0.5]) @ frame
    v = frame[0] / np.linalg.norm(frame[0])
    X = np.array([v, v, -v])
    proof = certify_equilibrium(X, W_V, 6 * np.eye(3), "causal", rank=1)
    assert proof.proved, str(proof)
    assert proof.rank == 1


@pytest.mark.parametrize("where", [(0, 0), (1, 1)])
def test_an_entry_off_by_a_millionth_is_refused(pair, where):
    X = pair.X.copy()
    X[where] += 1e-6
    proof = certify_equilibrium(X, pair.W_V, pair.W_QK, "complete", rank=2, stable=True)
    assert not proof.proved
    assert proof.existence is None
    assert [claim.name for claim in proof.refused] == ["existence"]
    assert "away, more than the tolerance" in proof.refused[0].reason


def test_weights_off_by_a_millionth_are_refused(pair):
    W_V = pair.W_V.copy()
    W_V[0, 1] += 1e-6
    proof = certify_equilibrium(pair.X, W_V, pair.W_QK, "complete")
    assert [claim.name for claim in proof.refused] == ["existence"]


def test_no_equilibrium_near_random_tokens():
    X, _, W_V, W, _ = system(5, 3, 3)
    proof = certify_equilibrium(X / np.linalg.norm(X, axis=1, keepdims=True), W_V, W, "complete")
    assert [claim.name for claim in proof.refused] == ["existence"]
    with pytest.raises(ValueError, match="no equilibrium is proved"):
        _ = proof.X


def test_a_rank_one_too_high_or_too_low_is_refused():
    clustered = layernorm_equilibrium(3, 3, 2, mask="complete")
    for rank, word in [(3, "at most 2"), (1, "order 2 is not zero")]:
        proof = certify_equilibrium(clustered.X, clustered.W_V, clustered.W_QK, "complete", rank=rank)
        assert claims(proof) == {"existence": True, "rank": False}
        assert word in proof.refused[0].reason
    assert clustered.certify().rank == 2


def test_a_rank_bound_that_is_not_proved_is_refused():
    # Full-rank tokens of rank 3 in 3 dimensions: nothing shows rank at most 2.
    full = layernorm_equilibrium(3, 3, 3, mask="complete")
    proof = certify_equilibrium(full.X, full.W_V, full.W_QK, "complete", rank=2)
    assert claims(proof) == {"existence": True, "rank": False}


def test_stability_of_an_unstable_one_is_refused_and_its_instability_proved():
    example = two_token_example(Fraction(5, 3))
    X = [[0, 1], [float(v) for v in example.unstable.x]]
    W_V = [[1, 5 / 3], [0, 1]]
    proof = certify_equilibrium(X, W_V, np.zeros((2, 2)), "causal", rank=2, stable=True)
    assert claims(proof) == {"existence": True, "rank": True, "stability": False}
    proof = certify_equilibrium(X, W_V, np.zeros((2, 2)), "causal", rank=2, stable=False)
    assert proof.proved
    # The eigenvalues are 9/5 and 1.
    assert 1 < proof.escape.growth < Fraction(9, 5)


def test_complex_eigenvalues_outside_the_circle_are_seen():
    found = next(
        equilibrium
        for equilibrium in (layernorm_equilibrium(3, 3, 3, mask="complete", seed=seed) for seed in range(50))
        if abs(max(spectrum_of(equilibrium), key=abs).imag) > 0.1
    )
    proof = found.certify(stable=False)
    assert proof.proved, str(proof)
    assert 1 < proof.escape.growth < max(abs(spectrum_of(found)))


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 6))
@settings(max_examples=25)
def test_a_growing_form_grows(seed, size):
    J = np.random.default_rng(seed).standard_normal((size, size))
    J *= 2 / np.abs(np.linalg.eigvals(J)).max()
    s, P = growing_forms(J, 2.0)[0]
    assert 1 <= s < 2
    assert np.array_equal(P, P.T)
    assert np.linalg.eigvalsh(P).max() > 0
    assert np.linalg.eigvalsh(J.T @ P @ J - float(s) ** 2 * P).min() > 0.5


def test_growth_needs_no_simple_eigenvalue():
    # Two tokens that see only themselves, at rest between the eigenvectors of diag(1, 2): the eigenvalue 2 twice.
    proof = certify_equilibrium(np.eye(2)[[0, 0]], np.diag([1.0, 2.0]), np.zeros((2, 2)), np.eye(2, dtype=bool))
    unstable = certify_equilibrium(
        np.eye(2)[[0, 0]], np.diag([1.0, 2.0]), np.zeros((2, 2)), np.eye(2, dtype=bool), stable=False
    )
    assert proof.proved
    assert unstable.proved
    assert 1 <= unstable.escape.growth < 2


def spectrum_of(equilibrium):
    weights = equilibrium.mask.allowed.astype(float)
    return np.linalg.eigvals(jacobian(equilibrium.X, equilibrium.W_V, equilibrium.W_QK, weights, equilibrium.norm))


def test_instability_of_a_stable_one_is_refused(pair):
    proof = pair.certify(stable=False)
    assert claims(proof) == {"existence": True, "rank": True, "instability": False}


def test_neither_is_claimed_of_a_token_with_eigenvalue_one():
    proof = all_ranks(2, 2, w=4)[1].certify()
    assert claims(proof) == {"existence": True, "rank": True}
    assert "1 to six digits" in proof.undecided


# -- W3


def test_all_ranks_of_six_tokens_in_five_dimensions_are_proved():
    family = all_ranks(6, 5)
    assert [e.rank for e in family] == [1, 2, 3, 4, 5]
    assert all(np.array_equal(e.W_V, family[0].W_V) for e in family)
    for equilibrium in family:
        proof = equilibrium.certify()
        assert proof.proved, str(proof)
        assert proof.rank == equilibrium.rank


def test_sixteen_tokens_are_proved_of_rank_sixteen():
    top = all_ranks(16, 16, w=17)[-1]
    assert np.linalg.matrix_rank(top.X) < 16
    proof = certify_equilibrium(top.X, top.W_V, top.W_QK, "causal", rank=16)
    assert proof.proved, str(proof)
    assert np.isclose(proof.minor.least, 17.0**-120, rtol=1e-6)


@pytest.mark.slow
def test_what_is_not_decided_about_sixteen_tokens_is_said_and_not_claimed():
    proof = all_ranks(16, 16, w=17)[-1].certify()
    assert proof.proved
    assert claims(proof) == {"existence": True, "rank": True}
    assert proof.undecided.startswith("stable or unstable; ")
    assert "undecided: stable or unstable" in str(proof)


def test_a_row_of_dust_does_not_hide_the_zeros():
    top = all_ranks(3, 3)[-1]
    X = top.X.copy()
    X[0, 0] = 1e-17
    assert certify_equilibrium(X, top.W_V, top.W_QK, "causal", rank=3).proved


# -- scale of the logits, certificates, refusals


def test_d_qk_divides_the_logits(pair):
    proof = certify_equilibrium(pair.X, pair.W_V, 2 * pair.W_QK, "complete", d_qk=4, rank=2, stable=True)
    assert proof.proved
    assert not certify_equilibrium(pair.X, pair.W_V, pair.W_QK, "complete", d_qk=4, rank=2).proved


def test_the_certificate_holds_exact_numbers_only(pair):
    proof = pair.certify()
    certificate = proof.certificate()
    assert certificate.kind == "exists"
    # One number: what the proof says of the attracting set is what the certificate claims.
    assert certificate.data["attracting"] == {
        name: exact(getattr(proof.attraction, name)) for name in ("R", "radius", "rate")
    }
    assert certificate.id == proof.certificate().id
    with pytest.raises(ValueError, match="rank: REFUSED"):
        certify_equilibrium(pair.X, pair.W_V, pair.W_QK, "complete", rank=1).certificate()


def test_clusters_must_be_seen_alike():
    with pytest.raises(ValueError, match=r"^clusters: "):
        cluster_weights(np.tril(np.ones((3, 3))), [0, 1, 1])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"X": [[np.nan, 0], [0, 1]]}, "X"),
        ({"X": [1, 2]}, "X"),
        ({"W_V": np.eye(3)}, "W_V"),
        ({"W_QK": [["a", "b"], ["c", "d"]]}, "W_QK"),
        ({"mask": "diagonal"}, "mask"),
        ({"mask": np.ones((3, 3), dtype=bool)}, "mask"),
        ({"d_qk": 0}, "d_qk"),
        ({"norm": "batch"}, "norm"),
        ({"rank": 0}, "rank"),
        ({"stable": 1}, "stable"),
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"tolerance": "small"}, "tolerance"),
        ({"X": [[1.0, 0.0], [1.0]]}, "X"),
        ({"X": np.ones((2, 2), dtype=complex)}, "X"),
        ({"X": np.zeros((0, 2))}, "X"),
        ({"W_V": np.full((2, 2), np.inf)}, "W_V"),
        ({"W_QK": None}, "W_QK"),
        ({"mask": [[1, 0], [1]]}, "mask"),
        ({"d_qk": 2.0}, "d_qk"),
        ({"d_qk": True}, "d_qk"),
        ({"rank": 2.0}, "rank"),
        ({"rank": True}, "rank"),
        ({"stable": "yes"}, "stable"),
        ({"norm": np.nan}, "norm"),
    ],
)
def test_bad_input_is_named(pair, change, name):
    arguments = {"X": pair.X, "W_V": pair.W_V, "W_QK": pair.W_QK, "mask": "complete", **change}
    with pytest.raises(ValueError, match=rf"^{name}: "):
        certify_equilibrium(**arguments)


@pytest.mark.parametrize(
    ("X", "W_V", "mask"),
    [
        ([[0.0]], [[1.0]], "complete"),
        (np.zeros((2, 2)), np.eye(2), "complete"),
        ([[1e-13, 0.0], [0.0, 1e-13]], [[1.0, 2.0], [3.0, 4.0]], "causal"),
        # The first token rests; the second sees itself alone and has no direction.
        ([[1.0, 0.0], [0.0, 0.0]], np.diag([1.0, 2.0]), np.eye(2, dtype=bool)),
    ],
)
def test_a_zero_token_is_no_equilibrium(X, W_V, mask):
    proof = certify_equilibrium(X, W_V, np.zeros_like(W_V), mask, stable=True)
    assert [claim.name for claim in proof.refused] == ["existence"]
    assert "zero" in proof.refused[0].reason


def test_where_the_checker_does_not_follow_the_equilibrium_is_enclosed_more_closely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stable = layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    arrays = (stable.X, stable.W_V, stable.W_QK, "complete")
    first = certify_equilibrium(*arrays, rank=3, stable=True)
    agreed, tries = certify._agreed, iter([True])
    monkeypatch.setattr(certify, "_agreed", lambda *a: None if next(tries, False) else agreed(*a))
    closer = certify_equilibrium(*arrays, rank=3, stable=True)
    assert first.existence is not None
    assert closer.existence is not None
    assert closer.existence.bits > first.existence.bits
    assert closer.existence.radius < first.existence.radius
    assert f"within {power_of_two(closer.existence.radius)} " in str(closer.claims[0])
    assert closer.certificate("own:stable-complete").check().accepted


def test_the_checker_changes_how_large_a_set_attracts_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    stable = layernorm_equilibrium(3, 3, 3, mask="complete", stable=True)
    arrays = (stable.X, stable.W_V, stable.W_QK, "complete")
    asked = certify_equilibrium(*arrays, stable=True)
    monkeypatch.setattr(certify, "_agreed", None)  # to ask it would be an error
    alone = certify_equilibrium(*arrays, stable=True, checked=False)
    assert asked.proved
    assert alone.proved
    assert alone.rank == asked.rank == 3
    assert alone.claims[:2] == asked.claims[:2]
    assert alone.attraction is not None
    assert asked.attraction is not None
    assert alone.attraction.radius >= asked.attraction.radius > 0


def test_a_jacobian_far_from_normal_is_seen_through_in_any_basis() -> None:
    """Theorem A for three tokens, rotated: no entry of the Jacobian is zero, and its norm is large."""
    made = causal_design(3, Fraction(1, 2))
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    W_V, W_QK = Q.T @ made.W_V @ Q, Q.T @ made.W_QK @ Q
    proof = certify_equilibrium(made.X @ Q, W_V, W_QK, "causal", rank=3, stable=True)
    assert proof.proved
    assert proof.attraction.ball > 1e-9
    X = proof.X + proof.attraction.ball / 2 * rng.uniform(-1, 1, (3, 3)) / 3
    for _ in range(80):
        X = layer(X, W_V, W_QK, np.tril(np.ones((3, 3))), "sphere")
    assert np.abs(X - proof.X).max() < 1e-13


@pytest.mark.parametrize("n", [3, 9])
def test_a_closed_form_given_as_plain_arrays_is_recognised(n: int) -> None:
    """Tokens and coordinates in another order, signs changed, entries off by 10⁻¹³: proved and certified."""
    made = path_design(n)
    rng = np.random.default_rng(n)
    basis = np.diag(rng.choice([-1.0, 1.0], n))[:, rng.permutation(n)]
    X = (made.X @ basis)[rng.permutation(n)] + 1e-13
    arrays = (X, basis.T @ made.W_V @ basis, basis.T @ made.W_QK @ basis, "complete")
    proof = certify_equilibrium(*arrays, rank=n, stable=True)
    assert proof.proved
    assert proof.certificate().check().accepted
    if n > 3:
        return
    assert not certify_equilibrium(*arrays, rank=n - 1, stable=True).proved
    # The largest scale factor on the last token: it is its predecessors' scale that must be larger.
    wrong = made.W_V.copy()
    wrong[:, -1] *= 2.0 ** (n + 1)
    assert not certify_equilibrium(made.X, wrong, made.W_QK, "complete", stable=True).proved


def test_what_is_said_of_a_ball_and_its_rate_is_no_more_than_what_is_proved() -> None:
    proof = layernorm_equilibrium(2, 2, 2, mask="complete", stable=True).certify(stable=True)
    assert proof.attraction is not None
    ball, rate = re.findall(r"(?:within|shrinks by) (\S+)", str(proof.claims[-1]))
    assert 0.99 * proof.attraction.ball < float(ball) <= proof.attraction.ball
    assert proof.attraction.rate <= Fraction(rate) < proof.attraction.rate + Fraction(1, 10**5)
    assert Fraction(rate) != proof.attraction.rate  # rounding to nearest would fall below it
