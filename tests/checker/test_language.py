"""What a claim may be: relations of numbers, of arrays that each quantity is defined for; printed as it is read."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest

from rankmath.checker import network
from rankmath.checker.checker import FORMAT, check_text, wording
from rankmath.checker.intervals import Rejected, Undecided
from rankmath.checker.kernel import Evaluator

IDENTITY, LOWER = [[1, 0], [0, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
NETWORK: dict[str, Any] = {
    "X": [[1, 0], [0, 1], [1, 2]],
    "d_qk": 1,
    "skip": 0,
    "mask": "complete",
    "layernorm": "none",
    "layers": [{"heads": [{"W_QK": IDENTITY, "W": IDENTITY, "key_bias": [0, 0]}], "bias": [0, 0]}],
}


def checked(claim: str, key: str = "mine:claim", given: tuple[str, ...] = (), kind: str = "holds", **data: Any) -> Any:
    content = {"format": FORMAT, "statement": key, "claim": claim, "given": [*given], "kind": kind, "hints": {}}
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
        "operator_norm(X[0], 2) >= 1/999",
        "mu(P[0, 0]) >= 1/999",
        "max(X) >= 1/999",
        "min(P) == 5",
        "X[0] == X[0]",
        "inf == inf",
        "mu == about_mean and mu(X[0]) >= about_mean(X[0])",
        "recursion(b, X, b) == recursion(b, X, b)",
        "recursion(b, 1, recursion(c, b, c/2)) <= mu(X[0])",
        "() == ()",
        "mu(X[0], X[0]) >= 1/999",
        "mu() >= 1/999",
        "mu(X[0, 0]) >= 1/999",
        "norm(W[0], 1) >= 1/999",
        "norm(X[0] @ W[0, 0], 1) >= 1/999",
        "mu(X[l]) >= 1/999",
        "all_l(mu(X[0]))",
        "sum_l(mu(X[l]) >= 1/999)",
        "max_p(diameter(X[0], p)) >= 1/999",
        "all_p(p == p) and mu(X[0]) >= 1/999",
        "all_p(diameter(X[0], 2)*p >= 1/999)",
        "influence(1/2) >= 0*mu(X[0])",
        "is_last(99) == 0*mu(X[0])",
        "contraction(1/2) <= 1 and mu(X[0]) >= 1/999",
        f"mu(X[0]) <= 0x{'F' * 3900}",
        "mu(X[0])",
        "1 <= 2",
        "x_star > 1 and L >= 1",
        "not mu(X[0]) < 1/999",
        "mu(X[0]) >= 1/999 or 1 > 2",
        "mu(X[0]) >= 1/999 # and for every network",
        "mu(X[0]) >=\n1/999",
        "mu(X[0]) >= 1/999\u001b[2J",
        "mu(X[0]) \ud800 >= 1/999",
    ],
)
def test_what_is_no_claim_is_refused(claim: str) -> None:
    found = checked(claim)
    assert not found.accepted
    assert "itself failed" not in found.reason
    assert not checked(claim, kind="violates").accepted
    assert all(line.isprintable() for line in found.checked)


@pytest.mark.parametrize(
    "claim",
    [
        "mu(X[0]) > 0 and all_l(diameter(X[l + 1], 2) <= diameter(X[l], 2))",
        "all_p(diameter(X[1], p) <= diameter(X[0], p))",
        "invertible(W[0, 0]) and norm(P[0, 0], inf) < 2 and norm(X[0], max) == 2",
        "recursion(b, diameter(X[0], 2), b*norm(W[l, 0], 2)) > 0",
        "max(mu(X[0]), 0, -n) > 1/2",
    ],
)
def test_claims_are_taken(claim: str) -> None:
    assert checked(claim).accepted


@pytest.mark.parametrize(
    ("claim", "empty"),
    [
        ("0*mu(X[1]) <= 1", True),
        ("mu(X[0]) - mu(X[0]) <= 1/9", True),
        ("0/mu(X[0]) < 1", True),
        ("max(mu(X[0]), 1) > 1/2 and all_l(norm(W[l, 0], 2)**2 >= 0)", True),
        ("tanh(diameter(X[1], 2)) < 2", True),
        ("recursion(b, 1, b + mu(X[l])**2) >= 1", True),
        ("1 + 0*mu(X[1]) <= 2", True),
        ("mu(X[1]) - mu(X[2 - 1]) <= 1", True),
        ("norm(W[0, 0], 1)/norm(W[0, 1 - 1], 1) <= 2", True),
        ("all_l(mu(X[l + 1]) - mu(X[l]) <= 9)", False),
        ("invertible(W[0, 0]) and 1 + 0*mu(X[1]) <= 2", False),
        ("mu(X[0]) <= 10**3000", False),
        ("mu(X[0]) >= 0", True),
        ("mu(X[0]) >= 1/999", False),
        ("norm(P[0, 0], inf) <= 2", True),
        ("norm(P[0, 0], 1) <= 5/2", False),
        ("last_share(0) <= 1", True),
        ("last_share(0) <= 1/2", False),
        ("jacobian_norm() <= 30", False),
        ("diameter(X[1], 2) <= sqrt(2)*mu(X[1])", True),
        ("diameter(X[1], 2) <= sqrt(2)*mu(X[0])", False),
        ("residual(X[1], frobenius) <= 2*mu(X[L])", True),
        ("residual(X[1], composite) <= 2*mu(X[L])", True),
        ("residual(X[1], composite) <= 2*mu(X[0])", False),
        ("mu(X[1]) <= norm(W[0, 0], 2) + norm(W_QK[0, 0], 2) + diameter(X[0], 1) + jacobian_norm()", False),
        ("mu(X[0]) - mu(X[1]) <= 9", False),
        ("sqrt(mu(X[0])) <= 1/mu(X[0]) + 2", False),
        ("mu(X[1]) < 2*mu(X[1])", True),
        ("tanh(mu(X[1])) < 2*mu(X[1])", True),
        ("norm(W[0, 0], 2) < 2*norm(W[0, 0], frobenius)", True),
        ("mu(X[1]) < 2*mu(X[0])", False),
        ("mu(X[1]) > 0", False),
    ],
)
def test_what_would_hold_of_any_numbers_says_nothing(claim: str, empty: bool) -> None:
    found = checked(claim)
    assert found.accepted is not empty
    assert ("say nothing" in found.reason.replace("says", "say")) is empty


_WINDOWS = ("mu(X[0]) <= 1.64", "mu(X[0]) >= 1.63", "mu(X[1]) <= 0.68", "mu(X[1]) >= 0.67")


@pytest.mark.parametrize(
    ("claim", "given", "taken"),
    [
        ("diameter(X[1], 2) <= 3", ("diameter(X[1], 2) <= 3",), False),
        ("3 >= diameter(X[1], 2)", ("diameter(X[1], 2) <= 2.9",), False),
        ("diameter(X[1], 2) <= 3", ("diameter(X[0], 2) <= 3",), True),
        # Hypotheses that no drawn network meets.
        ("3 >= diameter(X[1], 2)", ("norm(X[0], 1) == 3", "diameter(X[1], 2) <= 3"), False),
        ("diameter(X[1], 2) <= 3", ("norm(X[0], 1) == 3", "mu(X[1]) <= 4"), True),
        ("form_norm(W_QK[0, 0], 1) <= form_norm(W_QK[0, 0], inf)*2", (), False),
        ("mu(X[1]) <= 3", ("diameter(X[0], 2) <= 3", "H == 1", "n == 3"), True),
        ("q_min(P[0, 0], mean) <= q_max(P[0, 0], mean)", (), False),
        ("delta(P[0, 0], mean) <= 9*q_max(P[0, 0], mean)", (), True),
        ("sum_i(last_share(i)) <= 2", (), False),
        ("last_share(0) + last_share(1) <= 2/3", (), True),
        ("influence(0) <= jacobian_norm()", (), False),
        ("influence(0) <= jacobian_norm()/2", (), True),
        ("residual(X[1], inf) <= norm(X[1], inf)", (), False),
        ("residual(X[1], inf) <= norm(X[0], inf)", (), True),
        ("residual(X[1], inf) <= diameter(X[1], 1)", (), False),
        ("residual(X[1], inf) >= diameter(X[1], 1)/3", (), False),
        ("residual(X[1], inf) <= sqrt(d)*mu(X[1])", (), False),
        ("residual(X[1], inf) <= diameter(X[0], 1)", (), True),
        ("q_max(P[0, 0], mean) + (n - 1)*q_min(P[0, 0], mean) <= 1.001", (), False),
        ("q_max(P[0, 0], mean) + (n - 1)*q_min(P[0, 0], mean) <= 0.99", (), True),
        ("max_h(delta(P[0, h], mean)) <= delta(P[0, 0], mean)*2", ("H == 1",), False),
        ("max_l(delta(P[l, 0], mean)) <= 9*q_max(P[0, 0], mean)", (), True),
        ("repeat_reach(X[0]) <= 2*diameter(X[0], 2)", ("mask == causal",), False),
        ("repeat_reach(X[1]) <= diameter(X[1], 2) + 2*repeat_gap(X[1])", ("mask == causal",), False),
        ("repeat_reach(X[1]) <= 2*diameter(X[0], 2)", ("mask == causal",), True),
        # What is weaker than narrow hypotheses, and what is not.
        ("diameter(X[1], 2) <= 1.9", ("diameter(X[1], 2) <= 0.95", "diameter(X[1], 2) >= 0.85"), False),
        ("mu(X[0])*mu(X[1]) <= 99", _WINDOWS, False),
        ("mu(X[1]) <= mu(X[0])*0.6", ("mu(X[1])/mu(X[0]) <= 0.42", "mu(X[1])/mu(X[0]) >= 0.41"), False),
        ("norm(W[0, 0], 2) <= 9", ("norm(W[0, 0], frobenius) <= 1.5", "norm(W[0, 0], frobenius) >= 1.4"), False),
        ("norm(W[0, 0], 2) <= 9*mu(X[1])", _WINDOWS[:2], True),
        ("diameter(X[1], 2) <= mu(X[0])", ("diameter(X[1], 2) <= 0.95", "diameter(X[1], 2) >= 0.85"), True),
        ("form_norm(W[0, 0], 2) <= norm(W[0, 0], 2)*2", (), False),
        ("lipschitz(0) <= 1 and product_norm(2) <= 2*norm(W[0, 0], 2)", (), False),
        ("self_loops() and strongly_connected()", (), False),
        ("dobrushin(P[0, 0]) >= 1/9", (), True),
        ("entropy(P[0, 0]) <= 1", (), True),
    ],
)
def test_what_is_known_of_all_arrays_says_nothing(claim: str, given: tuple[str, ...], taken: bool) -> None:
    found = checked(claim, given=given, **({"mask": LOWER} if "mask == causal" in given else {}))
    assert found.accepted is taken, found.reason
    assert taken or found.reason.startswith(
        ("claim: it says nothing of the network", "claim: it may say nothing of the network")
    )


@pytest.mark.parametrize(
    "claim",
    [
        "repeat_gap(X[1]) > repeat_reach(X[1])",
        "mu(X[1]) < 0",
        "norm(P[0, 0], inf) > 2",
        "mu(X[1]) >= 2*norm(X[1], frobenius)",
    ],
)
def test_what_fails_of_all_networks_is_refuted_by_any(claim: str) -> None:
    """That a claim is false is no empty word, however false it is. Of the same networks nothing holds that is so."""
    data = {"given": ("mask == causal",), "mask": LOWER}
    assert checked(claim, kind="violates", **data).accepted
    found = checked(re.sub(" (<|>=?) ", lambda sign: {"<": " >= ", ">": " <= ", ">=": " <= "}[sign[1]], claim), **data)
    assert found.reason.startswith(
        ("claim: it says nothing of the network", "claim: it may say nothing of the network")
    ), found.reason


@pytest.mark.parametrize("claim", ["2 < 1", "n < 1 and d < 1", "sqrt(n) > n"])
def test_numbers_alone_are_refuted_by_no_network(claim: str) -> None:
    assert checked(claim, kind="violates").reason == (
        "claim: it says nothing of the network: it speaks of none of its arrays"
    )


def test_what_is_nothing_is_no_side() -> None:
    """W sends X to 0 in the second layer, so that nothing is left of the tokens: 0 <= anything says nothing."""
    zero = {"heads": [{"W_QK": IDENTITY, "W": [[0, 0], [0, 0]], "key_bias": [0, 0]}], "bias": [0, 0]}
    layers = [NETWORK["layers"][0], zero]
    for claim, taken in (
        ("diameter(X[2], 2) <= diameter(X[1], 2)", False),
        ("all_p(diameter(X[2], p) <= diameter(X[1], p))", False),
        ("all_l(diameter(X[l + 1], 1) <= diameter(X[l], 1))", True),
    ):
        found = checked(claim, layers=layers)
        assert found.accepted is False
        assert found.reason.startswith("data: a layer leaves no two tokens that differ")
        assert checked(claim, layers=layers[:1]).accepted is taken
    assert checked("all_p(diameter(X[2], p) >= diameter(X[1], p))", kind="violates", layers=layers).accepted
    # Of the first layer alone something is said, and of one that does nothing nothing is.
    claim = "diameter(X[1], 2) <= 2*diameter(X[0], 2)"
    assert checked(claim, layers=layers).accepted
    found = checked(claim, layers=layers[::-1], skip=1, given=("skip == 1",))
    assert found.reason.startswith("data: these tokens would be the same without attention")
    found = checked("diameter(X[2], 2) <= 2*diameter(X[0], 2)", layers=layers[::-1], skip=1, given=("skip == 1",))
    assert found.accepted


def test_attention_that_is_undone_says_nothing() -> None:
    """The first layer writes averages into the second column; W = -E there and an MLP take them away again."""
    X = [[1, 0], [2, 0], [4, 0]]
    write = layer(head([[0, 1], [0, 0]]))
    wipe = {"W_in": [[1, -1], [0, 0]], "b_in": [0, 0], "W_out": [[1, 0], [-1, 0]], "b_out": [0, 0], "skip": 0}
    given, still = ("skip == 1", "mlp == any"), layer(head([[0, 0], [0, 0]]), mlp={**wipe, "activation": "relu"})
    for last, taken in ((2, False), (1, True)):
        found = checked(f"mu(X[{last}]) <= 3*mu(X[0])", layers=[write, still], X=X, skip=1, given=given)
        assert found.accepted is taken, found.reason
        assert taken or found.reason.startswith("data: these tokens would be the same without attention")


def head(W: Any, W_QK: Any = IDENTITY) -> dict[str, Any]:
    return {"W_QK": W_QK, "W": W, "key_bias": [0] * len(W)}


def layer(*heads: Any, **more: Any) -> dict[str, Any]:
    return {"heads": [*heads], "bias": [0] * len(heads[0]["W"]), **more}


_PLUS, _MINUS, _FIRST, _SECOND = IDENTITY, [[-1, 0], [0, -1]], [[1, 0], [0, 0]], [[0, 0], [0, 1]]
_DEAD = {"W_in": [[1], [1]], "b_in": [-9], "W_out": [[1, 1]], "b_out": [1, 0], "activation": "relu", "skip": 0}
_ALIVE = {**_DEAD, "b_in": [0]}
_TWINS, _LEVEL = [[1, 0], [1, 0], [0, 2]], [[1, 1], [3, 1], [4, 1]]
_AVERAGES, _CARRIES, _LEAVES = "no token averages", "attention carries nothing", "a layer leaves no two"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"layers": [layer(head(_SECOND))], "X": [[1, 1], [3, 1], [5, 1]], "skip": 1}, _AVERAGES),
        ({"layers": [layer(head(_SECOND))], "X": [[1, 1], [3, 1], [5, 2]], "skip": 1}, ""),
        ({"layers": [layer(head(_PLUS), head(_MINUS))], "skip": 1}, _CARRIES),
        ({"layers": [layer(head(_PLUS), head(_MINUS))], "skip": 0}, _CARRIES),
        ({"layers": [layer(head(_PLUS), head(_MINUS, _MINUS))], "skip": 1}, ""),
        ({"layers": [layer(head(_PLUS), mlp=_DEAD)]}, _CARRIES),
        ({"layers": [layer(head(_PLUS), mlp=_ALIVE)]}, ""),
        ({"layers": [layer(head(_FIRST)), layer(head(_SECOND))]}, _LEAVES),
        ({"layers": [layer(head(_FIRST)), layer(head(_FIRST))]}, ""),
        ({"layers": [layer(head(_PLUS))] * 9}, ""),
        ({"mask": [[1, 1, 0], [1, 1, 0], [0, 0, 1]], "X": _TWINS}, _AVERAGES),
        ({"mask": [[0, 1, 0], [0, 0, 1], [1, 0, 0]]}, _AVERAGES),
        ({"mask": [[0, 1, 0], [0, 0, 1], [1, 1, 0]]}, ""),
        ({"mask": [[1, 0, 1], [0, 1, 0], [0, 0, 1]], "X": _TWINS}, ""),
        (
            {"layernorm": "sphere", "X": [[-1], [1]], "layers": [layer(head([[1]], [[1]]))]},
            "in dimension 1 LayerNorm keeps nothing of a token but its sign",
        ),
        ({"layernorm": "column", "X": [[0, 1], [1, 3]]}, "of two kinds of tokens"),
        ({"layernorm": "column", "X": [[0, 1], [1, 3], [0, 1]]}, "of two kinds of tokens"),
        ({"layernorm": "column", "X": [[0, 1], [1, 3], [1, 3]]}, "of two kinds of tokens"),
        ({"layernorm": "column", "X": [[0, 1], [0, 1], [1, 3]]}, "of two kinds of tokens"),
        ({"layernorm": "column"}, ""),
        (
            {"layernorm": "sphere", "X": [[1, 2], [2, 4], [-1, -2]]},
            "of tokens on one line through 0 the sphere keeps nothing but signs",
        ),
        ({"layernorm": "sphere", "X": [[1, 2], [2, 4], [-1, -3]]}, ""),
        # Two heads that cancel, beside one that adds a constant; a column that the MLP does not read.
        ({"layers": [layer(head(_FIRST), head([[-1, 0], [0, 0]]), head(_SECOND))], "X": _LEVEL, "skip": 1}, _CARRIES),
        ({"layers": [layer(head(_FIRST), head([[-2, 0], [0, 0]]), head(_SECOND))], "X": _LEVEL, "skip": 1}, ""),
        ({"layers": [layer(head(_FIRST), mlp={**_ALIVE, "W_in": [[0], [1]]})], "skip": 1}, _CARRIES),
        ({"layers": [layer(head(_SECOND), mlp={**_ALIVE, "W_in": [[0], [1]]})], "skip": 1}, ""),
        # A collapse within one layer that 128 bits do not see.
        ({"layers": [layer(head([[1]], [[100]]))], "X": [[1], [2], [4]]}, ""),
    ],
)
def test_what_holds_of_a_network_that_does_nothing_says_nothing(data: dict[str, Any], why: str) -> None:
    data = {"skip": 0, **data}
    given = (f"skip == {data['skip']}", "mask == any", "mlp == any", f"layernorm == {data.get('layernorm', 'none')}")
    found = checked("mu(X[1]) <= 99*norm(W[0, 0], 2)", given=given, **data)
    assert found.accepted is not bool(why), found.reason
    assert found.reason.startswith(f"data: {why}" if why else "all of it")


def test_what_is_too_long_is_refused_before_it_is_read() -> None:
    for claim in (f"mu(X[0]) >= 0.{'1' * 4299}", "1.1 " * 10**5):
        for found in (checked(claim), checked("mu(X[0]) >= 1/999", given=(claim,))):
            assert found.reason == "a formula beyond 3500 characters"


@pytest.mark.parametrize(("array", "there"), [("X[1]", True), ("X[2]", False), ("P[0, 0]", True), ("P[1, 0]", False)])
def test_layers_that_are_not_there_are_named(array: str, there: bool) -> None:
    found = checked(f"norm({array}, 1) <= 9 and mu(X[1]) <= 3")
    assert found.accepted is there, found.reason
    assert there or found.reason == f"{array}: there are 1 layer(s)"


def test_centers_are_as_many_as_layers() -> None:
    two = checked("mu(X[0]) >= 1/999", centers=[[0, 0], [0, 0]])
    assert two.reason == "data.centers: 2 given, one for each layer is needed"


def test_tokens_that_are_one_on_the_sphere_say_nothing() -> None:
    given = ("layernorm == sphere",)
    taken_or_not = {"1 0 2 0": False, "1 0 -2 0": False, "1 2 2 4": False, "0 2 0 1/3": False, "0 2 1 2": True}
    for text, taken in taken_or_not.items():
        tokens = [text.split()[:2], text.split()[2:]]
        found = checked("mu(X[0]) >= 1/999", given=given, X=tokens, layernorm="sphere")
        assert found.accepted is taken


@pytest.mark.parametrize("claim", ["mu(X[99]) > 0", "1/0 > mu(X[0])", "all_i(mu(X[i]) < 0)", "0 < sqrt(-mu(X[0]))"])
def test_what_fails_has_a_meaning_throughout(claim: str) -> None:
    assert checked("mu(X[0]) < 1/999", kind="violates").accepted
    assert not checked(f"mu(X[0]) < 1/999 and {claim}", kind="violates").accepted


@pytest.mark.parametrize(
    "part", ["1/({})", "sqrt({} - 1/10**9)", "log({})", "({})**(-1)", "floor(1/({}))", "sum_l(1/({}))"]
)
def test_a_part_that_no_precision_shows_to_be_a_number_may_have_no_meaning(part: str) -> None:
    term = part.format("sqrt(2)**2 - 2")  # 0, which intervals never tell
    assert not checked(f"mu(X[0]) < 1/999 and {term} >= mu(X[0])", kind="violates").accepted
    term = part.format("sqrt(2)**2 - 1/2")
    assert checked(f"mu(X[0]) < 1/999 and {term} >= mu(X[0])", kind="violates").accepted


def test_values_that_are_all_zero_say_nothing() -> None:
    layers = NETWORK["layers"][0]
    for W, taken in (([[0, 0], [0, 0]], False), ([[0, 0], [0, 1]], True)):
        heads = [{**layers["heads"][0], "W": W}]
        assert checked("diameter(X[1], 2) >= 1/999", layers=[{**layers, "heads": heads}]).accepted is taken


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        ({}, False),
        ({"X": [[1, 1], [3, 1]]}, False),
        ({"X": [[1, 1], [3, 2]]}, True),
        ({"skip": 1}, False),
        ({"skip": 1, "bias": [0, 1]}, False),
        ({"skip": 1, "bias": [0, 1], "count": 2}, False),
        ({"skip": 1, "bias": [1, 0], "count": 2}, False),
        ({"mask": [[1, 0], [0, 1]], "X": [[1, 1], [3, 2]]}, False),
        ({"mask": [[1, 0], [1, 1]], "X": [[1, 1], [3, 2]]}, True),
    ],
)
def test_attention_carries_something_between_tokens(data: dict[str, Any], taken: bool) -> None:
    """W sends (1, 0) and (3, 0) to 0: nothing of these tokens reaches the next layer."""
    data = {"X": [[1, 0], [3, 0]], **data}
    layer = {**NETWORK["layers"][0], "bias": data.pop("bias", [0, 0])}
    layer["heads"] = [{**layer["heads"][0], "W": [[0, 0], [0, 1]]}]
    given, layers = ("skip >= 0", "mask == any"), [layer] * data.pop("count", 1)
    assert checked("diameter(X[1], 2) <= 99*norm(W[0, 0], 2)", given=given, layers=layers, **data).accepted is taken
    assert checked(
        "diameter(X[1], 2) > 99*norm(W[0, 0], 2)", given=given, layers=[layer], kind="violates", **data
    ).accepted


@pytest.mark.parametrize(("kind", "others"), [("holds", "nothing is said of others"), ("violates", "not true of all")])
def test_one_network_is_spoken_of(kind: str, others: str) -> None:
    words = checked("mu(X[0]) > 0" if kind == "holds" else "mu(X[0]) < 1/999", kind=kind).checked
    assert words[1] == (
        "hypotheses: mask == none; layernorm == none; mlp == none; skip == 0; norm_at == after; positions == none; "
        "softcap == none; qk_norm == none"
    )
    assert others in words[-1]
    assert others not in checked("mu(X[0]) == 0", kind="holds").checked[-1]


def test_a_form_norm_that_is_a_bound_is_said() -> None:
    for d, said in ((5, False), (13, True)):
        unit = [[int(i == j) for j in range(d)] for i in range(d)]
        head = {"W_QK": unit, "W": unit, "key_bias": [0] * d}
        found = checked(
            "form_norm(W_QK[0, 0], inf) <= d*mu(X[0])*2", X=unit[:2], layers=[{"heads": [head], "bias": [0] * d}]
        )
        assert found.accepted
        assert any("sum of |W_ij|" in line for line in found.checked) is said


@pytest.mark.parametrize(
    "key",
    [
        "own:mine",
        "Own:composite",
        "own-composite",
        "\u043ewn:composite",
        "wu2024:9",
        "own.composite",
        "_own:composite",
        "dong2021_2.2",
    ],
)
def test_names_of_ours_are_not_taken(key: str) -> None:
    assert not checked("mu(X[0]) >= 1/999", key=key).accepted


def test_what_is_taken_about_a_center_needs_the_center_in_the_data() -> None:
    assert checked("delta(P[0, 0], composite) >= 1/999").reason.startswith("data.centers: ")
    named = checked("delta(P[0, 0], composite) >= 1/999", centers=[[0] * len(NETWORK["X"][0])])
    assert not any("centers" in line for line in named.checked)  # it is not known whether it is one
    for claim in ("mu(X[0]) >= 1/999", "delta(P[0, 0], mean) <= 9 + residual(X[0], composite)"):
        found = checked(claim)
        assert found.accepted
        assert not any("centers" in line for line in found.checked)


@pytest.mark.parametrize("reason", [Rejected, Undecided])
def test_a_quantity_of_the_network_without_a_number_of_its_own_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, reason: type[Exception]
) -> None:
    # What looks for empty claims tries others in its place; numbers too small to be written have no middle.
    value, asked = Evaluator.value, []

    def without_middle(work: Evaluator, node: ast.expr, names: dict[str, Any]) -> Any:
        if ast.unparse(node).startswith("middle(delta("):
            asked.append(node)
            raise reason("no number")
        return value(work, node, names)

    monkeypatch.setattr(Evaluator, "value", without_middle)
    honest, empty = (
        checked(f"delta(P[0, 0], mean) <= {bound}") for bound in ("q_max(P[0, 0], mean)*9", "delta(P[0, 0], mean)*2")
    )
    assert honest.accepted, honest.reason
    assert asked
    assert not empty.accepted
    assert "say nothing" in empty.reason


@pytest.mark.parametrize(
    ("center", "good"), [("1/2", True), (f"{2**39 + 1}/{2**40}", True), (f"{2**22 + 1}/{2**23}", False)]
)
def test_two_certificates_that_contradict_each_other_speak_of_different_data(center: str, good: bool) -> None:
    """The least composite residual of 0 and 1 is at 1/2, where delta is 1/2."""
    layer = {"heads": [{"W_QK": [[1]], "W": [[1]], "key_bias": [0]}], "bias": [0]}
    data = {**NETWORK, "X": [[0], [1]], "d_qk": 1, "mask": "complete", "layers": [layer], "centers": [[center]]}
    lines = [{"columns": [1], "rows": [0, 0]}, {"columns": [0], "rows": [1, 1]}]
    claim = {"claim": "delta(P[0, 0], composite) <= 1/2", "given": [], "kind": "holds"}
    for named in (center, "1/2"):  # whatever a hint says
        hints = {"X[0] composite": {"center": [named], "lines": lines}}
        content = {"format": FORMAT, "statement": "mine:claim", **claim, "data": data, "hints": hints}
        found = check_text(json.dumps(content))
        assert found.accepted == any("composite centers are those of the data" in line for line in found.checked)
        assert found.verdict == ("accepted" if center == "1/2" else "rejected" if good else "undecided")


def test_numbers_too_long_to_be_written_are_rounded_outward() -> None:
    """Python writes no more than 4300 digits."""
    tower = "recursion(b, {}, b**9999999)"
    twice = NETWORK["layers"] * 25
    for start, relation, ends in (("2", ">=", "[2^(10^17), inf]"), ("1/2", "<=", "[0, 2^-(10^17)]")):
        found = checked(f"mu(X[1]) <= 2*mu(X[0]) and {tower.format(start)} {relation} mu(X[0])", layers=twice)
        assert found.accepted
        assert ends in found.checked[-2]
    (claim, given), many = wording("own:tv"), "9" * 3999
    content = {"format": FORMAT, "statement": "own:tv", "claim": claim, "given": given, "kind": "holds", "hints": {}}
    for weight, shown in ((f"-{many}*2^9999", "at w = [-"), (f"{many}*2^9999", "hypotheses that hold")):
        found = check_text(json.dumps({**content, "hints": {}, "data": {"weights": [weight, 1], "g": [0, 1]}}))
        assert found.accepted is (weight == f"{many}*2^9999")
        assert any(shown in line for line in found.checked), found.reason


def test_no_text_of_a_claim_is_made_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every part of a long sum it would take minutes, and nobody looks at the clock there."""
    made: list[str] = []
    monkeypatch.setattr(network, "_text", lambda node: made.append(type(node).__name__) or "")
    assert checked("+".join(["mu(X[0])"] * 100) + " >= 1/999").accepted
    assert made == []
    assert not checked("mu(X[0]) + X[0] >= 1/999").accepted
    assert made == ["Subscript"]


def test_a_radius_that_there_is_not_is_said() -> None:
    apart, causal = [[1, 1, 0], [1, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    for mask, claim, said in (
        (apart, "r*mu(X[0]) > 0", True),
        (causal, "r*mu(X[0]) > 0", False),
        (apart, "mu(X[0]) > 0", False),
    ):
        found = checked(claim, given=("mask == any",), mask=mask)
        assert found.accepted
        assert any("r is taken as 1" in line for line in found.checked) is said


def test_a_long_claim_that_fails_is_refuted_however_it_is_spaced() -> None:
    assert checked(f"max({','.join(['n'] * 1700)})<mu(X[0])", kind="violates").accepted
