"""Layers of every kind become Coq by the checker's text: its numbers, entry by entry, are those of the checker."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rankmath.arithmetic.balls import precision
from rankmath.certificates.coq import to_coq
from rankmath.certificates.coq_general import held
from rankmath.certificates.coq_terms import Term, Untranslatable, fraction
from rankmath.checker.intervals import Interval
from rankmath.checker.kernel import Evaluator, formula
from rankmath.checker.network import read_network
from rankmath.checker.statements import defined_network
from tests.coq.test_certificates import accepted, library, needs_coq

__all__ = ["library"]
MATRIX = [["1/2", "1/3"], [0, "-1/4"]]
ATTENTION = {"d_qk": 2, "query": [MATRIX], "value": [MATRIX]}
KEYED = ATTENTION | {"key": [[["1/5", 1], ["1/3", "1*2^-3"]]]}
GATE = {"W_gate": MATRIX, "b_gate": [0, "1/7"]}
MLP = {"W_in": MATRIX, "b_in": ["1/3", 0], "W_out": MATRIX, "b_out": [0, 1], "activation": "silu", "skip": 1}
NORM = {"kind": "rms", "eps": "1/1000", "gain": [2, "1/3"], "offset": [0, "1/5"]}
#: A sublayer of each kind, and the hypothesis that names it.
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "rotary": ({"maps": [{"attention": ATTENTION | {"rotary": {"cos": [[1], [0]], "sin": [[0], [1]]}}}]}, "positions"),
    "additive": ({"maps": [{"attention": ATTENTION | {"position": [[[0, 1], ["-1/3", 0]]]}}]}, "positions"),
    "capped": ({"maps": [{"attention": ATTENTION | {"softcap": "1/2"}}]}, "softcap"),
    "qk_norm": (
        {"maps": [{"attention": KEYED | {"qk_norm": {"eps": "1/9", "gains": [[1, 2], [3, 1]], "every": [1, 1]}}}]},
        "qk_norm",
    ),
    "before": ({"maps": [{"attention": ATTENTION}], "before": NORM}, "layernorm"),
    "gated": ({"maps": [{"attention": ATTENTION}, {"mlp": MLP | GATE}]}, "mlp"),
}


def content(kind: str, claim: str = "diameter(X[1], 2) <= 9") -> dict[str, Any]:
    sublayer, hypothesis = KINDS[kind]
    word = {"layernorm": "rms", "mlp": "silu"}.get(hypothesis, "any")
    given = [f"{hypothesis} == {word}", *(["norm_at == before"] if kind == "before" else [])]
    data = {"X": [[1, 0], ["-1/3", "1/7"]], "layers": [[{"skip": 0} | sublayer]]}
    return {"id": "rm-1", "statement": "my:claim", "kind": "holds", "claim": claim, "given": given, "data": data}


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_the_checker(kind: str) -> None:
    """Two readers of one text, balls and intervals: X[1] agrees to 80 bits; a claim about it is written."""
    with precision(100):
        reader, _ = held(content(kind), 100)
        terms: list[list[Term]] = reader.value(formula("X[1]"), {})
    data, hints = read_network(content(kind)["data"], {}, math.inf)
    found = Evaluator(defined_network(), data, hints, 128, math.inf).value(formula("X[1]"), {})
    for row, other in zip(terms, found, strict=True):
        for term, x in zip(row, other, strict=True):
            low = Interval.of(x, 128).lower()
            assert abs(fraction(term.ball.mid()) - low) < Fraction(1, 2**80)
    assert "Theorem certified" in to_coq(content(kind), shared=False)[0]


@needs_coq
def test_coq_accepts_a_rotated_layer_and_no_other_claim(library: Path) -> None:
    text = to_coq(content("rotary"))[0]
    assert accepted(library, text)
    assert not accepted(library, text.replace("<= (9)", "<= (Q2R (1 # 1000))"))


def test_a_hypothesis_that_the_data_break_is_said() -> None:
    broken = content("rotary") | {"given": []}
    with pytest.raises(Untranslatable, match="positions"):
        to_coq(broken)
