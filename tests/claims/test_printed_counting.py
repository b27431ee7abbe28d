"""Printed index conditions, read by a reader that knows only the printed convention: everything counts from 0."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import rankmath as rm
from rankmath.arithmetic.float64 import Float64
from rankmath.claims import statement, statements
from rankmath.claims.wu2025 import decay_instance, prefix_instance, window_instance
from rankmath.formula.arrays import ArrayRun
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.printing import latex

_SIGNS = {
    r"\le": "<=",
    r"\ge": ">=",
    r"\ne": "!=",
    r"\text{ or }": " or ",
    r"\,": " ",
    ",": " and ",
    r"\max": "max",
}


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


def subscript(printed: str, sign: str) -> str:
    """What stands under \\min, \\max or \\sum."""
    start = printed.index(sign + "_{") + len(sign) + 2
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(printed[end], 0)
        end += 1
    return printed[start : end - 1]


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


def test_least_and_floor_run_over_what_is_printed() -> None:
    rng = np.random.default_rng(5)
    n, prefix = 4, 2
    allowed = condition(subscript(latex(statement("own:position-bias-prefix").defined["eps"]), r"\min"))
    below = condition(subscript(FUNCTIONS["prefix_floor"].latex.format("P", "prefix"), r"\min"))
    P = [
        [
            [Fraction(int(rng.integers(1, 30))) * allowed(i=i, j=j, prefix=prefix) for j in range(n)]
            for i in range(n)
        ]
        for _ in range(2)
    ]
    P = [[[x / sum(row) for x in row] for row in layer] for layer in P]
    run = ArrayRun(Float64(np.zeros(1)), prefix_instance(P, prefix))
    least = min(
        P[s][i][j] for s in range(2) for i in range(n) for j in range(n) if allowed(i=i, j=j, prefix=prefix)
    )
    assert FUNCTIONS["least_prefixed"].evaluate(run, "P", Fraction(prefix)) == least > 0
    product = np.asarray(P[1], dtype=object) @ np.asarray(P[0], dtype=object)
    floor = min(product[i][j] for i in range(n) for j in range(n) if below(i=i, j=j, prefix=prefix))
    assert FUNCTIONS["prefix_floor"].evaluate(run, "P", Fraction(prefix)) == floor


def test_decay_runs_over_what_is_printed() -> None:
    """wu2025:4.4 and own:alibi-decay, in exact rationals, from their printed subscripts alone."""
    E = [[3, 1, 1], [2, 5, 1], [7, 1, 4]]
    a, n = Fraction(1, 3), 3
    run = ArrayRun(Float64(np.zeros(1)), decay_instance(E, a))
    A = [[E[i][j] * a ** (i - j) if j <= i else Fraction(0) for j in range(n)] for i in range(n)]
    A = [[x / sum(row) for x in row] for row in A]
    pairs = [(i, j) for i in range(n) for j in range(n)]
    later = condition(subscript(FUNCTIONS["decay_constant"].latex.format("E", "a"), r"\max"))
    constant = max(A[i][j] / a ** (i - j) for i, j in pairs if later(i=i, j=j))
    assert FUNCTIONS["decay_constant"].evaluate(run, "E", "a") == constant
    printed = FUNCTIONS["decay_tightness"].latex.format("E", "a")
    inside, others = condition(subscript(printed, r"\max")), condition(subscript(printed, r"\sum"))
    seen = [E[i][j] for i, j in pairs if j <= i]
    ratio = Fraction(min(seen), max(seen))
    tight = max(
        A[i][j] * (1 + ratio * sum(a ** (j - k) for k in range(n) if others(i=i, j=j, k=k)))
        for i, j in pairs
        if inside(i=i, j=j)
    )
    assert FUNCTIONS["decay_tightness"].evaluate(run, "E", "a") == tight


def test_a_window_of_width_one_has_no_reach() -> None:
    """w ≥ 2 is a hypothesis that is printed: the reach divides by w − 1."""
    for key in ("own:position-bias", "wu2025:4.2"):
        assert r"$w \ge 2$" in statement(key).premises
    with pytest.raises(rm.InvalidArgument, match="w"):
        window_instance([np.eye(2, dtype=int)], 1)


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
        printed = " ".join(
            (*entry.premises, *entry.conclusion, *entry.letters, *(said for _, said in entry.meanings))
        )
        if entry.key in ("barbero2024:4.2", "own:repeat"):
            continue  # the repeated token is one more: it has the number n
        assert not re.search(r"(?<![A-Za-z])[eXZx]_(\{?[nd]\}?)(?![a-z\-−+])", printed), entry.key
        assert "e₁" not in printed
        assert not re.search(r"h_1\b|mu_1\b|μ_1\b", printed), entry.key
