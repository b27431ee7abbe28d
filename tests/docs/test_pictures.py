"""The pictures show what they say: numbers recomputed without the engine, bars read back from the file."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from pictures import LEAST, SEED, VIOLATED, Sample, bars, draw, edges, sample
from site_build import Site

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statements
from rankmath.report.sources import slug

KEYS = list(statements())


def heights(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Width and height of every bar, in points, by series."""
    found: dict[str, list[tuple[float, float]]] = {}
    for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g"):
        words = group.get("id", "").split("_" if "_" in group.get("id", "") else " ")
        if words[0] != "bar":
            continue
        points = re.findall(r"[ML] (\S+) (\S+)", group[0].get("d", ""))
        xs, ys = zip(*((float(x), float(y)) for x, y in points), strict=True)
        series = found.setdefault(" ".join(words[1:-1]), [])
        series.append((max(xs) - min(xs), max(ys) - min(ys)))
    return found


def log_ratios(key: str) -> list[float]:
    """log₁₀ of the largest lhs/rhs of every instance that passes the hypotheses, straight from the two sides."""
    entry = statements()[key]
    assert entry.evaluate is not None
    total = max(1, round(80 * entry.share))
    size = max(1, min(40, total // len(entry.draws)))
    generators = [np.random.default_rng([SEED, index]) for index in range(len(entry.draws) + 1)]
    batches = [generate(rng, size) for generate, rng in zip(entry.draws[:total], generators, strict=False)]
    values: list[float] = []
    for batch in [*batches, *(entry.extremal(generators[-1]) if entry.extremal else ())]:
        evaluation = entry.evaluate(Float64(np.zeros(1)), batch)
        passes = np.ones(len(batch), dtype=bool)
        for hypothesis in evaluation.hypotheses:
            passes &= _numbers(hypothesis.side.log_lhs, batch) <= _numbers(hypothesis.side.log_rhs, batch)
        sides = [(_numbers(side.log_lhs, batch), _numbers(side.log_rhs, batch)) for side in evaluation.sides]
        with np.errstate(invalid="ignore"):
            excess = np.max([np.where(lhs == -np.inf, -np.inf, lhs - rhs) for lhs, rhs in sides], axis=0)
        values += (excess[passes & np.isfinite(excess)] / math.log(10)).tolist()
    return values


def _numbers(x: Any, batch: Any) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.asarray(x, dtype=float), (len(batch),))


@pytest.mark.parametrize("key", KEYS)
def test_a_picture_shows_the_numbers_that_the_statement_gives(site: Site, key: str) -> None:
    entry = statements()[key]
    folder = site.source / "gallery/pictures"
    stored = json.loads((folder / f"{slug(key)}.json").read_text(encoding="utf-8"))
    found = Sample(**{name: value for name, value in stored.items() if name != "seed"})
    assert (found.key, stored["seed"]) == (key, SEED)
    assert found.count > 0
    drawn = heights(folder / f"{slug(key)}.svg")
    if entry.evaluate is not None:
        shown = [x for values in found.log_ratios.values() for x in values]
        assert np.sort(shown) == pytest.approx(np.sort(log_ratios(key)), rel=1e-9, abs=1e-9)
        counts = bars(found)
        assert sum(map(sum, counts.values())) == len(shown)
        grows = 1
    else:
        rows = list(found.outcomes.values())
        counts = {name: [row[name] for row in rows] for name in rows[0]}
        grows = 0
    # Bars are as long as their counts, in one unit for the whole picture.
    lengths = [extent[grows] for name in counts for extent in drawn[name]]
    numbers = [count for name in counts for count in counts[name]]
    unit = sum(lengths) / sum(numbers)
    assert unit > 0
    assert lengths == pytest.approx([unit * count for count in numbers], abs=1e-3)
    # What is registered shows: no bar beyond equality for what is proved, a refutation for what is refuted.
    if entry.status == "proved":
        assert found.violated == 0
    else:
        assert found.violated or found.exceeds or entry.exhibit is not None
    # The words beside the picture are those of these numbers.
    assert found.words() in html.unescape((site.source / f"gallery/{slug(key)}.md").read_text(encoding="utf-8"))


def test_bars_hold_every_value_and_those_too_small_in_the_first() -> None:
    found = sample(statements()["own:diameter"])
    below = sum(x <= edges(found)[1] for values in found.log_ratios.values() for x in values)
    assert edges(found)[0] == LEAST
    assert sum(series[0] for series in bars(found).values()) == below


def test_a_picture_is_the_same_bytes_again_and_another_sample_is_not(tmp_path: Path) -> None:
    found = sample(statements()["dong2021v1:A.3"])
    assert found.log_ratios[VIOLATED]
    draw(found, tmp_path / "one.svg")
    draw(found, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    found.log_ratios[VIOLATED] = found.log_ratios[VIOLATED][1:]
    draw(found, tmp_path / "two.svg")
    assert heights(tmp_path / "one.svg") != heights(tmp_path / "two.svg")
