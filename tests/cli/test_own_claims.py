"""What is handed over of a person's own claim says what was asked, in that person's words, and can be used."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.certificates.issue import NotIssued, certify_claim
from rankmath.cli import main
from rankmath.cli.conjecture import _coq_file, plain, saved
from rankmath.decide.battery import Battery
from rankmath.decide.conjecture import Answer
from rankmath.decide.existence import negation
from rankmath.decide.prover import prove
from rankmath.report.cite import citation
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge

TOKENS = np.array([[0.0], [1.0]])
TITLE, SOURCE = "Some causal layer triples the diameter", "W. Q. Smith"


@pytest.fixture
def asked() -> rm.Statement:
    given = ("heads == 1", "norm(W[0,0], 2) <= 1", "mask == causal")
    return rm.Statement(
        "mine:triple", "exists diameter(X[1], 2) >= 3*diameter(X[0], 2)", given, title=TITLE, source=SOURCE
    )


def network() -> NetworkInstance:
    net = rm.Network.from_arrays(W_QK=[[[[8.0]]]], W=[[[[1.0]]]], d_qk=1.0, mask="causal")
    return NetworkInstance(net, TOKENS)


def handed(asked: rm.Statement, tmp_path: Path) -> list[Path]:
    """The files of an answer that found no network that has it."""
    answer = Answer(Battery(negation(asked)), network(), sought=asked)
    lines = saved(answer, str(tmp_path))
    return [Path(re.sub(r" \(.*", "", line.partition(": ")[2])) for line in lines]


def test_an_instance_without_what_is_asked_is_not_called_the_claim(asked: rm.Statement, tmp_path: Path) -> None:
    python, latex, file = handed(asked, tmp_path)
    certificate = rm.Certificate.load(file)
    assert (certificate.claim, certificate.kind) == (asked.claim_text, "violates")
    assert certificate.check().accepted
    text = latex.read_text(encoding="utf-8")
    asks, lacks = text.index("It is asked whether the following is true"), text.index("does not have what is asked for")
    assert asks < text.index(r"for some of these, $\displaystyle \Delta_{2}(X^{1}) \ge 3") < lacks
    assert f"{TITLE}: an instance without what is asked" in text
    for form in ("latex", "markdown", "bibtex"):
        cited = citation(file).text(form)
        assert "one instance does not have what is asked" in cited
        assert "The following is false" not in cited
    for wrong in ("satisfies", "the claim fails", "is not true of all", "< 3"):
        assert wrong not in text + citation(file).text("latex"), wrong
    assert python.read_text(encoding="utf-8").splitlines()[0].endswith("This one does not have it.")
    assert str(runpy.run_path(str(python))["verdict"].outcome) == "VIOLATED"


def test_without_a_certificate_it_is_not_called_the_claim_either(
    asked: rm.Statement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise NotIssued("none today")

    monkeypatch.setattr("rankmath.decide.existence.certificate_at", refuse)
    _, latex, file, _ = handed(asked, tmp_path)
    text = latex.read_text(encoding="utf-8")
    assert "does not have what is asked for, by ball arithmetic; no certificate of it was issued" in text
    assert "satisfies" not in text
    # The file beside it is no certificate, and is called what it is.
    said = "an instance in exact numbers without a certificate"
    for command in ("check", "cite"):
        done = CliRunner().invoke(main, [command, str(file)])
        assert done.exit_code != 0
        assert said in done.output, command
    (row,) = json.loads(CliRunner().invoke(main, ["check", "--json", str(file)]).stdout)
    assert said in row["reason"]


def test_a_witness_has_what_is_asked(asked: rm.Statement, tmp_path: Path) -> None:
    some = replace(asked, formula="exists diameter(X[1], 2) <= diameter(X[0], 2)")
    # The counterexample to the negation is written as a witness of the claim, and listed as that.
    contrary = negation(some)
    violated = certify_claim(
        "mine:triple", contrary.claim_text, contrary.given_texts, network().net, TOKENS, "violates"
    )
    found = Battery(contrary, certificates=[violated], violations=[(network(), judge(contrary, network(), "balls"))])
    told = plain(Answer(found, sought=some), str(tmp_path))
    assert told["outcome"] == "PROVED"
    assert told["certificates"] == [rm.Certificate.load(tmp_path / "claims" / "mine-triple.json").id]
    python, latex, file = handed(some, tmp_path)
    assert rm.Certificate.load(file).kind == "exists"
    assert python.read_text(encoding="utf-8").splitlines()[0].endswith("This one has it.")
    assert "without what is asked" not in latex.read_text(encoding="utf-8")


def test_a_proof_for_coq_has_a_name_that_coq_takes(tmp_path: Path) -> None:
    claim = rm.Statement("mine:never-1.2", "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)", "heads == 1")
    battery = Battery(claim, proof=prove(claim.claim_text, claim.given_texts))
    (line,) = (line for line in saved(Answer(battery), str(tmp_path), coq=True) if line.startswith("Coq: "))
    file = Path(line.removeprefix("Coq: ").partition(" (")[0])
    assert file.is_file()
    assert file.name == "mine_never_1_2.v" == _coq_file("mine-never-1.2")


def test_why_there_is_no_certificate_is_what_was_seen() -> None:
    """The rank can fall: a first token (1, 0) that adds (0, 1/2)/2 to the second, (0, -1/4)."""
    given = ("heads == 1", "skip == 1", "mask == causal", "bias == none", "norm(W[0,0], 2) < 1")
    claim = rm.Statement("mine:rank", "rank(X[1]) >= rank(X[0])", given)

    def network(W: Any) -> rm.Network:
        return rm.Network.from_arrays(W_QK=np.zeros((1, 1, *np.shape(W))), W=[[W]], d_qk=1.0, skip=1.0, mask="causal")

    falls = rm.verify(claim, network([[0, 0.5], [0, 0]]), [[1, 0], [0, -0.25]], arithmetic="balls")
    assert str(falls.outcome) == "VIOLATED"
    wording, net = (claim.key, claim.claim_text, claim.given_texts), network([[0.5]])
    with pytest.raises(NotIssued) as refused:
        certify_claim(*wording, net, np.array([[0.0], [1.0]]), "holds")
    assert "no arrays of these sizes that were tried decide it otherwise" in str(refused.value)
    assert "always" not in str(refused.value)
