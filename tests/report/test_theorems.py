"""A certificate as a theorem: it says what the checker checked, with its numbers, and compiles alone."""

from __future__ import annotations

import re
import subprocess
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import rankmath as rm
from rankmath.certificates.certificate import Certificate, number
from rankmath.certificates.issue import certify_arrays
from rankmath.claims import statements
from rankmath.cli import main
from rankmath.decide.prover import prove
from rankmath.decide.prover.reading import lines_of
from rankmath.equilibria.blocks import survivors
from rankmath.report.cite import citation
from rankmath.report.latex import identifier
from rankmath.report.sources import committed_certificates, preamble
from rankmath.report.theorems import _alike, equilibrium_statement, findings, fragment, letters, theorem


@pytest.fixture(scope="module")
def stable() -> Certificate:
    found = rm.layernorm_equilibrium(2, 2, 2, mask="complete", stable=True)
    return found.certify(stable=True).certificate()


def test_the_theorem_names_map_weights_ball_rank_and_rate(stable: Certificate) -> None:
    said = equilibrium_statement(stable)
    printed = [
        Fraction(int(sign + top), int(bottom))
        for sign, top, bottom in re.findall(r"(-?)\\tfrac\{(\d+)\}\{(\d+)\}", said)
    ]
    weights = [number(x) for name in ("W_V", "W_QK") for row in stable.data[name] for x in row]
    assert printed[: len(weights)] == weights, "the weights, exactly"
    assert number(stable.data["attracting"]["rate"]) in printed
    radius = number(stable.data["radius"])
    assert f"2^{{-{radius.denominator.bit_length() - 1}}}" in said
    assert "Its rank is $2$: the tokens do not collapse." in said
    shown = re.findall(r"-?\d\.\d{6}", said)
    tokens = [float(number(x)) for row in stable.data["tokens"] for x in row]
    assert np.allclose([float(x) for x in shown], tokens, atol=1e-6)


def test_what_is_not_computed_is_named_and_nothing_is_said_twice_or_as_program_text(stable: Certificate) -> None:
    text = theorem(stable)
    assert identifier(stable.id) in text
    relied = [line for line in stable.check().checked if line.startswith("not computed here, relied on: ")]
    assert len(relied) == 1
    (told,) = findings([line.partition("relied on: ")[2] for line in relied])
    assert f"works out again all but t{told[1:]}" in text
    assert not re.search(r"\|_2|<=|left side|hypotheses", text.partition(r"\begin{proof}")[2])


@pytest.mark.parametrize(
    ("clusters", "support", "told"),
    [
        ([0, 1, 1, 0], [[1, 1], [1, 1]], " with $x_{1}=x_{4}$, $x_{2}=x_{3}$"),
        ([0, 1], [[1, 0], [1, 1]], " with $x_{1,2}=0$"),
        ([0, 0], [[1, 0]], " with $x_{1}=x_{2}$, $x_{1,2}=x_{2,2}=0$"),
        ([0, 1], [[1, 1], [1, 1]], ""),
    ],
)
def test_tokens_that_are_equal_and_entries_that_are_zero_are_named(
    clusters: list[int], support: list[list[int]], told: str
) -> None:
    certificate: Any = SimpleNamespace(hints={"clusters": clusters, "support": support})
    assert _alike(certificate) == told


def test_how_unstable_an_equilibrium_is_stands_in_its_theorem(stable: Certificate) -> None:
    unstable = Certificate(stable.statement, stable.kind, {**stable.data, "unstable": {"growth": "21*2^-3"}})
    assert r"the derivative of $F$ at $X^\star$ is more than $\tfrac{21}{8}$." in equilibrium_statement(unstable)


def test_the_numbers_of_a_flow_have_the_letters_of_its_claim_or_words() -> None:
    tex = theorem(committed_certificates()["karagodin2024:two-clusters"][0])
    data = tex.partition(r"\begin{align*}")[2].partition(r"\end{align*}")[0]
    assert r"\beta=1" in data
    assert r"X=\begin{pmatrix}1&0\\-\tfrac{4}{5}" in data
    assert r"\text{eigenvalues of V}=\begin{pmatrix}2&1\end{pmatrix}" in data
    assert not re.search("beta}|values}|tokens}|vectors}|normalised}", data)
    assert r"$\beta \ge 0$" in tex
    assert "seen the paper's own): % cite" in tex


