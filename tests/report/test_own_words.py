"""What a person says of a claim is text: it comes out as it was typed, and nothing is added to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rankmath as rm
from rankmath.formula.prose import escape, formulas, own_words
from rankmath.report.cite import citation
from rankmath.report.counterexamples import uncertified
from rankmath.report.fragments import in_its_words
from rankmath.report.theorems import fragment

SOURCE = 'A question of W. Q. Smith and P. K. O\'Neill, after Dong 2021, "p. 3"'
PRINTED = "A question of W. Q. Smith and P. K. O'Neill, after Dong 2021, ``p. 3''"
TITLE = r"Halving, by $\|W\|_\infty$, of 50%"


@pytest.fixture(scope="module")
def net() -> rm.Network:
    return rm.Network.from_arrays(W_QK=[[[[8.0]]]], W=[[[[1.0]]]], d_qk=1.0)


def halves(factor: int = 2, **said: str) -> rm.Statement:
    claim = f"diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/{factor}"
    return rm.Statement("mine:halves", claim, given="heads == 1", **said)


def file(claim: rm.Statement, net: rm.Network, folder: Path) -> Path:
    return in_its_words(rm.certify(claim, net, [[2.0], [-2.0]]), claim).save(folder / "mine.json")


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        (SOURCE, PRINTED),
        (TITLE, r"Halving, by $\|W\|_\infty$, of 50\%"),
        ("P. K. and A. B. on $n$ tokens", "P. K. and A. B. on $n$ tokens"),
        ("costs $5 and $6, a_b", r"costs \$5 and \$6, a\_b"),
        ('("one" and "two")', "(``one'' and ``two'')"),
        ("two\n lines", "two lines"),
        # Nothing that reads a file, writes one, or ends the mathematics.
        (r"$\input{x}$", r"\$\textbackslash{}input\{x\}\$"),
        (r"$^^5cinput x$", r"\$\textasciicircum{}\textasciicircum{}5cinput x\$"),
        ("$a}b{$", r"\$a\}b\{\$"),
        ("$a%$", r"\$a\%\$"),
    ],
)
def test_own_words_are_text_and_what_is_marked_as_mathematics(typed: str, printed: str) -> None:
    assert own_words(typed) == printed


def test_quotation_marks_open_and_close_around_formulas_too() -> None:
    assert escape('a "b" c') == "a ``b'' c"
    assert formulas('so "x_1" and "the mean"') == "so ``$x_{1}$'' and ``the mean''"


def test_title_and_source_are_printed_as_they_were_typed(net: rm.Network, tmp_path: Path) -> None:
    claim = halves(title=TITLE, source=SOURCE)
    path = file(claim, net, tmp_path)
    theorem = fragment([rm.Certificate.load(path)])
    bare = uncertified(claim.instance(net, [[2.0], [-2.0]]), claim)
    cited = [citation(path).text(form) for form in ("latex", "bibtex")]
    for text in (theorem, bare, *cited):
        assert r"Halving, by $\|W\|_\infty$, of 50\%" in text
        assert PRINTED in text
        assert "dong2021" not in text


def test_an_entry_of_bibtex_names_no_author_that_a_claim_has_not(net: rm.Network, tmp_path: Path) -> None:
    titles = []
    for factor in (2, 3):
        entry = citation(file(halves(factor), net, tmp_path)).text("bibtex")
        fields = dict(re.findall(r"^  (\w+) += \{(.*)\},$", entry, flags=re.MULTILINE))
        assert "author" not in fields
        assert "The rankmath authors" not in entry
        assert fields["key"] == "mine:halves", "styles that sort ask for an author or a key"
        titles.append(fields["title"])
    assert titles[0] != titles[1]
    assert titles[0].startswith(r"{A claim that is false: $\Delta_{1}(X^{1}) \le ")


def test_the_sink_of_a_flow_is_cited_with_its_data(tmp_path: Path) -> None:
    flow = rm.Flow([[2, -2], [0, 1]], query=[[0, 0]], key=[[0, 0]], mask="causal")
    path = flow.certify([[1, 0], [-0.8, 0.6]]).certificate().save(tmp_path / "sink.json")
    for form in ("latex", "markdown"):
        text = citation(path).text(form)
        for said in (
            r"V=\begin{pmatrix}2&-2\\0&1\end{pmatrix}",
            r"Q=\begin{pmatrix}0&0\end{pmatrix}",
            r"K=\begin{pmatrix}0&0\end{pmatrix}",
            r"\beta=1",
            r"\text{mask}=\begin{pmatrix}1&0\\1&1\end{pmatrix}",
            r"X=\begin{pmatrix}1&0\\-\tfrac{900719925474099}{1125899906842624}",
            r"$P_x=I-xx^{\mathsf T}$",
            r"$a_{ij}$ is $e^{\beta\langle Qx_i,Kx_j\rangle}$",
            "Tokens are the rows of $X$",
        ):
            assert said in text.replace("\n$a", " $a"), (form, said)
