"""What is handed over pastes into a paper: no command of our own is left, and it compiles in a two-line article."""

from __future__ import annotations

import re
import runpy
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.claims import statements
from rankmath.cli import main
from rankmath.files import proofs_folder
from rankmath.linalg.masks import Mask
from rankmath.model.network import MLP, Attention, LayerNorm, Sublayer
from rankmath.report.appendix import appendix, relied_on
from rankmath.report.cite import citation
from rankmath.report.counterexamples import handed_over, uncertified
from rankmath.report.fragments import STYLE, commands, notation, without_fit, written_out
from rankmath.report.latex import FIT
from rankmath.report.sources import committed_certificates, preamble, proof_texts
from rankmath.report.theorems import equilibrium_statement, findings, fragment

#: Two lines, as any paper has them.
ARTICLE = "\\documentclass{article}\\usepackage{amsmath,amssymb,amsthm}\n\\begin{document}%s\\end{document}\n"

pdflatex = pytest.mark.needs("pdflatex")


@pytest.fixture(scope="module")
def mine() -> rm.Certificate:
    """A refutation of a claim of the user's own."""
    net = rm.Network.from_arrays(W_QK=[[[[8.0]]]], W=[[[[1.0]]]], d_qk=1.0)
    claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2"
    return rm.certify(rm.Statement("mine:halves", claim, given="heads == 1"), net, [[2.0], [-2.0]])


#: Lemmas, a sum, a fold, products, all layers; and cases of a minimum.
SKIP = "diameter(X[L], 2) <= prod_l(abs(skip) + sum_h(norm(W[l, h], 2)))*diameter(X[0], 2)"
SKIP_LINES = [
    {"says": "diameter(X[1 + l], 2) <= abs(skip)*diameter(X[l], 2) + diameter(X[l], 2)*sum_h(dobrushin(P[l, h])*"
             "norm(W[l, h], 2))", "by": "lemma", "name": "layer-skip[2]", "at": {"l": "l"}},
    {"says": "abs(skip) <= abs(skip)", "by": "sum", "of": []},
    {"says": "dobrushin(P[l, h]) <= 1", "by": "lemma", "name": "dobrushin-one", "at": {"h": "h", "l": "l"}},
    {"says": "dobrushin(P[l, h])*norm(W[l, h], 2) <= norm(W[l, h], 2)", "by": "product", "of": [[3, "1"]]},
    {"says": "sum_h(dobrushin(P[l, h])*norm(W[l, h], 2)) <= sum_h(norm(W[l, h], 2))", "by": "fold",
     "name": "sum_h", "of": [4]},
    {"says": "abs(skip) + sum_h(dobrushin(P[l, h])*norm(W[l, h], 2)) <= abs(skip) + sum_h(norm(W[l, h], 2))",
     "by": "sum", "of": [[2, "1"], [5, "1"]]},
    {"says": "diameter(X[1 + l], 2) <= (abs(skip) + sum_h(norm(W[l, h], 2)))*diameter(X[l], 2)", "by": "product",
     "of": [[1, "1"], [6, "1"]]},
    {"says": "diameter(X[L], 2) <= diameter(X[0], 2)*prod_l((abs(skip) + sum_h(norm(W[l, h], 2))))",
     "by": "layers", "how": "product", "of": [7]},
]  # fmt: skip
RANK_LINES = [
    {"says": "rank(X[0]) <= d", "by": "lemma", "name": "rank-d", "at": {"t": "0"}},
    {"says": "rank(X[0]) <= n", "by": "lemma", "name": "rank-n", "at": {"t": "0"}},
    {"says": "rank(X[0]) <= min(d, n)", "by": "cases", "name": "min(d, n)", "of": [1, 2]},
]


@pytest.fixture(scope="module")
def theorems() -> dict[str, str]:
    """One committed certificate of every statement, as a fragment."""
    return {key: fragment(group[:1]) for key, group in committed_certificates().items()}


