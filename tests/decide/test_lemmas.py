"""Every lemma holds on instances, from one token and one dimension on; every statement that is used is proved."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.checker.derivation import meant
from rankmath.checker.lemmas import lemma_table, usable_statements
from rankmath.checker.monomials import nodes, read_tree
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.claims import statements
from rankmath.decide.space import Room, starts
from rankmath.decide.tally import looked_at
from rankmath.definitions.hypotheses import UNPRINTED
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

NUMBERS = [name for name, lemma in lemma_table().items() if re.search(r"\b[xyzfg]\b", lemma.text)]
NETWORKS = [name for name in lemma_table() if name not in NUMBERS]
SIZES = [(1, 1, 1), (1, 3, 2), (2, 1, 1), (2, 2, 2), (3, 2, 1), (4, 3, 2)]
A = Float64(np.zeros(1))


def fold(of: Any) -> Any:
    return lambda values: of(np.asarray(values))


FUNCTIONS = {
    **{name: getattr(math, name) for name in ("exp", "log", "tanh", "sqrt", "floor")},
    "abs": abs,
    "max": max,
    "min": min,
    "expc": lambda x: math.expm1(x) / x if x else 1.0,
    "tanhc": lambda x: math.tanh(x) / x if x else 1.0,
    "sum_h": fold(np.sum),
    "max_h": fold(np.max),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_lemma_about_numbers_holds_at_a_grid_of_them(name: str) -> None:
    lemma = lemma_table()[name]
    used = sorted(set(re.findall(r"\b[xyz]\b", lemma.text)))
    grid = (-30.0, -2.5, -1.0, -1e-3, 0.0, 1e-3, 0.4, 1.0, 2.0, 25.0)
    rng = np.random.default_rng(0)
    seen = 0
    for values in itertools.product(grid, repeat=len(used)):
        for H in (1, 3):
            spread = {letter: rng.normal(size=H) for letter in "fg"}
            known = {**FUNCTIONS, **dict(zip(used, values, strict=True)), **spread, "H": H, "n": H}
            if not all(eval(text, {}, known) for text in lemma.given):
                continue
            left, sign, right = re.split(r" (<=|<|==) ", lemma.text)
            a, b = eval(left, {}, known), eval(right, {}, known)
            slack = 1e-12 * max(1.0, abs(a), abs(b))
            assert a <= b + slack, (name, known)
            assert sign != "==" or abs(a - b) <= slack
            seen += 1
    assert seen >= 2


@pytest.mark.parametrize("name", NETWORKS)
def test_a_lemma_about_networks_holds_from_one_token_on(name: str) -> None:
    lemma = lemma_table()[name]
    given = {text.split(" == ")[0]: text.split(" == ")[1] for text in lemma.given if " == " in text}
    masks = {
        "any": ("none", "causal"),
        "causal": ("causal",),
        "causal_window(k)": ("causal_window(1)", "causal_window(2)", "causal_window(3)"),
        "window(k)": ("window(1)", "window(2)"),
    }.get(given.get("mask", ""), ("none",))
    skips = (0.0, -0.7) if "skip" in lemma.text else (0.0,)
    # What a lemma says of logits without saying how they are made holds with positions too.
    free = "logit_range" in lemma.text and "positions" not in meant([lemma.text, *lemma.given])
    positions = ("none", "relative") if free else ("none",)
    applied = 0
    token = re.search(r"diagonal\(.*, (\d)\)", lemma.text)
    sizes = [size for size in SIZES if token is None or int(token[1]) < size[0]]
    for (n, d, H), mask, skip, position in itertools.product(sizes, masks, skips, positions):
        for time in ("0", "1") if "[t]" in lemma.text else ("",):
            text = re.sub(r"\bt\b", time or "t", lemma.text)
            at = {"l": "0", "h": str(H - 1)}
            text = re.sub(r"\[l\+1\]", "[1]", re.sub(r"\[l\]", "[0]", text))
            if "_l(" not in text and "_h(" not in text:
                text = (
                    text.replace("[l, h]", f"[{at['l']}, {at['h']}]").replace("(l)", "(0)").replace("[l, 0]", "[0, 0]")
                )
            elif "_l(" not in text:
                text = text.replace("[l, h]", "[0, h]")
            extra = ["bias == any", "query_bias == any", f"positions == {position}"]
            extra = [x for x in extra if x.split()[0] not in given]
            hypotheses = [re.sub(r"\[t\]", f"[{time}]", x) for x in lemma.given]
            if "window(k)" in given.get("mask", ""):  # its number is the mask's
                hypotheses = [re.sub(r"^mask == .*", f"mask == {mask}", x) for x in hypotheses]
                text = re.sub(r"\bk\b", mask[-2], text)
            statement = Statement("mine:lemma", text, [*hypotheses, *extra])
            room = Room(
                *(n, max(d, 2) if given.get("layernorm") == "sphere" else d, H, 1),
                d_qk=2.0,
                skip=skip if "skip" not in given else 0.0,
                mask=mask,
                positions=position,
                norm=given.get("layernorm", "none"),
                norm_at=given.get("norm_at", "after"),
                key_bias="query_bias" not in given,
                bias="bias" not in given and "layernorm" not in given,
                orthogonal=False,
            )
            rng = np.random.default_rng([n, d, H])
            drawn = starts(rng, room, 12)
            if given.get("layernorm") == "sphere":  # a token that vanishes has no direction
                drawn = {letter: rng.normal(size=array.shape) for letter, array in drawn.items()}
            batch = room.instance(drawn)
            with np.errstate(all="ignore"):  # a quotient of zeros is told apart below
                found, _ = looked_at(statement, batch, set(), A)
            assert found is not None
            for place in np.flatnonzero(found.where(Outcome.VIOLATED))[:2]:  # rounding decides nothing
                verdict = judge(statement, batch.select(int(place)), "balls")
                assert verdict.outcome != Outcome.VIOLATED, (name, n, d, H, mask)
            applied += int(np.sum(~found.where(Outcome.NOT_APPLICABLE)))
    assert applied > 0, "no instance meets its hypotheses"


def test_the_statements_that_are_registered_as_proved_are_used_and_no_others() -> None:
    registered = statements()
    assert set(usable_statements()) == {key for key in NETWORK_CLAIMS if registered[key].status == "proved"}
    for key, theorems in usable_statements().items():
        entry = registered[key]
        assert (entry.status, entry.quantifier, entry.arrays) == ("proved", "all", {})
        assert theorems, f"{key} has no theorem in Coq"


def test_every_lemma_is_a_relation_of_the_language() -> None:
    for name, lemma in lemma_table().items():
        assert read_tree(lemma.text)[0] == "rel", name
        called = {node[1] for text in (lemma.text, *lemma.given) for node in nodes(read_tree(text)) if node[0] == "let"}
        assert called <= set("tlhkxyzfgndHLr") | {
            *("eigen", "singular"),
            *("d_qk", "skip", "x_star", "in_degree", "K", "mask", "layernorm", "mlp", "bias", "query_bias"),
            *("none", "any", "causal", "padding", "sphere", "before", *UNPRINTED),
            *("inf", "max", "one", "composite", "frobenius", "mean"),
        }, name
