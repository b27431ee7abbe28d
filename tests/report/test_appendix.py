"""The appendix: every value supplied, every number from a certificate or the run, and pdflatex content with it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import pytest

from rankmath.certificates.certificate import Certificate
from rankmath.claims import statements
from rankmath.claims.dong2021_many_tokens import about_the_mean, counterexample
from rankmath.claims.dong2021_two_heads import four_keys, two_tokens
from rankmath.decide.battery import verify_statement
from rankmath.decide.campaigns.in_memory import summary
from rankmath.report import appendix as module
from rankmath.report.appendix import appendix, sentence, values
from rankmath.report.fragments import in_words, notation
from rankmath.report.latex import code
from rankmath.report.results import Report
from rankmath.report.sources import bibliography, committed_certificates, place_of, proof_texts
from rankmath.report.theorems import findings
from rankmath.verification.draws import moderate_tokens, networks
from rankmath.verification.statement import Statement

Accepted: TypeAlias = dict[str, tuple[str, ...]]


def test_every_value_a_text_asks_for_is_supplied() -> None:
    supplied = values(committed_certificates())
    for text in proof_texts().values():
        assert set(re.findall(r"\\rmvalue\{([^}]*)\}", text)) <= set(supplied)


def test_the_values_are_those_of_the_certificates() -> None:
    supplied = values(committed_certificates())
    families = {
        "dong2021v1:2.2": counterexample(),
        "dong2021v1:2.2-mean": about_the_mean(),
        "dong2021v1:2.3": two_tokens(),
        "dong2021:2.3-printed": four_keys(),
    }
    for key, kinds in families.items():
        assert supplied[f"{key}:tokens"].replace(r"\,", "") == str(kinds.tokens)
        assert supplied[f"{key}:width"].replace(r"\,", "") == str(kinds.width)
        assert 1 < Fraction(supplied[f"{key}:ratio"]) <= kinds.certified_ratio()
        certificate = committed_certificates()[key][0]
        assert certificate.id in supplied[f"{key}:certificate"].replace(r"\allowbreak ", "")
    gain = counterexample().gain
    assert supplied["dong2021v1:2.2:gain"] == rf"\ensuremath{{\tfrac{{{gain.numerator}}}{{{gain.denominator}}}}}"


def test_other_certificates_give_other_values() -> None:
    kinds = replace(counterexample(), idle=4000)
    certificate = Certificate("dong2021v1:2.2", "violates", kinds.data())
    supplied = values({"dong2021v1:2.2": [certificate]})
    assert supplied["dong2021v1:2.2:tokens"] == "5525"
    assert certificate.id in supplied["dong2021v1:2.2:certificate"].replace(r"\allowbreak ", "")


def test_a_value_nobody_supplies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "proof_texts", lambda: {"a": r"with $n=\rmvalue{tokens:own:new}$"})
    with pytest.raises(ValueError, match=r"a\.tex asks for the value 'tokens:own:new'"):
        appendix()


def test_a_certificate_the_checker_rejects_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    A = committed_certificates()["dong2021:norm"][0].data["A"]
    false = Certificate("dong2021:norm", "violates", {"A": A, "B": A})
    known = {**committed_certificates(), "dong2021:norm": (false,)}
    monkeypatch.setattr(module, "committed_certificates", lambda: known)
    with pytest.raises(ValueError, match=f"the checker rejects certificate {false.id}"):
        appendix(keys=["dong2021:norm"])


def test_what_the_checker_has_said_is_not_asked_again_and_what_it_has_not_is_asked() -> None:
    told = {certificate.id: ("So it was said.",) for certificate in committed_certificates()["dong2021:norm"]}
    keys = ["dong2021:norm", "own:tv"]
    assert appendix(keys=keys, accepted=told).tex.count("So it was said.") == len(told)
    assert appendix(keys=keys[1:]).tex == appendix(keys=keys[1:], accepted=told).tex
    for certificate in committed_certificates()["own:tv"]:
        assert findings(certificate.check().checked[-1:])[0] in appendix(keys=keys[1:]).tex


def test_all_statements_sections_and_certificates_are_in_it(report: Report, accepted: Accepted) -> None:
    built = appendix(report, accepted=accepted)
    plain = built.tex.replace(r"\allowbreak ", "")
    for key in statements():
        assert rf"\texttt{{{key}}}" in plain
    for name, text in proof_texts().items():
        assert text.rstrip() in built.tex, name
    for group in committed_certificates().values():
        for certificate in group:
            assert rf"\label{{cert:{certificate.id}}}" in plain
            assert findings(accepted[certificate.id])[-1] in built.tex
    for cited in {key for keys in re.findall(r"\\cite\{([^}]*)\}", plain) for key in keys.split(",")}:
        assert cited == "rankmath" or cited in bibliography()
        assert f"{{{cited}," in built.bib


def test_claims_say_in_mathematics_what_all_their_quantities_are(accepted: Accepted) -> None:
    tex = appendix(accepted=accepted).tex
    assert "[U+" not in tex
    claims = tex.partition(r"\section{The claims}")[2].partition(r"\section{")[0]
    assert "this library" not in claims
    assert not re.search("textasciicircum|textbackslash", claims)
    for key, entry in statements().items():
        _, said = re.split(rf"\\item\[{re.escape(code(key))}\]", claims)
        said = said.partition(r"\item[")[0]
        assert all(line in said for line in in_words(entry)), key
        setting = notation(entry)
        assert not setting or setting in said or "The notation is that of" in said, key
        assert f"{entry.status.capitalize()} in {place_of(key)}" in said


def test_every_result_of_the_run_is_told_once_at_its_place(report: Report, accepted: Accepted) -> None:
    tex = appendix(report, accepted=accepted).tex
    for result in report.results:
        assert tex.count(rf"\rmset{{report:{result.key}}}") == 1
        assert tex.count(rf"\rmreport{{{result.key}}}") == 1


def test_certificates_that_are_given_are_in_the_table_once(halved: Report) -> None:
    own = Certificate.from_text(halved.results[0].texts[0].encode(), "own")
    committed = committed_certificates()["own:tv"]
    built = appendix(keys=["own:tv"], theorems=[own, committed[0]])
    for certificate in (own, *committed):
        assert built.tex.count(rf"\label{{cert:{certificate.id}}}") == 1
    assert f"has {len(committed) + 1} certificates" in " ".join(built.tex.split())


def test_without_a_run_nothing_is_said_to_be_measured(accepted: Accepted) -> None:
    tex = appendix(accepted=accepted).tex
    assert r"\emph{Measured}" not in tex
    assert "No verification run was supplied" in tex


def test_a_sentence_says_no_more_than_was_seen(report: Report) -> None:
    tv, refuted = report.result("own:tv"), report.result("dong2021v1:A.3")
    assert tv is not None
    assert refuted is not None
    assert f"Held on {tv.holds} of {tv.instances} instances, {tv.certified} of them decided" in sentence(tv)
    assert "proved" not in sentence(tv)
    plain = sentence(refuted).replace(r"\allowbreak ", "")
    assert all(name in plain for name in refuted.certificates)
    # Instances are drawn, near-extremal or searched: the count is that of all.
    assert f"it held on {refuted.holds} of {refuted.instances} instances." in plain
    assert ("two sides where it held was" in plain) == bool(refuted.ratios and refuted.tightest > 0)
    assert "two sides was" in sentence(tv)
    surprising = replace(tv, outcome="REFUTED", as_registered=False, certificates=())
    assert r"\textbf{This differs from what is registered (proved).}" in sentence(surprising)
    assert "No instance decided it" in sentence(replace(tv, outcome="UNDECIDED", holds=0))
    assert "A hypothesis failed in 7 of them" in sentence(replace(tv, not_applicable=7))


def test_a_statement_of_the_users_own_is_told_as_text(report: Report, accepted: Accepted) -> None:
    own = replace(report.results[0], key="mine:first", title=r"Mine & \yours", claim="1<2", source="me", truth="")
    tex = appendix(replace(report, results=(*report.results, own)), accepted=accepted).tex
    assert r"\section{Further statements}" in tex
    assert r"Mine \& \textbackslash{}yours" in tex
    assert r"\yours" not in tex.replace(r"\textbackslash{}yours", "")


@pytest.fixture(scope="module")
def halved() -> Report:
    """A run of one statement of the user's own, with a long list of hypotheses, which is refuted."""
    claim = Statement(
        "mine:halves",
        "diameter(X[1], 2) <= norm(W[0, 0], 2)*diameter(X[0], 2)/2",
        "heads == 1, bias == none, query_bias == none, mask == any, quasi_strongly_connected(), n >= 2",
        title="half of it",
        draws=(networks(moderate_tokens, shapes=((3, 2, 1, 1),)),),
    )
    return Report.of([summary(verify_statement(claim, instances=20, seed=0), 20)], {})