def test_data_that_are_no_network_are_explained_where_the_claim_is_about_one() -> None:
    """Else nothing says what the letters of the data have to do with those of the claim."""
    for key, group in committed_certificates().items():
        entry = statements().get(key)
        for certificate in group:
            if entry is not None and not entry.arrays and "layers" not in certificate.data:
                assert letters(key), key
    tex = theorem(committed_certificates()["wu2024:2-step"][0])
    assert r"$A$ is the attention $P^{0,0}$, $X^{0} = W^{0,0} = I$" in tex
    assert r"$G = AA^{\mathsf T}$ and $\varepsilon = \varepsilon(P^{0,0})$" in tex


def test_a_rejected_certificate_is_no_theorem(stable: Certificate) -> None:
    wrong = Certificate(stable.statement, stable.kind, {**stable.data, "rank": 1}, stable.hints)
    with pytest.raises(rm.InvalidArgument, match="the checker rejects it"):
        theorem(wrong)


def test_a_citation_of_a_file_says_what_it_shows(stable: Certificate, tmp_path: Path) -> None:
    path = stable.save(tmp_path / "eq.json")
    for format in ("latex", "markdown"):
        text = citation(path).text(format)
        assert "as described" not in text
        assert "Its rank is $2$" in text
    assert r"\WQK" not in citation(path).text("markdown")


