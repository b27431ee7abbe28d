"""Wu et al. 2024: what is exact is checked exactly, and against the Jacobian of the map in floats."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from rankmath.equilibria.certify import certify_equilibrium
from rankmath.equilibria.map import jacobian
from rankmath.equilibria.wu2024 import (
    balanced_tokens,
    complete_equilibrium,
    exact_number,
    rational_full_rank,
    shift_equilibrium,
    simplex,
    stable_causal_example,
    two_token_example,
)
from rankmath.linalg.masks import Mask


def spectrum(equilibrium):
    X, W_V, W_QK = equilibrium.floats()
    J = jacobian(X, W_V, W_QK, equilibrium.mask.allowed.astype(float), "sphere")
    return np.linalg.eigvals(J)


# -- W4.3.1


def test_two_tokens_at_five_thirds_is_rational():
    example = two_token_example(Fraction(5, 3))
    assert [tuple(e.x) for e in example.equilibria] == [
        (0, 1),
        (sp.Rational(-3, 5), sp.Rational(4, 5)),
        (sp.Rational(-3, 5), sp.Rational(-4, 5)),
    ]
    assert [e.multiplier for e in example.equilibria] == [sp.Rational(1, 2), sp.Rational(9, 5), sp.Rational(1, 5)]
    assert [e.is_stable for e in example.equilibria] == [True, False, True]


@given(st.fractions(Fraction(51, 50), 20, max_denominator=50))
def test_multipliers_are_one_plus_and_minus_s(w):
    example = two_token_example(w)
    s = sp.sqrt(1 - 1 / sp.Rational(w) ** 2)
    assert sp.expand(example.unstable.multiplier - (1 + s)) == 0
    assert sp.expand(example.stable.multiplier - (1 - s)) == 0
    assert example.collapsed.multiplier == sp.Rational(1, 2)


@pytest.mark.parametrize("w", [Fraction(5, 4), Fraction(5, 3), 4])
def test_multipliers_are_eigenvalues_of_the_whole_jacobian(w):
    # Token 1 has eigenvalue 1; the normalisation adds a zero for each token.
    for second in two_token_example(w).equilibria:
        X = np.array([[0.0, 1.0], [float(v) for v in second.x]])
        W_V = np.array([[1.0, float(w)], [0.0, 1.0]])
        J = jacobian(X, W_V, np.zeros((2, 2)), np.tril(np.ones((2, 2))), "sphere")
        expected = sorted([0.0, 0.0, 1.0, float(second.multiplier)])
        assert np.allclose(np.sort(np.linalg.eigvals(J).real), expected, atol=1e-7)


@pytest.mark.parametrize("w", [1, Fraction(1, 2), "2", float("nan"), None, True])
def test_two_tokens_need_w_above_one(w):
    with pytest.raises(ValueError, match=r"^w: "):
        two_token_example(w)


# -- W3


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_shift_family_is_exact_at_every_rank_and_sign(n, d, data):
    k = data.draw(st.integers(1, min(n, d)))
    w = data.draw(st.fractions(n - Fraction(6, 7), 3 * n + 1, max_denominator=7))
    signs = data.draw(st.lists(st.sampled_from([1, -1]), min_size=k - 1, max_size=k - 1))
    equilibrium = shift_equilibrium(n, d, k, w, signs)
    assert equilibrium.is_equilibrium()
    m = n - k + 1
    assert abs(equilibrium.minor()) == m ** (k - 1) * sp.Rational(w) ** (-k * (k - 1) // 2)
    # At most k: the first n − k + 1 tokens coincide.
    assert all(equilibrium.X.row(i) == equilibrium.X.row(0) for i in range(n - k + 1))


def test_an_entry_off_is_no_equilibrium():
    good = shift_equilibrium(3, 3, 3, 5)
    bad = sp.Matrix(good.X)
    bad[2, 1] += sp.Rational(1, 10**6)
    assert not replace(good, X=sp.ImmutableMatrix(bad)).is_equilibrium()


def test_each_condition_of_an_equilibrium_is_asked_for():
    """Tokens that see themselves alone, A = I: one condition fails, for one token, and the others hold."""
    one, two = sp.Integer(1), sp.Integer(2)
    good = replace(
        shift_equilibrium(2, 2, 2, 5),
        X=sp.ImmutableMatrix(sp.eye(2)),
        W_V=sp.ImmutableMatrix(sp.diag(1, 2)),
        mask=Mask(np.eye(2, dtype=bool)),
        scales=(one, two),
    )
    assert good.is_equilibrium()
    for turned in (0, 1):  # a token that a layer sends to its negative, or to zero, does not rest
        for factor in (-1, 0):
            D = [factor if i == turned else 1 for i in range(2)]
            scales = tuple(sp.Integer(x * y) for x, y in zip(D, (1, 2), strict=True))
            assert not replace(good, W_V=sp.ImmutableMatrix(sp.diag(*scales)), scales=scales).is_equilibrium()
        X = sp.diag(*(two if i == turned else one for i in range(2)))
        assert not replace(good, X=sp.ImmutableMatrix(X)).is_equilibrium()  # D X = A X W_V still
        assert not replace(good, scales=tuple(x + (i == turned) for i, x in enumerate(good.scales))).is_equilibrium()
        W_QK = sp.zeros(2, 2)
        W_QK[turned, 1] = 1
        with pytest.raises(ValueError, match=r"^W_QK: "):
            replace(good, W_QK=sp.ImmutableMatrix(W_QK)).is_equilibrium()


def test_sixteen_tokens_have_a_minor_that_floats_cannot_see():
    equilibrium = shift_equilibrium(16, 16, 16, 17)
    X, _, _ = equilibrium.floats()
    assert equilibrium.is_equilibrium()
    assert abs(equilibrium.minor()) == sp.Integer(17) ** -120
    assert np.linalg.matrix_rank(X) < 16


@given(st.integers(1, 6), st.integers(0, 2), st.integers(2, 9))
def test_full_rank_in_rationals(n, extra, factor):
    equilibrium = rational_full_rank(n, n + extra, factor * n + 1)
    assert all(x.is_rational for x in equilibrium.X)
    assert equilibrium.is_equilibrium()
    assert equilibrium.minor() != 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((3, 3, 4), "rank"),
        ((3, 2, 3), "rank"),
        ((3, 3, 0), "rank"),
        ((3, 3, 3, 2), "w"),
        ((3, 3, 3, 5, [1]), "signs"),
        ((3, 3, 3, 5, [1, 2]), "signs"),
        ((0, 3, 1), "tokens"),
    ],
)
def test_shift_family_refuses(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        shift_equilibrium(*arguments)


# -- one W_V, every rank, complete mask


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 2), (3, 4), (5, 3), (5, 5), (7, 4)])
def test_complete_family_rests_at_every_rank_under_one_pair_of_weights(n, d):
    family = [complete_equilibrium(n, d, k) for k in range(1, min(n, d) + 1)]
    assert all(e.W_V == family[0].W_V and e.W_QK == family[0].W_QK for e in family)
    for k, equilibrium in enumerate(family, start=1):
        X = equilibrium.X.evalf(40)
        assert max(abs(x) for x in equilibrium.defect(digits=40)) < 1e-36
        assert min(scale.evalf(20) for scale in equilibrium.scales) > 0
        assert max(abs(x - 1) for x in (X * X.T).diagonal()) < 1e-36
        assert len(equilibrium.minor_at[0]) == len(equilibrium.minor_at[1]) == k
        assert abs(equilibrium.minor().evalf(20)) > 0.1
        assert np.linalg.matrix_rank(equilibrium.floats()[0]) == k


@given(st.integers(3, 9), st.data())
def test_balanced_tokens_are_parallel_to_their_weighted_sums_at_every_temperature(n, data):
    k = data.draw(st.integers(2, n - 1))
    beta = data.draw(st.floats(0.01, 20))
    X = np.array(balanced_tokens(n, k).evalf(), dtype=float)
    pulled = np.exp(beta * (X @ X.T - 1)) @ X
    along = (pulled * X).sum(axis=1)
    assert (along > 0).all()
    assert np.allclose(pulled, along[:, None] * X, atol=1e-13)


@given(st.integers(2, 8))
def test_simplex_is_regular(m):
    S = simplex(m)
    G = (S * S.T).applyfunc(sp.simplify)
    assert all(G[i, j] == (1 if i == j else sp.Rational(-1, m - 1)) for i in range(m) for j in range(m))


# -- O8


def test_rational_stable_causal_equilibrium():
    example = stable_causal_example()
    assert tuple(example.equilibrium.X.row(1)) == (sp.Rational(-3, 5), sp.Rational(-4, 5))
    assert example.eigenvalues == (sp.Rational(1, 2), sp.Rational(2, 5))
    assert example.equilibrium.is_equilibrium()


@given(st.data(), st.integers(2, 4))
def test_stable_causal_eigenvalues_are_those_of_the_jacobian(data, d):
    a = data.draw(st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20))
    c = a * data.draw(st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10))
    w = data.draw(st.fractions(1, 5, max_denominator=10)) * data.draw(st.sampled_from([1, -1]))
    example = stable_causal_example(a, w, c, d)
    assert example.equilibrium.is_equilibrium()
    claimed = [float(x) for x in example.eigenvalues] + [0.0, 0.0]
    assert np.allclose(np.sort(spectrum(example.equilibrium).real), np.sort(claimed), atol=1e-6)
    assert float(example.spectral_radius) < 1


@pytest.mark.parametrize(
    ("arguments", "name"), [((1, 1), "a"), ((0.5, 0.5), "w"), ((0.5, 1, 0.5, 3), "c"), ((0.5, 1, None, 1), "dim")]
)
def test_stable_causal_refuses(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        stable_causal_example(*arguments)


def test_stable_causal_equilibrium_is_proved_attracting():
    X, W_V, W_QK = stable_causal_example(dim=3).equilibrium.floats()
    proof = certify_equilibrium(X, W_V, W_QK, "causal", rank=2, stable=True)
    assert proof.proved, str(proof)
    assert proof.attraction.ball > 1e-4


@pytest.mark.parametrize("value", ["1", None, True, float("inf"), sp.I, sp.Symbol("x")])
def test_exact_numbers_are_real_numbers(value):
    with pytest.raises(ValueError, match=r"^w: "):
        exact_number("w", value)
