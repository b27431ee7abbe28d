"""A person's line: existence, several claims at once, hypotheses that contradict, what is handed over."""

from __future__ import annotations

import itertools
import json
import math
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.cli import main
from rankmath.decide import conjecture, proving
from rankmath.decide.adversary import Found
from rankmath.decide.battery import Battery, _equal_tokens, pursue
from rankmath.decide.closed_forms import constant, function
from rankmath.decide.conjecture import Answer, examine, in_python, sharpen
from rankmath.decide.existence import negation
from rankmath.decide.hints import _compared, lacking
from rankmath.formula import read_formula
from rankmath.linalg.masks import Mask
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome

ONE = rm.Network.from_arrays([[[[1.0]]]], [[[[1.0]]]], 1.0)


@pytest.mark.parametrize(
    ("some", "spelled", "values"),
    [
        ("any_h(norm(W[0,h], 2) <= 2)", "min_h(norm(W[0, h], 2)) <= 2", {1: True, 2: True, 3: True}),
        ("any_h(norm(W[0,h], 2) > h + 2)", "max_h(norm(W[0, h], 2) - (h + 2)) > 0", {1: False, 2: False, 3: True}),
        ("any_h(norm(W[0,h], 2) == 3)", "min_h(abs(norm(W[0, h], 2) - 3)) <= 0", {1: False, 2: True, 3: True}),
        ("any_h(2 < norm(W[0,h], 2))", "2 < max_h(norm(W[0, h], 2))", {1: False, 2: True, 3: True}),
        ("any_l(all_h(norm(W[l,h], 2) <= 2))", "min_l(max_h(norm(W[l, h], 2))) <= 2", {1: True, 2: False, 3: False}),
    ],
)
def test_any_is_true_where_some_head_has_it(some: str, spelled: str, values: dict[int, bool]) -> None:
    """Heads with values 1, 3, 5: the relation itself, decided head by head, is the other reading."""
    assert read_formula(some) == read_formula(spelled)
    for heads, expected in values.items():
        W = np.array([[[[2.0 * h + 1]] for h in range(heads)]])
        net = rm.Network.from_arrays(np.ones_like(W), W, 1.0)
        verdict = judge(Statement("mine:x", some), NetworkInstance(net, np.array([[0.0], [1.0]])), "balls")
        assert (verdict.outcome == Outcome.HOLDS) is expected


@pytest.mark.parametrize("text", ["any_p(diameter(X[0], p) <= 1)", "any_h(n <= 1 and h <= 1)", "any_h(1)"])
def test_any_of_what_is_no_relation_is_refused(text: str) -> None:
    with pytest.raises(rm.InvalidArgument, match="column"):
        read_formula(text)


