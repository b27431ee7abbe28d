"""The picture of the README is the one its command draws, and its numbers are those of the library."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from readme_picture import TARGET, curves, draw, network

import rankmath as rm

#: Lines that a rounding error does not move.
STEADY = ("centred", "bound", "skips", "skip-bound")


def lines(path: Path) -> dict[str, list[float]]:
    """The points of every named line."""
    found = {}
    for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g"):
        named = re.fullmatch(r"line[ _](.*)", group.get("id", ""))
        if named:
            found[named[1]] = [float(x) for x in re.findall(r"-?\d+\.?\d*", group[0].get("d", ""))]
    return found


def test_the_committed_picture_is_the_one_that_is_drawn_today(tmp_path: Path) -> None:
    draw(curves(), tmp_path / "again.svg")
    committed, again = lines(TARGET), lines(tmp_path / "again.svg")
    assert set(committed) == set(again) == {*STEADY, "plain"}
    for name in STEADY:
        assert committed[name] == pytest.approx(again[name], abs=1e-2)


def test_its_numbers() -> None:
    found = curves()
    net, X = network()
    trace = rm.trace(net, X)
    assert found["centred"][1] == pytest.approx(trace.log_diameter[1:] / math.log(10), rel=1e-9)
    # The logarithm triples; the bounds are bounds; rounding is where the caption says.
    assert found["centred"][1][-1] / found["centred"][1][-2] == pytest.approx(3, abs=0.01)
    assert (found["centred"][1] <= found["bound"][1]).all()
    assert (found["skip-bound"][1] <= found["skips"][1]).all()
    assert found["plain"][1][:2] == pytest.approx(found["centred"][1][:2], abs=1e-3)
    assert ((found["plain"][1][2:] > -17) & (found["plain"][1][2:] < -13)).all()
    depth, diameter = found["skips"]
    slope = np.polyfit(np.log(depth[-4:]), np.log(diameter[-4:]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_the_readme_shows_it_and_says_it_in_words() -> None:
    readme = (TARGET.parents[1] / "README.md").read_text(encoding="utf-8")
    words = re.search(r"!\[([^\]]*)\]\(docs/collapse\.svg\)", readme)
    assert words is not None
    assert "skip connections" in words[1]
    assert "python docs/_ext/readme_picture.py" in readme
