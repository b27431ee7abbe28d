"""The pictures show what they say: numbers recomputed without the engine, bars read back from the file."""

from __future__ import annotations

import html
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from pictures import LEAST, SEED, VIOLATED, Sample, bars, draw, edges, sample
from site_build import Site

from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statements
from rankmath.formula.evaluate import Side
from rankmath.formula.numbers import Signed
from rankmath.report.sources import slug
from rankmath.verification.statement import Statement

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


def log_ratios(entry: Statement) -> list[float]:
    """log₁₀ of the largest lhs/rhs of every instance that passes the hypotheses, straight from the two sides."""
    total = max(1, round(80 * entry.share))
    size = max(1, min(40, total // len(entry.draws)))
    generators = [np.random.default_rng([SEED, index]) for index in range(len(entry.draws) + 1)]
    batches = [generate(rng, size) for generate, rng in zip(entry.draws[:total], generators, strict=False)]
    instances = [batch.select(i) for batch in batches for i in range(len(batch))]
    instances += entry.extremal(generators[-1]) if entry.extremal else ()
    values: list[float] = []
    for instance in instances:
        evaluation = entry.evaluate(Float64(np.zeros(1)), instance)
        if all(map(_holds, evaluation.hypotheses)):
            sides = [side for side in evaluation.sides if side.truth is None]
            values.append(max(_log(side.left) - _log(side.right) for side in sides) / math.log(10))
    return [x for x in values if math.isfinite(x)]


def _holds(side: Side) -> bool:
    """A hypothesis in doubles; equality passes up to rounding."""
    if side.truth is not None:
        return bool(np.all(side.truth.holds))
    left, right = _signed(side.left), _signed(side.right)
    gap = left.floats() - right.floats()
    close = bool(np.all(np.abs(gap) <= 1e-9 * np.maximum(np.abs(left.floats()), np.abs(right.floats()))))
    return close if side.equal else close or bool(np.all(gap <= 0))


def _signed(x: Any) -> Signed:
    return x if isinstance(x, Signed) else Signed.exact(Fraction(x))


def _log(x: Any) -> float:
    """The logarithm of a side that is not negative."""
    found = _signed(x)
    assert np.all(found.sign >= 0)
    return float(np.max(found.log))


@pytest.mark.parametrize("key", KEYS)
def test_a_picture_shows_the_numbers_that_the_statement_gives(site: Site, key: str) -> None:
    entry = statements()[key]
    folder = site.source / "gallery/pictures"
    stored = json.loads((folder / f"{slug(key)}.json").read_text(encoding="utf-8"))
    found = Sample(**{name: value for name, value in stored.items() if name != "seed"})
    assert (found.key, stored["seed"]) == (key, SEED)
    assert found.count > 0
    drawn = heights(folder / f"{slug(key)}.svg")
    if not found.outcomes:
        shown = sorted(x for values in found.log_ratios.values() for x in values)
        # Balls leave out what they cannot tell from equality; nothing else is missing.
        given = sorted(log_ratios(entry), key=abs)
        equal, told = given[: len(given) - len(shown)], given[len(given) - len(shown) :]
        assert len(equal) <= found.undecided
        assert equal == pytest.approx([0] * len(equal), abs=1e-9)
        # Doubles: of unit vectors that are close, 1 − ⟨u, v⟩ keeps fewer digits. A picture shows three.
        assert shown == pytest.approx(sorted(told), rel=1e-6, abs=1e-7)
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