def test_a_witness_is_handed_over_and_its_certificate_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--given", "heads == 1, norm(W[0,0], 2) <= 4", "--seconds", "20", "--instances", "5")
    claims = ("--claim", "exists diameter(X[1], 2) >= 3*diameter(X[0], 2)", "--claim", "diameter(X[1], 2) <= 1/9")
    done = CliRunner().invoke(main, ["verify", *claims, *given, "--output", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    first, second = json.loads(done.stdout)
    assert (first["outcome"], second["outcome"]) == ("PROVED", "REFUTED")
    assert first["given"][1] == second["given"][1] == "norm(W[0, 0], 2) <= 4"
    for answer, kind in ((first, "exists"), (second, "violates")):
        path = tmp_path / "claims" / f"{answer['key'].replace(':', '-')}.json"
        assert json.loads(path.read_text())["kind"] == kind
        assert rm.check(path).accepted
        exec(path.with_suffix(".py").read_text(), {})
        printed = capsys.readouterr().out
        assert {"exists": "HOLDS", "violates": "VIOLATED"}[kind] in printed
        assert "the claim says that" in printed


def test_what_no_network_has_is_refuted_or_not_found() -> None:
    none = examine(
        Statement("mine:x", "exists diameter(X[1], 2) > norm(W[0,0], 2)*diameter(X[0], 2)", "H == 1"), instances=5
    )
    assert none.outcome == "REFUTED"
    assert none.battery.derivation is not None
    assert none.battery.derivation.check().accepted
    # Three tokens: a layer multiplies μ by √(4/3) at most, up to its values; no lemma says so.
    wide = Statement("mine:x", "exists mu(X[1]) > 1.3*norm(W[0,0], 2)*mu(X[0])", ("H == 1", "n == 3"))
    found = examine(wide, seconds=0.2, instances=5)
    assert found.outcome == "NONE FOUND"
    assert any(line.startswith("none found") for line in found.lines())
    claim = Statement("mine:x", "exists rank(X[1]) == 2 and rank(X[0]) == 1", ("H == 1", "n == 2", "bias == none"))
    assert [str(part) for part in negation(claim).given[-3:]] == [
        "rank(X[1]) >= 2",
        "rank(X[0]) <= 1",
        "rank(X[0]) >= 1",
    ]


@pytest.mark.parametrize(
    ("given", "clash"),
    [
        (["n == 3", "n == 4"], "n == 3 and n == 4 contradict each other"),
        (["n > 2", "n < 3"], "n > 2 and n < 3 contradict"),
        (["skip > 1", "skip < 1"], "skip > 1 and skip < 1 contradict"),
        (["mask == causal", "mask == none"], "mask == causal and mask == none contradict"),
        (["n == 100"], "no network that is searched"),
        (["d_qk > 1", "d_qk < 2", "n == 100"], "no network that is searched"),
    ],
)
def test_sizes_that_contradict_are_named(given: list[str], clash: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=clash):
        examine(Statement("mine:x", "mu(X[1]) <= mu(X[0])", given))


def test_hypotheses_that_contradict_are_said_to_with_the_derivation() -> None:
    given = ["diameter(X[0], 2) <= 1", "diameter(X[0], 2) >= 2", "n == 2", "d == 1", "L == 1", "H == 1"]
    answer = examine(Statement("mine:x", "mu(X[1]) <= mu(X[0])", given), seconds=4, instances=5)
    assert answer.outcome == "CONTRADICTORY"
    assert answer.battery.derivation is not None
    assert answer.battery.derivation.claim == "diameter(X[0], 2) > 1"
    assert answer.battery.derivation.check().accepted
    assert any(line.endswith("but diameter(X[0], 2) <= 1 is given.") for line in answer.lines())


def test_a_busy_machine_leaves_time_to_find_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that runs a second whenever it is looked at: what counts is the computing."""
    seconds = itertools.count()
    monkeypatch.setattr("rankmath.decide.conjecture.verify_statement", None)  # nothing is drawn
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
    given = ("heads == 1", "diameter(X[0], 2) <= 1", "diameter(X[0], 2) > 2")
    answer = examine(Statement("mine:x", "mu(X[1]) <= mu(X[0])", given), seconds=1e6)
    assert answer.outcome == "CONTRADICTORY"


def test_the_tightest_quotient_is_the_one_of_the_instance_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Its sides are far below the doubles."""
    claim = Statement(
        "mine:x",
        "first_gap(X[1]) <= diagonal(P[0, 0], 1)*norm(W[0, 0], 2)*first_gap(X[0])",
        ("H == 1", "mask == causal"),
    )
    W_QK, W = np.array([[[[1.0, 0.0], [0.0, 1.0]]]]), np.array([[[[0.0, 0.5], [0.0, 1.0]]]])
    net = rm.Network.from_arrays(W_QK, W, 1.0, mask="causal")
    near = NetworkInstance(net, np.array([[64.0, 1.0], [32.0, 0.0]]))  # the second sees itself by about e^-1024
    verdict = judge(claim, near, "balls")
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.log_rhs < -1000
    battery = Battery(claim)
    battery.take(near, verdict)
    said = Answer(battery, near).lines()
    [found] = re.findall(r"tightest quotient ([\d.]+);", "\n".join(said))
    assert f"tightest near this instance, lhs/rhs = {found} at it:" in said
    scope: dict[str, object] = {}
    exec(in_python(near, claim), scope)
    printed = capsys.readouterr().out
    assert f"no more than exp({verdict.log_rhs:.12g})" in printed


def test_a_tightest_instance_that_became_tighter_when_shortened_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Statement("mine:x", "diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", "heads == 1")
    loose, tight = (NetworkInstance(ONE, np.array([[-x], [x]])) for x in (0.5, 1.0))
    held = Battery(claim)
    held.take(loose, judge(claim, loose, "balls"))
    monkeypatch.setattr(conjecture, "verify_statement", lambda *rest, **more: held)
    monkeypatch.setattr(conjecture, "_shorter", lambda *rest: tight)
    monkeypatch.setattr(conjecture, "weaker", lambda *rest, **more: None)
    said = examine(claim, seconds=1).lines()
    found = f"{np.tanh(1.0):.4g}"
    assert any(f"tightest quotient {found};" in line for line in said)
    assert f"tightest near this instance, lhs/rhs = {found} at it:" in said


def test_a_hint_that_held_has_no_quotient_above_1_by_rounding() -> None:
    pair = "effective_rank(X[1], singular)", "rank(X[1])"
    found = _compared(Statement("mine:x", "effective_rank(X[1], eigen) <= rank(X[1])"), list(pair), 0)
    assert found[pair][:2] == (1, 0.0)


@pytest.mark.parametrize(
    "given",
    [
        ("norm(X[0], 2) < 0",),
        ("-1 >= diameter(X[0], 1)",),
        ("norm(W[0, 0], 2) > 1", "norm(W[0, 0], 2) <= 1"),
        ("norm(W[0, 0], 2) == 2", "norm(W[0, 0], frobenius) < 2"),
        ("epsilon(P[0, 0]) > 1/n",),
    ],
)
def test_what_no_network_meets_is_said_before_any_search(given: tuple[str, ...], monkeypatch: Any) -> None:
    monkeypatch.setattr("rankmath.decide.conjecture.verify_statement", None)  # nothing is drawn
    claim = "diameter(X[1], 1) <= diameter(X[0], 1)"
    answer = examine(Statement("mine:x", claim, ("heads == 1", *given)), seconds=20)
    assert answer.outcome == "CONTRADICTORY"
    assert answer.battery.proof is not None
    assert answer.battery.proof.certificate().check().accepted
    assert examine(Statement("mine:x", f"exists {claim}", ("heads == 1", *given)), seconds=20).outcome == "REFUTED"


@pytest.mark.parametrize("claim", ["mu(X[1]) < mu(X[0])", "diameter(X[0], 2) > diameter(X[1], 2)"])
def test_a_strict_claim_that_fails_at_equality_alone_is_refuted(claim: str) -> None:
    """|W| <= 1/2 and two tokens: a layer of one head halves what differs, but 0 < 0 is false."""
    given = ("heads == 1", "norm(W[0, 0], 2) <= 1/2", "n == 2", "layers == 1")
    answer = examine(Statement("mine:x", claim, given), seconds=3, instances=20)
    assert answer.outcome == "REFUTED"
    tokens = np.asarray(answer.battery.violations[0][0].X)
    assert (tokens == tokens[0]).all()
    assert max(len(repr(float(x))) for x in tokens.ravel()) <= 8  # shrunk
    assert any("none was found with tokens that differ" in line for line in answer.lines())
    certificate = answer.battery.certificate()
    assert certificate.kind == "violates"
    assert certificate.check().accepted
    weak = claim.replace("<", "<=").replace(">", ">=")
    assert examine(Statement("mine:x", weak, given), seconds=3, instances=20).outcome != "REFUTED"


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        ("exists norm(X[1], 2) <= 0", ("norm(X[0], 2) >= 1",)),  # W is 0
        ("exists norm(W[0, 0], 2) <= 0", ()),
        ("exists diameter(X[1], 2) == diameter(X[0], 2)", ("norm(W[0, 0], 2) <= 1/2", "heads == 1")),  # equal tokens
    ],
)
def test_a_trivial_witness_has_a_certificate(claim: str, given: tuple[str, ...], tmp_path: Path) -> None:
    options = [part for text in given for part in ("--given", text)]
    command = ["verify", "--claim", claim, *options, "--seconds", "3", "--instances", "20", "--output", str(tmp_path)]
    done = CliRunner().invoke(main, command)
    assert "PROVED: this network has it" in done.output, done.output
    path = tmp_path / "claims" / "mine-claim.json"
    assert json.loads(path.read_text())["kind"] == "exists"
    assert rm.check(path).accepted
    assert "so the claim is true of some network that meets them" in "\n".join(rm.check(path).checked)
    assert "for some of these" in path.with_suffix(".tex").read_text()


