"""Closed forms: they rest, their limits are triangular, the gaps are what the proof says, replay returns home."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankmath as rm
from rankmath.certificates.issue import NotIssued
from rankmath.checker.checker import check_text
from rankmath.equilibria.certify import certify_design
from rankmath.equilibria.contraction import NotContracting, log10, prove_contraction
from rankmath.equilibria.designs import (
    Design,
    causal_design,
    hamiltonian_order,
    path_design,
    path_weights,
    rank_two_design,
    scale_factors,
    sharp_gap,
    stable_design,
)
from rankmath.equilibria.map import jacobian, layer
from rankmath.equilibria.rational import Polynomial, resting_polynomial
from rankmath.linalg.masks import Mask, as_mask

GRID = np.kron(np.eye(2), np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])) + np.eye(6, k=3) + np.eye(6, k=-3) > 0


def designs() -> list[Design]:
    return [
        causal_design(4),
        causal_design(5, Fraction(3, 4)),
        path_design(4),
        path_design(5, rank=2),
        path_design(5, rank=4, mask="causal"),
        rank_two_design(6),
        stable_design(as_mask("window:1", 5), 7, 5),
    ]


@pytest.mark.parametrize("design", designs(), ids=lambda d: f"{d.X.shape}-{d.rank}")
def test_the_limit_is_the_map_up_to_its_sharpness(design):
    n, d = design.X.shape
    mask = design.mask.allowed.astype(float)
    assert np.abs(layer(design.X, design.W_V, design.W_QK, mask, "sphere") - design.X).max() < 1e-14
    true = jacobian(design.X, design.W_V, design.W_QK, mask, "sphere")
    limit = np.vstack([design.slopes(i) for i in range(n)])
    assert np.abs(true - limit).max() < 1e-12
    # Lower triangular, group by group.
    places = [p for group in design.order for p in group]
    assert sorted(places) == list(range(n * d))
    start = 0
    for group in design.order:
        later = places[start + len(group) :]
        assert np.abs(limit[np.ix_(group, later)]).max(initial=0) == 0
        start += len(group)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(1, 200), st.integers(1, 12))
def test_the_logits_have_the_gap_that_the_proof_claims(n, gap, rank):
    _, M = path_weights(n, gap)
    k = min(rank, n)
    X = np.eye(n)
    X[k:] = -X[0]
    logits = X @ M @ X.T
    attended = path_design(n, gap, rank=k).attended > 0
    for row, near in zip(logits, attended, strict=True):
        assert len(set(row[near].tolist())) == 1
        assert (row[~near] <= row[near].max() - gap).all()
    assert np.abs(M).max() <= 2 * gap + 2 * n


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=5, unique=True))
def test_theorem_a_by_the_characteristic_polynomial(numbers):
    mu = [Fraction(x) for x in sorted(numbers, reverse=True)]
    n = len(mu)
    W_V = [[mu[i] if a == i else -mu[a] if a == i - 1 else Fraction(0) for a in range(n)] for i in range(n)]
    M = [[int(j > i) for j in range(n)] for i in range(n)]
    eye = np.eye(n, dtype=int).tolist()
    found = resting_polynomial(eye, W_V, M, Mask.causal(n).allowed.tolist())
    roots = [mu[k] / mu[i] for i in range(n) for k in range(i + 1, n)]
    zeros = [Fraction(0)] * (n * n - len(roots))
    assert found == Polynomial.with_roots([*roots, *zeros])
    assert found != Polynomial.with_roots([roots[0] + Fraction(1, 10**6), *roots[1:], *zeros])
    M[0][1] = 2
    assert resting_polynomial(eye, W_V, M, Mask.causal(n).allowed.tolist()) != found


def test_a_path_mask_is_exact():
    """Where every token sees nothing but itself and its predecessor, the limit is the map."""
    n = 4
    mask = Mask(np.eye(n, dtype=bool) | np.eye(n, k=-1, dtype=bool))
    design = path_design(n, 5, mask=mask)
    rows = [[Fraction(float(x)) for x in row] for row in design.W_V]
    logits = [[Fraction(float(x)) for x in row] for row in design.W_QK]
    found = resting_polynomial(np.eye(n, dtype=int).tolist(), rows, logits, mask.allowed.tolist())
    values = [Fraction(float(x)) for x in design.spectrum.ravel()]
    assert found == Polynomial.with_roots(values)


@pytest.mark.parametrize("design", designs(), ids=lambda d: f"{d.X.shape}-{d.rank}")
def test_starts_inside_the_proved_ball_come_home_at_the_proved_rate(design):
    """An iteration by mpmath, written from the definition: distances to the limit shrink in the weighted norm."""
    proof = prove_contraction(design)
    n, d = design.X.shape
    rng = np.random.default_rng(0)
    with mpmath.workdps(int(-log10(proof.size)) + 60):
        W, M = mpmath.matrix(design.W_V.tolist()), mpmath.matrix(design.W_QK.tolist())
        signs = rng.choice([-1, 1], (n, d))
        radius = mpmath.mpf(proof.radius.numerator) / proof.radius.denominator
        X = mpmath.matrix(design.X.tolist()) + radius * mpmath.matrix(signs.tolist())
        home = mpmath.matrix(design.X.tolist())
        for _ in range(40):
            home = _replayed(home, W, M, design.mask)
        weights = mpmath.matrix([[mpmath.mpf(w.numerator) / w.denominator for w in row] for row in proof.weights])
        before = None
        for _ in range(12):
            X = _replayed(X, W, M, design.mask)
            gap = max(abs(X[i, a] - home[i, a]) / weights[i, a] for i in range(n) for a in range(d))
            assert before is None or gap <= mpmath.mpf(float(proof.rate)) * before * (1 + mpmath.mpf(2) ** -40)
            before = gap
        assert before < radius


def _replayed(X, W, M, mask):
    logits, values = X * M * X.T, X * W
    rows = []
    for i in range(X.rows):
        seen = np.flatnonzero(mask.allowed[i]).tolist()
        powers = [mpmath.exp(logits[i, j] - logits[i, i]) for j in seen]
        y = [sum(p * values[j, b] for p, j in zip(powers, seen, strict=True)) for b in range(X.cols)]
        length = mpmath.sqrt(sum(t * t for t in y))
        rows.append([t / length for t in y])
    return mpmath.matrix(rows)


def test_one_weight_pair_attracts_at_every_rank():
    for mask in ("complete", "causal"):
        family = rm.stable_ranks(4, mask)
        assert [one.certify().rank for one in family] == [1, 2, 3, 4]
        assert all((one.W_V == family[0].W_V).all() and (one.W_QK == family[0].W_QK).all() for one in family)
        assert all(one.certify().proved for one in family)


@pytest.mark.parametrize("mask", [as_mask("window:1", 5), Mask(GRID), as_mask("causal", 5), as_mask("complete", 5)])
def test_masks_with_a_hamiltonian_path_whatever_the_names_of_the_tokens(mask):
    rng = np.random.default_rng(1)
    names = rng.permutation(mask.n)
    renamed = Mask(mask.allowed[np.ix_(names, names)])
    order = hamiltonian_order(renamed)
    assert all(renamed.allowed[later, earlier] for earlier, later in pairwise(order))
    found = rm.layernorm_equilibrium(mask.n, mask.n, mask.n, renamed, True, radius=0.5)
    assert found.certify().rank == mask.n


def test_the_radius_asked_for_is_the_radius_proved():
    for radius in (0.05, 0.3, 0.75):
        proof = rm.layernorm_equilibrium(3, 3, 3, "complete", True, radius=radius).certify()
        values = [value for row in proof.contraction.spectrum.values for value in row]
        assert abs(float(max(values)) - radius) < 1e-6
        assert proof.contraction.spectrum.within < 1e-7


def test_what_the_theorems_need_is_needed():
    with pytest.raises(rm.InvalidArgument, match=r"^radius: 1\.5 given"):
        rm.layernorm_equilibrium(3, 3, 3, "complete", True, radius=1.5)
    with pytest.raises(rm.InvalidArgument, match=r"^radius: 0\.5 given; a number"):
        rm.layernorm_equilibrium(3, 3, 3, "complete", radius=0.5)
    with pytest.raises(rm.InvalidArgument, match="Hamiltonian"):
        rm.layernorm_equilibrium(5, 5, 5, "star", True, radius=0.5)
    with pytest.raises(rm.InvalidArgument, match=r"^mask: "):
        path_design(3, mask=Mask(np.eye(3, dtype=bool)))
    with pytest.raises(rm.InvalidArgument, match=r"^ratio: "):
        scale_factors(3, 1)
    # Attention that is not sharp enough proves nothing.
    with pytest.raises(NotContracting):
        prove_contraction(path_design(6, 10))
    # Scale factors that grow: μ = 1, 2, 4.
    wrong = replace(causal_design(3), W_V=np.array([[1.0, 0, 0], [-1, 2, 0], [0, -2, 4]]))
    with pytest.raises((NotContracting, ValueError)):
        prove_contraction(wrong)


def test_a_wrong_spectrum_is_refused():
    """One eigenvalue moved by 10⁻⁶."""
    from rankmath.arithmetic.balls import precision
    from rankmath.equilibria.balls import exact_matrix
    from rankmath.equilibria.contraction import ball_map, box_around, demand_discs

    design = path_design(3)
    proof = prove_contraction(design)
    with precision(proof.spectral_bits):
        F, X = ball_map(design), exact_matrix(design.X)
        box = box_around(X, proof.weights, proof.core)
        demand_discs(F, box, proof.spectrum)
        rows = [list(row) for row in proof.spectrum.values]
        rows[0][1] += Fraction(1, 10**6)
        with pytest.raises(NotContracting, match="spectrum"):
            demand_discs(F, box, replace(proof.spectrum, values=tuple(map(tuple, rows))))


@pytest.mark.parametrize("design", [causal_design(2), causal_design(4), path_design(2), path_design(3)])
def test_the_checker_refuses_a_spectrum_off_by_a_millionth(design):
    """Values moved up or down, one at a time; where nothing moved it is accepted."""
    certificate = certify_design(design).certificate()
    content = {key: value for key, value in json.loads(certificate.text()).items() if key != "id"}
    values = content["data"]["spectrum"]["values"]
    assert check_text(json.dumps(content)).accepted
    rng = np.random.default_rng(0)
    for i, b in rng.permutation(list(np.ndindex(design.X.shape)))[:4]:
        kept, step = values[i][b], Fraction(rng.choice((-1, 1)), 10**6)
        moved = Fraction(float(design.spectrum[i, b])) + step
        values[i][b] = f"{moved.numerator}/{moved.denominator}"
        assert check_text(json.dumps(content)).verdict == "undecided"
        values[i][b] = kept


def test_one_dimension_and_many_tokens():
    """Tokens ±1 rest and attract whatever the weights: balls prove it, and it says nothing to be certified."""
    for mask in ("complete", "causal"):
        proof = rm.layernorm_equilibrium(12, 1, 1, mask).certify()
        assert proof.contraction.rate < 1
        assert proof.contraction.radius > Fraction(1, 1000)
        with pytest.raises(NotIssued, match="d >= 2"):
            proof.certificate()


def test_bounds_of_the_two_terms_hold_those_of_their_sum():
    """|S + qz| ≤ |S| + |q||z|: row sums taken apart are no smaller; together they are those of the Jacobian."""
    from rankmath.arithmetic.balls import precision
    from rankmath.equilibria.balls import exact_matrix
    from rankmath.equilibria.contraction import ball_map, row_sums

    rng = np.random.default_rng(3)
    base = path_design(4)
    design = replace(base, W_QK=rng.integers(-2, 3, (4, 4)).astype(float), W_V=base.W_V + np.eye(4))
    X, weights = exact_matrix(rng.standard_normal((4, 4)).round(2)), tuple((Fraction(k + 1),) * 4 for k in range(4))
    with precision(200):
        F = ball_map(design)
        J = F.jacobian(X).tolist()
        exact = [sum(abs(x) * (q // 4 + 1) for q, x in enumerate(row)) for row in J]
        together, apart = row_sums(F, X, weights), row_sums(F, X, weights, apart=True)
        assert all(-1e-50 < a - b < 1e-15 for a, b in zip(together, exact, strict=True))
        assert all(a >= b for a, b in zip(apart, exact, strict=True))
        assert any(a > b + 0.01 for a, b in zip(apart, exact, strict=True))


def test_gaps_grow_with_tokens_and_with_the_steepness():
    assert sharp_gap(3) < sharp_gap(5) < sharp_gap(5, Fraction(1, 8))
    # Far below what the theorem asks for in general.
    n, eta, nu = 5, 1 / 8, 2.0**-4
    assert sharp_gap(n) < 4 * (n**2 + 4) * np.log(32 * n**2 * (n**2 + 4) / (eta * nu))


def test_what_is_said_of_a_box_is_true_at_the_digits_shown() -> None:
    proof = certify_design(causal_design(3))
    assert proof.contraction is not None
    off = proof.contraction.core * max(map(max, proof.contraction.weights))
    (shown,) = re.findall(r"within 10\^(\S+) \(largest entry\) of the centre", str(proof.claims[0]))
    assert 0 <= float(shown) - log10(off) <= 0.1
    (reach,) = re.findall(r"every start within 10\^(\S+) \(largest entry\)", str(proof.contraction))
    assert 0 <= log10(proof.contraction.radius) - float(reach) <= 0.1
