"""The softmax expansion behind the cube: identities in any number of keys, and refusals."""

from __future__ import annotations

import pytest
import sympy as sp

from rankmath.symbolic.proof import NotProved
from rankmath.symbolic.softmax_expansion import (
    average,
    centred_form,
    normalised,
    prove_centred_form,
    prove_cubic_order,
    prove_first_order,
)


@pytest.mark.parametrize("tokens", [2, 3, 4, 5])
def test_centred_form_is_an_identity(tokens):
    proof = prove_centred_form(tokens)
    assert proof.proved
    assert len(proof.steps) == tokens + 1


def test_centred_form_at_numbers():
    q = normalised([sp.Integer(1), sp.Integer(2), sp.Integer(5)])
    x = [sp.Integer(3), sp.Rational(1, 2), sp.Integer(1)]
    P = normalised([qj * xj for qj, xj in zip(q, x, strict=True)])
    assert centred_form(q, x) == [Pj - qj for Pj, qj in zip(P, q, strict=True)]


def test_a_broken_centred_form_is_refused():
    w, x = sp.symbols("w0:3", positive=True), sp.symbols("x0:3", positive=True)
    q = normalised(w)
    m = [xj - 1 for xj in x]
    mean = average(q, m)
    for broken in (
        [qj * (mj - mean) / (1 + 2 * mean) for qj, mj in zip(q, m, strict=True)],
        [qj * (mj - mean) for qj, mj in zip(q, m, strict=True)],
        [qj * mj / (1 + mean) for qj, mj in zip(q, m, strict=True)],
    ):
        with pytest.raises(NotProved, match="entry 0"):
            prove_centred_form(3, broken)


@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_first_order(tokens):
    assert prove_first_order(tokens).proved


def test_a_broken_first_order_is_refused():
    q, E = sp.symbols("q0:2", positive=True), sp.symbols("E0:2", real=True)
    for broken in (
        [qj * Ej for qj, Ej in zip(q, E, strict=True)],
        [qj * (Ej - average(q, E)) * sp.Rational(101, 100) for qj, Ej in zip(q, E, strict=True)],
    ):
        with pytest.raises(NotProved, match="order 1"):
            prove_first_order(2, broken)


def test_the_residual_moves_by_its_cube():
    assert prove_cubic_order(4).proved
    q, E, r = sp.symbols("q0:2", positive=True), sp.symbols("E0:2", real=True), sp.symbols("r0:2", real=True)
    cubic = average([qj * (Ej - average(q, E)) for qj, Ej in zip(q, E, strict=True)], r)
    assert prove_cubic_order(2, cubic).proved
    for broken in (sp.Integer(0), cubic / 2, cubic + r[0]):
        with pytest.raises(NotProved, match="order 3"):
            prove_cubic_order(2, broken)


def test_the_order_of_the_cube_by_numbers():
    # Three keys, along R → tR at t = 1/1000: the next term is of order t⁵, not t⁴.
    q = [sp.Rational(1, 2), sp.Rational(1, 3), sp.Rational(1, 6)]
    E, r = [sp.Integer(1), sp.Integer(-2), sp.Integer(3)], [sp.Integer(2), sp.Integer(1), sp.Integer(-1)]
    cubic = average([qj * (Ej - average(q, E)) for qj, Ej in zip(q, E, strict=True)], r)
    errors = []
    for t in (sp.Rational(1, 1000), sp.Rational(1, 2000)):
        P = normalised([qj * sp.exp(t**2 * Ej) for qj, Ej in zip(q, E, strict=True)])
        moved = average([Pj - qj for Pj, qj in zip(P, q, strict=True)], [t * rj for rj in r])
        errors.append(sp.N(moved - t**3 * cubic, 40))
    assert abs(errors[0] / errors[1] - 32) < sp.Rational(1, 1000)


@pytest.mark.parametrize("prove", [prove_centred_form, prove_first_order, prove_cubic_order])
@pytest.mark.parametrize("tokens", [1, 0, 2.0, True, 10**30])
def test_tokens_are_checked(prove, tokens):
    with pytest.raises(ValueError, match=r"tokens: .* given; a whole number of at least 2"):
        prove(tokens)