def test_a_second_claim_leaves_no_file_of_the_first(tmp_path: Path) -> None:
    options = ["--seconds", "3", "--instances", "20", "--output", str(tmp_path)]
    refuted = CliRunner().invoke(main, ["verify", "--claim", "mu(X[1]) <= mu(X[0])", *options])
    assert "REFUTED" in refuted.output
    before = {path.suffix for path in (tmp_path / "claims").iterdir()}
    assert before == {".json", ".py", ".tex"}
    proved = CliRunner().invoke(main, ["verify", "--claim", "norm(P[0, 0], inf) <= 1", *options])
    assert "PROVED" in proved.output
    assert {path.suffix for path in (tmp_path / "claims").iterdir()} == {".json", ".tex"}


def test_one_token_alone_is_searched_where_it_is_asked_for() -> None:
    answer = examine(Statement("mine:x", "norm(X[0], 2) <= 1", "n == 1"), seconds=1, instances=20)
    assert answer.outcome == "REFUTED"
    (found, _), *_ = answer.battery.violations
    assert found.X.shape == (1, 1)
    assert np.frexp(abs(found.X[0, 0]))[0] == 0.5  # a power of two
    assert found.net.bias is None


def test_a_refutation_that_the_checker_refuses_is_pursued_at_other_scales() -> None:
    claim = Statement("mine:x", "entropy(P[0,0]) >= 1", "H == 1")
    found = NetworkInstance(ONE, np.array([[-512.0], [0.0], [-512.0]]))
    verdict = judge(claim, found, "balls")
    assert verdict.outcome == Outcome.VIOLATED
    with pytest.raises(ArithmeticError):
        claim.certified(found, verdict)
    battery = Battery(claim, violations=[(found, verdict)])
    pursue(claim, battery)
    assert battery.certificates[0].check().accepted
    assert battery.counterexample is not found
    # What is given up has its reason, and how often it was tried.
    battery = Battery(claim, violations=[(found, verdict)])
    pursue(claim, battery, seconds=0)
    assert not battery.certificates
    assert "too small or too large" in battery.trouble
    assert "1 shrinks and scales" in battery.trouble


