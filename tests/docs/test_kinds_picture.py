"""The picture of docs/positions.md: its lines have the orders and slopes that the page says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from kinds_picture import ARCHITECTURES, DEPTH, TARGET, curves


def test_every_line_is_of_the_kind_its_words_say() -> None:
    found = curves()
    logs = {name: line for name, (line, _) in found.items()}
    assert logs["plain"][6] / logs["plain"][5] == pytest.approx(3, abs=0.05)
    assert found["plain"][1] < 1e-12
    for name in ("rotary", "slope", "causal"):
        assert np.log10(found[name][1]) == pytest.approx(logs[name][DEPTH] - logs[name][DEPTH - 1], abs=0.02)
    assert found["causal"][1] == pytest.approx(0.5, abs=1e-12)
    # w^(L²) up to a factor exponential in depth: the second difference of the logarithm is 2 log w.
    assert np.diff(logs["shrinking"], 2)[-4:] == pytest.approx(np.full(4, 2 * np.log10(0.5)), abs=0.02)
    assert abs(logs["skip"][-1] - logs["skip"][0]) < 1
    names = set(re.findall(r'id="line[ _]([\w-]+)"', TARGET.read_text(encoding="utf-8")))
    assert names == {name for name, *_ in ARCHITECTURES}
