"""Citations say what is claimed, what is known, and whom to cite; and agree with CITATION.cff."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.checker.statements import STATEMENTS
from rankmath.claims import RENAMED, statements
from rankmath.cli import main
from rankmath.files import proofs_folder
from rankmath.report import sources
from rankmath.report.cite import FORMATS, citation, software_entry
from rankmath.report.fragments import stated, without_fit
from rankmath.report.latex import breakable
from rankmath.report.shown import described, lines
from rankmath.report.sources import bibliography, certificate_file, committed_certificates, publication
from rankmath.version import __version__

CFF = Path(__file__).parents[2] / "CITATION.cff"


def test_what_is_printed_of_rankmath_is_read_from_citation_cff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert publication()["version"] == __version__
    for part in (publication()["author"], __version__, publication()["license"], publication()["date-released"][:4]):
        assert part in software_entry()
    assert "doi" not in software_entry(), "there is none yet"
    # A copy with an address: every entry and the words have it.
    text = CFF.read_text(encoding="utf-8")
    for name in ("preamble.tex", "references.bib"):
        shutil.copy(proofs_folder() / name, tmp_path)
    lines = 'url: "https://example.org/rankmath"\ndoi: 10.1000/182\n'
    (tmp_path / "CITATION.cff").write_text(text.replace("license:", f"{lines}license:"), encoding="utf-8")
    tv = citation("own:tv")
    monkeypatch.setattr(sources, "proofs_folder", lambda: tmp_path)
    publication.cache_clear()
    try:
        for entry in (software_entry(), tv.text("bibtex")):
            assert re.search(r"^  doi +=\s\{10\.1000/182\},$", entry, flags=re.MULTILINE)
            assert re.search(r"^  url +=\s\{https://example\.org/rankmath\},$", entry, flags=re.MULTILINE)
        assert "https://doi.org/10.1000/182" in tv.text("markdown")
    finally:
        publication.cache_clear()


def bare(tex: str) -> str:
    """The formula without what says where it may be broken and what of it is words."""
    words = re.sub(r"\\text\{([^{}]*)\}", r"\1", without_fit(tex))
    return re.sub(r"\\displaystyle|\\allowbreak|[$\s]", "", words)


@pytest.mark.parametrize("key", statements())
def test_a_statement_is_cited_with_claim_status_and_place(key: str) -> None:
    entry = statements()[key]
    verb = "Proved" if entry.status == "proved" else "Refuted"
    tex, bib, markdown = (citation(key).text(name) for name in FORMATS)
    for text in (tex, markdown):
        for part in (*entry.conclusion, *entry.letters, *(p for p in entry.premises if p.startswith("$"))):
            assert bare(part) in bare(text)
        assert len(entry.premises) == 0 or "Suppose: " in text
        assert "[U+" not in text
        assert all(
            bare(f"Here {shown}: ") in bare(text) for shown, _ in entry.meanings if shown not in entry.conclusion
        )
        assert f"{verb} in " in text
        for certificate in committed_certificates().get(key, ()):
            shown = certificate.id in text.replace(r"\allowbreak ", "")
            assert shown == (certificate.kind != "holds")
    assert entry.truth in markdown
    # What X, P and the layers are stands in both, with the same formulas.
    displays = re.findall(r"\\\[(.*?)\\\]", citation(key).notation)
    assert bool(displays) == (not entry.arrays)
    assert all(f"$$\n{display}\n$$" in markdown for display in displays)
    assert r"\[" not in markdown.replace(r"\\[", "")
    (keys,) = re.findall(r"\\cite\{([^}]*)\}", tex)
    *papers, own = keys.split(",")
    assert bib.startswith(f"@misc{{{own},"), "the entry of this very statement"
    assert citation(key).sources == {cited: bibliography()[cited] for cited in papers}


def test_a_certificate_is_cited_by_its_own_id() -> None:
    certificate = next(c for c in committed_certificates()["own:tv"])
    path = proofs_folder() / "certificates" / certificate_file(certificate)
    text = citation(path).text("markdown")
    assert f"`{certificate.id}`: an instance that satisfies it" in text
    assert "own:tv" in text


def test_what_violates_the_triangle_inequality_is_what_the_norm_statement_says_exists() -> None:
    assert "an instance of what it says exists" in citation("dong2021:norm").text("latex")
    assert "an instance that refutes it" in citation("dong2021v1:2.2").text("latex")


def test_a_certificate_that_is_false_cannot_be_cited(tmp_path: Path) -> None:
    certificate = committed_certificates()["dong2021:norm"][0]
    from rankmath.certificates.certificate import Certificate

    false = Certificate("dong2021:norm", "violates", {"A": certificate.data["A"], "B": certificate.data["A"]})
    path = false.save(tmp_path / "false.json")
    with pytest.raises(ValueError, match="the checker rejects it"):
        citation(path)


def test_anything_else_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="what: 'own:nothing' given; a certificate file or a statement is needed"):
        citation("own:nothing")
    with pytest.raises(ValueError, match="format: 'html' given; allowed are 'latex', 'bibtex', 'markdown'"):
        citation("own:tv").text("html")


@pytest.mark.parametrize("key", [key for key, entry in statements().items() if entry.status == "refuted"])
def test_what_is_refuted_is_called_false_before_it_is_stated(key: str) -> None:
    for form in ("latex", "markdown"):
        text = citation(key).text(form)
        assert text.index("The following is false.") < text.index("Suppose: "), form


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("seed:closure", r"P\in(\mathbb{R}^{n\times n})^{t}\text{, }t\ge 1\text{, }n\ge 2"),
        ("wang2022:1-repaired", r"A\in\mathbb{R}^{n\times n}"),
        ("own:contranorm", r"\sigma\in\mathbb{R}^{m}"),
        ("own:stable-every-rank", r"\mathrm{ratio}\in\mathbb{R}"),
    ],
)
def test_a_hypothesis_is_said_once(key: str, said: str) -> None:
    assert f"${said}$" in citation(key).premises


def test_formulas_in_the_words_of_a_hypothesis_are_mathematics_and_no_blank_stands_before_a_comma() -> None:
    claim = rm.Statement("mine:x", "mu(X[1]) <= 1", given="bias == none")
    assert r"$(\sum_{h} b_{V} W_{O} + b_{O} = 0)$" in stated(claim)[0]
    assert breakable(r"P\text{, stochastic}\text{, }n\ge 2") == r"$\displaystyle P$, stochastic, $\displaystyle n\ge 2$"


def test_a_quantity_of_one_layer_says_which_layer_it_is() -> None:
    said = dict(citation("own:pre-norm-depth").meanings)
    assert said[r"\rho_{0}"].endswith("here l = 0")
    assert "here l" not in dict(citation("own:pre-norm-diameter").meanings)[r"\rho_{l}"]


def test_a_printed_layer_says_what_its_letters_may_be() -> None:
    for key in ("own:transport-skip", "own:pre-norm-diameter", "own:pre-norm-depth", "dong2021:2.2", "dong2021:3.3"):
        said = citation(key).notation
        assert (r"\lambda" in said) == (r"$\lambda\in\mathbb{R}$" in said)
        assert (r"\varepsilon" in said) == (r"$\varepsilon\ge0$" in said)


def test_what_is_assumed_of_arrays_is_shown() -> None:
    assert "  P: an array t × n × n, stochastic, n >= 2" in lines("seed:closure")
    assert "  t: a number, whole, >= 0" in lines("wang2022:1-repaired")
    assert "  w: a vector of d numbers, not zero" in lines("own:escape")


@pytest.mark.parametrize("key", [key for key, entry in statements().items() if entry.arrays])
def test_every_array_that_is_listed_occurs_in_what_is_claimed(key: str) -> None:
    found = described(key)
    said = " ".join((found["claim"], found["given"], *found["where"].values()))
    assert not [name for name in found["arrays"] if not re.search(rf"\b{name}\b", said)]


def test_no_skip_connections_are_a_factor_of_zero_where_the_factor_is_a_letter() -> None:
    assert r"$\lambda = 0$" in citation("dong2021:2.1").premises
    assert described("dong2021:2.1")["given"] == "skip == 0"


def test_a_definition_names_its_letters() -> None:
    """The claim applies it to other ones: to σ what is defined of s."""
    assert "as a formula in T, s: b = exp(-s*" in described("folk:entropy-order")["quantities"]["entropy_floor"]


def test_what_is_measured_of_layers_says_whether_of_their_product() -> None:
    said = {
        name: meaning
        for key in ("own:position-bias-prefix", "wu2025:4.2")
        for name, meaning in described(key)["quantities"].items()
    }
    for name in ("tail", "share", "prefix_floor"):
        assert "in the product of all layers" in said[name]
    assert all("in any layer" in said[name] for name in ("least_within", "least_prefixed"))


def test_a_key_that_was_another_before_says_all_that_the_new_one_says() -> None:
    for old, new in RENAMED.items():
        assert described(old) == described(new)
        assert citation(old).text("latex") == citation(new).text("latex")
        assert lines(old) == lines(new)


def test_a_style_keeps_the_capitals_of_a_title() -> None:
    """Outside of braces a style makes v of a matrix V."""
    title = re.search(r"title += \{(.*)\},$", citation("own:flow-second-value").text("bibtex"), flags=re.MULTILINE)
    assert title is not None
    assert title[1].endswith("has it: {One limit of causal tokens under a symmetric $V$, by its first two eigenvalues}")


def test_claims_that_only_certificates_make_are_shown() -> None:
    """Every key that a certificate may name; the definitions are those that the checker reads."""
    for key in STATEMENTS.keys() - statements().keys():
        found = described(key)
        assert found["claim"] == STATEMENTS[key].claim
        assert "\n".join(found["define"]) == STATEMENTS[key].define.strip()
        text = " ".join(" ".join(lines(key)).split())
        assert " ".join(found["says"].split()) in text
        assert all(condition in text for condition in found["given"])


CLAIMS = """
[never-spreads]
claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)"
given = ["heads == 1"]
title = "Attention_A never spreads"
source = "Smith & Sons, lemma 3"
[halves]
claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2"
given = ["heads == 1"]
title = "Halving 50% of it"
source = "my notes"
[bare]
claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/3"
given = ["heads == 1"]
"""


def test_title_and_source_of_a_claim_in_a_file_are_in_all_that_is_printed_of_it(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    asked = ["verify", str(tmp_path / "claims.toml"), "--seconds", "3", "--output", str(tmp_path)]
    done = CliRunner().invoke(main, [*asked, "--json"])
    told = json.loads(done.stdout)
    assert [(one["title"], one["source"]) for one in told] == [
        ("Attention_A never spreads", "Smith & Sons, lemma 3"),
        ("Halving 50% of it", "my notes"),
        ("", ""),
    ]
    names = ("never-spreads", "halves", "bare")
    files = {name: tmp_path / "claims" / f"mine-{name}.json" for name in names}
    assert told[1]["certificates"] == [rm.Certificate.load(files["halves"]).id]
    proved, refuted, bare = (files[name].with_suffix(".tex").read_text(encoding="utf-8") for name in names)
    assert r"\begin{theorem}[{Attention\_A never spreads; Smith \& Sons, lemma 3}]" in proved
    assert r"\begin{theorem}[{Halving 50\% of it: a counterexample}]" in refuted
    assert "violates the claim (my notes):" in refuted
    assert r"\begin{theorem}[A counterexample]" in bare
    assert "title='Halving 50% of it'" in files["halves"].with_suffix(".py").read_text(encoding="utf-8")
    entries = {name: citation(path).text("bibtex") for name, path in files.items()}
    assert "{{Attention\\_A never spreads}}" in entries["never-spreads"]
    assert r"the claim is from Smith \& Sons, lemma 3" in entries["never-spreads"]
    assert "{{Halving 50\\% of it}}" in entries["halves"]
    assert "the claim is the author's" in entries["bare"]
    assert "The claim is from my notes; rankmath decided" in citation(files["halves"]).text("latex")
    assert all(rm.Certificate.load(path).check().accepted for path in files.values())


def test_title_and_source_are_printed_with_the_answer(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(CLAIMS.partition("[bare]")[0].partition("[halves]")[0], encoding="utf-8")
    asked = ["verify", str(tmp_path / "one.toml"), "--seconds", "3", "--output", str(tmp_path)]
    printed = CliRunner().invoke(main, asked).stdout.splitlines()
    assert {"title: Attention_A never spreads", "source: Smith & Sons, lemma 3"} <= set(printed)


@pytest.mark.parametrize("key", sorted(STATEMENTS.keys() - statements().keys()))
def test_of_a_claim_of_certificates_alone_a_file_is_asked_for(key: str) -> None:
    """`rankmath show` knows it: it is no other statement misspelt."""
    with pytest.raises(rm.InvalidArgument, match="only a certificate's file of it can be cited") as refused:
        citation(key)
    assert "did you mean" not in str(refused.value)
    for name in re.findall(r"such as (\S+)", str(refused.value)):
        assert citation(proofs_folder().parent / name).key == key