def test_the_tightest_instance_is_short_and_nearly_as_tight() -> None:
    claim = Statement("mine:x", "mu(X[1]) <= 1.2*norm(W[0,0], 2)*mu(X[0])", ("H == 1", "n == 3"))
    net = rm.Network.from_arrays([[[[17.3]]]], [[[[-0.083]]]], 1.0, key_bias=[[[0.37]]])
    long = NetworkInstance(net, np.array([[1023.7], [0.001], [-1023.9]]))
    tight = judge(claim, long, "float64").ratio
    short = conjecture._shorter(claim, long, tight, 5.0)
    assert judge(claim, short, "balls").ratio > tight * (1 - 1e-4)
    assert short.vector().size <= long.vector().size
    assert all(float(x) == int(x) for x in np.asarray(short.X).ravel())


def test_closed_forms_lie_above_what_was_seen() -> None:
    rng = np.random.default_rng(0)
    for text, exact in {"1/4": 0.25, "sqrt(3)/2": 0.75**0.5, "7/12": 7 / 12, "2*sqrt(5)": 20**0.5}.items():
        assert constant(exact * (1 - 1e-5 * float(rng.random()))) == text
        assert constant(exact * (1 + 1e-5)) != text
    sizes = (2, 3, 4, 6)
    assert function("n", sizes, [0.5 * (n - 1) ** 0.5 * (1 - 1e-6) for n in sizes]) == "1/2*sqrt(n - 1)"
    assert function("H", (1, 2, 3), [1.0, 2.0, 2.7]) == ""
    assert function("n", (2, 3), [1.0, 1.0]) == ""


def test_sharpening_that_is_interrupted_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    found = NetworkInstance(ONE, np.array([[-1.0], [1.0]]))
    monkeypatch.setattr(conjecture, "search", lambda *rest, **more: Found(found, 0.0, None, 1, 0.0, interrupted=True))
    claim = Statement("mine:x", "diameter(X[1], 2) <= c*diameter(X[0], 2)", "H == 1", where={"c": "1"})
    answer = sharpen(claim, "c", seconds=60)
    assert answer.battery.interrupted
    assert abs(answer.constant - np.tanh(1.0)) < 1e-6
    assert judge(answer.failing, found, "balls").outcome == Outcome.VIOLATED
    assert any(line.startswith("the best c seen is 0.76159") for line in answer.lines())
    assert "c = 1" in str(claim)  # where the search starts: no answer
    assert not any("c = 1" in line for line in answer.lines())