DOCUMENT = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,margin=27mm]{geometry}
%s
\emergencystretch=10em
\begin{document}
%s
\end{document}
"""


@pytest.mark.needs("pdflatex")
def test_the_documents_compile_alone(stable: Certificate, tmp_path: Path) -> None:
    masked = rm.layernorm_equilibrium(3, 3, 2, mask="causal").certify().certificate()
    standard = rm.layernorm_equilibrium(3, 4, 2, norm="standard").certify().certificate()
    committed = [group[0] for group in committed_certificates().values()]
    body = "\n\n".join(map(theorem, [stable, masked, standard, *committed]))
    (tmp_path / "all.tex").write_text(DOCUMENT % (preamble(), body), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert "undefined" not in log
    widths = [float(width) for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(widths, default=0.0) < 3, "no line sticks out"


def test_a_claim_of_ones_own_is_stated_in_its_theorem() -> None:
    net = rm.Network.from_arrays(W_QK=[[[[8.0]]]], W=[[[[1.0]]]], d_qk=1.0)
    claim = "diameter(X[1], 1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2"
    certificate = rm.certify(rm.Statement("mine:halves", claim, given="heads == 1"), net, [[2.0], [-2.0]])
    text = theorem(certificate)
    assert certificate.kind == "violates"
    assert r"\Delta_{1}(X^{1}) \le \frac{\|W^{0,0}\|_{\infty}\,\Delta_{1}(X^{0})}{2}" in text
    assert "Suppose: one head; no mask" in text


def test_an_appendix_of_what_is_named_holds_that_alone(stable: Certificate, tmp_path: Path) -> None:
    path = stable.save(tmp_path / "eq.json")
    done = CliRunner().invoke(main, ["appendix", "own:tv", str(path), "--output", str(tmp_path / "paper")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "paper/appendix.tex").read_text()
    assert rf"\label{{{stable.id}}}" in text
    assert r"\label{stmt:own-tv}" in text
    assert "stmt:wu2024" not in text
    labels = set(re.findall(r"\\label\{([^}]*)\}", text))
    for name in re.findall(r"\\(?:ref|eqref)\{([^}]*)\}", text):
        assert name in labels, "what is referred to is there"
    wrong = CliRunner().invoke(main, ["appendix", "own:tw", "--output", str(tmp_path)])
    assert wrong.exit_code == 2
    assert "did you mean 'own:tv'" in wrong.stderr


def test_an_equilibrium_whose_box_contracts_is_stated_without_program_text() -> None:
    certificate = rm.layernorm_equilibrium(3, 3, 1, mask="complete", stable=True).certify(stable=True).certificate()
    assert certificate.statement == "own:stable-equilibrium"
    text = theorem(certificate)
    assert not re.search(r"contracts|nonsingular|==|mathtt|mathrm", text)
    assert r"$F$ has a fixed point $X^\star$ of rank $1$ that attracts" in text
    assert r"at most $2^{-21}$ from those of $X^0=\begin{pmatrix}1&0&0\\-1&0&0\\-1&0&0\end{pmatrix}$" in text
    assert r"every layer multiplies the distance by at most $\tfrac{7}{8}$" in text


def test_a_number_of_the_theorem_is_written_the_same_in_its_proof(stable: Certificate) -> None:
    assert theorem(stable).count("2^{-48}") == 2
    assert str(2**48) not in theorem(stable)


def test_a_matrix_of_more_than_ten_columns_needs_no_counter_of_amsmath() -> None:
    certificate = rm.layernorm_equilibrium(11, 2, 2, mask="causal").certify().certificate()
    text = theorem(certificate)
    assert r"\left(\begin{array}{*{11}{c}}1&0&0" in text
    for body in re.findall(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", text):
        assert all(row.count("&") < 10 for row in body.split(r"\\"))


def test_fractions_of_an_equilibrium_stand_apart() -> None:
    """Every display of matrices has rows that are further apart than a fraction is high."""
    text = fragment([rm.layernorm_equilibrium(3, 3, 2, mask="causal", stable=True).certify(stable=True).certificate()])
    displays = text.split(r"\begin{align*}")
    assert len(displays) > 1
    assert all(before.rstrip().endswith(r"\renewcommand{\arraystretch}{1.35}%") for before in displays[:-1])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"weights": [1, 9999], "E": [[3, 0]]}, "$c$ is the logarithm of the weights below"),
        ({"logits": [0, 9], "E": [[3, 0]]}, "$c$ is what is named logits below"),
    ],
)
def test_the_logits_of_a_claim_are_those_of_the_certificate(data: dict[str, Any], told: str) -> None:
    """c stands in the claim, and a certificate gives logits or weights exp(c)."""
    assert told in theorem(certify_arrays("dong2021v1:A.3", data, kind="violates"))


def test_a_proof_says_what_it_reads_a_quantity_as() -> None:
    """Its lines say 1 <= 1 where the claim says that the rows of attention sum to 1."""
    proof = prove("norm(P[0, 0], inf) == 1", ["mask == none", "layernorm == none", "mlp == none", "skip == 0"])
    assert proof is not None
    assert next(lines_of(proof)) == "Here norm(P[0, 0], inf) = 1: no weight is negative, and every row sums to 1."
    assert r"\|P^{0,0}\|_{\infty} = 1$: no weight is negative" in theorem(proof.certificate("mine:sums"))


def test_what_the_checker_alone_says_is_a_sentence_and_no_program_text(tmp_path: Path) -> None:
    flow = rm.Flow([[2, -2], [0, 1]], query=[[0, 0]], key=[[0, 0]], mask="causal")
    certificate = flow.certify([[1, 0], [-0.8, 0.6]]).certificate()
    assert certificate.statement not in rm.statements()
    found = citation(certificate.save(tmp_path / "sink.json"))
    sentence = r"on the sphere has exactly one equilibrium within $2^{-40}$ of the tokens"
    for tex in (theorem(certificate), *map(found.text, ("latex", "bibtex"))):
        assert sentence in tex
        words = re.sub(r"\$[^$]*\$", "", tex.replace("\\rho", ""))
        assert not re.search(r"`|<|nonsingular|textasciicircum|\brho\b|\\text\{the flow|sum_", words)
    assert found.text("latex").count("exactly one equilibrium") == 1
    assert "within 2⁻⁴⁰ of the tokens" in found.text("markdown")
    assert r"$P_x=I-xx^{\mathsf T}$" in theorem(certificate)


def test_a_claim_that_the_checker_decides_in_a_form_of_its_own_says_which() -> None:
    """The sides that are printed are those of the form that is printed, not of the claim above it."""
    certificate = committed_certificates()["wu2024:L13"][0]
    x, w = [number(value) for value in certificate.data["x"]], number(certificate.data["w"])
    y = [entry + (w * x[i - 1] if i else 0) for i, entry in enumerate([*x[:-1], x[-1] + 1])]
    y[-1] = x[-1] + 1 + w * x[-2]
    left, right = w**2 * y[-2] ** 2, sum(entry**2 for entry in y)
    assert left < right
    told = findings(certificate.check().checked)[-1]
    assert told.startswith(r"Decided is $w^{2}\,(y_{d-2})^{2}\ge y\cdot y$, the claim in the form")
    assert told.endswith(f"the left side is ${left}$ and the right side is ${right}$, so it fails.")
    for key in ("own:transport", "own:diameter"):  # the relation is the one above
        assert findings(committed_certificates()[key][0].check().checked)[-2].startswith("The left side ")


@pytest.mark.parametrize("key", ["dong2021v1:2.2", "dong2021v1:2.2-mean", "dong2021v1:2.3", "dong2021:2.3-printed"])
def test_a_refutation_by_a_few_numbers_defines_the_layer(key: str) -> None:
    (certificate,) = committed_certificates()[key]
    assert r"Tokens are the rows of $X^{l}" in theorem(certificate)


@pytest.mark.parametrize("kind", ["rotary", "all of these"])
def test_the_theorem_of_a_block_defines_the_map_that_keeps_its_tokens(kind: str) -> None:
    """What is printed, read with numpy: one block moves the tokens by no more than the box in which one rests."""
    block, X = rm.rotary_equilibrium(3, 2, "causal") if kind == "rotary" else survivors()[kind]
    certificate = block.certificate(X)
    data = certificate.data
    field = {
        name: np.array([[[float(number(x)) for x in row] for row in head] for head in data[name]])
        for name in ("W_V", "W_QK")
    }
    tokens, mask, up, down = (
        np.array([[float(number(x)) for x in row] for row in data[name]]) for name in ("tokens", "mask", "up", "down")
    )
    text, d = equilibrium_statement(certificate), tokens.shape[1]

    def turned(v: np.ndarray) -> np.ndarray:
        if kind != "rotary":
            return v
        C, S = (np.array([[float(number(x)) for x in row] for row in data[name]]) for name in ("cos", "sin"))
        assert r"$\rho_i(v)_{2m}=v_{2m}C_{im}-v_{2m+1}S_{im}$" in text
        assert r"$\rho_i(v)_{2m+1}=v_{2m+1}C_{im}+v_{2m}S_{im}$" in text
        out = v.copy()
        out[:, 0::2] = v[:, 0::2] * C - v[:, 1::2] * S
        out[:, 1::2] = v[:, 1::2] * C + v[:, 0::2] * S
        return out

    skip = number(data["skip"])
    y = float(skip) * tokens
    for W_V, W_QK in zip(field["W_V"], field["W_QK"], strict=True):
        weights = np.exp(turned(tokens @ W_QK) @ turned(tokens).T) * mask
        y = y + weights / weights.sum(axis=1, keepdims=True) @ tokens @ W_V
    assert ("x_i+\\sum_h" in text) is (skip != 0)
    if up.any() and down.any():
        assert r"$z_i=y_i+s(y_iU)D$, $s(t)=t/(1+e^{-t})$ entry by entry" in text
        y = y + (y @ up / (1 + np.exp(-y @ up))) @ down
    if data["norm"] == "standard":
        y = np.sqrt(d) * (y - y.mean(axis=1, keepdims=True))
    made = y / np.linalg.norm(y, axis=1, keepdims=True) * (np.sqrt(d) if data["norm"] == "standard" else 1)
    assert np.abs(made - tokens).max() < 1e-13
    assert not re.search(r"attracting\.|\\text\{(up|down|skip|cos|sin)\}", theorem(certificate))
