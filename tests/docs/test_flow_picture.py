"""The picture of docs/flows.md: where its lines end, and the edge of its region."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from flow_picture import TARGET, curves, edge

from rankmath.equilibria.flow import Flow


def test_every_start_ends_where_the_page_says() -> None:
    found = curves()
    sink = math.degrees(math.acos(-0.8))
    ends = {name: float(y[-1]) for name, (_, y) in found.items() if name != "edge"}
    for name, end in ends.items():
        start = int(name.removeprefix("start"))
        wanted = sink if 95 < start <= 180 else 0.0
        if not 60 < start < 105:  # near the saddle at 90 degrees, which moves with the first token
            assert (end - wanted + 180) % 360 - 180 == pytest.approx(0, abs=1.5), name
    names = set(re.findall(r'id="line[ _]([\w-]+)"', TARGET.read_text(encoding="utf-8")))
    assert names == set(found)


@pytest.mark.parametrize("beta", [1.0, 2.0, 4.0])
def test_on_the_edge_a_pair_of_equilibria_is_born(beta: float) -> None:
    u = 1 / math.sqrt(2 * beta)
    X = [[1.0, 0.0], [-u, math.sqrt(1 - u * u)]]
    for factor, sign in ((0.99, 1), (1.01, -1)):
        lam = 1 + (edge(beta) - 1) * factor
        flow = Flow(np.diag([lam, 1]), [[0, 1]], [[0, 1]], beta, "causal")
        tangent = np.array([-X[1][1], X[1][0]])
        # At the critical u the token moves towards e_1 below the edge, and away from it beyond.
        assert np.sign(tangent @ flow.field(X)[1]) == -sign