def test_a_violation_that_was_shrunk_is_counted_once() -> None:
    claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2"
    battery = examine(Statement("mine:halves", claim, "heads == 1"), seconds=2).battery
    assert battery.outcome == "REFUTED"
    counted = battery.holds + len(battery.violations) + battery.undecided + battery.not_applicable
    assert battery.instances == counted


def test_a_constant_that_there_is_none_of_is_told_with_short_numbers() -> None:
    """Under the causal mask tokens shrink by a factor that stays, not by their square: no c is enough."""
    claim = "diameter(X[1], 2) <= c*norm(W[0,0], 2)*norm(W_QK[0,0], 2)*diameter(X[0], 2)**3"
    given = ("heads == 1", "d_qk == 1", "mask == causal", "n == 2", "d == 1")
    answer = sharpen(Statement("mine:c", claim, given, where={"c": "1"}), "c", seconds=6)
    assert any(line.startswith("no c is in sight") for line in answer.lines())
    assert answer.near is not None
    numbers = [
        float(x) for a in (answer.near.X, answer.near.net.W, answer.near.net.W_QK) for x in np.asarray(a).ravel()
    ]
    assert all((math.frexp(x)[0] * 2**12).is_integer() for x in numbers), numbers
    assert judge(answer.failing, answer.near, "balls").outcome == Outcome.VIOLATED


@pytest.mark.parametrize("claim", ["diameter(X[0], 2) > 0", "-norm(X[0], 2) < 0", "0 < mu(X[0])"])
def test_a_side_without_a_logarithm_follows_from_no_fact(claim: str) -> None:
    """Equal tokens refute each, and a fact without a logarithm says nothing."""
    assert lacking(Statement("mine:zero", claim, "n == 2"), seconds=5.0) == ""


@pytest.mark.parametrize("claim", ["any_i(last_share(i) <= 1/n)", "all_i(last_share(i) <= 1/n)"])
def test_what_a_claim_about_an_index_lacks_speaks_of_no_free_index(claim: str) -> None:
    assert isinstance(lacking(Statement("mine:share", claim), seconds=5.0), str)


@pytest.mark.parametrize("claim", ["entropy(P[0, 0]) < log(n)", "effective_rank(X[0], singular) < n"])
def test_one_token_is_tried_though_equality_takes_the_time_of_two(claim: str, monkeypatch: Any) -> None:
    """Of one token both sides are 0 or 1. Of two the first alone costs more than there is."""
    statement = Statement("mine:one", claim)
    clock, decided = [0.0], judge

    def slow(statement: Statement, instance: NetworkInstance, arithmetic: Any) -> Any:
        clock[0] += 1.0
        return decided(statement, instance, arithmetic, 128)

    monkeypatch.setattr("rankmath.decide.battery.judge", slow)
    monkeypatch.setattr("rankmath.decide.battery.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("rankmath.decide.battery._shrink", lambda *_: None)
    battery = Battery(statement)
    _equal_tokens(statement, battery, 0, 0.0)
    assert battery.outcome == "REFUTED"
    assert len(np.asarray(battery.violations[0][0].X)) == 1


def test_what_the_tightest_instance_shrinks_to_may_refute(monkeypatch: Any) -> None:
    """A star about token 3 leaves fewer tokens alone, each with all its attention."""
    statement = Statement("mine:star", "epsilon(P[0, 0]) <= 1/n", ("heads == 1", "mask == star(3)"))
    star = rm.Network.from_arrays([[[[0.0]]]], [[[[0.0]]]], 1.0, mask=Mask.star(4, 3))
    held = Battery(statement)
    near = NetworkInstance(star, np.array([[1.0], [0.0], [0.0], [0.0]]))
    held.take(near, judge(statement, near, "balls"))
    held.tightest_instance, held.log_tightest = near, 0.0
    monkeypatch.setattr("rankmath.decide.conjecture.verify_statement", lambda *_, **__: held)
    answer = examine(statement, seconds=4)
    assert answer.outcome == "REFUTED"
    assert answer.battery.certificate().kind == "violates"
    assert "2 tokens in dimension 1" in "\n".join(answer.lines())


@pytest.mark.parametrize("arithmetic", ["float64", "mpmath", "balls"])
def test_effective_ranks_are_measured_in_every_arithmetic(arithmetic: Any) -> None:
    statement = Statement("mine:rank", "effective_rank(X[0], eigen) <= 1")
    net = rm.Network.from_arrays([[np.eye(2)]], [[np.eye(2)]], 1.0)
    assert rm.verify(statement, net, np.eye(2), arithmetic=arithmetic).outcome == Outcome.VIOLATED


def test_zero_tokens_do_not_refute_what_is_said_of_an_effective_rank() -> None:
    statement = Statement("mine:rank", "effective_rank(X[0], singular) <= rank(X[0])")
    assert judge(statement, NetworkInstance(ONE, np.zeros((2, 1))), "balls").outcome == Outcome.UNDECIDED


def test_of_several_claims_the_one_that_no_network_meets_is_named_before_any_search(
    tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "claims.txt"
    file.write_text("fine: mu(X[1]) <= mu(X[0])\nempty: mu(X[1]) <= 3 given heads == 1, heads == 2\n")
    monkeypatch.setattr("rankmath.decide.conjecture.examine", None)  # nothing is looked at
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(file), "--output", str(tmp_path)])
    assert ended.value.code == 2
    assert "rankmath: mine:empty: given: H == 1 and H == 2 contradict each other" in capsys.readouterr().err