@pytest.fixture(scope="module")
def proofs() -> list[rm.Certificate]:
    """Derivations of claims of the user's own."""
    causal = ("mask == causal", "layernorm == none", "mlp == none")
    return [
        rm.Certificate("mine:skip", "derivation", {"lines": SKIP_LINES}, claim=SKIP, given=causal),
        rm.Certificate("mine:rank", "derivation", {"lines": RANK_LINES}, claim="rank(X[0]) <= min(n, d)", given=causal),
    ]


def compiled(tex: str, folder: Path) -> str:
    """pdflatex with errors fatal; nothing sticks out of the page; what the log says, lines joined."""
    (folder / "paper.tex").write_text(tex, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    log = (folder / "paper.log").read_text(errors="replace")
    assert "Overfull" not in log, re.findall(r"Overfull.*\n.*\n", log)
    assert "multiply defined" not in log
    return log.replace("\n", "")


def on_the_page(folder: Path) -> str:
    """The words of paper.pdf."""
    pdf = subprocess.run(["pdftotext", "-layout", "paper.pdf", "-"], cwd=folder, capture_output=True, check=True)
    return pdf.stdout.decode(errors="replace")


def private(tex: str) -> list[str]:
    """Our own commands in a text, but the one that it defines itself before it uses it."""
    used = tex.find(r"\rankmathfit{")
    assert used < 0 or FIT in tex[:used]
    return re.findall(rf"\\(?:{'|'.join(commands())}|rm\w+)(?![A-Za-z])", without_fit(tex))


@pytest.mark.needs("pdflatex")
def test_nothing_sticks_out_of_one_of_two_columns(theorems: dict[str, str], tmp_path: Path) -> None:
    """Formulas that no line breaks, and matrices of five or six columns of long fractions."""
    equilibrium = rm.layernorm_equilibrium(3, 3, 3).certify().certificate()
    cited = (
        "dong2021:2.3",
        "wu2024:1",
        "own:composite",
        "own:spectrum-symmetric",
        "yudin2025:softmax",
        "own:shrinking-values",
    )
    shown = ("barbero2024:4.2", "dong2021:A.3", "dong2021:3.2", "own:causal-rate", "wu2024:2", "own:flow-step")
    head = r"\documentclass[twocolumn]{article}\usepackage{amsmath,amssymb,amsthm}\begin{document}"
    parts = [
        *(citation(key).text("latex") for key in cited),
        *(theorems[key] for key in shown),
        fragment([equilibrium]),
    ]
    (tmp_path / "paper.tex").write_text("\n\n".join([head, *parts, r"\end{document}"]), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "paper.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    log = (tmp_path / "paper.log").read_text(errors="replace")
    widths = [float(width) for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(widths, default=0.0) < 0.1, "no line sticks out"


def test_every_command_of_the_preamble_is_known() -> None:
    named = set(re.findall(r"\\(?:newcommand|DeclareMathOperator)\{\\(\w+)\}", preamble()))
    assert named - set(commands()) == {"rmset", "rmvalue", "rmreport"}


def test_commands_are_written_out_inside_one_another_and_do_not_run_into_letters() -> None:
    assert written_out(r"\norm{\abs{x}\one}y") == r"\lVert \lvert x\rvert\mathbf{1}\rVert y"
    assert written_out(r"\rmvalue{a:b} \rmreport{k}", {"a:b": "7"}) == "7 "
    assert written_out(r"\times\dqk") == r"\times d_{qk}"
    assert written_out(r"\norm e=\norm\beta") == r"\lVert e\rVert=\lVert \beta\rVert"
    for name, text in proof_texts().items():
        values = dict.fromkeys(re.findall(r"\\rmvalue\{([^}]*)\}", text), "1")
        assert private(written_out(text, values)) == [], name


@pytest.mark.parametrize("key", statements())
def test_a_citation_has_no_command_of_ours_and_says_what_a_layer_is(key: str) -> None:
    text = citation(key).text("latex")
    assert private(text) == []
    assert not re.findall(r"\\textasciicircum|\\_\\\{|\[U\+\w+\]", text), "signs that were not understood"
    if not statements()[key].arrays:
        assert text.index("Tokens are the rows") < text.index(r"\begin{quote}"), "notation before it is used"
        assert text.index(r"\operatorname{softmax}") < text.index(r"\begin{quote}")


def test_the_layer_that_is_printed_is_the_one_of_the_hypotheses() -> None:
    skip = rm.Statement("mine:a", "mu(X[L]) <= 1", given="skip == 1 and bias == none and mask == causal")
    text = notation(skip)
    assert r"\[X^{l+1}=X^{l}+\sum_{h}P^{l,h}X^{l}W^{l,h},\]" in text
    assert notation(skip) == notation(rm.Statement("mine:c", "mu(X[L]) <= 1", given="skip == 1 and bias == none"))
    sphere = notation(rm.Statement("mine:b", "mu(X[L]) <= 1", given="layernorm == sphere and mlp == any"))
    assert r"\[Y^{l}=\sum_{h}P^{l,h}X^{l}W^{l,h}+\mathbf 1o_l^{\mathsf T},\]" in sphere
    assert sphere.index("mapped to $f_l(y)$") < sphere.index("divided by its Euclidean norm")
    assert notation(statements()["own:tv"]) == "", "no network is spoken of"


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ("positions == rotary", "they are turned;"),
        ("positions == alibi", "a term of the places $i$ and $j$ is added;"),
        ("qk_norm == any and positions == any", "they are normed and turned, and a term of the places"),
        ("softcap == any", r"$S^{l,h}_{ij}$ is capped, $t\tanh(S^{l,h}_{ij}/t)$ with a number $t>0$;"),
    ],
)
def test_a_printed_layer_has_no_cap_norm_or_turn_that_the_hypotheses_do_not_allow(given: str, changes: str) -> None:
    text = notation(rm.Statement("mine:a", "mu(X[L]) <= 1", given=given)).replace("\n", " ")
    assert f"where the hypotheses allow it {changes}" in text
    assert ("capped" in text) == ("softcap" in given)


def test_a_theorem_of_a_certificate_has_no_program_text(mine: rm.Certificate, theorems: dict[str, str]) -> None:
    for key, text in (("mine", fragment([mine])), *theorems.items()):
        assert private(text) == [], key
        assert "layers[" not in text
        for program in (" for row in", "range(", " == ", "[l, h]", "[U+", "`", r"\textasciicircum", r"\sqrt{s}"):
            assert program not in text, (key, program)


def parts() -> rm.Certificate:
    """An instance with an MLP, a LayerNorm before it, a cap of logits, a mask and a skip connection."""
    one = np.eye(2)[None]
    attention = Attention(one, one, 1.0, softcap=2.0, mask=Mask(np.tril(np.ones((2, 2), dtype=bool))))
    mlp = MLP(3 * np.eye(2), 5 * np.eye(2), activation="silu", b_in=np.array([7.0, 0.0]))
    norm = LayerNorm("rms", eps=1e-5, gain=np.array([11.0, 1.0]))
    net = rm.Network.from_layers([[Sublayer(attention, 1.0), Sublayer(mlp, 0.0, before=norm)]])
    given = ("mask == causal", "softcap == tanh", "mlp == any", "layernorm == any", "norm_at == any", "skip >= 0")
    claim = rm.Statement("mine:parts", "diameter(X[1], 2) <= diameter(X[0], 2)", given)
    return rm.certify(claim, net, [[1.0, 0.0], [2.0, 3.0]])


def test_every_part_of_a_network_has_its_letter_and_its_formula() -> None:
    text = fragment([parts()])
    for said in (
        r"f_{0}(y)=\sigma(yW_{\mathrm{in}}+b_{\mathrm{in}})\,W_{\mathrm{out}},\quad\sigma(x)=\frac{x}{1 + e^{- x}}",
        r"W_{\mathrm{in}}=\begin{pmatrix}3&0\\0&3\end{pmatrix}",
        r"b_{\mathrm{in}}=\begin{pmatrix}7&0\end{pmatrix}",
        r"\text{logits capped with }c=2",
        r"\text{RMSNorm before the map of layer 0}\text{, }\varepsilon=10^{-5}\text{ (as a double)}",
        r"\text{its gain}=\begin{pmatrix}11&1\end{pmatrix}",
        r"\text{factor of the skip connection around the attention of layer 0}=1",
        r"\text{token }i\text{ sees token }j\text{ where entry }(i,j)\text{ is 1 in }",
    ):
        assert said in text, text
    assert "mathtt" not in text
    assert text.index("Tokens are the rows") < text.index("Suppose")


def bare() -> str:
    """What is handed over where the checker issues no certificate."""
    claim = rm.Statement("mine:bare", "entropy(P[0,0]) >= log(n)/4", given="mask == causal, heads == 1")
    net = rm.Network.from_arrays(W_QK=[[[[1.0]]]], W=[[[[1.0]]]], d_qk=1.0, mask="causal")
    return uncertified(claim.instance(net, [[1.0], [0.0]]), claim)


def test_an_instance_without_a_certificate_has_its_claim_and_says_so() -> None:
    text = bare()
    order = [
        "Tokens are the rows",
        "violates the claim, by ball arithmetic; no certificate",
        "Suppose: the causal mask",
    ]
    places = [text.index(said) for said in (*order, r"\operatorname{Ent}(P^{0,0}) \ge", r"X^{0}=\begin{pmatrix}1")]
    assert places == sorted(places)


def test_what_the_checker_decided_is_told_with_its_numbers() -> None:
    line = "claim: mu(X[L]) <= 3: [0, 1.6228e-33] against [1.77156, 1.77157], so it holds (in intervals of 128 bits)"
    (said,) = findings(["hypotheses: H == 1", line])
    assert r"lies in $[0, 1.6228\cdot10^{-33}]$" in said
    assert "$[1.77156, 1.77157]$, so the claim holds" in said


def test_a_claim_of_ones_own_is_the_users(mine: rm.Certificate, tmp_path: Path) -> None:
    found = citation(mine.save(tmp_path / "mine.json"))
    text = found.text("latex")
    assert "The claim is the author's" in text
    assert "this library" not in text
    assert "Suppose: one head; no mask" in text
    assert r"\Delta_{1}(X^{1}) \le" in text
    assert mine.id in found.text("bibtex")


def test_outputs_of_bibtex_put_together_repeat_no_entry(tmp_path: Path) -> None:
    keys = list(statements())
    outputs = [citation(key).text("bibtex") for key in keys]
    entries = re.findall(r"^@\w+\{([^,]+),", "\n".join(outputs), flags=re.MULTILINE)
    assert len(entries) == len(set(entries)) == len(keys)
    # A file that is named takes all entries, once each however often it is added to; nothing is printed twice.
    bib = tmp_path / "references.bib"
    printed = [
        CliRunner().invoke(main, ["cite", key, "--format", "bibtex", "--sources", str(bib)]).stdout
        for key in ("wu2024:1", "wu2024:2", "own:tv", "wu2024:1")
    ]
    told = "\n".join([*printed[:3], bib.read_text(encoding="utf-8")])
    entries = re.findall(r"^@\w+\{([^,]+),", told, flags=re.MULTILINE)
    assert entries == ["wu2024role", "rankmath:wu2024:1", "rankmath", "rankmath:wu2024:2", "rankmath:own:tv"]
    # A file is cited by its certificate, also beside the statement and beside another file of it.
    files = sorted((proofs_folder() / "certificates").glob("own-diameter_*.json"))[:2]
    keys = [citation(what).entry_key for what in ("own:diameter", *files)]
    assert keys == ["rankmath:own:diameter", *(f"rankmath:{path.stem.partition('_')[2]}" for path in files)]
    for entry in outputs:
        assert re.search(r"year +=.*20\d\d", entry)


def test_a_whole_run_asks_for_its_refutations_and_a_named_one_for_all_of_it() -> None:
    outcomes = [(key, "REFUTED" if entry.status == "refuted" else "HOLDS") for key, entry in statements().items()]
    refuted = [key for key, entry in statements().items() if entry.status == "refuted"]
    assert relied_on(outcomes) == refuted
    assert relied_on(outcomes[:3]) == [key for key, _ in outcomes[:3]]
    done = CliRunner().invoke(main, ["appendix"])
    assert done.exit_code == 2
    assert "--all" in done.stderr


def test_a_proof_says_what_is_supposed_what_its_letters_are_and_how_each_line_follows(
    proofs: list[rm.Certificate], tmp_path: Path
) -> None:
    text = fragment(proofs[:1])
    assert private(text) == []
    assert "Suppose: the causal mask; no LayerNorm; no MLP.  Then" in text
    for program in (" = causal", "mathrm{mask}", "[2]", "[l", "_h(", r"\begin{proposition}"):
        assert program not in text
    # Every letter of a line is said what it is, before the lines.
    place = text.index(r"\item[(1)]")
    assert r"$\displaystyle \tau(P^{l,h})$: largest total variation" in text[:place]
    assert text.index(r"X^{l+1}=\lambda X^{l}+") < text.index("Suppose")
    for reason in (
        r"by the lemma \texttt{layer-\allowbreak skip}",
        "adding (4) over all heads",
        "adding (2) and (5)",
        "by (1) and (6), factor by factor",
        "by (7) in one layer after the other",
    ):
        assert reason in text[place:]
    assert r"by (1) and (2), one for each term of $\min" in fragment(proofs[1:])
    # A proof is cited, and is part of an appendix, as any certificate.
    path = proofs[0].save(tmp_path / "proof.json")
    cited = citation(path).text("latex")
    assert "Suppose: the causal mask" in cited
    assert "The claim is the author's; rankmath proved it" in cited
    assert "a derivation of it from lemmas" in cited
    done = CliRunner().invoke(main, ["appendix", str(path), "--fragment", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "one layer after the other" in (tmp_path / "appendix.tex").read_text(encoding="utf-8")
    with pytest.raises(rm.InvalidArgument, match="the checker rejects it: line 4"):
        fragment([replace(proofs[0], data={"lines": [*SKIP_LINES[:3], *SKIP_LINES[4:]]})])


@pdflatex
def test_every_citation_compiles_in_a_two_line_article(
    mine: rm.Certificate, proofs: list[rm.Certificate], tmp_path: Path
) -> None:
    proved = proofs[0].save(tmp_path / "proof.json")
    path = mine.save(tmp_path / "mine.json")
    equilibrium = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True).certify(stable=True).certificate()
    other = equilibrium.save(tmp_path / "equilibrium.json")
    pieces = [citation(what).text("latex") for what in (*statements(), path, other, proved)]
    for number, piece in enumerate(pieces):
        (tmp_path / f"c{number}.tex").write_text(piece, encoding="utf-8")
    log = compiled(ARTICLE % "\n\n".join(rf"\input{{c{k}}}" for k in range(len(pieces))), tmp_path)
    assert "Undefined control sequence" not in log
    assert "Missing" not in log


@pytest.mark.needs("pdflatex", "pdftotext")
def test_every_theorem_compiles_in_a_two_line_article(
    mine: rm.Certificate, proofs: list[rm.Certificate], theorems: dict[str, str], tmp_path: Path
) -> None:
    masked = rm.layernorm_equilibrium(3, 3, 2, mask="causal").certify().certificate()
    # The last one is there already: its label is set once.
    texts = [
        bare(),
        *(fragment([shown]) for shown in (mine, *proofs, masked, parts())),
        *theorems.values(),
        fragment([mine]),
    ]
    for number, text in enumerate(texts):
        (tmp_path / f"t{number}.tex").write_text(text, encoding="utf-8")
    compiled(ARTICLE % "\n\n".join(rf"\input{{t{k}}}" for k in range(len(texts))), tmp_path)
    text = on_the_page(tmp_path)
    assert re.search(r"WQK\s*=", text.replace("0,0", "")), "weights do not vanish from the page"
    joined = " ".join(text.split())
    assert "by (7) in one layer after" in joined
    assert "layer-skip is Lemmas layer.lemma layer skip 2" in joined


@pdflatex
def test_an_appendix_is_part_of_a_paper(tmp_path: Path) -> None:
    (tmp_path / "references.bib").write_text("@misc{mine,\n  title = {Mine},\n}\n", encoding="utf-8")
    appendix(keys=["own:diameter"], fragment=True).save(tmp_path)
    (tmp_path / "appendix.tex").rename(tmp_path / "other.tex")
    appendix(keys=["dong2021v1:2.2", "own:tv", "wu2024:L13"], fragment=True).save(tmp_path)
    bib = (tmp_path / "references.bib").read_text(encoding="utf-8")
    assert bib.startswith("@misc{mine,"), "what the author has there stays"
    assert len(entries := re.findall(r"^@\w+\{([^,]+),", bib, flags=re.MULTILINE)) == len(set(entries))
    labels = [
        re.findall(r"\\label\{([^}]*)\}", (tmp_path / f"{name}.tex").read_text(encoding="utf-8"))
        for name in ("appendix", "other")
    ]
    assert not set(labels[0]) & set(labels[1])
    assert "documentclass" not in (tmp_path / "appendix.tex").read_text(encoding="utf-8")
    assert (tmp_path / "rankmath.sty").read_text(encoding="utf-8") == STYLE
    paper = "\\documentclass{article}\\usepackage{amsthm}\\newtheorem{lemma}{Lemma}\\newcommand{\\norm}{other}"
    body = "\\begin{document}\\input{appendix}\\input{other}"
    for _ in range(2):
        log = compiled(f"{paper}\\usepackage{{rankmath}}\n{body}\\end{{document}}\n", tmp_path)
    # Citations have no list yet; everything else that is referred to is there.
    assert not re.findall(r"Reference `\S*' on page|Hyper reference", log)


@pdflatex
def test_environments_may_be_declared_behind_the_package(tmp_path: Path) -> None:
    (tmp_path / "rankmath.sty").write_text(STYLE, encoding="utf-8")
    own = r"\newtheorem{theorem}{Theorem}\newtheorem{remark}{Remark}\theoremstyle{remark}"
    body = "\\begin{document}\\begin{theorem}a\\end{theorem}\\begin{lemma}b\\end{lemma}\\end{document}\n"
    compiled(f"\\documentclass{{article}}\\usepackage{{rankmath}}{own}\n{body}", tmp_path)


def test_a_label_of_an_appendix_is_set_also_where_a_fragment_with_the_same_theorem_stands_before(
    mine: rm.Certificate, accepted: dict[str, tuple[str, ...]]
) -> None:
    text = appendix(theorems=[mine], accepted=accepted, fragment=True).tex
    assert mine.id in "".join(re.findall(r"\\ifcsname once:([^\\]*)", text))
    assert not re.findall(rf"once:{mine.id}", text), "names of its own, as its labels"


#: A paper of two pages.
PAPER = r"""\documentclass[10pt]{article}\usepackage{amsmath,amssymb,amsthm}\usepackage[margin=15mm]{geometry}
\begin{document}\small\section{Three statements}\input{statements}
\section{A counterexample}\input{mine}
\section{An equilibrium}\input{rest}
\bibliographystyle{plain}\bibliography{references,ours}\end{document}
"""


@pytest.mark.needs("pdflatex", "pdftotext")
def test_a_paper_of_two_pages_from_fragments_alone(mine: rm.Certificate, tmp_path: Path) -> None:
    """Three statements, a counterexample and an equilibrium: no error, no warning, and what the page says."""

    def rankmath(*words: object) -> str:
        done = CliRunner().invoke(main, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done.stdout

    rest = rm.layernorm_equilibrium(tokens=3, dim=3, rank=2, mask="causal").certify().certificate()
    files = [mine.save(tmp_path / "mine.json"), rest.save(tmp_path / "rest.json")]
    keys = ("own:diameter", "own:diameter-cubic", "own:tv")
    (tmp_path / "statements.tex").write_text(rankmath("cite", *keys), encoding="utf-8")
    for name, certificate in (("mine", mine), ("rest", rest)):
        (tmp_path / f"{name}.tex").write_text(fragment([certificate]), encoding="utf-8")
    rankmath("cite", *keys, "--sources", tmp_path / "references.bib", "--format", "bibtex")
    entries = [rankmath("cite", path, "--format", "bibtex") for path in files]
    (tmp_path / "ours.bib").write_text("\n".join(entries), encoding="utf-8")
    compiled(PAPER, tmp_path)
    done = subprocess.run(["bibtex", "paper"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Warning" in done.stdout) == (0, False), done.stdout
    compiled(PAPER, tmp_path)
    log = compiled(PAPER, tmp_path)
    assert "Warning" not in log
    assert "(2 pages" in log
    text = " ".join(on_the_page(tmp_path).split())
    for said in (
        "Diameter collapse, with tanh",
        "A counterexample",
        "Its rank is 2: the tokens do not collapse",
        "[1]",
    ):
        assert said in text
    assert text.count("Tokens are the rows of") == 1  # the counterexample's notation is that of the statements
    assert "The notation is that above. The following instance violates" in text
    assert "?" not in text, "no citation or symbol is missing"


@pytest.mark.parametrize("key", ["wu2024:3", "wu2024:3-whole"])
def test_numbers_of_tokens_and_dimensions_are_letters_and_no_name_of_a_program(key: str) -> None:
    tex = citation(key).text("latex")
    assert "sizes" not in tex.replace("$n$ and $d$ the two sizes, of tokens and dimensions", "")
    assert r"(n,\allowbreak d)\in\mathbb{Z}^{2}" in tex
    assert {"wu2024:3": r"w > n - 1", "wu2024:3-whole": r"n\ge 2$ and $\displaystyle d\ge 2"}[key] in tex


@pytest.mark.needs("pdflatex", "pdftotext")
def test_the_notation_above_is_the_last_that_was_told(tmp_path: Path) -> None:
    """With skip connections in between, the layer without them is printed again."""
    keys = ("own:diameter", "own:diameter-cubic", "own:skip-lower", "own:lambda-skip-lower")
    alone, too, skips, other = (citation(key).text("latex") for key in keys)
    rests = fragment([rm.layernorm_equilibrium(tokens=2, dim=2, rank=2, mask="causal").certify().certificate()])
    cases = [((alone, too), 1), ((alone, skips, alone), 3), ((too, alone, too), 2), ((alone, alone), 2)]
    for parts, told in (*cases, ((alone, other, too), 3), ((alone, rests, too), 2)):
        head = r"\documentclass{article}\usepackage{amsmath,amssymb,amsthm}\begin{document}"
        (tmp_path / "paper.tex").write_text("\n\n".join([head, *parts, r"\end{document}"]), encoding="utf-8")
        command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "paper.tex"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
        shown = subprocess.run(["pdftotext", "paper.pdf", "-"], cwd=tmp_path, capture_output=True, check=True)
        words = " ".join(shown.stdout.decode().split())
        assert words.count("Tokens are the rows of") == told
        assert words.count("The notation is that above.") == len(parts) - told - parts.count(rests)
        assert words.count("Let n = 2 tokens of dimension d = 2 be") == parts.count(rests)


@pytest.mark.needs("pdflatex", "pdftotext")
def test_what_latex_sets_twice_has_its_notation_twice(tmp_path: Path) -> None:
    """A frame of two overlays, and a table whose column is set to be measured first."""
    parts = [citation(key).text("latex") for key in ("own:diameter", "own:diameter-cubic")]
    frame = rf"\begin{{frame}}\tiny {parts[0]}\pause {parts[1]}\end{{frame}}"
    table = rf"\begin{{tabularx}}{{\linewidth}}{{|X|}}\noindent {parts[0]}\end{{tabularx}}"
    for head, body, times in (
        (r"\documentclass{beamer}", frame, 2),
        (r"\documentclass{article}\usepackage{tabularx}", table, 1),
    ):
        head += r"\usepackage{amsmath,amssymb,amsthm}"
        (tmp_path / "paper.tex").write_text(rf"{head}\begin{{document}}{body}\end{{document}}", encoding="utf-8")
        command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "paper.tex"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
        shown = subprocess.run(["pdftotext", "paper.pdf", "-"], cwd=tmp_path, capture_output=True, check=True)
        words = " ".join(shown.stdout.decode().split())
        assert words.count("Tokens are the rows of") == times
        assert words.count("The notation is that above.") == times - 1


def rotary() -> rm.Certificate:
    """What a certificate of an equilibrium under rotary positions says, without what shows it."""
    one, turned = [["1/2", 0], [0, "1/2"]], [["3/5"], ["-4/5"], [1]]
    return rm.Certificate(
        "own:stable-rotary",
        "exists",
        {
            "W_V": [one],
            "W_QK": [one],
            "up": [[0], [0]],
            "down": [[0, 0]],
            "cos": turned,
            "sin": turned[::-1],
            "skip": 1,
            "mask": [[1, 1, 1]] * 3,
            "norm": "sphere",
            "tokens": [[1, 0], [0, 1], [1, 0]],
            "radius": "1*2^-40",
            "rank": 2,
        },
    )


@pytest.mark.needs("pdflatex")
def test_the_attention_of_a_rotary_equilibrium_fits_one_of_two_columns(tmp_path: Path) -> None:
    head = (
        r"\documentclass[twocolumn]{article}\usepackage{amsmath,amssymb,amsthm}\begin{document}\emergencystretch=12em"
    )
    compiled(f"{head}\n{written_out(equilibrium_statement(rotary()))}\n\\end{{document}}", tmp_path)


def test_a_token_that_is_divided_by_its_length_is_not_printed_as_x_of_0() -> None:
    """|(0, 1) - (-3, 0)| is sqrt(10), and the claim is about the distance sqrt(2) of the tokens after that."""
    X, one = [[0.0, 1.0], [-3.0, 0.0]], np.eye(2)[None]
    net = rm.Network.from_arrays(W_QK=one[None], W=one[None], d_qk=1.0, norm="sphere")
    claim = rm.Statement("mine:s", "diameter(X[0], 2) <= 2*norm(W[0,0], 2)", ("layernorm == sphere", "heads == 1"))
    shown = (fragment([rm.certify(claim, net, X)]), uncertified(claim.instance(net, X), claim))
    for text in shown:
        assert r"\text{the input}=\begin{pmatrix}0&1\\-3&0\end{pmatrix}" in text
        assert r"\text{whose tokens, divided by their lengths, are the rows of }X^{0}" in text
        assert r"X^{0}=\begin{pmatrix}" not in text
        assert "$X^{0}$ is the input, every token, none of them 0, divided by its length" in text
    assert "lies in $[1.41421, 1.41422]$" in shown[0]
    # Where the tokens are divided before a map they are the input's themselves.
    before = rm.Network.from_layers([[Sublayer(Attention(one, one, 1.0), before=LayerNorm("sphere"))]])
    claim = replace(claim, given=("layernorm == sphere", "norm_at == before", "heads == 1"))
    text = uncertified(claim.instance(before, X), claim)
    assert r"X^{0}=\begin{pmatrix}0&1\\-3&0\end{pmatrix}" in text
    assert "$X^{0}$ is the input. With" in text


def test_what_a_list_of_data_leaves_out_is_said_once(mine: rm.Certificate) -> None:
    """The layer that is printed has biases, which this network has not."""
    for text in (fragment([mine]), bare()):
        assert r"\mathbf 1o_l" in text
        assert text.count("Of what is not listed, biases and factors of skip connections are $0$") == 1


def test_data_without_a_certificate_stand_in_a_file_that_is_named(tmp_path: Path) -> None:
    drawn = np.random.default_rng(0)
    net = rm.Network.from_arrays(W_QK=drawn.normal(size=(1, 1, 9, 9)), W=drawn.normal(size=(1, 1, 9, 9)), d_qk=1.0)
    claim = rm.Statement("mine:wide", "mu(X[1]) <= 100*mu(X[0])", "heads == 1")
    instance = claim.instance(net, drawn.normal(size=(2, 9)))
    python, latex = (line.partition(": ")[2] for line in handed_over(instance, None, tmp_path, "mine-wide", claim))
    text = Path(latex).read_text(encoding="utf-8")
    assert r"X^{0}\in\mathbb{Q}^{2\times9}\text{, in the file \texttt{mine-\allowbreak wide.py}}" in text
    assert "in the certificate" not in text
    assert (runpy.run_path(python)["X"] == instance.X).all()
