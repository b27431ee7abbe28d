"""own:merge-time: the integral against the flow, and from 60° to 30° against the limit that is quoted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankmath as rm
from rankmath.verification.verdict import Outcome

U, V = 0.5, math.sqrt(0.75)


@pytest.mark.parametrize(("beta", "time"), [(10.0, 0.0810), (50.0, 0.0137), (200.0, 0.00335)])
def test_from_sixty_degrees_to_thirty(beta: float, time: float) -> None:
    """Ever less, where y_i' = P y_j takes 0.384."""
    found = [rm.verify("own:merge-time", beta, U, V, arithmetic=name) for name in ("float64", "mpmath", "balls")]
    assert [verdict.outcome for verdict in found] == [Outcome.HOLDS] * 3
    assert [math.exp(verdict.log_lhs) for verdict in found] == pytest.approx([time] * 3, rel=5e-3)
    assert (math.atanh(V) - math.atanh(U)) / 2 == pytest.approx(0.384, abs=5e-4)


def test_the_flow_takes_that_time() -> None:
    beta = 3.0
    eye = np.eye(2)
    flow = rm.Flow(eye, query=eye, key=eye, beta=3)
    time = math.exp(rm.verify("own:merge-time", beta, U, V).log_lhs) * math.exp(beta * (1 - U))
    half = math.acos(U) / 2
    X = flow.trajectory([[math.cos(half), math.sin(half)], [math.cos(half), -math.sin(half)]], time).tokens[-1]
    assert X[0] @ X[1] == pytest.approx(V, abs=1e-6)


def test_refusals() -> None:
    for beta, u, v, name in ((0.0, U, V, "beta"), (1.0, -1.0, V, "u"), (1.0, U, 1.0, "v")):
        with pytest.raises(rm.InvalidArgument, match=f"^{name}: "):
            rm.verify("own:merge-time", beta, u, v)
    assert rm.verify("own:merge-time", 1.0, V, U).outcome == Outcome.NOT_APPLICABLE