@pytest.mark.parametrize("letter", ["d", "mu", "heads", "X", "l"])
def test_a_letter_that_has_a_meaning_is_not_sharpened(letter: str, capsys: pytest.CaptureFixture[str]) -> None:
    claim = "sum_l(mu(X[l])) <= d*heads*mu(X[0])"
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--claim", claim, "--sharpen", letter])
    assert ended.value.code == 2
    assert f"--sharpen: {letter!r} given; it has a meaning" in capsys.readouterr().err


def test_seconds_and_hypotheses_of_a_wrong_kind_are_named() -> None:
    with pytest.raises(rm.InvalidArgument, match="given: 3 given; a text, or a sequence of hypotheses"):
        Statement("mine:x", "mu(X[1]) <= 1", given=3)  # type: ignore[arg-type]
    for seconds in ("x", -1, math.nan):
        with pytest.raises(rm.InvalidArgument, match="seconds: "):
            rm.verify_statement("own:tv", instances=1, seconds=seconds)  # type: ignore[arg-type]


def test_an_instance_that_violates_what_was_derived_decides_nothing() -> None:
    """Of a proof and a counterexample one is wrong: neither is told as the answer."""
    answer = examine(Statement("mine:true", "diameter(X[0], 2) <= 2*mu(X[0])"), seconds=6, instances=5)
    assert answer.outcome == "PROVED"
    refuted = examine(Statement("mine:false", "mu(X[1]) <= mu(X[0])/1000", "heads == 1"), seconds=4, instances=5)
    answer.battery.violations = refuted.battery.violations[:1]
    assert answer.outcome == "UNDECIDED"
    assert any("one of them is wrong, please report this" in line for line in answer.lines())


def test_a_search_for_a_proof_that_the_clock_ended_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that went through to its end is not; where there is more time the same claim is proved."""
    claim = Statement("mine:c", "diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", "heads == 1")
    more = "in the time there was (more --seconds may)"
    monkeypatch.setattr(proving, "prove", lambda *_, stop, **__: None if stop() else time.sleep(0.2))
    monkeypatch.setattr(proving.Proving, "_over", lambda self: True)
    battery = rm.verify_statement(claim, instances=4, certify=0, search=0, seconds=0.1)
    assert battery.cut
    assert f"neither refuted nor proved {more}" in "\n".join(Answer(battery).lines())
    monkeypatch.setattr(proving.Proving, "_over", lambda self: False)
    battery = rm.verify_statement(claim, instances=4, certify=0, search=0, seconds=0.1)
    assert not battery.cut
    assert more not in "\n".join(Answer(battery).lines())


def test_a_proof_is_sought_again_where_two_threads_that_parse_confuse_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python 3.11 ast.parse may raise SystemError, "recursion depth mismatch", where another thread parses too."""
    claim = Statement("mine:c", "diameter(X[1], 2) <= norm(W[0,0], 2)*diameter(X[0], 2)", "heads == 1")
    failing, real = [SystemError("AST constructor recursion depth mismatch (before=69, after=170)")], proving.prove

    def prove(*arguments: Any, **named: Any) -> Any:
        if failing:
            raise failing.pop()
        return real(*arguments, **named)

    monkeypatch.setattr(proving, "prove", prove)
    found = proving.Proving(claim, time.perf_counter() + 60)
    assert found.result(wait=True) is not None
    assert not failing
