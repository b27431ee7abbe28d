"""dong2021:2.1: paths add up exactly, and a skip belongs to the other statement."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rankmath as rm
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome


def test_paths_add_up_and_what_is_left_out_is_seen() -> None:
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=2, seed=0)
    X = net.random_input(seed=1)
    verdict = rm.verify("dong2021:2.1", net, X)
    assert (verdict.outcome, verdict.certified) == (Outcome.HOLDS, True)
    assert verdict.reason.startswith("4 paths")
    skipped = net.replace(skip=1.0)
    assert rm.verify("dong2021:2.1-skip", skipped, X).reason.startswith("9 paths")
    with pytest.raises(rm.InvalidArgument, match=r"^net: a skip factor of 1"):
        rm.verify("dong2021:2.1", skipped, X)
    entry = rm.statements()["dong2021:2.1-skip"]
    given = entry.instance(skipped, X)
    halved = replace(given, arrays={**given.arrays, "P": given["P"] / 2})  # no rows that sum to 1: biases part
    biased = replace(halved, arrays={**halved.arrays, "bias": given["bias"] + 1})
    assert judge(entry, biased, "float64").outcome == Outcome.VIOLATED
