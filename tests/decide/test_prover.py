"""What is true is proved and the checker accepts it; what is false is not."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.checker import checker
from rankmath.checker.lemmas import lemma_table
from rankmath.decide.prover import prove
from rankmath.decide.prover.programs import combination, shares
from rankmath.decide.prover.reading import in_sentences
from rankmath.decide.space import with_draws
from rankmath.decide.tally import looked_at
from rankmath.validation import InvalidArgument
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

NO_MAPS = ["mask == none", "layernorm == none", "mlp == none"]

ONE = ("heads == 1",)
RANGE = "logit_range(P[0,0]) <= 2"
TRUE = {
    "a lemma as it stands": ("diameter(X[0], 1) <= 2*residual(X[0], inf)", ()),
    "by Dobrushin": ("diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", ONE),
    "cubic": ("diameter(X[1], 2) <= norm(W[0,0], 2)*norm(W_QK[0,0], 2)*diameter(X[0], 2)**3/(4*sqrt(d_qk))", ONE),
    "a root of n - 1, also for one token": ("mu(X[1]) <= sqrt(n - 1)*norm(W[0,0], 2)*mu(X[0])", ONE),
    "true for one token because both sides are 0": ("mu(X[0]) <= sqrt(n - 1)*mu(X[0])", ()),
    "two layers": ("diameter(X[2], 1) <= norm(W[0,0], inf)*norm(W[1,0], inf)*diameter(X[0], 1)", ONE),
    "all heads by the largest": ("diameter(X[1], 1) <= H*max_h(norm(W[0,h], inf))*diameter(X[0], 1)", ()),
    "two heads": ("diameter(X[1], 2) <= (norm(W[0,0], 2) + norm(W[0,1], 2))*diameter(X[0], 2)", ("heads == 2",)),
    "all layers": ("diameter(X[L], 1) <= prod_l(norm(W[l,0], inf))*diameter(X[0], 1)", ONE),
    "a hypothesis of every layer": ("diameter(X[L], 2) <= diameter(X[0], 2)", (*ONE, "all_l(norm(W[l,0], 2) <= 1)")),
    "causal": ("diameter(X[1], 2) <= 2*norm(W[0,0], 2)*longest(X[0])", (*ONE, "mask == causal")),
    "tanh grows": ("dobrushin(P[0,0]) <= tanh(norm(W_QK[0,0], frobenius)*diameter(X[0], 2)**2/(4*sqrt(d_qk)))", ONE),
    "entropy": ("log(n) - logit_range(P[0,0])**2/8 <= entropy(P[0,0])", ONE),
    "a skip from below": (
        "diameter(X[1], 2) >= (1 - norm(W[0,0], 2))*diameter(X[0], 2)",
        (*ONE, "skip == 1", "norm(W[0,0], 2) <= 1"),
    ),
    "strict": ("dobrushin(P[0,0]) < 2", ONE),
    "an equation": ("residual(X[0], frobenius) == mu(X[0])", ()),
    "all exponents": ("all_p(diameter(X[1], p) <= operator_norm(W[0,0], p)*diameter(X[0], p))", ONE),
    "the least attention": ("epsilon(P[0,0]) <= 1/n", ONE),
    "Jung's ball": ("residual(X[2], inf) <= sqrt(d)*norm(W[0,0], 2)*norm(W[1,0], 2)*mu(X[0])", ONE),
    "what is 0 under a causal mask": ("entropy(P[0,0]) <= logit_range(P[0,0])", (*ONE, "mask == causal")),
    "a sum of logarithms": ("sum_h(entropy(P[0,h])) <= H*log(n)", ()),
    "ranks": ("stable_rank(X[1]) <= min(n, rank(X[0]))", (*ONE, "bias == none")),
    "an exponential that falls": ("second_modulus(P[0,0]) <= exp(-n*epsilon(P[0,0]))", ONE),
    "a sign that is unknown": ("definiteness(W[0,0]) <= sqrt(d)*norm(W[0,0], inf)", ONE),
    "a difference as a factor": (
        "diameter(X[1], 2) <= norm(W[0,0], 2)*(1 - exp(-logit_range(P[0,0])))*diameter(X[0], 2)",
        ONE,
    ),
    "strict by what is given": (
        "diameter(X[1], 2) < 2*diameter(X[0], 2)",
        (*ONE, "norm(W[0,0], 2) <= 1", "diameter(X[0], 2) >= 1"),
    ),
    "strict at consensus": ("second_modulus(P0[0,0]) < 1", ("positions == rotary",)),
    "strict under a causal mask": ("second_modulus(P[0,0]) < 1", (*ONE, "mask == causal")),
    "ranks of heads": ("rank(X[1]) <= sum_h(rank(P[0,h])) + 1", ()),
    "ranks of all layers": ("rank(X[L]) <= rank(X[0]) + 1", ONE),
    "a number": ("diameter(X[1], 2) <= 0.77*diameter(X[0], 2)", (*ONE, "norm(W[0,0], 2) <= 1", RANGE)),
    "a function of one number": ("exp(logit_range(P[0,0])) <= 1.1 + 3.2*logit_range(P[0,0])", (*ONE, RANGE)),
    "two heads, other norms": ("diameter(X[1], inf) <= sum_h(norm(W[0,h], frobenius))*diameter(X[0], 2)", ("H == 2",)),
}
FALSE = {
    "half of it": ("diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2", ONE),
    "the mean square": ("mu(X[1]) <= norm(W[0,0], 2)*mu(X[0])", ONE),
    "a constant that is too good": (
        "diameter(X[1], 2) <= norm(W[0,0], 2)*norm(W_QK[0,0], 2)*diameter(X[0], 2)**3/(4.04*sqrt(d_qk))",
        ONE,
    ),
    "the causal mask": (
        "diameter(X[1], 2) <= norm(W[0,0], 2)*norm(W_QK[0,0], 2)*diameter(X[0], 2)**3/(4*sqrt(d_qk))",
        (*ONE, "mask == causal"),
    ),
    "a skip": ("diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", (*ONE, "skip == 1")),
    "LayerNorm": ("diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", (*ONE, "layernorm == sphere")),
    "another layer": ("diameter(X[1], 2) <= norm(W[1,0], 2)*diameter(X[0], 2)", ONE),
    "one layer for all": ("diameter(X[L], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", ONE),
    "one token": ("n <= 2*(n - 1)", ()),
    "a diameter that may be 0": ("1 <= 2*diameter(X[0], 2)", ()),
    "a strict relation of zeros": ("diameter(X[0], 2) < 2*diameter(X[0], 2)", ()),
    "a quotient of zeros": ("diameter(X[0], 2)/diameter(X[0], 2) >= 1", ()),
    "a root of a square": ("sqrt(skip**2) <= skip", ()),
    "a sum of cases": ("max_h(norm(W[0,h], 2)) <= norm(W[0,0], 2)", ()),
    "a ball that is too small": ("residual(X[0], inf) <= sqrt(d)*diameter(X[0], 2)/2", ()),
    "a number that is too small": ("dobrushin(P[0,0]) <= 0.76", (*ONE, RANGE)),
    "a function of one number": ("exp(logit_range(P[0,0])) <= 1 + 3.1*logit_range(P[0,0])", (*ONE, RANGE)),
    "strict where rows may differ": ("dobrushin(P[0,0]) < 1", (*ONE, "mask == any")),
    "a rank that a bias raises": ("rank(X[1]) <= rank(X[0])", ONE),
    "a ratio of zeros": ("1 <= participation_ratio(X[0])", ()),
    "a ratio the other way": ("participation_ratio(X[0]) <= stable_rank(X[0])", ()),
    "strict for two tokens alone": ("n*epsilon(P[0,0]) < 1", ONE),
    "entropy under other masks": ("entropy(P[0,0]) <= logit_range(P[0,0])", (*ONE, "mask == any")),
    "a mean in the place of a sum": ("diameter(X[1], 2) <= sum_h(norm(W[0,h], 2))*diameter(X[0], 2)/H", ()),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_claim_is_proved_and_its_derivation_accepted(name: str) -> None:
    claim = Statement("mine:claim", *TRUE[name])
    proof = prove(claim.claim_text, claim.given_texts, seconds=30)
    assert proof is not None
    result = proof.certificate().check()
    assert result.accepted, result.reason
    assert all(lemma_table()[used].coq for used in proof.lemmas if used in lemma_table())
    assert in_sentences(proof)[-1].endswith("the claim.")
    batch = with_draws(claim).draws[0](np.random.default_rng(1), 8)
    for line in proof.lines:  # each is true where it can be evaluated; those with a free l or h are not claims
        with suppress(InvalidArgument), np.errstate(all="ignore"):
            step = Statement("mine:line", line["says"], claim.given_texts)
            found, _ = looked_at(step, batch, set(), Float64(np.zeros(1)))
            assert found is not None
            for place in np.flatnonzero(found.where(Outcome.VIOLATED))[:1]:
                assert judge(step, batch.select(int(place)), "balls").outcome != Outcome.VIOLATED, line["says"]


def test_every_true_claim_of_the_gallery_is_proved_and_no_false_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "conjectures.md").read_text(encoding="utf-8")
    shown = re.findall(r"```text\n--claim \"(.+?)\"((?: --given \".+?\")*)\n```\n\n\*\*(\w+)\*\*", page)
    assert len(shown) == 10
    for text, given, verdict in shown:
        claim = Statement("mine:claim", text, re.findall(r'--given "(.+?)"', given))
        proof = prove(claim.claim_text, claim.given_texts, seconds=8 if verdict == "Proved" else 1)
        assert (proof is not None) == (verdict == "Proved"), text
        assert proof is None or proof.certificate().check().accepted


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_not_proved(name: str) -> None:
    claim = Statement("mine:claim", *FALSE[name])
    assert prove(claim.claim_text, claim.given_texts, seconds=2) is None


def test_a_registered_statement_is_not_derived_from_itself_or_a_later_one() -> None:
    order = list(checker.NETWORK_CLAIMS)
    title, claim, given = checker.NETWORK_CLAIMS["own:diameter-cubic"]
    assert title
    proof = prove(claim, given, key="own:diameter-cubic", seconds=30)
    assert proof is not None
    used = [name for name in proof.lemmas if name in order]
    assert all(order.index(name) < order.index("own:diameter-cubic") for name in used)
    own = {"says": "diameter(X[1], 2) <= diameter(X[1], 2)", "by": "statement", "name": "own:diameter-cubic"}
    content = json.loads(proof.certificate("own:diameter-cubic").text())
    content.pop("id")
    content["data"]["lines"] = [*content["data"]["lines"], {**own, "at": {"layer": "l"}}]
    assert "registered after" in checker.check_text(json.dumps(content)).reason


def test_a_strict_proof_takes_whole_steps_and_says_what_is_positive_by_what() -> None:
    claim = Statement("mine:claim", "dobrushin(P[0,0]) < 1", ())
    proof = prove(claim.claim_text, claim.given_texts)
    assert proof is not None
    assert in_sentences(proof)[-1] == "(3) dobrushin(P[0, 0]) < 1, multiplying (1) and (2): the claim."
    claim = Statement("mine:claim", *TRUE["strict by what is given"])
    proof = prove(claim.claim_text, claim.given_texts, seconds=30)
    assert proof is not None
    assert in_sentences(proof)[0] == "Note 0 < diameter(X[0], 2) (by (1))."
    assert len(proof.lines) == 6


def test_what_is_not_to_be_used_is_not_used() -> None:
    claim = Statement("mine:claim", *TRUE["by Dobrushin"])
    without = ("dobrushin-one",)
    proof = prove(claim.claim_text, claim.given_texts, without=without)
    assert proof is not None
    assert not set(without) & set(proof.lemmas)


def test_multipliers_are_exact() -> None:
    third = Fraction(1, 3)
    found = combination([{"a": Fraction(3), "b": third}, {"b": Fraction(-7)}], [0.0, 0.0], {"a": Fraction(1)})
    assert found == {0: third, 1: Fraction(1, 63)}
    assert combination([{"a": Fraction(1)}], [0.0], {"b": Fraction(1)}) is None
    assert shares([{"x": Fraction(3)}], {"x": Fraction(1)}, [-1.0], frozenset()) == {0: third}
    assert shares([{"x": Fraction(1)}], {"x": Fraction(-1)}, [1.0], frozenset()) is None


def test_what_is_meant_where_nothing_is_said_is_a_hypothesis_of_every_lemma_that_depends_on_it() -> None:
    cubic = TRUE["cubic"][0]
    for given in ("positions == any", "softcap == any", "qk_norm == any"):
        claim = Statement("mine:claim", cubic, (*ONE, given))
        assert prove(claim.claim_text, claim.given_texts, seconds=8) is None
        claim = Statement("mine:claim", TRUE["by Dobrushin"][0], (*ONE, given))
        assert prove(claim.claim_text, claim.given_texts, seconds=8) is not None
    unit = ("longest(X[1]) <= 1", ("layernorm == sphere",))
    claim = Statement("mine:claim", *unit)
    assert prove(claim.claim_text, claim.given_texts, seconds=8) is not None
    claim = Statement("mine:claim", unit[0], (*unit[1], "norm_at == before"))
    assert prove(claim.claim_text, claim.given_texts, seconds=8) is None


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (
            "diameter(X[2], 2) >= (1 - norm(W[0,0], 2))*(1 - norm(W[1,0], 2))*diameter(X[0], 2)",
            ["skip == 1", "H == 1", "L == 2", "norm(W[0,0], 2) <= 1", "norm(W[1,0], 2) <= 1", *NO_MAPS],
        ),
        ("diameter(X[1], 2) <= 2*max_h(norm(W[0,h], 2))*diameter(X[0], 2)", ["H == 2", "skip == 0", *NO_MAPS]),
        ("diameter(X[L], 2) <= recursion(b, diameter(X[0], 2), norm(W[l,0], 2)*b)", ["H == 1", "skip == 0", *NO_MAPS]),
        (
            "longest(X[L]) <= longest(X[0]) + sum_l(sum_h(norm(W[l,h], 2)))",
            ["skip == 1", "mask == none", "layernorm == sphere", "norm_at == before", "mlp == none", "bias == none"],
        ),
        ("entropy(P[0,0]) <= log(3)", ["mask == causal_window(3)"]),
        ("diagonal(P[0,0], 0) == 1", ["mask == causal"]),
        ("epsilon(P0[0,0]) == 1/n", ["mask == causal"]),
        ("log(effective_rank(X[1], eigen)) <= log(d)", []),
    ],
)
def test_layers_windows_first_rows_and_effective_ranks(claim: str, given: list[str]) -> None:
    proof = prove(claim, given)
    assert proof is not None
    assert proof.certificate().check().accepted


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        ("entropy(P[0,0]) <= log(2)", ["mask == window(1)"]),
        ("diagonal(P[0,0], 0) == 1", ["mask == window(1)"]),
        ("epsilon(P0[0,0]) == 1/n", ["mask == causal_window(2)"]),
        ("epsilon(P0[0,0]) == 1/n", ["mask == causal", "positions == rotary"]),
        ("effective_rank(X[1], singular) <= effective_rank(X[1], eigen)", []),
        (
            "diameter(X[L], 2) <= recursion(b, diameter(X[0], 2), norm(W[l,0], max)*b)",
            ["H == 1", "skip == 0", *NO_MAPS],
        ),
    ],
)
def test_their_false_neighbours_are_not_proved(claim: str, given: list[str]) -> None:
    assert prove(claim, given, seconds=3.0) is None


def test_a_hypothesis_is_proved_in_one_line() -> None:
    proof = prove("norm(W[0, 0], 2) <= 1", ("H == 1", "norm(W[0, 0], 2) <= 1"))
    assert proof is not None
    assert [line["by"] for line in proof.lines] == ["hypothesis"]
    assert proof.certificate().check().accepted


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        ("diameter(X[1], 2) <= diameter(X[0], 2)", "n == 1"),
        ("mu(X[0])*norm(W[0, 0], 2) + diameter(X[0], 1) == 0", "n == 1"),
        ("mu(X[0]) <= 0", "diameter(X[0], 2) <= 0"),
        ("dobrushin(P[0, 0]) == 0", "logit_range(P[0, 0]) <= 0"),
        ("diameter(X[1], 2) == 0", "norm(W[0, 0], 2) <= 0"),
    ],
)
def test_what_is_bounded_by_0_is_0(claim: str, given: str) -> None:
    """No product of lines says so: 0 has no logarithm."""
    alone = ("heads == 1", "mask == none", "layernorm == none", "mlp == none", "skip == 0")
    proof = prove(claim, (given, *alone))
    assert proof is not None
    assert proof.certificate().check().accepted


def test_what_need_not_vanish_is_not_shown_to() -> None:
    """Two tokens differ, and no hypothesis says that they do not."""
    alone = ("heads == 1", "mask == none", "layernorm == none", "mlp == none", "skip == 0")
    assert prove("mu(X[0]) <= 0", ("n == 2", *alone)) is None
    assert prove("diameter(X[0], 2) <= 0", ("norm(W[0, 0], 2) <= 0", *alone)) is None
