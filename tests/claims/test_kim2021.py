"""kim2021:3.2 and own:l2-lipschitz: derivative, Lambert's function, the order of the bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement
from rankmath.formula.arrays import ArrayRun
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.judge import judge

PRINTED, OURS = statement("kim2021:3.2"), statement("own:l2-lipschitz")


def attended(Z: np.ndarray) -> np.ndarray:
    gaps = Z[:, None] - Z[None]
    weights = np.exp(-(gaps * gaps).sum(axis=-1))
    return weights / weights.sum(axis=1, keepdims=True) @ Z


def test_the_derivative_is_the_complex_step() -> None:
    rng = np.random.default_rng(0)
    for n, d in ((2, 1), (3, 2), (5, 3)):
        Z = rng.standard_normal((n, d))
        found = ArrayRun(Float64(np.zeros(1)), ArrayInstance({"Z": Z})).by_text("distance_jacobian_norm", ("Z",))
        steps = 1e-30j * np.eye(Z.size).reshape(-1, n, d)
        rows = [attended(Z + step).imag.ravel() / 1e-30 for step in steps]
        assert found.floats() == pytest.approx(np.linalg.norm(rows, 2), rel=1e-12)


def test_the_constant_solves_its_equation() -> None:
    for n in (2, 5, 40):
        Z = np.linspace(0, 1, n)[:, None]
        found = [judge(PRINTED, ArrayInstance({"Z": Z}), arithmetic).log_rhs for arithmetic in ("float64", "balls")]
        assert found[0] == pytest.approx(found[1], abs=1e-12)
        phi = (math.exp(found[0]) / math.sqrt(n) - 1) / 4
        assert phi * math.exp(phi + 1) == pytest.approx(n - 1, rel=1e-9)


def test_our_bound_is_never_the_larger_one_and_its_advantage_grows() -> None:
    advantage = []
    for n in (2, 3, 8, 30):
        instance = ArrayInstance({"Z": np.linspace(0, 2, n)[:, None]})
        printed, ours = (judge(entry, instance, "float64") for entry in (PRINTED, OURS))
        assert printed.log_lhs == ours.log_lhs
        advantage.append(printed.log_rhs - ours.log_rhs)
    assert advantage[0] > 0
    assert advantage == sorted(advantage)


def test_no_token_receives_more_than_the_root_of_their_number() -> None:
    """A middle and n − 1 orthogonal directions at the squared distance r²: it receives of the order of √n."""
    rng = np.random.default_rng(1)
    largest = {}
    for n in (16, 64):
        for r in np.linspace(0.5, 3, 26):
            Z = np.concatenate([np.zeros((1, n - 1)), r * np.eye(n - 1)]) + 1e-3 * rng.standard_normal((n, n - 1))
            d = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
            P = np.exp(-d) / np.exp(-d).sum(axis=1, keepdims=True)
            assert P.sum(axis=0).max() <= math.sqrt(n)
            assert (P * d).sum(axis=0).max() <= math.sqrt(n) * math.log(n) / 2
            largest[n] = max(largest.get(n, 0.0), float(P.sum(axis=0).max()))
        verdict = rm.verify("own:received", Z)
        assert math.exp(verdict.log_lhs) == pytest.approx(P.sum(axis=0).max(), rel=1e-9)
    assert largest[64] / largest[16] > 1.7  # the exponent one half is right


def test_the_lemma_is_attained() -> None:
    """n − 1 tokens at the squared distance 1 + φ: the mean squared distance is φ itself."""
    n = 7
    phi = 1.0
    for _ in range(60):  # y ← log((n − 1)/y) − 1 has the fixed point y e^{y+1} = n − 1; damped
        phi = (phi + math.log((n - 1) / phi) - 1) / 2
    d = 1 + phi
    assert (n - 1) * d * math.exp(-d) / (1 + (n - 1) * math.exp(-d)) == pytest.approx(phi, rel=1e-12)


@pytest.mark.parametrize("m", [4, 6, 10])
def test_a_crowd_among_others_attains_the_order(m: int) -> None:
    """own:l2-lower: the gain from the tokens themselves; the norm of their attention is at least as large."""
    others, r = m * m // 4, math.sqrt(math.log(m / 2))
    Z = np.zeros((m + others, others + 1))
    Z[m:, :others] = r * np.eye(others)
    P = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=-1))
    P /= P.sum(axis=1, keepdims=True)
    u = np.arange(m + others) < m
    run = ArrayRun(Float64(np.zeros(1)), rm.statements()["own:l2-lower"].instance(m))
    assert float(run.by_text("crowd_gain", ("m",))) == pytest.approx((P @ u) @ (P @ u) / m, rel=1e-12)
    assert np.linalg.norm(P, 2) >= math.sqrt(m / 16 + 4 / 9)
    with pytest.raises(rm.InvalidArgument, match=r"^m: "):
        rm.verify("own:l2-lower", m + 1)