def test_the_users_own_statement_has_its_notation_and_its_counterexample(halved: Report, tmp_path: Path) -> None:
    """Also where the report is read from its folder."""
    halved.save(tmp_path)
    for report in (halved, Report.load(tmp_path / "report.json")):
        further = appendix(report, keys=[]).tex.partition(r"\section{Further statements}")[2]
        assert "Tokens are the rows of" in further
        assert "Suppose: one head; " in further
        assert r"\implies" not in further
        assert r"\begin{theorem}[A counterexample]" in further
        assert halved.results[0].certificates[0] in further.replace(r"\allowbreak ", "")


@pytest.mark.needs("pdflatex")
def test_no_line_of_the_users_own_statement_is_too_wide(halved: Report, tmp_path: Path) -> None:
    appendix(halved, keys=[]).save(tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "appendix.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0
    assert "Overfull" not in done.stdout


@pytest.mark.needs("pdflatex")
def test_pdflatex_compiles_it_without_a_missing_reference(report: Report, accepted: Accepted, tmp_path: Path) -> None:
    path = appendix(report, accepted=accepted).save(tmp_path)
    assert path == tmp_path / "appendix.tex"

    def tool(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)

    latex = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "appendix.tex")
    first = tool(*latex)
    assert first.returncode == 0, first.stdout[-3000:]
    assert tool("bibtex", "-terse", "appendix").returncode == 0
    for _ in range(3):  # of 150 pages the contents may move what follows them once
        assert tool(*latex).returncode == 0
    log = (tmp_path / "appendix.log").read_text(encoding="latin-1").replace("\n", "")
    assert "undefined" not in log
    assert "multiply defined" not in log
    # What shows a statement has a number in the contents if it is called a section; else one of a theorem.
    aux, contents = ((tmp_path / f"appendix.{kind}").read_text(encoding="utf-8") for kind in ("aux", "toc"))
    numbers = dict(re.findall(r"\\newlabel\{(stmt:[^}]*)\}\{\{([^}]*)\}", aux))
    sections = set(re.findall(r"\\numberline \{([^}]*)\}", contents))
    for key in statements():
        named, _, reference = place_of(key).partition("~")
        number = numbers[reference[5:-1]]
        assert number in sections if named == "Section" else number.count(".") == 2, key
    assert "Rerun to get" not in log
    # What \rmvalue prints while a value is missing.
    assert not re.search(r"\\textsl\{\[", (tmp_path / "appendix.aux").read_text(encoding="utf-8"))
    widths = [float(width) for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(widths, default=0.0) < 10
    assert (tmp_path / "appendix.pdf").read_bytes().startswith(b"%PDF")


def test_figures_are_taken_along_with_their_captions(report: Report, accepted: Accepted, tmp_path: Path) -> None:
    plots = tmp_path / "run" / "figures"
    plots.mkdir(parents=True)
    (plots / "decay.pdf").write_bytes(b"%PDF-1.4")
    (plots / "decay.txt").write_text("Decay of 100 % by layer.\n")
    built = appendix(report, plots=plots, accepted=accepted)
    assert r"\caption{Decay of 100 \% by layer.}" in built.tex
    assert r"Figure~\ref{fig:decay} shows" in built.tex
    built.save(tmp_path / "paper")
    assert (tmp_path / "paper" / "figures" / "decay.pdf").read_bytes() == b"%PDF-1.4"
    # Into the run's own folder: the figures are there already.
    built.save(tmp_path / "run")
    assert (plots / "decay.pdf").read_bytes() == b"%PDF-1.4"
