"""wu2024:conjecture, own:stable-complete, own:stable-causal, unstated:ln-sphere: equilibria that attract."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.certificate import number
from rankmath.claims import statement
from rankmath.decide.battery import verify
from rankmath.verification.verdict import Outcome

HALF = Fraction(1, 2)
IDENTITY = [[1, 0], [0, 1]]


def exhibited(key: str) -> Any:
    exhibit = statement(key).exhibited
    return exhibit()


@pytest.mark.parametrize(
    ("key", "kind"),
    [("wu2024:conjecture", "violates"), ("unstated:ln-sphere", "violates"), ("own:stable-complete", "exists")],
)
def test_the_checker_accepts_the_equilibrium_and_not_a_larger_claim(key: str, kind: str) -> None:
    certificate = exhibited(key)
    assert (certificate.statement, certificate.kind) == (key, kind)
    assert certificate.check().accepted
    wider = {**certificate.data["attracting"], "rate": Fraction(1, 100)}
    assert not replace(certificate, data={**certificate.data, "attracting": wider}).check().accepted


def test_equal_tokens_do_not_refute_the_conjecture() -> None:
    """Rank one attracts, and counts neither against the conjecture nor for existence."""
    X, W_V = np.array([[0.0, 1.0], [0.0, 1.0]]), np.diag([0.5, 1.0])
    assert verify("wu2024:conjecture", X, W_V, np.zeros((2, 2))).outcome != Outcome.VIOLATED
    assert verify("own:stable-complete", X, W_V, np.zeros((2, 2))).outcome != Outcome.HOLDS


def test_an_instance_that_does_not_show_what_exists_violates_nothing() -> None:
    """Existence is not refuted by one instance without the property."""
    X, W_V = np.array([[0.0, 1.0], [0.0, 1.0]]), np.diag([0.5, 1.0])
    assert verify("own:stable-complete", X, W_V, np.zeros((2, 2))).outcome != Outcome.VIOLATED
    assert verify("dong2021:norm", np.eye(2), np.eye(2)).outcome != Outcome.VIOLATED
    shown = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert verify("dong2021:norm", shown, shown.T).outcome == Outcome.HOLDS


def test_the_rational_stable_causal_example() -> None:
    verdict = verify("own:stable-causal", [HALF, 1, Fraction(1, 4)], 2)
    assert verdict.outcome == Outcome.HOLDS
    assert "eigenvalues 1/2, 2/5" in verdict.reason
    assert verify("own:stable-causal", [HALF, Fraction(9, 10), Fraction(1, 4)], dim=4).outcome == Outcome.HOLDS


def test_layernorm_on_the_sphere_plays_a_role() -> None:
    X = [[0, 1], [Fraction(-3, 5), Fraction(-4, 5)]]
    assert verify("unstated:ln-sphere", X, [[1, Fraction(5, 3)], [0, 1]]).outcome == Outcome.VIOLATED
    assert verify("unstated:ln-sphere", [[0, 1], [0, 1]], [[1, 2], [0, 1]]).outcome != Outcome.VIOLATED


def test_the_certificate_against_the_sphere_is_an_instance_of_what_is_displayed() -> None:
    """Attention is uniform over the mask there; without a mask all tokens would be equal after one layer."""
    data = exhibited("unstated:ln-sphere").data
    assert not np.any(np.asarray(data["W_QK"]))
    assert np.array_equal(data["mask"], [[1, 0], [1, 1]])
    assert data["rank"] == 2
    W_V, tokens = (np.asarray([[float(number(x)) for x in row] for row in data[name]]) for name in ("W_V", "tokens"))
    mixed = np.asarray([[1, 0], [0.5, 0.5]]) @ tokens @ W_V
    assert np.allclose(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), tokens, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("key", "given", "named"),
    [
        ("wu2024:conjecture", (np.eye(2), np.eye(3), np.eye(2)), "W_V"),
        ("own:stable-causal", ([2, 1], 2), "parameters"),
        ("unstated:ln-sphere", (IDENTITY, [[1, 2]]), "W_V"),
    ],
)
def test_bad_input_is_refused_by_name(key: str, given: tuple[Any, ...], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}: "):
        verify(key, *given)
