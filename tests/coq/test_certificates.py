"""Certificates become Coq files: Coq accepts them and refuses changed ones; what cannot be written is said."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankmath.certificates.coq import to_coq
from rankmath.certificates.coq_terms import Untranslatable, exact
from rankmath.definitions.entries import ENTRIES, define
from rankmath.formula.language import FUNCTIONS

FOLDER = Path(__file__).parents[2] / "proofs" / "certificates"
needs_coq = pytest.mark.needs("coqc")


def network(claim: str, *, kind: str = "holds", **more: Any) -> dict[str, Any]:
    """Two tokens in the plane, one head, a causal mask."""
    heads = [{"W": [["1/2", "1/3"], [0, "-1/4"]], "W_QK": [["1/5", 0], ["1/3", "1*2^-3"]], "key_bias": [0, "1/9"]}]
    data = {
        "X": [[1, 0], ["-1/3", "1/7"]],
        "d_qk": 2,
        "skip": 0,
        "layernorm": "none",
        "mask": [[1, 0], [1, 1]],
        "layers": [{"heads": heads, "bias": [0, 1]}],
    }
    return {
        "id": "rm-1",
        "statement": "my:claim",
        "kind": kind,
        "claim": claim,
        "given": ["H == 1"],
        "data": data | more,
    }


def stored(pattern: str) -> dict[str, Any]:
    (path,) = sorted(FOLDER.glob(pattern))[:1]
    found: dict[str, Any] = json.loads(path.read_text())
    return found


COQ = FOLDER.parent / "coq"
PREAMBLE = (COQ / "certificate.v").read_text()
IMPORTED = """Require Import Reals QArith Qreals List Lra Lia ZArith Psatz.
From Interval Require Import Interval Xreal Float Basic Sig.
Require Import certificate.
Import ListNotations. Local Open Scope R_scope.
"""


def coqc(folder: Path, name: str) -> bool:
    command = ["coqc", "-q", "-w", "none", f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every file begins with, compiled once."""
    folder = tmp_path_factory.mktemp("coq")
    shutil.copy(COQ / "certificate.v", folder)
    assert coqc(folder, "certificate")
    return folder


def accepted(library: Path, text: str) -> bool:
    """Whether Coq accepts the file; its beginning is compiled already."""
    assert PREAMBLE in text
    (library / "instance.v").write_text(text.replace(PREAMBLE, IMPORTED))
    return coqc(library, "instance")


def test_equal_tokens_have_a_distance() -> None:
    """Their difference is a ball around 0, whose root is no number if rounding makes it negative."""
    X, mask = [[1, 0], [1, 0], ["-1/3", "1/7"]], [[1, 1, 1]] * 3
    text, _ = to_coq(network("diameter(X[1], 2) <= 0", kind="violates", X=X, mask=mask))
    assert "Theorem" in text


