"""What is pasted: into two columns, into one .bib file, into Markdown; and what `check` is given."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.claims import statements
from rankmath.cli import main
from rankmath.model.network import Attention, Sublayer
from rankmath.model.positions import Rotary
from rankmath.report.cite import _in_words, citation
from rankmath.report.sources import bibliography, committed_certificates
from rankmath.report.theorems import fragment


def _said(*words: object, code: int = 0, typed: str | None = None) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words], input=typed, standalone_mode=False)
    if isinstance(result.exception, rm.InvalidArgument):
        assert code == 2
        return str(result.exception)
    assert (result.exit_code, code) in ((0, 0), (1, 1)), result.output
    return result.stdout


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for certificate in committed_certificates()["own:tv"][:2]:
        certificate.save(tmp_path / f"{certificate.id}.json")
    return tmp_path


def test_a_folder_stands_for_its_files_and_a_dash_for_standard_input(files: Path) -> None:
    names = sorted(files.glob("*.json"))
    assert _said("check", files).count("accepted") == len(names) > 0
    assert _said("check", "-", typed=names[0].read_text()).startswith("standard-input.json: accepted rm-")
    assert "no such file or folder" in _said("check", files / "none.json", code=2)
    (files / "empty").mkdir()
    assert "holds no .json file" in _said("check", files / "empty", code=2)


def test_one_bib_file_takes_all_entries_each_once(tmp_path: Path) -> None:
    bib = tmp_path / "references.bib"
    _said("cite", "own:tv", "wu2024:1", "rankmath", "--format", "bibtex", "--sources", bib)
    _said("cite", "wu2024:1", "--sources", bib)
    for name in ("one", "two"):
        _said("appendix", "own:tv", "--fragment", "--output", tmp_path / name, "--sources", bib)
        assert not (tmp_path / name / "references.bib").exists()
    keys = re.findall(r"^@\w+\{([^,]+),", bib.read_text(), flags=re.MULTILINE)
    assert {"rankmath", "rankmath:own:tv", "rankmath:wu2024:1", "wu2024role"} <= set(keys)
    assert len(keys) == len(set(keys))


def test_a_pattern_cites_all_that_fit_and_the_library_is_cited_in_every_format() -> None:
    assert _said("cite", "own:tv*", "own:diameter*").count(r"\begingroup") == 3
    assert _said("cite", "rankmath") == "\\texttt{rankmath} \\cite{rankmath}\n"
    assert _said("cite", "rankmath", "--format", "markdown").startswith("The rankmath authors. *rankmath")
    assert _said("cite", "rankmath", "--format", "bibtex").startswith("@misc{rankmath,")


def test_markdown_has_no_command_of_latex_outside_its_formulas(tmp_path: Path) -> None:
    equilibrium = rm.layernorm_equilibrium(tokens=3, dim=3, rank=2, mask="causal").certify().certificate()
    text = citation(equilibrium.save(tmp_path / "eq.json")).text("markdown")
    outside = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", text, flags=re.DOTALL)
    assert "\\" not in outside
    assert "{" not in outside
    people = [_in_words(entry) for entry in bibliography().values()]
    assert not [line for line in people if "\\" in line or "{" in line]
    assert any("João G. M. Araújo" in line and "Veličković" in line for line in people)


@pytest.mark.needs("pdflatex")
def test_every_claim_and_every_bound_compiles_with_amsmath_alone(tmp_path: Path) -> None:
    shown = [entry.claim for entry in statements().values()]
    for key in statements():
        with suppress(rm.InvalidArgument):  # a claim that is no inequality has no bound
            shown.append(rm.bound(key).latex())
    assert len(shown) > len(statements()) + 100
    listed = json.loads(_said("list", "--json"))
    assert [entry["claim"] for entry in listed] == shown[: len(listed)]
    body = "".join(f"$$\n{formula}\n$$\n" for formula in shown)
    (tmp_path / "all.tex").write_text(
        rf"\documentclass{{article}}\usepackage{{amsmath}}\begin{{document}}{body}\end{{document}}", encoding="utf-8"
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-1500:].decode("latin1")


@pytest.mark.needs("pdflatex")
def test_a_fragment_compiles_in_a_paper_of_two_columns(tmp_path: Path) -> None:
    _said("appendix", "own:tv", "--fragment", "--output", tmp_path)
    paper = (
        r"\documentclass[twocolumn]{article}\usepackage{rankmath}\begin{document}A text.\input{appendix}\end{document}"
    )
    (tmp_path / "paper.tex").write_text(paper)
    subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=batchmode", "paper"], cwd=tmp_path, check=True, timeout=120
    )


@pytest.mark.needs("pdflatex")
def test_a_fragment_compiles_under_a_class_with_a_proof_of_its_own(tmp_path: Path) -> None:
    _said("appendix", "own:gamma-free", "--fragment", "--output", tmp_path)
    # As llncs has it: theorems and a proof, and no amsthm, whose proof would be a second one.
    own = r"\newtheorem{theorem}{Theorem}\newenvironment{proof}[1][Proof]{#1. }{}\usepackage{rankmath}"
    text = r"\begin{document}A text.\input{appendix}\end{document}"
    (tmp_path / "paper.tex").write_text(rf"\documentclass{{article}}{own}{text}")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-1500:].decode("latin1")


def test_an_appendix_takes_the_patterns_that_a_citation_takes(tmp_path: Path) -> None:
    _said("appendix", "own:flow-step*", "own:flow-step", "--output", tmp_path)
    claims = (tmp_path / "appendix.tex").read_text().partition(r"\section{The claims}")[2].partition(r"\section{")[0]
    listed = re.findall(r"\\item\[\\texttt\{([^}]*)\}", claims.replace(r"\allowbreak ", ""))
    assert listed == ["own:flow-step", "own:flow-step-odd", "own:flow-step-usa"]
    assert _said("cite", "own:flow-step*").count("\\begin{quote}") == 3
    assert "key: 'own:zz*' given; no statement fits it" in _said("appendix", "own:zz*", code=2)


@pytest.mark.needs("pdflatex")
def test_slides_take_a_citation_and_refuse_an_appendix(tmp_path: Path) -> None:
    if subprocess.run(["kpsewhich", "beamer.cls"], capture_output=True, check=False).returncode:
        pytest.skip("beamer is not installed")
    _said("appendix", "own:tv", "--fragment", "--output", tmp_path)
    (tmp_path / "cited.tex").write_text(_said("cite", "own:diameter"))
    for name, used, text in (("talk", "amsmath,amssymb,amsthm", "cited"), ("whole", "rankmath", "appendix")):
        frame = rf"\begin{{frame}}[allowframebreaks]{{A}}\input{{{text}}}\end{{frame}}"
        head = rf"\documentclass{{beamer}}\usepackage{{{used}}}\begin{{document}}"
        (tmp_path / f"{name}.tex").write_text(f"{head}{frame}\\end{{document}}")
    codes = [
        subprocess.run(
            ["pdflatex", "-halt-on-error", "-interaction=batchmode", name], cwd=tmp_path, check=False, timeout=120
        ).returncode
        for name in ("talk", "whole")
    ]
    assert codes == [0, 1]
    assert "Overfull \\vbox" not in (tmp_path / "talk.log").read_text(encoding="latin-1")
    assert "Package rankmath Error: An appendix has sections" in (tmp_path / "whole.log").read_text(encoding="latin-1")


def test_a_long_trace_says_before_it_starts_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = importlib.import_module("rankmath.cli.trace")
    asked: list[tuple[int, int]] = []

    def seconds(count: int, depth: int) -> float:
        asked.append((count, depth))
        return depth * count * (count + 512) / 1e6

    def told(*sizes: int) -> str:
        trace._say_how_long(seconds, *sizes)
        return capsys.readouterr().err

    wide, deep = told(6000, 512, 8, 8), told(16, 512, 10**7, 1)
    assert re.match("6000 tokens through 8 layers take about 5 minutes, as 450 tokens through 1 layer did", wide)
    assert re.match("16 tokens through 10000000 layers take about 23 hours, as 16 tokens through [0-9]+ layers", deep)
    assert [count for count, _ in asked] == [56, 450, 2, 16]
    assert asked[1][1] == 1
    assert 2 < asked[3][1] < 10**5
    asked.clear()
    assert told(512, 64, 8, 8) == ""
    assert not asked


def test_the_folder_that_cannot_be_written_is_named_by_its_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for command in (("appendix", "own:tv"), ("counterexample", "dong2021v1:2.2")):
        assert _said(*command, "--output", tmp_path / "file" / "paper", code=2).startswith("--output: ")


def test_the_address_of_every_entry_is_that_of_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is printed while CITATION.cff has none."""
    cite = importlib.import_module("rankmath.report.cite")
    said = cite.publication()
    assert not {"url", "doi"} & set(said)
    assert "url" not in cite.software_entry()
    monkeypatch.setattr(cite, "publication", lambda: {**said, "url": "https://example.org/rankmath"})
    for text in (cite.software("bibtex"), citation("own:tv").text("bibtex"), cite.software("markdown")):
        assert "https://example.org/rankmath" in text


def test_positions_of_a_counterexample_are_defined_where_they_are_used() -> None:
    rotary = Rotary(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]))
    one = np.eye(2)[None]
    turned = rm.Network.from_layers([[Sublayer(Attention(one, one, 1.0, rotary=rotary), 0.0)]])
    claim = rm.Statement("mine:x", "mu(X[1]) <= 1000", ["heads == 1", "positions == rotary", "bias == any"])
    text = fragment([rm.certify(claim, turned, [[1.0, 0.0], [2.0, 3.0]])])
    assert text.index("cu-sv") < text.index("cos of the rotations")


def test_a_statement_is_shown_in_the_columns_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = _said("show", "own:diameter").splitlines()
    assert 50 < max(len(line) for line in lines if max(map(len, line.split()), default=0) < 40) <= 60
