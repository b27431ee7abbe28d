"""own:tv: equality at two atoms about the symmetric point, and below it elsewhere."""

from __future__ import annotations

import math

import rankmath as rm


def test_two_atoms_attain_it_and_others_do_not() -> None:
    for D in (1e-3, 1.0, 12.0):
        assert math.isclose(rm.verify("own:tv", [-D / 2, 0.0], [D, 0.0]).ratio, 1.0, rel_tol=1e-12)
        off = rm.verify("own:tv", [0.0, 0.0], [D, 0.0]).ratio
        assert math.isclose(off, (1 / (1 + math.exp(-D)) - 0.5) / math.tanh(D / 4), rel_tol=1e-9)
        assert off < 1
