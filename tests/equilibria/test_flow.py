"""rm.Flow: the field against its definition, the derivative against differences, proofs against closed forms."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import rankmath as rm
from rankmath.certificates.issue import NotIssued
from rankmath.checker.checker import check_text
from rankmath.equilibria.flow import Flow, kind_of, tangents
from rankmath.equilibria.flow_proof import NotProved

RNG = np.random.default_rng(5)
RATIONAL = Flow([[2, -2], [0, 1]], [[0, 0]], [[0, 0]], mask="causal")
REST = [[1.0, 0.0], [-0.8, 0.6]]


def random_flow(n: int, d: int, *, normalised: bool, mask: str) -> tuple[Flow, np.ndarray]:
    V, Q, K = RNG.standard_normal((d, d)), RNG.standard_normal((2, d)), RNG.standard_normal((2, d))
    X = RNG.standard_normal((n, d))
    return Flow(V, Q, K, 0.7, mask, normalised), X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("mask", ["complete", "causal", "window:1"])
def test_the_field_is_its_definition_token_by_token(normalised: bool, mask: str) -> None:
    flow, X = random_flow(4, 3, normalised=normalised, mask=mask)
    V, Q, K = (M.astype(float) for M in (flow.value, flow.query, flow.key))
    seen, speed = flow.mask_for(4).allowed, flow.field(X)
    for i in range(4):
        weights = [math.exp(0.7 * (Q @ X[i]) @ (K @ X[j])) if seen[i, j] else 0.0 for j in range(4)]
        total = sum(weights) if normalised else 4
        y = sum(weights[j] / total * (V @ X[j]) for j in range(4))
        assert speed[i] == pytest.approx(y - (X[i] @ y) * X[i], abs=1e-13)
        assert abs(X[i] @ speed[i]) < 1e-14


@pytest.mark.parametrize("normalised", [True, False])
def test_the_derivative_is_that_of_the_velocity_also_off_the_sphere(normalised: bool) -> None:
    flow, X = random_flow(3, 3, normalised=normalised, mask="causal")
    X = 1.3 * X
    steps = 1e-5 * np.eye(9).reshape(9, 3, 3)
    for inward in (0, 3):
        ends = [(flow.velocity(X + h, inward=inward), flow.velocity(X - h, inward=inward)) for h in steps]
        columns = [(up - down).ravel() / 2e-5 for up, down in ends]
        assert flow.derivative(X, inward=inward) == pytest.approx(np.transpose(columns), abs=1e-6)


def test_tangents_are_orthonormal_and_tangent() -> None:
    X = RNG.standard_normal((4, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    T = tangents(X)
    assert T.shape == (20, 16)
    assert abs(T.T @ T - np.eye(16)).max() < 1e-14
    for i, x in enumerate(X):
        assert abs(x @ T[5 * i : 5 * i + 5]).max() < 1e-14


def test_a_trajectory_is_as_exact_as_it_says() -> None:
    """One token with V = diag(2, 1) has tan θ(t) = e^(−t) tan θ(0)."""
    path = Flow([[2, 0], [0, 1]]).trajectory([[0.6, 0.8]], 3.0, points=7)
    exact = np.arctan(np.exp(-path.times) * 4 / 3)
    found = np.arctan2(path.tokens[:, 0, 1], path.tokens[:, 0, 0])
    assert abs(found - exact).max() < 1e-9
    assert abs(found - exact).max() <= 2 * path.error + 1e-12
    assert "estimated" in repr(path)


def test_the_rational_sink_is_proved_with_its_eigenvalues() -> None:
    proof = RATIONAL.certify(REST)
    assert proof.kind == "sink"
    for (real, imaginary), exact in zip(sorted(proof.eigenvalues), (Fraction(-1), Fraction(-3, 10)), strict=True):
        assert real.contains(arb(exact.numerator) / exact.denominator)
        assert imaginary.contains(0)
        assert real.rad() < 1e-9
    assert proof.turned() == [False, True]


def test_what_the_flow_of_two_tokens_with_v_diag_2_1_has() -> None:
    """V = diag(2, 1), QᵀK = diag(0, 1), β = 4: two kinds of sinks with x_1 = e_1; cos θ = −2e^(−4 sin²θ)."""
    flow = Flow([[2, 0], [0, 1]], [[0, 1]], [[0, 1]], 4, "causal")
    found = flow.equilibria(2, starts=30)
    sinks = [one for one in found if one.kind == "sink" and one.tokens[0, 0] > 0]
    cosines = sorted(float(one.tokens[1, 0]) for one in sinks)
    assert cosines[-1] == pytest.approx(1, abs=1e-12)
    assert {round(c, 6) for c in cosines} == {-0.893645, 1.0}
    for one in sinks:
        c, s = one.tokens[1]
        assert abs(s) < 1e-12 or c == pytest.approx(-2 * math.exp(-4 * s * s), abs=1e-12)
        assert one.certify().kind == "sink"
    assert any(one.kind == "saddle" for one in found)


def test_values_that_point_inward_have_sinks_as_well() -> None:
    """V = −diag(1, 2), one token: it rests at e_1 with the eigenvalue −1, and ⟨x, Vx⟩ < 0."""
    proof = Flow([[-1, 0], [0, -2]], mask="causal").certify([[1, 0]])
    assert (proof.kind, proof.inward) == ("sink", 3)
    assert proof.eigenvalues[0][0].contains(-1)


def test_kinds() -> None:
    assert kind_of([True, True], [False, False]) == "sink"
    assert kind_of([False, False], [True, True]) == "source"
    assert kind_of([True, False], [False, True]) == "saddle"
    assert kind_of([True, False], [False, False]) == "degenerate"
    assert RATIONAL.certify([[1, 0], [-1, 0]]).kind == "saddle"
    assert Flow([[2, 0], [0, 1]], [[0, 1]], [[0, 1]], 4, "causal").certify([[0, 1], [0, -1]]).kind == "source"


def test_equal_tokens_under_the_identity_are_not_isolated_and_not_proved() -> None:
    with pytest.raises(NotProved, match="eigenvalue 0"):
        Flow(np.eye(3)).certify([[1, 0, 0], [1, 0, 0]])
    # Alone, and its linearisation has the eigenvalue 0.
    with pytest.raises(NotProved, match="eigenvalue 0"):
        Flow([[1, 0], [0, 0]], [[0, 0]], [[0, 0]], mask="causal").certify([[1, 0], [-1, 0]])
    with pytest.raises(NotProved):
        RATIONAL.certify([[1, 0], [-0.6, 0.8]])
    with pytest.raises(rm.InvalidArgument, match="X: tokens of dimension 1 given; they cannot move"):
        Flow([[1]]).certify([[1], [-1]])


def test_a_double_eigenvalue_is_enclosed_as_well() -> None:
    """At (e_2, −e_2) both eigenvalues of V = diag(2, 1), QᵀK = diag(0, 1), β = 4 are 1 and near it."""
    proof = Flow([[2, 0], [0, 1]], [[0, 1]], [[0, 1]], 4, "causal").certify([[0, 1], [0, -1]])
    assert all(real.contains(1) and 0.9 < real < 1.1 for real, _ in proof.eigenvalues)


@pytest.mark.parametrize("normalised", [True, False])
def test_a_sink_has_a_certificate_and_a_saddle_has_none(normalised: bool) -> None:
    flow = Flow([[2, 0], [0, 1]], [[0, 1]], [[0, 1]], 4, "causal", normalised)
    angle = math.acos(-0.8936450996570985)
    proof = flow.certify([[1, 0], [math.cos(angle), math.sin(angle)]])
    certificate = proof.certificate()
    assert certificate.check().accepted
    content = json.loads(certificate.text())
    del content["id"]
    moved = content["data"]["tokens"][1][0]
    for field, wrong in (("tokens", [[1, 0], [moved, "1/2"]]), ("radius", "1*2^-80"), ("beta", 3)):
        changed = json.dumps({**content, "data": {**content["data"], field: wrong}})
        assert not check_text(changed).accepted, field
    flat = {**content["hints"], "form": [[int(i == j) * (-1) ** i for j in range(4)] for i in range(4)]}
    assert not check_text(json.dumps({**content, "hints": flat})).accepted
    with pytest.raises(NotIssued, match="saddle"):
        flow.certify([[-1, 0], [0.0368305780515167, 0.9993215240954191]]).certificate()


def test_it_is_public_and_says_what_it_is() -> None:
    assert rm.Flow is Flow
    assert "mask causal" in repr(RATIONAL)
    assert "A sink of the flow, proved" in repr(RATIONAL.certify(REST))
    assert "A degenerate equilibrium of the flow" in repr(Flow(np.eye(2)).equilibria(2, starts=4)[0])
    assert "eigenvalues: none" in repr(Flow([[1]]).equilibria(1, starts=1)[0])
    shown = [repr(one) + repr(one.certify()) for one in RATIONAL.equilibria(1, starts=4)]
    assert len(shown) == 2
    assert not any("-0)" in one or "-0," in one for one in shown)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"value": [[1, 2]]}, "value"),
        ({"value": np.eye(2), "query": [[1, 0, 0]]}, "query"),
        ({"value": np.eye(2), "query": [[1, 0]], "key": np.eye(2)}, "key"),
        ({"value": np.eye(2), "query": [[1, 0]]}, "key: none given, so the identity, with query (1, 2)"),
        ({"value": np.eye(2), "beta": math.nan}, "beta"),
        ({"value": np.eye(2), "normalised": 1}, "normalised"),
        ({"value": np.eye(2), "mask": "diagonal"}, "mask"),
    ],
)
def test_bad_flows_are_refused_by_name(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=f"^{re.escape(named)}[:;] "):
        Flow(**arguments)  # type: ignore[arg-type]


def test_bad_tokens_and_numbers_are_refused_by_name() -> None:
    for X in ([[1, 0, 0]], [[1, 1]], [1, 0]):
        with pytest.raises(rm.InvalidArgument, match=r"^X: "):
            RATIONAL.field(X)
    with pytest.raises(rm.InvalidArgument, match=r"^mask: "):
        Flow(np.eye(2), mask=np.eye(2)).field([[1, 0]])
    with pytest.raises(rm.InvalidArgument, match=r"^time: "):
        RATIONAL.trajectory(REST, -1.0)
    with pytest.raises(rm.InvalidArgument, match=r"^tokens: "):
        RATIONAL.equilibria(0)
    with pytest.raises(rm.InvalidArgument, match=r"^plot: "):
        Flow(np.eye(3)).plot()