@needs_coq
def test_a_file_stands_alone_and_rests_on_the_axioms_of_the_reals(tmp_path: Path) -> None:
    text, left_out = to_coq(stored("own-residual-inf_rm-28c4b2*"))
    assert not left_out
    (tmp_path / "alone.v").write_text(f"{text}Print Assumptions certified.\n")
    done = subprocess.run(
        ["coqc", "-q", "-w", "none", "alone.v"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = set(re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", done.stdout.split("Axioms:")[1], re.MULTILINE))
    assert found == {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }


#: One cheap certificate of each way to prove: exact numbers, softmax, residuals and what is measured about their
#: centres, LayerNorm with graphs and exact orthogonality, spectral norms, a repeated token.
CHEAP = [
    *("seed-closure_rm-49*", "dong2021-2.1_rm-0*", "own-tv_rm-dae*", "dong2021v1-A.3_rm-36*", "dong2021-norm*"),
    *("dong2021-2.2_rm-5a68*", "own-gamma-free-one-head_rm-5b98*", "wu2024-2-step_rm-f19*", "own-hemisphere_rm-2a*"),
    *("own-lambda-skip-sphere_rm-04*", "own-repeat_rm-a18*", "folk-softmax-gradient*", "wu2024-1-doeblin_rm-a3*"),
]


@needs_coq
@pytest.mark.parametrize("pattern", CHEAP)
def test_coq_accepts(library: Path, pattern: str) -> None:
    text, left_out = to_coq(stored(pattern))
    assert not left_out
    assert accepted(library, text)


def rationals(text: str, name: str) -> list[Fraction]:
    """The numbers of a definition, one after the other."""
    (body,) = re.findall(rf"^Definition {name} := (.*)%Q\.$", text, flags=re.M)
    return [Fraction(int(p), int(q)) for p, q in re.findall(r"\((-?\d+) # (\d+)\)", body)]


def square(values: list[Fraction]) -> np.ndarray[Any, Any]:
    side = math.isqrt(len(values))
    return np.array(values, dtype=object).reshape(side, side)


#: Certificates with an ellipsoid of starts: the certificate's own R, radius and rate are those of the theorem.
ELLIPSOIDS = ["own-stable-causal_*", "own-stable-complete_*", "wu2024-conjecture_*", "unstated-ln-sphere_*"]


@pytest.mark.parametrize("pattern", ELLIPSOIDS)
def test_the_theorem_is_about_the_whole_ellipsoid_of_the_certificate(pattern: str) -> None:
    """No smaller set: R, radius and rate are exactly the file's, and the other matrix is R⁻¹ exactly."""
    content = stored(pattern)
    text, left_out = to_coq(content)
    given = {name: exact(value, name) for name, value in content["data"]["attracting"].items()}
    R = square(rationals(text, "back"))
    assert R.tolist() == given["R"]
    assert rationals(text, "size") == [given["radius"]]
    assert rationals(text, "rate") == [given["rate"]]
    assert (square(rationals(text, "turn")) @ R == np.eye(len(R), dtype=int)).all()
    (wide,), (near,) = rationals(text, "wide"), rationals(text, "near")
    assert wide == abs(R).sum(axis=1).max()
    assert wide * near == exact(content["data"]["radius"], "radius")
    assert "ellipsoid" in text.partition("Theorem certified")[2]
    assert not left_out


def test_hypotheses_of_an_equilibrium_are_printed_and_others_refused() -> None:
    """The causal mask, entry by entry; the same file with a mask that is not causal is not written."""
    content = stored("wu2024-3-measure_*")
    stated = to_coq(content)[0].partition("Theorem certified")[2]
    for i, j in itertools.product(range(3), range(3)):
        assert f"((rows mask {i}%nat {j}%nat) = ({int(j <= i)}))" in stated
    other = content | {"data": content["data"] | {"mask": [[1] * 3] * 3}}
    with pytest.raises(Untranslatable, match="mask"):
        to_coq(other)


def test_a_block_is_no_layer_of_one_head() -> None:
    data = stored("own-stable-causal_*")["data"] | {"skip": 1}
    with pytest.raises(Untranslatable, match="own:stable-block"):
        to_coq({"statement": "own:stable-block", "kind": "exists", "data": data, "hints": {}})


def test_no_file_defines_a_name_of_its_beginning_again(coq_texts: dict[str, tuple[str, str]]) -> None:
    defined = re.compile(r"^(?:Definition|Fixpoint|Lemma|Theorem|Corollary|Record|Inductive|Notation) (\w+)", re.M)
    there = {*defined.findall(PREAMBLE + (COQ / "equilibrium.v").read_text())}
    for name, (text, _) in coq_texts.items():
        assert not there & {*defined.findall(text)}, name
    assert sum(bool(text) for text, _ in coq_texts.values()) > 100


def test_equal_tokens_of_an_ellipsoid_are_refused() -> None:
    content = stored("own-stable-complete_*")
    assert to_coq(content)[0]
    content["hints"]["clusters"] = [0, *range(len(content["data"]["tokens"]) - 1)]
    with pytest.raises(Untranslatable, match="equal tokens"):
        to_coq(content)


@needs_coq
def test_coq_accepts_an_ellipsoid_and_no_other_one(library: Path) -> None:
    """Two causal tokens: one equilibrium of rank two, which attracts the certificate's whole ellipsoid.

    Refused: tokens elsewhere, twice the radius, a rate below the spectral radius 1/2, and R = 1, whose norm the
    layer does not contract, each with all else (R⁻¹ too) as the printer makes it.
    """
    content = stored("own-stable-causal_*")
    text, left_out = to_coq(content)
    assert not left_out
    assert accepted(library, text)
    (place,) = re.findall(r"Definition tokens := \[\(0 # 1\); \(1 # 1\); \(-(\d+) # ", text)
    assert not accepted(library, text.replace(place, str(int(place) * 1000 // 999)))
    for name, forged in (
        ("radius", "13*2^-15"),
        ("rate", "15*2^-5"),
        ("R", [[int(i == j) for j in range(4)] for i in range(4)]),
    ):
        attracting = content["data"]["attracting"] | {name: forged}
        other, _ = to_coq(content | {"data": content["data"] | {"attracting": attracting}})
        assert not accepted(library, other)


@needs_coq
def test_coq_accepts_a_spectrum_and_no_other_one(library: Path) -> None:
    """Three causal tokens: every eigenvalue is within 2⁻²⁴ of 1/2, 1/4 or 0; not if 1/4 is said to be 1/4 + 2⁻¹⁰."""
    text, left_out = to_coq(stored("wu2024-3-measure_*"))
    assert [line.partition(";")[0] for line in left_out] == ["how many eigenvalues lie near each value"]
    assert {*rationals(text, "values")} == {Fraction(0), Fraction(1, 4), Fraction(1, 2)}
    assert rationals(text, "within") == [Fraction(1, 2**24)]
    assert accepted(library, text)
    values = re.findall(r"^Definition values := .*$", text, flags=re.M)[0]
    assert not accepted(library, text.replace(values, values.replace("(1 # 4)", "(257 # 1024)")))


@needs_coq
def test_coq_accepts_the_spectral_norm_of_zero(library: Path) -> None:
    zero = {"W": [[0, 0], [0, 0]], "W_QK": [[1, 0], [0, 1]], "key_bias": [0, 0]}
    content = network("norm(W[0, 0], 2) <= 1/9", layers=[{"heads": [zero], "bias": [0, 0]}])
    text, left_out = to_coq(content)
    assert not left_out
    assert accepted(library, text)


@needs_coq
def test_coq_accepts_a_claim_of_a_users_own(library: Path) -> None:
    """Also with quantities that proofs/coq does not name, one of them new: their definitions are unrolled."""
    claim = "norm(W_QK[0, 0], 2)*diameter(X[1], 1) <= 1 and alike(X[1]) <= 1 and stable_rank(X[1]) <= 3/2"
    term = "sum(x @ y / (length(x, 2) * length(y, 2)) for x in X for y in X) / len(X)**2"
    define(f"alike(X) = {term}", "mean cosine of two tokens", latex=r"c({0})", degree=0)
    try:
        text = to_coq(network(claim))[0]
        assert accepted(library, text)
    finally:
        del ENTRIES["alike"], FUNCTIONS["alike"]
    assert accepted(library, to_coq(network("diameter(X[1], 1) <= 1/1000", kind="violates"))[0])


@needs_coq
def test_a_rank_below_the_full_one_is_shown_by_columns_that_vanish(library: Path) -> None:
    """The member of rank one: three columns stay zero, which W_V keeps; a W_V that feeds them is refused."""
    content = stored("own-stable-every-rank_*")
    data = {name: value for name, value in content["data"].items() if name != "equilibria"}
    first = content | {
        "statement": "own:stable-equilibrium",
        "data": data | content["data"]["equilibria"][0],
        "hints": dict(content["hints"]["equilibria"][0]),
    }
    text, _ = to_coq(first)
    assert "flat 4 4 [0]%nat z" in text
    assert accepted(library, text)
    assert not accepted(library, text.replace("flat 4 4 [0]%nat z", "flat 4 4 []%nat z"))
    fed = [row[:] for row in data["W_V"]]
    fed[0][3] = 1
    with pytest.raises(Untranslatable, match="rank 1 of 4 tokens"):
        to_coq(first | {"data": first["data"] | {"W_V": fed}})


@needs_coq
@pytest.mark.parametrize(
    ("pattern", "old", "new"),
    [
        ("own-residual-inf_rm-28c4b2*", "X_0) ^ 3)", "X_0) ^ 4)"),
        ("dong2021v1-A.3_rm-36*", "(41173 # 32768)", "(41 # 32768)"),
        ("seed-closure_rm-49*", "q_product_ := [[(17 # 45)", "q_product_ := [[(16 # 45)"),
    ],
)
def test_coq_refuses_what_is_false(library: Path, pattern: str, old: str, new: str) -> None:
    """The proof is the instance's: another claim, or other data under the same claim, is refused."""
    text, _ = to_coq(stored(pattern))
    assert old in text
    assert not accepted(library, text.replace(old, new))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (network("residual(X[1], inf) <= 1"), "no centre or no weights"),
        (network("norm(W[0, 0], 2) <= 1/100"), "too near to equality"),
        (network("diameter(X[1], 1) <= 1", layernorm="standard"), "layernorm"),
        (network("diameter(X[1], 1) <= diameter(X[1], 1)"), "too near to equality"),
        (network("diameter(X[1], 1) <= 1/1000"), "too near to equality"),
        (network("jacobian_norm() <= 1"), "jacobian_norm"),
        (stored("wu2024-3_rm-*"), "not shown to attract"),
        ({"statement": "my:claim", "kind": "exists", "data": {}}, "my:claim"),
        ({"statement": "own:tv", "kind": "holds", "data": {"g": [0.5, 0]}}, "0.5"),
    ],
)
def test_what_cannot_be_written_is_said(content: dict[str, Any], word: str) -> None:
    with pytest.raises(Untranslatable, match=word):
        to_coq(content)
