"""What a claim may be: relations of numbers, of arrays that each quantity is defined for; printed as it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rankmath.checker.checker import FORMAT, check_text
from rankmath.checker.statements import CLAIM_TAKES, CLAIM_TRUTHS
from rankmath.formula.language import function

IDENTITY = [[1, 0], [0, 1]]
NETWORK: dict[str, Any] = {
    "X": [[1, 0], [0, 1], [1, 2]],
    "d_qk": 1,
    "skip": 0,
    "mask": "complete",
    "layernorm": "none",
    "layers": [{"heads": [{"W_QK": IDENTITY, "W": IDENTITY, "key_bias": [0, 0]}], "bias": [0, 0]}],
}


def checked(claim: str, key: str = "mine:claim", given: tuple[str, ...] = (), **data: Any) -> Any:
    content = {"format": FORMAT, "statement": key, "claim": claim, "given": [*given], "kind": "holds", "hints": {}}
    return check_text(json.dumps({**content, "data": {**NETWORK, **data}}))


@pytest.mark.parametrize(
    "claim",
    [
        "invertible(P[0, 0])",
        "invertible(X[0])",
        "diameter(W[0, 0], 1) <= 0",
        "epsilon(W[0, 0]) >= 0",
        "cosine(W[0, 0]) >= -1",
        "dobrushin(X[0]) <= 1",
        "operator_norm(X[0], 2) >= 0",
        "mu(P[0, 0]) >= 0",
        "max(X) >= 0",
        "min(P) == 5",
        "X[0] == X[0]",
        "inf == inf",
        "mu == about_mean and mu(X[0]) >= about_mean(X[0])",
        "recursion(b, X, b) == recursion(b, X, b)",
        "() == ()",
        "mu(X[0], X[0]) >= 0",
        "mu() >= 0",
        "mu(X[0, 0]) >= 0",
        "norm(W[0], 1) >= 0",
        "norm(X[0] @ W[0, 0], 1) >= 0",
        "mu(X[l]) >= 0",
        "all_l(mu(X[0]))",
        "sum_l(mu(X[l]) >= 0)",
        "max_p(diameter(X[0], p)) >= 0",
        "mu(X[0])",
        "1 <= 2",
        "x_star > 1 and L >= 1",
        "not mu(X[0]) < 0",
        "mu(X[0]) >= 0 or 1 > 2",
        "mu(X[0]) >= 0 # and for every network",
        "mu(X[0]) >=\n0",
        "mu(X[0]) >= 0\u001b[2J",
        "mu(X[0]) \ud800 >= 0",
    ],
)
def test_what_is_no_claim_is_refused(claim: str) -> None:
    found = checked(claim)
    assert not found.accepted
    assert "itself failed" not in found.reason
    assert all(line.isprintable() for line in found.checked)


@pytest.mark.parametrize(
    "claim",
    [
        "mu(X[0]) > 0 and all_l(diameter(X[l + 1], 2) <= diameter(X[l], 2))",
        "all_p(diameter(X[1], p) <= diameter(X[0], p))",
        "invertible(W[0, 0]) and norm(P[0, 0], inf) < 2 and norm(X[0], max) == 2",
        "recursion(b, diameter(X[0], 2), b*norm(W[l, 0], 2)) > 0",
        "max(mu(X[0]), 1, -n) > 1/2",
    ],
)
def test_claims_are_taken(claim: str) -> None:
    assert checked(claim).accepted


def test_tokens_that_are_one_on_the_sphere_say_nothing() -> None:
    given = ("layernorm == sphere",)
    for tokens, taken in (([[1, 0], [2, 0]], False), ([[1, 0], [-2, 0]], True), ([[1, 2], [2, 4]], False)):
        found = checked("mu(X[0]) >= 0", given=given, X=tokens, layernorm="sphere")
        assert found.accepted is taken


@pytest.mark.parametrize("key", ["own:mine", "Own:composite", "own-composite", "\u043ewn:composite", "wu2024:9"])
def test_names_of_ours_are_not_taken(key: str) -> None:
    assert not checked("mu(X[0]) >= 0", key=key).accepted


def test_a_center_that_a_hint_may_choose_is_said() -> None:
    words = checked("delta(P[0, 0], composite) >= 0").checked
    assert any("of several as good" in line for line in words)
    assert not any("of several as good" in line for line in checked("mu(X[0]) >= 0").checked)


def test_the_library_and_the_checker_take_the_same_arguments() -> None:
    letters = {
        "tokens": "X",
        "attention": "P",
        "weight": "W",
        "matrix": "A",
        "word": "w",
        "layer": "x",
        "number": "x",
    }
    for name, kinds in CLAIM_TAKES.items():
        known = function(name)
        assert known is not None, name
        assert "".join(letters[parameter.kind] for parameter in known.parameters) == kinds, name
        assert (known.value == "truth") == (name in CLAIM_TRUTHS), name
