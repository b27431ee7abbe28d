"""Printed index conditions, read by a reader that knows only the printed convention: everything counts from 0."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.claims import statement, statements
from rankmath.formula.printing import latex

_SIGNS = {r"\le": "<=", r"\ge": ">=", r"\ne": "!=", r"\text{ or }": " or ", r"\,": " ", ",": " and ", r"\max": "max"}


def condition(printed: str) -> Callable[..., bool]:
    """The condition that is printed, such as ``j\\le i,\\,i\\ge1``, as a function of its letters; s is a layer."""
    for sign, meaning in _SIGNS.items():
        printed = printed.replace(sign, meaning)
    printed = re.sub(r"\\mathrm\{(\w+)\}", r"\1", printed)
    parts = [part for part in printed.split(" and ") if part.strip() not in ("s", "i", "")]
    code = compile(" and ".join(f"({_chained(part)})" for part in parts), "printed", "eval")
    return lambda **letters: bool(eval(code, {"max": max}, letters))


def _chained(part: str) -> str:
    assert not re.search(r"\\|\{|\}", part), f"{part}: not read"
    return part.strip()


def stochastic(n: int, seen: Callable[[int, int], bool]) -> list[list[Fraction]]:
    """Uniform attention on what is seen."""
    rows = [[Fraction(seen(i, j)) for j in range(n)] for i in range(n)]
    return [[x / sum(row) for x in row] for row in rows]


@pytest.mark.parametrize("key", ["own:position-bias-prefix", "wu2025:4.3"])
@pytest.mark.parametrize(("n", "prefix"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 3)])
def test_the_mask_that_is_printed_is_the_mask_that_is_meant(key: str, n: int, prefix: int) -> None:
    """Uniform attention on exactly what the printed hypothesis allows meets it, and nothing else of a few masks
    does."""
    [hypothesis] = [part for part in statement(key).hypotheses if "prefixed" in str(part)]
    printed = re.search(r"where \}(.*?)\\text\{, else", latex(hypothesis))
    assert printed is not None
    seen = condition(printed[1])
    P = stochastic(n, lambda i, j: seen(i=i, j=j, prefix=prefix))
    verdict = rm.verify(key, [P, P], prefix)
    assert verdict.outcome.name == "HOLDS"
    # All entries 1/2, n = 2, prefix = 1: not the mask, so nothing is claimed of it.
    if n > prefix:
        assert rm.verify(key, [stochastic(n, lambda i, j: True)], prefix).outcome.name == "NOT_APPLICABLE"


def test_a_window_of_width_one_has_no_reach() -> None:
    """w ≥ 2 is a hypothesis that is printed: the reach divides by w − 1."""
    for key in ("own:position-bias", "wu2025:4.2"):
        assert r"$w \ge 2$" in statement(key).premises
    with pytest.raises(rm.InvalidArgument, match="w"):
        rm.verify("own:position-bias", [np.eye(2, dtype=int)], 1)


def test_where_an_index_is_printed_its_range_is() -> None:
    """Every claim that runs over layers, heads, tokens or blocks says from where to where it counts: from 0."""
    for entry in statements().values():
        ranges = dict(entry.meanings)
        text = str(entry)
        for index, end in (("l", "L"), ("h", "H"), ("i", "n"), ("k", "K")):
            if re.search(rf"\b(all|sum|prod|max|min)_{index}\(", text):
                assert ranges[index] == f"counts from 0 to {end} − 1", entry.key


def test_no_number_counts_from_one() -> None:
    """Tokens, coordinates and unit vectors that are printed with a number count from 0: none is numbered n or d
    alone."""
    for entry in statements().values():
        printed = " ".join((*entry.premises, *entry.conclusion, *entry.letters, *(said for _, said in entry.meanings)))
        if entry.key in ("barbero2024:4.2", "own:repeat"):
            continue  # the repeated token is one more: it has the number n
        assert not re.search(r"(?<![A-Za-z])[eXZx]_(\{?[nd]\}?)(?![a-z\-−+])", printed), entry.key
        assert "e₁" not in printed
        assert not re.search(r"h_1\b|mu_1\b|μ_1\b", printed), entry.key
