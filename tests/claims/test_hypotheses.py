"""Hypotheses that a constructor refuses are hypotheses of the claim: without them it does not apply."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.claims import RENAMED, statement, statements
from rankmath.verification import papers as papers_of
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.judge import judge
from rankmath.verification.verdict import Outcome


def _exact(rows: Any) -> Any:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(rows))


@pytest.mark.parametrize(
    ("key", "arrays"),
    [
        ("folk:spectrum-real", {"A": _exact([[1, 2], [3, 4]])}),
        ("folk:spectrum-real", {"A": _exact([[0, 1], [1, 0]])}),
        ("own:spectrum-symmetric", {"K": _exact([[1, -2], [-2, 1]])}),
        ("own:spectrum-symmetric", {"K": _exact([[1, 2], [3, 1]])}),
        ("he2023:u-spa", {"a": Fraction(1, 2), "b": Fraction(1, 3), "size": Fraction(3)}),
        ("shi2022:layernorm", {"Y": np.asarray([[0.0, 0.0], [1.0, 2.0]])}),
        # One token sees itself alone, whatever W_QK.
        ("own:low-rank-every-input", {"X": _exact([[0]])}),
        # x = (−1, 1), q = (0, 2): rank 1. As many queries as keys.
        ("own:softmax-rank", {"q": _exact([0, 2]), "x": _exact([-1, 1])}),
        ("own:softmax-rank", {"q": _exact([0, 1, 2]), "x": _exact([1, 2])}),
        ("folk:softmax-rank", {"q": _exact([0, 1]), "x": _exact([-1, 1])}),
        ("own:position-bias", {"P": _exact([[[1, 0], [0, 1]]]), "w": Fraction(1)}),
        ("wu2025:4.2", {"P": _exact([[[1, 0], [0, 1]]]), "w": Fraction(1)}),
    ],
)
def test_a_claim_does_not_apply_where_a_hypothesis_fails(key: str, arrays: dict[str, Any]) -> None:
    assert judge(statement(key), ArrayInstance(arrays), "balls").outcome == Outcome.NOT_APPLICABLE


def test_a_key_bears_a_papers_name_only_where_the_paper_says_it() -> None:
    """Claims that nobody makes, and ours, are listed under no paper; the source of a paper's key is that paper."""
    papers = {"dong2021": papers_of.DONG, "dong2021v1": papers_of.DONG, "wu2024": papers_of.WU, **papers_of.FIELD}
    for key, entry in statements().items():
        prefix = key.partition(":")[0]
        assert ("nobody" in f"{entry.title} {entry.source}") == (prefix == "unstated"), key
        if entry.status == "refuted":
            assert prefix in papers or prefix in ("folk", "unstated"), key
        if prefix in papers and entry.status == "refuted":
            assert entry.source.startswith(papers[prefix].partition(" (")[0]), key
        if prefix in ("own", "unstated"):
            assert entry.source.startswith("this library"), key


# What a sentence about mathematics cannot do without: a finite verb, or a relation between numbers.
CLAIMED = re.compile(
    r"\b(is|are|has|have|can|does|goes|come|comes|end|ends|meet|tend|tends|fall|falls|grows|keeps?|moves"
    r"|collapses|carries|preserves|raises|lies|misses|follows|brings|spreads|sees|multiplies|changes|decays)\b"
    r"|at most|at least|no more|as long as|[<>≤≥]"
)


def test_a_title_names_a_statement_and_claims_nothing() -> None:
    """The formula claims, with all hypotheses; a title that claimed too would leave hypotheses out."""
    condition = {"own:skip-lower": ", θ < 1"}
    for key, entry in statements().items():
        said = entry.title.replace(condition.get(key, "\0"), "").partition(": a claim that nobody makes")[0]
        assert not CLAIMED.search(said), (key, CLAIMED.search(said))
        assert len(entry.title) <= 100, key
    assert CLAIMED.search("Row-stochastic matrices are closed under products")
    assert CLAIMED.search("Tokens collapse at most like 1/L")


def test_keys_that_were_others_before_are_found_by_either_name() -> None:
    for old, new in RENAMED.items():
        assert statement(old) is statement(new)
        assert old not in statements()
